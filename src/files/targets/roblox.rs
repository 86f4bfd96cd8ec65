//! Roblox's terrain editor ("Import terrain"): a pixel is 4 studs unless that is too high, and a colour map selects the materials.

use super::sizes::Sizes;
use super::target::{DEFAULTS, Field, Target, WeightsSampling};
use crate::engine::cast::ToFloat;
use crate::files::export::{ImportFacts, WeightsLayout};
use crate::files::formats::numbers::{METRE_PLACES, decimal, scale_places};

pub(super) static ROBLOX: Target = Target {
    key: "roblox",
    label: "Roblox",
    sizes: Sizes::UpTo(4096),
    texture: None,
    weights: Some((WeightsLayout::Materials, WeightsSampling::Samples)),
    needs_square_cells: true,
    fields: &[
        Field { name: "Size X", number: |facts| size(facts)[0], accepts: [4.0, MAX_SIDE] },
        Field { name: "Size Y", number: |facts| size(facts)[1], accepts: [0.0, MAX_HEIGHT] },
        Field { name: "Size Z", number: |facts| size(facts)[2], accepts: [4.0, MAX_SIDE] },
    ],
    import,
    unverified: &["whether maps are flipped; the first row of the file is the northern one."],
    ..DEFAULTS
};

/// The largest size of an imported terrain, studs (developer forum, "Smooth Terrain Heightmap & Colormap Importer").
const MAX_SIDE: f64 = 16_384.0;
const MAX_HEIGHT: f64 = 1024.0;

/// The scale at which a pixel is 4 studs, or the largest one at which the terrain is not too high.
fn studs_per_m(facts: &ImportFacts) -> f64 {
    (4.0 / facts.grid.spacing_x_m()).min(MAX_HEIGHT / facts.span_m().max(f64::MIN_POSITIVE))
}

/// The size of the terrain, studs: a pixel is an area.
fn size(facts: &ImportFacts) -> [f64; 3] {
    let studs_per_m = studs_per_m(facts);
    let side = |samples: usize| samples.to_f64() * facts.grid.spacing_x_m() * studs_per_m;
    [side(facts.grid.width()), facts.span_m() * studs_per_m, side(facts.grid.height())]
}

fn import(facts: &ImportFacts) -> Vec<String> {
    let studs_per_m = studs_per_m(facts);
    let [x, y, z] = size(facts);
    let middle_m = 0.5 * (facts.range_m.min + facts.range_m.max);
    let mut steps = vec![
        format!(
            "Terrain Editor > Import, heightmap {}: set Size to X {}, Z {} and Y {}, which keeps the proportions; \
             1 m = {} studs.",
            facts.file,
            facts.range_number(x, METRE_PLACES),
            facts.range_number(z, METRE_PLACES),
            facts.range_number(y, METRE_PLACES),
            facts.range_number(studs_per_m, scale_places(studs_per_m))
        ),
        format!(
            "set Position to X 0, Z 0 and Y {}, the centre of the terrain; a height of 0 m is then at Y = 0.",
            facts.range_number(middle_m * studs_per_m, METRE_PLACES)
        ),
    ];
    steps.extend(
        facts
            .water_m
            .map(|water_m| format!("the water level is Y = {} studs.", decimal(water_m * studs_per_m, METRE_PLACES))),
    );
    if !facts.layers.is_empty() {
        let colormap = "materials.png is the colormap, with hard edges: a type with a Roblox material in its name, such \
                        as Rock or Snow, becomes that material; any other becomes the one nearest in colour.";
        steps.push(colormap.into());
    }
    steps
}
