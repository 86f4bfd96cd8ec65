//! Ways without a corner: from one value to another, and to the higher or the lower of two heights with the crease
//! between them rounded, where lands meet and where land runs into a floor or a ceiling.
//!
//! The crease is rounded by a parabola over differences up to the rounding r: max(a, b) + r/4·c², with
//! c = max(r − |a − b|, 0)/r (I. Quilez, "Smooth minimum", 2013: the polynomial form).

/// The smoothstep 3t² − 2t³: from 0 at t = 0 to 1 at t = 1, level at both.
pub(super) fn smoothstep(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

/// The higher of two heights, rounded over differences up to `rounding`; rounding 0 is the plain maximum.
pub(super) fn smooth_maximum(a: f32, b: f32, rounding: f32) -> f32 {
    if rounding <= 0.0 {
        return a.max(b);
    }
    let closeness = (rounding - (a - b).abs()).max(0.0) / rounding;
    a.max(b) + closeness * closeness * rounding * 0.25
}

/// The lower of two heights, rounded likewise.
pub(super) fn smooth_minimum(a: f32, b: f32, rounding: f32) -> f32 {
    -smooth_maximum(-a, -b, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoothstep_by_hand() {
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(smoothstep), [0.0, 0.15625, 0.5, 0.84375, 1.0]);
    }

    #[test]
    fn creases_by_hand() {
        // Level with each other the two are a quarter of the rounding higher, half a rounding apart a quarter of that.
        assert_eq!([0.0, 2.0, 4.0, -9.0].map(|b| smooth_maximum(0.0, b, 4.0)), [1.0, 2.25, 4.0, 0.0]);
        assert_eq!([0.0, -2.0, -4.0, 9.0].map(|b| smooth_minimum(0.0, b, 4.0)), [-1.0, -2.25, -4.0, 0.0]);
    }

    #[test]
    fn no_rounding_is_the_plain_maximum() {
        assert_eq!((smooth_maximum(1.0, 1.0, 0.0), smooth_maximum(-2.0, 3.0, 0.0)), (1.0, 3.0));
        assert_eq!((smooth_minimum(1.0, 1.0, 0.0), smooth_minimum(-2.0, 3.0, 0.0)), (1.0, -2.0));
    }

    #[test]
    fn what_is_endlessly_far_apart_is_not_rounded() {
        assert_eq!(smooth_maximum(7.0, f32::NEG_INFINITY, 100.0), 7.0);
        assert_eq!(smooth_minimum(7.0, f32::INFINITY, 100.0), 7.0);
    }
}
