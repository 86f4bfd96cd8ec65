//! The contexts of steps, with a cache that later runs can share, and the output of operations in it.

use crate::heightfield::Heightfield;
use crate::operations::{AnyOperation, EvalContext};
use crate::progress::Cancelled;
use crate::result_cache::{ResultKey, StepCache, cached_or_computed};
use crate::step::Step;

/// The context of a step, given that of all steps.
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
