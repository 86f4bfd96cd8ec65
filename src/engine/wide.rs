//! Loops compiled for the widest vectors that the processor has.

use fearless_simd::{Level, dispatch};

/// Runs `work` with the vector instructions of the processor that it runs on: its loops are compiled for each set of them
/// that the dispatch knows (on x86 SSE4.2 and AVX2, on ARM NEON). What `work` calls takes part where it is inlined.
///
/// Each operation stays what it is, multiplications and additions are not fused: the bytes are the same on every
/// processor.
#[inline(always)]
pub(super) fn wide<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(Level::new(), _vectors => work())
}
