//! Midpoint displacement (diamond–square) on a lattice over the map.
//!
//! After A. Fournier, D. Fussell, L. Carpenter, "Computer rendering of stochastic models", 1982, and the Lighthouse3D
//! terrain tutorial: every level halves the lattice and displaces the new points by an amplitude that falls by 2^−H.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Extent, Grid, Heightfield, bilinear};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;

parameters! {
    /// Builds rough, fractal terrain by displacing the midpoints of ever smaller squares (diamond–square).
    pub struct Midpoint {
        /// Amplitude of the first level: the maximum distance that its points move up or down.
        displacement_m: f64 = 600.0,
            Spec::number("Displacement", 0.0, 100_000.0).slider(1.0, 3000.0).unit("m").logarithmic();
        /// How quickly small features shrink. Near 0 the terrain is spiky; near 1 it has rolling hills.
        roughness: f64 = 0.9, Spec::number("Hurst exponent", 0.0, 2.0).slider(0.1, 1.5);
        /// Number of levels of detail, each of half the size of the one before.
        levels: u32 = 10, Spec::number("Levels", 1.0, 16.0).slider(1.0, 12.0);
    }
}

/// The heights at the points of a lattice, which has the same points at every resolution of the map.
struct Lattice {
    width: usize,
    height: usize,
    heights: Vec<f32>,
}

/// The squares of the coarsest lattice along the width and the depth: one along the shorter side, and along the longer
/// one as many as keep them nearly square.
fn cells(extent: Extent) -> [usize; 2] {
    let along = |side: f64, other: f64| (side / other).round().clamp(1.0, 64.0).to_usize();
    [along(extent.width_m, extent.depth_m), along(extent.depth_m, extent.width_m)]
}

/// The fewest subdivisions after which the lattice is at least as fine as the grid. Fewer for a grid that is fine along
/// one side only, because the lattice would have far more points than the grid.
fn subdivisions(grid: &Grid, [across, down]: [usize; 2]) -> u32 {
    let size = |n: u32| [(across << n) + 1, (down << n) + 1];
    let max_points = (8 * grid.samples()).max(1 << 20);
    let fine_enough = |n: &u32| size(*n)[0] >= grid.width() && size(*n)[1] >= grid.height();
    let affordable = |n: &u32| size(*n)[0] * size(*n)[1] <= max_points;
    let fine = (0..=16).find(fine_enough).unwrap_or(16);
    (0..=fine).rfind(affordable).unwrap_or(0)
}

/// The height of a point before its displacement; `None` if the point does not belong to the level.
type Average<'a> = dyn Fn(&[f32], usize, usize) -> Option<f32> + 'a;

impl Midpoint {
    fn lattice(
        &self,
        context: &EvalContext,
        until: u32,
        [across, down]: [usize; 2],
        subdivisions: u32,
    ) -> Result<Lattice, Cancelled> {
        let (width, height) = ((across << subdivisions) + 1, (down << subdivisions) + 1);
        let mut heights = vec![0.0_f32; width * height];
        let counter = context.progress.counter(2 * subdivisions as usize + 1);
        let mut displace = |level: u32, amplitude_m: f64, step: usize, average: &Average| {
            for r in (0..height).step_by(step) {
                // Each row of a level has its own random numbers, whatever the resolution.
                let mut rng = context.stream.at(u64::from(level) << 32 | (r / step) as u64);
                for c in (0..width).step_by(step) {
                    let random = rng.between(-1.0, 1.0);
                    if let Some(average) = average(&heights, c, r) {
                        heights[r * width + c] = average + (amplitude_m * random).to_f32();
                    }
                }
                context.progress.check()?;
            }
            counter.add_one()
        };
        displace(0, self.displacement_m, 1 << subdivisions, &|_, _, _| Some(0.0))?;
        for level in 1..=subdivisions {
            let step = 1 << (subdivisions - level);
            let displaced = level < until;
            let amplitude_m =
                if displaced { self.displacement_m * libm::exp2(-self.roughness * f64::from(level)) } else { 0.0 };
            let odd = |index: usize| (index / step) % 2 == 1;
            let mean = |heights: &[f32], points: [Option<(usize, usize)>; 4]| {
                let found = points.into_iter().flatten();
                let (sum, count) =
                    found.fold((0.0, 0.0), |(sum, count), (c, r)| (sum + heights[r * width + c], count + 1.0));
                sum / count
            };
            // Diamond step: the middle of each square, from its four corners.
            displace(2 * level, amplitude_m, step, &|heights, c, r| {
                let corners =
                    || [(c - step, r - step), (c + step, r - step), (c - step, r + step), (c + step, r + step)];
                (odd(c) && odd(r)).then(|| mean(heights, corners().map(Some)))
            })?;
            // Square step: the middle of each edge, from its two ends and the middles of the adjacent squares; at the
            // border from three points.
            displace(2 * level + 1, amplitude_m, step, &|heights, c, r| {
                let around = || {
                    let west = (c >= step).then(|| (c - step, r));
                    let north = (r >= step).then(|| (c, r - step));
                    let east = (c + step < width).then_some((c + step, r));
                    let south = (r + step < height).then_some((c, r + step));
                    [west, north, east, south]
                };
                (odd(c) != odd(r)).then(|| mean(heights, around()))
            })?;
        }
        Ok(Lattice { width, height, heights })
    }
}

impl Lattice {
    /// The height at a position in fractions of the map's sides, bilinear between points.
    fn at(&self, u: f64, v: f64) -> f32 {
        let along = |share: f64, points: usize| {
            let position = share * (points - 1).to_f64();
            let first = position.to_usize().min(points - 1);
            (first, (first + 1).min(points - 1), (position - first.to_f64()).to_f32())
        };
        let ((west, east, x), (north, south, z)) = (along(u, self.width), along(v, self.height));
        let at = |c: usize, r: usize| self.heights[r * self.width + c];
        bilinear([at(west, north), at(east, north), at(west, south), at(east, south)], x, z)
    }
}

impl Operation for Midpoint {
    const KEY: &'static str = "midpoint";
    const LABEL: &'static str = "Midpoint displacement";
    const WORDS: &'static str = "fractal diamond-square plasma mountain";

    fn uses_seed(&self) -> bool {
        true
    }

    /// The result, the terrain below and the lattice.
    fn peak_maps(&self, grid: Grid) -> f64 {
        let cells = cells(grid.extent());
        let subdivisions = subdivisions(&grid, cells);
        let [across, down] = cells.map(|cells| (cells << subdivisions) + 1);
        2.0 + (across * down).to_f64() / grid.samples().to_f64()
    }

    /// The corners, then one level per iteration.
    fn iterations(&self) -> u32 {
        self.levels + 1
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let grid = context.grid;
        let cells = cells(grid.extent());
        let lattice = self.lattice(context, until, cells, subdivisions(&grid, cells))?;
        let mut terrain = Heightfield::flat(grid);
        terrain.heights_mut().par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, heights)| {
            let v = r.to_f64() / (grid.height() - 1).to_f64();
            for (c, height) in heights.iter_mut().enumerate() {
                *height = lattice.at(c.to_f64() / (grid.width() - 1).to_f64(), v);
            }
            context.progress.check()
        })?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_subset, evaluated};
    use super::*;

    fn terrain(midpoint: &Midpoint, grid: Grid) -> Heightfield {
        evaluated(midpoint, grid, None, midpoint.iterations())
    }

    fn square(side: usize) -> Grid {
        Grid::new(Extent { width_m: 1000.0, depth_m: 1000.0 }, side, side)
    }

    #[test]
    fn undisplaced_midpoints_are_the_means_of_their_neighbours() {
        let level = Midpoint { displacement_m: 0.0, ..Default::default() };
        assert_eq!(terrain(&level, square(9)).min_max(), [0.0, 0.0]);
        let terrain = terrain(&Midpoint { levels: 1, ..Default::default() }, square(5));
        // The second level is not displaced: its points are means of the first level's.
        let quarter = terrain[(1, 1)];
        let corners = (terrain[(0, 0)] + terrain[(2, 0)] + terrain[(0, 2)] + terrain[(2, 2)]) / 4.0;
        assert!((quarter - corners).abs() < 1e-3);
        let edge = (terrain[(0, 0)] + terrain[(0, 2)] + terrain[(1, 1)]) / 3.0;
        assert!((terrain[(0, 1)] - edge).abs() < 1e-3, "at the border from three points");
    }

    #[test]
    fn amplitudes_fall_by_the_exponent() {
        let rough_terrain = |levels| terrain(&Midpoint { levels, roughness: 1.0, displacement_m: 512.0 }, square(65));
        let spread = |a: &Heightfield, b: &Heightfield| {
            a.heights().iter().zip(b.heights()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        // Level n moves a point by at most 512·2⁻ⁿ, and slightly more through the means of its neighbours.
        for level in 1..6 {
            let moved = spread(&rough_terrain(level), &rough_terrain(level + 1));
            let amplitude = 512.0 / (1 << (level + 1)) as f32;
            assert!(moved > 0.5 * amplitude && moved < 2.5 * amplitude, "level {level}: {moved} of {amplitude}");
        }
    }

    #[test]
    fn every_sample_is_covered_and_small_maps_are_exact_subsets() {
        let midpoint = Midpoint::default();
        for (width, height) in [(257, 257), (1000, 700), (505, 505), (2017, 33)] {
            let extent = Extent { width_m: width as f64, depth_m: height as f64 };
            let terrain = terrain(&midpoint, Grid::new(extent, width, height));
            assert!(terrain.heights().iter().all(|height| height.is_finite() && *height != 0.0));
        }
        assert_subset(&terrain(&midpoint, square(65)), &terrain(&midpoint, square(257)));
    }
}
