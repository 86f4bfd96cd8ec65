//! What is drawn over views: notes, scale bars, the north arrow, the state of the update.

use egui::{
    Align2, Color32, Context, FontId, Id, LayerId, Order, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo,
};

use crate::app::preview::request::PreviewStatus;
use crate::app::widgets::theme::{Colours, colours, colours_of};
use crate::scene::scale::round_length;

/// A length in metres, or in kilometres from 1000 m on.
pub(crate) fn length(metres: f64) -> String {
    if metres >= 1000.0 {
        let km = format!("{:.2}", metres / 1000.0);
        format!("{} km", km.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format!("{metres:.0} m")
    }
}

/// Draws the translucent background of text over a view.
pub(crate) fn text_background(painter: &egui::Painter, place: Rect, colours: &Colours) {
    painter.rect_filled(place, 4.0, colours.text_background);
}

/// The font of text over a view.
fn small() -> FontId {
    FontId::proportional(11.0)
}

/// Draws a text with a background over a view, in lines that fit into it.
pub(crate) fn note(ui: &Ui, painter: &egui::Painter, anchor: Align2, at: Pos2, text: &str) {
    let colours = colours(ui);
    let width = painter.clip_rect().width() - 2.0 * (NOTE_MARGIN.x + 8.0);
    let galley = painter.layout(text.into(), small(), colours.text, width.max(80.0));
    let place = anchor.anchor_size(at, galley.size() + 2.0 * NOTE_MARGIN);
    text_background(painter, place, &colours);
    painter.galley(place.min + NOTE_MARGIN, galley, colours.text);
}

/// The margin around the text of a note, in points.
const NOTE_MARGIN: Vec2 = Vec2::new(8.0, 3.0);

/// The size of a [`note`] with its background.
pub(crate) fn note_size(painter: &egui::Painter, text: &str) -> Vec2 {
    painter.layout_no_wrap(text.into(), small(), Color32::WHITE).size() + 2.0 * NOTE_MARGIN
}

/// Draws a scale bar of a round length in the lower left corner; returns its place.
pub(crate) fn scale_bar(ui: &Ui, painter: &egui::Painter, rect: Rect, pixels_per_m: f32) -> Rect {
    let colours = colours(ui);
    let length_m = round_length(0.3 * rect.width() / pixels_per_m);
    let width = length_m * pixels_per_m;
    let galley = painter.layout_no_wrap(length(f64::from(length_m)), small(), colours.text);
    let size = Vec2::new(width.max(galley.size().x) + 16.0, 24.0);
    let place = Rect::from_min_size(rect.left_bottom() + Vec2::new(8.0, -8.0 - size.y), size);
    text_background(painter, place, &colours);
    painter.galley(place.min + Vec2::new(8.0, 2.0), galley, colours.text);
    let y = place.bottom() - 5.0;
    let start = place.left() + 8.0;
    let stroke = Stroke::new(1.5, colours.text);
    painter.hline(start..=start + width, y, stroke);
    for x in [start, start + width] {
        painter.vline(x, y - 3.0..=y, stroke);
    }
    place
}

/// Draws the north arrow beside a map's scale bar.
pub(crate) fn north_arrow(ui: &Ui, painter: &egui::Painter, bar: Rect) {
    let colours = colours(ui);
    let place = Rect::from_min_size(bar.right_top() + Vec2::new(4.0, 0.0), Vec2::new(20.0, bar.height()));
    text_background(painter, place, &colours);
    let top = place.center_top() + Vec2::new(0.0, 3.0);
    let wing = |x: f32| top + Vec2::new(x, 6.0);
    painter.add(egui::Shape::convex_polygon(vec![top, wing(3.5), wing(-3.5)], colours.text, Stroke::NONE));
    painter.text(place.center_bottom() - Vec2::new(0.0, 1.0), Align2::CENTER_BOTTOM, "N", small(), colours.text);
}

/// Draws in the upper right corner whether the view is out of date.
pub(crate) fn status_chip(ui: &Ui, painter: &egui::Painter, rect: Rect, status: &PreviewStatus) {
    let colours = colours(ui);
    let colour = match status {
        PreviewStatus::Current => return,
        PreviewStatus::Updating(_) => colours.text,
        PreviewStatus::Cancelled | PreviewStatus::Failed => colours.accent_text,
    };
    let galley = painter.layout_no_wrap(status.text(), small(), colour);
    let size = Vec2::new(132.0_f32.max(galley.size().x + 16.0), 20.0);
    let place = Align2::RIGHT_TOP.anchor_size(rect.right_top() + Vec2::new(-8.0, 8.0), size);
    text_background(painter, place, &colours);
    painter.galley(place.min + Vec2::new(8.0, 3.0), galley, colour);
}

/// Draws a message at the bottom of the window, over the dialog that is open.
pub(crate) fn message_over_dialog(ctx: &Context, text: &str, is_error: bool) {
    let layer = LayerId::new(Order::Tooltip, Id::unique("message over the dialog"));
    let (window, colours) = (ctx.content_rect(), colours_of(ctx));
    let colour = if is_error { colours.error } else { colours.text };
    let at = window.center_bottom() - Vec2::new(0.0, 8.0);
    let anchor = (Align2::CENTER_BOTTOM, at);
    wrapped_note(&ctx.layer_painter(layer), &colours, anchor, window.width(), (text, colour));
}

/// Draws a text with a background, in lines that fit into a width; returns its place.
fn wrapped_note(
    painter: &egui::Painter,
    colours: &Colours,
    (anchor, at): (Align2, Pos2),
    width: f32,
    (text, colour): (&str, Color32),
) -> Rect {
    const MARGIN: Vec2 = Vec2::new(10.0, 4.0);
    let galley = painter.layout(text.into(), FontId::proportional(12.0), colour, width - 48.0);
    let place = anchor.anchor_size(at, galley.size() + 2.0 * MARGIN);
    text_background(painter, place, colours);
    painter.galley(place.min + MARGIN, galley, colour);
    place
}

/// Draws a note at the top of a view.
pub(crate) fn before_note(ui: &Ui, pane: Rect, text: &str) {
    let (colours, painter) = (colours(ui), ui.painter().with_clip_rect(pane));
    let at = pane.center_top() + Vec2::new(0.0, 40.0);
    let place = wrapped_note(&painter, &colours, (Align2::CENTER_TOP, at), pane.width(), (text, colours.accent_text));
    let response = ui.interact(place, ui.scope_id().with("before"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lengths_are_in_kilometres() {
        assert_eq!([950.0, 1000.0, 2500.0, 12_345.0].map(length), ["950 m", "1 km", "2.5 km", "12.35 km"]);
    }
}
