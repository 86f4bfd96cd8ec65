//! The geometry of strokes: lines that are drawn with a round brush.
//!
//! A stroke is a polyline in metres, or a single point. At the distance d from it, a brush of radius r and hardness q
//! has the weight 1 for d ≤ q·r, 0 for d ≥ r, and 1 − (3t² − 2t³) with t = (d − q·r)/(r − q·r) between them. The weight
//! is taken once over the whole line, so it does not depend on the number of points. If the points have a pressure,
//! which is linear between them, it is the greatest product of weight and pressure over the pieces of the line, each at
//! its nearest point.

use std::ops::Range;

use super::cast::ToInteger;
use super::heightfield::Grid;
use super::parameters::{MAX_COORDINATE_M, Point, Spec};
use super::simd::simd;

/// The declaration of the points of a stroke, a list of [`Point`].
pub(super) const POINTS: Spec =
    Spec::number("Points", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m").at_least_one();
/// The declaration of the pressure at the points, an optional list of numbers.
pub(super) const PRESSURE: Spec = Spec::number("Pressure", 0.0, 1.0);
/// The declaration of the radius of a brush.
pub(super) const RADIUS: Spec = Spec::number("Radius", 0.01, 1_000_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
/// The declaration of the hardness of a brush.
pub(super) const HARDNESS: Spec = Spec::number("Hardness", 0.0, 1.0);

/// A round brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// The distance at which the weight becomes 0, metres.
    pub radius_m: f64,
    /// The fraction of the radius within which the weight is 1.
    pub hardness: f64,
}

impl Brush {
    /// The weight at a distance from the line, in [0, 1].
    #[inline(always)]
    pub fn weight(self, distance_m: f64) -> f64 {
        let core_m = self.hardness * self.radius_m;
        let t = (distance_m - core_m) / (self.radius_m - core_m);
        let between = 1.0 - t * t * (3.0 - 2.0 * t);
        // Rounding can make it negative just inside the radius.
        let between = if between > 0.0 { between } else { 0.0 };
        if distance_m <= core_m {
            1.0
        } else if distance_m >= self.radius_m {
            0.0
        } else {
            between
        }
    }

    /// The radius with a margin for rounding: no sample beyond it has a weight.
    fn reach_m(self) -> f64 {
        self.radius_m * (1.0 + 1e-9) + 1e-6
    }
}

/// A straight piece of a line, or its only point.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it begins, and the way from there to its end: x, z.
    from_m: [f64; 2],
    along_m: [f64; 2],
    length_m: f64,
    /// The squared length, or 1 if that is 0.
    divisor: f64,
    /// The arc length of the line up to its beginning.
    start_m: f64,
    /// The pressure at its beginning and its end.
    pressure: [f64; 2],
}

impl Piece {
    fn new(from: Point, to: Point, pressure: [f64; 2], start_m: f64) -> Self {
        let along_m = [to.x_m - from.x_m, to.z_m - from.z_m];
        let squared = along_m[0] * along_m[0] + along_m[1] * along_m[1];
        let divisor = if squared > 0.0 { squared } else { 1.0 };
        Self { from_m: [from.x_m, from.z_m], along_m, length_m: squared.sqrt(), divisor, start_m, pressure }
    }

    /// Where on the piece the point nearest to (x, z) is, from 0 to 1, and its squared distance.
    #[inline(always)]
    fn nearest(&self, x_m: f64, z_m: f64) -> (f64, f64) {
        let ([from_x, from_z], [along_x, along_z]) = (self.from_m, self.along_m);
        let (x, z) = (x_m - from_x, z_m - from_z);
        let share = ((x * along_x + z * along_z) / self.divisor).clamp(0.0, 1.0);
        let (across_x, across_z) = (x - share * along_x, z - share * along_z);
        (share, across_x * across_x + across_z * across_z)
    }

    /// The weight of the brush times the pressure at the nearest point.
    #[inline(always)]
    fn pressed_weight(&self, brush: Brush, x_m: f64, z_m: f64) -> f64 {
        let (share, squared) = self.nearest(x_m, z_m);
        let [first, last] = self.pressure;
        brush.weight(squared.sqrt()) * ((1.0 - share) * first + share * last)
    }

    /// The westernmost and the easternmost point of the row at `z_m` within reach; `None` if there is none.
    fn span_m(&self, z_m: f64, reach_m: f64) -> Option<[f64; 2]> {
        let ([from_x, from_z], [along_x, along_z]) = (self.from_m, self.along_m);
        let z = z_m - from_z;
        if z < along_z.min(0.0) - reach_m || z > along_z.max(0.0) + reach_m {
            return None;
        }
        let (mut west, mut east) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut include = |x: f64| {
            west = west.min(x);
            east = east.max(x);
        };
        // What is within reach is bounded by circles around the ends and by two lines parallel to the piece.
        for share in [0.0, 1.0] {
            let squared = reach_m * reach_m - (z - share * along_z) * (z - share * along_z);
            if squared >= 0.0 {
                include(share * along_x - squared.sqrt());
                include(share * along_x + squared.sqrt());
            }
        }
        for side_m in [-reach_m, reach_m] {
            let [x, start_z] = [-along_z, along_x].map(|normal| side_m * normal / self.length_m);
            let share = (z - start_z) / along_z;
            if (0.0..=1.0).contains(&share) {
                include(x + share * along_x);
            }
        }
        (west <= east).then_some([from_x + west, from_x + east])
    }
}

/// The line of a stroke with its brush.
#[derive(Clone, Debug)]
pub struct StrokeLine {
    brush: Brush,
    pieces: Vec<Piece>,
    has_pressure: bool,
    /// The north-western and the south-eastern corner of the box around everything within reach.
    bounds_m: [[f64; 2]; 2],
}

impl StrokeLine {
    /// The line through `points`; `None` without points. Points beyond the end of `pressure` have a pressure of 1.
    pub fn new(points: &[Point], pressure: Option<&[f64]>, brush: Brush) -> Option<Self> {
        let first = *points.first()?;
        let pressure_at = |i: usize| pressure.and_then(|pressure| pressure.get(i)).copied().unwrap_or(1.0);
        let mut pieces: Vec<Piece> = Vec::with_capacity(points.len().max(2) - 1);
        if points.len() == 1 {
            pieces.push(Piece::new(first, first, [pressure_at(0); 2], 0.0));
        }
        for (i, ends) in points.windows(2).enumerate() {
            let start_m = pieces.last().map_or(0.0, |before| before.start_m + before.length_m);
            pieces.push(Piece::new(ends[0], ends[1], [pressure_at(i), pressure_at(i + 1)], start_m));
        }
        let reach_m = brush.reach_m();
        let along = |coordinate: fn(&Point) -> f64| {
            let values = || points.iter().map(coordinate);
            [values().fold(f64::INFINITY, f64::min) - reach_m, values().fold(f64::NEG_INFINITY, f64::max) + reach_m]
        };
        let ([west, east], [north, south]) = (along(|point| point.x_m), along(|point| point.z_m));
        let bounds_m = [[west, north], [east, south]];
        Some(Self { brush, pieces, has_pressure: pressure.is_some(), bounds_m })
    }

    /// The north-western and the south-eastern corner, [x, z] each, of a box outside which the weight is 0.
    pub fn bounds_m(&self) -> [[f64; 2]; 2] {
        self.bounds_m
    }

    /// Whether the weight can be greater than 0 somewhere in the rows from `north_m` to `south_m`.
    pub fn meets_rows(&self, north_m: f64, south_m: f64) -> bool {
        let [[_, north], [_, south]] = self.bounds_m;
        north <= south_m && south >= north_m
    }

    /// The length of the line.
    pub fn length_m(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.start_m + piece.length_m)
    }

    /// The distance of a place from the line.
    pub fn distance_m(&self, x_m: f64, z_m: f64) -> f64 {
        self.pieces.iter().map(|piece| piece.nearest(x_m, z_m).1).fold(f64::INFINITY, f64::min).sqrt()
    }

    /// The weight at a place. [`RowWeights`] has the same bits for many places in less time.
    pub fn weight(&self, x_m: f64, z_m: f64) -> f64 {
        if self.has_pressure {
            self.pieces.iter().map(|piece| piece.pressed_weight(self.brush, x_m, z_m)).fold(0.0, f64::max)
        } else {
            self.brush.weight(self.distance_m(x_m, z_m))
        }
    }
}

/// The positions of the columns of a grid.
#[derive(Clone, Debug)]
pub struct Columns {
    xs_m: Vec<f64>,
    spacing_m: f64,
}

impl Columns {
    /// The columns of a grid or of a part of one.
    pub fn new(grid: Grid) -> Self {
        Self { xs_m: (0..grid.width()).map(|c| grid.x_m(c)).collect(), spacing_m: grid.spacing_x_m() }
    }

    /// The positions, metres from the west border of the world.
    pub fn xs_m(&self) -> &[f64] {
        &self.xs_m
    }

    /// All columns between two positions, and at most two more on each side.
    pub fn between(&self, west_m: f64, east_m: f64) -> Range<usize> {
        let position = |x_m: f64| (x_m - self.xs_m[0]) / self.spacing_m;
        // Casts saturate, so columns outside the grid become an empty range.
        let end = (position(east_m).ceil() + 2.0).to_usize().min(self.xs_m.len());
        (position(west_m).floor() - 1.0).to_usize().min(end)..end
    }
}

/// The weights of a stroke in one row of samples; reused for many strokes and rows.
#[derive(Clone, Debug, Default)]
pub struct RowWeights {
    /// The columns that the stroke touches.
    columns: Range<usize>,
    /// Their weights, or squared distances while these are computed.
    weights: Vec<f64>,
    /// The arc lengths of the points nearest to them.
    arc_lengths_m: Vec<f64>,
    /// The pieces within reach and their columns.
    pieces: Vec<(usize, Range<usize>)>,
}

impl RowWeights {
    /// The columns that the stroke touches: the weight is 0 in all others.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// The weights of these columns.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Along the line, the distance of the nearest point from the beginning, for these columns, after
    /// [`Self::fill_arc_lengths`]. It has no meaning where the weight is 0.
    pub fn arc_lengths_m(&self) -> &[f64] {
        &self.arc_lengths_m
    }

    /// Fills in the weights of a line for the row at `z_m`.
    pub fn fill(&mut self, line: &StrokeLine, z_m: f64, columns: &Columns) {
        self.find_pieces(line, z_m, columns);
        let Self { columns: touched, weights, pieces, .. } = self;
        let (xs, brush) = (&columns.xs_m[touched.clone()], line.brush);
        let pieces = || pieces.iter().map(|(i, range)| (&line.pieces[*i], range.clone()));
        weights.clear();
        weights.resize(xs.len(), if line.has_pressure { 0.0 } else { f64::INFINITY });
        simd(
            #[inline(always)]
            || {
                if line.has_pressure {
                    for (piece, range) in pieces() {
                        for (weight, x) in weights[range.clone()].iter_mut().zip(&xs[range]) {
                            let pressed = piece.pressed_weight(brush, *x, z_m);
                            *weight = if pressed > *weight { pressed } else { *weight };
                        }
                    }
                } else {
                    for (piece, range) in pieces() {
                        for (nearest, x) in weights[range.clone()].iter_mut().zip(&xs[range]) {
                            let (_, squared) = piece.nearest(*x, z_m);
                            *nearest = if squared < *nearest { squared } else { *nearest };
                        }
                    }
                    weights.iter_mut().for_each(|weight| *weight = brush.weight(weight.sqrt()));
                }
            },
        );
    }

    /// Fills in the arc lengths after [`Self::fill`] with the same arguments. Of points equally near, the first counts.
    pub fn fill_arc_lengths(&mut self, line: &StrokeLine, z_m: f64, columns: &Columns) {
        let Self { columns: touched, arc_lengths_m, pieces, .. } = self;
        let xs = &columns.xs_m[touched.clone()];
        arc_lengths_m.clear();
        for (c, x) in xs.iter().enumerate() {
            let mut nearest = (f64::INFINITY, 0.0);
            for (i, _) in pieces.iter().filter(|(_, range)| range.contains(&c)) {
                let piece = &line.pieces[*i];
                let (share, squared) = piece.nearest(*x, z_m);
                if squared < nearest.0 {
                    nearest = (squared, piece.start_m + share * piece.length_m);
                }
            }
            arc_lengths_m.push(nearest.1);
        }
    }

    /// Finds the pieces within reach of the row, with their columns counted from the first that any of them touches.
    fn find_pieces(&mut self, line: &StrokeLine, z_m: f64, columns: &Columns) {
        let reach_m = line.brush.reach_m();
        self.pieces.clear();
        let (mut first, mut end) = (usize::MAX, 0);
        for (i, piece) in line.pieces.iter().enumerate() {
            let Some([west, east]) = piece.span_m(z_m, reach_m) else { continue };
            let range = columns.between(west, east);
            if !range.is_empty() {
                (first, end) = (first.min(range.start), end.max(range.end));
                self.pieces.push((i, range));
            }
        }
        self.columns = first.min(end)..end;
        for (_, range) in &mut self.pieces {
            *range = range.start - first..range.end - first;
        }
    }
}

/// A drawn line with fewer points that looks the same with that brush, and its pressure: the points that the algorithm
/// of Ramer (1972) and of Douglas and Peucker (1973) keeps.
///
/// The tolerance is r/50·(1 − q), but at least r/500. The pressure times the radius is a third coordinate, so that an
/// error of pressure counts about as much as one of distance with the same effect. Missing pressures are 1.
pub fn simplified(points: &[Point], pressure: Option<&[f64]>, brush: Brush) -> (Vec<Point>, Option<Vec<f64>>) {
    let Brush { radius_m, hardness } = brush;
    let tolerance_m = (radius_m / 50.0 * (1.0 - hardness)).max(radius_m / 500.0);
    let pressure_at = |i: usize| pressure.and_then(|pressure| pressure.get(i)).copied().unwrap_or(1.0);
    let places: Vec<[f64; 3]> =
        points.iter().enumerate().map(|(i, point)| [point.x_m, point.z_m, radius_m * pressure_at(i)]).collect();
    let kept = kept_points(&places, tolerance_m);
    let kept_pressure = pressure.map(|_| kept.iter().map(|i| pressure_at(*i)).collect());
    (kept.iter().map(|i| points[*i]).collect(), kept_pressure)
}

/// The indices of the points that remain, in order: the ends and every point farther than the tolerance from the
/// straight line between those kept around it.
fn kept_points(places: &[[f64; 3]], tolerance: f64) -> Vec<usize> {
    let Some(last) = places.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![0];
    // The ranges still to be simplified, the first of them at the end.
    let mut ranges = vec![[0, last]];
    while let Some([first, last]) = ranges.pop() {
        let mut farthest = (tolerance * tolerance, None);
        for i in first + 1..last {
            let squared = squared_distance(places[i], places[first], places[last]);
            if squared > farthest.0 {
                farthest = (squared, Some(i));
            }
        }
        match farthest.1 {
            Some(middle) => ranges.extend([[middle, last], [first, middle]]),
            None if last > first => kept.push(last),
            None => {}
        }
    }
    if kept.len() == 2 && places[0] == places[last] {
        kept.truncate(1);
    }
    kept
}

/// The squared distance of a point from the segment between two others.
fn squared_distance(point: [f64; 3], from: [f64; 3], to: [f64; 3]) -> f64 {
    let minus = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (along, offset) = (minus(to, from), minus(point, from));
    let length_squared = dot(along, along);
    let share = if length_squared > 0.0 { (dot(offset, along) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    let across = minus(offset, along.map(|a| share * a));
    dot(across, across)
}

/// All rows of a grid between two positions, and at most two more on each side.
pub fn rows_between(grid: Grid, north_m: f64, south_m: f64) -> Range<usize> {
    let position = |z_m: f64| (z_m - grid.z_m(0)) / grid.spacing_z_m();
    let end = (position(south_m).ceil() + 2.0).to_usize().min(grid.height());
    (position(north_m).floor() - 1.0).to_usize().min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;
    use crate::random::Stream;

    const BRUSH: Brush = Brush { radius_m: 10.0, hardness: 0.5 };

    fn points(places: &[[f64; 2]]) -> Vec<Point> {
        places.iter().map(|&[x_m, z_m]| Point { x_m, z_m }).collect()
    }

    fn line(places: &[[f64; 2]], pressure: Option<&[f64]>) -> StrokeLine {
        StrokeLine::new(&points(places), pressure, BRUSH).expect("points")
    }

    #[test]
    fn the_weight_falls_from_the_core_to_the_radius() {
        let weights = [0.0, 5.0, 6.25, 7.5, 8.75, 10.0, 11.0].map(|distance| BRUSH.weight(distance));
        assert_eq!(weights, [1.0, 1.0, 0.84375, 0.5, 0.15625, 0.0, 0.0]);
        let hard = Brush { hardness: 1.0, ..BRUSH };
        assert_eq!([9.9, 10.0, 10.1].map(|distance| hard.weight(distance)), [1.0, 1.0, 0.0], "1 goes before 0");
        let soft = Brush { hardness: 0.0, ..BRUSH };
        assert_eq!([0.0, 5.0, 10.0].map(|distance| soft.weight(distance)), [1.0, 0.5, 0.0]);
        for i in 0..100_000 {
            let weight = BRUSH.weight(10.0 * (1.0 - f64::EPSILON * f64::from(i)));
            assert!((0.0..1.0).contains(&weight), "{weight}");
        }
    }

    #[test]
    fn distances_by_hand() {
        let bent = line(&[[0.0, 0.0], [30.0, 40.0], [30.0, 100.0]], None);
        assert_eq!(bent.length_m(), 110.0);
        for (x, z, expected) in [(-3.0, -4.0, 5.0), (30.0, 70.0, 0.0), (37.0, 70.0, 7.0), (30.0, 112.0, 12.0)] {
            assert_eq!(bent.distance_m(x, z), expected);
        }
        // 15, 20 is on the first piece; 4, −3 is the way across it.
        assert!((bent.distance_m(19.0, 17.0) - 5.0).abs() < 1e-12);
        let dot = line(&[[5.0, 5.0]], None);
        assert_eq!((dot.length_m(), dot.distance_m(8.0, 9.0)), (0.0, 5.0));
        assert_eq!(line(&[[5.0, 5.0], [5.0, 5.0]], None).distance_m(8.0, 9.0), 5.0);
        assert!(StrokeLine::new(&[], None, BRUSH).is_none());
    }

    #[test]
    fn pressure_is_linear_between_points_and_the_greatest_product_counts() {
        let pressed = line(&[[0.0, 0.0], [100.0, 0.0]], Some(&[0.0, 1.0]));
        assert_eq!([0.0, 25.0, 100.0].map(|x| pressed.weight(x, 4.0)), [0.0, 0.25, 1.0]);
        assert_eq!(pressed.weight(50.0, 7.5), 0.25);
        // Back along the same line with less pressure.
        let back = line(&[[0.0, 0.0], [100.0, 0.0], [0.0, 0.0]], Some(&[1.0, 0.5, 0.0]));
        assert_eq!([0.0, 50.0, 100.0].map(|x| back.weight(x, 0.0)), [1.0, 0.75, 0.5]);
        // A weak piece nearby does not hide a strong one farther away.
        let corner = line(&[[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 6.0]], Some(&[1.0, 1.0, 0.0, 0.0]));
        assert_eq!(corner.weight(1.0, 5.0), 1.0);
    }

    #[test]
    fn rows_have_the_bits_of_the_plain_formula() {
        let mut rng = Stream::new(5, 6).at(7);
        let grid = Grid::new(Extent { width_m: 300.7, depth_m: 200.3 }, 61, 43);
        let part = grid.part([17, 9], [20, 30]);
        let mut row = RowWeights::default();
        let (mut touched, mut samples) = (0, 0);
        for i in 0..400 {
            let far = if i % 10 == 9 { 1e5 } else { 100.0 };
            let mut places: Vec<[f64; 2]> = (0..[1, 2, 3, 12][i % 4])
                .map(|_| [rng.between(-far, 300.0 + far), rng.between(-far, 200.0 + far)])
                .collect();
            match i % 7 {
                1 => places.iter_mut().for_each(|place| place[0] = 100.0),
                2 => places.iter_mut().for_each(|place| place[1] = grid.z_m(20)),
                3 => places = places.iter().flat_map(|place| [*place; 2]).collect(),
                4 => places.iter_mut().for_each(|place| place[1] = 100.0 + 1e-9 * place[1]),
                _ => {}
            }
            let pressure: Vec<f64> = places.iter().map(|_| rng.unit()).collect();
            let hardness = [0.0, 1.0, rng.unit()][i % 3];
            // Some radii are such that samples are exactly as far away.
            let radius_m = if i % 5 == 0 { 2.0 * grid.spacing_z_m() } else { rng.between(0.01, 60.0) };
            let pressure = (i % 2 == 0).then_some(&pressure[..]);
            let line = StrokeLine::new(&points(&places), pressure, Brush { radius_m, hardness }).expect("points");
            for grid in [grid, part] {
                let columns = Columns::new(grid);
                for r in 0..grid.height() {
                    let z_m = grid.z_m(r);
                    row.fill(&line, z_m, &columns);
                    row.fill_arc_lengths(&line, z_m, &columns);
                    let range = row.columns();
                    assert_eq!((row.weights().len(), row.arc_lengths_m().len()), (range.len(), range.len()));
                    (touched, samples) = (touched + range.len(), samples + grid.width());
                    for c in 0..grid.width() {
                        let expected = line.weight(grid.x_m(c), z_m);
                        let found = range.contains(&c).then(|| row.weights()[c - range.start]);
                        assert_eq!(found.unwrap_or(0.0).to_bits(), expected.to_bits(), "{i}, {c}, {r}: {line:?}");
                        if expected > 0.0 {
                            check_arc_length(&line, row.arc_lengths_m()[c - range.start], grid.x_m(c), z_m);
                            assert!(line.meets_rows(z_m, z_m) && rows_between(grid, z_m, z_m).contains(&r));
                        }
                    }
                }
            }
        }
        assert!(touched * 2 < samples, "{touched} of {samples} samples are within reach");
    }

    /// Asserts that the point at an arc length is the nearest one.
    fn check_arc_length(line: &StrokeLine, arc_length_m: f64, x_m: f64, z_m: f64) {
        let is_at = |piece: &&Piece| arc_length_m <= piece.start_m + piece.length_m;
        let piece = line.pieces.iter().find(is_at).or(line.pieces.last()).expect("a piece");
        let share = if piece.length_m > 0.0 { (arc_length_m - piece.start_m) / piece.length_m } else { 0.0 };
        let [x, z] = [0, 1].map(|axis| piece.from_m[axis] + share * piece.along_m[axis]);
        let distance = libm::hypot(x - x_m, z - z_m);
        assert!((distance - line.distance_m(x_m, z_m)).abs() < 1e-6, "{arc_length_m}: {distance}");
    }

    #[test]
    fn of_points_equally_near_the_first_counts() {
        let grid = Grid::new(Extent { width_m: 10.0, depth_m: 10.0 }, 11, 11);
        let (columns, mut row) = (Columns::new(grid), RowWeights::default());
        let there_and_back = line(&[[2.0, 5.0], [8.0, 5.0], [2.0, 5.0]], None);
        row.fill(&there_and_back, 5.0, &columns);
        row.fill_arc_lengths(&there_and_back, 5.0, &columns);
        assert_eq!(row.columns(), 0..11);
        assert_eq!(row.arc_lengths_m(), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0]);
    }

    #[test]
    fn only_points_off_the_line_between_others_are_kept() {
        // The tolerance is 0.1 m.
        let drawn = points(&[[0.0, 0.0], [10.0, 0.05], [20.0, -0.09], [30.0, 0.0], [30.0, 10.0], [30.05, 20.0]]);
        let (kept, pressure) = simplified(&drawn, None, BRUSH);
        assert_eq!((kept, pressure), (points(&[[0.0, 0.0], [30.0, 0.0], [30.05, 20.0]]), None));
        // A pressure that is not linear is kept: 0.02 of it is 0.2 m.
        let straight = points(&[[0.0, 0.0], [10.0, 0.0], [20.0, 0.0], [30.0, 0.0]]);
        let (kept, pressure) = simplified(&straight, Some(&[0.5, 0.6, 0.5, 0.5]), BRUSH);
        assert_eq!(
            (kept, pressure),
            (points(&[[0.0, 0.0], [10.0, 0.0], [20.0, 0.0], [30.0, 0.0]]), Some(vec![0.5, 0.6, 0.5, 0.5]))
        );
        let (kept, pressure) = simplified(&straight, Some(&[0.1, 0.2, 0.3, 0.4]), BRUSH);
        assert_eq!((kept, pressure), (points(&[[0.0, 0.0], [30.0, 0.0]]), Some(vec![0.1, 0.4])));
        for (drawn, expected) in [
            (&[][..], &[][..]),
            (&[[1.0, 2.0]], &[[1.0, 2.0]]),
            (&[[1.0, 2.0]; 5], &[[1.0, 2.0]]),
            (&[[1.0, 2.0], [9.0, 2.0], [1.0, 2.0]], &[[1.0, 2.0], [9.0, 2.0], [1.0, 2.0]]),
        ] {
            assert_eq!(simplified(&points(drawn), None, BRUSH).0, points(expected));
        }
    }

    #[test]
    fn a_simplified_line_stays_within_the_tolerance() {
        let mut rng = Stream::new(1, 2).at(3);
        let (mut x, mut z) = (0.0, 0.0);
        let drawn: Vec<[f64; 2]> = (0..3000)
            .map(|_| {
                (x, z) = (x + rng.between(-0.2, 1.0), z + rng.between(-0.3, 0.3));
                [x, z]
            })
            .collect();
        let (kept, _) = simplified(&points(&drawn), None, BRUSH);
        assert!(kept.len() < 2500, "{} points", kept.len());
        let kept = StrokeLine::new(&kept, None, BRUSH).expect("points");
        assert!(drawn.iter().all(|&[x, z]| kept.distance_m(x, z) <= 0.1 + 1e-12));
    }
}
