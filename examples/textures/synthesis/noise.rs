//! Periodic gradient noise.
//!
//! Ken Perlin, "Improving Noise" (SIGGRAPH 2002): dot products of the gradients at the lattice points with the vectors
//! to the position, interpolated with the quintic 6t⁵ − 15t⁴ + 10t³. Gradients come from a hash of the lattice point
//! modulo the number of lattice cells across the tile.

/// A position or a vector on the tile in tile sides: x to the right, y down.
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

    /// One octave with `across` × `down` lattice cells on the tile.
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

    /// Octaves of doubling frequency, each with `gain` times the amplitude of the one before; about -1 to 1.
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

    /// Octaves of sharp crests: 1 minus the magnitude of the noise, 0 to 1.
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

    /// The position displaced by octaves of noise along each axis.
    pub fn warped(self, [x, y]: Place, cells: [u32; 2], octaves: u32, by: f32) -> Place {
        let aside = Self::new(self.seed ^ 0x5bd1_e995);
        let dx = self.octaves([x, y], cells, octaves, 0.5);
        let dy = aside.octaves([x, y], cells, octaves, 0.5);
        [x + by * dx, y + by * dy]
    }
}

/// The index of a lattice point on a tile of `cells` cells.
pub fn wrapped(whole: f32, cells: u32) -> u32 {
    let whole = whole as i32;
    match u32::try_from(whole) {
        // Fast path without a division: nearly every position is on the tile.
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

/// Two numbers from -1 to 1 from 32 bits.
pub fn signed_pair(bits: u32) -> [f32; 2] {
    unit_pair(bits).map(|unit| 2.0 * unit - 1.0)
}

/// Two numbers from 0 to 1 from 32 bits.
pub fn unit_pair(bits: u32) -> [f32; 2] {
    [(bits & 0xffff) as f32 / 65_535.0, (bits >> 16) as f32 / 65_535.0]
}

/// The position with an offset, so that lattices do not align with each other or with the border of the tile.
pub fn shifted([x, y]: Place, by: f32) -> Place {
    [x + by, y + by]
}

/// Interpolates from a to b.
pub fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// 0 below `low`, 1 above `high`, smooth between.
pub fn smooth(low: f32, high: f32, value: f32) -> f32 {
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn quintic(t: f32) -> f32 {
    t * t * t * (t * (6.0 * t - 15.0) + 10.0)
}
