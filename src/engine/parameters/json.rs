//! Values of parameters in JSON: projects, `--set` and the `operations` listing.

use serde_json::{Map, Value as Json, json};

use super::error::{ParameterError, not_an_object};
use super::group::{Field, Group, find_parameter, group_values};
use super::table::{Choice, Kind, Parameter};
use super::types::{Band, Colour, Limits, Matrix, Point, Range, Weighted};
use super::value::{Value, Values};

use crate::cast::ToInteger;

/// The values of all parameters of `group` as written to a project, in the table's order.
pub fn group_to_json(group: &dyn Group) -> Map<String, Json> {
    values_to_json(group.table(), &group_values(group))
}

fn values_to_json(table: &[Parameter], values: &Values) -> Map<String, Json> {
    let present = |parameter: &&Parameter| {
        !parameter.is_sparse || values.get(parameter.key).is_none_or(|value| *value != parameter.default)
    };
    let json = |parameter: &Parameter| {
        let value = values.get(parameter.key).unwrap_or(&Value::None);
        let json = match value_to_json(parameter.kind, value) {
            Json::Array(mut items) if parameter.is_unwrapped && items.len() < 2 => items.pop().unwrap_or(Json::Null),
            json => json,
        };
        (parameter.key.to_string(), json)
    };
    table.iter().filter(present).map(json).collect()
}

fn value_to_json(kind: Kind, value: &Value) -> Json {
    match (kind, value) {
        (Kind::Group(table), Value::Group(values)) => Json::Object(values_to_json(table(), values)),
        (Kind::List(of), Value::List(items)) => items.iter().map(|item| value_to_json(*of, &item)).collect(),
        _ => value.to_json(),
    }
}

/// A struct from a JSON object; missing keys keep their defaults.
pub fn group_from_json<G: Group + Default>(json: &Json) -> Result<G, ParameterError> {
    let mut group = G::default();
    let Json::Object(object) = json else {
        return Err(not_an_object(json));
    };
    object.iter().try_for_each(|(key, json)| set_from_json(&mut group, key, json))?;
    Ok(group)
}

/// Sets a parameter after checking the value; on an error nothing is changed.
pub fn set_from_json(group: &mut dyn Group, key: &str, json: &Json) -> Result<(), ParameterError> {
    let value = value_from_json(find_parameter(group.table(), key)?, json)?;
    group.set(key, &value)
}

/// A single field from JSON, checked against its row.
pub fn field_from_json<F: Field>(json: &Json, parameter: &Parameter) -> Result<F, ParameterError> {
    let value = value_from_json(parameter, json)?;
    F::from_value(&value).ok_or_else(|| parameter.wrong_kind(parameter.kind, json))
}

fn value_from_json(parameter: &Parameter, json: &Json) -> Result<Value, ParameterError> {
    match parameter.kind {
        _ if parameter.nullable && json.is_null() => Ok(Value::None),
        Kind::List(of) if parameter.is_unwrapped && !json.is_array() => {
            let item = if json.is_null() { None } else { Some(parse(parameter, *of, json)?) };
            Ok(Value::List(Vec::from_iter(item).into()))
        }
        kind => parse(parameter, kind, json),
    }
}

/// The value of that kind, checked.
fn parse(parameter: &Parameter, kind: Kind, json: &Json) -> Result<Value, ParameterError> {
    let text = || json.as_str().map(|text| Value::Text(text.into()));
    let value = match kind {
        Kind::Integer => whole_number(parameter, json)?,
        Kind::Number => json.as_f64().map(Value::Number),
        Kind::Boolean => json.as_bool().map(Value::Boolean),
        Kind::Text | Kind::File | Kind::Texture => text(),
        Kind::Colour => json.as_str().and_then(Colour::from_hex).map(Value::Colour),
        Kind::Choice(choices) => return choice(parameter, choices, json),
        Kind::Band => numbers(json).map(|[min, max]| Value::Band(Band { min, max })),
        Kind::Limits => numbers(json).map(|[min, max, release]| Value::Limits(Limits { min, max, release })),
        Kind::Weighted => numbers(json).map(|[value, weight]| Value::Weighted(Weighted { value, weight })),
        Kind::Point => numbers(json).map(|[x_m, z_m]| Value::Point(Point { x_m, z_m })),
        Kind::Matrix => matrix(json).map(Value::Matrix),
        Kind::List(of) => return list(parameter, kind, *of, json),
        Kind::Group(table) => {
            return group(table(), json).map(Value::Group).map_err(|error| error.within(parameter.key));
        }
    };
    let value = value.ok_or_else(|| parameter.wrong_kind(kind, json))?;
    // The message about a bad value quotes it verbatim.
    parameter.check_kind(kind, &value, &|| json.clone())?;
    Ok(value)
}

/// A whole number, also written as `5.0`; one that is too large is reported as out of range.
fn whole_number(parameter: &Parameter, json: &Json) -> Result<Option<Value>, ParameterError> {
    let Some(number) = json.as_f64().filter(|number| number.fract() == 0.0) else { return Ok(None) };
    parameter.check_number(number)?;
    // The hard range of a whole number is within u32, so the cast is exact.
    Ok(Some(Value::Integer(number.to_u32())))
}

/// A choice, by its name, or by a number where the choices are numbers.
fn choice(parameter: &Parameter, choices: &'static [Choice], json: &Json) -> Result<Value, ParameterError> {
    let name = json.as_str().map_or_else(|| json.to_string(), String::from);
    let found = choices.iter().find(|choice| choice.key == name);
    found.map(|choice| Value::Choice(choice.key)).ok_or_else(|| parameter.unknown_choice(choices, json))
}

/// Exactly `N` numbers.
fn numbers<const N: usize>(json: &Json) -> Option<[f64; N]> {
    let numbers: Vec<f64> = json.as_array()?.iter().map(Json::as_f64).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn matrix(json: &Json) -> Option<Matrix> {
    let rows = json.as_array()?;
    let row = |row: &Json| row.as_array().filter(|row| row.len() == rows.len()).cloned();
    let rows: Vec<Vec<Json>> = rows.iter().map(row).collect::<Option<_>>()?;
    Matrix::from_numbers(rows.iter().flatten().map(Json::as_f64).collect::<Option<_>>()?)
}

fn list(parameter: &Parameter, kind: Kind, of: Kind, json: &Json) -> Result<Value, ParameterError> {
    let items = json.as_array().ok_or_else(|| parameter.wrong_kind(kind, json))?;
    let read = |(i, item)| parse(parameter, of, item).map_err(|error| error.in_item(parameter.key, i));
    items.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>().map(|items| Value::List(items.into()))
}

fn group(table: &'static [Parameter], json: &Json) -> Result<Values, ParameterError> {
    let Json::Object(object) = json else {
        return Err(not_an_object(json));
    };
    let mut values: Values = table.iter().map(|parameter| (parameter.key, parameter.default.clone())).collect();
    for (key, json) in object {
        let parameter = find_parameter(table, key)?;
        let read = value_from_json(parameter, json)?;
        if let Some(value) = values.get_mut(key) {
            *value = read;
        }
    }
    Ok(values)
}

/// A table as the `operations` listing prints it.
pub fn table_to_json(table: &[Parameter]) -> Json {
    table.iter().map(Parameter::to_json).collect()
}

impl Parameter {
    /// The row as the `operations` listing prints it.
    pub fn to_json(&self) -> Json {
        let mut row = Map::new();
        let ranged = self.kind.is_ranged();
        let range = |range: Range| if ranged { Json::from(vec![range.low, range.high]) } else { Json::Null };
        row.insert("key".into(), self.key.into());
        row.insert("label".into(), self.label.into());
        row.insert("unit".into(), self.unit.into());
        row.insert("kind".into(), self.kind.name().into());
        row.insert("nullable".into(), self.nullable.into());
        row.insert("hard".into(), range(self.hard));
        row.insert("slider".into(), range(self.slider));
        row.insert("default".into(), self.default.to_json());
        let choices = match self.kind {
            Kind::Choice(choices) => choices.iter().map(|choice| Value::Choice(choice.key).to_json()).collect(),
            _ => Json::Null,
        };
        row.insert("choices".into(), choices);
        match self.kind {
            Kind::List(of) => drop(row.insert("of".into(), item_to_json(*of))),
            Kind::Group(table) => drop(row.insert("parameters".into(), table_to_json(table()))),
            _ => {}
        }
        row.insert("doc".into(), self.doc.into());
        Json::Object(row)
    }
}

/// The kind of a list's items as the `operations` listing prints it.
fn item_to_json(kind: Kind) -> Json {
    match kind {
        Kind::Weighted => json!({"kind": kind.name(), "columns": ["value", "weight"]}),
        Kind::Group(table) => json!({"kind": kind.name(), "parameters": table_to_json(table())}),
        _ => json!({"kind": kind.name()}),
    }
}
