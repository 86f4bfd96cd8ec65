//! Mountains between valley lines: the farther from the coast and from every valley, the higher.
//!
//! After a course project on J. Doran and I. Parberry, "Controlled Procedural Terrain Generation Using Software
//! Agents", IEEE Transactions on Computational Intelligence and AI in Games 2(2), 2010: valleys are random zigzags
//! across the island. Octave o has valleys·2^o of them, those of the octave before among them; its height is the
//! distance to the nearest coast or valley, its greatest taken as 1, and
//! h = `height_m` · (Σ weightᵒ · octave o)^`curve`, the highest sum taken as 1. In the source all slopes are straight:
//! the curve is our own. So is that every valley runs through a place of the island: one that came from the border of
//! the world would miss most small islands.

use std::f64::consts::{PI, TAU};

use rayon::prelude::*;

use super::{Keyframe, Operation, EvalContext};
use crate::engine::distance::{Crossings, lower_to_squared_distances};
use crate::engine::heightfield::{Extent, Grid, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Spec, parameters};
use crate::engine::random::{Draw, Stream};

parameters! {
    /// Raises mountains on the island below, low along its coast and along random valleys, high far from both.
    pub struct Mountains {
        /// How high the highest peak rises.
        height_m: f64 = 600.0,
            Spec::number("Height", 0.0, 20_000.0).slider(1.0, 3000.0).unit("m").logarithmic();
        /// How many valleys cross the island before there is any detail: few leave broad massifs, many make a maze of
        /// ridges.
        valleys: u32 = 5, Spec::number("Valleys", 0.0, 32.0).slider(0.0, 16.0);
        /// How far a valley turns at the most, to either side, from one bend to the next: 0 makes straight cuts, wide
        /// turns make valleys that wander.
        turn_deg: f64 = 50.0, Spec::number("Turn", 0.0, 180.0).slider(0.0, 90.0).unit("°");
        /// How far a valley runs from bend to bend, as a share of the world's longer side.
        segment: f64 = 0.05, Spec::number("Segment", 0.01, 1.0).slider(0.01, 0.3).logarithmic();
        /// How many sets of valleys there are: each has twice as many as the one before, and makes smaller ridges.
        octaves: u32 = 5, Spec::number("Octaves", 1.0, 7.0);
        /// How high each set's ridges are beside those of the set before: small values leave smooth roofs, great ones
        /// jagged rock.
        weight: f64 = 0.45, Spec::number("Weight", 0.0, 1.0);
        /// How hollow the slopes are: at 1 they rise straight from the coast, above it there are plains along the coast
        /// and broad valleys below steep peaks, below it round tops.
        curve: f64 = 1.5, Spec::number("Curve", 0.25, 4.0).slider(0.5, 3.0);
        /// The height of the water: what lies above it below this step is the island. Where there is no coast, the
        /// border of the world is one.
        sea_m: f64 = 0.0, Spec::number("Sea level", -20_000.0, 100_000.0).slider(-500.0, 1000.0).unit("m").fixed();
    }
}

/// A valley that is still in the world after so many of its longer sides to either end ends there.
const LONGEST_SIDES: f64 = 6.0;
/// Squares along each side of the lattice on which places of the island are looked for.
const LATTICE: usize = 128;
/// How many places are tried for a valley until one lies on the island.
const TRIES: usize = 256;

/// Where there is land, on a lattice over the world that is the same at every resolution.
struct Island {
    world: Extent,
    /// Of each point of the lattice, row by row; `None`: all the world is land.
    is_land: Option<Vec<bool>>,
}

impl Island {
    fn new(world: Extent, below: Option<&Heightfield>, sea_m: f32) -> Self {
        let mut island = Self { world, is_land: None };
        island.is_land = below.map(|below| {
            let points = (0..=LATTICE).flat_map(|r| (0..=LATTICE).map(move |c| [c, r]));
            points.map(|point| island.place_m(point)).map(|[x, z]| below.height_at(x, z) > sea_m).collect()
        });
        island
    }

    fn place_m(&self, [c, r]: [usize; 2]) -> [f64; 2] {
        [c as f64 * self.world.width_m / LATTICE as f64, r as f64 * self.world.depth_m / LATTICE as f64]
    }

    fn is_land(&self, [c, r]: [usize; 2]) -> bool {
        self.is_land.as_ref().is_none_or(|is_land| is_land[r * (LATTICE + 1) + c])
    }

    /// A random place of the island; any place if the island lies between the points of the lattice.
    fn random_place_m(&self, draw: &mut Draw) -> [f64; 2] {
        // Not on the border of the world: a valley along it is none.
        let mut along = || 1 + (draw.unit() * (LATTICE - 1) as f64) as usize;
        // Place by place, so that land that comes or goes at one of them moves only the valleys that meet it.
        let mut point = [along(), along()];
        for _ in 1..TRIES {
            if self.is_land(point) {
                return self.place_m(point);
            }
            point = [along(), along()];
        }
        // A small island: its place that is nearest to the last one tried.
        let points = (1..LATTICE).flat_map(|r| (1..LATTICE).map(move |c| [c, r]));
        let nearest = points
            .filter(|&other| self.is_land(other))
            .min_by_key(|other| other[0].abs_diff(point[0]).pow(2) + other[1].abs_diff(point[1]).pow(2));
        self.place_m(nearest.unwrap_or(point))
    }
}

/// The bends of a valley, from a place of the island on until it leaves the world, and then in the other direction.
struct Valley {
    draw: Draw,
    world: Extent,
    segment_m: f64,
    turn: f64,
    place_m: [f64; 2],
    at_m: [f64; 2],
    heading: f64,
    most_segments: u32,
    segments_left: u32,
    /// Where it sets out for in the other direction, until it does.
    other_heading: Option<f64>,
}

impl Mountains {
    /// The valleys of an octave, counted from 0: those of the octaves before are the first of them.
    fn valleys_of(&self, octave: u32) -> u32 {
        self.valleys << octave
    }

    /// Valley i = 1…n, drawn without drawing those before it: through a random place of the island, in a random
    /// direction and the opposite one at first.
    fn valley(&self, i: u32, island: &Island, stream: Stream) -> Valley {
        let mut draw = stream.at(u64::from(i));
        let place_m = island.random_place_m(&mut draw);
        let heading = draw.unit() * TAU;
        let most_segments = (LONGEST_SIDES / self.segment) as u32;
        Valley {
            draw,
            world: island.world,
            segment_m: self.segment * island.world.width_m.max(island.world.depth_m),
            turn: self.turn_deg.to_radians(),
            place_m,
            at_m: place_m,
            heading,
            most_segments,
            segments_left: most_segments,
            other_heading: Some(heading + PI),
        }
    }
}

impl Valley {
    fn goes_on(&self) -> bool {
        let [x, z] = self.at_m;
        let inside = (0.0..=self.world.width_m).contains(&x) && (0.0..=self.world.depth_m).contains(&z);
        inside && self.segments_left > 0
    }
}

impl Iterator for Valley {
    type Item = [[f64; 2]; 2];

    /// The next segment, from bend to bend.
    fn next(&mut self) -> Option<Self::Item> {
        if !self.goes_on() {
            self.heading = self.other_heading.take()?;
            self.at_m = self.place_m;
            self.segments_left = self.most_segments;
        }
        self.segments_left -= 1;
        let [x, z] = self.at_m;
        let length_m = self.segment_m * self.draw.between(0.5, 1.5);
        self.at_m = [x + length_m * libm::cos(self.heading), z + length_m * libm::sin(self.heading)];
        self.heading += self.draw.between(-self.turn, self.turn);
        Some([[x, z], self.at_m])
    }
}

impl Operation for Mountains {
    const KEY: &'static str = "mountains";
    const LABEL: &'static str = "Mountains";

    fn reads_below(&self) -> bool {
        true
    }

    /// One a valley.
    fn iterations(&self) -> u32 {
        self.valleys_of(self.octaves.saturating_sub(1))
    }

    /// Its own land, the land below, the distances, and a quarter of a map for the points of a coast, which is usual:
    /// a longer coast has more.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        3.25
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let width = grid.width();
        let sea_m = self.sea_m as f32;
        let coast = context.below.map(|below| Crossings::contour(below, sea_m, progress)).transpose()?;
        let coast = coast.filter(|coast| !coast.is_empty());
        if coast.is_none() {
            // The whole world lies on one side of the sea. Level land at the very height of the sea is land, so that
            // there are mountains on an empty stack.
            let [lowest, highest] = context.below.map_or([0.0; 2], Heightfield::min_max);
            if highest < sea_m || (highest == sea_m && lowest < sea_m) {
                return Ok(Heightfield::flat(grid));
            }
        }
        // Without a coast all the world is land.
        let below = context.below.filter(|_| coast.is_some());
        let is_land = |i: usize| below.is_none_or(|below| below.heights()[i] > sea_m);

        let island = Island::new(grid.extent(), below, sea_m);
        let counter = progress.counter(self.octaves as usize + 1);
        let mut squares = Heightfield::filled(grid, f32::INFINITY, progress)?;
        lower_to_squared_distances(squares.heights_mut(), coast.unwrap_or_else(|| Crossings::border(grid)), progress)?;
        counter.add_one()?;

        let mut terrain = Heightfield::flat(grid);
        let mut weight = 1.0;
        let mut drawn = 0;
        for octave in 0..self.octaves {
            let count = self.valleys_of(octave).min(until);
            let mut crossings = Crossings::none(grid);
            for i in drawn + 1..=count {
                self.valley(i, &island, context.stream).for_each(|[from, to]| crossings.add_segment(from, to));
                progress.check()?;
            }
            drawn = count;
            lower_to_squared_distances(squares.heights_mut(), crossings, progress)?;
            let farthest = squares.heights().par_chunks(width).enumerate().map(|(r, squares)| {
                let on_land = squares.iter().enumerate().filter(|(c, _)| is_land(r * width + c));
                progress.check().map(|()| on_land.fold(0.0_f32, |farthest, (_, &square)| farthest.max(square)))
            });
            let farthest = farthest.try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?;
            if farthest > 0.0 {
                let share = (weight / f64::from(farthest).sqrt()) as f32;
                terrain.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
                    let on_land = row.iter_mut().enumerate().filter(|(c, _)| is_land(r * width + c));
                    on_land.for_each(|(c, height)| *height += share * squares[(c, r)].sqrt());
                    progress.check()
                })?;
            }
            weight *= self.weight;
            counter.add_one()?;
        }
        let [_, highest] = terrain.min_max();
        if highest > 0.0 {
            let bent = |height: f32| self.height_m * libm::pow(f64::from(height) / f64::from(highest), self.curve);
            terrain.heights_mut().par_chunks_mut(width).try_for_each(|row| {
                row.iter_mut().for_each(|height| *height = bent(*height) as f32);
                progress.check()
            })?;
        }
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{raised, stream};
    use super::*;

    const WORLD: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };
    const OBLONG: Extent = Extent { width_m: 977.3, depth_m: 4100.7 };

    fn terrain(mountains: &Mountains, grid: Grid, below: Option<&Heightfield>) -> Heightfield {
        raised(mountains, grid, below, mountains.iterations())
    }

    /// Two domes that meet, in a sea.
    fn islands(grid: Grid) -> Heightfield {
        let Extent { width_m, depth_m } = grid.extent();
        let dome = |u: f64, v: f64, [x, z]: [f64; 2], reach: f64| {
            1.0 - ((u - x) * (u - x) + (v - z) * (v - z)).sqrt() / reach
        };
        Heightfield::from_fn(grid, |c, r| {
            let (u, v) = (grid.x_m(c) / width_m, grid.z_m(r) / depth_m);
            (90.0 * dome(u, v, [0.4, 0.4], 0.3).max(dome(u, v, [0.7, 0.65], 0.22))) as f32
        })
    }

    #[test]
    fn without_valleys_and_sea_the_world_is_a_roof() {
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 80.0 }, 5, 5);
        let roof = Mountains { valleys: 0, height_m: 100.0, curve: 1.0, ..Default::default() };
        let found = raised(&roof, grid, None, 0);
        let rows: [[f32; 5]; 2] = [[0.0; 5], [0.0, 50.0, 100.0, 50.0, 0.0]];
        for (r, expected) in [0, 1, 1, 1, 0].into_iter().enumerate() {
            let close = found.row(r).iter().zip(rows[expected]).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(close, "row {r}: {:?}", found.row(r));
        }
        assert_eq!(raised(&roof, grid, Some(&Heightfield::flat(grid)), 0), found, "no land below is level land");
        let hollow = raised(&Mountains { curve: 2.0, ..roof }, grid, None, 0);
        assert!((hollow[(1, 2)] - 25.0).abs() < 1e-4 && (hollow[(2, 2)] - 100.0).abs() < 1e-4);
    }

    #[test]
    fn land_that_is_all_under_water_stays_flat() {
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
    fn valleys_run_out_of_the_world_both_ways_and_turn_within_bounds() {
        let mountains = Mountains { turn_deg: 30.0, segment: 0.04, ..Default::default() };
        let island = Island::new(OBLONG, None, 0.0);
        let heading = |[from, to]: [[f64; 2]; 2]| libm::atan2(to[1] - from[1], to[0] - from[0]);
        let between = |a: f64, b: f64| (a - b + PI).rem_euclid(TAU) - PI;
        for i in 1..40 {
            let segments: Vec<[[f64; 2]; 2]> = mountains.valley(i, &island, Stream::new(1, 2)).collect();
            let other = segments.iter().skip(1).position(|[from, _]| *from == segments[0][0]).expect("another way") + 1;
            let ways = [&segments[..other], &segments[other..]];
            assert!((between(heading(ways[0][0]), heading(ways[1][0])).abs() - PI).abs() < 1e-9, "opposite ways");
            for way in ways {
                let [x, z] = way[way.len() - 1][1];
                assert!(!(0.0..=OBLONG.width_m).contains(&x) || !(0.0..=OBLONG.depth_m).contains(&z), "{x}, {z}");
                for pair in way.windows(2) {
                    assert_eq!(pair[0][1], pair[1][0]);
                    assert!(between(heading(pair[0]), heading(pair[1])).to_degrees().abs() <= 30.0 + 1e-9);
                }
                for [from, to] in way {
                    let share = libm::hypot(to[0] - from[0], to[1] - from[1]) / OBLONG.depth_m;
                    assert!((0.02..=0.06).contains(&share), "a segment of {share}");
                }
            }
        }
    }

    #[test]
    fn every_valley_crosses_the_island_however_small() {
        // A dome of 150 m across in a corner: a thousandth of the world.
        let below = |side| {
            let grid = Grid::new(WORLD, side, side);
            Heightfield::from_fn(grid, |c, r| (75.0 - libm::hypot(grid.x_m(c) - 3600.0, grid.z_m(r) - 512.0)) as f32)
        };
        let mountains = Mountains::default();
        let islands = [257, 300, 1025].map(|side| Island::new(WORLD, Some(&below(side)), 0.0));
        for i in 1..=mountains.iterations() {
            let ways = islands.each_ref().map(|island| mountains.valley(i, island, stream()).place_m);
            assert!(ways.iter().all(|place| *place == ways[0]), "valley {i}: {ways:?}");
            let [x, z] = ways[0];
            assert!(libm::hypot(x - 3600.0, z - 512.0) < 75.0, "valley {i} runs through {x}, {z}");
        }
    }

    /// The formula written out: every sample against every segment of the coast and of the valleys.
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
            let lines = (1..=mountains.valleys * (1 << octave)).flat_map(|i| {
                mountains.valley(i, &island, stream())
            });
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
    fn the_mountains_equal_the_plain_formula() {
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
    fn the_sea_and_the_valleys_stay_low_and_the_highest_peak_has_its_height() {
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
    fn every_iteration_cuts_a_valley() {
        let mountains = Mountains { octaves: 2, valleys: 2, ..Default::default() };
        assert_eq!(mountains.iterations(), 4);
        let below = islands(Grid::new(WORLD, 65, 65));
        let terrains: Vec<Heightfield> = (0..=4).map(|until| raised(&mountains, below.grid(), Some(&below), until)).collect();
        assert!(terrains.windows(2).all(|pair| pair[0] != pair[1]));
        // The first valley is the same however many follow it, and in every octave it is the only one yet: the same land
        // whatever the octaves weigh, but for what is rounded in their sum.
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
                let squares = (0..width * height).map(|i| {
                    let (c, r) = (i % width, i / width);
                    f64::from(small[(c, r)] - large[(4 * c, 4 * r)])
                });
                let rms = (squares.map(|d| d * d).sum::<f64>() / (width * height) as f64).sqrt();
                let share = rms / Mountains::default().height_m;
                println!("{width} × {height}, sea {with_sea}: RMS {:.3} % of the range", 100.0 * share);
                assert!(share < 0.02, "{share}");
            }
        }
    }
}
