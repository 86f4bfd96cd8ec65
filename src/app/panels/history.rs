//! The history: every edit by its name, with the current one highlighted and undone ones greyed; a click goes there.

use egui::{Align, Button, Color32, Layout, RichText, ScrollArea, TextStyle, Ui, Vec2};
use egui_material_icons::icons::{ICON_CHEVRON_RIGHT, ICON_EXPAND_MORE};

use crate::app::commands::Command;
use crate::app::document::Document;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{heading, icon_button};
use crate::engine::cast::ToFloat;

/// The height of an entry, points.
const ROW: f32 = 20.0;

/// What the list showed in the frame before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HistoryState {
    /// The index of the current entry.
    current: usize,
    /// Whether an edit moved the current entry out of the visible part, so that the list scrolls to it.
    scrolls: bool,
}

impl HistoryState {
    /// Draws the heading, which folds the list, and the list if it is unfolded.
    pub(crate) fn ui(&mut self, ui: &mut Ui, document: &Document, is_open: bool) -> Option<Command> {
        let mut command = None;
        let (names, current) = document.history();
        ui.horizontal(|ui| {
            heading(ui, "History");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let (icon, verb) = if is_open { (ICON_EXPAND_MORE, "Fold") } else { (ICON_CHEVRON_RIGHT, "Unfold") };
                if icon_button(ui, icon, &format!("{verb} the history")).clicked() {
                    command = Some(Command::History);
                }
                let count = format!("{} of {}", current + 1, names.len());
                ui.label(RichText::new(count).size(11.0).color(colours(ui).weak));
            });
        });
        if is_open {
            command = command.or(self.list_ui(ui, document));
        }
        command
    }

    fn list_ui(&mut self, ui: &mut Ui, document: &Document) -> Option<Command> {
        let mut command = None;
        let (names, current) = document.history();
        let spacing = ui.spacing_mut();
        (spacing.item_spacing.y, spacing.button_padding.x, spacing.interact_size.y) = (0.0, 4.0, ROW);
        let mut area = ScrollArea::vertical().id_salt("history").auto_shrink(false);
        if self.scrolls {
            let height = ui.available_height();
            let end = (names.len().to_f32() * ROW - height).max(0.0);
            area = area.vertical_scroll_offset((current.to_f32() * ROW - 0.5 * (height - ROW)).clamp(0.0, end));
        }
        area.show_rows(ui, ROW, names.len(), |ui, rows| {
            // The list scrolls when an edit moves the current entry out of the visible part, but not when the user
            // scrolls. Rows outside the visible part are drawn too.
            let top = ui.cursor().top() + (current.to_f32() - rows.start.to_f32()) * ROW;
            let visible = ui.clip_rect().y_range().expand(1.0);
            let is_visible = rows.contains(&current) && visible.contains(top) && visible.contains(top + ROW);
            let scrolls = !is_visible && self.current != current && !self.scrolls;
            *self = Self { current, scrolls };
            if scrolls {
                ui.ctx().request_repaint();
            }
            ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
                for (i, name) in names.enumerate().skip(rows.start).take(rows.len()) {
                    let text = RichText::new(name);
                    let text = if i > current { text.color(colours(ui).weak) } else { text };
                    let entry = Button::selectable(i == current, text).truncate().min_size(Vec2::new(0.0, ROW));
                    let entry = ui.add(entry);
                    let room = entry.rect.width() - 2.0 * ui.spacing().button_padding.x;
                    let is_cut = entry.hovered() && text_width(ui, name) > room;
                    let entry = if is_cut { entry.on_hover_text(name) } else { entry };
                    if entry.clicked() {
                        command = Some(Command::GoToEntry(i));
                    }
                }
            });
        });
        command
    }
}

/// The width of the text of a button.
fn text_width(ui: &Ui, text: &str) -> f32 {
    let font = TextStyle::Button.resolve(ui.style());
    ui.painter().layout_no_wrap(text.into(), font, Color32::PLACEHOLDER).size().x
}
