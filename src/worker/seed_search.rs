//! The thread that searches for the seeds whose terrain best meets the rules of a level.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::job::{JobError, Wake};
use super::runner::{JobContext, Policy, Runner, RunnerConfig, Worker};
use crate::engine::Grid;
use crate::engine::level::Level;
use crate::engine::play::{Ranking, Rule, Search, SearchStages, memory_bytes, obstacle_bytes};
use crate::engine::recipe::Recipe;
use crate::files::import::{DecodedFiles, InputFiles};
use crate::files::io::memory::require_memory;

/// What to search.
#[derive(Clone, Debug)]
pub struct SeedSearchRequest {
    /// The recipe whose seed is varied.
    pub recipe: Arc<Recipe>,
    /// The files that the recipe reads.
    pub files: InputFiles,
    /// The level with its rules.
    pub level: Level,
    /// The height of the water, metres.
    pub water_m: Option<f64>,
    /// The seeds.
    pub seeds: RangeInclusive<u32>,
    /// Samples along the longer side at which all seeds are compared.
    pub samples: usize,
    /// Samples along the longer side at which the best are checked again.
    pub final_samples: usize,
    /// How many of the best to return.
    pub best: usize,
}

/// The handle of the thread. Dropping it cancels and joins the thread.
pub struct SeedSearcher {
    runner: Runner<SearchWorker>,
}

impl SeedSearcher {
    /// Starts the thread; `wake` is called when there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let config = RunnerConfig::new("upthrust seed search", Policy::Queue);
        Ok(Self { runner: Runner::start(config, SearchWorker, wake)? })
    }

    /// Starts a search.
    pub fn start_search(&self, request: SeedSearchRequest) {
        self.runner.submit(request);
    }

    /// Cancels the running search.
    pub fn cancel(&self) {
        self.runner.cancel();
    }

    /// How much of the running search is done; `None` if none is running.
    pub fn fraction(&self) -> Option<f32> {
        self.runner.status().map(|status| status.fraction)
    }

    /// Takes the best seeds so far, and once the search has ended, the best of all.
    pub fn take(&self) -> Option<Result<Ranking, JobError>> {
        self.runner.take().map(|(_, result)| result)
    }
}

/// The time between two rankings that are shown while the search runs.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

struct SearchWorker;

impl Worker for SearchWorker {
    type Job = SeedSearchRequest;
    type Label = ();
    type Output = Ranking;

    fn label(_: &SeedSearchRequest) {}

    fn run(
        &mut self,
        request: SeedSearchRequest,
        context: &JobContext<'_, Self::Output>,
    ) -> Result<Self::Output, JobError> {
        let SeedSearchRequest { recipe, files, level, water_m, seeds, samples, final_samples, best } = request;
        let progress = context.progress;
        let inputs = DecodedFiles::default().inputs(&recipe, &files, progress)?;
        let read = level.rules.iter().map(|rule| Rule::read(rule, &level)).collect::<Result<Vec<_>, _>>();
        let rules = read.map_err(|error| JobError::Failed(error.to_string()))?;
        let search = Search { recipe: &recipe, inputs: &inputs, level: &level, water_m, rules: &rules };
        // Seeds are compared in parallel, one on each thread.
        let bytes = |grid: Grid| memory_bytes(&level, &rules, grid) + obstacle_bytes(&recipe, grid);
        let check_memory = |grid: Grid, at_once: bool| {
            let count = if at_once { rayon::current_num_threads() } else { 1 };
            require_memory(bytes(grid).saturating_mul(count as u64))
        };
        let [coarse, fine] = [samples, final_samples].map(|samples| Grid::fitted(recipe.world.extent(), samples));
        let stages = SearchStages::new(coarse, fine, |grid, at_once| check_memory(grid, at_once).is_ok());
        check_memory(stages.all, true)?;
        let seeds: Vec<u32> = seeds.collect();
        let published = Mutex::new(Instant::now());
        let report = |ranking: &Ranking| {
            let mut published = published.lock().unwrap_or_else(PoisonError::into_inner);
            // The last one says that all seeds were compared.
            if published.elapsed() >= REPORT_INTERVAL || ranking.summary.seeds == seeds.len() {
                *published = Instant::now();
                (context.publish)(ranking.clone());
            }
        };
        Ok(search.run(&seeds, stages, best, progress, &report)?)
    }
}
