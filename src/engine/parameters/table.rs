//! The rows of a table of parameters.

use std::ops;

use serde_json::Value as Json;

use super::error::{ParameterError, Problem};
use super::types::{Band, Limits, Range};
use super::value::{Items, Value, Values};

/// How a slider maps its range to its length.
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
    /// A one-sentence description.
    pub doc: &'static str,
}

/// The kind of value that a parameter takes.
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
    /// The name of a tileable texture, shipped or imported.
    Texture,
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
    /// A position on the map, `[x, z]` in metres east and south of the north-west corner.
    Point,
    /// 3 × 3 or 5 × 5 numbers, row by row.
    Matrix,
    /// Any number of values of one kind.
    List(&'static Kind),
    /// A struct with its own table.
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
            Self::Texture => "picture",
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

    /// Whether its values are numbers to which the ranges of the parameter apply.
    pub(super) fn is_ranged(self) -> bool {
        match self {
            Self::Integer | Self::Number | Self::Band | Self::Limits | Self::Weighted | Self::Point | Self::Matrix => {
                true
            }
            Self::List(of) => of.is_ranged(),
            Self::Boolean
            | Self::Text
            | Self::File
            | Self::Texture
            | Self::Colour
            | Self::Choice(_)
            | Self::Group(_) => false,
        }
    }

    /// A description of the values of this kind, for messages.
    fn expectation(self) -> &'static str {
        match self {
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Text => "text in quotes",
            Self::File | Self::Texture => "a file name in quotes",
            Self::Colour => "a colour like \"#ff7a3c\"",
            Self::Choice(_) => "one of its choices",
            Self::Band => "a pair [min, max] with min ≤ max",
            Self::Limits => "three numbers [min, max, release] with min ≤ max and release ≥ 0",
            Self::Weighted => "a pair [value, weight] with weight ≥ 0",
            Self::Point => "a position [x, z] in metres",
            Self::Matrix => "3 rows of 3 numbers or 5 rows of 5",
            Self::List(_) => "a list [ … ]",
            Self::Group(_) => "an object { … }",
        }
    }
}

/// A choice or switch of the same struct, with the values for which something holds.
type Condition = Option<(&'static str, &'static [&'static str])>;

/// Whether a condition holds, given the values of the parameters in the same struct.
fn holds(condition: (&'static str, &'static [&'static str]), values: &Values) -> bool {
    let (key, names) = condition;
    values.get(key).is_none_or(|value| value.switch_name().is_some_and(|name| names.contains(&name)))
}

/// The largest weight of a weighted value.
const MAX_WEIGHT: f64 = 1e9;

/// One row of a table of parameters.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name in files and on the command line.
    pub key: &'static str,
    /// The name in the editor, in sentence case.
    pub label: &'static str,
    /// The unit as written after a number; empty for pure numbers.
    pub unit: &'static str,
    /// The kind of value that it takes.
    pub kind: Kind,
    /// Whether `null` is a valid value.
    pub nullable: bool,
    /// What the editor calls `null`, such as "unlimited".
    pub none: &'static str,
    /// The range of valid values.
    pub hard: Range,
    /// The range of the slider.
    pub slider: Range,
    /// The scale of the slider.
    pub scale: Scale,
    /// The default value.
    pub default: Value,
    /// A sentence that describes its effect.
    pub doc: &'static str,
    /// The choice or switch that it depends on: the parameter applies only while that has one of these values.
    pub when: Condition,
    /// Of a displacement by which one side rises and the other sinks: the choice that decides whether it does.
    pub both_sides: Condition,
    /// Whether variations leave it unchanged.
    pub is_fixed: bool,
    /// Whether an empty list is refused.
    pub needs_items: bool,
    /// Whether project files leave it out while it has its default.
    pub is_sparse: bool,
    /// Whether files write an empty list as `null`, and one item without brackets.
    pub is_unwrapped: bool,
    /// Whether the text is the name of a mask.
    pub is_mask_name: bool,
    /// Whether the editor shows the number, a fraction, in percent.
    pub is_percent: bool,
}

/// The kind of a group, as the label of the choice on which other parameters of its table depend: the mode of a stroke,
/// or the source of a mask.
pub fn kind_label(table: &[Parameter], values: &Values) -> Option<&'static str> {
    let mut conditions = table.iter().filter_map(|parameter| parameter.when);
    let (choices, key) = conditions.find_map(|(key, _)| {
        let parameter = table.iter().find(|parameter| parameter.key == key)?;
        let Kind::Choice(choices) = parameter.kind else { return None };
        Some((choices, key))
    })?;
    let Some(Value::Choice(chosen)) = values.get(key) else { return None };
    choices.iter().find(|choice| choice.key == *chosen).map(|choice| choice.label)
}

/// A fraction in percent, and the other way round, without the noise of floating point.
pub fn percent_of(fraction: f64) -> f64 {
    (fraction * 1e8).round() / 1e6
}

/// The fraction of a number in percent.
pub fn fraction_of(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e8
}

impl Parameter {
    /// The same parameter of a number in percent.
    pub fn in_percent(&self) -> Self {
        let percent = |range: Range| Range { low: percent_of(range.low), high: percent_of(range.high) };
        let (hard, slider) = (percent(self.hard), percent(self.slider));
        let default = self.default.as_number().map_or(self.default.clone(), |share| Value::Number(percent_of(share)));
        Self { hard, slider, default, unit: "%", is_percent: false, ..self.clone() }
    }

    /// What an item of a list is called: the label, which is plural, without its ending.
    pub fn item_label(&self) -> &'static str {
        self.label.strip_suffix('s').unwrap_or(self.label)
    }

    /// Whether the parameter has an effect, given the values of the parameters in the same struct.
    pub fn applies(&self, values: &Values) -> bool {
        self.when.is_none_or(|condition| holds(condition, values))
    }

    /// What the limit of a band is called that is beyond all that occurs, so that it limits nothing.
    pub fn open_limit(&self, limit: f64) -> Option<&'static str> {
        match self.kind {
            Kind::Band if limit <= self.hard.low && self.hard.low < self.slider.low => Some("lowest"),
            Kind::Band if limit >= self.hard.high && self.hard.high > self.slider.high => Some("highest"),
            _ => None,
        }
    }

    /// The vertical offset of the two sides that a displacement moves apart: twice its amount; `None` for any other
    /// number.
    pub fn throw(&self, values: &Values) -> Option<f64> {
        self.both_sides.filter(|condition| holds(*condition, values))?;
        values.get(self.key)?.as_number().map(|displacement| 2.0 * displacement.abs())
    }

    /// Checks a value against the parameter's kind and hard range.
    pub(super) fn check(&self, value: &Value) -> Result<(), ParameterError> {
        if self.nullable && value.is_none() { Ok(()) } else { self.check_kind(self.kind, value, &|| value.to_json()) }
    }

    /// Like [`check`](Self::check), for a value that replaces a checked one: of lists, only what differs is checked.
    pub(super) fn check_change(&self, before: &Value, after: &Value) -> Result<(), ParameterError> {
        match (self.kind, before, after) {
            (Kind::List(of), Value::List(before), Value::List(after)) => {
                let [changed, _] = after.difference(before);
                self.check_items(*of, after, changed)
            }
            _ => self.check(after),
        }
    }

    fn check_items(&self, of: Kind, items: &Items, range: ops::Range<usize>) -> Result<(), ParameterError> {
        if self.needs_items && items.is_empty() {
            let (label, expected) = (self.label, "a list with at least one item");
            return Err(self.error(Problem::WrongKind { label, expected, found: "[]".into() }));
        }
        range.filter_map(|i| Some((i, items.get(i)?))).try_for_each(|(i, item)| {
            let checked = self.check_kind(of, &item, &|| item.to_json());
            checked.map_err(|error| error.in_item(self.key, i))
        })
    }

    /// Checks a value of the given `kind`; messages quote `written`.
    pub(super) fn check_kind(
        &self,
        kind: Kind,
        value: &Value,
        written: &dyn Fn() -> Json,
    ) -> Result<(), ParameterError> {
        let wrong_kind = || Err(self.wrong_kind(kind, &written()));
        match (kind, value) {
            (Kind::Integer, Value::Integer(number)) => self.check_number(f64::from(*number)),
            (Kind::Number, Value::Number(number)) => self.check_number(*number),
            (Kind::Boolean, Value::Boolean(_))
            | (Kind::Text | Kind::File | Kind::Texture, Value::Text(_))
            | (Kind::Colour, Value::Colour(_)) => Ok(()),
            (Kind::Choice(choices), Value::Choice(key)) => {
                let is_known = choices.iter().any(|choice| choice.key == *key);
                if is_known { Ok(()) } else { Err(self.unknown_choice(choices, &written())) }
            }
            (Kind::Band, Value::Band(Band { min, max })) => {
                if min > max {
                    return wrong_kind();
                }
                self.check_numbers(&[*min, *max])
            }
            (Kind::Limits, Value::Limits(Limits { min, max, release })) => {
                if min > max || *release < 0.0 {
                    return wrong_kind();
                }
                self.check_numbers(&[*min, *max, *release])
            }
            (Kind::Weighted, Value::Weighted(weighted)) => {
                if !(0.0..=MAX_WEIGHT).contains(&weighted.weight) {
                    return wrong_kind();
                }
                self.check_number(weighted.value)
            }
            (Kind::Point, Value::Point(point)) => self.check_numbers(&[point.x_m, point.z_m]),
            (Kind::Matrix, Value::Matrix(matrix)) => self.check_numbers(matrix.numbers()),
            (Kind::List(of), Value::List(items)) => self.check_items(*of, items, 0..items.len()),
            (Kind::Group(table), Value::Group(values)) => table().iter().try_for_each(|parameter| {
                let value = values.get(parameter.key).unwrap_or(&Value::None);
                parameter.check(value).map_err(|error| error.within(self.key))
            }),
            _ => wrong_kind(),
        }
    }

    fn check_numbers(&self, numbers: &[f64]) -> Result<(), ParameterError> {
        numbers.iter().try_for_each(|number| self.check_number(*number))
    }

    pub(super) fn check_number(&self, value: f64) -> Result<(), ParameterError> {
        if self.hard.contains(value) {
            return Ok(());
        }
        let Self { label, unit, hard, .. } = *self;
        Err(self.error(Problem::OutOfRange { label, unit, value, hard }))
    }

    fn error(&self, problem: Problem) -> ParameterError {
        ParameterError { path: self.key.into(), problem }
    }

    pub(super) fn wrong_kind(&self, kind: Kind, found: &Json) -> ParameterError {
        let (label, expected) = (self.label, kind.expectation());
        self.error(Problem::WrongKind { label, expected, found: found.to_string() })
    }

    pub(super) fn unknown_choice(&self, choices: &[Choice], found: &Json) -> ParameterError {
        let choices = choices.iter().map(|choice| choice.key).collect();
        self.error(Problem::UnknownChoice { label: self.label, found: found.to_string(), choices })
    }
}

/// The declared properties of a field: the parts of a [`Parameter`] that its type and default do not determine.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub(super) label: &'static str,
    pub(super) unit: &'static str,
    pub(super) hard: Range,
    pub(super) slider: Option<Range>,
    pub(super) scale: Scale,
    pub(super) none: &'static str,
    pub(super) when: Condition,
    pub(super) both_sides: Condition,
    pub(super) is_fixed: bool,
    pub(super) needs_items: bool,
    pub(super) is_sparse: bool,
    pub(super) is_unwrapped: bool,
    pub(super) is_mask_name: bool,
    pub(super) is_percent: bool,
}

impl Spec {
    /// A parameter without limits: text, choices, switches, groups.
    pub const fn new(label: &'static str) -> Self {
        let unlimited = Range { low: f64::MIN, high: f64::MAX };
        Self {
            label,
            unit: "",
            hard: unlimited,
            slider: None,
            scale: Scale::Linear,
            none: "none",
            when: None,
            both_sides: None,
            is_fixed: false,
            needs_items: false,
            is_sparse: false,
            is_unwrapped: false,
            is_mask_name: false,
            is_percent: false,
        }
    }

    /// A number that is valid from `low` to `high`; the slider has the same range unless [`Self::slider`] narrows it.
    pub const fn number(label: &'static str, low: f64, high: f64) -> Self {
        let mut spec = Self::new(label);
        spec.hard = Range { low, high };
        spec
    }

    /// Sets the range of the slider.
    pub const fn slider(mut self, low: f64, high: f64) -> Self {
        self.slider = Some(Range { low, high });
        self
    }

    /// Sets the unit as written after the number.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Shows the number, a fraction, in percent in the editor. Files have the fraction.
    pub const fn percent(mut self) -> Self {
        self.is_percent = true;
        self
    }

    /// Makes the slider logarithmic.
    pub const fn logarithmic(mut self) -> Self {
        self.scale = Scale::Logarithmic;
        self
    }

    /// Sets what the editor calls `null`.
    pub const fn none(mut self, none: &'static str) -> Self {
        self.none = none;
        self
    }

    /// Says that by this displacement one side rises and the other sinks, while the choice `key` has one of `values`.
    pub const fn both_sides(mut self, key: &'static str, values: &'static [&'static str]) -> Self {
        self.both_sides = Some((key, values));
        self
    }

    /// Makes the parameter apply only while the choice or switch `key` has one of `values`.
    pub const fn when(mut self, key: &'static str, values: &'static [&'static str]) -> Self {
        self.when = Some((key, values));
        self
    }

    /// Refuses an empty list.
    pub const fn at_least_one(mut self) -> Self {
        self.needs_items = true;
        self
    }

    /// Leaves the parameter out of project files while it has its default, so that files of a version without it stay
    /// as they are.
    pub const fn sparse(mut self) -> Self {
        self.is_sparse = true;
        self
    }

    /// Says that the text is the name of a mask.
    pub const fn mask_name(mut self) -> Self {
        self.is_mask_name = true;
        self
    }

    /// Writes an empty list as `null`, and one item without brackets, as if the parameter were an optional item.
    pub const fn unwrapped(mut self) -> Self {
        self.is_unwrapped = true;
        self
    }

    /// Keeps variations from changing the parameter.
    pub const fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }
}
