//! Heights along a curve: read from the terrain, smoothed, held at nodes and limited in grade.

use super::path::PathCurve;
use super::terrain_map::TerrainMap;
use crate::cast::{ToFloat, ToInteger};
use crate::curve::{PIECES_PER_SPAN, Piece};
use crate::heightfield::mix;

/// About the most stations that are added between the points of a curve.
const MAX_STATIONS: f64 = 32_768.0;

/// The widths of the bins of the Gaussian, as fractions of its standard deviation, and the bins from 0 to the cut.
const BINS_PER_SIGMA: u32 = 16;
const BINS: u32 = 4 * BINS_PER_SIGMA;

/// Points along a curve: its own points, and more between them at most a quarter of the width apart.
pub(super) struct Stations {
    pub points: Vec<[f64; 2]>,
    pub lengths_m: Vec<f64>,
    pub halves_m: Vec<f64>,
    /// The directions of the curve, which turn evenly between its points instead of at once at each.
    pub tangents: Vec<[f64; 2]>,
    pub is_closed: bool,
    /// The station of every node; one more at the end of a closed curve.
    pub nodes: Vec<usize>,
}

impl Stations {
    /// The stations of a curve.
    pub fn along(curve: &PathCurve) -> Self {
        let count = curve.points.len();
        let least_m = curve.length_m() / MAX_STATIONS;
        let mut stations = Self {
            points: Vec::with_capacity(count),
            lengths_m: Vec::with_capacity(count),
            halves_m: Vec::with_capacity(count),
            tangents: Vec::with_capacity(count),
            is_closed: curve.is_closed,
            nodes: Vec::new(),
        };
        for i in 0..count {
            if i % PIECES_PER_SPAN == 0 {
                stations.nodes.push(stations.points.len());
            }
            let next = (i + 1).min(count - 1);
            let spacing_m = (0.5 * curve.halves_m[i].min(curve.halves_m[next])).max(least_m);
            let parts = ((curve.lengths_m[next] - curve.lengths_m[i]) / spacing_m).ceil().max(1.0).to_usize();
            for part in 0..if next == i { 1 } else { parts } {
                let share = part.to_f64() / parts.to_f64();
                let between = |values: &[f64]| mix(values[i], values[next], share);
                let [a, b] = [curve.points[i], curve.points[next]];
                stations.points.push([mix(a[0], b[0], share), mix(a[1], b[1], share)]);
                stations.lengths_m.push(between(&curve.lengths_m));
                stations.halves_m.push(between(&curve.halves_m));
                stations.tangents.push(tangent_between([curve.tangents[i], curve.tangents[next]], [a, b], share));
            }
        }
        stations
    }

    /// The greatest width along the curve.
    pub fn greatest_width_m(&self) -> f64 {
        2.0 * self.halves_m.iter().copied().fold(0.0, f64::max)
    }

    /// Half the width at every station, with a verge of this share of the width on each side.
    pub fn halves_with_verges(&self, share: f64) -> Vec<f64> {
        self.halves_m.iter().map(|half_m| half_m * (1.0 + 2.0 * share)).collect()
    }

    fn length_m(&self) -> f64 {
        self.lengths_m.last().copied().unwrap_or_default()
    }

    /// The terrain along the curve, smoothed by a Gaussian with this standard deviation, cut at four of them. Beyond the
    /// ends of an open curve the height at the end repeats.
    pub fn smoothed(&self, land: &TerrainMap, sigma_m: f64) -> Vec<f64> {
        let heights: Vec<f64> = self.points.iter().map(|point| land.height_at(*point)).collect();
        if sigma_m <= 0.0 || self.length_m() <= 0.0 {
            return heights;
        }
        // The mean over each bin of the Gaussian follows from the integral of the heights, whatever the spacing.
        let integral = Integral::new(&self.lengths_m, &heights, self.is_closed);
        let edge = |bin: u32| f64::from(bin) / f64::from(BINS_PER_SIGMA);
        let mass = |sigmas: f64| libm::erf(sigmas * std::f64::consts::FRAC_1_SQRT_2);
        let weights: Vec<f64> = (0..BINS).map(|bin| mass(edge(bin + 1)) - mass(edge(bin))).collect();
        let total: f64 = weights.iter().sum();
        let bin_m = sigma_m / f64::from(BINS_PER_SIGMA);
        let smoothed = |(at_m, own): (&f64, &f64)| {
            let [mut before, mut after] = [integral.at(*at_m); 2];
            let mut sum = 0.0;
            for (bin, weight) in weights.iter().enumerate() {
                let offset_m = (bin + 1).to_f64() * bin_m;
                let [lower, upper] = [integral.at(at_m - offset_m), integral.at(at_m + offset_m)];
                sum += weight * ((before - lower) + (upper - after));
                [before, after] = [lower, upper];
            }
            // The integral is relative to the first height, which keeps level terrain exactly level.
            let smooth = heights[0] + sum / (2.0 * total * bin_m);
            if smooth.is_finite() { smooth } else { *own }
        };
        self.lengths_m.iter().zip(&heights).map(smoothed).collect()
    }

    /// Keeps the heights of nodes: elsewhere, heights are limited to those that can be reached from these nodes at a
    /// grade.
    pub fn hold(&self, heights: &mut [f64], held: &[(usize, f64, f64)], grade: f64) {
        let mut limit = |sign: f64| {
            let mut reachable = vec![f64::INFINITY; heights.len()];
            self.set(&mut reachable, held.iter().map(|(node, _, height)| (*node, sign * height)));
            self.limit_rise(&mut reachable, grade);
            heights.iter_mut().zip(reachable).for_each(|(height, limit)| *height = sign * (sign * *height).min(limit));
        };
        limit(-1.0);
        limit(1.0);
    }

    /// Limits the grade with the least change: P ← ½(min_t [P(t) + g|s − t|] + max_t [P(t) − g|s − t|]). The heights of
    /// held nodes stay.
    pub fn limit_grade(&self, heights: &mut [f64], held: &[(usize, f64, f64)], grade: f64) {
        let mut lower = heights.to_vec();
        self.limit_rise(&mut lower, grade);
        let mut upper: Vec<f64> = heights.iter().map(|height| -height).collect();
        self.limit_rise(&mut upper, grade);
        heights.iter_mut().zip(lower.iter().zip(&upper)).for_each(|(height, (low, up))| *height = 0.5 * (low - up));
        // Against rounding.
        self.set(heights, held.iter().map(|(node, _, height)| (*node, *height)));
    }

    /// Lets the grade go to zero over this length before the ends of an open curve, as the terrain beyond them is level
    /// across. Held nodes keep their heights: only what lies beyond the last of them changes.
    pub fn level_ends(&self, heights: &mut [f64], held: &[(usize, f64, f64)], length_m: f64) {
        if self.is_closed {
            return;
        }
        let (known, total_m) = (heights.to_vec(), self.length_m());
        let held_m: Vec<f64> = held.iter().map(|(_, at_m, _)| *at_m).collect();
        let mut forwards: Vec<usize> = (0..heights.len()).collect();
        for end_m in [total_m, 0.0] {
            let to_end_m = |i: usize| (end_m - self.lengths_m[i]).abs();
            let free_m = held_m.iter().map(|at_m| (end_m - at_m).abs()).fold(0.5 * total_m, f64::min);
            let length_m = length_m.min(free_m);
            if length_m > 0.0 {
                for (&before, &i) in forwards.iter().zip(&forwards[1..]) {
                    let share = (0.5 * (to_end_m(before) + to_end_m(i)) / length_m).min(1.0);
                    if share < 1.0 {
                        heights[i] = heights[before] + share * (known[i] - known[before]);
                    }
                }
            }
            forwards.reverse();
        }
    }

    /// Replaces abrupt changes of the grade by vertical curves: heights become their mean over a length along the curve.
    /// Held nodes and the ends of an open curve keep their heights, because heights beyond them count mirrored at those
    /// points; where the grades on the two sides of a held node differ, they meet there at once. No grade becomes
    /// greater, as none is in what is averaged.
    pub fn round_crests(&self, heights: &mut [f64], held: &[(usize, f64, f64)], length_m: f64) {
        let last = heights.len() - 1;
        let total_m = self.length_m();
        if length_m <= 0.0 || total_m <= 0.0 {
            return;
        }
        let known = heights.to_vec();
        if self.is_closed && held.is_empty() {
            let (integral, length_m) = (Integral::new(&self.lengths_m, &known, true), length_m.min(total_m));
            for (height, at_m) in heights.iter_mut().zip(&self.lengths_m) {
                let sum = integral.at(at_m + 0.5 * length_m) - integral.at(at_m - 0.5 * length_m);
                *height = known[0] + sum / length_m;
            }
            return;
        }
        let mut fixed: Vec<usize> = held.iter().map(|(node, _, _)| self.nodes[*node]).collect();
        if !self.is_closed {
            fixed.extend([0, last]);
        }
        fixed.sort_unstable();
        fixed.dedup();
        for ends in fixed.windows(2) {
            let between = ends[0]..=ends[1];
            round_between(&self.lengths_m[between.clone()], &mut heights[between], length_m);
        }
        if let (true, Some(&first), Some(&from)) = (self.is_closed, fixed.first(), fixed.last()) {
            // From the last held node around to the first one; the last station is where the first one is.
            let lengths_m = self.lengths_m[from..].iter().copied();
            let lengths_m = lengths_m.chain(self.lengths_m[1..=first].iter().map(|at_m| at_m + total_m));
            let mut around: Vec<f64> = heights[from..].iter().chain(&heights[1..=first]).copied().collect();
            round_between(&lengths_m.collect::<Vec<_>>(), &mut around, length_m);
            let (before, after) = around.split_at(heights.len() - from);
            heights[from..].copy_from_slice(before);
            heights[1..=first].copy_from_slice(after);
            heights[0] = heights[last];
        }
    }

    /// Makes the heights fall by at least `fall` per metre from the first station to the last. The heights of held nodes
    /// stay.
    pub fn let_fall(&self, heights: &mut [f64], held: &[(usize, f64, f64)], fall: f64) {
        let drop_m = |i: usize| fall * (self.lengths_m[i] - self.lengths_m[i - 1]);
        let mut least = vec![f64::NEG_INFINITY; heights.len()];
        self.set(&mut least, held.iter().map(|(node, _, height)| (*node, *height)));
        let mut most: Vec<f64> =
            least.iter().map(|held| if held.is_finite() { *held } else { f64::INFINITY }).collect();
        for i in (1..heights.len()).rev() {
            least[i - 1] = least[i - 1].max(least[i] + drop_m(i));
        }
        for i in 0..heights.len() {
            if i > 0 {
                most[i] = most[i].min(most[i - 1] - drop_m(i));
            }
            heights[i] = heights[i].max(least[i]).min(most[i]);
            if i > 0 {
                heights[i] = heights[i].min(heights[i - 1] - drop_m(i));
            }
        }
        self.set(heights, held.iter().map(|(node, _, height)| (*node, *height)));
    }

    /// Sets the values at the stations of nodes, at both ends of a closed curve.
    fn set(&self, values: &mut [f64], nodes: impl Iterator<Item = (usize, f64)>) {
        for (node, value) in nodes {
            values[self.nodes[node]] = value;
            if let (0, true, Some(end)) = (node, self.is_closed, values.last_mut()) {
                *end = value;
            }
        }
    }

    /// min_t [P(t) + g|s − t|], with the distance around the ring on a closed curve.
    fn limit_rise(&self, heights: &mut [f64], grade: f64) {
        let last = heights.len() - 1;
        let rise_m = |i: usize| grade * (self.lengths_m[i] - self.lengths_m[i - 1]);
        for _ in 0..if self.is_closed { 2 } else { 1 } {
            if self.is_closed {
                heights[0] = heights[0].min(heights[last]);
            }
            for i in 1..=last {
                heights[i] = heights[i].min(heights[i - 1] + rise_m(i));
            }
        }
        for _ in 0..if self.is_closed { 2 } else { 1 } {
            if self.is_closed {
                heights[last] = heights[last].min(heights[0]);
            }
            for i in (1..=last).rev() {
                heights[i - 1] = heights[i - 1].min(heights[i] + rise_m(i));
            }
        }
    }

    /// The greatest grade between neighbouring stations.
    pub fn greatest_grade(&self, heights: &[f64]) -> f64 {
        let steps = self.lengths_m.windows(2).zip(heights.windows(2));
        let grades =
            steps.filter(|(at, _)| at[1] > at[0]).map(|(at, height)| (height[1] - height[0]) / (at[1] - at[0]));
        grades.fold(0.0, |greatest, grade| greatest.max(grade.abs()))
    }
}

/// The direction of a curve at a share of the way between two points, from the directions at both and from that of the
/// chord, which is the mean of those in between.
fn tangent_between([from, to]: [[f64; 2]; 2], [a, b]: [[f64; 2]; 2], share: f64) -> [f64; 2] {
    let chord = Piece::new(a, b).along;
    [0, 1].map(|axis| {
        let bulge = 6.0 * (chord[axis] - 0.5 * (from[axis] + to[axis]));
        mix(from[axis], to[axis], share) + share * (1.0 - share) * bulge
    })
}

/// Replaces heights between two stations, which keep theirs, by their mean over a length. Heights beyond these count
/// mirrored at them.
fn round_between(lengths_m: &[f64], heights: &mut [f64], length_m: f64) {
    let known = heights.to_vec();
    let last = known.len() - 1;
    let (from_m, to_m) = (lengths_m[0], lengths_m[last]);
    let length_m = length_m.min(2.0 * (to_m - from_m));
    if length_m <= 0.0 {
        return;
    }
    let (integral, rise_m) = (Integral::new(lengths_m, &known, false), known[last] - known[0]);
    // The integral from the first end, of heights relative to it.
    let sum = |at_m: f64| {
        if at_m < from_m {
            integral.within(2.0 * from_m - at_m)
        } else if at_m > to_m {
            2.0 * rise_m * (at_m - to_m) + integral.within(2.0 * to_m - at_m)
        } else {
            integral.within(at_m)
        }
    };
    for i in 1..last {
        let mean = (sum(lengths_m[i] + 0.5 * length_m) - sum(lengths_m[i] - 0.5 * length_m)) / length_m;
        heights[i] = known[0] + mean;
    }
}

/// The integral over the arc length of heights relative to the first one, linear between stations.
struct Integral<'a> {
    lengths_m: &'a [f64],
    heights: Vec<f64>,
    sums: Vec<f64>,
    is_closed: bool,
}

impl<'a> Integral<'a> {
    fn new(lengths_m: &'a [f64], heights: &[f64], is_closed: bool) -> Self {
        let heights: Vec<f64> = heights.iter().map(|height| height - heights[0]).collect();
        let mut sums = vec![0.0; heights.len()];
        for i in 1..sums.len() {
            sums[i] = sums[i - 1] + 0.5 * (heights[i - 1] + heights[i]) * (lengths_m[i] - lengths_m[i - 1]);
        }
        Self { lengths_m, heights, sums, is_closed }
    }

    /// The integral from the first station to an arc length.
    fn at(&self, at_m: f64) -> f64 {
        let last = self.sums.len() - 1;
        let length_m = self.lengths_m[last];
        if self.is_closed {
            let turns = (at_m / length_m).floor();
            return turns * self.sums[last] + self.within((at_m - turns * length_m).clamp(0.0, length_m));
        }
        let beyond_m = (at_m - length_m).max(0.0);
        // Before the first station the relative height is 0.
        self.within(at_m.clamp(0.0, length_m)) + beyond_m * self.heights[last]
    }

    fn within(&self, at_m: f64) -> f64 {
        let i = self.lengths_m.partition_point(|length_m| *length_m <= at_m).clamp(1, self.sums.len() - 1) - 1;
        let [run, width] = [at_m - self.lengths_m[i], self.lengths_m[i + 1] - self.lengths_m[i]];
        let share = if width > 0.0 { run / width } else { 0.0 };
        self.sums[i] + run * (self.heights[i] + 0.5 * share * (self.heights[i + 1] - self.heights[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Stations every metre along a straight line, closed or not.
    fn stations(count: usize, is_closed: bool) -> Stations {
        let lengths_m: Vec<f64> = (0..count).map(|i| i as f64).collect();
        let points = lengths_m.iter().map(|at| [*at, 0.0]).collect();
        Stations {
            points,
            lengths_m,
            halves_m: vec![1.0; count],
            tangents: vec![[1.0, 0.0]; count],
            is_closed,
            nodes: (0..count).collect(),
        }
    }

    /// The plain formula of the grade limit.
    fn limited(heights: &[f64], grade: f64, ring_m: Option<f64>) -> Vec<f64> {
        let distance = |a: usize, b: usize| {
            let along = (a as f64 - b as f64).abs();
            ring_m.map_or(along, |ring_m| along.min(ring_m - along))
        };
        let limited = |s: usize| {
            let low = (0..heights.len()).map(|t| heights[t] + grade * distance(s, t)).fold(f64::INFINITY, f64::min);
            let high = (0..heights.len()).map(|t| heights[t] - grade * distance(s, t)).fold(-f64::INFINITY, f64::max);
            0.5 * (low + high)
        };
        (0..heights.len()).map(limited).collect()
    }

    #[test]
    fn two_passes_give_the_plain_formula_of_the_grade_limit() {
        for is_closed in [false, true] {
            let stations = stations(200, is_closed);
            let mut rng = Stream::new(1, 1).at(1);
            let mut heights: Vec<f64> = (0..200).map(|_| rng.between(0.0, 30.0)).collect();
            heights[199] = if is_closed { heights[0] } else { heights[199] };
            let held = [(0, 0.0, 4.0), (60, 60.0, 9.0), (61, 61.0, 9.08)];
            stations.hold(&mut heights, &held, 0.1);
            let expected = limited(&heights, 0.1, is_closed.then_some(199.0));
            stations.limit_grade(&mut heights, &held, 0.1);
            assert!(heights.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-9));
            assert!(stations.greatest_grade(&heights) < 0.1 + 1e-9);
            assert_eq!([heights[0], heights[60], heights[61]], [4.0, 9.0, 9.08]);
        }
    }

    #[test]
    fn crests_are_rounded_within_the_grade_and_held_nodes_stay() {
        for (is_closed, held) in [
            (false, vec![]),
            (false, vec![(60, 60.0, 9.0), (90, 90.0, 12.0)]),
            (true, vec![]),
            (true, vec![(30, 30.0, 5.0)]),
        ] {
            let stations = stations(200, is_closed);
            let mut rng = Stream::new(1, 3).at(1);
            let mut heights: Vec<f64> = (0..200).map(|_| rng.between(0.0, 30.0)).collect();
            heights[199] = if is_closed { heights[0] } else { heights[199] };
            stations.hold(&mut heights, &held, 0.1);
            stations.limit_grade(&mut heights, &held, 0.1);
            let before = heights.clone();
            stations.round_crests(&mut heights, &held, 20.0);
            assert!(stations.greatest_grade(&heights) < 0.1 + 1e-9, "{is_closed}, {held:?}");
            for (node, _, height) in &held {
                assert_eq!(heights[*node], *height);
            }
            if !is_closed {
                assert_eq!([heights[0], heights[199]], [before[0], before[199]]);
            }
            // The plain mean, where no end or held node is within half the length.
            let ends: &[usize] = if is_closed { &[] } else { &[0, 199] };
            let fixed: Vec<usize> = held.iter().map(|(node, _, _)| *node).chain(ends.iter().copied()).collect();
            for i in (10..190).filter(|i| fixed.iter().all(|fixed| fixed.abs_diff(*i) >= 10)) {
                let inner: f64 = before[i - 9..=i + 9].iter().sum();
                let mean = (inner + 0.5 * (before[i - 10] + before[i + 10])) / 20.0;
                assert!((heights[i] - mean).abs() < 1e-9, "{i}: {} not {mean}", heights[i]);
            }
            if is_closed {
                let across = heights[1] - 2.0 * heights[0] + heights[198];
                assert!(heights[0] == heights[199] && across.abs() <= 0.2 / 20.0 + 1e-9, "at the seam: {across}");
            }
            // The grade changes by at most the greatest change over the length.
            let bends = (10..190).filter(|i| fixed.iter().all(|fixed| fixed.abs_diff(*i) >= 2));
            let bend = bends.map(|i| (heights[i - 1] - 2.0 * heights[i] + heights[i + 1]).abs()).fold(0.0, f64::max);
            assert!(bend <= 0.2 / 20.0 + 1e-9, "{bend}");
        }
        // An even grade and a level road stay as they are.
        let stations = stations(100, false);
        for grade in [0.0, 0.05] {
            let mut heights: Vec<f64> = (0..100).map(|i| 7.0 + grade * f64::from(i)).collect();
            let before = heights.clone();
            stations.round_crests(&mut heights, &[], 30.0);
            assert!(heights.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-12 && (grade > 0.0 || a == b)));
        }
    }

    #[test]
    fn the_ends_of_a_slope_become_level() {
        let stations = stations(101, false);
        let slope: Vec<f64> = stations.lengths_m.iter().map(|at_m| 0.1 * at_m).collect();
        let grade = |heights: &[f64], i: usize| {
            (heights[i + 1] - heights[i]) / (stations.lengths_m[i + 1] - stations.lengths_m[i])
        };
        let total_m = stations.length_m();
        let mut heights = slope.clone();
        stations.level_ends(&mut heights, &[], 0.2 * total_m);
        assert!(grade(&heights, 0) < 0.01 && grade(&heights, 99) < 0.01, "{heights:?}");
        assert!((20..80).all(|i| (grade(&heights, i) - 0.1).abs() < 1e-9 || to_an_end(&stations, i) < 0.21 * total_m));
        // Half of what the slope rises over the length.
        for (end, sign) in [(0, 1.0), (100, -1.0)] {
            let change = sign * (heights[end] - slope[end]);
            assert!((change / (0.5 * 0.1 * 0.2 * total_m) - 1.0).abs() < 0.01, "{end}: {change}");
        }
        // A held end, and a held node near the other one.
        let held = [(0, 0.0, slope[0]), (1, stations.lengths_m[90], slope[90])];
        let mut heights = slope.clone();
        stations.level_ends(&mut heights, &held, total_m);
        assert_eq!(heights[..=90], slope[..=90]);
        assert!(heights[100] < slope[100] && grade(&heights, 99) < 0.01, "{heights:?}");
    }

    fn to_an_end(stations: &Stations, i: usize) -> f64 {
        let at_m = stations.lengths_m[i];
        at_m.min(stations.length_m() - at_m)
    }

    #[test]
    fn water_falls_and_keeps_the_heights_of_nodes() {
        let stations = stations(100, false);
        let mut rng = Stream::new(1, 2).at(1);
        let mut heights: Vec<f64> = (0..100).map(|_| rng.between(0.0, 30.0)).collect();
        let held = [(20, 20.0, 15.0), (70, 70.0, 14.0)];
        stations.let_fall(&mut heights, &held, 0.01);
        assert!(heights.windows(2).all(|pair| pair[0] - pair[1] >= 0.01 - 1e-9));
        assert_eq!([heights[20], heights[70]], [15.0, 14.0]);
    }

    #[test]
    fn smoothing_is_a_gaussian_along_the_arc_length() {
        let stations = stations(401, false);
        let flat = |height: f64| Integral::new(&stations.lengths_m, &[height; 401], false).at(1000.0);
        assert_eq!(flat(7.0), 0.0);
        // A ramp that starts at 200: its integral is ½x² there, and goes on with the last height.
        let ramp: Vec<f64> = (0..401).map(|i| f64::from(i - 200).max(0.0)).collect();
        let integral = Integral::new(&stations.lengths_m, &ramp, false);
        assert_eq!([integral.at(-50.0), integral.at(200.5), integral.at(400.0)], [0.0, 0.125, 20_000.0]);
        assert_eq!(integral.at(410.0), 22_000.0);
        let ring = Integral::new(&stations.lengths_m, &ramp, true);
        assert_eq!([ring.at(400.0), ring.at(1200.0), ring.at(-200.0)], [20_000.0, 60_000.0, -20_000.0]);
    }
}
