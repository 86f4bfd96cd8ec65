//! The 3-D view, drawn for real where anything can draw.

use std::time::{Duration, Instant};

use egui_kittest::kittest::Queryable;
use egui_kittest::{Harness, SnapshotOptions};

use crate::app::tests::{Scripted, can_draw, chosen, pause, wait};
use crate::app::views::scene::*;
use crate::app::{App, Command, UserFolders};
use crate::engine::map_view::MapView;
use crate::engine::{Grid, Progress, Recipe};
use crate::project::presets;
use crate::worker::{InputFiles, PreviewRequest, Previewer};

/// The view alone in a window.
struct Stage {
    scene: Scene,
    recipe: Arc<Recipe>,
    water_m: Option<f64>,
    crosshair_m: Option<[f64; 2]>,
}

fn unheard() -> Wake {
    Arc::new(|| {})
}

impl eframe::App for Stage {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        self.scene.attach(frame.wgpu_render_state(), unheard);
        let glow = self.scene.glow(ui.ctx());
        let mut around = Around {
            extent: self.recipe.world.extent(),
            light: &self.recipe.light,
            water_m: &mut self.water_m,
            crosshair_m: &mut self.crosshair_m,
            freshness: &Freshness::Current,
            is_playing: false,
            glow: &glow,
        };
        self.scene.ui(ui, &mut around);
    }
}

/// The finished preview of a recipe.
fn preview(recipe: &Arc<Recipe>, samples: usize) -> Preview {
    let previewer = Previewer::start(Arc::new(|| {})).expect("threads");
    let (recipe, files, shown) = (recipe.clone(), InputFiles::new(), TextureView::Lit);
    previewer.request(PreviewRequest {
        recipe,
        files,
        samples,
        position: u32::MAX,
        map_view: MapView::default(),
        texture_view: shown,
        is_animated: false,
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(preview) = previewer.take().map(|result| result.expect("a preview")).filter(|found| !found.coarse) {
            return preview;
        }
        assert!(Instant::now() < deadline, "no preview came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn stage(size: [f32; 2], theme: egui::Theme, recipe: &Arc<Recipe>, water_m: Option<f64>) -> Harness<'static, Stage> {
    let stage = Stage { scene: Scene::default(), recipe: recipe.clone(), water_m, crosshair_m: None };
    let build = |context: &mut eframe::CreationContext<'_>| {
        crate::app::widgets::theme::install(&context.egui_ctx);
        stage
    };
    Harness::builder().with_size(size).with_theme(theme).with_step_dt(1.0 / 60.0).wgpu().build_eframe(build)
}

/// A stage with a preset's land on it.
fn preset(name: &str, samples: usize, size: [f32; 2], theme: egui::Theme) -> Harness<'static, Stage> {
    let preset = presets().iter().find(|preset| preset.name == name).expect("a preset of that name");
    let project = preset.project().expect("a good preset");
    let recipe = Arc::new(project.recipe);
    let mut stage = stage(size, theme, &recipe, project.water.water_m);
    stage.state_mut().scene.show(&preview(&recipe, samples), 0.0);
    // Until it is at rest.
    stage.run_steps(30);
    stage
}

/// Pictures to look at, in the folder of temporary files: `UPTHRUST_LOOK=canyon,arctic cargo test look -- --ignored`.
#[test]
#[ignore = "for the eye"]
fn look() {
    let names = std::env::var("UPTHRUST_LOOK").unwrap_or("alpine-range".into());
    for name in names.split(',') {
        for (theme, suffix) in [(egui::Theme::Dark, "dark"), (egui::Theme::Light, "light")] {
            let mut stage = preset(name, 513, [900.0, 560.0], theme);
            let path = std::env::temp_dir().join(format!("upthrust-{name}-{suffix}.png"));
            stage.render().expect("a picture").save(path).expect("written");
        }
    }
}

/// What a window would draw with.
fn render_state() -> RenderState {
    let setup = egui_kittest::wgpu::default_wgpu_setup();
    egui_kittest::wgpu::create_render_state(setup, Default::default())
}

/// A graphics card without a window.
fn card() -> Gpu {
    Gpu::new(&render_state()).expect("a card that can draw")
}

/// A land and a card to draw it with; `None` where nothing can draw.
fn board() -> Option<(Heightfield, Gpu)> {
    can_draw().then(|| (bumpy(), card()))
}

const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 2000.0 };

/// Land with a different height at every sample.
fn bumpy() -> Heightfield {
    let wave = |i: usize, pace: f32| libm::sinf(i as f32 * pace);
    Heightfield::from_fn(Grid::new(WORLD, 49, 33), |c, r| {
        120.0 * wave(c, 0.31) * wave(r, 0.23) + 2.0 * c as f32 + 0.37 * r as f32
    })
}

/// A frame of that land in those colours, which are not lit.
fn frame(terrain: Heightfield, colours: Image, camera: &Camera, size: [u32; 2]) -> Frame {
    let params =
        RenderParams { is_lit: true, exaggeration: 1.5, ..RenderParams::new(terrain, colours, Light::default(), None) };
    let mut frame = params.frame(size, 0.0);
    // Clear air.
    frame.environment.zenith[3] = 0.0;
    let projection = camera.projection(size[0] as f32 / size[1] as f32, |_| f32::MIN);
    Frame { projection, is_hurried: true, ..frame }
}

fn black(terrain: &Heightfield) -> Image {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    Image { width, height, pixels: vec![[0, 0, 0, 255]; width * height] }
}

#[test]
fn a_marked_pixel_is_drawn_where_the_projection_says() {
    let Some((terrain, mut gpu)) = board() else { return };
    let camera = Camera { azimuth: 0.7, pitch: 0.9, distance: 1.9, ..Default::default() };
    let cameras = [camera, Camera { flat: 0.5, ..camera }, Camera { flat: 1.0, ..camera }];
    let size = [480, 320];
    let pane = Rect::from_min_size(Pos2::ZERO, Vec2::new(480.0, 320.0));
    let places = [(7, 6), (24, 16), (40, 9), (30, 27)];
    for (camera, (c, r)) in cameras.iter().flat_map(|camera| places.map(|place| (camera, place))) {
        let mut colours = black(&terrain);
        colours.pixels[r * colours.width + c] = [255, 0, 0, 255];
        let frame = frame(terrain.clone(), colours, camera, size);
        let grid = terrain.grid();
        let middle = |at: usize, count: usize, side: f64| (at as f64 + 0.5) / count as f64 * side;
        let (x_m, z_m) = (middle(c, grid.width(), WORLD.width_m), middle(r, grid.height(), WORLD.depth_m));
        let point = frame.measure.point([x_m, z_m], terrain.height_at(x_m, z_m));
        let expected = frame.projection.project(point, pane).expect("in front");
        let picture = drawn(&mut gpu, &frame);
        let (mut sum, mut centre) = (0.0, Vec2::ZERO);
        for (i, pixel) in picture.pixels.iter().enumerate() {
            // Redder than any stone of the block's sides.
            let red = f32::from(pixel[0]) - 2.5 * f32::from(pixel[1].max(pixel[2])) - 4.0;
            if red > 0.0 {
                let place = Vec2::new((i % picture.width) as f32 + 0.5, (i / picture.width) as f32 + 0.5);
                (sum, centre) = (sum + red, centre + red * place);
            }
        }
        assert!(sum > 100.0, "the mark of ({c}, {r}) is to be seen");
        let seen = (centre / sum).to_pos2();
        assert!((seen - expected).length() < 1.0, "({c}, {r}) is seen at {seen}, not at {expected}");
    }
}

#[test]
fn the_heights_on_the_card_are_those_of_the_land_to_the_bit() {
    let Some((terrain, mut gpu)) = board() else { return };
    let frame = frame(terrain.clone(), black(&terrain), &Camera::default(), [64, 48]);
    gpu.draw(&frame).expect("drawn");
    assert_eq!(gpu.heights(), terrain.heights());
}

#[test]
fn only_what_has_changed_is_brought_and_drawn() {
    let Some((terrain, mut gpu)) = board() else { return };
    let first = frame(terrain.clone(), black(&terrain), &Camera::default(), [64, 48]);
    let mut check = |frame: &Frame, what: &str, expected: [u64; 4]| {
        gpu.draw(frame).expect("drawn");
        let Counts { heights, colours, lights, pictures } = gpu.counts;
        assert_eq!([heights, colours, lights, pictures], expected, "{what}");
    };
    check(&first, "the first", [1, 1, 1, 1]);
    check(&first, "nothing new", [1, 1, 1, 1]);
    let projection = Camera { azimuth: 2.0, ..Default::default() }.projection(4.0 / 3.0, |_| f32::MIN);
    let moved = Frame { projection, ..first.clone() };
    check(&moved, "a moved camera", [1, 1, 1, 2]);
    let painted = Frame { colours: Arc::new(black(&terrain)), ..moved.clone() };
    check(&painted, "new colours", [1, 2, 1, 3]);
    let mut environment = painted.environment;
    environment.sun = [0.6, 0.8, 0.0, 1.0];
    check(&Frame { environment, ..painted.clone() }, "another sun", [1, 2, 2, 4]);
    let risen = Frame { terrain: Arc::new(bumpy()), environment, ..painted.clone() };
    check(&risen, "another land", [2, 3, 3, 5]);
    check(&Frame { blend: 0.5, ..risen.clone() }, "half way to it", [2, 3, 3, 6]);
}

#[test]
fn half_way_between_two_lands_lies_half_way_between_them() {
    if !can_draw() {
        return;
    }
    let grid = Grid::new(WORLD, 33, 33);
    let level = |height: f32| Heightfield::from_fn(grid, |_, _| height);
    let mut gpu = card();
    let camera = Camera { pitch: 0.3, azimuth: 0.0, distance: 3.0, pivot: [0.0, 0.05, 0.0], flat: 0.0 };
    let pane = Rect::from_min_size(Pos2::ZERO, Vec2::new(96.0, 96.0));
    let of = |height: f32, blend: f32| {
        let white = Image { width: 33, height: 33, pixels: vec![[255; 4]; 33 * 33] };
        let frame = frame(level(height), white, &camera, [96, 96]);
        Frame { blend, heights: [0.0, 0.2], bottom: -0.035, ..frame }
    };
    gpu.draw(&of(0.0, 1.0)).expect("drawn");
    let half = of(300.0, 0.5);
    let picture = drawn(&mut gpu, &half);
    let bright = |y: usize| picture.pixels[y * 96 + 48].iter().take(3).all(|channel| *channel > 200);
    let top = (0..96).find(|&y| bright(y)).expect("land") as f32;
    // The far edge of a table at 150 m is what rises highest on the screen.
    let edge = half.measure.point([1500.0, 0.0], 150.0);
    let expected = half.projection.project(edge, pane).expect("in front").y;
    assert!((top - expected).abs() < 1.5, "{top} and not {expected}");
}

/// What is drawn of a frame.
fn drawn(gpu: &mut Gpu, frame: &Frame) -> Image {
    gpu.picture(frame, &Progress::new()).expect("a picture")
}

/// Where a place of that land lies in a picture of it.
fn pixel_of(frame: &Frame, place_m: [f64; 2]) -> Pos2 {
    let [width, height] = frame.size.map(|side| side as f32);
    let point = frame.measure.point(place_m, frame.terrain.height_at(place_m[0], place_m[1]));
    frame.projection.project(point, Rect::from_min_size(Pos2::ZERO, Vec2::new(width, height))).expect("in front")
}

fn colour_at(picture: &Image, at: Pos2) -> [u8; 4] {
    picture.pixels[at.y as usize * picture.width + at.x as usize]
}

#[test]
fn a_fault_glows_on_its_line_and_not_beside_it() {
    let Some((terrain, mut gpu)) = board() else { return };
    let camera = Camera { azimuth: 0.7, pitch: 0.9, distance: 1.9, ..Default::default() };
    let plain = frame(terrain.clone(), black(&terrain), &camera, [480, 320]);
    let line = GlowingFault { from_m: [600.0, 500.0], to_m: [2400.0, 1500.0], strength: 1.0 };
    let lit = Frame { glow: vec![line], ..plain.clone() };
    let (dark, bright) = (drawn(&mut gpu, &plain), drawn(&mut gpu, &lit));
    for share in [0.1, 0.4, 0.6, 0.9] {
        let at = [0, 1].map(|axis| line.from_m[axis] + share * (line.to_m[axis] - line.from_m[axis]));
        let [red, green, blue, _] = colour_at(&bright, pixel_of(&plain, at));
        assert!(red > 200 && green < 180 && blue < 140 && red > green && green > blue, "{red} {green} {blue}");
        // 400 m to the side of the line there is no more than the last of its shine.
        let pixel = pixel_of(&plain, [at[0] + 194.0, at[1] - 350.0]);
        let [before, after] = [&dark, &bright].map(|picture| colour_at(picture, pixel));
        assert!(before[0] < 4 && after[0] < 20, "beside: {before:?} and {after:?}");
    }
    let beyond = pixel_of(&plain, [2800.0, 1722.0]);
    assert_eq!(colour_at(&bright, beyond), colour_at(&dark, beyond), "beyond the end");
    let faint = Frame { glow: vec![GlowingFault { strength: 0.2, ..line }], ..plain.clone() };
    let middle = pixel_of(&plain, [1500.0, 1000.0]);
    let red = |picture: &Image| colour_at(picture, middle)[0];
    let faint = drawn(&mut gpu, &faint);
    assert!(red(&dark) < red(&faint) && red(&faint) < red(&bright), "an older one glows less");
}

#[test]
fn faults_glow_while_the_playhead_moves_and_rest_with_it() {
    if !can_draw() {
        return;
    }
    let recipe = faulted(1);
    let mut stage = stage([480.0, 320.0], egui::Theme::Dark, &recipe, None);
    let mut seen = preview(&recipe, 65);
    for position in [30, 31] {
        let request = PreviewRequest { position, ..(*seen.request).clone() };
        seen.request = Arc::new(request);
        let now = stage.ctx.input(|input| input.time);
        stage.state_mut().scene.show(&seen, now);
        stage.run_steps(2);
    }
    let glowing = |stage: &Harness<'static, Stage>| {
        stage.state().scene.frame.as_ref().map(|frame| frame.glow.iter().map(|line| line.strength).sum::<f32>())
    };
    assert!(glowing(&stage).is_some_and(|sum| sum > 1.0), "{:?}", glowing(&stage));
    let sums: Vec<_> = (0..100)
        .map(|_| {
            stage.step();
            glowing(&stage)
        })
        .collect();
    assert!(sums.is_sorted_by(|a, b| a >= b) && sums[99] == Some(0.0), "they fade: {sums:?}");
    // And then all is quiet.
    stage.run_steps(30);
    stage.render().expect("a picture");
    let before = stage.state().scene.counts();
    for _ in 0..3 {
        stage.step();
        stage.render().expect("a picture");
        assert!(!stage.ctx.has_requested_repaint(), "{:?}", stage.ctx.repaint_causes());
    }
    assert_eq!(stage.state().scene.counts(), before);
    // Whoever does not want them sees none.
    stage.get_by_label("Glowing faults").click();
    stage.run_steps(2);
    seen.request = Arc::new(PreviewRequest { position: 32, ..(*seen.request).clone() });
    let now = stage.ctx.input(|input| input.time);
    stage.state_mut().scene.show(&seen, now);
    stage.run_steps(2);
    assert_eq!(glowing(&stage), Some(0.0));
}

#[test]
fn the_youngest_faults_are_drawn_over_the_maps_too() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    let map = editor.get_by_label("Heightmap of the land").rect();
    let embers = |editor: &mut Harness<'static, App>| {
        let picture = editor.render().expect("a picture");
        let is_ember = |[red, green, blue, _]: [u8; 4]| red > 180 && green < 160 && blue < 120;
        let within = |x: u32, y: u32| map.contains(Pos2::new(x as f32, y as f32));
        picture.enumerate_pixels().filter(|(x, y, pixel)| within(*x, *y) && is_ember(pixel.0)).count()
    };
    editor.run_steps(90);
    assert_eq!(embers(&mut editor), 0, "at rest");
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::Seek(20));
    wait(&mut editor, "the land of iteration 20", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.position == 20 && !shown.coarse)
    });
    editor.step();
    let found = embers(&mut editor);
    assert!(found > 60, "{found} pixels");
}

#[test]
fn a_picture_in_bands_is_the_picture() {
    let Some((terrain, mut gpu)) = board() else { return };
    for flat in [0.0, 1.0] {
        let camera = Camera { azimuth: 0.7, pitch: 0.6, flat, ..Default::default() };
        let frame = Frame { is_hurried: false, ..frame(terrain.clone(), black(&terrain), &camera, [320, 200]) };
        let whole = drawn(&mut gpu, &frame);
        gpu.limit_bands(320 * 24);
        let before = gpu.counts.pictures;
        let bands = drawn(&mut gpu, &frame);
        assert_eq!(gpu.counts.pictures - before, 9, "200 rows, 24 at a time");
        gpu.limit_bands(1 << 20);
        let differing = whole.pixels.iter().zip(&bands.pixels).filter(|(a, b)| a != b).count();
        // Triangles may be rounded otherwise at their edges.
        assert!(differing < 32, "{differing} pixels differ");
    }
    let stopped = Progress::new();
    stopped.cancel();
    let frame = frame(terrain.clone(), black(&terrain), &Camera::default(), [64, 64]);
    assert!(gpu.picture(&frame, &stopped).is_err());
}

#[test]
fn level_ground_has_the_colour_that_the_legend_says() {
    let Some((_, mut gpu)) = board() else { return };
    let level = Heightfield::from_fn(Grid::new(WORLD, 33, 33), |_, _| 150.0);
    let camera = Camera { pitch: 1.2, distance: 3.0, ..Default::default() };
    let seen = |gpu: &mut Gpu, shading: ShadingMode, range_m: [f32; 2]| {
        let colours = black(&level);
        let params = RenderParams {
            shading,
            range_m,
            camera: Some(camera),
            ..RenderParams::new(level.clone(), colours, Light::default(), None)
        };
        let picture = drawn(gpu, &params.frame([96, 64], 0.0));
        picture.pixels[32 * 96 + 48]
    };
    let ramp = |shading: ShadingMode| shading.ramp().expect("a ramp");
    for (shading, range_m, number) in [
        (ShadingMode::Slope, [0.0, 200.0], 0.0),
        (ShadingMode::Elevation, [0.0, 200.0], 0.75),
        (ShadingMode::Elevation, [100.0, 300.0], 0.25),
        (ShadingMode::Elevation, [150.0, 300.0], 0.0),
    ] {
        let (found, expected) = (seen(&mut gpu, shading, range_m), ramp(shading).colour(number));
        let off = found.iter().zip(expected).map(|(found, expected)| found.abs_diff(expected)).max();
        assert!(off <= Some(3), "{shading:?} at {number}: {found:?}, and the legend has {expected:?}");
    }
}

/// The mean brightness of a picture in linear light, within a rectangle.
fn brightness(picture: &Image, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> f32 {
    let count = rows.len() * columns.len();
    let of = |pixel: &[u8; 4]| {
        let [red, green, blue, _] = pixel.map(crate::engine::image::linear_from_srgb);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let line = |r: usize| picture.pixels[r * picture.width..][columns.clone()].iter().map(of).sum::<f32>();
    rows.map(line).sum::<f32>() / count as f32
}

#[test]
fn the_texture_and_the_land_from_above_are_as_bright() {
    let Some((_, mut gpu)) = board() else { return };
    for name in ["alpine-range", "canyon", "arctic", "desert-mesa", "rolling-hills", "volcanic-island"] {
        let preset = presets().iter().find(|preset| preset.name == name).expect(name);
        let project = preset.project().expect("a good preset");
        let recipe = Arc::new(project.recipe);
        let preview = preview(&recipe, 257);
        let light = recipe.light.clone();
        let camera = Camera { pitch: std::f32::consts::FRAC_PI_2, azimuth: 0.0, flat: 1.0, ..Default::default() };
        let mut params = RenderParams::new((*preview.terrain).clone(), (*preview.albedo).clone(), light, None);
        let (measure, mut camera) = (params.measure(), camera);
        camera.frame(measure.half(), measure.block(params.range_m), 1.0);
        params.camera = Some(camera);
        let seen = drawn(&mut gpu, &params.frame([256, 256], 0.0));
        // Where the land surely lies.
        let of_land = brightness(&seen, 24..232, 24..232);
        let Image { width, height, .. } = *preview.texture;
        let inner = |side: usize| side / 25..side - side / 25;
        let of_texture = brightness(&preview.texture, inner(height), inner(width));
        eprintln!("{name}: {of_land:.3} and {of_texture:.3}: {:.2}", of_land / of_texture);
        assert!((of_land / of_texture - 1.0).abs() < 0.15, "{name}: {of_land} in 3-D, {of_texture} on the map");
    }
}

#[test]
fn forms_can_be_read_in_the_shade_which_is_bluer_than_the_sun() {
    let Some((_, mut gpu)) = board() else { return };
    // Falling southward, away from a low sun in the north.
    let light = Light { azimuth_deg: 0.0, altitude_deg: 8.0, ..Default::default() };
    let mut colour = |steep: f32, light: &Light| {
        let grid = Grid::new(WORLD, 61, 41);
        let terrain = Heightfield::from_fn(grid, |_, r| -steep * r as f32 * 50.0);
        let colours = black(&terrain);
        let camera =
            Camera { pitch: std::f32::consts::FRAC_PI_2, azimuth: 0.0, flat: 1.0, distance: 1.0, ..Default::default() };
        let params = RenderParams {
            shading: ShadingMode::Clay,
            camera: Some(camera),
            ..RenderParams::new(terrain, colours, light.clone(), None)
        };
        let frame = Frame { is_hurried: true, ..params.frame([64, 64], 0.0) };
        colour_at(&drawn(&mut gpu, &frame), Pos2::new(32.0, 32.0)).map(crate::engine::image::linear_from_srgb)
    };
    let [gentle, middle, steep] = [0.3, 0.7, 1.6].map(|steep| colour(steep, &light));
    assert!(gentle[1] > 1.08 * middle[1] && middle[1] > 1.08 * steep[1], "{gentle:?}, {middle:?}, {steep:?}");
    let sunny = colour(0.3, &Light { azimuth_deg: 180.0, altitude_deg: 40.0, ..Default::default() });
    assert!(gentle[2] / gentle[0] > 1.15 * sunny[2] / sunny[0], "{gentle:?} in the shade, {sunny:?} in the sun");
}

/// Open water and a flat beach around a hill, in plain colours.
fn island() -> (Heightfield, Image) {
    let grid = Grid::new(Extent { width_m: 2000.0, depth_m: 2000.0 }, 129, 129);
    let terrain = Heightfield::from_fn(grid, |c, r| {
        let [east, south] = [c, r].map(|at| (at as f32 - 64.0) * 2000.0 / 128.0);
        let away = (east * east + south * south).sqrt();
        60.0 - 0.15 * away
    });
    let pixels = vec![[150, 140, 110, 255]; 129 * 129];
    (terrain, Image { width: 129, height: 129, pixels })
}

#[test]
fn water_darkens_with_its_depth_and_has_no_halo() {
    let Some((_, mut gpu)) = board() else { return };
    let (terrain, colours) = island();
    let mut params = RenderParams::new(terrain, colours, Light::default(), Some(0.0));
    let mut camera = Camera { pitch: std::f32::consts::FRAC_PI_2, azimuth: 0.0, flat: 1.0, ..Default::default() };
    let measure = params.measure();
    camera.frame(measure.half(), measure.block(params.range_m), 1.0);
    params.camera = Some(camera);
    let frame = params.frame([400, 400], 0.0);
    let picture = drawn(&mut gpu, &frame);
    // Along a line from the coast, 400 m east of the middle, to deep water.
    let at = |east_m: f64| {
        let [red, green, blue, _] = colour_at(&picture, pixel_of(&frame, [1000.0 + east_m, 1000.0])).map(f32::from);
        [red, green, blue]
    };
    let [shallow, middle, deep] = [416.0, 440.0, 900.0].map(at);
    assert!(shallow[0] > middle[0] && middle[0] > deep[0], "red goes: {shallow:?}, {middle:?}, {deep:?}");
    assert!(deep[2] > deep[0] + 20.0, "deep water is blue: {deep:?}");
    let blues: Vec<f32> = (0..24).map(|i| at(430.0 + 20.0 * f64::from(i))[2]).collect();
    assert!(blues.windows(2).all(|pair| pair[1] < pair[0] + 9.0), "no brighter band off the coast: {blues:?}");
}

#[test]
fn the_sun_glitters_on_water_that_lies_between_it_and_the_eye() {
    let Some((_, mut gpu)) = board() else { return };
    let (terrain, colours) = island();
    let light = Light { azimuth_deg: 0.0, altitude_deg: 30.0, ..Default::default() };
    // Looking north, towards the sun, at the angle at which it comes.
    let towards =
        Camera { azimuth: 0.0, pitch: 30_f32.to_radians(), distance: 1.2, pivot: [0.0, 0.0, -0.35], flat: 1.0 };
    let away = Camera { azimuth: std::f32::consts::PI, pivot: [0.0, 0.0, 0.35], ..towards };
    let mut middle = |camera: Camera| {
        let params = RenderParams {
            camera: Some(camera),
            ..RenderParams::new(terrain.clone(), colours.clone(), light.clone(), Some(0.0))
        };
        brightness(&drawn(&mut gpu, &params.frame([200, 200], 0.0)), 80..120, 80..120)
    };
    let (bright, dark) = (middle(towards), middle(away));
    assert!(bright > 3.0 * dark, "{bright} and {dark}");
}

#[test]
fn ground_that_is_magnified_has_grain_and_the_same_outline() {
    let Some((_, mut gpu)) = board() else { return };
    let slope = Heightfield::from_fn(Grid::new(WORLD, 33, 33), |c, _| c as f32 * 60.0);
    let colours = Image { width: 33, height: 33, pixels: vec![[150, 140, 130, 255]; 33 * 33] };
    let mut of = |distance: f32, is_hurried: bool| {
        let light = Light::default();
        let camera = Camera { pitch: 0.8, azimuth: 1.2, distance, ..Default::default() };
        let params =
            RenderParams { camera: Some(camera), ..RenderParams::new(slope.clone(), colours.clone(), light, None) };
        let high = params.measure().y(16.0 * 60.0);
        let camera = Camera { pivot: [0.0, high, 0.0], ..camera };
        let params = RenderParams { camera: Some(camera), ..params };
        drawn(&mut gpu, &Frame { is_hurried, ..params.frame([160, 120], 0.0) })
    };
    let spread = |picture: &Image| {
        let green: Vec<f32> = picture.pixels.iter().map(|pixel| f32::from(pixel[1])).collect();
        let mean = green.iter().sum::<f32>() / green.len() as f32;
        (green.iter().map(|green| (green - mean) * (green - mean)).sum::<f32>() / green.len() as f32).sqrt()
    };
    let (near, plain) = (spread(&of(0.1, false)), spread(&of(0.1, true)));
    assert!(near > 4.0 && plain < 0.5 * near, "{near} with grain, {plain} without");
    // From far away nothing of it is seen, and where the land ends it ends.
    let (fine, quick) = (of(3.0, false), of(3.0, true));
    let differing = fine.pixels.iter().zip(&quick.pixels).filter(|(a, b)| a[1].abs_diff(b[1]) > 24).count();
    assert!(differing < fine.pixels.len() / 40, "{differing} pixels, no more than the smooth edges");
}

#[test]
fn the_wireframe_has_lines_along_the_samples_and_none_within_the_triangles() {
    let Some((terrain, mut gpu)) = board() else { return };
    let camera = Camera { azimuth: 0.3, pitch: 1.1, distance: 1.0, ..Default::default() };
    let mut frame = frame(terrain.clone(), black(&terrain), &camera, [480, 320]);
    frame.environment.shading = ShadingMode::Wireframe as u8;
    let picture = drawn(&mut gpu, &frame);
    let bright = |c: f64, r: f64| {
        let place = [c / 48.0 * WORLD.width_m, r / 32.0 * WORLD.depth_m];
        let [red, green, blue, _] = colour_at(&picture, pixel_of(&frame, place)).map(u32::from);
        red + green + blue
    };
    for (c, r) in [(20.0, 14.0), (24.0, 16.0), (27.0, 18.0), (22.0, 17.0)] {
        // Both triangles of a quad: their middles, and the edges on which they meet others.
        let middles = [bright(c + 0.25, r + 0.25), bright(c + 0.75, r + 0.75)];
        let edges = [bright(c + 0.5, r), bright(c, r + 0.5), bright(c + 0.5, r + 0.5)];
        let (light, dark) = (edges.into_iter().min(), middles.into_iter().max());
        assert!(light > dark.map(|dark| dark + 60), "edges {edges:?}, middles {middles:?}");
    }
}

#[test]
fn where_the_card_holds_less_every_second_sample_is_drawn() {
    let Some((terrain, mut gpu)) = board() else { return };
    let camera = Camera { azimuth: 0.3, pitch: 1.1, distance: 2.0, ..Default::default() };
    let colours = Image { pixels: vec![[250, 250, 250, 255]; 49 * 33], ..black(&terrain) };
    let frame = frame(terrain.clone(), colours, &camera, [96, 64]);
    let whole = drawn(&mut gpu, &frame);
    assert_eq!(gpu.step(&terrain), 1);
    let mut small = card();
    // Less than the 49 samples of a row.
    small.most_side = 40;
    assert_eq!(small.step(&terrain), 2);
    let picture = drawn(&mut small, &Frame { size: [40, 26], ..frame.clone() });
    assert_eq!(small.heights().len(), 25 * 17);
    let mean = |picture: &Image| {
        picture.pixels.iter().map(|pixel| f64::from(pixel[1])).sum::<f64>() / picture.pixels.len() as f64
    };
    assert!((mean(&whole) - mean(&picture)).abs() < 6.0, "{} and {}", mean(&whole), mean(&picture));
}

#[test]
fn a_lost_card_is_replaced_and_shows_the_same() {
    if !can_draw() {
        return;
    }
    let (terrain, first) = (bumpy(), render_state());
    let frame = frame(terrain.clone(), black(&terrain), &Camera::default(), [96, 64]);
    let mut scene = Scene::default();
    scene.attach(Some(&first), unheard);
    let order = |scene: &Scene| {
        let Card::Ready(gpu) = &scene.card else { panic!("no card") };
        lock(gpu).picture(&frame, &Progress::new())
    };
    let before = order(&scene).expect("a picture");
    scene.attach(Some(&first), unheard);
    assert_eq!((scene.counts().pictures, scene.is_lost()), (1, false), "the same card is known");
    first.device.destroy();
    let _ = first.device.poll(wgpu::PollType::Poll);
    assert!(scene.is_lost());
    assert!(order(&scene).is_err(), "no panic, and no picture of nothing");
    let second = render_state();
    scene.attach(Some(&second), unheard);
    assert!(!scene.is_lost());
    assert_eq!(order(&scene), Ok(before));
}

#[test]
fn a_window_whose_card_has_gone_hands_its_document_to_the_next() {
    let app = || {
        let dialogs: Box<dyn crate::app::FileDialogs> = Box::new(Scripted::default());
        App::new(&egui::Context::default(), dialogs, None, UserFolders::default()).expect("threads")
    };
    let mut first = app();
    first.edit(|project| project.recipe.seed = 77);
    first.edit(|project| project.recipe.seed = 78);
    first.ui.scene.shading = ShadingMode::Clay;
    let ctx = egui::Context::default();
    first.close_after_device_loss(&ctx);
    assert!(first.ui.closing, "its window closes without asking");
    let snapshot = first.window.snapshot.borrow_mut().take().expect("rescued");
    assert_eq!(snapshot.reason, "the graphics card was lost");
    let mut second = app();
    second.adopt(snapshot);
    assert_eq!((second.document.project().recipe.seed, second.ui.scene.shading), (78, ShadingMode::Clay));
    second.execute(&ctx, Command::Undo);
    assert_eq!(second.document.project().recipe.seed, 77);
    // The window's library gives up in the middle of a frame.
    let window_snapshot = second.window.snapshot.clone();
    let given_up = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let window = second;
        assert!(window.ui.closing, "a panic of the window's library");
    }));
    let snapshot = window_snapshot.borrow_mut().take().expect("rescued");
    assert!(given_up.is_err() && snapshot.document.project().recipe.seed == 77);
    assert!(snapshot.reason.starts_with("an error"), "{}", snapshot.reason);
}

/// A small land with its colours, as it is looked at without a window.
fn params() -> RenderParams {
    let recipe = faulted(3);
    let preview = preview(&recipe, 65);
    RenderParams::new((*preview.terrain).clone(), (*preview.albedo).clone(), recipe.light.clone(), None)
}

#[test]
fn a_turntable_begins_with_the_view_and_is_named_when_it_is_whole() {
    if !can_draw() {
        return;
    }
    let folder = tempfile::tempdir().expect("folder");
    let (state, params) = (render_state(), params());
    let start = |count| {
        let path = folder.path().join("land.png");
        RenderTask::start((state.clone(), params.clone()), [96, 64], Some(count), path, unheard()).expect("a thread")
    };
    let outcome = |turntable: &RenderTask| {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(outcome) = turntable.take() {
                return outcome;
            }
            assert!(Instant::now() < deadline, "the turntable does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let turntable = start(3);
    let RenderOutcome::Written(files) = outcome(&turntable) else { panic!("not written") };
    assert_eq!(turntable.status().fraction, 1.0);
    assert_eq!(files.len(), 3);
    let read = |path: &std::path::PathBuf| image::open(path).expect("a picture").to_rgb8();
    let mut patient = Gpu::patient(&render_state()).expect("a card that can draw");
    let single = drawn(&mut patient, &params.turning([96, 64]).frame([96, 64], 0.0));
    let frames: Vec<_> = files.iter().map(read).collect();
    assert!(
        frames[0].pixels().zip(&single.pixels).all(|(found, pixel)| found.0 == pixel[..3]),
        "the first looks the way the view does"
    );
    assert!(frames[0] != frames[1] && frames[1] != frames[2] && frames[0] != frames[2]);

    files.iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
    let long = start(900);
    while long.status().fraction == 0.0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    long.cancel();
    assert_eq!(outcome(&long), RenderOutcome::Cancelled);
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
}

#[test]
fn the_editor_writes_a_turntable_of_its_view() {
    let folder = tempfile::tempdir().expect("folder");
    let scripted = Scripted::default();
    scripted.answers.lock().expect("whole").push_back(chosen(folder.path().join("land")));
    let Some(mut editor) = editor(scripted) else { return };
    editor.render().expect("a picture");
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::SaveTurntable);
    editor.run_steps(2);
    editor.get_by_role_and_label(egui::accesskit::Role::SpinButton, "Frames");
    editor.state_mut().ui.modal = None;
    let ask = crate::app::dialogs::file_dialogs::DialogPurpose::Image { size: [64, 48], frames: Some(2) };
    let ask = crate::app::dialogs::file_dialogs::DialogRequest { purpose: ask, file_name: "land.png".into() };
    editor.state_mut().services.file_dialogs.ask(ask);
    wait(&mut editor, "the turntable", |app| {
        app.ui.message.as_ref().is_some_and(|message| message.text.starts_with("Saved"))
    });
    for name in ["land_000.png", "land_001.png"] {
        assert_eq!(image::open(folder.path().join(name)).expect(name).to_rgb8().dimensions(), (64, 48));
    }
}

/// Pixels of 480 × 320 that may differ.
const EDGE_PIXELS: usize = 64;

fn check_picture(name: &str) {
    if !can_draw() {
        return;
    }
    let mut stage = preset(name, 257, [480.0, 320.0], egui::Theme::Dark);
    // A few pixels at edges are another driver's rounding.
    let options = SnapshotOptions::new().max_failed_pixels(EDGE_PIXELS);
    stage.snapshot_options(format!("scene-{name}"), &options);
}

#[test]
fn the_alpine_range_looks_as_it_did() {
    check_picture("alpine-range");
}

#[test]
fn the_volcanic_island_looks_as_it_did() {
    check_picture("volcanic-island");
}

#[test]
fn the_canyon_looks_as_it_did() {
    check_picture("canyon");
}

#[test]
fn without_a_graphics_card_the_view_says_so() {
    let stage = Stage { scene: Scene::default(), recipe: Arc::default(), water_m: None, crosshair_m: None };
    let mut harness = Harness::builder().with_size([480.0, 320.0]).build_eframe(|_| stage);
    harness.run_steps(2);
    harness.get_by_label_contains("no graphics adapter was found");
}

/// A land of faults.
fn faulted(seed: u32) -> Arc<Recipe> {
    let faults = crate::engine::Step::new(crate::engine::operations::faults::Faults::default());
    Arc::new(Recipe { seed, stack: vec![faults], ..Default::default() })
}

/// A stage with a small land; `None` where nothing can draw.
fn small_stage() -> Option<Harness<'static, Stage>> {
    if !can_draw() {
        return None;
    }
    let recipe = faulted(1);
    let mut stage = stage([480.0, 320.0], egui::Theme::Dark, &recipe, None);
    stage.state_mut().scene.show(&preview(&recipe, 65), 0.0);
    stage.run_steps(2);
    Some(stage)
}

#[test]
fn the_mouse_orbits_pans_zooms_and_sets_the_pivot() {
    let Some(mut stage) = small_stage() else { return };
    let middle = Pos2::new(240.0, 170.0);
    let camera = |stage: &Harness<'static, Stage>| stage.state().scene.camera;
    let start = camera(&stage);
    stage.drag_at(middle);
    stage.step();
    stage.hover_at(middle + Vec2::new(40.0, 10.0));
    stage.step();
    stage.drop_at(middle + Vec2::new(40.0, 10.0));
    stage.step();
    let turned = camera(&stage);
    assert!(turned.azimuth > start.azimuth + 0.2 && turned.pitch > start.pitch, "{turned:?}");
    assert_eq!((turned.pivot, turned.distance), (start.pivot, start.distance));

    stage.hover_at(middle);
    stage.step();
    let place = stage.state().crosshair_m.expect("the land under the pointer");
    let unit = egui::MouseWheelUnit::Point;
    let wheel = egui::Event::MouseWheel {
        unit,
        delta: Vec2::new(0.0, 120.0),
        modifiers: egui::Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
    };
    stage.event(wheel);
    stage.run_steps(20);
    let near = camera(&stage);
    assert!(near.distance < 0.8 * turned.distance, "{near:?}");
    let after = stage.state().crosshair_m.expect("the land under the pointer");
    let moved = [0, 1].map(|i| (place[i] - after[i]).abs());
    assert!(moved[0] + moved[1] < 20.0, "the place under the pointer stays: {place:?} and {after:?}");

    for _ in 0..2 {
        stage.drag_at(middle);
        stage.step();
        stage.drop_at(middle);
        stage.step();
    }
    stage.run_steps(40);
    let pivot = camera(&stage).pivot;
    let measure = stage.state().scene.measure(stage.state().recipe.world.extent());
    let there = measure.place_m(pivot);
    assert!((there[0] - after[0]).abs() + (there[1] - after[1]).abs() < 60.0, "{there:?} and {after:?}");

    stage.key_down(Key::W);
    stage.event(egui::Event::PointerButton {
        pos: middle,
        button: PointerButton::Secondary,
        pressed: true,
        modifiers: egui::Modifiers::NONE,
    });
    stage.run_steps(5);
    assert!(camera(&stage).pivot != pivot, "W flies while the right button is held");
}

#[test]
fn a_pin_stands_where_the_crosshair_of_the_maps_is_and_the_looks_turn_the_camera() {
    let Some(mut stage) = small_stage() else { return };
    stage.state_mut().crosshair_m = Some([2048.0, 2048.0]);
    stage.run_steps(2);
    let accent = [0xff, 0x7a, 0x3c];
    let image = stage.render().expect("a picture");
    let is_accent = |pixel: &[u8; 4]| pixel.iter().zip(accent).all(|(a, b)| a.abs_diff(b) < 12);
    let found: Vec<Pos2> = image
        .enumerate_pixels()
        .filter(|(x, y, pixel)| (36..270).contains(y) && *x < 440 && is_accent(&pixel.0))
        .map(|(x, y, _)| Pos2::new(x as f32 + 0.5, y as f32 + 0.5))
        .collect();
    assert!(found.len() > 40, "{} pixels of a pin", found.len());
    let scene = &stage.state().scene;
    let measure = scene.measure(stage.state().recipe.world.extent());
    let height = scene.shown.as_ref().expect("a land").terrain.height_at(2048.0, 2048.0);
    let pane = Rect::from_min_size(Pos2::ZERO, Vec2::new(480.0, 320.0));
    let projection = scene.camera.projection(1.5, |_| f32::MIN);
    let foot = projection.project(measure.point([2048.0, 2048.0], height), pane).expect("in front");
    let middle = found.iter().fold(Vec2::ZERO, |sum, at| sum + at.to_vec2()) / found.len() as f32;
    assert!((middle.x - foot.x).abs() < 1.0 && middle.y < foot.y && foot.y - middle.y < 30.0, "{middle} and {foot}");

    stage.get_by_label("3-D view from above (T)").click();
    stage.run_steps(40);
    assert_eq!(stage.state().scene.camera.pitch, std::f32::consts::FRAC_PI_2);
    stage.get_by_label("3-D view from the side (H)").click();
    stage.run_steps(40);
    let Camera { pitch, azimuth, flat, .. } = stage.state().scene.camera;
    assert_eq!((pitch, azimuth, flat), (0.0, 0.0, 1.0));
    stage.get_by_label("3-D view from the side (H)").click();
    stage.run_steps(40);
    assert_eq!(stage.state().scene.camera.azimuth, std::f32::consts::FRAC_PI_2, "the next side");
    stage.get_by_label("Three-quarter 3-D view (G)").click();
    stage.run_steps(40);
    let Camera { pitch, azimuth, flat, .. } = stage.state().scene.camera;
    let home = Camera::default();
    assert_eq!((pitch, azimuth, flat), (home.pitch, home.azimuth, 0.0));
}

#[test]
fn where_pictures_are_quick_the_land_glides_and_the_camera_flies() {
    let Some(mut stage) = small_stage() else { return };
    stage.render().expect("a picture");
    match &stage.state().scene.card {
        Card::Ready(gpu) => lock(gpu).is_software = false,
        Card::Untried | Card::Missing(_) => panic!("no card"),
    }
    let now = stage.ctx.input(|input| input.time);
    stage.state_mut().scene.show(&preview(&faulted(2), 65), now);
    let mut blends = Vec::new();
    for _ in 0..20 {
        stage.step();
        stage.render().expect("a picture");
        blends.extend(stage.state().scene.frame.as_ref().map(|frame| frame.blend));
    }
    assert!(blends.is_sorted() && blends[0] < 0.2 && blends[5] > 0.2 && blends[5] < 1.0, "{blends:?}");
    assert_eq!(blends[19], 1.0);
    assert_eq!(stage.state().scene.counts().heights, 2, "one upload for all of it");

    stage.get_by_label("3-D view from above (T)").click();
    stage.run_steps(8);
    let pitch = stage.state().scene.camera.pitch;
    assert!(pitch > 0.5 && pitch < 1.5, "on its way: {pitch}");
    stage.run_steps(30);
    assert_eq!(stage.state().scene.camera.pitch, std::f32::consts::FRAC_PI_2);
    stage.run_steps(10);
    assert!(!stage.ctx.has_requested_repaint(), "{:?}", stage.ctx.repaint_causes());
}

#[test]
fn the_land_keeps_its_share_of_the_pane_when_the_pane_changes() {
    let Some(mut stage) = small_stage() else { return };
    let reach = |stage: &Harness<'static, Stage>| {
        let scene = &stage.state().scene;
        let measure = scene.measure(stage.state().recipe.world.extent());
        let block = measure.block(scene.range_m(1.0));
        let pane = Rect::from_min_size(Pos2::ZERO, Vec2::new(scene.aspect, 1.0));
        let projection = scene.camera.projection(scene.aspect, |_| f32::MIN);
        let half = measure.half();
        let mut reach: f32 = 0.0;
        for (x, y, z) in [-1.0, 1.0].into_iter().flat_map(|x| block.map(|y| [(x, y, -1.0), (x, y, 1.0)])).flatten() {
            let at = projection.project([x * half[0], y, z * half[1]], pane).expect("in front");
            let share = (at - pane.center()) / (pane.size() * 0.5);
            reach = reach.max(share.x.abs().max(share.y.abs()));
        }
        reach
    };
    for (label, sizes) in [
        ("Frame the land (F)", [[480.0, 320.0], [480.0, 160.0], [300.0, 620.0], [900.0, 500.0]]),
        ("3-D view from above (T)", [[900.0, 500.0], [480.0, 160.0], [300.0, 620.0], [480.0, 320.0]]),
    ] {
        stage.get_by_label(label).click();
        stage.run_steps(40);
        for [width, height] in sizes {
            stage.set_size(Vec2::new(width, height));
            stage.run_steps(3);
            let reach = reach(&stage);
            assert!(reach > 0.85 && reach <= 1.0, "{label}: {reach} of the pane at {width} × {height}");
        }
    }
    // Where the user has gone, the middle stays, and the land keeps its size against the framed one.
    stage.state_mut().scene.camera.zoom(3.0, [0.1, 0.0, 0.1]);
    stage.state_mut().scene.is_framed = false;
    let before = stage.state().scene.camera;
    stage.set_size(Vec2::new(300.0, 620.0));
    stage.run_steps(3);
    let tall = stage.state().scene.camera;
    assert_eq!(tall.pivot, before.pivot);
    stage.set_size(Vec2::new(480.0, 320.0));
    stage.run_steps(3);
    let back = stage.state().scene.camera;
    assert!((back.distance / before.distance - 1.0).abs() < 0.01, "{before:?}, {tall:?}, {back:?}");
}

#[test]
fn faults_glow_as_long_as_the_playhead_is_held_without_drawing_and_fade_when_it_is_let_go() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    editor.run_steps(100);
    let rail = editor.get_by_label("Timeline").rect();
    let glow = |editor: &Harness<'static, App>| {
        let lines = editor.state().ui.scene.glow(&editor.ctx);
        lines.iter().map(|line| line.strength).sum::<f32>()
    };
    assert_eq!(glow(&editor), 0.0);
    editor.drag_at(rail.center());
    editor.step();
    let there = rail.center() + Vec2::new(30.0, 0.0);
    editor.hover_at(there);
    editor.step();
    wait(&mut editor, "the land under the playhead", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| {
            !shown.coarse
                && shown.request.position == app.ui.playback.position(app.total())
                && app.ui.preview.wanted.is_some()
        })
    });
    // Long after it would have faded.
    editor.run_steps(150);
    let held = glow(&editor);
    assert!(held > 1.0, "{held}");
    editor.render().expect("a picture");
    let before = editor.state().ui.scene.counts();
    let (deadline, mut quiet) = (Instant::now() + Duration::from_secs(30), 0);
    while quiet < 3 {
        editor.step();
        editor.render().expect("a picture");
        quiet = if editor.ctx.has_requested_repaint() { 0 } else { quiet + 1 };
        assert!(Instant::now() < deadline, "{:?}", editor.ctx.repaint_causes());
    }
    assert_eq!(editor.state().ui.scene.counts(), before, "nothing is drawn while nothing changes");
    assert_eq!(glow(&editor), held);
    editor.drop_at(there);
    editor.run_steps(45);
    let fading = glow(&editor);
    assert!(fading < held && fading > 0.0, "{fading} of {held}");
    editor.run_steps(60);
    assert_eq!(glow(&editor), 0.0);
}

#[test]
fn a_picture_that_was_quick_is_followed_by_a_fine_one_at_once() {
    let Some(mut stage) = small_stage() else { return };
    stage.set_size(Vec2::new(900.0, 600.0));
    stage.run_steps(40);
    stage.render().expect("a picture");
    let size = |stage: &Harness<'static, Stage>| stage.state().scene.frame.as_ref().map(|frame| frame.size);
    assert_eq!(size(&stage), Some([900, 600]));
    if !stage.state().scene.is_software() {
        return;
    }
    let middle = Pos2::new(450.0, 300.0);
    stage.drag_at(middle);
    stage.step();
    stage.hover_at(middle + Vec2::new(20.0, 0.0));
    stage.step();
    let quick = size(&stage).expect("a frame");
    assert!(quick[0] * quick[1] < 80_000, "{quick:?}");
    // Two frames at 60 a second, and then what is fine.
    stage.run_steps(2);
    assert_eq!(size(&stage), Some([900, 600]));
    stage.run_steps(15);
    assert!(stage.state().scene.frame.as_ref().is_some_and(|frame| !frame.is_hurried));
}

#[test]
fn at_rest_nothing_is_drawn_and_nothing_asks_for_a_frame() {
    let Some(mut stage) = small_stage() else { return };
    stage.render().expect("a picture");
    // A picture that was quick is followed by a fine one.
    stage.run_steps(40);
    stage.render().expect("a picture");
    let before = stage.state().scene.counts();
    for _ in 0..5 {
        stage.step();
        stage.render().expect("a picture");
        assert!(!stage.ctx.has_requested_repaint(), "{:?}", stage.ctx.repaint_causes());
    }
    assert_eq!(stage.state().scene.counts(), before);
}

/// The whole editor in a window that draws; `None` where nothing can.
fn editor(scripted: Scripted) -> Option<Harness<'static, App>> {
    if !can_draw() {
        return None;
    }
    let mut editor =
        Harness::builder().with_size([1280.0, 800.0]).with_step_dt(1.0 / 60.0).wgpu().build_eframe(|context| {
            App::new(&context.egui_ctx, Box::new(scripted), None, UserFolders::default()).expect("threads")
        });
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 65);
    pause(&mut editor);
    Some(editor)
}

#[test]
fn a_picture_of_the_view_is_saved_at_the_size_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("folder");
    let scripted = Scripted::default();
    scripted.answers.lock().expect("whole").push_back(chosen(folder.path().join("land")));
    let Some(mut editor) = editor(scripted) else { return };
    editor.render().expect("a picture");
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::SaveRender);
    editor.run_steps(2);
    editor.get_by_label("Square").click();
    editor.run_steps(2);
    editor.get_by_label("Choose where…").click();
    wait(&mut editor, "the picture", |app| {
        app.ui.message.as_ref().is_some_and(|message| message.text.starts_with("Saved"))
    });
    let picture = image::open(folder.path().join("land.png")).expect("a picture").to_rgb8();
    assert_eq!(picture.dimensions(), (2048, 2048));
    // The land that fills the pane fills the square too.
    let (_, model) = editor.state().ui.scene.model([2048, 2048]).expect("a view");
    let (measure, seen) = (model.measure(), model.camera.expect("a camera"));
    let mut framed = seen;
    framed.frame(measure.half(), measure.block(model.range_m), 1.0);
    assert!((seen.distance / framed.distance - 1.0).abs() < 0.01, "{seen:?} and {framed:?}");
    let colours: std::collections::BTreeSet<[u8; 3]> = picture.pixels().step_by(997).map(|pixel| pixel.0).collect();
    assert!(colours.len() > 200, "{} colours", colours.len());
}

#[test]
fn the_hint_lies_on_nothing_else_at_the_foot_of_the_view() {
    let mut shown = [0, 0];
    // The view in windows of 1280 × 800 and 640 × 360, with and without panels, and alone.
    for (width, height) in [(680.0, 400.0), (1264.0, 690.0), (640.0, 145.0), (336.0, 145.0), (336.0, 60.0)] {
        let pane = Rect::from_min_size(Pos2::new(12.0, 30.0), Vec2::new(width, height));
        for share in [0.1, 0.3] {
            let size = Vec2::new(share * width + 16.0, 24.0);
            let bar = Rect::from_min_size(pane.left_bottom() + Vec2::new(8.0, -8.0 - size.y), size);
            let looks = Rect::from_min_max(pane.max - Vec2::new(192.0, 46.0), pane.max - Vec2::splat(10.0));
            let own = Rect::from_min_size(bar.left_top() - Vec2::new(0.0, 56.0), Vec2::new(156.0, 52.0));
            for legend in [None, Some(own)] {
                let size = Vec2::new(272.0, 20.0);
                let Some(at) = hint_at(pane, bar, legend, looks, size) else {
                    shown[0] += 1;
                    continue;
                };
                shown[1] += 1;
                let hint = Rect::from_min_size(at, size);
                let others = [Some(bar), Some(looks), legend];
                assert!(pane.contains_rect(hint), "{hint:?} in {pane:?}");
                assert!(others.into_iter().flatten().all(|other| !other.intersects(hint)), "{hint:?} in {pane:?}");
            }
        }
    }
    assert!(shown[0] > 0 && shown[1] >= 8, "{shown:?}");
}

#[test]
fn the_level_of_the_water_is_typed_as_one_edit() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    pause(&mut editor);
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::WaterLevel);
    editor.run_steps(3);
    let entries = editor.state().document.history().0.len();
    editor.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    editor.run_steps(2);
    for digit in ["1", "2", "0"] {
        editor.event(egui::Event::Text(digit.into()));
        editor.run_steps(2);
    }
    editor.key_press(Key::Enter);
    editor.run_steps(3);
    assert_eq!(editor.state().document.project().water.water_m, Some(120.0));
    assert_eq!(editor.state().document.history().0.len(), entries + 1);
}

#[test]
fn the_editor_at_rest_asks_for_no_frame_and_f_frames_the_land_again() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    // Until the faults have ceased to glow.
    editor.run_steps(100);
    editor.render().expect("a picture");
    let before = editor.state().ui.scene.counts();
    let (deadline, mut quiet) = (Instant::now() + Duration::from_secs(30), 0);
    while quiet < 3 {
        editor.step();
        editor.render().expect("a picture");
        // Thumbnails that are still coming wake the editor.
        quiet = if editor.ctx.has_requested_repaint() { 0 } else { quiet + 1 };
        assert!(Instant::now() < deadline, "{:?}", editor.ctx.repaint_causes());
    }
    assert_eq!(editor.state().ui.scene.counts(), before);
    let framed = editor.state().ui.scene.camera;
    let middle = editor.get_by_label("The land in 3-D").rect().center();
    editor.drag_at(middle);
    editor.step();
    editor.hover_at(middle + Vec2::new(30.0, 5.0));
    editor.step();
    editor.drop_at(middle + Vec2::new(30.0, 5.0));
    editor.step();
    editor.state_mut().ui.scene.camera.zoom(3.0, [0.1, 0.0, 0.1]);
    editor.step();
    editor.key_press(Key::F);
    editor.run_steps(60);
    let again = editor.state().ui.scene.camera;
    assert!(again.azimuth != framed.azimuth && (again.distance / framed.distance - 1.0).abs() < 0.2, "{again:?}");
    let moved = [0, 1, 2].map(|i| (again.pivot[i] - framed.pivot[i]).abs());
    assert_eq!(moved.map(|part| part < 0.1), [true; 3], "{again:?}");
}

/// Seconds that all threads of this process have worked.
fn worked_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = |at: usize| stat.split(' ').nth(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    (ticks(13) + ticks(14)) / 100.0
}

/// What a frame costs: `cargo test measure -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure() {
    for size in [[688.0, 430.0], [1328.0, 600.0]] {
        let mut stage = preset("alpine-range", 513, size, egui::Theme::Dark);
        stage.render().expect("a picture");
        let mut of = |what: &str, change: &mut dyn FnMut(&mut Harness<'static, Stage>, u32)| {
            let (began, worked) = (Instant::now(), worked_s());
            for i in 0..10 {
                change(&mut stage, i);
                stage.render().expect("a picture");
            }
            let (wall, work) = (began.elapsed().as_secs_f64() * 100.0, (worked_s() - worked) * 100.0);
            eprintln!("{size:?} {what}: {wall:.0} ms a frame, {work:.0} ms of work");
        };
        of("at rest", &mut |stage, _| stage.step());
        of("at rest, turned", &mut |stage, _| {
            stage.state_mut().scene.camera.azimuth += 0.1;
            stage.step();
        });
        of("hardly at rest, turned", &mut |stage, _| {
            let now = stage.ctx.input(|input| input.time);
            let scene = &mut stage.state_mut().scene;
            (scene.camera.azimuth, scene.moved_at) = (scene.camera.azimuth + 0.1, now - REST - 0.01);
            stage.step();
        });
        let middle = Pos2::new(0.5 * size[0], 0.5 * size[1]);
        of("orbiting", &mut |stage, i| {
            if i == 0 {
                stage.drag_at(middle);
                stage.step();
            }
            stage.hover_at(middle + Vec2::new(8.0 * i as f32, 0.0));
            stage.step();
        });
        of("another land while orbiting", &mut |stage, i| {
            let now = stage.ctx.input(|input| input.time);
            let scene = &mut stage.state_mut().scene;
            if let Some(shown) = &mut scene.shown {
                shown.terrain = Arc::new((*shown.terrain).clone());
                shown.colours = Arc::new((*shown.colours).clone());
            }
            scene.moved_at = now;
            stage.hover_at(middle - Vec2::new(8.0 * i as f32, 0.0));
            stage.step();
        });
    }
}
