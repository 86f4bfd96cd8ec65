//! Images of the view against known ones, and against the texture view.

use egui_kittest::SnapshotOptions;

use super::*;

/// Pixels of 480 × 320 that may differ: drivers round edges differently.
const EDGE_PIXELS: usize = 64;

/// The side of the squares whose mean colours are compared on hardware, which filters textures differently, pixels.
const SQUARE: u32 = 32;

/// The largest difference of a mean colour, of 255.
const MAX_DIFFERENCE: f64 = 8.0;

/// Compares the view of a preset with its snapshot, which was drawn by a software adapter.
fn check_preset(name: &str) {
    if !can_draw() {
        return;
    }
    let mut window = preset(name, 257, [480.0, 320.0], egui::Theme::Dark);
    if adapter() == Some(wgpu::DeviceType::Cpu) {
        let options = SnapshotOptions::new().max_failed_pixels(EDGE_PIXELS);
        window.snapshot_options(format!("scene-{name}"), &options);
        return;
    }
    let drawn = window.render().expect("an image");
    let path = format!("{}/tests/snapshots/scene-{name}.png", env!("CARGO_MANIFEST_DIR"));
    let expected = image::open(path).expect("a snapshot").to_rgba8();
    assert_eq!(drawn.dimensions(), expected.dimensions());
    let colour = |image: &image::RgbaImage, x: u32, y: u32| {
        let pixels = (0..SQUARE * SQUARE).map(|i| image.get_pixel(x + i % SQUARE, y + i / SQUARE));
        pixels.fold([0.0; 3], |sum, pixel| {
            std::array::from_fn(|i| sum[i] + f64::from(pixel.0[i]) / f64::from(SQUARE * SQUARE))
        })
    };
    for (x, y) in (0..drawn.height() / SQUARE).flat_map(|r| (0..drawn.width() / SQUARE).map(move |c| (c, r))) {
        let [found, known] = [&drawn, &expected].map(|image| colour(image, x * SQUARE, y * SQUARE));
        let difference = found.iter().zip(known).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(difference < MAX_DIFFERENCE, "{name}: {found:?} instead of {known:?} in square {x}, {y}");
    }
}

#[test]
fn the_alpine_range_looks_as_before() {
    check_preset("alpine-range");
}

#[test]
fn the_volcanic_island_looks_as_before() {
    check_preset("volcanic-island");
}

#[test]
fn the_canyon_looks_as_before() {
    check_preset("canyon");
}

/// The mean luminance of a rectangle of an image.
fn brightness(image: &Image, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> f32 {
    let count = rows.len() * columns.len();
    let luminance = |pixel: &[u8; 4]| {
        let [red, green, blue, _] = pixel.map(crate::engine::image::linear_from_srgb);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let line = |r: usize| image.pixels[r * image.width..][columns.clone()].iter().map(luminance).sum::<f32>();
    rows.map(line).sum::<f32>() / count as f32
}

#[test]
fn the_terrain_from_above_is_as_bright_as_the_texture() {
    if !can_draw() {
        return;
    }
    let mut renderer =
        SceneRenderer::interactive(&gpu_device(&render_state()), wgpu::TextureFormat::Rgba8Unorm).expect("a renderer");
    for name in ["alpine-range", "canyon", "arctic", "desert-mesa", "rolling-hills", "volcanic-island"] {
        let preset = presets().iter().find(|preset| preset.name == name).expect(name);
        let project = preset.project().expect("a valid preset");
        let recipe = Arc::new(project.recipe);
        let preview = preview(&recipe, 257);
        let light = recipe.light.clone();
        let camera =
            Camera { pitch: std::f32::consts::FRAC_PI_2, azimuth: 0.0, orthographic: 1.0, ..Default::default() };
        let mut params = RenderParams::new((*preview.terrain).clone(), (*preview.albedo).clone(), light, None);
        let (scale, mut camera) = (params.scale(), camera);
        camera.frame(scale.half_size(), scale.block_y(params.range_m), 1.0);
        params.camera = Some(camera);
        let image = renderer.render_image(&params.frame([256, 256], 0.0), &Progress::new()).expect("an image");
        // Within the terrain.
        let of_terrain = brightness(&image, 24..232, 24..232);
        let Image { width, height, .. } = *preview.texture;
        let inner = |side: usize| side / 25..side - side / 25;
        let of_texture = brightness(&preview.texture, inner(height), inner(width));
        assert!((of_terrain / of_texture - 1.0).abs() < 0.15, "{name}: {of_terrain} in 3-D, {of_texture} on the map");
    }
}

/// Writes images of presets to the folder of temporary files:
/// `UPTHRUST_PRESETS=canyon,arctic cargo test write_images -- --ignored`.
#[test]
#[ignore = "for inspection"]
fn write_images() {
    let names = std::env::var("UPTHRUST_PRESETS").unwrap_or("alpine-range".into());
    for name in names.split(',') {
        for (theme, suffix) in [(egui::Theme::Dark, "dark"), (egui::Theme::Light, "light")] {
            let mut window = preset(name, 513, [900.0, 560.0], theme);
            let path = std::env::temp_dir().join(format!("upthrust-{name}-{suffix}.png"));
            window.render().expect("an image").save(path).expect("written");
        }
    }
}
