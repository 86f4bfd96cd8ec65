//! A band-pass or band-stop filter, along rows, along columns or in all directions.
//!
//! After Krten, Dr. Dobb's Journal, July 1994, who suggests the Fourier transform of each row. Here the terrain is
//! mirrored at its borders, which avoids a cliff where its ends meet. It is then a sum of cosines: h = Σ
//! a·cos(π·kx·x/Lx)·cos(π·kz·z/Lz), with fx = kx/(2·Lx) cycles per metre, fz likewise, and the wavelength 1/√(fx² +
//! fz²), or 1/fx or 1/fz along rows or columns alone. The mean, k = 0, is not a wave and is always kept.
//!
//! The transform is implemented in `engine::cosine_transform`, because libraries are not bit-identical across machines.

use num_complex::Complex;
use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::cosine_transform::{CosineTransform, Workspace};
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, choices, parameters};
use crate::progress::{Cancelled, Progress, ProgressCounter};
use crate::rounding::smoothstep;
use crate::strips::{STRIP, strips};

choices! {
    /// The directions along which wavelengths are measured.
    pub enum Along {
        /// All directions: features of that size in any orientation.
        Both = "both", "All directions";
        /// West to east: each row of the map is filtered separately.
        Rows = "rows", "Rows, west to east";
        /// North to south: each column of the map is filtered separately.
        Columns = "columns", "Columns, north to south";
    }
}

parameters! {
    /// Keeps or removes all features within a range of sizes, such as pebbles, hills or mountain ranges.
    pub struct BandFilter {
        /// Keeps only the features within the band (band-pass) instead of removing them (band-stop). The mean height is
        /// always kept.
        keep: bool = false, Spec::new("Keep band");
        /// Shortest wavelength of the band, from crest to crest. If it is above the longest one, the two are swapped.
        shortest_m: f64 = 1.0,
            Spec::number("Shortest wavelength", 0.0, 10_000_000.0).slider(1.0, 10_000.0).unit("m").logarithmic();
        /// Longest wavelength of the band, from crest to crest.
        longest_m: f64 = 100.0,
            Spec::number("Longest wavelength", 0.0, 10_000_000.0).slider(10.0, 20_000.0).unit("m").logarithmic();
        /// Width of the transition at each end of the band. 0 makes a sharp cutoff, which leaves ripples next to
        /// cliffs.
        shoulder: f64 = 2.0, Spec::number("Roll-off", 0.0, 16.0).slider(0.0, 4.0).unit("octaves");
        /// Directions along which wavelengths are measured.
        along: Along = Along::Both, Spec::new("Direction");
    }
}

/// A relative tolerance, so that a wave exactly as long as a limit belongs to the band despite rounding.
const TOLERANCE: f64 = 1e-9;

/// The frequency response of the band.
#[derive(Clone, Copy, Debug)]
struct Response {
    keep: bool,
    shortest_m: f64,
    longest_m: f64,
    shoulder: f64,
    /// The wavelengths at which the response has fallen to 0.
    stop_m: [f64; 2],
}

impl Response {
    fn new(filter: &BandFilter) -> Self {
        let shortest_m = filter.shortest_m.min(filter.longest_m) * (1.0 - TOLERANCE);
        let longest_m = filter.shortest_m.max(filter.longest_m) * (1.0 + TOLERANCE);
        let widening = libm::exp2(filter.shoulder);
        let stop_m = [shortest_m / widening, longest_m * widening];
        Self { keep: filter.keep, shortest_m, longest_m, shoulder: filter.shoulder, stop_m }
    }

    /// The response at a spatial frequency: 1 within the band, 0 beyond the roll-off, in between a smoothstep of the
    /// octaves. The mean is not a wave; its response keeps it in either mode.
    fn gain(&self, cycles_per_m: [f64; 2]) -> f64 {
        let [x, z] = cycles_per_m;
        if x == 0.0 && z == 0.0 {
            return f64::from(u8::from(self.keep));
        }
        let wavelength_m = 1.0 / (x * x + z * z).sqrt();
        if (self.shortest_m..=self.longest_m).contains(&wavelength_m) {
            return 1.0;
        }
        if wavelength_m <= self.stop_m[0] || wavelength_m >= self.stop_m[1] {
            return 0.0;
        }
        let ratio =
            if wavelength_m < self.shortest_m { self.shortest_m / wavelength_m } else { wavelength_m / self.longest_m };
        let t = (libm::log2(ratio) / self.shoulder).min(1.0);
        1.0 - smoothstep(t)
    }
}

/// The buffers of a thread: two rows or columns as one complex line, and the transform's workspace.
type Lines = (Vec<Complex<f64>>, Workspace);

/// Calls `work` for every two rows, as the real and the imaginary part of a complex line, with the first row's index.
fn for_row_pairs(
    heights: &mut [f32],
    width: usize,
    counter: &ProgressCounter,
    work: impl Fn(&mut [Complex<f64>], usize, &mut Workspace) + Sync,
) -> Result<(), Cancelled> {
    heights.par_chunks_mut(2 * width).enumerate().try_for_each_init(Lines::default, |(line, space), (i, rows)| {
        let (first, second) = rows.split_at_mut(width);
        line.clear();
        line.extend(first.iter().map(|&height| Complex::new(f64::from(height), 0.0)));
        line.iter_mut().zip(&*second).for_each(|(value, &height)| value.im = f64::from(height));
        work(line, 2 * i, space);
        first.iter_mut().zip(&*line).for_each(|(height, value)| *height = value.re.to_f32());
        second.iter_mut().zip(&*line).for_each(|(height, value)| *height = value.im.to_f32());
        counter.add_one()
    })
}

/// Calls `work` for every two columns, like [`for_row_pairs`].
fn for_column_pairs(
    heights: &mut [f32],
    width: usize,
    counter: &ProgressCounter,
    work: impl Fn(&mut [Complex<f64>], usize, &mut Workspace) + Sync,
    progress: &Progress,
) -> Result<(), Cancelled> {
    strips(heights, width, progress)?.par_iter_mut().enumerate().try_for_each_init(
        Lines::default,
        |(line, space), (s, strip)| {
            let lanes = strip.first().map_or(0, |piece| piece.len());
            for lane in (0..lanes).step_by(2) {
                line.clear();
                line.extend(strip.iter().map(|piece| {
                    Complex::new(f64::from(piece[lane]), piece.get(lane + 1).copied().map_or(0.0, f64::from))
                }));
                work(line, s * STRIP + lane, space);
                for (piece, value) in strip.iter_mut().zip(&*line) {
                    piece[lane] = value.re.to_f32();
                    if let Some(height) = piece.get_mut(lane + 1) {
                        *height = value.im.to_f32();
                    }
                }
                counter.add_one()?;
            }
            Ok(())
        },
    )
}

impl Operation for BandFilter {
    const KEY: &'static str = "band_filter";
    const LABEL: &'static str = "Band filter";
    const WORDS: &'static str = "frequency high-pass low-pass wavelength detail fourier";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let Some(below) = context.below else { return context.heights_below() };
        let (progress, width) = (context.progress, context.grid.width());
        // Heights relative to the north-west corner: level terrain is all zeros and stays bit-identical.
        let corner_m = below[(0, 0)];
        let mut terrain = Heightfield::flat(context.grid);
        terrain.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
            row.iter_mut().zip(below.row(r)).for_each(|(wave, height)| *wave = height - corner_m);
            progress.check()
        })?;
        self.filter(&mut terrain, progress)?;
        // Removed waves are subtracted from the terrain, so that terrain without them stays bit-identical.
        let keep = self.keep;
        terrain.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
            for (wave, height) in row.iter_mut().zip(below.row(r)) {
                *wave = if keep { corner_m + *wave } else { height - *wave };
            }
            progress.check()
        })?;
        Ok(terrain)
    }
}

impl BandFilter {
    /// Replaces the waves by their part within the band.
    fn filter(&self, waves: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (grid, response) = (waves.grid(), Response::new(self));
        let (width, height) = (grid.width(), grid.height());
        let frequency_x = |c: usize| 0.5 * c.to_f64() / grid.extent().width_m;
        let frequency_z = |r: usize| 0.5 * r.to_f64() / grid.extent().depth_m;
        let waves = waves.heights_mut();
        let (row_pairs, column_pairs) = (height.div_ceil(2), width.div_ceil(2));
        match self.along {
            Along::Rows => {
                let (counter, transform) = (progress.counter(row_pairs), CosineTransform::new(width));
                let gains: Vec<f64> = (0..width).map(|c| response.gain([frequency_x(c), 0.0])).collect();
                for_row_pairs(waves, width, &counter, |line, _, space| filter_line(line, &transform, &gains, space))
            }
            Along::Columns => {
                let (counter, transform) = (progress.counter(column_pairs), CosineTransform::new(height));
                let gains: Vec<f64> = (0..height).map(|r| response.gain([0.0, frequency_z(r)])).collect();
                let filter = |line: &mut [Complex<f64>], _: usize, space: &mut Workspace| {
                    filter_line(line, &transform, &gains, space);
                };
                for_column_pairs(waves, width, &counter, filter, progress)
            }
            Along::Both => {
                let counter = progress.counter(2 * row_pairs + column_pairs);
                let [along_x, along_z] = [width, height].map(CosineTransform::new);
                for_row_pairs(waves, width, &counter, |line, _, space| along_x.run(line, space))?;
                let filter = |line: &mut [Complex<f64>], c: usize, space: &mut Workspace| {
                    let [first, second] = [c, c + 1].map(frequency_x);
                    along_z.run(line, space);
                    for (r, wave) in line.iter_mut().enumerate() {
                        let z = frequency_z(r);
                        *wave = Complex::new(wave.re * response.gain([first, z]), wave.im * response.gain([second, z]));
                    }
                    along_z.run(line, space);
                };
                for_column_pairs(waves, width, &counter, filter, progress)?;
                for_row_pairs(waves, width, &counter, |line, _, space| along_x.run(line, space))
            }
        }
    }
}

/// Multiplies the waves of a line by their gains.
fn filter_line(line: &mut [Complex<f64>], transform: &CosineTransform, gains: &[f64], space: &mut Workspace) {
    transform.run(line, space);
    line.iter_mut().zip(gains).for_each(|(wave, gain)| *wave *= gain);
    transform.run(line, space);
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::super::testing::{modified, rough_terrain};
    use super::*;
    use crate::heightfield::{Extent, Grid};

    const WORLD: Extent = Extent { width_m: 4000.0, depth_m: 1500.0 };

    /// A grid of which neither side is a power of two plus one.
    fn grid() -> Grid {
        Grid::new(WORLD, 161, 61)
    }

    fn filter(keep: bool, [shortest_m, longest_m]: [f64; 2], along: Along) -> BandFilter {
        BandFilter { keep, shortest_m, longest_m, shoulder: 0.5, along }
    }

    /// A cosine with the given half periods west to east and north to south, 100 m high, around a height of 30 m.
    fn wave([halves_x, halves_z]: [f64; 2]) -> Heightfield {
        Heightfield::from_fn(grid(), |c, r| {
            let [across_x, across_z] = [c as f64 / 160.0, r as f64 / 60.0];
            (30.0 + 100.0 * libm::cos(PI * halves_x * across_x) * libm::cos(PI * halves_z * across_z)) as f32
        })
    }

    /// Checks the remaining amplitude of a wave of 100 m to a thousandth.
    #[track_caller]
    fn check(filter: &BandFilter, halves: [f64; 2], share: f64) {
        let (terrain, found) = (wave(halves), modified(filter, &wave(halves)));
        for (found, height) in found.heights().iter().zip(terrain.heights()) {
            let expected = 30.0 + share * (f64::from(*height) - 30.0);
            assert!((f64::from(*found) - expected).abs() < 0.1, "{filter:?}, {halves:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn only_waves_within_the_band_are_kept_or_removed() {
        // 20 half periods along 4000 m are waves of 400 m, 10 along 1500 m are 300 m, and both together 240 m.
        for (halves, along, wavelength_m) in [
            ([20.0, 0.0], Along::Rows, 400.0),
            ([20.0, 10.0], Along::Rows, 400.0),
            ([0.0, 10.0], Along::Columns, 300.0),
            ([20.0, 10.0], Along::Columns, 300.0),
            ([20.0, 0.0], Along::Both, 400.0),
            ([0.0, 10.0], Along::Both, 300.0),
            ([20.0, 10.0], Along::Both, 240.0),
        ] {
            for (band, within) in [([0.9, 1.1], 1.0), ([1.0, 1.0], 1.0), ([1.5, 9.0], 0.0), ([0.1, 0.7], 0.0)] {
                let band = band.map(|factor: f64| factor * wavelength_m);
                check(&filter(true, band, along), halves, within);
                check(&filter(false, band, along), halves, 1.0 - within);
                check(&filter(false, [band[1], band[0]], along), halves, 1.0 - within);
            }
        }
    }

    #[test]
    fn the_roll_off_is_in_octaves() {
        // The middle of a roll-off of two octaves is one octave outside the band.
        let band = |shoulder| BandFilter { shoulder, ..filter(true, [800.0, 1600.0], Along::Both) };
        check(&band(2.0), [20.0, 0.0], 0.5);
        check(&band(4.0), [20.0, 0.0], 1.0 - 0.25 * 0.25 * 2.5);
        check(&band(1.0), [20.0, 0.0], 0.0);
        check(&band(0.0), [20.0, 0.0], 0.0);
        check(&band(0.0), [10.0, 0.0], 1.0);
        check(&BandFilter { longest_m: 200.0, shortest_m: 100.0, ..band(2.0) }, [20.0, 0.0], 0.5);
    }

    #[test]
    fn the_filter_matches_the_plain_sum_of_cosines() {
        let (width, height) = (9, 6);
        let grid = Grid::new(WORLD, width, height);
        let terrain = rough_terrain(grid);
        // The weight of a sample in a period of the mirrored terrain, and the value of a wave at a sample.
        let weight = |i: usize, count: usize| if i == 0 || i + 1 == count { 0.5 } else { 1.0 };
        let cosine = |k: usize, i: usize, count: usize| libm::cos(PI * (k * i) as f64 / (count - 1) as f64);
        for along in [Along::Both, Along::Rows, Along::Columns] {
            for keep in [false, true] {
                let filter = BandFilter { shoulder: 1.5, ..filter(keep, [1200.0, 2500.0], along) };
                let found = modified(&filter, &terrain);
                let mut plain = vec![0.0; width * height];
                for (kx, kz) in (0..width * height).map(|k| (k % width, k / width)) {
                    let mut amplitude = 4.0 * weight(kx, width) * weight(kz, height);
                    amplitude /= ((width - 1) * (height - 1)) as f64;
                    let sum: f64 = (0..width * height)
                        .map(|i| {
                            let (c, r) = (i % width, i / width);
                            let share = weight(c, width) * weight(r, height);
                            share * f64::from(terrain[(c, r)]) * cosine(kx, c, width) * cosine(kz, r, height)
                        })
                        .sum();
                    let fx = if along == Along::Columns { 0.0 } else { kx as f64 / (2.0 * WORLD.width_m) };
                    let fz = if along == Along::Rows { 0.0 } else { kz as f64 / (2.0 * WORLD.depth_m) };
                    let wavelength_m = 1.0 / libm::hypot(fx, fz);
                    let octaves = libm::log2((1200.0 / wavelength_m).max(wavelength_m / 2500.0)).max(0.0);
                    let t = (octaves / 1.5).min(1.0);
                    let within = 1.0 - 3.0 * t * t + 2.0 * t * t * t;
                    let is_mean = fx == 0.0 && fz == 0.0;
                    let left = if is_mean {
                        1.0
                    } else if keep {
                        within
                    } else {
                        1.0 - within
                    };
                    for (i, height_m) in plain.iter_mut().enumerate() {
                        let (c, r) = (i % width, i / width);
                        *height_m += left * amplitude * sum * cosine(kx, c, width) * cosine(kz, r, height);
                    }
                }
                for (found, plain) in found.heights().iter().zip(&plain) {
                    assert!((f64::from(*found) - plain).abs() < 1e-3, "{along:?}, keep {keep}: {found}, not {plain}");
                }
            }
        }
    }

    #[test]
    fn band_pass_and_band_stop_add_up_to_the_terrain() {
        let terrain = rough_terrain(grid());
        for along in [Along::Both, Along::Rows, Along::Columns] {
            let [kept, rest] = [true, false].map(|keep| modified(&filter(keep, [300.0, 900.0], along), &terrain));
            // Both keep the mean, which is that of each row or column for those directions. This band contains all
            // waves.
            let mean = modified(&filter(false, [0.0, 1e7], along), &terrain);
            for (i, height) in terrain.heights().iter().enumerate() {
                let sum = kept.heights()[i] + rest.heights()[i] - mean.heights()[i];
                assert!((sum - height).abs() < 2e-3, "{along:?}: {sum}, not {height}");
            }
            let [low, high] = mean.min_max();
            assert_eq!(along == Along::Both, high - low < 1e-3);
        }
    }

    #[test]
    fn level_terrain_and_an_empty_band_change_nothing() {
        let level = Heightfield::from_fn(grid(), |_, _| 123.4);
        for (along, keep) in Along::ALL.iter().flat_map(|along| [(*along, false), (*along, true)]) {
            assert_eq!(modified(&filter(keep, [0.0, 5000.0], along), &level), level);
        }
        let terrain = rough_terrain(grid());
        assert_eq!(modified(&filter(false, [0.001, 1.0], Along::Both), &terrain), terrain);
    }
}
