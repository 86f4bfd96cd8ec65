//! Fades the terrain to a fixed height towards the border of the map.

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;

parameters! {
    /// Fades the terrain to a level height at the border of the map.
    pub struct EdgeFade {
        /// Height at the border.
        to_m: f64 = 0.0, Spec::number("Edge height", -20_000.0, 100_000.0).slider(-500.0, 1000.0).unit("m");
        /// Width of the fade in the middle of the sides, relative to each side. It widens towards the corners.
        width: f64 = 0.125, Spec::number("Fade width", 0.001, 0.5).slider(0.01, 0.5).percent();
    }
}

impl EdgeFade {
    /// F = min(1, Fx·Fz/(2·width)) with Fx = 1 − |Lx/2 − x|/(Lx/2), and Fz likewise: 0 on the border, 1 inside. At a
    /// width of ⅛ it is the min(1, 4·Fx·Fz) of Traagen, HoloLens Terrain Generation Demo, part 4.
    fn share(&self, [across_x, across_z]: [f64; 2]) -> f64 {
        (across_x * across_z / (2.0 * self.width)).min(1.0)
    }
}

/// The relative distance of each column and each row from the border: 0 there, 1 in the middle.
fn distances(grid: Grid) -> [Vec<f64>; 2] {
    let extent = grid.extent();
    let from_border = |m: f64, side_m: f64| 1.0 - (0.5 * side_m - m).abs() / (0.5 * side_m);
    // Rounding can place the last sample next to the border.
    let along = |count: usize, distance: &dyn Fn(usize) -> f64| {
        (0..count).map(|i| if i == 0 || i + 1 == count { 0.0 } else { distance(i) }).collect()
    };
    [
        along(grid.width(), &|c| from_border(grid.x_m(c), extent.width_m)),
        along(grid.height(), &|r| from_border(grid.z_m(r), extent.depth_m)),
    ]
}

impl Operation for EdgeFade {
    const KEY: &'static str = "edge_fade";
    const LABEL: &'static str = "Edge fade";
    const WORDS: &'static str = "border margin vignette";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let [across_x, across_z] = distances(context.grid);
        context.map_heights(|height, c, r| {
            let share = self.share([across_x[c], across_z[r]]);
            if share < 1.0 { (self.to_m + share * (f64::from(height) - self.to_m)).to_f32() } else { height }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_subset, modified};
    use super::*;
    use crate::heightfield::Extent;

    fn level(height: f32) -> Heightfield {
        let grid = Grid::new(Extent { width_m: 1600.0, depth_m: 400.0 }, 17, 9);
        Heightfield::from_fn(grid, |_, _| height)
    }

    #[test]
    fn the_fade_matches_values_computed_by_hand() {
        let terrain = modified(&EdgeFade::default(), &level(80.0));
        // The middle row has Fz = 1: 4·Fx is ½ at a sixteenth of the width and 1 at an eighth.
        assert_eq!(&terrain.row(4)[..4], [0.0, 40.0, 80.0, 80.0]);
        // A quarter down Fz = ½; one sample from the corner Fx = ⅛, Fz = ¼, so F = ⅛.
        assert_eq!(&terrain.row(2)[..5], [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(terrain[(1, 1)], 10.0);
    }

    #[test]
    fn the_border_has_the_height_and_the_fade_is_symmetric() {
        let terrain = modified(&EdgeFade { to_m: -30.0, width: 0.3 }, &level(80.0));
        for c in 0..17 {
            assert_eq!([terrain[(c, 0)], terrain[(c, 8)]], [-30.0; 2]);
            assert!((0..9).all(|r| (terrain[(c, r)] - terrain[(16 - c, 8 - r)]).abs() < 1e-4));
        }
        assert!((0..9).all(|r| terrain[(0, r)] == -30.0 && terrain[(16, r)] == -30.0));
        assert_eq!(terrain[(8, 4)], 80.0);
    }

    #[test]
    fn terrain_at_the_edge_height_stays_level() {
        assert_eq!(modified(&EdgeFade { to_m: 80.0, ..Default::default() }, &level(80.0)), level(80.0));
    }

    #[test]
    fn a_small_map_is_an_exact_subset_of_a_large_one() {
        let extent = Extent { width_m: 4100.7, depth_m: 977.3 };
        let at = |side: usize| {
            modified(&EdgeFade::default(), &Heightfield::from_fn(Grid::new(extent, side, side), |_, _| 9.0))
        };
        let (small, large) = (at(17), at(65));
        assert_subset(&small, &large);
    }
}
