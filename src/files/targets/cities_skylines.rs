//! Cities: Skylines (wiki, "Map editor"): 0 to 1024 m over 17.28 km, the sea at 40 m; and its successor.

use super::{Facts, PLAIN, Sizes, Target};
use crate::engine::parameters::Band;

pub(super) static FIRST: Target = Target {
    key: "cities-skylines",
    label: "Cities: Skylines",
    sizes: Sizes::Exactly(1081),
    texture: None,
    range_m: Some(Band { min: 0.0, max: 1024.0 }),
    side_m: Some(17_280.0),
    import: |facts| {
        vec![
            format!("put {} into the folder Addons/MapEditor/Heightmaps and import it in the map editor.", facts.file),
            "heights are kept as they are between 0 and 1024 m; the sea stands at 40 m.".into(),
        ]
    },
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

fn second(facts: &Facts) -> Vec<String> {
    vec![format!(
        "import {} in the map editor with a Height Scale of {} m; the value 0 stands for {} m.",
        facts.file,
        facts.span_m(),
        facts.range_m.min
    )]
}
