//! `upthrust presets` and `upthrust operations`.

use serde_json::{Value, json};

use super::arguments::ListOptions;
use super::error::CliError;
use super::output::{print_line, print_lines};
use crate::engine::level::Level;
use crate::engine::light::Light;
use crate::engine::parameters::{Kind, Parameter, Parameters, table_to_json};
use crate::engine::recipe::{StepSettings, World, seed_parameter};
use crate::engine::scatter::ScatterLayer;
use crate::engine::texture::{TerrainType, TextureSettings};
use crate::engine::{AnyOperation, Origin};
use crate::project::{ExportSettings, presets as shipped_presets, view_table};

/// Prints the shipped presets, one per line.
pub fn presets(options: &ListOptions) -> Result<(), CliError> {
    let mut rows = Vec::new();
    for preset in shipped_presets() {
        let project = preset.project().map_err(|error| CliError::Project(format!("preset:{}", preset.name), error))?;
        rows.push((preset.name, project.name, project.description));
    }
    if options.json {
        let rows: Value = rows
            .into_iter()
            .map(|(name, title, description)| json!({"name": name, "title": title, "description": description}))
            .collect();
        print_line(&format!("{rows:#}"))
    } else {
        let longest = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        print_lines(rows.iter().map(|(name, _, description)| format!("{name:<longest$}  {description}")))
    }
}

/// The parameter groups that do not belong to an operation.
fn groups() -> [(&'static str, &'static [Parameter]); 11] {
    [
        ("recipe", std::slice::from_ref(seed_parameter())),
        ("step", StepSettings::parameters()),
        ("world", World::parameters()),
        ("origin", Origin::parameters()),
        ("texture", TextureSettings::parameters()),
        ("terrain_type", TerrainType::parameters()),
        ("light", Light::parameters()),
        ("scatter", ScatterLayer::parameters()),
        ("level", Level::parameters()),
        ("view", view_table()),
        ("export", ExportSettings::parameters()),
    ]
}

/// Prints every operation and parameter.
pub fn operations(options: &ListOptions) -> Result<(), CliError> {
    let operations = AnyOperation::all();
    if options.json {
        let mut listing = json!({"operations": operations.iter().map(AnyOperation::to_json).collect::<Value>()});
        for (key, table) in groups() {
            listing[key] = table_to_json(table);
        }
        // Its default is that of the operation.
        for row in listing["step"].as_array_mut().into_iter().flatten().filter(|row| row["key"] == "blend") {
            row["default"] = Value::Null;
        }
        return print_line(&format!("{listing:#}"));
    }
    let mut lines = Vec::new();
    for operation in &operations {
        let blend = operation.default_blend().key();
        lines.push(format!("{} (blend {blend}): {}", operation.key(), operation.doc()));
        describe(operation.table(), "  ", &mut lines);
    }
    for (key, table) in groups() {
        lines.push(format!("{key}:"));
        describe(table, "  ", &mut lines);
    }
    print_lines(lines)
}

/// Adds a line for each parameter: key, accepted values, default and description.
fn describe(table: &[Parameter], indent: &str, lines: &mut Vec<String>) {
    for parameter in table {
        let values = match parameter.kind {
            Kind::Choice(choices) => choices.iter().map(|choice| choice.key).collect::<Vec<_>>().join("|"),
            Kind::Integer | Kind::Number | Kind::Band | Kind::Limits | Kind::Point | Kind::Matrix => {
                let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
                format!("{} {} to {}{unit}", parameter.kind.name(), parameter.hard.low, parameter.hard.high)
            }
            Kind::Boolean
            | Kind::Text
            | Kind::File
            | Kind::Texture
            | Kind::Colour
            | Kind::Weighted
            | Kind::List(_)
            | Kind::Group(_) => parameter.kind.name().into(),
        };
        lines.push(format!("{indent}{} ({values}; {}): {}", parameter.key, parameter.default.to_json(), parameter.doc));
        if let Kind::Group(table) | Kind::List(&Kind::Group(table)) = parameter.kind {
            describe(table(), &format!("{indent}  "), lines);
        }
    }
}
