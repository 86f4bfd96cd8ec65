//! Heights held between two limits.

use super::{Keyframe, Operate, Role, Site};
use crate::engine::heightfield::Heightfield;
use crate::engine::monitor::Cancelled;
use crate::engine::parameters::{Spec, parameters};

parameters! {
    /// Holds the land between a floor and a ceiling: what is lower or higher becomes level there.
    pub struct Clamp {
        /// The floor: deeper ground is filled up to it, as by a lake; empty: none.
        low_m: Option<f64> = Some(0.0), Spec::number("Low", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m");
        /// The ceiling: higher ground is cut off at it, as by a plateau; empty: none. Where it lies below the floor, the
        /// ceiling counts.
        high_m: Option<f64> = None, Spec::number("High", -20_000.0, 100_000.0).slider(0.0, 5000.0).unit("m");
    }
}

impl Operate for Clamp {
    const KEY: &'static str = "clamp";
    const LABEL: &'static str = "Clamp";

    fn role(&self) -> Role {
        Role::Shapes
    }

    fn evaluate(&self, site: &Site, _until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let low = self.low_m.map_or(f32::NEG_INFINITY, |m| m as f32);
        let high = self.high_m.map_or(f32::INFINITY, |m| m as f32);
        site.reshaped(|height, _, _| height.max(low).min(high))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::shaped;
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    #[track_caller]
    fn check(low_m: Option<f64>, high_m: Option<f64>, expected: [f32; 6]) {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 10.0 }, 3, 2);
        let below = Heightfield::from_heights(grid, vec![-30.0, -1.0, 0.0, 4.5, 90.0, 1e9]).expect("six samples");
        let land = shaped(&Clamp { low_m, high_m }, &below);
        assert_eq!(land.heights(), expected);
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
}
