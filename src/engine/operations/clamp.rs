//! Clamps heights between two limits.
//!
//! The height becomes min(max(h, low), high), with maximum and minimum rounded by a parabola (I. Quilez, "Smooth
//! minimum", 2013): at a limit the terrain is a quarter of the softness inside it, and at the distance of the softness
//! it is unchanged.

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;
use crate::rounding::{smooth_maximum, smooth_minimum};

parameters! {
    /// Limits the heights to a range. Lower or higher terrain becomes level.
    pub struct Clamp {
        /// Minimum height; lower terrain is filled up to it, as by a lake. Off: no limit.
        low_m: Option<f64> = Some(0.0), Spec::number("Minimum", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m").none("unlimited");
        /// Maximum height; higher terrain is cut off, which leaves a plateau. Off: no limit. Takes precedence over a
        /// higher minimum.
        high_m: Option<f64> = None, Spec::number("Maximum", -20_000.0, 100_000.0).slider(0.0, 5000.0).unit("m").none("unlimited");
        /// Range of heights on each side of a limit over which the edge is rounded. 0 leaves a sharp edge; values
        /// larger than the distance between the limits have no further effect.
        softness_m: f64 = 0.0, Spec::number("Softness", 0.0, 10_000.0).slider(0.0, 500.0).unit("m");
    }
}

impl Clamp {
    fn clamped(&self, height: f32) -> f32 {
        let low = self.low_m.map_or(f32::NEG_INFINITY, |m| m.to_f32());
        let high = self.high_m.map_or(f32::INFINITY, |m| m.to_f32());
        // A wider rounding at one limit would move heights beyond the other.
        let softness = self.softness_m.to_f32().min(high - low);
        smooth_minimum(smooth_maximum(height, low, softness), high, softness)
    }
}

impl Operation for Clamp {
    const KEY: &'static str = "clamp";
    const LABEL: &'static str = "Clamp";
    const WORDS: &'static str = "limit cut cap plain floor ceiling";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        context.map_heights(|height, _, _| self.clamped(height))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::modified;
    use super::*;
    use crate::heightfield::{Extent, Grid};

    #[track_caller]
    fn check(low_m: Option<f64>, high_m: Option<f64>, expected: [f32; 6]) {
        check_soft(0.0, low_m, high_m, [-30.0, -1.0, 0.0, 4.5, 90.0, 1e9], expected);
    }

    #[track_caller]
    fn check_soft(softness_m: f64, low_m: Option<f64>, high_m: Option<f64>, heights: [f32; 6], expected: [f32; 6]) {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 10.0 }, 3, 2);
        let below = Heightfield::from_heights(grid, heights.to_vec()).expect("six samples");
        let terrain = modified(&Clamp { low_m, high_m, softness_m }, &below);
        assert_eq!(terrain.heights(), expected);
    }

    #[test]
    fn heights_are_limited_and_unchanged_in_between() {
        check(Some(-1.5), Some(4.5), [-1.5, -1.0, 0.0, 4.5, 4.5, 4.5]);
    }

    #[test]
    fn either_limit_may_be_missing() {
        check(Some(0.0), None, [0.0, 0.0, 0.0, 4.5, 90.0, 1e9]);
        check(None, Some(0.0), [-30.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
        check(None, None, [-30.0, -1.0, 0.0, 4.5, 90.0, 1e9]);
    }

    #[test]
    fn a_maximum_below_the_minimum_takes_precedence() {
        check(Some(50.0), Some(10.0), [10.0; 6]);
    }

    #[test]
    fn soft_limits_match_values_computed_by_hand() {
        // Inside the limit by a quarter of the softness at it, a sixteenth at half the softness away, nothing beyond.
        let heights = [-50.0, 2.0, 6.0, 10.0, 14.0, 18.0];
        check_soft(8.0, Some(10.0), None, heights, [10.0, 10.0, 10.5, 12.0, 14.5, 18.0]);
        check_soft(8.0, None, Some(10.0), heights, [-50.0, 2.0, 5.5, 8.0, 9.5, 10.0]);
        check_soft(8.0, Some(10.0), Some(20.0), heights, [10.0, 10.0, 10.5, 12.0, 14.304_687_5, 16.875]);
    }

    #[test]
    fn soft_limits_are_never_exceeded_and_keep_the_order_of_heights() {
        for (softness_m, low_m, high_m) in [(300.0, 0.0, 5.0), (60.0, -40.0, 40.0), (10_000.0, 20.0, 20.0)] {
            let clamp = Clamp { low_m: Some(low_m), high_m: Some(high_m), softness_m };
            let heights: Vec<f32> = (-2000..2000).map(|i| clamp.clamped(i as f32 * 0.25)).collect();
            assert!(heights.iter().all(|height| (low_m as f32..=high_m as f32).contains(height)), "{softness_m}");
            assert!(heights.is_sorted(), "{softness_m}");
        }
    }

    #[test]
    fn softness_without_limits_changes_nothing() {
        let heights = [-30.0, -1.0, 0.0, 4.5, 90.0, 1e9];
        check_soft(50.0, None, None, heights, heights);
        // A maximum below the minimum leaves nothing to round.
        check_soft(50.0, Some(50.0), Some(10.0), heights, [10.0; 6]);
    }
}
