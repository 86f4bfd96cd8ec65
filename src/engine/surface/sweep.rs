//! Sweeps over the grid along parallel lines in one direction, which find the horizon at every sample.
//!
//! After V. Timonen and J. Westerholm, "Scalable Height Field Self-Shadowing", Computer Graphics Forum 29, 2010: the
//! map is covered with parallel lines in the direction, one sample apart. A sweep walks each line away from the horizon
//! and keeps the upper convex hull of the heights passed. At the next point, the horizon is where the tangent touches
//! the hull; points nearer than that can never be a horizon again and leave the hull, so that the cost of a line is
//! linear in its number of points. Heights on a line are interpolated between the two adjacent samples, and a sample
//! interpolates between the two adjacent lines.

use std::ops::Range;

use rayon::prelude::*;

use super::angles::azimuth_vector;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// Rows that are gathered together: where lines run from north to south, their results are in columns, and this many
/// are read from the same stretch of memory.
const ROWS_AT_ONCE: usize = 16;
/// Lines that a thread walks between two cancellation checks.
const LINES_AT_ONCE: usize = 8;
/// The drift per sample, in samples, below which lines run exactly along a row or a column.
const STRAIGHT: f64 = 1e-9;
/// The distance outside the map, in samples, within which a line counts as on its border.
const ON_BORDER: f32 = 1e-5;

/// The lines of one direction over a grid.
///
/// They run along the axis to which the direction is nearer; `along` is the number of samples on that axis, `across`
/// the number on the other one. At every step along, a line passes between two samples across, or outside the outermost
/// one, where the border height continues; line `l` is between samples `l − drop − 1` and `l − drop`. Nothing outside
/// the map is visible from inside.
#[derive(Debug)]
pub(super) struct Sweep {
    /// Whether the lines run along rows.
    pub(super) on_rows: bool,
    along: usize,
    across: usize,
    /// For each step along, the number of lines that leave the map before it.
    pub(super) drop: Vec<usize>,
    /// For each step along, a line's fraction of the way from the first of its two samples to the second.
    pub(super) fraction: Vec<f32>,
    /// Whether steps along count towards the horizon.
    pub(super) ahead: bool,
    /// The length of a step, metres.
    pub(super) step_m: f32,
}

/// Buffers of a sweep, reused from direction to direction.
#[derive(Debug, Default)]
pub(super) struct SweepBuffers {
    /// The horizons on all lines, one line after another.
    on_lines: Vec<f32>,
}

/// Buffers for one line.
#[derive(Default)]
struct LineBuffers {
    /// Heights, and whether they are on the map.
    heights: Vec<(f32, bool)>,
    /// Positions and heights on the hull, the farthest first.
    hull: Vec<(f32, f32)>,
}

impl Sweep {
    pub(super) fn new(grid: Grid, azimuth_deg: f64) -> Self {
        let [east, south] = azimuth_vector(azimuth_deg);
        let (east, south) = (east / grid.spacing_x_m(), south / grid.spacing_z_m());
        let on_rows = east.abs() >= south.abs();
        let (pace, drift, along, across) = if on_rows {
            (east, south, grid.width(), grid.height())
        } else {
            (south, east, grid.height(), grid.width())
        };
        let slant = if (drift / pace).abs() < STRAIGHT { 0.0 } else { drift / pace };
        let shift = |n: usize| (slant * n.to_f64()).floor();
        let max_shift = shift(0).max(shift(along - 1));
        Self {
            on_rows,
            along,
            across,
            drop: (0..along).map(|n| (max_shift - shift(n)).to_usize()).collect(),
            fraction: (0..along).map(|n| (slant * n.to_f64() - shift(n)).to_f32()).collect(),
            ahead: pace > 0.0,
            step_m: (1.0 / pace.abs()).to_f32(),
        }
    }

    /// The number of lines.
    pub(super) fn lines(&self) -> usize {
        self.across + 1 + self.drop[0].max(self.drop[self.along - 1])
    }

    /// The range of steps, as start and end, at which a line is on the map.
    pub(super) fn steps_on_map(&self, line: usize) -> [usize; 2] {
        let before = |drop: usize| drop + self.across < line;
        let after = |drop: usize| drop > line;
        if self.drop[0] > self.drop[self.along - 1] {
            [self.drop.partition_point(|&drop| after(drop)), self.drop.partition_point(|&drop| !before(drop))]
        } else {
            [self.drop.partition_point(|&drop| before(drop)), self.drop.partition_point(|&drop| !after(drop))]
        }
    }

    /// Finds the horizons at all samples and passes them to `each` row by row, with the number of the row and the row
    /// of `field`.
    pub(super) fn for_each_row(
        &self,
        terrain: &Heightfield,
        buffers: &mut SweepBuffers,
        field: &mut Heightfield,
        progress: &Progress,
        each: impl Fn(usize, &[f32], &mut [f32]) + Sync,
    ) -> Result<(), Cancelled> {
        let lines = self.lines();
        let ranges: Vec<[usize; 2]> = (0..lines).map(|line| self.steps_on_map(line)).collect();
        let steps = ranges.iter().map(|[start, end]| end - start).sum();
        // Reallocated if too small: fresh zeroed memory takes no time, whereas clearing could not be cancelled.
        if buffers.on_lines.len() < steps {
            buffers.on_lines = vec![0.0; steps];
        }

        // For each line, the index that step 0 would have among all horizons. It is before the first one for lines that
        // begin later, so these numbers wrap.
        let mut origins = Vec::with_capacity(lines);
        let mut rest = buffers.on_lines.as_mut_slice();
        let mut parts = Vec::with_capacity(lines);
        let mut offset: usize = 0;
        for &[start, end] in &ranges {
            origins.push(offset.wrapping_sub(start));
            offset += end - start;
            let (part, others) = rest.split_at_mut(end - start);
            rest = others;
            parts.push(part);
        }
        let chunks = parts.par_chunks_mut(LINES_AT_ONCE).enumerate();
        chunks.try_for_each_init(LineBuffers::default, |buffers, (chunk, parts)| {
            for (i, part) in parts.iter_mut().enumerate() {
                let line = chunk * LINES_AT_ONCE + i;
                self.walk_line(terrain, line, ranges[line][0], buffers, part);
            }
            progress.check()
        })?;
        drop(parts);
        self.gather(buffers.on_lines.as_slice(), &origins, field, progress, each)
    }

    /// Interpolates the horizons at the samples between the two adjacent lines, and passes them to `each`.
    fn gather(
        &self,
        on_lines: &[f32],
        origins: &[usize],
        field: &mut Heightfield,
        progress: &Progress,
        each: impl Fn(usize, &[f32], &mut [f32]) + Sync,
    ) -> Result<(), Cancelled> {
        let width = field.grid().width();
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

    /// The sample indices across that, at a step, a line on the map may come before.
    pub(super) fn on_map(&self, step: usize) -> Range<usize> {
        let fraction = self.fraction[step];
        usize::from(fraction <= 1.0 - ON_BORDER)..self.across + usize::from(fraction < ON_BORDER)
    }

    /// Reads neighbouring samples at consecutive steps, beginning at sample `first` across; the border height continues
    /// outside.
    #[inline(always)]
    pub(super) fn read<const ACROSS: usize>(
        &self,
        terrain: &Heightfield,
        steps: Range<usize>,
        first: isize,
        samples: &mut [[f32; ACROSS]],
    ) {
        let (heights, width) = (terrain.heights(), terrain.grid().width());
        let clamped = |across: isize| across.clamp(0, self.across.to_isize() - 1).to_usize();
        if self.on_rows {
            // Row by row, so that each cache line is fetched once.
            for i in 0..ACROSS {
                let row = &heights[clamped(first + i.to_isize()) * width..][steps.clone()];
                samples.iter_mut().zip(row).for_each(|(samples, height)| samples[i] = *height);
            }
            return;
        }
        let start = (-first).clamp(0, ACROSS.to_isize()).to_usize();
        let end = (self.across.to_isize() - first).clamp(start.to_isize(), ACROSS.to_isize()).to_usize();
        for (samples, step) in samples.iter_mut().zip(steps) {
            let row = &heights[step * width..][..width];
            samples[..start].fill(row[0]);
            samples[end..].fill(row[width - 1]);
            samples[start..end].copy_from_slice(&row[clamped(first + start.to_isize())..][..end - start]);
        }
    }

    /// Finds the horizons on one line, beginning at step `start`.
    fn walk_line(
        &self,
        terrain: &Heightfield,
        line: usize,
        start: usize,
        buffers: &mut LineBuffers,
        horizons: &mut [f32],
    ) {
        let (heights, width) = (terrain.heights(), terrain.grid().width());
        let [stride_along, stride_across] = if self.on_rows { [1, width] } else { [width, 1] };
        buffers.heights.clear();
        let steps = self.drop[start..].iter().zip(&self.fraction[start..]).take(horizons.len());
        buffers.heights.extend(steps.enumerate().map(|(i, (drop, fraction))| {
            let beyond = line - drop;
            let at = |across: usize| heights[(start + i) * stride_along + across * stride_across];
            let (near, far) = (at(beyond.saturating_sub(1)), at(beyond.min(self.across - 1)));
            (near + fraction * (far - near), self.on_map(start + i).contains(&beyond))
        }));
        buffers.hull.clear();
        let (per_metre, hull) = (1.0 / self.step_m, &mut buffers.hull);
        let mut visit = |(i, (&(height, on_map), horizon)): (usize, (&(f32, bool), &mut f32))| {
            let position = i.to_f32();
            *horizon = rise_to_hull(hull, position, height) * per_metre;
            if on_map {
                hull.push((position, height));
            }
        };
        let pairs = buffers.heights.iter().zip(horizons);
        if self.ahead {
            pairs.rev().enumerate().for_each(&mut visit);
        } else {
            pairs.enumerate().for_each(&mut visit);
        }
    }
}

/// The rise from the next point to the hull of those passed, in metres per step and at least 0. Points nearer than the
/// horizon leave the hull: they are hidden from all points that follow.
fn rise_to_hull(hull: &mut Vec<(f32, f32)>, position: f32, height: f32) -> f32 {
    let rise = |&(there, height_there): &(f32, f32)| (height_there - height) / (position - there);
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
