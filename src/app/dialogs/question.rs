//! A dialog that asks the user to choose between actions.

use std::path::PathBuf;

use egui::{Context, Sides};

use crate::app::widgets::modal;
use crate::files::io::disk_state::DiskState;

/// The most files a question lists: a turntable has more than fit.
const MAX_LISTED: usize = 5;

/// A question about files.
#[derive(Debug)]
pub(crate) enum Question {
    /// Read a project together with these files outside its folder?
    ReadOutside { project: PathBuf, files: Vec<PathBuf> },
    /// Save over a file that another program has changed?
    SaveOverChange { project_id: usize, path: PathBuf },
    /// Reload a file that another program has changed?
    Reload { project_id: usize, path: PathBuf, state: DiskState, is_dirty: bool },
}

/// What the user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    ReadOutside,
    Overwrite,
    SaveAs,
    Reload,
    Cancel,
}

impl Question {
    /// Draws the question; returns the answer once there is one.
    pub(crate) fn ui(&self, ctx: &Context) -> Option<Choice> {
        let (heading, files, text, choices): (_, &[PathBuf], _, &[_]) = match self {
            Self::ReadOutside { files, .. } => (
                "Read files outside the project's folder?",
                files,
                "The project uses these files. They become part of it when it is saved.",
                &[("Read them", Choice::ReadOutside), ("Cancel", Choice::Cancel)],
            ),
            Self::SaveOverChange { path, .. } => (
                "Another program has changed this file",
                std::slice::from_ref(path),
                "Overwriting it discards those changes. Reloading opens it, and your version stays in the history.",
                &[
                    ("Overwrite", Choice::Overwrite),
                    ("Save as…", Choice::SaveAs),
                    ("Reload", Choice::Reload),
                    ("Cancel", Choice::Cancel),
                ],
            ),
            Self::Reload { path, is_dirty, .. } => (
                "Another program has changed this file",
                std::slice::from_ref(path),
                if *is_dirty { "Reload it? Your unsaved version stays in the history." } else { "Reload it?" },
                &[("Reload", Choice::Reload), ("Keep this version", Choice::Cancel)],
            ),
        };
        let modal = modal("question", ctx).show(ctx, |ui| {
            ui.set_width(440.0);
            ui.heading(heading);
            files_ui(ui, files);
            ui.add_space(4.0);
            ui.label(text);
            ui.add_space(8.0);
            Sides::new().show(
                ui,
                |_| {},
                |ui| choices.iter().rev().find_map(|(text, choice)| ui.button(*text).clicked().then_some(*choice)),
            )
        });
        modal.inner.1.or(modal.should_close().then_some(Choice::Cancel))
    }
}

/// Lists files, up to [`MAX_LISTED`].
pub(crate) fn files_ui(ui: &mut egui::Ui, files: &[PathBuf]) {
    for file in files.iter().take(MAX_LISTED) {
        ui.label(file.display().to_string());
    }
    if files.len() > MAX_LISTED {
        ui.label(format!("and {} more; {} files in all", files.len() - MAX_LISTED, files.len()));
    }
}
