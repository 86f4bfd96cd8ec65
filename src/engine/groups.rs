//! Groups of steps.
//!
//! The stack is one list from bottom to top. A [group](super::operations::group) is a step above its members, which are
//! one level deeper: `[A, B (1), C (1), Group (0), D]` is A, then the group of B and C, then D. Every list of steps and
//! depths is valid: a step that is deeper than the groups above it allow is a member of the innermost of them.

use std::ops::Range;

use serde_json::Value as Json;

use super::operations::group::{Start, StepGroup};
use super::operations::{AnyOperation, Operation};
use super::parameters::{ParameterError, not_a_list};
use super::step::{OPERATION, Step};

/// Where a step is among the groups of its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The number of groups around the step.
    pub depth: usize,
    /// The index of the group whose member it is.
    pub parent: Option<usize>,
    /// The index of the lowest member of a group, also within groups in it; of any other step, its own index. The
    /// terrain below the step is the one after the step below that index.
    pub first: usize,
    /// Whether the step is at the bottom of a group that begins on flat terrain: then the terrain below it is flat.
    pub begins_flat: bool,
    /// Whether all groups around the step are enabled.
    pub is_in_enabled: bool,
}

impl Placement {
    /// Whether a step at the same index has the same terrain below it and as much effect in both places.
    pub(super) fn has_same_effect(&self, other: &Self) -> bool {
        self.has_same_below(other) && self.is_in_enabled == other.is_in_enabled
    }

    /// Whether an operation at the same index reads the same terrain below it in both places, if that of the steps below is
    /// the same. Within a group, it is not evaluated on finer grids.
    pub(super) fn has_same_below(&self, other: &Self) -> bool {
        let is_same = self.first == other.first && self.begins_flat == other.begins_flat;
        is_same && self.parent.is_some() == other.parent.is_some()
    }
}

/// The placement of every step of a stack.
pub fn placements(stack: &[Step]) -> Vec<Placement> {
    let place = |i| Placement { depth: 0, parent: None, first: i, begins_flat: false, is_in_enabled: true };
    let mut placements: Vec<Placement> = (0..stack.len()).map(place).collect();
    // From the top down: the groups around the step.
    let mut around: Vec<usize> = Vec::new();
    for (i, step) in stack.iter().enumerate().rev() {
        around.truncate(step.depth);
        placements[i].depth = around.len();
        placements[i].parent = around.last().copied();
        placements[i].is_in_enabled = around.iter().all(|group| stack[*group].settings.enabled);
        if step.is_group() {
            around.push(i);
        }
    }
    for i in 0..stack.len() {
        if let Some(parent) = placements[i].parent {
            placements[parent].first = placements[parent].first.min(placements[i].first);
        }
    }
    let is_flat = |group: usize| match &stack[group].operation {
        AnyOperation::StepGroup(group) => group.on == Start::Flat,
        _ => false,
    };
    // A group that begins at the same place decides for what is in it, whatever is around it.
    for i in (0..stack.len()).rev() {
        let around = placements[i].parent.filter(|parent| placements[*parent].first == placements[i].first);
        placements[i].begins_flat = around.is_some_and(|group| is_flat(group) || placements[group].begins_flat);
    }
    placements
}

/// The steps of the group at an index, with the group itself; of any other step, the step alone.
pub fn block(stack: &[Step], i: usize) -> Range<usize> {
    placements(stack).get(i).map_or(i..i, |placement| placement.first..i + 1)
}

/// A step that was moved, with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedBlock {
    from: Range<usize>,
    to: usize,
}

impl MovedBlock {
    /// The new index of a step that had that index.
    pub fn index_after(&self, i: usize) -> usize {
        let Self { from, to } = self;
        if from.contains(&i) {
            return i - from.start + to;
        }
        let without = if i >= from.end { i - from.len() } else { i };
        if without >= *to { without + from.len() } else { without }
    }
}

/// Moves a step, and with a group its members, to below the step at `gap` (above all: the length of the stack), at the
/// nearest possible depth. `None` where that would be inside the group itself.
pub fn move_block(stack: &mut Vec<Step>, i: usize, gap: usize, depth: usize) -> Option<MovedBlock> {
    let placements = placements(stack);
    let placement = placements.get(i)?;
    let block = placement.first..i + 1;
    if gap > stack.len() || (gap > block.start && gap < block.end) {
        return None;
    }
    set_depths(stack);
    let mut moved: Vec<Step> = stack.drain(block.clone()).collect();
    let to = if gap >= block.end { gap - block.len() } else { gap };
    let least = to.checked_sub(1).map_or(0, |below| stack[below].depth);
    let most = stack.get(to).map_or(0, |above| above.depth + usize::from(above.is_group()));
    let depth = depth.clamp(least, most.max(least));
    for step in &mut moved {
        step.depth = step.depth + depth - placement.depth;
    }
    stack.splice(to..to, moved);
    Some(MovedBlock { from: block, to })
}

/// The steps from one to another, with the members of groups among them; `None` unless both are in the same group or
/// in none.
pub fn siblings(stack: &[Step], one: usize, other: usize) -> Option<Range<usize>> {
    let placements = placements(stack);
    let (low, high) = (placements.get(one.min(other))?, placements.get(one.max(other))?);
    (low.parent == high.parent).then(|| low.first..one.max(other) + 1)
}

/// Puts [siblings] into a new group; returns the index of that.
pub fn enclose(stack: &mut Vec<Step>, members: Range<usize>, mut group: Step) -> Option<usize> {
    set_depths(stack);
    group.depth = stack.get(members.end.checked_sub(1)?)?.depth;
    stack[members.clone()].iter_mut().for_each(|step| step.depth += 1);
    stack.insert(members.end, group);
    Some(members.end)
}

/// Removes the group at an index; its members take its place. Returns whether there was one.
pub fn dissolve(stack: &mut Vec<Step>, i: usize) -> bool {
    if !stack.get(i).is_some_and(Step::is_group) {
        return false;
    }
    let placements = placements(stack);
    set_depths(stack);
    stack[placements[i].first..i].iter_mut().for_each(|step| step.depth -= 1);
    stack.remove(i);
    true
}

/// Gives every step the depth at which it is, so that other steps can be inserted beside it.
pub fn set_depths(stack: &mut [Step]) {
    let placements = placements(stack);
    stack.iter_mut().zip(placements).for_each(|(step, placement)| step.depth = placement.depth);
}

/// The key of the members of a group.
const STEPS: &str = "steps";

/// The path of the step at an index in the list of a project file: "2", or "2.steps.0" in a group.
pub fn path(placements: &[Placement], i: usize) -> String {
    let Some(placement) = placements.get(i) else { return i.to_string() };
    let place = placements[..i].iter().filter(|other| other.parent == placement.parent).count();
    match placement.parent {
        None => place.to_string(),
        Some(parent) => format!("{}.{STEPS}.{place}", path(placements, parent)),
    }
}

/// Serializes a stack: the members of a group are a list in it.
pub(super) fn stack_to_json(stack: &[Step]) -> Json {
    let placements = placements(stack);
    // The lists of the groups that are open, by depth.
    let mut lists: Vec<Vec<Json>> = vec![Vec::new()];
    for (step, placement) in stack.iter().zip(&placements) {
        lists.resize_with(lists.len().max(placement.depth + 1), Vec::new);
        let mut json = step.to_json();
        if step.is_group()
            && let Json::Object(object) = &mut json
        {
            let members = if lists.len() > placement.depth + 1 { lists.pop() } else { None };
            object.insert(STEPS.into(), members.unwrap_or_default().into());
        }
        lists[placement.depth].push(json);
    }
    lists.into_iter().next().unwrap_or_default().into()
}

/// Reads a stack.
pub(super) fn stack_from_json(value: &Json) -> Result<Vec<Step>, ParameterError> {
    let mut stack = Vec::new();
    read_steps(value, 0, &mut stack)?;
    Ok(stack)
}

fn read_steps(value: &Json, depth: usize, stack: &mut Vec<Step>) -> Result<(), ParameterError> {
    let items = value.as_array().ok_or_else(|| not_a_list(value))?;
    items.iter().enumerate().try_for_each(|(i, item)| read_step(item, depth, stack).map_err(|error| error.within(i)))
}

fn read_step(value: &Json, depth: usize, stack: &mut Vec<Step>) -> Result<(), ParameterError> {
    let is_group = value.get(OPERATION).and_then(Json::as_str) == Some(StepGroup::KEY);
    let object = value.as_object().filter(|object| is_group && object.contains_key(STEPS));
    let own = object.map(|object| {
        let others = object.iter().filter(|(key, _)| *key != STEPS);
        Json::Object(others.map(|(key, value)| (key.clone(), value.clone())).collect())
    });
    if let Some(members) = object.and_then(|object| object.get(STEPS)) {
        read_steps(members, depth + 1, stack).map_err(|error| error.within(STEPS))?;
    }
    let mut step = Step::from_json(own.as_ref().unwrap_or(value), stack.len())?;
    step.depth = depth;
    stack.push(step);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operations::faults::Faults;

    /// Steps by name and depth; those whose names are capital letters are groups.
    fn stack(steps: &[(&str, usize)]) -> Vec<Step> {
        let step = |(name, depth): &(&str, usize)| {
            let is_group = name.chars().all(|letter| letter.is_ascii_uppercase());
            let mut step = if is_group { Step::new(StepGroup::default()) } else { Step::new(Faults::default()) };
            step.settings.name = (*name).into();
            step.depth = *depth;
            step
        };
        steps.iter().map(step).collect()
    }

    fn names(stack: &[Step]) -> Vec<(&str, usize)> {
        let depths = placements(stack).into_iter().map(|placement| placement.depth);
        stack.iter().map(|step| step.settings.name.as_str()).zip(depths).collect()
    }

    fn nested() -> Vec<Step> {
        stack(&[("a", 0), ("b", 2), ("c", 2), ("I", 1), ("d", 1), ("O", 0), ("e", 0)])
    }

    #[test]
    fn a_group_holds_the_deeper_steps_below_it() {
        let of = |i: usize| placements(&nested())[i];
        let parents: Vec<_> = placements(&nested()).iter().map(|placement| placement.parent).collect();
        assert_eq!(parents, [None, Some(3), Some(3), Some(5), Some(5), None, None]);
        assert_eq!((of(3).first, of(5).first, of(4).first, of(6).first), (1, 1, 4, 6));
        assert_eq!([block(&nested(), 5), block(&nested(), 3), block(&nested(), 2)], [1..6, 1..4, 2..3]);
        let paths: Vec<String> = (0..7).map(|i| path(&placements(&nested()), i)).collect();
        assert_eq!(paths, ["0", "1.steps.0.steps.0", "1.steps.0.steps.1", "1.steps.0", "1.steps.1", "1", "2"]);
    }

    #[test]
    fn steps_deeper_than_their_groups_are_members_of_the_innermost() {
        let loose = stack(&[("a", 7), ("b", 1), ("C", 1), ("d", 3)]);
        assert_eq!(names(&loose), [("a", 1), ("b", 1), ("C", 0), ("d", 0)]);
    }

    #[test]
    fn the_bottom_of_a_flat_group_begins_flat() {
        let flat = |groups: &[usize]| {
            let mut stack = nested();
            for group in groups {
                stack[*group].operation = StepGroup { on: Start::Flat }.into();
            }
            placements(&stack).iter().map(|placement| placement.begins_flat).collect::<Vec<_>>()
        };
        let at = |flat: &[usize]| (0..7).map(|i| flat.contains(&i)).collect::<Vec<_>>();
        assert_eq!(flat(&[]), at(&[]));
        assert_eq!(flat(&[3]), at(&[1]), "the first member");
        assert_eq!(flat(&[5]), at(&[1, 3]), "the first member of the first member too");
    }

    #[test]
    fn a_disabled_group_disables_what_is_in_it() {
        let mut stack = nested();
        stack[5].settings.enabled = false;
        let enabled: Vec<bool> = placements(&stack).iter().map(|placement| placement.is_in_enabled).collect();
        assert_eq!(enabled, [true, false, false, false, false, true, true]);
    }

    #[test]
    fn blocks_move_with_their_members() {
        let moved = |i, gap, depth| {
            let mut stack = nested();
            let before = stack.clone();
            let block = move_block(&mut stack, i, gap, depth);
            if let Some(block) = &block {
                let name = |stack: &[Step], i: usize| stack[i].settings.name.clone();
                (0..7).for_each(|i| assert_eq!(name(&stack, block.index_after(i)), name(&before, i)));
            }
            block.map(|block| {
                (
                    block.index_after(i),
                    names(&stack).into_iter().map(|(name, depth)| format!("{name}{depth}")).collect::<String>(),
                )
            })
        };
        let expect = |to, text: &str| Some((to, text.to_string()));
        assert_eq!(moved(5, 7, 0), expect(6, "a0e0b2c2I1d1O0"), "a group to the top");
        assert_eq!(moved(5, 0, 0), expect(4, "b2c2I1d1O0a0e0"), "a group to the bottom");
        assert_eq!(moved(3, 1, 0), expect(3, "a0b1c1I0d1O0e0"), "out of its group, below");
        assert_eq!(moved(0, 3, 2), expect(2, "b2c2a2I1d1O0e0"), "into a group");
        assert_eq!(moved(4, 5, 0).map(|(_, text)| text), Some("a0b2c2I1d1O0e0".into()), "only members there");
        assert_eq!(moved(4, 6, 0), expect(5, "a0b2c2I1O0d0e0"), "above its group");
        assert_eq!(moved(5, 3, 1), None, "not into itself");
        assert_eq!(moved(9, 0, 0), None);
    }

    #[test]
    fn a_step_is_enclosed_and_released() {
        let group = || stack(&[("G", 0)]).remove(0);
        let mut enclosed = nested();
        assert_eq!(siblings(&enclosed, 3, 3).and_then(|one| enclose(&mut enclosed, one, group())), Some(4));
        assert_eq!(block(&enclosed, 4), 1..5);
        assert_eq!(names(&enclosed)[1..5], [("b", 3), ("c", 3), ("I", 2), ("G", 1)]);
        assert!(dissolve(&mut enclosed, 4));
        assert_eq!(enclosed, nested());
        assert!(!dissolve(&mut enclosed, 0), "not a group");
        // Several, in any order; not across groups.
        assert_eq!(siblings(&nested(), 4, 3), Some(1..5));
        assert_eq!(
            [siblings(&nested(), 4, 5), siblings(&nested(), 0, 1), siblings(&nested(), 0, 9)],
            [None, None, None]
        );
        let all = siblings(&enclosed, 0, 6).expect("siblings");
        assert_eq!(enclose(&mut enclosed, all, group()), Some(7));
        assert!(names(&enclosed)[..7].iter().zip(names(&nested())).all(|(new, old)| new.1 == old.1 + 1));
    }

    #[test]
    fn stacks_round_trip_through_json() {
        for steps in
            [nested(), stack(&[("A", 0), ("B", 1), ("C", 0)]), stack(&[("a", 1), ("B", 1), ("C", 0), ("d", 0)])]
        {
            let json = stack_to_json(&steps);
            let read = stack_from_json(&json).expect("valid");
            assert_eq!(read, steps, "{json}");
        }
        let json = stack_to_json(&nested());
        assert_eq!(json[1]["steps"][0]["steps"][1]["name"], "c");
        assert_eq!(json[2]["name"], "e");
    }

    #[test]
    fn errors_in_groups_name_their_path() {
        let message = |json: Json| stack_from_json(&json).expect_err("must be refused").to_string();
        let wrong =
            json!([{"operation": "group", "steps": [{"operation": "faults"}, {"operation": "faults", "count": -1}]}]);
        assert!(message(wrong).starts_with("0.steps.1.count: "));
        assert!(message(json!([{"operation": "group", "steps": 3}])).starts_with("0.steps: it must be a list"));
        assert!(message(json!([{"operation": "faults", "steps": []}])).starts_with("0.steps: there is no such key"));
    }
}
