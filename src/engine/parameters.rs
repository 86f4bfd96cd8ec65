//! Parameters declared once.
//!
//! The `parameters!` macro declares a struct together with its table: key, label, unit, kind, hard range, slider
//! range, scale, default and doc sentence of every field. Sliders, `--set`, the `operations` listing, the checks of
//! project files and the property tests all walk that table; nothing else names a parameter.
//!
//! Values cross the boundary as [`serde_json::Value`], because that is what projects and the command line speak.

use std::fmt;

use serde_json::{Map, Value};

/// A closed interval of valid or comfortable values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest value that belongs to the interval.
    pub low: f64,
    /// The highest value that belongs to the interval.
    pub high: f64,
}

impl Range {
    /// Whether `value` lies in the interval; NaN and infinities never do.
    pub fn contains(self, value: f64) -> bool {
        value.is_finite() && value >= self.low && value <= self.high
    }
}

/// How a slider spreads its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal ratios, for values that span orders of magnitude.
    Logarithmic,
}

/// One of the values of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name in files and on the command line.
    pub key: &'static str,
    /// The name in the editor.
    pub label: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// What kind of value a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A real number.
    Number,
    /// True or false.
    Boolean,
    /// Free text.
    Text,
    /// The name of an imported heightmap.
    File,
    /// The name of a tileable picture, one that ships or an imported one.
    Picture,
    /// A colour, `#rrggbb` in sRGB.
    Colour,
    /// One of several names.
    Choice(&'static [Choice]),
    /// A pair `[min, max]`, min ≤ max.
    Band,
    /// Three numbers `[min, max, release]`, min ≤ max, release ≥ 0.
    Limits,
    /// A pair `[value, weight]`, weight ≥ 0.
    Weighted,
    /// A place on the map, `[x, z]` in metres east and south of the north-west corner.
    Point,
    /// 3 × 3 or 5 × 5 numbers, row by row.
    Matrix,
    /// Any number of values of one kind.
    List(&'static Kind),
    /// A struct with a table of its own.
    Group(fn() -> &'static [Parameter]),
}

impl Kind {
    /// The kind's name in the `operations` listing.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::File => "file",
            Self::Picture => "picture",
            Self::Colour => "colour",
            Self::Choice(_) => "choice",
            Self::Band => "band",
            Self::Limits => "limits",
            Self::Weighted => "weighted",
            Self::Point => "point",
            Self::Matrix => "matrix",
            Self::List(_) => "list",
            Self::Group(_) => "group",
        }
    }

    /// Whether it consists of numbers that the ranges of its parameter hold for.
    fn is_ranged(self) -> bool {
        match self {
            Self::Integer | Self::Number | Self::Band | Self::Limits | Self::Weighted | Self::Point | Self::Matrix => {
                true
            }
            Self::List(of) => of.is_ranged(),
            Self::Boolean
            | Self::Text
            | Self::File
            | Self::Picture
            | Self::Colour
            | Self::Choice(_)
            | Self::Group(_) => false,
        }
    }

    /// What a message says that a value of this kind looks like.
    fn expectation(self) -> &'static str {
        match self {
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Text => "text in quotes",
            Self::File | Self::Picture => "a file name in quotes",
            Self::Colour => "a colour like \"#ff7a3c\"",
            Self::Choice(_) => "one of its choices",
            Self::Band => "a pair [min, max] with min ≤ max",
            Self::Limits => "three numbers [min, max, release] with min ≤ max and release ≥ 0",
            Self::Weighted => "a pair [value, weight] with weight ≥ 0",
            Self::Point => "a place [x, z] in metres",
            Self::Matrix => "3 rows of 3 numbers or 5 rows of 5",
            Self::List(_) => "a list [ … ]",
            Self::Group(_) => "an object { … }",
        }
    }
}

/// One row of a table of parameters.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name in files and on the command line.
    pub key: &'static str,
    /// The name in the editor, in sentence case.
    pub label: &'static str,
    /// The unit as it is written behind a number; empty for pure numbers.
    pub unit: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// Whether `null` is a value too, meaning "none" or "as derived".
    pub nullable: bool,
    /// The values that are valid.
    pub hard: Range,
    /// The values that are comfortable on a slider.
    pub slider: Range,
    /// How the slider spreads them.
    pub scale: Scale,
    /// The value where none is given.
    pub default: Value,
    /// A sentence that says what it does.
    pub doc: &'static str,
    /// The choice that it belongs to: shown only while that parameter has one of these values.
    pub when: Option<(&'static str, &'static [&'static str])>,
    /// Whether variations leave it alone.
    pub is_fixed: bool,
}

impl Parameter {
    /// Whether the parameter has an effect beside the values of its neighbours, which may switch it off.
    pub fn applies_beside(&self, neighbours: &Map<String, Value>) -> bool {
        self.when.is_none_or(|(key, values)| {
            neighbours.get(key).is_none_or(|chosen| values.contains(&choice_key(chosen).as_str()))
        })
    }

    /// The row as the `operations` listing prints it.
    pub fn to_json(&self) -> Value {
        let mut row = Map::new();
        let ranged = self.kind.is_ranged();
        let range = |range: Range| if ranged { Value::from(vec![range.low, range.high]) } else { Value::Null };
        row.insert("key".into(), self.key.into());
        row.insert("label".into(), self.label.into());
        row.insert("unit".into(), self.unit.into());
        row.insert("kind".into(), self.kind.name().into());
        row.insert("nullable".into(), self.nullable.into());
        row.insert("hard".into(), range(self.hard));
        row.insert("slider".into(), range(self.slider));
        row.insert("default".into(), self.default.clone());
        row.insert(
            "choices".into(),
            match self.kind {
                Kind::Choice(choices) => choices.iter().map(|choice| choice_value(choice.key)).collect(),
                _ => Value::Null,
            },
        );
        match self.kind {
            Kind::List(of @ Kind::Weighted) => {
                row.insert("of".into(), serde_json::json!({"kind": of.name(), "columns": ["value", "weight"]}));
            }
            Kind::List(Kind::Group(table)) => {
                row.insert("of".into(), serde_json::json!({"kind": "group", "parameters": table_to_json(table())}));
            }
            Kind::List(of) => {
                row.insert("of".into(), serde_json::json!({"kind": of.name()}));
            }
            Kind::Group(table) => {
                row.insert("parameters".into(), table_to_json(table()));
            }
            _ => {}
        }
        row.insert("doc".into(), self.doc.into());
        Value::Object(row)
    }

    fn error(&self, problem: Problem) -> ParameterError {
        ParameterError { path: self.key.into(), problem }
    }

    fn wrong_kind(&self, found: &Value) -> ParameterError {
        self.error(Problem::WrongKind {
            label: self.label,
            expected: self.kind.expectation(),
            found: found.to_string(),
        })
    }

    fn checked(&self, value: f64) -> Result<f64, ParameterError> {
        if self.hard.contains(value) {
            Ok(value)
        } else {
            Err(self.error(Problem::OutOfRange { label: self.label, unit: self.unit, value, hard: self.hard }))
        }
    }
}

/// A table as the `operations` listing prints it.
pub fn table_to_json(table: &[Parameter]) -> Value {
    table.iter().map(Parameter::to_json).collect()
}

/// What is declared beside a field: everything in a [`Parameter`] that the field's type and default do not say.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    label: &'static str,
    unit: &'static str,
    hard: Range,
    slider: Option<Range>,
    scale: Scale,
    when: Option<(&'static str, &'static [&'static str])>,
    is_fixed: bool,
}

impl Spec {
    /// A parameter without limits: text, choices, switches, groups.
    pub const fn new(label: &'static str) -> Self {
        let everything = Range { low: f64::MIN, high: f64::MAX };
        Self { label, unit: "", hard: everything, slider: None, scale: Scale::Linear, when: None, is_fixed: false }
    }

    /// A number that is valid from `low` to `high`; the slider spans the same unless [`Self::slider`] narrows it.
    pub const fn number(label: &'static str, low: f64, high: f64) -> Self {
        let mut spec = Self::new(label);
        spec.hard = Range { low, high };
        spec
    }

    /// The comfortable range.
    pub const fn slider(mut self, low: f64, high: f64) -> Self {
        self.slider = Some(Range { low, high });
        self
    }

    /// The unit as it is written behind the number.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Spreads the slider by ratios.
    pub const fn logarithmic(mut self) -> Self {
        self.scale = Scale::Logarithmic;
        self
    }

    /// The parameter matters only while the choice `key` has one of `values`.
    pub const fn when(mut self, key: &'static str, values: &'static [&'static str]) -> Self {
        self.when = Some((key, values));
        self
    }

    /// Variations leave the parameter alone: it is no matter of taste.
    pub const fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }

    /// The row of the table for a field of type `F`.
    pub fn row<F: Field>(self, key: &'static str, doc: &'static str, default: &F) -> Parameter {
        Parameter {
            key,
            label: self.label,
            unit: self.unit,
            kind: F::KIND,
            nullable: F::NULLABLE,
            hard: self.hard,
            slider: self.slider.unwrap_or(self.hard),
            scale: self.scale,
            default: default.to_value(),
            doc: doc.trim(),
            when: self.when,
            is_fixed: self.is_fixed,
        }
    }
}

/// A value refused: where, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The path of keys and indices, outermost first, joined by dots: `stack.0.wind.k`.
    pub path: String,
    /// What is wrong there.
    pub problem: Problem,
}

/// Why a value is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// No parameter has that name.
    UnknownKey {
        /// The known name that is most like it.
        nearest: Option<String>,
    },
    /// The value is of another kind.
    WrongKind {
        /// The parameter's name in the editor.
        label: &'static str,
        /// What a value should look like.
        expected: &'static str,
        /// What was found, as JSON.
        found: String,
    },
    /// The number is outside the hard range.
    OutOfRange {
        /// The parameter's name in the editor.
        label: &'static str,
        /// The parameter's unit.
        unit: &'static str,
        /// What was found.
        value: f64,
        /// What is valid.
        hard: Range,
    },
    /// No choice has that name.
    UnknownChoice {
        /// The parameter's name in the editor.
        label: &'static str,
        /// What was found.
        found: String,
        /// The names there are.
        choices: Vec<&'static str>,
    },
    /// A key that has to be there is not.
    Missing,
}

impl ParameterError {
    /// An unknown key among `known` ones.
    pub fn unknown_key<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self { path: key.into(), problem: Problem::UnknownKey { nearest: nearest_name(key, known) } }
    }

    /// The same error seen from one level further out.
    pub fn within(mut self, outer: impl fmt::Display) -> Self {
        self.path = if self.path.is_empty() { outer.to_string() } else { format!("{outer}.{}", self.path) };
        self
    }

    /// The same error, said of the list `key`, where it is one of item `i`.
    fn of_item(mut self, key: &str, i: usize) -> Self {
        let inside = self.path.strip_prefix(key).unwrap_or_default();
        self.path = format!("{key}.{i}{inside}");
        self
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        match &self.problem {
            Problem::UnknownKey { nearest: Some(nearest) } => {
                write!(f, "there is no such key; did you mean \"{nearest}\"?")
            }
            Problem::UnknownKey { nearest: None } => write!(f, "there is no such key"),
            Problem::WrongKind { label, expected, found } => {
                let found: String = found.chars().take(60).collect();
                write!(f, "{label} must be {expected}, not {found}")
            }
            Problem::OutOfRange { label, unit, value, hard } => {
                let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
                let (low, high, value) = (Written(hard.low), Written(hard.high), Written(*value));
                write!(f, "{label} must be from {low} to {high}{unit}, not {value}")
            }
            Problem::UnknownChoice { label, found, choices } => {
                write!(f, "{label} must be one of {}, not {found}", choices.join(", "))
            }
            Problem::Missing => write!(f, "this key is needed"),
        }
    }
}

impl std::error::Error for ParameterError {}

/// A number in a message: where its digits would be a row of zeros, by its power of ten.
struct Written(f64);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let is_readable = size == 0.0 || (1e-6..1e15).contains(&size);
        if is_readable { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

/// The known name most like `name`, if any is like it at all.
pub fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_string())
}

/// A type that a parameter's value can have.
pub trait Field: Sized {
    /// What the table says of it.
    const KIND: Kind;
    /// Whether `null` is a value.
    const NULLABLE: bool = false;
    /// The value as it is written to a project.
    fn to_value(&self) -> Value;
    /// The value from a project, checked against the parameter's row.
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError>;
}

/// A struct whose fields are parameters, seen without its type: what panels and readers work on.
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
    /// What the struct as a whole does, from its doc comment.
    const DOC: &'static str;
    /// The table of the struct's parameters.
    fn parameters() -> &'static [Parameter];
}

/// Every parameter of `group`, in the table's order.
pub fn group_to_json(group: &dyn Group) -> Map<String, Value> {
    group
        .table()
        .iter()
        .map(|parameter| (parameter.key.to_string(), group.get(parameter.key).unwrap_or(Value::Null)))
        .collect()
}

/// A struct from a JSON object; keys that are not there keep their defaults.
pub fn group_from_json<G: Group + Default>(value: &Value) -> Result<G, ParameterError> {
    let mut group = G::default();
    let Value::Object(object) = value else {
        return Err(not_an_object(value));
    };
    for (key, value) in object {
        group.set(key, value)?;
    }
    Ok(group)
}

/// The error for a value that should have been an object.
pub fn not_an_object(found: &Value) -> ParameterError {
    let problem = Problem::WrongKind { label: "it", expected: "an object { … }", found: found.to_string() };
    ParameterError { path: String::new(), problem }
}

/// The error for a value that should have been a list.
pub fn not_a_list(found: &Value) -> ParameterError {
    let problem = Problem::WrongKind { label: "it", expected: "a list [ … ]", found: found.to_string() };
    ParameterError { path: String::new(), problem }
}

impl Field for f64 {
    const KIND: Kind = Kind::Number;
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        parameter.checked(value.as_f64().ok_or_else(|| parameter.wrong_kind(value))?)
    }
}

impl Field for u32 {
    const KIND: Kind = Kind::Integer;
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let number =
            value.as_f64().filter(|number| number.fract() == 0.0).ok_or_else(|| parameter.wrong_kind(value))?;
        // The hard range of a whole number lies within u32, so the cast is exact.
        parameter.checked(number).map(|number| number as u32)
    }
}

impl Field for bool {
    const KIND: Kind = Kind::Boolean;
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        value.as_bool().ok_or_else(|| parameter.wrong_kind(value))
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;
    fn to_value(&self) -> Value {
        Value::from(self.as_str())
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        value.as_str().map(Self::from).ok_or_else(|| parameter.wrong_kind(value))
    }
}

/// The name of a file that the recipe draws on; its contents come with the [`crate::engine::Inputs`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName(pub String);

impl Field for FileName {
    const KIND: Kind = Kind::File;
    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        value.as_str().map(|name| Self(name.into())).ok_or_else(|| parameter.wrong_kind(value))
    }
}

/// The name of a tileable picture; its pixels come with the [`crate::engine::Inputs`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextureName(pub String);

impl TextureName {
    /// Where the names of the pictures that ship begin.
    pub const SHIPPED: &'static str = "assets/";

    /// Whether it names a picture that ships, or one that is imported.
    pub fn is_shipped(&self) -> bool {
        self.0.starts_with(Self::SHIPPED)
    }
}

impl Field for TextureName {
    const KIND: Kind = Kind::Picture;
    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        value.as_str().map(|name| Self(name.into())).ok_or_else(|| parameter.wrong_kind(value))
    }
}

/// A colour in sRGB, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// White.
    pub const WHITE: Self = Self([255; 3]);

    /// From `#rrggbb`.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Field for Colour {
    const KIND: Kind = Kind::Colour;
    fn to_value(&self) -> Value {
        Value::from(self.to_string())
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        value.as_str().and_then(Self::from_hex).ok_or_else(|| parameter.wrong_kind(value))
    }
}

/// An interval of heights or angles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// The lower limit.
    pub min: f64,
    /// The upper limit.
    pub max: f64,
}

impl Field for Band {
    const KIND: Kind = Kind::Band;
    fn to_value(&self) -> Value {
        Value::from(vec![self.min, self.max])
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let [min, max] = pair(value).ok_or_else(|| parameter.wrong_kind(value))?;
        if min > max {
            return Err(parameter.wrong_kind(value));
        }
        Ok(Self { min: parameter.checked(min)?, max: parameter.checked(max)? })
    }
}

/// An interval with a fade to both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The lower limit.
    pub min: f64,
    /// The upper limit.
    pub max: f64,
    /// The width of the fade outside the limits.
    pub release: f64,
}

impl Field for Limits {
    const KIND: Kind = Kind::Limits;
    fn to_value(&self) -> Value {
        Value::from(vec![self.min, self.max, self.release])
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let numbers: Option<Vec<f64>> = value.as_array().and_then(|items| items.iter().map(Value::as_f64).collect());
        let Some([min, max, release]) = numbers.as_deref().and_then(|numbers| numbers.first_chunk::<3>()).copied()
        else {
            return Err(parameter.wrong_kind(value));
        };
        if min > max || release < 0.0 || value.as_array().is_some_and(|items| items.len() != 3) {
            return Err(parameter.wrong_kind(value));
        }
        Ok(Self { min: parameter.checked(min)?, max: parameter.checked(max)?, release: parameter.checked(release)? })
    }
}

/// A value and how often it is drawn beside others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// Its weight, not negative; only the ratio to the other weights counts.
    pub weight: f64,
}

impl Field for Weighted {
    const KIND: Kind = Kind::Weighted;
    fn to_value(&self) -> Value {
        Value::from(vec![self.value, self.weight])
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let [size, weight] = pair(value).ok_or_else(|| parameter.wrong_kind(value))?;
        if !(0.0..=1e9).contains(&weight) {
            return Err(parameter.wrong_kind(value));
        }
        Ok(Self { value: parameter.checked(size)?, weight })
    }
}

/// A place on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Metres east of the west border.
    pub x_m: f64,
    /// Metres south of the north border.
    pub z_m: f64,
}

impl Field for Point {
    const KIND: Kind = Kind::Point;
    fn to_value(&self) -> Value {
        Value::from(vec![self.x_m, self.z_m])
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let [x_m, z_m] = pair(value).ok_or_else(|| parameter.wrong_kind(value))?;
        Ok(Self { x_m: parameter.checked(x_m)?, z_m: parameter.checked(z_m)? })
    }
}

/// A square of numbers around a sample, 3 × 3 or 5 × 5, row by row, the northernmost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix(Vec<f64>);

impl Matrix {
    /// The sides that a matrix can have.
    pub const SIDES: [usize; 2] = [3, 5];

    /// A 3 × 3 matrix.
    pub fn three(rows: [[f64; 3]; 3]) -> Self {
        Self(rows.concat())
    }

    /// A 5 × 5 matrix.
    pub fn five(rows: [[f64; 5]; 5]) -> Self {
        Self(rows.concat())
    }

    /// How many rows it has, and how many numbers in each.
    pub fn side(&self) -> usize {
        if self.0.len() == 9 { 3 } else { 5 }
    }

    /// Row by row, from north to south, each from west to east.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.0.chunks_exact(self.side())
    }
}

impl Field for Matrix {
    const KIND: Kind = Kind::Matrix;
    fn to_value(&self) -> Value {
        self.rows().map(|row| Value::from(row.to_vec())).collect()
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let wrong_kind = || parameter.wrong_kind(value);
        let rows = value.as_array().filter(|rows| Self::SIDES.contains(&rows.len())).ok_or_else(wrong_kind)?;
        let mut numbers = Vec::with_capacity(rows.len() * rows.len());
        for row in rows {
            let row = row.as_array().filter(|row| row.len() == rows.len()).ok_or_else(wrong_kind)?;
            for number in row {
                numbers.push(parameter.checked(number.as_f64().ok_or_else(wrong_kind)?)?);
            }
        }
        Ok(Self(numbers))
    }
}

/// A choice as it is written to a project: a name, or a number where the choices are numbers.
pub fn choice_value(key: &'static str) -> Value {
    key.parse::<u32>().map_or_else(|_| Value::from(key), Value::from)
}

/// The name of a choice, however it was written.
pub fn choice_key(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

fn pair(value: &Value) -> Option<[f64; 2]> {
    match value.as_array()?.as_slice() {
        [first, second] => Some([first.as_f64()?, second.as_f64()?]),
        _ => None,
    }
}

impl<F: Field> Field for Vec<F> {
    const KIND: Kind = Kind::List(&F::KIND);
    fn to_value(&self) -> Value {
        self.iter().map(F::to_value).collect()
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        let items = value.as_array().ok_or_else(|| parameter.wrong_kind(value))?;
        let of_item = Parameter { kind: F::KIND, ..parameter.clone() };
        let read = |(i, item)| F::from_value(item, &of_item).map_err(|error| error.of_item(parameter.key, i));
        items.iter().enumerate().map(read).collect()
    }
}

impl<F: Field> Field for Option<F> {
    const KIND: Kind = F::KIND;
    const NULLABLE: bool = true;
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, F::to_value)
    }
    fn from_value(value: &Value, parameter: &Parameter) -> Result<Self, ParameterError> {
        if value.is_null() { Ok(None) } else { F::from_value(value, parameter).map(Some) }
    }
}

/// Multiplies every number that is in metres, in groups and lists too, and holds it within its hard range; metres in a
/// year alike, and square metres twice.
pub fn scale_lengths(table: &[Parameter], values: &mut Map<String, Value>, factor: f64) {
    for parameter in table {
        if let Some(value) = values.get_mut(parameter.key) {
            scale_value(parameter, parameter.kind, value, factor);
        }
    }
}

fn scale_value(parameter: &Parameter, kind: Kind, value: &mut Value, factor: f64) {
    let scaled = |value: &mut Value| {
        let factor = match parameter.unit {
            "m" | "mm/year" => factor,
            "m²/year" => factor * factor,
            _ => return,
        };
        if let Some(number) = value.as_f64() {
            let number = three_digits(number * factor);
            *value = Value::from(number.clamp(parameter.hard.low, parameter.hard.high));
        }
    };
    match (kind, value) {
        (Kind::Number, value) => scaled(value),
        (Kind::Band | Kind::Limits | Kind::Point, Value::Array(numbers)) => numbers.iter_mut().for_each(scaled),
        (Kind::Weighted, Value::Array(numbers)) => numbers.iter_mut().take(1).for_each(scaled),
        (Kind::List(of), Value::Array(items)) => {
            items.iter_mut().for_each(|item| scale_value(parameter, *of, item, factor));
        }
        (Kind::Group(table), Value::Object(values)) => scale_lengths(table(), values, factor),
        // Whole numbers count something; a value that is none of its kind is left to the check.
        _ => {}
    }
}

/// The nearest number with three significant digits, so that a scaled value reads well.
fn three_digits(number: f64) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let step = libm::pow(10.0, libm::log10(number.abs()).floor() - 2.0);
    // By division where the step is small: 12 / 100 is 0.12, 12 · 0.01 is not.
    if step < 1.0 { (number / step).round() / (1.0 / step).round() } else { (number / step).round() * step }
}

/// Declares a struct and its table of parameters in one place.
///
/// Each field reads `/// doc` `key: type = default, spec;`. The struct gets `Default`, [`Group`], [`Parameters`] and
/// [`Field`] (so that it can be a field of another), and the doc comments become the tooltips.
macro_rules! parameters {
    (
        $(#[doc = $struct_doc:literal])+
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $type:ty = $default:expr, $spec:expr;
            )*
        }
    ) => {
        $(#[doc = $struct_doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )* }
            }
        }

        impl $crate::engine::parameters::Parameters for $name {
            const DOC: &'static str = concat!($($struct_doc),+).trim_ascii();

            fn parameters() -> &'static [$crate::engine::parameters::Parameter] {
                static TABLE: std::sync::LazyLock<Vec<$crate::engine::parameters::Parameter>> =
                    std::sync::LazyLock::new(|| {
                        let defaults = $name::default();
                        vec![ $( $spec.row(stringify!($key), concat!($($doc),+), &defaults.$key), )* ]
                    });
                &TABLE
            }
        }

        impl $crate::engine::parameters::Group for $name {
            fn table(&self) -> &'static [$crate::engine::parameters::Parameter] {
                <Self as $crate::engine::parameters::Parameters>::parameters()
            }

            fn get(&self, key: &str) -> Option<serde_json::Value> {
                match key {
                    $( stringify!($key) => Some($crate::engine::parameters::Field::to_value(&self.$key)), )*
                    _ => None,
                }
            }

            fn set(
                &mut self,
                key: &str,
                value: &serde_json::Value,
            ) -> Result<(), $crate::engine::parameters::ParameterError> {
                let table = <Self as $crate::engine::parameters::Parameters>::parameters();
                let Some(parameter) = table.iter().find(|parameter| parameter.key == key) else {
                    let known = table.iter().map(|parameter| parameter.key);
                    return Err($crate::engine::parameters::ParameterError::unknown_key(key, known));
                };
                match key {
                    $( stringify!($key) => {
                        self.$key = $crate::engine::parameters::Field::from_value(value, parameter)?;
                    } )*
                    _ => {}
                }
                Ok(())
            }
        }

        impl $crate::engine::parameters::Field for $name {
            const KIND: $crate::engine::parameters::Kind = $crate::engine::parameters::Kind::Group(
                <$name as $crate::engine::parameters::Parameters>::parameters,
            );

            fn to_value(&self) -> serde_json::Value {
                serde_json::Value::Object($crate::engine::parameters::group_to_json(self))
            }

            fn from_value(
                value: &serde_json::Value,
                parameter: &$crate::engine::parameters::Parameter,
            ) -> Result<Self, $crate::engine::parameters::ParameterError> {
                $crate::engine::parameters::group_from_json(value).map_err(|error| error.within(parameter.key))
            }
        }
    };
}

/// Declares an enum whose variants are the choices of a parameter; the first one is the default.
macro_rules! choices {
    (
        $(#[doc = $enum_doc:literal])+
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $key:literal, $label:literal; )+
        }
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            /// Every variant, in the order of its declaration.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];
            const CHOICES: &'static [$crate::engine::parameters::Choice] = &[ $(
                $crate::engine::parameters::Choice {
                    key: $key,
                    label: $label,
                    doc: concat!($($doc),+).trim_ascii(),
                },
            )+ ];

            /// The name in files and on the command line.
            pub fn key(self) -> &'static str {
                match self { $( Self::$variant => $key, )+ }
            }
        }

        impl $crate::engine::parameters::Field for $name {
            const KIND: $crate::engine::parameters::Kind =
                $crate::engine::parameters::Kind::Choice(Self::CHOICES);

            fn to_value(&self) -> serde_json::Value {
                $crate::engine::parameters::choice_value(self.key())
            }

            fn from_value(
                value: &serde_json::Value,
                parameter: &$crate::engine::parameters::Parameter,
            ) -> Result<Self, $crate::engine::parameters::ParameterError> {
                let found = $crate::engine::parameters::choice_key(value);
                Self::ALL.iter().copied().find(|variant| variant.key() == found).ok_or_else(|| {
                    $crate::engine::parameters::ParameterError {
                        path: parameter.key.into(),
                        problem: $crate::engine::parameters::Problem::UnknownChoice {
                            label: parameter.label,
                            found: value.to_string(),
                            choices: Self::ALL.iter().map(|variant| variant.key()).collect(),
                        },
                    }
                })
            }
        }
    };
}

pub(crate) use {choices, parameters};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    choices! {
        /// A choice for the tests.
        pub enum Side {
            /// Towards the west.
            Left = "left", "Left";
            /// Towards the east.
            Right = "right", "Right";
        }
    }

    parameters! {
        /// A group for the tests.
        pub struct Inner {
            /// A share.
            k: f64 = 0.5, Spec::number("Share", 0.0, 1.0);
        }
    }

    parameters! {
        /// An outer group
        /// of two lines.
        pub struct Outer {
            /// A count.
            count: u32 = 3, Spec::number("Count", 0.0, 10.0);
            /// A side.
            side: Side = Side::Left, Spec::new("Side");
            /// An inner group or none.
            inner: Option<Inner> = None, Spec::new("Inner");
            /// Sizes and weights.
            sizes: Vec<Weighted> = vec![Weighted { value: 1.0, weight: 2.0 }], Spec::number("Sizes", 0.0, 100.0);
            /// Groups in a row.
            inners: Vec<Inner> = Vec::new(), Spec::new("Inners");
            /// A place.
            place: Point = Point::default(), Spec::number("Place", -10.0, 10.0);
            /// A matrix.
            matrix: Matrix = Matrix::three([[0.0; 3]; 3]), Spec::number("Matrix", -5.0, 5.0);
        }
    }

    fn check_refused(value: &Value, message: &str) {
        let error = group_from_json::<Outer>(value).expect_err("must be refused");
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn a_group_survives_the_way_through_json() {
        let value = json!({
            "count": 7, "side": "right", "inner": {"k": 0.25}, "sizes": [[3.5, 1.0]], "inners": [{"k": 0.5}, {"k": 1.0}],
            "place": [-3.0, 4.5], "matrix": [[0.0, 1.0, 0.0], [2.0, 3.0, 2.0], [0.0, -1.0, 0.0]],
        });
        let outer: Outer = group_from_json(&value).expect("valid");
        assert_eq!((outer.count, outer.side, outer.inner.clone()), (7, Side::Right, Some(Inner { k: 0.25 })));
        assert_eq!(Value::Object(group_to_json(&outer)), value);
        assert_eq!(Outer::DOC, "An outer group of two lines.");
    }

    #[test]
    fn refusals_name_the_place_and_the_cure() {
        check_refused(&json!({"cuont": 7}), "cuont: there is no such key; did you mean \"count\"?");
        check_refused(&json!({"count": 11}), "count: Count must be from 0 to 10, not 11");
        check_refused(&json!({"count": 1.5}), "count: Count must be a whole number, not 1.5");
        check_refused(&json!({"side": "up"}), "side: Side must be one of left, right, not \"up\"");
        check_refused(&json!({"inner": {"k": 2.0}}), "inner.k: Share must be from 0 to 1, not 2");
        check_refused(
            &json!({"sizes": [[1.0, -1.0]]}),
            "sizes.0: Sizes must be a pair [value, weight] with weight ≥ 0, not [1.0,-1.0]",
        );
        check_refused(&json!({"inners": [{"k": 1.0}, {"k": 2.0}]}), "inners.1.k: Share must be from 0 to 1, not 2");
        check_refused(&json!({"inners": [3]}), "inners.0: it must be an object { … }, not 3");
        check_refused(&json!({"place": [1.0, 11.0]}), "place: Place must be from -10 to 10, not 11");
        check_refused(
            &json!({"matrix": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]}),
            "matrix: Matrix must be 3 rows of 3 numbers or 5 rows of 5, not [[1.0,2.0,3.0],[1.0,2.0,3.0]]",
        );
        check_refused(&json!([]), ": it must be an object { … }, not []");
    }

    #[test]
    fn metres_are_scaled_wherever_they_are() {
        parameters! {
            /// A group of lengths.
            pub struct Lengths {
                /// In metres.
                long_m: f64 = 1234.5, Spec::number("Long", 0.0, 2000.0).unit("m");
                /// Not in metres.
                angle_deg: f64 = 30.0, Spec::number("Angle", 0.0, 90.0).unit("°");
                /// A band.
                band_m: Option<Band> = Some(Band { min: -8.0, max: 0.5 }), Spec::number("Band", -10.0, 10.0).unit("m");
                /// Sizes and weights.
                sizes: Vec<Weighted> = vec![Weighted { value: 100.0, weight: 10.0 }],
                    Spec::number("Sizes", 0.0, 1e9).unit("m");
                /// Places.
                places: Vec<Place> = vec![Place { at_m: Point { x_m: 3.0, z_m: 4.0 } }], Spec::new("Places");
            }
        }
        parameters! {
            /// A place.
            pub struct Place {
                /// Where.
                at_m: Point = Point::default(), Spec::number("At", -1e9, 1e9).unit("m");
            }
        }
        let mut values = group_to_json(&Lengths::default());
        scale_lengths(Lengths::parameters(), &mut values, 0.1);
        let expected = json!({
            "long_m": 123.0, "angle_deg": 30.0, "band_m": [-0.8, 0.05], "sizes": [[10.0, 10.0]],
            "places": [{"at_m": [0.3, 0.4]}],
        });
        assert_eq!(Value::Object(values.clone()), expected);
        scale_lengths(Lengths::parameters(), &mut values, 1e3);
        assert_eq!((&values["long_m"], &values["band_m"]), (&json!(2000.0), &json!([-10.0, 10.0])), "the hard range");
    }

    #[test]
    fn a_refused_value_changes_nothing() {
        let mut outer = Outer::default();
        assert!(outer.set("count", &json!(99)).is_err());
        assert_eq!(outer, Outer::default());
    }
}
