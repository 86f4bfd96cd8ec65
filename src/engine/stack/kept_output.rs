//! The output of operations with points of their own, which is kept between runs.

use crate::heightfield::Heightfield;
use crate::kept_results::{Hash, ResultKey, kept_or_computed};
use crate::operations::{AnyOperation, EvalContext};
use crate::progress::Cancelled;

/// The output of an operation on the grid of the context, from the results that are kept if it has points of its own: all parts
/// of large terrain need it.
pub(super) fn kept_output(
    operation: &AnyOperation,
    context: &EvalContext,
    until: u32,
) -> Result<Heightfield, Cancelled> {
    let compute = || operation.evaluate(context, until, None);
    let Some(results) = context.inputs.kept.as_deref().filter(|_| operation.has_own_points()) else { return compute() };
    let EvalContext { grid, below, stream, .. } = context;
    let hash = Hash::new().with(&(operation, until, stream, grid));
    let hash = hash.with_numbers(below.map_or(&[], Heightfield::heights));
    let key = ResultKey { what: "points", hash };
    kept_or_computed(Some((results, key)), Heightfield::from_bytes, compute, Heightfield::to_bytes)
}
