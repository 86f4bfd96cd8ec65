//! Periodic cellular noise for stones, plates and cracks.
//!
//! Steven Worley, "A Cellular Texture Basis Function" (SIGGRAPH 1996): every lattice cell has one point. The distance
//! to the nearest point (F1), to the border with the second nearest (F2), and the random bits of the nearest one are
//! used.

use super::noise::{Place, hash, signed_pair, wrapped};

/// Points scattered over the tile, one in each cell of a lattice.
#[derive(Debug)]
pub struct Cells {
    count: [u32; 2],
    /// Row by row.
    seeds: Vec<Seed>,
}

/// The point of a lattice cell.
#[derive(Clone, Copy, Debug)]
struct Seed {
    bits: u32,
    /// The position in the cell.
    at: [f32; 2],
    /// The height of the face, and its slopes to the right and down, each -1 to 1.
    face: [f32; 3],
}

/// A point near a position.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// 32 random bits.
    pub bits: u32,
    /// The vector from the point to the position, in lattice cells.
    pub way: [f32; 2],
}

/// The surroundings of a position.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// The nearest point.
    pub point: Point,
    /// The distance to it, in lattice cells.
    pub first: f32,
    /// The distance to the border with the next cell, in lattice cells.
    pub border: f32,
}

impl Cells {
    /// Points on a lattice of `across` × `down` cells. `jitter` is their distance from the centres of the cells: 0 for
    /// none, 1 for anywhere in the cell.
    pub fn new(seed: u32, [across, down]: [u32; 2], jitter: f32) -> Self {
        let cells = (0..down).flat_map(|row| (0..across).map(move |column| hash(seed, column, row)));
        let seeds = cells
            .map(|bits| {
                let [lean_x, lean_y] = signed_pair(hash(bits, 1, 2));
                let [high, _] = signed_pair(hash(bits, 3, 4));
                let at = signed_pair(bits).map(|aside| 0.5 + 0.5 * jitter * aside);
                Seed { bits, at, face: [high, lean_x, lean_y] }
            })
            .collect();
        Self { count: [across, down], seeds }
    }

    /// Visits the points in the lattice cells up to `reach` cells away, except those up to `skip` cells away.
    fn look(&self, [x, y]: Place, skip: i8, reach: i8, mut see: impl FnMut(&Seed, [f32; 2])) {
        let [across, down] = self.count;
        let (x, y) = (x * across as f32, y * down as f32);
        let (column, row) = (x.floor(), y.floor());
        for j in -reach..=reach {
            let top = row + f32::from(j);
            let line = (wrapped(top, down) * across) as usize;
            for i in -reach..=reach {
                if i.abs() <= skip && j.abs() <= skip {
                    continue;
                }
                let left = column + f32::from(i);
                let seed = &self.seeds[line + wrapped(left, across) as usize];
                see(seed, [x - left - seed.at[0], y - top - seed.at[1]]);
            }
        }
    }

    /// The nearest point and the borders of its cell.
    pub fn nearest(&self, place: Place) -> Nearest {
        let square = |[x, y]: [f32; 2]| x * x + y * y;
        let mut point = Point { bits: 0, way: [8.0; 2] };
        let mut min = square(point.way);
        let mut compare = |seed: &Seed, way| {
            let distance = square(way);
            if distance < min {
                (min, point) = (distance, Point { bits: seed.bits, way });
            }
            min
        };
        let mut nearest = 0.0;
        self.look(place, -1, 1, |seed, way| nearest = compare(seed, way));
        // Points in cells two steps away have a distance of at least one cell.
        if nearest > 1.0 {
            self.look(place, 1, 2, |seed, way| nearest = compare(seed, way));
        }
        let first = nearest.sqrt();
        let mut border = f32::MAX;
        let mut part = |_: &Seed, way: [f32; 2]| {
            // Half the difference of the squared distances, divided by the distance of the points, is the distance to
            // the bisector.
            let apart = square([way[0] - point.way[0], way[1] - point.way[1]]).sqrt();
            if apart > 1e-4 {
                border = border.min(0.5 * (square(way) - nearest) / apart);
            }
            border
        };
        let mut closest = 0.0;
        self.look(place, -1, 1, |seed, way| closest = part(seed, way));
        // The border with a point at distance d is at least (d - F1)/2 away.
        if closest > 0.5 * (1.0 - first) {
            self.look(place, 1, 2, |seed, way| closest = part(seed, way));
        }
        Nearest { point, first, border: closest }
    }

    /// The upper envelope of a bulging, tilted face per point, like broken stone; in lattice cells, about 0. `flatness`
    /// removes the bulge after the envelope is found, up to 1 for planes that meet in steps. Faces end two cells from
    /// their point, so that strongly tilted ones break off along the lattice.
    pub fn faces(&self, place: Place, tilt: f32, bulge: f32, flatness: f32) -> f32 {
        let (mut top, mut height) = (f32::MIN, 0.0);
        self.look(place, -1, 2, |seed, [x, y]| {
            let [high, lean_x, lean_y] = seed.face;
            let round = bulge * (x * x + y * y);
            let hull = tilt * (0.5 * high + lean_x * x + lean_y * y) - round;
            if hull > top {
                (top, height) = (hull, hull + flatness * round);
            }
        });
        height
    }
}
