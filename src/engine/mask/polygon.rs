//! The inside of a polygon, with a soft border.
//!
//! Inside is where a ray crosses the outline an odd number of times. With the distance d from the outline, positive
//! inside, and a feather f, the weight is the smoothstep 3t² − 2t³ of t = ½ + d/f, clamped to 0…1.

use crate::cast::ToFloat;
use crate::parameters::{MAX_COORDINATE_M, Point, Spec};
use crate::strokes::Columns;

/// The declaration of the corners, a list of [`Point`].
pub(super) const POINTS: Spec =
    Spec::number("Corners", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");

/// A closed outline.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    /// The start and the end of each edge: x, z.
    edges_m: Vec<[[f64; 2]; 2]>,
    feather_m: f64,
}

/// Buffers for one row.
#[derive(Clone, Debug, Default)]
pub(super) struct PolygonRow {
    /// Where the outline crosses the row, from west to east.
    crossings_m: Vec<f64>,
    /// The squared distance of each sample from the outline, infinite beyond the feather.
    squared_m2: Vec<f64>,
}

impl Polygon {
    /// The polygon with these corners, which is empty if there are fewer than three.
    pub(super) fn new(points_m: &[Point], feather_m: f64) -> Self {
        let places: Vec<[f64; 2]> = points_m.iter().map(|point| [point.x_m, point.z_m]).collect();
        let ends = places.iter().cycle().skip(1);
        let edges_m =
            if places.len() < 3 { Vec::new() } else { places.iter().zip(ends).map(|(a, b)| [*a, *b]).collect() };
        Self { edges_m, feather_m }
    }

    /// Sets the weights of the row at `z_m`.
    pub(super) fn fill(&self, z_m: f64, columns: &Columns, row: &mut PolygonRow, weights: &mut [f32]) {
        let PolygonRow { crossings_m, squared_m2 } = row;
        crossings_m.clear();
        crossings_m.extend(self.edges_m.iter().filter_map(|edge| crossing_m(edge, z_m)));
        crossings_m.sort_by(f64::total_cmp);
        squared_m2.clear();
        squared_m2.resize(weights.len(), f64::INFINITY);
        self.fill_distances(z_m, columns, squared_m2);
        let mut west = 0;
        for ((weight, x_m), squared) in weights.iter_mut().zip(columns.xs_m()).zip(squared_m2) {
            west += crossings_m[west..].iter().take_while(|crossing| **crossing <= *x_m).count();
            *weight = self.weight(west % 2 == 1, squared.sqrt());
        }
    }

    /// Sets the squared distances of the samples that are less than half a feather from the outline.
    fn fill_distances(&self, z_m: f64, columns: &Columns, squared_m2: &mut [f64]) {
        if self.feather_m == 0.0 {
            return;
        }
        // A margin for rounding; samples that far from the outline have a weight of 0 or 1 either way.
        let reach_m = 0.5 * self.feather_m * (1.0 + 1e-9) + 1e-6;
        for edge in &self.edges_m {
            let Some([west, east]) = span_m(edge, z_m, reach_m) else { continue };
            let range = columns.between(west, east);
            for (squared, x_m) in squared_m2[range.clone()].iter_mut().zip(&columns.xs_m()[range]) {
                *squared = squared.min(squared_distance(edge, *x_m, z_m));
            }
        }
    }

    fn weight(&self, is_inside: bool, distance_m: f64) -> f32 {
        let side = if is_inside { 1.0 } else { -1.0 };
        // Also without a feather, where the distance is infinite.
        if distance_m >= 0.5 * self.feather_m {
            return if is_inside { 1.0 } else { 0.0 };
        }
        let t = 0.5 + side * distance_m / self.feather_m;
        (t * t * (3.0 - 2.0 * t)).to_f32()
    }
}

/// Where an edge crosses the row at `z_m`. An edge contains its northern end, but not its southern one, so that a row
/// through a corner crosses the outline once.
fn crossing_m([[x0, z0], [x1, z1]]: &[[f64; 2]; 2], z_m: f64) -> Option<f64> {
    ((*z0 > z_m) != (*z1 > z_m)).then(|| x0 + (z_m - z0) * (x1 - x0) / (z1 - z0))
}

/// The westernmost and the easternmost place of the row that can be within reach of an edge.
fn span_m([[x0, z0], [x1, z1]]: &[[f64; 2]; 2], z_m: f64, reach_m: f64) -> Option<[f64; 2]> {
    if z0.min(*z1) > z_m + reach_m || z0.max(*z1) < z_m - reach_m {
        return None;
    }
    // Only the part of the edge between the rows at ± reach can be so near.
    let share = |z: f64| if z0 == z1 { 0.0 } else { ((z - z0) / (z1 - z0)).clamp(0.0, 1.0) };
    let shares = if z0 == z1 { [0.0, 1.0] } else { [share(z_m - reach_m), share(z_m + reach_m)] };
    let [a, b] = shares.map(|share| x0 + share * (x1 - x0));
    let margin_m = reach_m + 1e-9 * (x1 - x0).abs();
    Some([a.min(b) - margin_m, a.max(b) + margin_m])
}

/// The squared distance of a place from an edge.
fn squared_distance([[x0, z0], [x1, z1]]: &[[f64; 2]; 2], x_m: f64, z_m: f64) -> f64 {
    let ([along_x, along_z], [x, z]) = ([x1 - x0, z1 - z0], [x_m - x0, z_m - z0]);
    let length_squared = along_x * along_x + along_z * along_z;
    let share = if length_squared > 0.0 { ((x * along_x + z * along_z) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    let (across_x, across_z) = (x - share * along_x, z - share * along_z);
    across_x * across_x + across_z * across_z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::random::Stream;

    fn points(places: &[[f64; 2]]) -> Vec<Point> {
        places.iter().map(|&[x_m, z_m]| Point { x_m, z_m }).collect()
    }

    fn row(polygon: &Polygon, grid: Grid, r: usize) -> Vec<f32> {
        let mut weights = vec![9.0; grid.width()];
        polygon.fill(grid.z_m(r), &Columns::new(grid), &mut PolygonRow::default(), &mut weights);
        weights
    }

    fn grid() -> Grid {
        Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, 11, 11)
    }

    #[test]
    fn a_square_by_hand() {
        let square = points(&[[25.0, 25.0], [75.0, 25.0], [75.0, 75.0], [25.0, 75.0]]);
        let hard = Polygon::new(&square, 0.0);
        assert_eq!(row(&hard, grid(), 2), [0.0; 11]);
        assert_eq!(row(&hard, grid(), 5), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        // 5 m outside and inside the border, of a feather of 20 m: t = ¼ and ¾.
        let soft = Polygon::new(&square, 20.0);
        let quarter = 0.15625;
        let expected = [0.0, 0.0, quarter, 1.0 - quarter, 1.0, 1.0, 1.0, 1.0 - quarter, quarter, 0.0, 0.0];
        assert_eq!(row(&soft, grid(), 5), expected);
        assert_eq!(row(&Polygon::new(&square[..2], 20.0), grid(), 5), [0.0; 11], "two corners");
    }

    #[test]
    fn what_is_inside_twice_is_outside() {
        // A pentagram: its middle is inside twice.
        let star = |i: f64| {
            let (sine, cosine) = libm::sincos(i * 0.8 * std::f64::consts::PI);
            [50.0 + 45.0 * sine, 50.0 - 45.0 * cosine]
        };
        let polygon = Polygon::new(&points(&[0.0, 1.0, 2.0, 3.0, 4.0].map(star)), 0.0);
        assert_eq!(row(&polygon, grid(), 5)[5], 0.0);
        assert_eq!(row(&polygon, grid(), 2)[5], 1.0);
    }

    /// Random polygons, also along rows and through samples, on a grid and on a part of it.
    #[test]
    fn rows_match_the_plain_formula() {
        let grid = Grid::new(Extent { width_m: 300.7, depth_m: 200.3 }, 61, 43);
        let mut rng = Stream::new(1, 2).at(3);
        for round in 0..120 {
            let mut places: Vec<[f64; 2]> =
                (0..3 + round % 9).map(|_| [rng.between(-50.0, 350.0), rng.between(-50.0, 250.0)]).collect();
            match round % 4 {
                1 => (places[0][1], places[1][1]) = (grid.z_m(20), grid.z_m(20)),
                2 => places[0] = [grid.x_m(30), grid.z_m(20)],
                3 => places[1] = places[0],
                _ => {}
            }
            let feather_m = if round % 3 == 0 { 0.0 } else { rng.between(0.1, 150.0) };
            let polygon = Polygon::new(&points(&places), feather_m);
            for part in [grid, grid.part([17, 9], [20, 30])] {
                for r in 0..part.height() {
                    for (c, found) in row(&polygon, part, r).into_iter().enumerate() {
                        let (x, z) = (part.x_m(c), part.z_m(r));
                        let crossings = polygon.edges_m.iter().filter_map(|edge| crossing_m(edge, z));
                        let is_inside = crossings.filter(|crossing| *crossing > x).count() % 2 == 1;
                        let squared = polygon.edges_m.iter().map(|edge| squared_distance(edge, x, z));
                        let distance = squared.fold(f64::INFINITY, f64::min).sqrt();
                        let signed = if is_inside { distance } else { -distance };
                        let t =
                            if feather_m > 0.0 { (0.5 + signed / feather_m).clamp(0.0, 1.0) } else { is_inside.into() };
                        let expected = t * t * (3.0 - 2.0 * t);
                        assert!(
                            (f64::from(found) - expected).abs() < 1e-6,
                            "{round}, {c}, {r}: {found}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}
