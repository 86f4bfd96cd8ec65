//! The files of every export target, read like its program reads them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use upthrust::engine::heightfield::Extent;
use upthrust::engine::operations::heightmap::Heightmap;
use upthrust::engine::parameters::{Band, FileName};
use upthrust::engine::recipe::World;
use upthrust::engine::{Grid, Heightfield, Inputs, Progress, Raster, Recipe, SampleScale, Step, stack};
use upthrust::files::export::{ImportFacts, ImportGuide as _, Order, Plan, Tiles, build};
use upthrust::files::formats::heightmap::{self, ReadOptions, RowOrder};
use upthrust::files::import::open_heightmap;
use upthrust::files::targets::{self, Target};

use crate::common::preset_terrains;

/// An order for asymmetric terrain: a slope that rises to the south-east, with a block in the north-west corner.
fn asymmetric(target: &'static Target, folder: &Path, longer: usize, counts: [usize; 2]) -> (Order, Heightfield) {
    let side = 65;
    let sample = |at: usize| {
        let (c, r) = (at % side, at / side);
        if c < 4 && r < 4 { 700.0 } else { c as f32 * 3.0 + r as f32 * 5.5 - 60.0 }
    };
    let samples = (0..side * side).map(sample).collect();
    let raster = Raster { width: side, height: side, samples, scale: SampleScale::Metres };
    order(target, folder, raster, World { width_m: 4096.0, depth_m: 4096.0, ..Default::default() }, longer, counts)
}

fn order(
    target: &'static Target,
    folder: &Path,
    raster: Raster,
    world: World,
    longer: usize,
    counts: [usize; 2],
) -> (Order, Heightfield) {
    let file = FileName("in.r32".into());
    let step = Step::new(Heightmap { file: file.clone(), low_m: None, high_m: None, ..Default::default() });
    let recipe = Recipe { stack: vec![step], world, ..Default::default() };
    let grid = target.grid(recipe.world.extent(), target.nearest(recipe.world.extent(), longer, counts), counts);
    let inputs = Inputs { rasters: [(file, Arc::new(raster))].into(), ..Default::default() };
    let tiles = (counts != [1, 1]).then_some(Tiles::new(counts));
    let mut order = Order { tiles, inputs, ..Order::new("Marked", recipe, grid) };
    target.add_to(&mut order, folder, [64 * counts[0], 64 * counts[1]]);
    // Decoding the built-in textures would take long.
    order.recipe.texture.types.iter_mut().for_each(|material| material.texture = None);
    let terrain = stack::evaluate(&order.recipe, grid, None, &order.inputs, &Progress::new()).expect("not cancelled");
    (order, terrain)
}

fn sidecar(path: &Path) -> Value {
    let text = std::fs::read_to_string(heightmap_sidecar(path)).expect("a sidecar");
    serde_json::from_str(&text).expect("JSON")
}

fn heightmap_sidecar(path: &Path) -> std::path::PathBuf {
    upthrust::files::formats::sidecar::sidecar_path(path)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The number after a phrase in the import steps.
fn typed(sidecar: &Value, words: &str) -> f64 {
    let steps: Vec<&str> = sidecar["import"].as_array().expect("steps").iter().filter_map(Value::as_str).collect();
    let rest = steps.iter().find_map(|step| step.split_once(words)).unwrap_or_else(|| panic!("{words}: {steps:?}")).1;
    let digits: String = rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || "-.".contains(*c)).collect();
    digits.trim_end_matches('.').parse().expect("a number")
}

#[test]
fn every_target_preserves_metres_and_orientation() {
    for target in targets::ALL {
        let folder = tempfile::tempdir().expect("folder");
        let (order, terrain) = asymmetric(target, folder.path(), 129, [1, 1]);
        let plan = Plan::new(order.clone()).expect("possible");
        let mut planned: Vec<_> = plan.paths().map(Path::to_path_buf).collect();
        let mut written = build(&order, &Progress::new()).expect(target.key).files;
        planned.sort();
        written.sort();
        assert_eq!(written, planned, "{}", target.key);
        let grid = terrain.grid();
        assert!(target.check(grid, [1, 1]).is_ok());
        for heightmap in &order.heightmaps {
            let path = &heightmap.path;
            let bytes = std::fs::read(path).expect("there");
            let sidecar_json = sidecar(path);
            // The program does not read the sidecar.
            let layout = match (path.extension().and_then(|e| e.to_str()), grid.width(), grid.height()) {
                (Some("raw" | "r16"), width, height) => format!("u16le,{width}x{height}").parse().ok(),
                (Some("r32"), width, height) => format!("f32le,{width}x{height}").parse().ok(),
                _ => None,
            };
            let raster = heightmap::decode(path, &bytes, layout).expect("readable").raster;
            let (min, max) = (number(&sidecar_json["min_m"]), number(&sidecar_json["max_m"]));
            if let Some(Band { min: low, max: high }) = target.range_m {
                assert_eq!((min, max), (low, high), "{}", target.key);
            }
            let [metres, tolerance]: [Box<dyn Fn(f32) -> f64>; 2] = match raster.scale {
                SampleScale::Metres => [Box::new(f64::from), Box::new(|_| 0.0)],
                SampleScale::Integers { .. } => [
                    Box::new(move |value| min + f64::from(value) / 65_535.0 * (max - min)),
                    Box::new(move |_| (max - min) / 65_535.0 * 0.5001),
                ],
            };
            let from_south = heightmap.encoding.row_order == RowOrder::SouthFirst;
            assert_eq!(from_south, target.key == "unity", "only Unity starts in the south");
            for r in 0..grid.height() {
                let row = if from_south { grid.height() - 1 - r } else { r };
                for c in (0..grid.width()).step_by(7) {
                    let value = raster.samples[row * grid.width() + c];
                    let height = f64::from(terrain[(c, r)]).clamp(min, max);
                    assert!((metres(value) - height).abs() <= tolerance(value) + 1e-9, "{} ({c}, {r})", target.key);
                }
            }
            assert!(sidecar_json["import"].as_array().is_some_and(|steps| steps.len() > 3), "{sidecar_json}");
        }
    }
}

#[test]
fn import_numbers_for_unity_and_unreal_give_metres() {
    let folder = tempfile::tempdir().expect("folder");
    let unreal = targets::from_key("unreal").expect("there");
    let (order, terrain) = asymmetric(unreal, folder.path(), 127, [1, 1]);
    build(&order, &Progress::new()).expect("built");
    let path = &order.heightmaps[0].path;
    let sidecar_json = sidecar(path);
    let (scale_z, location_z) = (typed(&sidecar_json, ", Z "), typed(&sidecar_json, "Location Z "));
    let span = number(&sidecar_json["max_m"]) - number(&sidecar_json["min_m"]);
    assert!((scale_z - span * 100.0 / 512.0).abs() < 1e-4 * scale_z, "the range in cm / 512");
    assert!((typed(&sidecar_json, "Scale X ") - 100.0 * 4096.0 / 126.0).abs() <= 0.5e-4, "four places");
    // The rounding of the typed numbers changes no height by more than a millionth of the range.
    let [exact_scale, exact_location] = [
        span * 65_536.0 / 65_535.0 * 100.0 / 512.0,
        100.0 * (number(&sidecar_json["min_m"]) + span * 32_768.0 / 65_535.0),
    ];
    let rounding_m = ((scale_z - exact_scale).abs() * 256.0 + (location_z - exact_location).abs()) / 100.0;
    assert!(rounding_m <= 1e-6 * span, "{rounding_m} m of {span} m");
    let image = image::open(path).expect("an image").into_luma16();
    for (x, y, value) in image.enumerate_pixels() {
        let metres = (location_z + (f64::from(value.0[0]) - 32_768.0) / 128.0 * scale_z) / 100.0;
        let height = f64::from(terrain[(x as usize, y as usize)]);
        let tolerance_m = 0.5001 * span / 65_535.0 + rounding_m;
        assert!((metres - height).abs() <= tolerance_m, "({x}, {y}): {metres} for {height}");
    }
    // One 8-bit grey file per layer with a pixel per sample; the layers sum to 255.
    let layers: Vec<image::GrayImage> = std::fs::read_dir(folder.path())
        .expect("folder")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("weight_")))
        .map(|path| image::open(path).expect("an image").into_luma8())
        .collect();
    assert!(layers.len() > 3 && layers.iter().all(|layer| layer.dimensions() == (127, 127)));
    assert!((0..127).all(|at| layers.iter().map(|layer| u32::from(layer.get_pixel(at, 5).0[0])).sum::<u32>() == 255));

    let folder = tempfile::tempdir().expect("folder");
    let unity = targets::from_key("unity").expect("there");
    let (order, terrain) = asymmetric(unity, folder.path(), 129, [1, 1]);
    build(&order, &Progress::new()).expect("built");
    let path = &order.heightmaps[0].path;
    let (sidecar_json, bytes) = (sidecar(path), std::fs::read(path).expect("there"));
    let (height, y) = (typed(&sidecar_json, "Terrain Height "), typed(&sidecar_json, "y = "));
    assert_eq!((typed(&sidecar_json, "Resolution "), typed(&sidecar_json, "Terrain Width ")), (129.0, 4096.0));
    let value =
        |x: usize, z: usize| f64::from(u16::from_le_bytes([bytes[2 * (z * 129 + x)], bytes[2 * (z * 129 + x) + 1]]));
    for (x, z) in (0..129).flat_map(|z| [(0, z), (40, z), (128, z)]) {
        // Unity divides by 65536.
        let metres = value(x, z) / 65_536.0 * height + y;
        assert!((metres - f64::from(terrain[(x, 128 - z)])).abs() <= 0.5001 * height / 65_535.0);
    }
    let alphamap = image::open(folder.path().join("weights_RGBA_0.png")).expect("an image");
    assert_eq!((alphamap.width(), alphamap.color()), (128, image::ColorType::Rgba8));
}

#[test]
fn tiles_have_the_target_names_one_range_and_shared_edges() {
    for (key, longer, side) in [("unity", 129, 65), ("generic", 65, 33)] {
        let folder = tempfile::tempdir().expect("folder");
        let (order, _) = asymmetric(targets::from_key(key).expect("there"), folder.path(), longer, [2, 2]);
        build(&order, &Progress::new()).expect("built");
        let name = |column: usize, row: usize| match key {
            "unity" => format!("height_{column}_{}.raw", 1 - row),
            _ => format!("height_x{column}_y{row}.png"),
        };
        let read = |column: usize, row: usize| {
            let reading = heightmap::read(&folder.path().join(name(column, row)), None).expect("readable");
            assert_eq!((reading.raster.width, reading.raster.height), (side, side), "{key}");
            (reading.range_m(), reading.raster.samples)
        };
        let [nw, ne, sw, se] = [read(0, 0), read(1, 0), read(0, 1), read(1, 1)];
        assert!(nw.0 == ne.0 && ne.0 == sw.0 && sw.0 == se.0, "{key}");
        assert!((0..side).all(|r| nw.1[r * side + side - 1] == ne.1[r * side]), "{key}");
        assert!((0..side).all(|c| nw.1[(side - 1) * side + c] == sw.1[c]), "{key}");
        assert!(nw.1[0] > 50_000.0, "the block is in the north-west");
        assert!(ne.1[side - 1] < 40_000.0 && sw.1[(side - 1) * side] < 40_000.0);
    }
    // Without tiles, no name looks like that of a tile.
    let folder = tempfile::tempdir().expect("folder");
    let (mut order, _) = asymmetric(targets::from_key("unreal").expect("there"), folder.path(), 127, [1, 1]);
    order.recipe.texture.types[0].name = "Clay2 4x4".into();
    for path in Plan::new(order).expect("possible").paths() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        let reads_as_tile = letters.windows(2).any(|two| "uvxy".contains(two[0]) && two[1].is_ascii_digit());
        assert!(!reads_as_tile, "{name}");
    }
}

#[test]
fn tiles_for_programs_that_lay_them_side_by_side_join_to_the_whole_map() {
    for (key, extension) in [("unreal", "png"), ("godot-terrain3d", "exr")] {
        let target = targets::from_key(key).expect("there");
        for counts in [[2, 2], [3, 2], [1, 4]] {
            let folder = tempfile::tempdir().expect("folder");
            let (order, terrain) = asymmetric(target, folder.path(), 200, counts);
            let grid = order.grid;
            // The whole map is one that the program supports.
            assert_eq!(target.check(grid, [1, 1]), Ok(()), "{key} {counts:?}: {grid:?}");
            build(&order, &Progress::new()).expect("built");
            let size = [grid.width() / counts[0], grid.height() / counts[1]];
            for (column, row) in (0..counts[0]).flat_map(|column| (0..counts[1]).map(move |row| (column, row))) {
                let path = folder.path().join(format!("height_x{column}_y{row}.{extension}"));
                let reading = heightmap::read(&path, None).expect("readable");
                let half_step = reading.range_m().map_or(0.0, |range| (range.max - range.min) / 65_535.0 * 0.5001);
                assert_eq!([reading.raster.width, reading.raster.height], size);
                for (at, height) in reading.into_metres(None).into_iter().enumerate() {
                    let place = (column * size[0] + at % size[0], row * size[1] + at / size[0]);
                    assert!(f64::from((height - terrain[place]).abs()) <= half_step + 1e-4, "{key} {place:?}");
                }
            }
        }
    }
}

#[test]
fn the_import_steps_of_every_preset_ask_for_nothing_that_a_dialog_refuses() {
    for (file, terrain) in preset_terrains() {
        let extent = file.project.recipe.world.extent();
        let [min, max] = terrain.min_max().map(f64::from);
        for target in targets::ALL {
            let longer = target.nearest(extent, file.settings.export.samples as usize, [1, 1]);
            let facts = ImportFacts {
                file: "height",
                grid: target.grid(extent, longer, [1, 1]),
                range_m: target.range_m.unwrap_or(Band { min, max }),
                is_estimate: false,
                water_m: None,
                tiles: None,
                layers: &[],
            };
            assert_eq!(target.refusals(&facts), Vec::<String>::new(), "{} for {}", file.project.name, target.key);
        }
    }
}

#[test]
fn high_and_wide_worlds_are_scaled_to_what_the_dialogs_accept() {
    for (key, width_m, [min, max]) in [
        ("worldpainter", 200_000.0, [-500.0, 8800.0]),
        ("worldpainter", 300.0, [-2.0, 40.0]),
        ("roblox", 1000.0, [0.0, 3000.0]),
        ("roblox", 90_000.0, [-10.0, 20.0]),
        ("worldpainter", 1e6, [0.0, 8000.0]),
    ] {
        let target = targets::from_key(key).expect("there");
        let extent = Extent { width_m, depth_m: width_m };
        let grid = target.grid(extent, target.nearest(extent, 1025, [1, 1]), [1, 1]);
        let range_m = Band { min, max };
        let facts =
            ImportFacts { file: "height", grid, range_m, is_estimate: false, water_m: None, tiles: None, layers: &[] };
        assert_eq!(target.refusals(&facts), Vec::<String>::new(), "{key}, {width_m} m");
    }
}

/// A heightmap as a project stores and decodes it, without its sidecar.
fn imported(path: &Path) -> (std::path::PathBuf, Raster) {
    let file = open_heightmap(path, &ReadOptions::default()).expect("readable");
    let raster = heightmap::decode(&file.path, &file.bytes, None).expect("readable without its sidecar").raster;
    (file.path, raster)
}

#[test]
fn heightmaps_from_the_south_are_imported_north_up() {
    let folder = tempfile::tempdir().expect("folder");
    let (order, terrain) = asymmetric(targets::from_key("unity").expect("there"), folder.path(), 65, [1, 1]);
    build(&order, &Progress::new()).expect("built");
    let path = &order.heightmaps[0].path;
    let (name, raster) = imported(path);
    assert_eq!(name, path.with_extension("exr"));
    let sidecar_json = sidecar(path);
    let half_step = (number(&sidecar_json["max_m"]) - number(&sidecar_json["min_m"])) / 65_535.0 * 0.5001 + 1e-4;
    assert_eq!((raster.width, raster.height, raster.scale), (65, 65, SampleScale::Metres));
    for (height, expected) in raster.samples.iter().zip(terrain.heights()) {
        assert!(f64::from((height - expected).abs()) <= half_step, "{height} for {expected}");
    }
    // A format that needs no sidecar is stored unchanged.
    let folder = tempfile::tempdir().expect("folder");
    let (order, _) = asymmetric(targets::from_key("generic").expect("there"), folder.path(), 65, [1, 1]);
    build(&order, &Progress::new()).expect("built");
    let path = &order.heightmaps[0].path;
    assert_eq!(imported(path).0, *path);
}

#[test]
fn terrain_without_covering_types_is_exported_without_weights_and_with_a_warning() {
    for target in targets::ALL.iter().copied().filter(|target| target.weights.is_some()) {
        let folder = tempfile::tempdir().expect("folder");
        let side = 65;
        let raster = Raster { width: side, height: side, samples: vec![5.0; side * side], scale: SampleScale::Metres };
        let (mut bare, _) = order(target, folder.path(), raster, World::default(), 129, [1, 1]);
        bare.heightmaps.clear();
        (bare.texture, bare.weights, bare.mesh) = (None, None, None);
        bare.maps.clear();
        bare.recipe.texture.types.clear();
        target.add_to(&mut bare, folder.path(), [64, 64]);
        assert_eq!(bare.weights, None, "{}", target.key);
        assert!(
            target.warnings(bare.grid, &bare.recipe.texture).iter().any(|warning| warning.contains("gets no weights")),
            "{}",
            target.key
        );
        build(&bare, &Progress::new()).expect(target.key);
    }
}

#[test]
fn the_nearest_size_is_valid_for_the_target() {
    for (width_m, depth_m) in [(1000.0, 1000.0), (4000.0, 1900.0), (1900.0, 4000.0), (1000.0, 3000.0)] {
        let extent = Extent { width_m, depth_m };
        for counts in [[1, 1], [2, 1], [1, 2], [2, 2], [3, 2], [5, 3]] {
            for (key, longer) in [
                ("unreal", 300),
                ("unreal", 1025),
                ("unreal", 4097),
                ("cryengine", 1025),
                ("godot-terrain3d", 1025),
                ("godot-terrain3d", 2100),
            ] {
                let target = targets::from_key(key).expect("there");
                let nearest = target.nearest(extent, longer, counts);
                let grid = target.grid(extent, nearest, counts);
                let told = format!("{key} {extent:?} {counts:?} {longer}: {nearest}, {grid:?}");
                assert_eq!(target.check(grid, counts), Ok(()), "{told}");
                let tiles = Tiles { edges: target.tile_edges, ..Tiles::new(counts) };
                assert!(Tiles::of_samples(Some(tiles), [grid.width(), grid.height()]).is_ok(), "{told}");
            }
        }
    }
}

#[test]
fn terrain3d_gets_heights_a_control_map_and_roughness() {
    let folder = tempfile::tempdir().expect("folder");
    let (order, terrain) = asymmetric(targets::from_key("godot-terrain3d").expect("there"), folder.path(), 64, [1, 1]);
    build(&order, &Progress::new()).expect("built");
    let channels = |name: &str| {
        let image = exr::prelude::read_first_flat_layer_from_file(folder.path().join(name)).expect("readable");
        image.layer_data.channel_data.list
    };
    for channel in channels("height.exr") {
        let exr::prelude::FlatSamples::F32(samples) = channel.sample_data else { panic!("not 32-bit floats") };
        assert_eq!(samples, terrain.heights());
    }
    let covering = order.recipe.texture.active().filter(|material| material.covers()).count() as u32;
    let control = channels("control.exr");
    assert_eq!(control.len(), 3);
    let exr::prelude::FlatSamples::F32(control) = &control[0].sample_data else { panic!("not 32-bit floats") };
    let mut bases = std::collections::BTreeSet::new();
    for bits in control.iter().map(|bits| bits.to_bits()) {
        let (base, overlay, blend) = (bits >> 27, bits >> 22 & 31, bits >> 14 & 255);
        assert!(base < covering && overlay < covering && blend <= 128 && bits & 0x3FFF == 0, "{bits:032b}");
        bases.insert(base);
    }
    assert!(bases.len() > 1, "{bases:?}");
    let colours = image::open(folder.path().join("color.png")).expect("an image");
    assert_eq!((colours.color(), colours.width(), colours.height()), (image::ColorType::Rgba8, 64, 64));
    assert!(colours.into_rgba8().pixels().all(|pixel| pixel.0[3] == 128));
}

#[test]
fn maps_for_terrain3d_fit_around_the_origin() {
    let target = targets::from_key("godot-terrain3d").expect("there");
    let steps = |extent: Extent, longer: usize, counts: [usize; 2]| {
        let grid = target.grid(extent, target.nearest(extent, longer, counts), counts);
        assert_eq!(target.check(grid, counts), Ok(()));
        let tile = Grid::new(extent, grid.width() / counts[0], grid.height() / counts[1]);
        let facts = ImportFacts {
            file: "height.exr",
            grid: tile,
            range_m: Band { min: 0.0, max: 900.0 },
            is_estimate: false,
            water_m: None,
            tiles: Some(counts).filter(|counts| *counts != [1, 1]),
            layers: &[],
        };
        target.steps(&facts).join(" ")
    };
    let square = Extent { width_m: 4096.0, depth_m: 4096.0 };
    let usual = steps(square, 1025, [1, 1]);
    assert!(usual.contains("Region Size to 256") && !usual.contains("Import Position"), "{usual}");
    let large = steps(square, 8192, [1, 1]);
    assert!(large.contains("Region Size to 512") && !large.contains("Import Position"), "{large}");
    let odd = steps(Extent { depth_m: 2688.0, ..square }, 2048, [1, 1]);
    assert!(odd.contains("Region Size to 64 ") && odd.contains("−1024 and −640"), "{odd}");
    let tiles = steps(square, 2048, [2, 2]);
    assert!(tiles.contains("to 1024 × N and 1024 × M.") && tiles.contains("Region Size to 256"), "{tiles}");
    // 33 regions of 64 samples are too many, and 2112 has no other region size.
    let refused = target.check(Grid::new(square, 2112, 2112), [1, 1]).expect_err("too many regions");
    assert!(refused.contains("--size 2"), "{refused}");
    let tiny = Extent { width_m: 10.0, depth_m: 10.0 };
    let refused = target.check(Grid::new(tiny, 64, 64), [1, 1]).expect_err("less than 0.25 m");
    assert!(refused.contains("no size fits"), "{refused}");
}

#[test]
fn colour_maps_for_godot_have_the_size_of_the_heightmap_or_of_each_tile() {
    let folder = tempfile::tempdir().expect("folder");
    for (key, side, counts) in
        [("godot-terrain3d", 64, [1, 1]), ("godot-hterrain", 513, [1, 1]), ("godot-terrain3d", 128, [2, 2])]
    {
        let target = targets::from_key(key).expect("there");
        let (order, _) = asymmetric(target, folder.path(), side, counts);
        let texture = order.texture.as_ref().expect("a texture");
        assert_eq!(texture.size, [order.grid.width(), order.grid.height()], "{key} {counts:?}");
        assert!(Plan::new(order).is_ok(), "{key} {counts:?}");
    }
}

#[test]
fn roblox_gets_only_the_keys_of_its_materials() {
    let folder = tempfile::tempdir().expect("folder");
    let (order, _) = asymmetric(targets::from_key("roblox").expect("there"), folder.path(), 65, [1, 1]);
    build(&order, &Progress::new()).expect("built");
    let map = image::open(folder.path().join("materials.png")).expect("an image").into_rgb8();
    let keys: std::collections::BTreeSet<[u8; 3]> = map.pixels().map(|pixel| pixel.0).collect();
    assert!(keys.contains(&[102, 108, 111]), "rock: {keys:?}");
    assert!(keys.len() <= order.recipe.texture.active().count(), "no blended keys: {keys:?}");
}

#[test]
fn an_imported_elevation_model_is_exported_without_loss() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jacksboro.png");
    let reading = heightmap::read(&path, None).expect("readable");
    let (width, height) = (reading.raster.width, reading.raster.height);
    let metres = reading.into_metres(None);
    let spacing = [74.48, 92.77];
    let world = World {
        width_m: (width - 1) as f64 * spacing[0],
        depth_m: (height - 1) as f64 * spacing[1],
        ..Default::default()
    };
    for target in targets::ALL.iter().copied().filter(|target| target.sizes == targets::Sizes::Any) {
        let folder = tempfile::tempdir().expect("folder");
        let raster = Raster { width, height, samples: metres.clone(), scale: SampleScale::Metres };
        let (mut order, _) = order(target, folder.path(), raster, world.clone(), width, [1, 1]);
        order.grid = Grid::new(order.recipe.world.extent(), width, height);
        if let Some(weights) = &mut order.weights {
            weights.points = upthrust::engine::texture::Points::Samples;
        }
        build(&order, &Progress::new()).expect(target.key);
        for out in &order.heightmaps {
            let back = heightmap::read(&out.path, None).expect("readable");
            let sidecar = back.sidecar.expect("there");
            let off = (0..2).map(|axis| (sidecar.spacing_m[axis] - spacing[axis]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{}: {:?}", target.key, sidecar.spacing_m);
            let half_step = match back.raster.scale {
                SampleScale::Metres => 1e-9,
                SampleScale::Integers { .. } => (sidecar.range_m.max - sidecar.range_m.min) / 65_535.0 * 0.5 + 1e-4,
            };
            assert_eq!((sidecar.range_m.min, sidecar.range_m.max), (236.0, 1076.0));
            let found = back.into_metres(None);
            assert!(found.iter().zip(&metres).all(|(a, b)| f64::from((a - b).abs()) <= half_step), "{}", target.key);
        }
    }
}
