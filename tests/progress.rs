//! Progress rises from nothing to all, and never falls.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed, in its helpers too")]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use upthrust::engine::stack::Evaluator;
use upthrust::engine::{Grid, Monitor, Recipe};

/// The progress of a job as another thread sees it, each value once.
fn watched(job: impl FnOnce(&Monitor)) -> Vec<f32> {
    let (monitor, is_done) = (Monitor::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = vec![monitor.progress()];
            while !is_done.load(Ordering::Acquire) {
                let progress = monitor.progress();
                if seen.last() != Some(&progress) {
                    seen.push(progress);
                }
                std::hint::spin_loop();
            }
            seen
        });
        job(&monitor);
        is_done.store(true, Ordering::Release);
        watcher.join().expect("no panic")
    })
}

#[test]
fn the_progress_of_every_operation_only_rises() {
    for operation in common::operations() {
        let key = operation.key();
        let recipe = Recipe { stack: common::on_fault_land(operation, 60), ..Default::default() };
        let grid = Grid::fitted(recipe.world.extent(), 513);
        // Anew, and stepping on with what is remembered.
        let mut evaluator = Evaluator::new();
        for position in [Some(recipe.iterations() / 2), None] {
            let seen = watched(|monitor| {
                let land = evaluator.evaluate(&recipe, grid, position, common::inputs(), monitor);
                assert!(land.is_ok(), "not cancelled");
            });
            let fall = seen.windows(2).find(|pair| pair[0] > pair[1]);
            assert!(fall.is_none(), "{key} at {position:?}: from {fall:?}");
            assert!(seen.iter().all(|progress| (0.0..=1.0).contains(progress)), "{key}: {seen:?}");
        }
    }
}
