//! Boxes that are turned about their centres, and the handles that move, resize and turn them.

use super::context::rounded_place;
use crate::engine::parameters::{Group, Point, Value};

/// The distance of the handle that turns a box from its northern edge, as a share of the box's depth.
const TURN_HANDLE: f64 = 0.25;

/// The grid, in metres and degrees, to which boxes snap while Shift is held.
const SNAP_M: f64 = 10.0;
const SNAP_DEG: f64 = 15.0;

/// The shortest side, metres.
const MIN_SIDE_M: f64 = 1.0;

/// The corners of a box as shares of half its sides, east and south of the centre.
pub(super) const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// A part of an item that can be dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Handle {
    /// The item itself, grabbed that far from its centre: metres east and south.
    Inside([f64; 2]),
    /// A corner of its box.
    Corner,
    /// The handle beyond the northern edge, which turns it.
    Turn,
    /// A corner of a polygon, by index.
    Vertex(usize),
}

/// A rectangle that is turned clockwise about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TurnedBox {
    pub(super) centre_m: Point,
    /// The lengths of both sides before the turn: west to east, and north to south.
    pub(super) size_m: Point,
    pub(super) turn_deg: f64,
}

impl TurnedBox {
    /// A place relative to the centre, in the axes of the box before it was turned.
    fn to_own_axes(self, [x_m, z_m]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = libm::sincos(self.turn_deg.to_radians());
        let [x, z] = [x_m - self.centre_m.x_m, z_m - self.centre_m.z_m];
        [x * cos + z * sin, z * cos - x * sin]
    }

    /// A place as shares of half the sides, which are at most 1 inside.
    pub(super) fn shares(self, place_m: [f64; 2]) -> [f64; 2] {
        let [x, z] = self.to_own_axes(place_m);
        [2.0 * x / self.size_m.x_m, 2.0 * z / self.size_m.z_m]
    }

    /// The place at these shares of half the sides from the centre.
    pub(super) fn place_m(self, [x, z]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = libm::sincos(self.turn_deg.to_radians());
        let [x, z] = [0.5 * x * self.size_m.x_m, 0.5 * z * self.size_m.z_m];
        [self.centre_m.x_m + x * cos - z * sin, self.centre_m.z_m + x * sin + z * cos]
    }

    /// Whether a place is inside.
    pub(super) fn contains(self, place_m: [f64; 2]) -> bool {
        self.shares(place_m).iter().all(|share| share.abs() <= 1.0)
    }

    /// The edges, closed.
    pub(super) fn outline(self) -> Vec<[f64; 2]> {
        CORNERS.into_iter().chain([CORNERS[0]]).map(|at| self.place_m(at)).collect()
    }

    /// The handles and where they are.
    pub(super) fn handles(self) -> Vec<(Handle, [f64; 2])> {
        let corners = CORNERS.into_iter().map(|at| (Handle::Corner, self.place_m(at)));
        corners.chain([(Handle::Turn, self.place_m([0.0, -1.0 - 2.0 * TURN_HANDLE]))]).collect()
    }

    /// The size with a corner at a place.
    fn size_to(self, place_m: [f64; 2]) -> [f64; 2] {
        self.to_own_axes(place_m).map(|m| 2.0 * m.abs())
    }

    /// The size with the same proportions whose corner is nearest to a place.
    pub(super) fn proportional_size_to(self, place_m: [f64; 2]) -> Point {
        let ([x, z], Point { x_m, z_m }) = (self.size_to(place_m), self.size_m);
        let factor = (x * x_m + z * z_m) / (x_m * x_m + z_m * z_m);
        let factor = factor.max(MIN_SIDE_M / x_m.min(z_m));
        rounded_place([factor * x_m, factor * z_m])
    }
}

/// A length, or the nearest one on the grid if it `snaps`.
pub(super) fn snapped_m(m: f64, snaps: bool) -> f64 {
    if snaps { SNAP_M * (m / SNAP_M).round() } else { m }
}

/// Moves a handle to a place: sets the centre, the size or the turn of an item with that box.
pub(super) fn move_handle(item: &mut dyn Group, from: TurnedBox, handle: Handle, place_m: [f64; 2], snaps: bool) {
    match handle {
        Handle::Inside(offset_m) => {
            let to = [0, 1].map(|i| snapped_m(place_m[i] - offset_m[i], snaps));
            set(item, "centre_m", rounded_place(to));
        }
        Handle::Corner => {
            let size = from.size_to(place_m).map(|m| snapped_m(m, snaps).max(MIN_SIDE_M));
            set(item, "size_m", rounded_place(size));
        }
        Handle::Turn => {
            let [east, south] = [place_m[0] - from.centre_m.x_m, place_m[1] - from.centre_m.z_m];
            let degrees = libm::atan2(east, -south).to_degrees();
            let turn = if snaps { SNAP_DEG * (degrees / SNAP_DEG).round() } else { degrees.round() };
            set(item, "turn_deg", turn);
        }
        Handle::Vertex(_) => {}
    }
}

/// Sets a parameter; a value outside the hard range is ignored.
pub(super) fn set(item: &mut dyn Group, key: &str, value: impl Into<Value>) {
    let _ = item.set(key, &value.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned_box() -> TurnedBox {
        let point = |x_m, z_m| Point { x_m, z_m };
        TurnedBox { centre_m: point(100.0, 200.0), size_m: point(40.0, 20.0), turn_deg: 90.0 }
    }

    #[test]
    fn a_quarter_turn_makes_the_long_side_run_north_to_south() {
        let near = |[x, z]: [f64; 2], [a, b]: [f64; 2]| (x - a).abs() < 1e-9 && (z - b).abs() < 1e-9;
        assert!(near(turned_box().place_m([1.0, 0.0]), [100.0, 220.0]));
        assert!(near(turned_box().place_m([0.0, -1.0]), [110.0, 200.0]));
        assert!(turned_box().contains([105.0, 215.0]) && !turned_box().contains([115.0, 205.0]));
    }

    #[test]
    fn a_proportional_size_has_its_corner_nearest_to_the_place() {
        // Before the turn the place is 40 m east and 30 m south of the centre; the diagonal has the direction (2, 1).
        let Point { x_m, z_m } = turned_box().proportional_size_to([70.0, 240.0]);
        assert!((x_m - 88.0).abs() < 1e-9 && (z_m - 44.0).abs() < 1e-9, "{x_m} × {z_m}");
        assert_eq!(turned_box().proportional_size_to([100.0, 200.0]), Point { x_m: 2.0, z_m: 1.0 });
    }
}
