//! The controls of a group, one below another.

use std::collections::BTreeSet;

use egui::{Align, RichText, Ui};
use egui_material_icons::icons::ICON_CLOSE;

use super::choice::{boolean_ui, choice_ui, colour_ui, file_ui, text_ui};
use super::context::ParameterContext;
use super::label::{LABEL_WIDTH, label_ui};
use super::list::{item_header_ui, list_header_ui, new_item, unfolded_after_removal, weighted_ui};
use super::number::number_ui;
use super::range::{band_ui, limits_ui, matrix_ui, point_ui};
use super::row::{defaults_for, row};
use super::texture::texture_ui;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{checkbox, icon_button};
use crate::engine::parameters::{Group, Kind, Parameter, Value, Values, group_values, kind_label};

/// Draws a control for every parameter of `group` that applies, except the `hidden` ones, and sets those that were
/// changed. Returns the key of the parameter for which, or inside which, the user wants to choose a file.
pub(crate) fn group_ui(
    ui: &mut Ui,
    group: &mut dyn Group,
    hidden: &[&str],
    context: &mut ParameterContext,
) -> Option<&'static str> {
    let mut values = group_values(group);
    let wants_file = table_ui(ui, group.table(), &mut values, hidden, context);
    for (key, value) in values {
        if group.get(key).as_ref() != Some(&value) {
            // The controls clamp to the hard ranges; a value that is refused all the same is left unchanged.
            let _ = group.set(key, &value);
        }
    }
    wants_file
}

fn table_ui(
    ui: &mut Ui,
    table: &'static [Parameter],
    values: &mut Values,
    hidden: &[&str],
    context: &mut ParameterContext,
) -> Option<&'static str> {
    let mut wants_file = None;
    for parameter in table {
        if hidden.contains(&parameter.key) || !parameter.applies(values) {
            continue;
        }
        let throw = parameter.throw(values);
        let Some(value) = values.get_mut(parameter.key) else { continue };
        let found = context.overrides.iter().find(|found| found.key == parameter.key);
        let default = context.defaults.get(parameter.key).cloned();
        let overridden = (found.is_some() || default.is_some()).then(|| Parameter {
            slider: found.map_or(parameter.slider, |found| found.range),
            unit: found.map_or(parameter.unit, |found| found.unit),
            default: default.unwrap_or_else(|| parameter.default.clone()),
            ..parameter.clone()
        });
        let shown = overridden.as_ref().unwrap_or(parameter);
        let is_revealed = context.reveal == Some(parameter.key);
        if is_revealed {
            context.state.focus_next = true;
        }
        let row = ui.push_id(parameter.key, |ui| parameter_ui(ui, shown, value, context));
        if let Some(throw) = throw {
            throw_ui(ui, throw);
        }
        if is_revealed {
            // Not every control has a field that takes the focus.
            context.state.focus_next = false;
            row.response.scroll_to_me(Some(Align::Center));
        }
        if row.inner {
            wants_file = Some(parameter.key);
        }
    }
    wants_file
}

/// Says below a displacement how far it moves the two sides apart.
fn throw_ui(ui: &mut Ui, throw: f64) {
    ui.horizontal(|ui| {
        ui.add_space(LABEL_WIDTH + ui.spacing().item_spacing.x);
        let text = format!("\u{b1}{} m ({} m throw)", rounded(0.5 * throw), rounded(throw));
        ui.label(RichText::new(text).size(11.0).color(colours(ui).weak));
    });
}

/// A length with as many decimals as its field has.
fn rounded(length_m: f64) -> f64 {
    let factor = if length_m < 20.0 { 100.0 } else { 10.0 };
    (length_m * factor).round() / factor
}

/// One row, or several for groups and lists; returns whether the user wants to choose a file.
fn parameter_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, context: &mut ParameterContext) -> bool {
    match parameter.kind {
        Kind::Integer | Kind::Number => row(ui, parameter, value, context, number_ui),
        Kind::Boolean => row(ui, parameter, value, context, boolean_ui),
        Kind::Choice(_) => row(ui, parameter, value, context, choice_ui),
        Kind::Colour => row(ui, parameter, value, context, colour_ui),
        Kind::Text => row(ui, parameter, value, context, text_ui),
        Kind::Band => row(ui, parameter, value, context, band_ui),
        Kind::Limits => row(ui, parameter, value, context, limits_ui),
        Kind::Point => row(ui, parameter, value, context, point_ui),
        Kind::File => row(ui, parameter, value, context, file_ui),
        Kind::Texture => row(ui, parameter, value, context, texture_ui),
        Kind::Matrix => matrix_ui(ui, parameter, value, context),
        Kind::List(item_kind) => list_ui(ui, parameter, *item_kind, value, context),
        Kind::Group(table) => optional_group_ui(ui, parameter, table(), value, context),
        Kind::Weighted => false,
    }
}

/// The items one below another; returns whether the user wants to choose a file for one of them.
fn list_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    item_kind: Kind,
    value: &mut Value,
    context: &mut ParameterContext,
) -> bool {
    let adds = list_header_ui(ui, parameter, item_kind, value, context);
    let Value::List(items) = value else { return false };
    let list = ui.scope_id().with("list");
    let mut unfolded = context.state.unfolded.remove(&list).unwrap_or_default();
    if let Some(i) = context.state.take_revealed(parameter.key).filter(|i| *i < items.len()) {
        unfolded = BTreeSet::from([i]);
        context.state.added = Some((list, i));
    }
    let added = context.state.added.filter(|(id, _)| *id == list).map(|(_, i)| i);
    let top = ui.cursor().top();
    let (mut changed, mut removed, mut wants_file) = (Vec::new(), None, false);
    let mut heights = context.state.row_heights.remove(&list).unwrap_or_default();
    // Locks and textures are for the parameters of the outer group.
    let overrides = context.overrides.clone();
    let mut inner = ParameterContext { overrides, ..ParameterContext::new(context.state) };
    let drawn = heights.rows_ui(ui, items.len(), |ui, i| {
        let before = items.get(i).unwrap_or(Value::None);
        let mut item = before.clone();
        let row = ui.push_id(i, |ui| match item_kind {
            Kind::Weighted => weighted_ui(ui, parameter, &mut item, &mut inner),
            Kind::Group(table) => {
                let title = format!("{} {}", parameter.item_label(), i + 1);
                // The first mask of a list has none above it with which it could be combined.
                let hidden = if i == 0 { &[SWITCH, "combine"][..] } else { &[SWITCH] };
                let response = item_ui(ui, &title, (table(), hidden), &mut item, unfolded.contains(&i), &mut inner);
                if response.is_unfolded {
                    unfolded.insert(i);
                } else {
                    unfolded.remove(&i);
                }
                if response.wants_file {
                    (wants_file, inner.state.file_item) = (true, Some(i));
                }
                response.removed
            }
            _ => {
                wants_file |=
                    parameter_ui(ui, &Parameter { kind: item_kind, ..parameter.clone() }, &mut item, &mut inner);
                icon_button(ui, ICON_CLOSE, "Remove this row").clicked()
            }
        });
        if added == Some(i) {
            row.response.scroll_to_me(None);
        }
        if row.inner {
            removed = Some(i);
        } else if item != before {
            changed.push((i, item));
        }
        row.response.rect
    });
    if let Some(added) = added {
        if drawn.iter().any(|(i, _)| *i == added) || added >= items.len() {
            // An item within this one may be next.
            context.state.added = context.state.added.filter(|(id, _)| *id != list);
        } else {
            heights.scroll_to(ui, top, added);
        }
    }
    context.state.row_heights.insert(list, heights);
    for (i, item) in changed {
        items.splice(i..i + 1, &[item]);
    }
    if let Some(i) = removed {
        items.splice(i..i + 1, &[]);
        unfolded = unfolded_after_removal(&unfolded, i);
    }
    if adds {
        let end = items.len();
        context.state.added = Some((list, end));
        unfolded.insert(end);
        items.splice(end..end, &[new_item(parameter, item_kind, items)]);
    }
    context.state.unfolded.insert(list, unfolded);
    wants_file
}

/// The key of the parameter that switches an item of a list off, which its header has.
const SWITCH: &str = "enabled";

/// What the user did to a group in a list.
struct ItemResponse {
    wants_file: bool,
    removed: bool,
    is_unfolded: bool,
}

/// A group in a list, below a title that folds it. The switch of a group that can be disabled is next to the title.
fn item_ui(
    ui: &mut Ui,
    title: &str,
    (table, hidden): (&'static [Parameter], &[&str]),
    item: &mut Value,
    is_unfolded: bool,
    context: &mut ParameterContext,
) -> ItemResponse {
    let Value::Group(values) = item else { return ItemResponse { wants_file: false, removed: false, is_unfolded } };
    let name = match values.get("name") {
        Some(Value::Text(name)) if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    let kind = name.as_deref().or(kind_label(table, values));
    let switch = values.get_mut(SWITCH).and_then(|value| match value {
        Value::Boolean(on) => Some(on),
        _ => None,
    });
    let (mut state, header, removed) = item_header_ui(ui, title, kind, switch, is_unfolded);
    let mut wants_file = false;
    state.show_body_indented(&header, ui, |ui| {
        wants_file = table_ui(ui, table, values, hidden, context).is_some();
    });
    ItemResponse { wants_file, removed, is_unfolded: state.is_open() }
}

/// A group with a switch, its parameters in a frame below; returns whether the user wants to choose a file for one of
/// them.
fn optional_group_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    table: &'static [Parameter],
    value: &mut Value,
    context: &mut ParameterContext,
) -> bool {
    ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, value, context);
        let mut on = !value.is_none();
        if checkbox(ui, &mut on, "").labelled_by(label.id).changed() {
            *value = if on { Value::Group(defaults_for(table)) } else { Value::None };
        }
    });
    let Value::Group(values) = value else { return false };
    let frame = egui::Frame::new().stroke((1.0, colours(ui).line)).inner_margin(6.0).corner_radius(4.0);
    // A lock covers the group with everything in it.
    let locks = context.locks.take();
    let wants_file = frame.show(ui, |ui| table_ui(ui, table, values, &[], context).is_some()).inner;
    context.locks = locks;
    wants_file
}
