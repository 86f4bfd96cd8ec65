//! An irregular triangulation with a point near every sample of a grid, on which water has no preferred directions.
//!
//! On a square grid, flow follows eight directions, which shows as stairs along rows and diagonals. Irregular networks
//! avoid this (G. Cordonnier et al., "Large scale terrain generation from tectonic uplift and fluvial erosion",
//! Computer Graphics Forum 35, 2016). Here every sample is moved by a hash of its level and place, and every quad of
//! four neighbours is split along its shorter diagonal. A point then has four to eight neighbours, which are among the
//! eight neighbours on the grid, so rows remain rows in memory.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, GridPart};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// The largest displacement of a point along each axis, in spacings of the grid. Below 0.5, quads remain simple polygons.
/// At 0.35, fine relief along the axes is still 1.4 times as strong as across them.
pub(crate) const MAX_OFFSET: f32 = 0.49;

/// The points near the samples of a grid. Clones share the points.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    grid: Grid,
    /// The points beyond each side of the world.
    margin: usize,
    /// The refinement level, which is part of the hash: 0 for the reference grid.
    level: u32,
    points: Arc<Points>,
    /// The ratio of the spacing of rows to that of columns.
    aspect: f32,
}

/// The most samples of all cached meshes: two of the largest reference grids with their margins, which take 62 MB with their
/// maps.
const MAX_CACHED_SAMPLES: usize = 2 * 545 * 545;

/// The meshes that were used last. A preview evaluates a recipe on the same grids again and again, and placing the points
/// takes as long as a few steps of erosion.
static CACHE: Mutex<MeshCache> = Mutex::new(MeshCache(Vec::new()));

/// The points of meshes with what they were made from, the most recently used last.
#[derive(Debug, Default)]
struct MeshCache(Vec<(Origin, Arc<Points>)>);

/// What the points of a mesh depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Origin {
    grid: Grid,
    level: u32,
    max_offset: f32,
}

impl MeshCache {
    fn get(&mut self, origin: Origin) -> Option<Arc<Points>> {
        let at = self.0.iter().position(|(known, _)| *known == origin)?;
        self.0[at..].rotate_left(1);
        self.0.last().map(|(_, points)| points.clone())
    }

    /// Adds points unless they are there already, and removes the least recently used ones that are too many; returns
    /// those that are cached.
    fn add(&mut self, origin: Origin, points: Arc<Points>) -> Arc<Points> {
        if let Some(known) = self.get(origin) {
            return known;
        }
        self.0.push((origin, points.clone()));
        let samples = |(origin, _): &(Origin, Arc<Points>)| origin.grid.samples();
        while self.0.iter().map(samples).sum::<usize>() > MAX_CACHED_SAMPLES {
            self.0.remove(0);
        }
        points
    }
}

/// The cache, which is consistent even if a thread panicked while it used it.
fn cache() -> MutexGuard<'static, MeshCache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The columns and rows to the neighbours of a point inside the border, in the order of [`Mesh::around`].
pub(super) const AROUND: [[isize; 2]; 8] = [[-1, -1], [0, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [0, 1], [1, 1]];

/// A place in a triangle: the samples at its corners, row-major, and their barycentric weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Location {
    pub corners: [u32; 3],
    pub weights: [f32; 3],
    /// The positions of the corners relative to the place, in spacings of columns.
    pub relative: [[f32; 2]; 3],
}

/// The triangle of a mesh at a sample, in as little memory as possible, because reading it takes most of the time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Triangle {
    /// The places of the corners among the nine points around the sample, which contain it because every point is less
    /// than half a spacing from its own sample.
    pub corners: [u8; 3],
    /// The weights of the second and the third corner.
    pub weights: [f32; 2],
}

/// The points of a mesh, row by row, with maps that are computed on first use if the mesh is cached.
#[derive(Debug)]
struct Points {
    /// The displacements eastward and southward, in spacings of columns and rows.
    offsets: [Vec<f32>; 2],
    /// Whether the quad with each point at its north-west is split from there to the south-east.
    is_falling: Vec<bool>,
    /// The points from a row to the next; 0 for a regular grid, whose rows are all the same.
    stride: usize,
    lengths: OnceLock<Arc<[Vec<f32>; 4]>>,
    triangles: OnceLock<Arc<Vec<Triangle>>>,
    weights: OnceLock<Arc<Vec<f32>>>,
    /// The places of the points on the coarser mesh.
    places: OnceLock<Arc<Vec<Location>>>,
}

impl Points {
    fn new(offsets: [Vec<f32>; 2], is_falling: Vec<bool>, stride: usize) -> Arc<Self> {
        let (lengths, triangles, weights, places) = Default::default();
        Arc::new(Self { offsets, is_falling, stride, lengths, triangles, weights, places })
    }
}

impl Mesh {
    /// The points of a level. `randomness` from 0 to 1 scales their displacements. Points on the border of
    /// the grid, which includes the margin, stay on it.
    pub fn new(grid: Grid, level: u32, randomness: f32, progress: &Progress) -> Result<Self, Cancelled> {
        let regular = Self { level, ..Self::regular(grid) };
        let max_offset = MAX_OFFSET * randomness.clamp(0.0, 1.0);
        if max_offset == 0.0 {
            return Ok(regular);
        }
        let origin = Origin { grid, level, max_offset };
        if let Some(points) = cache().get(origin) {
            return Ok(Self { points, ..regular });
        }
        let (width, full, first) = (grid.width(), grid.full(), grid.first());
        let last = [full.width() - 1, full.height() - 1];
        let [mut east, mut south] = [(); 2].map(|()| vec![0.0; grid.samples()]);
        let rows = east.par_chunks_exact_mut(width).zip(south.par_chunks_exact_mut(width)).enumerate();
        rows.try_for_each(|(r, (east, south))| {
            let r = first[1] + r;
            for (c, (east, south)) in (first[0]..).zip(east.iter_mut().zip(south)) {
                let bits = hash(level, c, r);
                let share = |bits: u64| (bits & 0xff_ffff).to_f32() * (2.0 / (1_u64 << 24).to_f32()) - 1.0;
                *east = if c == 0 || c == last[0] { 0.0 } else { max_offset * share(bits) };
                *south = if r == 0 || r == last[1] { 0.0 } else { max_offset * share(bits >> 32) };
            }
            progress.check()
        })?;
        let mut is_falling = vec![false; grid.samples()];
        is_falling.par_chunks_exact_mut(width).take(grid.height() - 1).enumerate().try_for_each(|(r, splits)| {
            let row = |r: usize| [&east[r * width..][..width], &south[r * width..][..width]];
            simd(
                #[inline(always)]
                || find_splits(row(r), row(r + 1), regular.aspect, splits),
            );
            progress.check()
        })?;
        let mesh = Self { points: Points::new([east, south], is_falling, width), ..regular };
        let points = if mesh.is_cached() { cache().add(origin, mesh.points) } else { mesh.points };
        Ok(Self { points, ..regular })
    }

    /// The samples of a grid as they are, each with eight neighbours.
    pub fn regular(grid: Grid) -> Self {
        let aspect = (grid.spacing_z_m() / grid.spacing_x_m()).to_f32();
        let offsets = [vec![0.0; grid.width()], vec![0.0; grid.width()]];
        let points = Points::new(offsets, vec![true; grid.width()], 0);
        Self { grid, margin: 0, level: 0, points, aspect }
    }

    /// The points near the samples of a part of the grid.
    pub(super) fn part(&self, part: GridPart) -> Self {
        let grid = self.grid.part(part.first, part.size);
        if self.is_regular() {
            return Self { level: self.level, margin: self.margin, ..Self::regular(grid) };
        }
        let rows = || part.rows(self.points.stride);
        let offsets =
            self.points.offsets.each_ref().map(|offsets| rows().flat_map(|row| &offsets[row]).copied().collect());
        let is_falling = rows().flat_map(|row| &self.points.is_falling[row]).copied().collect();
        Self { grid, points: Points::new(offsets, is_falling, grid.width()), ..*self }
    }

    /// Whether the points, and the maps made from them, are cached for the next mesh of the same kind.
    pub(super) fn is_cached(&self) -> bool {
        !self.is_regular() && !self.grid.is_part() && 2 * self.grid.samples() <= MAX_CACHED_SAMPLES
    }

    /// A map made from the points, which is cached with them.
    fn map<T>(
        &self,
        map: &OnceLock<Arc<T>>,
        compute: impl FnOnce() -> Result<T, Cancelled>,
    ) -> Result<Arc<T>, Cancelled> {
        if let Some(known) = map.get() {
            return Ok(known.clone());
        }
        let computed = Arc::new(compute()?);
        Ok(if self.is_cached() { map.get_or_init(|| computed).clone() } else { computed })
    }

    /// The mesh whose grid has a margin of so many samples beyond each side of the world.
    pub fn with_margin(self, margin: usize) -> Self {
        Self { margin, ..self }
    }

    /// The points beyond each side of the world.
    pub fn margin(&self) -> usize {
        self.margin
    }

    /// Whether the samples of a grid of the world are those of the mesh's grid, without its margin.
    pub(super) fn has_samples(&self, grid: Grid) -> bool {
        let [own, inside] = [self.grid, grid].map(|grid| [grid.width(), grid.height()]);
        !grid.is_part() && !self.grid.is_part() && own == inside.map(|side| side + 2 * self.margin)
    }

    /// The grid whose samples are displaced.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The refinement level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Whether the points are the samples of the grid.
    pub fn is_regular(&self) -> bool {
        self.points.stride == 0
    }

    /// The ratio of the spacing of rows to that of columns.
    pub(super) fn aspect(&self) -> f32 {
        self.aspect
    }

    /// The displacement of a point in spacings of columns and rows.
    #[inline(always)]
    pub fn offset(&self, c: usize, r: usize) -> [f32; 2] {
        let at = r * self.points.stride + c;
        [self.points.offsets[0][at], self.points.offsets[1][at]]
    }

    /// The displacements of the points of a row eastward and southward, in spacings of columns and rows.
    pub(super) fn offsets_in_row(&self, r: usize) -> [&[f32]; 2] {
        let row = r * self.points.stride..r * self.points.stride + self.grid.width();
        self.points.offsets.each_ref().map(|offsets| &offsets[row.clone()])
    }

    /// Whether each quad south of a row is split from north-west to south-east.
    pub(super) fn splits_in_row(&self, r: usize) -> &[bool] {
        &self.points.is_falling[r * self.points.stride..][..self.grid.width() - 1]
    }

    /// The up to eight points around a point in its rows and columns.
    pub(super) fn around(&self, c: usize, r: usize) -> impl Iterator<Item = [usize; 2]> {
        let columns = c.saturating_sub(1)..(c + 2).min(self.grid.width());
        let rows = r.saturating_sub(1)..(r + 2).min(self.grid.height());
        rows.flat_map(move |r| columns.clone().map(move |c| [c, r])).filter(move |point| *point != [c, r])
    }

    /// The vector between two neighbouring points, in spacings of columns.
    pub(super) fn vector(&self, [c, r]: [usize; 2], [to_c, to_r]: [usize; 2]) -> [f32; 2] {
        let ([east, south], [to_east, to_south]) = (self.offset(c, r), self.offset(to_c, to_r));
        let columns = to_c.to_isize().wrapping_sub(c.to_isize()).to_f32();
        let rows = to_r.to_isize().wrapping_sub(r.to_isize()).to_f32();
        [columns + to_east - east, (rows + to_south - south) * self.aspect]
    }

    /// The triangles at the samples of the mesh's own grid, which `find` finds.
    pub(super) fn triangles(
        &self,
        find: impl FnOnce() -> Result<Vec<Triangle>, Cancelled>,
    ) -> Result<Arc<Vec<Triangle>>, Cancelled> {
        self.map(&self.points.triangles, find)
    }

    /// The weights of the neighbours of the points, which `find` finds.
    pub(super) fn weights(
        &self,
        find: impl FnOnce() -> Result<Vec<f32>, Cancelled>,
    ) -> Result<Arc<Vec<f32>>, Cancelled> {
        self.map(&self.points.weights, find)
    }

    /// The places of the points on the mesh with half the resolution, which `find` finds; `None` if they are not cached,
    /// because they take more memory than the points.
    pub(super) fn places_on_coarser(
        &self,
        find: impl FnOnce() -> Result<Vec<Location>, Cancelled>,
    ) -> Result<Option<Arc<Vec<Location>>>, Cancelled> {
        if self.is_cached() { self.map(&self.points.places, find).map(Some) } else { Ok(None) }
    }

    /// The reciprocal lengths of all edges per metre, as maps padded by one sample, at the north-western sample of
    /// each: edges to the east, to the south, diagonals to the south-east, and diagonals from the sample to the east to
    /// the one to the south. 0 where there is no edge.
    pub fn reciprocal_lengths(&self, progress: &Progress) -> Result<Arc<[Vec<f32>; 4]>, Cancelled> {
        self.map(&self.points.lengths, || self.find_reciprocal_lengths(progress))
    }

    fn find_reciprocal_lengths(&self, progress: &Progress) -> Result<[Vec<f32>; 4], Cancelled> {
        let (width, height, stride) = (self.grid.width(), self.grid.height(), self.grid.width() + 2);
        let per_m = self.grid.spacing_x_m().recip().to_f32();
        let mut maps = [(); 4].map(|()| vec![0.0; stride * (height + 2)]);
        let [east, south, falling, rising] = &mut maps;
        let rows = east
            .par_chunks_exact_mut(stride)
            .zip(south.par_chunks_exact_mut(stride))
            .zip(falling.par_chunks_exact_mut(stride).zip(rising.par_chunks_exact_mut(stride)))
            .skip(1)
            .take(height)
            .enumerate();
        rows.try_for_each(|(r, ((east, south), (falling, rising)))| {
            let (here, inside) = (self.offsets_in_row(r), 1..width + 1);
            let [east, south, falling, rising] = [east, south, falling, rising].map(|row| &mut row[inside.clone()]);
            let reciprocals = |from: [&[f32]; 2], to: [&[f32]; 2], step: [isize; 2], lengths: &mut [f32]| {
                let step = [step[0].to_f32(), step[1].to_f32()];
                simd(
                    #[inline(always)]
                    || find_reciprocals(from, to, (step, self.aspect, per_m), lengths),
                );
            };
            reciprocals(here, beyond(here), [1, 0], &mut east[..width - 1]);
            if r + 1 < height {
                let below = self.offsets_in_row(r + 1);
                reciprocals(here, below, [0, 1], south);
                reciprocals(here, beyond(below), [1, 1], &mut falling[..width - 1]);
                reciprocals(beyond(here), below, [-1, 1], &mut rising[..width - 1]);
                for ((falling, rising), falls) in falling.iter_mut().zip(rising).zip(self.splits_in_row(r)) {
                    *(if *falls { rising } else { falling }) = 0.0;
                }
            }
            progress.check()
        })?;
        Ok(maps)
    }
}

/// Finds how the quads between two rows of displaced points are split: along their shorter diagonals, or along the only
/// ones that lie inside.
#[inline(always)]
fn find_splits(north: [&[f32]; 2], south: [&[f32]; 2], aspect: f32, is_falling: &mut [bool]) {
    let count = is_falling.len();
    let [north, south] = [north, south].map(|row| row.map(|offsets| &offsets[..count]));
    let area = |a: [f32; 2], b: [f32; 2], c: [f32; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    let squared = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
    let is_inside = |a: f32, b: f32| (a > 0.0) & (b > 0.0);
    for c in 0..count - 1 {
        let point = |row: [&[f32]; 2], column: usize, down: f32| {
            [row[0][c + column] + column.to_f32(), (row[1][c + column] + down) * aspect]
        };
        let [nw, ne, sw, se] = [point(north, 0, 0.0), point(north, 1, 0.0), point(south, 0, 1.0), point(south, 1, 1.0)];
        let falling = is_inside(area(nw, ne, se), area(nw, se, sw));
        let rising = is_inside(area(nw, ne, sw), area(ne, se, sw));
        is_falling[c] = falling & (!rising | (squared(nw, se) <= squared(ne, sw)));
    }
}

/// The displacements of the points of a row but the first.
fn beyond(row: [&[f32]; 2]) -> [&[f32]; 2] {
    row.map(|offsets| &offsets[1..])
}

/// Finds the reciprocal distances between pairs of points, given their displacements. The tuple has the columns and rows
/// from one to the other, the ratio of the spacings, and the columns per metre.
#[inline(always)]
fn find_reciprocals(
    from: [&[f32]; 2],
    to: [&[f32]; 2],
    (step, aspect, per_m): ([f32; 2], f32, f32),
    lengths: &mut [f32],
) {
    let count = lengths.len();
    let [from, to] = [from, to].map(|row| row.map(|offsets| &offsets[..count]));
    for (c, length) in lengths.iter_mut().enumerate() {
        let east = step[0] + to[0][c] - from[0][c];
        let south = (step[1] + to[1][c] - from[1][c]) * aspect;
        *length = per_m / (east * east + south * south).sqrt();
    }
}

/// A pseudorandom number that depends on a level and a place (the finaliser of SplitMix64, G. Steele, D. Lea and
/// C. Flood, "Fast splittable pseudorandom number generators", 2014).
#[inline(always)]
pub(super) fn hash(level: u32, c: usize, r: usize) -> u64 {
    let place = (c.to_u64() << 32) | r.to_u64();
    let mut bits = place.wrapping_add((u64::from(level) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::tests::mesh;
    use super::*;

    #[test]
    fn the_hash_is_splitmix64() {
        // The first two numbers of the reference implementation with the seed 0.
        assert_eq!([hash(0, 0, 0), hash(1, 0, 0)], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn points_depend_on_their_place_alone_and_stay_on_the_border() {
        let (small, large) = (mesh(9, 7), mesh(33, 29));
        for (c, r) in (1..8).flat_map(|c| (1..6).map(move |r| (c, r))) {
            assert_eq!(small.offset(c, r), large.offset(c, r));
            assert!(small.offset(c, r).iter().all(|offset| offset.abs() <= MAX_OFFSET && *offset != 0.0));
        }
        assert!((0..9).all(|c| small.offset(c, 0)[1] == 0.0 && small.offset(c, 6)[1] == 0.0));
        assert!((0..7).all(|r| small.offset(0, r)[0] == 0.0 && small.offset(8, r)[0] == 0.0));
    }

    #[test]
    fn parts_of_a_mesh_have_its_points_and_edges() {
        let progress = Progress::new();
        let whole = mesh(33, 29);
        for (first, size) in [([0, 0], [9, 8]), ([20, 14], [13, 15]), ([7, 3], [20, 20])] {
            let part = whole.part(GridPart { first, size });
            let computed =
                Mesh::new(whole.grid().part(first, size), whole.level(), 1.0, &progress).expect("not cancelled");
            for (c, r) in (0..size[0]).flat_map(|c| (0..size[1]).map(move |r| (c, r))) {
                let expected = whole.offset(first[0] + c, first[1] + r);
                assert_eq!([part.offset(c, r), computed.offset(c, r)], [expected; 2]);
                if c + 1 < size[0] && r + 1 < size[1] {
                    let expected = whole.splits_in_row(first[1] + r)[first[0] + c];
                    assert_eq!([part.splits_in_row(r)[c], computed.splits_in_row(r)[c]], [expected; 2]);
                }
            }
            assert!(!part.is_cached() && !computed.is_cached());
        }
    }

    #[test]
    fn triangles_cover_the_world_once() {
        let mesh = mesh(65, 49);
        let mut sum = 0.0;
        for (c, r) in (0..64).flat_map(|c| (0..48).map(move |r| (c, r))) {
            let quad = [[c, r], [c + 1, r], [c, r + 1], [c + 1, r + 1]].map(|corner| mesh.vector([c, r], corner));
            let triangles = if mesh.splits_in_row(r)[c] { [[0, 1, 3], [0, 3, 2]] } else { [[0, 1, 2], [1, 3, 2]] };
            for [a, b, c] in triangles.map(|corners| corners.map(|corner| quad[corner])) {
                let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
                assert!(area > 0.0, "a triangle is folded over at ({c:?})");
                sum += 0.5 * f64::from(area);
            }
        }
        assert!((sum - 64.0 * 48.0 * 1.5).abs() < 1e-2, "{sum}");
    }

    #[test]
    fn edges_have_the_lengths_between_their_points_and_quads_one_diagonal() {
        let (mesh, stride) = (mesh(9, 7), 11);
        let lengths = mesh.reciprocal_lengths(&Progress::new()).expect("not cancelled");
        let [east, south, falling, rising] = &*lengths;
        for (c, r) in (0..8).flat_map(|c| (0..6).map(move |r| (c, r))) {
            let at = (r + 1) * stride + c + 1;
            let reciprocal = |from, to| {
                let [x, z] = mesh.vector(from, to);
                1.0 / (20.0 * (x * x + z * z).sqrt())
            };
            assert!((east[at] - reciprocal([c, r], [c + 1, r])).abs() < 1e-6);
            assert!((south[at] - reciprocal([c, r], [c, r + 1])).abs() < 1e-6);
            assert_ne!(falling[at] > 0.0, rising[at] > 0.0);
            let sum = falling[at] + rising[at];
            let diagonals = [reciprocal([c, r], [c + 1, r + 1]), reciprocal([c + 1, r], [c, r + 1])];
            assert!(diagonals.iter().any(|diagonal| (sum - diagonal).abs() < 1e-6));
        }
        // There is nothing beyond the border.
        assert!((0..7).all(|r| east[(r + 1) * stride + 9] == 0.0 && falling[(r + 1) * stride + 9] == 0.0));
        assert!((0..9).all(|c| south[7 * stride + c + 1] == 0.0 && rising[7 * stride + c + 1] == 0.0));
    }

    fn origin(samples: usize, level: u32) -> Origin {
        let extent = crate::heightfield::Extent { width_m: 100.0, depth_m: 100.0 };
        Origin { grid: Grid::new(extent, samples, samples), level, max_offset: 0.49 }
    }

    #[test]
    fn the_cache_holds_the_meshes_that_were_used_last() {
        let mut cache = MeshCache::default();
        let points = || Points::new([Vec::new(), Vec::new()], Vec::new(), 1);
        let [first, second, third] = [0, 1, 2].map(|level| cache.add(origin(400, level), points()));
        let is_cached = |cache: &mut MeshCache, level, points: &Arc<Points>| {
            cache.get(origin(400, level)).is_some_and(|found| Arc::ptr_eq(&found, points))
        };
        assert!(
            is_cached(&mut cache, 1, &second) && is_cached(&mut cache, 2, &third) && is_cached(&mut cache, 0, &first)
        );
        // One that is there already stays, and the one that was used least recently goes.
        assert!(Arc::ptr_eq(&cache.add(origin(400, 2), points()), &third));
        let fourth = cache.add(origin(400, 3), points());
        assert!(
            is_cached(&mut cache, 3, &fourth) && is_cached(&mut cache, 0, &first) && is_cached(&mut cache, 2, &third)
        );
        assert!(cache.get(origin(400, 1)).is_none());
        // Nothing else is the same mesh.
        let other = Origin { max_offset: 0.2, ..origin(400, 3) };
        assert!(cache.get(other).is_none() && cache.get(origin(399, 3)).is_none());
    }

    #[test]
    fn a_cached_mesh_is_the_same_and_a_cancelled_one_is_not_cached() {
        let grid = Grid::new(crate::heightfield::Extent { width_m: 77.0, depth_m: 55.0 }, 41, 31);
        let cancelled = Progress::new();
        cancelled.cancel();
        assert!(Mesh::new(grid, 5, 1.0, &cancelled).is_err());
        let [first, second] = [(); 2].map(|()| Mesh::new(grid, 5, 1.0, &Progress::new()).expect("not cancelled"));
        assert!(Arc::ptr_eq(&first.points, &second.points));
        assert!(first.weights_around(&cancelled).is_err());
        let [weights, known] =
            [&first, &second].map(|mesh| mesh.weights_around(&Progress::new()).expect("not cancelled"));
        assert!(Arc::ptr_eq(&weights, &known));
    }
}
