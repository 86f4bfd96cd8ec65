//! Textures, weights and analysis maps.

use serde_json::json;

use super::{Sandbox, painted_project, terrain_type_project};

#[test]
fn a_texture_of_one_pixel_is_a_colour() {
    let sandbox = Sandbox::new();
    image::RgbImage::from_pixel(1, 1, image::Rgb([200, 100, 50])).save(sandbox.path("one.png")).expect("written");
    sandbox.write("p.upthrust.json", terrain_type_project("texture", &json!("one.png")));
    sandbox.succeed(
        "build p.upthrust.json --texture t.png --size 33 --texture-size 16 --set light.bake=false \
         --set texture.types.0.tint=0",
    );
    let painted = image::open(sandbox.path("t.png")).expect("readable").into_rgb8();
    let off = painted
        .pixels()
        .flat_map(|pixel| [200, 100, 50].into_iter().zip(pixel.0).map(|(a, b): (u8, u8)| a.abs_diff(b)));
    assert!(off.max() <= Some(1));
}

#[test]
fn unknown_names_are_warned_about_and_equal_names_get_separate_maps() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    let warned = |set: &str| {
        let output =
            sandbox.run(&format!("build p.upthrust.json --texture t.png --force --size 33 --texture-size 16 {set}"));
        assert!(output.status.success(), "{set}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(warned("--set texture.fallback=Rock"), "");
    for name in ["Rok", "Haze", "Off"] {
        let printed = warned(&format!("--set texture.fallback={name}"));
        let expected = "warning: recipe.texture.fallback: ";
        assert!(printed.starts_with(expected) && printed.contains(name), "{printed}");
    }
    let printed = warned("--set texture.active_set=winter");
    assert!(printed.starts_with("warning: recipe.texture.active_set: ") && printed.contains("winter"), "{printed}");

    sandbox.succeed("build p.upthrust.json --weights w --size 33 --texture-size 16 --set texture.types.1.name=Rock");
    assert_eq!(sandbox.names_in("w")[1..3], ["weight_01_Rock.png", "weight_02_Rock.png"]);
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
fn weights_sum_to_the_maximum_at_every_point() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    sandbox.succeed("build p.upthrust.json --weights a/w8 --size 65 --texture-size 80");
    sandbox.succeed("build p.upthrust.json --weights w16 --size 65 --depth 16 --weights-at samples");
    assert!(["a/w8", "w16"].iter().all(|folder| sandbox.names_in(folder) == WEIGHT_MAPS));

    let open = |name: &str| image::open(sandbox.path(name)).expect("readable");
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
            // The sixth type multiplies, so it is not part of the sum.
            assert_eq!(values[..5].iter().sum::<u32>(), full, "({x}, {y})");
            let packed: Vec<u32> = packs.iter().flat_map(|pack| pack.get_pixel(x, y).0).map(u32::from).collect();
            assert_eq!(packed.iter().sum::<u32>(), 255, "({x}, {y})");
            assert_eq!(packed[5..], [0, 0, 0]);
            for (value, packed) in values.iter().zip(&packed[..5]) {
                // 257 of the 16-bit values correspond to one 8-bit value, and rounding distributes the remainder.
                assert!((value / (full / 255)).abs_diff(*packed) <= 1, "{value}, {packed}");
            }
        }
        assert!(seen.iter().all(|value| *value > full / 3), "{seen:?}");
    }
    sandbox.fail("build p.upthrust.json --weights w16 --size 65", 1, "weight_00_Meadow.png: ");
}

/// Writes a project with a plane that rises to the east at 45°.
fn ramp(sandbox: &Sandbox) {
    let heights: Vec<u8> = (0..25).flat_map(|i| ((i % 5) as f32 * 1000.0).to_le_bytes()).collect();
    sandbox.write("in.r32", heights);
    sandbox.succeed("convert in.r32 in.asc --raw f32le,5x5");
    let recipe =
        json!({"world": {"width_m": 4000, "depth_m": 4000}, "stack": [{"operation": "heightmap", "file": "in.asc"}]});
    sandbox.write("ramp.upthrust.json", json!({"format": 1, "recipe": recipe}).to_string());
}

#[test]
fn analysis_maps_have_the_expected_values() {
    let sandbox = Sandbox::new();
    ramp(&sandbox);
    let build = "build ramp.upthrust.json --size 5 --texture-size 12 --force --slope s.png --occlusion o.png \
                 --curvature c.png --humidity h.png --shade d.png --normals n.png";
    sandbox.succeed(build);
    let names = ["s.png", "o.png", "c.png", "h.png", "d.png", "n.png"];
    assert!(names.iter().all(|name| sandbox.names().contains(&(*name).into())));
    let open = |name: &str| image::open(sandbox.path(name)).expect("readable");
    assert!(open("n.png").into_rgb8().pixels().all(|pixel| pixel.0 == [37, 128, 218]));
    // The middle value is between 127 and 128.
    for name in ["s.png", "c.png"] {
        assert!(open(name).into_luma8().pixels().all(|pixel| [127, 128].contains(&pixel.0[0])), "{name}");
    }
    // An open slope of 45° sees (1 + cos 45°)/2 of the sky and is in shade for part of the day.
    assert!(open("o.png").into_luma8().pixels().any(|pixel| pixel.0[0].abs_diff(218) < 8));
    assert!(open("d.png").into_luma8().pixels().all(|pixel| (1..255).contains(&pixel.0[0])));
    assert!(names.iter().all(|name| open(name).width() == 12));

    sandbox.succeed(&format!("{build} --depth 16 --normals-y down"));
    assert!(names.iter().all(|name| matches!(open(name).color(), image::ColorType::L16 | image::ColorType::Rgb16)));
    assert!(open("s.png").into_luma16().pixels().all(|pixel| pixel.0[0].abs_diff(32_768) < 2));
    assert!(open("n.png").into_rgb16().pixels().all(|pixel| pixel.0[1].abs_diff(32_768) < 2));
}

#[test]
fn patches_are_parts_of_the_texture() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    sandbox.succeed("build p.upthrust.json --size 65 --texture whole.png --texture-size 96x60");
    sandbox.succeed("build p.upthrust.json --size 65 --texture part.png --texture-size 32x30 --patches 3x2");
    let output =
        sandbox.run("build p.upthrust.json --size 65 --texture u.png --texture-size 8 --patches 1x1 --slope s.png");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.starts_with("warning: --patches"), "{printed}");
    let open = |name: &str| image::open(sandbox.path(name)).expect("readable").into_rgb8();
    let whole = open("whole.png");
    for (column, row) in (0..2).flat_map(|row| (0..3).map(move |column| (column, row))) {
        let part = open(&format!("part_x{column}_y{row}.png"));
        assert_eq!(part.dimensions(), (32, 30));
        for (x, y, pixel) in part.enumerate_pixels() {
            assert_eq!(pixel, whole.get_pixel(32 * column + x, 30 * row + y), "({column}, {row}): ({x}, {y})");
        }
    }
    sandbox.fail("build p.upthrust.json --texture part.png --patches 1x1", 1, "part_x0_y0.png: ");
}

#[test]
fn mirrored_patches_have_equal_borders() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", painted_project());
    sandbox.succeed("build p.upthrust.json --size 65 --texture whole.png --texture-size 40x30");
    sandbox.succeed("build p.upthrust.json --size 65 --texture m.png --texture-size 40x30 --patches 3x2 --mirror");
    let open = |name: &str| image::open(sandbox.path(name)).expect("readable").into_rgb8();
    assert_eq!(sandbox.read("m_x0_y0.png"), sandbox.read("whole.png"));
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
