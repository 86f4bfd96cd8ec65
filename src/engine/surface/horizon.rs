//! How high the horizon stands in a compass direction, at every sample.
//!
//! After V. Timonen and J. Westerholm, "Scalable Height Field Self-Shadowing", Computer Graphics Forum 29, 2010: the map
//! is covered with parallel lines in that direction, a sample apart. Along each of them one walks away from the horizon
//! and keeps the upper convex hull of the heights passed so far; from the next place the horizon is where the tangent
//! touches the hull, and what lies nearer than that can never be a horizon again. So a line costs as much as it has
//! places. Heights on a line are linear between the two samples beside it, and a sample takes the linear mix of the two
//! lines beside it.

use std::ops::Range;

use rayon::prelude::*;

use super::towards;
use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::progress::{Cancelled, Progress};

/// Rows whose horizons are put together at once: where lines run from north to south, their numbers lie in columns, and
/// so many of them are read from the same stretch of memory.
const ROWS_AT_ONCE: usize = 16;
/// Lines that a thread walks between two looks at the monitor.
const LINES_AT_ONCE: usize = 8;
/// Lines that drift from a row or a column by less than this share of a sample per sample run along it.
const STRAIGHT: f64 = 1e-9;
/// A line that lies beside the map by less than this share of a sample lies on its border.
const ON_BORDER: f32 = 1e-5;

/// The tangent of the angle at which one must look up in a compass direction, in degrees clockwise from north, to see
/// the sky. Beyond the world lies level ground far below: no horizon is lower than 0.
pub fn horizon(terrain: &Heightfield, azimuth_deg: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let mut horizons = Heightfield::flat(terrain.grid());
    let keep = |_, tangents: &[f32], row: &mut [f32]| row.copy_from_slice(tangents);
    Sweep::new(terrain.grid(), azimuth_deg).look(terrain, &mut Space::default(), &mut horizons, progress, keep)?;
    Ok(horizons)
}

/// The lines of one direction over a grid.
///
/// They run along the axis to which the direction is nearer; `along` counts the samples of that axis, `across` those of
/// the other one. A line meets every place along between two samples across, or beside the outermost one, where the
/// border goes on level; line `l` lies between samples `l − drop − 1` and `l − drop`. From beside the map one sees the map,
/// but nothing beside it is ever seen.
#[derive(Debug)]
pub(super) struct Sweep {
    /// Whether the lines run along rows, from west to east or back.
    pub(super) on_rows: bool,
    along: usize,
    across: usize,
    /// Of each place along: how many lines run out of the map before it.
    pub(super) drop: Vec<usize>,
    /// Of each place along: how far a line lies beyond the first of its two samples, as a share of the way to the next.
    pub(super) fraction: Vec<f32>,
    /// Whether the places along are counted towards the horizon.
    pub(super) ahead: bool,
    /// Metres on a line from a place to the next.
    pub(super) step_m: f32,
}

/// What a sweep works in, kept from a direction to the next.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// The horizons on all lines, one after another.
    on_lines: Vec<f32>,
}

/// What a thread works in along a line.
#[derive(Default)]
struct Walk {
    /// Heights, and whether they are on the map.
    heights: Vec<(f32, bool)>,
    /// Places and heights on the hull, the farthest first.
    hull: Vec<(f32, f32)>,
}

impl Sweep {
    pub(super) fn new(grid: Grid, azimuth_deg: f64) -> Self {
        let [east, south] = towards(azimuth_deg);
        let (east, south) = (east / grid.spacing_x_m(), south / grid.spacing_z_m());
        let on_rows = east.abs() >= south.abs();
        let (pace, drift, along, across) = if on_rows {
            (east, south, grid.width(), grid.height())
        } else {
            (south, east, grid.height(), grid.width())
        };
        let slant = if (drift / pace).abs() < STRAIGHT { 0.0 } else { drift / pace };
        let shift = |n: usize| (slant * n as f64).floor();
        let greatest = shift(0).max(shift(along - 1));
        Self {
            on_rows,
            along,
            across,
            drop: (0..along).map(|n| (greatest - shift(n)) as usize).collect(),
            fraction: (0..along).map(|n| (slant * n as f64 - shift(n)) as f32).collect(),
            ahead: pace > 0.0,
            step_m: (1.0 / pace.abs()) as f32,
        }
    }

    pub(super) fn lines(&self) -> usize {
        self.across + 1 + self.drop[0].max(self.drop[self.along - 1])
    }

    /// The first place along at which a line is on the map, and the first at which it is no longer.
    pub(super) fn stretch(&self, line: usize) -> [usize; 2] {
        let before = |drop: usize| drop + self.across < line;
        let after = |drop: usize| drop > line;
        if self.drop[0] > self.drop[self.along - 1] {
            [self.drop.partition_point(|&drop| after(drop)), self.drop.partition_point(|&drop| !before(drop))]
        } else {
            [self.drop.partition_point(|&drop| before(drop)), self.drop.partition_point(|&drop| !after(drop))]
        }
    }

    /// Finds the horizons at all samples and hands them to `each` row by row, with the number of the row and the row of
    /// `field` that goes with it.
    pub(super) fn look(
        &self,
        terrain: &Heightfield,
        space: &mut Space,
        field: &mut Heightfield,
        progress: &Progress,
        each: impl Fn(usize, &[f32], &mut [f32]) + Sync,
    ) -> Result<(), Cancelled> {
        let lines = self.lines();
        let stretches: Vec<[usize; 2]> = (0..lines).map(|line| self.stretch(line)).collect();
        let places = stretches.iter().map(|[start, end]| end - start).sum();
        // Made anew where it is too small: memory that nobody has written costs no time, which could not be cut short.
        if space.on_lines.len() < places {
            space.on_lines = vec![0.0; places];
        }

        // Of each line, where place 0 along would stand among all horizons; before the first of them for lines that
        // begin later, which is why these numbers wrap.
        let mut origins = Vec::with_capacity(lines);
        let mut rest = space.on_lines.as_mut_slice();
        let mut parts = Vec::with_capacity(lines);
        let mut offset: usize = 0;
        for &[start, end] in &stretches {
            origins.push(offset.wrapping_sub(start));
            offset += end - start;
            let (part, others) = rest.split_at_mut(end - start);
            rest = others;
            parts.push(part);
        }
        parts.par_chunks_mut(LINES_AT_ONCE).enumerate().try_for_each_init(Walk::default, |walk, (chunk, parts)| {
            for (i, part) in parts.iter_mut().enumerate() {
                let line = chunk * LINES_AT_ONCE + i;
                self.follow(terrain, line, stretches[line][0], walk, part);
            }
            progress.check()
        })?;
        drop(parts);

        let (width, on_lines) = (terrain.grid().width(), space.on_lines.as_slice());
        let at_sample = |along: usize, across: usize| {
            let line = across + self.drop[along];
            let [near, far] = [line, line + 1].map(|line| on_lines[origins[line].wrapping_add(along)]);
            far + self.fraction[along] * (near - far)
        };
        let blocks = field.heights_mut().par_chunks_mut(width * ROWS_AT_ONCE).enumerate();
        blocks.try_for_each_init(Vec::new, |tangents, (block, rows)| {
            let first = block * ROWS_AT_ONCE;
            let count = rows.len() / width;
            tangents.resize(rows.len(), 0.0);
            if self.on_rows {
                for (i, tangents) in tangents.chunks_exact_mut(width).enumerate() {
                    tangents.iter_mut().enumerate().for_each(|(c, tangent)| *tangent = at_sample(c, first + i));
                }
            } else {
                for c in 0..width {
                    (0..count).for_each(|i| tangents[i * width + c] = at_sample(first + i, c));
                }
            }
            for (i, (row, tangents)) in rows.chunks_exact_mut(width).zip(tangents.chunks_exact(width)).enumerate() {
                each(first + i, tangents, row);
            }
            progress.check()
        })
    }

    /// At a place along: which samples across a line may lie before so that it is on the map and not beside it.
    pub(super) fn on_map(&self, place: usize) -> Range<usize> {
        let fraction = self.fraction[place];
        usize::from(fraction <= 1.0 - ON_BORDER)..self.across + usize::from(fraction < ON_BORDER)
    }

    /// Neighbouring samples at neighbouring places along, from number `first` across on; the border goes on level.
    #[inline(always)]
    pub(super) fn read<const ACROSS: usize>(
        &self,
        terrain: &Heightfield,
        places: Range<usize>,
        first: isize,
        samples: &mut [[f32; ACROSS]],
    ) {
        let (heights, width) = (terrain.heights(), terrain.grid().width());
        let on_map = |across: isize| across.clamp(0, self.across as isize - 1) as usize;
        if self.on_rows {
            // Row by row, so that what lies in columns is fetched once.
            for i in 0..ACROSS {
                let row = &heights[on_map(first + i as isize) * width..][places.clone()];
                samples.iter_mut().zip(row).for_each(|(samples, height)| samples[i] = *height);
            }
            return;
        }
        let start = (-first).clamp(0, ACROSS as isize) as usize;
        let end = (self.across as isize - first).clamp(start as isize, ACROSS as isize) as usize;
        for (samples, place) in samples.iter_mut().zip(places) {
            let row = &heights[place * width..][..width];
            samples[..start].fill(row[0]);
            samples[end..].fill(row[width - 1]);
            samples[start..end].copy_from_slice(&row[on_map(first + start as isize)..][..end - start]);
        }
    }

    /// The horizons on one line, from place `start` on.
    fn follow(&self, terrain: &Heightfield, line: usize, start: usize, walk: &mut Walk, horizons: &mut [f32]) {
        let (heights, width) = (terrain.heights(), terrain.grid().width());
        let [stride_along, stride_across] = if self.on_rows { [1, width] } else { [width, 1] };
        walk.heights.clear();
        let places = self.drop[start..].iter().zip(&self.fraction[start..]).take(horizons.len());
        walk.heights.extend(places.enumerate().map(|(i, (drop, fraction))| {
            let beyond = line - drop;
            let at = |across: usize| heights[(start + i) * stride_along + across * stride_across];
            let (near, far) = (at(beyond.saturating_sub(1)), at(beyond.min(self.across - 1)));
            (near + fraction * (far - near), self.on_map(start + i).contains(&beyond))
        }));
        walk.hull.clear();
        let (per_metre, hull) = (1.0 / self.step_m, &mut walk.hull);
        let mut see = |(i, (&(height, on_map), horizon)): (usize, (&(f32, bool), &mut f32))| {
            let place = i as f32;
            *horizon = rise_to_hull(hull, place, height) * per_metre;
            if on_map {
                hull.push((place, height));
            }
        };
        let pairs = walk.heights.iter().zip(horizons);
        if self.ahead {
            pairs.rev().enumerate().for_each(&mut see);
        } else {
            pairs.enumerate().for_each(&mut see);
        }
    }
}

/// How steeply one looks up from the next place to the hull of those passed, in metres per step and not below 0. What
/// lies nearer than the horizon leaves the hull: it is hidden from all places that follow.
fn rise_to_hull(hull: &mut Vec<(f32, f32)>, place: f32, height: f32) -> f32 {
    let rise = |&(there, height_there): &(f32, f32)| (height_there - height) / (place - there);
    let mut steepest = hull.last().map_or(0.0, rise);
    while let [.., behind, _] = hull.as_slice() {
        let behind = rise(behind);
        if behind < steepest {
            break;
        }
        steepest = behind;
        hull.pop();
    }
    steepest.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bumpy, difference, same_at_one_and_seven_threads, world};
    use super::*;

    fn seen(terrain: &Heightfield, azimuth_deg: f64) -> Heightfield {
        horizon(terrain, azimuth_deg, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn level_land_and_slopes_by_hand() {
        let grid = Grid::new(world(600.0, 400.0), 61, 21);
        let level = Heightfield::from_fn(grid, |_, _| 7.0);
        // It rises by 0.5 m a metre to the east.
        let slope = Heightfield::from_fn(grid, |c, _| c as f32 * 5.0);
        for azimuth_deg in [0.0, 33.0, 90.0, 151.0, 180.0, 225.0, 270.0, -45.0] {
            assert!(seen(&level, azimuth_deg).heights().iter().all(|&tangent| tangent == 0.0));
            let expected = (0.5 * towards(azimuth_deg)[0]).max(0.0) as f32;
            let found = seen(&slope, azimuth_deg);
            // From the samples beside the eastern border there may be nothing ahead.
            for (c, r) in (2..19).flat_map(|r| (0..58).map(move |c| (c, r))) {
                assert!((found[(c, r)] - expected).abs() < 1e-5, "{azimuth_deg}° at {c}, {r}: {}", found[(c, r)]);
            }
        }
    }

    #[test]
    fn a_wall_is_seen_as_high_as_it_is() {
        // A wall 40 m high in column 30, samples 10 m apart.
        let grid = Grid::new(world(600.0, 400.0), 61, 41);
        let wall = Heightfield::from_fn(grid, |c, _| if c == 30 { 40.0 } else { 0.0 });
        let (eastward, westward) = (seen(&wall, 90.0), seen(&wall, 270.0));
        for (c, r) in (0..41).flat_map(|r| (0..61).map(move |c| (c, r))) {
            let there = |distance: usize| if distance == 0 { 0.0 } else { 4.0 / distance as f32 };
            let expected = [there(30_usize.saturating_sub(c)), there(c.saturating_sub(30))];
            assert!((eastward[(c, r)] - expected[0]).abs() < 1e-6 && (westward[(c, r)] - expected[1]).abs() < 1e-6);
        }
        // At 45° the way to the wall is longer by √2, as is the height of what is on the way along.
        let slanting = seen(&wall, 45.0);
        assert!((slanting[(20, 35)] - 0.4 / 2.0_f32.sqrt()).abs() < 1e-6);
        // Northward there is no wall but beside the wall itself.
        assert_eq!(seen(&wall, 0.0)[(29, 20)], 0.0);
    }

    #[test]
    fn the_rim_of_a_pit_and_the_top_of_a_cone() {
        let grid = Grid::new(world(1000.0, 1000.0), 101, 201);
        let from_middle = |c: usize, r: usize| {
            let (x, z) = (grid.x_m(c) - 500.0, grid.z_m(r) - 500.0);
            (x * x + z * z).sqrt()
        };
        // 60 m deep within 300 m; from its middle the rim stands at 60/300 in every direction.
        let pit = Heightfield::from_fn(grid, |c, r| if from_middle(c, r) < 300.0 { -60.0 } else { 0.0 });
        let cone = Heightfield::from_fn(grid, |c, r| 200.0 - 0.3 * from_middle(c, r) as f32);
        for step in 0..24 {
            let azimuth_deg = 15.0 * f64::from(step);
            let rim = seen(&pit, azimuth_deg)[(50, 100)];
            assert!((rim - 0.2).abs() < 0.01, "{azimuth_deg}°: {rim}");
            let on_cone = seen(&cone, azimuth_deg);
            assert!(on_cone[(50, 100)] < 1e-3, "{azimuth_deg}°: {}", on_cone[(50, 100)]);
            // From the opposite flank the top stands at the slope of the cone.
            let [east, south] = towards(azimuth_deg);
            let at = |m: f64, spacing: f64| ((500.0 - 300.0 * m) / spacing).round() as usize;
            let (c, r) = (at(east, 10.0), at(south, 5.0));
            assert!((on_cone[(c, r)] - 0.3).abs() < 2e-3, "{azimuth_deg}° at {c}, {r}: {}", on_cone[(c, r)]);
        }
    }

    /// The steepest view along the ray, written out: places at every crossing of the axis to which the ray is nearer.
    fn plain(terrain: &Heightfield, azimuth_deg: f64, c: usize, r: usize, parts: f64) -> f32 {
        let grid = terrain.grid();
        let [east, south] = towards(azimuth_deg);
        let (x, z) = (grid.x_m(c), grid.z_m(r));
        let step_m = (grid.spacing_x_m() / east.abs()).min(grid.spacing_z_m() / south.abs()) / parts;
        let mut steepest = 0.0_f32;
        for n in 1.. {
            let distance = step_m * f64::from(n);
            let (x, z) = (x + distance * east, z + distance * south);
            // A last step that ends on the border may miss it by a rounding.
            let inside = |m: f64, side_m: f64| m > -1e-6 * side_m && m < side_m * (1.0 + 1e-6);
            if !inside(x, grid.extent().width_m) || !inside(z, grid.extent().depth_m) {
                return steepest;
            }
            steepest = steepest.max((terrain.height_at(x, z) - terrain[(c, r)]) / distance as f32);
        }
        steepest
    }

    #[test]
    fn lines_through_samples_equal_the_march_and_others_come_near() {
        // Spacings of 10 m and 20 m: a slope of two rows in one column, or one, or half a one, meets samples only.
        let grid = Grid::new(world(1200.0, 1280.0), 121, 65);
        let terrain = bumpy(grid);
        for azimuth_deg in [0.0, 90.0, 180.0, 270.0, 26.565_051_177_077_99, 206.565_051_177_077_99] {
            let found = seen(&terrain, azimuth_deg);
            for (c, r) in (0..65).step_by(3).flat_map(|r| (0..121).step_by(3).map(move |c| (c, r))) {
                let expected = plain(&terrain, azimuth_deg, c, r, 1.0);
                assert!((found[(c, r)] - expected).abs() < 2e-5, "{azimuth_deg}° at {c}, {r}: {expected}");
            }
        }
        // Between two samples the march sees ground that the lines do not meet: a finer grid has less of it. On
        // the border the ray leaves at once, while one of the two lines still goes over land: it is left out.
        let terrain = bumpy(Grid::new(grid.extent(), 481, 257));
        for azimuth_deg in [3.0, 40.0, 77.0, 118.0, 199.0, 236.0, 283.0, 341.0] {
            let found = seen(&terrain, azimuth_deg);
            let (mut squares, mut all) = (0.0, 0.0);
            for (c, r) in (2..256).step_by(12).flat_map(|r| (2..480).step_by(12).map(move |c| (c, r))) {
                let expected = plain(&terrain, azimuth_deg, c, r, 4.0);
                squares += (found[(c, r)] - expected) * (found[(c, r)] - expected);
                all += expected * expected;
            }
            assert!(squares < 1e-3 * all, "{azimuth_deg}°: {}", squares / all);
        }
    }

    #[test]
    fn a_small_map_sees_what_a_large_one_sees() {
        for azimuth_deg in [90.0, 17.0, 200.0, 305.0] {
            let on = |side: usize| seen(&bumpy(Grid::new(world(900.0, 500.0), side, side)), azimuth_deg);
            let (small, large) = (on(257), on(1025));
            let (off, [_, highest]) = (difference(&small, &large), large.min_max());
            assert!(off < 0.02 * f64::from(highest), "{azimuth_deg}°: {off}");
        }
    }

    #[test]
    fn any_grid_any_azimuth_and_any_height_is_finite() {
        for (width_m, depth_m, width, height) in
            [(1.0, 1.0, 2, 2), (1e6, 1.0, 257, 2), (1.0, 1e6, 3, 40), (1e6, 1e6, 33, 17)]
        {
            let grid = Grid::new(world(width_m, depth_m), width, height);
            let terrain = Heightfield::from_fn(grid, |c, r| if (c * 7 + r * 13) % 5 < 2 { 1e9 } else { -1e9 });
            for azimuth_deg in (-360..=360).step_by(9) {
                let found = seen(&terrain, f64::from(azimuth_deg));
                assert!(found.heights().iter().all(|tangent| tangent.is_finite() && *tangent >= 0.0));
            }
        }
    }

    #[test]
    fn one_thread_and_seven_make_the_same_bytes_and_a_cancelled_sweep_ends() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| horizon(&terrain, 67.0, progress));
    }
}
