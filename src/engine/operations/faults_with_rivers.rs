//! Faults with a river step after every few, on a mesh that becomes finer as the terrain grows.
//!
//! The largest valleys form first, so the first steps run on coarse meshes, where they take less time and drainage is
//! connected over longer distances (as in the full multigrid method: A. Brandt, "Multi-level adaptive solutions to
//! boundary-value problems", Mathematics of Computation 31, 1977).

use rayon::prelude::*;

use super::fault_erosion::{FaultErosion, FaultRivers};
use super::operation::{EvalContext, Keyframe, KeyframeSink};
use super::recursive_filter::PreparedFilter;
use super::river_rock::RiverRock;
use super::stream_power::StreamPowerSolver;
use crate::cast::{ToFloat, ToInteger};
use crate::flow::{FinerPoints, GridSampler, Mesh, WideGrid};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress, ProgressCounter};

/// The share of the faults up to which steps run on a mesh with half the resolution. With a larger share, or a still coarser
/// mesh, terrain is less like real terrain; docs/rivers.md has figures.
const COARSE_UNTIL: f64 = 0.8;
/// The fewest cells along the longer side of the coarse mesh, without its margin.
const MIN_COARSE_CELLS: usize = 64;

/// An evaluation of faults with rivers. Faults work at the samples of the world and are continued beyond its border, wind
/// at the samples of the wide grid, and rivers at the points of the mesh.
pub(super) struct FaultsWithRivers<'a> {
    erosion: FaultErosion<'a>,
    rivers: &'a FaultRivers,
    context: &'a EvalContext<'a>,
    reference: Level,
    /// `None` if all steps run on the reference.
    coarse: Option<Level>,
    /// Where to note what the steps do to the rock.
    rock: Option<&'a mut RiverRock>,
    until: u32,
}

/// A mesh on which steps run.
#[derive(Clone)]
struct Level {
    /// The grid whose samples the points are near.
    wide: WideGrid,
    mesh: Mesh,
    /// The points of the reference, for the coarse mesh.
    finer: Option<FinerPoints>,
}

impl Level {
    fn reference(wide: WideGrid, progress: &Progress) -> Result<Self, Cancelled> {
        Ok(Self { wide, mesh: wide.reference_mesh(1.0, progress)?, finer: None })
    }

    /// The level with half the resolution of the reference, if that is large enough and has one.
    fn coarse(reference: &Self, progress: &Progress) -> Result<Option<Self>, Cancelled> {
        let is_large = |wide: &WideGrid| wide.world().width().max(wide.world().height()) > MIN_COARSE_CELLS;
        let Some(wide) = reference.wide.halved().filter(is_large) else { return Ok(None) };
        let mesh = wide.reference_mesh(1.0, progress)?;
        let finer = Some(FinerPoints::new(&reference.mesh, &mesh, progress)?);
        Ok(Some(Self { wide, mesh, finer }))
    }
}

impl<'a> FaultsWithRivers<'a> {
    /// The first `until` faults of an operation on the context's grid.
    pub fn new(
        erosion: FaultErosion<'a>,
        rivers: &'a FaultRivers,
        context: &'a EvalContext<'a>,
        until: u32,
        rock: Option<&'a mut RiverRock>,
    ) -> Result<Self, Cancelled> {
        let reference = Level::reference(erosion.wide(context.grid), context.progress)?;
        // Wind, and faults that depend on the heights, need the samples of one grid.
        let coarse = if erosion.needs_heights() { None } else { Level::coarse(&reference, context.progress)? };
        Ok(Self { erosion, rivers, context, reference, coarse, rock, until })
    }

    /// The terrain at the points of the mesh of the last fault.
    pub fn evaluate(
        mut self,
        resume: Option<Keyframe>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        let (progress, until) = (self.context.progress, self.until);
        let (mut done, mut terrain) = match resume {
            Some(keyframe) => (keyframe.iteration, keyframe.terrain.copied(progress)?),
            None => (0, Heightfield::flat(self.coarse.as_ref().unwrap_or(&self.reference).mesh.grid())),
        };
        let counter = progress.counter((until - done) as usize);
        if let Some(coarse) = self.coarse_level_of(&terrain).cloned() {
            let end = self.last_coarse().min(until);
            self.run(&coarse, [done, end], &mut terrain, keyframes, &counter)?;
            if end == until {
                return Ok(terrain);
            }
            (done, terrain) = (end, self.on_reference(&terrain, end)?);
        }
        let reference = self.reference.clone();
        self.run(&reference, [done, until], &mut terrain, keyframes, &counter)?;
        Ok(terrain)
    }

    /// Terrain after `done` faults at the points of the reference, with the detail that the faults have there.
    pub fn on_reference(&self, terrain: &Heightfield, done: u32) -> Result<Heightfield, Cancelled> {
        let progress = self.context.progress;
        let coarse = self.coarse_level_of(terrain).and_then(|coarse| Some((coarse, coarse.finer.as_ref()?)));
        let Some((coarse, finer)) = coarse else { return terrain.copied(progress) };
        let [source, finer_source] = [coarse, &self.reference].map(|level| self.uneroded(level, done));
        finer.refined(terrain, &source?, finer_source?, progress)
    }

    /// The coarse level if the terrain is at its points.
    fn coarse_level_of(&self, terrain: &Heightfield) -> Option<&Level> {
        self.coarse.as_ref().filter(|coarse| coarse.mesh.grid() == terrain.grid())
    }

    /// The last fault on the coarse level, which ends with a whole step.
    fn last_coarse(&self) -> u32 {
        let every = self.rivers.interval();
        (COARSE_UNTIL * f64::from(self.erosion.count)).to_u32() / every * every
    }

    /// The sum of the faults alone at the points of a level.
    fn uneroded(&self, Level { wide, mesh, .. }: &Level, until: u32) -> Result<Heightfield, Cancelled> {
        // The steps are counted, not this.
        let progress = self.context.progress.of_part();
        let context = EvalContext { grid: wide.world(), progress: &progress, ..*self.context };
        wide.at_points(mesh, &self.erosion.faults.sum(1..=until, &context)?, &progress)
    }

    /// Adds the faults after `done` up to `until` on a level, with the steps between them.
    fn run(
        &mut self,
        level: &Level,
        [done, until]: [u32; 2],
        terrain: &mut Heightfield,
        keyframes: &mut KeyframeSink,
        counter: &ProgressCounter,
    ) -> Result<(), Cancelled> {
        if done >= until {
            return Ok(());
        }
        let (every, progress) = (self.rivers.interval(), self.context.progress);
        let has_steps = until / every > done / every;
        let solver = || self.rivers.solver(level.mesh.clone(), 1.0, self.context.stream, progress);
        let solver = has_steps.then(solver).transpose()?;
        if self.erosion.needs_heights() {
            return self.run_one_by_one(level, [done, until], solver, (terrain, keyframes), counter);
        }
        self.run_in_groups(level, [done, until], solver, (terrain, keyframes), counter)
    }

    /// For faults that do not depend on the heights: those up to the next river step are summed during the previous one.
    fn run_in_groups(
        &mut self,
        level: &Level,
        [done, until]: [u32; 2],
        mut solver: Option<StreamPowerSolver>,
        (terrain, keyframes): (&mut Heightfield, &mut KeyframeSink),
        counter: &ProgressCounter,
    ) -> Result<(), Cancelled> {
        let (every, context, faults) = (self.rivers.interval(), self.context, self.erosion.faults);
        let (progress, wide) = (context.progress, level.wide);
        // The faults are counted when they have been eroded.
        let uncounted = progress.of_part();
        let on_level = EvalContext { grid: wide.world(), progress: &uncounted, ..*context };
        let last_of_group = |first: u32| first.div_ceil(every).saturating_mul(every).min(until);
        let sum_of_group = |first: u32| faults.sum(first..=last_of_group(first), &on_level);
        let mut first = done + 1;
        // Threads of the pool wait for each other for less time than one outside it waits for them.
        let mut sum = rayon::scope(|_| sum_of_group(first))?;
        loop {
            let last = last_of_group(first);
            level.mesh.add_map(terrain, &wide.extended(&sum, terrain.grid(), progress)?, None, progress)?;
            let part = f64::from(last % every) / f64::from(every);
            if part > 0.0 {
                // The last step is shorter if fewer faults came before it. One solver at a time is in memory.
                drop(solver.take());
                solver = Some(self.rivers.solver(level.mesh.clone(), part, context.stream, progress)?);
            }
            let erode = || solver.as_mut().map_or(Ok(()), |solver| self.erode_with_rebound(level, solver, terrain));
            let next = || (last < until).then(|| sum_of_group(last + 1)).transpose();
            let (eroded, next) = rayon::join(erode, next);
            eroded?;
            (first..=last).try_for_each(|_| counter.add_one())?;
            keyframes.offer(last, terrain, progress)?;
            let Some(next) = next? else { break };
            (first, sum) = (last + 1, next);
        }
        Ok(())
    }

    /// For faults that depend on the heights, or have wind after each.
    fn run_one_by_one(
        &mut self,
        level: &Level,
        [done, until]: [u32; 2],
        mut solver: Option<StreamPowerSolver>,
        (terrain, keyframes): (&mut Heightfield, &mut KeyframeSink),
        counter: &ProgressCounter,
    ) -> Result<(), Cancelled> {
        let (context, FaultErosion { faults, floor_m, .. }) = (self.context, self.erosion);
        let (progress, wide) = (context.progress, level.wide);
        let mut wind: Option<PreparedFilter> = self.erosion.wind.map(|wind| wind.prepared(context.grid));
        let mut sampler = GridSampler::new(&level.mesh, progress)?;
        for i in done + 1..=until {
            let change = |samples: &mut Heightfield| {
                wide.change(samples, |world| faults.add_to(world, i, context), progress)?;
                if let Some(floor_m) = floor_m {
                    // What the floor keeps from sinking depends on the heights, which differ beyond the border.
                    let floor_m = floor_m.to_f32();
                    samples.heights_mut().iter_mut().for_each(|height| *height = height.max(floor_m));
                }
                wind.as_mut().map_or(Ok(()), |wind| wind.pass(samples, progress))
            };
            sampler.change(terrain, None, change, progress)?;
            if let Some(solver) = solver.as_mut().filter(|_| i.is_multiple_of(self.rivers.interval())) {
                self.erode_with_rebound(level, solver, terrain)?;
            }
            keyframes.offer(i, terrain, progress)?;
            counter.add_one()?;
        }
        Ok(())
    }

    /// Computes a river step, then raises the whole terrain, outlets included, by the mean height that was eroded in the
    /// world, or lowers it if more was filled.
    ///
    /// Without the rebound the terrain would sink forever, because faults lift as much as they lower and rivers only
    /// remove. The crust does much the same when relieved of a load, by about 0.8 of it (A. B. Watts, "Isostasy and Flexure
    /// of the Lithosphere", 2001); here the rebound is complete, by convention.
    fn erode_with_rebound(
        &mut self,
        level: &Level,
        solver: &mut StreamPowerSolver,
        terrain: &mut Heightfield,
    ) -> Result<(), Cancelled> {
        let (wide, progress) = (level.wide, self.context.progress);
        let before = self.rock.is_some().then(|| terrain.copied(progress)).transpose()?;
        let before_m = mean_m(wide, terrain);
        solver.step(terrain, None, progress)?;
        let rebound_m = (before_m - mean_m(wide, terrain)).to_f32();
        if let (Some(rock), Some(before)) = (&mut self.rock, before) {
            let mut change = before.combined(terrain, |before, after| after - before, progress)?;
            if let Some(finer) = &level.finer {
                let coarse = std::mem::replace(&mut change, Heightfield::flat(self.reference.mesh.grid()));
                finer.add_to(&mut change, &coarse, progress)?;
            }
            rock.note_filling(&change);
            rock.note_rebound(rebound_m);
        }
        terrain.heights_mut().par_iter_mut().with_min_len(1 << 13).for_each(|height| *height += rebound_m);
        Ok(())
    }
}

/// The mean height in the world. Rows are added in order, so it does not depend on the number of threads.
fn mean_m(wide: WideGrid, terrain: &Heightfield) -> f64 {
    let rows: Vec<&[f32]> = wide.rows_of_world(terrain.heights()).collect();
    let sum = |row: &[f32]| row.iter().map(|&height| f64::from(height)).sum();
    let sums: Vec<f64> = rows.into_par_iter().with_min_len(32).map(sum).collect();
    sums.iter().sum::<f64>() / wide.world().samples().to_f64()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::faults::Faults;
    use super::super::operation::Operation;
    use super::super::testing::stream;
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::inputs::Inputs;

    /// Faults of equal size, with ten river steps, of which eight run on a coarse mesh.
    fn faults() -> Faults {
        let rivers = FaultRivers { every: 4, years: 40_000.0, ..Default::default() };
        Faults {
            count: 40,
            displacement_m: 40.0,
            decay_to_m: 40.0,
            zone_m: 400.0,
            rivers: Some(rivers),
            ..Default::default()
        }
    }

    fn square() -> Grid {
        Grid::new(Extent { width_m: 10_240.0, depth_m: 10_240.0 }, 129, 129)
    }

    fn with_context<T>(grid: Grid, work: impl FnOnce(&EvalContext) -> T) -> T {
        let (inputs, progress) = (Inputs::default(), Progress::new());
        work(&EvalContext { stream: stream(), is_coarse: true, ..EvalContext::new(grid, &inputs, &progress) })
    }

    /// The terrain of the first faults on the grid.
    fn terrain(faults: &Faults, grid: Grid, until: u32) -> Heightfield {
        with_context(grid, |context| {
            let terrain = faults.evaluate(context, until, None).expect("not cancelled");
            faults.upsample(&terrain, context, until).expect("not cancelled")
        })
    }

    fn rms(a: &Heightfield, b: &Heightfield) -> f64 {
        let squares = a.heights().iter().zip(b.heights()).map(|(a, b)| f64::from(a - b) * f64::from(a - b));
        (squares.sum::<f64>() / a.heights().len() as f64).sqrt()
    }

    #[test]
    fn every_keyframe_is_the_terrain_then_and_continues_alike() {
        with_context(square(), |context| {
            let faults = faults();
            let mut kept: Vec<(u32, Arc<Heightfield>)> = Vec::new();
            let mut store = |iteration: u32, terrain: Arc<Heightfield>| kept.push((iteration, terrain));
            let mut sink = KeyframeSink::new(4, 38, &mut store);
            let last = faults.evaluate_with_keyframes(context, 38, None, &mut sink).expect("not cancelled");
            let widths: Vec<usize> = kept.iter().map(|(_, terrain)| terrain.grid().width()).collect();
            assert_eq!(widths, [69, 69, 69, 69, 69, 69, 69, 69, 137]);
            for (iteration, terrain) in kept {
                assert_eq!(faults.evaluate(context, iteration, None).as_ref(), Ok(&*terrain), "{iteration}");
                let resume = Some(Keyframe { iteration, terrain: &terrain });
                assert_eq!(faults.evaluate(context, 38, resume).as_ref(), Ok(&last), "from {iteration}");
            }
        });
    }

    #[test]
    fn no_fault_changes_the_terrain_more_when_the_mesh_becomes_finer() {
        let faults = faults();
        let terrains: Vec<Heightfield> = (20..=40).map(|until| terrain(&faults, square(), until)).collect();
        let changes: Vec<f64> = terrains.windows(2).map(|pair| rms(&pair[0], &pair[1])).collect();
        let refined = 32 - 20;
        let other = changes.iter().enumerate().filter(|(at, _)| *at != refined).map(|(_, change)| *change);
        assert!(changes[refined] < 1.1 * other.fold(0.0, f64::max), "{changes:?}");
    }

    #[test]
    fn faults_after_the_last_whole_step_are_eroded_for_their_share_of_its_time() {
        let whole = Faults { count: 2, ..faults() };
        let rivers = FaultRivers { every: 2, years: 20_000.0, ..Default::default() };
        let half = Faults { rivers: Some(rivers), ..whole.clone() };
        assert_eq!(terrain(&whole, square(), 2), terrain(&half, square(), 2));
        let dry = Faults { rivers: None, ..whole.clone() };
        let uneroded = with_context(square(), |context| dry.evaluate(context, 2, None).expect("not cancelled"));
        assert!(rms(&terrain(&whole, square(), 2), &uneroded) > 1.0);
    }

    #[test]
    fn what_rivers_fill_on_coarse_meshes_is_noted_at_the_finest_points() {
        with_context(square(), |context| {
            let (faults, progress) = (faults(), context.progress);
            let rivers = faults.rivers.as_ref().expect("given above");
            let wide = WideGrid::with_default_margin(square());
            let mesh = wide.reference_mesh(1.0, progress).expect("not cancelled");
            let mut rock = RiverRock::new(wide, &mesh, &Heightfield::flat(square()), progress).expect("not cancelled");
            let erosion = faults.erosion();
            let with_rock = FaultsWithRivers::new(erosion, rivers, context, 40, Some(&mut rock));
            let found = with_rock.and_then(|faults| faults.evaluate(None, &mut KeyframeSink::none()));
            let found = found.expect("not cancelled");
            assert_eq!(faults.evaluate(context, 40, None).as_ref(), Ok(&found), "the rock changes nothing");
            let alone = FaultsWithRivers::new(erosion, rivers, context, 40, None).expect("not cancelled");
            let sum = alone.uneroded(&alone.reference, 40).expect("not cancelled");
            let noted = sum.combined(&rock.change_m(), |sum, change| sum + change, progress).expect("not cancelled");
            assert!(rms(&noted, &found) < 0.01, "{}", rms(&noted, &found));
        });
    }

    #[test]
    fn worlds_of_all_shapes_and_their_previews_begin_on_a_coarse_mesh() {
        let (faults, progress) = (faults(), Progress::new());
        for percent in [2, 5, 8, 10, 16, 20, 22, 24, 33, 41, 50, 67, 75, 99, 100] {
            let extent = Extent { width_m: 10_240.0, depth_m: 102.4 * f64::from(percent) };
            for samples in [130, 137, 200, 257, 258, 513, 4097] {
                let (map, erosion) = (Grid::fitted(extent, samples), faults.erosion());
                for grid in [erosion.working_grid(map), erosion.preview_grid(map)] {
                    let wide = erosion.wide(grid);
                    let reference = Level::reference(wide, &progress).expect("not cancelled");
                    let coarse = Level::coarse(&reference, &progress).expect("not cancelled").expect("a coarse mesh");
                    assert_eq!(coarse.wide.at_level(1), wide, "{percent} %, {samples}");
                    assert_eq!(WideGrid::from_grid(wide.grid(), extent), wide, "{percent} %, {samples}");
                }
            }
        }
    }
}
