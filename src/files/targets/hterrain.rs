//! The HTerrain plugin for Godot ("Heightmap terrain" by Zylann).

use super::USUAL;
use super::{ImportFacts, METRES, PLAIN, Sizes, Target, WeightsSampling, metres, scale};
use crate::files::maps::WeightsLayout;

/// The textures of a splat map.
const SPLATS: usize = 4;

pub(super) static HTERRAIN: Target = Target {
    key: "godot-hterrain",
    label: "HTerrain (Godot)",
    sizes: Sizes::PowersOfTwo { plus: 1, least: 513, most: 4097 },
    heightmaps: &[("height.raw", USUAL)],
    weights: Some((WeightsLayout::Packs, WeightsSampling::Samples)),
    max_layers: Some(SPLATS),
    import,
    unverified: &["whether maps are flipped; here the first row is the northern one."],
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!(
            "Terrain > Import maps, {}: Raw endianess Little Endian, Min height {}, Max height {}.",
            facts.file,
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.max, METRES)
        ),
        format!("set Map scale {}, 1, {}.", scale(facts.grid.spacing_x_m()), scale(facts.grid.spacing_z_m())),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at y = {} m.", metres(water_m))));
    let packs = facts.layers.chunks(SPLATS).enumerate();
    steps.extend(packs.map(|(at, names)| {
        let names = names.join(", ");
        format!("weights_RGBA_{at}.png is the splat map, in its red, green, blue and alpha, of the textures {names}.")
    }));
    if facts.layers.len() > SPLATS {
        steps.push(format!(
            "the import takes one splat map, of {SPLATS} textures; the weights of all {} sum to 1 together.",
            facts.layers.len()
        ));
    }
    steps
}
