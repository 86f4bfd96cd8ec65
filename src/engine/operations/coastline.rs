//! An island grown by software agents, each with its own attractor and repulsor.
//!
//! After J. Doran and I. Parberry, "Controlled Procedural Terrain Generation Using Software Agents", IEEE Transactions
//! on Computational Intelligence and AI in Games 2(2), 2010, and a course project on it. The map is halved along its
//! longer side, together with its tokens, until every rectangle is small enough for one agent. For each token the agent
//! walks to the current coast in a random direction and turns the neighbouring sea sample p with the highest score into
//! land, score = `repel`·dist²(p, repulsor) − `attract`·dist²(p, attractor) + `edge`·dist²(p, border), if the score
//! exceeds `threshold`. Distances are fractions of the map's sides. Then the island is blurred, and the coast is where
//! 1 − `size` of the land is left.
//!
//! Details that the sources leave open: the first land is the sample in the middle of the map. The attractor is in the
//! agent's rectangle, the repulsor anywhere. An agent lands on the straight line from a random point of its rectangle
//! to a random land sample and starts from there for every token; a token is lost if the coast is farther away than
//! half the rectangle's diagonal. So every agent adds a lobe, and bays remain between the lobes.

use rayon::prelude::*;

use super::box_blur::BoxBlur;
use super::gaussian_blur::GaussianBlur;
use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::{Cancelled, Progress};
use crate::random::{Rng, Stream};
use crate::rounding::smoothstep;

parameters! {
    /// Grows an island with bays and capes out of the sea.
    pub struct Coastline {
        /// Number of pieces from which the island grows; 66,049 would fill the map, at any resolution. Pieces are lost
        /// where there is no suitable place.
        tokens: u32 = 50_000, Spec::number("Land amount", 0.0, 66_049.0).slider(1000.0, 66_000.0);
        /// Largest part of the map that grows around one centre. Smaller patches make more and smaller capes and bays.
        patch: f64 = 0.008, Spec::number("Lobe size", 0.0005, 1.0).slider(0.001, 0.2).logarithmic().percent();
        /// How strongly land gathers around the centre of each patch. High values make round lobes.
        attract: f64 = 2.0, Spec::number("Attraction", 0.0, 100.0).slider(0.0, 10.0);
        /// How strongly land avoids a second, random place of each patch. High values make long arms.
        repel: f64 = 1.0, Spec::number("Repulsion", 0.0, 100.0).slider(0.0, 10.0);
        /// How strongly land avoids the border of the map.
        edge: f64 = 3.0, Spec::number("Edge repulsion", 0.0, 100.0).slider(0.0, 10.0);
        /// How suitable a place must be for land to grow there. Places near what attracts land, and far from what repels
        /// it and from the border, are more suitable. Higher values leave fewer places and a more ragged island.
        threshold: f64 = 0.1, Spec::number("Minimum suitability", -100.0, 100.0).slider(-1.0, 1.0);
        /// Radius by which the island is smoothed. Wider blurs make a smoother coast and a gentler shore.
        blur_m: f64 = 50.0, Spec::number("Blur", 0.0, 100_000.0).slider(0.0, 500.0).unit("m");
        /// Where the coast is: at 0.5 where it grew; lower values move it inland, higher values out to sea.
        size: f64 = 0.5, Spec::number("Coast position", 0.01, 0.99).slider(0.1, 0.9);
        /// Height of the island away from the coast.
        height_m: f64 = 60.0, Spec::number("Height", 0.0, 20_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// Depth of the sea away from the coast. The coast is at height 0.
        depth_m: f64 = 60.0, Spec::number("Sea depth", 0.0, 20_000.0).slider(0.0, 1000.0).unit("m");
        /// Samples along the longer side of the grid on which the island grows, whatever the resolution of the map. Higher
        /// values make a finer coast.
        reference_samples: u32 = 257, Spec::number("Simulation resolution", 17.0, 513.0).slider(65.0, 513.0).fixed();
    }
}

/// The samples along each side of the grid on which a token is one sample.
const TOKEN_SAMPLES: f64 = 257.0;

/// A rectangle of the map, in fractions of its sides, and its tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Patch {
    west: f64,
    north: f64,
    width: f64,
    depth: f64,
    tokens: u32,
}

/// The targets of one agent, in fractions of the map's sides.
struct Agent {
    attractor: [f64; 2],
    repulsor: [f64; 2],
}

/// The growing island on the reference grid.
struct Growth {
    grid: Grid,
    is_land: Vec<bool>,
    /// The land samples, in the order in which they were added.
    land: Vec<[usize; 2]>,
}

impl Coastline {
    /// The number of times that the map is halved.
    fn halvings(&self) -> u32 {
        (0..31).find(|&n| f64::from(1_u32 << n) * self.patch >= 1.0).unwrap_or(31)
    }

    /// The patch at an index in the order of the halves.
    fn patch_at(&self, index: u32, world: Extent, tokens: u32) -> Patch {
        let mut patch = Patch { west: 0.0, north: 0.0, width: 1.0, depth: 1.0, tokens };
        for level in (0..self.halvings()).rev() {
            let second = (index >> level) & 1;
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

    /// The shuffled order of the patches, so that the island grows on all sides at once.
    fn order(&self, stream: Stream) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.iterations()).collect();
        let mut rng = stream.at(0);
        for i in (1..order.len()).rev() {
            order.swap(i, (rng.unit() * (i + 1).to_f64()).to_usize());
        }
        order
    }

    /// The score of a position in fractions of the map's sides.
    fn score(&self, agent: &Agent, [u, v]: [f64; 2]) -> f64 {
        let square = |[x, z]: [f64; 2]| (u - x) * (u - x) + (v - z) * (v - z);
        let border = u.min(1.0 - u).min(v).min(1.0 - v);
        self.repel * square(agent.repulsor) - self.attract * square(agent.attractor) + self.edge * border * border
    }

    /// The island after the first `until` agents.
    fn grown(&self, extent: Extent, stream: Stream, until: u32, progress: &Progress) -> Result<Growth, Cancelled> {
        let fitted = Grid::fitted(extent, self.reference_samples as usize);
        // Even a narrow map has a sample between its borders.
        let grid = Grid::new(extent, fitted.width().max(3), fitted.height().max(3));
        let mut growth = Growth::new(grid);
        let share = grid.samples().to_f64() / (TOKEN_SAMPLES * TOKEN_SAMPLES);
        let tokens = (f64::from(self.tokens) * share).to_u32();
        let counter = progress.counter(until as usize);
        for (i, &index) in (1..=until).zip(&self.order(stream)) {
            let patch = self.patch_at(index, extent, tokens);
            let mut rng = stream.at(u64::from(i));
            let attractor = [patch.west + patch.width * rng.unit(), patch.north + patch.depth * rng.unit()];
            let agent = Agent { attractor, repulsor: [rng.unit(), rng.unit()] };
            let home = growth.landing(&patch, &mut rng);
            let reach = growth.reach(&patch);
            for token in 0..patch.tokens {
                if let Some(coast) = growth.coast_towards(home, rng.unit() * std::f64::consts::TAU, reach) {
                    growth.extend(coast, |position| self.score(&agent, position), self.threshold);
                }
                if token.is_multiple_of(64) {
                    progress.check()?;
                }
            }
            counter.add_one()?;
        }
        Ok(growth)
    }

    /// The height where the blur leaves a fraction of the land.
    fn height_of(&self, share: f64) -> f64 {
        let above = share.clamp(0.0, 1.0) - (1.0 - self.size);
        // The mean of a linear rise, which gives the coast a slope, and a smoothstep, which levels off inland.
        let rise = |t: f64| 0.5 * (t + smoothstep(t));
        if above >= 0.0 {
            self.height_m * rise(above / self.size)
        } else {
            -self.depth_m * rise(-above / (1.0 - self.size))
        }
    }
}

impl Growth {
    fn new(grid: Grid) -> Self {
        let middle = [grid.width() / 2, grid.height() / 2];
        let mut growth = Self { grid, is_land: vec![false; grid.samples()], land: Vec::new() };
        growth.add(middle);
        growth
    }

    fn is_land(&self, [c, r]: [usize; 2]) -> bool {
        self.is_land[r * self.grid.width() + c]
    }

    fn add(&mut self, sample: [usize; 2]) {
        let [c, r] = sample;
        self.is_land[r * self.grid.width() + c] = true;
        self.land.push(sample);
    }

    /// How far from its landing an agent works: half the diagonal of its patch, in samples.
    fn reach(&self, patch: &Patch) -> u32 {
        let (across, down) = (patch.width * self.grid.width().to_f64(), patch.depth * self.grid.height().to_f64());
        (0.5 * (across * across + down * down).sqrt()).ceil().to_u32()
    }

    /// The landing of an agent: the first land on the straight line from a random sample of its patch to a random land
    /// sample.
    fn landing(&self, patch: &Patch, rng: &mut Rng) -> [usize; 2] {
        let sample = |share: f64, samples: usize| (share * samples.to_f64()).to_usize().min(samples - 1);
        let start = [
            sample(patch.west + patch.width * rng.unit(), self.grid.width()),
            sample(patch.north + patch.depth * rng.unit(), self.grid.height()),
        ];
        let goal = self.land[(rng.unit() * self.land.len().to_f64()).to_usize()];
        self.landfall(start, goal)
    }

    /// The last land before the sea in a direction from a land sample; `None` if the sea is farther away than `reach`
    /// samples along the longer axis.
    fn coast_towards(&self, start: [usize; 2], azimuth: f64, reach: u32) -> Option<[usize; 2]> {
        let (south, east) = libm::sincos(azimuth);
        let longest = east.abs().max(south.abs());
        let step = [east / longest, south / longest];
        let mut coast = start;
        for n in 1..=reach {
            // The border of the map is sea, so the walk never leaves the grid.
            let next = [0, 1].map(|axis| (start[axis].to_f64() + f64::from(n) * step[axis]).round().to_usize());
            if !self.is_land(next) {
                return Some(coast);
            }
            coast = next;
        }
        None
    }

    /// The first land on the straight line from one sample to a land sample.
    fn landfall(&self, start: [usize; 2], goal: [usize; 2]) -> [usize; 2] {
        let steps = start[0].abs_diff(goal[0]).max(start[1].abs_diff(goal[1]));
        // Halves are rounded up: (2·n·to + 2·(steps − n)·from + steps) / (2·steps).
        let at = |n: usize, axis: usize| (2 * (n * goal[axis] + (steps - n) * start[axis]) + steps) / (2 * steps);
        (0..steps).map(|n| [at(n, 0), at(n, 1)]).find(|&sample| self.is_land(sample)).unwrap_or(goal)
    }

    /// Turns the neighbouring sea sample with the highest score (the first one, row by row) into land, if the score is
    /// above the threshold. The samples on the border of the map stay sea.
    fn extend(&mut self, [c, r]: [usize; 2], score: impl Fn([f64; 2]) -> f64, threshold: f64) {
        let (width, height) = (self.grid.width(), self.grid.height());
        let mut best = (threshold, None);
        for r in r.saturating_sub(1).max(1)..=(r + 1).min(height - 2) {
            for c in c.saturating_sub(1).max(1)..=(c + 1).min(width - 2) {
                if !self.is_land([c, r]) {
                    let score = score([c.to_f64() / (width - 1).to_f64(), r.to_f64() / (height - 1).to_f64()]);
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
    const WORDS: &'static str = "island shore beach sea coast bay";

    fn uses_seed(&self) -> bool {
        true
    }

    /// One per agent.
    fn iterations(&self) -> u32 {
        1 << self.halvings()
    }

    /// The result and the terrain below; on the reference grid the island, twice during the blur, and its list of
    /// samples.
    fn peak_maps(&self, grid: Grid) -> f64 {
        let reference = Grid::fitted(grid.extent(), self.reference_samples as usize);
        2.0 + 7.0 * reference.samples().to_f64() / grid.samples().to_f64()
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let progress = context.progress;
        let growth = progress.stage(0.0..0.8, || self.grown(context.grid.extent(), context.stream, until, progress))?;
        let mut island = Heightfield::from_fn(growth.grid, |c, r| f32::from(u8::from(growth.is_land([c, r]))));
        let gaussian = GaussianBlur { radius_m: self.blur_m, passes: 1 };
        let mean = BoxBlur { radius_m: 0.75 * self.blur_m, passes: 1 };
        progress.stage(0.8..0.85, || gaussian.blur(&mut island, progress))?;
        progress.stage(0.85..0.9, || mean.blur(&mut island, progress))?;
        let mut terrain = progress.stage(0.9..1.0, || island.resampled(context.grid, progress))?;
        terrain.heights_mut().par_chunks_mut(context.grid.width()).try_for_each(|row| {
            row.iter_mut().for_each(|height| *height = self.height_of(f64::from(*height)).to_f32());
            progress.check()
        })?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::evaluated_with;
    use super::*;

    const WORLD: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };
    const OBLONG: Extent = Extent { width_m: 977.3, depth_m: 4100.7 };

    fn terrain(coastline: &Coastline, grid: Grid, seed: u32) -> Heightfield {
        evaluated_with(coastline, Stream::new(seed, 4), grid, None, coastline.iterations(), None)
    }

    fn square(side: usize) -> Grid {
        Grid::new(WORLD, side, side)
    }

    #[test]
    fn a_score_matches_values_computed_by_hand() {
        let coastline = Coastline { attract: 2.0, repel: 1.0, edge: 3.0, ..Default::default() };
        let agent = Agent { attractor: [0.5, 0.5], repulsor: [0.25, 1.0] };
        // From (0.25, 0.5): 0.5² − 2·0.25² + 3·0.25².
        assert_eq!(coastline.score(&agent, [0.25, 0.5]), 0.25 - 0.125 + 0.1875);
    }

    #[test]
    fn heights_by_hand() {
        let coastline = Coastline { size: 0.25, height_m: 80.0, depth_m: 40.0, ..Default::default() };
        // The coast is where three quarters of the land are left; half way up or down the rise is one half.
        let found = [0.0, 0.375, 0.75, 0.875, 1.0, 1.2].map(|share| coastline.height_of(share));
        assert_eq!(found, [-40.0, -20.0, 0.0, 40.0, 80.0, 80.0]);
    }

    #[test]
    fn patches_cover_the_map_and_share_all_tokens() {
        let coastline = Coastline { patch: 0.2, ..Default::default() };
        assert_eq!(coastline.iterations(), 8);
        let patches: Vec<Patch> = (0..8).map(|index| coastline.patch_at(index, OBLONG, 1003)).collect();
        assert_eq!(patches.iter().map(|patch| patch.tokens).sum::<u32>(), 1003);
        assert_eq!(patches.iter().map(|patch| patch.width * patch.depth).sum::<f64>(), 1.0);
        // 977 × 4101 m is halved to a depth of 2050, 1025 and 513 m, never in width.
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

    /// The growth by a plain implementation, with the land in one list.
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
        let mut land = vec![[width / 2, height / 2]];
        for (i, ([west, north, across, down], tokens)) in patches.into_iter().enumerate().take(until) {
            let mut rng = stream.at(i as u64 + 1);
            let [ax, az, rx, rz] = [0; 4].map(|_| rng.unit());
            let attractor = [west + across * ax, north + down * az];
            let start_c = ((west + across * rng.unit()) * width as f64) as i64;
            let start_r = ((north + down * rng.unit()) * height as f64) as i64;
            let [goal_c, goal_r] = land[(rng.unit() * land.len() as f64) as usize];
            let steps = (goal_c - start_c).abs().max((goal_r - start_r).abs());
            let line = (0..=steps).map(|n| {
                let share = if steps == 0 { 0.0 } else { n as f64 / steps as f64 };
                let towards = |from: i64, to: i64| (from as f64 + share * (to - from) as f64 + 0.5).floor() as i64;
                [towards(start_c, goal_c), towards(start_r, goal_r)]
            });
            let home = line.into_iter().find(|sample| land.contains(sample)).expect("the goal is land");
            let reach = (libm::hypot(across * width as f64, down * height as f64) / 2.0).ceil() as i64;
            for _ in 0..tokens {
                let azimuth = rng.unit() * std::f64::consts::TAU;
                let (east, south) = (libm::cos(azimuth), libm::sin(azimuth));
                let longest = east.abs().max(south.abs());
                let along = |n: i64, from: i64, part: f64| (from as f64 + n as f64 * (part / longest)).round() as i64;
                let mut ray = (0..=reach).map(|n| [along(n, home[0], east), along(n, home[1], south)]);
                let mut coast = home;
                let at_sea = ray.find(|sample| {
                    let is_land = land.contains(sample);
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
                        if on_border || land.contains(&[c, r]) {
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
                land.extend(best.map(|(_, sample)| sample));
            }
        }
        land
    }

    #[test]
    fn the_growth_matches_the_plain_implementation() {
        for (extent, seed) in [(WORLD, 1), (OBLONG, 2)] {
            let coastline = Coastline { reference_samples: 65, patch: 0.05, ..Default::default() };
            for until in [0, 1, 7, coastline.iterations()] {
                let stream = Stream::new(seed, 9);
                let growth = coastline.grown(extent, stream, until, &Progress::new()).expect("not cancelled");
                let found: Vec<[i64; 2]> = growth.land.iter().map(|sample| sample.map(|at| at as i64)).collect();
                assert_eq!(found, plain(&coastline, extent, stream, until as usize), "after {until}");
            }
        }
    }

    #[test]
    fn the_default_is_an_island_with_bays() {
        for seed in 0..6 {
            let terrain = terrain(&Coastline::default(), square(129), seed);
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
            // A square has 4·√area; by this count a disc's coast is equally long.
            let roundness = coast as f64 / (4.0 * area.sqrt());
            assert!(roundness > 1.2, "seed {seed}: a blob ({roundness})");
        }
    }

    #[test]
    fn a_larger_size_only_adds_land() {
        let terrains = [0.2, 0.5, 0.8].map(|size| terrain(&Coastline { size, ..Default::default() }, square(129), 3));
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
