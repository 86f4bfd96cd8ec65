//! Ridges and valleys: h ± height(s)·w(2d/width), with the weights w of the fault profiles.
//!
//! Of all pieces of the curve, the one that lifts a sample most counts, so that bends have no creases. Lifts are
//! multiples of the displacement grid, so that a bell curve ends where it rounds to 0.

use super::path::Path;
use super::terrain_map::TerrainMap;
use crate::curve::{Nearest, Polyline};
use crate::fault::{to_exact_metres, to_units};
use crate::progress::{Cancelled, Progress};

/// Adds a ridge, or subtracts a valley.
pub(super) fn apply(path: &Path, is_valley: bool, land: &mut TerrainMap, progress: &Progress) -> Result<(), Cancelled> {
    let curve = path.curve();
    let heights_m = path.interpolated(&curve.lengths_m, |node| node.height_m, path.height_m);
    let line = Polyline::new(&curve.points, curve.is_closed);
    let profile = path.profile.of_fault();
    let greatest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let reach_m = profile.reach_m(greatest(&heights_m), greatest(&curve.halves_m));
    let lift = |piece: usize, point: [f64; 2]| {
        let own = &line.pieces[piece];
        let (squared_m2, along_m) = own.nearest(point);
        let share = if along_m <= 0.0 { 0.0 } else { along_m / own.length_m };
        let nearest = Nearest { piece, share, squared_m2 };
        let weight = profile.weight(squared_m2.sqrt(), nearest.value(&curve.halves_m));
        to_units(nearest.value(&heights_m) * weight)
    };
    land.map_blocks(progress, |block| {
        let (centre, radius_m) = block.disc();
        let mut near = Vec::new();
        line.find_within(centre, reach_m + radius_m, &mut near);
        if near.is_empty() {
            return;
        }
        block.update(|point, height| {
            let lift_m = to_exact_metres(near.iter().map(|piece| lift(*piece, point)).fold(0, i64::max));
            if is_valley { height - lift_m } else { height + lift_m }
        });
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::path::{PathKind, RidgeProfile};
    use super::super::testing::{path, paths};
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::operations::testing::{assert_subset, modified};

    const WORLD: Extent = Extent { width_m: 1024.0, depth_m: 1024.0 };

    fn flat(side: usize, height: f32) -> Heightfield {
        Heightfield::from_fn(Grid::new(WORLD, side, side), |_, _| height)
    }

    #[test]
    fn a_straight_ridge_has_its_profile_and_round_ends() {
        let mut ridge = path(PathKind::Ridge, &[[256.0, 512.0], [768.0, 512.0]]);
        (ridge.width_m, ridge.height_m, ridge.profile) = (256.0, 40.0, RidgeProfile::Linear);
        let terrain = modified(&paths([ridge.clone()]), &flat(33, 5.0));
        // Samples every 32 m; the slopes are 128 m wide.
        assert_eq!([0, 1, 2, 3, 4, 5].map(|rows| terrain[(16, 16 + rows)]), [45.0, 35.0, 25.0, 15.0, 5.0, 5.0]);
        assert_eq!([0, 1, 2, 3, 4].map(|columns| terrain[(24 + columns, 16)]), [45.0, 35.0, 25.0, 15.0, 5.0]);
        ridge.kind = PathKind::Valley;
        assert_eq!(modified(&paths([ridge]), &flat(33, 5.0))[(16, 17)], -25.0);
    }

    #[test]
    fn heights_of_nodes_are_interpolated() {
        let mut ridge = path(PathKind::Ridge, &[[0.0, 512.0], [512.0, 512.0], [1024.0, 512.0]]);
        ridge.width_m = 100.0;
        ridge.nodes[0].height_m = Some(10.0);
        ridge.nodes[2].height_m = Some(30.0);
        let terrain = modified(&paths([ridge]), &flat(33, 0.0));
        assert_eq!([0, 8, 16, 32].map(|c| terrain[(c, 16)]), [10.0, 15.0, 20.0, 30.0]);
    }

    #[test]
    fn a_small_map_is_an_exact_subset_for_every_profile() {
        for profile in RidgeProfile::ALL {
            let mut ridge = path(PathKind::Ridge, &[[100.0, 200.0], [700.0, 350.0], [300.0, 800.0], [950.0, 1100.0]]);
            (ridge.width_m, ridge.profile) = (90.0, *profile);
            ridge.nodes[1].width_m = Some(200.0);
            ridge.closed = *profile == RidgeProfile::Biweight;
            let terrain = |side| modified(&paths([ridge.clone()]), &flat(side, 0.0));
            assert_subset(&terrain(65), &terrain(257));
        }
    }
}
