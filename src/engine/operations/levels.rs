//! Redistributes the heights between two levels by a power curve.

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;

parameters! {
    /// Redistributes the heights between two levels by a power curve: wide valleys below steep peaks, or high plains
    /// above gorges. Heights outside the levels are unchanged.
    pub struct Levels {
        /// Height at which the curve starts. Off: the lowest height of the terrain.
        low_m: Option<f64> = None, Spec::number("Low", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m").none("lowest point");
        /// Height at which the curve ends. Off: the highest point of the terrain. If it is below Low, the step has no
        /// effect.
        high_m: Option<f64> = None, Spec::number("High", -20_000.0, 100_000.0).slider(0.0, 5000.0).unit("m").none("highest point");
        /// Exponent of the curve. Values above 1 lower the terrain so that only its peaks remain high; values below 1
        /// raise it; 1 has no effect.
        curve: f64 = 1.8, Spec::number("Curve exponent", 0.01, 100.0).slider(0.2, 5.0).logarithmic();
    }
}

impl Levels {
    /// low + (high − low)·t^curve with t = (h − low)/(high − low) for heights between the levels. It is continuous at
    /// both levels.
    fn mapped(&self, height: f32, [low_m, high_m]: [f64; 2]) -> f32 {
        let (from_low, span) = (f64::from(height) - low_m, high_m - low_m);
        if from_low > 0.0 && from_low < span {
            (low_m + span * libm::pow(from_low / span, self.curve)).to_f32()
        } else {
            height
        }
    }
}

impl Operation for Levels {
    const KEY: &'static str = "levels";
    const LABEL: &'static str = "Levels";
    const WORDS: &'static str = "curve remap contrast gamma histogram";

    fn is_pointwise(&self) -> bool {
        self.low_m.is_some() && self.high_m.is_some()
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let range =
            context.below.map(|below| below.min_max_cancellable(context.progress)).transpose()?.unwrap_or_default();
        let [lowest, highest] = range.map(f64::from);
        let levels_m = [self.low_m.unwrap_or(lowest), self.high_m.unwrap_or(highest)];
        context.map_heights(|height, _, _| self.mapped(height, levels_m))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::modified;
    use super::*;
    use crate::heightfield::{Extent, Grid};

    #[track_caller]
    fn check(levels: &Levels, heights: [f32; 6], expected: [f32; 6]) {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 10.0 }, 3, 2);
        let below = Heightfield::from_heights(grid, heights.to_vec()).expect("six samples");
        let terrain = modified(levels, &below);
        assert_eq!(terrain.heights(), expected);
    }

    #[test]
    fn a_square_matches_values_computed_by_hand() {
        // A quarter, a half and three quarters of the range become their squares.
        let levels = Levels { low_m: Some(100.0), high_m: Some(500.0), curve: 2.0 };
        check(&levels, [100.0, 200.0, 300.0, 400.0, 500.0, 100.0], [100.0, 125.0, 200.0, 325.0, 500.0, 100.0]);
    }

    #[test]
    fn terrain_outside_the_levels_is_unchanged() {
        let levels = Levels { low_m: Some(100.0), high_m: Some(500.0), curve: 0.3 };
        check(&levels, [-1e9, 99.0, 100.0, 500.0, 501.0, 1e9], [-1e9, 99.0, 100.0, 500.0, 501.0, 1e9]);
    }

    #[test]
    fn crossed_levels_and_exponent_1_change_nothing() {
        let heights = [-5.0, 0.0, 1.0, 250.0, 700.0, 900.0];
        check(&Levels { low_m: Some(500.0), high_m: Some(100.0), curve: 2.0 }, heights, heights);
        check(&Levels { low_m: Some(100.0), high_m: Some(100.0), curve: 2.0 }, heights, heights);
        check(&Levels { low_m: Some(0.0), high_m: Some(1000.0), curve: 1.0 }, heights, heights);
    }

    #[test]
    fn the_order_of_heights_is_kept() {
        let levels = Levels::default();
        let mapped = |m: i32| levels.mapped(m as f32, [0.0, 1000.0]);
        assert!((-200..1300).all(|m| mapped(m) < mapped(m + 1)));
    }

    #[test]
    fn without_levels_the_full_range_is_mapped() {
        let levels = Levels { curve: 2.0, ..Default::default() };
        check(&levels, [100.0, 200.0, 300.0, 400.0, 500.0, 100.0], [100.0, 125.0, 200.0, 325.0, 500.0, 100.0]);
    }
}
