//! The import steps of an export.

use std::path::Path;

use super::import_guide::ImportFacts;
use super::order::Order;
use super::plan::Plan;
use crate::engine::Grid;
use crate::engine::parameters::Band;
use crate::files::formats::heightmap::{Samples, WrittenFormat, grid_of};

/// The heights that integers span in an export whose heights have the range `own_m`.
pub(super) fn span_m(order: &Order, own_m: Band) -> Band {
    order.fixed_range_m().unwrap_or(own_m)
}

/// The import steps of one heightmap.
pub(super) fn steps_of_file(order: &Order, path: &Path, grid: Grid, range_m: Band, is_estimate: bool) -> Vec<String> {
    let Some(target) = order.target else {
        return Vec::new();
    };
    let weighted = order.recipe.texture.active().filter(|it| it.covers() && order.weights.is_some());
    let names = weighted.map(|terrain_type| terrain_type.name.clone());
    let layers: Vec<String> = names.take(target.max_layers().unwrap_or(usize::MAX)).collect();
    let file = &path.file_name().unwrap_or_default().to_string_lossy();
    let tiles = order.tiles.map(|tiles| tiles.counts).filter(|counts| *counts != [1, 1]);
    let water_m = order.sea_m.map(f64::from);
    target.import_steps(&ImportFacts { file, grid, range_m, is_estimate, water_m, tiles, layers: &layers })
}

/// The import steps of all heightmaps, given the range of the exported heights. The first tile represents all of them.
pub fn import_steps(plan: &Plan, own_m: Band) -> Vec<String> {
    steps_of_all(plan, own_m, false)
}

/// The import steps, given the range of a preview's heights. The steps mark the numbers that depend on it as
/// approximate.
pub fn estimated_import_steps(plan: &Plan, own_m: Band) -> Vec<String> {
    steps_of_all(plan, own_m, true)
}

fn steps_of_all(plan: &Plan, own_m: Band, is_estimate: bool) -> Vec<String> {
    let order = plan.order();
    let is_fixed = order.fixed_range_m().is_some();
    let mut all = Vec::new();
    for (heightmap, files) in order.heightmaps.iter().zip(&plan.heightmaps) {
        let (Ok(format), Some(file)) = (WrittenFormat::from_path(&heightmap.path), files.first()) else {
            continue;
        };
        let (range_m, is_estimate) = match format.samples(heightmap.encoding) {
            Samples::Metres { .. } => (own_m, is_estimate),
            Samples::Integers { .. } => (span_m(order, own_m), is_estimate && !is_fixed),
        };
        for step in steps_of_file(order, &file.path, grid_of(order.grid, file.region), range_m, is_estimate) {
            if !all.contains(&step) {
                all.push(step);
            }
        }
    }
    if let (Some(_), Some(target)) = (&order.scatter, order.target) {
        all.push(target.scatter_step());
    }
    if let (count @ 1.., Some(manifest)) = (order.markers.len(), &order.manifest) {
        let name = manifest.path.file_name().unwrap_or_default().to_string_lossy();
        let markers = if count == 1 { "marker".into() } else { format!("{count} markers") };
        all.push(format!("{name} lists the {markers} of the level with their places and heights (\"markers\")."));
    }
    all
}
