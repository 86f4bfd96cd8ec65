//! The marks: what the engine takes beside the plain form of the same work, in one run on one machine.
//!
//! `cargo bench` prints the table; `cargo bench -- faults` the rows that have that word in their names. Absolute times wander from run to run; the ratios are what
//! counts. Repetitions of both sides are interleaved and the median is taken. Where the plain form would take too
//! long it is timed on fewer faults and scaled, which the table says.

#![allow(clippy::expect_used, clippy::panic, reason = "a measurement that cannot go on has no result")]

#[path = "naive.rs"]
mod naive;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use upthrust::engine::fault::{Fault, Profile, sum_of_faults};
use upthrust::engine::light::Light;
use upthrust::engine::operations::bsp_faults::{BspFaults, Tree};
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::recursive_filter::RecursiveFilter;
use upthrust::engine::operations::{Drawn, Operate};
use upthrust::engine::random::Stream;
use upthrust::engine::stack::{Evaluator, evaluate};
use upthrust::engine::texture::{Needs, Points, Scene, Surroundings, TextureRecipe, paint, paint_once};
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Monitor, Picture, Recipe};
use upthrust::files::build::load_inputs;
use upthrust::project::presets;

const WORLD: Extent = Extent { width_m: 8192.0, depth_m: 8192.0 };
const REPETITIONS: usize = 5;

fn main() {
    println!("{} threads in the pool; medians of {REPETITIONS}\n", rayon::current_num_threads());
    println!(
        "{:<44} {:>10} {:>9} {:>9} {:>8} {:>8} {:>7}",
        "work", "naive ms", "1 thread", "all", "ratio 1", "ratio", "floors"
    );
    let square = |side| Grid::new(WORLD, side, side);
    faults_row("1000 step faults, 1024²", square(1024), Profile::Step, 1000, 1000);
    faults_row("10,000 step faults, 4096²", square(4096), Profile::Step, 10_000, 100);
    trees_row("200 BSP trees of depth 5, 1024²", square(1024), 200);
    faults_row("1000 sine faults, 1024²", square(1024), Profile::Sine, 1000, 100);
    faults_row("1000 smooth faults, 1024²", square(1024), Profile::Smooth, 1000, 100);
    filter_row(square(1024));
    texture_row(square(1024));
    println!();
    let rows: [(&str, fn()); 4] = [
        ("growth of faults", fault_growth),
        ("first preset", first_preset),
        ("colour change", colour_change),
        ("animation", animation),
    ];
    rows.iter().filter(|(name, _)| is_wanted(name)).for_each(|(_, row)| row());
}

/// Whether the row is asked for.
fn is_wanted(name: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    words.peek().is_none() || words.any(|word| name.contains(&word))
}

fn milliseconds(work: &mut dyn FnMut()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Times the plain form (times `scale`), ours on one thread and on all, and copying the map once, interleaved.
fn row(name: &str, scale: f64, samples: usize, naive: &mut dyn FnMut(), ours: &mut (dyn FnMut() + Send)) {
    if !is_wanted(name) {
        return;
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let from = vec![1.0_f32; samples];
    let mut to = vec![0.0_f32; samples];
    let [mut plain, mut single, mut all, mut floor] = [const { Vec::new() }; 4];
    for _ in 0..REPETITIONS {
        plain.push(scale * milliseconds(naive));
        single.push(milliseconds(&mut || one.install(&mut *ours)));
        all.push(milliseconds(ours));
        floor.push(milliseconds(&mut || black_box(&mut to).copy_from_slice(black_box(&from))));
    }
    let [plain, single, all, floor] = [plain, single, all, floor].map(median);
    let name = if scale == 1.0 { name.to_string() } else { format!("{name} (naive on 1/{scale:.0})") };
    println!(
        "{name:<44} {plain:>10.1} {single:>9.2} {all:>9.2} {:>7.1}× {:>7.1}× {:>7.1}",
        plain / single,
        plain / all,
        all / floor
    );
}

fn drawn(profile: Profile, count: u32) -> Vec<Fault> {
    Faults { count, profile, ..Default::default() }
        .faults(WORLD, Stream::new(1, 0))
        .map(Drawn::into_lines)
        .unwrap_or_default()
}

fn faults_row(name: &str, grid: Grid, profile: Profile, count: u32, naive_count: u32) {
    let (faults, fewer) = (drawn(profile, count), drawn(profile, naive_count));
    row(
        name,
        f64::from(count) / f64::from(naive_count),
        grid.samples(),
        &mut || drop(black_box(naive::faults(grid, &fewer))),
        &mut || drop(black_box(sum_of_faults(grid, &faults, &Monitor::new()))),
    );
}

/// Ours draws the trees as well.
fn trees_row(name: &str, grid: Grid, count: u32) {
    let step = BspFaults { count, wind: None, ..Default::default() };
    let trees: Vec<Tree> = match step.faults(WORLD, Stream::new(1, 0)) {
        Some(Drawn::Trees(trees)) => trees.collect(),
        _ => Vec::new(),
    };
    let recipe = Recipe { stack: vec![upthrust::engine::Step::new(step)], ..Default::default() };
    row(name, 1.0, grid.samples(), &mut || drop(black_box(naive::trees(grid, &trees))), &mut || {
        drop(black_box(evaluate(&recipe, grid, None, &Inputs::default(), &Monitor::new())));
    });
}

fn rugged(grid: Grid) -> Heightfield {
    sum_of_faults(grid, &drawn(Profile::Step, 500), &Monitor::new()).unwrap_or(Heightfield::flat(grid))
}

fn filter_row(grid: Grid) {
    let land = rugged(grid);
    let filter = RecursiveFilter { k: 0.4, passes: 20, reference_samples: 1024, ..Default::default() };
    let (mut plain, mut ours) = (land.clone(), land);
    row(
        "20 passes of the recursive filter, 1024²",
        1.0,
        grid.samples(),
        &mut || naive::recursive_filter(plain.heights_mut(), grid.width(), 0.4, 20),
        &mut || {
            let _ = black_box(filter.on(grid).pass(&mut ours, &Monitor::new()));
        },
    );
}

fn texture_row(grid: Grid) {
    // The plain form casts no shadows.
    let light = Light { shadows: 0.0, ..Default::default() };
    let (land, recipe, size) = (rugged(grid), TextureRecipe::starter(), [1024, 1024]);
    row(
        "texture of 5 types, 1024²",
        1.0,
        grid.samples(),
        &mut || {
            drop(black_box(naive::texture(&naive::Canvas {
                land: &land,
                surroundings: &Surroundings::of(&land, Needs::of(&recipe, Some(&light)), &Monitor::new())
                    .unwrap_or_default(),
                recipe: &recipe,
                fixed_range_m: None,
                light: Some(&light),
                size,
            })));
        },
        &mut || {
            drop(black_box(paint_once(&land, &recipe, None, &Inputs::default(), Some(&light), size, &Monitor::new())));
        },
    );
}

/// What a fault costs as their number grows: flat or falling, if nothing is wasted.
fn fault_growth() {
    let grid = Grid::new(WORLD, 513, 513);
    for count in [10, 100, 1000, 10_000, 100_000] {
        let recipe = Recipe {
            stack: vec![upthrust::engine::Step::new(Faults { count, profile: Profile::Step, ..Default::default() })],
            ..Default::default()
        };
        let mut work = || drop(black_box(evaluate(&recipe, grid, None, &Inputs::default(), &Monitor::new())));
        let time = median((0..REPETITIONS).map(|_| milliseconds(&mut work)).collect());
        println!(
            "{:<44} {time:>10.2} ms, {:>8.2} µs a fault",
            format!("{count} step faults, 513²"),
            time * 1e3 / f64::from(count)
        );
    }
}

fn first() -> (Recipe, Grid) {
    let recipe = presets()[0].project().map(|project| project.recipe).unwrap_or_default();
    let grid = Grid::fitted(recipe.world.extent(), 513);
    (recipe, grid)
}

fn both_pictures(recipe: &Recipe, land: &Heightfield) {
    black_box(Picture::of_heights(land));
    let _ = black_box(paint_once(
        land,
        &recipe.texture,
        None,
        &Inputs::default(),
        Some(&recipe.light),
        [513, 513],
        &Monitor::new(),
    ));
}

/// A build of the first preset from nothing, with both pictures.
fn first_preset() {
    let (recipe, grid) = first();
    let mut work = || {
        if let Ok(land) = evaluate(&recipe, grid, None, &Inputs::default(), &Monitor::new()) {
            both_pictures(&recipe, &land);
        }
    };
    let time = median((0..REPETITIONS).map(|_| milliseconds(&mut work)).collect());
    println!("{:<44} {time:>10.2} ms", "first preset from nothing and both pictures, 513²");
}

/// Another colour on a land that is there: only the picture is painted anew.
fn colour_change() {
    let (mut recipe, grid) = first();
    let monitor = Monitor::new();
    let (Ok(inputs), Ok(land)) =
        (load_inputs(&recipe, &BTreeMap::new()), evaluate(&recipe, grid, None, &Inputs::default(), &monitor))
    else {
        return;
    };
    let light = recipe.light.clone();
    let needs = |recipe: &Recipe| Needs::of(&recipe.texture, Some(&light));
    let mut seen = Vec::new();
    for _ in 0..REPETITIONS {
        let begun = Instant::now();
        let _ = black_box(Surroundings::of(&land, needs(&recipe), &monitor));
        seen.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    println!("{:<44} {:>10.2} ms", "shadows of the first preset, 513²", median(seen));
    let Ok(surroundings) = Surroundings::of(&land, needs(&recipe), &monitor) else { return };
    for textured in [true, false] {
        let mut blue = 0;
        let mut work = || {
            blue += 1;
            recipe.texture.types[0].colour.0[2] = blue;
            if !textured {
                recipe.texture.types.iter_mut().for_each(|ground| ground.texture = None);
            }
            let (land, surroundings, recipe) = (&land, &surroundings, &recipe.texture);
            let scene = Scene { land, surroundings, recipe, fixed_range_m: None, inputs: &inputs };
            let _ = black_box(paint(scene, Some(&light), Points::Pixels([513, 513]), &monitor));
        };
        let time = median((0..REPETITIONS).map(|_| milliseconds(&mut work)).collect());
        let name = if textured { "with its textures" } else { "colours alone" };
        println!("{:<44} {time:>10.2} ms", format!("a colour of the first preset, 513², {name}"));
    }
}

/// The first preset while it rises, one iteration a frame, with both pictures.
fn animation() {
    let (recipe, grid) = first();
    let mut evaluator = Evaluator::new();
    let [mut lands, mut frames] = [const { Vec::new() }; 2];
    for position in 0..=recipe.iterations() {
        let begun = Instant::now();
        let land = evaluator.evaluate(&recipe, grid, Some(position), &Inputs::default(), &Monitor::new());
        lands.push(begun.elapsed().as_secs_f64() * 1e3);
        if let Ok(land) = land {
            both_pictures(&recipe, &land);
        }
        frames.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    for (name, times) in [("land alone", lands), ("with both pictures", frames)] {
        let worst = times.iter().copied().fold(0.0, f64::max);
        println!(
            "{:<44} {:>10.2} ms median, {worst:.2} ms at worst",
            format!("one iteration of the first preset, {name}"),
            median(times)
        );
    }
    let recipe = Recipe {
        stack: vec![upthrust::engine::Step::new(Faults {
            count: 10_000,
            profile: Profile::Step,
            ..Default::default()
        })],
        ..Default::default()
    };
    let mut evaluator = Evaluator::new();
    let mut frame = |position| {
        milliseconds(&mut || {
            if let Ok(land) = evaluator.evaluate(&recipe, grid, Some(position), &Inputs::default(), &Monitor::new()) {
                both_pictures(&recipe, &land);
            }
        })
    };
    let times: Vec<f64> = [9000, 9001, 9002, 4711, 9999, 17, 8000, 8001].into_iter().map(&mut frame).collect();
    println!("{:<44} {:>10.2} ms median", "one of 10,000 step faults and pictures, 513²", median(times));
}
