//! The designer's own faults: lines laid by hand, each with its displacement, profile and place in the uplift.
//!
//! A drawn fault is a fault like any other: h += d·w(dist), with dist the signed distance from its line, positive to
//! the right of the way from its first end to its second (north on top). It runs across the whole map, or fades along
//! its length beyond its two ends: then w is multiplied by a smoothstep that falls from 1 at the end to 0 `reach_m`
//! beyond it.

use super::{FaultSequence, Keyframe, Operation, EvalContext};
use crate::engine::fault::{FaultSum, Fault, Profile, quantized_displacement, to_units};
use crate::engine::heightfield::{Extent, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Point, Spec, parameters};
use crate::engine::random::Stream;
use crate::engine::rounding::smoothstep;

/// Faults lie within so many metres: the longest side that a world can have.
const FARTHEST_M: f64 = 1_000_000.0;

parameters! {
    /// A fault laid by hand: the land to the right of the way from its first end to its second goes up.
    pub struct DrawnFault {
        /// Where the line begins, east and south of the map's north-west corner.
        from_m: Point = Point { x_m: 2048.0, z_m: 3600.0 },
            Spec::number("From", -FARTHEST_M, FARTHEST_M).slider(0.0, 4096.0).unit("m");
        /// Where the line ends, east and south of the map's north-west corner.
        to_m: Point = Point { x_m: 2048.0, z_m: 500.0 },
            Spec::number("To", -FARTHEST_M, FARTHEST_M).slider(0.0, 4096.0).unit("m");
        /// How far the right side rises and the left side sinks; negative the other way round.
        displacement_m: f64 = 100.0,
            Spec::number("Displacement", -10_000.0, 10_000.0).slider(-2000.0, 2000.0).unit("m");
        /// The cross-section of the fault, from a cliff to a wave.
        profile: Profile = Profile::Smooth, Spec::new("Profile");
        /// How far the fault zone reaches to each side of the line: wide zones give soft slopes.
        zone_m: f64 = 400.0,
            Spec::number("Fault zone", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic()
                .when("profile", &[
                    "ramp", "smooth", "sine", "cosine", "exponential", "gaussian", "linear", "biweight",
                ]);
        /// How far beyond its two ends the fault fades out; empty: it runs across the whole map.
        reach_m: Option<f64> = None,
            Spec::number("Reach", 0.0, 1_000_000.0).slider(0.0, 4000.0).unit("m");
        /// The iteration of the step with which the fault comes; 0 and 1 are the first one.
        at: u32 = 1, Spec::number("At iteration", 0.0, 1_000_000.0).slider(1.0, 100.0);
        /// Whether the fault takes part.
        enabled: bool = true, Spec::new("Enabled");
    }
}

parameters! {
    /// Raises land by faults laid by hand, where the designer wants a cliff, a valley or the front of a range.
    pub struct DrawnFaults {
        /// The faults, each a line from one place to another that lifts the land on its right.
        faults: Vec<DrawnFault> = by_default(), Spec::new("Fault");
    }
}

/// A scarp across the default world, a ridge along its foot and a valley into its flank.
fn by_default() -> Vec<DrawnFault> {
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
}

/// A drawn fault as a line with its length, made ready to be summed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedFault {
    /// The iteration of the step with which it comes, from 1 on.
    pub at: u32,
    /// The line without its ends.
    pub fault: Fault,
    /// Its ends; `None` if it runs across the whole map.
    pub ends: Option<Ends>,
}

/// Where a drawn fault ends, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// From where to where it has its whole displacement, metres.
    pub length_m: f64,
    /// How far beyond either end it fades out, metres.
    pub reach_m: f64,
}

impl Ends {
    /// The share of the displacement at a place along the line, in metres from its beginning.
    fn share(&self, along_m: f64) -> f64 {
        let beyond_m = (-along_m).max(along_m - self.length_m);
        if beyond_m <= 0.0 {
            return 1.0;
        }
        if beyond_m >= self.reach_m {
            return 0.0;
        }
        smoothstep(1.0 - beyond_m / self.reach_m)
    }
}

impl PlacedFault {
    /// `None` if its two ends are one, so that it has no direction.
    fn new(drawn: &DrawnFault) -> Option<Self> {
        let along = [drawn.to_m.x_m - drawn.from_m.x_m, drawn.to_m.z_m - drawn.from_m.z_m];
        let length_m = libm::hypot(along[0], along[1]);
        let fault = Fault {
            point_m: [drawn.from_m.x_m, drawn.from_m.z_m],
            // z runs south: a quarter turn to the right takes (0, −1), north, to (1, 0), east.
            normal: [-along[1] / length_m, along[0] / length_m],
            displacement_m: quantized_displacement(drawn.displacement_m),
            profile: drawn.profile,
            zone_m: if drawn.profile == Profile::Step { 0.0 } else { drawn.zone_m },
        };
        let ends = drawn.reach_m.map(|reach_m| Ends { length_m, reach_m });
        (length_m > 0.0).then_some(Self { at: drawn.at.max(1), fault, ends })
    }

    /// How far a point lies along the line from its beginning, in metres.
    fn along_m(&self, x_m: f64, z_m: f64) -> f64 {
        let ([nx, nz], [px, pz]) = (self.fault.normal, self.fault.point_m);
        (x_m - px) * nz - (z_m - pz) * nx
    }

    /// How far the fault lifts a point, in metres.
    pub fn uplift_m(&self, x_m: f64, z_m: f64) -> f64 {
        let share = self.ends.map_or(1.0, |ends| ends.share(self.along_m(x_m, z_m)));
        self.fault.uplift_m(x_m, z_m) * share
    }

    /// Adds the lift of a row's samples, in units of the displacement grid.
    fn add_row(&self, z_m: f64, xs: &[f64], sums: &mut [i64]) {
        let (mut first, mut last) = (0, xs.len());
        if let Some(ends) = self.ends {
            // Beyond its reach a fault lifts nothing: the row is cut to what lies between, where it is cut at all.
            let rising = self.fault.normal[1] > 0.0;
            let is_before = |x: f64| self.along_m(x, z_m) < -ends.reach_m;
            let is_within = |x: f64| self.along_m(x, z_m) <= ends.length_m + ends.reach_m;
            (first, last) = if rising {
                (xs.partition_point(|&x| is_before(x)), xs.partition_point(|&x| is_within(x)))
            } else {
                (xs.partition_point(|&x| !is_within(x)), xs.partition_point(|&x| !is_before(x)))
            };
        }
        if first < last {
            for (sum, &x) in sums[first..last].iter_mut().zip(&xs[first..last]) {
                *sum += to_units(self.uplift_m(x, z_m));
            }
        }
    }
}

impl DrawnFaults {
    /// Those that take part, in the order in which they come.
    fn laid(&self) -> Vec<PlacedFault> {
        let mut laid: Vec<PlacedFault> =
            self.faults.iter().filter(|fault| fault.enabled).filter_map(PlacedFault::new).collect();
        laid.sort_by_key(|fault| fault.at);
        laid
    }
}

impl Operation for DrawnFaults {
    const KEY: &'static str = "drawn_faults";
    const LABEL: &'static str = "Drawn faults";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        let taking_part = self.faults.iter().filter(|fault| fault.enabled && fault.from_m != fault.to_m);
        taking_part.map(|fault| fault.at.max(1)).max().unwrap_or(0)
    }

    fn faults_from(&self, first: u32, _extent: Extent, _stream: Stream) -> Option<FaultSequence<'_>> {
        let mut laid = self.laid();
        laid.retain(|fault| fault.at >= first);
        Some(FaultSequence::Placed(laid))
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let laid = self.laid();
        let come = &laid[..laid.partition_point(|fault| fault.at <= until)];
        let endless: Vec<Fault> = come.iter().filter(|laid| laid.ends.is_none()).map(|laid| laid.fault).collect();
        let ending: Vec<&PlacedFault> = come.iter().filter(|laid| laid.ends.is_some()).collect();
        let sum = FaultSum { grid: context.grid, faults: &endless, progress: context.progress };
        sum.terrain(|z_m, xs, sums| {
            ending.iter().try_for_each(|laid| {
                laid.add_row(z_m, xs, sums);
                context.progress.check()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::raised;
    use super::*;
    use crate::engine::heightfield::Grid;
    use crate::engine::parameters::Field;

    const WORLD: Extent = Extent { width_m: 300.0, depth_m: 200.0 };

    fn terrain(faults: Vec<DrawnFault>, grid: Grid, until: u32) -> Heightfield {
        raised(&DrawnFaults { faults }, grid, None, until)
    }

    fn fault(from: [f64; 2], to: [f64; 2]) -> DrawnFault {
        let point = |[x_m, z_m]: [f64; 2]| Point { x_m, z_m };
        let step = DrawnFault { displacement_m: 5.0, profile: Profile::Step, ..Default::default() };
        DrawnFault { from_m: point(from), to_m: point(to), ..step }
    }

    #[test]
    fn the_right_of_the_way_goes_up() {
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
        // South of the line: its whole displacement between the ends, half of it half-way through the reach, then none.
        for (column, expected) in [(10, 5.0), (15, 5.0), (20, 5.0), (22, 2.5), (8, 2.5), (24, 0.0), (30, 0.0), (0, 0.0)] {
            assert_eq!(terrain[(column, 15)], expected, "column {column}");
            assert_eq!(terrain[(column, 5)], -expected, "column {column}");
        }
    }

    #[test]
    fn faults_come_in_their_turn_and_can_be_switched_off() {
        let grid = Grid::new(WORLD, 7, 5);
        let (a, b) = (fault([10.0, 20.0], [200.0, 150.0]), fault([290.0, 5.0], [3.0, 170.0]));
        let faults = |a_on| vec![DrawnFault { at: 4, ..b.clone() }, DrawnFault { at: 2, enabled: a_on, ..a.clone() }];
        assert_eq!(DrawnFaults { faults: faults(true) }.iterations(), 4);
        assert_eq!(terrain(faults(true), grid, 1).min_max(), [0.0, 0.0]);
        assert_eq!(terrain(faults(true), grid, 3), terrain(vec![a.clone()], grid, 1));
        assert_eq!(terrain(faults(false), grid, 4), terrain(vec![b.clone()], grid, 1));
        assert_eq!(DrawnFaults { faults: Vec::new() }.iterations(), 0);
        assert_eq!(terrain(vec![fault([5.0, 5.0], [5.0, 5.0])], grid, 1).min_max(), [0.0, 0.0], "no direction");
    }

    /// Everything at once, in every direction, on and off the map, against the plain sum over all samples.
    #[test]
    fn the_land_is_the_plain_sum_of_the_lifts() {
        let grid = Grid::new(WORLD, 61, 43);
        let mut draw = Stream::new(1, 2).at(3);
        let mut faults = Vec::new();
        for i in 0..72 {
            let mut place = || [draw.between(-100.0, 400.0), draw.between(-100.0, 300.0)];
            let (from, mut to) = (place(), place());
            // Some lines exactly upright or level.
            match i % 8 {
                0 => to[0] = from[0],
                1 => to[1] = from[1],
                _ => {}
            }
            faults.push(DrawnFault {
                displacement_m: draw.between(-50.0, 50.0),
                profile: Profile::ALL[i % Profile::ALL.len()],
                zone_m: draw.between(0.0, 80.0),
                reach_m: draw.chance(0.7).then(|| draw.between(0.0, 120.0)),
                at: i as u32,
                ..fault(from, to)
            });
        }
        let found = terrain(faults.clone(), grid, 1000);
        for r in 0..grid.height() {
            for c in 0..grid.width() {
                let lift = |fault: &DrawnFault| {
                    let ([fx, fz], [tx, tz]) =
                        ([fault.from_m.x_m, fault.from_m.z_m], [fault.to_m.x_m, fault.to_m.z_m]);
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
    fn a_fault_without_ends_is_a_fault_like_any_other() {
        let laid = PlacedFault::new(&fault([150.0, 200.0], [150.0, 0.0])).expect("a direction");
        assert_eq!((laid.fault.normal, laid.ends), ([1.0, 0.0], None));
        assert_eq!(DrawnFault::default().to_value()["from_m"], serde_json::json!([2048.0, 3600.0]));
    }
}
