//! Exports: plan an order, then build the plan.

mod build;
mod cache_folder;
mod channels;
mod cost;
mod frames;
mod georeference;
mod heightmap;
mod import_guide;
mod manifest;
mod maps;
mod materials;
mod memory;
mod mesh;
mod order;
mod overview;
mod part;
mod plan;
mod report;
mod rivers;
mod scatter;
mod steps;
#[cfg(test)]
mod tests;
mod texture;
mod tiles;
mod weights;

pub use self::build::{build, build_plan, commit, stage};
pub use self::cache_folder::CacheFolder;
pub use self::cost::CostEstimate;
pub use self::heightmap::write_heightmap;
pub use self::import_guide::{HelperFile, ImportFacts, ImportGuide};
pub use self::manifest::MANIFEST_NAME;
pub use self::memory::memory_needed;
pub use self::order::{
    FramesOrder, HeightmapOrder, ManifestOrder, MapOrder, MeshOrder, Order, Patches, RiversOrder, ScatterOrder,
    TextureOrder, WeightsLayout, WeightsOrder, load_inputs, texture_size,
};
pub use self::plan::{FileKind, Plan, PlannedFile, check_paths};
pub use self::report::BuildReport;
pub use self::steps::{estimated_import_steps, import_steps};
pub use self::tiles::{TileEdges, TileFile, TileNaming, TileRegion, Tiles};
pub use crate::files::formats::mesh::MeshDetail;
pub use crate::files::formats::png::BitDepth;
pub use crate::files::formats::scatter::ScatterAxes;
