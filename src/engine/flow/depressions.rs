//! Removes depressions: rivers cut down their outlets and fill their floors with sediment.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::filled_vec;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};

/// The fall of filled floors towards their outlets, metres per metre. Small, because the length of a flow path depends
/// on the resolution.
const FLOOR_SLOPE: f32 = 1e-5;
/// How much more a metre of fill counts than a metre of cut when the two are weighed: narrow outlets are seen less than
/// wide floors.
const FILL_WEIGHT: f32 = 3.0;

impl Drainage {
    /// Cuts outlets and raises floors until every sample outside the sea is higher than its receiver. `terrain` must be
    /// the one that was routed. Returns the number of samples that drain through each, as a padded map.
    ///
    /// Both at once (J. B. Lindsay, "Efficient hybrid breaching-filling sink removal methods for flow path enforcement in
    /// digital elevation models", Hydrological Processes 30, 2016), each the less, the more material it moves: wide
    /// basins are cut open, deep holes far from lower terrain are filled.
    pub fn remove_depressions(
        &self,
        terrain: &mut Heightfield,
        progress: &Progress,
    ) -> Result<Vec<AtomicU32>, Cancelled> {
        let heights = self.with_cut_outlets(progress)?;
        let zero = || AtomicU32::new(0);
        let areas = filled_vec(self.padded_samples(), zero, progress)?;
        let results = filled_vec(self.padded_samples(), zero, progress)?;
        let fill = |sample: usize| {
            let height_m = match self.receiver(sample) {
                Some((direction, receiver)) => {
                    let rise_m = FLOOR_SLOPE / self.reciprocal_length(sample, direction);
                    heights[sample].max(f32::from_bits(results[receiver].load(Relaxed)) + rise_m)
                }
                None => heights[sample],
            };
            results[sample].store(height_m.to_bits(), Relaxed);
        };
        self.visit_trees(&areas, |tree| self.visit_upstream(tree, progress, fill), progress)?;
        let width = terrain.grid().width();
        terrain.heights_mut().par_chunks_exact_mut(width).zip(self.inside()).try_for_each(|(row, samples)| {
            for (height, sample) in row.iter_mut().zip(samples) {
                *height = f32::from_bits(results[sample].load(Relaxed));
            }
            progress.check()
        })?;
        Ok(areas)
    }

    /// The padded heights, with the outlets of all depressions cut down to the levels to which these are filled.
    fn with_cut_outlets(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let mut heights = self.padded_heights(progress)?;
        let volumes_m = self.lake_volumes_m(progress)?;
        // The levels to which the basins are filled; nothing is below the sea.
        let mut levels_m = vec![self.sea_m(); self.basins.count()];
        for &basin in self.basins.downstream_first() {
            progress.check()?;
            let pit = self.pits[basin as usize - 1] as usize;
            let bottom_m = self.height_m(pit);
            // Along the flow, over the pass.
            let path = || std::iter::successors(Some(pit), |at| self.receiver(*at).map(|(_, receiver)| receiver));
            let below = path().map(|at| self.basins.basin(at)).find(|other| *other != basin);
            let lowest_m = below.map_or(bottom_m, |below| bottom_m.max(levels_m[below as usize]));
            let path_above = |level_m: f32, heights: &[f32]| {
                let is_above = move |at: usize, height: f32| height > level_m || self.basins.basin(at) == basin;
                path().skip(1).take_while(|at| is_above(*at, heights[*at])).collect::<Vec<_>>()
            };
            let (mut highest_m, mut cut_m) = (lowest_m, 0.0_f32);
            for at in path_above(lowest_m, &heights) {
                highest_m = highest_m.max(heights[at]);
                cut_m += (heights[at] - lowest_m).max(0.0);
            }
            // The volume of a V-shaped valley grows with the square of its depth.
            let depth_m = self.basins.level_m(pit) - bottom_m;
            let share = |level_m: f32| (level_m - bottom_m) * (level_m - bottom_m) / (depth_m * depth_m);
            let fill_m = FILL_WEIGHT * volumes_m[basin as usize] * (share(highest_m) - share(lowest_m)).max(0.0);
            let filled = if cut_m > 0.0 { cut_m * cut_m / (cut_m * cut_m + fill_m * fill_m) } else { 0.0 };
            let level_m = lowest_m + filled * (highest_m - lowest_m);
            levels_m[basin as usize] = level_m;
            for at in path_above(level_m, &heights) {
                heights[at] = heights[at].min(level_m);
            }
        }
        Ok(heights)
    }

    /// The sum of the depths of the lake in each basin, metres.
    fn lake_volumes_m(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        /// Depths are added as integers, so the order of threads does not matter.
        const PER_M: f32 = 1024.0;
        let volumes: Vec<AtomicU64> = (0..self.basins.count()).map(|_| AtomicU64::new(0)).collect();
        if !volumes.is_empty() {
            self.inside().with_min_len(16).try_for_each(|samples| {
                for sample in samples {
                    let depth_m = self.basins.level_m(sample) - self.height_m(sample);
                    if depth_m > 0.0 {
                        let volume = &volumes[self.basins.basin(sample) as usize];
                        volume.fetch_add((depth_m * PER_M).to_u64(), Relaxed);
                    }
                }
                progress.check()
            })?;
        }
        Ok(volumes.into_iter().map(|volume| volume.into_inner().to_f32() / PER_M).collect())
    }
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
        drainage.remove_depressions(&mut heights, &progress).expect("not cancelled");
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
        let [cut_m, fill_m] = [7.0, FILL_WEIGHT * 12.5_f32];
        let level_m = 1.0 + 4.0 * cut_m * cut_m / (cut_m * cut_m + fill_m * fill_m);
        let (heights, _) = drained(&Mesh::regular(bowl.grid()), &bowl, Outlets::Border);
        assert!((heights[(4, 2)] - level_m).abs() < 1e-5, "the outlet: {}", heights[(4, 2)]);
        assert!((heights[(2, 2)] - level_m).abs() < 0.01, "the floor: {}", heights[(2, 2)]);
        let on_the_way = [(3, 1), (3, 3)].map(|at| heights[at]);
        assert!(on_the_way.iter().any(|height| (height - level_m).abs() < 0.01), "{on_the_way:?}");
        assert_eq!([heights[(1, 1)], heights[(3, 2)], heights[(0, 0)]], [4.0, 7.0, 9.0], "the rest");
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
