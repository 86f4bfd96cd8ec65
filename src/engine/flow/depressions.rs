//! Removes depressions: rivers cut down their outlets and fill their floors with sediment.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::drainage::Drainage;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// How much more a metre of fill counts than a metre of cut: a narrow cut is less visible than a raised floor.
const FILL_WEIGHT: f32 = 3.0;
/// A cut that moves this many times as much as the fill is not considered any further.
const MAX_RATIO: f32 = 32.0;
/// Samples are raised one by one in at most as many visits as the map has samples, divided by this.
const MAX_FEW_DIVISOR: usize = 8;

impl Drainage {
    /// Cuts outlets and raises floors until no sample outside the sea is lower than its receiver. `terrain` must be the
    /// one that was routed.
    ///
    /// Depressions are partly filled and partly cut open (J. B. Lindsay, "Efficient hybrid breaching-filling sink removal
    /// methods for flow path enforcement in digital elevation models", Hydrological Processes 30, 2016). The weighting is
    /// our own: the share of the depth that is filled is c²/(c² + f²), where c is the sum of the depths of all samples
    /// of the cut and f that of the fill, times [`FILL_WEIGHT`]. Wide basins are thus cut open, and deep holes far from
    /// lower terrain are filled. Cuts are one sample wide, so on finer grids they are preferred a little more.
    ///
    /// Filled floors fall towards their outlets by `floor_slope` metres per metre.
    pub fn remove_depressions(
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
        let mut heights = self.padded_heights(progress)?;
        let fills_m = self.lake_depths_m(progress)?;
        // The levels to which the basins are filled; nothing is below the sea.
        let mut levels_m = vec![self.sea_m(); self.basins.count()];
        let mut path = Vec::new();
        for &[basin, below] in self.basins.downstream_first() {
            progress.check()?;
            let pit = self.pits[basin as usize - 1] as usize;
            let bottom_m = self.height_m(pit);
            let full_fill_m = FILL_WEIGHT * fills_m[basin as usize];
            let mut lowest_m = bottom_m.max(levels_m[below as usize]);
            // The samples to cut: along the flow, over the pass, until the terrain beyond is low enough.
            path.clear();
            let (mut at, mut cut_m) = (pit, 0.0);
            while let Some((_, receiver)) = self.receiver(at) {
                at = receiver;
                let is_beyond = self.basins.basin(at) != basin;
                if is_beyond && (heights[at] <= lowest_m || cut_m > MAX_RATIO * full_fill_m) {
                    break;
                }
                if self.receiver(at).is_none() && !self.has_falling_outlets() {
                    lowest_m = lowest_m.max(heights[at]);
                    break;
                }
                cut_m += (heights[at] - lowest_m).max(0.0);
                path.push(at);
            }
            let above_m = |at: &usize| (heights[*at] - lowest_m).max(0.0);
            let (cut_m, depth_m) =
                (path.iter().map(above_m).sum::<f32>(), path.iter().map(above_m).fold(0.0, f32::max));
            // The volume of a V-shaped valley grows with the square of its depth.
            let full_depth_m = self.basins.level_m(pit) - bottom_m;
            let share = |level_m: f32| if full_depth_m > 0.0 { (level_m - bottom_m) / full_depth_m } else { 0.0 };
            let [upper, lower] = [share(lowest_m + depth_m), share(lowest_m)];
            let fill_m = full_fill_m * (upper * upper - lower * lower).max(0.0);
            let level_m = lowest_m + filled_share(cut_m, fill_m) * depth_m;
            levels_m[basin as usize] = level_m;
            for &at in &path {
                heights[at] = heights[at].min(level_m);
            }
        }
        Ok(heights)
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
        let progress = Progress::new();
        let mut drainage =
            Drainage::new(mesh, RoutingOptions { outlets, sea_m: None }, &progress).expect("not cancelled");
        let mut heights = heights.copied(&progress).expect("not cancelled");
        drainage.route(&heights, &progress).expect("not cancelled");
        drainage.remove_depressions(&mut heights, 1e-5, &progress).expect("not cancelled");
        (heights, drainage)
    }

    #[test]
    fn wide_floors_are_drained_through_a_cut() {
        // The lake is 4 m deep: from the pit at 1 m to the outlet at 5 m. Filling it takes 12.5 m in all; the cut takes
        // 3 m at (3, 1) or (3, 3) and 4 m at the outlet.
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
    fn outlets_of_a_fixed_border_keep_their_heights() {
        let bowl = terrain(&[&[9.0, 9.0, 9.0, 9.0], &[9.0, 1.0, 6.0, 5.0], &[9.0, 9.0, 9.0, 9.0]]);
        let (heights, _) = drained(&Mesh::regular(bowl.grid()), &bowl, Outlets::Border);
        assert_eq!(heights[(3, 1)], 5.0);
        // Nothing below the outlet is cut: 1 m of the pass, against a fill of 1.25² − 1 times 4 m.
        assert!(heights[(2, 1)] > 5.0 && heights[(2, 1)] < 5.2 && heights[(1, 1)] >= heights[(2, 1)]);
    }

    #[test]
    fn basins_that_drain_into_basins_are_not_cut_below_their_levels() {
        let row = [9.0, 1.0, 6.0, 2.0, 5.0, 0.0];
        let walls = [9.0; 6];
        let terrain = terrain(&[&walls, &row, &walls]);
        let (heights, _) = drained(&Mesh::regular(terrain.grid()), &terrain, Outlets::East);
        // 3 m of cut against 3 m of fill; then 5 m of fill, of which the part above the first level counts.
        let first_m = 2.0 + 3.0 * filled_share(3.0, FILL_WEIGHT * 3.0);
        let (depth_m, below) = (6.0 - first_m, (first_m - 1.0) / 5.0);
        let second_m = first_m + depth_m * filled_share(depth_m, FILL_WEIGHT * 5.0 * (1.0 - below * below));
        for (c, level_m) in [(4, first_m), (3, first_m), (2, second_m), (1, second_m)] {
            assert!((heights[(c, 1)] - level_m).abs() < 1e-3, "{c}: {}, not {level_m}", heights[(c, 1)]);
        }
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
                for outlets in Outlets::ALL {
                    let (after, drainage) = drained(&mesh, &heights, *outlets);
                    let receivers = drainage.receivers();
                    for (sample, receiver) in receivers.iter().map(|receiver| *receiver as usize).enumerate() {
                        let (height, below) = (after.heights()[sample], after.heights()[receiver]);
                        assert!(sample == receiver || height > below, "{height} above {below}, {outlets:?}");
                    }
                    let (again, _) = drained(&mesh, &after, *outlets);
                    let (lakes, tolerance) = (again.heights().iter().zip(after.heights()), 1e-3);
                    assert!(lakes.into_iter().all(|(again, after)| (again - after).abs() < tolerance), "{outlets:?}");
                }
            }
        }
    }
}
