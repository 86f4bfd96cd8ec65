//! All kinds of files, for programs without a target.

use super::target::{Checked, DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::files::export::{ImportFacts, ScatterAxes, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, metres};

/// The decimal places of percentages.
const PERCENT_PLACES: usize = 4;

pub(super) static GENERIC: Target = Target {
    key: "generic",
    label: "All formats, for any program",
    heightmaps: &[("height.png", DEFAULT_ENCODING), ("height.r32", DEFAULT_ENCODING)],
    weights: Some((WeightsLayout::MapsAndPacks, WeightsSampling::Cells)),
    normals: Some("normals.png"),
    mesh: Some("terrain.glb"),
    scatter: (&["scatter.csv", "scatter.json", "scatter.glb"], ScatterAxes::Metres),
    scatter_step: "scatter.csv and scatter.json list the scattered instances: x east, y up and z south in metres from \
                   the north-western corner at height 0, yaw clockwise from north, pitch, roll and scale. scatter.glb has \
                   the same as instanced placeholder shapes (EXT_mesh_gpu_instancing), with the centre of the map at \
                   the origin. The Blender add-on reads scatter.json too.",
    import,
    checked: Checked::Run { programs: "three.js r187, GDAL 3.6 and Pillow", on: "2026-11-24" },
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let [low, high] = [facts.range_m.min, facts.range_m.max].map(|height_m| facts.range_number(height_m, METRE_PLACES));
    let mut steps = vec![format!("north is up in every image; heights range from {low} to {high} m.")];
    steps.push("Godot reads only 8 of the 16 bits of a PNG; use height.r32 there, or a target for Godot.".into());
    steps.push("terrain.glb is the terrain as a mesh.".into());
    steps.extend(facts.water_m.map(|water_m| {
        let share = (water_m - facts.range_m.min) / facts.span_m().max(f64::MIN_POSITIVE);
        let share = facts.range_number(100.0 * share, PERCENT_PLACES);
        format!("the water level is {} m, {share} % of the way from the lowest to the highest point.", metres(water_m))
    }));
    steps
}
