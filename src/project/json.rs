//! Parses JSON more strictly than `serde_json::Value`: no key may occur twice in an object, and the number of values is
//! limited, because a value takes up to forty times the memory of its text. Writes it with lists of numbers in one line,
//! and small items of lists in one line each.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The most values, which take about 700 MB. A project with 300,000 drawn faults has three million.
const MAX_VALUES: u64 = 10_000_000;

/// Parses a text of JSON.
pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    parse_limited(text, MAX_VALUES)
}

/// The most values of an item that is written in one line, such as a stroke of the brush or a node of a path.
const MAX_IN_LINE: usize = 8;

/// A value as indented text. Lists that hold nothing but numbers, or lists of numbers, are in one line: a stroke of the
/// brush has hundreds. So are items of lists with a few simple values.
pub(super) fn indented(value: &Value) -> String {
    let mut text = String::new();
    write_indented(value, "\n", &mut text);
    text
}

/// `line_break` is a line break with the indentation of the value.
fn write_indented(value: &Value, line_break: &str, text: &mut String) {
    let inner = format!("{line_break}  ");
    match value {
        Value::Object(object) if !object.is_empty() => {
            text.push('{');
            for (i, (key, value)) in object.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                text.push_str(&inner);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
                write_indented(value, &inner, text);
            }
            text.push_str(line_break);
            text.push('}');
        }
        Value::Array(items) if !is_numeric(value) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                text.push_str(&inner);
                match item {
                    Value::Object(object) if is_small(object) => write_in_line(object, text),
                    _ => write_indented(item, &inner, text),
                }
            }
            text.push_str(line_break);
            text.push(']');
        }
        _ => text.push_str(&value.to_string()),
    }
}

fn is_small(object: &Map<String, Value>) -> bool {
    let is_simple = |value: &Value| is_numeric(value) || !(value.is_array() || value.is_object());
    object.len() <= MAX_IN_LINE && object.values().all(is_simple)
}

fn write_in_line(object: &Map<String, Value>, text: &mut String) {
    text.push('{');
    for (i, (key, value)) in object.iter().enumerate() {
        text.push_str(if i == 0 { "" } else { ", " });
        text.push_str(&format!("{}: {value}", Value::from(key.as_str())));
    }
    text.push('}');
}

/// Whether a value holds nothing but numbers.
fn is_numeric(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().all(is_numeric),
        _ => false,
    }
}

fn parse_limited(text: &str, max_values: u64) -> Result<Value, serde_json::Error> {
    let left = Cell::new(max_values);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { left: &left, max_values }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    /// How many more values are allowed.
    left: &'a Cell<u64>,
    max_values: u64,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| D::Error::custom(format!("it has more than {} values", self.max_values)))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key \"{key}\" occurs twice")));
            }
            object.insert(key, map.next_value_seed(self)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_and_small_items_are_written_in_one_line() {
        let value = serde_json::json!({"a": [[1, 2.5], [3, 4]], "b": [{"c": "x\"y"}, []], "d": {}, "e": null});
        let text = indented(&value);
        assert_eq!(
            text,
            "{\n  \"a\": [[1,2.5],[3,4]],\n  \"b\": [\n    {\"c\": \"x\\\"y\"},\n    []\n  ],\n  \
             \"d\": {},\n  \"e\": null\n}"
        );
        assert_eq!(parse(&text).expect("valid"), value);
    }

    #[test]
    fn values_are_those_of_serde_json() {
        for text in [r#"{"a": [1, -2, 0.1, 1e300, 18446744073709551615], "b": {"c": null, "d": "é\n"}}"#, "true", "[]"]
        {
            assert_eq!(parse(text).expect(text), serde_json::from_str::<Value>(text).expect(text));
        }
        for text in ["", "{", "[1,]", "1 2", "1e999"] {
            assert_eq!(parse(text).is_err(), serde_json::from_str::<Value>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_named() {
        let error = parse("{\"a\": {\"seed\": 1,\n\"seed\": 2}}").expect_err("twice").to_string();
        assert!(error.contains("\"seed\" occurs twice") && error.contains("line 2"), "{error}");
    }

    #[test]
    fn the_number_of_values_is_limited() {
        assert!(parse_limited("[1, 2, 3]", 4).is_ok());
        let error = parse_limited("[1, 2, 3, 4]", 4).expect_err("too many").to_string();
        assert!(error.contains("more than 4 values"), "{error}");
    }
}
