//! Terrain3D for Godot (its documentation, "Importing & Exporting Data", "Controlmap Format").

use super::target::{DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::files::export::{ImportFacts, WeightsLayout};
use crate::files::formats::heightmap::Encoding;
use crate::files::formats::numbers::{METRE_PLACES, metres, scale};

/// The neutral roughness.
const ROUGHNESS: u8 = 128;

pub(super) static TERRAIN3D: Target = Target {
    key: "godot-terrain3d",
    label: "Terrain3D (Godot)",
    heightmaps: &[("height.exr", Encoding { as_rgb: true, ..DEFAULT_ENCODING })],
    texture: Some(("color.png", Some(ROUGHNESS))),
    // The importer refuses images of different dimensions.
    texture_at_samples: true,
    weights: Some((WeightsLayout::Control, WeightsSampling::Samples)),
    needs_square_cells: true,
    import,
    unverified: &[
        "whether maps are flipped; the first row of the file is the northern one, and north is −Z.",
        "whether the control map can be imported from an EXR of 32-bit floats with the same bits.",
    ],
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let grid = facts.grid;
    let control = if facts.layers.is_empty() { "" } else { ", control.exr as control" };
    let mut steps = vec![
        format!(
            "open the importer scene and choose {} as height{control} and color.png as colour file; \
             heights are in metres, so leave Import Scale at 1 and Import Offset at 0.",
            facts.file
        ),
        format!(
            "set Vertex Spacing to {}; heights range from {} to {} m.",
            scale(grid.spacing_x_m()),
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the water level is y = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!("add these textures to the asset dock, by number: {}.", facts.numbered_layers()));
    }
    steps
}
