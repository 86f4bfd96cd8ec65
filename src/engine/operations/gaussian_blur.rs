//! A Gaussian blur, computed along rows and then along columns.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, parameters};
use crate::progress::{Cancelled, Progress};
use crate::strips::{STRIP, strips};

parameters! {
    /// Smooths the terrain evenly in all directions. Small features disappear; hills and valleys stay in place.
    pub struct GaussianBlur {
        /// Standard deviation of the blur. Features much smaller than it disappear; 0 leaves the terrain unchanged.
        radius_m: f64 = 40.0, Spec::number("Radius", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// How many times the blur is applied.
        passes: u32 = 1, Spec::number("Passes", 0.0, 10_000.0).slider(0.0, 20.0);
    }
}

/// The kernel is cut off at this many standard deviations, where it has fallen to a three-thousandth.
const CUTOFF: f64 = 4.0;
/// The largest radius in sides of the map: with a larger one the samples of the map have hardly any weight.
const MAX_SIDES: f64 = 8.0;
/// Samples summed along a row between two checks for cancellation.
const TAPS_AT_ONCE: usize = 128;

/// A normalised Gaussian kernel sampled along an axis.
#[derive(Debug)]
struct Kernel {
    /// The weights of the samples 1, 2, … to either side. The sample itself has the remainder to 1.
    weights: Vec<f32>,
    /// The total weight to either side of the samples farther than the axis is long, which are beyond the border for
    /// every sample.
    beyond: f32,
}

impl Kernel {
    /// exp(−d²/(2·radius²)) at multiples of the spacing, for an axis of `count` samples.
    fn new(radius_m: f64, spacing_m: f64, count: usize) -> Self {
        let radius = (radius_m / spacing_m).min(MAX_SIDES * count.to_f64());
        let weight = |n: usize| libm::exp(-0.5 * (n.to_f64() / radius) * (n.to_f64() / radius));
        let taps = (CUTOFF * radius).to_usize();
        let near = taps.min(count - 1);
        let weights: Vec<f64> = (1..=near).map(weight).collect();
        let beyond: f64 = (near + 1..=taps).map(weight).sum();
        let total = 1.0 + 2.0 * (weights.iter().sum::<f64>() + beyond);
        Self {
            weights: weights.into_iter().map(|weight| (weight / total).to_f32()).collect(),
            beyond: (beyond / total).to_f32(),
        }
    }

    /// Smooths a row. Neighbours add their differences from the sample, so that level terrain stays bit-identical.
    /// The last sample continues beyond the border.
    fn smooth_row(&self, row: &mut [f32], space: &mut [Vec<f32>; 2], progress: &Progress) -> Result<(), Cancelled> {
        let [padded, sums] = space;
        let (width, near) = (row.len(), self.weights.len());
        let (first, last) = (row[0], row[width - 1]);
        padded.clear();
        padded.resize(near, first);
        padded.extend_from_slice(row);
        padded.resize(width + 2 * near, last);
        sums.clear();
        sums.extend(row.iter().map(|x| self.beyond * ((first - x) + (last - x))));
        for (chunk, weights) in self.weights.chunks(TAPS_AT_ONCE).enumerate() {
            for (i, weight) in weights.iter().enumerate() {
                let n = chunk * TAPS_AT_ONCE + i + 1;
                let (west, east) = (&padded[near - n..][..width], &padded[near + n..][..width]);
                for (((sum, x), west), east) in sums.iter_mut().zip(row.iter()).zip(west).zip(east) {
                    *sum += weight * ((west - x) + (east - x));
                }
            }
            progress.check()?;
        }
        row.iter_mut().zip(sums).for_each(|(x, sum)| *x += *sum);
        Ok(())
    }

    /// Smooths the columns of a strip, given as the pieces of its rows.
    fn smooth_columns(
        &self,
        pieces: &mut [&mut [f32]],
        space: &mut [Vec<f32>; 2],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let [input, sums] = space;
        input.clear();
        pieces.iter().for_each(|piece| input.extend_from_slice(piece));
        let (count, lanes) = (pieces.len(), pieces.first().map_or(0, |piece| piece.len()));
        let row = |r: usize| &input[r * lanes..][..lanes];
        for (r, piece) in pieces.iter_mut().enumerate() {
            let ends = row(0).iter().zip(row(count - 1));
            sums.clear();
            sums.extend(row(r).iter().zip(ends).map(|(x, (first, last))| self.beyond * ((first - x) + (last - x))));
            for (i, weight) in self.weights.iter().enumerate() {
                let (north, south) = (row(r.saturating_sub(i + 1)), row((r + i + 1).min(count - 1)));
                for (((sum, x), north), south) in sums.iter_mut().zip(row(r)).zip(north).zip(south) {
                    *sum += weight * ((north - x) + (south - x));
                }
            }
            piece.iter_mut().zip(&*sums).for_each(|(x, sum)| *x += *sum);
            progress.check()?;
        }
        Ok(())
    }
}

impl GaussianBlur {
    /// Blurs the terrain.
    pub(crate) fn blur(&self, terrain: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (grid, width) = (terrain.grid(), terrain.grid().width());
        let along_x = Kernel::new(self.radius_m, grid.spacing_x_m(), width);
        let along_z = Kernel::new(self.radius_m, grid.spacing_z_m(), grid.height());
        let counter = progress.counter(self.passes as usize * (grid.height() + width.div_ceil(STRIP)));
        for _ in 0..self.passes {
            terrain.heights_mut().par_chunks_mut(width).try_for_each_init(Default::default, |space, row| {
                along_x.smooth_row(row, space, progress)?;
                counter.add_one()
            })?;
            strips(terrain.heights_mut(), width, progress)?.par_iter_mut().try_for_each_init(
                Default::default,
                |space, strip| {
                    along_z.smooth_columns(strip, space, progress)?;
                    counter.add_one()
                },
            )?;
        }
        Ok(())
    }
}

impl Operation for GaussianBlur {
    const KEY: &'static str = "gaussian_blur";
    const LABEL: &'static str = "Gaussian blur";
    const WORDS: &'static str = "smooth soften";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let mut terrain = context.heights_below()?;
        self.blur(&mut terrain, context.progress)?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{modified, rectangular_grid, rough_terrain, separable_mean};
    use super::*;

    #[test]
    fn a_wall_becomes_a_gaussian() {
        let wall = Heightfield::from_fn(rectangular_grid(65, 9), |c, _| f32::from(u8::from(c == 32)));
        let terrain = modified(&GaussianBlur { radius_m: 6.0, passes: 1 }, &wall);
        // Three columns are one standard deviation: the peak is 1/(3·√2π), and e^(−1/2) of it one deviation away.
        let peak = 1.0 / (3.0 * (2.0 * std::f32::consts::PI).sqrt());
        assert!((terrain[(32, 4)] - peak).abs() < 1e-4 * peak);
        assert!((terrain[(35, 4)] / terrain[(32, 4)] - libm::expf(-0.5)).abs() < 1e-5);
        assert!((terrain[(26, 4)] / terrain[(32, 4)] - libm::expf(-2.0)).abs() < 1e-5);
        assert!((terrain.row(4).iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_blur_matches_the_plain_sums_at_every_radius_and_at_the_border() {
        let terrain = rough_terrain(rectangular_grid(71, 23));
        // From less than a sample to more than the map.
        for radius_m in [0.3, 2.0, 17.0, 100.0, 500.0] {
            let found = modified(&GaussianBlur { radius_m, passes: 1 }, &terrain);
            let expected = separable_mean(
                &terrain,
                |spacing_m| (4.0 * radius_m / spacing_m) as i64,
                |n, spacing_m| {
                    let deviations = n as f64 * spacing_m / radius_m;
                    libm::exp(-0.5 * deviations * deviations)
                },
            );
            for (i, (found, expected)) in found.heights().iter().zip(expected).enumerate() {
                assert!((f64::from(*found) - expected).abs() < 2e-3, "{radius_m} m at {i}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn a_radius_of_0_and_level_terrain_change_nothing() {
        let terrain = rough_terrain(rectangular_grid(33, 17));
        assert_eq!(modified(&GaussianBlur { radius_m: 0.0, passes: 3 }, &terrain), terrain);
        assert_eq!(modified(&GaussianBlur { radius_m: 9.0, passes: 0 }, &terrain), terrain);
        let level = Heightfield::from_fn(rectangular_grid(33, 17), |_, _| 123.4);
        for radius_m in [5.0, 100_000.0] {
            assert_eq!(modified(&GaussianBlur { radius_m, passes: 3 }, &level), level);
        }
    }
}
