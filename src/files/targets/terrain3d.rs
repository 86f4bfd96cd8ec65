//! Terrain3D for Godot (its documentation, "Importing & Exporting Data", "Controlmap Format").

use super::godot_plugin::{GODOT_PLUGIN, GODOT_PLUGIN_STEP, GODOT_SCATTER_STEP};
use super::sizes::Sizes;
use super::target::{Checked, DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::files::export::{ImportFacts, TileEdges, WeightsLayout};
use crate::files::formats::heightmap::Encoding;
use crate::files::formats::numbers::{METRE_PLACES, metres, scale};

/// The neutral roughness.
const ROUGHNESS: u8 = 128;

/// The region sizes (Terrain3D, "region_size") in ascending order, and the usual one.
const REGIONS: [usize; 6] = [64, 128, 256, 512, 1024, 2048];
const USUAL_REGION: usize = 256;

/// The regions on either side of the origin (Terrain3DData, "REGION_MAP_SIZE" is 32).
const REGIONS_PER_SIDE: usize = 16;

/// The region size of a map whose sides are multiples of it, because Terrain3D fills an incomplete region with heights of
/// 0, a cliff along the border. Preferably, the map fits on one side of the origin. `None` if it has too many regions.
fn region_size(size: [usize; 2]) -> Option<usize> {
    let fits = |most: usize| {
        let is_whole = |region: usize| size.iter().all(|side| side.is_multiple_of(region) && side / region <= most);
        [USUAL_REGION].into_iter().chain(REGIONS).find(|region| is_whole(*region))
    };
    fits(REGIONS_PER_SIDE).or_else(|| fits(2 * REGIONS_PER_SIDE))
}

/// The farthest vertex from the origin at which the importer puts a map; it silently clamps other positions
/// (Terrain3DData, "import_images").
const MAX_POSITION: usize = 8192;

/// The position of the north-western vertex of a map, in vertices from the origin: the origin, or else as many regions to
/// the north-west as are needed.
fn position(size: [usize; 2]) -> [usize; 2] {
    let region = region_size(size).unwrap_or(USUAL_REGION);
    let is_far = |side: usize| side / region > REGIONS_PER_SIDE || side > MAX_POSITION;
    size.map(|side| if is_far(side) { side / region / 2 * region } else { 0 })
}

pub(super) static TERRAIN3D: Target = Target {
    key: "godot-terrain3d",
    label: "Terrain3D (Godot)",
    sizes: Sizes::MultiplesOf(REGIONS[0]),
    holds: |size| region_size(size).is_some() && size.iter().all(|side| *side <= 2 * MAX_POSITION),
    tile_edges: TileEdges::SideBySide,
    // The limits of "vertex_spacing".
    spacing_limits_m: [0.25, 100.0],
    heightmaps: &[("height.exr", Encoding { as_rgb: true, ..DEFAULT_ENCODING })],
    texture: Some(("color.png", Some(ROUGHNESS))),
    // The importer refuses images of different dimensions.
    texture_at_samples: true,
    weights: Some((WeightsLayout::Control, WeightsSampling::Samples)),
    needs_square_cells: true,
    import,
    helper_step: GODOT_PLUGIN_STEP,
    scatter_helper_step: Some(GODOT_SCATTER_STEP),
    checked: Checked::Run { programs: "Godot 4.6.3 with Terrain3D 1.0.2", on: "2026-11-24" },
    helper: GODOT_PLUGIN,
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let grid = facts.grid;
    let tile = [grid.width(), grid.height()];
    let counts = facts.tiles.unwrap_or([1; 2]);
    let whole = [0, 1].map(|axis| tile[axis] * counts[axis]);
    let [x, z] = position(whole);
    // The end of the names of the other files of the tile.
    let name = facts.file.strip_prefix("height").and_then(|name| name.strip_suffix(".exr")).unwrap_or_default();
    let control = if facts.layers.is_empty() { String::new() } else { format!(", control{name}.exr as control") };
    let mut steps = vec![
        format!(
            "set Region Size to {} before the import; the map consists of complete regions.",
            region_size(whole).unwrap_or(USUAL_REGION)
        ),
        format!(
            "open the importer scene and choose {} as height{control} and color{name}.png as colour file; \
             heights are in metres, so leave Import Scale at 1 and Height Offset at 0.",
            facts.file
        ),
    ];
    // The position is multiplied by the spacing in some versions, so the spacing comes last.
    if facts.tiles.is_some() {
        let along = |tile: usize, letter, before: usize| match before {
            0 => format!("{tile} × {letter}"),
            _ => format!("{tile} × {letter} − {before}"),
        };
        steps.push(format!(
            "leave Vertex Spacing at 1 until all files are imported, one after another; for _xN_yM set Import Position to \
             {} and {}.",
            along(tile[0], "N", x),
            along(tile[1], "M", z)
        ));
    } else if [x, z] != [0, 0] {
        steps.push(format!(
            "leave Vertex Spacing at 1 for the import, and set Import Position to −{x} and −{z}, so that the map fits \
             around the origin."
        ));
    }
    steps.push(format!(
        "set Vertex Spacing to {}; heights range from {} to {} m.",
        scale(grid.spacing_x_m()),
        facts.range_number(facts.range_m.min, METRE_PLACES),
        facts.range_number(facts.range_m.max, METRE_PLACES)
    ));
    steps.extend(facts.water_m.map(|water_m| format!("the water level is y = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!("add these textures to the asset dock, by number: {}.", facts.numbered_layers()));
    }
    steps
}
