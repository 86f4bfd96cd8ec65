//! The cross-sections of faults.

use super::fixed_point::UNITS_PER_M;
use crate::parameters::choices;

choices! {
    /// The cross-section of a fault: the fraction of the displacement as a function of the distance from the line.
    pub enum Profile {
        /// A cliff: one side rises, the other sinks.
        Step = "step", "Step";
        /// A straight slope across the fault zone.
        Ramp = "ramp", "Ramp";
        /// A rounded slope across the fault zone.
        Smooth = "smooth", "Smooth";
        /// A wave within the fault zone: a bank on one side, a ditch on the other.
        Sine = "sine", "Sine";
        /// A wave that fades towards the edges of the fault zone, without creases there.
        RoundedSine = "rounded_sine", "Rounded sine";
        /// A ridge along the line, as wide as the fault zone.
        Cosine = "cosine", "Cosine ridge";
        /// A cliff that decays exponentially.
        Exponential = "exponential", "Cliff, exponential falloff";
        /// A cliff that decays like a bell curve.
        Gaussian = "gaussian", "Cliff, Gaussian falloff";
        /// A cliff that decays linearly and ends at the edge of the fault zone.
        Linear = "linear", "Cliff, linear falloff";
        /// A cliff that decays smoothly and ends at the edge of the fault zone.
        Biweight = "biweight", "Cliff, biweight falloff";
    }
}

impl Profile {
    /// The keys of the profiles with a vertical offset between their sides: one side rises by the displacement, the
    /// other sinks by it.
    pub(crate) const TWO_SIDED: &'static [&'static str] =
        &["step", "ramp", "smooth", "exponential", "gaussian", "linear", "biweight"];

    /// The keys of the profiles that depend on the width of the fault zone.
    pub(crate) const WITH_ZONE: &'static [&'static str] =
        &["ramp", "smooth", "sine", "rounded_sine", "cosine", "exponential", "gaussian", "linear", "biweight"];

    /// Whether the profile depends on the width of the fault zone.
    pub fn has_zone(self) -> bool {
        self != Self::Step
    }

    /// The weight w(dist) of the displacement at a signed distance from the line, in metres. A point on the line is on
    /// the upper side.
    ///
    /// Step: Krten, "Fractal Terrain Generation", Dr. Dobb's Journal, July 1994; sine and cosine: Lighthouse3D,
    /// "Terrain Tutorial: Fault Algorithm"; the decaying profiles follow Krten's remark that an earthquake in one city
    /// does not move a place a thousand kilometres away.
    #[inline(always)]
    pub fn weight(self, dist_m: f64, zone_m: f64) -> f64 {
        if zone_m > 0.0 {
            self.weight_in_zone(dist_m, zone_m)
        } else if dist_m >= 0.0 {
            self.far_weight()
        } else {
            -self.far_weight()
        }
    }

    /// [`Self::weight`] for a positive width of the fault zone.
    #[inline(always)]
    pub(super) fn weight_in_zone(self, dist_m: f64, zone_m: f64) -> f64 {
        let side = if dist_m >= 0.0 { 1.0 } else { -1.0 };
        let t = (dist_m / zone_m).abs();
        match self {
            Self::Step => side,
            Self::Ramp => side * t.min(1.0),
            // 2·S(t/2 + ½) − 1 with the smoothstep S(u) = 3u² − 2u³ is (3t − t³)/2.
            Self::Smooth => {
                let t = t.min(1.0);
                side * 0.5 * t * (3.0 - t * t)
            }
            // sin π·t = sin π·(1 − t), which is also 0 beyond the edge of the zone.
            Self::Sine => {
                let t = t.min(1.0);
                side * sin_pi(t.min(1.0 - t))
            }
            // The sine times (1 + cos π·t)/2, over its maximum, which is 3·√3/8 at t = ⅓.
            Self::RoundedSine => {
                const PER_MAXIMUM: f64 = 8.0 / (3.0 * 1.732_050_807_568_877_2);
                let t = t.min(1.0);
                side * PER_MAXIMUM * sin_pi(t.min(1.0 - t)) * (0.5 * (1.0 + sin_pi(0.5 - t)))
            }
            // Computed before the selection: a branch would prevent vectorization.
            Self::Cosine => {
                let ridge = 0.5 * (1.0 + sin_pi(0.5 - t.min(1.0)));
                if t < 1.0 { ridge } else { 0.0 }
            }
            Self::Exponential => side * libm::exp(-t),
            Self::Gaussian => side * libm::exp(-0.5 * t * t),
            Self::Linear => side * (1.0 - t).max(0.0),
            Self::Biweight => {
                let rest = (1.0 - t * t).max(0.0);
                side * rest * rest
            }
        }
    }

    /// Whether the profile leaves a ridge or banks alone, without an offset between places far from the line.
    pub fn fades(self) -> bool {
        self.far_weight() == 0.0
    }

    /// |w| far from the line.
    pub(crate) fn far_weight(self) -> f64 {
        match self {
            Self::Step | Self::Ramp | Self::Smooth => 1.0,
            Self::Sine
            | Self::RoundedSine
            | Self::Cosine
            | Self::Exponential
            | Self::Gaussian
            | Self::Linear
            | Self::Biweight => 0.0,
        }
    }

    /// The distance in metres beyond which displacement · w, in fixed-point units, is ±displacement ·
    /// [`Self::far_weight`].
    pub(crate) fn reach_m(self, displacement_m: f64, zone_m: f64) -> f64 {
        if zone_m <= 0.0 {
            return 0.0;
        }
        // |d|·w rounds to 0 where w < 1/(2·|d| in units). One more unit to be safe.
        let vanishing = libm::log(2.0 * displacement_m.abs() * UNITS_PER_M + 2.0);
        match self {
            Self::Step => 0.0,
            Self::Ramp
            | Self::Smooth
            | Self::Sine
            | Self::RoundedSine
            | Self::Cosine
            | Self::Linear
            | Self::Biweight => zone_m,
            Self::Exponential => zone_m * vanishing,
            Self::Gaussian => zone_m * (2.0 * vanishing).sqrt(),
        }
    }
}

/// sin(π·t) for |t| ≤ ½ to within 1e−13, bit-identical on every machine. The error of the Taylor series to x¹⁷ is below
/// (π/2)¹⁹/19! = 5e−14.
#[inline(always)]
fn sin_pi(t: f64) -> f64 {
    let x = std::f64::consts::PI * t;
    let q = x * x;
    // Unrolled, because an inner loop would prevent vectorization of the outer one.
    let mut series = 1.0 / 355_687_428_096_000.0;
    series = series * q - 1.0 / 1_307_674_368_000.0;
    series = series * q + 1.0 / 6_227_020_800.0;
    series = series * q - 1.0 / 39_916_800.0;
    series = series * q + 1.0 / 362_880.0;
    series = series * q - 1.0 / 5_040.0;
    series = series * q + 1.0 / 120.0;
    series = series * q - 1.0 / 6.0;
    x + x * q * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_profiles_are_complete() {
        for profile in Profile::ALL {
            assert_eq!(Profile::WITH_ZONE.contains(&profile.key()), profile.has_zone(), "{}", profile.key());
            let has_sides = profile.weight(1.0, 80.0) > 0.0 && profile.weight(-1.0, 80.0) < 0.0;
            let is_wave = matches!(profile, Profile::Sine | Profile::RoundedSine);
            assert_eq!(Profile::TWO_SIDED.contains(&profile.key()), has_sides && !is_wave, "{}", profile.key());
        }
    }

    #[test]
    fn profiles_match_their_formulas() {
        let pi = std::f64::consts::PI;
        for profile in Profile::ALL {
            for i in -40..=40 {
                let dist: f64 = f64::from(i) * 5.0;
                let t = dist.abs() / 80.0;
                let side = if dist >= 0.0 { 1.0 } else { -1.0 };
                let inside = f64::from(u8::from(t < 1.0));
                let expected = match profile {
                    Profile::Step => side,
                    Profile::Ramp => (dist / 80.0).clamp(-1.0, 1.0),
                    Profile::Smooth => {
                        let u = (dist / 160.0 + 0.5).clamp(0.0, 1.0);
                        2.0 * (3.0 * u * u - 2.0 * u * u * u) - 1.0
                    }
                    Profile::Sine => libm::sin(pi * dist / 80.0) * inside,
                    Profile::RoundedSine => {
                        let wave = libm::sin(pi * dist / 80.0) + 0.5 * libm::sin(2.0 * pi * dist / 80.0);
                        wave * 4.0 / (3.0 * 3.0_f64.sqrt()) * inside
                    }
                    Profile::Cosine => 0.5 * (1.0 + libm::cos(pi * dist / 80.0)) * inside,
                    Profile::Exponential => side * libm::exp(-t),
                    Profile::Gaussian => side * libm::exp(-t * t / 2.0),
                    Profile::Linear => side * (1.0 - t) * inside,
                    Profile::Biweight => side * (1.0 - t * t) * (1.0 - t * t) * inside,
                };
                let found = profile.weight(dist, 80.0);
                assert!((found - expected).abs() < 1e-12, "{} at {dist}: {found}, not {expected}", profile.key());
            }
        }
    }
}
