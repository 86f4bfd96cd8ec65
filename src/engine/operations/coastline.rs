//! An island that many agents raise out of the sea, each with a place of its own that draws it and one that drives it
//! off.
//!
//! After J. Doran and I. Parberry, "Controlled Procedural Terrain Generation Using Software Agents", IEEE Transactions
//! on Computational Intelligence and AI in Games 2(2), 2010, and a course project on it. The world is halved along its
//! longer side, and its tokens with it, until every rectangle is small enough for one agent. For each token the agent
//! goes to the present coast in a random direction and makes land of the neighbour p in the sea whose score is highest,
//! score = `repel`·dist²(p, repulsor) − `attract`·dist²(p, attractor) + `edge`·dist²(p, border),
//! if it is above `threshold`. Distances are shares of the world's sides. Then the island is blurred, and where more
//! than 1 − `size` of the land is left there is land.
//!
//! What the sources leave open: the first land is the sample in the middle of the world. The attractor lies in the
//! agent's rectangle, the repulsor anywhere. An agent goes ashore on the straight way from a random place of its
//! rectangle to a random sample of the land, and sets out from there for every token; a token is lost where the coast is
//! farther off than half the rectangle's diagonal. So every agent adds a lobe of its own, and what lies between the
//! lobes are bays.

use rayon::prelude::*;

use super::box_blur::BoxBlur;
use super::gaussian_blur::GaussianBlur;
use super::{Keyframe, Operation, EvalContext};
use crate::engine::heightfield::{Extent, Grid, Heightfield};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::parameters::{Spec, parameters};
use crate::engine::random::{Draw, Stream};
use crate::engine::rounding::smoothstep;

parameters! {
    /// Raises an island with bays and capes out of a sea, piece by piece.
    pub struct Coastline {
        /// How many pieces of land the agents may make together, each a 66,000th of the world (257 × 257 make up all of
        /// it); tokens are lost where an agent finds no good place.
        tokens: u32 = 50_000, Spec::number("Tokens", 0.0, 66_049.0).slider(1000.0, 66_000.0);
        /// The greatest share of the world that one agent has to itself: the smaller, the more agents there are, and the
        /// more and the smaller capes and bays.
        patch: f64 = 0.008, Spec::number("Patch", 0.0005, 1.0).slider(0.001, 0.2).logarithmic();
        /// How strongly an agent's land gathers around the place that draws it: great values make round lobes.
        attract: f64 = 2.0, Spec::number("Attraction", 0.0, 100.0).slider(0.0, 10.0);
        /// How strongly an agent's land keeps away from the place that drives it off: great values make long arms.
        repel: f64 = 1.0, Spec::number("Repulsion", 0.0, 100.0).slider(0.0, 10.0);
        /// How strongly land keeps away from the border of the world.
        edge: f64 = 3.0, Spec::number("Edge", 0.0, 100.0).slider(0.0, 10.0);
        /// The score that a place must exceed to become land: the higher, the fewer places agents find, and the more
        /// ragged the island.
        threshold: f64 = 0.1, Spec::number("Threshold", -100.0, 100.0).slider(-1.0, 1.0);
        /// How far the island is rounded off, by a bell of this standard deviation and then by a square half as wide
        /// again: the wider, the smoother the coast and the gentler the shore.
        blur_m: f64 = 50.0, Spec::number("Blur", 0.0, 100_000.0).slider(0.0, 500.0).unit("m");
        /// How large the island is: where the blur leaves less than 1 − size of the land there is sea. At a half the
        /// coast stays where the agents made it, below it the coast draws back, above it the coast advances.
        size: f64 = 0.5, Spec::number("Size", 0.01, 0.99).slider(0.1, 0.9);
        /// How high the island stands inland.
        height_m: f64 = 60.0, Spec::number("Height", 0.0, 20_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// How deep the sea is away from the coast, where the height is 0.
        depth_m: f64 = 60.0, Spec::number("Depth", 0.0, 20_000.0).slider(0.0, 1000.0).unit("m");
        /// The samples along the world's longer side between which agents walk: the more, the finer the coast.
        reference_samples: u32 = 257, Spec::number("Reference samples", 17.0, 513.0).slider(65.0, 513.0).fixed();
    }
}

/// The samples along each side at which a token is a sample.
const TOKEN_SAMPLES: f64 = 257.0;

/// A rectangle of the world, in shares of its sides, and the tokens that are spent from it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Patch {
    west: f64,
    north: f64,
    width: f64,
    depth: f64,
    tokens: u32,
}

/// What one agent is after, in shares of the world's sides.
struct Agent {
    attractor: [f64; 2],
    repulsor: [f64; 2],
}

/// The island while it grows: which samples of the reference grid are land.
struct Growth {
    grid: Grid,
    is_land: Vec<bool>,
    /// The samples that are land, in the order in which they were made.
    terrain: Vec<[usize; 2]>,
}

impl Coastline {
    /// How often the world is halved.
    fn halvings(&self) -> u32 {
        (0..31).find(|&n| f64::from(1_u32 << n) * self.patch >= 1.0).unwrap_or(31)
    }

    /// The patch of the agent at a place in the order of halves.
    fn patch_at(&self, place: u32, world: Extent, tokens: u32) -> Patch {
        let mut patch = Patch { west: 0.0, north: 0.0, width: 1.0, depth: 1.0, tokens };
        for level in (0..self.halvings()).rev() {
            let second = (place >> level) & 1;
            if patch.width * world.width_m >= patch.depth * world.depth_m {
                patch.width /= 2.0;
                patch.west += patch.width * f64::from(second);
            } else {
                patch.depth /= 2.0;
                patch.north += patch.depth * f64::from(second);
            }
            patch.tokens = (patch.tokens + second) / 2;
        }
        patch
    }

    /// The order in which the agents' patches come, shuffled, so that the island grows on all sides at once.
    fn order(&self, stream: Stream) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.iterations()).collect();
        let mut draw = stream.at(0);
        for i in (1..order.len()).rev() {
            order.swap(i, (draw.unit() * (i + 1) as f64) as usize);
        }
        order
    }

    /// The score of a place, in shares of the world's sides.
    fn score(&self, agent: &Agent, [u, v]: [f64; 2]) -> f64 {
        let square = |[x, z]: [f64; 2]| (u - x) * (u - x) + (v - z) * (v - z);
        let border = u.min(1.0 - u).min(v).min(1.0 - v);
        self.repel * square(agent.repulsor) - self.attract * square(agent.attractor) + self.edge * border * border
    }

    /// The samples that are land after the first `until` agents.
    fn grown(&self, extent: Extent, stream: Stream, until: u32, progress: &Progress) -> Result<Growth, Cancelled> {
        let fitted = Grid::fitted(extent, self.reference_samples as usize);
        // However narrow the world, there is a sample between its borders.
        let grid = Grid::new(extent, fitted.width().max(3), fitted.height().max(3));
        let mut growth = Growth::new(grid);
        let share = grid.samples() as f64 / (TOKEN_SAMPLES * TOKEN_SAMPLES);
        let tokens = (f64::from(self.tokens) * share) as u32;
        let counter = progress.counter(until as usize);
        for (i, &place) in (1..=until).zip(&self.order(stream)) {
            let patch = self.patch_at(place, extent, tokens);
            let mut draw = stream.at(u64::from(i));
            let attractor =
                [patch.west + patch.width * draw.unit(), patch.north + patch.depth * draw.unit()];
            let agent = Agent { attractor, repulsor: [draw.unit(), draw.unit()] };
            let home = growth.landing(&patch, &mut draw);
            let reach = growth.reach(&patch);
            for token in 0..patch.tokens {
                if let Some(coast) = growth.coast_towards(home, draw.unit() * std::f64::consts::TAU, reach) {
                    growth.extend(coast, |place| self.score(&agent, place), self.threshold);
                }
                if token.is_multiple_of(64) {
                    progress.check()?;
                }
            }
            counter.add_one()?;
        }
        Ok(growth)
    }

    /// The height where the blur leaves a share of the land.
    fn height_of(&self, share: f64) -> f64 {
        let above = share.clamp(0.0, 1.0) - (1.0 - self.size);
        // Half a straight rise, which gives the coast its slope, and half a smooth one, which levels off inland.
        let risen = |t: f64| 0.5 * (t + smoothstep(t));
        if above >= 0.0 {
            self.height_m * risen(above / self.size)
        } else {
            -self.depth_m * risen(-above / (1.0 - self.size))
        }
    }
}

impl Growth {
    fn new(grid: Grid) -> Self {
        let middle = [grid.width() / 2, grid.height() / 2];
        let mut growth = Self { grid, is_land: vec![false; grid.samples()], terrain: Vec::new() };
        growth.add(middle);
        growth
    }

    fn is_land(&self, [c, r]: [usize; 2]) -> bool {
        self.is_land[r * self.grid.width() + c]
    }

    fn add(&mut self, sample: [usize; 2]) {
        let [c, r] = sample;
        self.is_land[r * self.grid.width() + c] = true;
        self.terrain.push(sample);
    }

    /// How far from its landing an agent works, in samples: half the diagonal of its patch.
    fn reach(&self, patch: &Patch) -> u32 {
        let (across, down) = (patch.width * self.grid.width() as f64, patch.depth * self.grid.height() as f64);
        (0.5 * (across * across + down * down).sqrt()).ceil() as u32
    }

    /// Where an agent of a patch goes ashore: the first land on the straight way from a random sample of the patch to a
    /// random sample of the land.
    fn landing(&self, patch: &Patch, draw: &mut Draw) -> [usize; 2] {
        let sample = |share: f64, samples: usize| ((share * samples as f64) as usize).min(samples - 1);
        let start = [
            sample(patch.west + patch.width * draw.unit(), self.grid.width()),
            sample(patch.north + patch.depth * draw.unit(), self.grid.height()),
        ];
        let goal = self.terrain[(draw.unit() * self.terrain.len() as f64) as usize];
        self.landfall(start, goal)
    }

    /// The last land before the sea from a sample of the land in a direction; `None` if the sea is farther than `reach`
    /// samples along the longer axis.
    fn coast_towards(&self, start: [usize; 2], azimuth: f64, reach: u32) -> Option<[usize; 2]> {
        let (south, east) = libm::sincos(azimuth);
        let longest = east.abs().max(south.abs());
        let step = [east / longest, south / longest];
        let mut coast = start;
        for n in 1..=reach {
            // The border of the world is sea, and no way leads beyond it.
            let next = [0, 1].map(|axis| (start[axis] as f64 + f64::from(n) * step[axis]).round() as usize);
            if !self.is_land(next) {
                return Some(coast);
            }
            coast = next;
        }
        None
    }

    /// The first land on the straight way from a sample of the sea to one of the land.
    fn landfall(&self, start: [usize; 2], goal: [usize; 2]) -> [usize; 2] {
        let steps = start[0].abs_diff(goal[0]).max(start[1].abs_diff(goal[1]));
        // Halves are rounded up: (2·n·to + 2·(steps − n)·from + steps) / (2·steps).
        let at = |n: usize, axis: usize| (2 * (n * goal[axis] + (steps - n) * start[axis]) + steps) / (2 * steps);
        (0..steps).map(|n| [at(n, 0), at(n, 1)]).find(|&sample| self.is_land(sample)).unwrap_or(goal)
    }

    /// Makes land of the neighbour in the sea with the highest score, the first of them in the order of rows, if the
    /// score is above the threshold. The samples on the border of the world stay sea.
    fn extend(&mut self, [c, r]: [usize; 2], score: impl Fn([f64; 2]) -> f64, threshold: f64) {
        let (width, height) = (self.grid.width(), self.grid.height());
        let mut best = (threshold, None);
        for r in r.saturating_sub(1).max(1)..=(r + 1).min(height - 2) {
            for c in c.saturating_sub(1).max(1)..=(c + 1).min(width - 2) {
                if !self.is_land([c, r]) {
                    let score = score([c as f64 / (width - 1) as f64, r as f64 / (height - 1) as f64]);
                    if score > best.0 {
                        best = (score, Some([c, r]));
                    }
                }
            }
        }
        if let (_, Some(sample)) = best {
            self.add(sample);
        }
    }
}

impl Operation for Coastline {
    const KEY: &'static str = "coastline";
    const LABEL: &'static str = "Coastline";

    /// One an agent.
    fn iterations(&self) -> u32 {
        1 << self.halvings()
    }

    /// Its own land, and on the reference grid the island, twice while it is blurred, and the list of its samples.
    fn peak_maps(&self, grid: Grid) -> f64 {
        let reference = Grid::fitted(grid.extent(), self.reference_samples as usize);
        2.0 + 7.0 * reference.samples() as f64 / grid.samples() as f64
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let progress = context.progress;
        let growth = progress.stage(0.0..0.8, || self.grown(context.grid.extent(), context.stream, until, progress))?;
        let mut island = Heightfield::from_fn(growth.grid, |c, r| f32::from(u8::from(growth.is_land([c, r]))));
        let bell = GaussianBlur { radius_m: self.blur_m, passes: 1 };
        let square = BoxBlur { radius_m: 0.75 * self.blur_m, passes: 1 };
        progress.stage(0.8..0.85, || bell.blur(&mut island, progress))?;
        progress.stage(0.85..0.9, || square.blur(&mut island, progress))?;
        let mut terrain = progress.stage(0.9..1.0, || island.resampled(context.grid, progress))?;
        terrain.heights_mut().par_chunks_mut(context.grid.width()).try_for_each(|row| {
            row.iter_mut().for_each(|height| *height = self.height_of(f64::from(*height)) as f32);
            progress.check()
        })?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::made;
    use super::*;

    const WORLD: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };
    const OBLONG: Extent = Extent { width_m: 977.3, depth_m: 4100.7 };

    fn terrain(coastline: &Coastline, grid: Grid, seed: u32) -> Heightfield {
        made(coastline, Stream::new(seed, 4), grid, None, coastline.iterations(), None)
    }

    fn sides(side: usize) -> Grid {
        Grid::new(WORLD, side, side)
    }

    #[test]
    fn a_score_by_hand() {
        let coastline = Coastline { attract: 2.0, repel: 1.0, edge: 3.0, ..Default::default() };
        let agent = Agent { attractor: [0.5, 0.5], repulsor: [0.25, 1.0] };
        // From (0.25, 0.5): 0.5² − 2·0.25² + 3·0.25².
        assert_eq!(coastline.score(&agent, [0.25, 0.5]), 0.25 - 0.125 + 0.1875);
    }

    #[test]
    fn heights_by_hand() {
        let coastline = Coastline { size: 0.25, height_m: 80.0, depth_m: 40.0, ..Default::default() };
        // The coast lies where three quarters of the land are left; half way up or down the rise is a half.
        let found = [0.0, 0.375, 0.75, 0.875, 1.0, 1.2].map(|share| coastline.height_of(share));
        assert_eq!(found, [-40.0, -20.0, 0.0, 40.0, 80.0, 80.0]);
    }

    #[test]
    fn patches_make_up_the_world_and_share_all_tokens() {
        let coastline = Coastline { patch: 0.2, ..Default::default() };
        assert_eq!(coastline.iterations(), 8);
        let patches: Vec<Patch> = (0..8).map(|place| coastline.patch_at(place, OBLONG, 1003)).collect();
        assert_eq!(patches.iter().map(|patch| patch.tokens).sum::<u32>(), 1003);
        assert_eq!(patches.iter().map(|patch| patch.width * patch.depth).sum::<f64>(), 1.0);
        // 977 × 4101 m is halved to 2050, 1025 and 513 m of depth: never across.
        assert!(patches.iter().enumerate().all(|(i, patch)| patch.west == 0.0 && patch.north == i as f64 / 8.0));
        assert_eq!(Coastline { patch: 1.0, ..Default::default() }.iterations(), 1);
        assert_eq!(Coastline { patch: 0.0005, ..Default::default() }.iterations(), 2048);
    }

    /// The patches by the recursion of the source.
    fn halved(patch: [f64; 4], tokens: u32, largest: f64, extent: Extent, found: &mut Vec<([f64; 4], u32)>) {
        let [west, north, width, depth] = patch;
        if width * depth <= largest {
            found.push((patch, tokens));
            return;
        }
        let halves = if width * extent.width_m >= depth * extent.depth_m {
            [[west, north, width / 2.0, depth], [west + width / 2.0, north, width / 2.0, depth]]
        } else {
            [[west, north, width, depth / 2.0], [west, north + depth / 2.0, width, depth / 2.0]]
        };
        halved(halves[0], tokens / 2, largest, extent, found);
        halved(halves[1], tokens - tokens / 2, largest, extent, found);
    }

    /// The whole growth written once more, with the land in one plain list.
    fn plain(coastline: &Coastline, extent: Extent, stream: Stream, until: usize) -> Vec<[i64; 2]> {
        let grid = Grid::fitted(extent, coastline.reference_samples as usize);
        let (width, height) = (grid.width() as i64, grid.height() as i64);
        let share = (width * height) as f64 / (257.0 * 257.0);
        let mut patches = Vec::new();
        let tokens = (f64::from(coastline.tokens) * share) as u32;
        halved([0.0, 0.0, 1.0, 1.0], tokens, coastline.patch, extent, &mut patches);
        let mut shuffle = stream.at(0);
        for i in (1..patches.len()).rev() {
            patches.swap(i, (shuffle.unit() * (i + 1) as f64) as usize);
        }
        let mut terrain = vec![[width / 2, height / 2]];
        for (i, ([west, north, across, down], tokens)) in patches.into_iter().enumerate().take(until) {
            let mut draw = stream.at(i as u64 + 1);
            let [ax, az, rx, rz] = [0; 4].map(|_| draw.unit());
            let attractor = [west + across * ax, north + down * az];
            let start_c = ((west + across * draw.unit()) * width as f64) as i64;
            let start_r = ((north + down * draw.unit()) * height as f64) as i64;
            let [goal_c, goal_r] = terrain[(draw.unit() * terrain.len() as f64) as usize];
            let steps = (goal_c - start_c).abs().max((goal_r - start_r).abs());
            let way = (0..=steps).map(|n| {
                let share = if steps == 0 { 0.0 } else { n as f64 / steps as f64 };
                let towards = |from: i64, to: i64| (from as f64 + share * (to - from) as f64 + 0.5).floor() as i64;
                [towards(start_c, goal_c), towards(start_r, goal_r)]
            });
            let home = way.into_iter().find(|sample| terrain.contains(sample)).expect("the goal is land");
            let reach = (libm::hypot(across * width as f64, down * height as f64) / 2.0).ceil() as i64;
            for _ in 0..tokens {
                let azimuth = draw.unit() * std::f64::consts::TAU;
                let (east, south) = (libm::cos(azimuth), libm::sin(azimuth));
                let longest = east.abs().max(south.abs());
                let along = |n: i64, from: i64, part: f64| (from as f64 + n as f64 * (part / longest)).round() as i64;
                let mut ray = (0..=reach).map(|n| [along(n, home[0], east), along(n, home[1], south)]);
                let mut coast = home;
                let at_sea = ray.find(|sample| {
                    let is_land = terrain.contains(sample);
                    coast = if is_land { *sample } else { coast };
                    !is_land
                });
                if at_sea.is_none() {
                    continue;
                }
                let mut best: Option<(f64, [i64; 2])> = None;
                for r in coast[1] - 1..=coast[1] + 1 {
                    for c in coast[0] - 1..=coast[0] + 1 {
                        let on_border = c <= 0 || r <= 0 || c >= width - 1 || r >= height - 1;
                        if on_border || terrain.contains(&[c, r]) {
                            continue;
                        }
                        let (u, v) = (c as f64 / (width - 1) as f64, r as f64 / (height - 1) as f64);
                        let square = |x: f64, z: f64| (u - x) * (u - x) + (v - z) * (v - z);
                        let border = [u, 1.0 - u, v, 1.0 - v].into_iter().fold(1.0, f64::min);
                        let score = coastline.repel * square(rx, rz)
                            - coastline.attract * square(attractor[0], attractor[1])
                            + coastline.edge * border * border;
                        if score > coastline.threshold && best.is_none_or(|(highest, _)| score > highest) {
                            best = Some((score, [c, r]));
                        }
                    }
                }
                terrain.extend(best.map(|(_, sample)| sample));
            }
        }
        terrain
    }

    #[test]
    fn the_growth_equals_the_plain_one() {
        for (extent, seed) in [(WORLD, 1), (OBLONG, 2)] {
            let coastline = Coastline { reference_samples: 65, patch: 0.05, ..Default::default() };
            for until in [0, 1, 7, coastline.iterations()] {
                let stream = Stream::new(seed, 9);
                let growth = coastline.grown(extent, stream, until, &Progress::new()).expect("not cancelled");
                let found: Vec<[i64; 2]> = growth.terrain.iter().map(|sample| sample.map(|at| at as i64)).collect();
                assert_eq!(found, plain(&coastline, extent, stream, until as usize), "after {until}");
            }
        }
    }

    #[test]
    fn the_default_is_an_island_in_a_sea_with_bays() {
        for seed in 0..6 {
            let terrain = terrain(&Coastline::default(), sides(129), seed);
            let is_land = |c: usize, r: usize| terrain[(c, r)] > 0.0;
            assert!((0..129).all(|i| !is_land(i, 0) && !is_land(i, 128) && !is_land(0, i) && !is_land(128, i)));
            let area = terrain.heights().iter().filter(|height| **height > 0.0).count() as f64;
            assert!((0.2..0.6).contains(&(area / (129.0 * 129.0))), "{area} samples are land");
            let pairs = (0..129).flat_map(|i| (1..129).map(move |j| (i, j)));
            let coast: usize = pairs
                .map(|(i, j)| {
                    let meridional = is_land(i, j) != is_land(i, j - 1);
                    let zonal = is_land(j, i) != is_land(j - 1, i);
                    usize::from(meridional) + usize::from(zonal)
                })
                .sum();
            // A square, whose coast counted like this is as long as a disc's, has 4·√area.
            let roundness = coast as f64 / (4.0 * area.sqrt());
            assert!(roundness > 1.2, "seed {seed}: a blob ({roundness})");
        }
    }

    #[test]
    fn a_greater_size_only_adds_land() {
        let terrains = [0.2, 0.5, 0.8].map(|size| terrain(&Coastline { size, ..Default::default() }, sides(129), 3));
        for pair in terrains.windows(2) {
            assert!(pair[0].heights().iter().zip(pair[1].heights()).all(|(a, b)| *a <= 0.0 || *b > 0.0));
        }
    }

    #[test]
    fn small_maps_are_exact_subsets_of_large_ones() {
        for (extent, [width, height]) in [(WORLD, [129, 129]), (OBLONG, [31, 129])] {
            let at = |factor: usize| {
                let grid = Grid::new(extent, (width - 1) * factor + 1, (height - 1) * factor + 1);
                terrain(&Coastline::default(), grid, 5)
            };
            let (small, large) = (at(1), at(4));
            let differs = |c: usize, r: usize| (small[(c, r)] - large[(4 * c, 4 * r)]).abs() > 1e-3;
            assert!((0..height).all(|r| (0..width).all(|c| !differs(c, r))));
        }
    }
}
