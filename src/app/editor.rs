//! The editor's parts, and what they do together each frame.

use std::path::PathBuf;
use std::time::Duration;

use egui::Context;

use crate::app::commands::menus::{ViewModes, bytes_of_preview};
use crate::app::commands::stack_edits::first_step;
use crate::app::dialogs::file_dialogs::{DialogBackend, FileDialogs};
use crate::app::document::Document;
use crate::app::panels::status::{CopyableText, Message};
use crate::app::preview::request::RequestContext;
use crate::app::services::Services;
use crate::app::state::UiState;
use crate::app::tasks::autosave::Autosave;
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::app::views::scene::RenderTask;
use crate::app::window_state::{WindowState, wake_of};
use crate::files::io::memory::require_memory;
use crate::project::preset_projects;
use crate::worker::ExportStatus;

/// The editor: the document (undoable, saved), the state of the interface (never undone), the services (threads and
/// file dialogs), the user's settings and the state of the window.
pub(crate) struct App {
    pub(crate) document: Document,
    pub(crate) ui: UiState,
    pub(crate) services: Services,
    pub(crate) settings: Settings,
    pub(crate) window: WindowState,
}

impl App {
    pub(crate) fn new(
        ctx: &Context,
        file_dialogs: Box<dyn DialogBackend>,
        file: Option<PathBuf>,
        folders: UserFolders,
    ) -> std::io::Result<Self> {
        crate::app::widgets::theme::install(ctx);
        let wake = wake_of(ctx);
        let (settings, unreadable) = crate::app::tasks::autosave::read_settings(&folders);
        settings.apply(ctx);
        let first = preset_projects().first().map(|(_, file)| file.clone()).unwrap_or_default();
        let selected_step = first_step(&first.project);
        let document = Document::new(first);
        let autosave = Autosave::start(&folders, &settings, document.revision(), wake.clone())?;
        let ui = UiState::new(&document, &settings, selected_step, wake.clone())?;
        let services = Services::start(FileDialogs::new(file_dialogs), folders, autosave, wake)?;
        let mut app = Self { document, ui, services, settings, window: WindowState::default() };
        if let Some(reason) = unreadable {
            app.show_error(reason);
        }
        if let Some(file) = file {
            app.services.file_tasks.open(file);
        }
        Ok(app)
    }

    pub(crate) fn total(&self) -> u32 {
        self.document.timeline().total()
    }

    pub(crate) fn show_message(&mut self, text: impl Into<String>) {
        self.set_message(Message::new(text, false));
    }

    pub(crate) fn show_error(&mut self, text: impl Into<String>) {
        self.set_message(Message::new(text, true));
    }

    /// Shows a message, over the dialog if one is open.
    pub(crate) fn set_message(&mut self, message: Message) {
        let is_of_dialog = self.ui.modal.is_some();
        self.ui.message.insert(message).is_of_dialog = is_of_dialog;
    }

    /// Shows a message about the last edit that stays as long as an error, unless the edit is undone.
    pub(crate) fn show_lasting_message(&mut self, text: impl Into<String>) {
        let mut message = Message::new(text, false).about(self.document.current_edit());
        message.is_kept = true;
        self.set_message(message);
    }

    /// Removes a message that no longer applies after an edit or an undo.
    pub(crate) fn remove_outdated_message(&mut self) {
        let document = &self.document;
        self.ui.message.take_if(|message| {
            message.until_after.is_some_and(|revision| revision != document.revision())
                || message.edit.is_some_and(|edit| document.is_undone(edit))
        });
    }

    /// Shows the message about input of this frame that was refused or adapted, after its edits.
    pub(crate) fn show_input_message(&mut self, ctx: &Context) {
        let message = self.ui.parameters.take_message().or_else(|| self.ui.export.parameters.take_message());
        if let Some(message) = message.or_else(|| self.ui.tools.take_message()) {
            self.set_message(Message::new(message, false).about_revision(self.document.revision()));
            ctx.request_repaint();
        }
    }

    /// Removes a message that was shown long enough.
    pub(crate) fn expire_message(&mut self, ctx: &Context) {
        let (now_s, is_active) = ctx.input(|input| (input.time, !input.events.is_empty()));
        let Some(message) = &mut self.ui.message else { return };
        match message.remaining_s(now_s, is_active) {
            Some(remaining_s) if remaining_s > 0.0 => ctx.request_repaint_after(Duration::from_secs_f64(remaining_s)),
            Some(_) => self.ui.message = None,
            None => {}
        }
    }

    /// Adds a button to the last message that copies a text.
    pub(crate) fn offer(&mut self, name: &'static str, text: String) {
        if let Some(message) = &mut self.ui.message {
            message.offer = Some(CopyableText { name, text });
        }
    }

    /// Tells the user that an edit after undo has closed a project with unsaved changes.
    pub(crate) fn report_closed(&mut self) {
        if let Some(name) = self.document.take_newly_closed() {
            self.show_message(format!(
                "{name} was closed with unsaved changes; to open it again, see File > Closed with unsaved changes"
            ));
        }
    }

    /// The view options that menus show as on or off.
    pub(crate) fn view_modes(&self) -> ViewModes {
        ViewModes {
            is_export_size: self.ui.preview.export_samples.is_some(),
            is_before: self.ui.preview.compare.shows_before(&self.document),
            is_split: self.ui.maps.split.is_some(),
            mirror: self.document.settings().view.mirror,
        }
    }

    /// Paints the window first: previews and thumbnails are computed from the third frame on, and the 3-D view draws from
    /// the fourth one on.
    pub(crate) fn wait_for_first_frames(&mut self) {
        self.window.first_frames = 3;
        self.services.thumbnails.is_paused = true;
    }

    /// Counts the first frames.
    pub(crate) fn end_first_frame(&mut self, ctx: &Context) {
        if self.window.first_frames > 0 {
            self.window.first_frames -= 1;
            self.services.thumbnails.is_paused = self.window.first_frames > 1;
            ctx.request_repaint();
        }
    }

    /// Requests a preview of the current document, and displays new results.
    pub(crate) fn update_preview(&mut self, ctx: &Context) {
        if self.window.first_frames > 1 {
            return;
        }
        let UiState { preview, maps, texture_panel, playback, timings, scene, selection, .. } = &mut self.ui;
        let project = self.document.project();
        preview.update(RequestContext {
            document: &self.document,
            map_view: maps.style.view(&self.document.settings().view, &project.water),
            texture_view: texture_panel.view(&project.recipe.texture.types),
            selected_step: selection.step,
            is_split: maps.split.is_some(),
            playback,
            previewer: &self.services.previewer,
            timings,
        });
        if let Some(shown) = preview.take_new() {
            maps.show(ctx, shown);
            scene.show(shown, ctx.input(|input| input.time));
            // At the end of a frame, its contents were laid out before.
            ctx.request_repaint();
        }
        let is_split = maps.split.is_some() && !preview.compare.shows_before(&self.document);
        let before = preview.compare.western_side(&self.document, preview.shown.as_ref()).filter(|_| is_split);
        maps.show_before(ctx, before, preview.compare.missing_side(&self.document));
    }

    /// The samples along the longer side of an export, if there is memory to show them.
    pub(crate) fn export_samples_that_fit(&mut self) -> Option<u32> {
        let samples = u32::try_from(self.export_side()).ok()?;
        match bytes_of_preview(samples).map_or(Ok(()), require_memory) {
            Ok(()) => Some(samples),
            Err(error) => {
                self.show_error(format!("The views cannot show {samples} samples along a side: {error}"));
                None
            }
        }
    }

    pub(crate) fn export_side(&self) -> usize {
        let extent = self.document.project().recipe.world.extent();
        let grid = self.ui.export.grid(extent, &self.document.settings().export);
        grid.width().max(grid.height())
    }

    /// Follows changes of the export size while the views show that size.
    pub(crate) fn follow_export_size(&mut self) {
        if self.ui.preview.export_samples.is_some_and(|samples| samples as usize != self.export_side()) {
            self.ui.preview.export_samples = self.export_samples_that_fit();
        }
    }

    /// Requests the visible analyses of the displayed terrain.
    pub(crate) fn request_analyses(&mut self) {
        if let Some(shown) = &self.ui.preview.shown {
            let limit_deg = self.document.settings().view.walkable_deg;
            let at_rest = !self.ui.playback.is_playing();
            self.ui.analysis.request(&self.settings.unfolded, limit_deg, shown, at_rest);
            let project = self.document.project();
            let recipe = self.ui.preview.recipe();
            self.ui.scatter.request(recipe, &project.files, shown, at_rest);
            let obstacles = self.ui.scatter.obstacles(recipe);
            self.ui.play.request(&project.level, project.water.water_m, obstacles, shown, at_rest);
        }
    }

    /// The status of the running export or render.
    pub(crate) fn export_status(&self) -> Option<ExportStatus> {
        self.services.exporter.status().or_else(|| self.services.render_task.as_ref().and_then(RenderTask::status))
    }
}
