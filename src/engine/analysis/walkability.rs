//! Walkable terrain and its connected areas.

use rayon::prelude::*;

use super::slopes::{GradientSquares, squared_tangent};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// The default slope up to which terrain counts as walkable, degrees.
pub const DEFAULT_WALKABLE_DEG: f64 = 45.0;

/// Whether a sample can be walked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walkability {
    /// Steeper than the limit.
    TooSteep,
    /// Walkable, but not connected to the largest area.
    Isolated,
    /// Part of the largest connected area.
    Connected,
}

/// The terrain that is no steeper than a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkableArea {
    /// The walkable share of the samples.
    pub share: f32,
    /// The share of the walkable samples in the largest connected area; 0 if there are none.
    pub connected: f32,
    /// The walkability of every sample, row by row.
    pub walkability: Vec<Walkability>,
}

/// Consecutive walkable samples of a row: the first column, and the one after the last.
type Run = [u32; 2];

/// Finds the terrain that is no steeper than `limit_deg` degrees, and its largest connected area. Areas are connected
/// along rows and columns, not across corners. Of equally large areas, the one that begins farthest north, then west,
/// is chosen.
pub fn walkable(terrain: &Heightfield, limit_deg: f64, progress: &Progress) -> Result<WalkableArea, Cancelled> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let limit = squared_tangent(limit_deg.clamp(0.0, 90.0));
    let runs_of = |gradients: &mut GradientSquares, r: usize| {
        progress.check()?;
        let squares = simd(
            #[inline(always)]
            || gradients.of_row(terrain, r),
        );
        let mut runs: Vec<Run> = Vec::new();
        for (c, square) in squares.iter().enumerate() {
            if *square <= limit {
                match runs.last_mut() {
                    Some([_, end]) if *end == c.to_u32() => *end += 1,
                    _ => runs.push([c.to_u32(), c.to_u32() + 1]),
                }
            }
        }
        Ok(runs)
    };
    let rows: Vec<Vec<Run>> =
        (0..height).into_par_iter().map_init(|| GradientSquares::new(width), runs_of).collect::<Result<_, _>>()?;

    let (mut areas, firsts) = Areas::of_runs(&rows, progress)?;
    let all: u64 = rows.iter().flatten().map(|[start, end]| u64::from(end - start)).sum();
    let (largest, size) = areas.largest();
    let mut walkability = vec![Walkability::TooSteep; width * height];
    for ((row, runs), first) in walkability.chunks_exact_mut(width).zip(&rows).zip(firsts) {
        progress.check()?;
        for (i, [start, end]) in runs.iter().enumerate() {
            let is_largest = areas.find(first + i) == largest;
            row[*start as usize..*end as usize].fill(if is_largest {
                Walkability::Connected
            } else {
                Walkability::Isolated
            });
        }
    }
    Ok(WalkableArea {
        share: all.to_f32() / (width * height).to_f32(),
        connected: if all > 0 { size.to_f32() / all.to_f32() } else { 0.0 },
        walkability,
    })
}

/// A union–find structure over runs: each run points to an earlier one of the same area, and a root to itself.
#[derive(Default)]
struct Areas {
    parents: Vec<u32>,
    /// The samples of the area, at its root.
    sizes: Vec<u64>,
}

impl Areas {
    /// Connects the runs of neighbouring rows that share a column. Returns the areas and the index of each row's first
    /// run.
    fn of_runs(rows: &[Vec<Run>], progress: &Progress) -> Result<(Self, Vec<usize>), Cancelled> {
        let mut areas = Self::default();
        let mut firsts = Vec::with_capacity(rows.len());
        let mut above: (&[Run], usize) = (&[], 0);
        for runs in rows {
            progress.check()?;
            let first = areas.parents.len();
            runs.iter().for_each(|[start, end]| areas.push(end - start));
            let (mut i, mut j) = (0, 0);
            while let (Some([start, end]), Some([start_above, end_above])) = (runs.get(i), above.0.get(j)) {
                if start < end_above && start_above < end {
                    areas.union(first + i, above.1 + j);
                }
                if end < end_above { i += 1 } else { j += 1 }
            }
            firsts.push(first);
            above = (runs, first);
        }
        Ok((areas, firsts))
    }

    fn push(&mut self, samples: u32) {
        self.parents.push(self.parents.len().to_u32());
        self.sizes.push(samples.into());
    }

    fn find(&mut self, mut run: usize) -> usize {
        while self.parents[run] as usize != run {
            // Path halving.
            self.parents[run] = self.parents[self.parents[run] as usize];
            run = self.parents[run] as usize;
        }
        run
    }

    fn union(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        let (first, second) = (one.min(other), one.max(other));
        if first != second {
            self.parents[second] = first.to_u32();
            self.sizes[first] += self.sizes[second];
        }
    }

    /// The root of the largest area, the first of several, and its samples.
    fn largest(&self) -> (usize, u64) {
        let roots = (0..self.parents.len()).filter(|run| self.parents[*run] as usize == *run);
        let larger =
            |best: (usize, u64), run: usize| if self.sizes[run] > best.1 { (run, self.sizes[run]) } else { best };
        roots.fold((usize::MAX, 0), larger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::grid;

    fn walked(terrain: &Heightfield) -> WalkableArea {
        walkable(terrain, DEFAULT_WALKABLE_DEG, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn the_limit_itself_is_walkable() {
        let tilted = |slope: f32| Heightfield::from_fn(grid(33), move |c, _| c as f32 * slope);
        // A rise of 1 in 1 is 45°.
        assert_eq!((walked(&tilted(1.0)).share, walked(&tilted(1.01)).share), (1.0, 0.0));
    }

    #[test]
    fn a_wall_divides_a_plain() {
        // Two levels, the western one of 20 columns; the samples on both sides of the step are steep.
        let terrain = Heightfield::from_fn(grid(33), |c, _| if c < 20 { 0.0 } else { 50.0 });
        let found = walked(&terrain);
        assert_eq!((found.share, found.connected), (31.0 / 33.0, 19.0 / 31.0));
        let at = |c: usize| found.walkability[7 * 33 + c];
        assert_eq!([at(0), at(18)], [Walkability::Connected; 2]);
        assert_eq!([at(19), at(20)], [Walkability::TooSteep; 2]);
        assert_eq!([at(21), at(32)], [Walkability::Isolated; 2]);
    }

    #[test]
    fn areas_are_connected_around_walls_but_not_across_corners() {
        // A diagonal wall, two samples thick, and the same with a gap at its end.
        let wall =
            |gap: usize| move |c: usize, r: usize| if (c == r || c == r + 1) && r + gap < 33 { 80.0 } else { 0.0 };
        let [closed, open] = [0, 8].map(|gap| walked(&Heightfield::from_fn(grid(33), wall(gap))));
        assert!((0.4..0.6).contains(&closed.connected), "{}", closed.connected);
        assert_eq!(open.connected, 1.0);
        assert!(open.walkability.iter().all(|walkability| *walkability != Walkability::Isolated));
        let cliffs = walked(&Heightfield::from_fn(grid(9), |c, r| (c + r) as f32));
        assert_eq!((cliffs.share, cliffs.connected), (0.0, 0.0));
    }
}
