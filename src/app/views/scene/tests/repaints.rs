//! Transitions, and that nothing is drawn at rest.

use egui::Key;

use super::*;

#[test]
fn on_a_hardware_renderer_the_terrain_and_the_camera_move_smoothly() {
    let Some(mut window) = small_window() else { return };
    window.render().expect("an image");
    window.state().scene.gpu.renderer().expect("a renderer").is_software = false;
    let now = window.ctx.input(|input| input.time);
    window.state_mut().scene.show(&preview(&faulted(2), 65), now);
    let mut blends = Vec::new();
    for _ in 0..20 {
        window.step();
        window.render().expect("an image");
        blends.extend(window.state().scene.frame.as_ref().map(|frame| frame.blend));
    }
    assert!(blends.is_sorted() && blends[0] < 0.2 && blends[5] > 0.2 && blends[5] < 1.0, "{blends:?}");
    assert_eq!(blends[19], 1.0);
    assert_eq!(counts(&window.state().scene).heights, 2, "one upload for the whole transition");

    window.get_by_label("3-D view from above (T)").click();
    window.run_steps(8);
    let pitch = window.state().scene.navigation.camera.pitch;
    assert!(pitch > 0.5 && pitch < 1.5, "in flight: {pitch}");
    window.run_steps(30);
    assert_eq!(window.state().scene.navigation.camera.pitch, std::f32::consts::FRAC_PI_2);
    window.run_steps(10);
    assert!(!window.ctx.has_requested_repaint(), "{:?}", window.ctx.repaint_causes());
}

#[test]
fn a_reduced_image_is_soon_followed_by_a_full_one() {
    let Some(mut window) = small_window() else { return };
    window.set_size(Vec2::new(900.0, 600.0));
    window.run_steps(40);
    window.render().expect("an image");
    let size = |window: &Harness<'static, SceneWindow>| window.state().scene.frame.as_ref().map(|frame| frame.size);
    assert_eq!(size(&window), Some([900, 600]));
    if !window.state().scene.gpu.is_software() {
        return;
    }
    let middle = Pos2::new(450.0, 300.0);
    window.drag_at(middle);
    window.step();
    window.hover_at(middle + Vec2::new(20.0, 0.0));
    window.step();
    let reduced = size(&window).expect("a frame");
    assert!(reduced[0] * reduced[1] < 80_000, "{reduced:?}");
    // Two frames at 60 per second until the full size, more until full detail.
    window.run_steps(2);
    assert_eq!(size(&window), Some([900, 600]));
    window.run_steps(15);
    assert!(window.state().scene.frame.as_ref().is_some_and(|frame| !frame.is_fast));
}

#[test]
fn at_rest_nothing_is_drawn_and_no_repaint_is_requested() {
    let Some(mut window) = small_window() else { return };
    window.render().expect("an image");
    window.run_steps(40);
    window.render().expect("an image");
    let before = counts(&window.state().scene);
    for _ in 0..5 {
        window.step();
        window.render().expect("an image");
        assert!(!window.ctx.has_requested_repaint(), "{:?}", window.ctx.repaint_causes());
    }
    assert_eq!(counts(&window.state().scene), before);
}

#[test]
fn the_editor_at_rest_requests_no_repaint_and_f_frames_the_terrain() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    // Wait until no fault glows.
    editor.run_steps(100);
    editor.render().expect("an image");
    let before = counts(&editor.state().ui.scene);
    let (deadline, mut quiet) = (Instant::now() + Duration::from_secs(30), 0);
    while quiet < 3 {
        editor.step();
        editor.render().expect("an image");
        // Thumbnails that arrive late cause repaints.
        quiet = if editor.ctx.has_requested_repaint() { 0 } else { quiet + 1 };
        assert!(Instant::now() < deadline, "{:?}", editor.ctx.repaint_causes());
    }
    assert_eq!(counts(&editor.state().ui.scene), before);
    let framed = editor.state().ui.scene.navigation.camera;
    let middle = editor.get_by_label("The terrain in 3-D").rect().center();
    editor.drag_at(middle);
    editor.step();
    editor.hover_at(middle + Vec2::new(30.0, 5.0));
    editor.step();
    editor.drop_at(middle + Vec2::new(30.0, 5.0));
    editor.step();
    editor.state_mut().ui.scene.navigation.camera.zoom(3.0, glam::Vec3::new(0.1, 0.0, 0.1));
    editor.step();
    editor.key_press(Key::F);
    editor.run_steps(60);
    let again = editor.state().ui.scene.navigation.camera;
    assert!(again.azimuth != framed.azimuth && (again.distance / framed.distance - 1.0).abs() < 0.2, "{again:?}");
    let moved = [0, 1, 2].map(|i| (again.pivot[i] - framed.pivot[i]).abs());
    assert_eq!(moved.map(|part| part < 0.1), [true; 3], "{again:?}");
}
