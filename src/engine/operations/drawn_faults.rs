//! Faults placed by hand, each with its displacement, profile and position on the timeline.
//!
//! A drawn fault has the usual equation h += d·w(dist), where dist is the signed distance from its line, positive to
//! the right of the direction from start to end (north on top). It runs across the whole map or fades out beyond its
//! two ends: then w is multiplied by a smoothstep that falls from 1 at the end to 0 at `reach_m` beyond it.

use super::fault_sequence::{Ends, FaultSequence, PlacedFault};
use super::operation::{EvalContext, Keyframe, Operation};
use crate::fault::{Fault, FaultSum, Profile, quantized_displacement};
use crate::heightfield::{Extent, Heightfield};
use crate::parameters::{List, MAX_COORDINATE_M, ParameterError, Point, Spec, parameters};
use crate::progress::Cancelled;
use crate::random::Stream;

parameters! {
    /// A fault placed by hand. The terrain to the right of the direction from start to end goes up.
    pub struct DrawnFault {
        /// Start of the line, metres east and south of the map's north-west corner.
        from_m: Point = Point { x_m: 2048.0, z_m: 3600.0 },
            Spec::number("Start", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");
        /// End of the line, metres east and south of the map's north-west corner.
        to_m: Point = Point { x_m: 2048.0, z_m: 500.0 },
            Spec::number("End", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");
        /// Height by which the right side rises and the left side sinks. Negative values reverse the sides.
        displacement_m: f64 = 100.0,
            Spec::number("Displacement", -10_000.0, 10_000.0).slider(-2000.0, 2000.0).unit("m")
                .both_sides("profile", Profile::TWO_SIDED);
        /// Cross-section of the fault, from a cliff to a wave.
        profile: Profile = Profile::Smooth, Spec::new("Profile");
        /// Width of the fault zone on each side of the line. Wide zones give soft slopes.
        zone_m: f64 = 400.0,
            Spec::number("Fault zone", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic()
                .when("profile", Profile::WITH_ZONE);
        /// Distance beyond each end over which the fault fades out. Off: the fault runs across the whole map.
        reach_m: Option<f64> = None,
            Spec::number("Fade-out length", 0.0, 1_000_000.0).slider(0.0, 4000.0).unit("m").none("unlimited");
        /// Iteration of the step in which the fault appears. 0 and 1 both mean the first.
        at: u32 = 1, Spec::number("At iteration", 0.0, 1_000_000.0).slider(1.0, 100.0);
        /// Whether the fault has any effect.
        enabled: bool = true, Spec::new("Enabled");
    }
}

parameters! {
    /// Builds terrain from faults placed by hand: a cliff, a valley or the front of a range where you want it.
    pub struct DrawnFaults {
        /// The faults. Each is a line that lifts the terrain on its right.
        faults: List<DrawnFault> = default_faults(), Spec::new("Faults");
    }
}

/// A scarp across the default world, a ridge along its foot and a valley in its flank.
fn default_faults() -> List<DrawnFault> {
    let point = |x_m, z_m| Point { x_m, z_m };
    vec![
        DrawnFault { from_m: point(1500.0, 4096.0), to_m: point(2300.0, 0.0), ..Default::default() },
        DrawnFault {
            from_m: point(2300.0, 900.0),
            to_m: point(3300.0, 3300.0),
            displacement_m: 140.0,
            profile: Profile::Cosine,
            zone_m: 700.0,
            reach_m: Some(900.0),
            at: 2,
            enabled: true,
        },
        DrawnFault {
            from_m: point(500.0, 2300.0),
            to_m: point(2600.0, 1800.0),
            displacement_m: -90.0,
            profile: Profile::Cosine,
            zone_m: 450.0,
            reach_m: Some(700.0),
            at: 3,
            enabled: true,
        },
    ]
    .into()
}

impl DrawnFault {
    /// The fault prepared for summing; `None` if start and end coincide, so that it has no direction.
    fn placed(&self) -> Option<PlacedFault> {
        let along = [self.to_m.x_m - self.from_m.x_m, self.to_m.z_m - self.from_m.z_m];
        let length_m = libm::hypot(along[0], along[1]);
        let fault = Fault {
            point_m: [self.from_m.x_m, self.from_m.z_m],
            // z points south: a quarter turn to the right takes (0, −1), north, to (1, 0), east.
            normal: [-along[1] / length_m, along[0] / length_m],
            displacement_m: quantized_displacement(self.displacement_m),
            profile: self.profile,
            zone_m: if self.profile == Profile::Step { 0.0 } else { self.zone_m },
        };
        let ends = self.reach_m.map(|reach_m| Ends { length_m, reach_m });
        (length_m > 0.0).then_some(PlacedFault { at: self.at.max(1), fault, ends })
    }
}

impl DrawnFaults {
    /// The enabled faults from an iteration on, in the order of their iterations.
    fn placed_from(&self, first: u32) -> Vec<PlacedFault> {
        let later = self.faults.iter().filter(|fault| fault.enabled && fault.at.max(1) >= first);
        let mut placed: Vec<PlacedFault> = later.filter_map(DrawnFault::placed).collect();
        placed.sort_by_key(|fault| fault.at);
        placed
    }
}

impl Operation for DrawnFaults {
    const KEY: &'static str = "drawn_faults";
    const LABEL: &'static str = "Drawn faults";
    const WORDS: &'static str = "cliff escarpment scarp line edge";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        let effective = self.faults.iter().filter(|fault| fault.enabled && fault.from_m != fault.to_m);
        effective.map(|fault| fault.at.max(1)).max().unwrap_or(0)
    }

    fn warnings(&self) -> Vec<ParameterError> {
        let is_idle = |(_, fault): &(usize, &DrawnFault)| fault.enabled && fault.from_m == fault.to_m;
        let message = "it begins where it ends, so it does nothing; move an end, or remove it";
        let warning = |(i, _)| ParameterError::conflict(format!("faults.{i}"), message);
        self.faults.iter().enumerate().filter(is_idle).map(warning).collect()
    }

    fn faults_from(&self, first: u32, _extent: Extent, _stream: Stream) -> Option<FaultSequence<'_>> {
        Some(FaultSequence::Placed(self.placed_from(first)))
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let mut placed = self.placed_from(1);
        placed.truncate(placed.partition_point(|fault| fault.at <= until));
        let (ending, endless): (Vec<PlacedFault>, Vec<PlacedFault>) =
            placed.into_iter().partition(|fault| fault.ends.is_some());
        let endless: Vec<Fault> = endless.iter().map(|placed| placed.fault).collect();
        let sum = FaultSum { grid: context.grid, faults: &endless, progress: context.progress };
        sum.terrain(|z_m, xs, sums| {
            ending.iter().try_for_each(|fault| {
                fault.add_row(z_m, xs, sums);
                context.progress.check()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::evaluated;
    use super::*;
    use crate::heightfield::Grid;
    use crate::parameters::Field;

    const WORLD: Extent = Extent { width_m: 300.0, depth_m: 200.0 };

    fn terrain(faults: Vec<DrawnFault>, grid: Grid, until: u32) -> Heightfield {
        evaluated(&DrawnFaults { faults: faults.into() }, grid, None, until)
    }

    fn fault(from: [f64; 2], to: [f64; 2]) -> DrawnFault {
        let point = |[x_m, z_m]: [f64; 2]| Point { x_m, z_m };
        let step = DrawnFault { displacement_m: 5.0, profile: Profile::Step, ..Default::default() };
        DrawnFault { from_m: point(from), to_m: point(to), ..step }
    }

    #[test]
    fn the_right_side_goes_up() {
        let grid = Grid::new(WORLD, 4, 3);
        // Northward between columns 1 and 2: the east is on the right.
        let north = terrain(vec![fault([150.0, 200.0], [150.0, 0.0])], grid, 1);
        assert_eq!(north.row(1), [-5.0, -5.0, 5.0, 5.0]);
        // Eastward between rows 0 and 1: the south is on the right.
        let east = terrain(vec![fault([0.0, 50.0], [10.0, 50.0])], grid, 1);
        assert_eq!([east[(0, 0)], east[(0, 1)], east[(0, 2)]], [-5.0, 5.0, 5.0]);
        // Westward, with a negative displacement: the same again.
        let west = DrawnFault { displacement_m: -5.0, ..fault([10.0, 50.0], [0.0, 50.0]) };
        assert_eq!(terrain(vec![west], grid, 1), east);
    }

    #[test]
    fn a_fault_with_a_reach_fades_beyond_its_ends() {
        let grid = Grid::new(WORLD, 31, 21);
        let short = DrawnFault { reach_m: Some(40.0), ..fault([100.0, 100.0], [200.0, 100.0]) };
        let terrain = terrain(vec![short], grid, 1);
        // South of the line: the full displacement between the ends, half of it half-way through the reach, then none.
        for (column, expected) in [(10, 5.0), (15, 5.0), (20, 5.0), (22, 2.5), (8, 2.5), (24, 0.0), (30, 0.0), (0, 0.0)]
        {
            assert_eq!(terrain[(column, 15)], expected, "column {column}");
            assert_eq!(terrain[(column, 5)], -expected, "column {column}");
        }
    }

    #[test]
    fn faults_appear_at_their_iterations_and_can_be_disabled() {
        let grid = Grid::new(WORLD, 7, 5);
        let (a, b) = (fault([10.0, 20.0], [200.0, 150.0]), fault([290.0, 5.0], [3.0, 170.0]));
        let faults = |a_on| vec![DrawnFault { at: 4, ..b.clone() }, DrawnFault { at: 2, enabled: a_on, ..a.clone() }];
        assert_eq!(DrawnFaults { faults: faults(true).into() }.iterations(), 4);
        assert_eq!(terrain(faults(true), grid, 1).min_max(), [0.0, 0.0]);
        assert_eq!(terrain(faults(true), grid, 3), terrain(vec![a.clone()], grid, 1));
        assert_eq!(terrain(faults(false), grid, 4), terrain(vec![b.clone()], grid, 1));
        assert_eq!(DrawnFaults { faults: List::default() }.iterations(), 0);
        assert_eq!(terrain(vec![fault([5.0, 5.0], [5.0, 5.0])], grid, 1).min_max(), [0.0, 0.0], "no direction");
    }

    /// All settings at once, in every direction, on and off the map, against the plain sum over all samples.
    #[test]
    fn the_terrain_is_the_plain_sum_of_the_uplifts() {
        let grid = Grid::new(WORLD, 61, 43);
        let mut rng = Stream::new(1, 2).at(3);
        let mut faults = Vec::new();
        for i in 0..72 {
            let mut place = || [rng.between(-100.0, 400.0), rng.between(-100.0, 300.0)];
            let (from, mut to) = (place(), place());
            // Some lines are exactly vertical or horizontal.
            match i % 8 {
                0 => to[0] = from[0],
                1 => to[1] = from[1],
                _ => {}
            }
            faults.push(DrawnFault {
                displacement_m: rng.between(-50.0, 50.0),
                profile: Profile::ALL[i % Profile::ALL.len()],
                zone_m: rng.between(0.0, 80.0),
                reach_m: rng.chance(0.7).then(|| rng.between(0.0, 120.0)),
                at: i as u32,
                ..fault(from, to)
            });
        }
        let found = terrain(faults.clone(), grid, 1000);
        for r in 0..grid.height() {
            for c in 0..grid.width() {
                let lift = |fault: &DrawnFault| {
                    let ([fx, fz], [tx, tz]) = ([fault.from_m.x_m, fault.from_m.z_m], [fault.to_m.x_m, fault.to_m.z_m]);
                    let (x, z) = (grid.x_m(c) - fx, grid.z_m(r) - fz);
                    let length = libm::hypot(tx - fx, tz - fz);
                    let (ux, uz) = ((tx - fx) / length, (tz - fz) / length);
                    let (along, right) = (x * ux + z * uz, z * ux - x * uz);
                    let share = fault.reach_m.map_or(1.0, |reach| {
                        let t = (1.0 - (-along).max(along - length).max(0.0) / reach).max(0.0);
                        t * t * (3.0 - 2.0 * t)
                    });
                    fault.displacement_m * share * fault.profile.weight(right, fault.zone_m)
                };
                let sum: f64 = faults.iter().map(lift).sum();
                assert!((f64::from(found[(c, r)]) - sum).abs() < 1e-3, "{c}, {r}: {} not {sum}", found[(c, r)]);
            }
        }
    }

    #[test]
    fn a_fault_without_ends_is_a_plain_fault() {
        let placed = fault([150.0, 200.0], [150.0, 0.0]).placed().expect("a direction");
        assert_eq!((placed.fault.normal, placed.ends), ([1.0, 0.0], None));
        assert_eq!(DrawnFault::default().to_value().to_json()["from_m"], serde_json::json!([2048.0, 3600.0]));
    }
}
