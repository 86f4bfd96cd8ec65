//! The marker tool: a click on a view places a spawn or another marker of the level; a drag moves it.

use egui::{Align2, Color32, FontId, Id, Key, Modifiers, PointerButton, Pos2, Stroke, Ui, Vec2};

use super::context::rounded_place;
use super::parameter_fields::{fields_ui, text_field};
use super::tool_view::ToolView;
use crate::app::views::overlay::note;
use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_text::TypedText;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::level::{Level, Marker, MarkerKind};
use crate::engine::parameters::Group;
use crate::engine::play::{rename_in_rules, team_colour};

/// The parameters in the tool bar besides the name and the team.
const SHOWN: &[&str] = &["eye_m"];

/// The radius of a marker, and the distance within which the pointer takes it, points.
const RADIUS: f32 = 6.0;
const REACH: f32 = 10.0;

/// The state of the tool. It is not part of the document.
#[derive(Debug)]
pub(super) struct MarkerTool {
    selected: Option<usize>,
    dragged: Option<Drag>,
    /// The kind of the next marker.
    kind: MarkerKind,
    /// The name of a marker that is being typed.
    typed: TypedText<(usize, Name)>,
}

/// What is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Marker,
    Team,
}

impl Name {
    fn key(self) -> &'static str {
        match self {
            Self::Marker => "name",
            Self::Team => "team",
        }
    }

    fn of(self, marker: &Marker) -> &str {
        match self {
            Self::Marker => &marker.name,
            Self::Team => &marker.team,
        }
    }

    /// Gives a marker or its team another name, also in the rules. An empty name of a marker is ignored.
    fn set(self, level: &mut Level, marker: usize, text: &str) {
        let (text, before) = (text.trim(), level.clone());
        let Some(known) = before.markers.get(marker).map(|marker| self.of(marker)) else { return };
        if text == known || (self == Self::Marker && text.is_empty()) {
            return;
        }
        match self {
            Self::Marker => level.markers[marker].name = text.into(),
            Self::Team => level.markers[marker].team = text.into(),
        }
        rename_in_rules(level, &before, known, text);
    }
}

impl Default for MarkerTool {
    fn default() -> Self {
        Self { selected: None, dragged: None, kind: MarkerKind::Spawn, typed: TypedText::default() }
    }
}

/// A drag of the selected marker.
#[derive(Debug)]
struct Drag {
    /// The view on which it began.
    view: Id,
    /// What Escape restores.
    before: (Level, Option<usize>),
}

impl MarkerTool {
    pub(super) fn reset(&mut self) {
        (self.selected, self.dragged, self.typed) = (None, None, TypedText::default());
    }

    /// Handles the pointer on one view.
    /// `mirrored_m` gives the images of a place under the symmetry in use. Markers stay on the map of this extent.
    pub(super) fn ui(
        &mut self,
        ui: &Ui,
        view: &dyn ToolView,
        level: &mut Level,
        extent: Extent,
        mirrored_m: &dyn Fn([f64; 2]) -> Vec<[f64; 2]>,
    ) {
        let place_m = |at: Pos2| view.place_m(at).map(|place_m| onto_axis(view, place_m, mirrored_m));
        let sides_m = [extent.width_m, extent.depth_m];
        let is_on_map = |place_m: &[f64; 2]| [0, 1].iter().all(|axis| (0.0..=sides_m[*axis]).contains(&place_m[*axis]));
        let place_on_map_m = |at: Pos2| place_m(at).filter(is_on_map);
        self.selected = self.selected.filter(|i| *i < level.markers.len());
        let response = view.response();
        let at = response.interact_pointer_pos().or(response.hover_pos());
        let origin = ui.input(|input| input.pointer.press_origin());
        if response.drag_started_by(PointerButton::Primary) {
            let before = (level.clone(), self.selected);
            if let Some(origin) = origin {
                self.selected = marker_at(view, level, origin).or_else(|| self.put(level, place_on_map_m(origin)?));
            }
            self.dragged = Some(Drag { view: response.id, before });
        }
        let is_dragged = self.dragged.as_ref().is_some_and(|drag| drag.view == response.id);
        if is_dragged
            && let (Some(i), Some(place_m)) = (self.selected, at.and_then(place_m))
            && let moved = rounded_place([0, 1].map(|axis| place_m[axis].clamp(0.0, sides_m[axis])))
            && level.markers.get(i).is_some_and(|marker| marker.at_m != moved)
        {
            level.markers[i].at_m = moved;
        }
        if response.drag_stopped() {
            self.dragged = None;
        }
        if response.clicked()
            && let Some(at) = at
        {
            self.selected = marker_at(view, level, at).or_else(|| self.put(level, place_on_map_m(at)?));
        }
    }

    /// Places a marker; returns its index.
    fn put(&self, level: &mut Level, place_m: [f64; 2]) -> Option<usize> {
        let team = if self.kind == MarkerKind::Spawn { level.unused_team() } else { String::new() };
        let (name, at_m) = (level.unused_name(self.kind), rounded_place(place_m));
        level.markers.push(Marker { kind: self.kind, name, at_m, team, ..Marker::default() });
        level.markers.len().checked_sub(1)
    }

    /// Handles keys: Delete removes the selected marker; Escape cancels a drag or clears the selection. Returns whether
    /// Escape, if it `escapes`, did either.
    pub(super) fn keys(&mut self, ui: &Ui, level: &mut Level, escapes: bool) -> bool {
        if !ui.input(|input| input.pointer.primary_down()) {
            self.dragged = None;
        }
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if (pressed(Key::Delete) || pressed(Key::Backspace))
            && let Some(i) = self.selected.take().filter(|i| *i < level.markers.len())
        {
            level.markers.remove(i);
        }
        if !escapes {
            return false;
        }
        match self.dragged.take() {
            Some(Drag { before, .. }) => {
                (*level, self.selected) = before;
                true
            }
            None => self.selected.take().is_some(),
        }
    }

    /// Draws the kind of the next marker and the parameters of the selected one in the tool bar.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, level: &mut Level, message: &mut Option<String>) {
        // Another marker was selected before the field was left.
        if let Some(((marker, name), text)) = self.typed.take_unless(|(marker, _)| self.selected == Some(marker)) {
            name.set(level, marker, &text);
        }
        ui.weak("New marker");
        for kind in MarkerKind::ALL {
            if ui.selectable_label(self.kind == *kind, kind.label()).clicked() {
                (self.kind, self.selected) = (*kind, None);
            }
        }
        let Some((i, known)) = self.selected.and_then(|i| Some((i, level.markers.get(i)?))) else {
            // The fields keep their space unseen, so that the views below do not move when a marker is placed.
            ui.set_invisible();
            ui.strong(self.kind.label());
            self.names_ui(ui, &Marker::default(), usize::MAX);
            fields_ui(ui, "New marker", &mut Marker::default(), SHOWN, message);
            return;
        };
        ui.separator();
        ui.strong(known.kind.label());
        let mut marker = known.clone();
        let renamed = self.names_ui(ui, &marker, i);
        fields_ui(ui, "Marker", &mut marker, SHOWN, message);
        if marker != *known {
            level.markers[i] = marker;
        }
        if let Some((name, text)) = renamed {
            name.set(level, i, &text);
        }
    }

    /// Draws the fields of the name and the team of a marker; returns a name whose field was left.
    fn names_ui(&mut self, ui: &mut Ui, marker: &Marker, index: usize) -> Option<(Name, String)> {
        let mut done = None;
        for name in [Name::Marker, Name::Team] {
            let Some(parameter) = marker.table().iter().find(|row| row.key == name.key()) else { continue };
            let label = format!("Marker: {}", parameter.label);
            let draw = |ui: &mut Ui, text: &mut String| text_field(ui, parameter, &label, text);
            let left = self.typed.ui(ui, (index, name), name.of(marker), draw);
            done = left.map(|text| (name, text)).or(done);
        }
        done
    }

    /// Draws the markers on one view, whichever tool is active.
    pub(super) fn draw(&self, ui: &Ui, view: &dyn ToolView, level: &Level, is_active: bool) {
        for (i, marker) in level.markers.iter().enumerate() {
            let Some(at) = view.pos([marker.at_m.x_m, marker.at_m.z_m]) else { continue };
            let is_selected = is_active && self.selected == Some(i);
            let line = if is_selected { colours(ui).accent } else { Color32::WHITE };
            let radius = if is_selected { RADIUS + 2.0 } else { RADIUS };
            let painter = view.painter();
            painter.circle(at, radius + 1.0, Color32::from_black_alpha(150), Stroke::NONE);
            let [red, green, blue] = team_colour(level, &marker.team);
            let fill = Color32::from_rgb(red, green, blue);
            match marker.kind {
                MarkerKind::Spawn => {
                    painter.circle(at, radius, fill, Stroke::new(2.0, line));
                }
                MarkerKind::Objective | MarkerKind::Camera => {
                    let sides = if marker.kind == MarkerKind::Objective { 4 } else { 3 };
                    painter.add(egui::Shape::convex_polygon(
                        polygon(at, radius + 1.0, sides),
                        fill,
                        Stroke::new(2.0, line),
                    ));
                }
            }
            if is_active {
                let (font, place) = (FontId::proportional(11.0), at + Vec2::new(0.0, -radius - 3.0));
                for (offset, colour) in [(1.0, Color32::BLACK), (0.0, Color32::WHITE)] {
                    let place = place + Vec2::splat(offset);
                    painter.text(place, Align2::CENTER_BOTTOM, &marker.name, font.clone(), colour);
                }
            }
        }
        // Over the markers.
        let response = view.response();
        let selected = self.selected.filter(|_| is_active && response.contains_pointer());
        if let Some(marker) = selected.and_then(|i| level.markers.get(i)) {
            let corner = response.rect.min + Vec2::new(8.0, 36.0);
            let text = format!("{}: {:.0} m east, {:.0} m south", marker.name, marker.at_m.x_m, marker.at_m.z_m);
            note(ui, view.painter(), Align2::LEFT_TOP, corner, &text);
        }
    }
}

/// A place that is as near to one of its images as to a marker under the pointer lies on the axis or in the middle.
fn onto_axis(view: &dyn ToolView, place_m: [f64; 2], mirrored_m: &dyn Fn([f64; 2]) -> Vec<[f64; 2]>) -> [f64; 2] {
    let Some(at) = view.pos(place_m) else { return place_m };
    let is_near = |image: &[f64; 2]| view.pos(*image).is_some_and(|image| image.distance(at) <= 2.0 * REACH);
    let near: Vec<[f64; 2]> = mirrored_m(place_m).into_iter().filter(is_near).collect();
    let count = (near.len() + 1).to_f64();
    [0, 1].map(|axis| (place_m[axis] + near.iter().map(|image| image[axis]).sum::<f64>()) / count)
}

/// The corners of a polygon with a corner on top.
fn polygon(middle: Pos2, radius: f32, sides: u8) -> Vec<Pos2> {
    let corner = |i: u8| {
        let (sin, cos) = libm::sincosf(std::f32::consts::TAU * f32::from(i) / f32::from(sides));
        middle + radius * Vec2::new(sin, -cos)
    };
    (0..sides).map(corner).collect()
}

/// The marker at a point of the screen; the last of several.
fn marker_at(view: &dyn ToolView, level: &Level, at: Pos2) -> Option<usize> {
    let is_near =
        |marker: &Marker| view.pos([marker.at_m.x_m, marker.at_m.z_m]).is_some_and(|place| place.distance(at) <= REACH);
    level.markers.iter().rposition(is_near)
}
