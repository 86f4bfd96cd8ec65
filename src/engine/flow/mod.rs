//! Flow routing: the receiver and the drainage area of each sample.
//!
//! Each sample has one receiver, the neighbour of steepest descent in metres per metre (D8: O'Callaghan and Mark, "The
//! extraction of drainage networks from digital elevation data", 1984). For maps of water (`Water`), one of the two
//! neighbours beside the steepest descent of the surface is drawn instead, so that water does not run along rows and
//! diagonals (`edges`). Samples without a lower neighbour are pits. Their basins are drained over their lowest passes
//! (`basins`), so that all water leaves the terrain. The samples then form trees with their roots at the outlets, which
//! are traversed in either direction (`trees` for one traversal, `order` for repeated ones).
//!
//! Of samples at equal height, the one with the lower `tie_break`, a pseudorandom number, counts as the lower one. Flat
//! terrain therefore has no ties, and drains in branches like nearly flat terrain instead of in parallel lines.
//!
//! Results depend only on the heights: all sums are of integers, so the order of threads does not matter.

mod basins;
mod bend_limit;
mod creep;
mod depressions;
mod drainage;
mod drained_bytes;
mod edges;
mod finer_points;
mod grid;
mod grid_terrain;
mod location;
mod mesh;
mod options;
mod order;
mod planes;
#[cfg(test)]
pub(super) mod reference;
mod refinement;
mod regional;
mod sampling;
mod slope_limit;
mod source;
#[cfg(test)]
mod tests;
mod trees;
mod valley_floors;
mod water;
mod wide_grid;

pub(super) use bend_limit::reach_of_limits;
pub(super) use creep::Creep;
pub(super) use depressions::PLAIN_SLOPE;
pub(super) use drainage::Drainage;
pub(super) use finer_points::FinerPoints;
pub(super) use grid_terrain::without_depressions;
pub(super) use mesh::Mesh;
pub use options::Outlets;
pub(super) use options::RoutingOptions;
pub(super) use order::{FlowOrder, FlowPart};
pub(super) use refinement::{DrainedTerrain, Hillslopes, MeshTerrain, Refinement};
pub use regional::RegionalWater;
pub(super) use sampling::GridSampler;
pub(super) use source::Source;
pub use water::{Water, wetness};
pub(super) use wide_grid::WideGrid;
