//! Controls for switches, choices, colours, texts and names.

use egui::{Button, ComboBox, Response, TextEdit, Ui};

use super::context::{ParameterContext, ParameterState};
use super::label::label_ui;
use crate::app::widgets::checkbox;
use crate::engine::parameters::{Colour, Group, Kind, Parameter, Value};

pub(super) fn boolean_ui(
    ui: &mut Ui,
    _parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    _context: &mut ParameterContext,
) -> bool {
    if let Value::Boolean(on) = value {
        checkbox(ui, on, "").labelled_by(label.id);
    }
    false
}

pub(super) fn choice_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    _context: &mut ParameterContext,
) -> bool {
    let (Kind::Choice(choices), Value::Choice(key)) = (parameter.kind, value) else { return false };
    let chosen = choices.iter().find(|choice| choice.key == *key).map_or("", |choice| choice.label);
    let combo = ComboBox::from_id_salt(parameter.key).selected_text(chosen).width(ui.available_width());
    let shown = combo.show_ui(ui, |ui| {
        for choice in choices {
            if ui.selectable_label(choice.key == *key, choice.label).on_hover_text(choice.doc).clicked() {
                *key = choice.key;
            }
        }
    });
    shown.response.labelled_by(label.id);
    false
}

pub(super) fn colour_ui(
    ui: &mut Ui,
    _parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    _context: &mut ParameterContext,
) -> bool {
    if let Value::Colour(colour) = value {
        let Colour(srgb) = colour;
        ui.color_edit_button_srgb(srgb).labelled_by(label.id);
        ui.weak(colour.to_string());
    }
    false
}

/// A field whose text is applied when the field loses the focus, so that a word is one edit and not one per letter.
pub(super) fn text_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let Value::Text(known) = value else { return false };
    let id = ui.scope_id().with(("text", parameter.key));
    let mut text = context.state.typed.remove(&id).unwrap_or_else(|| known.clone());
    let response = ui.add(TextEdit::singleline(&mut text).desired_width(f32::INFINITY)).labelled_by(label.id);
    context.state.take_focus(&response);
    if response.lost_focus() {
        *known = text;
    } else if response.has_focus() {
        context.state.typed.insert(id, text);
    }
    false
}

/// A button with the name of the file; returns whether the user wants to choose another one.
pub(super) fn file_ui(
    ui: &mut Ui,
    _parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    _context: &mut ParameterContext,
) -> bool {
    let name = value.as_text().filter(|name| !name.is_empty()).unwrap_or("Choose a file…");
    let button = ui.add_sized(ui.available_size_before_wrap(), Button::new(name).truncate());
    button.labelled_by(label.id).clicked()
}

/// A row for a parameter that holds one of several names, or none of them.
pub(crate) fn name_ui(
    ui: &mut Ui,
    group: &mut dyn Group,
    key: &str,
    none: &str,
    names: &[&str],
    state: &mut ParameterState,
) {
    let Some(parameter) = group.table().iter().find(|parameter| parameter.key == key) else { return };
    let before = group.get(key).unwrap_or(Value::None);
    let mut value = before.clone();
    ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, &mut value, &mut ParameterContext::new(state));
        let chosen = value.as_text().unwrap_or(none).to_string();
        let combo = ComboBox::from_id_salt(key).selected_text(chosen).width(ui.available_width()).truncate();
        let shown = combo.show_ui(ui, |ui| {
            if ui.selectable_label(value.is_none(), none).clicked() {
                value = Value::None;
            }
            for name in names {
                if ui.selectable_label(value.as_text() == Some(*name), *name).clicked() {
                    value = Value::from(*name);
                }
            }
        });
        shown.response.labelled_by(label.id);
    });
    if value != before {
        // Any text is valid.
        let _ = group.set(key, &value);
    }
}
