//! A list of items that is searched by typing and navigated with the arrow keys: cards in rows or columns, or plain
//! rows.

use std::ops::Range;

use egui::{Key, Modifiers, Response, ScrollArea, Ui, Vec2};

use crate::app::widgets::heading;
use crate::app::widgets::search::{SearchTexts, search_field, words};

/// How far the page keys move the selection, rows.
const PAGE: usize = 10;

/// An item that can be found.
#[derive(Clone, Copy)]
pub(crate) struct SearchItem<'a> {
    /// The index of its section.
    pub(crate) section: usize,
    pub(crate) texts: &'a SearchTexts,
    /// Whether it can be chosen.
    pub(crate) is_enabled: bool,
}

/// How the sections and their items are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// The sections one below another, each in rows of so many items.
    Rows(usize),
    /// The sections next to each other, each in one column.
    Columns,
}

/// What a list shows around its items.
pub(crate) struct SearchLayout<'a> {
    /// The headings of the sections; an empty one is not drawn.
    pub(crate) sections: &'a [&'a str],
    pub(crate) arrangement: Arrangement,
    /// The width of an item, points.
    pub(crate) item_width: f32,
    /// The gap between items, points.
    pub(crate) gap: f32,
    /// The height of the list, points.
    pub(crate) height: f32,
    /// The text if no item matches.
    pub(crate) empty: &'a str,
}

/// The query and the selection of a list.
#[derive(Default)]
pub(crate) struct SearchList {
    query: String,
    /// The position of the selected item among those that are shown.
    selected: usize,
    /// Whether the query has changed, so that the best match is selected.
    select_best: bool,
    scroll_to_selected: bool,
    keys: Keys,
}

/// The keys pressed in a frame that navigate the list.
#[derive(Clone, Copy, Debug, Default)]
struct Keys {
    left: usize,
    right: usize,
    up: usize,
    down: usize,
    enter: bool,
}

impl Keys {
    /// Takes the keys before the search field does, where they would move the caret.
    fn take(ui: &Ui, horizontal: bool) -> Self {
        let presses = |key: Key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        let [left, right] = if horizontal { [Key::ArrowLeft, Key::ArrowRight].map(presses) } else { [0; 2] };
        Self {
            left,
            right,
            up: presses(Key::ArrowUp) + PAGE * presses(Key::PageUp),
            down: presses(Key::ArrowDown) + PAGE * presses(Key::PageDown),
            enter: presses(Key::Enter) > 0,
        }
    }
}

impl SearchList {
    /// A list with a query that was typed before it opened.
    pub(crate) fn new(query: String) -> Self {
        Self { query, select_best: true, ..Self::default() }
    }

    /// Draws the search field; while it is inactive, the keys are left alone.
    pub(crate) fn field_ui(&mut self, ui: &mut Ui, hint: &str, arrangement: Arrangement, is_inactive: bool) {
        let horizontal = arrangement != Arrangement::Rows(1);
        self.keys = if is_inactive { Keys::default() } else { Keys::take(ui, horizontal) };
        self.select_best |= search_field(ui, &mut self.query, hint, is_inactive);
    }

    /// Draws the items that match the query with `item_ui`, which is given their indices and whether they are selected;
    /// returns the index of the item that was chosen by a click or with Enter.
    pub(crate) fn items_ui(
        &mut self,
        ui: &mut Ui,
        layout: &SearchLayout,
        items: &[SearchItem],
        mut item_ui: impl FnMut(&mut Ui, usize, bool) -> Response,
    ) -> Option<usize> {
        let found = found(items, layout.sections.len(), &self.query);
        let before = self.selected.min(found.len().saturating_sub(1));
        let grid = Grid::new(&found, items, layout);
        let mut selected = grid.moved(before, self.keys);
        if std::mem::take(&mut self.select_best) {
            selected = best(&found);
            self.scroll_to_selected = true;
        }
        let scrolls = std::mem::take(&mut self.scroll_to_selected) || selected != before;
        let enabled = |found: &&Found| items[found.item].is_enabled;
        let mut chosen = found.get(selected).filter(enabled).filter(|_| self.keys.enter).map(|found| found.item);
        let mut pointed = None;
        let draw = |ui: &mut Ui, position: usize| {
            let item = found[position].item;
            let response = item_ui(ui, item, position == selected);
            if position == selected && scrolls {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                chosen = Some(item);
            }
            // An item that is scrolled under a resting pointer is not selected.
            if response.hovered() && ui.input(|input| input.pointer.delta() != Vec2::ZERO) {
                pointed = Some(position);
            }
        };
        let area = ScrollArea::vertical().max_height(layout.height).min_scrolled_height(layout.height);
        area.auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(layout.gap);
            grid.ui(ui, layout, draw);
            if found.is_empty() {
                ui.weak(layout.empty);
            }
        });
        self.selected = pointed.unwrap_or(selected);
        chosen
    }
}

/// An item that matches the query.
struct Found {
    item: usize,
    rank: usize,
}

/// The items in which every word of the query occurs, section by section, the best match of each first.
fn found(items: &[SearchItem], sections: usize, query: &str) -> Vec<Found> {
    let words = words(query);
    let mut found = Vec::new();
    for section in 0..sections {
        let in_section = items.iter().enumerate().filter(|(_, item)| item.section == section);
        let first = found.len();
        found.extend(in_section.filter_map(|(i, item)| Some(Found { item: i, rank: item.texts.rank(&words)? })));
        found[first..].sort_by_key(|found: &Found| (found.rank, !items[found.item].is_enabled));
    }
    found
}

/// The position of the best match.
fn best(found: &[Found]) -> usize {
    found.iter().enumerate().min_by_key(|(_, found)| found.rank).map_or(0, |(position, _)| position)
}

/// The positions of the items that are shown: rows, or the columns of the sections.
struct Grid {
    lines: Vec<(usize, Range<usize>)>,
    arrangement: Arrangement,
}

impl Grid {
    /// Breaks the items into lines, each with its section.
    fn new(found: &[Found], items: &[SearchItem], layout: &SearchLayout) -> Self {
        let longest = match layout.arrangement {
            Arrangement::Rows(columns) => columns.max(1),
            Arrangement::Columns => usize::MAX,
        };
        let mut lines: Vec<(usize, Range<usize>)> = Vec::new();
        for (position, found) in found.iter().enumerate() {
            let section = items[found.item].section;
            match lines.last_mut() {
                Some((known, line)) if *known == section && line.len() < longest => line.end += 1,
                _ => lines.push((section, position..position + 1)),
            }
        }
        Self { lines, arrangement: layout.arrangement }
    }

    /// The selected position after some keys.
    fn moved(&self, mut selected: usize, keys: Keys) -> usize {
        let last = self.lines.last().map_or(0, |(_, line)| line.end - 1);
        let along = |selected: usize, back: usize, on: usize| (selected + on).min(last).saturating_sub(back);
        match self.arrangement {
            Arrangement::Rows(1) => along(selected, keys.up, keys.down),
            Arrangement::Rows(_) => {
                (0..keys.down).for_each(|_| selected = self.in_next_line(selected, true));
                (0..keys.up).for_each(|_| selected = self.in_next_line(selected, false));
                along(selected, keys.left, keys.right)
            }
            Arrangement::Columns => {
                (0..keys.right).for_each(|_| selected = self.in_next_line(selected, true));
                (0..keys.left).for_each(|_| selected = self.in_next_line(selected, false));
                along(selected, keys.up, keys.down)
            }
        }
    }

    /// The position in the line after or before that of `selected`, at the same place or at its end.
    fn in_next_line(&self, selected: usize, on: bool) -> usize {
        let Some(at) = self.lines.iter().position(|(_, line)| line.contains(&selected)) else { return selected };
        let next = if on { at.checked_add(1) } else { at.checked_sub(1) };
        let line = next.and_then(|next| self.lines.get(next));
        line.map_or(selected, |(_, line)| (line.start + selected - self.lines[at].1.start).min(line.end - 1))
    }

    fn ui(&self, ui: &mut Ui, layout: &SearchLayout, mut draw: impl FnMut(&mut Ui, usize)) {
        let title = |ui: &mut Ui, section: usize| {
            if let Some(title) = layout.sections.get(section).filter(|title| !title.is_empty()) {
                heading(ui, title);
            }
        };
        match self.arrangement {
            Arrangement::Rows(_) => {
                let mut drawn = None;
                for (section, line) in &self.lines {
                    if drawn.replace(*section) != Some(*section) {
                        title(ui, *section);
                    }
                    ui.horizontal(|ui| line.clone().for_each(|position| draw(ui, position)));
                }
            }
            Arrangement::Columns => {
                ui.horizontal_top(|ui| {
                    for (section, line) in &self.lines {
                        ui.vertical(|ui| {
                            ui.set_width(layout.item_width);
                            title(ui, *section);
                            line.clone().for_each(|position| draw(ui, position));
                        });
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(arrangement: Arrangement, sections: &[usize]) -> Grid {
        let texts = SearchTexts::default();
        let items: Vec<SearchItem> =
            sections.iter().map(|section| SearchItem { section: *section, texts: &texts, is_enabled: true }).collect();
        let found = found(&items, 3, "");
        let layout =
            SearchLayout { sections: &[""; 3], arrangement, item_width: 1.0, gap: 0.0, height: 1.0, empty: "" };
        Grid::new(&found, &items, &layout)
    }

    #[test]
    fn arrow_keys_move_by_rows_and_stop_at_the_ends() {
        // Two rows of the first section, and one of the second.
        let grid = grid(Arrangement::Rows(3), &[0, 0, 0, 0, 0, 1, 1, 1]);
        let lines: Vec<Range<usize>> = grid.lines.iter().map(|(_, line)| line.clone()).collect();
        assert_eq!(lines, [0..3, 3..5, 5..8]);
        let down = Keys { down: 1, ..Keys::default() };
        assert_eq!([0, 2, 4, 7].map(|selected| grid.moved(selected, down)), [3, 4, 6, 7]);
        let up = Keys { up: 1, ..Keys::default() };
        assert_eq!([0, 3, 7].map(|selected| grid.moved(selected, up)), [0, 0, 4]);
        let right = Keys { right: 2, ..Keys::default() };
        assert_eq!([0, 6].map(|selected| grid.moved(selected, right)), [2, 7]);
    }

    #[test]
    fn arrow_keys_move_between_columns() {
        let grid = grid(Arrangement::Columns, &[0, 0, 0, 1, 1]);
        let right = Keys { right: 1, ..Keys::default() };
        assert_eq!([0, 2, 3].map(|selected| grid.moved(selected, right)), [3, 4, 3]);
        let left = Keys { left: 1, ..Keys::default() };
        assert_eq!([4, 1].map(|selected| grid.moved(selected, left)), [1, 1]);
        let down = Keys { down: 1, ..Keys::default() };
        assert_eq!([2, 4].map(|selected| grid.moved(selected, down)), [3, 4]);
    }

    #[test]
    fn the_best_match_is_selected_whatever_its_section() {
        let texts = ["soft hills", "hill", "a hill"].map(|name| SearchTexts::new(name, "", ""));
        let items = [(0, 0), (0, 2), (1, 1)].map(|(section, i): (usize, usize)| SearchItem {
            section,
            texts: &texts[i],
            is_enabled: true,
        });
        let found = found(&items, 2, "Hill");
        assert_eq!(found.iter().map(|found| found.item).collect::<Vec<_>>(), [1, 0, 2]);
        assert_eq!(best(&found), 2);
    }
}
