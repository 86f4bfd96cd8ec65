//! WorldPainter for Minecraft ("Import height map").

use super::target::{DEFAULTS, Target};
use crate::files::export::ImportFacts;
use crate::files::formats::numbers::{METRE_PLACES, metres, scale};

pub(super) static WORLDPAINTER: Target =
    Target { key: "worldpainter", label: "WorldPainter", texture: None, needs_square_cells: true, import, ..DEFAULTS };

fn import(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!(
            "Import > Height map, {}: From image 0 to level {}, To image 65535 to level {}, for one block per metre; \
             no flip is needed.",
            facts.file,
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
        format!("set the scale to {} % for one block per metre.", scale(100.0 * facts.grid.spacing_x_m())),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the water level is level {}.", metres(water_m))));
    steps
}
