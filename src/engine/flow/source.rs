//! The terrain before erosion.

use crate::heightfield::Heightfield;

/// The terrain before erosion, which has detail that a coarser mesh lacks.
#[derive(Debug)]
pub(crate) struct Source {
    /// The heights at the points.
    pub heights: Heightfield,
    /// The share of the detail that erosion has left at each point.
    pub left: Heightfield,
}
