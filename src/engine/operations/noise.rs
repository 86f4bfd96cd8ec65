//! Fractal noise: octaves of coherent noise that form hills, ridges or billows.
//!
//! Octave i = 0…n−1 is a noise nᵢ in [−1, 1] with the wavelength λᵢ = wavelength/lacunarityⁱ and the weight gainⁱ. The
//! height is amplitude · Σ gainⁱ·f(nᵢ) / Σ gainⁱ. The second sum is over all n octaves, so that later iterations only
//! add to earlier ones. f(n) = n gives fractional Brownian motion (fBm) and f(n) = 2|n| − 1 billows. Ridges follow F.
//! K. Musgrave, "Procedural Fractal Terrains" (chapter 16 of Ebert and others, "Texturing and Modeling: A Procedural
//! Approach", 3rd edition, 2003), "ridged multifractal terrain": s = (1 − |n|)², with each octave weighted by the one
//! before, w₀ = 1, wᵢ₊₁ = min(1, 2·wᵢ·sᵢ), so that ridges are rugged and valleys smooth. Musgrave sums wᵢ·sᵢ, which is
//! never negative; here f = wᵢ·(2·sᵢ − 1), which is centred on 0 like the other styles.
//!
//! Perlin noise is two-dimensional and follows K. Perlin, "Improving noise", 2002, with a quintic fade; OpenSimplex is
//! K. Spencer's OpenSimplex2S. Both come from FastNoise Lite, whose values are portable: for single octaves it uses
//! integer hashes, gradient tables, floor, sums and products only. Each octave has its own seed, offset and rotation,
//! so that the zeros and the directions of their lattices do not coincide.

use fastnoise_lite::{FastNoiseLite, NoiseType};
use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::{ToFloat, ToInteger};
use crate::fault::column_positions;
use crate::heightfield::{Extent, Heightfield};
use crate::parameters::{Spec, choices, parameters};
use crate::progress::Cancelled;
use crate::random::Stream;

choices! {
    /// The noise that each octave is made of.
    pub enum Basis {
        /// Gradient noise on a square lattice. Lively, with hills of various sizes.
        Perlin = "perlin", "Perlin";
        /// Gradient noise on a triangular lattice. Rounder, more even and isotropic.
        OpenSimplex = "opensimplex", "OpenSimplex";
    }
}

choices! {
    /// How the noise of an octave becomes height.
    pub enum Shape {
        /// The plain noise (fractional Brownian motion). Hills and hollows are alike.
        Fbm = "fbm", "Rolling (fBm)";
        /// Folded and inverted (ridged multifractal). Sharp, rugged crests above smooth valleys.
        Ridged = "ridged", "Ridged";
        /// Folded. Round billows between narrow furrows.
        Billow = "billow", "Billowy";
    }
}

parameters! {
    /// Builds terrain from fractal noise, from broad hills to fine detail.
    pub struct Noise {
        /// Type of the noise that each octave is made of.
        kind: Basis = Basis::OpenSimplex, Spec::new("Noise type");
        /// Whether the noise forms rolling hills, ridges or billows.
        shape: Shape = Shape::Fbm, Spec::new("Style");
        /// Number of layers of noise, one per iteration. The first makes the largest features; each further one adds
        /// finer detail.
        octaves: u32 = 8, Spec::number("Octaves", 1.0, 16.0).slider(1.0, 12.0);
        /// Size of the largest features, from one hill to the next.
        wavelength_m: f64 = 3000.0,
            Spec::number("Wavelength", 1.0, 1_000_000.0).slider(50.0, 20_000.0).unit("m").logarithmic();
        /// Ratio of the frequencies of consecutive octaves. Higher values make finer detail sooner.
        lacunarity: f64 = 2.0, Spec::number("Lacunarity", 1.0, 8.0).slider(1.5, 4.0);
        /// Ratio of the amplitudes of consecutive octaves. Low values make smooth hills; high values make rough rock.
        gain: f64 = 0.42, Spec::number("Gain", 0.0, 2.0).slider(0.2, 0.8);
        /// Maximum height above and depth below 0. Most of the terrain stays within half of it.
        amplitude_m: f64 = 400.0,
            Spec::number("Amplitude", 0.0, 100_000.0).slider(1.0, 3000.0).unit("m").logarithmic();
    }
}

/// Octaves with more waves than this along the longer side are left out. Even the finest grid has its samples hundreds
/// of waves apart there, and the waves must stay countable as integers.
const MAX_WAVES: f64 = (1 << 24) as f64;
/// The largest offset of an octave from the origin of the noise, in waves.
const MAX_OFFSET: f64 = 1024.0;

/// One layer of noise.
struct Octave {
    noise: FastNoiseLite,
    /// The direction of the noise's first axis divided by the wavelength: waves per metre, east and south.
    waves_per_m: [f64; 2],
    /// The noise's coordinates at the north-west corner.
    start: [f64; 2],
    /// The fraction of the total amplitude.
    share: f64,
}

impl Octave {
    /// The noise at a point of the map, in [−1, 1].
    fn at(&self, x_m: f64, z_m: f64) -> f64 {
        let [[east, south], [u, v]] = [self.waves_per_m, self.start];
        let noise = self.noise.get_noise_2d(u + x_m * east + z_m * south, v + z_m * east - x_m * south);
        // The library scales its noise to this range except for rounding.
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
    /// The contribution of a noise value in [−1, 1] to the height, in [−1, 1]. `weight` is the ridge weight of this
    /// octave at this point and becomes that of the next.
    fn height(self, noise: f64, weight: &mut f64) -> f64 {
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
        // gainⁱ and lacunarityⁱ by repeated multiplication, i = 0…n−1.
        let powers =
            |base: f64| (0..self.octaves).scan(1.0, move |power, _| Some(std::mem::replace(power, *power * base)));
        let total: f64 = powers(self.gain).sum();
        let longer_m = extent.width_m.max(extent.depth_m);
        (1..=until)
            .zip(powers(self.gain).zip(powers(self.lacunarity)))
            .filter(|(_, (_, finer))| longer_m * finer <= MAX_WAVES * self.wavelength_m)
            .map(|(i, (weight, finer))| {
                let mut rng = stream.at(u64::from(i));
                let seed = (rng.unit() * (1_u64 << 32).to_f64()).to_u32();
                let start = [rng.unit() * MAX_OFFSET, rng.unit() * MAX_OFFSET];
                let (south, east) = libm::sincos(rng.unit() * std::f64::consts::TAU);
                let waves_per_m = [east, south].map(|along| along * finer / self.wavelength_m);
                Octave { noise: self.kind.noise(seed.cast_signed()), waves_per_m, start, share: weight / total }
            })
            .collect()
    }
}

/// Fractional Brownian motion of five octaves of Perlin noise, each half as high and half as long as the one before.
pub(crate) struct Fbm {
    octaves: Vec<Octave>,
}

impl Fbm {
    /// The noise whose largest features have the given wavelength.
    pub(crate) fn new(wavelength_m: f64, extent: Extent, stream: Stream) -> Self {
        let (kind, shape) = (Basis::Perlin, Shape::Fbm);
        let noise = Noise { kind, shape, octaves: 5, wavelength_m, lacunarity: 2.0, gain: 0.5, amplitude_m: 1.0 };
        Self { octaves: noise.octaves(noise.octaves, extent, stream) }
    }

    /// The noise at a place, in [−1, 1].
    pub(crate) fn at(&self, x_m: f64, z_m: f64) -> f64 {
        self.octaves.iter().map(|octave| octave.share * octave.at(x_m, z_m)).sum()
    }
}

impl Operation for Noise {
    const KEY: &'static str = "noise";
    const LABEL: &'static str = "Noise";
    const WORDS: &'static str = "fractal fbm simplex hill detail";

    fn uses_seed(&self) -> bool {
        true
    }

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
                        *sum += octave.share * shape.height(octave.at(x_m, z_m), weight);
                    }
                    context.progress.check()?;
                }
                heights
                    .iter_mut()
                    .zip(&*columns)
                    .for_each(|(height, [sum, _])| *height = (self.amplitude_m * sum).to_f32());
                counter.add_one()
            },
        )?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_subset, evaluated, stream};
    use super::*;
    use crate::heightfield::Grid;

    const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 1700.0 };

    /// Every noise type in every style.
    fn all() -> Vec<Noise> {
        let of_kind = |&kind| Shape::ALL.iter().map(move |&shape| Noise { kind, shape, ..Default::default() });
        Basis::ALL.iter().flat_map(of_kind).collect()
    }

    #[test]
    fn styles_by_hand() {
        let heights = |shape: Shape| [-1.0, -0.5, 0.0, 0.5, 1.0].map(|noise| shape.height(noise, &mut 1.0));
        assert_eq!(heights(Shape::Fbm), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(heights(Shape::Billow), [1.0, 0.0, -1.0, 0.0, 1.0]);
        assert_eq!(heights(Shape::Ridged), [-1.0, -0.5, 1.0, -0.5, -1.0]);
        // (1 − 0.5)² = 0.25: the next octave has half the weight; the one after it, on the crest, has full weight
        // again.
        let mut weight = 1.0;
        let octaves = [0.5, 0.0, 0.0].map(|noise| (Shape::Ridged.height(noise, &mut weight), weight));
        assert_eq!(octaves, [(-0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]);
    }

    #[test]
    fn the_values_of_the_noise_library_are_unchanged() {
        let values = |basis: Basis| {
            let noise = basis.noise(1234);
            [[0.3, 0.7], [17.45, -3.21], [1e6 + 0.125, 7.5], [0.0, 0.0]]
                .map(|[x, y]| noise.get_noise_2d(x, y).to_bits())
        };
        assert_eq!(values(Basis::Perlin), [3_177_953_069, 1_036_685_750, 3_201_968_936, 0]);
        assert_eq!(values(Basis::OpenSimplex), [3_186_443_194, 3_199_603_517, 3_164_457_429, 2_421_875_651]);
    }

    /// Perlin noise by its formula, with the gradients at the corners measured from the library.
    #[test]
    fn perlin_noise_fades_between_the_gradients_at_the_corners() {
        let noise = Basis::Perlin.noise(77);
        let at = |x: f64, y: f64| f64::from(noise.get_noise_2d(x, y));
        let step = 1.0 / 1024.0;
        let slope = |x: f64, y: f64| {
            let across = |east: f64, south: f64| (at(x + east, y + south) - at(x - east, y - south)) / (2.0 * step);
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
    fn the_terrain_is_the_plain_sum_and_each_iteration_adds_an_octave() {
        let grid = Grid::new(WORLD, 41, 25);
        for noise in all() {
            for until in [0, 1, 3, noise.octaves] {
                let terrain = evaluated(&noise, grid, None, until);
                for (c, r) in [(0, 0), (7, 20), (40, 24), (23, 11)] {
                    let (mut sum, mut total, mut weight) = (0.0, 0.0, 1.0_f64);
                    for i in 0..noise.octaves {
                        let gain = libm::pow(noise.gain, f64::from(i));
                        total += gain;
                        if i >= until {
                            continue;
                        }
                        let mut rng = stream().at(u64::from(i) + 1);
                        let seed = (rng.unit() * 4_294_967_296.0) as u32 as i32;
                        let [u, v, turn] = [1024.0, 1024.0, std::f64::consts::TAU].map(|max| rng.unit() * max);
                        let scale = noise.wavelength_m / libm::pow(noise.lacunarity, f64::from(i));
                        let (x, z) = (grid.x_m(c) / scale, grid.z_m(r) / scale);
                        let turned =
                            [x * libm::cos(turn) + z * libm::sin(turn), z * libm::cos(turn) - x * libm::sin(turn)];
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
                    let expected = noise.amplitude_m * sum / total;
                    let found = f64::from(terrain[(c, r)]);
                    assert!((found - expected).abs() < 1e-3, "{noise:?} after {until}: {found}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn the_terrain_stays_within_the_amplitude_and_uses_it() {
        let grid = Grid::new(Extent { width_m: 100_000.0, depth_m: 100_000.0 }, 257, 257);
        for noise in all() {
            let one = Noise { octaves: 1, wavelength_m: 3000.0, amplitude_m: 100.0, ..noise.clone() };
            let [low, high] = evaluated(&one, grid, None, 1).min_max();
            assert!(low >= -100.0 && high <= 100.0, "{one:?}: {low}…{high}");
            assert!(high - low > 150.0, "{one:?}: {low}…{high}");
            let [low, high] =
                evaluated(&Noise { amplitude_m: 100.0, wavelength_m: 3000.0, ..noise }, grid, None, 8).min_max();
            assert!(low >= -100.0 && high <= 100.0 && high - low > 60.0, "{low}…{high}");
        }
    }

    #[test]
    fn octaves_too_fine_for_any_grid_are_left_out() {
        let fine = Noise { octaves: 16, lacunarity: 8.0, wavelength_m: 1.0, ..Default::default() };
        let wide = Extent { width_m: 1e6, depth_m: 1.0 };
        assert_eq!(fine.octaves(16, wide, Stream::new(1, 2)).len(), 2, "10⁶ and 8·10⁶ waves");
        let terrain = evaluated(&fine, Grid::new(wide, 97, 5), None, 16);
        let [low, high] = terrain.min_max();
        assert!(low < -1.0 && high > 1.0 && low >= -400.0 && high <= 400.0, "{low}…{high}");
    }

    #[test]
    fn small_maps_are_exact_subsets_of_large_ones() {
        for noise in all() {
            let [small, large] =
                [[65, 33], [257, 129]].map(|[c, r]| evaluated(&noise, Grid::new(WORLD, c, r), None, 8));
            assert_subset(&small, &large);
        }
    }
}
