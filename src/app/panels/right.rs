//! The right panel: terrain types, light, scatter, analysis, playability, variations.

use egui::{ScrollArea, Ui};

use crate::app::commands::Command;
use crate::app::panels::analysis::{AnalysisContext, AnalysisPanel};
use crate::app::panels::compass::compass_ui;
use crate::app::panels::play::{PlayContext, PlayPanel, SeedPanel};
use crate::app::panels::scatter::ScatterPanel;
use crate::app::panels::texture_panel::TexturePanelState;
use crate::app::panels::types::{TypesContext, types_ui};
use crate::app::panels::variations::Variations;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::heading;
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::engine::recipe::Recipe;
use crate::worker::{InputFiles, Preview};

/// What the panel shows and edits.
pub(crate) struct RightPanelContext<'a> {
    pub(crate) recipe: &'a mut Recipe,
    /// The imported files of the project.
    pub(crate) files: &'a InputFiles,
    pub(crate) thumbnails: &'a Thumbnails,
    pub(crate) shown: Option<&'a Preview>,
    pub(crate) texture_panel: &'a mut TexturePanelState,
    pub(crate) analysis: (&'a mut AnalysisPanel, AnalysisContext<'a>),
    pub(crate) play: (&'a mut PlayPanel, PlayContext<'a>, &'a mut SeedPanel),
    pub(crate) scatter: &'a mut ScatterPanel,
    /// The place that the user wants to see, metres east and south.
    pub(crate) place_m: &'a mut Option<[f64; 2]>,
    pub(crate) variations: &'a mut Variations,
    pub(crate) parameters: &'a mut ParameterState,
    /// The key of the parameter of the light to scroll to and to focus.
    pub(crate) reveal: Option<&'static str>,
}

/// Draws the panel; returns the user's command.
pub(crate) fn right_ui(ui: &mut Ui, context: RightPanelContext) -> Option<Command> {
    let RightPanelContext { recipe, files, thumbnails, shown, texture_panel, analysis, variations, .. } = context;
    let RightPanelContext { parameters, reveal, play, scatter, place_m, .. } = context;
    let (play, mut play_context, seeds) = play;
    let (analysis, mut analysis_context) = analysis;
    let sections = |ui: &mut Ui| {
        let mut types = TypesContext { files, thumbnails, shown, parameters: &mut *parameters };
        let command = types_ui(ui, recipe, texture_panel, &mut types);
        ui.add_space(12.0);
        heading(ui, "Light");
        compass_ui(ui, &mut recipe.light);
        let mut light = ParameterContext { reveal, ..ParameterContext::new(parameters) };
        ui.push_id("light", |ui| group_ui(ui, &mut recipe.light, &[], &mut light));
        ui.add_space(12.0);
        let command = command.or(scatter.ui(ui, recipe, files, parameters));
        analysis.ui(ui, &mut analysis_context, parameters);
        *place_m = play.ui(ui, &mut play_context, seeds, parameters);
        ui.add_space(12.0);
        command.or(variations.ui(ui, thumbnails))
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, sections).inner
}
