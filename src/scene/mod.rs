//! The 3-D renderer: the terrain as a block, lit by the recipe's sun, drawn by the GPU.
//!
//! It needs no window and does not depend on the user interface. The editor paints its 3-D view with it and the command
//! line writes its images to files. The controls of the 3-D view are in `app/views/scene`.

pub(crate) mod camera;
pub(crate) mod environment;
pub(crate) mod frame;
mod glow;
mod gpu;
mod lod;
pub(crate) mod offscreen;
mod params;
pub(crate) mod projection;
pub(crate) mod scale;
mod scatter;
mod shading;
#[cfg(test)]
mod tests;

pub(crate) use self::glow::{GlowingFault, fault_line_ends, recent_faults};
pub(crate) use self::gpu::device::GpuDevice;
pub(crate) use self::gpu::renderer::SceneRenderer;
#[cfg(test)]
pub(crate) use self::gpu::renderer::WorkCounts;
pub(crate) use self::params::RenderParams;
pub(crate) use self::shading::ShadingMode;
