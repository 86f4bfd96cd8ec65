//! Exports of every kind, from order to files.

use std::path::Path;
use std::sync::Arc;

use super::build::{build, build_plan};
use super::memory::memory_needed;
use super::order::{
    HeightmapOrder, ManifestOrder, MapOrder, Order, Patches, TextureOrder, WeightsLayout, WeightsOrder,
};
use super::plan::Plan;
use super::tiles::Tiles;
use crate::engine::level::Marker;
use crate::engine::mask::{Mask, MaskSource};
use crate::engine::operations::FaultRivers;
use crate::engine::operations::faults::Faults;
use crate::engine::operations::noise::Noise;
use crate::engine::operations::thermal_erosion::ThermalErosion;
use crate::engine::parameters::{Band, FileName, Point, TextureName};
use crate::engine::texture::{AnalysisMap, PaintInput, Points, SurfaceMaps, paint};
use crate::engine::{Grid, Progress, Recipe, Step, stack};
use crate::files::formats::heightmap;
use crate::files::formats::png::BitDepth;
use crate::files::import::InputFiles;
use crate::files::io::error::FileError;

fn order(folder: &Path) -> Order {
    let stack = vec![Step::new(Faults { count: 30, ..Default::default() })];
    let recipe = Recipe { stack, ..Default::default() };
    let path = |name: &str| folder.join(name);
    let grid = Grid::fitted(recipe.world.extent(), 33);
    Order {
        heightmaps: ["h.png", "h.r32"].map(|name| HeightmapOrder::new(path(name))).into(),
        texture: Some(TextureOrder::new(path("t.png"), [16, 16])),
        ..Order::new("Test", recipe, grid)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_ordered_file_is_written_and_heights_are_read_back() {
    let folder = tempfile::tempdir().expect("folder");
    let order = order(folder.path());
    let progress = Progress::new();
    let built = build(&order, &progress).expect("built");
    assert_eq!((built.files.len(), built.notes.len()), (5, 0));
    assert_eq!(names(folder.path()), ["h.png", "h.png.json", "h.r32", "h.r32.json", "t.png"]);
    assert!((progress.fraction() - 1.0).abs() < 1e-6, "{}", progress.fraction());

    let terrain = stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &progress).expect("not cancelled");
    let metres = |name: &str| heightmap::read(&folder.path().join(name), None).expect("readable").into_metres(None);
    assert_eq!(metres("h.r32"), terrain.heights());
    let [low, high] = terrain.min_max();
    let half_step = (high - low) / 65_535.0 * 0.501;
    assert!(metres("h.png").iter().zip(terrain.heights()).all(|(a, b)| (a - b).abs() <= half_step));
}

#[test]
fn a_texture_painted_in_strips_is_identical_to_one_painted_at_once() {
    let folder = tempfile::tempdir().expect("folder");
    let mut order = order(folder.path());
    // Three strips and part of a fourth.
    let size = [900, 10_000];
    order.heightmaps.clear();
    order.texture = Some(TextureOrder::new(folder.path().join("t.png"), size));
    let progress = Progress::new();
    build(&order, &progress).expect("built");
    let terrain = stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &progress).expect("not cancelled");
    let (surface_maps, recipe, inputs) = (&SurfaceMaps::default(), &order.recipe.texture, &order.inputs);
    let input = PaintInput { terrain: &terrain, surface_maps, recipe, fixed_range_m: None, inputs };
    let whole = paint(input, None, Points::Pixels(size), &progress).expect("not cancelled").image;
    let found = image::open(folder.path().join("t.png")).expect("readable").into_rgb8();
    assert_eq!(found.dimensions(), (900, 10_000));
    assert!(found.pixels().zip(&whole.pixels).all(|(found, painted)| found.0 == painted[..3]));
}

#[test]
fn the_memory_needed_is_that_of_the_largest_part() {
    let folder = tempfile::tempdir().expect("folder");
    let mut order = order(folder.path());
    order.grid = Grid::fitted(order.recipe.world.extent(), 4097);
    // The number of rows compressed at a time depends on the number of threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let maps = |order: &Order| {
        pool.install(|| memory_needed(&Plan::new(order.clone()).expect("possible"))) as f64
            / (4 * order.grid.samples()) as f64
    };
    let texture = |name: &str| Some(TextureOrder::new(folder.path().join(name), [4096; 2]));
    order.texture = None;
    let bare = maps(&order);
    assert!((1.0..1.3).contains(&bare), "one map and some rows: {bare}");
    order.texture = texture("t.png");
    let painted = maps(&order);
    assert!((bare..1.5).contains(&painted), "one map and a strip: {painted}");
    order.texture = texture("t.jpg");
    let painted = maps(&order);
    assert!((2.8..2.9).contains(&painted), "one map, four bytes a pixel, and three: {painted}");
    let mirrored = |name: &str| {
        let patches = Some(Patches { columns: 2, rows: 1, mirror: true });
        texture(name).map(|texture| TextureOrder { patches, ..texture })
    };
    order.texture = mirrored("t.jpg");
    let painted = maps(&order);
    assert!((3.8..3.9).contains(&painted), "one map, twice four bytes a pixel, and three: {painted}");
    order.texture = mirrored("t.png");
    let painted = maps(&order);
    assert!((3.1..3.4).contains(&painted), "one map, twice four bytes a pixel, and some rows: {painted}");
    order.texture = None;
    order.recipe.stack.push(order.recipe.stack[0].clone());
    let added = maps(&order);
    assert!((2.0..2.2).contains(&added), "the heights below and the heights that are added: {added}");

    // Masks by rivers: the areas are known where the rivers are the last step.
    let rivers = Faults { rivers: Some(FaultRivers::default()), ..Faults::default() };
    order.recipe.stack = vec![Step::new(rivers)];
    order.texture = texture("t.png");
    let painted = maps(&order);
    order.recipe.texture.types[0].mask = vec![Mask { source: MaskSource::Rivers, ..Mask::default() }].into();
    let masked = maps(&order);
    assert!(masked < painted + 1.0, "areas, a mask and the overview: {masked}, {painted} without the mask");
    order.recipe.stack.push(Step::new(Noise::default()));
    let routed = maps(&order);
    assert!(routed > masked + 6.0, "water routed on the complete terrain: {routed}, {masked} with known areas");
}

#[test]
fn textures_are_only_decoded_if_types_are_painted_or_weighted() {
    let folder = tempfile::tempdir().expect("folder");
    let mut order = order(folder.path());
    let name = "rock.png";
    order.recipe.texture.types[0].texture = Some(TextureName(name.into()));
    let broken: InputFiles = [(FileName(name.into()), Arc::default())].into();
    let load = |order: &mut Order| order.load_inputs(&broken, &Progress::new());
    assert!(load(&mut order).is_err(), "painted");
    order.texture = None;
    assert_eq!(load(&mut order), Ok(()), "neither");
    assert!(order.inputs.swatches.is_empty());
    order.weights = Some(WeightsOrder {
        folder: folder.path().into(),
        points: Points::Samples,
        depth: BitDepth::Eight,
        layout: WeightsLayout::MapsAndPacks,
        suffix: "",
        max_types: None,
    });
    assert!(load(&mut order).is_err(), "weighted");
}

#[test]
fn a_cancelled_build_leaves_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let progress = Progress::new();
    progress.cancel();
    assert_eq!(build(&order(folder.path()), &progress), Err(FileError::Cancelled));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn nothing_is_computed_if_a_file_cannot_be_written() {
    let folder = tempfile::tempdir().expect("folder");
    let check = |change: &dyn Fn(&mut Order), message: &str| {
        let mut order = order(folder.path());
        change(&mut order);
        // Already cancelled, so computing anything returns a different error.
        let progress = Progress::new();
        progress.cancel();
        let error = build(&order, &progress).expect_err("must be refused").to_string();
        assert!(error.contains(message), "{error}");
        assert!(
            names(folder.path()).iter().all(|name| ["old.png", "sub"].contains(&name.as_str())),
            "{:?}",
            names(folder.path())
        );
    };
    std::fs::write(folder.path().join("old.png"), "").expect("written");
    let to = |name: &'static str| {
        move |order: &mut Order| order.heightmaps[1].path = order.heightmaps[1].path.with_file_name(name)
    };
    check(&to("h.hgt"), "unknown file extension");
    check(&to("h.png"), "two of the files");
    check(&to("./h.png"), "two of the files");
    std::fs::create_dir(folder.path().join("sub")).expect("made");
    check(&to("sub/../h.png"), "two of the files");
    std::fs::remove_dir(folder.path().join("sub")).expect("removed");
    check(&to("old.png"), "already exists");
    check(&to("none/h.png"), "there is no folder");
    let texture = |name: &str, size| TextureOrder::new(folder.path().join(name), size);
    check(&|order| order.texture = Some(texture("t.r16", [8, 8])), ".jpg");
    check(&|order| order.texture = Some(texture("t.png", [0, 8])), "0 × 8");
    let map = |name: &str| MapOrder {
        path: folder.path().join(name),
        analysis_map: AnalysisMap::Slope,
        size: [8, 8],
        depth: BitDepth::Eight,
    };
    check(&|order| order.maps = vec![map("m.jpg")], "supported: .png");
    check(&|order| order.maps = vec![map("m.png"), map("m.png")], "two of the files");
    check(&|order| order.maps = vec![map("old.png")], "already exists");
    let weights = |name: &str| {
        let folder = folder.path().join(name);
        Some(WeightsOrder {
            folder,
            points: Points::Samples,
            depth: BitDepth::Eight,
            layout: WeightsLayout::MapsAndPacks,
            suffix: "",
            max_types: None,
        })
    };
    check(&|order| order.weights = weights("none"), "there is no folder");
    let no_types = |order: &mut Order| {
        order.weights = weights("");
        order.recipe.texture.types.clear();
    };
    check(&no_types, "no terrain type is active");
    check(&|order| order.heightmaps[1].encoding.raw = "f32be,9x9".parse().ok(), "33 × 33");
    check(&to("old.png/h.png"), "there is no folder");
}

#[test]
fn maps_of_the_rock_follow_the_recipe() {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str| folder.path().join(name);
    let map =
        |name: &str, analysis_map| MapOrder { path: path(name), analysis_map, size: [33, 33], depth: BitDepth::Eight };
    let mut order = order(folder.path());
    order.recipe.stack.push(Step::new(ThermalErosion { repose_deg: 10.0, ..Default::default() }));
    order.maps = vec![map("d.png", AnalysisMap::Displacement), map("s.png", AnalysisMap::Deposits)];
    build(&order, &Progress::new()).expect("built");
    let (_, rock) = stack::evaluate_with_rock(&order.recipe, order.grid, None, &order.inputs, None, &Progress::new())
        .expect("not cancelled");
    for (name, map) in [("d.png", rock.displacement_m), ("s.png", rock.sediment_m)] {
        let pixels = ::image::open(path(name)).expect("readable").into_luma8();
        let [low, high] = map.min_max();
        let middle = map[(16, 16)];
        let expected = 255.0 * (middle - low) / (high - low);
        assert!(high > low && (f32::from(pixels[(16, 16)].0[0]) - expected).abs() <= 1.0, "{name}");
    }
}

#[test]
fn heights_outside_a_fixed_range_are_clamped_and_noted() {
    let folder = tempfile::tempdir().expect("folder");
    let mut order = order(folder.path());
    order.recipe.world.height_range_m = Some(Band { min: 0.0, max: 1.0 });
    build(&order, &Progress::new()).expect("built");
    let text = std::fs::read_to_string(folder.path().join("h.png.json")).expect("there");
    assert!(text.contains("\"max_m\": 1.0") && text.contains("clamped"), "{text}");
}

#[test]
fn integers_span_the_ordered_range_but_floats_do_not() {
    let folder = tempfile::tempdir().expect("folder");
    let mut order = order(folder.path());
    (order.texture, order.range_m) = (None, Some(Band { min: -5000.0, max: 5000.0 }));
    build(&order, &Progress::new()).expect("built");
    let read = |name: &str| heightmap::read(&folder.path().join(name), None).expect("readable");
    assert_eq!(read("h.png").range_m(), Some(Band { min: -5000.0, max: 5000.0 }));
    let sidecar = read("h.r32").sidecar.expect("there");
    assert!(sidecar.range_m.min > -5000.0 && sidecar.range_m.max < 5000.0, "{sidecar:?}");
    let [png, floats] = ["h.png", "h.r32"].map(|name| read(name).into_metres(None));
    assert!(png.iter().zip(&floats).all(|(a, b)| (a - b).abs() <= 10_000.0 / 65_535.0 * 0.501));
}

#[test]
fn tiles_are_parts_of_the_map_with_one_range_and_shared_edges() {
    let folder = tempfile::tempdir().expect("folder");
    let mut order = order(folder.path());
    order.heightmaps[0].encoding.row_order = heightmap::RowOrder::SouthFirst;
    let whole = stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &Progress::new()).expect("heights");
    order.texture = None;
    order.tiles = Some(Tiles::new([2, 4]));
    let built = build(&order, &Progress::new()).expect("built");
    assert_eq!(built.files.len(), 2 * 2 * 8);
    let read = |name: &str| heightmap::read(&folder.path().join(name), None).expect(name);
    let range_m = Some(Band { min: f64::from(whole.min_max()[0]), max: f64::from(whole.min_max()[1]) });
    for [column, row] in (0..4).flat_map(|row| [[0, row], [1, row]]) {
        let floats = read(&format!("h_x{column}_y{row}.r32"));
        assert_eq!((floats.raster.width, floats.raster.height), (17, 9));
        let whole = |c: usize, r: usize| whole[(16 * column + c, 8 * row + r)];
        let mut samples = floats.raster.samples.iter().enumerate();
        assert!(samples.all(|(at, height)| *height == whole(at % 17, at / 17)));
        let name = format!("h_x{column}_y{row}.png");
        let metres = read(&name);
        assert_eq!(metres.range_m(), range_m, "one for all of them");
        assert_eq!(metres.sidecar.map(|sidecar| sidecar.spacing_m), Some([128.0, 128.0]));
        let bytes = std::fs::read(folder.path().join(&name)).expect("there");
        // Without the sidecar, the southern row comes first.
        let flipped = heightmap::decode(Path::new(&name), &bytes, None).expect("readable").into_metres(range_m);
        let metres = metres.into_metres(None);
        let step = (range_m.map_or(0.0, |range| range.max - range.min) / 65_535.0) as f32;
        for at in 0..17 * 9 {
            assert!((metres[at] - whole(at % 17, at / 17)).abs() <= 0.501 * step);
            assert!((flipped[at] - whole(at % 17, 8 - at / 17)).abs() <= 0.501 * step);
        }
    }
    let all = |name: &str| std::fs::read(folder.path().join(name)).expect("there");
    let files = ["h_x1_y2.png", "h_x1_y2.png.json", "h_x1_y2.r32", "h_x1_y2.r32.json"];
    let before = files.map(all);
    order.tiles = order.tiles.map(|tiles| Tiles { only: Some([1, 2]), ..tiles });
    order.overwrite = true;
    let alone = build(&order, &Progress::new()).expect("built");
    assert_eq!(alone.files.len(), 4);
    assert_eq!(
        alone.notes[0],
        "the complete terrain was computed to write tile 1,2: integers need the height range of all tiles; fix it \
         with --range or in the project, or use --cache"
    );
    assert_eq!(files.map(all), before);
    let metres = |order: &mut Order| drop(order.heightmaps.remove(0));
    metres(&mut order);
    let computed = build(&order, &Progress::new()).expect("built");
    assert_eq!(computed.notes, ["only tile 1,2 was computed"]);
    assert_eq!(files.map(all)[2..], before[2..]);
    order.tiles = order.tiles.map(|tiles| Tiles { counts: [3, 1], only: None, ..tiles });
    let refused = build(&order, &Progress::new()).expect_err("32 is no multiple of 3").to_string();
    assert!(refused.contains("31 and 34 are possible"), "{refused}");
}

/// A manifest in this folder of an export whose target has these outputs.
fn manifest(folder: &Path, outputs: &[&str]) -> ManifestOrder {
    ManifestOrder {
        path: folder.join("upthrust.json"),
        outputs: outputs.iter().map(|name| folder.join(name)).collect(),
    }
}

#[test]
fn the_manifest_lists_only_the_files_of_the_target() {
    let folder = tempfile::tempdir().expect("folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("other")).expect("made");
    let mut order = Order { manifest: Some(manifest(folder, &["h.png", "t.png"])), ..order(folder) };
    order.heightmaps.push(HeightmapOrder::new(folder.join("other/h.r32")));
    order.texture = Some(TextureOrder::new(folder.join("other/t.png"), [16, 16]));
    order.maps.push(MapOrder {
        path: folder.join("slope.png"),
        analysis_map: AnalysisMap::Slope,
        size: [16, 16],
        depth: BitDepth::Eight,
    });
    build(&order, &Progress::new()).expect("built");
    let bytes = std::fs::read(folder.join("upthrust.json")).expect("there");
    let manifest: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let files = |kind: &str| -> Vec<_> {
        manifest[kind].as_array().expect(kind).iter().map(|entry| entry["file"].clone()).collect()
    };
    assert_eq!(files("heightmaps"), ["h.png"]);
    assert!(["texture", "maps", "mesh", "weights", "types"].iter().all(|kind| files(kind).is_empty()), "{manifest:#}");
}

#[test]
fn the_manifest_lists_every_map_with_its_checksum_and_comes_last() {
    let folder = tempfile::tempdir().expect("folder");
    let weights = WeightsOrder {
        folder: folder.path().into(),
        points: Points::Samples,
        depth: BitDepth::Eight,
        layout: WeightsLayout::MapsAndPacks,
        suffix: "",
        max_types: None,
    };
    let mut order = Order {
        tiles: Some(Tiles::new([2, 1])),
        weights: Some(weights),
        sea_m: Some(-3.5),
        markers: vec![Marker { name: "Base".into(), at_m: Point { x_m: 50.0, z_m: 20.0 }, ..Marker::default() }],
        manifest: Some(manifest(folder.path(), &["h.png", "h.r32", "t.png", ""])),
        ..order(folder.path())
    };
    let built = build(&order, &Progress::new()).expect("built");
    assert_eq!(built.files.last(), order.manifest.as_ref().map(|manifest| &manifest.path));
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let manifest: serde_json::Value = serde_json::from_slice(&read("upthrust.json")).expect("JSON");
    let listed = ["heightmaps", "texture", "weights"].map(|kind| manifest[kind].as_array().expect(kind).clone());
    for entry in listed.iter().flatten() {
        let crc32 = crc32fast::hash(&read(entry["file"].as_str().expect("a name")));
        assert_eq!(entry["crc32"], format!("{crc32:08x}"), "{entry}");
    }
    let [heightmaps, texture, weights] = listed;
    let active: Vec<_> = order.recipe.texture.active().collect();
    let covering = active.iter().filter(|terrain_type| terrain_type.covers()).count();
    assert_eq!((heightmaps.len(), texture.len()), (4, 2));
    assert_eq!(weights.len(), 2 * (active.len() + covering.div_ceil(4)));
    assert_eq!(manifest["types"].as_array().map(Vec::len), Some(active.len()));
    assert!(weights.iter().all(|entry| entry["types"].as_array().is_some_and(|types| !types.is_empty())));
    let second = &heightmaps[1];
    assert_eq!((&second["tile"], &second["first_sample"]), (&serde_json::json!([1, 0]), &serde_json::json!([16, 0])));
    assert_eq!((&second["size"], &second["values"]), (&serde_json::json!([17, 33]), &serde_json::json!("integers")));
    assert_eq!((&manifest["water_m"], &manifest["samples"]), (&(-3.5).into(), &serde_json::json!([33, 33])));

    let marker = &manifest["markers"][0];
    assert_eq!((&marker["kind"], &marker["name"]), (&"spawn".into(), &"Base".into()));
    let at_m: Vec<f64> = marker["at_m"].as_array().expect("a place").iter().filter_map(|m| m.as_f64()).collect();
    let terrain =
        stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &Progress::new()).expect("not cancelled");
    assert_eq!((at_m[0], at_m[2]), (50.0, 20.0));
    assert!((at_m[1] - f64::from(terrain.height_at(50.0, 20.0))).abs() < 1e-3, "{at_m:?}");

    // The same export again leaves every file alone.
    (order.overwrite, order.keeps_unchanged) = (true, true);
    let again = build(&order, &Progress::new()).expect("built");
    assert_eq!((again.files.len(), again.unchanged.len()), (0, built.files.len()));
    order.recipe.seed += 1;
    let changed = build(&order, &Progress::new()).expect("built");
    assert!(changed.files.contains(&folder.path().join("upthrust.json")), "{changed:?}");

    // A repetition replaces what the export wrote, and nothing else.
    let mut plan = Plan::new(order).expect("possible");
    plan.repeat(changed.all_files());
    assert!(build_plan(&plan, &Progress::new()).is_ok());
    let mut fewer = changed.all_files();
    fewer.remove(&folder.path().join("t_x1_y0.png"));
    plan.repeat(fewer);
    let refused = build_plan(&plan, &Progress::new()).expect_err("not its file");
    assert_eq!(refused, FileError::Exists(folder.path().join("t_x1_y0.png")));
}
