//! Reads heights, gradients and surface maps at rows of points.
//!
//! The terrain can be a part of the world's, if it has the [samples that the points need](PixelRegion::samples).

use super::points::{PointRow, Points};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::simd::refill;

/// Reads maps on the terrain's grid at points, one row at a time, by bilinear interpolation.
#[derive(Clone, Debug)]
pub(super) struct Sampler<'a> {
    pub(super) terrain: &'a Heightfield,
    pub(super) points: Points,
    pub(super) size: [usize; 2],
    /// For every column of points the sample to its west, and the fraction of the way to the next one.
    columns: Vec<(u32, f32)>,
    /// The same as runs of columns with consecutive samples, if there are few runs: if points are about as dense as
    /// samples, runs vectorize.
    runs: Option<Vec<Run>>,
    /// The distance of every column of points from the western border.
    xs_m: Vec<f32>,
    /// The lattice column and row of the first point.
    origin: [i64; 2],
}

/// Columns of points with consecutive samples: the first sample, and each point's fraction of the way to the next one.
#[derive(Clone, Debug)]
struct Run {
    first: usize,
    fractions: Vec<f32>,
}

/// The mean length of a run from which runs are faster than single columns.
const MIN_RUN: usize = 32;

impl Run {
    fn of(columns: &[(u32, f32)]) -> Option<Vec<Self>> {
        let runs: Vec<Self> = columns
            .chunk_by(|(west, _), (east, _)| west + 1 == *east)
            .map(|run| Self {
                first: run[0].0 as usize,
                fractions: run.iter().map(|(_, fraction)| *fraction).collect(),
            })
            .collect();
        (runs.len() * MIN_RUN <= columns.len()).then_some(runs)
    }
}

/// Buffers for a line between two rows of a map, reused from row to row.
#[derive(Debug, Default)]
pub(super) struct LineBuffers {
    values: Vec<f32>,
    slopes: Vec<f32>,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(terrain: &'a Heightfield, points: Points) -> Self {
        let grid = terrain.grid();
        let size = points.size(grid);
        let column = |i| Self::between(grid, points, 0, i);
        let columns: Vec<(u32, f32)> = (0..size[0]).map(column).map(|(c, u)| (c.to_u32(), u)).collect();
        Self {
            runs: Run::of(&columns),
            columns,
            terrain,
            points,
            size,
            origin: points.lattice(grid).1,
            xs_m: (0..size[0]).map(|i| points.position(0, i, grid.extent().width_m, grid).to_f32()).collect(),
        }
    }

    /// The positions of row `j` of the points.
    pub(super) fn row(&self, j: usize) -> PointRow<'_> {
        let grid = self.terrain.grid();
        let [east, south] = self.origin;
        let z_m = self.points.position(1, j, grid.extent().depth_m, grid).to_f32();
        PointRow { xs_m: &self.xs_m, z_m, origin: [east, south + j.to_i64()] }
    }

    /// The sample before a point along an axis, and the fraction of the way to the next one.
    fn between(grid: Grid, points: Points, axis: usize, index: usize) -> (usize, f32) {
        let (first, fraction) = points.between(grid.full(), axis, index);
        (first - grid.first()[axis], fraction)
    }

    /// Reads a map on the terrain's grid along row `j`.
    #[inline(always)]
    pub(super) fn read(&self, map: &Heightfield, j: usize, buffers: &mut LineBuffers, values: &mut Vec<f32>) {
        let (r, v) = Self::between(self.terrain.grid(), self.points, 1, j);
        lerp_rows(&mut buffers.values, map.row(r), map.row(r + 1), v);
        self.read_line(&buffers.values, values);
    }

    /// Reads the gradients along row `j`, eastward and southward. The gradients of the samples are interpolated like
    /// heights, so that facets are not visible at any size.
    #[inline(always)]
    pub(super) fn read_gradients(&self, j: usize, buffers: &mut LineBuffers, [east, south]: [&mut Vec<f32>; 2]) {
        let grid = self.terrain.grid();
        let (r, v) = Self::between(grid, self.points, 1, j);
        let LineBuffers { values, slopes } = buffers;
        lerp_rows(values, self.terrain.row(r), self.terrain.row(r + 1), v);
        // The differences of the interpolated row equal the interpolated differences.
        differences(slopes, values, grid.spacing_x_m().to_f32());
        self.read_line(slopes, east);
        let southward = |r: usize| {
            let (north, south) = (r.saturating_sub(1), (r + 1).min(grid.height() - 1));
            let per_m = 1.0 / ((south - north).to_f32() * grid.spacing_z_m().to_f32());
            let rows = self.terrain.row(north).iter().zip(self.terrain.row(south));
            rows.map(move |(north, south)| (south - north) * per_m)
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
                for Run { first, fractions } in runs {
                    let (part, after) = std::mem::take(&mut rest).split_at_mut(fractions.len());
                    let pairs = line[*first..].iter().zip(&line[first + 1..]);
                    for ((value, fraction), (west, east)) in part.iter_mut().zip(fractions).zip(pairs) {
                        *value = west + (east - west) * fraction;
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

/// Interpolates linearly between two rows.
#[inline(always)]
fn lerp_rows(values: &mut Vec<f32>, north: &[f32], south: &[f32], v: f32) {
    refill(values, north.iter().zip(south).map(|(north, south)| north + (south - north) * v));
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
