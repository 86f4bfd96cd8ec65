//! Roblox's terrain editor ("Import terrain"): a pixel is 4 studs, and a colour map selects the materials.

use super::sizes::Sizes;
use super::target::{DEFAULTS, Target, WeightsSampling};
use crate::files::export::{ImportFacts, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, decimal};

pub(super) static ROBLOX: Target = Target {
    key: "roblox",
    label: "Roblox",
    sizes: Sizes::UpTo(4096),
    texture: None,
    weights: Some((WeightsLayout::Materials, WeightsSampling::Samples)),
    needs_square_cells: true,
    import,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let studs_per_m = 4.0 / facts.grid.spacing_x_m();
    let mut steps = vec![
        format!(
            "Terrain Editor > Import, heightmap {}: set Size to X {}, Z {} (4 studs per pixel) and Y {}, which keeps the \
             proportions.",
            facts.file,
            4 * facts.grid.width(),
            4 * facts.grid.height(),
            facts.range_number(facts.span_m() * studs_per_m, METRE_PLACES)
        ),
        format!(
            "the value 0 is a height of {} m; set Position Y to {}.",
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.min * studs_per_m, METRE_PLACES)
        ),
    ];
    steps.extend(
        facts
            .water_m
            .map(|water_m| format!("the water level is Y = {} studs.", decimal(water_m * studs_per_m, METRE_PLACES))),
    );
    if !facts.layers.is_empty() {
        let colormap = "materials.png is the colormap, with hard edges: each type becomes the material in its name, or \
                        else the material with the nearest colour.";
        steps.push(colormap.into());
    }
    steps
}
