//! `upthrust build --scatter`.

use serde_json::{Value, json};

use super::Sandbox;

/// Hills of 1 km with trees on gentle slopes and rocks between them.
fn project(layers: &Value) -> String {
    let stack = json!([{"operation": "faults", "count": 60, "displacement_m": 30, "zone_m": 120}]);
    let recipe = json!({"world": {"width_m": 1000, "depth_m": 1000}, "stack": stack, "scatter": layers});
    json!({"format": 1, "recipe": recipe}).to_string()
}

fn layers() -> Value {
    json!([
        {"name": "trees", "spacing_m": 9, "mask": {"source": "slope", "slope_deg": [0, 20]}, "align": 0.5},
        {"name": "rocks", "spacing_m": 14, "amount": 0.5, "seed": 3, "avoid": [{"layer": "trees", "distance_m": 4}]},
    ])
}

/// The layer and the place of each line of a table.
fn places(table: &str) -> Vec<(String, [f64; 3])> {
    let place = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse().expect("a number");
        (fields[0].to_string(), [number(1), number(2), number(3)])
    };
    table.lines().skip(1).map(place).collect()
}

#[test]
fn things_are_apart_and_nearly_the_same_at_every_size() {
    let sandbox = Sandbox::new();
    sandbox.write("land.json", project(&layers()));
    let files = "--scatter a.csv --scatter a.json --scatter a.glb --scatter-density density";
    let text = sandbox.succeed(&format!("build land.json --size 257 {files} --heightmap h.r32"));
    assert!(text.contains("wrote a.glb"), "{text}");
    assert_eq!(sandbox.names_in("density"), ["density_00_trees.png", "density_01_rocks.png"]);
    let table = std::fs::read_to_string(sandbox.path("a.csv")).expect("a table");
    let found = places(&table);
    assert!(found.len() > 3000, "{} instances", found.len());
    let least_m = |a: &str, b: &str| match (a, b) {
        ("trees", "trees") => 9.0,
        ("rocks", "rocks") => 14.0,
        _ => 4.0,
    };
    for (i, (layer, [x, _, z])) in found.iter().enumerate() {
        for (other, [other_x, _, other_z]) in &found[i + 1..] {
            let square = (x - other_x) * (x - other_x) + (z - other_z) * (z - other_z);
            assert!(square.sqrt() >= least_m(layer, other), "{layer} and {other}");
        }
    }
    let json: Value = serde_json::from_slice(&std::fs::read(sandbox.path("a.json")).expect("JSON")).expect("JSON");
    let counts: Vec<usize> = json["layers"]
        .as_array()
        .expect("layers")
        .iter()
        .map(|l| l["instances"].as_array().expect("instances").len())
        .collect();
    assert_eq!(counts.iter().sum::<usize>(), found.len());

    // A finer map has the same instances, but for a few at the edge of the mask; in any number of threads exactly the
    // same.
    sandbox.succeed("build land.json --size 1025 --scatter b.csv");
    let finer = places(&std::fs::read_to_string(sandbox.path("b.csv")).expect("a table"));
    let key = |(layer, [x, _, z]): &(String, [f64; 3])| format!("{layer} {x} {z}");
    let known: std::collections::BTreeSet<String> = found.iter().map(key).collect();
    let same = finer.iter().filter(|place| known.contains(&key(place))).count();
    assert!(same as f64 > 0.98 * found.len().max(finer.len()) as f64, "{same} of {} and {}", found.len(), finer.len());
    sandbox.succeed("build land.json --size 257 --scatter c.csv --threads 1");
    assert_eq!(std::fs::read_to_string(sandbox.path("c.csv")).expect("a table"), table);
}

#[test]
fn targets_write_what_is_scattered_and_mistakes_are_explained() {
    let sandbox = Sandbox::new();
    sandbox.write("land.json", project(&layers()));
    let steps_of = |folder: &str| {
        let manifest = std::fs::read(sandbox.path(&format!("{folder}/upthrust.json"))).expect("a manifest");
        let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
        manifest["steps"].to_string()
    };
    sandbox.succeed("build land.json --size 127 --for unreal -o unreal");
    let steps = steps_of("unreal");
    assert!(steps.contains("scatter.csv lists the scattered instances, in centimetres"), "{steps}");
    let table = std::fs::read_to_string(sandbox.path("unreal/scatter.csv")).expect("a table");
    assert!(table.starts_with("---,Layer,X,Y,Z,Yaw,Pitch,Roll,Scale\n0,trees,"), "{}", &table[..80]);
    let manifest = std::fs::read(sandbox.path("unreal/upthrust.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["scatter"][0]["file"], "scatter.csv");
    sandbox.succeed("build land.json --size 65 --for generic -o all");
    assert!(steps_of("all").contains("EXT_mesh_gpu_instancing"));

    let known = ".csv .json .glb (scatter)";
    sandbox.fail("build land.json --size 65 --scatter a.txt", 2, known);
    sandbox.fail("build land.json --size 65 --tiles 2x2 --tile 0,0 --heightmap h.png --scatter a.csv", 2, "--tile");
    sandbox.fail("build preset:rolling-hills --size 65 --scatter a.csv", 1, "nothing is scattered");
    let wrong = |layer: Value, problem: &str| {
        sandbox.write("wrong.json", project(&json!([layer])));
        sandbox.fail("build wrong.json --size 65 --scatter a.csv", 1, problem);
    };
    wrong(json!({"types": [{"name": "Meado"}]}), "scatter.0.types.0.name: there is no terrain type \"Meado\"");
    wrong(
        json!({"avoid": [{"layer": "Trees"}]}),
        "scatter.0.avoid.0.layer: the layer \"Trees\" must be above this one",
    );
    wrong(json!({"spacing_m": 0}), "spacing_m");
    let large = "--set world.width_m=1000000 --set world.depth_m=1000000 --set scatter.0.spacing_m=0.05";
    sandbox.fail(&format!("build land.json --size 65 {large} --scatter a.csv"), 1, "memory");
    assert!(!sandbox.path("a.csv").exists());
}
