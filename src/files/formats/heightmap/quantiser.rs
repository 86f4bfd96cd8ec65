//! Conversion of heights to integers.

use super::layout::Samples;
use crate::engine::cast::ToInteger;
use crate::engine::parameters::Band;

/// Converts heights in metres to integers that span a height range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantiser {
    low_m: f64,
    units_per_m: f64,
    max_value: f64,
}

impl Quantiser {
    pub(super) fn new(samples: Samples, range_m: Band) -> Self {
        let max_value = match samples {
            Samples::Integers { max_value, .. } => f64::from(max_value),
            Samples::Metres { .. } => 0.0,
        };
        let span = range_m.max - range_m.min;
        let units_per_m = if span > 0.0 { max_value / span } else { 0.0 };
        Self { low_m: range_m.min, units_per_m, max_value }
    }

    /// The nearest integer. Truncation would lower the map by half a unit on average.
    pub(super) fn value(&self, height_m: f32) -> u16 {
        ((f64::from(height_m) - self.low_m) * self.units_per_m).round().clamp(0.0, self.max_value).to_u16()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_rounded_to_nearest_and_clamped() {
        let samples = Samples::Integers { max_value: 65_535, bits: 16, byte_order: None };
        let quantiser = Quantiser::new(samples, Band { min: 0.0, max: 65_535.0 });
        let values = [-5.0, 0.4, 0.6, 65_534.6, 70_000.0].map(|height| quantiser.value(height));
        assert_eq!(values, [0, 0, 1, 65_535, 65_535]);
        assert_eq!(Quantiser::new(samples, Band { min: 3.0, max: 3.0 }).value(3.0), 0);
    }
}
