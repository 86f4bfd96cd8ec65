//! Loads the project or preset that a subcommand names.

use std::path::Path;
use std::sync::Arc;

use super::arguments::Changes;
use super::error::CliError;
use super::output::print_error;
use super::values::Source;
use crate::engine::parameters::nearest_name;
use crate::project::{ProjectFile, presets};

/// Loads a project file or `preset:NAME` and applies the changes.
pub fn load(source: &Source, changes: &Changes) -> Result<ProjectFile, CliError> {
    let mut file = match source {
        Source::Preset(name) => preset(name)?,
        Source::File(path) => open(path)?,
    };
    if let Some(seed) = changes.seed {
        Arc::make_mut(&mut file.project).recipe.seed = seed;
    }
    let files = file.project.recipe.files();
    for assignment in &changes.set {
        let refused = |error| CliError::Set(assignment.clone(), error);
        file.set(assignment).map_err(refused)?;
    }
    // An assignment may name another file.
    if file.project.recipe.files() != files {
        let folder = match source {
            Source::Preset(_) => Path::new(""),
            Source::File(path) => path.parent().unwrap_or(Path::new("")),
        };
        let project = Arc::make_mut(&mut file.project);
        project.load_files(folder).map_err(|error| CliError::Project(source.to_string(), error))?;
    }
    Ok(file)
}

/// Reads a project file, and notes which files it reads outside its folder.
fn open(path: &Path) -> Result<ProjectFile, CliError> {
    let failed = |error| CliError::Project(path.display().to_string(), error);
    let mut file = ProjectFile::read(path).map_err(failed)?;
    let outside = file.files_outside(path);
    file.load_files(path).map_err(failed)?;
    for file in outside {
        print_error(&format!("note: {} reads {}, which is outside its folder", path.display(), file.display()));
    }
    Ok(file)
}

fn preset(name: &str) -> Result<ProjectFile, CliError> {
    let found = presets().iter().find(|preset| preset.name == name).ok_or_else(|| {
        let hint = match nearest_name(name, presets().iter().map(|preset| preset.name)) {
            Some(nearest) => format!("did you mean preset:{nearest}? \"upthrust presets\" lists all"),
            None => "\"upthrust presets\" lists all".into(),
        };
        CliError::UnknownPreset(name.into(), hint)
    })?;
    found.file().map_err(|error| CliError::Project(format!("preset:{name}"), error))
}

#[cfg(test)]
mod tests {
    use crate::files::formats::heightmap::Format;
    use crate::project::IMPORT_EXTENSIONS;

    #[test]
    fn import_extensions_are_those_of_readable_heightmaps() {
        let readable: Vec<&str> = Format::ALL.iter().flat_map(|format| format.extensions()).copied().collect();
        assert_eq!(IMPORT_EXTENSIONS.as_slice(), readable);
    }
}
