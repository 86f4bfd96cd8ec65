//! WorldPainter for Minecraft ("Import height map"): the scale of a map is at most 999.99 %, and Minecraft's worlds reach
//! from −2032 to 2031 at most, from −64 to 319 unless the build limits are changed.

use super::target::{DEFAULTS, Field, Target};
use crate::files::export::ImportFacts;
use crate::files::formats::numbers::{METRE_PLACES, decimal, scale};

pub(super) static WORLDPAINTER: Target = Target {
    key: "worldpainter",
    label: "WorldPainter",
    texture: None,
    needs_square_cells: true,
    fields: &[
        Field { name: "Scale", number: scale_percent, accepts: [0.01, MAX_SCALE_PERCENT] },
        Field { name: "From image: to level", number: |facts| levels(facts)[0], accepts: LIMITS },
        Field { name: "To image: to level", number: |facts| levels(facts)[1], accepts: LIMITS },
    ],
    import,
    ..DEFAULTS
};

const MAX_SCALE_PERCENT: f64 = 999.99;

/// The lowest and the highest level of a world with changed build limits.
const LIMITS: [f64; 2] = [-2032.0, 2031.0];

/// The build limits of a new world.
const USUAL_LIMITS: [f64; 2] = [-64.0, 319.0];

/// The whole number of metres per block with which the map is accepted.
fn metres_per_block(facts: &ImportFacts) -> f64 {
    let across = 100.0 * facts.grid.spacing_x_m() / MAX_SCALE_PERCENT;
    let up = (facts.range_m.max / LIMITS[1]).max(facts.range_m.min / LIMITS[0]);
    across.max(up).ceil().max(1.0)
}

fn scale_percent(facts: &ImportFacts) -> f64 {
    100.0 * facts.grid.spacing_x_m() / metres_per_block(facts)
}

fn levels(facts: &ImportFacts) -> [f64; 2] {
    [facts.range_m.min, facts.range_m.max].map(|height_m| height_m / metres_per_block(facts))
}

fn import(facts: &ImportFacts) -> Vec<String> {
    let metres_per_block = metres_per_block(facts);
    let blocks = if metres_per_block > 1.0 {
        format!("one block per {metres_per_block} m")
    } else {
        "one block per metre".into()
    };
    let [low, high] = levels(facts);
    let mut steps = Vec::new();
    if low < USUAL_LIMITS[0] || high > USUAL_LIMITS[1] {
        steps.push(format!(
            "first set the build limits so that they include {} to {}; Minecraft's usual limits, {} to {}, cut this map \
             off.",
            facts.range_number(low.floor(), 0),
            facts.range_number(high.ceil(), 0),
            USUAL_LIMITS[0],
            USUAL_LIMITS[1]
        ));
    }
    steps.extend([
        format!(
            "Import > Height map, {}: From image 0 to level {}, To image 65535 to level {}, for {blocks}; no flip is \
             needed.",
            facts.file,
            facts.range_number(low, METRE_PLACES),
            facts.range_number(high, METRE_PLACES)
        ),
        format!(
            "set the scale to {} %: samples are {} m apart, and a block is {metres_per_block} m, the least that fits \
             WorldPainter's limits.",
            scale(scale_percent(facts)),
            decimal(facts.grid.spacing_x_m(), METRE_PLACES)
        ),
    ]);
    steps.extend(
        facts
            .water_m
            .map(|water_m| format!("the water level is {}.", decimal(water_m / metres_per_block, METRE_PLACES))),
    );
    steps
}
