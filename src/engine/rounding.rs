//! Smooth steps, minima and maxima.
//!
//! The smooth maximum replaces the crease where two heights are equal by a parabola: over differences up to the
//! rounding r it is max(a, b) + r/4·c², with c = max(r − |a − b|, 0)/r (I. Quilez, "Smooth minimum", 2013: the
//! polynomial form).

/// The smoothstep 3t² − 2t³: from 0 at t = 0 to 1 at t = 1, with slope 0 at both ends.
pub(super) fn smoothstep(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

/// The smooth maximum of two heights that differ by less than `rounding`; a rounding of 0 gives the plain maximum.
pub(super) fn smooth_maximum(a: f32, b: f32, rounding: f32) -> f32 {
    if rounding <= 0.0 {
        return a.max(b);
    }
    let closeness = (rounding - (a - b).abs()).max(0.0) / rounding;
    a.max(b) + closeness * closeness * rounding * 0.25
}

/// The smooth minimum of two heights, see [`smooth_maximum`].
pub(super) fn smooth_minimum(a: f32, b: f32, rounding: f32) -> f32 {
    -smooth_maximum(-a, -b, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothstep_has_the_values_of_its_formula() {
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(smoothstep), [0.0, 0.15625, 0.5, 0.84375, 1.0]);
    }

    #[test]
    fn creases_are_rounded_by_the_formula() {
        // Equal heights rise by a quarter of the rounding; half a rounding apart they rise by a quarter of that.
        assert_eq!([0.0, 2.0, 4.0, -9.0].map(|b| smooth_maximum(0.0, b, 4.0)), [1.0, 2.25, 4.0, 0.0]);
        assert_eq!([0.0, -2.0, -4.0, 9.0].map(|b| smooth_minimum(0.0, b, 4.0)), [-1.0, -2.25, -4.0, 0.0]);
    }

    #[test]
    fn without_rounding_the_result_is_the_plain_maximum() {
        assert_eq!((smooth_maximum(1.0, 1.0, 0.0), smooth_maximum(-2.0, 3.0, 0.0)), (1.0, 3.0));
        assert_eq!((smooth_minimum(1.0, 1.0, 0.0), smooth_minimum(-2.0, 3.0, 0.0)), (1.0, -2.0));
    }

    #[test]
    fn infinite_heights_are_not_rounded() {
        assert_eq!(smooth_maximum(7.0, f32::NEG_INFINITY, 100.0), 7.0);
        assert_eq!(smooth_minimum(7.0, f32::INFINITY, 100.0), 7.0);
    }
}
