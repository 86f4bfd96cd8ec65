//! Names of projects and files.

use std::path::Path;

use crate::project::{PROJECT_SUFFIX, Project};

/// The project's name, or "Untitled".
pub(crate) fn title(project: &Project) -> &str {
    if project.name.is_empty() { "Untitled" } else { &project.name }
}

/// What the user calls a project: its file's name, or its title while it has none.
pub(crate) fn name_of(project: &Project, path: Option<&Path>) -> String {
    path.map_or_else(|| title(project).into(), file_name)
}

/// The last component of a path.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of a project's file without the suffix of projects.
pub(crate) fn project_file_stem(path: &Path) -> String {
    let name = file_name(path);
    name.strip_suffix(PROJECT_SUFFIX).map_or(name.clone(), str::to_string)
}

/// The start of the names of the project's exports: that of its file, or else its own name. A project that began as a
/// preset has the preset's name, but the user calls it by its file.
pub(crate) fn export_stem(project: &Project, path: Option<&Path>) -> String {
    path.map(project_file_stem).filter(|name| !name.is_empty()).unwrap_or_else(|| file_stem(project))
}

/// The project's title as a file name without an extension: letters and digits in lower case, with dashes between.
pub(crate) fn file_stem(project: &Project) -> String {
    let title = title(project).to_lowercase();
    let parts: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "untitled".into() } else { parts.join("-") }
}
