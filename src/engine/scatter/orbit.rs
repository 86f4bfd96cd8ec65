//! Scatter on symmetric maps: an instance has copies at the images of its place.

use std::f64::consts::SQRT_2;

use super::packing::{Place, ROUNDING_M};
use crate::final_symmetry::final_symmetry;
use crate::heightfield::{Extent, Grid};
use crate::operations::symmetry::{Isometry, Kind};
use crate::recipe::Recipe;

/// The isometries that move instances onto their copies.
pub(super) struct Orbit {
    isometries: &'static [Isometry],
    extent: Extent,
}

impl Orbit {
    /// That of the finished terrain; the identity alone if it has no symmetry.
    pub fn of_terrain(recipe: &Recipe, grid: Grid) -> Self {
        Self::new(final_symmetry(recipe, grid).map(|symmetry| symmetry.kind), grid.extent())
    }

    fn new(kind: Option<Kind>, extent: Extent) -> Self {
        Self { isometries: kind.map_or(&Isometry::IDENTITY_ALONE, Kind::isometries), extent }
    }

    /// Whether a place is in the part of the map whose places are copied to the other parts, far enough inside for the
    /// copies to keep the spacing.
    ///
    /// Two places on one side of a mirror axis are farther from each other's images than from each other, so a place
    /// only has to keep the spacing from its own image. A rotation moves places across the border next to others, so a
    /// place keeps half the spacing from the border: from the image under a rotation of 180° it then differs in z by
    /// twice that, and from those under rotations of 90° by √2 times that. Both leave a lane as wide as the spacing
    /// along the borders.
    pub fn begins_at(&self, place: &Place, spacing_m: f64) -> bool {
        let [x_m, z_m] = place.at_m;
        self.isometries[1..].iter().all(|isometry| {
            let [image_x_m, image_z_m] = isometry.place_m(place.at_m, self.extent);
            let [east_m, south_m] = [image_x_m - x_m, image_z_m - z_m];
            let apart_m = match (isometry.reflects(), isometry.swaps_axes()) {
                (true, _) => libm::hypot(east_m, south_m),
                (false, true) => south_m * SQRT_2,
                (false, false) => south_m,
            };
            (z_m, x_m) < (image_z_m, image_x_m) && apart_m >= spacing_m + ROUNDING_M
        })
    }

    /// The place and its images, each with how it is reached.
    pub fn of(&self, at_m: [f64; 2]) -> impl Iterator<Item = (Isometry, [f64; 2])> {
        self.isometries.iter().map(move |isometry| (*isometry, isometry.place_m(at_m, self.extent)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::packing::{Region, places};
    use super::*;
    use crate::progress::Progress;

    const SPACING_M: f64 = 7.0;

    #[test]
    fn copies_keep_the_spacing_and_fill_all_parts() {
        for (seed, [width_m, depth_m]) in [(5, [300.0, 300.0]), (6, [410.0, 170.0])] {
            let extent = Extent { width_m, depth_m };
            let world = Region { from_m: [0.0; 2], to_m: [width_m, depth_m] };
            let whole = places(SPACING_M, seed, world, &Progress::new()).expect("not cancelled");
            for kind in Kind::ALL.iter().filter(|kind| kind.fits(extent)) {
                let orbit = Orbit::new(Some(*kind), extent);
                let begun = whole.iter().filter(|place| orbit.begins_at(place, SPACING_M));
                let copies: Vec<[f64; 2]> =
                    begun.flat_map(|place| orbit.of(place.at_m)).map(|(_, at_m)| at_m).collect();
                let near = |a: &[f64; 2], b: &[f64; 2]| libm::hypot(a[0] - b[0], a[1] - b[1]) < SPACING_M;
                for (i, copy) in copies.iter().enumerate() {
                    assert!(copies[..i].iter().all(|other| !near(copy, other)), "{kind:?} at {copy:?}");
                    assert!((0.0..=width_m).contains(&copy[0]) && (0.0..=depth_m).contains(&copy[1]), "{copy:?}");
                }
                let share = copies.len() as f64 / whole.len() as f64;
                assert!((0.9..1.05).contains(&share), "{kind:?}: {share}");
            }
            let orbit = Orbit::new(None, extent);
            assert!(whole.iter().all(|place| orbit.begins_at(place, SPACING_M)));
            assert!(orbit.of([1.0, 2.0]).map(|(_, at_m)| at_m).eq([[1.0, 2.0]]));
        }
    }
}
