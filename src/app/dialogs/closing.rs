//! Saving, and the question before unsaved work is lost.
//!
//! Who answers "Save" has every unsaved project saved, one after another, hidden ones too, and then the editor closes.
//! As long as that is under way a window says so and nothing else can be done; whatever interrupts it ends it, so that
//! no later save closes the editor.

use std::path::{Path, PathBuf};

use egui::{Context, ScrollArea, Sides};

use crate::app::App;
use crate::app::dialogs::file_dialogs::{DialogPurpose, DialogRequest};
use crate::app::dialogs::modal::Modal;
use crate::app::document;
use crate::app::document::Unsaved;
use crate::app::widgets::modal;
use crate::project::PROJECT_SUFFIX;

impl App {
    /// Saves the open project, to a file that is asked for where it has none, or where another one is wanted.
    pub(crate) fn save(&mut self, anew: bool) {
        let origin = self.document.origin_id();
        let path = self.document.path().filter(|_| !anew).map(Path::to_path_buf);
        self.save_origin(origin, path);
    }

    /// Saves the project of that origin.
    fn save_origin(&mut self, origin: usize, path: Option<PathBuf>) {
        match path {
            Some(path) => self.save_to(path, origin),
            None => {
                let stem =
                    self.document.newest(origin).map(|file| document::file_stem(&file.project)).unwrap_or_default();
                self.services.file_dialogs.ask(DialogRequest {
                    purpose: DialogPurpose::Save { origin },
                    file_name: format!("{stem}{PROJECT_SUFFIX}"),
                });
            }
        }
    }

    pub(crate) fn save_to(&mut self, path: PathBuf, origin: usize) {
        if let Some(file) = self.document.newest(origin) {
            self.services.file_tasks.save(path, file, origin);
        }
    }

    /// Saves the next of the projects that are to be saved before the window closes; closes it once there is none.
    pub(crate) fn continue_closing(&mut self) {
        let Some(waiting) = &self.ui.saving else { return };
        let unsaved = self.document.unsaved();
        match unsaved.iter().find(|unsaved| waiting.contains(&unsaved.origin)) {
            Some(Unsaved { origin, path, .. }) => self.save_origin(*origin, path.clone()),
            None => {
                self.ui.saving = None;
                match unsaved.is_empty() {
                    true => self.ui.closing = true,
                    // Something has been changed in between, by what was under way.
                    false => self.ui.modal = Some(Modal::SaveFirst(unsaved)),
                }
            }
        }
    }

    /// One of the projects is saved: on to the next.
    pub(crate) fn project_saved(&mut self, origin: usize) {
        if let Some(waiting) = &mut self.ui.saving
            && waiting.first() == Some(&origin)
        {
            waiting.remove(0);
            self.continue_closing();
        }
    }

    /// The question before unsaved work is lost; returns whether it stands.
    pub(crate) fn confirm_close_ui(&mut self, ctx: &Context, unsaved: &[Unsaved]) -> bool {
        let modal = modal("save first", ctx).show(ctx, |ui| {
            ui.set_width(400.0);
            ui.heading("Save before closing?");
            ui.label(if unsaved.len() == 1 { "This is not saved:" } else { "These are not saved:" });
            ui.add_space(4.0);
            ScrollArea::vertical().max_height(200.0).show(ui, |ui| {
                for Unsaved { file, path, .. } in unsaved {
                    ui.strong(document::title(&file.project));
                    let place = path.as_ref().map(|path| path.display().to_string());
                    ui.weak(place.unwrap_or_else(|| "has no file yet; you will be asked for one".into()));
                }
            });
            ui.add_space(8.0);
            let save = if unsaved.len() == 1 { "Save" } else { "Save all" };
            Sides::new().show(
                ui,
                |ui| ui.button("Close without saving").clicked(),
                |ui| [ui.button(save).clicked(), ui.button("Cancel").clicked()],
            )
        });
        let (discard, [save, cancel]) = modal.inner;
        if discard {
            (self.ui.closing, self.ui.discards_changes) = (true, true);
        }
        if save {
            self.ui.saving = Some(unsaved.iter().map(|unsaved| unsaved.origin).collect());
            self.continue_closing();
        }
        !(discard || save || cancel || modal.should_close())
    }

    /// What stands over the editor while projects are saved before it closes.
    pub(crate) fn saving_ui(&mut self, ctx: &Context) {
        let modal = modal("saving", ctx).show(ctx, |ui| {
            ui.set_width(280.0);
            ui.heading("Saving before closing");
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label("Waiting for the file to be chosen and written.");
            });
            ui.add_space(8.0);
            Sides::new().show(ui, |_| {}, |ui| ui.button("Stay").clicked()).1
        });
        if modal.inner || modal.should_close() {
            self.ui.saving = None;
        }
    }
}
