//! The dialog for the size of a rendered image of the 3-D view, or for a turntable.

use egui::Context;

use crate::app::widgets::modal;
use crate::app::widgets::typed_number::Quantity;
use crate::files::formats::image::{RENDER_SIDES, TURNTABLE_FRAMES};

/// Common sizes.
const SIZES: [([u32; 2], &str); 4] =
    [([1920, 1080], "Full HD"), ([2560, 1440], "QHD"), ([3840, 2160], "4K"), ([2048, 2048], "Square")];

/// What the user chose in the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RenderDialogResponse {
    ChooseFile {
        size: [u32; 2],
        /// The images of a turntable; `None` for a single image of the view.
        frames: Option<u32>,
    },
    Close,
}

/// The dialog and its settings.
pub(crate) struct RenderDialog {
    size: [u32; 2],
    frames: Option<u32>,
}

impl RenderDialog {
    /// For a single image.
    pub(crate) fn single() -> Self {
        Self { size: SIZES[0].0, frames: None }
    }

    /// For a turntable.
    pub(crate) fn turntable() -> Self {
        Self { size: SIZES[0].0, frames: Some(72) }
    }

    /// Draws the dialog; returns `Some` once the user has decided.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<RenderDialogResponse> {
        let mut result = None;
        let modal = modal("render", ctx).stay_on_outside_click().show(ctx, |ui| {
            ui.set_width(360.0);
            if self.frames.is_some() {
                ui.heading("Save turntable");
                ui.weak("Numbered images once around the terrain, beginning with the direction of the view.");
            } else {
                ui.heading("Image of the 3-D view");
                ui.weak("The view as it is now, without its controls.");
            }
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                for (size, name) in SIZES {
                    if ui.selectable_label(self.size == size, name).clicked() {
                        self.size = size;
                    }
                }
            });
            ui.horizontal(|ui| {
                for (side, label) in self.size.iter_mut().zip(["Width", "Height"]) {
                    let name = ui.label(label);
                    let field = Quantity { unit: "px", ..Quantity::count(label, RENDER_SIDES) };
                    field.ui(ui, side, |field| field.speed(4.0)).labelled_by(name.id);
                }
            });
            if let Some(frames) = &mut self.frames {
                ui.horizontal(|ui| {
                    let name = ui.label("Frames");
                    let field = Quantity::count("Frames", TURNTABLE_FRAMES);
                    field.ui(ui, frames, |field| field.speed(0.25)).labelled_by(name.id);
                });
            }
            ui.add_space(8.0);
            egui::Sides::new().show(
                ui,
                |_| {},
                |ui| {
                    if ui.button("Choose file…").clicked() {
                        result = Some(RenderDialogResponse::ChooseFile { size: self.size, frames: self.frames });
                    }
                    if ui.button("Cancel").clicked() {
                        result = Some(RenderDialogResponse::Close);
                    }
                },
            );
        });
        result.or_else(|| modal.should_close().then_some(RenderDialogResponse::Close))
    }
}
