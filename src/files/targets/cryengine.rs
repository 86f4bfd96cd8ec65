//! CRYENGINE's terrain editor ("Creating a New Level"): the metres per unit are chosen from a list.

use super::sizes::Sizes;
use super::target::{DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling, nearest_spacing_m};
use crate::files::export::{ImportFacts, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, scale};

pub(super) static CRYENGINE: Target = Target {
    key: "cryengine",
    label: "CRYENGINE",
    sizes: Sizes::PowersOfTwo { plus: 0, min: 128, max: 8192 },
    heightmaps: &[("height.r16", DEFAULT_ENCODING)],
    streams_textures: true,
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    needs_square_cells: true,
    spacings_m: &UNITS_M,
    import,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

const UNITS_M: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

fn import(facts: &ImportFacts) -> Vec<String> {
    let unit = nearest_spacing_m(&UNITS_M, facts.grid.spacing_x_m());
    let mut steps = vec![
        format!(
            "create a level with Heightmap Resolution {} × {} and Meters Per Unit {}, and set the terrain's Max Height to \
             {}.",
            facts.grid.width(),
            facts.grid.height(),
            scale(unit),
            facts.range_number(facts.span_m(), METRE_PLACES)
        ),
        format!(
            "Import Heightmap {}; the value 0 is a height of {} m, so move the ocean by this height to match.",
            facts.file,
            facts.range_number(facts.range_m.min, METRE_PLACES)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| {
        format!(
            "the water level is {} m above the value 0.",
            facts.range_number(water_m - facts.range_m.min, METRE_PLACES)
        )
    }));
    steps
}
