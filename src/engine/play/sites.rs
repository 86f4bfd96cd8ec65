//! Building pads: places for level pads.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::VecDeque;

use rayon::prelude::*;

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

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

/// The places where a pad of these sides fits, in either direction, with no more than `cut_m` of cut and fill at the
/// corners of the cells of a `PadGrid`, on dry terrain. Pads are parallel to the borders of the map, and their sides are
/// rounded up to whole cells.
pub fn sites(
    terrain: &Heightfield,
    water_m: Option<&[f32]>,
    size_m: [f64; 2],
    cut_m: f64,
    progress: &Progress,
) -> Result<Sites, Cancelled> {
    let pad_grid = PadGrid::new(terrain.grid(), size_m);
    let sampled = pad_grid.resample(terrain, water_m, progress)?;
    let [a, b] = size_m;
    let sides = [pad_grid.cells([a, b]), pad_grid.cells([b, a])];
    let (mut candidates, mut least_m) = fitting(&sampled, sides[0], cut_m, false, progress)?;
    if a != b {
        let (turned, least_turned_m) = fitting(&sampled, sides[1], cut_m, true, progress)?;
        candidates.extend(turned);
        least_m = least_m.min(least_turned_m);
    }
    let grid = pad_grid.grid;
    let mut taken = vec![false; grid.samples()];
    let mut found = Vec::new();
    for Candidate { sample, is_turned, range_m, middle_m } in
        flattest_first(candidates, cut_m, progress)?.into_iter().flatten()
    {
        progress.check()?;
        let [columns, rows] = sides[usize::from(is_turned)];
        let (c, r) = (sample as usize % grid.width(), sample as usize / grid.width());
        // Cells, by their north-western samples: pads may share an edge.
        let cells = |r: usize| r * grid.width() + c..r * grid.width() + c + columns;
        if (r..r + rows).any(|r| taken[cells(r)].iter().any(|taken| *taken)) {
            continue;
        }
        (r..r + rows).for_each(|r| taken[cells(r)].fill(true));
        let size_m = [columns.to_f64() * grid.spacing_x_m(), rows.to_f64() * grid.spacing_z_m()];
        let [x_m, z_m] = pad_grid.place_m(c, r);
        let at_m = [x_m + 0.5 * size_m[0], z_m + 0.5 * size_m[1]];
        found.push(Site { at_m, size_m, height_m: middle_m.into(), cut_m: 0.5 * f64::from(range_m) });
    }
    Ok(Sites { fitting: found, least_cut_m: 0.5 * f64::from(least_m) })
}

/// The samples between which pads are tried. Their cells divide the shorter side of a pad evenly, even if the terrain has
/// few samples along it, so that the number of pads hardly depends on the size of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PadGrid {
    /// The samples, from the first one on.
    grid: Grid,
    /// The place of the first sample, metres east and south: what remains of the map is divided between both sides.
    first_m: [f64; 2],
}

/// The least number of cells along the shorter side of a pad, unless that takes more than [`MAX_SAMPLES`].
const CELLS: f64 = 4.0;

/// The most samples of a [`PadGrid`] if it is more than twice as fine as the terrain.
const MAX_SAMPLES: f64 = 1e6;

/// How many samples are looked at before cancellation is checked.
const CHECKED_EVERY: usize = 1 << 16;

impl PadGrid {
    /// The samples for pads of a size on a terrain.
    pub(super) fn new(grid: Grid, size_m: [f64; 2]) -> Self {
        let Extent { width_m, depth_m } = grid.extent();
        let shorter_m = size_m[0].min(size_m[1]);
        let least_m = libm::sqrt(width_m * depth_m / MAX_SAMPLES);
        let along = |length_m: f64, spacing_m: f64| {
            // Against rounding: 60 m are 15 cells of 4 m.
            let own = (shorter_m / spacing_m - 1e-6).ceil();
            let cells = own.max(CELLS.min((shorter_m / least_m).floor()));
            let cell_m = if cells > 1.0 { shorter_m / cells } else { shorter_m.max(spacing_m.min(least_m)) };
            let count = (length_m / cell_m + 1e-6).floor().max(1.0);
            (count, cell_m, 0.5 * (length_m - count * cell_m).max(0.0))
        };
        let (columns, cell_x_m, x_m) = along(width_m, grid.spacing_x_m());
        let (rows, cell_z_m, z_m) = along(depth_m, grid.spacing_z_m());
        let extent = Extent { width_m: columns * cell_x_m, depth_m: rows * cell_z_m };
        Self { grid: Grid::new(extent, columns.to_usize() + 1, rows.to_usize() + 1), first_m: [x_m, z_m] }
    }

    /// The memory for finding pads of a size, bytes: at most, and what the places that are found keep of it.
    pub(super) fn memory_bytes(&self, size_m: [f64; 2]) -> [u64; 2] {
        const CANDIDATE: u64 = 128;
        const SITE: u64 = 96;
        let samples = self.grid.samples() as u64;
        let [columns, rows] = self.cells(size_m);
        [CANDIDATE * samples, SITE * samples / (columns * rows) as u64]
    }

    /// The cells along the sides of a pad.
    fn cells(&self, size_m: [f64; 2]) -> [usize; 2] {
        let spacing_m = [self.grid.spacing_x_m(), self.grid.spacing_z_m()];
        [0, 1].map(|axis| (size_m[axis] / spacing_m[axis] - 1e-6).ceil().max(1.0).to_usize())
    }

    /// The place of a sample, metres east and south.
    fn place_m(&self, c: usize, r: usize) -> [f64; 2] {
        [self.first_m[0] + self.grid.x_m(c), self.first_m[1] + self.grid.z_m(r)]
    }

    /// The terrain at these samples, and where it is under water.
    fn resample<'a>(
        &self,
        terrain: &'a Heightfield,
        water_m: Option<&[f32]>,
        progress: &Progress,
    ) -> Result<Sampled<'a>, Cancelled> {
        let (own, of_terrain) = (self.grid, terrain.grid());
        let has_same_places = [own.width(), own.height()] == [of_terrain.width(), of_terrain.height()]
            && self.first_m[0] < 1e-6 * own.spacing_x_m()
            && self.first_m[1] < 1e-6 * own.spacing_z_m();
        let mut is_wet = water_m.map(|_| vec![false; own.samples()]);
        if let (Some(is_wet), Some(depths_m)) = (&mut is_wet, water_m) {
            is_wet.par_chunks_exact_mut(own.width()).enumerate().try_for_each(|(r, row)| {
                for (c, is_wet) in row.iter_mut().enumerate() {
                    *is_wet = depths_m[of_terrain.nearest_sample(self.place_m(c, r))] > 0.0;
                }
                progress.check()
            })?;
        }
        if has_same_places {
            return Ok(Sampled { terrain: Cow::Borrowed(terrain), is_wet });
        }
        let mut sampled = Heightfield::flat(own);
        sampled.heights_mut().par_chunks_exact_mut(own.width()).enumerate().try_for_each(|(r, row)| {
            for (c, height) in row.iter_mut().enumerate() {
                let [x_m, z_m] = self.place_m(c, r);
                *height = terrain.height_at(x_m, z_m);
            }
            progress.check()
        })?;
        Ok(Sampled { terrain: Cow::Owned(sampled), is_wet })
    }
}

/// A terrain on a [`PadGrid`].
struct Sampled<'a> {
    terrain: Cow<'a, Heightfield>,
    /// Whether there is water at each sample.
    is_wet: Option<Vec<bool>>,
}

/// A pad that fits.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its north-western sample, by index.
    sample: u32,
    /// Whether its sides are exchanged.
    is_turned: bool,
    range_m: f32,
    middle_m: f32,
}

/// The number of ranges of heights by which candidates are divided before they are sorted, so that cancellation is checked
/// in between.
const BUCKETS: usize = 256;

/// The candidates by the range of heights under them; those of the same range stay in their order.
fn flattest_first(
    candidates: Vec<Candidate>,
    cut_m: f64,
    progress: &Progress,
) -> Result<Vec<Vec<Candidate>>, Cancelled> {
    let per_m = BUCKETS.to_f64() / (2.0 * cut_m);
    let mut buckets = vec![Vec::new(); BUCKETS];
    for (i, candidate) in candidates.into_iter().enumerate() {
        if i % CHECKED_EVERY == 0 {
            progress.check()?;
        }
        // Without any cut, all are level, and 0 · ∞ is not a number.
        let bucket = (f64::from(candidate.range_m) * per_m).min(BUCKETS.to_f64() - 1.0).max(0.0);
        buckets[bucket.to_usize()].push(candidate);
    }
    for bucket in &mut buckets {
        progress.check()?;
        bucket.par_sort_by(|one, other| one.range_m.total_cmp(&other.range_m));
    }
    Ok(buckets)
}

/// All pads of so many cells that fit, column by column, and the least range of heights under any pad of that size, metres.
fn fitting(
    Sampled { terrain, is_wet }: &Sampled,
    [columns, rows]: [usize; 2],
    cut_m: f64,
    is_turned: bool,
    progress: &Progress,
) -> Result<(Vec<Candidate>, f32), Cancelled> {
    let grid = terrain.grid();
    if columns >= grid.width() || rows >= grid.height() {
        return Ok((Vec::new(), f32::INFINITY));
    }
    // Nothing can be built in water.
    let is_dry = |sample: usize| is_wet.as_ref().is_none_or(|is_wet| !is_wet[sample]);
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
            let sample = (r * grid.width() + c).to_u32();
            let candidate = Candidate { sample, is_turned, range_m, middle_m: low + 0.5 * range_m };
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
    fn the_number_of_pads_does_not_depend_on_the_samples() {
        // A roof of 10 % with a level ridge of 320 m, on which pads of 60 m fit side by side and nowhere else.
        let extent = Extent { width_m: 2560.0, depth_m: 1280.0 };
        let roof = |spacing_m: f64| {
            let grid = Grid::fitted(extent, (extent.width_m / spacing_m) as usize + 1);
            Heightfield::from_fn(grid, |c, _| (-0.1 * ((grid.x_m(c) - 1280.0).abs() - 160.0).max(0.0)) as f32)
        };
        let count = |spacing_m: f64, size_m: [f64; 2]| {
            let found = sites(&roof(spacing_m), None, size_m, 0.5, &Progress::new()).expect("not cancelled");
            for Site { at_m, size_m: found_m, .. } in &found.fitting {
                assert!([0, 1].iter().all(|i| (found_m[*i] - size_m[*i]).abs() < 1e-9), "{found_m:?}");
                let ends_m = [at_m[0] + 0.5 * found_m[0], at_m[1] + 0.5 * found_m[1]];
                assert!(ends_m[0] <= 2560.0 + 1e-6 && ends_m[1] <= 1280.0 + 1e-6, "off the map: {at_m:?}");
            }
            found.fitting.len()
        };
        let pads = [160.0, 80.0, 40.0, 20.0, 10.0].map(|spacing_m| count(spacing_m, [60.0, 60.0]));
        assert!(pads.iter().all(|found| pads[4].abs_diff(*found) <= 2), "{pads:?}");
        // On 32 ha with a tenth of a pad at both sides.
        assert!((100..=115).contains(&pads[4]), "{pads:?}");
        // Not multiples of the spacing; the second has as many cells as the terrain, but smaller ones.
        assert_eq!(count(40.0, [50.0, 50.0]), count(10.0, [50.0, 50.0]));
        assert!(count(10.0, [59.9, 59.9]).abs_diff(pads[4]) <= 4);
        let cells = |extent: Extent, samples, size_m| PadGrid::new(Grid::fitted(extent, samples), size_m).cells(size_m);
        let large = Extent { width_m: 50_000.0, depth_m: 50_000.0 };
        // A million samples leave one cell, and more of the terrain's own leave five.
        assert_eq!([257, 4097].map(|samples| cells(large, samples, [60.0, 60.0])), [[1, 1], [5, 5]]);
        assert_eq!(cells(large, 257, [1.0, 1.0]), [1, 1], "rounded up");
        assert_eq!(cells(extent, 257, [30.0, 61.0]), [4, 9], "rounded up to 67.5 m");
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
