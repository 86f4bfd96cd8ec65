//! 3-D renders without a display.

use serde_json::json;

use super::Sandbox;

/// Whether the program can render here, which needs a graphics adapter.
pub(super) fn can_render(sandbox: &Sandbox) -> bool {
    let output = sandbox.run("build preset:krten-wind --render probe.png --render-size 16x16 --size 33");
    let errors = String::from_utf8_lossy(&output.stderr);
    let lacks = errors.contains("no graphics adapter was found");
    assert!(output.status.success() || lacks, "{errors}");
    let required = std::env::var_os("UPTHRUST_REQUIRE_RENDERING").is_some();
    assert!(!(lacks && required), "rendering is required, but there is no graphics adapter");
    if lacks {
        println!("skipped: {errors}");
    } else {
        std::fs::remove_file(sandbox.path("probe.png")).expect("it was written");
    }
    !lacks
}

#[test]
fn renders_show_the_texture_and_turn_around_the_terrain() {
    let sandbox = Sandbox::new();
    if !can_render(&sandbox) {
        return;
    }
    // A cliff from north to south with the high, red side in the east and the low, blue one in the west.
    let cliff = json!({"operation": "drawn_faults", "faults": [{"from_m": [2000.0, 3000.0], "to_m": [2000.0, 0.0],
        "displacement_m": 200.0, "profile": "step"}]});
    let terrain_type = |name: &str, colour: &str, [low, high]: [f64; 2]| json!({"name": name, "colour": colour, "elevation": [low, high], "elevation_release": 0});
    let types = [terrain_type("low", "#2040ff", [0.0, 50.0]), terrain_type("high", "#ff2010", [50.0, 100.0])];
    sandbox.write(
        "p.upthrust.json",
        json!({"format": 1, "name": "Cliff", "recipe": {"world": {"width_m": 4000, "depth_m": 3000}, "stack": [cliff],
            "texture": {"types": types}}})
        .to_string(),
    );
    let base = "build p.upthrust.json --size 129 --render-size 320x200";
    assert_eq!(sandbox.succeed(&format!("{base} --render one.png")), "wrote one.png\n");
    let read = |name: &str| image::open(sandbox.path(name)).expect(name).to_rgb8();
    let one = read("one.png");
    assert_eq!(one.dimensions(), (320, 200));
    let [west, east] = [(100, 113), (200, 62)].map(|(x, y)| one.get_pixel(x, y).0.map(i32::from));
    assert!(west[2] > west[0] + 40 && east[0] > east[2] + 40, "west {west:?}, east {east:?}");
    // An existing file is not replaced.
    sandbox.fail(&format!("{base} --render one.png"), 1, "already");
    let printed = sandbox.succeed(&format!("{base} --render render.png --turntable 3 --heightmap h.png"));
    let expected = ["render_000.png", "render_001.png", "render_002.png", "h.png", "h.png.json"];
    assert_eq!(printed, expected.map(|name| format!("wrote {name}\n")).concat());
    let [first, second, third] = ["render_000.png", "render_001.png", "render_002.png"].map(read);
    assert_eq!(first.dimensions(), one.dimensions());
    assert!(first != second && second != third);
    assert!(sandbox.path("h.png").exists() && !sandbox.path("render.png").exists());
    // No file is written if another one cannot be.
    sandbox.fail(&format!("{base} --render two.png --heightmap h.png"), 1, "already");
    for (arguments, message) in [
        ("--render two.r16", ".png"),
        ("--turntable 3", "--render"),
        ("--render two.png --turntable 1", "2..=999"),
        ("--render two.png --render-size 9x9", "from 16 to 8192"),
    ] {
        let output = sandbox.run(&format!("build p.upthrust.json {arguments}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && errors.contains(message), "{arguments}: {errors}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rendering_without_a_graphics_adapter_is_refused() {
    let sandbox = Sandbox::new();
    if !can_render(&sandbox) {
        return;
    }
    let mut command = sandbox.command("build preset:krten-wind --render render.png --size 33");
    // A driver file that does not exist, and no other backend.
    let output = command.env("WGPU_BACKEND", "vulkan").env("VK_DRIVER_FILES", "/none").env("VK_ICD_FILENAMES", "/none");
    let output = output.output().expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: no graphics adapter was found") && !errors.contains("panicked"), "{errors}");
    assert!(sandbox.names().is_empty());
}
