//! Numeric conversions that `From` does not offer: each method says what happens to a value that does not fit.
//!
//! The compiler's `as` converts, rounds, wraps and saturates with the same word. `Cargo.toml` warns about every `as`
//! that can change a value, so that those that are meant go through these traits.

/// Conversion to floating point. Rounds to the nearest value.
///
/// Counts and indices convert exactly: below 2⁵³ to `f64`, and below 2²⁴ (longer than any side of a grid) to `f32`.
pub trait ToFloat: Copy {
    /// The nearest `f32`; infinite beyond its range.
    fn to_f32(self) -> f32;
    /// The nearest `f64`.
    fn to_f64(self) -> f64;
}

/// Conversion of floating point to integers. Rounds toward zero, saturates at the limits of the type, and turns NaN
/// into 0.
pub trait ToInteger: Copy {
    /// Saturating `u8`.
    fn to_u8(self) -> u8;
    /// Saturating `u16`.
    fn to_u16(self) -> u16;
    /// Saturating `u32`.
    fn to_u32(self) -> u32;
    /// Saturating `u64`.
    fn to_u64(self) -> u64;
    /// Saturating `usize`.
    fn to_usize(self) -> usize;
    /// Saturating `i32`.
    fn to_i32(self) -> i32;
    /// Saturating `i64`.
    fn to_i64(self) -> i64;
    /// Saturating `isize`.
    fn to_isize(self) -> isize;
}

macro_rules! to_float {
    ($($from:ty),*) => {$(
        #[allow(
            clippy::cast_lossless,
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::unnecessary_cast,
            reason = "documented at the trait; not every type has every lint"
        )]
        impl ToFloat for $from {
            #[inline(always)]
            fn to_f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
        }
    )*};
}
to_float!(u32, u64, usize, i32, i64, isize, f64);

macro_rules! to_integer {
    ($($from:ty),*) => {$(
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "documented at the trait")]
        impl ToInteger for $from {
            #[inline(always)]
            fn to_u8(self) -> u8 { self as u8 }
            #[inline(always)]
            fn to_u16(self) -> u16 { self as u16 }
            #[inline(always)]
            fn to_u32(self) -> u32 { self as u32 }
            #[inline(always)]
            fn to_u64(self) -> u64 { self as u64 }
            #[inline(always)]
            fn to_usize(self) -> usize { self as usize }
            #[inline(always)]
            fn to_i32(self) -> i32 { self as i32 }
            #[inline(always)]
            fn to_i64(self) -> i64 { self as i64 }
            #[inline(always)]
            fn to_isize(self) -> isize { self as isize }
        }
    )*};
}
to_integer!(f32, f64);

/// The index of a sample as 32 bits, which index tables keep to halve their memory.
///
/// Grids whose indices need more are refused before anything is computed on them.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the number of samples is checked where a grid is chosen")]
pub fn sample_u32(index: usize) -> u32 {
    debug_assert!(u32::try_from(index).is_ok(), "a grid of more than 2^32 samples");
    index as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_become_the_nearest_integer_toward_zero_within_the_type() {
        assert_eq!([2.9_f64.to_u8(), (-0.9_f64).to_u8(), 300.0_f64.to_u8(), f64::NAN.to_u8()], [2, 0, 255, 0]);
        assert_eq!([(-2.9_f32).to_i32(), f32::INFINITY.to_i32()], [-2, i32::MAX]);
        assert_eq!([(-1.0_f32).to_usize(), 7.99_f32.to_usize()], [0, 7]);
    }

    #[test]
    fn conversion_to_float_rounds_to_nearest() {
        assert_eq!(16_777_217_u32.to_f32(), 16_777_216.0);
        assert_eq!(0.1_f64.to_f32(), 0.1_f32);
        assert_eq!(u64::MAX.to_f64(), 18_446_744_073_709_551_616.0);
    }
}
