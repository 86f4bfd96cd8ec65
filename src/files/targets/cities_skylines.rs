//! Cities: Skylines (wiki, "Map editor"): 0 to 1024 m over 17.28 km, the sea at 40 m; and its successor.

use super::{ImportFacts, METRES, PLAIN, Sizes, Target, metres};
use crate::engine::parameters::Band;

pub(super) static FIRST: Target = Target {
    key: "cities-skylines",
    label: "Cities: Skylines",
    sizes: Sizes::Exactly(1081),
    texture: None,
    range_m: Some(Band { min: 0.0, max: 1024.0 }),
    side_m: Some(17_280.0),
    import: first,
    unverified: &["whether maps are flipped; here the first row is the northern one."],
    ..PLAIN
};

pub(super) static SECOND: Target = Target {
    key: "cities-skylines-2",
    label: "Cities: Skylines II",
    sizes: Sizes::Exactly(4096),
    texture: None,
    import: second,
    unverified: &[
        "whether maps are flipped; here the first row is the northern one.",
        "over how many metres a map lies.",
    ],
    ..PLAIN
};

fn first(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!("put {} into the folder Addons/MapEditor/Heightmaps and import it in the map editor.", facts.file),
        "heights are kept as they are between 0 and 1024 m; the sea stands at 40 m.".into(),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the project's water lies at {} m.", metres(water_m))));
    steps
}

fn second(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![format!(
        "import {} in the map editor with a Height Scale of {} m; the value 0 stands for {} m.",
        facts.file,
        facts.height(facts.span_m(), METRES),
        facts.height(facts.range_m.min, METRES)
    )];
    steps.extend(facts.water_m.map(|water_m| {
        format!("water lies at {} m above the value 0.", facts.height(water_m - facts.range_m.min, METRES))
    }));
    steps
}
