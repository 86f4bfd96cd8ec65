//! The HTerrain plugin for Godot ("Heightmap terrain" by Zylann).

use super::sizes::Sizes;
use super::target::{DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
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
    // The plugin refuses a colour map of another size than the heightmap.
    texture_at_samples: true,
    weights: Some((WeightsLayout::Packs, WeightsSampling::Samples)),
    max_layers: Some(SPLATS),
    import,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
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
    steps.extend(facts.water_m.map(|water_m| format!("the water level is y = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weights_RGBA_0.png is the splat map; its red, green, blue and alpha are the textures {}.",
            facts.layers.join(", ")
        ));
    }
    steps.push("texture.png is the colour map.".into());
    steps
}
