//! Coarse previews between two river steps of an operation.

use std::sync::Arc;

use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::operations::{AnyOperation, EvalContext};
use crate::progress::{Cancelled, Progress};

/// The terrain after two consecutive river steps. A preview between them is the first, plus the faults since, plus a share
/// of what the second step changes, linear in the iterations. This takes a fraction of the time of a shorter step.
#[derive(Debug)]
pub(super) struct BetweenSteps {
    /// The iterations of the first step and of the second one.
    pub steps: [u32; 2],
    /// The terrain after the first step.
    before: Arc<Heightfield>,
    /// What the second step changes, apart from the iterations before it, metres.
    change_m: Arc<Heightfield>,
}

impl BetweenSteps {
    /// The steps before and after an iteration; `None` if it is one. The last one is shorter if the iterations end before.
    pub fn around(operation: &AnyOperation, iteration: u32) -> Option<[u32; 2]> {
        let interval = operation.keyframe_interval();
        let first = iteration - iteration % interval;
        let second = first.saturating_add(interval).min(operation.iterations());
        (first < iteration && iteration < second).then_some([first, second])
    }

    /// Given the terrain after both steps.
    pub fn new(
        operation: &AnyOperation,
        context: &EvalContext,
        steps: [u32; 2],
        before: Arc<Heightfield>,
        after: &Heightfield,
    ) -> Result<Self, Cancelled> {
        let progress = context.progress;
        let mut change = after.copied(progress)?.combined(&before, |after, before| after - before, progress)?;
        if let Some(added) = operation.added_since(context, steps[0], steps[1]) {
            change.combine(&added?, |change, added| change - added, progress)?;
        }
        Ok(Self { steps, before, change_m: Arc::new(change) })
    }

    /// The terrain after an iteration, given what the iterations since the first step add alone.
    pub fn terrain(
        &self,
        iteration: u32,
        added: Heightfield,
        progress: &Progress,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let [first, second] = self.steps;
        let share = (iteration - first).to_f32() / (second - first).to_f32();
        let terrain = added.combined(&self.before, |added, before| added + before, progress)?;
        terrain.combined(&self.change_m, |terrain, change| terrain + share * change, progress).map(Arc::new)
    }

    /// The maps that it keeps.
    pub fn maps(&self) -> [&Arc<Heightfield>; 2] {
        [&self.before, &self.change_m]
    }
}
