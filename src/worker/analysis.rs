//! The analysis thread: computes the statistics that take too long for a frame, and delivers them part by part.

use std::sync::Arc;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::job::{JobError, Wake};
use super::runner::{JobContext, Policy, Runner, RunnerConfig, Worker};
use crate::engine::analysis::{Spectrum, hurst_exponent, slope_histogram, walkable};
use crate::engine::landforms::{LandformShares, at_comparison_spacing, pits_per_thousand};
use crate::engine::{Heightfield, Progress};

/// The width of a bin of the slope histogram, degrees.
pub const SLOPE_BIN_DEG: f32 = 1.0;

/// Which statistics of which terrain to compute.
#[derive(Clone, Debug)]
pub struct AnalysisRequest {
    /// The terrain.
    pub terrain: Arc<Heightfield>,
    /// Computes the slopes; up to this limit terrain counts as walkable, degrees.
    pub walkable_deg: Option<f64>,
    /// Computes the power spectrum.
    pub spectrum: bool,
    /// Computes the landforms, pits and roughness.
    pub landforms: bool,
}

impl AnalysisRequest {
    /// Whether both request the same statistics of the same terrain.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { terrain, walkable_deg, spectrum, landforms } = self;
        Arc::ptr_eq(terrain, &other.terrain)
            && (*walkable_deg, *spectrum, *landforms) == (other.walkable_deg, other.spectrum, other.landforms)
    }
}

/// The slopes of a terrain.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes {
    /// Shares of the samples in bins of [`SLOPE_BIN_DEG`] from 0° to 90°.
    pub histogram: Vec<f32>,
    /// The steepest slope that counts as walkable, degrees.
    pub limit_deg: f64,
    /// The share of the samples that is walkable.
    pub walkable: f32,
    /// The share of the walkable samples in the largest connected area.
    pub connected: f32,
}

/// The landforms of a terrain and how rough it is, at the spacing at which real terrain was measured if it is large
/// enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandformStats {
    /// The shares of the landforms.
    pub landforms: LandformShares,
    /// Pits per thousand samples.
    pub pits: f64,
    /// The Hurst exponent; `None` for a level or very small terrain.
    pub hurst: Option<f64>,
}

/// The statistics of a terrain that are known so far.
#[derive(Clone, Debug)]
pub struct AnalysisResult {
    /// The terrain.
    pub terrain: Arc<Heightfield>,
    /// Its slopes.
    pub slopes: Option<Slopes>,
    /// Its power spectrum.
    pub spectrum: Option<Spectrum>,
    /// Its landforms.
    pub forms: Option<LandformStats>,
}

impl AnalysisResult {
    fn empty(terrain: Arc<Heightfield>) -> Self {
        Self { terrain, slopes: None, spectrum: None, forms: None }
    }

    /// Computes the requested statistics that are not known yet, and publishes each part as it finishes.
    fn extend(&mut self, request: &AnalysisRequest, context: &JobContext<'_, Self>) -> Result<(), JobError> {
        let (terrain, progress): (_, &Progress) = (&*request.terrain, context.progress);
        if let Some(limit_deg) = request.walkable_deg
            && self.slopes.as_ref().is_none_or(|slopes| slopes.limit_deg != limit_deg)
        {
            let histogram = match self.slopes.take() {
                Some(slopes) => slopes.histogram,
                None => slope_histogram(terrain, SLOPE_BIN_DEG),
            };
            let found = walkable(terrain, limit_deg, progress)?;
            self.slopes = Some(Slopes { histogram, limit_deg, walkable: found.share, connected: found.connected });
            (context.publish)(self.clone());
        }
        if request.landforms && self.forms.is_none() {
            let compared = at_comparison_spacing(terrain, progress)?;
            let terrain = compared.as_ref().unwrap_or(terrain);
            let landforms = LandformShares::of(terrain, progress)?;
            let (pits, hurst) = (pits_per_thousand(terrain), hurst_exponent(terrain));
            self.forms = Some(LandformStats { landforms, pits, hurst });
            (context.publish)(self.clone());
        }
        if request.spectrum && self.spectrum.is_none() {
            self.spectrum = Some(Spectrum::of(terrain, progress)?);
        }
        Ok(())
    }
}

/// The handle of the analysis thread. Dropping it cancels and joins the thread.
pub struct Analyser {
    runner: Runner<AnalysisWorker>,
}

impl Analyser {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        // A single thread, so that the preview has the others.
        let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "upthrust analysis pool".into()).build();
        let config = RunnerConfig::new("upthrust analysis", Policy::LatestWins { grace: Duration::ZERO });
        Ok(Self { runner: Runner::start(config, AnalysisWorker { pool: pool.ok(), known: None }, wake)? })
    }

    /// Requests statistics, superseding all earlier requests.
    pub fn request(&self, request: AnalysisRequest) {
        self.runner.submit(request);
    }

    /// Takes the newest result. Further parts of the same terrain may follow.
    pub fn take(&self) -> Option<Result<AnalysisResult, JobError>> {
        self.runner.take().map(|(_, result)| result)
    }
}

struct AnalysisWorker {
    pool: Option<ThreadPool>,
    /// The statistics known so far for the terrain of the last request.
    known: Option<AnalysisResult>,
}

impl Worker for AnalysisWorker {
    type Job = AnalysisRequest;
    type Label = ();
    type Output = AnalysisResult;

    fn label(_: &AnalysisRequest) {}

    fn run(
        &mut self,
        request: AnalysisRequest,
        context: &JobContext<'_, AnalysisResult>,
    ) -> Result<AnalysisResult, JobError> {
        let known = self.known.take().filter(|known| Arc::ptr_eq(&known.terrain, &request.terrain));
        let mut result = known.unwrap_or_else(|| AnalysisResult::empty(request.terrain.clone()));
        let mut extend = || result.extend(&request, context);
        let outcome = match &self.pool {
            Some(pool) => pool.install(extend),
            None => extend(),
        };
        self.known = Some(result.clone());
        outcome.map(|()| result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Extent, Grid};
    use crate::worker::test_support::{no_wake, wait};

    /// A ramp with small waves on it.
    fn terrain(slope: f32, side: usize) -> Arc<Heightfield> {
        let grid = Grid::new(Extent { width_m: (side - 1) as f64, depth_m: (side - 1) as f64 }, side, side);
        let wave = |i: usize| libm::sinf(i as f32 * 0.7);
        Arc::new(Heightfield::from_fn(grid, |c, r| c as f32 * slope + 0.2 * wave(c) * wave(r)))
    }

    fn analyser() -> Analyser {
        Analyser::start(no_wake()).expect("a thread")
    }

    #[test]
    fn only_requested_statistics_are_computed_and_known_ones_are_kept() {
        let (analyser, terrain) = (analyser(), terrain(0.5, 65));
        let asked =
            AnalysisRequest { terrain: terrain.clone(), walkable_deg: Some(45.0), spectrum: false, landforms: false };
        analyser.request(asked.clone());
        let first = wait(|| analyser.take()).expect("statistics");
        assert!(Arc::ptr_eq(&first.terrain, &terrain) && first.spectrum.is_none() && first.forms.is_none());
        let slopes = first.slopes.expect("slopes");
        assert_eq!((slopes.walkable, slopes.connected), (1.0, 1.0));
        analyser.request(AnalysisRequest { walkable_deg: Some(10.0), landforms: true, ..asked });
        let found = || analyser.take().filter(|found| found.as_ref().is_ok_and(|found| found.forms.is_some()));
        let second = wait(found).expect("statistics");
        let other = second.slopes.expect("slopes");
        assert_eq!((other.walkable, &other.histogram), (0.0, &slopes.histogram));
    }

    #[test]
    fn the_newest_terrain_wins() {
        let analyser = analyser();
        let asked = |terrain| AnalysisRequest { terrain, walkable_deg: Some(45.0), spectrum: true, landforms: true };
        analyser.request(asked(terrain(0.2, 2049)));
        wait(|| analyser.runner.status());
        let newest = terrain(0.3, 65);
        analyser.request(asked(newest.clone()));
        let is_it = |found: &AnalysisResult| Arc::ptr_eq(&found.terrain, &newest) && found.spectrum.is_some();
        wait(|| analyser.take().filter(|found| found.as_ref().is_ok_and(is_it))).expect("statistics");
    }
}
