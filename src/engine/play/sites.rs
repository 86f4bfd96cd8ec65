//! Building pads: places for level pads.

use std::cmp::Ordering;
use std::collections::VecDeque;

use rayon::prelude::*;

use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};

/// A place where a level pad fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// The centre of the pad, metres east and south.
    pub at_m: [f64; 2],
    /// Its sides, west to east and north to south, metres.
    pub size_m: [f64; 2],
    /// Its height, midway between the highest and the lowest point under it, metres.
    pub height_m: f64,
    /// The greatest cut and fill, metres.
    pub cut_m: f64,
}

/// The places for pads of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sites {
    /// Where a pad fits. The best come first, and none overlaps a better one.
    pub fitting: Vec<Site>,
    /// The cut and fill at the flattest place, whether a pad fits there or not, metres; infinite without dry terrain that
    /// is large enough.
    pub least_cut_m: f64,
}

impl Sites {
    /// Why no pad fits in a territory with at most this much cut and fill.
    pub fn reason(&self, cut_m: f64) -> String {
        // Rounded up, so that it is not what the rule allows.
        let least_m = (10.0 * self.least_cut_m).ceil() / 10.0;
        match self.fitting.len() {
            0 if least_m.is_finite() => {
                format!("the flattest dry place needs {least_m} m of cut and fill, more than {cut_m} m")
            }
            0 => "no dry area is large enough".into(),
            1 => "the only place is outside the territory".into(),
            count => format!("all {count} places are outside the territory"),
        }
    }
}

/// The places where a pad of these sides fits, in either direction, with no more than `cut_m` of cut and fill at any
/// place, on dry terrain. Pads are parallel to the borders of the map, and their sides are rounded up to whole cells.
pub fn sites(
    terrain: &Heightfield,
    water_m: Option<&[f32]>,
    size_m: [f64; 2],
    cut_m: f64,
    progress: &Progress,
) -> Result<Sites, Cancelled> {
    let [a, b] = size_m;
    let (mut candidates, mut least_m) = fitting(terrain, water_m, [a, b], cut_m, progress)?;
    if a != b {
        let (turned, least_turned_m) = fitting(terrain, water_m, [b, a], cut_m, progress)?;
        candidates.extend(turned);
        least_m = least_m.min(least_turned_m);
    }
    let best_first = |one: &Candidate, other: &Candidate| {
        let order = |candidate: &Candidate| (candidate.first[1], candidate.first[0], candidate.cells[0]);
        one.range_m.total_cmp(&other.range_m).then(order(one).cmp(&order(other)))
    };
    candidates.par_sort_unstable_by(best_first);
    let grid = terrain.grid();
    let mut taken = vec![false; grid.samples()];
    let mut found = Vec::new();
    for Candidate { first: [c, r], cells: [columns, rows], range_m, middle_m } in candidates {
        progress.check()?;
        // Cells, by their north-western samples: pads may share an edge.
        let cells = |r: usize| r * grid.width() + c..r * grid.width() + c + columns;
        if (r..r + rows).any(|r| taken[cells(r)].iter().any(|taken| *taken)) {
            continue;
        }
        (r..r + rows).for_each(|r| taken[cells(r)].fill(true));
        let size_m = [columns.to_f64() * grid.spacing_x_m(), rows.to_f64() * grid.spacing_z_m()];
        let at_m = [grid.x_m(c) + 0.5 * size_m[0], grid.z_m(r) + 0.5 * size_m[1]];
        found.push(Site { at_m, size_m, height_m: middle_m.into(), cut_m: 0.5 * f64::from(range_m) });
    }
    Ok(Sites { fitting: found, least_cut_m: 0.5 * f64::from(least_m) })
}

/// A pad that fits, by its north-western sample and its cells.
struct Candidate {
    first: [usize; 2],
    cells: [usize; 2],
    range_m: f32,
    middle_m: f32,
}

/// All pads of a size that fit, and the least range of heights under any pad of that size, metres.
fn fitting(
    terrain: &Heightfield,
    water_m: Option<&[f32]>,
    [a, b]: [f64; 2],
    cut_m: f64,
    progress: &Progress,
) -> Result<(Vec<Candidate>, f32), Cancelled> {
    let grid = terrain.grid();
    // Against rounding: 60 m are 15 cells of 4 m.
    let cells = |metres: f64, spacing_m: f64| (metres / spacing_m - 1e-6).ceil().max(1.0);
    let cells = [cells(a, grid.spacing_x_m()), cells(b, grid.spacing_z_m())];
    if cells[0] >= grid.width().to_f64() || cells[1] >= grid.height().to_f64() {
        return Ok((Vec::new(), f32::INFINITY));
    }
    let [columns, rows] = cells.map(ToInteger::to_usize);
    // Nothing can be built in water.
    let is_dry = |sample: usize| water_m.is_none_or(|depths| depths[sample] <= 0.0);
    let width = grid.width() - columns;
    let rows_of = |r: usize| {
        progress.check()?;
        let limits = |c: usize| if is_dry(r * grid.width() + c) { terrain[(c, r)] } else { f32::NAN };
        let row: Vec<f32> = (0..grid.width()).map(limits).collect();
        Ok([extremes(&row, columns, 1.0), extremes(&row, columns, -1.0)])
    };
    let along: Vec<[Vec<f32>; 2]> = (0..grid.height()).into_par_iter().map(rows_of).collect::<Result<_, _>>()?;
    let columns_of = |c: usize| {
        progress.check()?;
        let column = |which: usize| along.iter().map(|row| row[which][c]).collect::<Vec<f32>>();
        let [highest, lowest] = [extremes(&column(0), rows, 1.0), extremes(&column(1), rows, -1.0)];
        let mut least_m = f32::INFINITY;
        let fits = highest.into_iter().zip(lowest).enumerate().filter_map(|(r, (high, low))| {
            let range_m = high - low;
            least_m = least_m.min(range_m);
            let candidate = Candidate { first: [c, r], cells: [columns, rows], range_m, middle_m: low + 0.5 * range_m };
            // Not a number where a part is under water.
            (0.5 * f64::from(range_m) <= cut_m).then_some(candidate)
        });
        let fits = fits.collect::<Vec<_>>();
        Ok((fits, least_m))
    };
    let found: Vec<(Vec<Candidate>, f32)> = (0..width).into_par_iter().map(columns_of).collect::<Result<_, _>>()?;
    let least_m = found.iter().map(|(_, least_m)| *least_m).fold(f32::INFINITY, f32::min);
    Ok((found.into_iter().flat_map(|(fits, _)| fits).collect(), least_m))
}

/// The greatest of every `cells` + 1 neighbours if `sign` is 1, the least if it is −1; not a number where one of them is
/// not. In linear time, with a queue of the values that may still be the greatest.
fn extremes(values: &[f32], cells: usize, sign: f32) -> Vec<f32> {
    let mut candidates: VecDeque<usize> = VecDeque::new();
    let mut last_gap = None;
    let mut found = Vec::with_capacity(values.len() - cells);
    for (i, value) in values.iter().enumerate() {
        if value.is_nan() {
            last_gap = Some(i);
        }
        while candidates
            .back()
            .is_some_and(|last| (sign * values[*last]).partial_cmp(&(sign * value)) != Some(Ordering::Greater))
        {
            candidates.pop_back();
        }
        candidates.push_back(i);
        if i >= cells {
            while candidates.front().is_some_and(|first| *first + cells < i) {
                candidates.pop_front();
            }
            let has_gap = last_gap.is_some_and(|gap| gap + cells >= i);
            let extreme = candidates.front().map_or(f32::NAN, |first| values[*first]);
            found.push(if has_gap { f32::NAN } else { extreme });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    #[test]
    fn extremes_are_those_of_every_window() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        assert_eq!(extremes(&values, 2, 1.0), [4.0, 4.0, 5.0, 9.0, 9.0, 9.0]);
        assert_eq!(extremes(&values, 2, -1.0), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
        let gap = [3.0, f32::NAN, 4.0, 1.0, 5.0];
        let found = extremes(&gap, 1, 1.0);
        assert!(found[0].is_nan() && found[1].is_nan() && found[2..] == [4.0, 5.0]);
    }

    #[test]
    fn pads_fit_on_terraces_and_the_flattest_comes_first() {
        // A slope of 30 % with a level terrace of 40 × 100 m, and one with a bump of 1 m.
        let grid = Grid::new(Extent { width_m: 200.0, depth_m: 100.0 }, 101, 51);
        let terrain = Heightfield::from_fn(grid, |c, r| match c {
            0..=20 => 10.0,
            60..=80 => 50.0 + if (c, r) == (70, 25) { 1.0 } else { 0.0 },
            _ => 10.0 + 0.6 * (c as f32 - 20.0),
        });
        let all = |size_m, cut_m| sites(&terrain, None, size_m, cut_m, &Progress::new()).expect("not cancelled");
        let found = |size_m, cut_m| all(size_m, cut_m).fitting;
        let [first, second] = found([40.0, 100.0], 0.5)[..] else { panic!("not two") };
        assert_eq!((first.at_m, first.size_m, first.height_m, first.cut_m), ([20.0, 50.0], [40.0, 100.0], 10.0, 0.0));
        assert_eq!((second.at_m, second.height_m, second.cut_m), ([140.0, 50.0], 50.5, 0.5));
        assert_eq!(found([100.0, 40.0], 0.5), [first, second], "in either direction");
        assert_eq!(found([40.0, 100.0], 0.4), [first]);
        // Two in front of each other on both terraces, none of them on the bump.
        let small = found([40.0, 40.0], 0.5);
        assert_eq!((small.len(), small.iter().filter(|site| site.cut_m == 0.0).count()), (4, 4), "{small:?}");
        let plane = Heightfield::flat(Grid::new(Extent { width_m: 120.0, depth_m: 60.0 }, 61, 31));
        let on_plane = sites(&plane, None, [60.0, 60.0], 0.0, &Progress::new()).expect("not cancelled");
        assert_eq!(on_plane.fitting.len(), 2, "edge to edge");
        assert_eq!(found([500.0, 30.0], 0.6), []);
        assert_eq!(all([500.0, 30.0], 0.6).least_cut_m, f64::INFINITY);
        // The slope goes on at 46.6 m beyond the second terrace and reaches 52 m ten cells later.
        let larger = all([60.0, 60.0], 1.0);
        assert!(larger.fitting.is_empty() && (larger.least_cut_m - 2.7).abs() < 1e-5, "{larger:?}");
        let almost = Sites { fitting: vec![], least_cut_m: 1.04 };
        assert_eq!(almost.reason(1.0), "the flattest dry place needs 1.1 m of cut and fill, more than 1 m");
    }

    #[test]
    fn nothing_is_built_in_water() {
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, 51, 51);
        let terrain = Heightfield::flat(grid);
        let water: Vec<f32> = (0..grid.samples()).map(|i| if i % 51 < 26 { 0.5 } else { 0.0 }).collect();
        let found = sites(&terrain, Some(&water), [40.0, 40.0], 1.0, &Progress::new()).expect("not cancelled").fitting;
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|site| site.at_m[0] - 20.0 >= 52.0), "{found:?}");
    }
}
