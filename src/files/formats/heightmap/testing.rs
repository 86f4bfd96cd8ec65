//! A small map for the tests of every format.

use std::io::Cursor;
use std::path::Path;

use super::layout::RawLayout;
use super::rows::Rows;
use super::write::write;
use crate::engine::heightfield::Extent;
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield, Progress};

/// A map that is wider than it is tall: 500 m in the north-west corner, rising south-eastward elsewhere.
pub(super) fn marked() -> Heightfield {
    let grid = Grid::new(Extent { width_m: 60.0, depth_m: 40.0 }, 7, 5);
    Heightfield::from_fn(grid, |c, r| if (c, r) == (0, 0) { 500.0 } else { c as f32 * 3.0 + r as f32 * 40.0 - 10.0 })
}

/// The bytes of a file with these heights.
pub(super) fn written(name: &str, terrain: &Heightfield, range_m: Band, raw: Option<RawLayout>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let rows = Rows::all(terrain);
    write(&mut bytes, Path::new(name), rows, range_m, raw.into(), &Progress::new()).expect("written");
    bytes.into_inner()
}
