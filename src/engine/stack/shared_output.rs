//! The contexts of steps, with a cache that later runs can share, and the output of operations in it.

use crate::hash::Hash;
use crate::heightfield::{Grid, Heightfield};
use crate::inputs::Inputs;
use crate::operations::{AnyOperation, EvalContext};
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;
use crate::result_cache::{ResultCache, ResultKey, StepCache, cached_or_computed};
use crate::step::Step;

/// The context of the steps of a recipe on a grid, without what belongs to a single one.
pub(super) fn base_context<'a>(
    grid: Grid,
    inputs: &'a Inputs,
    progress: &'a Progress,
    is_coarse: bool,
    shared: Option<&'a dyn ResultCache>,
) -> EvalContext<'a> {
    let cache = shared.map(|cache| StepCache { cache, hash: Hash::new().with(&grid.full()) });
    EvalContext { grid, below: None, stream: Stream::new(0, 0), inputs, progress, is_coarse, cache }
}

/// The context of a step.
pub(super) fn of_step<'a>(base: &EvalContext<'a>, step: &Step, recipe_seed: u32) -> EvalContext<'a> {
    let stream = step.stream(recipe_seed);
    let of_step = |cache: StepCache<'a>| StepCache { hash: cache.hash.with(&(&step.operation, stream)), ..cache };
    EvalContext { stream, cache: base.cache.map(of_step), ..*base }
}

/// The output of an operation on the grid of the context, from the cache if it has points of its own: all tiles of large terrain
/// need it.
pub(super) fn shared_output(
    operation: &AnyOperation,
    context: &EvalContext,
    until: u32,
) -> Result<Heightfield, Cancelled> {
    let EvalContext { grid, below, cache, .. } = context;
    let cached = cache.filter(|_| operation.has_own_points()).map(|StepCache { cache, hash }| {
        let hash = hash.with(&(until, grid)).with_numbers(below.map_or(&[], Heightfield::heights));
        (cache, ResultKey { kind: "points", hash })
    });
    let compute = || operation.evaluate(context, until, None);
    cached_or_computed(cached, Heightfield::from_bytes, compute, Heightfield::to_bytes)
}
