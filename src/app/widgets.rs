//! Small controls that egui does not have.

use egui::{Align, Button, Frame, Layout, Margin, Response, Role, Sense, Stroke, Ui, Vec2, WidgetInfo};
use egui_material_icons::MaterialIcon;
use egui_material_icons::icons::{
    ICON_ADJUST, ICON_ARROW_DOWNWARD, ICON_ARROW_UPWARD, ICON_CONTENT_COPY, ICON_DELETE, ICON_VISIBILITY,
    ICON_VISIBILITY_OFF,
};

use super::theme::colours;
use crate::engine::parameters::{Colour, Range};

/// A frameless button with an icon; the tooltip is its name for screen readers too.
pub(super) fn icon_button(ui: &mut Ui, icon: MaterialIcon, name: &str) -> Response {
    icon_button_enabled(ui, icon, name, true)
}

/// The same, greyed out where it has no effect.
pub(super) fn icon_button_enabled(ui: &mut Ui, icon: MaterialIcon, name: &str, enabled: bool) -> Response {
    let button = Button::new(icon.rich_text().size(16.0)).frame_when_inactive(false).min_size(Vec2::splat(20.0));
    let response = ui.add_enabled(enabled, button).on_hover_text(name).on_disabled_hover_text(name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, name));
    response
}

/// A rail with a handle for each end of a band.
pub(super) fn band_slider(ui: &mut Ui, band: &mut [f64; 2], range: Range) -> Response {
    let height = ui.spacing().interact_size.y * 0.8;
    let (rect, mut response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), height), Sense::click_and_drag());
    let radius = 6.0;
    let rail = rect.shrink2(Vec2::new(radius, 0.0));
    let span = (range.high - range.low).max(f64::MIN_POSITIVE);
    let x_of = |value: f64| rail.left() + rail.width() * ((value - range.low) / span).clamp(0.0, 1.0) as f32;
    let held = response.id.with("held");
    if let Some(pointer) = response.interact_pointer_pos()
        && (response.dragged() || response.clicked())
    {
        let nearest = || {
            let [low, high] = band.map(|value| (x_of(value) - pointer.x).abs());
            // Where both ends lie together, the side of the pointer decides.
            usize::from(high < low || (high == low && pointer.x > x_of(band[1])))
        };
        let which = if response.drag_started() || response.clicked() {
            nearest()
        } else {
            ui.data(|data| data.get_temp(held)).unwrap_or_else(nearest)
        };
        ui.data_mut(|data| data.insert_temp(held, which));
        let share = f64::from((pointer.x - rail.left()) / rail.width()).clamp(0.0, 1.0);
        let step = if span > 20.0 { 1.0 } else { 0.01 };
        let value = ((range.low + share * span) / step).round() * step;
        let moved = if which == 0 { value.min(band[1]) } else { value.max(band[0]) };
        if moved != band[which] {
            band[which] = moved;
            response.mark_changed();
        }
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "Range"));
    let (colours, visuals) = (colours(ui), ui.style().interact(&response));
    let middle = rail.center().y;
    let thick = ui.spacing().slider_rail_height;
    let bar = |from: f32, to: f32| egui::Rect::from_x_y_ranges(from..=to, middle - 0.5 * thick..=middle + 0.5 * thick);
    ui.painter().rect_filled(bar(rail.left(), rail.right()), 2.0, colours.sunken);
    let [low, high] = band.map(x_of);
    ui.painter().rect_filled(bar(low, high), 2.0, colours.accent);
    for x in [low, high] {
        let stroke = Stroke::new(1.0, visuals.fg_stroke.color);
        ui.painter().circle(egui::pos2(x, middle), radius, visuals.bg_fill, stroke);
    }
    response
}

/// What a card of a list shows and does.
pub(super) struct Card<'a> {
    pub(super) name: &'a str,
    pub(super) enabled: &'a mut bool,
    /// A colour to choose, before the name.
    pub(super) colour: Option<&'a mut Colour>,
    /// A small picture behind the colour; its place is kept as long as it is not there.
    pub(super) picture: Option<Option<egui::TextureId>>,
    /// Whether it is the only one that is shown, if it can be.
    pub(super) solo: Option<bool>,
    pub(super) selected: bool,
    /// Small print at the right of a card that is not selected.
    pub(super) note: String,
    pub(super) doc: &'a str,
    /// How far it has come, from 0 to 1, if that is to be seen.
    pub(super) progress: Option<f32>,
    /// Whether it can move towards the top of the list, and towards its bottom.
    pub(super) can_move: [bool; 2],
}

/// What the user does with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardDeed {
    Select,
    Delete,
    Duplicate,
    Up,
    Down,
    Solo,
}

impl Card<'_> {
    /// Draws the card, and `below` it what belongs to it.
    pub(super) fn ui(self, ui: &mut Ui, below: impl FnOnce(&mut Ui)) -> Option<CardDeed> {
        let colours = colours(ui);
        let fill = if self.selected { colours.hovered } else { colours.raised };
        let stroke = if self.selected { colours.accent } else { colours.raised };
        let frame =
            Frame::new().fill(fill).stroke((1.0, stroke)).corner_radius(4.0).inner_margin(Margin::symmetric(4, 1));
        let progress = self.progress;
        let shown = frame.show(ui, |ui| {
            let deed = ui.horizontal(|ui| self.row_ui(ui)).inner;
            below(ui);
            deed
        });
        if let Some(progress) = progress.filter(|progress| *progress < 1.0) {
            let (left, right) = (shown.response.rect.left() + 4.0, shown.response.rect.right() - 4.0);
            let y = shown.response.rect.bottom() - 1.0;
            ui.painter().hline(left..=right, y, Stroke::new(1.5, colours.line));
            ui.painter().hline(left..=left + (right - left) * progress, y, Stroke::new(1.5, colours.accent));
        }
        shown.inner
    }

    fn row_ui(self, ui: &mut Ui) -> Option<CardDeed> {
        let Self { name, enabled, colour, picture, solo, selected, note, doc, can_move, progress: _ } = self;
        let [up, down] = can_move;
        let mut deed = None;
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.spacing_mut().button_padding.x = 2.0;
        let (icon, verb) = if *enabled { (ICON_VISIBILITY, "Switch off") } else { (ICON_VISIBILITY_OFF, "Switch on") };
        if icon_button(ui, icon, &format!("{verb} {name}")).clicked() {
            *enabled = !*enabled;
        }
        if let Some(Colour(srgb)) = colour {
            ui.spacing_mut().interact_size.x = 24.0;
            let button = ui.color_edit_button_srgb(srgb).on_hover_text("Colour");
            button.widget_info(|| WidgetInfo::labeled(Role::ColorWell, true, format!("Colour of {name}")));
        }
        if let Some(texture) = picture {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::hover());
            if let Some(texture) = texture {
                egui::Image::new((texture, rect.size())).corner_radius(2.0).paint_at(ui, rect);
            }
        }
        // From the right, so that the name gets what is left and is cut where it is too long.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if selected {
                ui.spacing_mut().item_spacing.x = 0.0;
                for (icon, found, verb, possible) in [
                    (ICON_DELETE, CardDeed::Delete, "Delete", true),
                    (ICON_CONTENT_COPY, CardDeed::Duplicate, "Duplicate", true),
                    (ICON_ARROW_DOWNWARD, CardDeed::Down, "Move down", down),
                    (ICON_ARROW_UPWARD, CardDeed::Up, "Move up", up),
                ] {
                    if icon_button_enabled(ui, icon, &format!("{verb} {name}"), possible).clicked() {
                        deed = Some(found);
                    }
                }
            } else {
                note_ui(ui, &note);
            }
            if let Some(alone) = solo {
                let verb = if alone { "Show all types, not only" } else { "Show only" };
                if solo_button(ui, alone, &format!("{verb} {name}")).clicked() {
                    deed = Some(CardDeed::Solo);
                }
            }
            let colour = if *enabled { colours(ui).text } else { colours(ui).weak };
            let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
            let text = egui::RichText::new(name).color(colour);
            let mut inside =
                ui.new_child(egui::UiBuilder::new().max_rect(rect).layout(Layout::left_to_right(Align::Center)));
            inside.add(egui::Label::new(text).truncate());
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name));
            if response.clicked() {
                deed = Some(CardDeed::Select);
            }
            if !doc.is_empty() {
                response.on_hover_text(doc);
            }
        });
        deed
    }
}

/// Small print at the right of a card, in a place of its own, so that what stands beside it does not move.
pub(super) fn note_ui(ui: &mut Ui, note: &str) {
    let text = egui::RichText::new(note).size(11.0).color(colours(ui).weak);
    let width = if note.len() > 6 { 56.0 } else { 36.0 };
    let (rect, _) = ui.allocate_exact_size(Vec2::new(width, ui.spacing().interact_size.y), Sense::hover());
    let place = egui::UiBuilder::new().max_rect(rect).layout(Layout::right_to_left(Align::Center));
    ui.new_child(place).label(text);
}

/// The button that shows one thing alone, quiet until it does.
pub(super) fn solo_button(ui: &mut Ui, on: bool, name: &str) -> Response {
    // Not in a scope, which would stand at the top of its row and not in the middle.
    let style = ui.style().clone();
    ui.spacing_mut().button_padding.x = 2.0;
    ui.visuals_mut().widgets.inactive.fg_stroke.color = if on { colours(ui).accent } else { colours(ui).weak };
    let response = icon_button(ui, ICON_ADJUST, name);
    ui.set_style(style);
    response
}

/// A heading over a part of a panel, in small capitals' stead.
pub(super) fn heading(ui: &mut Ui, text: &str) {
    ui.label(egui::RichText::new(text.to_uppercase()).size(11.0).color(colours(ui).weak).strong());
}
