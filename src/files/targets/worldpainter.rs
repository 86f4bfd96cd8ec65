//! WorldPainter for Minecraft ("Import height map").

use super::{Facts, PLAIN, Target};

pub(super) static WORLDPAINTER: Target =
    Target { key: "worldpainter", label: "WorldPainter", texture: None, has_one_spacing: true, import, ..PLAIN };

fn import(facts: &Facts) -> Vec<String> {
    vec![
        format!(
            "Import > Height map, {}: From image 0 to level {}, To image 65535 to level {}, for one block a metre; \
             no flip is needed.",
            facts.file, facts.range_m.min, facts.range_m.max
        ),
        format!("set the scale to {} % for one block a metre.", 100.0 * facts.grid.spacing_x_m()),
    ]
}
