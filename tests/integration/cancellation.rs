//! Cancelled work stops soon. The slow tests measure how much processor time it takes after the cancellation, each in
//! its own process.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use crate::common;
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use upthrust::engine::parameters::{Band, Kind, Parameter, set_from_json};
use upthrust::engine::scatter::{ScatterLayer, scatter};
use upthrust::engine::stack::{Evaluator, evaluate};
use upthrust::engine::texture::{
    AnalysisMap, MapTerrain, PaintInput, PaintOnce, PixelRegion, Points, SurfaceMaps, analysis_map, paint, paint_once,
    weight_maps,
};
use upthrust::engine::{AnyOperation, Cancelled, Extent, Grid, Heightfield, Image, Progress, Recipe, Step};
use upthrust::files::formats::{heightmap, image};

/// The processor time that each thread may take after a cancellation.
const MAX_PER_THREAD: Duration = Duration::from_millis(50);

fn max_latency() -> Duration {
    MAX_PER_THREAD * u32::try_from(rayon::current_num_threads()).expect("few threads")
}

fn grid() -> Grid {
    Grid::new(Extent { width_m: 8192.0, depth_m: 8192.0 }, 1025, 1025)
}

fn recipe(json: &Value) -> Recipe {
    Recipe::from_json(json).expect("a valid recipe")
}

/// Runs until it finishes or is cancelled; returns whether it was cancelled.
type Work<'a> = &'a (dyn Fn(&Progress) -> bool + Sync);

/// The longest processor time that a job takes after being cancelled at one of several moments; `None` if it was done
/// before each of them.
fn latency(work: Work) -> Option<Duration> {
    let cancelled_after = |moment| {
        let progress = Progress::new();
        let (sender, receiver) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let cancelled = work(&progress);
                let stopped = ProcessTime::now();
                drop(sender);
                (cancelled, stopped)
            });
            // Returns early if the job is done.
            let _ = receiver.recv_timeout(moment);
            let asked = ProcessTime::now();
            progress.cancel();
            let (cancelled, stopped) = worker.join().expect("no panic");
            cancelled.then(|| stopped.duration_since(asked))
        })
    };
    // Page faults and a cold cache can delay one try. A job that checks too rarely is late in all of them.
    let shortest = |moment| {
        let tries = (0..3).map_while(|_| cancelled_after(moment));
        tries
            .scan(true, |again, latency| {
                again.then(|| {
                    *again = latency >= max_latency();
                    latency
                })
            })
            .min()
    };
    [1, 15, 60, 150].map(Duration::from_millis).into_iter().filter_map(shortest).max()
}

/// Prints the latency of a job and returns it if it is too long.
fn report(name: &str, latency: Option<Duration>) -> Option<(&str, Duration)> {
    match latency {
        Some(latency) => println!("{name:<60} stopped after {:>7.2} ms", latency.as_secs_f64() * 1e3),
        None => println!("{name:<60} done before"),
    }
    latency.filter(|latency| *latency >= max_latency()).map(|latency| (name, latency))
}

#[test]
fn a_cancelled_token_stops_every_operation() {
    let grid = Grid::new(Extent { width_m: 8192.0, depth_m: 8192.0 }, 65, 65);
    for operation in common::operations() {
        let key = operation.key();
        let recipe = Recipe { stack: common::on_fault_terrain(operation, 60), ..Default::default() };
        let mut evaluator = Evaluator::new();
        let progress = Progress::new();
        progress.cancel();
        assert_eq!(evaluator.evaluate(&recipe, grid, None, common::inputs(), &progress), Err(Cancelled), "{key}");
        // Nothing of the cancelled evaluation is left in the cache.
        let evaluated = evaluator.evaluate(&recipe, grid, None, common::inputs(), &Progress::new());
        let expected = evaluate(&recipe, grid, None, common::inputs(), &Progress::new()).expect("not cancelled");
        assert!(evaluated.as_deref() == Ok(&expected), "{key}");
    }
}

#[test]
#[ignore = "slow: measures processor time in a process of its own"]
fn nightly_long_evaluations_and_paintings_stop_in_time() {
    common::in_own_process("cancellation::nightly_long_evaluations_and_paintings_stop_in_time", || {
        let evaluation = |stack: Value| {
            let recipe = recipe(&json!({ "stack": stack }));
            move |progress: &Progress| evaluate(&recipe, grid(), None, common::inputs(), progress) == Err(Cancelled)
        };
        let windy = evaluation(json!([{"operation": "faults", "count": 1000, "wind": {"k": 0.3}}]));
        let rainy =
            evaluation(json!([{"operation": "faults", "count": 1000, "wind": {"form": "averaged", "passes": 50}}]));
        let plain = evaluation(json!([{"operation": "faults", "count": 100_000, "profile": "step"}]));
        let waves =
            evaluation(json!([{"operation": "faults", "count": 20_000, "profile": "gaussian", "zone_m": 4000}]));
        let filter =
            evaluation(json!([{"operation": "faults", "count": 9}, {"operation": "recursive_filter", "passes": 900}]));
        let painted = recipe(&json!({}));
        let small = Heightfield::from_fn(grid(), |c, r| (c * r % 977) as f32);
        let texture = |progress: &Progress| {
            paint_once(
                &small,
                PaintOnce::new(&painted.texture, common::inputs(), Some(&painted.light)),
                [4096, 4096],
                progress,
            )
            .is_err()
        };
        let textured = common::textured(&painted.texture, 200.0);
        let textures = |progress: &Progress| {
            paint_once(
                &small,
                PaintOnce::new(&textured, common::inputs(), Some(&painted.light)),
                [4096, 4096],
                progress,
            )
            .is_err()
        };
        let rivers = evaluation(json!([
            {"operation": "faults", "count": 9},
            {"operation": "fluvial_erosion", "slope_exponent": 1.3, "reference_samples": 513, "sea_m": 0, "count": 400},
        ]));
        let works: [(&str, Work); 8] = [
            ("1025², 1000 faults with wind", &windy),
            ("1025², 1000 faults, 50 passes of rain after each", &rainy),
            ("1025², 100,000 plain faults", &plain),
            ("1025², 20,000 gaussian faults, wide zones", &waves),
            ("1025², 900 passes of the filter", &filter),
            ("1025², rivers on 513² with a sea", &rivers),
            ("texture 4096²", &texture),
            ("texture 4096² with material textures", &textures),
        ];
        let missed: Vec<_> = works
            .into_iter()
            .filter_map(|(name, work)| {
                let latency = latency(work);
                assert!(latency.is_some(), "{name}: done before the cancellation");
                report(name, latency)
            })
            .collect();
        assert!(missed.is_empty(), "{missed:?}");
    });
}

#[test]
#[ignore = "slow: measures processor time in a process of its own"]
fn nightly_maps_and_encoders_stop_in_time() {
    common::in_own_process("cancellation::nightly_maps_and_encoders_stop_in_time", || {
        let terrain = Heightfield::from_fn(grid(), |c, r| (c * r % 977) as f32);
        let (painted, surface_maps) = (recipe(&json!({})), SurfaceMaps::default());
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &surface_maps,
            recipe: &painted.texture,
            fixed_range_m: None,
            inputs: common::inputs(),
        };
        let points = Points::Pixels([4096, 4096]);
        let mut missed = Vec::new();
        let mut check = |name: &str, work: Work| {
            let latency = latency(work);
            assert!(latency.is_some(), "{name}: done before the cancellation");
            missed.extend(report(name, latency).map(|(name, latency)| (name.to_string(), latency)));
        };
        check("weights 4096²", &|progress| weight_maps(input, points, 255, progress).is_err());
        for what in AnalysisMap::ALL {
            check(&format!("{} 4096²", what.key()), &|progress| {
                analysis_map(&MapTerrain::complete(&terrain), what, points, 255, progress).is_err()
            });
        }
        let image = Image { width: 8192, height: 4096, pixels: vec![[7; 4]; 8192 * 4096] };
        let range_m = Band { min: 0.0, max: 976.0 };
        let encoded = |progress: &Progress| {
            let (rows, encoding) = (heightmap::Rows::all(&terrain), heightmap::Encoding::default());
            heightmap::write(&mut std::io::empty(), Path::new("a.png"), rows, range_m, encoding, progress).is_err()
        };
        check("1025², encoded", &encoded);
        let painted_in_strips = |progress: &Progress| {
            let strip = |rows: Range<usize>| {
                let part = PixelRegion { full_size: [8192; 2], origin: [0, rows.start], size: [8192, rows.len()] };
                paint(input, None, Points::PixelRegion(part), progress).map(|painted| painted.image)
            };
            image::paint_and_write(&mut std::io::empty(), Path::new("a.png"), [8192; 2], None, strip, progress).is_err()
        };
        check("texture 8192², painted and encoded in strips", &painted_in_strips);
        let layer = ScatterLayer { spacing_m: 4.0, align: 1.0, ..ScatterLayer::default() };
        let wooded =
            Recipe { scatter: vec![layer].into(), ..recipe(&json!({"world": {"width_m": 8192, "depth_m": 8192}})) };
        check("three million scattered instances", &|progress| {
            scatter(&wooded, &terrain, common::inputs(), progress).is_err()
        });
        check("8192 × 4096, flipped", &|progress| image.flipped([true, true], progress).is_err());
        assert!(missed.is_empty(), "{missed:?}");
    });
}

/// The values of an operation's integer parameters (counts, passes, levels, …).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Default,
    SliderEnd,
    HardEnd,
    /// The ends of the sliders, with all optional groups on, such as wind after every fault.
    Everything,
}

impl Length {
    fn value(self, parameter: &Parameter) -> Option<Value> {
        match (parameter.kind, self) {
            (_, Self::Default) => None,
            (Kind::Integer, Self::SliderEnd | Self::Everything) => Some(json!(parameter.slider.high)),
            (Kind::Integer, Self::HardEnd) => Some(json!(parameter.hard.high)),
            (Kind::Group(table), Self::Everything) => {
                let fields = table().iter().filter_map(|field| Some((field.key.to_string(), self.value(field)?)));
                Some(Value::Object(fields.collect()))
            }
            _ => None,
        }
    }

    fn of(self, mut operation: AnyOperation) -> AnyOperation {
        for parameter in operation.table() {
            if let Some(value) = self.value(parameter) {
                set_from_json(operation.group_mut(), parameter.key, &value).expect("within the hard range");
            }
        }
        operation
    }
}

/// Operations that can finish a 1025² map before the first cancellation with any parameters, because they pass over the
/// samples once or, like a group without members, not at all.
const SINGLE_PASS: [&str; 12] = [
    "heightmap",
    "sculpt",
    "clamp",
    "levels",
    "edge_fade",
    "island",
    "terrace",
    "symmetry",
    "pads",
    "paths",
    "stamps",
    "group",
];

#[test]
#[ignore = "slow: measures processor time in a process of its own"]
fn nightly_every_operation_stops_in_time() {
    common::in_own_process("cancellation::nightly_every_operation_stops_in_time", || {
        let mut never_stopped: Vec<&str> = common::operations().iter().map(AnyOperation::key).collect();
        never_stopped.retain(|key| !SINGLE_PASS.contains(key));
        for length in [Length::Default, Length::SliderEnd, Length::Everything, Length::HardEnd] {
            let rows = common::operations().into_iter().map(|operation| {
                let key = operation.key();
                let name = format!("1025², {key}, {length:?}");
                let stack = common::on_fault_terrain(length.of(operation), 60);
                let [below, _] = &stack[..] else { unreachable!("an operation on fault terrain") };
                // The terrain below is cached, so only the operation is timed.
                let evaluator = Mutex::new(Evaluator::new());
                let evaluated = |stack: Vec<Step>, progress: &Progress| {
                    let recipe = Recipe { stack, ..Default::default() };
                    evaluator.lock().expect("no panic").evaluate(&recipe, grid(), None, common::inputs(), progress)
                };
                evaluated(vec![below.clone()], &Progress::new()).expect("not cancelled");
                let latency = latency(&|progress| evaluated(stack.clone(), progress).is_err());
                if latency.is_some() {
                    never_stopped.retain(|other| *other != key);
                }
                (name, latency)
            });
            let rows: Vec<_> = rows.collect();
            let missed: Vec<_> = rows.iter().filter_map(|(name, latency)| report(name, *latency)).collect();
            assert!(missed.is_empty(), "{missed:?}");
        }
        // An operation that always finishes first was not tested.
        assert!(never_stopped.is_empty(), "never cancelled: {never_stopped:?}");
    });
}

/// Steps that are fast at 1025² must check for cancellation on large maps, too: copies, and passes over all samples.
#[test]
#[ignore = "slow: measures processor time in a process of its own"]
fn nightly_large_maps_stop_in_time() {
    common::in_own_process("cancellation::nightly_large_maps_stop_in_time", || {
        let grid = Grid::new(Extent { width_m: 8192.0, depth_m: 8192.0 }, 4097, 4097);
        // The terrain below is cached.
        let evaluator = Mutex::new(Evaluator::new());
        let below = json!({"operation": "circles", "count": 20});
        let evaluated = |stack: Value, progress: &Progress| {
            let recipe = recipe(&json!({ "stack": stack }));
            evaluator.lock().expect("no panic").evaluate(&recipe, grid, None, common::inputs(), progress).is_err()
        };
        assert!(!evaluated(json!([below]), &Progress::new()));
        let mut missed = Vec::new();
        let mut check = |name: &str, work: Work| {
            let name = format!("4097², {name}");
            let latency = latency(work);
            assert!(latency.is_some(), "{name}: done before the cancellation");
            missed.extend(report(&name, latency).map(|(name, latency)| (name.to_string(), latency)));
        };
        for step in [
            json!({"operation": "recursive_filter", "passes": 9}),
            json!({"operation": "recursive_filter", "form": "averaged", "passes": 9}),
            json!({"operation": "gaussian_blur"}),
            json!({"operation": "box_blur"}),
            json!({"operation": "levels"}),
            json!({"operation": "band_filter"}),
            json!({"operation": "band_filter", "along": "columns"}),
            json!({"operation": "kernel_filter"}),
            json!({"operation": "fluvial_erosion", "count": 3}),
            json!({"operation": "thermal_erosion"}),
            json!({"operation": "hydraulic_erosion", "count": 2}),
            json!({"operation": "mountains", "sea_m": 10}),
            json!({"operation": "midpoint"}),
            json!({"operation": "particles", "count": 3}),
            json!({"operation": "faults", "count": 40, "wind": {"form": "averaged"}}),
            json!({"operation": "group", "steps": [{"operation": "midpoint"}]}),
        ] {
            check(&step.to_string(), &|progress| evaluated(json!([below, step]), progress));
        }
        // A step whose own terrain is cached is only blended, here with a new strength each time.
        let blended = |strength: f64, progress: &Progress| {
            let step = json!({"operation": "circles", "count": 9, "strength": strength, "mask": {"source": "slope"}});
            evaluated(json!([below, step]), progress)
        };
        assert!(!blended(1.0, &Progress::new()));
        let strength = Mutex::new(1.0);
        check("blend", &|progress| {
            let mut strength = strength.lock().expect("no panic");
            *strength *= 0.9;
            blended(*strength, progress)
        });
        assert!(missed.is_empty(), "{missed:?}");
    });
}
