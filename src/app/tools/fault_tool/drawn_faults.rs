//! Access to the drawn faults of a recipe.

use crate::app::tools::context::enable;
use crate::engine::heightfield::Extent;
use crate::engine::operations::drawn_faults::{DrawnFault, DrawnFaults};
use crate::engine::operations::faults::{Faults, OwnFault};
use crate::engine::operations::{AnyOperation, Role};
use crate::engine::parameters::{Group, List, Point, Value};
use crate::engine::recipe::{Recipe, Step};
use crate::scene::fault_line_ends;

/// The indices of a drawn fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaultIndex {
    /// The step in the stack.
    pub(super) step: usize,
    /// The fault in the step.
    pub(super) fault: usize,
}

/// The enabled steps with drawn faults.
pub(super) fn enabled_lists(recipe: &Recipe) -> impl Iterator<Item = (usize, &List<DrawnFault>)> {
    recipe.active_steps().filter_map(|(i, step)| match &step.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => Some((i, faults)),
        _ => None,
    })
}

/// The enabled steps with random faults that are edited by hand.
pub(super) fn enabled_own_lists(recipe: &Recipe) -> impl Iterator<Item = (usize, &List<OwnFault>)> {
    recipe.active_steps().filter_map(|(i, step)| match &step.operation {
        AnyOperation::Faults(Faults { own, .. }) if !own.is_empty() => Some((i, own)),
        _ => None,
    })
}

/// The indices of all drawn faults of enabled steps, and of the random ones that are edited by hand.
fn enabled_indices(recipe: &Recipe) -> impl Iterator<Item = FaultIndex> {
    let drawn = enabled_lists(recipe).map(|(step, faults)| (step, faults.len()));
    let own = enabled_own_lists(recipe).map(|(step, own)| (step, own.len()));
    drawn.chain(own).flat_map(|(step, count)| (0..count).map(move |fault| FaultIndex { step, fault }))
}

/// The last of these faults, at most so many; random ones as drawn ones.
pub(super) fn last_faults(recipe: &Recipe, most: usize) -> impl Iterator<Item = (FaultIndex, DrawnFault)> {
    let surplus = enabled_indices(recipe).count().saturating_sub(most);
    enabled_indices(recipe).skip(surplus).filter_map(|index| Some((index, fault_at(recipe, index)?)))
}

/// A fault that is edited by hand as a drawn one, across the map.
pub(super) fn as_drawn(own: &OwnFault, extent: Extent) -> DrawnFault {
    let fault = own.fault();
    let ([x, z], [east, south]) = (fault.point_m, fault.normal);
    let beside = |by: f64| [x + by * south, z - by * east];
    // Off the map it is as long as the map is wide.
    let ends_m = fault_line_ends(&fault, extent).unwrap_or_else(|| [-0.5, 0.5].map(|by| beside(by * extent.width_m)));
    let [from_m, to_m] = ends_m.map(|[x_m, z_m]| Point { x_m, z_m });
    let OwnFault { displacement_m, profile, zone_m, enabled, .. } = *own;
    DrawnFault { from_m, to_m, displacement_m, profile, zone_m, enabled, reach_m: None, at: own.i }
}

/// The difference between the movements of the ends of a line that moves as a whole, metres: they are rounded.
const ROUNDING_M: f64 = 0.25;

/// Gives a fault that is edited by hand the changes between two drawn ones, of which the first is the fault as it
/// is. What has not changed stays as it is to the bit.
fn take_from(own: &mut OwnFault, before: &DrawnFault, drawn: &DrawnFault) {
    let moved = |from: Point, to: Point| [to.x_m - from.x_m, to.z_m - from.z_m];
    let [by, other] = [moved(before.from_m, drawn.from_m), moved(before.to_m, drawn.to_m)];
    let along = moved(drawn.from_m, drawn.to_m);
    let length_m = libm::hypot(along[0], along[1]);
    let [moves, other_moves] = [by, other].map(|by| by != [0.0; 2]);
    if !moves && !other_moves {
        // Its place stays.
    } else if moves && other_moves && (by[0] - other[0]).abs() < ROUNDING_M && (by[1] - other[1]).abs() < ROUNDING_M {
        // The ends are where the line leaves the map, and may be close together: they do not turn it.
        own.point_m = Point { x_m: own.point_m.x_m + by[0], z_m: own.point_m.z_m + by[1] };
    } else if length_m > 0.0 {
        own.point_m = drawn.from_m;
        own.normal = Point { x_m: -along[1] / length_m, z_m: along[0] / length_m };
    }
    let DrawnFault { displacement_m, profile, zone_m, enabled, .. } = *drawn;
    *own = OwnFault { displacement_m, profile, zone_m, enabled, ..own.clone() };
}

/// The random faults of a step that are edited by hand; `None` if it is another operation.
pub(super) fn own_faults_mut(recipe: &mut Recipe, step: usize) -> Option<&mut Faults> {
    match &mut recipe.stack.get_mut(step)?.operation {
        AnyOperation::Faults(faults) => Some(faults),
        _ => None,
    }
}

/// The drawn faults of a step; `None` if it is another operation.
pub(super) fn faults_mut(recipe: &mut Recipe, step: usize) -> Option<&mut List<DrawnFault>> {
    match &mut recipe.stack.get_mut(step)?.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => Some(faults),
        _ => None,
    }
}

/// A drawn fault, or one that is edited by hand as a drawn one.
pub(super) fn fault_at(recipe: &Recipe, index: FaultIndex) -> Option<DrawnFault> {
    match &recipe.stack.get(index.step)?.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => faults.get(index.fault).cloned(),
        AnyOperation::Faults(Faults { own, .. }) => {
            own.get(index.fault).map(|own| as_drawn(own, recipe.world.extent()))
        }
        _ => None,
    }
}

/// Whether a fault is one of a random sequence that is edited by hand.
pub(super) fn is_own(recipe: &Recipe, index: FaultIndex) -> bool {
    recipe.stack.get(index.step).is_some_and(|step| matches!(step.operation, AnyOperation::Faults(_)))
}

/// Replaces a fault. A fault that is the same leaves the list alone, which is shared with the document.
pub(super) fn replace(recipe: &mut Recipe, index: FaultIndex, fault: DrawnFault) {
    let Some(known) = fault_at(recipe, index).filter(|known| *known != fault) else { return };
    if let Some(faults) = faults_mut(recipe, index.step) {
        faults[index.fault] = fault;
    } else if let Some(random) = own_faults_mut(recipe, index.step) {
        take_from(&mut random.own[index.fault], &known, &fault);
    }
}

pub(super) fn remove(recipe: &mut Recipe, index: FaultIndex) {
    if let Some(faults) = faults_mut(recipe, index.step) {
        if index.fault < faults.len() {
            faults.remove(index.fault);
        }
    } else if let Some(random) = own_faults_mut(recipe, index.step).filter(|random| index.fault < random.own.len()) {
        let removed = random.own.remove(index.fault);
        random.skipped.push(removed.i);
    }
}

/// The iteration of a new fault: the one after the last fault.
pub(super) fn next_iteration(faults: &[DrawnFault]) -> u32 {
    faults.iter().map(|fault| fault.at.max(1)).max().unwrap_or(0) + 1
}

/// Sets a parameter; a value outside the hard range is ignored.
pub(super) fn set(fault: &mut DrawnFault, key: &str, value: impl Into<Value>) {
    let _ = fault.set(key, &value.into());
}

pub(super) fn length_m(fault: &DrawnFault) -> f64 {
    libm::hypot(fault.to_m.x_m - fault.from_m.x_m, fault.to_m.z_m - fault.from_m.z_m)
}

/// The compass direction from the first end to the second, clockwise from north.
pub(super) fn strike_deg(fault: &DrawnFault) -> f64 {
    let (east, south) = (fault.to_m.x_m - fault.from_m.x_m, fault.to_m.z_m - fault.from_m.z_m);
    libm::atan2(east, -south).to_degrees().rem_euclid(360.0)
}

/// The existing step that receives new faults: the selected one, or else the topmost enabled one with drawn faults.
pub(in crate::app::tools) fn target_of_faults(recipe: &Recipe, selected: usize) -> Option<usize> {
    let is_drawn = |step: &Step| matches!(step.operation, AnyOperation::DrawnFaults(_));
    if recipe.stack.get(selected).is_some_and(is_drawn) {
        return Some(selected);
    }
    recipe.active_steps().rfind(|(_, step)| is_drawn(step)).map(|(i, _)| i)
}

/// The index of the step that receives new faults, see [`target_of_faults`]; it is enabled for this. Without one, inserts
/// one above the generators, so that filters apply to the new faults as to all others.
pub(super) fn step_for_faults(recipe: &mut Recipe, selected: usize) -> usize {
    if let Some(step) = target_of_faults(recipe, selected) {
        enable(recipe, step);
        return step;
    }
    let is_generator = |(_, step): &(usize, &Step)| step.operation.role() == Role::Generator;
    let generator = recipe.active_steps().rfind(is_generator).map(|(i, _)| i);
    let (above, depth) = generator.map_or((0, 0), |i| (i + 1, recipe.placements()[i].depth));
    let mut step = Step { depth, ..Step::new(DrawnFaults { faults: List::default() }) };
    step.settings.seed = recipe.unused_seed();
    recipe.stack.insert(above, step);
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::recursive_filter::RecursiveFilter;

    #[test]
    fn new_faults_go_into_the_selected_step_or_the_topmost_one_or_a_new_one_below_the_filters() {
        let drawn = || Step::new(DrawnFaults::default());
        let (generator, filter) = (|| Step::new(Faults::default()), || Step::new(RecursiveFilter::default()));
        let mut recipe = Recipe { stack: vec![drawn(), generator(), drawn(), filter()], ..Default::default() };
        assert_eq!([0, 2, 1, 3].map(|selected| step_for_faults(&mut recipe, selected)), [0, 2, 2, 2]);
        recipe.stack[0].settings.enabled = false;
        assert_eq!(step_for_faults(&mut recipe, 0), 0);
        assert!(recipe.stack[0].settings.enabled, "the selected step is enabled");
        recipe.stack = vec![generator(), generator(), filter()];
        assert_eq!(step_for_faults(&mut recipe, 2), 2);
        assert!(recipe.stack.len() == 4 && last_faults(&recipe, 1).next().is_none());
    }
}
