//! Formats numbers for messages.

use crate::engine::cast::ToInteger;

/// Decimal places of lengths in metres.
pub(crate) const METRE_PLACES: usize = 4;

/// Decimal places of the heights of a map in messages.
pub(crate) const HEIGHT_PLACES: usize = 2;

/// A number with at most `places` decimal places and without trailing zeros.
pub(crate) fn decimal(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

/// The decimal places of a scale: seven significant digits and at least four places, because it may be multiplied by
/// thousands of samples.
pub(crate) fn scale_places(scale: f64) -> usize {
    let exponent = libm::log10(scale.abs()).floor();
    if exponent.is_finite() { (6.0 - exponent).clamp(4.0, 12.0).to_usize() } else { 4 }
}

/// A scale.
pub(crate) fn scale(scale: f64) -> String {
    decimal(scale, scale_places(scale))
}

/// A small number with two significant digits, and at most four decimal places.
pub(crate) fn significant(number: f64) -> String {
    let exponent = libm::log10(number.abs()).floor();
    let places = if exponent.is_finite() { (1.0 - exponent).clamp(0.0, 4.0).to_usize() } else { 0 };
    decimal(number, places)
}

/// A length in metres.
pub(crate) fn metres(length_m: f64) -> String {
    decimal(length_m, METRE_PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_digits_and_no_trailing_zeros() {
        let numbers = [(146.095_979_246_2, 4), (4096.0, 2), (-12.5, 4), (-0.000_01, 2), (100.0, 0), (0.000_26, 4)];
        let texts = numbers.map(|(number, places)| decimal(number, places));
        assert_eq!(texts, ["146.096", "4096", "-12.5", "0", "100", "0.0003"]);
        let scales = [146.095_979_246_2, 255.0 / 4096.0, 0.000_26, 12_345.678_9, 0.0].map(scale);
        assert_eq!(scales, ["146.096", "0.06225586", "0.00026", "12345.6789", "0"]);
        let small = [0.018_31, 0.000_26, 1.25, 42.0, 0.0].map(significant);
        assert_eq!(small, ["0.018", "0.0003", "1.2", "42", "0"]);
    }
}
