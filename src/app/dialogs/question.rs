//! A dialog that asks the user to choose between actions.

use std::path::PathBuf;

use egui::{Context, Sides};

use crate::app::document::file_name;
use crate::app::widgets::{default_button_ui, modal};
use crate::files::io::disk_state::DiskState;

/// The most files a question lists: a turntable has more than fit.
const MAX_LISTED: usize = 5;

/// A question about files.
#[derive(Debug)]
pub(crate) enum Question {
    /// Read a project together with these files outside its folder?
    ReadOutside { project: PathBuf, files: Vec<PathBuf> },
    /// Save over a file that has changed since this version was opened or saved?
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

/// The text of a button and what it chooses.
type Answer = (&'static str, Choice);

impl Question {
    /// Draws the question; returns the answer once there is one.
    pub(crate) fn ui(&self, ctx: &Context) -> Option<Choice> {
        let (heading, files, text): (_, &[PathBuf], &str) = match self {
            Self::ReadOutside { project, files } => (
                format!("Read files outside the folder of {}?", file_name(project)),
                files,
                "The project uses these files. If you read them, saving the project stores copies in it.",
            ),
            Self::SaveOverChange { path, .. } => (
                "This file has changed since this version was opened or saved".into(),
                std::slice::from_ref(path),
                "Overwriting discards what is in the file now. Reloading opens the changed file; your version stays \
                 in the history.",
            ),
            Self::Reload { path, is_dirty, .. } => (
                "Another program has changed this file".into(),
                std::slice::from_ref(path),
                if *is_dirty { "Reload it? Your unsaved version stays in the history." } else { "Reload it?" },
            ),
        };
        // What discards something stands apart. The main choice comes first, at the right.
        let (discarding, choices): (Option<Answer>, &[Answer]) = match self {
            Self::ReadOutside { .. } => (None, &[("Read them", Choice::ReadOutside), ("Cancel", Choice::Cancel)]),
            Self::SaveOverChange { .. } => (
                Some(("Overwrite", Choice::Overwrite)),
                &[("Save as…", Choice::SaveAs), ("Reload", Choice::Reload), ("Cancel", Choice::Cancel)],
            ),
            Self::Reload { .. } => (None, &[("Reload", Choice::Reload), ("Keep this version", Choice::Cancel)]),
        };
        let modal = modal("question", ctx).show(ctx, |ui| {
            ui.set_width(440.0);
            ui.heading(heading);
            files_ui(ui, files);
            ui.add_space(4.0);
            ui.label(text);
            ui.add_space(8.0);
            let (discarded, chosen) = Sides::new().show(
                ui,
                |ui| discarding.filter(|(text, _)| ui.button(*text).clicked()).map(|(_, choice)| choice),
                |ui| {
                    let mut chosen = None;
                    for (i, (text, choice)) in choices.iter().enumerate() {
                        let clicked = if i == 0 { default_button_ui(ui, text) } else { ui.button(*text).clicked() };
                        chosen = chosen.or(clicked.then_some(*choice));
                    }
                    chosen
                },
            );
            discarded.or(chosen)
        });
        modal.inner.or(modal.should_close().then_some(Choice::Cancel))
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
