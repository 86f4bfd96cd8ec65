//! The program as its users' scripts see it: arguments in, files, output and status out.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names a program built without the editor, to be tested in place of the one that cargo has built.
const WITHOUT_EDITOR: &str = "UPTHRUST_WITHOUT_EDITOR";

/// A folder to run the program in.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("there")
    }

    fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn command(&self, arguments: &str) -> Command {
        let built = env!("CARGO_BIN_EXE_upthrust").into();
        let mut command = Command::new(std::env::var_os(WITHOUT_EDITOR).unwrap_or(built));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Runs the program, which must succeed, and returns its standard output.
    #[track_caller]
    fn succeed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs the program, which must fail with this status, say this, and leave the folder as it was.
    #[track_caller]
    fn fail(&self, arguments: &str, status: i32, message: &str) {
        let before = self.names();
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(message), "{arguments}: {errors}");
        assert!(!errors.contains("panicked"), "{arguments}: {errors}");
        assert_eq!(self.names(), before, "{arguments}");
    }

    #[track_caller]
    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.succeed(arguments)).expect("JSON")
    }
}

fn project(stack: &Value) -> String {
    json!({"format": 1, "name": "Test", "recipe": {"world": {"width_m": 4000, "depth_m": 3000}, "stack": stack}})
        .to_string()
}

fn faults_project(line: &str) -> String {
    project(&json!([{"operation": "faults", "count": 60, "line": line, "decay": "harmonic", "displacement_m": 90.0,
        "profile": "step"}]))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

/// The first `count` of the printed faults, added up as the contract says anybody may.
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
fn assert_same_land(built: &[f32], expected: &[f64], what: &str) {
    assert_eq!(built.len(), expected.len(), "{what}");
    for (i, (height, expected)) in built.iter().zip(expected).enumerate() {
        let rounding = expected.abs().max(1.0) * f64::from(f32::EPSILON);
        assert!((f64::from(*height) - expected).abs() <= rounding, "{what}: {height} for {expected} at {i}");
    }
}

#[test]
fn what_is_built_is_the_sum_of_the_lines_that_are_printed() {
    let place = Place::new();
    for line in ["normal_form", "two_points"] {
        place.write("p.upthrust.json", faults_project(line));
        for seed in [1, 1994, 4_294_967_295_u32] {
            let printed = place.json(&format!("faults p.upthrust.json --seed {seed}"));
            assert_eq!((&printed["world_m"], &printed["step"]), (&json!([4000.0, 3000.0]), &json!(0)));
            let numbers: Vec<u64> =
                printed["faults"].as_array().expect("a list").iter().filter_map(|fault| fault["i"].as_u64()).collect();
            assert!(numbers.iter().copied().eq(1..=60));

            place.succeed(&format!("build p.upthrust.json --seed {seed} --size 41x33 --heightmap h.r32 --force"));
            assert_same_land(&floats(&place.read("h.r32")), &sum_by_hand(&printed, 60, [41, 33]), line);
            for k in [0, 1, 17] {
                place.succeed(&format!(
                    "build p.upthrust.json --seed {seed} --size 41x33 --heightmap h.r32 --iterations {k} --force"
                ));
                assert_same_land(&floats(&place.read("h.r32")), &sum_by_hand(&printed, k, [41, 33]), line);
            }
        }
    }
}

#[test]
fn what_is_built_is_the_sum_of_the_trees_that_are_printed() {
    let place = Place::new();
    for layout in ["structured", "unstructured"] {
        let step = json!({"operation": "bsp_faults", "count": 12, "depth": 4, "layout": layout, "displacement_m": 33.3,
                "wind": null});
        place.write("p.upthrust.json", project(&json!([step])));
        let printed = place.json("faults p.upthrust.json");
        let trees = printed["faults"].as_array().expect("a list");
        assert!(trees.iter().filter_map(|tree| tree["i"].as_u64()).eq(1..=12));
        assert!(trees.iter().all(|tree| tree["nodes"].as_array().is_some_and(|nodes| nodes.len() == 15)));

        let lift = |tree: &Value, x: f64, z: f64| {
            let (mut node, mut lift) = (&tree["nodes"][0], 0.0);
            let mut amplitude = tree["displacement_m"].as_f64().expect("a number");
            loop {
                let [from, to] =
                    ["from_m", "to_m"].map(|key| [0, 1].map(|axis| node[key][axis].as_f64().expect("a number")));
                // Facing along the line with north on top, east of a line to the north is right.
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
            place.succeed(&format!("build p.upthrust.json --size 41x33 --heightmap h.r32 --iterations {k} --force"));
            assert_same_land(&floats(&place.read("h.r32")), &sum(k), layout);
        }
    }
}

#[test]
fn what_is_built_is_the_sum_of_the_drawn_faults_that_are_printed() {
    let place = Place::new();
    let step = json!({"operation": "drawn_faults", "faults": [
        {"from_m": [300, 2900], "to_m": [2500, 100], "profile": "step", "displacement_m": 70, "at": 3},
        {"from_m": [3900, 100], "to_m": [100, 400], "profile": "step", "displacement_m": -12.5},
        {"from_m": [1000, 1000], "to_m": [2000, 1000], "profile": "step", "enabled": false},
        {"from_m": [1000, 2000], "to_m": [2500, 2100], "profile": "step", "reach_m": 500, "at": 9},
    ]});
    place.write("p.upthrust.json", project(&json!([step])));
    let printed = place.json("faults p.upthrust.json");
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
        place.succeed(&format!("build p.upthrust.json --size 41x33 --heightmap h.r32 --iterations {k} --force"));
        // A fault that fades is held on a grid of 2⁻²⁰ m, which a plain sum is not.
        let built = floats(&place.read("h.r32"));
        assert!(built.iter().zip(&sum).all(|(height, sum)| (f64::from(*height) - sum).abs() < 1e-5 * 70.0));
    }
    let build = "build p.upthrust.json --heightmap h.r32 --force --set stack.0.faults.1.zone_m=-1";
    place.fail(build, 2, "stack.0.faults.1.zone_m: Fault zone must be from 0");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let place = Place::new();
    let stack = json!([
        {"operation": "faults", "count": 25, "line": "two_points", "wind": {"form": "averaged", "sweeps": 2, "k": 0.5}},
        {"operation": "faults", "count": 40, "profile": "sine", "zone_m": 300},
        {"operation": "recursive_filter", "k": 0.3},
    ]);
    place.write("p.upthrust.json", project(&stack));
    let built = [1, 2, 7].map(|threads| {
        place.succeed(&format!("build p.upthrust.json -o t{threads} --size 129 --texture-size 64 --threads {threads}"));
        ["height.png", "height.png.json", "texture.png"].map(|name| place.read(&format!("t{threads}/{name}")))
    });
    assert!(built.iter().all(|files| *files == built[0]));
}

#[test]
fn a_small_map_is_an_exact_subset_of_a_large_one() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("normal_form"));
    let [small, large] = [257, 1025].map(|side| {
        place.succeed(&format!("build p.upthrust.json --size {side}x{side} --heightmap h{side}.r32"));
        floats(&place.read(&format!("h{side}.r32")))
    });
    for r in 0..257 {
        for c in 0..257 {
            assert_eq!(small[r * 257 + c].to_bits(), large[4 * r * 1025 + 4 * c].to_bits(), "({c}, {r})");
        }
    }
}

#[test]
fn bad_projects_are_refused_and_nothing_is_written() {
    let place = Place::new();
    let check = |contents: &str, message: &str| {
        place.write("p.upthrust.json", contents);
        place.fail("build p.upthrust.json -o out", 1, message);
        place.fail("build p.upthrust.json -o out", 1, "p.upthrust.json: ");
    };
    check("{\"format\": 1,", "EOF while parsing");
    check(
        &project(&json!([{"operation": "faults", "coutn": 3}])),
        "recipe.stack.0.coutn: there is no such key; did you mean",
    );
    check(&project(&json!([{"operation": "faults", "up_chance": 1.5}])), "Up chance must be from 0 to 1, not 1.5");
    check("{\"format\": 1, \"recipe\": {\"world\": {\"width_m\": NaN}}}", "not a project");
    check("{\"format\": 99}", "newer");
    check(&project(&json!([{"operation": "heightmap", "file": "/dev/zero"}])), "cannot read /dev/zero: ");
    place.write("named.raw.txt", "");
    check(&project(&json!([{"operation": "heightmap", "file": "named.raw.txt"}])), "known are .png");
    check(&project(&json!([{"operation": "heightmap", "file": "none.png"}])), "cannot read none.png: ");
    place.write("empty.png", "");
    check(&project(&json!([{"operation": "heightmap", "file": "empty.png"}])), "empty.png: this file is empty");
    place.write("short.raw", [0; 6]);
    check(&project(&json!([{"operation": "heightmap", "file": "short.raw"}])), "3 samples are no square");
}

/// A project whose only terrain type has this parameter too.
fn ground_project(key: &str, value: &Value) -> String {
    let mut ground = json!({"name": "Ground"});
    ground[key] = value.clone();
    json!({"format": 1, "recipe": {"texture": {"types": [ground]}}}).to_string()
}

#[test]
fn bad_terrain_types_are_refused_and_nothing_is_written() {
    let place = Place::new();
    let check = |key: &str, value: Value, message: &str| {
        place.write("p.upthrust.json", ground_project(key, &value));
        let build = "build p.upthrust.json --size 33 --texture new/t.png -o new --texture-size 16";
        place.fail(build, 1, message);
        place.fail(build, 1, "p.upthrust.json: ");
    };
    check("repeat_m", json!(-5), "recipe.texture.types.0.repeat_m: Repeat must be from 0.1 to 100000 m, not -5");
    check("repeat_m", json!(1e300), "Repeat must be from 0.1 to 100000 m, not 1e300");
    check("elevation", json!([60, 20]), "a pair [min, max] with min ≤ max");
    check("humidity", json!([0.5, 1.0]), "three numbers [min, max, release]");
    check("shadow", json!([-5, 1, 0.1]), "types.0.shadow: Shadow must be from 0 to 1, not -5");
    check("colour", json!("red"), "Colour must be a colour like \"#ff7a3c\", not \"red\"");
    check("blend", json!("soft"), "Blend must be one of normal, multiply");
    check("elevaton", json!([0, 1]), "did you mean \"elevation\"?");

    place.write("empty.png", "");
    place.write("text.png", "no picture at all, but a text\n".repeat(9));
    let jpeg = include_bytes!("../../../assets/grass.jpg");
    place.write("cut.jpg", &jpeg[..jpeg.len() / 2]);
    check("texture", json!("none.png"), "cannot read none.png: ");
    check("texture", json!("empty.png"), "empty.png: this cannot be read as a picture (it is empty); choose a PNG");
    check("texture", json!("text.png"), "text.png: this cannot be read as a picture (nothing in it is like one)");
    check("texture", json!("cut.jpg"), "cut.jpg: this cannot be read as a picture (it breaks off; copy it again)");
    check("texture", json!("moss.txt"), "no heightmap or picture with this ending can be read; known are .png");
    check(
        "texture",
        json!("assets/gras.jpg"),
        "assets/gras.jpg: no picture of this name ships; there are assets/grass",
    );
}

#[test]
fn a_texture_of_one_pixel_is_a_colour() {
    let place = Place::new();
    image::RgbImage::from_pixel(1, 1, image::Rgb([200, 100, 50])).save(place.path("one.png")).expect("written");
    place.write("p.upthrust.json", ground_project("texture", &json!("one.png")));
    place.succeed(
        "build p.upthrust.json --texture t.png --size 33 --texture-size 16 --set light.bake=false \
         --set texture.types.0.tint=0",
    );
    let painted = image::open(place.path("t.png")).expect("readable").into_rgb8();
    let off = painted
        .pixels()
        .flat_map(|pixel| [200, 100, 50].into_iter().zip(pixel.0).map(|(a, b): (u8, u8)| a.abs_diff(b)));
    assert!(off.max() <= Some(1));
}

#[test]
fn names_that_nothing_bears_are_said_and_types_of_one_name_have_a_map_each() {
    let place = Place::new();
    place.write("p.upthrust.json", painted_project());
    let warned = |set: &str| {
        let output =
            place.run(&format!("build p.upthrust.json --texture t.png --force --size 33 --texture-size 16 {set}"));
        assert!(output.status.success(), "{set}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(warned("--set texture.fallback=Rock"), "");
    for name in ["Rok", "Haze", "Off"] {
        let said = warned(&format!("--set texture.fallback={name}"));
        let expected = "warning: recipe.texture.fallback: no terrain type that takes part and covers ground is called";
        assert!(said.starts_with(expected) && said.contains(name), "{said}");
    }
    let said = warned("--set texture.active_set=winter");
    assert!(said.starts_with("warning: recipe.texture.active_set: ") && said.contains("winter"), "{said}");

    place.succeed("build p.upthrust.json --weights w --size 33 --texture-size 16 --set texture.types.1.name=Rock");
    assert_eq!(place.names_in("w")[1..3], ["weight_01_Rock.png", "weight_02_Rock.png"]);
}

/// A project whose land has level and steep places, painted by six types, one of which covers no ground.
fn painted_project() -> String {
    let ground = |name: &str, elevation: [f64; 2], slope: [f64; 2]| json!({"name": name, "elevation": elevation, "slope_deg": slope});
    let mut types = vec![
        ground("Meadow", [0.0, 60.0], [0.0, 10.0]),
        ground("Wet sand/mud", [0.0, 30.0], [0.0, 90.0]),
        ground("Rock", [0.0, 100.0], [8.0, 90.0]),
        ground("Scree", [40.0, 90.0], [0.0, 30.0]),
        ground("Snow", [70.0, 100.0], [0.0, 40.0]),
        ground("Haze", [0.0, 50.0], [0.0, 90.0]),
        ground("Off", [0.0, 100.0], [0.0, 90.0]),
    ];
    types[5]["blend"] = json!("multiply");
    types[6]["enabled"] = json!(false);
    let stack = json!([{"operation": "faults", "count": 60, "displacement_m": 90.0}]);
    let world = json!({"width_m": 4000, "depth_m": 3000});
    let recipe = json!({"world": world, "stack": stack, "texture": {"types": types}});
    json!({"format": 1, "name": "Test", "recipe": recipe}).to_string()
}

const WEIGHT_MAPS: [&str; 8] = [
    "weight_00_Meadow.png",
    "weight_01_Wet_sand_mud.png",
    "weight_02_Rock.png",
    "weight_03_Scree.png",
    "weight_04_Snow.png",
    "weight_05_Haze.png",
    "weights_RGBA_0.png",
    "weights_RGBA_1.png",
];

#[test]
fn weights_sum_to_the_full_value_at_every_point() {
    let place = Place::new();
    place.write("p.upthrust.json", painted_project());
    place.succeed("build p.upthrust.json --weights a/w8 --size 65 --texture-size 80");
    place.succeed("build p.upthrust.json --weights w16 --size 65 --depth 16 --weights-at samples");
    assert!(["a/w8", "w16"].iter().all(|folder| place.names_in(folder) == WEIGHT_MAPS));

    let open = |name: &str| image::open(place.path(name)).expect("readable");
    for (folder, size) in [("a/w8", (80, 60)), ("w16", (65, 49))] {
        let maps: Vec<_> = WEIGHT_MAPS[..6].iter().map(|name| open(&format!("{folder}/{name}"))).collect();
        let sixteen = folder == "w16";
        let full = if sixteen { 65_535_u32 } else { 255 };
        let value = |map: &image::DynamicImage, x, y| match map {
            image::DynamicImage::ImageLuma8(map) => u32::from(map.get_pixel(x, y).0[0]),
            image::DynamicImage::ImageLuma16(map) => u32::from(map.get_pixel(x, y).0[0]),
            other => panic!("{:?}", other.color()),
        };
        let packs = [0, 1].map(|at| open(&format!("{folder}/weights_RGBA_{at}.png")).into_rgba8());
        for map in &maps {
            assert_eq!((map.width(), map.height()), size);
            assert_eq!(map.color() == image::ColorType::L16, sixteen);
        }
        let mut seen = [0; 6];
        for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
            let values: Vec<u32> = maps.iter().map(|map| value(map, x, y)).collect();
            seen.iter_mut().zip(&values).for_each(|(seen, value)| *seen = (*seen).max(*value));
            // The sixth multiplies and covers no ground.
            assert_eq!(values[..5].iter().sum::<u32>(), full, "({x}, {y})");
            let packed: Vec<u32> = packs.iter().flat_map(|pack| pack.get_pixel(x, y).0).map(u32::from).collect();
            assert_eq!(packed.iter().sum::<u32>(), 255, "({x}, {y})");
            assert_eq!(packed[5..], [0, 0, 0]);
            for (value, packed) in values.iter().zip(&packed[..5]) {
                // Sixteen bits hold 257 values for each of the eight, and the rest of a sum goes where most is lost.
                assert!((value / (full / 255)).abs_diff(*packed) <= 1, "{value}, {packed}");
            }
        }
        assert!(seen.iter().all(|value| *value > full / 3), "{seen:?}");
    }
    place.fail("build p.upthrust.json --weights w16 --size 65", 1, "weight_00_Meadow.png: this file is there already");
}

/// A slope that rises eastward by as much as it is long: 45°, but for the outermost samples nowhere bent.
fn ramp(place: &Place) {
    let heights: Vec<u8> = (0..25).flat_map(|i| ((i % 5) as f32 * 1000.0).to_le_bytes()).collect();
    place.write("in.r32", heights);
    place.succeed("convert in.r32 in.asc --raw f32le,5x5");
    let recipe =
        json!({"world": {"width_m": 4000, "depth_m": 4000}, "stack": [{"operation": "heightmap", "file": "in.asc"}]});
    place.write("ramp.upthrust.json", json!({"format": 1, "recipe": recipe}).to_string());
}

#[test]
fn maps_of_the_ground_are_read_by_others() {
    let place = Place::new();
    ramp(&place);
    let build = "build ramp.upthrust.json --size 5 --texture-size 12 --force --slope s.png --occlusion o.png \
                 --curvature c.png --humidity h.png --shade d.png --normals n.png";
    place.succeed(build);
    let names = ["s.png", "o.png", "c.png", "h.png", "d.png", "n.png"];
    assert!(names.iter().all(|name| place.names().contains(&(*name).into())));
    let open = |name: &str| image::open(place.path(name)).expect("readable");
    assert!(open("n.png").into_rgb8().pixels().all(|pixel| pixel.0 == [37, 128, 218]));
    // The middle lies between 127 and 128.
    for name in ["s.png", "c.png"] {
        assert!(open(name).into_luma8().pixels().all(|pixel| [127, 128].contains(&pixel.0[0])), "{name}");
    }
    // An open slope of 45° sees (1 + cos 45°)/2 of the sky, and loses the sun for a part of the day.
    assert!(open("o.png").into_luma8().pixels().any(|pixel| pixel.0[0].abs_diff(218) < 8));
    assert!(open("d.png").into_luma8().pixels().all(|pixel| (1..255).contains(&pixel.0[0])));
    assert!(names.iter().all(|name| open(name).width() == 12));

    place.succeed(&format!("{build} --depth 16 --normals-y down"));
    assert!(names.iter().all(|name| matches!(open(name).color(), image::ColorType::L16 | image::ColorType::Rgb16)));
    assert!(open("s.png").into_luma16().pixels().all(|pixel| pixel.0[0].abs_diff(32_768) < 2));
    assert!(open("n.png").into_rgb16().pixels().all(|pixel| pixel.0[1].abs_diff(32_768) < 2));
}

#[test]
fn patches_are_the_parts_of_the_whole() {
    let place = Place::new();
    place.write("p.upthrust.json", painted_project());
    place.succeed("build p.upthrust.json --size 65 --texture whole.png --texture-size 96x60");
    place.succeed("build p.upthrust.json --size 65 --texture part.png --texture-size 32x30 --patches 3x2");
    let output =
        place.run("build p.upthrust.json --size 65 --texture u.png --texture-size 8 --patches 1x1 --slope s.png");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.starts_with("warning: --patches cut the texture alone"), "{said}");
    let open = |name: &str| image::open(place.path(name)).expect("readable").into_rgb8();
    let whole = open("whole.png");
    for (column, row) in (0..2).flat_map(|row| (0..3).map(move |column| (column, row))) {
        let part = open(&format!("part_x{column}_y{row}.png"));
        assert_eq!(part.dimensions(), (32, 30));
        for (x, y, pixel) in part.enumerate_pixels() {
            assert_eq!(pixel, whole.get_pixel(32 * column + x, 30 * row + y), "({column}, {row}): ({x}, {y})");
        }
    }
    place.fail("build p.upthrust.json --texture part.png --patches 1x1", 1, "part_x0_y0.png: this file is there");
}

#[test]
fn mirrored_patches_meet_in_equal_borders() {
    let place = Place::new();
    place.write("p.upthrust.json", painted_project());
    place.succeed("build p.upthrust.json --size 65 --texture whole.png --texture-size 40x30");
    place.succeed("build p.upthrust.json --size 65 --texture m.png --texture-size 40x30 --patches 3x2 --mirror");
    let open = |name: &str| image::open(place.path(name)).expect("readable").into_rgb8();
    assert_eq!(place.read("m_x0_y0.png"), place.read("whole.png"));
    let patch = |column: u32, row: u32| open(&format!("m_x{column}_y{row}.png"));
    for row in 0..2 {
        for column in 0..2 {
            let (west, east) = (patch(column, row), patch(column + 1, row));
            assert!((0..30).all(|y| west.get_pixel(39, y) == east.get_pixel(0, y)), "({column}, {row})");
            assert!((0..30).any(|y| west.get_pixel(0, y) != west.get_pixel(39, y)));
        }
    }
    for column in 0..3 {
        let (north, south) = (patch(column, 0), patch(column, 1));
        assert!((0..40).all(|x| north.get_pixel(x, 29) == south.get_pixel(x, 0)), "{column}");
    }
}

#[test]
fn bad_arguments_are_refused_and_nothing_is_written() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("normal_form"));
    place.write("old.png", "old");
    place.write("short.raw", [0; 17]);
    for (arguments, status, message) in [
        ("build p.upthrust.json", 2, "nothing to write is asked for"),
        ("build p.upthrust.json -o out --size 0", 2, "a size is N or WxH, from 2 to 65537 samples"),
        ("build p.upthrust.json -o out --size 5x1", 2, "a size is N or WxH"),
        ("build p.upthrust.json -o out --size 99999999999999999999", 2, "a size is N or WxH"),
        ("build p.upthrust.json -o out --texture-size 0", 2, "from 1 to 65536 pixels"),
        ("build p.upthrust.json -o out --threads 0", 2, "--threads"),
        ("build p.upthrust.json --normals n.jpg", 2, "known are .png"),
        ("build p.upthrust.json --normals n.png --slope ./n.png", 2, "two of the files"),
        ("build p.upthrust.json --slope old.png", 1, "old.png: this file is there already"),
        ("build p.upthrust.json --humidity none/h.png", 1, "there is no folder none; make it first"),
        ("build p.upthrust.json -o out --normals-y up", 2, "--normals"),
        ("build p.upthrust.json --normals n.png --depth 12", 2, "--depth"),
        ("build p.upthrust.json --heightmap h.png --weights-at samples", 2, "--weights"),
        ("build p.upthrust.json --normals n.png --normals-y sideways", 2, "up, down"),
        ("build p.upthrust.json --weights old.png", 1, "old.png: this folder cannot be made"),
        ("build p.upthrust.json --weights old.png/w", 1, "old.png/w: this folder cannot be made"),
        ("build p.upthrust.json --weights w --weights w", 2, "--weights"),
        ("build p.upthrust.json --weights w --normals w/weight_00_Meadow.png", 2, "two of the files"),
        ("build p.upthrust.json --weights new/w --set texture.types=[]", 1, "no terrain type takes part"),
        ("build p.upthrust.json --heightmap h.png --patches 2x2", 2, "--texture"),
        ("build p.upthrust.json --texture t.png --mirror", 2, "--patches"),
        ("build p.upthrust.json --texture t.png --patches 2", 2, "patches are CxR"),
        ("build p.upthrust.json --texture t.png --patches 17x2", 2, "from 1 to 16"),
        ("build p.upthrust.json --texture t.png --patches 0x3", 2, "from 1 to 16"),
        ("build p.upthrust.json --texture t.png --patches 2x2 --normals t_x0_y0.png", 2, "two of the files"),
        ("build p.upthrust.json -o out --for untiy", 2, "did you mean unity?"),
        ("build p.upthrust.json --for unity", 2, "name a folder"),
        ("build p.upthrust.json -o out --for unity --size 1000", 2, "--size 1025"),
        ("build --for unity -o out", 2, "nothing to build is named"),
        ("build p.upthrust.json -o out --for cities-skylines --range 0,500", 2, "leave --range away"),
        ("build p.upthrust.json -o out --for unity --weights w", 2, "leave --weights away"),
        ("build p.upthrust.json -o out --every 5", 2, "--frames"),
        ("build -o out", 2, "SOURCE"),
        ("build p.upthrust.json -o out --set stack.0.count=NaN", 2, "Count must be a whole number"),
        ("build p.upthrust.json -o out --set stack.0.up_chance=nan", 2, "Up chance must be a number"),
        ("build p.upthrust.json -o out --set stack.0.conut=3", 2, "did you mean \"count\"?"),
        ("build p.upthrust.json -o out --set stack.0.up_chance=1.5", 2, "Up chance must be from 0 to 1, not 1.5"),
        ("build p.upthrust.json -o out --set stack.7.count=3", 2, "stack.7.count"),
        ("build p.upthrust.json -o out --set stack.0.count", 2, "PATH=VALUE"),
        ("build p.upthrust.json -o old.png", 1, "old.png"),
        ("build p.upthrust.json --heightmap old.png", 1, "old.png: this file is there already"),
        ("build p.upthrust.json --heightmap none/h.png", 1, "there is no folder none; make it first"),
        ("build p.upthrust.json --heightmap old.png/h.png", 1, "there is no folder old.png"),
        ("build p.upthrust.json --heightmap h.hgt", 2, "known are .png"),
        ("build p.upthrust.json --texture t.r16", 2, ".jpg"),
        ("build p.upthrust.json -o out --range 5", 2, "a range is LOW,HIGH"),
        ("build p.upthrust.json -o out --range 5,5", 2, "a range is LOW,HIGH"),
        ("build p.upthrust.json -o out --tiles 0x2", 2, "tiles are CxR"),
        ("build p.upthrust.json -o out --tile 0,0", 2, "--tiles"),
        ("build p.upthrust.json -o out --size 33 --tiles 2x2 --tile 2,0", 2, "columns are from 0 to 1"),
        ("build p.upthrust.json -o out --size 33 --tiles 3x2", 1, "the nearest is 30 or 33"),
        ("build p.upthrust.json -o out --tiles 2x2 --patches 2x2", 2, "--patches"),
        ("build p.upthrust.json --texture t.png --heightmap t.png", 2, "two of the files"),
        ("build p.upthrust.json --texture t.png --heightmap ./t.png", 2, "two of the files"),
        ("build preset:krten-wnid -o out", 2, "did you mean preset:krten-wind?"),
        ("build none.upthrust.json -o out", 1, "none.upthrust.json: cannot read this"),
        ("convert short.raw out.png", 1, "no square"),
        ("convert short.raw out.png --raw u16le,3x3", 1, "should have 18 bytes, but it has 17"),
        ("convert short.raw out.hgt", 2, "known are .png"),
        ("convert short.hgt out.png", 2, "known are .png"),
        ("convert short.raw out.png --out-raw u16be", 2, "out.png: a raw layout is for .raw"),
        ("convert old.png out.raw --raw u16be", 2, "old.png: a raw layout is for .raw"),
        ("inspect old.png --raw u8", 2, "old.png: a raw layout is for .raw"),
        ("convert short.raw out.png --raw u17", 2, "\"u17\" is none of u8, u16le"),
        ("convert none.png out.png", 1, "none.png: cannot read this"),
        ("convert old.png out.png", 1, "old.png: this picture cannot be read"),
        ("convert short.raw old.png", 1, "old.png: this file is there already"),
        ("inspect old.png", 1, "old.png: this picture cannot be read"),
        ("faults p.upthrust.json --step 3", 2, "there is no step 3"),
        ("fault k.png", 2, "ends in .xy"),
        ("fault k.xy -f 1", 2, "k must be a number from 0 to 0.9999"),
        ("fault k.xy -F 3", 2, "2 or 4 sweeps"),
        ("fault k.xy -x 1", 2, "2..=65537"),
        ("nonsense more", 2, "cannot be used"),
    ] {
        place.fail(arguments, status, message);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::create_dir(place.path("locked")).expect("made");
    std::fs::set_permissions(place.path("locked"), PermissionsExt::from_mode(0o555)).expect("set");
    if std::fs::write(place.path("locked/probe"), "").is_ok() {
        eprintln!("SKIPPED: whoever may do everything (root) cannot be locked out of a folder");
        return;
    }
    place.fail("build preset:krten-wind --heightmap locked/h.png", 1, "locked/h.png: cannot write this");
    place.fail("build preset:arctic --weights locked", 1, "locked/weight_00_");
    place.fail("build preset:arctic --weights locked/w", 1, "locked/w: this folder cannot be made");
}

#[test]
fn a_map_that_does_not_fit_into_memory_is_refused() {
    let available = upthrust::files::memory::available_bytes().unwrap_or(u64::MAX);
    // The land twice over while it is evaluated.
    if available > 8 * 65_537 * 65_537 {
        eprintln!("SKIPPED: the largest map of all fits into this machine's memory");
        return;
    }
    Place::new().fail("build preset:krten-wind -o out --size 65537x65537", 1, "choose a smaller size");
}

#[test]
fn metres_survive_the_way_through_integers() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("two_points"));
    place.succeed("build p.upthrust.json --size 33x25 --heightmap h.r32");
    place.succeed("build p.upthrust.json --size 33x25 --heightmap h.png");
    let sidecar: Value = serde_json::from_slice(&place.read("h.png.json")).expect("JSON");
    assert_eq!(
        (&sidecar["width"], &sidecar["spacing_x_m"], &sidecar["recipe"]),
        (&json!(33), &json!(125.0), &json!("Test"))
    );
    place.succeed("convert h.png back.r32");
    place.succeed("convert h.png again.r16");
    place.succeed("convert again.r16 again.png --raw u16le,33x25");
    let span = sidecar["max_m"].as_f64().expect("a number") - sidecar["min_m"].as_f64().expect("a number");
    for (a, b) in floats(&place.read("back.r32")).iter().zip(floats(&place.read("h.r32"))) {
        assert!(f64::from((a - b).abs()) <= 0.501 * span / 65_535.0, "{a} for {b}");
    }
    assert_eq!(place.read("again.png"), place.read("h.png"));

    let report = place.json("inspect h.png --json");
    assert_eq!((&report["width"], &report["spacing_x_m"], &report["notes"]), (&json!(33), &json!(125.0), &json!([])));
    assert!((report["max_m"].as_f64().expect("a number") - sidecar["max_m"].as_f64().expect("a number")).abs() < 1e-3);
}

#[test]
fn tiles_of_everything_are_the_cuts_of_the_whole() {
    let place = Place::new();
    place.write("p.upthrust.json", painted_project());
    let maps = "--heightmap h.r32 --texture t.png --weights w --slope s.png --texture-size 48x32 --size 65x49 --force";
    place.succeed(&format!("build p.upthrust.json {maps}"));
    place.succeed(&format!("build p.upthrust.json {maps} --tiles 4x2"));
    let open = |name: &str| image::open(place.path(name)).expect(name).into_rgba8();
    for name in ["t", "s", "w/weight_02_Rock", "w/weights_RGBA_1"] {
        let whole = open(&format!("{name}.png"));
        for (column, row) in (0..4).flat_map(|column| [(column, 0), (column, 1)]) {
            let tile = open(&format!("{name}_x{column}_y{row}.png"));
            assert_eq!(tile.dimensions(), (12, 16), "{name}");
            let same =
                |(x, y, pixel): (u32, u32, &image::Rgba<u8>)| *pixel == *whole.get_pixel(12 * column + x, 16 * row + y);
            assert!(tile.enumerate_pixels().all(same), "{name}, {column}, {row}");
        }
    }
    let whole = floats(&place.read("h.r32"));
    let tile = floats(&place.read("h_x3_y1.r32"));
    assert!((0..17 * 25).all(|at| tile[at] == whole[(24 + at / 17) * 65 + 48 + at % 17]));
    // One alone is the same file.
    let before = ["h_x3_y1.r32", "h_x3_y1.r32.json", "t_x3_y1.png", "w/weights_RGBA_1_x3_y1.png"];
    let bytes = before.map(|name| place.read(name));
    let output = place.run(&format!("build p.upthrust.json {maps} --tiles 4x2 --tile 3,1"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("note: the whole land was computed"));
    assert_eq!(before.map(|name| place.read(name)), bytes);
}

#[test]
fn an_uplift_becomes_frames_and_an_animation() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("two_points"));
    place.succeed("build p.upthrust.json --size 33 --texture-size 16 --frames f --animation a.gif --every 25");
    let frames = ["frame_00000.png", "frame_00001.png", "frame_00002.png", "frame_00003.png"];
    assert_eq!(place.names_in("f"), frames);
    assert!(place.read("a.gif").starts_with(b"GIF89a"));
    place.succeed("build p.upthrust.json --size 33 --texture-size 16 --iterations 50 --texture t.png");
    assert_eq!(place.read("t.png"), place.read("f/frame_00002.png"));
    place.fail("build p.upthrust.json --animation a.webp", 2, "known are .gif");
    place.fail("build p.upthrust.json --animation a.gif --every 0", 2, "--every");
}

#[test]
fn batches_are_built_in_one_call_each_in_its_folder() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("two_points"));
    let output = place.succeed(
        "build p.upthrust.json --seeds 7,8 --sizes 33,65x49 -o out --texture-size 8 --heightmap h.r32 --progress json",
    );
    let names = ["seed_7_size_33", "seed_7_size_65x49", "seed_8_size_33", "seed_8_size_65x49"];
    assert_eq!(place.names_in("out"), names);
    assert_eq!(place.names_in("out/seed_8_size_33"), ["h.r32", "h.r32.json", "texture.png"]);
    place.succeed("build p.upthrust.json --seed 8 --size 65x49 --heightmap one.r32");
    assert_eq!(place.read("one.r32"), place.read("out/seed_8_size_65x49/h.r32"));
    assert_ne!(place.read("one.r32"), place.read("out/seed_7_size_65x49/h.r32"));
    let shares: Vec<f64> = output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).expect("JSON")["progress"].as_f64())
        .collect();
    assert!(shares.is_sorted() && shares.last() == Some(&1.0), "one bar over all: {shares:?}");
    place.fail("build p.upthrust.json --seeds 1,1 -o twice --size 33", 2, "two of the files");
    place.fail("build p.upthrust.json --seeds 6,7 --sizes 33 -o out --texture-size 8", 1, "there already");
    assert_eq!(place.names(), ["one.r32", "one.r32.json", "out", "p.upthrust.json"]);
    assert_eq!(place.names_in("out"), names, "nothing is built where a later build cannot be");
    place.fail("build p.upthrust.json --seeds 7 --heightmap g.r32", 2, "--output");
    place.fail("build p.upthrust.json --seeds 7 --seed 8 -o out", 2, "--seed");
}

#[test]
fn targets_are_listed_and_written() {
    let place = Place::new();
    place.write("p.upthrust.json", painted_project());
    let list = place.succeed("build --for list");
    assert!(list.lines().any(|line| line.starts_with("unity ") && line.contains("height.raw")), "{list}");
    assert_eq!(list.lines().count(), 12);
    place.succeed("build p.upthrust.json --for unity -o u --size 65 --texture-size 32");
    let names = ["height.raw", "height.raw.json", "texture.png", "weights_RGBA_0.png", "weights_RGBA_1.png"];
    assert_eq!(place.names_in("u"), names);
    let sidecar: Value = serde_json::from_slice(&place.read("u/height.raw.json")).expect("JSON");
    assert!(sidecar["row_order"].as_str().is_some_and(|order| order.starts_with("rows from south")));
    // What reads it back with its sidecar has north on top again.
    place.succeed("convert u/height.raw north.r32");
    place.succeed("build p.upthrust.json --size 65x65 --heightmap whole.r32");
    let step = (sidecar["max_m"].as_f64().expect("m") - sidecar["min_m"].as_f64().expect("m")) as f32 / 65_535.0;
    let [north, whole] = ["north.r32", "whole.r32"].map(|name| floats(&place.read(name)));
    assert!(north.iter().zip(&whole).all(|(a, b)| (a - b).abs() <= 0.501 * step));
}

#[test]
fn headerless_files_are_read_as_their_sidecars_say() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("two_points"));
    place.succeed("build p.upthrust.json --size 65x49 --heightmap h.r32");
    let heights = floats(&place.read("h.r32"));
    let (low, high) = heights.iter().fold((f32::MAX, f32::MIN), |(low, high), h| (low.min(*h), high.max(*h)));
    for (sample, off) in [("i16le", 0.5), ("u16be", 0.501 * (high - low) / 65_535.0 + 1e-3), ("f32le", 0.0)] {
        place.succeed(&format!("convert h.r32 {sample}.raw --out-raw {sample}"));
        place.succeed(&format!("convert {sample}.raw {sample}.r32"));
        let back = floats(&place.read(&format!("{sample}.r32")));
        assert_eq!(back.len(), heights.len());
        assert!(back.iter().zip(&heights).all(|(a, b)| (a - b).abs() <= off), "{sample}");
    }
}

#[test]
fn a_range_is_what_integers_span_and_stands_in_the_sidecar() {
    let place = Place::new();
    place.write("p.upthrust.json", faults_project("two_points"));
    place.succeed("build p.upthrust.json --size 33 --heightmap h.tif --depth 16 --range -4000,4000");
    place.succeed("build p.upthrust.json --size 33 --heightmap h.exr --range -4000,4000");
    let sidecar = |name: &str| serde_json::from_slice::<Value>(&place.read(name)).expect("JSON");
    let tif = sidecar("h.tif.json");
    assert_eq!((&tif["min_m"], &tif["max_m"], &tif["bits"]), (&json!(-4000.0), &json!(4000.0), &json!(16)));
    assert!(sidecar("h.exr.json")["min_m"].as_f64().expect("a number") > -4000.0);
    for name in ["h.tif", "h.exr"] {
        place.succeed(&format!("convert {name} {name}.r32"));
    }
    let [tif, exr] = ["h.tif.r32", "h.exr.r32"].map(|name| floats(&place.read(name)));
    assert!(tif.iter().zip(&exr).all(|(a, b)| (a - b).abs() <= 0.501 * 8000.0 / 65_535.0));
}

#[test]
fn a_heightmap_inside_the_stack_comes_out_again() {
    let place = Place::new();
    let heights: Vec<u8> = (0..15).flat_map(|i| (i as f32 * 10.0).to_le_bytes()).collect();
    place.write("in.r32", &heights);
    place.succeed("convert in.r32 in.asc --raw f32le,5x3");
    place.write("p.upthrust.json", project(&json!([{"operation": "heightmap", "file": "in.asc"}])));
    place.succeed("build p.upthrust.json --size 5x3 --heightmap out.r32");
    assert_eq!(place.read("out.r32"), heights);
}

#[test]
fn low_and_high_give_integers_their_metres() {
    let place = Place::new();
    place.write("a.raw", [0, 255, 51, 102]);
    place.succeed("convert a.raw a.r32 --raw u8,2x2 --low -100 --high 155");
    assert_eq!(floats(&place.read("a.r32")), [-100.0, 155.0, -49.0, 2.0]);
    place.fail("convert a.raw b.r32 --raw u8,2x2 --low 5 --high 5", 2, "--low must be less");
    place.fail("convert a.r32 b.asc --low 0 --high 5", 2, "integer formats");
}

#[test]
fn krtens_program_writes_whole_metres_in_columns() {
    let place = Place::new();
    place.succeed("fault -n 0 -x 3 -y 2 flat.xy");
    let numbers = |name: &str| -> Vec<i32> {
        place.read(name).as_chunks::<4>().0.iter().map(|chunk| i32::from_le_bytes(*chunk)).collect()
    };
    assert_eq!(numbers("flat.xy"), [3, 2, 0, 0, 0, 0, 0, 0]);

    place.succeed("fault -n 1 one.xy");
    let one = numbers("one.xy");
    assert_eq!((one[0], one[1], one.len()), (256, 256, 2 + 256 * 256));
    assert!(one[2..].iter().all(|height| height.abs() == 1));

    // k alone filters nothing; -w and -p do, and differ.
    place.succeed("fault a.xy --seed 5");
    place.succeed("fault b.xy --seed 5 -f 0.8");
    assert_eq!(place.read("a.xy"), place.read("b.xy"));
    place.succeed("fault p.xy --seed 5 -p");
    place.succeed("fault w.xy --seed 5 -w -F 2");
    assert!(place.read("p.xy") != place.read("a.xy") && place.read("w.xy") != place.read("p.xy"));
    // The shipped preset is his program with -w -F 2.
    let preset = "build preset:krten-wind --seed 5 --size 256 --heightmap preset.xy";
    place.succeed(preset);
    assert_eq!(place.read("preset.xy"), place.read("w.xy"));
}

#[test]
fn listings_are_whole() {
    let place = Place::new();
    let presets = place.json("presets --json");
    assert!(presets.as_array().expect("a list").iter().all(|row| {
        ["name", "title", "description"].iter().all(|key| row[key].as_str().is_some_and(|text| !text.is_empty()))
    }));
    let listing = place.json("operations --json");
    for key in ["operations", "texture", "terrain_type", "light", "recipe", "world", "step", "view", "export"] {
        assert!(listing[key].as_array().is_some_and(|rows| !rows.is_empty()), "{key}");
    }
    let faults = &listing["operations"][0];
    assert_eq!((&faults["key"], &faults["parameters"][0]["key"]), (&json!("faults"), &json!("count")));
    for key in ["key", "label", "unit", "kind", "hard", "slider", "default", "choices", "doc"] {
        assert!(faults["parameters"][0].get(key).is_some(), "{key}");
    }
    let rows = faults["parameters"].as_array().expect("a list");
    let sizes = rows.iter().find(|row| row["key"] == "sizes").expect("a row");
    assert_eq!(sizes["of"], json!({"kind": "weighted", "columns": ["value", "weight"]}));
    assert!(rows[0].get("of").is_none());
    assert_eq!((&listing["recipe"][0]["key"], &listing["recipe"][0]["default"]), (&json!("seed"), &json!(1994)));
    assert!(place.succeed("operations").contains("recipe:\n  seed ("));
    assert!(place.succeed("operations").contains("up_chance"));
    assert!(place.succeed("presets").contains("krten-wind"));
}

#[test]
fn progress_for_programs_is_json_to_the_last_line() {
    let place = Place::new();
    let output = place.succeed("build preset:krten-wind -o out --size 65 --texture-size 32 --progress json");
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last = lines.last().expect("lines");
    assert_eq!((&last["done"], last["files"].as_array().map(Vec::len)), (&json!(true), Some(3)));
    assert_eq!(lines[lines.len() - 2]["progress"], 1.0);
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let place = Place::new();
    place.write("p.upthrust.json", project(&json!([{"operation": "faults", "count": 50_000}])));
    let mut child = place
        .command("faults p.upthrust.json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_work_at_once_and_leaves_nothing() {
    use std::time::{Duration, Instant};
    let kill = |signal: &str, id: u32| {
        let sent = Command::new("kill").args([signal, &id.to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    };
    let place = Place::new();
    let stack = json!([{"operation": "faults", "count": 100_000, "wind": {"k": 0.5}}]);
    place.write("p.upthrust.json", project(&stack));
    for signal in ["-INT", "-TERM"] {
        let mut command = place.command("build p.upthrust.json --heightmap h.png --size 1025 --progress json");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        // The first line of progress says that the work has begun.
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut output, &mut line).expect("a line");
        let sent = Instant::now();
        kill(signal, child.id());
        let ended = child.wait_with_output().expect("it ends");
        assert!(sent.elapsed() < Duration::from_millis(500), "{signal}: {:?}", sent.elapsed());
        assert_eq!(ended.status.code(), Some(1), "{signal}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("interrupted"), "{signal}");
        assert_eq!(place.names(), ["p.upthrust.json"], "{signal}");
    }
}

#[test]
fn without_the_editor_the_program_says_what_it_can_do() {
    if cfg!(feature = "gui") && std::env::var_os(WITHOUT_EDITOR).is_none() {
        println!("skipped: {WITHOUT_EDITOR} names no program");
        return;
    }
    Place::new().fail("", 1, "build, presets, operations");
    Place::new().fail("build preset:canyon --render land.png", 1, "--render is not in this build");
}

/// Whether the program draws in 3-D here: it may have been built without, and there may be no graphics adapter.
fn can_render(place: &Place) -> bool {
    let output = place.run("build preset:krten-wind --render probe.png --render-size 16x16 --size 33");
    let errors = String::from_utf8_lossy(&output.stderr);
    let lacks = ["no graphics adapter was found", "not in this build"].iter().any(|lack| errors.contains(lack));
    assert!(output.status.success() || lacks, "{errors}");
    let required = std::env::var_os("UPTHRUST_REQUIRE_RENDERING").is_some();
    assert!(!(lacks && required), "pictures are required, but nothing can draw them");
    if lacks {
        println!("skipped: {errors}");
    } else {
        std::fs::remove_file(place.path("probe.png")).expect("it was written");
    }
    !lacks
}

#[test]
fn a_picture_in_3d_shows_the_land_in_its_colours_and_turns_around_it() {
    let place = Place::new();
    if !can_render(&place) {
        return;
    }
    // A cliff from north to south: the east in red is high, the west in blue is low.
    let cliff = json!({"operation": "drawn_faults", "faults": [{"from_m": [2000.0, 3000.0], "to_m": [2000.0, 0.0],
        "displacement_m": 200.0, "profile": "step"}]});
    let ground = |name: &str, colour: &str, [low, high]: [f64; 2]| json!({"name": name, "colour": colour, "elevation": [low, high], "elevation_release": 0});
    let types = [ground("low", "#2040ff", [0.0, 50.0]), ground("high", "#ff2010", [50.0, 100.0])];
    place.write(
        "p.upthrust.json",
        json!({"format": 1, "name": "Cliff", "recipe": {"world": {"width_m": 4000, "depth_m": 3000}, "stack": [cliff],
            "texture": {"types": types}}})
        .to_string(),
    );
    let base = "build p.upthrust.json --size 129 --render-size 320x200";
    assert_eq!(place.succeed(&format!("{base} --render one.png")), "wrote one.png\n");
    let read = |name: &str| image::open(place.path(name)).expect(name).to_rgb8();
    let one = read("one.png");
    assert_eq!(one.dimensions(), (320, 200));
    let [west, east] = [(100, 113), (200, 62)].map(|(x, y)| one.get_pixel(x, y).0.map(i32::from));
    assert!(west[2] > west[0] + 40 && east[0] > east[2] + 40, "west {west:?}, east {east:?}");
    // Again, to the same file: only where it may be replaced.
    place.fail(&format!("{base} --render one.png"), 1, "there already");
    let said = place.succeed(&format!("{base} --render land.png --turntable 3 --heightmap h.png"));
    assert!(said.ends_with("wrote land_000.png\nwrote land_001.png\nwrote land_002.png\n"), "{said}");
    let [first, second, third] = ["land_000.png", "land_001.png", "land_002.png"].map(read);
    assert_eq!(first.dimensions(), one.dimensions());
    assert!(first != second && second != third);
    assert!(place.path("h.png").exists() && !place.path("land.png").exists());
    // Nothing is left where something else cannot be written.
    place.fail(&format!("{base} --render two.png --heightmap h.png"), 1, "there already");
    for (arguments, message) in [
        ("--render two.r16", ".png"),
        ("--turntable 3", "--render"),
        ("--render two.png --turntable 1", "2..=999"),
        ("--render two.png --render-size 9x9", "from 16 to 8192"),
    ] {
        let output = place.run(&format!("build p.upthrust.json {arguments}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && errors.contains(message), "{arguments}: {errors}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_graphics_adapter_a_picture_in_3d_is_refused_with_a_sentence() {
    let place = Place::new();
    if !can_render(&place) {
        return;
    }
    let mut command = place.command("build preset:krten-wind --render land.png --size 33");
    // Drivers that are none, and nothing else to fall back to.
    let output = command.env("WGPU_BACKEND", "vulkan").env("VK_DRIVER_FILES", "/none").env("VK_ICD_FILENAMES", "/none");
    let output = output.output().expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: no graphics adapter was found") && !errors.contains("panicked"), "{errors}");
    assert!(place.names().is_empty());
}
