//! Pictures of the land, one or all around it, drawn and written on a thread of their own while the editor goes on.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use eframe::egui_wgpu::RenderState;

use crate::engine::Progress;
use crate::files::memory::require_memory;
use crate::files::{FileError, atomic, texture};
use crate::scene::{OffscreenRenderer, RenderParams, render_memory_bytes, turntable_paths};
use crate::worker::{ExportStatus, Wake};

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RenderOutcome {
    Written(Vec<PathBuf>),
    Cancelled,
    Failed(String),
}

/// How long the end of a drawing that is dropped is waited for: as long as a band of a picture usually takes, and no
/// longer, for a card may never answer.
const GRACE: Duration = Duration::from_millis(300);

/// Threads that compress the pictures.
const THREADS: usize = 2;

/// Pictures that are being drawn. Dropping it stops it; its files are named only when all are whole.
pub(crate) struct RenderTask {
    path: PathBuf,
    progress: Arc<Progress>,
    outcome: Receiver<RenderOutcome>,
}

impl RenderTask {
    /// Begins with a picture of that size, or with as many as are said all around the whole land, the first of which
    /// looks the way the view does; files that are there already are replaced.
    pub(crate) fn start(
        (state, params): (RenderState, RenderParams),
        size: [u32; 2],
        frames: Option<u32>,
        path: PathBuf,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let progress = Arc::new(Progress::new());
        let (sender, outcome) = channel();
        let paths = frames.map_or_else(|| vec![path.clone()], |count| turntable_paths(&path, count));
        let params = if frames.is_some() { params.turning(size) } else { params };
        let run = {
            let progress = progress.clone();
            move || {
                let outcome = match draw(&state, &params, size, &paths, &progress) {
                    Ok(()) => RenderOutcome::Written(paths),
                    Err(FileError::Cancelled) => RenderOutcome::Cancelled,
                    Err(error) => RenderOutcome::Failed(error.to_string()),
                };
                // The window may be gone by now; then nobody needs the result.
                let _ = sender.send(outcome);
                wake();
            }
        };
        std::thread::Builder::new().name("upthrust drawing".into()).spawn(run)?;
        Ok(Self { path, progress, outcome })
    }

    /// How it ended, once it has.
    pub(crate) fn take(&self) -> Option<RenderOutcome> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(RenderOutcome::Failed("an error in the program stopped the drawing; no file was written".into()))
            }
        }
    }

    pub(crate) fn status(&self) -> ExportStatus {
        ExportStatus {
            path: self.path.clone(),
            fraction: self.progress.fraction(),
            is_cancelled: self.progress.is_cancelled(),
            waiting: 0,
        }
    }

    pub(crate) fn cancel(&self) {
        self.progress.cancel();
    }
}

impl Drop for RenderTask {
    fn drop(&mut self) {
        self.cancel();
        // Where none comes, the thread removes its files whenever the card lets it go on.
        let _ = self.outcome.recv_timeout(GRACE);
    }
}

fn draw(
    state: &RenderState,
    params: &RenderParams,
    size: [u32; 2],
    paths: &[PathBuf],
    progress: &Progress,
) -> Result<(), FileError> {
    // Beside the window's own pictures, on the same card.
    let refused = |problem| FileError::Invalid { path: paths.first().cloned().unwrap_or_default(), problem };
    let terrain = params.terrain.grid();
    require_memory(render_memory_bytes(size, terrain.samples()))?;
    let mut renderer = OffscreenRenderer::on(state).map_err(refused)?;
    // A pool of its own: in the shared one the preview would queue behind the compression.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|i| format!("upthrust drawing {i}"));
    let pool = pool.build().map_err(|error| refused(error.to_string()))?;
    let share = |i: usize| i as f32 / paths.len() as f32;
    let mut staged = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        let end = share(i + 1);
        let drawn = 0.3 * share(i) + 0.7 * end;
        let draw = || renderer.draw(params, size, share(i), progress);
        let picture = progress
            .stage(share(i)..drawn, draw)
            .map_err(|error| if progress.is_cancelled() { FileError::Cancelled } else { refused(error) })?;
        let write = |writer: &mut BufWriter<&File>| texture::write(writer, path, &picture, progress);
        let stage = || pool.install(|| atomic::stage(path, true, write));
        staged.push(progress.stage(drawn..end, stage)?);
    }
    progress.report(1.0);
    atomic::commit_all(staged).map(drop)
}
