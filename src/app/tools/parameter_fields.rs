//! Parameters of a tool in the tool bar: a row of fields from the table of a group.

use egui::{Checkbox, ComboBox, DragValue, Role, Ui, WidgetInfo};

use crate::engine::parameters::{Group, Kind, Parameter, Scale, Value, group_values};

/// Draws the parameters with these keys that apply now; `owner` names them for screen readers.
pub(super) fn fields_ui(ui: &mut Ui, owner: &str, group: &mut dyn Group, keys: &[&str]) {
    for parameter in group.table().iter().filter(|parameter| keys.contains(&parameter.key)) {
        if !parameter.applies(&group_values(group)) {
            continue;
        }
        let Some(value) = group.get(parameter.key) else { continue };
        if let Some(changed) = field_ui(ui, owner, parameter, &value) {
            // A value outside the hard range is ignored.
            let _ = group.set(parameter.key, &changed);
        }
    }
}

/// Draws a parameter; returns its new value if it was changed.
fn field_ui(ui: &mut Ui, owner: &str, parameter: &Parameter, value: &Value) -> Option<Value> {
    let name = format!("{owner}: {}", parameter.label);
    match (value, parameter.kind) {
        (Value::Number(number), _) => {
            let mut changed = *number;
            let speed = match parameter.scale {
                Scale::Logarithmic => 0.01 * number.abs().max(0.1),
                Scale::Linear => 0.005 * (parameter.slider.high - parameter.slider.low),
            };
            let limits = parameter.hard.low..=parameter.hard.high;
            let label = format!("{} ", parameter.label);
            let mut field = DragValue::new(&mut changed).range(limits).speed(speed).max_decimals(3).prefix(label);
            if !parameter.unit.is_empty() {
                field = field.suffix(format!(" {}", parameter.unit));
            }
            let response = ui.add(field).on_hover_text(parameter.doc);
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &name));
            (changed != *number).then_some(Value::Number(changed))
        }
        (Value::Choice(key), Kind::Choice(choices)) => {
            let mut changed = *key;
            let label = choices.iter().find(|choice| choice.key == *key).map_or("", |choice| choice.label);
            let combo = ComboBox::from_id_salt(&name).selected_text(label).width(88.0);
            let shown = combo.show_ui(ui, |ui| {
                for choice in choices {
                    ui.selectable_value(&mut changed, choice.key, choice.label).on_hover_text(choice.doc);
                }
            });
            let response = shown.response.on_hover_text(parameter.doc);
            response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
            (changed != *key).then_some(Value::Choice(changed))
        }
        (Value::Boolean(is_on), _) => {
            let mut changed = *is_on;
            ui.add(Checkbox::new(&mut changed, parameter.label)).on_hover_text(parameter.doc);
            (changed != *is_on).then_some(Value::Boolean(changed))
        }
        _ => None,
    }
}
