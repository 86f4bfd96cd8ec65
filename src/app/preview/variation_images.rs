//! Large images of variations, from above and in 3-D, drawn by a background thread.

use std::sync::Arc;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::engine::stack::Evaluator;
use crate::engine::texture::paint_once;
use crate::engine::{Grid, Heightfield, Image, Progress, Recipe};
use crate::files::import::DecodedFiles;
use crate::scene::camera::Camera;
use crate::scene::offscreen::OffscreenRenderer;
use crate::scene::{GpuDevice, RenderParams};
use crate::worker::{InputFiles, JobContext, JobError, Policy, Runner, RunnerConfig, Wake, Worker};

/// Samples along the longer side of the terrain: about two per pixel of the largest image.
#[cfg(not(test))]
const SAMPLES: usize = 513;
#[cfg(test)]
const SAMPLES: usize = 65;

/// Threads that compute the terrain; the preview has the others.
const THREADS: usize = 2;

/// The terrains that are kept, to be drawn again from another direction: as many as are compared.
const MAX_TERRAINS: usize = 3;

/// What an image shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum VariationView {
    /// The terrain from above.
    Map,
    /// The terrain in 3-D, in an image of that size.
    Scene {
        camera: Camera,
        /// Width and height, pixels.
        size: [u32; 2],
    },
}

/// A request for an image.
pub(crate) struct VariationJob {
    /// The index of the variation.
    pub(crate) place: usize,
    pub(crate) recipe: Arc<Recipe>,
    /// The contents of the files that the recipe names.
    pub(crate) files: InputFiles,
    pub(crate) view: VariationView,
}

/// The thread. Dropping it cancels what it computes.
pub(crate) struct VariationImages {
    runner: Runner<VariationWorker>,
}

impl VariationImages {
    /// Starts the thread, which draws in 3-D on that device, as the 3-D view shows its terrain.
    pub(crate) fn start(source: Option<(GpuDevice, RenderParams)>, wake: Wake) -> std::io::Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(THREADS).thread_name(|i| format!("upthrust variation {i}"));
        let worker = VariationWorker {
            pool: pool.build().ok(),
            decoded: DecodedFiles::default(),
            evaluator: Evaluator::new(),
            terrains: Vec::new(),
            source,
            renderer: None,
        };
        let config = RunnerConfig {
            // The window is closed within a frame.
            shutdown_timeout: Some(Duration::ZERO),
            ..RunnerConfig::new("upthrust variations", Policy::Queue)
        };
        Ok(Self { runner: Runner::start(config, worker, wake)? })
    }

    /// Queues an image. It replaces a queued image of the same variation.
    pub(crate) fn request(&self, job: VariationJob) {
        self.runner.edit_queue(|queue| queue.retain(|queued| queued.place != job.place));
        self.runner.submit(job);
    }

    /// Cancels the images of a variation.
    pub(crate) fn cancel(&self, place: usize) {
        self.runner.edit_queue(|queue| queue.retain(|queued| queued.place != place));
        self.runner.cancel_if(|(running, _)| *running == place);
    }

    /// Takes the oldest finished image: the variation, what it shows, and the image or why there is none.
    pub(crate) fn take(&self) -> Option<(usize, VariationView, Result<Image, JobError>)> {
        self.runner.take().map(|((place, view), image)| (place, view, image))
    }
}

/// A terrain, and its colours without light once they are needed.
struct Drawn {
    recipe: Arc<Recipe>,
    terrain: Arc<Heightfield>,
    unlit: Option<Arc<Image>>,
}

struct VariationWorker {
    pool: Option<ThreadPool>,
    decoded: DecodedFiles,
    /// Variations that begin with the same steps share their results.
    evaluator: Evaluator,
    /// The terrains that were drawn last, the latest last.
    terrains: Vec<Drawn>,
    source: Option<(GpuDevice, RenderParams)>,
    renderer: Option<OffscreenRenderer>,
}

impl Worker for VariationWorker {
    type Job = VariationJob;
    type Label = (usize, VariationView);
    type Output = Image;

    fn label(job: &VariationJob) -> Self::Label {
        (job.place, job.view)
    }

    fn run(&mut self, job: VariationJob, context: &JobContext<'_, Image>) -> Result<Image, JobError> {
        let progress = context.progress;
        let mut drawn = match self.terrains.iter().position(|drawn| Arc::ptr_eq(&drawn.recipe, &job.recipe)) {
            Some(at) => self.terrains.remove(at),
            None => self.evaluate(&job, progress)?,
        };
        let image = self.draw(&mut drawn, &job, progress);
        self.terrains.push(drawn);
        let surplus = self.terrains.len().saturating_sub(MAX_TERRAINS);
        self.terrains.drain(..surplus);
        image
    }

    fn reset(&mut self) {
        self.evaluator = Evaluator::new();
        self.terrains.clear();
        self.renderer = None;
    }
}

impl VariationWorker {
    fn evaluate(&mut self, job: &VariationJob, progress: &Progress) -> Result<Drawn, JobError> {
        let Self { pool, decoded, evaluator, .. } = self;
        let recipe = &*job.recipe;
        let inputs = decoded.inputs(recipe, &job.files, progress)?;
        let grid = Grid::fitted(recipe.world.extent(), SAMPLES);
        let terrain = within(pool.as_ref(), || evaluator.evaluate(recipe, grid, None, &inputs, progress))?;
        Ok(Drawn { recipe: job.recipe.clone(), terrain, unlit: None })
    }

    fn draw(&mut self, drawn: &mut Drawn, job: &VariationJob, progress: &Progress) -> Result<Image, JobError> {
        let Drawn { recipe, terrain, unlit } = drawn;
        match job.view {
            VariationView::Map => self.painted(job, terrain, true, progress),
            VariationView::Scene { camera, size } => {
                let colours = match unlit {
                    Some(colours) => colours.clone(),
                    None => unlit.insert(Arc::new(self.painted(job, terrain, false, progress)?)).clone(),
                };
                let Some((device, shown)) = &self.source else {
                    return Err(JobError::Failed("there is no 3-D view".into()));
                };
                let range_m = terrain.min_max();
                let params = RenderParams {
                    terrain: terrain.clone(),
                    colours,
                    is_lit: false,
                    range_m,
                    max_m: range_m[1],
                    extent: terrain.grid().extent(),
                    light: recipe.light.clone(),
                    glow: Vec::new(),
                    shapes: None,
                    camera: Some(camera),
                    ..shown.clone()
                };
                let renderer = match &mut self.renderer {
                    Some(renderer) => renderer,
                    none => none.insert(OffscreenRenderer::with_device(device).map_err(JobError::Failed)?),
                };
                let image = renderer.render(&params, size, 0.0, progress);
                image.map_err(
                    |error| if progress.is_cancelled() { JobError::Cancelled } else { JobError::Failed(error) },
                )
            }
        }
    }

    /// The colours of a terrain.
    fn painted(
        &mut self,
        job: &VariationJob,
        terrain: &Heightfield,
        is_lit: bool,
        progress: &Progress,
    ) -> Result<Image, JobError> {
        let recipe = &*job.recipe;
        let inputs = self.decoded.inputs(recipe, &job.files, progress)?;
        let size = [terrain.grid().width(), terrain.grid().height()];
        let light = is_lit.then_some(&recipe.light);
        let paint = || paint_once(terrain, recipe.painting(&inputs, light), size, progress);
        Ok(within(self.pool.as_ref(), paint)?.image)
    }
}

/// Does the work on the threads of a pool, if there is one.
fn within<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
