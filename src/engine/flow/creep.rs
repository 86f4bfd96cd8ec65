//! Soil creep on hillslopes: linear diffusion, ∂h/∂t = D·∇²h.
//!
//! A step consists of two implicit steps, along rows and then along columns (N. N. Yanenko, "The method of fractional
//! steps", 1971: locally one-dimensional, first order in time). Inside the world, each new height is a weighted mean of the
//! old ones, so steps of any length are stable. Heights where flow ends are fixed. At the border the terrain keeps most of
//! its slope, as if the hillslope went on beyond it and became level within an eighth of the world, so soil enters and
//! leaves there; without that, all slopes would become level along the border. Where a step of creep reaches further than a
//! few heights, the slope is not kept: terrain beyond the border would be there anew in every step, and the soil from
//! there, or that goes there, would raise or lower the world without an end.
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
        let height = terrain.grid().height();
        let rows = LineEnds::new(terrain.heights_mut(), is_fixed, (0..height).map(|r| r * width), width, 1, along_x);
        let blocks = terrain.heights_mut().par_chunks_mut(BLOCK * width).zip(is_fixed.par_chunks(BLOCK * width));
        blocks.try_for_each_init(Buffers::default, |buffers, (rows, is_fixed)| {
            buffers.solve_rows(rows, is_fixed, width, along_x);
            progress.check()
        })?;
        rows.restore(terrain.heights_mut());
        let columns = LineEnds::new(terrain.heights_mut(), is_fixed, 0..width, height, width, along_z);
        let strips = strips(terrain.heights_mut(), width, progress)?;
        strips.into_par_iter().enumerate().try_for_each_init(Buffers::default, |buffers, (s, mut strip)| {
            buffers.solve_columns(&mut strip, |r| &is_fixed[r * width + s * STRIP..], along_z);
            progress.check()
        })?;
        columns.restore(terrain.heights_mut());
        Ok(())
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
        let of_fixed = |(c, is_fixed): (usize, &bool)| share_of(*is_fixed, c == 0 || c + 1 == width, share);
        let first = &is_fixed[..width];
        let have_common = is_fixed.chunks_exact(width).all(|row| row == first);
        heights.resize(width * BLOCK, 0.0);
        transpose(rows, width, heights, |height, place| *place = *height);
        if have_common {
            common.update(first.iter().enumerate().map(of_fixed));
        } else {
            shares.clear();
            shares.resize(heights.len(), 0.0);
            for (lane, is_fixed) in is_fixed.chunks_exact(width).enumerate() {
                for (shares, is_fixed) in shares.chunks_exact_mut(BLOCK).zip(is_fixed.iter().enumerate()) {
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
        let count = strip.len();
        let of_fixed = |r: usize, is_fixed: &bool| share_of(*is_fixed, r == 0 || r + 1 == count, share);
        let rows = (0..strip.len()).map(|r| &is_fixed(r)[..lanes]);
        if rows.clone().all(|row| row.iter().all(|is_fixed| *is_fixed == row[0])) {
            common.update(rows.enumerate().map(|(r, row)| of_fixed(r, &row[0])));
            simd(
                #[inline(always)]
                || common.solve(strip, |row| &mut **row),
            );
            return;
        }
        heights.clear();
        shares.clear();
        strip.iter().for_each(|row| heights.extend_from_slice(row));
        rows.enumerate().for_each(|(r, row)| shares.extend(row.iter().map(|is_fixed| of_fixed(r, is_fixed))));
        rests.resize(heights.len(), 0.0);
        simd(
            #[inline(always)]
            || Line { heights, shares, lanes }.solve(rests),
        );
        strip.iter_mut().zip(heights.chunks_exact(lanes)).for_each(|(row, heights)| row.copy_from_slice(heights));
    }
}

/// p of a height, given that of free ones. Free ends of lines get the height beside them.
fn share_of(is_fixed: bool, is_end: bool, share: f32) -> f32 {
    /// So large that the height before does not matter.
    const FOLLOWS: f32 = 1e12;
    match () {
        () if is_fixed => 0.0,
        () if is_end => FOLLOWS,
        () => share,
    }
}

/// The free ends of lines, and how far each will be above the height beside it, metres.
struct LineEnds(Vec<(usize, f32)>);

impl LineEnds {
    /// The ends of lines of `count` heights, `step` apart, that begin at `firsts`. Adds to the heights beside the ends what
    /// flows in across the border.
    fn new(
        heights: &mut [f32],
        is_fixed: &[bool],
        firsts: impl Iterator<Item = usize>,
        count: usize,
        step: usize,
        share: f32,
    ) -> Self {
        /// Beyond the border, slopes become level within this share of the line.
        const REACH: f32 = 0.125;
        /// The p up to which slopes are kept, and the p beyond which they are not.
        const STRONG: [f32; 2] = [3.0, 6.0];
        let mut ends = Vec::new();
        // Of three heights, the middle one is beside both ends.
        if count < 4 {
            return Self(ends);
        }
        let reach = REACH * (count - 1).to_f32();
        let [most, none] = STRONG;
        let kept = ((none - share) / (none - most)).clamp(0.0, 1.0) / (1.0 + share / (reach * reach));
        for first in firsts {
            let last = first + (count - 1) * step;
            for (end, next) in [(first, first + step), (last, last - step)] {
                if !is_fixed[end] {
                    let above_m = kept * (heights[end] - heights[next]);
                    if !is_fixed[next] {
                        heights[next] += share * above_m;
                    }
                    ends.push((end, above_m));
                }
            }
        }
        Self(ends)
    }

    /// Raises the ends, which have got the heights beside them.
    fn restore(self, heights: &mut [f32]) {
        self.0.into_iter().for_each(|(end, above_m)| heights[end] += above_m);
    }
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
                for (axis, first_step, count, step) in [(0, width, width, 1), (1, 1, height, width)] {
                    for line in 0..grid.samples() / count {
                        let places: Vec<usize> = (0..count).map(|i| line * first_step + i * step).collect();
                        let mut heights: Vec<f32> = places.iter().map(|place| expected.heights()[*place]).collect();
                        let is_fixed: Vec<bool> = places.iter().map(|place| is_fixed[*place]).collect();
                        solve_alone(&mut heights, &is_fixed, creep.shares[axis]);
                        places.iter().zip(heights).for_each(|(place, y)| expected.heights_mut()[*place] = y);
                    }
                }
                assert_eq!(found, expected);
            }
        }
    }

    fn solve_alone(heights: &mut [f32], is_fixed: &[bool], share: f32) {
        let count = heights.len();
        let ends = LineEnds::new(heights, is_fixed, 0..1, count, 1, share);
        let of_fixed = |(i, is_fixed): (usize, &bool)| share_of(*is_fixed, i == 0 || i + 1 == count, share);
        let shares: Vec<f32> = is_fixed.iter().enumerate().map(of_fixed).collect();
        Line { heights, shares: &shares, lanes: 1 }.solve(&mut vec![0.0; count]);
        ends.restore(heights);
    }

    #[test]
    fn lines_satisfy_their_equations() {
        let before: Vec<f32> = (0..40).map(|i| ((i * 37) % 53) as f32).collect();
        let is_fixed: Vec<bool> = (0..40).map(|i| i == 12 || i == 13 || i == 39).collect();
        for share in [0.1, 3.0, 200.0_f32] {
            let mut y = before.clone();
            solve_alone(&mut y, &is_fixed, share);
            let kept = if share < 6.0 { 1.0 / (1.0 + share * 64.0 / (39.0 * 39.0)) } else { 0.0 };
            assert!((y[0] - y[1] - kept * (before[0] - before[1])).abs() < 1e-3, "{share}: {y:?}");
            for i in 1..40 {
                if is_fixed[i] {
                    assert_eq!(y[i], before[i]);
                } else {
                    let flow = share * (y[i - 1] - 2.0 * y[i] + y[i + 1]);
                    assert!((y[i] - before[i] - flow).abs() < 1e-4 * (1.0 + share), "{share}, {i}: {y:?}");
                }
            }
        }
    }

    #[test]
    fn slopes_go_on_beyond_the_border_but_not_for_ever() {
        let progress = Progress::new();
        let grid = Grid::new(Extent { width_m: 640.0, depth_m: 640.0 }, 65, 65);
        let slope = Heightfield::from_fn(grid, |c, _| c as f32);
        let is_fixed = vec![false; grid.samples()];
        let after = |years: f64, steps: usize| {
            let creep = Creep::new(0.02, years, [10.0, 10.0]).expect("diffusion");
            let mut terrain = slope.clone();
            (0..steps).for_each(|_| creep.step(&mut terrain, &is_fixed, &progress).expect("not cancelled"));
            terrain
        };
        let short = after(1e4, 5);
        let fall_m = |terrain: &Heightfield, c: usize| terrain[(c + 1, 32)] - terrain[(c, 32)];
        assert!([0, 1, 63].iter().all(|c| (0.8..=1.0).contains(&fall_m(&short, *c))), "{:?}", short.row(32));
        // Strong creep does not keep slopes, so no height leaves the range of those before.
        let strong = after(3.1e4, 1);
        assert!(strong.heights().iter().all(|height| (0.0..=64.0).contains(height)) && fall_m(&strong, 0).abs() < 1e-3);
        let long = after(1e9, 20);
        assert!((0..64).all(|c| fall_m(&long, c).abs() < 0.01), "{:?}", long.row(32));
        // What flows in on one side flows out on the other one.
        assert!((long[(32, 32)] - 32.0).abs() < 0.1, "{}", long[(32, 32)]);
    }
}
