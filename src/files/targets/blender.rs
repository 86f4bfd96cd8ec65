//! Blender's displacement (Manual, "Displace Modifier", "Image Texture"): without interpolation, and with the border
//! extended, the vertex i of n at the coordinate i / (n − 1) takes the pixel i.

use super::target::{Checked, DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::files::export::{HelperFile, ImportFacts, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, metres};

pub(super) static BLENDER: Target = Target {
    key: "blender",
    label: "Blender",
    heightmaps: &[("height.exr", DEFAULT_ENCODING)],
    weights: Some((WeightsLayout::Packs, WeightsSampling::Cells)),
    mesh: Some("terrain.glb"),
    import,
    helper: &[
        HelperFile {
            path: "upthrust_blender.py",
            contents: include_str!("../../../assets/helpers/blender/upthrust_blender.py"),
        },
        HelperFile { path: "upthrust_blender.md", contents: include_str!("../../../assets/helpers/blender/README.md") },
    ],
    helper_step: "the add-on does all this: install upthrust_blender.py (Preferences > Add-ons > Install from Disk), then choose \
                  File > Import > Upthrust terrain and open upthrust.json. The other steps do it by hand.",
    scatter_helper_step: Some(
        "the add-on places the scattered instances: an object for each layer, whose geometry nodes put the \
         collection \"Upthrust NAME\" on its points; put your assets into that collection in place of the placeholder shape.",
    ),
    checked: Checked::Run { programs: "Blender 5.0.1", on: "2026-11-24" },
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    let mut steps = vec![
        "File > Import > glTF 2.0, terrain.glb, is the quick way: a mesh in metres with its texture.".into(),
        format!(
            "for a vertex at every sample, add a Grid with X Subdivisions {} and Y Subdivisions {}, and set its dimensions to X {} m, \
             Y {} m; the top of the map is at +Y.",
            grid.width() - 1,
            grid.height() - 1,
            metres(extent.width_m),
            metres(extent.depth_m)
        ),
        format!(
            "add a Displace modifier with a new texture of the type Image or Movie: Coordinates UV, Strength 1, Midlevel \
             0. Open {} in the texture with Color Space Non-Color, and set Extension to Extend and Interpolation off, or \
             to Closest in shader nodes; heights are in metres, from {} to {}.",
            facts.file,
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
        "texture.png is the base colour, in sRGB.".into(),
    ];
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weights_RGBA_N.png, Non-Color, are the weights of four terrain types each: {}.",
            facts.numbered_layers()
        ));
    }
    steps.extend(facts.water_m.map(|water_m| format!("the water level is at Z = {} m.", metres(water_m))));
    steps
}
