//! The same recipe gives the same bytes: at every number of threads, in one go or step by step, today and tomorrow.
//! And whatever the parameters within their ranges, evaluation ends, stays finite and can be stopped.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed, in its helpers too")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use upthrust::engine::parameters::{Group, Kind, Parameter, Scale, choice_value};
use upthrust::engine::stack::{Evaluator, evaluate};
use upthrust::engine::texture::paint;
use upthrust::engine::{
    Cancelled, Extent, Grid, Heightfield, Inputs, Monitor, Operation, Raster, Recipe, SampleScale, Step,
};
use upthrust::project::presets;

fn recipe(json: &Value) -> Recipe {
    Recipe::from_json(json).expect("a sound recipe")
}

/// Recipes that together use every kind of arithmetic there is.
fn recipes() -> Vec<(&'static str, Recipe)> {
    let world = json!({"width_m": 4100.7, "depth_m": 2900.3});
    let with = |stack: Value| recipe(&json!({"seed": 77, "world": world, "stack": stack}));
    let wind = json!({"form": "averaged", "sweeps": 2, "k": 0.4});
    vec![
        ("steps", with(json!([{"operation": "faults", "count": 700}]))),
        (
            "waves",
            with(json!([
                {"operation": "faults", "count": 90, "profile": "sine"},
                {"operation": "faults", "count": 40, "profile": "gaussian", "decay": "sizes"},
            ])),
        ),
        ("wind", with(json!([{"operation": "faults", "count": 60, "line": "two_points", "wind": wind}]))),
        (
            "blends",
            with(json!([
                {"operation": "faults", "count": 120, "profile": "smooth", "decay": "harmonic"},
                {"operation": "faults", "count": 50, "profile": "cosine", "blend": "smooth_maximum", "strength": 0.7},
                {"operation": "faults", "count": 30, "profile": "exponential", "blend": "subtract",
                 "wind": {"form": "sequential", "sweeps": 4, "k": 0.2}},
                {"operation": "recursive_filter", "sweeps": 2, "k": 0.6, "passes": 3},
            ])),
        ),
        (
            "trees",
            with(json!([
                {"operation": "bsp_faults", "count": 40, "edge_fade": true},
                {"operation": "bsp_faults", "count": 25, "depth": 3, "layout": "unstructured"},
            ])),
        ),
        (
            "trees in the wind",
            with(json!([{"operation": "bsp_faults", "count": 40, "floor_m": 0,
                "wind": {"form": "sequential", "sweeps": 4, "k": 0.1}}])),
        ),
        ("first preset", presets()[0].project().expect("a sound preset").recipe),
    ]
}

fn land(recipe: &Recipe, samples: usize, position: Option<u32>) -> Heightfield {
    let grid = Grid::fitted(recipe.world.extent(), samples);
    evaluate(recipe, grid, position, &Inputs::default(), &Monitor::new()).expect("not cancelled")
}

/// FNV-1a, 64 bits.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hash_of_heights(land: &Heightfield) -> u64 {
    hash(land.heights().iter().flat_map(|height| height.to_bits().to_le_bytes()))
}

fn hash_of_texture(recipe: &Recipe, land: &Heightfield) -> u64 {
    let light = Some(&recipe.light);
    let painting = paint(land, &recipe.texture, None, light, [200, 130], &Monitor::new()).expect("not cancelled");
    hash(painting.picture.pixels.into_iter().flatten())
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    for (name, recipe) in recipes() {
        let hashes: Vec<[u64; 2]> = [1, 2, 7]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                pool.install(|| {
                    let land = land(&recipe, 161, None);
                    [hash_of_heights(&land), hash_of_texture(&recipe, &land)]
                })
            })
            .collect();
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{name}: {hashes:x?}");
    }
}

#[test]
fn stepping_forwards_and_backwards_meets_the_same_bytes() {
    for (name, recipe) in recipes() {
        let grid = Grid::fitted(recipe.world.extent(), 65);
        let mut evaluator = Evaluator::new();
        let end = recipe.iterations();
        let stride = (end / 23).max(1);
        let forwards: Vec<u32> = (0..=end).step_by(stride as usize).collect();
        let backwards = forwards.iter().rev();
        for &position in forwards.iter().chain(backwards).chain(&[end, 1, end / 2, end / 2 + 1]) {
            let stepped = evaluator
                .evaluate(&recipe, grid, Some(position), &Inputs::default(), &Monitor::new())
                .expect("not cancelled");
            let alone = land(&recipe, 65, Some(position));
            assert_eq!(hash_of_heights(&stepped), hash_of_heights(&alone), "{name} at {position}");
        }
    }
}

/// The bytes of lands as they were when these hashes were written down. A hash may be changed only together with a
/// deliberate change of what a recipe means, which belongs in the changelog: users find other lands in their old
/// projects after it. A new preset in the first place changes the last one, and no other.
const GOLDEN: [(&str, u64); 7] = [
    ("steps", 0x6f62_50cc_c1f0_206a),
    ("waves", 0xc525_3496_a6fb_afc2),
    ("wind", 0x2d11_f783_ca7d_58b7),
    ("blends", 0xd3dc_619b_7519_b20b),
    ("trees", 0xab4b_c203_2899_7b6e),
    ("trees in the wind", 0xe097_322e_9d11_027a),
    ("first preset", 0x8a44_56c8_8180_5beb),
];

#[test]
fn lands_are_what_they_have_always_been() {
    let found: Vec<(&str, u64)> =
        recipes().iter().map(|(name, recipe)| (*name, hash_of_heights(&land(recipe, 161, None)))).collect();
    let table: Vec<String> = found.iter().map(|(name, hash)| format!("    (\"{name}\", {hash:#x}),")).collect();
    assert_eq!(found, GOLDEN, "found:\n{}", table.join("\n"));
}

/// A place in a hard range, by the parameter's own scale; ranges that a small test cannot afford are cut.
fn number(parameter: &Parameter, place: f64) -> f64 {
    let (low, mut high) = (parameter.hard.low, parameter.hard.high);
    high = match parameter.key {
        "count" => 50.0,
        "passes" => 3.0,
        _ => high,
    };
    match parameter.scale {
        Scale::Logarithmic if high > 0.0 => {
            let least = low.max(high * 1e-9);
            if place < 0.02 { low } else { (least * libm::pow(high / least, place)).clamp(low, high) }
        }
        _ => low + place * (high - low),
    }
}

/// A value of a parameter within its hard range, from a list of random places that is walked through.
fn value(parameter: &Parameter, kind: Kind, places: &mut impl Iterator<Item = f64>) -> Value {
    let mut next = || places.next().unwrap_or(0.5);
    if parameter.nullable && next() < 0.3 {
        return Value::Null;
    }
    match kind {
        Kind::Integer => json!(number(parameter, next()).round()),
        Kind::Number => json!(number(parameter, next())),
        Kind::Boolean => json!(next() < 0.5),
        Kind::Text => json!(["", "Rock", "ünïcödé"][(next() * 3.0) as usize]),
        Kind::File => json!(["", "hills", "missing"][(next() * 3.0) as usize]),
        Kind::Colour => json!(format!("#{:06x}", (next() * 16_777_215.0) as u32)),
        Kind::Choice(choices) => choice_value(choices[(next() * choices.len() as f64) as usize].key),
        Kind::Band => {
            let [a, b] = [next(), next()].map(|place| number(parameter, place));
            json!([a.min(b), a.max(b)])
        }
        Kind::Weighted => json!([number(parameter, next()), next() * 100.0]),
        Kind::Point => json!([number(parameter, next()), number(parameter, next())]),
        Kind::Matrix => {
            let side = if next() < 0.5 { 3 } else { 5 };
            let mut row = || (0..side).map(|_| number(parameter, next())).collect::<Vec<f64>>();
            (0..side).map(|_| json!(row())).collect()
        }
        Kind::List(of) => {
            let length = (next() * 5.0) as usize;
            (0..length).map(|_| value(&Parameter { nullable: false, ..parameter.clone() }, *of, places)).collect()
        }
        Kind::Group(table) => {
            let fields = table().iter().map(|field| (field.key.to_string(), value(field, field.kind, places)));
            Value::Object(fields.collect())
        }
    }
}

fn fill(group: &mut dyn Group, places: &mut impl Iterator<Item = f64>) {
    for parameter in group.table() {
        let value = value(parameter, parameter.kind, places);
        if let Err(error) = group.set(parameter.key, &value) {
            panic!("{error}: {value}");
        }
    }
}

/// One raster, for the operations that read files.
fn inputs() -> Inputs {
    let samples = (0..35).map(|i| (i * i % 17) as f32).collect();
    let raster = Raster { width: 7, height: 5, samples, scale: SampleScale::Metres };
    Inputs([(upthrust::engine::parameters::FileName("hills".into()), Arc::new(raster))].into())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_operation_stays_finite_within_its_hard_ranges(
        places in prop::collection::vec(0.0..1.0_f64, 400),
        seed: u32,
        samples in 2..40_usize,
        extent in (1.0..1e6_f64, 1.0..1e6_f64),
    ) {
        let mut places = places.into_iter();
        for operation in Operation::all() {
            let key = operation.key();
            let mut step = Step::new(operation);
            fill(&mut step.settings, &mut places);
            step.settings.enabled = true;
            fill(step.operation.group_mut(), &mut places);
            let written = step.to_json();
            let below = Step::new(Operation::from_key("faults").expect("known"));
            let recipe = Recipe { seed, stack: vec![below, step], ..Default::default() };
            let grid = Grid::new(Extent { width_m: extent.0, depth_m: extent.1 }, samples, samples / 2 + 2);
            let land = evaluate(&recipe, grid, None, &inputs(), &Monitor::new()).expect("not cancelled");
            prop_assert!(land.heights().iter().all(|height| height.is_finite()), "{}: {}", key, written);
            let again = Recipe::from_json(&recipe.to_json());
            prop_assert_eq!(again.as_ref(), Ok(&recipe), "{} through JSON", key);
        }
    }

    #[test]
    fn every_palette_paints_every_pixel(places in prop::collection::vec(0.0..1.0_f64, 200), seed: u32) {
        let mut places = places.into_iter();
        let mut recipe = Recipe { seed, ..Default::default() };
        recipe.stack.push(Step::new(Operation::from_key("faults").expect("known")));
        fill(&mut recipe.texture.settings, &mut places);
        for ground in &mut recipe.texture.types {
            fill(ground, &mut places);
        }
        fill(&mut recipe.light, &mut places);
        let land = land(&recipe, 33, Some(20));
        let size = [37, 21];
        let painting =
            paint(&land, &recipe.texture, None, Some(&recipe.light), size, &Monitor::new()).expect("not cancelled");
        prop_assert_eq!(painting.picture.pixels.len(), 37 * 21);
        prop_assert!((0.0..=1.0).contains(&painting.uncovered));
    }
}

/// Does its work until it is done or cancelled; returns whether it was cancelled.
type Work<'a> = &'a (dyn Fn(&Monitor) -> bool + Sync);

/// How long a computation goes on after it was cancelled, at the worst of a few moments; `None` if it was done before
/// each of them.
fn latency(work: Work) -> Option<Duration> {
    let moments = [1, 15, 60, 150].map(Duration::from_millis);
    let after = |moment| {
        let monitor = Monitor::new();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let cancelled = work(&monitor);
                (cancelled, Instant::now())
            });
            std::thread::sleep(moment);
            let asked = Instant::now();
            monitor.cancel();
            let (cancelled, stopped) = worker.join().expect("no panic");
            // Work that was done before it was asked to stop says nothing.
            cancelled.then(|| stopped.saturating_duration_since(asked))
        })
    };
    moments.into_iter().filter_map(after).max()
}

#[test]
fn a_cancelled_computation_stops_within_fifty_milliseconds() {
    let grid = Grid::new(Extent { width_m: 8192.0, depth_m: 8192.0 }, 1025, 1025);
    let evaluation = |stack: Value| {
        let recipe = recipe(&json!({ "stack": stack }));
        move |monitor: &Monitor| evaluate(&recipe, grid, None, &Inputs::default(), monitor) == Err(Cancelled)
    };
    let windy = evaluation(json!([{"operation": "faults", "count": 1000, "wind": {"k": 0.3}}]));
    let rainy = evaluation(json!([{"operation": "faults", "count": 1000, "wind": {"form": "averaged", "passes": 50}}]));
    let plain = evaluation(json!([{"operation": "faults", "count": 100_000}]));
    let waves = evaluation(json!([{"operation": "faults", "count": 20_000, "profile": "gaussian", "zone_m": 4000}]));
    let filter =
        evaluation(json!([{"operation": "faults", "count": 9}, {"operation": "recursive_filter", "passes": 900}]));
    let painted = recipe(&json!({}));
    let small = Heightfield::from_fn(grid, |c, r| (c * r % 977) as f32);
    let texture =
        |monitor: &Monitor| paint(&small, &painted.texture, None, Some(&painted.light), [4096, 4096], monitor).is_err();
    let works: [(&str, Work); 6] = [
        ("1025², 1000 faults with wind", &windy),
        ("1025², 1000 faults, 50 passes of rain after each", &rainy),
        ("1025², 100,000 plain faults", &plain),
        ("1025², 20,000 gaussian faults, wide zones", &waves),
        ("1025², 900 passes of the filter", &filter),
        ("texture 4096²", &texture),
    ];
    let measured = |name: &&'static str, work: Work| {
        let latency = latency(work).unwrap_or_else(|| panic!("{name}: done before it could be cancelled"));
        (*name, latency)
    };
    let latencies: Vec<(&str, Duration)> = works.iter().map(|(name, work)| measured(name, *work)).collect();
    for (name, latency) in &latencies {
        println!("{name:<50} stopped after {:>7.2} ms", latency.as_secs_f64() * 1e3);
    }
    for (name, latency) in latencies {
        assert!(latency < Duration::from_millis(50), "{name}: {latency:?}");
    }
}
