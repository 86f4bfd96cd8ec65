//! Controls for switches, choices, colours, texts and names.

use egui::{Button, ComboBox, Key, PopupCloseBehavior, Response, Role, TextEdit, Ui, WidgetInfo};

use super::context::{ParameterContext, ParameterState};
use super::label::label_ui;
use crate::app::widgets::{ListUi, capitalised, checkbox, close_if_picked, focus_and_select, list_item};
use crate::engine::parameters::{Colour, FileName, Group, Kind, Parameter, Value};
use crate::files::import::SHIPPED_STAMPS;

pub(super) fn boolean_ui(
    ui: &mut Ui,
    _parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    if let Value::Boolean(on) = value {
        let response = checkbox(ui, on, "").labelled_by(label.id);
        context.state.take_focus(&response);
    }
    false
}

pub(super) fn choice_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let (Kind::Choice(choices), Value::Choice(key)) = (parameter.kind, value) else { return false };
    let chosen = choices.iter().find(|choice| choice.key == *key).map_or("", |choice| choice.label);
    let combo = ComboBox::from_id_salt(parameter.key).selected_text(chosen).width(ui.available_width()).wrap();
    let offered = context.offered.as_ref().filter(|(offered, _)| *offered == parameter.key).map(|(_, keys)| keys);
    let shown = combo.list_ui(ui, |ui| {
        for choice in choices.iter().filter(|choice| offered.is_none_or(|keys| keys.contains(&choice.key))) {
            let is_chosen = choice.key == *key;
            if list_item(ui, is_chosen, choice.label).on_hover_text(choice.doc).clicked() {
                *key = choice.key;
            }
        }
    });
    context.state.take_focus(&shown.response.labelled_by(label.id));
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
    if parameter.is_mask_name {
        mask_name_ui(ui, parameter.key, known, label, context);
        return false;
    }
    let id = ui.scope_id().with(("text", parameter.key));
    let mut text = context.state.typed.remove(&id).unwrap_or_else(|| known.clone());
    let field = TextEdit::singleline(&mut text).desired_width(f32::INFINITY).show(ui);
    let response = field.response.response.clone().labelled_by(label.id);
    if context.state.take_focus_request() {
        focus_and_select(ui, field, [0, text.chars().count()]);
    }
    if response.lost_focus() {
        if !ui.input(|input| input.key_pressed(Key::Escape)) {
            *known = text;
        }
    } else if response.has_focus() {
        context.state.typed.insert(id, text);
    }
    false
}

/// A list of the named masks.
fn mask_name_ui(ui: &mut Ui, key: &str, chosen: &mut String, label: &Response, context: &mut ParameterContext) {
    let text = if chosen.is_empty() { "Choose a mask" } else { chosen.as_str() };
    let combo = ComboBox::from_id_salt(key).selected_text(text).width(ui.available_width()).truncate();
    let shown = combo.list_ui(ui, |ui| {
        for name in &context.state.mask_names {
            if list_item(ui, chosen == name, name).clicked() {
                chosen.clone_from(name);
            }
        }
        if context.state.mask_names.is_empty() {
            ui.weak("No named masks yet: choose Name mask for reuse under another mask");
        }
    });
    context.state.take_focus(&shown.response.labelled_by(label.id));
}

/// A button with the name of the file; returns whether the user wants to choose another one.
pub(super) fn file_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    _context: &mut ParameterContext,
) -> bool {
    let chosen = FileName(value.as_text().unwrap_or_default().into());
    let name = file_title(&chosen);
    let button = Button::new(if name.is_empty() { "Choose a file…" } else { name.as_str() }).truncate();
    let opener = ui.add_sized(ui.available_size_before_wrap(), button).labelled_by(label.id);
    // A parameter whose default ships with the program offers all files that do.
    if !parameter.default.as_text().is_some_and(|name| FileName(name.into()).is_shipped()) {
        return opener.clicked();
    }
    let popup = egui::Popup::menu(&opener).show(|ui| {
        let wants_file = ui.button("Choose a file…").clicked();
        ui.separator();
        for (name, _) in SHIPPED_STAMPS {
            if list_item(ui, chosen.0 == name, file_title(&FileName(name.into()))).clicked() {
                *value = Value::from(name);
            }
        }
        close_if_picked(ui);
        wants_file
    });
    popup.is_some_and(|popup| popup.inner)
}

/// The title of a file: what a shipped one is, or the name of an imported one.
fn file_title(name: &FileName) -> String {
    if !name.is_shipped() {
        return name.0.clone();
    }
    let stem = name.0.trim_start_matches(FileName::SHIPPED).trim_end_matches(FileName::PROJECT_SUFFIX);
    capitalised(&stem.replace('-', " "))
}

/// A row for a parameter that holds one of several names, or none of them. Shows their titles; new names can be typed if
/// it `takes_new`.
pub(crate) fn name_ui(
    ui: &mut Ui,
    group: &mut dyn Group,
    key: &str,
    names: &[&str],
    title: impl Fn(&str) -> String,
    takes_new: bool,
    state: &mut ParameterState,
) {
    let Some(parameter) = group.table().iter().find(|parameter| parameter.key == key) else { return };
    let before = group.get(key).unwrap_or(Value::None);
    let mut value = before.clone();
    ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, &mut value, &mut ParameterContext::new(state));
        let chosen = value.as_text().filter(|name| !name.is_empty()).map(String::from);
        let combo = ComboBox::from_id_salt(key).width(ui.available_width()).truncate();
        let combo = combo.selected_text(chosen.as_deref().map_or_else(|| parameter.none.into(), &title));
        let shown = combo.close_behavior(PopupCloseBehavior::CloseOnClickOutside).list_ui(ui, |ui| {
            let mut picked = None;
            if list_item(ui, chosen.is_none(), parameter.none).clicked() {
                picked = Some(if parameter.nullable { Value::None } else { Value::from("") });
            }
            for name in names {
                if list_item(ui, chosen.as_deref() == Some(*name), title(name)).clicked() {
                    picked = Some(Value::from(*name));
                }
            }
            if takes_new {
                let new = new_name_ui(ui, &format!("New {}", parameter.label.to_lowercase()), state);
                picked = picked.or(new.map(|name| Value::from(name.as_str())));
            }
            if let Some(picked) = picked {
                value = picked;
                ui.close();
            }
        });
        shown.response.labelled_by(label.id);
    });
    if value != before {
        // Any text is valid.
        let _ = group.set(key, &value);
    }
}

/// A field for a name that is not in the list yet; returns the name once Enter is pressed.
fn new_name_ui(ui: &mut Ui, hint: &str, state: &mut ParameterState) -> Option<String> {
    let id = ui.scope_id().with("new name");
    let mut text = state.typed.remove(&id).unwrap_or_default();
    let response = ui.add(TextEdit::singleline(&mut text).hint_text(hint));
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, hint));
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) && !text.trim().is_empty() {
        return Some(text.trim().into());
    }
    if !text.is_empty() {
        state.typed.insert(id, text);
    }
    None
}
