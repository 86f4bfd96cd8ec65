//! Where a painting looks at the land, and how it reads maps of the land there.

use crate::engine::heightfield::{Grid, Heightfield};

/// Where the land is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Pixels that are areas: pixel (i, j) of width × height has its centre at ((i + ½)/width·Lx, (j + ½)/height·Lz).
    Pixels([usize; 2]),
    /// Some of such pixels.
    Part(Part),
    /// The heightfield's own samples, for engines that paint vertices.
    Samples,
}

/// Some of the pixels of a whole picture of the land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The pixels of the whole picture.
    pub whole: [usize; 2],
    /// The north-western pixel of the part.
    pub first: [usize; 2],
    /// The pixels of the part.
    pub size: [usize; 2],
}

impl Points {
    /// Points from west to east and from north to south.
    pub fn size(self, grid: Grid) -> [usize; 2] {
        match self {
            Self::Pixels(size) | Self::Part(Part { size, .. }) => size,
            Self::Samples => [grid.width(), grid.height()],
        }
    }

    /// How many points there are along the sides of the world, of which only a part may be looked at.
    pub(super) fn whole(self, grid: Grid) -> [usize; 2] {
        match self {
            Self::Part(Part { whole, .. }) => whole,
            Self::Pixels(_) | Self::Samples => self.size(grid),
        }
    }

    /// How far point `at` lies along an axis on which the world has the length `side`.
    pub(super) fn place(self, axis: usize, at: usize, side: f64, grid: Grid) -> f64 {
        let whole = self.whole(grid)[axis];
        match self {
            Self::Pixels(_) => (at as f64 + 0.5) / whole as f64 * side,
            Self::Part(Part { first, .. }) => ((first[axis] + at) as f64 + 0.5) / whole as f64 * side,
            Self::Samples => at as f64 / (whole - 1) as f64 * side,
        }
    }
}

/// The way over the land, row by row of points.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    pub(super) land: &'a Heightfield,
    pub(super) points: Points,
    pub(super) size: [usize; 2],
    /// For every column of points the sample to its west, and the way to the next one.
    columns: Vec<(usize, f32)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(land: &'a Heightfield, points: Points) -> Self {
        let size = points.size(land.grid());
        let columns = (0..size[0]).map(|i| Self::between(land.grid(), points, 0, i)).collect();
        Self { land, points, size, columns }
    }

    /// Where a point lies between samples: the first sample and the way to the next.
    fn between(grid: Grid, points: Points, axis: usize, at: usize) -> (usize, f32) {
        let samples = [grid.width(), grid.height()][axis];
        let position = match points {
            Points::Pixels(_) | Points::Part(_) => points.place(axis, at, (samples - 1) as f64, grid),
            Points::Samples => at as f64,
        };
        let first = (position as usize).min(samples - 2);
        (first, (position - first as f64) as f32)
    }

    /// Row `j` of a map on the land's grid, between two rows of samples and then between samples.
    pub(super) fn read(&self, map: &Heightfield, j: usize, line: &mut Vec<f32>, values: &mut Vec<f32>) {
        let (r, v) = Self::between(self.land.grid(), self.points, 1, j);
        let rows = map.row(r).iter().zip(map.row(r + 1));
        line.clear();
        line.extend(rows.map(|(north, south)| north + (south - north) * v));
        self.read_line(line, values);
    }

    /// The gradients along row `j`, eastward and southward. Those of the samples are read as heights are, so that no
    /// facets show at any size.
    pub(super) fn read_gradients(&self, j: usize, line: &mut Vec<f32>, [east, south]: [&mut Vec<f32>; 2]) {
        let (r, v) = Self::between(self.land.grid(), self.points, 1, j);
        for (axis, values) in [east, south].into_iter().enumerate() {
            line.clear();
            line.extend((0..self.land.grid().width()).map(|c| {
                let (north, south) = (self.land.gradient(c, r)[axis], self.land.gradient(c, r + 1)[axis]);
                north + (south - north) * v
            }));
            self.read_line(line, values);
        }
    }

    fn read_line(&self, line: &[f32], values: &mut Vec<f32>) {
        values.clear();
        values.extend(self.columns.iter().map(|&(c, u)| line[c] + (line[c + 1] - line[c]) * u));
    }
}
