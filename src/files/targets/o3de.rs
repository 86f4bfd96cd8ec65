//! Open 3D Engine's terrain ("Terrain Heightmaps"): the suffix of the file name selects the image preset.

use super::target::{DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::engine::cast::ToFloat;
use crate::files::export::{ImportFacts, TileNaming, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, metres, scale};

pub(super) static O3DE: Target = Target {
    key: "o3de",
    label: "O3DE",
    heightmaps: &[("height_gsi.png", DEFAULT_ENCODING)],
    texture: Some(("macro_color.png", None)),
    streams_textures: true,
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    tile_naming: TileNaming::Before("_gsi"),
    // Without it, the weights would be compressed and read as sRGB.
    weight_suffix: "_gsi",
    import,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let grid = facts.grid;
    // The gradient spreads the pixels of the image over the box, so each sample has a whole spacing.
    let [width_m, depth_m] = [grid.width().to_f64() * grid.spacing_x_m(), grid.height().to_f64() * grid.spacing_z_m()];
    let mut steps = vec![
        format!(
            "create an Axis Aligned Box Shape of {} × {} × {} m ({} × {} samples of {} m) with its lower side at z = {}, and set the Terrain \
             World's Min Height to {} and its Max Height to {}.",
            metres(width_m),
            metres(depth_m),
            facts.range_number(facts.span_m(), METRE_PLACES),
            grid.width(),
            grid.height(),
            metres(grid.spacing_x_m()),
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
        format!(
            "use {} in an Image Gradient with Sampling Type Bilinear that spans the box, and set the Height Query Resolution to {}.",
            facts.file,
            scale(grid.spacing_x_m())
        ),
        "macro_color.png is the macro colour.".into(),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the water level is z = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weight_NN_NAME_gsi.png are the masks of the surface gradients {}.",
            facts.numbered_layers()
        ));
    }
    steps
}
