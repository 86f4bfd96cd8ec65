//! The fault tool: faults are laid on the maps by a drag, and changed by their handles.
//!
//! It is the control of the drawn faults' own parameters on the map: it writes into the frame's copy of the recipe like
//! any slider, so that undo, names and previews follow by themselves.

use egui::{
    Align2, Button, Color32, Key, Modifiers, PointerButton, Pos2, Rect, Role, Shape, Stroke, Ui, UiBuilder, Vec2,
    WidgetInfo,
};
use egui_material_icons::icons::ICON_POLYLINE;

use crate::app::commands::Command;
use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::{length, note};
use crate::app::widgets::theme::colours;
use crate::engine::fault::Fault;
use crate::engine::operations::drawn_faults::{DrawnFault, DrawnFaults};
use crate::engine::operations::{AnyOperation, FaultSequence, Role as StepRole};
use crate::engine::parameters::{Group, Point, Value};
use crate::engine::recipe::{Recipe, Step};
use crate::scene::fault_line_ends;

/// How near the pointer takes hold of a handle or a line, points.
const HANDLE_REACH: f32 = 9.0;
const LINE_REACH: f32 = 6.0;

/// How long the arrow of a displacement as large as the land's range is, points, and where it begins; and the least range
/// that counts, metres: on level land a fault rises all the same.
pub(crate) const ARROW: f32 = 140.0;
pub(crate) const ARROW_FROM: f32 = 10.0;
const LEAST_RANGE_M: f64 = 100.0;

/// Where along the line the arrow and the edge of the zone have their handles.
const ARROW_AT: f32 = 0.35;
const ZONE_AT: f32 = 0.65;

/// What a new fault is like: shares of the land's range of heights, of the world's shorter side, and of its own length.
const DISPLACEMENT: f64 = 0.1;
const ZONE: f64 = 0.04;
const REACH: f64 = 0.35;

/// Directions are multiples of this while Shift is held, degrees.
const SNAP_DEG: f32 = 15.0;

/// A drawn fault: its step in the stack, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    step: usize,
    fault: usize,
}

/// What is held of a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    From,
    To,
    /// The whole line; where on the land it was taken hold of last, metres.
    Whole([f64; 2]),
    /// These two with how far beyond the pointer the handle was when it was taken hold of, points away from the line.
    Displacement(f32),
    Zone(f32),
}

impl Part {
    /// Whether both are the same handle, wherever it was taken hold of.
    fn is_as(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// The tool. None of its state is part of the document.
#[derive(Debug, Default)]
pub(crate) struct FaultTool {
    is_on: bool,
    selected: Option<Place>,
    held: Option<Part>,
    /// What Escape goes back to while something is held.
    before: Option<Before>,
    /// The displacement whose arrow is [`ARROW`] long, metres, as long as a fault is selected: the land's range changes
    /// with the fault, and the handle would not stay where it is let go of.
    scale: Option<(Place, f64)>,
    /// The strongest random faults of a recipe at an iteration, and for which they were found.
    found: Option<(Recipe, u32, Vec<Found>)>,
}

/// How it was before something was taken hold of.
#[derive(Debug)]
struct Before {
    recipe: Recipe,
    selected_step: usize,
    selected: Option<Place>,
}

/// A random fault that can be made a drawn one.
#[derive(Clone, Copy, Debug)]
struct Found {
    step: usize,
    /// Its number in the step, from 1 on.
    number: u32,
    fault: Fault,
    /// Where it enters the land and where it leaves it, metres.
    ends_m: [[f64; 2]; 2],
}

/// How many faults of a step are looked at, and how many of all are kept.
const LOOKED_AT: u32 = 2000;
const MOST_FOUND: usize = 400;

/// How near to the pointer random faults are shown, points, and how many.
const SHOWN_WITHIN: f32 = 48.0;
const MOST_SHOWN: usize = 5;

/// What the tool works on beside the map.
pub(crate) struct Bench<'a> {
    pub(crate) recipe: &'a mut Recipe,
    /// The step whose parameters are shown.
    pub(crate) selected_step: &'a mut usize,
    /// Metres from the lowest to the highest height that is shown.
    pub(crate) range_m: f64,
    /// Iterations done on the timeline.
    pub(crate) at: u32,
    /// Whether it moves: then no random faults are looked for at every picture.
    pub(crate) is_playing: bool,
    /// Whether the timeline stands at its end, where every fault is seen.
    pub(crate) is_at_end: bool,
}

impl FaultTool {
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Takes the tool up, or puts it away.
    pub(crate) fn toggle(&mut self) {
        *self = Self { is_on: !self.is_on, ..Self::default() };
    }

    /// Lets go of all: another project is open.
    pub(crate) fn let_go(&mut self) {
        *self = Self { is_on: self.is_on, ..Self::default() };
    }

    /// Works on one map; nothing while it is put away. Returns what else is to be done.
    pub(crate) fn ui(&mut self, ui: &mut Ui, transform: &MapTransform, bench: &mut Bench) -> Option<Command> {
        if !self.is_on {
            return None;
        }
        self.selected = self.selected.filter(|place| fault_at(bench.recipe, *place).is_some());
        self.find_scale(bench);
        let mut command = None;
        let pointer = transform.response.hover_pos().or(transform.response.interact_pointer_pos());
        let hovered = pointer.filter(|_| self.held.is_none()).and_then(|at| self.find(bench, transform, at));
        let near = self.near(bench, transform, pointer.filter(|_| self.held.is_none() && hovered.is_none()));
        if transform.response.drag_started_by(PointerButton::Primary) {
            let origin = ui.input(|input| input.pointer.press_origin());
            command = origin.and_then(|origin| self.take_hold(bench, transform, origin));
        }
        if transform.response.dragged_by(PointerButton::Primary)
            && let (Some(part), Some(pointer)) = (self.held, transform.response.interact_pointer_pos())
        {
            let snaps = ui.input(|input| input.modifiers.shift);
            self.drag(bench, transform, part, pointer, snaps);
        }
        if transform.response.drag_stopped() {
            (self.held, self.before) = (None, None);
        }
        if transform.response.clicked() {
            self.selected = hovered.map(|(place, _)| place);
            if let Some(place) = self.selected {
                *bench.selected_step = place.step;
            } else if let Some((away, Found { step, number, .. })) = near.first()
                && *away <= LINE_REACH
            {
                command = Some(Command::AdoptFault { step: *step, number: *number });
            }
        }
        if transform.response.secondary_clicked() {
            self.selected = hovered.map(|(place, _)| place).or(self.selected);
        }
        if let Some(place) = self.selected {
            transform.response.context_menu(|ui| menu_ui(ui, bench.recipe, place));
        }
        draw_near(ui, transform, bench.recipe, &near, self.selected.is_none());
        self.draw(ui, transform, bench, hovered);
        command
    }

    /// The random faults beside the pointer, the nearest first if it is on one, else the strongest.
    fn near(&mut self, bench: &Bench, transform: &MapTransform, pointer: Option<Pos2>) -> Vec<(f32, Found)> {
        let Some(pointer) = pointer.filter(|_| !bench.is_playing) else { return Vec::new() };
        if self.found.as_ref().is_none_or(|(recipe, at, _)| *at != bench.at || recipe != bench.recipe) {
            self.found = Some((bench.recipe.clone(), bench.at, strongest(bench.recipe, bench.at)));
        }
        let found = self.found.iter().flat_map(|(_, _, found)| found);
        let near = found.filter_map(|found| {
            let [from, to] = found.ends_m.map(|end| transform.pos(end));
            let away = distance_to_segment(pointer, from, to);
            (away <= SHOWN_WITHIN).then_some((away, *found))
        });
        let mut near: Vec<(f32, Found)> = near.take(MOST_SHOWN).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near
    }

    /// Makes a random fault of a step a drawn one, in the step that takes such, and selects it: the land stays as it is,
    /// but where wind or rivers wore it between the faults. Returns the name of the edit.
    pub(crate) fn adopt(
        &mut self,
        recipe: &mut Recipe,
        selected_step: &mut usize,
        step: usize,
        number: u32,
    ) -> Option<String> {
        let (extent, of) = (recipe.world.extent(), recipe.stack.get(step)?);
        let FaultSequence::Lines(mut lines) = of.operation.faults_from(number, extent, of.stream(recipe.seed))? else {
            return None;
        };
        let fault = lines.next()?;
        drop(lines);
        let ends_m = fault_line_ends(&fault, extent)?;
        let name = format!("Adopt fault {number} of {}", of.title());
        let AnyOperation::Faults(faults) = &mut recipe.stack.get_mut(step)?.operation else { return None };
        faults.skipped.push(number);
        let step = step_for_faults(recipe, *selected_step);
        let AnyOperation::DrawnFaults(DrawnFaults { faults }) = &mut recipe.stack.get_mut(step)?.operation else {
            return None;
        };
        let last = faults.iter().map(|fault| fault.at.max(1)).max().unwrap_or(0);
        let [from_m, to_m] = ends_m.map(|[x_m, z_m]| Point { x_m, z_m });
        let Fault { displacement_m, profile, zone_m, .. } = fault;
        let at = last + 1;
        faults.push(DrawnFault { from_m, to_m, displacement_m, profile, zone_m, reach_m: None, at, enabled: true });
        self.selected = Some(Place { step, fault: faults.len() - 1 });
        *selected_step = step;
        Some(name)
    }

    /// The button in the corner of a pane by which it is taken up, and what to do with it then.
    pub(crate) fn button_ui(&self, ui: &mut Ui, pane: Rect) -> Option<Command> {
        let place = Rect::from_min_size(pane.min + Vec2::splat(8.0), Vec2::new(28.0, 24.0));
        let mut corner = ui.new_child(UiBuilder::new().id_salt("fault tool").max_rect(place));
        let name = Command::FaultTool.tooltip(ui);
        let button = Button::selectable(self.is_on, ICON_POLYLINE.rich_text().size(16.0)).min_size(place.size());
        let button = if self.is_on { button } else { button.fill(colours(ui).plate) };
        let response = corner.add(button.frame_when_inactive(true)).on_hover_text(&name);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, self.is_on, &name));
        if self.is_on && self.selected.is_none() {
            let text = "Drag across a map to lay a fault";
            note(ui, ui.painter(), Align2::LEFT_TOP, note_at(pane), text);
        }
        response.clicked().then_some(Command::FaultTool)
    }

    /// Delete takes the selected fault away; Escape takes back what is being dragged, else lets go of the fault, and then
    /// of the tool. To be called once a frame, while nobody types.
    pub(crate) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize) {
        if !self.is_on {
            return;
        }
        // The pane may be gone in which the drag would have ended.
        if !ui.input(|input| input.pointer.primary_down()) {
            (self.held, self.before) = (None, None);
        }
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if pressed(Key::Escape) {
            match self.before.take() {
                Some(before) => {
                    (*recipe, *selected_step) = (before.recipe, before.selected_step);
                    (self.selected, self.held) = (before.selected, None);
                }
                None => self.is_on = self.selected.take().is_some(),
            }
        }
        if (pressed(Key::Delete) || pressed(Key::Backspace))
            && let Some(place) = self.selected.take()
        {
            remove(recipe, place);
        }
    }

    /// The fault under the pointer, and what of it: the selected one's handles come first.
    fn find(&self, bench: &Bench, transform: &MapTransform, at: Pos2) -> Option<(Place, Part)> {
        if let Some(place) = self.selected
            && let Some(fault) = fault_at(bench.recipe, place)
        {
            let handles = Handles::new(fault, transform, self.scale_m(bench, place));
            let beyond = |handle: Pos2| (handle - at).dot(handles.right);
            let parts = [
                (handles.from, Part::From),
                (handles.to, Part::To),
                (handles.displacement, Part::Displacement(beyond(handles.displacement))),
                (handles.zone, Part::Zone(beyond(handles.zone))),
            ];
            if let Some((_, part)) = parts.into_iter().find(|(handle, _)| handle.distance(at) <= HANDLE_REACH) {
                return Some((place, part));
            }
        }
        let near = all(bench.recipe).filter_map(|(place, fault)| {
            let [from, to] = ends(fault, transform);
            let away = distance_to_segment(at, from, to);
            (away <= LINE_REACH).then_some((away, place))
        });
        let (_, place) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((place, Part::Whole(transform.place_m(at))))
    }

    /// Finds the scale of the arrow anew where another fault is selected, or where it would become too long.
    fn find_scale(&mut self, bench: &Bench) {
        let own_m = |place| fault_at(bench.recipe, place).map_or(0.0, |fault| fault.displacement_m.abs());
        let stays = self.scale.is_some_and(|(place, scale_m)| {
            self.selected == Some(place) && (self.held.is_some() || own_m(place) <= scale_m)
        });
        if !stays {
            self.scale = self.selected.map(|place| (place, arrow_scale_m(bench, place)));
        }
    }

    /// The displacement whose arrow is [`ARROW`] long, metres.
    fn scale_m(&self, bench: &Bench, place: Place) -> f64 {
        let known = self.scale.filter(|(known, _)| *known == place);
        known.map_or_else(|| arrow_scale_m(bench, place), |(_, scale_m)| scale_m)
    }

    /// A drag begins: of a handle or a line, or of a new fault.
    fn take_hold(&mut self, bench: &mut Bench, transform: &MapTransform, origin: Pos2) -> Option<Command> {
        let (recipe, selected_step) = (bench.recipe.clone(), *bench.selected_step);
        self.before = Some(Before { recipe, selected_step, selected: self.selected });
        if let Some((place, part)) = self.find(bench, transform, origin) {
            (self.selected, self.held) = (Some(place), Some(part));
            *bench.selected_step = place.step;
            return None;
        }
        let step = step_for_faults(bench.recipe, *bench.selected_step);
        let world = &bench.recipe.world;
        let zone_m = (ZONE * world.width_m.min(world.depth_m)).round();
        let AnyOperation::DrawnFaults(DrawnFaults { faults }) = &mut bench.recipe.stack.get_mut(step)?.operation else {
            return None;
        };
        let last = faults.iter().map(|fault| fault.at.max(1)).max().unwrap_or(0);
        let [x_m, z_m] = transform.place_m(origin).map(rounded);
        let mut fault = DrawnFault { at: last + 1, reach_m: Some(0.0), ..DrawnFault::default() };
        set(&mut fault, "from_m", Point { x_m, z_m });
        set(&mut fault, "to_m", Point { x_m, z_m });
        set(&mut fault, "displacement_m", (DISPLACEMENT * bench.range_m).round().max(10.0));
        set(&mut fault, "zone_m", zone_m);
        faults.push(fault);
        let fault = faults.len() - 1;
        (self.selected, self.held) = (Some(Place { step, fault }), Some(Part::To));
        *bench.selected_step = step;
        (!bench.is_at_end).then_some(Command::ToEnd)
    }

    /// Moves what is held to the pointer.
    fn drag(&mut self, bench: &mut Bench, transform: &MapTransform, part: Part, pointer: Pos2, snaps: bool) {
        let Some(place) = self.selected else { return };
        let scale_m = self.scale_m(bench, place);
        let Some(fault) = fault_at_mut(bench.recipe, place) else { return };
        let handles = Handles::new(fault, transform, scale_m);
        let from_line = (pointer - handles.from).dot(handles.right);
        match part {
            Part::From | Part::To => {
                let (key, other) = if part == Part::From { ("from_m", handles.to) } else { ("to_m", handles.from) };
                let place = transform.place_m(if snaps { snapped(other, pointer) } else { pointer });
                let before = length_m(fault);
                let [x_m, z_m] = place.map(rounded);
                set(fault, key, Point { x_m, z_m });
                // It fades over the same share of its length as before; a new one over the usual one.
                if let Some(reach_m) = fault.reach_m {
                    let share = if before > 0.0 { reach_m / before } else { REACH };
                    let reach_m = (share * length_m(fault)).round();
                    set(fault, "reach_m", reach_m);
                }
            }
            Part::Whole(grabbed_m) => {
                let place_m = transform.place_m(pointer);
                let moved = |Point { x_m, z_m }: Point| Point {
                    x_m: rounded(x_m + place_m[0] - grabbed_m[0]),
                    z_m: rounded(z_m + place_m[1] - grabbed_m[1]),
                };
                let (from, to) = (moved(fault.from_m), moved(fault.to_m));
                set(fault, "from_m", from);
                set(fault, "to_m", to);
                self.held = Some(Part::Whole(place_m));
            }
            Part::Displacement(beyond) => {
                let tip = from_line + beyond;
                let metres = f64::from((tip.abs() - ARROW_FROM).max(0.0) / ARROW) * scale_m;
                set(fault, "displacement_m", metres.round().copysign(f64::from(tip)));
            }
            Part::Zone(beyond) => {
                let edge = (from_line + beyond).abs();
                set(fault, "zone_m", f64::from(edge / transform.pixels_per_m).round());
            }
        }
    }

    fn draw(&self, ui: &Ui, transform: &MapTransform, bench: &Bench, hovered: Option<(Place, Part)>) {
        let colours = colours(ui);
        let painter = &transform.painter;
        for (place, fault) in all(bench.recipe) {
            let is_marked = self.selected == Some(place) || hovered.is_some_and(|(hovered, _)| hovered == place);
            let strength = if is_marked { 1.0 } else { 0.75 };
            let width = if is_marked { 2.5 } else { 1.5 };
            let ends = ends(fault, transform);
            // On any ground: a dark line below the bright one.
            painter.line_segment(ends, Stroke::new(width + 2.0, Color32::from_black_alpha(110)));
            let stroke = Stroke::new(width, colours.accent.gamma_multiply(strength));
            if fault.enabled {
                painter.line_segment(ends, stroke);
            } else {
                painter.extend(Shape::dashed_line(&ends, stroke, 6.0, 4.0));
            }
        }
        let Some(place) = self.selected else { return };
        let Some(fault) = fault_at(bench.recipe, place) else { return };
        let handles = Handles::new(fault, transform, self.scale_m(bench, place));
        let thin = Stroke::new(1.0, colours.accent.gamma_multiply(0.7));
        if fault.zone_m > 0.0 && fault.profile.has_zone() {
            let away = handles.right * fault.zone_m as f32 * transform.pixels_per_m;
            for side in [away, -away] {
                painter.extend(Shape::dashed_line(&[handles.from + side, handles.to + side], thin, 4.0, 4.0));
            }
        }
        let foot = handles.from + (handles.to - handles.from) * ARROW_AT;
        painter.arrow(foot, handles.displacement - foot, Stroke::new(2.0, colours.accent));
        let ring = Stroke::new(2.0, Color32::WHITE);
        let marked = self.held.or(hovered.map(|(_, part)| part));
        for (handle, part) in [
            (handles.from, Part::From),
            (handles.to, Part::To),
            (handles.displacement, Part::Displacement(0.0)),
            (handles.zone, Part::Zone(0.0)),
        ] {
            let is_marked = marked.is_some_and(|marked| marked.is_as(part));
            painter.circle(handle, if is_marked { 6.5 } else { 5.0 }, colours.accent, ring);
        }
        let spoken = self.held.or(hovered.map(|(_, part)| part).filter(|part| !matches!(part, Part::Whole(_))));
        if let Some(part) = spoken {
            let title = bench.recipe.stack.get(place.step).map_or("", |step| step.title());
            let text = match part {
                Part::From | Part::To => format!("{}, {:.0}°", length(length_m(fault)), strike_deg(fault)),
                Part::Whole(_) => length(length_m(fault)),
                Part::Displacement(_) => format!("{:+.0} m", fault.displacement_m),
                Part::Zone(_) => format!("zone {:.0} m", fault.zone_m),
            };
            let text = format!("Fault {} of {title}: {text}", place.fault + 1);
            note(ui, painter, Align2::LEFT_TOP, note_at(transform.response.rect), &text);
        }
    }
}

/// The strongest faults that the steps have drawn after so many iterations of the timeline, the strongest first. Of a step
/// with very many the first ones are looked at: displacements only decrease, but where sizes are drawn.
fn strongest(recipe: &Recipe, at: u32) -> Vec<Found> {
    let extent = recipe.world.extent();
    let mut all = Vec::new();
    for (step, (of, done)) in recipe.stack.iter().zip(recipe.step_positions(at)).enumerate() {
        if !of.settings.enabled || !matches!(of.operation, AnyOperation::Faults(_)) {
            continue;
        }
        if let Some(FaultSequence::Lines(lines)) = of.operation.faults(extent, of.stream(recipe.seed)) {
            all.extend(
                (1..=done.min(LOOKED_AT)).zip(lines).filter(|(_, fault)| fault.displacement_m != 0.0).filter_map(
                    |(number, fault)| {
                        fault_line_ends(&fault, extent).map(|ends_m| Found { step, number, fault, ends_m })
                    },
                ),
            );
        }
    }
    all.sort_by(|a, b| b.fault.displacement_m.abs().total_cmp(&a.fault.displacement_m.abs()));
    all.truncate(MOST_FOUND);
    all
}

/// Draws random faults beside the pointer, and says which a click takes: below what is said while nothing is selected.
fn draw_near(ui: &Ui, transform: &MapTransform, recipe: &Recipe, near: &[(f32, Found)], is_below: bool) {
    let colour = colours(ui).accent;
    for (i, (away, found)) in near.iter().enumerate().rev() {
        let ends = found.ends_m.map(|end| transform.pos(end));
        let is_taken = i == 0 && *away <= LINE_REACH;
        let (width, strength) = if is_taken { (2.0, 0.9) } else { (1.0, 0.45 * (1.0 - away / SHOWN_WITHIN)) };
        transform.painter.line_segment(ends, Stroke::new(width, colour.gamma_multiply(strength)));
        if is_taken {
            let title = recipe.stack.get(found.step).map_or("", |step| step.title());
            let lift = found.fault.displacement_m.abs();
            let place = note_at(transform.response.rect) + if is_below { Vec2::new(0.0, 24.0) } else { Vec2::ZERO };
            let text = format!("A click makes fault {} of {title}, {lift:.0} m, a drawn one", found.number);
            note(ui, &transform.painter, Align2::LEFT_TOP, place, &text);
        }
    }
}

/// Where the tool says something of what it does: in a corner of its pane, below the controls, and not on the fault.
fn note_at(pane: Rect) -> Pos2 {
    pane.min + Vec2::new(8.0, 36.0)
}

/// The displacement whose arrow is [`ARROW`] long, metres: the land's range, or what the fault has if that is more.
fn arrow_scale_m(bench: &Bench, place: Place) -> f64 {
    let own_m = fault_at(bench.recipe, place).map_or(0.0, |fault| fault.displacement_m.abs());
    bench.range_m.max(own_m).max(LEAST_RANGE_M)
}

/// What can be done with a fault beside its handles.
fn menu_ui(ui: &mut Ui, recipe: &mut Recipe, place: Place) {
    ui.set_min_width(180.0);
    let Some(fault) = fault_at_mut(recipe, place) else { return };
    if ui.button(if fault.enabled { "Switch off" } else { "Switch on" }).clicked() {
        fault.enabled = !fault.enabled;
    }
    if ui.button("Turn over").on_hover_text("The other side rises").clicked() {
        fault.displacement_m = -fault.displacement_m;
    }
    let (text, reach) = match fault.reach_m {
        Some(_) => ("Run across the whole map", Value::None),
        None => ("Fade beyond its ends", Value::Number((REACH * length_m(fault)).round())),
    };
    if ui.button(text).clicked() {
        set(fault, "reach_m", reach);
    }
    ui.separator();
    if ui.button("Delete").clicked() {
        remove(recipe, place);
    }
}

/// Where the handles of a fault lie on the screen.
struct Handles {
    from: Pos2,
    to: Pos2,
    displacement: Pos2,
    zone: Pos2,
    /// The unit normal on the side that a positive displacement raises.
    right: Vec2,
}

impl Handles {
    fn new(fault: &DrawnFault, transform: &MapTransform, scale_m: f64) -> Self {
        let [from, to] = ends(fault, transform);
        let along = to - from;
        let right = if along.length() > 0.0 { Vec2::new(-along.y, along.x).normalized() } else { Vec2::X };
        let arrow = ARROW * (fault.displacement_m.abs() / scale_m) as f32 + ARROW_FROM;
        let side = if fault.displacement_m < 0.0 { -1.0 } else { 1.0 };
        Self {
            from,
            to,
            displacement: from + along * ARROW_AT + right * side * arrow,
            zone: from + along * ZONE_AT + right * fault.zone_m as f32 * transform.pixels_per_m,
            right,
        }
    }
}

/// The step that takes new faults, made where there is none: the selected one, which is switched on for that, or the
/// topmost of drawn faults that takes part, or a new one on top of what raises land, so that filters go over it as over
/// all faults.
fn step_for_faults(recipe: &mut Recipe, selected: usize) -> usize {
    let is_drawn = |step: &Step| matches!(step.operation, AnyOperation::DrawnFaults(_));
    if let Some(step) = recipe.stack.get_mut(selected).filter(|step| is_drawn(step)) {
        step.settings.enabled = true;
        return selected;
    }
    let takes = |step: &Step| step.settings.enabled && is_drawn(step);
    if let Some(step) = recipe.stack.iter().rposition(takes) {
        return step;
    }
    let above =
        recipe.stack.iter().rposition(|step| step.operation.role() == StepRole::Generator).map_or(0, |at| at + 1);
    let mut step = Step::new(DrawnFaults { faults: Vec::new() });
    step.settings.seed = recipe.unused_seed();
    recipe.stack.insert(above, step);
    above
}

/// All drawn faults of steps that take part.
fn all(recipe: &Recipe) -> impl Iterator<Item = (Place, &DrawnFault)> {
    recipe.stack.iter().enumerate().filter(|(_, step)| step.settings.enabled).flat_map(|(at, step)| {
        let faults = match &step.operation {
            AnyOperation::DrawnFaults(DrawnFaults { faults }) => &faults[..],
            _ => &[],
        };
        faults.iter().enumerate().map(move |(fault, drawn)| (Place { step: at, fault }, drawn))
    })
}

fn fault_at(recipe: &Recipe, place: Place) -> Option<&DrawnFault> {
    match &recipe.stack.get(place.step)?.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => faults.get(place.fault),
        _ => None,
    }
}

fn fault_at_mut(recipe: &mut Recipe, place: Place) -> Option<&mut DrawnFault> {
    match &mut recipe.stack.get_mut(place.step)?.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => faults.get_mut(place.fault),
        _ => None,
    }
}

fn remove(recipe: &mut Recipe, place: Place) {
    if let Some(AnyOperation::DrawnFaults(DrawnFaults { faults })) =
        recipe.stack.get_mut(place.step).map(|step| &mut step.operation)
        && place.fault < faults.len()
    {
        faults.remove(place.fault);
    }
}

/// Sets a parameter; one beyond its hard range stays as it was.
fn set(fault: &mut DrawnFault, key: &str, value: impl Into<Value>) {
    let _ = fault.set(key, &value.into());
}

/// Places are kept to a tenth of a metre.
fn rounded(metres: f64) -> f64 {
    (10.0 * metres).round() / 10.0
}

fn ends(fault: &DrawnFault, transform: &MapTransform) -> [Pos2; 2] {
    [fault.from_m, fault.to_m].map(|Point { x_m, z_m }| transform.pos([x_m, z_m]))
}

fn length_m(fault: &DrawnFault) -> f64 {
    libm::hypot(fault.to_m.x_m - fault.from_m.x_m, fault.to_m.z_m - fault.from_m.z_m)
}

/// The compass direction from the one end to the other, clockwise from north.
fn strike_deg(fault: &DrawnFault) -> f64 {
    let (east, south) = (fault.to_m.x_m - fault.from_m.x_m, fault.to_m.z_m - fault.from_m.z_m);
    libm::atan2(east, -south).to_degrees().rem_euclid(360.0)
}

/// The place nearest to the pointer from which the direction to `other` is a multiple of the snapping angle.
fn snapped(other: Pos2, pointer: Pos2) -> Pos2 {
    let away = pointer - other;
    let step = SNAP_DEG.to_radians();
    let angle = (away.angle() / step).round() * step;
    let direction = Vec2::new(libm::cosf(angle), libm::sinf(angle));
    other + direction * away.dot(direction)
}

fn distance_to_segment(at: Pos2, from: Pos2, to: Pos2) -> f32 {
    let along = to - from;
    let share = if along.length_sq() > 0.0 { (at - from).dot(along) / along.length_sq() } else { 0.0 };
    at.distance(from + along * share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_segment_ends_at_its_ends() {
        let [from, to] = [Pos2::new(0.0, 0.0), Pos2::new(10.0, 0.0)];
        assert_eq!(distance_to_segment(Pos2::new(5.0, 3.0), from, to), 3.0);
        assert_eq!(distance_to_segment(Pos2::new(13.0, 4.0), from, to), 5.0);
        assert_eq!(distance_to_segment(Pos2::new(0.0, 2.0), from, from), 2.0);
    }

    #[test]
    fn an_adopted_fault_leaves_the_land_as_it_is() {
        use crate::engine::operations::faults::Faults;
        use crate::engine::{Grid, Inputs, Progress, stack::evaluate};
        let mut recipe =
            Recipe { stack: vec![Step::new(Faults { count: 40, ..Faults::default() })], ..Recipe::default() };
        let grid = Grid::new(recipe.world.extent(), 65, 65);
        let terrain =
            |recipe: &Recipe| evaluate(recipe, grid, None, &Inputs::default(), &Progress::new()).expect("a land");
        let (before, mut selected) = (terrain(&recipe), 0);
        let third = strongest(&recipe, u32::MAX)[2];
        let name = FaultTool::default().adopt(&mut recipe, &mut selected, third.step, third.number);
        assert_eq!(name, Some(format!("Adopt fault {} of Faults", third.number)));
        assert_eq!((recipe.stack.len(), selected), (2, 1));
        let after = terrain(&recipe);
        let off = before.heights().iter().zip(after.heights()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-3, "{off} m");
        assert!(strongest(&recipe, u32::MAX).iter().all(|found| found.number != third.number), "it is taken");
    }

    #[test]
    fn directions_snap() {
        let snapped = snapped(Pos2::ZERO, Pos2::new(100.0, 4.0));
        assert!(snapped.distance(Pos2::new(100.0, 0.0)) < 1e-3, "{snapped:?}");
    }

    #[test]
    fn new_faults_go_into_the_selected_step_or_the_topmost_or_a_new_one_below_the_filters() {
        use crate::engine::operations::faults::Faults;
        use crate::engine::operations::recursive_filter::RecursiveFilter;
        let drawn = || Step::new(DrawnFaults::default());
        let (raising, filter) = (|| Step::new(Faults::default()), || Step::new(RecursiveFilter::default()));
        let mut recipe = Recipe { stack: vec![drawn(), raising(), drawn(), filter()], ..Default::default() };
        assert_eq!([0, 2, 1, 3].map(|selected| step_for_faults(&mut recipe, selected)), [0, 2, 2, 2]);
        recipe.stack[0].settings.enabled = false;
        assert_eq!(step_for_faults(&mut recipe, 0), 0);
        assert!(recipe.stack[0].settings.enabled, "what is drawn is seen");
        recipe.stack = vec![raising(), raising(), filter()];
        assert_eq!(step_for_faults(&mut recipe, 2), 2);
        assert!(recipe.stack.len() == 4 && all(&recipe).next().is_none());
    }
}
