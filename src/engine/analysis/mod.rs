//! Statistics of a heightfield: heights, slopes, roughness, spectrum and walkability.

mod hurst;
mod line_fit;
mod slopes;
mod spectrum;
mod summary;
#[cfg(test)]
mod testing;
mod walkability;

pub use hurst::hurst_exponent;
pub use slopes::{SLOPE_BIN_DEG, slope_deg, slope_histogram};
pub use spectrum::{Spectrum, spectral_slope};
pub use summary::Summary;
pub use walkability::{DEFAULT_WALKABLE_DEG, Walkability, WalkableArea, walkable};
