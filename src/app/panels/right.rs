//! The right panel: terrain types, light, measures, variations.

use egui::{ScrollArea, Ui};

use crate::app::commands::Command;
use crate::app::panels::analysis::{AnalysisContext, AnalysisPanel};
use crate::app::panels::compass::compass_ui;
use crate::app::panels::texture_panel::TexturePanelState;
use crate::app::panels::types::types_ui;
use crate::app::panels::variations::Variations;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::heading;
use crate::app::widgets::parameter::group_ui;
use crate::engine::recipe::Recipe;
use crate::worker::{InputFiles, Preview};

/// What the panel draws on beside the recipe.
pub(crate) struct RightPanelContext<'a> {
    pub(crate) files: &'a InputFiles,
    pub(crate) thumbnails: &'a Thumbnails,
    pub(crate) shown: Option<&'a Preview>,
}

/// Draws the panel; returns what the user wants done.
pub(crate) fn right_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    texture_panel: &mut TexturePanelState,
    variations: &mut Variations,
    (analysis, context): (&mut AnalysisPanel, &mut AnalysisContext),
    around: &RightPanelContext,
) -> Option<Command> {
    let mut command = None;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        command = types_ui(ui, recipe, texture_panel, around);
        ui.add_space(12.0);
        heading(ui, "Light");
        compass_ui(ui, &mut recipe.light);
        ui.push_id("light", |ui| group_ui(ui, &mut recipe.light, &[]));
        ui.add_space(12.0);
        analysis.ui(ui, context);
        ui.add_space(12.0);
        command = command.take().or(variations.ui(ui, around.thumbnails));
    });
    command
}
