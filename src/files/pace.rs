//! How long an order will take, told by a small trial of its recipe.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::build::Order;
use super::inputs::InputFiles;
use crate::engine::texture::paint_once;
use crate::engine::{Cancelled, Grid, Heightfield, Progress, stack};

/// Samples along the longer side of the land on which is tried.
const SAMPLES: usize = 257;

/// How long the land and the texture are tried each. What is not done by then is reckoned from how far it has come.
const PATIENCE: Duration = Duration::from_millis(400);

/// Bytes of samples and pixels that are compressed and written in a second, by measurement on two slow cores.
const BYTES_A_SECOND: f64 = 40e6;

/// How quickly a recipe is computed on this machine. It goes by the number of samples and pixels alone: what it says is
/// right within a factor of two or so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostEstimate {
    /// Seconds for a sample of land.
    sample_s: f64,
    /// Seconds for a pixel of texture.
    pixel_s: f64,
}

impl CostEstimate {
    /// Tries the order's recipe on a small land, with the inputs from `files`. Takes a second at the most, and returns
    /// `None` where the inputs cannot be decoded.
    pub fn tried(mut order: Order, files: &InputFiles) -> Option<Self> {
        order.load_inputs(files, &Progress::new()).ok()?;
        let Order { recipe, position, inputs, .. } = &order;
        let grid = Grid::fitted(recipe.world.extent(), SAMPLES);
        let (land_s, terrain) = timed(|progress| stack::evaluate(recipe, grid, *position, inputs, progress));
        let terrain = terrain.unwrap_or_else(|| Heightfield::flat(grid));
        let size = [grid.width(), grid.height()];
        let (painting_s, _) = timed(|progress| {
            let (range_m, light) = (recipe.world.height_range_m, Some(&recipe.light));
            paint_once(&terrain, &recipe.texture, range_m, inputs, light, size, progress)
        });
        let each = 1.0 / grid.samples() as f64;
        Some(Self { sample_s: land_s * each, pixel_s: painting_s * each })
    }

    /// Seconds for an order of the same recipe whose files hold that many bytes before they are compressed.
    pub fn seconds(&self, order: &Order, bytes: u64) -> f64 {
        let size = order.texture.as_ref().map_or([0; 2], |texture| texture.size);
        let [terrain, painted] = [order.grid.samples(), size[0] * size[1]].map(|count| count as f64);
        terrain * self.sample_s + painted * self.pixel_s + bytes as f64 / BYTES_A_SECOND
    }
}

/// How many seconds the work takes, or would take if it were not stopped by then, and what came of it.
fn timed<T>(work: impl FnOnce(&Progress) -> Result<T, Cancelled>) -> (f64, Option<T>) {
    let (progress, began) = (Progress::new(), Instant::now());
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        let watched = &progress;
        scope.spawn(move || {
            // Nothing is ever sent: it is over when the other end is gone.
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                watched.cancel();
            }
        });
        let outcome = work(&progress).ok();
        drop(done);
        let share = if outcome.is_some() { 1.0 } else { f64::from(progress.fraction()).max(1e-3) };
        (began.elapsed().as_secs_f64() / share, outcome)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::{Recipe, Step};
    use crate::files::build::TextureOrder;

    fn order(faults: Faults, samples: usize) -> Order {
        let recipe = Recipe { stack: vec![Step::new(faults)], ..Default::default() };
        let grid = Grid::fitted(recipe.world.extent(), samples);
        Order::new("tried", recipe, grid)
    }

    #[test]
    fn seconds_are_counted_by_samples_pixels_and_bytes() {
        let pace = CostEstimate { sample_s: 1e-6, pixel_s: 1e-5 };
        let mut order = order(Faults::default(), 1001);
        assert!((pace.seconds(&order, 40_000_000) - (1.002_001 + 1.0)).abs() < 1e-9);
        order.texture = Some(TextureOrder::new("t.png", [200, 100]));
        assert!((pace.seconds(&order, 0) - (1.002_001 + 0.2)).abs() < 1e-9);
    }

    #[test]
    fn endless_work_is_given_up_and_reckoned() {
        let wind = Some(RecursiveFilter { passes: 100, ..Default::default() });
        let endless = order(Faults { count: 1_000_000, wind, ..Default::default() }, 257);
        let pace = CostEstimate::tried(endless.clone(), &InputFiles::new()).expect("a pace");
        assert!(pace.seconds(&endless, 0) > 20.0, "{pace:?}");
    }
}
