//! Terrain3D for Godot (its documentation, "Importing & Exporting Data", "Controlmap Format").

use super::{ImportFacts, METRES, PLAIN, Target, USUAL, WeightsSampling, metres, scale};
use crate::files::heightmap::Encoding;
use crate::files::maps::WeightsLayout;

/// A roughness that changes nothing.
const ROUGHNESS: u8 = 128;

pub(super) static TERRAIN3D: Target = Target {
    key: "godot-terrain3d",
    label: "Terrain3D (Godot)",
    heightmaps: &[("height.exr", Encoding { as_rgb: true, ..USUAL })],
    texture: Some(("color.png", Some(ROUGHNESS))),
    weights: Some((WeightsLayout::Control, WeightsSampling::Samples)),
    needs_square_cells: true,
    import,
    unverified: &[
        "whether maps are flipped; here the first row is the northern one, and north is −Z.",
        "that the control map is taken from an EXR of 32-bit floats whose bits are those of the map.",
    ],
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let grid = facts.grid;
    let control = if facts.layers.is_empty() { "" } else { ", control.exr as control" };
    let mut steps = vec![
        format!(
            "open the importer scene and choose {} as height{control} and color.png as colour file; \
             heights are metres, so leave Import Scale at 1 and Import Offset at 0.",
            facts.file
        ),
        format!(
            "set Vertex Spacing {}; heights run from {} to {} m.",
            scale(grid.spacing_x_m()),
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.max, METRES)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at y = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!("the textures of the asset dock, by their number: {}.", facts.layers()));
    }
    steps
}
