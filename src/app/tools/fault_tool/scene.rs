//! The fault tool in the 3-D view: lines on the terrain, which are drawn, selected and moved, and ends to drag. The
//! displacement and the zone have handles on the maps only.

use egui::{PointerButton, Pos2, Stroke, Ui};

use super::FaultTool;
use super::drawn_faults::{FaultIndex, fault_at, last_faults, replace};
use super::handles::{HANDLE_REACH, Handle, LINE_REACH, distance_to_segment, move_end, move_line};
use crate::app::commands::Command;
use crate::app::tools::context::ToolContext;
use crate::app::tools::tool_view::{ToolView, draw_points, places};
use crate::app::widgets::theme::colours;
use crate::engine::operations::drawn_faults::DrawnFault;

/// The pieces of a line that follow the terrain, and the most faults that are shown: those that were drawn last. Every
/// point of a line is looked for behind the terrain.
const PIECES: usize = 24;
const MAX_SHOWN: usize = 40;

/// A fault, and its line on the screen where the terrain does not hide it.
struct SceneFault {
    index: FaultIndex,
    fault: DrawnFault,
    line: Vec<Option<Pos2>>,
}

impl FaultTool {
    /// Handles the pointer on the 3-D view and draws the faults there; returns a command to execute.
    pub(crate) fn scene_ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        self.selected = self.selected.filter(|index| fault_at(context.recipe, *index).is_some());
        let response = view.response();
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let place = pointer.and_then(|at| view.place_m(at));
        let in_scene = |(index, fault): (FaultIndex, DrawnFault)| {
            let ends_m = [fault.from_m, fault.to_m].map(|end| [end.x_m, end.z_m]);
            let line = places(ends_m, PIECES).map(|place_m| view.pos(place_m)).collect();
            SceneFault { index, fault, line }
        };
        let faults: Vec<SceneFault> = last_faults(context.recipe, MAX_SHOWN).map(in_scene).collect();
        let hovered = pointer.filter(|_| self.dragged.is_none()).and_then(|at| self.hit_in_scene(view, &faults, at));
        let mut command = None;
        let origin = ui.input(|input| input.pointer.press_origin());
        if response.drag_started_by(PointerButton::Primary)
            && let Some(place_m) = origin.and_then(|origin| view.place_m(origin))
        {
            self.remember(context);
            if let Some((index, handle)) = origin.and_then(|origin| self.hit_in_scene(view, &faults, origin)) {
                let handle = if let Handle::Line(_) = handle { Handle::Line(place_m) } else { handle };
                (self.selected, self.dragged) = (Some(index), Some(handle));
                *context.selected_step = index.step;
            } else {
                command = self.draw_new(context, place_m);
            }
        } else if let (Some(handle), Some(index), Some(place_m)) = (self.dragged, self.selected, place)
            && let Some(mut fault) = fault_at(context.recipe, index)
        {
            match handle {
                Handle::From | Handle::To => move_end(&mut fault, handle, place_m),
                Handle::Line(grabbed_m) => {
                    move_line(&mut fault, [0, 1].map(|i| place_m[i] - grabbed_m[i]));
                    self.dragged = Some(Handle::Line(place_m));
                }
                Handle::Displacement(_) | Handle::Zone(_) => {}
            }
            replace(context.recipe, index, fault);
        } else if response.clicked() {
            self.selected = hovered.map(|(index, _)| index);
            *context.selected_step = self.selected.map_or(*context.selected_step, |index| index.step);
        }
        self.draw_browsed_in_scene(ui, view, context);
        let colour = colours(ui).accent;
        for SceneFault { index, fault, line } in &faults {
            let is_strong = self.selected == Some(*index) || hovered.is_some_and(|(hovered, _)| hovered == *index);
            let (width, strength) = if is_strong { (2.5, 1.0) } else { (1.5, 0.75) };
            draw_points(view, line, Stroke::new(width, colour.gamma_multiply(strength)));
            if self.selected == Some(*index) {
                for end in [fault.from_m, fault.to_m].into_iter().filter_map(|end| view.pos([end.x_m, end.z_m])) {
                    view.painter().circle(end, 5.0, colour, Stroke::new(2.0, egui::Color32::WHITE));
                }
            }
        }
        command
    }

    /// The fault under the pointer and its part; the ends of the selected one have priority.
    fn hit_in_scene(&self, view: &dyn ToolView, faults: &[SceneFault], at: Pos2) -> Option<(FaultIndex, Handle)> {
        if let Some(SceneFault { index, fault, .. }) = faults.iter().find(|found| self.selected == Some(found.index)) {
            for (end, handle) in [(fault.from_m, Handle::From), (fault.to_m, Handle::To)] {
                if view.pos([end.x_m, end.z_m]).is_some_and(|end| end.distance(at) <= HANDLE_REACH) {
                    return Some((*index, handle));
                }
            }
        }
        let distance = |line: &[Option<Pos2>]| {
            let pieces = line.windows(2).filter_map(|piece| Some(distance_to_segment(at, piece[0]?, piece[1]?)));
            pieces.fold(f32::INFINITY, f32::min)
        };
        let near = faults.iter().map(|found| (distance(&found.line), found.index));
        let (nearest, index) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (nearest <= LINE_REACH).then_some((index, Handle::Line([0.0; 2])))
    }
}
