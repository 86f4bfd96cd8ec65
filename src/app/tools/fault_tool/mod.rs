//! The fault tool: a drag on a map draws a fault, and handles change it.

mod bar;
mod drawing;
mod drawn_faults;
pub(crate) mod handles;
mod random_faults;
mod scene;
mod shown_faults;

use egui::{Align2, Key, Modifiers, PointerButton, Pos2, Ui};

use self::drawing::{draw_handles, draw_lines, draw_random_faults, draw_value, note_position};
pub(super) use self::drawn_faults::target_of_faults;
use self::drawn_faults::{
    FaultIndex, fault_at, faults_mut, is_own, length_m, next_iteration, own_faults_mut, remove, replace, set,
    step_for_faults,
};
use self::handles::{Handle, HandlePositions, LINE_REACH, REACH, distance_to_segment, drag, ends, rounded};
use self::random_faults::{RandomFault, RandomFaults};
use self::shown_faults::ShownFaults;
use crate::app::commands::Command;
use crate::app::tools::context::ToolContext;
use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::note;
use crate::engine::operations::FaultSequence;
use crate::engine::operations::drawn_faults::DrawnFault;
use crate::engine::operations::faults::OwnFault;
use crate::engine::parameters::{Point, Value};
use crate::engine::recipe::Recipe;

/// The smallest range of heights that scales the arrow, metres, so that faults can be drawn on flat terrain.
const MIN_RANGE_M: f64 = 100.0;

/// A new fault's displacement, as a share of the terrain's range of heights, and its zone, as a share of the world's
/// shorter side.
const DISPLACEMENT: f64 = 0.1;
const ZONE: f64 = 0.04;

/// The state of the tool. It is not part of the document.
#[derive(Debug, Default)]
pub(crate) struct FaultTool {
    selected: Option<FaultIndex>,
    dragged: Option<Handle>,
    /// What Escape restores during a drag.
    before_drag: Option<BeforeDrag>,
    /// The displacement whose arrow is [`ARROW`](handles::ARROW) long, metres. It is kept while a fault is selected:
    /// the terrain's range changes with the fault, and the handle would move away from the pointer.
    scale: Option<(FaultIndex, f64)>,
    random_faults: RandomFaults,
    /// Which of the strongest random faults the row below the tool bar names.
    browsed: Option<usize>,
    shown: ShownFaults,
}

/// The state before a drag.
#[derive(Debug)]
struct BeforeDrag {
    recipe: Recipe,
    selected_step: usize,
    selected: Option<FaultIndex>,
}

impl FaultTool {
    /// Handles the pointer on one map and draws the faults there; returns a command to execute.
    pub(crate) fn ui(&mut self, ui: &mut Ui, transform: &MapTransform, context: &mut ToolContext) -> Option<Command> {
        self.selected = self.selected.filter(|index| fault_at(context.recipe, *index).is_some());
        self.update_scale(context);
        let response = &transform.response;
        let free_pointer = response.hover_pos().or(response.interact_pointer_pos()).filter(|_| self.dragged.is_none());
        let hovered = free_pointer.and_then(|at| self.hit(context, transform, at));
        let near = match free_pointer.filter(|_| hovered.is_none() && !context.is_playing) {
            Some(pointer) => self.random_faults.near(context.recipe, context.at, transform, pointer),
            None => Vec::new(),
        };
        let mut command = self.drag_ui(ui, transform, context);
        if response.clicked() {
            command = self.click(context, hovered, &near).or(command);
        }
        if response.secondary_clicked() {
            self.selected = hovered.map(|(index, _)| index).or(self.selected);
        }
        if let Some(index) = self.selected {
            response.context_menu(|ui| menu_ui(ui, context.recipe, index));
        }
        draw_random_faults(ui, transform, context.recipe, &near);
        if near.is_empty() {
            self.draw_browsed(ui, transform, context);
        }
        self.draw(ui, transform, context, hovered);
        if self.selected.is_none()
            && let Some([shown, count]) = self.shown.limited(response.id)
        {
            let text = format!("Showing the last {shown} of {count} faults in view");
            note(ui, &transform.painter, Align2::LEFT_TOP, note_position(response.rect), &text);
        }
        command
    }

    /// Begins, continues or ends a drag.
    fn drag_ui(&mut self, ui: &Ui, transform: &MapTransform, context: &mut ToolContext) -> Option<Command> {
        let response = &transform.response;
        let mut command = None;
        if response.drag_started_by(PointerButton::Primary) {
            let origin = ui.input(|input| input.pointer.press_origin());
            command = origin.and_then(|origin| self.begin_drag(context, transform, origin));
        }
        if response.dragged_by(PointerButton::Primary)
            && let (Some(handle), Some(pointer)) = (self.dragged, response.interact_pointer_pos())
            && let Some(index) = self.selected
        {
            let snaps = ui.input(|input| input.modifiers.shift);
            let scale_m = self.scale_m(context, index);
            if let Some(mut fault) = fault_at(context.recipe, index) {
                self.dragged = Some(drag(&mut fault, handle, transform, scale_m, pointer, snaps));
                replace(context.recipe, index, fault);
            }
        }
        if response.drag_stopped() {
            (self.dragged, self.before_drag) = (None, None);
        }
        command
    }

    /// Selects the hovered fault, or returns the command that edits the nearest random one.
    fn click(
        &mut self,
        context: &mut ToolContext,
        hovered: Option<(FaultIndex, Handle)>,
        near: &[(f32, RandomFault)],
    ) -> Option<Command> {
        self.selected = hovered.map(|(index, _)| index);
        if let Some(index) = self.selected {
            *context.selected_step = index.step;
            return None;
        }
        let (distance, RandomFault { step, number, .. }) = near.first()?;
        (*distance <= LINE_REACH).then_some(Command::EditFault { step: *step, number: *number })
    }

    /// Makes a random fault editable by hand and selects it; returns the name of the edit.
    ///
    /// The fault keeps its place in the sequence, so the terrain is the same until it is changed.
    pub(crate) fn edit_random(
        &mut self,
        recipe: &mut Recipe,
        selected_step: &mut usize,
        step: usize,
        number: u32,
    ) -> Option<String> {
        let (extent, source) = (recipe.world.extent(), recipe.stack.get(step).filter(|_| number > 0)?);
        let FaultSequence::Lines(mut lines) =
            source.operation.faults_from(number, extent, source.stream(recipe.seed))?
        else {
            return None;
        };
        let fault = lines.next()?;
        drop(lines);
        let name = format!("Edit fault {number} of {}", source.title());
        let own = &mut own_faults_mut(recipe, step)?.own;
        if own.iter().any(|own| own.i == number) {
            return None;
        }
        own.push(OwnFault::new(number, &fault));
        self.selected = Some(FaultIndex { step, fault: own.len() - 1 });
        *selected_step = step;
        Some(name)
    }

    /// Handles the tool's keys: Delete removes the selected fault, Escape cancels the drag or clears the selection.
    /// Returns whether Escape, if it `escapes`, did either.
    pub(crate) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize, escapes: bool) -> bool {
        // If its pane is hidden meanwhile, no response reports the end of the drag.
        if !ui.input(|input| input.pointer.primary_down()) {
            (self.dragged, self.before_drag) = (None, None);
        }
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let is_used = escapes
            && match self.before_drag.take() {
                Some(before) => {
                    (*recipe, *selected_step) = (before.recipe, before.selected_step);
                    (self.selected, self.dragged) = (before.selected, None);
                    true
                }
                None => self.selected.take().is_some(),
            };
        if (pressed(Key::Delete) || pressed(Key::Backspace))
            && let Some(index) = self.selected.take()
        {
            remove(recipe, index);
        }
        is_used
    }

    /// The fault under the pointer and its part; the handles of the selected fault have priority over lines.
    fn hit(&mut self, context: &ToolContext, transform: &MapTransform, at: Pos2) -> Option<(FaultIndex, Handle)> {
        if let Some(index) = self.selected
            && let Some(fault) = fault_at(context.recipe, index)
            && let Some(handle) = HandlePositions::new(&fault, transform, self.scale_m(context, index)).at(at)
        {
            return Some((index, handle));
        }
        let shown = self.shown.on(transform, context.recipe);
        let near = shown.iter().filter_map(|&index| {
            let [from, to] = ends(&fault_at(context.recipe, index)?, transform);
            let distance = distance_to_segment(at, from, to);
            (distance <= LINE_REACH).then_some((distance, index))
        });
        let (_, index) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((index, Handle::Line(transform.place_m(at))))
    }

    /// Recomputes the scale of the arrow if the selection changed or the arrow would become too long.
    fn update_scale(&mut self, context: &ToolContext) {
        let own_m = |index| fault_at(context.recipe, index).map_or(0.0, |fault| fault.displacement_m.abs());
        let is_valid = self.scale.is_some_and(|(index, scale_m)| {
            self.selected == Some(index) && (self.dragged.is_some() || own_m(index) <= scale_m)
        });
        if !is_valid {
            self.scale = self.selected.map(|index| (index, arrow_scale_m(context, index)));
        }
    }

    /// The displacement whose arrow is [`ARROW`](handles::ARROW) long, metres.
    fn scale_m(&self, context: &ToolContext, index: FaultIndex) -> f64 {
        let known = self.scale.filter(|(known, _)| *known == index);
        known.map_or_else(|| arrow_scale_m(context, index), |(_, scale_m)| scale_m)
    }

    /// Begins a drag of the handle or line at `origin`, or of the end of a new fault.
    fn begin_drag(&mut self, context: &mut ToolContext, transform: &MapTransform, origin: Pos2) -> Option<Command> {
        self.remember(context);
        if let Some((index, handle)) = self.hit(context, transform, origin) {
            (self.selected, self.dragged) = (Some(index), Some(handle));
            *context.selected_step = index.step;
            return None;
        }
        self.draw_new(context, transform.place_m(origin))
    }

    /// Keeps what Escape restores during the drag that begins.
    fn remember(&mut self, context: &ToolContext) {
        let (recipe, selected_step) = (context.recipe.clone(), *context.selected_step);
        self.before_drag = Some(BeforeDrag { recipe, selected_step, selected: self.selected });
    }

    /// Adds a fault that begins at a place, whose end follows the pointer.
    fn draw_new(&mut self, context: &mut ToolContext, place_m: [f64; 2]) -> Option<Command> {
        let step = step_for_faults(context.recipe, *context.selected_step);
        let world = &context.recipe.world;
        let zone_m = (ZONE * world.width_m.min(world.depth_m)).round();
        let faults = faults_mut(context.recipe, step)?;
        let [x_m, z_m] = place_m.map(rounded);
        let mut fault = DrawnFault { at: next_iteration(faults), reach_m: Some(0.0), ..DrawnFault::default() };
        set(&mut fault, "from_m", Point { x_m, z_m });
        set(&mut fault, "to_m", Point { x_m, z_m });
        set(&mut fault, "displacement_m", (DISPLACEMENT * context.range_m).round().max(10.0));
        set(&mut fault, "zone_m", zone_m);
        faults.push(fault);
        let fault = faults.len() - 1;
        (self.selected, self.dragged) = (Some(FaultIndex { step, fault }), Some(Handle::To));
        *context.selected_step = step;
        (!context.is_at_end).then_some(Command::ToEnd)
    }

    fn draw(
        &mut self,
        ui: &Ui,
        transform: &MapTransform,
        context: &ToolContext,
        hovered: Option<(FaultIndex, Handle)>,
    ) {
        let shown = self.shown.on(transform, context.recipe);
        let hovered_index = hovered.map(|(index, _)| index).filter(|index| self.selected != Some(*index));
        draw_lines(ui, transform, context.recipe, &shown, &[self.selected, hovered_index]);
        let Some(index) = self.selected else { return };
        let Some(fault) = fault_at(context.recipe, index) else { return };
        let hovered = hovered.map(|(_, handle)| handle);
        draw_handles(ui, transform, &fault, self.scale_m(context, index), self.dragged.or(hovered));
        let hovered = hovered.filter(|handle| !matches!(handle, Handle::Line(_)));
        if let Some(handle) = self.dragged.or(hovered) {
            draw_value(ui, transform, context.recipe, index, handle);
        }
    }
}

/// The displacement whose arrow is [`ARROW`](handles::ARROW) long, metres: the terrain's range of heights, or the
/// fault's displacement if that is larger.
fn arrow_scale_m(context: &ToolContext, index: FaultIndex) -> f64 {
    let own_m = fault_at(context.recipe, index).map_or(0.0, |fault| fault.displacement_m.abs());
    context.range_m.max(own_m).max(MIN_RANGE_M)
}

/// The context menu of a fault.
fn menu_ui(ui: &mut Ui, recipe: &mut Recipe, index: FaultIndex) {
    ui.set_min_width(180.0);
    let Some(mut fault) = fault_at(recipe, index) else { return };
    if ui.button(if fault.enabled { "Disable" } else { "Enable" }).clicked() {
        fault.enabled = !fault.enabled;
    }
    if ui.button("Flip").on_hover_text("Raises the other side").clicked() {
        fault.displacement_m = -fault.displacement_m;
    }
    // The faults of a random sequence run across the map.
    if !is_own(recipe, index) {
        let (text, reach) = match fault.reach_m {
            Some(_) => ("Extend across the map", Value::None),
            None => ("Fade out beyond the ends", Value::Number((REACH * length_m(&fault)).round())),
        };
        if ui.button(text).clicked() {
            set(&mut fault, "reach_m", reach);
        }
    }
    replace(recipe, index, fault);
    ui.separator();
    if ui.button("Delete").clicked() {
        remove(recipe, index);
    }
}

#[cfg(test)]
mod tests {
    use super::random_faults::strongest;
    use super::*;
    use crate::engine::operations::AnyOperation;
    use crate::engine::operations::faults::Faults;
    use crate::engine::{Grid, Inputs, Progress, Step, stack::evaluate};

    #[test]
    fn a_random_fault_that_is_taken_over_keeps_the_terrain_to_the_bit() {
        let mut recipe =
            Recipe { stack: vec![Step::new(Faults { count: 40, ..Faults::default() })], ..Recipe::default() };
        let grid = Grid::new(recipe.world.extent(), 65, 65);
        let terrain =
            |recipe: &Recipe| evaluate(recipe, grid, None, &Inputs::default(), &Progress::new()).expect("a terrain");
        let (before, mut selected) = (terrain(&recipe), 0);
        let third = strongest(&recipe, u32::MAX)[2];
        let mut tool = FaultTool::default();
        let name = tool.edit_random(&mut recipe, &mut selected, third.step, third.number);
        assert_eq!(name, Some(format!("Edit fault {} of Faults", third.number)));
        assert_eq!((recipe.stack.len(), selected, terrain(&recipe) == before), (1, 0, true));
        assert!(strongest(&recipe, u32::MAX).iter().all(|found| found.number != third.number), "only once");
        // A drag by its handles moves it; deleting it leaves it out.
        let index = FaultIndex { step: 0, fault: 0 };
        let mut moved = fault_at(&recipe, index).expect("a fault");
        moved.from_m.x_m += 300.0;
        moved.to_m.x_m += 300.0;
        replace(&mut recipe, index, moved.clone());
        assert_ne!(terrain(&recipe), before);
        let found = fault_at(&recipe, index).expect("a fault");
        let off_m = |at: Point, of: Point| libm::hypot(at.x_m - of.x_m, at.z_m - of.z_m);
        let along = off_m(moved.to_m, moved.from_m);
        let cross = (moved.to_m.x_m - moved.from_m.x_m) * (found.to_m.z_m - moved.from_m.z_m)
            - (moved.to_m.z_m - moved.from_m.z_m) * (found.to_m.x_m - moved.from_m.x_m);
        assert!((cross / along).abs() < 1e-6, "on the line to which it was moved");
        // A slow drag of one end turns the line about the other, however little it moves in a frame.
        let before = fault_at(&recipe, index).expect("a fault");
        let mut turned = before.clone();
        turned.to_m.x_m += 0.1;
        replace(&mut recipe, index, turned);
        let after = fault_at(&recipe, index).expect("a fault");
        assert!(off_m(after.from_m, before.from_m) < 1e-6 && off_m(after.to_m, before.to_m) > 0.05, "{after:?}");
        remove(&mut recipe, index);
        let AnyOperation::Faults(faults) = &recipe.stack[0].operation else { unreachable!("faults") };
        assert_eq!((faults.own.len(), faults.skipped.to_vec()), (0, vec![third.number]));
    }
}
