//! A JSON Schema of the values in project files, from the tables of parameters (JSON Schema, draft 2020-12).

use serde_json::{Map, Value as Json, json};

use super::table::{Kind, Parameter};
use super::value::Value;

/// The properties of an object with the parameters of a table.
pub fn table_to_schema(table: &[Parameter]) -> Map<String, Json> {
    table.iter().map(|parameter| (parameter.key.to_string(), parameter.to_schema())).collect()
}

/// An object with these properties and no others.
pub fn object_schema(properties: Map<String, Json>) -> Json {
    let mut schema = json!({"type": "object", "additionalProperties": false});
    schema["properties"] = Json::Object(properties);
    schema
}

impl Parameter {
    /// The schema of the parameter's values.
    pub fn to_schema(&self) -> Json {
        let of_kind = self.schema_of(self.kind);
        let mut alternatives = Vec::new();
        if let (true, Kind::List(of)) = (self.is_unwrapped, self.kind) {
            alternatives.push(self.schema_of(*of));
        }
        if self.nullable || self.is_unwrapped {
            alternatives.push(json!({"type": "null"}));
        }
        let mut schema = if alternatives.is_empty() {
            of_kind
        } else {
            alternatives.insert(0, of_kind);
            json!({ "anyOf": alternatives })
        };
        let unit = if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) };
        schema["title"] = format!("{}{unit}", self.label).into();
        schema["description"] = self.doc.into();
        schema["default"] = self.default.to_json();
        schema
    }

    fn schema_of(&self, kind: Kind) -> Json {
        let number = json!({"type": "number", "minimum": self.hard.low, "maximum": self.hard.high});
        let numbers =
            |count: usize, item: Json| json!({"type": "array", "items": item, "minItems": count, "maxItems": count});
        match kind {
            Kind::Integer => json!({"type": "integer", "minimum": self.hard.low, "maximum": self.hard.high}),
            Kind::Number => number,
            Kind::Boolean => json!({"type": "boolean"}),
            Kind::Text | Kind::File | Kind::Texture => json!({"type": "string"}),
            Kind::Colour => json!({"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}),
            // Choices that are numbers can be written as such.
            Kind::Choice(choices) => {
                let texts = choices.iter().map(|choice| json!(choice.key));
                let numbers = choices.iter().map(|choice| Value::Choice(choice.key).to_json()).filter(Json::is_number);
                json!({"enum": texts.chain(numbers).collect::<Vec<_>>()})
            }
            Kind::Band | Kind::Point => numbers(2, number),
            Kind::Limits => numbers(3, json!({"type": "number"})),
            Kind::Weighted => numbers(2, json!({"type": "number"})),
            Kind::Matrix => {
                let row = json!({"type": "array", "items": number, "minItems": 3, "maxItems": 5});
                json!({"type": "array", "items": row, "minItems": 3, "maxItems": 5})
            }
            Kind::List(of) => {
                let items = self.schema_of(*of);
                json!({"type": "array", "items": items, "minItems": usize::from(self.needs_items)})
            }
            Kind::Group(table) => object_schema(table_to_schema(table())),
        }
    }
}
