//! What the program is, and where it keeps what.

use std::path::PathBuf;

use egui::Context;

use crate::app::tasks::settings::UserFolders;
use crate::app::widgets::modal;

/// What the user wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    ShowFolder(PathBuf),
    Close,
}

pub(crate) fn about_ui(ctx: &Context, folders: &UserFolders) -> Option<Decision> {
    let mut decision = None;
    let modal = modal("about", ctx).show(ctx, |ui| {
        ui.set_width(400.0);
        ui.heading(format!("Upthrust {}", env!("CARGO_PKG_VERSION")));
        ui.label(
            "A terrain editor that raises landscapes by fault formation. An upthrust is the block that a fault lifts.",
        );
        ui.weak("MIT or Apache-2.0, at your choice.");
        ui.add_space(8.0);
        let kept = [("Settings and presets of your own", &folders.config), ("Unsaved work", &folders.state)];
        for (what, folder) in kept {
            ui.label(what);
            match folder {
                Some(folder) => {
                    let path = folder.display().to_string();
                    if ui.link(&path).on_hover_text("Show the folder").clicked() {
                        decision = Some(Decision::ShowFolder(folder.clone()));
                    }
                }
                None => {
                    ui.weak("is not kept: there is no home folder here");
                }
            }
        }
        ui.add_space(8.0);
        ui.button("Close").clicked()
    });
    decision.or((modal.inner || modal.should_close()).then_some(Decision::Close))
}
