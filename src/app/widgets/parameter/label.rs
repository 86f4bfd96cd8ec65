//! The label of a parameter.

use egui::{Align, Color32, Label, Layout, Response, Sense, TextStyle, Ui, Vec2};
use egui_material_icons::icons::{ICON_LOCK, ICON_LOCK_OPEN};

use super::context::{Locks, ParameterContext};
use crate::app::widgets::small_icon_button;
use crate::engine::mutation::can_mutate;
use crate::engine::parameters::{Kind, Parameter, Value};

/// The width of the column of labels, points.
pub(super) const LABEL_WIDTH: f32 = 120.0;

/// The width of a lock at the end of a label, points.
const LOCK_WIDTH: f32 = 16.0;

/// Draws the label with its tooltip, lock, context menu and reset on double-click.
pub(super) fn label_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    context: &mut ParameterContext,
) -> Response {
    let mut locks = context.locks.as_mut().filter(|_| can_mutate(parameter));
    // A long label has two lines. A lock takes its place at the end when it appears.
    let width = if locks.is_some() { LABEL_WIDTH - LOCK_WIDTH } else { LABEL_WIDTH };
    let font = TextStyle::Body.resolve(ui.style());
    let text_height = ui.painter().layout(parameter.label.into(), font, Color32::PLACEHOLDER, width).size().y;
    let height = text_height.max(ui.spacing().interact_size.y);
    let (rect, _) = ui.allocate_exact_size(Vec2::new(LABEL_WIDTH, height), Sense::hover());
    let is_locked = locks.as_ref().is_some_and(|locks| locks.is_locked(parameter.key));
    let text_rect = rect.with_max_x(rect.left() + width);
    let layout = Layout::left_to_right(Align::Center);
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(text_rect).layout(layout));
    let is_pointed = ui.rect_contains_pointer(rect);
    if let Some(locks) = locks.as_mut().filter(|_| is_locked || is_pointed) {
        let lock_rect = rect.with_min_x(rect.right() - LOCK_WIDTH);
        lock_ui(ui, lock_rect, parameter, locks, is_locked);
    }
    let label = Label::new(parameter.label).wrap();
    let response = inner.add(label.sense(Sense::CLICK)).on_hover_ui(|ui| tooltip_ui(ui, parameter, value));
    if response.double_clicked() {
        value.clone_from(&parameter.default);
    }
    response.context_menu(|ui| {
        if ui.button("Reset").clicked() {
            value.clone_from(&parameter.default);
        }
        if let Some(locks) = locks {
            let verb = if is_locked { "Unlock" } else { "Lock in variations" };
            if ui.button(verb).clicked() {
                locks.toggle(parameter.key);
            }
        }
        if ui.button("Copy key").clicked() {
            ui.ctx().copy_text(parameter.key.into());
        }
    });
    response
}

fn lock_ui(ui: &mut Ui, rect: egui::Rect, parameter: &Parameter, locks: &mut Locks, is_locked: bool) {
    let layout = Layout::left_to_right(Align::Center);
    let mut inner = ui.new_child(egui::UiBuilder::new().id_salt("lock").max_rect(rect).layout(layout));
    let (icon, verb) = if is_locked { (ICON_LOCK, "Unlock") } else { (ICON_LOCK_OPEN, "Lock") };
    if small_icon_button(&mut inner, icon, &format!("{verb} {} in variations", parameter.label)).clicked() {
        locks.toggle(parameter.key);
    }
}

fn tooltip_ui(ui: &mut Ui, parameter: &Parameter, value: &Value) {
    ui.label(parameter.doc);
    if let (Value::Choice(key), Kind::Choice(choices)) = (value, parameter.kind)
        && let Some(chosen) = choices.iter().find(|choice| choice.key == *key)
    {
        ui.label(format!("{}: {}", chosen.label, chosen.doc));
    }
    let default = &parameter.default;
    // A number in the default has the unit already.
    let has_unit = parameter.unit.is_empty() || default.as_number().is_some() || matches!(default, Value::Band(_));
    let unit = if has_unit { String::new() } else { format!(" in {}", parameter.unit) };
    let text = parameter.value_in_words(default).filter(|_| !matches!(default, Value::Group(_)));
    let text = text.map(|text| format!(" · default {text}")).unwrap_or_default();
    let hint = if *value == *default { "" } else { " (double-click the label to reset)" };
    ui.weak(format!("{}{unit}{text}{hint}", parameter.key));
}
