//! Setting parameters by their path in the project file.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::ProjectError;
use super::file::ProjectFile;
use crate::engine::parameters::{ParameterError, Problem, nearest_name};

impl ProjectFile {
    /// Sets any parameter by its path in the file, as in `stack.0.count=500`; paths begin inside `recipe`, or with
    /// `origin`, `level`, `view` or `export`. The value is parsed as JSON if possible, or else taken as text. On an error
    /// nothing changes.
    pub fn set(&mut self, assignment: &str) -> Result<(), ProjectError> {
        let Some((path, written)) = assignment.split_once('=') else {
            return Err(ProjectError::InvalidAssignment(assignment.into()));
        };
        let value = serde_json::from_str(written).unwrap_or_else(|_| Value::from(written));
        // The files are left out, because compressing them takes long and no assignment reaches them.
        let files = std::mem::take(&mut Arc::make_mut(&mut self.project).files);
        let changed = self.with(path, value).map(|changed| *self = changed);
        Arc::make_mut(&mut self.project).files = files;
        changed
    }

    /// The file with another value at a path.
    fn with(&self, path: &str, value: Value) -> Result<Self, ProjectError> {
        let mut document = self.to_value();
        let first = path.split('.').next().unwrap_or_default();
        let is_left_out = document.get(first).is_none();
        if is_left_out && matches!(first, "origin" | "level") {
            document[first] = Value::Null;
        }
        let root = match first {
            "origin" | "level" | "view" | "export" | "name" | "description" | "recipe" => &mut document,
            _ => &mut document["recipe"],
        };
        *value_at(root, path)? = value;
        Self::from_value(&document)
    }
}

/// The value at a path of keys and indices. Naming a key in a disabled group (`null`) enables the group, and the index
/// after the last one of a list adds an item. Keys are checked when the document is read again.
fn value_at<'a>(root: &'a mut Value, path: &str) -> Result<&'a mut Value, ParameterError> {
    let mut value = root;
    for (depth, part) in path.split('.').enumerate() {
        let index = part.parse::<usize>().ok();
        if value.is_null() && depth > 0 {
            *value = if index.is_some() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        } else if value.is_object() && depth > 0 && index.is_some() {
            // A list of one item, which is written without brackets.
            *value = Value::Array(vec![value.take()]);
        }
        let unknown = |known: Vec<String>| ParameterError {
            path: path.to_string(),
            problem: Problem::UnknownKey { nearest: nearest_name(part, known.iter().map(String::as_str)) },
        };
        value = match value {
            Value::Object(object) => object.entry(part).or_insert(Value::Null),
            Value::Array(items) => {
                let known = (0..items.len()).map(|i| i.to_string()).collect();
                if index == Some(items.len()) {
                    items.push(Value::Null);
                }
                index.and_then(|i| items.get_mut(i)).ok_or_else(|| unknown(known))?
            }
            _ => return Err(unknown(Vec::new())),
        };
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> ProjectFile {
        let text = r#"{"format": 1, "recipe": {"stack": [{"operation": "faults"}]}}"#;
        ProjectFile::from_json(text).expect("valid")
    }

    #[test]
    fn any_parameter_is_set_by_its_path() {
        let mut file = small();
        for assignment in [
            "stack.0.count=5",
            "stack.0.wind.k=0.25",
            "stack.0.line=two_points",
            "seed=7",
            "world.width_m=99.5",
            "stack.0.sizes=[[3, 1]]",
            "view.preview_samples=257",
            "texture.types.0.elevation=[1, 2]",
        ] {
            file.set(assignment).expect(assignment);
        }
        let json = file.project.recipe.to_json();
        assert_eq!((&json["stack"][0]["count"], &json["stack"][0]["wind"]["k"]), (&5.into(), &0.25.into()));
        assert_eq!((file.project.recipe.seed, file.project.recipe.world.width_m), (7, 99.5));
        assert_eq!(file.settings.view.preview_samples, 257);
        file.set("stack.0.wind=null").expect("nullable");
        assert!(file.project.recipe.to_json()["stack"][0]["wind"].is_null());
    }

    #[test]
    fn the_sources_of_a_mask_are_set_with_and_without_an_index() {
        let mut file = small();
        let mut set = |assignment: &str| {
            file.set(assignment).expect(assignment);
            file.project.recipe.to_json()["stack"][0]["mask"].clone()
        };
        assert_eq!(set("stack.0.mask.source=slope")["source"], "slope");
        assert_eq!(set("stack.0.mask.strength=0.5")["strength"], 0.5);
        let two = set("stack.0.mask.1.source=noise");
        assert_eq!([&two[0]["source"], &two[1]["source"]], ["slope", "noise"]);
        assert_eq!(set("stack.0.mask.1.combine=add")[1]["combine"], "add");
        assert_eq!(set("stack.0.mask.0.source=border")[0]["source"], "border");
        assert!(set("stack.0.mask=null").is_null());
        assert_eq!(set("stack.0.mask.0.source=lakes")["source"], "lakes");
        let error = file.set("stack.0.mask.2.source=noise").expect_err("there is no second one").to_string();
        assert!(error.contains("stack.0.mask.2"), "{error}");
    }

    #[test]
    fn lists_in_lists_are_set_by_their_paths() {
        let text = r#"{"format": 1, "recipe": {"stack": [{"operation": "sculpt", "strokes": [
            {"points_m": [[1, 2], [3, 4]]}, {"points_m": [[5, 6]], "pressure": [1]}]}]}}"#;
        let mut file = ProjectFile::from_json(text).expect("valid");
        for assignment in [
            "stack.0.strokes.0.points_m.1=[7, 8]",
            "stack.0.strokes.1.pressure.0=0.5",
            "stack.0.strokes.0.pressure=[0, 1]",
        ] {
            file.set(assignment).expect(assignment);
        }
        let strokes = &file.project.recipe.to_json()["stack"][0]["strokes"];
        assert_eq!(strokes[0]["points_m"], serde_json::json!([[1.0, 2.0], [7.0, 8.0]]));
        assert_eq!(
            [&strokes[0]["pressure"], &strokes[1]["pressure"]],
            [&serde_json::json!([0.0, 1.0]), &serde_json::json!([0.5])]
        );
        let error = file.set("stack.0.strokes.1.points_m=[]").expect_err("no points").to_string();
        assert!(error.contains("stack.0.strokes.1.points_m: Points must be a list with at least one item"), "{error}");
    }

    #[test]
    fn a_refused_assignment_changes_nothing() {
        let mut file = small();
        Arc::make_mut(&mut file.project).import_file("a.png", vec![1]);
        let before = file.clone();
        for (assignment, message) in [
            ("stack.0.count", "PATH=VALUE"),
            ("stack.0.coutn=5", "stack.0.coutn: there is no such key; did you mean \"count\"?"),
            ("stack.7.count=5", "stack.7.count"),
            ("stack.0.count=x", "Count must be a whole number"),
            ("stack.0.up_chance=NaN", "Raise probability must be a number"),
            ("stack.0.wind.kk=0.5", "did you mean \"k\"?"),
            ("stack.0.count.x=1", "there is no such key"),
        ] {
            let error = file.set(assignment).expect_err(assignment);
            assert!(error.to_string().contains(message), "{assignment}: {error}");
        }
        assert_eq!(file, before);
    }
}
