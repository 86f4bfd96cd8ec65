//! The panels around the views, and the views in their panes.

use egui::{CentralPanel, Context, DragAndDrop, Frame, Key, Modifiers, Panel, Popup, Rect, Role, Ui, WidgetInfo};

use crate::app::commands::menus::{self, MenuContext};
use crate::app::commands::palette::Palette;
use crate::app::commands::{Command, ParameterOwner};
use crate::app::document::Draft;
use crate::app::panels::analysis::{AnalysisContext, Section};
use crate::app::panels::compass::sun_ui;
use crate::app::panels::hints::{has_hint, hints_ui};
use crate::app::panels::play::{PlayContext, PlayPanel};
use crate::app::panels::right::RightPanelContext;
use crate::app::panels::scatter::ScatterPanel;
use crate::app::panels::stack::StackContext;
use crate::app::panels::status::StatusContext;
use crate::app::panels::texture_panel::TexturePanelState;
use crate::app::panels::timeline::TimelineContext;
use crate::app::preview::request::PreviewStatus;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::state::Side;
use crate::app::tasks::settings::Settings;
use crate::app::tools::context::ToolContext;
use crate::app::tools::profile_tool::ProfileTool;
use crate::app::tools::tool::Tool;
use crate::app::tools::tool_bar::Tools;
use crate::app::views::map_style::legend_ui;
use crate::app::views::maps::Maps;
use crate::app::views::scene::{SceneContext, ScenePane};
use crate::app::views::{View, overlay};
use crate::app::widgets::theme;
use crate::app::{App, panels};
use crate::engine::Recipe;
use crate::engine::level::Level;
use crate::engine::operations::PartReport;
use crate::engine::parameters::{Range, TextureName};
use crate::engine::recipe_masks::MaskOwner;
use crate::files::import::SHIPPED_TEXTURES;
use crate::project::Project;
use crate::worker::{InputFiles, Preview};

/// Windows narrower than this, in points, show only one side panel at a time, to leave room for the views.
const NARROW: f32 = 900.0;

impl App {
    /// Whether the left and the right panel are visible.
    pub(crate) fn visible_panels(&self, ctx: &Context) -> [bool; 2] {
        let Settings { shows_left, shows_right, .. } = self.settings;
        if ctx.content_rect().width() < NARROW {
            [shows_left && self.ui.layout.front == Side::Left, shows_right && self.ui.layout.front == Side::Right]
        } else {
            [shows_left, shows_right]
        }
    }

    /// Shows or hides a side panel.
    pub(crate) fn toggle_panel(&mut self, ctx: &Context, side: Side) {
        let [left, right] = self.visible_panels(ctx);
        match side {
            Side::Left => self.settings.shows_left = !left,
            Side::Right => self.settings.shows_right = !right,
        }
        self.ui.layout.front = side;
    }

    /// The command palette with the commands available now.
    pub(crate) fn palette(&self, ctx: &Context) -> Palette {
        Palette::new(ctx, &MenuContext { free_bytes: self.ui.free_memory.bytes(), ..self.menu_context(ctx) })
    }

    /// What the menus depend on.
    fn menu_context(&self, ctx: &Context) -> MenuContext<'_> {
        MenuContext {
            document: &self.document,
            settings: &self.settings,
            missing: &self.services.recent_files.missing,
            has_recovered: self.has_recovered(),
            has_import_notes: self.ui.export.import_notes().is_some(),
            panels: self.visible_panels(ctx),
            free_bytes: None,
            selected_step: self.ui.selection.step,
            view_modes: self.view_modes(),
        }
    }

    /// Draws all panels and views, which edit the draft; returns the user's commands.
    pub(crate) fn panels_ui(&mut self, ui: &mut Ui, draft: &mut Draft) -> Vec<Command> {
        let mut commands = Vec::new();
        let status = self.ui.preview.status(self.services.previewer.fraction());
        let is_picking = Popup::is_any_open(ui.ctx())
            || self.ui.operation_picker.is_open()
            || DragAndDrop::has_any_payload(ui.ctx());
        let visible_panels = self.visible_panels(ui.ctx());
        let heights_m = self.ui.preview.shown.as_ref().map(|shown| Range {
            low: f64::from(shown.summary.min_m).floor(),
            high: f64::from(shown.summary.max_m).ceil(),
        });
        self.ui.parameters.set_heights_m(heights_m);
        self.ui.parameters.set_mask_names(draft.project.recipe.masks.keys().cloned());
        Panel::top("menu").show(ui, |ui| {
            commands.extend(panels::menu::menu_ui(ui, &self.menu_context(ui.ctx()), &self.ui.free_memory));
        });
        let crosshair_m = self.ui.maps.crosshair_m.take();
        // While the uplift plays, the playhead is already one iteration ahead of the screen.
        let seen = self.ui.preview.shown.as_ref().map(|shown| shown.request.position);
        let wanted = self.ui.playback.position(self.total());
        let at = seen.filter(|_| self.ui.playback.is_playing()).unwrap_or(wanted);
        self.ui.selection.step = self.ui.selection.step.min(draft.project.recipe.stack.len().saturating_sub(1));
        let status_context = StatusContext {
            message: self.ui.message.as_ref(),
            preview: status,
            export: self.export_status(),
            shown: self.ui.preview.shown.as_ref(),
            export_samples: self.ui.preview.export_samples,
            crosshair_m,
        };
        Panel::bottom("status")
            .exact_size(26.0)
            .show(ui, |ui| commands.extend(panels::status::status_ui(ui, &status_context)));
        Panel::bottom("timeline").exact_size(38.0).show(ui, |ui| {
            let (recipe, view) = (&mut draft.project.recipe, &mut draft.settings.view);
            let timeline = self.document.timeline();
            let context = TimelineContext { recipe, timeline, view, at, playback: self.ui.playback };
            commands.extend(panels::timeline::timeline_ui(ui, context));
        });
        // Without a settings folder, dismissed hints would come back.
        if self.services.folders.config.is_some() && has_hint(&self.settings.hints_seen) {
            let hints = Panel::bottom("hints").exact_size(32.0);
            hints.show(ui, |ui| hints_ui(ui, &mut self.settings.hints_seen));
        }
        let [left, right] = visible_panels;
        if left {
            let panel = Panel::left("stack").default_size(304.0).size_range(240.0..=480.0);
            let is_outdated = !matches!(status, PreviewStatus::Current);
            panel.show(ui, |ui| commands.extend(self.left_ui(ui, draft, at, is_outdated)));
        }
        self.ui.profile.pointed_m = None;
        if right {
            let panel = Panel::right("right").default_size(288.0).size_range(240.0..=480.0);
            panel.show(ui, |ui| commands.extend(self.right_ui(ui, draft, crosshair_m)));
        }
        self.ui.maps.crosshair_m = crosshair_m;
        let frame = Frame::new().fill(theme::colours(ui).panel);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            // Hovering over the profile moves the crosshair along its line.
            let is_over_views = ui.rect_contains_pointer(ui.max_rect());
            self.ui.maps.crosshair_m = if is_over_views { self.ui.maps.crosshair_m } else { self.ui.profile.pointed_m };
            self.ui.tools.mirror = draft.settings.view.mirror;
            self.views_ui(ui, &mut draft.project, &status, is_picking, &mut commands);
            draft.settings.view.mirror = self.ui.tools.mirror;
        });
        commands
    }

    /// Draws the stack and the history.
    fn left_ui(&mut self, ui: &mut Ui, draft: &mut Draft, at: u32, is_outdated: bool) -> Vec<Command> {
        let mut commands: Vec<Command> = self.history_ui(ui).into_iter().collect();
        ui.add_space(4.0);
        let selected = self.ui.selection.step;
        let reveal = self.ui.selection.reveal.take_if(|(of, _)| *of != ParameterOwner::Light);
        let shown = self.ui.preview.shown.as_ref();
        let reports = shown_reports(shown, selected);
        // The selected step is always listed.
        let placements = draft.project.recipe.placements();
        let around = |i: usize| placements.get(i).and_then(|placement| placement.parent);
        for group in std::iter::successors(around(selected), |group| around(*group)) {
            self.ui.selection.folded.remove(&draft.project.recipe.stack[group].settings.seed);
        }
        let mut context = StackContext {
            at,
            timeline: self.document.timeline(),
            last_shown: &mut self.ui.selection.last_shown,
            row_heights: &mut self.ui.selection.row_heights,
            folded: &self.ui.selection.folded,
            selected,
            selected_to: self.ui.selection.to,
            terrain: shown.map(|shown| &*shown.terrain),
            reports,
            is_outdated,
            warnings: &mut self.ui.selection.warnings,
            reveal,
            thumbnails: &self.services.thumbnails,
            operation_picker: &mut self.ui.operation_picker,
            parameters: &mut self.ui.parameters,
        };
        commands.extend(panels::stack::stack_ui(ui, draft, &mut context));
        commands
    }

    /// Draws the terrain types, the analysis, the metrics of the level and the variations.
    fn right_ui(&mut self, ui: &mut Ui, draft: &mut Draft, crosshair_m: Option<[f64; 2]>) -> Option<Command> {
        ui.add_space(4.0);
        let is_dragging = ui.input(|input| input.pointer.any_down());
        self.ui.variations.prepare(
            &draft.settings.view.locked,
            &draft.project.files,
            self.ui.preview.recipe(),
            &mut self.services.thumbnails,
            is_dragging,
        );
        let export_samples = self.export_side();
        let total = self.total();
        let adopted = self.ui.seed_panel.update(
            self.ui.preview.recipe(),
            &draft.project.level,
            draft.project.water.water_m,
            &draft.project.files,
            export_samples,
            &mut self.services.thumbnails,
        );
        let Draft { project: Project { recipe, level, files, .. }, settings } = draft;
        let view = &mut settings.view;
        request_textures(&mut self.services.thumbnails, recipe, files, self.ui.texture_panel.selected.is_some());
        let analysis_context = AnalysisContext {
            unfolded: &mut self.settings.unfolded,
            view,
            profile: &mut self.ui.profile,
            shown: self.ui.preview.shown.as_ref(),
            is_playing: self.ui.playback.is_playing(),
            crosshair_m,
        };
        let (mut place_m, extent) = (None, recipe.world.extent());
        let play_context = PlayContext {
            level,
            is_playing: self.ui.playback.is_playing(),
            is_at_end: self.ui.playback.position(total) == total,
            export_samples,
        };
        let reveal = self.ui.selection.reveal.take_if(|(of, _)| *of == ParameterOwner::Light).map(|(_, key)| key);
        let context = RightPanelContext {
            recipe,
            files,
            thumbnails: &self.services.thumbnails,
            shown: self.ui.preview.shown.as_ref(),
            texture_panel: &mut self.ui.texture_panel,
            analysis: (&mut self.ui.analysis, analysis_context),
            play: (&mut self.ui.play, play_context, &mut self.ui.seed_panel),
            scatter: &mut self.ui.scatter,
            place_m: &mut place_m,
            variations: &mut self.ui.variations,
            parameters: &mut self.ui.parameters,
            reveal,
        };
        let command = panels::right::right_ui(ui, context);
        if let Some(place_m) = place_m {
            self.ui.maps.show_place(place_m, extent);
        }
        command.or(adopted.map(Command::UseSeed))
    }

    /// Draws the history at the bottom of the left panel.
    fn history_ui(&mut self, ui: &mut Ui) -> Option<Command> {
        let is_open = self.settings.shows_history;
        let panel = if is_open {
            // Leave at least half of the panel to the stack.
            let most = (0.5 * ui.available_height()).clamp(96.0, 480.0);
            Panel::bottom("history").default_size(200.0).size_range(96.0..=most).resizable(true)
        } else {
            Panel::bottom("history, folded").exact_size(28.0).resizable(false)
        };
        // The enclosing panel has horizontal margins already.
        let frame = Frame::new().inner_margin(egui::Margin::symmetric(0, 4));
        panel.frame(frame).show(ui, |ui| self.ui.history.ui(ui, &self.document, is_open)).inner
    }

    /// Draws the views. `is_picking`: a menu or list was open when the frame began, and receives the keys.
    fn views_ui(
        &mut self,
        ui: &mut Ui,
        project: &mut Project,
        status: &PreviewStatus,
        is_picking: bool,
        commands: &mut Vec<Command>,
    ) {
        let is_edited = ui.ctx().text_edit_focused() || self.window.ends_editing;
        if self.ui.modal.is_none() && !self.is_choosing_file() && !is_edited {
            if !is_picking {
                self.ui.tools.keys(ui, project, &mut self.ui.selection.step);
            }
            let unfolded = &mut self.settings.unfolded;
            let is_shown = unfolded.contains(Section::Profile.title()) && self.ui.profile.can_be_removed();
            if is_shown && !is_picking && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
                // Escape first cancels drawing, and only then removes the line.
                if !std::mem::take(&mut self.ui.profile.is_drawing) {
                    self.ui.profile.remove();
                    unfolded.remove(Section::Profile.title());
                }
            }
        }
        let selected_last = self.ui.selected_last();
        let painted = selected_last.unwrap_or(MaskOwner::Step(self.ui.selection.step));
        let total = self.total();
        let at = (!self.ui.playback.is_playing()).then(|| self.ui.playback.position(total));
        let thumbnails = &mut self.services.thumbnails;
        commands.extend(self.ui.tools.bar_ui(ui, project, at, painted, self.ui.selection.step, thumbnails));
        let mut maximise = None;
        let before = self.ui.preview.compare.note(&self.document);
        let range_m = self.ui.preview.shown.as_ref().map(|shown| f64::from(shown.summary.max_m - shown.summary.min_m));
        let reports = shown_reports(self.ui.preview.shown.as_ref(), self.ui.selection.step);
        let mut panes = Panes {
            maps: &mut self.ui.maps,
            texture_panel: &mut self.ui.texture_panel,
            scene: &mut self.ui.scene,
            recipe: &mut project.recipe,
            level: &mut project.level,
            selected_step: &mut self.ui.selection.step,
            selected_last,
            tools: &mut self.ui.tools,
            before,
            profile: self.settings.unfolded.contains(Section::Profile.title()).then_some(&mut self.ui.profile),
            reports,
            range_m: range_m.unwrap_or_default(),
            at: self.ui.playback.position(total),
            is_at_end: self.ui.playback.position(total) == total,
            commands,
            shown: self.ui.preview.shown.as_ref(),
            water_m: &mut project.water.water_m,
            status,
            is_playing: self.ui.playback.is_playing(),
            maximise: &mut maximise,
            play: &self.ui.play,
            scatter: &mut self.ui.scatter,
        };
        match self.ui.layout.maximised {
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
            None => self.ui.layout.tree.ui(&mut panes, ui),
        }
        let item = self.ui.tools.selected_item();
        if item != self.ui.selection.item {
            self.ui.parameters.reveal_item(item.clone());
            self.ui.selection.item = item;
        }
        self.ui.tools.mirror_edits(self.document.project(), project);
        if let Some(view) = maximise {
            self.maximise(view);
        }
    }
}

/// The context menu of the 3-D view.
const SCENE_COMMANDS: [Command; 6] = [
    Command::FrameViews,
    Command::ViewThreeQuarter,
    Command::ViewFromAbove,
    Command::ViewFromSide,
    Command::MaximiseScene,
    Command::SaveRender,
];

/// The context menu of a map.
fn map_commands(view: View) -> [Command; 5] {
    let alone = if view == View::Texture { Command::MaximiseTexture } else { Command::MaximiseHeightmap };
    [Command::Tool(Tool::Fault), Command::ProfileLine, Command::FrameViews, alone, Command::Export]
}

/// The reports on the parts of the selected step, as it is shown.
fn shown_reports(shown: Option<&Preview>, selected: usize) -> &[PartReport] {
    let of_step = shown.filter(|shown| shown.request.reported_step == Some(selected));
    of_step.map_or(&[], |shown| &shown.reports)
}

/// The views in their panes.
struct Panes<'a> {
    maps: &'a mut Maps,
    texture_panel: &'a mut TexturePanelState,
    scene: &'a mut ScenePane,
    recipe: &'a mut Recipe,
    level: &'a mut Level,
    selected_step: &'a mut usize,
    /// The selected terrain type or layer of the scatter, if it was selected later than the step.
    selected_last: Option<MaskOwner>,
    tools: &'a mut Tools,
    reports: &'a [PartReport],
    /// The note while the state before the last edit is shown.
    before: Option<String>,
    /// The profile line, while its section is unfolded.
    profile: Option<&'a mut ProfileTool>,
    /// The difference between the highest and the lowest point, in metres.
    range_m: f64,
    at: u32,
    is_at_end: bool,
    commands: &'a mut Vec<Command>,
    shown: Option<&'a Preview>,
    water_m: &'a mut Option<f64>,
    status: &'a PreviewStatus,
    is_playing: bool,
    maximise: &'a mut Option<View>,
    play: &'a PlayPanel,
    scatter: &'a mut ScatterPanel,
}

impl Panes<'_> {
    fn scene_and_tools(&mut self) -> (&mut ScenePane, &mut Tools, ToolContext<'_>) {
        let context = ToolContext {
            recipe: &mut *self.recipe,
            level: &mut *self.level,
            selected_step: &mut *self.selected_step,
            selected_last: self.selected_last,
            terrain: self.shown.map(|shown| &*shown.terrain),
            reports: self.reports,
            range_m: self.range_m,
            at: self.at,
            is_playing: self.is_playing,
            is_at_end: self.is_at_end,
            route_m: self.play.route_m(),
        };
        (&mut *self.scene, &mut *self.tools, context)
    }

    fn view_ui(&mut self, ui: &mut Ui, view: View) {
        let pane = ui.available_rect_before_wrap();
        let extent = self.recipe.world.extent();
        let glow = self.scene.glow(ui.ctx());
        if view != View::Scene {
            let water_m = self.scene.visible_water_m(*self.water_m);
            self.maps.water_overlay(ui.ctx(), self.shown.map(|shown| &shown.terrain), water_m);
        }
        let lakes = self.maps.lakes_overlay(ui.ctx(), self.shown);
        let measured = self.maps.measure_overlay(ui.ctx(), self.play.overlay());
        match view {
            View::Heightmap | View::Texture => {
                let has_tool =
                    self.tools.active().is_some() || self.profile.as_ref().is_some_and(|profile| profile.wants_drags());
                let mut transform = self.maps.ui(ui, view, extent, &glow, !has_tool);
                self.scatter.draw(ui.ctx(), &transform, extent);
                self.maps.legend_ui(ui, view, self.status, &mut transform);
                // Below the markers.
                self.play_legend_ui(ui, pane, view);
                if self.tools.active().is_none() {
                    if let Some(profile) = &mut self.profile {
                        profile.ui(ui, &transform, extent);
                    }
                    transform
                        .response
                        .context_menu(|ui| self.commands.extend(menus::context_ui(ui, &map_commands(view))));
                }
                let (_, tools, mut context) = self.scene_and_tools();
                let command = tools.map_ui(ui, &transform, &mut context);
                self.commands.extend(command);
                sun_ui(ui, pane, view.title(), &mut self.recipe.light);
                match view {
                    View::Texture => self.texture_panel.texture_display_ui(ui, pane, &self.recipe.texture),
                    View::Heightmap | View::Scene => {
                        self.maps.style.ui(ui, pane);
                        if let Some(shown) = self.shown {
                            legend_ui(ui, &transform, pane, shown);
                        }
                    }
                }
            }
            View::Scene => {
                let light = self.recipe.light.clone();
                let painted = self.selected_last.unwrap_or(MaskOwner::Step(*self.selected_step));
                let context = SceneContext {
                    extent,
                    light: &light,
                    water_m: *self.water_m,
                    crosshair_m: self.maps.crosshair_m,
                    status: self.status,
                    is_playing: self.is_playing,
                    glow: &glow,
                    has_tool: self.tools.active().is_some(),
                    shapes: self.scatter.shapes(),
                    tint: self.tools.mask_tint(ui, self.recipe, painted).or(measured).or(lakes),
                };
                let (scene, tools, mut tool_context) = self.scene_and_tools();
                let mut command = None;
                let shown = scene.ui(ui, &context, &mut |ui, view| {
                    command = tools.view_ui(ui, view, &mut tool_context);
                });
                self.commands.extend(command);
                (*self.water_m, self.maps.crosshair_m) = (shown.water_m, shown.crosshair_m);
                shown.response.context_menu(|ui| self.commands.extend(menus::context_ui(ui, &SCENE_COMMANDS)));
                self.play_legend_ui(ui, pane, view);
            }
        }
        if let Some(text) = &self.before {
            overlay::before_note(ui, pane, text);
        }
    }

    /// What the overlay of the measured level shows.
    fn play_legend_ui(&self, ui: &Ui, pane: Rect, view: View) {
        if let Some(text) = self.play.legend(self.level).filter(|_| view != View::Texture) {
            let painter = ui.painter_at(pane);
            // At the bottom of the 3-D view is its hint, and at the top are its buttons and whether it is out of date. At the
            // bottom of a map are its scale and north.
            let (anchor, at) = match view {
                View::Scene => (egui::Align2::RIGHT_TOP, pane.right_top() + egui::vec2(-8.0, 34.0)),
                View::Heightmap | View::Texture => {
                    (egui::Align2::CENTER_BOTTOM, pane.center_bottom() - egui::vec2(0.0, 40.0))
                }
            };
            overlay::note(ui, &painter, anchor, at, &text);
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
        if let Some(egui_tiles::Tile::Pane(view)) = tiles.get(tile) {
            response.widget_info(|| WidgetInfo::labeled(Role::Tab, true, format!("Pane of the {}", view.title())));
            if response.double_clicked() {
                *self.maximise = Some(*view);
            }
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

/// Requests thumbnails of the textures in use, and of all shipped ones if one can be chosen.
fn request_textures(thumbnails: &mut Thumbnails, recipe: &Recipe, files: &InputFiles, choosing: bool) {
    for name in recipe.textures() {
        thumbnails.request_texture(&name, files);
    }
    if choosing {
        for (name, _) in SHIPPED_TEXTURES {
            thumbnails.request_texture(&TextureName(name.into()), files);
        }
    }
}
