//! The preview thread: newest request wins.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{InputFiles, JobError, Wake, catch_panic, lock, retain_freed_memory};
use crate::engine::analysis::Summary;
use crate::engine::light::Light;
use crate::engine::map_view::MapView;
use crate::engine::stack::Evaluator;
use crate::engine::texture::{
    PaintCache, PaintInput, PaintedTexture, RequiredMaps, SurfaceMapCache, SurfaceMaps, TerrainType, TextureView,
    type_at, view,
};
use crate::engine::{Cancelled, Grid, Heightfield, Image, Inputs, Progress, Recipe};
use crate::files::FileError;
use crate::files::inputs::DecodedFiles;

/// How long a computation may go on after a newer request has come. Short ones finish within it and are shown, so
/// that a slider that is dragged without a pause still shows something; all others stop.
const GRACE: Duration = Duration::from_millis(40);

/// A preview that took longer than this is preceded by a coarse one. Little more than the grace: a preview that is
/// stopped at its end has taken too long for the next one to be tried without a coarse one.
const SLOW: Duration = Duration::from_millis(60);

/// How long a coarse preview should take: about a frame of the screen, so that a drag is followed at once.
const COARSE: Duration = Duration::from_millis(14);

/// The share of the progress that a coarse preview takes, where one goes ahead.
const COARSE_SHARE: f32 = 0.1;

/// Sizes of coarse previews, samples along the longer side, from fine to coarse. The first one is for animations.
const COARSE_SAMPLES: [usize; 5] = [257, 129, 65, 49, 33];

/// Sketches of rivers of no more samples along the longer side are made by one thread: several would wait for each other,
/// hundreds of loops long, about as long as they work, and longer where a core is busy.
const LONE_SAMPLES: usize = 65;

/// Bins of the height histogram.
const HISTOGRAM_BINS: usize = 64;

/// What is to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewRequest {
    /// What decides the land and its texture.
    pub recipe: Arc<Recipe>,
    /// The bytes of the files that the recipe names.
    pub files: InputFiles,
    /// Samples along the longer side.
    pub samples: usize,
    /// Iterations done on the timeline.
    pub position: u32,
    /// How the heights are looked at.
    pub map: MapView,
    /// How the ground is looked at.
    pub shown: TextureView,
    /// Whether it is one picture of an animation: where those are slow, they are shown a little coarser throughout, and
    /// the animation goes on from the coarse one.
    pub animated: bool,
}

impl PreviewRequest {
    /// Whether both ask for the same picture, on whatever occasion.
    pub fn same_output(&self, other: &Self) -> bool {
        let Self { recipe, files: _, samples: _, position: _, map, shown, animated: _ } = self;
        let same_paint = Arc::ptr_eq(recipe, &other.recipe)
            || (recipe.texture == other.recipe.texture && recipe.light == other.recipe.light);
        self.same_land(other) && same_paint && *map == other.map && *shown == other.shown
    }

    /// Whether both ask for pictures of the same land, however it is painted, lit and looked at.
    fn same_land(&self, other: &Self) -> bool {
        let Self { recipe, files, samples, position, map: _, shown: _, animated: _ } = self;
        let Recipe { seed, world, stack, texture: _, light: _ } = &**recipe;
        let Recipe { seed: other_seed, world: other_world, stack: other_stack, .. } = &*other.recipe;
        let same_recipe =
            Arc::ptr_eq(recipe, &other.recipe) || (seed == other_seed && world == other_world && stack == other_stack);
        same_recipe && *samples == other.samples && *position == other.position && *files == other.files
    }
}

/// A finished preview; its pictures belong to its request and to nothing else.
#[derive(Clone, Debug)]
pub struct Preview {
    /// What was asked for.
    pub request: Arc<PreviewRequest>,
    /// Whether a better one is on its way.
    pub coarse: bool,
    /// The land.
    pub terrain: Arc<Heightfield>,
    /// The heights as they are looked at.
    pub heightmap: Arc<Image>,
    /// The ground as it is looked at.
    pub texture: Arc<Image>,
    /// The same in plain colours, for who lights it: unlit where the pane shows the ground lit.
    pub albedo: Arc<Image>,
    /// What the land is like in numbers.
    pub summary: Arc<Summary>,
    /// The share of the land that each active terrain type takes, in their order.
    pub shares: Vec<f32>,
    /// The share of the land that no terrain type covers.
    pub uncovered: f32,
    /// What decides where types lie beside the heights.
    pub surface_maps: SurfaceMaps,
    /// How long it took.
    pub elapsed: Duration,
}

impl Preview {
    /// The terrain type that has the most of the ground at a place, metres east and south.
    pub fn type_at(&self, place_m: [f64; 2]) -> Option<&TerrainType> {
        let recipe = &*self.request.recipe;
        let input = PaintInput {
            terrain: &self.terrain,
            surface_maps: &self.surface_maps,
            recipe: &recipe.texture,
            fixed_range_m: recipe.world.height_range_m.or(Some(self.summary.range_m())),
            // The pictures of types say nothing about where they lie.
            inputs: &Inputs::default(),
        };
        type_at(input, place_m).and_then(|at| recipe.texture.active().nth(at))
    }
}

/// The handle of the preview thread. Dropping it stops the thread.
pub struct Previewer {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Wake,
    /// Previews are made within a pool of their own, but for the smallest sketches. Thousands of short loops begin on one of its threads, which costs
    /// nothing, in place of being handed in from outside; and none of its threads is ever held up by a piece of an
    /// export, which may take seconds.
    pool: ThreadPool,
}

#[derive(Default)]
struct State {
    next: Option<Arc<PreviewRequest>>,
    running: Option<Running>,
    finished: Option<Result<Preview, JobError>>,
    stopping: bool,
}

struct Running {
    progress: Arc<Progress>,
    superseded: Option<Instant>,
    /// Whether a coarse picture of it has been shown: then it has no grace.
    is_seen: bool,
}

impl Previewer {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        retain_freed_memory();
        let pool = ThreadPoolBuilder::new().thread_name(|i| format!("upthrust preview {i}")).build();
        let pool = pool.map_err(std::io::Error::other)?;
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), wake, pool });
        let spawn = |name: &str, run: fn(&Shared)| {
            let shared = shared.clone();
            std::thread::Builder::new().name(name.into()).spawn(move || run(&shared))
        };
        let threads = vec![spawn("upthrust preview", serve)?, spawn("upthrust watch", stop_stale_work)?];
        Ok(Self { shared, threads })
    }

    /// Asks for a preview in place of all that were asked for before; what comes of it carries the request returned.
    pub fn request(&self, request: PreviewRequest) -> Arc<PreviewRequest> {
        let request = Arc::new(request);
        let mut state = lock(&self.shared.state);
        state.next = Some(request.clone());
        if let Some(running) = &mut state.running {
            running.superseded.get_or_insert_with(Instant::now);
        }
        self.shared.changed.notify_all();
        request
    }

    /// The newest result, once.
    pub fn take(&self) -> Option<Result<Preview, JobError>> {
        lock(&self.shared.state).finished.take()
    }

    /// How far the present computation has come; `None` while there is nothing to do.
    pub fn fraction(&self) -> Option<f32> {
        let state = lock(&self.shared.state);
        match (&state.running, &state.next) {
            (Some(running), _) => Some(running.progress.fraction()),
            (None, Some(_)) => Some(0.0),
            (None, None) => None,
        }
    }

    /// Gives up the present computation and what waits.
    pub fn cancel(&self) {
        let mut state = lock(&self.shared.state);
        state.next = None;
        if let Some(running) = &state.running {
            running.progress.cancel();
        }
    }
}

impl Drop for Previewer {
    fn drop(&mut self) {
        lock(&self.shared.state).stopping = true;
        self.cancel();
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// The watch thread: cancels a computation once it has been stale for as long as the grace lasts.
fn stop_stale_work(shared: &Shared) {
    let mut state = lock(&shared.state);
    while !state.stopping {
        let stale = state.running.as_ref().and_then(|running| {
            let grace = if running.is_seen { Duration::ZERO } else { GRACE };
            Some((running.progress.clone(), grace.saturating_sub(running.superseded?.elapsed())))
        });
        state = match stale {
            Some((progress, left)) if !progress.is_cancelled() => {
                if left.is_zero() {
                    progress.cancel();
                    state
                } else {
                    shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            }
            _ => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

/// The preview thread.
fn serve(shared: &Shared) {
    let mut desk = Desk::default();
    loop {
        let (request, progress) = {
            let mut state = lock(&shared.state);
            let request = loop {
                if state.stopping {
                    return;
                }
                match state.next.take() {
                    Some(request) => break request,
                    None => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            let progress = Arc::new(Progress::new());
            state.running = Some(Running { progress: progress.clone(), superseded: None, is_seen: false });
            (request, progress)
        };
        let publish = |result| {
            let mut state = lock(&shared.state);
            if let Some(running) = &mut state.running {
                running.is_seen = true;
                shared.changed.notify_all();
            }
            state.finished = Some(result);
            drop(state);
            (shared.wake)();
        };
        let outcome = catch_panic(|| shared.pool.install(|| desk.work(&request, &progress, &publish)));
        lock(&shared.state).running = None;
        match outcome {
            Ok(Ok(preview)) => publish(Ok(preview)),
            Ok(Err(Unfinished::Cancelled)) => (shared.wake)(),
            Ok(Err(Unfinished::Failed(message))) => publish(Err(JobError::Failed(message))),
            Err(panicked) => {
                // What the desk remembers may be half-made.
                desk = Desk::default();
                publish(Err(panicked));
            }
        }
    }
}

enum Unfinished {
    Cancelled,
    Failed(String),
}

impl From<Cancelled> for Unfinished {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// What the preview thread remembers from one request to the next.
struct Desk {
    fine: Painter,
    coarse: Painter,
    /// One thread, which small sketches of rivers are left to; without it they are made like all others.
    lone: Option<ThreadPool>,
    decoded: DecodedFiles,
    /// How long the last land of full size took, or would at least have taken when it was stopped.
    last: Duration,
    /// How long the last painting of full size took, or would at least have taken.
    painting: Duration,
    /// The size of the last coarse preview, samples along the longer side, and how long it took or would have taken.
    last_coarse: Option<(usize, Duration)>,
    /// What the last request animated, if it did, and how long its last picture of full size took.
    animated: Option<(Arc<Recipe>, Duration)>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            fine: Painter::default(),
            coarse: Painter { evaluator: Evaluator::coarse(), ..Painter::default() },
            lone: ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "upthrust sketch".into()).build().ok(),
            decoded: DecodedFiles::default(),
            last: Duration::ZERO,
            last_coarse: None,
            animated: None,
            painting: Duration::ZERO,
        }
    }
}

/// Whether rivers run on the land of a recipe, which have a grid of their own.
fn has_rivers(recipe: &Recipe) -> bool {
    let grid = Grid::fitted(recipe.world.extent(), LONE_SAMPLES);
    recipe.stack.iter().any(|step| step.settings.enabled && step.operation.working_grid(grid) != grid)
}

impl Desk {
    fn work(
        &mut self,
        request: &Arc<PreviewRequest>,
        progress: &Progress,
        publish: &(dyn Fn(Result<Preview, JobError>) + Sync),
    ) -> Result<Preview, Unfinished> {
        let inputs = self.decoded.inputs(&request.recipe, &request.files, progress).map_err(|error| match error {
            FileError::Cancelled => Unfinished::Cancelled,
            error => Unfinished::Failed(error.to_string()),
        })?;
        let mut coarse_share = 0.0;
        // Other paint, light or another look on what is there takes no land: only how long painting takes counts.
        let stands = self.fine.stands.as_ref().is_some_and(|(stands, _)| stands.same_land(request));
        let expected = if stands { self.painting } else { self.last };
        // Of an animation of this land, the time of its last picture of full size. What it ends with is a part of it: it
        // looks as the animation did until it is there in full.
        let is_same = |recipe: &Arc<Recipe>| Arc::ptr_eq(recipe, &request.recipe) || *recipe == request.recipe;
        let animated = self.animated.take().filter(|(recipe, _)| is_same(recipe));
        let is_moving = request.animated || animated.is_some();
        let took_before = animated.map_or(Duration::ZERO, |(_, took)| took);
        self.animated = request.animated.then(|| (request.recipe.clone(), took_before));
        let is_slow = if request.animated { took_before } else { took_before.max(expected) } > SLOW;
        if is_slow {
            let samples = if is_moving { COARSE_SAMPLES[0] } else { self.coarse_samples(request.samples) };
            if samples < request.samples {
                let began = Instant::now();
                coarse_share = COARSE_SHARE;
                let mut coarse =
                    || progress.stage(0.0..coarse_share, || self.coarse.preview(request, samples, &inputs, progress));
                let preview = match &self.lone {
                    Some(lone) if samples <= LONE_SAMPLES && has_rivers(&request.recipe) => lone.install(coarse),
                    Some(_) | None => coarse(),
                };
                // One that was stopped would have taken longer yet.
                let took = if preview.is_ok() { began.elapsed() } else { 2 * began.elapsed() };
                if !is_moving {
                    self.last_coarse = Some((samples, took));
                }
                publish(Ok(preview?));
            }
        }
        let began = Instant::now();
        let known = self.fine.measured.as_ref().map(|(terrain, _)| terrain.clone());
        let fine = || self.fine.preview(request, request.samples, &inputs, progress);
        let preview = progress.stage(coarse_share..1.0, fine);
        let stood = self.fine.stands.as_ref().filter(|(stands, _)| Arc::ptr_eq(stands, request));
        let painting = stood.map(|(_, since)| since.elapsed());
        if request.animated {
            let took = if preview.is_ok() { began.elapsed() } else { took_before.max(began.elapsed()) };
            self.animated = Some((request.recipe.clone(), took));
            return Ok(preview?);
        }
        // What was stopped would have taken longer yet.
        match (&preview, painting) {
            (Err(Cancelled), Some(painting)) => self.painting = self.painting.max(2 * painting),
            (Err(Cancelled), None) => self.last = self.last.max(2 * began.elapsed()),
            (Ok(_), painting) => self.painting = painting.unwrap_or_default(),
        }
        // One that only painted says nothing about how long land takes.
        if preview.as_ref().is_ok_and(|preview| known.is_none_or(|known| !Arc::ptr_eq(&known, &preview.terrain))) {
            self.last = began.elapsed();
        }
        Ok(preview?)
    }

    /// The finest size at which a coarse preview is soon there, as far as the last ones tell.
    fn coarse_samples(&self, full_samples: usize) -> usize {
        let grown = |took: Duration, from: usize, to: usize| took.mul_f64((to * to) as f64 / (from * from) as f64);
        let is_soon = |&samples: &usize| {
            let by_full = grown(self.last, full_samples, samples);
            let by_coarse = self.last_coarse.map_or(Duration::ZERO, |(known, took)| grown(took, known, samples));
            by_full.max(by_coarse) <= COARSE
        };
        COARSE_SAMPLES.into_iter().find(is_soon).unwrap_or(COARSE_SAMPLES[COARSE_SAMPLES.len() - 1])
    }
}

/// A picture of heights, and what it was made from.
struct DrawnMap {
    terrain: Arc<Heightfield>,
    view: MapView,
    /// The light, where it is seen.
    light: Option<Light>,
    picture: Arc<Image>,
}

/// Evaluates and paints at one size, and remembers what was evaluated and drawn.
#[derive(Default)]
struct Painter {
    evaluator: Evaluator,
    measured: Option<(Arc<Heightfield>, Arc<Summary>)>,
    drawn: Option<DrawnMap>,
    surveyed: Option<(Arc<Heightfield>, SurfaceMapCache)>,
    cache: PaintCache,
    /// What the last land was asked for that was evaluated to its end, and since when it has stood.
    stands: Option<(Arc<PreviewRequest>, Instant)>,
}

impl Painter {
    /// What is known of a land beside its heights. Of another one than before nothing is, nor where types lie on it.
    fn surface_maps_of(&mut self, terrain: &Arc<Heightfield>) -> &mut SurfaceMapCache {
        let known = self.surveyed.take().filter(|(surveyed, _)| Arc::ptr_eq(surveyed, terrain));
        if known.is_none() {
            self.cache.invalidate_terrain();
        }
        &mut self.surveyed.insert(known.unwrap_or_else(|| (terrain.clone(), SurfaceMapCache::default()))).1
    }

    /// The picture of the heights, drawn anew where something has changed that it shows.
    fn map(
        &mut self,
        terrain: &Arc<Heightfield>,
        summary: &Summary,
        request: &PreviewRequest,
        progress: &Progress,
    ) -> Result<Arc<Image>, Cancelled> {
        let (view, light) = (request.map, &request.recipe.light);
        let seen = view.is_lit().then(|| light.clone());
        let is_same =
            |drawn: &&DrawnMap| Arc::ptr_eq(&drawn.terrain, terrain) && drawn.view == view && drawn.light == seen;
        if let Some(drawn) = self.drawn.as_ref().filter(is_same) {
            return Ok(drawn.picture.clone());
        }
        let picture = Arc::new(view.picture(terrain, [summary.min_m, summary.max_m], light, progress)?);
        self.drawn = Some(DrawnMap { terrain: terrain.clone(), view, light: seen, picture: picture.clone() });
        Ok(picture)
    }

    fn preview(
        &mut self,
        request: &Arc<PreviewRequest>,
        samples: usize,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Preview, Cancelled> {
        let began = Instant::now();
        let recipe = &*request.recipe;
        let grid = Grid::fitted(recipe.world.extent(), samples);
        let evaluation = || self.evaluator.evaluate(recipe, grid, Some(request.position), inputs, progress);
        let terrain = progress.stage(0.0..0.6, evaluation)?;
        self.stands = Some((request.clone(), Instant::now()));
        let summary = match &self.measured {
            Some((measured, summary)) if Arc::ptr_eq(measured, &terrain) => summary.clone(),
            _ => {
                let summary = Arc::new(Summary::of(&terrain, HISTOGRAM_BINS));
                self.measured = Some((terrain.clone(), summary.clone()));
                summary
            }
        };
        let heightmap = self.map(&terrain, &summary, request, progress)?;
        let size = [grid.width(), grid.height()];
        let needs = request.shown.with(RequiredMaps::of(&recipe.texture, Some(&recipe.light)));
        let surface_maps =
            progress.stage(0.6..0.8, || self.surface_maps_of(&terrain).look(&terrain, needs, progress))?;
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &surface_maps,
            recipe: &recipe.texture,
            // What was measured is not looked for again.
            fixed_range_m: recipe.world.height_range_m.or(Some(summary.range_m())),
            inputs,
        };
        let painting = || view(&mut self.cache, input, &recipe.light, request.shown, size, progress);
        let PaintedTexture { picture, albedo, shares, uncovered } = progress.stage(0.8..1.0, painting)?;
        let texture = Arc::new(picture);
        let albedo = albedo.map_or_else(|| texture.clone(), Arc::new);
        Ok(Preview {
            request: request.clone(),
            coarse: samples < request.samples,
            terrain,
            heightmap,
            texture,
            albedo,
            summary,
            shares,
            uncovered,
            surface_maps,
            elapsed: began.elapsed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::heightmap::Heightmap;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::parameters::{Band, Colour, FileName, Limits};

    fn request_for(faults: Faults, samples: usize) -> PreviewRequest {
        let recipe = Recipe { stack: vec![Step::new(faults)], ..Default::default() };
        let (recipe, files) = (Arc::new(recipe), InputFiles::new());
        let shown = TextureView::Lit;
        let map = MapView::Grey;
        PreviewRequest { recipe, files, samples, position: u32::MAX, map, shown, animated: false }
    }

    fn request(count: u32, samples: usize) -> PreviewRequest {
        request_for(Faults { count, ..Default::default() }, samples)
    }

    /// Far more work than any test waits for.
    fn endless(samples: usize) -> PreviewRequest {
        let wind = RecursiveFilter { passes: 100, ..Default::default() };
        request_for(Faults { count: 1_000_000, wind: Some(wind), ..Default::default() }, samples)
    }

    fn previewer() -> Previewer {
        Previewer::start(Arc::new(|| {})).expect("threads")
    }

    fn wait(previewer: &Previewer) -> Result<Preview, JobError> {
        crate::worker::tests::wait(|| previewer.take())
    }

    #[test]
    fn a_preview_belongs_to_its_request() {
        let previewer = previewer();
        previewer.request(request(10, 65));
        let preview = wait(&previewer).expect("a preview");
        assert_eq!(*preview.request, request(10, 65));
        assert_eq!((preview.texture.width, preview.heightmap.height), (65, 65));
        assert!(!preview.coarse && preview.terrain.min_max() != [0.0, 0.0]);
    }

    #[test]
    fn the_newest_request_wins_and_stale_work_stops() {
        let previewer = previewer();
        previewer.request(endless(257));
        std::thread::sleep(Duration::from_millis(100));
        assert!(previewer.fraction().is_some());
        let asked = Instant::now();
        previewer.request(request(10, 33));
        previewer.request(request(11, 33));
        // A coarse picture may come first; the last one is the newest request's.
        while wait(&previewer).expect("a preview").request.samples != 33 {}
        let waited = asked.elapsed();
        assert!(waited < Duration::from_millis(500), "{waited:?}");
    }

    #[test]
    fn a_slow_preview_is_preceded_by_a_coarse_one() {
        let previewer = previewer();
        previewer.request(endless(257));
        std::thread::sleep(Duration::from_millis(200));
        previewer.request(request(1000, 257));
        let first = wait(&previewer).expect("a preview");
        assert!(first.coarse && *first.request == request(1000, 257));
        let second = wait(&previewer).expect("a preview");
        assert!(!second.coarse && second.terrain.grid().width() == 257);
    }

    #[test]
    fn a_drag_over_a_slow_land_still_shows_something() {
        let wind = || Some(RecursiveFilter::default());
        let windy = |count| request_for(Faults { count, wind: wind(), ..Default::default() }, 513);
        let previewer = previewer();
        let mut shown = 0;
        // A request every 8 ms for three seconds, each for work of several seconds.
        for count in 0..380 {
            previewer.request(windy(300 + count));
            std::thread::sleep(Duration::from_millis(8));
            shown += u32::from(previewer.take().is_some());
        }
        assert!(shown >= 3, "{shown} pictures");
    }

    #[test]
    fn the_progress_of_a_preview_only_rises() {
        let mut asked = request(60, 601);
        let recipe = Arc::make_mut(&mut asked.recipe);
        recipe.light.occlusion = 0.5;
        recipe.texture.types[0].humidity = Some(Limits { min: 0.0, max: 1.0, release: 0.0 });
        recipe.texture.types[1].shadow = Some(Limits { min: 0.0, max: 1.0, release: 0.0 });
        let (asked, progress, is_done) = (Arc::new(asked), Progress::new(), AtomicBool::new(false));
        // A land that was slow: a coarse picture goes ahead.
        let mut desk = Desk { last: Duration::from_secs(1), ..Default::default() };
        let seen = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut seen = vec![progress.fraction()];
                while !is_done.load(Ordering::Acquire) {
                    seen.push(progress.fraction());
                    std::thread::sleep(Duration::from_micros(50));
                }
                seen
            });
            let done = desk.work(&asked, &progress, &|_| ()).is_ok();
            is_done.store(true, Ordering::Release);
            assert!(done, "not cancelled");
            watcher.join().expect("no panic")
        });
        let fall = seen.windows(2).find(|pair| pair[0] > pair[1]);
        assert!(fall.is_none() && progress.fraction() == 1.0, "from {fall:?} to {}", progress.fraction());
    }

    #[test]
    fn a_colour_computes_no_land() {
        let previewer = previewer();
        previewer.request(request(10, 65));
        let first = wait(&previewer).expect("a preview");
        let mut painted = request(10, 65);
        Arc::make_mut(&mut painted.recipe).texture.types.truncate(1);
        previewer.request(painted);
        let mut second = wait(&previewer).expect("a preview");
        while second.coarse {
            // A busy machine was slow with the first one.
            second = wait(&previewer).expect("a preview");
        }
        assert!(Arc::ptr_eq(&first.terrain, &second.terrain) && Arc::ptr_eq(&first.heightmap, &second.heightmap));
        assert_ne!(first.texture, second.texture);
    }

    #[test]
    fn another_look_at_the_heights_computes_no_land_and_paints_only_them() {
        let progress = Progress::new();
        let mut painter = Painter::default();
        let mut draw = |map: MapView, azimuth_deg: f64| {
            let mut asked = PreviewRequest { map, ..request(10, 33) };
            Arc::make_mut(&mut asked.recipe).light.azimuth_deg = azimuth_deg;
            painter.preview(&Arc::new(asked), 33, &Inputs::default(), &progress).expect("not cancelled")
        };
        let grey = draw(MapView::Grey, 0.0);
        let slope = draw(MapView::Slope, 0.0);
        assert!(Arc::ptr_eq(&grey.terrain, &slope.terrain) && grey.heightmap != slope.heightmap);
        assert!(Arc::ptr_eq(&slope.heightmap, &draw(MapView::Slope, 90.0).heightmap), "no sun shines on slopes");
        let [north, east] = [0.0, 90.0].map(|azimuth_deg| draw(MapView::Hillshade, azimuth_deg));
        assert!(Arc::ptr_eq(&north.terrain, &grey.terrain) && north.heightmap != east.heightmap);
    }

    #[test]
    fn another_look_at_a_slow_land_is_preceded_by_no_coarse_one() {
        // A land that was slow.
        let mut desk = Desk { last: Duration::from_secs(1), ..Default::default() };
        let mut coarse_ones = |asked: PreviewRequest, painting: Duration, progress: &Progress| {
            let published = AtomicU32::new(0);
            let publish = |_| {
                published.fetch_add(1, Ordering::Relaxed);
            };
            (desk.last, desk.painting) = (Duration::from_secs(1), painting);
            let work = desk.work(&Arc::new(asked), progress, &publish);
            assert_eq!(work.is_ok(), !progress.is_cancelled());
            published.into_inner()
        };
        let [fast, slow] = [Duration::ZERO, Duration::from_secs(1)];
        let contours = |count: u32| PreviewRequest { map: MapView::Contours, ..request(count, 257) };
        assert_eq!(coarse_ones(request(10, 257), fast, &Progress::new()), 1);
        assert_eq!(coarse_ones(contours(10), fast, &Progress::new()), 0);
        assert_eq!(coarse_ones(contours(11), fast, &Progress::new()), 1);
        let mut painted = contours(11);
        let recipe = Arc::make_mut(&mut painted.recipe);
        recipe.texture = crate::engine::texture::TextureRecipe::starter();
        recipe.light.azimuth_deg += 20.0;
        // Stopped or not, the land stands.
        let stopped = Progress::new();
        stopped.cancel();
        assert_eq!(coarse_ones(painted.clone(), fast, &stopped), 0);
        assert_eq!(coarse_ones(painted.clone(), fast, &Progress::new()), 0);
        assert_eq!(coarse_ones(painted, slow, &Progress::new()), 1, "painting is slow");
    }

    #[test]
    fn a_slow_animation_is_shown_coarser_throughout_and_ends_in_full() {
        let mut desk = Desk::default();
        let mut sizes = |count: u32, position: u32, animated: bool, takes: Option<Duration>| {
            if let (Some(takes), Some((_, took))) = (takes, &mut desk.animated) {
                *took = takes;
            }
            // What is at rest is never slow here.
            desk.last = Duration::ZERO;
            let published = Mutex::new(Vec::new());
            let publish = |preview: Result<Preview, JobError>| {
                published.lock().expect("no panic").push(preview.expect("a preview").terrain.grid().width());
            };
            let asked = PreviewRequest { position, animated, ..request(count, 301) };
            let full = desk.work(&Arc::new(asked), &Progress::new(), &publish).ok().expect("not cancelled");
            let mut sizes = published.into_inner().expect("no panic");
            sizes.push(full.terrain.grid().width());
            sizes
        };
        let [slow, fast] = [Some(Duration::from_secs(1)), Some(Duration::ZERO)];
        assert_eq!(sizes(50, 10, true, None), [301], "nothing is known of it yet");
        assert_eq!(sizes(50, 11, true, slow), [257, 301]);
        assert_eq!(sizes(50, 12, true, fast), [301], "once it is fast it is shown in full");
        assert_eq!(sizes(50, 13, false, slow), [257, 301], "no coarser at its end than while it moved");
        assert_eq!(sizes(50, 14, false, slow), [301]);
        assert_eq!(sizes(50, 15, true, None), [301], "each animation is tried in full");
        assert_eq!(sizes(51, 15, false, slow), [301], "another land is no end of it");
    }

    #[test]
    fn the_type_at_a_place_is_the_one_that_is_painted_there() {
        let previewer = previewer();
        let mut asked = request(10, 65);
        let types = &mut Arc::make_mut(&mut asked.recipe).texture.types;
        types.truncate(2);
        let [low, high] = &mut types[..] else { panic!("two types") };
        for (ground, name, min, max, colour) in [(low, "Low", 0.0, 50.0, [0; 3]), (high, "High", 50.0, 100.0, [255; 3])]
        {
            *ground = TerrainType {
                name: name.into(),
                colour: Colour(colour),
                elevation: Band { min, max },
                elevation_release: 1.0,
                ..Default::default()
            };
        }
        asked.shown = TextureView::Unlit;
        previewer.request(asked);
        let preview = wait(&previewer).expect("a preview");
        let grid = preview.terrain.grid();
        let mut seen = [0; 2];
        for (j, i) in (0..65).flat_map(|j| (0..65).map(move |i| (j, i))) {
            let [grey, ..] = preview.texture.pixels[j * 65 + i];
            let place_m =
                [(i as f64 + 0.5) / 65.0 * grid.extent().width_m, (j as f64 + 0.5) / 65.0 * grid.extent().depth_m];
            if !(60..=200).contains(&grey) {
                let expected = usize::from(grey > 200);
                assert_eq!(preview.type_at(place_m).map(|ground| &*ground.name), Some(["Low", "High"][expected]));
                seen[expected] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }

    #[test]
    fn a_broken_file_becomes_a_message_and_the_next_request_is_served() {
        let previewer = previewer();
        let mut broken = request(10, 33);
        let name = FileName("broken.png".into());
        let step = Step::new(Heightmap { file: name.clone(), ..Default::default() });
        Arc::make_mut(&mut broken.recipe).stack.push(step);
        broken.files.insert(name, Arc::new(Vec::new()));
        previewer.request(broken);
        assert!(matches!(wait(&previewer), Err(JobError::Failed(message)) if message.contains("broken.png")));
        previewer.request(request(10, 33));
        assert!(wait(&previewer).is_ok());
    }
}
