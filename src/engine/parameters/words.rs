//! Errors and numbers in the words of the editor.

use super::error::ParameterError;
use super::table::{Kind, Parameter};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_have_their_endings() {
        let expected = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"];
        assert_eq!([1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal), expected);
    }
}
