//! Tests of the evaluation of stacks.

use super::terrain_below::below_step;
use super::*;
use crate::heightfield::Extent;
use crate::mask::Mask;
use crate::operations::FaultRivers;
use crate::operations::faults::Faults;
use crate::operations::finite_filter::FiniteFilter;
use crate::operations::fluvial_erosion::FluvialErosion;
use crate::operations::group::{Start, StepGroup};
use crate::operations::kernel_filter::KernelFilter;
use crate::operations::mountains::Mountains;
use crate::operations::pads::{Pad, Pads};
use crate::operations::recursive_filter::RecursiveFilter;
use crate::operations::symmetry::{Kind, Symmetry};
use crate::parameters::{Band, Point};
use crate::recipe::Blend;

fn grid() -> Grid {
    Grid::new(Extent { width_m: 1000.0, depth_m: 800.0 }, 41, 33)
}

fn faults(count: u32) -> Step {
    Step::new(Faults { count, ..Default::default() })
}

fn windy(count: u32) -> Step {
    Step::new(Faults { count, wind: Some(RecursiveFilter::default()), ..Default::default() })
}

fn recipe(stack: Vec<Step>) -> Recipe {
    let mut recipe = Recipe { stack, ..Default::default() };
    for (i, step) in recipe.stack.iter_mut().enumerate() {
        step.settings.seed = i as u32;
    }
    recipe
}

fn terrain(recipe: &Recipe, position: Option<u32>) -> Heightfield {
    evaluate(recipe, grid(), position, &Inputs::default(), &Progress::new()).expect("not cancelled")
}

#[test]
fn coarse_evaluation_uses_preview_grids_of_slow_operations_only() {
    let rivers = Some(FaultRivers { years: 20_000.0, ..Default::default() });
    let recipe = |rivers| Recipe {
        stack: vec![Step::new(Faults { count: 40, rivers, ..Default::default() })],
        ..Default::default()
    };
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let [exact, coarse] = [false, true].map(|is_coarse| {
        move |recipe: &Recipe, grid| {
            let mut evaluator = Evaluator { is_coarse, ..Evaluator::new() };
            evaluator.evaluate(recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
        }
    });
    let dry = recipe(None);
    assert_eq!(coarse(&dry, grid()), exact(&dry, grid()));
    let wet = recipe(rivers);
    let found = coarse(&wet, grid());
    let step = &wet.stack[0];
    let context =
        EvalContext { stream: step.stream(wet.seed), is_coarse: true, ..EvalContext::new(grid(), &inputs, &progress) };
    let points = step.operation.evaluate(&context, 40, None).expect("not cancelled");
    assert_eq!(Ok(&*found), step.operation.upsample(&points, &context, 40).as_ref());
    assert_ne!(found, exact(&wet, grid()));
    // On as many samples as the reference, the finer mesh is left out.
    let reference = Grid::fitted(grid().extent(), 257);
    assert_ne!(coarse(&wet, reference), exact(&wet, reference));
    // On a grid finer than the preview grid there is no difference.
    let fine = Grid::fitted(grid().extent(), 300);
    assert_eq!(coarse(&wet, fine), exact(&wet, fine));
}

#[test]
fn maps_with_fewer_samples_than_the_reference_of_a_filter_are_samples_of_finer_ones() {
    let rivers = Some(FaultRivers { years: 20_000.0, ..Default::default() });
    let eroded = Step::new(Faults { count: 40, rivers, ..Default::default() });
    let rain = Step::new(RecursiveFilter { k: 0.8, reference_samples: 257, passes: 3, ..Default::default() });
    let neighbours = Step::new(FiniteFilter { reference_samples: 257, ..Default::default() });
    let kernel = Step::new(KernelFilter { reference_samples: 257, ..Default::default() });
    for filter in [rain, neighbours, kernel] {
        for below in [faults(40), windy(40), eroded.clone()] {
            let recipe = recipe(vec![below, filter.clone()]);
            let of_size = |[width, height]: [usize; 2]| {
                let grid = Grid::new(grid().extent(), width, height);
                evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
            };
            // 40 × 7 cells are the first multiple of at least 256.
            let (small, large) = (of_size([41, 33]), of_size([281, 225]));
            assert!((0..33).all(|r| (0..41).all(|c| small[(c, r)] == large[(7 * c, 7 * r)])));
        }
    }
    let rain = Step::new(RecursiveFilter { reference_samples: 65_537, ..Default::default() }).operation;
    assert_eq!(rain.working_grid(grid()), Grid::new(grid().extent(), 1001, 801), "not more than 1025 samples");
    assert_eq!(rain.preview_grid(grid()), grid());
}

#[test]
fn coarse_previews_pass_from_river_step_to_river_step() {
    let rivers = Some(FaultRivers { every: 10, years: 20_000.0, ..Default::default() });
    let faults = Faults { count: 36, rivers, ..Default::default() };
    let with_rivers = recipe(vec![Step::new(faults.clone())]);
    let grid = Grid::fitted(grid().extent(), 129);
    let mut coarse = Evaluator::coarse();
    let mut preview = |position: u32| {
        coarse
            .evaluate(&with_rivers, grid, Some(position), &Inputs::default(), &Progress::new())
            .expect("not cancelled")
    };
    let dry = recipe(vec![Step::new(Faults { rivers: None, ..faults })]);
    let sum = |position: u32| {
        evaluate(&dry, grid, Some(position), &Inputs::default(), &Progress::new()).expect("not cancelled")
    };
    let heights = |terrain: &Heightfield, i: usize| terrain.heights()[i];
    for (position, [first, second]) in
        [(21, [20, 30]), (27, [20, 30]), (29, [20, 30]), (4, [0, 10]), (33, [30, 36]), (35, [30, 36]), (23, [20, 30])]
    {
        let share = (position - first) as f32 / (second - first) as f32;
        let ([before, after], [dry, dry_after]) = ([first, second].map(&mut preview), [first, second].map(sum));
        let (now, found) = (sum(position), preview(position));
        let change = |i: usize| heights(&after, i) - heights(&before, i) - (heights(&dry_after, i) - heights(&dry, i));
        let added = |i: usize| heights(&now, i) - heights(&dry, i);
        let expected = (0..grid.samples()).map(|i| heights(&before, i) + added(i) + share * change(i));
        let largest = found.heights().iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest < 1e-3, "{largest} m after {position}");
    }
    assert_eq!(
        *preview(30),
        *Evaluator::coarse()
            .evaluate(&with_rivers, grid, Some(30), &Inputs::default(), &Progress::new())
            .expect("not cancelled")
    );
}

#[test]
fn an_edit_below_rivers_that_do_not_depend_on_it_does_not_refine_them_again() {
    let rivers = Some(FaultRivers { years: 20_000.0, ..Default::default() });
    let mut recipe = recipe(vec![faults(20), Step::new(Faults { count: 40, rivers, ..Default::default() })]);
    let mut evaluator = Evaluator::new();
    let mut check = |recipe: &Recipe, position: Option<u32>| {
        let found = evaluator.evaluate(recipe, grid(), position, &Inputs::default(), &Progress::new());
        assert_eq!(*found.expect("not cancelled"), terrain(recipe, position));
        evaluator.cache[1].output.upsampled.clone().expect("upsampled").1
    };
    let first = check(&recipe, None);
    recipe.stack[0] = faults(21);
    assert!(Arc::ptr_eq(&first, &check(&recipe, None)));
    assert!(!Arc::ptr_eq(&first, &check(&recipe, Some(41))));
    recipe.stack[1] = Step::new(FluvialErosion { count: 2, ..Default::default() });
    let over_21 = check(&recipe, None);
    recipe.stack[0] = faults(22);
    assert_ne!(over_21, check(&recipe, None), "fluvial erosion depends on the terrain below");
}

#[test]
fn the_terrain_below_a_step_has_no_symmetry_restored() {
    let symmetry =
        |again_at_end| Step::new(Symmetry { kind: Kind::MirrorEastWest, again_at_end, ..Default::default() });
    let stack = |again_at_end| recipe(vec![faults(40), symmetry(again_at_end), faults(10), faults(5)]);
    let below = terrain(&below_step(&stack(true), 3), None);
    let mut expected = stack(false);
    expected.stack.truncate(3);
    assert_eq!(below, terrain(&expected, None));
    expected.stack[1] = symmetry(true);
    assert_ne!(below, terrain(&expected, None));
}

#[test]
fn dissolving_a_group_evaluates_a_filter_of_a_small_map_again() {
    let filter = Step::new(RecursiveFilter { k: 0.5, reference_samples: 257, ..Default::default() });
    let free = recipe(vec![windy(20), filter]);
    let mut grouped = free.clone();
    grouped.stack[1].depth = 1;
    grouped.stack.push(Step::new(StepGroup { on: Start::Below }));
    let mut evaluator = Evaluator::new();
    for recipe in [&grouped, &free, &grouped] {
        let found = evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new());
        assert_eq!(*found.expect("not cancelled"), terrain(recipe, None));
    }
}

#[test]
fn a_mask_reduces_the_effect_of_a_step() {
    let mut recipe = recipe(vec![faults(40), faults(40)]);
    let below = terrain(&Recipe { stack: recipe.stack[..1].to_vec(), ..recipe.clone() }, None);
    let unmasked = terrain(&recipe, None);
    let border = Mask { source: MaskSource::Border, border_m: 300.0, ..Default::default() };
    recipe.stack[1].settings.mask = vec![border].into();
    let masked = terrain(&recipe, None);
    assert_eq!((masked[(0, 7)], masked[(40, 32)]), (below[(0, 7)], below[(40, 32)]), "no effect at the border");
    assert_eq!(masked[(20, 16)], unmasked[(20, 16)], "full effect in the middle");
    // Column 6 is 150 m from the border: half the effect.
    let half = 0.5 * (below[(6, 16)] + unmasked[(6, 16)]);
    assert!((masked[(6, 16)] - half).abs() < 1e-3);
}

#[test]
fn cached_results_equal_uncached_ones() {
    let filter = || Step::new(RecursiveFilter { k: 0.3, ..Default::default() });
    let mut recipe = recipe(vec![windy(60), faults(30), filter()]);
    let mut evaluator = Evaluator::new();
    let inputs = Inputs::default();
    let mut check = |recipe: &Recipe, position| {
        let found = evaluator.evaluate(recipe, grid(), position, &inputs, &Progress::new()).expect("not cancelled");
        assert_eq!(*found, terrain(recipe, position), "at {position:?}");
    };
    // Forwards, backwards, across steps, beyond the end.
    for position in [0, 1, 2, 17, 3, 59, 60, 61, 90, 70, 5, 500] {
        check(&recipe, Some(position));
    }
    recipe.stack[0].settings.strength = 0.5;
    check(&recipe, None);
    let mask = Mask { elevation_m: Band { min: 0.0, max: 1e4 }, ..Default::default() };
    recipe.stack[1].settings.mask = vec![mask].into();
    check(&recipe, None);
    recipe.stack[1].settings.enabled = false;
    check(&recipe, Some(40));
    recipe.stack.swap(0, 1);
    check(&recipe, None);
    recipe.seed += 1;
    check(&recipe, None);
    recipe.stack.remove(0);
    check(&recipe, None);
}

#[test]
fn an_edit_evaluates_only_the_operations_that_it_affects() {
    let mut recipe = recipe(vec![faults(50), faults(20), faults(30)]);
    let mut evaluator = Evaluator::new();
    let mut evaluated_by = |recipe: &Recipe| {
        let before = evaluator.evaluated();
        evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        evaluator.evaluated() - before
    };
    assert_eq!(evaluated_by(&recipe), 3);
    recipe.stack[1].settings.strength = 0.7;
    assert_eq!(evaluated_by(&recipe), 0, "only blending changes");
    recipe.stack[1] = faults(21);
    assert_eq!(evaluated_by(&recipe), 1, "only the edited step");
}

#[test]
fn the_cache_stays_within_its_limit_and_does_not_change_the_terrain() {
    let map_bytes = grid().samples() * size_of::<f32>();
    let blur = || Step::new(RecursiveFilter { k: 0.3, reference_samples: 41, ..Default::default() });
    let steps = (0..40).map(|i| if i % 3 == 2 { blur() } else { faults(3 + i) }).collect();
    let mut recipe = recipe(steps);
    let limit = 12 * map_bytes;
    let mut evaluator = Evaluator::new().with_max_bytes(limit);
    for edited in [0, 39, 39, 20, 20, 5, 38, 1] {
        recipe.stack[edited].settings.strength *= 0.9;
        let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
        assert_eq!(*found.expect("not cancelled"), terrain(&recipe, None), "step {edited}");
        assert!(evaluator.cached_bytes() <= limit, "{} of {limit} bytes", evaluator.cached_bytes());
    }
    // The terrain below the edited step is kept, so the next edit of the same step starts there.
    recipe.stack[39].settings.strength *= 0.9;
    evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
    let before = evaluator.evaluated();
    recipe.stack[39].settings.seed += 1;
    evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new()).expect("not cancelled");
    assert_eq!(evaluator.evaluated(), before + 1);
}

#[test]
fn an_edit_of_a_named_mask_blends_the_steps_that_use_it() {
    let mut recipe = recipe(vec![faults(50), faults(20)]);
    let border = |border_m| vec![Mask { source: MaskSource::Border, border_m, ..Default::default() }];
    recipe.masks.insert("edge".into(), border(300.0).into());
    let named = Mask { source: MaskSource::Named, name: "edge".into(), ..Default::default() };
    recipe.stack[1].settings.mask = vec![named].into();
    let mut evaluator = Evaluator::new();
    for border_m in [300.0, 500.0, 20.0] {
        recipe.masks.insert("edge".into(), border(border_m).into());
        let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
        let mut own = recipe.clone();
        own.stack[1].settings.mask = border(border_m).into();
        assert_eq!(*found.expect("not cancelled"), terrain(&own, None), "{border_m} m");
    }
    assert_eq!(evaluator.evaluated(), 2, "no operation is evaluated again");
    assert!(can_evaluate_parts(&recipe, grid()));
    recipe.masks.insert("edge".into(), vec![Mask { source: MaskSource::Slope, ..Default::default() }].into());
    assert!(!can_evaluate_parts(&recipe, grid()));
}

#[test]
fn renaming_steps_evaluates_and_blends_nothing() {
    // An accumulating operation, a resumable one and one that reads the terrain below.
    let mask = Mask { elevation_m: Band { min: 0.0, max: 1e4 }, ..Default::default() };
    let mut recipe = recipe(vec![faults(50), windy(20), Step::new(RecursiveFilter::default())]);
    recipe.stack[1].settings.mask = vec![mask].into();
    let mut evaluator = Evaluator::new();
    let mut evaluate = |recipe: &Recipe| {
        let terrain = evaluator.evaluate(recipe, grid(), None, &Inputs::default(), &Progress::new());
        (terrain.expect("not cancelled"), evaluator.evaluated())
    };
    let (before, evaluated) = evaluate(&recipe);
    for i in 0..3 {
        recipe.stack[i].settings.name = format!("Step {i}");
        let (after, total) = evaluate(&recipe);
        assert_eq!(total, evaluated, "renaming step {i}");
        assert!(Arc::ptr_eq(&after, &before), "renaming step {i} blended again");
    }
    recipe.stack[1].settings.strength = 0.5;
    assert_eq!(evaluate(&recipe).1, evaluated + 1, "only the filter depends on the terrain below");
}

#[test]
fn operations_that_read_the_terrain_below_follow_its_edits() {
    let mut recipe = recipe(vec![faults(60), Step::new(Mountains { valleys: 3, ..Default::default() })]);
    let mut evaluator = Evaluator::new();
    for count in [60, 61, 20] {
        recipe.stack[0] = faults(count);
        let found = evaluator.evaluate(&recipe, grid(), None, &Inputs::default(), &Progress::new());
        assert_eq!(found.as_deref(), Ok(&terrain(&recipe, None)), "{count} faults below");
    }
}

#[test]
fn steps_that_have_not_started_have_no_effect() {
    let mut recipe = recipe(vec![faults(10), faults(10)]);
    recipe.stack[1].settings.blend = Blend::Replace;
    let alone = recipe.clone();
    let alone = Recipe { stack: alone.stack[..1].to_vec(), ..alone };
    assert_eq!(terrain(&recipe, Some(10)), terrain(&alone, None));
    assert_ne!(terrain(&recipe, Some(11)), terrain(&alone, None));
    assert_eq!(terrain(&recipe, Some(0)).min_max(), [0.0, 0.0]);
}

#[test]
fn a_cancelled_evaluation_leaves_no_stale_results() {
    let filter = || Step::new(RecursiveFilter { k: 0.3, ..Default::default() });
    let mut recipe = recipe(vec![faults(5), filter(), windy(200), filter(), faults(7)]);
    let mut evaluator = Evaluator::new();
    let inputs = Inputs::default();
    let cancelled = Progress::new();
    cancelled.cancel();
    assert_eq!(evaluator.evaluate(&recipe, grid(), None, &inputs, &cancelled), Err(Cancelled));
    let mut stopped = 0;
    for round in (0..40).step_by(3) {
        recipe.stack[0] = faults(6 + round);
        // Cancel at a different point of the stack every time.
        let progress = Progress::new();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..4000 * round).for_each(|_| std::hint::spin_loop());
                progress.cancel();
            });
            evaluator.evaluate(&recipe, grid(), None, &inputs, &progress)
        });
        stopped += u32::from(outcome.is_err());
        let found = evaluator.evaluate(&recipe, grid(), None, &inputs, &Progress::new()).expect("not cancelled");
        assert_eq!(*found, terrain(&recipe, None), "round {round}");
    }
    assert!(stopped > 0, "no evaluation was stopped");
}

#[test]
fn a_report_says_what_steps_above_change() {
    let pad = Pad { height_m: Some(50.0), size_m: Point { x_m: 800.0, z_m: 800.0 }, ..Pad::default() };
    let mut recipe = Recipe {
        stack: vec![Step::new(Faults { count: 20, ..Faults::default() }), Step::new(Pads { pads: vec![pad].into() })],
        ..Recipe::default()
    };
    let grid = Grid::new(recipe.world.extent(), 65, 65);
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let warning = |recipe: &Recipe| {
        let mut evaluator = Evaluator::new();
        evaluator.evaluate(recipe, grid, None, &inputs, &progress).expect("not cancelled");
        evaluator.reports(recipe, 1, &inputs, &progress).expect("not cancelled")[0].warning.clone()
    };
    assert_eq!(warning(&recipe), None);
    recipe.stack.push(Step::new(Faults { count: 1, displacement_m: 30.0, ..Faults::default() }));
    let text = warning(&recipe).expect("a warning");
    assert!(text.contains("steps above change it by up to 30 m"), "{text}");
    // A symmetry below averages the pad, which is off the centre, with the terrain opposite.
    let symmetry = Step::new(Symmetry { kind: Kind::Rotate2, ..Symmetry::default() });
    let centre_m = Point { x_m: 800.0, z_m: 800.0 };
    let pad = Pad { height_m: Some(100.0), size_m: Point { x_m: 400.0, z_m: 400.0 }, centre_m, ..Pad::default() };
    let mut stack = vec![symmetry, Step::new(Pads { pads: vec![pad.clone()].into() })];
    let recipe = Recipe { stack: stack.clone(), ..Recipe::default() };
    let text = warning(&recipe).expect("a warning");
    assert!(text.contains("it is averaged with its images, which changes it by up to 50 m"), "{text}");
    let extent = recipe.world.extent();
    let opposite = Point { x_m: extent.width_m - centre_m.x_m, z_m: extent.depth_m - centre_m.z_m };
    stack[1] = Step::new(Pads { pads: vec![pad.clone(), Pad { centre_m: opposite, ..pad }].into() });
    let text = warning(&Recipe { stack, ..recipe }).unwrap_or_default();
    assert!(!text.contains("averaged"), "{text}");
}

#[test]
fn without_a_cache_an_output_is_computed_before_the_terrain_below_it() {
    let rivers = Some(FaultRivers { years: 20_000.0, ..Default::default() });
    let mut stack = vec![faults(30), faults(20), Step::new(Faults { count: 40, rivers, ..Default::default() })];
    stack.push(Step::new(RecursiveFilter::default()));
    // The mask reads the terrain below the step that is computed before it.
    stack[2].settings.mask = vec![Mask { elevation_m: Band { min: 0.0, max: 1e4 }, ..Default::default() }].into();
    stack[2].settings.blend = Blend::Maximum;
    let recipe = recipe(stack);
    assert_eq!(step_ahead(&recipe, &recipe.placements(), grid()), Some(2));
    for position in [None, Some(0), Some(25), Some(50), Some(70)] {
        let cached = Evaluator::new().evaluate(&recipe, grid(), position, &Inputs::default(), &Progress::new());
        assert_eq!(terrain(&recipe, position), *cached.expect("not cancelled"), "{position:?}");
    }
    let stages = Stages { count: 4, ahead: Some(2) };
    let parts = [0, 1, 2, 3].map(|i| stages.of_step(i));
    assert_eq!(parts, [0.25..0.5, 0.5..0.75, 0.75..0.75, 0.75..1.0]);
    assert_eq!(Stages { count: 0, ahead: None }.share(0), 0.0);
}

#[test]
fn the_memory_estimate_counts_the_output_that_is_held_while_the_terrain_below_is_computed() {
    let mut masked = faults(20);
    masked.settings.mask = vec![Mask { source: MaskSource::Noise, ..Default::default() }; 3].into();
    let below = recipe(vec![faults(30), masked]);
    let mut both = below.clone();
    both.stack.push(windy(20));
    assert_eq!(step_ahead(&both, &both.placements(), grid()), Some(2));
    let [below, both] = [below, both].map(|recipe| memory::peak_maps(&recipe, grid()));
    assert!(both >= below + 1.0, "{both} maps, {below} without the step");
}
