//! Where rivers deposit sediment: valley floors and plains, by the multiresolution index of valley bottom flatness
//! (MRVBF).
//!
//! Depositional areas are flat and lower than their surroundings at some scale: J. C. Gallant and T. I. Dowling, "A
//! multiresolution index of valley bottom flatness for mapping depositional areas", Water Resources Research 39, 2003.
//! With N(x, t, p) = 1/(1 + (x/t)^p), the flatness of a slope S is F = N(S, T, 4), and the lowness of a point, with the
//! share P of its surroundings below it, is N(P, 0.4, 3). V = 1 − N(F·lowness, 0.3, 4) is its membership in a valley
//! floor of that scale.
//!
//! The first scale has a radius of 3 samples and the threshold T, the second a radius of 6 and half the threshold; both
//! use the unsmoothed slope. From the third scale on, the terrain is smoothed and, for the lowness, sampled at three
//! times the spacing, and T halves again, because large floors are flatter. F is multiplied by that of all earlier
//! scales. Scale l has the weight W = 1 − N(V, 0.4, p), p = log₁.₅((l − 0.5)/0.1), in index = W·(l − 1 + V) + (1 −
//! W)·(earlier index). Slopes end up below 0.5, small floors at about 1, and the widest plains at nearly the number of
//! scales.
//!
//! T depends on the spacing of the samples: 16 % at 25 m, 1.1657·spacing^−0.62 in general (O. Conrad, "Multiresolution
//! Index of Valley Bottom Flatness", SAGA GIS, 2006). Every terrain is resampled to one reference grid.

use rayon::prelude::*;

use super::curvature::smoothed;
use super::reference::resample_clamped;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// Samples of the reference grid along the longer side of the world.
const SAMPLES: usize = 257;
/// The number of scales, which is the largest index.
pub const MAX_SEDIMENT: usize = 4;
/// The radius of a point's surroundings, in samples: at the first scale, and at all others.
const REACH: [usize; 2] = [3, 6];
/// The factor by which the spacing grows from one scale to the next, from the third on.
const COARSENING: usize = 3;
/// The radius of the smoothing pyramid, in spacings: its standard deviation, radius/√6, is the 3 samples of the paper's
/// Gaussian.
const SMOOTHING_SPACINGS: f64 = 7.35;

/// The index of terrain at the samples `to`, from 0 to [`MAX_SEDIMENT`]: below 0.5 on slopes and heights, larger on
/// wider and flatter floors.
pub fn sediment(terrain: &Heightfield, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let extent = terrain.grid().extent();
    let reference = Grid::fitted(extent, SAMPLES);
    let mut coarse = progress.stage(0.0..0.1, || terrain.resampled(reference, progress))?;
    let mut threshold = 1.1657 * libm::pow(spacing_m(reference), -0.62);
    let mut flatness = vec![1.0; reference.samples()];
    let mut index = Heightfield::flat(reference);
    for scale in 1..=MAX_SEDIMENT {
        let share = |part: f32| 0.1 + 0.7 * ((scale - 1).to_f32() + part) / MAX_SEDIMENT.to_f32();
        let flat = progress.stage(share(0.0)..share(0.3), || {
            if scale > 2 {
                coarse = smoothed(&coarse, SMOOTHING_SPACINGS * spacing_m(coarse.grid()), progress)?;
            }
            resample_clamped(&flatness_of(&coarse, threshold, progress)?, reference, 1.0, progress)
        })?;
        let low = progress.stage(share(0.3)..share(1.0), || {
            if scale > 2 {
                let longer = (coarse.grid().width().max(coarse.grid().height()) - 1).div_ceil(COARSENING) + 1;
                coarse = progress.stage(0.0..0.3, || coarse.resampled(Grid::fitted(extent, longer), progress))?;
            }
            let lowness = lowness_of(&coarse, REACH[usize::from(scale > 1)], progress)?;
            progress.stage(0.7..1.0, || resample_clamped(&lowness, reference, 1.0, progress))
        })?;
        let power = libm::log10((scale.to_f64() - 0.5) / 0.1) / libm::log10(1.5);
        let samples = flat.heights().iter().zip(low.heights());
        for ((index, flatness), (flat, low)) in index.heights_mut().iter_mut().zip(&mut flatness).zip(samples) {
            *flatness *= f64::from(*flat);
            let floor = 1.0 - falloff(*flatness * f64::from(*low), 0.3, 4.0);
            let weight = if scale == 1 { 1.0 } else { 1.0 - falloff(floor, 0.4, power) };
            *index = (weight * ((scale - 1).to_f64() + floor) + (1.0 - weight) * f64::from(*index)).to_f32();
        }
        threshold *= 0.5;
    }
    progress.stage(0.8..1.0, || resample_clamped(&index, to, MAX_SEDIMENT.to_f32(), progress))
}

/// The smaller of the two spacings, metres.
fn spacing_m(grid: Grid) -> f64 {
    grid.spacing_x_m().min(grid.spacing_z_m())
}

/// N(x, t, p): 1 at 0, ½ at t, approaching 0 beyond.
fn falloff(x: f64, t: f64, p: f64) -> f64 {
    1.0 / (1.0 + libm::pow(x / t, p))
}

/// The flatness of every sample for a slope threshold.
fn flatness_of(terrain: &Heightfield, threshold: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    field_of(terrain, progress, |c, r| {
        let [east, south] = terrain.gradient(c, r).map(f64::from);
        falloff((east * east + south * south).sqrt(), threshold, 4.0)
    })
}

/// The lowness of every sample among those within `reach` samples.
fn lowness_of(terrain: &Heightfield, reach: usize, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    field_of(terrain, progress, |c, r| {
        let (mut lower, mut all) = (0, 0);
        for row in r.saturating_sub(reach)..=(r + reach).min(height - 1) {
            let south = row.abs_diff(r);
            let half = (reach * reach - south * south).to_f64().sqrt().to_usize();
            let around = &terrain.row(row)[c.saturating_sub(half)..=(c + half).min(width - 1)];
            lower += around.iter().filter(|height| **height < terrain[(c, r)]).count();
            all += around.len();
        }
        falloff(lower.to_f64() / all.to_f64(), 0.4, 3.0)
    })
}

/// A field from a function of column and row.
fn field_of(
    terrain: &Heightfield,
    progress: &Progress,
    number: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<Heightfield, Cancelled> {
    let mut numbers = Heightfield::flat(terrain.grid());
    numbers.heights_mut().par_chunks_mut(terrain.grid().width()).enumerate().try_for_each(|(r, row)| {
        row.iter_mut().enumerate().for_each(|(c, found)| *found = number(c, r).to_f32());
        progress.check()
    })?;
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    /// Parallel valleys with floors of a given width, and sides of 1 in 2 up to ridges between them.
    fn valleys(floor_m: f64, samples: usize) -> Heightfield {
        let grid = Grid::fitted(Extent { width_m: 8192.0, depth_m: 4096.0 }, samples);
        Heightfield::from_fn(grid, |c, _| {
            let along_m = grid.x_m(c) % (floor_m + 2.0 * SIDE_M);
            let from_floor_m = (along_m - floor_m).max(0.0);
            (0.5 * from_floor_m.min(2.0 * SIDE_M - from_floor_m)) as f32
        })
    }

    /// The distance from the floor of a valley to the ridge.
    const SIDE_M: f64 = 608.0;

    fn at(index: &Heightfield, x_m: f64) -> f32 {
        let grid = index.grid();
        index[((x_m / grid.spacing_x_m()) as usize, grid.height() / 2)]
    }

    fn index_of(terrain: &Heightfield) -> Heightfield {
        sediment(terrain, terrain.grid(), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn sediment_is_on_valley_floors_but_not_on_sides_or_ridges() {
        let index = index_of(&valleys(320.0, 257));
        // The second valley.
        let begins_m = 320.0 + 2.0 * SIDE_M;
        let [floor, side, crest] = [160.0, 640.0, 320.0 + SIDE_M].map(|x_m| at(&index, begins_m + x_m));
        assert!(floor > 1.0 && side < 0.3 && crest < 0.3, "floor {floor}, side {side}, crest {crest}");
        // Wide floors are plains from side to side.
        let wide = index_of(&valleys(1504.0, 257));
        for x_m in [300.0, 750.0, 1200.0] {
            let floor = at(&wide, 1504.0 + 2.0 * SIDE_M + x_m);
            assert!(floor > 2.5, "{floor} at {x_m} m of a wide floor");
        }
    }

    #[test]
    fn level_terrain_is_a_plain_and_steep_terrain_has_no_sediment() {
        let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 4096.0 }, 129, 129);
        let level = index_of(&Heightfield::flat(grid));
        assert!(level.heights().iter().all(|index| (3.5..=4.0).contains(index)), "{:?}", level.min_max());
        let steep = Heightfield::from_fn(grid, |c, _| grid.x_m(c) as f32);
        let steep = index_of(&steep);
        assert!(steep.heights().iter().all(|index| *index < 0.01), "{:?}", steep.min_max());
    }

    #[test]
    fn resolution_barely_changes_sediment() {
        let [coarse, fine] = [257, 1025].map(|samples| index_of(&valleys(600.0, samples)));
        for x_m in [1200.0, 1500.0, 2100.0, 2700.0, 3100.0] {
            assert!((at(&coarse, x_m) - at(&fine, x_m)).abs() < 0.2, "at {x_m} m");
        }
    }
}
