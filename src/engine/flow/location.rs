//! Finds the triangles of a mesh that contain the points of a row, many at once.

use rayon::prelude::*;

use super::mesh::{Location, MAX_OFFSET, Mesh};
use crate::cast::{ToFloat, ToInteger};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Points that are located together.
const BATCH: usize = 64;

/// Points of a row, each in the quad of samples `columns` and `row`, at fractions `u` of its width and `v` of its depth.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub row: usize,
    pub columns: &'a [usize],
    pub u: &'a [f32],
    pub v: &'a [f32],
}

/// The best triangles so far for the points of a batch.
struct Best {
    /// The smallest of the three weights: not negative within a triangle.
    lowest: [f32; BATCH],
    /// The weights of the first two corners.
    weights: [[f32; BATCH]; 2],
    /// The positions of the corners relative to the points, in spacings of columns: x, then z of each.
    relative: [[f32; BATCH]; 6],
    /// The triangle, an index of [`TRIANGLES`].
    triangle: [u32; BATCH],
}

/// The quads at one position beside the points of a batch, from west to east.
struct Quads<'a> {
    /// Columns and rows from the points' own quads, −1 to 1.
    position: [isize; 2],
    /// The displacements eastward and southward of the corners in the northern and in the southern row.
    north: [&'a [f32]; 2],
    south: [&'a [f32]; 2],
    is_falling: &'a [bool],
    aspect: f32,
}

/// The corners of the triangles around a place as columns and rows from its quad. Four for each of 3 × 3 quads: east and
/// west of the rising diagonal, east and west of the falling one. The ends of the diagonal come first.
const TRIANGLES: [[[isize; 2]; 3]; 36] = {
    const IN_QUAD: [[[isize; 2]; 3]; 4] =
        [[[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [0, 0]], [[0, 0], [1, 1], [1, 0]], [[0, 0], [1, 1], [0, 1]]];
    let mut triangles = [[[0; 2]; 3]; 36];
    let mut index = 0_usize;
    while index < 36 {
        let (column, row) = ((index / 4 % 3).cast_signed() - 1, (index / 12).cast_signed() - 1);
        let mut corner = 0;
        while corner < 3 {
            let [east, south] = IN_QUAD[index % 4][corner];
            triangles[index][corner] = [column + east, row + south];
            corner += 1;
        }
        index += 1;
    }
    triangles
};

impl Mesh {
    /// Finds the triangles that contain the points of a row.
    pub(super) fn locate_row(&self, places: Places, locations: &mut Vec<Location>) {
        let count = places.columns.len();
        locations.resize(count, Location::default());
        let offsets = corner_offsets(self.grid().width());
        // Points of a grid with twice the resolution are in every column twice.
        let is_doubled = count > 2 && places.columns[2] == places.columns[0] + 1;
        let step = if is_doubled { 2 } else { 1 };
        for first in 0..step.min(count) {
            let mut at = first;
            while at < count {
                let batch = self.consecutive(places, at, step);
                self.locate_batch(places, (at, step, batch), &offsets, locations);
                at += batch * step;
            }
        }
    }

    /// How many of the points `first`, `first + step`, and so on are in consecutive columns within the border, at most
    /// [`BATCH`]. At least 1.
    fn consecutive(&self, Places { columns, .. }: Places, first: usize, step: usize) -> usize {
        let column = columns[first];
        let last = self.grid().width().saturating_sub(3);
        if column == 0 || column >= last {
            return 1;
        }
        let max = (last - column + 1).min(BATCH);
        (1..max).find(|i| columns.get(first + i * step) != Some(&(column + i))).unwrap_or(max)
    }

    /// Locates a batch of points in consecutive columns: the number of the first one, their distance, and their count.
    /// `offsets` are the [`corner_offsets`].
    fn locate_batch(
        &self,
        places: Places,
        (first, step, count): (usize, usize, usize),
        offsets: &[[u32; 3]; 36],
        locations: &mut [Location],
    ) {
        let (mut u, mut v) = ([0.0; BATCH], [0.0; BATCH]);
        for (i, (u, v)) in u.iter_mut().zip(&mut v).take(count).enumerate() {
            (*u, *v) = (places.u[first + i * step], places.v[first + i * step]);
        }
        let (u, v) = (&u[..count], &v[..count]);
        let mut best = Best {
            lowest: [f32::NEG_INFINITY; BATCH],
            weights: [[0.0; BATCH]; 2],
            relative: [[0.0; BATCH]; 6],
            triangle: [0; BATCH],
        };
        let column = places.columns[first];
        let [columns, rows] = [nearby(u), nearby(v)];
        for position in rows.flat_map(|row| columns.clone().map(move |column| [column, row])) {
            if let Some(quads) = self.quads([column, places.row], position, count) {
                simd(
                    #[inline(always)]
                    || quads.search(u, v, &mut best),
                );
            }
        }
        let quad = (places.row * self.grid().width() + column).to_u32();
        for (i, location) in locations[first..].iter_mut().step_by(step).take(count).enumerate() {
            let [first, second, third] = offsets[best.triangle[i] as usize];
            let corner = |offset: u32| (quad + i.to_u32()).wrapping_add(offset);
            let (a, b, [ax, az, bx, bz, cx, cz]) = (best.weights[0][i], best.weights[1][i], &best.relative);
            *location = Location {
                corners: [corner(first), corner(second), corner(third)],
                weights: [a, b, 1.0 - a - b],
                relative: [[ax[i], az[i]], [bx[i], bz[i]], [cx[i], cz[i]]],
            };
        }
    }

    /// The quads beside those of consecutive columns; `None` beyond the border.
    fn quads(&self, [column, row]: [usize; 2], position: [isize; 2], count: usize) -> Option<Quads<'_>> {
        let grid = self.grid();
        let (c, r) = (column.checked_add_signed(position[0])?, row.checked_add_signed(position[1])?);
        if c + count >= grid.width() || r + 1 >= grid.height() {
            return None;
        }
        let row = |r: usize| self.offsets_in_row(r).map(|offsets| &offsets[c..=c + count]);
        let is_falling = &self.splits_in_row(r)[c..c + count];
        Some(Quads { position, north: row(r), south: row(r + 1), is_falling, aspect: self.aspect() })
    }
}

/// The corners of [`TRIANGLES`] as differences between row-major indices, which may be negative, in a grid with rows of
/// `width`.
fn corner_offsets(width: usize) -> [[u32; 3]; 36] {
    let offset = |[east, south]: [isize; 2]| (south * width.cast_signed() + east).to_i32().cast_unsigned();
    TRIANGLES.map(|corners| corners.map(offset))
}

/// The quads, counted from those of the points, that may contain points at these fractions of their own quads.
fn nearby(fractions: &[f32]) -> std::ops::RangeInclusive<isize> {
    let first = if fractions.iter().any(|fraction| *fraction <= MAX_OFFSET) { -1 } else { 0 };
    let last = if fractions.iter().any(|fraction| *fraction >= 1.0 - MAX_OFFSET) { 1 } else { 0 };
    first..=last
}

impl Quads<'_> {
    /// Takes the triangles that contain the points into account.
    #[inline(always)]
    fn search(&self, u: &[f32], v: &[f32], best: &mut Best) {
        let count = u.len();
        let v = &v[..count];
        let [north, south] = [self.north, self.south].map(|row| row.map(|offsets| &offsets[..=count]));
        let is_falling = &self.is_falling[..count];
        let (lowest, triangle) = (&mut best.lowest[..count], &mut best.triangle[..count]);
        let [first, second] = best.weights.each_mut().map(|weights| &mut weights[..count]);
        let [ax, az, bx, bz, cx, cz] = best.relative.each_mut().map(|corners| &mut corners[..count]);
        let code = ((self.position[1] + 1) * 3 + self.position[0] + 1).cast_unsigned().to_u32() * 4;
        let [east, down] = self.position.map(ToFloat::to_f32);
        for i in 0..count {
            let x = |offset: f32, column: f32| offset + (east + column) - u[i];
            let z = |offset: f32, row: f32| (offset + (down + row) - v[i]) * self.aspect;
            let [nw, ne] =
                [[x(north[0][i], 0.0), z(north[1][i], 0.0)], [x(north[0][i + 1], 1.0), z(north[1][i + 1], 0.0)]];
            let [sw, se] =
                [[x(south[0][i], 0.0), z(south[1][i], 1.0)], [x(south[0][i + 1], 1.0), z(south[1][i + 1], 1.0)]];
            // The triangle on the point's side of the diagonal.
            let falls = is_falling[i];
            let (a, b) = (select(falls, nw, ne), select(falls, se, sw));
            let is_west = cross(a, b) > 0.0;
            let c = select(is_west, select(falls, sw, nw), select(falls, ne, se));
            // Barycentric weights of the point, which is the origin.
            let area = cross([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
            let [of_a, of_b] = [cross(b, c) / area, cross(c, a) / area];
            let smallest = min(min(of_a, of_b), 1.0 - of_a - of_b);
            let is_better = smallest > lowest[i];
            lowest[i] = if is_better { smallest } else { lowest[i] };
            first[i] = if is_better { of_a } else { first[i] };
            second[i] = if is_better { of_b } else { second[i] };
            [ax[i], az[i]] = select(is_better, a, [ax[i], az[i]]);
            [bx[i], bz[i]] = select(is_better, b, [bx[i], bz[i]]);
            [cx[i], cz[i]] = select(is_better, c, [cx[i], cz[i]]);
            let found = code + 2 * u32::from(falls) + u32::from(is_west);
            triangle[i] = if is_better { found } else { triangle[i] };
        }
    }
}

#[inline(always)]
fn select(condition: bool, [ax, az]: [f32; 2], [bx, bz]: [f32; 2]) -> [f32; 2] {
    [if condition { ax } else { bx }, if condition { az } else { bz }]
}

#[inline(always)]
fn cross(a: [f32; 2], b: [f32; 2]) -> f32 {
    a[0] * b[1] - a[1] * b[0]
}

/// The smaller number, in one instruction; `f32::min` also handles NaN.
#[inline(always)]
fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The points of a row of a finer mesh, on the coarser one.
#[derive(Default)]
pub(super) struct RowOfPoints {
    columns: Vec<usize>,
    u: Vec<f32>,
    v: Vec<f32>,
    locations: Vec<Location>,
}

impl RowOfPoints {
    /// The coarse triangles that contain the points of all fine rows.
    pub fn locate_all(coarse: &Mesh, fine: &Mesh, progress: &Progress) -> Result<Vec<Location>, Cancelled> {
        let width = fine.grid().width();
        let mut places = vec![Location::default(); fine.grid().samples()];
        places.par_chunks_exact_mut(width).enumerate().try_for_each_init(Self::default, |points, (r, row)| {
            row.copy_from_slice(points.locate(coarse, fine, r));
            progress.check()
        })?;
        Ok(places)
    }

    /// The coarse triangles that contain the points of a fine row.
    pub fn locate(&mut self, coarse: &Mesh, fine: &Mesh, r: usize) -> &[Location] {
        let own = coarse.grid();
        let [east, south] = fine.offsets_in_row(r);
        let (row, _) = halved(r, 0.0, own.height());
        self.columns.clear();
        self.u.clear();
        self.v.clear();
        for (c, (east, south)) in east.iter().zip(south).enumerate() {
            let (column, u) = halved(c, *east, own.width());
            self.columns.push(column);
            self.u.push(u);
            self.v.push(halved(r, *south, own.height()).1);
        }
        let places = Places { row, columns: &self.columns, u: &self.u, v: &self.v };
        coarse.locate_row(places, &mut self.locations);
        &self.locations
    }
}

/// The position of a point of the finer mesh among those of the coarser one: a whole number and a fraction.
pub(super) fn halved(at: usize, offset: f32, count: usize) -> (usize, f32) {
    let first = (at / 2).min(count - 2);
    (first, 0.5 * ((at - 2 * first).to_f32() + offset))
}

#[cfg(test)]
mod tests {
    use super::super::mesh::hash;
    use super::super::tests::mesh;
    use super::*;

    #[test]
    fn every_place_is_within_the_triangle_that_is_found() {
        let mesh = mesh(117, 93);
        let share = |bits: u64| (bits & 0xffff) as f32 / 65_536.0;
        let mut locations = Vec::new();
        // Points in every column, in every column twice, and in any columns.
        let columns: [&dyn Fn(usize) -> usize; 3] = [&|i| i, &|i| i / 2, &|i| (i * 29) % 116];
        for (row, of_point) in (0..92).flat_map(|row| columns.map(move |of_point| (row, of_point))) {
            let columns: Vec<usize> = (0..116).map(of_point).collect();
            let bits = |i: usize| hash(9, i, row);
            let u: Vec<f32> = (0..116).map(|i| share(bits(i))).collect();
            let v: Vec<f32> = (0..116).map(|i| share(bits(i) >> 16)).collect();
            mesh.locate_row(Places { row, columns: &columns, u: &u, v: &v }, &mut locations);
            for (i, place) in locations.iter().enumerate() {
                assert!(place.weights.iter().all(|weight| *weight >= -1e-5), "{place:?}");
                for axis in 0..2 {
                    let centre: f32 = (0..3).map(|k| place.weights[k] * place.relative[k][axis]).sum();
                    assert!(centre.abs() < 1e-5, "{place:?}");
                }
                for (corner, [x, z]) in place.corners.iter().zip(place.relative) {
                    let at = [*corner as usize % 117, *corner as usize / 117];
                    let [east, south] = mesh.vector([columns[i], row], at);
                    let [x0, z0] = mesh.offset(columns[i], row);
                    let expected = [east + x0 - u[i], south + (z0 - v[i]) * 1.5];
                    assert!((x - expected[0]).abs() < 1e-5 && (z - expected[1]).abs() < 1e-5, "{place:?}");
                }
            }
        }
    }

    #[test]
    fn a_location_does_not_depend_on_the_points_beside_it() {
        let mesh = mesh(97, 5);
        let columns: Vec<usize> = (0..96).collect();
        // Also places to the west of their quads, as displaced points are, and on the edges of quads.
        let fraction = |bits: u64, i: usize| match i % 8 {
            0 => 0.0,
            1 => 1.0,
            _ => (bits & 0xffff) as f32 / 65_536.0 * 1.25 - 0.25,
        };
        let u: Vec<f32> = (0..96).map(|i| fraction(hash(3, i, 0), i)).collect();
        let v: Vec<f32> = (0..96).map(|i| fraction(hash(3, i, 0) >> 16, i / 3)).collect();
        let [mut all, mut one] = [const { Vec::new() }; 2];
        mesh.locate_row(Places { row: 2, columns: &columns, u: &u, v: &v }, &mut all);
        for i in 0..96 {
            mesh.locate_row(Places { row: 2, columns: &columns[i..=i], u: &u[i..=i], v: &v[i..=i] }, &mut one);
            assert_eq!(one[0], all[i], "{i}");
            assert!(all[i].weights.iter().all(|weight| *weight >= -1e-5), "{i}: {:?}", all[i]);
        }
    }
}
