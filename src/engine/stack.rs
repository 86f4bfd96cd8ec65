//! Evaluation of a stack of steps.
//!
//! A step's heights are joined with the heights below by `below + strength · mask · (blend(below, step) − below)`. The
//! evaluator caches the result after every step and every step's own heights. An edit computes the edited step again;
//! steps above it that do not read the heights below are only blended again. Operations that accumulate can move from
//! any cached iteration to any other, in both directions; resumable ones restart from the nearest keyframe. After the
//! last step, the symmetry of symmetry steps is restored.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::blending::blend;
use super::cached_output::{CachedOutput, resumed};
use super::final_symmetry::{FinalSymmetry, symmetries_to_restore};
use super::heightfield::{Grid, Heightfield};
use super::inputs::Inputs;
use super::mask::{Mask, MaskSource, NamedMasks};
use super::operations::{AnyOperation, EvalContext, PartReport, symmetry_report};
use super::progress::{Cancelled, Progress};
use super::recipe::{Recipe, Step};
use crate::engine::cast::{ToFloat, ToInteger};

/// The terrain of a recipe after `position` iterations of its timeline (`None`: at the end).
///
/// The result depends only on the recipe, the grid and the inputs, not on the number of threads.
pub fn evaluate(
    recipe: &Recipe,
    grid: Grid,
    position: Option<u32>,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let terrain = Evaluator::uncached().evaluate(recipe, grid, position, inputs, progress)?;
    Ok(Arc::unwrap_or_clone(terrain))
}

/// Cache limits: keyframes per step, exact heights per step, and the bytes of both for all steps together. Every step
/// may keep at least one.
const MAX_KEYFRAMES: usize = 48;
const MAX_FIXED_HEIGHTS: usize = 16;
pub(super) const KEYFRAME_BYTES: usize = 96 << 20;

/// The bytes that a cache may take unless [`Evaluator::with_max_bytes`] sets another limit.
pub(super) const MAX_BYTES: usize = 1 << 30;

/// Evaluates stacks and caches results for later evaluations: the terrain after every step, and the output of each
/// step's operation, at several iterations if the operation can resume from them.
#[derive(Debug)]
pub struct Evaluator {
    is_caching: bool,
    /// Whether operations work on their coarse preview grids.
    is_coarse: bool,
    /// The grid, the recipe's seed and the inputs for which the cache is valid.
    valid_for: Option<(Grid, u32, Inputs)>,
    cache: Vec<CachedStep>,
    final_symmetry: FinalSymmetry,
    /// The named masks with which the cached terrains were blended.
    masks: NamedMasks,
    /// The bytes that the whole cache may take. The output of the edited step, the terrain below it
    /// and the last terrain are kept even if they take more.
    max_bytes: usize,
    /// The bytes that the keyframes of one step may take.
    keyframe_bytes: usize,
    /// The lowest step that had changed at the last evaluation.
    edited: usize,
    /// The number of operations evaluated so far, for tests of the cache.
    evaluated: usize,
}

/// The terrain after a step.
#[derive(Clone, Debug)]
enum CachedTerrain {
    /// Valid; `None` is flat terrain at height 0.
    Valid(Option<Arc<Heightfield>>),
    /// Something below has changed since, or it was dropped to save memory.
    Stale,
}

#[derive(Debug)]
struct CachedStep {
    step: Step,
    /// The iterations done.
    until: u32,
    terrain: CachedTerrain,
    output: CachedOutput,
}

impl Evaluator {
    /// An evaluator with a cache, for editing.
    pub fn new() -> Self {
        Self {
            is_caching: true,
            is_coarse: false,
            valid_for: None,
            cache: Vec::new(),
            final_symmetry: FinalSymmetry::default(),
            masks: NamedMasks::new(),
            max_bytes: MAX_BYTES,
            keyframe_bytes: 0,
            edited: 0,
            evaluated: 0,
        }
    }

    /// An evaluator with a cache for coarse previews: slow operations work on their preview grids.
    pub fn coarse() -> Self {
        Self { is_coarse: true, ..Self::new() }
    }

    /// Limits the bytes that the cache may take. The terrain does not depend on the limit.
    pub fn with_max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// The bytes that the cache takes.
    pub fn cached_bytes(&self) -> usize {
        let mut seen = BTreeSet::new();
        let mut bytes = 0;
        for CachedStep { terrain, output, .. } in &self.cache {
            let below = if let CachedTerrain::Valid(Some(terrain)) = terrain { Some(terrain) } else { None };
            for terrain in below.into_iter().chain(output.terrains.iter().map(|(_, terrain)| terrain)) {
                if seen.insert(Arc::as_ptr(terrain)) {
                    bytes += size_of_val(terrain.heights());
                }
            }
            bytes += output.fixed.iter().map(|(_, fixed)| fixed.bytes()).sum::<usize>();
        }
        bytes + self.final_symmetry.cached_bytes()
    }

    /// Drops what the next evaluation needs least until the cache is within its limit: first the outputs below the
    /// edited step, then those above, from the top, then the terrains after other steps.
    fn enforce_limit(&mut self) {
        if self.cached_bytes() <= self.max_bytes {
            return;
        }
        let (edited, last) = (self.edited, self.cache.len().saturating_sub(1));
        let outputs = (0..edited.min(self.cache.len())).chain((edited + 1..self.cache.len()).rev());
        let terrains = (0..last).filter(|i| i + 1 != edited);
        let candidates: Vec<(usize, bool)> = outputs.map(|i| (i, true)).chain(terrains.map(|i| (i, false))).collect();
        for (i, is_output) in candidates {
            let cached = &self.cache[i];
            let is_empty = if is_output {
                cached.output.terrains.is_empty() && cached.output.fixed.is_empty()
            } else {
                !matches!(cached.terrain, CachedTerrain::Valid(Some(_)))
            };
            if is_empty {
                continue;
            }
            let cached = &mut self.cache[i];
            if is_output {
                cached.output = CachedOutput::default();
            } else {
                cached.terrain = CachedTerrain::Stale;
            }
            if self.cached_bytes() <= self.max_bytes {
                return;
            }
        }
    }

    /// An evaluator that frees memory as soon as possible, for large maps.
    pub fn uncached() -> Self {
        Self { is_caching: false, ..Self::new() }
    }

    /// The number of operations evaluated so far; results from the cache do not count.
    pub fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// The greatest difference in height that the last evaluation removed after the last step to restore the symmetry
    /// of symmetry steps, metres.
    pub fn removed_asymmetry_m(&self) -> f32 {
        self.final_symmetry.removed_m()
    }

    /// The reports on the parts of a step, given a terrain that was just evaluated. Empty if the terrain below the step
    /// is not in the cache.
    pub fn reports(
        &self,
        recipe: &Recipe,
        step: usize,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Vec<PartReport>, Cancelled> {
        let Some((reported, (grid, ..))) = recipe.stack.get(step).zip(self.valid_for.as_ref()) else {
            return Ok(Vec::new());
        };
        let below = match step.checked_sub(1).map(|below| self.cache.get(below).map(|cached| &cached.terrain)) {
            None => None,
            Some(Some(CachedTerrain::Valid(below))) => below.as_deref(),
            Some(_) => return Ok(Vec::new()),
        };
        if let AnyOperation::Symmetry(_) = reported.operation {
            return Ok(vec![symmetry_report(self.removed_asymmetry_m())]);
        }
        let context = EvalContext { grid: *grid, below, stream: reported.stream(recipe.seed), inputs, progress };
        reported.operation.reports(&context)
    }

    /// The terrain of a recipe; see [`evaluate`].
    pub fn evaluate(
        &mut self,
        recipe: &Recipe,
        grid: Grid,
        position: Option<u32>,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        self.validate_cache(recipe, grid, inputs);
        let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
        let symmetries = symmetries_to_restore(recipe, grid);
        let stages = recipe.stack.len() + symmetries.len();
        let share = |steps: usize| steps.to_f32() / stages.to_f32();
        let steps = || recipe.stack.iter().zip(&positions).enumerate();
        let unchanged = self.unchanged_steps(recipe, &positions);
        if unchanged < recipe.stack.len() {
            self.final_symmetry = FinalSymmetry::default();
        }
        self.invalidate_from(unchanged);
        if self.masks != recipe.masks {
            self.masks = recipe.masks.clone();
        }
        // The terrain after the highest unchanged step that has not been dropped from the cache.
        let valid_terrain = |(i, cached): (usize, &CachedStep)| match &cached.terrain {
            CachedTerrain::Valid(terrain) => Some((i + 1, terrain.clone())),
            CachedTerrain::Stale => None,
        };
        let known = self.cache.iter().enumerate().take(unchanged).rev().find_map(valid_terrain);
        let (start, mut below) = known.unwrap_or_default();
        if start < recipe.stack.len() {
            self.edited = unchanged.min(recipe.stack.len() - 1);
        }
        for (i, (step, &until)) in steps().skip(start) {
            let has_started = step.settings.enabled && (until > 0 || step.operation.iterations() == 0);
            let mut output = self.take_output(i, step);
            if has_started {
                let context =
                    EvalContext { grid, below: below.as_deref(), stream: step.stream(recipe.seed), inputs, progress };
                let blended = progress.stage(share(i)..share(i + 1), || {
                    let own =
                        progress.stage(0.0..0.9, || self.output(&step.operation, &context, until, &mut output))?;
                    progress.stage(0.9..1.0, || blend(&context, own, &step.settings, &recipe.mask_references(..i)))
                });
                match blended {
                    Ok(terrain) => below = Some(terrain),
                    Err(Cancelled) => {
                        // The next evaluation can resume from the keyframes of this one.
                        let terrain = CachedTerrain::Stale;
                        self.store(i, CachedStep { step: step.clone(), until, terrain, output });
                        return Err(Cancelled);
                    }
                }
            }
            let terrain = CachedTerrain::Valid(below.clone());
            self.store(i, CachedStep { step: step.clone(), until, terrain, output });
        }
        let last = below.unwrap_or_else(|| Arc::new(Heightfield::flat(grid)));
        if symmetries.is_empty() {
            self.final_symmetry = FinalSymmetry::default();
            return Ok(last);
        }
        let restore = || self.final_symmetry.restored(&symmetries, &last, recipe, inputs, progress);
        let terrain = progress.stage(share(recipe.stack.len())..1.0, restore)?;
        if !self.is_caching {
            self.final_symmetry.drop_cache();
        }
        Ok(terrain)
    }

    /// Whether evaluating the recipe would repeat no operation with iterations or on a grid of its own: then it takes
    /// some passes over the heights.
    pub fn needs_only_passes(&self, recipe: &Recipe, grid: Grid, position: Option<u32>, inputs: &Inputs) -> bool {
        if !self.is_valid_for(recipe, grid, inputs) {
            return false;
        }
        let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
        let unchanged = self.unchanged_steps(recipe, &positions);
        let below = self.cache.iter().take(unchanged).rev();
        let start = unchanged - below.take_while(|cached| matches!(cached.terrain, CachedTerrain::Stale)).count();
        recipe.stack.iter().zip(&positions).enumerate().skip(start).all(|(i, (step, until))| {
            let Step { operation, settings } = step;
            let is_single_pass =
                || operation.iterations() == 0 && operation.working_grid(grid) == grid && !operation.has_own_points();
            // The same output is blended with other heights.
            let is_known = || {
                self.cache.get(i).is_some_and(|cached| {
                    !operation.reads_below()
                        && cached.step.operation == *operation
                        && cached.step.settings.seed == settings.seed
                        && cached.output.terrain(*until).is_some()
                })
            };
            !settings.enabled || is_single_pass() || is_known()
        })
    }

    /// The number of steps, from the lowest up, whose cached terrain is what they give at these positions.
    fn unchanged_steps(&self, recipe: &Recipe, positions: &[u32]) -> usize {
        let has_same_masks = |step: &Step| {
            step.settings.mask.iter().all(|mask| {
                mask.source != MaskSource::Named || self.masks.get(&mask.name) == recipe.masks.get(&mask.name)
            })
        };
        let is_unchanged = |(cached, (step, until)): &(&CachedStep, (&Step, &u32))| {
            cached.step.has_same_result(step) && cached.until == **until && has_same_masks(step)
        };
        self.cache.iter().zip(recipe.stack.iter().zip(positions)).take_while(is_unchanged).count()
    }

    /// Whether the cache belongs to this grid, the recipe's seed and these inputs.
    fn is_valid_for(&self, recipe: &Recipe, grid: Grid, inputs: &Inputs) -> bool {
        self.valid_for.as_ref().is_some_and(|(known_grid, seed, known)| {
            *known_grid == grid && *seed == recipe.seed && known.same_rasters(inputs)
        })
    }

    /// Clears the cache if it belongs to another grid, seed or other inputs, and adapts it to the length of the stack.
    fn validate_cache(&mut self, recipe: &Recipe, grid: Grid, inputs: &Inputs) {
        if !self.is_valid_for(recipe, grid, inputs) {
            self.cache.clear();
            self.valid_for = Some((grid, recipe.seed, inputs.clone()));
        }
        self.cache.truncate(recipe.stack.len());
        let with_keyframes = recipe.stack.iter().filter(|step| step.operation.iterations() > 0).count();
        self.keyframe_bytes = KEYFRAME_BYTES / with_keyframes.max(1);
    }

    fn store(&mut self, i: usize, step: CachedStep) {
        if self.is_caching {
            match self.cache.get_mut(i) {
                Some(old) => *old = step,
                None => self.cache.push(step),
            }
            self.enforce_limit();
        }
    }

    /// Invalidates the terrains after step `i` and after the steps above it, and the outputs above it that depend on
    /// the terrain below. Called before the evaluation, so that a cancelled evaluation leaves no stale results.
    fn invalidate_from(&mut self, i: usize) {
        for (j, cached) in self.cache.iter_mut().enumerate().skip(i) {
            cached.terrain = CachedTerrain::Stale;
            if j > i && cached.step.operation.reads_below() {
                cached.output = CachedOutput::default();
            }
        }
    }

    /// Takes the cached output of step `i`, if it is still valid for `step`.
    fn take_output(&mut self, i: usize, step: &Step) -> CachedOutput {
        match self.cache.get_mut(i) {
            Some(CachedStep { step: known, output, .. })
                if known.operation == step.operation && known.settings.seed == step.settings.seed =>
            {
                std::mem::take(output)
            }
            _ => CachedOutput::default(),
        }
    }

    /// The output of an operation after `until` iterations. `cached` is on the operation's working grid.
    fn output(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
        cached: &mut CachedOutput,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let progress = context.progress;
        let grid =
            if self.is_coarse { operation.preview_grid(context.grid) } else { operation.working_grid(context.grid) };
        if grid == context.grid && !operation.has_own_points() {
            return self.output_on_working_grid(operation, context, until, cached);
        }
        let terrain = match cached.terrain(until) {
            Some(terrain) => terrain.clone(),
            None => {
                let read = context.below.filter(|_| operation.reads_below());
                let resampled = || read.map(|below| below.resampled(grid, progress)).transpose();
                let below = progress.stage(0.0..0.1, resampled)?;
                let context = EvalContext { grid, below: below.as_ref(), ..*context };
                progress.stage(0.1..0.9, || self.output_on_working_grid(operation, &context, until, cached))?
            }
        };
        progress.stage(0.9..1.0, || operation.upsample(&terrain, context, until)).map(Arc::new)
    }

    /// The output of an operation whose working grid is that of the context, from the cache if possible.
    fn output_on_working_grid(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
        cached: &mut CachedOutput,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        if let Some(terrain) = cached.terrain(until) {
            return Ok(terrain.clone());
        }
        self.evaluated += 1;
        if !self.is_caching {
            return operation.evaluate(context, until, None).map(Arc::new);
        }
        let affordable = |sample_bytes: usize, max: usize| {
            (self.keyframe_bytes / (sample_bytes * context.grid.samples())).clamp(1, max)
        };
        let max = affordable(size_of::<i64>(), MAX_FIXED_HEIGHTS);
        let stride = operation.iterations().div_ceil(max.to_u32()).max(1);
        if let Some(accumulated) = operation.accumulate(context, until, cached.nearest_fixed(until, stride)) {
            let (terrain, fixed) = accumulated?;
            let terrain = Arc::new(terrain);
            cached.store(until, fixed, max);
            cached.terrains = vec![(until, terrain.clone())];
            return Ok(terrain);
        }
        if !operation.is_resumable() {
            let terrain = Arc::new(operation.evaluate(context, until, None)?);
            cached.terrains = vec![(until, terrain.clone())];
            return Ok(terrain);
        }
        let stride = operation.iterations().div_ceil(affordable(size_of::<f32>(), MAX_KEYFRAMES).to_u32()).max(1);
        let stride = stride.next_multiple_of(operation.keyframe_interval());
        resumed(operation, context, until, stride, &mut cached.terrains)
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether parts of a grid can be evaluated independently: [`evaluate`] on a [part](Grid::part) gives the same heights
/// as on the full grid.
pub fn is_pointwise(recipe: &Recipe, grid: Grid) -> bool {
    let is_step_pointwise = |Step { operation, settings, .. }: &Step| {
        operation.is_pointwise()
            && operation.working_grid(grid) == grid
            && recipe.mask_sources(settings).all(Mask::is_pointwise)
    };
    recipe.stack.iter().filter(|step| step.settings.enabled).all(is_step_pointwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::operations::FaultRivers;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::mountains::Mountains;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::parameters::Band;
    use crate::engine::recipe::Blend;

    fn grid() -> Grid {
        Grid::new(Extent { width_m: 1000.0, depth_m: 800.0 }, 41, 33)
    }

    fn faults(count: u32) -> Step {
        Step::new(Faults { count, ..Default::default() })
    }

    fn windy(count: u32) -> Step {
        Step::new(Faults { count, wind: Some(RecursiveFilter::default()), ..Default::default() })
    }

    fn recipe(stack: Vec<Step>) -> Recipe {
        let mut recipe = Recipe { stack, ..Default::default() };
        for (i, step) in recipe.stack.iter_mut().enumerate() {
            step.settings.seed = i as u32;
        }
        recipe
    }

    fn terrain(recipe: &Recipe, position: Option<u32>) -> Heightfield {
        evaluate(recipe, grid(), position, &Inputs::default(), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn coarse_evaluation_uses_preview_grids_of_slow_operations_only() {
        let rivers = Some(FaultRivers { years: 20_000.0, ..Default::default() });
        let recipe = |rivers| Recipe {
            stack: vec![Step::new(Faults { count: 40, rivers, ..Default::default() })],
            ..Default::default()
        };
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let [exact, coarse] = [false, true].map(|is_coarse| {
            move |recipe: &Recipe, grid| {
                let mut evaluator = Evaluator { is_coarse, ..Evaluator::new() };
                evaluator.evaluate(recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
            }
        });
        let dry = recipe(None);
        assert_eq!(coarse(&dry, grid()), exact(&dry, grid()));
        let wet = recipe(rivers);
        let found = coarse(&wet, grid());
        let step = &wet.stack[0];
        let context = EvalContext {
            grid: grid(),
            below: None,
            stream: step.stream(wet.seed),
            inputs: &inputs,
            progress: &progress,
        };
        let points = step.operation.evaluate(&context, 40, None).expect("not cancelled");
        assert_eq!(Ok(&*found), step.operation.upsample(&points, &context, 40).as_ref());
        assert_ne!(found, exact(&wet, grid()));
        // On a grid finer than the preview grid there is no difference.
        let fine = Grid::fitted(grid().extent(), 300);
        assert_eq!(coarse(&wet, fine), exact(&wet, fine));
    }

    #[test]
    fn a_mask_reduces_the_effect_of_a_step() {
        let mut recipe = recipe(vec![faults(40), faults(40)]);
        let below = terrain(&Recipe { stack: recipe.stack[..1].to_vec(), ..recipe.clone() }, None);
        let unmasked = terrain(&recipe, None);
        let border = Mask { source: MaskSource::Border, border_m: 300.0, ..Default::default() };
        recipe.stack[1].settings.mask = vec![border].into();
        let masked = terrain(&recipe, None);
        assert_eq!((masked[(0, 7)], masked[(40, 32)]), (below[(0, 7)], below[(40, 32)]), "no effect at the border");
        assert_eq!(masked[(20, 16)], unmasked[(20, 16)], "full effect in the middle");
        // Column 6 is 150 m from the border: half the effect.
        let half = 0.5 * (below[(6, 16)] + unmasked[(6, 16)]);
        assert!((masked[(6, 16)] - half).abs() < 1e-3);
    }

    #[test]
    fn cached_results_equal_uncached_ones() {
        let filter = || Step::new(RecursiveFilter { k: 0.3, ..Default::default() });
        let mut recipe = recipe(vec![windy(60), faults(30), filter()]);
        let mut evaluator = Evaluator::new();
        let inputs = Inputs::default();
        let mut check = |recipe: &Recipe, position| {
            let found = evaluator.evaluate(recipe, grid(), position, &inputs, &Progress::new()).expect("not cancelled");
            assert_eq!(*found, terrain(recipe, position), "at {position:?}");
        };
        // Forwards, backwards, across steps, beyond the end.
        for position in [0, 1, 2, 17, 3, 59, 60, 61, 90, 70, 5, 500] {
            check(&recipe, Some(position));
        }
        recipe.stack[0].settings.strength = 0.5;
        check(&recipe, None);
        let mask = Mask { elevation_m: Band { min: 0.0, max: 1e4 }, ..Default::default() };
        recipe.stack[1].settings.mask = vec![mask].into();
        check(&recipe, None);
        recipe.stack[1].settings.enabled = false;
        check(&recipe, Some(40));
        recipe.stack.swap(0, 1);
        check(&recipe, None);
        recipe.seed += 1;
        check(&recipe, None);
        recipe.stack.remove(0);
        check(&recipe, None);
    }

    #[test]
    fn an_edit_evaluates_only_the_operations_that_it_affects() {
        let mut recipe = recipe(vec![faults(50), faults(20), faults(30)]);
        let mut evaluator = Evaluator::new();
        let mut evaluated_by = |recipe: &Recipe| {
            let before = evaluator.evaluated();
            evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
            evaluator.evaluated() - before
        };
        assert_eq!(evaluated_by(&recipe), 3);
        recipe.stack[1].settings.strength = 0.7;
        assert_eq!(evaluated_by(&recipe), 0, "only blending changes");
        recipe.stack[1] = faults(21);
        assert_eq!(evaluated_by(&recipe), 1, "only the edited step");
    }

    #[test]
    fn the_cache_stays_within_its_limit_and_does_not_change_the_terrain() {
        let map_bytes = grid().samples() * size_of::<f32>();
        let blur = || Step::new(RecursiveFilter { k: 0.3, ..Default::default() });
        let steps = (0..40).map(|i| if i % 3 == 2 { blur() } else { faults(3 + i) }).collect();
        let mut recipe = recipe(steps);
        let limit = 12 * map_bytes;
        let mut evaluator = Evaluator::new().with_max_bytes(limit);
        for edited in [0, 39, 39, 20, 20, 5, 38, 1] {
            recipe.stack[edited].settings.strength *= 0.9;
            let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
            assert_eq!(*found.expect("not cancelled"), terrain(&recipe, None), "step {edited}");
            assert!(evaluator.cached_bytes() <= limit, "{} of {limit} bytes", evaluator.cached_bytes());
        }
        // The terrain below the edited step is kept, so the next edit of the same step starts there.
        recipe.stack[39].settings.strength *= 0.9;
        evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        let before = evaluator.evaluated();
        recipe.stack[39].settings.seed += 1;
        evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        assert_eq!(evaluator.evaluated(), before + 1);
    }

    #[test]
    fn an_edit_of_a_named_mask_blends_the_steps_that_use_it() {
        let mut recipe = recipe(vec![faults(50), faults(20)]);
        let border = |border_m| vec![Mask { source: MaskSource::Border, border_m, ..Default::default() }];
        recipe.masks.insert("edge".into(), border(300.0).into());
        let named = Mask { source: MaskSource::Named, name: "edge".into(), ..Default::default() };
        recipe.stack[1].settings.mask = vec![named].into();
        let mut evaluator = Evaluator::new();
        for border_m in [300.0, 500.0, 20.0] {
            recipe.masks.insert("edge".into(), border(border_m).into());
            let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
            let mut own = recipe.clone();
            own.stack[1].settings.mask = border(border_m).into();
            assert_eq!(*found.expect("not cancelled"), terrain(&own, None), "{border_m} m");
        }
        assert_eq!(evaluator.evaluated(), 2, "no operation is evaluated again");
        assert!(is_pointwise(&recipe, grid()));
        recipe.masks.insert("edge".into(), vec![Mask { source: MaskSource::Slope, ..Default::default() }].into());
        assert!(!is_pointwise(&recipe, grid()));
    }

    #[test]
    fn renaming_steps_evaluates_and_blends_nothing() {
        // An accumulating operation, a resumable one and one that reads the terrain below.
        let mask = Mask { elevation_m: Band { min: 0.0, max: 1e4 }, ..Default::default() };
        let mut recipe = recipe(vec![faults(50), windy(20), Step::new(RecursiveFilter::default())]);
        recipe.stack[1].settings.mask = vec![mask].into();
        let mut evaluator = Evaluator::new();
        let mut evaluate = |recipe: &Recipe| {
            let terrain = evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new());
            (terrain.expect("not cancelled"), evaluator.evaluated())
        };
        let (before, evaluated) = evaluate(&recipe);
        for i in 0..3 {
            recipe.stack[i].settings.name = format!("Step {i}");
            let (after, total) = evaluate(&recipe);
            assert_eq!(total, evaluated, "renaming step {i}");
            assert!(Arc::ptr_eq(&after, &before), "renaming step {i} blended again");
        }
        recipe.stack[1].settings.strength = 0.5;
        assert_eq!(evaluate(&recipe).1, evaluated + 1, "only the filter depends on the terrain below");
    }

    #[test]
    fn operations_that_read_the_terrain_below_follow_its_edits() {
        let mut recipe = recipe(vec![faults(60), Step::new(Mountains { valleys: 3, ..Default::default() })]);
        let mut evaluator = Evaluator::new();
        for count in [60, 61, 20] {
            recipe.stack[0] = faults(count);
            let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
            assert_eq!(found.as_deref(), Ok(&terrain(&recipe, None)), "{count} faults below");
        }
    }

    #[test]
    fn steps_that_have_not_started_have_no_effect() {
        let mut recipe = recipe(vec![faults(10), faults(10)]);
        recipe.stack[1].settings.blend = Blend::Replace;
        let alone = recipe.clone();
        let alone = Recipe { stack: alone.stack[..1].to_vec(), ..alone };
        assert_eq!(terrain(&recipe, Some(10)), terrain(&alone, None));
        assert_ne!(terrain(&recipe, Some(11)), terrain(&alone, None));
        assert_eq!(terrain(&recipe, Some(0)).min_max(), [0.0, 0.0]);
    }

    #[test]
    fn a_cancelled_evaluation_leaves_no_stale_results() {
        let filter = || Step::new(RecursiveFilter { k: 0.3, ..Default::default() });
        let mut recipe = recipe(vec![faults(5), filter(), windy(200), filter(), faults(7)]);
        let mut evaluator = Evaluator::new();
        let inputs = Inputs::default();
        let cancelled = Progress::new();
        cancelled.cancel();
        assert_eq!(evaluator.evaluate(&recipe, grid(), None, &inputs, &cancelled), Err(Cancelled));
        let mut stopped = 0;
        for round in 0..40 {
            recipe.stack[0] = faults(6 + round);
            // Cancel at a different point of the stack every time.
            let progress = Progress::new();
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    (0..4000 * round).for_each(|_| std::hint::spin_loop());
                    progress.cancel();
                });
                evaluator.evaluate(&recipe, grid(), None, &inputs, &progress)
            });
            stopped += u32::from(outcome.is_err());
            let found = evaluator.evaluate(&recipe, grid(), None, &inputs, &Progress::new()).expect("not cancelled");
            assert_eq!(*found, terrain(&recipe, None), "round {round}");
        }
        assert!(stopped > 0, "no evaluation was stopped");
    }
}
