//! Conversion between metres and scene units.
//!
//! In scene units the longer side of the world is 1 and the centre of the terrain is the origin; x points east, y up,
//! z south. Heights are already exaggerated.

use glam::Vec3;

use crate::engine::cast::ToFloat;
use crate::engine::{Extent, Heightfield};

/// The thickness of the block below the lowest point, scene units.
const PLINTH: f32 = 0.035;

/// Converts between metres and scene units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SceneScale {
    pub(crate) extent: Extent,
    /// Vertical exaggeration.
    pub(crate) exaggeration: f32,
}

impl SceneScale {
    /// Metres per scene unit.
    pub(crate) fn unit_m(&self) -> f32 {
        self.extent.width_m.max(self.extent.depth_m).to_f32()
    }

    /// Half the width and half the depth of the terrain, scene units.
    pub(crate) fn half_size(&self) -> [f32; 2] {
        [self.extent.width_m, self.extent.depth_m].map(|side| 0.5 * side.to_f32() / self.unit_m())
    }

    /// Converts a height in metres.
    pub(crate) fn y(&self, height_m: f32) -> f32 {
        height_m * self.exaggeration / self.unit_m()
    }

    /// The bottom and the top of the block for terrain within a height range in metres.
    pub(crate) fn block_y(&self, range_m: [f32; 2]) -> [f32; 2] {
        let [low, high] = range_m.map(|height| self.y(height));
        [low - PLINTH, high]
    }

    /// Converts a place, metres east and south of the north-west corner, and a height.
    pub(crate) fn point(&self, [x_m, z_m]: [f64; 2], height_m: f32) -> Vec3 {
        let [half_x, half_z] = self.half_size();
        Vec3::new(x_m.to_f32() / self.unit_m() - half_x, self.y(height_m), z_m.to_f32() / self.unit_m() - half_z)
    }

    /// The position on the map below a point, metres.
    pub(crate) fn place_m(&self, point: Vec3) -> [f64; 2] {
        let [half_x, half_z] = self.half_size();
        [point.x + half_x, point.z + half_z].map(|share| f64::from(share * self.unit_m()))
    }

    /// The y of the terrain's surface above or below a point; `None` outside the terrain.
    pub(crate) fn surface_y(&self, terrain: &Heightfield, point: Vec3) -> Option<f32> {
        let [half_x, half_z] = self.half_size();
        let [x_m, z_m] = self.place_m(point);
        let inside = point.x.abs() <= half_x && point.z.abs() <= half_z;
        inside.then(|| self.y(terrain.height_at(x_m, z_m)))
    }
}

/// The largest of 1, 2, 5 · 10ⁿ that does not exceed `limit`.
pub(crate) fn round_length(limit: f32) -> f32 {
    let power = libm::exp10f(libm::log10f(limit).floor());
    [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power).find(|length| *length <= limit).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_round() {
        assert_eq!([0.3, 7.9, 99.0, 1500.0].map(round_length), [0.2, 5.0, 50.0, 1000.0]);
    }

    #[test]
    fn places_survive_the_conversion_to_scene_units_and_back() {
        let scale = SceneScale { extent: Extent { width_m: 2000.0, depth_m: 1000.0 }, exaggeration: 2.0 };
        let point = scale.point([500.0, 250.0], 100.0);
        assert_eq!(point, Vec3::new(-0.25, 0.1, -0.125));
        assert_eq!(scale.place_m(point), [500.0, 250.0]);
    }
}
