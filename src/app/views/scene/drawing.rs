//! Pictures of the land, one or all around it, drawn and written on a thread of their own while the editor goes on.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use eframe::egui_wgpu::RenderState;

use crate::engine::Monitor;
use crate::files::memory::require_memory;
use crate::files::{FileError, atomic, texture};
use crate::scene::{Easel, Portrait, bytes_drawn, frame_paths};
use crate::worker::{ExportStatus, Wake};

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DrawingOutcome {
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
pub(crate) struct Drawing {
    path: PathBuf,
    monitor: Arc<Monitor>,
    outcome: Receiver<DrawingOutcome>,
}

impl Drawing {
    /// Begins with a picture of that size, or with as many as are said all around the whole land, the first of which
    /// looks the way the view does; files that are there already are replaced.
    pub(crate) fn start(
        (state, portrait): (RenderState, Portrait),
        size: [u32; 2],
        frames: Option<u32>,
        path: PathBuf,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let monitor = Arc::new(Monitor::new());
        let (sender, outcome) = channel();
        let paths = frames.map_or_else(|| vec![path.clone()], |count| frame_paths(&path, count));
        let portrait = if frames.is_some() { portrait.turning(size) } else { portrait };
        let run = {
            let monitor = monitor.clone();
            move || {
                let outcome = match draw(&state, &portrait, size, &paths, &monitor) {
                    Ok(()) => DrawingOutcome::Written(paths),
                    Err(FileError::Cancelled) => DrawingOutcome::Cancelled,
                    Err(error) => DrawingOutcome::Failed(error.to_string()),
                };
                // The window may be gone by now; then nobody needs the result.
                let _ = sender.send(outcome);
                wake();
            }
        };
        std::thread::Builder::new().name("upthrust drawing".into()).spawn(run)?;
        Ok(Self { path, monitor, outcome })
    }

    /// How it ended, once it has.
    pub(crate) fn take(&self) -> Option<DrawingOutcome> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(DrawingOutcome::Failed("an error in the program stopped the drawing; no file was written".into()))
            }
        }
    }

    pub(crate) fn status(&self) -> ExportStatus {
        ExportStatus {
            path: self.path.clone(),
            progress: self.monitor.progress(),
            is_cancelled: self.monitor.is_cancelled(),
            waiting: 0,
        }
    }

    pub(crate) fn cancel(&self) {
        self.monitor.cancel();
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        self.cancel();
        // Where none comes, the thread removes its files whenever the card lets it go on.
        let _ = self.outcome.recv_timeout(GRACE);
    }
}

fn draw(
    state: &RenderState,
    portrait: &Portrait,
    size: [u32; 2],
    paths: &[PathBuf],
    monitor: &Monitor,
) -> Result<(), FileError> {
    // Beside the window's own pictures, on the same card.
    let refused = |problem| FileError::Contents { path: paths.first().cloned().unwrap_or_default(), problem };
    let land = portrait.land.grid();
    require_memory(bytes_drawn(size, land.samples()))?;
    let mut easel = Easel::on(state).map_err(refused)?;
    // A pool of its own: in the shared one the preview would queue behind the compression.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|i| format!("upthrust drawing {i}"));
    let pool = pool.build().map_err(|error| refused(error.to_string()))?;
    let share = |i: usize| i as f32 / paths.len() as f32;
    let mut staged = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        let end = share(i + 1);
        let drawn = 0.3 * share(i) + 0.7 * end;
        let draw = || easel.draw(portrait, size, share(i), monitor);
        let picture = monitor
            .within(share(i)..drawn, draw)
            .map_err(|error| if monitor.is_cancelled() { FileError::Cancelled } else { refused(error) })?;
        let write = |writer: &mut BufWriter<&File>| texture::write(writer, path, &picture, monitor);
        let stage = || pool.install(|| atomic::stage(path, true, write));
        staged.push(monitor.within(drawn..end, stage)?);
    }
    monitor.report(1.0);
    atomic::commit_all(staged).map(drop)
}
