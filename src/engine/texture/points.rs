//! Where a painting looks at the land, and how it reads maps of the land there.

use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::simd::refill;

/// Where the land is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Pixels that are areas: pixel (i, j) of width × height has its centre at ((i + ½)/width·Lx, (j + ½)/height·Lz).
    Pixels([usize; 2]),
    /// Some of such pixels.
    PixelRegion(PixelRegion),
    /// The heightfield's own samples, for engines that paint vertices.
    Samples,
}

/// Some of the pixels of a whole picture of the land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRegion {
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
            Self::Pixels(size) | Self::PixelRegion(PixelRegion { size, .. }) => size,
            Self::Samples => [grid.width(), grid.height()],
        }
    }

    /// How many points there are along the sides of the world, of which only a part may be looked at.
    pub(super) fn whole(self, grid: Grid) -> [usize; 2] {
        match self {
            Self::PixelRegion(PixelRegion { whole, .. }) => whole,
            Self::Pixels(_) | Self::Samples => self.size(grid),
        }
    }

    /// How all points of the whole picture lie, and which of them is the first one here, eastward and southward.
    pub(super) fn lattice(self, grid: Grid) -> (Lattice, [i64; 2]) {
        let whole = self.whole(grid);
        let (steps, phase, first) = match self {
            Self::Pixels(_) => (whole, 0.5, [0; 2]),
            Self::PixelRegion(PixelRegion { first, .. }) => (whole, 0.5, first),
            Self::Samples => (whole.map(|count| count - 1), 0.0, [0; 2]),
        };
        let sides_m = [grid.extent().width_m, grid.extent().depth_m];
        let pitch_m = std::array::from_fn(|axis| sides_m[axis] / steps[axis].max(1) as f64);
        (Lattice { pitch_m, phase }, first.map(|first| first as i64))
    }

    /// How far point `at` lies along an axis on which the world has the length `side`.
    pub(super) fn place(self, axis: usize, at: usize, side: f64, grid: Grid) -> f64 {
        let whole = self.whole(grid)[axis];
        match self {
            Self::Pixels(_) => (at as f64 + 0.5) / whole as f64 * side,
            Self::PixelRegion(PixelRegion { first, .. }) => ((first[axis] + at) as f64 + 0.5) / whole as f64 * side,
            Self::Samples => at as f64 / (whole - 1) as f64 * side,
        }
    }
}

/// How the points of a whole picture lie: point n of an axis is n and a phase times the pitch from the border of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lattice {
    /// From one point to the next, eastward and southward.
    pub(super) pitch_m: [f64; 2],
    /// Pixels have their centres in their middle, samples lie on the border.
    pub(super) phase: f64,
}

/// A row of points from west to east.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointRow<'a> {
    /// How far east each of them lies, and how far south all of them, in metres.
    pub(super) xs_m: &'a [f32],
    pub(super) z_m: f32,
    /// Which points of the lattice the first one is, eastward and southward.
    pub(super) first: [i64; 2],
}

/// The way over the land, row by row of points.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    pub(super) terrain: &'a Heightfield,
    pub(super) points: Points,
    pub(super) size: [usize; 2],
    /// For every column of points the sample to its west, and the way to the next one.
    columns: Vec<(u32, f32)>,
    /// The same as runs of columns whose samples follow one another, if there are few: where points are about as dense
    /// as samples, runs of them go through the vector lanes together.
    runs: Option<Vec<Run>>,
    /// How far east every column of points lies, in metres.
    xs_m: Vec<f32>,
    /// Which points of the lattice the first one is.
    first: [i64; 2],
}

/// Columns of points whose samples follow one another: the first sample, and the way from each to the next one.
#[derive(Clone, Debug)]
struct Run {
    first: usize,
    ways: Vec<f32>,
}

/// A run has to have so many columns to be worth the while.
const LEAST_RUN: usize = 32;

impl Run {
    fn of(columns: &[(u32, f32)]) -> Option<Vec<Self>> {
        let runs: Vec<Self> = columns
            .chunk_by(|(west, _), (east, _)| west + 1 == *east)
            .map(|run| Self { first: run[0].0 as usize, ways: run.iter().map(|(_, way)| *way).collect() })
            .collect();
        (runs.len() * LEAST_RUN <= columns.len()).then_some(runs)
    }
}

/// Lines of samples between two rows of a map, kept from one row of points to the next.
#[derive(Debug, Default)]
pub(super) struct Lines {
    values: Vec<f32>,
    slopes: Vec<f32>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(terrain: &'a Heightfield, points: Points) -> Self {
        let grid = terrain.grid();
        let size = points.size(grid);
        let column = |i| Self::between(grid, points, 0, i);
        let columns: Vec<(u32, f32)> = (0..size[0]).map(column).map(|(c, u)| (c as u32, u)).collect();
        Self {
            runs: Run::of(&columns),
            columns,
            terrain,
            points,
            size,
            first: points.lattice(grid).1,
            xs_m: (0..size[0]).map(|i| points.place(0, i, grid.extent().width_m, grid) as f32).collect(),
        }
    }

    /// Row `j` of the points.
    pub(super) fn row(&self, j: usize) -> PointRow<'_> {
        let grid = self.terrain.grid();
        let [east, south] = self.first;
        let z_m = self.points.place(1, j, grid.extent().depth_m, grid) as f32;
        PointRow { xs_m: &self.xs_m, z_m, first: [east, south + j as i64] }
    }

    /// Where a point lies between samples: the first sample and the way to the next.
    fn between(grid: Grid, points: Points, axis: usize, at: usize) -> (usize, f32) {
        let samples = [grid.width(), grid.height()][axis];
        let position = match points {
            Points::Pixels(_) | Points::PixelRegion(_) => points.place(axis, at, (samples - 1) as f64, grid),
            Points::Samples => at as f64,
        };
        let first = (position as usize).min(samples - 2);
        (first, (position - first as f64) as f32)
    }

    /// Row `j` of a map on the land's grid, between two rows of samples and then between samples.
    #[inline(always)]
    pub(super) fn read(&self, map: &Heightfield, j: usize, lines: &mut Lines, values: &mut Vec<f32>) {
        let (r, v) = Self::between(self.terrain.grid(), self.points, 1, j);
        mix(&mut lines.values, map.row(r), map.row(r + 1), v);
        self.read_line(&lines.values, values);
    }

    /// The gradients along row `j`, eastward and southward. Those of the samples are read as heights are, so that no
    /// facets show at any size.
    #[inline(always)]
    pub(super) fn read_gradients(&self, j: usize, lines: &mut Lines, [east, south]: [&mut Vec<f32>; 2]) {
        let grid = self.terrain.grid();
        let (r, v) = Self::between(grid, self.points, 1, j);
        let Lines { values, slopes } = lines;
        mix(values, self.terrain.row(r), self.terrain.row(r + 1), v);
        // The differences along what lies between two rows are what lies between their differences.
        differences(slopes, values, grid.spacing_x_m() as f32);
        self.read_line(slopes, east);
        let southward = |r: usize| {
            let (north, south) = (r.saturating_sub(1), (r + 1).min(grid.height() - 1));
            let per_m = 1.0 / ((south - north) as f32 * grid.spacing_z_m() as f32);
            self.terrain
                .row(north)
                .iter()
                .zip(self.terrain.row(south))
                .map(move |(north, south)| (south - north) * per_m)
        };
        refill(slopes, southward(r).zip(southward(r + 1)).map(|(north, south)| north + (south - north) * v));
        self.read_line(slopes, south);
    }

    #[inline(always)]
    fn read_line(&self, line: &[f32], values: &mut Vec<f32>) {
        match &self.runs {
            Some(runs) => {
                values.resize(self.columns.len(), 0.0);
                let mut rest = values.as_mut_slice();
                for Run { first, ways } in runs {
                    let (places, after) = std::mem::take(&mut rest).split_at_mut(ways.len());
                    let pairs = line[*first..].iter().zip(&line[first + 1..]);
                    for ((place, way), (west, east)) in places.iter_mut().zip(ways).zip(pairs) {
                        *place = west + (east - west) * way;
                    }
                    rest = after;
                }
            }
            None => refill(
                values,
                self.columns.iter().map(|&(c, u)| {
                    let pair = &line[c as usize..c as usize + 2];
                    pair[0] + (pair[1] - pair[0]) * u
                }),
            ),
        }
    }
}

/// What lies the share `v` of the way from one line to another.
#[inline(always)]
fn mix(mixed: &mut Vec<f32>, north: &[f32], south: &[f32], v: f32) {
    refill(mixed, north.iter().zip(south).map(|(north, south)| north + (south - north) * v));
}

/// Central differences along a line, one-sided at its ends.
#[inline(always)]
fn differences(slopes: &mut Vec<f32>, line: &[f32], spacing_m: f32) {
    let last = line.len() - 1;
    let per_m = 1.0 / (2.0 * spacing_m);
    slopes.resize(line.len(), 0.0);
    slopes[0] = (line[1] - line[0]) / spacing_m;
    for (slope, (west, east)) in slopes[1..].iter_mut().zip(line.iter().zip(&line[2..])) {
        *slope = (east - west) * per_m;
    }
    slopes[last] = (line[last] - line[last - 1]) / spacing_m;
}
