//! Flow routing: where the water of each sample goes, and how much arrives.
//!
//! Each sample has one receiver, the neighbour of steepest descent in metres per metre (D8: O'Callaghan and Mark, "The
//! extraction of drainage networks from digital elevation data", 1984). Samples without a lower neighbour are pits.
//! Their basins are drained over their lowest passes (`basins`), so that all water leaves the terrain. The samples then
//! form trees with their roots at the outlets, which are traversed upstream (`trees`).
//!
//! Of samples at equal height, the one with the lower `tie_break`, a pseudorandom number, counts as the lower one. Flat
//! terrain therefore has no ties, and drains in branches like nearly flat terrain instead of in parallel lines.
//!
//! Results are functions of the heights alone: only integers are added, and nothing depends on the order of threads.

mod basins;
mod creep;
mod drainage;
mod grid;
mod options;
#[cfg(test)]
pub(super) mod reference;
#[cfg(test)]
mod tests;
mod trees;
mod water;

pub(super) use creep::Creep;
pub(super) use drainage::Drainage;
pub(super) use grid::filled_vec;
pub use options::Outlets;
pub(super) use options::RoutingOptions;
pub use water::Water;
