//! Draws the open modal dialog and handles its response.

use std::path::PathBuf;

use egui::{Context, ViewportCommand};

use crate::app::commands::Command;
use crate::app::commands::palette::PaletteResponse;
use crate::app::dialogs::closing::ConfirmCloseResponse;
use crate::app::dialogs::export::{ExportContext, ExportResponse};
use crate::app::dialogs::file_dialogs::DialogPurpose;
use crate::app::dialogs::import::{ImportContext, ImportDialog, ImportResponse, PendingImport};
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::question::files_ui;
use crate::app::dialogs::variations::{VariationsResponse, VariationsWindow};
use crate::app::dialogs::{about, closing};
use crate::app::document::{Draft, Unsaved};
use crate::app::tools::tool::Tool;
use crate::app::views::scene::{RenderDialogResponse, RenderTask};
use crate::app::widgets::{default_button_ui, modal};
use crate::app::{App, commands};

impl App {
    /// Draws the modal dialog, if one is open; returns a command chosen in it.
    pub(crate) fn modal_ui(&mut self, ctx: &Context, draft: &mut Draft) -> Option<Command> {
        if self.ui.modal.is_none()
            && !self.is_choosing_file()
            && let Some(imported) = self.ui.maps_to_import.pop_front()
        {
            let recipe = &self.document.project().recipe;
            let dialog = ImportDialog::new(imported, recipe.world.extent(), recipe.stack.is_empty());
            self.ui.modal = Some(Modal::Import(Box::new(dialog)));
        }
        let Some(mut modal) = self.ui.modal.take() else {
            if self.ui.closing.is_saving() && !self.is_choosing_file() && closing::saving_ui(ctx) {
                self.ui.closing.cancel();
            }
            return None;
        };
        let (mut stays, mut command) = (true, None);
        match &mut modal {
            Modal::Export => stays = self.export_ui(ctx, draft),
            Modal::Image(window) => match window.ui(ctx) {
                Some(RenderDialogResponse::ChooseFile { size, frames }) => {
                    self.open_file_dialog(DialogPurpose::Image { size, frames });
                    stays = false;
                }
                Some(RenderDialogResponse::Close) => stays = false,
                None => {}
            },
            Modal::SaveFirst(unsaved) => {
                if let Some(response) = closing::confirm_close_ui(ctx, unsaved, &mut self.services.thumbnails) {
                    self.respond_to_close(response, unsaved);
                    stays = false;
                }
            }
            Modal::Recovered => stays = self.recovered_ui(ctx),
            Modal::Replace { request, path, files } => match replace_ui(ctx, files) {
                Some(true) => {
                    self.use_chosen_file(request, path.clone());
                    stays = false;
                }
                Some(false) => {
                    self.ui.closing.cancel();
                    stays = false;
                }
                None => {}
            },
            Modal::Question(question) => {
                if let Some(choice) = question.ui(ctx) {
                    self.respond_to_question(question, choice);
                    stays = false;
                }
            }
            Modal::Import(dialog) => stays = self.import_ui(ctx, dialog, draft),
            Modal::ExportFirst => stays = self.export_first_ui(ctx),
            Modal::Gallery => stays = self.gallery_ui(ctx),
            Modal::Palette(palette) => match palette.ui(ctx) {
                Some(PaletteResponse::Execute(found)) => (stays, command) = (false, Some(found)),
                Some(PaletteResponse::Close) => stays = false,
                None => {}
            },
            Modal::SavePreset(form) => stays = self.save_preset_ui(ctx, form),
            Modal::Variations(window) => (stays, command) = self.variations_ui(ctx, window),
            Modal::Shortcuts => stays = shortcuts_ui(ctx),
            Modal::About => stays = self.about_ui(ctx),
        }
        if stays {
            self.ui.modal = Some(modal);
        }
        command
    }

    /// Draws the window about the program; returns whether it stays open.
    fn about_ui(&self, ctx: &Context) -> bool {
        match about::about_ui(ctx, &self.services.folders) {
            Some(about::AboutResponse::ShowFolder(folder)) => self.services.file_tasks.show_folder(folder),
            Some(about::AboutResponse::Close) => return false,
            None => {}
        }
        true
    }

    /// Draws the window that shows variations larger; returns whether it stays open, and the command chosen in it.
    fn variations_ui(&self, ctx: &Context, window: &mut VariationsWindow) -> (bool, Option<Command>) {
        match window.ui(ctx, &self.ui.variations, &self.services.thumbnails) {
            Some(VariationsResponse::Use(place)) => (false, Some(Command::UseVariation(place))),
            Some(VariationsResponse::Close) => (false, None),
            None => (true, None),
        }
    }

    /// Opens the window that shows variations larger, with one of them.
    pub(crate) fn enlarge_variation(&mut self, place: usize) {
        if self.ui.variations.recipe(place).is_none() {
            return;
        }
        let source = self.ui.scene.render_source(VariationsWindow::CAMERA_SIZE);
        let (files, wake) = (self.document.project().files.clone(), self.services.wake.clone());
        match VariationsWindow::open(&self.ui.variations, place, files, source, wake) {
            Ok(window) => self.ui.modal = Some(Modal::Variations(Box::new(window))),
            Err(error) => self.show_error(error),
        }
    }

    /// Acts on the user's answer about these unsaved projects.
    fn respond_to_close(&mut self, response: ConfirmCloseResponse, unsaved: &[Unsaved]) {
        match response {
            ConfirmCloseResponse::Discard => self.ui.closing.discard_changes(),
            ConfirmCloseResponse::Save => {
                self.ui.closing.save_first(unsaved);
                self.continue_closing();
            }
            ConfirmCloseResponse::Cancel => {}
        }
    }

    /// Draws the export dialog; returns whether it stays open.
    fn export_ui(&mut self, ctx: &Context, draft: &mut Draft) -> bool {
        let Draft { project, settings } = draft;
        let total = self.document.timeline().total();
        let shown = self.ui.preview.shown.as_ref().filter(|shown| *shown.request.recipe == project.recipe);
        // The file is written at the end of the timeline, so the heights of an earlier iteration do not describe it.
        let earlier = shown.map(|shown| shown.request.position).filter(|at| *at < total);
        // While it plays, there is always a preview to compute: waiting for that would never end.
        let is_updating = self.services.previewer.fraction().is_some() && !self.ui.playback.is_playing();
        let context = ExportContext {
            project_id: self.document.project_id(),
            project_path: self.document.path(),
            heights_m: shown.filter(|_| earlier.is_none()).map(|shown| shown.summary.range_m()),
            unfinished_position: earlier.map(|at| [at, total]),
            status: self.services.exporter.status(),
            is_busy: self.export_status().is_some() || self.ui.seed_panel.is_searching() || is_updating,
        };
        match self.ui.export.ui(ctx, project, &mut settings.export, &context) {
            Some(ExportResponse::ChooseFolder) => {
                self.open_file_dialog(DialogPurpose::ExportFolder);
            }
            Some(ExportResponse::CheckTargets(files)) => self.services.file_tasks.check_targets(files),
            Some(ExportResponse::EstimateCost(order)) => {
                self.services.file_tasks.estimate_cost(*order, self.document.project().files.clone());
            }
            Some(ExportResponse::Export(order)) => self.services.exporter.export(*order, project.files.clone()),
            Some(ExportResponse::Cancel) => self.services.exporter.cancel(),
            Some(ExportResponse::ShowFolder(folder)) => self.services.file_tasks.show_folder(folder),
            Some(ExportResponse::Close) => return false,
            None => {}
        }
        true
    }

    /// Draws an import window; returns whether it stays open.
    fn import_ui(&mut self, ctx: &Context, dialog: &mut ImportDialog, draft: &Draft) -> bool {
        let Draft { project, .. } = draft;
        let context = ImportContext {
            world: project.recipe.world.extent(),
            remaining_bytes: project.remaining_file_bytes(),
            recipe: &project.recipe,
            obstacle: self.target_obstacle(dialog.target.as_ref()),
        };
        match dialog.ui(ctx, &context) {
            Some(ImportResponse::Read(options, purpose)) => {
                self.services.file_tasks.read_again(dialog, options, purpose);
                true
            }
            Some(ImportResponse::Import(file, destination)) => {
                let (target, source) = (dialog.target.take(), dialog.path.clone());
                self.ui.pending_import = Some(PendingImport { file: *file, source, target, destination });
                false
            }
            Some(ImportResponse::Cancel) => false,
            None => true,
        }
    }

    /// Asks before closing cancels a running export; returns whether the question stays open.
    fn export_first_ui(&mut self, ctx: &Context) -> bool {
        let modal = modal("export first", ctx).show(ctx, |ui| {
            ui.set_width(360.0);
            ui.heading("An export is running");
            ui.label("Closing now cancels the export. No partial files are left.");
            ui.add_space(8.0);
            egui::Sides::new().show(
                ui,
                |ui| ui.button("Cancel the export and close").clicked(),
                |ui| ui.button("Continue the export").clicked(),
            )
        });
        let (close, go_on) = modal.inner;
        if close {
            self.services.exporter.cancel_all();
            self.services.render_task.iter().for_each(RenderTask::cancel);
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        let over = self.export_status().is_none();
        !(close || go_on || over || modal.should_close())
    }
}

/// Asks before files are replaced; returns the answer once there is one.
fn replace_ui(ctx: &Context, files: &[PathBuf]) -> Option<bool> {
    let modal = modal("replace", ctx).show(ctx, |ui| {
        ui.set_width(420.0);
        ui.heading(if files.len() == 1 { "Replace this file?" } else { "Replace these files?" });
        files_ui(ui, files);
        ui.add_space(8.0);
        let (_, [replace, cancel]) =
            egui::Sides::new().show(ui, |_| {}, |ui| [ui.button("Replace").clicked(), ui.button("Cancel").clicked()]);
        if replace { Some(true) } else { cancel.then_some(false) }
    });
    modal.inner.or_else(|| modal.should_close().then_some(false))
}

fn shortcuts_ui(ctx: &Context) -> bool {
    let modal = modal("shortcuts", ctx).show(ctx, |ui| {
        ui.heading("Shortcuts");
        ui.add_space(4.0);
        let max_height = ui.ctx().content_rect().height() - SHORTCUTS_MARGIN;
        let lists = egui::ScrollArea::vertical().max_height(max_height).min_scrolled_height(max_height);
        lists.show(ui, shortcut_lists_ui);
        ui.add_space(8.0);
        egui::Sides::new().show(ui, |_| {}, |ui| default_button_ui(ui, "Close")).1
    });
    !(modal.inner || modal.should_close())
}

/// The height of the window around the lists of shortcuts with its margins, points.
const SHORTCUTS_MARGIN: f32 = 150.0;

fn shortcut_lists_ui(ui: &mut egui::Ui) {
    egui::Grid::new("shortcuts").num_columns(4).spacing([32.0, 4.0]).show(ui, |ui| {
        // Side by side, or small windows would have no room for all.
        let (left, right) = commands::SHORTCUTS.split_at(commands::SHORTCUTS.len().div_ceil(2));
        for i in 0..left.len() {
            for (command, shortcut) in [left.get(i), right.get(i)].into_iter().flatten() {
                ui.label(command.text());
                ui.weak(ui.ctx().format_shortcut(shortcut));
            }
            ui.end_row();
        }
    });
    ui.add_space(8.0);
    ui.strong("While a tool is active");
    egui::Grid::new("tools").num_columns(2).spacing([32.0, 4.0]).show(ui, |ui| {
        for tool in Tool::ALL {
            ui.label(tool.text());
            ui.weak(tool.hint());
            ui.end_row();
        }
    });
}
