//! Everything that touches the disk: heightmaps, textures, sidecars, and the one way in which files are written.
//!
//! Nothing here draws or decides what the land looks like, and nothing here knows of windows or arguments. Every error
//! names its file and says what to do.

pub mod atomic;
pub mod build;
mod error;
pub mod frames;
pub mod heightmap;
pub mod inputs;
pub mod maps;
pub mod memory;
pub mod mesh;
pub mod pace;
mod png_writer;
pub mod rivers;
pub mod sidecar;
pub mod swatches;
pub mod targets;
pub mod texture;
pub mod tiles;
mod watched;

pub use error::FileError;
