//! Properties of the terrain surface: horizon, visible sky, sunlight, curvature, humidity and sediment.
//!
//! Every function returns one number per sample of the terrain's grid, as a
//! [`Heightfield`](super::heightfield::Heightfield) that holds these numbers in place of heights. The only error is
//! cancellation, and the results are byte-identical at every number of threads. Progress is reported within the
//! caller's current stage.

mod angles;
mod curvature;
mod horizon;
mod humidity;
mod occlusion;
mod reference;
mod sediment;
mod shade;
mod sunlight;
mod sweep;
#[cfg(test)]
mod testing;
mod views;

pub(super) use angles::azimuth_vector;
pub use curvature::curvature;
pub use horizon::horizon;
pub use humidity::humidity;
pub use occlusion::occlusion;
pub use sediment::{MAX_SEDIMENT, sediment};
pub use shade::shade;
pub use sunlight::{Sun, sunlight};
