//! Lists of any length, of which only the rows in sight are drawn.

use std::collections::BTreeMap;

use egui::{Id, Rect, Ui, Vec2};

use crate::engine::cast::{ToFloat, ToInteger};

/// Lists of up to this many rows are drawn whole. No window shows as many.
const DRAWN_WHOLE: usize = 200;

/// The heights of the rows of a list, as they were last drawn, in points with the space below.
///
/// Most rows have the same height; a few are taller, for example because they are unfolded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowHeights {
    /// The height of most rows, once one was drawn.
    usual: Option<f32>,
    /// The heights of the others.
    taller: BTreeMap<usize, f32>,
    /// The control that has the keyboard focus, and its row, which is drawn even out of sight: egui takes the focus from
    /// a control that is not drawn, and what was typed would be lost.
    focus: Option<(Id, usize)>,
}

impl RowHeights {
    /// Draws a list of `count` rows from top to bottom, with space for those that are out of sight. `row_ui` draws a
    /// row, as one control or one scope, and returns its place. Returns the rows in sight, in order, with their places.
    pub(crate) fn rows_ui(
        &mut self,
        ui: &mut Ui,
        count: usize,
        mut row_ui: impl FnMut(&mut Ui, usize) -> Rect,
    ) -> Vec<(usize, Rect)> {
        if count <= DRAWN_WHOLE {
            return (0..count).map(|row| (row, self.row_ui(ui, row, &mut row_ui))).collect();
        }
        if self.usual.is_none() {
            // The rows in sight are not known before the height of one is.
            ui.ctx().request_repaint();
        }
        let (sight, top) = (ui.clip_rect().y_range(), ui.cursor().top());
        let first = self.row_at(sight.min - top, count);
        let focused = ui.memory(|memory| memory.focused());
        self.focus = self.focus.filter(|(id, row)| focused == Some(*id) && *row < count);
        let focused_row = self.focus.map(|(_, row)| row);
        let mut next = 0;
        let skip_to = |heights: &Self, ui: &mut Ui, next: &mut usize, row: usize| {
            ui.add_space(heights.top(row) - heights.top(*next));
            // So that the controls of a row keep their ids, and with them the focus, whichever rows are drawn.
            ui.skip_ahead_auto_ids(row - *next);
            *next = row;
        };
        if let Some(row) = focused_row.filter(|row| *row < first) {
            skip_to(self, ui, &mut next, row);
            self.row_ui(ui, row, &mut row_ui);
            next += 1;
        }
        skip_to(self, ui, &mut next, first);
        let mut drawn = Vec::new();
        while next < count && drawn.len() < DRAWN_WHOLE && (drawn.is_empty() || ui.cursor().top() <= sight.max) {
            drawn.push((next, self.row_ui(ui, next, &mut row_ui)));
            next += 1;
        }
        if let Some(row) = focused_row.filter(|row| *row >= next) {
            skip_to(self, ui, &mut next, row);
            self.row_ui(ui, row, &mut row_ui);
            next += 1;
        }
        skip_to(self, ui, &mut next, count);
        drawn
    }

    /// Scrolls to a row, which may never have been drawn. `top` is where the list begins.
    pub(crate) fn scroll_to(&self, ui: &Ui, top: f32, row: usize) {
        let corner = egui::pos2(ui.min_rect().left(), top + self.top(row));
        let size = Vec2::new(1.0, self.usual.unwrap_or_default());
        ui.scroll_to_rect(Rect::from_min_size(corner, size), None);
        ui.ctx().request_repaint();
    }

    /// Draws a row, and remembers its height and whether it has the focus.
    fn row_ui(&mut self, ui: &mut Ui, row: usize, row_ui: &mut impl FnMut(&mut Ui, usize) -> Rect) -> Rect {
        let before = ui.cursor().top();
        let rect = row_ui(ui, row);
        self.measured(row, ui.cursor().top() - before);
        // The place of the control may be that of the frame before, so its row is found only once, before it scrolls.
        let known = self.focus.map(|(id, _)| id);
        if let Some(focused) = ui.memory(|memory| memory.focused()).filter(|focused| known != Some(*focused))
            && let Some(control) = ui.ctx().read_response(focused)
            && rect.contains(control.rect.center())
        {
            self.focus = Some((focused, row));
        }
        rect
    }

    /// Records the height of a row that was drawn.
    fn measured(&mut self, row: usize, height: f32) {
        let usual = self.usual.get_or_insert(height);
        *usual = usual.min(height);
        if height > *usual + 0.5 {
            self.taller.insert(row, height);
        } else {
            self.taller.remove(&row);
        }
    }

    /// The distance of a row from the top of the list.
    fn top(&self, row: usize) -> f32 {
        let usual = self.usual.unwrap_or_default();
        let excess: f32 = self.taller.range(..row).map(|(_, height)| height - usual).sum();
        row.to_f32() * usual + excess
    }

    /// The row at a distance from the top of the list.
    fn row_at(&self, distance: f32, count: usize) -> usize {
        let Some(usual) = self.usual.filter(|usual| *usual > 0.0) else { return 0 };
        let mut excess = 0.0;
        for (row, height) in &self.taller {
            let top = row.to_f32() * usual + excess;
            if distance < top + height {
                let above = ((distance - excess) / usual).max(0.0).to_usize();
                return above.min(*row).min(count.saturating_sub(1));
            }
            excess += height - usual;
        }
        ((distance - excess) / usual).max(0.0).to_usize().min(count.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_distance_from_the_top() {
        let mut heights = RowHeights::default();
        assert_eq!((heights.row_at(500.0, 1000), heights.top(3)), (0, 0.0), "nothing was drawn yet");
        for (row, height) in [(0, 20.0), (1, 20.0), (5, 120.0), (7, 60.0)] {
            heights.measured(row, height);
        }
        // Row 5 is from 100 to 220, row 6 from 220 to 240, row 7 from 240 to 300.
        for (distance, row) in [(-5.0, 0), (19.0, 0), (20.0, 1), (99.0, 4), (101.0, 5), (219.0, 5), (221.0, 6)] {
            assert_eq!(heights.row_at(distance, 1000), row, "{distance}");
        }
        for (distance, row) in [(299.0, 7), (301.0, 8), (1e9, 999)] {
            assert_eq!(heights.row_at(distance, 1000), row, "{distance}");
        }
        assert_eq!([5, 6, 7, 8].map(|row| heights.top(row)), [100.0, 220.0, 240.0, 300.0]);
        heights.measured(5, 20.0);
        assert_eq!((heights.top(6), heights.row_at(121.0, 1000)), (120.0, 6), "folded again");
    }
}
