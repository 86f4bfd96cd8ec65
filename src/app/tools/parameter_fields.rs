//! Parameters of a tool in the tool bar: a row of fields from the table of a group.

use egui::{Checkbox, ComboBox, DragValue, Response, Role, TextEdit, Ui, WidgetInfo};

use crate::app::widgets::parameter::valid_number;
use crate::app::widgets::typed_number::FieldText;
use crate::app::widgets::{ListUi, list_value};
use crate::engine::parameters::{Group, Kind, Parameter, Point, Scale, Value, fraction_of, group_values, percent_of};

/// Draws the parameters with these keys that apply now; `owner` names them for screen readers. A number that is typed and
/// not valid leaves the old one and sets the message.
pub(super) fn fields_ui(ui: &mut Ui, owner: &str, group: &mut dyn Group, keys: &[&str], message: &mut Option<String>) {
    for parameter in group.table().iter().filter(|parameter| keys.contains(&parameter.key)) {
        if !parameter.applies(&group_values(group)) {
            continue;
        }
        let Some(value) = group.get(parameter.key) else { continue };
        if let Some(changed) = field_ui(ui, owner, parameter, &value, message) {
            // A value outside the hard range is ignored.
            let _ = group.set(parameter.key, &changed);
        }
    }
}

/// The width of the field of a text, points.
const TEXT_WIDTH: f32 = 96.0;

/// Draws a number with its name for screen readers and its label; returns the new one if it was changed.
fn number_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    [name, label]: [&str; 2],
    number: f64,
    message: &mut Option<String>,
) -> Option<f64> {
    let mut changed = number;
    let speed = match parameter.scale {
        Scale::Logarithmic => 0.01 * number.abs().max(0.1),
        Scale::Linear => 0.005 * (parameter.slider.high - parameter.slider.low),
    };
    let limits = parameter.hard.low..=parameter.hard.high;
    let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
    let text = FieldText::default();
    let typed = |typed: &str| text.parsed(typed, |typed| valid_number(parameter, typed));
    let field = DragValue::new(&mut changed).range(limits).speed(speed).max_decimals(3).prefix(format!("{label} "));
    let response = ui.add(field.suffix(&unit).custom_parser(typed).update_while_editing(false));
    let (low, high) = (parameter.hard.low, parameter.hard.high);
    let response = response.on_hover_text(format!("{} From {low} to {high}{unit}.", parameter.doc));
    response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, name));
    *message = text.refused().or(message.take());
    (changed != number).then_some(changed)
}

/// Draws the field of a text.
pub(super) fn text_field(ui: &mut Ui, parameter: &Parameter, name: &str, text: &mut String) -> Response {
    ui.label(parameter.label);
    let field = ui.add(TextEdit::singleline(text).desired_width(TEXT_WIDTH)).on_hover_text(parameter.doc);
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, name));
    field
}

/// Draws a parameter; returns its new value if it was changed.
fn field_ui(
    ui: &mut Ui,
    owner: &str,
    parameter: &Parameter,
    value: &Value,
    message: &mut Option<String>,
) -> Option<Value> {
    let name = format!("{owner}: {}", parameter.label);
    match (value, parameter.kind) {
        (Value::Number(fraction), _) if parameter.is_percent => {
            let percent =
                number_ui(ui, &parameter.in_percent(), [&name, parameter.label], percent_of(*fraction), message)?;
            Some(Value::Number(fraction_of(percent)))
        }
        (Value::Number(number), _) => {
            number_ui(ui, parameter, [&name, parameter.label], *number, message).map(Value::Number)
        }
        (Value::Point(Point { x_m, z_m }), _) => {
            let changed = [
                number_ui(ui, parameter, [&format!("{name}, east"), parameter.label], *x_m, message),
                number_ui(ui, parameter, [&format!("{name}, south"), "×"], *z_m, message),
            ];
            let point = Point { x_m: changed[0].unwrap_or(*x_m), z_m: changed[1].unwrap_or(*z_m) };
            changed.iter().any(Option::is_some).then_some(Value::Point(point))
        }
        (Value::Choice(key), Kind::Choice(choices)) => {
            let mut changed = *key;
            let label = choices.iter().find(|choice| choice.key == *key).map_or("", |choice| choice.label);
            // "None" alone does not say of what.
            let label = if label == "None" { format!("{}: none", parameter.label) } else { label.to_string() };
            let combo = ComboBox::from_id_salt(&name).selected_text(label).width(88.0);
            let shown = combo.list_ui(ui, |ui| {
                for choice in choices {
                    list_value(ui, &mut changed, choice.key, choice.label).on_hover_text(choice.doc);
                }
            });
            let response = shown.response.on_hover_text(parameter.doc);
            response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
            (changed != *key).then_some(Value::Choice(changed))
        }
        (Value::Text(text), _) => {
            let mut changed = text.clone();
            text_field(ui, parameter, &name, &mut changed);
            (changed != *text).then_some(Value::Text(changed))
        }
        (Value::Boolean(is_on), _) => {
            let mut changed = *is_on;
            ui.add(Checkbox::new(&mut changed, parameter.label)).on_hover_text(parameter.doc);
            (changed != *is_on).then_some(Value::Boolean(changed))
        }
        _ => None,
    }
}
