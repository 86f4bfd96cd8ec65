//! The heightfield and its grid.

use std::ops::Index;

use rayon::prelude::*;

use super::progress::{Cancelled, Progress};
use super::simd::simd;

use crate::cast::{ToFloat, ToInteger};

/// The size of the world in metres: x runs east over `width_m`, z runs south over `depth_m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// West to east, metres.
    pub width_m: f64,
    /// North to south, metres.
    pub depth_m: f64,
}

impl Extent {
    /// Whether both sides are equally long.
    pub fn is_square(self) -> bool {
        self.width_m == self.depth_m
    }
}

/// A grid of `width` × `height` samples over the world, with samples on its corners.
///
/// Sample (c, r) is at x = c·Lx/(width − 1), z = r·Lz/(height − 1). On grids of 2ⁿ + 1 samples these positions are
/// bit-identical for every n, so a small map is an exact subset of a large one.
///
/// A grid can be a part of another one: its sample (c, r) is then sample (first column + c, first row + r) of the full
/// grid, at a bit-identical position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    width: usize,
    height: usize,
    extent: Extent,
    /// The first column and row in the full grid, and the cells of the full grid along each side.
    first: [usize; 2],
    cells: [usize; 2],
}

/// A rectangle of a grid's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridPart {
    /// The column and the row of the north-western sample.
    pub first: [usize; 2],
    /// The number of columns and of rows.
    pub size: [usize; 2],
}

impl GridPart {
    /// The part with that many more samples on every side, as far as the grid has them.
    pub fn grown(self, by: usize, grid: Grid) -> Self {
        let sides = [grid.width, grid.height];
        let first = self.first.map(|first| first.saturating_sub(by));
        let end: [usize; 2] = std::array::from_fn(|axis| (self.first[axis] + self.size[axis] + by).min(sides[axis]));
        Self { first, size: std::array::from_fn(|axis| end[axis] - first[axis]) }
    }

    /// The smallest part that has the samples of both.
    pub fn around(self, other: Self) -> Self {
        let first: [usize; 2] = std::array::from_fn(|axis| self.first[axis].min(other.first[axis]));
        let end = |part: Self, axis: usize| part.first[axis] + part.size[axis];
        Self { first, size: std::array::from_fn(|axis| end(self, axis).max(end(other, axis)) - first[axis]) }
    }

    /// Whether this part has all samples of another one.
    pub(crate) fn contains(self, other: Self) -> bool {
        self.around(other) == self
    }

    /// The same samples as a part of another part, which contains them.
    pub(crate) fn within(self, outer: Self) -> Self {
        Self { first: std::array::from_fn(|axis| self.first[axis] - outer.first[axis]), ..self }
    }

    /// The column and row in the part of a sample of the grid; `None` outside.
    pub(crate) fn inside(self, [c, r]: [usize; 2]) -> Option<[usize; 2]> {
        let (column, row) = (c.checked_sub(self.first[0])?, r.checked_sub(self.first[1])?);
        (column < self.size[0] && row < self.size[1]).then_some([column, row])
    }

    /// The row-major indices of each row in a grid with so many columns.
    pub(crate) fn rows(self, width: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        let Self { first: [west, north], size: [columns, rows] } = self;
        (north..north + rows).map(move |r| r * width + west).map(move |first| first..first + columns)
    }
}

/// The minimum and the maximum number of samples along a side.
pub const SIDE_LIMITS: [usize; 2] = [2, 65_537];

/// The value at a share of the way from `a` to `b`: exactly these at 0 and 1.
#[inline(always)]
pub(crate) fn mix(a: f64, b: f64, share: f64) -> f64 {
    (1.0 - share) * a + share * b
}

impl Grid {
    /// Creates a grid of `width` × `height` samples, clamped to [`SIDE_LIMITS`].
    pub fn new(extent: Extent, width: usize, height: usize) -> Self {
        let [min, max] = SIDE_LIMITS;
        let [width, height] = [width, height].map(|side| side.clamp(min, max));
        Self { width, height, extent, first: [0; 2], cells: [width - 1, height - 1] }
    }

    /// The part of this grid that starts at column and row `first`, clamped to the grid. Not every recipe
    /// [can be evaluated on parts](super::stack::can_evaluate_parts).
    pub fn part(self, first: [usize; 2], [width, height]: [usize; 2]) -> Self {
        let [west, north] = [first[0].min(self.width - 1), first[1].min(self.height - 1)];
        let first = [self.first[0] + west, self.first[1] + north];
        Self { width: width.clamp(1, self.width - west), height: height.clamp(1, self.height - north), first, ..self }
    }

    /// Creates a grid with `longer` samples along the longer side and as many along the other as fit the proportions of
    /// the world: round((longer − 1)·short/long) + 1.
    pub fn fitted(extent: Extent, longer: usize) -> Self {
        let short_over_long = extent.width_m.min(extent.depth_m) / extent.width_m.max(extent.depth_m);
        let shorter = (longer.saturating_sub(1).to_f64() * short_over_long).round().to_usize() + 1;
        if extent.width_m >= extent.depth_m {
            Self::new(extent, longer, shorter)
        } else {
            Self::new(extent, shorter, longer)
        }
    }

    /// The full grid of which this one is a part; this one if it is no part.
    pub(crate) fn full(self) -> Self {
        Self::new(self.extent, self.cells[0] + 1, self.cells[1] + 1)
    }

    /// Whether this is a part of a larger grid.
    pub(crate) fn is_part(&self) -> bool {
        [self.width - 1, self.height - 1] != self.cells
    }

    /// Whether the samples of the other full grid are all among those of the full grid.
    pub(crate) fn has_samples_of(&self, other: Self) -> bool {
        self.cells.iter().zip(other.cells).all(|(own, other)| own.is_multiple_of(other))
    }

    /// The column and row of the first sample in the full grid.
    pub fn first(&self) -> [usize; 2] {
        self.first
    }

    /// The samples of the full grid that this one has.
    pub(crate) fn as_part(&self) -> GridPart {
        GridPart { first: self.first, size: [self.width, self.height] }
    }

    /// Whether the column or row is at a side of a part that lies inside the world.
    pub(crate) fn is_at_cut(&self, c: usize, r: usize) -> bool {
        let is_cut = |at: usize, axis: usize, samples: usize| {
            at == 0 && self.first[axis] > 0 || at + 1 == samples && self.first[axis] + at < self.cells[axis]
        };
        is_cut(c, 0, self.width) || is_cut(r, 1, self.height)
    }

    /// Samples from west to east.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Samples from north to south.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The total number of samples.
    pub fn samples(&self) -> usize {
        self.width * self.height
    }

    /// The size of the world.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The spacing of columns, metres.
    pub fn spacing_x_m(&self) -> f64 {
        self.extent.width_m / self.cells[0].to_f64()
    }

    /// The spacing of rows, metres.
    pub fn spacing_z_m(&self) -> f64 {
        self.extent.depth_m / self.cells[1].to_f64()
    }

    /// Interpolates bilinearly between the values of the four samples around a place, metres east and south. Places beyond
    /// the border get the values there.
    pub fn interpolated(&self, [x_m, z_m]: [f64; 2], value: impl Fn(usize, usize) -> f64) -> f64 {
        let along = |at_m: f64, first_m: f64, spacing_m: f64, samples: usize| {
            let position = ((at_m - first_m) / spacing_m).clamp(0.0, (samples - 1).to_f64());
            let first = position.to_usize().min(samples.saturating_sub(2));
            (first, (first + 1).min(samples - 1), position - first.to_f64())
        };
        let (west, east, u) = along(x_m, self.x_m(0), self.spacing_x_m(), self.width());
        let (north, south, v) = along(z_m, self.z_m(0), self.spacing_z_m(), self.height());
        mix(mix(value(west, north), value(east, north), u), mix(value(west, south), value(east, south), u), v)
    }

    /// The position of column `c`, metres from the west border.
    pub fn x_m(&self, c: usize) -> f64 {
        (self.first[0] + c).to_f64() * self.extent.width_m / self.cells[0].to_f64()
    }

    /// The position of row `r`, metres from the north border.
    pub fn z_m(&self, r: usize) -> f64 {
        (self.first[1] + r).to_f64() * self.extent.depth_m / self.cells[1].to_f64()
    }

    /// The index, row by row, of the sample that is nearest to a place, metres east and south. In the middle between two
    /// it is the one nearer to the centre of the world, so that places that mirror each other have samples that do.
    pub fn nearest_sample(&self, [x_m, z_m]: [f64; 2]) -> usize {
        let along = |at_m: f64, spacing_m: f64, axis: usize, samples: usize| {
            let (at, centre) = (at_m / spacing_m, 0.5 * self.cells[axis].to_f64());
            let nearest = if at < centre { (at + 0.5).floor() } else { (at - 0.5).ceil() };
            (nearest - self.first[axis].to_f64()).clamp(0.0, (samples - 1).to_f64()).to_usize()
        };
        let c = along(x_m, self.spacing_x_m(), 0, self.width);
        along(z_m, self.spacing_z_m(), 1, self.height) * self.width + c
    }

    /// The position of column `c` and row `r` as fractions of the world, eastward and southward.
    pub fn shares(&self, c: usize, r: usize) -> [f64; 2] {
        [(self.first[0] + c).to_f64() / self.cells[0].to_f64(), (self.first[1] + r).to_f64() / self.cells[1].to_f64()]
    }
}

/// The largest absolute height that steps produce, in metres: without a limit, multiplications could overflow f32.
pub const MAX_HEIGHT_M: f32 = 1e9;

/// Samples per parallel task, after which cancellation is checked.
const CHUNK: usize = 1 << 14;

/// Copies heights between slices of equal length.
pub(super) fn copy_heights(to: &mut [f32], from: &[f32], progress: &Progress) -> Result<(), Cancelled> {
    to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).try_for_each(|(to, from)| {
        to.copy_from_slice(from);
        progress.check()
    })
}

/// Heights in metres on a grid, row-major, with row 0 in the north.
#[derive(Clone, Debug, PartialEq)]
pub struct Heightfield {
    grid: Grid,
    heights: Vec<f32>,
}

impl Heightfield {
    /// Flat terrain at height 0.
    pub fn flat(grid: Grid) -> Self {
        Self { grid, heights: vec![0.0; grid.samples()] }
    }

    /// Level terrain at a height.
    pub fn filled(grid: Grid, height: f32, progress: &Progress) -> Result<Self, Cancelled> {
        let mut terrain = Self::flat(grid);
        terrain.heights.par_chunks_mut(CHUNK).try_for_each(|part| {
            part.fill(height);
            progress.check()
        })?;
        Ok(terrain)
    }

    /// A cancellable [`Clone`], for large maps.
    pub fn copied(&self, progress: &Progress) -> Result<Self, Cancelled> {
        let mut copy = Self::flat(self.grid);
        copy_heights(&mut copy.heights, &self.heights, progress)?;
        Ok(copy)
    }

    /// Wraps row-major heights; `None` if their number does not match the grid.
    pub fn from_heights(grid: Grid, heights: Vec<f32>) -> Option<Self> {
        (heights.len() == grid.samples()).then_some(Self { grid, heights })
    }

    /// Computes every height from its column and row.
    pub fn from_fn(grid: Grid, mut height: impl FnMut(usize, usize) -> f32) -> Self {
        let mut heights = Vec::with_capacity(grid.samples());
        for r in 0..grid.height {
            heights.extend((0..grid.width).map(|c| height(c, r)));
        }
        Self { grid, heights }
    }

    /// The positions of the samples.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// All heights, row-major.
    pub fn heights(&self) -> &[f32] {
        &self.heights
    }

    /// All heights, row-major, mutably.
    pub fn heights_mut(&mut self) -> &mut [f32] {
        &mut self.heights
    }

    /// Combines every height with that of another heightfield on the same grid.
    pub(super) fn combined(
        mut self,
        other: &Self,
        height: impl Fn(f32, f32) -> f32 + Sync,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        self.combine(other, height, progress)?;
        Ok(self)
    }

    /// The same in place.
    pub(super) fn combine(
        &mut self,
        other: &Self,
        height: impl Fn(f32, f32) -> f32 + Sync,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.heights.par_chunks_mut(CHUNK).zip(other.heights.par_chunks(CHUNK)).try_for_each(|(part, others)| {
            part.iter_mut().zip(others).for_each(|(own, other)| *own = height(*own, *other));
            progress.check()
        })
    }

    /// A copy of the samples of a [part](Grid::part) of the grid.
    pub fn part(&self, part: GridPart) -> Self {
        let grid = self.grid.part(part.first, part.size);
        let part = GridPart { size: [grid.width, grid.height], ..part };
        Self { grid, heights: part.rows(self.grid.width).flat_map(|row| &self.heights[row]).copied().collect() }
    }

    /// The terrain with at most so many samples along the longer side; `None` if it has no more than that. Every n-th sample
    /// where some n fits, and interpolated ones elsewhere.
    pub fn thinned(&self, most: usize) -> Option<Self> {
        let Grid { width, height, extent, .. } = self.grid;
        let longer = width.max(height);
        if longer <= most || most < 2 {
            return None;
        }
        let cells = [width - 1, height - 1];
        let step = ((longer - 1).div_ceil(most - 1)..longer).find(|n| cells.iter().all(|side| side % n == 0));
        // A step of twice the smallest one or more would waste too many samples.
        let step = step.filter(|n| *n < 2 * (longer - 1).div_ceil(most - 1));
        Some(match step {
            Some(n) => {
                Self::from_fn(Grid::new(extent, cells[0] / n + 1, cells[1] / n + 1), |c, r| self[(c * n, r * n)])
            }
            None => {
                let grid = Grid::fitted(extent, most);
                Self::from_fn(grid, |c, r| self.height_at(grid.x_m(c), grid.z_m(r)))
            }
        })
    }

    /// The smallest part of the grid that holds all samples whose heights differ from another heightfield's on the same
    /// grid; `None` if all are equal.
    pub fn difference(&self, other: &Self) -> Option<GridPart> {
        let width = self.grid.width;
        let of_row = |(r, (own, other)): (usize, (&[f32], &[f32]))| {
            let differs = |(own, other): (&f32, &f32)| own != other;
            let first = own.iter().zip(other).position(differs)?;
            let last = own.iter().zip(other).rposition(differs)?;
            Some([first, last, r, r])
        };
        let union = |[w, e, n, s]: [usize; 4], [west, east, north, south]: [usize; 4]| {
            [w.min(west), e.max(east), n.min(north), s.max(south)]
        };
        let rows = self.heights.par_chunks_exact(width).zip(other.heights.par_chunks_exact(width)).enumerate();
        let [west, east, north, south] = rows.filter_map(of_row).reduce_with(union)?;
        Some(GridPart { first: [west, north], size: [east + 1 - west, south + 1 - north] })
    }

    /// Unwraps the row-major heights.
    pub fn into_heights(self) -> Vec<f32> {
        self.heights
    }

    /// One row, west to east.
    pub fn row(&self, r: usize) -> &[f32] {
        &self.heights[r * self.grid.width..(r + 1) * self.grid.width]
    }

    /// The rows from north to south, mutably.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, f32> {
        self.heights.chunks_exact_mut(self.grid.width)
    }

    /// The lowest and the highest height.
    pub fn min_max(&self) -> [f32; 2] {
        self.min_max_cancellable(&Progress::new()).unwrap_or_default()
    }

    /// Like [`Self::min_max`], but cancellable.
    pub fn min_max_cancellable(&self, progress: &Progress) -> Result<[f32; 2], Cancelled> {
        let empty = || [f32::INFINITY, f32::NEG_INFINITY];
        let union = |[low, high]: [f32; 2], [lower, higher]: [f32; 2]| [low.min(lower), high.max(higher)];
        let of_part = |part: &[f32]| {
            simd(
                #[inline(always)]
                || limits_of(part),
            )
        };
        let checked = |part| progress.check().map(|()| of_part(part));
        self.heights.par_chunks(CHUNK).map(checked).try_reduce(empty, |a, b| Ok(union(a, b)))
    }

    /// The height at a point of the world in metres, interpolated bilinearly. Points outside are clamped to the border.
    pub fn height_at(&self, x_m: f64, z_m: f64) -> f32 {
        let along = |m: f64, spacing: f64, samples: usize| {
            let position = (m / spacing).clamp(0.0, (samples - 1).to_f64());
            let first = position.to_usize().min(samples - 2);
            (first, (position - first.to_f64()).to_f32())
        };
        let (c, u) = along(x_m, self.grid.spacing_x_m(), self.grid.width);
        let (r, v) = along(z_m, self.grid.spacing_z_m(), self.grid.height);
        bilinear([self[(c, r)], self[(c + 1, r)], self[(c, r + 1)], self[(c + 1, r + 1)]], u, v)
    }

    /// The gradient at a sample in metres per metre, eastward and southward: central differences, one-sided at the
    /// border.
    pub fn gradient(&self, c: usize, r: usize) -> [f32; 2] {
        let (west, east) = (c.saturating_sub(1), (c + 1).min(self.grid.width - 1));
        let (north, south) = (r.saturating_sub(1), (r + 1).min(self.grid.height - 1));
        let run_x = (east - west).to_f32() * self.grid.spacing_x_m().to_f32();
        let run_z = (south - north).to_f32() * self.grid.spacing_z_m().to_f32();
        [(self[(east, r)] - self[(west, r)]) / run_x, (self[(c, south)] - self[(c, north)]) / run_z]
    }

    /// Computes the gradients of row `r`, eastward and southward, bit-identical to [`Self::gradient`]. Vectorized
    /// inside [`simd`].
    #[inline(always)]
    pub(super) fn gradients_of_row(&self, r: usize, [east, south]: [&mut [f32]; 2]) {
        let (row, last) = (self.row(r), self.grid.width - 1);
        let (x_m, z_m) = (self.grid.spacing_x_m().to_f32(), self.grid.spacing_z_m().to_f32());
        let run_x = 2.0 * x_m;
        for (east, pair) in east[1..last].iter_mut().zip(row.windows(3)) {
            *east = (pair[2] - pair[0]) / run_x;
        }
        east[0] = (row[1] - row[0]) / x_m;
        east[last] = (row[last] - row[last - 1]) / x_m;
        let (above, below) = (r.saturating_sub(1), (r + 1).min(self.grid.height - 1));
        let run_z = (below - above).to_f32() * z_m;
        for (south, (above, below)) in south.iter_mut().zip(self.row(above).iter().zip(self.row(below))) {
            *south = (below - above) / run_z;
        }
    }
}

/// The minimum and maximum of a slice, in sixteen vector lanes.
#[inline(always)]
fn limits_of(heights: &[f32]) -> [f32; 2] {
    let (mut lows, mut highs) = ([f32::INFINITY; 16], [f32::NEG_INFINITY; 16]);
    let mut update = |heights: &[f32]| {
        for ((low, high), &height) in lows.iter_mut().zip(&mut highs).zip(heights) {
            *low = if height < *low { height } else { *low };
            *high = if height > *high { height } else { *high };
        }
    };
    let (blocks, rest) = heights.as_chunks::<16>();
    blocks.iter().for_each(|block| update(block));
    update(rest);
    [lows.into_iter().fold(f32::INFINITY, f32::min), highs.into_iter().fold(f32::NEG_INFINITY, f32::max)]
}

impl Index<(usize, usize)> for Heightfield {
    type Output = f32;

    /// The height of sample (column, row).
    fn index(&self, (c, r): (usize, usize)) -> &f32 {
        &self.heights[r * self.grid.width + c]
    }
}

/// Interpolates between the north-western, north-eastern, south-western and south-eastern values of a cell, at these
/// shares of its width and its depth.
#[inline(always)]
pub(crate) fn bilinear([nw, ne, sw, se]: [f32; 4], u: f32, v: f32) -> f32 {
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    mix(mix(nw, ne, u), mix(sw, se, u), v)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 1000.0 };

    #[test]
    fn the_shorter_side_follows_the_proportions_of_the_world() {
        let grid = Grid::fitted(WORLD, 301);
        assert_eq!((grid.width(), grid.height()), (301, 101));
        let portrait = Grid::fitted(Extent { width_m: 1000.0, depth_m: 3000.0 }, 301);
        assert_eq!((portrait.width(), portrait.height()), (101, 301));
    }

    #[test]
    fn a_thinned_terrain_keeps_its_corners() {
        let plane =
            |width, height| Heightfield::from_fn(Grid::new(WORLD, width, height), |c, r| (3 * c + 5 * r) as f32);
        let found = plane(1025, 513).thinned(257).expect("fewer samples");
        assert_eq!((found.grid().width(), found.grid().height()), (257, 129));
        assert_eq!((found[(1, 1)], found[(256, 128)]), ((12 + 20) as f32, (3 * 1024 + 5 * 512) as f32));
        // No step divides both sides: between samples, heights are interpolated.
        let found = plane(1024, 342).thinned(257).expect("fewer samples");
        assert_eq!((found.grid().width(), found[(256, found.grid().height() - 1)]), (257, (3 * 1023 + 5 * 341) as f32));
        assert!(plane(257, 86).thinned(257).is_none());
    }

    #[test]
    fn places_that_mirror_each_other_have_samples_that_do() {
        let grid = Grid::new(Extent { width_m: 2048.0, depth_m: 2048.0 }, 257, 257);
        let sample = |x_m: f64, z_m: f64| grid.nearest_sample([x_m, z_m]);
        // In the middle between two samples.
        assert_eq!(sample(380.0, 380.0) + sample(1668.0, 1668.0), 257 * 257 - 1);
        assert_eq!(sample(380.0, 1001.0) + sample(1668.0, 1047.0), 257 * 257 - 1);
        // The centre of an even number is between samples.
        let even = Grid::new(Extent { width_m: 70.0, depth_m: 50.0 }, 8, 6);
        for [x_m, z_m] in [[5.0, 45.0], [25.0, 15.0], [62.0, 5.0]] {
            let sum = even.nearest_sample([x_m, z_m]) + even.nearest_sample([70.0 - x_m, 50.0 - z_m]);
            assert_eq!(sum, 8 * 6 - 1, "{x_m} {z_m}");
        }
    }

    #[test]
    fn the_nearest_sample_is_on_the_map() {
        let grid = Grid::new(WORLD, 31, 11);
        let found = [[149.0, 151.0], [-900.0, 5e6], [2999.0, 0.0]].map(|place_m| grid.nearest_sample(place_m));
        assert_eq!(found, [2 * 31 + 1, 10 * 31, 30]);
        let part = grid.part([10, 2], [5, 4]);
        assert_eq!(part.nearest_sample([1210.0, 310.0]), 5 + 2);
    }

    #[test]
    fn a_part_knows_where_it_is_cut_out_of_the_world() {
        let grid = Grid::new(WORLD, 31, 11);
        let part = grid.part([0, 2], [5, 9]);
        assert_eq!((part.full(), part.first()), (grid, [0, 2]));
        assert_eq!(part.as_part(), GridPart { first: [0, 2], size: [5, 9] });
        let places = [[4, 10], [0, 2], [5, 2], [0, 1]].map(|place| part.as_part().inside(place));
        assert_eq!(places, [Some([4, 8]), Some([0, 0]), None, None]);
        assert_eq!(part.as_part().rows(31).nth(1), Some(93..98));
        let cuts = |part: Grid| [[0, 4], [4, 4], [2, 0], [2, 8]].map(|[c, r]| part.is_at_cut(c, r));
        assert_eq!(cuts(part), [false, true, true, false]);
        assert!((0..31).all(|c| (0..11).all(|r| !grid.is_at_cut(c, r))));
    }

    #[test]
    fn positions_on_small_and_large_grids_are_bit_identical() {
        let odd = Extent { width_m: 4100.7, depth_m: 977.3 };
        let (small, large) = (Grid::new(odd, 257, 257), Grid::new(odd, 1025, 1025));
        assert!((0..257).all(|i| small.x_m(i) == large.x_m(4 * i) && small.z_m(i) == large.z_m(4 * i)));
    }

    #[test]
    fn a_plane_has_exact_heights_between_samples_and_gradients() {
        let plane = Heightfield::from_fn(Grid::new(WORLD, 31, 11), |c, r| c as f32 * 2.0 + r as f32 * 5.0);
        assert!((plane.height_at(150.0, 250.0) - (3.0 + 12.5)).abs() < 1e-4);
        for (c, r) in [(0, 0), (15, 5), (30, 10)] {
            let [east, south] = plane.gradient(c, r);
            assert!((east - 0.02).abs() < 1e-6 && (south - 0.05).abs() < 1e-6);
        }
    }

    #[test]
    fn gradients_of_rows_equal_those_of_samples() {
        let wave = |c: usize, r: usize| libm::sinf(1.7 * c as f32) + libm::cosf(0.9 * (r * c) as f32);
        for (width, height) in [(31, 11), (2, 2), (3, 2)] {
            let terrain = Heightfield::from_fn(Grid::new(WORLD, width, height), wave);
            for r in 0..height {
                let (mut east, mut south) = (vec![0.0; width], vec![0.0; width]);
                terrain.gradients_of_row(r, [&mut east, &mut south]);
                assert!((0..width).all(|c| [east[c], south[c]] == terrain.gradient(c, r)), "{width} × {height}");
            }
        }
    }
}
