//! The project file: JSON text from and to a project and its settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::document::Project;
use super::error::ProjectError;
use super::format::{FORMAT_VERSION, MAX_FILE_BYTES};
use super::imports::{files_from_value, pack, read_limited};
use super::json;
use super::settings::{ProjectSettings, view_from_value, view_table};
use super::terrain_version::{TERRAIN_VERSION, changes_since};
use crate::engine::Recipe;
use crate::engine::level::Level;
use crate::engine::parameters::{
    Field, Group as _, Parameter, ParameterError, Spec, field_from_json, group_from_json, group_to_json, not_an_object,
};

/// The contents of a project file.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectFile {
    /// The document, which edits change.
    pub project: Arc<Project>,
    /// The view and export settings.
    pub settings: ProjectSettings,
    /// The version of the terrain with which the file was saved; [`TERRAIN_VERSION`] if it was not read.
    terrain_version: u32,
    /// A hash of the terrain with which the file was saved; `None` if it was not computed.
    terrain_fingerprint: Option<u64>,
}

const KEYS: [&str; 11] = [
    "format",
    "terrain_version",
    "terrain_fingerprint",
    "name",
    "description",
    "recipe",
    "level",
    "origin",
    "view",
    "export",
    "files",
];

impl Default for ProjectFile {
    fn default() -> Self {
        Self::new(Project::default())
    }
}

impl ProjectFile {
    /// A project file with this project and default settings.
    pub fn new(project: impl Into<Arc<Project>>) -> Self {
        Self::with_settings(project, ProjectSettings::default())
    }

    /// A project file with this project and these settings.
    pub fn with_settings(project: impl Into<Arc<Project>>, settings: ProjectSettings) -> Self {
        Self { project: project.into(), settings, terrain_version: TERRAIN_VERSION, terrain_fingerprint: None }
    }

    /// What changed in the terrain of the project since the file was saved, in words; `None` if nothing did. The hash of
    /// the terrain as it is now, which `fingerprint` returns, decides where the version alone cannot.
    pub fn terrain_changes(&self, fingerprint: impl FnOnce(&Project) -> Option<u64>) -> Option<String> {
        let is_same = || self.terrain_fingerprint.is_some() && self.terrain_fingerprint == fingerprint(&self.project);
        changes_since(self.terrain_version, &self.project.recipe, is_same)
    }

    /// The file with a hash of the terrain of its project as it is now.
    pub fn with_terrain_fingerprint(self, terrain_fingerprint: Option<u64>) -> Self {
        Self { terrain_fingerprint, terrain_version: TERRAIN_VERSION, ..self }
    }

    /// The file as JSON text.
    pub fn to_json(&self) -> String {
        let mut text = json::indented(&self.to_value());
        text.push('\n');
        text
    }

    pub(super) fn to_value(&self) -> Value {
        let Project { name, description, recipe, level, water: _, origin, files } = &*self.project;
        let mut object = Map::new();
        object.insert("format".into(), FORMAT_VERSION.into());
        object.insert("terrain_version".into(), TERRAIN_VERSION.into());
        // That of another version is not that of the terrain as it is now.
        if let Some(fingerprint) = self.terrain_fingerprint.filter(|_| self.terrain_version == TERRAIN_VERSION) {
            object.insert("terrain_fingerprint".into(), format!("{fingerprint:016x}").into());
        }
        object.insert("name".into(), name.as_str().into());
        object.insert("description".into(), description.as_str().into());
        object.insert("recipe".into(), recipe.to_json());
        if *level != Level::default() {
            object.insert("level".into(), Value::Object(group_to_json(level)));
        }
        if let Some(origin) = origin {
            object.insert("origin".into(), Value::Object(group_to_json(origin)));
        }
        object.insert("view".into(), self.view_to_value());
        object.insert("export".into(), Value::Object(group_to_json(&self.settings.export)));
        let used = recipe.files();
        let files: Map<String, Value> = files
            .iter()
            .filter(|(name, _)| used.contains(name))
            .map(|(name, bytes)| (name.0.clone(), pack(bytes).into()))
            .collect();
        if !files.is_empty() {
            object.insert("files".into(), Value::Object(files));
        }
        Value::Object(object)
    }

    /// The `view` object, which also holds the water.
    fn view_to_value(&self) -> Value {
        let value = |key| self.settings.view.get(key).or_else(|| self.project.water.get(key));
        let json = |parameter: &Parameter| Some((parameter.key.to_string(), value(parameter.key)?.to_json()));
        view_table().iter().filter_map(json).collect()
    }

    /// Reads the text of a project file.
    pub fn from_json(text: &str) -> Result<Self, ProjectError> {
        let value = json::parse(text).map_err(|error| ProjectError::Json(error.to_string()))?;
        Self::from_value(&value)
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, ProjectError> {
        let Value::Object(object) = value else {
            return Err(ProjectError::Parameter(not_an_object(value).within("project")));
        };
        match object.get("format") {
            None => return Err(ProjectError::MissingFormat),
            Some(format) => match format.as_u64() {
                Some(1) => {}
                Some(newer) if newer > u64::from(FORMAT_VERSION) => return Err(ProjectError::NewerFormat(newer)),
                _ => return Err(ProjectError::UnknownFormat(format.to_string())),
            },
        }
        let (mut project, mut settings) = (Project::default(), ProjectSettings::default());
        // Older files do not say it.
        let (mut terrain_version, mut terrain_fingerprint) = (1, None);
        for (key, value) in object {
            match key.as_str() {
                // The second is for text editors.
                "format" | "$schema" => {}
                "terrain_version" => {
                    let version = Spec::number("Terrain version", 1.0, f64::from(u32::MAX));
                    terrain_version = field(key, value, &version.row("", "", &1_u32))?;
                }
                "terrain_fingerprint" => {
                    // One that was not written by the program says nothing.
                    terrain_fingerprint = value.as_str().and_then(|digits| u64::from_str_radix(digits, 16).ok());
                }
                "name" => project.name = text(key, value)?,
                "description" => project.description = text(key, value)?,
                "recipe" => project.recipe = Recipe::from_json(value).map_err(|error| error.within(key))?,
                "level" => project.level = group_from_json(value).map_err(|error| error.within(key))?,
                "origin" if value.is_null() => {}
                "origin" => project.origin = Some(group_from_json(value).map_err(|error| error.within(key))?),
                "view" => {
                    (settings.view, project.water) = view_from_value(value).map_err(|error| error.within(key))?;
                }
                "export" => settings.export = group_from_json(value).map_err(|error| error.within(key))?,
                "files" => project.files = files_from_value(value, MAX_FILE_BYTES)?,
                _ => return Err(ParameterError::unknown_key(key, KEYS).into()),
            }
        }
        Ok(Self { project: Arc::new(project), settings, terrain_version, terrain_fingerprint })
    }

    /// Reads a project file, and the files next to it that it names but does not contain.
    pub fn open(path: &Path) -> Result<Self, ProjectError> {
        let mut file = Self::read(path)?;
        file.load_files(path)?;
        Ok(file)
    }

    /// Reads a project file, but not the files that it names.
    pub fn read(path: &Path) -> Result<Self, ProjectError> {
        Self::from_bytes(&read_limited(path, MAX_FILE_BYTES)?)
    }

    /// Reads the contents of a project file, but not the files that it names.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProjectError> {
        let text = str::from_utf8(bytes).map_err(|_| ProjectError::Json("it is not text".into()))?;
        Self::from_json(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Reads the files that the project at `path` names but does not contain.
    pub fn load_files(&mut self, path: &Path) -> Result<(), ProjectError> {
        Arc::make_mut(&mut self.project).load_files(folder_of(path))
    }

    /// The files that [`load_files`](Self::load_files) would read outside the project's folder.
    pub fn files_outside(&self, path: &Path) -> Vec<PathBuf> {
        self.project.files_outside(folder_of(path))
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn text(key: &str, value: &Value) -> Result<String, ParameterError> {
    field(key, value, &Spec::new("it").row("", "", &String::new()))
}

fn field<F: Field>(key: &str, value: &Value, parameter: &Parameter) -> Result<F, ParameterError> {
    field_from_json(value, parameter).map_err(|error| ParameterError { path: key.into(), ..error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Origin;

    const SMALL: &str =
        r#"{"format": 1, "recipe": {"stack": [{"operation": "faults"}, {"operation": "heightmap", "file": "a.png"}]}}"#;

    fn small() -> ProjectFile {
        ProjectFile { terrain_version: TERRAIN_VERSION, ..ProjectFile::from_json(SMALL).expect("valid") }
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        let error = ProjectFile::from_json(text).expect_err("must be refused");
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn ten_thousand_strokes_take_at_most_three_megabytes() {
        use crate::engine::operations::sculpt::{Sculpt, Stroke};
        use crate::engine::parameters::Point;
        use crate::engine::random::Stream;

        let stroke = |i: u32| {
            let mut rng = Stream::new(1, 2).at(i.into());
            let mut place = || (100.0 * rng.between(0.0, 4096.0)).round() / 100.0;
            let points_m = (0..8).map(|_| Point { x_m: place(), z_m: place() }).collect();
            Stroke { points_m, radius_m: 120.0, strength_m: 24.0, ..Default::default() }
        };
        let mut file = ProjectFile::default();
        let sculpt = Sculpt { strokes: (0..10_000).map(stroke).collect() };
        Arc::make_mut(&mut file.project).recipe.stack = vec![crate::engine::Step::new(sculpt)];
        let text = file.to_json();
        assert!(text.len() <= 3_000_000, "{} bytes", text.len());
        assert_eq!(ProjectFile::from_json(&text).expect("valid").project.recipe, file.project.recipe);
    }

    #[test]
    fn only_the_format_is_required() {
        let project = ProjectFile::from_json(r#"{"format": 1}"#).expect("valid");
        assert_eq!(project, ProjectFile { terrain_version: 1, ..ProjectFile::default() });
        assert!(project.project.recipe.stack.is_empty());
    }

    #[test]
    fn files_of_older_versions_say_what_changed_in_their_terrain() {
        let changes = |version: &str, operation: &str| {
            let recipe = format!(r#"{{"stack": [{{"operation": "clamp"}}, {{"operation": {operation}}}]}}"#);
            let text = format!(r#"{{"format": 1, {version} "recipe": {recipe}}}"#);
            ProjectFile::from_json(&text).expect("valid").terrain_changes(|_| None)
        };
        let rivers = changes("", r#""fluvial_erosion""#).expect("rivers have changed");
        assert!(rivers.contains("rivers") && !rivers.contains("thermal"), "{rivers}");
        let thermal = changes(r#""terrain_version": 1,"#, r#""thermal_erosion""#).expect("thermal erosion has changed");
        assert!(thermal.contains("thermal") && !thermal.contains("rivers"), "{thermal}");
        assert!(changes("", r#""faults", "rivers": {}"#).is_some());
        assert_eq!(changes("", r#""faults""#), None);
        let since_9 = |profile: &str| {
            let faults = format!(r#""faults", "profile": "{profile}", "rivers": {{}}"#);
            changes(r#""terrain_version": 9,"#, &faults)
        };
        assert!(since_9("cosine").expect("ridges are wider").contains("ridges"));
        assert!(!since_9("smooth").expect("rivers have changed").contains("ridges"));
        assert_eq!(changes("", r#""fluvial_erosion", "enabled": false"#), None);
        let since_2 = changes(r#""terrain_version": 2,"#, r#""fluvial_erosion""#).expect("depressions have changed");
        assert!(since_2.contains("depressions") && !since_2.contains("rows and columns"), "{since_2}");
        let since_2 = changes(r#""terrain_version": 2,"#, r#""thermal_erosion""#).expect("scree has changed");
        assert!(since_2.contains("differs in its details") && !since_2.contains("too steep"), "{since_2}");
        let since_10 = |operation: &str| changes(r#""terrain_version": 10,"#, operation);
        let small = since_10(r#""thermal_erosion""#).expect("small maps have changed");
        assert!(small.contains("fewer samples") && !small.contains("scree"), "{small}");
        assert_eq!(changes(&format!(r#""terrain_version": {TERRAIN_VERSION},"#), r#""thermal_erosion""#), None);
        let since_4 = changes(r#""terrain_version": 4,"#, r#""fluvial_erosion""#).expect("creep has changed");
        assert!(since_4.contains("creep") && !since_4.contains("margins"), "{since_4}");
        let since_5 = changes(r#""terrain_version": 5,"#, r#""fluvial_erosion""#).expect("what is left has changed");
        assert!(since_5.contains("at every size") && !since_5.contains("creep"), "{since_5}");
        assert!(since_10(r#""kernel_filter""#).expect("small maps have changed").contains("filter"));
        assert_eq!(since_10(r#""gaussian_blur""#), None);
        assert_eq!(changes(&format!(r#""terrain_version": {TERRAIN_VERSION},"#), r#""fluvial_erosion""#), None);
        assert!(
            changes(&format!(r#""terrain_version": {},"#, TERRAIN_VERSION + 1), r#""faults""#)
                .expect("newer")
                .contains("newer version")
        );
        let masked = |source: &str| changes("", &format!(r#""levels", "mask": {{"source": "{source}"}}"#));
        assert!(masked("wetness").expect("masks have changed").contains("masks by rivers and wetness"));
        assert_eq!(masked("lakes"), None);
        // Saving says that the new terrain was seen.
        let old = ProjectFile::from_json(r#"{"format": 1, "recipe": {"stack": [{"operation": "fluvial_erosion"}]}}"#);
        let saved = ProjectFile::from_json(&old.expect("valid").to_json()).expect("valid");
        assert_eq!(saved.terrain_changes(|_| None), None);
        // A fingerprint shows that this terrain is still the same.
        let recipe = r#""recipe": {"stack": [{"operation": "levels", "mask": {"source": "wetness"}}]}"#;
        let text = format!(r#"{{"format": 1, "terrain_fingerprint": "00000000000000ff", {recipe}}}"#);
        let file = ProjectFile::from_json(&text).expect("valid");
        assert_eq!(file.terrain_changes(|_| Some(255)), None);
        assert!(file.terrain_changes(|_| Some(254)).is_some() && file.terrain_changes(|_| None).is_some());
        assert!(!file.to_json().contains("terrain_fingerprint"), "that of version 1");
        let saved = file.with_terrain_fingerprint(Some(254)).to_json();
        assert!(saved.contains(r#""terrain_fingerprint": "00000000000000fe""#));
        assert_eq!(ProjectFile::from_json(&saved).map(|file| file.terrain_fingerprint), Ok(Some(254)));
        // It does not show changes of fine maps.
        let thermal = text.replace("levels", "thermal_erosion");
        assert!(ProjectFile::from_json(&thermal).expect("valid").terrain_changes(|_| Some(255)).is_some());
        let text = text.replace("ff", "not a number");
        assert!(ProjectFile::from_json(&text).expect("valid").terrain_changes(|_| None).is_some());
        check_refused(r#"{"format": 1, "terrain_version": 0}"#, "terrain_version");
        check_refused(r#"{"format": 1, "terrain_version": "new"}"#, "terrain_version");
    }

    #[test]
    fn projects_and_their_files_survive_a_round_trip() {
        let mut file = small();
        let project = Arc::make_mut(&mut file.project);
        project.name = "Fjord".into();
        let name = project.import_file("a.png", vec![1, 2, 3, 0, 0, 0]);
        assert_eq!(ProjectFile::from_json(&file.to_json()), Ok(file.clone()));
        // A file that no step uses is not saved.
        Arc::make_mut(&mut file.project).recipe.stack.truncate(1);
        let read = ProjectFile::from_json(&file.to_json()).expect("valid");
        assert!(!read.project.files.contains_key(&name));
    }

    #[test]
    fn invalid_projects_are_refused_with_the_key() {
        check_refused("{", "EOF while parsing");
        check_refused("[]", "must be an object");
        check_refused("{}", "\"format\"");
        check_refused(r#"{"format": 2}"#, "newer");
        check_refused(r#"{"format": "x"}"#, "format");
        check_refused(r#"{"format": 1, "recepi": {}}"#, "did you mean \"recipe\"?");
        check_refused(r#"{"format": 1, "recipe": {"seed": -1}}"#, "recipe.seed");
        check_refused(r#"{"format": 1, "recipe": {"world": {"width_m": 0}}}"#, "recipe.world.width_m: Width");
        check_refused(r#"{"format": 1, "recipe": {"world": {"width_m": NaN}}}"#, "expected value");
        check_refused(r#"{"format": 1, "recipe": {"world": {"width_m": 1e999}}}"#, "out of range");
        check_refused(r#"{"format": 1, "files": {"a": "?"}}"#, "\"a\"");
        check_refused(r#"{"format": 1, "name": 3}"#, "name");
    }

    #[test]
    fn the_origin_is_saved_only_if_there_is_one() {
        let mut file = small();
        assert!(!file.to_json().contains("origin"));
        file.set("origin.easting_m=500000.25").expect("a number");
        file.set("origin.epsg=32632").expect("a code");
        let origin = Origin { easting_m: 500_000.25, northing_m: 0.0, epsg: Some(32632) };
        assert_eq!(file.project.origin, Some(origin));
        assert_eq!(ProjectFile::from_json(&file.to_json()), Ok(file.clone()));
        file.set("origin=null").expect("nothing");
        assert_eq!(file, small());
        check_refused(r#"{"format": 1, "origin": {"easting": 1}}"#, "origin.easting: there is no such key");
        check_refused(r#"{"format": 1, "origin": {"epsg": 4}}"#, "origin.epsg: EPSG code");
        check_refused(r#"{"format": 1, "origin": 7}"#, "origin");
    }

    #[test]
    fn the_markers_of_the_level_are_saved_if_there_are_any() {
        let mut file = ProjectFile::default();
        assert!(!file.to_json().contains("\"level\""));
        for assignment in ["level.markers.0.at_m=[7, 8]", "level.markers.0.name=Red base", "level.markers.0.team=red"] {
            file.set(assignment).expect(assignment);
        }
        let read = ProjectFile::from_json(&file.to_json()).expect("valid");
        let marker = &read.project.level.markers[0];
        assert_eq!((marker.at_m.z_m, marker.name.as_str(), marker.team.as_str()), (8.0, "Red base", "red"));
        let wrong = r#"{"format": 1, "level": {"markers": [{"kind": "spaun"}]}}"#;
        check_refused(wrong, "level.markers.0.kind: Kind must be one of spawn, objective, camera, not \"spaun\"");
        check_refused(r#"{"format": 1, "level": {"marker": []}}"#, "did you mean \"markers\"?");
    }

    #[test]
    fn the_water_stays_in_the_view_object() {
        let mut file = small();
        Arc::make_mut(&mut file.project).water.water_m = Some(12.0);
        assert_eq!(file.project.water.water_m, Some(12.0));
        assert!(file.to_json().contains(r#""water_m": 12.0"#));
        assert_eq!(ProjectFile::from_json(&file.to_json()), Ok(file));
        check_refused(r#"{"format": 1, "view": {"watter_m": 1}}"#, "did you mean \"water_m\"?");
    }
}
