//! Rendering images of the 3-D view, or a turntable, to files in the background.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::Progress;
use crate::engine::cast::ToFloat;
use crate::files::FileError;
use crate::files::formats::image;
use crate::files::io::atomic;
use crate::files::io::memory::require_memory;
use crate::scene::offscreen::{OffscreenRenderer, render_memory_bytes, turntable_paths};
use crate::scene::{GpuDevice, RenderParams};
use crate::worker::{ExportStatus, JobContext, JobError, Policy, Runner, RunnerConfig, Wake, Worker};

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
    runner: Runner<RenderWorker>,
}

struct RenderWorker;

struct RenderJob {
    device: GpuDevice,
    params: RenderParams,
    size: [u32; 2],
    paths: Vec<PathBuf>,
}

impl Worker for RenderWorker {
    type Job = RenderJob;
    /// The first file.
    type Label = PathBuf;
    type Output = Vec<PathBuf>;

    fn label(job: &RenderJob) -> PathBuf {
        job.paths.first().cloned().unwrap_or_default()
    }

    fn run(&mut self, job: RenderJob, context: &JobContext<'_, Vec<PathBuf>>) -> Result<Vec<PathBuf>, JobError> {
        render(&job, context.progress)?;
        Ok(job.paths)
    }
}

impl RenderTask {
    /// Starts to render one image of that size, or a turntable of `frames` images that begins with the direction of the
    /// view. Existing files are replaced.
    pub(crate) fn start(
        (device, params): (GpuDevice, RenderParams),
        size: [u32; 2],
        frames: Option<u32>,
        path: &Path,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let params = if frames.is_some() { params.for_turntable(size) } else { params };
        let paths = frames.map_or_else(|| vec![path.to_path_buf()], |count| turntable_paths(path, count));
        let config = RunnerConfig {
            shutdown_timeout: Some(DROP_TIMEOUT),
            ..RunnerConfig::new("upthrust render", Policy::Queue)
        };
        let runner = Runner::start(config, RenderWorker, wake)?;
        runner.submit(RenderJob { device, params, size, paths });
        Ok(Self { runner })
    }

    /// The outcome, once the task has ended.
    pub(crate) fn take(&self) -> Option<RenderOutcome> {
        self.runner.take().map(|(_, result)| match result {
            Ok(files) => RenderOutcome::Written(files),
            Err(JobError::Cancelled) => RenderOutcome::Cancelled,
            Err(error) => RenderOutcome::Failed(error.to_string()),
        })
    }

    /// `None` once the task has ended.
    pub(crate) fn status(&self) -> Option<ExportStatus> {
        self.runner.status().map(ExportStatus::from)
    }

    pub(crate) fn cancel(&self) {
        self.runner.cancel();
    }
}

fn render(job: &RenderJob, progress: &Progress) -> Result<(), FileError> {
    let RenderJob { device, params, size, paths } = job;
    let failed = |problem| FileError::Invalid { path: paths.first().cloned().unwrap_or_default(), problem };
    require_memory(render_memory_bytes(*size, params.terrain.grid().samples()))?;
    let mut renderer = OffscreenRenderer::with_device(device).map_err(failed)?;
    // Not the global pool, where the preview would wait for the compression.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|i| format!("upthrust render {i}"));
    let pool = pool.build().map_err(|error| failed(error.to_string()))?;
    let share = |i: usize| i.to_f32() / paths.len().to_f32();
    let mut staged = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        let end = share(i + 1);
        let rendered = 0.3 * share(i) + 0.7 * end;
        let render = || renderer.render(params, *size, share(i), progress);
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
