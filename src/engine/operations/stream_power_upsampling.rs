//! Transfers terrain eroded on a coarse reference grid to a finer grid.
//!
//! Drainage divides depend on tiny height differences, so all steps are computed on one reference grid. The change that
//! they made is added to the finer input terrain, which is then eroded for a few more steps, level by level. Their
//! uplift keeps the coarse terrain in equilibrium, so the extra steps only route the water between the coarse samples
//! and cut the small valleys.

use super::stream_power::StreamPowerSolver;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::progress::{Cancelled, Progress};

/// Steps computed on each finer grid.
const FINE_STEPS: u32 = 3;
/// The longest side, in samples, of the grids that get extra steps.
const MAX_FINE_SIDE: usize = 4097;

/// A function that provides a heightfield on any grid.
pub(super) type TerrainOnGrid<'a> = dyn Fn(Grid) -> Result<Heightfield, Cancelled> + Sync + 'a;

/// Eroded terrain with the data needed to transfer it to another grid.
pub(super) struct StreamPowerUpsampling<'a> {
    /// The eroded terrain.
    pub terrain: &'a Heightfield,
    /// The number of steps that eroded it.
    pub steps: u32,
    /// The terrain before erosion.
    pub below: &'a TerrainOnGrid<'a>,
    /// The uplift of each sample in one step, metres, given the terrain before erosion.
    pub uplift_m: &'a (dyn Fn(&Heightfield) -> Result<Vec<f32>, Cancelled> + Sync),
    /// The solver for a grid.
    pub solver: &'a (dyn Fn(Grid) -> Result<StreamPowerSolver, Cancelled> + Sync),
}

impl StreamPowerUpsampling<'_> {
    /// Peak memory in heightfields of the finer grid.
    pub const MAPS: f64 = 4.0 + StreamPowerSolver::MAPS;

    /// The terrain on another grid. On a coarser grid it is only resampled.
    pub fn upsample(&self, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let from = self.terrain.grid();
        if to.width() <= from.width() && to.height() <= from.height() {
            return self.terrain.resampled(to, progress);
        }
        let below = progress.stage(0.0..0.05, || (self.below)(from))?;
        let uplift_m = self.equilibrium_uplift_m(&below, progress)?;
        let mut change = self.terrain.copied(progress)?.combined(&below, |terrain, below| terrain - below, progress)?;
        let grids = finer_grids(from, to);
        // Each grid takes four times as long as the one before.
        let total: f32 = (0..grids.len()).map(|i| (1 << (2 * i)).to_f32()).sum();
        let mut begun = 0.1;
        for (i, &grid) in grids.iter().enumerate() {
            let ended = if grid == to { 1.0 } else { begun + 0.9 * (1 << (2 * i)).to_f32() / total };
            change = progress.stage(begun..ended, || {
                let below = progress.stage(0.0..0.1, || (self.below)(grid))?;
                let terrain = progress.stage(0.1..0.2, || change.resampled(grid, progress))?;
                let mut terrain = terrain.combined(&below, |change, below| change + below, progress)?;
                if grid.width().max(grid.height()) <= MAX_FINE_SIDE {
                    self.erode_further(&mut terrain, &uplift_m, progress)?;
                }
                // On the last grid the terrain itself is the result.
                if grid == to {
                    Ok(terrain)
                } else {
                    terrain.combined(&below, |terrain, below| terrain - below, progress)
                }
            })?;
            begun = ended;
        }
        Ok(change)
    }

    /// Computes the extra steps on a finer grid.
    fn erode_further(
        &self,
        terrain: &mut Heightfield,
        uplift_m: &Heightfield,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let uplift_m = progress.stage(0.2..0.3, || uplift_m.resampled(terrain.grid(), progress))?;
        let mut solver = (self.solver)(terrain.grid())?;
        let steps = self.steps.min(FINE_STEPS);
        for step in 0..steps {
            solver.step(terrain, Some(uplift_m.heights()), progress)?;
            progress.report(0.3 + 0.7 * (step + 1).to_f32() / steps.to_f32());
        }
        Ok(())
    }

    /// The uplift in one step, metres, that keeps the eroded terrain in equilibrium.
    fn equilibrium_uplift_m(&self, below: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let uplift_m = (self.uplift_m)(below)?;
        let mut stepped = self.terrain.copied(progress)?;
        (self.solver)(self.terrain.grid())?.step(&mut stepped, Some(&uplift_m), progress)?;
        let mut equilibrium = stepped.combined(self.terrain, |stepped, terrain| terrain - stepped, progress)?;
        equilibrium.heights_mut().iter_mut().zip(uplift_m).for_each(|(sum, uplift)| *sum += uplift);
        Ok(equilibrium)
    }
}

/// The one of two grids of a world that has fewer samples.
pub(super) fn coarser(a: Grid, b: Grid) -> Grid {
    if a.samples() < b.samples() { a } else { b }
}

/// The grids from `from` to the finer grid `to`, each with about twice the samples per side of the one before.
fn finer_grids(from: Grid, to: Grid) -> Vec<Grid> {
    let mut grids = Vec::new();
    let mut longer = from.width().max(from.height());
    while 2 * longer - 1 < to.width().max(to.height()) {
        longer = 2 * longer - 1;
        grids.push(Grid::fitted(to.extent(), longer));
    }
    grids.push(to);
    grids
}
