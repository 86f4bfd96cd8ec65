//! Progress rises from 0 to 1 and never falls.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common;
use upthrust::engine::light::Light;
use upthrust::engine::mask::{Mask, MaskSource};
use upthrust::engine::operations::AnyOperation;
use upthrust::engine::parameters::Limits;
use upthrust::engine::stack::Evaluator;
use upthrust::engine::texture::{
    AnalysisMap, MapTerrain, PaintInput, PaintOnce, PixelRegion, Points, RequiredMaps, SurfaceMaps, TextureRecipe,
    analysis_map, paint, paint_once, weight_maps,
};
use upthrust::engine::{Extent, Grid, Heightfield, Progress, Recipe};
use upthrust::files::formats::image;

/// The values of a job's progress as another thread observes them, without repetitions.
fn watched(job: impl FnOnce(&Progress)) -> Vec<f32> {
    let (progress, is_done) = (Progress::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = vec![progress.fraction()];
            loop {
                // Read before the progress, so that the last value is observed.
                let is_last = is_done.load(Ordering::Acquire);
                let fraction = progress.fraction();
                if seen.last() != Some(&fraction) {
                    seen.push(fraction);
                }
                if is_last {
                    break;
                }
                // Leaves the processor to the job.
                std::thread::yield_now();
            }
            seen
        });
        job(&progress);
        is_done.store(true, Ordering::Release);
        watcher.join().expect("no panic")
    })
}

#[track_caller]
fn assert_rises(name: &str, seen: &[f32]) {
    let fall = seen.windows(2).find(|pair| pair[0] > pair[1]);
    assert!(fall.is_none(), "{name}: from {fall:?}");
    assert!(seen.iter().all(|fraction| (0.0..=1.0).contains(fraction)), "{name}: {seen:?}");
}

#[test]
fn progress_of_operations_rises() {
    for operation in common::operations() {
        let key = operation.key();
        let recipe = Recipe { stack: common::on_fault_terrain(operation, 60), ..Default::default() };
        let [coarse, fine] = [257, 513].map(|samples| Grid::fitted(recipe.world.extent(), samples));
        let works_on = |grid| recipe.stack.iter().all(|step| step.operation.working_grid(grid) == grid);
        // Also larger than the grid on which the operation works, if it is refined.
        for grid in [coarse, fine].into_iter().filter(|grid| *grid == coarse || !works_on(fine)) {
            // Uncached, and then continued from the cache.
            let mut evaluator = Evaluator::new();
            for position in [Some(recipe.iterations() / 2), None] {
                let seen = watched(|progress| {
                    let terrain = evaluator.evaluate(&recipe, grid, position, common::inputs(), progress);
                    assert!(terrain.is_ok(), "not cancelled");
                });
                assert_rises(&format!("{key} at {position:?}, {} samples wide", grid.width()), &seen);
            }
        }
    }
}

#[test]
fn progress_of_masked_steps_rises() {
    for source in [MaskSource::Slope, MaskSource::Rivers, MaskSource::Wetness, MaskSource::Sediment] {
        let mut recipe =
            Recipe { stack: common::on_fault_terrain(AnyOperation::all()[0].clone(), 60), ..Default::default() };
        for step in &mut recipe.stack {
            step.settings.mask = vec![Mask { source, ..Default::default() }].into();
        }
        let grid = Grid::fitted(recipe.world.extent(), 513);
        let seen = watched(|progress| {
            let terrain = Evaluator::new().evaluate(&recipe, grid, None, common::inputs(), progress);
            assert!(terrain.is_ok(), "not cancelled");
        });
        assert_rises(&format!("{source:?}"), &seen);
    }
}

/// With a terrain above the resolution of the surface maps, and terrain types that need all of them.
#[test]
fn progress_of_painting_and_maps_rises() {
    let grid = Grid::new(Extent { width_m: 8192.0, depth_m: 8192.0 }, 601, 601);
    let terrain = Heightfield::from_fn(grid, |c, r| (c * r % 977) as f32);
    let mut recipe = TextureRecipe::starter();
    recipe.types[0].humidity = Some(Limits { min: 0.4, max: 1.0, release: 0.2 });
    recipe.types[1].shadow = Some(Limits { min: 0.2, max: 1.0, release: 0.2 });
    let (light, inputs) = (Light { occlusion: 0.5, ..Default::default() }, common::inputs());
    let seen = watched(|progress| {
        let painting = paint_once(&terrain, PaintOnce::new(&recipe, inputs, Some(&light)), [700, 500], progress);
        assert!(painting.is_ok(), "not cancelled");
    });
    assert_rises("painting", &seen);
    assert!(seen.iter().any(|fraction| *fraction > 0.0 && *fraction < 0.5), "no progress during the surface maps");
    let needs = RequiredMaps::of(&recipe, None);
    let surface_maps = &SurfaceMaps::of(&terrain, needs, &Progress::new()).expect("not cancelled");
    let input = PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs };
    let weighing =
        |progress: &Progress| assert!(weight_maps(input, Points::Samples, 255, progress).is_ok(), "not cancelled");
    assert_rises("weights", &watched(weighing));
    for what in AnalysisMap::ALL {
        let charting = |progress: &Progress| {
            assert!(
                analysis_map(&MapTerrain::complete(&terrain), what, Points::Pixels([700, 500]), 255, progress).is_ok(),
                "not cancelled"
            );
        };
        assert_rises(what.key(), &watched(charting));
    }
    // Several strips, each painted and encoded.
    let size = [1000, 7000];
    let seen = watched(|progress| {
        let strip = |rows: Range<usize>| {
            let part = PixelRegion { full_size: size, origin: [0, rows.start], size: [size[0], rows.len()] };
            paint(input, None, Points::PixelRegion(part), progress).map(|painted| painted.image)
        };
        let written = image::paint_and_write(&mut std::io::empty(), Path::new("a.png"), size, None, strip, progress);
        assert_eq!(written, Ok(()));
    });
    assert_rises("a painting in strips", &seen);
    assert!(seen.last().is_some_and(|fraction| *fraction == 1.0), "{:?}", seen.last());
}
