//! The handles of a drawn fault, and what dragging them changes.

use egui::{Pos2, Vec2};

use crate::app::tools::fault_tool::drawn_faults::{length_m, set};
use crate::app::views::map_transform::MapTransform;
use crate::engine::cast::ToFloat;
use crate::engine::operations::drawn_faults::DrawnFault;
use crate::engine::parameters::Point;

/// The distance within which the pointer grabs a handle or a line, points.
pub(super) const HANDLE_REACH: f32 = 9.0;
pub(super) const LINE_REACH: f32 = 6.0;

/// The length of the arrow of a displacement as large as the terrain's range of heights, points, and its distance from
/// the line.
pub(crate) const ARROW: f32 = 140.0;
pub(crate) const ARROW_FROM: f32 = 10.0;

/// Where along the line the arrow and the edge of the zone have their handles.
pub(super) const ARROW_AT: f32 = 0.35;
const ZONE_AT: f32 = 0.65;

/// The distance over which a new fault fades out beyond its ends, as a share of its length.
pub(super) const REACH: f64 = 0.35;

/// Directions are multiples of this while Shift is held, degrees.
const SNAP_DEG: f32 = 15.0;

/// The part of a fault that is hovered or dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Handle {
    From,
    To,
    /// The line, with the last position of the pointer, metres.
    Line([f64; 2]),
    /// The tip of the arrow, with its distance beyond the pointer when the drag began, points away from the line.
    Displacement(f32),
    /// The edge of the zone, with the same distance.
    Zone(f32),
}

impl Handle {
    /// Whether both are the same handle, wherever it was grabbed.
    pub(super) fn is_same(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// The positions of a fault's handles on the screen.
pub(super) struct HandlePositions {
    pub(super) from: Pos2,
    pub(super) to: Pos2,
    pub(super) displacement: Pos2,
    pub(super) zone: Pos2,
    /// The unit normal on the side that a positive displacement raises.
    pub(super) right: Vec2,
}

impl HandlePositions {
    /// `scale_m`: the displacement whose arrow is [`ARROW`] long.
    pub(super) fn new(fault: &DrawnFault, transform: &MapTransform, scale_m: f64) -> Self {
        let [from, to] = ends(fault, transform);
        let along = to - from;
        let right = if along.length() > 0.0 { Vec2::new(-along.y, along.x).normalized() } else { Vec2::X };
        let arrow = ARROW * (fault.displacement_m.abs() / scale_m).to_f32() + ARROW_FROM;
        let side = if fault.displacement_m < 0.0 { -1.0 } else { 1.0 };
        Self {
            from,
            to,
            displacement: from + along * ARROW_AT + right * side * arrow,
            zone: from + along * ZONE_AT + right * fault.zone_m.to_f32() * transform.pixels_per_m,
            right,
        }
    }

    /// The handle within reach of the pointer.
    pub(super) fn at(&self, pointer: Pos2) -> Option<Handle> {
        let beyond = |handle: Pos2| (handle - pointer).dot(self.right);
        let handles = [
            (self.from, Handle::From),
            (self.to, Handle::To),
            (self.displacement, Handle::Displacement(beyond(self.displacement))),
            (self.zone, Handle::Zone(beyond(self.zone))),
        ];
        handles.into_iter().find(|(at, _)| at.distance(pointer) <= HANDLE_REACH).map(|(_, handle)| handle)
    }
}

/// Moves a handle to the pointer; returns the handle to pass for the next movement of the same drag.
pub(super) fn drag(
    fault: &mut DrawnFault,
    handle: Handle,
    transform: &MapTransform,
    scale_m: f64,
    pointer: Pos2,
    snaps: bool,
) -> Handle {
    let handles = HandlePositions::new(fault, transform, scale_m);
    let from_line = (pointer - handles.from).dot(handles.right);
    match handle {
        Handle::From | Handle::To => {
            let other = if handle == Handle::From { handles.to } else { handles.from };
            move_end(fault, handle, transform.place_m(if snaps { snapped(other, pointer) } else { pointer }));
        }
        Handle::Line(grabbed_m) => {
            let place_m = transform.place_m(pointer);
            move_line(fault, [0, 1].map(|i| place_m[i] - grabbed_m[i]));
            return Handle::Line(place_m);
        }
        Handle::Displacement(beyond) => {
            let tip = from_line + beyond;
            let metres = f64::from((tip.abs() - ARROW_FROM).max(0.0) / ARROW) * scale_m;
            set(fault, "displacement_m", metres.round().copysign(f64::from(tip)));
        }
        Handle::Zone(beyond) => {
            let edge = (from_line + beyond).abs();
            set(fault, "zone_m", f64::from(edge / transform.pixels_per_m).round());
        }
    }
    handle
}

/// Moves an end of a fault to a place.
pub(super) fn move_end(fault: &mut DrawnFault, end: Handle, place_m: [f64; 2]) {
    let before = length_m(fault);
    let [x_m, z_m] = place_m.map(rounded);
    set(fault, if end == Handle::From { "from_m" } else { "to_m" }, Point { x_m, z_m });
    // Keep the share of its length over which the fault fades.
    if let Some(reach_m) = fault.reach_m {
        let share = if before > 0.0 { reach_m / before } else { REACH };
        let reach_m = (share * length_m(fault)).round();
        set(fault, "reach_m", reach_m);
    }
}

/// Moves a fault.
pub(super) fn move_line(fault: &mut DrawnFault, by_m: [f64; 2]) {
    let moved = |Point { x_m, z_m }: Point| Point { x_m: rounded(x_m + by_m[0]), z_m: rounded(z_m + by_m[1]) };
    let (from, to) = (moved(fault.from_m), moved(fault.to_m));
    set(fault, "from_m", from);
    set(fault, "to_m", to);
}

/// A coordinate rounded to a tenth of a metre.
pub(super) fn rounded(metres: f64) -> f64 {
    (10.0 * metres).round() / 10.0
}

/// The ends of a fault's line on the screen.
pub(super) fn ends(fault: &DrawnFault, transform: &MapTransform) -> [Pos2; 2] {
    [fault.from_m, fault.to_m].map(|Point { x_m, z_m }| transform.pos([x_m, z_m]))
}

/// The position nearest to the pointer whose direction from `other` is a multiple of [`SNAP_DEG`].
fn snapped(other: Pos2, pointer: Pos2) -> Pos2 {
    let offset = pointer - other;
    let step = SNAP_DEG.to_radians();
    let angle = (offset.angle() / step).round() * step;
    let direction = Vec2::new(libm::cosf(angle), libm::sinf(angle));
    other + direction * offset.dot(direction)
}

pub(in crate::app::tools) fn distance_to_segment(at: Pos2, from: Pos2, to: Pos2) -> f32 {
    let along = to - from;
    let share = if along.length_sq() > 0.0 { (at - from).dot(along) / along.length_sq() } else { 0.0 };
    at.distance(from + along * share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_to_a_segment_is_measured_to_its_nearest_point() {
        let [from, to] = [Pos2::new(0.0, 0.0), Pos2::new(10.0, 0.0)];
        assert_eq!(distance_to_segment(Pos2::new(5.0, 3.0), from, to), 3.0);
        assert_eq!(distance_to_segment(Pos2::new(13.0, 4.0), from, to), 5.0);
        assert_eq!(distance_to_segment(Pos2::new(0.0, 2.0), from, from), 2.0);
    }

    #[test]
    fn directions_snap() {
        let snapped = snapped(Pos2::ZERO, Pos2::new(100.0, 4.0));
        assert!(snapped.distance(Pos2::new(100.0, 0.0)) < 1e-3, "{snapped:?}");
    }
}
