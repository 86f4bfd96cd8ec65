//! The textures of a terrain: heights, slopes, light and colours.

use std::borrow::Cow;
use std::sync::Arc;

use super::pipelines::{ALBEDO_FORMAT, LIGHT_FORMAT, SLOPES_FORMAT};
use super::resources::{Resources, ViewedTexture, fullscreen_pass, mip_level, mip_level_count, texture_size};
use crate::engine::cast::ToInteger;
use crate::engine::{Heightfield, Image};
use crate::scene::frame::Uniforms;

/// A terrain on the GPU.
pub(super) struct TerrainTextures {
    /// Columns and rows of the heights.
    pub(super) size: [u32; 2],
    pub(super) heights: ViewedTexture,
    pub(super) slopes: ViewedTexture,
    /// The share of the sun and of the sky that each place sees.
    pub(super) light: ViewedTexture,
    pub(super) colours: ViewedTexture,
    pub(super) terrain: Arc<Heightfield>,
    /// The colours that were uploaded.
    pub(super) image: Option<Arc<Image>>,
    /// The uniforms for which the light was computed.
    pub(super) lit_with: Option<Uniforms>,
}

impl TerrainTextures {
    /// Uploads the heights of a terrain, into the textures of one that is no longer needed if they have the same size.
    pub(super) fn with_heights(resources: &Resources, terrain: &Arc<Heightfield>, spare: Option<Self>) -> Self {
        let grid = terrain.grid();
        let stride = sample_stride(terrain, resources.max_texture_side);
        let (size, heights) = reduced([grid.width(), grid.height()], terrain.heights(), stride);
        let mut textures =
            spare.filter(|spare| spare.size == size).unwrap_or_else(|| Self::empty(resources, size, terrain));
        (textures.terrain, textures.image, textures.lit_with) = (terrain.clone(), None, None);
        resources.write_texture(&textures.heights.texture, bytemuck::cast_slice(&heights));
        textures
    }

    fn empty(resources: &Resources, size: [u32; 2], terrain: &Arc<Heightfield>) -> Self {
        // Shadows are soft, so their texture can be smaller.
        let max = resources.quality.light_texels;
        let longer = size[0].max(size[1]);
        let light_size = size.map(|side| if longer > max { (side * max / longer).max(2) } else { side });
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let drawn = usage | wgpu::TextureUsages::RENDER_ATTACHMENT;
        let readable = usage | wgpu::TextureUsages::COPY_SRC;
        Self {
            size,
            heights: resources.texture("heights", size, wgpu::TextureFormat::R32Float, readable, 1),
            slopes: resources.texture("slopes", size, SLOPES_FORMAT, drawn, mip_level_count(size)),
            light: resources.texture("light", light_size, LIGHT_FORMAT, drawn, 1),
            colours: colour_texture(resources, size),
            terrain: terrain.clone(),
            image: None,
            lit_with: None,
        }
    }

    /// Uploads the colours and computes their mip levels.
    pub(super) fn upload_colours(&mut self, resources: &Resources, image: &Arc<Image>) {
        let sides = [image.width, image.height];
        let (size, pixels) = reduced(sides, &image.pixels, stride(sides, resources.max_texture_side));
        if texture_size(&self.colours.texture) != size {
            self.colours = colour_texture(resources, size);
        }
        let texture = &self.colours.texture;
        resources.write_texture(texture, bytemuck::cast_slice(&pixels));
        resources.fill_mip_levels(texture, &resources.pipelines.downsample_colours);
        self.image = Some(image.clone());
    }

    /// Computes shadows and occlusion, and before that the slopes of a terrain that is new.
    pub(super) fn compute_light(&mut self, resources: &Resources, uniforms: Uniforms) {
        let pipelines = &resources.pipelines;
        resources.queue.write_buffer(&resources.bake_uniforms, 0, bytemuck::cast_slice(&uniforms));
        let scene = resources.scene_group(&resources.bake_uniforms);
        let heights = wgpu::BindingResource::TextureView(&self.heights.view);
        let heights = resources.bind_group("bake", &pipelines.layouts.bake, [heights]);
        let mut encoder = resources.device.create_command_encoder(&Default::default());
        let has_slopes = self.lit_with.is_some();
        if !has_slopes {
            let target = mip_level(&self.slopes.texture, 0);
            fullscreen_pass(&mut encoder, &target, &pipelines.slopes, &[&scene, &heights]);
        }
        let target = mip_level(&self.light.texture, 0);
        fullscreen_pass(&mut encoder, &target, &pipelines.light, &[&scene, &heights]);
        resources.queue.submit([encoder.finish()]);
        if !has_slopes {
            resources.fill_mip_levels(&self.slopes.texture, &pipelines.downsample_slopes);
        }
        self.lit_with = Some(uniforms);
    }
}

fn colour_texture(resources: &Resources, size: [u32; 2]) -> ViewedTexture {
    let usage =
        wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_DST;
    resources.texture("colours", size, ALBEDO_FORMAT, usage, mip_level_count(size))
}

/// The stride at which textures with sides of at most `max` sample the terrain: 1 if they contain every sample.
pub(super) fn sample_stride(terrain: &Heightfield, max: u32) -> usize {
    stride([terrain.grid().width(), terrain.grid().height()], max)
}

fn stride(sides: [usize; 2], max: u32) -> usize {
    (sides[0].max(sides[1]) - 1).div_ceil(max.max(2) as usize - 1).max(1)
}

/// Every `stride`-th sample or pixel in columns and rows.
fn reduced<T: Copy>([width, height]: [usize; 2], all: &[T], stride: usize) -> ([u32; 2], Cow<'_, [T]>) {
    if stride <= 1 {
        return ([width.to_u32(), height.to_u32()], all.into());
    }
    // Corner samples stay at the corners.
    let places = |samples: usize| {
        let count = (samples - 1).div_ceil(stride) + 1;
        (0..count).map(move |i| i * (samples - 1) / (count - 1).max(1))
    };
    let kept = places(height).flat_map(|r| places(width).map(move |c| all[r * width + c])).collect::<Vec<T>>();
    ([places(width).count().to_u32(), places(height).count().to_u32()], kept.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Extent, Grid};

    #[test]
    fn a_map_that_is_too_large_keeps_its_corners() {
        let grid = Grid::new(Extent { width_m: 200.0, depth_m: 100.0 }, 201, 101);
        let terrain = Heightfield::from_fn(grid, |c, r| (c + 1000 * r) as f32);
        let reduced_to = |max| reduced([201, 101], terrain.heights(), stride([201, 101], max));
        let (size, heights) = reduced_to(64);
        assert!(size[0] <= 64 && heights.len() == (size[0] * size[1]) as usize, "{size:?}");
        assert_eq!((heights[0], heights[size[0] as usize - 1]), (0.0, 200.0));
        assert_eq!(heights[heights.len() - 1], 100_200.0);
        assert_eq!(reduced_to(201).1.as_ref(), terrain.heights());
    }
}
