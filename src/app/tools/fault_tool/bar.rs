//! The row of the fault tool below the tool bar: the numbers of the selected fault, or the strongest random faults.

use egui::{Align2, Stroke, Ui};
use egui_material_icons::icons::{ICON_CHEVRON_LEFT, ICON_CHEVRON_RIGHT};

use super::FaultTool;
use super::drawing::{draw_random_fault, note_position};
use super::drawn_faults::{fault_at, replace};
use super::random_faults::RandomFault;
use crate::app::commands::Command;
use crate::app::tools::context::ToolContext;
use crate::app::tools::parameter_fields::fields_ui;
use crate::app::tools::tool_view::{ToolView, draw_line, places};
use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::note;
use crate::app::widgets::icon_button_enabled;
use crate::app::widgets::theme::colours;
use crate::engine::recipe::Recipe;

/// The parameters of a selected fault. Its ends have handles.
const SHOWN: &[&str] = &["displacement_m", "profile", "zone_m"];

/// The pieces of a line that follow the terrain in the 3-D view.
const PIECES: usize = 64;

impl FaultTool {
    /// Draws the row; `at` is the position on the timeline unless it plays. Returns the command that edits a random
    /// fault.
    pub(crate) fn bar_ui(
        &mut self,
        ui: &mut Ui,
        recipe: &mut Recipe,
        at: Option<u32>,
        message: &mut Option<String>,
    ) -> Option<Command> {
        if let Some(index) = self.selected
            && let Some(mut fault) = fault_at(recipe, index)
        {
            fields_ui(ui, "Fault", &mut fault, SHOWN, message);
            replace(recipe, index, fault);
            return None;
        }
        let faults = self.random_faults.all(recipe, at?);
        let Some(last) = faults.len().checked_sub(1) else {
            self.browsed = None;
            return None;
        };
        ui.weak("Edit a generated fault");
        let mut browsed = self.browsed.map(|browsed| browsed.min(last));
        let previous = browsed.and_then(|browsed| browsed.checked_sub(1));
        if icon_button_enabled(ui, ICON_CHEVRON_LEFT, "Previous random fault", previous.is_some()).clicked() {
            browsed = previous;
        }
        let next = browsed.map_or(0, |browsed| browsed + 1);
        if icon_button_enabled(ui, ICON_CHEVRON_RIGHT, "Next random fault", next <= last).clicked() {
            browsed = Some(next);
        }
        self.browsed = browsed;
        let browsed = browsed?;
        let found = faults[browsed];
        ui.label(format!("{} of the {} strongest: {}", browsed + 1, last + 1, found.description(recipe)));
        let edit =
            ui.button("Edit").on_hover_text("Makes this fault editable; the terrain changes only once you edit it");
        edit.clicked().then_some(Command::EditFault { step: found.step, number: found.number })
    }

    /// The random fault that the row names, while no fault is selected.
    fn browsed(&mut self, context: &ToolContext) -> Option<RandomFault> {
        let browsed = self.browsed.filter(|_| self.selected.is_none() && !context.is_playing)?;
        self.random_faults.all(context.recipe, context.at).get(browsed).copied()
    }

    /// Draws the random fault that the row names on a map.
    pub(super) fn draw_browsed(&mut self, ui: &Ui, transform: &MapTransform, context: &ToolContext) {
        if let Some(found) = self.browsed(context) {
            draw_random_fault(ui, transform, &found, 1.0);
            let text = format!("Random {}", found.description(context.recipe));
            note(ui, &transform.painter, Align2::LEFT_TOP, note_position(transform.response.rect), &text);
        }
    }

    /// Draws the random fault that the row names in the 3-D view.
    pub(super) fn draw_browsed_in_scene(&mut self, ui: &Ui, view: &dyn ToolView, context: &ToolContext) {
        if let Some(RandomFault { ends_m, .. }) = self.browsed(context) {
            draw_line(view, places(ends_m, PIECES), Stroke::new(2.5, colours(ui).accent));
        }
    }
}
