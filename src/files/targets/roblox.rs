//! Roblox's terrain editor ("Import terrain"): a pixel is 4 studs, and colours of a second map name the materials.

use super::{ImportFacts, METRES, PLAIN, Sizes, Target, WeightsSampling, typed};
use crate::files::maps::WeightsLayout;

pub(super) static ROBLOX: Target = Target {
    key: "roblox",
    label: "Roblox",
    sizes: Sizes::UpTo(4096),
    texture: None,
    weights: Some((WeightsLayout::Materials, WeightsSampling::Samples)),
    needs_square_cells: true,
    import,
    unverified: &["whether maps are flipped; here the first row is the northern one."],
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let studs_per_m = 4.0 / facts.grid.spacing_x_m();
    let mut steps = vec![
        format!(
            "Terrain Editor > Import, heightmap {}: set Size X {}, Z {} (4 studs a pixel) and Y {}, which keeps the \
             proportions.",
            facts.file,
            4 * facts.grid.width(),
            4 * facts.grid.height(),
            facts.height(facts.span_m() * studs_per_m, METRES)
        ),
        format!(
            "the value 0 stands for {} m; set Position Y {}.",
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.min * studs_per_m, METRES)
        ),
    ];
    steps.extend(
        facts.water_m.map(|water_m| format!("water lies at Y {} studs.", typed(water_m * studs_per_m, METRES))),
    );
    if !facts.layers.is_empty() {
        let colormap = "materials.png is the colormap, without soft edges: each type as the material that its name \
                        names, else as the one whose colour is nearest.";
        steps.push(colormap.into());
    }
    steps
}
