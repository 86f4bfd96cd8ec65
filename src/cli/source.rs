//! Loads the project or preset that a subcommand names.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::arguments::Changes;
use super::error::CliError;
use super::output::print_error;
use super::values::Source;
use crate::engine::level::Level;
use crate::engine::parameters::{FileName, nearest_name};
use crate::engine::play::Rule;
use crate::engine::{Grid, Inputs};
use crate::files::export::{Order, Plan, load_inputs, memory_needed};
use crate::files::formats::heightmap::{Format, ReadOptions};
use crate::files::import::{apply_sidecars, open_heightmap, size_text, terrain_fingerprint};
use crate::files::io::folders::folder_of;
use crate::files::io::memory::require_memory;
use crate::project::{OpenedHeightmap, Project, ProjectFile, TERRAIN_VERSION, presets};

/// Loads a project file, a heightmap or `preset:NAME` and applies the changes.
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
    if Format::from_path(path).is_ok() {
        return from_heightmap(path);
    }
    let mut file = ProjectFile::read(path).map_err(failed)?;
    let outside = file.files_outside(path);
    let embedded: BTreeSet<FileName> = file.project.files.keys().cloned().collect();
    file.load_files(path).map_err(failed)?;
    let changes = file.terrain_changes(|Project { recipe, files, .. }| terrain_fingerprint(recipe, files));
    if let Some(changes) = changes {
        let accept = format!("set \"terrain_version\": {TERRAIN_VERSION} in the file to accept it");
        print_error(&format!("note: {}: {changes}; {accept}", path.display()));
    }
    for file in outside {
        print_error(&format!("note: {} reads {}, which is outside its folder", path.display(), file.display()));
    }
    let project = Arc::make_mut(&mut file.project);
    let max_bytes = project.remaining_file_bytes();
    let Project { recipe, files, .. } = project;
    let notes = apply_sidecars(recipe, files, &embedded, folder_of(path), max_bytes);
    notes.iter().for_each(|note| print_error(&format!("note: {note}")));
    Ok(file)
}

/// A project of a single heightmap, whose world has the size of the map if anything says it.
fn from_heightmap(path: &Path) -> Result<ProjectFile, CliError> {
    let imported = open_heightmap(path, &ReadOptions::default())
        .map_err(|error| CliError::FileOf(path.display().to_string(), error))?;
    imported.all_notes().for_each(|note| print_error(&format!("note: {}: {note}", path.display())));
    let has_extent = imported.extent.is_some();
    let project = Project::of_heightmap(OpenedHeightmap {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        file_name: imported.file_name(),
        heights_m: imported.heights_m(),
        bytes: imported.bytes,
        range_m: imported.range_m,
        extent: imported.extent,
        origin: imported.origin,
    });
    if !has_extent {
        let world = size_text(project.recipe.world.extent());
        print_error(&format!("note: {}: its size is unknown; the world is {world}", path.display()));
    }
    Ok(ProjectFile::new(project))
}

/// The files that a recipe reads. An error if evaluating it on a grid, with so many additional bytes, takes more memory
/// than there is.
pub fn inputs(source: &str, project: &Project, grid: Grid, additional_bytes: u64) -> Result<Inputs, CliError> {
    let Project { name, recipe, files, .. } = project;
    let inputs = load_inputs(recipe, files).map_err(|error| CliError::FileOf(source.into(), error))?;
    let order = Order { inputs: inputs.clone(), ..Order::new(name, recipe.clone(), grid) };
    require_memory(memory_needed(&Plan::new(order)?).saturating_add(additional_bytes))?;
    Ok(inputs)
}

/// Reads rules on a level.
pub fn rules<'a>(
    source: &Source,
    level: &Level,
    rules: impl IntoIterator<Item = &'a String>,
) -> Result<Vec<Rule>, CliError> {
    let read = rules.into_iter().map(|rule| Rule::read(rule, level)).collect::<Result<_, _>>();
    read.map_err(|error| CliError::Rule(source.to_string(), error))
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
        let readable: Vec<&str> = Format::all().flat_map(Format::extensions).copied().collect();
        assert_eq!(IMPORT_EXTENSIONS.as_slice(), readable);
    }
}
