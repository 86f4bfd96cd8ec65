//! Evaluates the terrain types along rows of points: weights, texels and colours.

use std::sync::Arc;

use super::layer::{LayerBuffers, TexelRow, TextureLayer, any_positive};
use super::material::{Material, MaterialTexture, blend_by_relief, blend_colours};
use super::points::Points;
use super::recipe::{TextureRecipe, TypeBlend, height_range_m};
use super::row::{Colours, PaintRow};
use super::sampler::{LineBuffers, Sampler};
use super::surface_maps::SurfaceMaps;
use super::type_weights::TypeWeights;
use crate::heightfield::{Grid, Heightfield};
use crate::inputs::Inputs;
use crate::parameters::Band;
use crate::progress::{Cancelled, Progress};
use crate::simd::refill;

/// The maximum number of texels that are computed in advance.
const MAX_PREPARED_TEXELS: usize = 1 << 20;

/// The maximum memory of texels computed in advance, bytes.
pub const MAX_PREPARED_BYTES: u64 = (MAX_PREPARED_TEXELS * size_of::<[u16; 4]>()) as u64;

/// The inputs of painting.
#[derive(Clone, Copy, Debug)]
pub struct PaintInput<'a> {
    /// The heights.
    pub terrain: &'a Heightfield,
    /// The maps that the recipe and the light require; see [`SurfaceMaps::of`].
    pub surface_maps: &'a SurfaceMaps,
    /// The terrain types.
    pub recipe: &'a TextureRecipe,
    /// The height range that percentages refer to; `None`: the terrain's own.
    pub fixed_range_m: Option<Band>,
    /// The textures that the types name.
    pub inputs: &'a Inputs,
}

/// A paint input prepared for evaluation row by row.
pub(super) struct Painter<'a> {
    input: PaintInput<'a>,
    pub(super) sampler: Sampler<'a>,
    pub(super) types: TypeWeights,
    pub(super) materials: Vec<Material>,
    pub(super) layers: Vec<TextureLayer>,
    blends_by_relief: bool,
}

impl<'a> Painter<'a> {
    pub(super) fn new(input: PaintInput<'a>, points: Points, progress: &Progress) -> Result<Self, Cancelled> {
        let (lattice, _) = points.lattice(input.terrain.grid());
        let mut layers = Vec::new();
        let material = |terrain_type| Material::new(terrain_type, input.inputs, lattice, &mut layers);
        let materials: Vec<Material> = input.recipe.active().map(material).collect();
        let blends_by_relief = materials.iter().any(|material| material.blend == TypeBlend::Height);
        Ok(Self { materials, layers, blends_by_relief, ..Self::without_materials(input, points, progress)? })
    }

    /// A painter whose weights depend only on the limits of the types, not on relief.
    pub(super) fn without_materials(
        input: PaintInput<'a>,
        points: Points,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let range_m = height_range_m(input.terrain, input.fixed_range_m, progress)?;
        Ok(Self {
            input,
            sampler: Sampler::new(input.terrain, points),
            types: TypeWeights::new(input.recipe, range_m)
                .in_world(input.recipe.settings.unit, input.terrain.grid().extent())
                .with_masks(&input.surface_maps.type_masks),
            materials: Vec::new(),
            layers: Vec::new(),
            blends_by_relief: false,
        })
    }

    /// The points and the terrain's grid, on which the texels depend.
    pub(super) fn lattice_key(&self) -> (Points, Grid) {
        (self.sampler.points, self.input.terrain.grid())
    }

    /// Computes texels in advance; the `cached` layers are for the same points.
    pub(super) fn prepare(&mut self, cached: &[TextureLayer], progress: &Progress) -> Result<(), Cancelled> {
        // At most half a texel per point: computing a texel in advance is not cheaper than on demand, and some are
        // never used.
        let points = self.sampler.size[0].saturating_mul(self.sampler.size[1]);
        let max_texels = MAX_PREPARED_TEXELS.min(points / 2) / self.layers.len().max(1);
        self.layers.iter_mut().try_for_each(|layer| layer.prepare(cached, max_texels, progress))
    }

    /// The same, if the weights depend on the textures.
    pub(super) fn prepare_for_weights(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        if self.blends_by_relief { self.prepare(&[], progress) } else { Ok(()) }
    }

    /// Computes the weights of row `j`, and the texels if the weights depend on them.
    #[inline(always)]
    pub(super) fn compute_weights(&self, j: usize, row: &mut PaintRow) {
        let PaintRow { surface, line_buffers, .. } = row;
        self.sampler.read(self.input.terrain, j, line_buffers, &mut surface.height_m);
        self.sampler.read_gradients(j, line_buffers, [&mut surface.east, &mut surface.south]);
        surface.compute_slopes(self.types.slope_mode, self.types.is_skewed);
        let SurfaceMaps { humidity, shade, .. } = self.input.surface_maps;
        self.read_maps(j, line_buffers, [(humidity, &mut surface.humidity), (shade, &mut surface.shade)]);
        self.read_masks(j, line_buffers, &mut surface.masks);
        row.uncovered = self.types.weigh(&row.surface, &mut row.weights, &mut row.sums);
        if self.blends_by_relief {
            self.sample_textures(j, row);
            blend_by_relief(&self.materials, row, self.sampler.size[0]);
        }
    }

    /// Computes the weights and the texels of row `j`.
    #[inline(always)]
    pub(super) fn compute_weights_and_texels(&self, j: usize, row: &mut PaintRow) {
        self.compute_weights(j, row);
        if !self.blends_by_relief {
            self.sample_textures(j, row);
        }
    }

    /// Reads the shares of the sun and of the sky that the points of row `j` see.
    #[inline(always)]
    pub(super) fn read_light(&self, j: usize, PaintRow { line_buffers, sunlight: sun, sky: open, .. }: &mut PaintRow) {
        let SurfaceMaps { sunlight, sky, .. } = self.input.surface_maps;
        self.read_maps(j, line_buffers, [(sunlight, sun), (sky, open)]);
    }

    /// Reads a row of maps; a missing map counts as 1 everywhere.
    #[inline(always)]
    fn read_maps(&self, j: usize, buffers: &mut LineBuffers, maps: [(&Option<Arc<Heightfield>>, &mut Vec<f32>); 2]) {
        for (map, values) in maps {
            match map {
                Some(map) => self.sampler.read(map, j, buffers, values),
                None => refill(values, std::iter::repeat_n(1.0, self.sampler.size[0])),
            }
        }
    }

    /// Reads a row of the types' masks.
    #[inline(always)]
    fn read_masks(&self, j: usize, buffers: &mut LineBuffers, rows: &mut Vec<Vec<f32>>) {
        if self.types.masks.is_empty() {
            return rows.clear();
        }
        rows.resize_with(self.types.len(), Vec::new);
        for (index, weights) in rows.iter_mut().enumerate() {
            match self.types.masks.get(index) {
                Some(mask) => self.sampler.read(mask, j, buffers, weights),
                None => weights.clear(),
            }
        }
    }

    /// Computes the texels of every type where it has some weight.
    #[inline(always)]
    fn sample_textures(&self, j: usize, row: &mut PaintRow) {
        let points = self.sampler.row(j);
        row.texels.resize_with(self.layers.len(), TexelRow::default);
        row.layer_buffers.resize_with(self.layers.len(), LayerBuffers::default);
        for (material, weights) in self.materials.iter().zip(&row.weights) {
            if let Some(MaterialTexture { layer, .. }) = material.texture.filter(|_| any_positive(weights)) {
                self.layers[layer].sample(points, weights, &mut row.texels[layer], &mut row.layer_buffers[layer]);
            }
        }
    }

    /// Computes the colours of a row in linear light, without lighting.
    #[inline(always)]
    pub(super) fn compute_colours(&self, row: &PaintRow, colours: &mut Colours) {
        blend_colours(&self.materials, row, self.sampler.size[0], colours);
    }

    /// The unlit colour of an active type at point `i` of a row, in linear light, where it has some weight.
    pub(super) fn colour_of(&self, active_index: usize, row: &PaintRow, i: usize) -> [f32; 3] {
        self.materials[active_index].colour_at(&row.texels, i)
    }
}
