//! Estimates of how long an export takes, from a trial run of its recipe on a small grid.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::order::Order;
use super::plan::Plan;
use crate::engine::cast::ToFloat;
use crate::engine::texture::paint_once;
use crate::engine::{Cancelled, Grid, Heightfield, Progress, stack};
use crate::files::import::InputFiles;

/// Samples along the longer side of the trial grid, and of a second one that shows how the time grows.
const TRIAL_SAMPLES: [usize; 2] = [257, 513];

/// The time limit of each trial. The duration of unfinished work is extrapolated from its progress.
const TRIAL_TIMEOUT: Duration = Duration::from_millis(2500);

/// The least part of the time of the second trial that is assumed to grow with the samples.
const LEAST_GROWTH: f64 = 0.25;

/// Throughput of compressing and writing samples and pixels in bytes per second, measured on two slow cores.
const BYTES_PER_SECOND: f64 = 40e6;

/// How fast a recipe is computed on this machine. It grows with samples and pixels only, so estimates are accurate within
/// a factor of about two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostEstimate {
    /// Seconds that heights take at any size, such as rivers on coarse levels.
    start_s: f64,
    /// Seconds per further sample of heights.
    sample_s: f64,
    /// Seconds per pixel of texture.
    pixel_s: f64,
}

impl CostEstimate {
    /// Measures the recipe of an order, with its inputs from `files`. Takes at most 8 seconds. `None` if the inputs
    /// cannot be decoded, or if the machine was too busy for the trial to get going.
    pub fn measure(order: Order, files: &InputFiles) -> Option<Self> {
        Self::measure_within(TRIAL_TIMEOUT, order, files)
    }

    /// The same with a time limit for each trial.
    fn measure_within(limit: Duration, mut order: Order, files: &InputFiles) -> Option<Self> {
        order.load_inputs(files, &Progress::new()).ok()?;
        let Order { recipe, position, inputs, .. } = &order;
        let [grid, finer] = TRIAL_SAMPLES.map(|samples| Grid::fitted(recipe.world.extent(), samples));
        let evaluated =
            |grid: Grid| timed(limit, |progress| stack::evaluate(recipe, grid, *position, inputs, progress));
        let (heights_s, heights) = evaluated(grid)?;
        // Also if the first trial was not finished: rivers take a time that does not grow.
        let (finer_s, _) = evaluated(finer)?;
        let (start_s, sample_s) = growth([grid, finer].map(|grid| grid.samples().to_f64()), [heights_s, finer_s]);
        let heights = heights.unwrap_or_else(|| Heightfield::flat(grid));
        let size = [grid.width(), grid.height()];
        let (painting_s, _) = timed(limit, |progress| {
            paint_once(&heights, recipe.painting(inputs, Some(&recipe.light)), size, progress)
        })?;
        Some(Self { start_s, sample_s, pixel_s: painting_s / grid.samples().to_f64() })
    }

    /// The estimated time of an export of the same recipe.
    pub fn seconds(&self, plan: &Plan) -> f64 {
        let order = plan.order();
        let size = order.texture.as_ref().map_or([0; 2], |texture| texture.size);
        let [samples, pixels] = [order.grid.samples(), size[0] * size[1]].map(|count| count.to_f64());
        self.start_s + samples * self.sample_s + pixels * self.pixel_s + plan.max_bytes().to_f64() / BYTES_PER_SECOND
    }
}

/// The time that does not grow, and the time per sample, from the times of two numbers of samples.
fn growth([samples, more]: [f64; 2], [time_s, longer_s]: [f64; 2]) -> (f64, f64) {
    // The first trial starts threads, and both are disturbed: the time always grows.
    let least_s = LEAST_GROWTH * longer_s / more;
    let sample_s = ((longer_s - time_s) / (more - samples)).max(least_s);
    ((longer_s - sample_s * more).max(0.0), sample_s)
}

/// Runs the work until a time limit. Returns its duration, extrapolated if it was cancelled, and its result; `None` if
/// nothing of it was done until then.
fn timed<T>(limit: Duration, work: impl FnOnce(&Progress) -> Result<T, Cancelled>) -> Option<(f64, Option<T>)> {
    let (progress, start) = (Progress::new(), Instant::now());
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        let watched = &progress;
        scope.spawn(move || {
            // Nothing is ever sent. The channel disconnects when the work is done.
            if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                watched.cancel();
            }
        });
        let result = work(&progress).ok();
        drop(done);
        let fraction = if result.is_some() { 1.0 } else { f64::from(progress.fraction()) };
        (fraction > 0.0).then(|| (start.elapsed().as_secs_f64() / fraction, result))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::{Recipe, Step};
    use crate::files::export::order::{HeightmapOrder, TextureOrder};

    const SHORT: Duration = Duration::from_millis(300);

    fn order(faults: Faults, samples: usize) -> Order {
        let recipe = Recipe { stack: vec![Step::new(faults)], ..Default::default() };
        let grid = Grid::fitted(recipe.world.extent(), samples);
        Order::new("trial", recipe, grid)
    }

    #[test]
    fn seconds_depend_on_samples_pixels_and_bytes() {
        let cost = CostEstimate { start_s: 0.5, sample_s: 1e-6, pixel_s: 1e-5 };
        let mut order = order(Faults::default(), 1001);
        let seconds = |order: &Order| cost.seconds(&Plan::new(order.clone()).expect("possible"));
        assert!((seconds(&order) - 1.502_001).abs() < 1e-9);
        order.texture = Some(TextureOrder::new("t.png", [200, 100]));
        assert!((seconds(&order) - (1.502_001 + 0.2 + 64_396.0 / 40e6)).abs() < 1e-9, "{}", seconds(&order));
        (order.texture, order.heightmaps) = (None, vec![HeightmapOrder::new("h.r32")]);
        assert!((seconds(&order) - (1.502_001 + 0.100_5)).abs() < 1e-3, "{}", seconds(&order));
    }

    #[test]
    fn two_trials_tell_how_the_time_grows() {
        assert_eq!(growth([100.0, 400.0], [1.0, 4.0]), (0.0, 0.01));
        assert_eq!(growth([100.0, 400.0], [3.0, 6.0]), (2.0, 0.01));
        // Disturbed: a quarter of the second time grows.
        assert_eq!(growth([100.0, 400.0], [5.0, 4.0]), (3.0, 0.0025));
    }

    #[test]
    fn work_that_does_not_get_going_is_not_extrapolated() {
        let waits = |progress: &Progress| loop {
            progress.check()?;
            std::thread::yield_now();
        };
        assert_eq!(timed::<()>(SHORT, waits), None);
    }

    #[test]
    fn work_beyond_the_time_limit_is_cancelled_and_extrapolated() {
        let wind = Some(RecursiveFilter { passes: 100, ..Default::default() });
        let endless = order(Faults { count: 1_000_000, wind, ..Default::default() }, 257);
        let cost = CostEstimate::measure_within(SHORT, endless.clone(), &InputFiles::new()).expect("an estimate");
        assert!(cost.seconds(&Plan::new(endless).expect("possible")) > 20.0, "{cost:?}");
    }
}
