//! The plan of the export that the dialog shows.

use std::path::{Path, PathBuf};

use super::choices::Choices;
use crate::engine::Recipe;
use crate::files::export::{Plan, memory_needed};
use crate::project::{ExportSettings, Project};

/// A plan and everything that it was made from. It is made again when one of these changes.
pub(super) struct Planned {
    choices: Choices,
    folder: String,
    settings: ExportSettings,
    name: String,
    recipe: Recipe,
    water_m: Option<f64>,
    /// The plan, or why the export is not possible.
    pub(super) plan: Result<Plan, String>,
    /// The files of the plan.
    pub(super) files: Vec<PathBuf>,
    /// The memory that the export needs.
    pub(super) memory_bytes: u64,
    /// The number of samples and the tiles with which the program shows the world in its proportions, if it does not.
    pub(super) undistorted: Option<(usize, [usize; 2])>,
}

impl Planned {
    pub(super) fn new(choices: &Choices, project: &Project, settings: &ExportSettings, folder: String) -> Self {
        let order = choices.order(project, settings, Path::new(&folder));
        let plan = order.and_then(|order| Plan::new(order).map_err(|error| error.to_string()));
        let files = plan.iter().flat_map(Plan::paths).map(Path::to_path_buf).collect();
        let memory_bytes = plan.as_ref().map_or(0, memory_needed);
        Self {
            choices: choices.clone(),
            folder,
            settings: settings.clone(),
            name: project.name.clone(),
            recipe: project.recipe.clone(),
            water_m: project.water.water_m,
            plan,
            files,
            memory_bytes,
            undistorted: choices.undistorted(project.recipe.world.extent(), settings),
        }
    }

    /// Whether nothing that the plan depends on has changed.
    pub(super) fn is_current(
        &self,
        choices: &Choices,
        project: &Project,
        settings: &ExportSettings,
        folder: &str,
    ) -> bool {
        self.choices == *choices
            && self.folder == folder
            && self.settings == *settings
            && self.name == project.name
            && self.water_m == project.water.water_m
            && self.recipe == project.recipe
    }
}
