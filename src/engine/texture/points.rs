//! The points at which a terrain is painted: pixels of a texture, or the heightfield's samples.

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, GridPart};

/// The points at which a terrain is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Pixels that are areas: pixel (i, j) of width × height has its centre at ((i + ½)/width·Lx, (j + ½)/height·Lz).
    Pixels([usize; 2]),
    /// A rectangle of such pixels.
    PixelRegion(PixelRegion),
    /// The heightfield's own samples, for engines that paint vertices.
    Samples,
}

/// A rectangle of the pixels of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRegion {
    /// Width and height of the full texture, pixels.
    pub full_size: [usize; 2],
    /// Column and row of the region's north-western pixel.
    pub origin: [usize; 2],
    /// Width and height of the region, pixels.
    pub size: [usize; 2],
}

impl Points {
    /// The number of points from west to east and from north to south.
    pub fn size(self, grid: Grid) -> [usize; 2] {
        match self {
            Self::Pixels(size) | Self::PixelRegion(PixelRegion { size, .. }) => size,
            Self::Samples => [grid.width(), grid.height()],
        }
    }

    /// The number of points along both sides of the world, of which a region is only a part.
    pub(super) fn full_size(self, grid: Grid) -> [usize; 2] {
        match self {
            Self::PixelRegion(PixelRegion { full_size, .. }) => full_size,
            Self::Pixels(_) | Self::Samples => self.size(grid),
        }
    }

    /// The lattice of all points of the full texture, and the column and row of the first point used.
    pub(super) fn lattice(self, grid: Grid) -> (Lattice, [i64; 2]) {
        let full_size = self.full_size(grid);
        let (steps, phase, origin) = match self {
            Self::Pixels(_) => (full_size, 0.5, [0; 2]),
            Self::PixelRegion(PixelRegion { origin, .. }) => (full_size, 0.5, origin),
            Self::Samples => (full_size.map(|count| count - 1), 0.0, [0; 2]),
        };
        let sides_m = [grid.extent().width_m, grid.extent().depth_m];
        let pitch_m = std::array::from_fn(|axis| sides_m[axis] / steps[axis].max(1).to_f64());
        (Lattice { pitch_m, phase }, origin.map(|origin| origin.to_i64()))
    }

    /// The sample of a full grid before the point at `index` along an axis, and the fraction of the way to the next one.
    pub(super) fn between(self, grid: Grid, axis: usize, index: usize) -> (usize, f32) {
        let samples = [grid.width(), grid.height()][axis];
        let position = match self {
            Self::Pixels(_) | Self::PixelRegion(_) => self.position(axis, index, (samples - 1).to_f64(), grid),
            Self::Samples => index.to_f64(),
        };
        let first = position.to_usize().min(samples - 2);
        (first, (position - first.to_f64()).to_f32())
    }

    /// The position of the point at `index` along an axis on which the world has the length `side`.
    pub(super) fn position(self, axis: usize, index: usize, side: f64, grid: Grid) -> f64 {
        let count = self.full_size(grid)[axis];
        match self {
            Self::Pixels(_) => (index.to_f64() + 0.5) / count.to_f64() * side,
            Self::PixelRegion(PixelRegion { origin, .. }) => {
                ((origin[axis] + index).to_f64() + 0.5) / count.to_f64() * side
            }
            Self::Samples => index.to_f64() / (count - 1).to_f64() * side,
        }
    }
}

impl PixelRegion {
    /// The samples of a full grid on which the heights and the gradients at the centres of the pixels depend: those around
    /// them, and the neighbours of these.
    pub fn samples(self, grid: Grid) -> GridPart {
        let before = |axis: usize, index: usize| Points::PixelRegion(self).between(grid, axis, index).0;
        let first: [usize; 2] = std::array::from_fn(|axis| before(axis, 0));
        let size = std::array::from_fn(|axis| before(axis, self.size[axis].saturating_sub(1)) + 2 - first[axis]);
        GridPart { first, size }.grown(1, grid)
    }
}

/// The spacing of the points of a full texture: point n of an axis is (n + phase) · pitch from the border of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lattice {
    /// The distance between neighbouring points, eastward and southward.
    pub(super) pitch_m: [f64; 2],
    /// 0.5 for the centres of pixels, 0 for samples, the first of which is on the border.
    pub(super) phase: f64,
}

/// A row of points from west to east.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointRow<'a> {
    /// The distance of each point from the western border.
    pub(super) xs_m: &'a [f32],
    /// The distance of the row from the northern border.
    pub(super) z_m: f32,
    /// The lattice column and row of the first point.
    pub(super) origin: [i64; 2],
}
