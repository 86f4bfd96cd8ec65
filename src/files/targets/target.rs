//! The description of an export target. The files, their sizes and the import steps are derived from it before anything
//! is computed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::sizes::{QUADS, RECOMMENDED, Sizes};
use crate::engine::Grid;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::{Extent, SIDE_LIMITS};
use crate::engine::parameters::Band;
use crate::engine::texture::{AnalysisMap, Points, TerrainType, TextureRecipe};
use crate::files::export::{
    BitDepth, HeightmapOrder, HelperFile, ImportFacts, ImportGuide, MANIFEST_NAME, ManifestOrder, MapOrder, MeshDetail,
    MeshOrder, Order, ScatterAxes, ScatterOrder, TextureOrder, TileEdges, TileNaming, Tiles, WeightsLayout,
    WeightsOrder, texture_size,
};
use crate::files::formats::heightmap::{Encoding, RowOrder};
use crate::files::formats::numbers::{decimal, metres, scale};

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
    /// Whether the program streams textures, which it can only with powers of two along both sides.
    pub streams_textures: bool,
    /// The weights of the terrain types.
    pub weights: Option<(WeightsLayout, WeightsSampling)>,
    /// The file name of the normal map.
    pub normals: Option<&'static str>,
    /// The file name of the mesh.
    pub mesh: Option<&'static str>,
    /// The files of scattered instances, and the axes of tables.
    pub scatter: (&'static [&'static str], ScatterAxes),
    /// How to use them, as an import step.
    pub scatter_step: &'static str,
    /// What the helper does with them.
    pub scatter_helper_step: Option<&'static str>,
    /// The heights of the smallest and of the largest value, if the program fixes them.
    pub range_m: Option<Band>,
    /// The side of the terrain, if the program fixes it.
    pub side_m: Option<f64>,
    /// Whether the spacing of samples has to be the same in both directions.
    pub needs_square_cells: bool,
    /// Whether the program can hold a map of this many samples, whatever else is allowed.
    pub holds: fn([usize; 2]) -> bool,
    /// The smallest and the largest sample spacing that the program supports, metres.
    pub spacing_limits_m: [f64; 2],
    /// The sample spacings that the program supports, in ascending order, metres; empty: any.
    pub spacings_m: &'static [f64],
    /// The maximum number of terrain types, if it is small.
    pub max_layers: Option<usize>,
    /// How tiles are named.
    pub tile_naming: TileNaming,
    /// What neighbouring tiles have in common.
    pub tile_edges: TileEdges,
    /// The end of the names of the weights of single types, before the extension.
    pub weight_suffix: &'static str,
    /// The numbers that the import steps ask for, and which of them the program's dialogs accept.
    pub fields: &'static [Field],
    /// The import steps, with the numbers to type.
    pub import: fn(&ImportFacts) -> Vec<String>,
    /// How the files and the import steps were checked.
    pub checked: Checked,
    /// The script that imports an export, with its README.
    pub helper: &'static [HelperFile],
    /// How to use that script, as the first import step.
    pub helper_step: &'static str,
    /// Notes on facts known only from documentation, or not at all. Listed after the steps.
    pub unverified: &'static [&'static str],
    /// The same notes about tiles, listed if there are tiles.
    pub unverified_tiles: &'static [&'static str],
}

/// How the files and the import steps of a target were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The program followed the steps, and every height was compared.
    Run {
        /// The programs with their versions.
        programs: &'static str,
        /// The day, as in 2026-11-24.
        on: &'static str,
    },
    /// The program was not run. The files follow its public documentation or source.
    NotRun,
}

impl Checked {
    /// A sentence about the target with that label.
    pub fn describe(self, label: &str) -> String {
        match self {
            Self::Run { programs, on } => format!("Checked in {programs} on {on}"),
            Self::NotRun => format!("Written from the {label} documentation; not yet tested in {label}"),
        }
    }
}

/// A number in a dialog of a program.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the dialog.
    pub name: &'static str,
    /// The number of an export.
    pub number: fn(&ImportFacts) -> f64,
    /// The smallest and the largest number that the dialog accepts.
    pub accepts: [f64; 2],
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

/// The smallest relative difference between the column and row spacings that causes a warning: half a metre per kilometre.
const MIN_STRETCH: f64 = 0.0005;

/// The most columns or rows of tiles more or fewer than chosen that are suggested.
const MAX_OTHER_TILES: usize = 2;

/// The defaults of a target.
pub(super) const DEFAULTS: Target = Target {
    key: "",
    label: "",
    sizes: Sizes::Any,
    heightmaps: &[("height.png", DEFAULT_ENCODING)],
    texture: Some(("texture.png", None)),
    texture_at_samples: false,
    streams_textures: false,
    weights: None,
    normals: None,
    mesh: None,
    scatter: (&["scatter.json"], ScatterAxes::Metres),
    scatter_step: "scatter.json lists the scattered instances, layer by layer: x east, y up and z south in metres from \
                   the north-western corner at height 0, yaw clockwise from north, pitch, roll and scale.",
    scatter_helper_step: None,
    range_m: None,
    side_m: None,
    needs_square_cells: false,
    holds: |_| true,
    spacing_limits_m: [0.0, f64::INFINITY],
    spacings_m: &[],
    max_layers: None,
    tile_naming: TileNaming::FromNorthWest,
    tile_edges: TileEdges::Shared,
    weight_suffix: "",
    fields: &[],
    import: |_| Vec::new(),
    checked: Checked::NotRun,
    helper: &[],
    helper_step: "",
    unverified: &[],
    unverified_tiles: &[],
};

/// The spacing with the ratio to `spacing_m` that is nearest to 1.
pub(super) fn nearest_spacing_m(spacings_m: &[f64], spacing_m: f64) -> f64 {
    let ratio = |other: f64| (other / spacing_m).max(spacing_m / other);
    spacings_m.iter().copied().min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or(spacing_m)
}

impl PartialEq for Target {
    /// Compares the keys, which are unique.
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl ImportGuide for Target {
    fn key(&self) -> &'static str {
        self.key
    }

    fn helper(&self) -> &'static [HelperFile] {
        self.helper
    }

    fn import_steps(&self, facts: &ImportFacts) -> Vec<String> {
        self.steps(facts)
    }

    fn scatter_step(&self) -> String {
        let Self { label, scatter_step, .. } = self;
        match self.scatter_helper_step {
            Some(helper) => format!("{label}: {helper} By hand: {scatter_step}"),
            None => format!("{label}: {scatter_step}"),
        }
    }

    fn max_layers(&self) -> Option<usize> {
        self.max_layers
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
        let oblong = self.distorts(grid).then(|| {
            format!(
                "{} has the same sample spacing in both directions, but here it is {x_m:.3} m from west to east and \
                 {z_m:.3} m from north to south, so the terrain becomes {} m deep instead of {}; choose a size or tiles with \
                 the world's proportions",
                self.label,
                decimal((grid.height() - 1).to_f64() * x_m, 1),
                decimal(extent.depth_m, 1)
            )
        });
        let is_supported = |spacing: &f64| (spacing / x_m - 1.0).abs() < 1e-6;
        let rounded = (!self.spacings_m.is_empty() && !self.spacings_m.iter().any(is_supported)).then(|| {
            let spacings: Vec<String> = self.spacings_m.iter().map(|spacing| scale(*spacing)).collect();
            let nearest_m = nearest_spacing_m(self.spacings_m, x_m) * (grid.width() - 1).to_f64();
            format!(
                "{} supports sample spacings of {} m, but here it is {} m; the map becomes wider or narrower unless the \
                 world is {} m wide",
                self.label,
                spacings.join(", "),
                scale(x_m),
                metres(nearest_m)
            )
        });
        let covering = texture.active().filter(|terrain_type| terrain_type.covers()).count();
        let bare = (self.weights.is_some() && covering == 0)
            .then(|| format!("no active terrain type covers the terrain, so {} gets no weights", self.label));
        let too_many = self.max_layers.filter(|max| covering > *max).map(|max| {
            format!(
                "{} takes {max} terrain types; the weights of the other {} are added to those with the nearest colours",
                self.label,
                covering - max
            )
        });
        stretched.into_iter().chain(oblong).chain(rounded).chain(bare).chain(too_many).collect()
    }
}

/// The number of samples along a side nearest to `start` that satisfies a condition, if one differs by at most
/// `farthest`.
fn nearest_side(start: usize, farthest: usize, satisfies: impl Fn(usize) -> bool) -> Option<usize> {
    let sides = (0..=farthest).flat_map(|distance| [start.checked_sub(distance), Some(start + distance)]);
    sides.flatten().find(|side| (SIDE_LIMITS[0]..=SIDE_LIMITS[1]).contains(side) && satisfies(*side))
}

impl Target {
    /// The samples of a tile along a side of this many samples.
    pub fn tile_side(&self, side: usize, count: usize) -> usize {
        self.tile_edges.tile_side(side, count)
    }

    /// The samples along a side that consists of this many tiles.
    pub fn side_of_tiles(&self, tile: usize, count: usize) -> usize {
        match self.tile_edges {
            TileEdges::Shared => (tile - 1) * count + 1,
            TileEdges::SideBySide => tile * count,
        }
    }

    fn tile_size(&self, grid: Grid, counts: [usize; 2]) -> [usize; 2] {
        let size = [grid.width(), grid.height()];
        [0, 1].map(|axis| self.tile_side(size[axis], counts[axis]))
    }

    /// The tiles of a map.
    fn tiles(&self, counts: [usize; 2]) -> Tiles {
        Tiles { naming: self.tile_naming, edges: self.tile_edges, ..Tiles::new(counts) }
    }

    /// A grid with about `longer` samples along the longer side, adjusted to the program: if `longer` is allowed, so is
    /// the size of each tile.
    pub fn grid(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> Grid {
        let [columns, rows] = counts;
        if self.sizes.is_square() {
            let tile = self.tile_side(longer.max(2), columns.max(rows)).max(2);
            return Grid::new(extent, self.side_of_tiles(tile, columns), self.side_of_tiles(tile, rows));
        }
        let fitted = Grid::fitted(extent, longer);
        let is_wide = extent.width_m >= extent.depth_m;
        let (shorter, count) = if is_wide { (fitted.height(), rows) } else { (fitted.width(), columns) };
        // Whether the shorter side suits the longer one, and after how many samples the answers repeat.
        let (period, suits): (usize, Box<dyn Fn(usize) -> bool>) = match self.sizes {
            Sizes::Components => {
                let along = self.component_side(longer, if is_wide { columns } else { rows });
                let quads = QUADS.into_iter().find(|quads| (along - 1).is_multiple_of(*quads)).unwrap_or(1);
                let suits = move |side| {
                    let along = self.component_side(side, count);
                    side == self.side_of_tiles(self.tile_side(side, count), count)
                        && along > 1
                        && (along - 1).is_multiple_of(quads)
                };
                (count * quads, Box::new(suits))
            }
            Sizes::MultiplesOf(step) => {
                let suits =
                    move |side: usize| side.is_multiple_of(count) && self.tile_side(side, count).is_multiple_of(step);
                (count * step, Box::new(suits))
            }
            Sizes::Any | Sizes::UpTo(_) | Sizes::PowersOfTwo { .. } | Sizes::Exactly(_) => return fitted,
        };
        let shorter = nearest_side(shorter, period, suits).unwrap_or(shorter);
        if is_wide { Grid::new(extent, longer, shorter) } else { Grid::new(extent, shorter, longer) }
    }

    /// The samples that have to be whole components: of a tile, or of all tiles if they are laid side by side.
    fn component_side(&self, side: usize, count: usize) -> usize {
        match self.tile_edges {
            TileEdges::Shared => self.tile_side(side, count),
            TileEdges::SideBySide => side,
        }
    }

    /// Whether the program shows a grid with other proportions.
    fn distorts(&self, grid: Grid) -> bool {
        self.needs_square_cells && (grid.spacing_x_m() / grid.spacing_z_m() - 1.0).abs() > MIN_STRETCH
    }

    /// If the program would distort the supported map that is nearest to `longer` samples along the longer side, the nearest
    /// number that it shows as it is; if there is none in these tiles, the same for the nearest columns and rows of tiles.
    pub fn undistorted(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> Option<(usize, [usize; 2])> {
        if !self.distorts(self.grid(extent, self.nearest(extent, longer, counts), counts)) {
            return None;
        }
        let in_tiles = |counts: [usize; 2]| {
            let suits = |side: &usize| {
                let grid = self.grid(extent, *side, counts);
                !self.distorts(grid) && self.supports(grid, counts)
            };
            let max = counts[0].max(counts[1]);
            let sides: Vec<usize> = match self.sizes {
                Sizes::MultiplesOf(step) => (1..=SIDE_LIMITS[1] / step).map(|count| count * step).collect(),
                Sizes::PowersOfTwo { .. } | Sizes::Exactly(_) => {
                    self.sizes.sides().into_iter().map(|side| self.side_of_tiles(side, max)).collect()
                }
                Sizes::Any | Sizes::UpTo(_) | Sizes::Components => (longer / 2..=2 * longer).collect(),
            };
            sides.into_iter().filter(suits).min_by_key(|side| side.abs_diff(longer)).map(|side| (side, counts))
        };
        let distance = |other: &[usize; 2]| other[0].abs_diff(counts[0]) + other[1].abs_diff(counts[1]);
        let around = |count: usize| count.saturating_sub(MAX_OTHER_TILES).max(1)..=count + MAX_OTHER_TILES;
        let mut others: Vec<[usize; 2]> =
            around(counts[0]).flat_map(|columns| around(counts[1]).map(move |rows| [columns, rows])).collect();
        others.sort_by_key(distance);
        others.into_iter().find_map(in_tiles)
    }

    /// The supported number of samples along the longer side that is nearest to `longer`.
    pub fn nearest(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> usize {
        let suits = |side: &usize| {
            let grid = self.grid(extent, *side, counts);
            self.supports(grid, counts)
        };
        let max = counts[0].max(counts[1]);
        match self.sizes {
            Sizes::Components => {
                // If no recommended size fits, use any size of whole components.
                let along = if extent.width_m >= extent.depth_m { counts[0] } else { counts[1] };
                let mut recommended: Vec<usize> = RECOMMENDED
                    .into_iter()
                    .map(|side| match self.tile_edges {
                        TileEdges::Shared => self.side_of_tiles(side, along),
                        TileEdges::SideBySide => side,
                    })
                    .collect();
                recommended.sort_unstable_by_key(|side| side.abs_diff(longer));
                let found = recommended.into_iter().filter(|side| *side <= SIDE_LIMITS[1]).find(|side| suits(side));
                found.or_else(|| nearest_side(longer, SIDE_LIMITS[1], |side| suits(&side))).unwrap_or(longer)
            }
            Sizes::MultiplesOf(step) => {
                let sides = (1..=SIDE_LIMITS[1] / step).map(|count| count * step).filter(|side| suits(side));
                sides.min_by_key(|side| side.abs_diff(longer)).unwrap_or(longer)
            }
            Sizes::Any | Sizes::UpTo(_) | Sizes::PowersOfTwo { .. } | Sizes::Exactly(_) => {
                let tile = self.sizes.nearest(self.tile_side(longer.max(1), max));
                let side = self.side_of_tiles(tile, max);
                // The shorter side of an oblong world may not be divisible.
                let found = || nearest_side(longer, SIDE_LIMITS[1], |side| suits(&side)).unwrap_or(side);
                if suits(&side) { side } else { found() }
            }
        }
    }

    /// Whether the sizes are those of all tiles together, because they are laid side by side to one landscape.
    fn limits_whole(&self) -> bool {
        self.sizes == Sizes::Components && self.tile_edges == TileEdges::SideBySide
    }

    /// The samples of what the sizes limit: of a tile, or of all tiles together.
    fn limited_size(&self, grid: Grid, counts: [usize; 2]) -> [usize; 2] {
        if self.limits_whole() { [grid.width(), grid.height()] } else { self.tile_size(grid, counts) }
    }

    /// Whether the program supports the tiles of a grid.
    fn supports(&self, grid: Grid, counts: [usize; 2]) -> bool {
        let size = [grid.width(), grid.height()];
        let [min_m, max_m] = self.spacing_limits_m;
        let is_spaced = [grid.spacing_x_m(), grid.spacing_z_m()].iter().all(|m| (min_m..=max_m).contains(m));
        is_spaced
            && self.sizes.allows(self.limited_size(grid, counts))
            && (self.holds)(size)
            && Tiles::of_samples(Some(self.tiles(counts)), size).is_ok()
    }

    /// Checks that the program supports this grid in this number of tiles. The error names the nearest supported size.
    pub fn check(&self, grid: Grid, counts: [usize; 2]) -> Result<(), String> {
        if self.supports(grid, counts) {
            return Ok(());
        }
        let is_whole = self.limits_whole();
        let [width, height] = self.limited_size(grid, counts);
        let which = match counts {
            [1, 1] => "a heightmap",
            _ if is_whole => "tiles, laid side by side,",
            _ => "a tile",
        };
        let nearest = self.nearest(grid.extent(), grid.width().max(grid.height()), counts);
        let nearest = if self.supports(self.grid(grid.extent(), nearest, counts), counts) {
            format!("the nearest is --size {nearest}")
        } else {
            "no size fits this world in these tiles".into()
        };
        let [min_m, max_m] = self.spacing_limits_m;
        let spacing =
            if max_m.is_finite() { format!(" with {min_m} to {max_m} m between samples") } else { String::new() };
        Err(format!(
            "{} does not support {which} of {width} × {height} samples; it supports {}{spacing}, and {nearest}",
            self.label,
            self.sizes.describe()
        ))
    }

    /// The only size that the texture can have, if it depends on the grid.
    pub fn fixed_texture_size(&self, grid: Grid, counts: [usize; 2]) -> Option<[usize; 2]> {
        let tile = self.tile_size(grid, counts);
        // Pixels belong to one tile each, so shared samples count twice.
        self.texture_at_samples.then(|| [0, 1].map(|axis| tile[axis] * counts[axis]))
    }

    /// The texture, or all its tiles together, for about `longer` pixels along the longer side of the world. If the program
    /// streams textures, both sides of each tile are the next powers of two; else they are in the world's proportions, and
    /// every tile has the same number of pixels.
    pub fn texture_size(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> [usize; 2] {
        let size = texture_size(extent, longer);
        [0, 1].map(|axis| {
            let of_tile = size[axis].div_ceil(counts[axis]);
            counts[axis] * if self.streams_textures { of_tile.next_power_of_two() } else { of_tile }
        })
    }

    /// Whether the program can stream a texture, or tiles that are this large together.
    pub fn can_stream(&self, size: [usize; 2], counts: [usize; 2]) -> bool {
        !self.streams_textures || (0..2).all(|axis| (size[axis] / counts[axis]).is_power_of_two())
    }

    /// Adds the files of the target to an order, all in one folder. Outputs that the order already has are kept, but the
    /// manifest does not list them.
    pub fn add_to(&'static self, order: &mut Order, folder: &Path, texture: [usize; 2]) {
        let path = |name: &str| folder.join(name);
        let mut outputs: BTreeSet<_> = self.map_names().map(path).collect();
        if let Some(tiles) = &mut order.tiles {
            *tiles = Tiles { only: tiles.only, ..self.tiles(tiles.counts) };
        }
        let counts = order.tiles.map_or([1; 2], |tiles| tiles.counts);
        let texture = self.fixed_texture_size(order.grid, counts).unwrap_or(texture);
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
            outputs.insert(folder.clone());
            order.weights = Some(WeightsOrder {
                folder,
                points,
                depth: BitDepth::Eight,
                layout,
                suffix: self.weight_suffix,
                max_types: self.max_layers,
            });
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
        let (files, axes) = self.scatter;
        // A tile has no instances of its own: they are of the whole map.
        if order.recipe.is_scattered()
            && order.scatter.is_none()
            && order.tiles.is_none_or(|tiles| tiles.only.is_none())
        {
            let files: Vec<PathBuf> = files.iter().map(|name| path(name)).collect();
            outputs.extend(files.iter().cloned());
            order.scatter = Some(ScatterOrder { files, axes, densities: None, size: texture });
        }
        order.range_m = order.range_m.or(self.range_m);
        // Processes that write a tile each would replace each other's manifests.
        let is_complete = order.tiles.is_none_or(|tiles| tiles.only.is_none());
        order.manifest = is_complete.then(|| ManifestOrder { path: path(MANIFEST_NAME), outputs });
        order.target = Some(self);
    }

    /// The import steps, followed by the unverified notes.
    pub fn steps(&self, facts: &ImportFacts) -> Vec<String> {
        let helper = Some(self.helper_step.to_string()).filter(|step| !step.is_empty());
        let mut steps: Vec<String> =
            helper.into_iter().chain((self.import)(facts)).map(|step| format!("{}: {step}", self.label)).collect();
        let of_tiles = if facts.tiles.is_some() { self.unverified_tiles } else { &[] };
        let unverified = self.unverified.iter().chain(of_tiles);
        steps.extend(unverified.map(|what| format!("{}, not verified: {what}", self.label)));
        steps.extend(self.refusals(facts));
        steps
    }

    /// The numbers of an export that the program's dialogs do not accept.
    pub fn refusals(&self, facts: &ImportFacts) -> Vec<String> {
        let refused = |Field { name, number, accepts: [low, high] }: &Field| {
            let number = number(facts);
            let is_accepted = (*low..=*high).contains(&number);
            (!is_accepted).then(|| {
                let [number, low, high] = [number, *low, *high].map(scale);
                format!("{}: {name} goes from {low} to {high}, but this export needs {number}.", self.label)
            })
        };
        self.fields.iter().filter_map(refused).collect()
    }

    /// The line of the target in a list.
    pub fn line(&self) -> String {
        format!("{:<18} {} ({}): {}", self.key, self.label, self.sizes.describe(), self.file_names())
    }

    /// The names of the files, without weights and before they are cut into tiles.
    fn map_names(&self) -> impl Iterator<Item = &'static str> {
        let heightmaps = self.heightmaps.iter().map(|(name, _)| *name);
        heightmaps.chain(self.texture.map(|(name, _)| name)).chain(self.normals).chain(self.mesh)
    }

    /// The names of the files, for lists.
    pub fn file_names(&self) -> String {
        let mut files: Vec<String> = self.heightmaps.iter().map(|(name, _)| name.to_string()).collect();
        files.extend(self.texture.map(|(name, _)| name.into()));
        let suffixed = format!("_NAME{}.png", self.weight_suffix);
        files.extend(self.weights.map(|(layout, _)| layout.file_names().replace("_NAME.png", &suffixed)));
        files.extend(self.normals.map(String::from));
        files.extend(self.mesh.map(String::from));
        files.join(", ")
    }
}
