//! The settings saved with a project, and the `view` object that contains some of them.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::engine::analysis::DEFAULT_WALKABLE_DEG;
use crate::engine::operations::symmetry::Kind as Symmetry;
use crate::engine::parameters::{
    List, Parameter, ParameterError, Parameters as _, Spec, group_from_json, not_an_object, parameters,
};

parameters! {
    /// How the editor shows the project. Saved with it, but not an edit.
    pub struct ViewSettings {
        /// Samples along the longer side of the preview; the terrain itself is the same at every size.
        preview_samples: u32 = 513,
            Spec::number("Preview samples", 33.0, 4097.0).slider(129.0, 2049.0).logarithmic();
        /// The iterations that each frame of the animation adds; 0: as many as it takes to finish in four seconds.
        iterations_per_frame: u32 = 1,
            Spec::number("Iterations per frame", 0.0, 1_000_000.0).slider(1.0, 100.0).logarithmic();
        /// The steepest slope that counts as walkable.
        walkable_deg: f64 = DEFAULT_WALKABLE_DEG,
            Spec::number("Walkable up to", 0.0, 90.0).slider(5.0, 70.0).unit("°");
        /// The symmetry by which the tools repeat what is drawn; empty: none.
        mirror: Option<Symmetry> = None, Spec::new("Mirror edits").none("none");
        /// The parameters that variations do not change, each by the seed of its step and its key.
        locked: List<String> = List::default(), Spec::new("Locked parameters");
    }
}

parameters! {
    /// The water shown over the terrain.
    pub struct Water {
        /// The level of the water in the views; empty: none. It does not change the terrain, and is stated in
        /// the import steps of exports.
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

/// How a project is viewed and exported: saved with it, but never undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectSettings {
    /// How the editor shows it.
    pub view: ViewSettings,
    /// The sizes to export by default.
    pub export: ExportSettings,
}

/// The parameters of the `view` object of project files: the view settings and the water, in the order of the file.
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
pub(super) fn view_from_value(value: &Value) -> Result<(ViewSettings, Water), ParameterError> {
    let Value::Object(object) = value else { return Err(not_an_object(value)) };
    let is_in = |table: &[Parameter], key: &str| table.iter().any(|parameter| parameter.key == key);
    if let Some(unknown) = object.keys().find(|key| !is_in(view_table(), key)) {
        return Err(ParameterError::unknown_key(unknown, view_table().iter().map(|parameter| parameter.key)));
    }
    let (water, view): (Map<_, _>, Map<_, _>) =
        object.clone().into_iter().partition(|(key, _)| is_in(Water::parameters(), key));
    Ok((group_from_json(&Value::Object(view))?, group_from_json(&Value::Object(water))?))
}
