//! Unity's Terrain (Manual, "Working with heightmaps"): the southern row comes first, and values are fractions of the
//! terrain height.

use super::sizes::Sizes;
use super::target::{DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::files::export::{HelperFile, ImportFacts, TileNaming, WeightsLayout};
use crate::files::formats::heightmap::{Encoding, RowOrder};
use crate::files::formats::numbers::{METRE_PLACES, metres, significant};

pub(super) static UNITY: Target = Target {
    key: "unity",
    label: "Unity",
    sizes: Sizes::PowersOfTwo { plus: 1, min: 33, max: 4097 },
    heightmaps: &[("height.raw", Encoding { row_order: RowOrder::SouthFirst, ..DEFAULT_ENCODING })],
    weights: Some((WeightsLayout::Packs, WeightsSampling::Cells)),
    streams_textures: true,
    tile_naming: TileNaming::FromSouthWest,
    import,
    scatter_helper_step: Some(
        "the script places the scattered instances as trees of the Terrains; put your model into the prefab of each layer \
         in Assets/Upthrust/NAME/Scatter in place of the placeholder shape. Trees of a Terrain rotate about the vertical \
         only. Not tested in Unity.",
    ),
    helper_step: "the script does all this: copy UpthrustTerrainImporter.cs from the export's subfolder Upthrust~ (Unity \
                  ignores folders that end with ~) into a folder named Editor in your project, then choose Assets > \
                  Upthrust > Import terrain… and open upthrust.json. The other steps do it by hand.",
    helper: &[
        // Unity ignores folders whose names end with a tilde, so two exports in one project do not define a class twice.
        HelperFile {
            path: "Upthrust~/UpthrustTerrainImporter.cs",
            contents: include_str!("../../../assets/helpers/unity/Editor/UpthrustTerrainImporter.cs"),
        },
        HelperFile { path: "Upthrust~/README.md", contents: include_str!("../../../assets/helpers/unity/README.md") },
    ],
    ..DEFAULTS
};

/// Unity divides the values by 65536 when it imports them, so the largest one is a step below the terrain height.
fn terrain_height_m(facts: &ImportFacts) -> f64 {
    facts.span_m() * 65_536.0 / 65_535.0
}

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    let mut steps = vec![
        format!(
            "in the Terrain's settings set Terrain Width {}, Terrain Length {}, Terrain Height {} and Heightmap \
             Resolution {}.",
            metres(extent.width_m),
            metres(extent.depth_m),
            facts.range_number(terrain_height_m(facts), METRE_PLACES),
            grid.width()
        ),
        format!(
            "place the Terrain at y = {}; a height is value / 65536 × Terrain Height above that.",
            facts.range_number(facts.range_m.min, METRE_PLACES)
        ),
        format!(
            "Import Raw… {}: Depth Bit 16, Resolution {}, Byte Order Windows, Flip Vertically off (the first row \
             is already the southern one).",
            facts.file,
            grid.width()
        ),
        format!(
            "Unity stores 32767 different heights, so a height is within {} m of the file's.",
            significant(facts.span_m() / 65_532.0)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the water level is y = {} m.", metres(water_m))));
    if facts.tiles.is_some() {
        steps.push(
            "names end in _X_Z, counted from the south-western tile; all tiles have the same height range, so set the \
             same Terrain Height and the same y for each."
                .into(),
        );
    }
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weights_RGBA_N.png are alphamaps with {} pixels per side, each with four Terrain Layers in red, green, \
             blue and alpha: {}.",
            grid.width() - 1,
            facts.numbered_layers()
        ));
    }
    steps
}
