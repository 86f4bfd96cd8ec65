//! Names of projects and files.

use std::path::Path;

use crate::project::Project;

/// The project's name, or "Untitled".
pub(crate) fn title(project: &Project) -> &str {
    if project.name.is_empty() { "Untitled" } else { &project.name }
}

/// The last component of a path.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The project's title as a file name without an extension: letters and digits in lower case, with dashes between.
pub(crate) fn file_stem(project: &Project) -> String {
    let title = title(project).to_lowercase();
    let parts: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "untitled".into() } else { parts.join("-") }
}
