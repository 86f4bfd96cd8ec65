//! Scattered instances, and maps of their density.

use std::path::{Path, PathBuf};

use super::channels::{area, stage_tiles};
use super::order::ScatterOrder;
use super::tiles::{TileFile, Tiles};
use super::weights::safe_name;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::parameters::grouped;
use crate::engine::scatter::{density_map, memory_bytes, most_places, scatter};
use crate::engine::{Grid, Heightfield, Inputs, Progress, Recipe};
use crate::files::formats::image;
use crate::files::formats::png::{self, BitDepth, Channels, Layout};
use crate::files::formats::scatter::{self as format, ScatterContents, ScatterFormat};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// The most bytes of an instance in a file.
const BYTES_EACH: f64 = 90.0;

/// The files of the density maps, by layer; an error if a file cannot be written.
pub(super) fn plan(
    order: &ScatterOrder,
    recipe: &Recipe,
    tiles: Option<Tiles>,
) -> Result<Vec<Vec<TileFile>>, FileError> {
    order.files.iter().try_for_each(|path| ScatterFormat::from_path(path).map(|_| ()))?;
    let Some(any) = order.files.first().or(order.densities.as_ref()) else { return Ok(Vec::new()) };
    if layers(recipe).next().is_none() {
        let problem = "nothing is scattered; add a layer to the project, or enable one";
        return Err(FileError::invalid(any, problem));
    }
    if tiles.is_some_and(|tiles| tiles.only.is_some()) {
        let problem = "scattered instances are written for the whole map, not for one tile; omit --tile";
        return Err(FileError::invalid(any, problem));
    }
    let Some(folder) = &order.densities else { return Ok(Vec::new()) };
    image::check_size(&folder.join("density.png"), order.size)?;
    let files = layers(recipe).map(|layer| density_path(folder, recipe, layer));
    files.map(|path| TileFile::of_pixels(tiles, &path, order.size)).collect()
}

/// The indices of the enabled layers.
fn layers(recipe: &Recipe) -> impl Iterator<Item = usize> {
    let layers = recipe.scatter.iter().enumerate().filter(|(_, layer)| layer.enabled);
    layers.map(|(index, _)| index)
}

fn density_path(folder: &Path, recipe: &Recipe, layer: usize) -> PathBuf {
    folder.join(format!("density_{layer:02}_{}.png", safe_name(&recipe.scatter[layer].name)))
}

/// The maximum length of a file of scattered instances.
pub(super) fn max_bytes(recipe: &Recipe) -> u64 {
    let extent = recipe.world.extent();
    let instances =
        layers(recipe).map(|layer| most_places(&recipe.scatter[layer], extent) * recipe.scatter[layer].amount);
    // On average; random numbers can give a few more.
    (1.05 * BYTES_EACH * instances.sum::<f64>()).to_u64() + (1 << 16)
}

/// The layout of a density map.
pub(super) fn layout(order: &ScatterOrder) -> Layout {
    Layout { size: order.size, channels: Channels::Grey, depth: BitDepth::Eight, is_srgb: false }
}

/// The maximum number of bytes that the instances and their files need.
pub(super) fn bytes(order: &ScatterOrder, recipe: &Recipe, grid: Grid) -> u64 {
    let has_glb = order.files.iter().any(|path| ScatterFormat::from_path(path) == Ok(ScatterFormat::Glb));
    // A binary glTF is composed in memory.
    let composed = if has_glb { max_bytes(recipe) } else { 0 };
    let density = if order.densities.is_some() { area(order.size) + png::bytes_at_once(layout(order), 0) } else { 0 };
    memory_bytes(&recipe.scatter, grid) + composed.max(density)
}

/// Stages the files that [`plan`] returned; also returns a note for the report.
pub(super) fn stage(
    order: &ScatterOrder,
    densities: &[Vec<TileFile>],
    (recipe, inputs): (&Recipe, &Inputs),
    terrain: &Heightfield,
    overwrite: bool,
    progress: &Progress,
) -> Result<(Vec<StagedFile>, String), FileError> {
    let scattered = progress.stage(0.0..0.5, || scatter(recipe, terrain, inputs, progress))?;
    let contents = ScatterContents { recipe, scattered: &scattered };
    let share = |at: usize| 0.5 + 0.5 * at.to_f32() / (order.files.len() + densities.len()).max(1).to_f32();
    let mut staged = Vec::new();
    for (at, path) in order.files.iter().enumerate() {
        let file_format = ScatterFormat::from_path(path)?;
        let staging = || {
            atomic::stage(path, overwrite, |writer| {
                let written = format::write(writer, file_format, order.axes, contents, progress);
                // A cancelled writer returns an I/O error.
                progress.check()?;
                written.map_err(|error| FileError::writing(path, &error))
            })
        };
        staged.push(progress.stage(share(at)..share(at + 1), staging)?);
    }
    for (at, (files, layer)) in densities.iter().zip(layers(recipe)).enumerate() {
        let at = order.files.len() + at;
        let staging = || {
            let values = density_map(recipe, layer, terrain, inputs, &scattered, order.size, progress)?;
            stage_tiles(files, layout(order), |pixel, _| values[pixel].into(), overwrite, progress)
        };
        staged.extend(progress.stage(share(at)..share(at + 1), staging)?);
    }
    let counts = scattered.iter().map(|one| {
        let layer = &recipe.scatter[one.layer];
        let why = if layer.lacks_types(&recipe.texture) { " (none of its terrain types covers terrain)" } else { "" };
        format!("{} {}{why}", grouped(one.instances.len()), layer.name)
    });
    let note = format!("scattered {}", counts.collect::<Vec<_>>().join(", "));
    Ok((staged, note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scatter::ScatterLayer;

    #[test]
    fn only_density_maps_need_a_size() {
        let layer = |name: &str, enabled| ScatterLayer { name: name.into(), enabled, ..ScatterLayer::default() };
        let scatter = vec![layer("a", true), layer("b", false), layer("c d", true)].into();
        let recipe = Recipe { scatter, ..Recipe::default() };
        let order = ScatterOrder { files: vec!["a.csv".into()], ..ScatterOrder::default() };
        assert_eq!(plan(&order, &recipe, None), Ok(Vec::new()));
        let order = ScatterOrder { densities: Some("maps".into()), size: [64, 32], ..order };
        let planned = plan(&order, &recipe, None).expect("possible");
        let paths: Vec<PathBuf> = planned.into_iter().flatten().map(|file| file.path).collect();
        assert_eq!(paths, ["maps/density_00_a.png", "maps/density_02_c_d.png"].map(PathBuf::from));
        let nothing = Recipe { scatter: vec![layer("b", false)].into(), ..Recipe::default() };
        assert!(
            plan(&order, &nothing, None).is_err()
                && plan(&ScatterOrder { size: [0; 2], ..order }, &recipe, None).is_err()
        );
    }
}
