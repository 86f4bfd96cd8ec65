//! The land as a place, drawn on a graphics card: a block cut out of it, under the recipe's sun.
//!
//! No window is needed: the editor shows what is drawn here in its 3-D view, the command line writes it to files. What
//! can be pressed and dragged stands in `app/scene`.

pub(crate) mod camera;
mod environment;
mod glow;
mod gpu;
mod lod;
mod params;

pub(crate) use self::glow::{GlowingFault, fault_line_ends, youngest_faults};
#[cfg(test)]
pub(crate) use self::gpu::Counts;
pub(crate) use self::gpu::{Frame, Gpu};
pub(crate) use self::params::{
    OffscreenRenderer, RenderParams, ShadingMode, Stand, render_memory_bytes, turntable_paths,
};
