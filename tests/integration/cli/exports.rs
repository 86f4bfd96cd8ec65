//! Tiles, animations, batches and export targets.

use serde_json::{Value, json};

use super::{Sandbox, faults_project, floats, painted_project};

#[test]
fn tiles_are_parts_of_the_untiled_files() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    let maps = "--heightmap h.r32 --texture t.png --weights w --slope s.png --texture-size 48x32 --size 65x49 --force";
    sandbox.succeed(&format!("build p.upthrust.json {maps}"));
    sandbox.succeed(&format!("build p.upthrust.json {maps} --tiles 4x2"));
    let open = |name: &str| image::open(sandbox.path(name)).expect(name).into_rgba8();
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
    let whole = floats(&sandbox.read("h.r32"));
    let tile = floats(&sandbox.read("h_x3_y1.r32"));
    assert!((0..17 * 25).all(|at| tile[at] == whole[(24 + at / 17) * 65 + 48 + at % 17]));
    // A single tile gives the same files.
    let before = ["h_x3_y1.r32", "h_x3_y1.r32.json", "t_x3_y1.png", "w/weights_RGBA_1_x3_y1.png"];
    let bytes = before.map(|name| sandbox.read(name));
    let output = sandbox.run(&format!("build p.upthrust.json {maps} --tiles 4x2 --tile 3,1"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("note: the complete terrain was computed"));
    assert_eq!(before.map(|name| sandbox.read(name)), bytes);
}

#[test]
fn tiles_of_textures_and_maps_are_computed_alone() {
    let sandbox = Sandbox::new();
    let mut project: Value = serde_json::from_str(&painted_project()).expect("JSON");
    project["recipe"]["texture"]["unit"] = json!("metres");
    let types = project["recipe"]["texture"]["types"].as_array_mut().expect("types");
    types[0]["slope_deg"] = json!([0.0, 2.0]);
    types[2]["mask"] = json!({"source": "elevation", "elevation_m": [-40.0, 40.0]});
    sandbox.write("p.upthrust.json", project.to_string());
    let maps = "--heightmap h.r32 --texture t.png --weights w --slope s.png --normals n.png --texture-size 48x32 \
                --size 65x49 --tiles 4x2 --force";
    sandbox.succeed(&format!("build p.upthrust.json {maps}"));
    for (column, row) in [(0, 0), (2, 1), (3, 0)] {
        let names = ["h", "t", "s", "n", "w/weight_02_Rock", "w/weights_RGBA_1"];
        let names = names.map(|name| format!("{name}_x{column}_y{row}.{}", if name == "h" { "r32" } else { "png" }));
        let before = names.each_ref().map(|name| sandbox.read(name));
        let output = sandbox.run(&format!("build p.upthrust.json {maps} --tile {column},{row}"));
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(notes.contains(&format!("note: only tile {column},{row} was computed")), "{notes}");
        assert!(names.each_ref().map(|name| sandbox.read(name)) == before, "{column},{row}");
    }
}

#[test]
fn tiles_know_the_rivers_that_enter_them() {
    let sandbox = Sandbox::new();
    // Long and narrow, so that a large map has few samples.
    let mut types = json!([
        {"name": "Rock", "colour": "#777777"},
        {"name": "Grass", "colour": "#227722", "humidity": [0.5, 1.0, 0.1], "shadow": [0.0, 0.4, 0.2]},
        {"name": "Mud", "colour": "#553311", "mask": [
            {"source": "wetness", "wetness": [7, 40]},
            {"combine": "subtract", "source": "slope", "slope_deg": [25, 90]},
            {"combine": "add", "source": "sediment", "strength": 0.5},
            {"combine": "union", "source": "named", "name": "Water"},
            {"combine": "subtract", "source": "lakes"}
        ]},
        {"name": "Scree", "colour": "#999999", "mask": [{"source": "curvature", "curvature": [-1000, -1]}]}
    ]);
    for terrain_type in types.as_array_mut().expect("types") {
        terrain_type["elevation"] = json!([-10_000, 10_000]);
    }
    let recipe = json!({
        "masks": {"Water": [{"source": "rivers", "drained_km2": 0.02}]},
        "world": {"width_m": 40960, "depth_m": 1600},
        "stack": [{"operation": "noise"}, {"operation": "fluvial_erosion", "count": 3, "outlets": "east"}],
        "texture": {"unit": "metres", "types": types}
    });
    // Maps of rivers know the sea, masks do not.
    let project = json!({"format": 1, "recipe": recipe, "view": {"water_m": -20}});
    sandbox.write("p.upthrust.json", project.to_string());
    let maps = [
        "drainage",
        "rivers",
        "wetness",
        "lakes",
        "curvature",
        "humidity",
        "shade",
        "occlusion",
        "sediment",
        "displacement",
        "deposits",
        "texture",
    ];
    let options: String = maps.map(|map| format!("--{map} {map}.png ")).concat();
    let build = format!("build p.upthrust.json --size 4097x161 --texture-size 4096x160 {options} --tiles 8x1 --force");
    sandbox.succeed(&build);
    let texture = image::load_from_memory(&sandbox.read("texture_x3_y0.png")).expect("a picture").to_rgb8();
    let largest =
        |of: fn([i32; 3]) -> i32| texture.pixels().map(|pixel| of(pixel.0.map(i32::from))).max().expect("pixels");
    assert!(largest(|[red, _, blue]| red - blue) > 10, "mud");
    assert!(largest(|[red, green, blue]| red.min(green).min(blue)) > 0x80, "scree");
    assert!(largest(|[red, green, _]| green - red) > 24, "grass");
    for map in ["displacement", "deposits"] {
        let picture =
            image::load_from_memory(&sandbox.read(&format!("{map}_x3_y0.png"))).expect("a picture").to_luma8();
        let values = || picture.pixels().map(|pixel| pixel.0[0]);
        assert!(values().max() > values().min().map(|low| low.saturating_add(60)), "{map}");
    }
    for tile in [0, 7] {
        let read = || maps.map(|map| sandbox.read(&format!("{map}_x{tile}_y0.png")));
        let before = read();
        for cache in ["", "--cache cache"] {
            let output = sandbox.run(&format!("{build} --tile {tile},0 {cache}"));
            let notes = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(notes.contains("note: only tile"), "{notes}");
            for ((map, before), after) in maps.iter().zip(&before).zip(read()) {
                assert!(*before == after, "{map}, {tile} {cache}");
            }
        }
    }
    let folder = sandbox.path("cache").read_dir().expect("a folder").next().expect("one").expect("an entry").path();
    let names = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let water = names.filter(|name| name.to_string_lossy().starts_with("water-")).count();
    assert_eq!(water, 2, "with the sea and without it");
}

#[test]
fn tiles_take_the_terrain_of_rivers_from_the_cache() {
    let sandbox = Sandbox::new();
    // Long and narrow, so that a large map has few samples.
    let recipe = json!({
        "world": {"width_m": 40960, "depth_m": 480},
        "stack": [{"operation": "noise"}, {"operation": "fluvial_erosion", "count": 3}]
    });
    sandbox.write("p.upthrust.json", json!({"format": 1, "recipe": recipe}).to_string());
    let build = |tile: u32, cache: &str| {
        let heights = "--size 4097x49 --tiles 8x1 --heightmap h.r32 --force";
        sandbox.succeed(&format!("build p.upthrust.json {heights} --tile {tile},0 {cache}"));
        sandbox.read(&format!("h_x{tile}_y0.r32"))
    };
    let files =
        || std::fs::read_dir(sandbox.path("cache")).expect("a folder").map(|entry| entry.expect("entry").path());
    let results = || -> usize { files().map(|folder| std::fs::read_dir(folder).expect("a folder").count()).sum() };
    let tiles = [2, 4].map(|tile| build(tile, ""));
    assert!(build(2, "--cache cache") == tiles[0]);
    let count = results();
    assert!(build(4, "--cache cache") == tiles[1] && results() > count && count > 2, "{count}");
    assert!(build(4, "--cache cache") == tiles[1] && build(2, "--cache cache") == tiles[0], "from the cache");
    assert_eq!(files().count(), 1);
    // Integers span the range of all tiles, which the first build finds.
    let build = |tile: u32, cache: &str| {
        let heights = "--size 4097x49 --tiles 8x1 --heightmap h.png --force";
        let output = sandbox.run(&format!("build p.upthrust.json {heights} --tile {tile},0 {cache}"));
        let is_complete = String::from_utf8_lossy(&output.stderr).contains("the complete terrain was computed");
        (sandbox.read(&format!("h_x{tile}_y0.png")), is_complete)
    };
    let tiles = [2, 4].map(|tile| build(tile, "").0);
    assert!(build(2, "--cache cache") == (tiles[0].clone(), true));
    assert!(build(4, "--cache cache") == (tiles[1].clone(), false), "alone");
    sandbox.write("q.upthrust.json", painted_project());
    sandbox.fail("build q.upthrust.json --size 65x49 --heightmap a.r32 --cache p.upthrust.json", 1, "cannot create");
}

#[test]
fn tiles_that_depend_on_the_rest_are_cut_from_the_complete_terrain() {
    let sandbox = Sandbox::new();
    // Without a reason, the tile is computed alone.
    let check = |change: &dyn Fn(&mut Value), options: &str, reason: &str| {
        let mut project: Value = serde_json::from_str(&painted_project()).expect("JSON");
        project["recipe"]["texture"]["unit"] = json!("metres");
        change(&mut project["recipe"]);
        sandbox.write("p.upthrust.json", project.to_string());
        let build = format!("build p.upthrust.json --size 65x49 --texture t.png --texture-size 48x32 {options}");
        sandbox.succeed(&format!("{build} --tiles 4x2 --force"));
        let before = sandbox.read("t_x1_y1.png");
        let output = sandbox.run(&format!("{build} --tiles 4x2 --force --tile 1,1"));
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(notes.contains("note: only tile 1,1 was computed"), reason.is_empty(), "{options}: {notes}");
        assert!(notes.contains(reason), "{options}: {notes}");
        assert!(sandbox.read("t_x1_y1.png") == before, "{options}");
    };
    let set = |pointer: &'static str, value: Value| {
        move |recipe: &mut Value| {
            let (parent, key) = pointer.rsplit_once('/').expect("a path");
            recipe.pointer_mut(parent).expect("there")[key] = value.clone();
        }
    };
    let range = json!([-500.0, 500.0]);
    let lit = |shadows: f64| json!({"bake": true, "shadows": shadows, "occlusion": 0.0});
    check(&|_| (), "", "");
    check(&|_| (), "--heightmap h.png", "tile 1,1: integers need the height range");
    check(&|_| (), "--heightmap h.png --range -500,500", "");
    check(
        &|_| (),
        "--occlusion o.png",
        "tile 1,1: curvature, humidity, shade, occlusion, sediment and rock need the complete terrain",
    );
    check(&|_| (), "--deposits d.png", "tile 1,1: curvature, humidity, shade, occlusion, sediment and rock need");
    check(&|_| (), "--lakes l.png", "tile 1,1: maps of lakes need a larger map, and rivers");
    check(&|_| (), "--wetness w.png", "tile 1,1: drainage areas, also in masks, need rivers");
    check(&|_| (), "--weights w --weights-at samples", "tile 1,1: weights at samples");
    check(&set("/texture/unit", json!("percent")), "", "tile 1,1: elevations of terrain types in percent");
    let in_percent = |recipe: &mut Value| {
        set("/texture/unit", json!("percent"))(recipe);
        set("/world/height_range_m", range.clone())(recipe);
    };
    check(&in_percent, "", "");
    let masked = |source: &str| set("/texture/types/0/mask", json!({"source": source, "scale_m": 500}));
    check(&masked("noise"), "", "");
    check(&masked("slope"), "", "");
    check(&masked("curvature"), "", "tile 1,1: curvature, humidity, shade, occlusion, sediment and rock");
    check(&masked("wetness"), "", "tile 1,1: drainage areas, also in masks");
    check(&masked("lakes"), "", "tile 1,1: masks by lakes need a larger map, and rivers");
    check(
        &set("/texture/types/0/humidity", json!([0.2, 0.8, 0.1])),
        "",
        "tile 1,1: curvature, humidity, shade, occlusion",
    );
    check(&|recipe| recipe["light"] = lit(0.0), "", "");
    check(&|recipe| recipe["light"] = lit(1.0), "", "tile 1,1: the baked light has shadows");
    sandbox.fail("build p.upthrust.json --tiles 2x2 --tile 0,0 --texture t.png --mesh m.glb", 2, "--mesh");
    sandbox.fail(
        "build p.upthrust.json --tiles 2x2 --tile 0,0 --texture t.png --river-lines r.json",
        2,
        "--river-lines",
    );
}

#[test]
fn an_uplift_is_written_as_frames_and_animation() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("two_points"));
    sandbox.succeed("build p.upthrust.json --size 33 --texture-size 16 --frames f --animation a.gif --every 25");
    let frames = ["frame_00000.png", "frame_00001.png", "frame_00002.png", "frame_00003.png"];
    assert_eq!(sandbox.names_in("f"), frames);
    assert!(sandbox.read("a.gif").starts_with(b"GIF89a"));
    sandbox.succeed("build p.upthrust.json --size 33 --texture-size 16 --iterations 50 --texture t.png");
    assert_eq!(sandbox.read("t.png"), sandbox.read("f/frame_00002.png"));
    sandbox.fail("build p.upthrust.json --animation a.webp", 2, ".gif");
    sandbox.fail("build p.upthrust.json --animation a.gif --every 0", 2, "--every");
}

#[test]
fn batches_are_built_into_a_folder_each() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("two_points"));
    let output = sandbox.succeed(
        "build p.upthrust.json --seeds 7,8 --sizes 33,65x49 -o out --texture-size 8 --heightmap h.r32 --progress json",
    );
    let names = ["seed_7_size_33", "seed_7_size_65x49", "seed_8_size_33", "seed_8_size_65x49"];
    assert_eq!(sandbox.names_in("out"), names);
    assert_eq!(sandbox.names_in("out/seed_8_size_33"), ["h.r32", "h.r32.json", "texture.png"]);
    sandbox.succeed("build p.upthrust.json --seed 8 --size 65x49 --heightmap one.r32");
    assert_eq!(sandbox.read("one.r32"), sandbox.read("out/seed_8_size_65x49/h.r32"));
    assert_ne!(sandbox.read("one.r32"), sandbox.read("out/seed_7_size_65x49/h.r32"));
    let shares: Vec<f64> = output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).expect("JSON")["progress"].as_f64())
        .collect();
    assert!(shares.is_sorted() && shares.last() == Some(&1.0), "one progress for all builds: {shares:?}");
    sandbox.fail("build p.upthrust.json --seeds 1,1 -o twice --size 33", 2, "two of the files");
    sandbox.fail("build p.upthrust.json --seeds 6,7 --sizes 33 -o out --texture-size 8", 1, "already");
    assert_eq!(sandbox.names(), ["one.r32", "one.r32.json", "out", "p.upthrust.json"]);
    assert_eq!(sandbox.names_in("out"), names, "no build starts if a later one is refused");
    sandbox.fail("build p.upthrust.json --seeds 7 --heightmap g.r32", 2, "--output");
    sandbox.fail("build p.upthrust.json --seeds 7 --seed 8 -o out", 2, "--seed");
}

#[test]
fn targets_are_listed_and_written() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    let list = sandbox.succeed("build --for list");
    assert!(list.lines().any(|line| line.starts_with("unity ") && line.contains("height.raw")), "{list}");
    assert_eq!(list.lines().count(), upthrust::files::targets::ALL.len());
    sandbox.succeed("build p.upthrust.json --for unity -o u --size 65 --texture-size 32");
    let names = "Upthrust~ height.raw height.raw.json texture.png upthrust.json weights_RGBA_0.png weights_RGBA_1.png";
    assert_eq!(sandbox.names_in("u").join(" "), names);
    assert_eq!(sandbox.names_in("u/Upthrust~"), ["README.md", "UpthrustTerrainImporter.cs"]);
    let sidecar: Value = serde_json::from_slice(&sandbox.read("u/height.raw.json")).expect("JSON");
    assert!(sidecar["row_order"].as_str().is_some_and(|order| order.starts_with("rows from south")));
    // Reading it with its sidecar gives north up again.
    sandbox.succeed("convert u/height.raw north.r32");
    sandbox.succeed("build p.upthrust.json --size 65x65 --heightmap whole.r32");
    let step = (sidecar["max_m"].as_f64().expect("m") - sidecar["min_m"].as_f64().expect("m")) as f32 / 65_535.0;
    let [north, whole] = ["north.r32", "whole.r32"].map(|name| floats(&sandbox.read(name)));
    assert!(north.iter().zip(&whole).all(|(a, b)| (a - b).abs() <= 0.501 * step));
}

#[test]
fn the_manifest_lists_no_file_that_is_written_elsewhere() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    let build =
        "build p.upthrust.json --for unity -o u --size 65 --texture-size 32 --heightmap mine.r32 --texture mine.png";
    let output = sandbox.run(&format!("{build} --normals normals.png"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("mine.png replaces texture.png"), "{errors}");
    let manifest: Value = serde_json::from_slice(&sandbox.read("u/upthrust.json")).expect("JSON");
    let lists = ["heightmaps", "texture", "maps", "mesh", "weights"].map(|kind| manifest[kind].as_array().expect(kind));
    let files: Vec<_> = lists.into_iter().flatten().map(|entry| entry["file"].as_str().expect("a name")).collect();
    assert_eq!(files, ["height.raw", "weights_RGBA_0.png", "weights_RGBA_1.png"]);
    assert!(files.iter().all(|file| sandbox.path("u").join(file).exists()));
    assert!(sandbox.path("mine.r32").exists() && sandbox.path("mine.png").exists());
}

#[test]
fn textures_for_engines_that_stream_them_have_powers_of_two() {
    let sandbox = Sandbox::new();
    let mut project: Value = serde_json::from_str(&painted_project()).expect("JSON");
    project["export"] = json!({"texture_pixels": 100});
    sandbox.write("p.upthrust.json", project.to_string());
    let build = "build p.upthrust.json --for unreal -o u --size 127 --force";
    sandbox.succeed(build);
    assert_eq!(image::image_dimensions(sandbox.path("u/texture.png")).expect("an image"), (128, 128));
    let output = sandbox.run(&format!("{build} --texture-size 100x60"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("such as --texture-size 128x128"), "{errors}");
    assert_eq!(image::image_dimensions(sandbox.path("u/texture.png")).expect("an image"), (100, 60));
    sandbox.succeed("build p.upthrust.json --for blender -o b --size 65");
    assert_eq!(image::image_dimensions(sandbox.path("b/texture.png")).expect("an image"), (100, 75));
}

#[test]
fn textures_for_godot_have_a_pixel_for_each_sample() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    let build = "build p.upthrust.json --for godot-terrain3d -o g --size 128 --texture mine.png";
    sandbox.fail(&format!("{build} --texture-size 100"), 2, "128 × 64, not 100 × 75");
    sandbox.succeed(&format!("{build} --texture-size 128x64"));
    assert_eq!(image::image_dimensions(sandbox.path("mine.png")).expect("an image"), (128, 64));
    sandbox.succeed(&format!("{build} --force"));
    assert_eq!(image::image_dimensions(sandbox.path("mine.png")).expect("an image"), (128, 64));
}
