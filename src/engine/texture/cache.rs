//! Keeps texels and weights from one painting of the same points to the next.

use super::layer::{TexelRow, TextureLayer};
use super::painter::Painter;
use super::points::Points;
use super::recipe::TypeBlend;
use super::row::PaintRow;
use super::type_weights::TypeWeights;
use crate::heightfield::Grid;

/// A cache of painted points: the texels, which do not depend on the terrain, and the weights, which are valid while
/// the terrain stays the same.
#[derive(Debug, Default)]
pub struct PaintCache {
    /// The points and the terrain's grid that the rows belong to.
    key: Option<(Points, Grid)>,
    layers: Vec<TextureLayer>,
    /// Whether the terrain was painted before. Most terrains are painted once: weights are kept from the second time
    /// on.
    is_painted: bool,
    /// The inputs of the weights besides the terrain and the layers: the limits of the types and their blending.
    weights_key: Option<(TypeWeights, Blends)>,
    pub(super) rows: Vec<CachedRow>,
}

/// The blend of each type, and the index of its texture's layer.
type Blends = Vec<(TypeBlend, Option<usize>)>;

/// The cached values of a row.
#[derive(Debug, Default)]
pub(super) struct CachedRow {
    /// The texels of each layer.
    texels: Vec<TexelRow>,
    /// Whether the fields below are valid.
    pub(super) is_weighed: bool,
    weights: Vec<Vec<f32>>,
    sums: Vec<f32>,
    gradients: [Vec<f32>; 2],
    uncovered: usize,
}

impl CachedRow {
    /// Swaps the kept values with those of the row being painted; the weights only if they are kept.
    pub(super) fn swap(&mut self, row: &mut PaintRow, keeps_weights: bool) {
        std::mem::swap(&mut self.texels, &mut row.texels);
        if !keeps_weights {
            return;
        }
        std::mem::swap(&mut self.weights, &mut row.weights);
        std::mem::swap(&mut self.sums, &mut row.sums);
        let [east, south] = &mut self.gradients;
        std::mem::swap(east, &mut row.surface.east);
        std::mem::swap(south, &mut row.surface.south);
        std::mem::swap(&mut self.uncovered, &mut row.uncovered);
    }
}

impl PaintCache {
    /// The maximum memory of the cache, bytes; larger textures are not cached.
    const MAX_BYTES: usize = 128 << 20;

    /// Drops what depends on the terrain. Call this when the terrain changes.
    pub fn invalidate_terrain(&mut self) {
        self.weights_key = None;
        self.is_painted = false;
    }

    /// The cached layers, if they are for the same points as the painter's.
    pub(super) fn layers_for(&self, painter: &Painter) -> &[TextureLayer] {
        if self.key == Some(painter.lattice_key()) { &self.layers } else { &[] }
    }

    /// Drops everything that is not valid for the painter. Returns whether its weights should be kept.
    pub(super) fn prepare(&mut self, painter: &Painter) -> bool {
        let key = Some(painter.lattice_key());
        let [width, height] = painter.sampler.size;
        let weights_bytes = (painter.materials.len() + 3) * size_of::<f32>() * width;
        let fits = height * (painter.layers.len() * TexelRow::bytes(width) + weights_bytes) <= Self::MAX_BYTES;
        if self.key != key || !fits {
            *self = Self { key, ..Self::default() };
        }
        if !fits {
            return false;
        }
        let is_painted = std::mem::replace(&mut self.is_painted, true);
        let blend =
            |material: &super::material::Material| (material.blend, material.texture.map(|texture| texture.layer));
        let weights_key = Some((painter.types.clone(), painter.materials.iter().map(blend).collect()));
        if self.weights_key != weights_key || self.layers != painter.layers {
            self.rows.iter_mut().for_each(|row| row.is_weighed = false);
            self.weights_key = weights_key;
        }
        if self.layers == painter.layers && self.rows.len() == height {
            return is_painted;
        }
        let known: Vec<Option<usize>> =
            painter.layers.iter().map(|layer| self.layers.iter().position(|known| known == layer)).collect();
        self.rows.resize_with(height, CachedRow::default);
        for CachedRow { texels, .. } in &mut self.rows {
            let kept =
                |index: &Option<usize>| index.map(|index| std::mem::take(&mut texels[index])).unwrap_or_default();
            *texels = known.iter().map(kept).collect();
        }
        self.layers.clone_from(&painter.layers);
        is_painted
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::heightfield::{Extent, Heightfield};
    use crate::image::Image;
    use crate::inputs::Inputs;
    use crate::light::Light;
    use crate::parameters::{Colour, TextureName};
    use crate::progress::{Cancelled, Progress};
    use crate::texture::painter::PaintInput;
    use crate::texture::recipe::{TerrainType, TextureRecipe};
    use crate::texture::surface_maps::SurfaceMaps;
    use crate::texture::swatch::Swatch;
    use crate::texture::testing::{metres, terrain_type};
    use crate::texture::texture_view::{TextureView, paint_view};

    /// With texels small enough to be computed in advance, and not.
    #[test]
    fn a_used_cache_gives_the_same_texture_as_a_new_one() {
        check_cache(1000.0, [180, 140]);
        check_cache(4000.0, [90, 70]);
    }

    fn check_cache(repeat_m: f64, [width, height]: [usize; 2]) {
        let size = [width, height];
        let swatch = |factor: usize| {
            let pixel = |i: usize| [(i * factor % 251) as u8, (i * 7 % 199) as u8, (i / 16 * 13 % 255) as u8, 255];
            Arc::new(Swatch::new(Image { width: 32, height: 32, pixels: (0..1024).map(pixel).collect() }))
        };
        let name = |name: &str| TextureName(name.into());
        let mut inputs = Inputs::default();
        inputs.swatches.insert(name("a"), swatch(31));
        inputs.swatches.insert(name("b"), swatch(101));
        let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 41, 41);
        let terrain = Heightfield::from_fn(grid, |c, _| if c < 20 { 0.0 } else { 100.0 });
        let textured = |texture: &str, colour, elevation| TerrainType {
            texture: Some(name(texture)),
            repeat_m,
            blend: TypeBlend::Height,
            elevation_release: 60.0,
            ..terrain_type(texture, colour, elevation)
        };
        let [low, high] = [[0.0, 10.0], [90.0, 100.0]];
        let mut recipe = metres(vec![textured("a", [200, 30, 30], low), textured("b", [30, 200, 30], high)]);
        let light = Light { shadows: 0.0, ..Default::default() };
        let mut cache = PaintCache::default();
        let mut check = |terrain: &Heightfield, recipe: &TextureRecipe, inputs: &Inputs, size, occasion: &str| {
            let surface_maps = &SurfaceMaps::default();
            let input = PaintInput { terrain, surface_maps, recipe, fixed_range_m: None, inputs };
            if occasion == "another terrain" || occasion == "the first terrain again" {
                cache.invalidate_terrain();
            }
            let cancelled = Progress::new();
            cancelled.cancel();
            let result =
                paint_view(Some(&mut cache), input, &light, TextureView::Lit, Points::Pixels(size), &cancelled);
            assert_eq!(result, Err(Cancelled), "{occasion}");
            let painted = |cache: &mut PaintCache| {
                paint_view(Some(cache), input, &light, TextureView::Lit, Points::Pixels(size), &Progress::new())
                    .expect("painted")
            };
            assert_eq!(painted(&mut cache), painted(&mut PaintCache::default()), "{occasion}");
        };
        check(&terrain, &recipe, &inputs, size, "empty");
        recipe.types[0].colour = Colour([1, 99, 3]);
        check(&terrain, &recipe, &inputs, size, "another colour");
        let other = Heightfield::from_fn(grid, |c, r| ((c * 5 + r * 3) % 101) as f32);
        check(&other, &recipe, &inputs, size, "another terrain");
        recipe.types.swap(0, 1);
        check(&other, &recipe, &inputs, size, "moved");
        recipe.types[0].repeat_m = 0.75 * repeat_m;
        recipe.types[1].texture = Some(name("b"));
        check(&terrain, &recipe, &inputs, size, "the first terrain again");
        recipe.types[0].slope_deg.max = 20.0;
        check(&terrain, &recipe, &inputs, size, "other limits");
        recipe.types[0].blend = TypeBlend::Normal;
        check(&terrain, &recipe, &inputs, size, "another blend");
        recipe.types[0].repeat_m = repeat_m;
        check(&terrain, &recipe, &inputs, size, "one texture for both");
        // Nearly the same repeat, but another number of texels.
        recipe.types[0].repeat_m *= 1.0 + 1e-9;
        check(&terrain, &recipe, &inputs, size, "slightly wider");
        inputs.swatches.insert(name("b"), swatch(57));
        check(&terrain, &recipe, &inputs, size, "another texture by the same name");
        check(&terrain, &recipe, &inputs, [height, width], "another size");
    }
}
