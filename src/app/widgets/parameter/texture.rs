//! The control for the name of a texture.

use egui::{
    Align, Button, Image, Label, Layout, Rect, RectAlign, Response, RichText, Role, Sense, Stroke, StrokeKind,
    TextureHandle, Ui, UiBuilder, Vec2, WidgetInfo,
};

use super::context::{ParameterContext, TextureChoices};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{capitalised, heading};
use crate::engine::cast::ToFloat;
use crate::engine::parameters::{Parameter, TextureName, Value};
use crate::files::import::SHIPPED_TEXTURES;

/// The side of a thumbnail in the grid, points, and how many there are in a row.
const TILE: f32 = 64.0;
const COLUMNS: usize = 4;

/// The gap between thumbnails, points.
const GAP: f32 = 4.0;

/// The height of the name below a thumbnail, points.
const NAME_HEIGHT: f32 = 16.0;

/// The title of a texture: what a shipped one shows, or the file of an imported one.
pub(crate) fn texture_title(name: &TextureName) -> String {
    if !name.is_shipped() {
        return name.0.clone();
    }
    let stem = name.0.trim_start_matches(TextureName::SHIPPED).trim_end_matches(".jpg").replace('-', " ");
    capitalised(&stem)
}

/// A button with the chosen texture that opens a grid of all textures; returns whether the user wants to choose a file.
pub(super) fn texture_ui(
    ui: &mut Ui,
    _parameter: &Parameter,
    value: &mut Value,
    _label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let Value::Text(name) = value else { return false };
    let (chosen, textures) = (TextureName(name.clone()), context.textures);
    let title = texture_title(&chosen);
    let mut button = Button::new(if title.is_empty() { "Choose a texture" } else { title.as_str() }).truncate();
    if let Some(thumbnail) = thumbnail(textures, &chosen) {
        let image = Image::new((thumbnail.id(), Vec2::splat(16.0))).corner_radius(2.0);
        button = Button::image_and_text(image, title.as_str()).truncate();
    }
    let opener = ui.add_sized(ui.available_size_before_wrap(), button).on_hover_text("Choose a texture");
    opener.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Change texture {title}")));
    let popup = egui::Popup::menu(&opener)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClick)
        .align(RectAlign::BOTTOM_END)
        .show(|ui| popup_ui(ui, &chosen, textures));
    let Some((taken, wants_file)) = popup.map(|popup| popup.inner) else { return false };
    if let Some(taken) = taken {
        *name = taken.0;
    }
    wants_file
}

fn thumbnail<'a>(textures: Option<TextureChoices<'a>>, name: &TextureName) -> Option<&'a TextureHandle> {
    textures.and_then(|textures| textures.thumbnails.texture(name, textures.files))
}

/// The grid of all textures; returns the one that was clicked, and whether the user wants to choose a file.
fn popup_ui(ui: &mut Ui, chosen: &TextureName, textures: Option<TextureChoices>) -> (Option<TextureName>, bool) {
    let shipped: Vec<TextureName> = SHIPPED_TEXTURES.iter().map(|(name, _)| TextureName((*name).into())).collect();
    let imported = textures.map_or(&[][..], |textures| textures.imported);
    let mut taken = None;
    for (title, names) in [("Shipped", &shipped[..]), ("In this project", imported)] {
        if !names.is_empty() {
            let index = texture_tiles_ui(ui, title, names, Some(chosen), textures);
            taken = taken.or(index.map(|index| names[index].clone()));
        }
    }
    ui.add_space(GAP);
    let button = ui.add_sized([ui.available_width(), 24.0], Button::new("Choose an image file…"));
    let tooltip = "A tileable PNG, JPEG, TGA or BMP; a copy is kept inside the project";
    (taken, button.on_hover_text(tooltip).clicked())
}

/// A heading and below it a grid of textures; returns the index of the one that was clicked.
pub(crate) fn texture_tiles_ui(
    ui: &mut Ui,
    title: &str,
    names: &[TextureName],
    chosen: Option<&TextureName>,
    textures: Option<TextureChoices>,
) -> Option<usize> {
    ui.spacing_mut().item_spacing = Vec2::splat(GAP);
    ui.set_width(COLUMNS.to_f32() * (TILE + GAP) - GAP);
    heading(ui, title);
    let mut taken = None;
    for (row, names) in names.chunks(COLUMNS).enumerate() {
        ui.horizontal(|ui| {
            for (column, name) in names.iter().enumerate() {
                let thumbnail = thumbnail(textures, name);
                if tile_ui(ui, &texture_title(name), thumbnail, Some(name) == chosen).clicked() {
                    taken = Some(row * COLUMNS + column);
                }
            }
        });
    }
    taken
}

/// A thumbnail with its name; an empty field until the thumbnail is ready.
fn tile_ui(ui: &mut Ui, title: &str, thumbnail: Option<&TextureHandle>, chosen: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(TILE, TILE + NAME_HEIGHT), Sense::click());
    let colours = colours(ui);
    let square = Rect::from_min_size(rect.min, Vec2::splat(TILE));
    match thumbnail {
        Some(texture) => Image::new((texture.id(), square.size())).corner_radius(4.0).paint_at(ui, square),
        None => drop(ui.painter().rect_filled(square, 4.0, colours.sunken)),
    }
    if chosen || response.hovered() || response.has_focus() {
        let stroke = Stroke::new(2.0, if chosen { colours.accent } else { colours.text });
        ui.painter().rect_stroke(square, 4.0, stroke, StrokeKind::Inside);
    }
    let name = Rect::from_min_max(square.left_bottom(), rect.max);
    let mut inside = ui.new_child(UiBuilder::new().max_rect(name).layout(Layout::left_to_right(Align::Center)));
    inside.add(Label::new(RichText::new(title).size(11.0).color(colours.text)).truncate());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, title));
    response.on_hover_text(title)
}
