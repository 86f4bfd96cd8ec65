//! Maps split into tiles: columns and rows of files.
//!
//! Neighbouring tiles of samples share the samples on their common edge, unless the target lays them side by side. Pixels
//! are areas, so each belongs to one tile.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::engine::texture::PixelRegion;
use crate::files::formats::region::Region;
use crate::files::io::error::FileError;

/// How the files of tiles are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileNaming {
    /// `NAME_x1_y0.png`: counted eastward and southward from the north-western tile.
    #[default]
    FromNorthWest,
    /// `NAME_1_0.png`: counted eastward and northward from the south-western tile, like Unity's x and z.
    FromSouthWest,
    /// As `FromNorthWest`, but inserted before this suffix, by which the program recognizes the kind of a file:
    /// `height_x1_y0_gsi.png` for `_gsi`.
    Before(&'static str),
}

/// Whether neighbouring tiles of samples have samples in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileEdges {
    /// Both tiles have the samples on their common edge.
    #[default]
    Shared,
    /// The first samples of a tile follow the last ones of its neighbour, so the program lays tiles side by side.
    SideBySide,
}

impl TileEdges {
    /// The samples of a tile along a side of this many samples that consists of `count` tiles.
    pub fn tile_side(self, side: usize, count: usize) -> usize {
        match self {
            Self::Shared => (side - 1) / count + 1,
            Self::SideBySide => side / count,
        }
    }
}

/// How maps are split into tiles, and which tiles are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Columns and rows.
    pub counts: [usize; 2],
    /// The only tile to write, as column and row from the north-western one; `None`: all tiles.
    pub only: Option<[usize; 2]>,
    /// How the files are named.
    pub naming: TileNaming,
    /// What neighbouring tiles have in common.
    pub edges: TileEdges,
}

/// A tile of a map, or a complete map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRegion {
    /// Column and row; `None`: the map is not split.
    pub tile: Option<[usize; 2]>,
    /// The samples or pixels.
    pub region: Region,
}

/// The file of a tile, or of a complete map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileFile {
    /// The path, including the name of the tile.
    pub path: PathBuf,
    /// Column and row; `None`: the map is not split.
    pub tile: Option<[usize; 2]>,
    /// The samples or pixels in the file.
    pub region: Region,
}

impl TileFile {
    /// The files of a map of samples.
    pub fn of_samples(tiles: Option<Tiles>, path: &Path, size: [usize; 2]) -> Result<Vec<Self>, FileError> {
        Self::named(tiles, path, size, Tiles::of_samples(tiles, size))
    }

    /// The files of an image.
    pub fn of_pixels(tiles: Option<Tiles>, path: &Path, size: [usize; 2]) -> Result<Vec<Self>, FileError> {
        Self::named(tiles, path, size, Tiles::of_pixels(tiles, size))
    }

    fn named(
        tiles: Option<Tiles>,
        path: &Path,
        size: [usize; 2],
        regions: Result<Vec<TileRegion>, String>,
    ) -> Result<Vec<Self>, FileError> {
        let regions = regions.map_err(|possible| FileError::size(path, size, possible))?;
        let named = |TileRegion { tile, region }| Self { path: Tiles::path(tiles, path, tile), tile, region };
        Ok(regions.into_iter().map(named).collect())
    }
}

/// The files of the maps of an order.
pub(super) struct PlannedMaps<'a> {
    pub(super) heightmaps: &'a [Vec<TileFile>],
    pub(super) texture: &'a [TileFile],
    pub(super) weights: &'a [Vec<TileFile>],
    pub(super) maps: &'a [Vec<TileFile>],
}

/// The pixels of a map that its files need, and the files with their regions among these: an only tile needs no others.
pub(super) fn needed_pixels(files: &[TileFile], full_size: [usize; 2]) -> (PixelRegion, Vec<TileFile>) {
    match files {
        [file] => {
            let Region { first: origin, size } = file.region;
            (PixelRegion { full_size, origin, size }, vec![TileFile { region: Region::full(size), ..file.clone() }])
        }
        _ => (PixelRegion { full_size, origin: [0; 2], size: full_size }, files.to_vec()),
    }
}

impl Tiles {
    /// The maximum number of tiles along a side.
    pub const MAX_PER_SIDE: usize = 64;

    /// These columns and rows, with the usual names and edges.
    pub fn new(counts: [usize; 2]) -> Self {
        Self { counts, only: None, naming: TileNaming::default(), edges: TileEdges::default() }
    }

    /// The tiles of a map of samples. The error lists the possible sizes.
    pub fn of_samples(tiles: Option<Self>, size: [usize; 2]) -> Result<Vec<TileRegion>, String> {
        let Some(tiles) = tiles else {
            return Ok(vec![TileRegion { tile: None, region: Region::full(size) }]);
        };
        if tiles.edges == TileEdges::SideBySide {
            return Self::side_by_side(tiles, size, "the number of samples along a side");
        }
        let [steps_x, steps_z] =
            [0, 1].map(|axis| tiles.per_tile(axis, size[axis], 1, "the number of samples along a side minus one"));
        let steps = [steps_x?, steps_z?];
        let region_of = |tile: [usize; 2]| Region {
            first: [0, 1].map(|axis| tile[axis] * steps[axis]),
            size: steps.map(|steps| steps + 1),
        };
        Ok(tiles.written().map(|tile| TileRegion { tile: Some(tile), region: region_of(tile) }).collect())
    }

    /// The tiles of an image. The error lists the possible sizes.
    pub fn of_pixels(tiles: Option<Self>, size: [usize; 2]) -> Result<Vec<TileRegion>, String> {
        let Some(tiles) = tiles else {
            return Ok(vec![TileRegion { tile: None, region: Region::full(size) }]);
        };
        Self::side_by_side(tiles, size, "the number of pixels along a side")
    }

    /// Tiles that have nothing in common.
    fn side_by_side(self, size: [usize; 2], what: &str) -> Result<Vec<TileRegion>, String> {
        let [width, height] = [0, 1].map(|axis| self.per_tile(axis, size[axis], 0, what));
        let size = [width?, height?];
        let region_of = |tile: [usize; 2]| Region { first: [0, 1].map(|axis| tile[axis] * size[axis]), size };
        Ok(self.written().map(|tile| TileRegion { tile: Some(tile), region: region_of(tile) }).collect())
    }

    /// The steps or pixels per tile along an axis of `side` samples or pixels, of which the last `shared` ones are no
    /// step of their own. The error names the nearest sides that can be cut.
    fn per_tile(self, axis: usize, side: usize, shared: usize, what: &str) -> Result<usize, String> {
        let (count, all) = (self.counts[axis], side - shared);
        if all >= count && all.is_multiple_of(count) {
            return Ok(all / count);
        }
        let below = all / count * count;
        let [low, high] = [below, below + count].map(|all| all + shared);
        let nearest = if below == 0 { format!("{high} is") } else { format!("{low} and {high} are") };
        Err(format!("for {count} tiles {what} must be a multiple of {count}; {nearest} possible"))
    }

    fn written(self) -> impl Iterator<Item = [usize; 2]> {
        let [columns, rows] = self.counts;
        let all = (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]));
        all.filter(move |tile| self.only.is_none_or(|only| only == *tile))
    }

    /// The path of a tile of the map at `path`.
    pub fn path(tiles: Option<Self>, path: &Path, tile: Option<[usize; 2]>) -> PathBuf {
        let (Some(tiles), Some([column, row])) = (tiles, tile) else {
            return path.to_path_buf();
        };
        let part = |part: Option<&OsStr>| part.map(OsStr::to_os_string).unwrap_or_default();
        let mut name: OsString = part(path.file_stem());
        let from_north_west = format!("_x{column}_y{row}");
        match tiles.naming {
            TileNaming::FromNorthWest => name.push(from_north_west),
            TileNaming::FromSouthWest => name.push(format!("_{column}_{}", tiles.counts[1].saturating_sub(row + 1))),
            TileNaming::Before(suffix) => match name.to_str().and_then(|stem| stem.strip_suffix(suffix)) {
                Some(stem) => name = format!("{stem}{from_north_west}{suffix}").into(),
                None => name.push(from_north_west),
            },
        }
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        path.with_file_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(counts: [usize; 2], only: Option<[usize; 2]>) -> Option<Tiles> {
        Some(Tiles { only, ..Tiles::new(counts) })
    }

    #[test]
    fn tiles_share_edge_samples_but_no_pixels() {
        let regions = |tiles: Result<Vec<TileRegion>, String>| -> Vec<Region> {
            tiles.expect("possible").into_iter().map(|tile| tile.region).collect()
        };
        let samples = regions(Tiles::of_samples(tiles([2, 1], None), [9, 5]));
        assert_eq!(samples, [Region { first: [0, 0], size: [5, 5] }, Region { first: [4, 0], size: [5, 5] }]);
        let pixels = regions(Tiles::of_pixels(tiles([1, 3], Some([0, 2])), [4, 12]));
        assert_eq!(pixels, [Region { first: [0, 8], size: [4, 4] }]);
        assert_eq!(regions(Tiles::of_samples(None, [3, 4])), [Region::full([3, 4])]);
        let side_by_side = tiles([2, 1], None).map(|tiles| Tiles { edges: TileEdges::SideBySide, ..tiles });
        let samples = regions(Tiles::of_samples(side_by_side, [10, 5]));
        assert_eq!(samples, [Region { first: [0, 0], size: [5, 5] }, Region { first: [5, 0], size: [5, 5] }]);
        assert!(Tiles::of_samples(side_by_side, [9, 5]).is_err());
    }

    #[test]
    fn impossible_sizes_are_refused_with_the_nearest_possible_one() {
        let refused = Tiles::of_samples(tiles([4, 1], None), [1023, 5]).expect_err("1022 = 4 · 255 + 2");
        assert!(refused.contains("1021 and 1025"), "{refused}");
        assert!(Tiles::of_pixels(tiles([8, 1], None), [5, 5]).expect_err("too few").ends_with("8 is possible"));
    }

    #[test]
    fn tiles_are_numbered_from_the_corner_of_the_target() {
        let tile = Some([2, 0]);
        let path = |naming| {
            let tiles = tiles([3, 2], None).map(|tiles| Tiles { naming, ..tiles });
            Tiles::path(tiles, Path::new("a/height.v2.png"), tile)
        };
        assert_eq!(path(TileNaming::FromNorthWest), Path::new("a/height.v2_x2_y0.png"));
        assert_eq!(path(TileNaming::FromSouthWest), Path::new("a/height.v2_2_1.png"));
        let gsi = |name| {
            let tiles = tiles([3, 2], None).map(|tiles| Tiles { naming: TileNaming::Before("_gsi"), ..tiles });
            Tiles::path(tiles, Path::new(name), tile)
        };
        assert_eq!(gsi("a/height_gsi.png"), Path::new("a/height_x2_y0_gsi.png"));
        assert_eq!(gsi("macro_color.png"), Path::new("macro_color_x2_y0.png"));
        assert_eq!(Tiles::path(None, Path::new("a.png"), None), Path::new("a.png"));
    }
}
