//! Heights as integers, so that thermal erosion loses no rock between samples.

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// A number of units that is larger than any drop.
pub(super) const UNLIMITED: i32 = 1 << 30;

/// The size of the integers that stand for heights: a power of two, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit(f64);

impl Unit {
    /// A unit in which heights up to `highest_m` are integers below 2^`bits`.
    pub fn new(highest_m: f32, bits: i32) -> Self {
        // Smaller heights than 2⁻⁶⁰ m count as 0.
        let exponent = libm::ilogb(f64::from(highest_m)).max(-60);
        Self(libm::exp2(f64::from(exponent + 1 - bits)))
    }

    /// The nearest number of units.
    #[inline(always)]
    pub fn count(self, metres: f64) -> i32 {
        (metres * (1.0 / self.0)).round_ties_even().to_i32()
    }

    /// The number of whole units in a length.
    pub fn whole(self, metres: f64) -> i32 {
        (metres / self.0).to_i32()
    }

    /// A height plus a number of units, metres.
    #[inline(always)]
    pub fn plus(self, height_m: f32, count: i32) -> f32 {
        (f64::from(height_m) + f64::from(count) * self.0).to_f32()
    }
}

/// The largest absolute height.
pub(super) fn largest_height(terrain: &Heightfield, progress: &Progress) -> Result<f32, Cancelled> {
    let [low, high] = terrain.min_max_cancellable(progress)?;
    Ok(high.max(-low))
}

/// The distances to the next sample in the row, in the column, and diagonally, metres.
pub(super) fn distances_m(grid: Grid) -> [f64; 3] {
    let (x_m, z_m) = (grid.spacing_x_m(), grid.spacing_z_m());
    [x_m, z_m, libm::hypot(x_m, z_m)]
}
