//! What tools read and edit, and where they put what they make.

use crate::engine::Heightfield;
use crate::engine::level::Level;
use crate::engine::operations::PartReport;
use crate::engine::parameters::Point;
use crate::engine::recipe::{Recipe, Step};
use crate::engine::recipe_masks::MaskOwner;

/// What tools read and edit.
pub(crate) struct ToolContext<'a> {
    pub(crate) recipe: &'a mut Recipe,
    pub(crate) level: &'a mut Level,
    /// The step whose parameters are shown.
    pub(crate) selected_step: &'a mut usize,
    /// The selected terrain type or layer of the scatter, if it was selected later than the step.
    pub(crate) selected_last: Option<MaskOwner>,
    /// The terrain that is shown.
    pub(crate) terrain: Option<&'a Heightfield>,
    /// The reports on the parts of the selected step, as it is shown.
    pub(crate) reports: &'a [PartReport],
    /// The difference between the highest and the lowest height shown, metres.
    pub(crate) range_m: f64,
    /// The position on the timeline, iterations.
    pub(crate) at: u32,
    /// Whether the timeline plays.
    pub(crate) is_playing: bool,
    /// Whether the timeline is at its end, where all edits are visible.
    pub(crate) is_at_end: bool,
    /// The places along a route that is drawn, metres east and south.
    pub(crate) route_m: &'a [[f64; 2]],
}

/// What is selected in the panels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    pub(super) step: usize,
    /// The terrain type or the layer of the scatter, if it was selected later than the step.
    pub(super) last: Option<MaskOwner>,
    /// Whether the first stroke confines a type to where it is painted, rather than adding it there.
    pub(super) only_there: bool,
}

impl Selected {
    /// The step, terrain type or layer that was selected last, whose mask is painted.
    pub(super) fn mask_owner(self) -> MaskOwner {
        self.last.unwrap_or(MaskOwner::Step(self.step))
    }
}

impl ToolContext<'_> {
    /// What is selected in the panels.
    pub(super) fn selected(&self) -> Selected {
        Selected { step: *self.selected_step, last: self.selected_last, only_there: false }
    }
}

/// The existing step that receives what a tool makes: the selected one, or else the topmost one.
pub(super) fn target_step(recipe: &Recipe, selected: usize, is_kind: impl Fn(&Step) -> bool) -> Option<usize> {
    let is_there = |index: &usize| recipe.stack.get(*index).is_some_and(&is_kind);
    Some(selected).filter(is_there).or_else(|| recipe.stack.len().checked_sub(1).filter(is_there))
}

/// Enables a step and the groups around it.
pub(super) fn enable(recipe: &mut Recipe, step: usize) {
    let placements = recipe.placements();
    for i in std::iter::successors(Some(step), |i| placements[*i].parent) {
        recipe.stack[i].settings.enabled = true;
    }
}

/// The index of the step that receives what a tool makes, see [`target_step`]; it is enabled for this. Without one, adds
/// a new step on top.
pub(super) fn step_on_top(
    recipe: &mut Recipe,
    selected: usize,
    is_kind: impl Fn(&Step) -> bool,
    new: impl FnOnce() -> Step,
) -> usize {
    if let Some(step) = target_step(recipe, selected, is_kind) {
        enable(recipe, step);
        return step;
    }
    let mut step = new();
    step.settings.seed = recipe.unused_seed();
    recipe.stack.push(step);
    recipe.stack.len() - 1
}

/// A place on the map in whole centimetres.
pub(super) fn rounded_place([x_m, z_m]: [f64; 2]) -> Point {
    let rounded = |m: f64| (100.0 * m).round() / 100.0;
    Point { x_m: rounded(x_m), z_m: rounded(z_m) }
}
