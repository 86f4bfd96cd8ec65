//! Evaluation of a stack of steps.
//!
//! A step's heights are joined with the heights below by `below + strength · mask · (blend(below, step) − below)`. The
//! evaluator caches the result after every step and every step's own heights. An edit computes the edited step again;
//! steps above it that do not read the heights below are only blended again. Operations that accumulate can move from
//! any cached iteration to any other, in both directions; resumable ones restart from the nearest keyframe. A group joins
//! the terrain after its last member with the terrain below the group. After the last step, the symmetry of symmetry
//! steps is restored. Without a cache, the output of a step that does not read the terrain below is computed before that
//! terrain, which would take memory meanwhile.

mod below_groups;
mod between_steps;
mod cached_output;
pub mod memory;
pub mod overview;
mod pointwise;
mod rock_log;
mod shared_output;
mod terrain_below;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use self::below_groups::BelowGroups;
use self::between_steps::BetweenSteps;
use self::cached_output::{CachedOutput, resumed};
pub use self::pointwise::can_evaluate_parts;
use self::pointwise::{pointwise_steps, step_ahead};
use self::rock_log::{ChangedTerrain, RockLog};
use self::shared_output::{of_step, shared_output};
use self::terrain_below::{Method, TerrainBelow};
use super::blending::blend;
use super::discarded::discarded;
pub use super::final_symmetry::restores_symmetry;
use super::final_symmetry::{FinalSymmetry, symmetries_to_restore};
use super::groups::Placement;
use super::hash::Hash;
use super::heightfield::{Grid, Heightfield};
use super::inputs::Inputs;
use super::mask::{MaskSource, NamedMasks};
use super::operations::group::Start;
use super::operations::symmetry::Symmetry;
use super::operations::{AnyOperation, EvalContext, PartReport, TerrainOnGrid, symmetry_report};
use super::progress::{Cancelled, Progress};
use super::recipe::{Blend, Recipe, StepSettings};
use super::result_cache::{ResultCache, StepCache};
use super::rock::Rock;
use super::step::Step;
use crate::cast::{ToFloat, ToInteger};

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

/// The terrain of a recipe as [`evaluate`] gives it, and the rock below it. The symmetries that are restored after the last
/// step do not change the rock. Results are [shared](Evaluator::share) through the cache.
pub fn evaluate_with_rock(
    recipe: &Recipe,
    grid: Grid,
    position: Option<u32>,
    inputs: &Inputs,
    cache: Option<Arc<dyn ResultCache>>,
    progress: &Progress,
) -> Result<(Arc<Heightfield>, Rock), Cancelled> {
    let mut evaluator = Evaluator { rock: Some(RockLog::new(grid)), shared: cache, ..Evaluator::uncached() };
    let terrain = evaluator.evaluate(recipe, grid, position, inputs, progress)?;
    let rock = evaluator.rock.map_or_else(|| Rock::undisturbed(grid), RockLog::into_rock);
    Ok((terrain, rock))
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
    /// Where to note what the steps do to the rock. Only for an evaluation without a cache, which visits every step.
    rock: Option<RockLog>,
    /// The cache of an evaluation without one of its own.
    shared: Option<Arc<dyn ResultCache>>,
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
    placement: Placement,
    /// The iterations done.
    until: u32,
    terrain: CachedTerrain,
    output: CachedOutput,
}

/// The stages of an evaluation: one for each step, then those for the symmetries.
struct Stages {
    count: usize,
    /// The step whose output comes first; what is left of its stage takes no time.
    ahead: Option<usize>,
}

impl Stages {
    /// The share of the work that some stages are.
    fn share(&self, stages: usize) -> f32 {
        // An empty stack has none.
        stages.to_f32() / self.count.max(1).to_f32()
    }

    /// The stage of a step.
    fn of_step(&self, i: usize) -> Range<f32> {
        match self.ahead {
            Some(ahead) if i == ahead => self.share(i + 1)..self.share(i + 1),
            Some(ahead) if i < ahead => self.share(i + 1)..self.share(i + 2),
            _ => self.share(i)..self.share(i + 1),
        }
    }
}

/// Whether each step has an effect at these positions of the timeline. A group has one as soon as a member has; one that
/// begins on flat terrain, once the first of its members that have iterations has begun.
fn started_steps(recipe: &Recipe, placements: &[Placement], positions: &[u32]) -> Vec<bool> {
    let is_active = |i: &usize| recipe.stack[*i].settings.enabled && placements[*i].is_in_enabled;
    let has_started = |i: usize| {
        let iterates = |i: &usize| recipe.stack[*i].operation.iterations() > 0;
        if !recipe.stack[i].is_group() {
            return positions[i] > 0 || !iterates(&i);
        }
        let members =
            || (placements[i].first..i).filter(|member| !recipe.stack[*member].is_group() && is_active(member));
        let begins_flat =
            matches!(&recipe.stack[i].operation, AnyOperation::StepGroup(group) if group.on == Start::Flat);
        if begins_flat && members().any(|member| iterates(&member)) {
            members().any(|member| positions[member] > 0)
        } else {
            members().any(|member| positions[member] > 0 || !iterates(&member))
        }
    };
    (0..recipe.stack.len()).map(|i| is_active(&i) && has_started(i)).collect()
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
            rock: None,
            shared: None,
        }
    }

    /// An evaluator with a cache for coarse previews: slow operations work on their preview grids.
    pub fn coarse() -> Self {
        Self { is_coarse: true, ..Self::new() }
    }

    /// Whether it is an evaluator for coarse previews.
    pub fn is_coarse(&self) -> bool {
        self.is_coarse
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
            let outputs = output.terrains.iter().chain(&output.upsampled).map(|(_, terrain)| terrain);
            for terrain in below.into_iter().chain(outputs).chain(output.between.iter().flat_map(BetweenSteps::maps)) {
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
                cached.output.is_empty()
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

    /// Shares results with later runs, if the recipe can be evaluated in [parts](can_evaluate_parts).
    pub fn share(&mut self, cache: Option<Arc<dyn ResultCache>>) {
        self.shared = cache;
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
        let begins_flat = recipe.placements().get(step).is_some_and(|placement| placement.begins_flat);
        let below = match step.checked_sub(1).filter(|_| !begins_flat).map(|below| self.cached_terrain(below)) {
            None => None,
            Some(Some(below)) => below,
            Some(None) => return Ok(Vec::new()),
        };
        if let AnyOperation::Symmetry(_) = reported.operation {
            let is_in_group = recipe.placements()[step].parent.is_some();
            let StepSettings { mask, strength, blend, .. } = &reported.settings;
            let is_partial = !mask.is_empty() || *strength < 1.0 || *blend != Blend::Replace;
            let removed_m = (!is_in_group).then(|| self.removed_asymmetry_m());
            return Ok(vec![symmetry_report(removed_m, is_partial, &discarded(recipe, step))]);
        }
        let (below, stream) = (below.as_deref(), reported.stream(recipe.seed));
        let context =
            EvalContext { below, stream, is_coarse: self.is_coarse, ..EvalContext::new(*grid, inputs, progress) };
        let mut reports = reported.operation.reports(&context)?;
        let is_in_group = recipe.placements()[step].parent.is_some();
        let last = recipe.stack.len() - 1;
        if let (false, Some(after), Some(finished)) =
            (is_in_group, self.cached_terrain(step).flatten(), self.cached_terrain(last).flatten())
        {
            let symmetric = self.final_symmetry.of(&finished);
            reports.iter_mut().for_each(|report| report.compare(&after, &finished, symmetric.map(|map| &**map)));
        }
        Ok(reports)
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
        let placements = recipe.placements();
        let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
        let started = started_steps(recipe, &placements, &positions);
        let symmetries = symmetries_to_restore(recipe, grid);
        let pointwise = pointwise_steps(recipe, grid);
        let ahead = step_ahead(recipe, &placements, grid).filter(|i| !self.is_caching && started[*i]);
        let stages = Stages { count: recipe.stack.len() + symmetries.len(), ahead };
        let unchanged = self.unchanged_steps(recipe, &placements, &positions);
        if unchanged < recipe.stack.len() {
            self.final_symmetry = FinalSymmetry::default();
        }
        self.invalidate_from(unchanged);
        self.masks.clone_from(&recipe.masks);
        let (start, mut below_groups) = self.start(unchanged, &placements);
        let mut terrain = start.checked_sub(1).and_then(|last| self.cached_terrain(last)).flatten();
        if start < recipe.stack.len() {
            self.edited = unchanged.min(recipe.stack.len() - 1);
        }
        let shared = self.shared.clone().filter(|_| !self.is_caching && can_evaluate_parts(recipe, grid.full()));
        let cache = shared.as_deref().map(|cache| StepCache { cache, hash: Hash::new().with(&grid.full()) });
        let base = EvalContext { is_coarse: self.is_coarse, cache, ..EvalContext::new(grid, inputs, progress) };
        let context_of = |step: &Step| of_step(&base, step, recipe.seed);
        let output_ahead = |i: usize| {
            let step = &recipe.stack[i];
            progress.stage(0.0..stages.share(1), || self.output_ahead(&step.operation, &context_of(step), positions[i]))
        };
        let mut own_ahead = ahead.map(output_ahead).transpose()?;
        let evaluate_below =
            |recipe: &Recipe, other: Grid| evaluate(recipe, other, position, inputs, &progress.of_part());
        for (i, (step, &until)) in recipe.stack.iter().zip(&positions).enumerate().skip(start) {
            let placement = placements[i];
            let (below, of_members) = below_groups.visit(&placements, i, terrain.take(), None);
            let mut output = self.take_output(i, step, placement);
            terrain = below.clone();
            if started[i] {
                let context = EvalContext { below: below.as_deref(), ..context_of(step) };
                let blended = progress.stage(stages.of_step(i), || {
                    let method = Method::of(placement, i <= pointwise, context.is_coarse);
                    let terrain_below = TerrainBelow::new(recipe, i, &evaluate_below, context, method);
                    let below_on = |other: Grid| terrain_below.on(other);
                    // The rock takes about as long again.
                    let end = if self.rock.is_some() { 0.4 } else { 0.9 };
                    let own = || match (of_members, own_ahead.take_if(|_| ahead == Some(i))) {
                        (Some(members), _) => Ok(members.unwrap_or_else(|| Arc::new(Heightfield::flat(grid)))),
                        (None, Some(own)) => Ok(own),
                        (None, None) => self.output(&step.operation, &context, until, &below_on, &mut output),
                    };
                    let own = progress.stage(0.0..end, own)?;
                    let references = &recipe.mask_references(..i);
                    let of_rock = self.rock.is_some().then(|| own.clone());
                    let after = progress.stage(end..end + 0.1, || blend(&context, own, &step.settings, references))?;
                    if let (Some(rock), Some(own)) = (&mut self.rock, of_rock) {
                        let (context, below_on, own, after) = (&context, &below_on, &own, &after);
                        let changed = ChangedTerrain { step, context, until, below_on, references, own, after };
                        progress.stage(0.5..1.0, || rock.note(&placements, i, Some(&changed)))?;
                    }
                    Ok(after)
                });
                match blended {
                    Ok(blended) => terrain = Some(blended),
                    Err(Cancelled) => {
                        // The next evaluation can resume from the keyframes of this one.
                        let terrain = CachedTerrain::Stale;
                        self.store(i, CachedStep { step: step.clone(), placement, until, terrain, output });
                        return Err(Cancelled);
                    }
                }
            }
            if let (false, Some(rock)) = (started[i], &mut self.rock) {
                rock.note(&placements, i, None)?;
            }
            let cached = CachedTerrain::Valid(terrain.clone());
            self.store(i, CachedStep { step: step.clone(), placement, until, terrain: cached, output });
        }
        let last = terrain.unwrap_or_else(|| Arc::new(Heightfield::flat(grid)));
        let restore = || self.symmetric(&symmetries, last, recipe, inputs, progress);
        progress.stage(stages.share(recipe.stack.len())..1.0, restore)
    }

    /// The terrain after the last step with the symmetries of symmetry steps restored.
    fn symmetric(
        &mut self,
        symmetries: &[(&Symmetry, &Step)],
        last: Arc<Heightfield>,
        recipe: &Recipe,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        if symmetries.is_empty() {
            self.final_symmetry = FinalSymmetry::default();
            return Ok(last);
        }
        let terrain = self.final_symmetry.restored(symmetries, &last, recipe, inputs, progress)?;
        if !self.is_caching {
            self.final_symmetry.drop_cache();
        }
        Ok(terrain)
    }

    /// The output of an operation that does not read the terrain below, from nothing.
    fn output_ahead(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let below = |grid: Grid| context.below_on(grid);
        self.output(operation, context, until, &below, &mut CachedOutput::default())
    }

    /// Whether evaluating the recipe would repeat no operation with iterations or on a grid of its own: then it takes
    /// some passes over the heights.
    pub fn needs_only_passes(&self, recipe: &Recipe, grid: Grid, position: Option<u32>, inputs: &Inputs) -> bool {
        if !self.is_valid_for(recipe, grid, inputs) {
            return false;
        }
        let placements = recipe.placements();
        let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
        let unchanged = self.unchanged_steps(recipe, &placements, &positions);
        let (start, _) = self.start(unchanged, &placements);
        recipe.stack.iter().zip(&positions).enumerate().skip(start).all(|(i, (step, until))| {
            let Step { operation, settings, .. } = step;
            let is_single_pass = || operation.iterations() == 0 && !operation.is_upsampled(grid);
            // The same output is blended with other heights.
            let is_known = || {
                self.cache.get(i).is_some_and(|cached| {
                    !operation.reads_below()
                        && cached.step.operation == *operation
                        && cached.step.settings.seed == settings.seed
                        && cached.output.is_known(*until, operation.is_upsampled(grid))
                })
            };
            !settings.enabled || !placements[i].is_in_enabled || is_single_pass() || is_known()
        })
    }

    /// The number of steps, from the lowest up, whose cached terrain is what they give at these positions.
    fn unchanged_steps(&self, recipe: &Recipe, placements: &[Placement], positions: &[u32]) -> usize {
        let has_same_masks = |step: &Step| {
            step.settings.mask.iter().all(|mask| {
                mask.source != MaskSource::Named || self.masks.get(&mask.name) == recipe.masks.get(&mask.name)
            })
        };
        let is_unchanged = |i: &usize| {
            let (cached, step) = (&self.cache[*i], &recipe.stack[*i]);
            cached.step.has_same_result(step)
                && cached.placement.has_same_effect(&placements[*i])
                && cached.until == positions[*i]
                && has_same_masks(step)
        };
        (0..self.cache.len().min(recipe.stack.len())).take_while(is_unchanged).count()
    }

    /// The terrain after step `i`, if it is cached: `Some(None)` is flat.
    fn cached_terrain(&self, i: usize) -> Option<Option<Arc<Heightfield>>> {
        match &self.cache.get(i)?.terrain {
            CachedTerrain::Valid(terrain) => Some(terrain.clone()),
            CachedTerrain::Stale => None,
        }
    }

    /// The step at which to start, at most at `unchanged`, such that what is needed from below is cached: the terrain
    /// below that step and those below the groups around it. The latter are returned, with the first members of the
    /// groups.
    fn start(&self, unchanged: usize, placements: &[Placement]) -> (usize, BelowGroups<Option<Arc<Heightfield>>>) {
        let needed = |start: &usize| {
            start.checked_sub(1).map_or(Some(None), |last| self.cached_terrain(last))?;
            let firsts: BTreeSet<usize> = placements[*start..].iter().map(|placement| placement.first).collect();
            let below = |first: usize| {
                let terrain = first.checked_sub(1).map_or(Some(None), |last| self.cached_terrain(last));
                terrain.map(|terrain| (first, terrain))
            };
            let below = firsts.range(..*start).copied().map(below).collect::<Option<_>>();
            below.map(|below| (*start, BelowGroups(below)))
        };
        (0..=unchanged).rev().find_map(|start| needed(&start)).unwrap_or_default()
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
    fn take_output(&mut self, i: usize, step: &Step, placement: Placement) -> CachedOutput {
        match self.cache.get_mut(i) {
            Some(CachedStep { step: known, placement: known_placement, output, .. })
                if known.operation == step.operation
                    && known.settings.seed == step.settings.seed
                    && (!step.operation.reads_below() || known_placement.has_same_below(&placement)) =>
            {
                std::mem::take(output)
            }
            _ => CachedOutput::default(),
        }
    }

    /// The output of an operation after `until` iterations. `cached` is on the operation's working grid or at its
    /// own points, and `below` is the terrain below the step on other grids.
    fn output(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
        below: &TerrainOnGrid,
        cached: &mut CachedOutput,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let progress = context.progress;
        let grid =
            if self.is_coarse { operation.preview_grid(context.grid) } else { operation.working_grid(context.grid) };
        if grid == context.grid && !operation.has_own_points() {
            return self.output_on_working_grid(operation, context, until, cached);
        }
        if let Some((known, upsampled)) = &cached.upsampled
            && *known == until
        {
            return Ok(upsampled.clone());
        }
        if let Some(terrain) = self.output_between_steps(operation, context, until, below, cached)? {
            return Ok(terrain);
        }
        let terrain = match cached.terrain(until) {
            Some(terrain) => terrain.clone(),
            None => {
                let is_read = context.below.is_some() && operation.reads_below();
                let below = progress.stage(0.0..0.1, || is_read.then(|| below(grid)).transpose())?;
                let context = EvalContext { grid, below: below.as_ref(), ..*context };
                progress.stage(0.1..0.9, || self.output_on_working_grid(operation, &context, until, cached))?
            }
        };
        let upsampled = progress.stage(0.9..1.0, || operation.upsample_with(&terrain, context, until, below))?;
        let upsampled = Arc::new(upsampled);
        cached.upsampled = self.is_caching.then(|| (until, upsampled.clone()));
        Ok(upsampled)
    }

    /// The output after an iteration between two river steps, in coarse previews of an operation that says what iterations
    /// add alone; otherwise `None`.
    fn output_between_steps(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
        below: &TerrainOnGrid,
        cached: &mut CachedOutput,
    ) -> Result<Option<Arc<Heightfield>>, Cancelled> {
        let progress = context.progress;
        let Some(steps) = BetweenSteps::around(operation, until).filter(|_| self.is_coarse) else { return Ok(None) };
        let Some(added) = progress.stage(0.0..0.1, || operation.added_since(context, steps[0], until)) else {
            return Ok(None);
        };
        let added = added?;
        if cached.between.as_ref().is_none_or(|between| between.steps != steps) {
            cached.between = None;
            let before = progress.stage(0.1..0.5, || self.output(operation, context, steps[0], below, cached))?;
            let after = progress.stage(0.5..0.9, || self.output(operation, context, steps[1], below, cached))?;
            let between = || BetweenSteps::new(operation, context, steps, before, &after);
            cached.between = Some(progress.stage(0.9..1.0, between)?);
        }
        cached.between.as_ref().map(|between| between.terrain(until, added, progress)).transpose()
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
            return shared_output(operation, context, until).map(Arc::new);
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

#[cfg(test)]
mod tests;
