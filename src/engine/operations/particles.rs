//! Particle deposition: hills of particles that roll downhill until they come to rest.
//!
//! After the Lighthouse3D terrain tutorial, "Particle deposition": particles are dropped around a point that walks or
//! jumps. A particle at height h rolls to the steepest of its eight neighbours while (h − hₙ)/distance exceeds the
//! tangent of the angle of repose, then adds its height to the sample where it rests. The border of the map is a wall.
//!
//! Equal particles dropped at one sample form eight-sided pyramids. Two variations turn these into hills: particles
//! scatter around the drop point, and each has its own angle of repose, so that rounded ones roll out to a gentle foot
//! and angular ones stay on the steep slopes, as on a volcano.
//!
//! The walk is computed in metres, with a step of equal length and a small turn every iteration, and is reflected at
//! the border. Its position at iteration i follows from the last jump before i and the turns since then, without
//! simulating any particles. Particles roll on a reference grid, so that the result is the same at every resolution.

use std::f64::consts::TAU;

use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;
use crate::random::{Rng, Stream};
use crate::rock::RockEffect;

parameters! {
    /// Deposits particles that roll downhill and pile up. Makes volcanoes where the drop point stays, and chains of
    /// hills and dunes where it walks.
    pub struct Particles {
        /// Number of heaps dropped one after another, one per iteration.
        count: u32 = 120, Spec::number("Heaps", 0.0, 100_000.0).slider(1.0, 2000.0).logarithmic();
        /// Number of particles in a heap. More particles make larger hills.
        drops: u32 = 5000, Spec::number("Particles per heap", 0.0, 10_000.0).slider(1.0, 10_000.0).logarithmic();
        /// Height that a particle adds to a sample of the simulation. Small particles make smooth hills; large ones
        /// make stony hills.
        height_m: f64 = 2.0, Spec::number("Particle height", 0.0, 1000.0).slider(0.05, 20.0).unit("m").logarithmic();
        /// Steepest slope on which a particle rests. Small angles make flat fans; large angles make steep cones.
        repose_deg: f64 = 38.0, Spec::number("Angle of repose", 0.0, 89.0).slider(2.0, 60.0).unit("°");
        /// Variation of the angle of repose between particles. At 0 slopes are straight with a sharp foot; at 1 some
        /// particles roll on as long as there is any slope, and hills run out gently.
        repose_spread: f64 = 0.9, Spec::number("Repose variation", 0.0, 1.0);
        /// Radius around the drop point in which particles fall, most of them near it. 0 makes sharp pyramids.
        scatter_m: f64 = 130.0,
            Spec::number("Scatter radius", 0.0, 100_000.0).slider(1.0, 2000.0).unit("m").logarithmic();
        /// Probability that the next heap is at a random place on the map. Otherwise the drop point walks on.
        jump_chance: f64 = 0.1, Spec::number("Jump probability", 0.0, 1.0);
        /// Distance that the drop point walks from one heap to the next. Short steps pile up mountains; longer ones
        /// make ridges, then rows of separate hills.
        walk_m: f64 = 100.0, Spec::number("Walk step", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// Largest turn to either side from one heap to the next. 0 makes straight chains; large angles make massifs.
        turn_deg: f64 = 60.0, Spec::number("Maximum turn", 0.0, 180.0).unit("°");
        /// Samples along the longer side of the grid on which particles roll, whatever the resolution of the map. Higher
        /// values make finer hills of less material.
        reference_samples: u32 = 257,
            Spec::number("Simulation resolution", 17.0, 1025.0).slider(65.0, 513.0).logarithmic().fixed();
    }
}

/// The maximum height of a heap.
const MAX_HEAP_M: f32 = 1e8;
/// Particles, or iterations of the walk, between two checks for cancellation.
const CHECK_EVERY: u32 = 64;

/// The state of the drop point's random walk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Walk {
    /// The unbounded position, which [`reflected`] maps into the map.
    place_m: [f64; 2],
    /// The direction of the last step, from east over south, radians.
    heading: f64,
}

/// A coordinate reflected at the borders 0 and `side_m` as often as needed.
fn reflected(m: f64, side_m: f64) -> f64 {
    let there_and_back = m.rem_euclid(2.0 * side_m);
    if there_and_back > side_m { 2.0 * side_m - there_and_back } else { there_and_back }
}

impl Particles {
    /// Whether the drop point jumps at iteration i = 1…n, and the remaining random numbers of that iteration.
    fn jump(&self, i: u32, stream: Stream) -> (bool, Rng) {
        let mut rng = stream.at(u64::from(i));
        let jumps = rng.chance(self.jump_chance);
        (jumps || i == 1, rng)
    }

    /// The walk at iteration i from that of the iteration before, and the random numbers left for the particles.
    /// `before` is ignored where the walk jumps.
    fn walked(&self, before: Walk, i: u32, extent: Extent, stream: Stream) -> (Walk, Rng) {
        let (jumps, mut rng) = self.jump(i, stream);
        let walk = if jumps {
            let place_m = [rng.unit() * extent.width_m, rng.unit() * extent.depth_m];
            Walk { place_m, heading: rng.unit() * TAU }
        } else {
            let turn = self.turn_deg.to_radians();
            let heading = before.heading + rng.between(-turn, turn);
            let (south, east) = libm::sincos(heading);
            let [x, z] = before.place_m;
            Walk { place_m: [x + self.walk_m * east, z + self.walk_m * south], heading }
        };
        (walk, rng)
    }

    /// The walk after iteration i, computed from the last jump.
    fn walk_after(&self, i: u32, context: &EvalContext) -> Result<Walk, Cancelled> {
        let mut last_jump = i.max(1);
        while !self.jump(last_jump, context.stream).0 {
            last_jump -= 1;
            if last_jump.is_multiple_of(CHECK_EVERY) {
                context.progress.check()?;
            }
        }
        let mut walk = Walk { place_m: [0.0; 2], heading: 0.0 };
        for i in last_jump..=i {
            walk = self.walked(walk, i, context.grid.extent(), context.stream).0;
            if i.is_multiple_of(CHECK_EVERY) {
                context.progress.check()?;
            }
        }
        Ok(walk)
    }

    /// Drops the particles of one iteration.
    fn heap(&self, surface: &mut Surface, walk: Walk, rng: &mut Rng, context: &EvalContext) -> Result<(), Cancelled> {
        let repose = libm::tan(self.repose_deg.to_radians());
        for n in 0..self.drops {
            if n.is_multiple_of(CHECK_EVERY) {
                context.progress.check()?;
            }
            let (south, east) = libm::sincos(rng.unit() * TAU);
            let distance_m = self.scatter_m * rng.unit();
            let [x_m, z_m] = walk.place_m;
            let start = surface.nearest(context.grid, [x_m + distance_m * east, z_m + distance_m * south]);
            let repose = repose * (1.0 - self.repose_spread * rng.unit());
            let rest = surface.rest(start, repose.to_f32(), (rng.unit() * 8.0).to_usize());
            let height = &mut surface.heights[rest];
            *height = (*height + self.height_m.to_f32()).min(MAX_HEAP_M);
        }
        Ok(())
    }
}

/// The heights under the particles with a wall around them, so that every sample has eight neighbours.
struct Surface {
    heights: Vec<f32>,
    /// Samples per row.
    stride: usize,
    /// The index offset and the distance in metres of each neighbour, clockwise from north.
    neighbours: [(isize, f32); 8],
}

impl Surface {
    fn new(terrain: &Heightfield) -> Self {
        let grid = terrain.grid();
        let stride = grid.width() + 2;
        let mut heights = vec![f32::INFINITY; stride * (grid.height() + 2)];
        for (r, row) in heights.chunks_exact_mut(stride).skip(1).take(grid.height()).enumerate() {
            row[1..=grid.width()].copy_from_slice(terrain.row(r));
        }
        let [x_m, z_m] = [grid.spacing_x_m(), grid.spacing_z_m()];
        let diagonal_m = (x_m * x_m + z_m * z_m).sqrt().to_f32();
        let (x_m, z_m, south) = (x_m.to_f32(), z_m.to_f32(), stride.cast_signed());
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
            (reflected(m, side_m) / spacing_m).round().to_usize().min(samples - 1)
        };
        let c = along(x_m, extent.width_m, grid.spacing_x_m(), grid.width());
        let r = along(z_m, extent.depth_m, grid.spacing_z_m(), grid.height());
        (r + 1) * self.stride + c + 1
    }

    /// The sample where a particle that starts at `start` comes to rest, given the tangent of its angle of repose. Of
    /// equally steep neighbours it takes the first, starting at neighbour `first`.
    fn rest(&self, start: usize, repose: f32, first: usize) -> usize {
        let mut here = start;
        // The path descends strictly, so it visits no sample twice.
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

    fn into_terrain(self, grid: Grid) -> Heightfield {
        Heightfield::from_fn(grid, |c, r| self.heights[(r + 1) * self.stride + c + 1])
    }
}

impl Operation for Particles {
    const KEY: &'static str = "particles";
    const LABEL: &'static str = "Particles";
    const WORDS: &'static str = "volcano heap sand dune deposit";

    fn rock_effect(&self) -> RockEffect {
        RockEffect::CutAndFill
    }

    fn uses_seed(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        true
    }

    /// The result, the terrain below and the heights under the particles.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        3.0
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), self.reference_samples as usize)
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let grid = context.grid;
        let done = resume.map_or(0, |keyframe| keyframe.iteration);
        let mut surface = match resume {
            Some(keyframe) => Surface::new(keyframe.terrain),
            None => Surface::new(&Heightfield::flat(grid)),
        };
        let mut walk = self.walk_after(done, context)?;
        let counter = context.progress.counter(until.saturating_sub(done) as usize);
        for i in done + 1..=until {
            let (next, mut rng) = self.walked(walk, i, grid.extent(), context.stream);
            walk = next;
            self.heap(&mut surface, walk, &mut rng, context)?;
            counter.add_one()?;
        }
        Ok(surface.into_terrain(grid))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, resumed, stream};
    use super::*;
    use crate::inputs::Inputs;
    use crate::progress::Progress;

    const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 1700.0 };

    fn few() -> Particles {
        Particles { count: 40, drops: 150, height_m: 0.5, jump_chance: 0.1, ..Default::default() }
    }

    /// Three by three samples, 10 m apart.
    fn square(middle_m: f32) -> Surface {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 20.0 }, 3, 3);
        Surface::new(&Heightfield::from_fn(grid, |c, r| if (c, r) == (1, 1) { middle_m } else { 0.0 }))
    }

    #[test]
    fn particles_roll_where_the_slope_exceeds_the_angle_of_repose() {
        let middle = 2 * 5 + 2;
        assert_eq!(square(0.0).rest(middle, 1.0, 0), middle, "level");
        assert_eq!(square(9.99).rest(middle, 1.0, 0), middle, "not steep enough");
        assert_eq!(square(10.01).rest(middle, 1.0, 0), middle - 5, "north");
        assert_eq!(square(9.99).rest(middle, 0.9, 0), middle - 5, "a rounder particle");
        assert_eq!(
            square(10.01).rest(middle, 1.0, 1),
            middle + 1,
            "east, the first from north-east on: no diagonal is as steep"
        );
        let mut surface = square(10.01);
        surface.heights[middle + 6] = -20.0;
        assert_eq!(surface.rest(middle, 1.0, 0), middle + 6, "30.01 m over 14.1 m are steeper than 10.01 m over 10 m");
        assert_eq!(square(0.0).rest(middle - 6, 1.0, 0), middle - 6, "the corner is next to walls");
    }

    #[test]
    fn walks_are_reflected_and_computed_from_the_last_jump() {
        assert_eq!(
            [-3.0, 0.0, 4.0, 10.0, 11.0, 20.0, 23.0, -41.0].map(|m| reflected(m, 10.0)),
            [3.0, 0.0, 4.0, 10.0, 9.0, 0.0, 3.0, 1.0]
        );
        let (particles, grid) = (few(), Grid::new(WORLD, 61, 35));
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { stream: stream(), ..EvalContext::new(grid, &inputs, &progress) };
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

    /// The same by the plain formula: a table of heights, and for each particle all its neighbours.
    fn plain(particles: &Particles, grid: Grid, until: u32) -> Vec<Vec<f32>> {
        let stream = stream();
        let mut heights = vec![vec![0.0_f32; grid.width()]; grid.height()];
        let (mut x, mut z, mut heading) = (0.0, 0.0, 0.0);
        for i in 1..=until {
            let mut rng = stream.at(u64::from(i));
            if rng.chance(particles.jump_chance) || i == 1 {
                (x, z) = (rng.unit() * WORLD.width_m, rng.unit() * WORLD.depth_m);
                heading = rng.unit() * TAU;
            } else {
                let turn = particles.turn_deg.to_radians();
                heading += rng.between(-turn, turn);
                x += particles.walk_m * libm::cos(heading);
                z += particles.walk_m * libm::sin(heading);
            }
            let nearest = |m: f64, side_m: f64, spacing_m: f64| (reflected(m, side_m) / spacing_m).round() as usize;
            for _ in 0..particles.drops {
                let (around, away_m) = (rng.unit() * TAU, particles.scatter_m * rng.unit());
                let mut c = nearest(x + away_m * libm::cos(around), WORLD.width_m, grid.spacing_x_m());
                let mut r = nearest(z + away_m * libm::sin(around), WORLD.depth_m, grid.spacing_z_m());
                let steepest_repose = libm::tan(particles.repose_deg.to_radians());
                let repose = (steepest_repose * (1.0 - particles.repose_spread * rng.unit())) as f32;
                let first = (rng.unit() * 8.0) as usize;
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
                    // The first of the steepest; `max_by` would return the last.
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
    fn the_terrain_matches_the_plain_simulation() {
        for (width, height) in [(61, 35), (23, 40)] {
            let grid = Grid::new(WORLD, width, height);
            for until in [0, 1, 17, 40] {
                let terrain = evaluated(&few(), grid, None, until);
                let plain = plain(&few(), grid, until);
                assert!((0..height).all(|r| terrain.row(r) == plain[r]), "{width} × {height} after {until}");
            }
        }
    }

    #[test]
    fn no_particle_is_lost_and_slopes_exceed_repose_by_at_most_one_particle() {
        for repose_deg in [0.0, 5.0, 32.0, 70.0] {
            let particles = Particles { repose_deg, ..few() };
            let grid = Grid::new(WORLD, 61, 35);
            let terrain = evaluated(&particles, grid, None, 40);
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
                    assert!(
                        drop_m <= repose * run_m + particles.height_m + 1e-3,
                        "{repose_deg}°: {drop_m} m in {run_m} m"
                    );
                }
            }
        }
    }

    #[test]
    fn iterating_one_by_one_and_all_at_once_is_bit_identical() {
        let (particles, grid) = (few(), Grid::new(WORLD, 61, 35));
        let mut stepped = evaluated(&particles, grid, None, 0);
        for i in 1..=40 {
            let keyframe = Keyframe { iteration: i - 1, terrain: &stepped };
            stepped = resumed(&particles, keyframe, i);
            if i % 13 == 0 || i == 40 {
                assert_eq!(stepped, evaluated(&particles, grid, None, i), "iteration {i}");
            }
        }
    }

    #[test]
    fn the_working_grid_depends_only_on_the_world() {
        let particles = Particles { reference_samples: 101, ..few() };
        let reference = particles.working_grid(Grid::new(WORLD, 9, 700));
        assert_eq!(reference, particles.working_grid(Grid::new(WORLD, 4000, 3)));
        assert_eq!((reference.width(), reference.height()), (101, 58));
    }

    #[test]
    fn heaps_are_limited_in_height() {
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
        let terrain = evaluated(&steep, steep.working_grid(Grid::new(wide, 5, 5)), None, 20);
        assert!(terrain.heights().iter().all(|height| (0.0..=1e8).contains(height)));
    }
}
