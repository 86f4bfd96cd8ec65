//! Open 3D Engine's terrain ("Terrain Heightmaps"): the image preset goes by the end of the name.

use super::{ImportFacts, METRES, PLAIN, Target, USUAL, WeightsSampling, metres, scale};
use crate::files::maps::WeightsLayout;
use crate::files::tiles::TileNaming;

pub(super) static O3DE: Target = Target {
    key: "o3de",
    label: "O3DE",
    heightmaps: &[("height_gsi.png", USUAL)],
    texture: Some(("macro_color.png", None)),
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    tile_names: TileNaming::Before("_gsi"),
    import,
    unverified: &["whether maps are flipped; here the first row is the northern one."],
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    let mut steps = vec![
        format!(
            "make an Axis Aligned Box Shape of {} × {} × {} m whose lower side lies at z = {}, and set the Terrain \
             World's Min Height {} and Max Height {}.",
            metres(extent.width_m),
            metres(extent.depth_m),
            facts.height(facts.span_m(), METRES),
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.max, METRES)
        ),
        format!(
            "use {} in an Image Gradient, which spans the box, and set the Height Query Resolution {}.",
            facts.file,
            scale(grid.spacing_x_m())
        ),
        "macro_color.png is the macro colour.".into(),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at z = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!("weight_NN_NAME.png are masks for the surface gradients {}.", facts.layers()));
    }
    steps
}
