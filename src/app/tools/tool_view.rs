//! What tools need of a view: the maps and the 3-D view alike.

use egui::{Color32, Event, Painter, PointerButton, Pos2, Rect, Response, Shape, Stroke, Ui};

use crate::app::views::map_transform::MapTransform;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;

/// A view on which tools work.
pub(crate) trait ToolView {
    /// The pointer's interaction with the pane.
    fn response(&self) -> &Response;

    /// Draws on the pane alone.
    fn painter(&self) -> &Painter;

    /// The place below a point of the screen, metres east and south; `None` if there is no terrain.
    fn place_m(&self, at: Pos2) -> Option<[f64; 2]>;

    /// The point of the screen that shows a place on the terrain; `None` if none does.
    fn pos(&self, place_m: [f64; 2]) -> Option<Pos2>;

    /// Where a map shows the whole world; `None` in the 3-D view.
    fn world_rect(&self, _extent: Extent) -> Option<Rect> {
        None
    }
}

impl ToolView for MapTransform {
    fn response(&self) -> &Response {
        &self.response
    }

    fn painter(&self) -> &Painter {
        &self.painter
    }

    fn place_m(&self, at: Pos2) -> Option<[f64; 2]> {
        Some(MapTransform::place_m(self, at))
    }

    fn pos(&self, place_m: [f64; 2]) -> Option<Pos2> {
        Some(MapTransform::pos(self, place_m))
    }

    fn world_rect(&self, extent: Extent) -> Option<Rect> {
        let corners = [[0.0, 0.0], [extent.width_m, extent.depth_m]].map(|place_m| MapTransform::pos(self, place_m));
        Some(Rect::from_min_max(corners[0], corners[1]))
    }
}

/// Where the primary button was pressed on a view in this frame. It may have been released in the same frame.
pub(super) fn pressed_at(ui: &Ui, response: &Response) -> Option<Pos2> {
    let is_on_view = response.contains_pointer() && (response.is_pointer_button_down_on() || response.clicked());
    ui.input(|input| input.events.iter().rev().find_map(press).filter(|_| is_on_view))
}

/// Where an event presses the primary button.
fn press(event: &Event) -> Option<Pos2> {
    match event {
        Event::PointerButton { pos, button: PointerButton::Primary, pressed: true, .. } => Some(*pos),
        _ => None,
    }
}

/// Draws a line through places on the terrain, with a dark line below that keeps it visible on any terrain.
pub(super) fn draw_line(view: &dyn ToolView, places_m: impl Iterator<Item = [f64; 2]>, stroke: Stroke) {
    draw_points(view, &places_m.map(|place_m| view.pos(place_m)).collect::<Vec<_>>(), stroke);
}

/// Places along a straight line: its ends, and others that divide it into so many pieces, which follow the terrain.
pub(super) fn places([from, to]: [[f64; 2]; 2], pieces: usize) -> impl Iterator<Item = [f64; 2]> {
    (0..=pieces).map(move |i| {
        let share = i.to_f64() / pieces.to_f64();
        [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]))
    })
}

/// Draws a line through points of the screen as [`draw_line`] does, with gaps where there is none. In the 3-D view,
/// finding the points takes longer than drawing them.
pub(super) fn draw_points(view: &dyn ToolView, points: &[Option<Pos2>], stroke: Stroke) {
    for run in points.split(Option::is_none).filter(|run| run.len() > 1) {
        let run: Vec<Pos2> = run.iter().copied().flatten().collect();
        let below = Stroke::new(stroke.width + 2.0, Color32::from_black_alpha(110));
        view.painter().add(Shape::line(run.clone(), below));
        view.painter().add(Shape::line(run, stroke));
    }
}

/// Draws a circle that lies on the terrain.
pub(super) fn draw_circle(view: &dyn ToolView, [x_m, z_m]: [f64; 2], radius_m: f64, stroke: Stroke) {
    const SIDES: usize = 48;
    let places = (0..=SIDES).map(|i| {
        let angle = std::f64::consts::TAU * i.to_f64() / SIDES.to_f64();
        [x_m + radius_m * libm::cos(angle), z_m + radius_m * libm::sin(angle)]
    });
    draw_line(view, places, stroke);
}
