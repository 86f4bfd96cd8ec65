//! A simple reference implementation for tests: priority-flood after R. Barnes, C. Lehman and D. Mulla,
//! "Priority-flood: An optimal depression-filling and watershed-labeling algorithm for digital elevation models",
//! Computers & Geosciences 62, 2014.

use std::collections::BTreeSet;

use super::grid::NEIGHBOURS;
use crate::heightfield::Heightfield;

/// The level to which each sample is filled so that all water drains to the ends.
pub(crate) fn filled(terrain: &Heightfield, ends: &[bool]) -> Vec<f32> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let mut levels = vec![f32::INFINITY; width * height];
    let key = |height: f32| if height.to_bits() >> 31 == 0 { height.to_bits() ^ (1 << 31) } else { !height.to_bits() };
    let mut open = BTreeSet::new();
    for (sample, _) in ends.iter().enumerate().filter(|(_, ends)| **ends) {
        levels[sample] = terrain.heights()[sample];
        open.insert((key(levels[sample]), sample));
    }
    while let Some((_, sample)) = open.pop_first() {
        for [east, south] in NEIGHBOURS {
            let c = (sample % width).wrapping_add_signed(east);
            let r = (sample / width).wrapping_add_signed(south);
            if c < width && r < height && levels[r * width + c] == f32::INFINITY {
                levels[r * width + c] = terrain[(c, r)].max(levels[sample]);
                open.insert((key(levels[r * width + c]), r * width + c));
            }
        }
    }
    levels
}

/// The number of samples that drain through each, by following the receivers of every sample to its end.
pub(crate) fn areas(receivers: &[u32]) -> Vec<u32> {
    let mut areas = vec![0; receivers.len()];
    for start in 0..receivers.len() {
        let mut at = start;
        for _ in 0..=receivers.len() {
            areas[at] += 1;
            if receivers[at] as usize == at {
                break;
            }
            at = receivers[at] as usize;
        }
    }
    areas
}
