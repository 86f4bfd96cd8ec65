//! The graphics card's part of the view: textures of the land, pipelines, and one picture that is kept until something
//! changes.
//!
//! Within the limits of WebGL 2: no compute, no storage buffers. Nothing here panics; what goes wrong is a sentence.

use std::borrow::Cow;
use std::future::Future;
use std::num::NonZeroU64;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use eframe::egui_wgpu::{RenderState, wgpu};

use super::camera::{SceneScale, ViewProjection};
use super::glow::{GlowingFault, MOST_LINES};
use super::lod::{self, Ground};
use super::params::ShadingMode;
use crate::engine::ramp::{self, Stops};
use crate::engine::{Heightfield, Image, Progress};

/// Floats in the uniform buffer: `Scene` in common.wgsl, with the lines that glow and how strongly each does.
pub(crate) const UNIFORMS: usize = (ROWS + MOST_LINES + MOST_LINES / 4) * 4;

/// Rows of four before the lines.
const ROWS: usize = 16 + ramp::MAX_STOPS;

/// Everything that one picture is made of.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) terrain: Arc<Heightfield>,
    pub(crate) colours: Arc<Image>,
    pub(crate) measure: SceneScale,
    pub(crate) projection: ViewProjection,
    /// Pixels of the picture.
    pub(crate) size: [u32; 2],
    /// How far the land has come from the one before, 0 to 1.
    pub(crate) blend: f32,
    /// The lowest and the highest point of both lands and the bottom of the block, scene units.
    pub(crate) heights: [f32; 2],
    /// The highest point of the newer land alone.
    pub(crate) summit: f32,
    pub(crate) bottom: f32,
    /// Whether it is better to be quick than to be fine.
    pub(crate) is_hurried: bool,
    /// Lines that glow on the land.
    pub(crate) glow: Vec<GlowingFault>,
    /// The rest of the uniforms.
    pub(crate) environment: Environment,
}

/// Light, air, water and coat, as the shaders take them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Environment {
    /// Towards the sun, and how bright it shines.
    pub(crate) sun: [f32; 4],
    /// Its colour, and how wide it is as a tangent.
    pub(crate) sun_colour: [f32; 4],
    /// The light of the sky, and how dark cast shadows are.
    pub(crate) ambient: [f32; 4],
    /// The sky above, and how thick the haze is.
    pub(crate) zenith: [f32; 4],
    /// The sky at the horizon, and its glow around the sun.
    pub(crate) horizon: [f32; 4],
    /// The table, and the width of its squares.
    pub(crate) table: [f32; 4],
    /// The level of the water, scene units, if there is any.
    pub(crate) water: Option<f32>,
    /// The number of the coat.
    pub(crate) shading: u8,
    /// The colours of the coat, where it shows a number.
    pub(crate) stops: Stops,
    /// Whether the colours are lit already.
    pub(crate) is_lit: bool,
}

/// Rows of a picture that are drawn at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Band {
    first: u32,
    rows: u32,
}

impl Band {
    fn whole(frame: &Frame) -> Self {
        Self { first: 0, rows: frame.size[1] }
    }

    /// Between which heights of a screen from −1 to 1 it lies, in a picture that is so high.
    fn ends(self, height: u32) -> [f32; 2] {
        [self.first + self.rows, self.first].map(|row| 1.0 - 2.0 * row as f32 / height as f32)
    }
}

impl Frame {
    fn uniforms(&self, [width, height]: [u32; 2], band: Band) -> [f32; UNIFORMS] {
        let Self { measure, projection, environment, .. } = self;
        let with = |[x, y, z]: [f32; 3], w: f32| [x, y, z, w];
        let [half_x, half_z] = measure.half();
        let [scale, slope] = projection.card_depth();
        let [low, high] = band.ends(self.size[1]);
        let (stand, share) = projection.stand();
        let [red, green, blue, haze] = environment.zenith;
        let rows = [
            with(projection.eye, projection.lens[0]),
            with(projection.right, f32::from(u8::from(!self.is_hurried))),
            with(projection.up, projection.lens[1]),
            with(projection.forward, band.first as f32),
            [scale, slope, 2.0 / (high - low), 0.5 * (low + high)],
            with(stand, share),
            environment.sun,
            environment.sun_colour,
            environment.ambient,
            // A plan has no air.
            [red, green, blue, haze * projection.lens[0]],
            environment.horizon,
            environment.table,
            [half_x, half_z, measure.y(1.0), self.bottom],
            with([self.heights[0], self.heights[1], measure.unit_m()], self.glow.len().min(MOST_LINES) as f32),
            [width as f32, height as f32, self.blend, f32::from(environment.shading)],
            [
                environment.water.unwrap_or(self.bottom),
                f32::from(u8::from(environment.water.is_some())),
                0.0,
                f32::from(u8::from(environment.is_lit)),
            ],
        ];
        let mut uniforms = [0.0; UNIFORMS];
        let (plain, glowing) = uniforms.split_at_mut(ROWS * 4);
        for (to, from) in plain.iter_mut().zip(rows.into_iter().chain(environment.stops).flatten()) {
            *to = from;
        }
        let (lines, strengths) = glowing.split_at_mut(4 * MOST_LINES);
        for ((line, strength), fault) in lines.chunks_mut(4).zip(strengths).zip(&self.glow) {
            let [from, to] = [fault.from_m, fault.to_m].map(|end_m| measure.point(end_m, 0.0));
            line.copy_from_slice(&[from[0], from[2], to[0], to[2]]);
            *strength = fault.strength;
        }
        uniforms
    }
}

/// What was done so far, for tests and for the curious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Heightfields brought to the card.
    pub(crate) heights: u64,
    /// Textures brought to the card.
    pub(crate) colours: u64,
    /// How often light and shade were worked out.
    pub(crate) lights: u64,
    /// Pictures drawn.
    pub(crate) pictures: u64,
}

/// A texture with the view of all its levels.
struct Layer {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

/// A land on the card.
struct LandSet {
    size: [u32; 2],
    heights: Layer,
    slopes: Layer,
    light: Layer,
    colours: Layer,
    terrain: Arc<Heightfield>,
    painted: Option<Arc<Image>>,
    /// The uniforms under which the light was worked out.
    lit: Option<[f32; UNIFORMS]>,
}

/// What draws the scene.
struct Passes {
    samples: u32,
    sky: wgpu::RenderPipeline,
    terrain: wgpu::RenderPipeline,
    water: wgpu::RenderPipeline,
}

/// What the scene is drawn on.
struct Target {
    size: [u32; 2],
    samples: u32,
    /// With several samples a pixel, where there are.
    many: Option<wgpu::TextureView>,
    depth: wgpu::TextureView,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    shown: wgpu::BindGroup,
}

/// What the kept picture was made of.
#[derive(PartialEq)]
struct Drawn {
    uniforms: [f32; UNIFORMS],
    terrain: usize,
    colours: usize,
    size: [u32; 2],
}

/// How finely is drawn.
#[derive(Clone, Copy)]
struct Quality {
    /// Pixels along a side of a quad of the net.
    quad_pixels: f32,
    /// Texels along the longer side of what is known of sun and sky, and the looks towards both.
    light_texels: u32,
    sun_steps: f64,
    sky_steps: f64,
    anisotropy: u16,
    /// Pixels that are drawn at once where nobody looks: what else the card has to do, the window first of all, waits no
    /// longer than that.
    band_pixels: u32,
}

/// On a graphics card; on the processor in its place, where nobody waits and where somebody does. What costs most there
/// is to look at textures from the side.
const CARD: Quality = Quality {
    quad_pixels: 2.5,
    light_texels: 1025,
    sun_steps: 128.0,
    sky_steps: 12.0,
    anisotropy: 8,
    band_pixels: 1 << 22,
};
const PATIENT: Quality = Quality {
    quad_pixels: 3.0,
    light_texels: 513,
    sun_steps: 96.0,
    sky_steps: 8.0,
    anisotropy: 1,
    band_pixels: 1 << 17,
};
const HURRIED: Quality =
    Quality { quad_pixels: 6.0, light_texels: 257, sun_steps: 40.0, sky_steps: 5.0, anisotropy: 1, ..PATIENT };

/// Everything on the card.
pub(crate) struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Whether the processor does the card's work.
    pub(crate) is_software: bool,
    quality: Quality,
    /// The most texels along a side of a texture.
    pub(crate) most_side: u32,
    uniforms: wgpu::Buffer,
    bake_uniforms: wgpu::Buffer,
    chunks: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    scene_layout: wgpu::BindGroupLayout,
    land_layout: wgpu::BindGroupLayout,
    bake_layout: wgpu::BindGroupLayout,
    copy_layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
    /// With several samples a pixel, and with one, for who is in a hurry.
    fine: Passes,
    quick: Passes,
    slopes: wgpu::RenderPipeline,
    light: wgpu::RenderPipeline,
    /// To the next level of the colours and of the slopes, and onto the window.
    shrink_colours: wgpu::RenderPipeline,
    shrink_slopes: wgpu::RenderPipeline,
    show: wgpu::RenderPipeline,
    newest: Option<LandSet>,
    older: Option<LandSet>,
    target: Option<Target>,
    drawn: Option<Drawn>,
    pub(crate) counts: Counts,
    /// What went wrong; nothing is drawn any more then.
    pub(crate) trouble: Option<String>,
}

const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The value of a future that is ready at once, as those of the native backends are.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Does something on the card; what the card has against it becomes a sentence.
fn watched<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> Result<T, String> {
    let scopes = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
    let [memory, validation, internal] = scopes.map(|filter| device.push_error_scope(filter));
    let value = work();
    // Scopes end in the order opposite to that in which they began.
    let errors = [internal.pop(), validation.pop(), memory.pop()].map(|error| ready(error).flatten());
    match errors.into_iter().flatten().next() {
        Some(error) => Err(error.to_string()),
        None => Ok(value),
    }
}

impl Gpu {
    /// Brings everything to the card that does not depend on a land. Where the processor does the card's work, all is
    /// coarser, so that it can be moved.
    pub(crate) fn new(state: &RenderState) -> Result<Self, String> {
        watched(&state.device, || Self::built(state, false))
    }

    /// For single pictures, which may take their time.
    pub(crate) fn patient(state: &RenderState) -> Result<Self, String> {
        watched(&state.device, || Self::built(state, true))
    }

    fn built(state: &RenderState, is_patient: bool) -> Self {
        let device = state.device.clone();
        let is_software = state.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        let quality = match (is_software, is_patient) {
            (false, _) => CARD,
            (true, true) => PATIENT,
            (true, false) => HURRIED,
        };
        let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let bind_layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
        };
        let entry = |binding, visibility, ty| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
        let texture = |filterable| wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let smooth = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let uniform = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: NonZeroU64::new(4 * UNIFORMS as u64),
        };
        let scene_layout = bind_layout("scene", &[entry(0, both, uniform)]);
        let mut land_entries: Vec<_> = (0..8).map(|i| entry(i, both, texture(i >= 2))).collect();
        land_entries.push(entry(8, both, smooth));
        let land_layout = bind_layout("land", &land_entries);
        let bake_layout = bind_layout("bake", &[entry(0, both, texture(false))]);
        let copy_layout = bind_layout("copy", &[entry(0, both, texture(true)), entry(1, both, smooth)]);

        let shader = |label, parts: &[&str]| {
            let source = wgpu::ShaderSource::Wgsl(parts.concat().into());
            device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source })
        };
        let (common, terrain) = (include_str!("common.wgsl"), include_str!("land.wgsl"));
        let sky_code = shader("sky", &[common, include_str!("sky.wgsl")]);
        let terrain_code = shader("terrain", &[common, terrain, include_str!("terrain.wgsl")]);
        let water_code = shader("water", &[common, terrain, include_str!("water.wgsl")]);
        let light_code = shader("light", &[common, include_str!("light.wgsl")]);
        let copy_code = shader("copy", &[include_str!("copy.wgsl")]);

        let layout = |label, layouts: &[&wgpu::BindGroupLayout]| {
            let bind_group_layouts: Vec<_> = layouts.iter().map(|layout| Some(*layout)).collect();
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &bind_group_layouts,
                immediate_size: 0,
            })
        };
        let sky_layout = layout("sky", &[&scene_layout]);
        let terrain_layout = layout("terrain", &[&scene_layout, &land_layout]);
        let light_layout = layout("light", &[&scene_layout, &bake_layout]);
        let show_layout = layout("show", &[&copy_layout]);
        let steps = [("SUN_STEPS", quality.sun_steps), ("SKY_STEPS", quality.sky_steps)];
        let pipeline = |part: Part| {
            let depth = |compare| wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(compare != wgpu::CompareFunction::Always),
                depth_compare: Some(compare),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            };
            let chunks = [Some(wgpu::VertexBufferLayout {
                array_stride: 16,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes: &[wgpu::VertexAttribute {
                    format: wgpu::VertexFormat::Float32x4,
                    offset: 0,
                    shader_location: 0,
                }],
            })];
            let compilation_options =
                wgpu::PipelineCompilationOptions { constants: part.constants, ..Default::default() };
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(part.label),
                layout: Some(part.layout),
                vertex: wgpu::VertexState {
                    module: part.code,
                    entry_point: Some("vertex"),
                    compilation_options: Default::default(),
                    buffers: if part.has_chunks { &chunks } else { &[] },
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: part.depth.map(depth),
                multisample: wgpu::MultisampleState { count: part.samples, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module: part.code,
                    entry_point: Some(part.entry),
                    compilation_options,
                    targets: &[Some(part.format.into())],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let part = |label, layout, code| Part {
            label,
            layout,
            code,
            entry: "fragment",
            constants: &[],
            has_chunks: false,
            depth: None,
            samples: 1,
            format: COLOUR,
        };
        use wgpu::CompareFunction::{Always, Greater};
        let passes = |samples| {
            let part = |label, layout, code, depth| Part { depth: Some(depth), samples, ..part(label, layout, code) };
            Passes {
                samples,
                sky: pipeline(part("sky", &sky_layout, &sky_code, Always)),
                terrain: pipeline(Part {
                    has_chunks: true,
                    ..part("terrain", &terrain_layout, &terrain_code, Greater)
                }),
                water: pipeline(part("water", &terrain_layout, &water_code, Greater)),
            }
        };
        let light = |entry, constants, format| {
            pipeline(Part { entry, constants, format, ..part(entry, &light_layout, &light_code) })
        };
        let slopes = light("slopes", &[], wgpu::TextureFormat::Rg16Float);
        let light = light("light", &steps, wgpu::TextureFormat::Rg8Unorm);
        let copy = |format| pipeline(Part { format, ..part("copy", &show_layout, &copy_code) });
        let shrink_colours = copy(wgpu::TextureFormat::Rgba8UnormSrgb);
        let shrink_slopes = copy(wgpu::TextureFormat::Rg16Float);
        let show = copy(state.target_format);

        let buffer = |label, size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let triangles = lod::indices();
        let index_bytes: &[u8] = bytemuck::cast_slice(&triangles);
        let indices = buffer("indices", index_bytes.len() as u64, wgpu::BufferUsages::INDEX);
        state.queue.write_buffer(&indices, 0, index_bytes);
        let uniform_size = 4 * UNIFORMS as u64;
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("smooth"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            anisotropy_clamp: quality.anisotropy,
            ..Default::default()
        });
        Self {
            queue: state.queue.clone(),
            is_software,
            quality,
            most_side: device.limits().max_texture_dimension_2d,
            uniforms: buffer("scene", uniform_size, wgpu::BufferUsages::UNIFORM),
            bake_uniforms: buffer("bake", uniform_size, wgpu::BufferUsages::UNIFORM),
            chunks: buffer("chunks", 16 * 256, wgpu::BufferUsages::VERTEX),
            indices,
            index_count: triangles.len() as u32,
            scene_layout,
            land_layout,
            bake_layout,
            copy_layout,
            sampler,
            fine: passes(4),
            quick: passes(1),
            slopes,
            light,
            shrink_colours,
            shrink_slopes,
            show,
            newest: None,
            older: None,
            target: None,
            drawn: None,
            counts: Counts::default(),
            trouble: None,
            device,
        }
    }

    /// Draws the picture anew if it is not this frame's already.
    pub(crate) fn draw(&mut self, frame: &Frame) -> Result<(), String> {
        let device = self.device.clone();
        watched(&device, || {
            self.bring(frame);
            let Some(newest) = &self.newest else { return };
            let drawn = Drawn {
                uniforms: frame.uniforms(newest.size, Band::whole(frame)),
                terrain: Arc::as_ptr(&frame.terrain).addr(),
                colours: Arc::as_ptr(&frame.colours).addr(),
                size: frame.size,
            };
            if self.drawn.as_ref() == Some(&drawn) {
                return;
            }
            let samples = self.passes(frame).samples;
            let fits = |target: &Target| target.size == frame.size && target.samples == samples;
            let target = match self.target.take().filter(fits) {
                Some(target) => target,
                None => self.new_target(frame.size, samples),
            };
            self.draw_on(frame, Band::whole(frame), &target);
            (self.target, self.drawn) = (Some(target), Some(drawn));
        })
    }

    /// Shows the kept picture in a pass of the window.
    pub(crate) fn paint(&self, pass: &mut wgpu::RenderPass<'static>) {
        if let Some(target) = &self.target {
            pass.set_pipeline(&self.show);
            pass.set_bind_group(0, &target.shown, &[]);
            pass.draw(0..3, 0..1);
        }
    }

    /// A picture of any size as wide as the card can do, drawn in bands; waits for it, which the interface's thread must
    /// not. Ends with an error where the monitor says so.
    pub(crate) fn picture(&mut self, frame: &Frame, progress: &Progress) -> Result<Image, String> {
        let most = self.most_side;
        let [width, height] = frame.size;
        if width > most {
            return Err(format!("pictures here are at most {most} pixels wide; choose a smaller one"));
        }
        let device = self.device.clone();
        // Even rows: what is measured across pixels is measured in squares of two by two.
        let most_rows = (self.quality.band_pixels / width).max(2) & !1;
        let [columns, rows] = frame.size.map(|side| side as usize);
        let mut pixels = Vec::with_capacity(columns * rows);
        let mut target = None;
        for first in (0..height).step_by(most_rows as usize) {
            progress.check().map_err(|_| "the picture was cancelled".to_string())?;
            let band = Band { first, rows: most_rows.min(height - first) };
            let ordered = watched(&device, || {
                self.bring(frame);
                let size = [width, band.rows];
                let known = target.take().filter(|target: &Target| target.size == size);
                let drawn = known.unwrap_or_else(|| self.new_target(size, self.passes(frame).samples));
                self.draw_on(frame, band, &drawn);
                self.order_texture(&target.insert(drawn).texture)
            })?;
            pixels.extend(ordered.texels()?.into_iter().map(|[red, green, blue, _]| [red, green, blue, 255]));
            progress.report((first + band.rows) as f32 / height as f32);
        }
        Ok(Image { width: columns, height: rows, pixels })
    }

    /// Orders the texels of a texture of four bytes a texel.
    fn order_texture(&self, texture: &wgpu::Texture) -> Ordered {
        let size = texture_size(texture);
        let row_bytes = (4 * size[0]).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(row_bytes) * u64::from(size[1]),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row_bytes), rows_per_image: None };
        let copy = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), copy, extent(size));
        self.queue.submit([encoder.finish()]);
        Ordered { device: self.device.clone(), buffer, size, row_bytes }
    }

    /// Of how many samples in a row the card takes one: 1 where it can take all.
    pub(crate) fn step(&self, terrain: &Heightfield) -> usize {
        step([terrain.grid().width(), terrain.grid().height()], self.most_side)
    }

    /// Whether this is drawn on that device.
    pub(crate) fn is_on(&self, device: &wgpu::Device) -> bool {
        self.device == *device
    }

    /// Has pictures drawn so many pixels at a time.
    #[cfg(test)]
    pub(crate) fn limit_bands(&mut self, pixels: u32) {
        self.quality.band_pixels = pixels;
    }

    /// The heights as they lie on the card.
    #[cfg(test)]
    pub(crate) fn heights(&self) -> Vec<f32> {
        let texture = &self.newest.as_ref().expect("a land").heights.texture;
        let texels = self.order_texture(texture).texels().expect("texels");
        texels.into_iter().map(f32::from_le_bytes).collect()
    }

    /// Brings to the card what is new of the land.
    fn bring(&mut self, frame: &Frame) {
        let is_new = self.newest.as_ref().is_none_or(|set| !Arc::ptr_eq(&set.terrain, &frame.terrain));
        if is_new {
            let grid = frame.terrain.grid();
            let sides = [grid.width(), grid.height()];
            let (size, heights) = reduced(sides, frame.terrain.heights(), self.step(&frame.terrain));
            // The land before the last one makes room for the new one.
            let spare = self.older.take().filter(|set| set.size == size);
            self.older = self.newest.take();
            let mut set = spare.unwrap_or_else(|| self.new_set(size, &frame.terrain));
            (set.terrain, set.painted, set.lit) = (frame.terrain.clone(), None, None);
            self.queue.write_texture(
                set.heights.texture.as_image_copy(),
                bytemuck::cast_slice(&heights),
                rows_of(size),
                extent(size),
            );
            self.counts.heights += 1;
            self.newest = Some(set);
        }
        let Some(mut set) = self.newest.take() else { return };
        if set.painted.as_ref().is_none_or(|painted| !Arc::ptr_eq(painted, &frame.colours)) {
            self.paint_land(&mut set, &frame.colours);
        }
        let light_size = texture_size(&set.light.texture);
        let uniforms = light_uniforms(frame, light_size);
        if set.lit != Some(uniforms) {
            let has_slopes = set.lit.is_some();
            self.light_land(&set, uniforms, has_slopes);
            set.lit = Some(uniforms);
        }
        self.newest = Some(set);
    }

    fn new_set(&self, size: [u32; 2], terrain: &Arc<Heightfield>) -> LandSet {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT;
        // Shadows are soft: fewer texels will do.
        let most = self.quality.light_texels;
        let longer = size[0].max(size[1]);
        let light = size.map(|side| if longer > most { (side * most / longer).max(2) } else { side });
        LandSet {
            size,
            heights: self.layer(
                size,
                wgpu::TextureFormat::R32Float,
                wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING,
                1,
            ),
            slopes: self.layer(size, wgpu::TextureFormat::Rg16Float, usage, levels_of(size)),
            light: self.layer(light, wgpu::TextureFormat::Rg8Unorm, usage, 1),
            colours: self.colours(size),
            terrain: terrain.clone(),
            painted: None,
            lit: None,
        }
    }

    fn colours(&self, size: [u32; 2]) -> Layer {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT;
        self.layer(size, wgpu::TextureFormat::Rgba8UnormSrgb, usage, levels_of(size))
    }

    fn layer(&self, size: [u32; 2], format: wgpu::TextureFormat, usage: wgpu::TextureUsages, levels: u32) -> Layer {
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("land"),
            size: extent(size),
            mip_level_count: levels,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: usage | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        Layer { texture, view }
    }

    /// Brings the colours to the card and makes their smaller levels.
    fn paint_land(&mut self, set: &mut LandSet, picture: &Arc<Image>) {
        let sides = [picture.width, picture.height];
        if sides.contains(&0) {
            return;
        }
        let (size, pixels) = reduced(sides, &picture.pixels, step(sides, self.most_side));
        if texture_size(&set.colours.texture) != size {
            set.colours = self.colours(size);
        }
        let texture = &set.colours.texture;
        let bytes = bytemuck::cast_slice(&pixels);
        self.queue.write_texture(texture.as_image_copy(), bytes, rows_of(size), extent(size));
        self.fill_levels(texture, &self.shrink_colours);
        set.painted = Some(picture.clone());
        self.counts.colours += 1;
    }

    /// Makes the smaller levels of a texture of its largest one.
    fn fill_levels(&self, texture: &wgpu::Texture, shrink: &wgpu::RenderPipeline) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for next in 1..texture.mip_level_count() {
            let group = self.copy_group(&level_of(texture, next - 1));
            let view = level_of(texture, next);
            let mut pass = colour_pass(&mut encoder, &view);
            pass.set_pipeline(shrink);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        self.queue.submit([encoder.finish()]);
    }

    /// Works out slopes, shadows and the sky that is seen.
    fn light_land(&mut self, set: &LandSet, uniforms: [f32; UNIFORMS], has_slopes: bool) {
        self.queue.write_buffer(&self.bake_uniforms, 0, bytemuck::cast_slice(&uniforms));
        let scene = self.scene_group(&self.bake_uniforms);
        let terrain = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("bake"),
            layout: &self.bake_layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(&set.heights.view),
            }],
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for (pipeline, layer) in
            [(&self.slopes, &set.slopes), (&self.light, &set.light)].into_iter().skip(usize::from(has_slopes))
        {
            let view = level_of(&layer.texture, 0);
            let mut pass = colour_pass(&mut encoder, &view);
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &scene, &[]);
            pass.set_bind_group(1, &terrain, &[]);
            pass.draw(0..3, 0..1);
        }
        self.queue.submit([encoder.finish()]);
        if !has_slopes {
            self.fill_levels(&set.slopes.texture, &self.shrink_slopes);
        }
        self.counts.lights += 1;
    }

    fn scene_group(&self, buffer: &wgpu::Buffer) -> wgpu::BindGroup {
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scene"),
            layout: &self.scene_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        })
    }

    fn copy_group(&self, view: &wgpu::TextureView) -> wgpu::BindGroup {
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("copy"),
            layout: &self.copy_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(view) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&self.sampler) },
            ],
        })
    }

    fn passes(&self, frame: &Frame) -> &Passes {
        if frame.is_hurried { &self.quick } else { &self.fine }
    }

    fn new_target(&self, size: [u32; 2], samples: u32) -> Target {
        let texture = |format, sample_count, usage| {
            self.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("view"),
                size: extent(size),
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let view = |texture: &wgpu::Texture| texture.create_view(&Default::default());
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_SRC;
        let none = wgpu::TextureUsages::empty();
        let picture = texture(COLOUR, 1, usage);
        let picture_view = view(&picture);
        Target {
            size,
            samples,
            many: (samples > 1).then(|| view(&texture(COLOUR, samples, none))),
            depth: view(&texture(DEPTH, samples, none)),
            shown: self.copy_group(&picture_view),
            texture: picture,
            view: picture_view,
        }
    }

    /// Draws a band of the scene.
    fn draw_on(&mut self, frame: &Frame, band: Band, target: &Target) {
        let Some(newest) = &self.newest else { return };
        let older = self.older.as_ref().filter(|older| frame.blend < 1.0 && older.size == newest.size);
        let older = older.unwrap_or(newest);
        let uniforms = frame.uniforms(newest.size, band);
        self.queue.write_buffer(&self.uniforms, 0, bytemuck::cast_slice(&uniforms));
        let ground = Ground {
            samples: newest.size.map(|side| side as usize),
            half: frame.measure.half(),
            heights: [frame.bottom, frame.heights[1]],
        };
        // The shorter side is what the lens is measured by.
        let focal_pixels = {
            let up = frame.projection.up;
            0.5 * frame.size[1] as f32 * super::camera::dot(up, up).sqrt()
        };
        // Lines need room between them.
        let pixels =
            if frame.environment.shading == ShadingMode::Wireframe as u8 { 9.0 } else { self.quality.quad_pixels };
        let chunks = ground.chunks(&frame.projection, band.ends(frame.size[1]), focal_pixels, pixels);
        let bytes: &[u8] = bytemuck::cast_slice(&chunks);
        if bytes.len() as u64 > self.chunks.size() {
            self.chunks = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("chunks"),
                size: (bytes.len() as u64).next_power_of_two(),
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
        }
        self.queue.write_buffer(&self.chunks, 0, bytes);
        let passes = self.passes(frame);
        let scene = self.scene_group(&self.uniforms);
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
        let mut entries: Vec<_> = (0..)
            .zip(views)
            .map(|(binding, layer)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::TextureView(&layer.view),
            })
            .collect();
        entries.push(wgpu::BindGroupEntry { binding: 8, resource: wgpu::BindingResource::Sampler(&self.sampler) });
        let terrain = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("land"),
            layout: &self.land_layout,
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let (view, resolve_target) = match &target.many {
                Some(many) => (many, Some(&target.view)),
                None => (&target.view, None),
            };
            let store = if target.many.is_some() { wgpu::StoreOp::Discard } else { wgpu::StoreOp::Store };
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("scene"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view,
                    depth_slice: None,
                    resolve_target,
                    ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &target.depth,
                    depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            pass.set_bind_group(0, &scene, &[]);
            pass.set_pipeline(&passes.sky);
            pass.draw(0..3, 0..1);
            pass.set_bind_group(1, &terrain, &[]);
            if !chunks.is_empty() {
                pass.set_pipeline(&passes.terrain);
                pass.set_vertex_buffer(0, self.chunks.slice(..));
                pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint16);
                pass.draw_indexed(0..self.index_count, 0, 0..chunks.len() as u32);
            }
            if frame.environment.water.is_some() {
                pass.set_pipeline(&passes.water);
                pass.draw(0..30, 0..1);
            }
        }
        self.queue.submit([encoder.finish()]);
        self.counts.pictures += 1;
    }
}

/// What one pipeline differs in.
struct Part<'a> {
    label: &'static str,
    layout: &'a wgpu::PipelineLayout,
    code: &'a wgpu::ShaderModule,
    entry: &'static str,
    constants: &'a [(&'a str, f64)],
    has_chunks: bool,
    depth: Option<wgpu::CompareFunction>,
    samples: u32,
    format: wgpu::TextureFormat,
}

/// A texture that the card is drawing on.
struct Ordered {
    device: wgpu::Device,
    buffer: wgpu::Buffer,
    size: [u32; 2],
    row_bytes: u32,
}

/// How long a band of a picture may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Ordered {
    /// Waits for the texels.
    fn texels(&self) -> Result<Vec<[u8; 4]>, String> {
        // On a card that has gone there is nothing to be read.
        watched(&self.device, || self.buffer.map_async(wgpu::MapMode::Read, .., |_| ()))?;
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) };
        self.device.poll(wait).map_err(|error| error.to_string())?;
        let bytes = self.buffer.get_mapped_range(..).map_err(|error| error.to_string())?;
        let [width, height] = self.size.map(|side| side as usize);
        let mut texels = Vec::with_capacity(width * height);
        for row in bytes.chunks(self.row_bytes as usize).take(height) {
            texels.extend(row.as_chunks::<4>().0.iter().take(width));
        }
        Ok(texels)
    }
}

fn extent([width, height]: [u32; 2]) -> wgpu::Extent3d {
    wgpu::Extent3d { width, height, depth_or_array_layers: 1 }
}

/// Rows of four bytes a texel.
fn rows_of([width, _]: [u32; 2]) -> wgpu::TexelCopyBufferLayout {
    wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: None }
}

/// Levels of a texture down to a single texel.
fn levels_of(size: [u32; 2]) -> u32 {
    size[0].max(size[1]).ilog2() + 1
}

fn level_of(texture: &wgpu::Texture, level: u32) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        base_mip_level: level,
        mip_level_count: Some(1),
        ..Default::default()
    })
}

fn texture_size(texture: &wgpu::Texture) -> [u32; 2] {
    [texture.width(), texture.height()]
}

fn colour_pass<'a>(encoder: &'a mut wgpu::CommandEncoder, view: &'a wgpu::TextureView) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    })
}

/// What decides light and shade of a land, and nothing else: a moved camera works out nothing.
fn light_uniforms(frame: &Frame, size: [u32; 2]) -> [f32; UNIFORMS] {
    let none = [0.0; 3];
    let plain =
        ViewProjection { eye: none, right: none, up: none, forward: none, lens: [1.0, 0.0], depths: [0.0, 1.0] };
    let Environment { sun, sun_colour, .. } = frame.environment;
    let none = [0.0; 4];
    let environment = Environment {
        sun: [sun[0], sun[1], sun[2], 0.0],
        sun_colour: [0.0, 0.0, 0.0, sun_colour[3]],
        ambient: none,
        zenith: none,
        horizon: none,
        table: none,
        water: None,
        shading: 0,
        stops: ramp::NO_STOPS,
        is_lit: false,
    };
    // The newer land's own summit: while two lands are blended, nothing is worked out anew.
    let heights = [0.0, frame.summit];
    let glow = Vec::new();
    let frame = Frame {
        projection: plain,
        environment,
        glow,
        blend: 1.0,
        bottom: 0.0,
        heights,
        is_hurried: false,
        size: [1; 2],
        ..frame.clone()
    };
    let band = Band::whole(&frame);
    frame.uniforms(size, band)
}

/// How many samples lie from one that the card can take to the next: 1 where it can take all.
fn step(sides: [usize; 2], most: u32) -> usize {
    (sides[0].max(sides[1]) - 1).div_ceil(most.max(2) as usize - 1).max(1)
}

/// Every n-th sample or pixel in columns and rows.
fn reduced<T: Copy>([width, height]: [usize; 2], all: &[T], step: usize) -> ([u32; 2], Cow<'_, [T]>) {
    if step <= 1 {
        return ([width as u32, height as u32], all.into());
    }
    // Corners stay on corners.
    let places = |samples: usize| {
        let count = (samples - 1).div_ceil(step) + 1;
        (0..count).map(move |i| i * (samples - 1) / (count - 1).max(1))
    };
    let kept = places(height).flat_map(|r| places(width).map(move |c| all[r * width + c])).collect::<Vec<T>>();
    ([places(width).count() as u32, places(height).count() as u32], kept.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Extent, Grid};

    #[test]
    fn a_map_that_is_too_large_keeps_its_corners() {
        let grid = Grid::new(Extent { width_m: 200.0, depth_m: 100.0 }, 201, 101);
        let terrain = Heightfield::from_fn(grid, |c, r| (c + 1000 * r) as f32);
        let reduced_to = |most| reduced([201, 101], terrain.heights(), step([201, 101], most));
        let (size, heights) = reduced_to(64);
        assert!(size[0] <= 64 && heights.len() == (size[0] * size[1]) as usize, "{size:?}");
        assert_eq!((heights[0], heights[size[0] as usize - 1]), (0.0, 200.0));
        assert_eq!(heights[heights.len() - 1], 100_200.0);
        assert_eq!(reduced_to(201).1.as_ref(), terrain.heights());
    }
}
