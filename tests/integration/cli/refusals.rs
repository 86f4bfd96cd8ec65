//! Invalid input is refused with a message and leaves no files.

use serde_json::{Value, json};

use super::{Sandbox, faults_project, project, terrain_type_project};

#[test]
fn invalid_projects_are_refused() {
    let sandbox = Sandbox::new();
    let check = |contents: &str, message: &str| {
        sandbox.write("p.upthrust.json", contents);
        sandbox.fail("build p.upthrust.json -o out", 1, message);
        sandbox.fail("build p.upthrust.json -o out", 1, "p.upthrust.json: ");
    };
    check("{\"format\": 1,", "EOF while parsing");
    check(
        &project(&json!([{"operation": "faults", "coutn": 3}])),
        "recipe.stack.0.coutn: there is no such key; did you mean",
    );
    check(
        &project(&json!([{"operation": "faults", "up_chance": 1.5}])),
        "Raise probability must be from 0 to 1, not 1.5",
    );
    check("{\"format\": 1, \"recipe\": {\"world\": {\"width_m\": NaN}}}", "not a project");
    check("{\"format\": 99}", "newer");
    check(&project(&json!([{"operation": "heightmap", "file": "/dev/zero"}])), "/dev/zero");
    sandbox.write("named.raw.txt", "");
    check(&project(&json!([{"operation": "heightmap", "file": "named.raw.txt"}])), ".png");
    check(&project(&json!([{"operation": "heightmap", "file": "none.png"}])), "none.png");
    sandbox.write("empty.png", "");
    check(&project(&json!([{"operation": "heightmap", "file": "empty.png"}])), "empty.png: ");
    sandbox.write("short.raw", [0; 6]);
    check(&project(&json!([{"operation": "heightmap", "file": "short.raw"}])), "3 samples");
}

#[test]
fn invalid_terrain_types_are_refused() {
    let sandbox = Sandbox::new();
    let check = |key: &str, value: Value, message: &str| {
        sandbox.write("p.upthrust.json", terrain_type_project(key, &value));
        let build = "build p.upthrust.json --size 33 --texture new/t.png -o new --texture-size 16";
        sandbox.fail(build, 1, message);
        sandbox.fail(build, 1, "p.upthrust.json: ");
    };
    check("repeat_m", json!(-5), "recipe.texture.types.0.repeat_m: Repeat must be from 0.1 to 100000 m, not -5");
    check("repeat_m", json!(1e300), "Repeat must be from 0.1 to 100000 m, not 1e300");
    check("elevation", json!([60, 20]), "a pair [min, max] with min ≤ max");
    check("humidity", json!([0.5, 1.0]), "three numbers [min, max, release]");
    check("shadow", json!([-5, 1, 0.1]), "types.0.shadow: Shade must be from 0 to 1, not -5");
    check("colour", json!("red"), "Colour must be a colour like \"#ff7a3c\", not \"red\"");
    check("blend", json!("soft"), "Blend must be one of normal, cover, multiply");
    check("elevaton", json!([0, 1]), "did you mean \"elevation\"?");

    sandbox.write("empty.png", "");
    sandbox.write("text.png", "no picture at all, but a text\n".repeat(9));
    let jpeg = include_bytes!("../../../assets/grass.jpg");
    sandbox.write("cut.jpg", &jpeg[..jpeg.len() / 2]);
    check("texture", json!("none.png"), "none.png");
    check("texture", json!("empty.png"), "empty.png: ");
    check("texture", json!("text.png"), "text.png: ");
    check("texture", json!("cut.jpg"), "cut.jpg: ");
    check("texture", json!("moss.txt"), ".png");
    check("texture", json!("assets/gras.jpg"), "assets/grass");
}

/// Asserts that each row of arguments fails with the status and message.
fn check_refused(rows: &[(&str, i32, &str)]) {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("normal_form"));
    sandbox.write("old.png", "old");
    sandbox.write("short.raw", [0; 17]);
    // Headers of maps of 60,000 × 60,000 samples.
    let side = 60_000_u16.to_le_bytes();
    sandbox.write("short.tga", [[0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0].as_slice(), &side, &side, &[8, 0]].concat());
    sandbox.write("short.pgm", "P5 60000 60000 255\n0");
    for (arguments, status, message) in rows {
        sandbox.fail(arguments, *status, message);
    }
}

#[test]
fn invalid_build_arguments_are_refused() {
    check_refused(&[
        ("build p.upthrust.json", 2, "no output is requested"),
        ("build p.upthrust.json -o out --size 0", 2, "expected N or WxH, from 2 to 65537 samples"),
        ("build p.upthrust.json -o out --size 5x1", 2, "expected N or WxH"),
        ("build p.upthrust.json -o out --size 99999999999999999999", 2, "expected N or WxH"),
        ("build p.upthrust.json -o out --texture-size 0", 2, "from 1 to 65536 pixels"),
        ("build p.upthrust.json -o out --threads 0", 2, "--threads"),
        ("build -o out", 2, "SOURCE"),
        ("build p.upthrust.json -o out --set stack.0.count=NaN", 2, "Count must be a whole number"),
        ("build p.upthrust.json -o out --set stack.0.up_chance=nan", 2, "Raise probability must be a number"),
        ("build p.upthrust.json -o out --set stack.0.conut=3", 2, "did you mean \"count\"?"),
        (
            "build p.upthrust.json -o out --set stack.0.up_chance=1.5",
            2,
            "Raise probability must be from 0 to 1, not 1.5",
        ),
        ("build p.upthrust.json -o out --set stack.7.count=3", 2, "stack.7.count"),
        ("build p.upthrust.json -o out --set stack.0.count", 2, "PATH=VALUE"),
        ("build p.upthrust.json -o old.png", 1, "old.png"),
        ("build preset:krten-wnid -o out", 2, "did you mean preset:krten-wind?"),
        ("build none.upthrust.json -o out", 1, "none.upthrust.json: cannot read this file"),
    ]);
}

#[test]
fn invalid_outputs_are_refused() {
    check_refused(&[
        ("build p.upthrust.json --normals n.jpg", 2, ".png"),
        ("build p.upthrust.json --normals n.png --slope ./n.png", 2, "two of the files"),
        ("build p.upthrust.json --slope old.png", 1, "old.png: "),
        ("build p.upthrust.json --humidity none/h.png", 1, "folder none"),
        ("build p.upthrust.json -o out --normals-y up", 2, "--normals"),
        ("build p.upthrust.json --normals n.png --depth 12", 2, "--depth"),
        ("build p.upthrust.json --heightmap h.png --weights-at samples", 2, "--weights"),
        ("build p.upthrust.json --normals n.png --normals-y sideways", 2, "up, down"),
        ("build p.upthrust.json --weights old.png", 1, "old.png: "),
        ("build p.upthrust.json --weights old.png/w", 1, "old.png/w: "),
        ("build p.upthrust.json --weights w --weights w", 2, "--weights"),
        ("build p.upthrust.json --weights w --normals w/weight_00_Meadow.png", 2, "two of the files"),
        ("build p.upthrust.json --weights new/w --set texture.types=[]", 1, "terrain type"),
        ("build p.upthrust.json --heightmap h.png --patches 2x2", 2, "--texture"),
        ("build p.upthrust.json --texture t.png --mirror", 2, "--patches"),
        ("build p.upthrust.json --texture t.png --patches 2", 2, "expected CxR"),
        ("build p.upthrust.json --texture t.png --patches 17x2", 2, "from 1 to 16"),
        ("build p.upthrust.json --texture t.png --patches 0x3", 2, "from 1 to 16"),
        ("build p.upthrust.json --texture t.png --patches 2x2 --normals t_x0_y0.png", 2, "two of the files"),
        ("build p.upthrust.json -o out --for untiy", 2, "did you mean unity?"),
        ("build none.upthrust.json -o out --for untiy", 2, "did you mean unity?"),
        ("build short.raw -o out", 1, "upthrust convert short.raw heights.png --raw u16le,1025x1025"),
        ("build p.upthrust.json --for unity", 2, "folder"),
        ("build p.upthrust.json -o out --for unity --size 1000", 2, "--size 1025"),
        ("build --for unity -o out", 2, "nothing to build"),
        ("build p.upthrust.json -o out --for cities-skylines --range 0,500", 2, "--range"),
        ("build p.upthrust.json -o out --for unity --weights w", 2, "--weights"),
        ("build p.upthrust.json -o out --every 5", 2, "--frames"),
        ("build p.upthrust.json --heightmap old.png", 1, "old.png: "),
        ("build p.upthrust.json --heightmap none/h.png", 1, "folder none"),
        ("build p.upthrust.json --heightmap old.png/h.png", 1, "folder old.png"),
        ("build p.upthrust.json --heightmap h.hgt", 2, ".png"),
        ("build p.upthrust.json --texture t.r16", 2, ".jpg"),
        ("build p.upthrust.json -o out --range 5", 2, "expected LOW,HIGH"),
        ("build p.upthrust.json -o out --range 5,-5", 2, "5 is not less than -5"),
        ("build p.upthrust.json -o out --tiles 0x2", 2, "expected CxR"),
        ("build p.upthrust.json -o out --tile 0,0", 2, "--tiles"),
        ("build p.upthrust.json -o out --size 33 --tiles 2x2 --tile 2,0", 2, "from 0 to 1"),
        ("build p.upthrust.json -o out --size 33 --tiles 3x2", 1, "31 and 34 are possible"),
        ("build p.upthrust.json -o out --tiles 2x2 --tile -1,0", 2, "expected C,R: column and row, from 0"),
        ("build p.upthrust.json --tiles 2x2 --tile 0,0 --frames f", 2, "cannot be used with"),
        ("build p.upthrust.json --tiles 2x2 --tile 0,0 --animation a.gif", 2, "cannot be used with"),
        ("build p.upthrust.json --tiles 2x2 --tile 0,0 --render r.png", 2, "cannot be used with"),
        ("build p.upthrust.json -o out --seed -1", 2, "-1 is not in 0..="),
        ("build p.upthrust.json -o out --size -5", 2, "from 2 to 65537"),
        ("build p.upthrust.json -o out --iterations -3", 2, "-3 is not in 0..="),
        ("build p.upthrust.json -o out --threads -1", 2, "-1 is not in 1..="),
        ("build p.upthrust.json -o out --seeds -1", 2, "-1 is not in 0..="),
        ("build p.upthrust.json -o out --tiles -2x2", 2, "expected CxR"),
        ("build p.upthrust.json --texture t.png --patches -1x1", 2, "expected CxR"),
        ("build p.upthrust.json --river-lines r.json --river-area -1", 2, "above 0"),
        ("build p.upthrust.json -o out --tiles 2x2 --patches 2x2", 2, "--patches"),
        ("build p.upthrust.json --texture t.png --heightmap t.png", 2, "two of the files"),
        ("build p.upthrust.json --texture t.png --heightmap ./t.png", 2, "two of the files"),
    ]);
}

#[test]
fn invalid_arguments_of_other_commands_are_refused() {
    check_refused(&[
        (
            "convert short.raw out.png",
            1,
            "not a whole number of samples of 16 bits; specify its sample type, size and header with --raw",
        ),
        ("convert old.png out.tif --depth 8", 2, "--out-raw u8"),
        ("inspect short.tga", 1, "short.tga: this file is too short for a map of its size"),
        ("inspect short.pgm", 1, "short.pgm: this file is too short for a map of its size"),
        ("convert short.raw out.png --raw u16le,60000x60000", 1, "short.raw: "),
        ("build short.tga -o out", 1, "short.tga: this file is too short for a map of its size"),
        ("inspect .", 1, ".: this is a folder"),
        ("convert short.raw out.png --raw u16le,3x3", 1, "18 bytes"),
        ("convert short.raw out.hgt", 2, ".png"),
        ("convert short.xyz out.png", 2, ".png"),
        ("convert short.raw out.png --out-raw u16be", 2, "out.png: "),
        ("convert old.png out.raw --raw u16be", 2, "old.png: "),
        ("inspect old.png --raw u8", 2, "old.png: "),
        ("convert short.raw out.png --raw u17", 2, "u17"),
        ("convert none.png out.png", 1, "none.png: cannot read this file"),
        ("convert old.png out.png", 1, "old.png: "),
        ("convert short.raw old.png", 1, "old.png: "),
        ("inspect old.png", 1, "old.png: "),
        ("faults p.upthrust.json --step 3", 2, "step 3"),
        ("fault k.png", 2, "ends in .xy"),
        ("fault k.xy -f 1", 2, "expected a number from 0 to 0.9999"),
        ("fault k.xy -F 3", 2, "expected 2 or 4"),
        ("fault k.xy -x 1", 2, "2..=65537"),
        ("nonsense more", 2, "\"nonsense\" is neither a command nor a file; the commands are build, presets"),
        ("buidl p.upthrust.json", 2, "\"buidl\" is neither a command nor a file; did you mean \"build\"?"),
        ("buidl", 2, "did you mean \"build\"?"),
        (
            "p.upthrust.json more",
            2,
            "\"p.upthrust.json\" opens in the editor, which takes no further arguments; leave out \"more\"",
        ),
    ]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("locked")).expect("made");
    std::fs::set_permissions(sandbox.path("locked"), PermissionsExt::from_mode(0o555)).expect("set");
    if std::fs::write(sandbox.path("locked/probe"), "").is_ok() {
        eprintln!("SKIPPED: root can write to every folder");
        return;
    }
    sandbox.fail("build preset:krten-wind --heightmap locked/h.png", 1, "locked/h.png: cannot write");
    sandbox.fail("build preset:arctic --weights locked", 1, "locked/weight_00_");
    sandbox.fail("build preset:arctic --weights locked/w", 1, "locked/w: ");
}

#[test]
fn a_map_larger_than_memory_is_refused() {
    let available = upthrust::files::io::memory::available_bytes().unwrap_or(u64::MAX);
    // Two copies of the heights during evaluation.
    if available > 8 * 65_537 * 65_537 {
        eprintln!("SKIPPED: the largest map fits into memory");
        return;
    }
    Sandbox::new().fail("build preset:krten-wind -o out --size 65537x65537", 1, "choose a smaller size");
}
