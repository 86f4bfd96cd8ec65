//! The linear fade around a band of values.

/// The weight of a value for a band: 1 within, falling linearly to 0 over `release` outside it; a release of 0 is a
/// sharp edge.
#[inline(always)]
pub(crate) fn band_weight(value: f32, [min, max]: [f32; 2], release: f32) -> f32 {
    let (below, above) = (min - value, value - max);
    let outside = if below > above { below } else { above };
    // Branchless, so that the loop vectorizes.
    let fading = if outside < release { 1.0 - outside * (1.0 / release) } else { 0.0 };
    if outside <= 0.0 { 1.0 } else { fading }
}
