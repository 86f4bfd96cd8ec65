//! Heights as fixed-point numbers.
//!
//! Displacements are multiples of 2⁻²⁰ m and are added up as integers. Sums are therefore exact: the result is
//! bit-identical for any order of faults, number of threads and algorithm.

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Grid;

/// Fixed-point units per metre: 2²⁰.
pub(super) const UNITS_PER_M: f64 = 1_048_576.0;

/// Converts metres to the nearest fixed-point unit, ties to even; for less than 2⁵¹ units.
///
/// Between 2⁵² and 2⁵³ neighbouring f64s differ by 1 and so do their bits: adding 1.5·2⁵² rounds to an integer, which
/// is then a difference of bits. Unlike a cast to i64, this takes few instructions and vectorizes.
#[inline(always)]
pub fn to_units(metres: f64) -> i64 {
    /// 1.5·2⁵².
    const INTEGERS: f64 = 6_755_399_441_055_744.0;
    (metres * UNITS_PER_M + INTEGERS).to_bits().to_i64() - INTEGERS.to_bits().to_i64()
}

/// Converts fixed-point units to the nearest f32 in metres.
#[inline(always)]
pub fn to_metres(units: i64) -> f32 {
    to_exact_metres(units).to_f32()
}

/// Converts fixed-point units to metres, exactly below 2⁵³ units.
#[inline(always)]
pub fn to_exact_metres(units: i64) -> f64 {
    units.to_f64() * (1.0 / UNITS_PER_M)
}

/// Rounds a displacement in metres to the nearest fixed-point number, so that it can be added up exactly.
pub fn quantized_displacement(metres: f64) -> f64 {
    to_units(metres).to_f64() / UNITS_PER_M
}

/// Exact heights in fixed-point units, row-major. Adding or removing faults gives exactly the same result as a sum from
/// scratch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedHeights(Vec<i64>);

impl FixedHeights {
    /// Flat terrain at height 0.
    pub fn flat(grid: Grid) -> Self {
        Self(vec![0; grid.samples()])
    }

    /// The memory of the heights.
    pub fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    /// The rows of optional heights, one for each row of the grid.
    pub fn rows_mut(heights: Option<&mut Self>, grid: Grid) -> Vec<Option<&mut [i64]>> {
        let mut rows: Vec<Option<&mut [i64]>> =
            heights.map(|heights| heights.0.chunks_exact_mut(grid.width()).map(Some).collect()).unwrap_or_default();
        rows.resize_with(grid.height(), || None);
        rows
    }
}

#[cfg(test)]
impl FixedHeights {
    /// Heights in fixed-point units.
    pub(crate) fn from_units(units: &[i64]) -> Self {
        Self(units.to_vec())
    }
}
