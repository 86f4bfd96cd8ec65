//! Opening, saving and importing files.

use std::path::Path;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::App;
use crate::app::commands::stack_edits::add_step;
use crate::app::commands::{Command, FileSlot};
use crate::app::dialogs::file_dialogs::DialogOutcome;
use crate::app::dialogs::modal::Modal;
use crate::app::tests::{
    accept_import, chosen, editor, editor_with, open_import_window, pause, press, settle, type_of, type_text, wait,
};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::faults::Faults;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::{Extent, Origin, Step};
use crate::files::formats::heightmap::decode;
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
fn the_window_of_the_editor_replaces_an_unavailable_file_dialog() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("typed.upthrust.json");
    let mut editor = editor_with(vec![DialogOutcome::Unavailable]);
    pause(&mut editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::S);
    wait(&mut editor, "the window", |app| app.ui.file_browser.is_some());
    editor.run_steps(3);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::A);
    type_text(&mut editor, &path.display().to_string());
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
fn a_heightmap_gives_the_world_its_size_if_the_user_wants() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("alps.asc");
    std::fs::write(&path, "ncols 3\nnrows 2\nxllcenter 2e6\nyllcenter 1e6\ncellsize 700\n1 2 3\n4 5 6\n")
        .expect("written");
    let size = |editor: &Harness<'static, App>| {
        let world = &editor.state().document.project().recipe.world;
        (world.width_m, world.depth_m)
    };
    let mut editor = editor_with(vec![chosen(path.clone()), chosen(path.clone()), chosen(path)]);
    pause(&mut editor);
    let before = size(&editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::O);
    accept_import(&mut editor);
    assert_eq!(size(&editor), (1400.0, 700.0));
    let project = editor.state().document.project();
    assert_eq!((project.name.as_str(), project.recipe.stack.len()), ("alps", 1), "a project of its own");
    assert_eq!(project.origin.as_ref().map(|origin| (origin.easting_m, origin.northing_m)), Some((2e6, 1e6)));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(size(&editor), before);
    editor.state_mut().edit(|project| {
        add_step(&mut project.recipe, Step::new(Faults::default()));
    });
    for (answer, expected) in [("Stretch the map over the world", before), ("Make the world", (1400.0, 700.0))] {
        let context = editor.ctx.clone();
        editor.state_mut().execute(&context, Command::ImportHeightmap);
        wait(&mut editor, "the window", |app| app.ui.modal.is_some());
        editor.run_steps(3);
        editor.get_by_label_contains(answer).click();
        editor.run_steps(3);
        assert_eq!(size(&editor), before, "nothing changes before the map is taken");
        accept_import(&mut editor);
        assert_eq!(size(&editor), expected);
    }
}

#[test]
fn a_map_that_resizes_the_world_brings_its_coordinates_or_their_absence() {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str| folder.path().join(name);
    let corner = |corner: &str| format!("ncols 3\nnrows 2\n{corner}cellsize 700\n1 2 3\n4 5 6\n");
    std::fs::write(path("placed.asc"), corner("xllcenter 2e6\nyllcenter 1e6\n")).expect("written");
    std::fs::write(path("plain.asc"), corner("")).expect("written");
    let mut editor = editor_with([path("placed.asc"), path("placed.asc"), path("plain.asc")].map(chosen).into());
    pause(&mut editor);
    let placed = Origin { easting_m: 2e6, northing_m: 1e6, ..Origin::default() };
    let other = Origin { easting_m: 5e5, ..Origin::default() };
    for (answer, expected, note) in [
        ("Stretch the map over the world", Some(&other), "coordinates of the map are not used"),
        ("Make the world", Some(&placed), "has the coordinates of the map"),
        ("Make the world", None, "no longer georeferenced"),
    ] {
        editor.state_mut().edit(|project| {
            project.recipe.world.set_extent(Extent { width_m: 5000.0, depth_m: 5000.0 });
            project.origin = Some(other.clone());
        });
        let context = editor.ctx.clone();
        editor.state_mut().execute(&context, Command::ImportHeightmap);
        wait(&mut editor, "the window", |app| app.ui.modal.is_some());
        editor.run_steps(3);
        editor.get_by_label_contains(answer).click();
        editor.run_steps(3);
        accept_import(&mut editor);
        let app = editor.state();
        assert_eq!(app.document.project().origin.as_ref(), expected, "{answer}");
        assert!(app.ui.message.as_ref().is_some_and(|message| message.text.contains(note)), "{:?}", app.ui.message);
    }
}

#[test]
fn a_headerless_file_of_unknown_size_is_read_as_the_window_says() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.raw");
    // 30 rows of 40 samples, which are also 24 rows of 50.
    let sample = |at: u32| (1000 + 10 * (at % 40) + 7 * (at / 40)) as u16;
    std::fs::write(&path, (0..1200).flat_map(|at| sample(at).to_be_bytes()).collect::<Vec<u8>>()).expect("written");
    let mut editor = editor_with(vec![chosen(path.clone()), chosen(path)]);
    pause(&mut editor);
    open_import_window(&mut editor);
    let reads = |app: &App, size| matches!(&app.ui.modal, Some(Modal::Import(dialog)) if dialog.size() == Some(size));
    editor.get_by_label_contains("40 × 30 samples is the best guess");
    assert!(reads(editor.state(), [40, 30]));
    // The other size fits too, but not with four bytes per sample.
    editor.get_by_label("Other sizes").click();
    editor.run_steps(3);
    editor.get_by_label("50 × 24").click();
    wait(&mut editor, "the other size", |app| reads(app, [50, 24]));
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::ComboBox, "Sample type").click();
    editor.run_steps(3);
    // The next choice does not wait for the file to be read.
    editor.get_by_label("16 bits, little-endian").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::ComboBox, "Sample type").click();
    editor.run_steps(3);
    editor.get_by_label("8 bits").click();
    wait(&mut editor, "a new guess", |app| !reads(app, [50, 24]));
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::ComboBox, "Sample type").click();
    editor.run_steps(3);
    editor.get_by_label("16 bits, big-endian").click();
    wait(&mut editor, "the first size", |app| reads(app, [40, 30]));
    accept_import(&mut editor);
    settle(&mut editor);
    let app = editor.state();
    let imported = app.document.project().recipe.stack.last().map(|step| &step.operation);
    let Some(AnyOperation::Heightmap(heightmap)) = imported else { panic!("a map") };
    assert_eq!(heightmap.file.0, "land.png", "a project does not store layouts");
    let [low, high] = app.ui.preview.shown.as_ref().expect("a preview").terrain.min_max();
    assert!((low - 1000.0).abs() < 0.1 && (high - f32::from(sample(1199))).abs() < 0.1, "{low} to {high}");

    // Cancelling changes nothing.
    let before = editor.state().document.project().clone();
    open_import_window(&mut editor);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    editor.run_steps(3);
    assert!(editor.state().ui.modal.is_none());
    assert_eq!(*editor.state().document.project(), before);
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
    accept_import(&mut editor);
    wait(&mut editor, "the import", |app| app.ui.message.as_ref().is_some_and(|m| m.text.contains("used as metres")));
    settle(&mut editor);
    let app = editor.state();
    let [low, high] = app.ui.preview.shown.as_ref().expect("a preview").terrain.min_max();
    assert!((low - 236.0).abs() < 0.1 && (high - 1196.0).abs() < 0.1, "{low} to {high}");
    assert_eq!(app.document.undo_name(), Some("Import dem.png"));
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
    let cases: [(FileSlot, Meanwhile, Option<&str>); 9] = [
        (of_rock, |_| (), None),
        (of_import, |_| (), None),
        (of_rock, |app| app.edit(|project| project.recipe.texture.types.swap(0, 1)), Some("for which")),
        (of_rock, |app| app.edit(|project| drop(project.recipe.texture.types.pop())), Some("for which")),
        (of_import, |app| app.edit(|project| project.recipe.stack.swap(0, 1)), Some("for which")),
        (
            FileSlot::Mask { owner: MaskOwner::Step(0), source: 0 },
            |app| app.edit(|project| project.recipe.stack.swap(0, 1)),
            Some("for which"),
        ),
        (FileSlot::Mask { owner: MaskOwner::Step(0), source: 0 }, |_| (), Some("was removed")),
        (FileSlot::Stamp { step: 0, stamp: 0 }, |_| (), Some("was removed")),
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
        if let (true, Some(part)) = (slot == of_import, refused) {
            // The window says it before anything is chosen in it.
            wait(&mut editor, "the window", |app| app.ui.modal.is_some());
            editor.run_steps(3);
            editor.get_by_label_contains(part);
            assert!(editor.get_by_role_and_label(Role::Button, "Import").accesskit_node().is_disabled());
            assert_eq!(*editor.state().document.project(), before);
            continue;
        }
        if slot == of_import {
            accept_import(&mut editor);
        }
        wait(&mut editor, "the file", |app| app.ui.message.is_some());
        let message = editor.state().ui.message.clone().expect("a message");
        assert_eq!(message.is_error, refused.is_some(), "{message:?}");
        assert!(refused.is_none_or(|part| message.text.contains(part)), "{message:?}");
        assert_eq!(*editor.state().document.project() == before, refused.is_some(), "{slot:?}");
    }
}

#[test]
fn a_file_in_metres_does_not_keep_the_range_of_the_one_that_it_replaces() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.r32");
    std::fs::write(&path, [-12.0_f32, 5.0, 900.0, 2300.0].map(f32::to_le_bytes).concat()).expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        let step = Heightmap { low_m: Some(0.0), high_m: Some(1000.0), ..Default::default() };
        project.recipe.stack = vec![Step::new(step)];
    });
    let context = editor.ctx.clone();
    editor.state_mut().execute(&context, Command::ChooseFile(FileSlot::Operation(0)));
    accept_import(&mut editor);
    let AnyOperation::Heightmap(heightmap) = &editor.state().document.project().recipe.stack[0].operation else {
        panic!("a map")
    };
    assert_eq!((heightmap.low_m, heightmap.high_m), (None, None));
}

#[test]
fn holes_and_a_header_are_as_the_window_says() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.r32");
    let heights = [30.0_f32, 20.0, 40.0, 50.0, -9999.0, 60.0, 70.0, 80.0, 90.0];
    std::fs::write(&path, [&[9; 6][..], heights.map(f32::to_le_bytes).as_flattened()].concat()).expect("written");
    let mut editor = editor_with(vec![chosen(path.clone()), chosen(path)]);
    pause(&mut editor);
    let shows = |app: &App, size| matches!(&app.ui.modal, Some(Modal::Import(dialog)) if dialog.size() == size);
    for (choice, middle_m) in [("Lowest height", 20.0), ("-9999 is a height", -9998.999)] {
        open_import_window(&mut editor);
        assert!(shows(editor.state(), None), "10½ samples are no map");
        editor.get_by_label("The bytes before the first sample").focus();
        editor.run_steps(2);
        editor.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        type_text(&mut editor, "6");
        press(&mut editor, egui::Modifiers::NONE, egui::Key::Tab);
        wait(&mut editor, "the samples", |app| shows(app, Some([3, 3])));
        editor.run_steps(3);
        editor.get_by_role_and_label(Role::ComboBox, "Holes").click();
        editor.run_steps(3);
        editor.get_by_label(choice).click();
        editor.run_steps(3);
        accept_import(&mut editor);
        let project = editor.state().document.project();
        let AnyOperation::Heightmap(heightmap) = &project.recipe.stack[0].operation else { panic!("a map") };
        let file = &heightmap.file;
        let stored = decode(Path::new(&file.0), &project.files[file], None).expect("readable");
        let mut expected = heights;
        expected[4] = middle_m;
        assert_eq!((file.0.as_str(), stored.raster.samples), ("land.exr", expected.to_vec()));
    }
}

#[test]
fn the_window_shows_the_real_range_of_integers_and_messages_name_the_users_file() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("hills.raw");
    // Signed metres around 0.
    let height = |at: i16| (300.0 * libm::sin(f64::from(at % 65) / 9.0) + f64::from(at / 65)) as i16;
    std::fs::write(&path, (0..65 * 65).flat_map(|at| height(at).to_le_bytes()).collect::<Vec<u8>>()).expect("written");
    let image = folder.path().join("dem.png");
    let pixels = |x: u32, y: u32| image::Luma([(10_000 + 300 * x + 20 * y) as u16]);
    image::ImageBuffer::from_fn(33, 33, pixels).save(&image).expect("written");
    let mut editor = editor_with(vec![chosen(path), chosen(image)]);
    pause(&mut editor);
    open_import_window(&mut editor);
    editor.get_by_label_contains("Its samples are read as signed");
    accept_import(&mut editor);
    let message = editor.state().ui.message.clone().expect("a message").text;
    assert!(message.starts_with("Opened hills.raw: "), "{message}");
    assert_eq!(editor.state().document.project().name, "hills");
    open_import_window(&mut editor);
    // Black is 0 m and white, 65535, is 1000 m.
    editor.get_by_label("152.59 to 308.84 m");
    editor.get_by_label_contains("Black is 0 m and white is 1000 m");
    let field = "The height of a pixel with the value 65535";
    editor.get_by_role_and_label(Role::SpinButton, field).focus();
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::A);
    type_text(&mut editor, "2000");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    editor.run_steps(3);
    editor.get_by_label("305.18 to 617.69 m");
    assert!(editor.query_by_label_contains("Black is 0 m").is_none(), "it does not hold any more");
    accept_import(&mut editor);
    let message = editor.state().ui.message.clone().expect("a message").text;
    assert!(message.contains("black is 0 m and white is 2000 m") && !message.contains("1000 m;"), "{message}");
}

#[test]
fn a_damaged_map_is_shown_in_its_window() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.asc");
    std::fs::write(&path, "ncols 3\nnrows 3\ncellsize 50\n1 2 3\n4").expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    open_import_window(&mut editor);
    editor.get_by_label_contains("this file is cut short: it has 4 of the 9 heights of 3 × 3; copy it again");
    assert!(editor.get_by_role_and_label(Role::Button, "Open").accesskit_node().is_disabled());
}

#[test]
fn an_import_that_fails_keeps_the_window_and_its_choices() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.raw");
    let sample = |at: u16| (1000 + 10 * (at % 40) + 7 * (at / 40)).to_le_bytes();
    let bytes: Vec<u8> = (0..1200).flat_map(sample).collect();
    std::fs::write(&path, &bytes).expect("written");
    let mut editor = editor_with(vec![chosen(path.clone())]);
    pause(&mut editor);
    open_import_window(&mut editor);
    // The file disappears before it is converted.
    std::fs::remove_file(&path).expect("removed");
    editor.get_by_role_and_label(Role::Button, "Open").click();
    editor.run_steps(3);
    wait(&mut editor, "the file tasks", |app| app.services.file_tasks.is_idle());
    editor.run_steps(3);
    editor.get_by_label_contains("/land.raw");
    assert!(editor.get_by_role_and_label(Role::Button, "Open").accesskit_node().is_disabled());
    // It can be read in another way.
    std::fs::write(&path, &bytes).expect("written");
    editor.get_by_label("Flip north and south").click();
    let reads = |app: &App| matches!(&app.ui.modal, Some(Modal::Import(dialog)) if dialog.size() == Some([40, 30]));
    wait(&mut editor, "the file", reads);
    accept_import(&mut editor);
    assert_eq!(editor.state().document.project().name, "land");
}

#[test]
fn a_cancelled_import_window_stays_closed() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.raw");
    std::fs::write(&path, [7; 2 * 1200]).expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    open_import_window(&mut editor);
    editor.get_by_role_and_label(Role::ComboBox, "Sample type").click();
    editor.run_steps(3);
    editor.get_by_label("8 bits").click();
    editor.step();
    // Wherever the button is when the file has been read.
    editor.get_by_role_and_label(Role::Button, "Cancel").click_accesskit();
    wait(&mut editor, "the file tasks", |app| app.services.file_tasks.is_idle());
    editor.run_steps(10);
    assert!(editor.state().ui.modal.is_none());
}

#[test]
fn the_note_about_a_new_seed_disappears_with_the_next_edit() {
    let mut editor = editor_with(Vec::new());
    pause(&mut editor);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::N);
    let message =
        |editor: &Harness<'static, App>| editor.state().ui.message.as_ref().map(|message| message.text.clone());
    assert!(message(&editor).is_some_and(|text| text.starts_with("New seed")), "{:?}", message(&editor));
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::N);
    assert_eq!(message(&editor), None);
}

#[test]
fn a_note_about_an_edit_disappears_when_the_edit_is_undone() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.asc");
    std::fs::write(&path, "ncols 3\nnrows 2\ncellsize 700\n1 2 3\n4 5 6\n").expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::ImportHeightmap);
    accept_import(&mut editor);
    let text = |editor: &Harness<'static, App>| editor.state().ui.message.as_ref().map(|message| message.text.clone());
    assert!(text(&editor).is_some_and(|text| text.starts_with("Imported land.asc")), "{:?}", text(&editor));
    // A later edit and its undoing leave the note.
    editor.state_mut().edit(|project| project.recipe.seed += 1);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert!(text(&editor).is_some());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(text(&editor), None);
    // A message about something else stays.
    editor.state_mut().edit(|project| project.recipe.seed += 1);
    editor.state_mut().show_message("Saved land.upthrust.json");
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert!(text(&editor).is_some());
}
