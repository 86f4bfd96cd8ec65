//! The value of a parameter without its Rust type.

use serde_json::{Map, Value as Json};

use super::types::{Band, Colour, Limits, Matrix, Point, Weighted};

/// The value of a parameter, typed by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An optional parameter that is not set.
    None,
    /// A whole number.
    Integer(u32),
    /// A real number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// Free text, or the name of a file or texture.
    Text(String),
    /// A colour.
    Colour(Colour),
    /// The key of a choice.
    Choice(&'static str),
    /// An interval.
    Band(Band),
    /// An interval that fades out.
    Limits(Limits),
    /// A value with a weight.
    Weighted(Weighted),
    /// A position on the map.
    Point(Point),
    /// A kernel of numbers.
    Matrix(Matrix),
    /// Any number of values of one kind.
    List(Vec<Value>),
    /// The parameters of a struct.
    Group(Values),
}

impl Value {
    /// Whether an optional parameter is not set.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The number, also of a whole number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(number) => Some(f64::from(*number)),
            _ => None,
        }
    }

    /// The text, or the name of a file or texture.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The name that [conditions](super::Parameter::when) compare with: the key of a choice, or `true` or `false`.
    pub(super) fn switch_name(&self) -> Option<&'static str> {
        match self {
            Self::Choice(key) => Some(key),
            Self::Boolean(true) => Some("true"),
            Self::Boolean(false) => Some("false"),
            _ => None,
        }
    }

    /// The value as written to a project.
    pub fn to_json(&self) -> Json {
        match self {
            Self::None => Json::Null,
            Self::Integer(number) => Json::from(*number),
            Self::Number(number) => Json::from(*number),
            Self::Boolean(on) => Json::from(*on),
            Self::Text(text) => Json::from(text.as_str()),
            Self::Colour(colour) => Json::from(colour.to_string()),
            // A number where the choices are numbers.
            Self::Choice(key) => key.parse::<u32>().map_or_else(|_| Json::from(*key), Json::from),
            Self::Band(Band { min, max }) => Json::from(vec![*min, *max]),
            Self::Limits(Limits { min, max, release }) => Json::from(vec![*min, *max, *release]),
            Self::Weighted(Weighted { value, weight }) => Json::from(vec![*value, *weight]),
            Self::Point(Point { x_m, z_m }) => Json::from(vec![*x_m, *z_m]),
            Self::Matrix(matrix) => matrix.rows().map(|row| Json::from(row.to_vec())).collect(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Group(values) => Json::Object(values.to_json()),
        }
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Self {
        Self::Boolean(on)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Point> for Value {
    fn from(point: Point) -> Self {
        Self::Point(point)
    }
}

/// The values of a struct's parameters by key, in the order of its table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// The value of a parameter; `None` if no parameter has that key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The value of a parameter, to be changed in place; `None` if no parameter has that key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The keys and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    /// The values as written to a project.
    pub fn to_json(&self) -> Map<String, Json> {
        self.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect()
    }
}

impl FromIterator<(&'static str, Value)> for Values {
    fn from_iter<I: IntoIterator<Item = (&'static str, Value)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl IntoIterator for Values {
    type Item = (&'static str, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
