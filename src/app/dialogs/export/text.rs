//! Texts of the export dialog: files, sizes and durations.

use egui::{ScrollArea, Ui};

use crate::app::dialogs::byte_size::bytes;
use crate::app::document::file_name;
use crate::app::widgets::capitalised;
use crate::files::export::{FileKind, PlannedFile};
use crate::files::targets;

/// Shows import steps in a list of limited height.
pub(super) fn steps_ui(ui: &mut Ui, steps: &[String], height: f32) {
    ScrollArea::vertical().id_salt("export steps").max_height(height).auto_shrink([false, true]).show(ui, |ui| {
        for (at, step) in steps.iter().enumerate() {
            // The window names the target already.
            let own = targets::ALL.iter().find_map(|target| step.strip_prefix(target.label)?.strip_prefix(": "));
            ui.label(format!("{}. {}", at + 1, own.map_or(step.clone(), capitalised)));
        }
    });
}

/// The name, size and maximum length of a file.
pub(super) fn file_line(file: &PlannedFile) -> String {
    let size = file.size.map_or(String::new(), |[width, height]| format!(", {width} × {height}"));
    let max = file.max_bytes.map_or(String::new(), |count| format!(", up to {}", bytes(count)));
    // A README says nothing without its folder.
    let folder = file
        .path
        .parent()
        .filter(|_| file.kind == FileKind::Helper)
        .map_or(String::new(), |folder| format!("{}/", file_name(folder)));
    format!("{folder}{}{size}{max}", file_name(&file.path))
}

/// An estimated duration, rounded up to one digit.
pub(super) fn duration(seconds: f64) -> String {
    let rounded = |count: f64| {
        let power = libm::pow(10.0, libm::floor(libm::log10(count.max(1.0))));
        (count / power).ceil() * power
    };
    match seconds {
        ..60.0 => format!("{:.0} s", rounded(seconds)),
        60.0..3600.0 => format!("{:.0} min", rounded(seconds / 60.0)),
        _ => format!("{:.0} h", rounded(seconds / 3600.0)),
    }
}
