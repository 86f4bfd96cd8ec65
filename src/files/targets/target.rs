//! The description of an export target. The files, their sizes and the import steps are derived from it before anything
//! is computed.

use std::path::Path;

use super::sizes::{QUADS, RECOMMENDED, Sizes};
use crate::engine::Grid;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::{Extent, SIDE_LIMITS};
use crate::engine::parameters::Band;
use crate::engine::texture::{AnalysisMap, Points, TerrainType, TextureRecipe};
use crate::files::export::{
    BitDepth, HeightmapOrder, ImportFacts, ImportGuide, MapOrder, MeshDetail, MeshOrder, Order, TextureOrder,
    TileNaming, Tiles, WeightsLayout, WeightsOrder,
};
use crate::files::formats::heightmap::{Encoding, RowOrder};

/// A program to export for.
#[derive(Debug)]
pub struct Target {
    /// The name on the command line.
    pub key: &'static str,
    /// The name in the editor.
    pub label: &'static str,
    /// The sizes of a heightmap, or of each of its tiles.
    pub sizes: Sizes,
    /// The heightmaps: file names and format options.
    pub heightmaps: &'static [(&'static str, Encoding)],
    /// The texture: its file name, and the constant value of its alpha channel if it has one.
    pub texture: Option<(&'static str, Option<u8>)>,
    /// Whether the texture has to have as many pixels as the heightmap, or each of its tiles, has samples.
    pub texture_at_samples: bool,
    /// The weights of the terrain types.
    pub weights: Option<(WeightsLayout, WeightsSampling)>,
    /// The file name of the normal map.
    pub normals: Option<&'static str>,
    /// The file name of the mesh.
    pub mesh: Option<&'static str>,
    /// The heights of the smallest and of the largest value, if the program fixes them.
    pub range_m: Option<Band>,
    /// The side of the terrain, if the program fixes it.
    pub side_m: Option<f64>,
    /// Whether the spacing of samples has to be the same in both directions.
    pub needs_square_cells: bool,
    /// The maximum number of terrain types, if it is small.
    pub max_layers: Option<usize>,
    /// How tiles are named.
    pub tile_naming: TileNaming,
    /// The import steps, with the numbers to type.
    pub import: fn(&ImportFacts) -> Vec<String>,
    /// Notes on facts known only from documentation, or not at all. Listed after the steps.
    pub unverified: &'static [&'static str],
    /// The same notes about tiles, listed if there are tiles.
    pub unverified_tiles: &'static [&'static str],
}

/// The points at which a target expects weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsSampling {
    /// At the samples of the heightmap.
    Samples,
    /// At the centres of cells: one fewer along each side.
    Cells,
}

/// The default format options.
pub(super) const DEFAULT_ENCODING: Encoding =
    Encoding { raw: None, integers: false, row_order: RowOrder::NorthFirst, as_rgb: false };

/// The smallest relative difference between the column and row spacings that causes a warning.
const MIN_STRETCH: f64 = 0.01;

/// The defaults of a target.
pub(super) const DEFAULTS: Target = Target {
    key: "",
    label: "",
    sizes: Sizes::Any,
    heightmaps: &[("height.png", DEFAULT_ENCODING)],
    texture: Some(("texture.png", None)),
    texture_at_samples: false,
    weights: None,
    normals: None,
    mesh: None,
    range_m: None,
    side_m: None,
    needs_square_cells: false,
    max_layers: None,
    tile_naming: TileNaming::FromNorthWest,
    import: |_| Vec::new(),
    unverified: &[],
    unverified_tiles: &[],
};

impl PartialEq for Target {
    /// Compares the keys, which are unique.
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl ImportGuide for Target {
    fn import_steps(&self, facts: &ImportFacts) -> Vec<String> {
        self.steps(facts)
    }

    fn warnings(&self, grid: Grid, texture: &TextureRecipe) -> Vec<String> {
        let extent = grid.extent();
        let fits = |side_m: &f64| extent.width_m == *side_m && extent.depth_m == *side_m;
        let stretched = self.side_m.filter(|side_m| !fits(side_m)).map(|side_m| {
            format!(
                "{} stretches every map to {side_m} × {side_m} m, but this world is {} × {} m; slopes will differ unless \
                 the world has that size",
                self.label, extent.width_m, extent.depth_m
            )
        });
        let [x_m, z_m] = [grid.spacing_x_m(), grid.spacing_z_m()];
        let oblong = (self.needs_square_cells && (x_m / z_m - 1.0).abs() > MIN_STRETCH).then(|| {
            format!(
                "{} has the same sample spacing in both directions, but here it is {x_m:.3} m from west to east and \
                 {z_m:.3} m from north to south; choose a size with the world's proportions",
                self.label
            )
        });
        let covering = texture.active().filter(|terrain_type| terrain_type.covers()).count();
        let bare = (self.weights.is_some() && covering == 0)
            .then(|| format!("no active terrain type covers the terrain, so {} gets no weights", self.label));
        let too_many = self
            .max_layers
            .filter(|max| covering > *max)
            .map(|max| format!("{} supports {max} terrain types, but {covering} have weights", self.label));
        stretched.into_iter().chain(oblong).chain(bare).chain(too_many).collect()
    }
}

/// All tiles of a map.
fn all_tiles(counts: [usize; 2]) -> Tiles {
    Tiles { counts, only: None, naming: TileNaming::FromNorthWest }
}

/// The samples of a tile of a grid.
fn tile_size(grid: Grid, counts: [usize; 2]) -> [usize; 2] {
    let size = [grid.width(), grid.height()];
    [0, 1].map(|axis| (size[axis] - 1) / counts[axis] + 1)
}

/// The pixels of a texture with as many pixels as the heightmap, or each of its tiles, has samples.
fn texture_at_samples(order: &Order) -> [usize; 2] {
    let counts = order.tiles.map_or([1; 2], |tiles| tiles.counts);
    let tile = tile_size(order.grid, counts);
    [0, 1].map(|axis| tile[axis] * counts[axis])
}

impl Target {
    /// A grid with about `longer` samples along the longer side, adjusted to the program: if `longer` is allowed, so is
    /// the size of each tile.
    pub fn grid(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> Grid {
        let [columns, rows] = counts;
        let max = columns.max(rows);
        if self.sizes.is_square() {
            let steps = longer.saturating_sub(1) / max;
            return Grid::new(extent, steps * columns + 1, steps * rows + 1);
        }
        let fitted = Grid::fitted(extent, longer);
        if self.sizes != Sizes::Components || (fitted.width() == fitted.height() && columns == rows) {
            return fitted;
        }
        // The shorter side has complete components, too.
        let tile = |side: usize, count: usize| (side - 1) / count + 1;
        let longer_tile = tile(longer, if extent.width_m >= extent.depth_m { columns } else { rows });
        let quads = QUADS.into_iter().find(|quads| (longer_tile - 1).is_multiple_of(*quads)).unwrap_or(1);
        let complete = |side: usize, count: usize| {
            let components = ((tile(side, count) - 1).to_f64() / quads.to_f64()).round().to_usize().max(1);
            components * quads * count + 1
        };
        if extent.width_m >= extent.depth_m {
            Grid::new(extent, longer, complete(fitted.height(), rows))
        } else {
            Grid::new(extent, complete(fitted.width(), columns), longer)
        }
    }

    /// The supported number of samples along the longer side that is nearest to `longer`.
    pub fn nearest(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> usize {
        let along = if extent.width_m >= extent.depth_m { counts[0] } else { counts[1] };
        let suits = |side: &usize| {
            let grid = self.grid(extent, *side, counts);
            self.supports(grid, counts)
                && Tiles::of_samples(Some(all_tiles(counts)), [grid.width(), grid.height()]).is_ok()
        };
        let among = |tiles: &mut dyn Iterator<Item = usize>| {
            let sides = tiles.map(|tile| (tile - 1) * along + 1);
            let mut sides: Vec<usize> = sides.filter(|side| *side <= SIDE_LIMITS[1]).collect();
            sides.sort_unstable_by_key(|side| side.abs_diff(longer));
            sides.into_iter().find(suits)
        };
        if self.sizes == Sizes::Components {
            // If no recommended size fits all tiles, use any size of complete components.
            let others = || QUADS.into_iter().flat_map(|quads| (1..=1024).map(move |count| quads * count + 1));
            let found = among(&mut RECOMMENDED.into_iter()).or_else(|| among(&mut others()));
            return found.unwrap_or(longer);
        }
        let max = counts[0].max(counts[1]);
        let tile = self.sizes.nearest(longer.saturating_sub(1) / max + 1);
        (tile - 1) * max + 1
    }

    /// Whether the program supports the tiles of a grid.
    fn supports(&self, grid: Grid, counts: [usize; 2]) -> bool {
        self.sizes.allows(tile_size(grid, counts))
    }

    /// Checks that the program supports this grid in this number of tiles. The error names the nearest supported size.
    pub fn check(&self, grid: Grid, counts: [usize; 2]) -> Result<(), String> {
        if self.supports(grid, counts) {
            return Ok(());
        }
        let [width, height] = tile_size(grid, counts);
        let which = if counts == [1, 1] { "a heightmap" } else { "a tile" };
        let nearest = self.nearest(grid.extent(), grid.width().max(grid.height()), counts);
        Err(format!(
            "{} does not support {which} of {width} × {height} samples; it supports {}, and the nearest is --size {nearest}",
            self.label,
            self.sizes.describe()
        ))
    }

    /// Adds the files of the target to an order, all in one folder. Outputs that the order already has are kept.
    pub fn add_to(&'static self, order: &mut Order, folder: &Path, texture: [usize; 2]) {
        let path = |name: &str| folder.join(name);
        let texture = if self.texture_at_samples { texture_at_samples(order) } else { texture };
        let heightmap = |(name, encoding): &(&str, Encoding)| HeightmapOrder { path: path(name), encoding: *encoding };
        order.heightmaps.extend(self.heightmaps.iter().map(heightmap));
        if order.texture.is_none() {
            let new = |(name, alpha)| TextureOrder { alpha, ..TextureOrder::new(path(name), texture) };
            order.texture = self.texture.map(new);
        }
        let grid = order.grid;
        let covered = order.recipe.texture.active().any(TerrainType::covers);
        if let Some((layout, place)) = self.weights.filter(|_| covered && order.weights.is_none()) {
            let points = match place {
                WeightsSampling::Samples => Points::Samples,
                WeightsSampling::Cells => Points::Pixels([grid.width() - 1, grid.height() - 1]),
            };
            let folder = folder.to_path_buf();
            order.weights = Some(WeightsOrder { folder, points, depth: BitDepth::Eight, layout });
        }
        let normals = |name| MapOrder {
            path: path(name),
            analysis_map: AnalysisMap::Normals,
            size: texture,
            depth: BitDepth::Eight,
        };
        order.maps.extend(self.normals.map(normals));
        if order.mesh.is_none() {
            let detail = MeshDetail::Vertices(MeshDetail::DEFAULT_VERTICES);
            order.mesh = self.mesh.map(|name| MeshOrder { path: path(name), detail, texture: Some(texture) });
        }
        order.range_m = order.range_m.or(self.range_m);
        if let Some(tiles) = &mut order.tiles {
            tiles.naming = self.tile_naming;
        }
        order.target = Some(self);
    }

    /// The import steps, followed by the unverified notes.
    pub fn steps(&self, facts: &ImportFacts) -> Vec<String> {
        let mut steps: Vec<String> =
            (self.import)(facts).into_iter().map(|step| format!("{}: {step}", self.label)).collect();
        let of_tiles = if facts.tiles.is_some() { self.unverified_tiles } else { &[] };
        let unverified = self.unverified.iter().chain(of_tiles);
        steps.extend(unverified.map(|what| format!("{}, not verified: {what}", self.label)));
        steps
    }

    /// The line of the target in a list.
    pub fn line(&self) -> String {
        format!("{:<18} {} ({}): {}", self.key, self.label, self.sizes.describe(), self.file_names())
    }

    /// The names of the files, for lists.
    pub fn file_names(&self) -> String {
        let mut files: Vec<&str> = self.heightmaps.iter().map(|(name, _)| *name).collect();
        files.extend(self.texture.map(|(name, _)| name));
        files.extend(self.weights.map(|(layout, _)| layout.file_names()));
        files.extend(self.normals);
        files.extend(self.mesh);
        files.join(", ")
    }
}
