//! Bicubic resampling from one grid to another.

use rayon::prelude::*;

use super::heightfield::{Grid, Heightfield};
use super::progress::{Cancelled, Progress};
use super::simd::simd;

use crate::cast::{ToFloat, ToInteger};

/// How samples are interpolated and extrapolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampling {
    /// For images: the border samples are repeated beyond the border.
    Image,
    /// For terrain: the slope at the border continues beyond it, and values are clamped to the range of the four
    /// surrounding samples, so that hills get no moats and cliffs no walls.
    Terrain,
}

/// The four samples around a position along one axis, and their weights. The position is between the second and the
/// third.
#[derive(Clone, Copy, Debug)]
struct Taps {
    samples: [usize; 4],
    weights: [f64; 4],
}

impl Taps {
    /// The weights of a Catmull–Rom spline (Keys, "Cubic convolution interpolation", 1981, a = −½) at a position in
    /// samples.
    fn new(position: f64, count: usize, sampling: Sampling) -> Self {
        let last = count - 1;
        let position = position.clamp(0.0, last.to_f64());
        let base = position.floor();
        let t = position - base;
        let [mut before, mut from, mut to, mut after] = [
            ((-0.5 * t + 1.0) * t - 0.5) * t,
            (1.5 * t - 2.5) * t * t + 1.0,
            ((-1.5 * t + 2.0) * t + 0.5) * t,
            (0.5 * t - 0.5) * t * t,
        ];
        let first = base.to_usize();
        let second = (first + 1).min(last);
        if sampling == Sampling::Terrain {
            // The sample beyond the border is 2·h₀ − h₁.
            if first == 0 {
                (before, from, to) = (0.0, from + 2.0 * before, to - before);
            }
            if second == last {
                (from, to, after) = (from - after, to + 2.0 * after, 0.0);
            }
        }
        let samples = [first.saturating_sub(1), first, second, (first + 2).min(last)];
        Self { samples, weights: [before, from, to, after] }
    }

    /// Whether the position is that of the second sample: only there, the weight of the third is 0. At twice the resolution,
    /// every second position is.
    #[inline(always)]
    fn is_exact(&self) -> bool {
        self.weights[2] == 0.0
    }
}

/// A row-major map of samples, interpolated bicubically at the positions of a grid.
#[derive(Debug)]
pub(super) struct Bicubic<'a> {
    samples: &'a [f32],
    width: usize,
    sampling: Sampling,
    columns: Vec<Taps>,
    rows: Vec<Taps>,
}

impl<'a> Bicubic<'a> {
    /// `columns` and `rows` are the positions of the grid's columns and rows, in samples of the map.
    pub(super) fn new(
        samples: &'a [f32],
        width: usize,
        sampling: Sampling,
        columns: impl Iterator<Item = f64>,
        rows: impl Iterator<Item = f64>,
    ) -> Self {
        let height = samples.len() / width;
        let (columns, rows) =
            (columns.map(|at| Taps::new(at, width, sampling)), rows.map(|at| Taps::new(at, height, sampling)));
        Self { samples, width, sampling, columns: columns.collect(), rows: rows.collect() }
    }

    /// Sets every height of the terrain to `height` of the value at its position.
    pub(super) fn fill(
        &self,
        terrain: &mut Heightfield,
        progress: &Progress,
        height: impl Fn(f64) -> f64 + Sync,
    ) -> Result<(), Cancelled> {
        let grid = terrain.grid();
        let counter = progress.counter(grid.height());
        terrain.heights_mut().par_chunks_mut(grid.width()).enumerate().try_for_each_init(
            || self.buffer(),
            |blended, (r, heights)| {
                self.fill_row(r, blended, heights, &height);
                counter.add_one()
            },
        )
    }

    /// The intermediate values of a row; one for each thread. It serves any map with as many samples per row.
    pub(super) fn buffer(&self) -> BlendedRows {
        BlendedRows::new(self.width)
    }

    /// Sets the heights of row `r` of the grid to `height` of the values at their positions.
    #[inline(always)]
    pub(super) fn fill_row(
        &self,
        r: usize,
        blended: &mut BlendedRows,
        heights: &mut [f32],
        height: impl Fn(f64) -> f64,
    ) {
        let rows = &self.rows[r];
        let row = |r: usize| &self.samples[r * self.width..][..self.width];
        simd(
            #[inline(always)]
            || {
                let samples = rows.samples.map(row);
                if rows.is_exact() {
                    blended.copy(samples[1]);
                } else {
                    blended.blend(samples, rows.weights);
                }
                blended.limit(samples[1], samples[2]);
            },
        );
        for (sample, columns) in heights.iter_mut().zip(&self.columns) {
            *sample = height(blended.value(columns, self.sampling)).to_f32();
        }
    }
}

/// Some rows of a map, interpolated at the position of a row of the grid.
#[derive(Debug)]
pub(super) struct BlendedRows {
    values: Vec<f64>,
    /// The lower and the higher value of the two rows next to the position.
    lower: Vec<f32>,
    higher: Vec<f32>,
}

impl BlendedRows {
    fn new(width: usize) -> Self {
        Self { values: vec![0.0; width], lower: vec![0.0; width], higher: vec![0.0; width] }
    }

    /// Takes one row as it is.
    #[inline(always)]
    fn copy(&mut self, row: &[f32]) {
        self.values.iter_mut().zip(row).for_each(|(value, sample)| *value = f64::from(*sample));
    }

    /// Adds up four rows with weights.
    #[inline(always)]
    fn blend(&mut self, rows: [&[f32]; 4], weights: [f64; 4]) {
        let width = self.values.len();
        let [a, b, c, d] = rows.map(|row| &row[..width]);
        for (i, value) in self.values.iter_mut().enumerate() {
            let [a, b, c, d] = [a[i], b[i], c[i], d[i]].map(f64::from);
            *value = weights[0] * a + weights[1] * b + weights[2] * c + weights[3] * d;
        }
    }

    /// Limits the values to the range of the two rows next to the position.
    #[inline(always)]
    fn limit(&mut self, near: &[f32], next: &[f32]) {
        let limits = self.lower.iter_mut().zip(&mut self.higher);
        for ((lower, higher), (near, next)) in limits.zip(near.iter().zip(next)) {
            (*lower, *higher) = (near.min(*next), near.max(*next));
        }
    }

    /// The value at the position of a column.
    #[inline(always)]
    fn value(&self, columns: &Taps, sampling: Sampling) -> f64 {
        let [before, a, b, after] = columns.samples;
        let value = if columns.is_exact() {
            self.values[a]
        } else {
            let [w, x, y, z] = columns.weights;
            w * self.values[before] + x * self.values[a] + y * self.values[b] + z * self.values[after]
        };
        match sampling {
            Sampling::Image => value,
            Sampling::Terrain => {
                let (lowest, highest) = (self.lower[a].min(self.lower[b]), self.higher[a].max(self.higher[b]));
                value.max(f64::from(lowest)).min(f64::from(highest))
            }
        }
    }
}

/// The value of a row-major map at one position, in samples eastward and southward, for positions that are not those of
/// a grid. Equal to that of [`Bicubic`], up to the order of the sums.
pub(super) fn bicubic_at(samples: &[f32], width: usize, sampling: Sampling, [column, row]: [f64; 2]) -> f64 {
    let columns = Taps::new(column, width, sampling);
    let rows = Taps::new(row, samples.len() / width, sampling);
    let sample = |c: usize, r: usize| f64::from(samples[r * width + c]);
    let mut value = 0.0;
    for (r, weight) in rows.samples.into_iter().zip(rows.weights) {
        let [a, b, c, d] = columns.samples.map(|c| sample(c, r));
        let [w, x, y, z] = columns.weights;
        value += weight * (w * a + x * b + y * c + z * d);
    }
    match sampling {
        Sampling::Image => value,
        Sampling::Terrain => {
            let [_, west, east, _] = columns.samples;
            let [_, north, south, _] = rows.samples;
            let corners = [sample(west, north), sample(east, north), sample(west, south), sample(east, south)];
            let lowest = corners.into_iter().fold(f64::INFINITY, f64::min);
            let highest = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
            value.max(lowest).min(highest)
        }
    }
}

impl Heightfield {
    /// Resamples the heights of a full grid to another grid of the same world, or to a part of one. The interpolation is
    /// bicubic and does not overshoot; where samples of both grids coincide, heights are exactly equal.
    pub fn resampled(&self, grid: Grid, progress: &Progress) -> Result<Self, Cancelled> {
        let mut terrain = Self::flat(grid);
        self.resampler(grid).fill(&mut terrain, progress, |height| height)?;
        Ok(terrain)
    }

    /// Computes [`Self::resampled`], for callers that need a row at a time instead of the whole map.
    pub(super) fn resampler(&self, grid: Grid) -> Bicubic<'_> {
        let (here, full, first) = (self.grid(), grid.full(), grid.first());
        // Integers divided last: exact where samples of both grids coincide.
        let positions = |first: usize, count: usize, full: usize, of: usize| {
            (first..first + count).map(move |i| (i * (of - 1)).to_f64() / (full - 1).to_f64())
        };
        let columns = positions(first[0], grid.width(), full.width(), here.width());
        let rows = positions(first[1], grid.height(), full.height(), here.height());
        Bicubic::new(self.heights(), here.width(), Sampling::Terrain, columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, GridPart};

    const WORLD: Extent = Extent { width_m: 4100.7, depth_m: 977.3 };

    fn on(width: usize, height: usize, of: impl Fn(f64, f64) -> f64) -> Heightfield {
        let grid = Grid::new(WORLD, width, height);
        Heightfield::from_fn(grid, |c, r| of(grid.x_m(c), grid.z_m(r)) as f32)
    }

    fn resampled(terrain: &Heightfield, width: usize, height: usize) -> Heightfield {
        terrain.resampled(Grid::new(WORLD, width, height), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn coinciding_samples_keep_their_heights() {
        let small = on(33, 9, |x, z| libm::sin(x) * z);
        let large = resampled(&small, 129, 33);
        assert!((0..9).all(|r| (0..33).all(|c| large[(4 * c, 4 * r)] == small[(c, r)])));
        assert_eq!(resampled(&large, 33, 9), small);
    }

    #[test]
    fn a_part_is_that_of_the_resampled_terrain() {
        let small = on(33, 9, |x, z| libm::sin(x) * z);
        let large = resampled(&small, 71, 50);
        let part = GridPart { first: [11, 40], size: [30, 10] };
        let found = small.resampled(large.grid().part(part.first, part.size), &Progress::new());
        assert_eq!(found, Ok(large.part(part)));
    }

    #[test]
    fn single_positions_have_the_heights_of_a_grid() {
        let small = on(33, 9, |x, z| 100.0 * libm::sin(x) * libm::cos(z));
        let large = resampled(&small, 71, 50);
        for (c, r) in (0..50).flat_map(|r| (0..71).map(move |c| (c, r))) {
            let at = [c as f64 * 32.0 / 70.0, r as f64 * 8.0 / 49.0];
            let found = bicubic_at(small.heights(), 33, Sampling::Terrain, at);
            assert!((found - f64::from(large[(c, r)])).abs() < 1e-4, "{at:?}: {found}, not {}", large[(c, r)]);
        }
    }

    #[test]
    fn a_plane_stays_a_plane_up_to_the_border() {
        let plane = |x: f64, z: f64| 0.02 * x - 0.3 * z + 7.0;
        for [width, height] in [[33, 9], [2, 2], [3, 40]] {
            let (found, expected) = (resampled(&on(width, height, plane), 71, 50), on(71, 50, plane));
            for (i, (found, expected)) in found.heights().iter().zip(expected.heights()).enumerate() {
                assert!((found - expected).abs() < 1e-4, "{width} × {height} at {i}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn heights_between_samples_match_the_spline() {
        // A Catmull–Rom spline reproduces parabolas: 4.5² = 20.25. At the border, where the extrapolated sample is
        // 2·0 − 1 = −1, the height halfway from 0 to 1 is (−(−1) + 9·0 + 9·1 − 4)/16 = 0.375.
        let grid = |width| Grid::new(Extent { width_m: 8.0, depth_m: 1.0 }, width, 2);
        let parabola = Heightfield::from_fn(grid(9), |c, _| (c * c) as f32);
        let found = parabola.resampled(grid(17), &Progress::new()).expect("not cancelled");
        assert_eq!((found[(9, 0)], found[(1, 0)]), (20.25, 0.375));
    }

    #[test]
    fn terrain_does_not_overshoot_at_a_cliff() {
        let wall = on(33, 9, |x, z| if x > 2000.0 && z > 300.0 { 100.0 } else { 0.0 });
        let [low, high] = resampled(&wall, 129, 65).min_max();
        assert_eq!([low, high], [0.0, 100.0]);
        // An image does.
        let mut image = Heightfield::flat(Grid::new(WORLD, 129, 9));
        let columns = (0..129).map(|c| f64::from(c) / 4.0);
        Bicubic::new(wall.heights(), 33, Sampling::Image, columns, (0..9).map(f64::from))
            .fill(&mut image, &Progress::new(), |height| height)
            .expect("not cancelled");
        assert!(image.min_max()[0] < -5.0 && image.min_max()[1] > 105.0);
    }
}
