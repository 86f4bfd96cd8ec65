//! Rivers as polylines, from their heads to the sea, to the border or to a confluence.

use super::flow::Water;
use super::heightfield::Grid;
use super::progress::{Cancelled, Progress};

use crate::cast::ToInteger;

/// A river, from its head downstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct River {
    /// Its samples, as indices in row-major order. The last one is at the border or in the sea, or it is the confluence
    /// and belongs to the other river too.
    pub samples: Vec<u32>,
    /// The index of the river that this one flows into; `None` if it leaves the terrain.
    pub flows_into: Option<usize>,
}

/// Traces the rivers of a terrain: the samples whose drainage area is at least `min_area_m2` square metres.
///
/// At a confluence the tributary with the largest area continues. A river comes before those that flow into it; rivers
/// that leave the terrain are in row-major order of their mouths.
pub fn rivers(grid: Grid, water: &Water, min_area_m2: f64, progress: &Progress) -> Result<Vec<River>, Cancelled> {
    let (mouths, inflows) = mouths_and_inflows(grid, water, min_area_m2, progress)?;
    let inflows_of = |sample: u32| {
        let first = inflows.partition_point(|(receiver, _)| *receiver < sample);
        let count = inflows[first..].partition_point(|(receiver, _)| *receiver == sample);
        &inflows[first..first + count]
    };
    let mut found: Vec<River> = Vec::new();
    // Rivers still to be traced: the river they flow into, their last sample and the one before it.
    let mut pending: Vec<(Option<usize>, u32, u32)> = Vec::new();
    for mouth in mouths {
        pending.extend(inflows_of(mouth).iter().rev().map(|(_, from)| (None, mouth, *from)));
        while let Some((flows_into, end, from)) = pending.pop() {
            progress.check()?;
            let number = found.len();
            let (mut samples, mut at) = (vec![end, from], from);
            while let Some(((_, largest), others)) = inflows_of(at).split_first() {
                pending.extend(others.iter().rev().map(|(_, other)| (Some(number), at, *other)));
                samples.push(*largest);
                at = *largest;
            }
            samples.reverse();
            found.push(River { samples, flows_into });
        }
    }
    Ok(found)
}

/// A river sample's receiver, and the river sample itself.
type Inflow = (u32, u32);

/// The samples at which rivers end, and the inflows of all others: sorted by receiver, then from the largest to the
/// smallest drainage area.
fn mouths_and_inflows(
    grid: Grid,
    water: &Water,
    min_area_m2: f64,
    progress: &Progress,
) -> Result<(Vec<u32>, Vec<Inflow>), Cancelled> {
    const SAMPLES_BETWEEN_CHECKS: usize = 1 << 16;
    let Water { areas_m2, receivers, .. } = water;
    let is_river = |sample: u32| f64::from(areas_m2[sample as usize]) >= min_area_m2;
    let (mut mouths, mut inflows) = (Vec::new(), Vec::new());
    for from in (0..grid.samples().to_u32()).step_by(SAMPLES_BETWEEN_CHECKS) {
        progress.check()?;
        for sample in (from..grid.samples().to_u32()).take(SAMPLES_BETWEEN_CHECKS).filter(|sample| is_river(*sample)) {
            match receivers[sample as usize] {
                own if own == sample => mouths.push(sample),
                receiver => inflows.push((receiver, sample)),
            }
        }
    }
    let area = |sample: u32| areas_m2[sample as usize];
    inflows.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(area(b.1).total_cmp(&area(a.1))).then(a.1.cmp(&b.1)));
    progress.check()?;
    Ok((mouths, inflows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Outlets;
    use crate::heightfield::{Extent, Heightfield};

    /// A plane with a sample every 8 m that falls to the south, with a valley along column 3 and a side valley along
    /// row 4 from the west.
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
    fn rivers_run_from_their_heads_to_the_border_or_a_confluence() {
        let terrain = valleys();
        let grid = terrain.grid();
        let water = Water::on(&terrain, Outlets::South, None, &Progress::new()).expect("not cancelled");
        let cell = 64.0;
        let found = rivers(grid, &water, 6.0 * cell, &Progress::new()).expect("not cancelled");
        assert!(!found.is_empty());
        // Every river follows receivers, and ends in the river of `flows_into` or at an outlet.
        for (i, river) in found.iter().enumerate() {
            for pair in river.samples.windows(2) {
                assert_eq!(water.receivers[pair[0] as usize], pair[1]);
                assert!(water.areas_m2[pair[0] as usize] <= water.areas_m2[pair[1] as usize]);
            }
            let end = *river.samples.last().expect("an end");
            match river.flows_into {
                Some(other) => assert!(other < i && found[other].samples.contains(&end)),
                None => assert_eq!(water.receivers[end as usize], end),
            }
        }
        // Every sample with enough drainage area is on exactly one river, except at confluences.
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
        // The largest river leaves through the valley.
        let largest = found.iter().max_by_key(|river| river.samples.len()).expect("rivers");
        assert_eq!((largest.flows_into, largest.samples.last()), (None, Some(&(8 * 9 + 3))));
    }

    #[test]
    fn too_small_drainage_areas_make_no_rivers() {
        let terrain = valleys();
        let water = Water::on(&terrain, Outlets::South, None, &Progress::new()).expect("not cancelled");
        assert_eq!(rivers(terrain.grid(), &water, 1e9, &Progress::new()), Ok(Vec::new()));
    }
}
