//! Limits how sharply heights bend from sample to sample.

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Samples that are less than this above or below the mean around them stay, in spacings: on level terrain, per slope
/// (metres per metre), and at most. With at most 0.04, steep slopes between rivers lose some of their roughness; with 0.07 on
/// level terrain, rivers on flood plains are rows of bumps.
const LEVEL_BEND: f32 = 0.01;
const BEND_PER_SLOPE: f32 = 0.12;
const MAX_BEND: f32 = 0.07;
/// A sample is a quarter of its own mean, so a pass leaves a quarter of what is beyond the limit.
const PASSES: usize = 2;

/// Moves samples that are far above or below the mean around them towards it. Rivers one sample wide, which would be rows of
/// dots where they run diagonally, become continuous lines; elevation models from surveys, which average the terrain over
/// each cell, have no such dots. (The height above the mean is known as the topographic position index: A. Weiss,
/// "Topographic position and landforms analysis", ESRI User Conference, 2001.) `left` is the share of the terrain before
/// erosion that is left, which keeps its bends. The border stays, and the floor of the sea, which counts as high as the sea.
/// Cells should be about square.
pub(super) fn limit_bends(
    terrain: Heightfield,
    left: &Heightfield,
    sea_m: f32,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let width = grid.width();
    let limits = Limits { spacing_m: grid.spacing_x_m().to_f32(), sea_m };
    let (mut before, mut after) = (terrain.copied(progress)?, terrain);
    for pass in 0..PASSES {
        if pass > 0 {
            std::mem::swap(&mut before, &mut after);
        }
        let rows = after.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8);
        rows.try_for_each_init(<[Vec<f32>; 2]>::default, |buffers, (r, row)| {
            if r > 0 && r + 1 < grid.height() {
                let rows = [r - 1, r, r + 1].map(|r| before.row(r));
                simd(
                    #[inline(always)]
                    || limit_row(rows, left.row(r), limits, buffers, row),
                );
            }
            progress.check()
        })?;
    }
    Ok(after)
}

/// How far terrain may be above or below the mean around it, metres, where it falls by `fall_m` per spacing.
#[inline(always)]
pub(super) fn max_bend_m(fall_m: f32, spacing_m: f32) -> f32 {
    (LEVEL_BEND * spacing_m + BEND_PER_SLOPE * fall_m).min(MAX_BEND * spacing_m)
}

#[derive(Clone, Copy)]
struct Limits {
    spacing_m: f32,
    /// What is not higher is the floor of the sea, metres.
    sea_m: f32,
}

/// Limits the bends of a row, given the three rows around it. `sums` and `rises` are buffers.
#[inline(always)]
fn limit_row(
    [north, here, south]: [&[f32]; 3],
    left: &[f32],
    Limits { spacing_m, sea_m }: Limits,
    [sums, rises]: &mut [Vec<f32>; 2],
    row: &mut [f32],
) {
    let width = row.len();
    let [north, here, south, left] = [north, here, south, left].map(|row| &row[..width]);
    sums.resize(width, 0.0);
    rises.resize(width, 0.0);
    // Weights of 1, 2 and 1 along both axes.
    for (c, (sum, rise)) in sums.iter_mut().zip(rises.iter_mut()).enumerate() {
        let [north_m, south_m] = [north, south].map(|row| row[c].max(sea_m));
        *sum = north_m + 2.0 * here[c].max(sea_m) + south_m;
        *rise = south_m - north_m;
    }
    let [west, middle, east] = [0, 1, 2].map(|first| &sums[first..][..width - 2]);
    let [west_rise, middle_rise, east_rise] = [0, 1, 2].map(|first| &rises[first..][..width - 2]);
    let inside = row[1..width - 1].iter_mut().zip(&here[1..]).zip(&left[1..]).enumerate();
    for (c, ((height, own_m), left)) in inside {
        let rise_m = (west[c] + 2.0 * middle[c] + east[c]) / 16.0 - own_m;
        let [east_m, south_m] = [east[c] - west[c], west_rise[c] + 2.0 * middle_rise[c] + east_rise[c]];
        let fall_m = (east_m * east_m + south_m * south_m).sqrt() / 8.0;
        let bend_m = max_bend_m(fall_m, spacing_m);
        let change_m = (1.0 - left) * (rise_m - rise_m.clamp(-bend_m, bend_m));
        *height = if *own_m > sea_m { own_m + change_m } else { *own_m };
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::terrain;
    use super::*;
    use crate::heightfield::{Extent, Grid};

    fn limited(heights: &Heightfield, left: f32, sea_m: f32) -> Heightfield {
        let left = Heightfield::from_fn(heights.grid(), |_, _| left);
        limit_bends(heights.clone(), &left, sea_m, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn slopes_and_gentle_bends_stay() {
        let slope = terrain(&[&[1.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 4.0, 5.0], &[3.0, 4.0, 5.0, 6.0]]);
        assert_eq!(limited(&slope, 0.0, f32::NEG_INFINITY), slope);
        let grid = slope.grid();
        // A quarter of a sample counts in its own mean.
        let peak = |bend: f32| {
            let limit_m = LEVEL_BEND * grid.spacing_x_m().to_f32();
            Heightfield::from_fn(grid, |c, r| if (c, r) == (1, 1) { bend * limit_m / 0.75 } else { 0.0 })
        };
        assert_eq!(limited(&peak(0.99), 0.0, f32::NEG_INFINITY), peak(0.99));
        // Of the four limits beyond the first one, the passes leave a quarter each. The samples around stay.
        let low = limited(&peak(5.0), 0.0, f32::NEG_INFINITY);
        let expected = peak(1.0 + 4.0 / 16.0);
        assert!((low[(1, 1)] - expected[(1, 1)]).abs() < 1e-6, "{low:?}");
    }

    #[test]
    fn steep_slopes_keep_more_of_their_bends_than_level_terrain() {
        let limits = [0.0, 0.25, 0.5, 2.0].map(|slope| max_bend_m(4.0 * slope, 4.0) / 4.0);
        let expected = [0.01, 0.04, 0.07, 0.07];
        assert!(limits.iter().zip(expected).all(|(limit, expected)| (limit - expected).abs() < 1e-6), "{limits:?}");
    }

    #[test]
    fn a_diagonal_row_of_dots_becomes_a_continuous_valley() {
        let grid = Grid::new(Extent { width_m: 160.0, depth_m: 160.0 }, 17, 17);
        let valley = Heightfield::from_fn(grid, |c, r| if c == r { 0.0 } else { 5.0 });
        let saddle_m = |terrain: &Heightfield| terrain[(8, 9)] - terrain[(8, 8)];
        let smooth = limited(&valley, 0.0, f32::NEG_INFINITY);
        assert!(saddle_m(&smooth) < 0.3 * saddle_m(&valley), "{}", saddle_m(&smooth));
        assert_eq!(smooth[(0, 0)], 0.0, "the border stays");
        assert_eq!(limited(&valley, 1.0, f32::NEG_INFINITY), valley, "what is not eroded stays");
        assert_eq!(limited(&valley, 0.0, 5.0), valley, "the floor of the sea stays");
        // Land beside the sea does not sink towards its floor.
        let coast = Heightfield::from_fn(grid, |c, _| if c < 8 { -500.0 } else { 1.0 });
        let shore = limited(&coast, 0.0, 0.0);
        assert!((0..17).all(|r| shore[(7, r)] == -500.0 && shore[(8, r)] > 0.5), "{}", shore[(8, 8)]);
    }
}
