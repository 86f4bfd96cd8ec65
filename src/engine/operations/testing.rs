//! Helpers for the tests of the operations.

use super::operation::{EvalContext, Keyframe, Operation};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::inputs::Inputs;
use crate::progress::Progress;
use crate::random::Stream;

/// Random numbers for tests that accept any.
pub(super) fn stream() -> Stream {
    Stream::new(3, 4)
}

/// Evaluates an operation with all arguments.
pub(super) fn evaluated_with(
    operation: &impl Operation,
    stream: Stream,
    grid: Grid,
    below: Option<&Heightfield>,
    until: u32,
    resume: Option<Keyframe>,
) -> Heightfield {
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let context = EvalContext { below, stream, ..EvalContext::new(grid, &inputs, &progress) };
    operation.evaluate(&context, until, resume).expect("not cancelled")
}

/// Evaluates `until` iterations of an operation.
pub(super) fn evaluated(
    operation: &impl Operation,
    grid: Grid,
    below: Option<&Heightfield>,
    until: u32,
) -> Heightfield {
    evaluated_with(operation, stream(), grid, below, until, None)
}

/// Continues a generator from a keyframe.
pub(super) fn resumed(operation: &impl Operation, from: Keyframe, until: u32) -> Heightfield {
    evaluated_with(operation, stream(), from.terrain.grid(), None, until, Some(from))
}

/// Applies a modifier without iterations to a terrain.
pub(super) fn modified(operation: &impl Operation, below: &Heightfield) -> Heightfield {
    evaluated(operation, below.grid(), Some(below), 0)
}

/// A grid with 2 m between columns and 3 m between rows.
pub(super) fn rectangular_grid(width: usize, height: usize) -> Grid {
    let extent = Extent { width_m: 2.0 * (width - 1) as f64, depth_m: 3.0 * (height - 1) as f64 };
    Grid::new(extent, width, height)
}

/// A terrain of pseudo-random heights up to 1008 m.
pub(super) fn rough_terrain(grid: Grid) -> Heightfield {
    Heightfield::from_fn(grid, |c, r| ((c * 7919 + r * 104_729 + c * r * 31) % 1009) as f32)
}

/// Asserts that `small` is bit-identical to every fourth sample of `large`.
#[track_caller]
pub(super) fn assert_subset(small: &Heightfield, large: &Heightfield) {
    let subset = Heightfield::from_fn(small.grid(), |c, r| large[(4 * c, 4 * r)]);
    assert!(subset == *small, "the small map is no subset of the large one");
}

/// The RMS difference between a small map and one of four times the resolution, over the range of heights.
pub(super) fn relative_rms(small: &Heightfield, large: &Heightfield) -> f64 {
    let grid = small.grid();
    let samples = (0..grid.samples()).map(|i| (i % grid.width(), i / grid.width()));
    let squares: f64 = samples
        .map(|(c, r)| f64::from(small[(c, r)] - large[(4 * c, 4 * r)]))
        .map(|difference| difference * difference)
        .sum();
    let [low, high] = large.min_max();
    (squares / grid.samples() as f64).sqrt() / f64::from(high - low)
}

/// The reference for separable blurs, in f64: weighted means along rows and then along columns, with the border
/// repeated forever. `taps(spacing_m)` is the number of samples to either side, `weight(n, spacing_m)` the weight of
/// sample n.
pub(super) fn separable_mean(
    terrain: &Heightfield,
    taps: impl Fn(f64) -> i64,
    weight: impl Fn(i64, f64) -> f64,
) -> Vec<f64> {
    let grid = terrain.grid();
    let (width, height) = (grid.width(), grid.height());
    let mean = |spacing_m: f64, count: usize, i: usize, x: &dyn Fn(usize) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for n in -taps(spacing_m)..=taps(spacing_m) {
            let weight = weight(n, spacing_m);
            total += weight;
            sum += weight * x((i as i64 + n).clamp(0, count as i64 - 1) as usize);
        }
        sum / total
    };
    let samples = || (0..width * height).map(|i| (i % width, i / width));
    let along_rows: Vec<f64> =
        samples().map(|(c, r)| mean(grid.spacing_x_m(), width, c, &|c| f64::from(terrain[(c, r)]))).collect();
    samples().map(|(c, r)| mean(grid.spacing_z_m(), height, r, &|r| along_rows[r * width + c])).collect()
}
