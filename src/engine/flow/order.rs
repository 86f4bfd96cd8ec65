//! Samples in the order of the flow, for drainage that is traversed several times.

use rayon::prelude::*;

use super::drainage::Drainage;
use crate::cast::ToInteger;
use crate::progress::{Cancelled, Progress};

/// The trunk ends before the level with which it would have one of so many samples.
const TRUNK: usize = 8;
/// Branches at most: more than most machines have threads, because their sizes differ.
const BRANCHES: usize = 32;
/// Samples whose donors are added at a time.
const CHUNK: usize = 1 << 10;

/// All samples, each after its receiver: breadth-first from the outlets (R. Barnes, "Accelerating a fluvial incision and
/// landscape evolution model with parallelism", Geomorphology 330, 2019).
///
/// Levels of this order have a few hundred samples, too few to share among threads. The levels nearest to the outlets are
/// the trunk; what drains to the trunk is divided into branches, which do not depend on each other. The division does not
/// depend on the number of threads.
///
/// Parts do not check for cancellation: the reference grids of erosion have at most 513² samples, which take a millisecond.
#[derive(Debug, Default)]
pub(crate) struct FlowOrder {
    trunk: FlowPart,
    branches: Vec<FlowPart>,
}

/// Samples in the order of the flow. Their receivers are among them, except for those of the first samples, the roots.
///
/// Values in this order are read and written nearly in sequence: those of the receivers of consecutive samples are
/// consecutive or equal, and so are those of the donors.
#[derive(Debug, Default)]
pub(crate) struct FlowPart {
    /// Indices in the padded maps. Those after the first `count` do not belong to the part.
    samples: Vec<u32>,
    /// For each, the position of its receiver in this part. For a root, that in the trunk; its own where flow ends.
    receivers: Vec<u32>,
    roots: usize,
    count: usize,
    /// For each, the number of samples that drain through it, including itself.
    areas: Vec<u32>,
}

impl FlowOrder {
    /// Peak memory in maps of f32: samples, receivers and areas, of which parts keep places for the largest step.
    pub const MAPS: f64 = 6.0;

    /// Sets the order to that of a drainage. After a cancellation, it must be set again.
    pub fn update(&mut self, drainage: &Drainage, progress: &Progress) -> Result<(), Cancelled> {
        let Self { trunk, branches } = self;
        trunk.begin(&drainage.ends, 0..drainage.ends.len().to_u32());
        let donors = trunk.follow(drainage, drainage.padded_samples() / TRUNK);
        progress.check()?;
        let (samples, receivers) = (&trunk.samples[donors.clone()], &trunk.receivers[donors.clone()]);
        let size = samples.len().div_ceil(BRANCHES).max(1);
        branches.resize_with(samples.len().div_ceil(size), FlowPart::default);
        let roots = samples.par_chunks(size).zip(receivers.par_chunks(size));
        branches.par_iter_mut().zip(roots).with_max_len(1).try_for_each(|(branch, (samples, receivers))| {
            branch.begin(samples, receivers.iter().copied());
            branch.follow(drainage, usize::MAX);
            branch.add_areas();
            progress.check()
        })?;
        trunk.count = donors.start;
        trunk.areas.resize(trunk.count, 1);
        for branch in &*branches {
            branch.combine_roots(&branch.areas, &mut trunk.areas, |area, of_root| area + of_root);
        }
        trunk.add_areas();
        progress.check()
    }

    /// The samples nearest to the outlets; the outlets come first, in the order of [`Drainage::ends`].
    pub fn trunk(&self) -> &FlowPart {
        &self.trunk
    }

    /// The samples that drain to the trunk.
    pub fn branches(&self) -> &[FlowPart] {
        &self.branches
    }
}

impl FlowPart {
    /// Begins with roots that have the given receivers.
    fn begin(&mut self, roots: &[u32], receivers: impl Iterator<Item = u32>) {
        self.reserve(roots.len());
        self.samples[..roots.len()].copy_from_slice(roots);
        self.receivers.iter_mut().zip(receivers).for_each(|(place, receiver)| *place = receiver);
        (self.roots, self.count) = (roots.len(), roots.len());
        self.areas.clear();
    }

    fn reserve(&mut self, places: usize) {
        if self.samples.len() < places {
            self.samples.resize(places, 0);
            self.receivers.resize(places, 0);
        }
    }

    /// Adds the samples upstream, level by level, until there are `limit` samples. Returns the positions of the last level,
    /// whose donors have not been added.
    fn follow(&mut self, drainage: &Drainage, limit: usize) -> std::ops::Range<usize> {
        let [mut begin, mut end] = [0, self.count];
        while begin < end && (begin == 0 || end < limit) {
            let level = begin..end;
            for at in level.clone() {
                if (at - begin).is_multiple_of(CHUNK) {
                    // The last sample writes up to eight places beyond the end.
                    self.reserve((end + 8 * CHUNK).min(drainage.padded_samples()) + 8);
                }
                let sample = self.samples[at];
                self.receivers[end..end + 8].fill(at.to_u32());
                let donors = drainage.donors[sample as usize];
                end += drainage.donor_offsets.list(sample, donors, &mut self.samples[end..end + 8]);
            }
            begin = level.end;
        }
        self.count = end;
        begin..end
    }

    /// Adds the samples upstream to the areas, of which those of the roots of other parts are there already.
    fn add_areas(&mut self) {
        self.areas.resize(self.count, 1);
        for at in (self.roots..self.count).rev() {
            self.areas[self.receivers[at] as usize] += self.areas[at];
        }
    }

    /// The indices of the samples in the padded maps.
    pub fn samples(&self) -> &[u32] {
        &self.samples[..self.count]
    }

    /// The number of samples that drain through each sample, including itself.
    pub fn areas(&self) -> &[u32] {
        &self.areas
    }

    /// Sets the value of each sample, receivers first: `value` gets its position, the value that it has and the new one of
    /// its receiver. `of_receiver` returns that of a root, given the position in the trunk; `None` where flow ends, which
    /// keeps its value. `values` has one place per sample.
    pub fn propagate_upstream(
        &self,
        values: &mut [f32],
        of_receiver: impl Fn(usize) -> Option<f32>,
        value: impl Fn(usize, f32, f32) -> f32,
    ) {
        let (roots, others) = self.receivers[..self.count].split_at(self.roots);
        for (at, (own, receiver)) in values.iter_mut().zip(roots).enumerate() {
            if let Some(of_receiver) = of_receiver(*receiver as usize) {
                *own = value(at, *own, of_receiver);
            }
        }
        for (at, receiver) in (self.roots..).zip(others) {
            let of_receiver = values[*receiver as usize];
            values[at] = value(at, values[at], of_receiver);
        }
    }

    /// Sets the value of each sample, donors first: `finish` gets its position and the combined values of its donors, and
    /// `combine` adds a donor to what the receiver has, in the order of [`super::grid::donors`]. `values` has one place per
    /// sample, with the value of a sample without donors in this part. The number of samples upstream, for example, is
    /// `accumulate_downstream(&mut zeros, |_, donors| donors + 1.0, |sum, donor| sum + donor)`.
    pub fn accumulate_downstream(
        &self,
        values: &mut [f32],
        finish: impl Fn(usize, f32) -> f32,
        combine: impl Fn(f32, f32) -> f32,
    ) {
        for at in (0..self.count).rev() {
            let value = finish(at, values[at]);
            values[at] = value;
            if at >= self.roots {
                let combined = &mut values[self.receivers[at] as usize];
                *combined = combine(*combined, value);
            }
        }
    }

    /// Combines the values of the roots with those of their receivers in the trunk, as in [`Self::accumulate_downstream`]. The
    /// last branch comes first.
    pub fn combine_roots<T: Copy>(&self, values: &[T], of_trunk: &mut [T], combine: impl Fn(T, T) -> T) {
        for (value, receiver) in values[..self.roots].iter().zip(&self.receivers).rev() {
            let combined = &mut of_trunk[*receiver as usize];
            *combined = combine(*combined, *value);
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

    /// The values that propagate upstream from `at_ends`, by sample of the padded map: `value` gets that of the receiver.
    fn propagated(drainage: &Drainage, order: &FlowOrder, at_ends: f32, value: impl Fn(f32) -> f32) -> Vec<f32> {
        let mut map = vec![f32::NAN; drainage.padded_samples()];
        let mut of_part = |part: &FlowPart, of_receiver: &dyn Fn(usize) -> Option<f32>| {
            let mut values = vec![at_ends; part.count];
            part.propagate_upstream(&mut values, of_receiver, |_, _, of_receiver| value(of_receiver));
            part.samples().iter().zip(&values).for_each(|(sample, value)| map[*sample as usize] = *value);
            values
        };
        let of_trunk = of_part(&order.trunk, &|_| None);
        for branch in order.branches() {
            of_part(branch, &|receiver| Some(of_trunk[receiver]));
        }
        map
    }

    /// The values that accumulate downstream to the samples of the trunk, from `initial`: `finish` gets a sample.
    fn accumulated(
        order: &FlowOrder,
        initial: f32,
        finish: impl Fn(u32, f32) -> f32,
        combine: impl Fn(f32, f32) -> f32,
    ) -> Vec<f32> {
        let mut of_trunk = vec![initial; order.trunk.count];
        for branch in order.branches().iter().rev() {
            let mut values = vec![initial; branch.count];
            branch.accumulate_downstream(&mut values, |at, donors| finish(branch.samples[at], donors), &combine);
            branch.combine_roots(&values, &mut of_trunk, &combine);
        }
        order.trunk.accumulate_downstream(
            &mut of_trunk,
            |at, donors| finish(order.trunk.samples[at], donors),
            &combine,
        );
        of_trunk
    }

    #[test]
    fn a_row_is_visited_from_its_outlet_and_back() {
        // Walls at 9 m drain into a row that falls to the east.
        let (drainage, order) = ordered(&terrain(&[&[9.0; 3], &[3.0, 2.0, 1.0], &[9.0; 3]]), Outlets::Hollows);
        assert!(order.trunk.count < 9);
        assert_eq!(order.trunk.areas()[0], 9, "the outlet drains everything");
        let steps = propagated(&drainage, &order, 0.0, |steps| steps + 1.0);
        let row: Vec<f32> = (11..14).map(|sample| steps[sample]).collect();
        assert_eq!(row, [2.0, 1.0, 0.0]);
        let longest = accumulated(&order, 0.0, |_, donors| donors, |donors, donor| donors.max(donor + 1.0));
        assert_eq!(longest[0], 3.0, "the longest path");
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

    const WORLD: Extent = Extent { width_m: 30.0, depth_m: 20.0 };

    fn check_order(drainage: &Drainage, order: &FlowOrder, grid: Grid) {
        let areas = drainage.areas(&Progress::new()).expect("not cancelled");
        let mut visited = vec![false; drainage.padded_samples()];
        for part in std::iter::once(&order.trunk).chain(order.branches()) {
            assert_eq!(part.areas.len(), part.count);
            for (at, sample) in part.samples().iter().map(|sample| *sample as usize).enumerate() {
                assert!(!std::mem::replace(&mut visited[sample], true));
                assert_eq!(part.areas[at], areas[sample].load(Relaxed));
                let receiver = drainage.receiver(sample).map(|(_, receiver)| receiver as u32);
                let position = part.receivers[at] as usize;
                let found = match (at < part.roots, std::ptr::eq(part, &order.trunk)) {
                    (true, true) => {
                        assert_eq!(position, at);
                        None
                    }
                    (true, false) => Some(order.trunk.samples[position]),
                    (false, _) => {
                        assert!(position < at);
                        Some(part.samples[position])
                    }
                };
                assert_eq!(found, receiver);
            }
        }
        assert_eq!(visited.into_iter().filter(|visited| *visited).count(), grid.samples());
    }

    #[test]
    fn large_terrain_has_branches_with_most_of_its_samples() {
        let progress = Progress::new();
        let grid = Grid::new(WORLD, 129, 97);
        let cone = Heightfield::from_fn(grid, |c, r| ((c * c + r * r) as f32).sqrt());
        let mesh = Mesh::new(grid, 0, 1.0, &progress).expect("not cancelled");
        let options = RoutingOptions { outlets: Outlets::Hollows, sea_m: None };
        let (drainage, order) = ordered_on(&mesh, &cone, options);
        check_order(&drainage, &order, grid);
        let roots: usize = order.branches.iter().map(|branch| branch.roots).sum();
        let limit = drainage.padded_samples() / TRUNK;
        assert!(order.trunk.count < limit && order.trunk.count + roots >= limit);
        assert!((BRANCHES / 2..=BRANCHES).contains(&order.branches.len()));
    }

    #[test]
    fn an_order_can_be_set_again() {
        let progress = Progress::new();
        let grid = Grid::new(WORLD, 61, 47);
        let mesh = Mesh::new(grid, 0, 1.0, &progress).expect("not cancelled");
        let options = RoutingOptions { outlets: Outlets::Hollows, sea_m: Some(4.0) };
        let mut drainage = Drainage::new(&mesh, options, &progress).expect("not cancelled");
        let mut order = FlowOrder::default();
        // Below the sea, every sample is an outlet.
        let heights: [fn(usize, usize) -> usize; 4] =
            [|c, r| 9 + c * r % 31, |c, r| c + 2 * r, |_, _| 3, |c, r| 200 - c - r];
        for height in heights {
            let terrain = Heightfield::from_fn(grid, |c, r| height(c, r) as f32);
            drainage.route(&terrain, &progress).expect("not cancelled");
            order.update(&drainage, &progress).expect("not cancelled");
            check_order(&drainage, &order, grid);
        }
    }

    #[test]
    fn donors_are_combined_in_the_order_of_the_neighbours() {
        // Sums of floating-point numbers depend on it. The centre drains to the corner, and all others to the centre.
        let terrain = terrain(&[&[2.0, 4.0, 3.0], &[5.0, 1.0, 5.0], &[3.0, 6.0, 3.0]]);
        let (drainage, order) = ordered(&terrain, Outlets::Hollows);
        assert_eq!((order.trunk.count, order.branches.len()), (2, 7));
        let centre = order.trunk.samples[1] as usize;
        let expected: Vec<f32> = drainage.donors(centre).map(|donor| donor as f32).collect();
        assert_eq!(expected.len(), 7);
        let seen = std::cell::RefCell::new(Vec::new());
        let combine = |_, donor: f32| {
            seen.borrow_mut().push(donor);
            0.0
        };
        accumulated(&order, 0.0, |sample, _| sample as f32, combine);
        assert_eq!(seen.into_inner()[..7], expected);
    }
}
