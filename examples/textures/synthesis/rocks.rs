//! Fractured and layered rock.

use upthrust::engine::random::Stream;

use super::cells::Cells;
use super::noise::{Noise, Place, hash, mix, shifted, signed_pair, smooth, unit_pair, wrapped};
use super::objects::{between, bits, unit};
use super::surface::{Colour, Shading, Surface, blend, ramp, scaled, srgb};
use super::{Material, SEED};

/// Fractured rock without a preferred direction.
pub const ROCK: Material = Material {
    name: "rock",
    metres: 6.0,
    surface: rock,
    shading: Shading {
        slopes: 0.65,
        hollows: &[(0.002, 0.3), (0.007, 0.45), (0.03, 0.5)],
        evenness: 0.75,
        luminance: 0.2,
    },
};
/// Layers of sedimentary rock in a cliff.
pub const LAYERED_ROCK: Material = Material {
    name: "layered-rock",
    metres: 8.0,
    surface: layered_rock,
    shading: Shading {
        slopes: 0.6,
        hollows: &[(0.002, 0.3), (0.007, 0.45), (0.025, 0.4)],
        evenness: 0.7,
        luminance: 0.22,
    },
};

fn rock(pixels: usize) -> Surface {
    let greys = [0x4f4c48, 0x6d6861, 0x888278, 0xa39d91].map(srgb);
    let rust = srgb(0x7a6049);
    let lichen = [0x959a84, 0xa9aa98].map(srgb);
    let fractures = Fractures::new();
    let crusts = Cells::new(411, [70, 70], 1.0);
    Surface::new(pixels, |place| {
        let (relief, crack) = fractures.at(place);
        let grain = Noise::new(405).octaves(place, [150, 150], 3, 0.85);
        let stain = Noise::new(406).octaves(Noise::new(407).warped(place, [7, 7], 3, 0.03), [6, 6], 6, 0.75);
        let mut colour = ramp(&greys, 0.5 + 0.19 * stain + 0.19 * grain);
        colour = blend(colour, rust, 0.4 * smooth(0.2, 1.3, Noise::new(408).octaves(place, [8, 8], 6, 0.75)));
        // Patches of lichen.
        let patches = Noise::new(409).octaves(place, [6, 6], 4, 0.6);
        let crust = crusts.nearest(Noise::new(410).warped(place, [110, 110], 3, 0.003));
        let [size, tint] = unit_pair(crust.point.bits);
        let spot = 1.0 - smooth(0.6, 1.0, crust.first / (0.5 * size * smooth(0.1, 0.9, patches)).max(0.01));
        colour = blend(colour, blend(lichen[0], lichen[1], tint), 0.4 * spot);
        (relief, scaled(colour, 1.0 - 0.35 * crack))
    })
}

/// Fracture faces at several scales and the cracks between them.
struct Fractures {
    blocks: Cells,
    chips: Cells,
    ridges: Cells,
    splinters: Cells,
    cracks: Cells,
}

impl Fractures {
    fn new() -> Self {
        Self {
            blocks: Cells::new(402, [5, 7], 1.0),
            chips: Cells::new(403, [13, 17], 1.0),
            ridges: Cells::new(404, [19, 24], 1.0),
            splinters: Cells::new(412, [47, 58], 1.0),
            cracks: Cells::new(417, [9, 7], 1.0),
        }
    }

    /// The height, and 1 in cracks or 0 elsewhere.
    fn at(&self, place: Place) -> (f32, f32) {
        let broad = Noise::new(400).warped(place, [6, 6], 5, 0.022);
        let fine = Noise::new(401).warped(place, [18, 18], 4, 0.006);
        let blocks = self.blocks.faces(broad, 0.8, 0.6, 0.7) / 6.0;
        let chips = self.chips.faces(fine, 1.0, 0.75, 0.75) / 15.0;
        // Inverted, the envelope has sharp ridges instead of sharp valleys.
        let ridges = -self.ridges.faces(broad, 1.0, 0.75, 0.6) / 21.0;
        let splinters = self.splinters.faces(fine, 1.1, 0.8, 0.7) / 52.0;
        let grain = Noise::new(413).octaves(place, [48, 48], 5, 0.75);
        let rough = smooth(-0.6, 0.8, Noise::new(419).octaves(place, [7, 7], 3, 0.6));
        let bent = Noise::new(414).warped(place, [14, 14], 5, 0.016);
        let open = smooth(0.0, 1.0, Noise::new(415).octaves(place, [8, 8], 3, 0.6));
        let crack = open * (1.0 - smooth(0.0, 0.0006 + 0.003 * open, self.cracks.nearest(bent).border / 8.0));
        let faces = 0.4 * blocks + 0.6 * chips + 0.7 * ridges + (0.15 + 0.8 * rough) * splinters;
        (faces + (0.0007 + 0.0012 * rough) * grain - 0.008 * crack, crack)
    }
}

/// A layer.
#[derive(Clone, Copy, Debug)]
struct Bed {
    top: f32,
    thickness: f32,
    /// How far it protrudes.
    protrusion: f32,
    colour: Colour,
    /// The number of blocks between its joints.
    blocks: u32,
    bits: u32,
}

fn beds() -> Vec<Bed> {
    let colours = [0x6f6355, 0x857664, 0x95866f, 0x776a60, 0x9e907a, 0x8a7966, 0x7d7468].map(srgb);
    let mut rng = Stream::new(SEED, 5).at(1);
    let mut thicknesses = Vec::new();
    let mut sum = 0.0;
    while sum < 1.0 {
        // Thick layers alternate with groups of thin ones.
        let thickness = if rng.chance(0.3) { between(&mut rng, 0.03, 0.06) } else { between(&mut rng, 0.006, 0.022) };
        thicknesses.push(thickness);
        sum += thickness;
    }
    let mut top = 0.0;
    let mut beds = Vec::new();
    for thickness in thicknesses {
        let thickness = thickness / sum;
        beds.push(Bed {
            top,
            thickness,
            protrusion: between(&mut rng, -0.6, 0.6) + 8.0 * thickness,
            colour: scaled(ramp(&colours, unit(&mut rng)), between(&mut rng, 0.88, 1.12)),
            blocks: 4 + (unit(&mut rng) * 0.25 / thickness.max(0.014)) as u32,
            bits: bits(&mut rng),
        });
        top += thickness;
    }
    beds
}

fn layered_rock(pixels: usize) -> Surface {
    let beds = beds();
    let stain = srgb(0x5f4836);
    let chips = Cells::new(504, [16, 30], 1.0);
    let splinters = Cells::new(508, [40, 90], 1.0);
    Surface::new(pixels, |place| {
        let [x, _] = place;
        let slow = Noise::new(500).octaves(place, [2, 2], 3, 0.5);
        let rough = Noise::new(501).octaves(place, [10, 30], 5, 0.7);
        let y = place[1] + 0.025 * slow + 0.0026 * rough;
        let y = y - y.floor();
        let bed = beds.iter().rev().find(|bed| bed.top <= y).unwrap_or(&beds[0]);
        let down = y - bed.top;
        let seam = down.min(bed.thickness - down).max(0.0);
        // Joints divide the layer into blocks; they are irregular and inclined.
        let lean = Noise::new(502).octaves(place, [16, 16], 4, 0.6);
        let along = x * bed.blocks as f32 + unit_pair(bed.bits)[0] + 0.003 * bed.blocks as f32 * lean;
        let joint = |i: f32| i + 0.45 * signed_pair(hash(bed.bits, wrapped(i, bed.blocks), 7))[0];
        let nearest = along.round();
        let (block, gap) = if along < joint(nearest) {
            (nearest - 1.0, (joint(nearest) - along).min(along - joint(nearest - 1.0)))
        } else {
            (nearest, (along - joint(nearest)).min(joint(nearest + 1.0) - along))
        };
        let gap = gap / bed.blocks as f32;
        let block_bits = hash(bed.bits, wrapped(block, bed.blocks), 9);
        let [out, tilt] = signed_pair(block_bits);
        let [shade, _] = unit_pair(hash(block_bits, 1, 1));
        // Seams and joints are open in some places and closed in others.
        let gapes = smooth(-0.35, 0.9, Noise::new(509).octaves(place, [7, 12], 4, 0.7));
        let edge_y = smooth(0.0, 0.0012 + 0.0035 * gapes, seam);
        let edge_x = smooth(0.0, 0.001 + 0.002 * gapes, gap);
        let edge = mix(1.0, edge_y, 0.25 + 0.75 * gapes) * mix(1.0, edge_x, gapes);
        // Fine lamination.
        let lines = Noise::new(503).octaves([x, y], [4, 110], 3, 0.8);
        let bent = Noise::new(505).warped(place, [20, 20], 4, 0.005);
        let broken = chips.faces(shifted(bent, 0.023), 1.1, 0.4, 0.0) / 24.0
            + 0.7 * splinters.faces(shifted(bent, 0.0173), 1.2, 0.4, 0.0) / 60.0;
        let grain = Noise::new(506).octaves(place, [80, 80], 4, 0.85);
        // The foot of a layer is eroded back.
        let eroded = 0.5 - down / bed.thickness;
        let relief = 0.009 * (bed.protrusion + 0.5 * out)
            + 0.004 * tilt * eroded
            + 0.005 * edge
            + 0.0016 * lines
            + 0.75 * broken
            + 0.0011 * grain;
        let mut colour = scaled(bed.colour, 0.9 + 0.2 * shade);
        colour = scaled(colour, 1.0 + 0.14 * lines + 0.14 * grain);
        let run = Noise::new(507).octaves(place, [16, 5], 6, 0.75);
        colour = blend(colour, stain, 0.45 * smooth(0.0, 1.3, run));
        (relief, scaled(colour, 0.68 + 0.32 * edge))
    })
}
