//! The scatter thread: scatters the layers over the terrain that is shown.

use std::sync::Arc;
use std::time::Duration;

use super::job::{JobError, Wake};
use super::runner::{JobContext, Policy, Runner, RunnerConfig, Worker};
use crate::engine::Heightfield;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::play::Obstacles;
use crate::engine::recipe::Recipe;
use crate::engine::scatter::{Dots, ScatterLayer, Scattered, ShapeInstances, dots, memory_bytes, most_places, scatter};
use crate::files::import::{DecodedFiles, InputFiles};
use crate::files::io::memory::require_memory;

/// Pixels along the longer side of the map of dots.
const DOTS: usize = 1024;

/// The bytes that drawing an instance takes: its place in the order, on the map, in 3-D, and as an obstacle.
const DRAWN_BYTES: f64 = 24.0 + 12.0 + 48.0 + 40.0;

/// The maps of dots.
const LEVELS: usize = 4;

/// What to scatter.
#[derive(Clone, Debug)]
pub struct ScatterRequest {
    /// The terrain.
    pub terrain: Arc<Heightfield>,
    /// The recipe, whose layers are scattered.
    pub recipe: Arc<Recipe>,
    /// The files that its masks read.
    pub files: InputFiles,
}

impl ScatterRequest {
    /// Whether both have the same result.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { terrain, recipe, files } = self;
        let same_recipe = || {
            let other = &*other.recipe;
            recipe.scatter == other.scatter && recipe.texture == other.texture && recipe.has_same_terrain(other)
        };
        Arc::ptr_eq(terrain, &other.terrain)
            && *files == other.files
            && (Arc::ptr_eq(recipe, &other.recipe) || same_recipe())
    }
}

/// The instances on a terrain.
#[derive(Clone, Debug)]
pub struct ScatterResult {
    /// What was requested.
    pub request: Arc<ScatterRequest>,
    /// The instances of each enabled layer.
    pub scattered: Arc<Vec<Scattered>>,
    /// The same with their shapes.
    pub shapes: Arc<ShapeInstances>,
    /// The same as dots on maps, each with half the pixels of the one before along both sides.
    pub dots: Arc<Vec<Dots>>,
    /// Those that block agents or lines of sight; `None` if no layer does.
    pub obstacles: Option<Arc<Obstacles>>,
}

/// The handle of the scatter thread. Dropping it cancels and joins the thread.
pub struct Scatterer {
    runner: Runner<ScatterWorker>,
}

impl Scatterer {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let config = RunnerConfig::new("upthrust scatter", Policy::LatestWins { grace: Duration::from_millis(250) });
        Ok(Self { runner: Runner::start(config, ScatterWorker::default(), wake)? })
    }

    /// Requests what stands on a terrain, superseding all earlier requests.
    pub fn request(&self, request: ScatterRequest) {
        self.runner.submit(request);
    }

    /// Takes the newest result.
    pub fn take(&self) -> Option<Result<ScatterResult, JobError>> {
        self.runner.take().map(|(_, result)| result)
    }
}

#[derive(Default)]
struct ScatterWorker {
    decoded: DecodedFiles,
}

impl Worker for ScatterWorker {
    type Job = ScatterRequest;
    type Label = ();
    type Output = ScatterResult;

    fn label(_: &ScatterRequest) {}

    fn run(
        &mut self,
        request: ScatterRequest,
        context: &JobContext<'_, ScatterResult>,
    ) -> Result<ScatterResult, JobError> {
        let ScatterRequest { terrain, recipe, files } = &request;
        let (progress, layers) = (context.progress, &recipe.scatter);
        let extent = terrain.grid().extent();
        // What is drawn of each instance, and the order in which it is found.
        let instances =
            layers.iter().filter(|layer| layer.enabled).map(|layer| most_places(layer, extent) * layer.amount);
        let drawn = (DRAWN_BYTES * instances.sum::<f64>()).to_u64();
        require_memory(memory_bytes(layers, terrain.grid()).saturating_add(drawn)).map_err(|_| {
            let count = |layer: &&ScatterLayer| (most_places(layer, extent) * layer.amount).to_u64();
            let largest = layers.iter().filter(|layer| layer.enabled).max_by_key(count);
            let name = largest.map_or("", |layer| &layer.name);
            let what =
                format!("there is not enough memory for that many {name}; widen their spacing or lower their amount");
            JobError::Failed(what)
        })?;
        let inputs = self.decoded.inputs(recipe, files, progress)?;
        let scattered = scatter(recipe, terrain, &inputs, progress)?;
        let shapes = Arc::new(ShapeInstances::new(layers, &scattered, extent));
        progress.check()?;
        let longest_m = extent.width_m.max(extent.depth_m);
        let pixels = |side_m: f64| (DOTS.to_f64() * side_m / longest_m).round().to_usize().max(1);
        let size = [pixels(extent.width_m), pixels(extent.depth_m)];
        let mut dots = vec![dots(layers, &scattered, extent, size)];
        for level in 1..LEVELS {
            dots.push(dots[level - 1].halved());
        }
        let dots = Arc::new(dots);
        let obstacles = Obstacles::are_in(layers).then(|| Arc::new(Obstacles::of(layers, &scattered)));
        let scattered = Arc::new(scattered);
        Ok(ScatterResult { request: Arc::new(request), scattered, shapes, dots, obstacles })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Extent, Grid};
    use crate::worker::test_support::{no_wake, wait};

    #[test]
    fn things_are_scattered_on_the_requested_terrain() {
        let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 4096.0 }, 65, 65);
        let layer = ScatterLayer { spacing_m: 40.0, blocks: true, ..ScatterLayer::default() };
        let recipe = Recipe { scatter: vec![layer].into(), ..Recipe::default() };
        let request = ScatterRequest {
            terrain: Arc::new(Heightfield::flat(grid)),
            recipe: Arc::new(recipe),
            files: InputFiles::default(),
        };
        let scatterer = Scatterer::start(no_wake()).expect("a thread");
        scatterer.request(request.clone());
        let found = wait(|| scatterer.take()).expect("instances");
        assert!(found.request.is_same(&request) && found.obstacles.is_some());
        let count = found.scattered[0].instances.len();
        assert!(count > 6000 && found.shapes.instances.len() == count, "{count} instances");
        assert_eq!(found.dots.iter().map(|dots| dots.size[0]).collect::<Vec<_>>(), [1024, 512, 256, 128]);
        let moved = ScatterRequest { terrain: Arc::new(Heightfield::flat(grid)), ..request };
        assert!(!found.request.is_same(&moved));
    }
}
