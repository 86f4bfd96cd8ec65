//! How steep the land is, and where one can walk.

use rayon::prelude::*;

use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::simd;

/// The slope up to which ground counts as walkable where nothing else is said, degrees.
pub const DEFAULT_WALKABLE_DEG: f64 = 45.0;

/// The width of a bin of the slope histogram that `inspect` prints, degrees.
pub const SLOPE_BIN_DEG: f32 = 5.0;

/// The slope at a sample, degrees.
pub fn slope_deg(terrain: &Heightfield, c: usize, r: usize) -> f32 {
    let [east, south] = terrain.gradient(c, r);
    libm::atanf((east * east + south * south).sqrt()).to_degrees()
}

/// The squared tangent of an angle: slopes are compared by it, so that none of millions is made an angle.
fn squared_tangent(angle_deg: f64) -> f32 {
    let tangent = libm::tan(angle_deg.to_radians());
    (tangent * tangent) as f32
}

/// The squares of the gradients along rows, one row after another in the same buffers.
struct Steepness {
    east: Vec<f32>,
    south: Vec<f32>,
}

impl Steepness {
    fn of(terrain: &Heightfield) -> Self {
        let nothing = || vec![0.0; terrain.grid().width()];
        Self { east: nothing(), south: nothing() }
    }

    #[inline(always)]
    fn of_row(&mut self, terrain: &Heightfield, r: usize) -> &[f32] {
        terrain.gradients_of_row(r, [&mut self.east, &mut self.south]);
        self.east.iter_mut().zip(&self.south).for_each(|(east, south)| *east = *east * *east + south * south);
        &self.east
    }
}

/// Shares of the samples in slope bins of `bin_deg` degrees from 0° to 90°.
pub fn slope_histogram(terrain: &Heightfield, bin_deg: f32) -> Vec<f32> {
    let grid = terrain.grid();
    let bins = ((90.0 / bin_deg).round() as usize).max(1);
    let bounds: Vec<f32> = (1..bins).map(|bin| squared_tangent(f64::from(bin_deg) * bin as f64)).collect();
    // How many reach each bound: to compare with all of them goes through the vector lanes, to search does not.
    let of_row = |steepness: &mut Steepness, r: usize| {
        simd(
            #[inline(always)]
            || {
                let squares = steepness.of_row(terrain, r);
                let beyond = |bound: &f32| squares.iter().map(|square| u32::from(square >= bound)).sum::<u32>();
                bounds.iter().map(|bound| u64::from(beyond(bound))).collect::<Vec<u64>>()
            },
        )
    };
    let added = |mut one: Vec<u64>, other: Vec<u64>| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    let rows = (0..grid.height()).into_par_iter().map_init(|| Steepness::of(terrain), of_row);
    let beyond = rows.reduce(|| vec![0; bounds.len()], added);
    let all = std::iter::once(grid.samples() as u64).chain(beyond).chain([0]).collect::<Vec<_>>();
    all.windows(2).map(|pair| (pair[0] - pair[1]) as f32 / grid.samples() as f32).collect()
}

/// Whether one can walk at a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walkability {
    /// It is steeper than the limit.
    TooSteep,
    /// One can, but cannot get there from most of the walkable ground.
    Isolated,
    /// It belongs to the largest piece of walkable ground.
    Connected,
}

/// The ground that is no steeper than a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkableArea {
    /// Its share of the samples.
    pub share: f32,
    /// The share of it that hangs together in the largest piece; 0 where there is none.
    pub connected: f32,
    /// What every sample is, row by row.
    pub walkability: Vec<Walkability>,
}

/// Samples of a row that one can walk from end to end: columns from the first up to, without, the second.
type Run = [u32; 2];

/// Finds the ground that is no steeper than `limit_deg` degrees, and its largest piece. Pieces hang together along rows
/// and columns: a corner is no way through. Of several largest ones it is the one that begins farthest north, then west.
pub fn walkable(terrain: &Heightfield, limit_deg: f64, progress: &Progress) -> Result<WalkableArea, Cancelled> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let limit = squared_tangent(limit_deg.clamp(0.0, 90.0));
    let runs_of = |steepness: &mut Steepness, r: usize| {
        progress.check()?;
        let squares = simd(
            #[inline(always)]
            || steepness.of_row(terrain, r),
        );
        let mut runs: Vec<Run> = Vec::new();
        for (c, square) in squares.iter().enumerate() {
            if *square <= limit {
                match runs.last_mut() {
                    Some([_, end]) if *end == c as u32 => *end += 1,
                    _ => runs.push([c as u32, c as u32 + 1]),
                }
            }
        }
        Ok(runs)
    };
    let rows: Vec<Vec<Run>> =
        (0..height).into_par_iter().map_init(|| Steepness::of(terrain), runs_of).collect::<Result<_, _>>()?;

    let mut pieces = Pieces::default();
    let mut firsts = Vec::with_capacity(height);
    let mut above: (&[Run], usize) = (&[], 0);
    for runs in &rows {
        progress.check()?;
        let first = pieces.parents.len();
        runs.iter().for_each(|[start, end]| pieces.add(end - start));
        let (mut i, mut j) = (0, 0);
        while let (Some([start, end]), Some([start_above, end_above])) = (runs.get(i), above.0.get(j)) {
            if start < end_above && start_above < end {
                pieces.join(first + i, above.1 + j);
            }
            if end < end_above { i += 1 } else { j += 1 }
        }
        firsts.push(first);
        above = (runs, first);
    }

    let all: u64 = rows.iter().flatten().map(|[start, end]| u64::from(end - start)).sum();
    let (largest, size) = pieces.largest();
    let mut walkability = vec![Walkability::TooSteep; width * height];
    for ((row, runs), first) in walkability.chunks_exact_mut(width).zip(&rows).zip(firsts) {
        progress.check()?;
        for (i, [start, end]) in runs.iter().enumerate() {
            let is_largest = pieces.root(first + i) == largest;
            row[*start as usize..*end as usize].fill(if is_largest {
                Walkability::Connected
            } else {
                Walkability::Isolated
            });
        }
    }
    Ok(WalkableArea {
        share: all as f32 / (width * height) as f32,
        connected: if all > 0 { size as f32 / all as f32 } else { 0.0 },
        walkability,
    })
}

/// Runs joined to pieces: a forest in which each run knows one that comes before it, and a root itself.
#[derive(Default)]
struct Pieces {
    parents: Vec<u32>,
    /// Samples of the piece, at its root.
    sizes: Vec<u64>,
}

impl Pieces {
    fn add(&mut self, samples: u32) {
        self.parents.push(self.parents.len() as u32);
        self.sizes.push(samples.into());
    }

    fn root(&mut self, mut run: usize) -> usize {
        while self.parents[run] as usize != run {
            // Halves the way for whoever comes next.
            self.parents[run] = self.parents[self.parents[run] as usize];
            run = self.parents[run] as usize;
        }
        run
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        let (first, second) = (one.min(other), one.max(other));
        if first != second {
            self.parents[second] = first as u32;
            self.sizes[first] += self.sizes[second];
        }
    }

    /// The root of the largest piece, the first of several, and its samples.
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
    use crate::engine::heightfield::{Extent, Grid};

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: (side - 1) as f64, depth_m: (side - 1) as f64 }, side, side)
    }

    fn walked(terrain: &Heightfield) -> WalkableArea {
        walkable(terrain, DEFAULT_WALKABLE_DEG, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn a_tilted_plane_lies_in_one_bin() {
        let tilted = |slope: f32| Heightfield::from_fn(grid(33), move |c, _| c as f32 * slope);
        for (slope, bin) in [(0.0, 0), (0.25, 14), (1.0, 45), (10.0, 84)] {
            let shares = slope_histogram(&tilted(slope), 1.0);
            assert_eq!((shares.len(), shares[bin]), (90, 1.0), "{slope}");
        }
        assert_eq!(slope_histogram(&tilted(1.0), SLOPE_BIN_DEG)[9], 1.0);
        // A rise of 1 in 1 is 45°, still walkable.
        assert_eq!((walked(&tilted(1.0)).share, walked(&tilted(1.01)).share), (1.0, 0.0));
    }

    #[test]
    fn bins_agree_with_the_angles_of_the_samples() {
        let wave = |c: usize, r: usize| 6.0 * libm::sinf(0.37 * c as f32) * libm::cosf(0.23 * r as f32);
        let terrain = Heightfield::from_fn(grid(65), wave);
        let mut counts = [0_u32; 18];
        for (c, r) in (0..65).flat_map(|r| (0..65).map(move |c| (c, r))) {
            counts[(slope_deg(&terrain, c, r) / SLOPE_BIN_DEG) as usize] += 1;
        }
        let shares: Vec<f32> = counts.iter().map(|count| *count as f32 / 4225.0).collect();
        assert_eq!(slope_histogram(&terrain, SLOPE_BIN_DEG), shares);
        assert!(shares[..11].iter().all(|share| *share > 0.0), "the wave has slopes of every kind");
    }

    #[test]
    fn a_wall_parts_a_plain() {
        // Two levels, the western one of 20 columns; beside the step, slopes are steep on either side of it.
        let terrain = Heightfield::from_fn(grid(33), |c, _| if c < 20 { 0.0 } else { 50.0 });
        let found = walked(&terrain);
        assert_eq!((found.share, found.connected), (31.0 / 33.0, 19.0 / 31.0));
        let at = |c: usize| found.walkability[7 * 33 + c];
        assert_eq!([at(0), at(18)], [Walkability::Connected; 2]);
        assert_eq!([at(19), at(20)], [Walkability::TooSteep; 2]);
        assert_eq!([at(21), at(32)], [Walkability::Isolated; 2]);
    }

    #[test]
    fn a_corner_is_no_way_and_a_way_round_is_one() {
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
