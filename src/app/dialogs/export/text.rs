//! Texts of the export dialog: files, sizes and durations.

use egui::Ui;

use crate::app::dialogs::byte_size::bytes;
use crate::app::document::file_name;
use crate::app::widgets::capitalised;
use crate::files::export::{FileKind, Order, PlannedFile};
use crate::files::io::folders::folder_of;
use crate::files::targets;

/// Shows import steps. Notes on what was not verified have no numbers, because there is nothing to do for them.
pub(super) fn steps_ui(ui: &mut Ui, steps: &[String]) {
    let mut number = 0;
    for step in steps {
        // The window names the target already.
        let own = |separator| targets::ALL.iter().find_map(|it| step.strip_prefix(it.label)?.strip_prefix(separator));
        if let Some(note) = own(", not verified: ") {
            ui.weak(format!("Not verified: {note}"));
            continue;
        }
        number += 1;
        ui.label(format!("{number}. {}", own(": ").map_or(step.clone(), capitalised)));
    }
}

/// The name, size and maximum length of a file of an order.
pub(super) fn file_line(file: &PlannedFile, order: &Order) -> String {
    let size = file.size.map_or(String::new(), |[width, height]| format!(", {width} × {height}"));
    let max = file.max_bytes.map_or(String::new(), |count| format!(", up to {}", bytes(count)));
    // A README says nothing without its folder.
    let folder =
        order.manifest.as_ref().map(|manifest| folder_of(&manifest.path)).filter(|_| file.kind == FileKind::Helper);
    let inside = folder.and_then(|folder| file.path.strip_prefix(folder).ok());
    let name = inside.map_or_else(|| file_name(&file.path), |path| path.display().to_string());
    format!("{name}{size}{max}")
}

/// An estimated duration, rounded up by at most a fifth, or to a whole unit.
pub(super) fn duration(seconds: f64) -> String {
    let rounded = |count: f64| {
        let power = libm::pow(10.0, libm::floor(libm::log10(count.max(1.0))));
        let step = (0.2 * power).max(1.0);
        (count / step).ceil() * step
    };
    match seconds {
        ..60.0 => format!("{:.0} s", rounded(seconds)),
        60.0..3600.0 => format!("{:.0} min", rounded(seconds / 60.0)),
        _ => format!("{:.0} h", rounded(seconds / 3600.0)),
    }
}
