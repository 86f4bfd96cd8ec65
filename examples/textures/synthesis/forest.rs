//! Forest floor: moss and humus under needles, leaves and twigs.

use upthrust::engine::random::{Rng, Stream};

use super::noise::{Noise, Place, smooth};
use super::objects::{Blade, Leaf, Stroke, any_angle, anywhere, between, bits, unit};
use super::surface::{Colour, Shading, Surface, blend, ramp, scaled, srgb};
use super::{Material, SEED};

/// Humus with fallen leaves.
pub const FOREST_FLOOR: Material = Material {
    name: "forest-floor",
    metres: 2.0,
    surface: forest_floor,
    shading: Shading {
        slopes: 0.5,
        hollows: &[(0.003, 0.3), (0.01, 0.5), (0.03, 0.35)],
        evenness: 0.75,
        luminance: 0.1,
    },
};

const NOISE: Noise = Noise::new(300);
const LEAVES: [u32; 7] = [0x553c29, 0x67482d, 0x765638, 0x836444, 0x927654, 0x735f4a, 0x5e4c3c];
const NEEDLES: [u32; 4] = [0x5a3d28, 0x7a5534, 0x8f6b45, 0x4a3626];
const MOSS: [u32; 4] = [0x35391d, 0x454a25, 0x575c30, 0x6c6e40];

fn forest_floor(pixels: usize) -> Surface {
    let humus = [0x241a12, 0x3b2b1d, 0x4e3a27].map(srgb);
    let mut surface = Surface::new(pixels, |place| {
        let crumbs = NOISE.octaves(place, [30, 30], 6, 0.75);
        (0.005 * crumbs + 0.012 * moss(place), ramp(&humus, 0.45 + 0.35 * crumbs))
    });
    let stream = Stream::new(SEED, 3);
    surface.scatter(&needles(&mut stream.at(1), 9_000, -0.004, 0.008));
    surface.scatter(&leaves(&mut stream.at(2), 2_600, [0.008, 0.02], [-0.006, 0.007]));
    surface.scatter(&tufts_of_moss(&mut stream.at(3)));
    surface.scatter(&needles(&mut stream.at(4), 5_000, 0.004, 0.012));
    surface.scatter(&twigs(&mut stream.at(5)));
    surface.scatter(&leaves(&mut stream.at(6), 330, [0.012, 0.023], [0.004, 0.013]));
    surface
}

/// The share of moss at a position, 0 to 1.
fn moss(place: Place) -> f32 {
    let place = NOISE.warped(place, [8, 8], 3, 0.02);
    smooth(0.2, 0.62, Noise::new(301).octaves(place, [5, 5], 4, 0.55))
}

fn needles(rng: &mut Rng, count: usize, low: f32, high: f32) -> Vec<Stroke> {
    let colours = NEEDLES.map(srgb);
    let mut strokes = Vec::new();
    for _ in 0..count {
        let colour = scaled(ramp(&colours, unit(rng)), between(rng, 0.7, 1.3));
        let height = between(rng, low, high);
        Blade {
            root: anywhere(rng),
            angle: any_angle(rng),
            bend: between(rng, -0.35, 0.35),
            length: between(rng, 0.018, 0.04),
            radius: between(rng, 0.000_55, 0.000_95),
            heights: [height, height + 0.001, height + between(rng, -0.002, 0.002)],
            colours: [scaled(colour, 0.8), colour, colour],
            fold: 0.06,
            tip: 0.4,
        }
        .draw(&mut strokes);
    }
    strokes
}

fn leaves(rng: &mut Rng, count: usize, half_length: [f32; 2], heights: [f32; 2]) -> Vec<Leaf> {
    let colours = LEAVES.map(srgb);
    (0..count)
        .map(|_| {
            let angle = any_angle(rng);
            let length = between(rng, half_length[0], half_length[1]);
            let wide = between(rng, 0.42, 0.72) * length;
            let shade = ramp(&colours, unit(rng));
            Leaf {
                middle: anywhere(rng),
                direction: [libm::cosf(angle), libm::sinf(angle)],
                half: [length, wide],
                height: between(rng, heights[0], heights[1]),
                curl: between(rng, -0.25, 0.4) * wide,
                tilt: between(rng, -0.22, 0.22) * length,
                colour: scaled(shade, between(rng, 0.5, 1.15)),
                veins: between(rng, -0.22, 0.3),
                teeth: if rng.chance(0.4) { 0.16 } else { 0.0 },
                bits: bits(rng),
            }
        })
        .collect()
}

/// Short, dense shoots.
fn tufts_of_moss(rng: &mut Rng) -> Vec<Stroke> {
    let colours = MOSS.map(srgb);
    let mut strokes = Vec::new();
    for _ in 0..70_000 {
        let root = anywhere(rng);
        let (chance, angle, tint) = (unit(rng), any_angle(rng), unit(rng));
        let (length, rise, bright) = (between(rng, 0.004, 0.009), unit(rng), between(rng, 0.75, 1.2));
        let cover = moss(root);
        if chance > 1.3 * cover {
            continue;
        }
        let cushion = Noise::new(302).octaves(root, [36, 36], 2, 0.5);
        let height = 0.012 * cover + 0.003 * cushion + 0.003 * rise;
        let colour = scaled(ramp(&colours, 0.15 + 0.3 * rise + 0.4 * tint + 0.15 * cushion), bright);
        let end = [root[0] + length * libm::cosf(angle), root[1] + length * libm::sinf(angle)];
        strokes.push(Stroke {
            ends: [root, end],
            radii: [0.0011, 0.0006],
            heights: [height - 0.002, height + 0.001],
            colours: [scaled(colour, 0.7), scaled(colour, 1.15)],
            fold: 0.0,
        });
    }
    strokes
}

/// Crooked twigs, some with a branch.
fn twigs(rng: &mut Rng) -> Vec<Stroke> {
    let bark: [Colour; 4] = [0x372c24, 0x4a3d33, 0x5d5145, 0x6b6054].map(srgb);
    let mut strokes = Vec::new();
    for _ in 0..150 {
        let mut place = anywhere(rng);
        let mut angle = any_angle(rng);
        let colour = scaled(ramp(&bark, unit(rng)), between(rng, 0.8, 1.15));
        let pieces = 3 + (6.0 * unit(rng)) as usize;
        let thick = between(rng, 0.001, 0.0026);
        let height = between(rng, 0.006, 0.013);
        for piece in 0..pieces {
            let left = 1.0 - 0.6 * piece as f32 / pieces as f32;
            let step = between(rng, 0.009, 0.02);
            let end = [place[0] + step * libm::cosf(angle), place[1] + step * libm::sinf(angle)];
            let shade = scaled(colour, between(rng, 0.85, 1.15));
            strokes.push(Stroke {
                ends: [place, end],
                radii: [thick * left, 0.93 * thick * left],
                heights: [height; 2],
                colours: [shade, blend(shade, colour, 0.5)],
                fold: 0.1,
            });
            if rng.chance(0.25) {
                let aside = angle + if rng.chance(0.5) { 0.9 } else { -0.9 };
                let reach = between(rng, 0.008, 0.02);
                strokes.push(Stroke {
                    ends: [end, [end[0] + reach * libm::cosf(aside), end[1] + reach * libm::sinf(aside)]],
                    radii: [0.6 * thick * left, 0.35 * thick * left],
                    heights: [height, height - 0.002],
                    colours: [shade, scaled(shade, 0.9)],
                    fold: 0.1,
                });
            }
            place = end;
            angle += between(rng, -0.45, 0.45);
        }
    }
    strokes
}
