//! Searching by typing: the field, and how well an item matches the query.

use egui::{Role, TextEdit, Ui, WidgetInfo};
use egui_material_icons::icons::ICON_SEARCH;

use crate::app::widgets::theme::colours;

/// The texts by which an item is found: its name, a key or a place, and a sentence; all in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchTexts([String; 3]);

impl SearchTexts {
    pub(crate) fn new(name: &str, key: &str, doc: &str) -> Self {
        Self([name, key, doc].map(str::to_lowercase))
    }

    /// Replaces the name.
    pub(crate) fn with_name(self, name: &str) -> Self {
        let Self([_, key, doc]) = self;
        Self([name.to_lowercase(), key, doc])
    }

    /// How well the item matches all words, by the worst match: less is better; `None` if a word does not occur.
    pub(crate) fn rank(&self, words: &[String]) -> Option<usize> {
        let [name, key, doc] = &self.0;
        let rank = |word: &String| {
            let begins = |text: &str| text.split([' ', '-', '_']).any(|part| part.starts_with(word));
            let matches = [name.starts_with(word), begins(name), name.contains(word), key.contains(word), begins(doc)];
            matches.iter().position(|matches| *matches).or_else(|| doc.contains(word).then_some(matches.len()))
        };
        words.iter().map(rank).try_fold(0, |worst, rank| Some(worst.max(rank?)))
    }
}

/// The words of a query in lower case.
pub(crate) fn words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

/// Draws the search field, which holds the focus unless `is_inactive`; returns whether the query has changed.
pub(crate) fn search_field(ui: &mut Ui, query: &mut String, hint: &str, is_inactive: bool) -> bool {
    ui.label(ICON_SEARCH.rich_text().size(16.0).color(colours(ui).weak));
    let response = ui.add(TextEdit::singleline(query).hint_text(hint).desired_width(f32::INFINITY));
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, hint));
    let mut changed = response.changed();
    if is_inactive {
        return changed;
    }
    if !response.has_focus() {
        // The field gets the focus in the next frame; text typed until then is meant for it.
        let typed: String = ui.input(|input| typed_texts(&input.events).collect());
        changed |= !typed.is_empty();
        query.push_str(&typed);
    }
    response.request_focus();
    changed
}

/// The texts that were typed in some events.
pub(crate) fn typed_texts(events: &[egui::Event]) -> impl Iterator<Item = &str> {
    events.iter().filter_map(|event| match event {
        egui::Event::Text(text) => Some(text.as_str()),
        _ => None,
    })
}
