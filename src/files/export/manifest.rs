//! The manifest of an export for a target: a JSON file with everything that an import helper needs to know.
//!
//! It is renamed last, so a program that watches it sees a complete export whenever it changes.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::order::{ManifestOrder, Order, WeightsLayout};
use super::plan::Plan;
use super::tiles::{TileEdges, TileFile, Tiles};
use crate::engine::cast::ToFloat;
use crate::engine::level::Marker;
use crate::engine::parameters::Point;
use crate::engine::parameters::{Band, group_to_json};
use crate::engine::texture::TerrainType;
use crate::engine::{Heightfield, Progress};
use crate::files::formats::heightmap::{Encoding, RowOrder, Samples, WrittenFormat};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;
use crate::files::io::folders::folder_of;

/// The name of the file.
pub const MANIFEST_NAME: &str = "upthrust.json";

/// The version of the format. A helper refuses a later one.
const FORMAT: u32 = 1;

/// The heights of a staged heightmap.
pub(super) struct StagedHeights<'a> {
    /// The path of the heightmap in the order.
    pub(super) ordered: &'a Path,
    pub(super) file: &'a TileFile,
    pub(super) encoding: Encoding,
    /// For integers, the heights of 0 and of the largest value; for metres, the lowest and the highest height.
    pub(super) range_m: Band,
}

/// The CRC-32 of staged files.
type Checksums<'a> = BTreeMap<&'a Path, u32>;

/// What a manifest contains.
pub(super) struct Manifest<'a> {
    pub(super) order: &'a ManifestOrder,
    pub(super) plan: &'a Plan,
    /// The range of the heights.
    pub(super) own_m: Band,
    /// The terrain, on which the markers of the level stand.
    pub(super) terrain: &'a Heightfield,
    pub(super) heights: &'a [StagedHeights<'a>],
    /// The staged files that it lists.
    pub(super) staged: &'a [StagedFile],
    /// The import steps.
    pub(super) steps: &'a [String],
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
    /// Whether an output is one of the target.
    fn lists(&self, ordered: &Path) -> bool {
        self.order.outputs.contains(ordered)
    }

    fn to_json(&self, checksums: &Checksums) -> Result<Value, FileError> {
        let Self { plan, own_m, steps, .. } = self;
        let order = plan.order();
        let Order { grid, recipe, .. } = order;
        let tiles = order.tiles.unwrap_or(Tiles::new([1; 2]));
        let colour = |[red, green, blue]: [u8; 3]| format!("#{red:02x}{green:02x}{blue:02x}");
        let has_weights = order.weights.as_ref().is_some_and(|weights| self.lists(&weights.folder));
        let types = recipe.texture.active().filter(|_| has_weights);
        let types = types.map(|terrain_type: &TerrainType| {
            let TerrainType { name, colour: types_colour, .. } = terrain_type;
            json!({"name": name, "color": colour(types_colour.0), "covers": terrain_type.covers()})
        });
        let heights = self.heights.iter().filter(|heights| self.lists(heights.ordered));
        let heightmaps = heights.map(|heights| self.heightmap(heights, checksums));
        let texture = order.texture.iter().filter(|texture| self.lists(&texture.path)).flat_map(|_| &plan.texture);
        let texture = texture.map(|file| self.image(file, checksums));
        let maps = order.maps.iter().zip(&plan.maps).filter(|(map, _)| self.lists(&map.path));
        let maps = maps.flat_map(|(map, files)| files.iter().map(move |file| (map, file)));
        let maps = maps.map(|(map, file)| {
            let mut entry = self.image(file, checksums)?;
            entry["map"] = map.analysis_map.key().into();
            Ok(entry)
        });
        let weights = mapped_types(order).into_iter().zip(&plan.weights).filter(|_| has_weights);
        let weights = weights.flat_map(|(types, files)| files.iter().map(move |file| (types.clone(), file)));
        let weights = weights.map(|(types, file)| {
            let mut entry = self.image(file, checksums)?;
            entry["types"] = json!(types);
            Ok(entry)
        });
        let scatter = order.scatter.iter().flat_map(|scatter| &scatter.files).filter(|path| self.lists(path));
        let scatter = scatter.map(|path| self.entry(path, checksums));
        let mesh = order.mesh.iter().filter(|mesh| self.lists(&mesh.path));
        let mesh = mesh.map(|mesh| self.entry(&mesh.path, checksums));
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
            "heightmaps": heightmaps.collect::<Result<Vec<_>, _>>()?,
            "texture": texture.collect::<Result<Vec<_>, _>>()?,
            "maps": maps.collect::<Result<Vec<_>, FileError>>()?,
            "mesh": mesh.collect::<Result<Vec<_>, FileError>>()?,
            "scatter": scatter.collect::<Result<Vec<_>, FileError>>()?,
            "types": types.collect::<Vec<_>>(),
            "weights": weights.collect::<Result<Vec<_>, FileError>>()?,
            "markers": order.markers.iter().map(|marker| self.marker(marker)).collect::<Vec<_>>(),
            "steps": steps,
        }))
    }

    /// A place of the level: metres east, up and south of the north-western corner of the map at height 0.
    fn marker(&self, marker: &Marker) -> Value {
        let (Point { x_m, z_m }, grid) = (marker.at_m, self.terrain.grid());
        let height_m = grid.interpolated([x_m, z_m], |c, r| self.terrain[(c, r)].into());
        json!({
            "kind": marker.kind.key(),
            "name": marker.name,
            "team": marker.team,
            "at_m": [x_m, height_m, z_m],
            "eye_m": marker.eye_m,
        })
    }

    /// The path of a file from the folder of the manifest, and its checksum.
    fn entry(&self, path: &Path, checksums: &Checksums) -> Result<Value, FileError> {
        let crc32 = checksums.get(path).ok_or_else(|| FileError::writing(path, &io::ErrorKind::NotFound.into()))?;
        let relative = path.strip_prefix(self.folder()).unwrap_or(path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        Ok(json!({"file": parts.join("/"), "crc32": format!("{crc32:08x}")}))
    }

    fn image(&self, file: &TileFile, checksums: &Checksums) -> Result<Value, FileError> {
        let mut entry = self.entry(&file.path, checksums)?;
        entry["tile"] = json!(file.tile.unwrap_or_default());
        entry["size"] = json!(file.region.size);
        Ok(entry)
    }

    fn heightmap(&self, heights: &StagedHeights, checksums: &Checksums) -> Result<Value, FileError> {
        let StagedHeights { file, encoding, range_m, .. } = heights;
        let samples = WrittenFormat::from_path(&file.path)?.samples(*encoding);
        let (values, max_value, bits, byte_order) = match samples {
            Samples::Integers { max_value, bits, byte_order } => ("integers", Some(max_value), Some(bits), byte_order),
            Samples::Metres { bits, byte_order } => ("metres", None, bits, byte_order),
        };
        let mut entry = self.image(file, checksums)?;
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

    fn folder(&self) -> &Path {
        folder_of(&self.order.path)
    }

    /// The checksums of the staged files in the folder of the manifest.
    fn checksums(&self, progress: &Progress) -> Result<Checksums<'_>, FileError> {
        let staged: Vec<_> = self.staged.iter().filter(|staged| staged.path().starts_with(self.folder())).collect();
        let share = |at: usize| at.to_f32() / staged.len().to_f32();
        let mut checksums = Checksums::new();
        for (at, file) in staged.iter().enumerate() {
            let crc32 = progress.stage(share(at)..share(at + 1), || file.crc32(progress))?;
            checksums.insert(file.path(), crc32);
        }
        Ok(checksums)
    }

    /// Stages the manifest and the helper of the target.
    pub(super) fn stage(&self, progress: &Progress) -> Result<Vec<StagedFile>, FileError> {
        let order = self.plan.order();
        let put = |path: &Path, bytes: &[u8]| atomic::stage_bytes(path, order.overwrite, bytes);
        let helper = order.helper_files().map(|(path, contents)| put(&path, contents.as_bytes()));
        let mut staged = helper.collect::<Result<Vec<_>, _>>()?;
        let contents = self.to_json(&self.checksums(progress)?)?;
        staged.push(put(&self.order.path, format!("{contents:#}\n").as_bytes())?);
        Ok(staged)
    }
}
