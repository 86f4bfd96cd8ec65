//! A box blur: the mean over a square, computed along rows and then along columns.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, parameters};
use crate::progress::{Cancelled, Progress};
use crate::strips::{STRIP, strips};

parameters! {
    /// Averages the terrain over a square. Fast at every radius; three passes approximate a Gaussian blur.
    pub struct BoxBlur {
        /// Half the side of the square over which heights are averaged. 0 leaves the terrain unchanged.
        radius_m: f64 = 60.0, Spec::number("Radius", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// How many times the blur is applied.
        passes: u32 = 2, Spec::number("Passes", 0.0, 10_000.0).slider(0.0, 20.0);
    }
}

/// Up to a radius of half a sample the window contains only the sample itself.
const MIN_RADIUS: f64 = 0.5;

/// A window along an axis of samples, each of which covers one spacing around it.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Half the width, in samples.
    radius: f64,
    /// The samples along the axis.
    count: usize,
}

impl Window {
    /// The two ends of the window around sample `i`, as positions in samples: the integer part counts the full samples
    /// before the end, the fraction is the part of the next one.
    fn ends(self, i: usize) -> [f64; 2] {
        let middle = i.to_f64() + 0.5;
        [middle - self.radius, middle + self.radius]
    }

    /// The sum of the samples before a position, relative to the first sample's height. It is 0 before the first
    /// sample, which continues beyond the border; the last sample continues after the end.
    fn sum_before(self, position: f64, sums: impl Fn(usize) -> f64) -> f64 {
        let full = position.max(0.0).to_usize().min(self.count - 1);
        let (before, after) = (sums(full), sums(full + 1));
        before + (position - full.to_f64()).max(0.0) * (after - before)
    }

    /// The mean over the window around sample `i`, relative to the first sample's height.
    fn mean(self, i: usize, sums: impl Fn(usize) -> f64) -> f64 {
        let [from, to] = self.ends(i);
        (self.sum_before(to, &sums) - self.sum_before(from, &sums)) / (2.0 * self.radius)
    }

    /// Averages a row; `sums` is a buffer for its running sums.
    fn average_row(self, row: &mut [f32], sums: &mut Vec<f64>) {
        let first = f64::from(row[0]);
        let mut sum = 0.0;
        sums.clear();
        sums.push(sum);
        sums.extend(row.iter().map(|&height| {
            sum += f64::from(height) - first;
            sum
        }));
        for (i, height) in row.iter_mut().enumerate() {
            *height = (first + self.mean(i, |at| sums[at])).to_f32();
        }
    }

    /// Averages the columns of a strip, given as the pieces of its rows.
    fn average_columns(self, pieces: &mut [&mut [f32]], sums: &mut Vec<f64>) {
        let Some(first) = pieces.first().map(|piece| piece.to_vec()) else { return };
        let lanes = first.len();
        let mut sum = [0.0; STRIP];
        sums.clear();
        sums.extend_from_slice(&sum[..lanes]);
        for piece in pieces.iter() {
            for ((sum, &height), &first) in sum.iter_mut().zip(piece.iter()).zip(&first) {
                *sum += f64::from(height) - f64::from(first);
            }
            sums.extend_from_slice(&sum[..lanes]);
        }
        for (i, piece) in pieces.iter_mut().enumerate() {
            for (lane, (height, &first)) in piece.iter_mut().zip(&first).enumerate() {
                *height = (f64::from(first) + self.mean(i, |at| sums[at * lanes + lane])).to_f32();
            }
        }
    }
}

impl BoxBlur {
    /// Blurs the terrain.
    pub(super) fn blur(&self, terrain: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (grid, width) = (terrain.grid(), terrain.grid().width());
        let along_x = Window { radius: self.radius_m / grid.spacing_x_m(), count: width };
        let along_z = Window { radius: self.radius_m / grid.spacing_z_m(), count: grid.height() };
        let counter = progress.counter(2 * self.passes as usize);
        for _ in 0..self.passes {
            if along_x.radius > MIN_RADIUS {
                terrain.heights_mut().par_chunks_mut(width).try_for_each_init(Vec::new, |sums, row| {
                    along_x.average_row(row, sums);
                    progress.check()
                })?;
            }
            counter.add_one()?;
            if along_z.radius > MIN_RADIUS {
                strips(terrain.heights_mut(), width, progress)?.par_iter_mut().try_for_each_init(
                    Vec::new,
                    |sums, strip| {
                        along_z.average_columns(strip, sums);
                        progress.check()
                    },
                )?;
            }
            counter.add_one()?;
        }
        Ok(())
    }
}

impl Operation for BoxBlur {
    const KEY: &'static str = "box_blur";
    const LABEL: &'static str = "Box blur";
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
    fn a_wall_becomes_a_plateau_with_fractional_ends() {
        let wall = Heightfield::from_fn(rectangular_grid(11, 5), |c, _| f32::from(u8::from(c == 5)));
        // Four metres to either side cover four samples: three full ones and half a sample at each end.
        let terrain = modified(&BoxBlur { radius_m: 4.0, passes: 1 }, &wall);
        assert_eq!(terrain.row(2), [0.0, 0.0, 0.0, 0.125, 0.25, 0.25, 0.25, 0.125, 0.0, 0.0, 0.0]);
        let terrain = modified(&BoxBlur { radius_m: 3.0, passes: 1 }, &wall);
        let third = 1.0 / 3.0;
        assert_eq!(terrain.row(2), [0.0, 0.0, 0.0, 0.0, third, third, third, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn the_border_sample_continues_beyond_the_border() {
        let wall = Heightfield::from_fn(rectangular_grid(11, 5), |c, _| f32::from(u8::from(c == 0)));
        // Five samples, of which three are the first sample at the border.
        let terrain = modified(&BoxBlur { radius_m: 5.0, passes: 1 }, &wall);
        for (found, expected) in terrain.row(2).iter().zip([0.6, 0.4, 0.2, 0.0]) {
            assert!((found - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn the_blur_matches_the_plain_sums_at_every_radius_and_at_the_border() {
        let terrain = rough_terrain(rectangular_grid(71, 23));
        // From less than a sample to more than the map.
        for radius_m in [0.3, 1.2, 2.0, 17.0, 100.3, 5000.0] {
            let found = modified(&BoxBlur { radius_m, passes: 1 }, &terrain);
            let expected = separable_mean(
                &terrain,
                |spacing_m| (radius_m / spacing_m) as i64 + 1,
                |n, spacing_m| {
                    let radius = radius_m / spacing_m;
                    (radius.min(n as f64 + 0.5) - (-radius).max(n as f64 - 0.5)).max(0.0)
                },
            );
            for (i, (found, expected)) in found.heights().iter().zip(expected).enumerate() {
                assert!((f64::from(*found) - expected).abs() < 2e-4, "{radius_m} m at {i}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn a_radius_of_0_and_level_terrain_change_nothing() {
        let terrain = rough_terrain(rectangular_grid(33, 17));
        assert_eq!(modified(&BoxBlur { radius_m: 0.0, passes: 3 }, &terrain), terrain);
        assert_eq!(modified(&BoxBlur { radius_m: 9.0, passes: 0 }, &terrain), terrain);
        let level = Heightfield::from_fn(rectangular_grid(33, 17), |_, _| 123.4);
        for radius_m in [5.0, 100_000.0] {
            assert_eq!(modified(&BoxBlur { radius_m, passes: 3 }, &level), level);
        }
    }
}
