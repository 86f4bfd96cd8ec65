//! Cards with a thumbnail, a name and a description, and the thumbnails themselves.

use std::ops::RangeInclusive;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Color32, FontId, Galley, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons::ICON_LANDSCAPE;

use crate::app::preview::thumbnails::ThumbnailState;
use crate::app::widgets::theme::colours;

/// The margin around the thumbnail, points.
const MARGIN: f32 = 4.0;

/// The sizes of a card, points.
pub(crate) struct CardLayout {
    pub(crate) size: Vec2,
    pub(crate) thumbnail: Vec2,
    /// Whether the text is at the right of the thumbnail; else it is below.
    pub(crate) is_wide: bool,
    /// The most lines of the description.
    pub(crate) doc_lines: usize,
}

impl CardLayout {
    /// The rectangles of the thumbnail and of the text.
    fn areas(&self, card: Rect) -> [Rect; 2] {
        let thumbnail = Rect::from_min_size(card.min + Vec2::splat(MARGIN), self.thumbnail);
        let text = if self.is_wide {
            Pos2::new(thumbnail.right() + 10.0, card.top() + 6.0)
        } else {
            Pos2::new(card.left() + 8.0, thumbnail.bottom() + MARGIN)
        };
        [thumbnail, Rect::from_min_max(text, card.max - Vec2::splat(8.0))]
    }
}

/// Draws a card whose thumbnail `thumbnail_ui` draws. Its tooltip has the name and the description where one is truncated.
pub(crate) fn card_ui(
    ui: &mut Ui,
    layout: &CardLayout,
    name: &str,
    doc: &str,
    is_selected: bool,
    thumbnail_ui: impl FnOnce(&Ui, Rect, &Response),
) -> Response {
    let (rect, response) = ui.allocate_exact_size(layout.size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(doc));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let colours = colours(ui);
    let painter = ui.painter();
    let fill = if is_selected { colours.hovered } else { colours.raised };
    let line = if is_selected { colours.accent } else { colours.raised };
    painter.rect(rect, 4.0, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    let [thumbnail, text] = layout.areas(rect);
    painter.rect_filled(thumbnail, 3.0, colours.sunken);
    thumbnail_ui(ui, thumbnail, &response);
    let lines = |text_of: &str, size: f32, colour: Color32, rows: usize| -> std::sync::Arc<Galley> {
        let format = TextFormat { font_id: FontId::proportional(size), color: colour, ..Default::default() };
        let mut job = LayoutJob::single_section(text_of.to_string(), format);
        (job.wrap.max_width, job.wrap.max_rows) = (text.width(), rows);
        painter.layout_job(job)
    };
    let title = lines(name, 13.0, colours.text, 1);
    let doc_lines = |text_of: &str| lines(text_of, 11.0, colours.weak, layout.doc_lines);
    let whole = doc_lines(doc);
    let is_long = whole.elided;
    let shorter = beginnings(doc).filter(|_| is_long).map(|beginning| doc_lines(&beginning));
    let doc_text = shorter.into_iter().find(|text| !text.elided).unwrap_or(whole);
    let below = text.min + Vec2::new(0.0, title.size().y + 1.0);
    let (has_whole_name, is_truncated) = (!title.elided, title.elided || is_long);
    painter.galley(text.min, title, colours.text);
    painter.galley(below, doc_text, colours.weak);
    let tooltip = || if has_whole_name { doc.into() } else { format!("{name}\n{doc}") };
    if is_truncated { response.on_hover_text(tooltip()) } else { response }
}

/// The least length of the beginning of a description, bytes.
const MIN_BEGINNING: usize = 20;

/// The beginnings of a description that can stand alone, longer ones first: up to the end of a sentence, or else up to a
/// colon or a comma.
fn beginnings(doc: &str) -> impl Iterator<Item = String> {
    [". ", ": ", ", "].into_iter().flat_map(move |end| {
        let places = doc.rmatch_indices(end).map(|(at, _)| at).filter(|at| *at >= MIN_BEGINNING);
        places.map(|at| format!("{}.", &doc[..at]))
    })
}

/// Draws a thumbnail, cropped around its centre to the aspect ratio of `rect`. Only the columns in `span`, fractions of
/// its width, are drawn, in their place.
pub(crate) fn thumbnail_ui(ui: &Ui, rect: Rect, state: Option<&ThumbnailState>, span: RangeInclusive<f32>) {
    let colours = colours(ui);
    let [left, right] = [*span.start(), *span.end()];
    let x = |share: f32| egui::lerp(rect.x_range(), share);
    let part = Rect::from_x_y_ranges(x(left)..=x(right), rect.y_range());
    match state {
        Some(ThumbnailState::Ready(texture)) => {
            let (own, shown) = (texture.aspect_ratio(), rect.aspect_ratio());
            let crop =
                Rect::from_center_size(Pos2::new(0.5, 0.5), Vec2::new((shown / own).min(1.0), (own / shown).min(1.0)));
            let u = |share: f32| egui::lerp(crop.x_range(), share);
            let crop = Rect::from_x_y_ranges(u(left)..=u(right), crop.y_range());
            ui.painter().image(texture.id(), part, crop, Color32::WHITE);
        }
        Some(ThumbnailState::Failed) => {
            let font = FontId::new(24.0, ICON_LANDSCAPE.font_family());
            ui.painter().text(part.center(), Align2::CENTER_CENTER, ICON_LANDSCAPE.codepoint, font, colours.weak);
        }
        Some(ThumbnailState::Pending) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_shortened_to_whole_clauses() {
        let found: Vec<String> =
            beginnings("Cuts valleys into the terrain: rivers, gullies. Leaves ridges, spurs.").collect();
        let cut = "Cuts valleys into the terrain";
        assert_eq!(found[..2], [format!("{cut}: rivers, gullies."), format!("{cut}.")]);
        assert_eq!(beginnings("After R. Krten's article of 1994.").count(), 0);
    }
}
