//! Choosing files: in the dialogs of the desktop, or in the built-in ones if there are none or the user prefers them.

use std::path::{Path, PathBuf};

use egui::Context;

use crate::app::App;
use crate::app::dialogs::file_browser::FileBrowser;
use crate::app::dialogs::file_dialogs::{DialogOutcome, DialogPurpose, DialogRequest, WaitingResponse, waiting_ui};
use crate::app::dialogs::modal::Modal;
use crate::app::document::{file_name, file_stem};
use crate::project::PROJECT_SUFFIX;
use crate::scene::offscreen::turntable_paths;

impl App {
    /// Whether a file dialog is open or about to open. Until it ends, shortcuts do nothing.
    pub(crate) fn is_choosing_file(&self) -> bool {
        self.services.file_dialogs.is_open() || self.ui.file_browser.is_some()
    }

    /// Opens a file dialog, unless one is open.
    pub(crate) fn open_file_dialog(&mut self, purpose: DialogPurpose) {
        if self.is_choosing_file() {
            self.ui.closing.cancel();
            self.show_error("Another file dialog is open; close it first");
            return;
        }
        let request = self.dialog_request(purpose);
        if self.settings.own_file_windows || self.services.file_dialogs.is_unavailable() {
            self.open_file_browser(request);
        } else {
            self.services.file_dialogs.open(request);
        }
    }

    /// The request for a file dialog, with the folder and the name that it suggests.
    fn dialog_request(&self, purpose: DialogPurpose) -> DialogRequest {
        let saved = match &purpose {
            DialogPurpose::Save { project_id } => self.document.path_of(*project_id),
            _ => self.document.path(),
        };
        let chosen = self.settings.chosen(purpose.kind());
        let known = chosen.or(saved).or(self.settings.recent.first().map(PathBuf::as_path));
        let folder = match &purpose {
            DialogPurpose::ExportFolder if chosen.is_some() => chosen,
            _ => known.and_then(Path::parent),
        };
        let folder = folder.map(Path::to_path_buf);
        let file_name = match &purpose {
            DialogPurpose::Save { project_id } => saved.map(file_name).or_else(|| {
                let file = self.document.newest(*project_id)?;
                Some(format!("{}{PROJECT_SUFFIX}", file_stem(&file.project)))
            }),
            DialogPurpose::Image { .. } => Some(format!("{}.png", file_stem(self.document.project()))),
            DialogPurpose::Import { .. } => chosen.map(file_name),
            DialogPurpose::Open | DialogPurpose::ExportFolder => None,
        };
        DialogRequest { purpose, folder, file_name: file_name.unwrap_or_default() }
    }

    fn open_file_browser(&mut self, request: DialogRequest) {
        match FileBrowser::new(request, self.settings.recent_folders(), self.services.wake.clone()) {
            Ok(browser) => self.ui.file_browser = Some(browser),
            Err(error) => {
                self.ui.closing.cancel();
                self.show_error(format!("The file dialog cannot be opened: {error}"));
            }
        }
    }

    /// Takes the outcome of the desktop's dialog.
    pub(crate) fn poll_file_dialogs(&mut self) {
        while let Some((request, outcome)) = self.services.file_dialogs.poll() {
            self.handle_dialog_outcome(request, outcome);
        }
    }

    /// Draws the built-in file dialog, or what covers the editor while the desktop's is expected.
    pub(crate) fn file_window_ui(&mut self, ctx: &Context) {
        let ended = match &mut self.ui.file_browser {
            Some(browser) => {
                let outcome = browser.ui(ctx, &mut self.services.thumbnails);
                outcome.map(|outcome| (browser.request().clone(), outcome))
            }
            None if self.services.file_dialogs.is_open() => match waiting_ui(ctx) {
                Some(WaitingResponse::InEditor) => {
                    if let Some(request) = self.services.file_dialogs.abandon() {
                        self.open_file_browser(request);
                    }
                    None
                }
                Some(WaitingResponse::Cancel) => {
                    self.services.file_dialogs.abandon().map(|request| (request, DialogOutcome::Cancelled))
                }
                None => None,
            },
            None => None,
        };
        if let Some((request, outcome)) = ended {
            self.ui.file_browser = None;
            self.handle_dialog_outcome(request, outcome);
        }
    }

    /// Handles the outcome of a file dialog.
    fn handle_dialog_outcome(&mut self, request: DialogRequest, outcome: DialogOutcome) {
        match outcome {
            DialogOutcome::Cancelled => self.ui.closing.cancel(),
            DialogOutcome::Unavailable => self.open_file_browser(request),
            DialogOutcome::Chosen { path, may_replace } => {
                let files = match request.purpose {
                    DialogPurpose::Open | DialogPurpose::Import { .. } | DialogPurpose::ExportFolder => Vec::new(),
                    DialogPurpose::Save { .. } => {
                        [with_project_ending(&path)].into_iter().filter(|path| path.exists()).collect()
                    }
                    DialogPurpose::Image { frames, .. } => {
                        let path = image_path(&path);
                        let files = frames.map_or_else(|| vec![path.clone()], |count| turntable_paths(&path, count));
                        files.into_iter().filter(|path| path.exists()).collect()
                    }
                };
                let existing: Vec<PathBuf> = files.into_iter().filter(|file| !(may_replace && *file == path)).collect();
                if existing.is_empty() {
                    self.use_chosen_file(&request, path);
                } else {
                    self.ui.modal = Some(Modal::Replace { request, path, files: existing });
                }
            }
        }
    }

    /// Uses a chosen file for the purpose of the dialog.
    pub(crate) fn use_chosen_file(&mut self, request: &DialogRequest, path: PathBuf) {
        let path = std::path::absolute(&path).unwrap_or(path);
        self.settings.set_chosen(request.purpose.kind(), &path);
        match request.purpose {
            DialogPurpose::Open => self.services.file_tasks.open(path),
            DialogPurpose::Import { ref target } => self.services.file_tasks.import(path, target.clone()),
            DialogPurpose::Save { project_id } => {
                if let Some(file) = self.document.newest(project_id) {
                    self.services.file_tasks.save(with_project_ending(&path), file, project_id, None);
                }
            }
            DialogPurpose::Image { size, frames } => self.draw(size, frames, &image_path(&path)),
            DialogPurpose::ExportFolder => self.ui.export.set_folder(&path),
        }
    }
}

/// A path with the suffix of project files, once: a name that is typed whole may get it a second time.
fn with_project_ending(path: &Path) -> PathBuf {
    let mut name = file_name(path);
    while let Some(stem) = name.strip_suffix(PROJECT_SUFFIX).filter(|stem| stem.ends_with(PROJECT_SUFFIX)) {
        name = stem.to_string();
    }
    let path = &path.with_file_name(&name);
    if name.ends_with(".json") { path.to_path_buf() } else { path.with_file_name(format!("{name}{PROJECT_SUFFIX}")) }
}

/// An image's path, with the extension `png` if it has none.
fn image_path(path: &Path) -> PathBuf {
    if path.extension().is_some() { path.to_path_buf() } else { path.with_added_extension("png") }
}
