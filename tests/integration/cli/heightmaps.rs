//! Heightmap formats and their sidecars.

use serde_json::{Value, json};

use super::{Sandbox, faults_project, floats, project};

#[test]
fn metres_survive_integer_formats() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("two_points"));
    sandbox.succeed("build p.upthrust.json --size 33x25 --heightmap h.r32");
    sandbox.succeed("build p.upthrust.json --size 33x25 --heightmap h.png");
    let sidecar: Value = serde_json::from_slice(&sandbox.read("h.png.json")).expect("JSON");
    assert_eq!(
        (&sidecar["width"], &sidecar["spacing_x_m"], &sidecar["recipe"]),
        (&json!(33), &json!(125.0), &json!("Test"))
    );
    sandbox.succeed("convert h.png back.r32");
    sandbox.succeed("convert h.png again.r16");
    sandbox.succeed("convert again.r16 again.png --raw u16le,33x25");
    let span = sidecar["max_m"].as_f64().expect("a number") - sidecar["min_m"].as_f64().expect("a number");
    for (a, b) in floats(&sandbox.read("back.r32")).iter().zip(floats(&sandbox.read("h.r32"))) {
        assert!(f64::from((a - b).abs()) <= 0.501 * span / 65_535.0, "{a} for {b}");
    }
    assert_eq!(sandbox.read("again.png"), sandbox.read("h.png"));

    let report = sandbox.json("inspect h.png --json");
    assert_eq!((&report["width"], &report["spacing_x_m"], &report["notes"]), (&json!(33), &json!(125.0), &json!([])));
    assert!((report["max_m"].as_f64().expect("a number") - sidecar["max_m"].as_f64().expect("a number")).abs() < 1e-3);
}

#[test]
fn headerless_files_are_read_by_their_sidecars() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("two_points"));
    sandbox.succeed("build p.upthrust.json --size 65x49 --heightmap h.r32");
    let heights = floats(&sandbox.read("h.r32"));
    let (low, high) = heights.iter().fold((f32::MAX, f32::MIN), |(low, high), h| (low.min(*h), high.max(*h)));
    for (sample, off) in [("i16le", 0.5), ("u16be", 0.501 * (high - low) / 65_535.0 + 1e-3), ("f32le", 0.0)] {
        sandbox.succeed(&format!("convert h.r32 {sample}.raw --out-raw {sample}"));
        sandbox.succeed(&format!("convert {sample}.raw {sample}.r32"));
        let back = floats(&sandbox.read(&format!("{sample}.r32")));
        assert_eq!(back.len(), heights.len());
        assert!(back.iter().zip(&heights).all(|(a, b)| (a - b).abs() <= off), "{sample}");
    }
}

#[test]
fn a_range_sets_the_integer_scale_and_the_sidecar() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("two_points"));
    sandbox.succeed("build p.upthrust.json --size 33 --heightmap h.tif --depth 16 --range -4000,4000");
    sandbox.succeed("build p.upthrust.json --size 33 --heightmap h.exr --range -4000,4000");
    let sidecar = |name: &str| serde_json::from_slice::<Value>(&sandbox.read(name)).expect("JSON");
    let tif = sidecar("h.tif.json");
    assert_eq!((&tif["min_m"], &tif["max_m"], &tif["bits"]), (&json!(-4000.0), &json!(4000.0), &json!(16)));
    assert!(sidecar("h.exr.json")["min_m"].as_f64().expect("a number") > -4000.0);
    for name in ["h.tif", "h.exr"] {
        sandbox.succeed(&format!("convert {name} {name}.r32"));
    }
    let [tif, exr] = ["h.tif.r32", "h.exr.r32"].map(|name| floats(&sandbox.read(name)));
    assert!(tif.iter().zip(&exr).all(|(a, b)| (a - b).abs() <= 0.501 * 8000.0 / 65_535.0));
}

#[test]
fn a_heightmap_step_reproduces_its_file() {
    let sandbox = Sandbox::new();
    let heights: Vec<u8> = (0..15).flat_map(|i| (i as f32 * 10.0).to_le_bytes()).collect();
    sandbox.write("in.r32", &heights);
    sandbox.succeed("convert in.r32 in.asc --raw f32le,5x3");
    sandbox.write("p.upthrust.json", project(&json!([{"operation": "heightmap", "file": "in.asc"}])));
    sandbox.succeed("build p.upthrust.json --size 5x3 --heightmap out.r32");
    assert_eq!(sandbox.read("out.r32"), heights);
}

#[test]
fn convert_notes_heights_that_the_format_cannot_hold() {
    let sandbox = Sandbox::new();
    sandbox.write("h.asc", "\u{feff}ncols 2\nnrows 2\ncellsize 30\nNODATA_value nan\n40000 1 nan 3\n");
    for (arguments, is_clamped) in [
        ("h.asc a.r16 --out-raw i16le", true),
        ("h.asc b.png --low 0 --high 1000", true),
        ("h.asc c.png --low 0 --high 40000", false),
        ("h.asc d.r32", false),
    ] {
        let output = sandbox.command(&format!("convert {arguments}")).output().expect("the program runs");
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments}: {notes}");
        assert_eq!(notes.contains("were clamped"), is_clamped, "{arguments}: {notes}");
        assert!(notes.contains("1 sample without a height"), "{arguments}: {notes}");
    }
    let sidecar: serde_json::Value = serde_json::from_slice(&sandbox.read("a.r16.json")).expect("JSON");
    assert_eq!(sidecar["max_m"], 32_767.0);
}

#[test]
fn convert_and_inspect_note_what_is_probably_not_metres() {
    let sandbox = Sandbox::new();
    let asc = |header: &str, heights: &str| format!("ncols 2\nnrows 2\n{header}{heights}\n");
    sandbox.write("normalised.asc", asc("", "0 0.25 0.5 1"));
    sandbox.write("degrees.asc", asc("xllcorner 0\nyllcorner 0\ncellsize 0.000277777777778\n", "1 2 3 4"));
    sandbox.write("metres.asc", asc("xllcorner 5e5\nyllcorner 4e6\ncellsize 30\n", "0 0.25 0.5 1"));
    // A degree of latitude is 111 km long; one of longitude is half as long at 60° north.
    sandbox.write("centre.hdr", asc("xllcenter 10\nyllcenter 60\ncellsize 0.001\nbyteorder LSBFIRST\n", ""));
    sandbox.write("centre.flt", [7.0_f32; 4].map(f32::to_le_bytes).concat());
    for (file, note) in [
        ("normalised.asc", Some("normalised heights (0–1)")),
        ("degrees.asc", Some("probably degrees")),
        ("metres.asc", None),
        ("centre.flt", Some("latitude of 60.00°")),
    ] {
        let output = sandbox.command(&format!("convert {file} out.r32 --force")).output().expect("the program runs");
        let converted = String::from_utf8_lossy(&output.stderr).into_owned();
        let inspected = sandbox.json(&format!("inspect {file} --json"))["notes"].to_string();
        for notes in [converted, inspected] {
            let has_note = notes.contains("probably") || notes.contains("latitude");
            assert_eq!(has_note, note.is_some(), "{file}: {notes}");
            assert!(note.is_none_or(|note| notes.contains(note)), "{file}: {notes}");
        }
    }
    let spacing = sandbox.json("inspect centre.flt --json")["spacing_x_m"].as_f64().expect("a number");
    assert!((spacing - 55.8).abs() < 0.01, "{spacing}");
}

#[test]
fn low_and_high_scale_integers_to_metres() {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", [0, 255, 51, 102]);
    sandbox.succeed("convert a.raw a.r32 --raw u8,2x2 --low -100 --high 155");
    assert_eq!(floats(&sandbox.read("a.r32")), [-100.0, 155.0, -49.0, 2.0]);
    sandbox.fail("convert a.raw b.r32 --raw u8,2x2 --low 5 --high 5", 2, "--low must be less");
    sandbox.fail("convert a.r32 b.asc --low 0 --high 5", 2, "integer formats");
}

#[test]
fn krtens_program_writes_his_format() {
    let sandbox = Sandbox::new();
    sandbox.succeed("fault -n 0 -x 3 -y 2 flat.xy");
    let numbers = |name: &str| -> Vec<i32> {
        sandbox.read(name).as_chunks::<4>().0.iter().map(|chunk| i32::from_le_bytes(*chunk)).collect()
    };
    assert_eq!(numbers("flat.xy"), [3, 2, 0, 0, 0, 0, 0, 0]);

    sandbox.succeed("fault -n 1 one.xy");
    let one = numbers("one.xy");
    assert_eq!((one[0], one[1], one.len()), (256, 256, 2 + 256 * 256));
    assert!(one[2..].iter().all(|height| height.abs() == 1));

    // -f alone does not filter; -w and -p do, differently.
    sandbox.succeed("fault a.xy --seed 5");
    sandbox.succeed("fault b.xy --seed 5 -f 0.8");
    assert_eq!(sandbox.read("a.xy"), sandbox.read("b.xy"));
    sandbox.succeed("fault p.xy --seed 5 -p");
    sandbox.succeed("fault w.xy --seed 5 -w -F 2");
    assert!(sandbox.read("p.xy") != sandbox.read("a.xy") && sandbox.read("w.xy") != sandbox.read("p.xy"));
    // The preset corresponds to his program with -w -F 2.
    let preset = "build preset:krten-wind --seed 5 --size 256 --heightmap preset.xy";
    sandbox.succeed(preset);
    assert_eq!(sandbox.read("preset.xy"), sandbox.read("w.xy"));
}

#[test]
fn a_heightmap_takes_the_place_of_a_project_and_gives_the_world_its_size() {
    let sandbox = Sandbox::new();
    sandbox.write("alps.asc", "ncols 3\nnrows 2\nxllcorner 5\nyllcorner 5\ncellsize 700\n1 2 3\n4 5 6\n");
    let output = sandbox.command("build alps.asc --heightmap out.r32 --size 3x2").output().expect("run");
    assert!(output.status.success(), "{output:?}");
    let sidecar: Value = serde_json::from_slice(&sandbox.read("out.r32.json")).expect("JSON");
    assert_eq!((&sidecar["spacing_x_m"], &sidecar["spacing_z_m"]), (&json!(700.0), &json!(700.0)));
    let heights: Vec<f32> =
        sandbox.read("out.r32").as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    assert_eq!(heights, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    // A world cannot be that large, but nothing waits for ever.
    sandbox.write("huge.asc", "ncols 2\nnrows 2\nxllcorner 5\nyllcorner 5\ncellsize 1e300\n1 2\n3 4\n");
    let output = sandbox.command("build huge.asc --for worldpainter -o out --size 129").output().expect("run");
    assert!(output.status.success(), "{output:?}");
}
