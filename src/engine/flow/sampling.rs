//! Transfer of heights between the points of a mesh and the samples of a grid.

use std::sync::Arc;

use rayon::prelude::*;

use super::location::Places;
use super::mesh::{Location, Mesh, Triangle};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield, bilinear, copy_heights};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Changes the heights at the points of a mesh by work on the samples of its grid: along rows and columns. Keeps the
/// triangles at the samples and its buffers, for repeated use.
#[derive(Debug)]
pub(crate) struct GridSampler {
    mesh: Mesh,
    /// `None` for a regular mesh, whose points are the samples.
    samples: Option<Samples>,
}

/// The samples of the grid of an irregular mesh.
#[derive(Debug)]
struct Samples {
    /// The triangle at each sample.
    triangles: Arc<Vec<Triangle>>,
    /// The heights at the samples, before and after they are changed.
    before: Heightfield,
    after: Heightfield,
}

impl GridSampler {
    /// Peak memory in maps of f32: triangles of three, and two buffers.
    pub const MAPS: f64 = 5.0;

    /// Finds the triangles at the samples of the mesh's grid.
    pub fn new(mesh: &Mesh, progress: &Progress) -> Result<Self, Cancelled> {
        let samples = if mesh.is_regular() { None } else { Some(Samples::new(mesh, progress)?) };
        Ok(Self { mesh: mesh.clone(), samples })
    }

    /// Adds what `change` changes on the grid to the heights at the points, except where `is_fixed` is true.
    pub fn change(
        &mut self,
        terrain: &mut Heightfield,
        is_fixed: Option<&[bool]>,
        change: impl FnOnce(&mut Heightfield) -> Result<(), Cancelled>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let Some(samples) = &mut self.samples else { return change(terrain) };
        samples.interpolate(terrain, progress)?;
        let Samples { before, after, .. } = samples;
        copy_heights(after.heights_mut(), before.heights(), progress)?;
        change(after)?;
        after.combine(before, |after, before| after - before, progress)?;
        self.mesh.add_map(terrain, after, is_fixed, progress)
    }
}

impl Samples {
    fn new(mesh: &Mesh, progress: &Progress) -> Result<Self, Cancelled> {
        let [before, after] = [(); 2].map(|()| Heightfield::flat(mesh.grid()));
        Ok(Self { triangles: mesh.triangles_at_samples(progress)?, before, after })
    }

    /// Sets `before` to the heights at the samples, given those at the points.
    fn interpolate(&mut self, points: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (width, heights) = (points.grid().width(), points.heights());
        let offsets = Triangle::offsets(width);
        let rows = self.before.heights_mut().par_chunks_exact_mut(width).zip(self.triangles.par_chunks_exact(width));
        rows.enumerate().with_min_len(4).try_for_each(|(r, (row, triangles))| {
            for (c, (height, triangle)) in row.iter_mut().zip(triangles).enumerate() {
                *height = triangle.value(r * width + c, &offsets, heights);
            }
            progress.check()
        })
    }
}

/// The height in a triangle. Exactly level where all corners are at the same height.
#[inline(always)]
fn interpolated([a, b, c]: [f32; 3], [to_b, to_c]: [f32; 2]) -> f32 {
    a + (b - a) * to_b + (c - a) * to_c
}

impl Triangle {
    /// The row-major indices of the nine points around a sample after that of the first one, with so many in a row.
    pub(super) fn offsets(width: usize) -> [usize; 9] {
        std::array::from_fn(|place| place / 3 * width + place % 3)
    }

    /// The value at a sample, given those at the points, row by row, and their offsets.
    #[inline(always)]
    pub(super) fn value(&self, sample: usize, offsets: &[usize; 9], points: &[f32]) -> f32 {
        self.interpolated(self.values(sample, offsets, points))
    }

    /// The value at the sample, given those at the corners.
    #[inline(always)]
    pub(super) fn interpolated(&self, values: [f32; 3]) -> f32 {
        interpolated(values, self.weights)
    }

    /// The values at the corners.
    #[inline(always)]
    pub(super) fn values(&self, sample: usize, offsets: &[usize; 9], points: &[f32]) -> [f32; 3] {
        // The centre is the sample's own point.
        self.corners.map(|corner| points[sample + offsets[usize::from(corner)] - offsets[4]])
    }
}

impl Location {
    /// The value of a map of the points, within the triangle.
    #[inline(always)]
    pub fn value(&self, map: &Heightfield) -> f32 {
        self.interpolated(self.values(map))
    }

    /// The values of a map at the corners.
    #[inline(always)]
    pub fn values(&self, map: &Heightfield) -> [f32; 3] {
        self.corners.map(|corner| map.heights()[corner as usize])
    }

    /// The value within the triangle, given those at its corners.
    #[inline(always)]
    pub fn interpolated(&self, values: [f32; 3]) -> f32 {
        let [_, second, third] = self.weights;
        interpolated(values, [second, third])
    }
}

impl Mesh {
    /// The triangles at the samples of the mesh's own grid.
    pub(super) fn triangles_at_samples(&self, progress: &Progress) -> Result<Arc<Vec<Triangle>>, Cancelled> {
        let find = || {
            let grid = self.grid();
            let width = grid.width();
            let mut triangles = vec![Triangle::default(); grid.samples()];
            let places = GridPlaces::new(grid, grid, 0);
            triangles.par_chunks_exact_mut(width).enumerate().try_for_each_init(Vec::new, |locations, (r, row)| {
                places.locate(self, r, locations);
                for (c, (triangle, location)) in row.iter_mut().zip(locations).enumerate() {
                    let corners = location.corners.map(|corner| {
                        let (column, row) = (corner as usize % width, corner as usize / width);
                        (3 * (row + 1 - r) + (column + 1 - c)).to_u8()
                    });
                    let [_, second, third] = location.weights;
                    *triangle = Triangle { corners, weights: [second, third] };
                }
                progress.check()
            })?;
            Ok(triangles)
        };
        self.triangles(find)
    }

    /// The heights at the samples of any grid of the same world, within the triangles.
    pub fn sampled(&self, heights: &[f32], grid: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(grid);
        if self.is_regular() && self.grid() == grid {
            copy_heights(terrain.heights_mut(), heights, progress)?;
            return Ok(terrain);
        }
        let places = GridPlaces::new(grid, self.grid(), self.margin());
        let counter = progress.counter(grid.height());
        let rows = terrain.heights_mut().par_chunks_exact_mut(grid.width()).enumerate();
        rows.try_for_each_init(Vec::new, |locations, (r, row)| {
            places.locate(self, r, locations);
            for (height, location) in row.iter_mut().zip(locations) {
                *height = location.interpolated(location.corners.map(|corner| heights[corner as usize]));
            }
            counter.add_one()
        })?;
        Ok(terrain)
    }

    /// Adds a map on the mesh's grid, interpolated bilinearly, to the heights of the points, except where `is_fixed` is true,
    /// if it is given.
    pub fn add_map(
        &self,
        terrain: &mut Heightfield,
        map: &Heightfield,
        is_fixed: Option<&[bool]>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let (width, height) = (self.grid().width(), self.grid().height());
        let none_fixed = if is_fixed.is_none() { vec![false; width] } else { Vec::new() };
        let rows = terrain.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(4);
        rows.try_for_each(|(r, points)| {
            let offsets = self.offsets_in_row(r);
            let is_fixed = is_fixed.map_or(&*none_fixed, |is_fixed| &is_fixed[r * width..][..width]);
            let add = |c: usize, point: &mut f32| {
                if !is_fixed[c] {
                    let ((column, u), (row, v)) = (cell(c, offsets[0][c], width), cell(r, offsets[1][c], height));
                    let [north, south] = [row, row + 1].map(|row| &map.row(row)[column..][..2]);
                    *point += bilinear([north[0], north[1], south[0], south[1]], u, v);
                }
            };
            if r + 1 < height && width > 2 {
                let rows = [r.saturating_sub(1), r, r + 1].map(|r| map.row(r));
                simd(
                    #[inline(always)]
                    || add_inside(points, rows, offsets, is_fixed),
                );
                add(0, &mut points[0]);
                add(width - 1, &mut points[width - 1]);
            } else {
                points.iter_mut().enumerate().for_each(|(c, point)| add(c, point));
            }
            progress.check()
        })
    }

    /// A map on the mesh's grid at the points of the mesh.
    pub fn at_points(&self, map: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        if self.is_regular() {
            return map.copied(progress);
        }
        let mut terrain = Heightfield::flat(self.grid());
        self.add_map(&mut terrain, map, None, progress)?;
        Ok(terrain)
    }
}

/// Adds a map to the points of a row that are not at its ends, interpolated bilinearly between this row and the adjacent
/// ones.
#[inline(always)]
fn add_inside(points: &mut [f32], rows: [&[f32]; 3], [east, south]: [&[f32]; 2], is_fixed: &[bool]) {
    let inside = points.len() - 2;
    let [north_of, here, south_of] = rows.map(|row| [&row[..inside], &row[1..][..inside], &row[2..][..inside]]);
    let points = &mut points[1..][..inside];
    let [east, south] = [east, south].map(|offsets| &offsets[1..][..inside]);
    let is_fixed = &is_fixed[1..][..inside];
    let select = |condition: bool, a: f32, b: f32| if condition { a } else { b };
    for c in 0..inside {
        let (is_west, is_north) = (east[c] < 0.0, south[c] < 0.0);
        // All nine values are read whichever are needed, so that the loop is vectorized.
        let [nw, n, ne] = [north_of[0][c], north_of[1][c], north_of[2][c]];
        let [w, own, e] = [here[0][c], here[1][c], here[2][c]];
        let [sw, s, se] = [south_of[0][c], south_of[1][c], south_of[2][c]];
        let upper = [select(is_north, nw, w), select(is_north, n, own), select(is_north, ne, e)];
        let lower = [select(is_north, w, sw), select(is_north, own, s), select(is_north, e, se)];
        let [nw, ne] = [select(is_west, upper[0], upper[1]), select(is_west, upper[1], upper[2])];
        let [sw, se] = [select(is_west, lower[0], lower[1]), select(is_west, lower[1], lower[2])];
        let fraction = |offset: f32, is_negative: bool| offset + if is_negative { 1.0 } else { 0.0 };
        let change = bilinear([nw, ne, sw, se], fraction(east[c], is_west), fraction(south[c], is_north));
        points[c] = if is_fixed[c] { points[c] } else { points[c] + change };
    }
}

/// The cell that contains a point displaced by `offset`, and the fraction of the cell.
#[inline(always)]
fn cell(at: usize, offset: f32, count: usize) -> (usize, f32) {
    let first = if offset < 0.0 { at.saturating_sub(1) } else { at }.min(count.saturating_sub(2));
    (first, offset + (at - first).to_f32())
}

/// The places of the samples of a grid among the points of a mesh.
pub(super) struct GridPlaces {
    columns: Vec<usize>,
    /// The fractions of the columns.
    u: Vec<f32>,
    rows: Vec<(usize, f32)>,
}

impl GridPlaces {
    /// The places of a grid on a mesh with the grid `own`, whose full one has a margin of so many samples beyond each side
    /// of the world. Both can be parts, of which the mesh's has all places.
    pub fn new(grid: Grid, own: Grid, margin: usize) -> Self {
        let sides = |grid: Grid| [grid.width(), grid.height()];
        let places = |axis: usize| {
            let [full, full_own] = [grid, own].map(|grid| sides(grid.full())[axis]);
            let (first, first_own, count_own) = (grid.first()[axis], own.first()[axis], sides(own)[axis]);
            (first..first + sides(grid)[axis]).map(move |i| {
                let (at, share) = place(i, full, full_own - 2 * margin);
                let at = at + margin - first_own;
                match () {
                    // The last sample of the world is the first one of the margin.
                    () if share == 1.0 && at + 2 < count_own => (at + 1, 0.0),
                    () if at + 1 < count_own => (at, share),
                    () => (at - 1, share + 1.0),
                }
            })
        };
        let (columns, u) = places(0).unzip();
        Self { columns, u, rows: places(1).collect() }
    }

    /// Finds the triangles at the samples of a row.
    pub fn locate(&self, mesh: &Mesh, r: usize, locations: &mut Vec<Location>) {
        let (row, v) = self.rows[r];
        let v = vec![v; self.columns.len()];
        mesh.locate_row(Places { row, columns: &self.columns, u: &self.u, v: &v }, locations);
    }
}

/// The position of sample `i` of `samples` among `own` samples of the same length: a whole number and a fraction.
fn place(i: usize, samples: usize, own: usize) -> (usize, f32) {
    let cells = (samples - 1).max(1);
    let scaled = i * (own - 1);
    let (whole, rest) = (scaled / cells, scaled % cells);
    if whole + 1 >= own { (own - 2, 1.0) } else { (whole, (rest.to_f64() / cells.to_f64()).to_f32()) }
}

#[cfg(test)]
mod tests {
    use super::super::wide_grid::WideGrid;
    use super::*;
    use crate::heightfield::Extent;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: 400.0, depth_m: 300.0 }, width, height)
    }

    fn plane(grid: Grid) -> Heightfield {
        Heightfield::from_fn(grid, |c, r| (3.0 * grid.x_m(c) - 2.0 * grid.z_m(r)) as f32)
    }

    #[test]
    fn planes_are_exact_at_points_and_at_samples_of_any_grid() {
        let progress = Progress::new();
        let mesh = Mesh::new(grid(33, 25), 0, 1.0, &progress).expect("not cancelled");
        let points = mesh.at_points(&plane(mesh.grid()), &progress).expect("not cancelled");
        for (c, r) in (0..33).flat_map(|c| (0..25).map(move |r| (c, r))) {
            let [east, south] = mesh.offset(c, r);
            let expected = 12.5 * (3.0 * (c as f32 + east) - 2.0 * (r as f32 + south));
            assert!((points[(c, r)] - expected).abs() < 1e-3);
        }
        for samples in [grid(33, 25), grid(97, 49), grid(10, 7)] {
            let sampled = mesh.sampled(points.heights(), samples, &progress).expect("not cancelled");
            let expected = plane(samples);
            let differences = sampled.heights().iter().zip(expected.heights()).map(|(a, b)| (a - b).abs());
            assert!(differences.fold(0.0, f32::max) < 2e-3);
        }
        let mut samples = Samples::new(&mesh, &progress).expect("not cancelled");
        samples.interpolate(&points, &progress).expect("not cancelled");
        assert_eq!(mesh.sampled(points.heights(), mesh.grid(), &progress), Ok(samples.before));
    }

    #[test]
    fn margins_are_not_sampled() {
        let progress = Progress::new();
        let (world, margin) = (grid(33, 25), 3);
        let mesh = WideGrid::new(world, margin).reference_mesh(1.0, &progress).expect("not cancelled");
        // A plane that is 0 at the north-western corner of the world.
        let points = Heightfield::from_fn(mesh.grid(), |c, r| {
            let [east, south] = mesh.offset(c, r);
            12.5 * (3.0 * (c as f32 - 3.0 + east) - 2.0 * (r as f32 - 3.0 + south))
        });
        for samples in [world, grid(97, 49), grid(10, 7), grid(97, 49).part([40, 10], [57, 20])] {
            let sampled = mesh.sampled(points.heights(), samples, &progress).expect("not cancelled");
            let expected = plane(samples);
            let differences = sampled.heights().iter().zip(expected.heights()).map(|(a, b)| (a - b).abs());
            assert!(differences.fold(0.0, f32::max) < 2e-3, "{samples:?}");
        }
        assert!(mesh.has_samples(world) && !mesh.has_samples(mesh.grid()) && !mesh.has_samples(grid(97, 49)));
    }

    #[test]
    fn work_on_the_grid_changes_the_points_that_are_not_fixed() {
        let progress = Progress::new();
        for randomness in [0.0, 1.0] {
            let mesh = Mesh::new(grid(9, 5), 0, randomness, &progress).expect("not cancelled");
            let mut sampler = GridSampler::new(&mesh, &progress).expect("not cancelled");
            let mut terrain = Heightfield::from_fn(mesh.grid(), |c, r| (c * r) as f32);
            let before = terrain.clone();
            let raise = |terrain: &mut Heightfield| {
                terrain.heights_mut().iter_mut().for_each(|height| *height += 8.0);
                Ok(())
            };
            let is_fixed: Vec<bool> = (0..45).map(|point| point % 7 == 0 && randomness > 0.0).collect();
            sampler.change(&mut terrain, Some(&is_fixed), raise, &progress).expect("not cancelled");
            for ((after, before), is_fixed) in terrain.heights().iter().zip(before.heights()).zip(is_fixed) {
                let expected = if is_fixed { 0.0 } else { 8.0 };
                assert!((after - before - expected).abs() < 1e-4, "{after} after {before}");
            }
        }
    }

    #[test]
    fn maps_are_added_to_rows_as_they_are_to_single_points() {
        let progress = Progress::new();
        for [width, height] in [[2, 2], [2, 5], [3, 3], [33, 25]] {
            let mesh = Mesh::new(grid(width, height), 0, 1.0, &progress).expect("not cancelled");
            let map = Heightfield::from_fn(mesh.grid(), |c, r| ((7 * c + 13 * r) % 11) as f32 - 5.0);
            for fixed in [2, usize::MAX] {
                let is_fixed: Vec<bool> = (0..width * height).map(|point| point % fixed == 1).collect();
                let mut terrain = Heightfield::from_fn(mesh.grid(), |_, _| -0.0);
                mesh.add_map(&mut terrain, &map, Some(&is_fixed), &progress).expect("not cancelled");
                for (c, r) in (0..height).flat_map(|r| (0..width).map(move |c| (c, r))) {
                    let [east, south] = mesh.offset(c, r);
                    let ((column, u), (row, v)) = (cell(c, east, width), cell(r, south, height));
                    let value = |c: usize, r: usize| map[(column + c, row + r)];
                    let added = -0.0 + bilinear([value(0, 0), value(1, 0), value(0, 1), value(1, 1)], u, v);
                    let expected = if is_fixed[r * width + c] { -0.0 } else { added };
                    assert_eq!(terrain[(c, r)].to_bits(), expected.to_bits(), "{width} × {height}: {c}, {r}");
                }
            }
        }
    }

    #[test]
    fn level_terrain_stays_level() {
        let progress = Progress::new();
        let mesh = Mesh::new(grid(17, 17), 3, 1.0, &progress).expect("not cancelled");
        let level = Heightfield::from_fn(mesh.grid(), |_, _| 1234.567);
        assert_eq!(mesh.at_points(&level, &progress), Ok(level.clone()));
        let sampled = mesh.sampled(level.heights(), grid(40, 23), &progress).expect("not cancelled");
        assert!(sampled.heights().iter().all(|height| *height == 1234.567));
    }

    #[test]
    fn positions_are_whole_numbers_and_fractions_of_the_cells() {
        assert_eq!(
            [place(0, 5, 3), place(1, 5, 3), place(2, 5, 3), place(4, 5, 3)],
            [(0, 0.0), (0, 0.5), (1, 0.0), (1, 1.0)]
        );
        assert_eq!(place(65_536, 65_537, 65_537), (65_535, 1.0));
    }
}
