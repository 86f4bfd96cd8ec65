//! The pages of the operations in the manual, from the tables of their parameters and the heads of their sources.

use std::path::Path;

use upthrust::engine::operations::Role;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::parameters::{Kind, Parameter, Range, Scale, Value};
use upthrust::engine::{AnyOperation, Recipe, Step};

/// The name of the raster that operations read in pictures.
pub const FILE: &str = "rings";

/// Samples along the sides of the maps on which the costs were measured.
pub const COST_SAMPLES: usize = 1025;

/// The processor on which the costs were measured, and a line with the key and the milliseconds of each operation.
const COSTS: &str = include_str!("costs.txt");

/// A picture of an operation: its file, its caption and what it shows.
pub struct Picture {
    pub file: String,
    pub caption: String,
    pub recipe: Recipe,
}

/// The pictures of an operation: with its defaults, and with low and high values of its most telling parameter.
pub fn pictures(operation: &AnyOperation) -> Vec<Picture> {
    let key = operation.key();
    let picture = |name: &str, caption: String, operation: AnyOperation| Picture {
        file: format!("{key}-{name}.jpg"),
        caption,
        recipe: recipe(operation),
    };
    let mut pictures = vec![picture("default", "defaults".into(), operation.clone())];
    let Some(parameter) = telling(operation) else { return pictures };
    let Range { low, high } = parameter.slider;
    let at = |share: f64| match parameter.scale {
        Scale::Logarithmic if low > 0.0 => low * libm::pow(high / low, share),
        Scale::Logarithmic | Scale::Linear => low + share * (high - low),
    };
    for (name, share) in [("low", 0.15), ("high", 0.85)] {
        let number = round(at(share), parameter.kind);
        let value = match parameter.kind {
            Kind::Integer => Value::Integer(number as u32),
            _ => Value::Number(number),
        };
        let mut changed = operation.clone();
        if changed.group_mut().set(parameter.key, &value).is_ok() {
            let caption = format!("{} {}", parameter.label, with_unit(number, parameter));
            pictures.push(picture(name, caption, changed));
        }
    }
    pictures
}

/// The parameter whose effect pictures show best: the first length or angle, or else the first number.
fn telling(operation: &AnyOperation) -> Option<&'static Parameter> {
    let numbers = || {
        let is_number = |parameter: &&Parameter| matches!(parameter.kind, Kind::Number | Kind::Integer);
        let applies = |parameter: &&Parameter| parameter.when.is_none() && !parameter.is_fixed && !parameter.nullable;
        operation.table().iter().filter(is_number).filter(applies)
    };
    numbers().find(|parameter| is_length(parameter)).or_else(|| numbers().next())
}

/// Whether a parameter is a length or an angle, but no direction.
fn is_length(parameter: &Parameter) -> bool {
    matches!(parameter.unit, "m" | "°") && !parameter.key.starts_with("strike") && !parameter.key.contains("azimuth")
}

/// Two significant digits.
fn round(number: f64, kind: Kind) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let power = libm::pow(10.0, libm::floor(libm::log10(number.abs())) - 1.0);
    let rounded = (number / power).round() * power;
    if matches!(kind, Kind::Integer) { rounded.round() } else { (rounded * 1e6).round() / 1e6 }
}

fn with_unit(number: f64, parameter: &Parameter) -> String {
    match parameter.unit {
        "" => number.to_string(),
        "°" => format!("{number}°"),
        unit => format!("{number} {unit}"),
    }
}

/// The operation alone, or above faults if it changes what is below it.
fn recipe(mut operation: AnyOperation) -> Recipe {
    for parameter in operation.table().iter().filter(|parameter| matches!(parameter.kind, Kind::File)) {
        let _ = operation.group_mut().set(parameter.key, &Value::Text(FILE.into()));
    }
    let mut step = Step::new(operation);
    step.settings.seed = 1;
    let stack = match step.operation.role() {
        Role::Generator => vec![step],
        Role::Modifier => vec![Step::new(Faults::default()), step],
    };
    Recipe { stack, ..Recipe::default() }
}

/// The page of an operation.
pub fn page(operation: &AnyOperation, sources: &Path) -> String {
    let key = operation.key();
    let mut page = format!("# {}\n\n{}\n\n", operation.label(), operation.doc());
    let pictures = pictures(operation);
    let cell = |text: String| format!("| {text} ");
    page += &pictures.iter().map(|one| cell(one.caption.clone())).collect::<String>();
    page += "|\n";
    page += &pictures.iter().map(|_| cell("---".into())).collect::<String>();
    page += "|\n";
    page += &pictures.iter().map(|one| cell(format!("![{}](pictures/{})", one.caption, one.file))).collect::<String>();
    page += "|\n\n";
    let kind = match operation.role() {
        Role::Generator => "It creates terrain",
        Role::Modifier => "It changes the terrain below it",
    };
    page +=
        &format!("`\"operation\": \"{key}\"`. {kind}. Its default blend is \"{}\". ", operation.default_blend().key());
    page += match operation.iterations() {
        0 => "It has no iterations: its time grows with the samples of the map.",
        _ => "Its iterations are on the timeline: its time grows with them and with the samples of the map.",
    };
    page += &cost(key);
    if let Some(head) = source_head(key, sources) {
        page += &format!("\n## How it works\n\n{head}\n");
    }
    page += "\n## Parameters\n";
    add_table(&mut page, operation.table(), "");
    page
}

/// What operations cost with their defaults: keys and milliseconds. Those that do nothing without strokes, paths or the like
/// have no cost.
pub fn costs() -> impl Iterator<Item = (&'static str, &'static str)> {
    COSTS.lines().skip(1).filter_map(|line| line.split_once(' '))
}

fn cost(key: &str) -> String {
    let processor = COSTS.lines().next().unwrap_or_default();
    let text = |(_, milliseconds): (&str, &str)| {
        format!(
            " With its defaults it takes {milliseconds} ms at {COST_SAMPLES} × {COST_SAMPLES} samples on {processor}."
        )
    };
    costs().find(|(of, _)| *of == key).map(text).unwrap_or_default() + "\n"
}

/// The head of the source of an operation: its formulas and where they come from.
fn source_head(key: &str, sources: &Path) -> Option<String> {
    let text = [format!("{key}.rs"), format!("{key}/mod.rs")]
        .iter()
        .find_map(|name| std::fs::read_to_string(sources.join(name)).ok())?;
    let lines = text.lines().take_while(|line| line.starts_with("//!"));
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("//!").trim_start_matches(' ')).collect();
    // Names of the code are no links in the manual.
    let text = lines.join("\n").replace("[`", "`").replace("`]", "`");
    Some(text)
}

/// Adds the parameters of a table, and those of groups in it under their own headings.
fn add_table(page: &mut String, table: &'static [Parameter], prefix: &str) {
    if table.is_empty() {
        *page += "\nIt has none.\n";
        return;
    }
    *page += "\n| parameter | key | values | default | |\n|---|---|---|---|---|\n";
    for parameter in table {
        let default = default_text(parameter);
        let doc = parameter.doc.replace('\n', " ").replace('|', "\\|");
        *page += &format!(
            "| {} | `{prefix}{}` | {} | {default} | {doc} |\n",
            parameter.label,
            parameter.key,
            values_text(parameter)
        );
    }
    for parameter in table {
        let group = match parameter.kind {
            Kind::Group(table) => Some((table, format!("{prefix}{}.", parameter.key))),
            Kind::List(Kind::Group(table)) => Some((*table, format!("{prefix}{}.N.", parameter.key))),
            _ => None,
        };
        if let Some((table, prefix)) = group {
            *page += &format!("\n### {}\n", parameter.label);
            add_table(page, table(), &prefix);
        }
    }
}

fn values_text(parameter: &Parameter) -> String {
    let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
    let range = format!("{} to {}{unit}", parameter.hard.low, parameter.hard.high);
    let text = match parameter.kind {
        Kind::Integer => format!("whole, {range}"),
        Kind::Number => range,
        Kind::Boolean => "`true`, `false`".into(),
        Kind::Text => "text".into(),
        Kind::File | Kind::Texture => "a file name".into(),
        Kind::Colour => "`#rrggbb`".into(),
        Kind::Choice(choices) => {
            choices.iter().map(|choice| format!("`{}`", choice.key)).collect::<Vec<_>>().join(", ")
        }
        Kind::Band => format!("`[min, max]`, {range}"),
        Kind::Limits => format!("`[min, max, release]`, {range}"),
        Kind::Weighted => "`[value, weight]`".into(),
        Kind::Point => "`[x, z]` in metres".into(),
        Kind::Matrix => "3 × 3 or 5 × 5 numbers".into(),
        Kind::List(Kind::Group(_)) => "a list, see below".into(),
        Kind::List(_) => "a list".into(),
        Kind::Group(_) => "see below".into(),
    };
    if parameter.nullable {
        format!("{text}; `null`: {}", if parameter.none.is_empty() { "off" } else { parameter.none })
    } else {
        text
    }
}

fn default_text(parameter: &Parameter) -> String {
    match &parameter.default {
        Value::None => "`null`".into(),
        Value::Group(_) => "on".into(),
        Value::List(items) if items.is_empty() => "`[]`".into(),
        Value::List(_) => "see `upthrust operations`".into(),
        Value::Number(number) => with_unit(*number, parameter),
        other => {
            let text = other.to_json().to_string();
            let text = text.trim_matches('"');
            if text.is_empty() { "empty".into() } else { format!("`{text}`") }
        }
    }
}

/// The list of all operations, for the index.
pub fn index(operations: &[AnyOperation]) -> String {
    let mut text = String::from(INDEX);
    for role in [Role::Generator, Role::Modifier] {
        text += match role {
            Role::Generator => "\n## Terrain\n\n",
            Role::Modifier => "\n## Changes to the terrain below\n\n",
        };
        for operation in operations.iter().filter(|operation| operation.role() == role) {
            text += &format!("- [{}]({}.md): {}\n", operation.label(), operation.key(), operation.doc());
        }
    }
    text
}

const INDEX: &str = "# Operations

A step of the stack is an operation with its parameters. The page of an operation says what it does, how it works and
where that comes from, and lists each parameter with its values and its default. The pages in this folder are made from
the program by `cargo run --release --no-default-features --example reference`; do not edit them by hand.

In the editor, press `Shift+A` to see all operations with a picture and a description of each. On the command line, the
program prints the same table:

```sh
upthrust operations > operations.txt
```
";
