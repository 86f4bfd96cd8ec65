//! `upthrust search`: finds the seeds whose terrain best meets the rules of a level.

use rayon::prelude::*;
use serde_json::json;

use super::arguments::SearchOptions;
use super::error::CliError;
use super::output::{print_error, print_line, print_lines};
use super::play::{verdict_json, verdict_text};
use super::progress::run_with_progress;
use super::values::{SeedRange, Size};
use super::{interrupt, source};
use crate::engine::Grid;
use crate::engine::play::{Found, Ranking, Search, memory_bytes, obstacle_bytes};

/// Searches and prints the best seeds, the best first.
pub fn run(options: &SearchOptions) -> Result<(), CliError> {
    let progress = interrupt::progress();
    let source = &options.source.source;
    let file = source::load(source, &options.source.changes)?;
    let project = &file.project;
    let level = &project.level;
    let rules = source::rules(source, level, level.rules.iter().chain(&options.require))?;
    if rules.is_empty() {
        let problem = "the level has no rules to search by; write some into the project or add --require RULE";
        return Err(CliError::Usage(format!("{source}: {problem}")));
    }
    let extent = project.recipe.world.extent();
    let (coarse, fine) = (
        Grid::fitted(extent, options.coarse as usize),
        options.size.unwrap_or(Size::longer(file.settings.export.samples)).grid(extent),
    );
    // Seeds are compared in parallel, one on each thread.
    let bytes = |grid: Grid| memory_bytes(level, &rules, grid.samples() as u64) + obstacle_bytes(&project.recipe, grid);
    let threads = rayon::current_num_threads() as u64;
    source::inputs(&source.to_string(), project, coarse, threads * (bytes(coarse) + 16 * coarse.samples() as u64))?;
    let inputs = source::inputs(&source.to_string(), project, fine, bytes(fine))?;
    let search =
        Search { recipe: &project.recipe, inputs: &inputs, level, water_m: project.water.water_m, rules: &rules };
    let SeedRange([from, to]) = options.seeds;
    let seeds: Vec<u32> = (from..=to).collect();
    let Ranking { best, summary } = run_with_progress(options.progress, &progress, || {
        let (seeds, count) = (seeds.par_iter().copied(), options.best as usize);
        let ranking = progress.stage(0.0..0.8, || search.best(seeds, coarse, count, &progress, &|_| ()))?;
        let again = progress.stage(0.8..1.0, || search.again(&ranking.best, fine, &progress));
        again.map(|best| Ranking { best, ..ranking })
    })?;
    print_error(&format!("note: {summary}"));
    if options.json {
        let seed = |found: &Found| {
            json!({
                "seed": found.seed,
                "broken": found.failed(),
                "rules": found.verdicts.iter().map(verdict_json).collect::<Vec<_>>(),
            })
        };
        return print_line(&format!("{:#}", json!(best.iter().map(seed).collect::<Vec<_>>())));
    }
    print_lines(best.iter().flat_map(|found| {
        let result = match found.failed() {
            0 => "passes all rules".into(),
            failed => format!("fails {failed} of {} rules", rules.len()),
        };
        let verdicts = found.verdicts.iter().map(|verdict| format!("  {}", verdict_text(verdict)));
        std::iter::once(format!("seed {} {result}", found.seed)).chain(verdicts).collect::<Vec<_>>()
    }))
}
