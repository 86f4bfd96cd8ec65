//! The panels around the views, and the views in their panes.

use egui::{CentralPanel, Frame, Panel, Ui};

use super::command::Command;
use super::fault_tool::{Bench, FaultTool};
use super::hints::Places;
use super::map_ui::legend_ui;
use super::panels::compass::sun_ui;
use super::panels::measures::{Gauges, Section};
use super::panels::status::Status;
use super::profile_tool::ProfileTool;
use super::scene::{self, Scene};
use super::studio::Studio;
use super::thumbnails::Thumbnails;
use super::views::{Freshness, Maps, View};
use super::{App, compare, panels, theme};
use crate::engine::Recipe;
use crate::engine::parameters::{PictureName, Range};
use crate::files::swatches::SHIPPED;
use crate::project::Project;
use crate::worker::{InputFiles, Preview};

impl App {
    /// Draws all panels and views on a copy of the project; returns what the user wants done.
    pub(super) fn panels_ui(&mut self, ui: &mut Ui, project: &mut Project) -> Vec<Command> {
        let mut commands = Vec::new();
        let has_timeline = project.recipe.iterations() > 0;
        let freshness = self.freshness();
        let menu = Panel::top("menu")
            .show(ui, |ui| commands.extend(panels::menu::menu_ui(ui, &self.document, &self.settings, has_timeline)));
        let crosshair_m = self.maps.crosshair_m.take();
        // While it plays, the iteration that is seen; the playhead is already at the next one.
        let seen = self.shown.as_ref().map(|shown| shown.request.position);
        let wanted = self.playback.position(project.recipe.iterations());
        let at = seen.filter(|_| self.playback.is_playing()).unwrap_or(wanted);
        self.selected_step = self.selected_step.min(project.recipe.stack.len().saturating_sub(1));
        let status = Status {
            message: self.message.as_ref(),
            renewing: match freshness {
                Freshness::Renewing(progress) => Some(progress),
                Freshness::Current | Freshness::Outdated | Freshness::Failed => None,
            },
            export: self.export_status(),
            shown: self.shown.as_ref(),
            export_samples: self.export_samples,
            crosshair_m,
        };
        Panel::bottom("status").exact_size(26.0).show(ui, |ui| commands.extend(panels::status::status_ui(ui, &status)));
        let timeline = Panel::bottom("timeline").exact_size(38.0).show(ui, |ui| {
            let (recipe, view) = (&mut project.recipe, &mut project.view);
            commands.extend(panels::timeline::timeline_ui(ui, recipe, view, at, self.playback));
        });
        let stack = Panel::left("stack").default_size(304.0).size_range(240.0..=480.0).show(ui, |ui| {
            commands.extend(self.history_ui(ui));
            ui.add_space(4.0);
            let (picker, thumbnails) = (&mut self.picker, &self.thumbnails);
            let selected = self.selected_step;
            let heights_m = self.shown.as_ref().map(|shown| Range {
                low: f64::from(shown.summary.min_m).floor(),
                high: f64::from(shown.summary.max_m).ceil(),
            });
            commands.extend(panels::stack::stack_ui(ui, project, at, selected, heights_m, picker, thumbnails));
        });
        let is_playing = self.playback.is_playing();
        let mut pointed = None;
        Panel::right("right").default_size(288.0).size_range(240.0..=480.0).show(ui, |ui| {
            ui.add_space(4.0);
            let is_dragging = ui.input(|input| input.pointer.any_down());
            self.variations.prepare(project, &self.recipe.1, &mut self.thumbnails, is_dragging);
            let Project { recipe, files, view, .. } = project;
            ask_grounds(&mut self.thumbnails, recipe, files, self.studio.selected.is_some());
            let thumbnails = &self.thumbnails;
            let around = panels::right::Surroundings { files, thumbnails, shown: self.shown.as_ref() };
            let mut gauges = Gauges {
                unfolded: &mut self.settings.unfolded,
                view,
                profile: &mut self.profile,
                shown: self.shown.as_ref(),
                is_playing,
                crosshair_m,
            };
            let measures = (&mut self.measures, &mut gauges);
            let (command, place) =
                panels::right::right_ui(ui, recipe, &mut self.studio, &mut self.variations, measures, &around);
            commands.extend(command);
            pointed = place;
        });
        let [menu, stack, timeline] = [menu.response.rect, stack.response.rect, timeline.response.rect];
        self.hints_ui(ui.ctx(), &Places { menu, stack, timeline });
        self.maps.crosshair_m = crosshair_m;
        let frame = Frame::new().fill(theme::colours(ui).panel);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            // What the pointer is on in the profile is where it is on the land.
            let is_over_views = ui.rect_contains_pointer(ui.max_rect());
            self.maps.crosshair_m = if is_over_views { self.maps.crosshair_m } else { pointed };
            self.views_ui(ui, project, &freshness, &mut commands);
        });
        commands
    }

    /// The history at the foot of the left panel, if it is unfolded higher than its heading.
    fn history_ui(&self, ui: &mut Ui) -> Option<Command> {
        let is_open = self.settings.shows_history;
        // Each with a height of its own.
        let panel = if is_open {
            Panel::bottom("history").default_size(200.0).size_range(96.0..=480.0).resizable(true)
        } else {
            Panel::bottom("history, folded").exact_size(28.0).resizable(false)
        };
        // It stands in a panel that has its margins.
        let frame = Frame::new().inner_margin(egui::Margin::symmetric(0, 4));
        panel.frame(frame).show(ui, |ui| panels::history::history_ui(ui, &self.document, is_open)).inner
    }

    fn views_ui(&mut self, ui: &mut Ui, project: &mut Project, freshness: &Freshness, commands: &mut Vec<Command>) {
        if self.modal.is_none() && !ui.ctx().egui_wants_keyboard_input() {
            self.fault_tool.keys(ui, &mut project.recipe);
        }
        let mut maximise = None;
        let before = self.before_note();
        let total = project.recipe.iterations();
        let range_m = self.shown.as_ref().map(|shown| f64::from(shown.summary.max_m - shown.summary.min_m));
        let mut panes = Panes {
            maps: &mut self.maps,
            studio: &mut self.studio,
            scene: &mut self.scene,
            recipe: &mut project.recipe,
            selected_step: &mut self.selected_step,
            fault_tool: &mut self.fault_tool,
            before,
            profile: self.settings.unfolded.contains(Section::Profile.title()).then_some(&mut self.profile),
            range_m: range_m.unwrap_or_default(),
            at: self.playback.position(total),
            is_at_end: self.playback.position(total) == total,
            commands,
            shown: self.shown.as_ref(),
            water_m: &mut project.view.water_m,
            freshness,
            is_playing: self.playback.is_playing(),
            maximise: &mut maximise,
        };
        match self.maximised {
            Some(view) => {
                ui.horizontal(|ui| {
                    ui.add_space(8.0);
                    ui.label(view.title());
                    if ui.button("All views").clicked() {
                        *panes.maximise = Some(view);
                    }
                });
                panes.view_ui(ui, view);
            }
            None => self.tree.ui(&mut panes, ui),
        }
        if let Some(view) = maximise {
            self.maximise(view);
        }
    }
}

/// The views in their panes.
struct Panes<'a> {
    maps: &'a mut Maps,
    studio: &'a mut Studio,
    scene: &'a mut Scene,
    recipe: &'a mut Recipe,
    selected_step: &'a mut usize,
    fault_tool: &'a mut FaultTool,
    /// What is said while the state before the last edit is shown.
    before: Option<String>,
    /// The line of the profile, while that is looked at.
    profile: Option<&'a mut ProfileTool>,
    /// Metres from the lowest to the highest height.
    range_m: f64,
    at: u32,
    is_at_end: bool,
    commands: &'a mut Vec<Command>,
    shown: Option<&'a Preview>,
    water_m: &'a mut Option<f64>,
    freshness: &'a Freshness,
    is_playing: bool,
    maximise: &'a mut Option<View>,
}

impl Panes<'_> {
    fn view_ui(&mut self, ui: &mut Ui, view: View) {
        let pane = ui.available_rect_before_wrap();
        let extent = self.recipe.world.extent();
        let glow = self.scene.glow(ui.ctx());
        if view != View::Scene {
            self.maps.flood(ui.ctx(), self.shown.map(|shown| &shown.land), *self.water_m);
        }
        match view {
            View::Heightmap | View::Texture => {
                let has_tool =
                    self.fault_tool.is_on() || self.profile.as_ref().is_some_and(|profile| profile.is_at_work());
                let lens = self.maps.ui(ui, view, extent, self.freshness, &glow, !has_tool);
                if let Some(profile) = self.profile.as_mut().filter(|_| !self.fault_tool.is_on()) {
                    profile.ui(ui, &lens, extent);
                }
                let mut bench = Bench {
                    recipe: &mut *self.recipe,
                    selected_step: &mut *self.selected_step,
                    range_m: self.range_m,
                    at: self.at,
                    is_playing: self.is_playing,
                    is_at_end: self.is_at_end,
                };
                self.commands.extend(self.fault_tool.ui(ui, &lens, &mut bench));
                sun_ui(ui, pane, view.title(), &mut self.recipe.light);
                match view {
                    View::Texture => self.studio.aspect_ui(ui, pane, &self.recipe.texture),
                    View::Heightmap | View::Scene => {
                        self.commands.extend(self.fault_tool.button_ui(ui, pane));
                        self.maps.aspect.ui(ui, pane);
                        if let Some(shown) = self.shown {
                            legend_ui(ui, &lens, pane, shown);
                        }
                    }
                }
            }
            View::Scene => {
                let mut around = scene::Around {
                    extent,
                    light: &self.recipe.light,
                    water_m: self.water_m,
                    crosshair_m: &mut self.maps.crosshair_m,
                    freshness: self.freshness,
                    is_playing: self.is_playing,
                    glow: &glow,
                };
                self.scene.ui(ui, &mut around);
            }
        }
        if let Some(text) = &self.before {
            compare::note_ui(ui, pane, text);
        }
    }
}

impl egui_tiles::Behavior<View> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: egui_tiles::TileId, view: &mut View) -> egui_tiles::UiResponse {
        self.view_ui(ui, *view);
        egui_tiles::UiResponse::None
    }

    fn tab_title_for_pane(&mut self, view: &View) -> egui::WidgetText {
        view.title().into()
    }

    fn on_tab_button(
        &mut self,
        tiles: &mut egui_tiles::Tiles<View>,
        tile: egui_tiles::TileId,
        response: egui::Response,
    ) -> egui::Response {
        if response.double_clicked()
            && let Some(egui_tiles::Tile::Pane(view)) = tiles.get(tile)
        {
            *self.maximise = Some(*view);
        }
        response
    }

    fn simplification_options(&self) -> egui_tiles::SimplificationOptions {
        egui_tiles::SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        2.0
    }
}

/// Asks for the pictures of the grounds that are used, and of all there are where one may be chosen.
fn ask_grounds(thumbnails: &mut Thumbnails, recipe: &Recipe, files: &InputFiles, choosing: bool) {
    for name in recipe.pictures() {
        thumbnails.ask_ground(&name, files);
    }
    if choosing {
        for (name, _) in SHIPPED {
            thumbnails.ask_ground(&PictureName(name.into()), files);
        }
    }
}
