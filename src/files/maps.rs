//! Maps beside heightmap and texture, as PNG: the weights of the terrain types, and charts of the land.
//!
//! The weights of the types that cover ground sum to the full value at every point, to the last digit. A type that
//! multiplies or overlays covers none: it has a map that says how strongly it acts, but no part in the sum and no place
//! in the packs.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::atomic::{self, StagedFile};
use super::error::FileError;
use super::heightmap::{self, Encoding, RowOrder, Rows};
use super::png_writer::{self, Channels, Layout};
use super::texture;
use super::tiles::{Region, TileRegion, Tiles};
use crate::engine::parameters::Band;
use crate::engine::texture::{AnalysisMap, PaintInput, Points, TerrainType, TextureRecipe, analysis_map, weight_maps};
use crate::engine::{Grid, Heightfield, Progress};

/// The most letters of a type's name that its file carries.
const LONGEST_NAME: usize = 40;

/// The maps in one pack: red, green, blue, alpha.
const PER_PACK: usize = 4;

/// The bits of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitDepth {
    /// A byte.
    #[default]
    Eight,
    /// Two bytes.
    Sixteen,
}

impl BitDepth {
    /// The greatest value.
    pub fn full(self) -> u16 {
        match self {
            Self::Eight => 255,
            Self::Sixteen => u16::MAX,
        }
    }
}

/// A picture of what the land is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapOrder {
    /// Where it goes; ends in .png.
    pub path: PathBuf,
    /// What it shows.
    pub analysis_map: AnalysisMap,
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
    /// The bits of a channel.
    pub depth: BitDepth,
}

/// The weights of the terrain types, a map for each that takes part, and packs of four maps in 8 bits a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsOrder {
    /// The folder that they go to.
    pub folder: PathBuf,
    /// Where the land is looked at.
    pub points: Points,
    /// The bits of the maps of single types.
    pub depth: BitDepth,
    /// Which files they go into.
    pub layout: WeightsLayout,
}

/// Which files weights go into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightsLayout {
    /// A map for each type that takes part, and packs of four of those that cover ground.
    #[default]
    MapsAndPacks,
    /// A map for each type that covers ground.
    Maps,
    /// Packs of four of the types that cover ground.
    Packs,
    /// The numbers of the strongest type and of the next one, and how they blend, in the bits of Terrain3D's control
    /// map. Only at samples.
    Control,
    /// The strongest type, by the colour of the nearest of Roblox's materials.
    Materials,
}

impl WeightsLayout {
    /// The files in words.
    pub fn file_names(self) -> &'static str {
        match self {
            Self::MapsAndPacks => "weight_NN_NAME.png, weights_RGBA_N.png",
            Self::Maps => "weight_NN_NAME.png",
            Self::Packs => "weights_RGBA_N.png",
            Self::Control => "control.exr",
            Self::Materials => "materials.png",
        }
    }

    /// Whether a type has a map of its own.
    fn has_map(self, ground: &TerrainType) -> bool {
        match self {
            Self::MapsAndPacks => true,
            Self::Maps => ground.covers(),
            Self::Packs | Self::Control | Self::Materials => false,
        }
    }

    fn has_packs(self) -> bool {
        matches!(self, Self::MapsAndPacks | Self::Packs)
    }
}

/// The types that a control map can number.
const MOST_NUMBERED: usize = 32;

/// The colours by which Roblox knows its materials.
const MATERIALS: [(&str, [u8; 3]); 21] = [
    ("grass", [106, 127, 63]),
    ("slate", [63, 127, 107]),
    ("concrete", [127, 102, 63]),
    ("brick", [138, 86, 62]),
    ("sand", [143, 126, 95]),
    ("wood", [139, 109, 79]),
    ("rock", [102, 108, 111]),
    ("glacier", [101, 176, 234]),
    ("snow", [195, 199, 218]),
    ("sandstone", [137, 90, 71]),
    ("mud", [58, 46, 36]),
    ("basalt", [30, 30, 37]),
    ("ground", [102, 92, 59]),
    ("lava", [232, 156, 74]),
    ("asphalt", [115, 123, 107]),
    ("cobblestone", [132, 123, 90]),
    ("ice", [129, 194, 224]),
    ("leafy", [115, 132, 74]),
    ("salt", [198, 189, 181]),
    ("limestone", [206, 173, 148]),
    ("pavement", [148, 148, 140]),
];

/// The material that a type's name names, else the one whose colour is nearest.
fn material(ground: &TerrainType) -> [u8; 3] {
    let name = ground.name.to_lowercase();
    let named =
        name.split(|c: char| !c.is_alphanumeric()).find_map(|word| MATERIALS.iter().find(|(key, _)| *key == word));
    let apart = |colour: [u8; 3]| {
        let squares = ground.colour.0.iter().zip(colour).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2));
        squares.sum::<u32>()
    };
    let nearest = || MATERIALS.iter().min_by_key(|(_, colour)| apart(*colour));
    named.or_else(nearest).map_or(ground.colour.0, |(_, colour)| *colour)
}

/// A name that every file system takes: letters, digits, hyphens and underscores.
fn safe(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    let safe: String = name.trim().chars().take(LONGEST_NAME).map(letter).collect();
    // An x before digits reads as a tile to Unreal.
    let digits = |c: Option<&char>| c.is_some_and(char::is_ascii_digit);
    let letters: Vec<char> = safe.chars().collect();
    let apart = |(at, c): (usize, &char)| {
        let column = c.eq_ignore_ascii_case(&'x') && digits(letters.get(at + 1));
        if column { '_' } else { *c }
    };
    let safe: String = letters.iter().enumerate().map(apart).collect();
    if safe.is_empty() { "unnamed".into() } else { safe }
}

impl WeightsOrder {
    /// The maps of single types, in their order.
    fn map_paths(&self, recipe: &TextureRecipe) -> Vec<PathBuf> {
        let name = |(at, ground): (usize, &TerrainType)| format!("weight_{at:02}_{}.png", safe(&ground.name));
        let mapped = recipe.active().filter(|ground| self.layout.has_map(ground));
        mapped.enumerate().map(|numbered| self.folder.join(name(numbered))).collect()
    }

    /// Every file, before it is cut.
    fn paths(&self, recipe: &TextureRecipe) -> Vec<PathBuf> {
        let mut paths = self.map_paths(recipe);
        match self.layout {
            WeightsLayout::MapsAndPacks | WeightsLayout::Packs => paths.extend(self.pack_paths(recipe)),
            WeightsLayout::Maps => {}
            WeightsLayout::Control => paths.push(self.folder.join("control.exr")),
            WeightsLayout::Materials => paths.push(self.folder.join("materials.png")),
        }
        paths
    }

    /// The packs of the types that cover ground.
    fn pack_paths(&self, recipe: &TextureRecipe) -> Vec<PathBuf> {
        let count = recipe.active().filter(|ground| ground.covers()).count().div_ceil(PER_PACK);
        (0..count).map(|at| self.folder.join(format!("weights_RGBA_{at}.png"))).collect()
    }

    /// The parts into which the maps are cut.
    fn pieces(&self, recipe: &TextureRecipe, grid: Grid, tiles: Option<Tiles>) -> Result<Vec<TileRegion>, FileError> {
        let size = self.points.size(grid);
        let pieces = match self.points {
            Points::Samples => Tiles::of_samples(tiles, size),
            Points::Pixels(_) | Points::PixelRegion(_) => Tiles::of_pixels(tiles, size),
        };
        let first = self.paths(recipe).into_iter().next().unwrap_or_else(|| self.folder.clone());
        pieces.map_err(|possible| FileError::Size { path: first, size: size.map(|side| side as u64), possible })
    }

    /// Whether the maps can be written; the paths and sizes that they will have.
    pub(super) fn check(
        &self,
        recipe: &TextureRecipe,
        grid: Grid,
        tiles: Option<Tiles>,
    ) -> Result<Vec<(PathBuf, [usize; 2])>, FileError> {
        let paths = self.paths(recipe);
        let covering = recipe.active().filter(|ground| ground.covers()).count();
        let needs_cover = self.layout != WeightsLayout::MapsAndPacks;
        let first = paths.first().filter(|_| recipe.active().next().is_some() && (covering > 0 || !needs_cover));
        let Some(first) = first else {
            let problem =
                "no terrain type takes part, so there are no weights; add or enable one, or choose another set";
            return Err(FileError::invalid(&self.folder, problem));
        };
        if self.layout == WeightsLayout::Control && covering > MOST_NUMBERED {
            let problem = format!("a control map numbers {MOST_NUMBERED} terrain types, and {covering} cover ground");
            return Err(FileError::invalid(first, problem));
        }
        texture::check_size(Path::new("a.png"), self.points.size(grid))?;
        let pieces = self.pieces(recipe, grid, tiles)?;
        let piece_of = |path: &PathBuf, piece: &TileRegion| (Tiles::path(tiles, path, piece.tile), piece.cut.size);
        Ok(paths.iter().flat_map(|path| pieces.iter().map(move |piece| piece_of(path, piece))).collect())
    }

    /// The most bytes that the maps take: twice all of them while they are weighed, row by row and type by type, then
    /// all of them and what writing one takes.
    pub(super) fn bytes(&self, recipe: &TextureRecipe, grid: Grid) -> u64 {
        let size = self.points.size(grid);
        let maps = product(size).saturating_mul(2 * recipe.active().count() as u64);
        let layouts = [map_layout(size, self.depth), pack_layout(size)];
        let writing = layouts.map(|layout| png_writer::bytes_at_once(layout, 0));
        let numbers = if self.layout == WeightsLayout::Control { product(size).saturating_mul(4) } else { 0 };
        maps.saturating_add(writing.into_iter().fold(maps.max(numbers), u64::max))
    }

    /// All maps and packs, complete but without their names.
    pub(super) fn stage(
        &self,
        input: PaintInput,
        tiles: Option<Tiles>,
        overwrite: bool,
        progress: &Progress,
    ) -> Result<Vec<StagedFile>, FileError> {
        let Self { points, depth, layout, .. } = *self;
        let pieces = self.pieces(input.recipe, input.terrain.grid(), tiles)?;
        match layout {
            WeightsLayout::MapsAndPacks | WeightsLayout::Maps | WeightsLayout::Packs => {}
            WeightsLayout::Control => return self.stage_control(input, tiles, &pieces, overwrite, progress),
            WeightsLayout::Materials => return self.stage_materials(input, tiles, &pieces, overwrite, progress),
        }
        let covers: Vec<bool> = input.recipe.active().map(TerrainType::covers).collect();
        let mut staged = Vec::new();
        let weights = progress.stage(0.0..0.7, || {
            let weights = progress.stage(0.0..0.4, || weight_maps(input, points, depth.full(), progress))?;
            let paths = self.map_paths(input.recipe);
            let share = |at: usize| 0.4 + 0.6 * at as f32 / paths.len().max(1) as f32;
            let mapped = input.recipe.active().zip(&weights.maps).filter(|(ground, _)| layout.has_map(ground));
            for (at, (path, (_, map))) in paths.iter().zip(mapped).enumerate() {
                let layout = map_layout(weights.size, depth);
                let value = |pixel: usize, _| map[pixel];
                staged.extend(progress.stage(share(at)..share(at + 1), || {
                    stage_pieces(path, tiles, &pieces, layout, value, overwrite, progress)
                })?);
            }
            Ok::<_, FileError>(weights)
        })?;
        if !layout.has_packs() {
            return Ok(staged);
        }
        let weights = match depth {
            BitDepth::Eight => weights,
            BitDepth::Sixteen => {
                // Packs have 8 bits, whose parts sum to the whole by themselves.
                drop(weights);
                progress.stage(0.7..0.85, || weight_maps(input, points, BitDepth::Eight.full(), progress))?
            }
        };
        let covering: Vec<&Vec<u16>> =
            weights.maps.iter().zip(covers).filter(|(_, covers)| *covers).map(|(map, _)| map).collect();
        let paths = self.pack_paths(input.recipe);
        let share = |at: usize| 0.85 + 0.15 * at as f32 / paths.len().max(1) as f32;
        for (at, (path, pack)) in paths.iter().zip(covering.chunks(PER_PACK)).enumerate() {
            let layout = pack_layout(weights.size);
            let value = |pixel: usize, channel: usize| pack.get(channel).map_or(0, |map| map[pixel]);
            staged.extend(progress.stage(share(at)..share(at + 1), || {
                stage_pieces(path, tiles, &pieces, layout, value, overwrite, progress)
            })?);
        }
        Ok(staged)
    }
}

impl WeightsOrder {
    /// The weights of the types that cover ground, in 8 bits.
    fn covering(&self, input: PaintInput, progress: &Progress) -> Result<Vec<Vec<u16>>, FileError> {
        let weights = weight_maps(input, self.points, BitDepth::Eight.full(), progress)?;
        let of_types = weights.maps.into_iter().zip(input.recipe.active());
        Ok(of_types.filter(|(_, ground)| ground.covers()).map(|(map, _)| map).collect())
    }

    /// The control map of Terrain3D ("Controlmap Format"): the numbers of two types in five bits each, and in eight how
    /// much there is of the second.
    fn stage_control(
        &self,
        input: PaintInput,
        tiles: Option<Tiles>,
        pieces: &[TileRegion],
        overwrite: bool,
        progress: &Progress,
    ) -> Result<Vec<StagedFile>, FileError> {
        let maps = progress.stage(0.0..0.7, || self.covering(input, progress))?;
        let grid = input.terrain.grid();
        let bits = |at: usize| {
            let [(base, most), (overlay, next)] =
                strongest(&maps, at).map(|(number, weight)| (number, u32::from(weight)));
            let both = (most + next).max(1);
            let blend = (255 * next + both / 2) / both;
            f32::from_bits((base as u32) << 27 | (overlay as u32) << 22 | blend << 14)
        };
        let numbers = Heightfield::from_heights(grid, (0..grid.samples()).map(bits).collect());
        let whole = self.paths(input.recipe).into_iter().next().unwrap_or_default();
        let numbers = numbers.ok_or_else(|| FileError::invalid(&whole, "a control map is taken at the samples"))?;
        let encoding = Encoding { as_rgb: true, ..Encoding::default() };
        let stage = |piece: &TileRegion| {
            let path = &Tiles::path(tiles, &whole, piece.tile);
            let rows = Rows::of(&numbers, piece.cut, RowOrder::NorthFirst);
            atomic::stage(path, overwrite, |writer| {
                heightmap::write(writer, path, rows, Band { min: 0.0, max: 0.0 }, encoding, progress)
            })
        };
        progress.stage(0.7..1.0, || pieces.iter().map(stage).collect())
    }

    /// The strongest type as a colour.
    fn stage_materials(
        &self,
        input: PaintInput,
        tiles: Option<Tiles>,
        pieces: &[TileRegion],
        overwrite: bool,
        progress: &Progress,
    ) -> Result<Vec<StagedFile>, FileError> {
        let maps = progress.stage(0.0..0.7, || self.covering(input, progress))?;
        let colours: Vec<[u8; 3]> = input.recipe.active().filter(|ground| ground.covers()).map(material).collect();
        let value = |pixel: usize, channel: usize| {
            let [(number, _), _] = strongest(&maps, pixel);
            colours.get(number).map_or(0, |colour| u16::from(colour[channel]))
        };
        let size = self.points.size(input.terrain.grid());
        let layout = Layout { size, channels: Channels::Rgb, depth: BitDepth::Eight, is_srgb: true };
        let whole = self.paths(input.recipe).into_iter().next().unwrap_or_default();
        progress.stage(0.7..1.0, || stage_pieces(&whole, tiles, pieces, layout, value, overwrite, progress))
    }
}

/// The number and the weight of the type that has most at a point, and of the one that has most after it.
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

/// A map or each of its tiles, complete but without their names: `value` gives the numbers of the whole map's pixels.
fn stage_pieces(
    path: &Path,
    tiles: Option<Tiles>,
    pieces: &[TileRegion],
    layout: Layout,
    value: impl Fn(usize, usize) -> u16 + Sync,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let share = |at: usize| at as f32 / pieces.len() as f32;
    let stage = |(at, piece): (usize, &TileRegion)| {
        let path = &Tiles::path(tiles, path, piece.tile);
        progress.stage(share(at)..share(at + 1), || {
            atomic::stage(path, overwrite, |writer| write_numbers(writer, path, layout, piece.cut, &value, progress))
        })
    };
    pieces.iter().enumerate().map(stage).collect()
}

fn map_layout(size: [usize; 2], depth: BitDepth) -> Layout {
    Layout { size, channels: Channels::Grey, depth, is_srgb: false }
}

fn pack_layout(size: [usize; 2]) -> Layout {
    Layout { size, channels: Channels::Rgba, depth: BitDepth::Eight, is_srgb: false }
}

impl MapOrder {
    /// Whether the map can be written; the paths and sizes that its tiles will have.
    pub(super) fn check(&self, tiles: Option<Tiles>) -> Result<Vec<(PathBuf, [usize; 2])>, FileError> {
        if !self.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(OsStr::new("png"))) {
            return Err(FileError::UnknownExtension { path: self.path.clone(), known: ".png (maps)".into() });
        }
        texture::check_size(&self.path, self.size)?;
        let piece_of = |piece: &TileRegion| (Tiles::path(tiles, &self.path, piece.tile), piece.cut.size);
        Ok(self.pieces(tiles)?.iter().map(piece_of).collect())
    }

    fn pieces(&self, tiles: Option<Tiles>) -> Result<Vec<TileRegion>, FileError> {
        let refused =
            |possible| FileError::Size { path: self.path.clone(), size: self.size.map(|side| side as u64), possible };
        Tiles::of_pixels(tiles, self.size).map_err(refused)
    }

    /// The most bytes that the map takes: its numbers, and what is found of the land for them, in `found_bytes`, or
    /// what writing them takes.
    pub(super) fn bytes(&self, found_bytes: u64) -> u64 {
        let layout = self.layout();
        let numbers = product(self.size).saturating_mul(2 * layout.channels.count() as u64);
        numbers.saturating_add(found_bytes.max(png_writer::bytes_at_once(layout, 0)))
    }

    fn layout(&self) -> Layout {
        let channels = match self.analysis_map {
            AnalysisMap::Normals | AnalysisMap::NormalsSouth => Channels::Rgb,
            _ => Channels::Grey,
        };
        Layout { size: self.size, channels, depth: self.depth, is_srgb: false }
    }

    /// The map or its tiles, complete but without their names.
    pub(super) fn stage(
        &self,
        terrain: &Heightfield,
        sea_m: Option<f32>,
        tiles: Option<Tiles>,
        overwrite: bool,
        progress: &Progress,
    ) -> Result<Vec<StagedFile>, FileError> {
        let Self { path, size, depth, .. } = self;
        let pieces = self.pieces(tiles)?;
        let charting =
            || analysis_map(terrain, self.analysis_map, sea_m, Points::Pixels(*size), depth.full(), progress);
        let values = progress.stage(0.0..0.5, charting)?;
        let layout = self.layout();
        let channels = layout.channels.count();
        let value = |pixel: usize, channel: usize| values[pixel * channels + channel];
        progress.stage(0.5..1.0, || stage_pieces(path, tiles, &pieces, layout, value, overwrite, progress))
    }
}

fn product([width, height]: [usize; 2]) -> u64 {
    (width as u64).saturating_mul(height as u64)
}

/// Writes a part of a picture of numbers: `value` gives those of the channels of every pixel of the whole, which has
/// the layout.
fn write_numbers(
    writer: &mut impl Write,
    path: &Path,
    layout: Layout,
    cut: Region,
    value: impl Fn(usize, usize) -> u16 + Sync,
    progress: &Progress,
) -> Result<(), FileError> {
    let Layout { size: [width, _], channels, depth, .. } = layout;
    let channels = channels.count();
    let fill = |j: usize, bytes: &mut [u8]| {
        let first = (cut.first[1] + j) * width + cut.first[0];
        let values = (first..first + cut.size[0]).flat_map(|i| (0..channels).map(move |c| (i, c)));
        let values = values.map(|(pixel, channel)| value(pixel, channel));
        match depth {
            // Made with 255 as the greatest value.
            BitDepth::Eight => bytes.iter_mut().zip(values).for_each(|(byte, value)| *byte = value as u8),
            BitDepth::Sixteen => {
                let (pairs, _) = bytes.as_chunks_mut::<2>();
                pairs.iter_mut().zip(values).for_each(|(pair, value)| *pair = value.to_be_bytes());
            }
        }
    };
    let written = png_writer::write(writer, Layout { size: cut.size, ..layout }, fill, progress);
    // A writer that was stopped fails in its own words.
    progress.check()?;
    written.map_err(|error| FileError::writing(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_for_every_file_system() {
        for (name, file) in [
            ("Snow", "Snow"),
            (" Wet sand/mud ", "Wet_sand_mud"),
            ("..\\..\\a:b*?\"<>|", "______a_b______"),
            ("Fichtenwälder-2", "Fichtenwälder-2"),
            ("", "unnamed"),
            ("Scree 2x4 xx", "Scree_2_4_xx"),
            ("Moss_X2_y0", "Moss__2_y0"),
        ] {
            assert_eq!(safe(name), file);
        }
        assert_eq!(safe(&"x".repeat(500)).len(), LONGEST_NAME);
    }

    #[test]
    fn the_two_strongest_and_the_nearest_material() {
        let maps = [vec![10, 0], vec![200, 0], vec![45, 0]];
        assert_eq!(strongest(&maps, 0), [(1, 200), (2, 45)]);
        assert_eq!(strongest(&maps, 1), [(0, 0), (0, 0)]);
        let ground = |name: &str, colour| TerrainType { name: name.into(), colour, ..Default::default() };
        use crate::engine::parameters::Colour;
        assert_eq!(material(&ground("Wet sand", Colour([0, 0, 0]))), [143, 126, 95]);
        assert_eq!(material(&ground("Plateau", Colour([190, 200, 220]))), [195, 199, 218]);
    }

    #[test]
    fn every_chart_has_as_many_channels_as_numbers() {
        for analysis_map in AnalysisMap::ALL.into_iter().chain([AnalysisMap::NormalsSouth]) {
            let map = MapOrder { path: "a.png".into(), analysis_map, size: [4, 3], depth: BitDepth::Eight };
            assert_eq!(map.layout().channels.count(), analysis_map.channels(), "{analysis_map:?}");
        }
    }

    #[test]
    fn numbers_come_back_from_another_reader() {
        let values: Vec<u16> = (0..36).map(|i| i * 1777).collect();
        let all =
            [BitDepth::Eight, BitDepth::Sixteen].map(|depth| [Channels::Grey, Channels::Rgb].map(|them| (depth, them)));
        for (depth, channels) in all.into_iter().flatten() {
            let layout = Layout { size: [4, 3], channels, depth, is_srgb: false };
            let channels = channels.count();
            let value = |pixel: usize, channel: usize| values[pixel * channels + channel] % depth.full();
            let mut bytes = Vec::new();
            let whole = Region::whole(layout.size);
            write_numbers(&mut bytes, Path::new("a.png"), layout, whole, value, &Progress::new()).expect("written");
            let read = image::load_from_memory(&bytes).expect("readable");
            let expected: Vec<u16> = (0..12 * channels).map(|i| values[i] % depth.full()).collect();
            let found: Vec<u16> = match read {
                image::DynamicImage::ImageLuma8(map) => map.into_raw().into_iter().map(u16::from).collect(),
                image::DynamicImage::ImageRgb8(map) => map.into_raw().into_iter().map(u16::from).collect(),
                image::DynamicImage::ImageLuma16(map) => map.into_raw(),
                image::DynamicImage::ImageRgb16(map) => map.into_raw(),
                other => panic!("{:?}", other.color()),
            };
            assert_eq!(found, expected, "{depth:?}, {channels}");
        }
    }
}
