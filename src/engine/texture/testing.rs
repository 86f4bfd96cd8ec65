//! Helpers shared by the tests of the texture module.

use std::sync::Arc;

use super::painter::PaintInput;
use super::points::Points;
use super::recipe::{TerrainType, TextureRecipe, TextureSettings, Unit};
use super::surface_maps::SurfaceMaps;
use super::swatch::Swatch;
use super::weight_maps::{WeightMaps, weight_maps};
use crate::heightfield::{Extent, Heightfield};
use crate::image::Image;
use crate::inputs::Inputs;
use crate::parameters::{Band, Colour, TextureName};
use crate::progress::Progress;

pub(super) const WORLD: Extent = Extent { width_m: 640.0, depth_m: 640.0 };

/// A type on a band of elevations.
pub(super) fn terrain_type(name: &str, colour: [u8; 3], [min, max]: [f64; 2]) -> TerrainType {
    TerrainType { name: name.into(), colour: Colour(colour), elevation: Band { min, max }, ..Default::default() }
}

/// A type on bands of elevation and slope.
pub(super) fn limited_type(name: &str, elevation: [f64; 2], [flat, steep]: [f64; 2]) -> TerrainType {
    TerrainType { slope_deg: Band { min: flat, max: steep }, ..terrain_type(name, [0; 3], elevation) }
}

/// A type in the colours of a texture, without a tint.
pub(super) fn textured(name: &str, repeat_m: f64) -> TerrainType {
    let texture = Some(TextureName(name.into()));
    TerrainType { texture, repeat_m, tint: 0.0, ..terrain_type(name, [0; 3], [0.0, 0.0]) }
}

/// A recipe with elevations in metres.
pub(super) fn metres(types: Vec<TerrainType>) -> TextureRecipe {
    TextureRecipe { settings: TextureSettings { unit: Unit::Metres, ..Default::default() }, types: types.into() }
}

pub(super) const BRIGHT_AND_DARK: [[u8; 4]; 2] = [[220, 220, 220, 255], [40, 60, 20, 255]];

/// A chessboard with squares of 8 × 8 texels.
pub(super) fn chessboard(height: usize, [bright, dark]: [[u8; 4]; 2]) -> Arc<Swatch> {
    let square = |i: usize| if (i % 64 / 8 + i / 64 / 8).is_multiple_of(2) { bright } else { dark };
    Arc::new(Swatch::new(Image { width: 64, height, pixels: (0..64 * height).map(square).collect() }))
}

/// Inputs with a chessboard named "board".
pub(super) fn board(height: usize) -> Inputs {
    let swatch = chessboard(height, BRIGHT_AND_DARK);
    Inputs { swatches: [(TextureName("board".into()), swatch)].into(), ..Default::default() }
}

/// The weight maps in 8 bits, without surface maps.
pub(super) fn weights(terrain: &Heightfield, recipe: &TextureRecipe, inputs: &Inputs, points: Points) -> WeightMaps {
    let surface_maps = &SurfaceMaps::default();
    let input = PaintInput { terrain, surface_maps, recipe, fixed_range_m: None, inputs };
    weight_maps(input, points, 255, &Progress::new()).expect("not cancelled")
}
