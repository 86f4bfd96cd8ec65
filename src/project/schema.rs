//! The JSON Schema of project files, by which text editors complete and check them.

use serde_json::{Map, Value, json};

use super::settings::{ExportSettings, view_table};
use crate::engine::level::Level;
use crate::engine::light::Light;
use crate::engine::parameters::{Parameters, object_schema, table_to_schema};
use crate::engine::recipe::{StepSettings, World, seed_parameter};
use crate::engine::scatter::ScatterLayer;
use crate::engine::texture::{TerrainType, TextureSettings};
use crate::engine::{AnyOperation, Origin};

/// The schema of project files.
pub fn project_schema() -> Value {
    let object = |properties: Value| match properties {
        Value::Object(properties) => object_schema(properties),
        other => other,
    };
    let list = |items: Value| json!({"type": "array", "items": items});
    let group = |table| object_schema(table_to_schema(table));
    // What all steps have is described once; a mask, also of types and layers, is the longest part of it.
    let settings = table_to_schema(StepSettings::parameters());
    let with_mask = |table| {
        let mut properties = table_to_schema(table);
        properties.insert(MASK.into(), of_step(MASK));
        object_schema(properties)
    };
    let mut texture = table_to_schema(TextureSettings::parameters());
    texture.insert("types".into(), list(with_mask(TerrainType::parameters())));
    let recipe = object(json!({
        "seed": seed_parameter().to_schema(),
        "world": group(World::parameters()),
        "stack": list(json!({"$ref": "#/$defs/step"})),
        "masks": {"type": "object", "additionalProperties": of_step(MASK)},
        "texture": object_schema(texture),
        "light": group(Light::parameters()),
        "scatter": list(with_mask(ScatterLayer::parameters())),
    }));
    let nullable = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
    let mut project = object(json!({
        "$schema": {"type": "string"},
        "format": {"const": 1},
        "terrain_version": {"type": "integer", "minimum": 1},
        "terrain_fingerprint": {"type": "string"},
        "name": {"type": "string"},
        "description": {"type": "string"},
        "recipe": recipe,
        "level": group(Level::parameters()),
        "origin": nullable(group(Origin::parameters())),
        "view": group(view_table()),
        "export": group(ExportSettings::parameters()),
        "files": {"type": "object", "additionalProperties": {"type": "string"}},
    }));
    project["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    project["title"] = "Upthrust project".into();
    project["required"] = json!(["format"]);
    project["$defs"] = json!({
        "step": {"oneOf": AnyOperation::all().iter().map(|operation| step(operation, &settings)).collect::<Vec<_>>()},
        "settings": settings,
    });
    project
}

/// The key of the masks of steps, terrain types and layers.
const MASK: &str = "mask";

/// A reference to what all steps have, by its key.
fn of_step(key: &str) -> Value {
    json!({"$ref": format!("#/$defs/settings/{key}")})
}

/// A step with an operation and the settings that all steps have.
fn step(operation: &AnyOperation, settings: &Map<String, Value>) -> Value {
    let mut properties: Map<String, Value> = settings.keys().map(|key| (key.clone(), of_step(key))).collect();
    properties.insert("operation".into(), json!({"const": operation.key()}));
    properties.extend(table_to_schema(operation.table()));
    if matches!(operation, AnyOperation::StepGroup(_)) {
        properties.insert("steps".into(), json!({"type": "array", "items": {"$ref": "#/$defs/step"}}));
    }
    let mut step = object_schema(properties);
    step["title"] = operation.label().into();
    step["description"] = operation.doc().into();
    step["required"] = json!(["operation"]);
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::presets;

    /// The keys of an object that a schema does not know, with their paths.
    fn unknown(value: &Value, schema: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
        let schema = match schema["$ref"].as_str() {
            Some(reference) => root.pointer(reference.trim_start_matches('#')).expect(reference),
            None => schema,
        };
        if let Some(alternatives) = schema["oneOf"].as_array() {
            let is_own = |one: &&Value| one["properties"]["operation"]["const"] == value["operation"];
            return unknown(value, alternatives.iter().find(is_own).expect("the operation"), root, path, found);
        }
        match value {
            Value::Object(object) => {
                let schema = schema["anyOf"].as_array().map_or(schema, |one| {
                    one.iter().find(|one| one["type"] == "object" || !one["$ref"].is_null()).unwrap_or(schema)
                });
                for (key, value) in object {
                    let place = format!("{path}.{key}");
                    match (schema["properties"].get(key), schema["additionalProperties"].as_object()) {
                        (Some(known), _) => unknown(value, known, root, &place, found),
                        (None, Some(_)) => {}
                        (None, None) => found.push(place),
                    }
                }
            }
            Value::Array(items) if schema["items"].is_object() => {
                items.iter().for_each(|item| unknown(item, &schema["items"], root, path, found));
            }
            _ => {}
        }
    }

    #[test]
    fn every_key_that_projects_are_saved_with_is_in_the_schema() {
        let schema = project_schema();
        let mut found = Vec::new();
        for preset in presets() {
            let mut file = preset.file().expect("a project");
            let project = std::sync::Arc::make_mut(&mut file.project);
            project.recipe.scatter = vec![ScatterLayer::default()].into();
            project.level = Level { rules: vec!["walkable >= 0.1".into()].into(), ..Level::default() };
            let value: Value = serde_json::from_str(&file.to_json()).expect("JSON");
            unknown(&value, &schema, &schema, preset.name, &mut found);
        }
        assert!(found.is_empty(), "{found:?}");
    }
}
