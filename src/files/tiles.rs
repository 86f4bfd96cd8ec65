//! Maps in tiles: columns and rows of files.
//!
//! Samples lie on the edges of tiles, so that neighbours share those between them; pixels are areas and belong to one
//! tile each.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A rectangle of the samples or pixels of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The north-western one.
    pub first: [usize; 2],
    /// How many there are from west to east and from north to south.
    pub size: [usize; 2],
}

impl Region {
    /// All of it.
    pub fn whole(size: [usize; 2]) -> Self {
        Self { first: [0; 2], size }
    }
}

/// How the files of tiles are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileNaming {
    /// `NAME_x1_y0.png`: counted from the north-western tile, eastward and southward.
    #[default]
    FromNorthWest,
    /// `NAME_1_0.png`: counted from the south-western tile, eastward and northward, as Unity has x and z.
    FromSouthWest,
    /// As from the north-western tile, but before this end of a name, by which the program knows what is in a file:
    /// `height_x1_y0_gsi.png` for `_gsi`.
    Before(&'static str),
}

/// Into which tiles maps are cut, and which of them are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Columns and rows.
    pub counts: [usize; 2],
    /// The only tile to write, its column and its row from the north-western one; `None`: all.
    pub only: Option<[usize; 2]>,
    /// How their files are told apart.
    pub names: TileNaming,
}

/// What of a map goes into a file: the tile, if the map is cut, and its part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRegion {
    /// Column and row; `None`: the map is one file.
    pub tile: Option<[usize; 2]>,
    /// The samples or pixels.
    pub cut: Region,
}

impl Tiles {
    /// The most tiles along a side.
    pub const MAX_PER_SIDE: usize = 64;

    /// The parts of a map of samples, which share their edges; in words, why there are none.
    pub fn of_samples(tiles: Option<Self>, size: [usize; 2]) -> Result<Vec<TileRegion>, String> {
        let Some(tiles) = tiles else {
            return Ok(vec![TileRegion { tile: None, cut: Region::whole(size) }]);
        };
        let [steps_x, steps_z] =
            [0, 1].map(|axis| tiles.share(axis, size[axis] - 1, "the samples along a side, less one,"));
        let steps = [steps_x?, steps_z?];
        let cut = |tile: [usize; 2]| Region {
            first: [0, 1].map(|axis| tile[axis] * steps[axis]),
            size: steps.map(|steps| steps + 1),
        };
        Ok(tiles.written().map(|tile| TileRegion { tile: Some(tile), cut: cut(tile) }).collect())
    }

    /// The parts of a map of pixels, which lie side by side; in words, why there are none.
    pub fn of_pixels(tiles: Option<Self>, size: [usize; 2]) -> Result<Vec<TileRegion>, String> {
        let Some(tiles) = tiles else {
            return Ok(vec![TileRegion { tile: None, cut: Region::whole(size) }]);
        };
        let [width, height] = [0, 1].map(|axis| tiles.share(axis, size[axis], "the pixels along a side"));
        let size = [width?, height?];
        let cut = |tile: [usize; 2]| Region { first: [0, 1].map(|axis| tile[axis] * size[axis]), size };
        Ok(tiles.written().map(|tile| TileRegion { tile: Some(tile), cut: cut(tile) }).collect())
    }

    /// How much of so many a tile gets along an axis.
    fn share(self, axis: usize, all: usize, what: &str) -> Result<usize, String> {
        let count = self.counts[axis];
        if all >= count && all.is_multiple_of(count) {
            return Ok(all / count);
        }
        let below = all / count * count;
        let nearest = if below == 0 { count.to_string() } else { format!("{below} or {}", below + count) };
        Err(format!("for {count} tiles {what} must be a multiple of {count}; the nearest is {nearest}"))
    }

    fn written(self) -> impl Iterator<Item = [usize; 2]> {
        let [columns, rows] = self.counts;
        let all = (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]));
        all.filter(move |tile| self.only.is_none_or(|only| only == *tile))
    }

    /// The file of a tile of a map.
    pub fn path(tiles: Option<Self>, path: &Path, tile: Option<[usize; 2]>) -> PathBuf {
        let (Some(tiles), Some([column, row])) = (tiles, tile) else {
            return path.to_path_buf();
        };
        let part = |part: Option<&OsStr>| part.map(OsStr::to_os_string).unwrap_or_default();
        let mut name: OsString = part(path.file_stem());
        let from_north_west = format!("_x{column}_y{row}");
        match tiles.names {
            TileNaming::FromNorthWest => name.push(from_north_west),
            TileNaming::FromSouthWest => name.push(format!("_{column}_{}", tiles.counts[1].saturating_sub(row + 1))),
            TileNaming::Before(end) => match name.to_str().and_then(|stem| stem.strip_suffix(end)) {
                Some(stem) => name = format!("{stem}{from_north_west}{end}").into(),
                None => name.push(from_north_west),
            },
        }
        if let Some(ending) = path.extension() {
            name.push(".");
            name.push(ending);
        }
        path.with_file_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(counts: [usize; 2], only: Option<[usize; 2]>) -> Option<Tiles> {
        Some(Tiles { counts, only, names: TileNaming::FromNorthWest })
    }

    #[test]
    fn samples_share_their_edges_and_pixels_do_not() {
        let cuts = |pieces: Result<Vec<TileRegion>, String>| -> Vec<Region> {
            pieces.expect("possible").into_iter().map(|piece| piece.cut).collect()
        };
        let samples = cuts(Tiles::of_samples(tiles([2, 1], None), [9, 5]));
        assert_eq!(samples, [Region { first: [0, 0], size: [5, 5] }, Region { first: [4, 0], size: [5, 5] }]);
        let pixels = cuts(Tiles::of_pixels(tiles([1, 3], Some([0, 2])), [4, 12]));
        assert_eq!(pixels, [Region { first: [0, 8], size: [4, 4] }]);
        assert_eq!(cuts(Tiles::of_samples(None, [3, 4])), [Region::whole([3, 4])]);
    }

    #[test]
    fn what_cannot_be_cut_is_said_with_the_nearest_that_can() {
        let refused = Tiles::of_samples(tiles([4, 1], None), [1023, 5]).expect_err("1022 = 4 · 255 + 2");
        assert!(refused.contains("1020 or 1024"), "{refused}");
        assert!(Tiles::of_pixels(tiles([8, 1], None), [5, 5]).expect_err("too few").ends_with("nearest is 8"));
    }

    #[test]
    fn tiles_are_named_from_their_corner() {
        let tile = Some([2, 0]);
        let path = |names| {
            let tiles = tiles([3, 2], None).map(|tiles| Tiles { names, ..tiles });
            Tiles::path(tiles, Path::new("a/height.v2.png"), tile)
        };
        assert_eq!(path(TileNaming::FromNorthWest), Path::new("a/height.v2_x2_y0.png"));
        assert_eq!(path(TileNaming::FromSouthWest), Path::new("a/height.v2_2_1.png"));
        let gsi = |name| {
            let tiles = tiles([3, 2], None).map(|tiles| Tiles { names: TileNaming::Before("_gsi"), ..tiles });
            Tiles::path(tiles, Path::new(name), tile)
        };
        assert_eq!(gsi("a/height_gsi.png"), Path::new("a/height_x2_y0_gsi.png"));
        assert_eq!(gsi("macro_color.png"), Path::new("macro_color_x2_y0.png"));
        assert_eq!(Tiles::path(None, Path::new("a.png"), None), Path::new("a.png"));
    }
}
