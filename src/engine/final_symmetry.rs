//! Symmetry restored after the last step of a stack.
//!
//! Steps above a symmetry step, such as erosion, treat equal parts of the map slightly differently, because they visit
//! the samples in some order. Replacing every orbit by its mean removes that difference.

use std::sync::Arc;

use super::blending::blend;
use super::heightfield::{Extent, Grid, Heightfield};
use super::inputs::Inputs;
use super::mask::Mask;
use super::operations::symmetry::Symmetry;
use super::operations::{AnyOperation, EvalContext, Operation};
use super::progress::{Cancelled, Progress};
use super::recipe::{Blend, Recipe, Step, StepSettings};
use crate::cast::ToFloat;

/// The active symmetry steps outside groups whose symmetry is restored after the last step, with their indices.
fn restoring_steps(recipe: &Recipe) -> impl Iterator<Item = (usize, &Symmetry, &Step)> {
    let placements = recipe.placements();
    recipe.active_steps().filter_map(move |(i, step)| match &step.operation {
        AnyOperation::Symmetry(symmetry) if symmetry.again_at_end && placements[i].parent.is_none() => {
            Some((i, symmetry, step))
        }
        _ => None,
    })
}

/// Whether a step that is added on top of a world of that size is made symmetric everywhere after the last step.
pub fn restores_symmetry(recipe: &Recipe, extent: Extent) -> bool {
    /// Only the proportions of the grid matter.
    const SAMPLES: usize = 257;
    let grid = Grid::fitted(extent, SAMPLES);
    let is_whole = |settings: &StepSettings| settings.mask.is_empty() && settings.strength >= 1.0;
    restoring_steps(recipe).any(|(_, symmetry, step)| symmetry.check(grid).is_ok() && is_whole(&step.settings))
}

/// The symmetries to restore after the last step, in the order of their steps: those that other active steps follow.
pub(super) fn symmetries_to_restore(recipe: &Recipe, grid: Grid) -> Vec<(&Symmetry, &Step)> {
    let last = recipe.active_steps().next_back().map_or(0, |(i, _)| i);
    let restored = restoring_steps(recipe).filter(|(i, symmetry, _)| *i < last && symmetry.check(grid).is_ok());
    restored.map(|(_, symmetry, step)| (symmetry, step)).collect()
}

/// The symmetry that the finished terrain has everywhere, if it has one: the symmetry that is restored last, or that of the
/// last step if none is restored.
pub(super) fn final_symmetry(recipe: &Recipe, grid: Grid) -> Option<&Symmetry> {
    if let Some((symmetry, step)) = symmetries_to_restore(recipe, grid).pop() {
        return (step.settings.mask.is_empty() && step.settings.strength >= 1.0).then_some(symmetry);
    }
    let (i, step) = recipe.active_steps().next_back()?;
    let AnyOperation::Symmetry(symmetry) = &step.operation else { return None };
    let StepSettings { blend, strength, mask, .. } = &step.settings;
    let is_whole = recipe.placements()[i].parent.is_none() && mask.is_empty() && *strength == 1.0;
    (is_whole && *blend == Blend::Replace && symmetry.check(grid).is_ok()).then_some(symmetry)
}

/// The peak memory of restoring the symmetries, in heightfields: the terrain after the last step, the one whose symmetry
/// is being restored, its means and the maps of the mask. 0 if there is nothing to restore.
pub(super) fn peak_maps(recipe: &Recipe, grid: Grid) -> f64 {
    let maps =
        |(_, step): (&Symmetry, &Step)| 3.0 + recipe.mask_sources(&step.settings).map(Mask::peak_maps).sum::<f64>();
    symmetries_to_restore(recipe, grid).into_iter().map(maps).fold(0.0, f64::max)
}

/// Restores symmetries after the last step, and keeps the result.
#[derive(Debug, Default)]
pub(super) struct FinalSymmetry {
    /// The last terrain after the last step, and the same with its symmetries restored.
    cached: Option<[Arc<Heightfield>; 2]>,
    removed_m: f32,
}

impl FinalSymmetry {
    /// The greatest difference in height that was removed last, metres.
    pub(super) fn removed_m(&self) -> f32 {
        self.removed_m
    }

    /// The terrain `last` with its symmetries restored, if it was the one whose symmetries were restored last.
    pub(super) fn of(&self, last: &Arc<Heightfield>) -> Option<&Arc<Heightfield>> {
        self.cached.as_ref().filter(|[from, _]| Arc::ptr_eq(from, last)).map(|[_, restored]| restored)
    }

    /// The bytes that the result takes.
    pub(super) fn cached_bytes(&self) -> usize {
        self.cached.as_ref().map_or(0, |[_, restored]| size_of_val(restored.heights()))
    }

    /// Drops the terrains.
    pub(super) fn drop_cache(&mut self) {
        self.cached = None;
    }

    /// The terrain `last` with these symmetries restored, from the cache if they are the same as before: every orbit
    /// is replaced by its mean, where the mask of the step is and by its strength.
    pub(super) fn restored(
        &mut self,
        symmetries: &[(&Symmetry, &Step)],
        last: &Arc<Heightfield>,
        recipe: &Recipe,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        if let Some([from, restored]) = &self.cached
            && Arc::ptr_eq(from, last)
        {
            return Ok(restored.clone());
        }
        *self = Self::default();
        let (mut terrain, mut removed_m) = (last.clone(), 0.0_f32);
        let share = |done: usize| done.to_f32() / symmetries.len().to_f32();
        for (i, (symmetry, step)) in symmetries.iter().enumerate() {
            let strength = step.settings.strength.min(1.0);
            let settings = StepSettings { blend: Blend::Replace, strength, ..step.settings.clone() };
            removed_m = removed_m.max(strength.to_f32() * symmetry.asymmetry_m(&terrain, progress)?);
            terrain = progress.stage(share(i)..share(i + 1), || {
                let means = progress.stage(0.0..0.9, || symmetry.orbit_means(&terrain, progress))?;
                let below = Some(&*terrain);
                let context = EvalContext {
                    below,
                    stream: step.stream(recipe.seed),
                    ..EvalContext::new(terrain.grid(), inputs, progress)
                };
                progress.stage(0.9..1.0, || blend(&context, Arc::new(means), &settings, &recipe.mask_references(..)))
            })?;
        }
        *self = Self { cached: Some([last.clone(), terrain.clone()]), removed_m };
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;
    use crate::mask::MaskSource;
    use crate::operations::faults::Faults;
    use crate::operations::symmetry::{Kind, Method};
    use crate::stack::{Evaluator, can_evaluate_parts, evaluate};

    fn grid() -> Grid {
        Grid::new(Extent { width_m: 1000.0, depth_m: 800.0 }, 41, 33)
    }

    fn faults(count: u32, seed: u32) -> Step {
        let mut step = Step::new(Faults { count, ..Default::default() });
        step.settings.seed = seed;
        step
    }

    /// Faults, half a turn's symmetry, and faults that break it.
    fn broken() -> Recipe {
        let symmetry = Step::new(Symmetry { kind: Kind::Rotate2, method: Method::Fold, ..Default::default() });
        Recipe { stack: vec![faults(30, 1), symmetry, faults(20, 2)], ..Default::default() }
    }

    fn set_again(recipe: &mut Recipe, again: bool) {
        if let AnyOperation::Symmetry(symmetry) = &mut recipe.stack[1].operation {
            symmetry.again_at_end = again;
        }
    }

    fn terrain(recipe: &Recipe) -> Heightfield {
        evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled")
    }

    /// The difference between a sample and its opposite.
    fn differences(terrain: &Heightfield) -> impl Iterator<Item = f32> {
        let heights = terrain.heights();
        heights.iter().zip(heights.iter().rev()).map(|(a, b)| (a - b).abs())
    }

    #[test]
    fn the_symmetry_holds_to_the_bit_after_later_steps() {
        let mut recipe = broken();
        let heights = terrain(&recipe).into_heights();
        assert!(heights.iter().zip(heights.iter().rev()).all(|(a, b)| a.to_bits() == b.to_bits()));
        set_again(&mut recipe, false);
        let without = terrain(&recipe);
        assert!(differences(&without).fold(0.0, f32::max) > 1.0);
        // Every height is the mean of itself and its opposite.
        let mean = |(a, b): (&f32, &f32)| ((f64::from(*a) + f64::from(*b)) / 2.0) as f32;
        let expected: Vec<f32> = without.heights().iter().zip(without.heights().iter().rev()).map(mean).collect();
        assert_eq!(heights, expected);
    }

    #[test]
    fn the_evaluator_reports_what_was_removed() {
        let mut recipe = broken();
        let mut evaluator = Evaluator::new();
        let mut removed_m = |recipe: &Recipe| {
            evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
            evaluator.removed_asymmetry_m()
        };
        let [removed, again] = [(); 2].map(|()| removed_m(&recipe));
        set_again(&mut recipe, false);
        assert_eq!(removed_m(&recipe), 0.0, "nothing to restore");
        let greatest = differences(&terrain(&recipe)).fold(0.0, f32::max);
        assert_eq!((removed, again), (greatest, greatest));
        set_again(&mut recipe, true);
        recipe.stack[2].settings.enabled = false;
        assert_eq!(removed_m(&recipe), 0.0, "the symmetry is the last step");
        let extent = grid().extent();
        assert!(restores_symmetry(&recipe, extent), "of a step that is added on top");
        set_again(&mut recipe, false);
        assert!(!restores_symmetry(&recipe, extent));
    }

    #[test]
    fn cached_results_equal_uncached_ones() {
        let mut recipe = broken();
        let mut evaluator = Evaluator::new();
        let mut check = |recipe: &Recipe, position| {
            let (inputs, progress) = (Inputs::default(), Progress::new());
            let found = evaluator.evaluate(recipe, grid(), position, &inputs, &progress).expect("not cancelled");
            assert_eq!(Ok(&*found), evaluate(recipe, grid(), position, &inputs, &progress).as_ref(), "{position:?}");
            found
        };
        for position in [0, 3, 30, 31, 50, 44, 2] {
            check(&recipe, Some(position));
        }
        let first = check(&recipe, None);
        recipe.stack[0].settings.name = "Renamed".into();
        assert!(Arc::ptr_eq(&first, &check(&recipe, None)), "renaming computes nothing");
        set_again(&mut recipe, false);
        check(&recipe, None);
        set_again(&mut recipe, true);
        check(&recipe, None);
        let last = recipe.stack.pop();
        check(&recipe, None);
        recipe.stack.extend(last);
        recipe.stack[1].settings.enabled = false;
        check(&recipe, None);
        recipe.stack[1].settings.enabled = true;
        recipe.stack[2].settings.strength = 0.3;
        check(&recipe, None);
        recipe.stack[1].settings.mask =
            vec![Mask { source: MaskSource::Border, border_m: 300.0, ..Default::default() }].into();
        check(&recipe, None);
        recipe.stack.swap(1, 2);
        check(&recipe, None);
    }

    #[test]
    fn masks_and_strengths_apply_at_the_end_too() {
        let mut recipe = broken();
        let whole = terrain(&recipe);
        recipe.stack[1].settings.strength = 0.0;
        let untouched = terrain(&recipe);
        set_again(&mut recipe, false);
        assert_eq!(untouched, terrain(&recipe), "without strength nothing is restored");
        let mut recipe = broken();
        recipe.stack[1].settings.mask =
            vec![Mask { source: MaskSource::Border, border_m: 100.0, ..Default::default() }].into();
        let masked = terrain(&recipe);
        assert!(masked[(0, 9)] != masked[(40, 23)], "outside the mask");
        assert_eq!(masked[(20, 16)], whole[(20, 16)], "inside");
    }

    #[test]
    fn what_does_not_fit_the_world_is_refused_by_its_path_and_changes_nothing() {
        let mut recipe = broken();
        assert_eq!(recipe.check(grid()), Ok(()));
        assert!(!can_evaluate_parts(&recipe, grid()));
        recipe.stack[1].operation = Symmetry { kind: Kind::Rotate4, ..Default::default() }.into();
        let message = recipe.check(grid()).expect_err("not square").to_string();
        assert!(message.starts_with("stack.1.kind: rotate_4 needs a square world, but this one is 1000 m × 800 m"));
        let found = terrain(&recipe);
        recipe.stack[1].settings.enabled = false;
        assert_eq!(recipe.check(grid()), Ok(()), "a disabled step");
        assert_eq!(found, terrain(&recipe));
    }

    #[test]
    fn the_symmetry_of_the_finished_terrain_is_the_one_that_acts_last_and_everywhere() {
        let symmetry = |kind, again_at_end| Step::new(Symmetry { kind, again_at_end, ..Symmetry::default() });
        let with = |mut step: Step, change: &dyn Fn(&mut StepSettings)| {
            change(&mut step.settings);
            step
        };
        let kind = |stack| {
            let recipe = Recipe { stack, ..Recipe::default() };
            final_symmetry(&recipe, grid()).map(|symmetry| symmetry.kind)
        };
        let (turned, mirrored) =
            (|again| symmetry(Kind::Rotate2, again), |again| symmetry(Kind::MirrorEastWest, again));
        let faults = || Step::new(Faults::default());
        let part = || vec![Mask { source: MaskSource::Slope, ..Mask::default() }].into();
        assert_eq!(kind(vec![faults()]), None);
        assert_eq!(kind(vec![faults(), turned(false)]), Some(Kind::Rotate2));
        assert_eq!(kind(vec![turned(false), faults()]), None);
        assert_eq!(kind(vec![turned(true), faults()]), Some(Kind::Rotate2));
        // The one below is restored after the last step.
        assert_eq!(kind(vec![mirrored(true), turned(true)]), Some(Kind::MirrorEastWest));
        assert_eq!(kind(vec![mirrored(false), turned(true)]), Some(Kind::Rotate2));
        // The last step counts as it is, a restored one with a strength of at most 1.
        let strong = |step| with(step, &|settings| settings.strength = 1.5);
        assert_eq!(kind(vec![strong(turned(true))]), None);
        assert_eq!(kind(vec![strong(turned(true)), faults()]), Some(Kind::Rotate2));
        let masked = |step| with(step, &|settings| settings.mask = part());
        assert_eq!(kind(vec![masked(turned(true))]), None);
        assert_eq!(kind(vec![masked(turned(true)), faults()]), None);
        assert_eq!(kind(vec![masked(mirrored(true)), turned(true)]), None);
    }
}
