//! Targets: the programs that exports are made for, one file each, one line each in [`ALL`].
//!
//! A target is a plain description. Which files it gets, of which size, and what is to be typed into its import dialog
//! follow from it before anything is computed. What is said of a program that nobody has tried with it is marked so in
//! the steps of the import, and not promised.

mod blender;
mod cities_skylines;
mod cryengine;
mod generic;
mod hterrain;
mod o3de;
mod roblox;
mod terrain3d;
mod unity;
mod unreal;
mod worldpainter;

use std::path::Path;

use super::build::{HeightmapOrder, Order, TextureOrder};
use super::heightmap::{Encoding, RowOrder};
use super::maps::{BitDepth, MapOrder, WeightsLayout, WeightsOrder};
use super::mesh::{MeshDetail, MeshOrder};
use super::tiles::{TileNaming, Tiles};
use crate::engine::Grid;
use crate::engine::heightfield::{Extent, SIDE_LIMITS};
use crate::engine::parameters::Band;
use crate::engine::texture::{AnalysisMap, Points, TerrainType};

/// A program that exports are made for.
#[derive(Debug)]
pub struct Target {
    /// The name on the command line.
    pub key: &'static str,
    /// The name in the editor.
    pub label: &'static str,
    /// The sizes that a heightmap, or each of its tiles, may have.
    pub sizes: Sizes,
    /// The heightmaps, by the names of their files.
    pub heightmaps: &'static [(&'static str, Encoding)],
    /// The texture, by the name of its file, and what its alpha channel says throughout, if it has one.
    pub texture: Option<(&'static str, Option<u8>)>,
    /// The weights of the terrain types.
    pub weights: Option<(WeightsLayout, WeightsSampling)>,
    /// The normals, by the name of their file.
    pub normals: Option<&'static str>,
    /// The mesh, by the name of its file.
    pub mesh: Option<&'static str>,
    /// The heights of the lowest and of the greatest value, where the program knows no others.
    pub range_m: Option<Band>,
    /// The side of the land, where the program knows no other.
    pub side_m: Option<f64>,
    /// Whether it knows one distance between samples, the same in both directions.
    pub needs_square_cells: bool,
    /// The most terrain types that it takes at once, where that is fewer than any land has.
    pub max_layers: Option<usize>,
    /// How tiles are named.
    pub tile_names: TileNaming,
    /// What to do in the program, with the very numbers to type.
    pub import: fn(&ImportFacts) -> Vec<String>,
    /// What is known from documentation alone, or not at all; said behind the steps.
    pub unverified: &'static [&'static str],
    /// The same of tiles, where there are some.
    pub unverified_tiles: &'static [&'static str],
}

/// Where the weights of a target are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsSampling {
    /// At the samples of the heightmap.
    Samples,
    /// In the middle between them: one less along each side.
    Cells,
}

/// What the steps of an import speak of.
#[derive(Clone, Debug)]
pub struct ImportFacts<'a> {
    /// The name of the heightmap's file.
    pub file: &'a str,
    /// The samples of that file, and the land under them.
    pub grid: Grid,
    /// The heights of the lowest and of the greatest value, or the lowest and the highest height.
    pub range_m: Band,
    /// Whether these are the heights of a preview, from which those of the land may differ a little.
    pub is_about: bool,
    /// The level of the water, metres, if there is any.
    pub water_m: Option<f64>,
    /// The columns and rows of tiles, where there is more than one.
    pub tiles: Option<[usize; 2]>,
    /// The names of the terrain types that cover ground, in their order.
    pub layers: &'a [String],
}

impl ImportFacts<'_> {
    /// Metres from the lowest to the greatest value.
    pub fn span_m(&self) -> f64 {
        self.range_m.max - self.range_m.min
    }

    /// A number that follows from the range of heights, with so many places after the point at the most; fewer, and said
    /// so, while those are about what they will be.
    fn height(&self, number: f64, places: usize) -> String {
        if self.is_about { format!("about {}", typed(number, places.saturating_sub(3))) } else { typed(number, places) }
    }

    /// The terrain types in one line.
    fn layers(&self) -> String {
        self.layers.iter().enumerate().map(|(at, name)| format!("{at} {name}")).collect::<Vec<_>>().join(", ")
    }
}

/// Places after the point of what is typed into a program: of lengths in metres or in units about as long, of those in
/// centimetres, and of shares in per cent.
const METRES: usize = 4;
const CENTIMETRES: usize = 2;
const PER_CENT: usize = 4;

/// A number as one types it: with so many places after the point at the most, and without zeros at its end.
pub(in crate::files) fn typed(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

/// Places after the point of a scale: seven digits in all, and four places at the least, because what is multiplied by it
/// may be thousands of samples wide.
fn scale_places(scale: f64) -> usize {
    let whole = libm::log10(scale.abs()).floor();
    if whole.is_finite() { (6.0 - whole).clamp(4.0, 12.0) as usize } else { 4 }
}

/// A scale as one types it.
fn scale(scale: f64) -> String {
    typed(scale, scale_places(scale))
}

/// A length as one types it, metres.
pub(in crate::files) fn metres(length_m: f64) -> String {
    typed(length_m, METRES)
}

/// The sizes of heightmaps that a program takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Whatever there is.
    Any,
    /// At most so many samples along a side.
    UpTo(usize),
    /// As many along both sides: powers of two, and so many more.
    PowersOfTwo {
        /// What is added to the power.
        plus: usize,
        /// The smallest side.
        least: usize,
        /// The largest side.
        most: usize,
    },
    /// As many along both sides: exactly so many.
    Exactly(usize),
    /// Whole components of Unreal's, at most 1024 of them.
    Components,
}

/// The quads along a side of Unreal's components: one section or 2 × 2, each of 7, 15, … 255 quads.
const QUADS: [usize; 12] = [510, 255, 254, 127, 126, 63, 62, 31, 30, 15, 14, 7];

/// The sides that Unreal's documentation recommends: the most land for the components.
const RECOMMENDED: [usize; 7] = [127, 253, 505, 1009, 2017, 4033, 8129];

impl Sizes {
    /// The sides that are allowed, of many those that are recommended, in ascending order; none where any is.
    pub fn sides(self) -> Vec<usize> {
        match self {
            Self::Any | Self::UpTo(_) => Vec::new(),
            Self::PowersOfTwo { plus, least, most } => {
                let sides = (1..=16).map(|power| (1 << power) + plus);
                sides.filter(|side| (least..=most).contains(side)).collect()
            }
            Self::Exactly(side) => vec![side],
            Self::Components => RECOMMENDED.to_vec(),
        }
    }

    /// Whether both sides must be equal.
    pub fn is_square(self) -> bool {
        matches!(self, Self::PowersOfTwo { .. } | Self::Exactly(_))
    }

    /// The allowed side that is nearest to this one.
    pub fn nearest(self, side: usize) -> usize {
        match self {
            Self::UpTo(most) => side.min(most),
            _ => self.sides().into_iter().min_by_key(|allowed| allowed.abs_diff(side)).unwrap_or(side),
        }
    }

    /// Whether a heightmap may have the size.
    pub fn allow(self, [width, height]: [usize; 2]) -> bool {
        match self {
            Self::Any => true,
            Self::UpTo(most) => width.max(height) <= most,
            Self::PowersOfTwo { .. } | Self::Exactly(_) => width == height && self.sides().contains(&width),
            Self::Components => QUADS.iter().any(|quads| {
                let whole = |side: usize| side > 1 && (side - 1).is_multiple_of(*quads);
                whole(width) && whole(height) && (width - 1) / quads * ((height - 1) / quads) <= 1024
            }),
        }
    }

    /// What is true of all of the sizes, in a few words.
    pub fn rule(self) -> String {
        match self {
            Self::Any => "any size".into(),
            Self::UpTo(most) => format!("up to {most} samples along a side"),
            Self::PowersOfTwo { plus: 0, .. } => "powers of two".into(),
            Self::PowersOfTwo { plus, .. } => format!("powers of two and {plus} more"),
            Self::Exactly(side) => format!("{side} × {side} samples"),
            Self::Components => "whole components".into(),
        }
    }

    /// The sizes in words.
    pub fn describe(self) -> String {
        match self {
            Self::Any => "any size".into(),
            Self::UpTo(most) => format!("up to {most} along a side"),
            Self::PowersOfTwo { plus: 0, least, most } => format!("square, powers of two from {least} to {most}"),
            Self::PowersOfTwo { plus, least, most } => {
                format!("square, powers of two and {plus} more, from {least} to {most}")
            }
            Self::Exactly(side) => format!("{side} × {side}"),
            Self::Components => "127, 253, 505, 1009, 2017, 4033, 8129, or other whole components".into(),
        }
    }
}

/// The form that a heightmap has where nothing else is said.
const USUAL: Encoding = Encoding { raw: None, integers: false, row_order: RowOrder::NorthFirst, as_rgb: false };

/// Land that is stretched by less than this share is not spoken of.
const LEAST_STRETCH: f64 = 0.01;

/// A target that nothing is written for: what the others are told apart from.
const PLAIN: Target = Target {
    key: "",
    label: "",
    sizes: Sizes::Any,
    heightmaps: &[("height.png", USUAL)],
    texture: Some(("texture.png", None)),
    weights: None,
    normals: None,
    mesh: None,
    range_m: None,
    side_m: None,
    needs_square_cells: false,
    max_layers: None,
    tile_names: TileNaming::FromNorthWest,
    import: |_| Vec::new(),
    unverified: &[],
    unverified_tiles: &[],
};

/// Every target.
pub static ALL: [&Target; 12] = [
    &unity::UNITY,
    &unreal::UNREAL,
    &terrain3d::TERRAIN3D,
    &hterrain::HTERRAIN,
    &blender::BLENDER,
    &o3de::O3DE,
    &cryengine::CRYENGINE,
    &cities_skylines::FIRST,
    &cities_skylines::SECOND,
    &worldpainter::WORLDPAINTER,
    &roblox::ROBLOX,
    &generic::GENERIC,
];

impl PartialEq for Target {
    /// A target is its key.
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// The target of that name.
pub fn from_key(key: &str) -> Option<&'static Target> {
    ALL.into_iter().find(|target| target.key == key)
}

/// All tiles of a map.
fn whole_tiles(counts: [usize; 2]) -> Tiles {
    Tiles { counts, only: None, names: TileNaming::FromNorthWest }
}

/// The samples of a tile of a grid.
fn tile_of(grid: Grid, counts: [usize; 2]) -> [usize; 2] {
    let size = [grid.width(), grid.height()];
    [0, 1].map(|axis| (size[axis] - 1) / counts[axis] + 1)
}

impl Target {
    /// The grid with about so many samples along the longer side of a land, or as the program would have it: the side
    /// of each tile is an allowed one if `longer` is.
    pub fn grid(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> Grid {
        let [columns, rows] = counts;
        let most = columns.max(rows);
        if self.sizes.is_square() {
            let steps = longer.saturating_sub(1) / most;
            return Grid::new(extent, steps * columns + 1, steps * rows + 1);
        }
        let fitted = Grid::fitted(extent, longer);
        if self.sizes != Sizes::Components || (fitted.width() == fitted.height() && columns == rows) {
            return fitted;
        }
        // The shorter side too has whole components.
        let tile = |side: usize, count: usize| (side - 1) / count + 1;
        let longer_tile = tile(longer, if extent.width_m >= extent.depth_m { columns } else { rows });
        let quads = QUADS.into_iter().find(|quads| (longer_tile - 1).is_multiple_of(*quads)).unwrap_or(1);
        let whole = |side: usize, count: usize| {
            let components = (((tile(side, count) - 1) as f64 / quads as f64).round() as usize).max(1);
            components * quads * count + 1
        };
        if extent.width_m >= extent.depth_m {
            Grid::new(extent, longer, whole(fitted.height(), rows))
        } else {
            Grid::new(extent, whole(fitted.width(), columns), longer)
        }
    }

    /// The samples along the longer side that are nearest to these and that the program takes.
    pub fn nearest(&self, extent: Extent, longer: usize, counts: [usize; 2]) -> usize {
        let along = if extent.width_m >= extent.depth_m { counts[0] } else { counts[1] };
        let suits = |side: &usize| {
            let grid = self.grid(extent, *side, counts);
            self.takes(grid, counts)
                && Tiles::of_samples(Some(whole_tiles(counts)), [grid.width(), grid.height()]).is_ok()
        };
        let among = |tiles: &mut dyn Iterator<Item = usize>| {
            let sides = tiles.map(|tile| (tile - 1) * along + 1);
            let mut sides: Vec<usize> = sides.filter(|side| *side <= SIDE_LIMITS[1]).collect();
            sides.sort_unstable_by_key(|side| side.abs_diff(longer));
            sides.into_iter().find(suits)
        };
        if self.sizes == Sizes::Components {
            // Where no recommended size suits all tiles, any other of whole components.
            let others = || QUADS.into_iter().flat_map(|quads| (1..=1024).map(move |count| quads * count + 1));
            let found = among(&mut RECOMMENDED.into_iter()).or_else(|| among(&mut others()));
            return found.unwrap_or(longer);
        }
        let most = counts[0].max(counts[1]);
        let tile = self.sizes.nearest(longer.saturating_sub(1) / most + 1);
        (tile - 1) * most + 1
    }

    /// Whether the program takes the tiles of a grid.
    fn takes(&self, grid: Grid, counts: [usize; 2]) -> bool {
        self.sizes.allow(tile_of(grid, counts))
    }

    /// Whether the program takes a heightmap of that grid in so many tiles; in words, why not and what is nearest.
    pub fn check(&self, grid: Grid, counts: [usize; 2]) -> Result<(), String> {
        if self.takes(grid, counts) {
            return Ok(());
        }
        let [width, height] = tile_of(grid, counts);
        let which = if counts == [1, 1] { "a heightmap" } else { "a tile" };
        let nearest = self.nearest(grid.extent(), grid.width().max(grid.height()), counts);
        Err(format!(
            "{which} of {width} × {height} samples is none for {}, which takes {}; the nearest is --size {nearest}",
            self.label,
            self.sizes.describe()
        ))
    }

    /// Puts the files of the target into an order, all into one folder, with so many pixels of texture. What the order
    /// has already stays.
    pub fn order(&'static self, order: &mut Order, folder: &Path, texture: [usize; 2]) {
        let path = |name: &str| folder.join(name);
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
            tiles.names = self.tile_names;
        }
        order.target = Some(self);
    }

    /// What to do in the program, and what nobody has tried.
    pub fn steps(&self, facts: &ImportFacts) -> Vec<String> {
        let mut steps: Vec<String> =
            (self.import)(facts).into_iter().map(|step| format!("{}: {step}", self.label)).collect();
        let of_tiles = if facts.tiles.is_some() { self.unverified_tiles } else { &[] };
        let unverified = self.unverified.iter().chain(of_tiles);
        steps.extend(unverified.map(|what| format!("{}, not verified: {what}", self.label)));
        steps
    }

    /// What does not suit the program, as far as it is known before anything is computed.
    pub fn warnings(&self, order: &Order) -> Vec<String> {
        let extent = order.grid.extent();
        let fits = |side_m: &f64| extent.width_m == *side_m && extent.depth_m == *side_m;
        let stretched = self.side_m.filter(|side_m| !fits(side_m)).map(|side_m| {
            format!(
                "{} lays every map over {side_m} × {side_m} m, and this land is {} × {} m; slopes will differ unless \
                 the project's world has that size",
                self.label, extent.width_m, extent.depth_m
            )
        });
        let [x_m, z_m] = [order.grid.spacing_x_m(), order.grid.spacing_z_m()];
        let oblong = (self.needs_square_cells && (x_m / z_m - 1.0).abs() > LEAST_STRETCH).then(|| {
            format!(
                "{} knows one distance between samples, and here they lie {x_m:.3} m apart from west to east and \
                 {z_m:.3} m from north to south; choose a size that has the world's proportions",
                self.label
            )
        });
        let covering = order.recipe.texture.active().filter(|ground| ground.covers()).count();
        let bare = (self.weights.is_some() && covering == 0).then(|| {
            format!("no terrain type that takes part covers ground, so {} gets no weights of terrain types", self.label)
        });
        let too_many = self
            .max_layers
            .filter(|most| covering > *most)
            .map(|most| format!("{} takes {most} terrain types at once, and {covering} cover ground", self.label));
        stretched.into_iter().chain(oblong).chain(bare).chain(too_many).collect()
    }

    /// The target in the list of all of them.
    pub fn line(&self) -> String {
        format!("{:<18} {} ({}): {}", self.key, self.label, self.sizes.describe(), self.file_names())
    }

    /// The files in words.
    pub fn file_names(&self) -> String {
        let mut files: Vec<&str> = self.heightmaps.iter().map(|(name, _)| *name).collect();
        files.extend(self.texture.map(|(name, _)| name));
        files.extend(self.weights.map(|(layout, _)| layout.file_names()));
        files.extend(self.normals);
        files.extend(self.mesh);
        files.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_are_told_apart_and_every_target_says_what_to_do() {
        let keys: BTreeSet<&str> = ALL.iter().map(|target| target.key).collect();
        assert_eq!(keys.len(), ALL.len());
        // Numbers that have many digits.
        let grid = Grid::new(Extent { width_m: 4097.123456, depth_m: 4099.7654321 }, 1009, 1009);
        let layers = ["Rock".to_string(), "Snow".to_string()];
        for target in ALL {
            let range_m = Band { min: -100.123456789, max: 924.987654321 };
            let (file, layers, water_m) = ("height", &layers[..], Some(12.3456789));
            let facts = ImportFacts { file, grid, range_m, is_about: false, water_m, tiles: None, layers };
            let steps = target.steps(&facts);
            assert!(!steps.is_empty(), "{}", target.key);
            assert!(steps.iter().all(|step| step.starts_with(target.label) && step.ends_with('.')), "{steps:?}");
            let of_water = |steps: &[String]| steps.iter().filter(|step| step.contains("water lies at")).count();
            assert_eq!(of_water(&steps), 1, "{steps:?}");
            assert_eq!(of_water(&target.steps(&ImportFacts { water_m: None, ..facts.clone() })), 0);
            let said = steps.join(" ");
            assert!(!said.contains("tile") && !said.contains("about"), "{said}");
            // Four places, or seven digits in all where it is a scale.
            let is_short = |number: &str| {
                let places = number.split_once('.').map_or(0, |(_, places)| places.len());
                places <= 4 || number.len() <= 8
            };
            let numbers = said.split(|c: char| !c.is_ascii_digit() && c != '.').map(|part| part.trim_end_matches('.'));
            assert!(numbers.clone().count() > 5 && numbers.clone().all(is_short), "{said}");
            let is_told = target.steps(&ImportFacts { is_about: true, ..facts }) != steps;
            assert!(
                is_told || target.range_m.is_some(),
                "{}: what follows from the heights is about right",
                target.key
            );
            assert!(!target.line().is_empty() && from_key(target.key) == Some(target));
        }
    }

    #[test]
    fn numbers_are_typed_with_few_digits_and_no_idle_zeros() {
        let written = [(146.095_979_246_2, 4), (4096.0, 2), (-12.5, 4), (-0.000_01, 2), (100.0, 0), (0.000_26, 4)];
        let read = written.map(|(number, places)| typed(number, places));
        assert_eq!(read, ["146.096", "4096", "-12.5", "0", "100", "0.0003"]);
        let scales = [146.095_979_246_2, 255.0 / 4096.0, 0.000_26, 12_345.678_9, 0.0].map(scale);
        assert_eq!(scales, ["146.096", "0.06225586", "0.00026", "12345.6789", "0"]);
    }

    #[test]
    fn sizes_are_those_of_the_programs() {
        let unity = unity::UNITY.sizes;
        assert!([33, 513, 4097].into_iter().all(|side| unity.allow([side; 2])));
        assert!([17, 512, 1000, 8193].into_iter().all(|side| !unity.allow([side; 2])));
        assert!(!unity.allow([513, 257]));
        assert_eq!((unity.nearest(1000), unity.nearest(9000)), (1025, 4097));
        let unreal = Sizes::Components;
        for side in [127, 253, 505, 1009, 2017, 4033, 8129] {
            assert!(unreal.allow([side; 2]), "{side}");
        }
        assert!(unreal.allow([2017, 1009]) && !unreal.allow([1025, 1025]) && !unreal.allow([8129, 8130]));
        assert_eq!(unreal.nearest(1025), 1009);
        assert_eq!(Sizes::UpTo(4096).nearest(5000), 4096);
    }

    #[test]
    fn programs_with_one_spacing_are_warned_of_oblong_cells() {
        let warned = |target: &Target, size: [usize; 2]| {
            let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 2000.0 }, size[0], size[1]);
            !target.warnings(&Order::new("oblong", Default::default(), grid)).is_empty()
        };
        assert!(warned(&cryengine::CRYENGINE, [513, 513]) && !warned(&cryengine::CRYENGINE, [513, 257]));
        assert!(!warned(&blender::BLENDER, [513, 513]), "takes metres along each side");
    }

    #[test]
    fn grids_suit_the_target_also_in_tiles_and_on_oblong_land() {
        let oblong = Extent { width_m: 4000.0, depth_m: 1900.0 };
        let size = |grid: Grid| [grid.width(), grid.height()];
        assert_eq!(size(unity::UNITY.grid(oblong, 513, [1, 1])), [513, 513]);
        assert_eq!(size(unity::UNITY.grid(oblong, 1025, [2, 1])), [1025, 513]);
        assert_eq!(unity::UNITY.nearest(oblong, 1000, [4, 4]), 1025);
        let unreal = unreal::UNREAL.grid(oblong, 1009, [1, 1]);
        assert!(unreal.width() == 1009 && unreal::UNREAL.check(unreal, [1, 1]).is_ok(), "{unreal:?}");
        assert_eq!(size(generic::GENERIC.grid(oblong, 401, [1, 1])), [401, 191]);
        let refused = unity::UNITY.check(Grid::new(oblong, 1000, 1000), [1, 1]).expect_err("no power of two");
        assert!(refused.contains("1000 × 1000") && refused.ends_with("--size 1025"), "{refused}");
    }
}
