//! Edits of lists of steps and terrain types.

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

/// Adds a step on top of the stack with an unused seed; returns its index.
pub(crate) fn add_step(recipe: &mut Recipe, mut step: Step) -> usize {
    step.settings.seed = recipe.unused_seed();
    recipe.stack.push(step);
    recipe.stack.len() - 1
}

/// The step to select when a project opens: the one with the most iterations to watch.
pub(crate) fn first_step(project: &Project) -> usize {
    let longest = project.recipe.stack.iter().enumerate().rev().max_by_key(|(_, step)| step.iterations());
    longest.map_or(0, |(i, _)| i)
}
