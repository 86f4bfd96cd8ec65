//! The memory that the evaluation of a stack takes.

use super::pointwise::step_ahead;
use super::{KEYFRAME_BYTES, MAX_BYTES};
use crate::cast::ToFloat;
use crate::final_symmetry::{self, symmetries_to_restore};
use crate::heightfield::Grid;
use crate::mask::Mask;
use crate::recipe::{Recipe, Step};

/// The maximum size of the cache of a new [`Evaluator`](crate::stack::Evaluator) for a recipe on a grid, in bytes.
pub fn max_cache_bytes(recipe: &Recipe, grid: Grid) -> u64 {
    let enabled = recipe.active_steps().map(|(_, step)| step);
    let with_keyframes = enabled.clone().filter(|step| step.operation.iterations() > 0).count().max(1);
    let step_bytes = |step: &Step| {
        let [terrain, output] =
            [grid, step.operation.working_grid(grid)].map(|grid| (size_of::<f32>() * grid.samples()) as u64);
        let keyframes = if step.operation.iterations() > 0 {
            // At least one keyframe: heights in f32 and exact heights in i64.
            (2 * output).max((KEYFRAME_BYTES / with_keyframes) as u64)
        } else {
            0
        };
        let upsampled = if step.operation.is_upsampled(grid) { terrain } else { 0 };
        terrain + output + upsampled + keyframes
    };
    let largest = enabled.clone().map(step_bytes).max().unwrap_or_default();
    let restored = if symmetries_to_restore(recipe, grid).is_empty() { 0 } else { size_of::<f32>() * grid.samples() };
    // The limit does not cover the output of the edited step and two terrains.
    enabled.map(step_bytes).sum::<u64>().min(MAX_BYTES as u64 + 2 * largest) + restored as u64
}

/// The further maps that an evaluation with rock takes at most, and those that it returns. They are two for the rock below
/// each group around a step, below the step, and of its output; the output itself, the change of the surface, and what
/// the operation did; the shares of the mask.
pub fn rock_maps(recipe: &Recipe) -> [f64; 2] {
    let depth = recipe.placements().iter().map(|placement| placement.depth).max().unwrap_or(0);
    [2.0 * depth.to_f64() + 9.0, 2.0]
}

/// The peak memory of evaluating a recipe on a grid without a cache, in maps of f32.
pub fn peak_maps(recipe: &Recipe, grid: Grid) -> f64 {
    let placements = recipe.placements();
    let ahead = step_ahead(recipe, &placements, grid);
    let step_maps = |(at, (i, step)): (usize, (usize, &Step))| {
        // The terrains below the groups around the step, and the output that was computed ahead of it.
        let held = placements[i].depth.to_f64() + if ahead.is_some_and(|ahead| i < ahead) { 1.0 } else { 0.0 };
        // Operations count the terrain below as a map, which the first step does not have.
        let missing = if at == 0 { 1.0 } else { 0.0 };
        let missing_before = if ahead == Some(i) { 1.0 } else { missing };
        let working_grid = step.operation.working_grid(grid);
        // While blending: the terrain below, the output and the maps of the mask.
        let blended = if step.settings.mask.is_empty() { 0.0 } else { 2.0 };
        let of_masks = recipe.mask_sources(&step.settings).map(Mask::peak_maps);
        let masked = of_masks.fold(blended, |sum, maps| sum + maps) - missing;
        if working_grid == grid {
            return held + masked.max(step.operation.peak_maps(grid) - missing_before);
        }
        // While upsampling: the maps on the grid and those on the working grid.
        let working =
            step.operation.peak_maps(working_grid) * working_grid.samples().to_f64() / grid.samples().to_f64();
        held + masked.max(step.operation.upsample_peak_maps(grid) - missing_before + working)
    };
    let steps = recipe.active_steps().enumerate().map(step_maps);
    steps.fold(final_symmetry::peak_maps(recipe, grid).max(1.0), f64::max)
}
