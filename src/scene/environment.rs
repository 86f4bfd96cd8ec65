//! Light and air: what colours the sky, the haze and the table have under the recipe's sun, in the window's theme.

use super::camera::{SceneScale, round_length};
use super::gpu::Environment;
use crate::engine::image::linear_from_srgb;
use crate::engine::light::Light;
use crate::engine::parameters::Colour;
use crate::engine::ramp;

/// Colours of the air in a theme, in sRGB as the screen shows them. The land is to be the only colourful thing: the air
/// is quiet, and a dark window has a dusky one.
struct Air {
    zenith: [u8; 3],
    horizon: [u8; 3],
    table: [u8; 3],
    /// How much the sun glows through it.
    glow: f32,
}

const DUSK: Air = Air { zenith: [0x1f, 0x29, 0x34], horizon: [0x66, 0x72, 0x7f], table: [0x31, 0x34, 0x39], glow: 0.5 };
const DAY: Air = Air { zenith: [0x88, 0xa6, 0xc3], horizon: [0xcf, 0xd6, 0xdb], table: [0xb4, 0xb7, 0xba], glow: 0.55 };

/// The colour of the sky's light, as bright as white is.
const SKY: [f32; 3] = [0.88, 1.0, 1.3];

/// How much brighter than on the texture's pane the land is lit: what it sees of the sky and of itself, which the pane
/// leaves out unless it is asked for it, takes as much away again, so that both show the land as bright.
const EXPOSURE: f32 = 1.1;

fn linear(colour: [u8; 3]) -> [f32; 3] {
    colour.map(linear_from_srgb)
}

fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The mood of a land under that light, seen from that distance.
pub(crate) fn environment(light: &Light, is_dark: bool, measure: &SceneScale, distance: f32) -> Environment {
    let air = if is_dark { DUSK } else { DAY };
    let [x, y, z] = light.towards_sun();
    // A low sun is redder: its light has come through more air.
    let red = 1.0 - smooth(0.02, 0.5, y);
    let reddened = [1.0, 1.0 - 0.24 * red, 1.0 - 0.46 * red];
    let coloured = |Colour(colour): Colour, tint: [f32; 3]| {
        let colour = linear(colour);
        std::array::from_fn::<f32, 3, _>(|i| colour[i] * tint[i])
    };
    let with = |[red, green, blue]: [f32; 3], w: f32| [red, green, blue, w];
    let ambient = coloured(light.ambient_colour, SKY).map(|part| part * light.ambient as f32 * EXPOSURE);
    let day = smooth(-0.05, 0.35, y);
    let dimmed = |colour: [u8; 3]| linear(colour).map(|part| part * (0.55 + 0.45 * day));
    // Haze that hides two thirds of what lies so far away: a veil over the far side of the block, and over all that lies
    // behind a place that is looked at from close by.
    let clear = 1.5 + 1.35 * distance;
    Environment {
        sun: [x, y, z, light.direct as f32 * EXPOSURE],
        sun_colour: with(coloured(light.direct_colour, reddened), libm::tan(light.sun_size_deg.to_radians()) as f32),
        ambient: with(ambient, light.shadows as f32),
        zenith: with(dimmed(air.zenith), 1.0 / clear),
        horizon: with(dimmed(air.horizon), air.glow),
        table: with(linear(air.table), round_length(measure.unit_m() * 0.13) / measure.unit_m()),
        water: None,
        shading: 0,
        stops: ramp::NO_STOPS,
        is_lit: false,
    }
}
