//! The trait that every operation implements, with the types that its methods take and return.

use std::sync::Arc;

use rayon::prelude::*;

use super::fault_sequence::FaultSequence;
use super::report::PartReport;
use crate::cast::ToFloat;
use crate::fault::FixedHeights;
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::inputs::Inputs;
use crate::parameters::{ParameterError, Parameters};
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;
use crate::result_cache::StepCache;
use crate::rock::{RockChange, RockEffect};

/// The role of an operation: whether it creates or changes terrain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Creates terrain, which is added to the terrain below unless the step has a different blend mode.
    Generator,
    /// Changes the terrain below and replaces it.
    Modifier,
}

/// A function that provides a heightfield on any grid.
pub type TerrainOnGrid<'a> = dyn Fn(Grid) -> Result<Heightfield, Cancelled> + Sync + 'a;

/// The input of one evaluation of an operation.
#[derive(Clone, Copy, Debug)]
pub struct EvalContext<'a> {
    /// The grid to evaluate on: the [working grid](Operation::working_grid), or the output grid when upsampling.
    pub grid: Grid,
    /// The terrain below the step, on the same grid; `None` is flat terrain at height 0.
    pub below: Option<&'a Heightfield>,
    /// The step's random numbers.
    pub stream: Stream,
    /// The contents of the files that the recipe names.
    pub inputs: &'a Inputs,
    /// Progress and cancellation.
    pub progress: &'a Progress,
    /// Whether a coarse preview is wanted, which may lack detail.
    pub is_coarse: bool,
    /// The cache that later runs can share, if there is one.
    pub cache: Option<StepCache<'a>>,
}

impl<'a> EvalContext<'a> {
    /// The context of an evaluation on flat terrain without random numbers or a cache.
    pub fn new(grid: Grid, inputs: &'a Inputs, progress: &'a Progress) -> Self {
        Self { grid, below: None, stream: Stream::new(0, 0), inputs, progress, is_coarse: false, cache: None }
    }

    /// A copy of the terrain below the step.
    pub fn heights_below(&self) -> Result<Heightfield, Cancelled> {
        self.below.map_or_else(|| Ok(Heightfield::flat(self.grid)), |below| below.copied(self.progress))
    }

    /// The terrain below the step on another grid of the world, or on a part of one: resampled from its own grid.
    pub fn below_on(&self, grid: Grid) -> Result<Heightfield, Cancelled> {
        match self.below {
            Some(below) if below.grid() == grid => below.copied(self.progress),
            Some(below) if below.grid() == grid.full() => Ok(below.part(grid.as_part())),
            Some(below) => below.resampled(grid, self.progress),
            None => Ok(Heightfield::flat(grid)),
        }
    }

    /// Where an iterative modifier starts: the iterations done and their result, which is the keyframe if there is one
    /// and the terrain below otherwise.
    pub fn resume_or_below(&self, resume: Option<Keyframe>) -> Result<(u32, Heightfield), Cancelled> {
        match resume {
            Some(Keyframe { iteration, terrain }) => Ok((iteration, terrain.copied(self.progress)?)),
            None => Ok((0, self.heights_below()?)),
        }
    }

    /// Transfers a modifier's result from a coarser grid: the change that it made there is resampled and added to the
    /// terrain below, which keeps its fine detail. A result on a finer grid is only resampled.
    pub fn upsample_change(&self, modified: &Heightfield) -> Result<Heightfield, Cancelled> {
        let (from, to, progress) = (modified.grid(), self.grid, self.progress);
        let Some(below) = self.below.filter(|_| to.width() > from.width() || to.height() > from.height()) else {
            return modified.resampled(to, progress);
        };
        let coarse_below = progress.stage(0.0..0.2, || below.resampled(from, progress))?;
        let change =
            modified.copied(progress)?.combined(&coarse_below, |modified, below| modified - below, progress)?;
        let change = progress.stage(0.2..1.0, || change.resampled(to, progress))?;
        change.combined(below, |change, below| below + change, progress)
    }

    /// The terrain below with every height replaced by `height(old height, column, row)`.
    pub fn map_heights(&self, height: impl Fn(f32, usize, usize) -> f32 + Sync) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        let counter = self.progress.counter(self.grid.height());
        terrain.heights_mut().par_chunks_mut(self.grid.width()).enumerate().try_for_each(|(r, row)| {
            if let Some(below) = self.below {
                row.copy_from_slice(below.row(r));
            }
            row.iter_mut().enumerate().for_each(|(c, below)| *below = height(*below, c, r));
            counter.add_one()
        })?;
        Ok(terrain)
    }
}

/// The result of an operation after some of its iterations, from which later iterations can continue.
#[derive(Clone, Copy, Debug)]
pub struct Keyframe<'a> {
    /// The number of iterations done.
    pub iteration: u32,
    /// The operation's result after them, before blending, on the working grid or at the operation's own points.
    pub terrain: &'a Heightfield,
}

/// Where an evaluation stores keyframes.
pub struct KeyframeSink<'a> {
    /// The iterations between two keyframes.
    stride: u32,
    /// The iteration before which they are.
    until: u32,
    store: Option<&'a mut dyn FnMut(u32, Arc<Heightfield>)>,
}

impl<'a> KeyframeSink<'a> {
    /// Stores the results after multiples of `stride`, which is a multiple of [`Operation::keyframe_interval`], before the
    /// last iteration.
    pub fn new(stride: u32, until: u32, store: &'a mut dyn FnMut(u32, Arc<Heightfield>)) -> Self {
        Self { stride, until, store: Some(store) }
    }

    /// Stores nothing.
    pub fn none() -> Self {
        Self { stride: u32::MAX, until: 0, store: None }
    }

    /// Stores the terrain after an iteration if there is a keyframe.
    pub fn offer(&mut self, iteration: u32, terrain: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let is_keyframe = iteration < self.until && iteration.is_multiple_of(self.stride);
        if let Some(store) = self.store.as_mut().filter(|_| is_keyframe) {
            store(iteration, Arc::new(terrain.copied(progress)?));
        }
        Ok(())
    }
}

impl std::fmt::Debug for KeyframeSink<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("KeyframeSink").field("stride", &self.stride).finish_non_exhaustive()
    }
}

/// A terrain together with the exact fixed-point heights from which [`Operation::accumulate`] can continue.
pub type AccumulatedHeights = Result<(Heightfield, FixedHeights), Cancelled>;

/// An operation: a struct of parameters and the function that turns them into terrain.
pub trait Operation: Parameters {
    /// The name in files and on the command line.
    const KEY: &'static str;
    /// The name in the editor.
    const LABEL: &'static str;
    /// Other words for it, under which the search finds it.
    const WORDS: &'static str;

    /// How the operation relates to the terrain below.
    fn role(&self) -> Role {
        Role::Generator
    }

    /// Changes the default parameters of a new step above imported terrain, which has its final heights already.
    fn adapt_to_imported_terrain(&mut self) {}

    /// Checks what no single parameter decides: whether the parameters fit each other and the world. What is refused
    /// is not exported, and leaves the terrain in previews as it is without it.
    fn check(&self, _grid: Grid) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Parts that have no effect although nothing is wrong with them, and what to do about it.
    fn warnings(&self) -> Vec<ParameterError> {
        Vec::new()
    }

    /// Whether the result depends on the step's random numbers, and so on the seed of the step.
    fn uses_seed(&self) -> bool {
        false
    }

    /// Whether [`Self::reports`] says anything.
    fn has_reports(&self) -> bool {
        false
    }

    /// What there is to say about the parts of the operation, such as roads, once they are built on the terrain below.
    /// Takes about as long as evaluating it.
    fn reports(&self, _context: &EvalContext) -> Result<Vec<PartReport>, Cancelled> {
        Ok(Vec::new())
    }

    /// Whether the result depends on the terrain below, so that a change there invalidates it.
    fn reads_below(&self) -> bool {
        self.role() == Role::Modifier
    }

    /// What the operation does to the rock below the surface.
    fn rock_effect(&self) -> RockEffect {
        match self.role() {
            Role::Generator => RockEffect::Displace,
            Role::Modifier => RockEffect::CutAndFill,
        }
    }

    /// What `until` iterations do to the rock on the context's grid, for an operation that both displaces and erodes it;
    /// `None`: [`Self::rock_effect`] says it. `below` is the terrain below the step on other grids, and `sediment_m` the
    /// sediment on it, on the context's grid. Takes as long as evaluating the operation.
    fn rock_change(
        &self,
        _context: &EvalContext,
        _until: u32,
        _below: &TerrainOnGrid,
        _sediment_m: &Heightfield,
    ) -> Result<Option<RockChange>, Cancelled> {
        Ok(None)
    }

    /// The number of iterations on the timeline; 0 for an operation that acts at once.
    fn iterations(&self) -> u32 {
        0
    }

    /// Whether [`Self::evaluate`] can continue from the result of an earlier iteration, so that keyframes save work.
    fn is_resumable(&self) -> bool {
        false
    }

    /// The grid on which to evaluate when the result is wanted on `grid`.
    ///
    /// An operation that moves material from sample to sample returns a grid that depends on the world alone; otherwise
    /// its result would depend on the resolution. The context, the keyframes and the result of [`Self::evaluate`] are
    /// on the working grid, or at points that belong to it (see [`Self::has_own_points`]); [`Self::upsample`] brings the
    /// result to `grid`. An operation that must process the result
    /// after resampling, such as the coastline, resamples it itself and keeps the default.
    fn working_grid(&self, grid: Grid) -> Grid {
        grid
    }

    /// Whether the result of [`Self::evaluate`] is at the operation's own points near the samples of the working grid and
    /// beyond its border, rather than at the samples. [`Self::upsample`] is then called for every grid, also for the working
    /// grid.
    fn has_own_points(&self) -> bool {
        false
    }

    /// The number of iterations between results from which [`Self::evaluate`] can continue.
    fn keyframe_interval(&self) -> u32 {
        1
    }

    /// The grid on which to evaluate a coarse preview: coarser than the [working grid](Self::working_grid) if that
    /// shows nearly the same terrain in less time.
    fn preview_grid(&self, grid: Grid) -> Grid {
        self.working_grid(grid)
    }

    /// Brings the result after `until` iterations from the [working grid](Self::working_grid) to the context's grid.
    /// Resamples by default; operations that can add detail on a finer grid override it.
    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, _until: u32) -> Result<Heightfield, Cancelled> {
        terrain.resampled(context.grid, context.progress)
    }

    /// Whether the result can also be brought to parts of the grid, with the heights of the full one.
    fn upsamples_parts(&self, _grid: Grid) -> bool {
        false
    }

    /// The height above which rivers have drained every depression of the result after so many iterations, metres: the
    /// level of the sea, −∞ without a sea. `None` if they have not.
    fn drained_above_m(&self, _until: u32) -> Option<f64> {
        None
    }

    /// As [`Self::upsample`], for an operation that needs the terrain below the step on other grids: `below` returns it.
    fn upsample_with(
        &self,
        terrain: &Heightfield,
        context: &EvalContext,
        until: u32,
        _below: &TerrainOnGrid,
    ) -> Result<Heightfield, Cancelled> {
        self.upsample(terrain, context, until)
    }

    /// The peak memory of [`Self::evaluate`] in heightfields of the working grid, which is at least the result and the
    /// terrain below. Exports that would not fit into memory are refused.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        2.0
    }

    /// The peak memory of [`Self::upsample`] in heightfields of the output grid: at least the result and the terrain
    /// below.
    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        2.0
    }

    /// Whether the height at a sample depends only on its position and on the height below at that sample. Then a part
    /// of a grid can be evaluated by itself, with bit-identical heights.
    fn is_pointwise(&self) -> bool {
        false
    }

    /// The faults that the operation creates, in the order of its iterations, generated lazily; `None` if it creates
    /// no faults.
    fn faults(&self, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
        self.faults_from(1, extent, stream)
    }

    /// The faults starting at iteration `first`, without generating earlier ones.
    fn faults_from(&self, _first: u32, _extent: Extent, _stream: Stream) -> Option<FaultSequence<'_>> {
        None
    }

    /// The result after `until` iterations for an operation that is an exact sum over its iterations; `None` for any
    /// other.
    ///
    /// `from` holds the exact heights after fewer or more iterations, from which the difference is added or subtracted.
    /// The result is bit-identical to that of [`Self::evaluate`].
    fn accumulate(
        &self,
        _context: &EvalContext,
        _until: u32,
        _from: Option<(u32, FixedHeights)>,
    ) -> Option<AccumulatedHeights> {
        None
    }

    /// What iterations after `from` up to `until` add to the result on the context's grid, for coarse previews of an
    /// operation that works on a grid of its own and otherwise upsamples every result; `None` for any other.
    fn added_since(&self, _context: &EvalContext, _from: u32, _until: u32) -> Option<Result<Heightfield, Cancelled>> {
        None
    }

    /// The operation's result after `until` iterations (at most [`Self::iterations`]), before blending.
    ///
    /// A [resumable](Self::is_resumable) operation may continue from the keyframe `resume`; the result must be
    /// bit-identical.
    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled>;

    /// [`Self::evaluate`] for a [resumable](Self::is_resumable) operation, with keyframes on the way.
    fn evaluate_with_keyframes(
        &self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        let start = resume.map_or(0, |keyframe| keyframe.iteration);
        let share = |iteration: u32| (iteration - start).to_f32() / (until - start).max(1).to_f32();
        let mut latest: Option<(u32, Heightfield)> = None;
        loop {
            let kept = latest.as_ref().map(|(iteration, terrain)| Keyframe { iteration: *iteration, terrain });
            let keyframe = kept.or(resume);
            let done = keyframe.map_or(0, |keyframe| keyframe.iteration);
            let stop = until.min((done / keyframes.stride + 1).saturating_mul(keyframes.stride));
            let evaluated = || self.evaluate(context, stop, keyframe);
            let terrain = context.progress.stage(share(done)..share(stop), evaluated)?;
            if stop == until {
                return Ok(terrain);
            }
            keyframes.offer(stop, &terrain, context.progress)?;
            latest = Some((stop, terrain));
        }
    }
}
