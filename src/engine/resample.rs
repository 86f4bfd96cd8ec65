//! Numbers on one grid read at the places of another.

use rayon::prelude::*;

use super::heightfield::{Grid, Heightfield};
use super::monitor::{Cancelled, Monitor};

/// The four samples around a position along an axis, and their weights.
type Taps = [(usize, f64); 4];

/// The taps of a Catmull–Rom spline (Keys, "Cubic convolution interpolation", 1981, a = −½) at a position counted in
/// samples. Positions beyond the ends repeat the last sample.
fn taps(position: f64, count: usize) -> Taps {
    let last = (count - 1) as f64;
    let position = position.clamp(0.0, last);
    let base = position.floor();
    let t = position - base;
    let weights = [
        ((-0.5 * t + 1.0) * t - 0.5) * t,
        (1.5 * t - 2.5) * t * t + 1.0,
        ((-1.5 * t + 2.0) * t + 0.5) * t,
        (0.5 * t - 0.5) * t * t,
    ];
    std::array::from_fn(|i| ((base + i as f64 - 1.0).clamp(0.0, last) as usize, weights[i]))
}

/// A rectangle of numbers, row by row, read bicubically at the places of a grid.
#[derive(Debug)]
pub(super) struct Bicubic<'a> {
    samples: &'a [f32],
    width: usize,
    columns: Vec<Taps>,
    rows: Vec<Taps>,
}

impl<'a> Bicubic<'a> {
    /// `columns` and `rows` say where in the rectangle, counted in its samples, the columns and rows of the grid lie.
    pub(super) fn new(
        samples: &'a [f32],
        width: usize,
        columns: impl Iterator<Item = f64>,
        rows: impl Iterator<Item = f64>,
    ) -> Self {
        let height = samples.len() / width;
        let (columns, rows) = (columns.map(|at| taps(at, width)), rows.map(|at| taps(at, height)));
        Self { samples, width, columns: columns.collect(), rows: rows.collect() }
    }

    /// Fills the land with what `height` makes of the numbers at its samples.
    pub(super) fn fill(
        &self,
        land: &mut Heightfield,
        monitor: &Monitor,
        height: impl Fn(f64) -> f64 + Sync,
    ) -> Result<(), Cancelled> {
        let grid = land.grid();
        let tally = monitor.tally(grid.height());
        land.heights_mut().par_chunks_mut(grid.width()).zip(&self.rows).try_for_each(|(heights, rows)| {
            for (sample, columns) in heights.iter_mut().zip(&self.columns) {
                let mut value = 0.0;
                for &(row, row_weight) in rows {
                    let samples = &self.samples[row * self.width..];
                    let along: f64 = columns.iter().map(|&(c, weight)| weight * f64::from(samples[c])).sum();
                    value += row_weight * along;
                }
                *sample = height(value) as f32;
            }
            tally.add_one()
        })
    }
}

impl Heightfield {
    /// The same land on another grid of the same world, bicubic between the samples; samples that lie on each other
    /// keep their height to the bit.
    pub fn resampled(&self, grid: Grid, monitor: &Monitor) -> Result<Self, Cancelled> {
        let here = self.grid();
        // Whole numbers divided last: exact wherever samples of both grids meet.
        let positions = |count: usize, of: usize| (0..count).map(move |i| (i * (of - 1)) as f64 / (count - 1) as f64);
        let columns = positions(grid.width(), here.width());
        let rows = positions(grid.height(), here.height());
        let mut land = Self::flat(grid);
        Bicubic::new(self.heights(), here.width(), columns, rows).fill(&mut land, monitor, |height| height)?;
        Ok(land)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;

    const WORLD: Extent = Extent { width_m: 4100.7, depth_m: 977.3 };

    fn on(width: usize, height: usize, of: impl Fn(f64, f64) -> f64) -> Heightfield {
        let grid = Grid::new(WORLD, width, height);
        Heightfield::from_fn(grid, |c, r| of(grid.x_m(c), grid.z_m(r)) as f32)
    }

    fn resampled(land: &Heightfield, width: usize, height: usize) -> Heightfield {
        land.resampled(Grid::new(WORLD, width, height), &Monitor::new()).expect("not cancelled")
    }

    #[test]
    fn samples_that_meet_keep_their_height() {
        let small = on(33, 9, |x, z| libm::sin(x) * z);
        let large = resampled(&small, 129, 33);
        assert!((0..9).all(|r| (0..33).all(|c| large[(4 * c, 4 * r)] == small[(c, r)])));
        assert_eq!(resampled(&large, 33, 9), small);
    }

    #[test]
    fn a_plane_stays_a_plane_between_samples() {
        let plane = |x: f64, z: f64| 0.02 * x - 0.3 * z + 7.0;
        let (found, expected) = (resampled(&on(33, 9, plane), 71, 50), on(71, 50, plane));
        let spacing = |r: usize| r > 6 && r < 43;
        for r in (0..50).filter(|&r| spacing(r)) {
            for c in 3..68 {
                assert!((found[(c, r)] - expected[(c, r)]).abs() < 1e-4, "{c}, {r}");
            }
        }
    }
}
