//! Heights held between two limits.
//!
//! The height becomes min(max(h, low), high), maximum and minimum rounded by a parabola over a difference in height as
//! where lands are blended (I. Quilez, "Smooth minimum", 2013): at the very limit the land is a quarter of the softness
//! inside it, and from the softness away from it on it is as it was.

use super::{Keyframe, Operation, Role, EvalContext};
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Spec, parameters};
use crate::engine::rounding::{smooth_maximum, smooth_minimum};

parameters! {
    /// Holds the land between a floor and a ceiling: what is lower or higher becomes level there.
    pub struct Clamp {
        /// The floor: deeper ground is filled up to it, as by a lake; empty: none.
        low_m: Option<f64> = Some(0.0), Spec::number("Low", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m");
        /// The ceiling: higher ground is cut off at it, as by a plateau; empty: none. Where it lies below the floor, the
        /// ceiling counts.
        high_m: Option<f64> = None, Spec::number("High", -20_000.0, 100_000.0).slider(0.0, 5000.0).unit("m");
        /// How softly the land runs into floor and ceiling: at 0 it breaks off at an edge, above it the edge is rounded
        /// as far as the land lies this much above or below it. At the most it is the distance of floor and ceiling.
        softness_m: f64 = 0.0, Spec::number("Softness", 0.0, 10_000.0).slider(0.0, 500.0).unit("m");
    }
}

impl Clamp {
    fn held(&self, height: f32) -> f32 {
        let low = self.low_m.map_or(f32::NEG_INFINITY, |m| m as f32);
        let high = self.high_m.map_or(f32::INFINITY, |m| m as f32);
        // Wider, the rounding at one limit would carry the land beyond the other one.
        let softness = (self.softness_m as f32).min(high - low);
        smooth_minimum(smooth_maximum(height, low, softness), high, softness)
    }
}

impl Operation for Clamp {
    const KEY: &'static str = "clamp";
    const LABEL: &'static str = "Clamp";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        context.map_heights(|height, _, _| self.held(height))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::shaped;
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    #[track_caller]
    fn check(low_m: Option<f64>, high_m: Option<f64>, expected: [f32; 6]) {
        check_soft(0.0, low_m, high_m, [-30.0, -1.0, 0.0, 4.5, 90.0, 1e9], expected);
    }

    #[track_caller]
    fn check_soft(softness_m: f64, low_m: Option<f64>, high_m: Option<f64>, heights: [f32; 6], expected: [f32; 6]) {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 10.0 }, 3, 2);
        let below = Heightfield::from_heights(grid, heights.to_vec()).expect("six samples");
        let terrain = shaped(&Clamp { low_m, high_m, softness_m }, &below);
        assert_eq!(terrain.heights(), expected);
    }

    #[test]
    fn heights_stop_at_the_limits_and_stay_between_them() {
        check(Some(-1.5), Some(4.5), [-1.5, -1.0, 0.0, 4.5, 4.5, 4.5]);
    }

    #[test]
    fn either_limit_may_be_missing() {
        check(Some(0.0), None, [0.0, 0.0, 0.0, 4.5, 90.0, 1e9]);
        check(None, Some(0.0), [-30.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
        check(None, None, [-30.0, -1.0, 0.0, 4.5, 90.0, 1e9]);
    }

    #[test]
    fn a_ceiling_below_the_floor_counts() {
        check(Some(50.0), Some(10.0), [10.0; 6]);
    }

    #[test]
    fn soft_limits_by_hand() {
        // At the limit a quarter of the softness inside, half the softness away a sixteenth, and beyond that none.
        let heights = [-50.0, 2.0, 6.0, 10.0, 14.0, 18.0];
        check_soft(8.0, Some(10.0), None, heights, [10.0, 10.0, 10.5, 12.0, 14.5, 18.0]);
        check_soft(8.0, None, Some(10.0), heights, [-50.0, 2.0, 5.5, 8.0, 9.5, 10.0]);
        check_soft(8.0, Some(10.0), Some(20.0), heights, [10.0, 10.0, 10.5, 12.0, 14.304_687_5, 16.875]);
    }

    #[test]
    fn soft_limits_are_never_crossed_and_higher_ground_stays_higher() {
        for (softness_m, low_m, high_m) in [(300.0, 0.0, 5.0), (60.0, -40.0, 40.0), (10_000.0, 20.0, 20.0)] {
            let clamp = Clamp { low_m: Some(low_m), high_m: Some(high_m), softness_m };
            let heights: Vec<f32> = (-2000..2000).map(|i| clamp.held(i as f32 * 0.25)).collect();
            assert!(heights.iter().all(|height| (low_m as f32..=high_m as f32).contains(height)), "{softness_m}");
            assert!(heights.is_sorted(), "{softness_m}");
        }
    }

    #[test]
    fn soft_and_missing_limits_leave_the_land_alone() {
        let heights = [-30.0, -1.0, 0.0, 4.5, 90.0, 1e9];
        check_soft(50.0, None, None, heights, heights);
        // A ceiling below the floor leaves nothing to round.
        check_soft(50.0, Some(50.0), Some(10.0), heights, [10.0; 6]);
    }
}
