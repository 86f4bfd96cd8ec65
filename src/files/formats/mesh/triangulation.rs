//! Adaptive triangulation: many triangles on rugged terrain, few on level terrain.
//!
//! A right-triangulated irregular network (W. Evans, D. Kirkpatrick, G. Townsend, "Right-Triangulated Irregular
//! Networks", Algorithmica 30, 2001): right triangles are bisected recursively at the midpoint of the hypotenuse. Both
//! triangles at a hypotenuse are bisected together, so there are no cracks. The heightfield fills a corner of a square
//! with a side of 2ⁿ cells. Triangles that cross the border of the heightfield are always bisected until they are
//! either inside or outside.
//!
//! The error of a midpoint is the greater of its own distance from the hypotenuse and the errors of the midpoints below
//! it in the hierarchy. So no height deviates by more than the largest error of the omitted midpoints.

use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Cancelled, Heightfield, Progress};

/// Column and row of a sample.
type GridPoint = [usize; 2];

/// The level of detail of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshDetail {
    /// At most this many vertices, if possible.
    Vertices(usize),
    /// The largest height error, metres.
    ErrorM(f64),
}

impl MeshDetail {
    /// The default number of vertices, which other programs open without delay.
    pub const DEFAULT_VERTICES: usize = 1_000_000;
}

/// Vertices at samples of a heightfield, and triangles between them.
#[derive(Clone, Debug)]
pub(crate) struct Triangulation {
    /// Column and row of each vertex.
    pub vertices: Vec<[u32; 2]>,
    /// The vertices of each triangle, counter-clockwise seen from above.
    pub triangles: Vec<[u32; 3]>,
    /// The largest height error.
    pub error_m: f32,
}

/// The direction of a hypotenuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    AlongX,
    AlongZ,
    Diagonal,
}

/// The errors of all midpoints of a heightfield.
struct Errors<'a> {
    heights: &'a Heightfield,
    /// The last column and the last row.
    last: GridPoint,
    /// Cells along a side of the square.
    side: usize,
    values: Vec<f32>,
}

impl<'a> Errors<'a> {
    fn of(heights: &'a Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let last = [heights.grid().width() - 1, heights.grid().height() - 1];
        let side = last[0].max(last[1]).next_power_of_two();
        let mut errors = Self { heights, last, side, values: vec![0.0; heights.grid().samples()] };
        let steps = || std::iter::successors(Some(1), |step| Some(step * 2)).take_while(|step| *step < side);
        let counter = progress.counter(2 * steps().count());
        for step in steps() {
            // Midpoints of sides of squares, whose triangles contain the diagonals of smaller squares.
            for z in (0..=last[1]).step_by(step) {
                let odd = z / step % 2 == 1;
                let direction = if odd { Direction::AlongZ } else { Direction::AlongX };
                for x in (if odd { 0 } else { step }..=last[0]).step_by(2 * step) {
                    errors.find([x, z], step, direction);
                }
                progress.check()?;
            }
            counter.add_one()?;
            // Centres of squares, whose triangles contain their sides.
            for z in (step..=last[1]).step_by(2 * step) {
                for x in (step..=last[0]).step_by(2 * step) {
                    errors.find([x, z], step, Direction::Diagonal);
                }
                progress.check()?;
            }
            counter.add_one()?;
        }
        // The corners of the square are always vertices.
        for point in [[0, 0], [side, 0], [0, side], [side, side]] {
            if let Some(at) = errors.index(point) {
                errors.values[at] = f32::INFINITY;
            }
        }
        Ok(errors)
    }

    fn index(&self, [x, z]: GridPoint) -> Option<usize> {
        (x <= self.last[0] && z <= self.last[1]).then_some(z * (self.last[0] + 1) + x)
    }

    /// Whether one of the triangles at a midpoint, which reach `step` to each side, crosses the border.
    fn crosses_border(&self, midpoint: GridPoint, step: usize, direction: Direction) -> bool {
        if [0, 1].iter().any(|&axis| midpoint[axis] >= self.last[axis] + step) {
            return false;
        }
        [(0, Direction::AlongZ), (1, Direction::AlongX)].into_iter().any(|(axis, along_border)| {
            let (at, last) = (midpoint[axis], self.last[axis]);
            // A hypotenuse on the border has one triangle inside and one outside.
            last < at + step && !(direction == along_border && at == last)
        })
    }

    /// The error of a midpoint anywhere in the square.
    fn error(&self, midpoint: GridPoint, step: usize, direction: Direction) -> f32 {
        match self.index(midpoint) {
            Some(at) => self.values[at],
            None if self.crosses_border(midpoint, step, direction) => f32::INFINITY,
            None => 0.0,
        }
    }

    fn find(&mut self, midpoint: GridPoint, step: usize, direction: Direction) {
        let Some(at) = self.index(midpoint) else { return };
        let [x, z] = midpoint;
        if self.crosses_border(midpoint, step, direction) {
            self.values[at] = f32::INFINITY;
            return;
        }
        let ends = match direction {
            Direction::AlongX => [[x - step, z], [x + step, z]],
            Direction::AlongZ => [[x, z - step], [x, z + step]],
            Direction::Diagonal => {
                // It ends at the corner that is the centre of the next larger square.
                let inner = |at: usize| if (at - step) / (2 * step) % 2 == 1 { at - step } else { at + step };
                let [near_x, near_z] = [inner(x), inner(z)];
                [[near_x, near_z], [2 * x - near_x, 2 * z - near_z]]
            }
        };
        let [a, b] = ends.map(|[x, z]| self.heights[(x, z)]);
        let off = (self.heights[(x, z)] - (a + b) / 2.0).abs();
        let error = |x: usize, z: usize, step: usize, direction: Direction| self.error([x, z], step, direction);
        let after = match direction {
            Direction::Diagonal => [
                error(x - step, z, step, Direction::AlongZ),
                error(x + step, z, step, Direction::AlongZ),
                error(x, z - step, step, Direction::AlongX),
                error(x, z + step, step, Direction::AlongX),
            ],
            Direction::AlongX | Direction::AlongZ if step > 1 => {
                let half = step / 2;
                let around = [[0, 0], [1, 0], [0, 1], [1, 1]];
                around.map(|[east, south]| {
                    match (x + east * step).checked_sub(half).zip((z + south * step).checked_sub(half)) {
                        Some((x, z)) => error(x, z, half, Direction::Diagonal),
                        // There are no triangles beyond the western and northern borders.
                        None => 0.0,
                    }
                })
            }
            Direction::AlongX | Direction::AlongZ => [0.0; 4],
        };
        self.values[at] = off + after.into_iter().fold(0.0, f32::max);
    }

    /// The largest error of the midpoints that are left out.
    fn tolerance(&self, detail: MeshDetail) -> f32 {
        match detail {
            MeshDetail::ErrorM(error_m) => error_m.max(0.0).to_f32(),
            MeshDetail::Vertices(max) if max >= self.values.len() => 0.0,
            MeshDetail::Vertices(max) => {
                let mut values = self.values.clone();
                let (_, tolerance, _) = values.select_nth_unstable_by(max, |a, b| b.total_cmp(a));
                tolerance.min(f32::MAX)
            }
        }
    }
}

impl Triangulation {
    /// Triangulates a heightfield.
    pub fn of(heights: &Heightfield, detail: MeshDetail, progress: &Progress) -> Result<Self, Cancelled> {
        let errors = progress.stage(0.0..0.7, || Errors::of(heights, progress))?;
        let tolerance = errors.tolerance(detail);
        let (last, side) = (errors.last, errors.side);
        let (mut count, mut error_m) = (0, 0.0_f32);
        for error in &errors.values {
            if *error > tolerance {
                count += 1;
            } else {
                error_m = error_m.max(*error);
            }
        }
        // Every midpoint that is kept is a vertex and adds at most two triangles.
        let mut result =
            Self { vertices: Vec::with_capacity(count), triangles: Vec::with_capacity(2 * count), error_m };
        let mut numbers = vec![0_u32; errors.values.len()];
        // The ends of the hypotenuse, then the right angle.
        let mut pending: Vec<[GridPoint; 3]> =
            vec![[[0, 0], [side, side], [side, 0]], [[side, side], [0, 0], [0, side]]];
        while let Some([a, b, c]) = pending.pop() {
            if [0, 1].iter().any(|&axis| a[axis].min(b[axis]).min(c[axis]) >= last[axis]) {
                continue;
            }
            let step = [0, 1].map(|axis| a[axis].abs_diff(b[axis]) / 2);
            let direction = match step {
                [_, 0] if a[1] == b[1] => Direction::AlongX,
                [0, _] if a[0] == b[0] => Direction::AlongZ,
                _ => Direction::Diagonal,
            };
            let step = step[0].max(step[1]);
            let midpoint = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
            if step > 0 && errors.error(midpoint, step, direction) > tolerance {
                pending.push([b, c, midpoint]);
                pending.push([c, a, midpoint]);
                continue;
            }
            let mut vertex = |point: GridPoint| {
                let Some(at) = errors.index(point) else { return 0 };
                if numbers[at] == 0 {
                    result.vertices.push(point.map(|along| along.to_u32()));
                    numbers[at] = result.vertices.len().to_u32();
                }
                numbers[at] - 1
            };
            let triangle = [a, b, c].map(&mut vertex);
            result.triangles.push(triangle);
            if result.triangles.len().is_multiple_of(1 << 12) {
                progress.check()?;
            }
        }
        Ok(result)
    }

    /// The vertices on the border, counter-clockwise seen from above, from the north-western corner southward.
    pub fn border(&self, heights: &Heightfield) -> Vec<u32> {
        let last = [heights.grid().width().to_u32() - 1, heights.grid().height().to_u32() - 1];
        // The distance of a vertex along the border, in cells.
        let along = |[x, z]: [u32; 2]| -> Option<u64> {
            let [x, z, east, south] = [x, z, last[0], last[1]].map(u64::from);
            match () {
                () if x == 0 => Some(z),
                () if z == south => Some(south + x),
                () if x == east => Some(south + east + (south - z)),
                () if z == 0 => Some(2 * south + east + (east - x)),
                () => None,
            }
        };
        let numbered = self.vertices.iter().enumerate();
        let mut border: Vec<(u64, u32)> =
            numbered.filter_map(|(number, point)| Some((along(*point)?, number.to_u32()))).collect();
        border.sort_unstable();
        border.into_iter().map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::engine::Grid;
    use crate::engine::heightfield::Extent;

    fn hills(width: usize, height: usize) -> Heightfield {
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 70.0 }, width, height);
        Heightfield::from_fn(grid, |c, r| {
            let (x, z) = (c as f32 / width as f32, r as f32 / height as f32);
            libm::sinf(x * 9.0) * 20.0
                + libm::cosf(z * 7.0 + x) * 13.0
                + if x > 0.7 && z < 0.3 { 0.0 } else { x * z * 40.0 }
        })
    }

    fn triangulate(heights: &Heightfield, detail: MeshDetail) -> Triangulation {
        Triangulation::of(heights, detail, &Progress::new()).expect("not cancelled")
    }

    /// The heights of the triangles at all samples.
    fn interpolated(heights: &Heightfield, triangulation: &Triangulation) -> Vec<f32> {
        let grid = heights.grid();
        let mut found = vec![f32::NAN; grid.samples()];
        for triangle in &triangulation.triangles {
            let corners = triangle.map(|number| triangulation.vertices[number as usize].map(f64::from));
            let [a, b, c] = corners;
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            let limits = |axis: usize| {
                let along = corners.map(|corner| corner[axis] as usize);
                along.into_iter().min().expect("three")..=along.into_iter().max().expect("three")
            };
            for (x, z) in limits(1).flat_map(|z| limits(0).map(move |x| (x, z))) {
                let share = |p: [f64; 2], q: [f64; 2]| {
                    ((q[0] - p[0]) * (z as f64 - p[1]) - (q[1] - p[1]) * (x as f64 - p[0])) / area
                };
                let shares = [share(b, c), share(c, a), share(a, b)];
                if shares.iter().all(|share| *share >= -1e-9) {
                    let height = |(share, corner): (f64, [f64; 2])| {
                        share * f64::from(heights[(corner[0] as usize, corner[1] as usize)])
                    };
                    found[z * grid.width() + x] = shares.into_iter().zip(corners).map(height).sum::<f64>() as f32;
                }
            }
        }
        found
    }

    const SIZES: [[usize; 2]; 7] = [[2, 2], [3, 2], [33, 33], [33, 17], [40, 23], [9, 65], [65, 64]];

    #[test]
    fn the_terrain_is_covered_once_without_cracks() {
        for ([width, height], error_m) in SIZES.into_iter().flat_map(|size| [(size, 0.0), (size, 2.5), (size, 1e9)]) {
            let heights = hills(width, height);
            let triangulation = triangulate(&heights, MeshDetail::ErrorM(error_m));
            let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
            let mut doubled_area = 0;
            for [a, b, c] in triangulation.triangles.iter().copied() {
                for edge in [[a, b], [b, c], [c, a]] {
                    assert_eq!(edges.insert(edge, 1), None, "an edge is used once in each direction");
                }
                let [a, b, c] = [a, b, c].map(|number| triangulation.vertices[number as usize].map(i64::from));
                let area = (b[1] - a[1]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[1] - a[1]);
                assert!(area > 0, "triangles are counter-clockwise seen from above");
                doubled_area += area;
            }
            assert_eq!(doubled_area as usize, 2 * (width - 1) * (height - 1));
            let outer = edges.keys().filter(|[a, b]| !edges.contains_key(&[*b, *a])).count();
            let border = triangulation.border(&heights);
            assert_eq!(border.len(), outer, "{width} × {height}");
            assert!((0..border.len()).all(|at| edges.contains_key(&[border[at], border[(at + 1) % border.len()]])));
        }
    }

    #[test]
    fn no_height_deviates_by_more_than_the_stated_error() {
        for ([width, height], error_m) in SIZES.into_iter().flat_map(|size| [(size, 0.5), (size, 5.0)]) {
            let heights = hills(width, height);
            let triangulation = triangulate(&heights, MeshDetail::ErrorM(error_m));
            assert!(f64::from(triangulation.error_m) <= error_m);
            let off = interpolated(&heights, &triangulation)
                .iter()
                .zip(heights.heights())
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(off <= triangulation.error_m + 1e-4, "{off} for {} on {width} × {height}", triangulation.error_m);
        }
        let heights = hills(65, 65);
        let [coarse, fine] =
            [5.0, 0.5].map(|error_m| triangulate(&heights, MeshDetail::ErrorM(error_m)).vertices.len());
        assert!(coarse * 2 < fine && fine < 65 * 65, "{coarse}, {fine}");
    }

    #[test]
    fn the_number_of_vertices_is_limited() {
        let heights = hills(65, 65);
        for max in [4, 5, 100, 1000, 65 * 65] {
            let triangulation = triangulate(&heights, MeshDetail::Vertices(max));
            assert!(
                triangulation.vertices.len() <= max.max(5) && triangulation.vertices.len() * 2 >= max.min(1000),
                "{max}"
            );
        }
        let level = triangulate(&Heightfield::flat(heights.grid()), MeshDetail::Vertices(65 * 65));
        assert_eq!((level.vertices.len(), level.triangles.len(), level.error_m), (4, 2, 0.0));
    }
}
