//! The "About" dialog: the version, and where the editor stores its files.

use std::path::PathBuf;

use egui::Context;

use crate::app::dialogs::byte_size::bytes;
use crate::app::document::MAX_BYTES;
use crate::app::tasks::settings::UserFolders;
use crate::app::widgets::{default_button_ui, modal};
use crate::files::io::memory::{available_bytes, cache_bytes};

/// What the user clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AboutResponse {
    ShowFolder(PathBuf),
    Close,
}

/// Draws the dialog. Returns what the user clicked.
pub(crate) fn about_ui(ctx: &Context, folders: &UserFolders) -> Option<AboutResponse> {
    let mut response = None;
    let modal = modal("about", ctx).show(ctx, |ui| {
        ui.set_width(400.0);
        ui.heading(format!("Upthrust {}", env!("CARGO_PKG_VERSION")));
        ui.label(
            "A terrain editor that raises landscapes by fault formation. An upthrust is the block that a fault lifts.",
        );
        ui.weak("Licensed under MIT or Apache-2.0, at your option.");
        ui.add_space(8.0);
        let folders = [("Settings and your presets", &folders.config), ("Unsaved work", &folders.state)];
        for (contents, folder) in folders {
            ui.label(contents);
            match folder {
                Some(folder) => {
                    let path = folder.display().to_string();
                    if ui.link(&path).on_hover_text("Show the folder").clicked() {
                        response = Some(AboutResponse::ShowFolder(folder.clone()));
                    }
                }
                None => {
                    ui.weak("not saved: no home folder was found");
                }
            }
        }
        ui.label("Memory");
        let (cache, free) = (bytes(cache_bytes() as u64), available_bytes().map(bytes));
        let free = free.map_or(String::new(), |free| format!("; {free} are free"));
        ui.weak(format!("Previews cache up to {cache}, and the history keeps up to {}{free}", bytes(MAX_BYTES as u64)));
        ui.add_space(8.0);
        egui::Sides::new().show(ui, |_| {}, |ui| default_button_ui(ui, "Close")).1
    });
    response.or((modal.inner || modal.should_close()).then_some(AboutResponse::Close))
}
