//! A band of wavelengths kept or removed, along rows, along columns or in every direction at once.
//!
//! After Krten, Dr. Dobb's Journal, July 1994, who suggests the Fourier transform of each row. Here the land is mirrored
//! at its borders, so that it has no cliff where its ends meet, and so is a sum of cosines that fit the world: h = Σ
//! a·cos(π·kx·x/Lx)·cos(π·kz·z/Lz), with cycles per metre fx = kx/(2·Lx) and fz alike, and the wavelength
//! 1/√(fx² + fz²). Along rows or columns alone it is 1/fx or 1/fz. The mean, k = 0, is no wave and always stays.
//!
//! The transform is our own (`engine::cosine_transform`), not a library's: rustfft picks its arithmetic by the
//! processor and takes its sines from the system, so that a land would not have the same bytes on every machine. It
//! stays for what shows no land (the spectrum of the measures), for its complex numbers, and to hold ours against it in
//! tests.

use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::{Keyframe, Operation, Role, EvalContext};
use crate::engine::cosine_transform::{CosineTransform, Workspace};
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress, ProgressCounter};
use crate::engine::parameters::{Spec, choices, parameters};
use crate::engine::rounding::smoothstep;
use crate::engine::strips::{STRIP, strips};

choices! {
    /// Along what a wavelength is measured.
    pub enum Along {
        /// In every direction: forms of that size, wherever they run.
        Both = "both", "Every direction";
        /// From west to east: each row of the land by itself.
        Rows = "rows", "Rows, west to east";
        /// From north to south: each column of the land by itself.
        Columns = "columns", "Columns, north to south";
    }
}

parameters! {
    /// Keeps or removes all forms of the land whose size lies within a band: the pebbles, the hills or the ranges.
    pub struct BandFilter {
        /// Whether the forms within the band are all that is kept, or are what is removed. The mean height always stays.
        keep: bool = false, Spec::new("Keep the band");
        /// The shortest wavelength of the band, from crest to crest: smaller forms are outside it. Where it is longer than
        /// the longest, the two are exchanged.
        shortest_m: f64 = 1.0,
            Spec::number("Shortest wave", 0.0, 10_000_000.0).slider(1.0, 10_000.0).unit("m").logarithmic();
        /// The longest wavelength of the band, from crest to crest: wider forms are outside it.
        longest_m: f64 = 100.0,
            Spec::number("Longest wave", 0.0, 10_000_000.0).slider(10.0, 20_000.0).unit("m").logarithmic();
        /// Over how many octaves beyond each end of the band its effect dies away: 0 cuts it off, which leaves ripples
        /// beside cliffs.
        shoulder: f64 = 2.0, Spec::number("Shoulder", 0.0, 16.0).slider(0.0, 4.0).unit("octaves");
        /// Along what a wavelength is measured.
        along: Along = Along::Both, Spec::new("Along");
    }
}

/// A wave of a limit's own length belongs to the band, although both are rounded.
const ROUNDING: f64 = 1e-9;

/// The band with its shoulders: what is left of a wave.
#[derive(Clone, Copy, Debug)]
struct Response {
    keep: bool,
    shortest_m: f64,
    longest_m: f64,
    shoulder: f64,
    /// The wavelengths at which the shoulders end.
    foot_m: [f64; 2],
}

impl Response {
    fn new(filter: &BandFilter) -> Self {
        let shortest_m = filter.shortest_m.min(filter.longest_m) * (1.0 - ROUNDING);
        let longest_m = filter.shortest_m.max(filter.longest_m) * (1.0 + ROUNDING);
        let widening = libm::exp2(filter.shoulder);
        let foot_m = [shortest_m / widening, longest_m * widening];
        Self { keep: filter.keep, shortest_m, longest_m, shoulder: filter.shoulder, foot_m }
    }

    /// How much of a wave belongs to the band: 1 within, 0 beyond the shoulders, between them a smoothstep of the
    /// octaves. Level land is no wave; it is counted as belonging to what is kept.
    fn share(&self, cycles_per_m: [f64; 2]) -> f64 {
        let [x, z] = cycles_per_m;
        if x == 0.0 && z == 0.0 {
            return f64::from(u8::from(self.keep));
        }
        let wavelength_m = 1.0 / (x * x + z * z).sqrt();
        if (self.shortest_m..=self.longest_m).contains(&wavelength_m) {
            return 1.0;
        }
        if wavelength_m <= self.foot_m[0] || wavelength_m >= self.foot_m[1] {
            return 0.0;
        }
        let ratio =
            if wavelength_m < self.shortest_m { self.shortest_m / wavelength_m } else { wavelength_m / self.longest_m };
        let t = (libm::log2(ratio) / self.shoulder).min(1.0);
        1.0 - smoothstep(t)
    }
}

/// A line, two of the land's at once, and the space in which a thread transforms it.
type Lines = (Vec<Complex<f64>>, Workspace);

/// Does `work` with every row, two at a time, as the real and the imaginary parts of a line; it is told the first one's
/// number.
fn by_rows(
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
        first.iter_mut().zip(&*line).for_each(|(height, value)| *height = value.re as f32);
        second.iter_mut().zip(&*line).for_each(|(height, value)| *height = value.im as f32);
        counter.add_one()
    })
}

/// The same with every column.
fn by_columns(
    heights: &mut [f32],
    width: usize,
    counter: &ProgressCounter,
    work: impl Fn(&mut [Complex<f64>], usize, &mut Workspace) + Sync,
    progress: &Progress,
) -> Result<(), Cancelled> {
    strips(heights, width, progress)?.par_iter_mut().enumerate().try_for_each_init(Lines::default, |(line, space), (s, strip)| {
        let lanes = strip.first().map_or(0, |piece| piece.len());
        for lane in (0..lanes).step_by(2) {
            line.clear();
            line.extend(strip.iter().map(|piece| {
                Complex::new(f64::from(piece[lane]), piece.get(lane + 1).copied().map_or(0.0, f64::from))
            }));
            work(line, s * STRIP + lane, space);
            for (piece, value) in strip.iter_mut().zip(&*line) {
                piece[lane] = value.re as f32;
                if let Some(height) = piece.get_mut(lane + 1) {
                    *height = value.im as f32;
                }
            }
            counter.add_one()?;
        }
        Ok(())
    })
}

impl Operation for BandFilter {
    const KEY: &'static str = "band_filter";
    const LABEL: &'static str = "Band filter";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn evaluate(&self, context: &EvalContext, _until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        // Level land has no waves.
        let Some(below) = context.below else { return context.heights_below() };
        let (grid, response) = (context.grid, Response::new(self));
        let (width, height) = (grid.width(), grid.height());
        let frequency_x = |c: usize| 0.5 * c as f64 / grid.extent().width_m;
        let frequency_z = |r: usize| 0.5 * r as f64 / grid.extent().depth_m;
        // Heights above the north-west corner: level land is all zeros and stays level to the bit.
        let corner_m = below[(0, 0)];
        let mut terrain = Heightfield::flat(grid);
        terrain.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
            row.iter_mut().zip(below.row(r)).for_each(|(wave, height)| *wave = height - corner_m);
            context.progress.check()
        })?;
        let waves = terrain.heights_mut();
        let (rows, columns) = (height.div_ceil(2), width.div_ceil(2));
        match self.along {
            Along::Rows => {
                let (counter, transform) = (context.progress.counter(rows), CosineTransform::new(width));
                let shares: Vec<f64> = (0..width).map(|c| response.share([frequency_x(c), 0.0])).collect();
                by_rows(waves, width, &counter, |line, _, space| {
                    transform.run(line, space);
                    line.iter_mut().zip(&shares).for_each(|(wave, share)| *wave *= share);
                    transform.run(line, space);
                })?;
            }
            Along::Columns => {
                let (counter, transform) = (context.progress.counter(columns), CosineTransform::new(height));
                let shares: Vec<f64> = (0..height).map(|r| response.share([0.0, frequency_z(r)])).collect();
                let filter = |line: &mut [Complex<f64>], _: usize, space: &mut Workspace| {
                    transform.run(line, space);
                    line.iter_mut().zip(&shares).for_each(|(wave, share)| *wave *= share);
                    transform.run(line, space);
                };
                by_columns(waves, width, &counter, filter, context.progress)?;
            }
            Along::Both => {
                let counter = context.progress.counter(2 * rows + columns);
                let [along_x, along_z] = [width, height].map(CosineTransform::new);
                by_rows(waves, width, &counter, |line, _, space| along_x.run(line, space))?;
                let filter = |line: &mut [Complex<f64>], c: usize, space: &mut Workspace| {
                    let [first, second] = [c, c + 1].map(frequency_x);
                    along_z.run(line, space);
                    for (r, wave) in line.iter_mut().enumerate() {
                        let z = frequency_z(r);
                        *wave = Complex::new(wave.re * response.share([first, z]), wave.im * response.share([second, z]));
                    }
                    along_z.run(line, space);
                };
                by_columns(waves, width, &counter, filter, context.progress)?;
                by_rows(waves, width, &counter, |line, _, space| along_x.run(line, space))?;
            }
        }
        // What is removed is taken off, rather than all else put together, so that land without it keeps its bits.
        let keep = self.keep;
        terrain.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
            for (wave, height) in row.iter_mut().zip(below.row(r)) {
                *wave = if keep { corner_m + *wave } else { height - *wave };
            }
            context.progress.check()
        })?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::super::testing::{rough, shaped};
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};
    use crate::engine::inputs::Inputs;
    use crate::engine::progress::Progress;
    use crate::engine::operations::faults::Faults;
    use crate::engine::recipe::{Recipe, Step};
    use crate::engine::stack::evaluate;

    const WORLD: Extent = Extent { width_m: 4000.0, depth_m: 1500.0 };

    /// Neither side is a power of two and one.
    fn grid() -> Grid {
        Grid::new(WORLD, 161, 61)
    }

    fn filter(keep: bool, [shortest_m, longest_m]: [f64; 2], along: Along) -> BandFilter {
        BandFilter { keep, shortest_m, longest_m, shoulder: 0.5, along }
    }

    /// A cosine of so many halves west to east and north to south, 100 m high, on land 30 m high.
    fn wave([halves_x, halves_z]: [f64; 2]) -> Heightfield {
        Heightfield::from_fn(grid(), |c, r| {
            let [across_x, across_z] = [c as f64 / 160.0, r as f64 / 60.0];
            (30.0 + 100.0 * libm::cos(PI * halves_x * across_x) * libm::cos(PI * halves_z * across_z)) as f32
        })
    }

    /// Holds what is left of a wave of 100 m against the share that should be left, to a thousandth.
    #[track_caller]
    fn check(filter: &BandFilter, halves: [f64; 2], share: f64) {
        let (terrain, found) = (wave(halves), shaped(filter, &wave(halves)));
        for (found, height) in found.heights().iter().zip(terrain.heights()) {
            let expected = 30.0 + share * (f64::from(*height) - 30.0);
            assert!((f64::from(*found) - expected).abs() < 0.1, "{filter:?}, {halves:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn waves_within_the_band_are_kept_or_removed_and_others_not() {
        // Halves of the world: 20 along 4000 m are waves of 400 m, 10 along 1500 m are 300 m, and both at once 240 m.
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
    fn a_shoulder_falls_by_octaves() {
        // Half way down a shoulder of two octaves is one octave outside the band.
        let band = |shoulder| BandFilter { shoulder, ..filter(true, [800.0, 1600.0], Along::Both) };
        check(&band(2.0), [20.0, 0.0], 0.5);
        check(&band(4.0), [20.0, 0.0], 1.0 - 0.25 * 0.25 * 2.5);
        check(&band(1.0), [20.0, 0.0], 0.0);
        check(&band(0.0), [20.0, 0.0], 0.0);
        check(&band(0.0), [10.0, 0.0], 1.0);
        check(&BandFilter { longest_m: 200.0, shortest_m: 100.0, ..band(2.0) }, [20.0, 0.0], 0.5);
    }

    #[test]
    fn the_filter_is_the_plain_sum_of_cosines() {
        let (width, height) = (9, 6);
        let grid = Grid::new(WORLD, width, height);
        let terrain = rough(grid);
        // The amplitude of a wave, by the sum over a whole period of the mirrored land, and its value at a sample.
        let weight = |i: usize, count: usize| if i == 0 || i + 1 == count { 0.5 } else { 1.0 };
        let cosine = |k: usize, i: usize, count: usize| libm::cos(PI * (k * i) as f64 / (count - 1) as f64);
        for along in [Along::Both, Along::Rows, Along::Columns] {
            for keep in [false, true] {
                let filter = BandFilter { shoulder: 1.5, ..filter(keep, [1200.0, 2500.0], along) };
                let found = shaped(&filter, &terrain);
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
                    let left = if is_mean { 1.0 } else if keep { within } else { 1.0 - within };
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
    fn what_is_kept_and_what_is_removed_are_together_the_land() {
        let terrain = rough(grid());
        for along in [Along::Both, Along::Rows, Along::Columns] {
            let [kept, rest] = [true, false].map(|keep| shaped(&filter(keep, [300.0, 900.0], along), &terrain));
            // The mean stays in both; along rows and columns it is each one's own. Everything is the band itself.
            let mean = shaped(&filter(false, [0.0, 1e7], along), &terrain);
            for (i, height) in terrain.heights().iter().enumerate() {
                let sum = kept.heights()[i] + rest.heights()[i] - mean.heights()[i];
                assert!((sum - height).abs() < 2e-3, "{along:?}: {sum}, not {height}");
            }
            let [low, high] = mean.min_max();
            assert_eq!(along == Along::Both, high - low < 1e-3);
        }
    }

    #[test]
    fn level_land_and_an_empty_band_change_nothing() {
        let level = Heightfield::from_fn(grid(), |_, _| 123.4);
        for (along, keep) in Along::ALL.iter().flat_map(|along| [(*along, false), (*along, true)]) {
            assert_eq!(shaped(&filter(keep, [0.0, 5000.0], along), &level), level);
        }
        let terrain = rough(grid());
        assert_eq!(shaped(&filter(false, [0.001, 1.0], Along::Both), &terrain), terrain);
    }

    #[test]
    fn faults_filtered_on_a_finer_map_are_the_same_land() {
        // On the coarse map a cliff lies somewhere between two samples: this is how much it matters.
        for (world, [width, height]) in [([4096.0, 4096.0], [257, 257]), ([4100.7, 977.3], [257, 62])] {
            for along in [Along::Both, Along::Rows, Along::Columns] {
                for filter in [
                    BandFilter { along, ..Default::default() },
                    filter(true, [200.0, 700.0], along),
                    filter(false, [200.0, 700.0], along),
                ] {
                    let terrain = |[width, height]: [usize; 2]| {
                        let stack = vec![Step::new(Faults::default()), Step::new(filter.clone())];
                        let mut recipe = Recipe { seed: 5, stack, ..Default::default() };
                        [recipe.world.width_m, recipe.world.depth_m] = world;
                        let grid = Grid::new(recipe.world.extent(), width, height);
                        evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
                    };
                    let (small, large) = (terrain([width, height]), terrain([4 * width - 3, 4 * height - 3]));
                    let difference = |(c, r): (usize, usize)| f64::from(small[(c, r)] - large[(4 * c, 4 * r)]);
                    let places = (0..width * height).map(|i| (i % width, i / width));
                    let squares: f64 = places.map(|place| difference(place) * difference(place)).sum();
                    let [low, high] = large.min_max();
                    let share = (squares / (width * height) as f64).sqrt() / f64::from(high - low);
                    println!("{width} x {height}, {along:?}, keep {}: {:.3} %", filter.keep, 100.0 * share);
                    assert!(share < 0.02, "{filter:?}: {share}");
                }
            }
        }
    }
}
