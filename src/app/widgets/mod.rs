//! Controls that egui does not have.

pub(crate) mod band_slider;
pub(crate) mod cards;
pub(crate) mod icon;
pub(crate) mod long_list;
mod modal_window;
pub(crate) mod parameter;
pub(crate) mod plot;
pub(crate) mod search;
pub(crate) mod search_list;
pub(crate) mod theme;
pub(crate) mod thumbnail_card;
pub(crate) mod typed_number;
pub(crate) mod typed_text;

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditOutput;
use egui::{
    Align, Button, Checkbox, Color32, ComboBox, EventFilter, Id, InnerResponse, Key, Layout, Response, Role, Sense,
    Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetText,
};
use egui_material_icons::MaterialIcon;
use egui_material_icons::icons::ICON_ADJUST;

pub(crate) use self::modal_window::{ModalWindow, modal};
use crate::app::widgets::theme::colours;
use crate::engine::cast::{ToFloat, ToInteger};

/// Shows the scroll bars of this part of the interface all the time, and not only under the pointer.
pub(crate) fn visible_scroll_bars(ui: &mut Ui) {
    let scroll = &mut ui.spacing_mut().scroll;
    (scroll.dormant_background_opacity, scroll.dormant_handle_opacity) = (0.4, 0.6);
}

/// Gives a text field the focus, with the characters between two positions selected.
pub(crate) fn focus_and_select(ui: &Ui, mut field: TextEditOutput, characters: [usize; 2]) {
    field.response.request_focus();
    let [start, end] = characters.map(CCursor::new);
    field.state.cursor.set_char_range(Some(CCursorRange::two(start, end)));
    field.state.store(ui.ctx(), field.response.id);
}

/// The primary button of a window.
pub(crate) fn main_button(ui: &mut Ui, name: &str, enabled: bool) -> Response {
    ui.add_enabled(enabled, Button::selectable(enabled, name))
}

/// The primary button of a question, which Enter clicks too unless another control has the focus.
pub(crate) fn default_button_ui(ui: &mut Ui, name: &str) -> bool {
    main_button(ui, name, true).clicked() | enter_pressed(ui)
}

/// Whether Enter was pressed while no control had the focus. To be called in every frame of a window: a field gives up the
/// focus in the frame in which Enter ends its editing.
pub(crate) fn enter_pressed(ui: &Ui) -> bool {
    let focused = ui.memory(|memory| memory.focused());
    let before = ui.data_mut(|data| {
        let before = data.get_temp_mut_or_default::<Option<Id>>(Id::unique("focused in the last frame"));
        std::mem::replace(before, focused)
    });
    focused.is_none() && before.is_none() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// Lists of choices that the keyboard can use.
pub(crate) trait ListUi {
    /// Draws the list; `items` draws what it contains while it is open.
    fn list_ui<T>(self, ui: &mut Ui, items: impl FnOnce(&mut Ui) -> T) -> InnerResponse<Option<T>>;
}

impl ListUi for ComboBox<'_> {
    fn list_ui<T>(self, ui: &mut Ui, items: impl FnOnce(&mut Ui) -> T) -> InnerResponse<Option<T>> {
        let shown = self.show_ui(ui, |ui| {
            let inner = items(ui);
            (inner, close_if_picked(ui))
        });
        // Else nothing would have the focus.
        if shown.inner.as_ref().is_some_and(|(_, is_picked)| *is_picked) {
            shown.response.request_focus();
        }
        InnerResponse::new(shown.inner.map(|(inner, _)| inner), shown.response)
    }
}

/// An item of a list of [`ListUi`]. Arrow keys begin at the chosen item.
pub(crate) fn list_item(ui: &mut Ui, is_chosen: bool, text: impl Into<WidgetText>) -> Response {
    let item = ui.selectable_label(is_chosen, text.into());
    // The key that opens the list does not pick the item.
    let is_opening = ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space));
    let focused = ui.memory(|memory| memory.focused()).and_then(|id| ui.ctx().read_response(id));
    let is_here = |focused: Response| focused.layer_id == ui.layer_id();
    if is_chosen && !item.clicked() && !is_opening && !focused.is_some_and(is_here) {
        item.request_focus();
    }
    item
}

/// An item of a list of [`ListUi`] that sets the chosen value.
pub(crate) fn list_value<T: PartialEq>(ui: &mut Ui, chosen: &mut T, value: T, text: impl Into<WidgetText>) -> Response {
    let mut item = list_item(ui, *chosen == value, text);
    if item.clicked() && *chosen != value {
        *chosen = value;
        item.mark_changed();
    }
    item
}

/// Closes the menu or list to which `ui` belongs if one of its items was picked with the keyboard, as egui does after a
/// click; returns whether it was.
pub(crate) fn close_if_picked(ui: &Ui) -> bool {
    let has_focus = |id: Id| ui.ctx().read_response(id).is_some_and(|focused| focused.layer_id == ui.layer_id());
    let is_picked = ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space))
        && !ui.ctx().text_edit_focused()
        && ui.memory(|memory| memory.focused()).is_some_and(has_focus);
    if is_picked {
        ui.close();
    }
    is_picked
}

/// A checkbox in the colours of [`theme::checkbox_visuals`]; the text may be empty.
pub(crate) fn checkbox(ui: &mut Ui, is_on: &mut bool, text: &str) -> Response {
    mark_ui(ui, *is_on, |ui, colour| match text {
        "" => ui.add(Checkbox::without_text(is_on)),
        text => ui.checkbox(is_on, egui::RichText::new(text).color(colour)),
    })
}

/// A radio button in the same colours.
pub(crate) fn radio_button<T: PartialEq>(ui: &mut Ui, chosen: &mut T, value: T, text: &str) -> Response {
    mark_ui(ui, *chosen == value, |ui, colour| ui.radio_value(chosen, value, egui::RichText::new(text).color(colour)))
}

/// Draws a checkbox or a radio button, whose text has the colour that `add` gets.
fn mark_ui(ui: &mut Ui, is_on: bool, add: impl FnOnce(&mut Ui, Color32) -> Response) -> Response {
    let colour = ui.visuals().text_color();
    // Without a scope, which would be aligned to the top of its row.
    let style = ui.style().clone();
    theme::checkbox_visuals(ui.visuals_mut(), is_on);
    let response = add(ui, colour);
    ui.set_style(style);
    response
}

/// A frameless button with an icon; the tooltip is also its accessible name.
pub(crate) fn icon_button(ui: &mut Ui, icon: MaterialIcon, name: &str) -> Response {
    icon_button_enabled(ui, icon, name, true)
}

/// Like [`icon_button`], greyed out if it is disabled.
pub(crate) fn icon_button_enabled(ui: &mut Ui, icon: MaterialIcon, name: &str, enabled: bool) -> Response {
    let button = Button::new(icon.rich_text().size(16.0)).frame_when_inactive(false).min_size(Vec2::splat(20.0));
    let response = ui.add_enabled(enabled, button).on_hover_text(name).on_disabled_hover_text(name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, name));
    response
}

/// A frameless button with a coloured icon.
pub(crate) fn coloured_icon_button(ui: &mut Ui, icon: MaterialIcon, name: &str, colour: Color32) -> Response {
    let button = Button::new(icon.rich_text().size(16.0).color(colour)).frame_when_inactive(false);
    let response = ui.add(button.min_size(Vec2::splat(20.0))).on_hover_text(name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    response
}

/// A frameless button as high as a line of text.
pub(crate) fn small_icon_button(ui: &mut Ui, icon: MaterialIcon, name: &str) -> Response {
    let button = Button::new(icon.rich_text().size(12.0)).frame(false).min_size(Vec2::splat(12.0));
    let response = ui.add(button).on_hover_text(name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    response
}

/// How often the arrow keys were pressed on a focused control, right and down; outlines the control.
pub(crate) fn arrow_keys(ui: &Ui, response: &Response) -> Vec2 {
    if !response.has_focus() {
        return Vec2::ZERO;
    }
    let ring = Stroke::new(1.0, colours(ui).accent);
    ui.painter().rect_stroke(response.rect, 4.0, ring, StrokeKind::Inside);
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    let presses = |key| ui.input(|input| input.num_presses(key)).to_f32();
    Vec2::new(presses(Key::ArrowRight) - presses(Key::ArrowLeft), presses(Key::ArrowDown) - presses(Key::ArrowUp))
}

/// The zoom factor of the plus and minus keys on a focused control.
pub(crate) fn zoom_keys(ui: &Ui, response: &Response) -> f32 {
    const STEP: f32 = 1.25;
    if !response.has_focus() {
        return 1.0;
    }
    let presses = |key| ui.input(|input| if input.modifiers.any() { 0 } else { input.num_presses(key).to_i32() });
    libm::powf(STEP, (presses(Key::Plus) + presses(Key::Equals) - presses(Key::Minus)).to_f32())
}

/// Small text at the right of a card, in a fixed width, so that its neighbours do not move.
pub(crate) fn note_ui(ui: &mut Ui, note: &str) -> Response {
    let text = egui::RichText::new(note).size(11.0).color(colours(ui).weak);
    let width = if note.len() > 6 { 56.0 } else { 36.0 };
    let (rect, response) = ui.allocate_exact_size(Vec2::new(width, ui.spacing().interact_size.y), Sense::CLICK);
    let place = egui::UiBuilder::new().max_rect(rect).layout(Layout::right_to_left(Align::Center));
    ui.new_child(place).add(egui::Label::new(text).selectable(false));
    response
}

/// The button that shows one item alone, in the accent colour while it does.
pub(crate) fn solo_button(ui: &mut Ui, on: bool, name: &str) -> Response {
    // Without a scope, which would be aligned to the top of its row.
    let style = ui.style().clone();
    ui.spacing_mut().button_padding.x = 2.0;
    ui.visuals_mut().widgets.inactive.fg_stroke.color = if on { colours(ui).accent } else { colours(ui).weak };
    let response = icon_button(ui, ICON_ADJUST, name);
    ui.set_style(style);
    response
}

/// The heading of a section of a panel.
pub(crate) fn heading(ui: &mut Ui, text: &str) {
    ui.label(egui::RichText::new(text.to_uppercase()).size(11.0).color(colours(ui).weak).strong());
}

/// The end of a long path, where paths differ most.
pub(crate) fn end_of(path: &str, max_chars: usize) -> String {
    let count = path.chars().count();
    if count <= max_chars {
        path.into()
    } else {
        format!("…{}", path.chars().skip(count - max_chars).collect::<String>())
    }
}

/// A sentence that begins with a capital letter, or with the name of a file as it is.
pub(crate) fn capitalised(text: &str) -> String {
    let first_word = text.split_whitespace().next().unwrap_or_default();
    if first_word.trim_end_matches(['.', ',']).contains(['.', '_']) {
        return text.into();
    }
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}
