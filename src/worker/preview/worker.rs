//! The worker of the preview thread: decides whether to draw the changed part alone or a coarse preview first, and at
//! which size.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::local_edit::{MAX_SAMPLES, changed_part, local_samples};
use super::painter::Painter;
use super::request::{Preview, PreviewRequest};
use crate::engine::cast::ToFloat;
use crate::engine::stack::Evaluator;
use crate::engine::{Cancelled, Grid, Inputs, Progress, Recipe};
use crate::files::import::DecodedFiles;
use crate::files::io::memory::cache_bytes;
use crate::worker::job::JobError;
use crate::worker::runner::{JobContext, Worker};

/// A preview that takes longer than this is preceded by a coarse one. Slightly longer than the grace period: after a
/// preview was cancelled at the end of that period, the next one starts with a coarse preview.
const SLOW: Duration = Duration::from_millis(60);

/// How long a coarse preview should take: about a frame of the screen, so that a drag is followed immediately. An edit
/// of a part of the terrain whose complete preview takes longer is shown before it.
const FRAME: Duration = Duration::from_millis(14);

/// The shares of the progress at which a coarse preview is done, and at which a reduced one begins.
const COARSE_SHARE: f32 = 0.1;
const REDUCED_SHARE: f32 = 0.8;

/// Sizes of coarse previews, samples along the longer side, from fine to coarse. Animations use the first one.
const COARSE_SAMPLES: [usize; 5] = [257, 129, 65, 49, 33];

/// Coarse previews with rivers of up to this many samples along the longer side run on a single thread: several would
/// spend as long waiting for each other in hundreds of short loops as working, and longer on a busy core.
const SINGLE_THREAD_SAMPLES: usize = 65;

/// Computes previews on a thread pool.
pub(super) struct PreviewWorker {
    pool: ThreadPool,
    scheduler: Scheduler,
}

impl PreviewWorker {
    pub(super) fn new() -> std::io::Result<Self> {
        // A separate pool, so that no thread of it is ever busy with a piece of an export, which may take seconds. Jobs
        // run inside it: starting one of their thousands of short loops from outside would cost more.
        let pool = ThreadPoolBuilder::new().thread_name(|i| format!("upthrust preview {i}")).build();
        Ok(Self { pool: pool.map_err(std::io::Error::other)?, scheduler: Scheduler::default() })
    }
}

impl Worker for PreviewWorker {
    type Job = Arc<PreviewRequest>;
    type Label = ();
    type Output = Preview;

    fn label(_: &Self::Job) {}

    fn run(&mut self, request: Self::Job, context: &JobContext<'_, Preview>) -> Result<Preview, JobError> {
        let Self { pool, scheduler } = self;
        pool.install(|| scheduler.run(&request, context.progress, context.publish))
    }

    fn reset(&mut self) {
        self.scheduler = Scheduler::default();
    }
}

/// The caches of all sizes, and how long the last previews took.
struct Scheduler {
    fine: Painter,
    /// For edits of a part of large previews; see [`local_samples`].
    reduced: Painter,
    /// The most samples along the longer side of previews of edits.
    max_local_samples: usize,
    coarse: Painter,
    /// For small coarse previews with rivers; without it they run on the pool.
    single_thread: Option<ThreadPool>,
    decoded: DecodedFiles,
    /// How long the last evaluation at full size took, or would at least have taken if it was cancelled.
    evaluation_time: Duration,
    /// How long the last painting at full size took, or would at least have taken.
    painting_time: Duration,
    /// The size of the last coarse preview, samples along the longer side, and how long it took or would have taken.
    last_coarse: Option<(usize, Duration)>,
    /// The recipe of the last request if it was animated, and how long its last frame of full size took.
    animated: Option<(Arc<Recipe>, Duration)>,
}

impl Default for Scheduler {
    fn default() -> Self {
        let single_thread = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "upthrust coarse".into());
        Self {
            fine: Painter::new(Evaluator::new().with_max_bytes(cache_bytes() / 8 * 6)),
            reduced: Painter::new(Evaluator::new().with_max_bytes(cache_bytes() / 8)),
            max_local_samples: MAX_SAMPLES,
            coarse: Painter::new(Evaluator::coarse().with_max_bytes(cache_bytes() / 8)),
            single_thread: single_thread.build().ok(),
            decoded: DecodedFiles::default(),
            evaluation_time: Duration::ZERO,
            painting_time: Duration::ZERO,
            last_coarse: None,
            animated: None,
        }
    }
}

/// Whether a recipe has rivers.
fn has_rivers(recipe: &Recipe) -> bool {
    recipe.active_steps().any(|(_, step)| step.operation.has_own_points())
}

/// Whether coarse previews of a recipe spend their time in many short loops: in rivers, or on a grid of another size.
fn has_short_loops(recipe: &Recipe) -> bool {
    let grid = Grid::fitted(recipe.world.extent(), SINGLE_THREAD_SAMPLES);
    has_rivers(recipe) || recipe.active_steps().any(|(_, step)| step.operation.preview_grid(grid) != grid)
}

impl Scheduler {
    /// Computes a preview. If it is expected to be slow, publishes one of the changed part alone or a coarse one first.
    fn run(
        &mut self,
        request: &Arc<PreviewRequest>,
        progress: &Progress,
        publish: &(dyn Fn(Preview) + Sync),
    ) -> Result<Preview, JobError> {
        let inputs = self.decoded.inputs(&request.recipe, &request.files, progress)?;
        // If the terrain is the same, only the painting counts.
        let is_evaluated = self.fine.evaluated.as_ref().is_some_and(|(known, _)| known.same_terrain(request));
        let expected = if is_evaluated { self.painting_time } else { self.evaluation_time };
        // The frame at which an animation stops belongs to it: it stays as coarse as the animation until the full
        // preview arrives.
        let is_same = |recipe: &Arc<Recipe>| Arc::ptr_eq(recipe, &request.recipe) || *recipe == request.recipe;
        let animated = self.animated.take().filter(|(recipe, _)| is_same(recipe));
        let is_moving = request.is_animated || animated.is_some();
        let frame_time = animated.map_or(Duration::ZERO, |(_, took)| took);
        self.animated = request.is_animated.then(|| (request.recipe.clone(), frame_time));
        let expected = if request.is_animated { frame_time } else { frame_time.max(expected) };
        let samples = local_samples(request.samples, self.max_local_samples);
        let is_reduced = samples < request.samples;
        let painter = if is_reduced { &mut self.reduced } else { &mut self.fine };
        let local = if expected > FRAME && !is_moving {
            progress.stage(0.0..COARSE_SHARE, || painter.local_edit(request, samples, SLOW, &inputs, progress))?
        } else {
            None
        };
        let first = match local {
            None if expected > SLOW => self.coarse_preview(request, is_moving, &inputs, progress)?,
            local => local,
        };
        let first_share = if first.is_some() { COARSE_SHARE } else { 0.0 };
        if let Some(first) = first {
            publish(first);
        }
        let is_edit = is_reduced && !is_moving && self.fine.is_edit(request, request.samples, &inputs);
        let before = self.fine.latest.as_ref().filter(|_| is_edit).map(|latest| latest.terrain.clone());
        let known = self.fine.summary.as_ref().map(|(terrain, _)| terrain.clone());
        let began = Instant::now();
        let fine = || self.fine.preview(request, request.samples, &inputs, progress);
        let fine_end = if is_edit { REDUCED_SHARE } else { 1.0 };
        let preview = progress.stage(first_share..fine_end, fine);
        if request.is_animated {
            let took = if preview.is_ok() { began.elapsed() } else { frame_time.max(began.elapsed()) };
            self.animated = Some((request.recipe.clone(), took));
        } else {
            // The duration of painting does not predict that of evaluating.
            let is_new = |preview: &Preview| known.is_none_or(|known| !Arc::ptr_eq(&known, &preview.terrain));
            let was_evaluated = preview.as_ref().is_ok_and(is_new);
            self.record_times(request, began, preview.is_err(), was_evaluated);
        }
        let preview = preview?;
        if before.is_some_and(|before| changed_part(&preview.terrain, &before).is_some()) {
            // The next edits of this kind are drawn on a reduced preview, whose range, shadows and reports are up to date.
            publish(preview.clone());
            let reduced = || self.reduced.preview(request, samples, &inputs, progress);
            // Without one, they are shown coarse first.
            drop(progress.stage(fine_end..1.0, reduced));
        }
        Ok(preview)
    }

    /// A coarse preview, unless the request is as coarse.
    fn coarse_preview(
        &mut self,
        request: &Arc<PreviewRequest>,
        is_moving: bool,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Option<Preview>, Cancelled> {
        let samples = if is_moving {
            // Of the same size, it still takes less time between river steps.
            COARSE_SAMPLES[0].min(request.samples)
        } else {
            self.coarse_samples(request.samples)
        };
        if samples >= request.samples && !(is_moving && has_rivers(&request.recipe)) {
            return Ok(None);
        }
        let began = Instant::now();
        let mut coarse =
            || progress.stage(0.0..COARSE_SHARE, || self.coarse.preview(request, samples, inputs, progress));
        let preview = match &self.single_thread {
            Some(pool) if samples <= SINGLE_THREAD_SAMPLES && has_short_loops(&request.recipe) => pool.install(coarse),
            Some(_) | None => coarse(),
        };
        // A cancelled one would have taken longer.
        let took = if preview.is_ok() { began.elapsed() } else { 2 * began.elapsed() };
        if !is_moving {
            self.last_coarse = Some((samples, took));
        }
        preview.map(Some)
    }

    /// Records how long a preview of full size took that began at that time.
    fn record_times(
        &mut self,
        request: &Arc<PreviewRequest>,
        began: Instant,
        was_cancelled: bool,
        was_evaluated: bool,
    ) {
        let evaluated = self.fine.evaluated.as_ref().filter(|(known, _)| Arc::ptr_eq(known, request));
        let painting = evaluated.map(|(_, since)| since.elapsed());
        // A cancelled preview would have taken longer.
        match painting {
            Some(painting) if was_cancelled => self.painting_time = self.painting_time.max(2 * painting),
            None if was_cancelled => self.evaluation_time = self.evaluation_time.max(2 * began.elapsed()),
            Some(_) | None => self.painting_time = painting.unwrap_or_default(),
        }
        if was_evaluated {
            self.evaluation_time = began.elapsed();
        }
    }

    /// The finest size at which a coarse preview is fast enough, estimated from the last ones.
    fn coarse_samples(&self, full_samples: usize) -> usize {
        let scaled = |took: Duration, from: usize, to: usize| took.mul_f64((to * to).to_f64() / (from * from).to_f64());
        let is_fast = |&samples: &usize| {
            let by_full = scaled(self.evaluation_time, full_samples, samples);
            let by_coarse = self.last_coarse.map_or(Duration::ZERO, |(known, took)| scaled(took, known, samples));
            by_full.max(by_coarse) <= FRAME
        };
        COARSE_SAMPLES.into_iter().find(is_fast).unwrap_or(COARSE_SAMPLES[COARSE_SAMPLES.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::engine::map_view::MapView;
    use crate::engine::parameters::Limits;
    use crate::engine::texture::TextureRecipe;
    use crate::worker::preview::local_edit::tests::{sculpt, sculpted, with_dab};
    use crate::worker::preview::test_requests::request;

    #[test]
    fn progress_never_decreases() {
        let mut detailed = request(60, 601);
        let recipe = Arc::make_mut(&mut detailed.recipe);
        recipe.light.occlusion = 0.5;
        recipe.texture.types[0].humidity = Some(Limits { min: 0.0, max: 1.0, release: 0.0 });
        recipe.texture.types[1].shadow = Some(Limits { min: 0.0, max: 1.0, release: 0.0 });
        let (detailed, progress, is_done) = (Arc::new(detailed), Progress::new(), AtomicBool::new(false));
        // Slow before, so a coarse preview goes first.
        let mut scheduler = Scheduler { evaluation_time: Duration::from_secs(1), ..Default::default() };
        let seen = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut seen = vec![progress.fraction()];
                while !is_done.load(Ordering::Acquire) {
                    seen.push(progress.fraction());
                    std::thread::sleep(Duration::from_micros(50));
                }
                seen
            });
            let done = scheduler.run(&detailed, &progress, &|_| ()).is_ok();
            is_done.store(true, Ordering::Release);
            assert!(done, "not cancelled");
            watcher.join().expect("no panic")
        });
        let fall = seen.windows(2).find(|pair| pair[0] > pair[1]);
        assert!(fall.is_none() && progress.fraction() == 1.0, "from {fall:?} to {}", progress.fraction());
    }

    #[test]
    fn a_different_view_of_a_slow_terrain_needs_no_coarse_preview() {
        let mut scheduler = Scheduler::default();
        let mut coarse_ones = |request: PreviewRequest, painting_time: Duration, progress: &Progress| {
            let published = AtomicU32::new(0);
            let publish = |_| {
                published.fetch_add(1, Ordering::Relaxed);
            };
            (scheduler.evaluation_time, scheduler.painting_time) = (Duration::from_secs(1), painting_time);
            let result = scheduler.run(&Arc::new(request), progress, &publish);
            assert_eq!(result.is_ok(), !progress.is_cancelled());
            published.into_inner()
        };
        let [fast, slow] = [Duration::ZERO, Duration::from_secs(1)];
        let contours = |count: u32| PreviewRequest { map_view: MapView::Contours, ..request(count, 257) };
        assert_eq!(coarse_ones(request(10, 257), fast, &Progress::new()), 1);
        assert_eq!(coarse_ones(contours(10), fast, &Progress::new()), 0);
        assert_eq!(coarse_ones(contours(11), fast, &Progress::new()), 1);
        let mut painted = contours(11);
        let recipe = Arc::make_mut(&mut painted.recipe);
        recipe.texture = TextureRecipe::starter();
        recipe.light.azimuth_deg += 20.0;
        // Cancelled or not, the terrain is known.
        let cancelled = Progress::new();
        cancelled.cancel();
        assert_eq!(coarse_ones(painted.clone(), fast, &cancelled), 0);
        assert_eq!(coarse_ones(painted.clone(), fast, &Progress::new()), 0);
        assert_eq!(coarse_ones(painted, slow, &Progress::new()), 1, "painting is slow");
    }

    #[test]
    fn edits_of_large_previews_are_shown_reduced_but_not_coarse() {
        let mut scheduler = Scheduler { max_local_samples: 65, ..Scheduler::default() };
        let mut sizes = |request: &PreviewRequest| {
            // Everything counts as slow, apart from the evaluation of edits.
            scheduler.evaluation_time = Duration::from_secs(1);
            scheduler.reduced.evaluation_time = Duration::ZERO;
            let published = Mutex::new(Vec::new());
            let publish = |preview: Preview| {
                published.lock().expect("no panic").push((preview.terrain.grid().width(), preview.coarse));
            };
            let full = scheduler.run(&Arc::new(request.clone()), &Progress::new(), &publish).expect("not cancelled");
            let mut sizes = published.into_inner().expect("no panic");
            sizes.push((full.terrain.grid().width(), full.coarse));
            sizes
        };
        let request = sculpted();
        let dabbed = with_dab(&request, [2000.0, 1500.0]);
        let again = with_dab(&dabbed, [1000.0, 1500.0]);
        assert_eq!(sizes(&request), [(33, true), (129, false)]);
        assert_eq!(sizes(&dabbed), [(33, true), (129, false), (129, false)], "the first one prepares the others");
        assert_eq!(sizes(&again), [(65, true), (129, false), (129, false)]);
        // An edit of the whole terrain prepares nothing.
        let mut wide = again.clone();
        for stroke in sculpt(Arc::make_mut(&mut wide.recipe)).strokes.iter_mut() {
            stroke.radius_m = 3000.0;
        }
        assert_eq!(sizes(&wide), [(33, true), (129, false)]);
    }

    #[test]
    fn a_slow_animation_is_coarse_except_for_its_last_frame() {
        let mut scheduler = Scheduler::default();
        let mut sizes = |count: u32, position: u32, is_animated: bool, frame_time: Option<Duration>| {
            if let (Some(frame_time), Some((_, took))) = (frame_time, &mut scheduler.animated) {
                *took = frame_time;
            }
            // Only animations are slow here.
            scheduler.evaluation_time = Duration::ZERO;
            let published = Mutex::new(Vec::new());
            let publish = |preview: Preview| {
                published.lock().expect("no panic").push(preview.terrain.grid().width());
            };
            let frame = PreviewRequest { position, is_animated, ..request(count, 301) };
            let full = scheduler.run(&Arc::new(frame), &Progress::new(), &publish).expect("not cancelled");
            let mut sizes = published.into_inner().expect("no panic");
            sizes.push(full.terrain.grid().width());
            sizes
        };
        let [slow, fast] = [Some(Duration::from_secs(1)), Some(Duration::ZERO)];
        assert_eq!(sizes(50, 10, true, None), [301], "no frame was timed yet");
        assert_eq!(sizes(50, 11, true, slow), [257, 301]);
        assert_eq!(sizes(50, 12, true, fast), [301], "once it is fast it is shown in full");
        assert_eq!(sizes(50, 13, false, slow), [257, 301], "no coarser at its end than while it moved");
        assert_eq!(sizes(50, 14, false, slow), [301]);
        assert_eq!(sizes(50, 15, true, None), [301], "each animation starts in full");
        assert_eq!(sizes(51, 15, false, slow), [301], "another terrain does not end it");
    }
}
