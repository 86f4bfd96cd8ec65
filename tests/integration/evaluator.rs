//! The caching evaluator agrees with an uncached evaluation after any edits and cancellations.

use crate::common;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use upthrust::engine::stack::{Evaluator, evaluate};
use upthrust::engine::{Extent, Grid, Inputs, Progress, Recipe, Step};

/// Steps with and without iterations, keyframes, working grids and a dependency on the terrain below.
fn kinds() -> Vec<Value> {
    vec![
        json!({"operation": "faults", "count": 40}),
        json!({"operation": "faults", "count": 12, "wind": {"k": 0.3}}),
        json!({"operation": "particles", "count": 9, "drops": 60, "reference_samples": 21}),
        json!({"operation": "coastline", "patch": 0.2, "reference_samples": 33}),
        json!({"operation": "mountains", "valleys": 2, "octaves": 2}),
        json!({"operation": "recursive_filter", "k": 0.5}),
        json!({"operation": "gaussian_blur", "radius_m": 90}),
        json!({"operation": "kernel_filter"}),
        json!({"operation": "terrace", "blend": "maximum"}),
        json!({"operation": "paths"}),
        json!({"operation": "pads"}),
        json!({"operation": "faults", "count": 7, "mask": [{"source": "path"}, {"source": "pad", "combine": "union"}]}),
    ]
}

/// An edit between two evaluations.
#[derive(Clone, Debug)]
enum Edit {
    Insert {
        at: Index,
        kind: Index,
        seed: u32,
    },
    Delete {
        at: Index,
    },
    Move {
        from: Index,
        to: Index,
    },
    Switch {
        at: Index,
    },
    Reseed {
        at: Index,
        seed: u32,
    },
    Weaken {
        at: Index,
        strength: f64,
    },
    /// Replaces the operation.
    Replace {
        at: Index,
        kind: Index,
    },
    Recount {
        at: Index,
        count: u32,
    },
    ReseedAll {
        seed: u32,
    },
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), index(), 0..3_u32).prop_map(|(at, kind, seed)| Edit::Insert { at, kind, seed }),
        2 => index().prop_map(|at| Edit::Delete { at }),
        2 => (index(), index()).prop_map(|(from, to)| Edit::Move { from, to }),
        2 => index().prop_map(|at| Edit::Switch { at }),
        2 => (index(), 0..3_u32).prop_map(|(at, seed)| Edit::Reseed { at, seed }),
        2 => (index(), 0.0..1.0_f64).prop_map(|(at, strength)| Edit::Weaken { at, strength }),
        2 => (index(), index()).prop_map(|(at, kind)| Edit::Replace { at, kind }),
        4 => (index(), 0..40_u32).prop_map(|(at, count)| Edit::Recount { at, count }),
        1 => (0..3_u32).prop_map(|seed| Edit::ReseedAll { seed }),
    ]
}

/// A new step of a kind.
fn step(kind: Index, seed: u32) -> Step {
    let kinds = kinds();
    let recipe = Recipe::from_json(&json!({"stack": [kinds[kind.index(kinds.len())]]})).expect("a valid step");
    let mut step = recipe.stack.into_iter().next().expect("one step");
    step.settings.seed = seed;
    step
}

impl Edit {
    fn make(self, recipe: &mut Recipe) {
        let stack = &mut recipe.stack;
        let length = stack.len();
        match self {
            Self::Insert { at, kind, seed } if length < 6 => stack.insert(at.index(length + 1), step(kind, seed)),
            Self::ReseedAll { seed } => recipe.seed = seed,
            _ if length == 0 => {}
            Self::Insert { at, kind, .. } | Self::Replace { at, kind } => {
                stack[at.index(length)].operation = step(kind, 0).operation;
            }
            Self::Delete { at } => drop(stack.remove(at.index(length))),
            Self::Move { from, to } => {
                let moved = stack.remove(from.index(length));
                stack.insert(to.index(length), moved);
            }
            Self::Switch { at } => stack[at.index(length)].settings.enabled ^= true,
            Self::Reseed { at, seed } => stack[at.index(length)].settings.seed = seed,
            Self::Weaken { at, strength } => stack[at.index(length)].settings.strength = strength,
            Self::Recount { at, count } => {
                // Fails for operations without a count.
                let _ = stack[at.index(length)].operation.group_mut().set("count", &count.into());
            }
        }
    }
}

proptest! {
    #![proptest_config(common::proptest_config())]

    #[test]
    fn edits_and_cancellations_do_not_leave_stale_terrain(
        first in prop::collection::vec((any::<Index>(), 0..3_u32), 2..5),
        // An edit, the position in thousandths of the timeline, and when a first evaluation is cancelled.
        edits in prop::collection::vec((edit(), 0..1500_u32, prop::option::of(0..100_000_u32)), 1..12),
    ) {
        let stack = first.into_iter().map(|(kind, seed)| step(kind, seed)).collect();
        let mut recipe = Recipe { stack, ..Default::default() };
        let grid = Grid::new(Extent { width_m: 2000.0, depth_m: 1500.0 }, 41, 31);
        let mut evaluator = Evaluator::new();
        // Room for little more than one map.
        let mut small = Evaluator::new().with_max_bytes(7 * grid.samples());
        for (edit, thousandths, spins_before_cancel) in edits {
            let written = format!("{edit:?}");
            edit.make(&mut recipe);
            // A third of the evaluations are at the end, like those while editing.
            let position = (thousandths < 1000).then(|| recipe.iterations() * thousandths / 1000);
            if let Some(spins) = spins_before_cancel {
                let progress = Progress::new();
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        (0..spins).for_each(|_| std::hint::spin_loop());
                        progress.cancel();
                    });
                    // It may finish before the cancellation.
                    let _ = evaluator.evaluate(&recipe, grid, position, &Inputs::default(), &progress);
                });
            }
            let found = evaluator.evaluate(&recipe, grid, position, &Inputs::default(), &Progress::new());
            let uncached = evaluate(&recipe, grid, position, &Inputs::default(), &Progress::new()).expect("not cancelled");
            prop_assert!(found.as_deref() == Ok(&uncached), "after {} at {:?}: {}", written, position, recipe.to_json());
            let found = small.evaluate(&recipe, grid, position, &Inputs::default(), &Progress::new());
            prop_assert!(found.as_deref() == Ok(&uncached), "small, after {}: {}", written, recipe.to_json());
        }
    }
}
