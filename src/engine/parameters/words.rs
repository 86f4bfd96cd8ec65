//! Errors and numbers in the words of the editor.

use super::error::ParameterError;
use super::table::{Kind, Parameter, percent_of};
use super::types::Band;
use super::value::Value;

impl ParameterError {
    /// The error with the names that the editor shows instead of keys: "Path 1, Maximum grade: …".
    pub fn in_words(&self, table: &'static [Parameter]) -> String {
        let (mut table, mut words) = (Some(table), Vec::<String>::new());
        let mut list: Option<&Parameter> = None;
        for part in self.path.split('.') {
            if let (Some(list), Ok(index)) = (list.take(), part.parse::<usize>()) {
                words.push(format!("{} {}", list.item_label(), index + 1));
                continue;
            }
            let Some(parameter) = table.and_then(|table| table.iter().find(|parameter| parameter.key == part)) else {
                return self.to_string();
            };
            table = None;
            match parameter.kind {
                Kind::List(Kind::Group(inner)) => {
                    (list, table) = (Some(parameter), Some(inner()));
                }
                Kind::Group(inner) => {
                    table = Some(inner());
                    words.push(parameter.label.into());
                }
                _ => words.push(parameter.label.into()),
            }
        }
        words.extend(list.map(|list| list.label.into()));
        let text = self.to_string();
        let message = text.strip_prefix(&format!("{}: ", self.path)).unwrap_or(&text);
        format!("{}: {message}", words.join(", "))
    }
}

impl Parameter {
    /// A value as a user would write it: "12 m", "lowest to 1200 m", "off"; `None` for what takes more than a few words,
    /// such as a list.
    pub fn value_in_words(&self, value: &Value) -> Option<String> {
        let unit = match self.unit {
            "" => String::new(),
            "°" => "°".into(),
            unit => format!(" {unit}"),
        };
        Some(match value {
            Value::None => match self.kind {
                Kind::Group(_) => "off".into(),
                _ => uncapitalised(self.none),
            },
            Value::Group(_) => "on".into(),
            Value::Boolean(on) => if *on { "on" } else { "off" }.into(),
            Value::Choice(key) => {
                let Kind::Choice(choices) = self.kind else { return None };
                uncapitalised(choices.iter().find(|choice| choice.key == *key)?.label)
            }
            Value::Number(number) if self.is_percent => format!("{} %", short_number(percent_of(*number))),
            Value::Integer(_) | Value::Number(_) => format!("{}{unit}", short_number(value.as_number()?)),
            Value::Band(band) => self.band_in_words(*band, &unit),
            Value::Text(text) if text.is_empty() => "none".into(),
            // Shipped files, which have a folder, are called by their names without it and without the extension.
            Value::Text(text) if matches!(self.kind, Kind::File | Kind::Texture) && text.contains('/') => {
                let name = text.rsplit('/').next().unwrap_or(text);
                name.split('.').next().unwrap_or(name).into()
            }
            Value::Text(text) => text.clone(),
            Value::Colour(colour) => colour.to_string(),
            Value::Limits(_) | Value::Weighted(_) | Value::Point(_) | Value::Matrix(_) | Value::List(_) => return None,
        })
    }

    /// The limits of a band, of which those that limit nothing are named, with the unit after the last number.
    fn band_in_words(&self, Band { min, max }: Band, unit: &str) -> String {
        match [min, max].map(|limit| self.open_limit(limit)) {
            [None, None] => format!("{}–{}{unit}", short_number(min), short_number(max)),
            [Some(lowest), None] => format!("{lowest} to {}{unit}", short_number(max)),
            [None, Some(highest)] => format!("{}{unit} to {highest}", short_number(min)),
            [Some(lowest), Some(highest)] => format!("{lowest} to {highest}"),
        }
    }
}

/// A number with at most four decimals, without trailing zeros.
pub fn short_number(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A label within a sentence: without its capital, unless its first word has others, as names have.
pub fn uncapitalised(label: &str) -> String {
    let mut letters = label.chars();
    match letters.next() {
        Some(first) if !label.split(' ').next().is_some_and(|word| word.chars().skip(1).any(char::is_uppercase)) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => label.into(),
    }
}

/// A number as the place in an order: 1st, 2nd, 3rd.
pub fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, ending) if ending != 11 => "st",
        (2, ending) if ending != 12 => "nd",
        (3, ending) if ending != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// A count with its digits in groups of three.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Mask;
    use crate::parameters::{Parameters, find_parameter};

    #[test]
    fn limits_that_limit_nothing_are_named() {
        let elevation = find_parameter(Mask::parameters(), "elevation_m").expect("a parameter");
        let text = |min, max| elevation.value_in_words(&Value::Band(Band { min, max })).expect("a text");
        assert_eq!(text(-100_000.0, 100_000.0), "lowest to highest");
        assert_eq!(text(-100_000.0, 1200.0), "lowest to 1200 m");
        assert_eq!(text(200.0, 100_000.0), "200 m to highest");
        assert_eq!(text(200.0, 1200.0), "200–1200 m");
    }

    #[test]
    fn labels_keep_the_capitals_of_names() {
        let labels = ["Cliff, Gaussian falloff", "Rolling (fBm)", "OpenSimplex", "NW–SE diagonal", "Off"];
        let expected = ["cliff, Gaussian falloff", "rolling (fBm)", "OpenSimplex", "NW–SE diagonal", "off"];
        assert_eq!(labels.map(uncapitalised), expected);
    }

    #[test]
    fn large_counts_are_grouped() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn ordinals_have_their_endings() {
        let expected = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"];
        assert_eq!([1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal), expected);
    }
}
