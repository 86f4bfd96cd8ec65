//! The window in which one says how large a picture of the view is to be, or how many pictures all around it.

use egui::{Context, DragValue};

use crate::app::widgets::modal;
use crate::files::texture::{RENDER_SIDES, TURNTABLE_FRAMES};

/// Sizes that people ask for.
const SIZES: [([u32; 2], &str); 4] =
    [([1920, 1080], "Full HD"), ([2560, 1440], "QHD"), ([3840, 2160], "4K"), ([2048, 2048], "Square")];

/// What the user wants of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    ChooseFile {
        size: [u32; 2],
        /// How many pictures all around the land; `None`: one, as the view is.
        frames: Option<u32>,
    },
    Close,
}

/// The window.
pub(crate) struct RenderDialog {
    size: [u32; 2],
    frames: Option<u32>,
}

impl RenderDialog {
    /// For one picture.
    pub(crate) fn single() -> Self {
        Self { size: SIZES[0].0, frames: None }
    }

    /// For pictures all around the land.
    pub(crate) fn turntable() -> Self {
        Self { size: SIZES[0].0, frames: Some(72) }
    }

    /// Draws it; `Some` once the user has decided.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<Decision> {
        let mut decision = None;
        let modal = modal("picture", ctx).show(ctx, |ui| {
            ui.set_width(360.0);
            if self.frames.is_some() {
                ui.heading("Turntable of the 3-D view");
                ui.weak("Once around the whole land, beginning with the direction of the view, in numbered files.");
            } else {
                ui.heading("Picture of the 3-D view");
                ui.weak("As the view looks now, without its controls.");
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
                for (side, name) in self.size.iter_mut().zip(["Width", "Height"]) {
                    let label = ui.label(name);
                    let value = DragValue::new(side).range(RENDER_SIDES).speed(4.0).suffix(" px");
                    ui.add(value).labelled_by(label.id);
                }
            });
            if let Some(frames) = &mut self.frames {
                ui.horizontal(|ui| {
                    let label = ui.label("Frames");
                    ui.add(DragValue::new(frames).range(TURNTABLE_FRAMES).speed(0.25)).labelled_by(label.id);
                });
            }
            ui.add_space(8.0);
            egui::Sides::new().show(
                ui,
                |_| {},
                |ui| {
                    if ui.button("Choose where…").clicked() {
                        decision = Some(Decision::ChooseFile { size: self.size, frames: self.frames });
                    }
                    if ui.button("Cancel").clicked() {
                        decision = Some(Decision::Close);
                    }
                },
            );
        });
        decision.or_else(|| modal.should_close().then_some(Decision::Close))
    }
}
