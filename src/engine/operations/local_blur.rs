//! A Gaussian blur of a part of a map, in double precision.

use std::ops::Range;

use rayon::prelude::*;

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Grid;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// The kernel is cut off at this many standard deviations.
const CUTOFF: f64 = 4.0;
/// The largest standard deviation in sides of the map, as in [`super::gaussian_blur`].
const MAX_SIDES: f64 = 8.0;
/// A smaller standard deviation, in cells, leaves the terrain unchanged: its kernel is too coarse a sample of the curve.
const MIN_CELLS: f64 = 0.3;
/// Samples summed between two checks for cancellation.
const TAPS_AT_ONCE: usize = 128;

/// A normalised Gaussian kernel sampled along an axis; the border continues beyond the map.
#[derive(Debug)]
struct Kernel {
    /// The weights of the samples 1, 2, … to either side. The sample itself has the remainder to 1.
    weights: Vec<f64>,
    /// The total weight to either side of the samples farther away than the axis is long.
    beyond: f64,
}

impl Kernel {
    fn new(sigma_m: f64, spacing_m: f64, count: usize) -> Self {
        let sigma = (sigma_m / spacing_m).min(MAX_SIDES * count.to_f64());
        let taps = if sigma < MIN_CELLS { 0 } else { (CUTOFF * sigma).to_usize() };
        let weight = |n: usize| libm::exp(-0.5 * (n.to_f64() / sigma) * (n.to_f64() / sigma));
        let near = taps.min(count - 1);
        let weights: Vec<f64> = (1..=near).map(weight).collect();
        let beyond: f64 = (near + 1..=taps).map(weight).sum();
        let total = 1.0 + 2.0 * (weights.iter().sum::<f64>() + beyond);
        Self { weights: weights.into_iter().map(|weight| weight / total).collect(), beyond: beyond / total }
    }

    /// Adds the weighted differences of the neighbours to `sums`, which begin as the samples themselves, so that level
    /// terrain stays bit-identical. `neighbours(n)` has the samples n before and n after each of them, `ends` the first
    /// and the last of the axis.
    fn add_neighbours<'a>(
        &self,
        samples: &[f64],
        sums: &mut [f64],
        ends: [&dyn Fn(usize) -> f64; 2],
        neighbours: impl Fn(usize) -> [&'a [f64]; 2],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        if self.beyond > 0.0 {
            for (i, (sum, x)) in sums.iter_mut().zip(samples).enumerate() {
                *sum += self.beyond * ((ends[0](i) - x) + (ends[1](i) - x));
            }
        }
        for (n, weight) in self.weights.iter().enumerate() {
            let [before, after] = neighbours(n + 1);
            simd(
                #[inline(always)]
                || {
                    for (((sum, x), before), after) in sums.iter_mut().zip(samples).zip(before).zip(after) {
                        *sum += weight * ((before - x) + (after - x));
                    }
                },
            );
            if n % TAPS_AT_ONCE == 0 {
                progress.check()?;
            }
        }
        Ok(())
    }
}

/// A rectangle of a map, blurred along the rows, from which blurred rows can be computed.
#[derive(Debug)]
pub(super) struct LocalBlur {
    along_z: Kernel,
    columns: Range<usize>,
    /// The first row of the map in `heights`.
    first_row: usize,
    map_rows: usize,
    /// Heights blurred along the rows, for the columns of the rectangle, and for its rows and those near them.
    heights: Vec<f64>,
}

impl LocalBlur {
    /// Prepares the blur of the given columns and rows of a map of heights; `None` if the standard deviation is too
    /// small to change anything.
    pub(super) fn new(
        sigma_m: f64,
        (grid, map): (Grid, &[f64]),
        columns: Range<usize>,
        rows: &Range<usize>,
        progress: &Progress,
    ) -> Result<Option<Self>, Cancelled> {
        let along_x = Kernel::new(sigma_m, grid.spacing_x_m(), grid.width());
        let along_z = Kernel::new(sigma_m, grid.spacing_z_m(), grid.height());
        if columns.is_empty() || along_x.weights.is_empty() && along_z.weights.is_empty() {
            return Ok(None);
        }
        let near = along_z.weights.len();
        let first_row = rows.start.saturating_sub(near);
        let end_row = (rows.end + near).min(grid.height());
        let mut heights = vec![0.0; (end_row - first_row) * columns.len()];
        heights.par_chunks_mut(columns.len()).enumerate().try_for_each_init(Vec::new, |padded, (i, blurred)| {
            let row = &map[(first_row + i) * grid.width()..][..grid.width()];
            blur_row(&along_x, row, columns.clone(), padded, blurred, progress)
        })?;
        Ok(Some(Self { along_z, columns, first_row, map_rows: grid.height(), heights }))
    }

    /// The blurred heights of row `r` in the given columns of the map, which must be within the rectangle.
    pub(super) fn row(
        &self,
        r: usize,
        columns: &Range<usize>,
        blurred: &mut Vec<f64>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let within = |r: usize| {
            let start = (r - self.first_row) * self.columns.len() + columns.start - self.columns.start;
            &self.heights[start..start + columns.len()]
        };
        blurred.clear();
        blurred.extend_from_slice(within(r));
        let last = self.map_rows - 1;
        let ends: [&dyn Fn(usize) -> f64; 2] = [&|i| within(0)[i], &|i| within(last)[i]];
        let neighbours = |n: usize| [within(r.saturating_sub(n)), within((r + n).min(last))];
        self.along_z.add_neighbours(within(r), blurred, ends, neighbours, progress)
    }
}

/// Blurs some columns of a row.
fn blur_row(
    kernel: &Kernel,
    row: &[f64],
    columns: Range<usize>,
    padded: &mut Vec<f64>,
    blurred: &mut [f64],
    progress: &Progress,
) -> Result<(), Cancelled> {
    let (near, count, last) = (kernel.weights.len(), columns.len(), row.len() - 1);
    padded.clear();
    padded.extend((0..count + 2 * near).map(|i| row[(columns.start + i).saturating_sub(near).min(last)]));
    let samples = &row[columns];
    blurred.copy_from_slice(samples);
    let ends: [&dyn Fn(usize) -> f64; 2] = [&|_| row[0], &|_| row[last]];
    let neighbours = |n: usize| [&padded[near - n..][..count], &padded[near + n..][..count]];
    kernel.add_neighbours(samples, blurred, ends, neighbours, progress)
}

#[cfg(test)]
mod tests {
    use super::super::gaussian_blur::GaussianBlur;
    use super::super::testing::{modified, rectangular_grid, rough_terrain};
    use super::*;

    #[test]
    fn parts_are_those_of_the_blurred_map() {
        let grid = rectangular_grid(53, 31);
        let terrain = rough_terrain(grid);
        let map: Vec<f64> = terrain.heights().iter().map(|height| f64::from(*height)).collect();
        let progress = Progress::new();
        for sigma_m in [0.7, 4.0, 11.0, 300.0] {
            let expected = modified(&GaussianBlur { radius_m: sigma_m, passes: 1 }, &terrain);
            for (columns, rows) in [(0..53, 0..31), (10..20, 5..9), (0..3, 29..31), (52..53, 0..1)] {
                let blur = LocalBlur::new(sigma_m, (grid, &map), columns.clone(), &rows, &progress);
                let blur = blur.expect("not cancelled").expect("an effect");
                let mut found = Vec::new();
                for r in rows {
                    let columns = columns.start..columns.end.min(columns.start + 7);
                    blur.row(r, &columns, &mut found, &progress).expect("not cancelled");
                    assert_eq!(found.len(), columns.len());
                    for (c, found) in columns.zip(&found) {
                        let expected = f64::from(expected[(c, r)]);
                        assert!((found - expected).abs() < 2e-3, "{sigma_m}, {c}, {r}: {found}, not {expected}");
                    }
                }
            }
        }
        let fine = LocalBlur::new(0.59, (grid, &map), 0..53, &(0..31), &progress).expect("not cancelled");
        assert!(fine.is_none(), "less than 0.3 cells");
    }
}
