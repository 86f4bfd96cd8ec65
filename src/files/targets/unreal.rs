//! Unreal's Landscape ("Landscape Technical Guide", "Importing and Exporting Landscape Heightmaps"): the value 32768
//! is at the height of the actor, and one step is Z scale / 128 centimetres.

use super::sizes::Sizes;
use super::target::{DEFAULTS, Target, WeightsSampling};
use crate::engine::cast::ToFloat;
use crate::files::export::{HelperFile, ImportFacts, ScatterAxes, TileEdges, WeightsLayout};
use crate::files::formats::numbers::{decimal, scale, scale_places};

/// The decimal places of lengths in centimetres.
const CENTIMETRE_PLACES: usize = 2;

pub(super) static UNREAL: Target = Target {
    key: "unreal",
    label: "Unreal",
    sizes: Sizes::Components,
    // World Partition lays the images of tiles side by side (LandscapeTiledImage.cpp), and the result has to consist of
    // whole components.
    tile_edges: TileEdges::SideBySide,
    weights: Some((WeightsLayout::Maps, WeightsSampling::Samples)),
    streams_textures: true,
    import,
    helper_step: "run upthrust_unreal.py with Tools > Execute Python Script…: it checks the files and lists these steps. \
                  Run it again after the import, with the landscape selected, to set the landscape's scale.",
    helper: &[
        HelperFile {
            path: "upthrust_unreal.py",
            contents: include_str!("../../../assets/helpers/unreal/upthrust_unreal.py"),
        },
        HelperFile { path: "upthrust_unreal.md", contents: include_str!("../../../assets/helpers/unreal/README.md") },
    ],
    scatter: (&["scatter.csv"], ScatterAxes::Unreal),
    scatter_step: "scatter.csv lists the scattered instances, in centimetres from the north-western corner of the \
                   landscape: import it as a Data Table whose row structure has Layer (Name) and X, Y, Z, Yaw, Pitch, Roll and Scale \
                   (Float), and read it in a PCG graph or a Blueprint. Not tested in Unreal.",
    unverified_tiles: &[
        "the order of tiles _xN_yM; x is counted eastward and y southward from the north-western tile.",
    ],
    ..DEFAULTS
};

fn import(facts: &ImportFacts) -> Vec<String> {
    let (grid, extent) = (facts.grid, facts.grid.extent());
    // Range in cm / 512, where the range of 65536 values is one step greater than the difference between the largest
    // and the smallest.
    let scale_z = facts.span_m() * 65_536.0 / 65_535.0 * 100.0 / 512.0;
    let middle_m = facts.range_m.min + facts.span_m() * 32_768.0 / 65_535.0;
    let mut steps = vec![
        format!(
            "Landscape > Manage > Import from File, {}: set Scale X {}, Y {}, Z {} (the range in cm / 512).",
            facts.file,
            scale(100.0 * extent.width_m / (grid.width() - 1).to_f64()),
            scale(100.0 * extent.depth_m / (grid.height() - 1).to_f64()),
            facts.range_number(scale_z, scale_places(scale_z))
        ),
        format!(
            "set Location Z {}, the middle of the range in cm; no flip is needed.",
            facts.range_number(100.0 * middle_m, CENTIMETRE_PLACES)
        ),
    ];
    steps.extend(
        facts
            .water_m
            .map(|water_m| format!("the water level is Z = {} cm.", decimal(100.0 * water_m, CENTIMETRE_PLACES))),
    );
    if facts.tiles.is_some() {
        steps.push(
            "choose any of the tiles; Unreal finds the others by _x and _y. They lie side by side and share no samples."
                .into(),
        );
    }
    if !facts.layers.is_empty() {
        steps.push(format!(
            "weight_NN_NAME.png are the weights of the layers, 8-bit grey with one pixel per vertex; the layers are {}.",
            facts.numbered_layers()
        ));
        steps.push(
            "layers appear once the landscape's material defines them; assign a Layer Info and the file to each."
                .into(),
        );
    }
    steps
}
