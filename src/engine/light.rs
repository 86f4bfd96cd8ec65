//! Sun and sky.

use super::parameters::{Colour, Spec, parameters};
use super::surface::{Sun, azimuth_vector};

use crate::cast::ToFloat;

parameters! {
    /// The sun and the sky that light the terrain.
    pub struct Light {
        /// The compass direction of the sun, clockwise from north.
        azimuth_deg: f64 = 315.0, Spec::number("Sun azimuth", -360.0, 360.0).slider(0.0, 360.0).unit("°");
        /// The height of the sun above the horizon. A low sun brings out small relief.
        altitude_deg: f64 = 40.0, Spec::number("Sun altitude", 0.0, 90.0).unit("°");
        /// The brightness of the sun.
        direct: f64 = 0.9, Spec::number("Direct light", 0.0, 10.0).slider(0.0, 2.0);
        /// The colour of the sun.
        direct_colour: Colour = Colour::WHITE, Spec::new("Sun colour");
        /// The brightness of the sky, which also lights the shade.
        ambient: f64 = 0.35, Spec::number("Ambient light", 0.0, 10.0).slider(0.0, 1.0);
        /// The colour of the sky.
        ambient_colour: Colour = Colour::WHITE, Spec::new("Sky colour");
        /// The darkness of cast shadows: 0 is no shadow, 1 leaves only the light of the sky.
        shadows: f64 = 0.8, Spec::number("Cast shadows", 0.0, 1.0);
        /// The angular size of the sun. A larger sun makes softer shadows; the real one measures 0.53°.
        sun_size_deg: f64 = 2.0, Spec::number("Sun size", 0.01, 60.0).slider(0.1, 20.0).unit("°").logarithmic();
        /// Strength of ambient occlusion, which darkens hollows and valleys: 0 is none, 1 is full.
        occlusion: f64 = 0.0, Spec::number("Occlusion", 0.0, 1.0);
        /// Whether exported textures contain the lighting. Without it, game engines light the unlit colours themselves.
        bake: bool = false, Spec::new("Bake into exports");
    }
}

impl Light {
    /// The position and the size of the sun.
    pub fn sun(&self) -> Sun {
        Sun { azimuth_deg: self.azimuth_deg, altitude_deg: self.altitude_deg, size_deg: self.sun_size_deg }
    }

    /// The unit vector towards the sun: x east, y up, z south.
    pub fn towards_sun(&self) -> [f32; 3] {
        let altitude = self.altitude_deg.to_radians();
        let (level, [east, south]) = (libm::cos(altitude), azimuth_vector(self.azimuth_deg));
        [level * east, libm::sin(altitude), level * south].map(|component| component.to_f32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azimuths_are_clockwise_from_north() {
        let sun = |azimuth_deg, altitude_deg| Light { azimuth_deg, altitude_deg, ..Default::default() }.towards_sun();
        let close = |a: [f32; 3], b: [f32; 3]| a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close(sun(0.0, 0.0), [0.0, 0.0, -1.0]));
        assert!(close(sun(90.0, 0.0), [1.0, 0.0, 0.0]));
        assert!(close(sun(180.0, 0.0), [0.0, 0.0, 1.0]));
        assert!(close(sun(77.0, 90.0), [0.0, 1.0, 0.0]));
    }
}
