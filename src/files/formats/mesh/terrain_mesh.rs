//! A triangulated terrain, and the writers that meshes are written to.

use std::io::{self, Seek, Write};

use super::triangulation::Triangulation;
use crate::engine::Heightfield;
use crate::engine::cast::ToFloat;

/// A terrain and its triangulation.
pub(crate) struct Mesh<'a> {
    pub heights: &'a Heightfield,
    pub triangulation: Triangulation,
}

impl Mesh<'_> {
    /// The position of a sample as fractions of the extent, eastward and southward.
    pub(super) fn fractions(&self, [column, row]: [u32; 2]) -> [f64; 2] {
        let grid = self.heights.grid();
        [f64::from(column) / (grid.width() - 1).to_f64(), f64::from(row) / (grid.height() - 1).to_f64()]
    }

    /// The position of a sample: east of the centre, up, south of the centre.
    pub(super) fn position_m(&self, sample: [u32; 2]) -> [f32; 3] {
        let extent = self.heights.grid().extent();
        let [east, south] = self.fractions(sample);
        let height = self.heights[(sample[0] as usize, sample[1] as usize)];
        [((east - 0.5) * extent.width_m).to_f32(), height, ((south - 0.5) * extent.depth_m).to_f32()]
    }

    /// The unit normal at a sample. It follows the slope of the heights, however coarse the triangulation is.
    pub(super) fn normal(&self, [column, row]: [u32; 2]) -> [f32; 3] {
        let [east, south] = self.heights.gradient(column as usize, row as usize);
        let length = (east * east + 1.0 + south * south).sqrt();
        [-east / length, 1.0 / length, -south / length]
    }
}

/// A writer that can seek.
pub(crate) trait WriteSeek: Write + Seek {}

impl<W: Write + Seek> WriteSeek for W {}

/// Writes a file, or a part of one.
pub(crate) type WriteInto<'a> = &'a dyn Fn(&mut dyn WriteSeek) -> io::Result<()>;
