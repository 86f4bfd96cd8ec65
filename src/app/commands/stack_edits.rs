//! Edits of lists of steps and terrain types.

use std::collections::BTreeSet;

use crate::app::widgets::cards::CardRow;
use crate::engine::groups::{block, set_depths};
use crate::engine::{Recipe, Step};
use crate::project::Project;

/// Moves an item of a list and returns it; `None` if an index is out of range.
pub(crate) fn move_item<T>(list: &mut Vec<T>, from: usize, to: usize) -> Option<&T> {
    if from.max(to) >= list.len() {
        return None;
    }
    let moved = list.remove(from);
    list.insert(to, moved);
    list.get(to)
}

/// The index in the new list of the item at `index` in the old one; `index` itself if it is gone.
pub(crate) fn find_again<T: PartialEq>(new: &[T], old: &[T], index: usize) -> usize {
    let is_it = |place: &usize| old.get(index).is_some() && new.get(*place) == old.get(index);
    [index].into_iter().chain(0..new.len()).find(is_it).unwrap_or(index)
}

/// The step to select after undo or redo: one that it brought back, or else the one that was selected.
pub(crate) fn step_after_undo(new: &[Step], old: &[Step], selected: usize) -> usize {
    let is_back = |step: &Step| old.iter().all(|known| known.settings.seed != step.settings.seed);
    let back = new.iter().rposition(is_back).filter(|_| new.len() > old.len());
    back.unwrap_or_else(|| find_again(new, old, selected))
}

/// Adds a step on top of the stack with an unused seed; returns its index.
pub(crate) fn add_step(recipe: &mut Recipe, mut step: Step) -> usize {
    step.settings.seed = recipe.unused_seed();
    recipe.stack.push(step);
    recipe.stack.len() - 1
}

/// Adds a step, as [`add_step`] does, or as the topmost member of the group that is selected or around the selected
/// step; returns its index.
pub(crate) fn add_step_at(recipe: &mut Recipe, mut step: Step, selected: usize) -> usize {
    let placements = recipe.placements();
    let is_group = recipe.stack.get(selected).is_some_and(Step::is_group);
    let group = if is_group { Some(selected) } else { placements.get(selected).and_then(|placement| placement.parent) };
    let Some(group) = group else { return add_step(recipe, step) };
    (step.settings.seed, step.depth) = (recipe.unused_seed(), placements[group].depth + 1);
    recipe.stack.insert(group, step);
    group
}

/// Adds a copy of a step above it, with unused seeds, and with a group its members; returns the index of the copy.
pub(crate) fn duplicate_step(recipe: &mut Recipe, i: usize) -> Option<usize> {
    set_depths(&mut recipe.stack);
    let copied = block(&recipe.stack, i);
    let copies = recipe.stack.get(copied.clone()).filter(|copies| !copies.is_empty())?.to_vec();
    for (place, mut copy) in copies.into_iter().enumerate() {
        copy.settings.seed = recipe.unused_seed();
        recipe.stack.insert(copied.end + place, copy);
    }
    Some(i + copied.len())
}

/// The step to select when a project opens: the one with the most iterations to watch.
pub(crate) fn first_step(project: &Project) -> usize {
    let timeline = project.recipe.timeline();
    let longest = timeline.steps().iter().enumerate().rev().max_by_key(|(_, iterations)| **iterations);
    longest.map_or(0, |(i, _)| i)
}

/// The rows of the stack's list from top to bottom, without the members of the groups whose seeds are in `folded`.
pub(crate) fn stack_rows(stack: &[Step], folded: &BTreeSet<u32>) -> Vec<CardRow> {
    let placements = crate::engine::groups::placements(stack);
    let is_folded = |i: usize| stack[i].is_group() && folded.contains(&stack[i].settings.seed);
    let is_hidden = |i: usize| {
        let mut around = std::iter::successors(placements[i].parent, |group| placements[*group].parent);
        around.any(is_folded)
    };
    let row =
        |i: usize| CardRow { index: i, depth: placements[i].depth, is_open: stack[i].is_group() && !is_folded(i) };
    (0..stack.len()).rev().filter(|i| !is_hidden(*i)).map(row).collect()
}

/// Where a step goes when it is moved by one row: below the step at an index, at a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepPlace {
    pub(crate) gap: usize,
    pub(crate) depth: usize,
}

/// The place of a step after it is moved up or down by one row, into groups and out of them; `None` at the ends.
pub(crate) fn place_beside(stack: &[Step], rows: &[CardRow], i: usize, up: bool) -> Option<StepPlace> {
    let at = rows.iter().position(|row| row.index == i)?;
    let CardRow { depth, .. } = rows[at];
    let members = rows[at + 1..].iter().take_while(|row| row.depth > depth).count();
    if up {
        let above = rows[..at].last()?;
        return Some(if above.depth < depth {
            // Out of its group.
            StepPlace { gap: above.index + 1, depth: above.depth }
        } else if above.depth > depth {
            // Into the group of which that is the lowest member.
            StepPlace { gap: i + 1, depth: depth + 1 }
        } else {
            StepPlace { gap: above.index + 1, depth }
        });
    }
    let Some(below) = rows.get(at + members + 1) else {
        let outer = depth.checked_sub(1)?;
        return Some(StepPlace { gap: block(stack, i).start, depth: outer });
    };
    Some(if below.depth < depth {
        StepPlace { gap: block(stack, i).start, depth: depth - 1 }
    } else if below.is_open {
        StepPlace { gap: below.index, depth: depth + 1 }
    } else {
        StepPlace { gap: block(stack, below.index).start, depth }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::groups::{move_block, placements};
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::group::StepGroup;

    fn stack() -> Vec<Step> {
        let step = |name: &str, depth: usize| {
            let mut step = if name == "G" { Step::new(StepGroup::default()) } else { Step::new(Faults::default()) };
            step.settings.name = name.into();
            Step { depth, ..step }
        };
        vec![step("a", 0), step("b", 1), step("c", 1), step("G", 0), step("d", 0)]
    }

    fn text(stack: &[Step]) -> String {
        let depths = placements(stack).into_iter().map(|placement| placement.depth);
        stack.iter().zip(depths).rev().map(|(step, depth)| format!("{}{depth}", step.settings.name)).collect()
    }

    #[test]
    fn a_step_moves_through_groups_row_by_row() {
        let mut moved = stack();
        let mut at = 0;
        let mut go = |up: bool| {
            let rows = stack_rows(&moved, &BTreeSet::new());
            let place = place_beside(&moved, &rows, at, up)?;
            at = move_block(&mut moved, at, place.gap, place.depth).expect("a place").index_after(at);
            Some(text(&moved))
        };
        let up = ["d0G0c1b1a1", "d0G0c1a1b1", "d0G0a1c1b1", "d0a0G0c1b1", "a0d0G0c1b1"];
        for expected in up {
            assert_eq!(go(true).as_deref(), Some(expected));
        }
        assert_eq!(go(true), None, "at the top");
        let down = up[..4].iter().rev().chain(&["d0G0c1b1a0"]);
        for expected in down {
            assert_eq!(go(false).as_deref(), Some(*expected));
        }
        assert_eq!(go(false), None, "at the bottom");
    }

    #[test]
    fn folded_groups_move_and_are_passed_as_one_row() {
        let mut moved = stack();
        moved[3].settings.seed = 7;
        let folded = BTreeSet::from([7]);
        let rows = stack_rows(&moved, &folded);
        assert_eq!(rows.iter().map(|row| row.index).collect::<Vec<_>>(), [4, 3, 0]);
        let place = place_beside(&moved, &rows, 4, false).expect("a place");
        move_block(&mut moved, 4, place.gap, place.depth);
        assert_eq!(text(&moved), "G0c1b1d0a0");
    }

    #[test]
    fn copies_and_new_steps_belong_to_the_group() {
        let mut recipe = Recipe { stack: stack(), ..Default::default() };
        assert_eq!(duplicate_step(&mut recipe, 3), Some(6));
        assert_eq!(text(&recipe.stack), "d0G0c1b1G0c1b1a0");
        let seeds: BTreeSet<u32> = recipe.stack[4..7].iter().map(|step| step.settings.seed).collect();
        assert_eq!(seeds.len(), 3, "each has its own");
        assert_eq!(add_step_at(&mut recipe, Step::new(Faults::default()), 3), 3);
        assert_eq!(add_step_at(&mut recipe, Step::new(Faults::default()), 1), 4);
        assert_eq!(add_step_at(&mut recipe, Step::new(Faults::default()), 0), recipe.stack.len() - 1);
        let depths: Vec<usize> = recipe.placements().iter().map(|placement| placement.depth).collect();
        assert_eq!(depths, [0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0]);
    }
}
