//! Images and turntables of the view in files, and a lost device.

use super::*;
use crate::app::views::scene::render_task::{RenderOutcome, RenderTask};

#[test]
fn a_lost_device_is_replaced_and_draws_the_same() {
    if !can_draw() {
        return;
    }
    let (first, frame) = (render_state(), params().frame([96, 64], 0.0));
    let mut scene = ScenePane::default();
    scene.attach(Some(&first), no_wake);
    let render = |scene: &ScenePane| scene.gpu.renderer().expect("a renderer").render_image(&frame, &Progress::new());
    let before = render(&scene).expect("an image");
    scene.attach(Some(&first), no_wake);
    assert_eq!((counts(&scene).draws, scene.is_lost()), (1, false), "the same device is kept");
    first.device.destroy();
    let _ = first.device.poll(wgpu::PollType::Poll);
    assert!(scene.is_lost());
    assert!(render(&scene).is_err(), "an error and no panic");
    let second = render_state();
    scene.attach(Some(&second), no_wake);
    assert!(!scene.is_lost());
    assert_eq!(render(&scene), Ok(before));
}

#[test]
fn a_window_whose_device_is_lost_passes_its_document_to_the_next() {
    let app = || {
        let dialogs: Box<dyn crate::app::dialogs::file_dialogs::DialogBackend> = Box::new(Scripted::default());
        App::new(&egui::Context::default(), dialogs, None, UserFolders::default()).expect("threads")
    };
    let mut first = app();
    first.edit(|project| project.recipe.seed = 77);
    first.edit(|project| project.recipe.seed = 78);
    first.ui.scene.shading = ShadingMode::Clay;
    let ctx = egui::Context::default();
    first.close_after_device_loss(&ctx);
    assert!(first.ui.closing.is_confirmed(), "the window closes without asking");
    let snapshot = first.window.snapshot.borrow_mut().take().expect("a snapshot");
    assert_eq!(snapshot.reason, "the graphics device was lost");
    let mut second = app();
    second.adopt(snapshot);
    assert_eq!((second.document.project().recipe.seed, second.ui.scene.shading), (78, ShadingMode::Clay));
    second.execute(&ctx, Command::Undo);
    assert_eq!(second.document.project().recipe.seed, 77);
    // A panic of the windowing library in the middle of a frame.
    let window_snapshot = second.window.snapshot.clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let window = second;
        assert!(window.ui.closing.is_confirmed(), "the panic");
    }));
    let snapshot = window_snapshot.borrow_mut().take().expect("a snapshot");
    assert!(panicked.is_err() && snapshot.document.project().recipe.seed == 77);
    assert!(snapshot.reason.contains("an error in the program"), "{}", snapshot.reason);
}

/// A small terrain, seen by the default camera.
fn params() -> RenderParams {
    let recipe = faulted(3);
    let preview = preview(&recipe, 65);
    RenderParams::new((*preview.terrain).clone(), (*preview.albedo).clone(), recipe.light.clone(), None)
}

#[test]
fn a_turntable_begins_with_the_view_and_its_files_appear_when_it_is_complete() {
    if !can_draw() {
        return;
    }
    let folder = tempfile::tempdir().expect("folder");
    let (device, params) = (gpu_device(&render_state()), params());
    let start = |count| {
        let path = folder.path().join("land.png");
        RenderTask::start((device.clone(), params.clone()), [96, 64], Some(count), &path, no_wake()).expect("a thread")
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
    assert!(turntable.status().is_none(), "it has ended");
    assert_eq!(files.len(), 3);
    let read = |path: &std::path::PathBuf| image::open(path).expect("an image").to_rgb8();
    let first = params.for_turntable([96, 64]).frame([96, 64], 0.0);
    let single = offline_renderer().render_image(&first, &Progress::new()).expect("an image");
    let frames: Vec<_> = files.iter().map(read).collect();
    assert!(
        frames[0].pixels().zip(&single.pixels).all(|(found, pixel)| found.0 == pixel[..3]),
        "the first looks in the direction of the view"
    );
    assert!(frames[0] != frames[1] && frames[1] != frames[2] && frames[0] != frames[2]);

    files.iter().for_each(|path| std::fs::remove_file(path).expect("removed"));
    let long = start(900);
    while long.status().is_none_or(|status| status.fraction == 0.0) {
        std::thread::sleep(Duration::from_millis(1));
    }
    long.cancel();
    assert_eq!(outcome(&long), RenderOutcome::Cancelled);
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
}

#[test]
fn an_image_and_a_turntable_of_the_view_are_saved_in_the_chosen_sizes() {
    let folder = tempfile::tempdir().expect("folder");
    let scripted = Scripted::default();
    let answers = ["land", "turntable"].map(|name| chosen(folder.path().join(name)));
    scripted.answers.lock().expect("whole").extend(answers);
    let Some(mut editor) = editor(scripted) else { return };
    editor.render().expect("an image");
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::SaveRender);
    editor.run_steps(2);
    editor.get_by_label("Square").click();
    editor.run_steps(2);
    editor.get_by_label("Choose file…").click();
    wait(&mut editor, "the image", |app| {
        app.ui.message.as_ref().is_some_and(|message| message.text.starts_with("Saved"))
    });
    let image = image::open(folder.path().join("land.png")).expect("an image").to_rgb8();
    assert_eq!(image.dimensions(), (2048, 2048));
    // The terrain fills the square as it fills the pane.
    let (_, params) = editor.state().ui.scene.render_source([2048, 2048]).expect("a view");
    let (scale, seen) = (params.scale(), params.camera.expect("a camera"));
    let mut framed = seen;
    framed.frame(scale.half_size(), scale.block_y(params.range_m), 1.0);
    assert!((seen.distance / framed.distance - 1.0).abs() < 0.01, "{seen:?} and {framed:?}");
    let colours: std::collections::BTreeSet<[u8; 3]> = image.pixels().step_by(997).map(|pixel| pixel.0).collect();
    assert!(colours.len() > 200, "{} colours", colours.len());

    editor.state_mut().execute(&ctx, Command::SaveTurntable);
    editor.run_steps(2);
    editor.get_by_role_and_label(egui::accesskit::Role::SpinButton, "Frames");
    editor.state_mut().ui.modal = None;
    let purpose = crate::app::dialogs::file_dialogs::DialogPurpose::Image { size: [64, 48], frames: Some(2) };
    editor.state_mut().open_file_dialog(purpose);
    wait(&mut editor, "the turntable", |_| folder.path().join("turntable_001.png").is_file());
    for name in ["turntable_000.png", "turntable_001.png"] {
        assert_eq!(image::open(folder.path().join(name)).expect(name).to_rgb8().dimensions(), (64, 48));
    }
}
