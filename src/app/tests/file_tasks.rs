//! File tasks that finish late, fail, or are still queued when the window closes.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::commands::Command;
use crate::app::dialogs::modal::Modal;
use crate::app::tasks::file_tasks::FileTaskResult;
use crate::app::tests::autosave::{close, editor_in};
use crate::app::tests::{chosen, press, wait};
use crate::project::ProjectFile;

#[test]
fn save_all_closes_after_a_save_that_finished_while_the_dialog_was_open() {
    let folder = tempfile::tempdir().expect("folder");
    let (first, second) = (folder.path().join("first.upthrust.json"), folder.path().join("second.upthrust.json"));
    let mut editor = editor_in(folder.path(), vec![chosen(first.clone()), chosen(second.clone())]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    let (release, blocked) = channel::<()>();
    editor.state_mut().services.file_tasks.run(move || {
        let _ = blocked.recv();
        FileTaskResult::Done
    });
    press(&mut editor, Modifiers::COMMAND, Key::S);
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::N);
    editor.state_mut().edit(|project| project.recipe.seed = 88);
    close(&mut editor);
    editor.get_by_label("Save all");
    drop(release);
    wait(&mut editor, "the first save", |app| app.document.unsaved().len() == 1);
    editor.get_by_label("Save all").click();
    wait(&mut editor, "closing", |app| app.ui.closing.is_confirmed());
    let seed = |path: &Path| ProjectFile::open(path).expect("a project").project.recipe.seed;
    assert_eq!((seed(&first), seed(&second)), (77, 88));
}

/// An editor with the project of that file open.
fn editor_with(path: &Path) -> Harness<'static, App> {
    let mut editor = editor_in(path.parent().expect("a folder"), vec![]);
    editor.state_mut().services.file_tasks.open(path.to_path_buf());
    let opened = path.to_path_buf();
    wait(&mut editor, "the project", |app| app.document.path() == Some(&opened));
    editor
}

#[test]
fn a_save_asks_before_it_overwrites_changes_of_another_program() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.upthrust.json");
    let theirs = r#"{"format": 1, "name": "Theirs"}"#;
    std::fs::write(&path, r#"{"format": 1, "name": "Ours"}"#).expect("written");
    let mut editor = editor_with(&path);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    std::fs::write(&path, theirs).expect("written");
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "the question", |app| matches!(app.ui.modal, Some(Modal::Question(_))));
    editor.run_steps(2);
    assert_eq!(std::fs::read_to_string(&path).expect("there"), theirs);
    // The status bar may have a Cancel of its own, of the preview.
    editor.key_press(Key::Escape);
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none() && editor.state().document.is_dirty());
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "the question", |app| matches!(app.ui.modal, Some(Modal::Question(_))));
    editor.run_steps(2);
    editor.get_by_label("Overwrite").click();
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    assert_eq!(ProjectFile::open(&path).expect("a project").project.recipe.seed, 77);
    // The editor's own save is no change.
    editor.state_mut().edit(|project| project.recipe.seed = 78);
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
}

#[test]
fn closing_asks_before_an_earlier_version_overwrites_a_later_one() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.upthrust.json");
    std::fs::write(&path, r#"{"format": 1, "recipe": {"seed": 1}}"#).expect("written");
    let mut editor = editor_with(&path);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    editor.state_mut().services.file_tasks.open(path.clone());
    wait(&mut editor, "the file", |app| app.document.project().recipe.seed == 1);
    editor.state_mut().edit(|project| project.recipe.seed = 88);
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
    editor.run_steps(3);
    editor.get_by_label("a.upthrust.json, earlier version");
    editor.get_by_label("Save").click();
    wait(&mut editor, "the question", |app| matches!(app.ui.modal, Some(Modal::Question(_))));
    assert_eq!(ProjectFile::open(&path).expect("a project").project.recipe.seed, 88);
}

#[test]
fn a_changed_file_is_offered_for_reloading_when_the_window_gets_the_focus() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.upthrust.json");
    std::fs::write(&path, r#"{"format": 1, "name": "Ours"}"#).expect("written");
    let mut editor = editor_with(&path);
    let asks = |app: &App| matches!(app.ui.modal, Some(Modal::Question(_)));
    std::fs::write(&path, r#"{"format": 1, "name": "Theirs"}"#).expect("written");
    editor.event(egui::Event::WindowFocused(true));
    wait(&mut editor, "the question", asks);
    editor.run_steps(2);
    editor.get_by_label("Keep this version").click();
    editor.run_steps(2);
    assert!(editor.state().document.is_dirty(), "it differs from its file now");
    editor.event(egui::Event::WindowFocused(true));
    editor.run_steps(8);
    std::thread::sleep(Duration::from_millis(100));
    editor.run_steps(2);
    assert!(!asks(editor.state()), "asked once per change");
    std::fs::write(&path, r#"{"format": 1, "name": "Theirs again"}"#).expect("written");
    editor.event(egui::Event::WindowFocused(true));
    wait(&mut editor, "the question", asks);
    editor.run_steps(2);
    editor.get_by_label("Reload").click();
    wait(&mut editor, "the new version", |app| app.document.project().name == "Theirs again");
}

#[test]
fn files_outside_the_folder_of_a_project_are_read_only_if_the_user_agrees() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::create_dir(folder.path().join("p")).expect("made");
    let path = folder.path().join("p/a.upthrust.json");
    std::fs::write(folder.path().join("secret.pgm"), "P2 2 2 255 0 1 2 3").expect("written");
    let stack = r#"[{"operation": "heightmap", "file": "../secret.pgm"}]"#;
    std::fs::write(&path, format!(r#"{{"format": 1, "recipe": {{"stack": {stack}}}}}"#)).expect("written");
    let mut editor = editor_in(folder.path(), vec![]);
    for is_read in [false, true] {
        editor.state_mut().services.file_tasks.open(path.clone());
        wait(&mut editor, "the question", |app| matches!(app.ui.modal, Some(Modal::Question(_))));
        editor.run_steps(2);
        editor.get_by_label_contains("secret.pgm");
        if is_read {
            editor.get_by_label("Read them").click();
            wait(&mut editor, "the project", |app| app.document.path().is_some());
        } else {
            editor.key_press(Key::Escape);
        }
        editor.run_steps(4);
        assert_eq!(!editor.state().document.project().files.is_empty(), is_read);
    }
}

#[test]
fn a_preset_saved_just_before_quitting_is_written() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().services.file_tasks.run(|| {
        std::thread::sleep(Duration::from_millis(200));
        FileTaskResult::Done
    });
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::SavePreset);
    if let Some(Modal::SavePreset(dialog)) = &mut editor.state_mut().ui.modal {
        dialog.rename("Last minute");
    }
    editor.run_steps(2);
    editor.get_by_label("Save preset").click();
    editor.run_steps(2);
    drop(editor);
    assert!(folder.path().join("config/presets/last-minute.upthrust.json").exists());
}

#[test]
fn a_panicking_task_becomes_a_message_and_the_next_task_runs() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.upthrust.json");
    let mut editor = editor_in(folder.path(), vec![chosen(path.clone())]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    editor.state_mut().services.file_tasks.run(|| panic!("a bug in a decoder"));
    wait(&mut editor, "the message", |app| {
        app.ui.message.as_ref().is_some_and(|message| message.is_error && message.text.contains("a bug in a decoder"))
    });
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    assert!(path.exists());
}

#[cfg(unix)]
#[test]
fn a_project_keeps_the_folder_of_a_relative_path() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.upthrust.json");
    std::fs::write(&path, ProjectFile::default().to_json()).expect("written");
    // Up to the root and down again.
    let up = "../".repeat(std::env::current_dir().expect("a folder").components().count() - 1);
    let relative = Path::new(&up).join(path.strip_prefix("/").expect("absolute"));
    assert!(relative.is_relative() && relative.exists());
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().services.file_tasks.open(relative);
    wait(&mut editor, "the project", |app| app.document.path().is_some());
    assert!(editor.state().document.path().is_some_and(|path| path.is_absolute() && path.exists()));
}
