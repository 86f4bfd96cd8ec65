//! Compass directions and angles.

/// The unit vector of a compass direction in degrees, clockwise from north: east, south.
pub(crate) fn azimuth_vector(azimuth_deg: f64) -> [f64; 2] {
    let azimuth = azimuth_deg.to_radians();
    [libm::sin(azimuth), -libm::cos(azimuth)]
}

/// The arc tangent of a number that is not negative, in radians, to 10⁻⁵: M. Abramowitz and I. Stegun, "Handbook of
/// Mathematical Functions", 1964, 4.4.47. Branchless, so that loops vectorize.
pub(super) fn fast_atan(tangent: f32) -> f32 {
    let inverted = tangent > 1.0;
    let x = if inverted { 1.0 / tangent } else { tangent };
    let square = x * x;
    let series = (((0.020_835_1 * square - 0.085_133) * square + 0.180_141) * square - 0.330_299_5) * square;
    let small = x * (series + 0.999_866);
    if inverted { std::f32::consts::FRAC_PI_2 - small } else { small }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_arc_tangent_equals_the_exact_one() {
        for i in 0..40_000_u16 {
            let tangent = libm::expf(f32::from(i) * 1e-3 - 20.0);
            assert!((fast_atan(tangent) - libm::atanf(tangent)).abs() < 1.2e-5, "{tangent}");
        }
        assert_eq!(fast_atan(0.0), 0.0);
        assert_eq!(fast_atan(f32::INFINITY), std::f32::consts::FRAC_PI_2);
    }
}
