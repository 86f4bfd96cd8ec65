//! Large maps in blocks that are computed independently of each other.
//!
//! Blocks divide the grid of the whole map, so a block is the same whatever part of the map is wanted and whatever
//! threads compute it. Neighbouring blocks overlap, and their heights are blended there. Blocks of the same heights
//! keep them exactly. The caller finishes each overlap as a whole, so that parts of it are the same in every part of the map.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::{Grid, GridPart, Heightfield};
use crate::progress::{Cancelled, Progress};

/// Samples on either side of the line between two blocks that both of them have.
const OVERLAP: usize = 16;

/// The division of a grid into blocks of about equal size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    grid: Grid,
    /// The number of columns and of rows of blocks.
    counts: [usize; 2],
}

/// Where a column or a row of samples is: in a block, or in the overlap of a block and the next one, with the weight of
/// the latter.
type Place = (usize, Option<f32>);

/// The parts of a block that other blocks overlap.
struct Frame(Vec<Heightfield>);

impl Blocks {
    /// Blocks of about `side` samples per side, which is greater than the overlaps, on a full grid.
    pub fn new(grid: Grid, side: usize) -> Self {
        Self { grid, counts: [grid.width(), grid.height()].map(|samples| samples.div_ceil(side)) }
    }

    /// The samples per side of the largest block.
    pub fn side(&self) -> usize {
        let longest = |axis: usize| (0..self.counts[axis]).map(move |block| self.range(axis, block).len()).max();
        longest(0).max(longest(1)).unwrap_or_default()
    }

    /// The samples that frames take at most, as a share of those of the grid.
    pub fn frames(&self) -> f64 {
        let [along_x, along_z] = self.counts.map(|count| (4 * OVERLAP * (count - 1)).to_f64());
        along_x / self.grid.width().to_f64() + along_z / self.grid.height().to_f64()
    }

    fn samples(&self, axis: usize) -> usize {
        [self.grid.width(), self.grid.height()][axis]
    }

    /// The first sample of a block along an axis, without the overlap.
    fn line(&self, axis: usize, block: usize) -> usize {
        block * self.samples(axis) / self.counts[axis]
    }

    /// The samples of a block along an axis, with the overlaps.
    fn range(&self, axis: usize, block: usize) -> Range<usize> {
        let [first, end] = [block, block + 1].map(|block| self.line(axis, block));
        first.saturating_sub(OVERLAP)..(end + OVERLAP).min(self.samples(axis))
    }

    /// The samples along an axis that a block, which is not the first one, shares with the one before it.
    fn overlap(&self, axis: usize, block: usize) -> Range<usize> {
        let line = self.line(axis, block);
        line - OVERLAP..line + OVERLAP
    }

    fn place(&self, axis: usize, sample: usize) -> Place {
        let Some((block, overlap)) = (1..self.counts[axis])
            .rev()
            .map(|block| (block, self.overlap(axis, block)))
            .find(|(_, overlap)| overlap.start <= sample)
        else {
            return (0, None);
        };
        if sample >= overlap.end {
            return (block, None);
        }
        // The first and the last sample have the heights of one block.
        let share = (sample - overlap.start).to_f32() / (overlap.len() - 1).to_f32();
        (block - 1, Some(share * share * (3.0 - 2.0 * share)))
    }

    /// The heights on a part of the grid. `compute` returns those of the parts that it is called with, and `finish` those of
    /// overlaps, given the blended ones; both are called from several threads. As many results of `compute` exist at a time
    /// as there are threads.
    pub fn heights(
        &self,
        part: GridPart,
        compute: impl Fn(GridPart, &Progress) -> Result<Heightfield, Cancelled> + Sync,
        finish: impl Fn(Heightfield, &Progress) -> Result<Heightfield, Cancelled> + Sync,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let GridPart { first, size } = part;
        let wanted: [Range<usize>; 2] = std::array::from_fn(|axis| first[axis]..first[axis] + size[axis]);
        let places: [Vec<Place>; 2] =
            std::array::from_fn(|axis| wanted[axis].clone().map(|sample| self.place(axis, sample)).collect());
        let blocks = self.needed(part);
        // Allocated before the blocks, between whose buffers they would leave gaps of free memory.
        let frame =
            |block: [usize; 2]| Mutex::new(if blocks.contains(&block) { self.frame(block) } else { Frame(Vec::new()) });
        let [columns, rows] = self.counts;
        let frames: Vec<Mutex<Frame>> =
            (0..rows).flat_map(|row| (0..columns).map(move |column| [column, row])).map(frame).collect();
        let terrain = Mutex::new(Heightfield::flat(self.grid.part(first, size)));
        let overlaps = self.overlaps(part);
        let (next, counter) = (AtomicUsize::new(0), progress.counter(blocks.len() + overlaps.len()));
        let work = |_| {
            while let Some(&block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let part = self.part(block);
                let heights = compute(part, &progress.of_part())?;
                copy_inside(
                    &mut terrain.lock().unwrap_or_else(PoisonError::into_inner),
                    &heights,
                    first,
                    |axis, sample| places[axis][sample - first[axis]] == (block[axis], None),
                );
                frames[self.index(block)].lock().unwrap_or_else(PoisonError::into_inner).copy_from(&heights);
                counter.add_one()?;
            }
            Ok(())
        };
        // Not more blocks at a time than threads: a thread that waits for another one could begin with the next block.
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).try_for_each(work)?;
        let frames: Vec<Frame> =
            frames.into_iter().map(|frame| frame.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
        overlaps.into_par_iter().try_for_each(|overlap| {
            let heights = finish(self.blended(overlap, &frames), &progress.of_part())?;
            copy_inside(&mut terrain.lock().unwrap_or_else(PoisonError::into_inner), &heights, first, |_, _| true);
            counter.add_one()
        })?;
        Ok(terrain.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The blocks that have samples of a part of the grid, row by row.
    fn needed(&self, part: GridPart) -> Vec<[usize; 2]> {
        let [columns, rows]: [Vec<usize>; 2] = std::array::from_fn(|axis| {
            let is_needed = |block: &usize| {
                let range = self.range(axis, *block);
                range.start < part.first[axis] + part.size[axis] && part.first[axis] < range.end
            };
            (0..self.counts[axis]).filter(is_needed).collect()
        });
        rows.iter().flat_map(|row| columns.iter().map(move |column| [*column, *row])).collect()
    }

    /// The samples of each block that has some of a part of the grid: what [`Self::heights`] computes.
    pub fn of_part(&self, part: GridPart) -> impl Iterator<Item = GridPart> {
        self.needed(part).into_iter().map(|block| self.part(block))
    }

    fn index(&self, [column, row]: [usize; 2]) -> usize {
        row * self.counts[0] + column
    }

    /// The samples of a block, with the overlaps.
    fn part(&self, block: [usize; 2]) -> GridPart {
        let ranges: [Range<usize>; 2] = std::array::from_fn(|axis| self.range(axis, block[axis]));
        GridPart { first: ranges.each_ref().map(|range| range.start), size: ranges.map(|range| range.len()) }
    }

    /// The frame of a block, still flat.
    fn frame(&self, block: [usize; 2]) -> Frame {
        let part = self.part(block);
        let mut sides = Vec::new();
        for (axis, own) in block.into_iter().enumerate() {
            for later in [own, own + 1].into_iter().filter(|later| (1..self.counts[axis]).contains(later)) {
                let overlap = self.overlap(axis, later);
                let mut side = part;
                (side.first[axis], side.size[axis]) = (overlap.start, overlap.len());
                sides.push(Heightfield::flat(self.grid.part(side.first, side.size)));
            }
        }
        Frame(sides)
    }

    /// The overlaps, each of the same two or four blocks, of which a part has samples.
    fn overlaps(&self, part: GridPart) -> Vec<GridPart> {
        let [columns, rows]: [Vec<(Range<usize>, bool)>; 2] = std::array::from_fn(|axis| {
            let wanted = part.first[axis]..part.first[axis] + part.size[axis];
            let between = move |block: usize| {
                let begin = if block == 0 { 0 } else { self.overlap(axis, block).end };
                let next = (block + 1 < self.counts[axis]).then(|| self.overlap(axis, block + 1));
                let end = next.as_ref().map_or(self.samples(axis), |next| next.start);
                [Some((begin..end, false)), next.map(|next| (next, true))]
            };
            let all = (0..self.counts[axis]).flat_map(between).flatten();
            all.filter(|(range, _)| range.start < wanted.end && wanted.start < range.end).collect()
        });
        let pairs = rows.iter().flat_map(|row| columns.iter().map(move |column| [column, row]));
        let overlaps = pairs.filter(|pair| pair.iter().any(|(_, is_overlap)| *is_overlap));
        let ranges = overlaps.map(|pair| pair.map(|(range, _)| range));
        ranges.map(|axes| GridPart { first: axes.map(|range| range.start), size: axes.map(Range::len) }).collect()
    }

    /// The heights in an overlap.
    fn blended(&self, overlap: GridPart, frames: &[Frame]) -> Heightfield {
        let [columns, rows]: [Vec<(usize, Place)>; 2] = std::array::from_fn(|axis| {
            let samples = overlap.first[axis]..overlap.first[axis] + overlap.size[axis];
            samples.map(|sample| (sample, self.place(axis, sample))).collect()
        });
        Heightfield::from_fn(self.grid.part(overlap.first, overlap.size), |c, r| {
            let ((column, place), (row, row_place)) = (&columns[c], &rows[r]);
            let own = |block_column: usize, block_row: usize| {
                frames[self.index([block_column, block_row])].height(*column, *row)
            };
            mixed(row_place, |block_row| mixed(place, |block_column| own(block_column, block_row)))
        })
    }
}

impl Frame {
    /// Copies the heights of the block.
    fn copy_from(&mut self, heights: &Heightfield) {
        let [west, north] = heights.grid().first();
        for side in &mut self.0 {
            let (grid, width) = (side.grid(), side.grid().width());
            let [first, row] = grid.first();
            for (r, own) in side.heights_mut().chunks_exact_mut(width).enumerate() {
                own.copy_from_slice(&heights.row(row + r - north)[first - west..][..width]);
            }
        }
    }

    /// The height at a sample of the full grid.
    fn height(&self, c: usize, r: usize) -> f32 {
        let inside = |side: &Heightfield| side.grid().as_part().inside([c, r]).map(|[c, r]| side[(c, r)]);
        self.0.iter().find_map(inside).unwrap_or_default()
    }
}

/// The value of a block, or the blend of those of two.
fn mixed(&(block, share): &Place, value: impl Fn(usize) -> f32) -> f32 {
    let first = value(block);
    share.map_or(first, |share| first + share * (value(block + 1) - first))
}

/// Copies the heights of a block to the terrain that begins at sample `first` of the full grid, where `is_inside` says so
/// of the column and of the row.
fn copy_inside(
    terrain: &mut Heightfield,
    heights: &Heightfield,
    first: [usize; 2],
    is_inside: impl Fn(usize, usize) -> bool,
) {
    let (own, grid) = (heights.grid(), terrain.grid());
    let range = |axis: usize, samples: usize, wanted: usize| {
        let inside = (own.first()[axis]..own.first()[axis] + samples)
            .filter(move |sample| (first[axis]..first[axis] + wanted).contains(sample));
        inside.filter(|sample| is_inside(axis, *sample)).collect::<Vec<_>>()
    };
    let columns = range(0, own.width(), grid.width());
    let Some((&begin, &end)) = columns.first().zip(columns.last()) else { return };
    let [west, north] = own.first();
    for r in range(1, own.height(), grid.height()) {
        let to = (r - first[1]) * grid.width();
        terrain.heights_mut()[to + begin - first[0]..=to + end - first[0]]
            .copy_from_slice(&heights.row(r - north)[begin - west..=end - west]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: 500.0, depth_m: 300.0 }, width, height)
    }

    fn computed(blocks: Blocks, part: GridPart, height: impl Fn(GridPart, usize, usize) -> f32 + Sync) -> Heightfield {
        let compute = |part: GridPart, _: &Progress| {
            let [west, north] = part.first;
            let grid = blocks.grid.part(part.first, part.size);
            Ok(Heightfield::from_fn(grid, |c, r| height(part, west + c, north + r)))
        };
        blocks.heights(part, compute, |overlap, _| Ok(overlap), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn blocks_of_the_same_heights_keep_them() {
        for (width, height, side) in [(500, 300, 100), (500, 300, 1000), (257, 999, 128), (129, 129, 70)] {
            let grid = grid(width, height);
            let of = |c: usize, r: usize| ((7 * c + 13 * r) % 101) as f32 * 0.37;
            let found = computed(Blocks::new(grid, side), grid.as_part(), |_, c, r| of(c, r));
            assert_eq!(found, Heightfield::from_fn(grid, of));
        }
    }

    #[test]
    fn heights_are_blended_where_blocks_overlap() {
        let grid = grid(300, 200);
        let blocks = Blocks::new(grid, 100);
        assert_eq!(blocks.counts, [3, 2]);
        let found = computed(blocks, grid.as_part(), |part, _, _| (part.first[0] + 10 * part.first[1]) as f32);
        // Blocks begin at 0, 84 and 184, and at 0 and 84.
        assert_eq!([found[(10, 10)], found[(150, 10)], found[(250, 150)]], [0.0, 84.0, 184.0 + 840.0]);
        let across: Vec<f32> = (80..120).map(|c| found[(c, 10)]).collect();
        assert!(across.is_sorted() && across[4] == 0.0 && across[5] > 0.0 && across[34] < 84.0 && across[35] == 84.0);
        assert!((found[(99, 10)] + found[(100, 10)] - 84.0).abs() < 1e-4, "symmetric");
        let largest_step = across.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max);
        // The steepest slope of the smoothstep is 1.5 over its 31 steps.
        assert!(largest_step < 1.5 * 84.0 / 31.0, "{largest_step}");
        assert!((found[(99, 99)] + found[(100, 100)] - (84.0 + 840.0)).abs() < 1e-3, "{}", found[(99, 99)]);
    }

    #[test]
    fn a_part_is_that_of_the_whole() {
        let grid = grid(500, 300);
        let blocks = Blocks::new(grid, 100);
        let of = |part: GridPart, c: usize, r: usize| (3 * part.first[0] + part.first[1] + c * r % 17) as f32;
        let whole = computed(blocks, grid.as_part(), of);
        for (first, size) in [([0, 0], [10, 10]), ([70, 85], [64, 34]), ([130, 0], [300, 300]), ([499, 299], [1, 1])] {
            let part = GridPart { first, size };
            assert_eq!(computed(blocks, part, of), whole.part(part));
        }
    }

    #[test]
    fn overlaps_are_finished_once_and_the_same_for_every_part() {
        let grid = grid(500, 300);
        let blocks = Blocks::new(grid, 100);
        let heights = |part: GridPart| {
            let finish = |mut overlap: Heightfield, _: &Progress| {
                // Depends on all samples of the overlap.
                let sum = overlap.heights().iter().sum::<f32>();
                overlap.heights_mut().fill(1000.0 + sum);
                Ok(overlap)
            };
            let compute = |part: GridPart, _: &Progress| {
                Ok(Heightfield::from_fn(grid.part(part.first, part.size), |c, r| (c + 2 * r) as f32))
            };
            blocks.heights(part, compute, finish, &Progress::new()).expect("not cancelled")
        };
        let whole = heights(grid.as_part());
        let is_finished = |c: usize, r: usize| whole[(c, r)] >= 1000.0;
        assert_eq!([83, 84, 115, 116].map(|c| is_finished(c, 50)), [false, true, true, false]);
        assert_eq!(whole[(90, 0)], whole[(110, 83)], "one overlap");
        assert_ne!(whole[(90, 83)], whole[(90, 84)], "where four blocks overlap");
        for (first, size) in [([100, 20], [5, 5]), ([0, 0], [500, 90]), ([110, 99], [300, 2])] {
            let part = GridPart { first, size };
            assert_eq!(heights(part), whole.part(part));
        }
    }

    #[test]
    fn no_more_blocks_are_computed_than_a_part_needs() {
        let grid = grid(500, 300);
        let blocks = Blocks::new(grid, 100);
        let count = |part: GridPart| {
            let computed = AtomicUsize::new(0);
            let compute = |part: GridPart, _: &Progress| {
                computed.fetch_add(1, Ordering::Relaxed);
                Ok(Heightfield::flat(grid.part(part.first, part.size)))
            };
            blocks.heights(part, compute, |overlap, _| Ok(overlap), &Progress::new()).expect("not cancelled");
            computed.into_inner()
        };
        assert_eq!(count(grid.as_part()), 15);
        assert_eq!(count(GridPart { first: [140, 140], size: [20, 20] }), 1);
        assert_eq!(count(GridPart { first: [190, 140], size: [20, 20] }), 2);
        assert_eq!(count(GridPart { first: [190, 190], size: [20, 20] }), 4);
    }

    #[test]
    fn a_cancelled_job_stops() {
        let grid = grid(300, 200);
        let progress = Progress::new();
        let compute = |part: GridPart, own: &Progress| {
            progress.cancel();
            own.check().map(|()| Heightfield::flat(grid.part(part.first, part.size)))
        };
        assert_eq!(
            Blocks::new(grid, 100).heights(grid.as_part(), compute, |overlap, _| Ok(overlap), &progress),
            Err(Cancelled)
        );
    }
}
