//! Structs of parameters, and the types that their fields can have.

use std::fmt;

use super::error::ParameterError;
use super::table::{Kind, Parameter, Spec};
use super::types::{Band, Colour, FileName, Limits, Matrix, Point, TextureName, Weighted};
use super::value::{Value, Values};

/// A struct whose fields are parameters, for code that does not know its type.
pub trait Group {
    /// The table of the struct's parameters.
    fn table(&self) -> &'static [Parameter];
    /// The value of a parameter; `None` if no parameter has that key.
    fn get(&self, key: &str) -> Option<Value>;
    /// Sets a parameter after checking the value; on an error nothing is changed.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), ParameterError>;
}

/// A struct declared by the `parameters!` macro.
pub trait Parameters: Group + Default + Clone + PartialEq + fmt::Debug {
    /// A description of the struct, from its doc comment.
    const DOC: &'static str;
    /// The table of the struct's parameters.
    fn parameters() -> &'static [Parameter];
}

/// The values of all parameters of `group`, in the table's order.
pub fn group_values(group: &dyn Group) -> Values {
    let value = |parameter: &Parameter| (parameter.key, group.get(parameter.key).unwrap_or(Value::None));
    group.table().iter().map(value).collect()
}

/// The row of a table with that key.
pub fn find_parameter<'a>(table: &'a [Parameter], key: &str) -> Result<&'a Parameter, ParameterError> {
    let found = table.iter().find(|parameter| parameter.key == key);
    found.ok_or_else(|| ParameterError::unknown_key(key, table.iter().map(|parameter| parameter.key)))
}

impl Parameter {
    /// The typed value of the field that the row describes, checked where it differs from the present one.
    pub fn checked_field<F: Field>(&self, present: &F, value: &Value) -> Result<F, ParameterError> {
        self.check_change(&present.to_value(), value)?;
        F::from_value(value).ok_or_else(|| self.wrong_kind(self.kind, &value.to_json()))
    }
}

/// A type that a parameter can have.
pub trait Field: Sized {
    /// Its kind in the table.
    const KIND: Kind;
    /// Whether it can be [`Value::None`].
    const NULLABLE: bool = false;
    /// The value without its Rust type.
    fn to_value(&self) -> Value;
    /// The typed value; `None` if `value` is of another kind.
    fn from_value(value: &Value) -> Option<Self>;
}

impl Spec {
    /// The row of the table for a field of type `F`.
    pub fn row<F: Field>(self, key: &'static str, doc: &'static str, default: &F) -> Parameter {
        let Self { label, unit, hard, slider, scale, none, when, both_sides, is_fixed, .. } = self;
        let Self { needs_items, is_sparse, is_unwrapped, is_mask_name, is_percent, .. } = self;
        let (slider, default) = (slider.unwrap_or(hard), default.to_value());
        let (kind, nullable, doc) = (F::KIND, F::NULLABLE, doc.trim());
        Parameter {
            key,
            label,
            unit,
            kind,
            nullable,
            none,
            hard,
            slider,
            scale,
            default,
            doc,
            when,
            both_sides,
            is_fixed,
            needs_items,
            is_sparse,
            is_unwrapped,
            is_mask_name,
            is_percent,
        }
    }
}

/// Implements [`Field`] for a `Copy` type that a variant of [`Value`] holds.
macro_rules! field {
    ($type:ty, $variant:ident) => {
        impl Field for $type {
            const KIND: Kind = Kind::$variant;
            fn to_value(&self) -> Value {
                Value::$variant(*self)
            }
            fn from_value(value: &Value) -> Option<Self> {
                if let Value::$variant(value) = value { Some(*value) } else { None }
            }
        }
    };
}

field!(f64, Number);
field!(u32, Integer);
field!(bool, Boolean);
field!(Colour, Colour);
field!(Band, Band);
field!(Limits, Limits);
field!(Weighted, Weighted);
field!(Point, Point);

impl Field for Matrix {
    const KIND: Kind = Kind::Matrix;
    fn to_value(&self) -> Value {
        Value::Matrix(self.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Matrix(matrix) = value { Some(matrix.clone()) } else { None }
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_text().map(Self::from)
    }
}

impl Field for FileName {
    const KIND: Kind = Kind::File;
    fn to_value(&self) -> Value {
        Value::Text(self.0.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_text().map(|name| Self(name.into()))
    }
}

impl Field for TextureName {
    const KIND: Kind = Kind::Texture;
    fn to_value(&self) -> Value {
        Value::Text(self.0.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_text().map(|name| Self(name.into()))
    }
}

impl<F: Field> Field for Option<F> {
    const KIND: Kind = F::KIND;
    const NULLABLE: bool = true;
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::None, F::to_value)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if value.is_none() { Some(None) } else { F::from_value(value).map(Some) }
    }
}
