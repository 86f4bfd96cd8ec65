//! Land heaped up of particles that roll downhill until they come to rest.
//!
//! After the Lighthouse3D terrain tutorial, "Particle deposition": particles are dropped around a point that walks or
//! jumps; a particle at height h rolls to the steepest of its eight neighbours while (h − hₙ)/distance exceeds the tangent
//! of the angle of repose, then adds its own height to the sample where it lies. The border of the world is a wall.
//!
//! Particles of one kind dropped at one sample make pyramids of eight sides. Two things make hills of them: particles
//! scatter around the point, and each has a slope of its own at which it rests, so that rounded ones roll out into a foot
//! that rises gently, and angular ones stay on the steep heights, as on a volcano.
//!
//! The walk goes on in metres, by a step of equal length every iteration, turned a little against the one before; where
//! it leaves the world it is reflected. Where it stands at iteration i follows from the last jump before i and the turns
//! since then, so that no particle has to be rolled to find it. The samples over which particles roll are those of a
//! reference grid of the world: the land is the same heap at every resolution.

use std::f64::consts::TAU;

use super::{Keyframe, Operation, EvalContext};
use crate::engine::heightfield::{Extent, Grid, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Spec, parameters};
use crate::engine::random::{Draw, Stream};

parameters! {
    /// Heaps up hills of particles that roll down the slopes: volcanoes where the point of the drop stays, chains of
    /// hills and dunes where it walks.
    pub struct Particles {
        /// How many heaps are dropped one after another, one an iteration.
        count: u32 = 120, Spec::number("Count", 0.0, 100_000.0).slider(1.0, 2000.0).logarithmic();
        /// How many particles make a heap: more of them make larger hills.
        drops: u32 = 5000, Spec::number("Drops", 0.0, 10_000.0).slider(1.0, 10_000.0).logarithmic();
        /// How high a particle lies on a sample of the reference grid: small ones make smooth hills, large ones make
        /// stony hills.
        height_m: f64 = 2.0, Spec::number("Particle height", 0.0, 1000.0).slider(0.05, 20.0).unit("m").logarithmic();
        /// The steepest slope on which a particle stays: flat fans at small angles, steep cones at large ones.
        repose_deg: f64 = 38.0, Spec::number("Angle of repose", 0.0, 89.0).slider(2.0, 60.0).unit("°");
        /// How much particles differ in the slope on which they stay: at 0 hillsides are straight and end in a sharp
        /// foot, at 1 some particles roll on as long as there is any slope, and hills run out gently.
        repose_spread: f64 = 0.9, Spec::number("Repose spread", 0.0, 1.0);
        /// How far from the point of the drop particles fall, most of them near it: 0 heaps up sharp pyramids.
        scatter_m: f64 = 130.0,
            Spec::number("Scatter", 0.0, 100_000.0).slider(1.0, 2000.0).unit("m").logarithmic();
        /// The chance that the next heap lies anywhere; otherwise the point of the drop walks on from the last one.
        jump_chance: f64 = 0.1, Spec::number("Jump chance", 0.0, 1.0);
        /// How far the point of the drop walks from one heap to the next: small steps pile up mountains, large ones
        /// make long ridges, and the largest rows of single hills.
        walk_m: f64 = 100.0, Spec::number("Walk", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// How far to either side the walk may turn from one heap to the next: 0 heaps up straight chains, large angles
        /// massifs.
        turn_deg: f64 = 60.0, Spec::number("Turn", 0.0, 180.0).unit("°");
        /// How many samples the longer side of the grid has over which particles roll, at every size of map: more of
        /// them make finer hills, of less sand.
        reference_samples: u32 = 257,
            Spec::number("Reference samples", 17.0, 1025.0).slider(65.0, 513.0).logarithmic().fixed();
    }
}

/// Heaps grow no higher than this, whatever is dropped on them.
const FULL_M: f32 = 1e8;
/// Particles rolled, or iterations looked through, between two looks at the monitor.
const STRETCH: u32 = 64;

/// The point of the drop.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Walk {
    /// As if the world had mirrors for borders: [`reflected`] tells where that is.
    place_m: [f64; 2],
    /// Where the last step went, from east over south.
    heading: f64,
}

/// A coordinate beyond the borders 0 and `side_m`, mirrored back as often as needed.
fn reflected(m: f64, side_m: f64) -> f64 {
    let there_and_back = m.rem_euclid(2.0 * side_m);
    if there_and_back > side_m { 2.0 * side_m - there_and_back } else { there_and_back }
}

impl Particles {
    /// Whether the heap of iteration i = 1…n lies anywhere, and the further numbers of that iteration.
    fn jump(&self, i: u32, stream: Stream) -> (bool, Draw) {
        let mut draw = stream.at(u64::from(i));
        let jumps = draw.chance(self.jump_chance);
        (jumps || i == 1, draw)
    }

    /// The walk at iteration i from that of the iteration before, and the numbers left for the particles. `before` does
    /// not matter where the walk jumps.
    fn walked(&self, before: Walk, i: u32, extent: Extent, stream: Stream) -> (Walk, Draw) {
        let (jumps, mut draw) = self.jump(i, stream);
        let walk = if jumps {
            let place_m = [draw.unit() * extent.width_m, draw.unit() * extent.depth_m];
            Walk { place_m, heading: draw.unit() * TAU }
        } else {
            let turn = self.turn_deg.to_radians();
            let heading = before.heading + draw.between(-turn, turn);
            let (south, east) = libm::sincos(heading);
            let [x, z] = before.place_m;
            Walk { place_m: [x + self.walk_m * east, z + self.walk_m * south], heading }
        };
        (walk, draw)
    }

    /// The walk after iteration i, from the last jump up to then.
    fn walk_after(&self, i: u32, context: &EvalContext) -> Result<Walk, Cancelled> {
        let mut last_jump = i.max(1);
        while !self.jump(last_jump, context.stream).0 {
            last_jump -= 1;
            if last_jump.is_multiple_of(STRETCH) {
                context.progress.check()?;
            }
        }
        let mut walk = Walk { place_m: [0.0; 2], heading: 0.0 };
        for i in last_jump..=i {
            walk = self.walked(walk, i, context.grid.extent(), context.stream).0;
            if i.is_multiple_of(STRETCH) {
                context.progress.check()?;
            }
        }
        Ok(walk)
    }

    /// Drops the particles of one iteration.
    fn heap(&self, ground: &mut Ground, walk: Walk, draw: &mut Draw, context: &EvalContext) -> Result<(), Cancelled> {
        let repose = libm::tan(self.repose_deg.to_radians());
        for n in 0..self.drops {
            if n.is_multiple_of(STRETCH) {
                context.progress.check()?;
            }
            let (south, east) = libm::sincos(draw.unit() * TAU);
            let away_m = self.scatter_m * draw.unit();
            let [x_m, z_m] = walk.place_m;
            let start = ground.nearest(context.grid, [x_m + away_m * east, z_m + away_m * south]);
            let repose = repose * (1.0 - self.repose_spread * draw.unit());
            let rest = ground.rest(start, repose as f32, (draw.unit() * 8.0) as usize);
            let height = &mut ground.heights[rest];
            *height = (*height + self.height_m as f32).min(FULL_M);
        }
        Ok(())
    }
}

/// The land under the particles, with a wall around it, so that every sample has eight neighbours.
struct Ground {
    heights: Vec<f32>,
    /// Samples from a row to the next.
    stride: usize,
    /// How far away the neighbours are among the samples, and in metres; all around, from north over east.
    neighbours: [(isize, f32); 8],
}

impl Ground {
    fn new(terrain: &Heightfield) -> Self {
        let grid = terrain.grid();
        let stride = grid.width() + 2;
        let mut heights = vec![f32::INFINITY; stride * (grid.height() + 2)];
        for (r, row) in heights.chunks_exact_mut(stride).skip(1).take(grid.height()).enumerate() {
            row[1..=grid.width()].copy_from_slice(terrain.row(r));
        }
        let [x_m, z_m] = [grid.spacing_x_m(), grid.spacing_z_m()];
        let diagonal_m = (x_m * x_m + z_m * z_m).sqrt() as f32;
        let (x_m, z_m, south) = (x_m as f32, z_m as f32, stride.cast_signed());
        let neighbours = [
            (-south, z_m),
            (1 - south, diagonal_m),
            (1, x_m),
            (south + 1, diagonal_m),
            (south, z_m),
            (south - 1, diagonal_m),
            (-1, x_m),
            (-south - 1, diagonal_m),
        ];
        Self { heights, stride, neighbours }
    }

    /// The sample nearest to a point.
    fn nearest(&self, grid: Grid, [x_m, z_m]: [f64; 2]) -> usize {
        let extent = grid.extent();
        let along = |m: f64, side_m: f64, spacing_m: f64, samples: usize| {
            ((reflected(m, side_m) / spacing_m).round() as usize).min(samples - 1)
        };
        let c = along(x_m, extent.width_m, grid.spacing_x_m(), grid.width());
        let r = along(z_m, extent.depth_m, grid.spacing_z_m(), grid.height());
        (r + 1) * self.stride + c + 1
    }

    /// Where a particle comes to rest that starts at a sample and stays on slopes up to `repose`. Of neighbours equally
    /// steep it takes the first, beginning with neighbour `first`.
    fn rest(&self, start: usize, repose: f32, first: usize) -> usize {
        let mut here = start;
        // The path falls strictly, so that it meets no sample twice.
        for _ in 0..self.heights.len() {
            let height = self.heights[here];
            let (mut steepest, mut lowest) = (repose, here);
            for turn in first..first + 8 {
                let (offset, distance_m) = self.neighbours[turn % 8];
                let next = here.wrapping_add_signed(offset);
                let slope = (height - self.heights[next]) / distance_m;
                if slope > steepest {
                    (steepest, lowest) = (slope, next);
                }
            }
            if lowest == here {
                break;
            }
            here = lowest;
        }
        here
    }

    fn into_land(self, grid: Grid) -> Heightfield {
        Heightfield::from_fn(grid, |c, r| self.heights[(r + 1) * self.stride + c + 1])
    }
}

impl Operation for Particles {
    const KEY: &'static str = "particles";
    const LABEL: &'static str = "Particles";

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        true
    }

    /// The land, and while the particles roll the ground.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        3.0
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), self.reference_samples as usize)
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let grid = context.grid;
        let done = resume.map_or(0, |keyframe| keyframe.iteration);
        let mut ground = match resume {
            Some(keyframe) => Ground::new(keyframe.terrain),
            None => Ground::new(&Heightfield::flat(grid)),
        };
        let mut walk = self.walk_after(done, context)?;
        let counter = context.progress.counter(until.saturating_sub(done) as usize);
        for i in done + 1..=until {
            let (next, mut draw) = self.walked(walk, i, grid.extent(), context.stream);
            walk = next;
            self.heap(&mut ground, walk, &mut draw, context)?;
            counter.add_one()?;
        }
        Ok(ground.into_land(grid))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{raised, resumed, stream};
    use super::*;
    use crate::engine::inputs::Inputs;
    use crate::engine::progress::Progress;
    use crate::engine::recipe::{Recipe, Step};
    use crate::engine::stack;

    const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 1700.0 };

    fn few() -> Particles {
        Particles { count: 40, drops: 150, height_m: 0.5, jump_chance: 0.1, ..Default::default() }
    }

    /// Three by three samples, 10 m apart.
    fn square(middle_m: f32) -> Ground {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 20.0 }, 3, 3);
        Ground::new(&Heightfield::from_fn(grid, |c, r| if (c, r) == (1, 1) { middle_m } else { 0.0 }))
    }

    #[test]
    fn particles_roll_once_the_drop_exceeds_the_angle_of_repose() {
        let middle = 2 * 5 + 2;
        assert_eq!(square(0.0).rest(middle, 1.0, 0), middle, "level land");
        assert_eq!(square(9.99).rest(middle, 1.0, 0), middle, "not steep enough");
        assert_eq!(square(10.01).rest(middle, 1.0, 0), middle - 5, "north");
        assert_eq!(square(9.99).rest(middle, 0.9, 0), middle - 5, "a rounder particle");
        assert_eq!(square(10.01).rest(middle, 1.0, 1), middle + 1, "east, the first from north-east on: no diagonal is as steep");
        let mut ground = square(10.01);
        ground.heights[middle + 6] = -20.0;
        assert_eq!(ground.rest(middle, 1.0, 0), middle + 6, "30.01 m over 14.1 m are steeper than 10.01 m over 10 m");
        assert_eq!(square(0.0).rest(middle - 6, 1.0, 0), middle - 6, "the corner lies against walls");
    }

    #[test]
    fn walks_are_reflected_and_found_without_the_iterations_before() {
        assert_eq!([-3.0, 0.0, 4.0, 10.0, 11.0, 20.0, 23.0, -41.0].map(|m| reflected(m, 10.0)), [
            3.0, 0.0, 4.0, 10.0, 9.0, 0.0, 3.0, 1.0
        ]);
        let (particles, grid) = (few(), Grid::new(WORLD, 61, 35));
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { grid, below: None, stream: stream(), inputs: &inputs, progress: &progress };
        let mut walk = Walk { place_m: [0.0; 2], heading: 0.0 };
        let mut jumps = 0;
        for i in 1..=200 {
            let last = walk;
            walk = particles.walked(walk, i, WORLD, context.stream).0;
            assert_eq!(particles.walk_after(i, &context), Ok(walk), "iteration {i}");
            let [x, z] = [walk.place_m[0] - last.place_m[0], walk.place_m[1] - last.place_m[1]];
            if ((x * x + z * z).sqrt() - particles.walk_m).abs() > 1e-6 {
                jumps += 1;
            }
        }
        assert!((8..40).contains(&jumps), "{jumps} jumps");
    }

    /// The same from the formula alone: a table of heights, and for each particle all that lie around it.
    fn plain(particles: &Particles, grid: Grid, until: u32) -> Vec<Vec<f32>> {
        let stream = stream();
        let mut heights = vec![vec![0.0_f32; grid.width()]; grid.height()];
        let (mut x, mut z, mut heading) = (0.0, 0.0, 0.0);
        for i in 1..=until {
            let mut draw = stream.at(u64::from(i));
            if draw.chance(particles.jump_chance) || i == 1 {
                (x, z) = (draw.unit() * WORLD.width_m, draw.unit() * WORLD.depth_m);
                heading = draw.unit() * TAU;
            } else {
                let turn = particles.turn_deg.to_radians();
                heading += draw.between(-turn, turn);
                x += particles.walk_m * libm::cos(heading);
                z += particles.walk_m * libm::sin(heading);
            }
            let nearest = |m: f64, side_m: f64, spacing_m: f64| (reflected(m, side_m) / spacing_m).round() as usize;
            for _ in 0..particles.drops {
                let (around, away_m) = (draw.unit() * TAU, particles.scatter_m * draw.unit());
                let mut c = nearest(x + away_m * libm::cos(around), WORLD.width_m, grid.spacing_x_m());
                let mut r = nearest(z + away_m * libm::sin(around), WORLD.depth_m, grid.spacing_z_m());
                let steepest_repose = libm::tan(particles.repose_deg.to_radians());
                let repose = (steepest_repose * (1.0 - particles.repose_spread * draw.unit())) as f32;
                let first = (draw.unit() * 8.0) as usize;
                loop {
                    let around = [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)];
                    let slopes = (0..8).filter_map(|turn| {
                        let (east, south): (i32, i32) = around[(first + turn) % 8];
                        let (x, z) = (c as i32 + east, r as i32 + south);
                        let inside = (0..grid.width() as i32).contains(&x) && (0..grid.height() as i32).contains(&z);
                        let run = [f64::from(east) * grid.spacing_x_m(), f64::from(south) * grid.spacing_z_m()];
                        let run_m = (run[0] * run[0] + run[1] * run[1]).sqrt() as f32;
                        inside.then(|| {
                            let (x, z) = (x as usize, z as usize);
                            ((heights[r][c] - heights[z][x]) / run_m, (x, z))
                        })
                    });
                    // The first of the steepest: `max_by` would give the last one.
                    let steepest = slopes.reduce(|best, other| if other.0 > best.0 { other } else { best });
                    match steepest {
                        Some((slope, next)) if slope > repose => (c, r) = next,
                        _ => break,
                    }
                }
                heights[r][c] += particles.height_m as f32;
            }
        }
        heights
    }

    #[test]
    fn the_land_is_the_plain_heap() {
        for (width, height) in [(61, 35), (23, 40)] {
            let grid = Grid::new(WORLD, width, height);
            for until in [0, 1, 17, 40] {
                let terrain = raised(&few(), grid, None, until);
                let plain = plain(&few(), grid, until);
                assert!((0..height).all(|r| terrain.row(r) == plain[r]), "{width} × {height} after {until}");
            }
        }
    }

    #[test]
    fn no_particle_is_lost_and_no_slope_is_steeper_than_repose_and_a_particle() {
        for repose_deg in [0.0, 5.0, 32.0, 70.0] {
            let particles = Particles { repose_deg, ..few() };
            let grid = Grid::new(WORLD, 61, 35);
            let terrain = raised(&particles, grid, None, 40);
            let sum: f64 = terrain.heights().iter().map(|&height| f64::from(height)).sum();
            assert_eq!(sum, 40.0 * 150.0 * 0.5);
            let repose = libm::tan(repose_deg.to_radians());
            for (c, r) in (0..grid.width()).flat_map(|c| (0..grid.height()).map(move |r| (c, r))) {
                for (other_c, other_r) in [(c + 1, r), (c, r + 1), (c + 1, r + 1), (c.wrapping_sub(1), r + 1)] {
                    if other_c >= grid.width() || other_r >= grid.height() {
                        continue;
                    }
                    let run = [grid.x_m(other_c) - grid.x_m(c), grid.z_m(other_r) - grid.z_m(r)];
                    let run_m = (run[0] * run[0] + run[1] * run[1]).sqrt();
                    let drop_m = f64::from((terrain[(c, r)] - terrain[(other_c, other_r)]).abs());
                    assert!(drop_m <= repose * run_m + particles.height_m + 1e-3, "{repose_deg}°: {drop_m} m in {run_m} m");
                }
            }
        }
    }

    #[test]
    fn iterations_one_by_one_and_all_at_once_meet_the_same_bytes() {
        let (particles, grid) = (few(), Grid::new(WORLD, 61, 35));
        let mut stepped = raised(&particles, grid, None, 0);
        for i in 1..=40 {
            let keyframe = Keyframe { iteration: i - 1, terrain: &stepped };
            stepped = resumed(&particles, keyframe, i);
            if i % 13 == 0 || i == 40 {
                assert_eq!(stepped, raised(&particles, grid, None, i), "iteration {i}");
            }
        }
    }

    #[test]
    fn the_grid_is_that_of_the_world_and_not_that_of_the_map() {
        let particles = Particles { reference_samples: 101, ..few() };
        let reference = particles.working_grid(Grid::new(WORLD, 9, 700));
        assert_eq!(reference, particles.working_grid(Grid::new(WORLD, 4000, 3)));
        assert_eq!((reference.width(), reference.height()), (101, 58));
    }

    #[test]
    fn heaps_stay_below_the_sky() {
        let steep = Particles {
            drops: 10_000,
            height_m: 1000.0,
            repose_deg: 89.0,
            repose_spread: 0.0,
            scatter_m: 0.0,
            jump_chance: 0.0,
            walk_m: 0.0,
            ..few()
        };
        let wide = Extent { width_m: 1e6, depth_m: 1.0 };
        let terrain = raised(&steep, steep.working_grid(Grid::new(wide, 5, 5)), None, 20);
        assert!(terrain.heights().iter().all(|height| (0.0..=1e8).contains(height)));
    }

    #[test]
    fn on_a_finer_map_no_moat_runs_around_the_heaps() {
        let stack = vec![Step::new(Particles { count: 30, ..Default::default() })];
        let recipe = Recipe { stack, ..Default::default() };
        let grid = Grid::fitted(recipe.world.extent(), 1025);
        let terrain = stack::evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        assert_eq!(terrain.min_max()[0], 0.0);
    }
}
