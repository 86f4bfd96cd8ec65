//! Triangles over a land: many where it is rugged, few where it is level.
//!
//! A right-triangulated irregular network (W. Evans, D. Kirkpatrick, G. Townsend, "Right-Triangulated Irregular
//! Networks", Algorithmica 30, 2001): a right triangle is halved at the middle of its longest side, its hypotenuse,
//! again and again. Both triangles of a hypotenuse are halved together, so that nothing cracks. The land lies in the
//! corner of a square of 2ⁿ cells along a side; triangles that cross its border are always halved, until they lie
//! inside or outside.
//!
//! The error of a middle is how far the land there lies off its hypotenuse, and the greatest error of the middles that
//! come after it: so no height of the land is off by more than the error of the middles that are left out.

use crate::engine::{Cancelled, Heightfield, Progress};

/// A point of the grid: its column and row.
type Place = [usize; 2];

/// How fine a net is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshDetail {
    /// At most so many vertices, where that is possible.
    Vertices(usize),
    /// No height off by more metres.
    ErrorM(f64),
}

impl MeshDetail {
    /// The vertices of a mesh of which nothing is said: what other programs open without a pause.
    pub const DEFAULT_VERTICES: usize = 1_000_000;
}

/// Vertices on samples of a land, and the triangles between them.
#[derive(Clone, Debug)]
pub(super) struct Net {
    /// Columns and rows.
    pub vertices: Vec<[u32; 2]>,
    /// Vertices of each triangle, counter-clockwise seen from above.
    pub triangles: Vec<[u32; 3]>,
    /// How far a height of the land is off at the most.
    pub error_m: f32,
}

/// How a hypotenuse lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    AlongX,
    AlongZ,
    Diagonal,
}

/// The errors of the middles of a land.
struct Errors<'a> {
    terrain: &'a Heightfield,
    /// The last column and the last row.
    last: Place,
    /// The cells along a side of the square.
    side: usize,
    values: Vec<f32>,
}

impl<'a> Errors<'a> {
    fn of(terrain: &'a Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let last = [terrain.grid().width() - 1, terrain.grid().height() - 1];
        let side = last[0].max(last[1]).next_power_of_two();
        let mut errors = Self { terrain, last, side, values: vec![0.0; terrain.grid().samples()] };
        let steps = || std::iter::successors(Some(1), |step| Some(step * 2)).take_while(|step| *step < side);
        let counter = progress.counter(2 * steps().count());
        for step in steps() {
            // Middles of the sides of squares, whose triangles have the diagonals of smaller squares.
            for z in (0..=last[1]).step_by(step) {
                let odd = z / step % 2 == 1;
                let lie = if odd { Lie::AlongZ } else { Lie::AlongX };
                for x in (if odd { 0 } else { step }..=last[0]).step_by(2 * step) {
                    errors.find([x, z], step, lie);
                }
                progress.check()?;
            }
            counter.add_one()?;
            // Middles of squares, whose triangles have their sides.
            for z in (step..=last[1]).step_by(2 * step) {
                for x in (step..=last[0]).step_by(2 * step) {
                    errors.find([x, z], step, Lie::Diagonal);
                }
                progress.check()?;
            }
            counter.add_one()?;
        }
        // The corners of the square are in every net.
        for place in [[0, 0], [side, 0], [0, side], [side, side]] {
            if let Some(at) = errors.index(place) {
                errors.values[at] = f32::INFINITY;
            }
        }
        Ok(errors)
    }

    fn index(&self, [x, z]: Place) -> Option<usize> {
        (x <= self.last[0] && z <= self.last[1]).then_some(z * (self.last[0] + 1) + x)
    }

    /// Whether a triangle about the middle, which reaches `step` to each side, lies on both sides of the border.
    fn crosses_border(&self, middle: Place, step: usize, lie: Lie) -> bool {
        if [0, 1].iter().any(|&axis| middle[axis] >= self.last[axis] + step) {
            return false;
        }
        [(0, Lie::AlongZ), (1, Lie::AlongX)].into_iter().any(|(axis, beside)| {
            let (at, last) = (middle[axis], self.last[axis]);
            // A hypotenuse along the border has one triangle inside and one outside.
            last < at + step && !(lie == beside && at == last)
        })
    }

    /// The error of a middle, anywhere in the square.
    fn error(&self, middle: Place, step: usize, lie: Lie) -> f32 {
        match self.index(middle) {
            Some(at) => self.values[at],
            None if self.crosses_border(middle, step, lie) => f32::INFINITY,
            None => 0.0,
        }
    }

    fn find(&mut self, middle: Place, step: usize, lie: Lie) {
        let Some(at) = self.index(middle) else { return };
        let [x, z] = middle;
        if self.crosses_border(middle, step, lie) {
            self.values[at] = f32::INFINITY;
            return;
        }
        let ends = match lie {
            Lie::AlongX => [[x - step, z], [x + step, z]],
            Lie::AlongZ => [[x, z - step], [x, z + step]],
            Lie::Diagonal => {
                // It runs to the corner that is the middle of the next larger square.
                let inner = |at: usize| if (at - step) / (2 * step) % 2 == 1 { at - step } else { at + step };
                let [near_x, near_z] = [inner(x), inner(z)];
                [[near_x, near_z], [2 * x - near_x, 2 * z - near_z]]
            }
        };
        let [a, b] = ends.map(|[x, z]| self.terrain[(x, z)]);
        let off = (self.terrain[(x, z)] - (a + b) / 2.0).abs();
        let error = |x: usize, z: usize, step: usize, lie: Lie| self.error([x, z], step, lie);
        let after = match lie {
            Lie::Diagonal => [
                error(x - step, z, step, Lie::AlongZ),
                error(x + step, z, step, Lie::AlongZ),
                error(x, z - step, step, Lie::AlongX),
                error(x, z + step, step, Lie::AlongX),
            ],
            Lie::AlongX | Lie::AlongZ if step > 1 => {
                let half = step / 2;
                let around = [[0, 0], [1, 0], [0, 1], [1, 1]];
                around.map(|[east, south]| {
                    match (x + east * step).checked_sub(half).zip((z + south * step).checked_sub(half)) {
                        Some((x, z)) => error(x, z, half, Lie::Diagonal),
                        // Beyond the border in the west or north there is nothing.
                        None => 0.0,
                    }
                })
            }
            Lie::AlongX | Lie::AlongZ => [0.0; 4],
        };
        self.values[at] = off + after.into_iter().fold(0.0, f32::max);
    }

    /// The error from which on middles are left out.
    fn tolerance(&self, detail: MeshDetail) -> f32 {
        match detail {
            MeshDetail::ErrorM(error_m) => error_m.max(0.0) as f32,
            MeshDetail::Vertices(most) if most >= self.values.len() => 0.0,
            MeshDetail::Vertices(most) => {
                let mut values = self.values.clone();
                let (_, tolerance, _) = values.select_nth_unstable_by(most, |a, b| b.total_cmp(a));
                tolerance.min(f32::MAX)
            }
        }
    }
}

impl Net {
    /// The net of a land.
    pub fn of(terrain: &Heightfield, detail: MeshDetail, progress: &Progress) -> Result<Self, Cancelled> {
        let errors = progress.stage(0.0..0.7, || Errors::of(terrain, progress))?;
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
        // Every middle that is kept is a vertex, and adds two triangles at the most.
        let mut net = Self { vertices: Vec::with_capacity(count), triangles: Vec::with_capacity(2 * count), error_m };
        let mut numbers = vec![0_u32; errors.values.len()];
        // Hypotenuse, then the right angle.
        let mut open: Vec<[Place; 3]> = vec![[[0, 0], [side, side], [side, 0]], [[side, side], [0, 0], [0, side]]];
        while let Some([a, b, c]) = open.pop() {
            if [0, 1].iter().any(|&axis| a[axis].min(b[axis]).min(c[axis]) >= last[axis]) {
                continue;
            }
            let step = [0, 1].map(|axis| a[axis].abs_diff(b[axis]) / 2);
            let lie = match step {
                [_, 0] if a[1] == b[1] => Lie::AlongX,
                [0, _] if a[0] == b[0] => Lie::AlongZ,
                _ => Lie::Diagonal,
            };
            let step = step[0].max(step[1]);
            let middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
            if step > 0 && errors.error(middle, step, lie) > tolerance {
                open.push([b, c, middle]);
                open.push([c, a, middle]);
                continue;
            }
            let mut vertex = |place: Place| {
                let Some(at) = errors.index(place) else { return 0 };
                if numbers[at] == 0 {
                    net.vertices.push(place.map(|along| along as u32));
                    numbers[at] = net.vertices.len() as u32;
                }
                numbers[at] - 1
            };
            let triangle = [a, b, c].map(&mut vertex);
            net.triangles.push(triangle);
            if net.triangles.len().is_multiple_of(1 << 12) {
                progress.check()?;
            }
        }
        Ok(net)
    }

    /// The vertices on the border, counter-clockwise seen from above, from the north-western corner southward.
    pub fn border(&self, terrain: &Heightfield) -> Vec<u32> {
        let last = [terrain.grid().width() as u32 - 1, terrain.grid().height() as u32 - 1];
        // How far along the border a vertex lies.
        let way = |[x, z]: [u32; 2]| -> Option<u64> {
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
            numbered.filter_map(|(number, place)| Some((way(*place)?, number as u32))).collect();
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

    fn net(terrain: &Heightfield, detail: MeshDetail) -> Net {
        Net::of(terrain, detail, &Progress::new()).expect("not cancelled")
    }

    /// The height of the net over a place.
    fn heights(terrain: &Heightfield, net: &Net) -> Vec<f32> {
        let grid = terrain.grid();
        let mut found = vec![f32::NAN; grid.samples()];
        for triangle in &net.triangles {
            let corners = triangle.map(|number| net.vertices[number as usize].map(f64::from));
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
                        share * f64::from(terrain[(corner[0] as usize, corner[1] as usize)])
                    };
                    found[z * grid.width() + x] = shares.into_iter().zip(corners).map(height).sum::<f64>() as f32;
                }
            }
        }
        found
    }

    const SIZES: [[usize; 2]; 7] = [[2, 2], [3, 2], [33, 33], [33, 17], [40, 23], [9, 65], [65, 64]];

    #[test]
    fn the_whole_land_is_covered_once_and_nothing_cracks() {
        for ([width, height], error_m) in SIZES.into_iter().flat_map(|size| [(size, 0.0), (size, 2.5), (size, 1e9)]) {
            let terrain = hills(width, height);
            let net = net(&terrain, MeshDetail::ErrorM(error_m));
            let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
            let mut doubled_area = 0;
            for [a, b, c] in net.triangles.iter().copied() {
                for edge in [[a, b], [b, c], [c, a]] {
                    assert_eq!(edges.insert(edge, 1), None, "an edge is run through once in each direction");
                }
                let [a, b, c] = [a, b, c].map(|number| net.vertices[number as usize].map(i64::from));
                let area = (b[1] - a[1]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[1] - a[1]);
                assert!(area > 0, "seen from above it runs counter-clockwise");
                doubled_area += area;
            }
            assert_eq!(doubled_area as usize, 2 * (width - 1) * (height - 1));
            let outer = edges.keys().filter(|[a, b]| !edges.contains_key(&[*b, *a])).count();
            let border = net.border(&terrain);
            assert_eq!(border.len(), outer, "{width} × {height}");
            assert!((0..border.len()).all(|at| edges.contains_key(&[border[at], border[(at + 1) % border.len()]])));
        }
    }

    #[test]
    fn no_height_is_off_by_more_than_is_said() {
        for ([width, height], error_m) in SIZES.into_iter().flat_map(|size| [(size, 0.5), (size, 5.0)]) {
            let terrain = hills(width, height);
            let net = net(&terrain, MeshDetail::ErrorM(error_m));
            assert!(f64::from(net.error_m) <= error_m);
            let off =
                heights(&terrain, &net).iter().zip(terrain.heights()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off <= net.error_m + 1e-4, "{off} for {} on {width} × {height}", net.error_m);
        }
        let terrain = hills(65, 65);
        let [coarse, fine] = [5.0, 0.5].map(|error_m| net(&terrain, MeshDetail::ErrorM(error_m)).vertices.len());
        assert!(coarse * 2 < fine && fine < 65 * 65, "{coarse}, {fine}");
    }

    #[test]
    fn there_are_no_more_vertices_than_are_asked_for() {
        let terrain = hills(65, 65);
        for most in [4, 5, 100, 1000, 65 * 65] {
            let net = net(&terrain, MeshDetail::Vertices(most));
            assert!(net.vertices.len() <= most.max(5) && net.vertices.len() * 2 >= most.min(1000), "{most}");
        }
        let level = net(&Heightfield::flat(terrain.grid()), MeshDetail::Vertices(65 * 65));
        assert_eq!((level.vertices.len(), level.triangles.len(), level.error_m), (4, 2, 0.0));
    }
}
