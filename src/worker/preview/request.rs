//! Preview requests and finished previews.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::analysis::Summary;
use crate::engine::map_view::MapView;
use crate::engine::operations::PartReport;
use crate::engine::texture::{PaintInput, SurfaceMaps, TerrainType, TextureView, type_at};
use crate::engine::{Heightfield, Image, Inputs, Recipe};
use crate::files::import::InputFiles;

/// The inputs of a preview.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewRequest {
    /// The recipe of the terrain, its texture and its light.
    pub recipe: Arc<Recipe>,
    /// The contents of the files that the recipe names.
    pub files: InputFiles,
    /// Samples along the longer side.
    pub samples: usize,
    /// The position on the timeline, iterations.
    pub position: u32,
    /// How the heightmap is drawn.
    pub map_view: MapView,
    /// How the texture is drawn.
    pub texture_view: TextureView,
    /// The step whose parts are reported on, by its index.
    pub reported_step: Option<usize>,
    /// Whether it is a frame of an animation. A slow animation is shown a little coarser, and continues as soon as the
    /// coarse frame is there.
    pub is_animated: bool,
}

impl PreviewRequest {
    /// Whether both requests have the same result.
    pub fn same_output(&self, other: &Self) -> bool {
        self.same_terrain(other) && self.same_appearance(other) && self.reported_step == other.reported_step
    }

    /// Whether both requests paint, light and draw the same heights in the same way.
    pub(super) fn same_appearance(&self, other: &Self) -> bool {
        let Self { recipe, map_view, texture_view, .. } = self;
        let same_paint = Arc::ptr_eq(recipe, &other.recipe)
            || (recipe.texture == other.recipe.texture && recipe.light == other.recipe.light);
        same_paint && *map_view == other.map_view && *texture_view == other.texture_view
    }

    /// Whether both requests show the same heights, however they are painted, lit and drawn.
    pub(super) fn same_terrain(&self, other: &Self) -> bool {
        let Self { recipe, files, samples, position, .. } = self;
        let same_recipe = Arc::ptr_eq(recipe, &other.recipe) || recipe.has_same_terrain(&other.recipe);
        same_recipe && *samples == other.samples && *position == other.position && *files == other.files
    }
}

/// A finished preview. Its images belong to its request.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The request.
    pub request: Arc<PreviewRequest>,
    /// Whether a finer preview follows.
    pub coarse: bool,
    /// The heights.
    pub terrain: Arc<Heightfield>,
    /// The heights, drawn as the request's map view.
    pub heightmap: Arc<Image>,
    /// The texture, drawn as the request's texture view.
    pub texture: Arc<Image>,
    /// The texture for the 3-D view, which lights it: unlit where `texture` is lit.
    pub albedo: Arc<Image>,
    /// Statistics of the heights.
    pub summary: Arc<Summary>,
    /// The share of the terrain that each active terrain type covers, in their order.
    pub shares: Vec<f32>,
    /// The share of the terrain that no terrain type covers.
    pub uncovered: f32,
    /// The maps other than the heights that place terrain types.
    pub surface_maps: SurfaceMaps,
    /// The reports on the parts of a step.
    pub reports: Vec<PartReport>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Preview {
    /// The dominant terrain type at a position, metres east and south.
    pub fn type_at(&self, place_m: [f64; 2]) -> Option<&TerrainType> {
        let recipe = &*self.request.recipe;
        let input = PaintInput {
            terrain: &self.terrain,
            surface_maps: &self.surface_maps,
            recipe: &recipe.texture,
            fixed_range_m: recipe.world.height_range_m.or(Some(self.summary.range_m())),
            // The textures of types do not affect where they are.
            inputs: &Inputs::default(),
        };
        type_at(input, place_m).and_then(|at| recipe.texture.active().nth(at))
    }
}
