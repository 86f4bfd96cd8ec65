//! Everything, for programs that have no target of their own.

use super::{Facts, PLAIN, Target, USUAL, WeightsPlace};
use crate::files::maps::WeightsLayout;

pub(super) static GENERIC: Target = Target {
    key: "generic",
    label: "Any program",
    heightmaps: &[("height.png", USUAL), ("height.r32", USUAL)],
    weights: Some((WeightsLayout::MapsAndPacks, WeightsPlace::Cells)),
    normals: Some("normals.png"),
    mesh: Some("land.glb"),
    import,
    ..PLAIN
};

fn import(facts: &Facts) -> Vec<String> {
    vec![format!("north is up in every picture; heights run from {} to {} m.", facts.range_m.min, facts.range_m.max)]
}
