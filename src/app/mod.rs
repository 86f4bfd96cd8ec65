//! The editor.
//!
//! `App` has five parts with different rules: the `Document` (undoable, saved), the `UiState` (never undone), the
//! `Services` (threads and file dialogs), the user's `Settings` and the `WindowState`. The interface thread computes
//! no terrain: each frame it draws the panels on a working copy of the project, commits that copy to the document,
//! requests a preview of the current document, and shows the last preview that arrived.

pub(crate) mod commands;
pub(crate) mod dialogs;
pub(crate) mod document;
mod editor;
mod event_order;
mod modal_ui;
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
pub(crate) mod window_state;

use std::time::Duration;

use egui::{Context, Event, Key, Modifiers, Ui};

use crate::app::commands::Command;
pub(crate) use crate::app::editor::App;
use crate::app::state::CardList;
use crate::app::views::overlay::message_over_dialog;
pub use crate::app::window::run;
use crate::app::window_state::OpenWindow;
use crate::app::window_state::wake_of;

impl eframe::App for App {
    fn raw_input_hook(&mut self, ctx: &Context, raw_input: &mut egui::RawInput) {
        if self.window.event_order.limit(&mut raw_input.events) {
            ctx.request_repaint();
        }
    }

    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.ui.timings.frame_begins();
        if self.ui.scene.is_lost() && !self.window.is_detached {
            self.close_after_device_loss(ctx);
        }
        self.poll_results(ctx);
        self.window_events(ctx);
        self.check_recent_files(ctx);
        self.check_for_external_changes(ctx);
        self.autosave(ctx);
        if !ctx.input(|input| input.key_down(Key::C)) {
            self.ui.preview.compare.release();
        }
        self.follow_export_size();
        self.update_preview(ctx);
        self.request_analyses();
        if self.services.previewer.fraction().is_some() && !self.ui.playback.is_playing() {
            // Keeps the displayed progress up to date.
            ctx.request_repaint_after(Duration::from_millis(50));
        }
        if self.export_status().is_some() {
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        if self.window.is_detached {
            // Nothing can be drawn any more: the windowing library would panic on a lost device.
            return;
        }
        self.expire_message(&ctx);
        // The pipelines of the 3-D view take a tenth of a second on software renderers, during which the first preview is
        // computed.
        if self.window.first_frames == 0 {
            self.ui.scene.attach(frame.wgpu_render_state(), || wake_of(&ctx));
        }
        let is_asked = self.is_asked();
        let drawn = self.open_window();
        if is_asked && drawn != self.window.drawn {
            // Results of tasks have opened it since the last frame.
            ctx.input_mut(|input| self.window.event_order.put_back_keys(&mut input.events));
            ctx.request_repaint();
        }
        self.end_editing(&ctx);
        if is_asked {
            self.ui.operation_picker.close();
        }
        if !is_asked {
            self.tab_to_parameters(&ctx);
        }
        let mut commands =
            if is_asked { Vec::new() } else { commands::pressed(&ctx, self.ui.operation_picker.is_open()) };
        let mut draft = self.document.draft();
        let (step, terrain_type) = (self.ui.selection.step, self.ui.texture_panel.selected);
        let layer = self.ui.scatter.selected;
        commands.extend(self.panels_ui(ui, &mut draft));
        if self.ui.texture_panel.selected != terrain_type {
            self.ui.selection.last = CardList::Types;
        }
        if self.ui.scatter.selected != layer {
            self.ui.selection.last = CardList::Layers;
        }
        commands.extend(self.modal_ui(&ctx, &mut draft));
        self.file_window_ui(&ctx);
        self.message_ui(&ctx);
        self.ui.timings.ui(&ctx, frame.info().cpu_usage);
        let is_seeking = commands.iter().any(|command| matches!(command, Command::Seek(_)));
        self.ui.scene.hold_glow(is_seeking && ctx.input(|input| input.pointer.any_down()), &ctx);
        let gesture = self.ui.gestures.current(&ctx);
        let revision = self.document.revision();
        self.document.commit_draft(draft, gesture);
        // The timeline repeats its command while the playhead is held.
        let mut is_changed = commands.iter().any(|command| !matches!(command, Command::Seek(_)));
        if let Some(pending) = self.ui.pending_import.take() {
            self.finish_import(pending);
            is_changed = true;
        }
        if let Some(opening) = self.ui.pending_project.take() {
            self.open_pending(opening);
            is_changed = true;
        }
        for command in commands {
            self.execute(&ctx, command);
        }
        if is_changed || self.document.revision() != revision {
            // The contents of this frame were laid out before these changes.
            ctx.request_repaint();
        }
        if self.document.revision() != revision {
            self.remove_outdated_message();
            self.report_closed();
        }
        self.show_input_message(&ctx);
        if self.ui.selection.step != step {
            self.ui.selection.last = CardList::Stack;
        }
        self.window.was_editing = ctx.text_edit_focused();
        self.window.drawn = self.open_window();
        if self.window.drawn != drawn {
            if self.is_asked() {
                self.window.event_order.hold_keys();
                ctx.request_repaint();
            } else if self.window.drawn == OpenWindow::default() {
                // Otherwise the field of a closed window still has the focus in the next frame, and takes its keys.
                ctx.memory_mut(|memory| memory.focused().into_iter().for_each(|id| memory.surrender_focus(id)));
            }
        }
        self.update_preview(&ctx);
        self.end_first_frame(&ctx);
        self.ui.timings.frame_ends();
    }
}

impl App {
    /// Draws the last message over the dialog that is open, if it came from there.
    fn message_ui(&mut self, ctx: &Context) {
        let Some(message) = &mut self.ui.message else { return };
        // The next dialog does not show it again.
        message.is_of_dialog &= self.ui.modal.is_some();
        if message.is_of_dialog {
            message_over_dialog(ctx, &message.text, message.is_error);
        }
    }

    /// Repeats Escape in the frame after it has ended the editing of a field, and notes that it means nothing else in
    /// either frame. egui's field of a number takes its text in the second frame, unless Escape is pressed then.
    fn end_editing(&mut self, ctx: &Context) {
        let repeats = std::mem::take(&mut self.window.repeats_escape);
        if repeats {
            ctx.input_mut(|input| input.events.push(ESCAPE));
        }
        let has_ended = self.window.was_editing && !ctx.text_edit_focused();
        self.window.repeats_escape = !repeats && has_ended && ctx.input(|input| input.key_pressed(Key::Escape));
        self.window.ends_editing = repeats || self.window.repeats_escape;
        if self.window.repeats_escape {
            ctx.request_repaint();
        }
    }

    /// The window that is open in front of the panels.
    fn open_window(&self) -> OpenWindow {
        OpenWindow {
            modal: self.ui.modal.as_ref().map(std::mem::discriminant),
            is_saving: self.ui.closing.is_saving(),
            has_file_browser: self.ui.file_browser.is_some(),
            is_waiting: self.services.file_dialogs.is_open(),
            has_picker: self.ui.operation_picker.is_open(),
        }
    }

    /// Whether a window waits for the user, or the user for one.
    fn is_asked(&self) -> bool {
        self.ui.modal.is_some() || self.ui.closing.is_saving() || self.is_choosing_file()
    }
}

/// The press of Escape.
const ESCAPE: Event =
    Event::Key { key: Key::Escape, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
