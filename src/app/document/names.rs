//! Names of projects and files.

use std::path::Path;

use crate::project::{PROJECT_SUFFIX, Project};

/// The project's name, or "Untitled".
pub(crate) fn title(project: &Project) -> &str {
    if project.name.is_empty() { "Untitled" } else { &project.name }
}

/// The last component of a path.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The start of the names of the project's exports: its name, or else that of its file.
pub(crate) fn export_stem(project: &Project, path: Option<&Path>) -> String {
    let of_file = path.map(file_name).filter(|_| project.name.is_empty());
    let of_file = of_file.map(|name| name.strip_suffix(PROJECT_SUFFIX).map_or(name.clone(), str::to_string));
    of_file.filter(|name| !name.is_empty()).unwrap_or_else(|| file_stem(project))
}

/// The project's title as a file name without an extension: letters and digits in lower case, with dashes between.
pub(crate) fn file_stem(project: &Project) -> String {
    let title = title(project).to_lowercase();
    let parts: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "untitled".into() } else { parts.join("-") }
}
