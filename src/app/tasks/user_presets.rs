//! Presets of one's own: projects in the config folder, each with its picture beside it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::Context;

use crate::app::App;
use crate::app::dialogs::gallery::{GalleryResponse, UserPreset, thumbnail_path};
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::save_preset::{SavePresetDialog, SavePresetResponse};
use crate::app::document::file_stem;
use crate::app::state::PendingProject;
use crate::app::tasks::file_tasks::FileTaskResult;
use crate::engine::{Image, Progress};
use crate::files::FileError;
use crate::files::formats::image;
use crate::files::formats::image_decode::decode_texture;
use crate::files::io::atomic;
use crate::project::{PROJECT_SUFFIX, ProjectFile};

/// Reads every preset in the folder, in the order of their names.
fn read_all(folder: &Path) -> FileTaskResult {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(PROJECT_SUFFIX));
    paths.sort();
    let (mut presets, mut broken) = (Vec::new(), None);
    for path in paths {
        match ProjectFile::open(&path) {
            Ok(file) => {
                let beside = thumbnail_path(&path);
                let bytes = std::fs::read(&beside).ok().filter(|_| beside.is_file());
                let picture = bytes.and_then(|bytes| decode_texture(&beside, &bytes).ok());
                presets.push(UserPreset { path, file, thumbnail: picture });
            }
            Err(error) => broken = Some(format!("{}: {error}", path.display())),
        }
    }
    FileTaskResult::Presets { presets, broken }
}

/// Writes a project to the folder under a name that no file has.
fn save(folder: &Path, file: &ProjectFile) -> Result<PathBuf, FileError> {
    std::fs::create_dir_all(folder).map_err(|error| FileError::writing(folder, &error))?;
    let (stem, text) = (file_stem(&file.project), file.to_json());
    let mut number = 1;
    loop {
        let mark = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{mark}{PROJECT_SUFFIX}"));
        let written = atomic::write_atomically(&path, false, |writer| {
            writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(&path, &error))
        });
        match written {
            Ok(()) => return Ok(path),
            Err(FileError::Exists(_)) if number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Writes the picture of a preset.
fn write_picture(path: &Path, picture: &Image) -> FileTaskResult {
    let written = atomic::write_atomically(path, true, |writer| image::write(writer, path, picture, &Progress::new()));
    match written {
        Ok(()) => FileTaskResult::Done,
        Err(error) => FileTaskResult::Failed(error.to_string()),
    }
}

/// Removes a preset and its picture.
fn delete(path: &Path) -> FileTaskResult {
    // One without a picture is a preset too.
    let _ = std::fs::remove_file(thumbnail_path(path));
    match std::fs::remove_file(path) {
        Ok(()) => FileTaskResult::Done,
        Err(error) => FileTaskResult::Failed(format!("{}: the preset cannot be deleted: {error}", path.display())),
    }
}

impl App {
    fn preset_folder(&self) -> Option<PathBuf> {
        self.services.folders.config.as_ref().map(|folder| folder.join("presets"))
    }

    /// Opens the gallery of presets.
    pub(crate) fn open_gallery(&mut self) {
        self.ui.message = None;
        self.ui.gallery.open();
        self.read_presets();
        self.ui.modal = Some(Modal::Gallery);
    }

    /// Opens the window in which the project becomes a preset.
    pub(crate) fn open_save_preset(&mut self) {
        match self.preset_folder() {
            Some(_) => self.ui.modal = Some(Modal::SavePreset(SavePresetDialog::new(self.document.project()))),
            None => self.show_error("there is no folder for presets here; save the project to a file instead"),
        }
    }

    fn read_presets(&mut self) {
        if let Some(folder) = self.preset_folder() {
            self.services.file_tasks.run(move || read_all(&folder));
        }
    }

    /// The folder was read.
    pub(crate) fn receive_presets(&mut self, ctx: &Context, presets: Vec<UserPreset>, broken: Option<String>) {
        self.ui.gallery.set_user_presets(ctx, presets);
        if let Some(broken) = broken {
            self.show_error(broken);
        }
    }

    /// Takes the pictures that were drawn for the gallery, and keeps those of own presets beside them.
    pub(crate) fn receive_preset_thumbnails(&mut self, ctx: &Context) {
        for (path, picture) in self.ui.gallery.receive(ctx) {
            self.services.file_tasks.run(move || write_picture(&path, &picture));
        }
    }

    /// Draws the gallery; returns whether it stays.
    pub(crate) fn gallery_ui(&mut self, ctx: &Context) -> bool {
        let stays = match self.ui.gallery.ui(ctx) {
            Some(GalleryResponse::Open(file)) => {
                let name = format!("Preset {}", file.project.name);
                self.ui.pending_project = Some(PendingProject { name, file, path: None, is_unsaved: false });
                false
            }
            Some(GalleryResponse::Delete(path)) => {
                self.services.file_tasks.run(move || delete(&path));
                self.read_presets();
                true
            }
            Some(GalleryResponse::Close) => false,
            None => true,
        };
        if !stays {
            self.ui.gallery.close();
        }
        stays
    }

    /// Draws the window in which the project becomes a preset; returns whether it stays.
    pub(crate) fn save_preset_ui(&mut self, ctx: &Context, form: &mut SavePresetDialog) -> bool {
        let Some(response) = form.ui(ctx) else { return true };
        if let (SavePresetResponse::Save { name, description }, Some(folder)) = (response, self.preset_folder()) {
            let mut file = self.document.file();
            let project = Arc::make_mut(&mut file.project);
            (project.name, project.description) = (name, description);
            self.services.file_tasks.run(move || match save(&folder, &file) {
                Ok(path) => FileTaskResult::PresetSaved { path },
                Err(error) => FileTaskResult::Failed(error.to_string()),
            });
        }
        false
    }

    /// A preset was written: it gets its picture.
    pub(crate) fn preset_saved(&mut self, path: &Path) {
        self.show_message(format!("Saved the preset {}; it stands in File > Presets", path.display()));
        self.read_presets();
    }
}
