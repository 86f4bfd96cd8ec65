//! The dialog that offers the projects of an editor that crashed.

use std::time::Duration;

use egui::{Context, ScrollArea, Sides};

use crate::app::dialogs::byte_size::bytes;
use crate::app::document::name_of;
use crate::app::tasks::recovery::RecoveredProject;
use crate::app::widgets::{main_button, modal};

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryResponse {
    /// Open the project with that index.
    Open(usize),
    /// Ask again at the next start.
    Later,
    /// Discard all projects.
    Discard,
}

/// Draws the dialog. Returns the user's answer once there is one.
pub(crate) fn recovery_ui(ctx: &Context, projects: &[RecoveredProject]) -> Option<RecoveryResponse> {
    let modal = modal("recovery", ctx).stay_on_outside_click().show(ctx, |ui| {
        ui.set_width(440.0);
        ui.heading("Unsaved work from an earlier session");
        ui.label(if projects.len() == 1 { "This project was not saved:" } else { "These projects were not saved:" });
        ui.add_space(4.0);
        let mut response = None;
        ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
            for (i, recovered) in projects.iter().enumerate() {
                let name = name_of(&recovered.contents.project, recovered.path.as_deref());
                Sides::new().shrink_left().truncate().show(
                    ui,
                    |ui| {
                        ui.vertical(|ui| {
                            ui.strong(&name);
                            let age = recovered.time.elapsed().unwrap_or_default();
                            let path = recovered
                                .path
                                .as_ref()
                                .map_or("not saved yet".into(), |path| path.display().to_string());
                            ui.weak(format!("{}, {}, {path}", ago(age), bytes(recovered.size)));
                        });
                    },
                    |ui| {
                        let open = main_button(ui, "Open", true);
                        open.widget_info(|| {
                            egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Open {name}"))
                        });
                        if open.clicked() {
                            response = Some(RecoveryResponse::Open(i));
                        }
                    },
                );
                ui.add_space(4.0);
            }
        });
        ui.weak("Discarded projects are kept for a week (Help > About shows where).");
        ui.add_space(8.0);
        let discard = if projects.len() == 1 { "Discard" } else { "Discard all" };
        let (discard, later) =
            Sides::new().show(ui, |ui| ui.button(discard).clicked(), |ui| ui.button("Ask again later").clicked());
        response.or(discard.then_some(RecoveryResponse::Discard)).or(later.then_some(RecoveryResponse::Later))
    });
    // A click beside the dialog does not answer it: the dialog appears while the user may be clicking elsewhere.
    modal.inner.or(modal.should_close().then_some(RecoveryResponse::Later))
}

/// Returns the age in its largest unit.
pub(crate) fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..60 => return "just now".into(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_readable_units() {
        for (seconds, expected) in [
            (3, "just now"),
            (60, "1 minute ago"),
            (7300, "2 hours ago"),
            (90_000, "1 day ago"),
            (900_000, "10 days ago"),
        ] {
            assert_eq!(ago(Duration::from_secs(seconds)), expected);
        }
    }
}
