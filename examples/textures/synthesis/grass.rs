//! Meadows: tufts of blades with soil and dead straw between them.

use upthrust::engine::random::{Rng, Stream};

use super::cells::Cells;
use super::noise::{Noise, Place, smooth};
use super::objects::{Blade, Leaf, Stroke, any_angle, anywhere, between, bits, unit};
use super::surface::{Colour, Shading, Surface, blend, ramp, scaled, srgb};
use super::{Material, SEED};

/// A green meadow, seen from above.
pub const GRASS: Material = Material { name: "grass", metres: 2.0, surface: grass, shading: MEADOW };
/// A dry meadow in late summer.
pub const DRY_GRASS: Material =
    Material { name: "dry-grass", metres: 2.0, surface: dry_grass, shading: Shading { luminance: 0.24, ..MEADOW } };

const MEADOW: Shading =
    Shading { slopes: 0.45, hollows: &[(0.004, 0.3), (0.012, 0.55), (0.035, 0.35)], evenness: 0.7, luminance: 0.135 };

/// The parameters of a meadow.
struct Meadow {
    seed: u32,
    blades: usize,
    straw: usize,
    length: [f32; 2],
    radius: [f32; 2],
    height: f32,
    /// The deviation of blades from the direction of their tuft, in radians.
    stray: f32,
    bend: f32,
    /// From the lushest patch to the poorest.
    colours: &'static [u32],
    straws: &'static [u32],
    soil: [u32; 2],
    /// The share of the area with few blades.
    bare: f32,
    herbs: usize,
}

fn grass(pixels: usize) -> Surface {
    Meadow {
        seed: 1,
        blades: 30_000,
        straw: 7_000,
        length: [0.035, 0.085],
        radius: [0.0011, 0.0024],
        height: 0.03,
        stray: 0.75,
        bend: 1.1,
        colours: &[0x465c2c, 0x536833, 0x637339, 0x747c42, 0x8b8a50],
        straws: &[0x9c8f5e, 0x8a7a4c, 0x6d5f3c, 0xb0a678],
        soil: [0x3a2f22, 0x56482f],
        bare: 0.05,
        herbs: 420,
    }
    .surface(pixels)
}

fn dry_grass(pixels: usize) -> Surface {
    Meadow {
        seed: 2,
        blades: 21_000,
        straw: 12_000,
        length: [0.045, 0.115],
        radius: [0.0008, 0.0017],
        height: 0.028,
        stray: 0.9,
        bend: 1.5,
        colours: &[0x8c8550, 0xa3935a, 0xb5a066, 0xc2ad78, 0xa98d5c],
        straws: &[0xb09a68, 0x97845a, 0x7a6848, 0xcdbd92],
        soil: [0x57452f, 0x80694a],
        bare: 0.3,
        herbs: 0,
    }
    .surface(pixels)
}

impl Meadow {
    fn surface(&self, pixels: usize) -> Surface {
        let noise = Noise::new(100 * self.seed);
        let soil = self.soil.map(srgb);
        let mut surface = Surface::new(pixels, |place| {
            let crumbs = noise.octaves(place, [40, 40], 5, 0.7);
            (0.003 * crumbs, blend(soil[0], soil[1], 0.5 + 0.4 * crumbs))
        });
        let stream = Stream::new(SEED, self.seed);
        surface.scatter(&self.straw(&mut stream.at(1)));
        surface.scatter(&self.blades(&mut stream.at(2)));
        surface.scatter(&self.herbs(&mut stream.at(3)));
        surface
    }

    /// Dead blades on the soil in all directions.
    fn straw(&self, rng: &mut Rng) -> Vec<Stroke> {
        let mut strokes = Vec::new();
        for _ in 0..self.straw {
            let colour = self.pick(rng, self.straws);
            let low = between(rng, 0.0, 0.12) * self.height;
            Blade {
                root: anywhere(rng),
                angle: any_angle(rng),
                bend: between(rng, -0.9, 0.9),
                length: between(rng, 0.5, 1.1) * self.length[1],
                radius: between(rng, 0.5, 0.9) * self.radius[0],
                heights: [low, low + 0.001, low],
                colours: [scaled(colour, 0.8), colour, colour],
                fold: 0.05,
                tip: 0.5,
            }
            .draw(&mut strokes);
        }
        strokes
    }

    fn blades(&self, rng: &mut Rng) -> Vec<Stroke> {
        let noise = Noise::new(100 * self.seed + 7);
        let tufts = Cells::new(100 * self.seed + 3, [24, 24], 1.0);
        let mut strokes = Vec::new();
        for _ in 0..self.blades {
            let root = anywhere(rng);
            let keep = unit(rng);
            let growth = 0.5 + 0.5 * noise.octaves(root, [9, 9], 3, 0.6);
            if keep > 0.12 + smooth(self.bare, self.bare + 0.35, growth) {
                continue;
            }
            let tuft = tufts.nearest(root);
            let outward = libm::atan2f(tuft.point.way[1], tuft.point.way[0]);
            let lean = 1.4 * noise.at(root, [5, 5]);
            let length = between(rng, self.length[0], self.length[1]) * (0.75 + 0.5 * growth);
            let crown = self.height * between(rng, 0.35, 1.0) * (0.7 + 0.6 * growth) * (1.15 - 0.5 * tuft.first);
            let colour = self.blade_colour(rng, root, tuft.point.bits);
            let tip = blend(colour, srgb(0xb7b27a), between(rng, 0.0, 0.35));
            Blade {
                root,
                angle: outward + lean + between(rng, -self.stray, self.stray),
                bend: between(rng, -self.bend, self.bend),
                length,
                radius: between(rng, self.radius[0], self.radius[1]),
                heights: [0.05 * crown, 0.85 * crown, between(rng, 0.55, 1.05) * crown],
                colours: [scaled(colour, 0.62), colour, tip],
                fold: between(rng, 0.03, 0.16),
                tip: 0.12,
            }
            .draw(&mut strokes);
        }
        strokes
    }

    /// Patches, tufts and single blades vary in yellowness.
    fn blade_colour(&self, rng: &mut Rng, place: Place, tuft: u32) -> Colour {
        let noise = Noise::new(100 * self.seed + 11);
        let colours: Vec<Colour> = self.colours.iter().copied().map(srgb).collect();
        let patch = noise.octaves(place, [4, 4], 4, 0.7);
        let tuft = (tuft & 0xff) as f32 / 255.0 - 0.5;
        let colour = ramp(&colours, 0.42 + 0.2 * patch + 0.28 * tuft + between(rng, -0.3, 0.3));
        let colour = if rng.chance(0.06) { self.pick(rng, self.straws) } else { colour };
        scaled(colour, between(rng, 0.8, 1.2))
    }

    /// Small clover between the blades: three round leaves each.
    fn herbs(&self, rng: &mut Rng) -> Vec<Leaf> {
        let noise = Noise::new(100 * self.seed + 13);
        let mut leaves = Vec::new();
        for _ in 0..self.herbs {
            let place = anywhere(rng);
            let chance = noise.octaves(place, [5, 5], 2, 0.6);
            let turn = any_angle(rng);
            let size = between(rng, 0.0045, 0.008);
            let height = self.height * between(rng, 0.3, 0.85);
            let colour = scaled(srgb(0x566f3d), between(rng, 0.75, 1.15));
            if chance < 0.1 {
                continue;
            }
            for third in [0.0, 2.094, 4.189] {
                let (cos, sin) = (libm::cosf(turn + third), libm::sinf(turn + third));
                leaves.push(Leaf {
                    middle: [place[0] + size * cos, place[1] + size * sin],
                    direction: [cos, sin],
                    half: [size, 0.85 * size],
                    height,
                    curl: 0.3 * size,
                    tilt: 0.2 * size,
                    colour,
                    veins: 0.12,
                    teeth: 0.0,
                    bits: bits(rng),
                });
            }
        }
        leaves
    }

    fn pick(&self, rng: &mut Rng, colours: &[u32]) -> Colour {
        let colours: Vec<Colour> = colours.iter().copied().map(srgb).collect();
        scaled(ramp(&colours, unit(rng)), between(rng, 0.75, 1.2))
    }
}
