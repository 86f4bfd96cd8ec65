//! Helpers shared by the tests of the analysis module.

use crate::heightfield::{Extent, Grid};

/// A square grid with samples one metre apart.
pub(super) fn grid(side: usize) -> Grid {
    let side_m = (side - 1) as f64;
    Grid::new(Extent { width_m: side_m, depth_m: side_m }, side, side)
}
