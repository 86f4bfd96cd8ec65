//! Helpers shared by the tests of the surface module.

use crate::heightfield::{Extent, Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

pub(super) fn world(width_m: f64, depth_m: f64) -> Extent {
    Extent { width_m, depth_m }
}

/// Hills of several sizes, the same at every resolution, with slopes up to about 45°.
pub(super) fn bumpy(grid: Grid) -> Heightfield {
    let longer_m = grid.extent().width_m.max(grid.extent().depth_m);
    Heightfield::from_fn(grid, |c, r| {
        let (x, z) = (grid.x_m(c) / longer_m, grid.z_m(r) / longer_m);
        let wave =
            |by: f64, x_waves: f64, z_waves: f64| by * libm::sin(x_waves * x + 1.0) * libm::cos(z_waves * z - by);
        let height = wave(0.04, 9.0, 7.0) + wave(0.015, 23.0, -31.0) + wave(0.006, 57.0, 49.0);
        (longer_m * height) as f32
    })
}

/// Asserts that a field has the same bytes on one thread and on seven, and that cancellation stops it.
#[track_caller]
pub(super) fn same_at_one_and_seven_threads(field: impl Fn(&Progress) -> Result<Heightfield, Cancelled> + Sync) {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| field(&Progress::new())).expect("not cancelled")
    };
    let (one, seven) = (with(1), with(7));
    assert!(one.heights().iter().zip(seven.heights()).all(|(a, b)| a.to_bits() == b.to_bits()));
    let cancelled = Progress::new();
    cancelled.cancel();
    assert_eq!(field(&cancelled), Err(Cancelled));
}

/// The RMS difference between a field from a small map and one from a map with four times as many samples per side, at
/// the samples of the small one.
pub(super) fn difference(small: &Heightfield, large: &Heightfield) -> f64 {
    let (width, height) = (small.grid().width(), small.grid().height());
    let off = |c: usize, r: usize| f64::from(small[(c, r)] - large[(4 * c, 4 * r)]);
    let squares: f64 =
        (0..height).flat_map(|r| (0..width).map(move |c| (c, r))).map(|(c, r)| off(c, r) * off(c, r)).sum();
    (squares / (width * height) as f64).sqrt()
}

/// Asserts that a field is from 0 to 1 on terrain with extreme heights, spacings and proportions.
#[track_caller]
pub(super) fn assert_shares_on_extreme_terrain(field: impl Fn(&Heightfield) -> Heightfield) {
    for (width_m, depth_m, width, height) in [(1.0, 1.0, 2, 2), (1e6, 1.0, 700, 2), (1e6, 1e6, 33, 17)] {
        let grid = Grid::new(world(width_m, depth_m), width, height);
        let terrain = Heightfield::from_fn(grid, |c, r| if (c * 7 + r * 13) % 5 < 2 { 1e9 } else { -1e9 });
        assert!(field(&terrain).heights().iter().all(|share| (0.0..=1.0).contains(share)));
    }
}
