//! Gradient noise whose lattice closes on itself: a tile's left border continues at its right one.
//!
//! Ken Perlin, "Improving Noise" (SIGGRAPH 2002): the dot products of gradients at the corners of a lattice with the
//! way to the place, blended by the quintic 6t⁵ − 15t⁴ + 10t³. The gradients come from a hash of the lattice point,
//! taken modulo the number of lattice cells across the tile. Places are given in tile sides.

/// A place on the tile, or a way across it, in tile sides: x to the right, y down.
pub type Place = [f32; 2];

/// Periodic gradient noise, about -1 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    seed: u32,
}

impl Noise {
    /// The noise of a seed.
    pub const fn new(seed: u32) -> Self {
        Self { seed }
    }

    /// One octave, with so many lattice cells across and down the tile.
    pub fn at(self, [x, y]: Place, [across, down]: [u32; 2]) -> f32 {
        let (x, y) = (x * across as f32, y * down as f32);
        let (left, top) = (x.floor(), y.floor());
        let (dx, dy) = (x - left, y - top);
        let columns = [wrapped(left, across), wrapped(left + 1.0, across)];
        let rows = [wrapped(top, down), wrapped(top + 1.0, down)];
        let corner = |i: usize, j: usize| {
            let [gx, gy] = signed_pair(hash(self.seed, columns[i], rows[j]));
            gx * (dx - i as f32) + gy * (dy - j as f32)
        };
        let (u, v) = (quintic(dx), quintic(dy));
        1.5 * mix(mix(corner(0, 0), corner(1, 0), u), mix(corner(0, 1), corner(1, 1), u), v)
    }

    /// Octaves of doubling frequency, each `gain` times as high as the one before; about -1 to 1.
    pub fn octaves(self, place: Place, cells: [u32; 2], octaves: u32, gain: f32) -> f32 {
        let (mut sum, mut height, mut heights) = (0.0, 1.0, 0.0);
        for octave in 0..octaves {
            let noise = Self::new(self.seed.wrapping_add(octave.wrapping_mul(0x3c6e_f372)));
            sum += height * noise.at(place, cells.map(|count| count << octave));
            heights += height * height;
            height *= gain;
        }
        // Independent octaves add by their squares.
        sum / heights.sqrt()
    }

    /// Octaves of sharp crests: one less the noise's magnitude, 0 to 1.
    pub fn crests(self, place: Place, cells: [u32; 2], octaves: u32, gain: f32) -> f32 {
        let (mut sum, mut height, mut heights) = (0.0, 1.0, 0.0);
        for octave in 0..octaves {
            let noise = Self::new(self.seed.wrapping_add(octave.wrapping_mul(0x3c6e_f372)));
            let crest = 1.0 - noise.at(place, cells.map(|count| count << octave)).abs().min(1.0);
            sum += height * crest * crest;
            heights += height;
            height *= gain;
        }
        sum / heights
    }

    /// The place, moved by octaves of noise of its own in each direction.
    pub fn warped(self, [x, y]: Place, cells: [u32; 2], octaves: u32, by: f32) -> Place {
        let aside = Self::new(self.seed ^ 0x5bd1_e995);
        let dx = self.octaves([x, y], cells, octaves, 0.5);
        let dy = aside.octaves([x, y], cells, octaves, 0.5);
        [x + by * dx, y + by * dy]
    }
}

/// The lattice point's number on a tile of so many cells.
pub fn wrapped(whole: f32, cells: u32) -> u32 {
    let whole = whole as i32;
    match u32::try_from(whole) {
        // Nearly every place is on the tile itself: no division.
        Ok(on_tile) if on_tile < cells => on_tile,
        _ => whole.rem_euclid(cells as i32) as u32,
    }
}

/// 32 well-mixed bits of a lattice point; the last lines are the finaliser of `MurmurHash3` (Appleby).
pub fn hash(seed: u32, x: u32, y: u32) -> u32 {
    let mut bits = seed.wrapping_mul(0x9e37_79b9) ^ x.wrapping_mul(0x85eb_ca77) ^ y.wrapping_mul(0xc2b2_ae3d);
    bits ^= bits >> 16;
    bits = bits.wrapping_mul(0x85eb_ca6b).wrapping_add(y);
    bits ^= bits >> 13;
    bits = bits.wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

/// Two numbers of -1 to 1 out of 32 bits.
pub fn signed_pair(bits: u32) -> [f32; 2] {
    unit_pair(bits).map(|unit| 2.0 * unit - 1.0)
}

/// Two numbers of 0 to 1 out of 32 bits.
pub fn unit_pair(bits: u32) -> [f32; 2] {
    [(bits & 0xffff) as f32 / 65_535.0, (bits >> 16) as f32 / 65_535.0]
}

/// The place, moved aside, so that lattices do not share their lines with each other and with the tile's border.
pub fn shifted([x, y]: Place, by: f32) -> Place {
    [x + by, y + by]
}

/// From a to b by the share t.
pub fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// 0 below `low`, 1 above `high`, and smooth between.
pub fn smooth(low: f32, high: f32, value: f32) -> f32 {
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn quintic(t: f32) -> f32 {
    t * t * t * (t * (6.0 * t - 15.0) + 10.0)
}
