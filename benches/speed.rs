//! Times the engine and naive implementations of the same algorithms in one run.
//!
//! `cargo bench` prints the table; `cargo bench -- faults` prints the rows with that word in their names; `cargo bench
//! -- build` and `-- memory` run the measurements of builds.rs. Times vary between runs, so compare the ratios. Both
//! implementations run alternately, fast ones many times, and the table has the medians. The naive ones are timed as
//! compiled for any processor and for the vector instructions of this one. If the naive one would take
//! too long, it is timed with fewer faults and the time is scaled; the table marks these rows.

#![allow(clippy::expect_used, clippy::panic, reason = "a measurement that cannot go on has no result")]

#[path = "builds.rs"]
mod builds;
#[path = "naive.rs"]
mod naive;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fearless_simd::{Level, dispatch};
use upthrust::engine::analysis::Summary;
use upthrust::engine::fault::{Fault, Profile, sum_of_faults};
use upthrust::engine::flow::Outlets;
use upthrust::engine::level::{Level as PlayedLevel, Marker};
use upthrust::engine::light::Light;
use upthrust::engine::map_view::MapView;
use upthrust::engine::operations::bsp_faults::BspFaults;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::fluvial_erosion::{FluvialErosion, UpliftBy};
use upthrust::engine::operations::noise::Noise;
use upthrust::engine::operations::recursive_filter::RecursiveFilter;
use upthrust::engine::operations::sculpt::{Sculpt, Stroke};
use upthrust::engine::operations::{AnyOperation, FaultSequence, Operation, Tree};
use upthrust::engine::parameters::{Band, Point, TextureName};
use upthrust::engine::play::{MeasuredTerrain, Measures, PlayMap, Report};
use upthrust::engine::random::Stream;
use upthrust::engine::scatter::{Region, ScatterLayer, density_per_m2, places, scatter};
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::{
    AnalysisMap, MapTerrain, PaintOnce, Points, RequiredMaps, SurfaceMaps, Swatch, TerrainType, TextureRecipe,
    TextureSettings, TextureView, analysis_map, paint_once,
};
use upthrust::engine::{Extent, Grid, Heightfield, Image, Inputs, Progress, Recipe, Step};
use upthrust::project::presets;
use upthrust::worker::{InputFiles, PreviewRequest, Previewer};

const WORLD: Extent = Extent { width_m: 8192.0, depth_m: 8192.0 };
const REPETITIONS: usize = 5;

/// A measurement: its name, by which it is selected, and the function that measures and prints it.
type Row = (&'static str, fn(&str));

/// The engine compared with the naive implementations.
const RATIOS: [Row; 12] = [
    ("1000 step faults, 1024²", |name| faults_row(name, square(1024), Profile::Step, 1000, 1000)),
    ("10,000 step faults, 4096²", |name| faults_row(name, square(4096), Profile::Step, 10_000, 100)),
    ("200 BSP trees of depth 5, 1024²", |name| trees_row(name, square(1024), 200)),
    ("1000 sine faults, 1024²", |name| faults_row(name, square(1024), Profile::Sine, 1000, 100)),
    ("1000 smooth faults, 1024²", |name| faults_row(name, square(1024), Profile::Smooth, 1000, 100)),
    ("20 passes of directional smoothing, 1024²", |name| filter_row(name, square(1024))),
    ("texture of 5 types, 1024²", |name| {
        texture_row(name, square(1024), &TextureRecipe::starter(), &BTreeMap::new());
    }),
    ("texture of 8 types with tiles, 1024²", |name| {
        let (recipe, tiles) = tiled();
        texture_row(name, square(1024), &recipe, &tiles);
    }),
    ("normals, 1024²", |name| normals_row(name, square(1024))),
    ("statistics and histogram, 1024²", |name| measures_row(name, square(1024))),
    ("PNG encoders, 16 bits, 4096²", builds::encode_heights),
    ("PNG encoders, RGB, 4096²", builds::encode_colours),
];

const PREVIEWS: [Row; 4] = [
    ("colour change", colour_change),
    ("slider moved", slider),
    ("animation and scrub", animation),
    ("brush dab", brush_dab),
];

const PLAY: [Row; 2] = [("play", play), ("scatter", scattered)];

const RIVERS: [Row; 2] =
    [("river step, 257²", |name| river_step(name, 257)), ("river step, 1025²", |name| river_step(name, 1025))];

const GROWTH: [Row; 1] = [("growth of faults", fault_growth)];

const BUILDS: [Row; 2] = [("build of large maps", builds::large), ("measured and estimated memory", builds::memory)];

fn main() {
    println!("{} threads in the pool; medians of at least {REPETITIONS} times", rayon::current_num_threads());
    let columns = format!(
        "{:<44} {:>10} {:>10} {:>9} {:>9} {:>8} {:>8} {:>8} {:>7}",
        "work", "naive ms", "with AVX2", "1 thread", "all", "scaling", "ratio", "to AVX2", "copies"
    );
    measure(&columns, &RATIOS);
    measure("the editor's preview, 513², from request to both images:", &PREVIEWS);
    measure("measures of a level with two teams, after a marker moved:", &PLAY);
    measure("a step of fluvial erosion, with routing, depressions and creep:", &RIVERS);
    measure("faults as their number grows:", &GROWTH);
    measure("builds by the program itself:", &BUILDS);
}

/// Runs the selected rows and prints them below the heading.
fn measure(heading: &str, rows: &[Row]) {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let wanted: Vec<&Row> = rows.iter().filter(|(name, _)| is_wanted(name)).collect();
    if !wanted.is_empty() {
        println!("\n{heading}");
    }
    wanted.iter().for_each(|(name, row)| row(name));
}

fn square(side: usize) -> Grid {
    Grid::new(WORLD, side, side)
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

/// Faster work is repeated for this long, because the first run after a pause is slower.
const MIN_DURATION: Duration = Duration::from_millis(60);

/// Times the work repeatedly, at least once.
fn milliseconds_each(work: &mut dyn FnMut(), times: &mut Vec<f64>) {
    let begun = Instant::now();
    loop {
        times.push(milliseconds(work));
        if begun.elapsed() > MIN_DURATION {
            return;
        }
    }
}

/// Times the naive implementation (multiplied by `scale`) as compiled for any processor and for the vector instructions
/// of this one, the engine on one thread and on all, and a copy of the map, alternately.
#[inline(always)]
fn row(name: &str, scale: f64, samples: usize, mut naive: impl FnMut(), ours: &mut (dyn FnMut() + Send)) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let from = vec![1.0_f32; samples];
    let mut to = vec![0.0_f32; samples];
    let [mut plain, mut avx2, mut single, mut all, mut floor] = [const { Vec::new() }; 5];
    for _ in 0..REPETITIONS {
        milliseconds_each(&mut naive, &mut plain);
        milliseconds_each(&mut || dispatch!(Level::new(), _vectors => naive()), &mut avx2);
        milliseconds_each(&mut || one.install(&mut *ours), &mut single);
        milliseconds_each(ours, &mut all);
        milliseconds_each(&mut || black_box(&mut to).copy_from_slice(black_box(&from)), &mut floor);
    }
    let [plain, avx2, single, all, floor] = [plain, avx2, single, all, floor].map(median);
    let [plain, avx2] = [plain, avx2].map(|naive| scale * naive);
    let name = if scale == 1.0 { name.to_string() } else { format!("{name} (naive on 1/{scale:.0})") };
    println!(
        "{name:<44} {plain:>10.1} {avx2:>10.1} {single:>9.2} {all:>9.2} {:>7.2}× {:>7.1}× {:>7.1}× {:>7.1}",
        single / all,
        plain / all,
        avx2 / all,
        all / floor
    );
}

fn drawn(profile: Profile, count: u32) -> Vec<Fault> {
    Faults { count, profile, ..Default::default() }
        .faults(WORLD, Stream::new(1, 0))
        .map(FaultSequence::into_lines)
        .unwrap_or_default()
}

fn faults_row(name: &str, grid: Grid, profile: Profile, count: u32, naive_count: u32) {
    let (faults, fewer) = (drawn(profile, count), drawn(profile, naive_count));
    row(
        name,
        f64::from(count) / f64::from(naive_count),
        grid.samples(),
        #[inline(always)]
        || drop(black_box(naive::faults(grid, &fewer))),
        &mut || drop(black_box(sum_of_faults(grid, &faults, &Progress::new()))),
    );
}

/// The engine's time includes the generation of the trees.
fn trees_row(name: &str, grid: Grid, count: u32) {
    let step = BspFaults { count, wind: None, ..Default::default() };
    let trees: Vec<Tree> = match step.faults(WORLD, Stream::new(1, 0)) {
        Some(FaultSequence::Trees(trees)) => trees.collect(),
        _ => Vec::new(),
    };
    let recipe = Recipe { stack: vec![upthrust::engine::Step::new(step)], ..Default::default() };
    row(
        name,
        1.0,
        grid.samples(),
        #[inline(always)]
        || drop(black_box(naive::trees(grid, &trees))),
        &mut || {
            drop(black_box(evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new())));
        },
    );
}

fn rugged(grid: Grid) -> Heightfield {
    sum_of_faults(grid, &drawn(Profile::Step, 500), &Progress::new()).unwrap_or(Heightfield::flat(grid))
}

fn filter_row(name: &str, grid: Grid) {
    let terrain = rugged(grid);
    let filter = RecursiveFilter { k: 0.4, passes: 20, reference_samples: 1024, ..Default::default() };
    let (mut plain, mut ours) = (terrain.clone(), terrain);
    row(
        name,
        1.0,
        grid.samples(),
        #[inline(always)]
        || naive::recursive_filter(plain.heights_mut(), grid.width(), 0.4, 20),
        &mut || {
            let _ = black_box(filter.prepared(grid).pass(&mut ours, &Progress::new()));
        },
    );
}

/// Eight types in elevation bands with textures that are fine enough to matter at the measured size.
fn tiled() -> (TextureRecipe, BTreeMap<TextureName, Image>) {
    let mut rng = Stream::new(5, 0).at(0);
    let mut tile = || {
        let pixels =
            (0..1024 * 1024).map(|_| [0, 1, 2, 3].map(|c| if c < 3 { (rng.unit() * 256.0) as u8 } else { 255 }));
        Image { width: 1024, height: 1024, pixels: pixels.collect() }
    };
    let name = |i: usize| TextureName(format!("tile {i}"));
    let material = |i: usize| TerrainType {
        name: format!("Ground {i}"),
        texture: Some(name(i)),
        tint: 0.0,
        repeat_m: 300.0 + 20.0 * i as f64,
        elevation: Band { min: 12.5 * i as f64, max: 12.5 * (i + 1) as f64 },
        slope_release_deg: 20.0,
        ..Default::default()
    };
    let recipe = TextureRecipe { settings: TextureSettings::default(), types: (0..8).map(material).collect() };
    (recipe, (0..8).map(|i| (name(i), tile())).collect())
}

fn texture_row(name: &str, grid: Grid, recipe: &TextureRecipe, tiles: &BTreeMap<TextureName, Image>) {
    // The naive implementation has no shadows.
    let light = Light { shadows: 0.0, ..Default::default() };
    let (terrain, size) = (rugged(grid), [1024, 1024]);
    let swatches = tiles.iter().map(|(name, tile)| (name.clone(), Arc::new(Swatch::new(tile.clone())))).collect();
    let inputs = Inputs { swatches, ..Default::default() };
    row(
        name,
        1.0,
        grid.samples(),
        #[inline(always)]
        || {
            drop(black_box(naive::texture(&naive::TextureInput {
                terrain: &terrain,
                surface_maps: &SurfaceMaps::of(&terrain, RequiredMaps::of(recipe, Some(&light)), &Progress::new())
                    .unwrap_or_default(),
                recipe,
                tiles,
                fixed_range_m: None,
                light: Some(&light),
                size,
            })));
        },
        &mut || {
            let paint = PaintOnce::new(recipe, &inputs, Some(&light));
            drop(black_box(paint_once(&terrain, paint, size, &Progress::new())));
        },
    );
}

fn normals_row(name: &str, grid: Grid) {
    let terrain = rugged(grid);
    row(
        name,
        1.0,
        grid.samples(),
        #[inline(always)]
        || drop(black_box(naive::normals(&terrain))),
        &mut || {
            drop(black_box(analysis_map(
                &MapTerrain::complete(&terrain),
                AnalysisMap::Normals,
                Points::Samples,
                255,
                &Progress::new(),
            )));
        },
    );
}

fn measures_row(name: &str, grid: Grid) {
    let terrain = rugged(grid);
    row(
        name,
        1.0,
        grid.samples(),
        #[inline(always)]
        || drop(black_box(naive::statistics(&terrain, 64))),
        &mut || {
            drop(black_box(Summary::of(&terrain, 64)));
        },
    );
}

/// The time of a step of fluvial erosion where the simulation has all samples of the map, without and with deposition
/// and a critical slope.
fn river_step(name: &str, samples: usize) {
    /// The first ones take longer, while most depressions are left.
    const STEPS: u32 = 30;
    let pools = [1, rayon::current_num_threads()]
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
    for (law, deposition, critical_slope_deg) in
        [("", 0.0, None), (" with deposition and critical slope", 0.5, Some(36.0))]
    {
        let mut milliseconds_of = |count: u32| {
            let erosion = FluvialErosion {
                count,
                erodibility: 20.0,
                uplift_mm: 1.0,
                uplift_by: UpliftBy::Uniform,
                area_exponent: 0.4,
                creep: 0.01,
                outlets: Outlets::Border,
                reference_samples: u32::try_from(samples).expect("few"),
                deposition,
                critical_slope_deg,
                ..Default::default()
            };
            let noise = Noise { amplitude_m: 1.0, wavelength_m: 100.0, ..Default::default() };
            let stack = vec![Step::new(noise), Step::new(erosion)];
            let recipe = Recipe { stack, ..Default::default() };
            let mut work =
                || drop(black_box(evaluate(&recipe, square(samples), None, &Inputs::default(), &Progress::new())));
            pools.each_ref().map(|pool| pool.install(|| milliseconds(&mut work)))
        };
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..REPETITIONS {
            let [without, with] = [1, 1 + STEPS].map(&mut milliseconds_of);
            for (times, (without, with)) in times.iter_mut().zip(without.into_iter().zip(with)) {
                times.push((with - without) / f64::from(STEPS));
            }
        }
        let [one, all] = times.map(median);
        let ns = |time: f64| time * 1e6 / (samples * samples) as f64;
        println!(
            "{:<60} {one:>8.2} ms on 1 thread, {all:>8.2} on all; {:>6.1} and {:>6.1} ns a sample",
            format!("{name}{law}"),
            ns(one),
            ns(all)
        );
    }
}

/// The time per fault as their number grows; it should not rise.
fn fault_growth(_: &str) {
    let grid = Grid::new(WORLD, 513, 513);
    for count in [10, 100, 1000, 10_000, 100_000] {
        let recipe = Recipe {
            stack: vec![upthrust::engine::Step::new(Faults { count, profile: Profile::Step, ..Default::default() })],
            ..Default::default()
        };
        let mut work = || drop(black_box(evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new())));
        let time = median((0..REPETITIONS).map(|_| milliseconds(&mut work)).collect());
        println!(
            "{:<44} {time:>10.2} ms, {:>8.2} µs a fault",
            format!("{count} step faults, 513²"),
            time * 1e3 / f64::from(count)
        );
    }
}

/// The preview worker of the editor, with the images of both views and the analysis, timed from request to result.
struct Preview {
    previewer: Previewer,
    woken: Receiver<()>,
    /// Samples along the longer side.
    samples: usize,
}

/// Samples along the longer side of the editor's preview.
const PREVIEW: usize = 513;
/// The same for the presets with rivers.
const RIVERS_PREVIEW: usize = 257;

impl Preview {
    fn start(samples: usize) -> Self {
        let (wake, woken) = channel();
        // The receiver may be gone.
        let previewer = Previewer::start(Arc::new(move || wake.send(()).unwrap_or_default())).expect("threads");
        Self { previewer, woken, samples }
    }

    /// Milliseconds until the final result.
    fn ask(&self, recipe: &Recipe, position: u32, animated: bool) -> f64 {
        self.watch(recipe, position, animated)[1]
    }

    /// Waits until the thread has nothing to do, as between two strokes.
    fn rest(&self) {
        while self.previewer.fraction().is_some() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Milliseconds until the first result, which can be a coarse one, and until the final one.
    fn watch(&self, recipe: &Recipe, position: u32, animated: bool) -> [f64; 2] {
        let (recipe, shown) = (Arc::new(recipe.clone()), TextureView::Lit);
        let request = PreviewRequest {
            recipe,
            files: InputFiles::new(),
            samples: self.samples,
            position,
            map_view: MapView::default(),
            texture_view: shown,
            reported_step: None,
            is_animated: animated,
        };
        let begun = Instant::now();
        let request = self.previewer.request(request);
        let mut first = None;
        loop {
            self.woken.recv().expect("the thread lives");
            match self.previewer.take() {
                // The complete preview before this one comes a second time when all is done that follows it.
                Some(Ok(preview)) if Arc::ptr_eq(&preview.request, &request) => {
                    let now = begun.elapsed().as_secs_f64() * 1e3;
                    let first = *first.get_or_insert(now);
                    if !preview.coarse {
                        return [first, now];
                    }
                }
                Some(Err(error)) => panic!("{error:?}"),
                _ => (),
            }
        }
    }
}

fn named(name: &str) -> Recipe {
    let project = presets().iter().find(|preset| preset.name == name).and_then(|preset| preset.project().ok());
    project.map(|project| project.recipe).unwrap_or_default()
}

fn first() -> Recipe {
    named(presets()[0].name)
}

/// The default preset, with rivers between the faults, and one with faults and filters only.
const PRESETS: [&str; 2] = ["alpine-range", "desert-mesa"];

fn print(name: &str, times: Vec<f64>) {
    let worst = times.iter().copied().fold(0.0, f64::max);
    println!("{name:<60} {:>8.2} ms median, {worst:.2} ms maximum", median(times));
}

/// Prints the results of [`Preview::watch`], with the coarse ones if there were any.
fn print_watched(name: &str, watched: &[[f64; 2]]) {
    if watched.iter().any(|[first, full]| first < full) {
        print(&format!("{name}: first images"), watched.iter().map(|[first, _]| *first).collect());
    }
    print(name, watched.iter().map(|[_, full]| *full).collect());
}

/// Repetitions of the editor rows.
const EDITOR_REPETITIONS: u32 = 31;

/// A colour change: only the texture is painted again.
fn colour_change(_: &str) {
    for textured in [true, false] {
        let mut recipe = first();
        if !textured {
            recipe.texture.types.iter_mut().for_each(|material| material.texture = None);
        }
        let preview = Preview::start(PREVIEW);
        let mut ask = |blue| {
            recipe.texture.types[0].colour.0[2] = blue;
            preview.ask(&recipe, u32::MAX, false)
        };
        ask(0);
        let name = if textured { "with its textures" } else { "colours alone" };
        print(&format!("a colour of the first preset, {name}"), (1..=31).map(ask).collect());
    }
}

/// A slider drag: the displacement of each fault step in turn, and the seed of the recipe.
fn slider(_: &str) {
    PRESETS.into_iter().for_each(slider_of);
}

fn slider_of(name: &str) {
    let mut recipe = named(name);
    let preview = Preview::start(PREVIEW);
    preview.ask(&recipe, u32::MAX, false);
    let mut all = Vec::new();
    for step in 0..recipe.stack.len() {
        let mut ask = |nudge: u32| {
            let step = &mut recipe.stack[step];
            match &mut step.operation {
                AnyOperation::Faults(faults) => faults.displacement_m *= 1.0 + 1e-3 * f64::from(nudge),
                AnyOperation::RecursiveFilter(rain) => rain.k += 1e-3,
                AnyOperation::Clamp(clamp) => clamp.softness_m += 0.1,
                _ => return None,
            }
            Some(preview.watch(&recipe, u32::MAX, false))
        };
        let times: Vec<[f64; 2]> = (1..=9).filter_map(&mut ask).collect();
        if !times.is_empty() {
            all.extend_from_slice(&times);
            print_watched(&format!("  a slider of \"{}\"", recipe.stack[step].title()), &times);
        }
    }
    print_watched(&format!("a slider of {name}, any step"), &all);
    let mut ask = |seed: u32| {
        recipe.seed = seed;
        preview.watch(&recipe, u32::MAX, false)
    };
    print_watched(
        &format!("another seed of {name}: all steps"),
        &(2..2 + EDITOR_REPETITIONS).map(&mut ask).collect::<Vec<_>>(),
    );
}

/// A dab of the brush onto strokes that are there already.
fn brush_dab(_: &str) {
    for (samples, strokes) in [(1025, 500), (4097, 500), (1025, 10_000)] {
        let mut recipe = first();
        let side_m = recipe.world.width_m;
        let mut random = Stream::new(7, 7).at(0);
        let mut place = || Point { x_m: random.unit() * side_m, z_m: random.unit() * side_m };
        let dab = |points: Vec<Point>| Stroke { points_m: points.into(), radius_m: 80.0, ..Default::default() };
        let known: Vec<Stroke> = (0..strokes).map(|_| dab(vec![place()])).collect();
        recipe.stack.push(Step::new(Sculpt { strokes: known.into() }));
        let preview = Preview::start(samples);
        preview.ask(&recipe, u32::MAX, false);
        let times = (0..EDITOR_REPETITIONS).map(|_| {
            let Some(AnyOperation::Sculpt(sculpt)) = recipe.stack.last_mut().map(|step| &mut step.operation) else {
                unreachable!("pushed above");
            };
            sculpt.strokes.push(dab(vec![place()]));
            let watched = preview.watch(&recipe, u32::MAX, false);
            preview.rest();
            watched
        });
        print_watched(&format!("a dab onto {strokes} strokes, {samples}²"), &times.collect::<Vec<_>>());
    }
}

/// The measures that follow a marker while it is dragged, each from nothing, as maps with their colours.
fn play(_: &str) {
    let recipe = first();
    let spawn = |team: &str, share: f64| Marker {
        name: team.into(),
        team: team.into(),
        at_m: Point { x_m: share * recipe.world.width_m, z_m: 0.5 * recipe.world.depth_m },
        ..Marker::default()
    };
    let level = PlayedLevel { markers: vec![spawn("red", 0.25), spawn("blue", 0.7)].into(), ..PlayedLevel::default() };
    let progress = Progress::new();
    for samples in [257, 1025] {
        let grid = Grid::fitted(recipe.world.extent(), samples);
        let terrain = evaluate(&recipe, grid, None, &Inputs::default(), &progress).expect("not cancelled");
        for (name, map) in [
            ("reach", PlayMap::Reach(0)),
            ("territory", PlayMap::Territory),
            ("visibility", PlayMap::Viewshed(0)),
            ("exposure", PlayMap::Exposure),
        ] {
            let measured = (0..EDITOR_REPETITIONS).map(|_| {
                milliseconds(&mut || {
                    let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
                    black_box(map.overlay(&measures)).expect("not cancelled");
                })
            });
            print(&format!("{name}, {samples}²"), measured.collect());
        }
        let measured = (0..EDITOR_REPETITIONS).map(|_| {
            milliseconds(&mut || {
                let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
                black_box(Report::of(&measures)).expect("not cancelled");
            })
        });
        print(&format!("all measures, {samples}²"), measured.collect());
    }
}

/// A million places, alone and with what decides which are taken, on 257² samples.
fn scattered(_: &str) {
    let spacing_m = 6.0;
    let side_m = (1e6 / density_per_m2(spacing_m)).sqrt();
    let region = Region { from_m: [0.0; 2], to_m: [side_m; 2] };
    let progress = Progress::new();
    let times = (0..REPETITIONS).map(|_| {
        milliseconds(&mut || drop(black_box(places(spacing_m, 1, region, &progress).expect("not cancelled"))))
    });
    print("a million places", times.collect());
    let mut recipe = first();
    (recipe.world.width_m, recipe.world.depth_m) = (side_m, side_m);
    let layer = ScatterLayer { spacing_m, align: 1.0, ..ScatterLayer::default() };
    recipe.scatter = vec![layer].into();
    let grid = Grid::fitted(recipe.world.extent(), 257);
    let terrain = evaluate(&recipe, grid, None, &Inputs::default(), &progress).expect("not cancelled");
    let times = (0..REPETITIONS).map(|_| {
        let inputs = Inputs::default();
        milliseconds(&mut || drop(black_box(scatter(&recipe, &terrain, &inputs, &progress).expect("not cancelled"))))
    });
    print("a million things, aligned", times.collect());
}

/// Playback, one iteration per frame, and scrubbing in 10,000 iterations.
fn animation(_: &str) {
    let preview = Preview::start(PREVIEW);
    for name in PRESETS {
        let recipe = named(name);
        let watched: Vec<_> =
            (0..=recipe.iterations()).map(|position| preview.watch(&recipe, position, true)).collect();
        print_watched(&format!("one animated iteration of {name}"), &watched);
    }
    // Rivers after every fifth fault, and after every fault of the preset, which also needs ambient occlusion.
    let faults = Faults { count: 500, rivers: Some(Default::default()), ..Default::default() };
    let plain = Recipe { stack: vec![upthrust::engine::Step::new(faults)], ..Default::default() };
    for (name, recipe) in [("500 faults with rivers", plain), ("young-fault-range", named("young-fault-range"))] {
        let preview = Preview::start(RIVERS_PREVIEW);
        let watched: Vec<_> =
            (0..=recipe.iterations()).map(|position| preview.watch(&recipe, position, true)).collect();
        print_watched(&format!("one animated iteration of {name}, {RIVERS_PREVIEW}²"), &watched);
    }
    let preview = Preview::start(PREVIEW);
    let step = |count| upthrust::engine::Step::new(Faults { count, profile: Profile::Step, ..Default::default() });
    let recipe = Recipe { stack: vec![step(10_000)], ..Default::default() };
    preview.ask(&recipe, 1, true);
    print(
        "one animated iteration of 10,000 faults",
        (5000..5200).map(|position| preview.ask(&recipe, position, true)).collect(),
    );
    let places = (0..EDITOR_REPETITIONS).map(|i| (i * 6151 + 977) % 10_000);
    print("a scrub anywhere in 10,000 faults", places.map(|position| preview.ask(&recipe, position, false)).collect());
}
