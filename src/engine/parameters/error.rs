//! Why a value of a parameter is refused.

use std::fmt;

use serde_json::Value as Json;

use super::types::Range;

/// A refused value: its path and the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The path of keys and indices, outermost first, joined by dots: `stack.0.wind.k`.
    pub path: String,
    /// The problem.
    pub problem: Problem,
}

/// The reason why a value is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// No parameter has that name.
    UnknownKey {
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// The value has the wrong kind.
    WrongKind {
        /// The parameter's name in the editor.
        label: &'static str,
        /// The expected form of a value.
        expected: &'static str,
        /// The value, as JSON.
        found: String,
    },
    /// The number is outside the hard range.
    OutOfRange {
        /// The parameter's name in the editor.
        label: &'static str,
        /// The parameter's unit.
        unit: &'static str,
        /// The number.
        value: f64,
        /// The valid range.
        hard: Range,
    },
    /// No choice has that name.
    UnknownChoice {
        /// The parameter's name in the editor.
        label: &'static str,
        /// The unknown name.
        found: String,
        /// The known names.
        choices: Vec<&'static str>,
    },
    /// A required key is missing.
    Missing,
    /// The value does not fit other values, or the world: what does not fit, and how to fix it.
    Conflict(String),
}

impl ParameterError {
    /// An unknown key among `known` ones.
    pub fn unknown_key<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self { path: key.into(), problem: Problem::UnknownKey { nearest: nearest_name(key, known) } }
    }

    /// A value that does not fit other values, or the world; `message` says why and how to fix it.
    pub fn conflict(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), problem: Problem::Conflict(message.into()) }
    }

    /// The same error with `outer` in front of its path.
    #[must_use]
    pub fn within(mut self, outer: impl fmt::Display) -> Self {
        self.path = if self.path.is_empty() { outer.to_string() } else { format!("{outer}.{}", self.path) };
        self
    }

    /// The same error for item `i` of the list `key`.
    pub(super) fn in_item(mut self, key: &str, i: usize) -> Self {
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
                let (low, high, value) = (Readable(hard.low), Readable(hard.high), Readable(*value));
                write!(f, "{label} must be from {low} to {high}{unit}, not {value}")
            }
            Problem::UnknownChoice { label, found, choices } => {
                write!(f, "{label} must be one of {}, not {found}", choices.join(", "))
            }
            Problem::Missing => write!(f, "this key is required"),
            Problem::Conflict(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ParameterError {}

/// A number in a message, with an exponent if it would otherwise have many zeros.
struct Readable(f64);

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let is_short = size == 0.0 || (1e-6..1e15).contains(&size);
        if is_short { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

/// The error for a value that should have been an object.
pub fn not_an_object(found: &Json) -> ParameterError {
    let problem = Problem::WrongKind { label: "it", expected: "an object { … }", found: found.to_string() };
    ParameterError { path: String::new(), problem }
}

/// The error for a value that should have been a list.
pub fn not_a_list(found: &Json) -> ParameterError {
    let problem = Problem::WrongKind { label: "it", expected: "a list [ … ]", found: found.to_string() };
    ParameterError { path: String::new(), problem }
}

/// The known name that is most similar to `name`; `None` if none is similar at all.
pub fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_string())
}
