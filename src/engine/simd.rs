//! Loops compiled for the widest vectors that the processor has.

use fearless_simd::{Level, dispatch};

/// Runs `work` with the vector instructions of the processor that it runs on: its loops are compiled for each set of them
/// that the dispatch knows (on x86 SSE4.2 and AVX2, on ARM NEON). What `work` calls takes part where it is inlined.
///
/// Each operation stays what it is, multiplications and additions are not fused: the bytes are the same on every
/// processor.
#[inline(always)]
pub(super) fn simd<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), _vectors => work())
}

/// Puts values into a row that is kept from one use to the next, in the vector lanes of [`simd`]: the loop in
/// `Vec::extend` is not inlined, and would be the plain one.
#[inline(always)]
pub(super) fn refill<T: Copy + Default>(row: &mut Vec<T>, values: impl ExactSizeIterator<Item = T>) {
    row.resize(values.len(), T::default());
    for (place, value) in row.iter_mut().zip(values) {
        *place = value;
    }
}

/// A number from 0 to 2²³ as the nearest integer, halves to even: between 2²³ and 2²⁴ the low bits of an f32 count whole
/// numbers. Unlike a cast this is the same two instructions in every vector lane.
#[inline(always)]
pub(super) fn round_to_u32(number: f32) -> u32 {
    const WHOLE: f32 = (1_u32 << 23) as f32;
    (number + WHOLE).to_bits() - WHOLE.to_bits()
}
