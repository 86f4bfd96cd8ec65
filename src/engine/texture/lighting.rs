//! Lighting of painted colours by the sun and the sky.

use super::row::{Colours, PaintRow};
use super::type_weights::SurfaceRow;
use crate::cast::ToFloat;
use crate::image::linear_from_srgb;
use crate::light::Light;
use crate::parameters::Colour;

/// A light as factors on linear colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lighting {
    /// The unit vector towards the sun: x east, y up, z south.
    sun: [f32; 3],
    direct: [f32; 3],
    ambient: [f32; 3],
    /// The strength of cast shadows and of ambient occlusion, 0 to 1.
    shadows: f32,
    occlusion: f32,
}

impl Lighting {
    pub(super) fn new(light: &Light) -> Self {
        let scaled = |colour: Colour, strength: f64| colour.0.map(|c| linear_from_srgb(c) * strength.to_f32());
        Self {
            sun: light.towards_sun(),
            direct: scaled(light.direct_colour, light.direct),
            ambient: scaled(light.ambient_colour, light.ambient),
            shadows: light.shadows.to_f32(),
            occlusion: light.occlusion.to_f32(),
        }
    }

    /// Lights a row: direct · max(0, n·L) · sunlight + ambient · sky; the settings of the light fade both shares.
    #[inline(always)]
    pub(super) fn apply(&self, row: &PaintRow, [red, green, blue]: &mut Colours) {
        let PaintRow { surface: SurfaceRow { east, south, .. }, sunlight, sky, .. } = row;
        let [x, y, z] = self.sun;
        let surface = east.iter().zip(south).zip(sunlight.iter().zip(sky));
        let channels = red.iter_mut().zip(green).zip(blue);
        for (((red, green), blue), ((east, south), (sunlight, sky))) in channels.zip(surface) {
            let up = 1.0 / (1.0 + east * east + south * south).sqrt();
            let cosine = ((y - east * x - south * z) * up).max(0.0);
            let sun = cosine * (1.0 - self.shadows * (1.0 - sunlight));
            let sky = 1.0 - self.occlusion * (1.0 - sky);
            *red *= self.direct[0] * sun + self.ambient[0] * sky;
            *green *= self.direct[1] * sun + self.ambient[1] * sky;
            *blue *= self.direct[2] * sun + self.ambient[2] * sky;
        }
    }
}
