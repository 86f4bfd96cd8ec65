//! Heights of `build` compared with the sum of the faults that `faults` prints.

use serde_json::{Value, json};

use super::{Sandbox, faults_project, floats, project};

/// The sum of the first `count` printed faults, as documented.
fn sum_by_hand(printed: &Value, count: usize, [width, height]: [usize; 2]) -> Vec<f64> {
    let number = |value: &Value| value.as_f64().expect("a number");
    let [world_x, world_z] = [0, 1].map(|i| number(&printed["world_m"][i]));
    let faults = printed["faults"].as_array().expect("a list");
    let at = |index: usize| {
        let x = (index % width) as f64 * world_x / (width - 1) as f64;
        let z = (index / width) as f64 * world_z / (height - 1) as f64;
        let lift = |fault: &Value| {
            assert_eq!(fault["profile"], "step");
            let [point, normal] = ["point_m", "normal"].map(|key| [0, 1].map(|i| number(&fault[key][i])));
            let distance = (x - point[0]) * normal[0] + (z - point[1]) * normal[1];
            number(&fault["displacement_m"]) * if distance >= 0.0 { 1.0 } else { -1.0 }
        };
        faults[..count].iter().map(lift).sum()
    };
    (0..width * height).map(at).collect()
}

#[track_caller]
fn assert_same_heights(built: &[f32], expected: &[f64], what: &str) {
    assert_eq!(built.len(), expected.len(), "{what}");
    for (i, (height, expected)) in built.iter().zip(expected).enumerate() {
        let rounding = expected.abs().max(1.0) * f64::from(f32::EPSILON);
        assert!((f64::from(*height) - expected).abs() <= rounding, "{what}: {height} for {expected} at {i}");
    }
}

#[test]
fn heights_are_the_sum_of_the_printed_faults() {
    let sandbox = Sandbox::new();
    for line in ["normal_form", "two_points"] {
        sandbox.write("p.upthrust.json", faults_project(line));
        for seed in [1, 1994, 4_294_967_295_u32] {
            let printed = sandbox.json(&format!("faults p.upthrust.json --seed {seed}"));
            assert_eq!((&printed["world_m"], &printed["step"]), (&json!([4000.0, 3000.0]), &json!(0)));
            let numbers: Vec<u64> =
                printed["faults"].as_array().expect("a list").iter().filter_map(|fault| fault["i"].as_u64()).collect();
            assert!(numbers.iter().copied().eq(1..=60));

            sandbox.succeed(&format!("build p.upthrust.json --seed {seed} --size 41x33 --heightmap h.r32 --force"));
            assert_same_heights(&floats(&sandbox.read("h.r32")), &sum_by_hand(&printed, 60, [41, 33]), line);
            for k in [0, 1, 17] {
                sandbox.succeed(&format!(
                    "build p.upthrust.json --seed {seed} --size 41x33 --heightmap h.r32 --iterations {k} --force"
                ));
                assert_same_heights(&floats(&sandbox.read("h.r32")), &sum_by_hand(&printed, k, [41, 33]), line);
            }
        }
    }
}

#[test]
fn heights_are_the_sum_of_the_printed_trees() {
    let sandbox = Sandbox::new();
    for layout in ["structured", "unstructured"] {
        let step = json!({"operation": "bsp_faults", "count": 12, "depth": 4, "layout": layout, "displacement_m": 33.3,
                "wind": null});
        sandbox.write("p.upthrust.json", project(&json!([step])));
        let printed = sandbox.json("faults p.upthrust.json");
        let trees = printed["faults"].as_array().expect("a list");
        assert!(trees.iter().filter_map(|tree| tree["i"].as_u64()).eq(1..=12));
        assert!(trees.iter().all(|tree| tree["nodes"].as_array().is_some_and(|nodes| nodes.len() == 15)));

        let lift = |tree: &Value, x: f64, z: f64| {
            let (mut node, mut lift) = (&tree["nodes"][0], 0.0);
            let mut amplitude = tree["displacement_m"].as_f64().expect("a number");
            loop {
                let [from, to] =
                    ["from_m", "to_m"].map(|key| [0, 1].map(|axis| node[key][axis].as_f64().expect("a number")));
                // The right-hand side when facing along the line on a map with north at the top.
                let is_right = (to[0] - from[0]) * (z - from[1]) - (to[1] - from[1]) * (x - from[0]) >= 0.0;
                lift += if is_right { amplitude } else { -amplitude };
                amplitude /= 2.0;
                match node[if is_right { "right" } else { "left" }].as_u64() {
                    Some(child) => node = &tree["nodes"][child as usize],
                    None => return lift,
                }
            }
        };
        let sum = |count: usize| -> Vec<f64> {
            let at = |i: usize| ((i % 41) as f64 * 100.0, (i / 41) as f64 * 3000.0 / 32.0);
            (0..41 * 33).map(|i| trees[..count].iter().map(|tree| lift(tree, at(i).0, at(i).1)).sum()).collect()
        };
        for k in [1, 12] {
            sandbox.succeed(&format!("build p.upthrust.json --size 41x33 --heightmap h.r32 --iterations {k} --force"));
            assert_same_heights(&floats(&sandbox.read("h.r32")), &sum(k), layout);
        }
    }
}

#[test]
fn heights_are_the_sum_of_the_printed_drawn_faults() {
    let sandbox = Sandbox::new();
    let step = json!({"operation": "drawn_faults", "faults": [
        {"from_m": [300, 2900], "to_m": [2500, 100], "profile": "step", "displacement_m": 70, "at": 3},
        {"from_m": [3900, 100], "to_m": [100, 400], "profile": "step", "displacement_m": -12.5},
        {"from_m": [1000, 1000], "to_m": [2000, 1000], "profile": "step", "enabled": false},
        {"from_m": [1000, 2000], "to_m": [2500, 2100], "profile": "step", "reach_m": 500, "at": 9},
    ]});
    sandbox.write("p.upthrust.json", project(&json!([step])));
    let printed = sandbox.json("faults p.upthrust.json");
    let lines = printed["faults"].as_array().expect("a list");
    assert!(lines.iter().filter_map(|line| line["i"].as_u64()).eq([1, 3, 9]));
    let number = |value: &Value| value.as_f64().expect("a number");
    let lift = |line: &Value, x: f64, z: f64| {
        let [[px, pz], [nx, nz]] = ["point_m", "normal"].map(|key| [0, 1].map(|axis| number(&line[key][axis])));
        let (east, south) = (x - px, z - pz);
        let side = if east * nx + south * nz >= 0.0 { 1.0 } else { -1.0 };
        let whole = side * number(&line["displacement_m"]);
        let Some(reach) = line["reach_m"].as_f64() else { return whole };
        let along = east * nz - south * nx;
        let rest = (1.0 - (-along).max(along - number(&line["length_m"])).max(0.0) / reach).max(0.0);
        whole * rest * rest * (3.0 - 2.0 * rest)
    };
    let at = |i: usize| ((i % 41) as f64 * 100.0, (i / 41) as f64 * 3000.0 / 32.0);
    for (k, come) in [(2, 1), (3, 2), (9, 3)] {
        let sum: Vec<f64> =
            (0..41 * 33).map(|i| lines[..come].iter().map(|line| lift(line, at(i).0, at(i).1)).sum()).collect();
        sandbox.succeed(&format!("build p.upthrust.json --size 41x33 --heightmap h.r32 --iterations {k} --force"));
        // Fading faults are rounded to the fixed-point grid of 2⁻²⁰ m.
        let built = floats(&sandbox.read("h.r32"));
        assert!(built.iter().zip(&sum).all(|(height, sum)| (f64::from(*height) - sum).abs() < 1e-5 * 70.0));
    }
    let build = "build p.upthrust.json --heightmap h.r32 --force --set stack.0.faults.1.zone_m=-1";
    sandbox.fail(build, 2, "stack.0.faults.1.zone_m: Fault zone must be from 0");
}

#[test]
fn thread_count_does_not_change_the_bytes() {
    let sandbox = Sandbox::new();
    let stack = json!([
        {"operation": "faults", "count": 25, "line": "two_points", "wind": {"form": "averaged", "sweeps": 2, "k": 0.5}},
        {"operation": "faults", "count": 40, "profile": "sine", "zone_m": 300},
        {"operation": "recursive_filter", "k": 0.3},
    ]);
    sandbox.write("p.upthrust.json", project(&stack));
    let built = [1, 2, 7].map(|threads| {
        sandbox
            .succeed(&format!("build p.upthrust.json -o t{threads} --size 129 --texture-size 64 --threads {threads}"));
        ["height.png", "height.png.json", "texture.png"].map(|name| sandbox.read(&format!("t{threads}/{name}")))
    });
    assert!(built.iter().all(|files| *files == built[0]));
}

#[test]
fn a_small_map_is_an_exact_subset_of_a_large_one() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("normal_form"));
    let [small, large] = [257, 1025].map(|side| {
        sandbox.succeed(&format!("build p.upthrust.json --size {side}x{side} --heightmap h{side}.r32"));
        floats(&sandbox.read(&format!("h{side}.r32")))
    });
    for r in 0..257 {
        for c in 0..257 {
            assert_eq!(small[r * 257 + c].to_bits(), large[4 * r * 1025 + 4 * c].to_bits(), "({c}, {r})");
        }
    }
}
