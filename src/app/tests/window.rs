//! The main window.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::dialogs::modal::Modal;
use crate::app::preview::thumbnails::ThumbnailState;
use crate::app::tasks::settings::UserFolders;
use crate::app::tests::{Scripted, can_draw, editor, pause, press, wait, wgpu_setup};
use crate::engine::Step;
use crate::engine::operations::faults::Faults;
use crate::engine::operations::thermal_erosion::ThermalErosion;

#[test]
fn closing_asks_to_save_a_project_that_a_new_one_replaced() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    assert!(!editor.state().document.is_dirty());
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
    editor.step();
    assert!(matches!(editor.state().ui.modal, Some(Modal::SaveFirst(_))));
}

#[test]
fn closing_shows_what_tells_unsaved_projects_of_one_name_apart() {
    let mut editor = editor();
    pause(&mut editor);
    for count in [21, 22] {
        press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
        editor.state_mut().edit(|project| {
            project.recipe.stack = vec![Step::new(Faults { count, ..Default::default() })];
        });
    }
    editor.state_mut().edit(|project| project.recipe.stack.push(Step::new(ThermalErosion::default())));
    // It has no edits.
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
    editor.run_steps(3);
    assert_eq!(editor.get_all_by_label_contains("Changed just now").count(), 2);
    editor.get_by_label("Changed just now. Steps: Faults");
    editor.get_by_label("Changed just now. Steps: Thermal erosion, Faults");
    let pictures = |app: &App| {
        let keys: Vec<&String> = app.services.thumbnails.keys().filter(|key| key.starts_with("unsaved ")).collect();
        let ready = |key: &&&String| matches!(app.services.thumbnails.get(key), Some(ThumbnailState::Ready(_)));
        [keys.len(), keys.iter().filter(ready).count()]
    };
    wait(&mut editor, "the pictures", |app| pictures(app) == [2, 2]);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    assert_eq!(pictures(editor.state()), [0, 0]);
}

#[test]
fn the_window_shows_a_grey_heightmap_and_a_coloured_texture() {
    if !can_draw() {
        return;
    }
    let mut editor = Harness::builder()
        .with_size([1280.0, 800.0])
        .with_theme(egui::Theme::Dark)
        .wgpu_setup(wgpu_setup())
        .build_eframe(|context| {
            App::new(&context.egui_ctx, Box::new(Scripted::default()), None, UserFolders::default()).expect("threads")
        });
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 129);
    pause(&mut editor);
    // Wait until no fault glows.
    editor.run_steps(12);
    let image = editor.render().expect("a preview");
    let pane = |name: &str| editor.get_by_label(name).rect();
    let (grey, colourful) = (pane("Heightmap of the terrain"), pane("Texture of the terrain"));
    let pixels = |rect: egui::Rect| {
        let middle = rect.center();
        (-60..60).flat_map(move |dy| (-60..60).map(move |dx| (middle.x as i32 + dx, middle.y as i32 + dy)))
    };
    let colour = |(x, y): (i32, i32)| image.get_pixel(x as u32, y as u32).0;
    let saturation = |[r, g, b, _]: [u8; 4]| r.max(g).max(b) - r.min(g).min(b);
    assert!(pixels(grey).all(|at| saturation(colour(at)) <= 2), "the heightmap is grey");
    let greys: std::collections::BTreeSet<u8> = pixels(grey).map(|at| colour(at)[0]).collect();
    assert!(greys.len() > 20, "and has a relief");
    let coloured = pixels(colourful).filter(|at| saturation(colour(*at)) > 10).count();
    assert!(coloured > 1000, "the texture has colours: {coloured}");
}

#[test]
fn a_lost_window_is_reopened_or_its_document_saved() {
    use crate::app::window::{AfterWindow, MAX_FAILED_WINDOWS, WindowEnd, after_window};
    assert_eq!(after_window(WindowEnd::Closed, false, 0), AfterWindow::Exit);
    assert_eq!(after_window(WindowEnd::Panicked, false, 1), AfterWindow::ExitWithFailure);
    assert_eq!(after_window(WindowEnd::NotOpened, false, 1), AfterWindow::ExitWithFailure, "no document was open");
    assert_eq!(after_window(WindowEnd::NotOpened, true, 2), AfterWindow::SaveRecovered, "no window can be opened");
    for ended in [WindowEnd::Closed, WindowEnd::Panicked] {
        assert_eq!(after_window(ended, true, MAX_FAILED_WINDOWS - 1), AfterWindow::Reopen);
        assert_eq!(after_window(ended, true, MAX_FAILED_WINDOWS), AfterWindow::SaveRecovered);
    }
}
