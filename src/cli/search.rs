//! `upthrust search`: finds the seeds whose terrain best meets the rules of a level.

use serde_json::json;

use super::arguments::SearchOptions;
use super::error::CliError;
use super::output::{print_error, print_line, print_lines};
use super::play::{verdict_json, verdict_text};
use super::progress::run_with_progress;
use super::values::{SeedRange, Size};
use super::{interrupt, source};
use crate::engine::Grid;
use crate::engine::play::{Found, Ranking, Search, SearchStages, memory_bytes, obstacle_bytes};
use crate::files::io::memory::require_memory;

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
    let fine = options.size.unwrap_or(Size::longer(file.settings.export.samples)).grid(extent);
    let coarse = Grid::fitted(extent, options.coarse as usize);
    // Seeds are compared in parallel, one on each thread.
    let bytes = |grid: Grid| memory_bytes(level, &rules, grid) + obstacle_bytes(&project.recipe, grid);
    let bytes_at_once = |grid: Grid| rayon::current_num_threads() as u64 * (bytes(grid) + 16 * grid.samples() as u64);
    // The last stage is required.
    let has_memory = |grid: Grid, at_once: bool| !at_once || require_memory(bytes_at_once(grid)).is_ok();
    let stages = SearchStages::new(coarse, fine, has_memory);
    source::inputs(&source.to_string(), project, stages.all, bytes_at_once(stages.all))?;
    let inputs = source::inputs(&source.to_string(), project, fine, bytes(fine))?;
    let search =
        Search { recipe: &project.recipe, inputs: &inputs, level, water_m: project.water.water_m, rules: &rules };
    let SeedRange([from, to]) = options.seeds;
    let seeds: Vec<u32> = (from..=to).collect();
    let Ranking { best, summary } = run_with_progress(options.progress, &progress, || {
        search.run(&seeds, stages, options.best as usize, &progress, &|_| ())
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
