//! Paints terrain types by height, slope, aspect, humidity and shade.
//!
//! After "Generating Terrain Textures", flipCode, 31 May 2001: each terrain type has a weight at each point, the
//! product of a factor for each of these properties that it limits, and the colour is the weighted mean. Types can also
//! be blended by the relief of their textures, or multiply or overlay the colour below. Colours are blended in linear
//! light.

mod analysis_map;
mod cache;
mod coverage_diagram;
mod layer;
mod lighting;
mod material;
mod paint;
mod painter;
mod patches;
mod points;
mod recipe;
mod row;
mod sampler;
mod surface_maps;
mod swatch;
#[cfg(test)]
mod testing;
mod texture_view;
mod tiling;
mod type_masks;
mod type_weights;
mod weight_maps;

pub use analysis_map::{AnalysisMap, MIN_RIVER_CATCHMENT_SHARE, MapTerrain, analysis_map};
pub use cache::PaintCache;
pub use coverage_diagram::{CoverageDiagram, CoverageRow};
pub use paint::{PaintOnce, PaintedTexture, paint, paint_once, type_at};
pub use painter::{MAX_PREPARED_BYTES, PaintInput};
pub use points::{PixelRegion, Points};
pub use recipe::{SlopeMode, TerrainType, TextureRecipe, TextureSettings, TypeBlend, Unit, height_range_m};
pub use surface_maps::{RequiredMaps, SurfaceMapCache, SurfaceMaps};
pub use swatch::Swatch;
pub use texture_view::{TextureView, UNCOVERED_COLOUR, paint_view};
pub use type_masks::{MaskScope, TypeMasks, mask_weights};
pub use weight_maps::{WeightMaps, weight_maps};
