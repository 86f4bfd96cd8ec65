//! Recursive (infinite impulse response) smoothing along the four directions of the map, for wind and rain.
//!
//! The sequential form follows Traagen, and Polack's and Shankel's fault articles: each sweep filters the result of the
//! one before. The averaged form follows Krten, Dr. Dobb's Journal, July 1994: each sweep filters the same input with a
//! lag of one sample, and the sweeps are averaged.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield, copy_heights};
use crate::parameters::{Spec, choices, parameters};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;
use crate::strips::{STRIP, strips};

choices! {
    /// How the sweeps of a recursive filter are combined.
    pub enum Form {
        /// Each sweep filters the result of the one before.
        Sequential = "sequential", "Sequential";
        /// All sweeps filter the same terrain and are averaged, after R. Krten. With two sweeps the terrain creeps downwind.
        Averaged = "averaged", "Averaged";
    }
}

choices! {
    /// The directions of the sweeps of a recursive filter.
    pub enum Sweeps {
        /// East, west, south and north: evenly in all directions, like rain.
        Four = "4", "All directions (rain)";
        /// East and south, like wind from the north-west.
        Two = "2", "Towards south-east (wind)";
    }
}

parameters! {
    /// Smooths the terrain in sweeps along its rows and columns. Two sweeps wear it down as wind does, four as rain does.
    pub struct RecursiveFilter {
        /// How the sweeps are combined.
        form: Form = Form::Sequential, Spec::new("Form");
        /// Directions of the sweeps.
        sweeps: Sweeps = Sweeps::Four, Spec::new("Sweeps");
        /// Fraction of each height that a sweep carries on to the next point. At 0 sequential sweeps have no effect;
        /// near 1 the terrain becomes a plain.
        k: f64 = 0.4, Spec::number("Smoothing", 0.0, 0.9999).slider(0.0, 0.95);
        /// Smoothing along east and west. Off: the same as Smoothing.
        k_x: Option<f64> = None, Spec::number("Smoothing east–west", 0.0, 0.9999).slider(0.0, 0.95).none("= Smoothing");
        /// Smoothing along north and south. Off: the same as Smoothing.
        k_z: Option<f64> = None, Spec::number("Smoothing north–south", 0.0, 0.9999).slider(0.0, 0.95).none("= Smoothing");
        /// The resolution for which Smoothing is meant, in samples along the longer side. It is converted to
        /// that of the map, so that the result does not depend on it. Maps with fewer samples are computed from finer
        /// ones, of up to 1025 samples.
        reference_samples: u32 = 257,
            Spec::number("Reference resolution", 2.0, 65_537.0).slider(65.0, 4097.0).logarithmic().fixed();
        /// How many times the filter is applied.
        passes: u32 = 1, Spec::number("Passes", 0.0, 10_000.0).slider(0.0, 20.0);
    }
}

/// Rows that a thread sweeps together, so that their chains of dependent operations overlap.
const BLOCK: usize = 16;

/// A filter prepared for one grid, with its buffers.
#[derive(Debug)]
pub struct PreparedFilter {
    form: Form,
    sweeps: Sweeps,
    passes: u32,
    k: [f32; 2],
    /// The difference between the delay at the reference spacing and the delay at this spacing, in samples, along rows
    /// and along columns.
    delay: [f64; 2],
    /// The lag of the averaged form in samples, along rows and along columns.
    lag: [f64; 2],
    input: Vec<f32>,
}

impl RecursiveFilter {
    /// The filter prepared for a grid: k is specified at the spacing Δr of the reference grid, so at a spacing Δ it is
    /// k^(Δ/Δr), which keeps the length L = −Δr/ln k over which an impulse falls to 1/e.
    ///
    /// This does not keep the mean delay of the response (1 − k)kⁿ, Δ·k/(1 − k), which grows towards L on fine grids. A
    /// sweep without a counterpart in the other direction would therefore move the terrain further on a fine grid than
    /// on a coarse one, and hundreds of wind passes would move it across the map. So the difference is compensated.
    pub fn prepared(&self, grid: Grid) -> PreparedFilter {
        let reference_m = reference_spacing_m(grid, self.reference_samples);
        let at = |k: f64, spacing_m: f64| libm::pow(k, spacing_m / reference_m).to_f32();
        let [spacing_x, spacing_z] = [grid.spacing_x_m(), grid.spacing_z_m()];
        let [reference_k_x, reference_k_z] = [self.k_x.unwrap_or(self.k), self.k_z.unwrap_or(self.k)];
        let delay = |k: f64, spacing_m: f64| {
            let here = libm::pow(k, spacing_m / reference_m);
            (reference_m * k / (1.0 - k) - spacing_m * here / (1.0 - here)) / spacing_m
        };
        let delay = [delay(reference_k_x, spacing_x), delay(reference_k_z, spacing_z)];
        PreparedFilter {
            form: self.form,
            sweeps: self.sweeps,
            passes: self.passes,
            k: [at(reference_k_x, spacing_x), at(reference_k_z, spacing_z)],
            delay,
            lag: [reference_m / spacing_x + delay[0], reference_m / spacing_z + delay[1]],
            input: Vec::new(),
        }
    }

    /// The peak memory of a [`PreparedFilter`] in heightfields, besides the terrain itself.
    pub fn extra_maps(&self) -> f64 {
        match self.form {
            Form::Sequential => 0.0,
            Form::Averaged => 1.0,
        }
    }
}

/// Δr, the spacing in metres of a reference grid with `samples` samples along the longer side.
pub(super) fn reference_spacing_m(grid: Grid, samples: u32) -> f64 {
    let extent = grid.extent();
    extent.width_m.max(extent.depth_m) / (f64::from(samples) - 1.0)
}

/// The grid on which a filter for a reference grid with `samples` samples along the longer side works: a finer one, of
/// which `grid` has every n-th sample, if that has fewer. Terrain that is thinned and then smoothed has other heights than
/// terrain that is smoothed and then thinned.
pub(super) fn filter_grid(grid: Grid, samples: u32) -> Grid {
    /// The most samples along the longer side of a finer grid.
    const MAX_SIDE: usize = 1025;
    let cells = [grid.width(), grid.height()].map(|samples| samples - 1);
    let longer = cells[0].max(cells[1]).max(1);
    let times = (samples as usize - 1).div_ceil(longer).min((MAX_SIDE - 1) / longer).max(1);
    Grid::new(grid.extent(), times * cells[0] + 1, times * cells[1] + 1)
}

impl PreparedFilter {
    /// Applies the filter, with all its passes.
    pub fn pass(&mut self, terrain: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        match self.form {
            Form::Sequential => self.sequential(terrain, progress),
            Form::Averaged => (0..self.passes).try_for_each(|_| self.averaged(terrain, progress)),
        }
    }

    /// Passes along rows and along columns commute except for rounding, so all passes over a block are done while it is
    /// in the cache.
    fn sequential(&self, terrain: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let width = terrain.grid().width();
        let both = self.sweeps == Sweeps::Four;
        let ([k_x, k_z], [delay_x, delay_z]) = (self.k, self.delay);
        terrain.heights_mut().par_chunks_mut(BLOCK * width).try_for_each_init(
            <(Vec<Lanes>, Vec<Lanes>)>::default,
            |(lanes, swept), rows| {
                transpose_into(rows, width, lanes);
                for _ in 0..self.passes {
                    simd(
                        #[inline(always)]
                        || {
                            sweep_lanes(lanes, k_x, Direction::Forward);
                            if both {
                                sweep_lanes(lanes, k_x, Direction::Backward);
                            } else {
                                delay_lanes(lanes, delay_x, swept);
                            }
                        },
                    );
                    progress.check()?;
                }
                transpose_back(lanes, rows, width);
                Ok(())
            },
        )?;
        strips(terrain.heights_mut(), width, progress)?.par_iter_mut().try_for_each_init(Vec::new, |swept, strip| {
            for _ in 0..self.passes {
                simd(
                    #[inline(always)]
                    || {
                        sweep_columns(strip, k_z, Direction::Forward);
                        if both {
                            sweep_columns(strip, k_z, Direction::Backward);
                        } else {
                            delay_columns(strip, delay_z, swept);
                        }
                    },
                );
                progress.check()?;
            }
            Ok(())
        })
    }

    fn averaged(&mut self, terrain: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (width, height) = (terrain.grid().width(), terrain.grid().height());
        let directions: &[Direction] = match self.sweeps {
            Sweeps::Two => &[Direction::Forward],
            Sweeps::Four => &[Direction::Forward, Direction::Backward],
        };
        let ([k_x, k_z], [lag_x, lag_z], share) = (self.k, self.lag, 0.5 / directions.len().to_f32());
        if self.input.len() != terrain.heights().len() {
            self.input = vec![0.0; terrain.heights().len()];
        }
        copy_heights(&mut self.input, terrain.heights(), progress)?;
        let input = &self.input;

        let blocks = terrain.heights_mut().par_chunks_mut(BLOCK * width).zip(input.par_chunks(BLOCK * width));
        blocks.try_for_each_init(<(Vec<Lanes>, Vec<Lanes>)>::default, |(sums, swept), (rows, input)| {
            sums.clear();
            sums.resize(width, [0.0; BLOCK]);
            for &direction in directions {
                transpose_into(input, width, swept);
                simd(
                    #[inline(always)]
                    || {
                        sweep_lanes(swept, k_x, direction);
                        for (c, sums) in sums.iter_mut().enumerate() {
                            let (near, far, part) = direction.lagged(c, width, lag_x);
                            for ((sum, near), far) in sums.iter_mut().zip(&swept[near]).zip(&swept[far]) {
                                *sum += share * (near + part * (far - near));
                            }
                        }
                    },
                );
            }
            transpose_back(sums, rows, width);
            progress.check()
        })?;

        strips(terrain.heights_mut(), width, progress)?.par_iter_mut().enumerate().try_for_each_init(
            Vec::new,
            |swept, (s, strip)| {
                let lanes = strip.first().map_or(0, |piece| piece.len());
                for &direction in directions {
                    swept.clear();
                    for r in 0..height {
                        let start = r * width + s * STRIP;
                        swept.extend_from_slice(&input[start..start + lanes]);
                    }
                    let mut pieces: Vec<&mut [f32]> = swept.chunks_exact_mut(lanes).collect();
                    sweep_columns(&mut pieces, k_z, direction);
                    for (r, sums) in strip.iter_mut().enumerate() {
                        let (near, far, part) = direction.lagged(r, height, lag_z);
                        let (near, far) = (&swept[near * lanes..][..lanes], &swept[far * lanes..][..lanes]);
                        for ((sum, near), far) in sums.iter_mut().zip(near).zip(far) {
                            *sum += share * (near + part * (far - near));
                        }
                    }
                }
                progress.check()
            },
        )
    }
}

/// The direction of a sweep along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// East or south.
    Forward,
    /// West or north.
    Backward,
}

impl Direction {
    /// The `step`-th of `count` indices in the order of the sweep.
    #[inline(always)]
    fn index(self, step: usize, count: usize) -> usize {
        match self {
            Self::Forward => step,
            Self::Backward => count - 1 - step,
        }
    }

    /// The two samples around the position `lag` before `index`, and the fraction of the way to the second. The last
    /// sample continues beyond the end.
    #[inline(always)]
    pub(super) fn lagged(self, index: usize, count: usize, lag: f64) -> (usize, usize, f32) {
        let position = (self.index(index, count).to_f64() - lag).clamp(0.0, (count - 1).to_f64());
        let near = position.to_usize();
        let far = (near + 1).min(count - 1);
        (self.index(near, count), self.index(far, count), (position - near.to_f64()).to_f32())
    }
}

/// y = k·y_before + (1 − k)·x, in a form that keeps level terrain bit-identical.
#[inline(always)]
pub(super) fn mix(before: f32, x: f32, k: f32) -> f32 {
    x + k * (before - x)
}

/// The samples of a block of rows in one column: one vector lane per row.
type Lanes = [f32; BLOCK];

/// Transposes the rows of a block, of which there may be fewer than lanes, into columns.
fn transpose_into(rows: &[f32], width: usize, lanes: &mut Vec<Lanes>) {
    lanes.clear();
    lanes.resize(width, [0.0; BLOCK]);
    for (lane, row) in rows.chunks_exact(width).enumerate() {
        lanes.iter_mut().zip(row).for_each(|(lanes, x)| lanes[lane] = *x);
    }
}

/// Transposes the columns of a block back into rows.
fn transpose_back(lanes: &[Lanes], rows: &mut [f32], width: usize) {
    for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
        row.iter_mut().zip(lanes).for_each(|(x, lanes)| *x = lanes[lane]);
    }
}

/// Filters the rows of a block; y at the edge is x at the edge.
#[inline(always)]
fn sweep_lanes(lanes: &mut [Lanes], k: f32, direction: Direction) {
    let sweep = |mut before: Lanes, next: &mut Lanes| {
        before.iter_mut().zip(&*next).for_each(|(before, x)| *before = mix(*before, *x, k));
        *next = before;
        before
    };
    match direction {
        Direction::Forward => {
            let mut all = lanes.iter_mut();
            let first = all.next().map(|first| *first);
            first.map(|first| all.fold(first, sweep));
        }
        Direction::Backward => {
            let mut all = lanes.iter_mut().rev();
            let first = all.next().map(|first| *first);
            first.map(|first| all.fold(first, sweep));
        }
    }
}

/// Filters the columns of a strip, given as the pieces of its rows.
#[inline(always)]
fn sweep_columns(pieces: &mut [&mut [f32]], k: f32, direction: Direction) {
    let count = pieces.len();
    for step in 1..count {
        let (head, tail) = pieces.split_at_mut(match direction {
            Direction::Forward => step,
            Direction::Backward => count - step,
        });
        let (Some(last), Some(first)) = (head.last_mut(), tail.first_mut()) else { continue };
        let (before, piece) = match direction {
            Direction::Forward => (last, first),
            Direction::Backward => (first, last),
        };
        for (before, x) in before.iter().zip(piece.iter_mut()) {
            *x = mix(*before, *x, k);
        }
    }
}

/// Smaller differences of delay, in samples, are rounding and are ignored.
const MIN_DELAY: f64 = 1e-6;

/// Moves the rows of a block east by `delay` samples (west if negative), linear between samples. The edge, which a
/// sweep does not change, stays.
#[inline(always)]
fn delay_lanes(lanes: &mut [Lanes], delay: f64, swept: &mut Vec<Lanes>) {
    if delay.abs() < MIN_DELAY {
        return;
    }
    swept.clear();
    swept.extend_from_slice(lanes);
    let width = lanes.len();
    for (c, lanes) in lanes.iter_mut().enumerate().skip(1) {
        let (near, far, part) = Direction::Forward.lagged(c, width, delay);
        for ((height, near), far) in lanes.iter_mut().zip(&swept[near]).zip(&swept[far]) {
            *height = near + part * (far - near);
        }
    }
}

/// Moves the columns of a strip south by `delay` samples (north if negative), like [`delay_lanes`].
#[inline(always)]
fn delay_columns(pieces: &mut [&mut [f32]], delay: f64, swept: &mut Vec<f32>) {
    if delay.abs() < MIN_DELAY {
        return;
    }
    swept.clear();
    pieces.iter().for_each(|piece| swept.extend_from_slice(piece));
    let count = pieces.len();
    for (r, piece) in pieces.iter_mut().enumerate().skip(1) {
        let lanes = piece.len();
        let (near, far, part) = Direction::Forward.lagged(r, count, delay);
        let (near, far) = (&swept[near * lanes..][..lanes], &swept[far * lanes..][..lanes]);
        for ((height, near), far) in piece.iter_mut().zip(near).zip(far) {
            *height = near + part * (far - near);
        }
    }
}

impl Operation for RecursiveFilter {
    const KEY: &'static str = "recursive_filter";
    const LABEL: &'static str = "Directional smoothing";
    const WORDS: &'static str = "recursive filter blur soften wind rain";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        filter_grid(grid, self.reference_samples)
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        grid
    }

    fn peak_maps(&self, _grid: Grid) -> f64 {
        2.0 + self.extra_maps()
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let mut terrain = context.heights_below()?;
        let counter = context.progress.counter(self.passes as usize);
        let mut prepared = Self { passes: 1, ..self.clone() }.prepared(context.grid);
        for _ in 0..self.passes {
            prepared.pass(&mut terrain, context.progress)?;
            counter.add_one()?;
        }
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    /// A grid with a spacing of one metre, which is also the reference spacing.
    fn grid(side: usize) -> Grid {
        let m = (side - 1) as f64;
        Grid::new(Extent { width_m: m, depth_m: m }, side, side)
    }

    fn filter(form: Form, sweeps: Sweeps, k: f64, side: usize) -> RecursiveFilter {
        RecursiveFilter { form, sweeps, k, reference_samples: side as u32, ..Default::default() }
    }

    fn run(filter: &RecursiveFilter, mut terrain: Heightfield) -> Heightfield {
        filter.prepared(terrain.grid()).pass(&mut terrain, &Progress::new()).expect("not cancelled");
        terrain
    }

    /// A wall of height 1 along column `at`, which filters along columns do not change.
    fn wall(side: usize, at: usize) -> Heightfield {
        Heightfield::from_fn(grid(side), |c, _| f32::from(u8::from(c == at)))
    }

    #[track_caller]
    fn check_row(terrain: &Heightfield, expected: impl Fn(i32) -> f64, at: i32) {
        for (c, &found) in terrain.row(3).iter().enumerate() {
            let expected = expected(c as i32 - at);
            assert!((f64::from(found) - expected).abs() < 1e-6, "column {c}: {found}, not {expected}");
        }
    }

    #[test]
    fn the_impulse_response_of_two_sequential_sweeps() {
        let terrain = run(&filter(Form::Sequential, Sweeps::Two, 0.6, 65), wall(65, 20));
        check_row(&terrain, |n| if n >= 0 { 0.4 * libm::pow(0.6, f64::from(n)) } else { 0.0 }, 20);
    }

    #[test]
    fn the_impulse_response_of_four_sequential_sweeps_is_symmetric() {
        // Far from the border, (1−k)k^n forward and backward gives (1−k)/(1+k)·k^|n|.
        let terrain = run(&filter(Form::Sequential, Sweeps::Four, 0.5, 129), wall(129, 64));
        check_row(&terrain, |n| 0.5 / 1.5 * libm::pow(0.5, f64::from(n.abs())), 64);
        for n in 1..60 {
            let row = terrain.row(64);
            assert!((row[64 - n] - row[64 + n]).abs() < 1e-7);
        }
    }

    #[test]
    fn the_averaged_form_lags_one_sample() {
        // One half is the eastward sweep, (1−k)k^(n−1) from n = 1 on; half the southward sweep, which does not change
        // the wall.
        let terrain = run(&filter(Form::Averaged, Sweeps::Two, 0.6, 65), wall(65, 20));
        let east = |n: i32| if n >= 1 { 0.4 * libm::pow(0.6, f64::from(n - 1)) } else { 0.0 };
        let still = |n: i32| f64::from(u8::from(n == 0));
        check_row(&terrain, |n| 0.5 * east(n) + 0.5 * still(n), 20);
        let rain = run(&filter(Form::Averaged, Sweeps::Four, 0.6, 65), wall(65, 32));
        check_row(&rain, |n| 0.25 * (east(n) + east(-n)) + 0.5 * still(n), 32);
    }

    #[test]
    fn at_k_0_only_the_lag_remains() {
        let terrain = run(&filter(Form::Averaged, Sweeps::Two, 0.0, 65), wall(65, 20));
        check_row(&terrain, |n| 0.5 * f64::from(u8::from(n == 1)) + 0.5 * f64::from(u8::from(n == 0)), 20);
    }

    #[test]
    fn four_sweeps_are_symmetric_and_two_are_not() {
        let dot = Heightfield::from_fn(grid(33), |c, r| f32::from(u8::from((c, r) == (16, 16))));
        for form in [Form::Sequential, Form::Averaged] {
            let rain = run(&filter(form, Sweeps::Four, 0.7, 33), dot.clone());
            for r in 0..33 {
                for c in 0..33 {
                    let mirrored = [rain[(32 - c, r)], rain[(c, 32 - r)], rain[(r, c)]];
                    for other in mirrored {
                        assert!((rain[(c, r)] - other).abs() < 2e-4, "{form:?} at {c}, {r}");
                    }
                }
            }
            let wind = run(&filter(form, Sweeps::Two, 0.7, 33), dot.clone());
            assert!(wind[(18, 16)] > 10.0 * wind[(14, 16)].abs());
        }
    }

    #[test]
    fn each_axis_has_its_own_strength() {
        let mut along_x = filter(Form::Sequential, Sweeps::Two, 0.6, 65);
        along_x.k_z = Some(0.0);
        let dot = Heightfield::from_fn(grid(65), |c, r| f32::from(u8::from((c, r) == (20, 3))));
        let terrain = run(&along_x, dot);
        check_row(&terrain, |n| if n >= 0 { 0.4 * libm::pow(0.6, f64::from(n)) } else { 0.0 }, 20);
        assert!(terrain.row(4).iter().all(|&height| height == 0.0));
    }

    #[test]
    fn level_terrain_stays_level() {
        for form in [Form::Sequential, Form::Averaged] {
            let level = Heightfield::from_fn(grid(33), |_, _| 123.4);
            assert!(
                run(&filter(form, Sweeps::Four, 0.9, 257), level).heights().iter().all(|&h| (h - 123.4).abs() < 1e-4)
            );
        }
        let level = Heightfield::from_fn(grid(33), |_, _| 123.4);
        assert_eq!(run(&filter(Form::Sequential, Sweeps::Four, 0.9, 257), level.clone()), level);
    }

    #[test]
    fn smoothing_is_independent_of_the_spacing() {
        let extent = Extent { width_m: 2560.0, depth_m: 2560.0 };
        let wave = |grid: Grid| {
            Heightfield::from_fn(grid, |c, r| {
                libm::sinf(grid.x_m(c) as f32 / 200.0) + libm::cosf(grid.z_m(r) as f32 / 150.0)
            })
        };
        for form in [Form::Sequential, Form::Averaged] {
            for sweeps in [Sweeps::Two, Sweeps::Four] {
                let filter = filter(form, sweeps, 0.5, 257);
                let coarse = run(&filter, wave(Grid::new(extent, 257, 257)));
                let fine = run(&filter, wave(Grid::new(extent, 1025, 1025)));
                let worst = (0..257 * 257)
                    .map(|i| (coarse[(i % 257, i / 257)] - fine[(4 * (i % 257), 4 * (i / 257))]).abs())
                    .fold(0.0, f32::max);
                assert!(worst < 0.05, "{form:?} {sweeps:?}: {worst}");
            }
        }
    }
}
