//! Samples in the order of the flow, for drainage that is traversed several times.

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::DonorOffsets;
use crate::engine::cast::ToInteger;
use crate::engine::progress::{Cancelled, Progress};

/// All samples, each after its receiver: breadth-first from the outlets, level by level (R. Barnes, "Accelerating a
/// fluvial incision and landscape evolution model with parallelism", Geomorphology 330, 2019).
///
/// Values in this order are read and written nearly in sequence: those of the receivers of consecutive samples are
/// consecutive or equal, and so are those of the donors. One thread therefore takes less time on a grid that fits into its
/// cache than several do that follow the trees on the grid. Samples of a level do not depend on each other.
#[derive(Debug, Default)]
pub(in crate::engine) struct FlowOrder {
    /// Indices in the padded maps.
    samples: Vec<u32>,
    /// For each, the position of its receiver in the order; its own where flow ends.
    receivers: Vec<u32>,
    /// The position after the last sample of each level.
    levels: Vec<usize>,
    /// For each, the number of samples that drain through it, including itself.
    areas: Vec<u32>,
}

impl FlowOrder {
    /// Sets the order to that of a drainage.
    pub fn update(&mut self, drainage: &Drainage, progress: &Progress) -> Result<(), Cancelled> {
        let offsets = DonorOffsets::new(drainage.steps);
        let Self { samples, receivers, levels, areas } = self;
        // Eight more, because all places that donors may take are written at once.
        let places = drainage.ends.len() + drainage.padded_samples() + 8;
        samples.resize(places, 0);
        receivers.resize(places, 0);
        levels.clear();
        let [mut begin, mut end] = [0, drainage.ends.len()];
        samples[..end].copy_from_slice(&drainage.ends);
        receivers[..end].iter_mut().zip(0..).for_each(|(receiver, at)| *receiver = at);
        while begin < end {
            levels.push(end);
            let level_end = end;
            for at in begin..level_end {
                let sample = samples[at];
                receivers[end..end + 8].fill(at.to_u32());
                end += offsets.list(sample, drainage.donors[sample as usize], &mut samples[end..end + 8]);
            }
            begin = level_end;
            progress.check()?;
        }
        samples.truncate(end);
        receivers.truncate(end);
        areas.clear();
        areas.resize(end, 1);
        for at in (drainage.ends.len()..end).rev() {
            areas[receivers[at] as usize] += areas[at];
        }
        progress.check()
    }

    /// The indices of the samples in the padded maps.
    pub fn samples(&self) -> &[u32] {
        &self.samples
    }

    /// The number of samples that drain through each sample, including itself.
    pub fn areas(&self) -> &[u32] {
        &self.areas
    }

    /// Sets the value of each sample from its position, its own value and that of its receiver, `None` where flow ends.
    /// Levels of at least `min_shared` samples are shared among threads.
    pub fn upstream(
        &self,
        values: &mut [f32],
        min_shared: usize,
        value: impl Fn(usize, f32, Option<f32>) -> f32 + Sync,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let mut begin = 0;
        for (level, &end) in self.levels.iter().enumerate() {
            let (below, here) = values[..end].split_at_mut(begin);
            let receivers = &self.receivers[begin..end];
            let set = |at: usize, own: &mut f32, receiver: u32| {
                *own = value(begin + at, *own, (level > 0).then(|| below[receiver as usize]));
            };
            if end - begin < min_shared {
                here.iter_mut().zip(receivers).enumerate().for_each(|(at, (own, receiver))| set(at, own, *receiver));
            } else {
                let shared = here.par_iter_mut().zip(receivers).enumerate().with_min_len(min_shared / 4);
                shared.for_each(|(at, (own, receiver))| set(at, own, *receiver));
            }
            begin = end;
            progress.check()?;
        }
        Ok(())
    }

    /// Sets the value of each sample, donors first: to `own` of its position and the sum of its donors' values, to which
    /// each is added by `add`, beginning with `none`.
    pub fn downstream(
        &self,
        values: &mut [f32],
        none: f32,
        own: impl Fn(usize, f32) -> f32,
        add: impl Fn(f32, f32) -> f32,
    ) {
        values.fill(none);
        let ends = self.levels.first().copied().unwrap_or(0);
        for (at, &receiver) in self.receivers.iter().enumerate().rev() {
            let value = own(at, values[at]);
            values[at] = value;
            if at >= ends {
                let sum = &mut values[receiver as usize];
                *sum = add(*sum, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::super::mesh::Mesh;
    use super::super::options::{Outlets, RoutingOptions};
    use super::super::tests::{terrain, terrains};
    use super::*;
    use crate::engine::heightfield::Heightfield;

    fn ordered(terrain: &Heightfield, outlets: Outlets) -> (Drainage, FlowOrder) {
        let progress = Progress::new();
        let mesh = Mesh::regular(terrain.grid());
        let mut drainage =
            Drainage::new(&mesh, RoutingOptions { outlets, sea_m: None }, &progress).expect("not cancelled");
        drainage.route(terrain, &progress).expect("not cancelled");
        let mut order = FlowOrder::default();
        order.update(&drainage, &progress).expect("not cancelled");
        (drainage, order)
    }

    #[test]
    fn a_row_is_visited_from_its_outlet_and_back() {
        // Walls at 9 m drain into a row that falls to the east.
        let (_, order) = ordered(&terrain(&[&[9.0; 3], &[3.0, 2.0, 1.0], &[9.0; 3]]), Outlets::Hollows);
        assert_eq!(order.areas()[0], 9, "the outlet drains everything");
        let mut steps = vec![0.0; 9];
        let count = |_, _, receiver: Option<f32>| receiver.map_or(0.0, |steps| steps + 1.0);
        order.upstream(&mut steps, 1, count, &Progress::new()).expect("not cancelled");
        assert_eq!(steps[..2], [0.0, 1.0]);
        assert!(steps.is_sorted(), "{steps:?}");
        let mut longest = vec![0.0; 9];
        order.downstream(&mut longest, 0.0, |_, donors| donors, |donors: f32, donor| donors.max(donor + 1.0));
        assert_eq!(longest[0], steps[8], "the longest path");
    }

    #[test]
    fn every_sample_comes_once_and_after_its_receiver() {
        for terrain in terrains() {
            for outlets in Outlets::ALL {
                let (drainage, order) = ordered(&terrain, *outlets);
                let samples = order.samples();
                assert_eq!(samples.len(), terrain.grid().samples(), "{outlets:?}");
                let mut position = vec![usize::MAX; drainage.padded_samples()];
                let areas = drainage.areas(&Progress::new()).expect("not cancelled");
                for (at, sample) in samples.iter().map(|sample| *sample as usize).enumerate() {
                    assert_eq!(position[sample], usize::MAX, "{outlets:?}");
                    position[sample] = at;
                    let receiver = drainage.receiver(sample).map_or(at, |(_, receiver)| position[receiver]);
                    assert_eq!(receiver, order.receivers[at] as usize, "{outlets:?}");
                    assert_eq!(order.areas()[at], areas[sample].load(Relaxed), "{outlets:?}");
                }
            }
        }
    }

    #[test]
    fn donors_are_added_in_the_order_of_the_neighbours() {
        // Sums of floating-point numbers depend on it.
        let terrain = terrain(&[&[3.0, 4.0, 3.0], &[5.0, 1.0, 5.0], &[3.0, 6.0, 3.0]]);
        let (drainage, order) = ordered(&terrain, Outlets::Hollows);
        let end = order.samples()[0] as usize;
        let positions: Vec<f32> = (0..9_u8).map(f32::from).collect();
        let listed = |sample: usize| order.samples().iter().position(|other| *other as usize == sample);
        let expected: Vec<usize> = drainage.donors(end).filter_map(listed).collect();
        let mut seen = Vec::new();
        let cell = std::cell::RefCell::new(&mut seen);
        let mut values = vec![0.0; 9];
        let own = |at: usize, _| {
            if order.receivers[at] == 0 && at > 0 {
                cell.borrow_mut().push(at);
            }
            positions[at]
        };
        order.downstream(&mut values, 0.0, own, |sum, _| sum);
        assert_eq!(seen, expected);
    }
}
