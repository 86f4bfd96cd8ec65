//! The lines of the most recent faults, which glow on the terrain during playback.

use crate::engine::cast::ToFloat;
use crate::engine::fault::Fault;
use crate::engine::operations::FaultSequence;
use crate::engine::{Extent, Recipe};

/// The number of latest iterations whose faults glow.
const ITERATIONS: u32 = 8;

/// The maximum number of lines that glow at once: the length of the array in common.wgsl. A single fault tree may have
/// more than two hundred.
pub(crate) const MAX_LINES: usize = 64;

/// A glowing line on the terrain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GlowingFault {
    /// Metres east and south of the north-west corner.
    pub(crate) from_m: [f64; 2],
    pub(crate) to_m: [f64; 2],
    /// 1 for the most recent, less for older ones.
    pub(crate) strength: f32,
}

/// The lines of the faults of the last iterations before `position` on the timeline, most recent first.
pub(crate) fn recent_faults(recipe: &Recipe, position: u32) -> Vec<GlowingFault> {
    let extent = recipe.world.extent();
    let mut found = Vec::new();
    let timeline = recipe.timeline();
    let position = timeline.total().min(position);
    let mut end = position;
    for (step, done) in recipe.stack.iter().zip(timeline.step_positions(position)).rev() {
        // The step's iterations that are done end at `end` on the timeline.
        let begin = end - done;
        let first = (position.saturating_sub(ITERATIONS)).max(begin) - begin + 1;
        if first <= done {
            let age = |at: u32| position - (begin + at);
            if let Some(drawn) = step.operation.faults_from(first, extent, step.stream(recipe.seed)) {
                lines(drawn, first, done, extent, &mut |at, [from_m, to_m]| {
                    let share = 1.0 - age(at).to_f32() / ITERATIONS.to_f32();
                    found.push(GlowingFault { from_m, to_m, strength: share * share });
                });
            }
        }
        end = begin;
    }
    found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    found.truncate(MAX_LINES);
    found
}

/// Calls `found` with the lines of iterations `first` to `last`, each with its iteration.
fn lines(drawn: FaultSequence, first: u32, last: u32, extent: Extent, found: &mut impl FnMut(u32, [[f64; 2]; 2])) {
    match drawn {
        FaultSequence::Lines(lines) => {
            for (at, fault) in (first..=last).zip(lines) {
                if let Some(ends) = fault_line_ends(&fault, extent).filter(|_| fault.displacement_m != 0.0) {
                    found(at, ends);
                }
            }
        }
        FaultSequence::Placed(placed) => {
            for placed in placed.into_iter().filter(|placed| placed.at <= last) {
                let Fault { point_m: [x, z], normal: [nx, nz], .. } = placed.fault;
                let ends = match placed.ends {
                    Some(ends) => Some([[x, z], [x + nz * ends.length_m, z - nx * ends.length_m]]),
                    None => fault_line_ends(&placed.fault, extent),
                };
                if let Some(ends) = ends {
                    found(placed.at, ends);
                }
            }
        }
        FaultSequence::Trees(trees) => {
            for (at, tree) in (first..=last).zip(trees) {
                for segment in &tree.nodes {
                    found(at, [segment.from_m, segment.to_m]);
                }
            }
        }
    }
}

/// Where a fault's line enters the terrain and where it leaves it, so that the uplifted side is on the right; `None`
/// where it misses the terrain.
pub(crate) fn fault_line_ends(fault: &Fault, extent: Extent) -> Option<[[f64; 2]; 2]> {
    let Fault { point_m, normal: [nx, nz], .. } = *fault;
    let along = [nz, -nx];
    let mut interval = [f64::NEG_INFINITY, f64::INFINITY];
    for (axis, side) in [extent.width_m, extent.depth_m].into_iter().enumerate() {
        if along[axis].abs() < 1e-12 {
            if point_m[axis] < 0.0 || point_m[axis] > side {
                return None;
            }
        } else {
            let ends = [0.0, side].map(|border| (border - point_m[axis]) / along[axis]);
            interval = [interval[0].max(ends[0].min(ends[1])), interval[1].min(ends[0].max(ends[1]))];
        }
    }
    let at = |distance: f64| [0, 1].map(|axis| point_m[axis] + distance * along[axis]);
    (interval[0] < interval[1]).then(|| interval.map(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::bsp_faults::BspFaults;
    use crate::engine::operations::drawn_faults::DrawnFaults;
    use crate::engine::operations::faults::Faults;

    fn recipe() -> Recipe {
        let stack = vec![
            Step::new(Faults { count: 100_000, ..Default::default() }),
            Step::new(BspFaults { count: 3, depth: 2, ..Default::default() }),
            Step::new(DrawnFaults::default()),
        ];
        Recipe { stack, ..Default::default() }
    }

    #[test]
    fn the_lines_are_on_the_most_recent_faults_and_fade_with_age() {
        let recipe = recipe();
        let found = recent_faults(&recipe, 90_000);
        assert_eq!(found.len(), ITERATIONS as usize);
        assert!(found.is_sorted_by(|a, b| a.strength > b.strength) && found[0].strength == 1.0, "{found:?}");
        let step = &recipe.stack[0];
        let extent = recipe.world.extent();
        let drawn = step.operation.faults_from(90_000, extent, step.stream(recipe.seed)).expect("faults");
        let FaultSequence::Lines(mut lines) = drawn else { panic!("lines") };
        let most_recent = lines.next().expect("a fault");
        for [x, z] in [found[0].from_m, found[0].to_m] {
            assert!(most_recent.distance_m(x, z).abs() < 1e-6, "on the line");
            let border = [x, extent.width_m - x, z, extent.depth_m - z].map(f64::abs).into_iter().fold(1.0, f64::min);
            assert!(border < 1e-6, "at the border: {x}, {z}");
        }
        assert!(recent_faults(&recipe, 0).is_empty());
        assert_eq!(recent_faults(&recipe, 3).len(), 3);
    }

    #[test]
    fn the_most_recent_faults_span_steps_and_trees_have_all_their_lines() {
        let recipe = recipe();
        let aged = |found: &[GlowingFault], age: u32| {
            let share = 1.0 - age as f32 / ITERATIONS as f32;
            found.iter().filter(|line| line.strength == share * share).count()
        };
        // Two trees of three segments, and those of the plain faults before them that do not miss the terrain.
        let found = recent_faults(&recipe, 100_002);
        assert_eq!([0, 1].map(|age| aged(&found, age)), [3, 3]);
        assert!((7..=2 * 3 + 6).contains(&found.len()), "{}", found.len());
        // Three drawn faults, one per iteration, and three trees.
        let all = recent_faults(&recipe, u32::MAX);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|age| aged(&all, age)), [1, 1, 1, 3, 3, 3]);
        assert!(all.iter().any(|line| line.from_m == [500.0, 2300.0] && (line.to_m[0] - 2600.0).abs() < 1e-6));
    }

    #[test]
    fn a_fault_outside_the_terrain_has_no_line() {
        let fault = |x: f64| Fault {
            point_m: [x, 0.0],
            normal: [1.0, 0.0],
            displacement_m: 1.0,
            profile: crate::engine::fault::Profile::Step,
            zone_m: 0.0,
        };
        let extent = Extent { width_m: 200.0, depth_m: 100.0 };
        assert_eq!(fault_line_ends(&fault(-1.0), extent), None);
        assert_eq!(fault_line_ends(&fault(30.0), extent), Some([[30.0, 100.0], [30.0, 0.0]]));
    }
}
