//! The renderer: keeps the terrain on the GPU and draws frames of it.

use std::sync::Arc;

use super::device::{GpuDevice, checked};
use super::pipelines::{CHUNK_BYTES, COLOUR_FORMAT, DEPTH_FORMAT, ScenePipelines};
use super::quality::Quality;
use super::readback::Readback;
use super::resources::{Resources, ViewedTexture, buffer, uniform_buffer};
use super::terrain_textures::{TerrainTextures, sample_stride};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::scatter::ShapeInstances;
use crate::engine::{Heightfield, Image, Progress};
use crate::scene::frame::{Band, Frame, Uniforms};
use crate::scene::lod::{self, Chunk, TerrainLod};
use crate::scene::scatter::{self, ShapeDraw};
use crate::scene::shading::ShadingMode;

/// Counts each kind of work, for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkCounts {
    /// Uploads of heights.
    pub(crate) heights: u64,
    /// Uploads of colours.
    pub(crate) colours: u64,
    /// Computations of shadows and occlusion.
    pub(crate) lights: u64,
    /// Drawn images, or bands of one.
    pub(crate) draws: u64,
}

/// The textures that the scene is drawn into.
struct RenderTarget {
    size: [u32; 2],
    samples: u32,
    /// The colours before they are resolved, with several samples per pixel.
    multisampled: Option<wgpu::TextureView>,
    depth: wgpu::TextureView,
    image: ViewedTexture,
    /// Binds the image that is copied to the window.
    copy_group: wgpu::BindGroup,
}

/// The inputs of the cached image.
#[derive(PartialEq)]
struct DrawnState {
    uniforms: Uniforms,
    terrain: usize,
    colours: usize,
    shapes: Option<usize>,
    size: [u32; 2],
}

/// Draws frames, and caches the last image for the window until something changes.
pub(crate) struct SceneRenderer {
    resources: Resources,
    /// Whether the adapter is a software renderer.
    pub(crate) is_software: bool,
    uniforms: wgpu::Buffer,
    chunks: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    newest: Option<TerrainTextures>,
    /// The terrain before the newest, for transitions.
    older: Option<TerrainTextures>,
    target: Option<RenderTarget>,
    /// The scattered instances on the GPU: their data, the corners and the instances.
    shapes: Option<(Arc<ShapeInstances>, wgpu::Buffer, wgpu::Buffer)>,
    drawn: Option<DrawnState>,
    pub(crate) counts: WorkCounts,
    /// The first error. Nothing is drawn after it.
    pub(crate) error: Option<String>,
}

impl SceneRenderer {
    /// A renderer for a window with textures of a format. On a software renderer it draws less detail, so that the
    /// camera stays responsive.
    pub(crate) fn interactive(gpu: &GpuDevice, target_format: wgpu::TextureFormat) -> Result<Self, String> {
        let quality = if gpu.is_software { Quality::SOFTWARE_INTERACTIVE } else { Quality::HARDWARE };
        checked(&gpu.device, || Self::new(gpu, quality, target_format))
    }

    /// A renderer for images that may be slow.
    pub(crate) fn offline(gpu: &GpuDevice) -> Result<Self, String> {
        let quality = if gpu.is_software { Quality::SOFTWARE_OFFLINE } else { Quality::HARDWARE };
        checked(&gpu.device, || Self::new(gpu, quality, COLOUR_FORMAT))
    }

    fn new(gpu: &GpuDevice, quality: Quality, target_format: wgpu::TextureFormat) -> Self {
        let device = &gpu.device;
        let triangles = lod::indices();
        let index_bytes: &[u8] = bytemuck::cast_slice(&triangles);
        let indices = buffer(device, "indices", index_bytes.len() as u64, wgpu::BufferUsages::INDEX);
        gpu.queue.write_buffer(&indices, 0, index_bytes);
        Self {
            resources: Resources::new(gpu, quality, target_format),
            is_software: gpu.is_software,
            uniforms: uniform_buffer(device, "scene"),
            chunks: buffer(device, "chunks", CHUNK_BYTES * 256, wgpu::BufferUsages::VERTEX),
            indices,
            index_count: triangles.len().to_u32(),
            newest: None,
            older: None,
            target: None,
            shapes: None,
            drawn: None,
            counts: WorkCounts::default(),
            error: None,
        }
    }

    /// Draws a frame for the window, unless the cached image already shows it.
    pub(crate) fn draw(&mut self, frame: &Frame) -> Result<(), String> {
        let device = self.resources.device.clone();
        checked(&device, || {
            let size = self.update_terrain(frame);
            let drawn = DrawnState {
                uniforms: frame.uniforms(size, Band::all(frame)),
                terrain: Arc::as_ptr(&frame.terrain).addr(),
                colours: Arc::as_ptr(&frame.colours).addr(),
                shapes: frame.shapes.as_ref().map(|shapes| Arc::as_ptr(shapes).addr()),
                size: frame.size,
            };
            if self.drawn.as_ref() == Some(&drawn) {
                return;
            }
            let samples = self.resources.pipelines.scene(frame.is_fast).samples;
            let fits = |target: &RenderTarget| target.size == frame.size && target.samples == samples;
            let target = self.target.take().filter(fits);
            let target = target.unwrap_or_else(|| RenderTarget::new(&self.resources, frame.size, samples));
            self.draw_band(frame, Band::all(frame), &target);
            (self.target, self.drawn) = (Some(target), Some(drawn));
        })
    }

    /// Copies the cached image to the window.
    pub(crate) fn present(&self, pass: &mut wgpu::RenderPass<'static>) {
        if let Some(target) = &self.target {
            pass.set_pipeline(&self.resources.pipelines.present);
            pass.set_bind_group(0, &target.copy_group, &[]);
            pass.draw(0..3, 0..1);
        }
    }

    /// Renders an image of any height, in bands, and waits for it; the user interface's thread must not call this.
    /// Fails when `progress` is cancelled.
    pub(crate) fn render_image(&mut self, frame: &Frame, progress: &Progress) -> Result<Image, String> {
        let max = self.resources.max_texture_side;
        let [width, height] = frame.size;
        if width > max {
            return Err(format!("this graphics adapter renders images up to {max} pixels wide; choose a smaller size"));
        }
        let device = self.resources.device.clone();
        // An even number of rows: derivatives are computed in squares of two by two pixels.
        let max_rows = (self.resources.quality.band_px / width).max(2) & !1;
        let [columns, rows] = frame.size.map(|side| side as usize);
        let samples = self.resources.pipelines.scene(frame.is_fast).samples;
        let mut pixels = Vec::with_capacity(columns * rows);
        let mut target = None;
        for first in (0..height).step_by(max_rows as usize) {
            progress.check().map_err(|_| "the render was cancelled".to_string())?;
            let band = Band { first, rows: max_rows.min(height - first) };
            let readback = checked(&device, || {
                self.update_terrain(frame);
                let size = [width, band.rows];
                let fitting = target.take().filter(|target: &RenderTarget| target.size == size);
                let drawn = fitting.unwrap_or_else(|| RenderTarget::new(&self.resources, size, samples));
                self.draw_band(frame, band, &drawn);
                self.read(&target.insert(drawn).image.texture)
            })?;
            pixels.extend(readback.texels()?.into_iter().map(|[red, green, blue, _]| [red, green, blue, 255]));
            progress.report((first + band.rows).to_f32() / height.to_f32());
        }
        Ok(Image { width: columns, height: rows, pixels })
    }

    /// The most scattered instances that are drawn at once.
    pub(crate) fn most_things(&self) -> usize {
        self.resources.quality.instances[0] as usize
    }

    fn read(&self, texture: &wgpu::Texture) -> Readback {
        Readback::submit(&self.resources.device, &self.resources.queue, texture)
    }

    /// The stride at which the GPU's textures sample the terrain: 1 if they contain every sample.
    pub(crate) fn sample_stride(&self, terrain: &Heightfield) -> usize {
        sample_stride(terrain, self.resources.max_texture_side)
    }

    /// Whether the renderer uses that device.
    pub(crate) fn uses(&self, device: &wgpu::Device) -> bool {
        self.resources.device == *device
    }

    /// Uploads and computes the parts of the terrain that changed; returns the size of its textures.
    fn update_terrain(&mut self, frame: &Frame) -> [u32; 2] {
        let resources = &self.resources;
        let current = self.newest.take_if(|newest| Arc::ptr_eq(&newest.terrain, &frame.terrain));
        let mut textures = current.unwrap_or_else(|| {
            // The new terrain replaces the one before the previous.
            let spare = self.older.take();
            self.older = self.newest.take();
            self.counts.heights += 1;
            TerrainTextures::with_heights(resources, &frame.terrain, spare)
        });
        let has_colours = textures.image.as_ref().is_some_and(|image| Arc::ptr_eq(image, &frame.colours));
        if !has_colours && !frame.colours.pixels.is_empty() {
            textures.upload_colours(resources, &frame.colours);
            self.counts.colours += 1;
        }
        let light = &textures.light.texture;
        let uniforms = frame.light_uniforms([light.width(), light.height()]);
        if textures.lit_with != Some(uniforms) {
            textures.compute_light(resources, uniforms);
            self.counts.lights += 1;
        }
        self.newest.insert(textures).size
    }

    /// Draws a band of a frame, whose terrain is on the GPU, into a target.
    fn draw_band(&mut self, frame: &Frame, band: Band, target: &RenderTarget) {
        let Some(newest) = &self.newest else { return };
        let older = self.older.as_ref().filter(|older| frame.blend < 1.0 && older.size == newest.size);
        let terrain_group = terrain_group(&self.resources, older.unwrap_or(newest), newest);
        let uniforms = frame.uniforms(newest.size, band);
        self.resources.queue.write_buffer(&self.uniforms, 0, bytemuck::cast_slice(&uniforms));
        let chunks = self.chunks_of(frame, band, newest.size);
        let chunk_bytes: &[u8] = bytemuck::cast_slice(&chunks);
        if chunk_bytes.len() as u64 > self.chunks.size() {
            let size = (chunk_bytes.len() as u64).next_power_of_two();
            self.chunks = buffer(&self.resources.device, "chunks", size, wgpu::BufferUsages::VERTEX);
        }
        self.resources.queue.write_buffer(&self.chunks, 0, chunk_bytes);

        self.upload_shapes(frame.shapes.as_ref());
        let ScenePipelines { sky, terrain, water, shapes, .. } = self.resources.pipelines.scene(frame.is_fast);
        let scene_group = self.resources.scene_group(&self.uniforms);
        let mut encoder = self.resources.device.create_command_encoder(&Default::default());
        {
            let mut pass = target.begin_pass(&mut encoder);
            pass.set_bind_group(0, &scene_group, &[]);
            pass.set_pipeline(sky);
            pass.draw(0..3, 0..1);
            pass.set_bind_group(1, &terrain_group, &[]);
            if !chunks.is_empty() {
                pass.set_pipeline(terrain);
                pass.set_vertex_buffer(0, self.chunks.slice(..));
                pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint16);
                pass.draw_indexed(0..self.index_count, 0, 0..chunks.len().to_u32());
            }
            if let Some((_, corners, instances)) = &self.shapes {
                pass.set_pipeline(shapes);
                pass.set_vertex_buffer(0, corners.slice(..));
                pass.set_vertex_buffer(1, instances.slice(..));
                let most = self.resources.quality.instances[usize::from(frame.is_fast)];
                for ShapeDraw { corners, instances } in scatter::draws(frame, band, most) {
                    pass.draw(corners, instances);
                }
            }
            if frame.environment.water.is_some() {
                pass.set_pipeline(water);
                pass.draw(0..30, 0..1);
            }
        }
        self.resources.queue.submit([encoder.finish()]);
        self.counts.draws += 1;
    }

    /// Uploads scattered instances, unless they are there.
    fn upload_shapes(&mut self, shapes: Option<&Arc<ShapeInstances>>) {
        let shapes = shapes.filter(|shapes| !shapes.instances.is_empty());
        let is_there = match (&self.shapes, shapes) {
            (Some((known, ..)), Some(shapes)) => Arc::ptr_eq(known, shapes),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_there {
            return;
        }
        self.shapes = shapes.map(|shapes| {
            let upload = |label, bytes: &[u8]| {
                let buffer = buffer(&self.resources.device, label, bytes.len() as u64, wgpu::BufferUsages::VERTEX);
                self.resources.queue.write_buffer(&buffer, 0, bytes);
                buffer
            };
            let corners = upload("corners of shapes", bytemuck::cast_slice(&shapes.corners));
            let instances = upload("instances of shapes", bytemuck::cast_slice(&shapes.instances));
            (shapes.clone(), corners, instances)
        });
    }

    /// The chunks of the terrain that are visible in a band.
    fn chunks_of(&self, frame: &Frame, band: Band, size: [u32; 2]) -> Vec<Chunk> {
        let terrain = TerrainLod {
            samples: size.map(|side| side as usize),
            half_size: frame.scale.half_size(),
            y_range: [frame.bottom, frame.y_range[1]],
        };
        let up = frame.projection.up;
        let focal_px = 0.5 * frame.size[1].to_f32() * up.dot(up).sqrt();
        // A wireframe needs space between its lines.
        let is_wireframe = frame.environment.shading == ShadingMode::Wireframe;
        let quad_px = if is_wireframe { 9.0 } else { self.resources.quality.quad_px };
        terrain.chunks(&frame.projection, band.edges(frame.size[1]), focal_px, quad_px)
    }
}

#[cfg(test)]
impl SceneRenderer {
    /// Limits the pixels per band.
    pub(crate) fn limit_bands(&mut self, pixels: u32) {
        self.resources.quality.band_px = pixels;
    }

    /// Limits the size of textures.
    pub(crate) fn limit_texture_side(&mut self, side: u32) {
        self.resources.max_texture_side = side;
    }

    /// The heights in the texture of the newest terrain.
    pub(crate) fn heights(&self) -> Vec<f32> {
        let texture = &self.newest.as_ref().expect("a terrain").heights.texture;
        let texels = self.read(texture).texels().expect("texels");
        texels.into_iter().map(f32::from_le_bytes).collect()
    }
}

impl RenderTarget {
    fn new(resources: &Resources, size: [u32; 2], samples: u32) -> Self {
        let [width, height] = size;
        let attachment = |label, format, sample_count| {
            let texture = resources.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let usage = wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC
            | wgpu::TextureUsages::RENDER_ATTACHMENT;
        let image = resources.texture("image", size, COLOUR_FORMAT, usage, 1);
        Self {
            size,
            samples,
            multisampled: (samples > 1).then(|| attachment("multisampled", COLOUR_FORMAT, samples)),
            depth: attachment("depth", DEPTH_FORMAT, samples),
            copy_group: resources.copy_group(&image.view),
            image,
        }
    }

    fn begin_pass<'a>(&self, encoder: &'a mut wgpu::CommandEncoder) -> wgpu::RenderPass<'a> {
        let (view, resolve_target, store) = match &self.multisampled {
            Some(multisampled) => (multisampled, Some(&self.image.view), wgpu::StoreOp::Discard),
            None => (&self.image.view, None, wgpu::StoreOp::Store),
        };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("scene"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

/// Binds the textures of two terrains, in the order of surface.wgsl.
fn terrain_group(resources: &Resources, older: &TerrainTextures, newest: &TerrainTextures) -> wgpu::BindGroup {
    let views = [
        &older.heights,
        &newest.heights,
        &older.slopes,
        &newest.slopes,
        &older.light,
        &newest.light,
        &older.colours,
        &newest.colours,
    ];
    let views = views.map(|texture| wgpu::BindingResource::TextureView(&texture.view));
    let sampler = wgpu::BindingResource::Sampler(&resources.sampler);
    resources.bind_group("terrain", &resources.pipelines.layouts.terrain, views.into_iter().chain([sampler]))
}
