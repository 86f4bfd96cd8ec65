//! The progress and the result of an export.

use std::path::{Path, PathBuf};

use egui::{ProgressBar, ScrollArea, Ui};

use super::text::steps_ui;
use crate::app::document::file_name;
use crate::app::widgets::{default_button_ui, visible_scroll_bars};
use crate::files::export::BuildReport;
use crate::worker::ExportStatus;

/// The label of the button that copies the import steps.
pub(crate) const COPY_NOTES: &str = "Copy import steps";

/// The height of the rest of the report with some notes, and of the margins of its window, points.
const HEIGHT_WITHOUT_STEPS: f32 = 240.0;

/// The least height of the import steps, points.
const MIN_STEPS_HEIGHT: f32 = 64.0;

/// What the user chose below a report.
pub(super) enum ReportResponse {
    ShowFolder(PathBuf),
    Close,
    AnotherExport,
}

/// The result of an export.
pub(super) struct Report {
    built: BuildReport,
    /// Whether the import steps were copied.
    is_copied: bool,
}

impl Report {
    pub(super) fn new(built: BuildReport) -> Self {
        Self { built, is_copied: false }
    }

    pub(super) fn ui(&mut self, ui: &mut Ui) -> Option<ReportResponse> {
        let BuildReport { files, notes, steps, took, .. } = &self.built;
        ui.heading("Exported");
        let folder = files.first().and_then(|file| file.parent()).unwrap_or(Path::new(".")).to_path_buf();
        let count = if files.len() == 1 { "1 file".into() } else { format!("{} files", files.len()) };
        let text = format!("{count} in {} ({:.1} s)", folder.display(), took.as_secs_f64());
        ui.add(egui::Label::new(text).selectable(true));
        for note in notes {
            ui.weak(note);
        }
        if !steps.is_empty() {
            ui.add_space(8.0);
            ui.label("Import steps");
            // The buttons stay in view in low windows.
            let height = (ui.ctx().content_rect().height() - HEIGHT_WITHOUT_STEPS).max(MIN_STEPS_HEIGHT);
            ui.scope(|ui| {
                // The room that the window had in the last frame may be too small.
                ui.set_max_height(height);
                visible_scroll_bars(ui);
                let list = ScrollArea::vertical().id_salt("export steps").max_height(height);
                list.auto_shrink([false, true]).show(ui, |ui| steps_ui(ui, steps));
            });
        }
        ui.add_space(8.0);
        let import_notes = self.import_notes();
        let name = if self.is_copied { "Copied" } else { COPY_NOTES };
        let mut copied = false;
        let (left, right) = egui::Sides::new().show(
            ui,
            |ui| {
                let opened = ui.button("Open folder").clicked();
                if let Some(notes) = import_notes
                    && ui.button(name).clicked()
                {
                    ui.ctx().copy_text(notes);
                    copied = true;
                }
                opened.then_some(ReportResponse::ShowFolder(folder))
            },
            |ui| {
                let close = default_button_ui(ui, "Close").then_some(ReportResponse::Close);
                let another = ui.button("Another export…").clicked().then_some(ReportResponse::AnotherExport);
                close.or(another)
            },
        );
        self.is_copied |= copied;
        left.or(right)
    }

    /// The import steps and the notes, one per line; `None` if there are no steps.
    pub(super) fn import_notes(&self) -> Option<String> {
        let BuildReport { notes, steps, .. } = &self.built;
        let mut lines = [&steps[..], &notes[..]].concat();
        lines.push(String::new());
        (!steps.is_empty()).then(|| lines.join("\n"))
    }
}

/// What the user chose while an export is running.
pub(super) enum RunningResponse {
    Close,
    Cancel,
}

/// Shows the progress of an export.
pub(super) fn running_ui(ui: &mut Ui, status: Option<&ExportStatus>) -> Option<RunningResponse> {
    ui.heading("Exporting");
    let fraction = status.map_or(0.0, |status| status.fraction);
    ui.label(status.map_or(String::new(), |status| file_name(&status.path)));
    ui.add(ProgressBar::new(fraction).desired_height(8.0));
    ui.weak(format!("{:.0} %. The export continues when this dialog is closed.", 100.0 * fraction));
    ui.add_space(8.0);
    let [close, cancel] = egui::Sides::new()
        .show(ui, |_| {}, |ui| [ui.button("Close").clicked(), ui.button("Cancel the export").clicked()])
        .1;
    let cancel = cancel.then_some(RunningResponse::Cancel);
    close.then_some(RunningResponse::Close).or(cancel)
}
