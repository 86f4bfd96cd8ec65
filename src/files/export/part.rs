//! The part of the terrain that the only tile of an order needs.

use super::order::{HeightmapOrder, Order};
use super::tiles::{PlannedMaps, TileFile};
use crate::engine::heightfield::GridPart;
use crate::engine::stack;
use crate::engine::texture::{AnalysisMap, PixelRegion, Points, RequiredMaps, Unit};
use crate::files::formats::heightmap::{Samples, WrittenFormat};
use crate::files::formats::region::Region;

/// The samples that are evaluated for the only tile of an order; `None`: all, because there is no only tile, or for a
/// [reason](reason_for_complete_terrain).
pub(super) fn part_of_tile(order: &Order, planned: &PlannedMaps) -> Option<GridPart> {
    let is_single = order.tiles.is_some_and(|tiles| tiles.only.is_some());
    if !is_single || reason_for_complete_terrain(order).is_some() {
        return None;
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
    heights.chain(pixels).reduce(GridPart::around)
}

/// Why a single tile needs the complete terrain; `None` if it is computed from its surroundings.
pub(super) fn reason_for_complete_terrain(order: &Order) -> Option<String> {
    let is_local =
        |map: AnalysisMap| matches!(map, AnalysisMap::Normals | AnalysisMap::NormalsSouth | AnalysisMap::Slope);
    let outputs = [
        (order.rivers.is_some(), "river lines"),
        (order.mesh.is_some(), "the mesh"),
        (order.frames.is_some(), "the frames"),
        (order.scatter.is_some(), "scattered instances"),
        (order.manifest.is_some(), "the manifest"),
    ];
    let output = outputs.into_iter().find_map(|(is_ordered, output)| is_ordered.then_some(output));
    let map = order.maps.iter().map(|map| map.analysis_map).find(|map| !is_local(*map));
    if let Some(output) = output.map(String::from).or_else(|| map.map(|map| format!("the map \"{}\"", map.key()))) {
        Some(format!("{output} cannot be computed from the surroundings of a tile"))
    } else if !has_local_heights(order) {
        Some("integers need the height range of all tiles, which --range or the project can fix".into())
    } else if order.needs_painting() && !has_local_painting(order) {
        Some("a terrain type or the light depends on more than the heights and slopes around each place".into())
    } else if !stack::can_evaluate_parts(&order.recipe, order.grid) {
        Some("a step needs it, or the world is too small for parts".into())
    } else {
        None
    }
}

/// Whether integers of the heightmaps, if there are any, do not depend on the range of the complete terrain.
fn has_local_heights(order: &Order) -> bool {
    let is_in_metres = |heightmap: &HeightmapOrder| {
        let format = WrittenFormat::from_path(&heightmap.path).ok();
        format.is_some_and(|format| matches!(format.samples(heightmap.encoding), Samples::Metres { .. }))
    };
    order.fixed_range_m().is_some() || order.heightmaps.iter().all(is_in_metres)
}

/// Whether terrain types depend on the heights and slopes around each place alone.
fn has_local_painting(order: &Order) -> bool {
    let recipe = &order.recipe.texture;
    let has_known_range = order.recipe.world.height_range_m.is_some() || recipe.settings.unit == Unit::Metres;
    let is_in_pixels = order.weights.as_ref().is_none_or(|weights| weights.points != Points::Samples);
    let is_in_patches = order.texture.as_ref().is_some_and(|texture| texture.patches.is_some());
    let required = RequiredMaps::of(recipe, order.baked_light());
    has_known_range
        && is_in_pixels
        && !is_in_patches
        && required == RequiredMaps::default()
        && recipe.active().all(|terrain_type| order.recipe.has_pointwise_mask(&terrain_type.mask))
}
