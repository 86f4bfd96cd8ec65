//! The pad tool: a drag draws a building pad, and handles move, resize and turn it.

use super::box_handles::{CORNERS, Handle, TurnedBox, move_handle, set, snapped_m};
use super::box_tool::BoxItem;
use super::context::rounded_place;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::pads::{Pad, Pads, Shape};
use crate::engine::parameters::{List, Point};
use crate::engine::recipe::Step;

/// How far the banks of a new pad reach, in lengths of its longer side, and at least, metres.
const REACH: f64 = 4.0;
const MIN_REACH_M: f64 = 100.0;

impl BoxItem for Pad {
    const NAME: &'static str = "Pad";
    const SHOWN: &'static [&'static str] =
        &["kind", "depth_m", "shape", "size_m", "turn_deg", "corner_m", "grade", "grade_azimuth_deg", "bank_deg"];
    const NEW_PLACE: &'static str = "The first pad adds a Pads step on top";

    fn items(operation: &AnyOperation) -> Option<&List<Self>> {
        if let AnyOperation::Pads(Pads { pads }) = operation { Some(pads) } else { None }
    }

    fn items_mut(operation: &mut AnyOperation) -> Option<&mut List<Self>> {
        if let AnyOperation::Pads(Pads { pads }) = operation { Some(pads) } else { None }
    }

    fn new_step() -> Step {
        Step::new(Pads { pads: List::default() })
    }

    /// A pad with two opposite corners at the ends of the drag, a square one if it snaps; a click places one of the size
    /// in the tool bar.
    fn drawn(&self, _world: Extent, from: Point, to_m: [f64; 2], snaps: bool) -> Option<Self> {
        let sides_m = [to_m[0] - from.x_m, to_m[1] - from.z_m];
        let longer_m = snapped_m(sides_m[0].abs().max(sides_m[1].abs()), snaps);
        let [width_m, depth_m] = if snaps { sides_m.map(|m| longer_m.copysign(m)) } else { sides_m };
        let is_click = width_m.abs() < 1.0 && depth_m.abs() < 1.0;
        if !is_click && (width_m.abs() < 1.0 || depth_m.abs() < 1.0) {
            return None;
        }
        let (middle, size) = if is_click {
            ([from.x_m, from.z_m], [self.size_m.x_m, self.size_m.z_m])
        } else {
            ([from.x_m + 0.5 * width_m, from.z_m + 0.5 * depth_m], [width_m.abs(), depth_m.abs()])
        };
        let shape = if self.shape == Shape::Polygon { Shape::Rectangle } else { self.shape };
        // A pad does not cut mountains on the other side of a valley.
        let reach_m = Some((REACH * size[0].max(size[1])).max(MIN_REACH_M).round());
        let mut pad = Self { shape, turn_deg: 0.0, height_m: None, enabled: true, reach_m, ..self.clone() };
        set(&mut pad, "centre_m", rounded_place(middle));
        set(&mut pad, "size_m", rounded_place(size));
        Some(pad)
    }

    fn turned_box(&self) -> TurnedBox {
        TurnedBox { centre_m: self.centre_m, size_m: self.size_m, turn_deg: self.turn_deg }
    }

    fn middle(&self) -> [f64; 2] {
        if self.shape != Shape::Polygon {
            return [self.centre_m.x_m, self.centre_m.z_m];
        }
        let count = self.points_m.len().max(1).to_f64();
        [
            self.points_m.iter().map(|at| at.x_m).sum::<f64>() / count,
            self.points_m.iter().map(|at| at.z_m).sum::<f64>() / count,
        ]
    }

    fn outline(&self) -> Vec<[f64; 2]> {
        const SIDES: usize = 48;
        match self.shape {
            Shape::Rectangle => self.turned_box().outline(),
            Shape::Ellipse => {
                let angle = |i: usize| std::f64::consts::TAU * i.to_f64() / SIDES.to_f64();
                let at = |i| self.turned_box().place_m([libm::cos(angle(i)), libm::sin(angle(i))]);
                (0..=SIDES).map(at).collect()
            }
            Shape::Polygon => {
                let corners = self.points_m.iter().chain(self.points_m.first());
                corners.map(|at| [at.x_m, at.z_m]).collect()
            }
        }
    }

    fn contains(&self, place_m: [f64; 2]) -> bool {
        match self.shape {
            Shape::Rectangle => self.turned_box().contains(place_m),
            Shape::Ellipse => {
                let [x, z] = self.turned_box().shares(place_m);
                x * x + z * z <= 1.0
            }
            Shape::Polygon => {
                let crosses = |[a, b]: [[f64; 2]; 2]| {
                    (a[1] > place_m[1]) != (b[1] > place_m[1])
                        && place_m[0] < a[0] + (place_m[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
                };
                self.outline().windows(2).filter(|pair| crosses([pair[0], pair[1]])).count() % 2 == 1
            }
        }
    }

    fn handles(&self) -> Vec<(Handle, [f64; 2])> {
        if self.shape != Shape::Polygon {
            return self.turned_box().handles();
        }
        self.points_m.iter().enumerate().map(|(i, at)| (Handle::Vertex(i), [at.x_m, at.z_m])).collect()
    }

    fn move_handle(&mut self, handle: Handle, place_m: [f64; 2], snaps: bool) {
        match handle {
            Handle::Inside(offset_m) if self.shape == Shape::Polygon => {
                let from = self.middle();
                let to = [0, 1].map(|i| snapped_m(place_m[i] - offset_m[i], snaps));
                let moved = |at: &Point| rounded_place([at.x_m + to[0] - from[0], at.z_m + to[1] - from[1]]);
                self.points_m = self.points_m.iter().map(moved).collect();
            }
            Handle::Vertex(i) => {
                if let Some(vertex) = self.points_m.get_mut(i) {
                    *vertex = rounded_place(place_m.map(|m| snapped_m(m, snaps)));
                }
            }
            Handle::Inside(_) | Handle::Corner | Handle::Turn => {
                let from = self.turned_box();
                move_handle(self, from, handle, place_m, snaps);
            }
        }
    }

    /// A polygon without corners gets those of the box.
    fn complete(&mut self) {
        if self.shape == Shape::Polygon && self.points_m.is_empty() {
            let corners = CORNERS.map(|at| rounded_place(self.turned_box().place_m(at)));
            self.points_m = corners.to_vec().into();
        }
    }

    fn summary(&self) -> String {
        let Point { x_m, z_m } = self.size_m;
        let height = self.height_m.map_or("mean height of the terrain".into(), |height_m| format!("{height_m:.1} m"));
        match self.shape {
            Shape::Polygon => format!("{} corners, {height}", self.points_m.len()),
            _ => format!("{x_m:.0} × {z_m:.0} m, {:.0}°, {height}", self.turn_deg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pad() -> Pad {
        let point = |x_m, z_m| Point { x_m, z_m };
        Pad { centre_m: point(100.0, 200.0), size_m: point(40.0, 20.0), turn_deg: 90.0, ..Pad::default() }
    }

    #[test]
    fn a_pad_contains_what_lies_inside_its_outline() {
        // A quarter turn clockwise: the long side runs north to south.
        assert!(pad().contains([105.0, 215.0]) && !pad().contains([115.0, 205.0]));
        let ellipse = Pad { shape: Shape::Ellipse, ..pad() };
        assert!(ellipse.contains([100.0, 219.0]) && !ellipse.contains([108.0, 218.0]));
        let corners = [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]].map(|[x_m, z_m]| Point { x_m, z_m });
        let polygon = Pad { shape: Shape::Polygon, points_m: corners.to_vec().into(), ..pad() };
        assert!(polygon.contains([2.0, 2.0]) && !polygon.contains([8.0, 8.0]));
    }

    #[test]
    fn handles_stay_where_they_were_dragged() {
        for (handle, to) in [(Handle::Corner, [112.0, 231.0]), (Handle::Turn, [60.0, 200.0])] {
            let mut moved = pad();
            moved.move_handle(handle, to, false);
            let is_there = |[x, z]: [f64; 2]| match handle {
                Handle::Turn => (z - 200.0).abs() < 1e-6 && x < 100.0,
                _ => (x - to[0]).abs() < 0.1 && (z - to[1]).abs() < 0.1,
            };
            assert!(moved.handles().iter().any(|(_, at)| is_there(*at)), "{handle:?}: {moved:?}");
        }
        let mut moved = pad();
        moved.move_handle(Handle::Inside([5.0, 5.0]), [156.0, 262.0], true);
        assert_eq!(moved.centre_m, Point { x_m: 150.0, z_m: 260.0 });
    }

    #[test]
    fn a_polygon_begins_with_the_corners_of_the_box_and_moves_as_a_whole() {
        let mut polygon = Pad { shape: Shape::Polygon, ..pad() };
        polygon.complete();
        assert_eq!(polygon.points_m.len(), 4);
        let before = polygon.points_m.to_vec();
        polygon.move_handle(Handle::Inside([0.0, 0.0]), [110.0, 205.0], false);
        let is_moved =
            |(a, b): (&Point, &Point)| (b.x_m - a.x_m - 10.0).abs() < 0.02 && (b.z_m - a.z_m - 5.0).abs() < 0.02;
        assert!(before.iter().zip(&*polygon.points_m).all(is_moved), "{polygon:?}");
    }
}
