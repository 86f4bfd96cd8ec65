//! The terrain while paths change it, and blocks of its samples.

use std::ops::Range;

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::operations::operation::EvalContext;
use crate::progress::{Cancelled, Progress};

/// The samples along a side of a block.
const SIDE: usize = 16;

/// Heights in f64: a step rounds them to f32 once, after all its paths.
pub(super) struct TerrainMap {
    grid: Grid,
    heights: Vec<f64>,
    /// The positions of the columns and of the rows.
    at_m: [Vec<f64>; 2],
}

impl TerrainMap {
    /// The terrain below a step.
    pub fn below(context: &EvalContext) -> Result<Self, Cancelled> {
        let grid = context.grid;
        let mut heights = vec![0.0; grid.samples()];
        if let Some(below) = context.below {
            heights.par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
                row.iter_mut().zip(below.row(r)).for_each(|(height, below)| *height = f64::from(*below));
                context.progress.check()
            })?;
        }
        let at_m =
            [(0..grid.width()).map(|c| grid.x_m(c)).collect(), (0..grid.height()).map(|r| grid.z_m(r)).collect()];
        Ok(Self { grid, heights, at_m })
    }

    /// The heights rounded to f32.
    pub fn heightfield(&self, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        let rows = self.heights.par_chunks(self.grid.width());
        terrain.heights_mut().par_chunks_mut(self.grid.width()).zip(rows).try_for_each(|(row, heights)| {
            row.iter_mut().zip(heights).for_each(|(rounded, height)| *rounded = height.to_f32());
            progress.check()
        })?;
        Ok(terrain)
    }

    /// The positions of the samples.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The height at a point, interpolated bilinearly. Points outside are clamped to the border.
    pub fn height_at(&self, place_m: [f64; 2]) -> f64 {
        self.grid.interpolated(place_m, |c, r| self.heights[r * self.grid.width() + c])
    }

    /// Visits all samples in blocks, in parallel. Returns the results in the order of the blocks.
    pub fn map_blocks<T: Send>(
        &mut self,
        progress: &Progress,
        visit: impl Fn(&mut Block) -> T + Sync,
    ) -> Result<Vec<T>, Cancelled> {
        let (width, [xs, zs], grid) = (self.grid.width(), &self.at_m, self.grid);
        let counter = progress.counter(self.grid.height().div_ceil(SIDE));
        let bands = self.heights.par_chunks_mut(SIDE * width).enumerate().map(|(band, rows)| {
            let zs = &zs[band * SIDE..(band * SIDE + SIDE).min(zs.len())];
            let in_band = (0..width).step_by(SIDE).map(|first| {
                progress.check()?;
                let columns = first..(first + SIDE).min(width);
                Ok(visit(&mut Block { grid, rows, width, xs: &xs[columns.clone()], zs, columns }))
            });
            let found = in_band.collect::<Result<Vec<T>, Cancelled>>()?;
            counter.add_one()?;
            Ok(found)
        });
        let bands = bands.collect::<Result<Vec<Vec<T>>, Cancelled>>()?;
        Ok(bands.into_iter().flatten().collect())
    }
}

/// A block of neighbouring samples.
pub(super) struct Block<'a> {
    grid: Grid,
    rows: &'a mut [f64],
    width: usize,
    xs: &'a [f64],
    zs: &'a [f64],
    columns: Range<usize>,
}

impl Block<'_> {
    /// The centre, and the greatest distance of a sample from it.
    pub fn disc(&self) -> ([f64; 2], f64) {
        let middle = |at: &[f64]| match at {
            [first, .., last] => (0.5 * (first + last), 0.5 * (last - first)),
            [only] => (*only, 0.0),
            [] => (0.0, 0.0),
        };
        let ((x, half_x), (z, half_z)) = (middle(self.xs), middle(self.zs));
        ([x, z], libm::hypot(half_x, half_z))
    }

    /// The lowest and the highest height.
    pub fn range(&self) -> [f64; 2] {
        let heights = self.rows.chunks(self.width).flat_map(|row| &row[self.columns.clone()]);
        heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], height| [low.min(*height), high.max(*height)])
    }

    /// Changes every height, given the position of its sample.
    pub fn update(&mut self, mut height: impl FnMut([f64; 2], f64) -> f64) {
        for (row, z) in self.rows.chunks_mut(self.width).zip(self.zs) {
            for (own, x) in row[self.columns.clone()].iter_mut().zip(self.xs) {
                *own = height([*x, *z], *own);
            }
        }
    }

    /// The area that a sample stands for: cells at the border are cut in half.
    pub fn area_m2(&self, [x_m, z_m]: [f64; 2]) -> f64 {
        let extent = self.grid.extent();
        let share = |at_m: f64, side_m: f64| if at_m <= 0.0 || at_m >= side_m { 0.5 } else { 1.0 };
        let cell_m2 = self.grid.spacing_x_m() * self.grid.spacing_z_m();
        cell_m2 * share(x_m, extent.width_m) * share(z_m, extent.depth_m)
    }
}
