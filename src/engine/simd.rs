//! Loops compiled for the widest vector instructions of the processor.

use fearless_simd::{Level, dispatch};

/// Runs `work` compiled for the vector instructions of the current processor: SSE4.2 or AVX2 on x86, NEON on ARM.
/// Functions that `work` calls are included if they are inlined.
///
/// Results do not depend on the instruction set: multiplications and additions are not fused, and their order stays the
/// same.
#[inline(always)]
pub(super) fn simd<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), _vectors => work())
}

/// Fills a reusable row with `values`, vectorized inside [`simd`]. `Vec::extend` would not be: its loop is not inlined.
#[inline(always)]
pub(super) fn refill<T: Copy + Default>(row: &mut Vec<T>, values: impl ExactSizeIterator<Item = T>) {
    row.resize(values.len(), T::default());
    for (place, value) in row.iter_mut().zip(values) {
        *place = value;
    }
}

/// Rounds a number from 0 to 2²³ to the nearest integer, ties to even. Between 2²³ and 2²⁴ the low bits of an f32 count
/// integers, so this takes two instructions that vectorize, unlike a cast.
#[inline(always)]
pub(super) fn round_to_u32(number: f32) -> u32 {
    /// 2²³.
    const WHOLE: f32 = 8_388_608.0;
    (number + WHOLE).to_bits() - WHOLE.to_bits()
}
