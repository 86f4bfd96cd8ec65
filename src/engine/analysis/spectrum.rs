//! The power spectrum of a terrain: the distribution of its relief over wavelengths.

use num_complex::Complex;
use rayon::prelude::*;

use super::line_fit::fitted_slope;
use crate::cast::{ToFloat, ToInteger};
use crate::fourier::{FourierTransform, Workspace};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// The minimum number of samples along a side.
const MIN_SAMPLES: usize = 32;

/// The lowest wave number, in waves per side, that is part of the spectrum. Longer waves are dominated by the window.
const FIRST_WAVE: usize = 4;

/// The power spectrum of the largest square in the north-west corner of a terrain, after removing the best-fit plane
/// and applying a Hann window, summed over rings of equal wave number.
///
/// The same heights give bit-identical results on every machine: the Fourier transform is our own (see `fourier`), and
/// no sum depends on how threads divide the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Pairs of wavelength in metres and power in m², from the longest wave, a quarter of the side, to the shortest,
    /// four samples. The power of a ring is the mean square of the heights of its waves. Empty for level and for small
    /// terrain.
    pub points: Vec<[f64; 2]>,
}

impl Spectrum {
    /// Computes the spectrum. Needs 4 bytes per sample of temporary memory.
    pub fn of(terrain: &Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let grid = terrain.grid();
        let side = grid.width().min(grid.height());
        if side < MIN_SAMPLES {
            return Ok(Self { points: Vec::new() });
        }
        let rings = ring_powers(terrain, side, progress)?;
        if rings[FIRST_WAVE..].contains(&0.0) {
            return Ok(Self { points: Vec::new() });
        }
        // By Parseval's theorem the sum over all rings is the mean square, after correcting for the window.
        let window_power = hann(side).map(|weight| weight * weight).sum::<f64>();
        let effective_samples = side.to_f64() * window_power;
        let factor = 1.0 / (effective_samples * effective_samples);
        let side_m = side.to_f64() * (grid.spacing_x_m() * grid.spacing_z_m()).sqrt();
        let point = |(k, power): (usize, &f64)| [side_m / k.to_f64(), power * factor];
        Ok(Self { points: rings.iter().enumerate().skip(FIRST_WAVE).map(point).collect() })
    }

    /// The slope of the best-fit line through the logarithm of power over the logarithm of wave number.
    pub fn slope(&self) -> Option<f64> {
        let logarithms: Vec<[f64; 2]> = self.logarithms().collect();
        fitted_slope(&logarithms)
    }

    /// The power of the best-fit line, in m², at a wavelength in metres.
    pub fn line_at(&self, wavelength_m: f64) -> Option<f64> {
        let slope = self.slope()?;
        let count = self.points.len().to_f64();
        let [x, y] = self.logarithms().fold([0.0; 2], |[x, y], [u, v]| [x + u / count, y + v / count]);
        Some(libm::exp(y + slope * (-libm::log(wavelength_m) - x)))
    }

    /// The logarithms of wave number (per metre) and power.
    fn logarithms(&self) -> impl Iterator<Item = [f64; 2]> {
        self.points.iter().map(|[wavelength_m, power]| [-libm::log(*wavelength_m), libm::log(*power)])
    }
}

/// The slope of the [`Spectrum`]; `None` for level and for small terrain.
pub fn spectral_slope(terrain: &Heightfield, progress: &Progress) -> Result<Option<f64>, Cancelled> {
    Ok(Spectrum::of(terrain, progress)?.slope())
}

/// The unscaled power of every ring of wave numbers, from 0 to side/4.
fn ring_powers(terrain: &Heightfield, side: usize, progress: &Progress) -> Result<Vec<f64>, Cancelled> {
    // Heights are real, so the waves (−kx, −ky) and (kx, ky) have the same power: columns from 0 to side/4 suffice.
    let count = side / 4 + 1;
    let fourier = FourierTransform::new(side);
    let rows = row_transforms(terrain, side, count, &fourier, progress)?;
    let powers_of_column = |(column, space): &mut (Vec<Complex<f64>>, Workspace), kx: usize| {
        column.clear();
        column.extend(rows[kx..].iter().step_by(count));
        fourier.run(column, space);
        let mut powers = vec![0.0; count];
        for (ky, value) in column.iter().enumerate() {
            let ring = libm::hypot(kx.to_f64(), ky.min(side - ky).to_f64()).round().to_usize();
            if let Some(sum) = powers.get_mut(ring) {
                *sum += value.norm_sqr();
            }
        }
        progress.check().map(|()| powers)
    };
    let columns = (0..count).into_par_iter().map_init(Default::default, powers_of_column);
    let powers: Vec<Vec<f64>> = columns.collect::<Result<_, _>>()?;
    let mut rings = vec![0.0; count];
    for (kx, powers) in powers.iter().enumerate() {
        let waves = if kx == 0 { 1.0 } else { 2.0 };
        rings.iter_mut().zip(powers).for_each(|(sum, power)| *sum += waves * power);
    }
    Ok(rings)
}

/// The Fourier transforms of the rows, row-major: the first `count` coefficients of each.
fn row_transforms(
    terrain: &Heightfield,
    side: usize,
    count: usize,
    fourier: &FourierTransform,
    progress: &Progress,
) -> Result<Vec<Complex<f64>>, Cancelled> {
    let plane = Plane::fitted(terrain, side, progress)?;
    let window: Vec<f64> = hann(side).collect();
    let value = |c: usize, r: usize| (f64::from(terrain[(c, r)]) - plane.height(c, r)) * window[c] * window[r];
    let mut transforms = vec![Complex::default(); side * count];
    transforms.par_chunks_mut(2 * count).enumerate().try_for_each_init(
        <(Vec<Complex<f64>>, Workspace)>::default,
        |(line, space), (pair, rows)| {
            // Two real rows are transformed as one complex row and separated by their symmetry.
            let (first, second) = (2 * pair, 2 * pair + 1);
            let imaginary = |c: usize| if second < side { value(c, second) } else { 0.0 };
            line.clear();
            line.extend((0..side).map(|c| Complex::new(value(c, first), imaginary(c))));
            fourier.run(line, space);
            let (first, second) = rows.split_at_mut(count);
            for (k, first) in first.iter_mut().enumerate() {
                *first = (line[k] + line[(side - k) % side].conj()) * 0.5;
            }
            for (k, second) in second.iter_mut().enumerate() {
                *second = (line[k] - line[(side - k) % side].conj()) * Complex::new(0.0, -0.5);
            }
            progress.check()
        },
    )?;
    Ok(transforms)
}

/// The weights of a Hann window.
fn hann(side: usize) -> impl Iterator<Item = f64> {
    (0..side).map(move |i| 0.5 - 0.5 * libm::cos(std::f64::consts::TAU * (i.to_f64() + 0.5) / side.to_f64()))
}

/// A plane over the square: its height in the centre and its slopes per sample.
struct Plane {
    centre: f64,
    mean: f64,
    slopes: [f64; 2],
}

impl Plane {
    /// The best-fit plane of the square in the north-west corner.
    fn fitted(terrain: &Heightfield, side: usize, progress: &Progress) -> Result<Self, Cancelled> {
        let centre = (side - 1).to_f64() / 2.0;
        let [mut sum, mut east, mut south] = [0.0; 3];
        for r in 0..side {
            progress.check()?;
            for (c, height) in terrain.row(r)[..side].iter().enumerate() {
                let height = f64::from(*height);
                sum += height;
                east += height * (c.to_f64() - centre);
                south += height * (r.to_f64() - centre);
            }
        }
        let samples = (side * side).to_f64();
        // Σ(c − centre)² over the square: turns the first moments into slopes.
        let moment = samples * (side * side - 1).to_f64() / 12.0;
        Ok(Self { centre, mean: sum / samples, slopes: [east / moment, south / moment] })
    }

    fn height(&self, c: usize, r: usize) -> f64 {
        self.mean + self.slopes[0] * (c.to_f64() - self.centre) + self.slopes[1] * (r.to_f64() - self.centre)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: 10.0 * (side - 1) as f64, depth_m: 10.0 * (side - 1) as f64 }, side, side)
    }

    fn spectrum(terrain: &Heightfield) -> Spectrum {
        Spectrum::of(terrain, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn level_and_small_terrain_has_no_spectrum() {
        for terrain in [Heightfield::flat(grid(65)), Heightfield::from_fn(grid(31), |c, r| (c * r % 7) as f32)] {
            assert_eq!((spectrum(&terrain).points, spectral_slope(&terrain, &Progress::new())), (Vec::new(), Ok(None)));
        }
    }

    #[test]
    fn a_wave_has_its_power_at_its_wavelength() {
        // 16 waves on 256 samples of 10 m, with an amplitude of 3 m: a wavelength of 160 m and a power of half of 3²
        // m². The window spreads the wave over three rings. A little noise keeps the other rings from being empty.
        let (tau, mut rng) = (std::f64::consts::TAU, crate::random::Stream::new(1, 0).at(0));
        let rough = |c: usize, _| 3.0 * libm::sin(tau * 16.0 * c as f64 / 256.0) as f32 + 1e-3 * rng.unit() as f32;
        let spectrum = spectrum(&Heightfield::from_fn(grid(256), rough));
        let near = |point: &&[f64; 2]| (2560.0 / 17.5..2560.0 / 14.5).contains(&point[0]);
        let power: f64 = spectrum.points.iter().filter(near).map(|point| point[1]).sum();
        assert!((power - 4.5).abs() < 0.01, "{power}");
        let highest = spectrum.points.iter().max_by(|a, b| a[1].total_cmp(&b[1])).expect("points");
        assert!((highest[0] - 160.0).abs() < 1e-9, "{highest:?}");
        assert!((spectrum.points[0][0] - 640.0).abs() < 1e-9 && spectrum.points.len() == 61);
    }

    #[test]
    fn the_power_of_white_noise_grows_with_the_wave_number() {
        // Its power is uniform over the plane of waves, so a ring's power grows with its circumference: slope 1.
        let of_seed = |seed| {
            let mut rng = crate::random::Stream::new(seed, 0).at(0);
            spectrum(&Heightfield::from_fn(grid(256), |_, _| rng.unit() as f32))
        };
        let all: Vec<Spectrum> = (0..8).map(of_seed).collect();
        let mean = all.iter().filter_map(Spectrum::slope).sum::<f64>() / 8.0;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
        // The line has that slope and passes through the centroid of the points.
        let (first, at) = (&all[0], |metres| all[0].line_at(metres).expect("a line"));
        let slope = libm::log(at(100.0) / at(200.0)) / libm::log(2.0);
        assert!((slope - first.slope().expect("rough")).abs() < 1e-9);
        let off: f64 = first.points.iter().map(|[metres, power]| libm::log(power / at(*metres))).sum();
        assert!(off.abs() < 1e-6, "{off}");
    }

    #[test]
    fn points_have_the_same_bits_on_every_machine() {
        let mut rng = crate::random::Stream::new(3, 0).at(0);
        let rough = Heightfield::from_fn(grid(33), |c, r| (40.0 * rng.unit()) as f32 + (c * r % 11) as f32);
        let powers: Vec<u64> = spectrum(&rough).points.iter().map(|point| point[1].to_bits()).collect();
        let expected = [
            0x4013_2c50_bad5_7130,
            0x400e_1840_4fb0_08b1,
            0x4017_22c0_6339_a494,
            0x4020_18e3_2b6a_8b9f,
            0x4015_3319_c8e1_5769,
        ];
        assert_eq!(powers, expected, "{powers:#x?}");
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| spectrum(&rough))
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn ring_powers_agree_with_the_formula() {
        let mut rng = crate::random::Stream::new(5, 0).at(0);
        let rough = Heightfield::from_fn(grid(35), |_, _| rng.unit() as f32);
        let found = ring_powers(&rough, 35, &Progress::new()).expect("not cancelled");
        let plane = Plane::fitted(&rough, 35, &Progress::new()).expect("not cancelled");
        let window: Vec<f64> = hann(35).collect();
        let mut expected = vec![0.0; found.len()];
        for (kx, ky) in (0..35).flat_map(|kx| (0..35).map(move |ky| (kx, ky))) {
            let mut sum = Complex::new(0.0, 0.0);
            for (c, r) in (0..35).flat_map(|c| (0..35).map(move |r| (c, r))) {
                let value = (f64::from(rough[(c, r)]) - plane.height(c, r)) * window[c] * window[r];
                let (sine, cosine) = libm::sincos(-std::f64::consts::TAU * ((c * kx + r * ky) % 35) as f64 / 35.0);
                sum += value * Complex::new(cosine, sine);
            }
            let [x, y] = [kx, ky].map(|k: usize| k.min(35 - k) as f64);
            if let Some(ring) = expected.get_mut(libm::hypot(x, y).round() as usize) {
                *ring += sum.norm_sqr();
            }
        }
        for (ring, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "ring {ring}: {found}, not {expected}");
        }
    }
}
