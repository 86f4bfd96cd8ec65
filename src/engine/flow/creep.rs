//! Soil creep on hillslopes: linear diffusion, ∂h/∂t = D·∇²h.
//!
//! A step consists of two implicit steps, along rows and then along columns (N. N. Yanenko, "The method of fractional
//! steps", 1971: locally one-dimensional, first order in time). Each new height is a weighted mean of the old ones, so
//! steps of any length are stable and create no extrema. There is no flux across the border; heights where flow ends
//! are fixed.
//!
//! Along a line, with p = D·Δt/Δx² towards either neighbour (0 where there is none or the height is fixed),
//! (1 + p + p)·y = x + p·y₋ + p·y₊ is solved by elimination (Thomas), written as z = x + g/(1 + g)·(z₋ − x) with
//! g = p·s₋ and s = (1 + g)/(1 + g + p), followed by y = z + (1 − s)·(y₊ − z). This form keeps level terrain exactly
//! level.

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;
use crate::strips::{STRIP, strips};

/// Rows that are solved together, in vector lanes.
const BLOCK: usize = 16;

/// A step of diffusion on a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creep {
    /// D·Δt/Δx² along rows and along columns.
    shares: [f32; 2],
}

impl Creep {
    /// A diffusivity D in m²/year over some years, for the spacing of samples along rows and columns in metres; `None`
    /// if the diffusion is 0.
    pub fn new(diffusion_m2: f64, years: f64, spacing_m: [f64; 2]) -> Option<Self> {
        let shares = spacing_m.map(|spacing_m| (diffusion_m2 * years / (spacing_m * spacing_m)).min(1e12).to_f32());
        shares.iter().any(|share| *share > 0.0).then_some(Self { shares })
    }

    /// Diffuses the heights, except those for which `is_fixed` is true.
    pub fn step(&self, terrain: &mut Heightfield, is_fixed: &[bool], progress: &Progress) -> Result<(), Cancelled> {
        let [along_x, along_z] = self.shares;
        let width = terrain.grid().width();
        let blocks = terrain.heights_mut().par_chunks_mut(BLOCK * width).zip(is_fixed.par_chunks(BLOCK * width));
        blocks.try_for_each_init(Buffers::default, |buffers, (rows, is_fixed)| {
            buffers.solve_rows(rows, is_fixed, width, along_x);
            progress.check()
        })?;
        let strips = strips(terrain.heights_mut(), width, progress)?;
        strips.into_par_iter().enumerate().try_for_each_init(Buffers::default, |buffers, (s, mut strip)| {
            buffers.solve_columns(&mut strip, |r| &is_fixed[r * width + s * STRIP..], along_z);
            progress.check()
        })
    }
}

/// What a thread reuses from block to block.
#[derive(Default)]
struct Buffers {
    heights: Vec<f32>,
    shares: Vec<f32>,
    rests: Vec<f32>,
    common: Coefficients,
}

impl Buffers {
    /// Solves up to [`BLOCK`] rows together, in vector lanes.
    fn solve_rows(&mut self, rows: &mut [f32], is_fixed: &[bool], width: usize, share: f32) {
        let Self { heights, shares, rests, common } = self;
        let of_fixed = |is_fixed: &bool| share_of(*is_fixed, share);
        let first = &is_fixed[..width];
        let have_common = is_fixed.chunks_exact(width).all(|row| row == first);
        heights.resize(width * BLOCK, 0.0);
        transpose(rows, width, heights, |height, place| *place = *height);
        if have_common {
            common.update(first.iter().map(of_fixed));
        } else {
            shares.clear();
            shares.resize(heights.len(), 0.0);
            for (lane, is_fixed) in is_fixed.chunks_exact(width).enumerate() {
                for (shares, is_fixed) in shares.chunks_exact_mut(BLOCK).zip(is_fixed) {
                    shares[lane] = of_fixed(is_fixed);
                }
            }
            rests.resize(heights.len(), 0.0);
        }
        simd(
            #[inline(always)]
            || {
                if have_common {
                    let (heights, _) = heights.as_chunks_mut::<BLOCK>();
                    common.solve(heights, |heights| heights);
                } else {
                    Line { heights, shares, lanes: BLOCK }.solve(rests);
                }
            },
        );
        transpose(rows, width, heights, |height, place| *height = *place);
    }

    /// Solves a strip of columns, given its rows. `is_fixed` returns whether the heights of a row are fixed.
    fn solve_columns<'a>(&mut self, strip: &mut [&mut [f32]], is_fixed: impl Fn(usize) -> &'a [bool], share: f32) {
        let Self { heights, shares, rests, common } = self;
        let lanes = strip.first().map_or(0, |row| row.len());
        let of_fixed = |is_fixed: &bool| share_of(*is_fixed, share);
        let rows = (0..strip.len()).map(|r| &is_fixed(r)[..lanes]);
        if rows.clone().all(|row| row.iter().all(|is_fixed| *is_fixed == row[0])) {
            common.update(rows.map(|row| of_fixed(&row[0])));
            simd(
                #[inline(always)]
                || common.solve(strip, |row| &mut **row),
            );
            return;
        }
        heights.clear();
        shares.clear();
        strip.iter().for_each(|row| heights.extend_from_slice(row));
        rows.for_each(|row| shares.extend(row.iter().map(of_fixed)));
        rests.resize(heights.len(), 0.0);
        simd(
            #[inline(always)]
            || Line { heights, shares, lanes }.solve(rests),
        );
        strip.iter_mut().zip(heights.chunks_exact(lanes)).for_each(|(row, heights)| row.copy_from_slice(heights));
    }
}

/// p of a height, given that of free ones.
fn share_of(is_fixed: bool, share: f32) -> f32 {
    if is_fixed { 0.0 } else { share }
}

/// Calls `copy` with every height of up to [`BLOCK`] rows and its place column by column, in blocks that fit the cache. The
/// lanes of missing rows keep what they have; their results are not used.
fn transpose(rows: &mut [f32], width: usize, columns: &mut [f32], copy: impl Fn(&mut f32, &mut f32)) {
    for (first, columns) in (0..width).step_by(BLOCK).zip(columns.chunks_mut(BLOCK * BLOCK)) {
        for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
            for (column, height) in columns.chunks_exact_mut(BLOCK).zip(&mut row[first..]) {
                copy(height, &mut column[lane]);
            }
        }
    }
}

/// The coefficients of lines that have their fixed heights at the same places.
#[derive(Default)]
struct Coefficients {
    /// p.
    shares: Vec<f32>,
    /// g/(1 + g).
    pulls: Vec<f32>,
    /// 1 − s.
    rests: Vec<f32>,
}

impl Coefficients {
    fn update(&mut self, shares: impl ExactSizeIterator<Item = f32> + Clone) {
        if shares.clone().eq(self.shares.iter().copied()) {
            return;
        }
        let Self { shares: own, pulls, rests } = self;
        own.clear();
        own.extend(shares);
        pulls.clear();
        rests.clear();
        let mut stays = 0.0;
        for (i, share) in own.iter().enumerate() {
            let has_next = if i + 1 < own.len() { 1.0 } else { 0.0 };
            let (pull, rest) = eliminated(*share, has_next, &mut stays);
            pulls.push(pull);
            rests.push(rest);
        }
    }

    /// Solves lines in place, given the places along them. `heights` returns the heights of all lines at a place.
    #[inline(always)]
    fn solve<T>(&self, places: &mut [T], heights: impl Fn(&mut T) -> &mut [f32]) {
        let pull = |here: &mut [f32], other: &[f32], share: f32| {
            here.iter_mut().zip(other).for_each(|(here, other)| *here += share * (other - *here));
        };
        for i in 1..places.len() {
            let (before, here) = places.split_at_mut(i);
            pull(heights(&mut here[0]), heights(&mut before[i - 1]), self.pulls[i]);
        }
        for i in (1..places.len()).rev() {
            let (here, after) = places.split_at_mut(i);
            pull(heights(&mut here[i - 1]), heights(&mut after[0]), self.rests[i - 1]);
        }
    }
}

/// g/(1 + g) and 1 − s of a height, given p and whether there is a next height (1) or not (0). `stays` is the s of the height
/// before, and is set to that of this one.
#[inline(always)]
fn eliminated(share: f32, has_next: f32, stays: &mut f32) -> (f32, f32) {
    let pull = share * *stays;
    let next = share * has_next;
    let whole = 1.0 / (1.0 + pull + next);
    *stays = (1.0 + pull) * whole;
    (pull / (1.0 + pull), next * whole)
}

/// Lines of heights that are solved together: the first heights of all lines, then the second ones and so on.
struct Line<'a> {
    heights: &'a mut [f32],
    /// p, which is 0 for fixed heights.
    shares: &'a [f32],
    /// At most [`STRIP`].
    lanes: usize,
}

impl Line<'_> {
    /// Solves the lines in place; `rests` is a buffer for 1 − s.
    #[inline(always)]
    fn solve(&mut self, rests: &mut [f32]) {
        let lanes = self.lanes;
        let count = self.heights.len().checked_div(lanes).unwrap_or(0);
        let mut stays = [0.0; STRIP];
        let stays = &mut stays[..lanes];
        for i in 0..count {
            let (before, here) = self.heights.split_at_mut(i * lanes);
            let here = &mut here[..lanes];
            // The values for the first height do not matter, because s is 0 there.
            let before = if i == 0 { self.shares } else { &before[(i - 1) * lanes..] };
            let (before, shares) = (&before[..lanes], &self.shares[i * lanes..][..lanes]);
            let rests = &mut rests[i * lanes..][..lanes];
            let has_next = if i + 1 < count { 1.0 } else { 0.0 };
            for l in 0..lanes {
                let (pull, rest) = eliminated(shares[l], has_next, &mut stays[l]);
                here[l] += pull * (before[l] - here[l]);
                rests[l] = rest;
            }
        }
        for i in (1..count).rev() {
            let (here, after) = self.heights.split_at_mut(i * lanes);
            let (here, after) = (&mut here[(i - 1) * lanes..], &after[..lanes]);
            let rests = &rests[(i - 1) * lanes..][..lanes];
            for l in 0..lanes {
                here[l] += rests[l] * (after[l] - here[l]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};

    /// Lines with equal places of fixed heights are solved by common coefficients, others one by one.
    #[test]
    fn lines_give_the_same_heights_together_and_one_by_one() {
        let progress = Progress::new();
        for (width, height) in [(2, 2), (70, 37), (64, 16), (130, 65)] {
            let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, width, height);
            let creep = Creep::new(0.02, 5000.0, [3.0, 2.0]).expect("diffusion");
            let terrain = Heightfield::from_fn(grid, |c, r| ((c * 37 + r * 91) % 53) as f32);
            let is_border = |at: usize| {
                let (c, r) = (at % width, at / width);
                c == 0 || r == 0 || c + 1 == width || r + 1 == height
            };
            let patterns: [&dyn Fn(usize) -> bool; 3] = [&|_| false, &is_border, &|at| at % 7 == 3];
            for is_fixed in patterns {
                let is_fixed: Vec<bool> = (0..grid.samples()).map(is_fixed).collect();
                let mut found = terrain.clone();
                creep.step(&mut found, &is_fixed, &progress).expect("not cancelled");
                let mut expected = terrain.clone();
                let line = |heights: &mut [f32], shares: &[f32]| {
                    Line { heights, shares, lanes: 1 }.solve(&mut vec![0.0; shares.len()]);
                };
                let share = |axis: usize, at: usize| if is_fixed[at] { 0.0 } else { creep.shares[axis] };
                for r in 0..height {
                    let shares: Vec<f32> = (0..width).map(|c| share(0, r * width + c)).collect();
                    line(&mut expected.heights_mut()[r * width..][..width], &shares);
                }
                for c in 0..width {
                    let shares: Vec<f32> = (0..height).map(|r| share(1, r * width + c)).collect();
                    let mut column: Vec<f32> = (0..height).map(|r| expected[(c, r)]).collect();
                    line(&mut column, &shares);
                    for (r, y) in column.into_iter().enumerate() {
                        expected.heights_mut()[r * width + c] = y;
                    }
                }
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn lines_satisfy_their_equations() {
        let before: Vec<f32> = (0..40).map(|i| ((i * 37) % 53) as f32).collect();
        let is_fixed = |i: usize| [12, 13, 39].contains(&i);
        for share in [0.1, 3.0, 200.0_f32] {
            let shares: Vec<f32> = (0..40).map(|i| share_of(is_fixed(i), share)).collect();
            let mut y = before.clone();
            Line { heights: &mut y, shares: &shares, lanes: 1 }.solve(&mut [0.0; 40]);
            for i in 0..40 {
                // Nothing flows across the ends of the line.
                let beside = |at: Option<usize>| at.and_then(|at| y.get(at)).map_or(0.0, |other| other - y[i]);
                let flow = if is_fixed(i) { 0.0 } else { share * (beside(i.checked_sub(1)) + beside(Some(i + 1))) };
                assert!((y[i] - before[i] - flow).abs() < 1e-4 * (1.0 + share), "{share}, {i}: {y:?}");
            }
        }
    }
}
