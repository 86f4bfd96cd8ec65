//! Mountains between valley lines: the height grows with the distance from the coast and from every valley.
//!
//! After a course project on J. Doran and I. Parberry, "Controlled Procedural Terrain Generation Using Software
//! Agents", IEEE Transactions on Computational Intelligence and AI in Games 2(2), 2010: valleys are random zigzags
//! across the island. Octave o has valleys·2^o of them, including those of the octaves before. Its height is the
//! distance to the nearest coast or valley, normalised to 1, and h = `height_m` · (Σ weightᵒ · octave o)^`curve`, with
//! the sum normalised to 1. The source has straight slopes and starts valleys at the border of the map. The curve is an
//! addition. Every valley runs through a point of the island, because most valleys that start at the border would miss
//! a small island.

use std::f64::consts::{PI, TAU};

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::{ToFloat, ToInteger};
use crate::distance::{Crossings, lower_to_squared_distances};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;
use crate::random::{Rng, Stream};

parameters! {
    /// Adds mountains to the island below: low along its coast and along random valleys, high in between.
    pub struct Mountains {
        /// Height of the highest peak above the island below.
        height_m: f64 = 600.0,
            Spec::number("Peak height", 0.0, 20_000.0).slider(1.0, 3000.0).unit("m").logarithmic();
        /// Number of valleys in the first octave. Few leave broad massifs; many make a maze of ridges.
        valleys: u32 = 5, Spec::number("Valleys", 0.0, 32.0).slider(0.0, 16.0);
        /// Largest turn to either side at a bend of a valley. 0 makes straight cuts; large angles make winding valleys.
        turn_deg: f64 = 50.0, Spec::number("Maximum turn", 0.0, 180.0).slider(0.0, 90.0).unit("°");
        /// Distance between the bends of a valley, relative to the map's longer side.
        segment: f64 = 0.05, Spec::number("Segment length", 0.01, 1.0).slider(0.01, 0.3).logarithmic().percent();
        /// Number of sets of valleys. Each has twice as many as the one before and makes smaller ridges.
        octaves: u32 = 5, Spec::number("Octaves", 1.0, 7.0);
        /// Ratio of the heights of consecutive octaves. Low values make smooth slopes; high values make jagged rock.
        weight: f64 = 0.45, Spec::number("Gain", 0.0, 1.0);
        /// Exponent of the slopes. 1 makes them straight; higher values make coastal plains and broad valleys below
        /// steep peaks; lower values make round tops.
        curve: f64 = 1.5, Spec::number("Slope profile", 0.25, 4.0).slider(0.5, 3.0);
        /// Height of the water. The island is the terrain above it. Without a coast, the border of the map counts as
        /// one.
        sea_m: f64 = 0.0, Spec::number("Sea level", -20_000.0, 100_000.0).slider(-500.0, 1000.0).unit("m").fixed();
    }
}

/// The maximum length of a valley to either end, in longer sides of the map.
const MAX_SIDES: f64 = 6.0;
/// Squares along each side of the lattice on which points of the island are searched.
const LATTICE: usize = 128;
/// Random points tried for a valley before a search for the nearest point of the island.
const MAX_TRIES: usize = 256;

/// The land samples of a lattice over the map, which is the same at every resolution.
struct Island {
    world: Extent,
    /// Whether each point of the lattice is land, row by row; `None` if the whole map is.
    is_land: Option<Vec<bool>>,
}

impl Island {
    fn new(world: Extent, below: Option<&Heightfield>, sea_m: f32) -> Self {
        let mut island = Self { world, is_land: None };
        island.is_land = below.map(|below| {
            let points = (0..=LATTICE).flat_map(|r| (0..=LATTICE).map(move |c| [c, r]));
            points.map(|point| island.position_m(point)).map(|[x, z]| below.height_at(x, z) > sea_m).collect()
        });
        island
    }

    fn position_m(&self, [c, r]: [usize; 2]) -> [f64; 2] {
        [c.to_f64() * self.world.width_m / LATTICE.to_f64(), r.to_f64() * self.world.depth_m / LATTICE.to_f64()]
    }

    fn is_land(&self, [c, r]: [usize; 2]) -> bool {
        self.is_land.as_ref().is_none_or(|is_land| is_land[r * (LATTICE + 1) + c])
    }

    /// A random point of the island; any point if the island is between the points of the lattice.
    fn random_point_m(&self, rng: &mut Rng) -> [f64; 2] {
        // Not on the border of the map, where a valley would have no effect.
        let mut along = || 1 + (rng.unit() * (LATTICE - 1).to_f64()).to_usize();
        // Draws points one by one, so that a change of the island moves only the valleys that draw a changed point.
        let mut point = [along(), along()];
        for _ in 1..MAX_TRIES {
            if self.is_land(point) {
                return self.position_m(point);
            }
            point = [along(), along()];
        }
        // A small island: its nearest point to the last one tried.
        let points = (1..LATTICE).flat_map(|r| (1..LATTICE).map(move |c| [c, r]));
        let nearest = points
            .filter(|&other| self.is_land(other))
            .min_by_key(|other| other[0].abs_diff(point[0]).pow(2) + other[1].abs_diff(point[1]).pow(2));
        self.position_m(nearest.unwrap_or(point))
    }
}

/// Iterates over the segments of a valley: from a point of the island until it leaves the map, then in the opposite
/// direction.
struct Valley {
    rng: Rng,
    world: Extent,
    segment_m: f64,
    turn: f64,
    start_m: [f64; 2],
    at_m: [f64; 2],
    heading: f64,
    max_segments: u32,
    segments_left: u32,
    /// The heading of the opposite direction, until it is used.
    opposite_heading: Option<f64>,
}

impl Mountains {
    /// The number of valleys of an octave, counted from 0. They include the valleys of all earlier octaves, which come
    /// first.
    fn valleys_of(&self, octave: u32) -> u32 {
        self.valleys << octave
    }

    /// Valley i = 1…n, generated independently of the others. It runs through a random point of the island, starting in
    /// a random direction and its opposite.
    fn valley(&self, i: u32, island: &Island, stream: Stream) -> Valley {
        let mut rng = stream.at(u64::from(i));
        let start_m = island.random_point_m(&mut rng);
        let heading = rng.unit() * TAU;
        let max_segments = (MAX_SIDES / self.segment).to_u32();
        Valley {
            rng,
            world: island.world,
            segment_m: self.segment * island.world.width_m.max(island.world.depth_m),
            turn: self.turn_deg.to_radians(),
            start_m,
            at_m: start_m,
            heading,
            max_segments,
            segments_left: max_segments,
            opposite_heading: Some(heading + PI),
        }
    }
}

impl Valley {
    fn continues(&self) -> bool {
        let [x, z] = self.at_m;
        let inside = (0.0..=self.world.width_m).contains(&x) && (0.0..=self.world.depth_m).contains(&z);
        inside && self.segments_left > 0
    }
}

impl Iterator for Valley {
    type Item = [[f64; 2]; 2];

    /// The next segment, from bend to bend.
    fn next(&mut self) -> Option<Self::Item> {
        if !self.continues() {
            self.heading = self.opposite_heading.take()?;
            self.at_m = self.start_m;
            self.segments_left = self.max_segments;
        }
        self.segments_left -= 1;
        let [x, z] = self.at_m;
        let length_m = self.segment_m * self.rng.between(0.5, 1.5);
        self.at_m = [x + length_m * libm::cos(self.heading), z + length_m * libm::sin(self.heading)];
        self.heading += self.rng.between(-self.turn, self.turn);
        Some([[x, z], self.at_m])
    }
}

impl Operation for Mountains {
    const KEY: &'static str = "mountains";
    const LABEL: &'static str = "Mountains";
    const WORDS: &'static str = "peak mountain range ridge";

    fn uses_seed(&self) -> bool {
        true
    }

    fn reads_below(&self) -> bool {
        true
    }

    /// One per valley.
    fn iterations(&self) -> u32 {
        self.valleys_of(self.octaves.saturating_sub(1))
    }

    /// The result, the terrain below, the distances, and a quarter of a map for the points of a coast of usual length.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        3.25
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let sea_m = self.sea_m.to_f32();
        let coast = context.below.map(|below| Crossings::contour(below, sea_m, progress)).transpose()?;
        let coast = coast.filter(|coast| !coast.is_empty());
        if coast.is_none() {
            // The whole map is on one side of the sea level. Level terrain exactly at the sea level is land, so that
            // there are mountains on an empty stack.
            let [lowest, highest] = context.below.map_or([0.0; 2], Heightfield::min_max);
            if highest < sea_m || (highest == sea_m && lowest < sea_m) {
                return Ok(Heightfield::flat(grid));
            }
        }
        // Without a coast the whole map is land.
        let below = context.below.filter(|_| coast.is_some());
        let coast = coast.unwrap_or_else(|| Crossings::border(grid));
        let mut terrain = self.sum_of_octaves(context, below, coast, until)?;
        let [_, highest] = terrain.min_max();
        if highest > 0.0 {
            let scaled = |height: f32| self.height_m * libm::pow(f64::from(height) / f64::from(highest), self.curve);
            terrain.heights_mut().par_chunks_mut(grid.width()).try_for_each(|row| {
                row.iter_mut().for_each(|height| *height = scaled(*height).to_f32());
                progress.check()
            })?;
        }
        Ok(terrain)
    }
}

impl Mountains {
    /// Σ weightᵒ · octave o on the land, which is all of the map if there is no terrain below.
    fn sum_of_octaves(
        &self,
        context: &EvalContext,
        below: Option<&Heightfield>,
        coast: Crossings,
        until: u32,
    ) -> Result<Heightfield, Cancelled> {
        let (grid, progress, width) = (context.grid, context.progress, context.grid.width());
        let sea_m = self.sea_m.to_f32();
        let is_land = |i: usize| below.is_none_or(|below| below.heights()[i] > sea_m);
        let island = Island::new(grid.extent(), below, sea_m);
        let counter = progress.counter(self.octaves as usize + 1);
        let mut squares = Heightfield::filled(grid, f32::INFINITY, progress)?;
        lower_to_squared_distances(squares.heights_mut(), coast, progress)?;
        counter.add_one()?;

        let mut terrain = Heightfield::flat(grid);
        let mut weight = 1.0;
        let mut done = 0;
        for octave in 0..self.octaves {
            let count = self.valleys_of(octave).min(until);
            let mut crossings = Crossings::none(grid);
            for i in done + 1..=count {
                self.valley(i, &island, context.stream).for_each(|[from, to]| crossings.add_segment(from, to));
                progress.check()?;
            }
            done = count;
            lower_to_squared_distances(squares.heights_mut(), crossings, progress)?;
            let farthest = squares.heights().par_chunks(width).enumerate().map(|(r, squares)| {
                let on_land = squares.iter().enumerate().filter(|(c, _)| is_land(r * width + c));
                progress.check().map(|()| on_land.fold(0.0_f32, |farthest, (_, &square)| farthest.max(square)))
            });
            let farthest = farthest.try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?;
            if farthest > 0.0 {
                let scale = (weight / f64::from(farthest).sqrt()).to_f32();
                terrain.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
                    let on_land = row.iter_mut().enumerate().filter(|(c, _)| is_land(r * width + c));
                    on_land.for_each(|(c, height)| *height += scale * squares[(c, r)].sqrt());
                    progress.check()
                })?;
            }
            weight *= self.weight;
            counter.add_one()?;
        }
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, relative_rms, stream};
    use super::*;

    const WORLD: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };
    const OBLONG: Extent = Extent { width_m: 977.3, depth_m: 4100.7 };

    fn terrain(mountains: &Mountains, grid: Grid, below: Option<&Heightfield>) -> Heightfield {
        evaluated(mountains, grid, below, mountains.iterations())
    }

    /// Two overlapping domes in a sea.
    fn islands(grid: Grid) -> Heightfield {
        let Extent { width_m, depth_m } = grid.extent();
        let dome =
            |u: f64, v: f64, [x, z]: [f64; 2], reach: f64| 1.0 - ((u - x) * (u - x) + (v - z) * (v - z)).sqrt() / reach;
        Heightfield::from_fn(grid, |c, r| {
            let (u, v) = (grid.x_m(c) / width_m, grid.z_m(r) / depth_m);
            (90.0 * dome(u, v, [0.4, 0.4], 0.3).max(dome(u, v, [0.7, 0.65], 0.22))) as f32
        })
    }

    #[test]
    fn without_valleys_and_sea_the_map_is_a_roof() {
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 80.0 }, 5, 5);
        let roof = Mountains { valleys: 0, height_m: 100.0, curve: 1.0, ..Default::default() };
        let found = evaluated(&roof, grid, None, 0);
        let rows: [[f32; 5]; 2] = [[0.0; 5], [0.0, 50.0, 100.0, 50.0, 0.0]];
        for (r, expected) in [0, 1, 1, 1, 0].into_iter().enumerate() {
            let close = found.row(r).iter().zip(rows[expected]).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(close, "row {r}: {:?}", found.row(r));
        }
        assert_eq!(
            evaluated(&roof, grid, Some(&Heightfield::flat(grid)), 0),
            found,
            "no terrain below is level terrain"
        );
        let hollow = evaluated(&Mountains { curve: 2.0, ..roof }, grid, None, 0);
        assert!((hollow[(1, 2)] - 25.0).abs() < 1e-4 && (hollow[(2, 2)] - 100.0).abs() < 1e-4);
    }

    #[test]
    fn a_map_below_the_sea_stays_flat() {
        let grid = Grid::new(WORLD, 65, 65);
        let below = islands(grid);
        let [lowest, highest] = below.min_max().map(f64::from);
        let with_sea = |sea_m: f64, below| terrain(&Mountains { sea_m, ..Default::default() }, grid, below);
        let everywhere = with_sea(0.0, None);
        assert_eq!(with_sea(lowest - 1.0, Some(&below)), everywhere, "all land: the border is the coast");
        for sea_m in [highest, highest + 1.0] {
            assert_eq!(with_sea(sea_m, Some(&below)), Heightfield::flat(grid), "all sea");
        }
        assert_eq!(with_sea(-1.0, None), everywhere);
        assert_eq!(with_sea(1.0, None), Heightfield::flat(grid));
        let summit = with_sea(highest - 0.5, Some(&below));
        assert!(summit.heights().iter().filter(|height| **height > 0.0).count() < 65, "an island of few samples");
    }

    #[test]
    fn valleys_leave_the_map_at_both_ends_and_turn_within_bounds() {
        let mountains = Mountains { turn_deg: 30.0, segment: 0.04, ..Default::default() };
        let island = Island::new(OBLONG, None, 0.0);
        let heading = |[from, to]: [[f64; 2]; 2]| libm::atan2(to[1] - from[1], to[0] - from[0]);
        let between = |a: f64, b: f64| (a - b + PI).rem_euclid(TAU) - PI;
        for i in 1..40 {
            let segments: Vec<[[f64; 2]; 2]> = mountains.valley(i, &island, Stream::new(1, 2)).collect();
            let other =
                segments.iter().skip(1).position(|[from, _]| *from == segments[0][0]).expect("a second direction") + 1;
            let directions = [&segments[..other], &segments[other..]];
            assert!(
                (between(heading(directions[0][0]), heading(directions[1][0])).abs() - PI).abs() < 1e-9,
                "opposite directions"
            );
            for direction in directions {
                let [x, z] = direction[direction.len() - 1][1];
                assert!(!(0.0..=OBLONG.width_m).contains(&x) || !(0.0..=OBLONG.depth_m).contains(&z), "{x}, {z}");
                for pair in direction.windows(2) {
                    assert_eq!(pair[0][1], pair[1][0]);
                    assert!(between(heading(pair[0]), heading(pair[1])).to_degrees().abs() <= 30.0 + 1e-9);
                }
                for [from, to] in direction {
                    let share = libm::hypot(to[0] - from[0], to[1] - from[1]) / OBLONG.depth_m;
                    assert!((0.02..=0.06).contains(&share), "a segment of {share}");
                }
            }
        }
    }

    #[test]
    fn every_valley_crosses_even_a_small_island() {
        // A dome of 150 m across in a corner, a thousandth of the map.
        let below = |side| {
            let grid = Grid::new(WORLD, side, side);
            Heightfield::from_fn(grid, |c, r| (75.0 - libm::hypot(grid.x_m(c) - 3600.0, grid.z_m(r) - 512.0)) as f32)
        };
        let mountains = Mountains::default();
        let islands = [257, 300, 1025].map(|side| Island::new(WORLD, Some(&below(side)), 0.0));
        for i in 1..=mountains.iterations() {
            let directions = islands.each_ref().map(|island| mountains.valley(i, island, stream()).start_m);
            assert!(directions.iter().all(|place| *place == directions[0]), "valley {i}: {directions:?}");
            let [x, z] = directions[0];
            assert!(libm::hypot(x - 3600.0, z - 512.0) < 75.0, "valley {i} runs through {x}, {z}");
        }
    }

    /// The plain formula: every sample against every segment of the coast and of the valleys.
    fn plain(mountains: &Mountains, below: &Heightfield) -> Vec<f64> {
        let grid = below.grid();
        let mut coast = Vec::new();
        for r in 0..grid.height() {
            for c in 0..grid.width() {
                let here = below[(c, r)];
                for (other_c, other_r) in [(c + 1, r), (c, r + 1)] {
                    if other_c < grid.width() && other_r < grid.height() {
                        let there = below[(other_c, other_r)];
                        if (here > 0.0) != (there > 0.0) {
                            let share = f64::from(here / (here - there));
                            let x = grid.x_m(c) + share * (grid.x_m(other_c) - grid.x_m(c));
                            let z = grid.z_m(r) + share * (grid.z_m(other_r) - grid.z_m(r));
                            coast.push([[x, z], [x, z]]);
                        }
                    }
                }
            }
        }
        let distance = |x: f64, z: f64, [from, to]: &[[f64; 2]; 2]| {
            let (dx, dz) = (to[0] - from[0], to[1] - from[1]);
            let length = dx * dx + dz * dz;
            let along = ((x - from[0]) * dx + (z - from[1]) * dz) / length;
            let along = if length == 0.0 { 0.0 } else { along.clamp(0.0, 1.0) };
            libm::hypot(x - from[0] - along * dx, z - from[1] - along * dz)
        };
        let island = Island::new(grid.extent(), Some(below), 0.0);
        let mut sum = vec![0.0; grid.samples()];
        for octave in 0..mountains.octaves {
            let lines = (1..=mountains.valleys * (1 << octave)).flat_map(|i| mountains.valley(i, &island, stream()));
            let segments: Vec<[[f64; 2]; 2]> = coast.iter().copied().chain(lines).collect();
            let distances: Vec<f64> = (0..grid.samples())
                .map(|i| {
                    if below.heights()[i] <= 0.0 {
                        return 0.0;
                    }
                    let (x, z) = (grid.x_m(i % grid.width()), grid.z_m(i / grid.width()));
                    segments.iter().map(|segment| distance(x, z, segment)).fold(f64::INFINITY, f64::min)
                })
                .collect();
            let farthest = distances.iter().fold(0.0, |a: f64, b| a.max(*b));
            let weight = libm::pow(mountains.weight, f64::from(octave));
            sum.iter_mut().zip(distances).for_each(|(sum, distance)| *sum += weight * distance / farthest);
        }
        let highest = sum.iter().fold(0.0, |a: f64, b| a.max(*b));
        sum.into_iter().map(|sum| mountains.height_m * libm::pow(sum / highest, mountains.curve)).collect()
    }

    #[test]
    fn the_mountains_match_the_plain_formula() {
        let mountains = Mountains { height_m: 1000.0, octaves: 3, valleys: 3, ..Default::default() };
        for (extent, width, height) in [(WORLD, 101, 101), (OBLONG, 41, 171)] {
            let below = islands(Grid::new(extent, width, height));
            let found = terrain(&mountains, below.grid(), Some(&below));
            let expected = plain(&mountains, &below);
            let differences = || found.heights().iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).abs());
            let worst = differences().fold(0.0, f64::max);
            let rms = (differences().map(|d| d * d).sum::<f64>() / expected.len() as f64).sqrt();
            println!("{width} × {height}: worst {worst:.2} m, RMS {rms:.3} m");
            assert!(rms < 5.0, "{rms} m");
        }
    }

    #[test]
    fn sea_and_valleys_stay_low_and_the_highest_peak_has_the_given_height() {
        let below = islands(Grid::new(WORLD, 201, 201));
        let mountains = Mountains { sea_m: 20.0, ..Default::default() };
        let found = terrain(&mountains, below.grid(), Some(&below));
        for (below, height) in below.heights().iter().zip(found.heights()) {
            assert!(*below > 20.0 || *height == 0.0);
        }
        assert!((found.min_max()[1] - mountains.height_m as f32).abs() < 1e-2);
        let island = Island::new(WORLD, Some(&below), 20.0);
        for i in 1..=mountains.valleys {
            for [from, _] in mountains.valley(i, &island, stream()) {
                assert!(found.height_at(from[0], from[1]) < 0.1 * mountains.height_m as f32, "{from:?}");
            }
        }
    }

    #[test]
    fn every_iteration_adds_a_valley() {
        let mountains = Mountains { octaves: 2, valleys: 2, ..Default::default() };
        assert_eq!(mountains.iterations(), 4);
        let below = islands(Grid::new(WORLD, 65, 65));
        let terrains: Vec<Heightfield> =
            (0..=4).map(|until| evaluated(&mountains, below.grid(), Some(&below), until)).collect();
        assert!(terrains.windows(2).all(|pair| pair[0] != pair[1]));
        // With one valley every octave is the same, so the weights have no effect except for rounding, and the valley
        // does not depend on how many follow it.
        let alone = Mountains { octaves: 1, valleys: 1, ..mountains };
        let alone = terrain(&alone, below.grid(), Some(&below));
        let pairs = terrains[1].heights().iter().zip(alone.heights());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 0.01));
        assert!(terrains[0].heights().iter().zip(alone.heights()).any(|(a, b)| (a - b).abs() > 10.0));
    }

    #[test]
    fn small_maps_agree_with_large_ones() {
        for (extent, [width, height]) in [(WORLD, [257, 257]), (OBLONG, [62, 257])] {
            for with_sea in [false, true] {
                let at = |factor: usize| {
                    let grid = Grid::new(extent, (width - 1) * factor + 1, (height - 1) * factor + 1);
                    let below = with_sea.then(|| islands(grid));
                    terrain(&Mountains::default(), grid, below.as_ref())
                };
                let (small, large) = (at(1), at(4));
                let share = relative_rms(&small, &large);
                println!("{width} × {height}, sea {with_sea}: RMS {:.3} % of the range", 100.0 * share);
                assert!(share < 0.02, "{share}");
            }
        }
    }
}
