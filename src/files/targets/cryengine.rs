//! CRYENGINE's terrain editor ("Creating a New Level"): the metres per unit are chosen from a list.

use super::sizes::Sizes;
use super::target::{DEFAULT_ENCODING, DEFAULTS, Field, Target, WeightsSampling};
use crate::engine::Grid;
use crate::files::export::{ImportFacts, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, scale};

pub(super) static CRYENGINE: Target = Target {
    key: "cryengine",
    label: "CRYENGINE",
    sizes: Sizes::PowersOfTwo { plus: 0, min: 128, max: 8192 },
    heightmaps: &[("height.r16", DEFAULT_ENCODING)],
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    needs_square_cells: true,
    spacings_m: &UNITS_M,
    fields: &[Field { name: "Meters Per Unit", number: |facts| unit_m(facts.grid), accepts: [0.25, 8.0] }],
    import,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

const UNITS_M: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// The unit that is nearest to the spacing of the samples.
fn unit_m(grid: Grid) -> f64 {
    let ratio = |unit: f64| (grid.spacing_x_m() / unit).max(unit / grid.spacing_x_m());
    UNITS_M.into_iter().min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or(1.0)
}

fn import(facts: &ImportFacts) -> Vec<String> {
    let unit = unit_m(facts.grid);
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
