//! Thermal erosion: rock steeper than the angle of repose falls and gathers as scree (talus) below.
//!
//! After F. K. Musgrave, C. E. Kolb and R. S. Mace, "The synthesis and rendering of eroded fractal terrains", SIGGRAPH
//! 1989. Between every two neighbouring samples, a fixed fraction of the excess of the drop over the distance times the
//! tangent of the angle of repose moves down in each pass. The loss of one sample is the gain of another, so mass is
//! conserved. Each sample gathers the exchange with its eight neighbours from the terrain before the pass.
//!
//! How far rock moves in a pass depends on the spacing, so the passes run on a reference grid and their change is
//! upsampled to finer grids. There some more passes remove the slopes that are too steep between the coarse samples,
//! and the mass that upsampling added or removed is subtracted evenly.

use rayon::prelude::*;

use super::fault_erosion::sum_of_heights;
use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::parameters::{Spec, parameters};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::simd;

parameters! {
    /// Lets steep rock crumble: cliffs turn into even slopes of scree (talus) at the angle of repose.
    pub struct ThermalErosion {
        /// Number of rounds, one per iteration. More rounds let the scree reach farther.
        count: u32 = 40, Spec::number("Rounds", 0.0, 10_000.0).slider(1.0, 400.0).logarithmic();
        /// Steepest slope on which rock rests (talus angle). Small angles make wide fans; large angles affect cliffs
        /// only.
        repose_deg: f64 = 35.0, Spec::number("Angle of repose", 0.0, 89.0).slider(10.0, 60.0).unit("°");
        /// Samples along the longer side of the grid on which rock moves, whatever the size of the map. Higher values
        /// make rock move less far per round.
        reference_samples: u32 = 257,
            Spec::number("Reference resolution", 17.0, 513.0).slider(65.0, 513.0).logarithmic().fixed();
    }
}

/// Passes per round.
const PASSES: u32 = 8;
/// Passes on a grid finer than the reference grid.
const FINE_PASSES: u32 = 24;
/// The fraction of an excess that moves between two samples in a pass: with eight neighbours, the largest at which no
/// sample can over- or undershoot all of them.
const RATE: f32 = 1.0 / 8.0;

/// The maximum stable drops: to the next column, the next row, and diagonally, metres.
#[derive(Clone, Copy, Debug)]
struct StableDrops {
    along_m: f32,
    across_m: f32,
    diagonal_m: f32,
}

impl StableDrops {
    fn new(repose_deg: f64, grid: Grid) -> Self {
        let slope = libm::tan(repose_deg.to_radians());
        let (x_m, z_m) = (grid.spacing_x_m(), grid.spacing_z_m());
        let [along_m, across_m, diagonal_m] = [x_m, z_m, libm::hypot(x_m, z_m)].map(|m| (slope * m).to_f32());
        Self { along_m, across_m, diagonal_m }
    }

    /// Computes one pass from `before` into `after`.
    fn pass(self, before: &Heightfield, after: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (width, height) = (before.grid().width(), before.grid().height());
        after.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8).try_for_each(|(r, after)| {
            let here = before.row(r);
            let adjacent_rows = [(r > 0).then(|| before.row(r - 1)), (r + 1 < height).then(|| before.row(r + 1))];
            simd(
                #[inline(always)]
                || self.pass_row(here, adjacent_rows, after),
            );
            progress.check()
        })
    }

    #[inline(always)]
    fn pass_row(self, here: &[f32], adjacent_rows: [Option<&[f32]>; 2], after: &mut [f32]) {
        let last = here.len() - 1;
        after.fill(0.0);
        gather(&here[1..], &here[..last], self.along_m, &mut after[1..]);
        gather(&here[..last], &here[1..], self.along_m, &mut after[..last]);
        for other in adjacent_rows.into_iter().flatten() {
            gather(here, other, self.across_m, after);
            gather(&here[1..], &other[..last], self.diagonal_m, &mut after[1..]);
            gather(&here[..last], &other[1..], self.diagonal_m, &mut after[..last]);
        }
        for (after, here) in after.iter_mut().zip(here) {
            *after = here + RATE * *after;
        }
    }
}

/// Adds to each sample the inflow from a neighbour, less the outflow to it.
#[inline(always)]
fn gather(here: &[f32], neighbour: &[f32], stable_m: f32, sums: &mut [f32]) {
    for ((sum, here), neighbour) in sums.iter_mut().zip(here).zip(neighbour) {
        let rise = neighbour - here;
        let inflow = rise - stable_m;
        let outflow = -rise - stable_m;
        *sum += (if inflow > 0.0 { inflow } else { 0.0 }) - (if outflow > 0.0 { outflow } else { 0.0 });
    }
}

impl Operation for ThermalErosion {
    const KEY: &'static str = "thermal_erosion";
    const LABEL: &'static str = "Thermal erosion";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        true
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), self.reference_samples as usize)
    }

    /// The terrain below, and the terrain before and after a pass.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        3.0
    }

    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        3.0
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (done, mut terrain) = context.resume_or_below(resume)?;
        let stable = StableDrops::new(self.repose_deg, context.grid);
        let mut after = Heightfield::flat(context.grid);
        let counter = context.progress.counter((until - done) as usize);
        for _ in done..until {
            for _ in 0..PASSES {
                stable.pass(&terrain, &mut after, context.progress)?;
                std::mem::swap(&mut terrain, &mut after);
            }
            counter.add_one()?;
        }
        Ok(terrain)
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        let (from, to, progress) = (terrain.grid(), context.grid, context.progress);
        if to.samples() <= from.samples() {
            return terrain.resampled(to, progress);
        }
        let mut terrain = progress.stage(0.0..0.5, || context.upsample_change(terrain))?;
        if until > 0 {
            let stable = StableDrops::new(self.repose_deg, to);
            let mut after = Heightfield::flat(to);
            for pass in 0..FINE_PASSES {
                stable.pass(&terrain, &mut after, progress)?;
                std::mem::swap(&mut terrain, &mut after);
                progress.report(0.5 + 0.5 * pass.to_f32() / FINE_PASSES.to_f32());
            }
            let excess = sum_of_heights(&terrain) - context.below.map_or(0.0, sum_of_heights);
            let excess_m = (excess / to.samples().to_f64()).to_f32();
            terrain.heights_mut().par_chunks_exact_mut(to.width()).try_for_each(|row| {
                row.iter_mut().for_each(|height| *height -= excess_m);
                progress.check()
            })?;
        }
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, rectangular_grid};
    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::inputs::Inputs;
    use crate::engine::operations::faults::Faults;
    use crate::engine::random::Stream;

    /// The tangent of the steepest slope between neighbours in eight directions.
    fn steepest(terrain: &Heightfield) -> f64 {
        let grid = terrain.grid();
        let mut steepest: f64 = 0.0;
        for r in 0..grid.height() {
            for c in 0..grid.width() {
                for (east, south) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
                    let (c2, r2) = (c.wrapping_add_signed(east), r + south);
                    if c2 < grid.width() && r2 < grid.height() {
                        let run = libm::hypot(east as f64 * grid.spacing_x_m(), south as f64 * grid.spacing_z_m());
                        steepest = steepest.max(f64::from((terrain[(c, r)] - terrain[(c2, r2)]).abs()) / run);
                    }
                }
            }
        }
        steepest
    }

    #[test]
    fn a_pass_between_two_samples_matches_values_computed_by_hand() {
        // 10 m over 2 m, of which 2 m are stable: an eighth of 8 m moves down in each of the two rows, and diagonally.
        let grid = Grid::new(Extent { width_m: 2.0, depth_m: 2.0 }, 2, 2);
        let cliff = Heightfield::from_fn(grid, |c, _| if c == 0 { 10.0 } else { 0.0 });
        let mut after = Heightfield::flat(grid);
        StableDrops::new(45.0, grid).pass(&cliff, &mut after, &Progress::new()).expect("not cancelled");
        let down = (8.0 + 10.0 - 2.0 * std::f32::consts::SQRT_2) / 8.0;
        for r in 0..2 {
            assert!((after[(0, r)] - (10.0 - down)).abs() < 1e-5 && (after[(1, r)] - down).abs() < 1e-5);
        }
    }

    #[test]
    fn no_slope_remains_steeper_than_the_angle_of_repose() {
        let mut rng = Stream::new(3, 3).at(0);
        let rough_terrain = Heightfield::from_fn(rectangular_grid(33, 33), |c, _| {
            (if c > 16 { 30.0 } else { 0.0 }) + 8.0 * rng.unit() as f32
        });
        for repose_deg in [10.0, 35.0, 60.0] {
            let thermal = ThermalErosion { repose_deg, count: 2000, ..Default::default() };
            let terrain = evaluated(&thermal, rough_terrain.grid(), Some(&rough_terrain), 2000);
            let max_slope = libm::tan(f64::to_radians(repose_deg));
            let found = steepest(&terrain);
            assert!(found <= max_slope * 1.001 + 1e-4, "{found} over {max_slope} at {repose_deg}°");
        }
    }

    #[test]
    fn gentle_terrain_is_unchanged() {
        let gentle = Heightfield::from_fn(rectangular_grid(33, 33), |c, r| 0.3 * c as f32 - 0.2 * r as f32);
        assert_eq!(evaluated(&ThermalErosion::default(), gentle.grid(), Some(&gentle), 40), gentle);
    }

    #[test]
    fn mass_is_conserved_on_the_reference_grid_and_on_finer_ones() {
        let square = |side| Grid::new(Extent { width_m: 4096.0, depth_m: 4096.0 }, side, side);
        let cliffs = Faults { profile: crate::engine::fault::Profile::Step, count: 200, ..Default::default() };
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let thermal = ThermalErosion::default();
        let [coarse, fine] = [257, 513].map(|side| evaluated(&cliffs, square(side), None, 200));
        let on_coarse = evaluated(&thermal, square(257), Some(&coarse), 40);
        let context = EvalContext {
            grid: square(513),
            below: Some(&fine),
            stream: Stream::new(1, 1),
            inputs: &inputs,
            progress: &progress,
        };
        let on_fine = thermal.upsample(&on_coarse, &context, 40).expect("not cancelled");
        for (before, after) in [(&coarse, &on_coarse), (&fine, &on_fine)] {
            let [low, high] = before.min_max();
            let lost = (sum_of_heights(after) - sum_of_heights(before))
                / (f64::from(high - low) * before.grid().samples() as f64);
            assert!(lost.abs() < 1e-6, "{lost}");
            let moved = before.heights().iter().zip(after.heights()).filter(|(before, after)| before != after).count();
            assert!(moved > before.grid().samples() / 20, "{moved}");
        }
    }
}
