//! Valley floors, and smooth margins of depressions that were filled or cut: what moves points towards the mean height
//! of their neighbours.

use std::sync::Arc;

use rayon::prelude::*;

use super::mesh::{AROUND, Mesh};
use super::options::RoutingOptions;
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// The heights around the points of a mesh, given those of the streams there. Streams are narrower than a spacing and
/// lie below the mean of their surroundings, which are partly valley floors, partly slopes.
pub(super) fn with_valley_floors(
    points: &Neighbourhoods,
    streams: &Heightfield,
    left: &Heightfield,
    routing: RoutingOptions,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    /// The share of the neighbours in the mean height of an eroded point below them.
    const SHARE: f32 = 0.55;
    let rise =
        |point: usize, stream_m: f32, mean_m: f32| SHARE * (1.0 - left.heights()[point]) * (mean_m - stream_m).max(0.0);
    let mut heights = streams.copied(progress)?;
    points.move_towards_means(&mut heights, routing, rise, progress)?;
    Ok(heights)
}

/// Smooths the surroundings of removed depressions. Filled floors would otherwise meet the slopes around them at an edge,
/// like the surface of a lake, where sediment forms fans and aprons; and cuts would be zigzag trenches along the edges of
/// triangles, where rivers widen their valleys.
pub(super) fn smooth_margins(
    mesh: &Mesh,
    heights: &mut Heightfield,
    before: &Heightfield,
    routing: RoutingOptions,
    progress: &Progress,
) -> Result<(), Cancelled> {
    /// Cuts and fills deeper than this have margins, in spacings.
    const MIN_DEPTH: f32 = 1.0 / 64.0;
    const PASSES: u32 = 8;
    let min_m = MIN_DEPTH * mesh.grid().spacing_x_m().to_f32();
    let changed = |sign: f32| {
        let mark = |height: f32, before: f32| if sign * (height - before) > min_m { 1.0 } else { 0.0 };
        heights.copied(progress)?.combined(before, mark, progress)
    };
    let [is_filled, is_cut] = [changed(1.0)?, changed(-1.0)?];
    if [&is_filled, &is_cut].iter().all(|map| map.min_max()[1] == 0.0) {
        return Ok(());
    }
    // The share of the difference by which points rise or fall towards their means; cuts stay.
    let share = |near: f32, is_cut: f32| if is_cut > 0.0 { 0.0 } else { 0.5 * near };
    let rise = with_margin(&is_filled, progress)?.combined(&is_cut, share, progress)?;
    let fall = with_margin(&is_cut, progress)?.combined(&is_cut, share, progress)?;
    let fall = fall.combined(&rise, f32::max, progress)?;
    let change = |point: usize, own_m: f32, mean_m: f32| {
        let shares = if mean_m < own_m { &fall } else { &rise };
        shares.heights()[point] * (mean_m - own_m)
    };
    let points = Neighbourhoods::new(mesh, progress)?;
    for _ in 0..PASSES {
        points.move_towards_means(heights, routing, change, progress)?;
    }
    Ok(())
}

/// A map of weights that are 1 at some points and decrease to 0 in a margin around them.
fn with_margin(map: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
    /// The width of the margin in spacings.
    const REACH: u32 = 4;
    let (width, last) = (map.grid().width(), map.grid().height() - 1);
    let mut weights = map.copied(progress)?;
    for _ in 0..REACH {
        let before = weights.copied(progress)?;
        weights.heights_mut().par_chunks_exact_mut(width).enumerate().with_min_len(8).try_for_each_init(
            || vec![0.0_f32; width + 2],
            |column_highest, (r, row)| {
                let rows = [r.saturating_sub(1), r, (r + 1).min(last)].map(|r| before.row(r));
                simd(
                    #[inline(always)]
                    || widen(rows, column_highest, 1.0 / REACH.to_f32(), row),
                );
                progress.check()
            },
        )?;
    }
    Ok(weights)
}

/// Raises the weights of a row to the highest of the three rows around it less `loss`, in each column and the ones beside
/// it. `column_highest` is a buffer with a column more on both sides.
#[inline(always)]
fn widen([north, here, south]: [&[f32]; 3], column_highest: &mut [f32], loss: f32, row: &mut [f32]) {
    let width = row.len();
    let [north, here, south] = [north, here, south].map(|row| &row[..width]);
    for (c, highest) in column_highest[1..=width].iter_mut().enumerate() {
        *highest = north[c].max(here[c]).max(south[c]);
    }
    let [west, middle, east] = [0, 1, 2].map(|first| &column_highest[first..][..width]);
    for (c, weight) in row.iter_mut().enumerate() {
        *weight = weight.max(west[c].max(middle[c]).max(east[c]) - loss);
    }
}

/// How much the neighbours of each point of a mesh count in the mean around it.
pub(super) struct Neighbourhoods {
    /// See [`Mesh::weights_around`].
    weights: Arc<Vec<f32>>,
}

impl Neighbourhoods {
    /// The neighbourhoods of all points.
    pub fn new(mesh: &Mesh, progress: &Progress) -> Result<Self, Cancelled> {
        Ok(Self { weights: mesh.weights_around(progress)? })
    }

    /// Adds the `change` of each point inside the border and above the sea, which depends on its index, its height and the
    /// mean height of its neighbours before, metres. The floor of the sea counts as high as the sea.
    pub fn move_towards_means(
        &self,
        heights: &mut Heightfield,
        routing: RoutingOptions,
        change: impl Fn(usize, f32, f32) -> f32 + Sync,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let (width, height) = (heights.grid().width(), heights.grid().height());
        if width < 3 {
            return Ok(());
        }
        let sea_m = routing.sea_level_m();
        let before = heights.copied(progress)?;
        let weights = self.weights.par_chunks_exact(AROUND.len() * width);
        let rows = heights.heights_mut().par_chunks_exact_mut(width).zip(weights).enumerate();
        let inside = rows.skip(1).take(height.max(2) - 2).with_min_len(8);
        inside.try_for_each_init(Vec::new, |means_m, (r, (row, weights))| {
            let rows = [r - 1, r, r + 1].map(|r| before.row(r));
            means_m.resize(width, 0.0);
            simd(
                #[inline(always)]
                || find_means(rows, weights, sea_m, means_m),
            );
            for (c, (own_m, mean_m)) in row.iter_mut().zip(means_m).enumerate().take(width - 1).skip(1) {
                if *own_m > sea_m {
                    *own_m += change(r * width + c, *own_m, *mean_m);
                }
            }
            progress.check()
        })
    }
}

/// Finds the mean heights around the points between the first and the last of a row, given the row before it, itself, the
/// one after it, and the [weights](Mesh::weights_around) of the row.
#[inline(always)]
fn find_means([north, here, south]: [&[f32]; 3], weights: &[f32], sea_m: f32, means_m: &mut [f32]) {
    let (width, count) = (means_m.len(), means_m.len() - 2);
    let means_m = &mut means_m[1..][..count];
    // Slices of one length each, because the loop would not be vectorized otherwise.
    let [nw, n, ne, w, e, sw, s, se] =
        [0, 1, 2, 3, 4, 5, 6, 7].map(|neighbour| &weights[neighbour * width + 1..][..count]);
    let (north_west, north_of, north_east) = (&north[..count], &north[1..][..count], &north[2..][..count]);
    let (west, east) = (&here[..count], &here[2..][..count]);
    let (south_west, south_of, south_east) = (&south[..count], &south[1..][..count], &south[2..][..count]);
    for c in 0..count {
        let sum = nw[c] * north_west[c].max(sea_m) + n[c] * north_of[c].max(sea_m) + ne[c] * north_east[c].max(sea_m);
        let sum = sum + w[c] * west[c].max(sea_m) + e[c] * east[c].max(sea_m);
        let sum = sum + sw[c] * south_west[c].max(sea_m) + s[c] * south_of[c].max(sea_m);
        means_m[c] = sum + se[c] * south_east[c].max(sea_m);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{mesh, terrain};
    use super::*;
    use crate::flow::options::Outlets;
    use crate::heightfield::{Extent, Grid};

    const NO_SEA: RoutingOptions = RoutingOptions { outlets: Outlets::Border, sea_m: None };

    #[test]
    fn fills_and_cuts_get_smooth_margins() {
        // A floor from which a slope rises at 1 m per column from column 10.
        let grid = Grid::new(Extent { width_m: 320.0, depth_m: 160.0 }, 33, 17);
        let slope = Heightfield::from_fn(grid, |c, _| c.saturating_sub(10) as f32);
        let smoothed = |changed: &Heightfield, before: &Heightfield| {
            let mut heights = changed.clone();
            smooth_margins(&Mesh::regular(grid), &mut heights, before, NO_SEA, &Progress::new())
                .expect("not cancelled");
            heights
        };
        assert_eq!(smoothed(&slope, &slope), slope, "nothing was filled or cut");
        // The floor was filled from −5 m.
        let unfilled = Heightfield::from_fn(grid, |c, r| if c < 10 { -5.0 } else { slope[(c, r)] });
        let fill = smoothed(&slope, &unfilled);
        let bend = |c: usize| fill[(c + 1, 8)] - 2.0 * fill[(c, 8)] + fill[(c - 1, 8)];
        assert!((1..32).all(|c| (-0.05..0.5).contains(&bend(c))), "{:?}", (1..32).map(bend).collect::<Vec<_>>());
        assert!((14..33).all(|c| fill[(c, 8)] == slope[(c, 8)]), "beyond the margin");
        // A trench 3 m deep was cut along row 8: it stays, and its sides become lower.
        let trench = Heightfield::from_fn(grid, |c, r| slope[(c, r)] - if r == 8 { 3.0 } else { 0.0 });
        let cut = smoothed(&trench, &slope);
        assert!((0..33).all(|c| cut[(c, 8)] == trench[(c, 8)]));
        assert!((1..32).all(|c| cut[(c, 7)] < slope[(c, 7)] - 0.5 && cut[(c, 3)] == slope[(c, 3)]));
    }

    #[test]
    fn points_inside_the_border_and_above_the_sea_move() {
        const SEA_M: f32 = 4.0;
        let mesh = mesh(41, 29);
        let before = Heightfield::from_fn(mesh.grid(), |c, r| ((31 * c + 17 * r) % 23) as f32);
        let routing = RoutingOptions { sea_m: Some(SEA_M), ..NO_SEA };
        let change = |point: usize, own_m: f32, mean_m: f32| (mean_m - own_m) / (1 + point % 3) as f32;
        let points = Neighbourhoods::new(&mesh, &Progress::new()).expect("not cancelled");
        let mut moved = before.clone();
        points.move_towards_means(&mut moved, routing, change, &Progress::new()).expect("not cancelled");
        let expected = Heightfield::from_fn(mesh.grid(), |c, r| {
            let own_m = before[(c, r)];
            if [0, 40].contains(&c) || [0, 28].contains(&r) || own_m <= SEA_M {
                return own_m;
            }
            let of_neighbour = |(neighbour, [east, south]): (usize, [isize; 2])| {
                let height_m = before[(c.wrapping_add_signed(east), r.wrapping_add_signed(south))].max(SEA_M);
                points.weights[(8 * r + neighbour) * 41 + c] * height_m
            };
            own_m + change(41 * r + c, own_m, AROUND.into_iter().enumerate().map(of_neighbour).sum())
        });
        assert_eq!(moved, expected);
    }

    #[test]
    fn valley_floors_rise_towards_the_slopes_beside_them() {
        let valley = terrain(&[&[8.0, 0.0, 8.0], &[8.0, 0.0, 8.0], &[8.0, 0.0, 8.0]]);
        let rise = |left: f32, routing: RoutingOptions| {
            let left = Heightfield::from_fn(valley.grid(), |_, _| left);
            let points = Neighbourhoods::new(&Mesh::regular(valley.grid()), &Progress::new()).expect("not cancelled");
            let heights =
                with_valley_floors(&points, &valley, &left, routing, &Progress::new()).expect("not cancelled");
            assert_eq!(heights[(0, 1)], 8.0, "the border and crests stay");
            heights[(1, 1)]
        };
        // Cells are 2 m wide and 3 m deep: weights of 1/4 beside, 1/13 at the corners, 1/9 along the valley.
        let [beside, corners, along] = [2.0 / 4.0, 4.0 / 13.0, 2.0 / 9.0_f32];
        let mean_m = 8.0 * (beside + corners) / (beside + corners + along);
        assert!((rise(0.0, NO_SEA) - 0.55 * mean_m).abs() < 1e-5, "{}", rise(0.0, NO_SEA));
        assert_eq!(rise(1.0, NO_SEA), 0.0, "terrain that is not eroded");
        assert_eq!(rise(0.0, RoutingOptions { sea_m: Some(0.0), ..NO_SEA }), 0.0, "the floor of the sea");
    }
}
