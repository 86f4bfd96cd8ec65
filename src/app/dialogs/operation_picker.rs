//! The operation picker: every operation as a card with its thumbnail, found by typing.

use egui::{Popup, PopupCloseBehavior, Pos2, Rect, RectAlign, Response, RichText, Stroke, Ui, Vec2};

use crate::app::commands::Command;
use crate::app::dialogs::operation_examples::{base_request, example_request};
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::search::{SearchTexts, typed_texts};
use crate::app::widgets::search_list::{Arrangement, SearchItem, SearchLayout, SearchList};
use crate::app::widgets::theme::colours;
use crate::app::widgets::thumbnail_card::{CardLayout, card_ui, thumbnail_ui};
use crate::engine::AnyOperation;
use crate::engine::cast::ToFloat;
use crate::engine::operations::Role;

/// The layout of a card.
const CARD: CardLayout =
    CardLayout { size: Vec2::new(352.0, 72.0), thumbnail: Vec2::new(96.0, 64.0), is_wide: true, doc_lines: 3 };

/// The width of a thumbnail, pixels: two per point, for high-density screens.
const PIXELS: usize = 192;

/// The gap between cards, points.
const GAP: f32 = 4.0;

/// The height of a section's heading, points.
const HEADING: f32 = 24.0;

/// In windows at least this wide, points, the sections are next to each other; in narrower ones they are one below
/// another, so that the views stay visible.
const WIDE_WINDOW: f32 = 1500.0;

/// The sections in their order.
const SECTIONS: [(Role, &str); 2] = [(Role::Generator, "Generate"), (Role::Modifier, "Modify")];

/// The key of the thumbnail of the terrain before a modifier.
const BEFORE: &str = "before";

/// An operation with its default parameters.
struct Entry {
    operation: AnyOperation,
    texts: SearchTexts,
}

/// The popup from which steps are added.
pub(crate) struct OperationPicker {
    entries: Vec<Entry>,
    is_open: bool,
    list: SearchList,
}

impl OperationPicker {
    pub(crate) fn new() -> Self {
        let entry = |operation: AnyOperation| {
            let texts = SearchTexts::new(operation.label(), operation.key(), operation.doc());
            let texts = texts.with_words(operation.words());
            Entry { operation, texts }
        };
        let entries = AnyOperation::all().into_iter().map(entry).collect();
        Self { entries, is_open: false, list: SearchList::default() }
    }

    /// Opens the picker with a query that was typed before it opened.
    pub(crate) fn open(&mut self, thumbnails: &mut Thumbnails, query: String) {
        let aspect = CARD.thumbnail.y / CARD.thumbnail.x;
        thumbnails.request(BEFORE, || base_request(BEFORE, PIXELS, aspect));
        for Entry { operation, .. } in &self.entries {
            thumbnails.request(operation.key(), || example_request(operation, PIXELS, aspect));
        }
        self.is_open = true;
        self.list = SearchList::new(query);
    }

    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Draws the picker, if it is open, below the button that opens it; returns the chosen operation as a command.
    pub(crate) fn ui(&mut self, button: &Response, thumbnails: &Thumbnails) -> Option<Command> {
        if !self.is_open {
            return None;
        }
        let window = button.ctx.content_rect();
        let is_wide = window.width() >= WIDE_WINDOW;
        let arrangement = if is_wide { Arrangement::Columns } else { Arrangement::Rows(1) };
        // Over the panel rather than over the views.
        let corner = Pos2::new(window.left() + 8.0, button.rect.bottom() + 6.0);
        let mut open = true;
        let popup = Popup::from_response(button)
            .id(egui::Id::unique("operation picker"))
            .at_position(corner)
            .align(RectAlign::BOTTOM_START)
            .gap(0.0)
            .open_bool(&mut open)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .accessible_name("Add a step");
        // Above the timeline, if there is enough room.
        let max_height = window.bottom() - 72.0 - corner.y;
        let shown = popup.show(|ui| self.content_ui(ui, thumbnails, arrangement, max_height));
        let added = shown.and_then(|shown| shown.inner);
        self.is_open &= open && added.is_none();
        added.map(Command::AddStep)
    }

    fn content_ui(
        &mut self,
        ui: &mut Ui,
        thumbnails: &Thumbnails,
        arrangement: Arrangement,
        max_height: f32,
    ) -> Option<&'static str> {
        let columns = if arrangement == Arrangement::Columns { SECTIONS.len() } else { 1 };
        // With room for the scroll bar.
        ui.set_width(columns.to_f32() * (CARD.size.x + 8.0) + 4.0);
        let hint = "Search by name or by what it does";
        ui.horizontal(|ui| self.list.field_ui(ui, hint, arrangement, false));
        ui.add_space(4.0);
        let layout = SearchLayout {
            sections: &SECTIONS.map(|(_, title)| title),
            arrangement,
            item_width: CARD.size.x,
            gap: GAP,
            height: self.full_height(arrangement).min(max_height - 76.0).max(CARD.size.y),
            empty: "No step matches. Try what it does: smooth, cut, hills… Help > Find a command also searches tools.",
        };
        let section = |role: Role| SECTIONS.iter().position(|(known, _)| *known == role).unwrap_or_default();
        let items = self.entries.iter().map(|Entry { operation, texts }| {
            let section = section(operation.role());
            SearchItem { section, texts, is_enabled: true }
        });
        let items: Vec<SearchItem> = items.collect();
        let chosen = self.list.items_ui(ui, &layout, &items, |ui, i, is_selected| {
            let operation = &self.entries[i].operation;
            card_ui(ui, &CARD, operation.label(), operation.doc(), is_selected, |ui, rect, _| {
                example_ui(ui, rect, operation, thumbnails);
            })
        });
        ui.add_space(2.0);
        let keys = "Arrow keys select, Enter adds, Esc closes";
        ui.label(RichText::new(keys).size(11.0).color(colours(ui).weak));
        chosen.map(|i| self.entries[i].operation.key())
    }

    /// The height of the list with all operations, also while fewer match, so that the layout does not jump.
    fn full_height(&self, arrangement: Arrangement) -> f32 {
        let count = |role| self.entries.iter().filter(|entry| entry.operation.role() == role).count().to_f32();
        let heights = SECTIONS.map(|(role, _)| HEADING + count(role) * (CARD.size.y + GAP));
        match arrangement {
            Arrangement::Columns => heights.into_iter().fold(0.0, f32::max),
            Arrangement::Rows(_) => heights.iter().sum(),
        }
    }
}

/// The text typed after the shortcut that opens the picker, in the same frame.
pub(crate) fn text_typed_ahead(ctx: &egui::Context) -> String {
    ctx.input(|input| typed_texts(&input.events).skip_while(|text| *text != "A").skip(1).collect())
}

/// The terrain of an operation; of a modifier, before it on the left and after it on the right.
fn example_ui(ui: &Ui, rect: Rect, operation: &AnyOperation, thumbnails: &Thumbnails) {
    let after = thumbnails.get(operation.key());
    match operation.role() {
        Role::Generator => thumbnail_ui(ui, rect, after, 0.0..=1.0),
        Role::Modifier => {
            thumbnail_ui(ui, rect, thumbnails.get(BEFORE), 0.0..=0.5);
            thumbnail_ui(ui, rect, after, 0.5..=1.0);
            ui.painter().vline(rect.center().x, rect.y_range(), Stroke::new(1.0, colours(ui).raised));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::widgets::search::words;

    #[test]
    fn operations_are_found_by_name_key_and_what_they_do() {
        let picker = OperationPicker::new();
        let ranked = |query: &str| -> Vec<(usize, &'static str)> {
            let words = words(query);
            let rank = |entry: &Entry| Some((entry.texts.rank(&words)?, entry.operation.key()));
            picker.entries.iter().filter_map(rank).collect()
        };
        let best = |query: &str| ranked(query).into_iter().min_by_key(|(rank, _)| *rank).map(|(_, key)| key);
        assert_eq!(best("terr"), Some("terrace"));
        assert_eq!(best("FAULTS"), Some("faults"));
        assert_eq!(best("blur gauss"), Some("gaussian_blur"));
        assert_eq!(best("edge_fade"), Some("edge_fade"));
        for (query, key) in [
            ("road", "paths"),
            ("river", "fluvial_erosion"),
            ("paint", "sculpt"),
            ("flat", "pads"),
            ("mirror", "symmetry"),
            ("cliff", "drawn_faults"),
            ("recursive", "recursive_filter"),
        ] {
            assert_eq!(best(query), Some(key), "{query}");
        }
        assert!(ranked("imported").iter().any(|(_, key)| *key == "heightmap"));
        assert!(ranked("terrace faults").is_empty());
        assert_eq!(ranked("  ").len(), picker.entries.len());
    }
}
