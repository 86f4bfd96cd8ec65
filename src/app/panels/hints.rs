//! Three short hints for the first start, one after another, each dismissed for good: by its button, or when the user
//! does what it says.

use std::collections::BTreeSet;

use egui::{Label, Layout, RichText, Ui};

use crate::app::widgets::main_button;
use crate::app::widgets::theme::colours;

struct Hint {
    /// The name under which its dismissal is saved.
    name: &'static str,
    text: &'static str,
}

/// The names of the hints. They are dismissed when the user plays or seeks, undoes an edit, or opens another project.
pub(crate) const TIMELINE: &str = "timeline";
pub(crate) const STACK: &str = "stack";
pub(crate) const PRESETS: &str = "presets";

const HINTS: [Hint; 3] = [
    Hint {
        name: TIMELINE,
        text: "Space plays and pauses the uplift. Drag along the timeline to seek in both directions.",
    },
    Hint { name: STACK, text: "You can move every slider while the terrain rises. Ctrl+Z undoes each edit." },
    Hint { name: PRESETS, text: "File > Presets has finished landscapes to start from, each with a thumbnail." },
];

/// Whether there is a hint that is not among the dismissed ones.
pub(crate) fn has_hint(dismissed: &BTreeSet<String>) -> bool {
    HINTS.iter().any(|hint| !dismissed.contains(hint.name))
}

/// Dismisses a hint if it is the one that is shown, because the user has done what it says.
pub(crate) fn follow(dismissed: &mut BTreeSet<String>, name: &str) {
    if HINTS.iter().find(|hint| !dismissed.contains(hint.name)).is_some_and(|hint| hint.name == name) {
        dismissed.insert(name.into());
    }
}

/// Draws the first hint that is not among the dismissed ones in a line, and adds it to them if the user dismisses it.
pub(crate) fn hints_ui(ui: &mut Ui, dismissed: &mut BTreeSet<String>) {
    let first = HINTS.iter().enumerate().find(|(_, hint)| !dismissed.contains(hint.name));
    let Some((index, hint)) = first else { return };
    let right = Layout::right_to_left(egui::Align::Center);
    ui.with_layout(right, |ui| {
        let no_more = ui.button("No more hints").clicked();
        let got_it = main_button(ui, "Got it", true).clicked();
        let count = RichText::new(format!("{} of {}", index + 1, HINTS.len())).size(11.0).color(colours(ui).weak);
        ui.label(count);
        ui.with_layout(Layout::left_to_right(egui::Align::Center), |ui| ui.add(Label::new(hint.text).truncate()));
        if got_it {
            dismissed.insert(hint.name.into());
        }
        if no_more {
            dismissed.extend(HINTS.iter().map(|hint| hint.name.to_string()));
        }
    });
}
