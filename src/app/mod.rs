//! The editor.
//!
//! [`App`] has three parts with different rules: the [`Document`] (undoable, saved), the [`UiState`] (never undone) and
//! the [`Services`] (threads). The interface thread computes no terrain: each frame it draws the panels on a working copy
//! of the project, commits that copy to the document, requests a preview of what the document says now, and shows the
//! last preview that arrived.

pub(crate) mod commands;
pub(crate) mod dialogs;
pub(crate) mod document;
pub(crate) mod panels;
pub(crate) mod preview;
mod services;
mod state;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod tools;
pub(crate) mod views;
pub(crate) mod widgets;
pub(crate) mod window;

use std::path::PathBuf;
use std::time::Duration;

use egui::{Context, Key, Ui};

use crate::app::commands::Command;
use crate::app::commands::menus::{ViewModes, bytes_of_preview};
use crate::app::dialogs::file_dialogs::FileDialogs;
use crate::app::document::{Document, file_stem};
use crate::app::panels::status::{CopyableText, Message};
use crate::app::preview::request::RequestContext;
use crate::app::services::Services;
use crate::app::state::UiState;
use crate::app::tasks::autosave::Autosave;
use crate::app::tasks::results::first_step;
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::app::views::scene::RenderTask;
pub use crate::app::window::run;
use crate::app::window::{WindowState, wake_of};
use crate::files::io::memory::require_memory;
use crate::project::preset_projects;
use crate::worker::ExportStatus;

/// The editor.
pub(crate) struct App {
    document: Document,
    ui: UiState,
    services: Services,
    settings: Settings,
    window: WindowState,
}

impl App {
    fn new(
        ctx: &Context,
        file_dialogs: Box<dyn FileDialogs>,
        file: Option<PathBuf>,
        folders: UserFolders,
    ) -> std::io::Result<Self> {
        widgets::theme::install(ctx);
        let wake = wake_of(ctx);
        let (settings, unreadable) = tasks::autosave::read_settings(&folders);
        settings.apply(ctx);
        let first = preset_projects().first().map(|(_, file)| file.clone()).unwrap_or_default();
        let selected_step = first_step(&first.project);
        let document = Document::new(first);
        let autosave = Autosave::start(&folders, &settings, document.revision(), wake.clone())?;
        let ui = UiState::new(&document, &settings, selected_step, wake.clone())?;
        let services = Services::start(file_dialogs, folders, autosave, wake)?;
        let mut app = Self { document, ui, services, settings, window: WindowState::default() };
        if let Some(reason) = unreadable {
            app.show_error(reason);
        }
        if let Some(file) = file {
            app.services.file_tasks.open(file);
        }
        Ok(app)
    }

    fn total(&self) -> u32 {
        self.document.project().recipe.iterations()
    }

    fn show_message(&mut self, text: impl Into<String>) {
        self.ui.message = Some(Message { text: text.into(), is_error: false, offer: None });
    }

    fn show_error(&mut self, text: impl Into<String>) {
        self.ui.message = Some(Message { text: text.into(), is_error: true, offer: None });
    }

    /// Adds to what was said last a text that can be copied.
    fn offer(&mut self, name: &'static str, text: String) {
        if let Some(message) = &mut self.ui.message {
            message.offer = Some(CopyableText { name, text });
        }
    }

    /// The view options that menus show as on or off.
    fn view_modes(&self) -> ViewModes {
        ViewModes {
            is_export_size: self.ui.preview.export_samples.is_some(),
            is_before: self.ui.preview.compare.shows_before(&self.document),
            is_split: self.ui.maps.split.is_some(),
        }
    }

    /// Requests the preview of what the document says now, and shows what is new.
    fn update_preview(&mut self, ctx: &Context) {
        let UiState { preview, maps, texture_panel, playback, timings, scene, .. } = &mut self.ui;
        let project = self.document.project();
        preview.update(RequestContext {
            document: &self.document,
            map_view: maps.aspect.view(&self.document.settings().view, &project.water),
            texture_view: texture_panel.view(&project.recipe.texture.types),
            is_split: maps.split.is_some(),
            playback,
            previewer: &self.services.previewer,
            timings,
        });
        if let Some(shown) = preview.take_new() {
            maps.show(ctx, shown);
            scene.show(shown, ctx.input(|input| input.time));
        }
        let is_split = maps.split.is_some() && !preview.compare.shows_before(&self.document);
        let before = preview.compare.western_side(&self.document, preview.shown.as_ref()).filter(|_| is_split);
        maps.show_before(ctx, before, preview.compare.missing_side(&self.document));
    }

    /// The samples along the longer side of an export, if there is memory to show them.
    fn export_samples_that_fit(&mut self) -> Option<u32> {
        let samples = u32::try_from(self.export_side()).ok()?;
        match bytes_of_preview(samples).map_or(Ok(()), require_memory) {
            Ok(()) => Some(samples),
            Err(error) => {
                self.show_error(format!("The views cannot show {samples} samples along a side: {error}"));
                None
            }
        }
    }

    fn export_side(&self) -> usize {
        let extent = self.document.project().recipe.world.extent();
        let grid = self.ui.export.grid(extent, &self.document.settings().export);
        grid.width().max(grid.height())
    }

    /// Keeps the views at the size of exports, if they show it, when that size changes.
    fn follow_export_size(&mut self) {
        if self.ui.preview.export_samples.is_some_and(|samples| samples as usize != self.export_side()) {
            self.ui.preview.export_samples = self.export_samples_that_fit();
        }
    }

    /// Requests the analyses on display for the terrain on the screen.
    fn request_analyses(&mut self) {
        if let Some(shown) = &self.ui.preview.shown {
            let limit_deg = self.document.settings().view.walkable_deg;
            self.ui.analysis.request(&self.settings.unfolded, limit_deg, shown, !self.ui.playback.is_playing());
        }
    }

    /// What is being written beside the preview.
    fn export_status(&self) -> Option<ExportStatus> {
        self.services.exporter.status().or_else(|| self.services.render_task.as_ref().map(RenderTask::status))
    }

    /// The project's title as the name of a file.
    fn file_name(&self, ending: &str) -> String {
        format!("{}{ending}", file_stem(self.document.project()))
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.ui.timings.frame_begins();
        if self.ui.scene.is_lost() && !self.window.is_detached {
            self.close_after_device_loss(ctx);
        }
        self.receive(ctx);
        self.window_events(ctx);
        self.check_recent_files(ctx);
        self.keep(ctx);
        if !ctx.input(|input| input.key_down(Key::C)) {
            self.ui.preview.compare.release();
        }
        self.follow_export_size();
        self.update_preview(ctx);
        self.request_analyses();
        if self.services.previewer.fraction().is_some() && !self.ui.playback.is_playing() {
            // So that progress moves and the note about it appears.
            ctx.request_repaint_after(Duration::from_millis(50));
        }
        if self.export_status().is_some() {
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        if self.window.is_detached {
            // Nothing can be drawn any more: on a lost card the window's library would give up.
            return;
        }
        self.ui.scene.attach(frame.wgpu_render_state(), || wake_of(&ctx));
        let is_asked = self.ui.modal.is_some() || self.ui.saving.is_some();
        if is_asked {
            self.ui.operation_picker.close();
        }
        let mut commands =
            if is_asked { Vec::new() } else { commands::pressed(&ctx, self.ui.operation_picker.is_open()) };
        let mut draft = self.document.take_draft();
        let (step, ground) = (self.ui.selection.step, self.ui.texture_panel.selected);
        commands.extend(self.panels_ui(ui, &mut draft));
        self.ui.texture_panel.was_selected_last |= self.ui.texture_panel.selected != ground;
        commands.extend(self.modal_ui(&ctx, &mut draft));
        self.ui.timings.ui(&ctx, frame.info().cpu_usage);
        let is_seeking = commands.iter().any(|command| matches!(command, Command::Seek(_)));
        self.ui.scene.hold_glow(is_seeking && ctx.input(|input| input.pointer.any_down()), &ctx);
        let gesture = self.ui.gestures.current(&ctx);
        self.document.commit_draft(draft, gesture);
        if let Some(opening) = self.ui.pending_project.take() {
            self.open_pending(opening);
        }
        for command in commands {
            self.execute(&ctx, command);
        }
        self.ui.texture_panel.was_selected_last &= self.ui.selection.step == step;
        self.update_preview(&ctx);
        self.ui.timings.frame_ends();
    }
}
