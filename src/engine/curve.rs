//! Curves through nodes, and the nearest point of a polyline.

use super::cast::ToFloat;
use super::heightfield::mix;

/// The straight pieces between two nodes of a curve.
pub const PIECES_PER_SPAN: usize = 64;

/// Selections of pieces are wider than they need to be by this length, which is far above rounding errors.
const MARGIN_M: f64 = 0.001;

/// The pieces whose bounding box is tested before them.
const GROUP: usize = 64;

/// The distance between two points.
pub(super) fn distance_m([ax, az]: [f64; 2], [bx, bz]: [f64; 2]) -> f64 {
    libm::hypot(bx - ax, bz - az)
}

/// A curve through nodes.
pub struct Curve {
    /// Its points, [`PIECES_PER_SPAN`] pieces from each node to the next. A closed curve ends where it starts.
    pub points: Vec<[f64; 2]>,
    /// Its directions at these points, unit vectors; 0 where it has none.
    pub tangents: Vec<[f64; 2]>,
}

/// The curve through the nodes. Two nodes give a straight line.
///
/// A centripetal Catmull–Rom spline, which has neither cusps nor loops between nodes: Yuksel, Schaefer and Keyser,
/// "Parameterization and applications of Catmull–Rom curves", 2011. Beyond each end, the node before the end is
/// mirrored.
pub fn curve_through(nodes: &[[f64; 2]], is_closed: bool) -> Curve {
    let count = nodes.len();
    let spans = if is_closed { count } else { count.saturating_sub(1) };
    let mirrored = |[ax, az]: [f64; 2], [bx, bz]: [f64; 2]| [2.0 * ax - bx, 2.0 * az - bz];
    let mut curve = Curve { points: Vec::new(), tangents: Vec::new() };
    for span in 0..spans {
        let (from, to) = (nodes[span], nodes[(span + 1) % count]);
        let before = match (span, is_closed) {
            (0, false) => mirrored(from, to),
            _ => nodes[(span + count - 1) % count],
        };
        let after = if !is_closed && span + 2 == count { mirrored(to, from) } else { nodes[(span + 2) % count] };
        let last = if is_closed || span + 1 < spans { PIECES_PER_SPAN } else { PIECES_PER_SPAN + 1 };
        for k in 0..last {
            let share = k.to_f64() / PIECES_PER_SPAN.to_f64();
            let [x_m, z_m, east, south] = match count {
                2 => {
                    let [x_m, z_m] = [0, 1].map(|axis| mix(from[axis], to[axis], share));
                    [x_m, z_m, to[0] - from[0], to[1] - from[1]]
                }
                _ => point_of_span([before, from, to, after], share),
            };
            curve.points.push(match k {
                0 => from,
                PIECES_PER_SPAN => to,
                _ => [x_m, z_m],
            });
            let length = libm::hypot(east, south);
            curve.tangents.push(if length > 0.0 { [east / length, south / length] } else { [0.0; 2] });
        }
    }
    if is_closed {
        curve.points.extend(nodes.first());
        curve.tangents.extend(curve.tangents.first().copied());
    }
    curve
}

/// The point at a share of the parameter range between the second and the third node, and the derivative there, by the
/// pyramid of Barry and Goldman, "A recursive evaluation algorithm for a class of Catmull–Rom splines", 1988.
fn point_of_span([p0, p1, p2, p3]: [[f64; 2]; 4], share: f64) -> [f64; 4] {
    let interval = |a, b| distance_m(a, b).sqrt();
    let [before, own, after] = [interval(p0, p1), interval(p1, p2), interval(p2, p3)];
    let t = share * own;
    let between = |a: [f64; 4], b: [f64; 4], [from, to]: [f64; 2]| {
        let share = (t - from) / (to - from);
        let value = |i: usize| mix(a[i], b[i], share);
        let derivative = |i: usize| value(i + 2) + (b[i] - a[i]) / (to - from);
        [value(0), value(1), derivative(0), derivative(1)]
    };
    let [p0, p1, p2, p3] = [p0, p1, p2, p3].map(|[x_m, z_m]| [x_m, z_m, 0.0, 0.0]);
    let a1 = between(p0, p1, [-before, 0.0]);
    let a2 = between(p1, p2, [0.0, own]);
    let a3 = between(p2, p3, [own, own + after]);
    let b1 = between(a1, a2, [-before, own]);
    let b2 = between(a2, a3, [0.0, own + after]);
    between(b1, b2, [0.0, own])
}

/// The arc length at every point of a polyline.
pub fn arc_lengths_m(points: &[[f64; 2]]) -> Vec<f64> {
    let mut sum = 0.0;
    let later = points.windows(2).map(|pair| {
        sum += distance_m(pair[0], pair[1]);
        sum
    });
    let mut lengths = Vec::with_capacity(points.len());
    lengths.extend(points.first().map(|_| 0.0));
    lengths.extend(later);
    lengths
}

/// One straight piece of a polyline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub start_m: [f64; 2],
    pub end_m: [f64; 2],
    /// The unit vector from start to end; 0 for a piece without length.
    pub along: [f64; 2],
    pub length_m: f64,
}

impl Piece {
    pub fn new(start_m: [f64; 2], end_m: [f64; 2]) -> Self {
        let length_m = distance_m(start_m, end_m);
        let unit = |from: f64, to: f64| if length_m > 0.0 { (to - from) / length_m } else { 0.0 };
        let along = [unit(start_m[0], end_m[0]), unit(start_m[1], end_m[1])];
        Self { start_m, end_m, along, length_m }
    }

    /// The squared distance of a point, and the distance of the nearest point from the start.
    ///
    /// Where two pieces meet, both compute the squared distance of the common point from the same numbers, so that
    /// they agree to the bit.
    #[inline(always)]
    pub fn nearest(&self, [px, pz]: [f64; 2]) -> (f64, f64) {
        let [x, z] = [px - self.start_m[0], pz - self.start_m[1]];
        let along_m = x * self.along[0] + z * self.along[1];
        if along_m <= 0.0 {
            return (x * x + z * z, 0.0);
        }
        if along_m >= self.length_m {
            let [x, z] = [px - self.end_m[0], pz - self.end_m[1]];
            return (x * x + z * z, self.length_m);
        }
        let right_m = z * self.along[0] - x * self.along[1];
        (right_m * right_m, along_m)
    }

    fn distance_m(&self, point: [f64; 2]) -> f64 {
        self.nearest(point).0.sqrt()
    }
}

/// The point of a polyline that is nearest to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    /// The index of its piece.
    pub piece: usize,
    /// Its distance from the start of the piece as a fraction of the length of the piece.
    pub share: f64,
    /// The squared distance to the other point.
    pub squared_m2: f64,
}

impl Nearest {
    /// The value at the nearest point, interpolated between the values at the points of the polyline.
    #[inline(always)]
    pub fn value(&self, values: &[f64]) -> f64 {
        mix(values[self.piece], values[self.piece + 1], self.share)
    }
}

/// A box around some points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    low: [f64; 2],
    high: [f64; 2],
}

impl Bounds {
    pub fn of(points: impl Iterator<Item = [f64; 2]>) -> Self {
        let empty = Self { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
        points.fold(empty, |Self { low, high }, [x, z]| Self {
            low: [low[0].min(x), low[1].min(z)],
            high: [high[0].max(x), high[1].max(z)],
        })
    }

    /// The distance of a point from the box; 0 inside.
    pub fn distance_m(&self, point: [f64; 2]) -> f64 {
        let beyond = |i: usize| (self.low[i] - point[i]).max(point[i] - self.high[i]).max(0.0);
        libm::hypot(beyond(0), beyond(1))
    }
}

/// The pieces of a curve, prepared for finding those that are near a point.
#[derive(Clone, Debug)]
pub(super) struct Polyline {
    pub pieces: Vec<Piece>,
    pub is_closed: bool,
    groups: Vec<Bounds>,
}

impl Polyline {
    /// The polyline through the points, of which the first and the last are equal if it is closed.
    pub fn new(points: &[[f64; 2]], is_closed: bool) -> Self {
        let pieces: Vec<Piece> = points.windows(2).map(|pair| Piece::new(pair[0], pair[1])).collect();
        let bounds = |group: &[Piece]| Bounds::of(group.iter().flat_map(|piece| [piece.start_m, piece.end_m]));
        let groups = pieces.chunks(GROUP).map(bounds).collect();
        Self { pieces, is_closed, groups }
    }

    /// Finds the pieces within a distance of a point, in their order.
    pub fn find_within(&self, point: [f64; 2], reach_m: f64, found: &mut Vec<usize>) {
        found.clear();
        for (group, bounds) in self.groups.iter().enumerate() {
            if bounds.distance_m(point) > reach_m + MARGIN_M {
                continue;
            }
            let first = group * GROUP;
            let pieces = self.pieces[first..].iter().take(GROUP).enumerate();
            let near = pieces.filter(|(_, piece)| piece.distance_m(point) <= reach_m + MARGIN_M);
            found.extend(near.map(|(i, _)| first + i));
        }
    }

    /// Finds, for all points within `radius_m` of a centre, the pieces that can be the nearest one, in their order. None
    /// if no such point is within `reach_m` of the polyline.
    pub fn find_nearest(&self, centre: [f64; 2], radius_m: f64, reach_m: f64, found: &mut Vec<usize>) {
        found.clear();
        let to_start = |group: &[Piece]| distance_m(centre, group[0].start_m);
        let mut least_m = self.pieces.chunks(GROUP).map(to_start).fold(f64::INFINITY, f64::min);
        for (pieces, bounds) in self.pieces.chunks(GROUP).zip(&self.groups) {
            if bounds.distance_m(centre) <= least_m {
                least_m = pieces.iter().map(|piece| piece.distance_m(centre)).fold(least_m, f64::min);
            }
        }
        if least_m <= reach_m + radius_m + MARGIN_M {
            self.find_within(centre, least_m + 2.0 * radius_m + MARGIN_M, found);
        }
    }

    /// The nearest point among those of some pieces, which are in their order: the first one if several are equally
    /// near. `None` without pieces.
    #[inline(always)]
    pub fn nearest_of(&self, point: [f64; 2], pieces: impl Iterator<Item = usize>) -> Option<Nearest> {
        let mut best = (f64::INFINITY, 0.0, usize::MAX);
        for piece in pieces {
            let (squared_m2, along_m) = self.pieces[piece].nearest(point);
            if squared_m2 < best.0 {
                best = (squared_m2, along_m, piece);
            }
        }
        let (squared_m2, along_m, piece) = best;
        let length_m = self.pieces.get(piece)?.length_m;
        let share = if along_m >= length_m { 1.0 } else { along_m / length_m };
        Some(Nearest { piece, share: if along_m <= 0.0 { 0.0 } else { share }, squared_m2 })
    }

    /// Whether a point is to the right of the direction of the polyline, seen with north on top, or on it. Where the
    /// nearest point is a corner, the bisector of the angle decides.
    pub fn is_right(&self, point: [f64; 2], nearest: &Nearest) -> bool {
        let own = self.pieces[nearest.piece];
        let count = self.pieces.len();
        let neighbour = match nearest.share {
            0.0 if nearest.piece > 0 => nearest.piece - 1,
            0.0 if self.is_closed => count - 1,
            1.0 if nearest.piece + 1 < count => nearest.piece + 1,
            1.0 if self.is_closed => 0,
            _ => nearest.piece,
        };
        let other = self.pieces[neighbour].along;
        let mut along = [own.along[0] + other[0], own.along[1] + other[1]];
        if along == [0.0; 2] {
            along = own.along;
        }
        let corner = if nearest.share == 1.0 { own.end_m } else { own.start_m };
        // z points south: to the right of the direction (0, −1), north, is (1, 0), east.
        (point[1] - corner[1]) * along[0] - (point[0] - corner[0]) * along[1] >= 0.0
    }

    /// Whether a point is inside a closed polyline, by the even–odd rule.
    pub fn contains(&self, [x, z]: [f64; 2]) -> bool {
        let crosses = |piece: &&Piece| {
            let ([ax, az], [bx, bz]) = (piece.start_m, piece.end_m);
            (az > z) != (bz > z) && x < ax + (z - az) / (bz - az) * (bx - ax)
        };
        self.pieces.iter().filter(crosses).count() % 2 == 1
    }

    /// Twice the area inside a closed polyline: positive if it runs clockwise, seen with north on top.
    pub fn doubled_area_m2(&self) -> f64 {
        let cross = |piece: &Piece| piece.start_m[0] * piece.end_m[1] - piece.end_m[0] * piece.start_m[1];
        self.pieces.iter().map(cross).sum()
    }
}

/// A monotone cubic interpolation: between neighbouring values it never leaves their range. Beyond the ends it is
/// constant.
///
/// PCHIP: Fritsch and Butland, "A method for constructing local monotone piecewise cubic interpolants", 1984.
#[derive(Clone, Debug)]
pub(super) struct MonotoneCubic {
    knots: Vec<[f64; 2]>,
    slopes: Vec<f64>,
}

impl MonotoneCubic {
    /// Interpolates at least one pair of position and value, in the order of their positions.
    pub fn new(knots: Vec<[f64; 2]>) -> Self {
        let spans: Vec<[f64; 2]> = knots.windows(2).map(|pair| span(pair[0], pair[1])).collect();
        let at = |i: usize| match (i.checked_sub(1).and_then(|before| spans.get(before)), spans.get(i)) {
            (Some(before), Some(after)) => inner_slope(*before, *after),
            (None, Some(first)) => spans.get(1).map_or(first[1], |second| end_slope(*first, *second)),
            (Some(last), None) => {
                let before = i.checked_sub(2).and_then(|before| spans.get(before));
                before.map_or(last[1], |before| end_slope(*last, *before))
            }
            (None, None) => 0.0,
        };
        let slopes = (0..knots.len()).map(at).collect();
        Self { knots, slopes }
    }

    /// Interpolates around a ring of this length.
    pub fn periodic(knots: &[[f64; 2]], length_m: f64) -> Self {
        let shifted = |turns: f64| knots.iter().map(move |[at, value]| [at + turns * length_m, *value]);
        Self::new([-1.0, 0.0, 1.0].into_iter().flat_map(shifted).collect())
    }

    /// The value at a position.
    pub fn at(&self, position: f64) -> f64 {
        let after = self.knots.partition_point(|knot| knot[0] <= position);
        let (Some(from), Some(to)) = (after.checked_sub(1).map(|i| self.knots[i]), self.knots.get(after)) else {
            let nearest = self.knots.get(after.saturating_sub(1));
            return nearest.map_or(0.0, |knot| knot[1]);
        };
        let width = to[0] - from[0];
        let t = (position - from[0]) / width;
        let rest = 1.0 - t;
        // The cubic Hermite form; the value is kept in range against rounding.
        let value = rest * rest * ((1.0 + 2.0 * t) * from[1] + t * width * self.slopes[after - 1])
            + t * t * ((3.0 - 2.0 * t) * to[1] - rest * width * self.slopes[after]);
        value.clamp(from[1].min(to[1]), from[1].max(to[1]))
    }
}

/// The width of a span and the slope of its chord.
fn span([from, a]: [f64; 2], [to, b]: [f64; 2]) -> [f64; 2] {
    [to - from, (b - a) / (to - from)]
}

/// The slope at a knot between two spans: a weighted harmonic mean, or 0 at an extremum.
fn inner_slope([h0, d0]: [f64; 2], [h1, d1]: [f64; 2]) -> f64 {
    if d0 * d1 <= 0.0 {
        return 0.0;
    }
    let [w0, w1] = [2.0 * h1 + h0, h1 + 2.0 * h0];
    (w0 + w1) / (w0 / d0 + w1 / d1)
}

/// The slope at an end, from its span and the one beside: that of a parabola, limited to keep the monotony.
fn end_slope([h0, d0]: [f64; 2], [h1, d1]: [f64; 2]) -> f64 {
    let slope = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if slope * d0 <= 0.0 {
        0.0
    } else if d0 * d1 <= 0.0 && slope.abs() > 3.0 * d0.abs() {
        3.0 * d0
    } else {
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn random_nodes(count: usize, seed: u32) -> Vec<[f64; 2]> {
        let mut rng = Stream::new(seed, 1).at(2);
        (0..count).map(|_| [rng.between(0.0, 1000.0), rng.between(0.0, 800.0)]).collect()
    }

    #[test]
    fn the_curve_passes_its_nodes_and_is_straight_for_two() {
        let nodes = random_nodes(6, 1);
        for is_closed in [false, true] {
            let points = curve_through(&nodes, is_closed).points;
            assert_eq!(points.len(), PIECES_PER_SPAN * if is_closed { 6 } else { 5 } + 1);
            assert!(nodes.iter().enumerate().all(|(i, node)| points[i * PIECES_PER_SPAN] == *node));
            assert_eq!(points.last(), if is_closed { nodes.first() } else { nodes.last() });
        }
        let straight = curve_through(&[[0.0, 10.0], [64.0, 10.0]], false).points;
        assert!(straight.iter().enumerate().all(|(i, point)| *point == [i as f64, 10.0]));
        assert_eq!(arc_lengths_m(&straight)[32], 32.0);
    }

    /// For equal distances, a centripetal spline is the uniform one: ½·(2P₁ + (P₂ − P₀)t + …), which at t = ½ is
    /// (9(P₁ + P₂) − P₀ − P₃)/16.
    #[test]
    fn equally_spaced_nodes_give_the_uniform_spline() {
        let points = curve_through(&[[0.0, 0.0], [3.0, 4.0], [6.0, 0.0], [9.0, 4.0]], false).points;
        let middle = points[PIECES_PER_SPAN + PIECES_PER_SPAN / 2];
        let expected = [(9.0 * 9.0 - 9.0) / 16.0, (9.0 * 4.0 - 4.0) / 16.0];
        assert!(distance_m(middle, expected) < 1e-12, "{middle:?}");
    }

    #[test]
    fn tangents_are_the_directions_of_the_curve() {
        let nodes = random_nodes(4, 2);
        let span = [nodes[0], nodes[1], nodes[2], nodes[3]];
        for share in [0.0, 0.3, 0.5, 1.0] {
            let [_, _, east, south] = point_of_span(span, share);
            let [a, b] = [-1e-5, 1e-5].map(|more| point_of_span(span, share + more));
            let difference = [b[0] - a[0], b[1] - a[1]];
            let sine = (east * difference[1] - south * difference[0]) / libm::hypot(difference[0], difference[1]);
            assert!(sine.abs() < 1e-6 * libm::hypot(east, south), "{share}: {sine}");
        }
        // The same from both sides of a node, also where a closed curve ends.
        let closed = curve_through(&nodes, true);
        let [_, _, east, south] = point_of_span([nodes[2], nodes[3], nodes[0], nodes[1]], 1.0);
        let sine = closed.tangents[0][0] * south - closed.tangents[0][1] * east;
        assert!(sine.abs() < 1e-9 * libm::hypot(east, south), "{sine}");
        assert_eq!((closed.points.len(), closed.tangents.first()), (closed.tangents.len(), closed.tangents.last()));
        assert_eq!(curve_through(&[[0.0, 0.0], [3.0, 4.0]], false).tangents, vec![[0.6, 0.8]; PIECES_PER_SPAN + 1]);
    }

    #[test]
    fn the_selected_pieces_give_the_nearest_point_of_all() {
        for (seed, is_closed) in [(1, false), (2, true), (3, false), (4, true)] {
            let points = curve_through(&random_nodes(7, seed), is_closed).points;
            let line = Polyline::new(&points, is_closed);
            let mut rng = Stream::new(seed, 9).at(1);
            let mut found = Vec::new();
            for _ in 0..200 {
                let centre = [rng.between(-300.0, 1300.0), rng.between(-300.0, 1100.0)];
                for reach_m in [40.0, f64::INFINITY] {
                    line.find_nearest(centre, 30.0, reach_m, &mut found);
                    for _ in 0..10 {
                        let point = [centre[0] + rng.between(-21.0, 21.0), centre[1] + rng.between(-21.0, 21.0)];
                        let plain = line.nearest_of(point, 0..line.pieces.len()).expect("pieces");
                        if plain.squared_m2 <= reach_m * reach_m {
                            assert_eq!(line.nearest_of(point, found.iter().copied()), Some(plain));
                        }
                    }
                }
                let is_near = |i: &usize| line.pieces[*i].distance_m(centre) <= 90.0;
                line.find_within(centre, 90.0, &mut found);
                assert!((0..line.pieces.len()).filter(is_near).all(|i| found.contains(&i)));
            }
        }
    }

    #[test]
    fn sides_follow_the_bisector_at_corners() {
        // East, then back to the north-west: a sharp turn to the left.
        let line = Polyline::new(&[[0.0, 0.0], [10.0, 0.0], [2.0, -4.0]], false);
        let nearest = |point| line.nearest_of(point, 0..2).expect("two pieces");
        for (point, is_right) in [([5.0, 1.0], true), ([5.0, -1.0], false), ([14.0, 3.0], true), ([13.0, -2.0], true)] {
            assert_eq!(line.is_right(point, &nearest(point)), is_right, "{point:?}");
        }
        let tie = nearest([12.0, 1.0]);
        assert_eq!((tie.piece, tie.share), (0, 1.0), "the first of two equally near points");
        let in_the_angle = nearest([7.0, -1.0]);
        assert!(!line.is_right([7.0, -1.0], &in_the_angle));
    }

    #[test]
    fn rings_have_an_inside_and_a_direction() {
        let clockwise = Polyline::new(&[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0], [0.0, 0.0]], true);
        assert!(clockwise.contains([5.0, 5.0]) && !clockwise.contains([15.0, 5.0]) && !clockwise.contains([5.0, -1.0]));
        assert_eq!(clockwise.doubled_area_m2(), 200.0);
    }

    #[test]
    fn monotone_cubics_keep_their_values_and_ranges() {
        let knots = vec![[0.0, 1.0], [2.0, 1.0], [3.0, 5.0], [7.0, 6.0], [8.0, 2.0]];
        let cubic = MonotoneCubic::new(knots.clone());
        assert!(knots.iter().all(|[at, value]| cubic.at(*at) == *value));
        assert_eq!([cubic.at(-3.0), cubic.at(1.3), cubic.at(90.0)], [1.0, 1.0, 2.0]);
        let mut last = 1.0;
        for i in 0..=70 {
            let value = cubic.at(f64::from(i) * 0.1);
            assert!(value >= last && value <= 6.0, "{i}");
            last = value;
        }
        assert_eq!(MonotoneCubic::new(vec![[4.0, 3.0]]).at(1.0), 3.0);
        assert_eq!(MonotoneCubic::new(vec![[0.0, 0.0], [4.0, 2.0]]).at(1.0), 0.5);
        let ring = MonotoneCubic::periodic(&[[0.0, 1.0], [5.0, 3.0]], 10.0);
        assert!((ring.at(2.5) - ring.at(7.5)).abs() < 1e-12 && ring.at(10.0) == 1.0);
    }
}
