//! Numeric conversions that `From` does not offer: each method says what happens to a value that does not fit.
//!
//! The compiler's `as` converts, rounds, wraps and saturates with the same word. `lib.rs` warns about every `as`
//! that can change a value, so intended conversions go through these traits.

/// Conversion to floating point. Rounds to the nearest value.
///
/// Counts and indices convert exactly: below 2⁵³ to `f64`, and below 2²⁴ (longer than any side of a grid) to `f32`.
pub trait ToFloat: Copy {
    /// The nearest `f32`; infinite beyond its range.
    fn to_f32(self) -> f32;
    /// The nearest `f64`.
    fn to_f64(self) -> f64;
}

/// Conversion to integers.
///
/// Floating point rounds toward zero and saturates at the limits of the type; NaN becomes 0. An integer must be in the
/// range of the type, which debug builds check: wrapping is never intended.
pub trait ToInteger: Copy {
    /// As `u8`.
    fn to_u8(self) -> u8;
    /// As `u16`.
    fn to_u16(self) -> u16;
    /// As `u32`.
    fn to_u32(self) -> u32;
    /// As `u64`.
    fn to_u64(self) -> u64;
    /// As `usize`.
    fn to_usize(self) -> usize;
    /// As `i32`.
    fn to_i32(self) -> i32;
    /// As `i64`.
    fn to_i64(self) -> i64;
    /// As `isize`.
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
    ($is_checked:literal: $($from:ty),*) => {$(
        #[allow(
            clippy::cast_lossless,
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            clippy::unnecessary_cast,
            reason = "documented at the trait; not every type has every lint"
        )]
        impl ToInteger for $from {
            to_integer!(@methods $from, $is_checked, to_u8 u8, to_u16 u16, to_u32 u32, to_u64 u64, to_usize usize,
                to_i32 i32, to_i64 i64, to_isize isize);
        }
    )*};
    (@methods $from:ty, $is_checked:literal, $($method:ident $to:ty),*) => {$(
        #[inline(always)]
        fn $method(self) -> $to {
            let converted = self as $to;
            debug_assert!(!$is_checked || converted as i128 == self as i128, "{self} does not fit");
            converted
        }
    )*};
}
to_integer!(false: f32, f64);
to_integer!(true: u16, u32, u64, usize, i16, i32, i64, isize);

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
    fn integers_are_unchanged() {
        assert_eq!((70_000_usize.to_u32(), (-3_i64).to_i32(), 255_u32.to_u8()), (70_000, -3, 255));
        #[cfg(debug_assertions)]
        std::panic::catch_unwind(|| 256_u32.to_u8()).expect_err("out of range");
    }

    #[test]
    fn conversion_to_float_rounds_to_nearest() {
        assert_eq!(16_777_217_u32.to_f32(), 16_777_216.0);
        assert_eq!(0.1_f64.to_f32(), 0.1_f32);
        assert_eq!(u64::MAX.to_f64(), 18_446_744_073_709_551_616.0);
    }
}
