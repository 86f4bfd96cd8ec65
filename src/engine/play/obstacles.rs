//! Scattered instances as obstacles: agents walk around them, and some block lines of sight.

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::inputs::Inputs;
use crate::progress::{Cancelled, Progress};
use crate::recipe::Recipe;
use crate::scatter::{Instance, ScatterLayer, Scattered, memory_bytes, scatter};

/// Obstacles lower the clearance within at least this distance, metres, so gaps wider than twice this are not choke points.
pub const REACH_M: f64 = 16.0;

/// Obstacles between two checks for cancellation.
const BATCH: usize = 1 << 10;

/// An instance that blocks agents or lines of sight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Obstacle {
    at_m: [f64; 2],
    radius_m: f64,
    /// The height up to which it blocks lines of sight, metres.
    hides_m: f64,
    blocks: bool,
}

/// The scattered instances that block agents or lines of sight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Obstacles(Vec<Obstacle>);

/// The samples within a distance of a place, with their squared distances.
fn samples_around(grid: Grid, at_m: [f64; 2], reach_m: f64) -> impl Iterator<Item = (usize, f64)> {
    let range = |at_m: f64, spacing_m: f64, samples: usize| {
        let first = ((at_m - reach_m) / spacing_m).ceil().max(0.0).to_usize();
        first..(((at_m + reach_m) / spacing_m).floor().max(-1.0) + 1.0).to_usize().min(samples)
    };
    let columns = range(at_m[0], grid.spacing_x_m(), grid.width());
    let rows = range(at_m[1], grid.spacing_z_m(), grid.height());
    let samples = rows.flat_map(move |r| columns.clone().map(move |c| (c, r)));
    let squared = move |(c, r): (usize, usize)| {
        let [x, z] = [grid.x_m(c) - at_m[0], grid.z_m(r) - at_m[1]];
        (r * grid.width() + c, x * x + z * z)
    };
    samples.map(squared).filter(move |(_, squared)| *squared <= reach_m * reach_m)
}

impl Obstacles {
    /// Whether an enabled layer has any, so that it has to be scattered to measure a level.
    pub fn are_in(layers: &[ScatterLayer]) -> bool {
        layers.iter().any(|layer| layer.enabled && (layer.blocks || layer.sight_m > 0.0))
    }

    /// The obstacles among scattered instances.
    pub fn of(layers: &[ScatterLayer], scattered: &[Scattered]) -> Self {
        let of_layer = |one: &Scattered| {
            let ScatterLayer { radius_m, sight_m, blocks, .. } = layers[one.layer];
            let instances = one.instances.iter().filter(|_| blocks || sight_m > 0.0);
            let obstacle = |instance: &Instance| Obstacle {
                at_m: [instance.at_m[0], instance.at_m[2]],
                radius_m: radius_m * instance.scale,
                hides_m: sight_m * instance.scale,
                blocks,
            };
            instances.map(obstacle).collect::<Vec<_>>()
        };
        Self(scattered.iter().flat_map(of_layer).collect())
    }

    /// Lowers the clearance of samples to the distance from the nearest obstacle, metres; inside one it is 0. It is exact up to
    /// twice the radius of an agent.
    ///
    /// Nothing between samples blocks an agent: an instance smaller than the spacing is an obstacle only near a
    /// sample, since the detour around it is short.
    pub(super) fn lower_clearance(
        &self,
        grid: Grid,
        agent_radius_m: f64,
        clearance_m: &mut [f32],
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let reach_m = REACH_M.max(2.0 * agent_radius_m);
        for batch in self.0.chunks(BATCH) {
            progress.check()?;
            for Obstacle { at_m, radius_m, .. } in batch.iter().filter(|obstacle| obstacle.blocks) {
                for (sample, squared) in samples_around(grid, *at_m, radius_m + reach_m) {
                    let own = &mut clearance_m[sample];
                    *own = own.min((squared.sqrt() - radius_m).max(0.0).to_f32());
                }
            }
        }
        Ok(())
    }

    /// The heights that block lines of sight: those of the terrain, raised by the instances. One that is smaller than
    /// the spacing of samples raises one sample. `None` if no instance blocks.
    pub(super) fn hiding_heights(
        &self,
        terrain: &Heightfield,
        progress: &Progress,
    ) -> Result<Option<Heightfield>, Cancelled> {
        if self.0.iter().all(|obstacle| obstacle.hides_m <= 0.0) {
            return Ok(None);
        }
        let grid = terrain.grid();
        let mut heights = terrain.copied(progress)?;
        for batch in self.0.chunks(BATCH) {
            progress.check()?;
            for Obstacle { at_m, radius_m, hides_m, .. } in batch.iter().filter(|obstacle| obstacle.hides_m > 0.0) {
                let nearest = (grid.nearest_sample(*at_m), 0.0);
                for (sample, _) in samples_around(grid, *at_m, *radius_m).chain([nearest]) {
                    let top_m = terrain.heights()[sample] + hides_m.to_f32();
                    let own = &mut heights.heights_mut()[sample];
                    *own = own.max(top_m);
                }
            }
        }
        Ok(Some(heights))
    }
}

/// The obstacles on the terrain of a recipe; `None` if its layers have none.
pub fn obstacles(
    recipe: &Recipe,
    terrain: &Heightfield,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<Option<Obstacles>, Cancelled> {
    if !Obstacles::are_in(&recipe.scatter) {
        return Ok(None);
    }
    let scattered = scatter(recipe, terrain, inputs, progress)?;
    Ok(Some(Obstacles::of(&recipe.scatter, &scattered)))
}

/// The memory that [`obstacles`] needs at most, bytes.
pub fn obstacle_bytes(recipe: &Recipe, grid: Grid) -> u64 {
    if Obstacles::are_in(&recipe.scatter) { memory_bytes(&recipe.scatter, grid) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;
    use crate::level::{Agent, Level, Marker};
    use crate::parameters::Point;
    use crate::play::{MeasuredTerrain, Measures};

    /// A flat terrain of 100 × 100 m with samples every metre, and a wall of pillars at x = 50 m, one every
    /// `spacing_m` metres, of 1 m radius.
    fn wall(spacing_m: f64, layer: ScatterLayer) -> (Heightfield, Obstacles) {
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, 101, 101);
        let layer = ScatterLayer { radius_m: 1.0, ..layer };
        let at = |z: f64| Instance { at_m: [50.0, 0.0, z], yaw_deg: 0.0, pitch_deg: 0.0, roll_deg: 0.0, scale: 1.0 };
        let instances = (0..).map(|i: u32| f64::from(i) * spacing_m).take_while(|z| *z <= 100.0).map(at).collect();
        let scattered = [Scattered { layer: 0, instances }];
        (Heightfield::flat(grid), Obstacles::of(&[layer], &scattered))
    }

    fn level(radius_m: f64) -> Level {
        let marker =
            |name: &str, x_m| Marker { name: name.into(), at_m: Point { x_m, z_m: 50.0 }, ..Marker::default() };
        let agent = Agent { radius_m, ..Agent::default() };
        let markers = vec![marker("west", 20.0), marker("east", 80.0)].into();
        Level { agents: vec![agent].into(), markers, ..Level::default() }
    }

    #[test]
    fn agents_go_between_obstacles_that_leave_room() {
        let blocks = ScatterLayer { blocks: true, ..ScatterLayer::default() };
        for (spacing_m, radius_m, has_route) in [(10.0, 0.5, true), (10.0, 5.0, false), (2.0, 0.5, false)] {
            let (terrain, obstacles) = wall(spacing_m, blocks.clone());
            let (level, progress) = (level(radius_m), Progress::new());
            let measured = MeasuredTerrain { obstacles: Some(&obstacles), ..MeasuredTerrain::dry(&terrain) };
            let measures = Measures::new(measured, &level, &progress);
            let route = measures.route(0, &[0], &[1]).expect("not cancelled");
            assert_eq!(route.is_some(), has_route, "{spacing_m} {radius_m}");
            if has_route {
                // Between two pillars of 1 m radius, 10 m apart.
                let choke = measures.choke(0, &[0], &[1]).expect("not cancelled").expect("a choke point");
                assert!((choke.width_m - 8.0).abs() < 0.1, "{choke:?}");
            }
        }
        let (terrain, obstacles) = wall(2.0, ScatterLayer::default());
        let (level, progress) = (level(0.5), Progress::new());
        let measured = MeasuredTerrain { obstacles: Some(&obstacles), ..MeasuredTerrain::dry(&terrain) };
        let route = Measures::new(measured, &level, &progress).route(0, &[0], &[1]).expect("not cancelled");
        assert!((route.expect("a route").length_m - 60.0).abs() < 1e-6, "what does not block is no obstacle");
    }

    #[test]
    fn what_hides_is_seen_over_only_from_above_it() {
        for (sight_m, sees) in [(0.0, true), (1.0, true), (2.0, false)] {
            let (terrain, obstacles) = wall(1.0, ScatterLayer { sight_m, ..ScatterLayer::default() });
            let (level, progress) = (level(0.5), Progress::new());
            let measured = MeasuredTerrain { obstacles: Some(&obstacles), ..MeasuredTerrain::dry(&terrain) };
            let measures = Measures::new(measured, &level, &progress);
            assert_eq!(measures.sees(&[0], &[1]), Ok(sees), "{sight_m} m against eyes at 1.7 m");
            // Something beside the hedge is seen.
            assert!(measures.seen(0).expect("not cancelled")[50 * 101 + 48]);
        }
    }

    #[test]
    fn what_stands_at_the_eyes_or_at_the_target_does_not_hide() {
        use crate::play::viewshed::{Eye, seen_from};
        let terrain = Heightfield::flat(Grid::new(Extent { width_m: 640.0, depth_m: 640.0 }, 41, 41));
        let tree = |at_m: [f64; 2]| Obstacle { at_m, radius_m: 0.5, blocks: false, hides_m: 6.0 };
        let (eye, target) = ([160.0, 320.0], [480.0, 320.0]);
        let obstacles = Obstacles(vec![tree(eye), tree(target)]);
        let progress = Progress::new();
        let hiding = obstacles.hiding_heights(&terrain, &progress).expect("not cancelled");
        let found = seen_from(&terrain, hiding.as_ref(), Eye { at_m: eye, over_terrain_m: 1.7 }, 1.7, &progress);
        let hidden: Vec<usize> =
            found.expect("not cancelled").iter().enumerate().filter(|(_, seen)| !**seen).map(|(at, _)| at).collect();
        assert!(hidden.iter().all(|at| at / 41 == 20 && at % 41 > 30 || (at / 41).abs_diff(20) < 3), "{hidden:?}");
        assert!(!hidden.contains(&(20 * 41 + 30)), "the target");
        assert!(hidden.contains(&(20 * 41 + 35)), "behind the target");
    }
}
