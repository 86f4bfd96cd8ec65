//! The version of the terrain that recipes produce, and what changed with it.

use crate::engine::flow::Outlets;
use crate::engine::mask::{Mask, MaskSource};
use crate::engine::operations::AnyOperation;
use crate::engine::{Recipe, Step};

/// The version of the terrain that recipes produce. Project files say with which one they were saved.
pub const TERRAIN_VERSION: u32 = 19;

/// A change of the terrain that existing recipes produce.
struct TerrainChange {
    /// The first version with the change.
    version: u32,
    /// Whether it affects a step.
    affects: fn(&Step) -> bool,
    /// What changed, as a clause.
    what: &'static str,
    /// Whether only maps finer than the reference grid show it, so that fingerprints do not.
    is_fine: bool,
}

const CHANGES: [TerrainChange; 22] = [
    TerrainChange {
        version: 2,
        affects: |step| step.operation.has_own_points(),
        what: "rivers no longer follow rows and columns, slopes above the critical slope slide, and valleys have floors",
        is_fine: false,
    },
    TerrainChange {
        version: 2,
        affects: |step| step.operation.key() == "thermal_erosion",
        what: "on fine maps, thermal erosion goes on until no slope is too steep",
        is_fine: true,
    },
    TerrainChange {
        version: 3,
        affects: |step| step.operation.has_own_points(),
        what: "deep depressions far from lower terrain are filled, and wide ones are cut open",
        is_fine: false,
    },
    TerrainChange {
        version: 3,
        affects: |step| {
            let mut masks = step.settings.mask.iter();
            masks.any(|mask| matches!(mask.source, MaskSource::Rivers | MaskSource::Wetness))
        },
        what: "masks by rivers and wetness follow slopes in any direction",
        is_fine: false,
    },
    TerrainChange {
        version: 4,
        affects: |step| step.operation.has_own_points(),
        what: "filled depressions and cuts have smooth margins, and rivers differ in their details",
        is_fine: false,
    },
    TerrainChange {
        version: 5,
        affects: |step| step.operation.has_own_points(),
        what: "on fine maps, soil creep smooths hillslopes between channels",
        is_fine: true,
    },
    TerrainChange {
        version: 6,
        affects: |step| {
            let is_blurred = |mask: &Mask| mask.source == MaskSource::Image && !mask.is_pointwise();
            step.settings.mask.iter().any(is_blurred)
        },
        what: "image masks are blurred by their falloff",
        is_fine: false,
    },
    TerrainChange {
        version: 7,
        affects: |step| matches!(&step.operation, AnyOperation::Paths(paths) if paths.has_roads()),
        what: "roads have vertical curves where their grade changes",
        is_fine: false,
    },
    TerrainChange {
        version: 8,
        affects: |step| matches!(&step.operation, AnyOperation::Paths(paths) if paths.has_roads()),
        what: "roads have level verges and ends",
        is_fine: false,
    },
    TerrainChange {
        version: 10,
        affects: |step| step.operation.key() == "thermal_erosion",
        what: "on fine maps, the scree of thermal erosion differs in its details",
        is_fine: true,
    },
    TerrainChange {
        version: 10,
        affects: |step| matches!(&step.operation, AnyOperation::Faults(faults) if faults.has_rivers_and_banks()),
        what: "with rivers, ridges and banks of faults are at least two spacings of the rivers' points wide",
        is_fine: false,
    },
    TerrainChange {
        version: 11,
        affects: |step| step.operation.has_own_points(),
        what: "where rivers leave some of the detail below, they leave the same at every size",
        is_fine: false,
    },
    TerrainChange {
        version: 11,
        affects: |step| match &step.operation {
            AnyOperation::Faults(faults) => faults.wind.is_some() && faults.rivers.is_none(),
            AnyOperation::BspFaults(faults) => faults.wind.is_some() && faults.rivers.is_none(),
            AnyOperation::RecursiveFilter(_) | AnyOperation::FiniteFilter(_) | AnyOperation::KernelFilter(_) => true,
            AnyOperation::ThermalErosion(_) | AnyOperation::HydraulicErosion(_) => true,
            _ => false,
        },
        what: "maps with fewer samples than the reference resolution of a filter or of erosion are like finer ones",
        is_fine: false,
    },
    TerrainChange {
        version: 12,
        affects: |step| step.operation.has_own_points(),
        what: "wide basins are cut open through smaller ones on their rims, and crests slide to the critical slope",
        is_fine: false,
    },
    TerrainChange {
        version: 13,
        affects: |step| step.operation.has_own_points(),
        what: "rivers drain depressions before every step, so the cuts through their rims become valleys",
        is_fine: false,
    },
    TerrainChange {
        version: 14,
        affects: |step| step.operation.has_own_points(),
        what: "rivers and crests one sample wide are smooth, and hillslopes do not become level along the border",
        is_fine: false,
    },
    TerrainChange {
        version: 15,
        affects: |step| step.operation.has_own_points(),
        what: "slopes between rivers and the floors of valleys are smoother, and small hollows below the sea are land",
        is_fine: false,
    },
    TerrainChange {
        version: 16,
        affects: |step| match &step.operation {
            AnyOperation::FluvialErosion(erosion) => erosion.outlets != Outlets::Border,
            operation => operation.has_own_points(),
        },
        what: "rivers cross the border of the world instead of following it",
        is_fine: false,
    },
    TerrainChange {
        version: 17,
        affects: |step| step.operation.has_own_points(),
        what: "slopes between rivers are smoother",
        is_fine: false,
    },
    TerrainChange {
        version: 18,
        affects: |step| matches!(&step.operation, AnyOperation::FluvialErosion(erosion) if erosion.sea_m.is_some()),
        what: "shores rise from the sea without a level strip",
        is_fine: false,
    },
    TerrainChange {
        version: 18,
        affects: |step| step.operation.has_own_points(),
        what: "on maps of more than about 6000 samples, gullies are smoother",
        is_fine: true,
    },
    TerrainChange {
        version: 19,
        affects: |step| match &step.operation {
            AnyOperation::Faults(faults) => faults.rivers.is_some(),
            AnyOperation::BspFaults(faults) => faults.rivers.is_some(),
            _ => false,
        },
        what: "rivers between faults begin on a coarse mesh, and also erode the last faults of a number that is not a \
               multiple of their interval",
        is_fine: false,
    },
];

/// How the terrain of a recipe differs from that of a version, in words; `None` if it does not. `has_same_fingerprint` is
/// asked only if it may.
pub(super) fn changes_since(
    version: u32,
    recipe: &Recipe,
    has_same_fingerprint: impl FnOnce() -> bool,
) -> Option<String> {
    if version > TERRAIN_VERSION && !recipe.stack.is_empty() {
        return Some("the project was saved by a newer version of Upthrust, and its terrain may differ here".into());
    }
    let affects = |change: &&TerrainChange| {
        change.version > version && recipe.active_steps().any(|(_, step)| (change.affects)(step))
    };
    let mut found: Vec<&TerrainChange> = CHANGES.iter().filter(affects).collect();
    if !found.is_empty() && has_same_fingerprint() {
        found.retain(|change| change.is_fine);
    }
    let clauses: Vec<&str> = found.iter().map(|change| change.what).collect();
    (!clauses.is_empty())
        .then(|| format!("the terrain has changed since the project was saved: {}", clauses.join("; ")))
}
