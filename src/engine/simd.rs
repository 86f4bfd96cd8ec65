//! Loops compiled for the widest vector instructions of the processor.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::{Level, Simd as _};

/// Runs `work` compiled for AVX2 if the processor has it, and otherwise for the baseline of the target, which includes
/// NEON on ARM. Functions that `work` calls are included if they are inlined.
///
/// Results do not depend on the instruction set: multiplications and additions are not fused, and their order stays the
/// same.
#[inline(always)]
pub(super) fn simd<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Level::Avx2(avx2) = Level::new() {
        return avx2.vectorize(work);
    }
    work()
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
