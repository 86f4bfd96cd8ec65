//! Thermal erosion: rock steeper than the angle of repose falls and gathers as scree (talus) below.
//!
//! After F. K. Musgrave, C. E. Kolb and R. S. Mace, "The synthesis and rendering of eroded fractal terrains", SIGGRAPH
//! 1989. Between every two neighbouring samples, a fixed fraction of the excess of the drop over the distance times the
//! tangent of the angle of repose moves down in each pass. Every exchange between two of the eight neighbours depends on
//! the terrain before the pass alone. Heights are integers, so the loss of one sample is exactly the gain of another.
//!
//! How far rock moves in a pass depends on the spacing, so the passes run on a reference grid, whose result is refined
//! for finer grids (`thermal_refinement`).

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use super::thermal_refinement::ThermalRefinement;
use super::thermal_units::{UNLIMITED, Unit, distances_m, largest_height};
use crate::heightfield::{Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

parameters! {
    /// Lets steep rock crumble: cliffs turn into even slopes of scree (talus) at the angle of repose.
    pub struct ThermalErosion {
        /// Number of rounds, one per iteration. More rounds let the scree reach farther. With few rounds,
        /// some cliffs stay too steep, the same ones in previews and exports.
        count: u32 = 40, Spec::number("Rounds", 0.0, 10_000.0).slider(1.0, 400.0).logarithmic();
        /// Steepest slope on which rock rests (talus angle). Small angles make wide fans; large angles affect cliffs
        /// only.
        repose_deg: f64 = 35.0, Spec::number("Angle of repose", 0.0, 89.0).slider(10.0, 60.0).unit("°");
        /// Samples along the longer side of the grid on which rock moves, whatever the resolution of the map. At higher
        /// values rock moves a shorter distance per round.
        reference_samples: u32 = 257,
            Spec::number("Simulation resolution", 17.0, 513.0).slider(65.0, 513.0).logarithmic().fixed();
    }
}

/// Passes per round.
const PASSES: usize = 8;
/// The fewest rows of a band, so that those of its neighbours that are computed with it take little time.
const MIN_BAND: usize = 24;
/// The bands per thread, if they have enough rows.
const BANDS_PER_THREAD: usize = 2;
/// Of an excess, the fraction 2^-`SHARE` moves between two samples in a pass: an eighth, with eight neighbours the
/// largest at which no sample can over- or undershoot all of them.
const SHARE: u32 = 3;

/// The maximum stable drops in units: to the next column, the next row, and diagonally.
#[derive(Clone, Copy, Debug)]
struct StableDrops {
    along: i32,
    across: i32,
    diagonal: i32,
}

impl StableDrops {
    fn new(repose_deg: f64, grid: Grid, unit: Unit) -> Self {
        let slope = libm::tan(repose_deg.to_radians());
        let [along, across, diagonal] = distances_m(grid).map(|m| unit.count(slope * m).min(UNLIMITED));
        Self { along, across, diagonal }
    }

    /// Computes a round from `before` into `after`, in bands of rows. What a band reads of its neighbours is computed with
    /// it, so that threads wait for each other once per round instead of once per pass.
    fn round(self, before: &FixedTerrain, after: &mut FixedTerrain, progress: &Progress) -> Result<(), Cancelled> {
        let width = before.width;
        let rows = before.heights.len() / width;
        let bands = (BANDS_PER_THREAD * rayon::current_num_threads()).min(rows / MIN_BAND);
        let band = rows.div_ceil(bands.max(1));
        after.heights.par_chunks_mut(band * width).enumerate().try_for_each_init(
            || (Vec::new(), [(); 3].map(|()| vec![0; width])),
            |(around, buffers), (i, after)| {
                let first = i * band;
                let start = first.saturating_sub(PASSES);
                let end = (first + band + PASSES).min(rows);
                around.clear();
                around.extend_from_slice(&before.heights[start * width..end * width]);
                for _ in 0..PASSES {
                    progress.check()?;
                    simd(
                        #[inline(always)]
                        || self.pass(around, buffers),
                    );
                }
                after.copy_from_slice(&around[(first - start) * width..][..after.len()]);
                Ok(())
            },
        )
    }

    /// Computes a pass in place, where every sample exchanges with its neighbours of before. The samples beyond the first
    /// and the last row count as a wall, so that each pass spoils another row there if the map goes on.
    #[inline(always)]
    fn pass(self, heights: &mut [i32], [here, below, flow]: &mut [Vec<i32>; 3]) {
        let width = here.len();
        let (last, mut rest) = (width - 1, heights);
        here.copy_from_slice(&rest[..width]);
        while !rest.is_empty() {
            let (row, next) = rest.split_at_mut(width);
            for ((flow, a), b) in flow.iter_mut().zip(&here[..last]).zip(&here[1..]) {
                *flow = inflow(b - a, self.along);
            }
            row[..last].iter_mut().zip(&*flow).for_each(|(height, flow)| *height += flow);
            row[1..].iter_mut().zip(&*flow).for_each(|(height, flow)| *height -= flow);
            if let Some(next) = next.get_mut(..width) {
                below.copy_from_slice(next);
                exchange([here, below], self.across, [row, next]);
                exchange([&here[..last], &below[1..]], self.diagonal, [&mut row[..last], &mut next[1..]]);
                exchange([&here[1..], &below[..last]], self.diagonal, [&mut row[1..], &mut next[..last]]);
                std::mem::swap(here, below);
            }
            rest = next;
        }
    }
}

/// Moves what is too steep between the samples of two rows. `before` are their heights before the pass.
#[inline(always)]
fn exchange(before: [&[i32]; 2], stable: i32, [upper, lower]: [&mut [i32]; 2]) {
    let samples = upper.iter_mut().zip(lower).zip(before[0].iter().zip(before[1]));
    for ((upper, lower), (upper_before, lower_before)) in samples {
        let flow = inflow(lower_before - upper_before, stable);
        *upper += flow;
        *lower -= flow;
    }
}

/// What a sample gains from one that is `rise` higher, or loses where this is negative: a share of the excess, rounded
/// towards zero.
#[inline(always)]
fn inflow(rise: i32, stable: i32) -> i32 {
    let excess = rise - rise.min(stable).max(-stable);
    (excess + ((excess >> 31) & ((1 << SHARE) - 1))) >> SHARE
}

/// Heights as integers.
struct FixedTerrain {
    width: usize,
    unit: Unit,
    heights: Vec<i32>,
}

impl FixedTerrain {
    /// The terrain below, on flat terrain at height 0 if there is none, plus what the rounds until a keyframe changed.
    fn new(below: &Heightfield, resume: Option<Keyframe>, progress: &Progress) -> Result<Self, Cancelled> {
        // A keyframe holds the terrain below plus a number of units, rounded to f32. Units of at least two steps of f32
        // make this number exact again.
        let unit = Unit::new(largest_height(below, progress)?, 22);
        let before = |below: f32| unit.count(f64::from(below));
        let heights = match resume {
            None => below.heights().iter().map(|&below| before(below)).collect(),
            Some(keyframe) => {
                let heights = keyframe.terrain.heights().iter().zip(below.heights());
                heights.map(|(&now, &below)| before(below) + unit.count(f64::from(now) - f64::from(below))).collect()
            }
        };
        Ok(Self { width: below.grid().width(), unit, heights })
    }

    /// The heights in metres. Where nothing has moved, they are exactly those of the terrain below.
    fn into_heightfield(self, below: &Heightfield) -> Heightfield {
        let mut terrain = Heightfield::flat(below.grid());
        for ((height, now), &below) in terrain.heights_mut().iter_mut().zip(&self.heights).zip(below.heights()) {
            *height = self.unit.plus(below, now - self.unit.count(f64::from(below)));
        }
        terrain
    }
}

impl Operation for ThermalErosion {
    const KEY: &'static str = "thermal_erosion";
    const LABEL: &'static str = "Thermal erosion";
    const WORDS: &'static str = "talus scree weathering landslide erode";

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
        ThermalRefinement::MAPS
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        // Flat terrain stays flat.
        let Some(below) = context.below else { return Ok(Heightfield::flat(grid)) };
        let done = resume.map_or(0, |keyframe| keyframe.iteration);
        let mut terrain = FixedTerrain::new(below, resume, progress)?;
        let stable = StableDrops::new(self.repose_deg, grid, terrain.unit);
        let mut after = FixedTerrain { heights: vec![0; grid.samples()], width: terrain.width, unit: terrain.unit };
        let counter = progress.counter((until - done) as usize);
        for _ in done..until {
            stable.round(&terrain, &mut after, progress)?;
            std::mem::swap(&mut terrain, &mut after);
            counter.add_one()?;
        }
        drop(after);
        Ok(terrain.into_heightfield(below))
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        if until == 0 {
            return context.heights_below();
        }
        ThermalRefinement { terrain, repose_deg: self.repose_deg }.on_grid(context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, evaluated_with, rectangular_grid, relative_rms};
    use super::*;
    use crate::heightfield::Extent;
    use crate::inputs::Inputs;
    use crate::operations::faults::Faults;
    use crate::random::Stream;

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
        let progress = Progress::new();
        let mut after = FixedTerrain::new(&cliff, None, &progress).expect("not cancelled");
        StableDrops::new(45.0, grid, after.unit).pass(&mut after.heights, &mut [(); 3].map(|()| vec![0; 2]));
        let after = after.into_heightfield(&cliff);
        let down = (8.0 + 10.0 - 2.0 * std::f32::consts::SQRT_2) / 8.0;
        for r in 0..2 {
            assert!((after[(0, r)] - (10.0 - down)).abs() < 1e-5 && (after[(1, r)] - down).abs() < 1e-5);
        }
    }

    /// A pass in which each sample gathers what it exchanges with its neighbours.
    fn gathered(stable: StableDrops, before: &[i32], width: usize) -> Vec<i32> {
        let rows = before.len() / width;
        let exchanged = |sample: usize| {
            let (c, r) = (sample % width, sample / width);
            let near = (r.saturating_sub(1)..(r + 2).min(rows))
                .flat_map(|r2| (c.saturating_sub(1)..(c + 2).min(width)).map(move |c2| (c2, r2)));
            near.filter(|&near| near != (c, r)).fold(0, |sum, (c2, r2)| {
                let limit = match (c2 == c, r2 == r) {
                    (false, false) => stable.diagonal,
                    (true, _) => stable.across,
                    _ => stable.along,
                };
                let rise = before[r2 * width + c2] - before[sample];
                sum + rise.signum() * ((rise.abs() - limit).max(0) / 8)
            })
        };
        (0..before.len()).map(|sample| before[sample] + exchanged(sample)).collect()
    }

    #[test]
    fn rounds_in_bands_match_passes_over_the_whole_map() {
        let mut rng = Stream::new(9, 9).at(0);
        for (width, height) in [(2, 2), (19, 150), (33, 63), (20, 193)] {
            let grid = rectangular_grid(width, height);
            let rough = Heightfield::from_fn(grid, |_, _| 40.0 * rng.unit() as f32);
            let progress = Progress::new();
            let before = FixedTerrain::new(&rough, None, &progress).expect("not cancelled");
            let mut after = FixedTerrain::new(&rough, None, &progress).expect("not cancelled");
            let stable = StableDrops::new(25.0, grid, before.unit);
            stable.round(&before, &mut after, &progress).expect("not cancelled");
            let expected = (0..PASSES).fold(before.heights, |heights, _| gathered(stable, &heights, width));
            assert!(after.heights == expected, "{width} × {height}");
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

    const WORLD: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };

    /// Evaluates as the stack does: on the reference grid, then on the grid of the terrain below.
    fn eroded(thermal: &ThermalErosion, below: &Heightfield) -> Heightfield {
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let working = thermal.working_grid(below.grid());
        let below_on_working = below.resampled(working, &progress).expect("not cancelled");
        let terrain = evaluated(thermal, working, Some(&below_on_working), thermal.count);
        if working == below.grid() {
            return terrain;
        }
        let stream = Stream::new(1, 1);
        let context = EvalContext { below: Some(below), stream, ..EvalContext::new(below.grid(), &inputs, &progress) };
        thermal.upsample(&terrain, &context, thermal.count).expect("not cancelled")
    }

    fn cliffs(seed: u32, count: u32, grid: Grid) -> Heightfield {
        let faults = Faults { profile: crate::fault::Profile::Step, count, displacement_m: 12.0, ..Default::default() };
        evaluated_with(&faults, Stream::new(seed, 1), grid, None, count, None)
    }

    /// The change of the sum of the heights, as a fraction of the volume that moved.
    fn lost(before: &Heightfield, after: &Heightfield) -> f64 {
        let changes = || before.heights().iter().zip(after.heights()).map(|(a, b)| f64::from(*b) - f64::from(*a));
        let moved: f64 = 0.5 * changes().map(f64::abs).sum::<f64>();
        assert!(moved > 0.1 * before.grid().samples() as f64, "only {moved} moved");
        changes().sum::<f64>().abs() / moved
    }

    #[test]
    fn a_cliff_becomes_a_straight_talus_at_the_angle_of_repose() {
        // Of 200 m between two columns: 200 m / tan 35° = 286 m wide, half of it cut and half of it filled.
        let thermal = ThermalErosion { count: 400, ..Default::default() };
        for (width, height) in [(257, 5), (1025, 17), (1000, 16)] {
            let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 64.0 }, width, height);
            let cliff = Heightfield::from_fn(grid, |c, _| if c < width / 2 { 200.0 } else { 0.0 });
            let terrain = eroded(&thermal, &cliff);
            let middle_m = (width / 2) as f64 * grid.spacing_x_m() - 0.5 * grid.spacing_x_m();
            for c in 0..width {
                let talus = 100.0 - libm::tan(f64::to_radians(35.0)) * (grid.x_m(c) - middle_m);
                let found = f64::from(terrain[(c, height / 2)]);
                assert!((found - talus.clamp(0.0, 200.0)).abs() < 3.5, "{found}, not {talus} at {c} of {width}");
            }
            // The areas cut and filled are equal.
            assert!(lost(&cliff, &terrain) < 1e-6);
        }
    }

    /// Checks slopes, mass and the difference from the reference grid on grids of one world.
    fn check_sizes(seed: u32, thermal: &ThermalErosion, extent: Extent, sides: &[usize]) {
        let reference = Grid::fitted(extent, thermal.reference_samples as usize);
        let small = eroded(thermal, &cliffs(seed, 60, reference));
        for &side in sides {
            let grid = Grid::fitted(extent, side);
            let below = cliffs(seed, 60, grid);
            let terrain = eroded(thermal, &below);
            let found = libm::atan(steepest(&terrain)).to_degrees();
            assert!(found <= thermal.repose_deg + 0.1, "{found}° at {side}, seed {seed}");
            let lost = lost(&below, &terrain);
            assert!(lost < 1e-6, "{lost} at {side}, seed {seed}");
            if [grid.width(), grid.height()] == [reference.width(), reference.height()].map(|side| 4 * side - 3) {
                // 1 % for the default reference grid; the difference is proportional to its spacing.
                let rms = relative_rms(&small, &terrain) * (reference.width() - 1) as f64 / 256.0;
                assert!(rms < 0.01, "{rms} at {side}, seed {seed}");
            }
        }
    }

    #[test]
    fn every_size_has_the_same_slopes_and_mass() {
        let thermal = ThermalErosion { repose_deg: 30.0, count: 300, reference_samples: 129 };
        check_sizes(1, &thermal, WORLD, &[65, 100, 129, 257]);
        check_sizes(2, &thermal, WORLD, &[65, 129, 257]);
        let oblong = Extent { width_m: 4100.7, depth_m: 977.3 };
        check_sizes(4, &ThermalErosion { repose_deg: 20.0, ..thermal.clone() }, oblong, &[65, 129, 333]);
    }

    #[test]
    #[ignore = "slow: the default reference grid and large maps"]
    fn nightly_every_size_has_the_same_slopes_and_mass() {
        let thermal = ThermalErosion { repose_deg: 30.0, count: 300, reference_samples: 129 };
        check_sizes(1, &thermal, WORLD, &[129, 500, 513]);
        check_sizes(3, &thermal, WORLD, &[65, 129, 257]);
        for (seed, repose_deg) in [(1, 30.0), (4, 40.0)] {
            let thermal = ThermalErosion { repose_deg, count: 2000, ..Default::default() };
            check_sizes(seed, &thermal, WORLD, &[257, 1000, 1025]);
        }
    }

    #[test]
    fn finer_grids_erode_no_further_than_the_reference_grid() {
        // One round leaves a high cliff much too steep.
        let thermal = ThermalErosion { count: 1, reference_samples: 65, ..Default::default() };
        let cliff = |side: usize| {
            Heightfield::from_fn(Grid::new(WORLD, side, side), |c, _| if c < side / 2 { 2000.0 } else { 0.0 })
        };
        let [coarse, fine] = [65, 257].map(|side| eroded(&thermal, &cliff(side)));
        let [on_coarse, on_fine] = [&coarse, &fine].map(|terrain| libm::atan(steepest(terrain)).to_degrees());
        assert!(on_coarse > 50.0 && (on_fine - on_coarse).abs() < 4.0, "{on_coarse}° and {on_fine}°");
        assert!(relative_rms(&coarse, &fine) < 0.02);
    }

    #[test]
    fn what_does_not_move_keeps_its_bits_on_finer_grids() {
        let hills = |c: usize, r: usize| 700.0 + 0.37 * c as f32 + 0.1 * (r % 3) as f32;
        let below = Heightfield::from_fn(Grid::new(WORLD, 513, 513), |c, r| {
            hills(c, r) + if c > 400 && r > 200 { 90.0 } else { 0.0 }
        });
        let terrain = eroded(&ThermalErosion::default(), &below);
        assert!((0..513).all(|r| (0..300).all(|c| terrain[(c, r)] == below[(c, r)])));
        assert_ne!(terrain, below);
    }

    #[test]
    fn rounds_continue_from_a_keyframe_with_the_same_bits() {
        let thermal = ThermalErosion { count: 30, ..Default::default() };
        let below = cliffs(5, 60, Grid::new(WORLD, 129, 129));
        let expected = evaluated(&thermal, below.grid(), Some(&below), 30);
        for iteration in [1, 7, 29] {
            let terrain = evaluated(&thermal, below.grid(), Some(&below), iteration);
            let keyframe = Some(Keyframe { iteration, terrain: &terrain });
            let found = evaluated_with(&thermal, Stream::new(3, 4), below.grid(), Some(&below), 30, keyframe);
            assert_eq!(found, expected, "from {iteration}");
        }
    }
}
