//! The memory that an export needs.

use super::plan::Plan;
use super::{frames, maps, mesh, scatter, texture, weights};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::flow::Water;
use crate::engine::reach::Reach;
use crate::engine::stack::memory;
use crate::engine::texture::{MAX_PREPARED_BYTES, RequiredMaps, TypeMasks};
use crate::files::formats::heightmap;

/// The measured working memory of threads, plus the memory that the allocator retains.
const WORKING_BYTES: u64 = 8 << 20;

/// The peak memory of an export, in addition to that of the program. Memory that depends on the shape of coasts, not
/// only on the size of the grid, is counted at its usual value.
pub fn memory_needed(plan: &Plan) -> u64 {
    let order = plan.order();
    let grid = plan.evaluated_grid();
    let map = 4 * grid.samples() as u64;
    let maps = |count: f64| (map.to_f64() * count).ceil().to_u64();
    let [evaluating_rock, rock] = if order.needs_rock() { memory::rock_maps(&order.recipe) } else { [0.0; 2] };
    let evaluating = maps(memory::peak_maps(&order.recipe, grid) + evaluating_rock);
    let heightmaps = order.heightmaps.iter().zip(&plan.heightmaps).map(|(heightmap, files)| {
        // One file after another, all of the same size.
        let size = files.first().map_or([0; 2], |file| file.region.size);
        heightmap::bytes_written(&heightmap.path, order.grid.part([0; 2], size))
    });
    let [surface_maps, computing_them] = match order.needs_painting() {
        true => {
            let [returned, most] = RequiredMaps::of(&order.recipe.texture, order.baked_light()).map_counts();
            let knows_areas = plan.overview.is_some_and(|overview| overview.has_mask_water);
            let [masks, evaluating_masks] =
                TypeMasks::map_counts(&order.recipe.texture, &order.recipe.masks, knows_areas);
            [returned + masks, most.max(returned + evaluating_masks)].map(maps)
        }
        false => [0; 2],
    };
    let texture = order.texture.as_ref().map_or(0, |texture| texture::bytes(texture, &plan.texture));
    let weights = order.weights.as_ref().map_or(0, |weights| {
        let (weights, _) = weights::with_needed_points(weights, &plan.weights);
        weights::bytes(&weights, &order.recipe.texture, order.grid)
    });
    let has_areas = plan.overview.is_some_and(|overview| overview.has_water);
    let areas = maps(plan.overview.map_or(0.0, |overview| overview.area_maps(order)));
    let analysis_maps = order.maps.iter().zip(&plan.maps).map(|(map, files)| {
        let is_known = match map.analysis_map.reach() {
            Reach::Drainage => has_areas,
            Reach::Depressions => order.has_no_lakes(order.sea_m),
            _ => false,
        };
        maps::bytes(map, files, maps(if is_known { 1.0 } else { map.analysis_map.extra_maps() }))
    });
    let [overview, computing_overview] = plan.overview.map_or([0; 2], |overview| overview.bytes(order));
    // The lines are small compared with the maps that they are traced on.
    let rivers = order.rivers.as_ref().map(|_| maps(Water::MAPS + 1.0));
    let scattered = order.scatter.as_ref().map(|scatter| scatter::bytes(scatter, &order.recipe, order.grid));
    let with_heights = heightmaps.chain(analysis_maps).chain(rivers).chain(scattered).max().unwrap_or(0);
    let mesh = order.mesh.as_ref().map_or(0, |mesh| mesh::bytes(mesh, order.grid));
    let frames = order.frames.as_ref().map_or(0, |frames| frames::bytes(frames, &order.recipe, order.grid));
    let painting = surface_maps.saturating_add(texture.max(weights).max(mesh));
    let with_heights = with_heights.max(frames).max(computing_them).max(painting).saturating_add(overview + areas);
    let with_heights = with_heights.max(computing_overview.saturating_add(areas));
    let prepared = if order.inputs.swatches.is_empty() { 0 } else { MAX_PREPARED_BYTES };
    let needed = evaluating.max(maps(1.0 + rock).saturating_add(with_heights).saturating_add(prepared));
    needed.saturating_add(order.inputs.bytes()).saturating_add(WORKING_BYTES)
}
