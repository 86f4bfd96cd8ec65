//! Turns the terrain into an island in the middle of the map.

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;
use crate::rounding::smoothstep;

parameters! {
    /// Turns the terrain into an island. The middle of the map is unchanged; farther out the terrain falls off to the
    /// sea floor.
    pub struct Island {
        /// Distance from the middle at which the terrain has fallen half way, as a fraction of the distance to the
        /// border.
        size: f64 = 0.72, Spec::number("Size", 0.01, 2.0).slider(0.2, 1.2);
        /// How gradually the terrain falls off. 0 makes a cliff; at 1 the slope starts in the middle.
        softness: f64 = 0.35, Spec::number("Softness", 0.0, 1.0);
        /// Height of the sea, from which its depth is measured.
        sea_m: f64 = 0.0, Spec::number("Sea level", -20_000.0, 100_000.0).slider(-500.0, 1000.0).unit("m").fixed();
        /// Depth of the sea floor below the sea level.
        depth_m: f64 = 80.0, Spec::number("Sea depth", 0.0, 20_000.0).slider(0.0, 1000.0).unit("m");
    }
}

impl Island {
    /// The fraction of the terrain's height that remains at a distance from the middle (1: the middle of a side of the
    /// map): 1 up to size·(1 − softness), 0 from size·(1 + softness) on, in between 1 − S(t) with the smoothstep S.
    fn share(&self, distance: f64) -> f64 {
        let reach = self.size * self.softness;
        if reach == 0.0 {
            return if distance <= self.size { 1.0 } else { 0.0 };
        }
        let t = ((distance - self.size) / (2.0 * reach) + 0.5).clamp(0.0, 1.0);
        1.0 - smoothstep(t)
    }
}

impl Operation for Island {
    const KEY: &'static str = "island";
    const LABEL: &'static str = "Island";
    const WORDS: &'static str = "coast shore sea ocean radial";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, extent) = (context.grid, context.grid.extent());
        let floor_m = self.sea_m - self.depth_m;
        let from_middle = |m: f64, side_m: f64| 2.0 * m / side_m - 1.0;
        context.map_heights(|height, c, r| {
            let x = from_middle(grid.x_m(c), extent.width_m);
            let z = from_middle(grid.z_m(r), extent.depth_m);
            let share = self.share((x * x + z * z).sqrt());
            if share < 1.0 { (floor_m + share * (f64::from(height) - floor_m)).to_f32() } else { height }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::modified;
    use super::*;
    use crate::heightfield::{Extent, Grid};

    fn level(height: f32) -> Heightfield {
        let grid = Grid::new(Extent { width_m: 1600.0, depth_m: 400.0 }, 17, 9);
        Heightfield::from_fn(grid, |_, _| height)
    }

    #[test]
    fn a_falloff_matches_values_computed_by_hand() {
        // Eastward from the middle in eighths: unchanged up to ½·½ = ¼, half way at ½, sea floor from ¾ on; S(¼) =
        // 5/32.
        let island = Island { size: 0.5, softness: 0.5, sea_m: 10.0, depth_m: 50.0 };
        let terrain = modified(&island, &level(280.0));
        assert_eq!(&terrain.row(4)[8..], [280.0, 280.0, 280.0, 230.0, 120.0, 10.0, -40.0, -40.0, -40.0]);
        // Southward from the middle in quarters it is the same, although the map is not square.
        let south: Vec<f32> = (4..9).map(|r| terrain[(8, r)]).collect();
        assert_eq!(south, [280.0, 280.0, 120.0, -40.0, -40.0]);
    }

    #[test]
    fn without_softness_the_falloff_is_a_cliff() {
        let island = Island { size: 0.5, softness: 0.0, sea_m: 0.0, depth_m: 7.0 };
        assert_eq!(&modified(&island, &level(5.0)).row(4)[8..], [5.0, 5.0, 5.0, 5.0, 5.0, -7.0, -7.0, -7.0, -7.0]);
    }

    #[test]
    fn the_default_is_surrounded_by_sea() {
        let terrain = modified(&Island::default(), &level(100.0));
        assert_eq!(terrain[(8, 4)], 100.0);
        assert!((0..17).all(|c| terrain[(c, 0)] == -80.0 && terrain[(c, 8)] == -80.0));
        assert!((0..9).all(|r| terrain[(0, r)] == -80.0 && terrain[(16, r)] == -80.0));
    }

    #[test]
    fn terrain_at_the_height_of_the_sea_floor_stays_level() {
        assert_eq!(modified(&Island::default(), &level(-80.0)), level(-80.0));
    }
}
