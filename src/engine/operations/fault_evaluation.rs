//! Evaluates faults with the erosion between them.

use super::fault_erosion::{FaultErosion, ROUTING};
use super::faults_with_rivers::FaultsWithRivers;
use super::operation::{EvalContext, Keyframe, KeyframeSink, TerrainOnGrid};
use super::recursive_filter::PreparedFilter;
use super::river_rock::RiverRock;
use super::stream_power_refinement::StreamPowerRefinement;
use crate::flow::WideGrid;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::Cancelled;
use crate::rock::RockChange;

impl FaultErosion<'_> {
    /// The first `until` faults with the erosion between them.
    pub fn evaluate(
        self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        if let Some(rivers) = self.rivers {
            return FaultsWithRivers::new(self, rivers, context, until, None)?.evaluate(resume, keyframes);
        }
        let (done, mut terrain) = match resume {
            Some(keyframe) => (keyframe.iteration, keyframe.terrain.copied(progress)?),
            None => (0, Heightfield::flat(grid)),
        };
        let mut wind: Option<PreparedFilter> = self.wind.map(|wind| wind.prepared(grid));
        let counter = progress.counter((until - done) as usize);
        for i in done + 1..=until {
            self.faults.add_to(&mut terrain, i, context)?;
            if let Some(wind) = &mut wind {
                wind.pass(&mut terrain, progress)?;
            }
            keyframes.offer(i, &terrain, progress)?;
            counter.add_one()?;
        }
        Ok(terrain)
    }

    /// See [`Operation::rock_change`](super::Operation::rock_change).
    pub fn rock_change(
        self,
        context: &EvalContext,
        until: u32,
        sediment_m: &Heightfield,
    ) -> Result<Option<RockChange>, Cancelled> {
        if !self.is_active() {
            return Ok(None);
        }
        let displacement_m = self.faults.sum(1..=until, context)?;
        let Some(rivers) = self.rivers else { return Ok(Some(RockChange { displacement_m, refilled_m: None })) };
        let grid = self.working_grid(context.grid);
        let wide = self.wide(grid);
        let mesh = wide.reference_mesh(1.0, context.progress)?;
        let mut rock = RiverRock::new(wide, &mesh, sediment_m, context.progress)?;
        let on_reference = EvalContext { grid, below: None, ..*context };
        FaultsWithRivers::new(self, rivers, &on_reference, until, Some(&mut rock))?
            .evaluate(None, &mut KeyframeSink::none())?;
        rock.into_change(&mesh, displacement_m, context).map(Some)
    }

    /// Brings terrain eroded by `until` faults to the context's grid. The sum of the faults alone provides the detail of a
    /// finer grid where wind has not smoothed it.
    pub fn upsample(self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let Some(rivers) = self.rivers else { return terrain.resampled(grid, progress) };
        let steps = self.steps(until);
        let uneroded = |grid: Grid| self.faults.sum(1..=until, &EvalContext { grid, ..*context });
        if steps == 0.0 {
            if self.wind.is_none() {
                return uneroded(grid);
            }
            let wide = WideGrid::from_grid(terrain.grid(), grid.extent());
            return wide.reference_mesh(1.0, progress)?.sampled(terrain.heights(), grid, progress);
        }
        let flat: &TerrainOnGrid = &|grid| Ok(Heightfield::flat(grid));
        let below: &TerrainOnGrid = if self.wind.is_none() { &uneroded } else { flat };
        // The grid on which the terrain was evaluated.
        let reference = if context.is_coarse { self.preview_grid(grid.full()) } else { self.working_grid(grid) };
        let on_reference = EvalContext { grid: reference, ..*context };
        let terrain = FaultsWithRivers::new(self, rivers, &on_reference, until, None)?.on_reference(terrain, until)?;
        let refinement = StreamPowerRefinement {
            terrain: &terrain,
            randomness: 1.0,
            routing: ROUTING,
            law: rivers.law(),
            years: rivers.years * steps,
            below,
            uplift_m: None,
            is_coarse: context.is_coarse,
            cache: context.cache,
        };
        refinement.on_grid(grid, progress)
    }
}
