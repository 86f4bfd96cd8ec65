//! Fingerprints of terrain: whether a project gives the terrain with which it was saved.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::inputs::{DecodedFiles, InputFiles};
use crate::engine::hash::Hash;
use crate::engine::{Grid, Progress, Recipe, stack};

/// The samples along the longer side of the terrain that is compared.
const SAMPLES: usize = 65;
/// Saving and opening do not wait for a fingerprint any longer.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// A hash of the heights of a recipe at 65 samples along the longer side; `None` if computing them fails or takes too
/// long. `files` must contain those that the recipe refers to.
pub fn terrain_fingerprint(recipe: &Recipe, files: &InputFiles) -> Option<u64> {
    fingerprint_within(TIME_LIMIT, recipe, files)
}

fn fingerprint_within(limit: Duration, recipe: &Recipe, files: &InputFiles) -> Option<u64> {
    let progress = Progress::new();
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let progress = &progress;
        let watch = move || {
            // Ends as soon as the sender is dropped.
            if is_done.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                progress.cancel();
            }
        };
        thread::Builder::new().spawn_scoped(scope, watch).ok()?;
        let evaluate = || {
            let inputs = DecodedFiles::default().heightmaps(recipe, files, progress).ok()?;
            let grid = Grid::fitted(recipe.world.extent(), SAMPLES);
            stack::evaluate(recipe, grid, None, &inputs, progress).ok()
        };
        // Saving goes on without a fingerprint if an operation fails.
        let terrain = catch_unwind(AssertUnwindSafe(evaluate)).ok().flatten();
        drop(done);
        terrain.map(|terrain| Hash::new().with_numbers(terrain.heights()).value())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::recursive_filter::RecursiveFilter;

    #[test]
    fn a_fingerprint_depends_on_the_terrain_and_is_left_out_if_it_takes_too_long() {
        let recipe = |seed| Recipe { seed, stack: vec![Step::new(Faults::default())], ..Default::default() };
        let long = Duration::from_secs(600);
        let of = |seed: u32| fingerprint_within(long, &recipe(seed), &InputFiles::new()).expect("no failure");
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let endless = Recipe {
            stack: vec![Step::new(Faults {
                count: 1_000_000,
                wind: Some(RecursiveFilter::default()),
                ..Default::default()
            })],
            ..Default::default()
        };
        assert_eq!(fingerprint_within(Duration::from_millis(1), &endless, &InputFiles::new()), None);
    }
}
