//! Cuts the terrain into terraces.

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;

parameters! {
    /// Cuts the terrain into terraces: level treads at equal height intervals, with steep risers between them.
    pub struct Terrace {
        /// Height from one tread to the next.
        step_m: f64 = 50.0, Spec::number("Step height", 0.01, 10_000.0).slider(1.0, 500.0).unit("m").logarithmic();
        /// Fraction of the terrain that becomes treads. 0 has no effect; at 1 the risers are vertical.
        sharpness: f64 = 0.7, Spec::number("Sharpness", 0.0, 1.0);
    }
}

/// Risers narrower than this count as vertical.
const MIN_RISER: f64 = 1e-9;

impl Terrace {
    /// Heights within sharpness·step/2 of a multiple of the step move to it; those in between are spread evenly over
    /// the riser.
    fn terraced(&self, height: f32) -> f32 {
        if self.sharpness == 0.0 {
            return height;
        }
        let steps = f64::from(height) / self.step_m;
        let tread = steps.floor();
        let on_riser = (steps - tread - 0.5) / (1.0 - self.sharpness).max(MIN_RISER) + 0.5;
        ((tread + on_riser.clamp(0.0, 1.0)) * self.step_m).to_f32()
    }
}

impl Operation for Terrace {
    const KEY: &'static str = "terrace";
    const LABEL: &'static str = "Terrace";
    const WORDS: &'static str = "step strata layer plateau mesa";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        context.map_heights(|height, _, _| self.terraced(height))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::modified;
    use super::*;
    use crate::heightfield::{Extent, Grid};

    #[track_caller]
    fn check(sharpness: f64, heights: [f32; 6], expected: [f32; 6]) {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 10.0 }, 3, 2);
        let below = Heightfield::from_heights(grid, heights.to_vec()).expect("six samples");
        let terrain = modified(&Terrace { step_m: 40.0, sharpness }, &below);
        assert_eq!(terrain.heights(), expected);
    }

    #[test]
    fn treads_and_risers_match_values_computed_by_hand() {
        // Treads of ±10 m about the multiples of 40 m; the 20 m between them rise by 40.
        check(0.5, [40.0, 49.0, 31.0, 55.0, 60.0, 65.0], [40.0, 40.0, 40.0, 50.0, 60.0, 70.0]);
        check(0.5, [0.0, -9.0, -15.0, -20.0, -25.0, -40.0], [0.0, 0.0, -10.0, -20.0, -30.0, -40.0]);
    }

    #[test]
    fn from_no_effect_to_vertical_risers() {
        let heights = [-59.0, -1.0, 0.0, 13.7, 19.0, 21.0];
        check(0.0, heights, heights);
        check(1.0, heights, [-40.0, 0.0, 0.0, 0.0, 0.0, 40.0]);
    }

    #[test]
    fn the_order_of_heights_is_kept() {
        for sharpness in [0.1, 0.7, 1.0] {
            let terrace = Terrace { step_m: 3.7, sharpness };
            let terraced: Vec<f32> = (-5000..5000).map(|i| terrace.terraced(i as f32 * 0.01)).collect();
            assert!(terraced.windows(2).all(|pair| pair[0] <= pair[1]), "{sharpness}");
        }
    }
}
