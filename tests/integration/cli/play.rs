//! `upthrust play` and `upthrust search`.

use serde_json::{Value, json};

use super::Sandbox;

fn marker(kind: &str, name: &str, team: &str, at_m: [u32; 2]) -> Value {
    json!({"kind": kind, "name": name, "team": team, "at_m": at_m})
}

/// Hills of faults of 2 km with two teams and an objective.
fn level(rules: &[&str]) -> String {
    let stack = json!([{"operation": "faults", "count": 120, "displacement_m": 40, "zone_m": 150}]);
    let markers = json!([
        marker("spawn", "Red base", "red", [400, 1000]),
        marker("spawn", "Blue base", "blue", [1600, 1000]),
        marker("objective", "Middle", "", [1000, 1000]),
    ]);
    let recipe = json!({"world": {"width_m": 2000, "depth_m": 2000}, "stack": stack});
    json!({"format": 1, "recipe": recipe, "level": {"markers": markers, "rules": rules}}).to_string()
}

#[test]
fn a_level_is_measured_and_its_maps_are_written() {
    let sandbox = Sandbox::new();
    sandbox.write("level.json", level(&["path(red, blue) <= 10 min"]));
    let found = sandbox.json("play level.json --size 129 --json");
    assert_eq!((found["width"].as_u64(), found["teams"].clone()), (Some(129), json!(["red", "blue"])));
    let ways = found["ways"].as_array().expect("ways");
    assert_eq!(ways.len(), 6);
    let between = |from: &str, to: &str| {
        ways.iter().find(|way| way["from"] == from && way["to"] == to).expect("a way")["length_m"].as_f64()
    };
    // No way is shorter than the straight line, and these hills leave room beside it.
    assert!((1200.0..1500.0).contains(&between("Red base", "Blue base").expect("a way")), "{ways:?}");
    assert_eq!(found["rules"][0]["holds"], true);
    assert_eq!(found["fairness"].as_array().map(Vec::len), Some(5));

    let text = sandbox.succeed("play level.json --size 65 --maps maps");
    assert!(
        text.contains("walkable for Walker: ") && text.contains("spawn \"Red base\" of red at 400 m east"),
        "{text}"
    );
    assert!(text.contains("ok     path(red, blue) <= 10 min: found "), "{text}");
    let names = sandbox.names_in("maps");
    assert_eq!(names.len(), 10, "{names:?}");
    let territory = image::open(sandbox.path("maps/territory.png")).expect("an image").to_rgb8();
    assert_eq!(territory.dimensions(), (65, 65));
    // Orange in the west, where red is first, and blue in the east.
    let [west, east] = [(8, 32), (56, 32)].map(|(x, y)| territory.get_pixel(x, y).0);
    assert!(west[0] > west[2] && east[2] > east[0], "{west:?} {east:?}");
    sandbox.fail("play level.json --size 65 --maps maps", 1, "maps/");
}

#[test]
fn failed_rules_and_mistakes_in_them_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("level.json", level(&["walkable >= 10 %", "path(red, blue) <= 1 s"]));
    let run = sandbox.run("play level.json --size 65");
    let (output, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(3), "{errors}");
    let expected = "note: these are estimates; the level is judged at its export size, 1025 × 1025 samples\n\
                    error: 1 of 2 rules failed\n";
    assert_eq!(errors, expected);
    assert!(output.contains("FAILED path(red, blue) <= 1 s: found ") && output.contains(" m east, "), "{output}");
    let run =
        sandbox.command("play level.json --size 65 --require").arg("sees(red, green) = no").output().expect("run");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("at character 11: no marker or team is called \"green\"; the markers are Red base"),
        "{errors}"
    );
}

#[test]
fn the_example_fails_its_rules_until_a_seed_is_found_and_the_arena_is_fair() {
    let sandbox = Sandbox::new();
    for name in ["hidden-bases", "two-player-arena"] {
        let path = format!("{}/examples/projects/{name}.upthrust.json", env!("CARGO_MANIFEST_DIR"));
        sandbox.write(&format!("{name}.json"), std::fs::read(path).expect("an example"));
    }
    let run = sandbox.run("play hidden-bases.json --size 257");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.code() == Some(3) && errors.ends_with("error: 2 of 5 rules failed\n"), "{errors}");
    let found = sandbox.json("search hidden-bases.json --seeds 170..185 --best 1 --coarse 129 --size 257 --json");
    assert_eq!(found[0]["broken"], 0, "{found}");
    sandbox.succeed(&format!("play hidden-bases.json --size 257 --seed {}", found[0]["seed"]));
    sandbox.succeed("play two-player-arena.json --size 1025");
}

#[test]
fn a_search_finds_the_same_seeds_at_any_thread_count() {
    let sandbox = Sandbox::new();
    sandbox.write("level.json", level(&["path(red, blue) <= 320 s", "choke(red, blue) >= 100 m"]));
    let found = sandbox.json("search level.json --seeds 1..24 --best 3 --coarse 65 --size 129 --json");
    let seeds: Vec<u64> = found.as_array().expect("seeds").iter().filter_map(|found| found["seed"].as_u64()).collect();
    let broken: Vec<u64> =
        found.as_array().expect("seeds").iter().filter_map(|found| found["broken"].as_u64()).collect();
    assert!(seeds.len() == 3 && broken.is_sorted(), "{found}");
    let again = sandbox.command("search level.json --seeds 1..24 --best 3 --coarse 65 --size 129 --json");
    let again = { again }.env("RAYON_NUM_THREADS", "1").output().expect("run");
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).expect("JSON"), found);
    // What is printed for a seed is what its terrain is measured to have.
    let seed = seeds[0];
    let measured = sandbox.run(&format!("play level.json --size 129 --seed {seed} --json"));
    let measured: Value = serde_json::from_slice(&measured.stdout).expect("JSON");
    assert_eq!(measured["rules"], found[0]["rules"]);
    sandbox.write("bare.json", level(&[]));
    sandbox.fail("search bare.json", 2, "the level has no rules to search by");
    sandbox.fail("search level.json --seeds 9..3", 2, "expected FROM..TO");
}
