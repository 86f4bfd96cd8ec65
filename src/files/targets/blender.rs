//! Blender's displacement (Manual, "Displace Modifier").

use super::target::{DEFAULT_ENCODING, DEFAULTS, Target};
use crate::files::export::ImportFacts;
use crate::files::formats::numbers::{METRE_PLACES, metres};

pub(super) static BLENDER: Target =
    Target { key: "blender", label: "Blender", heightmaps: &[("height.exr", DEFAULT_ENCODING)], import, ..DEFAULTS };

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    let mut steps = vec![
        format!(
            "add a Grid of {} × {} vertices and set its dimensions to X {} m, Y {} m; the top of the map is at +Y.",
            grid.width(),
            grid.height(),
            metres(extent.width_m),
            metres(extent.depth_m)
        ),
        format!(
            "open {} with colour space Non-Color and use it in a Displace modifier with texture coordinates UV, \
             Strength 1 and Midlevel 0; heights are in metres, from {} to {}.",
            facts.file,
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
        "texture.png is the base colour, in sRGB. Alternatively, --mesh terrain.glb exports a mesh.".into(),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the water level is at Z = {} m.", metres(water_m))));
    steps
}
