//! Removes depressions: rivers cut down their outlets and fill their floors with sediment.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::filled_vec;
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};

/// The fall of filled floors towards their outlets, metres per metre. Small, because the length of a flow path depends
/// on the resolution.
const FLOOR_SLOPE: f32 = 1e-5;

impl Drainage {
    /// Cuts outlets and raises floors until every sample outside the sea is higher than its receiver. `terrain` must be
    /// the one that was routed. Returns the number of samples that drain through each, as a padded map.
    ///
    /// `filled` is the share of a depression's depth that is filled; its outlet is cut down by the rest (both at once:
    /// J. B. Lindsay, "Efficient hybrid breaching-filling sink removal methods for flow path enforcement in digital
    /// elevation models", Hydrological Processes 30, 2016).
    pub fn remove_depressions(
        &self,
        terrain: &mut Heightfield,
        filled: f32,
        progress: &Progress,
    ) -> Result<Vec<AtomicU32>, Cancelled> {
        let heights = self.with_cut_outlets(filled, progress)?;
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
    fn with_cut_outlets(&self, filled: f32, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let mut heights = self.padded_heights(progress)?;
        for &pit in &self.pits {
            let mut at = pit as usize;
            let (bottom_m, basin) = (self.height_m(at), self.basins.basin(at));
            let level_m = (bottom_m + filled * (self.basins.level_m(at) - bottom_m)).max(self.sea_m());
            // Along the flow, over the pass, until the terrain beyond is lower.
            while let Some((_, receiver)) = self.receiver(at) {
                if heights[receiver] <= level_m && self.basins.basin(receiver) != basin {
                    break;
                }
                heights[receiver] = heights[receiver].min(level_m);
                at = receiver;
            }
            progress.check()?;
        }
        Ok(heights)
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
        drainage.remove_depressions(&mut heights, 0.5, &progress).expect("not cancelled");
        (heights, drainage)
    }

    #[test]
    fn a_floor_rises_and_its_outlet_sinks_by_half_the_depth_each() {
        // The lake is 4 m deep: from the pit at 1 m to the outlet at 5 m.
        let bowl = terrain(&[
            &[9.0, 9.0, 9.0, 9.0, 9.0],
            &[9.0, 4.0, 3.5, 4.0, 9.0],
            &[9.0, 3.5, 1.0, 7.0, 5.0],
            &[9.0, 4.0, 3.5, 4.0, 9.0],
            &[9.0, 9.0, 9.0, 9.0, 9.0],
        ]);
        let (heights, _) = drained(&Mesh::regular(bowl.grid()), &bowl, Outlets::Border);
        assert_eq!(heights[(4, 2)], 3.0, "the outlet");
        assert!((heights[(2, 2)] - 3.0).abs() < 0.01, "the floor: {}", heights[(2, 2)]);
        let on_the_way = [(3, 1), (3, 3)].map(|at| heights[at]);
        assert!(on_the_way.iter().any(|height| (height - 3.0).abs() < 0.01), "{on_the_way:?}");
        assert_eq!([heights[(1, 1)], heights[(3, 2)], heights[(0, 0)]], [4.0, 7.0, 9.0], "the rest");
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
