//! Scatter: instances on the terrain, such as trees and rocks.
//!
//! A [layer](ScatterLayer) has instances of one kind, with a minimum distance between them. Its possible positions,
//! the [places], depend only on the seed and the location. The layer's amount, mask and terrain types then decide
//! which of them are used, and the terrain decides the rotation of each instance.

mod bins;
mod instances;
pub(crate) mod layer;
mod orbit;
mod packing;
mod placement;
mod shapes;

pub use instances::{Dots, InstanceTile, MapTile, ShapeInstances, dots};
pub use layer::{Avoid, ScatterLayer, Shape, Turn, TypeShare};
pub use packing::{Place, Region, density_per_m2, places};
pub use placement::{Instance, Scattered, density_map, memory_bytes, most_places, scatter};
pub use shapes::{normal, triangles};
