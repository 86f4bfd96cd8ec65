//! Resources shared by all passes: the device, the pipelines, the sampler, and helpers for textures and bind groups.

use super::device::GpuDevice;
use super::pipelines::Pipelines;
use super::quality::Quality;
use crate::scene::frame::UNIFORM_FLOATS;

pub(super) struct Resources {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) quality: Quality,
    /// The largest side of a texture.
    pub(super) max_texture_side: u32,
    pub(super) pipelines: Pipelines,
    pub(super) sampler: wgpu::Sampler,
    /// The uniforms of the passes that compute slopes and light.
    pub(super) bake_uniforms: wgpu::Buffer,
}

/// A texture with the view of all its mip levels.
pub(super) struct ViewedTexture {
    pub(super) texture: wgpu::Texture,
    pub(super) view: wgpu::TextureView,
}

impl Resources {
    pub(super) fn new(gpu: &GpuDevice, quality: Quality, target_format: wgpu::TextureFormat) -> Self {
        let device = gpu.device.clone();
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("smooth"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            anisotropy_clamp: quality.anisotropy,
            ..Default::default()
        });
        Self {
            queue: gpu.queue.clone(),
            max_texture_side: device.limits().max_texture_dimension_2d,
            pipelines: Pipelines::new(&device, &quality, target_format),
            sampler,
            bake_uniforms: uniform_buffer(&device, "bake"),
            quality,
            device,
        }
    }

    pub(super) fn texture(
        &self,
        label: &str,
        [width, height]: [u32; 2],
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
        mip_level_count: u32,
    ) -> ViewedTexture {
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        ViewedTexture { texture, view }
    }

    /// Writes the largest mip level of a texture with four bytes per texel.
    pub(super) fn write_texture(&self, texture: &wgpu::Texture, bytes: &[u8]) {
        let bytes_per_row = Some(4 * texture.width());
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
        self.queue.write_texture(texture.as_image_copy(), bytes, layout, texture.size());
    }

    /// Computes the smaller mip levels of a texture from its largest one.
    pub(super) fn fill_mip_levels(&self, texture: &wgpu::Texture, downsample: &wgpu::RenderPipeline) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for next in 1..texture.mip_level_count() {
            let group = self.copy_group(&mip_level(texture, next - 1));
            fullscreen_pass(&mut encoder, &mip_level(texture, next), downsample, &[&group]);
        }
        self.queue.submit([encoder.finish()]);
    }

    pub(super) fn scene_group(&self, uniforms: &wgpu::Buffer) -> wgpu::BindGroup {
        self.bind_group("scene", &self.pipelines.layouts.scene, [uniforms.as_entire_binding()])
    }

    pub(super) fn copy_group(&self, view: &wgpu::TextureView) -> wgpu::BindGroup {
        let resources = [wgpu::BindingResource::TextureView(view), wgpu::BindingResource::Sampler(&self.sampler)];
        self.bind_group("copy", &self.pipelines.layouts.copy, resources)
    }

    /// A bind group of resources in binding order.
    pub(super) fn bind_group<'a>(
        &self,
        label: &str,
        layout: &wgpu::BindGroupLayout,
        resources: impl IntoIterator<Item = wgpu::BindingResource<'a>>,
    ) -> wgpu::BindGroup {
        let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
        let entries: Vec<_> = (0..).zip(resources).map(entry).collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
    }
}

pub(super) fn uniform_buffer(device: &wgpu::Device, label: &str) -> wgpu::Buffer {
    buffer(device, label, 4 * UNIFORM_FLOATS as u64, wgpu::BufferUsages::UNIFORM)
}

/// A buffer that the queue can write.
pub(super) fn buffer(device: &wgpu::Device, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let usage = usage | wgpu::BufferUsages::COPY_DST;
    device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
}

/// The mip levels of a texture down to a single texel.
pub(super) fn mip_level_count(size: [u32; 2]) -> u32 {
    size[0].max(size[1]).ilog2() + 1
}

pub(super) fn mip_level(texture: &wgpu::Texture, level: u32) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        base_mip_level: level,
        mip_level_count: Some(1),
        ..Default::default()
    })
}

pub(super) fn texture_size(texture: &wgpu::Texture) -> [u32; 2] {
    [texture.width(), texture.height()]
}

/// Runs a pipeline once for every texel of a target.
pub(super) fn fullscreen_pass(
    encoder: &mut wgpu::CommandEncoder,
    target: &wgpu::TextureView,
    pipeline: &wgpu::RenderPipeline,
    groups: &[&wgpu::BindGroup],
) {
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: target,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    });
    pass.set_pipeline(pipeline);
    for (i, group) in (0..).zip(groups) {
        pass.set_bind_group(i, *group, &[]);
    }
    pass.draw(0..3, 0..1);
}
