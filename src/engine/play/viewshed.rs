//! What is visible from a place.
//!
//! A sector at a time: rays run from the eye to every sample of the farthest row of the sector, by half rows, because
//! between samples the bilinear surface is not straight along a diagonal. Each keeps the steepest slope of the terrain
//! that it has passed. A sample is seen if it is no lower than the horizon of the two rays beside it and than the terrain
//! half a row before it (after W. R. Franklin, C. K. Ray and S. Mehta, "Geometric algorithms for siting of air defense
//! missile batteries", 1994: their algorithm R2, which takes one ray). The curvature of the earth is left out.

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// A place from which one looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// The place, metres east and south; that of the nearest sample is taken.
    pub at_m: [f64; 2],
    /// Its height above the terrain, metres.
    pub over_terrain_m: f64,
}

/// At which samples a target of `target_m` metres, such as a head, is visible from an eye, row by row; 0 is the
/// terrain itself. `hiding` has the heights that block the line of sight if they are not those of the terrain.
pub fn seen_from(
    terrain: &Heightfield,
    hiding: Option<&Heightfield>,
    eye: Eye,
    target_m: f32,
    progress: &Progress,
) -> Result<Vec<bool>, Cancelled> {
    let grid = terrain.grid();
    let sample = grid.nearest_sample(eye.at_m);
    let at = [sample % grid.width(), sample / grid.width()].map(ToInteger::to_isize);
    let eye_m = terrain.heights()[sample] + eye.over_terrain_m.to_f32();
    let hiding = hiding.unwrap_or(terrain);
    let sector = Sector { terrain, hiding, at, eye_m, target_m, outward: [0, 0] };
    let mut seen = vec![false; grid.samples()];
    seen[sample] = true;
    for outward in [[0, -1], [1, 0], [0, 1], [-1, 0]] {
        Sector { outward, ..sector }.look(&mut seen, progress)?;
    }
    Ok(seen)
}

/// A quarter of the surroundings of an eye.
#[derive(Clone, Copy)]
struct Sector<'a> {
    terrain: &'a Heightfield,
    hiding: &'a Heightfield,
    /// The column and row of the eye, and its height.
    at: [isize; 2],
    eye_m: f32,
    target_m: f32,
    /// The direction of its middle, in columns and rows.
    outward: [isize; 2],
}

impl Sector<'_> {
    fn look(&self, seen: &mut [bool], progress: &Progress) -> Result<(), Cancelled> {
        let grid = self.terrain.grid();
        let sides = [grid.width(), grid.height()].map(ToInteger::to_isize);
        let (heights, hiding) = (self.terrain.heights(), self.hiding.heights());
        let is_along_rows = self.outward[0] == 0;
        let [along, across] = if is_along_rows { [1, 0] } else { [0, 1] };
        let sign = self.outward[along];
        let reach = if sign < 0 { self.at[along] } else { sides[along] - 1 - self.at[along] };
        // The columns or rows across, relative to the eye, that are on the map.
        let [first, last] = [-self.at[across], sides[across] - 1 - self.at[across]];
        let along_m = if is_along_rows { grid.spacing_z_m() } else { grid.spacing_x_m() }.to_f32();
        let index = |out: isize, side: isize| {
            let (step, side) = (self.at[along] + sign * out, self.at[across] + side);
            let [c, r] = if is_along_rows { [side, step] } else { [step, side] };
            (r * sides[0] + c).to_usize()
        };
        let mut horizons = vec![f32::NEG_INFINITY; (2 * reach + 1).to_usize()];
        // Where a line through the eye meets a plane that stands upright across the sector, 1 m from the eye. Straight lines
        // remain straight on it, so between two rays the horizon of a plane is interpolated exactly.
        let projected = |height_m: f32, out: f32| (height_m - self.eye_m) / (out * along_m);
        // What stands at the eye, or at the target, does not hide one from the other.
        let height_at_sample = |[row, near]: [isize; 2], target: Option<[isize; 2]>| {
            let is_end = (row, near) == (0, 0) || target == Some([row, near]);
            (if is_end { heights } else { hiding })[index(row, near)]
        };
        // The height where the ray to column or row `side` across, at the distance `out`, crosses a line of half rows, if
        // that is on the map.
        let height_at = |side: isize, out: isize, half_rows: isize, target: Option<[isize; 2]>| {
            let (near, share) = divided(side * half_rows, 2 * out);
            if near < first || near > last || share > 0.0 && near == last {
                return None;
            }
            let on_row = |row: isize| {
                let near_m = height_at_sample([row, near], target);
                if share > 0.0 { near_m + share * (height_at_sample([row, near + 1], target) - near_m) } else { near_m }
            };
            let (row, is_between) = (half_rows / 2, half_rows % 2 == 1);
            Some(if is_between { 0.5 * (on_row(row) + on_row(row + 1)) } else { on_row(row) })
        };
        let slope = |side: isize, out: isize, half_rows: isize, target: Option<[isize; 2]>| {
            height_at(side, out, half_rows, target).map(|height_m| projected(height_m, 0.5 * half_rows.to_f32()))
        };
        for out in 1..=reach {
            progress.check()?;
            for side in (-out).max(first)..=out.min(last) {
                let at = index(out, side);
                let (ray, share) = divided(side * reach, out);
                let ray = (ray + reach).to_usize();
                let [left, right] = [horizons[ray], horizons[ray + usize::from(share > 0.0)]];
                // A ray that is beside the map has no horizon.
                let is_known = left.is_finite() && right.is_finite();
                let horizon = if is_known { left + share * (right - left) } else { left.max(right) };
                let between = slope(side, out, 2 * out - 1, Some([out, side])).unwrap_or(f32::NEG_INFINITY);
                seen[at] |= projected(heights[at] + self.target_m, out.to_f32()) >= horizon.max(between);
            }
            for (ray, horizon) in (-reach..=reach).zip(&mut horizons) {
                for half_rows in [2 * out - 1, 2 * out] {
                    *horizon = slope(ray, reach, half_rows, None).map_or(*horizon, |slope| horizon.max(slope));
                }
            }
        }
        Ok(())
    }
}

/// The quotient of two whole numbers as the whole number below it and the rest as a share.
fn divided(number: isize, by: isize) -> (isize, f32) {
    (number.div_euclid(by), number.rem_euclid(by).to_f32() / by.to_f32())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::random::Stream;

    fn grid(samples: usize) -> Grid {
        Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, samples, samples)
    }

    fn seen(terrain: &Heightfield, at_m: [f64; 2], over_terrain_m: f64, target_m: f32) -> Vec<bool> {
        seen_from(terrain, None, Eye { at_m, over_terrain_m }, target_m, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn all_of_a_plane_and_of_a_bowl_is_seen() {
        let plane = Heightfield::from_fn(grid(41), |c, r| 0.3 * c as f32 - 0.1 * r as f32);
        assert!(seen(&plane, [30.0, 70.0], 1.7, 0.0).iter().all(|seen| *seen));
        let bowl = Heightfield::from_fn(grid(41), |c, r| {
            let (x, z) = (c as f32 - 20.0, r as f32 - 20.0);
            0.1 * (x * x + z * z)
        });
        assert!(seen(&bowl, [50.0, 50.0], 1.7, 0.0).iter().all(|seen| *seen));
    }

    #[test]
    fn a_wall_hides_what_is_behind_it() {
        // A wall of 4 m at x = 60 m; the eye is 2 m high at x = 20 m, so the shadow behind never ends.
        let wall = Heightfield::from_fn(grid(101), |c, _| if c == 60 { 4.0 } else { 0.0 });
        let found = seen(&wall, [20.0, 50.0], 2.0, 0.0);
        for (i, seen) in found.iter().enumerate() {
            assert_eq!(*seen, i % 101 <= 60, "{} {}", i % 101, i / 101);
        }
        // At x = 80 m the line over the wall is 2 m + 60 · (4 m − 2 m) / 40 = 5 m high.
        let heads = |target_m| seen(&wall, [20.0, 50.0], 2.0, target_m)[50 * 101 + 80];
        assert!(heads(5.1) && !heads(4.8));
        // From 8 m the shadow of the wall ends: 4 m lower 40 m away, so 40 m behind it.
        let high = seen(&wall, [20.0, 50.0], 8.0, 0.0);
        assert!(!high[50 * 101 + 99] && high[50 * 101 + 100]);
    }

    #[test]
    fn the_middle_of_a_cell_hides_what_is_behind_it() {
        // Samples 10 m apart at 0 m but two that are diagonal, so that the other diagonal rises to 5 m in the middle.
        let saddle = Heightfield::from_fn(grid(11), |c, r| if [[4, 5], [5, 4]].contains(&[c, r]) { 10.0 } else { 0.0 });
        // The line from (4, 4) over the middle of that cell to (5, 5).
        let found = seen(&saddle, [40.0, 40.0], 1.7, 1.7);
        assert!(!found[5 * 11 + 5] && !found[8 * 11 + 8]);
        assert!(found[4 * 11 + 5] && found[4 * 11 + 3]);
    }

    /// From eyes in these columns of a map of 8193.
    fn check_large_map(columns: &[u16]) {
        // At these sizes positions on rays are not exact in single precision.
        let grid = Grid::new(Extent { width_m: 8192.0, depth_m: 2.0 }, 8193, 3);
        let plane = Heightfield::flat(grid);
        for &column in columns {
            assert!(seen(&plane, [f64::from(column), 1.0], 1.7, 0.0).iter().all(|seen| *seen), "{column}");
        }
    }

    #[test]
    #[ignore = "slow: several eyes"]
    fn nightly_large_maps_are_seen_to_their_corners_from_anywhere() {
        check_large_map(&[0, 1, 4096, 6143, 8191]);
    }

    #[test]
    fn large_maps_are_seen_to_their_corners() {
        check_large_map(&[2733]);
        assert_eq!((divided(-7, 2), divided(16_777_217 * 3, 3)), ((-4, 0.5), (16_777_217, 0.0)));
    }

    /// What is seen by following the line to every sample, which takes far longer.
    fn reference(terrain: &Heightfield, eye: [usize; 2], over_terrain_m: f32) -> Vec<bool> {
        let grid = terrain.grid();
        let eye_m = terrain[(eye[0], eye[1])] + over_terrain_m;
        let is_seen = |c: usize, r: usize| {
            let (x, z) = (c as f64 - eye[0] as f64, r as f64 - eye[1] as f64);
            let half_steps = 2.0 * x.abs().max(z.abs());
            let length = libm::hypot(x, z);
            let slope = |height: f64, share: f64| (height - f64::from(eye_m)) / (share * length);
            let own = slope(f64::from(terrain[(c, r)]), 1.0);
            (1..half_steps as usize).all(|step| {
                let share = step as f64 / half_steps;
                let at_m = [
                    (eye[0] as f64 + share * x) * grid.spacing_x_m(),
                    (eye[1] as f64 + share * z) * grid.spacing_z_m(),
                ];
                slope(f64::from(terrain.height_at(at_m[0], at_m[1])), share) <= own
            })
        };
        (0..grid.samples()).map(|i| (i % grid.width(), i / grid.width())).map(|(c, r)| is_seen(c, r)).collect()
    }

    #[test]
    fn on_rough_terrain_it_agrees_with_lines_of_sight() {
        let mut rng = Stream::new(11, 3).at(0);
        let hills: Vec<[f64; 4]> = (0..60)
            .map(|_| [rng.between(0.0, 100.0), rng.between(0.0, 100.0), rng.between(2.0, 15.0), rng.between(1.0, 12.0)])
            .collect();
        let terrain = Heightfield::from_fn(grid(129), |c, r| {
            let (x, z) = (c as f64 * 100.0 / 128.0, r as f64 * 100.0 / 128.0);
            let hill = |[at_x, at_z, radius, height]: &[f64; 4]| {
                let d = libm::hypot(x - at_x, z - at_z) / radius;
                height * libm::exp(-d * d)
            };
            hills.iter().map(hill).sum::<f64>() as f32
        });
        for eye in [[64, 64], [3, 120], [100, 20], [0, 0]] {
            let at_m = [eye[0] as f64 * 100.0 / 128.0, eye[1] as f64 * 100.0 / 128.0];
            let found = seen(&terrain, at_m, 1.7, 0.0);
            let expected = reference(&terrain, eye, 1.7);
            let both = found.iter().zip(&expected).filter(|(a, b)| **a && **b).count() as f64;
            let either = found.iter().zip(&expected).filter(|(a, b)| **a || **b).count() as f64;
            assert!(both / either > 0.99, "{eye:?}: {}", both / either);
        }
    }
}
