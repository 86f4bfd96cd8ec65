//! Basic statistics of a heightfield.

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::parameters::Band;
use crate::simd::{round_to_u32, simd};

/// Heights that are processed together in SIMD lanes, and those in one parallel job.
const LANES: usize = 8;
const JOB_HEIGHTS: usize = 1 << 14;

/// Basic statistics, from one pass over the heights.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The lowest height, metres.
    pub min_m: f32,
    /// The highest height, metres.
    pub max_m: f32,
    /// The mean height, metres.
    pub mean_m: f64,
    /// (mean − min)/(max − min): the filled share of the bounding box; 0.5 for level terrain.
    pub hypsometric_integral: f64,
    /// Shares of the samples in equal bins from the lowest to the highest height.
    pub histogram: Vec<f32>,
}

impl Summary {
    /// The lowest and the highest height, metres.
    pub fn range_m(&self) -> Band {
        Band { min: f64::from(self.min_m), max: f64::from(self.max_m) }
    }

    /// Computes the statistics, with `bins` bins in the histogram.
    pub fn of(terrain: &Heightfield, bins: usize) -> Self {
        let [min_m, max_m] = terrain.min_max();
        let range = f64::from(max_m) - f64::from(min_m);
        let factor = if range > 0.0 { bins.to_f32() / (max_m - min_m) } else { 0.0 };
        let last = (bins - 1).to_f32();
        let of_part = |part: &[f32]| {
            simd(
                #[inline(always)]
                || {
                    // Several independent counts and sums, so that additions do not depend on each other.
                    let mut counts = vec![[0_u32; LANES]; bins];
                    let mut sums = [0.0; LANES];
                    for heights in part.chunks(LANES) {
                        let mut indices = [0; LANES];
                        for ((index, sum), height) in indices.iter_mut().zip(&mut sums).zip(heights) {
                            let bin = (height - min_m) * factor;
                            *index = round_to_u32((if bin < last { bin } else { last }).floor());
                            *sum += f64::from(*height);
                        }
                        for (lane, index) in indices[..heights.len()].iter().enumerate() {
                            counts[*index as usize][lane] += 1;
                        }
                    }
                    (sums.iter().sum::<f64>(), counts.iter().map(|counts| counts.iter().sum()).collect())
                },
            )
        };
        // Jobs of a fixed size, added in order: the same sum at every number of threads.
        let parts: Vec<(f64, Vec<u32>)> = terrain.heights().par_chunks(JOB_HEIGHTS).map(of_part).collect();
        let mean_m = parts.iter().map(|(sum, _)| sum).sum::<f64>() / terrain.heights().len().to_f64();
        let mut counts = vec![0_u32; bins];
        for (_, of_part) in &parts {
            counts.iter_mut().zip(of_part).for_each(|(count, more)| *count += more);
        }
        let share = 1.0 / terrain.heights().len().to_f32();
        Self {
            min_m,
            max_m,
            mean_m,
            hypsometric_integral: if range > 0.0 { (mean_m - f64::from(min_m)) / range } else { 0.5 },
            histogram: counts.iter().map(|&count| count.to_f32() * share).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::grid;

    #[test]
    fn a_ramp_matches_values_computed_by_hand() {
        let ramp = Heightfield::from_fn(grid(101), |c, _| c as f32);
        let summary = Summary::of(&ramp, 10);
        assert_eq!((summary.min_m, summary.max_m, summary.mean_m), (0.0, 100.0, 50.0));
        assert!((summary.hypsometric_integral - 0.5).abs() < 1e-12);
        assert!((summary.histogram.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn level_terrain_has_a_hypsometric_integral_of_half() {
        assert_eq!(Summary::of(&Heightfield::flat(grid(65)), 4).hypsometric_integral, 0.5);
    }
}
