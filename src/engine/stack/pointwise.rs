//! Steps whose heights depend on the position and the height below alone, which can be evaluated on any grid.

use crate::groups::Placement;
use crate::heightfield::Grid;
use crate::mask::Mask;
use crate::recipe::Recipe;
use crate::step::Step;

/// Whether the heights after a step depend on the position and the height below at each sample alone.
fn is_pointwise(recipe: &Recipe, Step { operation, settings, .. }: &Step, grid: Grid) -> bool {
    operation.is_pointwise()
        && operation.working_grid(grid) == grid
        && recipe.mask_sources(settings).all(Mask::is_pointwise)
}

/// The number of steps from the lowest up that are pointwise. The terrain after them can be evaluated on any grid, with the
/// same heights.
pub(super) fn pointwise_steps(recipe: &Recipe, grid: Grid) -> usize {
    let mut others = recipe.active_steps().filter(|(_, step)| !is_pointwise(recipe, step, grid));
    others.next().map_or(recipe.stack.len(), |(i, _)| i)
}

/// The step whose output an evaluator without a cache computes first, because it does not depend on the terrain below, which
/// would only take memory meanwhile: the lowest one that is not pointwise.
pub(super) fn step_ahead(recipe: &Recipe, placements: &[Placement], grid: Grid) -> Option<usize> {
    let i = pointwise_steps(recipe, grid);
    let step = recipe.stack.get(i)?;
    (placements[i].parent.is_none() && !step.is_group() && !step.operation.reads_below()).then_some(i)
}

/// Whether parts of a grid can be evaluated independently: [`evaluate`](super::evaluate) on a [part](Grid::part) gives the
/// same heights as on the full grid.
pub fn can_evaluate_parts(recipe: &Recipe, grid: Grid) -> bool {
    let (placements, pointwise) = (recipe.placements(), pointwise_steps(recipe, grid));
    recipe.active_steps().all(|(i, step)| {
        let Step { operation, settings, .. } = step;
        let is_below_known = !operation.reads_below() || i <= pointwise && placements[i].parent.is_none();
        let is_by_parts = operation.upsamples_parts(grid) && is_below_known;
        is_pointwise(recipe, step, grid) || is_by_parts && recipe.mask_sources(settings).all(Mask::is_pointwise)
    })
}
