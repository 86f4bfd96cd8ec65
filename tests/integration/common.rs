//! Inputs, recipes and helpers shared by the tests.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use proptest::prelude::ProptestConfig;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::heightmap::Heightmap;
use upthrust::engine::operations::stamps::Stamp;
use upthrust::engine::parameters::{FileName, Kind, TextureName};
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::{Swatch, TextureRecipe};
use upthrust::engine::{
    AnyOperation, Extent, Grid, Heightfield, Image, Inputs, Progress, Raster, Recipe, SampleScale, Step,
};
use upthrust::files::export::load_inputs;
use upthrust::project::{ProjectFile, preset_projects};

/// The material texture in [`inputs`].
const GRASS: &str = "assets/grass.jpg";

/// A raster named "hills", which is the default stamp too, and a grass texture. Always the same instance: an evaluator drops its cache when its inputs
/// change.
pub fn inputs() -> &'static Inputs {
    static INPUTS: LazyLock<Inputs> = LazyLock::new(|| {
        let samples = (0..35).map(|i| (i * i % 17) as f32).collect();
        let raster = Arc::new(Raster { width: 7, height: 5, samples, scale: SampleScale::Metres });
        let names = [FileName("hills".into()), Stamp::default().file];
        let pixel = |i: usize| [(i * 31 % 251) as u8, (i * 7 % 199) as u8, (i / 128 * 13 % 255) as u8, 255];
        let grass = Image { width: 128, height: 96, pixels: (0..128 * 96).map(pixel).collect() };
        Inputs {
            rasters: names.into_iter().map(|name| (name, raster.clone())).collect(),
            swatches: [(TextureName(GRASS.into()), Arc::new(Swatch::new(grass)))].into(),
        }
    });
    &INPUTS
}

/// The recipe with a texture for every type, each with a different repeat length.
pub fn textured(recipe: &TextureRecipe, repeat_m: f64) -> TextureRecipe {
    let mut recipe = recipe.clone();
    for (material, repeats) in recipe.types.iter_mut().zip([1.0, 2.3, 9.1].into_iter().cycle()) {
        (material.texture, material.repeat_m) = (Some(TextureName(GRASS.into())), repeats * repeat_m);
    }
    recipe
}

/// The terrain of a preset.
pub fn preset_terrain(recipe: &Recipe, samples: usize) -> Heightfield {
    let inputs = load_inputs(recipe, &BTreeMap::new()).expect("presets need no files");
    let grid = Grid::fitted(recipe.world.extent(), samples);
    evaluate(recipe, grid, None, &inputs, &Progress::new()).expect("not cancelled")
}

/// Every preset with its terrain of 129 samples, evaluated once.
pub fn preset_terrains() -> impl Iterator<Item = (&'static ProjectFile, &'static Heightfield)> {
    static TERRAINS: LazyLock<Vec<Heightfield>> =
        LazyLock::new(|| preset_projects().iter().map(|(_, file)| preset_terrain(&file.project.recipe, 129)).collect());
    preset_projects().iter().map(|(_, file)| file).zip(TERRAINS.iter())
}

/// Every operation with default parameters. Those that read a file read the raster in [`inputs`].
pub fn operations() -> Vec<AnyOperation> {
    let mut operations = AnyOperation::all();
    for operation in &mut operations {
        for parameter in operation.table().iter().filter(|parameter| matches!(parameter.kind, Kind::File)) {
            operation.group_mut().set(parameter.key, &"hills".into()).expect("the name of a file");
        }
    }
    operations
}

/// The operation as a step above a step of `count` faults.
pub fn on_fault_terrain(operation: AnyOperation, count: u32) -> Vec<Step> {
    let mut step = Step::new(operation);
    step.settings.seed = 1;
    vec![Step::new(Faults { count, ..Default::default() }), step]
}

/// The terrain around the Jacksboro fault, imported like a project does: see `tests/data/README.md`.
pub fn jacksboro() -> Heightfield {
    let name = FileName("jacksboro.png".into());
    let bytes = include_bytes!("../data/jacksboro.png").to_vec();
    // A pixel value is a height in metres.
    let step = Heightmap { file: name.clone(), low_m: Some(0.0), high_m: Some(65_535.0), ..Default::default() };
    let recipe = Recipe { stack: vec![Step::new(step)], ..Default::default() };
    let inputs = load_inputs(&recipe, &[(name, Arc::new(bytes))].into()).expect("readable");
    let world = Extent { width_m: 74.48 * 402.0, depth_m: 92.77 * 343.0 };
    evaluate(&recipe, Grid::new(world, 403, 344), None, &inputs, &Progress::new()).expect("not cancelled")
}

/// Four cases of each property, or the number in `PROPTEST_CASES`.
pub fn proptest_config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Runs a test in its own process, where no other test takes memory or processor time. The name is the test's path in
/// this binary.
pub fn in_own_process(name: &str, test: impl FnOnce()) {
    const VARIABLE: &str = "UPTHRUST_TEST_ALONE";
    if std::env::var_os(VARIABLE).is_some() {
        return test();
    }
    let program = std::env::current_exe().expect("this test");
    let arguments = ["--exact", name, "--include-ignored", "--nocapture"];
    // Backtraces of caught panics would take memory.
    let quiet = [(VARIABLE, "1"), ("RUST_BACKTRACE", "0")];
    let output = Command::new(program).args(arguments).envs(quiet).output().expect("the test runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("1 passed"), "there is no test {name}");
}

/// Probes until there is a result; `None` after the deadline, which should be far longer than the wait can take.
pub fn wait_for<T>(deadline: Duration, probe: impl Fn() -> Option<T>) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        match probe() {
            Some(found) => return Some(found),
            None if Instant::now() > end => return None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// A number from the environment.
pub fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
