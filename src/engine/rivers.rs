//! Rivers as lines: where enough land drains through a sample, from the head of each river to where it ends.

use super::flow::Water;
use super::heightfield::Grid;
use super::progress::{Cancelled, Progress};

/// A river, from its head downstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct River {
    /// The samples that it runs through, counted row by row; the last is where it leaves the world, enters the sea or
    /// meets another river, of which that sample is one.
    pub samples: Vec<u32>,
    /// The river that it meets, by its place in the list; `None`: it leaves the land.
    pub into: Option<usize>,
}

/// The rivers of a land, whose water is known, through whose samples at least `least_m2` square metres drain.
///
/// Where several meet, the one that drains most goes on. A river stands before those that flow into it; those that leave
/// the land come in the order of the rows.
pub fn rivers(grid: Grid, water: &Water, least_m2: f64, progress: &Progress) -> Result<Vec<River>, Cancelled> {
    const AT_ONCE: usize = 1 << 16;
    let Water { areas_m2, receivers, .. } = water;
    let is_river = |sample: u32| f64::from(areas_m2[sample as usize]) >= least_m2;
    // What flows into what, those that bring most first.
    let mut inflows: Vec<(u32, u32)> = Vec::new();
    let mut mouths = Vec::new();
    for from in (0..grid.samples() as u32).step_by(AT_ONCE) {
        progress.check()?;
        for sample in (from..grid.samples() as u32).take(AT_ONCE).filter(|sample| is_river(*sample)) {
            match receivers[sample as usize] {
                own if own == sample => mouths.push(sample),
                receiver => inflows.push((receiver, sample)),
            }
        }
    }
    let area = |sample: u32| areas_m2[sample as usize];
    inflows.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(area(b.1).total_cmp(&area(a.1))).then(a.1.cmp(&b.1)));
    progress.check()?;
    let inflows_of = |sample: u32| {
        let first = inflows.partition_point(|(receiver, _)| *receiver < sample);
        let count = inflows[first..].partition_point(|(receiver, _)| *receiver == sample);
        &inflows[first..first + count]
    };
    let mut found: Vec<River> = Vec::new();
    // Where a river meets the one it flows into, and from where it goes on upstream. A mouth through which nothing flows
    // is no river.
    let mut open: Vec<(Option<usize>, u32, u32)> = Vec::new();
    for mouth in mouths {
        open.extend(inflows_of(mouth).iter().rev().map(|(_, from)| (None, mouth, *from)));
        while let Some((into, end, from)) = open.pop() {
            progress.check()?;
            let number = found.len();
            let (mut samples, mut at) = (vec![end, from], from);
            while let Some(((_, most), others)) = inflows_of(at).split_first() {
                open.extend(others.iter().rev().map(|(_, other)| (Some(number), at, *other)));
                samples.push(*most);
                at = *most;
            }
            samples.reverse();
            found.push(River { samples, into });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::flow::Outlets;
    use crate::engine::heightfield::{Extent, Heightfield};

    /// A plane of 8 m a sample that falls to the south into a valley along column 3, with one of its own along row 4
    /// from the west.
    fn valleys() -> Heightfield {
        let grid = Grid::new(Extent { width_m: 64.0, depth_m: 64.0 }, 9, 9);
        Heightfield::from_fn(grid, |c, r| {
            let main = 4.0 * (c as f32 - 3.0).abs();
            let hollow = ((r as f32 - 4.0).abs() - 3.0).min(0.0);
            let side = if c < 3 { hollow + 0.5 * (3.0 - c as f32) } else { 0.0 };
            100.0 - 2.0 * r as f32 + main + side
        })
    }

    #[test]
    fn a_river_goes_from_its_head_to_the_border_and_another_flows_into_it() {
        let terrain = valleys();
        let grid = terrain.grid();
        let water = Water::on(&terrain, Outlets::South, None, &Progress::new()).expect("not cancelled");
        let cell = 64.0;
        let found = rivers(grid, &water, 6.0 * cell, &Progress::new()).expect("not cancelled");
        assert!(!found.is_empty());
        // Every river runs downhill along receivers, and ends in the river it names or at an outlet.
        for (i, river) in found.iter().enumerate() {
            for pair in river.samples.windows(2) {
                assert_eq!(water.receivers[pair[0] as usize], pair[1]);
                assert!(water.areas_m2[pair[0] as usize] <= water.areas_m2[pair[1] as usize]);
            }
            let end = *river.samples.last().expect("an end");
            match river.into {
                Some(other) => assert!(other < i && found[other].samples.contains(&end)),
                None => assert_eq!(water.receivers[end as usize], end),
            }
        }
        // Every sample that drains enough is on exactly one river, confluences aside.
        let mut on: Vec<u32> =
            found.iter().flat_map(|river| &river.samples[..river.samples.len() - 1]).copied().collect();
        on.sort_unstable();
        let count = on.len();
        on.dedup();
        assert_eq!(on.len(), count, "no sample twice");
        let enough = |sample: &u32| {
            let sample = *sample as usize;
            f64::from(water.areas_m2[sample]) >= 6.0 * cell && water.receivers[sample] != sample as u32
        };
        let expected: Vec<u32> = (0..81).filter(enough).collect();
        assert_eq!(on, expected);
        // The largest leaves by the valley.
        let largest = found.iter().max_by_key(|river| river.samples.len()).expect("rivers");
        assert_eq!((largest.into, largest.samples.last()), (None, Some(&(8 * 9 + 3))));
    }

    #[test]
    fn where_nothing_drains_enough_there_is_no_river() {
        let terrain = valleys();
        let water = Water::on(&terrain, Outlets::South, None, &Progress::new()).expect("not cancelled");
        assert_eq!(rivers(terrain.grid(), &water, 1e9, &Progress::new()), Ok(Vec::new()));
    }
}
