//! The document: a recipe, how it is looked at and how it is exported, and its file.
//!
//! A project is one plain value. It is read from and written to JSON as a whole; every number is checked against its
//! parameter's row on the way in.

mod error;
mod presets;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

pub use self::error::ProjectError;
pub use self::presets::{Preset, preset_projects, presets};
use crate::engine::Recipe;
use crate::engine::analysis::DEFAULT_WALKABLE_DEG;
use crate::engine::parameters::{
    FileName, Group as _, Parameter, ParameterError, Parameters as _, Problem, Spec, field_from_json, group_from_json,
    group_to_json, nearest_name, not_an_object, parameters,
};

/// The version of the file format that this program writes; it reads this one and all before it.
pub const FORMAT: u32 = 1;

/// How the files of projects end.
pub const PROJECT_SUFFIX: &str = ".upthrust.json";

/// The most bytes of a project's own file, and of all its imported files together.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The endings of the files that a project may name: those of heightmaps, without the dot. Nothing else beside a project
/// is read into it.
pub const IMPORT_EXTENSIONS: [&str; 14] =
    ["png", "r16", "raw", "r32", "xy", "asc", "pgm", "bmp", "jpg", "jpeg", "tga", "exr", "tif", "tiff"];

parameters! {
    /// How the editor shows the project. Saved with it, but not an edit.
    pub struct ViewSettings {
        /// Samples along the longer side of the preview; the terrain itself is the same at every size.
        preview_samples: u32 = 513,
            Spec::number("Preview samples", 33.0, 4097.0).slider(129.0, 2049.0).logarithmic();
        /// How many iterations each frame of the animation adds; 0: as many as it takes to finish in four seconds.
        iterations_per_frame: u32 = 1,
            Spec::number("Iterations a frame", 0.0, 1_000_000.0).slider(1.0, 100.0).logarithmic();
        /// The steepest slope that counts as walkable.
        walkable_deg: f64 = DEFAULT_WALKABLE_DEG,
            Spec::number("Walkable up to", 0.0, 90.0).slider(5.0, 70.0).unit("°");
        /// The parameters that variations leave alone: the seed of their step, and their key.
        locked: Vec<String> = Vec::new(), Spec::new("Locked parameters");
    }
}

parameters! {
    /// The water shown over the terrain.
    pub struct Water {
        /// The level of the water in the views; empty: none. It does not change the terrain; import notes state it.
        water_m: Option<f64> = None, Spec::number("Water level", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m");
    }
}

parameters! {
    /// The sizes to export by default.
    pub struct ExportSettings {
        /// Samples along the longer side of exported heightmaps.
        samples: u32 = 1025, Spec::number("Samples", 2.0, 65_537.0).slider(129.0, 8193.0).logarithmic();
        /// Pixels along the longer side of exported textures.
        texture_pixels: u32 = 1024, Spec::number("Texture pixels", 1.0, 65_536.0).slider(128.0, 8192.0).logarithmic();
    }
}

/// What edits change and undo restores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// The title.
    pub name: String,
    /// A sentence that describes the terrain.
    pub description: String,
    /// Everything that determines the terrain and its texture.
    pub recipe: Recipe,
    /// The water shown over the terrain.
    pub water: Water,
    /// The bytes of the imported files, so that a project that is moved or mailed still opens.
    pub files: BTreeMap<FileName, Arc<Vec<u8>>>,
}

/// How a project is viewed and exported: saved with it, but never undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectSettings {
    /// How the editor shows it.
    pub view: ViewSettings,
    /// The sizes to export by default.
    pub export: ExportSettings,
}

/// The contents of a project file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectFile {
    /// What edits change.
    pub project: Arc<Project>,
    /// How it is viewed and exported.
    pub settings: ProjectSettings,
}

const KEYS: [&str; 7] = ["format", "name", "description", "recipe", "view", "export", "files"];

impl Project {
    /// Reads the files that the recipe names but the project does not hold, relative to `folder`.
    pub fn load_files(&mut self, folder: &Path) -> Result<(), ProjectError> {
        for name in self.recipe.files() {
            let room = self.remaining_file_bytes();
            if let Entry::Vacant(place) = self.files.entry(name) {
                let path = folder.join(&place.key().0);
                let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
                if !ending.is_some_and(|ending| IMPORT_EXTENSIONS.contains(&ending.as_str())) {
                    let known = IMPORT_EXTENSIONS.map(|ending| format!(".{ending}")).join(" ");
                    let reason = format!("no heightmap or picture with this ending can be read; known are {known}");
                    return Err(ProjectError::Unreadable(path, reason));
                }
                place.insert(Arc::new(read_at_most(&path, room)?));
            }
        }
        Ok(())
    }

    /// How many more bytes of imported files the project can hold and still be opened again.
    pub fn remaining_file_bytes(&self) -> u64 {
        let held = self.files.values().map(|bytes| bytes.len() as u64).sum();
        MAX_FILE_BYTES.saturating_sub(held)
    }

    /// Keeps the bytes of an imported file under a name of its own and returns that name.
    pub fn import_file(&mut self, file_name: &str, bytes: Vec<u8>) -> FileName {
        let bytes = Arc::new(bytes);
        let (stem, ending) = file_name.rsplit_once('.').unwrap_or((file_name, ""));
        let numbered = |number: u32| match number {
            1 => file_name.to_string(),
            _ if ending.is_empty() => format!("{stem} {number}"),
            _ => format!("{stem} {number}.{ending}"),
        };
        let name = (1..)
            .map(|number| FileName(numbered(number)))
            .find(|name| self.files.get(name).is_none_or(|known| *known == bytes))
            .unwrap_or_default();
        self.files.insert(name.clone(), bytes);
        name
    }
}

impl ProjectFile {
    /// A file of this project with default settings.
    pub fn new(project: impl Into<Arc<Project>>) -> Self {
        Self { project: project.into(), settings: ProjectSettings::default() }
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut text = format!("{:#}", self.to_value());
        text.push('\n');
        text
    }

    fn to_value(&self) -> Value {
        let Project { name, description, recipe, files, .. } = &*self.project;
        let mut object = Map::new();
        object.insert("format".into(), FORMAT.into());
        object.insert("name".into(), name.as_str().into());
        object.insert("description".into(), description.as_str().into());
        object.insert("recipe".into(), recipe.to_json());
        object.insert("view".into(), self.view_to_value());
        object.insert("export".into(), Value::Object(group_to_json(&self.settings.export)));
        let used = recipe.files();
        let files: Map<String, Value> = files
            .iter()
            .filter(|(name, _)| used.contains(name))
            .map(|(name, bytes)| (name.0.clone(), packed(bytes).into()))
            .collect();
        if !files.is_empty() {
            object.insert("files".into(), Value::Object(files));
        }
        Value::Object(object)
    }

    /// The `view` object, which in files holds the water too.
    fn view_to_value(&self) -> Value {
        let value = |key| self.settings.view.get(key).or_else(|| self.project.water.get(key));
        let json = |parameter: &Parameter| Some((parameter.key.to_string(), value(parameter.key)?.to_json()));
        view_table().iter().filter_map(json).collect()
    }

    /// Reads the text of a project file.
    pub fn from_json(text: &str) -> Result<Self, ProjectError> {
        let value: Value = serde_json::from_str(text).map_err(|error| ProjectError::Json(error.to_string()))?;
        Self::from_value(&value)
    }

    fn from_value(value: &Value) -> Result<Self, ProjectError> {
        let Value::Object(object) = value else {
            return Err(ProjectError::Parameter(not_an_object(value).within("project")));
        };
        match object.get("format") {
            None => return Err(ProjectError::NoFormat),
            Some(format) => match format.as_u64() {
                Some(1) => {}
                Some(newer) if newer > u64::from(FORMAT) => return Err(ProjectError::NewerFormat(newer)),
                _ => return Err(ProjectError::UnknownFormat(format.to_string())),
            },
        }
        let (mut project, mut settings) = (Project::default(), ProjectSettings::default());
        for (key, value) in object {
            match key.as_str() {
                "format" => {}
                "name" => project.name = text(key, value)?,
                "description" => project.description = text(key, value)?,
                "recipe" => project.recipe = Recipe::from_json(value).map_err(|error| error.within(key))?,
                "view" => {
                    (settings.view, project.water) = view_from_value(value).map_err(|error| error.within(key))?;
                }
                "export" => settings.export = group_from_json(value).map_err(|error| error.within(key))?,
                "files" => project.files = files_from_value(value, MAX_FILE_BYTES)?,
                _ => return Err(ParameterError::unknown_key(key, KEYS).into()),
            }
        }
        Ok(Self { project: Arc::new(project), settings })
    }

    /// Reads a project file, and the files beside it that it names but does not hold.
    pub fn open(path: &Path) -> Result<Self, ProjectError> {
        let bytes = read_at_most(path, MAX_FILE_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|_| ProjectError::Json("it is not text".into()))?;
        let mut file = Self::from_json(&text)?;
        Arc::make_mut(&mut file.project).load_files(path.parent().unwrap_or(Path::new("")))?;
        Ok(file)
    }

    /// Sets any parameter by its path in the file, as in `stack.0.count=500`; paths begin inside `recipe`, or with
    /// `view` or `export`. The value is parsed as JSON if possible, or else taken as text. On an error nothing changes.
    pub fn set(&mut self, assignment: &str) -> Result<(), ProjectError> {
        let Some((path, written)) = assignment.split_once('=') else {
            return Err(ProjectError::NoAssignment(assignment.into()));
        };
        let value = serde_json::from_str(written).unwrap_or_else(|_| Value::from(written));
        // Compressing the files takes long, and no assignment reaches them.
        let files = std::mem::take(&mut Arc::make_mut(&mut self.project).files);
        let changed = self.with(path, value).map(|changed| *self = changed);
        Arc::make_mut(&mut self.project).files = files;
        changed
    }

    /// The file with another value at a path.
    fn with(&self, path: &str, value: Value) -> Result<Self, ProjectError> {
        let mut document = self.to_value();
        let first = path.split('.').next().unwrap_or_default();
        let root = match first {
            "view" | "export" | "name" | "description" | "recipe" => &mut document,
            _ => &mut document["recipe"],
        };
        *place(root, path)? = value;
        Self::from_value(&document)
    }
}

/// The rows of the `view` object of project files: the view settings and the water, in the order of the file.
pub fn view_table() -> &'static [Parameter] {
    static TABLE: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
        let mut table = ViewSettings::parameters().to_vec();
        let at = table.iter().position(|parameter| parameter.key == "walkable_deg").unwrap_or(table.len());
        table.splice(at..at, Water::parameters().iter().cloned());
        table
    });
    &TABLE
}

/// Reads the `view` object.
fn view_from_value(value: &Value) -> Result<(ViewSettings, Water), ParameterError> {
    let Value::Object(object) = value else { return Err(not_an_object(value)) };
    let is_in = |table: &[Parameter], key: &str| table.iter().any(|parameter| parameter.key == key);
    if let Some(unknown) = object.keys().find(|key| !is_in(view_table(), key)) {
        return Err(ParameterError::unknown_key(unknown, view_table().iter().map(|parameter| parameter.key)));
    }
    let (water, view): (Map<_, _>, Map<_, _>) =
        object.clone().into_iter().partition(|(key, _)| is_in(Water::parameters(), key));
    Ok((group_from_json(&Value::Object(view))?, group_from_json(&Value::Object(water))?))
}

/// The value at a path of keys and indices. A group that is switched off (`null`) is switched on by naming a key in
/// it.
fn place<'a>(root: &'a mut Value, path: &str) -> Result<&'a mut Value, ParameterError> {
    let mut value = root;
    for (depth, part) in path.split('.').enumerate() {
        if value.is_null() && depth > 0 {
            *value = Value::Object(Map::new());
            value[part] = Value::Null;
        }
        let unknown = |known: Vec<String>| ParameterError {
            path: path.to_string(),
            problem: Problem::UnknownKey { nearest: nearest_name(part, known.iter().map(String::as_str)) },
        };
        value = match value {
            Value::Object(object) => {
                let known: Vec<String> = object.keys().cloned().collect();
                // A key inside a group that was empty is checked when the whole is read again.
                if !object.contains_key(part) && !known.is_empty() {
                    return Err(unknown(known));
                }
                object.entry(part).or_insert(Value::Null)
            }
            Value::Array(items) => {
                let known = (0..items.len()).map(|i| i.to_string()).collect();
                part.parse::<usize>().ok().and_then(|i| items.get_mut(i)).ok_or_else(|| unknown(known))?
            }
            _ => return Err(unknown(Vec::new())),
        };
    }
    Ok(value)
}

fn text(key: &str, value: &Value) -> Result<String, ParameterError> {
    let parameter: Parameter = Spec::new("it").row("", "", &String::new());
    field_from_json(value, &parameter).map_err(|error| ParameterError { path: key.into(), ..error })
}

fn packed(bytes: &[u8]) -> String {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    BASE64.encode(encoder.finish().unwrap_or_default())
}

/// At most `most` bytes, and one more where there are more.
fn unpacked(text: &str, most: u64) -> Option<Vec<u8>> {
    let compressed = BASE64.decode(text).ok()?;
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(compressed.as_slice()).take(most + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads a regular file that has at most `most` bytes: a pipe or a device may have no end.
fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, ProjectError> {
    let refused = |reason: String| ProjectError::Unreadable(path.to_path_buf(), reason);
    let failed = |error: io::Error| refused(error.to_string());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(refused("this is no regular file; choose a file on a disk".into()));
    }
    if metadata.len() > most {
        return Err(refused(format!("it has {} bytes, and there is room for {most}", metadata.len())));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// The imported files, which together unpack to at most `room` bytes.
fn files_from_value(value: &Value, mut room: u64) -> Result<BTreeMap<FileName, Arc<Vec<u8>>>, ProjectError> {
    let Value::Object(object) = value else {
        return Err(not_an_object(value).within("files").into());
    };
    let read = |(name, value): (&String, &Value)| {
        let unpacked = value.as_str().and_then(|text| unpacked(text, room));
        let bytes = unpacked.ok_or_else(|| ProjectError::BrokenFile(name.clone()))?;
        room = room.checked_sub(bytes.len() as u64).ok_or_else(|| ProjectError::TooMuch(name.clone()))?;
        Ok((FileName(name.clone()), Arc::new(bytes)))
    };
    object.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str =
        r#"{"format": 1, "recipe": {"stack": [{"operation": "faults"}, {"operation": "heightmap", "file": "a.png"}]}}"#;

    fn small() -> ProjectFile {
        ProjectFile::from_json(SMALL).expect("valid")
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        let error = ProjectFile::from_json(text).expect_err("must be refused");
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn only_the_format_must_be_there() {
        let project = ProjectFile::from_json(r#"{"format": 1}"#).expect("valid");
        assert_eq!(project, ProjectFile::default());
        assert!(project.project.recipe.stack.is_empty());
    }

    #[test]
    fn projects_and_their_files_survive_the_way_through_json() {
        let mut file = small();
        let project = Arc::make_mut(&mut file.project);
        project.name = "Fjord".into();
        let name = project.import_file("a.png", vec![1, 2, 3, 0, 0, 0]);
        assert_eq!(ProjectFile::from_json(&file.to_json()), Ok(file.clone()));
        // A file that no step draws on is left behind.
        Arc::make_mut(&mut file.project).recipe.stack.truncate(1);
        let read = ProjectFile::from_json(&file.to_json()).expect("valid");
        assert!(!read.project.files.contains_key(&name));
    }

    #[test]
    fn files_of_the_same_name_do_not_replace_each_other() {
        let mut project = Project::default();
        let names = [[1], [2], [1]].map(|bytes| project.import_file("a.png", bytes.to_vec()).0);
        assert_eq!(names, ["a.png", "a 2.png", "a.png"]);
    }

    #[test]
    fn bad_projects_are_refused_with_the_place() {
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
    fn imported_files_have_one_room_for_all_of_them() {
        let files: Value =
            ["a", "b", "c"].map(|name| (name.to_string(), Value::from(packed(&[0; 100])))).into_iter().collect();
        assert_eq!(files_from_value(&files, 300).map(|files| files.len()), Ok(3));
        let refused = files_from_value(&files, 299).map(|files| files.len());
        assert_eq!(refused, Err(ProjectError::TooMuch("c".into())));
    }

    #[test]
    fn only_heightmaps_of_some_length_are_read_beside_a_project() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.png"), [1, 2, 3]).expect("written");
        std::fs::write(path("secret"), "s").expect("written");
        std::fs::create_dir(path("folder.png")).expect("made");
        let load = |name: &str| {
            let mut file = small();
            file.set(&format!("stack.1.file={name}")).expect("set");
            let mut project = Arc::unwrap_or_clone(file.project);
            project.load_files(folder.path()).map(|()| project).map_err(|error| error.to_string())
        };
        let project = load("a.png").expect("readable");
        assert_eq!(project.remaining_file_bytes(), MAX_FILE_BYTES - 3);
        for (name, message) in [
            ("secret", "known are .png"),
            ("/dev/zero", "known are .png"),
            ("folder.png", "no regular file"),
            ("none.png", "cannot read"),
        ] {
            let error = load(name).expect_err(name);
            assert!(error.contains(name) && error.contains(message), "{error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/zero", path("zero.png")).expect("linked");
            assert!(load("zero.png").expect_err("endless").contains("no regular file"));
        }
        let error = read_at_most(&path("a.png"), 2).expect_err("too long").to_string();
        assert!(error.contains("3 bytes") && error.contains("room for 2"), "{error}");
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
    fn a_refused_assignment_changes_nothing() {
        let mut file = small();
        Arc::make_mut(&mut file.project).import_file("a.png", vec![1]);
        let before = file.clone();
        for (assignment, message) in [
            ("stack.0.count", "PATH=VALUE"),
            ("stack.0.coutn=5", "stack.0.coutn: there is no such key; did you mean \"count\"?"),
            ("stack.7.count=5", "stack.7.count"),
            ("stack.0.count=x", "Count must be a whole number"),
            ("stack.0.up_chance=NaN", "Uplift probability must be a number"),
            ("stack.0.wind.kk=0.5", "did you mean \"k\"?"),
            ("stack.0.count.x=1", "there is no such key"),
        ] {
            let error = file.set(assignment).expect_err(assignment);
            assert!(error.to_string().contains(message), "{assignment}: {error}");
        }
        assert_eq!(file, before);
    }

    #[test]
    fn the_water_stays_in_the_view_object() {
        let mut file = small();
        file.set("view.water_m=12").expect("set");
        assert_eq!(file.project.water.water_m, Some(12.0));
        assert!(file.to_json().contains(r#""water_m": 12.0"#));
        assert_eq!(ProjectFile::from_json(&file.to_json()), Ok(file));
        check_refused(r#"{"format": 1, "view": {"watter_m": 1}}"#, "did you mean \"water_m\"?");
    }
}
