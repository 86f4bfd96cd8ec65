//! The values of arguments: projects, sizes such as `1025` or `1025x513`, tiles and ranges.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{MapValueParser, OsStringValueParser, TypedValueParser, ValueParserFactory};

use crate::engine::cast::ToInteger;
use crate::engine::heightfield::{Extent, Grid, SIDE_LIMITS};
use crate::engine::parameters::Band;
use crate::files::export::{Patches, Tiles, texture_size};
use crate::files::formats::image::RENDER_SIDES;

/// A project file, a heightmap, or `preset:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The path of a project file, which need not be UTF-8.
    File(PathBuf),
    /// The name of a preset.
    Preset(String),
}

impl From<OsString> for Source {
    fn from(text: OsString) -> Self {
        match text.to_str().and_then(|text| text.strip_prefix("preset:")) {
            Some(name) => Self::Preset(name.into()),
            None => Self::File(text.into()),
        }
    }
}

impl ValueParserFactory for Source {
    type Parser = MapValueParser<OsStringValueParser, fn(OsString) -> Self>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().map(Self::from)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Preset(name) => write!(f, "preset:{name}"),
        }
    }
}

/// One number for the longer side, or both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    Longer(usize),
    Both([usize; 2]),
}

/// Parses `N` or `WxH`, each from `min` to `max`.
fn sides(text: &str, [min, max]: [usize; 2], what: &str) -> Result<Sides, String> {
    let side = |text: &str| text.parse::<usize>().ok().filter(|side| (min..=max).contains(side));
    let read = match text.split_once('x') {
        Some((width, height)) => side(width).zip(side(height)).map(|(width, height)| Sides::Both([width, height])),
        None => side(text).map(Sides::Longer),
    };
    read.ok_or_else(|| format!("expected N or WxH, from {min} to {max} {what}"))
}

/// The number of samples of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(Sides);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Sides::Longer(longer) => write!(f, "{longer}"),
            Sides::Both([width, height]) => write!(f, "{width}x{height}"),
        }
    }
}

impl Size {
    /// A size with `samples` along the longer side.
    pub fn longer(samples: u32) -> Self {
        Self(Sides::Longer(samples as usize))
    }

    /// The samples along the longer side, if that is all that was given.
    pub fn longer_side(self) -> Option<usize> {
        match self.0 {
            Sides::Longer(longer) => Some(longer),
            Sides::Both(_) => None,
        }
    }

    /// The grid of this size for a world.
    pub fn grid(self, extent: Extent) -> Grid {
        match self.0 {
            Sides::Longer(longer) => Grid::fitted(extent, longer),
            Sides::Both([width, height]) => Grid::new(extent, width, height),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        sides(text, SIDE_LIMITS, "samples").map(Self)
    }
}

/// The number of pixels of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureSize(Sides);

impl TextureSize {
    /// A size with `pixels` along the longer side.
    pub fn longer(pixels: u32) -> Self {
        Self(Sides::Longer(pixels as usize))
    }

    /// The pixels from west to east and from north to south.
    pub fn size(self, extent: Extent) -> [usize; 2] {
        match self.0 {
            Sides::Longer(longer) => texture_size(extent, longer),
            Sides::Both(size) => size,
        }
    }
}

impl FromStr for TextureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        sides(text, [1, 65_536], "pixels").map(Self)
    }
}

/// Width and height of a 3-D render, pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderSize(pub [u32; 2]);

impl FromStr for RenderSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let [min, max] = [*RENDER_SIDES.start(), *RENDER_SIDES.end()];
        match sides(text, [min, max].map(|side| side as usize), "pixels") {
            Ok(Sides::Both(size)) => Ok(Self(size.map(|side| side.to_u32()))),
            Ok(Sides::Longer(_)) | Err(_) => Err(format!("expected WxH, from {min} to {max} pixels each")),
        }
    }
}

impl fmt::Display for RenderSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.0[0], self.0[1])
    }
}

/// Parses `CxR`, columns and rows from 1 to `max`.
fn counts(text: &str, max: usize) -> Result<[usize; 2], String> {
    match sides(text, [1, max], "") {
        Ok(Sides::Both(counts)) => Ok(counts),
        Ok(Sides::Longer(_)) | Err(_) => Err(format!("expected CxR, from 1 to {max} columns and rows")),
    }
}

/// The number of columns and rows of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchCounts([usize; 2]);

impl PatchCounts {
    /// The patches; with `mirror`, each shows the full terrain, mirrored in odd columns and rows.
    pub fn patches(self, mirror: bool) -> Patches {
        let Self([columns, rows]) = self;
        Patches { columns, rows, mirror }
    }
}

impl FromStr for PatchCounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        counts(text, Patches::MAX_PER_SIDE).map(Self)
    }
}

/// The number of columns and rows of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileCounts([usize; 2]);

impl TileCounts {
    /// The number of columns and rows.
    pub fn counts(self) -> [usize; 2] {
        self.0
    }

    /// The tiles, of which `only` one is written if given. The error is a message.
    pub fn tiles(self, only: Option<TileIndex>) -> Result<Tiles, String> {
        let Self(counts) = self;
        let only = only.map(|TileIndex(index)| index);
        match only {
            Some([column, row]) if column >= counts[0] || row >= counts[1] => Err(format!(
                "--tile {column},{row}: there is no such tile; columns are from 0 to {}, rows from 0 to {}",
                counts[0] - 1,
                counts[1] - 1
            )),
            _ => Ok(Tiles { only, ..Tiles::new(counts) }),
        }
    }
}

impl FromStr for TileCounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        counts(text, Tiles::MAX_PER_SIDE).map(Self)
    }
}

/// The first and the last of some seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedRange(pub [u32; 2]);

impl FromStr for SeedRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let range = text.split_once("..").and_then(|(from, to)| Some([number(from)?, number(to)?]));
        let range = range.filter(|[from, to]| from <= to && to - from < MAX_SEEDS);
        range.map(Self).ok_or_else(|| format!("expected FROM..TO, as in 1..200: at most {MAX_SEEDS} seeds"))
    }
}

/// The most seeds of a search.
const MAX_SEEDS: u32 = 1_000_000;

/// The column and row of a tile, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileIndex([usize; 2]);

impl FromStr for TileIndex {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok();
        let index = text.split_once(',').and_then(|(column, row)| Some([number(column)?, number(row)?]));
        index.map(Self).ok_or_else(|| "expected C,R: column and row, from 0".into())
    }
}

/// A height range in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range(pub Band);

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let band = text.split_once(',').and_then(|(min, max)| Some(Band { min: number(min)?, max: number(max)? }));
        let Some(Band { min, max }) = band else {
            return Err("expected LOW,HIGH in metres, for example -200,1800".into());
        };
        if min < max { Ok(Self(Band { min, max })) } else { Err(format!("{min} is not less than {max}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_number_or_two_within_the_limits() {
        let world = Extent { width_m: 3000.0, depth_m: 1000.0 };
        let size = |text: &str| {
            let grid = text.parse::<Size>().expect(text).grid(world);
            [grid.width(), grid.height()]
        };
        assert_eq!((size("301"), size("20x30")), ([301, 101], [20, 30]));
        for text in ["0", "1", "65538", "-5", "5x", "x5", "5x0", "5x5x5", "", "1e3", "99999999999999999999"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        assert_eq!("640x400".parse::<RenderSize>().map(|size| size.to_string()).as_deref(), Ok("640x400"));
        assert!(["640", "15x400", "640x8193"].iter().all(|text| text.parse::<RenderSize>().is_err()));
        assert_eq!("300".parse::<TextureSize>().expect("valid").size(world), [300, 100]);
    }
}
