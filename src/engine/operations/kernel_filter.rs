//! A convolution with a 3 × 3 or 5 × 5 kernel.
//!
//! After the Lighthouse3D terrain tutorial, "Matrix filters". Strictly a correlation, with the kernel laid out as on
//! the map, north on top: y(x, z) = Σ kᵢⱼ·h(x + (j − m)·Δr, z + (i − m)·Δr), with the middle m and the reference
//! spacing Δr. The border sample continues beyond the border.
//!
//! The kernel's numbers are Δr metres apart along both axes at every resolution. Between samples the height is
//! interpolated bilinearly. A grid that contains the reference grid reads exactly the reference grid's samples, so that
//! both agree bit for bit. A map with fewer samples than the reference grid, which would lack the detail between its
//! samples, is filtered on a finer grid (of up to 1025 samples per side).

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use super::recursive_filter::filter_grid;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield, MAX_HEIGHT_M};
use crate::parameters::{Matrix, Spec, parameters};
use crate::progress::Cancelled;

parameters! {
    /// Convolves the terrain with a small kernel that smooths, sharpens, embosses or detects edges, depending on its
    /// numbers.
    pub struct KernelFilter {
        /// Weights of the heights around a point, north on top. Equal numbers smooth; a large number surrounded by
        /// negative ones sharpens.
        kernel: Matrix = Matrix::three([[0.0, -1.0, 0.0], [-1.0, 6.0, -1.0], [0.0, -1.0, 0.0]]),
            Spec::number("Kernel", -1000.0, 1000.0).slider(-10.0, 10.0);
        /// Divides the numbers by their sum, so that the terrain keeps its height. Numbers that add up to zero are used
        /// unchanged.
        normalise: bool = true, Spec::new("Normalise");
        /// The resolution for which the kernel is meant, in samples along the longer side: its numbers are as far apart
        /// as the samples, whatever the resolution of the map. Higher values affect finer features.
        reference_samples: u32 = 257,
            Spec::number("Reference resolution", 2.0, 65_537.0).slider(65.0, 4097.0).logarithmic().fixed();
        /// How many times the filter is applied.
        passes: u32 = 2, Spec::number("Passes", 0.0, 10_000.0).slider(0.0, 20.0);
    }
}

/// A sum below this fraction of the sum of absolute values counts as zero: it is only rounding.
const MIN_SUM: f64 = 1e-9;

/// A position between two samples of an axis; `part` is the fraction of the way to the second.
#[derive(Clone, Copy, Debug)]
struct Between {
    near: usize,
    far: usize,
    part: f64,
}

impl Between {
    /// The position `offset` samples from sample `i` of `count`, clamped to the border.
    fn new(i: usize, offset: f64, count: usize) -> Self {
        let position = (i.to_f64() + offset).clamp(0.0, (count - 1).to_f64());
        let near = position.to_usize();
        Self { near, far: (near + 1).min(count - 1), part: position - near.to_f64() }
    }
}

/// The buffers of a thread.
#[derive(Debug, Default)]
struct Workspace {
    /// The heights under each row of the kernel.
    under: Vec<Vec<f64>>,
    /// The sum over a column of the kernel, before the offset to its position.
    column: Vec<f64>,
    sums: Vec<f64>,
}

/// A kernel prepared for one grid.
#[derive(Debug)]
struct Kernel {
    /// Row by row, from north to south.
    rows: Vec<Vec<f64>>,
    /// For each column of the kernel, where each column of the map reads its height.
    across: Vec<Vec<Between>>,
    /// The distance between rows of the kernel, in samples.
    lag_z: f64,
}

impl Kernel {
    fn new(filter: &KernelFilter, grid: Grid) -> Self {
        let numbers = || filter.kernel.rows().flatten();
        let (sum, absolute_sum): (f64, f64) = (numbers().sum(), numbers().map(|number| number.abs()).sum());
        let divisor = if filter.normalise && sum.abs() > MIN_SUM * absolute_sum { sum } else { 1.0 };
        let extent = grid.extent();
        let longer_m = extent.width_m.max(extent.depth_m);
        let lag = |side_m: f64, count: usize| {
            longer_m / side_m * ((count - 1).to_f64() / (f64::from(filter.reference_samples) - 1.0))
        };
        let lag_x = lag(extent.width_m, grid.width());
        let column = |j: usize| {
            let offset = from_middle(j, filter.kernel.side()) * lag_x;
            (0..grid.width()).map(|c| Between::new(c, offset, grid.width())).collect()
        };
        Self {
            rows: filter.kernel.rows().map(|row| row.iter().map(|number| number / divisor).collect()).collect(),
            across: (0..filter.kernel.side()).map(column).collect(),
            lag_z: lag(extent.depth_m, grid.height()),
        }
    }

    /// Filters row `r` of the heights into `row`.
    fn filter_row(&self, heights: &[f32], r: usize, row: &mut [f32], space: &mut Workspace) {
        let (width, side) = (row.len(), self.rows.len());
        let Workspace { under, column, sums } = space;
        under.resize_with(side, Vec::new);
        for (i, under) in under.iter_mut().enumerate() {
            let Between { near, far, part } = Between::new(r, from_middle(i, side) * self.lag_z, heights.len() / width);
            let (near, far) = (&heights[near * width..][..width], &heights[far * width..][..width]);
            let between = |(near, far): (&f32, &f32)| f64::from(*near) + part * (f64::from(*far) - f64::from(*near));
            under.clear();
            under.extend(near.iter().zip(far).map(between));
        }
        sums.clear();
        sums.resize(width, 0.0);
        for (j, across) in self.across.iter().enumerate() {
            column.clear();
            column.resize(width, 0.0);
            for (numbers, under) in self.rows.iter().zip(&*under) {
                let number = numbers[j];
                if number != 0.0 {
                    column.iter_mut().zip(under).for_each(|(sum, height)| *sum += number * height);
                }
            }
            for (sum, Between { near, far, part }) in sums.iter_mut().zip(across) {
                *sum += column[*near] + part * (column[*far] - column[*near]);
            }
        }
        row.iter_mut()
            .zip(&*sums)
            .for_each(|(height, sum)| *height = (*sum).to_f32().clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M));
    }
}

/// The offset of row or column `i` of the kernel from the middle.
fn from_middle(i: usize, side: usize) -> f64 {
    i.to_f64() - (side / 2).to_f64()
}

impl Operation for KernelFilter {
    const KEY: &'static str = "kernel_filter";
    const LABEL: &'static str = "Convolution";
    const WORDS: &'static str = "kernel filter matrix sharpen emboss";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        filter_grid(grid, self.reference_samples)
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        grid
    }

    /// More than one pass needs two buffers besides the terrain below.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        if self.passes > 1 { 3.0 } else { 2.0 }
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let kernel = Kernel::new(self, context.grid);
        let (width, height) = (context.grid.width(), context.grid.height());
        let counter = context.progress.counter(self.passes as usize * height);
        let pass = |before: &Heightfield, terrain: &mut Heightfield| {
            let rows = terrain.heights_mut().par_chunks_mut(width).enumerate();
            rows.try_for_each_init(Workspace::default, |space, (r, row)| {
                kernel.filter_row(before.heights(), r, row, space);
                counter.add_one()
            })
        };
        let Some(below) = context.below.filter(|_| self.passes > 0) else { return context.heights_below() };
        let mut terrain = Heightfield::flat(context.grid);
        pass(below, &mut terrain)?;
        if self.passes > 1 {
            let mut before = Heightfield::flat(context.grid);
            for _ in 1..self.passes {
                std::mem::swap(&mut terrain, &mut before);
                pass(&before, &mut terrain)?;
            }
        }
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{modified, rough_terrain};
    use super::*;
    use crate::heightfield::Extent;

    /// A filter whose numbers are one sample apart on a map of that side.
    fn filter(kernel: Matrix, side: usize) -> KernelFilter {
        KernelFilter { kernel, normalise: false, reference_samples: side as u32, passes: 1 }
    }

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: 960.0, depth_m: 960.0 }, side, side)
    }

    /// A kernel with 1 at the given position and 0 elsewhere.
    fn one_at(column: usize, row: usize) -> Matrix {
        let mut rows = [[0.0; 3]; 3];
        rows[row][column] = 1.0;
        Matrix::three(rows)
    }

    fn binomial() -> Matrix {
        Matrix::three([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]])
    }

    fn sharpen() -> Matrix {
        Matrix::three([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]])
    }

    #[test]
    fn a_single_one_copies_that_neighbour() {
        let terrain = rough_terrain(grid(17));
        assert_eq!(modified(&filter(one_at(1, 1), 17), &terrain), terrain);
        for (column, row) in [(1, 0), (0, 1), (2, 1), (1, 2), (0, 0), (2, 0)] {
            let near = |i: usize, number: usize| (i + number).saturating_sub(1).min(16);
            let expected = Heightfield::from_fn(grid(17), |c, r| terrain[(near(c, column), near(r, row))]);
            assert_eq!(modified(&filter(one_at(column, row), 17), &terrain), expected, "column {column}, row {row}");
        }
    }

    #[test]
    fn a_peak_becomes_the_binomial_kernel() {
        let peak = Heightfield::from_fn(grid(9), |c, r| 16.0 * f32::from(u8::from((c, r) == (4, 3))));
        let found = modified(&KernelFilter { normalise: true, ..filter(binomial(), 9) }, &peak);
        assert_eq!(found.row(2), [0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.row(3), [0.0, 0.0, 0.0, 2.0, 4.0, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.row(5), [0.0; 9]);
    }

    #[test]
    fn a_5_by_5_kernel_is_the_plain_sum() {
        let kernel =
            std::array::from_fn(|i| std::array::from_fn(|j| ((i * 37 + j * 101 + i * j * 7) % 19) as f64 - 7.5));
        let sum: f64 = kernel.iter().flatten().sum();
        let terrain = rough_terrain(grid(13));
        for (normalise, divisor) in [(false, 1.0), (true, sum)] {
            let found = modified(&KernelFilter { normalise, ..filter(Matrix::five(kernel), 13) }, &terrain);
            for (c, r) in (0..13 * 13).map(|at| (at % 13, at / 13)) {
                let near = |i: usize, number: usize| (i + number).saturating_sub(2).min(12);
                let numbers = (0..25).map(|at| (at % 5, at / 5));
                let plain: f64 =
                    numbers.map(|(j, i)| kernel[i][j] / divisor * f64::from(terrain[(near(c, j), near(r, i))])).sum();
                let found = f64::from(found[(c, r)]);
                assert!((found - plain).abs() < 1e-6 * plain.abs().max(1000.0), "{c}, {r}: {found}, not {plain}");
            }
        }
    }

    #[test]
    fn heights_between_samples_are_bilinear_and_offsets_are_equal_in_metres() {
        // Columns are 2 m and rows 3 m apart: numbers 40/16 = 2.5 m apart are 1.25 columns and ⅚ of a row away.
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 30.0 }, 21, 11);
        let terrain = rough_terrain(grid);
        for (column, row, east_m, south_m) in [(2, 1, 2.5, 0.0), (1, 0, 0.0, -2.5), (0, 2, -2.5, 2.5)] {
            let found = modified(&filter(one_at(column, row), 17), &terrain);
            for (c, r) in (0..grid.samples()).map(|at| (at % 21, at / 21)) {
                let expected = terrain.height_at(grid.x_m(c) + east_m, grid.z_m(r) + south_m);
                assert!((found[(c, r)] - expected).abs() < 1e-2, "{c}, {r}: {}, not {expected}", found[(c, r)]);
            }
        }
    }

    #[test]
    fn level_terrain_stays_level_if_the_sum_is_one() {
        let level = Heightfield::from_fn(grid(33), |_, _| 123.4);
        for side in [2, 33, 57, 4097] {
            assert_eq!(modified(&KernelFilter { passes: 3, ..filter(sharpen(), side) }, &level), level);
            assert_eq!(modified(&KernelFilter { reference_samples: side as u32, ..Default::default() }, &level), level);
        }
        // Numbers that add up to zero are not normalised.
        let edges = Matrix::three([[0.1, 0.0, -0.1], [0.2, 0.0, -0.2], [0.3, 0.0, -0.3]]);
        let found = modified(&KernelFilter { normalise: true, ..filter(edges, 33) }, &level);
        assert!(found.heights().iter().all(|height| height.abs() < 1e-4));
    }

    #[test]
    fn many_passes_of_a_large_kernel_stay_finite() {
        let kernel = Matrix::five([[1000.0, -1000.0, 1000.0, 999.0, 1000.0]; 5]);
        let found = modified(&KernelFilter { passes: 40, ..filter(kernel, 33) }, &rough_terrain(grid(17)));
        assert!(found.heights().iter().all(|height| height.abs() <= 1e9));
    }
}
