//! The menu bar.

use egui::{Align, Button, Layout, Rect, RichText, Sense, Ui, Vec2};
use egui_material_icons::icons::{ICON_DOCK_TO_LEFT, ICON_DOCK_TO_RIGHT, ICON_SEARCH};

use crate::app::commands::Command;
use crate::app::commands::menus::{FreeMemory, MENUS, MenuContext, entries_ui};
use crate::app::document::Document;
use crate::app::widgets::coloured_icon_button;
use crate::app::widgets::theme::colours;

/// The width of the button that opens the palette, points.
const SEARCH_WIDTH: f32 = 168.0;

/// Draws the menu bar; returns the user's command.
pub(crate) fn menu_ui(ui: &mut Ui, context: &MenuContext, free_memory: &FreeMemory) -> Option<Command> {
    let mut command = None;
    egui::MenuBar::new().ui(ui, |ui| {
        let bar = ui.max_rect();
        for (title, entries) in MENUS {
            ui.menu_button(title, |ui| {
                let context = MenuContext { free_bytes: free_memory.bytes(), ..*context };
                command = command.take().or(entries_ui(ui, &entries(&context)));
            });
        }
        let left = ui.cursor().left();
        let right = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (icon, panel, is_seen) in [
                (ICON_DOCK_TO_LEFT, Command::RightPanel, context.panels[1]),
                (ICON_DOCK_TO_RIGHT, Command::LeftPanel, context.panels[0]),
            ] {
                let colour = if is_seen { colours(ui).text } else { colours(ui).weak };
                if coloured_icon_button(ui, icon, &panel.tooltip(ui), colour).clicked() {
                    command = Some(panel);
                }
            }
            if search_button(ui, bar.width()) {
                command = Some(Command::Palette);
            }
            ui.cursor().right()
        });
        title_ui(ui, context.document, bar, left, right.inner);
    });
    command
}

/// A button that looks like a search field, or only its icon in a narrow window; returns whether it was clicked.
fn search_button(ui: &mut Ui, width: f32) -> bool {
    let name = Command::Palette.tooltip(ui);
    let keys = Command::Palette.shortcut().map(|keys| ui.ctx().format_shortcut(&keys)).unwrap_or_default();
    let weak = colours(ui).weak;
    let icon = ICON_SEARCH.rich_text().size(14.0).color(weak);
    if width < 900.0 {
        return coloured_icon_button(ui, ICON_SEARCH, &name, weak).clicked();
    }
    let button =
        Button::new((icon, RichText::new("Search").color(weak))).shortcut_text(RichText::new(keys).color(weak));
    let response = ui.add(button.fill(colours(ui).sunken).min_size(Vec2::new(SEARCH_WIDTH, 20.0)));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    response.on_hover_text(name).clicked()
}

/// The project's title in the middle of the bar if there is room, with a mark while it has unsaved changes.
fn title_ui(ui: &mut Ui, document: &Document, bar: Rect, left: f32, right: f32) {
    let text = RichText::new(document.heading()).color(colours(ui).weak);
    // In the middle of the window, or as near to it as the menus and the search button allow.
    let space = bar.with_min_x(left + 8.0).with_max_x((right - 8.0).max(left + 8.0));
    let half = (bar.center().x - space.left()).min(space.right() - bar.center().x);
    let rect = if half > 80.0 {
        Rect::from_x_y_ranges(bar.center().x - half..=bar.center().x + half, bar.y_range())
    } else {
        space
    };
    let label = egui::Label::new(text).truncate().sense(Sense::hover());
    ui.put(rect, label);
}
