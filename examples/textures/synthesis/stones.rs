//! Loose rock: scree, and clinker and ash on lava.

use upthrust::engine::random::{Rng, Stream};

use super::cells::Cells;
use super::noise::{Noise, Place, shifted, smooth, unit_pair};
use super::objects::{Stone, anywhere, between, unit};
use super::surface::{Shading, Surface, blend, ramp, scaled, srgb};
use super::{Material, SEED};

/// Scree with stones of all sizes.
pub const SCREE: Material = Material {
    name: "scree",
    metres: 4.0,
    surface: scree,
    shading: Shading {
        slopes: 0.6,
        hollows: &[(0.003, 0.35), (0.01, 0.5), (0.03, 0.45)],
        evenness: 0.8,
        luminance: 0.2,
    },
};
/// Cooled lava, dusted with ash.
pub const LAVA: Material = Material {
    name: "lava",
    metres: 4.0,
    surface: lava,
    shading: Shading {
        slopes: 0.55,
        hollows: &[(0.003, 0.3), (0.01, 0.5), (0.035, 0.4)],
        evenness: 0.8,
        luminance: 0.06,
    },
};

/// A number of stones with their sizes and the heights of their edges above the surface.
struct Heap {
    count: usize,
    radius: [f32; 2],
    height: [f32; 2],
}

fn stones(rng: &mut Rng, heap: &Heap, colours: &[u32], base: impl Fn(Place) -> f32) -> Vec<Stone> {
    let colours: Vec<_> = colours.iter().copied().map(srgb).collect();
    (0..heap.count)
        .map(|_| {
            let middle = anywhere(rng);
            // Many small stones, few large ones.
            let small = unit(rng);
            let radius = heap.radius[0] + (heap.radius[1] - heap.radius[0]) * small * small;
            let height = base(middle) + between(rng, heap.height[0], heap.height[1]);
            let colour = scaled(ramp(&colours, unit(rng)), between(rng, 0.75, 1.2));
            Stone::new(rng, middle, radius, height, colour)
        })
        .collect()
}

fn scree(pixels: usize) -> Surface {
    const COLOURS: [u32; 6] = [0x6b665f, 0x7d776e, 0x8f887c, 0x9c9486, 0x857766, 0x77726c];
    let earth = [0x3a332b, 0x574d41].map(srgb);
    let mut surface = Surface::new(pixels, |place| {
        let crumbs = Noise::new(600).octaves(place, [50, 50], 5, 0.75);
        (-0.012 + 0.002 * crumbs, blend(earth[0], earth[1], 0.5 + 0.4 * crumbs))
    });
    let stream = Stream::new(SEED, 6);
    let heaps = [
        Heap { count: 20_000, radius: [0.002, 0.0055], height: [-0.012, -0.004] },
        Heap { count: 5_200, radius: [0.005, 0.013], height: [-0.011, 0.0] },
        Heap { count: 900, radius: [0.012, 0.03], height: [-0.01, 0.002] },
        Heap { count: 110, radius: [0.026, 0.046], height: [-0.01, 0.0] },
        Heap { count: 500, radius: [0.005, 0.011], height: [-0.002, 0.006] },
    ];
    for (i, heap) in (1..).zip(&heaps) {
        surface.scatter(&stones(&mut stream.at(i), heap, &COLOURS, |_| 0.0));
    }
    surface.repaint(|place, height, colour| {
        let grain = Noise::new(601).octaves(place, [110, 110], 4, 0.85);
        let dust = Noise::new(602).octaves(place, [6, 6], 5, 0.65);
        (height + 0.0005 * grain, scaled(colour, 1.0 + 0.11 * grain + 0.08 * dust))
    });
    surface
}

fn lava(pixels: usize) -> Surface {
    const CLINKER: [u32; 4] = [0x262424, 0x353232, 0x474341, 0x3a3431];
    let crust = [0x201f20, 0x2f2d2e, 0x403d3d, 0x524e4c].map(srgb);
    let (rust, ash) = (srgb(0x4c342b), srgb(0x5c5650));
    let slabs = Cells::new(701, [8, 8], 1.0);
    let lumps = Cells::new(702, [22, 22], 1.0);
    let bubbles = [(Cells::new(704, [60, 60], 1.0), 0.26), (Cells::new(705, [130, 130], 1.0), 0.3)];
    let mut surface = Surface::new(pixels, |place| {
        let bent = Noise::new(700).warped(place, [7, 7], 5, 0.02);
        let slabs = slabs.faces(shifted(bent, 0.047), 0.9, 0.65, 0.6) / 8.0;
        let lumps = lumps.faces(shifted(bent, 0.0193), 1.0, 0.75, 0.4) / 22.0;
        let ropes = Noise::new(703).crests(bent, [16, 16], 3, 0.6);
        let flocks = 0.75 * smooth(0.0, 0.9, Noise::new(712).octaves(place, [7, 7], 3, 0.6));
        // Pits left by gas bubbles.
        let pit = |(cells, size): &(Cells, f32)| {
            let near = cells.nearest(place);
            let [radius, there] = unit_pair(near.point.bits);
            if there < flocks { 1.0 - smooth(0.5, 1.0, near.first / (size * (0.35 + radius)).max(0.02)) } else { 0.0 }
        };
        let pits = pit(&bubbles[0]).max(pit(&bubbles[1]));
        let grain = Noise::new(706).octaves(place, [80, 80], 4, 0.8);
        let relief = 0.5 * slabs + 0.6 * lumps + 0.008 * ropes - 0.003 * pits + 0.0018 * grain;
        let tint = Noise::new(707).octaves(place, [6, 6], 6, 0.65);
        let mut colour = ramp(&crust, 0.5 + 0.16 * tint + 0.17 * grain);
        colour = blend(colour, rust, 0.35 * smooth(0.1, 1.3, Noise::new(708).octaves(place, [8, 8], 5, 0.6)));
        (relief, scaled(colour, 1.0 - 0.55 * pits))
    });
    let stream = Stream::new(SEED, 7);
    let heaps = [
        Heap { count: 14_000, radius: [0.002, 0.007], height: [-0.004, 0.001] },
        Heap { count: 1_700, radius: [0.006, 0.02], height: [-0.009, -0.002] },
    ];
    for (i, heap) in (1..).zip(&heaps) {
        let clinker = stones(&mut stream.at(i), heap, &CLINKER, |place| surface.height(place));
        surface.scatter(&clinker);
    }
    surface.repaint(|place, height, colour| {
        let drift = Noise::new(709).octaves(place, [5, 5], 5, 0.6);
        let grain = Noise::new(710).octaves(place, [220, 220], 2, 0.9);
        let drifted = 0.4 * smooth(-0.1, 1.0, drift);
        let rough = Noise::new(711).octaves(place, [100, 100], 3, 0.8);
        (height + 0.0009 * rough, blend(scaled(colour, 1.0 + 0.18 * rough), scaled(ash, 1.0 + 0.16 * grain), drifted))
    });
    surface
}
