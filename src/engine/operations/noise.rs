//! Octaves of coherent noise laid on each other: hills, ridges and billows of any fineness.
//!
//! Octave i = 0…n−1 is one noise nᵢ in [−1, 1], of the wavelength λᵢ = wavelength/lacunarityⁱ, and weighs gainⁱ; the land
//! is amplitude · Σ gainⁱ·f(nᵢ) / Σ gainⁱ, the second sum over all n octaves, so that the land of an earlier iteration is
//! what later ones add to. With f(n) = n it is fractional Brownian motion (fBm); f(n) = 2|n| − 1 makes billows; ridges
//! are those of F. K. Musgrave, "Procedural Fractal Terrains" (chapter 16 of Ebert and others, "Texturing and Modeling: A
//! Procedural Approach", 3rd edition, 2003), "ridged multifractal terrain": s = (1 − |n|)², each octave weighed by the
//! one before it, w₀ = 1, wᵢ₊₁ = min(1, 2·wᵢ·sᵢ), so that ridges are rugged and valleys smooth. His sum of wᵢ·sᵢ rises
//! from 0; here f = wᵢ·(2·sᵢ − 1), which keeps it around 0 like the others.
//!
//! Perlin noise is that of K. Perlin, "Improving noise", 2002, with a quintic fade, in two dimensions; OpenSimplex is K.
//! Spencer's OpenSimplex2S. Both come from FastNoise Lite, whose values are portable: of single octaves it takes hashes in
//! wrapping whole numbers, tables of gradients, floor, sums and products, and nothing else. Each octave has a seed, a
//! place in the noise and a direction of its own, so that neither the zeros of the noise on its lattice nor the lattice's
//! directions add up.

use fastnoise_lite::{FastNoiseLite, NoiseType};
use rayon::prelude::*;

use super::{Keyframe, Operation, EvalContext};
use crate::engine::fault::column_positions;
use crate::engine::heightfield::{Extent, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Spec, choices, parameters};
use crate::engine::random::Stream;

choices! {
    /// Which noise an octave is made of.
    pub enum Basis {
        /// Sums of slopes on a square lattice: lively, hills of rather different sizes.
        Perlin = "perlin", "Perlin";
        /// Sums of slopes on a lattice of triangles: rounder and more even, the same in all directions.
        OpenSimplex = "opensimplex", "OpenSimplex";
    }
}

choices! {
    /// How the noise of an octave becomes land.
    pub enum Shape {
        /// As it is: hills and hollows alike.
        Fbm = "fbm", "Hills";
        /// Folded and turned up: sharp crests, rugged on their heights and smooth in the valleys between.
        Ridged = "ridged", "Ridges";
        /// Folded: round cushions between narrow furrows.
        Billow = "billow", "Billows";
    }
}

parameters! {
    /// Raises land of noise, from broad hills to fine detail: rolling, ridged or billowing.
    pub struct Noise {
        /// Which noise the land is made of.
        kind: Basis = Basis::OpenSimplex, Spec::new("Kind");
        /// Whether hills roll, stand up as ridges or swell like cushions.
        shape: Shape = Shape::Fbm, Spec::new("Shape");
        /// How many layers of noise lie on each other, one an iteration: the first makes the great forms, every
        /// further one finer detail.
        octaves: u32 = 8, Spec::number("Octaves", 1.0, 16.0).slider(1.0, 12.0);
        /// How far it is from one great hill to the next: the wavelength of the first layer.
        wavelength_m: f64 = 3000.0,
            Spec::number("Wavelength", 1.0, 1_000_000.0).slider(50.0, 20_000.0).unit("m").logarithmic();
        /// How many times finer each layer is than the one before.
        lacunarity: f64 = 2.0, Spec::number("Lacunarity", 1.0, 8.0).slider(1.5, 4.0);
        /// How high each layer is beside the one before: low values leave smooth hills, high ones make rough rock.
        gain: f64 = 0.42, Spec::number("Gain", 0.0, 2.0).slider(0.2, 0.8);
        /// How far the land can rise above 0 and sink below; all layers have to agree for that, so that most of it
        /// stays within half as much.
        amplitude_m: f64 = 400.0,
            Spec::number("Amplitude", 0.0, 100_000.0).slider(1.0, 3000.0).unit("m").logarithmic();
    }
}

/// Octaves of which more waves than this fit along the longer side are left out: the closest samples there can be lie
/// hundreds of waves apart, and whole numbers must go on counting them.
const MOST_WAVES: f64 = (1 << 24) as f64;
/// Octaves begin up to so many waves from the noise's own origin.
const FARTHEST_START: f64 = 1024.0;

/// One layer of noise.
struct Octave {
    noise: FastNoiseLite,
    /// The direction of the noise's first axis over the wavelength: waves per metre, east and south.
    waves_per_m: [f64; 2],
    /// The noise's coordinates at the north-west corner.
    start: [f64; 2],
    /// The share of the whole amplitude.
    share: f64,
}

impl Octave {
    /// The noise at a point of the world, in [−1, 1].
    fn at(&self, x_m: f64, z_m: f64) -> f64 {
        let [[east, south], [u, v]] = [self.waves_per_m, self.start];
        let noise = self.noise.get_noise_2d(u + x_m * east + z_m * south, v + z_m * east - x_m * south);
        // The library scales its noise to this range, but for the last digits.
        f64::from(noise).clamp(-1.0, 1.0)
    }
}

impl Basis {
    fn noise(self, seed: i32) -> FastNoiseLite {
        let mut noise = FastNoiseLite::with_seed(seed);
        noise.set_noise_type(Some(match self {
            Self::Perlin => NoiseType::Perlin,
            Self::OpenSimplex => NoiseType::OpenSimplex2S,
        }));
        noise.set_frequency(Some(1.0));
        noise
    }
}

impl Shape {
    /// What a noise in [−1, 1] adds to the land, in [−1, 1]. `weight` is that of the ridges of this octave at this
    /// place, and becomes that of the next.
    fn lift(self, noise: f64, weight: &mut f64) -> f64 {
        match self {
            Self::Fbm => noise,
            Self::Billow => 2.0 * noise.abs() - 1.0,
            Self::Ridged => {
                let fold = 1.0 - noise.abs();
                let (ridge, present) = (fold * fold, *weight);
                *weight = (2.0 * present * ridge).min(1.0);
                present * (2.0 * ridge - 1.0)
            }
        }
    }
}

impl Noise {
    /// The first `until` octaves.
    fn octaves(&self, until: u32, extent: Extent, stream: Stream) -> Vec<Octave> {
        // gainⁱ and lacunarityⁱ by multiplying, i = 0…n−1.
        let powers = |base: f64| (0..self.octaves).scan(1.0, move |power, _| Some(std::mem::replace(power, *power * base)));
        let whole: f64 = powers(self.gain).sum();
        let longer_m = extent.width_m.max(extent.depth_m);
        (1..=until)
            .zip(powers(self.gain).zip(powers(self.lacunarity)))
            .filter(|(_, (_, finer))| longer_m * finer <= MOST_WAVES * self.wavelength_m)
            .map(|(i, (weight, finer))| {
                let mut draw = stream.at(u64::from(i));
                let seed = (draw.unit() * (1_u64 << 32) as f64) as u32;
                let start = [draw.unit() * FARTHEST_START, draw.unit() * FARTHEST_START];
                let (south, east) = libm::sincos(draw.unit() * std::f64::consts::TAU);
                let waves_per_m = [east, south].map(|along| along * finer / self.wavelength_m);
                Octave { noise: self.kind.noise(seed.cast_signed()), waves_per_m, start, share: weight / whole }
            })
            .collect()
    }
}

impl Operation for Noise {
    const KEY: &'static str = "noise";
    const LABEL: &'static str = "Noise";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        self.octaves
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, shape) = (context.grid, self.shape);
        let octaves = self.octaves(until, grid.extent(), context.stream);
        let xs = column_positions(&grid);
        let mut terrain = Heightfield::flat(grid);
        let counter = context.progress.counter(grid.height());
        terrain.heights_mut().par_chunks_mut(grid.width()).enumerate().try_for_each_init(
            || vec![[0.0; 2]; grid.width()],
            |columns: &mut Vec<[f64; 2]>, (r, heights)| {
                let z_m = grid.z_m(r);
                columns.fill([0.0, 1.0]);
                for octave in &octaves {
                    for ([sum, weight], &x_m) in columns.iter_mut().zip(&xs) {
                        *sum += octave.share * shape.lift(octave.at(x_m, z_m), weight);
                    }
                    context.progress.check()?;
                }
                heights.iter_mut().zip(&*columns).for_each(|(height, [sum, _])| *height = (self.amplitude_m * sum) as f32);
                counter.add_one()
            },
        )?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{raised, stream};
    use super::*;
    use crate::engine::heightfield::Grid;

    const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 1700.0 };

    /// Every kind of noise in every shape.
    fn all() -> Vec<Noise> {
        let of_kind = |&kind| Shape::ALL.iter().map(move |&shape| Noise { kind, shape, ..Default::default() });
        Basis::ALL.iter().flat_map(of_kind).collect()
    }

    #[test]
    fn shapes_at_the_middle_half_way_and_at_the_end() {
        let lifts = |shape: Shape| [-1.0, -0.5, 0.0, 0.5, 1.0].map(|noise| shape.lift(noise, &mut 1.0));
        assert_eq!(lifts(Shape::Fbm), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(lifts(Shape::Billow), [1.0, 0.0, -1.0, 0.0, 1.0]);
        assert_eq!(lifts(Shape::Ridged), [-1.0, -0.5, 1.0, -0.5, -1.0]);
        // (1 − 0.5)² = 0.25: the next octave counts half, the one after it, on the crest, wholly again.
        let mut weight = 1.0;
        let octaves = [0.5, 0.0, 0.0].map(|noise| (Shape::Ridged.lift(noise, &mut weight), weight));
        assert_eq!(octaves, [(-0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]);
    }

    #[test]
    fn the_noises_are_what_they_have_always_been() {
        let values = |basis: Basis| {
            let noise = basis.noise(1234);
            [[0.3, 0.7], [17.45, -3.21], [1e6 + 0.125, 7.5], [0.0, 0.0]].map(|[x, y]| noise.get_noise_2d(x, y).to_bits())
        };
        assert_eq!(values(Basis::Perlin), [3_177_953_069, 1_036_685_750, 3_201_968_936, 0]);
        assert_eq!(values(Basis::OpenSimplex), [3_186_443_194, 3_199_603_517, 3_164_457_429, 2_421_875_651]);
    }

    /// Perlin's noise by the formula, from the gradients at the corners that the library itself shows near them.
    #[test]
    fn perlin_noise_fades_between_the_slopes_at_the_corners() {
        let noise = Basis::Perlin.noise(77);
        let at = |x: f64, y: f64| f64::from(noise.get_noise_2d(x, y));
        let step = 1.0 / 1024.0;
        let slope = |x: f64, y: f64| {
            let across = |east: f64, south: f64| {
                (at(x + east, y + south) - at(x - east, y - south)) / (2.0 * step)
            };
            [across(step, 0.0), across(0.0, step)]
        };
        let fade = |t: f64| t * t * t * (10.0 + t * (6.0 * t - 15.0));
        for (x, y) in [(3.25, 5.5), (40.9, 7.1), (12.5, 12.5)] {
            let (west, north) = (f64::floor(x), f64::floor(y));
            let corner = |c: f64, r: f64| {
                let [east, south] = slope(c, r);
                (east * (x - c) + south * (y - r)) * (1.0 - fade((x - c).abs())) * (1.0 - fade((y - r).abs()))
            };
            let corners = [(west, north), (west + 1.0, north), (west, north + 1.0), (west + 1.0, north + 1.0)];
            let expected: f64 = corners.map(|(c, r)| corner(c, r)).iter().sum();
            assert!((at(x, y) - expected).abs() < 1e-4, "{}, not {expected}", at(x, y));
        }
    }

    #[test]
    fn the_land_is_the_plain_sum_and_each_iteration_adds_an_octave() {
        let grid = Grid::new(WORLD, 41, 25);
        for noise in all() {
            for until in [0, 1, 3, noise.octaves] {
                let terrain = raised(&noise, grid, None, until);
                for (c, r) in [(0, 0), (7, 20), (40, 24), (23, 11)] {
                    let (mut sum, mut whole, mut weight) = (0.0, 0.0, 1.0_f64);
                    for i in 0..noise.octaves {
                        let gain = libm::pow(noise.gain, f64::from(i));
                        whole += gain;
                        if i >= until {
                            continue;
                        }
                        let mut draw = stream().at(u64::from(i) + 1);
                        let seed = (draw.unit() * 4_294_967_296.0) as u32 as i32;
                        let [u, v, turn] = [1024.0, 1024.0, std::f64::consts::TAU].map(|most| draw.unit() * most);
                        let scale = noise.wavelength_m / libm::pow(noise.lacunarity, f64::from(i));
                        let (x, z) = (grid.x_m(c) / scale, grid.z_m(r) / scale);
                        let turned = [x * libm::cos(turn) + z * libm::sin(turn), z * libm::cos(turn) - x * libm::sin(turn)];
                        let value = f64::from(noise.kind.noise(seed).get_noise_2d(turned[0] + u, turned[1] + v));
                        let ridge = (1.0 - value.abs()) * (1.0 - value.abs());
                        sum += gain
                            * match noise.shape {
                                Shape::Fbm => value,
                                Shape::Billow => 2.0 * value.abs() - 1.0,
                                Shape::Ridged => weight * (2.0 * ridge - 1.0),
                            };
                        weight = (2.0 * weight * ridge).min(1.0);
                    }
                    let expected = noise.amplitude_m * sum / whole;
                    let found = f64::from(terrain[(c, r)]);
                    assert!((found - expected).abs() < 1e-3, "{noise:?} after {until}: {found}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn the_land_stays_within_the_amplitude_and_uses_it() {
        let grid = Grid::new(Extent { width_m: 100_000.0, depth_m: 100_000.0 }, 257, 257);
        for noise in all() {
            let one = Noise { octaves: 1, wavelength_m: 3000.0, amplitude_m: 100.0, ..noise.clone() };
            let [low, high] = raised(&one, grid, None, 1).min_max();
            assert!(low >= -100.0 && high <= 100.0, "{one:?}: {low}…{high}");
            assert!(high - low > 150.0, "{one:?}: {low}…{high}");
            let [low, high] = raised(&Noise { amplitude_m: 100.0, wavelength_m: 3000.0, ..noise }, grid, None, 8).min_max();
            assert!(low >= -100.0 && high <= 100.0 && high - low > 60.0, "{low}…{high}");
        }
    }

    #[test]
    fn octaves_too_fine_for_any_sample_are_left_out() {
        let fine = Noise { octaves: 16, lacunarity: 8.0, wavelength_m: 1.0, ..Default::default() };
        let wide = Extent { width_m: 1e6, depth_m: 1.0 };
        assert_eq!(fine.octaves(16, wide, Stream::new(1, 2)).len(), 2, "10⁶ and 8·10⁶ waves");
        let terrain = raised(&fine, Grid::new(wide, 97, 5), None, 16);
        let [low, high] = terrain.min_max();
        assert!(low < -1.0 && high > 1.0 && low >= -400.0 && high <= 400.0, "{low}…{high}");
    }

    #[test]
    fn small_maps_are_exact_subsets_of_large_ones() {
        for noise in all() {
            let (small, large) =
                (raised(&noise, Grid::new(WORLD, 65, 33), None, 8), raised(&noise, Grid::new(WORLD, 257, 129), None, 8));
            assert!((0..33).all(|r| (0..65).all(|c| small[(c, r)] == large[(4 * c, 4 * r)])));
        }
    }
}
