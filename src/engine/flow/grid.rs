//! The neighbours of a sample, and maps that are filled in parallel.

use bytemuck::Zeroable;
use rayon::prelude::*;

use crate::cast::ToInteger;
use crate::heightfield::Grid;
use crate::progress::{Cancelled, Progress};

/// The neighbours of a sample as columns eastward and rows southward, clockwise from north. The opposite of direction k
/// is k ^ 4.
pub(super) const NEIGHBOURS: [[isize; 2]; 8] = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]];

/// A value in place of a direction: flow ends here. Also marks pits until their basins are drained.
pub(super) const END: u8 = 8;
/// A value in place of a direction: a sample of the padding around the terrain.
pub(super) const PADDING: u8 = 9;

/// Samples between two checks for cancellation.
const CHUNK: usize = 1 << 15;

/// A pseudorandom number that orders samples of equal height; no two samples have the same (the finaliser of
/// MurmurHash3, A. Appleby, which is a permutation).
#[inline(always)]
pub(super) fn tie_break(sample: usize) -> u32 {
    // Maps of more samples than there are numbers repeat them.
    let mut bits = (sample & 0xffff_ffff).to_u32();
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

/// The [`tie_break`] of the samples of a padded map, which is the same on a part of a grid as on the full one.
#[derive(Clone, Copy, Debug)]
pub(super) struct TieBreaks {
    stride: usize,
    full_stride: usize,
    first: [usize; 2],
}

impl TieBreaks {
    pub fn new(grid: Grid) -> Self {
        Self { stride: grid.width() + 2, full_stride: grid.full().width() + 2, first: grid.first() }
    }

    #[inline(always)]
    pub fn of(self, sample: usize) -> u32 {
        tie_break(self.number(sample))
    }

    /// The number of a sample of the part in the padded map of the full grid.
    #[inline(always)]
    pub fn number(self, sample: usize) -> usize {
        let [column, row] = self.first;
        let before = self.full_stride - self.stride;
        let whole_rows = if before == 0 { 0 } else { (sample / self.stride) * before };
        row * self.full_stride + column + whole_rows + sample
    }
}

/// The samples that drain to a sample, given one bit per neighbour and the index differences to the neighbours. Always in
/// the same order.
#[inline(always)]
pub(super) fn donors(sample: usize, mut bits: u8, steps: [isize; 8]) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let step = steps[(bits.trailing_zeros() & 7) as usize];
            bits &= bits - 1;
            sample.wrapping_add_signed(step)
        })
    })
}

/// A vector of `count` values, filled in parallel.
pub(super) fn filled_vec<T: Zeroable + Send>(
    count: usize,
    value: impl Fn() -> T + Sync,
    progress: &Progress,
) -> Result<Vec<T>, Cancelled> {
    let mut values = bytemuck::zeroed_vec(count);
    values.par_chunks_mut(CHUNK).try_for_each(|chunk| {
        chunk.iter_mut().for_each(|place| *place = value());
        progress.check()
    })?;
    Ok(values)
}

/// The index differences of the donors for each combination of them, as one bit per neighbour. A table lists them without a
/// branch for each, which could not be predicted. They are in the reverse order of [`donors`], because breadth-first orders
/// are accumulated from their end.
#[derive(Debug)]
pub(super) struct DonorOffsets(Box<[[u32; 8]; 256]>);

impl DonorOffsets {
    /// Given the index differences to the neighbours.
    pub fn new(steps: [isize; 8]) -> Self {
        let mut offsets = Box::new([[0; 8]; 256]);
        for (donors, offsets) in offsets.iter_mut().enumerate() {
            let present = (0..8).rev().filter(|k| donors >> k & 1 == 1);
            offsets.iter_mut().zip(present).for_each(|(offset, k)| *offset = steps[k].to_i32().cast_unsigned());
        }
        Self(offsets)
    }

    /// Writes the donors of a sample to the first of eight places, all of which are overwritten. Returns their number.
    #[inline(always)]
    pub fn list(&self, sample: u32, donors: u8, places: &mut [u32]) -> usize {
        for (place, offset) in places[..8].iter_mut().zip(&self.0[usize::from(donors)]) {
            *place = sample.wrapping_add(*offset);
        }
        donors.count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    #[test]
    fn ties_on_a_part_are_broken_as_on_the_full_grid() {
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, 20, 30);
        let part = grid.part([3, 5], [9, 11]);
        let (whole, of_part) = (TieBreaks::new(grid), TieBreaks::new(part));
        assert_eq!(whole.of(77), tie_break(77));
        for (c, r) in (0..9).flat_map(|c| (0..11).map(move |r| (c, r))) {
            assert_eq!(of_part.of((r + 1) * 11 + c + 1), whole.of((r + 5 + 1) * 22 + c + 3 + 1));
        }
    }

    #[test]
    fn tabulated_donors_are_the_listed_ones_in_reverse_order() {
        let steps = NEIGHBOURS.map(|[east, south]| south * 20 + east);
        let offsets = DonorOffsets::new(steps);
        for bits in 0..=u8::MAX {
            let mut places = [0; 8];
            let count = offsets.list(50, bits, &mut places);
            let mut listed: Vec<u32> = donors(50, bits, steps).map(ToInteger::to_u32).collect();
            listed.reverse();
            assert_eq!(places[..count], listed, "{bits:08b}");
        }
    }
}
