//! Parts of a grid evaluated separately.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use upthrust::engine::heightfield::GridPart;
use upthrust::engine::mask::{Mask, MaskSource, PaintedStroke};
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::fluvial_erosion::FluvialErosion;
use upthrust::engine::operations::heightmap::Heightmap;
use upthrust::engine::operations::levels::Levels;
use upthrust::engine::operations::noise::Noise;
use upthrust::engine::operations::paths::{Path, PathKind, PathNode, Paths};
use upthrust::engine::parameters::{Band, FileName, List, Point, Value};
use upthrust::engine::recipe::World;
use upthrust::engine::result_cache::{ResultCache, ResultKey};
use upthrust::engine::stack::Evaluator;
use upthrust::engine::{AnyOperation, Grid, Heightfield, Inputs, Progress, Raster, Recipe, SampleScale, Step, stack};

fn inputs() -> Inputs {
    let samples = (0..35 * 23).map(|at| ((at * 7919) % 401) as f32).collect();
    let raster = Raster { width: 35, height: 23, samples, scale: SampleScale::Integers { max_value: 400.0 } };
    Inputs { rasters: [(FileName("a.png".into()), Arc::new(raster))].into(), ..Default::default() }
}

fn terrain(recipe: &Recipe, grid: Grid) -> Heightfield {
    stack::evaluate(recipe, grid, None, &inputs(), &Progress::new()).expect("not cancelled")
}

/// The samples above the sea that are more than a millimetre lower than all of their neighbours, as columns and rows.
fn pits(terrain: &Heightfield, sea_m: f32) -> Vec<[usize; 2]> {
    let inside = |samples: usize| 1..samples - 1;
    let all = inside(terrain.grid().height()).flat_map(|r| inside(terrain.grid().width()).map(move |c| [c, r]));
    let is_pit = |&[c, r]: &[usize; 2]| {
        let own_m = terrain[(c, r)];
        let mut around = (r - 1..r + 2).flat_map(|row| (c - 1..c + 2).map(move |column| (column, row)));
        own_m > sea_m && around.all(|place| place == (c, r) || terrain[place] > own_m + 0.001)
    };
    all.filter(is_pit).collect()
}

/// Asserts that parts of the grid are bit-identical to the same parts of the complete terrain.
fn check(recipe: &Recipe, what: &str) {
    let whole_grid = Grid::new(recipe.world.extent(), 130, 77);
    let whole = terrain(recipe, whole_grid);
    for (first, size) in [([0, 0], [65, 39]), ([65, 38], [65, 39]), ([129, 0], [1, 77]), ([31, 40], [7, 3])] {
        let part = terrain(recipe, whole_grid.part(first, size));
        for (c, r) in (0..size[1]).flat_map(|r| (0..size[0]).map(move |c| (c, r))) {
            let expected = whole[(first[0] + c, first[1] + r)];
            assert_eq!(part[(c, r)].to_bits(), expected.to_bits(), "{what}: ({c}, {r}) of {first:?}, {size:?}");
        }
    }
}

fn recipe(operation: AnyOperation) -> Recipe {
    let world = World { width_m: 4100.7, depth_m: 1977.3, ..Default::default() };
    Recipe { stack: vec![Step::new(Noise::default()), Step::new(operation)], world, ..Default::default() }
}

#[test]
fn pointwise_operations_give_the_same_parts() {
    let mut checked = 0;
    let mut operations = AnyOperation::all();
    operations.push(Levels { low_m: Some(-100.0), high_m: Some(200.0), ..Default::default() }.into());
    operations.push(Heightmap { file: FileName("a.png".into()), ..Default::default() }.into());
    // Ridges, valleys and faults along curves, open and closed.
    for (kind, closed) in
        [(PathKind::Ridge, false), (PathKind::Valley, true), (PathKind::Fault, false), (PathKind::Fault, true)]
    {
        let nodes = [[300.0, 1500.0], [1800.0, 300.0], [2600.0, 1700.0], [3900.0, 900.0]];
        let node = |[x_m, z_m]: [f64; 2]| PathNode { at_m: Point { x_m, z_m }, ..Default::default() };
        let nodes = nodes.into_iter().map(node).collect();
        let path = Path { kind, closed, nodes, width_m: 300.0, ..Default::default() };
        operations.push(Paths { paths: vec![path].into() }.into());
    }
    for key in ["faults", "bsp_faults"] {
        let mut still = AnyOperation::from_key(key).expect("there");
        still.group_mut().set("wind", &Value::None).expect("none");
        operations.push(still);
    }
    for operation in operations {
        let recipe = recipe(operation);
        let operation = &recipe.stack[1].operation;
        let grid = Grid::new(recipe.world.extent(), 130, 77);
        assert_eq!(stack::can_evaluate_parts(&recipe, grid), operation.is_pointwise());
        if operation.is_pointwise() {
            checked += 1;
            check(&recipe, operation.key());
        }
    }
    assert!(checked >= 9, "{checked}");
}

#[test]
#[ignore = "slow: a large map"]
fn nightly_parts_of_large_maps_with_rivers_are_those_of_the_whole() {
    let world = World { width_m: 40_960.0, depth_m: 20_480.0, ..Default::default() };
    let faults = Faults { count: 60, ..Faults::default() };
    let rivers = Faults { rivers: Some(Default::default()), ..faults.clone() };
    let erosion = FluvialErosion { count: 5, sea_m: Some(-50.0), ..FluvialErosion::default() };
    // A part inside and one at the corner of the world.
    let cases = [
        (vec![Step::new(Noise::default()), Step::new(rivers)], ([1000, 900], [300, 400])),
        (vec![Step::new(faults), Step::new(erosion)], ([4000, 2000], [97, 49])),
    ];
    for (stack, (first, size)) in cases {
        let recipe = Recipe { stack, world: world.clone(), ..Default::default() };
        let grid = Grid::new(world.extent(), 4097, 2049);
        assert!(stack::can_evaluate_parts(&recipe, grid));
        let whole = terrain(&recipe, grid);
        let part = terrain(&recipe, grid.part(first, size));
        assert!(part == whole.part(GridPart { first, size }), "{:?} of {first:?}", recipe.stack[1].operation.key());
        if recipe.stack[1].operation.key() == "fluvial_erosion" {
            let pits = pits(&whole, -50.0);
            assert!(pits.is_empty(), "{pits:?}");
        }
        // Steps of erosion on eroded terrain need the whole map.
        let twice =
            Recipe { stack: [&*recipe.stack, &[Step::new(FluvialErosion::default())]].concat(), ..recipe.clone() };
        assert!(!stack::can_evaluate_parts(&twice, grid));
        assert!(!stack::can_evaluate_parts(&recipe, Grid::new(world.extent(), 2049, 1025)), "computed at once");
    }
}

#[test]
fn only_masks_without_neighbours_are_pointwise() {
    for source in [
        MaskSource::Elevation,
        MaskSource::Border,
        MaskSource::Image,
        MaskSource::Polygon,
        MaskSource::Noise,
        MaskSource::Painted,
    ] {
        let mut recipe = recipe(Noise { amplitude_m: 300.0, ..Default::default() }.into());
        let elevation_m = Band { min: 0.0, max: 10_000.0 };
        let points_m: List<Point> =
            [[900.0, 100.0], [3900.0, 700.0], [1500.0, 1800.0]].map(|[x_m, z_m]| Point { x_m, z_m }).to_vec().into();
        let stroke = PaintedStroke { points_m: points_m.clone(), radius_m: 300.0, ..Default::default() };
        let mask = Mask {
            source,
            elevation_m,
            file: FileName("a.png".into()),
            // A feather blurs an image, which needs the samples around.
            feather_m: (source != MaskSource::Image).then_some(250.0),
            points_m,
            strokes: vec![stroke].into(),
            ..Default::default()
        };
        recipe.stack[1].settings.mask = vec![mask].into();
        check(&recipe, &format!("{source:?}"));
    }
    let mut recipe = recipe(Noise::default().into());
    recipe.stack[1].settings.mask = vec![Mask { source: MaskSource::Slope, ..Default::default() }].into();
    assert!(!stack::can_evaluate_parts(&recipe, Grid::new(recipe.world.extent(), 33, 33)));
}

/// Results by key, and how many of them were read.
#[derive(Debug, Default)]
struct Results(Mutex<(BTreeMap<String, Vec<u8>>, usize)>);

impl ResultCache for Results {
    fn get(&self, key: &ResultKey) -> Option<Vec<u8>> {
        let mut results = self.0.lock().expect("not poisoned");
        let found = results.0.get(&key.to_string()).cloned();
        results.1 += usize::from(found.is_some());
        found
    }

    fn has(&self, key: &ResultKey) -> bool {
        self.0.lock().expect("not poisoned").0.contains_key(&key.to_string())
    }

    fn put(&self, key: &ResultKey, contents: &[u8]) {
        self.0.lock().expect("not poisoned").0.insert(key.to_string(), contents.to_vec());
    }

    fn problem(&self) -> Option<String> {
        None
    }
}

fn shared_terrain(recipe: &Recipe, grid: Grid, results: &Arc<Results>) -> Heightfield {
    let mut evaluator = Evaluator::uncached();
    evaluator.share(Some(results.clone()));
    let terrain = evaluator.evaluate(recipe, grid, None, &inputs(), &Progress::new()).expect("not cancelled");
    Arc::unwrap_or_clone(terrain)
}

/// Recipes with rivers in a world that is long and narrow, so that large maps have few samples.
fn narrow_rivers() -> [Recipe; 2] {
    let world = World { width_m: 40_960.0, depth_m: 480.0, ..Default::default() };
    let rivers = Faults { count: 30, rivers: Some(Default::default()), ..Faults::default() };
    let erosion = FluvialErosion { count: 5, ..FluvialErosion::default() };
    [Step::new(rivers), Step::new(erosion)].map(|step| {
        let stack = vec![Step::new(Noise::default()), step];
        Recipe { stack, world: world.clone(), ..Default::default() }
    })
}

#[test]
fn shared_results_give_the_same_parts_of_large_maps_with_rivers() {
    for recipe in narrow_rivers() {
        // Twice as fine as the last mesh.
        let grid = Grid::new(recipe.world.extent(), 8193, 97);
        assert!(stack::can_evaluate_parts(&recipe, grid));
        let whole = terrain(&recipe, grid);
        let results = Arc::new(Results::default());
        // Of one block, of this one and the next, and the same again.
        let parts = [([400, 0], [600, 97]), ([1200, 4], [400, 60]), ([1200, 4], [400, 60])];
        // The terrain at the points of the operation, a band of that of the world, and blocks. Each is read once, and nothing
        // of the world if no block is missing.
        for ((first, size), expected) in parts.into_iter().zip([(3, 0), (4, 3), (4, 6)]) {
            let part = shared_terrain(&recipe, grid.part(first, size), &results);
            assert!(part == whole.part(GridPart { first, size }), "{first:?}, {size:?}");
            let results = results.0.lock().expect("not poisoned");
            assert_eq!((results.0.len(), results.1), expected, "{first:?}, {size:?}: {:?}", results.0.keys());
        }
        // What is damaged is computed again.
        results.0.lock().expect("not poisoned").0.values_mut().for_each(|bytes| bytes.truncate(40));
        let (first, size) = parts[1];
        let part = shared_terrain(&recipe, grid.part(first, size), &results);
        assert!(part == whole.part(GridPart { first, size }), "damaged");
    }
}

#[test]
fn shared_results_belong_to_a_step_and_a_size() {
    for recipe in narrow_rivers() {
        let results = Arc::new(Results::default());
        let part = |recipe: &Recipe, samples: usize| {
            let grid = Grid::new(recipe.world.extent(), samples, 49).part([200, 0], [300, 49]);
            assert!(shared_terrain(recipe, grid, &results) == terrain(recipe, grid), "{samples}");
            results.0.lock().expect("not poisoned").0.len()
        };
        let count = part(&recipe, 4097);
        assert_eq!(part(&recipe, 3073), 2 * count, "another size");
        let mut other = recipe.clone();
        other.stack[1].settings.seed += 1;
        assert!(part(&other, 4097) >= 2 * count, "other random numbers");
    }
    // Erosion within a group gets the terrain below from the map.
    let [_, eroded] = narrow_rivers();
    let group = Step::new(AnyOperation::from_key("group").expect("there"));
    let members = eroded.stack.iter().map(|step| Step { depth: 1, ..step.clone() });
    let grouped = Recipe { stack: members.chain([group]).collect(), ..eroded.clone() };
    let (results, grid) = (Arc::new(Results::default()), Grid::new(eroded.world.extent(), 4097, 49));
    assert!(shared_terrain(&grouped, grid, &results) == terrain(&grouped, grid));
    assert!(results.0.lock().expect("not poisoned").0.is_empty(), "not shared");
}
