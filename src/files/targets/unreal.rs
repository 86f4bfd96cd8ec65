//! Unreal's Landscape ("Landscape Technical Guide", "Importing and Exporting Landscape Heightmaps"): the value 32768
//! lies at the actor, and a step is Z scale / 128 centimetres.

use super::{CENTIMETRES, ImportFacts, PLAIN, Sizes, Target, WeightsSampling, scale, scale_places, typed};
use crate::files::maps::WeightsLayout;

pub(super) static UNREAL: Target = Target {
    key: "unreal",
    label: "Unreal",
    sizes: Sizes::Components,
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    import,
    unverified_tiles: &[
        "which way tiles _xN_yM are counted; here x runs eastward and y southward from the north-western one.",
    ],
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    // Range in cm / 512, where the range of 65536 values is one step more than from the lowest to the greatest.
    let scale_z = facts.span_m() * 65_536.0 / 65_535.0 * 100.0 / 512.0;
    let middle_m = facts.range_m.min + facts.span_m() * 32_768.0 / 65_535.0;
    let mut steps = vec![
        format!(
            "Landscape > Manage > Import from File, {}: set Scale X {}, Y {}, Z {} (the range in cm / 512).",
            facts.file,
            scale(100.0 * extent.width_m / (grid.width() - 1) as f64),
            scale(100.0 * extent.depth_m / (grid.height() - 1) as f64),
            facts.height(scale_z, scale_places(scale_z))
        ),
        format!(
            "set Location Z {}, the middle of the range in cm; no flip is needed.",
            facts.height(100.0 * middle_m, CENTIMETRES)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at Z {} cm.", typed(100.0 * water_m, CENTIMETRES))));
    if facts.tiles.is_some() {
        steps.push("all tiles have this one height range: the same scale and location are right for each.".into());
    }
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weight_NN_NAME.png are the layers' weights, 8-bit grey, a pixel a vertex; the layers are {}.",
            facts.layers()
        ));
        steps.push(
            "layers appear once the landscape's material names them; give each a Layer Info and its file.".into(),
        );
    }
    steps
}
