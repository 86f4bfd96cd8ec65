//! Searching by typing: the field, and how well an item matches the query.

use egui::{Role, TextEdit, Ui, WidgetInfo};
use egui_material_icons::icons::ICON_SEARCH;

use crate::app::widgets::theme::colours;

/// The texts by which an item is found, in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchTexts {
    name: String,
    /// Other words for it.
    words: String,
    /// Its key or its place.
    key: String,
    /// A sentence.
    doc: String,
    /// Whether items that are called so by other words come first.
    is_behind: bool,
}

/// Where a word occurs in a text; better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Occurrence {
    /// As a whole word.
    Whole,
    /// At the beginning of a word.
    Beginning,
    /// Elsewhere.
    Middle,
}

/// The best occurrence of a word in a text, `None` if it does not occur.
fn occurrence(text: &str, word: &str) -> Option<Occurrence> {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let kind = |(at, found): (usize, &str)| {
        let [before, after] = [text[..at].chars().next_back(), text[at + found.len()..].chars().next()];
        match (is_letter(before), is_letter(after)) {
            (false, false) => Occurrence::Whole,
            (false, true) => Occurrence::Beginning,
            (true, _) => Occurrence::Middle,
        }
    };
    text.match_indices(word).map(kind).min()
}

/// How far items rank lower that come behind others: below whole words.
const BEHIND: usize = 4;

impl SearchTexts {
    pub(crate) fn new(name: &str, key: &str, doc: &str) -> Self {
        let [name, key, doc] = [name, key, doc].map(str::to_lowercase);
        Self { name, words: String::new(), key, doc, is_behind: false }
    }

    /// Adds other words for the item.
    pub(crate) fn with_words(self, words: &str) -> Self {
        Self { words: words.to_lowercase(), ..self }
    }

    /// Ranks the item behind those of which a query is a name or another word.
    pub(crate) fn behind(self) -> Self {
        Self { is_behind: true, ..self }
    }

    /// Replaces the name.
    pub(crate) fn with_name(self, name: &str) -> Self {
        Self { name: name.to_lowercase(), ..self }
    }

    /// How well the item matches all words, by the worst match: less is better; `None` if a word does not occur. Whole
    /// words are better than beginnings of words, and the middle of a word counts only in names and keys.
    pub(crate) fn rank(&self, words: &[String]) -> Option<usize> {
        let behind = if self.is_behind { BEHIND } else { 0 };
        if words.len() > 1 && self.name.starts_with(&words.join(" ")) {
            return Some(behind);
        }
        words.iter().map(|word| self.rank_of(word)).try_fold(0, |worst, rank| Some(worst.max(behind + rank?)))
    }

    fn rank_of(&self, word: &str) -> Option<usize> {
        let Self { name, words, key, doc, .. } = self;
        let [in_name, in_words, in_key, in_doc] = [name, words, key, doc].map(|text| occurrence(text, word));
        let (whole, beginning, middle) =
            (Some(Occurrence::Whole), Some(Occurrence::Beginning), Some(Occurrence::Middle));
        let is_first = name.starts_with(word);
        let matches = [
            name == word,
            is_first && in_name == whole,
            in_name == whole,
            in_words == whole,
            is_first,
            in_name == beginning || in_words == beginning,
            in_key == whole || in_key == beginning,
            in_doc == whole,
            in_doc == beginning,
            in_name == middle || in_key == middle,
        ];
        matches.into_iter().position(|matches| matches)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_and_beginnings_are_found_before_middles() {
        let rank = |texts: SearchTexts| texts.rank(&words("road"));
        let ordered = [
            SearchTexts::new("Road", "", ""),
            SearchTexts::new("Road width", "", ""),
            SearchTexts::new("Paths", "", "").with_words("river road"),
            SearchTexts::new("Roads and paths", "", ""),
            SearchTexts::new("Draw roads", "", ""),
            SearchTexts::new("Paths", "road", ""),
            SearchTexts::new("Paths", "", "The grade of a road."),
            SearchTexts::new("Paths", "", "The grade of roads."),
            SearchTexts::new("Broad valley", "", ""),
        ];
        let ranks: Vec<usize> = ordered.into_iter().map(|texts| rank(texts).expect("found")).collect();
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
        let pass = words("mountain pass");
        let [title, others] = [SearchTexts::new("Mountain pass", "", ""), SearchTexts::new("Draw paths", "", "")];
        assert!(title.rank(&pass) < others.with_words("road mountain pass").rank(&pass));
        let erosion = words("erosion");
        let [step, others] = [SearchTexts::new("Fluvial erosion", "", ""), SearchTexts::new("Add step", "", "")];
        assert!(step.rank(&erosion) < others.with_words("erosion").rank(&erosion));
        assert_eq!(rank(SearchTexts::new("Valley", "", "A broad valley.")), None, "the middle of a word in a sentence");
    }
}
