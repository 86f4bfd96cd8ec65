//! The export dialog, driven by labels.

use crate::app::App;
use crate::app::dialogs::modal::Modal;
use crate::project::{Project, ProjectFile};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::app::dialogs::file_dialogs::DialogOutcome;
use crate::app::tests::{accept_import, chosen, editor, editor_with, pause, press, type_text, wait};
use crate::engine::parameters::Band;

/// An idle editor with the export dialog open and this folder chosen.
fn exporting(answers: Vec<DialogOutcome>, folder: &Path, samples: u32) -> Harness<'static, App> {
    let mut editor = editor_with(answers);
    pause(&mut editor);
    editor.state_mut().edit(|project| project.name = "Alpine range (2)".into());
    editor.state_mut().edit_settings(|settings| {
        (settings.export.samples, settings.export.texture_pixels) = (samples, 32);
    });
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::E);
    editor.state_mut().ui.export.set_folder(folder);
    editor.run_steps(4);
    editor
}

/// Opens the dialog again, so that everything is checked again.
fn open_again(editor: &mut Harness<'static, App>) {
    let project_id = editor.state().document.project_id();
    editor.state_mut().ui.export.open(project_id);
}

fn choose(editor: &mut Harness<'static, App>, target: &str) {
    editor.get_by_role_and_label(Role::ComboBox, "Target").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, target).click();
    editor.run_steps(3);
}

/// Waits until the disk has been checked.
#[track_caller]
fn wait_for_check(editor: &mut Harness<'static, App>) {
    for _ in 0..2000 {
        editor.step();
        if editor.query_by_label("Checking the folder").is_none() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the folder was not checked");
}

fn is_enabled(editor: &Harness<'static, App>, button: &str) -> bool {
    !editor.get_by_role_and_label(Role::Button, button).accesskit_node().is_disabled()
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[track_caller]
fn export(editor: &mut Harness<'static, App>) {
    export_with(editor, "Export");
}

/// Exports with the main button of this name.
#[track_caller]
fn export_with(editor: &mut Harness<'static, App>, button: &str) {
    wait_for_check(editor);
    editor.get_by_role_and_label(Role::Button, button).click();
    wait(editor, "the export", |app| app.ui.message.as_ref().is_some_and(|m| m.text.starts_with("Exported")));
    editor.run_steps(8);
}

#[test]
fn the_unity_target_lists_files_sizes_and_import_steps() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), &folder.path().join("new"), 1000);
    choose(&mut editor, "Unity");
    wait_for_check(&mut editor);
    editor.get_by_label("Unity takes powers of two plus 1; exports 1025 samples");
    let megabytes = |count: f64| format!("{:.1} MB", (count + 4096.0) / 1e6);
    let raw = megabytes(1025.0 * 1026.0 * 2.0);
    editor.get_by_label(&format!("height.raw, 1025 × 1025, up to {raw}"));
    editor.get_by_label(&format!("weights_RGBA_0.png, 1024 × 1024, up to {}", megabytes(1024.0 * 1025.0 * 4.0)));
    let width = editor.state().document.project().recipe.world.extent().width_m;
    editor.get_by_label_contains(&format!("Terrain Width {width}, Terrain Length {width}, Terrain Height about "));
    assert_eq!(editor.query_all_by_label_contains("water level is").count(), 0);
    editor.state_mut().edit(|project| project.water.water_m = Some(12.5));
    editor.run_steps(3);
    editor.get_by_label_contains(". The water level is y = 12.5 m.");
    editor.get_by_label_contains("Depth Bit 16, Resolution 1025, Byte Order Windows");
    editor.get_by_label_contains("new will be created");
    assert!(is_enabled(&editor, "Export"));
    assert_eq!(editor.state().document.settings().export.samples, 1000, "other targets use the chosen size");
    editor.get_by_role_and_label(Role::Button, "513").click();
    editor.run_steps(3);
    assert_eq!(editor.state().document.settings().export.samples, 513);
    editor.get_by_label_contains("height.raw, 513 × 513");
    assert!(names(folder.path()).is_empty(), "a check writes nothing");
}

#[test]
fn listed_files_are_written_and_import_notes_can_be_copied() {
    let folder = tempfile::tempdir().expect("folder");
    let into = folder.path().join("a/b");
    let mut editor = exporting(Vec::new(), &into, 33);
    choose(&mut editor, "Unity");
    editor.state_mut().ui.export.choose_tiles([2, 1]);
    editor.run_steps(3);
    wait_for_check(&mut editor);
    let listed = editor.state().ui.export.listed(
        editor.state().document.project(),
        &editor.state().document.settings().export,
        &into,
    );
    for (line, _, _) in &listed {
        editor.get_by_label(line);
    }
    export(&mut editor);
    // The helper has a folder of its own.
    let (helper, mut planned): (Vec<String>, Vec<String>) =
        listed.iter().map(|(_, name, _)| name.clone()).partition(|name| name.ends_with(".cs") || name == "README.md");
    planned.push("Upthrust~".into());
    planned.sort();
    assert_eq!(names(&into), planned);
    assert_eq!(names(&into.join("Upthrust~")).len(), helper.len());
    assert!(planned.contains(&"height_1_0.raw".to_string()), "{planned:?}");
    for (line, name, most) in &listed {
        let folder = if helper.contains(name) { into.join("Upthrust~") } else { into.clone() };
        let length = std::fs::metadata(folder.join(name)).expect(name).len();
        assert!(most.is_some_and(|most| length <= most), "{line}: {length}");
    }
    editor.get_by_label_contains(&format!("{} files in ", listed.len()));
    assert!(is_enabled(&editor, "Open folder"));
    // The status bar behind the dialog has the same button.
    let button = editor.get_all_by_role_and_label(Role::Button, "Copy import steps").last();
    button.expect("in the window").click_accesskit();
    editor.step();
    let copied = editor.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.expect("copied");
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Copied");
    // The notes are also available when the dialog is closed.
    editor.get_by_role_and_label(Role::Button, "Close").click();
    editor.run_steps(8);
    editor.get_by_role_and_label(Role::Button, "Copy import steps").click_accesskit();
    editor.step();
    let is_copied = |editor: &Harness<'static, App>| {
        let commands = &editor.output().platform_output.commands;
        commands.iter().any(|command| matches!(command, egui::OutputCommand::CopyText(text) if *text == copied))
    };
    assert!(is_copied(&editor));
    editor.step();
    editor.get_by_label("File").click();
    editor.run_steps(3);
    editor.get_by_label("Copy engine import steps").click_accesskit();
    editor.step();
    assert!(is_copied(&editor));
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| message.text == "Copied the import steps"));
    let sidecar = std::fs::read_to_string(into.join("height_0_0.raw.json")).expect("sidecar");
    let sidecar: serde_json::Value = serde_json::from_str(&sidecar).expect("JSON");
    let text = sidecar.to_string();
    let step = copied.lines().find(|line| line.contains("Terrain Width")).expect("the size");
    let (width, _) = step.split_once(" and Heightmap").expect("the numbers");
    assert!(text.contains(width), "the sidecar has the same numbers: {width}");
}

#[test]
fn the_dialog_does_not_move_when_checks_are_done() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 33);
    choose(&mut editor, "Unity");
    let place = |editor: &Harness<'static, App>| {
        ["Export", "Cancel"].map(|name| editor.get_by_role_and_label(Role::Button, name).rect())
    };
    let wait = |editor: &mut Harness<'static, App>| {
        let is_tried = |editor: &Harness<'static, App>| editor.query_by_label_contains("estimating").is_none();
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_tried(editor) && Instant::now() < deadline {
            editor.step();
        }
        assert!(is_tried(editor));
    };
    // The first estimate is done.
    wait(&mut editor);
    open_again(&mut editor);
    editor.step();
    editor.get_by_label("Checking the folder");
    editor.get_by_label_contains("Takes … (estimating)");
    let before = place(&editor);
    wait_for_check(&mut editor);
    wait(&mut editor);
    editor.run_steps(3);
    assert_eq!(place(&editor), before);
}

#[test]
fn every_target_can_be_chosen_and_lists_its_files() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 1000);
    for target in crate::files::targets::ALL {
        choose(&mut editor, target.label);
        wait_for_check(&mut editor);
        let listed = editor.state().ui.export.listed(
            editor.state().document.project(),
            &editor.state().document.settings().export,
            folder.path(),
        );
        assert!(listed[0].0.starts_with(target.heightmaps[0].0), "{listed:?}");
        editor.get_by_label(&listed[0].0);
        assert!(is_enabled(&editor, "Export"), "{}", target.key);
    }
}

#[test]
fn a_target_is_chosen_with_the_keyboard_and_nothing_is_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut editor = exporting(Vec::new(), folder.path(), 33);
    let list = |editor: &Harness<'static, App>| editor.get_by_role_and_label(Role::ComboBox, "Target").value();
    let before = list(&editor);
    editor.get_by_role_and_label(Role::ComboBox, "Target").focus();
    editor.run_steps(2);
    for key in [egui::Key::Enter, egui::Key::ArrowDown, egui::Key::ArrowDown, egui::Key::Enter] {
        press(&mut editor, egui::Modifiers::NONE, key);
        editor.run_steps(2);
    }
    assert_ne!(list(&editor), before);
    let other_targets = editor.query_all_by_role_and_label(Role::Button, "Terrain3D (Godot)").count();
    assert_eq!(other_targets, 0, "the list is closed");
    // The list has the focus, and not the button that exports.
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    editor.run_steps(2);
    assert!(editor.query_by_role_and_label(Role::Button, "Terrain3D (Godot)").is_some(), "the list is open again");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn an_impossible_folder_is_reported_before_export() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("file"), "mine").expect("written");
    let mut editor = exporting(Vec::new(), &folder.path().join("file/sub"), 33);
    wait_for_check(&mut editor);
    editor.get_by_label_contains("is a file, so it cannot be a folder");
    assert!(!is_enabled(&editor, "Export"));
    editor.state_mut().ui.export.set_folder(Path::new(""));
    editor.run_steps(3);
    editor.get_by_label("Type or choose a folder.");
    assert!(!is_enabled(&editor, "Export"));
}

#[test]
fn the_button_says_how_many_files_it_replaces_and_replaces_no_others() {
    let folder = tempfile::tempdir().expect("folder");
    let mine = folder.path().join("alpine-range-2_texture.png");
    std::fs::write(&mine, "mine").expect("written");
    let mut editor = exporting(vec![chosen(folder.path().to_path_buf())], Path::new("elsewhere"), 65);
    editor.get_by_label("Choose folder…").click();
    editor.run_steps(4);
    wait_for_check(&mut editor);
    editor.get_by_label("alpine-range-2_texture.png exists and will be replaced.");
    assert!(editor.query_by_role_and_label(Role::Button, "Export").is_none(), "nothing is replaced silently");
    export_with(&mut editor, "Export and replace 1 file");
    let size = |name: &str| image::image_dimensions(folder.path().join(name)).expect(name);
    assert_eq!((size("alpine-range-2.png"), size("alpine-range-2_texture.png")), ((65, 65), (32, 32)));
    let all = ["alpine-range-2.png", "alpine-range-2.png.json", "alpine-range-2_texture.png"];
    assert_eq!(names(folder.path()), all);
    editor.get_by_label("Another export…").click();
    editor.run_steps(3);
    wait_for_check(&mut editor);
    editor.get_by_label("3 of these files exist and will be replaced.");
    // A file that another program writes after the check was not named.
    let (mine, more) = (folder.path().join("alpine-range-2.png"), folder.path().join("alpine-range-2.png.json"));
    std::fs::remove_file(&more).expect("removed");
    open_again(&mut editor);
    editor.run_steps(2);
    wait_for_check(&mut editor);
    std::fs::write(&more, "mine").expect("written");
    let before = std::fs::read(&mine).expect("exported");
    editor.get_by_role_and_label(Role::Button, "Export and replace 2 files").click();
    wait(&mut editor, "the error", |app| app.ui.message.as_ref().is_some_and(|message| message.is_error));
    assert_eq!((std::fs::read(&mine).expect("kept"), std::fs::read(&more).expect("kept")), (before, b"mine".to_vec()));
}

#[test]
fn nothing_moves_in_the_export_dialog_and_all_of_it_is_in_the_window() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 33);
    let place = |editor: &Harness<'static, App>, role, label: &str| editor.get_by_role_and_label(role, label).rect();
    let target = |editor: &Harness<'static, App>| place(editor, Role::ComboBox, "Target");
    let cancel = |editor: &Harness<'static, App>| place(editor, Role::Button, "Cancel");
    let [at, below] = [target(&editor), cancel(&editor)];
    let check = |editor: &mut Harness<'static, App>, what: &str| {
        // The first frame already has the final layout.
        for frame in 0..3 {
            let moved = [(target(editor), at), (cancel(editor), below)].map(|(now, before)| now.min - before.min);
            assert!(moved.iter().all(|by| by.length() < 0.5), "{what}, frame {frame}: {moved:?}");
            editor.step();
        }
    };
    for name in ["Unity", "Terrain3D (Godot)", "All formats, for any program", "Blender"] {
        choose(&mut editor, name);
        check(&mut editor, name);
    }
    // A note about the view.
    let folder_field = |editor: &Harness<'static, App>| place(editor, Role::TextInput, "Folder");
    let field = folder_field(&editor);
    let total = editor.state().total();
    editor.state_mut().ui.playback.seek(7, total);
    wait(&mut editor, "iteration 7", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.position == 7)
    });
    editor.step();
    editor.get_by_label_contains("The view shows iteration 7");
    check(&mut editor, "a note");
    assert_eq!(folder_field(&editor), field);
    // An error.
    editor.state_mut().ui.export.set_folder(Path::new(""));
    editor.step();
    editor.get_by_label("Type or choose a folder.");
    check(&mut editor, "an error");
    assert_eq!(folder_field(&editor), field);
    editor.state_mut().ui.export.set_folder(folder.path());
    for size in [[1920.0, 1080.0], [1280.0, 800.0], [640.0, 360.0]] {
        editor.set_size(size.into());
        editor.run_steps(4);
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size.into());
        for button in ["Cancel", "Copy as command line"] {
            assert!(screen.contains_rect(place(&editor, Role::Button, button)), "{button}, {size:?}");
        }
        assert!(screen.contains_rect(target(&editor)), "{size:?}");
    }
}

#[test]
fn warnings_are_complete_in_windows_of_usual_sizes() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 513);
    editor.state_mut().edit(|project| {
        project.recipe.world.set_extent(crate::engine::Extent { width_m: 2000.0, depth_m: 1400.0 });
    });
    for size in [[1280.0, 800.0], [1920.0, 1080.0]] {
        editor.set_size(size.into());
        editor.run_steps(4);
        for (target, tiles) in [("CRYENGINE", [3, 2]), ("Terrain3D (Godot)", [1, 1])] {
            choose(&mut editor, target);
            editor.state_mut().ui.export.choose_tiles(tiles);
            editor.run_steps(4);
            let cost = editor.get_by_label_contains("of memory").rect();
            let warnings = ["has the same sample spacing", "supports sample spacings"];
            let shown: Vec<egui::Rect> = warnings
                .iter()
                .flat_map(|text| editor.query_all_by_label_contains(text))
                .map(|node| node.rect())
                .collect();
            assert!(target != "CRYENGINE" || shown.len() == 2, "{shown:?}");
            assert!(
                shown.iter().all(|warning| warning.bottom() <= cost.top()),
                "{target}, {size:?}: {shown:?}, {cost:?}"
            );
            let button = editor.get_by_role_and_label(Role::Button, "Cancel").rect();
            assert!(button.bottom() < size[1], "{target}: {button:?}");
        }
    }
}

#[test]
fn the_report_is_complete_at_once_and_enter_closes_it() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 33);
    choose(&mut editor, "Unity");
    wait_for_check(&mut editor);
    editor.get_by_role_and_label(Role::Button, "Export").click();
    wait(&mut editor, "the export", |app| app.ui.message.as_ref().is_some_and(|m| m.text.starts_with("Exported")));
    // The first frame measures the contents.
    editor.run_steps(2);
    let place = |editor: &Harness<'static, App>| {
        let close = editor.get_by_role_and_label(Role::Button, "Close").rect();
        (
            editor.get_by_label("Exported").rect(),
            close,
            editor.get_by_label_contains("alphamaps").rect().bottom() < close.top(),
        )
    };
    let before = place(&editor);
    editor.run_steps(6);
    assert_eq!(place(&editor), before);
    assert!(before.2, "all steps are in view");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none());
    // The message stays in the status bar, and the next dialog does not show it again.
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| !message.is_of_dialog));
}

#[test]
fn the_size_that_is_shown_is_the_exported_one() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 1025);
    let is_on = |editor: &Harness<'static, App>, side: &str| {
        let button = editor.get_by_role_and_label(Role::Button, side);
        button.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    choose(&mut editor, "Unreal");
    assert!(is_on(&editor, "1009"));
    editor.state_mut().ui.export.choose_tiles([3, 2]);
    editor.run_steps(4);
    let grid =
        |app: &App| app.ui.export.grid(app.document.project().recipe.world.extent(), &app.document.settings().export);
    let exported = grid(editor.state()).width();
    assert!(exported != 1009 && is_on(&editor, &exported.to_string()), "{exported}");
    assert!(editor.query_by_role_and_label(Role::Button, "1009").is_none(), "it does not suit the tiles");
    choose(&mut editor, "Terrain3D (Godot)");
    editor.state_mut().ui.export.choose_tiles([1, 1]);
    editor.run_steps(4);
    editor.get_by_label_contains("exports 1024 samples");
    let samples = editor.get_by_role_and_label(Role::SpinButton, "Samples").accesskit_node().numeric_value();
    assert_eq!(samples, Some(1024.0));
    assert_eq!(editor.state().document.settings().export.samples, 1025, "other targets use the chosen size");
    // A square world in 3 × 2 tiles.
    editor.state_mut().ui.export.choose_tiles([3, 2]);
    editor.run_steps(4);
    editor.get_by_label("Use 1152 samples").click();
    editor.run_steps(4);
    editor.get_by_label("Exports 1152 × 1152 samples in all, 384 × 576 per tile");
    assert!(editor.query_by_label_contains("has the same sample spacing").is_none());
}

#[test]
fn another_project_has_its_own_folder_and_no_tiles() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 33);
    editor.state_mut().ui.export.choose_tiles([3, 2]);
    editor.run_steps(3);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    let path = folder.path().join("flat.upthrust.json");
    let file = ProjectFile::new(Project::default());
    editor.state_mut().open_project("Open".into(), file, Some(path));
    pause(&mut editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::E);
    editor.run_steps(3);
    let field = editor.get_by_role_and_label(Role::TextInput, "Folder").accesskit_node().value();
    assert_eq!(field, Some(folder.path().join("flat").display().to_string()), "named after its file");
    assert_eq!(editor.get_by_label("Columns of tiles").accesskit_node().numeric_value(), Some(1.0));
}

#[test]
fn the_row_of_the_exported_samples_is_always_there() {
    let mut editor = exporting(Vec::new(), Path::new("elsewhere"), 65);
    let field = |editor: &Harness<'static, App>| editor.get_by_role_and_label(Role::TextInput, "Folder").rect();
    let before = field(&editor);
    editor.get_by_label("Exports 65 samples");
    editor.state_mut().ui.export.choose_tiles([3, 3]);
    editor.run_steps(3);
    editor.get_by_label("Tiles share their edges; exports 64 × 64 samples in all, 22 × 22 per tile");
    assert_eq!(field(&editor), before);
}

#[test]
fn the_last_export_is_repeated_with_one_press() {
    const SHIFT_COMMAND: egui::Modifiers = egui::Modifiers::COMMAND.plus(egui::Modifiers::SHIFT);
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 65);
    choose(&mut editor, "Blender");
    export(&mut editor);
    let message = |editor: &Harness<'static, App>| editor.state().ui.message.clone().expect("a message").text;
    assert!(message(&editor).contains(" s"), "{}", message(&editor));
    editor.get_by_role_and_label(Role::Button, "Close").click();
    editor.run_steps(8);
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let (heights, written) = (read("height.exr"), names(folder.path()));
    let again = |editor: &mut Harness<'static, App>| {
        editor.state_mut().ui.message = None;
        press(editor, SHIFT_COMMAND, egui::Key::E);
        wait(editor, "the export", |app| app.ui.message.is_some());
        assert!(editor.state().ui.modal.is_none(), "no dialog is opened");
        message(editor)
    };
    assert!(again(&mut editor).starts_with("Nothing has changed since the last export"));
    editor.state_mut().edit(|project| project.recipe.seed += 1);
    let text = again(&mut editor);
    assert!(text.starts_with("Exported ") && text.contains(" s"), "{text}");
    assert_ne!(read("height.exr"), heights);
    assert_eq!(names(folder.path()), written);
    // Another project has not been exported yet, so there is nothing to repeat, and nothing is replaced.
    let heights = read("height.exr");
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    pause(&mut editor);
    press(&mut editor, SHIFT_COMMAND, egui::Key::E);
    editor.run_steps(4);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Export)));
    assert_eq!(read("height.exr"), heights);
}

#[test]
fn textures_for_engines_have_powers_of_two() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("out");
    let mut editor = exporting(Vec::new(), &out, 65);
    editor.state_mut().edit_settings(|settings| settings.export.texture_pixels = 1000);
    choose(&mut editor, "Blender");
    assert!(editor.query_by_role_and_label(Role::Slider, "Texture pixels").is_some(), "any size");
    choose(&mut editor, "Unreal");
    assert!(editor.query_by_role_and_label(Role::Slider, "Texture pixels").is_none());
    editor.get_by_label("Unreal streams only textures of powers of two; exports 1024 × 1024 pixels");
    editor.get_by_role_and_label(Role::Button, "512").click_accesskit();
    editor.run_steps(3);
    editor.get_by_label("Unreal streams only textures of powers of two; exports 512 × 512 pixels");
    export(&mut editor);
    let texture = image::open(out.join("texture.png")).expect("a texture");
    assert_eq!((texture.width(), texture.height()), (512, 512));
}

#[test]
fn the_command_line_of_a_saved_project_is_copied() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), &folder.path().join("out"), 65);
    choose(&mut editor, "Unreal");
    assert!(!is_enabled(&editor, "Copy as command line"), "the project has no file yet");
    let path = folder.path().join("my land.upthrust.json");
    let file = editor.state().document.file();
    editor.state_mut().document.replace("Open".into(), file, Some(path.clone()));
    editor.run_steps(4);
    editor.get_by_role_and_label(Role::Button, "Copy as command line").click_accesskit();
    editor.step();
    let copied = editor.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let out = folder.path().join("out");
    let expected = format!(
        "upthrust build '{}' --for unreal -o {} --size 127 --texture-size 32x32",
        path.display(),
        out.display()
    );
    assert_eq!(copied, Some(expected));
}

#[test]
fn without_a_file_dialog_the_folder_is_chosen_in_the_editor() {
    let folder = tempfile::tempdir().expect("folder");
    let chosen = folder.path().join("game").display().to_string();
    let mut editor = exporting(vec![DialogOutcome::Unavailable], Path::new("elsewhere"), 33);
    editor.get_by_label("Choose folder…").click();
    wait(&mut editor, "the window", |app| app.ui.file_browser.is_some());
    editor.run_steps(3);
    type_text(&mut editor, &chosen);
    editor.get_by_role_and_label(Role::Button, "Choose folder").click();
    editor.run_steps(8);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Export)), "the export dialog stays open below");
    let field = editor.get_by_role_and_label(Role::TextInput, "Folder");
    assert_eq!(field.accesskit_node().value(), Some(chosen));
}

/// A file that is dropped on the window.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn a_dropped_file_is_opened() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("dropped.upthrust.json");
    let project = Project { name: "Dropped".into(), ..Project::default() };
    std::fs::write(&path, ProjectFile::new(project).to_json()).expect("written");
    let mut editor = editor();
    pause(&mut editor);
    editor.input_mut().dropped_files.push(std::sync::Arc::new(Dropped(path)));
    wait(&mut editor, "the project", |app| app.document.project().name == "Dropped");
}

#[test]
fn dropped_images_become_textures_if_coloured_and_heightmaps_if_grey() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor();
    pause(&mut editor);
    let counts = |app: &App| {
        let recipe = &app.document.project().recipe;
        [recipe.texture.types.len(), recipe.stack.len()]
    };
    let [types, steps] = counts(editor.state());
    for (name, colour, expected) in
        [("moss.png", [9, 90, 30], [types + 1, steps]), ("land.png", [90, 90, 90], [types + 1, steps + 1])]
    {
        let path = folder.path().join(name);
        let picture = image::RgbImage::from_fn(16, 16, |x, _| image::Rgb(colour.map(|c: u8| c + x as u8)));
        picture.save(&path).expect("written");
        editor.input_mut().dropped_files.push(std::sync::Arc::new(Dropped(path)));
        if name == "land.png" {
            wait(&mut editor, "the window", |app| app.ui.modal.is_some());
            editor.run_steps(3);
            editor.get_by_label("This project").click();
            editor.run_steps(2);
            accept_import(&mut editor);
        }
        wait(&mut editor, name, |app| counts(app) == expected);
    }
    let types = &editor.state().document.project().recipe.texture.types;
    assert!(types.last().and_then(|ground| ground.texture.as_ref()).is_some_and(|name| name.0.contains("moss")));
}

#[test]
fn during_playback_the_finished_terrain_is_exported() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = exporting(Vec::new(), folder.path(), 65);
    choose(&mut editor, "Unreal");
    editor.get_by_label_contains("Import steps");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    let total = editor.state().total();
    editor.state_mut().ui.playback.seek(7, total);
    wait(&mut editor, "iteration 7", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.position == 7)
    });
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::E);
    editor.run_steps(3);
    editor.get_by_label_contains(&format!(
        "The view shows iteration 7 of {total}. The finished terrain is exported; the import steps"
    ));
    assert!(editor.query_by_label_contains("Import steps").is_none(), "the preview shows another terrain");
    editor.state_mut().edit(|project| {
        project.recipe.world.height_range_m = Some(Band { min: -500.0, max: 4000.0 });
    });
    editor.run_steps(4);
    editor.get_by_label("Import steps");
}
