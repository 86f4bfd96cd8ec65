//! The camera, the controls and what is painted over the view.

use egui::{Key, PointerButton, Rect};

use super::*;
use crate::app::views::scene::overlay::hint_position;

#[test]
fn without_a_graphics_adapter_the_view_says_so() {
    let window = SceneWindow { scene: ScenePane::default(), recipe: Arc::default(), water_m: None, crosshair_m: None };
    let mut harness = Harness::builder().with_size([480.0, 320.0]).build_eframe(|_| window);
    harness.run_steps(2);
    harness.get_by_label_contains("no graphics adapter was found");
}

#[test]
fn the_mouse_orbits_pans_zooms_and_sets_the_pivot() {
    let Some(mut window) = small_window() else { return };
    let middle = Pos2::new(240.0, 170.0);
    let camera = |window: &Harness<'static, SceneWindow>| window.state().scene.navigation.camera;
    let start = camera(&window);
    window.drag_at(middle);
    window.step();
    window.hover_at(middle + Vec2::new(40.0, 10.0));
    window.step();
    window.drop_at(middle + Vec2::new(40.0, 10.0));
    window.step();
    let turned = camera(&window);
    assert!(turned.azimuth > start.azimuth + 0.2 && turned.pitch > start.pitch, "{turned:?}");
    assert_eq!((turned.pivot, turned.distance), (start.pivot, start.distance));

    window.hover_at(middle);
    window.step();
    let place = window.state().crosshair_m.expect("the terrain under the pointer");
    let unit = egui::MouseWheelUnit::Point;
    let wheel = egui::Event::MouseWheel {
        unit,
        delta: Vec2::new(0.0, 120.0),
        modifiers: egui::Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
    };
    window.event(wheel);
    window.run_steps(20);
    let near = camera(&window);
    assert!(near.distance < 0.8 * turned.distance, "{near:?}");
    let after = window.state().crosshair_m.expect("the terrain under the pointer");
    let moved = [0, 1].map(|i| (place[i] - after[i]).abs());
    assert!(moved[0] + moved[1] < 20.0, "the place under the pointer stays: {place:?} and {after:?}");

    for _ in 0..2 {
        window.drag_at(middle);
        window.step();
        window.drop_at(middle);
        window.step();
    }
    window.run_steps(40);
    let pivot = camera(&window).pivot;
    let scale = window.state().scene.scale(window.state().recipe.world.extent());
    let there = scale.place_m(pivot);
    assert!((there[0] - after[0]).abs() + (there[1] - after[1]).abs() < 60.0, "{there:?} and {after:?}");

    window.key_down(Key::W);
    window.event(egui::Event::PointerButton {
        pos: middle,
        button: PointerButton::Secondary,
        pressed: true,
        modifiers: egui::Modifiers::NONE,
    });
    window.run_steps(5);
    let flown = camera(&window);
    assert!(flown.pivot != pivot, "W flies while the right button is held");
    window.key_up(Key::W);
    window.run_steps(10);

    window.state_mut().scene.frame_terrain();
    window.run_steps(2);
    let framed = camera(&window);
    assert!(framed.distance > 1.2 * near.distance, "{framed:?}");
    assert_eq!((framed.azimuth, framed.pitch), (flown.azimuth, flown.pitch));
}

#[test]
fn a_pin_marks_the_crosshair_of_the_maps() {
    let Some(mut window) = small_window() else { return };
    window.state_mut().crosshair_m = Some([2048.0, 2048.0]);
    window.run_steps(2);
    let accent = [0xff, 0x7a, 0x3c];
    let image = window.render().expect("an image");
    let is_accent = |pixel: &[u8; 4]| pixel.iter().zip(accent).all(|(a, b)| a.abs_diff(b) < 12);
    let found: Vec<Pos2> = image
        .enumerate_pixels()
        .filter(|(x, y, pixel)| (36..270).contains(y) && *x < 440 && is_accent(&pixel.0))
        .map(|(x, y, _)| Pos2::new(x as f32 + 0.5, y as f32 + 0.5))
        .collect();
    assert!(found.len() > 40, "{} pixels of a pin", found.len());
    let scene = &window.state().scene;
    let scale = scene.scale(window.state().recipe.world.extent());
    let height = scene.shown.as_ref().expect("a terrain").terrain.height_at(2048.0, 2048.0);
    let projection = scene.navigation.camera.projection(1.5, |_| f32::MIN);
    let foot = projection.project(scale.point([2048.0, 2048.0], height)).expect("in front of the camera");
    let foot = Pos2::new(240.0 + foot.x * 240.0, 160.0 - foot.y * 160.0);
    let middle = found.iter().fold(Vec2::ZERO, |sum, at| sum + at.to_vec2()) / found.len() as f32;
    assert!((middle.x - foot.x).abs() < 1.0 && middle.y < foot.y && foot.y - middle.y < 30.0, "{middle} and {foot}");
}

#[test]
fn presets_turn_the_camera() {
    let Some(mut window) = small_window() else { return };
    window.get_by_label("3-D view from above (T)").click();
    window.run_steps(40);
    assert_eq!(window.state().scene.navigation.camera.pitch, std::f32::consts::FRAC_PI_2);
    window.get_by_label("3-D view from the side (H)").click();
    window.run_steps(40);
    let Camera { pitch, azimuth, orthographic, .. } = window.state().scene.navigation.camera;
    assert_eq!((pitch, azimuth, orthographic), (0.0, 0.0, 1.0));
    window.get_by_label("3-D view from the side (H)").click();
    window.run_steps(40);
    assert_eq!(window.state().scene.navigation.camera.azimuth, std::f32::consts::FRAC_PI_2, "the next side");
    window.get_by_label("Three-quarter 3-D view (G)").click();
    window.run_steps(40);
    let Camera { pitch, azimuth, orthographic, .. } = window.state().scene.navigation.camera;
    let default = Camera::default();
    assert_eq!((pitch, azimuth, orthographic), (default.pitch, default.azimuth, 0.0));
}

#[test]
fn the_terrain_keeps_its_share_of_the_pane_when_the_pane_changes() {
    let Some(mut window) = small_window() else { return };
    let reach = |window: &Harness<'static, SceneWindow>| {
        let scene = &window.state().scene;
        let scale = scene.scale(window.state().recipe.world.extent());
        let block = scale.block_y(scene.range_m(1.0));
        let projection = scene.navigation.camera.projection(scene.navigation.aspect, |_| f32::MIN);
        let half = scale.half_size();
        let mut reach: f32 = 0.0;
        for (x, y, z) in [-1.0, 1.0].into_iter().flat_map(|x| block.map(|y| [(x, y, -1.0), (x, y, 1.0)])).flatten() {
            let corner = glam::Vec3::new(x * half[0], y, z * half[1]);
            reach = reach.max(projection.project(corner).expect("in front of the camera").abs().max_element());
        }
        reach
    };
    for (label, sizes) in [
        ("Frame terrain (F)", [[480.0, 320.0], [480.0, 160.0], [300.0, 620.0], [900.0, 500.0]]),
        ("3-D view from above (T)", [[900.0, 500.0], [480.0, 160.0], [300.0, 620.0], [480.0, 320.0]]),
    ] {
        window.get_by_label(label).click();
        window.run_steps(40);
        for [width, height] in sizes {
            window.set_size(Vec2::new(width, height));
            window.run_steps(3);
            let reach = reach(&window);
            assert!(reach > 0.85 && reach <= 1.0, "{label}: {reach} of the pane at {width} × {height}");
        }
    }
    // Once the user has moved the camera, the centre stays, and the terrain keeps its size relative to the framed one.
    window.state_mut().scene.navigation.camera.zoom(3.0, glam::Vec3::new(0.1, 0.0, 0.1));
    window.state_mut().scene.navigation.is_framed = false;
    let before = window.state().scene.navigation.camera;
    window.set_size(Vec2::new(300.0, 620.0));
    window.run_steps(3);
    let tall = window.state().scene.navigation.camera;
    assert_eq!(tall.pivot, before.pivot);
    window.set_size(Vec2::new(480.0, 320.0));
    window.run_steps(3);
    let back = window.state().scene.navigation.camera;
    assert!((back.distance / before.distance - 1.0).abs() < 0.01, "{before:?}, {tall:?}, {back:?}");
}

#[test]
fn the_hint_covers_nothing_else_at_the_bottom_of_the_view() {
    let mut shown = [0, 0];
    // The sizes of the view in windows of 1280 × 800 and 640 × 360, with and without panels, and maximised.
    for (width, height) in [(680.0, 400.0), (1264.0, 690.0), (640.0, 145.0), (336.0, 145.0), (336.0, 60.0)] {
        let pane = Rect::from_min_size(Pos2::new(12.0, 30.0), Vec2::new(width, height));
        for share in [0.1, 0.3] {
            let size = Vec2::new(share * width + 16.0, 24.0);
            let bar = Rect::from_min_size(pane.left_bottom() + Vec2::new(8.0, -8.0 - size.y), size);
            let presets = Rect::from_min_max(pane.max - Vec2::new(192.0, 46.0), pane.max - Vec2::splat(10.0));
            let legend_rect = Rect::from_min_size(bar.left_top() - Vec2::new(0.0, 56.0), Vec2::new(156.0, 52.0));
            for legend in [None, Some(legend_rect)] {
                let size = Vec2::new(272.0, 20.0);
                let Some(at) = hint_position(pane, bar, legend, presets, size) else {
                    shown[0] += 1;
                    continue;
                };
                shown[1] += 1;
                let hint = Rect::from_min_size(at, size);
                let others = [Some(bar), Some(presets), legend];
                assert!(pane.contains_rect(hint), "{hint:?} in {pane:?}");
                assert!(others.into_iter().flatten().all(|other| !other.intersects(hint)), "{hint:?} in {pane:?}");
            }
        }
    }
    assert!(shown[0] > 0 && shown[1] >= 8, "{shown:?}");
}

#[test]
fn typing_the_water_level_is_one_edit() {
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
fn water_is_hidden_without_being_removed() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    pause(&mut editor);
    let water_m = |editor: &Harness<'static, App>| editor.state().document.project().water.water_m;
    let click = |editor: &mut Harness<'static, App>, name: &str| {
        editor.get_by_role_and_label(egui::accesskit::Role::Button, name).click();
        editor.run_steps(3);
    };
    let seen_m = |editor: &Harness<'static, App>| {
        let app = editor.state();
        app.ui.scene.visible_water_m(app.document.project().water.water_m)
    };
    click(&mut editor, "Add water");
    let level_m = water_m(&editor);
    assert!(level_m.is_some() && seen_m(&editor) == level_m);
    click(&mut editor, "Show water");
    assert_eq!((water_m(&editor), seen_m(&editor)), (level_m, None));
    // Another project shows its water.
    let file = editor.state().document.file();
    editor.state_mut().open_project("Open".into(), file, None);
    editor.run_steps(3);
    assert_eq!(seen_m(&editor), level_m);
    click(&mut editor, "Show water");
    let context = editor.ctx.clone();
    editor.state_mut().execute(&context, Command::WaterLevel);
    editor.run_steps(3);
    assert_eq!(seen_m(&editor), level_m);
    click(&mut editor, "Remove the water from the project");
    assert_eq!(water_m(&editor), None);
    editor.key_press_modifiers(egui::Modifiers::COMMAND, Key::Z);
    editor.run_steps(3);
    assert_eq!(water_m(&editor), level_m);
}
