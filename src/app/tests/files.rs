//! Opening, saving and importing files.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use crate::app::App;
use crate::app::commands::stack_edits::add_step;
use crate::app::commands::{Command, FileSlot};
use crate::app::dialogs::file_dialogs::DialogOutcome;
use crate::app::dialogs::modal::Modal;
use crate::app::tests::{chosen, editor, editor_with, pause, press, settle, type_of, wait};
use crate::engine::Step;
use crate::engine::operations::faults::Faults;
use crate::engine::operations::heightmap::Heightmap;
use crate::project::Project;

#[test]
fn a_saved_project_can_be_opened_again() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("fjord.upthrust.json");
    let mut editor = editor_with(vec![chosen(folder.path().join("fjord")), chosen(path.clone())]);
    pause(&mut editor);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    assert!(editor.state().document.is_dirty());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    assert_eq!(editor.state().document.path(), Some(path.as_path()));
    let saved = editor.state().document.project().clone();
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    assert!(editor.state().document.project().recipe.stack.is_empty());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::O);
    wait(&mut editor, "opening", |app| app.document.project().recipe.seed == 77);
    assert_eq!(editor.state().document.project().recipe, saved.recipe);
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn an_invalid_project_is_rejected_with_a_message() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("bad.upthrust.json");
    std::fs::write(&path, r#"{"format": 1, "recipe": {"stack": [{"operation": "faults", "coutn": 3}]}}"#)
        .expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::O);
    wait(&mut editor, "the message", |app| app.ui.message.as_ref().is_some_and(|message| message.is_error));
    let message = editor.state().ui.message.clone().expect("a message").text;
    assert!(message.contains("bad.upthrust.json") && message.contains("did you mean \"count\"?"), "{message}");
    assert_eq!(*editor.state().document.project(), before);
}

#[test]
fn a_path_field_replaces_an_unavailable_file_dialog() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("typed.upthrust.json");
    let mut editor = editor_with(vec![DialogOutcome::Unavailable]);
    pause(&mut editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::S);
    wait(&mut editor, "the path field", |app| matches!(app.ui.modal, Some(Modal::PathField(_))));
    if let Some(Modal::PathField(field)) = &mut editor.state_mut().ui.modal {
        field.path = path.display().to_string();
    }
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    wait(&mut editor, "saving", |app| app.ui.message.is_some());
    assert!(path.exists());
}

#[test]
fn a_step_with_an_invalid_file_shows_an_error_and_marks_the_preview() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        let file = project.import_file("empty.png", Vec::new());
        add_step(&mut project.recipe, Step::new(Heightmap { file, ..Default::default() }));
    });
    wait(&mut editor, "the message", |app| app.ui.preview.has_failed() && app.ui.message.is_some());
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| message.text.contains("empty.png")));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    settle(&mut editor);
    assert!(!editor.state().ui.preview.has_failed());
}

#[test]
fn an_opened_heightmap_gives_the_world_its_size_and_an_imported_one_asks() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("alps.asc");
    std::fs::write(&path, "ncols 3\nnrows 2\ncellsize 700\n1 2 3\n4 5 6\n").expect("written");
    let size = |editor: &Harness<'static, App>| {
        let world = &editor.state().document.project().recipe.world;
        (world.width_m, world.depth_m)
    };
    let mut editor = editor_with(vec![chosen(path.clone()), chosen(path.clone()), chosen(path)]);
    pause(&mut editor);
    let before = size(&editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::O);
    wait(&mut editor, "the heightmap", |app| app.document.undo_name().is_some());
    assert_eq!(size(&editor), (1400.0, 700.0));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(size(&editor), before);
    for (answer, expected) in [("Keep the world's size", before), ("Resize the world", (1400.0, 700.0))] {
        let context = editor.ctx.clone();
        editor.state_mut().execute(&context, Command::ImportHeightmap);
        wait(&mut editor, "the question", |app| app.ui.modal.is_some());
        editor.run_steps(2);
        assert_eq!(size(&editor), before);
        editor.get_by_label(answer).click();
        editor.run_steps(2);
        assert_eq!(size(&editor), expected);
    }
}

#[test]
fn an_imported_heightmap_in_metres_keeps_its_heights() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("dem.png");
    let pixels = |x: u32, y: u32| image::Luma([(236 + 10 * x + 20 * y) as u16]);
    image::ImageBuffer::from_fn(33, 33, pixels).save(&path).expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    let context = editor.ctx.clone();
    editor.state_mut().execute(&context, Command::ImportHeightmap);
    wait(&mut editor, "the import", |app| app.ui.message.as_ref().is_some_and(|m| m.text.contains("used as metres")));
    settle(&mut editor);
    let app = editor.state();
    let [low, high] = app.ui.preview.shown.as_ref().expect("a preview").terrain.min_max();
    assert!((low - 236.0).abs() < 0.1 && (high - 1196.0).abs() < 0.1, "{low} to {high}");
    assert_eq!(app.document.undo_name(), Some("Add dem.png"));
}

#[test]
fn a_chosen_file_is_rejected_if_its_target_has_changed() {
    let folder = tempfile::tempdir().expect("folder");
    let (moss, dem) = (folder.path().join("moss.png"), folder.path().join("dem.png"));
    image::RgbImage::from_pixel(8, 8, image::Rgb([9, 90, 9])).save(&moss).expect("written");
    image::GrayImage::from_pixel(9, 9, image::Luma([7])).save(&dem).expect("written");
    let (of_rock, of_import) = (FileSlot::Texture(1), FileSlot::Operation(0));
    let plain = |project: &mut Project| {
        project.recipe.stack = vec![Step::new(Heightmap::default()), Step::new(Faults::default())];
        project.recipe.texture.types = vec![type_of("Grass", ""), type_of("Rock", "")].into();
    };
    type Meanwhile = fn(&mut App);
    let cases: [(FileSlot, Meanwhile, Option<&str>); 8] = [
        (of_rock, |_| (), None),
        (of_import, |_| (), None),
        (of_rock, |app| app.edit(|project| project.recipe.texture.types.swap(0, 1)), Some("for which")),
        (of_rock, |app| app.edit(|project| drop(project.recipe.texture.types.pop())), Some("for which")),
        (of_import, |app| app.edit(|project| project.recipe.stack.swap(0, 1)), Some("for which")),
        (FileSlot::Mask(0), |app| app.edit(|project| project.recipe.stack.swap(0, 1)), Some("for which")),
        (FileSlot::Mask(0), |_| (), Some("is off")),
        (of_rock, |app| app.open_project("Copy".into(), app.document.file(), None), Some("another")),
    ];
    for (slot, meanwhile, refused) in cases {
        let path = if slot == of_rock { &moss } else { &dem };
        let mut editor = editor_with(vec![chosen(path.clone())]);
        editor.state_mut().edit(plain);
        pause(&mut editor);
        let context = editor.ctx.clone();
        editor.state_mut().execute(&context, Command::ChooseFile(slot));
        meanwhile(editor.state_mut());
        let before = editor.state().document.project().clone();
        wait(&mut editor, "the file", |app| app.ui.message.is_some());
        let message = editor.state().ui.message.clone().expect("a message");
        assert_eq!(message.is_error, refused.is_some(), "{message:?}");
        assert!(refused.is_none_or(|part| message.text.contains(part)), "{message:?}");
        assert_eq!(*editor.state().document.project() == before, refused.is_some(), "{slot:?}");
    }
}
