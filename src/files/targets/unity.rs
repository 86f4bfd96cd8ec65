//! Unity's Terrain (Manual, "Working with heightmaps"): rows run from the south, a value is a share of the terrain's
//! height.

use super::{ImportFacts, METRES, PLAIN, Sizes, Target, USUAL, WeightsSampling, metres};
use crate::files::heightmap::{Encoding, RowOrder};
use crate::files::maps::WeightsLayout;
use crate::files::tiles::TileNaming;

pub(super) static UNITY: Target = Target {
    key: "unity",
    label: "Unity",
    sizes: Sizes::PowersOfTwo { plus: 1, least: 33, most: 4097 },
    heightmaps: &[("height.raw", Encoding { row_order: RowOrder::SouthFirst, ..USUAL })],
    weights: Some((WeightsLayout::Packs, WeightsSampling::Cells)),
    tile_names: TileNaming::FromSouthWest,
    import,
    ..PLAIN
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    let mut steps = vec![
        format!(
            "in the Terrain's settings set Terrain Width {}, Terrain Length {}, Terrain Height {} and Heightmap \
             Resolution {}.",
            metres(extent.width_m),
            metres(extent.depth_m),
            facts.height(facts.span_m(), METRES),
            grid.width()
        ),
        format!(
            "place the Terrain at y = {}; a height is value / 65535 × Terrain Height above that.",
            facts.height(facts.range_m.min, METRES)
        ),
        format!(
            "Import Raw… {}: Depth Bit 16, Resolution {}, Byte Order Windows, Flip Vertically off (the first row is \
             the southern one already).",
            facts.file,
            grid.width()
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("water lies at y = {} m.", metres(water_m))));
    if facts.tiles.is_some() {
        steps.push(
            "names end in _X_Z, counted from the south-western tile; all tiles have this one height range, so set the \
             same Terrain Height and the same y for each."
                .into(),
        );
    }
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weights_RGBA_N.png are alphamaps of {} pixels a side, four Terrain Layers each in red, green, blue, \
             alpha: {}.",
            grid.width() - 1,
            facts.layers()
        ));
    }
    steps
}
