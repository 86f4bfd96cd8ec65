//! Terrain3D for Godot (its documentation, "Importing & Exporting Data", "Controlmap Format").

use super::sizes::Sizes;
use super::target::{DEFAULT_ENCODING, DEFAULTS, Target, WeightsSampling};
use crate::engine::Grid;
use crate::files::export::{ImportFacts, TileEdges, WeightsLayout};
use crate::files::formats::heightmap::Encoding;
use crate::files::formats::numbers::{METRE_PLACES, metres, scale};

/// The neutral roughness.
const ROUGHNESS: u8 = 128;

/// The region sizes (Terrain3D, "region_size"), the usual one first, then in ascending order.
const REGIONS: [usize; 7] = [256, 64, 128, 256, 512, 1024, 2048];

/// The regions on either side of the origin (Terrain3DData, "REGION_MAP_SIZE" is 32).
const REGIONS_PER_SIDE: usize = 16;

/// The region size of a map: its sides are multiples of it, because Terrain3D fills an incomplete region with heights of
/// 0, a cliff along the border.
fn region_size(grid: Grid) -> usize {
    let sides = [grid.width(), grid.height()];
    let fits =
        |region: &usize| sides.iter().all(|side| side.is_multiple_of(*region) && side / region <= REGIONS_PER_SIDE);
    let divides = |region: &usize| sides.iter().all(|side| side.is_multiple_of(*region));
    REGIONS.into_iter().find(fits).or_else(|| REGIONS.into_iter().rev().find(divides)).unwrap_or(REGIONS[0])
}

pub(super) static TERRAIN3D: Target = Target {
    key: "godot-terrain3d",
    label: "Terrain3D (Godot)",
    sizes: Sizes::MultiplesOf(REGIONS[1]),
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
    unverified: &[
        "whether maps are flipped; the first row of the file is the northern one, and north is −Z.",
        "whether the control map can be imported from an EXR of 32-bit floats with the same bits.",
    ],
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let grid = facts.grid;
    let control = if facts.layers.is_empty() { "" } else { ", control.exr as control" };
    let mut steps = vec![
        format!(
            "set Region Size to {}; the map consists of complete regions, which may lie up to {} regions from the origin.",
            region_size(grid),
            REGIONS_PER_SIDE
        ),
        format!(
            "open the importer scene and choose {} as height{control} and color.png as colour file; \
             heights are in metres, so leave Import Scale at 1 and Import Offset at 0.",
            facts.file
        ),
        format!(
            "set Vertex Spacing to {}; heights range from {} to {} m.",
            scale(grid.spacing_x_m()),
            facts.range_number(facts.range_m.min, METRE_PLACES),
            facts.range_number(facts.range_m.max, METRE_PLACES)
        ),
    ];
    steps.extend(facts.water_m.map(|water_m| format!("the water level is y = {} m.", metres(water_m))));
    if !facts.layers.is_empty() {
        steps.push(format!("add these textures to the asset dock, by number: {}.", facts.numbered_layers()));
    }
    steps
}
