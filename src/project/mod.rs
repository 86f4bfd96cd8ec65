//! The project: the document that the editor edits, its settings, and its file.
//!
//! A project is a plain value that is read from and written to JSON. Reading checks every number against its parameter.

mod assignment;
mod document;
mod error;
mod file;
mod format;
mod imports;
mod json;
mod presets;
mod schema;
mod settings;
mod terrain_version;

pub use self::document::{OpenedHeightmap, Project};
pub use self::error::ProjectError;
pub use self::file::ProjectFile;
pub use self::format::{FORMAT_VERSION, IMPORT_EXTENSIONS, MAX_FILE_BYTES, PROJECT_SUFFIX};
pub use self::presets::{Preset, example_projects, examples, preset_projects, presets};
pub use self::schema::project_schema;
pub use self::settings::{ExportSettings, ProjectSettings, ViewSettings, Water, view_table};
pub use self::terrain_version::TERRAIN_VERSION;
