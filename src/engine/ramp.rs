//! Colour ramps, shared by the maps, the shading modes of the 3-D view and their legends.

use super::image::{linear_from_srgb, srgb_from_linear};

/// The maximum number of stops of a ramp; scene/common.wgsl has the same.
pub const MAX_STOPS: usize = 8;

/// Stops in linear light: red, green, blue and the value at which the ramp has that colour.
pub type Stops = [[f32; 4]; MAX_STOPS];

/// The stops of a shading mode without a ramp.
pub const NO_STOPS: Stops = [[0.0; 4]; MAX_STOPS];

/// A ramp of colours over values, interpolated in linear light.
#[derive(Debug, PartialEq)]
pub struct Ramp {
    /// Ascending values with their colours in sRGB.
    stops: &'static [(f32, [u8; 3])],
}

/// From green lowlands to white summits, over the height as a fraction of the terrain's range.
pub static ELEVATION: Ramp = Ramp {
    stops: &[
        (0.0, [0x4f, 0x77, 0x62]),
        (0.2, [0x86, 0x98, 0x6c]),
        (0.38, [0xaf, 0xaf, 0x7e]),
        (0.55, [0xb0, 0x93, 0x72]),
        (0.75, [0xb9, 0xa4, 0x95]),
        (1.0, [0xf2, 0xf1, 0xef]),
    ],
};

/// From green for walkable slopes over amber to red at 45°, over the slope in degrees.
pub static SLOPE: Ramp = Ramp {
    stops: &[
        (0.0, [0x5c, 0x8d, 0x70]),
        (12.0, [0x6d, 0x99, 0x68]),
        (28.0, [0xde, 0xae, 0x55]),
        (45.0, [0xb5, 0x3e, 0x36]),
    ],
};

impl Ramp {
    /// The first and the last value.
    pub fn ends(&self) -> [f32; 2] {
        [self.stops.first(), self.stops.last()].map(|stop| stop.map_or(0.0, |(at, _)| *at))
    }

    /// The stops in the form that the shaders take: the last stop is repeated.
    pub fn stops(&self) -> Stops {
        std::array::from_fn(|i| {
            let stop = self.stops.get(i).or(self.stops.last());
            stop.map_or([0.0; 4], |(at, colour)| {
                let [red, green, blue] = colour.map(linear_from_srgb);
                [red, green, blue, *at]
            })
        })
    }

    /// The colour at a value, in sRGB, computed like `ramp_at` in scene/terrain.wgsl.
    pub fn colour(&self, value: f32) -> [u8; 3] {
        let stops = self.stops();
        let mut colour = [stops[0][0], stops[0][1], stops[0][2]];
        for pair in stops.windows(2) {
            let share = ((value - pair[0][3]) / (pair[1][3] - pair[0][3]).max(1e-6)).clamp(0.0, 1.0);
            colour = std::array::from_fn(|i| colour[i] + (pair[1][i] - colour[i]) * share);
        }
        colour.map(srgb_from_linear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_meet_their_stops_and_are_constant_beyond_their_ends() {
        for ramp in [&ELEVATION, &SLOPE] {
            assert!(ramp.stops.len() <= MAX_STOPS && ramp.stops.is_sorted_by(|a, b| a.0 < b.0));
            for (at, colour) in ramp.stops {
                assert_eq!(ramp.colour(*at), *colour, "at {at}");
            }
            let [low, high] = ramp.ends();
            assert_eq!([ramp.colour(low - 9.0), ramp.colour(high + 9.0)], [ramp.colour(low), ramp.colour(high)]);
        }
        // Halfway in linear light between (5c, 8d, 70) and (6d, 99, 68).
        assert_eq!(SLOPE.colour(6.0), [0x65, 0x93, 0x6c]);
    }
}
