//! The planes through the points of a mesh that fit their neighbours best: least squares, weighted by the inverse square
//! of the distance.

use std::sync::Arc;

use rayon::prelude::*;

use super::mesh::{AROUND, Mesh};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Sums over the neighbours of a point, which determine the plane.
#[derive(Clone, Copy, Default)]
struct Sums {
    xx: f32,
    xz: f32,
    zz: f32,
    xh: f32,
    zh: f32,
}

impl Sums {
    /// Adds a neighbour: its position from the point, and how much higher it is.
    #[inline(always)]
    fn add(&mut self, [x, z, rise]: [f32; 3]) {
        let weight = 1.0 / (x * x + z * z);
        self.xx += weight * x * x;
        self.xz += weight * x * z;
        self.zz += weight * z * z;
        self.xh += weight * x * rise;
        self.zh += weight * z * rise;
    }

    /// The gradient of the plane eastward and southward.
    #[inline(always)]
    fn gradient(self) -> [f32; 2] {
        let Self { xx, xz, zz, xh, zh } = self;
        let determinant = xx * zz - xz * xz;
        let [east, south] = [(xh * zz - zh * xz) / determinant, (zh * xx - xh * xz) / determinant];
        let is_plane = determinant > 0.0;
        [if is_plane { east } else { 0.0 }, if is_plane { south } else { 0.0 }]
    }
}

/// The weights of eight points in the height at the origin of the plane that fits them best. Those on the side with most
/// points count less, and can be negative.
fn plane_weights(points: [[f32; 2]; 8]) -> [f32; 8] {
    let weights = points.map(|[x, z]| 1.0 / (x * x + z * z));
    let sum = |term: fn([f32; 2]) -> f32| {
        points.iter().zip(weights).map(|(point, weight)| weight * term(*point)).sum::<f32>()
    };
    let [x, z] = [sum(|[x, _]| x), sum(|[_, z]| z)];
    let [xx, xz, zz] = [sum(|[x, _]| x * x), sum(|[x, z]| x * z), sum(|[_, z]| z * z)];
    let determinant = xx * zz - xz * xz;
    let is_plane = determinant > 0.0;
    let tilt = [x * zz - z * xz, z * xx - x * xz].map(|tilt| if is_plane { tilt / determinant } else { 0.0 });
    let mut around = weights;
    for (weight, [x, z]) in around.iter_mut().zip(points) {
        *weight *= 1.0 - tilt[0] * x - tilt[1] * z;
    }
    let total = around.iter().sum::<f32>();
    around.map(|weight| weight / total)
}

/// A row of points.
#[derive(Clone, Copy)]
struct Row<'a> {
    heights: &'a [f32],
    east: &'a [f32],
    south: &'a [f32],
}

impl<'a> Row<'a> {
    fn new(mesh: &'a Mesh, heights: &'a Heightfield, r: usize) -> Self {
        let [east, south] = mesh.offsets_in_row(r);
        Self { heights: heights.row(r), east, south }
    }

    /// `count` points from the one at `first`.
    #[inline(always)]
    fn part(self, first: usize, count: usize) -> Self {
        let part = |row: &'a [f32]| &row[first..][..count];
        Self { heights: part(self.heights), east: part(self.east), south: part(self.south) }
    }

    /// A point's position and height relative to the one of `other` with the same number, which is displaced from a place
    /// `columns` and `rows` away.
    #[inline(always)]
    fn seen_from(self, other: Self, c: usize, [columns, rows]: [f32; 2], aspect: f32) -> [f32; 3] {
        let (x, z) = (columns + self.east[c] - other.east[c], (rows + self.south[c] - other.south[c]) * aspect);
        [x, z, self.heights[c] - other.heights[c]]
    }
}

impl Mesh {
    /// Sets the gradients of the planes through the points of a row: eastward and southward, in metres per spacing of
    /// columns.
    pub(super) fn find_plane_gradients(&self, heights: &Heightfield, r: usize, gradients: &mut [Vec<f32>; 2]) {
        let (width, height) = (self.grid().width(), self.grid().height());
        gradients.iter_mut().for_each(|gradients| gradients.resize(width, 0.0));
        let is_inside = r > 0 && r + 1 < height && width > 2;
        let [x, z] = gradients;
        if is_inside {
            let rows = [r - 1, r, r + 1].map(|r| Row::new(self, heights, r));
            simd(
                #[inline(always)]
                || find_inside(rows, self.aspect(), [&mut x[1..width - 1], &mut z[1..width - 1]]),
            );
        }
        for c in (0..width).step_by(if is_inside { width - 1 } else { 1 }) {
            [x[c], z[c]] = self.plane_gradient(heights, [c, r]);
        }
    }

    /// The weights of the neighbours of every point inside the border in the mean height around it, and 0 at the border:
    /// those of the height at the point of the plane that fits the neighbours best, weighted by the inverse squares of their
    /// distances. On a plane, the mean is the point's own height. Row by row; a row has those of its first neighbours, in
    /// the order of [`AROUND`], then those of its second ones, and so on.
    pub(super) fn weights_around(&self, progress: &Progress) -> Result<Arc<Vec<f32>>, Cancelled> {
        let find = || {
            let (width, height) = (self.grid().width(), self.grid().height());
            let mut weights = vec![0.0; AROUND.len() * self.grid().samples()];
            let rows = weights.par_chunks_exact_mut(AROUND.len() * width).enumerate();
            rows.skip(1).take(height.max(2) - 2).try_for_each(|(r, row)| {
                for c in 1..width.max(2) - 1 {
                    let of_point = plane_weights(AROUND.map(|[east, south]| {
                        self.vector([c, r], [c.wrapping_add_signed(east), r.wrapping_add_signed(south)])
                    }));
                    row.iter_mut().skip(c).step_by(width).zip(of_point).for_each(|(place, weight)| *place = weight);
                }
                progress.check()
            })?;
            Ok(weights)
        };
        self.weights(find)
    }

    /// The gradient of the plane through a point.
    fn plane_gradient(&self, heights: &Heightfield, [c, r]: [usize; 2]) -> [f32; 2] {
        let mut sums = Sums::default();
        for [column, row] in self.around(c, r) {
            let [x, z] = self.vector([c, r], [column, row]);
            sums.add([x, z, heights[(column, row)] - heights[(c, r)]]);
        }
        sums.gradient()
    }
}

/// Finds the gradients at the points between the first and the last of the middle row.
#[inline(always)]
fn find_inside([north, middle, south]: [Row; 3], aspect: f32, [gradient_x, gradient_z]: [&mut [f32]; 2]) {
    let count = gradient_x.len();
    let gradient_z = &mut gradient_z[..count];
    // Single variables and calls, because the loop would not be vectorized with arrays and loops in it.
    let (nw, n, ne) = (north.part(0, count), north.part(1, count), north.part(2, count));
    let (w, own, e) = (middle.part(0, count), middle.part(1, count), middle.part(2, count));
    let (sw, s, se) = (south.part(0, count), south.part(1, count), south.part(2, count));
    for c in 0..count {
        let mut sums = Sums::default();
        sums.add(nw.seen_from(own, c, [-1.0, -1.0], aspect));
        sums.add(n.seen_from(own, c, [0.0, -1.0], aspect));
        sums.add(ne.seen_from(own, c, [1.0, -1.0], aspect));
        sums.add(w.seen_from(own, c, [-1.0, 0.0], aspect));
        sums.add(e.seen_from(own, c, [1.0, 0.0], aspect));
        sums.add(sw.seen_from(own, c, [-1.0, 1.0], aspect));
        sums.add(s.seen_from(own, c, [0.0, 1.0], aspect));
        sums.add(se.seen_from(own, c, [1.0, 1.0], aspect));
        [gradient_x[c], gradient_z[c]] = sums.gradient();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::mesh;
    use super::*;
    use crate::random::Stream;

    #[test]
    fn rows_have_the_gradients_of_single_points() {
        for (width, height) in [(2, 5), (3, 3), (41, 17)] {
            for mesh in [mesh(width, height), Mesh::regular(mesh(width, height).grid())] {
                let heights = Heightfield::from_fn(mesh.grid(), |c, r| ((7 * c + 13 * r) % 11) as f32 - 5.0);
                let mut gradients = [const { Vec::new() }; 2];
                for r in 0..height {
                    mesh.find_plane_gradients(&heights, r, &mut gradients);
                    let expected = [0, 1].map(|axis| {
                        (0..width).map(|c| mesh.plane_gradient(&heights, [c, r])[axis]).collect::<Vec<f32>>()
                    });
                    assert_eq!(gradients, expected, "{width} × {height}, row {r}");
                }
            }
        }
    }

    #[test]
    fn the_weights_around_a_point_are_those_of_its_neighbours() {
        let mesh = mesh(9, 7);
        let weights = mesh.weights_around(&Progress::new()).expect("not cancelled");
        let places: Vec<[f32; 2]> = mesh.around(7, 4).map(|to| mesh.vector([7, 4], to)).collect();
        let of_point =
            |c: usize, r: usize| [0, 1, 2, 3, 4, 5, 6, 7].map(|neighbour| weights[(8 * r + neighbour) * 9 + c]);
        assert_eq!(of_point(7, 4), plane_weights(places.try_into().expect("eight")));
        assert!([[0, 0], [8, 0], [3, 6], [0, 4]].into_iter().all(|[c, r]| of_point(c, r) == [0.0; 8]));
    }

    #[test]
    fn points_of_planes_have_their_own_heights_by_the_weights_around_them() {
        let around = AROUND.map(|[east, south]| [east as f32, south as f32]);
        // Weights of 1 beside the point and of 1/2 at the corners, of 6.
        assert!(
            plane_weights(around)
                .iter()
                .zip(around)
                .all(|(weight, [x, z])| { (weight - if x * z == 0.0 { 1.0 / 6.0 } else { 1.0 / 12.0 }).abs() < 1e-6 })
        );
        let mut random = Stream::new(3, 1).at(0);
        for i in 0..300 {
            let mut offset = || [(); 2].map(|()| 0.98 * (random.unit() as f32 - 0.5));
            let (own, aspect) = (offset(), [1.0, 1.5, 1.0 / 1.5][i % 3]);
            let points = around.map(|[east, south]| {
                let [to_east, to_south] = offset();
                [east + to_east - own[0], (south + to_south - own[1]) * aspect]
            });
            let mean = |height: fn([f32; 2]) -> f32| {
                plane_weights(points).iter().zip(points).map(|(weight, point)| weight * height(point)).sum::<f32>()
            };
            assert!((mean(|_| 1.0) - 1.0).abs() < 1e-4, "{points:?}");
            let height = mean(|[x, z]| 5.0 + 3.0 * x - 2.0 * z);
            assert!((height - 5.0).abs() < 2e-3, "{height}: {points:?}");
        }
    }

    #[test]
    fn planes_have_their_own_gradient() {
        let mesh = mesh(21, 17);
        let spacing_m = mesh.grid().spacing_x_m();
        let (rise, fall) = (0.3 * spacing_m, -0.7 * spacing_m);
        let plane = Heightfield::from_fn(mesh.grid(), |c, r| (rise * c as f64) as f32 + (fall * r as f64) as f32 * 1.5);
        let points = mesh.at_points(&plane, &Progress::new()).expect("not cancelled");
        let mut gradients = [const { Vec::new() }; 2];
        mesh.find_plane_gradients(&points, 8, &mut gradients);
        let is_near = |gradients: &[f32], expected: f64| {
            gradients.iter().all(|gradient| (f64::from(*gradient) - expected).abs() < 1e-3 * spacing_m)
        };
        assert!(is_near(&gradients[0], rise) && is_near(&gradients[1], fall), "{gradients:?}");
    }
}
