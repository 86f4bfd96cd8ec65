//! The HTerrain plugin for Godot ("Heightmap terrain" by Zylann).

use super::USUAL;
use super::{Facts, PLAIN, Sizes, Target, WeightsPlace};
use crate::files::maps::WeightsLayout;

pub(super) static HTERRAIN: Target = Target {
    key: "godot-hterrain",
    label: "HTerrain (Godot)",
    sizes: Sizes::PowersOfTwo { plus: 1, least: 513, most: 4097 },
    heightmaps: &[("height.raw", USUAL)],
    weights: Some((WeightsLayout::Packs, WeightsPlace::Samples)),
    import,
    unverified: &["whether maps are flipped; here the first row is the northern one."],
    ..PLAIN
};

fn import(facts: &Facts) -> Vec<String> {
    vec![
        format!(
            "Terrain > Import maps, {}: Raw endianess Little Endian, Min height {}, Max height {}.",
            facts.file, facts.range_m.min, facts.range_m.max
        ),
        format!("set Map scale {}, 1, {}.", facts.grid.spacing_x_m(), facts.grid.spacing_z_m()),
        format!(
            "weights_RGBA_0.png is the splat map of the first four textures, whose weights sum to 1: {}.",
            facts.layers()
        ),
    ]
}
