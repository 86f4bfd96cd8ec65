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
    let mask = table_to_schema(StepSettings::parameters()).remove("mask").unwrap_or_default();
    let mut texture = table_to_schema(TextureSettings::parameters());
    texture.insert("types".into(), list(group(TerrainType::parameters())));
    let recipe = object(json!({
        "seed": seed_parameter().to_schema(),
        "world": group(World::parameters()),
        "stack": list(json!({"$ref": "#/$defs/step"})),
        "masks": {"type": "object", "additionalProperties": mask},
        "texture": object_schema(texture),
        "light": group(Light::parameters()),
        "scatter": list(group(ScatterLayer::parameters())),
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
    project["$defs"] = json!({"step": {"oneOf": AnyOperation::all().iter().map(step).collect::<Vec<_>>()}});
    project
}

/// A step with an operation.
fn step(operation: &AnyOperation) -> Value {
    let mut properties: Map<String, Value> = table_to_schema(StepSettings::parameters());
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
