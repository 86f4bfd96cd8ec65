//! Blender's displacement (Manual, "Displace Modifier").

use super::{ImportFacts, METRES, PLAIN, Target, USUAL, metres};

pub(super) static BLENDER: Target =
    Target { key: "blender", label: "Blender", heightmaps: &[("height.exr", USUAL)], import, ..PLAIN };

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    let mut steps = vec![
        format!(
            "add a Grid of {} × {} vertices and set its dimensions X {}, Y {} m; the top of the map lies at +Y.",
            grid.width(),
            grid.height(),
            metres(extent.width_m),
            metres(extent.depth_m)
        ),
        format!(
            "open {} with colour space Non-Color and put it into a Displace modifier with texture coordinates UV, \
             Strength 1 and Midlevel 0: heights are metres, from {} to {}.",
            facts.file,
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.max, METRES)
        ),
        "texture.png is the base colour, in sRGB; --mesh land.glb makes a mesh that needs none of this.".into(),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at Z = {} m.", metres(water_m))));
    steps
}
