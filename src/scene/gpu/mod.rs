//! The part of the renderer that talks to the GPU.
//!
//! It stays within the limits of WebGL 2: no compute shaders and no storage buffers. It never panics; GPU errors are
//! returned as messages.

pub(super) mod device;
mod pipelines;
mod quality;
mod readback;
pub(super) mod renderer;
mod resources;
mod terrain_textures;
