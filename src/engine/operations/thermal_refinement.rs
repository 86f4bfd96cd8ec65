//! Transfers thermal erosion from the reference grid to a grid of any size, without slopes above the angle of repose.
//!
//! The erosion of the reference grid is interpolated to a grid of twice the resolution, where the terrain has detail
//! that the reference grid does not show. What is too steep then slides down between neighbouring samples until nothing
//! is. The same is done from grid to grid, up to the one that is wanted. A grid disturbs only a few samples around each
//! scarp of the one before, so this takes few sweeps; without the grids between, the scree of a scarp would have to
//! move over many samples.
//!
//! Where the rounds on the reference grid have not been enough, rock on finer grids stops at the steepest slope that
//! they left nearby, so that a map does not erode further than a smaller one.
//!
//! Heights are integers during this, and each move takes as much from one sample as it gives to another, so the sum of
//! the heights stays exact.

use rayon::prelude::*;

use super::operation::EvalContext;
use super::thermal_units::{UNLIMITED, Unit, distances_m};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// A slope this far above the angle of repose is steep enough on the reference grid to show that the rounds have not
/// been enough there.
const UNSETTLED_DEG: f64 = 0.1;
/// How far a slope may exceed the angle of repose before rock slides. Without this margin, the last bits of rock would
/// spread over a slope for a long time.
const MARGIN_DEG: f64 = 0.05;
/// The columns of a block; blocks in which nothing slides are skipped.
const BLOCK: usize = 64;
/// What slid in a block: anything, something that the block to the west reads, and something that the one to the east
/// reads.
const SLID: u8 = 1;
const SLID_WEST: u8 = 2;
const SLID_EAST: u8 = 4;
const SLID_ALL: u8 = SLID | SLID_WEST | SLID_EAST;
/// The rows of a band. Bands are processed in parallel, each row by row, so that scree moves on through a band in one
/// sweep. The borders between them alternate.
const BAND: usize = 64;
/// Sweeps of a band before it waits for the others. Meanwhile its heights stay in the cache.
const SWEEPS: u32 = 8;

/// The result of the rounds on the reference grid.
pub(super) struct ThermalRefinement<'a> {
    /// The terrain after the rounds.
    pub terrain: &'a Heightfield,
    pub repose_deg: f64,
}

impl ThermalRefinement<'_> {
    /// Peak memory in heightfields of the finer grid.
    /// The terrain below, the slopes and, at (3/4)² of their samples, the erosion of a coarser grid and its thickness.
    pub const MAPS: f64 = 3.75;

    /// The eroded terrain on the context's grid.
    pub fn on_grid(&self, context: &EvalContext) -> Result<Heightfield, Cancelled> {
        let (from, to, progress) = (self.terrain.grid(), context.grid, context.progress);
        let Some(below) = context.below else { return Ok(Heightfield::flat(to)) };
        let limits = SlopeLimits::new(self.terrain, self.repose_deg);
        // Quick, so that it does not count.
        let mut coarse = progress.stage(0.0..0.0, || {
            Ok(Erosion { before: below.resampled(from, progress)?, after: self.terrain.copied(progress)? })
        })?;
        let grids = finer_grids(from, to);
        let total: usize = to.samples() + grids.iter().map(Grid::samples).sum::<usize>();
        let mut done = 0;
        for grid in grids {
            let share = |samples: usize| samples.to_f32() / total.to_f32();
            let stage = share(done)..share(done + grid.samples());
            coarse = progress.stage(stage, || {
                let before = progress.stage(0.0..0.2, || below.resampled(grid, progress))?;
                let after = progress.stage(0.2..1.0, || coarse.refined(&before, &limits, progress))?;
                Ok(Erosion { before, after })
            })?;
            done += grid.samples();
        }
        progress.stage(done.to_f32() / total.to_f32()..1.0, || coarse.refined(below, &limits, progress))
    }
}

/// The terrain before and after the erosion, on one grid.
struct Erosion {
    before: Heightfield,
    after: Heightfield,
}

impl Erosion {
    /// The terrain after the erosion of `before`, on its grid.
    fn refined(
        &self,
        before: &Heightfield,
        limits: &SlopeLimits,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let mut slopes = progress.stage(0.0..0.4, || self.transferred(before, progress))?;
        let limits = limits.on_grid(slopes.grid, slopes.unit, progress)?;
        progress.stage(0.4..0.95, || slopes.settle(&limits, progress))?;
        slopes.into_terrain(before, progress)
    }

    /// The terrain `before` with the change by this erosion, of which the cut or the fill is scaled down so that both are
    /// equal. No height leaves the range of the terrain.
    ///
    /// The detail that `before` has and this grid does not show is left where nothing moved. What moved has carried it
    /// away or buried it, up to its own thickness. On an even slope of scree, detail would slide down all of the slope.
    fn transferred(&self, before: &Heightfield, progress: &Progress) -> Result<Slopes, Cancelled> {
        let grid = before.grid();
        let moved_m = |after: f32, before: f32| (after - before).abs();
        let thickness = self.after.copied(progress)?.combined(&self.before, moved_m, progress)?;
        let thickness = highest_around(thickness, [1, 1], progress)?;
        let [smooth, after] = [&self.before, &self.after].map(|terrain| terrain.resampler(grid));
        let [low, high] = before.min_max_cancellable(progress)?;
        let unit = Unit::new(high.max(-low), 28);
        let [low, high] = [low, high].map(|height| unit.count(f64::from(height)));
        let coarse = thickness.grid();
        let columns: Vec<usize> = (0..grid.width()).map(|c| nearest(c, coarse.width(), grid.width())).collect();
        let mut slopes = Slopes { grid, unit, heights: vec![0; grid.samples()] };
        let counter = progress.counter(grid.height());
        slopes.heights.par_chunks_exact_mut(grid.width()).enumerate().with_min_len(8).try_for_each_init(
            || (smooth.buffer(), [(); 3].map(|()| vec![0.0; grid.width()])),
            |(buffer, [smooth_m, after_m, buried_m]), (r, changes)| {
                smooth.fill_row(r, buffer, smooth_m, |height| height);
                after.fill_row(r, buffer, after_m, |height| height);
                let thickness = thickness.row(nearest(r, coarse.height(), grid.height()));
                buried_m.iter_mut().zip(&columns).for_each(|(buried_m, &c)| *buried_m = thickness[c]);
                simd(
                    #[inline(always)]
                    || {
                        let before = changes.iter_mut().zip(before.row(r));
                        let coarse = smooth_m.iter().zip(&*after_m).zip(&*buried_m);
                        for ((change, &before), ((smooth, after), &buried)) in before.zip(coarse) {
                            let change_m = (after - smooth) - (before - smooth).clamp(-buried, buried);
                            let before = unit.count(f64::from(before));
                            *change = (before + unit.count(f64::from(change_m))).clamp(low, high) - before;
                        }
                    },
                );
                counter.add_one()
            },
        )?;
        balance(&mut slopes.heights, grid.width(), progress)?;
        slopes.for_each_row(before, progress, |heights, before| {
            heights.iter_mut().zip(before).for_each(|(height, &before)| *height += unit.count(f64::from(before)));
        })?;
        Ok(slopes)
    }
}

/// The index of the sample of a row of `of` that is nearest to sample `i` of a row of `count` over the same length.
fn nearest(i: usize, of: usize, count: usize) -> usize {
    (2 * i * (of - 1) + count - 1) / (2 * (count - 1))
}

/// The grids between the reference grid and `to`, each with half the spacing of the one before. The last has at most
/// three quarters of the samples per side of `to`, so that it takes much less memory.
fn finer_grids(from: Grid, to: Grid) -> Vec<Grid> {
    let is_coarser = |side: usize, of: usize| 4 * side <= 3 * of;
    let sides = std::iter::successors(Some([from.width(), from.height()]), |sides| {
        Some(sides.map(|side| 2 * side - 1))
            .filter(|[width, height]| is_coarser(*width, to.width()) && is_coarser(*height, to.height()))
    });
    sides.skip(1).map(|[width, height]| Grid::new(to.extent(), width, height)).collect()
}

/// The steepest slopes that stand: the angle of repose, or the slope that the rounds have left on the reference grid.
struct SlopeLimits {
    /// The tangent of the angle of repose, and the margin above it.
    repose: f64,
    margin: f64,
    /// The tangents at the samples of the reference grid; `None` if it is nowhere steeper than the angle of repose.
    left: Option<Heightfield>,
}

impl SlopeLimits {
    fn new(terrain: &Heightfield, repose_deg: f64) -> Self {
        let tangent = |degrees: f64| libm::tan(degrees.to_radians());
        let repose = tangent(repose_deg);
        let unsettled = tangent(repose_deg + UNSETTLED_DEG);
        let mut left = steepest_slopes(terrain);
        let mut is_settled = true;
        for slope in left.heights_mut() {
            if f64::from(*slope) > unsettled {
                is_settled = false;
            } else {
                *slope = repose.to_f32();
            }
        }
        Self { repose, margin: tangent(repose_deg + MARGIN_DEG) - repose, left: (!is_settled).then_some(left) }
    }

    /// The drops that stand on a grid.
    fn on_grid(&self, grid: Grid, unit: Unit, progress: &Progress) -> Result<StableDrops, Cancelled> {
        let distances = distances_m(grid);
        let drop = |tangent: f64, distance_m: f64| unit.whole(tangent * distance_m).min(UNLIMITED);
        // So that an eighth of any drop that slides is at least a unit.
        let margins = distances.map(|distance_m| drop(self.margin, distance_m).max(8));
        let Some(left) = &self.left else {
            let rows = vec![distances.map(|distance_m| vec![drop(self.repose, distance_m); grid.width()])];
            return Ok(StableDrops { rows, margins, nearest: vec![0; grid.height()] });
        };
        let reference = left.grid();
        // The samples of the reference grid next to a distance between two samples.
        let reach = |of: usize, count: usize| (of - 1).div_ceil(count - 1);
        let left = highest_around(
            left.copied(progress)?,
            [reach(reference.width(), grid.width()), reach(reference.height(), grid.height())],
            progress,
        )?;
        let columns: Vec<usize> = (0..grid.width()).map(|c| nearest(c, reference.width(), grid.width())).collect();
        let row = |r: usize| {
            let slopes = left.row(r);
            progress.check()?;
            Ok(distances.map(|distance_m| {
                columns.iter().map(|&c| drop(f64::from(slopes[c]).max(self.repose), distance_m)).collect()
            }))
        };
        let rows = (0..reference.height()).map(row).collect::<Result<_, _>>()?;
        let nearest = (0..grid.height()).map(|r| nearest(r, reference.height(), grid.height())).collect();
        Ok(StableDrops { rows, margins, nearest })
    }
}

/// The tangent of the steepest slope to one of the eight neighbours of each sample.
fn steepest_slopes(terrain: &Heightfield) -> Heightfield {
    let grid = terrain.grid();
    let [along_m, across_m, diagonal_m] = distances_m(grid).map(ToFloat::to_f32);
    Heightfield::from_fn(grid, |c, r| {
        let mut steepest: f32 = 0.0;
        for r2 in r.saturating_sub(1)..=(r + 1).min(grid.height() - 1) {
            for c2 in c.saturating_sub(1)..=(c + 1).min(grid.width() - 1) {
                let distance_m = match (c2 == c, r2 == r) {
                    (false, false) => diagonal_m,
                    (true, _) => across_m,
                    _ => along_m,
                };
                steepest = steepest.max((terrain[(c, r)] - terrain[(c2, r2)]).abs() / distance_m);
            }
        }
        steepest
    })
}

/// The highest value within a number of columns and rows of each sample.
fn highest_around(
    mut map: Heightfield,
    [columns, rows]: [usize; 2],
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let (grid, width) = (map.grid(), map.grid().width());
    let mut in_row = map.copied(progress)?;
    in_row.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8).try_for_each(|(r, row)| {
        for reach in 1..=columns.min(width - 1) {
            raise(&mut row[..width - reach], &map.row(r)[reach..]);
            raise(&mut row[reach..], &map.row(r)[..width - reach]);
        }
        progress.check()
    })?;
    map.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8).try_for_each(|(r, row)| {
        for near in r.saturating_sub(rows)..(r + rows + 1).min(grid.height()) {
            raise(row, in_row.row(near));
        }
        progress.check()
    })?;
    Ok(map)
}

/// Raises values to those of another row where these are higher.
fn raise(row: &mut [f32], other: &[f32]) {
    row.iter_mut().zip(other).for_each(|(value, other)| *value = value.max(*other));
}

/// The drops that stand between the samples of a grid: to the next sample in the row, in the column, and diagonally.
struct StableDrops {
    /// The drops from each column, for some rows.
    rows: Vec<[Vec<i32>; 3]>,
    /// For each row of the grid, its index in `rows`.
    nearest: Vec<usize>,
    /// How far a drop may exceed them.
    margins: [i32; 3],
}

/// Terrain on one grid.
struct Slopes {
    grid: Grid,
    unit: Unit,
    /// In units, row by row.
    heights: Vec<i32>,
}

impl Slopes {
    fn for_each_row(
        &mut self,
        below: &Heightfield,
        progress: &Progress,
        work: impl Fn(&mut [i32], &[f32]) + Sync,
    ) -> Result<(), Cancelled> {
        let rows = self.heights.par_chunks_exact_mut(self.grid.width());
        rows.enumerate().with_min_len(8).try_for_each(|(r, heights)| {
            simd(
                #[inline(always)]
                || work(heights, below.row(r)),
            );
            progress.check()
        })
    }

    /// The heights in metres. Where nothing moved, they are exactly those of the terrain `before`.
    fn into_terrain(mut self, before: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let unit = self.unit;
        // Reuses the memory, because the page faults of a new map would take longer than the conversion.
        self.for_each_row(before, progress, |heights, before| {
            for (height, &before) in heights.iter_mut().zip(before) {
                let moved = *height - unit.count(f64::from(before));
                *height = unit.plus(before, moved).to_bits().cast_signed();
            }
        })?;
        let grid = before.grid();
        // There are as many heights as samples.
        Ok(Heightfield::from_heights(grid, bytemuck::cast_vec(self.heights)).unwrap_or_else(|| Heightfield::flat(grid)))
    }

    /// Lets rock slide until no drop exceeds the limits by more than the margin.
    ///
    /// This ends: a move of `m` units over a drop of `d` > `m` lowers the sum of the squared heights, which are
    /// integers, by 2·m·(d − m). The order of the moves does not depend on the number of threads.
    fn settle(&mut self, limits: &StableDrops, progress: &Progress) -> Result<(), Cancelled> {
        let blocks = self.grid.width().div_ceil(BLOCK);
        let mut slid = vec![SLID_ALL; self.grid.height() * blocks];
        let mut after = slid.clone();
        let mut turns = 0_u32;
        while has_any(&slid) {
            self.settle_bands(turns, &slid, &mut after, limits, progress)?;
            std::mem::swap(&mut slid, &mut after);
            turns += 1;
            progress.report(1.0 - 1.0 / (1.0 + turns.to_f32()));
        }
        Ok(())
    }

    /// Lets rock slide between neighbours within bands of rows, whose borders depend on the turn.
    fn settle_bands(
        &mut self,
        turn: u32,
        before: &[u8],
        after: &mut [u8],
        limits: &StableDrops,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let (width, height) = (self.grid.width(), self.grid.height());
        let blocks = width.div_ceil(BLOCK);
        let first = if turn.is_multiple_of(2) { BAND } else { BAND / 2 }.min(height);
        let (first_heights, heights) = self.heights.split_at_mut(first * width);
        let (first_after, after) = after.split_at_mut(first * blocks);
        let bands = heights.par_chunks_mut(BAND * width).zip(after.par_chunks_mut(BAND * blocks)).enumerate();
        let bands = bands.map(|(i, (heights, slid))| (first + i * BAND, heights, slid));
        rayon::iter::once((0, first_heights, first_after)).chain(bands).try_for_each(|(start, heights, slid)| {
            let rows = heights.len() / width;
            let mut around = vec![0; (rows + 2) * blocks];
            let [from, to] = [start.saturating_sub(1), (start + rows + 1).min(height)].map(|row| row * blocks);
            let skipped = if start == 0 { blocks } else { 0 };
            around[skipped..][..to - from].copy_from_slice(&before[from..to]);
            Band { start, is_last: start + rows == height, heights, slid }.settle(&mut around, limits, progress)
        })
    }
}

/// Some rows of the terrain.
struct Band<'a> {
    /// The first row.
    start: usize,
    /// Whether they are the last rows of the terrain.
    is_last: bool,
    heights: &'a mut [i32],
    /// What slid in the blocks of its rows, or may have.
    slid: &'a mut [u8],
}

impl Band<'_> {
    /// Sweeps the rows down and up in turn, up to [`SWEEPS`] times. `around` is what slid before in the blocks of its rows
    /// and of one row on either side.
    fn settle(mut self, around: &mut [u8], limits: &StableDrops, progress: &Progress) -> Result<(), Cancelled> {
        let blocks = (around.len() - self.slid.len()) / 2;
        let rows = self.slid.len() / blocks;
        let mut near = vec![0; blocks];
        // What the bands beside this one have not seen: what slid in the first row in any sweep, and the blocks of the last
        // row that would have slid to the next one.
        let (mut first, mut last) = (vec![0; blocks], vec![0; blocks]);
        for sweep in 0..SWEEPS {
            // The last of hundreds of sweeps move something in few bands.
            if !has_any(around) {
                self.slid.fill(0);
                break;
            }
            let is_down = sweep.is_multiple_of(2);
            for i in 0..rows {
                let r = if is_down { i } else { rows - 1 - i };
                let done = if is_down { r.checked_sub(1) } else { (r + 1 < rows).then_some(r + 1) };
                self.slide_row(r, done, around, &mut near, limits, &mut last);
                progress.check()?;
            }
            first.iter_mut().zip(&*self.slid).for_each(|(any, slid)| *any |= slid);
            around[..blocks].fill(0);
            around[blocks..][..self.slid.len()].copy_from_slice(self.slid);
            around[(rows + 1) * blocks..].fill(0);
        }
        self.slid[..blocks].iter_mut().zip(first).for_each(|(slid, any)| *slid |= any);
        self.slid[(rows - 1) * blocks..].iter_mut().zip(last).for_each(|(slid, any)| *slid |= any);
        Ok(())
    }

    /// Lets rock slide within row `r` of the band and to the next row, where some slid near it before, or in this
    /// sweep in the adjacent row `done`. Where the next row is in another band, `cut` are the blocks that it must see; in the
    /// next turn, both rows are in the same band.
    fn slide_row(
        &mut self,
        r: usize,
        done: Option<usize>,
        around: &[u8],
        near: &mut [u8],
        limits: &StableDrops,
        cut: &mut [u8],
    ) {
        let blocks = near.len();
        let rows = self.slid.len() / blocks;
        let width = self.heights.len() / rows;
        let row = self.start + r;
        near.fill(0);
        let rows_before = around[r * blocks..(r + 3) * blocks].chunks_exact(blocks);
        let done = done.and_then(|done| self.slid.get(done * blocks..(done + 1) * blocks));
        for slid in rows_before.chain(done) {
            near.iter_mut().zip(slid).for_each(|(near, slid)| *near |= slid);
        }
        let slid = &mut self.slid[r * blocks..(r + 1) * blocks];
        slid.fill(0);
        if near.iter().all(|near| *near == 0) {
            return;
        }
        let next = (r + 2).min(rows) * width;
        let (upper, lower) = self.heights[r * width..next].split_at_mut(width);
        let is_cut = lower.is_empty() && !self.is_last;
        let limits_of_row = &limits.rows[limits.nearest[row]];
        for b in 0..blocks {
            let is_active = near[b] != 0
                || b > 0 && (near[b - 1] | slid[b - 1]) & SLID_EAST != 0
                || near.get(b + 1).is_some_and(|near| near & SLID_WEST != 0);
            if is_active {
                slid[b] = simd(
                    #[inline(always)]
                    || slide_in_block(b * BLOCK, [upper, lower], limits_of_row, limits.margins),
                );
                if is_cut {
                    cut[b] = SLID_ALL;
                }
            }
        }
    }
}

/// Whether something slid in any of some blocks.
fn has_any(slid: &[u8]) -> bool {
    // Without an early exit, so that it is vectorized.
    slid.iter().fold(0, |any, slid| any | slid) != 0
}

/// Scales down either what is cut or what is filled, so that both are equal.
fn balance(changes: &mut [i32], width: usize, progress: &Progress) -> Result<(), Cancelled> {
    let sums_of_row = |row: &[i32]| {
        progress.check()?;
        let (mut cut, mut fill) = (0, 0);
        for &change in row {
            cut -= i64::from(change.min(0));
            fill += i64::from(change.max(0));
        }
        Ok([cut, fill])
    };
    let rows = changes.par_chunks_exact(width).with_min_len(8);
    let sums: Vec<[i64; 2]> = rows.map(sums_of_row).collect::<Result<_, _>>()?;
    let [cut, fill] = sums.iter().fold([0, 0], |[cut, fill], sums| [cut + sums[0], fill + sums[1]]);
    if cut == fill {
        return Ok(());
    }
    let (sign, larger, smaller) = if fill > cut { (1, fill, cut) } else { (-1, cut, fill) };
    let ratio = smaller.to_f64() / larger.to_f64();
    // The sum of the scaled changes up to one at which the sum of the changes is `sum`. The scaled changes are the
    // differences, so their total is exact.
    let scaled = |sum: i64| if sum == larger { smaller } else { (sum.to_f64() * ratio).to_i64().min(smaller) };
    let side = usize::from(sign > 0);
    let starts: Vec<i64> = sums
        .iter()
        .scan(0, |sum, row| {
            let start = *sum;
            *sum += row[side];
            Some(start)
        })
        .collect();
    changes.par_chunks_exact_mut(width).zip(starts).with_min_len(8).try_for_each(|(row, start)| {
        let (mut sum, mut scaled_sum) = (start, scaled(start));
        for change in row.iter_mut().filter(|change| change.signum() == sign) {
            sum += i64::from(change.abs());
            let next = scaled(sum);
            *change = sign * (next - scaled_sum).to_i32();
            scaled_sum = next;
        }
        progress.check()
    })
}

/// Lets rock slide between the samples of a block and their neighbours in the next column and row. Returns what
/// slid. `lower` may be empty.
#[inline(always)]
fn slide_in_block(
    start: usize,
    [upper, lower]: [&mut [i32]; 2],
    limits: &[Vec<i32>; 3],
    [along, across, diagonal]: [i32; 3],
) -> u8 {
    let end = (start + BLOCK).min(upper.len());
    // Columns that have a neighbour to the east.
    let columns = start..end.min(upper.len() - 1);
    let east = columns.start + 1..columns.end + 1;
    // In most blocks nothing slides. Checking without writing costs half as much.
    let is_at_rest = is_stable(&upper[columns.clone()], &upper[east.clone()], &limits[0][columns.clone()], along)
        && (lower.is_empty()
            || is_stable(&upper[start..end], &lower[start..end], &limits[1][start..end], across)
                && is_stable(&upper[columns.clone()], &lower[east.clone()], &limits[2][columns.clone()], diagonal)
                && is_stable(&upper[east.clone()], &lower[columns.clone()], &limits[2][columns.clone()], diagonal));
    if is_at_rest {
        return 0;
    }
    // The first column, which the block to the west reads, and the one after the last, which the block to the east reads.
    let at_edges = |upper: &[i32], lower: &[i32]| {
        [start, end].map(|c| [upper, lower].map(|row| row.get(c).copied().unwrap_or_default()))
    };
    let before = at_edges(upper, lower);
    slide_along(&mut upper[columns.start..east.end], &limits[0][columns.start..east.end], along);
    slide_along(&mut upper[east.clone()], &limits[0][east.clone()], along);
    if !lower.is_empty() {
        slide(&mut upper[start..end], &mut lower[start..end], &limits[1][start..end], across);
        let limits = &limits[2][columns.clone()];
        slide(&mut upper[columns.clone()], &mut lower[east.clone()], limits, diagonal);
        slide(&mut upper[east], &mut lower[columns], limits, diagonal);
    }
    let [west, east] = at_edges(upper, lower);
    let west = if west == before[0] { 0 } else { SLID_WEST };
    let east = if east == before[1] { 0 } else { SLID_EAST };
    SLID | west | east
}

/// How much rock moves from a sample to one that is `drop` lower (negative: from the lower sample).
///
/// All of the excess moves, not half of it, so that scree stops after fewer sweeps: the slope is gentler than its limit
/// afterwards, and takes up what comes from above. At most seven eighths of the drop move, so that low limits settle too.
#[inline(always)]
fn moved(drop: i32, limit: i32, margin: i32) -> i32 {
    let drop_size = drop.abs();
    let excess = drop_size - limit;
    let moved = if excess > margin { excess.min(drop_size - (drop_size >> 3)) } else { 0 };
    if drop < 0 { -moved } else { moved }
}

/// Whether no drop between the samples of two rows exceeds its limit by more than the margin.
#[inline(always)]
fn is_stable(a: &[i32], b: &[i32], limits: &[i32], margin: i32) -> bool {
    let pairs = a.iter().zip(b).zip(limits);
    !pairs.fold(false, |exceeds, ((a, b), limit)| exceeds | ((a - b).abs() - limit > margin))
}

/// Lets rock slide between the samples of two rows.
#[inline(always)]
fn slide(a: &mut [i32], b: &mut [i32], limits: &[i32], margin: i32) {
    for ((a, b), &limit) in a.iter_mut().zip(b).zip(limits) {
        let moved = moved(*a - *b, limit, margin);
        *a -= moved;
        *b += moved;
    }
}

/// Lets rock slide between the first sample of a row and the second, the third and the fourth, and so on.
#[inline(always)]
fn slide_along(row: &mut [i32], limits: &[i32], margin: i32) {
    for ([west, east], [limit, _]) in row.as_chunks_mut::<2>().0.iter_mut().zip(limits.as_chunks::<2>().0) {
        let moved = moved(*west - *east, *limit, margin);
        *west -= moved;
        *east += moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, width, height)
    }

    #[test]
    fn grids_double_until_they_are_nearly_as_fine_as_the_last() {
        let sides = |to: Grid| {
            let grids = finer_grids(grid(257, 129), to);
            grids.iter().map(|grid| [grid.width(), grid.height()]).collect::<Vec<_>>()
        };
        assert_eq!(sides(grid(65, 33)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(513, 257)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(600, 300)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(1000, 500)), [[513, 257]]);
        assert_eq!(sides(grid(2049, 1025)), [[513, 257], [1025, 513]]);
    }

    #[test]
    fn cut_and_fill_are_made_equal_without_touching_the_rest() {
        // A fill of 15 becomes 5: the sums up to each change, 1, 7 and 15, become ⌊1/3⌋, ⌊7/3⌋ and 5.
        let mut changes = [1, 0, -5, 6, 0, 8];
        balance(&mut changes, 2, &Progress::new()).expect("not cancelled");
        assert_eq!(changes, [0, 0, -5, 2, 0, 3]);
        let mut alone = [0, -7, 0, 0];
        balance(&mut alone, 2, &Progress::new()).expect("not cancelled");
        assert_eq!(alone, [0; 4]);
    }

    #[test]
    fn the_excess_moves_down_but_not_all_of_a_drop() {
        assert_eq!(moved(100, 20, 10), 80);
        assert_eq!(moved(-100, 20, 10), -80);
        assert_eq!(moved(100, 0, 10), 88);
        assert_eq!(moved(9, 0, 8), 8);
        assert_eq!([moved(30, 20, 10), moved(-30, 20, 10), moved(0, 20, 10)], [0; 3]);
    }

    #[test]
    fn the_highest_values_around_samples_match_those_listed_one_by_one() {
        let map = Heightfield::from_fn(grid(7, 5), |c, r| ((11 * c + 17 * r) % 23) as f32 - 11.0);
        for reach in [[0, 0], [1, 1], [2, 1], [9, 0], [0, 9]] {
            let found = highest_around(map.clone(), reach, &Progress::new()).expect("not cancelled");
            for (c, r) in (0..5).flat_map(|r| (0..7).map(move |c| (c, r))) {
                let is_near = |[c2, r2]: [usize; 2]| c2.abs_diff(c) <= reach[0] && r2.abs_diff(r) <= reach[1];
                let near = (0..5).flat_map(|r| (0..7).map(move |c| [c, r])).filter(|place| is_near(*place));
                let expected = near.map(|[c, r]| map[(c, r)]).fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(found[(c, r)], expected, "{reach:?} around {c}, {r}");
            }
        }
    }

    #[test]
    fn blocks_at_rest_are_recognized_whatever_their_width() {
        let mut seed = 1_u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for width in [2, 63, 64, 65, 66] {
            for has_lower in [false, true] {
                let limits = [(); 3].map(|()| vec![100; width]);
                for steep in [None, Some(0), Some(width - 1)] {
                    let mut row = |is_steep: bool| -> Vec<i32> {
                        let high = |c: usize| if is_steep && steep == Some(c) { 500 } else { 0 };
                        (0..width).map(|c| random(90).cast_signed() + high(c)).collect()
                    };
                    let (mut upper, mut lower) = (row(true), if has_lower { row(false) } else { Vec::new() });
                    let before = (upper.clone(), lower.clone());
                    let slid: Vec<u8> = (0..width.div_ceil(BLOCK))
                        .map(|b| slide_in_block(b * BLOCK, [&mut upper, &mut lower], &limits, [8; 3]))
                        .collect();
                    assert_eq!(slid.iter().any(|slid| *slid != 0), steep.is_some(), "{width}, {steep:?}");
                    assert_eq!((upper, lower) != before, steep.is_some(), "{width}, {steep:?}");
                }
            }
        }
    }
}
