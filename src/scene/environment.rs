//! Light and air: the colours of sun, sky, haze and ground plane for the recipe's light and the window's theme.

use super::scale::{SceneScale, round_length};
use super::shading::ShadingMode;
use crate::engine::cast::ToFloat;
use crate::engine::image::linear_from_srgb;
use crate::engine::light::Light;
use crate::engine::parameters::Colour;
use crate::engine::ramp::{self, Stops};

/// Light, air, water and shading, in the layout of the shaders. Colours are linear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Environment {
    /// The direction towards the sun, and its brightness.
    pub(crate) sun: [f32; 4],
    /// The sun's colour, and its apparent size as a tangent.
    pub(crate) sun_colour: [f32; 4],
    /// The light of the sky, and the darkness of cast shadows.
    pub(crate) ambient: [f32; 4],
    /// The sky at the zenith, and the density of the haze.
    pub(crate) zenith: [f32; 4],
    /// The sky at the horizon, and the strength of its glow around the sun.
    pub(crate) horizon: [f32; 4],
    /// The colour of the ground plane, and the width of its grid squares.
    pub(crate) ground: [f32; 4],
    /// The water level, scene units, if there is water.
    pub(crate) water: Option<f32>,
    pub(crate) shading: ShadingMode,
    /// The colour ramp of the shading, where it shows a number.
    pub(crate) stops: Stops,
    /// Whether the colours already contain the lighting.
    pub(crate) is_lit: bool,
}

/// Colours of the air in a theme, in sRGB. They are muted so that the terrain stands out; the dark theme has a dusky
/// sky.
struct SkyColours {
    zenith: [u8; 3],
    horizon: [u8; 3],
    ground: [u8; 3],
    /// The strength of the glow around the sun.
    glow: f32,
}

const DARK_THEME: SkyColours =
    SkyColours { zenith: [0x1f, 0x29, 0x34], horizon: [0x66, 0x72, 0x7f], ground: [0x31, 0x34, 0x39], glow: 0.5 };
const LIGHT_THEME: SkyColours =
    SkyColours { zenith: [0x88, 0xa6, 0xc3], horizon: [0xcf, 0xd6, 0xdb], ground: [0xb4, 0xb7, 0xba], glow: 0.55 };

/// The tint of skylight, as bright as white.
const SKY_TINT: [f32; 3] = [0.88, 1.0, 1.3];

/// How much brighter the terrain is lit than in the texture view. Occlusion and cast shadows, which that view omits by
/// default, darken it by the same amount, so both views are equally bright.
const EXPOSURE: f32 = 1.1;

fn linear(colour: [u8; 3]) -> [f32; 3] {
    colour.map(linear_from_srgb)
}

fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl Environment {
    /// The environment for a light, seen from a distance in scene units: without water, in the colours of the texture.
    pub(super) fn new(light: &Light, is_dark: bool, scale: &SceneScale, distance: f32) -> Self {
        let air = if is_dark { DARK_THEME } else { LIGHT_THEME };
        let [x, y, z] = light.towards_sun();
        // The light of a low sun is redder because it has passed through more air.
        let red = 1.0 - smoothstep(0.02, 0.5, y);
        let reddened = [1.0, 1.0 - 0.24 * red, 1.0 - 0.46 * red];
        let coloured = |Colour(colour): Colour, tint: [f32; 3]| {
            let colour = linear(colour);
            std::array::from_fn::<f32, 3, _>(|i| colour[i] * tint[i])
        };
        let with = |[red, green, blue]: [f32; 3], w: f32| [red, green, blue, w];
        let ambient = coloured(light.ambient_colour, SKY_TINT).map(|part| part * light.ambient.to_f32() * EXPOSURE);
        let day = smoothstep(-0.05, 0.35, y);
        let dimmed = |colour: [u8; 3]| linear(colour).map(|part| part * (0.55 + 0.45 * day));
        // The distance at which haze hides two thirds: a veil over the far side of the block, and over everything
        // behind the pivot in close-ups.
        let clear = 1.5 + 1.35 * distance;
        Self {
            sun: [x, y, z, light.direct.to_f32() * EXPOSURE],
            sun_colour: with(
                coloured(light.direct_colour, reddened),
                libm::tan(light.sun_size_deg.to_radians()).to_f32(),
            ),
            ambient: with(ambient, light.shadows.to_f32()),
            zenith: with(dimmed(air.zenith), 1.0 / clear),
            horizon: with(dimmed(air.horizon), air.glow),
            ground: with(linear(air.ground), round_length(scale.unit_m() * 0.13) / scale.unit_m()),
            water: None,
            shading: ShadingMode::Texture,
            stops: ramp::NO_STOPS,
            is_lit: false,
        }
    }
}
