//! The parts of a list of values.

use std::collections::BTreeSet;

use egui::collapsing_header::{CollapsingState, paint_default_icon};
use egui::{Align, Label, Layout, Response, Role, Sense, Ui, Vec2, WidgetInfo};
use egui_material_icons::icons::{ICON_ADD, ICON_CLOSE, ICON_VISIBILITY, ICON_VISIBILITY_OFF};

use super::context::ParameterContext;
use super::label::label_ui;
use super::number::number_field;
use super::row::{defaults_for, initial_value};
use crate::app::widgets::icon_button;
use crate::app::widgets::typed_number::Quantity;
use crate::engine::parameters::{Items, Kind, Parameter, Value, Weighted};

/// The label of a list with the button that adds an item; returns whether that was clicked.
pub(super) fn list_header_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    item_kind: Kind,
    value: &mut Value,
    context: &mut ParameterContext,
) -> bool {
    let added = ui.horizontal(|ui| {
        label_ui(ui, parameter, value, context);
        let count = if let Value::List(items) = value { items.len() } else { 0 };
        ui.weak(match count {
            _ if matches!(item_kind, Kind::Weighted) => "size and weight".into(),
            0 => "none".to_string(),
            count => count.to_string(),
        });
        let right = Layout::right_to_left(Align::Center);
        let name = format!("Add {}", parameter.item_label().to_lowercase());
        ui.with_layout(right, |ui| icon_button(ui, ICON_ADD, &name).clicked()).inner
    });
    added.inner
}

/// A new item: a copy of the last one, if there is one.
pub(super) fn new_item(parameter: &Parameter, item_kind: Kind, items: &Items) -> Value {
    items.len().checked_sub(1).and_then(|last| items.get(last)).unwrap_or_else(|| match item_kind {
        Kind::Weighted => Value::Weighted(Weighted { value: parameter.slider.high * 0.1, weight: 1.0 }),
        Kind::Group(table) => Value::Group(defaults_for(table())),
        _ => initial_value(&Parameter { kind: item_kind, ..parameter.clone() }),
    })
}

/// A value and its weight in one row; returns whether the user removes it.
pub(super) fn weighted_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    item: &mut Value,
    context: &mut ParameterContext,
) -> bool {
    let Value::Weighted(Weighted { value, weight }) = item else { return false };
    let row = ui.horizontal(|ui| {
        ui.add_space(ui.spacing().indent);
        // The button first, so that the fields share what it leaves.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_removed = icon_button(ui, ICON_CLOSE, "Remove this row").clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let width = 0.5 * (ui.available_width() - ui.spacing().item_spacing.x);
                number_field(ui, parameter, value, width, context.state);
                let size = Vec2::new(width, ui.spacing().interact_size.y);
                let field = Quantity { label: "Weight", unit: "", limits: [0.0, 1e9], is_whole: false };
                let field = field.sized_ui(ui, size, weight, |field| field.speed(0.5));
                field.on_hover_text("How often it is chosen relative to the others");
            });
            is_removed
        })
    });
    row.inner.inner
}

/// The title of a group in a list and its name or kind, if it has one, with the switch of a group that can be disabled.
/// Returns the folding state, the header, and whether the user removes the group.
pub(super) fn item_header_ui(
    ui: &mut Ui,
    title: &str,
    kind: Option<&str>,
    switch: Option<&mut bool>,
    is_unfolded: bool,
) -> (CollapsingState, Response, bool) {
    let mut state = CollapsingState::load_with_default_open(ui.ctx(), ui.scope_id().with("item"), is_unfolded);
    state.set_open(is_unfolded);
    let header = ui.horizontal(|ui| {
        let verb = if state.is_open() { "Fold" } else { "Unfold" };
        let toggle = state.show_toggle_button(ui, paint_default_icon);
        toggle.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{verb} {title}")));
        if let Some(on) = switch {
            let (icon, verb) = if *on { (ICON_VISIBILITY, "Disable") } else { (ICON_VISIBILITY_OFF, "Enable") };
            if icon_button(ui, icon, &format!("{verb} {title}")).clicked() {
                *on = !*on;
            }
        }
        if ui.add(Label::new(title).sense(Sense::CLICK)).clicked() {
            state.toggle(ui);
        }
        if let Some(kind) = kind {
            ui.weak(kind);
        }
        let right = Layout::right_to_left(Align::Center);
        ui.with_layout(right, |ui| icon_button(ui, ICON_CLOSE, &format!("Remove {title}")).clicked()).inner
    });
    (state, header.response, header.inner)
}

/// What stays unfolded once the item at `removed` is gone.
pub(super) fn unfolded_after_removal(unfolded: &BTreeSet<usize>, removed: usize) -> BTreeSet<usize> {
    let left = unfolded.iter().filter(|i| **i != removed);
    left.map(|i| if *i > removed { i - 1 } else { *i }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_after_a_removed_one_stay_unfolded() {
        let unfolded = BTreeSet::from([0, 3, 5]);
        assert_eq!(unfolded_after_removal(&unfolded, 3), BTreeSet::from([0, 4]));
        assert_eq!(unfolded_after_removal(&unfolded, 1), BTreeSet::from([0, 2, 4]));
    }
}
