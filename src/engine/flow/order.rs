//! Samples in the order of the flow, for drainage that is traversed several times.

use rayon::prelude::*;

use super::drainage::Drainage;
use crate::cast::ToInteger;
use crate::progress::{Cancelled, Progress};

/// Samples that a thread visits between two checks for cancellation.
const CHUNK: usize = 1 << 11;

/// All samples, each after its receiver: breadth-first from the outlets, level by level (R. Barnes, "Accelerating a
/// fluvial incision and landscape evolution model with parallelism", Geomorphology 330, 2019).
///
/// Values in this order are read and written nearly in sequence: those of the receivers of consecutive samples are
/// consecutive or equal, and so are those of the donors. One thread therefore takes less time on a grid that fits into its
/// cache than several do that follow the trees on the grid. Samples of a level do not depend on each other.
///
/// Passes of one thread over all samples do not check for cancellation: the reference grids of erosion have at most 513²
/// samples, which take a millisecond.
#[derive(Debug, Default)]
pub(crate) struct FlowOrder {
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
    /// Peak memory in maps of f32.
    pub const MAPS: f64 = 3.0;

    /// Sets the order to that of a drainage.
    pub fn update(&mut self, drainage: &Drainage, progress: &Progress) -> Result<(), Cancelled> {
        let Self { samples, receivers, levels, areas } = self;
        // The last samples write up to eight places beyond the end.
        let places = drainage.padded_samples() + 8;
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
                let donors = drainage.donors[sample as usize];
                end += drainage.donor_offsets.list(sample, donors, &mut samples[end..end + 8]);
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

    /// Sets the value of each sample, receivers first: `value` gets its position, the value that it has and the new one of
    /// its receiver, `None` where flow ends. Levels of at least `min_shared` samples are shared among threads. `values` has
    /// one place per sample.
    pub fn propagate_upstream(
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
            let set = |first: usize, values: &mut [f32], receivers: &[u32]| {
                for (at, (own, receiver)) in (begin + first..).zip(values.iter_mut().zip(receivers)) {
                    *own = value(at, *own, (level > 0).then(|| below[*receiver as usize]));
                }
                progress.check()
            };
            if end - begin < min_shared {
                for (i, (values, receivers)) in here.chunks_mut(CHUNK).zip(receivers.chunks(CHUNK)).enumerate() {
                    set(i * CHUNK, values, receivers)?;
                }
            } else {
                let size = (min_shared / 4).clamp(1, CHUNK);
                let chunks = here.par_chunks_mut(size).zip(receivers.par_chunks(size)).enumerate();
                chunks.try_for_each(|(i, (values, receivers))| set(i * size, values, receivers))?;
            }
            begin = end;
        }
        Ok(())
    }

    /// Sets the value of each sample, donors first: `finish` gets its position and the combined values of its donors. The
    /// combination begins with `initial`, and `combine` adds a donor to it, in the order of [`super::grid::donors`].
    /// `values` has one place per sample. The number of samples upstream, for example, is
    /// `accumulate_downstream(&mut counts, 0.0, |_, donors| donors + 1.0, |sum, donor| sum + donor)`.
    pub fn accumulate_downstream(
        &self,
        values: &mut [f32],
        initial: f32,
        finish: impl Fn(usize, f32) -> f32,
        combine: impl Fn(f32, f32) -> f32,
    ) {
        values.fill(initial);
        let ends = self.levels.first().copied().unwrap_or(0);
        for (at, &receiver) in self.receivers.iter().enumerate().rev() {
            let value = finish(at, values[at]);
            values[at] = value;
            if at >= ends {
                let combined = &mut values[receiver as usize];
                *combined = combine(*combined, value);
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
    use crate::heightfield::{Extent, Grid, Heightfield};

    fn ordered(terrain: &Heightfield, outlets: Outlets) -> (Drainage, FlowOrder) {
        ordered_on(&Mesh::regular(terrain.grid()), terrain, RoutingOptions { outlets, sea_m: None })
    }

    fn ordered_on(mesh: &Mesh, terrain: &Heightfield, options: RoutingOptions) -> (Drainage, FlowOrder) {
        let progress = Progress::new();
        let mut drainage = Drainage::new(mesh, options, &progress).expect("not cancelled");
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
        order.propagate_upstream(&mut steps, 1, count, &Progress::new()).expect("not cancelled");
        assert_eq!(steps[..2], [0.0, 1.0]);
        assert!(steps.is_sorted(), "{steps:?}");
        let mut longest = vec![0.0; 9];
        order.accumulate_downstream(&mut longest, 0.0, |_, donors| donors, |donors, donor| donors.max(donor + 1.0));
        assert_eq!(longest[0], steps[8], "the longest path");
    }

    #[test]
    fn every_sample_comes_once_and_after_its_receiver() {
        let progress = Progress::new();
        let smallest = [[2, 2], [2, 3], [3, 3]].map(|[width, height]| {
            Heightfield::from_fn(Grid::new(WORLD, width, height), |c, r| ((3 * c + 5 * r) % 7) as f32)
        });
        for terrain in terrains().into_iter().chain(smallest) {
            let irregular = Mesh::new(terrain.grid(), 0, 1.0, &progress).expect("not cancelled");
            for mesh in [Mesh::regular(terrain.grid()), irregular] {
                for outlets in Outlets::ALL {
                    for sea_m in [None, Some(2.5)] {
                        let options = RoutingOptions { outlets: *outlets, sea_m };
                        let (drainage, order) = ordered_on(&mesh, &terrain, options);
                        check_order(&drainage, &order, terrain.grid());
                    }
                }
            }
        }
    }

    #[test]
    fn the_lowest_pits_are_the_lowest_heights_upstream_of_the_ends() {
        let progress = Progress::new();
        for terrain in terrains() {
            let irregular = Mesh::new(terrain.grid(), 0, 1.0, &progress).expect("not cancelled");
            for mesh in [Mesh::regular(terrain.grid()), irregular] {
                for (outlets, sea_m) in
                    Outlets::ALL.iter().flat_map(|outlets| [(*outlets, None), (*outlets, Some(2.5))])
                {
                    let (drainage, order) = ordered_on(&mesh, &terrain, RoutingOptions { outlets, sea_m });
                    let height_m = |at: usize| drainage.height_m(order.samples()[at] as usize);
                    let mut expected = vec![0.0; order.samples().len()];
                    order.accumulate_downstream(
                        &mut expected,
                        f32::INFINITY,
                        |at, donors_m: f32| donors_m.min(height_m(at)),
                        f32::min,
                    );
                    let mut lowest: Vec<f32> = (0..drainage.ends().len()).map(height_m).collect();
                    for (end, pit_m) in drainage.lowest_pits() {
                        lowest[end] = lowest[end].min(pit_m);
                    }
                    assert_eq!(lowest, expected[..lowest.len()], "{outlets:?}, {sea_m:?}");
                }
            }
        }
    }

    const WORLD: Extent = Extent { width_m: 30.0, depth_m: 20.0 };

    fn check_order(drainage: &Drainage, order: &FlowOrder, grid: Grid) {
        let samples = order.samples();
        assert_eq!(samples.len(), grid.samples());
        let mut position = vec![usize::MAX; drainage.padded_samples()];
        let areas = drainage.areas(&Progress::new()).expect("not cancelled");
        for (at, sample) in samples.iter().map(|sample| *sample as usize).enumerate() {
            assert_eq!(position[sample], usize::MAX);
            position[sample] = at;
            let receiver = drainage.receiver(sample).map_or(at, |(_, receiver)| position[receiver]);
            assert_eq!(receiver, order.receivers[at] as usize);
            assert_eq!(order.areas()[at], areas[sample].load(Relaxed));
        }
    }

    #[test]
    fn donors_are_combined_in_the_order_of_the_neighbours() {
        // Sums of floating-point numbers depend on it. The centre drains to the corner, and all others to the centre.
        let terrain = terrain(&[&[2.0, 4.0, 3.0], &[5.0, 1.0, 5.0], &[3.0, 6.0, 3.0]]);
        let (drainage, order) = ordered(&terrain, Outlets::Hollows);
        let centre = order.samples()[1] as usize;
        let listed = |sample: usize| order.samples().iter().position(|other| *other as usize == sample);
        let expected: Vec<f32> = drainage.donors(centre).filter_map(listed).map(|at| at as f32).collect();
        assert_eq!(expected.len(), 7);
        let seen = std::cell::RefCell::new(Vec::new());
        let combine = |_, donor: f32| {
            seen.borrow_mut().push(donor);
            0.0
        };
        order.accumulate_downstream(&mut [0.0; 9], 0.0, |at, _| at as f32, combine);
        assert_eq!(seen.into_inner()[..7], expected);
    }
}
