//! File tasks that finish late, fail, or are still queued when the window closes.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;

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
