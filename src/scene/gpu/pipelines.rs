//! The render pipelines and the layouts of their bindings.

use std::num::NonZeroU64;

use super::quality::Quality;
use crate::scene::frame::UNIFORM_FLOATS;

/// The format of images.
pub(super) const COLOUR_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(super) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// The formats of the terrain's textures.
pub(super) const ALBEDO_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
pub(super) const SLOPES_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;
pub(super) const LIGHT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg8Unorm;

/// Bytes of an instance of the terrain's mesh, one chunk.
pub(super) const CHUNK_BYTES: u64 = 16;

/// The pipelines that draw the scene, with a number of samples per pixel.
pub(super) struct ScenePipelines {
    pub(super) samples: u32,
    pub(super) sky: wgpu::RenderPipeline,
    pub(super) terrain: wgpu::RenderPipeline,
    pub(super) water: wgpu::RenderPipeline,
    pub(super) shapes: wgpu::RenderPipeline,
}

/// The layouts of the bind groups.
pub(super) struct Layouts {
    /// The uniforms.
    pub(super) scene: wgpu::BindGroupLayout,
    /// The textures of the older and of the newer terrain.
    pub(super) terrain: wgpu::BindGroupLayout,
    /// The heights from which slopes and light are computed.
    pub(super) bake: wgpu::BindGroupLayout,
    /// A texture to copy.
    pub(super) copy: wgpu::BindGroupLayout,
}

pub(super) struct Pipelines {
    pub(super) layouts: Layouts,
    /// With four samples per pixel, and with one for fast frames.
    pub(super) fine: ScenePipelines,
    pub(super) fast: ScenePipelines,
    pub(super) slopes: wgpu::RenderPipeline,
    pub(super) light: wgpu::RenderPipeline,
    /// To the next mip level of the colours and of the slopes, and to the window.
    pub(super) downsample_colours: wgpu::RenderPipeline,
    pub(super) downsample_slopes: wgpu::RenderPipeline,
    pub(super) present: wgpu::RenderPipeline,
}

/// The layout of the buffer of chunks.
const CHUNKS: [Option<wgpu::VertexBufferLayout>; 1] = [Some(wgpu::VertexBufferLayout {
    array_stride: CHUNK_BYTES,
    step_mode: wgpu::VertexStepMode::Instance,
    attributes: &wgpu::vertex_attr_array![0 => Float32x4],
})];

/// The layouts of the buffers of the corners of shapes and of their instances.
const SHAPES: [Option<wgpu::VertexBufferLayout>; 2] = [
    Some(wgpu::VertexBufferLayout {
        array_stride: 24,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
    }),
    Some(wgpu::VertexBufferLayout {
        array_stride: 48,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![2 => Float32x4, 3 => Float32x4, 4 => Float32x4],
    }),
];

/// The properties that differ between pipelines.
struct Options<'a> {
    label: &'static str,
    layout: &'a wgpu::PipelineLayout,
    shader: &'a wgpu::ShaderModule,
    entry_point: &'static str,
    constants: &'a [(&'a str, f64)],
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    depth: Option<wgpu::CompareFunction>,
    samples: u32,
    format: wgpu::TextureFormat,
}

impl<'a> Options<'a> {
    fn new(label: &'static str, layout: &'a wgpu::PipelineLayout, shader: &'a wgpu::ShaderModule) -> Self {
        Self {
            label,
            layout,
            shader,
            entry_point: "fragment",
            constants: &[],
            buffers: &[],
            depth: None,
            samples: 1,
            format: COLOUR_FORMAT,
        }
    }
}

impl Layouts {
    fn new(device: &wgpu::Device) -> Self {
        let visibility = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
        };
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
        let texture = |filterable| wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let uniforms = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: NonZeroU64::new(4 * UNIFORM_FLOATS as u64),
        };
        // Heights are 32-bit floats, which WebGL 2 cannot filter.
        let mut terrain: Vec<_> = (0..8).map(|i| entry(i, texture(i >= 2))).collect();
        terrain.push(entry(8, sampler));
        Self {
            scene: layout("scene", &[entry(0, uniforms)]),
            terrain: layout("terrain", &terrain),
            bake: layout("bake", &[entry(0, texture(false))]),
            copy: layout("copy", &[entry(0, texture(true)), entry(1, sampler)]),
        }
    }
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, quality: &Quality, target_format: wgpu::TextureFormat) -> Self {
        let layouts = Layouts::new(device);
        let layout = |label, layouts: &[&wgpu::BindGroupLayout]| {
            let bind_group_layouts: Vec<_> = layouts.iter().map(|layout| Some(*layout)).collect();
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &bind_group_layouts,
                immediate_size: 0,
            })
        };
        let shader = |label, parts: &[&str]| {
            let source = wgpu::ShaderSource::Wgsl(parts.concat().into());
            device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source })
        };
        let (common, surface) = (include_str!("../shaders/common.wgsl"), include_str!("../shaders/surface.wgsl"));
        let sky_shader = shader("sky", &[common, include_str!("../shaders/sky.wgsl")]);
        let terrain_shader = shader("terrain", &[common, surface, include_str!("../shaders/terrain.wgsl")]);
        let water_shader = shader("water", &[common, surface, include_str!("../shaders/water.wgsl")]);
        let shapes_shader = shader("shapes", &[common, surface, include_str!("../shaders/shapes.wgsl")]);
        let light_shader = shader("light", &[common, include_str!("../shaders/light.wgsl")]);
        let copy_shader = shader("copy", &[include_str!("../shaders/copy.wgsl")]);

        let sky_layout = layout("sky", &[&layouts.scene]);
        let terrain_layout = layout("terrain", &[&layouts.scene, &layouts.terrain]);
        let light_layout = layout("light", &[&layouts.scene, &layouts.bake]);
        let copy_layout = layout("copy", &[&layouts.copy]);

        use wgpu::CompareFunction::{Always, Greater};
        let scene = |samples| {
            let options = |label, layout, shader, compare| Options {
                depth: Some(compare),
                samples,
                ..Options::new(label, layout, shader)
            };
            let terrain = options("terrain", &terrain_layout, &terrain_shader, Greater);
            let shapes = options("shapes", &terrain_layout, &shapes_shader, Greater);
            ScenePipelines {
                samples,
                sky: pipeline(device, &options("sky", &sky_layout, &sky_shader, Always)),
                terrain: pipeline(device, &Options { buffers: &CHUNKS, ..terrain }),
                water: pipeline(device, &options("water", &terrain_layout, &water_shader, Greater)),
                shapes: pipeline(device, &Options { buffers: &SHAPES, ..shapes }),
            }
        };
        let bake = |entry_point, constants, format| {
            let options = Options::new(entry_point, &light_layout, &light_shader);
            pipeline(device, &Options { entry_point, constants, format, ..options })
        };
        let copy = |format| pipeline(device, &Options { format, ..Options::new("copy", &copy_layout, &copy_shader) });
        let steps = [("SUN_STEPS", quality.sun_steps), ("SKY_STEPS", quality.sky_steps)];
        Self {
            fine: scene(4),
            fast: scene(1),
            slopes: bake("slopes", &[], SLOPES_FORMAT),
            light: bake("light", &steps, LIGHT_FORMAT),
            downsample_colours: copy(ALBEDO_FORMAT),
            downsample_slopes: copy(SLOPES_FORMAT),
            present: copy(target_format),
            layouts,
        }
    }

    /// The pipelines for a fast or a detailed frame.
    pub(super) fn scene(&self, is_fast: bool) -> &ScenePipelines {
        if is_fast { &self.fast } else { &self.fine }
    }
}

fn pipeline(device: &wgpu::Device, options: &Options) -> wgpu::RenderPipeline {
    let depth = |compare| wgpu::DepthStencilState {
        format: DEPTH_FORMAT,
        depth_write_enabled: Some(compare != wgpu::CompareFunction::Always),
        depth_compare: Some(compare),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    };
    let compilation_options = wgpu::PipelineCompilationOptions { constants: options.constants, ..Default::default() };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(options.label),
        layout: Some(options.layout),
        vertex: wgpu::VertexState {
            module: options.shader,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: options.buffers,
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: options.depth.map(depth),
        multisample: wgpu::MultisampleState { count: options.samples, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module: options.shader,
            entry_point: Some(options.entry_point),
            compilation_options,
            targets: &[Some(options.format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
