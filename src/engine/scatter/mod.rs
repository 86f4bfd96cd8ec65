//! Scatter: what stands on the ground, such as trees and rocks.
//!
//! A [layer](ScatterLayer) is a kind of thing with a least distance between two of them. Its [places] follow
//! from the seed and the position alone. The layer's amount, mask and terrain types then decide which of them are
//! taken, and the terrain how each one stands.

mod bins;
mod instances;
pub(in crate::engine) mod layer;
mod orbit;
mod packing;
mod placement;
mod shapes;

pub use instances::{Dots, InstanceTile, MapTile, ShapeInstances, dots};
pub use layer::{Avoid, ScatterLayer, Shape, Turn, TypeShare};
pub use packing::{Place, Region, density_per_m2, places};
pub use placement::{Instance, Scattered, density_map, memory_bytes, most_places, scatter};
pub use shapes::{normal, triangles};
