//! Limits how sharply heights bend from sample to sample.

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Samples that are less than this above or below the mean around them stay, in spacings. With 0.04, slopes between rivers
/// lose some of their roughness, too.
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
    let limits = Limits { bend_m: MAX_BEND * grid.spacing_x_m().to_f32(), sea_m };
    let (mut before, mut after) = (terrain.copied(progress)?, terrain);
    for pass in 0..PASSES {
        if pass > 0 {
            std::mem::swap(&mut before, &mut after);
        }
        let rows = after.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8);
        rows.try_for_each_init(
            || vec![0.0_f32; width],
            |column_sums, (r, row)| {
                if r > 0 && r + 1 < grid.height() {
                    let rows = [r - 1, r, r + 1].map(|r| before.row(r));
                    simd(
                        #[inline(always)]
                        || limit_row(rows, left.row(r), limits, column_sums, row),
                    );
                }
                progress.check()
            },
        )?;
    }
    Ok(after)
}

#[derive(Clone, Copy)]
struct Limits {
    /// How far a sample may be above or below the mean around it, metres.
    bend_m: f32,
    /// What is not higher is the floor of the sea, metres.
    sea_m: f32,
}

/// Limits the bends of a row, given the three rows around it. `column_sums` is a buffer.
#[inline(always)]
fn limit_row(
    [north, here, south]: [&[f32]; 3],
    left: &[f32],
    Limits { bend_m, sea_m }: Limits,
    column_sums: &mut [f32],
    row: &mut [f32],
) {
    let width = row.len();
    let [north, here, south, left] = [north, here, south, left].map(|row| &row[..width]);
    for (c, sum) in column_sums.iter_mut().enumerate() {
        *sum = north[c].max(sea_m) + 2.0 * here[c].max(sea_m) + south[c].max(sea_m);
    }
    let [west, middle, east] = [0, 1, 2].map(|first| &column_sums[first..][..width - 2]);
    let inside = row[1..width - 1].iter_mut().zip(&here[1..]).zip(&left[1..]).enumerate();
    for (c, ((height, own_m), left)) in inside {
        // Weights of 1, 2 and 1 along both axes.
        let rise_m = (west[c] + 2.0 * middle[c] + east[c]) / 16.0 - own_m;
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
            let limit_m = MAX_BEND * grid.spacing_x_m().to_f32();
            Heightfield::from_fn(grid, |c, r| if (c, r) == (1, 1) { bend * limit_m / 0.75 } else { 0.0 })
        };
        assert_eq!(limited(&peak(0.99), 0.0, f32::NEG_INFINITY), peak(0.99));
        // Of the four limits beyond the first one, the passes leave a quarter each. The samples around stay.
        let low = limited(&peak(5.0), 0.0, f32::NEG_INFINITY);
        let expected = peak(1.0 + 4.0 / 16.0);
        assert!((low[(1, 1)] - expected[(1, 1)]).abs() < 1e-6, "{low:?}");
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
