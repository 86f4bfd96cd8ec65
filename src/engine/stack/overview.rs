//! The complete terrain of a recipe at a lower resolution, for what depends on distant terrain.
//!
//! Shade, humidity, or the water that arrives at a place depend on terrain far away. Where parts of the terrain can be
//! evaluated alone, these maps follow from an overview instead, for complete maps as for parts of them.

use super::{can_evaluate_parts, evaluate};
use crate::flow::RegionalWater;
use crate::hash::Hash;
use crate::heightfield::{Grid, Heightfield};
use crate::inputs::Inputs;
use crate::operations::Role;
use crate::progress::{Cancelled, Progress};
use crate::recipe::{Blend, Recipe};
use crate::result_cache::{ResultCache, ResultKey, cached_or_computed};
use crate::step::Step;

/// The most samples of an overview along the longer side.
const SAMPLES: usize = 2049;

/// The grid of the overview of a map: its own, unless it has more than 2049 samples along a side.
pub fn overview_grid(map: Grid) -> Grid {
    if map.width().max(map.height()) <= SAMPLES { map } else { Grid::fitted(map.extent(), SAMPLES) }
}

/// The terrain on the [grid of an overview](overview_grid), from the cache if it is there.
pub fn evaluate_overview(
    recipe: &Recipe,
    grid: Grid,
    position: Option<u32>,
    inputs: &Inputs,
    cache: Option<&dyn ResultCache>,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let key = ResultKey { kind: "overview", hash: Hash::new().with(&(grid, position)) };
    let read = |bytes: &[u8]| Heightfield::from_bytes(bytes).filter(|terrain| terrain.grid() == grid);
    let compute = || evaluate(recipe, grid, position, inputs, progress);
    cached_or_computed(cache.map(|cache| (cache, key)), read, compute, Heightfield::to_bytes)
}

/// The water of the [overview](evaluate_overview) `terrain` at a position, from the cache if it is there.
pub fn route_overview(
    terrain: &Heightfield,
    sea_m: Option<f32>,
    position: Option<u32>,
    cache: Option<&dyn ResultCache>,
    progress: &Progress,
) -> Result<RegionalWater, Cancelled> {
    let grid = terrain.grid();
    let key = ResultKey { kind: "water", hash: Hash::new().with(&(grid, position, sea_m)) };
    let read = |bytes: &[u8]| RegionalWater::from_bytes(bytes, grid, sea_m);
    let compute = || RegionalWater::new(terrain, sea_m, progress);
    cached_or_computed(cache.map(|cache| (cache, key)), read, compute, RegionalWater::to_bytes)
}

/// Whether the drainage areas of parts of a map follow from its [overview](evaluate_overview): the overview has fewer samples,
/// parts can be evaluated alone, and rivers that drain every depression are the last step.
pub fn drains_in_parts(recipe: &Recipe, map: Grid, position: Option<u32>) -> bool {
    let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
    let steps: Vec<(usize, &Step)> = recipe.active_steps().collect();
    let Some((&(i, last), below)) = steps.split_last() else { return false };
    let is_unmasked = |step: &Step| step.settings.mask.is_empty();
    let is_complete = is_unmasked(last) && last.depth == 0 && last.settings.strength == 1.0;
    // Flat terrain below does not add to the slopes.
    let is_flat = || below.iter().all(|(_, step)| step.operation.role() == Role::Modifier && is_unmasked(step));
    let is_kept = match last.settings.blend {
        Blend::Replace => true,
        Blend::Add => !last.operation.reads_below() && is_flat(),
        _ => false,
    };
    let overview = overview_grid(map);
    let is_coarser = overview != map && overview.width() <= map.width() && overview.height() <= map.height();
    is_coarser
        && map.width().min(map.height()) >= 3
        && last.operation.is_drained(positions[i])
        && is_complete
        && is_kept
        && can_evaluate_parts(recipe, map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;
    use crate::mask::Mask;
    use crate::operations::clamp::Clamp;
    use crate::operations::faults::Faults;
    use crate::operations::fluvial_erosion::FluvialErosion;
    use crate::operations::noise::Noise;
    use crate::operations::{AnyOperation, FaultRivers};

    #[test]
    fn overviews_have_at_most_2049_samples_a_side() {
        let world = Extent { width_m: 1000.0, depth_m: 500.0 };
        let of = |width, height| {
            let grid = overview_grid(Grid::new(world, width, height));
            [grid.width(), grid.height()]
        };
        assert_eq!(
            [of(2049, 1025), of(2049, 7), of(4097, 2049), of(5000, 2500)],
            [[2049, 1025], [2049, 7], [2049, 1025], [2049, 1025]]
        );
    }

    #[test]
    fn water_is_computed_in_parts_where_rivers_are_the_last_step() {
        let rivers = || Faults { rivers: Some(FaultRivers::default()), ..Faults::default() };
        let recipe = |steps: Vec<AnyOperation>| Recipe {
            stack: steps.into_iter().map(Step::new).collect(),
            ..Recipe::default()
        };
        let drains =
            |recipe: &Recipe, samples| drains_in_parts(recipe, Grid::fitted(recipe.world.extent(), samples), None);
        let of = |steps: Vec<AnyOperation>| drains(&recipe(steps), 4097);
        assert!(of(vec![rivers().into()]));
        assert!(of(vec![Clamp::default().into(), rivers().into()]), "on level terrain");
        assert!(of(vec![Noise::default().into(), FluvialErosion::default().into()]));
        assert!(!drains(&recipe(vec![rivers().into()]), 2049), "small maps");
        assert!(!of(vec![Noise::default().into()]), "no rivers");
        assert!(!of(vec![Noise::default().into(), rivers().into()]), "added to other slopes");
        assert!(!of(vec![rivers().into(), Noise::default().into()]), "changed afterwards");
        let mut weak = recipe(vec![rivers().into()]);
        weak.stack[0].settings.strength = 0.5;
        assert!(!drains(&weak, 4097));
        let mut replaced = recipe(vec![Noise::default().into(), rivers().into()]);
        replaced.stack[1].settings.blend = Blend::Replace;
        assert!(drains(&replaced, 4097));
        replaced.stack[1].settings.blend = Blend::Maximum;
        assert!(!drains(&replaced, 4097));
        let mut masked = recipe(vec![rivers().into()]);
        masked.stack[0].settings.mask = vec![Mask::default()].into();
        assert!(!drains(&masked, 4097));
        assert!(!of(vec![Noise::default().into(), FluvialErosion { count: 0, ..Default::default() }.into()]));
        let rare = Faults { rivers: Some(FaultRivers { every: 500, ..Default::default() }), count: 499, ..rivers() };
        assert!(!of(vec![rare.into()]), "no river step");
        let rivers = recipe(vec![rivers().into()]);
        let grid = Grid::fitted(rivers.world.extent(), 4097);
        assert!(!drains_in_parts(&rivers, grid, Some(4)) && drains_in_parts(&rivers, grid, Some(5)), "uplift");
        let square = Extent { width_m: 1000.0, depth_m: 1000.0 };
        assert!(!drains_in_parts(&rivers, Grid::new(square, 4097, 5), None), "narrow");
    }
}
