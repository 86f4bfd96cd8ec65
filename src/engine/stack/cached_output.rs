//! The cached output of a step's operation.

use std::sync::Arc;

use super::between_steps::BetweenSteps;
use crate::fault::FixedHeights;
use crate::heightfield::Heightfield;
use crate::operations::{AnyOperation, EvalContext, Keyframe, KeyframeSink};
use crate::progress::Cancelled;

/// The output of a step's operation before blending, by ascending number of iterations.
#[derive(Debug, Default)]
pub(super) struct CachedOutput {
    pub(super) terrains: Vec<(u32, Arc<Heightfield>)>,
    /// Exact heights, of operations that accumulate.
    pub(super) fixed: Vec<(u32, FixedHeights)>,
    /// The last output on the grid of the map, of operations with a grid of their own.
    pub(super) upsampled: Option<(u32, Arc<Heightfield>)>,
    /// The terrain after the river steps before and after the last preview between two.
    pub(super) between: Option<BetweenSteps>,
}

impl CachedOutput {
    pub(super) fn is_empty(&self) -> bool {
        self.terrains.is_empty() && self.fixed.is_empty() && self.upsampled.is_none() && self.between.is_none()
    }

    /// Whether the output after an iteration takes no computation: on the grid of the map, if the operation has one of its
    /// own.
    pub(super) fn is_known(&self, iteration: u32, is_upsampled: bool) -> bool {
        match &self.upsampled {
            Some((known, _)) if is_upsampled => *known == iteration,
            _ => !is_upsampled && self.terrain(iteration).is_some(),
        }
    }

    pub(super) fn terrain(&self, iteration: u32) -> Option<&Arc<Heightfield>> {
        self.terrains.iter().find(|(known, _)| *known == iteration).map(|(_, terrain)| terrain)
    }

    /// Stores the exact heights after an iteration. If there are more than `max`, others are dropped that are closest
    /// to their neighbours.
    pub(super) fn store(&mut self, iteration: u32, heights: FixedHeights, max: usize) {
        let kept = &mut self.fixed;
        match kept.binary_search_by_key(&iteration, |(known, _)| *known) {
            Ok(at) => kept[at].1 = heights,
            Err(at) => kept.insert(at, (iteration, heights)),
        }
        while kept.len() > max {
            let gap = |at: &usize| {
                let before = at.checked_sub(1).map_or(0, |before| kept[before].0);
                kept.get(at + 1).map_or(kept[*at].0, |(after, _)| *after) - before
            };
            let others = (0..kept.len()).filter(|&at| kept[at].0 != iteration);
            let Some(closest) = others.min_by_key(gap) else { return };
            kept.remove(closest);
        }
    }

    /// The exact heights whose iteration is nearest to `iteration`, with that iteration; `None` if flat terrain is
    /// nearer. They are removed if they belong to the same `stride` of iterations, because a moving playhead replaces
    /// them, and cloned otherwise.
    pub(super) fn nearest_fixed(&mut self, iteration: u32, stride: u32) -> Option<(u32, FixedHeights)> {
        let distance = |at: &usize| self.fixed[*at].0.abs_diff(iteration);
        let nearest = (0..self.fixed.len()).min_by_key(distance).filter(|at| distance(at) < iteration)?;
        if self.fixed[nearest].0 / stride == iteration / stride {
            Some(self.fixed.remove(nearest))
        } else {
            Some(self.fixed[nearest].clone())
        }
    }
}

/// The output of a resumable operation after `until` iterations, from the latest keyframe before that. Stores keyframes
/// at multiples of `stride` on the way.
pub(super) fn resumed(
    operation: &AnyOperation,
    context: &EvalContext,
    until: u32,
    stride: u32,
    keyframes: &mut Vec<(u32, Arc<Heightfield>)>,
) -> Result<Arc<Heightfield>, Cancelled> {
    let interval = operation.keyframe_interval();
    let is_resumable = |iteration: u32| iteration < until && iteration.is_multiple_of(interval);
    let latest = keyframes.iter().rev().find(|(iteration, _)| is_resumable(*iteration)).cloned();
    // Drop the terrain of the previous playhead position.
    keyframes.retain(|(iteration, _)| iteration % stride == 0);
    let mut keep = |iteration: u32, terrain: Arc<Heightfield>| {
        let at = keyframes.partition_point(|(known, _)| *known < iteration);
        if keyframes.get(at).is_none_or(|(known, _)| *known != iteration) {
            keyframes.insert(at, (iteration, terrain));
        }
    };
    let resume = latest.as_ref().map(|(iteration, terrain)| Keyframe { iteration: *iteration, terrain });
    let mut sink = KeyframeSink::new(stride, until, &mut keep);
    let terrain = Arc::new(operation.evaluate_with_keyframes(context, until, resume, &mut sink)?);
    keep(until, terrain.clone());
    Ok(terrain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_heights_with_close_neighbours_are_dropped_first() {
        let terrain = |value: i64| FixedHeights::from_units(&[value]);
        let mut output = CachedOutput::default();
        for iteration in [10, 50, 11, 90, 51, 12] {
            output.store(iteration, terrain(i64::from(iteration)), 4);
        }
        let kept: Vec<u32> = output.fixed.iter().map(|(iteration, _)| *iteration).collect();
        assert_eq!(kept, [12, 50, 51, 90], "10 is close to flat terrain and to 11, 11 to 12");
        assert_eq!(output.nearest_fixed(60, 20), Some((51, terrain(51))), "in another stride: cloned");
        assert_eq!(output.nearest_fixed(4, 20), None, "flat terrain is nearer");
        assert_eq!(output.nearest_fixed(55, 20), Some((51, terrain(51))), "in the same stride: removed");
        assert_eq!(output.nearest_fixed(55, 20), Some((50, terrain(50))));
        assert_eq!(output.nearest_fixed(55, 20), Some((90, terrain(90))));
        output.fixed.retain(|(iteration, _)| *iteration == 12);
        output.store(3, terrain(3), 1);
        assert_eq!(output.fixed, [(3, terrain(3))]);
        output.store(3, terrain(4), 1);
        assert_eq!(output.fixed, [(3, terrain(4))]);
    }
}
