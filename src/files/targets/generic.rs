//! Everything, for programs that have no target of their own.

use super::{ImportFacts, METRES, PER_CENT, PLAIN, Target, USUAL, WeightsSampling, metres};
use crate::files::maps::WeightsLayout;

pub(super) static GENERIC: Target = Target {
    key: "generic",
    label: "Any program",
    heightmaps: &[("height.png", USUAL), ("height.r32", USUAL)],
    weights: Some((WeightsLayout::MapsAndPacks, WeightsSampling::Cells)),
    normals: Some("normals.png"),
    mesh: Some("land.glb"),
    import,
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let [low, high] = [facts.range_m.min, facts.range_m.max].map(|height_m| facts.height(height_m, METRES));
    let mut steps = vec![format!("north is up in every picture; heights run from {low} to {high} m.")];
    steps.extend(facts.water_m.map(|water_m| {
        let share = (water_m - facts.range_m.min) / facts.span_m().max(f64::MIN_POSITIVE);
        let share = facts.height(100.0 * share, PER_CENT);
        format!("water lies at {} m, {share} % of the way from the lowest to the highest height.", metres(water_m))
    }));
    steps
}
