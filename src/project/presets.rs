//! The presets: project files embedded in the program.

use std::sync::{Arc, LazyLock};

use super::document::Project;
use super::error::ProjectError;
use super::file::ProjectFile;

/// A project embedded in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name on the command line, as in `preset:krten-wind`.
    pub name: &'static str,
    json: &'static str,
}

impl Preset {
    /// The preset as a project.
    pub fn project(&self) -> Result<Project, ProjectError> {
        Ok(Arc::unwrap_or_clone(self.file()?.project))
    }

    /// The preset's project file.
    pub fn file(&self) -> Result<ProjectFile, ProjectError> {
        ProjectFile::from_json(self.json)
    }
}

macro_rules! embedded {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[ $( Preset { name: $name, json: include_str!(concat!("../../", $folder, "/", $name, ".upthrust.json")) }, )+ ]
    };
}

/// All presets in menu order. The first one is opened at the start.
pub fn presets() -> &'static [Preset] {
    static PRESETS: &[Preset] = embedded!["presets":
        "alpine-range",
        "young-fault-range",
        "rolling-hills",
        "desert-mesa",
        "archipelago",
        "arctic",
        "volcanic-island",
        "canyon",
        "circles-hills",
        "midpoint-range",
        "agents-island",
        "krten-wind",
        "krten-rain",
        "lighthouse-linear",
        "lighthouse-sine",
        "traagen-bsp",
        "traagen-bsp-unstructured",
        "traagen-demo",
        "flipcode-alps",
    ];
    PRESETS
}

fn parsed(presets: &[Preset]) -> Vec<(Preset, ProjectFile)> {
    presets.iter().filter_map(|preset| Some((*preset, preset.file().ok()?))).collect()
}

/// Every preset with its project, parsed once.
pub fn preset_projects() -> &'static [(Preset, ProjectFile)] {
    static PROJECTS: LazyLock<Vec<(Preset, ProjectFile)>> = LazyLock::new(|| parsed(presets()));
    &PROJECTS
}

/// The example projects, which the tutorials of the manual explain.
pub fn examples() -> &'static [Preset] {
    static EXAMPLES: &[Preset] = embedded!["examples/projects":
        "mountain-pass",
        "two-player-arena",
        "hidden-bases",
        "island-fortress",
        "painted-crags",
        "mountain-lake",
        "highlands",
    ];
    EXAMPLES
}

/// Every example with its project, parsed once.
pub fn example_projects() -> &'static [(Preset, ProjectFile)] {
    static PROJECTS: LazyLock<Vec<(Preset, ProjectFile)>> = LazyLock::new(|| parsed(examples()));
    &PROJECTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_in_the_folder_is_embedded_valid_and_described() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/presets");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("presets")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        let mut shipped: Vec<String> =
            presets().iter().map(|preset| format!("{}.upthrust.json", preset.name)).collect();
        files.sort();
        shipped.sort();
        assert_eq!(files, shipped);
        for preset in presets() {
            let file = preset.file().expect(preset.name);
            assert_eq!(file.terrain_changes(|_| None), None, "{}", preset.name);
            let project = file.project;
            assert!(!project.name.is_empty() && !project.description.is_empty(), "{}", preset.name);
        }
    }
}
