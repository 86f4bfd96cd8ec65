//! The play thread: measures the level on the terrain that is shown, first coarsely.

use std::sync::Arc;
use std::time::Duration;

use super::job::{JobError, Wake};
use super::runner::{JobContext, Policy, Runner, RunnerConfig, Worker};
use crate::engine::Heightfield;
use crate::engine::lakes::water_depths;
use crate::engine::level::Level;
use crate::engine::play::{MeasuredTerrain, Measures, Obstacles, Overlay, PlayMap, Report, Rule, memory_bytes};
use crate::engine::recipe::Recipe;
use crate::files::io::memory::require_memory;

/// The most samples along a side at which the level is measured first.
const COARSE: usize = 257;

/// How long a superseded job may go on until its first result: while a marker is dragged, the map follows with coarse
/// ones.
const GRACE: Duration = Duration::from_millis(250);

/// What to measure.
#[derive(Clone, Debug)]
pub struct PlayRequest {
    /// The terrain.
    pub terrain: Arc<Heightfield>,
    /// The recipe that it was made from.
    pub recipe: Arc<Recipe>,
    /// The height of the water, metres.
    pub water_m: Option<f64>,
    /// The instances that block agents or lines of sight.
    pub obstacles: Option<Arc<Obstacles>>,
    /// The level.
    pub level: Level,
    /// The overlay on the maps.
    pub map: Option<PlayMap>,
    /// Whether to compute all metrics, besides the overlay.
    pub report: bool,
}

impl PlayRequest {
    /// Whether both request the same metrics of the same level and terrain.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { terrain, recipe, water_m, obstacles, level, map, report } = self;
        let same_obstacles = match (obstacles, &other.obstacles) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        Arc::ptr_eq(terrain, &other.terrain)
            && Arc::ptr_eq(recipe, &other.recipe)
            && same_obstacles
            && (water_m, map, report) == (&other.water_m, &other.map, &other.report)
            && *level == other.level
    }
}

/// An overlay on the maps.
#[derive(Clone, Debug)]
pub struct DrawnMap {
    /// What it shows.
    pub map: PlayMap,
    /// The pixels from west to east and from north to south.
    pub size: [usize; 2],
    /// The colours of the pixels.
    pub overlay: Overlay,
}

/// The most pixels along a side of a map: more would block the window while they are uploaded.
const MAX_PIXELS: usize = 1025;

impl DrawnMap {
    /// The colours of all samples of a terrain, or of every n-th of a large one; the corners remain.
    fn new(map: PlayMap, overlay: Overlay, samples: [usize; 2]) -> Self {
        let [width, height] = samples;
        let step = (width.max(height) - 1).div_ceil(MAX_PIXELS - 1);
        if step <= 1 {
            return Self { map, size: samples, overlay };
        }
        let places = |side: usize| {
            let pixels = (side - 1).div_ceil(step) + 1;
            (0..pixels).map(move |i| i * (side - 1) / (pixels - 1).max(1))
        };
        let pixels = places(height).flat_map(|r| places(width).map(move |c| r * width + c));
        let pixels = pixels.map(|sample| overlay.pixels[sample]).collect();
        let size = [places(width).count(), places(height).count()];
        Self { map, size, overlay: Overlay { pixels, ..overlay } }
    }
}

/// Metrics that are ready.
#[derive(Clone, Debug)]
pub struct PlayResult {
    /// What was requested.
    pub request: Arc<PlayRequest>,
    /// The requested map.
    pub map: Option<Arc<DrawnMap>>,
    /// All metrics.
    pub report: Option<Arc<Report>>,
    /// Whether they are those of a part of the samples; those of all samples follow.
    pub is_coarse: bool,
}

/// The handle of the play thread. Dropping it cancels and joins the thread.
pub struct PlayMeasurer {
    runner: Runner<PlayWorker>,
}

impl PlayMeasurer {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let config = RunnerConfig::new("upthrust play", Policy::LatestWins { grace: GRACE });
        Ok(Self { runner: Runner::start(config, PlayWorker, wake)? })
    }

    /// Requests metrics, superseding all earlier requests.
    pub fn request(&self, request: PlayRequest) {
        self.runner.submit(request);
    }

    /// Takes the newest result. Finer ones may follow.
    pub fn take(&self) -> Option<Result<PlayResult, JobError>> {
        self.runner.take().map(|(_, result)| result)
    }
}

struct PlayWorker;

impl Worker for PlayWorker {
    type Job = PlayRequest;
    type Label = ();
    type Output = PlayResult;

    fn label(_: &PlayRequest) {}

    fn run(&mut self, request: PlayRequest, context: &JobContext<'_, PlayResult>) -> Result<PlayResult, JobError> {
        let request = Arc::new(request);
        let terrain = &*request.terrain;
        let rules = Rule::readable(&request.level);
        let bytes = |terrain: &Heightfield| memory_bytes(&request.level, &rules, terrain.grid());
        let Some(coarse) = terrain.thinned(COARSE) else {
            require_memory(bytes(terrain))?;
            return measure(&request, terrain, false, context);
        };
        require_memory(bytes(&coarse))?;
        let found = measure(&request, &coarse, true, context)?;
        // Without the memory for more, an estimate is better than nothing.
        if require_memory(bytes(terrain)).is_err() {
            return Ok(found);
        }
        (context.publish)(found);
        measure(&request, terrain, false, context)
    }
}

/// Computes the metrics on a terrain; on a coarse one, publishes the overlay before the rest.
fn measure(
    request: &Arc<PlayRequest>,
    terrain: &Heightfield,
    is_coarse: bool,
    context: &JobContext<'_, PlayResult>,
) -> Result<PlayResult, JobError> {
    let water_m = water_depths(&request.recipe, request.water_m, terrain);
    let measured = MeasuredTerrain { terrain, water_m: water_m.as_deref(), obstacles: request.obstacles.as_deref() };
    let measures = Measures::new(measured, &request.level, context.progress);
    let mut result = PlayResult { request: request.clone(), map: None, report: None, is_coarse };
    if let Some(map) = request.map {
        let size = [terrain.grid().width(), terrain.grid().height()];
        result.map = Some(Arc::new(DrawnMap::new(map, map.overlay(&measures)?, size)));
        if request.report && is_coarse {
            (context.publish)(result.clone());
        }
    }
    if request.report {
        result.report = Some(Arc::new(Report::of(&measures)?));
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::level::Marker;
    use crate::engine::parameters::Point;
    use crate::engine::{Extent, Grid};
    use crate::worker::test_support::{no_wake, wait};

    #[test]
    fn maps_of_large_terrains_are_thinned_to_their_corners() {
        let pixels = (0..2050 * 3).map(|i: usize| [(i % 2050 / 9) as u8, (i / 2050) as u8, 0, 9]).collect();
        let drawn = DrawnMap::new(PlayMap::Walkable, Overlay { pixels, scale: None }, [2050, 3]);
        let [width, height] = drawn.size;
        assert!(width <= MAX_PIXELS && drawn.overlay.pixels.len() == width * height, "{:?}", drawn.size);
        let last = drawn.overlay.pixels.last().expect("a pixel");
        assert_eq!((drawn.overlay.pixels[0], *last), ([0, 0, 0, 9], [227, 2, 0, 9]));
    }

    #[test]
    fn coarse_metrics_come_first_and_fine_ones_follow() {
        let grid = Grid::new(Extent { width_m: 1024.0, depth_m: 1024.0 }, 513, 513);
        let marker = |x_m| Marker { name: format!("at {x_m}"), at_m: Point { x_m, z_m: 500.0 }, ..Marker::default() };
        let request = PlayRequest {
            terrain: Arc::new(Heightfield::flat(grid)),
            recipe: Arc::default(),
            water_m: None,
            obstacles: None,
            level: Level { markers: vec![marker(100.0), marker(900.0)].into(), ..Level::default() },
            map: Some(PlayMap::Reach(0)),
            report: true,
        };
        let measurer = PlayMeasurer::start(no_wake()).expect("a thread");
        measurer.request(request.clone());
        let coarse = wait(|| measurer.take()).expect("metrics");
        assert!(coarse.is_coarse && coarse.request.is_same(&request));
        assert_eq!(coarse.map.map(|map| map.size), Some([257, 257]));
        let is_fine = |found: &Result<PlayResult, JobError>| found.as_ref().is_ok_and(|found| !found.is_coarse);
        let fine = wait(|| measurer.take().filter(is_fine)).expect("metrics");
        assert_eq!(fine.map.map(|map| map.size), Some([513, 513]));
        let route = fine.report.expect("a report").routes[0].route.expect("a route");
        assert!((route[1] - 800.0).abs() < 1e-3, "{route:?}");
    }
}
