//! The measures thread: what takes longer to find out about a land than to draw it, part by part.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{JobError, Wake, catch_panic, lock};
use crate::engine::analysis::{Spectrum, hurst_exponent, slope_histogram, walkable};
use crate::engine::landforms::{LandformShares, pits_per_thousand};
use crate::engine::{Cancelled, Heightfield, Progress};

/// The width of a bin of the slopes, degrees.
pub const SLOPE_BIN_DEG: f32 = 1.0;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct AnalysisRequest {
    /// The land.
    pub terrain: Arc<Heightfield>,
    /// The slopes, and the ground that is no steeper than this, degrees.
    pub walkable_deg: Option<f64>,
    /// The power spectrum.
    pub spectrum: bool,
    /// The forms of the land, and how rough it is.
    pub landforms: bool,
}

impl AnalysisRequest {
    /// Whether both ask for the same of the same land.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { terrain, walkable_deg, spectrum, landforms } = self;
        Arc::ptr_eq(terrain, &other.terrain)
            && (*walkable_deg, *spectrum, *landforms) == (other.walkable_deg, other.spectrum, other.landforms)
    }
}

/// How steep a land is.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes {
    /// Shares of the samples in bins of [`SLOPE_BIN_DEG`] from 0° to 90°.
    pub histogram: Vec<f32>,
    /// The limit up to which ground counts as walkable, degrees.
    pub limit_deg: f64,
    /// The share of the samples that is walkable.
    pub walkable: f32,
    /// The share of that which hangs together.
    pub connected: f32,
}

/// What a land is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandformStats {
    /// The shares of the forms.
    pub landforms: LandformShares,
    /// How many of a thousand samples are pits.
    pub pits: f64,
    /// How the land's relief grows with the distance; `None` for land that is level or too small.
    pub hurst: Option<f64>,
}

/// What is known of a land so far.
#[derive(Clone, Debug)]
pub struct AnalysisResult {
    /// The land.
    pub terrain: Arc<Heightfield>,
    /// How steep it is.
    pub slopes: Option<Slopes>,
    /// How much of its relief lies at which wavelengths.
    pub spectrum: Option<Spectrum>,
    /// What it is made of.
    pub forms: Option<LandformStats>,
}

impl AnalysisResult {
    /// Nothing yet.
    fn of(terrain: Arc<Heightfield>) -> Self {
        Self { terrain, slopes: None, spectrum: None, forms: None }
    }

    /// Finds out what is asked for and not known yet, and publishes each part as it comes.
    fn find(
        &mut self,
        request: &AnalysisRequest,
        progress: &Progress,
        publish: &dyn Fn(Self),
    ) -> Result<(), Cancelled> {
        let terrain = &*request.terrain;
        if let Some(limit_deg) = request.walkable_deg
            && self.slopes.as_ref().is_none_or(|slopes| slopes.limit_deg != limit_deg)
        {
            let histogram = match self.slopes.take() {
                Some(slopes) => slopes.histogram,
                None => slope_histogram(terrain, SLOPE_BIN_DEG),
            };
            let found = walkable(terrain, limit_deg, progress)?;
            self.slopes = Some(Slopes { histogram, limit_deg, walkable: found.share, connected: found.connected });
            publish(self.clone());
        }
        if request.landforms && self.forms.is_none() {
            let landforms = LandformShares::of(terrain, progress)?;
            let (pits, hurst) = (pits_per_thousand(terrain), hurst_exponent(terrain));
            self.forms = Some(LandformStats { landforms, pits, hurst });
            publish(self.clone());
        }
        if request.spectrum && self.spectrum.is_none() {
            self.spectrum = Some(Spectrum::of(terrain, progress)?);
            publish(self.clone());
        }
        Ok(())
    }
}

/// The handle of the measures thread. Dropping it stops the thread.
pub struct Analyser {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Wake,
}

#[derive(Default)]
struct State {
    next: Option<AnalysisRequest>,
    running: Option<Arc<Progress>>,
    finished: Option<Result<AnalysisResult, JobError>>,
    stopping: bool,
}

impl Analyser {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), wake });
        let thread = {
            let shared = shared.clone();
            std::thread::Builder::new().name("upthrust measures".into()).spawn(move || serve(&shared))?
        };
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Asks for measures in place of all that were asked for before.
    pub fn request(&self, request: AnalysisRequest) {
        let mut state = lock(&self.shared.state);
        state.next = Some(request);
        if let Some(progress) = &state.running {
            progress.cancel();
        }
        self.shared.changed.notify_all();
    }

    /// The newest that has been found out, once. More of the same land may follow.
    pub fn take(&self) -> Option<Result<AnalysisResult, JobError>> {
        lock(&self.shared.state).finished.take()
    }
}

impl Drop for Analyser {
    fn drop(&mut self) {
        {
            let mut state = lock(&self.shared.state);
            state.stopping = true;
            if let Some(progress) = &state.running {
                progress.cancel();
            }
        }
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared) {
    // A pool of one thread of its own: the preview comes first.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "upthrust measure".into()).build();
    let mut known: Option<AnalysisResult> = None;
    while let Some((request, progress)) = next_request(shared) {
        let mut measured = match known.take() {
            Some(known) if Arc::ptr_eq(&known.terrain, &request.terrain) => known,
            _ => AnalysisResult::of(request.terrain.clone()),
        };
        let publish = |found| {
            lock(&shared.state).finished = Some(Ok(found));
            (shared.wake)();
        };
        let mut job = || measured.find(&request, &progress, &publish);
        let outcome = catch_panic(|| match &pool {
            Ok(pool) => pool.install(&mut job),
            Err(_) => job(),
        });
        lock(&shared.state).running = None;
        match outcome {
            Ok(Ok(()) | Err(Cancelled)) => known = Some(measured),
            Err(panicked) => {
                lock(&shared.state).finished = Some(Err(panicked));
                (shared.wake)();
            }
        }
    }
}

/// Waits for the next request; `None` once the thread is to stop.
fn next_request(shared: &Shared) -> Option<(AnalysisRequest, Arc<Progress>)> {
    let mut state = lock(&shared.state);
    while !state.stopping {
        if let Some(request) = state.next.take() {
            let progress = Arc::new(Progress::new());
            state.running = Some(progress.clone());
            return Some((request, progress));
        }
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Extent, Grid};
    use crate::worker::tests::wait;

    /// A ramp of that slope with waves on it.
    fn terrain(slope: f32, side: usize) -> Arc<Heightfield> {
        let grid = Grid::new(Extent { width_m: (side - 1) as f64, depth_m: (side - 1) as f64 }, side, side);
        let wave = |i: usize| libm::sinf(i as f32 * 0.7);
        Arc::new(Heightfield::from_fn(grid, |c, r| c as f32 * slope + 0.2 * wave(c) * wave(r)))
    }

    fn analyser() -> Analyser {
        Analyser::start(Arc::new(|| {})).expect("a thread")
    }

    #[test]
    fn only_what_is_asked_for_is_measured_and_what_is_known_stays() {
        let (analyser, terrain) = (analyser(), terrain(0.5, 65));
        let asked =
            AnalysisRequest { terrain: terrain.clone(), walkable_deg: Some(45.0), spectrum: false, landforms: false };
        analyser.request(asked.clone());
        let first = wait(|| analyser.take()).expect("measures");
        assert!(Arc::ptr_eq(&first.terrain, &terrain) && first.spectrum.is_none() && first.forms.is_none());
        let slopes = first.slopes.expect("slopes");
        assert_eq!((slopes.walkable, slopes.connected), (1.0, 1.0));
        analyser.request(AnalysisRequest { walkable_deg: Some(10.0), landforms: true, ..asked });
        let found = || analyser.take().filter(|found| found.as_ref().is_ok_and(|found| found.forms.is_some()));
        let second = wait(found).expect("measures");
        let other = second.slopes.expect("slopes");
        assert_eq!((other.walkable, &other.histogram), (0.0, &slopes.histogram));
    }

    #[test]
    fn the_newest_land_wins() {
        let analyser = analyser();
        let asked = |terrain| AnalysisRequest { terrain, walkable_deg: Some(45.0), spectrum: true, landforms: true };
        analyser.request(asked(terrain(0.2, 2049)));
        std::thread::sleep(std::time::Duration::from_millis(30));
        let newest = terrain(0.3, 65);
        let began = std::time::Instant::now();
        analyser.request(asked(newest.clone()));
        let is_it = |found: &AnalysisResult| Arc::ptr_eq(&found.terrain, &newest) && found.spectrum.is_some();
        wait(|| analyser.take().filter(|found| found.as_ref().is_ok_and(is_it))).expect("measures");
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}
