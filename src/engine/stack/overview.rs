//! The complete terrain of a recipe at a lower resolution, for what depends on distant terrain.
//!
//! Shade, humidity, or the water that arrives at a place depend on terrain far away. Where parts of the terrain can be
//! evaluated alone, these maps follow from an overview instead, for complete maps as for parts of them.

use super::pointwise::can_evaluate_parts;
use super::{evaluate, evaluate_with_rock};
use crate::cast::ToFloat;
use crate::flow::RegionalWater;
use crate::hash::Hash;
use crate::heightfield::{Grid, Heightfield};
use crate::inputs::Inputs;
use crate::operations::AnyOperation;
use crate::progress::{Cancelled, Progress};
use crate::recipe::{Blend, Recipe};
use crate::result_cache::{ResultCache, ResultKey, bytes_of, cached_or_computed, take};
use crate::rock::{RockEffect, RockRanges};
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

/// The ranges of the [rock](evaluate_with_rock) on the grid of an overview, from the cache if they are there.
pub fn evaluate_rock_ranges(
    recipe: &Recipe,
    grid: Grid,
    position: Option<u32>,
    inputs: &Inputs,
    cache: Option<&dyn ResultCache>,
    progress: &Progress,
) -> Result<RockRanges, Cancelled> {
    let key = ResultKey { kind: "rock", hash: Hash::new().with(&(grid, position)) };
    let read = |mut bytes: &[u8]| {
        let metres = take(&mut bytes, 3, f32::from_le_bytes)?;
        let [low, high, thickest_m] = metres.try_into().ok()?;
        bytes.is_empty().then_some(RockRanges { displacement_m: [low, high], thickest_m })
    };
    let compute = || evaluate_with_rock(recipe, grid, position, inputs, None, progress)?.1.ranges(progress);
    let write = |RockRanges { displacement_m: [low, high], thickest_m }: &RockRanges| {
        bytes_of(&[*low, *high, *thickest_m]).collect()
    };
    cached_or_computed(cache.map(|cache| (cache, key)), read, compute, write)
}

/// Whether parts of a map have the rock of the complete map, and its ranges follow from its overview, which has fewer samples.
/// Rivers that erode the terrain below take its sediment from all of the map, so there must be none.
pub fn has_rock_in_parts(recipe: &Recipe, map: Grid) -> bool {
    let steps: Vec<&Step> = recipe.active_steps().map(|(_, step)| step).collect();
    let takes_sediment = |step: &&Step| step.operation.reads_below() && step.operation.upsamples_parts(map);
    let below = &steps[..steps.iter().rposition(takes_sediment).unwrap_or(0)];
    // A group has the sediment of its members. What the first step makes of flat terrain is rock in its place.
    let leaves_none = |(i, step): (usize, &&Step)| {
        let is_rock = matches!(step.operation.rock_effect(), RockEffect::Displace | RockEffect::InPlace);
        step.settings.blend != Blend::Multiply && (i == 0 || step.is_group() || is_rock)
    };
    overview_grid(map) != map && can_evaluate_parts(recipe, map) && below.iter().enumerate().all(leaves_none)
}

/// Whether the drainage areas of parts of a map follow from its [overview](evaluate_overview): the overview has fewer samples,
/// parts can be evaluated alone, and rivers that drain every depression are the last step.
pub fn drains_in_parts(recipe: &Recipe, map: Grid, position: Option<u32>) -> bool {
    drained_above_m(recipe, map, position).is_some()
}

/// Whether a map is known to have no lakes above its sea, given the level of that, metres: it [drains in
/// parts](drains_in_parts), and rivers leave only the depressions of the floor of their own sea.
pub fn has_no_lakes(recipe: &Recipe, map: Grid, position: Option<u32>, sea_m: Option<f32>) -> bool {
    let sea_m = sea_m.unwrap_or(f32::NEG_INFINITY);
    // Water is routed into a sea whose level is rounded in the same way.
    drained_above_m(recipe, map, position).is_some_and(|level_m| level_m.to_f32() <= sea_m)
}

/// The height above which a map [drains in parts](drains_in_parts), metres; `None` if it does not.
fn drained_above_m(recipe: &Recipe, map: Grid, position: Option<u32>) -> Option<f64> {
    let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
    let steps: Vec<(usize, &Step)> = recipe.active_steps().collect();
    let (&(i, last), below) = steps.split_last()?;
    let is_unmasked = |step: &Step| step.settings.mask.is_empty();
    let is_complete = is_unmasked(last) && last.depth == 0 && last.settings.strength == 1.0;
    // Flat terrain below does not add to the slopes. These operations depend on the height alone, so they keep it flat.
    let keeps_flat = |step: &Step| {
        matches!(step.operation, AnyOperation::Clamp(_) | AnyOperation::Levels(_) | AnyOperation::Terrace(_))
    };
    let is_flat = || below.iter().all(|(_, step)| keeps_flat(step) && is_unmasked(step));
    let is_kept = match last.settings.blend {
        Blend::Replace => true,
        Blend::Add => !last.operation.reads_below() && is_flat(),
        _ => false,
    };
    let overview = overview_grid(map);
    let is_coarser = overview != map && overview.width() <= map.width() && overview.height() <= map.height();
    let drains =
        is_coarser && map.width().min(map.height()) >= 3 && is_complete && is_kept && can_evaluate_parts(recipe, map);
    last.operation.drained_above_m(positions[i]).filter(|_| drains)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Outlets, Water};
    use crate::heightfield::{Extent, GridPart};
    use crate::mask::Mask;
    use crate::operations::FaultRivers;
    use crate::operations::clamp::Clamp;
    use crate::operations::faults::Faults;
    use crate::operations::fluvial_erosion::FluvialErosion;
    use crate::operations::group::StepGroup;
    use crate::operations::noise::Noise;
    use crate::operations::stamps::Stamps;

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
        assert!(!of(vec![Stamps::default().into(), rivers().into()]), "on stamps");
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
        assert!(!of(vec![Faults { count: 0, ..rivers() }.into()]), "no faults");
        let rivers = recipe(vec![rivers().into()]);
        let grid = Grid::fitted(rivers.world.extent(), 4097);
        assert!(!drains_in_parts(&rivers, grid, Some(0)) && drains_in_parts(&rivers, grid, Some(1)), "uplift");
        let square = Extent { width_m: 1000.0, depth_m: 1000.0 };
        assert!(!drains_in_parts(&rivers, Grid::new(square, 4097, 5), None), "narrow");
    }

    #[test]
    fn rivers_on_sediment_need_the_rock_of_the_complete_map() {
        let has_rock = |steps: Vec<AnyOperation>, samples: usize| {
            let recipe = Recipe { stack: steps.into_iter().map(Step::new).collect(), ..Recipe::default() };
            has_rock_in_parts(&recipe, Grid::fitted(recipe.world.extent(), samples))
        };
        let faults = || AnyOperation::from(Faults { rivers: Some(FaultRivers::default()), ..Faults::default() });
        let [noise, clamp, fluvial]: [AnyOperation; 3] =
            [Noise::default().into(), Clamp::default().into(), FluvialErosion::default().into()];
        assert!(has_rock(vec![clamp.clone(), faults()], 4097));
        assert!(has_rock(vec![clamp.clone(), noise.clone(), fluvial.clone()], 4097));
        assert!(!has_rock(vec![noise.clone(), fluvial.clone()], 2049), "its own overview");
        assert!(!has_rock(vec![noise.clone(), clamp.clone(), fluvial], 4097), "a clamp that fills");
        assert!(has_rock(vec![noise, clamp, faults()], 4097), "faults have rock of their own");
        let group = AnyOperation::from(StepGroup::default());
        assert!(has_rock(vec![Noise::default().into(), group, FluvialErosion::default().into()], 4097));
    }

    #[test]
    fn only_the_sea_of_rivers_has_depressions() {
        let has_no_lakes = |erosion: FluvialErosion, sea_m: Option<f32>, samples: usize| {
            let stack = [Noise::default().into(), AnyOperation::from(erosion)].map(Step::new).into();
            let recipe = Recipe { stack, ..Recipe::default() };
            super::has_no_lakes(&recipe, Grid::fitted(recipe.world.extent(), samples), None, sea_m)
        };
        assert!(has_no_lakes(FluvialErosion::default(), None, 4097));
        assert!(has_no_lakes(FluvialErosion::default(), Some(-80.0), 4097));
        assert!(!has_no_lakes(FluvialErosion::default(), None, 2049), "not in parts");
        let with_sea = || FluvialErosion { sea_m: Some(20.0), ..Default::default() };
        assert!(!has_no_lakes(with_sea(), None, 4097));
        assert!(!has_no_lakes(with_sea(), Some(19.0), 4097));
        assert!(has_no_lakes(with_sea(), Some(20.0), 4097));
        assert!(has_no_lakes(FluvialErosion { sea_m: Some(0.7), ..Default::default() }, Some(0.7), 4097), "rounded");
    }

    #[test]
    fn rivers_leave_no_lakes() {
        let mut recipe = Recipe::default();
        (recipe.world.width_m, recipe.world.depth_m) = (40_960.0, 1280.0);
        let grid = Grid::fitted(recipe.world.extent(), 4097);
        let erosion = |sea_m: Option<f64>| AnyOperation::from(FluvialErosion { count: 2, sea_m, ..Default::default() });
        let rivers = Faults { rivers: Some(FaultRivers::default()), count: 30, ..Faults::default() };
        for (steps, sea_m) in [
            (vec![rivers.into()], None),
            (vec![Noise::default().into(), erosion(None)], None),
            (vec![Noise::default().into(), erosion(Some(-12.3))], Some(-12.3)),
        ] {
            recipe.stack = steps.into_iter().map(Step::new).collect();
            let progress = Progress::new();
            let terrain = evaluate(&recipe, grid, None, &Inputs::default(), &progress).expect("not cancelled");
            let depths = Water::on(&terrain, Outlets::Border, sea_m, &progress).expect("not cancelled").lakes_m;
            let deepest_m = depths.into_iter().fold(0.0, f32::max);
            assert!(has_no_lakes(&recipe, grid, None, sea_m) && deepest_m < 1e-3, "{deepest_m} m");
            let [low, high] = terrain.min_max();
            assert!(high - low > 100.0 && sea_m.is_none_or(|sea_m| low < sea_m), "{low} to {high} m");
        }
    }

    #[test]
    fn parts_have_the_rock_of_the_complete_map() {
        let mut recipe = Recipe::default();
        (recipe.world.width_m, recipe.world.depth_m) = (40_960.0, 1280.0);
        let grid = Grid::fitted(recipe.world.extent(), 4097);
        let rivers = || Faults { rivers: Some(FaultRivers::default()), count: 30, ..Faults::default() };
        let erosion = || FluvialErosion { count: 2, deposition: 1.0, ..Default::default() };
        let member = Step { depth: 1, ..Step::new(Noise::default()) };
        let mut fills = Step::new(Clamp { low_m: Some(20.0), ..Default::default() });
        fills.settings.strength = 0.5;
        for steps in [
            vec![Step::new(Noise::default()), fills, Step::new(rivers())],
            vec![member, Step::new(StepGroup::default()), Step::new(erosion())],
        ] {
            recipe.stack = steps;
            assert!(has_rock_in_parts(&recipe, grid));
            let rock_on = |grid: Grid| {
                evaluate_with_rock(&recipe, grid, None, &Inputs::default(), None, &Progress::new())
                    .expect("not cancelled")
                    .1
            };
            let part = GridPart { first: [1900, 20], size: [300, 70] };
            let (whole, found) = (rock_on(grid), rock_on(grid.part(part.first, part.size)));
            assert_eq!(*found.displacement_m, whole.displacement_m.part(part));
            assert_eq!(*found.sediment_m, whole.sediment_m.part(part));
            assert!(found.sediment_m.min_max()[1] > 0.1, "{:?}", found.sediment_m.min_max());
        }
    }
}
