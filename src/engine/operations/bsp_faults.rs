//! Fault formation by binary space partition: every iteration cuts the terrain into ever smaller pieces, each cut half
//! as high as the one before.
//!
//! After C. Traagen's HoloLens terrain generation demo, part 4.

use std::f64::consts::FRAC_PI_4;
use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::bsp_tree::GridTree;
use super::fault_erosion::{FaultErosion, FaultRivers, FaultSource};
use super::fault_sequence::{FaultSequence, Segment, Tree};
use super::faults::PointPair;
use super::operation::{AccumulatedHeights, EvalContext, Keyframe, KeyframeSink, Operation, TerrainOnGrid};
use super::recursive_filter::RecursiveFilter;
use super::stream_power_refinement::StreamPowerRefinement;
use crate::cast::ToFloat;
use crate::fault::{FixedHeights, column_positions, quantized_displacement, to_exact_metres, to_metres};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::parameters::{Spec, choices, parameters};
use crate::progress::{Cancelled, Progress};
use crate::random::{Rng, Stream};
use crate::rock::RockChange;

choices! {
    /// How the faults of a tree are arranged.
    pub enum Layout {
        /// Each fault starts roughly at a right angle to its parent and ends where it meets another. Makes blocks and
        /// valleys.
        Structured = "structured", "Structured";
        /// Every fault is placed at random. Makes long straight cliffs in every direction.
        Unstructured = "unstructured", "Unstructured";
    }
}

parameters! {
    /// Builds terrain from trees of faults. Each fault divides the terrain, and each part is divided again by a fault
    /// half as high.
    pub struct BspFaults {
        /// Number of trees, one per iteration. Few trees give distinct blocks; many give rugged detail.
        count: u32 = 100, Spec::number("Count", 0.0, 10_000.0).slider(1.0, 1000.0).logarithmic();
        /// Levels of each tree. 1 is a single fault; every further level halves the blocks and their cliffs.
        depth: u32 = 5, Spec::number("Depth", 1.0, 8.0).unit("levels");
        /// Height by which the first fault of a tree raises one side and lowers the other. Each further level moves
        /// half as far as the one before.
        displacement_m: f64 = 15.0,
            Spec::number("Displacement", 0.0, 10_000.0).slider(0.1, 500.0).unit("m").logarithmic()
                .both_sides("layout", &["structured", "unstructured"]);
        /// How the faults of a tree are arranged.
        layout: Layout = Layout::Structured, Spec::new("Layout");
        /// Fades the displacement towards the border of the map, which makes an island on level terrain.
        edge_fade: bool = false, Spec::new("Edge fade");
        /// Lowest height of what this step builds, before it is combined with the terrain below. Leaves wide plains
        /// between the highlands. Off: no floor.
        floor_m: Option<f64> = None, Spec::number("Floor", -100_000.0, 100_000.0).slider(-500.0, 500.0).unit("m");
        /// Directional smoothing that runs after every tree, so that old faults are smoother than recent ones.
        wind: Option<RecursiveFilter> = Some(RecursiveFilter { k: 0.2, ..Default::default() }),
            Spec::new("Progressive smoothing");
        /// Rivers that cut valleys every few trees, so that the range grows together with its valleys.
        rivers: Option<FaultRivers> = None, Spec::new("Rivers");
    }
}

/// Pairs of points tried before one that is too close is accepted. A pair is rejected once in 32 draws.
const MAX_PAIRS: u32 = 64;

impl BspFaults {
    /// The tree of iteration i = 1…n, generated independently of the others.
    fn tree(&self, i: u32, extent: Extent, stream: Stream) -> Tree {
        let mut rng = stream.at(u64::from(i));
        let count = (1_usize << self.depth) - 1;
        // Quantized at the lowest level, so that halving is exact at every level.
        let halvings = f64::from(1_u32 << (self.depth - 1));
        Tree {
            nodes: match self.layout {
                Layout::Structured => structured(count, extent, &mut rng),
                Layout::Unstructured => (0..count).map(|_| random_segment(extent, &mut rng)).collect(),
            },
            displacement_m: quantized_displacement(self.displacement_m / halvings) * halvings,
        }
    }
}

/// A segment between two random points that are not too close.
fn random_segment(extent: Extent, rng: &mut Rng) -> Segment {
    let mut pair = PointPair::random(extent, rng);
    for _ in 1..MAX_PAIRS {
        if !pair.too_close(extent) {
            break;
        }
        pair = PointPair::random(extent, rng);
    }
    Segment { from_m: pair.from_m, to_m: pair.to_m }
}

/// A line with its unit direction, which cannot be computed precisely from a very short segment.
#[derive(Clone, Copy, Debug)]
struct Ray {
    from_m: [f64; 2],
    along: [f64; 2],
}

impl Ray {
    /// The distance along the ray to the border of the map and the point there, whose coordinate across the border is
    /// exact.
    fn border(&self, extent: Extent) -> (f64, [f64; 2]) {
        let size = [extent.width_m, extent.depth_m];
        let wall = |axis: usize| if self.along[axis] > 0.0 { size[axis] } else { 0.0 };
        let until = |axis: usize| match self.along[axis] {
            0.0 => f64::INFINITY,
            along => (wall(axis) - self.from_m[axis]) / along,
        };
        let axis = usize::from(until(1) < until(0));
        let mut end = self.at(until(axis), extent);
        end[axis] = wall(axis);
        (until(axis), end)
    }

    /// The distance along the ray to an infinite line; infinite if the ray does not approach it.
    fn meets(&self, line: &Ray, from_right: bool) -> f64 {
        let side = if from_right { 1.0 } else { -1.0 };
        let normal = [-line.along[1] * side, line.along[0] * side];
        let from_line = [self.from_m[0] - line.from_m[0], self.from_m[1] - line.from_m[1]];
        let distance = from_line[0] * normal[0] + from_line[1] * normal[1];
        let approach = -(self.along[0] * normal[0] + self.along[1] * normal[1]);
        if approach > 0.0 { distance.max(0.0) / approach } else { f64::INFINITY }
    }

    fn at(&self, distance_m: f64, extent: Extent) -> [f64; 2] {
        let along = |axis: usize| self.from_m[axis] + distance_m * self.along[axis];
        [along(0).clamp(0.0, extent.width_m), along(1).clamp(0.0, extent.depth_m)]
    }
}

/// Segments that each start in the middle half of their parent, leave it within 45° of a right angle, and end where
/// they first meet the border or another ancestor.
///
/// The root's segment runs from border to border, no matter how close its two defining points are. Every piece of the
/// map is therefore bounded by ancestors' segments and the border only, so meeting an ancestor's segment is equivalent
/// to meeting its line.
fn structured(count: usize, extent: Extent, rng: &mut Rng) -> Vec<Segment> {
    let pair = random_segment(extent, rng);
    let along = [pair.to_m[0] - pair.from_m[0], pair.to_m[1] - pair.from_m[1]];
    let length = libm::hypot(along[0], along[1]);
    let along = along.map(|part| part / length);
    let (_, from_m) = Ray { from_m: pair.from_m, along: along.map(|part| -part) }.border(extent);
    let (_, to_m) = Ray { from_m: pair.from_m, along }.border(extent);
    let mut rays = vec![Ray { from_m, along }];
    let mut segments = vec![Segment { from_m, to_m }];
    for node in 1..count {
        let parent = (node - 1) / 2;
        let (place, turn) = (rng.between(0.25, 0.75), rng.between(-FRAC_PI_4, FRAC_PI_4));
        let Segment { from_m, to_m } = segments[parent];
        let start = [0, 1].map(|axis| from_m[axis] + place * (to_m[axis] - from_m[axis]));
        let [x, z] = rays[parent].along;
        let across = if is_right(node) { [-z, x] } else { [z, -x] };
        let (sin, cos) = (libm::sin(turn), libm::cos(turn));
        let along = [across[0] * cos - across[1] * sin, across[0] * sin + across[1] * cos];
        let ray = Ray { from_m: start, along };

        let (mut distance_m, mut end) = ray.border(extent);
        let mut branch = parent;
        while branch > 0 {
            let ancestor = (branch - 1) / 2;
            let met = ray.meets(&rays[ancestor], is_right(branch));
            if met < distance_m {
                (distance_m, end) = (met, ray.at(met, extent));
            }
            branch = ancestor;
        }
        rays.push(ray);
        segments.push(Segment { from_m: start, to_m: end });
    }
    segments
}

fn is_right(node: usize) -> bool {
    node.is_multiple_of(2)
}

/// F = min(1, 4·Fx·Fz) with Fx = 1 − |Lx/2 − x|/(Lx/2), and Fz likewise: 0 at the border, 1 in the middle.
#[derive(Debug)]
struct Fade {
    along_x: Vec<f64>,
    along_z: Vec<f64>,
}

impl Fade {
    fn new(grid: &Grid) -> Self {
        let towards_border = |m: f64, size_m: f64| 1.0 - (0.5 * size_m - m).abs() / (0.5 * size_m);
        let Extent { width_m, depth_m } = grid.extent();
        Self {
            along_x: (0..grid.width()).map(|c| towards_border(grid.x_m(c), width_m)).collect(),
            along_z: (0..grid.height()).map(|r| towards_border(grid.z_m(r), depth_m)).collect(),
        }
    }

    fn at(&self, c: usize, r: usize) -> f64 {
        (4.0 * self.along_x[c] * self.along_z[r]).min(1.0)
    }
}

/// Trees between two checks for cancellation.
const CHECK_EVERY: usize = 16;

impl BspFaults {
    /// Adds trees to the exact heights (`fixed`, or zero) or subtracts them, and returns the resulting terrain.
    fn sum_of_trees(
        &self,
        context: &EvalContext,
        trees: RangeInclusive<u32>,
        subtract: bool,
        fixed: Option<&mut FixedHeights>,
    ) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let cutter = |i| GridTree::new(&self.tree(i, grid.extent(), context.stream), &grid);
        let cutters: Result<Vec<GridTree>, Cancelled> =
            trees.into_par_iter().map(|i| progress.check().map(|()| cutter(i))).collect();
        let cutters = cutters?;
        let sign = if subtract { -1 } else { 1 };
        let xs = column_positions(&grid);
        let fade = self.edge_fade.then(|| Fade::new(&grid));
        let mut terrain = Heightfield::flat(grid);
        let counter = progress.counter(grid.height());
        let rows =
            terrain.heights_mut().par_chunks_mut(grid.width()).zip(FixedHeights::rows_mut(fixed, grid)).enumerate();
        rows.try_for_each_init(
            || vec![0_i64; grid.width() + 1],
            |differences, (r, (heights, fixed))| {
                let z = grid.z_m(r);
                for (i, cutter) in cutters.iter().enumerate() {
                    if i % CHECK_EVERY == 0 {
                        progress.check()?;
                    }
                    cutter.row(z, &xs, &mut |span, units| {
                        differences[span.start] += sign * units;
                        differences[span.end] -= sign * units;
                    });
                }
                let mut running = 0;
                let (lifts, end) = differences.split_at_mut(grid.width());
                for lift in &mut *lifts {
                    running += *lift;
                    *lift = running;
                }
                if let Some(fixed) = fixed {
                    lifts.iter_mut().zip(&*fixed).for_each(|(lift, sum)| *lift += sum);
                    fixed.copy_from_slice(lifts);
                }
                for (c, (height, units)) in heights.iter_mut().zip(&*lifts).enumerate() {
                    *height = match &fade {
                        None => to_metres(*units),
                        Some(fade) => (to_exact_metres(*units) * fade.at(c, r)).to_f32(),
                    };
                }
                lifts.fill(0);
                end.fill(0);
                counter.add_one()
            },
        )?;
        Ok(terrain)
    }
}

/// Adds one tree to the terrain, in f32, and keeps it above the floor.
fn add_tree(
    terrain: &mut Heightfield,
    tree: &Tree,
    xs: &[f64],
    fade: Option<&Fade>,
    floor_m: Option<f64>,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let grid = terrain.grid();
    let cutter = GridTree::new(tree, &grid);
    let floor = floor_m.map_or(f32::NEG_INFINITY, |floor_m| floor_m.to_f32());
    let rows = terrain.heights_mut().par_chunks_mut(grid.width()).enumerate().with_min_len(32);
    rows.try_for_each(|(r, heights)| {
        cutter.row(grid.z_m(r), xs, &mut |span, units| match fade {
            None => {
                let lift = to_metres(units);
                heights[span].iter_mut().for_each(|height| *height = (*height + lift).max(floor));
            }
            Some(fade) => {
                let lift = to_exact_metres(units);
                for (height, c) in heights[span.clone()].iter_mut().zip(span) {
                    *height = (*height + (lift * fade.at(c, r)).to_f32()).max(floor);
                }
            }
        });
        progress.check()
    })
}

impl BspFaults {
    fn erosion(&self) -> FaultErosion<'_> {
        FaultErosion {
            faults: self,
            count: self.count,
            wind: self.wind.as_ref(),
            rivers: self.rivers.as_ref(),
            floor_m: self.floor_m,
        }
    }
}

impl FaultSource for BspFaults {
    fn add_to(&self, terrain: &mut Heightfield, fault: u32, context: &EvalContext) -> Result<(), Cancelled> {
        let grid = terrain.grid();
        let fade = self.edge_fade.then(|| Fade::new(&grid));
        let tree = self.tree(fault, grid.extent(), context.stream);
        add_tree(terrain, &tree, &column_positions(&grid), fade.as_ref(), self.floor_m, context.progress)
    }

    fn sum(&self, faults: RangeInclusive<u32>, context: &EvalContext) -> Result<Heightfield, Cancelled> {
        if self.floor_m.is_none() {
            return self.sum_of_trees(context, faults, false, None);
        }
        let mut terrain = Heightfield::flat(context.grid);
        faults.into_iter().try_for_each(|fault| self.add_to(&mut terrain, fault, context))?;
        Ok(terrain)
    }
}

impl Operation for BspFaults {
    const KEY: &'static str = "bsp_faults";
    const LABEL: &'static str = "BSP faults";
    const WORDS: &'static str = "block plateau mesa badlands";

    fn uses_seed(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        self.floor_m.is_some() || self.erosion().is_active()
    }

    fn is_pointwise(&self) -> bool {
        !self.erosion().is_active()
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        self.erosion().working_grid(grid)
    }

    fn has_own_points(&self) -> bool {
        self.erosion().has_own_points()
    }

    fn upsamples_parts(&self, grid: Grid) -> bool {
        self.erosion().upsamples_parts(grid)
    }

    fn drained_above_m(&self, until: u32) -> Option<f64> {
        self.erosion().drained_above_m(until)
    }

    fn keyframe_interval(&self) -> u32 {
        self.erosion().keyframe_interval()
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        self.erosion().preview_grid(grid)
    }

    fn faults_from(&self, first: u32, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
        Some(FaultSequence::Trees(Box::new((first.max(1)..=self.count).map(move |i| self.tree(i, extent, stream)))))
    }

    fn peak_maps(&self, grid: Grid) -> f64 {
        self.erosion().peak_maps(grid)
    }

    fn upsample_peak_maps(&self, grid: Grid) -> f64 {
        StreamPowerRefinement::peak_maps(self.working_grid(grid), grid)
    }

    fn accumulate(
        &self,
        context: &EvalContext,
        until: u32,
        from: Option<(u32, FixedHeights)>,
    ) -> Option<AccumulatedHeights> {
        (!self.is_resumable()).then(|| {
            let (done, mut fixed) = from.unwrap_or_else(|| (0, FixedHeights::flat(context.grid)));
            let between = done.min(until) + 1..=done.max(until);
            Ok((self.sum_of_trees(context, between, until < done, Some(&mut fixed))?, fixed))
        })
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        if !self.is_resumable() {
            return self.sum_of_trees(context, 1..=until, false, None);
        }
        self.erosion().evaluate(context, until, resume, &mut KeyframeSink::none())
    }

    fn evaluate_with_keyframes(
        &self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        self.erosion().evaluate(context, until, resume, keyframes)
    }

    fn rock_change(
        &self,
        context: &EvalContext,
        until: u32,
        _below: &TerrainOnGrid,
        sediment_m: &Heightfield,
    ) -> Result<Option<RockChange>, Cancelled> {
        self.erosion().rock_change(context, until, sediment_m)
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        self.erosion().upsample(terrain, context, until)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_subset, evaluated, resumed, stream};
    use super::*;
    use crate::inputs::Inputs;
    use crate::progress::Progress;

    const SQUARE: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };
    const OBLONG: Extent = Extent { width_m: 9000.0, depth_m: 700.0 };

    /// The uplift at a point by the plain walk from the root to a leaf, metres.
    fn uplift_m(tree: &Tree, x: f64, z: f64) -> f64 {
        let (mut node, mut amplitude, mut lift) = (Some(0), tree.displacement_m, 0.0);
        while let Some(at) = node {
            let Segment { from_m: [px, pz], to_m: [qx, qz] } = tree.nodes[at];
            let [left, right] = tree.children(at);
            let is_right = (x - px) * (pz - qz) + (z - pz) * (qx - px) >= 0.0;
            lift += if is_right { amplitude } else { -amplitude };
            node = if is_right { right } else { left };
            amplitude /= 2.0;
        }
        lift
    }

    fn segment(from_m: [f64; 2], to_m: [f64; 2]) -> Segment {
        Segment { from_m, to_m }
    }

    #[test]
    fn a_tree_matches_values_computed_by_hand() {
        // Root: north through the middle, so east goes up. Children: east in the west (south goes up) and south in the
        // east (west goes up).
        let tree = Tree {
            nodes: vec![
                segment([2.0, 4.0], [2.0, 0.0]),
                segment([0.0, 1.5], [2.0, 1.5]),
                segment([3.5, 0.0], [3.5, 4.0]),
            ],
            displacement_m: 4.0,
        };
        let grid = Grid::new(Extent { width_m: 4.0, depth_m: 4.0 }, 5, 5);
        let mut terrain = Heightfield::flat(grid);
        add_tree(&mut terrain, &tree, &column_positions(&grid), None, None, &Progress::new()).expect("not cancelled");
        let (north, south) = ([-6.0, -6.0, 6.0, 6.0, 2.0], [-2.0, -2.0, 6.0, 6.0, 2.0]);
        assert_eq!(terrain.heights(), [north, north, south, south, south].concat());
        add_tree(&mut terrain, &tree, &column_positions(&grid), None, Some(-3.0), &Progress::new())
            .expect("not cancelled");
        assert_eq!(terrain.row(0), [-3.0, -3.0, 12.0, 12.0, 4.0]);
    }

    #[test]
    fn the_sum_matches_the_plain_walk_at_every_sample() {
        for (layout, extent, depth) in
            [(Layout::Structured, SQUARE, 5), (Layout::Unstructured, OBLONG, 5), (Layout::Structured, OBLONG, 8)]
        {
            for edge_fade in [false, true] {
                let faults = BspFaults {
                    count: 20,
                    depth,
                    layout,
                    edge_fade,
                    displacement_m: 7.3,
                    wind: None,
                    ..Default::default()
                };
                let grid = Grid::new(extent, 83, 61);
                let trees: Vec<Tree> = (1..=20).map(|i| faults.tree(i, extent, stream())).collect();
                let sum = evaluated(&faults, grid, None, 20);
                let fade = Fade::new(&grid);
                for r in 0..grid.height() {
                    for c in 0..grid.width() {
                        let metres: f64 = trees.iter().map(|tree| uplift_m(tree, grid.x_m(c), grid.z_m(r))).sum();
                        let share = if edge_fade { fade.at(c, r) } else { 1.0 };
                        assert_eq!(sum[(c, r)], (metres * share) as f32, "{layout:?} at {c}, {r}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_cut_correctly_by_lines_in_any_direction() {
        let grid = Grid::new(SQUARE, 65, 65);
        let mut rng = stream().at(0);
        for _ in 0..300 {
            // Through samples, vertical, horizontal and of zero length, in every order.
            let mut place = || (rng.unit() * 64.0).floor() * 64.0;
            let mut nodes: Vec<Segment> = (0..15).map(|_| segment([place(), place()], [place(), place()])).collect();
            nodes[1].to_m[0] = nodes[1].from_m[0];
            nodes[2].to_m[1] = nodes[2].from_m[1];
            nodes[5].to_m = nodes[5].from_m;
            let tree = Tree { nodes, displacement_m: 8.0 };
            let mut terrain = Heightfield::flat(grid);
            add_tree(&mut terrain, &tree, &column_positions(&grid), None, None, &Progress::new())
                .expect("not cancelled");
            for r in 0..65 {
                for c in 0..65 {
                    assert_eq!(
                        terrain[(c, r)],
                        uplift_m(&tree, grid.x_m(c), grid.z_m(r)) as f32,
                        "{tree:?} at {c}, {r}"
                    );
                }
            }
        }
    }

    /// The distance of a point from a segment.
    fn distance(point: [f64; 2], Segment { from_m, to_m }: Segment) -> f64 {
        let along = [to_m[0] - from_m[0], to_m[1] - from_m[1]];
        let off = [point[0] - from_m[0], point[1] - from_m[1]];
        let t = ((off[0] * along[0] + off[1] * along[1]) / (along[0] * along[0] + along[1] * along[1])).clamp(0.0, 1.0);
        libm::hypot(off[0] - t * along[0], off[1] - t * along[1])
    }

    #[test]
    fn structured_trees_branch_in_the_middle_and_end_at_ancestors_or_the_border() {
        for extent in [SQUARE, OBLONG, Extent { width_m: 300.0, depth_m: 8000.0 }] {
            let size = [extent.width_m, extent.depth_m];
            let on_border = |point: [f64; 2]| (0..2).any(|axis| point[axis] == 0.0 || point[axis] == size[axis]);
            let near = 1e-9 * size[0].max(size[1]);
            for i in 1..=10_000 {
                let tree = BspFaults::default().tree(i, extent, stream());
                assert_eq!(tree.nodes.len(), 31);
                assert!(on_border(tree.nodes[0].from_m) && on_border(tree.nodes[0].to_m));
                for (n, node) in tree.nodes.iter().enumerate() {
                    for point in [node.from_m, node.to_m] {
                        assert!((0..2).all(|axis| (0.0..=size[axis]).contains(&point[axis])), "{point:?}");
                    }
                    let along = [node.to_m[0] - node.from_m[0], node.to_m[1] - node.from_m[1]];
                    assert!(libm::hypot(along[0], along[1]) > 0.0);
                    let Some(parent) = n.checked_sub(1).map(|n| tree.nodes[n / 2]) else { continue };
                    assert_eq!(tree.children((n - 1) / 2)[usize::from(is_right(n))], Some(n));

                    let length = |segment: Segment| {
                        libm::hypot(segment.to_m[0] - segment.from_m[0], segment.to_m[1] - segment.from_m[1])
                    };
                    let place = length(segment(parent.from_m, node.from_m)) / length(parent);
                    assert!((0.25 - 1e-9..=0.75 + 1e-9).contains(&place), "{place}");
                    assert!(distance(node.from_m, parent) <= near);

                    let right = parent.right_m();
                    let side = if is_right(n) { 1.0 } else { -1.0 };
                    let ahead = side * (along[0] * right[0] + along[1] * right[1]);
                    let aside = along[0] * right[1] - along[1] * right[0];
                    let off = libm::atan2(aside, ahead).abs();
                    assert!(off <= FRAC_PI_4 + 1e-9, "{off} in tree {i}, node {n}");

                    let mut ancestors =
                        std::iter::successors(Some((n - 1) / 2), |&at| at.checked_sub(1).map(|at| at / 2));
                    ancestors.next();
                    let ends = on_border(node.to_m) || ancestors.any(|at| distance(node.to_m, tree.nodes[at]) <= near);
                    assert!(ends, "tree {i}, node {n} does not end at another line");
                }
            }
        }
    }

    #[test]
    fn a_small_map_is_an_exact_subset_of_a_large_one() {
        for layout in [Layout::Structured, Layout::Unstructured] {
            let faults = BspFaults { layout, count: 40, wind: None, ..Default::default() };
            let odd = Extent { width_m: 4100.7, depth_m: 977.3 };
            let [small, large] = [257, 1025].map(|side| evaluated(&faults, Grid::new(odd, side, side), None, 40));
            assert_subset(&small, &large);
        }
    }

    #[test]
    fn resuming_is_bit_identical_and_the_terrain_stays_above_the_floor() {
        let wind = RecursiveFilter { k: 0.1, ..Default::default() };
        let faults =
            BspFaults { count: 30, edge_fade: true, floor_m: Some(-2.5), wind: Some(wind), ..Default::default() };
        let grid = Grid::new(OBLONG, 71, 33);
        let (half, full) = (evaluated(&faults, grid, None, 13), evaluated(&faults, grid, None, 30));
        assert_eq!(resumed(&faults, Keyframe { iteration: 13, terrain: &half }, 30), full);
        assert!(full.min_max()[0] >= -2.5);
    }

    #[test]
    fn accumulation_continues_in_either_direction() {
        let grid = Grid::new(OBLONG, 37, 29);
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { stream: stream(), ..EvalContext::new(grid, &inputs, &progress) };
        for edge_fade in [false, true] {
            let faults = BspFaults { count: 20, edge_fade, wind: None, ..Default::default() };
            let at = |until, from| faults.accumulate(&context, until, from).expect("a sum").expect("not cancelled");
            let (_, twelve) = at(12, None);
            for until in [0, 3, 12, 13, 20] {
                let (terrain, sums) = at(until, Some((12, twelve.clone())));
                assert_eq!((terrain, sums), at(until, None), "{until}");
                assert_eq!(at(until, None).0, evaluated(&faults, grid, None, until), "{until}");
            }
        }
        assert!(
            BspFaults { floor_m: Some(0.0), wind: None, ..Default::default() }.accumulate(&context, 3, None).is_none()
        );
    }

    #[test]
    fn the_terrain_fades_to_zero_at_the_border() {
        let faults = BspFaults { edge_fade: true, wind: None, ..Default::default() };
        let terrain = evaluated(&faults, Grid::new(SQUARE, 65, 65), None, 100);
        assert!((0..65).all(|i| [terrain[(i, 0)], terrain[(i, 64)], terrain[(0, i)], terrain[(64, i)]] == [0.0; 4]));
        assert_eq!(Fade::new(&terrain.grid()).at(32, 32), 1.0);
    }
}
