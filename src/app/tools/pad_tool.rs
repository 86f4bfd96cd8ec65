//! The pad tool: a drag draws a building pad, and handles move, resize and turn it.

use egui::{Align2, Color32, Key, Modifiers, PointerButton, Pos2, Stroke, Ui, Vec2};

use super::context::{ToolContext, rounded_place, step_on_top};
use super::parameter_fields::fields_ui;
use super::tool_view::{ToolView, draw_line, is_pressed_on};
use crate::app::commands::Command;
use crate::app::views::overlay::note;
use crate::app::widgets::theme::colours;
use crate::engine::cast::ToFloat;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::pads::{Pad, Pads, Shape};
use crate::engine::parameters::{Group, List, Point, Value};
use crate::engine::recipe::{Recipe, Step};

/// The distance within which the pointer grabs a handle, points.
const REACH: f32 = 9.0;

/// The distance of the handle that turns a pad from its northern edge, as a share of the pad's depth.
const TURN_HANDLE: f64 = 0.25;

/// The grid, in metres and degrees, to which pads snap while Shift is held.
const SNAP_M: f64 = 10.0;
const SNAP_DEG: f64 = 15.0;

/// The parameters in the tool bar.
const SHOWN: [&str; 6] = ["shape", "turn_deg", "corner_m", "grade", "grade_azimuth_deg", "bank_deg"];

/// The corners of a pad's box as shares of half its sides, east and south of the centre.
const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// The indices of a pad: its step and its place in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PadIndex {
    step: usize,
    pad: usize,
}

/// A part of a pad that can be dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Handle {
    /// The pad itself, grabbed that far from its centre: metres east and south.
    Inside([f64; 2]),
    /// A corner of its box, by index.
    Corner(usize),
    /// The handle beyond the northern edge, which turns it.
    Turn,
    /// A corner of a polygon, by index.
    Vertex(usize),
}

/// The state of the tool. It is not part of the document.
#[derive(Debug, Default)]
pub(crate) struct PadTool {
    /// What a new pad is like.
    template: Pad,
    selected: Option<PadIndex>,
    dragged: Option<Drag>,
}

/// A drag of a handle, or of the second corner of a new pad.
#[derive(Debug)]
struct Drag {
    handle: Handle,
    /// The corner where a new pad begins.
    from: Option<Point>,
    /// What Escape restores.
    before: (Recipe, usize, Option<PadIndex>),
}

impl PadTool {
    /// Ends drags and clears the selection; the template stays.
    pub(super) fn reset(&mut self) {
        *self = Self { template: self.template.clone(), ..Self::default() };
    }

    /// Ends a drag, because the document was changed elsewhere.
    pub(super) fn document_changed(&mut self) {
        self.dragged = None;
    }

    /// Handles the pointer on one view and draws the pads there.
    pub(super) fn ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        self.selected = self.selected.filter(|index| pad_at(context.recipe, *index).is_some());
        let response = view.response();
        let snaps = ui.input(|input| input.modifiers.shift);
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let place = pointer.and_then(|at| view.place_m(at));
        let mut command = None;
        if is_pressed_on(ui, response)
            && let (Some(at), Some(place_m)) = (pointer, place)
        {
            self.press(context, view, at, place_m);
            command = (!context.is_at_end).then_some(Command::ToEnd);
        } else if response.dragged_by(PointerButton::Primary)
            && let Some(place_m) = place
        {
            self.drag(context, place_m, snaps);
        }
        if !ui.input(|input| input.pointer.primary_down()) {
            self.dragged = None;
        }
        self.draw(ui, view, context.recipe, pointer.filter(|_| response.hovered()));
        command
    }

    /// Grabs a handle or a pad, or begins a new pad.
    fn press(&mut self, context: &mut ToolContext, view: &dyn ToolView, at: Pos2, place_m: [f64; 2]) {
        let before = (context.recipe.clone(), *context.selected_step, self.selected);
        let hit = self.hit(context.recipe, view, at, place_m);
        self.selected = hit.map(|(index, _)| index);
        if let Some(index) = self.selected {
            *context.selected_step = index.step;
        }
        let (handle, from) = match hit {
            Some((_, handle)) => (handle, None),
            None => (Handle::Corner(2), Some(rounded_place(place_m))),
        };
        self.dragged = Some(Drag { handle, from, before });
    }

    /// Continues a drag to a place.
    fn drag(&mut self, context: &mut ToolContext, place_m: [f64; 2], snaps: bool) {
        let Some(Drag { handle, from, .. }) = &self.dragged else { return };
        let (handle, from) = (*handle, *from);
        let snap = |m: f64| if snaps { SNAP_M * (m / SNAP_M).round() } else { m };
        if let Some(from) = from {
            let size = [place_m[0] - from.x_m, place_m[1] - from.z_m].map(snap);
            if size.iter().all(|size| size.abs() >= 1.0) {
                self.draw_new(context, from, size);
            }
            return;
        }
        let Some(index) = self.selected else { return };
        let Some(mut pad) = pad_at(context.recipe, index).cloned() else { return };
        move_handle(&mut pad, handle, place_m, snaps);
        replace(context.recipe, index, pad);
    }

    /// Adds a pad of a size in metres with a corner at a place, or resizes the one that the drag added.
    fn draw_new(&mut self, context: &mut ToolContext, from: Point, [width_m, depth_m]: [f64; 2]) {
        let shape = if self.template.shape == Shape::Polygon { Shape::Rectangle } else { self.template.shape };
        let mut pad = Pad { shape, turn_deg: 0.0, height_m: None, enabled: true, ..self.template.clone() };
        set(&mut pad, "centre_m", rounded_place([from.x_m + 0.5 * width_m, from.z_m + 0.5 * depth_m]));
        set(&mut pad, "size_m", rounded_place([width_m.abs(), depth_m.abs()]));
        if let Some(index) = self.selected {
            replace(context.recipe, index, pad);
            return;
        }
        let step =
            step_on_top(context.recipe, *context.selected_step, is_pads, || Step::new(Pads { pads: List::default() }));
        let Some(pads) = pads_mut(context.recipe, step) else { return };
        pads.push(pad);
        self.selected = Some(PadIndex { step, pad: pads.len() - 1 });
        *context.selected_step = step;
    }

    /// Handles keys: Delete removes the selected pad; Escape cancels a drag or clears the selection. Returns whether
    /// Escape, if it `escapes`, did either.
    pub(super) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize, escapes: bool) -> bool {
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if let Some(index) = self.selected
            && (pressed(Key::Delete) || pressed(Key::Backspace))
        {
            if let Some(pads) = pads_mut(recipe, index.step).filter(|pads| index.pad < pads.len()) {
                pads.remove(index.pad);
            }
            (self.selected, self.dragged) = (None, None);
        }
        if !escapes {
            return false;
        }
        match self.dragged.take() {
            Some(Drag { before, .. }) => {
                (*recipe, *selected_step, self.selected) = before;
                true
            }
            None => self.selected.take().is_some(),
        }
    }

    /// Draws the parameters of the selected pad, or of the next one, in the tool bar.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, recipe: &mut Recipe) {
        let Some(index) = self.selected else {
            fields_ui(ui, "New pad", &mut self.template, &SHOWN);
            return;
        };
        let Some(mut pad) = pad_at(recipe, index).cloned() else { return };
        fields_ui(ui, "Pad", &mut pad, &SHOWN);
        if pad.shape == Shape::Polygon && pad.points_m.is_empty() {
            pad.points_m = CORNERS.map(|at| rounded_place(on_box(&pad, at))).to_vec().into();
        }
        replace(recipe, index, pad);
    }

    /// The pad under the pointer and its part. The handles of the selected pad have priority, and later pads over
    /// earlier ones, which they cut.
    fn hit(&self, recipe: &Recipe, view: &dyn ToolView, at: Pos2, place_m: [f64; 2]) -> Option<(PadIndex, Handle)> {
        if let Some(index) = self.selected
            && let Some(pad) = pad_at(recipe, index)
        {
            let is_near = |(_, handle_m): &(Handle, [f64; 2])| {
                view.pos(*handle_m).is_some_and(|handle| handle.distance(at) <= REACH)
            };
            if let Some((handle, _)) = handles(pad).into_iter().find(is_near) {
                return Some((index, handle));
            }
        }
        let (index, pad) = enabled_pads(recipe).filter(|(_, pad)| contains(pad, place_m)).last()?;
        let centre = middle(pad);
        Some((index, Handle::Inside([place_m[0] - centre[0], place_m[1] - centre[1]])))
    }

    fn draw(&self, ui: &Ui, view: &dyn ToolView, recipe: &Recipe, pointer: Option<Pos2>) {
        let colour = colours(ui).accent;
        for (index, pad) in enabled_pads(recipe) {
            let is_selected = self.selected == Some(index);
            let (width, strength) = if is_selected { (2.5, 1.0) } else { (1.5, 0.75) };
            draw_line(view, outline(pad).into_iter(), Stroke::new(width, colour.gamma_multiply(strength)));
            if !is_selected {
                continue;
            }
            for (_, handle_m) in handles(pad) {
                let Some(handle) = view.pos(handle_m) else { continue };
                let is_near = pointer.is_some_and(|at| handle.distance(at) <= REACH);
                let radius = if is_near { 6.5 } else { 5.0 };
                view.painter().circle(handle, radius, colour, Stroke::new(2.0, Color32::WHITE));
            }
            if !view.response().contains_pointer() {
                continue;
            }
            let Point { x_m, z_m } = pad.size_m;
            let height =
                pad.height_m.map_or("mean height of the terrain".into(), |height_m| format!("{height_m:.1} m"));
            let text = match pad.shape {
                Shape::Polygon => format!("Pad {}: {} corners, {height}", index.pad + 1, pad.points_m.len()),
                _ => format!("Pad {}: {x_m:.0} × {z_m:.0} m, {:.0}°, {height}", index.pad + 1, pad.turn_deg),
            };
            let at = view.response().rect.min + Vec2::new(8.0, 36.0);
            note(ui, view.painter(), Align2::LEFT_TOP, at, &text);
        }
    }
}

/// Moves a handle to a place.
fn move_handle(pad: &mut Pad, handle: Handle, place_m: [f64; 2], snaps: bool) {
    let snap = |m: f64, grid: f64| if snaps { grid * (m / grid).round() } else { m };
    match handle {
        Handle::Inside(offset_m) => {
            let from = middle(pad);
            let to = [0, 1].map(|i| snap(place_m[i] - offset_m[i], SNAP_M));
            if pad.shape == Shape::Polygon {
                let moved = |at: &Point| rounded_place([at.x_m + to[0] - from[0], at.z_m + to[1] - from[1]]);
                pad.points_m = pad.points_m.iter().map(moved).collect();
            } else {
                set(pad, "centre_m", rounded_place(to));
            }
        }
        Handle::Corner(_) => {
            let half = to_own_axes(pad, place_m).map(f64::abs);
            set(pad, "size_m", rounded_place(half.map(|half| snap(2.0 * half, SNAP_M).max(1.0))));
        }
        Handle::Turn => {
            let centre = pad.centre_m;
            let [east, south] = [place_m[0] - centre.x_m, place_m[1] - centre.z_m];
            let degrees = libm::atan2(east, -south).to_degrees();
            set(pad, "turn_deg", snap(if snaps { degrees } else { degrees.round() }, SNAP_DEG));
        }
        Handle::Vertex(i) => {
            if let Some(vertex) = pad.points_m.get_mut(i) {
                *vertex = rounded_place(place_m.map(|m| snap(m, SNAP_M)));
            }
        }
    }
}

/// A vector in the axes of a pad, east and south before it was turned, as one on the map.
fn turned(pad: &Pad, [x, z]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = libm::sincos(pad.turn_deg.to_radians());
    [x * cos - z * sin, x * sin + z * cos]
}

/// A place relative to the centre of a pad, in the axes of the pad before it was turned.
fn to_own_axes(pad: &Pad, [x_m, z_m]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = libm::sincos(pad.turn_deg.to_radians());
    let [x, z] = [x_m - pad.centre_m.x_m, z_m - pad.centre_m.z_m];
    [x * cos + z * sin, z * cos - x * sin]
}

/// A point of a pad's box: the centre plus shares of half its sides.
fn on_box(pad: &Pad, [x, z]: [f64; 2]) -> [f64; 2] {
    let [east, south] = turned(pad, [0.5 * x * pad.size_m.x_m, 0.5 * z * pad.size_m.z_m]);
    [pad.centre_m.x_m + east, pad.centre_m.z_m + south]
}

/// The middle of a pad.
fn middle(pad: &Pad) -> [f64; 2] {
    if pad.shape != Shape::Polygon {
        return [pad.centre_m.x_m, pad.centre_m.z_m];
    }
    let count = pad.points_m.len().max(1).to_f64();
    [
        pad.points_m.iter().map(|at| at.x_m).sum::<f64>() / count,
        pad.points_m.iter().map(|at| at.z_m).sum::<f64>() / count,
    ]
}

/// The handles of a pad and where they are.
fn handles(pad: &Pad) -> Vec<(Handle, [f64; 2])> {
    if pad.shape == Shape::Polygon {
        return pad.points_m.iter().enumerate().map(|(i, at)| (Handle::Vertex(i), [at.x_m, at.z_m])).collect();
    }
    let corners = CORNERS.into_iter().enumerate().map(|(i, at)| (Handle::Corner(i), on_box(pad, at)));
    corners.chain([(Handle::Turn, on_box(pad, [0.0, -1.0 - 2.0 * TURN_HANDLE]))]).collect()
}

/// The outline of a pad, closed.
fn outline(pad: &Pad) -> Vec<[f64; 2]> {
    const SIDES: usize = 48;
    match pad.shape {
        Shape::Rectangle => {
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|at| on_box(pad, at)).into()
        }
        Shape::Ellipse => {
            let angle = |i: usize| std::f64::consts::TAU * i.to_f64() / SIDES.to_f64();
            (0..=SIDES).map(|i| on_box(pad, [libm::cos(angle(i)), libm::sin(angle(i))])).collect()
        }
        Shape::Polygon => {
            let corners = pad.points_m.iter().chain(pad.points_m.first());
            corners.map(|at| [at.x_m, at.z_m]).collect()
        }
    }
}

/// Whether a place is inside a pad.
fn contains(pad: &Pad, place_m: [f64; 2]) -> bool {
    let [x, z] = to_own_axes(pad, place_m);
    let [x, z] = [2.0 * x / pad.size_m.x_m, 2.0 * z / pad.size_m.z_m];
    match pad.shape {
        Shape::Rectangle => x.abs() <= 1.0 && z.abs() <= 1.0,
        Shape::Ellipse => x * x + z * z <= 1.0,
        Shape::Polygon => {
            let crosses = |[a, b]: [[f64; 2]; 2]| {
                (a[1] > place_m[1]) != (b[1] > place_m[1])
                    && place_m[0] < a[0] + (place_m[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
            };
            outline(pad).windows(2).filter(|pair| crosses([pair[0], pair[1]])).count() % 2 == 1
        }
    }
}

/// Sets a parameter; a value outside the hard range is ignored.
fn set(pad: &mut Pad, key: &str, value: impl Into<Value>) {
    let _ = pad.set(key, &value.into());
}

fn is_pads(step: &Step) -> bool {
    matches!(step.operation, AnyOperation::Pads(_))
}

/// The pads of enabled steps.
fn enabled_pads(recipe: &Recipe) -> impl Iterator<Item = (PadIndex, &Pad)> {
    let enabled = recipe.stack.iter().enumerate().filter(|(_, step)| step.settings.enabled);
    enabled.flat_map(|(step, found)| {
        let pads = if let AnyOperation::Pads(Pads { pads }) = &found.operation { pads.as_slice() } else { &[] };
        pads.iter().enumerate().map(move |(pad, found)| (PadIndex { step, pad }, found))
    })
}

fn pads_mut(recipe: &mut Recipe, step: usize) -> Option<&mut List<Pad>> {
    match &mut recipe.stack.get_mut(step)?.operation {
        AnyOperation::Pads(Pads { pads }) => Some(pads),
        _ => None,
    }
}

fn pad_at(recipe: &Recipe, index: PadIndex) -> Option<&Pad> {
    match &recipe.stack.get(index.step)?.operation {
        AnyOperation::Pads(Pads { pads }) => pads.get(index.pad),
        _ => None,
    }
}

/// Replaces a pad. A pad that is the same leaves the list alone, which is shared with the document.
fn replace(recipe: &mut Recipe, index: PadIndex, pad: Pad) {
    if pad_at(recipe, index).is_some_and(|known| *known != pad)
        && let Some(pads) = pads_mut(recipe, index.step)
    {
        pads[index.pad] = pad;
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
    fn a_turned_pad_contains_its_handles_corners_and_not_what_lies_outside() {
        // A quarter turn clockwise: the long side runs north to south.
        let near = |[x, z]: [f64; 2], [a, b]: [f64; 2]| (x - a).abs() < 1e-9 && (z - b).abs() < 1e-9;
        assert!(near(on_box(&pad(), [1.0, 0.0]), [100.0, 220.0]) && near(on_box(&pad(), [0.0, -1.0]), [110.0, 200.0]));
        assert!(contains(&pad(), [105.0, 215.0]) && !contains(&pad(), [115.0, 205.0]));
        let ellipse = Pad { shape: Shape::Ellipse, ..pad() };
        assert!(contains(&ellipse, [100.0, 219.0]) && !contains(&ellipse, [108.0, 218.0]));
        let corners = [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]].map(|[x_m, z_m]| Point { x_m, z_m });
        let polygon = Pad { shape: Shape::Polygon, points_m: corners.to_vec().into(), ..pad() };
        assert!(contains(&polygon, [2.0, 2.0]) && !contains(&polygon, [8.0, 8.0]));
    }

    #[test]
    fn handles_stay_where_they_were_dragged() {
        for (handle, to) in [(Handle::Corner(1), [112.0, 231.0]), (Handle::Turn, [60.0, 200.0])] {
            let mut moved = pad();
            move_handle(&mut moved, handle, to, false);
            let found = handles(&moved);
            let is_there = |[x, z]: [f64; 2]| match handle {
                Handle::Turn => (z - 200.0).abs() < 1e-6 && x < 100.0,
                _ => (x - to[0]).abs() < 0.1 && (z - to[1]).abs() < 0.1,
            };
            assert!(found.iter().any(|(_, at)| is_there(*at)), "{handle:?}: {moved:?}");
        }
        let mut moved = pad();
        move_handle(&mut moved, Handle::Inside([5.0, 5.0]), [156.0, 262.0], true);
        assert_eq!(moved.centre_m, Point { x_m: 150.0, z_m: 260.0 });
    }
}
