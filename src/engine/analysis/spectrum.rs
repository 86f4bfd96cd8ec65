//! How much of the land's relief lies at which wavelengths.

use rayon::prelude::*;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use super::slope_of_line;
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};

/// The fewest samples along a side of land that has a spectrum.
const LEAST_SAMPLES: usize = 32;

/// The longest wave that counts goes this often into the side: longer ones are the window's.
const FIRST_WAVE: usize = 4;

/// The power of the land's waves, ring by ring: plane removed, under a Hann window, on the largest square in the
/// north-west.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Wavelength in metres and power in m², from the longest wave, a fourth of the side, to the shortest, of four
    /// samples. The power of a ring is the mean square of the heights of all its waves. Empty for land that is level
    /// or too small.
    pub points: Vec<[f64; 2]>,
}

impl Spectrum {
    /// Measures the land; takes 16 bytes a sample meanwhile.
    pub fn of(terrain: &Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let grid = terrain.grid();
        let side = grid.width().min(grid.height());
        if side < LEAST_SAMPLES {
            return Ok(Self { points: Vec::new() });
        }
        let mut spectrum = windowed(terrain, side, progress)?;
        let fft = FftPlanner::new().plan_fft_forward(side);
        for _ in 0..2 {
            spectrum.par_chunks_mut(side).try_for_each_init(
                || vec![Complex::default(); fft.get_inplace_scratch_len()],
                |scratch, row| {
                    fft.process_with_scratch(row, scratch);
                    progress.check()
                },
            )?;
            transpose(&mut spectrum, side);
        }
        let mut rings = vec![0.0; side / 4 + 1];
        for (i, value) in spectrum.iter().enumerate() {
            let wave = |i: usize| i.min(side - i) as f64;
            let ring = libm::hypot(wave(i % side), wave(i / side)).round() as usize;
            if let Some(sum) = rings.get_mut(ring) {
                *sum += value.norm_sqr();
            }
        }
        if rings[FIRST_WAVE..].contains(&0.0) {
            return Ok(Self { points: Vec::new() });
        }
        // By Parseval's theorem, and with what the window lets through, the sum over all rings is the mean square.
        let let_through = hann(side).map(|weight| weight * weight).sum::<f64>();
        let samples_seen = side as f64 * let_through;
        let factor = 1.0 / (samples_seen * samples_seen);
        let side_m = side as f64 * (grid.spacing_x_m() * grid.spacing_z_m()).sqrt();
        let point = |(k, power): (usize, &f64)| [side_m / k as f64, power * factor];
        Ok(Self { points: rings.iter().enumerate().skip(FIRST_WAVE).map(point).collect() })
    }

    /// The slope of the line of best fit through the power over the wave number, both logarithmic.
    pub fn slope(&self) -> Option<f64> {
        let logarithms: Vec<[f64; 2]> = self.logarithms().collect();
        slope_of_line(&logarithms)
    }

    /// That line: its power in m² at a wavelength in metres.
    pub fn line_at(&self, wavelength_m: f64) -> Option<f64> {
        let slope = self.slope()?;
        let count = self.points.len() as f64;
        let [x, y] = self.logarithms().fold([0.0; 2], |[x, y], [u, v]| [x + u / count, y + v / count]);
        Some(libm::exp(y + slope * (-libm::log(wavelength_m) - x)))
    }

    /// The logarithms of the wave numbers a metre, and of the powers.
    fn logarithms(&self) -> impl Iterator<Item = [f64; 2]> {
        self.points.iter().map(|[wavelength_m, power]| [-libm::log(*wavelength_m), libm::log(*power)])
    }
}

/// The slope of the [`Spectrum`]; `None` for land that is level or too small.
pub fn spectral_slope(terrain: &Heightfield, progress: &Progress) -> Result<Option<f64>, Cancelled> {
    Ok(Spectrum::of(terrain, progress)?.slope())
}

/// The weights of a Hann window.
fn hann(side: usize) -> impl Iterator<Item = f64> {
    (0..side).map(move |i| 0.5 - 0.5 * libm::cos(std::f64::consts::TAU * (i as f64 + 0.5) / side as f64))
}

/// The north-west square of the land less its plane of best fit, under a Hann window.
fn windowed(terrain: &Heightfield, side: usize, progress: &Progress) -> Result<Vec<Complex<f64>>, Cancelled> {
    let centre = (side - 1) as f64 / 2.0;
    let [mut mean, mut east, mut south] = [0.0; 3];
    for r in 0..side {
        progress.check()?;
        for (c, height) in terrain.row(r)[..side].iter().enumerate() {
            let height = f64::from(*height);
            mean += height;
            east += height * (c as f64 - centre);
            south += height * (r as f64 - centre);
        }
    }
    let samples = (side * side) as f64;
    // Σ(c − centre)² over the square, by which the moments become slopes.
    let moment = samples * (side * side - 1) as f64 / 12.0;
    let window: Vec<f64> = hann(side).collect();
    let mut values = Vec::with_capacity(side * side);
    for r in 0..side {
        progress.check()?;
        for (c, height) in terrain.row(r)[..side].iter().enumerate() {
            let plane = mean / samples + (east * (c as f64 - centre) + south * (r as f64 - centre)) / moment;
            values.push(Complex::new((f64::from(*height) - plane) * window[c] * window[r], 0.0));
        }
    }
    Ok(values)
}

fn transpose(values: &mut [Complex<f64>], side: usize) {
    for r in 0..side {
        for c in 0..r {
            values.swap(r * side + c, c * side + r);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: 10.0 * (side - 1) as f64, depth_m: 10.0 * (side - 1) as f64 }, side, side)
    }

    fn spectrum(terrain: &Heightfield) -> Spectrum {
        Spectrum::of(terrain, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn level_and_small_land_has_no_spectrum() {
        for terrain in [Heightfield::flat(grid(65)), Heightfield::from_fn(grid(31), |c, r| (c * r % 7) as f32)] {
            assert_eq!((spectrum(&terrain).points, spectral_slope(&terrain, &Progress::new())), (Vec::new(), Ok(None)));
        }
    }

    #[test]
    fn a_wave_has_its_power_at_its_wavelength() {
        // 16 waves on 256 samples of 10 m, with an amplitude of 3 m: 160 m, and half of 3² m². The window spreads a
        // wave over three rings. What is left over of ground that is no wave keeps the others from being empty.
        let (tau, mut draw) = (std::f64::consts::TAU, crate::engine::random::Stream::new(1, 0).at(0));
        let rough = |c: usize, _| 3.0 * libm::sin(tau * 16.0 * c as f64 / 256.0) as f32 + 1e-3 * draw.unit() as f32;
        let spectrum = spectrum(&Heightfield::from_fn(grid(256), rough));
        let near = |point: &&[f64; 2]| (2560.0 / 17.5..2560.0 / 14.5).contains(&point[0]);
        let power: f64 = spectrum.points.iter().filter(near).map(|point| point[1]).sum();
        assert!((power - 4.5).abs() < 0.01, "{power}");
        let highest = spectrum.points.iter().max_by(|a, b| a[1].total_cmp(&b[1])).expect("points");
        assert!((highest[0] - 160.0).abs() < 1e-9, "{highest:?}");
        assert!((spectrum.points[0][0] - 640.0).abs() < 1e-9 && spectrum.points.len() == 61);
    }

    #[test]
    fn white_noise_has_a_ring_sum_that_grows_with_the_wave_number() {
        // Power is spread evenly over the plane, so a ring holds as much as it is long: slope +1.
        let of_seed = |seed| {
            let mut draw = crate::engine::random::Stream::new(seed, 0).at(0);
            spectrum(&Heightfield::from_fn(grid(256), |_, _| draw.unit() as f32))
        };
        let all: Vec<Spectrum> = (0..8).map(of_seed).collect();
        let mean = all.iter().filter_map(Spectrum::slope).sum::<f64>() / 8.0;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
        // The line goes the way of its slope, and through the middle of the points.
        let (first, at) = (&all[0], |metres| all[0].line_at(metres).expect("a line"));
        let slope = libm::log(at(100.0) / at(200.0)) / libm::log(2.0);
        assert!((slope - first.slope().expect("rough")).abs() < 1e-9);
        let off: f64 = first.points.iter().map(|[metres, power]| libm::log(power / at(*metres))).sum();
        assert!(off.abs() < 1e-6, "{off}");
    }
}
