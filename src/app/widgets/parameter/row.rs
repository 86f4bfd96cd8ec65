//! A row with a label and a control, and the values with which optional parameters begin.

use egui::{Response, Ui};

use super::context::ParameterContext;
use super::label::label_ui;
use crate::app::widgets::checkbox;
use crate::engine::cast::ToInteger;
use crate::engine::parameters::{Band, Colour, Kind, Limits, Matrix, Parameter, Point, Value, Values, Weighted};
use crate::files::import::SHIPPED_TEXTURES;

/// Draws the label and, unless the value is none, the control; returns what the control returns: whether the user
/// wants to choose a file.
pub(super) fn row(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    context: &mut ParameterContext,
    control: impl FnOnce(&mut Ui, &Parameter, &mut Value, &Response, &mut ParameterContext) -> bool,
) -> bool {
    let draw = |ui: &mut Ui| {
        let label = label_ui(ui, parameter, value, context);
        if parameter.nullable && !switch_ui(ui, parameter, value, &label) {
            return false;
        }
        control(ui, parameter, value, &label, context)
    };
    ui.horizontal(draw).inner
}

/// The switch of an optional value; returns whether it is on.
fn switch_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) -> bool {
    let mut on = !value.is_none();
    if checkbox(ui, &mut on, "").labelled_by(label.id).changed() {
        *value = if on { initial_value(parameter) } else { Value::None };
    }
    if !on {
        ui.weak(parameter.none);
    }
    on
}

/// The value of an optional parameter when it is switched on.
pub(crate) fn initial_value(parameter: &Parameter) -> Value {
    let middle = 0.5 * (parameter.slider.low + parameter.slider.high);
    match parameter.kind {
        Kind::Integer => Value::Integer(middle.round().to_u32()),
        Kind::Number => Value::Number(middle),
        Kind::Weighted => Value::Weighted(Weighted { value: middle, weight: 1.0 }),
        Kind::Band => Value::Band(Band { min: 0.0_f64.clamp(parameter.hard.low, middle), max: middle }),
        Kind::Limits => {
            let release = 0.1 * (parameter.slider.high - middle);
            Value::Limits(Limits { min: parameter.slider.low, max: middle, release })
        }
        Kind::Point => Value::Point(Point { x_m: middle, z_m: middle }),
        Kind::Matrix => Value::Matrix(Matrix::three([[0.0; 3]; 3])),
        Kind::Boolean => Value::Boolean(false),
        Kind::Text | Kind::File => Value::from(""),
        Kind::Texture => Value::from(SHIPPED_TEXTURES[0].0),
        Kind::Colour => Value::Colour(Colour::WHITE),
        Kind::Choice(choices) => choices.first().map_or(Value::None, |choice| Value::Choice(choice.key)),
        Kind::List(of) if parameter.needs_items => {
            Value::List(vec![initial_value(&Parameter { kind: *of, ..parameter.clone() })].into())
        }
        Kind::List(_) => Value::List(Vec::new().into()),
        Kind::Group(table) => Value::Group(defaults_for(table())),
    }
}

/// The defaults of a table, except that lists that need an item have one: their default is empty, because no item would be
/// right in every project.
pub(super) fn defaults_for(table: &[Parameter]) -> Values {
    let value = |parameter: &Parameter| {
        if parameter.needs_items { initial_value(parameter) } else { parameter.default.clone() }
    };
    table.iter().map(|parameter| (parameter.key, value(parameter))).collect()
}
