//! The terrain below a step on grids other than that of the map.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::groups::Placement;
use crate::heightfield::{Grid, Heightfield};
use crate::operations::{AnyOperation, EvalContext};
use crate::progress::Cancelled;
use crate::recipe::Recipe;

/// How the terrain below a step is computed on other grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// By evaluating the steps below, which are pointwise, on any grid that has other samples.
    Pointwise,
    /// By evaluating them on finer grids that have all samples of the map. On others it is resampled.
    Refined,
    /// By resampling that of the map.
    Resampled,
}

impl Method {
    /// That of a step which may have pointwise steps alone below it. Those below a member of a group are not evaluated again.
    pub fn of(placement: Placement, is_pointwise_below: bool, is_coarse: bool) -> Self {
        match (placement.parent, is_pointwise_below) {
            (None, true) => Self::Pointwise,
            (None, false) if !is_coarse => Self::Refined,
            _ => Self::Resampled,
        }
    }
}

/// The terrain below a step. Resampled heights differ a little from those of another size, and rivers amplify the
/// difference.
pub(super) struct TerrainBelow<'a> {
    recipe: &'a Recipe,
    /// The index of the step.
    step: usize,
    /// The terrain of a recipe on a grid, at the position on the timeline.
    evaluate: &'a (dyn Fn(&Recipe, Grid) -> Result<Heightfield, Cancelled> + Sync),
    context: EvalContext<'a>,
    method: Method,
    recipe_below: OnceLock<Recipe>,
    /// The last terrain on a finer grid: an operation can ask for the same grid several times.
    refined: Mutex<Option<Arc<Heightfield>>>,
}

impl<'a> TerrainBelow<'a> {
    pub fn new(
        recipe: &'a Recipe,
        step: usize,
        evaluate: &'a (dyn Fn(&Recipe, Grid) -> Result<Heightfield, Cancelled> + Sync),
        context: EvalContext<'a>,
        method: Method,
    ) -> Self {
        let (recipe_below, refined) = (OnceLock::new(), Mutex::new(None));
        Self { recipe, step, evaluate, context, method, recipe_below, refined }
    }

    /// The terrain on another grid of the world, or on a part of one.
    pub fn on(&self, other: Grid) -> Result<Heightfield, Cancelled> {
        let EvalContext { grid, progress, .. } = self.context;
        match self.method {
            Method::Pointwise if grid.is_part() || !grid.has_samples_of(other) => self.evaluated(other),
            Method::Refined if !other.is_part() && other != grid && other.has_samples_of(grid) => {
                let known = || self.refined.lock().unwrap_or_else(PoisonError::into_inner);
                let terrain = known().clone().filter(|terrain| terrain.grid() == other);
                let terrain = terrain.map_or_else(|| self.evaluated(other).map(Arc::new), Ok)?;
                *known() = Some(terrain.clone());
                terrain.copied(progress)
            }
            _ => self.context.below_on(other),
        }
    }

    fn evaluated(&self, grid: Grid) -> Result<Heightfield, Cancelled> {
        let recipe = self.recipe_below.get_or_init(|| below_step(self.recipe, self.step));
        (self.evaluate)(recipe, grid)
    }
}

/// The recipe of the terrain below a step. Symmetry is restored after the last step of the whole recipe alone.
pub(super) fn below_step(recipe: &Recipe, step: usize) -> Recipe {
    let mut below = Recipe { stack: recipe.stack[..step].to_vec(), ..recipe.clone() };
    for step in &mut below.stack {
        if let AnyOperation::Symmetry(symmetry) = &mut step.operation {
            symmetry.again_at_end = false;
        }
    }
    below
}
