//! Finding by typing: the field, the keys, and how well something fits what was typed.

use egui::{Key, Modifiers, Ui};
use egui_material_icons::icons::ICON_SEARCH;

use crate::app::widgets::theme::colours;

/// What is typed, in words.
pub(crate) fn words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

/// How well a thing of that name, key and sentence, in small letters, fits the words, by the worst of them: less is
/// better; `None` where a word does not occur.
pub(crate) fn rank(words: &[String], [label, key, doc]: [&str; 3]) -> Option<usize> {
    let rank = |word: &String| {
        let begins = |text: &str| text.split([' ', '-', '_']).any(|part| part.starts_with(word));
        let fits = [label.starts_with(word), begins(label), label.contains(word), key.contains(word), begins(doc)];
        fits.iter().position(|fits| *fits).or_else(|| doc.contains(word).then_some(fits.len()))
    };
    words.iter().map(rank).try_fold(0, |worst, rank| Some(worst.max(rank?)))
}

/// A field for what is searched, which has the keys as long as it is drawn; returns whether the query has changed.
pub(crate) fn search_ui(ui: &mut Ui, query: &mut String, hint: &str) -> bool {
    let field = |ui: &mut Ui| {
        ui.label(ICON_SEARCH.rich_text().size(16.0).color(colours(ui).weak));
        let field = egui::TextEdit::singleline(query).hint_text(hint).desired_width(f32::INFINITY);
        let response = ui.add(field);
        let mut changed = response.changed();
        if !response.has_focus() {
            // It gets the focus with the next frame; what is typed until then is meant for it.
            let typed: String = ui.input(|input| texts(&input.events).collect());
            changed |= !typed.is_empty();
            query.push_str(&typed);
        }
        response.request_focus();
        changed
    };
    ui.horizontal(field).inner
}

/// The texts among some events.
pub(crate) fn texts(events: &[egui::Event]) -> impl Iterator<Item = &str> {
    events.iter().filter_map(|event| match event {
        egui::Event::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The choice among `count` things in a list, moved by the arrow keys, before a field sees them as motions of its caret;
/// and whether Enter was pressed.
pub(crate) fn keys(ui: &Ui, chosen: usize, count: usize) -> (usize, bool) {
    let pressed = |key: Key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let last = count.saturating_sub(1);
    let moved = chosen.saturating_add(pressed(Key::ArrowDown)).min(last).saturating_sub(pressed(Key::ArrowUp));
    let moved = (moved + 10 * pressed(Key::PageDown)).min(last).saturating_sub(10 * pressed(Key::PageUp));
    (moved, pressed(Key::Enter) > 0)
}
