//! Fills holes with a membrane: the surface without forces that is fixed at the known samples around them, which is the
//! solution of Laplace's equation (P. Pérez et al., "Poisson Image Editing", 2003, equation 2). It continues a plane
//! exactly, and has no peaks and pits of its own.
//!
//! Where a hole touches the border of the map, the membrane is level across the border.

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::cast::ToFloat;

/// The correction of a cycle at which the membrane is accurate enough, as a share of the range of its heights: a hundredth
/// of the step between samples on a slope across the largest map.
const TOLERANCE: f64 = 1e-6;

/// The most cycles, so that the time is bounded. A hole without known samples inside needs about ten.
const MAX_CYCLES: usize = 60;

/// The sweeps over a grid before and after its correction by the coarser one.
const SWEEPS: usize = 2;

/// The sweeps over the coarsest grid, which has few unknown samples.
const COARSEST_SWEEPS: usize = 32;

/// Moves the samples that are marked as unknown, from a first guess, to the membrane through the known ones.
///
/// The method is multigrid with V-cycles (W. L. Briggs et al., "A Multigrid Tutorial", second edition, 2000, chapter 3).
/// Rows are computed in parallel, in an order that does not depend on the number of threads.
pub(super) fn relax(samples: &mut [f32], is_unknown: Vec<bool>, [width, height]: [usize; 2]) {
    let known = samples.iter().zip(&is_unknown).filter(|(_, is_unknown)| !**is_unknown).map(|(sample, _)| *sample);
    let [low, high] =
        known.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], sample| [low.min(sample), high.max(sample)]);
    if low >= high {
        return;
    }
    let accurate = TOLERANCE * f64::from(high - low);
    let mut finest = Level::new(is_unknown, [width, height]);
    finest.heights = samples.iter().map(|sample| f64::from(*sample)).collect();
    finest.sources = vec![0.0; width];
    for _ in 0..MAX_CYCLES {
        if finest.cycle() <= accurate {
            break;
        }
    }
    let unknown = samples.iter_mut().zip(&finest.heights).zip(&finest.is_unknown).filter(|(_, unknown)| **unknown);
    unknown.for_each(|((sample, height), _)| *sample = height.to_f32());
}

/// A grid and the coarser ones below it. A coarser grid has every second sample of every second row, and its heights are
/// corrections.
struct Level {
    width: usize,
    height: usize,
    is_unknown: Vec<bool>,
    /// The columns of each row between which all its unknown samples lie.
    spans: Vec<Range<usize>>,
    heights: Vec<f64>,
    /// How much the sum of the differences to the neighbours has to differ from 0, at every sample; a single row stands
    /// for all rows.
    sources: Vec<f64>,
    coarser: Option<Box<Level>>,
}

impl Level {
    fn new(is_unknown: Vec<bool>, [width, height]: [usize; 2]) -> Self {
        let spans = is_unknown.chunks_exact(width).map(|row| {
            let first = row.iter().position(|is_unknown| *is_unknown);
            let last = row.iter().rposition(|is_unknown| *is_unknown);
            first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
        });
        let spans = spans.collect();
        let coarser = Self::coarser(&is_unknown, [width, height]).map(Box::new);
        Self { width, height, is_unknown, spans, heights: Vec::new(), sources: Vec::new(), coarser }
    }

    /// The next coarser grid; `None` if it has no unknown sample. A sample is unknown there if all samples are that its
    /// correction changes.
    fn coarser(is_unknown: &[bool], [width, height]: [usize; 2]) -> Option<Self> {
        let size @ [coarse_width, coarse_height] = [width.div_ceil(2), height.div_ceil(2)];
        let around = |at: usize, count: usize| (2 * at).saturating_sub(1)..(2 * at + 2).min(count);
        let is_inside = |at: usize| {
            let (rows, columns) = (around(at / coarse_width, height), around(at % coarse_width, width));
            rows.into_iter().all(|r| is_unknown[r * width..][columns.clone()].iter().all(|is_unknown| *is_unknown))
        };
        let count = coarse_width * coarse_height;
        let is_unknown: Vec<bool> = (0..count).map(is_inside).collect();
        is_unknown.contains(&true).then(|| {
            let mut level = Self::new(is_unknown, size);
            (level.heights, level.sources) = (vec![0.0; count], vec![0.0; count]);
            level
        })
    }

    fn sources_of(&self, r: usize) -> &[f64] {
        let start = if self.sources.len() == self.width { 0 } else { r * self.width };
        &self.sources[start..start + self.width]
    }

    /// Improves the heights; returns the largest correction by the coarser grids, or infinity if there are none.
    fn cycle(&mut self) -> f64 {
        let Some(mut coarser) = self.coarser.take() else {
            let before = self.heights.clone();
            (0..COARSEST_SWEEPS).for_each(|_| self.sweep());
            let changes = self.heights.iter().zip(&before).map(|(now, before)| (now - before).abs());
            return changes.fold(0.0, f64::max);
        };
        (0..SWEEPS).for_each(|_| self.sweep());
        self.restrict(&mut coarser);
        coarser.heights.fill(0.0);
        coarser.cycle();
        let largest = self.correct(&coarser);
        (0..SWEEPS).for_each(|_| self.sweep());
        self.coarser = Some(coarser);
        largest
    }

    /// Sets the unknown samples to what their neighbours demand (Gauss–Seidel): in the even rows, then in the odd ones.
    fn sweep(&mut self) {
        let mut heights = std::mem::take(&mut self.heights);
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for (r, row) in heights.chunks_exact_mut(self.width).enumerate() {
            if r % 2 == 0 { even.push(row) } else { odd.push(row) }
        }
        even.par_iter_mut().enumerate().for_each(|(i, row)| {
            self.relax_row(
                2 * i,
                row,
                [i.checked_sub(1), Some(i)].map(|at| at.and_then(|at| odd.get(at)).map(|row| &**row)),
            );
        });
        odd.par_iter_mut().enumerate().for_each(|(i, row)| {
            self.relax_row(2 * i + 1, row, [i, i + 1].map(|at| even.get(at).map(|row| &**row)));
        });
        self.heights = heights;
    }

    fn relax_row(&self, r: usize, row: &mut [f64], neighbours: [Option<&[f64]>; 2]) {
        let is_unknown = &self.is_unknown[r * self.width..];
        let sources = self.sources_of(r);
        for c in self.spans[r].clone() {
            if is_unknown[c] {
                let (sum, count) = around(row, neighbours, c);
                if count > 0.0 {
                    row[c] = (sum + sources[c]) / count;
                }
            }
        }
    }

    /// How much the sources exceed what the heights have, at each sample of a row; 0 at known samples.
    fn residuals(&self, r: usize) -> Vec<f64> {
        let row_at = |r: usize| self.heights.get(r * self.width..(r + 1) * self.width);
        let mut residuals = vec![0.0; self.width];
        let neighbours = [r.checked_sub(1).and_then(row_at), row_at(r + 1)];
        let (row, sources) = (row_at(r).unwrap_or_default(), self.sources_of(r));
        for c in self.spans.get(r).cloned().unwrap_or_default() {
            if self.is_unknown[r * self.width + c] {
                let (sum, count) = around(row, neighbours, c);
                residuals[c] = sources[c] + sum - count * row[c];
            }
        }
        residuals
    }

    /// Sets the sources of the coarser grid to the residuals of this one, weighted as [`Self::correct`] spreads the
    /// corrections.
    fn restrict(&self, coarser: &mut Level) {
        let Level { width, spans, is_unknown, sources, .. } = coarser;
        let coarse_width = *width;
        sources.par_chunks_exact_mut(coarse_width).enumerate().for_each(|(coarse_r, sources)| {
            let span = spans[coarse_r].clone();
            if span.is_empty() {
                return;
            }
            let rows = shares(coarse_r, self.height).map(|(r, share)| (self.residuals(r), share));
            for c in span {
                if is_unknown[coarse_r * coarse_width + c] {
                    let sum =
                        |row: &[f64]| shares(c, self.width).map(|(at, share)| share * row[at]).iter().sum::<f64>();
                    sources[c] = rows.iter().map(|(row, share)| share * sum(row)).sum();
                }
            }
        });
    }

    /// Adds the corrections of the coarser grid, interpolated; returns the largest one.
    fn correct(&mut self, coarser: &Level) -> f64 {
        let Self { width, is_unknown, spans, heights, .. } = self;
        let rows = heights.par_chunks_exact_mut(*width).zip(is_unknown.par_chunks_exact(*width)).enumerate();
        let corrected = rows.map(|(r, (row, is_unknown))| {
            let mut largest = 0.0_f64;
            let [upper, lower] = between(r, coarser.height).map(|r| &coarser.heights[r * coarser.width..]);
            for c in spans[r].clone() {
                if is_unknown[c] {
                    let [left, right] = between(c, coarser.width);
                    let correction = 0.25 * (upper[left] + upper[right] + lower[left] + lower[right]);
                    row[c] += correction;
                    largest = largest.max(correction.abs());
                }
            }
            largest
        });
        corrected.reduce(|| 0.0, f64::max)
    }
}

/// The sum of the neighbours of a sample, and how many it has.
#[inline]
fn around(row: &[f64], neighbours: [Option<&[f64]>; 2], c: usize) -> (f64, f64) {
    // Almost every sample.
    if let ([Some(above), Some(below)], Some([left, _, right])) = (neighbours, row.get(c.wrapping_sub(1)..c + 2)) {
        return (left + right + above[c] + below[c], 4.0);
    }
    let beside = [c.checked_sub(1).and_then(|c| row.get(c)), row.get(c + 1)];
    let above_and_below = neighbours.map(|row| row.and_then(|row| row.get(c)));
    let all = beside.into_iter().chain(above_and_below).flatten();
    all.fold((0.0, 0.0), |(sum, count), height| (sum + height, count + 1.0))
}

/// The two coarse samples between which a fine one lies; the same one twice where it coincides with one, or lies beyond
/// the last one.
fn between(fine: usize, coarse_count: usize) -> [usize; 2] {
    [fine / 2, fine.div_ceil(2).min(coarse_count - 1)]
}

/// The fine samples that a coarse one corrects, and by which share.
fn shares(coarse: usize, fine_count: usize) -> [(usize, f64); 3] {
    let fine = 2 * coarse;
    // The last sample of an even number lies beyond the last coarse one.
    let after = match fine_count - 1 - fine {
        0 => (fine, 0.0),
        1 => (fine + 1, 1.0),
        _ => (fine + 1, 0.5),
    };
    [(fine.saturating_sub(1), if coarse > 0 { 0.5 } else { 0.0 }), (fine, 1.0), after]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map whose hole has been filled, and the mask of its hole.
    fn filled(size: [usize; 2], is_hole: impl Fn(usize, usize) -> bool, height: impl Fn(f64, f64) -> f64) -> Vec<f32> {
        let [width, depth] = size;
        let at = |index: usize| (index % width, index / width);
        let is_unknown: Vec<bool> = (0..width * depth).map(|index| is_hole(at(index).0, at(index).1)).collect();
        let known = |index: usize| height(at(index).0.to_f64(), at(index).1.to_f64()).to_f32();
        let mut samples: Vec<f32> = (0..width * depth).map(known).collect();
        let mean = samples.iter().sum::<f32>() / (width * depth).to_f32();
        samples.iter_mut().zip(&is_unknown).filter(|(_, unknown)| **unknown).for_each(|(sample, _)| *sample = mean);
        relax(&mut samples, is_unknown, size);
        samples
    }

    #[track_caller]
    fn check_plane(size: [usize; 2], is_hole: impl Fn(usize, usize) -> bool, error: f64) {
        let plane = |x: f64, z: f64| 500.0 + 10.0 * x - 4.0 * z;
        for (index, sample) in filled(size, is_hole, plane).iter().enumerate() {
            let expected = plane((index % size[0]).to_f64(), (index / size[0]).to_f64());
            assert!((f64::from(*sample) - expected).abs() < error, "{index}: {sample} for {expected}");
        }
    }

    #[test]
    fn a_plane_is_continued_exactly() {
        // A hundredth of the 10 m between samples, whatever the hole.
        check_plane([61, 60], |c, r| (15..45).contains(&c) && (15..45).contains(&r), 0.1);
        check_plane([400, 333], |c, r| (2..390).contains(&c) && (1..331).contains(&r), 0.1);
        check_plane([64, 64], |c, r| c > 0 && r > 0 && c < 63 && r < 63 && (c * 7 + r * 13) % 5 < 3, 0.1);
        check_plane([90, 70], |c, r| c.abs_diff(45).pow(2) + r.abs_diff(35).pow(2) < 900, 0.1);
        check_plane([64, 65], |c, r| (1..63).contains(&c) && (31..34).contains(&r), 0.1);
    }

    #[test]
    fn harmonic_heights_are_continued() {
        // x² − z² solves the discrete equation too.
        let saddle = |x: f64, z: f64| (x - 40.0) * (x - 40.0) - (z - 30.0) * (z - 30.0);
        let is_hole = |c: usize, r: usize| (10..70).contains(&c) && (5..60).contains(&r);
        for (index, sample) in filled([81, 65], is_hole, saddle).iter().enumerate() {
            let expected = saddle((index % 81).to_f64(), (index / 81).to_f64());
            assert!((f64::from(*sample) - expected).abs() < 0.05, "{index}: {sample} for {expected}");
        }
    }

    #[test]
    fn a_hole_at_the_border_is_level_across_it_and_within_the_known_heights() {
        // Known in the first column only, with one height; and in the first and the last row.
        assert!(filled([50, 34], |c, _| c > 0, |_, _| 7.0).iter().all(|height| *height == 7.0));
        let [width, depth] = [120, 41];
        let heights = filled([width, depth], |_, r| r > 0 && r < depth - 1, |_, z| z);
        for (index, height) in heights.iter().enumerate() {
            assert!((height - (index / width).to_f32()).abs() < 0.01, "{index}: {height}");
        }
        let corner = filled([97, 97], |c, r| c > 20 || r > 20, |x, z| 100.0 * libm::sin(x) + 50.0 * libm::cos(z));
        let known =
            corner.iter().enumerate().filter(|(at, _)| at % 97 <= 20 && at / 97 <= 20).map(|(_, height)| *height);
        let [low, high] = known.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], h| [low.min(h), high.max(h)]);
        assert!(corner.iter().all(|height| (low..=high).contains(height)), "a membrane has no extremes of its own");
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let fill = || filled([150, 130], |c, r| c + r > 40, |x, z| x * z);
        let with =
            |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().map(|pool| pool.install(fill));
        assert_eq!(with(1).expect("a thread"), with(5).expect("threads"));
    }
}
