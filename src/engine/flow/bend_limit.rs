//! Limits how sharply heights bend from sample to sample, and from point to point of a mesh.

use std::iter;

use rayon::prelude::*;

use super::mesh::Mesh;
use super::options::RoutingOptions;
use super::valley_floors::Neighbourhoods;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Samples that are less than this above or below the mean around them stay, in spacings: on level terrain, per slope
/// (metres per metre), and at most. With at most 0.04, steep slopes between rivers lose some of their roughness; with 0.07 on
/// level terrain, rivers on flood plains are rows of bumps.
const LEVEL_BEND: f32 = 0.01;
const BEND_PER_SLOPE: f32 = 0.12;
const MAX_BEND: f32 = 0.07;
/// The spacing of a mesh, in metres, with the limits of a map.
const SPACING_M: f32 = 8.0;
/// A sample is a quarter of its own mean, so a pass leaves a quarter of what is beyond the limit.
const PASSES: usize = 2;

/// Moves samples that are far above or below the mean around them towards it. Rivers one sample wide, which would be rows of
/// dots where they run diagonally, become continuous lines; elevation models from surveys, which average the terrain over
/// each cell, have no such dots. (The height above the mean is known as the topographic position index: A. Weiss,
/// "Topographic position and landforms analysis", ESRI User Conference, 2001.) If the mesh that the terrain was sampled from
/// is coarser, its incisions are as wide as its own spacing, so the means are first those of samples that far apart, then half as
/// far, and so on (as in the à trous algorithm); nearer to the border than that, only the finer ones count. `left` is the
/// share of the terrain before erosion that is left, which keeps its bends. The border stays, and the floor of the sea, which
/// counts as high as the sea. Cells should be about square.
pub(super) fn limit_bends(
    terrain: Heightfield,
    left: &Heightfield,
    sea_m: f32,
    mesh_spacing_m: f64,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let width = grid.width();
    let (mut before, mut after) = (terrain.copied(progress)?, terrain);
    for (pass, stride) in strides(mesh_spacing_m, grid.spacing_x_m()).flat_map(|stride| [stride; PASSES]).enumerate() {
        if pass > 0 {
            std::mem::swap(&mut before, &mut after);
        }
        let limits = Limits { spacing_m: stride.to_f32() * grid.spacing_x_m().to_f32(), sea_m, stride };
        let rows = after.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8);
        rows.try_for_each_init(<[Vec<f32>; 2]>::default, |buffers, (r, row)| {
            if r >= stride && r + stride < grid.height() && 2 * stride < width {
                let rows = [r - stride, r, r + stride].map(|r| before.row(r));
                simd(
                    #[inline(always)]
                    || limit_row(rows, left.row(r), limits, buffers, row),
                );
            } else {
                row.copy_from_slice(before.row(r));
            }
            progress.check()
        })?;
    }
    Ok(after)
}

/// From one sample to the next that counts in a mean, in samples, for terrain that was sampled from a mesh: the spacing of
/// the mesh, rounded, and half of it again and again.
fn strides(mesh_spacing_m: f64, spacing_m: f64) -> impl Iterator<Item = usize> {
    let ratio = (mesh_spacing_m / spacing_m).round().to_usize().max(1);
    iter::successors(Some(ratio), |stride| (*stride > 1).then_some(stride / 2))
}

/// How far away the samples are on which a sample of terrain with limited bends depends, in samples.
pub(crate) fn reach_of_limits(mesh_spacing_m: f64, spacing_m: f64) -> usize {
    strides(mesh_spacing_m, spacing_m).sum::<usize>() * PASSES
}

/// How far terrain may be above or below the mean around it, metres, where it falls by `fall_m` per spacing.
#[inline(always)]
fn max_bend_m(fall_m: f32, spacing_m: f32) -> f32 {
    (LEVEL_BEND * spacing_m + BEND_PER_SLOPE * fall_m).min(MAX_BEND * spacing_m)
}

/// A number, limited to a range around 0. Unlike [`f32::clamp`], it has no branch for invalid ranges, so that loops are
/// vectorized.
#[inline(always)]
fn within(number: f32, limit: f32) -> f32 {
    number.max(-limit).min(limit)
}

/// As [`limit_bends`] at the points of a mesh, so that rivers along the zigzag edges of triangles do not become rows of
/// bumps in finer meshes. `points` are those of the mesh. The limits are multiplied by the square root of the spacing divided
/// by [`SPACING_M`]: with those of maps on a reference of 64 m, terrain is too smooth at 80 m (a spectral slope of
/// −3.5 in Alpine range, real terrain has −3.38 to −2.41).
pub(super) fn limit_bends_at_points(
    mesh: &Mesh,
    points: &Neighbourhoods,
    heights: &mut Heightfield,
    left: &Heightfield,
    routing: RoutingOptions,
    progress: &Progress,
) -> Result<(), Cancelled> {
    const PASSES: u32 = 3;
    let width = mesh.grid().width();
    let spacing_m = mesh.grid().spacing_x_m().to_f32();
    let scale = (spacing_m / SPACING_M).sqrt();
    let above_sea = routing.above_sea(heights, progress)?;
    let mut limits_m = Heightfield::flat(mesh.grid());
    limits_m.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8).try_for_each_init(
        <[Vec<f32>; 2]>::default,
        |gradients, (r, row)| {
            mesh.find_plane_gradients(&above_sea, r, gradients);
            let [east, south] = gradients;
            for (limit_m, (east, south)) in row.iter_mut().zip(east.iter().zip(south.iter())) {
                *limit_m = scale * max_bend_m((east * east + south * south).sqrt(), spacing_m);
            }
            progress.check()
        },
    )?;
    drop(above_sea);
    let change = |point: usize, own_m: f32, mean_m: f32| {
        let rise_m = mean_m - own_m;
        0.5 * (1.0 - left.heights()[point]) * (rise_m - within(rise_m, limits_m.heights()[point]))
    };
    for _ in 0..PASSES {
        points.move_towards_means(heights, routing, change, progress)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Limits {
    spacing_m: f32,
    /// What is not higher is the floor of the sea, metres.
    sea_m: f32,
    /// The samples from one to the next that counts in a mean.
    stride: usize,
}

/// Limits the bends of a row, given the row a stride before it, itself, and the one a stride after it. `sums` and `rises` are
/// buffers.
#[inline(always)]
fn limit_row(
    [north, here, south]: [&[f32]; 3],
    left: &[f32],
    Limits { spacing_m, sea_m, stride }: Limits,
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
    let [west, middle, east] = [0, 1, 2].map(|i| &sums[i * stride..][..width - 2 * stride]);
    let [west_rise, middle_rise, east_rise] = [0, 1, 2].map(|i| &rises[i * stride..][..width - 2 * stride]);
    row[..stride].copy_from_slice(&here[..stride]);
    row[width - stride..].copy_from_slice(&here[width - stride..]);
    let inside = row[stride..width - stride].iter_mut().zip(&here[stride..]).zip(&left[stride..]).enumerate();
    for (c, ((height, own_m), left)) in inside {
        let rise_m = (west[c] + 2.0 * middle[c] + east[c]) / 16.0 - own_m;
        let [east_m, south_m] = [east[c] - west[c], west_rise[c] + 2.0 * middle_rise[c] + east_rise[c]];
        let fall_m = (east_m * east_m + south_m * south_m).sqrt() / 8.0;
        let bend_m = max_bend_m(fall_m, spacing_m);
        let change_m = (1.0 - left) * (rise_m - within(rise_m, bend_m));
        *height = if *own_m > sea_m { own_m + change_m } else { *own_m };
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Outlets;
    use super::super::tests::{mesh, terrain};
    use super::*;
    use crate::heightfield::{Extent, Grid};

    fn limited(heights: &Heightfield, left: f32, sea_m: f32) -> Heightfield {
        let left = Heightfield::from_fn(heights.grid(), |_, _| left);
        let spacing_m = heights.grid().spacing_x_m();
        limit_bends(heights.clone(), &left, sea_m, spacing_m, &Progress::new()).expect("not cancelled")
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
    fn peaks_stay_as_the_slope_around_them_allows() {
        let grid = Grid::new(Extent { width_m: 32.0, depth_m: 32.0 }, 9, 9);
        for [east, south] in [[0.25, 0.0], [0.0, 0.25], [0.15, 0.2], [1.2, 0.0]] {
            let limit_m = max_bend_m(4.0 * f32::sqrt(east * east + south * south), 4.0);
            let peak = |bend: f32| {
                // The peak changes the slopes beside it, not its own. A quarter of it counts in its own mean.
                let peak_m = |c: usize, r: usize| if (c, r) == (4, 4) { bend * limit_m / 0.75 } else { 0.0 };
                Heightfield::from_fn(grid, |c, r| 4.0 * (east * c.to_f32() + south * r.to_f32()) + peak_m(c, r))
            };
            let moved_m = |bend: f32| (peak(bend)[(4, 4)] - limited(&peak(bend), 0.0, f32::NEG_INFINITY)[(4, 4)]).abs();
            assert!(moved_m(0.98) < 1e-5 && moved_m(1.2) > 0.1 * limit_m, "{east}, {south}");
        }
    }

    #[test]
    fn planes_stay_bumps_become_flat_and_coasts_do_not_sink_at_the_points_of_a_mesh() {
        let mesh = mesh(33, 33);
        let spacing_m = mesh.grid().spacing_x_m().to_f32();
        let plane = Heightfield::from_fn(mesh.grid(), |c, r| {
            let [east, south] = mesh.offset(c, r);
            spacing_m * (c.to_f32() + east + 0.5 * (r.to_f32() + south))
        });
        let limited = |terrain: &Heightfield, left: f32, sea_m: Option<f32>| {
            let left = Heightfield::from_fn(mesh.grid(), |_, _| left);
            let (mut terrain, progress) = (terrain.clone(), Progress::new());
            let points = Neighbourhoods::new(&mesh, &progress).expect("not cancelled");
            let routing = RoutingOptions { outlets: Outlets::Border, sea_m };
            limit_bends_at_points(&mesh, &points, &mut terrain, &left, routing, &progress).expect("not cancelled");
            terrain
        };
        let largest_m = |terrain: &Heightfield| {
            let differences = terrain.heights().iter().zip(plane.heights()).map(|(own, plane)| (own - plane).abs());
            differences.fold(0.0_f32, f32::max)
        };
        assert!(largest_m(&limited(&plane, 0.0, None)) < 1e-4 * spacing_m);
        let mut hole = plane.clone();
        hole.heights_mut()[16 * 33 + 16] -= spacing_m;
        assert_eq!(limited(&hole, 1.0, None), hole, "what is not eroded stays");
        let shallow = limited(&hole, 0.0, None);
        assert!(
            largest_m(&shallow) < 0.4 * spacing_m && shallow[(16, 16)] < plane[(16, 16)],
            "{}",
            largest_m(&shallow)
        );
        let coast = Heightfield::from_fn(mesh.grid(), |c, _| if c < 16 { -500.0 } else { 1.0 });
        let shore = limited(&coast, 0.0, Some(0.0));
        assert!((0..33).all(|r| shore[(15, r)] == -500.0 && shore[(16, r)] > 0.5));
    }

    #[test]
    fn steep_slopes_keep_more_of_their_bends_than_level_terrain() {
        let limits = [0.0, 0.25, 0.5, 2.0].map(|slope| max_bend_m(4.0 * slope, 4.0) / 4.0);
        let expected = [0.01, 0.04, 0.07, 0.07];
        assert!(limits.iter().zip(expected).all(|(limit, expected)| (limit - expected).abs() < 1e-6), "{limits:?}");
    }

    #[test]
    fn incisions_as_wide_as_the_spacing_of_a_coarser_mesh_become_shallower() {
        let grid = Grid::new(Extent { width_m: 60.0, depth_m: 60.0 }, 31, 31);
        let left = Heightfield::flat(grid);
        for ratio in [2, 3, 4] {
            // A pyramid that is as wide at half its depth as the spacing.
            let away = |a: usize| (1.0 - a.abs_diff(15).to_f32() / ratio.to_f32()).max(0.0);
            let hole = Heightfield::from_fn(grid, |c, r| -10.0 * away(c) * away(r));
            let depth_m = |mesh_spacing_m: f64| {
                let limited = limit_bends(hole.clone(), &left, f32::NEG_INFINITY, mesh_spacing_m, &Progress::new());
                -limited.expect("not cancelled")[(15, 15)]
            };
            let [own, of_mesh] = [1, ratio].map(|ratio| depth_m(2.0 * ratio.to_f64()));
            assert!(of_mesh > 0.0 && of_mesh < 0.5 * own, "{ratio}: {of_mesh} and {own}");
        }
    }

    #[test]
    fn limits_depend_on_samples_within_their_reach() {
        assert_eq!(strides(7.1, 1.0).collect::<Vec<_>>(), [7, 3, 1]);
        assert_eq!(strides(1.2, 1.0).chain(strides(0.5, 1.0)).collect::<Vec<_>>(), [1, 1]);
        let grid = Grid::new(Extent { width_m: 80.0, depth_m: 80.0 }, 81, 81);
        let left = Heightfield::flat(grid);
        let rough = |c: usize, r: usize| ((7 * c + 13 * r) % 11).to_f32();
        for spacing_m in [1.0, 2.0, 5.0] {
            let reach = reach_of_limits(spacing_m, 1.0);
            let limited = |hole: bool| {
                let terrain =
                    Heightfield::from_fn(grid, |c, r| if hole && (c, r) == (40, 40) { -900.0 } else { rough(c, r) });
                limit_bends(terrain, &left, f32::NEG_INFINITY, spacing_m, &Progress::new()).expect("not cancelled")
            };
            let (with, without) = (limited(true), limited(false));
            let changed = (0..81).filter(|c| with[(*c, 40)] != without[(*c, 40)]).map(|c| c.abs_diff(40)).max();
            assert!(changed.is_some_and(|changed| changed <= reach && 2 * changed > reach), "{changed:?} of {reach}");
        }
        // On grids with few samples, the larger strides have no effect.
        let narrow = Grid::new(Extent { width_m: 4.0, depth_m: 80.0 }, 5, 81);
        let terrain = Heightfield::from_fn(narrow, rough);
        let left = Heightfield::flat(narrow);
        let limited = |spacing_m: f64| {
            limit_bends(terrain.clone(), &left, f32::NEG_INFINITY, spacing_m, &Progress::new()).expect("not cancelled")
        };
        assert_eq!(limited(4.0), limited(2.0));
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
