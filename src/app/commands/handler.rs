//! What the commands of [`crate::app::commands`] do.

use egui::{Context, ViewportCommand};

use crate::app::App;
use crate::app::commands::stack_edits::{add_step, find_again, move_item};
use crate::app::commands::{Command, Target};
use crate::app::dialogs::file_dialogs::DialogPurpose;
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::operation_picker;
use crate::app::document::Document;
use crate::app::panels::analysis::Section;
use crate::app::panels::status::CopyableText;
use crate::app::state::Side;
use crate::app::views::View;
use crate::app::views::map_transform::MapViewport;
use crate::app::views::scene::{CameraPreset, RenderDialog};
use crate::app::widgets::cards::index_after_move;
use crate::engine::Step;
use crate::engine::operations::AnyOperation;
use crate::project::{Project, ProjectFile, ProjectSettings, preset_projects};

impl App {
    /// Changes how the project is viewed and exported, which is not an edit.
    pub(crate) fn edit_settings(&mut self, change: impl FnOnce(&mut ProjectSettings)) {
        let mut settings = self.document.settings().clone();
        change(&mut settings);
        self.document.set_settings(settings);
    }

    /// Commits one edit of the project.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Project)) {
        let mut project = (**self.document.project()).clone();
        change(&mut project);
        self.document.commit(project, None);
    }

    pub(crate) fn execute(&mut self, ctx: &Context, command: Command) {
        let total = self.total();
        let at = self.ui.playback.position(total);
        match command {
            Command::New => self.open_project("New project".into(), ProjectFile::default(), None),
            Command::Open => {
                self.open_file_dialog(DialogPurpose::Open, String::new());
            }
            Command::OpenRecent(i) => {
                if let Some(path) = self.settings.recent.get(i) {
                    self.services.file_tasks.open_recent(path.clone());
                }
            }
            Command::ClearRecentFiles => self.settings.recent.clear(),
            Command::OpenGallery => self.open_gallery(),
            Command::OpenPreset(i) => {
                if let Some((_, file)) = preset_projects().get(i) {
                    self.open_project(format!("Preset {}", file.project.name), file.clone(), None);
                }
            }
            Command::SavePreset => self.open_save_preset(),
            Command::Save => self.save(false),
            Command::SaveAs => self.save(true),
            Command::ImportHeightmap => self.ask_import(None),
            Command::ChooseFile(slot) => {
                let recipe = &self.document.project().recipe;
                if let Some(target) = Target::new(slot, recipe, self.document.origin_id()) {
                    self.ask_import(Some(target));
                }
            }
            Command::ExportFor(i) => {
                self.ui.export.choose_target(i);
                self.execute(ctx, Command::Export);
            }
            Command::Export => {
                self.ui.message = None;
                self.ui.export.open();
                self.ui.modal = Some(Modal::Export);
            }
            Command::CopyImportNotes => {
                if let Some(notes) = self.ui.export.import_notes() {
                    ctx.copy_text(notes.into());
                    self.show_message("Copied the import notes");
                }
            }
            Command::SaveRender => {
                self.ui.message = None;
                self.ui.modal = Some(Modal::Image(RenderDialog::single()));
            }
            Command::SaveTurntable => {
                self.ui.message = None;
                self.ui.modal = Some(Modal::Image(RenderDialog::turntable()));
            }
            Command::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Command::Undo => self.travel(Document::undo),
            Command::Redo => self.travel(Document::redo),
            Command::GoToEntry(i) => self.travel(|document| document.go_to(i)),
            Command::History => self.settings.shows_history = !self.settings.shows_history,
            Command::PickOperation => {
                self.ui.operation_picker.open(&mut self.services.thumbnails, operation_picker::text_typed_ahead(ctx))
            }
            Command::AddStep(key) => {
                if let Ok(operation) = AnyOperation::from_key(key) {
                    let mut project = (**self.document.project()).clone();
                    let step = Step::new(operation).sized_for(&project.recipe.world);
                    self.ui.selection.step = add_step(&mut project.recipe, step);
                    self.document.commit(project, None);
                    self.ui.playback.seek(self.total(), self.total());
                }
            }
            Command::DuplicateStep(i) => {
                self.edit(|project| {
                    if let Some(step) = project.recipe.stack.get(i).cloned() {
                        let mut copy = step;
                        copy.settings.seed = project.recipe.unused_seed();
                        project.recipe.stack.insert(i + 1, copy);
                    }
                });
                self.ui.selection.step = i + 1;
            }
            Command::DeleteStep(i) => {
                self.edit(|project| {
                    if i < project.recipe.stack.len() {
                        project.recipe.stack.remove(i);
                    }
                });
                self.ui.selection.step =
                    self.ui.selection.step.min(self.document.project().recipe.stack.len().saturating_sub(1));
            }
            Command::MoveStep { from, to } => {
                let mut project = (**self.document.project()).clone();
                if let Some(step) = move_item(&mut project.recipe.stack, from, to) {
                    let name = format!("Move {}", step.title());
                    self.document.commit_as(name, project);
                    self.ui.selection.step = index_after_move(self.ui.selection.step, from, to);
                }
            }
            Command::MoveType { from, to } => {
                let mut project = (**self.document.project()).clone();
                if let Some(ground) = move_item(&mut project.recipe.texture.types, from, to) {
                    let name = format!("Move {}", ground.name);
                    self.document.commit_as(name, project);
                    self.ui.texture_panel.follow(|at| Some(index_after_move(at, from, to)));
                }
            }
            Command::MoveUp => self.move_selected(ctx, true),
            Command::MoveDown => self.move_selected(ctx, false),
            Command::SelectStep(i) => (self.ui.selection.step, self.ui.texture_panel.was_selected_last) = (i, false),
            Command::ShowParameter { step, key } => self.show_parameter(step, key),
            Command::SeekToStep(i) => {
                let recipe = &self.document.project().recipe;
                let below = recipe.stack.iter().take(i + 1).map(Step::iterations);
                self.ui.playback.seek(below.fold(0, u32::saturating_add), total);
            }
            Command::TogglePlay => self.ui.playback.toggle(total),
            Command::Restart => self.ui.playback.restart(total),
            Command::StepBack => self.ui.playback.seek(at.saturating_sub(1), total),
            Command::StepForward => self.ui.playback.seek(at.saturating_add(1), total),
            Command::ToStart => self.ui.playback.seek(0, total),
            Command::ToEnd => self.ui.playback.seek(total, total),
            Command::Seek(position) => self.ui.playback.seek(position, total),
            Command::NewSeed => {
                let seed = self.ui.seeds.next();
                self.edit(|project| project.recipe.seed = seed);
            }
            Command::PreviousSeed => {
                if let Some(seed) = self.document.earlier_seed() {
                    self.edit(|project| project.recipe.seed = seed);
                }
            }
            Command::FaultTool => {
                self.ui.fault_tool.toggle();
                self.ui.profile.is_drawing = false;
            }
            Command::ProfileLine => self.draw_profile(),
            Command::AdoptFault { step, number } => {
                let mut project = (**self.document.project()).clone();
                if let Some(name) =
                    self.ui.fault_tool.adopt(&mut project.recipe, &mut self.ui.selection.step, step, number)
                {
                    self.document.commit_as(name, project);
                }
            }
            Command::Variations => self.ui.variations.toggle(),
            Command::AdoptVariation(place) => {
                if let Some(recipe) = self.ui.variations.recipe(place) {
                    let project = Project { recipe: (**recipe).clone(), ..(**self.document.project()).clone() };
                    self.document.commit_as(command.text(), project);
                }
            }
            Command::ToggleLoop => self.ui.playback.toggle_loop(),
            Command::FrameViews => {
                self.ui.maps.viewport = MapViewport::default();
                self.look(ctx, CameraPreset::Framed);
            }
            Command::ViewThreeQuarter => self.look(ctx, CameraPreset::ThreeQuarter),
            Command::ViewFromAbove => self.look(ctx, CameraPreset::FromAbove),
            Command::ViewFromSide => self.look(ctx, CameraPreset::FromTheSide),
            Command::MaximiseHeightmap => self.maximise(View::Heightmap),
            Command::MaximiseTexture => self.maximise(View::Texture),
            Command::MaximiseScene => self.maximise(View::Scene),
            Command::LeftPanel => self.toggle_panel(ctx, Side::Left),
            Command::RightPanel => self.toggle_panel(ctx, Side::Right),
            Command::WaterLevel => {
                if self.document.project().water.water_m.is_none() {
                    let level = self.ui.scene.default_water_level_m();
                    self.edit(|project| project.water.water_m = Some(level));
                }
                self.ui.layout.maximised = self.ui.layout.maximised.filter(|view| *view == View::Scene);
                self.ui.scene.focus_water_level();
            }
            Command::PreviewSamples(samples) => {
                self.ui.preview.export_samples = None;
                self.edit_settings(|settings| settings.view.preview_samples = samples);
            }
            Command::ExportSize => match self.ui.preview.export_samples.take() {
                Some(_) => {}
                None => self.ui.preview.export_samples = self.export_samples_that_fit(),
            },
            Command::ShowBefore => {
                let is_held = ctx.input(|input| input.key_down(egui::Key::C));
                self.ui.preview.compare.toggle(&self.document, is_held);
            }
            Command::SplitMaps => self.ui.maps.split = if self.ui.maps.split.is_some() { None } else { Some(0.5) },
            Command::Theme(theme) => {
                self.settings.theme = theme;
                self.settings.apply(ctx);
            }
            Command::Scale(percent) => self.scale(ctx, percent),
            Command::LargerInterface => self.scale(ctx, self.settings.next_scale(true)),
            Command::SmallerInterface => self.scale(ctx, self.settings.next_scale(false)),
            Command::ResetInterfaceScale => self.scale(ctx, 100),
            Command::CancelPreview => {
                self.services.previewer.cancel();
                self.ui.preview.cancel();
                self.ui.playback.pause();
            }
            Command::CancelExport => match &self.services.render_task {
                Some(render_task) if self.services.exporter.status().is_none() => render_task.cancel(),
                Some(_) | None => self.services.exporter.cancel(),
            },
            Command::DismissMessage => self.ui.message = None,
            Command::CopyMessageText => {
                if let Some(CopyableText { text, .. }) = self.ui.message.take().and_then(|message| message.offer) {
                    ctx.copy_text(text);
                    self.show_message("Copied");
                }
            }
            Command::FrameTimings => self.ui.timings.toggle(),
            Command::Palette => self.ui.modal = Some(Modal::Palette(self.palette(ctx))),
            Command::Shortcuts => self.ui.modal = Some(Modal::Shortcuts),
            Command::About => self.ui.modal = Some(Modal::About),
        }
    }

    /// Goes through the history; what is selected stays so at the place where it stands then.
    fn travel(&mut self, go: impl FnOnce(&mut Document)) {
        let before = self.document.project().clone();
        go(&mut self.document);
        let (old, new) = (&before.recipe, &self.document.project().recipe);
        self.ui.selection.step = find_again(&new.stack, &old.stack, self.ui.selection.step);
        self.ui.texture_panel.follow(|at| Some(find_again(&new.texture.types, &old.texture.types, at)));
    }

    /// Moves the selected card of the list in which a card was selected last.
    fn move_selected(&mut self, ctx: &Context, up: bool) {
        let recipe = &self.document.project().recipe;
        let ground = self.ui.texture_panel.selected.filter(|_| self.ui.texture_panel.was_selected_last);
        let (places, from) = match ground {
            Some(i) => (self.ui.texture_panel.listed(&recipe.texture), i),
            // Top of the list is top of the stack.
            None => ((0..recipe.stack.len()).rev().collect(), self.ui.selection.step),
        };
        let Some(at) = places.iter().position(|place| *place == from) else { return };
        let beside = if up { at.checked_sub(1) } else { at.checked_add(1) };
        if let Some(&to) = beside.and_then(|beside| places.get(beside)) {
            let is_type = ground.is_some();
            let command = if is_type { Command::MoveType { from, to } } else { Command::MoveStep { from, to } };
            self.execute(ctx, command);
        }
    }

    /// Selects a step and brings one of its parameters into sight.
    fn show_parameter(&mut self, step: usize, key: &'static str) {
        (self.ui.selection.step, self.ui.texture_panel.was_selected_last) = (step, false);
        (self.settings.shows_left, self.ui.layout.front, self.ui.selection.reveal) = (true, Side::Left, Some(key));
    }

    /// The next drag on a map draws the line of the profile, unless it was to do so already.
    fn draw_profile(&mut self) {
        self.ui.profile.is_drawing ^= true;
        if self.ui.profile.is_drawing {
            if self.ui.fault_tool.is_on() {
                self.ui.fault_tool.toggle();
            }
            (self.settings.shows_right, self.ui.layout.front) = (true, Side::Right);
            self.ui.analysis.reveal(Section::Profile, &mut self.settings.unfolded);
        }
    }

    fn ask_import(&mut self, target: Option<Target>) {
        self.open_file_dialog(DialogPurpose::Import { target }, String::new());
    }

    /// Moves the camera of the 3-D view to a preset.
    pub(crate) fn look(&mut self, ctx: &Context, preset: CameraPreset) {
        let extent = self.document.project().recipe.world.extent();
        self.ui.scene.apply_preset(preset, extent, ctx.input(|input| input.time));
    }

    fn scale(&mut self, ctx: &Context, percent: u32) {
        self.settings.scale_percent = percent;
        self.settings.apply(ctx);
    }

    /// Shows one view alone, or all again.
    pub(crate) fn maximise(&mut self, view: View) {
        self.ui.layout.maximised = if self.ui.layout.maximised == Some(view) { None } else { Some(view) };
    }
}
