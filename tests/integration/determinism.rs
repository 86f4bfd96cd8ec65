//! A recipe gives the same bytes with any number of threads, in one evaluation or stepwise, and in every version. With
//! any parameters within their ranges, evaluation terminates with finite heights.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::common;
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Value, json};
use upthrust::engine::parameters::{Group, Kind, Parameter, Scale, set_from_json};
use upthrust::engine::stack::{Evaluator, evaluate};
use upthrust::engine::texture::{PaintOnce, paint_once};
use upthrust::engine::{AnyOperation, Extent, Grid, Heightfield, Progress, Recipe, Step};
use upthrust::project::presets;

fn recipe(json: &Value) -> Recipe {
    Recipe::from_json(json).expect("a valid recipe")
}

/// Recipes that together use every kind of arithmetic.
fn recipes() -> Vec<(&'static str, Recipe)> {
    let world = json!({"width_m": 4100.7, "depth_m": 2900.3});
    let with = |stack: Value| recipe(&json!({"seed": 77, "world": world, "stack": stack}));
    let wind = json!({"form": "averaged", "sweeps": 2, "k": 0.4});
    vec![
        ("steps", with(json!([{"operation": "faults", "count": 700, "profile": "step"}]))),
        (
            "waves",
            with(json!([
                {"operation": "faults", "count": 90, "profile": "sine", "zone_m": 300},
                {"operation": "faults", "count": 40, "profile": "gaussian", "decay": "sizes", "zone_m": 300},
            ])),
        ),
        (
            "wind",
            with(json!([{"operation": "faults", "count": 60, "line": "two_points", "profile": "step", "wind": wind}])),
        ),
        (
            "blends",
            with(json!([
                {"operation": "faults", "count": 120, "profile": "smooth", "zone_m": 300, "decay": "harmonic"},
                {"operation": "faults", "count": 50, "profile": "cosine", "zone_m": 300,
                 "blend": "smooth_maximum", "strength": 0.7},
                {"operation": "faults", "count": 30, "profile": "exponential", "zone_m": 300,
                 "blend": "subtract",
                 "wind": {"form": "sequential", "sweeps": 4, "k": 0.2}},
                {"operation": "recursive_filter", "sweeps": 2, "k": 0.6, "passes": 3},
            ])),
        ),
        (
            "trees",
            with(json!([
                {"operation": "bsp_faults", "count": 40, "displacement_m": 20, "edge_fade": true, "wind": null},
                {"operation": "bsp_faults", "count": 25, "depth": 3, "displacement_m": 20, "layout": "unstructured", "wind": null},
            ])),
        ),
        (
            "trees in the wind",
            with(json!([{"operation": "bsp_faults", "count": 40, "displacement_m": 20, "floor_m": 0,
                "wind": {"form": "sequential", "sweeps": 4, "k": 0.1}}])),
        ),
        (
            "strokes",
            with(json!([
                {"operation": "faults", "count": 90, "profile": "smooth", "zone_m": 300},
                {"operation": "sculpt", "strokes": [
                    {"points_m": [[900, 800], [1500, 1100.5], [1400, 1900]], "radius_m": 300, "strength_m": 80},
                    {"mode": "lower", "points_m": [[2500, 400], [3300, 900]], "pressure": [1, 0.2], "radius_m": 220,
                     "strength_m": 60},
                    {"mode": "roughen", "points_m": [[1200, 1200]], "radius_m": 600, "strength_m": 40,
                     "wavelength_m": 350, "seed": 5},
                    {"mode": "ramp", "points_m": [[300, 2500], [1200, 2300], [2100, 2600]], "radius_m": 200,
                     "strength": 0.9},
                    {"mode": "smooth", "points_m": [[2800, 1500], [3500, 2500]], "radius_m": 500, "strength": 1},
                    {"mode": "flatten", "points_m": [[3000, 700]], "radius_m": 350, "height_m": 120, "hardness": 0.8},
                    {"mode": "erase", "points_m": [[1000, 1000], [3600, 2200]], "radius_m": 150, "strength": 0.7},
                ]},
            ])),
        ),
        ("faults by default", with(json!([{"operation": "faults"}]))),
        ("first preset", presets()[0].project().expect("a valid preset").recipe),
    ]
}

/// Every operation with defaults above a step of faults, in the rectangular world of [`recipes`].
fn recipes_of_operations() -> Vec<(&'static str, Recipe)> {
    let world = recipes()[0].1.world.clone();
    let on_fault_terrain = |operation: AnyOperation| {
        let key = operation.key();
        let stack = common::on_fault_terrain(operation, 200);
        (key, Recipe { seed: 77, world: world.clone(), stack, ..Default::default() })
    };
    common::operations().into_iter().map(on_fault_terrain).collect()
}

fn terrain(recipe: &Recipe, samples: usize, position: Option<u32>) -> Heightfield {
    let grid = Grid::fitted(recipe.world.extent(), samples);
    evaluate(recipe, grid, position, common::inputs(), &Progress::new()).expect("not cancelled")
}

fn threads(count: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(count).build().expect("threads")
}

/// FNV-1a, 64 bits.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hash_of_heights(terrain: &Heightfield) -> u64 {
    hash(terrain.heights().iter().flat_map(|height| height.to_bits().to_le_bytes()))
}

fn hash_of_texture(recipe: &Recipe, terrain: &Heightfield) -> u64 {
    let light = Some(&recipe.light);
    let texture = common::textured(&recipe.texture, 300.0);
    let painting = paint_once(terrain, PaintOnce::new(&texture, common::inputs(), light), [200, 130], &Progress::new())
        .expect("not cancelled");
    hash(painting.image.pixels.into_iter().flatten())
}

#[test]
fn thread_count_does_not_change_the_bytes() {
    for (name, recipe) in recipes().into_iter().chain(recipes_of_operations()) {
        let hashes: Vec<[u64; 2]> = [1, 7]
            .into_iter()
            .map(|count| {
                threads(count).install(|| {
                    let terrain = terrain(&recipe, 161, None);
                    [hash_of_heights(&terrain), hash_of_texture(&recipe, &terrain)]
                })
            })
            .collect();
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{name}: {hashes:x?}");
    }
}

/// Evaluates about `places` positions of the timeline forwards, backwards and in jumps.
fn check_stepping(name: &str, recipe: &Recipe, places: u32) {
    let grid = Grid::fitted(recipe.world.extent(), 65);
    let mut evaluator = Evaluator::new();
    let end = recipe.iterations();
    let stride = (end / places).max(1);
    let forwards: Vec<u32> = (0..=end).step_by(stride as usize).collect();
    let backwards = forwards.iter().rev();
    let mut hashes = BTreeMap::new();
    for &position in forwards.iter().chain(backwards).chain(&[end, 1, end / 2, end / 2 + 1]) {
        let stepped = evaluator
            .evaluate(recipe, grid, Some(position), common::inputs(), &Progress::new())
            .expect("not cancelled");
        let alone = hashes.entry(position).or_insert_with(|| hash_of_heights(&terrain(recipe, 65, Some(position))));
        assert_eq!(hash_of_heights(&stepped), *alone, "{name} at {position}");
    }
}

fn check_scrubbing(places: u32, places_of_operations: u32) {
    for (name, recipe) in recipes() {
        check_stepping(name, &recipe, places);
    }
    for (name, recipe) in recipes_of_operations() {
        check_stepping(name, &recipe, places_of_operations);
    }
}

#[test]
fn scrubbing_gives_the_same_bytes_as_a_single_evaluation() {
    check_scrubbing(2, 1);
}

#[test]
#[ignore = "slow: many positions"]
fn nightly_scrubbing_gives_the_same_bytes_as_a_single_evaluation() {
    check_scrubbing(23, 5);
}

/// Hashes of the heights of [`recipes`]. Change one only with a deliberate change of what a recipe means, and mention
/// it in the changelog: it changes the terrain of existing projects. A new first preset changes the last hash only.
const GOLDEN: [(&str, u64); 9] = [
    ("steps", 0x6f62_50cc_c1f0_206a),
    ("waves", 0xc525_3496_a6fb_afc2),
    ("wind", 0x0302_8736_584d_2641),
    ("blends", 0xff6b_48b7_234e_8ec8),
    ("trees", 0xab4b_c203_2899_7b6e),
    ("trees in the wind", 0xb1e3_69c4_e867_ebdc),
    ("strokes", 0x6a8f_7395_4513_3df8),
    ("faults by default", 0x3988_7a88_96e4_401e),
    ("first preset", 0x3978_b03e_47d9_d31b),
];

/// Hashes of every operation with defaults above 200 faults, by key. A hash also changes with the defaults of its
/// operation.
const GOLDEN_OPERATIONS: &[(&str, u64)] = &[
    ("faults", 0x81aa_3fb7_d935_da17),
    ("drawn_faults", 0x85c9_2448_69d4_0803),
    ("bsp_faults", 0xcc1d_93eb_9d7a_3113),
    ("circles", 0x20d4_5330_b3f7_28ab),
    ("midpoint", 0x11eb_7bbe_1325_f3f6),
    ("noise", 0x7330_a8f2_09b6_2d99),
    ("particles", 0x0c88_262a_7c5b_da8b),
    ("coastline", 0x53ac_8bb9_0634_e703),
    ("mountains", 0xe334_155f_3cca_b689),
    ("fluvial_erosion", 0x4359_d9e1_eb47_dded),
    ("hydraulic_erosion", 0x7d39_d286_38a4_3967),
    ("thermal_erosion", 0x1e9a_4899_f27b_53a8),
    ("recursive_filter", 0xdad3_a048_b65a_e0a3),
    ("heightmap", 0x1bfd_1db3_42a3_bedf),
    ("sculpt", 0x7a2b_00c8_0fd0_f748),
    ("clamp", 0xf4f0_4295_843c_d0f8),
    ("levels", 0xc2b6_ae93_c3e9_b58c),
    ("edge_fade", 0x4445_d8cd_6124_6cb0),
    ("island", 0x75ce_29a6_04ac_706a),
    ("terrace", 0xbabc_ea19_b1b8_6847),
    ("paths", 0xc048_30d2_0af4_5ca4),
    ("gaussian_blur", 0xb470_0305_f1c7_2f1b),
    ("box_blur", 0xbef9_6473_2897_6689),
    ("finite_filter", 0x1a76_da87_f2b8_6b19),
    ("band_filter", 0x900e_1882_980c_43eb),
    ("kernel_filter", 0x9251_0e49_4dab_ab9e),
    ("symmetry", 0x9031_3cd8_1758_ad12),
    ("pads", 0x4453_3edd_d0ea_4618),
    ("stamps", 0xaf73_a096_84b7_386c),
    ("group", 0x7a2b_00c8_0fd0_f748),
];

fn check_golden(recipes: &[(&'static str, Recipe)], golden: &[(&str, u64)]) {
    let found: Vec<(&str, u64)> =
        recipes.iter().map(|(name, recipe)| (*name, hash_of_heights(&terrain(recipe, 161, None)))).collect();
    // In the format of the table, ready to be pasted.
    let row = |(name, hash): &(&str, u64)| {
        let digits = format!("{hash:016x}");
        let groups: Vec<&str> = [0, 4, 8, 12].map(|first| &digits[first..first + 4]).into();
        format!("    (\"{name}\", 0x{}),", groups.join("_"))
    };
    let table: Vec<String> = found.iter().map(row).collect();
    assert!(found == golden, "found:\n{}", table.join("\n"));
}

#[test]
fn the_step_seed_changes_the_operations_that_use_it_and_no_others() {
    for operation in common::operations() {
        let hash = |seed| {
            let mut stack = common::on_fault_terrain(operation.clone(), 60);
            stack[1].settings.seed = seed;
            hash_of_heights(&terrain(&Recipe { stack, ..Default::default() }, 65, None))
        };
        assert_eq!(hash(1) != hash(2), operation.uses_seed(), "{}", operation.key());
    }
}

#[test]
fn recipes_have_their_golden_hashes() {
    check_golden(&recipes(), &GOLDEN);
}

#[test]
fn operations_have_their_golden_hashes() {
    check_golden(&recipes_of_operations(), GOLDEN_OPERATIONS);
}

#[test]
fn texture_has_its_golden_hash() {
    let mut recipe = recipes().swap_remove(0).1;
    recipe.light.shadows = 0.0;
    assert_eq!(format!("{:016x}", hash_of_texture(&recipe, &terrain(&recipe, 65, None))), "24f3b5b799d87eb0");
}

/// The number at a fraction of the hard range, on the parameter's scale. Ranges that would take too long are cut.
fn number(parameter: &Parameter, place: f64) -> f64 {
    let (low, mut high) = (parameter.hard.low, parameter.hard.high);
    high = match parameter.key {
        "count" => 50.0,
        "passes" => 3.0,
        _ => high,
    };
    match parameter.scale {
        Scale::Logarithmic if high > 0.0 => {
            let positive_low = low.max(high * 1e-9);
            if place < 0.02 { low } else { (positive_low * libm::pow(high / positive_low, place)).clamp(low, high) }
        }
        _ => low + place * (high - low),
    }
}

/// A value within the hard range, from the next random fractions.
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
        Kind::Texture => json!(["", "assets/grass.jpg", "missing"][(next() * 3.0) as usize]),
        Kind::Limits => {
            let [a, b] = [next(), next()].map(|place| number(parameter, place));
            json!([a.min(b), a.max(b), number(parameter, next())])
        }
        Kind::Colour => json!(format!("#{:06x}", (next() * 16_777_215.0) as u32)),
        Kind::Choice(choices) => json!(choices[(next() * choices.len() as f64) as usize].key),
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
        Kind::List(item_kind) => {
            let length = ((next() * 5.0) as usize).max(usize::from(parameter.needs_items));
            (0..length)
                .map(|_| value(&Parameter { nullable: false, ..parameter.clone() }, *item_kind, places))
                .collect()
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
        if let Err(error) = set_from_json(group, parameter.key, &value) {
            panic!("{error}: {value}");
        }
    }
}

/// Pools of one and of three threads.
static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| [1, 3].map(threads));

proptest! {
    #![proptest_config(common::proptest_config())]

    #[test]
    fn operations_are_finite_and_deterministic_within_their_hard_ranges(
        places in prop::collection::vec(0.0..1.0_f64, 4000),
        seed: u32,
        samples in 2..40_usize,
        extent in (1.0..1e6_f64, 1.0..1e6_f64),
    ) {
        let mut places = places.into_iter();
        for (i, operation) in (0_u32..).zip(AnyOperation::all()) {
            let key = operation.key();
            let mut step = Step::new(operation);
            fill(&mut step.settings, &mut places);
            step.settings.enabled = true;
            // Masks take most of the time, and are the same for all operations.
            if i % 8 != seed % 8 {
                step.settings.mask = Vec::new().into();
            }
            fill(step.operation.group_mut(), &mut places);
            let written = step.to_json();
            let below = Step::new(AnyOperation::from_key("faults").expect("known"));
            let recipe = Recipe { seed, stack: vec![below, step], ..Default::default() };
            let grid = Grid::new(Extent { width_m: extent.0, depth_m: extent.1 }, samples, samples / 2 + 2);
            let terrain = || evaluate(&recipe, grid, None, common::inputs(), &Progress::new()).expect("not cancelled");
            let [one, three] = POOLS.each_ref().map(|pool| pool.install(terrain));
            prop_assert!(one.heights().iter().all(|height| height.is_finite()), "{}: {}", key, written);
            prop_assert_eq!(hash_of_heights(&one), hash_of_heights(&three), "{} on threads: {}", key, written);
            let again = Recipe::from_json(&recipe.to_json());
            prop_assert_eq!(again.as_ref(), Ok(&recipe), "{} through JSON", key);
        }
    }

    #[test]
    fn any_terrain_types_paint_every_pixel(places in prop::collection::vec(0.0..1.0_f64, 200), seed: u32) {
        let mut places = places.into_iter();
        let mut recipe = Recipe { seed, ..Default::default() };
        recipe.stack.push(Step::new(AnyOperation::from_key("faults").expect("known")));
        fill(&mut recipe.texture.settings, &mut places);
        for terrain_type in &mut recipe.texture.types {
            fill(terrain_type, &mut places);
        }
        fill(&mut recipe.light, &mut places);
        let terrain = terrain(&recipe, 33, Some(20));
        let size = [37, 21];
        let painting =
            paint_once(&terrain, PaintOnce::new(&recipe.texture, common::inputs(), Some(&recipe.light)), size, &Progress::new()).expect("not cancelled");
        prop_assert!(painting.image.pixels.iter().all(|pixel| pixel[3] == 255));
        // The shares of the covering types sum to 1.
        let covering = || recipe.texture.active().zip(&painting.shares).filter(|(terrain_type, _)| terrain_type.covers());
        let sum: f32 = covering().map(|(_, share)| share).sum();
        prop_assert!(covering().next().is_none() || (sum - 1.0).abs() < 1e-3, "the sum is {}", sum);
        prop_assert!(covering().next().is_some() || painting.uncovered == 1.0);
    }
}
