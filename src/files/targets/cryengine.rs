//! CRYENGINE's terrain editor.

use super::{ImportFacts, METRES, PLAIN, Sizes, Target, USUAL, WeightsSampling, scale};
use crate::files::maps::WeightsLayout;

pub(super) static CRYENGINE: Target = Target {
    key: "cryengine",
    label: "CRYENGINE",
    sizes: Sizes::PowersOfTwo { plus: 0, least: 128, most: 16_384 },
    heightmaps: &[("height.r16", USUAL)],
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    needs_square_cells: true,
    import,
    unverified: &["whether maps are flipped; here the first row is the northern one."],
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!(
            "make a level with a terrain of {} × {} and {} m per unit, and set the terrain's Max Height {}.",
            facts.grid.width(),
            facts.grid.height(),
            scale(facts.grid.spacing_x_m()),
            facts.height(facts.span_m(), METRES)
        ),
        format!(
            "Import Heightmap {}; the value 0 stands for {} m, so lower the ocean by as much to have heights as they \
             are.",
            facts.file,
            facts.height(facts.range_m.min, METRES)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| {
        format!("water lies at {} m above the value 0.", facts.height(water_m - facts.range_m.min, METRES))
    }));
    steps
}
