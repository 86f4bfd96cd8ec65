//! Joins the heights of a step with those below.

use std::sync::Arc;

use rayon::prelude::*;

use super::heightfield::{Heightfield, MAX_HEIGHT_M};
use super::mask::{EvaluatedMasks, MaskReferences, MaskRow};
use super::operations::EvalContext;
use super::progress::Cancelled;
use super::recipe::{Blend, StepSettings};
use super::rounding::{smooth_maximum, smooth_minimum};
use crate::cast::ToFloat;

/// Blends the output of a step with the terrain below: below + strength · mask · (blend(below, own) − below).
pub(super) fn blend(
    context: &EvalContext,
    own: Arc<Heightfield>,
    settings: &StepSettings,
    references: &MaskReferences,
) -> Result<Arc<Heightfield>, Cancelled> {
    let EvalContext { below, progress, .. } = *context;
    let strength = settings.strength.to_f32();
    let is_plain = strength == 1.0 && settings.mask.is_empty();
    let is_unchanged = match settings.blend {
        Blend::Replace => is_plain,
        Blend::Add => is_plain && below.is_none(),
        _ => false,
    };
    if is_unchanged {
        return Ok(own);
    }
    let rounding_m = settings.rounding_m.to_f32();
    let blended = |below: f32, own: f32| match settings.blend {
        Blend::Add => below + own,
        Blend::Subtract => below - own,
        Blend::Multiply => below * own,
        Blend::Maximum => below.max(own),
        Blend::Minimum => below.min(own),
        Blend::Replace => own,
        Blend::SmoothMaximum => smooth_maximum(below, own, rounding_m),
        Blend::SmoothMinimum => smooth_minimum(below, own, rounding_m),
    };
    let mixed = |below: f32, own: f32, share: f32| {
        let blended = blended(below, own);
        // A special case, because below + 1 · (blended − below) would be rounded.
        let mixed = if share == 1.0 { blended } else { below + share * (blended - below) };
        mixed.clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M)
    };
    let mut terrain = Arc::try_unwrap(own).or_else(|shared| shared.copied(progress))?;
    let grid = terrain.grid();
    let step_shares = StepShares::new(context, settings, references)?;
    let rows = terrain.heights_mut().par_chunks_mut(grid.width()).with_min_len(32).enumerate();
    rows.try_for_each_init(
        || (vec![0.0; grid.width()], MaskRow::new(grid.width())),
        |(shares, mask_row), (r, row)| {
            step_shares.fill(r, mask_row, shares);
            match below {
                Some(below) => {
                    for ((own, &below), &share) in row.iter_mut().zip(below.row(r)).zip(&*shares) {
                        *own = mixed(below, *own, share);
                    }
                }
                None => row.iter_mut().zip(&*shares).for_each(|(own, &share)| *own = mixed(0.0, *own, share)),
            }
            progress.check()
        },
    )?;
    Ok(Arc::new(terrain))
}

/// The share of its blend that a step has at every sample: strength · mask.
pub(super) fn shares(
    context: &EvalContext,
    settings: &StepSettings,
    references: &MaskReferences,
) -> Result<Heightfield, Cancelled> {
    let grid = context.grid;
    let step_shares = StepShares::new(context, settings, references)?;
    let mut shares = Heightfield::flat(grid);
    let rows = shares.heights_mut().par_chunks_mut(grid.width()).with_min_len(32).enumerate();
    rows.try_for_each_init(
        || MaskRow::new(grid.width()),
        |mask_row, (r, row)| {
            step_shares.fill(r, mask_row, row);
            context.progress.check()
        },
    )?;
    Ok(shares)
}

/// [`shares`], row by row.
struct StepShares<'a> {
    strength: f32,
    /// `None` if the step has no mask.
    masks: Option<EvaluatedMasks<'a>>,
}

impl<'a> StepShares<'a> {
    fn new(
        context: &'a EvalContext,
        settings: &'a StepSettings,
        references: &'a MaskReferences,
    ) -> Result<Self, Cancelled> {
        let masks = || EvaluatedMasks::new(&settings.mask, references, None, context);
        let masks = (!settings.mask.is_empty()).then(masks).transpose()?;
        Ok(Self { strength: settings.strength.to_f32(), masks })
    }

    fn fill(&self, r: usize, mask_row: &mut MaskRow, shares: &mut [f32]) {
        match &self.masks {
            Some(masks) => {
                masks.fill(r, mask_row);
                shares.iter_mut().zip(mask_row.weights()).for_each(|(share, weight)| *share = weight * self.strength);
            }
            None => shares.fill(self.strength),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::inputs::Inputs;
    use crate::progress::Progress;
    use crate::random::Stream;

    #[test]
    fn blends_match_their_formulas() {
        let grid = Grid::new(Extent { width_m: 1.0, depth_m: 1.0 }, 2, 2);
        let field = |heights: [f32; 4]| Heightfield::from_heights(grid, heights.to_vec()).expect("four samples");
        let (below, own) = (field([1.0, 2.0, 8.0, -4.0]), field([3.0, -2.0, 8.0, 0.0]));
        let check = |blend_by, strength, expected: [f32; 4]| {
            let settings = StepSettings { blend: blend_by, strength, rounding_m: 4.0, ..Default::default() };
            let (stream, inputs, progress) = (Stream::new(0, 0), Inputs::default(), Progress::new());
            let context = EvalContext { below: Some(&below), stream, ..EvalContext::new(grid, &inputs, &progress) };
            let found = blend(&context, Arc::new(own.clone()), &settings, &MaskReferences::none());
            assert_eq!(found.expect("not cancelled").heights(), expected, "{blend_by:?}");
        };
        check(Blend::Add, 1.0, [4.0, 0.0, 16.0, -4.0]);
        check(Blend::Subtract, 1.0, [-2.0, 4.0, 0.0, -4.0]);
        check(Blend::Multiply, 1.0, [3.0, -4.0, 64.0, 0.0]);
        check(Blend::Maximum, 1.0, [3.0, 2.0, 8.0, 0.0]);
        check(Blend::Minimum, 1.0, [1.0, -2.0, 8.0, -4.0]);
        check(Blend::Replace, 1.0, [3.0, -2.0, 8.0, 0.0]);
        check(Blend::Replace, 0.5, [2.0, 0.0, 8.0, -2.0]);
        check(Blend::SmoothMaximum, 1.0, [3.25, 2.0, 9.0, 0.0]);
        check(Blend::SmoothMinimum, 1.0, [0.75, -2.0, 7.0, -4.0]);
    }
}
