//! What a heightfield is like, in numbers.

mod line_fit;
mod slopes;
mod spectrum;

use rayon::prelude::*;

pub use slopes::{
    DEFAULT_WALKABLE_DEG, SLOPE_BIN_DEG, Walkability, WalkableArea, slope_deg, slope_histogram, walkable,
};
pub use spectrum::{Spectrum, spectral_slope};

use self::line_fit::fitted_slope;
use super::heightfield::Heightfield;
use super::parameters::Band;
use super::simd::{round_to_u32, simd};

/// Heights that are measured side by side, and those that a thread measures at once.
const SIDE_BY_SIDE: usize = 8;
const AT_ONCE: usize = 1 << 14;

/// The cheap measures: one pass over the land.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The lowest height, metres.
    pub min_m: f32,
    /// The highest height, metres.
    pub max_m: f32,
    /// The mean height, metres.
    pub mean_m: f64,
    /// (mean − min)/(max − min): how much of the box around the land is filled; 0.5 for level land.
    pub hypsometric_integral: f64,
    /// Shares of the samples in equal bins from the lowest to the highest height.
    pub histogram: Vec<f32>,
}

impl Summary {
    /// The lowest and the highest height, metres.
    pub fn range_m(&self) -> Band {
        Band { min: f64::from(self.min_m), max: f64::from(self.max_m) }
    }

    /// Measures the land, with `bins` bins in its histogram.
    pub fn of(terrain: &Heightfield, bins: usize) -> Self {
        let [min_m, max_m] = terrain.min_max();
        let range = f64::from(max_m) - f64::from(min_m);
        let factor = if range > 0.0 { bins as f32 / (max_m - min_m) } else { 0.0 };
        let last = (bins - 1) as f32;
        let of_part = |part: &[f32]| {
            simd(
                #[inline(always)]
                || {
                    // Several counts and sums side by side, so that none has to wait for the one before it.
                    let mut counts = vec![[0_u32; SIDE_BY_SIDE]; bins];
                    let mut sums = [0.0; SIDE_BY_SIDE];
                    for heights in part.chunks(SIDE_BY_SIDE) {
                        let mut places = [0; SIDE_BY_SIDE];
                        for ((place, sum), height) in places.iter_mut().zip(&mut sums).zip(heights) {
                            let bin = (height - min_m) * factor;
                            *place = round_to_u32((if bin < last { bin } else { last }).floor());
                            *sum += f64::from(*height);
                        }
                        for (lane, place) in places[..heights.len()].iter().enumerate() {
                            counts[*place as usize][lane] += 1;
                        }
                    }
                    (sums.iter().sum::<f64>(), counts.iter().map(|counts| counts.iter().sum()).collect())
                },
            )
        };
        // Parts of a fixed size, added up in their order: the same sum at every number of threads.
        let parts: Vec<(f64, Vec<u32>)> = terrain.heights().par_chunks(AT_ONCE).map(of_part).collect();
        let mean_m = parts.iter().map(|(sum, _)| sum).sum::<f64>() / terrain.heights().len() as f64;
        let mut counts = vec![0_u32; bins];
        for (_, of_part) in &parts {
            counts.iter_mut().zip(of_part).for_each(|(count, more)| *count += more);
        }
        let share = 1.0 / terrain.heights().len() as f32;
        Self {
            min_m,
            max_m,
            mean_m,
            hypsometric_integral: if range > 0.0 { (mean_m - f64::from(min_m)) / range } else { 0.5 },
            histogram: counts.iter().map(|&count| count as f32 * share).collect(),
        }
    }
}

/// The Hurst exponent from the variogram: half the slope of log E[(h(p + lag) − h(p))²] over log lag, along rows and
/// columns, for lags that double from 1 up to an eighth of the shorter side, and that one. `None` for land that is level or too small.
pub fn hurst_exponent(terrain: &Heightfield) -> Option<f64> {
    let grid = terrain.grid();
    let longest = grid.width().min(grid.height()) / 8;
    let doubled = (0..).map(|i| 1_usize << i).take_while(|&lag| lag < longest);
    let lags: Vec<usize> = doubled.chain((longest > 0).then_some(longest)).collect();
    let point = |&lag: &usize| {
        let squared = |a: f32, b: f32| f64::from(a - b) * f64::from(a - b);
        let along_rows: f64 = (0..grid.height())
            .map(|r| terrain.row(r).iter().zip(&terrain.row(r)[lag..]).map(|(a, b)| squared(*a, *b)).sum::<f64>())
            .sum();
        let along_columns: f64 =
            terrain.heights().iter().zip(&terrain.heights()[lag * grid.width()..]).map(|(a, b)| squared(*a, *b)).sum();
        let pairs = (grid.width() - lag) * grid.height() + grid.width() * (grid.height() - lag);
        let variance = (along_rows + along_columns) / pairs as f64;
        (variance > 0.0).then(|| [libm::log(lag as f64), libm::log(variance)])
    };
    let points: Option<Vec<[f64; 2]>> = lags.par_iter().map(point).collect();
    fitted_slope(&points?).map(|slope| 0.5 * slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: (side - 1) as f64, depth_m: (side - 1) as f64 }, side, side)
    }

    #[test]
    fn a_ramp_by_hand() {
        let ramp = Heightfield::from_fn(grid(101), |c, _| c as f32);
        let summary = Summary::of(&ramp, 10);
        assert_eq!((summary.min_m, summary.max_m, summary.mean_m), (0.0, 100.0, 50.0));
        assert!((summary.hypsometric_integral - 0.5).abs() < 1e-12);
        assert!((summary.histogram.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        // On a ramp the difference grows with the lag: Hurst exponent 1.
        assert!(
            (hurst_exponent(&Heightfield::from_fn(grid(101), |c, r| (c + r) as f32)).expect("rough") - 1.0).abs()
                < 1e-9
        );
    }

    #[test]
    fn level_land_has_no_roughness() {
        let level = Heightfield::flat(grid(65));
        assert_eq!(hurst_exponent(&level), None);
        assert_eq!(Summary::of(&level, 4).hypsometric_integral, 0.5);
    }

    #[test]
    fn white_noise_is_as_rough_at_every_lag() {
        let mut draw = crate::engine::random::Stream::new(0, 0).at(0);
        let noise = Heightfield::from_fn(grid(256), |_, _| draw.unit() as f32);
        assert!(hurst_exponent(&noise).expect("rough").abs() < 0.02);
    }
}
