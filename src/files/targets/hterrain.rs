//! The HTerrain plugin for Godot ("Heightmap terrain" by Zylann).

use super::godot_plugin::{GODOT_PLUGIN, GODOT_PLUGIN_STEP, GODOT_SCATTER_STEP};
use super::sizes::Sizes;
use super::target::{Checked, DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::engine::cast::ToFloat;
use crate::files::export::{ImportFacts, WeightsLayout};
use crate::files::formats::heightmap::Encoding;
use crate::files::formats::numbers::{METRE_PLACES, metres, scale};

/// The number of textures of a splat map.
const SPLATS: usize = 4;

pub(super) static HTERRAIN: Target = Target {
    key: "godot-hterrain",
    label: "HTerrain (Godot)",
    sizes: Sizes::PowersOfTwo { plus: 1, min: 513, max: 4097 },
    // The heights of a RAW or PNG file are limited to whole metres from −2000 to 2000 m (importer_dialog.gd).
    heightmaps: &[("height.exr", Encoding { as_rgb: true, ..DEFAULT_ENCODING })],
    // The plugin refuses a colour map of a different size from the heightmap.
    texture_at_samples: true,
    weights: Some((WeightsLayout::Packs, WeightsSampling::Samples)),
    max_layers: Some(SPLATS),
    import,
    helper_step: GODOT_PLUGIN_STEP,
    scatter_helper_step: Some(GODOT_SCATTER_STEP),
    checked: Checked::Run { programs: "Godot 4.6.3 with HTerrain 1.8", on: "2026-11-24" },
    helper: GODOT_PLUGIN,
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!(
            "Terrain > Import maps, {}: heights are in metres, from {} to {}; Min height and Max height do not apply to it.",
            facts.file,
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
        format!("set Map scale to {}, 1, {}.", scale(facts.grid.spacing_x_m()), scale(facts.grid.spacing_z_m())),
    ];
    if facts.tiles.is_some() {
        let [width, depth] =
            [(facts.grid.width(), facts.grid.spacing_x_m()), (facts.grid.height(), facts.grid.spacing_z_m())]
                .map(|(samples, spacing_m)| scale((samples - 1).to_f64() * spacing_m));
        steps.push(format!(
            "use an HTerrain node for each file, and move the node of _xN_yM to x = {width} × N and z = {depth} × M."
        ));
    }
    steps.extend(facts.water_m.map(|water_m| format!("the water level is y = {} m.", metres(water_m))));
    // The end of the names of the other files of the tile.
    let name = facts.file.strip_prefix("height").and_then(|name| name.strip_suffix(".exr")).unwrap_or_default();
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weights_RGBA_0{name}.png is the splat map; its red, green, blue and alpha are the textures {}.",
            facts.layers.join(", ")
        ));
    }
    steps.push(format!("texture{name}.png is the colour map."));
    steps
}
