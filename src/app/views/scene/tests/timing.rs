//! The cost of a frame, as a measurement.

use super::*;
use crate::app::views::scene::pane::SHORT_REST_S;

/// CPU seconds of all threads of this process.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = |at: usize| stat.split(' ').nth(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    (ticks(13) + ticks(14)) / 100.0
}

/// Prints the cost of frames: `cargo test measure_frames -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure_frames() {
    for size in [[688.0, 430.0], [1328.0, 600.0]] {
        let mut window = preset("alpine-range", 513, size, egui::Theme::Dark);
        window.render().expect("an image");
        let mut measure = |what: &str, change: &mut dyn FnMut(&mut Harness<'static, SceneWindow>, u32)| {
            let (began, cpu_before) = (Instant::now(), cpu_s());
            for i in 0..10 {
                change(&mut window, i);
                window.render().expect("an image");
            }
            let (wall, cpu) = (began.elapsed().as_secs_f64() * 100.0, (cpu_s() - cpu_before) * 100.0);
            eprintln!("{size:?} {what}: {wall:.0} ms per frame, {cpu:.0} ms of CPU time");
        };
        measure("at rest", &mut |window, _| window.step());
        measure("at rest, turned", &mut |window, _| {
            window.state_mut().scene.navigation.camera.azimuth += 0.1;
            window.step();
        });
        measure("after a short rest, turned", &mut |window, _| {
            let now = window.ctx.input(|input| input.time);
            let scene = &mut window.state_mut().scene;
            scene.navigation.camera.azimuth += 0.1;
            scene.navigation.moved_at = now - SHORT_REST_S - 0.01;
            window.step();
        });
        let middle = Pos2::new(0.5 * size[0], 0.5 * size[1]);
        measure("orbiting", &mut |window, i| {
            if i == 0 {
                window.drag_at(middle);
                window.step();
            }
            window.hover_at(middle + Vec2::new(8.0 * i as f32, 0.0));
            window.step();
        });
        measure("a new terrain while orbiting", &mut |window, i| {
            let now = window.ctx.input(|input| input.time);
            let scene = &mut window.state_mut().scene;
            if let Some(shown) = &mut scene.shown {
                shown.terrain = Arc::new((*shown.terrain).clone());
                shown.colours = Arc::new((*shown.colours).clone());
            }
            scene.navigation.moved_at = now;
            window.hover_at(middle - Vec2::new(8.0 * i as f32, 0.0));
            window.step();
        });
    }
}
