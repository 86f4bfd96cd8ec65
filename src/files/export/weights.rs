//! The weights of the terrain types as images.
//!
//! The weights of the covering types sum to exactly the maximum value at every point. A type that multiplies or
//! overlays does not cover: it has a map of its strength, but is not part of the sum or of the packs.

use std::path::{Path, PathBuf};

use super::channels::{area, stage_tiles};
use super::materials::material_colour;
use super::order::{WeightsLayout, WeightsOrder};
use super::tiles::{TileFile, Tiles, needed_pixels};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::parameters::Band;
use crate::engine::texture::{PaintInput, PixelRegion, Points, TerrainType, TextureRecipe, weight_maps};
use crate::engine::{Grid, Heightfield, Progress};
use crate::files::formats::heightmap::{self, Encoding, RowOrder, Rows};
use crate::files::formats::image;
use crate::files::formats::png::{self, BitDepth, Channels, Layout};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// The maximum length of a type's name in a file name, in characters.
const MAX_NAME_LENGTH: usize = 40;

/// The number of types that a control map can distinguish.
const MAX_CONTROL_TYPES: usize = 32;

/// Replaces everything but letters, digits and hyphens by underscores, so that every file system accepts the name.
pub(super) fn safe_name(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    let safe: Vec<char> = name.trim().chars().take(MAX_NAME_LENGTH).map(letter).collect();
    // Unreal takes u, v, x and y before digits for the column and row of a tile (LandscapeTiledImage.cpp, "Tokens").
    let is_token = |at: usize| {
        let is_letter = matches!(safe[at].to_ascii_lowercase(), 'u' | 'v' | 'x' | 'y');
        is_letter && safe.get(at + 1).is_some_and(char::is_ascii_digit)
    };
    let separator = |at: usize| is_token(at).then_some('_');
    let safe: String = (0..safe.len()).flat_map(|at| [Some(safe[at]), separator(at)]).flatten().collect();
    if safe.is_empty() { "unnamed".into() } else { safe }
}

/// The paths of the maps of single types, in order.
fn map_paths(order: &WeightsOrder, recipe: &TextureRecipe) -> Vec<PathBuf> {
    let name =
        |(at, mapped): (usize, &TerrainType)| format!("weight_{at:02}_{}{}.png", safe_name(&mapped.name), order.suffix);
    let mapped = recipe.active().filter(|terrain_type| order.layout.has_map(terrain_type));
    mapped.enumerate().map(|numbered| order.folder.join(name(numbered))).collect()
}

/// The paths of the packs of covering types.
fn pack_paths(order: &WeightsOrder, recipe: &TextureRecipe) -> Vec<PathBuf> {
    let covering = recipe.active().filter(|terrain_type| terrain_type.covers()).count();
    let count = covering.min(order.max_types.unwrap_or(covering)).div_ceil(WeightsLayout::PER_PACK);
    (0..count).map(|at| order.folder.join(format!("weights_RGBA_{at}.png"))).collect()
}

/// The paths of all maps, each of which may be split into tiles.
fn map_and_pack_paths(order: &WeightsOrder, recipe: &TextureRecipe) -> Vec<PathBuf> {
    let mut paths = map_paths(order, recipe);
    match order.layout {
        WeightsLayout::MapsAndPacks | WeightsLayout::Packs => paths.extend(pack_paths(order, recipe)),
        WeightsLayout::Maps => {}
        WeightsLayout::Control => paths.push(order.folder.join("control.exr")),
        WeightsLayout::Materials => paths.push(order.folder.join("materials.png")),
    }
    paths
}

/// The files of each map, first those of single types; an error if they cannot be written.
pub(super) fn plan(
    order: &WeightsOrder,
    recipe: &TextureRecipe,
    grid: Grid,
    tiles: Option<Tiles>,
) -> Result<Vec<Vec<TileFile>>, FileError> {
    let paths = map_and_pack_paths(order, recipe);
    let covering = recipe.active().filter(|terrain_type| terrain_type.covers()).count();
    let needs_covering = order.layout != WeightsLayout::MapsAndPacks;
    let first = paths.first().filter(|_| recipe.active().next().is_some() && (covering > 0 || !needs_covering));
    let Some(first) = first else {
        let problem = "no terrain type is active, so there are no weights; add or enable one, or choose another set";
        return Err(FileError::invalid(&order.folder, problem));
    };
    if order.layout == WeightsLayout::Control && covering > MAX_CONTROL_TYPES {
        let problem =
            format!("a control map is limited to {MAX_CONTROL_TYPES} terrain types, but {covering} have weights");
        return Err(FileError::invalid(first, problem));
    }
    let size = order.points.size(grid);
    image::check_size(Path::new("a.png"), size)?;
    let files_of = |path: &PathBuf| match order.points {
        Points::Samples => TileFile::of_samples(tiles, path, size),
        Points::Pixels(_) | Points::PixelRegion(_) => TileFile::of_pixels(tiles, path, size),
    };
    paths.iter().map(files_of).collect()
}

/// The maximum number of bytes that the weights need: all maps twice while they are computed (row by row and type by
/// type), then all maps plus the memory for writing one of them.
pub(super) fn bytes(order: &WeightsOrder, recipe: &TextureRecipe, grid: Grid) -> u64 {
    let size = order.points.size(grid);
    let maps = area(size).saturating_mul(2 * recipe.active().count() as u64);
    let layouts = [map_layout(size, order.depth), pack_layout(size)];
    let writing = layouts.map(|layout| png::bytes_at_once(layout, 0));
    let control = if order.layout == WeightsLayout::Control { area(size).saturating_mul(4) } else { 0 };
    maps.saturating_add(writing.into_iter().fold(maps.max(control), u64::max))
}

/// Uncompressed bytes per pixel of each of `count` maps.
pub(super) fn pixel_bytes(order: &WeightsOrder, recipe: &TextureRecipe, count: usize) -> impl Iterator<Item = u64> {
    let single = map_paths(order, recipe).len();
    let layout = order.layout;
    let of_map = map_layout([0; 2], order.depth).pixel_bytes() as u64;
    (0..count).map(move |at| match layout {
        WeightsLayout::MapsAndPacks | WeightsLayout::Maps | WeightsLayout::Packs if at < single => of_map,
        WeightsLayout::MapsAndPacks | WeightsLayout::Maps | WeightsLayout::Packs => 4,
        WeightsLayout::Control => 12,
        WeightsLayout::Materials => 3,
    })
}

/// Stages the files that [`plan`] returned.
pub(super) fn stage(
    order: &WeightsOrder,
    files: &[Vec<TileFile>],
    input: PaintInput,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let (order, files) = &with_needed_points(order, files);
    match order.layout {
        WeightsLayout::MapsAndPacks | WeightsLayout::Maps | WeightsLayout::Packs => {
            stage_maps_and_packs(order, files, input, overwrite, progress)
        }
        WeightsLayout::Control => {
            stage_control(order, files.first().map_or(&[], Vec::as_slice), input, overwrite, progress)
        }
        WeightsLayout::Materials => {
            stage_materials(order, files.first().map_or(&[], Vec::as_slice), input, overwrite, progress)
        }
    }
}

/// The same weights at the pixels that the files need, and the files with their regions among these.
pub(super) fn with_needed_points(order: &WeightsOrder, files: &[Vec<TileFile>]) -> (WeightsOrder, Vec<Vec<TileFile>>) {
    let Points::Pixels(full_size) = order.points else { return (order.clone(), files.to_vec()) };
    let (regions, files): (Vec<PixelRegion>, Vec<Vec<TileFile>>) =
        files.iter().map(|files| needed_pixels(files, full_size)).unzip();
    // All maps have the same tiles.
    let points = regions.first().map_or(order.points, |region| Points::PixelRegion(*region));
    (WeightsOrder { points, ..order.clone() }, files)
}

fn stage_maps_and_packs(
    order: &WeightsOrder,
    files: &[Vec<TileFile>],
    input: PaintInput,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let WeightsOrder { points, depth, layout, .. } = *order;
    let map_count = input.recipe.active().filter(|terrain_type| layout.has_map(terrain_type)).count();
    let (map_files, pack_files) = files.split_at(map_count.min(files.len()));
    let mut staged = Vec::new();
    let weights = progress.stage(0.0..0.7, || {
        let weights = progress.stage(0.0..0.4, || weight_maps(input, points, depth.max(), progress))?;
        let share = |at: usize| 0.4 + 0.6 * at.to_f32() / map_files.len().max(1).to_f32();
        let mapped = input.recipe.active().zip(&weights.maps).filter(|(mapped, _)| layout.has_map(mapped));
        for (at, (files, (_, map))) in map_files.iter().zip(mapped).enumerate() {
            let layout = map_layout(weights.size, depth);
            let staging = || stage_tiles(files, layout, |pixel, _| map[pixel], overwrite, progress);
            staged.extend(progress.stage(share(at)..share(at + 1), staging)?);
        }
        Ok::<_, FileError>(weights)
    })?;
    if !layout.has_packs() {
        return Ok(staged);
    }
    let weights = match depth {
        BitDepth::Eight => weights,
        BitDepth::Sixteen => {
            // Packs have 8 bits, and their values have to sum to 255 exactly.
            drop(weights);
            progress.stage(0.7..0.85, || weight_maps(input, points, BitDepth::Eight.max(), progress))?
        }
    };
    let size = weights.size;
    let of_types = weights.maps.into_iter().zip(input.recipe.active());
    let (mut covering, colours): (Vec<Vec<u16>>, Vec<[u8; 3]>) =
        of_types.filter(|(_, mapped)| mapped.covers()).map(|(map, mapped)| (map, mapped.colour.0)).unzip();
    merge_types(&mut covering, &colours, order.max_types.unwrap_or(usize::MAX));
    let share = |at: usize| 0.85 + 0.15 * at.to_f32() / pack_files.len().max(1).to_f32();
    for (at, (files, pack)) in pack_files.iter().zip(covering.chunks(WeightsLayout::PER_PACK)).enumerate() {
        let value = |pixel: usize, channel: usize| pack.get(channel).map_or(0, |map| map[pixel]);
        let staging = || stage_tiles(files, pack_layout(size), value, overwrite, progress);
        staged.extend(progress.stage(share(at)..share(at + 1), staging)?);
    }
    Ok(staged)
}

/// Adds the weights of the types after the first `max` ones to those with the nearest colours among these.
fn merge_types(maps: &mut Vec<Vec<u16>>, colours: &[[u8; 3]], max: usize) {
    while maps.len() > max.max(1) {
        let Some(merged) = maps.pop() else { return };
        let colour = colours[maps.len()];
        let distance = |other: [u8; 3]| (0..3).map(|i| u32::from(colour[i].abs_diff(other[i])).pow(2)).sum::<u32>();
        let nearest = (0..max.max(1)).min_by_key(|at| distance(colours[*at])).unwrap_or(0);
        maps[nearest].iter_mut().zip(merged).for_each(|(sum, weight)| *sum += weight);
    }
}

/// The 8-bit weights of the covering types.
fn covering_weights(order: &WeightsOrder, input: PaintInput, progress: &Progress) -> Result<Vec<Vec<u16>>, FileError> {
    let weights = weight_maps(input, order.points, BitDepth::Eight.max(), progress)?;
    let of_types = weights.maps.into_iter().zip(input.recipe.active());
    Ok(of_types.filter(|(_, terrain_type)| terrain_type.covers()).map(|(map, _)| map).collect())
}

/// Stages the control map of Terrain3D ("Controlmap Format"): the numbers of two types with five bits each, and eight
/// bits for the blend towards the second.
fn stage_control(
    order: &WeightsOrder,
    files: &[TileFile],
    input: PaintInput,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let maps = progress.stage(0.0..0.7, || covering_weights(order, input, progress))?;
    let grid = input.terrain.grid();
    let bits = |at: usize| {
        let [(base, first), (overlay, second)] =
            strongest(&maps, at).map(|(number, weight)| (number, u32::from(weight)));
        let both = (first + second).max(1);
        let blend = (255 * second + both / 2) / both;
        f32::from_bits(base.to_u32() << 27 | overlay.to_u32() << 22 | blend << 14)
    };
    let control = Heightfield::from_heights(grid, (0..grid.samples()).map(bits).collect());
    let control =
        control.ok_or_else(|| FileError::invalid(&order.folder, "a control map has to have the heightmap's size"))?;
    let encoding = Encoding { as_rgb: true, ..Encoding::default() };
    let stage = |TileFile { path, region, .. }: &TileFile| {
        let rows = Rows::of(&control, *region, RowOrder::NorthFirst);
        atomic::stage(path, overwrite, |writer| {
            heightmap::write(writer, path, rows, Band { min: 0.0, max: 0.0 }, encoding, progress)
        })
    };
    progress.stage(0.7..1.0, || files.iter().map(stage).collect())
}

/// Stages the material colours of the strongest types.
fn stage_materials(
    order: &WeightsOrder,
    files: &[TileFile],
    input: PaintInput,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let maps = progress.stage(0.0..0.7, || covering_weights(order, input, progress))?;
    let colours: Vec<[u8; 3]> =
        input.recipe.active().filter(|terrain_type| terrain_type.covers()).map(material_colour).collect();
    let value = |pixel: usize, channel: usize| {
        let [(number, _), _] = strongest(&maps, pixel);
        colours.get(number).map_or(0, |colour| u16::from(colour[channel]))
    };
    let size = order.points.size(input.terrain.grid());
    let layout = Layout { size, channels: Channels::Rgb, depth: BitDepth::Eight, is_srgb: true };
    progress.stage(0.7..1.0, || stage_tiles(files, layout, value, overwrite, progress))
}

/// The numbers and weights of the two types with the largest weights at a point.
fn strongest(maps: &[Vec<u16>], at: usize) -> [(usize, u16); 2] {
    let mut found = [(0, 0); 2];
    for (number, map) in maps.iter().enumerate() {
        let weight = map[at];
        if weight > found[0].1 {
            found = [(number, weight), found[0]];
        } else if weight > found[1].1 {
            found[1] = (number, weight);
        }
    }
    found
}

fn map_layout(size: [usize; 2], depth: BitDepth) -> Layout {
    Layout { size, channels: Channels::Grey, depth, is_srgb: false }
}

fn pack_layout(size: [usize; 2]) -> Layout {
    Layout { size, channels: Channels::Rgba, depth: BitDepth::Eight, is_srgb: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_become_safe_file_names() {
        for (name, file) in [
            ("Snow", "Snow"),
            (" Wet sand/mud ", "Wet_sand_mud"),
            ("..\\..\\a:b*?\"<>|", "______a_b______"),
            ("Fichtenwälder-2", "Fichtenwälder-2"),
            ("", "unnamed"),
            ("Scree 2x4 xx", "Scree_2x_4_xx"),
            ("Moss_X2_y0", "Moss_X_2_y_0"),
            ("Clay2", "Clay_2"),
        ] {
            assert_eq!(safe_name(name), file);
        }
        assert_eq!(safe_name(&"x".repeat(500)).len(), MAX_NAME_LENGTH);
    }

    #[test]
    fn types_beyond_the_limit_are_added_to_those_with_the_nearest_colours() {
        let mut maps = vec![vec![10, 0], vec![200, 5], vec![45, 50], vec![0, 200]];
        merge_types(&mut maps, &[[10, 10, 10], [240, 240, 240], [30, 20, 10], [255, 250, 250]], 2);
        assert_eq!(maps, [[55, 50], [200, 205]]);
        let single = maps.clone();
        merge_types(&mut maps, &[[0; 3]; 2], 4);
        assert_eq!(maps, single);
    }

    #[test]
    fn the_two_strongest_types_are_found() {
        let maps = [vec![10, 0], vec![200, 0], vec![45, 0]];
        assert_eq!(strongest(&maps, 0), [(1, 200), (2, 45)]);
        assert_eq!(strongest(&maps, 1), [(0, 0), (0, 0)]);
    }
}
