//! The history: every entry by its name, the present one lit, what was undone greyed; a click goes there.

use egui::{Align, Button, Id, Layout, RichText, ScrollArea, Ui, Vec2};
use egui_material_icons::icons::{ICON_CHEVRON_RIGHT, ICON_EXPAND_MORE};

use crate::app::commands::Command;
use crate::app::document::Document;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{heading, icon_button};

/// The height of an entry, points.
const ROW: f32 = 20.0;

/// What the list showed in the frame before.
#[derive(Clone, Copy, Default)]
struct Seen {
    present: usize,
    /// The present entry is out of sight: it is to be brought there.
    is_lost: bool,
}

/// The heading, which folds the list, and below it the list where it is unfolded.
pub(crate) fn history_ui(ui: &mut Ui, document: &Document, is_open: bool) -> Option<Command> {
    let mut command = None;
    let (names, present) = document.history();
    ui.horizontal(|ui| {
        heading(ui, "History");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (icon, verb) = if is_open { (ICON_EXPAND_MORE, "Fold") } else { (ICON_CHEVRON_RIGHT, "Unfold") };
            if icon_button(ui, icon, &format!("{verb} the history")).clicked() {
                command = Some(Command::History);
            }
            let count = format!("{} of {}", present + 1, names.len());
            ui.label(RichText::new(count).size(11.0).color(colours(ui).weak));
        });
    });
    if is_open {
        command = command.or(list_ui(ui, document));
    }
    command
}

fn list_ui(ui: &mut Ui, document: &Document) -> Option<Command> {
    let mut command = None;
    let (names, present) = document.history();
    let id = Id::unique("history");
    let seen = ui.data(|data| data.get_temp::<Seen>(id)).unwrap_or_default();
    let spacing = ui.spacing_mut();
    (spacing.item_spacing.y, spacing.button_padding.x, spacing.interact_size.y) = (0.0, 4.0, ROW);
    let mut area = ScrollArea::vertical().id_salt("history").auto_shrink(false);
    if seen.is_lost {
        let height = ui.available_height();
        let end = (names.len() as f32 * ROW - height).max(0.0);
        area = area.vertical_scroll_offset((present as f32 * ROW - 0.5 * (height - ROW)).clamp(0.0, end));
    }
    area.show_rows(ui, ROW, names.len(), |ui, rows| {
        // One that an edit has put out of sight is brought there; one that the user scrolls away from is not. Rows are
        // drawn beyond the edges too.
        let top = ui.cursor().top() + (present as f32 - rows.start as f32) * ROW;
        let seen_part = ui.clip_rect().y_range().expand(1.0);
        let is_seen = rows.contains(&present) && seen_part.contains(top) && seen_part.contains(top + ROW);
        let is_lost = !is_seen && seen.present != present && !seen.is_lost;
        ui.data_mut(|data| data.insert_temp(id, Seen { present, is_lost }));
        if is_lost {
            ui.ctx().request_repaint();
        }
        ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
            for (i, name) in names.enumerate().skip(rows.start).take(rows.len()) {
                // What was undone is there, but not done.
                let text = if i > present { RichText::new(name).color(colours(ui).weak) } else { RichText::new(name) };
                let entry = Button::selectable(i == present, text).truncate().min_size(Vec2::new(0.0, ROW));
                if ui.add(entry).clicked() {
                    command = Some(Command::GoToEntry(i));
                }
            }
        });
    });
    command
}
