//! The version of the terrain that recipes produce, and what changed with it.

use crate::engine::mask::MaskSource;
use crate::engine::{Recipe, Step};

/// The version of the terrain that recipes produce. Project files say with which one they were saved.
pub const TERRAIN_VERSION: u32 = 4;

/// A change of the terrain that existing recipes produce.
struct TerrainChange {
    /// The first version with the change.
    version: u32,
    /// Whether it affects a step.
    affects: fn(&Step) -> bool,
    /// What changed, as a clause.
    what: &'static str,
}

const CHANGES: [TerrainChange; 5] = [
    TerrainChange {
        version: 2,
        affects: |step| step.operation.has_own_points(),
        what: "rivers no longer follow rows and columns, slopes above the critical slope slide, and valleys have floors",
    },
    TerrainChange {
        version: 2,
        affects: |step| step.operation.key() == "thermal_erosion",
        what: "on fine maps, thermal erosion goes on until no slope is too steep",
    },
    TerrainChange {
        version: 3,
        affects: |step| step.operation.has_own_points(),
        what: "deep depressions far from lower terrain are filled, and wide ones are cut open",
    },
    TerrainChange {
        version: 3,
        affects: |step| {
            let source = step.settings.mask.as_ref().map(|mask| mask.source);
            matches!(source, Some(MaskSource::Rivers | MaskSource::Wetness))
        },
        what: "masks by rivers and wetness follow slopes in any direction",
    },
    TerrainChange {
        version: 4,
        affects: |step| step.operation.has_own_points(),
        what: "filled depressions and cuts have smooth margins",
    },
];

/// How the terrain of a recipe differs from that of a version, in words; `None` if it does not.
pub(super) fn changes_since(version: u32, recipe: &Recipe) -> Option<String> {
    if version > TERRAIN_VERSION && !recipe.stack.is_empty() {
        return Some("the project was saved by a newer version of Upthrust, and its terrain may differ here".into());
    }
    let affects = |change: &&TerrainChange| {
        change.version > version && recipe.stack.iter().filter(|step| step.settings.enabled).any(change.affects)
    };
    let found: Vec<&str> = CHANGES.iter().filter(affects).map(|change| change.what).collect();
    (!found.is_empty()).then(|| format!("the terrain has changed since the project was saved: {}", found.join("; ")))
}
