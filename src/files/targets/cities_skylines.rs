//! Cities: Skylines (wiki, "Map editor"), with 0 to 1024 m over 17.28 km and the sea at 40 m, and its successor.

use super::sizes::Sizes;
use super::target::{DEFAULTS, Field, Target};
use crate::engine::parameters::Band;
use crate::files::export::ImportFacts;
use crate::files::formats::numbers::{METRE_PLACES, metres};

pub(super) static FIRST: Target = Target {
    key: "cities-skylines",
    label: "Cities: Skylines",
    sizes: Sizes::Exactly(1081),
    texture: None,
    range_m: Some(Band { min: 0.0, max: 1024.0 }),
    side_m: Some(17_280.0),
    import: first,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

pub(super) static SECOND: Target = Target {
    key: "cities-skylines-2",
    label: "Cities: Skylines II",
    sizes: Sizes::Exactly(4096),
    texture: None,
    import: second,
    side_m: Some(14_336.0),
    fields: &[Field { name: "Height Scale", number: height_scale_m, accepts: [0.0, 4096.0] }],
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

/// The level of the sea, metres.
const SEA_LEVEL_M: f64 = 40.0;

fn first(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!("copy {} to the folder Addons/MapEditor/Heightmaps and import it in the map editor.", facts.file),
        "heights from 0 to 1024 m are unchanged; terrain below the sea level of 40 m is flooded.".into(),
    ];
    steps.extend(facts.water_m.filter(|water_m| *water_m != SEA_LEVEL_M).map(|water_m| {
        let (raise, by_m) =
            if water_m < SEA_LEVEL_M { ("raise", SEA_LEVEL_M - water_m) } else { ("lower", water_m - SEA_LEVEL_M) };
        format!(
            "the project's water level is {} m: to have its shores, {raise} the terrain by {} m before the export.",
            metres(water_m),
            metres(by_m)
        )
    }));
    steps
}

fn height_scale_m(facts: &ImportFacts) -> f64 {
    facts.span_m()
}

fn second(facts: &ImportFacts) -> Vec<String> {
    let mut steps = vec![
        format!(
            "import {} in the map editor as the heightmap, with a Height Scale of {} m; the value 0 is a height of {} m.",
            facts.file,
            facts.range_number(height_scale_m(facts), METRE_PLACES),
            facts.range_number(facts.range_m.min, METRE_PLACES)
        ),
        "the map is 14336 m wide; the world map around it, of 57344 m and also 4096 × 4096 pixels, has to continue it with \
         the same Height Scale, and its central 14336 m have to contain the same terrain."
            .into(),
    ];
    steps.extend(facts.water_m.map(|water_m| {
        format!(
            "the water level is {} m above the value 0.",
            facts.range_number(water_m - facts.range_m.min, METRE_PLACES)
        )
    }));
    steps
}
