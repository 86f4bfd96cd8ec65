//! The engine: from a recipe and a grid to a land and its pictures.
//!
//! This room is pure. It touches no file, no clock, no window and no channel, and imports nothing of the rest of the
//! crate; its functions can fail in one way only, by being [cancelled](progress::Cancelled). Parameters are checked
//! where they enter, by the tables that they are declared in.

pub mod analysis;
mod cosine_transform;
mod distance;
pub mod fault;
pub mod flow;
pub mod heightfield;
pub mod image;
pub mod inputs;
pub mod landforms;
pub mod light;
pub mod map_view;
pub mod mask;
pub mod mutation;
pub mod operations;
pub mod parameters;

pub mod progress;
pub mod ramp;
pub mod random;
pub mod recipe;
pub mod relief;
mod resample;
pub mod rivers;
mod rounding;
mod simd;
pub mod stack;
mod strips;
pub mod surface;
pub mod texture;

pub use self::image::Image;
pub use heightfield::{Extent, Grid, Heightfield};
pub use inputs::{Inputs, Raster, SampleScale};
pub use operations::AnyOperation;
pub use progress::{Cancelled, Progress};
pub use recipe::{Recipe, Step};
