//! Curvature: hollows and ridges.
//!
//! The mean curvature of gentle terrain is half its Laplacian, ½·(∂²h/∂x² + ∂²h/∂z²). Over a length ℓ, the second
//! difference (h(x + ℓ) − 2·h(x) + h(x − ℓ))/ℓ² equals the second derivative weighted by a triangle from −ℓ to ℓ; this
//! is exact, not an approximation for small ℓ. Averaging across with the same triangle weights the Laplacian by a
//! pyramid of width 2·ℓ, which is the same at every resolution.

use rayon::prelude::*;

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};
use crate::strips::strips;

/// The mean curvature in 1/m, smoothed over a length: positive in hollows, negative on ridges, 0 on every plane. A bowl
/// of radius R has 1/R. The length is clamped between the spacing of the samples and half of the world. Beyond the
/// border the terrain is continued by point reflection, so that slopes continue straight.
pub fn curvature(terrain: &Heightfield, length_m: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let [along_x, along_z] = Length::both(length_m, grid);
    let mut curvature = terrain.copied(progress)?;
    along_rows(&mut curvature, progress, |line, buffers| along_x.smooth(line, buffers))?;
    along_columns(&mut curvature, progress, |line, buffers| along_z.second_difference(line, buffers))?;
    let mut smooth = terrain.copied(progress)?;
    along_columns(&mut smooth, progress, |line, buffers| along_z.smooth(line, buffers))?;
    along_rows(&mut smooth, progress, |line, buffers| along_x.second_difference(line, buffers))?;
    let halves = curvature.heights_mut().par_chunks_mut(grid.width()).zip(smooth.heights().par_chunks(grid.width()));
    halves.try_for_each(|(curvature, other)| {
        curvature.iter_mut().zip(other).for_each(|(curvature, other)| *curvature = 0.5 * (*curvature + other));
        progress.check()
    })?;
    Ok(curvature)
}

/// The terrain averaged with a pyramid that reaches `length_m` to each side.
pub(super) fn smoothed(terrain: &Heightfield, length_m: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let [along_x, along_z] = Length::both(length_m, terrain.grid());
    let mut smooth = terrain.copied(progress)?;
    along_rows(&mut smooth, progress, |line, buffers| along_x.smooth(line, buffers))?;
    along_columns(&mut smooth, progress, |line, buffers| along_z.smooth(line, buffers))?;
    Ok(smooth)
}

/// Buffers for one line.
#[derive(Default)]
struct LineBuffers {
    line: Vec<f32>,
    padded: Vec<f64>,
    sums: Vec<f64>,
}

fn along_rows(
    terrain: &mut Heightfield,
    progress: &Progress,
    change: impl Fn(&mut [f32], &mut LineBuffers) + Sync,
) -> Result<(), Cancelled> {
    let width = terrain.grid().width();
    terrain.heights_mut().par_chunks_mut(width).try_for_each_init(LineBuffers::default, |buffers, row| {
        change(row, buffers);
        progress.check()
    })
}

fn along_columns(
    terrain: &mut Heightfield,
    progress: &Progress,
    change: impl Fn(&mut [f32], &mut LineBuffers) + Sync,
) -> Result<(), Cancelled> {
    let width = terrain.grid().width();
    strips(terrain.heights_mut(), width, progress)?.par_iter_mut().try_for_each_init(
        LineBuffers::default,
        |buffers, pieces| {
            for lane in 0..pieces.first().map_or(0, |piece| piece.len()) {
                let mut line = std::mem::take(&mut buffers.line);
                line.clear();
                line.extend(pieces.iter().map(|piece| piece[lane]));
                change(&mut line, buffers);
                pieces.iter_mut().zip(&line).for_each(|(piece, &sample)| piece[lane] = sample);
                buffers.line = line;
                progress.check()?;
            }
            Ok(())
        },
    )
}

/// A length along an axis.
#[derive(Clone, Copy, Debug)]
struct Length {
    metres: f64,
    /// The same length in samples.
    samples: f64,
}

impl Length {
    /// The length along both axes: x, z.
    fn both(length_m: f64, grid: Grid) -> [Self; 2] {
        [Self::new(length_m, grid.spacing_x_m(), grid.width()), Self::new(length_m, grid.spacing_z_m(), grid.height())]
    }

    fn new(length_m: f64, spacing_m: f64, count: usize) -> Self {
        let samples = (length_m / spacing_m).clamp(1.0, (0.5 * (count - 1).to_f64()).max(1.0));
        Self { metres: samples * spacing_m, samples }
    }

    /// Extends the line by `pad` samples on either side, by point reflection about its end samples. Heights are
    /// relative to its first sample, so that level terrain stays exactly level.
    fn pad(line: &[f32], pad: usize, padded: &mut Vec<f64>) {
        let (last, zero) = (line.len() - 1, f64::from(line[0]));
        let at = |i: usize| f64::from(line[i]) - zero;
        padded.clear();
        padded.extend((1..=pad).rev().map(|i| -at(i.min(last))));
        padded.extend((0..=last).map(at));
        padded.extend((1..=pad).map(|i| 2.0 * at(last) - at(last - i.min(last))));
    }

    /// Averages the line with a triangle that reaches the length to either side, as two box averages over half of it.
    fn smooth(self, line: &mut [f32], buffers: &mut LineBuffers) {
        let reach = 0.5 * self.samples;
        let pad = reach.to_usize() + 2;
        let per_width = 0.5 / reach;
        for _ in 0..2 {
            let LineBuffers { padded, sums, .. } = buffers;
            Self::pad(line, pad, padded);
            // The integral from the first sample to each other one, with straight lines between samples.
            sums.clear();
            sums.push(0.0);
            let mut sum = 0.0;
            sums.extend(padded.windows(2).map(|pair| {
                sum += 0.5 * (pair[0] + pair[1]);
                sum
            }));
            let integral = |position: f64| {
                let first = position.to_usize();
                let part = position - first.to_f64();
                sums[first] + part * (padded[first] + 0.5 * part * (padded[first + 1] - padded[first]))
            };
            let zero = f64::from(line[0]);
            for (i, sample) in line.iter_mut().enumerate() {
                let middle = (pad + i).to_f64();
                *sample = (zero + (integral(middle + reach) - integral(middle - reach)) * per_width).to_f32();
            }
        }
    }

    /// The second difference over the length, in 1/m.
    fn second_difference(self, line: &mut [f32], buffers: &mut LineBuffers) {
        let pad = self.samples.to_usize() + 2;
        let padded = &mut buffers.padded;
        Self::pad(line, pad, padded);
        let at = |position: f64| {
            let first = position.to_usize();
            padded[first] + (position - first.to_f64()) * (padded[first + 1] - padded[first])
        };
        for (i, sample) in line.iter_mut().enumerate() {
            let middle = (pad + i).to_f64();
            let rise = at(middle + self.samples) + at(middle - self.samples) - 2.0 * padded[pad + i];
            *sample = (rise / (self.metres * self.metres)).to_f32();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bumpy, same_at_one_and_seven_threads, world};
    use super::*;

    fn curvature_of(terrain: &Heightfield, length_m: f64) -> Heightfield {
        curvature(terrain, length_m, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn planes_have_no_curvature_and_level_terrain_has_exactly_none() {
        let grid = Grid::new(world(600.0, 400.0), 61, 21);
        let plane = Heightfield::from_fn(grid, |c, r| 4.0 * c as f32 - 9.0 * r as f32 + 100.0);
        for length_m in [0.0, 15.0, 77.0, 1e9] {
            let of_level = curvature_of(&Heightfield::from_fn(grid, |_, _| 123.4), length_m);
            assert!(of_level.heights().iter().all(|&value| value == 0.0));
            assert!(curvature_of(&plane, length_m).heights().iter().all(|value| value.abs() < 1e-6), "{length_m} m");
        }
    }

    #[test]
    fn a_bowl_has_one_over_its_radius_at_every_length() {
        // h = (x² + z²)/(2·R), R = 500 m; the straight lines between samples raise the average a little, but everywhere
        // by the same amount.
        let grid = Grid::new(world(600.0, 600.0), 61, 121);
        let bowl = Heightfield::from_fn(grid, |c, r| {
            let (x, z) = (grid.x_m(c) - 300.0, grid.z_m(r) - 300.0);
            ((x * x + z * z) / 1000.0) as f32
        });
        for length_m in [20.0, 50.0, 110.0] {
            for at in [(30, 60), (28, 47)] {
                let found = curvature_of(&bowl, length_m)[at];
                assert!((found - 0.002).abs() < 2e-5, "{length_m} m: {found}");
            }
        }
        // A length between whole samples cuts the bowl along chords; a ridge is a bowl upside down.
        let crest = Heightfield::from_fn(grid, |c, r| -bowl[(c, r)]);
        assert!((curvature_of(&crest, 33.0)[(30, 60)] + 0.002).abs() < 2e-4);
    }

    #[test]
    fn waves_are_damped_by_the_response_of_the_pyramid() {
        // A triangle of half-width ℓ leaves (sin(kℓ/2)/(kℓ/2))² of a wave, whose second derivative is −k² times that.
        let grid = Grid::new(world(1000.0, 1000.0), 501, 101);
        let (k, length_m) = (2.0 * std::f64::consts::PI / 200.0, 60.0);
        let terrain = Heightfield::from_fn(grid, |c, _| (10.0 * libm::cos(k * grid.x_m(c))) as f32);
        let left = libm::sin(0.5 * k * length_m) / (0.5 * k * length_m);
        let expected = -0.5 * k * k * 10.0 * left * left;
        let found = f64::from(curvature_of(&terrain, length_m)[(200, 50)]);
        assert!((found - expected).abs() < 1e-3 * expected.abs(), "{found}, not {expected}");
    }

    #[test]
    fn resolution_barely_changes_curvature() {
        let on = |side: usize| curvature_of(&bumpy(Grid::fitted(world(4096.0, 2000.0), side)), 64.0);
        let (small, large) = (on(257), on(1025));
        let [low, high] = large.min_max();
        let off = super::super::testing::difference(&small, &large) / f64::from(high - low);
        assert!(off < 0.01, "{off}");
    }

    #[test]
    fn curvature_is_finite_on_any_terrain() {
        for (width_m, depth_m, width, height) in [(1.0, 1.0, 2, 2), (1e6, 1.0, 700, 2), (1.0, 1.0, 513, 17)] {
            let grid = Grid::new(world(width_m, depth_m), width, height);
            let terrain = Heightfield::from_fn(grid, |c, r| if (c * 7 + r * 13) % 5 < 2 { 1e9 } else { -1e9 });
            for length_m in [0.0, 0.3, 1e9] {
                assert!(curvature_of(&terrain, length_m).heights().iter().all(|value| value.is_finite()));
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| curvature(&terrain, 31.0, progress));
    }
}
