//! Leads the water of basins without an outlet over their lowest passes.
//!
//! After G. Cordonnier, B. Bovy and J. Braun, "A versatile, linear complexity algorithm for flow routing in topographies
//! with depressions", Earth Surface Dynamics 7, 2019. Every sample belongs to the basin of the pit that its water runs
//! to, or to the land outside, from where it leaves. The passes between neighbouring basins make a graph, and its
//! minimum spanning tree (Borůvka: every basin takes its lowest pass, again and again) leads from every basin outside
//! with the lowest possible highest pass. Then the way from the pass to the pit is turned round ("carving"), so that the
//! pit's water runs along it to the pass, and rivers cut the very samples that hold the lake back.
//!
//! Passes of one height are told apart by their place, so that there is one tree and no other.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::{END, numbers, tie_break};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::simd;

/// The basin of what drains outside by itself; pits have the numbers from 1 on.
const OUTSIDE: u32 = 0;
/// The basin of the frame.
const NONE: u32 = u32::MAX;

/// The land, in its frame.
pub(super) struct Ground<'a> {
    pub steps: [isize; 8],
    pub stride: usize,
    pub heights: &'a [f32],
}

impl Ground<'_> {
    fn beside(&self, sample: usize, direction: u8) -> usize {
        sample.wrapping_add_signed(self.steps[usize::from(direction & 7)])
    }

    /// The samples that give a sample their water.
    fn donors(&self, sample: usize, donors: &[u8]) -> impl Iterator<Item = usize> {
        let (mut bits, steps) = (donors[sample], self.steps);
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let direction = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                sample.wrapping_add_signed(steps[direction])
            })
        })
    }
}

/// The ways of the water, with the frame.
pub(super) struct Ways<'a> {
    pub directions: &'a mut [u8],
    pub donors: &'a mut [u8],
}

/// Where two basins meet.
#[derive(Clone, Copy, Debug)]
struct Pass {
    /// The higher of its two samples, metres.
    level_m: f32,
    /// The sample in the west or north, and the direction from it to the other one.
    sample: u32,
    direction: u8,
    /// The basins that meet, or what they have been joined to.
    sides: [u32; 2],
}

impl Pass {
    /// The lower pass first; there are no equals.
    fn order(&self, other: &Self) -> Ordering {
        let key = |pass: &Self| (tie_break(pass.sample as usize), pass.direction);
        self.level_m.total_cmp(&other.level_m).then_with(|| key(self).cmp(&key(other)))
    }
}

/// The basins of a land and the levels to which lakes fill them.
#[derive(Debug, Default)]
pub(super) struct Basins {
    /// The basin of each sample in the frame; empty where all water leaves by itself.
    basins: Vec<AtomicU32>,
    /// The level of each basin's lake, metres.
    levels_m: Vec<f32>,
}

impl Basins {
    /// The level to which water stands at a sample of the frame's maps; −∞ where none stands.
    pub fn level_m(&self, sample: usize) -> f32 {
        if self.levels_m.is_empty() {
            return f32::NEG_INFINITY;
        }
        self.levels_m[self.basins[sample].load(Relaxed) as usize]
    }

    /// Turns directions so that the water of every pit finds its way outside.
    pub fn drain(
        &mut self,
        ground: &Ground,
        ways: &mut Ways,
        pits: &[u32],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.levels_m.clear();
        if pits.is_empty() {
            return Ok(());
        }
        self.label(ground, ways.donors, pits, progress)?;
        let passes = self.passes(ground, progress)?;
        let tree = spanning_tree(pits.len() + 1, passes, progress)?;
        self.flood(ground, ways, pits, &tree, progress)
    }

    /// Gives its number to every sample of each basin, walking up from the pit; the frame has none.
    fn label(&mut self, ground: &Ground, donors: &[u8], pits: &[u32], progress: &Progress) -> Result<(), Cancelled> {
        if self.basins.len() != donors.len() {
            self.basins = numbers(donors.len(), || AtomicU32::new(NONE), progress)?;
        }
        let (basins, last) = (&self.basins, ground.stride - 1);
        let rows = donors.len() / ground.stride - 1;
        basins.par_chunks(ground.stride).take(rows).skip(1).with_min_len(16).try_for_each(|row| {
            row[1..last].iter().for_each(|basin| basin.store(OUTSIDE, Relaxed));
            progress.check()
        })?;
        pits.par_iter().enumerate().with_min_len(16).try_for_each_init(Vec::new, |left, (place, &pit)| {
            left.push(pit as usize);
            let mut seen = 0_usize;
            while let Some(sample) = left.pop() {
                basins[sample].store(place as u32 + 1, Relaxed);
                left.extend(ground.donors(sample, donors));
                seen += 1;
                if seen.is_multiple_of(1 << 14) {
                    progress.check()?;
                }
            }
            progress.check()
        })
    }

    /// Every pair of neighbours in different basins.
    fn passes(&self, ground: &Ground, progress: &Progress) -> Result<Vec<Pass>, Cancelled> {
        let stride = ground.stride;
        let copied = |r: usize, row: &mut Vec<u32>| {
            row.clear();
            row.extend(self.basins[r * stride..(r + 1) * stride].iter().map(|basin| basin.load(Relaxed)));
        };
        let of_row = |[here, below, is_border]: &mut [Vec<u32>; 3], r: usize| {
            copied(r, here);
            copied(r + 1, below);
            is_border.resize(stride, 0);
            simd(
                #[inline(always)]
                || find_borders(here, below, is_border),
            );
            let mut passes = Vec::new();
            for c in (1..stride - 1).filter(|c| is_border[*c] != 0) {
                let others = [(2, here[c + 1]), (3, below[c + 1]), (4, below[c]), (5, below[c - 1])];
                for (direction, there) in others.into_iter().filter(|(_, there)| *there != here[c] && *there != NONE) {
                    let sample = r * stride + c;
                    let level_m = ground.heights[sample].max(ground.heights[ground.beside(sample, direction)]);
                    passes.push(Pass { level_m, sample: sample as u32, direction, sides: [here[c], there] });
                }
            }
            progress.check().map(|()| passes)
        };
        let rows = (1..self.basins.len() / stride - 1).into_par_iter().with_min_len(16);
        let of_rows: Vec<Vec<Pass>> =
            rows.map_init(<[Vec<u32>; 3]>::default, of_row).collect::<Result<_, Cancelled>>()?;
        let mut passes = Vec::with_capacity(of_rows.iter().map(Vec::len).sum());
        for of_row in of_rows {
            passes.extend(of_row);
            progress.check()?;
        }
        Ok(passes)
    }

    /// Goes through the tree from outside inwards: fills each basin to its pass, or to the lake beyond if that is
    /// higher, and turns its water to the pass.
    fn flood(
        &mut self,
        ground: &Ground,
        ways: &mut Ways,
        pits: &[u32],
        tree: &[Pass],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let basin = |sample: usize| self.basins[sample].load(Relaxed);
        let sides = |pass: &Pass| {
            let first = pass.sample as usize;
            [first, ground.beside(first, pass.direction)].map(basin)
        };
        let neighbours = Neighbours::new(pits.len() + 1, tree.iter().map(sides), progress)?;
        self.levels_m.resize(pits.len() + 1, f32::INFINITY);
        self.levels_m[OUTSIDE as usize] = f32::NEG_INFINITY;
        let mut order = vec![OUTSIDE];
        let mut done = 0;
        while let Some(&outer) = order.get(done) {
            done += 1;
            look_up(done, progress)?;
            for &[inner, pass] in neighbours.of(outer) {
                if self.levels_m[inner as usize] < f32::INFINITY {
                    continue;
                }
                let pass = &tree[pass as usize];
                self.levels_m[inner as usize] = pass.level_m.max(self.levels_m[outer as usize]);
                order.push(inner);
                let first = pass.sample as usize;
                let second = ground.beside(first, pass.direction);
                let is_inside = basin(first) == inner;
                let (mut at, mut way) = if is_inside { (first, pass.direction) } else { (second, pass.direction ^ 4) };
                // Turns the way from the pass to the pit round, sample by sample.
                loop {
                    let down = std::mem::replace(&mut ways.directions[at], way);
                    ways.donors[ground.beside(at, way)] |= 1 << (way ^ 4);
                    if down == END {
                        break;
                    }
                    at = ground.beside(at, down);
                    ways.donors[at] &= !(1 << (down ^ 4));
                    way = down ^ 4;
                }
            }
        }
        Ok(())
    }
}

/// Which samples of a row have another basin to the east, south-east, south or south-west: each pair of neighbours is
/// seen once.
#[inline(always)]
fn find_borders(here: &[u32], below: &[u32], is_border: &mut [u32]) {
    let inside = here.len() - 2;
    let (basins, east) = (&here[1..][..inside], &here[2..][..inside]);
    let [west_below, below, east_below] = [0, 1, 2].map(|first| &below[first..][..inside]);
    let is_border = &mut is_border[1..][..inside];
    for c in 0..inside {
        let basin = basins[c];
        is_border[c] = (basin ^ east[c]) | (basin ^ west_below[c]) | (basin ^ below[c]) | (basin ^ east_below[c]);
    }
}

/// The basins next to each basin in a tree, with the passes between.
struct Neighbours {
    /// Where the neighbours of each basin begin in the list.
    firsts: Vec<u32>,
    /// A neighbour and a pass.
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
            look_up(done, progress)?;
        }
        let mut sum = 0;
        for (done, first) in firsts.iter_mut().enumerate() {
            sum += *first;
            *first = sum;
            look_up(done, progress)?;
        }
        let mut list = vec![[0; 2]; 2 * passes.len()];
        // Filled from the end of each basin's part, so that its beginning is left at last.
        for (pass, [one, other]) in passes.enumerate() {
            for [side, beyond] in [[one, other], [other, one]] {
                firsts[side as usize] -= 1;
                list[firsts[side as usize] as usize] = [beyond, pass as u32];
            }
            look_up(pass, progress)?;
        }
        Ok(Self { firsts, list })
    }

    fn of(&self, basin: u32) -> &[[u32; 2]] {
        let basin = basin as usize;
        &self.list[self.firsts[basin] as usize..self.firsts[basin + 1] as usize]
    }
}

/// Asks now and then whether to stop.
fn look_up(done: usize, progress: &Progress) -> Result<(), Cancelled> {
    if done.is_multiple_of(1 << 14) { progress.check() } else { Ok(()) }
}

/// The minimum spanning tree of basins that are joined by passes.
fn spanning_tree(count: usize, mut passes: Vec<Pass>, progress: &Progress) -> Result<Vec<Pass>, Cancelled> {
    let mut tree = Vec::with_capacity(count - 1);
    // What each part was joined to; a part that was joined to nothing leads itself.
    let mut leaders: Vec<u32> = (0..count as u32).collect();
    fn leader(leaders: &mut [u32], mut part: u32) -> u32 {
        while leaders[part as usize] != part {
            let next = leaders[leaders[part as usize] as usize];
            leaders[part as usize] = next;
            part = next;
        }
        part
    }
    while tree.len() + 1 < count && !passes.is_empty() {
        let mut lowest = vec![NONE; count];
        for (at, pass) in passes.iter().enumerate() {
            for side in pass.sides {
                let known = &mut lowest[side as usize];
                if *known == NONE || pass.order(&passes[*known as usize]) == Ordering::Less {
                    *known = at as u32;
                }
            }
            look_up(at, progress)?;
        }
        for (done, lowest) in lowest.into_iter().enumerate() {
            look_up(done, progress)?;
            let Some(pass) = passes.get(lowest as usize) else { continue };
            let [one, other] = pass.sides.map(|side| leader(&mut leaders, side));
            if one != other {
                leaders[one.max(other) as usize] = one.min(other);
                tree.push(*pass);
            }
        }
        // Those within a part are left out.
        let mut kept = 0;
        for at in 0..passes.len() {
            let sides = passes[at].sides.map(|side| leader(&mut leaders, side));
            if sides[0] != sides[1] {
                passes[kept] = Pass { sides, ..passes[at] };
                kept += 1;
            }
            look_up(at, progress)?;
        }
        passes.truncate(kept);
    }
    Ok(tree)
}
