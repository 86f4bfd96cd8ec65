//! Where rivers have laid down what they carry: the floors of valleys, and plains.
//!
//! Ground on which sediment lies is flat and low for its surroundings, at one size or another: J. C. Gallant and
//! T. I. Dowling, "A multiresolution index of valley bottom flatness for mapping depositional areas", Water Resources
//! Research 39, 2003. With N(x, t, p) = 1/(1 + (x/t)^p), the flatness of a slope S is F = N(S, T, 4), and the lowness of
//! a place, of whose surroundings the share P lies lower, N(P, 0.4, 3). V = 1 − N(F·lowness, 0.3, 4) says whether it
//! belongs to a valley floor of that size.
//!
//! The first size looks 3 samples far at the threshold T, the second one 6 at half of it, both at the slope of the land as
//! it is. From the third size on the land is smoothed, and sampled three times as far apart for its lowness, and T halves
//! again, because large floors are flatter. F is multiplied by those of all sizes before. Size l counts for
//! W = 1 − N(V, 0.4, p), p = log₁.₅((l − 0.5)/0.1), in index = W·(l − 1 + V) + (1 − W)·index before. So slopes have an
//! index below 0.5, small floors about 1, the widest plains nearly as much as there are sizes.
//!
//! T suits the spacing of the samples: 16 % at 25 m, 1.1657·spacing^−0.62 in general (O. Conrad, "Multiresolution
//! Index of Valley Bottom Flatness", SAGA GIS, 2006). Every land is read on one reference grid.

use rayon::prelude::*;

use super::curvature::smoothed;
use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::progress::{Cancelled, Progress};

/// Samples of the reference grid along the longer side of the world.
const SAMPLES: usize = 257;
/// The sizes of valley floors that are told apart: the greatest index.
pub const SIZES: usize = 4;
/// How far a place's surroundings reach, in samples: at the first size, and at all others.
const REACHES: [usize; 2] = [3, 6];
/// How much farther apart the samples are from one size to the next, from the third on.
const COARSER: usize = 3;
/// How far the pyramid reaches under which the land is smoothed before, in spacings: its standard deviation, a √6th of
/// that, is the 3 samples of the paper's Gaussian.
const SMOOTHED_SPACINGS: f64 = 7.35;

/// The index of valley floors at every sample of the land, from 0 to [`SIZES`]: below 0.5 on slopes and heights, the
/// more the wider and flatter the floor.
pub fn sediment(terrain: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let extent = terrain.grid().extent();
    let reference = Grid::fitted(extent, SAMPLES);
    let mut ground = progress.stage(0.0..0.1, || terrain.resampled(reference, progress))?;
    let mut threshold = 1.1657 * libm::pow(spacing_m(reference), -0.62);
    let mut flatness = vec![1.0; reference.samples()];
    let mut index = Heightfield::flat(reference);
    for size in 1..=SIZES {
        let share = |part: f32| 0.1 + 0.7 * ((size - 1) as f32 + part) / SIZES as f32;
        let flat = progress.stage(share(0.0)..share(0.3), || {
            if size > 2 {
                ground = smoothed(&ground, SMOOTHED_SPACINGS * spacing_m(ground.grid()), progress)?;
            }
            super::share_on(reference, &flatness_of(&ground, threshold, progress)?, progress)
        })?;
        let low = progress.stage(share(0.3)..share(1.0), || {
            if size > 2 {
                let longer = (ground.grid().width().max(ground.grid().height()) - 1).div_ceil(COARSER) + 1;
                ground = progress.stage(0.0..0.3, || ground.resampled(Grid::fitted(extent, longer), progress))?;
            }
            let lowness = lowness_of(&ground, REACHES[usize::from(size > 1)], progress)?;
            progress.stage(0.7..1.0, || super::share_on(reference, &lowness, progress))
        })?;
        let power = libm::log10((size as f64 - 0.5) / 0.1) / libm::log10(1.5);
        let of_ground = flat.heights().iter().zip(low.heights());
        for ((index, flatness), (flat, low)) in index.heights_mut().iter_mut().zip(&mut flatness).zip(of_ground) {
            *flatness *= f64::from(*flat);
            let floor = 1.0 - near(*flatness * f64::from(*low), 0.3, 4.0);
            let weight = if size == 1 { 1.0 } else { 1.0 - near(floor, 0.4, power) };
            *index = (weight * ((size - 1) as f64 + floor) + (1.0 - weight) * f64::from(*index)) as f32;
        }
        threshold *= 0.5;
    }
    progress.stage(0.8..1.0, || super::field_on(terrain.grid(), &index, SIZES as f32, progress))
}

/// The shorter distance between neighbouring samples, metres.
fn spacing_m(grid: Grid) -> f64 {
    grid.spacing_x_m().min(grid.spacing_z_m())
}

/// N(x, t, p): 1 at 0, ½ at t, towards 0 beyond.
fn near(x: f64, t: f64, p: f64) -> f64 {
    1.0 / (1.0 + libm::pow(x / t, p))
}

/// How flat the ground is at every sample, for a threshold of the slope.
fn flatness_of(ground: &Heightfield, threshold: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    of_samples(ground, progress, |c, r| {
        let [east, south] = ground.gradient(c, r).map(f64::from);
        near((east * east + south * south).sqrt(), threshold, 4.0)
    })
}

/// How low every sample lies among those up to so many samples away.
fn lowness_of(ground: &Heightfield, reach: usize, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let (width, height) = (ground.grid().width(), ground.grid().height());
    of_samples(ground, progress, |c, r| {
        let (mut lower, mut all) = (0, 0);
        for row in r.saturating_sub(reach)..=(r + reach).min(height - 1) {
            let south = row.abs_diff(r);
            let half = ((reach * reach - south * south) as f64).sqrt() as usize;
            let around = &ground.row(row)[c.saturating_sub(half)..=(c + half).min(width - 1)];
            lower += around.iter().filter(|height| **height < ground[(c, r)]).count();
            all += around.len();
        }
        near(lower as f64 / all as f64, 0.4, 3.0)
    })
}

/// A number for every sample of the ground.
fn of_samples(
    ground: &Heightfield,
    progress: &Progress,
    number: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<Heightfield, Cancelled> {
    let mut numbers = Heightfield::flat(ground.grid());
    numbers.heights_mut().par_chunks_mut(ground.grid().width()).enumerate().try_for_each(|(r, row)| {
        row.iter_mut().enumerate().for_each(|(c, found)| *found = number(c, r) as f32);
        progress.check()
    })?;
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;

    /// Valleys with floors of so many metres across the land, and sides of 1 in 2 up to crests between them.
    fn valleys(floor_m: f64, samples: usize) -> Heightfield {
        let grid = Grid::fitted(Extent { width_m: 8192.0, depth_m: 4096.0 }, samples);
        Heightfield::from_fn(grid, |c, _| {
            let along_m = grid.x_m(c) % (floor_m + 2.0 * SIDE_M);
            let from_floor_m = (along_m - floor_m).max(0.0);
            (0.5 * from_floor_m.min(2.0 * SIDE_M - from_floor_m)) as f32
        })
    }

    /// How far it is from the floor of a valley to the crest.
    const SIDE_M: f64 = 608.0;

    fn at(index: &Heightfield, x_m: f64) -> f32 {
        let grid = index.grid();
        index[((x_m / grid.spacing_x_m()) as usize, grid.height() / 2)]
    }

    #[test]
    fn floors_of_valleys_have_sediment_and_sides_and_crests_none() {
        let index = sediment(&valleys(320.0, 257), &Progress::new()).expect("not cancelled");
        // The second valley.
        let begins_m = 320.0 + 2.0 * SIDE_M;
        let [floor, side, crest] = [160.0, 640.0, 320.0 + SIDE_M].map(|x_m| at(&index, begins_m + x_m));
        assert!(floor > 1.0 && side < 0.3 && crest < 0.3, "floor {floor}, side {side}, crest {crest}");
        // Wide floors are plains from side to side.
        let wide = sediment(&valleys(1504.0, 257), &Progress::new()).expect("not cancelled");
        for x_m in [300.0, 750.0, 1200.0] {
            let floor = at(&wide, 1504.0 + 2.0 * SIDE_M + x_m);
            assert!(floor > 2.5, "{floor} at {x_m} m of a wide floor");
        }
    }

    #[test]
    fn level_land_is_a_plain_and_steep_land_has_none() {
        let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 4096.0 }, 129, 129);
        let level = sediment(&Heightfield::flat(grid), &Progress::new()).expect("not cancelled");
        assert!(level.heights().iter().all(|index| (3.5..=4.0).contains(index)), "{:?}", level.min_max());
        let steep = Heightfield::from_fn(grid, |c, _| grid.x_m(c) as f32);
        let steep = sediment(&steep, &Progress::new()).expect("not cancelled");
        assert!(steep.heights().iter().all(|index| *index < 0.01), "{:?}", steep.min_max());
    }

    #[test]
    fn the_same_land_has_the_same_floors_at_every_size() {
        let [coarse, fine] =
            [257, 1025].map(|samples| sediment(&valleys(600.0, samples), &Progress::new()).expect("not cancelled"));
        for x_m in [1200.0, 1500.0, 2100.0, 2700.0, 3100.0] {
            assert!((at(&coarse, x_m) - at(&fine, x_m)).abs() < 0.2, "at {x_m} m");
        }
    }
}
