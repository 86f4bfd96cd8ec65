//! The part of the terrain that the only tile of an order needs.

use super::order::{HeightmapOrder, Order};
use super::tiles::{PlannedMaps, TileFile};
use crate::engine::flow::RegionalWater;
use crate::engine::heightfield::GridPart;
use crate::engine::parameters::Band;
use crate::engine::reach::Reach;
use crate::engine::stack::can_evaluate_parts;
use crate::engine::stack::overview::{drains_in_parts, overview_grid};
use crate::engine::texture::{PixelRegion, Points, RequiredMaps, Unit};
use crate::files::formats::heightmap::{Samples, WrittenFormat};
use crate::files::formats::region::Region;

/// The samples that are evaluated for the only tile of an order. The error is the reason why all are.
pub(super) fn part_of_tile(
    order: &Order,
    planned: &PlannedMaps,
    cached_range_m: Option<Band>,
) -> Result<GridPart, &'static str> {
    if !can_evaluate_parts(&order.recipe, order.grid) {
        return Err("its steps depend on the complete terrain, or it has too few samples for parts");
    }
    check_outputs(order)?;
    check_heights(order, cached_range_m)?;
    if order.needs_painting() {
        check_painting(order, cached_range_m)?;
    }
    let heights = planned
        .heightmaps
        .iter()
        .flatten()
        .map(|TileFile { region: Region { first, size }, .. }| GridPart { first: *first, size: *size });
    let texture = order.texture.iter().map(|texture| (planned.texture, texture.size));
    let maps = order.maps.iter().zip(planned.maps).map(|(map, files)| (&files[..], map.size));
    let weights = order
        .weights
        .iter()
        .flat_map(|weights| planned.weights.iter().map(|files| (&files[..], weights.points.size(order.grid))));
    let pixels = texture.chain(maps).chain(weights).flat_map(|(files, full_size)| {
        let samples = move |TileFile { region: Region { first, size }, .. }: &TileFile| {
            PixelRegion { full_size, origin: *first, size: *size }.samples(order.grid)
        };
        files.iter().map(samples)
    });
    let part = heights.chain(pixels).reduce(GridPart::around).ok_or("no map is cut into tiles")?;
    let coarse = overview_grid(order.grid);
    Ok(if depends_on(order, Reach::Drainage) { RegionalWater::needed(coarse, part, order.grid) } else { part })
}

/// Whether an analysis map or a mask of a terrain type has this reach.
fn depends_on(order: &Order, reach: Reach) -> bool {
    order.has_maps(reach) || order.has_type_masks(reach)
}

/// Whether every output at a place depends on the terrain around it, and on an overview of all of it.
fn check_outputs(order: &Order) -> Result<(), &'static str> {
    let needs_whole = order.rivers.is_some()
        || order.mesh.is_some()
        || order.frames.is_some()
        || order.scatter.is_some()
        || order.manifest.is_some();
    if needs_whole {
        Err("some of the files are not cut into tiles")
    } else if depends_on(order, Reach::Complete) {
        Err("masks by blurred images or curvature at a small scale need the complete terrain")
    } else if order.has_maps(Reach::Depressions) && !order.has_no_lakes(order.sea_m) {
        Err(
            "maps of lakes need a larger map, and rivers as the last step whose sea, if any, is not above the water level",
        )
    } else if order.has_type_masks(Reach::Depressions) && !order.has_no_lakes(None) {
        Err("masks by lakes need a larger map, and rivers without a sea as the last step")
    } else if order.uses_overview() && overview_grid(order.grid) == order.grid {
        Err(
            "curvature, humidity, shade, occlusion, sediment and rock need the complete terrain of maps of up to 2049 samples",
        )
    } else if order.needs_complete_rock() {
        Err("rivers take sediment from all of the terrain below them")
    } else if depends_on(order, Reach::Drainage) && !drains_in_parts(&order.recipe, order.grid, order.position) {
        Err("drainage areas, also in masks, need rivers as the last step, and a larger map")
    } else {
        Ok(())
    }
}

/// Whether integers of the heightmaps, if there are any, do not depend on the range of the complete terrain.
fn check_heights(order: &Order, cached_range_m: Option<Band>) -> Result<(), &'static str> {
    let is_in_metres = |heightmap: &HeightmapOrder| {
        let format = WrittenFormat::from_path(&heightmap.path).ok();
        format.is_some_and(|format| matches!(format.samples(heightmap.encoding), Samples::Metres { .. }))
    };
    if order.fixed_range_m().or(cached_range_m).is_some() || order.heightmaps.iter().all(is_in_metres) {
        Ok(())
    } else if order.cache.is_some() {
        Err("integers need the height range of all tiles, which is now in the cache")
    } else {
        Err("integers need the height range of all tiles; fix it with --range or in the project, or use --cache")
    }
}

/// Whether terrain types, but for their masks, depend on the heights and slopes around each place and on an overview.
fn check_painting(order: &Order, cached_range_m: Option<Band>) -> Result<(), &'static str> {
    let recipe = &order.recipe.texture;
    let range_m = order.recipe.world.height_range_m.or(cached_range_m);
    if range_m.is_none() && recipe.settings.unit != Unit::Metres {
        Err("elevations of terrain types in percent need a fixed height range of the world, or one in the cache")
    } else if order.weights.as_ref().is_some_and(|weights| weights.points == Points::Samples) {
        Err("weights at samples cannot be computed from the surroundings of a tile")
    } else if order.texture.as_ref().is_some_and(|texture| texture.patches.is_some()) {
        Err("patches are cut from the complete texture")
    } else if RequiredMaps::of(recipe, order.baked_light()).needs_complete_terrain() {
        Err("the baked light has shadows")
    } else {
        Ok(())
    }
}
