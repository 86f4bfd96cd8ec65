//! What the tests of this room share.

use crate::engine::heightfield::{Extent, Grid, Heightfield};
use crate::engine::progress::{Cancelled, Progress};

pub(super) fn world(width_m: f64, depth_m: f64) -> Extent {
    Extent { width_m, depth_m }
}

/// Hills and dales of several sizes, the same at every resolution; slopes up to about 45°.
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

/// Holds a field to the same bytes at one thread and at seven, and to doing nothing for somebody who has gone.
#[track_caller]
pub(super) fn same_at_one_and_seven_threads(field: impl Fn(&Progress) -> Result<Heightfield, Cancelled> + Sync) {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| field(&Progress::new())).expect("not cancelled")
    };
    let (one, seven) = (with(1), with(7));
    assert!(one.heights().iter().zip(seven.heights()).all(|(a, b)| a.to_bits() == b.to_bits()));
    let gone = Progress::new();
    gone.cancel();
    assert_eq!(field(&gone), Err(Cancelled));
}

/// RMS of the difference between a field from a small map and one with four times as many samples, at the places of the
/// small one. Fields are shares: their range is 1.
pub(super) fn difference(small: &Heightfield, large: &Heightfield) -> f64 {
    let (width, height) = (small.grid().width(), small.grid().height());
    let off = |c: usize, r: usize| f64::from(small[(c, r)] - large[(4 * c, 4 * r)]);
    let squares: f64 =
        (0..height).flat_map(|r| (0..width).map(move |c| (c, r))).map(|(c, r)| off(c, r) * off(c, r)).sum();
    (squares / (width * height) as f64).sqrt()
}
