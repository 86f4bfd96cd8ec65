//! Snow and ice.

use super::Material;
use super::cells::Cells;
use super::noise::{Noise, Place, hash, shifted, signed_pair, smooth, unit_pair};
use super::surface::{Shading, Surface, blend, ramp, scaled, srgb};

/// Old, wind-carved snow.
pub const SNOW: Material = Material {
    name: "snow",
    metres: 4.0,
    surface: snow,
    shading: Shading { slopes: 0.5, hollows: &[(0.008, 0.15), (0.03, 0.25)], evenness: 0.85, luminance: 0.75 },
};
/// Clear ice with cracks, bubbles and dust of snow.
pub const ICE: Material = Material {
    name: "ice",
    metres: 4.0,
    surface: ice,
    shading: Shading { slopes: 0.3, hollows: &[(0.004, 0.15)], evenness: 0.8, luminance: 0.45 },
};

fn snow(pixels: usize) -> Surface {
    let (shade, lit) = (srgb(0xd3dfec), srgb(0xf6f6f4));
    Surface::new(pixels, |place| {
        let bent = Noise::new(1000).warped(place, [4, 4], 3, 0.03);
        let drifts = Noise::new(1001).octaves(bent, [5, 8], 3, 0.45);
        // Ridges along the wind.
        let carved = Noise::new(1002).crests(bent, [5, 11], 2, 0.4);
        let crust = Noise::new(1003).octaves(place, [30, 44], 5, 0.65);
        let grain = Noise::new(1004).octaves(place, [300, 300], 2, 0.9);
        let relief = 0.011 * drifts + 0.009 * carved + 0.001 * crust + 0.0004 * grain;
        let high = 0.45 + 0.3 * drifts + 0.6 * (carved - 0.5) + 0.1 * crust;
        (relief, scaled(blend(shade, lit, high.clamp(0.0, 1.0)), 1.0 + 0.025 * grain))
    })
}

fn ice(pixels: usize) -> Surface {
    let depths = [0x64818f, 0x7f9dab, 0x9db8c2, 0xbdd1d6].map(srgb);
    let white = srgb(0xeaf3f5);
    let nets = [(1103, 5, 0.0019, 0.75), (1104, 8, 0.0015, 0.65), (1105, 15, 0.0011, 0.45), (1106, 31, 0.0009, 0.3)]
        .map(|(seed, cells, width, strength)| (Net::new(seed, cells, width), strength));
    let bubbles = Cells::new(1108, [75, 75], 1.0);
    Surface::new(pixels, |place| {
        // Keeps cracks off the border of the tile.
        let place = shifted(place, 0.1406);
        let bent = Noise::new(1100).warped(place, [5, 5], 5, 0.02);
        let clouds = Noise::new(1101).octaves(bent, [4, 4], 6, 0.6);
        let veil = Noise::new(1102).octaves(bent, [18, 18], 4, 0.7);
        let mut colour = ramp(&depths, 0.45 + 0.22 * clouds + 0.07 * veil);
        let mut relief = 0.003 * clouds + 0.0006 * veil;
        for (net, strength) in &nets {
            let (line, sheet) = net.at(place);
            colour = blend(colour, white, strength * (line + (1.0 - line) * 0.5 * sheet));
            relief -= 0.003 * strength * line;
        }
        // Clusters of bubbles.
        let flock = smooth(0.1, 0.9, Noise::new(1107).octaves(place, [6, 6], 3, 0.6));
        let bubble = bubbles.nearest(place);
        let [size, there] = unit_pair(bubble.point.bits);
        let disc = 1.0 - smooth(0.7, 1.0, bubble.first / (0.08 + 0.3 * size * size));
        colour = blend(colour, white, if there < flock { 0.5 * disc } else { 0.0 });
        // Drifted snow.
        let dust = Noise::new(1109).octaves(bent, [7, 7], 6, 0.65);
        let grain = Noise::new(1110).octaves(place, [260, 260], 2, 0.9);
        let drifted = smooth(0.3, 1.2, dust);
        colour = blend(colour, white, 0.75 * drifted);
        (relief + 0.003 * drifted + 0.0002 * grain, scaled(colour, 1.0 + 0.03 * grain))
    })
}

/// A network of cracks.
struct Net {
    seed: u32,
    count: u32,
    width: f32,
    cells: Cells,
}

impl Net {
    fn new(seed: u32, count: u32, width: f32) -> Self {
        Self { seed, count, width, cells: Cells::new(seed, [count; 2], 1.0) }
    }

    /// The crack at the surface, and the inclined plane below it, which is visible as a pale veil on one side.
    fn at(&self, place: Place) -> (f32, f32) {
        let cell = 1.0 / self.count as f32;
        let jagged = Noise::new(self.seed).warped(place, [self.count; 2], 5, 0.09 * cell);
        let near = self.cells.nearest(jagged);
        let border = near.border * cell;
        let open = smooth(-0.5, 0.5, Noise::new(self.seed ^ 77).octaves(place, [self.count; 2], 3, 0.6));
        let line = open * (1.0 - smooth(0.3 * self.width, self.width, border));
        let [slope, _] = signed_pair(hash(near.point.bits, 1, 2));
        let streaks = 0.55 + 0.45 * Noise::new(self.seed ^ 91).octaves(jagged, [6 * self.count; 2], 4, 0.7);
        let reach = (0.16 * slope * cell).max(1e-5);
        (line, open * streaks.clamp(0.0, 1.0) * (1.0 - smooth(0.0, reach, border)))
    }
}
