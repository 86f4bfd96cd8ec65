//! The manifest of an export for a target: a JSON file with everything that an import helper needs to know.
//!
//! It is renamed last, so a program that watches it sees a complete export whenever it changes.

use std::io::{self, Read};
use std::path::Path;

use serde_json::{Value, json};

use super::order::{Order, WeightsLayout};
use super::plan::Plan;
use super::tiles::{TileEdges, TileFile, Tiles};
use crate::engine::parameters::{Band, group_to_json};
use crate::engine::texture::{Points, TerrainType};
use crate::files::formats::heightmap::{Encoding, RowOrder, Samples, WrittenFormat};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// The name of the file.
pub const MANIFEST_NAME: &str = "upthrust.json";

/// The version of the format. A helper refuses a later one.
const FORMAT: u32 = 1;

/// The heights of a staged heightmap.
pub(super) struct StagedHeights<'a> {
    pub(super) file: &'a TileFile,
    pub(super) encoding: Encoding,
    /// For integers, the heights of 0 and of the largest value; for metres, the lowest and the highest height.
    pub(super) range_m: Band,
}

/// What a manifest contains.
pub(super) struct Manifest<'a> {
    pub(super) plan: &'a Plan,
    /// The range of the heights.
    pub(super) own_m: Band,
    pub(super) heights: &'a [StagedHeights<'a>],
    /// The staged files that it lists.
    pub(super) staged: &'a [StagedFile],
    /// The import steps.
    pub(super) steps: &'a [String],
}

/// The CRC-32 of a file that has been staged.
fn crc32(staged: &StagedFile) -> io::Result<u32> {
    let mut file = staged.open()?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The numbers of the active terrain types that cover the surface.
fn covering(order: &Order) -> Vec<usize> {
    let types = order.recipe.texture.active().enumerate();
    types.filter(|(_, terrain_type)| terrain_type.covers()).map(|(at, _)| at).collect()
}

/// The numbers of the types in each map of weights, single types before packs; `None` for a map that encodes the types in
/// its values.
fn mapped_types(order: &Order) -> Vec<Option<Vec<usize>>> {
    let Some(weights) = &order.weights else { return Vec::new() };
    let mapped = |terrain_type: &TerrainType| weights.layout.has_map(terrain_type);
    let types = order.recipe.texture.active().enumerate();
    let mut all: Vec<_> =
        types.filter(|(_, terrain_type)| mapped(terrain_type)).map(|(at, _)| Some(vec![at])).collect();
    match weights.layout {
        WeightsLayout::MapsAndPacks | WeightsLayout::Packs => {
            let covering = covering(order);
            let count = weights.max_types.unwrap_or(usize::MAX).min(covering.len());
            all.extend(covering[..count].chunks(WeightsLayout::PER_PACK).map(|pack| Some(pack.to_vec())));
        }
        WeightsLayout::Maps => {}
        WeightsLayout::Control | WeightsLayout::Materials => all.push(None),
    }
    all
}

impl Manifest<'_> {
    fn to_json(&self) -> Result<Value, FileError> {
        let Self { plan, own_m, steps, .. } = self;
        let order = plan.order();
        let Order { grid, recipe, .. } = order;
        let tiles = order.tiles.unwrap_or(Tiles::new([1; 2]));
        let colour = |[red, green, blue]: [u8; 3]| format!("#{red:02x}{green:02x}{blue:02x}");
        let types = recipe.texture.active().filter(|_| order.weights.is_some());
        let types =
            types.map(|of: &TerrainType| json!({"name": of.name, "color": colour(of.colour.0), "covers": of.covers()}));
        let images = |files: &[TileFile]| files.iter().map(|file| self.image(file)).collect::<Result<Vec<_>, _>>();
        let maps = order.maps.iter().zip(&plan.maps).flat_map(|(map, files)| files.iter().map(move |file| (map, file)));
        let maps = maps.map(|(map, file)| {
            let mut entry = self.image(file)?;
            entry["map"] = map.analysis_map.key().into();
            Ok(entry)
        });
        let weights = mapped_types(order).into_iter().zip(&plan.weights);
        let weights = weights.flat_map(|(types, files)| files.iter().map(move |file| (types.clone(), file)));
        let weights = weights.map(|(types, file)| {
            let mut entry = self.image(file)?;
            entry["types"] = json!(types);
            entry["sampling"] = json!(match order.weights.as_ref().map(|weights| weights.points) {
                Some(Points::Samples) => "samples",
                Some(Points::Pixels(_) | Points::PixelRegion(_)) | None => "cells",
            });
            Ok(entry)
        });
        let mesh = order.mesh.iter().map(|mesh| self.entry(&mesh.path));
        Ok(json!({
            "upthrust": env!("CARGO_PKG_VERSION"),
            "format": FORMAT,
            "target": order.target.map(|target| target.key()),
            "name": order.name,
            "seed": recipe.seed,
            "width_m": grid.extent().width_m,
            "depth_m": grid.extent().depth_m,
            "samples": [grid.width(), grid.height()],
            "spacing_m": [grid.spacing_x_m(), grid.spacing_z_m()],
            "min_m": own_m.min,
            "max_m": own_m.max,
            "water_m": order.sea_m.map(f64::from),
            "origin": order.origin.as_ref().map(|origin| group_to_json(origin)),
            "tiles": tiles.counts,
            "tile_edges": match tiles.edges {
                TileEdges::Shared => "shared",
                TileEdges::SideBySide => "side by side",
            },
            "heightmaps": self.heights.iter().map(|heights| self.heightmap(heights)).collect::<Result<Vec<_>, _>>()?,
            "texture": images(&plan.texture)?,
            "maps": maps.collect::<Result<Vec<_>, FileError>>()?,
            "mesh": mesh.collect::<Result<Vec<_>, FileError>>()?,
            "types": types.collect::<Vec<_>>(),
            "weights": weights.collect::<Result<Vec<_>, FileError>>()?,
            "steps": steps,
        }))
    }

    /// The name and the checksum of a file.
    fn entry(&self, path: &Path) -> Result<Value, FileError> {
        let failed = |error: io::Error| FileError::writing(path, &error);
        let staged = self.staged.iter().find(|staged| staged.path() == path);
        let staged = staged.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let crc32 = crc32(staged).map_err(failed)?;
        Ok(json!({"file": file_name(path), "crc32": format!("{crc32:08x}")}))
    }

    fn image(&self, file: &TileFile) -> Result<Value, FileError> {
        let mut entry = self.entry(&file.path)?;
        entry["tile"] = json!(file.tile.unwrap_or_default());
        entry["size"] = json!(file.region.size);
        Ok(entry)
    }

    fn heightmap(&self, StagedHeights { file, encoding, range_m }: &StagedHeights) -> Result<Value, FileError> {
        let (values, max_value, bits, byte_order) = match WrittenFormat::from_path(&file.path)?.samples(*encoding) {
            Samples::Integers { max_value, bits, byte_order } => ("integers", Some(max_value), Some(bits), byte_order),
            Samples::Metres { bits, byte_order } => ("metres", None, bits, byte_order),
        };
        let mut entry = self.image(file)?;
        entry["first_sample"] = json!(file.region.first);
        entry["values"] = json!(values);
        entry["min_m"] = json!(range_m.min);
        entry["max_m"] = json!(range_m.max);
        entry["max_value"] = json!(max_value);
        entry["bits"] = json!(bits);
        entry["byte_order"] = json!(byte_order.map(|order| order.name()));
        entry["row_order"] = json!(match encoding.row_order {
            RowOrder::NorthFirst => "north first",
            RowOrder::SouthFirst => "south first",
        });
        Ok(entry)
    }

    /// Stages the manifest and the helper of the target.
    pub(super) fn stage(&self, path: &Path) -> Result<Vec<StagedFile>, FileError> {
        let order = self.plan.order();
        let put = |path: &Path, bytes: &[u8]| atomic::stage_bytes(path, order.overwrite, bytes);
        let helper = order.helper_files().map(|(path, contents)| put(&path, contents.as_bytes()));
        let mut staged = helper.collect::<Result<Vec<_>, _>>()?;
        staged.push(put(path, format!("{:#}\n", self.to_json()?).as_bytes())?);
        Ok(staged)
    }
}
