//! The engine: evaluates a recipe on a grid to a heightfield, and computes textures, maps and statistics from it.
//!
//! The engine is pure: it uses no files, clock, windows or channels, and no other part of the program. Its functions
//! fail only when [cancelled](progress::Cancelled): parameters are validated where they are set, by the tables that
//! declare them.

// Conversions that can change a value go through `cast`. Tests convert small known numbers.
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_lossless,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )
)]

pub mod analysis;
mod blend;
mod blending;
pub mod cast;
mod cosine_transform;
pub mod curve;
mod discarded;
mod distance;
mod fade;
pub mod fault;
mod final_symmetry;
pub mod flow;
pub mod fourier;
pub mod groups;
pub mod hash;
pub mod heightfield;
pub mod image;
pub mod inputs;
pub mod lakes;
pub mod landforms;
pub mod level;
pub mod light;
pub mod map_view;
pub mod mask;
pub mod mirroring;
pub mod mutation;
pub mod operations;
pub mod origin;
mod outline;
pub mod parameters;
pub mod play;
pub mod progress;
pub mod ramp;
pub mod random;
pub mod reach;
pub mod recipe;
pub mod recipe_masks;
pub mod relief;
mod resample;
pub mod result_cache;
pub mod rivers;
pub mod rock;
mod rounding;
pub mod scatter;
mod simd;
pub mod stack;
pub mod step;
mod strips;
pub mod strokes;
pub mod surface;
pub mod texture;

pub use self::image::Image;
pub use heightfield::{Extent, Grid, Heightfield};
pub use inputs::{Inputs, Raster, SampleScale};
pub use operations::AnyOperation;
pub use origin::{Origin, Place};
pub use progress::{Cancelled, Progress};
pub use recipe::Recipe;
pub use step::Step;
