//! Drains basins without an outlet over their lowest passes.
//!
//! After G. Cordonnier, B. Bovy and J. Braun, "A versatile, linear complexity algorithm for flow routing in
//! topographies with depressions", Earth Surface Dynamics 7, 2019. Every sample belongs to the basin of the pit that it
//! drains to, or to the outside if it drains to an outlet. The passes between neighbouring basins form a graph. Its
//! minimum spanning tree (Borůvka: every basin repeatedly takes its lowest pass) connects every basin to the outside
//! along the path with the lowest maximum pass. Flow from the pit to the pass is then reversed ("carving"), so that
//! rivers cut through the samples that dam the lake.
//!
//! Passes of equal height are ordered by position, which makes the tree unique.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::edges::{Edges, FORWARD};
use super::grid::{DonorOffsets, END, TieBreaks, filled_vec};
use crate::cast::ToInteger;
use crate::progress::{Cancelled, Progress};

/// The basin of samples that drain to an outlet; basins of pits are numbered from 1.
pub(super) const OUTSIDE: u32 = 0;
/// The basin of the padding.
const NONE: u32 = u32::MAX;

/// The heights of a terrain padded by one sample.
pub(super) struct PaddedTerrain<'a> {
    /// The index differences to the neighbours.
    pub steps: [isize; 8],
    pub donor_offsets: &'a DonorOffsets,
    pub stride: usize,
    pub heights: &'a [f32],
    pub edges: &'a Edges,
    pub ties: TieBreaks,
}

impl PaddedTerrain<'_> {
    fn neighbour(&self, sample: usize, direction: u8) -> usize {
        sample.wrapping_add_signed(self.steps[usize::from(direction & 7)])
    }
}

/// Flow directions, padded by one sample.
pub(super) struct FlowDirections<'a> {
    pub directions: &'a mut [u8],
    pub donors: &'a mut [u8],
}

/// The lowest connection between two neighbouring samples of different basins.
#[derive(Clone, Copy, Debug)]
struct Pass {
    /// The higher of its two samples, metres.
    level_m: f32,
    /// The western or northern sample, and the direction from it to the other one.
    sample: u32,
    direction: u8,
    /// The two basins, or the merged basins that contain them.
    sides: [u32; 2],
}

impl Pass {
    fn has_same_sides(&self, other: &Self) -> bool {
        let [one, two] = self.sides;
        other.sides == [one, two] || other.sides == [two, one]
    }

    /// Orders passes by height; no two are equal.
    fn order(&self, other: &Self, ties: TieBreaks) -> Ordering {
        let key = |pass: &Self| (ties.of(pass.sample as usize), pass.direction);
        self.level_m.total_cmp(&other.level_m).then_with(|| key(self).cmp(&key(other)))
    }
}

/// The basins of a terrain and the levels of their lakes.
#[derive(Debug, Default)]
pub(super) struct Basins {
    /// The basin of each padded sample; unused if there are no pits.
    basins: Vec<AtomicU32>,
    /// The lake level of each basin, metres; empty if there are no pits.
    levels_m: Vec<f32>,
    /// See [`Self::downstream_first`].
    downstream_first: Vec<[u32; 2]>,
}

impl Basins {
    /// The lake level at a sample of the padded map in metres; −∞ outside lakes.
    pub fn level_m(&self, sample: usize) -> f32 {
        if self.levels_m.is_empty() {
            return f32::NEG_INFINITY;
        }
        self.levels_m[self.basins[sample].load(Relaxed) as usize]
    }

    /// The number of the basin of a sample of the padded map.
    pub fn basin(&self, sample: usize) -> u32 {
        self.basins[sample].load(Relaxed)
    }

    /// Pairs of a basin that has a pit and the basin that it drains to, which comes before it. The pit of basin n is pit
    /// n − 1.
    pub fn downstream_first(&self) -> &[[u32; 2]] {
        &self.downstream_first
    }

    /// The number of basins, including the outside.
    pub fn count(&self) -> usize {
        self.levels_m.len()
    }

    /// Redirects the flow so that every pit drains to an outlet.
    pub fn drain(
        &mut self,
        terrain: &PaddedTerrain,
        flow: &mut FlowDirections,
        pits: &[u32],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.levels_m.clear();
        self.downstream_first.clear();
        if pits.is_empty() {
            return Ok(());
        }
        self.label(terrain, flow.donors, pits, progress)?;
        let passes = self.passes(terrain, progress)?;
        let tree = spanning_tree(pits.len() + 1, passes, terrain.ties, progress)?;
        self.flood(terrain, flow, pits, &tree, progress)
    }

    /// Labels the samples of every basin with its number, upstream from the pit.
    fn label(
        &mut self,
        terrain: &PaddedTerrain,
        donors: &[u8],
        pits: &[u32],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        /// Samples that are labelled at a time. Their donors are loaded independently of each other, so cache misses overlap.
        const BATCH: usize = 8;
        if self.basins.len() != donors.len() {
            self.basins = filled_vec(donors.len(), || AtomicU32::new(NONE), progress)?;
        }
        let (basins, last) = (&self.basins, terrain.stride - 1);
        let rows = donors.len() / terrain.stride - 1;
        basins.par_chunks(terrain.stride).take(rows).skip(1).with_min_len(16).try_for_each(|row| {
            row[1..last].iter().for_each(|basin| basin.store(OUTSIDE, Relaxed));
            progress.check()
        })?;
        pits.par_iter().enumerate().with_min_len(16).try_for_each_init(Vec::new, |pending, (number, &pit)| {
            let mut batch = [pit; BATCH];
            let (mut size, mut top, mut seen) = (1, 0, 0_usize);
            while size > 0 {
                // A batch writes up to eight places per sample.
                if pending.len() < top + 8 * BATCH {
                    pending.resize(2 * top + 8 * BATCH, 0);
                }
                for &sample in &batch[..size] {
                    basins[sample as usize].store(number.to_u32() + 1, Relaxed);
                    top += terrain.donor_offsets.list(sample, donors[sample as usize], &mut pending[top..top + 8]);
                }
                size = top.min(BATCH);
                top -= size;
                batch[..size].copy_from_slice(&pending[top..top + size]);
                seen += 1;
                if seen.is_multiple_of(1 << 12) {
                    progress.check()?;
                }
            }
            progress.check()
        })
    }

    /// At least the lowest pass between each two neighbouring basins.
    fn passes(&self, terrain: &PaddedTerrain, progress: &Progress) -> Result<Vec<Pass>, Cancelled> {
        /// Rows that a thread searches at a time.
        const ROWS: usize = 32;
        /// No pass has been found in a column.
        const NO_PASS: u32 = u32::MAX;
        let stride = terrain.stride;
        let copied = |r: usize, row: &mut Vec<u32>| {
            row.clear();
            row.extend(self.basins[r * stride..(r + 1) * stride].iter().map(|basin| basin.load(Relaxed)));
        };
        let end = self.basins.len() / stride - 1;
        let of_rows = |first: usize| {
            let [mut here, mut below, mut crossed] = [Vec::new(), Vec::new(), vec![0; stride]];
            let mut passes: Vec<Pass> = Vec::new();
            // The last pass found in each column. The boundary between two basins usually continues in this column or a
            // neighbouring one. Of the passes between the same basins that are found there, only the lowest is kept.
            let mut last = vec![NO_PASS; stride];
            copied(first, &mut below);
            for r in first..(first + ROWS).min(end) {
                std::mem::swap(&mut here, &mut below);
                copied(r + 1, &mut below);
                terrain.edges.find_crossed(r * stride + 1, [&here, &below], NONE, &mut crossed[1..stride - 1]);
                for (c, mut crossed) in crossed.iter().copied().enumerate().filter(|(_, crossed)| *crossed != 0) {
                    let (sample, others) = (r * stride + c, [here[c + 1], below[c + 1], below[c], below[c - 1]]);
                    while crossed != 0 {
                        let edge = (crossed.trailing_zeros() & 3) as usize;
                        crossed &= crossed - 1;
                        let (direction, there) = (FORWARD[edge], others[edge]);
                        let level_m =
                            terrain.heights[sample].max(terrain.heights[terrain.neighbour(sample, direction)]);
                        let pass = Pass { level_m, sample: sample.to_u32(), direction, sides: [here[c], there] };
                        let is_known =
                            |at: &u32| passes.get(*at as usize).is_some_and(|known| known.has_same_sides(&pass));
                        if let Some(at) = [last[c], last[c - 1], last[c + 1]].into_iter().find(is_known) {
                            let known = &mut passes[at as usize];
                            if pass.order(known, terrain.ties) == Ordering::Less {
                                *known = pass;
                            }
                            last[c] = at;
                        } else {
                            last[c] = passes.len().to_u32();
                            passes.push(pass);
                        }
                    }
                }
                progress.check()?;
            }
            Ok(passes)
        };
        let of_rows: Vec<Vec<Pass>> =
            (1..end).into_par_iter().step_by(ROWS).map(of_rows).collect::<Result<_, Cancelled>>()?;
        let mut passes = Vec::with_capacity(of_rows.iter().map(Vec::len).sum());
        for of_rows in of_rows {
            passes.extend(of_rows);
            progress.check()?;
        }
        Ok(passes)
    }

    /// Traverses the tree from the outside: fills each basin to its pass, or to the level of the next lake if that is
    /// higher, and redirects its flow to the pass.
    fn flood(
        &mut self,
        terrain: &PaddedTerrain,
        flow: &mut FlowDirections,
        pits: &[u32],
        tree: &[Pass],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let basin = |sample: usize| self.basins[sample].load(Relaxed);
        let sides = |pass: &Pass| {
            let first = pass.sample as usize;
            [first, terrain.neighbour(first, pass.direction)].map(basin)
        };
        let neighbours = Neighbours::new(pits.len() + 1, tree.iter().map(sides), progress)?;
        self.levels_m.resize(pits.len() + 1, f32::INFINITY);
        self.levels_m[OUTSIDE as usize] = f32::NEG_INFINITY;
        let mut outer = OUTSIDE;
        let mut done = 0;
        loop {
            for &[inner, pass] in neighbours.of(outer) {
                if self.levels_m[inner as usize] < f32::INFINITY {
                    continue;
                }
                let pass = &tree[pass as usize];
                self.levels_m[inner as usize] = pass.level_m.max(self.levels_m[outer as usize]);
                self.downstream_first.push([inner, outer]);
                let first = pass.sample as usize;
                let second = terrain.neighbour(first, pass.direction);
                let is_inside = basin(first) == inner;
                let (mut at, mut direction) =
                    if is_inside { (first, pass.direction) } else { (second, pass.direction ^ 4) };
                // Reverse the flow between the pass and the pit.
                loop {
                    let down = std::mem::replace(&mut flow.directions[at], direction);
                    flow.donors[terrain.neighbour(at, direction)] |= 1 << (direction ^ 4);
                    if down == END {
                        break;
                    }
                    at = terrain.neighbour(at, down);
                    flow.donors[at] &= !(1 << (down ^ 4));
                    direction = down ^ 4;
                }
            }
            let Some(&[next, _]) = self.downstream_first.get(done) else { break };
            outer = next;
            done += 1;
            check_sometimes(done, progress)?;
        }
        Ok(())
    }
}

/// The neighbours of each basin in a tree of passes.
struct Neighbours {
    /// The index in the list of the first neighbour of each basin.
    firsts: Vec<u32>,
    /// Pairs of a neighbour and a pass.
    list: Vec<[u32; 2]>,
}

impl Neighbours {
    fn new(
        count: usize,
        passes: impl ExactSizeIterator<Item = [u32; 2]> + Clone,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut firsts = vec![0; count + 1];
        for (done, sides) in passes.clone().enumerate() {
            sides.into_iter().for_each(|side| firsts[side as usize] += 1);
            check_sometimes(done, progress)?;
        }
        let mut sum = 0;
        for (done, first) in firsts.iter_mut().enumerate() {
            sum += *first;
            *first = sum;
            check_sometimes(done, progress)?;
        }
        let mut list = vec![[0; 2]; 2 * passes.len()];
        // Each part of the list is filled from its end, which turns `firsts` from ends into starts.
        for (pass, [one, other]) in passes.enumerate() {
            for [side, beyond] in [[one, other], [other, one]] {
                firsts[side as usize] -= 1;
                list[firsts[side as usize] as usize] = [beyond, pass.to_u32()];
            }
            check_sometimes(pass, progress)?;
        }
        Ok(Self { firsts, list })
    }

    fn of(&self, basin: u32) -> &[[u32; 2]] {
        let basin = basin as usize;
        &self.list[self.firsts[basin] as usize..self.firsts[basin + 1] as usize]
    }
}

/// Checks for cancellation after every 2¹⁴ pieces.
fn check_sometimes(done: usize, progress: &Progress) -> Result<(), Cancelled> {
    if done.is_multiple_of(1 << 14) { progress.check() } else { Ok(()) }
}

/// The minimum spanning tree of basins connected by passes (Borůvka).
fn spanning_tree(
    count: usize,
    mut passes: Vec<Pass>,
    ties: TieBreaks,
    progress: &Progress,
) -> Result<Vec<Pass>, Cancelled> {
    let mut tree = Vec::with_capacity(count - 1);
    // Disjoint sets: the parent of each basin; roots are their own parents.
    let mut parents: Vec<u32> = (0..count.to_u32()).collect();
    fn root(parents: &mut [u32], mut basin: u32) -> u32 {
        while parents[basin as usize] != basin {
            let next = parents[parents[basin as usize] as usize];
            parents[basin as usize] = next;
            basin = next;
        }
        basin
    }
    while tree.len() + 1 < count && !passes.is_empty() {
        let mut lowest = vec![NONE; count];
        for (at, pass) in passes.iter().enumerate() {
            for side in pass.sides {
                let known = &mut lowest[side as usize];
                if *known == NONE || pass.order(&passes[*known as usize], ties) == Ordering::Less {
                    *known = at.to_u32();
                }
            }
            check_sometimes(at, progress)?;
        }
        for (done, lowest) in lowest.into_iter().enumerate() {
            check_sometimes(done, progress)?;
            let Some(pass) = passes.get(lowest as usize) else { continue };
            let [one, other] = pass.sides.map(|side| root(&mut parents, side));
            if one != other {
                parents[one.max(other) as usize] = one.min(other);
                tree.push(*pass);
            }
        }
        // Drop passes within a set.
        let mut kept = 0;
        for at in 0..passes.len() {
            let sides = passes[at].sides.map(|side| root(&mut parents, side));
            if sides[0] != sides[1] {
                passes[kept] = Pass { sides, ..passes[at] };
                kept += 1;
            }
            check_sometimes(at, progress)?;
        }
        passes.truncate(kept);
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::super::grid::{NEIGHBOURS, tie_break};
    use super::super::mesh::Mesh;
    use super::*;
    use crate::heightfield::{Extent, Grid};

    #[test]
    fn the_tree_of_the_lowest_passes_is_that_of_all_passes() {
        let progress = Progress::new();
        let grid = Grid::new(Extent { width_m: 80.0, depth_m: 80.0 }, 40, 40);
        let stride = grid.width() + 2;
        let steps = NEIGHBOURS.map(|[east, south]| south * stride.cast_signed() + east);
        let donor_offsets = DonorOffsets::new(steps);
        for (mesh, seed) in [(Mesh::regular(grid), 1), (Mesh::new(grid, 0, 1.0, &progress).expect("not cancelled"), 2)]
        {
            let edges = Edges::new(&mesh, &progress).expect("not cancelled");
            let is_inside = |at: usize| (1..=40).contains(&(at % stride)) && (1..=40).contains(&(at / stride));
            // Few different heights, so that many passes are equally high, and ragged basins.
            let random = |at: usize, of: u32| tie_break(at + seed * 7919) % of;
            let heights: Vec<f32> = (0..stride * stride)
                .map(|at| if is_inside(at) { random(at, 9) as f32 } else { f32::INFINITY })
                .collect();
            let basin =
                |at: usize| if is_inside(at) { (at % stride / 9 + random(at, 3) as usize) as u32 } else { NONE };
            let basins = Basins {
                basins: (0..stride * stride).map(|at| AtomicU32::new(basin(at))).collect(),
                ..Basins::default()
            };
            let (donor_offsets, heights, edges, ties) = (&donor_offsets, &*heights, &edges, TieBreaks::new(grid));
            let terrain = PaddedTerrain { steps, donor_offsets, stride, heights, edges, ties };
            let all = (0..stride * stride)
                .filter(|at| is_inside(*at))
                .flat_map(|sample| (2..6_u8).map(move |direction| (sample, direction)));
            let all: Vec<Pass> = all
                .filter(|(sample, direction)| edges.has(*sample, usize::from(*direction)))
                .map(|(sample, direction)| (sample, direction, terrain.neighbour(sample, direction)))
                .filter(|(sample, _, other)| is_inside(*other) && basin(*sample) != basin(*other))
                .map(|(sample, direction, other)| Pass {
                    level_m: heights[sample].max(heights[other]),
                    sample: sample as u32,
                    direction,
                    sides: [basin(sample), basin(other)],
                })
                .collect();
            let lowest = basins.passes(&terrain, &progress).expect("not cancelled");
            assert!(lowest.len() < all.len() / 2, "{} of {}", lowest.len(), all.len());
            let tree = |passes| {
                let tree = spanning_tree(7, passes, ties, &progress).expect("not cancelled");
                let mut tree: Vec<_> = tree.iter().map(|pass| (pass.sample, pass.direction)).collect();
                tree.sort_unstable();
                tree
            };
            assert_eq!(tree(lowest), tree(all));
        }
    }
}
