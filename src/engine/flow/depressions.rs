//! Removes depressions: rivers cut down their outlets and fill their floors with sediment.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::basins::OUTSIDE;
use super::drainage::Drainage;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// The smallest fall along the flow on the reference mesh, metres per metre: that of gentle alluvial plains.
pub(crate) const PLAIN_SLOPE: f32 = 2e-3;
/// The smallest fall on finer meshes and grids, where floors are nearly level because the lengths of flow paths depend on the
/// resolution.
pub(super) const FLOOR_SLOPE: f32 = 1e-5;
/// How much more a cubic metre of fill counts than one of cut. High, because many depressions are channels narrower than
/// the spacing, which should be cut open.
const FILL_WEIGHT: f32 = 3.0;
/// A cut that moves this many times as much as the fill is not considered any further.
const MAX_RATIO: f32 = 32.0;
/// A longer cut is tried if it ends lower by at least this share of what the last one leaves above the pit.
const MIN_DIFFERENCE: f32 = 0.125;
/// Cuts shallower than this are not widened, in spacings: too shallow to be seen in hillshades.
const MIN_CUT_DEPTH: f32 = 0.02;
/// Samples are raised one by one in at most as many visits as the map has samples, divided by this.
const MAX_FEW_DIVISOR: usize = 8;

/// The terrain while outlets are cut.
struct CutTerrain {
    /// The padded heights, with the cuts.
    heights: Vec<f32>,
    /// The levels to which the basins are filled, metres.
    levels_m: Vec<f32>,
    /// The basin that each drains to.
    below: Vec<u32>,
}

/// A basin whose outlet is cut.
struct Lake {
    basin: u32,
    pit: usize,
    /// The height of the pit, metres.
    bottom_m: f32,
    /// The depth of the whole lake, metres.
    depth_m: f32,
    /// The fill of the whole lake, times its weight.
    weighted_fill_m: f32,
}

/// A cut from a pit over the pass of its basin.
struct Cut {
    /// The level to which the basin is filled, and to which the cut is made, metres.
    level_m: f32,
    /// The number of samples of the path.
    samples: usize,
}

/// Why a path ends.
#[derive(PartialEq)]
enum PathEnd {
    /// The terrain is low enough.
    Low,
    /// The outlet keeps its height, metres.
    Outlet(f32),
    /// The cut moves too much.
    TooLong,
}

impl Lake {
    /// The level that a cut leaves, which ends at `lowest_m`, given the depths at its samples.
    fn level_m(&self, lowest_m: f32, cut_depths_m: impl Iterator<Item = f32>) -> f32 {
        let (mut cut_m, mut deepest_m) = (0.0, 0.0_f32);
        for depth_m in cut_depths_m {
            cut_m += depth_m;
            deepest_m = deepest_m.max(depth_m);
        }
        // The volume of a V-shaped valley grows with the square of its depth.
        let share = |level_m: f32| if self.depth_m > 0.0 { (level_m - self.bottom_m) / self.depth_m } else { 0.0 };
        let [upper, lower] = [share(lowest_m + deepest_m), share(lowest_m)];
        let fill_m = self.weighted_fill_m * (upper * upper - lower * lower).max(0.0);
        lowest_m + filled_share(cut_m, fill_m) * deepest_m
    }
}

impl Drainage {
    /// Cuts outlets and raises floors until every sample outside the sea is higher than its receiver, by at least
    /// `floor_slope`, metres per metre. `terrain` must be the one that was routed.
    ///
    /// Depressions are partly filled and partly cut open (J. B. Lindsay, "Efficient hybrid breaching-filling sink removal
    /// methods for flow path enforcement in digital elevation models", Hydrological Processes 30, 2016). The weighting is
    /// our own: the share of the depth that is filled is c²/(c² + f²), where c is the volume of the cut and f that of the
    /// fill, times the weight. Wide basins are thus cut open, and deep holes far from lower terrain are filled. A basin
    /// upstream is filled at least to the level of the one that it drains to, so that fill counts there too; and a cut can
    /// go on through shallower basins beyond the pass. Otherwise the result would depend on the number of basins in a lake
    /// and on its rim, and so on the resolution. Cuts are one sample wide, so on finer grids they are preferred a little
    /// more.
    pub(crate) fn remove_depressions(
        &self,
        terrain: &mut Heightfield,
        floor_slope: f32,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let mut heights = self.with_cut_outlets(progress)?;
        let max_visits = heights.len() / MAX_FEW_DIVISOR;
        if self.raise_few(&mut heights, floor_slope, max_visits, progress)? {
            self.copy_inside(terrain, |sample| heights[sample], progress)
        } else {
            self.raise_all(&heights, floor_slope, terrain, progress)
        }
    }

    /// Lowers the samples beside cuts, which are trenches one sample wide otherwise, and rows of dots where they run
    /// diagonally. `terrain` is the one that was routed, with its depressions removed. No sample becomes lower than the
    /// lowest cut beside it, or falls by less than `floor_slope` towards its receiver, so no depression arises. The border
    /// stays.
    pub(crate) fn widen_cuts(
        &self,
        terrain: &mut Heightfield,
        floor_slope: f32,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let grid = terrain.grid();
        let (width, height) = (grid.width(), grid.height());
        let min_depth_m = MIN_CUT_DEPTH * grid.spacing_x_m().to_f32();
        let cut_m = |c: usize, r: usize| {
            let depth_m = self.height_m(self.padded(c, r)) - terrain[(c, r)];
            if depth_m > min_depth_m { depth_m } else { 0.0 }
        };
        let cut_columns = |r: usize| {
            let columns = (0..width).filter(|c| cut_m(*c, r) > 0.0).map(ToInteger::to_u32).collect();
            progress.check().map(|()| columns)
        };
        let cuts: Vec<Vec<u32>> =
            (0..height).into_par_iter().with_min_len(8).map(cut_columns).collect::<Result<_, Cancelled>>()?;
        let lowered_in_row = |r: usize| {
            let mut columns: Vec<u32> =
                cuts[r - 1..=r + 1].iter().flatten().flat_map(|c| c.saturating_sub(1)..c + 2).collect();
            columns.sort_unstable();
            columns.dedup();
            let is_beside = |c: &u32| (1..width - 1).contains(&(*c as usize)) && cut_m(*c as usize, r) == 0.0;
            columns.retain(is_beside);
            let height_m = |c: u32| {
                let (place, sample) = ([c as usize, r], self.padded(c as usize, r));
                let floor_m = self.floor_m(sample, floor_slope, |sample| terrain.heights()[self.row_major(sample)]);
                (c, self.beside_cuts_m(place, terrain, cut_m).max(floor_m.min(terrain[(c as usize, r)])))
            };
            let lowered = columns.into_iter().map(height_m).collect();
            progress.check().map(|()| lowered)
        };
        let rows = (1..height.max(2) - 1).into_par_iter().with_min_len(8);
        let lowered: Vec<Vec<(u32, f32)>> = rows.map(lowered_in_row).collect::<Result<_, Cancelled>>()?;
        for (row, lowered) in terrain.rows_mut().skip(1).zip(lowered) {
            lowered.into_iter().for_each(|(c, height_m)| row[c as usize] = height_m);
        }
        Ok(())
    }

    /// The height of a sample beside cuts, given the depths of these.
    fn beside_cuts_m(&self, [c, r]: [usize; 2], terrain: &Heightfield, cut_m: impl Fn(usize, usize) -> f32) -> f32 {
        /// The weights of samples beside and at the corners: beside a straight cut, they add up to 60 %.
        const WEIGHTS: [f32; 2] = [0.3, 0.15];
        /// The share of its height above the lowest cut beside it that a sample keeps at least, so that cuts keep banks.
        const MIN_REST: f32 = 0.25;
        let own_m = terrain[(c, r)];
        let (mut fall_m, mut lowest_m) = (0.0, f32::INFINITY);
        for (row, column) in (r - 1..=r + 1).flat_map(|row| (c - 1..=c + 1).map(move |column| (row, column))) {
            let depth_m = cut_m(column, row);
            if depth_m > 0.0 {
                fall_m += WEIGHTS[usize::from(row != r && column != c)] * depth_m;
                lowest_m = lowest_m.min(terrain[(column, row)]);
            }
        }
        let lowest_m = lowest_m.max(self.sea_m());
        if own_m > lowest_m { (own_m - fall_m).max(lowest_m + MIN_REST * (own_m - lowest_m)) } else { own_m }
    }

    /// Sets the heights to those of the samples, raised to their floors, receivers first.
    fn raise_all(
        &self,
        heights: &[f32],
        floor_slope: f32,
        terrain: &mut Heightfield,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let raised: Vec<AtomicU32> = bytemuck::zeroed_vec(self.padded_samples());
        let raised_m = |sample: usize| f32::from_bits(raised[sample].load(Relaxed));
        let raise = |sample: usize| {
            let height_m = heights[sample].max(self.floor_m(sample, floor_slope, raised_m));
            raised[sample].store(height_m.to_bits(), Relaxed);
        };
        self.visit_upstream(raise, progress)?;
        self.copy_inside(terrain, raised_m, progress)
    }

    /// The lowest height of a sample above that of its receiver, metres; −∞ where flow ends.
    #[inline(always)]
    fn floor_m(&self, sample: usize, floor_slope: f32, height_m: impl Fn(usize) -> f32) -> f32 {
        self.receiver(sample).map_or(f32::NEG_INFINITY, |(direction, receiver)| {
            height_m(receiver) + floor_slope / self.reciprocal_length(sample, direction)
        })
    }

    /// Raises the samples that are lower than their floors, and those upstream that are lower than theirs then, as
    /// [`Self::raise_all`] would. Gives up and returns false after `max_visits`, when it is faster to visit all.
    ///
    /// A sample is visited again when its receiver is raised again, so the heights do not depend on the order.
    fn raise_few(
        &self,
        heights: &mut [f32],
        floor_slope: f32,
        max_visits: usize,
        progress: &Progress,
    ) -> Result<bool, Cancelled> {
        let floor_m = |sample: usize, heights: &[f32]| self.floor_m(sample, floor_slope, |sample| heights[sample]);
        let is_low = |sample: usize, heights: &[f32]| heights[sample] < floor_m(sample, heights);
        let low_in_row = |samples: Range<usize>| {
            let low = samples.filter(|sample| is_low(*sample, heights)).map(ToInteger::to_u32).collect();
            progress.check().map(|()| low)
        };
        let low: Vec<Vec<u32>> = self.inside().with_min_len(8).map(low_in_row).collect::<Result<_, Cancelled>>()?;
        if low.iter().map(Vec::len).sum::<usize>() > max_visits {
            return Ok(false);
        }
        let (mut pending, mut visits) = (Vec::new(), 0_usize);
        for mut lowest in low.iter().flatten().map(|sample| *sample as usize) {
            // Begins as far downstream as samples are too low, which visits most of them only once.
            while is_low(lowest, heights) {
                pending.push(lowest);
                let Some((_, receiver)) = self.receiver(lowest) else { break };
                lowest = receiver;
            }
            while let Some(sample) = pending.pop() {
                let floor_m = floor_m(sample, heights);
                if heights[sample] < floor_m {
                    heights[sample] = floor_m;
                    pending.extend(self.donors(sample));
                }
                visits += 1;
                if visits.is_multiple_of(1 << 12) {
                    progress.check()?;
                }
                if visits > max_visits {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The padded heights, with the outlets of all depressions cut down to the levels to which these are filled.
    fn with_cut_outlets(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let fills_m = self.fills_m(progress)?;
        let count = self.basins.count();
        // Nothing is filled below the sea.
        let (levels_m, below) = (vec![self.sea_m(); count], vec![OUTSIDE; count]);
        let mut terrain = CutTerrain { heights: self.padded_heights(progress)?, levels_m, below };
        for &[basin, below] in self.basins.downstream_first() {
            terrain.below[basin as usize] = below;
        }
        let mut path = Vec::new();
        // The level of the basin below each after its outlet was cut. Later cuts through that basin can lower it; then the
        // outlet is cut again.
        let mut seen_m = vec![f32::INFINITY; count];
        for _ in 0..2 {
            for &[basin, below] in self.basins.downstream_first() {
                progress.check()?;
                let own = basin as usize;
                if terrain.levels_m[below as usize] >= seen_m[own] {
                    continue;
                }
                let is_first = seen_m[own] == f32::INFINITY;
                let pit = self.pits[own - 1] as usize;
                let bottom_m = self.height_m(pit);
                let depth_m = self.basins.level_m(pit) - bottom_m;
                let weighted_fill_m = FILL_WEIGHT * fills_m[own];
                let lake = Lake { basin, pit, bottom_m, depth_m, weighted_fill_m };
                let cut = self.best_cut(&lake, &terrain, &mut path);
                if is_first || cut.level_m < terrain.levels_m[own] {
                    self.make_cut(basin, cut.level_m, &path[..cut.samples], &mut terrain);
                }
                seen_m[own] = terrain.levels_m[below as usize];
            }
        }
        Ok(terrain.heights)
    }

    /// Cuts a path down to a level, which drains its basin and those that it crosses.
    fn make_cut(&self, basin: u32, level_m: f32, path: &[usize], terrain: &mut CutTerrain) {
        terrain.levels_m[basin as usize] = level_m;
        let mut last = basin;
        for &at in path {
            let crossed = self.basins.basin(at);
            if crossed != last && crossed != OUTSIDE {
                // What is between its pit and the path still dams a crossed basin.
                let mut dam_m = level_m;
                let mut from = self.pits[crossed as usize - 1] as usize;
                while from != at && self.basins.basin(from) == crossed {
                    dam_m = dam_m.max(terrain.heights[from]);
                    let Some((_, receiver)) = self.receiver(from) else { break };
                    from = receiver;
                }
                let crossed_m = &mut terrain.levels_m[crossed as usize];
                *crossed_m = crossed_m.min(dam_m);
            }
            last = crossed;
            terrain.heights[at] = terrain.heights[at].min(level_m);
        }
    }

    /// The cut that leaves the lowest level in a basin: it ends in the next basin downstream or, through this and
    /// others, in one with a lower level. `path` becomes the samples to cut, and perhaps some more downstream of them.
    fn best_cut(&self, lake: &Lake, terrain: &CutTerrain, path: &mut Vec<usize>) -> Cut {
        let mut best = Cut { level_m: f32::INFINITY, samples: 0 };
        let mut end = terrain.below[lake.basin as usize];
        path.clear();
        loop {
            let mut lowest_m = lake.bottom_m.max(terrain.levels_m[end as usize]);
            let path_end = self.extend_path(lake, lowest_m, terrain, path);
            match path_end {
                PathEnd::TooLong if best.level_m < f32::INFINITY => return best,
                PathEnd::Outlet(outlet_m) => lowest_m = lowest_m.max(outlet_m),
                _ => {}
            }
            let level_m = lake.level_m(lowest_m, path.iter().map(|at| (terrain.heights[*at] - lowest_m).max(0.0)));
            if level_m < best.level_m {
                best = Cut { level_m, samples: path.len() };
            }
            if end == OUTSIDE || lowest_m <= lake.bottom_m || path_end != PathEnd::Low {
                return best;
            }
            let lower_m = lowest_m - MIN_DIFFERENCE * (lowest_m - lake.bottom_m);
            loop {
                // A deeper basin has a larger fill, and has been cut open as far as is worth it.
                if self.height_m(self.pits[end as usize - 1] as usize) <= lake.bottom_m {
                    return best;
                }
                end = terrain.below[end as usize];
                if end == OUTSIDE || terrain.levels_m[end as usize] <= lower_m {
                    break;
                }
            }
        }
    }

    /// Extends a path along the flow, over the pass, until the terrain beyond is as low as `lowest_m`. It begins at the pit.
    fn extend_path(&self, lake: &Lake, lowest_m: f32, terrain: &CutTerrain, path: &mut Vec<usize>) -> PathEnd {
        let depth_m = |at: usize| (terrain.heights[at] - lowest_m).max(0.0);
        let mut cut_m = path.iter().map(|at| depth_m(*at)).sum::<f32>();
        let mut last = path.last().copied().unwrap_or(lake.pit);
        while let Some((_, at)) = self.receiver(last) {
            let own = self.basins.basin(at);
            if own != lake.basin {
                if terrain.heights[at].max(terrain.levels_m[own as usize]) <= lowest_m {
                    return PathEnd::Low;
                }
                if cut_m > MAX_RATIO * lake.weighted_fill_m {
                    return PathEnd::TooLong;
                }
            }
            if self.receiver(at).is_none() && !self.has_falling_outlets() {
                return PathEnd::Outlet(terrain.heights[at]);
            }
            cut_m += depth_m(at);
            path.push(at);
            last = at;
        }
        PathEnd::Low
    }

    /// The sum of the depths of all samples of the lake in each basin, and of those in the basins upstream that are between
    /// its pit and its level, metres.
    fn fills_m(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let mut fills_m = self.lake_depths_m(progress)?;
        let bottom_and_level_m = |basin: u32| {
            let pit = self.pits[basin as usize - 1] as usize;
            [self.height_m(pit), self.basins.level_m(pit)]
        };
        for &[basin, below] in self.basins.downstream_first().iter().rev().filter(|[_, below]| *below != OUTSIDE) {
            let [bottom_m, level_m] = bottom_and_level_m(basin);
            let heights_m = bottom_and_level_m(below);
            if heights_m[1] > bottom_m {
                let [lower, upper] = heights_m.map(|height_m| ((height_m - bottom_m) / (level_m - bottom_m)).max(0.0));
                fills_m[below as usize] += (upper * upper - lower * lower) * fills_m[basin as usize];
            }
        }
        Ok(fills_m)
    }

    /// The sum of the depths of all samples of the lake in each basin, metres.
    fn lake_depths_m(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        /// Depths are added as integers, so the order of threads does not matter: in units of 2⁻¹⁶ m.
        const PER_M: f32 = 65_536.0;
        let sums: Vec<AtomicU64> = (0..self.basins.count()).map(|_| AtomicU64::new(0)).collect();
        if !sums.is_empty() {
            self.inside().with_min_len(16).try_for_each(|samples| {
                // Neighbours are mostly in the same basin.
                let (mut basin, mut sum) = (0, 0);
                for sample in samples {
                    let depth_m = self.basins.level_m(sample) - self.height_m(sample);
                    if depth_m > 0.0 {
                        let own = self.basins.basin(sample);
                        if own != basin {
                            sums[basin as usize].fetch_add(std::mem::take(&mut sum), Relaxed);
                            basin = own;
                        }
                        sum += (depth_m * PER_M).to_u64();
                    }
                }
                sums[basin as usize].fetch_add(sum, Relaxed);
                progress.check()
            })?;
        }
        Ok(sums.into_iter().map(|sum| sum.into_inner().to_f32() / PER_M).collect())
    }
}

/// The share of the depth of a depression that is filled, given the sums of the depths of the cut and of the fill.
fn filled_share(cut_m: f32, fill_m: f32) -> f32 {
    let ratio = fill_m / cut_m;
    if cut_m > 0.0 { 1.0 / (1.0 + ratio * ratio) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Mesh;
    use super::super::options::{Outlets, RoutingOptions};
    use super::super::tests::{terrain, terrains};
    use super::*;

    fn drained(mesh: &Mesh, heights: &Heightfield, outlets: Outlets) -> (Heightfield, Drainage) {
        drained_by(RoutingOptions { outlets, sea_m: None }, FLOOR_SLOPE, mesh, heights)
    }

    fn drained_by(
        routing: RoutingOptions,
        floor_slope: f32,
        mesh: &Mesh,
        heights: &Heightfield,
    ) -> (Heightfield, Drainage) {
        let progress = Progress::new();
        let mut drainage = Drainage::new(mesh, routing, &progress).expect("not cancelled");
        let mut heights = heights.copied(&progress).expect("not cancelled");
        drainage.route(&heights, &progress).expect("not cancelled");
        drainage.remove_depressions(&mut heights, floor_slope, &progress).expect("not cancelled");
        (heights, drainage)
    }

    #[test]
    fn wide_floors_are_drained_through_a_cut() {
        // The lake is 4 m deep: from the pit at 1 m to the outlet at 5 m. Filling it takes 12.5 m in all; the cut is 3 m deep
        // at (3, 1) or (3, 3) and 4 m at the outlet.
        let bowl = terrain(&[
            &[9.0, 9.0, 9.0, 9.0, 9.0],
            &[9.0, 4.0, 3.5, 4.0, 9.0],
            &[9.0, 3.5, 1.0, 7.0, 5.0],
            &[9.0, 4.0, 3.5, 4.0, 9.0],
            &[9.0, 9.0, 9.0, 9.0, 9.0],
        ]);
        let level_m = 1.0 + 4.0 * filled_share(7.0, FILL_WEIGHT * 12.5);
        let (heights, _) = drained(&Mesh::regular(bowl.grid()), &bowl, Outlets::Hollows);
        assert!((heights[(4, 2)] - level_m).abs() < 1e-5, "the outlet: {}", heights[(4, 2)]);
        assert!((heights[(2, 2)] - level_m).abs() < 0.01, "the floor: {}", heights[(2, 2)]);
        let on_the_way = [(3, 1), (3, 3)].map(|at| heights[at]);
        assert!(on_the_way.iter().any(|height| (height - level_m).abs() < 0.01), "{on_the_way:?}");
        assert_eq!([heights[(1, 1)], heights[(3, 2)], heights[(0, 0)]], [4.0, 7.0, 9.0], "the rest");
    }

    #[test]
    fn samples_beside_cuts_become_lower_but_no_depressions() {
        let mut lowered = 0;
        for (seed, heights) in (0..).zip(terrains()) {
            let (narrow, drainage) = drained(&Mesh::regular(heights.grid()), &heights, Outlets::Hollows);
            let mut wide = narrow.clone();
            drainage.widen_cuts(&mut wide, FLOOR_SLOPE, &Progress::new()).expect("not cancelled");
            let (width, height) = (heights.grid().width(), heights.grid().height());
            for (c, r) in (1..height - 1).flat_map(|r| (1..width - 1).map(move |c| (c, r))) {
                let around = || (r - 1..=r + 1).flat_map(|r| (c - 1..=c + 1).map(move |c| (c, r)));
                let is_cut =
                    |at: (usize, usize)| heights[at] - narrow[at] > MIN_CUT_DEPTH * heights.grid().spacing_x_m() as f32;
                assert!(wide[(c, r)] <= narrow[(c, r)], "{seed}: {c}, {r}");
                if is_cut((c, r)) || !around().any(is_cut) {
                    assert_eq!(wide[(c, r)], narrow[(c, r)], "{seed}: {c}, {r}");
                }
                lowered += usize::from(wide[(c, r)] < narrow[(c, r)]);
                assert!(around().any(|at| wide[at] < wide[(c, r)]), "{seed}: a depression at {c}, {r}");
            }
        }
        assert!(lowered > 1000, "{lowered}");
        // A cut of about 2 m along row 2.
        let ridge = terrain(&[&[9.0; 5], &[9.0; 5], &[1.0, 5.0, 5.0, 5.0, 0.0], &[9.0; 5], &[9.0; 5]]);
        let (mut heights, drainage) = drained(&Mesh::regular(ridge.grid()), &ridge, Outlets::East);
        let depth_m = 5.0 - heights[(2, 2)];
        drainage.widen_cuts(&mut heights, FLOOR_SLOPE, &Progress::new()).expect("not cancelled");
        assert!(depth_m > 1.5 && (heights[(2, 1)] - (9.0 - 0.6 * depth_m)).abs() < 0.01, "{}", heights[(2, 1)]);
    }

    #[test]
    fn outlets_of_a_fixed_border_keep_their_heights() {
        let bowl = terrain(&[&[9.0, 9.0, 9.0, 9.0], &[9.0, 1.0, 6.0, 5.0], &[9.0, 9.0, 9.0, 9.0]]);
        let (heights, _) = drained(&Mesh::regular(bowl.grid()), &bowl, Outlets::Border);
        assert_eq!(heights[(3, 1)], 5.0);
        // Nothing below the outlet is cut: 1 m of the pass, against a fill of 1.25² − 1 times 4 m.
        assert!(heights[(2, 1)] > 5.0 && heights[(2, 1)] < 5.2 && heights[(1, 1)] >= heights[(2, 1)]);
    }

    #[test]
    fn basins_that_drain_into_basins_are_cut_to_their_levels_or_through_them() {
        // A pit at 1 m, a rim at 6 m, a pit at 2 m, and a rim of some samples at 5 m.
        for (samples, is_through) in [(1, true), (4, false)] {
            let row = [&[9.0, 1.0, 6.0, 2.0], vec![5.0; samples].as_slice(), &[0.0]].concat();
            let walls = vec![9.0; row.len()];
            let terrain = terrain(&[&walls, &row, &walls]);
            let (heights, _) = drained(&Mesh::regular(terrain.grid()), &terrain, Outlets::East);
            let rim = samples as f32;
            // The fill of the second pit, and of the 5 m of the first one what is between 2 m and 5 m.
            let fill_m = 3.0 + 5.0 * (0.8 * 0.8 - 0.2 * 0.2);
            let first_m = 2.0 + 3.0 * filled_share(3.0 * rim, FILL_WEIGHT * fill_m);
            // To the first level: of the fill, the part above it counts.
            let (depth_m, below) = (6.0 - first_m, (first_m - 1.0) / 5.0);
            let fill_m = 5.0 * (1.0 - below * below);
            let to_level_m = first_m + depth_m * filled_share(depth_m, FILL_WEIGHT * fill_m);
            // Through the second pit.
            let through_m = 1.0 + 5.0 * filled_share(5.0 + 1.0 + rim * (first_m - 1.0), FILL_WEIGHT * 5.0);
            assert_eq!(through_m < to_level_m, is_through, "{to_level_m}, {through_m}");
            let first_m = if is_through { first_m.min(through_m) } else { first_m };
            let second_m = to_level_m.min(through_m);
            for (c, level_m) in (1..).zip([second_m, second_m, first_m, first_m]) {
                assert!((heights[(c, 1)] - level_m).abs() < 1e-3, "{samples}, {c}: {}, not {level_m}", heights[(c, 1)]);
            }
        }
    }

    #[test]
    fn ponds_on_the_rim_do_not_keep_a_wide_basin_from_being_cut_open() {
        let level = |rim: [f32; 3]| {
            let valley = terrain(
                &std::array::from_fn::<_, 12, _>(|r| {
                    let mut row = [20.0; 17];
                    if (1..11).contains(&r) {
                        row[1..11].fill(1.0);
                    }
                    if r == 6 {
                        row[11..14].copy_from_slice(&rim);
                        row[14..].copy_from_slice(&[0.5, 0.3, 0.0]);
                    }
                    row
                })
                .each_ref()
                .map(|row| row.as_slice()),
            );
            let (heights, _) = drained(&Mesh::regular(valley.grid()), &valley, Outlets::East);
            heights[(5, 5)]
        };
        let [without, with] = [level([10.0, 10.0, 10.0]), level([10.0, 9.9, 10.0])];
        assert!(without < 3.0 && (with - without).abs() < 0.1, "{without}, {with}");
    }

    #[test]
    fn deep_holes_far_from_lower_terrain_are_filled() {
        let plain: Vec<f32> = (0..40).map(|c| if c == 5 { -100.0 } else { 10.0 - 0.1 * c as f32 }).collect();
        let walls = [20.0; 40];
        let terrain = terrain(&[&walls, &plain, &walls]);
        let (heights, _) = drained(&Mesh::regular(terrain.grid()), &terrain, Outlets::East);
        let [hole_m, beyond_m] = [5, 6].map(|c| heights[(c, 1)]);
        assert!(hole_m > 8.0 && hole_m >= beyond_m && beyond_m > 8.0, "{hole_m}, {beyond_m}");
    }

    #[test]
    fn raising_few_gives_the_heights_of_raising_all_even_if_it_gives_up() {
        let progress = Progress::new();
        for heights in terrains() {
            for mesh in [Mesh::regular(heights.grid()), Mesh::new(heights.grid(), 0, 1.0, &progress).expect("a mesh")] {
                for (outlets, floor_slope) in
                    Outlets::ALL.iter().flat_map(|outlets| [(*outlets, 1e-5), (*outlets, 0.1)])
                {
                    let options = RoutingOptions { outlets, sea_m: None };
                    let mut drainage = Drainage::new(&mesh, options, &progress).expect("not cancelled");
                    drainage.route(&heights, &progress).expect("not cancelled");
                    let cut = drainage.with_cut_outlets(&progress).expect("not cancelled");
                    let raised = |heights: &[f32]| {
                        let mut raised = Heightfield::flat(mesh.grid());
                        drainage.raise_all(heights, floor_slope, &mut raised, &progress).expect("not cancelled");
                        raised
                    };
                    let expected = raised(&cut);
                    for max_visits in [usize::MAX, 40, 0] {
                        let mut few = cut.clone();
                        let raise = drainage.raise_few(&mut few, floor_slope, max_visits, &progress);
                        let is_done = raise.expect("not cancelled");
                        assert!(is_done || max_visits < usize::MAX);
                        let mut found = Heightfield::flat(mesh.grid());
                        if is_done {
                            drainage.copy_inside(&mut found, |sample| few[sample], &progress).expect("not cancelled");
                        } else {
                            found = raised(&few);
                        }
                        assert!(found == expected, "{outlets:?}, {floor_slope}, {max_visits}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_sample_is_higher_than_its_receiver() {
        for heights in terrains() {
            for mesh in [
                Mesh::regular(heights.grid()),
                Mesh::new(heights.grid(), 0, 1.0, &Progress::new()).expect("not cancelled"),
            ] {
                let cases = [(FLOOR_SLOPE, None), (PLAIN_SLOPE, None), (PLAIN_SLOPE, Some(2.5))];
                for (outlets, (floor_slope, sea_m)) in
                    Outlets::ALL.iter().flat_map(|outlets| cases.map(|case| (outlets, case)))
                {
                    let routing = RoutingOptions { outlets: *outlets, sea_m };
                    let (after, drainage) = drained_by(routing, floor_slope, &mesh, &heights);
                    let is_in_sea = |height: f32| sea_m.is_some_and(|sea_m| height <= sea_m);
                    let changes = heights.heights().iter().zip(after.heights());
                    for (height, after) in changes.filter(|(height, after)| is_in_sea(**height) || is_in_sea(**after)) {
                        assert!(
                            height == after || Some(*after) == sea_m,
                            "{height} became {after} in the sea, {outlets:?}"
                        );
                    }
                    let receivers = drainage.receivers();
                    for (sample, receiver) in receivers.iter().map(|receiver| *receiver as usize).enumerate() {
                        let (height, below) = (after.heights()[sample], after.heights()[receiver]);
                        assert!(sample == receiver || height > below, "{height} above {below}, {outlets:?}");
                    }
                    let (again, _) = drained_by(routing, floor_slope, &mesh, &after);
                    let (lakes, tolerance) = (again.heights().iter().zip(after.heights()), 1e-3);
                    assert!(lakes.into_iter().all(|(again, after)| (again - after).abs() < tolerance), "{outlets:?}");
                }
            }
        }
    }
}
