//! Closed outlines on the map: the nearest point of a shape, and whether a point is inside.

use super::parameters::Point;

/// A shape bounded by a closed curve. Positions are metres eastward and southward.
#[derive(Clone, Debug)]
pub(super) enum Outline {
    /// A rectangle or an ellipse, turned around its centre.
    Turned {
        /// The centre.
        centre: [f64; 2],
        /// The unit vector of the first axis; the second one is a quarter turn clockwise of it.
        axis: [f64; 2],
        /// Half the lengths along both axes.
        half: [f64; 2],
        /// The shape around the centre.
        shape: Centred,
    },
    /// A polygon, which may cross itself; inside by the even–odd rule.
    Polygon(Vec<[f64; 2]>),
}

/// A shape around its centre.
#[derive(Clone, Copy, Debug)]
pub(super) enum Centred {
    /// A rectangle with corners rounded to this radius.
    Rectangle(f64),
    /// An ellipse.
    Ellipse,
}

/// The unit vector of an angle in degrees, clockwise from east. Exact for quarter turns.
pub(super) fn unit_vector(turn_deg: f64) -> [f64; 2] {
    let turn_deg = turn_deg.rem_euclid(360.0);
    match [0.0, 90.0, 180.0, 270.0].iter().position(|quarter| *quarter == turn_deg) {
        Some(quarter) => [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]][quarter],
        None => {
            let (sin, cos) = libm::sincos(turn_deg.to_radians());
            [cos, sin]
        }
    }
}

impl Outline {
    /// A rectangle or an ellipse with these lengths, turned clockwise. The radius of rounded corners is at most half
    /// the shorter side.
    pub(super) fn turned(centre_m: Point, size_m: Point, turn_deg: f64, shape: Centred) -> Self {
        let half = [0.5 * size_m.x_m, 0.5 * size_m.z_m];
        let shape = match shape {
            Centred::Rectangle(corner_m) => Centred::Rectangle(corner_m.min(half[0]).min(half[1])),
            Centred::Ellipse => Centred::Ellipse,
        };
        Self::Turned { centre: [centre_m.x_m, centre_m.z_m], axis: unit_vector(turn_deg), half, shape }
    }

    /// The western, northern, eastern and southern limits.
    pub(super) fn bounds(&self) -> [f64; 4] {
        match self {
            Self::Turned { centre: [x, z], axis: [cos, sin], half: [a, b], shape } => {
                let [reach_x, reach_z] = match shape {
                    // Rounded corners are turned with the corners inside them.
                    Centred::Rectangle(corner) => {
                        let (a, b) = (a - corner, b - corner);
                        [(a * cos).abs() + (b * sin).abs() + corner, (a * sin).abs() + (b * cos).abs() + corner]
                    }
                    Centred::Ellipse => [libm::hypot(a * cos, b * sin), libm::hypot(a * sin, b * cos)],
                };
                [x - reach_x, z - reach_z, x + reach_x, z + reach_z]
            }
            Self::Polygon(points) => {
                let empty = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
                points.iter().fold(empty, |[west, north, east, south], [x, z]| {
                    [west.min(*x), north.min(*z), east.max(*x), south.max(*z)]
                })
            }
        }
    }

    /// The point of the shape that is nearest to a point outside; `None` for a point inside or on the outline.
    pub(super) fn nearest(&self, [x, z]: [f64; 2]) -> Option<[f64; 2]> {
        match self {
            Self::Turned { centre, axis: [cos, sin], half, shape } => {
                let (dx, dz) = (x - centre[0], z - centre[1]);
                let local = [dx * cos + dz * sin, dz * cos - dx * sin];
                let [u, v] = match shape {
                    Centred::Rectangle(corner) => nearest_of_rectangle(*half, *corner, local)?,
                    Centred::Ellipse => nearest_of_ellipse(*half, local)?,
                };
                Some([centre[0] + u * cos - v * sin, centre[1] + u * sin + v * cos])
            }
            Self::Polygon(points) => nearest_of_polygon(points, [x, z]),
        }
    }

    /// How far a point inside is from the outline; for a point outside, any number.
    pub(super) fn depth(&self, [x, z]: [f64; 2]) -> f64 {
        match self {
            Self::Turned { centre, axis: [cos, sin], half, shape } => {
                let (dx, dz) = (x - centre[0], z - centre[1]);
                let [u, v] = [dx * cos + dz * sin, dz * cos - dx * sin];
                match shape {
                    Centred::Rectangle(corner) => {
                        // Towards a corner the outline is an arc around the corner of the smaller rectangle.
                        let [a, b] = [u.abs() - (half[0] - corner), v.abs() - (half[1] - corner)];
                        corner - libm::hypot(a.max(0.0), b.max(0.0)) - a.max(b).min(0.0)
                    }
                    Centred::Ellipse => {
                        let [p, q] = inner_nearest_of_ellipse(*half, [u, v]);
                        libm::hypot(u - p, v - q)
                    }
                }
            }
            Self::Polygon(points) => {
                let (_, [nearest_x, nearest_z]) = nearest_of_edges(points, [x, z]);
                libm::hypot(x - nearest_x, z - nearest_z)
            }
        }
    }
}

/// The nearest point of a rectangle: all points within `corner` of a smaller rectangle.
fn nearest_of_rectangle(half: [f64; 2], corner: f64, [u, v]: [f64; 2]) -> Option<[f64; 2]> {
    let [a, b] = half.map(|side| side - corner);
    let [inner_u, inner_v] = [u.clamp(-a, a), v.clamp(-b, b)];
    let distance = libm::hypot(u - inner_u, v - inner_v);
    let share = corner / distance;
    (distance > corner).then_some([inner_u + share * (u - inner_u), inner_v + share * (v - inner_v)])
}

/// The nearest point of an ellipse with these half axes, of a point outside.
fn nearest_of_ellipse([a, b]: [f64; 2], [u, v]: [f64; 2]) -> Option<[f64; 2]> {
    let is_outside = (u / a) * (u / a) + (v / b) * (v / b) > 1.0;
    is_outside.then(|| on_ellipse([a, b], [u, v], 0.0))
}

/// The point of the outline of an ellipse with these half axes that is nearest to a point inside.
fn inner_nearest_of_ellipse([a, b]: [f64; 2], [u, v]: [f64; 2]) -> [f64; 2] {
    // On the longer axis near the centre, the nearest points are on either side of it.
    const BESIDE: f64 = 1e-9;
    let beside = |of: f64, half: f64| if of.abs() < BESIDE * half { (BESIDE * half).copysign(of) } else { of };
    on_ellipse([a, b], [beside(u, a), beside(v, b)], -1.0)
}

/// The nearest point of the outline of an ellipse. The normal through it meets the point: with a ≥ b it is at
/// (r·u/(s + r), v/(s + 1)), r = a²/b², where s is the root of (n/(s + r))² + (w/(s + 1))² = 1, n = r·u/a, w = v/b, at
/// least 0 for a point outside and at least −1 for one inside. D. Eberly, "Distance from a Point to an Ellipse, an
/// Ellipsoid, or a Hyperellipsoid", Geometric Tools, 2013. From −1 on the left side is convex and falling, so Newton's
/// method approaches the root from below.
fn on_ellipse([a, b]: [f64; 2], [u, v]: [f64; 2], least: f64) -> [f64; 2] {
    if a < b {
        let [v, u] = on_ellipse([b, a], [v, u], least);
        return [u, v];
    }
    let (x, z) = (u.abs(), v.abs());
    let r = (a / b) * (a / b);
    let (n, w) = (r * (x / a), z / b);
    // Where one of the two terms alone is 1, the sum is at least 1.
    let mut s = (n - r).max(w - 1.0).max(least);
    for _ in 0..MAX_NEWTON_STEPS {
        let (across, along) = (n / (s + r), w / (s + 1.0));
        let excess = across * across + along * along - 1.0;
        let slope = 2.0 * (across * across / (s + r) + along * along / (s + 1.0));
        let next = s + excess / slope;
        if next <= s {
            break;
        }
        s = next;
    }
    [(r * x / (s + r)).copysign(u), (z / (s + 1.0)).copysign(v)]
}

/// Newton's method takes about six steps; rounding could make it alternate between neighbouring numbers.
const MAX_NEWTON_STEPS: usize = 50;

/// The nearest point on the edges of a polygon, of a point outside.
fn nearest_of_polygon(points: &[[f64; 2]], at: [f64; 2]) -> Option<[f64; 2]> {
    let (is_inside, nearest) = nearest_of_edges(points, at);
    (!is_inside && nearest != at).then_some(nearest)
}

/// Whether a point is inside a polygon, and the nearest point on its edges.
fn nearest_of_edges(points: &[[f64; 2]], [x, z]: [f64; 2]) -> (bool, [f64; 2]) {
    let edges = points.iter().zip(points.iter().cycle().skip(1));
    let mut is_inside = false;
    let mut nearest = (f64::INFINITY, [x, z]);
    for ([from_x, from_z], [to_x, to_z]) in edges {
        if (*from_z > z) != (*to_z > z) && x < from_x + (z - from_z) * (to_x - from_x) / (to_z - from_z) {
            is_inside = !is_inside;
        }
        let (along_x, along_z) = (to_x - from_x, to_z - from_z);
        let length_squared = along_x * along_x + along_z * along_z;
        let share = ((x - from_x) * along_x + (z - from_z) * along_z) / length_squared;
        // An edge without length is a point.
        let share = if length_squared > 0.0 { share.clamp(0.0, 1.0) } else { 0.0 };
        let point = [from_x + share * along_x, from_z + share * along_z];
        let squared = (x - point[0]) * (x - point[0]) + (z - point[1]) * (z - point[1]);
        if squared < nearest.0 {
            nearest = (squared, point);
        }
    }
    (is_inside, nearest.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn point([x_m, z_m]: [f64; 2]) -> Point {
        Point { x_m, z_m }
    }

    #[track_caller]
    fn check(outline: &Outline, at: [f64; 2], expected: Option<[f64; 2]>) {
        let found = outline.nearest(at);
        match (found, expected) {
            (Some([x, z]), Some([expected_x, expected_z])) => {
                assert!(libm::hypot(x - expected_x, z - expected_z) < 1e-9, "{found:?} not {expected:?}");
            }
            _ => assert_eq!(found, expected),
        }
    }

    #[test]
    fn nearest_points_match_those_found_by_hand() {
        let rectangle =
            |turn, corner| Outline::turned(point([10.0, 20.0]), point([8.0, 4.0]), turn, Centred::Rectangle(corner));
        check(&rectangle(0.0, 0.0), [14.0, 22.0], None);
        check(&rectangle(0.0, 0.0), [15.0, 21.0], Some([14.0, 21.0]));
        check(&rectangle(0.0, 0.0), [17.0, 26.0], Some([14.0, 22.0]));
        // A quarter turn swaps the sides; the corner of a turned square points west.
        check(&rectangle(90.0, 0.0), [15.0, 21.0], Some([12.0, 21.0]));
        assert_eq!(rectangle(90.0, 0.0).bounds(), [8.0, 16.0, 12.0, 24.0]);
        let diamond = Outline::turned(point([0.0, 0.0]), point([2.0, 2.0]), 45.0, Centred::Rectangle(0.0));
        check(&diamond, [-3.0, 0.0], Some([-(2.0_f64.sqrt()), 0.0]));
        // Corners of 2 m are half circles at the short ends, around (8, 20) and (12, 20).
        check(&rectangle(0.0, 2.0), [15.0, 24.0], Some([12.0 + 1.2, 20.0 + 1.6]));
        check(&rectangle(0.0, 9.0), [15.0, 24.0], Some([12.0 + 1.2, 20.0 + 1.6]));
        check(&rectangle(0.0, 2.0), [13.9, 21.9], Some([12.0 + 2.0_f64.sqrt(), 20.0 + 2.0_f64.sqrt()]));
        assert_eq!(rectangle(0.0, 2.0).bounds(), [6.0, 18.0, 14.0, 22.0]);
        // An ellipse at the ends of its axes, and a circle.
        let ellipse = |size, turn| Outline::turned(point([0.0, 0.0]), point(size), turn, Centred::Ellipse);
        check(&ellipse([8.0, 4.0], 0.0), [7.0, 0.0], Some([4.0, 0.0]));
        check(&ellipse([8.0, 4.0], 90.0), [7.0, 0.0], Some([2.0, 0.0]));
        check(&ellipse([8.0, 4.0], 0.0), [0.0, -9.0], Some([0.0, -2.0]));
        check(&ellipse([8.0, 4.0], 0.0), [2.0, 1.7], None);
        check(&ellipse([10.0, 10.0], 30.0), [-6.0, 8.0], Some([-3.0, 4.0]));
        // A polygon with a notch towards the east.
        let corners = vec![[0.0, 0.0], [10.0, 0.0], [5.0, 5.0], [10.0, 10.0], [0.0, 10.0]];
        let notched = Outline::Polygon(corners);
        check(&notched, [4.0, 5.0], None);
        check(&notched, [9.0, 5.0], Some([7.0, 3.0]));
        check(&notched, [-2.0, 5.0], Some([0.0, 5.0]));
        check(&notched, [-3.0, -4.0], Some([0.0, 0.0]));
        check(&notched, [10.0, 0.0], None);
    }

    #[test]
    fn polygons_that_cross_themselves_are_inside_by_the_even_odd_rule() {
        // A five-pointed star: its middle is crossed twice.
        let corner = |i: u32| {
            let angle = 4.0 * std::f64::consts::PI * f64::from(i) / 5.0;
            [10.0 * libm::sin(angle), -10.0 * libm::cos(angle)]
        };
        let star = Outline::Polygon((0..5).map(corner).collect());
        assert!(star.nearest([0.0, 0.0]).is_some());
        assert_eq!(star.nearest([0.0, -7.0]), None);
    }

    /// The distance of points inside from the outline, against the nearest of many points of the outline.
    #[test]
    fn depths_inside_match_the_nearest_of_many_points_of_the_outline() {
        let mut rng = Stream::new(5, 6).at(8);
        for i in 0..60 {
            let size = point([rng.between(1.0, 50.0), rng.between(1.0, 50.0)]);
            let shape = if i % 2 == 0 { Centred::Ellipse } else { Centred::Rectangle(rng.between(0.0, 9.0)) };
            let outline = Outline::turned(point([3.0, 4.0]), size, rng.between(-180.0, 180.0), shape);
            // Rays from the centre meet the outline once.
            let on = |angle: f64| {
                let (sin, cos) = libm::sincos(angle);
                let (mut inside, mut outside) = (0.0, 100.0);
                for _ in 0..50 {
                    let middle = 0.5 * (inside + outside);
                    let at = [3.0 + middle * cos, 4.0 + middle * sin];
                    if outline.nearest(at).is_none() { inside = middle } else { outside = middle }
                }
                [3.0 + inside * cos, 4.0 + inside * sin]
            };
            let points: Vec<[f64; 2]> = (0..4000).map(|i| on(std::f64::consts::TAU * f64::from(i) / 4000.0)).collect();
            for _ in 0..20 {
                let along = points[(rng.unit() * 3999.0) as usize];
                let share = rng.unit();
                let at = [3.0 + share * (along[0] - 3.0), 4.0 + share * (along[1] - 4.0)];
                let distances = points.iter().map(|[x, z]| libm::hypot(at[0] - x, at[1] - z));
                let expected = distances.fold(f64::INFINITY, f64::min);
                let found = outline.depth(at);
                assert!(found <= expected + 1e-6 && found > expected - 0.05, "{found} not {expected}, {outline:?}");
            }
        }
        let centre = Outline::turned(point([0.0, 0.0]), point([40.0, 10.0]), 0.0, Centred::Ellipse).depth([0.0, 0.0]);
        assert!((centre - 5.0).abs() < 1e-6, "{centre}");
        let square = Outline::Polygon(vec![[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]]);
        assert_eq!(square.depth([4.0, 7.0]), 3.0);
    }

    /// The points found are on the outline, and no other point of the outline is nearer.
    #[test]
    fn no_other_point_of_an_ellipse_is_nearer() {
        let mut rng = Stream::new(5, 6).at(7);
        for _ in 0..200 {
            let half = [rng.between(0.01, 50.0), rng.between(0.01, 50.0)];
            let at = [rng.between(-80.0, 80.0), rng.between(-80.0, 80.0)];
            let Some([u, v]) = nearest_of_ellipse(half, at) else { continue };
            let on = (u / half[0]) * (u / half[0]) + (v / half[1]) * (v / half[1]);
            assert!((on - 1.0).abs() < 1e-9, "{on} for {half:?}, {at:?}");
            let distance = libm::hypot(at[0] - u, at[1] - v);
            for i in 0..2000 {
                let (sin, cos) = libm::sincos(f64::from(i) * std::f64::consts::PI / 1000.0);
                let other = libm::hypot(at[0] - half[0] * cos, at[1] - half[1] * sin);
                assert!(other >= distance - 1e-9, "{half:?}, {at:?}");
            }
        }
    }
}
