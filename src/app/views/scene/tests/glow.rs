//! Glowing faults.

use super::*;

#[test]
fn faults_glow_while_the_playhead_moves_and_then_fade() {
    if !can_draw() {
        return;
    }
    let recipe = faulted(1);
    let mut window = window([480.0, 320.0], egui::Theme::Dark, &recipe, None);
    let mut seen = preview(&recipe, 65);
    for position in [30, 31] {
        let request = PreviewRequest { position, ..(*seen.request).clone() };
        seen.request = Arc::new(request);
        let now = window.ctx.input(|input| input.time);
        window.state_mut().scene.show(&seen, now);
        window.run_steps(2);
    }
    let glowing = |window: &Harness<'static, SceneWindow>| {
        window.state().scene.frame.as_ref().map(|frame| frame.glow.iter().map(|line| line.strength).sum::<f32>())
    };
    assert!(glowing(&window).is_some_and(|sum| sum > 1.0), "{:?}", glowing(&window));
    let sums: Vec<_> = (0..100)
        .map(|_| {
            window.step();
            glowing(&window)
        })
        .collect();
    assert!(sums.is_sorted_by(|a, b| a >= b) && sums[99] == Some(0.0), "they fade: {sums:?}");
    // After that nothing is drawn.
    window.run_steps(30);
    window.render().expect("an image");
    let before = counts(&window.state().scene);
    for _ in 0..3 {
        window.step();
        window.render().expect("an image");
        assert!(!window.ctx.has_requested_repaint(), "{:?}", window.ctx.repaint_causes());
    }
    assert_eq!(counts(&window.state().scene), before);
    // Switched off, none glow.
    window.get_by_label("Glowing faults").click();
    window.run_steps(2);
    seen.request = Arc::new(PreviewRequest { position: 32, ..(*seen.request).clone() });
    let now = window.ctx.input(|input| input.time);
    window.state_mut().scene.show(&seen, now);
    window.run_steps(2);
    assert_eq!(glowing(&window), Some(0.0));
}

#[test]
fn the_most_recent_faults_also_glow_on_the_maps() {
    let Some(mut editor) = editor(Scripted::default()) else { return };
    let map = editor.get_by_label("Heightmap of the terrain").rect();
    let glowing_pixels = |editor: &mut Harness<'static, App>| {
        let image = editor.render().expect("an image");
        let is_glowing = |[red, green, blue, _]: [u8; 4]| red > 180 && green < 160 && blue < 120;
        let within = |x: u32, y: u32| map.contains(Pos2::new(x as f32, y as f32));
        image.enumerate_pixels().filter(|(x, y, pixel)| within(*x, *y) && is_glowing(pixel.0)).count()
    };
    editor.run_steps(90);
    assert_eq!(glowing_pixels(&mut editor), 0, "at rest");
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::Seek(20));
    // Coarse or not: the glow begins to fade when the iteration is first shown.
    wait(&mut editor, "the terrain of iteration 20", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.position == 20)
    });
    editor.step();
    let found = glowing_pixels(&mut editor);
    assert!(found > 60, "{found} pixels");
}

#[test]
fn faults_glow_while_the_playhead_is_held_and_fade_after_its_release() {
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
    wait(&mut editor, "the terrain under the playhead", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| {
            !shown.coarse
                && shown.request.position == app.ui.playback.position(app.total())
                && app.ui.preview.requested().is_some()
        })
    });
    // Long after the glow would have faded.
    editor.run_steps(150);
    let held = glow(&editor);
    assert!(held > 1.0, "{held}");
    editor.render().expect("an image");
    let before = counts(&editor.state().ui.scene);
    let (deadline, mut quiet) = (Instant::now() + Duration::from_secs(30), 0);
    while quiet < 3 {
        editor.step();
        editor.render().expect("an image");
        quiet = if editor.ctx.has_requested_repaint() { 0 } else { quiet + 1 };
        assert!(Instant::now() < deadline, "{:?}", editor.ctx.repaint_causes());
    }
    assert_eq!(counts(&editor.state().ui.scene), before, "nothing is drawn while nothing changes");
    assert_eq!(glow(&editor), held);
    editor.drop_at(there);
    editor.run_steps(45);
    let fading = glow(&editor);
    assert!(fading < held && fading > 0.0, "{fading} of {held}");
    editor.run_steps(60);
    assert_eq!(glow(&editor), 0.0);
}
