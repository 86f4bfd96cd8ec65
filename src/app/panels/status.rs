//! The status bar: running jobs, the last message, and the terrain under the pointer.

use egui::{Align, Layout, RichText, Ui, Vec2};
use egui_material_icons::icons::ICON_CLOSE;

use crate::app::commands::Command;
use crate::app::document::EditId;
use crate::app::preview::request::PreviewStatus;
use crate::app::views::overlay::length;
use crate::app::widgets::icon_button;
use crate::app::widgets::theme::colours;
use crate::engine::analysis::slope_deg;
use crate::engine::cast::ToInteger;
use crate::worker::{ExportStatus, Preview};

/// A message in the status bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// A text that can be copied with a button.
    pub(crate) offer: Option<CopyableText>,
    /// Whether it stays as long as an error, because it says what was guessed.
    pub(crate) is_kept: bool,
    /// The edit that it is about: it disappears when that edit is undone.
    pub(crate) edit: Option<EditId>,
    /// The revision of the document, if it disappears with the next edit.
    pub(crate) until_after: Option<u64>,
    /// Whether it came while a dialog was open, which covers the status bar or leaves it dark.
    pub(crate) is_of_dialog: bool,
    /// When the user first did something while it was shown, seconds.
    seen_at_s: Option<f64>,
}

/// How long a message stays after the user has seen it, seconds: a note, and one that is an error or has a button.
const NOTE_TIME_S: f64 = 15.0;
const LONG_TIME_S: f64 = 60.0;

impl Message {
    pub(crate) fn new(text: impl Into<String>, is_error: bool) -> Self {
        Self {
            text: text.into(),
            is_error,
            offer: None,
            is_kept: false,
            edit: None,
            until_after: None,
            is_of_dialog: false,
            seen_at_s: None,
        }
    }

    /// The message as one about an edit.
    pub(crate) fn about(self, edit: EditId) -> Self {
        Self { edit: Some(edit), ..self }
    }

    /// The message as one about that revision of the document, such as input that was refused or adapted.
    pub(crate) fn about_revision(self, revision: u64) -> Self {
        Self { until_after: Some(revision), ..self }
    }

    /// How long the message still stays at the time `now_s`. The time of one that matters begins when the user does
    /// something (`is_active`), so that it is not missed by someone who was away; until then, this returns `None`.
    pub(crate) fn remaining_s(&mut self, now_s: f64, is_active: bool) -> Option<f64> {
        let is_long = self.is_error || self.is_kept || self.offer.is_some();
        if is_active || !is_long {
            self.seen_at_s.get_or_insert(now_s);
        }
        let time_s = if is_long { LONG_TIME_S } else { NOTE_TIME_S };
        Some(self.seen_at_s? + time_s - now_s)
    }
}

/// The width below which a message is shown without its copy button, points.
const MIN_WIDTH_FOR_COPY: f32 = 240.0;

/// A text that can be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyableText {
    /// The label of the button.
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// What the status bar shows.
pub(crate) struct StatusContext<'a> {
    pub(crate) message: Option<&'a Message>,
    pub(crate) preview: PreviewStatus,
    pub(crate) export: Option<ExportStatus>,
    pub(crate) shown: Option<&'a Preview>,
    /// The samples along the longer side of exports, while the views show those.
    pub(crate) export_samples: Option<u32>,
    pub(crate) crosshair_m: Option<[f64; 2]>,
}

pub(crate) fn status_ui(ui: &mut Ui, context: &StatusContext) -> Option<Command> {
    let mut command = None;
    // No content is higher than the bar, so that messages and progress never move the panels.
    ui.spacing_mut().button_padding.y = 0.0;
    ui.spacing_mut().interact_size.y = ui.available_height().min(20.0);
    ui.horizontal_centered(|ui| {
        if let Some(preview) = context.shown {
            ui.weak(terrain_text(preview, context.export_samples));
            ui.separator();
        }
        if let Some(export) = &context.export {
            let name = export.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let waiting = if export.waiting > 0 { format!(", {} waiting", export.waiting) } else { String::new() };
            ui.label(format!("Exporting {name}{waiting}"));
            command = progress_ui(ui, export.fraction).then_some(Command::CancelExport);
        } else if let PreviewStatus::Updating(fraction) = context.preview {
            ui.label("Computing");
            command = progress_ui(ui, fraction).then_some(Command::CancelPreview);
        }
        if context.preview == PreviewStatus::Cancelled {
            ui.label(RichText::new(context.preview.text()).color(colours(ui).accent_text));
            if ui.small_button(Command::UpdatePreview.text()).clicked() {
                command = Some(Command::UpdatePreview);
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let (Some(preview), Some([x_m, z_m])) = (context.shown, context.crosshair_m) {
                ui.label(RichText::new(probe_text(preview, x_m, z_m)).monospace());
                ui.separator();
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if let Some(message) = context.message {
                    let colour = if message.is_error { colours(ui).error } else { colours(ui).weak };
                    let text = RichText::new(&message.text).color(colour);
                    // The button is first, so that it does not move when the pointer leaves the views and their numbers
                    // disappear. Without room for both, the numbers are shown.
                    if let Some(offer) = message.offer.as_ref().filter(|_| ui.available_width() > MIN_WIDTH_FOR_COPY)
                        && ui.small_button(offer.name).clicked()
                    {
                        command = Some(Command::CopyMessageText);
                    }
                    let space = Vec2::new(ui.available_width() - 28.0, ui.available_height());
                    let place = Layout::left_to_right(Align::Center);
                    ui.scope_builder(
                        egui::UiBuilder::new()
                            .max_rect(egui::Rect::from_min_size(ui.cursor().min, space))
                            .layout(place),
                        |ui| {
                            // egui shows a shortened text under the pointer.
                            ui.add(egui::Label::new(text).truncate());
                        },
                    );
                    if icon_button(ui, ICON_CLOSE, "Dismiss the message").clicked() {
                        command = Some(Command::DismissMessage);
                    }
                }
            });
        });
    });
    command
}

/// The progress of a job with a button that cancels it; returns whether it was clicked.
fn progress_ui(ui: &mut Ui, fraction: f32) -> bool {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(120.0, 6.0), egui::Sense::hover());
    let done = egui::Rect::from_min_size(rect.min, Vec2::new(rect.width() * fraction.clamp(0.0, 1.0), rect.height()));
    ui.painter().rect_filled(rect, 3.0, colours(ui).sunken);
    ui.painter().rect_filled(done, 3.0, colours(ui).accent);
    ui.label(RichText::new(format!("{:>3.0} %", fraction * 100.0)).monospace());
    ui.small_button("Cancel").clicked()
}

/// The sizes of the preview and of the world, whether it is a sketch that is about to be refined or has the export's size,
/// and how long it took.
fn terrain_text(preview: &Preview, export_samples: Option<u32>) -> String {
    let grid = preview.terrain.grid();
    let extent = grid.extent();
    let world = if extent.is_square() {
        length(extent.width_m)
    } else {
        format!("{} × {}", length(extent.width_m), length(extent.depth_m))
    };
    let took = preview.elapsed.as_secs_f64() * 1000.0;
    let is_exported = export_samples.is_some_and(|samples| samples as usize == grid.width().max(grid.height()));
    let exported = if is_exported { " (export size)" } else { "" };
    let sketch = if preview.coarse { "Sketch of " } else { "" };
    format!("{sketch}{} × {}{exported} · {world} · {took:.0} ms", grid.width(), grid.height())
}

/// The position, height, slope and terrain type under the pointer, in columns that do not move.
fn probe_text(preview: &Preview, x_m: f64, z_m: f64) -> String {
    let grid = preview.terrain.grid();
    let nearest = |m: f64, spacing: f64, samples: usize| (m / spacing).round().to_usize().min(samples - 1);
    let c = nearest(x_m, grid.spacing_x_m(), grid.width());
    let r = nearest(z_m, grid.spacing_z_m(), grid.height());
    let (height, slope) = (preview.terrain.height_at(x_m, z_m), slope_deg(&preview.terrain, c, r));
    let names = preview.request.recipe.texture.active().map(|terrain_type| terrain_type.name.chars().count());
    let (longest, terrain_type) = (names.max().unwrap_or_default(), preview.type_at([x_m, z_m]));
    let name = terrain_type.map_or("", |terrain_type| &terrain_type.name);
    let height = without_sign_of_zero(height);
    let about = if preview.coarse { '≈' } else { ' ' };
    format!("x {x_m:>6.0} m  z {z_m:>6.0} m  height{about}{height:>7.1} m  {slope:>2.0}°  {name:<longest$}")
}

/// A height that is not written as −0.0 with one decimal.
fn without_sign_of_zero(height_m: f32) -> f32 {
    if height_m.abs() < 0.05 { 0.0 } else { height_m }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_near_zero_have_no_sign() {
        let text = |height_m: f32| format!("{:.1}", without_sign_of_zero(height_m));
        assert_eq!([-0.04, 0.0, -0.05, 0.06].map(text), ["0.0", "0.0", "-0.1", "0.1"]);
    }

    #[test]
    fn notes_disappear_and_errors_and_offers_after_they_were_seen() {
        let mut note = Message::new("Saved a.upthrust.json", false);
        assert_eq!(note.remaining_s(100.0, false), Some(NOTE_TIME_S));
        assert_eq!(note.remaining_s(110.0, true), Some(NOTE_TIME_S - 10.0));
        assert!(note.remaining_s(116.0, false).is_some_and(|left| left < 0.0));
        let offer = Some(CopyableText { name: "Copy", text: String::new() });
        for mut message in [Message::new("cannot save", true), Message { offer, ..Message::new("exported", false) }] {
            assert_eq!(message.remaining_s(1000.0, false), None, "nobody has seen it yet");
            assert_eq!(message.remaining_s(2000.0, true), Some(LONG_TIME_S));
            assert_eq!(message.remaining_s(2010.0, false), Some(LONG_TIME_S - 10.0));
        }
    }
}
