//! Rendering images of the 3-D view, or a turntable, to files in the background.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use crate::engine::Progress;
use crate::files::FileError;
use crate::files::formats::image;
use crate::files::io::atomic;
use crate::files::io::memory::require_memory;
use crate::scene::offscreen::{OffscreenRenderer, render_memory_bytes, turntable_paths};
use crate::scene::{GpuDevice, RenderParams};
use crate::worker::{ExportStatus, Wake};

/// How a render task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RenderOutcome {
    Written(Vec<PathBuf>),
    Cancelled,
    Failed(String),
}

/// How long to wait for the thread of a task that is dropped: as long as a band of an image usually takes. A GPU that
/// hangs may never answer.
const DROP_TIMEOUT: Duration = Duration::from_millis(300);

/// Threads that compress the images.
const THREADS: usize = 2;

/// Images that are being rendered. Dropping the task cancels it; its files appear only when all of them are complete.
pub(crate) struct RenderTask {
    path: PathBuf,
    progress: Arc<Progress>,
    outcome: Receiver<RenderOutcome>,
}

impl RenderTask {
    /// Starts to render one image of that size, or a turntable of `frames` images that begins with the direction of the
    /// view. Existing files are replaced.
    pub(crate) fn start(
        (device, params): (GpuDevice, RenderParams),
        size: [u32; 2],
        frames: Option<u32>,
        path: PathBuf,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let progress = Arc::new(Progress::new());
        let (sender, outcome) = channel();
        let paths = frames.map_or_else(|| vec![path.clone()], |count| turntable_paths(&path, count));
        let params = if frames.is_some() { params.for_turntable(size) } else { params };
        let run = {
            let progress = progress.clone();
            move || {
                let outcome = match render(&device, &params, size, &paths, &progress) {
                    Ok(()) => RenderOutcome::Written(paths),
                    Err(FileError::Cancelled) => RenderOutcome::Cancelled,
                    Err(error) => RenderOutcome::Failed(error.to_string()),
                };
                // The window may have been closed; then nobody needs the result.
                let _ = sender.send(outcome);
                wake();
            }
        };
        std::thread::Builder::new().name("upthrust render".into()).spawn(run)?;
        Ok(Self { path, progress, outcome })
    }

    /// The outcome, once the task has ended.
    pub(crate) fn take(&self) -> Option<RenderOutcome> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(RenderOutcome::Failed("an internal error stopped the rendering; no file was written".into()))
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
        // After a timeout the thread removes its files as soon as the GPU answers.
        let _ = self.outcome.recv_timeout(DROP_TIMEOUT);
    }
}

fn render(
    device: &GpuDevice,
    params: &RenderParams,
    size: [u32; 2],
    paths: &[PathBuf],
    progress: &Progress,
) -> Result<(), FileError> {
    let failed = |problem| FileError::Invalid { path: paths.first().cloned().unwrap_or_default(), problem };
    require_memory(render_memory_bytes(size, params.terrain.grid().samples()))?;
    let mut renderer = OffscreenRenderer::with_device(device).map_err(failed)?;
    // Not the global pool, where the preview would wait for the compression.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|i| format!("upthrust render {i}"));
    let pool = pool.build().map_err(|error| failed(error.to_string()))?;
    let share = |i: usize| i as f32 / paths.len() as f32;
    let mut staged = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        let end = share(i + 1);
        let rendered = 0.3 * share(i) + 0.7 * end;
        let render = || renderer.render(params, size, share(i), progress);
        let image = progress
            .stage(share(i)..rendered, render)
            .map_err(|error| if progress.is_cancelled() { FileError::Cancelled } else { failed(error) })?;
        let write = |writer: &mut BufWriter<&File>| image::write(writer, path, &image, progress);
        let stage = || pool.install(|| atomic::stage(path, true, write));
        staged.push(progress.stage(rendered..end, stage)?);
    }
    progress.report(1.0);
    atomic::commit_all(staged).map(drop)
}
