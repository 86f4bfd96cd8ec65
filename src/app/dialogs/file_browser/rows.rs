//! The rows of the file browser.

use std::path::{Path, PathBuf};

use egui::{Align2, Button, FontId, Pos2, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo};
use egui_material_icons::MaterialIcon;
use egui_material_icons::icons::{ICON_DRAFT, ICON_FOLDER};

use super::folder::FolderEntry;
use crate::app::dialogs::byte_size::bytes;
use crate::app::dialogs::recovered_projects::ago;
use crate::app::document::file_name;
use crate::app::preview::thumbnails::ThumbnailState;
use crate::app::widgets::theme::colours;
use crate::app::widgets::thumbnail_card::thumbnail_ui;

/// The height of a row and the size of its picture, points.
pub(super) const ROW_HEIGHT: f32 = 44.0;
const PICTURE: Vec2 = Vec2::new(56.0, 38.0);

/// The width of the age and of the size of a file, points.
const NOTE_WIDTH: f32 = 110.0;

/// A row with a file or a folder.
pub(super) fn row_ui(
    ui: &mut Ui,
    entry: &FolderEntry,
    is_selected: bool,
    picture: Option<&ThumbnailState>,
) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), ROW_HEIGHT), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &entry.name));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let colours = colours(ui);
    if is_selected || response.hovered() {
        let fill = if is_selected { colours.hovered } else { colours.raised };
        ui.painter().rect_filled(rect, 4.0, fill);
    }
    if is_selected {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, Vec2::new(2.0, rect.height())), 1.0, colours.accent);
    }
    let place = Rect::from_center_size(Pos2::new(rect.left() + 8.0 + 0.5 * PICTURE.x, rect.center().y), PICTURE);
    match picture {
        Some(_) => {
            ui.painter().rect_filled(place, 3.0, colours.sunken);
            thumbnail_ui(ui, place, picture, 0.0..=1.0);
        }
        None => icon_ui(ui, place, if entry.is_folder { ICON_FOLDER } else { ICON_DRAFT }),
    }
    let right = rect.right() - 10.0;
    let age = entry.modified.and_then(|modified| modified.elapsed().ok()).map(ago);
    let size = (!entry.is_folder).then(|| bytes(entry.bytes));
    let small = FontId::proportional(11.0);
    for (text, right) in [(age, right - NOTE_WIDTH * 0.6), (size, right)] {
        let at = Pos2::new(right, rect.center().y);
        ui.painter().text(at, Align2::RIGHT_CENTER, text.unwrap_or_default(), small.clone(), colours.weak);
    }
    let left = place.right() + 10.0;
    let text = Rect::from_min_max(Pos2::new(left, rect.top()), Pos2::new(right - 1.4 * NOTE_WIDTH, rect.bottom()));
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(text).layout(*ui.layout()));
    inside.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.add(egui::Label::new(&entry.name).truncate().selectable(false));
    });
    response
}

fn icon_ui(ui: &Ui, place: Rect, icon: MaterialIcon) {
    let font = FontId::new(24.0, icon.font_family());
    ui.painter().text(place.center(), Align2::CENTER_CENTER, icon.codepoint, font, colours(ui).weak);
}

/// A folder to go to; returns it when it is clicked.
pub(super) fn place_ui(ui: &mut Ui, path: &Path, current: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let name = if home == Some(path) { "Home".into() } else { file_name(path) };
    let name = if name.is_empty() && cfg!(not(windows)) { "Computer".into() } else { name };
    let name = if name.is_empty() { path.display().to_string() } else { name };
    let size = Vec2::new(ui.available_width(), 22.0);
    let button = Button::selectable(current == Some(path), (name, egui::Atom::grow())).truncate().min_size(size);
    let clicked = ui.add(button).on_hover_text(path.display().to_string()).clicked();
    clicked.then(|| path.to_path_buf())
}

/// The picture of the selected file.
pub(super) fn selected_picture_ui(ui: &mut Ui, size: Vec2, picture: Option<&ThumbnailState>) {
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, 3.0, colours(ui).sunken);
    thumbnail_ui(ui, rect, picture, 0.0..=1.0);
}
