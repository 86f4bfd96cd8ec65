//! Any 3 × 3 or 5 × 5 matrix laid over every place of the land.
//!
//! After the Lighthouse3D terrain tutorial, "Matrix filters". A correlation, the matrix as it is written on the map, north
//! on top: y(x, z) = Σ kᵢⱼ·h(x + (j − m)·Δr, z + (i − m)·Δr), with m the middle and Δr the reference spacing. Beyond
//! the border the nearest height stands.
//!
//! The numbers of the matrix lie Δr apart at every resolution, in metres and alike along both axes. Where a place lies
//! between samples, the height there is taken as bilinear. On a grid of which the reference grid is a part, these are
//! the very samples that the reference grid has, so that both agree to the bit. A grid coarser than the reference does
//! not know what is between its samples: there a cliff is changed less, but over the whole gap in which it lies, and
//! many passes of a matrix that smooths reach further than they would on the reference grid.

use rayon::prelude::*;

use super::{Keyframe, Operation, Role, EvalContext};
use crate::engine::heightfield::{Grid, MAX_HEIGHT_M, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Matrix, Spec, parameters};

parameters! {
    /// Lays a small matrix of numbers over every place of the land and adds up the heights under it: smooths, sharpens,
    /// embosses or finds edges, as the numbers say.
    pub struct KernelFilter {
        /// What each height around a place counts for in its new height, north on top: equal numbers smooth the land, a
        /// large one in the middle of negative ones sharpens its edges.
        kernel: Matrix = Matrix::three([[0.0, -1.0, 0.0], [-1.0, 6.0, -1.0], [0.0, -1.0, 0.0]]),
            Spec::number("Kernel", -1000.0, 1000.0).slider(-10.0, 10.0);
        /// Whether the numbers are divided by their sum, so that the land keeps its height; numbers that add up to
        /// nothing stay as they are.
        normalise: bool = true, Spec::new("Normalise");
        /// The samples along the longer side whose spacing is the distance between the numbers, at every size, so that
        /// the land stays the same: more samples change finer forms.
        reference_samples: u32 = 257,
            Spec::number("Reference samples", 2.0, 65_537.0).slider(65.0, 4097.0).logarithmic().fixed();
        /// How many times the land is filtered.
        passes: u32 = 2, Spec::number("Passes", 0.0, 10_000.0).slider(0.0, 20.0);
    }
}

/// A sum below this share of what it would be without the signs is nothing but rounding.
const LEAST_SUM: f64 = 1e-9;

/// A place between two samples of an axis, and how far it lies towards the second.
#[derive(Clone, Copy, Debug)]
struct Between {
    near: usize,
    far: usize,
    part: f64,
}

impl Between {
    /// The place `offset` samples from sample `i` of `count`; beyond the border, the border.
    fn new(i: usize, offset: f64, count: usize) -> Self {
        let position = (i as f64 + offset).clamp(0.0, (count - 1) as f64);
        let near = position as usize;
        Self { near, far: (near + 1).min(count - 1), part: position - near as f64 }
    }
}

/// What a thread works in.
#[derive(Debug, Default)]
struct Workspace {
    /// The land under each row of the matrix.
    under: Vec<Vec<f64>>,
    /// What a column of the matrix adds up to, not yet moved to its place.
    column: Vec<f64>,
    sums: Vec<f64>,
}

/// A matrix made ready for one grid.
#[derive(Debug)]
struct Kernel {
    /// Row by row, from north to south.
    rows: Vec<Vec<f64>>,
    /// For each column of the matrix, where each column of the map finds its height.
    across: Vec<Vec<Between>>,
    /// Samples from a row of the matrix to the next.
    lag_z: f64,
}

impl Kernel {
    fn new(filter: &KernelFilter, grid: Grid) -> Self {
        let numbers = || filter.kernel.rows().flatten();
        let (sum, whole): (f64, f64) = (numbers().sum(), numbers().map(|number| number.abs()).sum());
        let divisor = if filter.normalise && sum.abs() > LEAST_SUM * whole { sum } else { 1.0 };
        let extent = grid.extent();
        let longer_m = extent.width_m.max(extent.depth_m);
        let lag = |side_m: f64, count: usize| {
            longer_m / side_m * ((count - 1) as f64 / (f64::from(filter.reference_samples) - 1.0))
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

    /// Row `r` of the land under the matrix.
    fn filter_row(&self, terrain: &[f32], r: usize, row: &mut [f32], space: &mut Workspace) {
        let (width, side) = (row.len(), self.rows.len());
        let Workspace { under, column, sums } = space;
        under.resize_with(side, Vec::new);
        for (i, under) in under.iter_mut().enumerate() {
            let Between { near, far, part } =
                Between::new(r, from_middle(i, side) * self.lag_z, terrain.len() / width);
            let (near, far) = (&terrain[near * width..][..width], &terrain[far * width..][..width]);
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
        row.iter_mut().zip(&*sums).for_each(|(height, sum)| *height = (*sum as f32).clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M));
    }
}

/// How many rows or columns of the matrix lie from the middle to number `i`, southward or eastward.
fn from_middle(i: usize, side: usize) -> f64 {
    i as f64 - (side / 2) as f64
}

impl Operation for KernelFilter {
    const KEY: &'static str = "kernel_filter";
    const LABEL: &'static str = "Kernel filter";

    fn role(&self) -> Role {
        Role::Modifier
    }

    /// From the second pass on one land is made of another, beside the land below.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        if self.passes > 1 { 3.0 } else { 2.0 }
    }

    fn evaluate(&self, context: &EvalContext, _until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
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
    use super::super::testing::{rough, shaped};
    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::inputs::Inputs;
    use crate::engine::progress::Progress;
    use crate::engine::operations::faults::Faults;
    use crate::engine::recipe::{Recipe, Step};
    use crate::engine::stack;

    /// A filter whose numbers lie one sample of a map of that side apart.
    fn filter(kernel: Matrix, side: usize) -> KernelFilter {
        KernelFilter { kernel, normalise: false, reference_samples: side as u32, passes: 1 }
    }

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: 960.0, depth_m: 960.0 }, side, side)
    }

    /// 1 in the column and row of the matrix, 0 elsewhere.
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
    fn a_single_one_copies_the_neighbour_that_it_lies_on() {
        let terrain = rough(grid(17));
        assert_eq!(shaped(&filter(one_at(1, 1), 17), &terrain), terrain);
        for (column, row) in [(1, 0), (0, 1), (2, 1), (1, 2), (0, 0), (2, 0)] {
            let near = |i: usize, number: usize| (i + number).saturating_sub(1).min(16);
            let expected = Heightfield::from_fn(grid(17), |c, r| terrain[(near(c, column), near(r, row))]);
            assert_eq!(shaped(&filter(one_at(column, row), 17), &terrain), expected, "column {column}, row {row}");
        }
    }

    #[test]
    fn a_peak_spreads_as_the_binomial_says() {
        let peak = Heightfield::from_fn(grid(9), |c, r| 16.0 * f32::from(u8::from((c, r) == (4, 3))));
        let found = shaped(&KernelFilter { normalise: true, ..filter(binomial(), 9) }, &peak);
        assert_eq!(found.row(2), [0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.row(3), [0.0, 0.0, 0.0, 2.0, 4.0, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.row(5), [0.0; 9]);
    }

    #[test]
    fn a_matrix_of_five_is_the_plain_sum() {
        let kernel = std::array::from_fn(|i| std::array::from_fn(|j| ((i * 37 + j * 101 + i * j * 7) % 19) as f64 - 7.5));
        let sum: f64 = kernel.iter().flatten().sum();
        let terrain = rough(grid(13));
        for (normalise, divisor) in [(false, 1.0), (true, sum)] {
            let found = shaped(&KernelFilter { normalise, ..filter(Matrix::five(kernel), 13) }, &terrain);
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
    fn between_samples_the_land_is_bilinear_and_square_in_metres() {
        // Columns 2 m apart, rows 3 m: numbers 40/16 = 2.5 m apart lie 1.25 columns and ⅚ of a row away.
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 30.0 }, 21, 11);
        let terrain = rough(grid);
        for (column, row, east_m, south_m) in [(2, 1, 2.5, 0.0), (1, 0, 0.0, -2.5), (0, 2, -2.5, 2.5)] {
            let found = shaped(&filter(one_at(column, row), 17), &terrain);
            for (c, r) in (0..grid.samples()).map(|at| (at % 21, at / 21)) {
                let expected = terrain.height_at(grid.x_m(c) + east_m, grid.z_m(r) + south_m);
                assert!((found[(c, r)] - expected).abs() < 1e-2, "{c}, {r}: {}, not {expected}", found[(c, r)]);
            }
        }
    }

    #[test]
    fn level_land_stays_level_where_the_sum_is_one() {
        let level = Heightfield::from_fn(grid(33), |_, _| 123.4);
        for side in [2, 33, 57, 4097] {
            assert_eq!(shaped(&KernelFilter { passes: 3, ..filter(sharpen(), side) }, &level), level);
            assert_eq!(shaped(&KernelFilter { reference_samples: side as u32, ..Default::default() }, &level), level);
        }
        // Numbers that add up to nothing are not divided by it.
        let edges = Matrix::three([[0.1, 0.0, -0.1], [0.2, 0.0, -0.2], [0.3, 0.0, -0.3]]);
        let found = shaped(&KernelFilter { normalise: true, ..filter(edges, 33) }, &level);
        assert!(found.heights().iter().all(|height| height.abs() < 1e-4));
    }

    #[test]
    fn many_passes_of_a_large_matrix_stay_finite() {
        let kernel = Matrix::five([[1000.0, -1000.0, 1000.0, 999.0, 1000.0]; 5]);
        let found = shaped(&KernelFilter { passes: 40, ..filter(kernel, 33) }, &rough(grid(17)));
        assert!(found.heights().iter().all(|height| height.abs() <= 1e9));
    }

    /// Fault land under a filter, at 4 samples and at 1 for each sample of a map of that size: RMS over the range.
    fn difference(filter: &KernelFilter, world: [f64; 2], [width, height]: [usize; 2]) -> f64 {
        let terrain = |[width, height]: [usize; 2]| {
            let stack = vec![Step::new(Faults::default()), Step::new(filter.clone())];
            let mut recipe = Recipe { seed: 5, stack, ..Default::default() };
            [recipe.world.width_m, recipe.world.depth_m] = world;
            let grid = Grid::new(recipe.world.extent(), width, height);
            stack::evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
        };
        let (small, large) = (terrain([width, height]), terrain([4 * width - 3, 4 * height - 3]));
        let places = (0..width * height).map(|i| (i % width, i / width));
        let squares: f64 = places.map(|(c, r)| f64::from(small[(c, r)] - large[(4 * c, 4 * r)])).map(|d| d * d).sum();
        let [low, high] = large.min_max();
        (squares / (width * height) as f64).sqrt() / f64::from(high - low)
    }

    #[test]
    fn a_finer_map_has_the_same_land() {
        let sharpen = |side| KernelFilter { passes: 2, ..filter(sharpen(), side) };
        let smooth = |reference_samples| KernelFilter { passes: 2, normalise: true, ..filter(binomial(), reference_samples) };
        // Of the fine map the filter sees, at the places of the coarse one, exactly the samples that the coarse one has.
        assert_eq!(difference(&smooth(257), [4096.0, 4096.0], [257, 257]), 0.0);
        assert_eq!(difference(&sharpen(129), [4096.0, 4096.0], [257, 257]), 0.0);
        // Between samples, and on a map coarser than the reference.
        for (filter, world, samples) in [
            (smooth(200), [4096.0, 4096.0], [257, 257]),
            (smooth(1025), [4096.0, 4096.0], [257, 257]),
            (smooth(257), [4100.7, 977.3], [257, 62]),
            (smooth(700), [977.3, 4100.7], [62, 257]),
            (sharpen(257), [4100.7, 977.3], [257, 62]),
        ] {
            let found = difference(&filter, world, samples);
            println!("{} at {samples:?}: {:.3} %", filter.reference_samples, 100.0 * found);
            assert!(found < 0.02, "{filter:?} at {samples:?}: {found}");
        }
    }
}
