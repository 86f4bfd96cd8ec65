//! Rippled sand and cracked mud.

use std::f32::consts::{PI, TAU};

use super::Material;
use super::cells::Cells;
use super::noise::{Noise, Place, hash, mix, shifted, signed_pair, smooth, unit_pair};
use super::surface::{Shading, Surface, blend, ramp, scaled, srgb};

/// Sand with wind ripples.
pub const SAND: Material = Material {
    name: "sand",
    metres: 2.5,
    surface: sand,
    shading: Shading { slopes: 0.55, hollows: &[(0.006, 0.3), (0.02, 0.4)], evenness: 0.8, luminance: 0.36 },
};
/// Dried mud.
pub const MUD: Material = Material {
    name: "mud",
    metres: 2.0,
    surface: mud,
    shading: Shading {
        slopes: 0.5,
        hollows: &[(0.003, 0.4), (0.01, 0.5), (0.03, 0.2)],
        evenness: 0.8,
        luminance: 0.19,
    },
};

/// The height of the ripples, 0 to 1: gentle to windward, steep in the lee.
///
/// Two waves of different length alternate over the tile. Where they cancel, crests fork or end, as in real sand.
fn ripples([x, y]: Place) -> f32 {
    const CREST: f32 = 0.68;
    let bent = 0.5 * Noise::new(805).octaves([x, y], [3, 4], 3, 0.5);
    let wavy = 0.11 * Noise::new(806).octaves([x, y], [7, 9], 3, 0.55);
    let share = smooth(-0.35, 0.35, Noise::new(807).octaves([x, y], [3, 2], 2, 0.4));
    let (long_sin, long_cos) = libm::sincosf(TAU * (18.0 * y + x + bent + wavy));
    let (short_sin, short_cos) = libm::sincosf(TAU * (21.0 * y + bent + wavy));
    let (real, imaginary) = (mix(long_cos, short_cos, share), mix(long_sin, short_sin, share));
    let strength = (real * real + imaginary * imaginary).sqrt();
    let along = 0.5 + libm::atan2f(imaginary, real) / TAU;
    let rise = if along < CREST { along / CREST } else { (1.0 - along) / (1.0 - CREST) };
    let uneven = 0.85 + 0.2 * Noise::new(808).octaves([x, y], [6, 8], 3, 0.6);
    (0.5 - 0.5 * libm::cosf(PI * rise)) * smooth(-0.1, 0.45, strength) * uneven
}

fn sand(pixels: usize) -> Surface {
    let colours = [0x8f7a5c, 0xb09873, 0xc6b08b, 0xd6c4a2].map(srgb);
    let scattered = Cells::new(804, [420, 420], 1.0);
    Surface::new(pixels, |place| {
        let ripple = ripples(place);
        let low = Noise::new(801).octaves(place, [4, 4], 4, 0.55);
        let fine = Noise::new(802).octaves(place, [60, 60], 4, 0.8);
        let grains = Noise::new(803).octaves(place, [330, 330], 2, 1.0);
        // Heavier, darker grains collect in the troughs; single grains are dark or bright.
        let mut colour = ramp(&colours, 0.36 + 0.33 * ripple + 0.08 * low + 0.05 * fine + 0.1 * grains);
        let grain = scattered.nearest(place);
        let [kind, size] = unit_pair(grain.point.bits);
        if grain.first < 0.2 + 0.3 * size {
            let by = if kind < 0.12 {
                0.7
            } else if kind > 0.93 {
                1.22
            } else {
                1.0
            };
            colour = scaled(colour, by);
        }
        (0.0085 * ripple + 0.004 * low + 0.0006 * fine + 0.0003 * grains, colour)
    })
}

fn mud(pixels: usize) -> Surface {
    let colours = [0x63543f, 0x7a6951, 0x8d7b61, 0xa39178].map(srgb);
    let deep = srgb(0x2b231a);
    let plates_of = Cells::new(911, [9, 9], 1.0);
    let pieces_of = Cells::new(902, [20, 20], 1.0);
    let flakes_of = Cells::new(907, [48, 48], 1.0);
    Surface::new(pixels, |place| {
        // Keeps cracks off the border of the tile.
        let place = shifted(place, 0.953);
        let bent = Noise::new(900).warped(place, [7, 7], 6, 0.02);
        let plates = plates_of.nearest(bent);
        let pieces = pieces_of.nearest(bent);
        let width = (0.45 + 0.6 * Noise::new(903).octaves(place, [9, 9], 3, 0.6)).clamp(0.0, 1.2);
        let [tint, broken] = unit_pair(plates.point.bits);
        let (border, inner) = (plates.border / 9.0, pieces.border / 20.0);
        let crack = smooth(0.004 * width * width, 0.003 + 0.006 * width, border);
        // Some plates have finer cracks.
        let again = smooth(0.35, 0.6, broken) * smooth(-0.3, 0.5, Noise::new(904).at(place, [11, 11]));
        let fine_crack = mix(1.0, smooth(0.0004, 0.0028, inner), again);
        let rim = 1.0 - smooth(0.004, 0.022, border);
        let [tilt_x, tilt_y] = signed_pair(hash(plates.point.bits, 1, 2));
        let [x, y] = plates.point.way;
        let plate = 0.5 * (tilt_x * x + tilt_y * y);
        let skin = Noise::new(905).octaves(place, [28, 28], 5, 0.6);
        let grain = Noise::new(906).octaves(place, [200, 200], 3, 0.9);
        let flakes = flakes_of.nearest(bent);
        let flake = unit_pair(flakes.point.bits)[0] * smooth(0.0, 0.2, flakes.border);
        let relief = 0.016 * crack
            + 0.006 * fine_crack
            + 0.003 * rim * crack
            + 0.004 * plate
            + 0.0022 * skin
            + 0.0012 * flake
            + 0.0004 * grain;
        let shade = 0.4 + 0.3 * (tint - 0.5) + 0.1 * rim + 0.16 * skin + 0.09 * grain + 0.1 * (flake - 0.3);
        let colour = ramp(&colours, shade);
        (relief, blend(deep, colour, (0.1 + 0.9 * crack) * (0.35 + 0.65 * fine_crack)))
    })
}
