//! WorldPainter for Minecraft ("Import height map").

use super::{ImportFacts, METRES, PLAIN, Target, metres, scale};

pub(super) static WORLDPAINTER: Target =
    Target { key: "worldpainter", label: "WorldPainter", texture: None, needs_square_cells: true, import, ..PLAIN };

fn import(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!(
            "Import > Height map, {}: From image 0 to level {}, To image 65535 to level {}, for one block a metre; \
             no flip is needed.",
            facts.file,
            facts.height(facts.range_m.min, METRES),
            facts.height(facts.range_m.max, METRES)
        ),
        format!("set the scale to {} % for one block a metre.", scale(100.0 * facts.grid.spacing_x_m())),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at level {}.", metres(water_m))));
    steps
}
