//! Lists of any length, of which only the rows in sight are drawn.

use std::collections::BTreeMap;

use egui::{Rect, Ui};

use crate::engine::cast::{ToFloat, ToInteger};

/// Lists of up to this many rows are drawn whole.
const DRAWN_WHOLE: usize = 100;

/// The heights of the rows of a list, as they were last drawn, in points with the space below.
///
/// Most rows have the same height; a few are taller, for example because they are unfolded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowHeights {
    /// The height of most rows, once one was drawn.
    usual: Option<f32>,
    /// The heights of the others.
    taller: BTreeMap<usize, f32>,
}

impl RowHeights {
    /// Draws a list of `count` rows from top to bottom, with space for those that are out of sight. `row_ui` draws a
    /// row and returns its place. Returns the rows that were drawn, in order, with their places.
    pub(crate) fn rows_ui(
        &mut self,
        ui: &mut Ui,
        count: usize,
        mut row_ui: impl FnMut(&mut Ui, usize) -> Rect,
    ) -> Vec<(usize, Rect)> {
        let is_long = count > DRAWN_WHOLE;
        let sight = ui.clip_rect().y_range();
        let top = ui.cursor().top();
        let first = if is_long { self.row_at(sight.min - top, count) } else { 0 };
        if is_long {
            ui.add_space(self.top(first));
        }
        let (mut drawn, mut next) = (Vec::new(), first);
        while next < count && (!is_long || ui.cursor().top() <= sight.max || drawn.is_empty()) {
            let before = ui.cursor().top();
            drawn.push((next, row_ui(ui, next)));
            self.measured(next, ui.cursor().top() - before);
            next += 1;
        }
        if is_long {
            ui.add_space(self.top(count) - self.top(next));
        }
        drawn
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
