//! Evaluating a stack of steps.

use std::sync::Arc;

use rayon::prelude::*;

use super::fault::FixedHeights;
use super::heightfield::{Grid, Heightfield, MAX_HEIGHT_M};
use super::inputs::Inputs;
use super::mask::Mask;
use super::operations::{AnyOperation, EvalContext, Keyframe};
use super::progress::{Cancelled, Progress};
use super::recipe::{Blend, Recipe, Step, StepSettings};
use super::rounding::{smooth_maximum, smooth_minimum};

/// The land of a recipe, `position` iterations into its timeline (`None`: at its end).
///
/// The same recipe and grid give the same bytes at every number of threads.
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

/// How many keyframes a step keeps at the most, how many exact heights, and how many bytes those of all steps may take
/// together; each step keeps one at the least.
const KEYFRAMES: usize = 48;
const SUMS: usize = 16;
const KEYFRAME_BYTES: usize = 96 << 20;

/// Evaluates stacks one after another and remembers what it can use again: the land after every step, and of each
/// step its own land, at several iterations where later ones follow from earlier ones.
#[derive(Debug)]
pub struct Evaluator {
    remembers: bool,
    /// Whether a sketch of the land is enough.
    sketches: bool,
    /// What all layers hold for.
    ground: Option<(Grid, u32, Inputs)>,
    layers: Vec<Layer>,
    /// The bytes that the keyframes of one step may take.
    keyframe_bytes: usize,
    /// Steps evaluated so far, for tests of what is remembered.
    evaluated: usize,
}

/// The land after a step.
#[derive(Clone, Debug)]
enum Known {
    /// It follows from the layers below as they are; `None` is flat land at height 0.
    Land(Option<Arc<Heightfield>>),
    /// Something below has changed since.
    Stale,
}

/// What is remembered of a step.
#[derive(Debug)]
struct Layer {
    step: Step,
    until: u32,
    /// The land after the step, if it still holds.
    result: Known,
    own: Own,
}

/// What is kept of a step's own land, in ascending order of the iterations done.
#[derive(Debug, Default)]
struct Own {
    terrains: Vec<(u32, Arc<Heightfield>)>,
    /// Exact heights, where the land is a sum that can be gone on with.
    sums: Vec<(u32, FixedHeights)>,
}

impl Own {
    /// Keeps the exact heights after an iteration; of more than `most` those go first that have others close by.
    fn keep(&mut self, iteration: u32, sums: FixedHeights, most: usize) {
        let kept = &mut self.sums;
        match kept.binary_search_by_key(&iteration, |(known, _)| *known) {
            Ok(at) => kept[at].1 = sums,
            Err(at) => kept.insert(at, (iteration, sums)),
        }
        while kept.len() > most {
            let gap = |at: &usize| {
                let before = at.checked_sub(1).map_or(0, |before| kept[before].0);
                kept.get(at + 1).map_or(kept[*at].0, |(after, _)| *after) - before
            };
            let others = (0..kept.len()).filter(|&at| kept[at].0 != iteration);
            let Some(closest) = others.min_by_key(gap) else { return };
            kept.remove(closest);
        }
    }

    /// The exact heights nearest to those after an iteration, to be gone on with, and after how many they are; `None` if
    /// none are nearer than flat land. A playhead that moves on takes its own along; those of another `stride` of
    /// iterations stay for when it comes back.
    fn nearest_sums(&mut self, iteration: u32, stride: u32) -> Option<(u32, FixedHeights)> {
        let apart = |at: &usize| self.sums[*at].0.abs_diff(iteration);
        let nearest = (0..self.sums.len()).min_by_key(apart).filter(|at| apart(at) < iteration)?;
        if self.sums[nearest].0 / stride == iteration / stride {
            Some(self.sums.remove(nearest))
        } else {
            Some(self.sums[nearest].clone())
        }
    }
}

impl Evaluator {
    /// Remembers: for editing.
    pub fn new() -> Self {
        Self { remembers: true, sketches: false, ground: None, layers: Vec::new(), keyframe_bytes: 0, evaluated: 0 }
    }

    /// Remembers, and makes only a sketch of what would take long on however coarse a grid: for a first glance.
    pub fn coarse() -> Self {
        Self { sketches: true, ..Self::new() }
    }

    /// Forgets at once what is no longer needed: for building large maps.
    fn uncached() -> Self {
        Self { remembers: false, ..Self::new() }
    }

    /// How many steps have been computed, not remembered, since the beginning.
    pub fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// The land of a recipe; see [`evaluate`].
    pub fn evaluate(
        &mut self,
        recipe: &Recipe,
        grid: Grid,
        position: Option<u32>,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let holds = |(known_grid, seed, known): &(Grid, u32, Inputs)| {
            *known_grid == grid && *seed == recipe.seed && known.same_rasters(inputs)
        };
        if !self.ground.as_ref().is_some_and(holds) {
            self.layers.clear();
            self.ground = Some((grid, recipe.seed, inputs.clone()));
        }
        let positions = recipe.step_positions(position.unwrap_or(u32::MAX));
        self.layers.truncate(recipe.stack.len());
        let keeping = recipe.stack.iter().filter(|step| step.operation.iterations() > 0).count();
        self.keyframe_bytes = KEYFRAME_BYTES / keeping.max(1);
        let mut below: Option<Arc<Heightfield>> = None;
        let share = |steps: usize| steps as f32 / recipe.stack.len() as f32;
        for (i, (step, &until)) in recipe.stack.iter().zip(&positions).enumerate() {
            match self.layers.get(i) {
                Some(Layer { step: known, until: known_until, result: Known::Land(terrain), .. })
                    if known == step && *known_until == until =>
                {
                    below.clone_from(terrain);
                    continue;
                }
                _ => self.forget_from(i),
            }
            let begun = step.settings.enabled && (until > 0 || step.operation.iterations() == 0);
            let mut own = self.reusable(i, step);
            if begun {
                let context =
                    EvalContext { grid, below: below.as_deref(), stream: step.stream(recipe.seed), inputs, progress };
                let joined = progress.stage(share(i)..share(i + 1), || {
                    let terrain =
                        progress.stage(0.0..0.9, || self.own_land(&step.operation, &context, until, &mut own))?;
                    progress.stage(0.9..1.0, || blend(below.as_deref(), terrain, &step.settings, inputs, progress))
                });
                match joined {
                    Ok(terrain) => below = Some(terrain),
                    Err(Cancelled) => {
                        // The next evaluation goes on from the keyframes that this one has come to.
                        self.remember(i, Layer { step: step.clone(), until, result: Known::Stale, own });
                        return Err(Cancelled);
                    }
                }
            }
            self.remember(i, Layer { step: step.clone(), until, result: Known::Land(below.clone()), own });
        }
        Ok(below.unwrap_or_else(|| Arc::new(Heightfield::flat(grid))))
    }

    fn remember(&mut self, i: usize, layer: Layer) {
        if self.remembers {
            match self.layers.get_mut(i) {
                Some(old) => *old = layer,
                None => self.layers.push(layer),
            }
        }
    }

    /// Step `i` is about to change: no land after it or above it holds any more, nor what steps above it made of the
    /// land below them. Done before computing, so that a cancelled computation leaves nothing stale behind.
    fn forget_from(&mut self, i: usize) {
        for (j, layer) in self.layers.iter_mut().enumerate().skip(i) {
            layer.result = Known::Stale;
            if j > i && layer.step.operation.reads_below() {
                layer.own = Own::default();
            }
        }
    }

    /// The step's own lands from earlier evaluations that still hold, taken out to be worked on.
    fn reusable(&mut self, i: usize, step: &Step) -> Own {
        match self.layers.get_mut(i) {
            Some(Layer { step: known, own, .. })
                if known.operation == step.operation && known.settings.seed == step.settings.seed =>
            {
                std::mem::take(own)
            }
            _ => Own::default(),
        }
    }

    /// The operation's own land after `until` iterations; `own` lies on the grid on which the operation works.
    fn own_land(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
        own: &mut Own,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let progress = context.progress;
        let grid =
            if self.sketches { operation.preview_grid(context.grid) } else { operation.working_grid(context.grid) };
        if grid == context.grid {
            return self.own_land_there(operation, context, until, own);
        }
        let known = own.terrains.iter().find(|(iteration, _)| *iteration == until).map(|(_, terrain)| terrain.clone());
        let terrain = match known {
            Some(terrain) => terrain,
            None => {
                let read = context.below.filter(|_| operation.reads_below());
                let resampled = || read.map(|terrain| terrain.resampled(grid, progress)).transpose();
                let below = progress.stage(0.0..0.1, resampled)?;
                let there = EvalContext { grid, below: below.as_ref(), ..*context };
                progress.stage(0.1..0.9, || self.own_land_there(operation, &there, until, own))?
            }
        };
        progress.stage(0.9..1.0, || operation.upsample(&terrain, context, until)).map(Arc::new)
    }

    /// The same on the grid on which the operation works, from what is remembered where possible.
    fn own_land_there(
        &mut self,
        operation: &AnyOperation,
        context: &EvalContext,
        until: u32,
        own: &mut Own,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        if let Some((_, terrain)) = own.terrains.iter().find(|(iteration, _)| *iteration == until) {
            return Ok(terrain.clone());
        }
        self.evaluated += 1;
        if !self.remembers {
            return operation.evaluate(context, until, None).map(Arc::new);
        }
        let affordable = |sample_bytes: usize, most: usize| {
            (self.keyframe_bytes / (sample_bytes * context.grid.samples())).clamp(1, most)
        };
        // Gone on with in either direction.
        let most = affordable(size_of::<i64>(), SUMS);
        let stride = operation.iterations().div_ceil(most as u32).max(1);
        if let Some(added) = operation.accumulate(context, until, own.nearest_sums(until, stride)) {
            let (terrain, sums) = added?;
            let terrain = Arc::new(terrain);
            own.keep(until, sums, most);
            own.terrains = vec![(until, terrain.clone())];
            return Ok(terrain);
        }
        if !operation.is_resumable() {
            let terrain = Arc::new(operation.evaluate(context, until, None)?);
            own.terrains = vec![(until, terrain.clone())];
            return Ok(terrain);
        }
        let stride = operation.iterations().div_ceil(affordable(size_of::<f32>(), KEYFRAMES) as u32).max(1);
        let own = &mut own.terrains;
        let mut latest = own.iter().rev().find(|(iteration, _)| *iteration < until).cloned();
        // The land of a playhead that has moved on is no keyframe; those at multiples of the stride stay.
        own.retain(|(iteration, _)| iteration % stride == 0);
        let begun = latest.as_ref().map_or(0, |(iteration, _)| *iteration);
        let share = |iteration: u32| (iteration - begun) as f32 / (until - begun).max(1) as f32;
        loop {
            let done = latest.as_ref().map_or(0, |(iteration, _)| *iteration);
            let stop = until.min((done / stride + 1) * stride);
            let keyframe = latest.as_ref().map(|(iteration, terrain)| Keyframe { iteration: *iteration, terrain });
            let land_at_stop = || operation.evaluate(context, stop, keyframe);
            let terrain = Arc::new(context.progress.stage(share(done)..share(stop), land_at_stop)?);
            let place = own.partition_point(|(iteration, _)| *iteration < stop);
            own.insert(place, (stop, terrain.clone()));
            if stop == until {
                return Ok(terrain);
            }
            latest = Some((stop, terrain));
        }
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        Self::new()
    }
}

/// Result = below + strength · mask · (blend(below, step) − below).
fn blend(
    below: Option<&Heightfield>,
    own: Arc<Heightfield>,
    settings: &StepSettings,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<Arc<Heightfield>, Cancelled> {
    let strength = settings.strength as f32;
    let plain = strength == 1.0 && settings.mask.is_none();
    let takes_own_place = match settings.blend {
        Blend::Replace => plain,
        Blend::Add => plain && below.is_none(),
        _ => false,
    };
    if takes_own_place {
        return Ok(own);
    }
    let rounding_m = settings.rounding_m as f32;
    let joined = |below: f32, own: f32| match settings.blend {
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
        let joined = joined(below, own);
        // Written out, because below + 1 · (joined − below) is not joined to the last bit.
        let mixed = if share == 1.0 { joined } else { below + share * (joined - below) };
        mixed.clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M)
    };
    let mut terrain = Arc::try_unwrap(own).or_else(|shared| shared.copied(progress))?;
    let grid = terrain.grid();
    let over = |mask| Mask::over(mask, grid, below, inputs, progress);
    let stencil = settings.mask.as_ref().map(over).transpose()?;
    let rows = terrain.heights_mut().par_chunks_mut(grid.width()).with_min_len(32).enumerate();
    rows.try_for_each_init(
        || vec![strength; grid.width()],
        |shares, (r, row)| {
            if let Some(stencil) = &stencil {
                stencil.row(r, shares);
                shares.iter_mut().for_each(|share| *share *= strength);
            }
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

/// Whether a part of the land can be computed by itself: [`evaluate`] on a [part](Grid::part) of a grid gives the
/// heights that it gives there on the whole.
pub fn is_pointwise(recipe: &Recipe, grid: Grid) -> bool {
    let step_can = |Step { operation, settings, .. }: &Step| {
        operation.is_pointwise()
            && operation.working_grid(grid) == grid
            && settings.mask.as_ref().is_none_or(|mask| mask.is_pointwise())
    };
    recipe.stack.iter().filter(|step| step.settings.enabled).all(step_can)
}

/// The most bytes that an [`Evaluator`] remembers of a stack on a grid: the land after every step, and its own ones.
pub fn max_cache_bytes(recipe: &Recipe, grid: Grid) -> u64 {
    let enabled = recipe.stack.iter().filter(|step| step.settings.enabled);
    let keeping = enabled.clone().filter(|step| step.operation.iterations() > 0).count().max(1);
    let of_step = |step: &Step| {
        let [result, own] =
            [grid, step.operation.working_grid(grid)].map(|grid| (size_of::<f32>() * grid.samples()) as u64);
        // A land and its exact heights, where those are kept, and keyframes within what all steps share.
        let kept = if step.operation.iterations() > 0 { (2 * own).max((KEYFRAME_BYTES / keeping) as u64) } else { 0 };
        result + own + kept
    };
    enabled.map(of_step).sum()
}

/// The most maps of heights that building a stack on a grid holds at once.
pub fn peak_maps(recipe: &Recipe, grid: Grid) -> f64 {
    let of_step = |(at, step): (usize, &Step)| {
        // Operations count a map for the land below, which the first step does not have.
        let missing = if at == 0 { 1.0 } else { 0.0 };
        let there = step.operation.working_grid(grid);
        // While it is joined: the land below and its own beside what its mask goes by.
        let masked = step.settings.mask.as_ref().map_or(0.0, |mask| 2.0 + mask.peak_maps()) - missing;
        if there == grid {
            return masked.max(step.operation.peak_maps(grid) - missing);
        }
        // The land below and the result, beside what lies on the grid on which the operation works.
        let working = step.operation.peak_maps(there) * there.samples() as f64 / grid.samples() as f64;
        masked.max(step.operation.upsample_peak_maps(grid) - missing + working)
    };
    recipe.stack.iter().filter(|step| step.settings.enabled).enumerate().map(of_step).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::mask::MaskSource;
    use crate::engine::operations::FaultRivers;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::mountains::Mountains;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::parameters::Band;

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
    fn a_sketch_has_rivers_on_its_own_grid_and_all_else_as_it_is() {
        let rivers = Some(FaultRivers { years: 20_000.0, ..Default::default() });
        let recipe = |rivers| Recipe {
            stack: vec![Step::new(Faults { count: 40, rivers, ..Default::default() })],
            ..Default::default()
        };
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let [exact, sketched] = [false, true].map(|sketches| {
            move |recipe: &Recipe, grid| {
                let mut evaluator = Evaluator { sketches, ..Evaluator::new() };
                evaluator.evaluate(recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
            }
        });
        let dry = recipe(None);
        assert_eq!(sketched(&dry, grid()), exact(&dry, grid()));
        let wet = recipe(rivers);
        let sketch = sketched(&wet, grid());
        let step = &wet.stack[0];
        let context = EvalContext {
            grid: grid(),
            below: None,
            stream: step.stream(wet.seed),
            inputs: &inputs,
            progress: &progress,
        };
        assert_eq!(*sketch, step.operation.evaluate(&context, 40, None).expect("not cancelled"));
        assert_ne!(sketch, exact(&wet, grid()));
        // Where the grid is the finer one, a sketch is no other land.
        let fine = Grid::fitted(grid().extent(), 300);
        assert_eq!(sketched(&wet, fine), exact(&wet, fine));
    }

    #[test]
    fn blends_by_hand() {
        let grid = Grid::new(Extent { width_m: 1.0, depth_m: 1.0 }, 2, 2);
        let field = |heights: [f32; 4]| Heightfield::from_heights(grid, heights.to_vec()).expect("four samples");
        let (below, own) = (field([1.0, 2.0, 8.0, -4.0]), field([3.0, -2.0, 8.0, 0.0]));
        let check = |blend_by, strength, expected: [f32; 4]| {
            let settings = StepSettings { blend: blend_by, strength, rounding_m: 4.0, ..Default::default() };
            let found = blend(Some(&below), Arc::new(own.clone()), &settings, &Inputs::default(), &Progress::new());
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

    #[test]
    fn a_mask_holds_a_step_back() {
        let mut recipe = recipe(vec![faults(40), faults(40)]);
        let below = terrain(&Recipe { stack: recipe.stack[..1].to_vec(), ..recipe.clone() }, None);
        let whole = terrain(&recipe, None);
        let border = Mask { source: MaskSource::Border, border_m: 300.0, ..Default::default() };
        recipe.stack[1].settings.mask = Some(border);
        let masked = terrain(&recipe, None);
        assert_eq!((masked[(0, 7)], masked[(40, 32)]), (below[(0, 7)], below[(40, 32)]), "nothing at the border");
        assert_eq!(masked[(20, 16)], whole[(20, 16)], "all in the middle");
        // Column 6 lies 150 m from the border: half of the step.
        let half = 0.5 * (below[(6, 16)] + whole[(6, 16)]);
        assert!((masked[(6, 16)] - half).abs() < 1e-3);
    }

    #[test]
    fn what_is_remembered_equals_what_is_computed_anew() {
        let filter = || Step::new(RecursiveFilter { k: 0.3, ..Default::default() });
        let mut recipe = recipe(vec![windy(60), faults(30), filter()]);
        let mut evaluator = Evaluator::new();
        let inputs = Inputs::default();
        let mut check = |recipe: &Recipe, position| {
            let found = evaluator.evaluate(recipe, grid(), position, &inputs, &Progress::new()).expect("not cancelled");
            assert_eq!(*found, terrain(recipe, position), "at {position:?}");
        };
        // Forwards, backwards, across the border of the steps, beyond the end.
        for position in [0, 1, 2, 17, 3, 59, 60, 61, 90, 70, 5, 500] {
            check(&recipe, Some(position));
        }
        recipe.stack[0].settings.strength = 0.5;
        check(&recipe, None);
        recipe.stack[1].settings.mask = Some(Mask { elevation_m: Band { min: 0.0, max: 1e4 }, ..Default::default() });
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
    fn an_edit_computes_no_step_below_it_and_no_land_that_stays() {
        let mut recipe = recipe(vec![faults(50), faults(20), faults(30)]);
        let mut evaluator = Evaluator::new();
        let mut evaluated_by = |recipe: &Recipe| {
            let before = evaluator.evaluated();
            evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
            evaluator.evaluated() - before
        };
        assert_eq!(evaluated_by(&recipe), 3);
        recipe.stack[1].settings.strength = 0.7;
        assert_eq!(evaluated_by(&recipe), 0, "the same lands in another mixture");
        recipe.stack[1] = faults(21);
        assert_eq!(evaluated_by(&recipe), 1, "only the edited step");
    }

    #[test]
    fn raised_land_that_follows_from_the_land_below_follows_its_edits() {
        let mut recipe = recipe(vec![faults(60), Step::new(Mountains { valleys: 3, ..Default::default() })]);
        let mut evaluator = Evaluator::new();
        for count in [60, 61, 20] {
            recipe.stack[0] = faults(count);
            let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
            assert_eq!(found.as_deref(), Ok(&terrain(&recipe, None)), "{count} faults below");
        }
    }

    #[test]
    fn steps_that_have_not_begun_leave_the_land_alone() {
        let mut recipe = recipe(vec![faults(10), faults(10)]);
        recipe.stack[1].settings.blend = Blend::Replace;
        let alone = recipe.clone();
        let alone = Recipe { stack: alone.stack[..1].to_vec(), ..alone };
        assert_eq!(terrain(&recipe, Some(10)), terrain(&alone, None));
        assert_ne!(terrain(&recipe, Some(11)), terrain(&alone, None));
        assert_eq!(terrain(&recipe, Some(0)).min_max(), [0.0, 0.0]);
    }

    #[test]
    fn a_cancelled_evaluation_stops_and_leaves_nothing_stale() {
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
            // Somewhere in the middle of the stack, in another place every time.
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

    #[test]
    fn exact_heights_that_others_are_close_to_go_first_and_the_present_ones_never() {
        let terrain = |value: i64| FixedHeights::of_land(&[value]);
        let mut own = Own::default();
        for iteration in [10, 50, 11, 90, 51, 12] {
            own.keep(iteration, terrain(i64::from(iteration)), 4);
        }
        let kept: Vec<u32> = own.sums.iter().map(|(iteration, _)| *iteration).collect();
        assert_eq!(kept, [12, 50, 51, 90], "10 lies close to flat land and to 11, 11 to 12");
        assert_eq!(own.nearest_sums(60, 20), Some((51, terrain(51))), "of another stride: a copy");
        assert_eq!(own.nearest_sums(4, 20), None, "flat land is nearer");
        assert_eq!(own.nearest_sums(55, 20), Some((51, terrain(51))), "taken along");
        assert_eq!(own.nearest_sums(55, 20), Some((50, terrain(50))));
        assert_eq!(own.nearest_sums(55, 20), Some((90, terrain(90))));
        own.sums.retain(|(iteration, _)| *iteration == 12);
        own.keep(3, terrain(3), 1);
        assert_eq!(own.sums, [(3, terrain(3))]);
        own.keep(3, terrain(4), 1);
        assert_eq!(own.sums, [(3, terrain(4))]);
    }
}
