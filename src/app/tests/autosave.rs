//! Settings, autosave, recovery, closing and user presets, in temporary folders.

use crate::app::App;
use crate::app::commands::Command;
use crate::app::dialogs::modal::Modal;
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::app::views::View;
use crate::project::ProjectFile;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egui::{Key, Modifiers, ThemePreference};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::app::dialogs::file_dialogs::DialogOutcome;
use crate::app::tests::{Scripted, chosen, pause, press, wait, without_rivers};
use crate::engine::Step;

/// The config and state folders of an editor in `folder`.
pub(super) fn folders_in(folder: &Path) -> UserFolders {
    UserFolders { config: Some(folder.join("config")), state: Some(folder.join("state")) }
}

/// An editor with its config and state folders in `folder`.
pub(super) fn editor_in(folder: &Path, answers: Vec<DialogOutcome>) -> Harness<'static, App> {
    let folders = folders_in(folder);
    let dialogs = Scripted::default();
    dialogs.answers.lock().unwrap().extend(answers);
    let mut harness = Harness::builder().with_size([1280.0, 800.0]).with_max_steps(64).build_eframe(move |context| {
        without_rivers(App::new(&context.egui_ctx, Box::new(dialogs), None, folders).expect("threads"))
    });
    harness.state_mut().edit_settings(|settings| settings.view.preview_samples = 33);
    pause(&mut harness);
    harness
}

/// Waits until the recovery folders hold this many projects.
#[track_caller]
fn wait_for_autosave(editor: &mut Harness<'static, App>, folder: &Path, projects: usize) {
    wait(editor, "the autosave", |_| recovery_files(folder).len() == projects);
}

/// The projects in the recovery folders of the editors with their state folder in `folder`.
pub(super) fn recovery_files(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let files = entries(&folder.join("state/recovery")).into_iter().flat_map(|session| entries(&session));
    files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

pub(super) fn close(editor: &mut Harness<'static, App>) {
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
    editor.step();
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.clear();
    editor.run_steps(2);
}

#[test]
fn theme_scale_layout_and_recent_files_are_kept() {
    let folder = tempfile::tempdir().expect("folder");
    let saved = folder.path().join("fjord.upthrust.json");
    let mut editor = editor_in(folder.path(), vec![chosen(saved.clone())]);
    let app = editor.state_mut();
    let alone = app.ui.layout.tree.tiles.find_pane(&View::Heightmap).expect("a pane");
    app.ui.layout.tree.move_tile_to_container(alone, app.ui.layout.tree.root.expect("a root"), 0, false);
    app.ui.layout.maximised = Some(View::Texture);
    app.execute(&egui::Context::default(), Command::Theme(ThemePreference::Light));
    press(&mut editor, Modifiers::COMMAND, Key::Plus);
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "saving", |app| !app.settings.recent.is_empty());
    editor.run_steps(3);
    assert_eq!(editor.ctx.zoom_factor(), 1.1);
    let tree = editor.state().ui.layout.tree.clone();
    drop(editor);

    let mut editor = editor_in(folder.path(), vec![]);
    let app = editor.state();
    assert_eq!((app.settings.theme, app.settings.scale_percent), (ThemePreference::Light, 110));
    assert_eq!((app.ui.layout.maximised, &app.settings.recent), (Some(View::Texture), &vec![saved.clone()]));
    assert!(app.ui.layout.tree == tree && app.ui.layout.tree != crate::app::tasks::settings::default_layout());
    assert_eq!(editor.ctx.zoom_factor(), 1.1);
    press(&mut editor, Modifiers::COMMAND, Key::Num0);
    editor.get_by_label("File").click();
    editor.run_steps(2);
    editor.get_by_label_contains("Recent").click();
    editor.run_steps(2);
    editor.get_by_label_contains("fjord.upthrust.json").click();
    wait(&mut editor, "the recent file", |app| app.document.path() == Some(saved.as_path()));
}

#[test]
fn missing_recent_files_are_greyed_and_removed_when_chosen() {
    let folder = tempfile::tempdir().expect("folder");
    let [there, gone] = ["there", "gone"].map(|name| folder.path().join(format!("{name}.upthrust.json")));
    std::fs::write(&there, ProjectFile::default().to_json()).expect("written");
    let mut editor = editor_in(folder.path(), vec![]);
    for path in [&there, &gone] {
        editor.state_mut().settings.add_recent(path);
    }
    editor.get_by_label("File").click();
    editor.run_steps(3);
    wait(&mut editor, "a look at the disk", |app| !app.services.recent_files.missing.is_empty());
    editor.get_by_label_contains("Recent").click();
    editor.run_steps(4);
    assert!(editor.query_by_label_contains("there.upthrust.json (missing)").is_none());
    editor.get_by_label_contains("gone.upthrust.json (missing)").click();
    wait(&mut editor, "the message", |app| app.ui.message.as_ref().is_some_and(|message| message.is_error));
    assert_eq!(editor.state().settings.recent, [there]);
}

#[test]
fn unreadable_settings_are_reported_and_replaced() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("config/settings.json");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(&file, "{ broken").expect("written");
    let mut editor = editor_in(folder.path(), vec![]);
    let message = editor.state().ui.message.clone().expect("a message");
    assert!(message.is_error && message.text.contains("settings.json"), "{message:?}");
    press(&mut editor, Modifiers::COMMAND, Key::Minus);
    wait(&mut editor, "the settings", |_| Settings::read(&file).0.scale_percent == 90);
}

#[test]
fn edits_are_saved_within_five_seconds_and_offered_after_a_crash() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    let start = editor.ctx.input(|input| input.time);
    // A change in every frame.
    for seed in 0..20 {
        editor.state_mut().edit(|project| project.recipe.seed = 1000 + seed);
        editor.step();
    }
    assert!(editor.ctx.input(|input| input.time) <= start + 5.0);
    let deadline = Instant::now() + Duration::from_secs(10);
    while recovery_files(folder.path()).is_empty() {
        assert!(Instant::now() < deadline, "nothing was written in five seconds of the editor's time");
        std::thread::sleep(Duration::from_millis(5));
    }
    editor.state_mut().edit(|project| project.recipe.seed = 4711);
    editor.run_steps(12);
    // The window disappears without a question, as when the display is disconnected.
    drop(editor);

    let mut editor = editor_in(folder.path(), vec![]);
    wait(&mut editor, "the offer", |app| matches!(app.ui.modal, Some(Modal::Recovered)));
    editor.run_steps(2);
    // Put off, it can be opened from the menu.
    editor.get_by_label("Ask again later").click();
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none());
    editor.get_by_label("File").click();
    editor.run_steps(2);
    editor.get_by_label("Recovered projects…").click();
    editor.run_steps(2);
    editor.get_by_label("Open Alpine range").click();
    editor.run_steps(2);
    let app = editor.state();
    assert!(app.ui.modal.is_none() && app.document.is_dirty());
    assert_eq!(app.document.project().recipe.seed, 4711);
    assert_eq!(app.document.history().0.collect::<Vec<_>>(), ["Recover Alpine range"], "nothing was done before it");
    editor.run_steps(20);
    // The recovered project now belongs to the autosave of this editor.
    wait_for_autosave(&mut editor, folder.path(), 1);
    drop(editor);
    let mut editor = editor_in(folder.path(), vec![]);
    wait(&mut editor, "the offer", |app| matches!(app.ui.modal, Some(Modal::Recovered)));
    editor.run_steps(2);
    editor.get_by_label("Discard").click();
    editor.run_steps(2);
    drop(editor);
    let mut editor = editor_in(folder.path(), vec![]);
    editor.run_steps(8);
    std::thread::sleep(Duration::from_millis(100));
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none(), "discarded projects are not offered again");
    assert!(!editor.state().has_recovered());
}

#[test]
fn a_failed_autosave_is_reported_once_and_tried_again() {
    let folder = tempfile::tempdir().expect("folder");
    let state = folder.path().join("state");
    std::fs::write(&state, "a file where the folder should be").expect("written");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    let says = |app: &App, text: &str| app.ui.message.as_ref().is_some_and(|message| message.text.contains(text));
    wait(&mut editor, "the failure", |app| says(app, "the editor keeps trying"));
    editor.state_mut().ui.message = None;
    for _ in 0..40 {
        editor.step();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!says(editor.state(), "cannot"), "reported again");
    std::fs::remove_file(&state).expect("removed");
    wait(&mut editor, "the next attempt", |app| says(app, "Autosave works again"));
    assert_eq!(recovery_files(folder.path()).len(), 1);
}

#[test]
fn unsaved_work_behind_an_undone_opening_is_kept_and_reopened() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    let ctx = editor.ctx.clone();
    press(&mut editor, Modifiers::COMMAND, Key::N);
    editor.state_mut().edit(|project| {
        project.name = "Second".into();
        project.recipe.seed = 77;
    });
    editor.run_steps(20);
    wait_for_autosave(&mut editor, folder.path(), 1);
    editor.state_mut().execute(&ctx, Command::Undo);
    editor.state_mut().execute(&ctx, Command::Undo);
    editor.state_mut().edit(|project| project.recipe.seed = 88);
    editor.run_steps(20);
    wait_for_autosave(&mut editor, folder.path(), 2);
    editor.get_by_label("File").click();
    editor.run_steps(2);
    editor.get_by_label_contains("Closed with unsaved changes").click();
    editor.run_steps(2);
    editor.get_by_label("Second").click();
    editor.run_steps(2);
    assert_eq!(editor.state().document.project().recipe.seed, 77);
}

#[test]
fn nothing_is_offered_after_closing_normally_or_while_the_other_editor_runs() {
    let folder = tempfile::tempdir().expect("folder");
    let quiet = |editor: &mut Harness<'static, App>| {
        editor.run_steps(4);
        std::thread::sleep(Duration::from_millis(100));
        editor.run_steps(2);
        assert!(editor.state().ui.modal.is_none());
    };
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    editor.run_steps(20);
    wait_for_autosave(&mut editor, folder.path(), 1);
    let mut other = editor_in(folder.path(), vec![]);
    quiet(&mut other);
    drop(other);
    assert_eq!(recovery_files(folder.path()).len(), 1, "the other editor leaves it alone");
    close(&mut editor);
    editor.get_by_label("Close without saving").click();
    editor.run_steps(2);
    assert!(editor.state().ui.closing.is_confirmed());
    drop(editor);
    assert_eq!(recovery_files(folder.path()).len(), 0);
    quiet(&mut editor_in(folder.path(), vec![]));
}

#[test]
fn saving_removes_the_recovery_file() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![chosen(folder.path().join("a.upthrust.json"))]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    editor.run_steps(20);
    wait_for_autosave(&mut editor, folder.path(), 1);
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    editor.run_steps(20);
    wait_for_autosave(&mut editor, folder.path(), 0);
}

#[test]
fn closing_saves_hidden_projects_too_one_after_another() {
    let folder = tempfile::tempdir().expect("folder");
    let (first, second) = (folder.path().join("first.upthrust.json"), folder.path().join("second.upthrust.json"));
    let mut editor = editor_in(folder.path(), vec![chosen(first.clone()), chosen(second.clone())]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    press(&mut editor, Modifiers::COMMAND, Key::N);
    editor.state_mut().edit(|project| project.recipe.seed = 88);
    close(&mut editor);
    editor.get_by_label("Save all").click();
    wait(&mut editor, "the end", |app| app.ui.closing.is_confirmed());
    let seed = |path: &Path| ProjectFile::open(path).expect("a project").project.recipe.seed;
    assert_eq!((seed(&first), seed(&second)), (77, 88));
    assert!(editor.state().document.unsaved().is_empty());
}

#[test]
fn closing_saves_only_the_hidden_project_with_changes() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("hidden.upthrust.json");
    let mut editor = editor_in(folder.path(), vec![chosen(path.clone())]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    press(&mut editor, Modifiers::COMMAND, Key::N);
    close(&mut editor);
    editor.get_by_label("Save").click();
    wait(&mut editor, "the end", |app| app.ui.closing.is_confirmed());
    assert_eq!(ProjectFile::open(&path).expect("a project").project.recipe.seed, 77);
}

#[test]
fn a_save_after_cancelling_does_not_close_the_window() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("later.upthrust.json");
    let mut editor = editor_in(folder.path(), vec![DialogOutcome::Cancelled, chosen(path)]);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    close(&mut editor);
    editor.get_by_label("Save").click();
    editor.run_steps(3);
    assert!(!editor.state().ui.closing.is_saving() && editor.state().ui.modal.is_none());
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    editor.run_steps(3);
    assert!(!editor.state().ui.closing.is_confirmed());
}

#[test]
fn clicking_a_history_entry_jumps_to_it_and_highlights_it() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    let start = editor.state().document.project().recipe.seed;
    for seed in 1..=60 {
        editor.state_mut().edit(|project| project.recipe.seed = 5000 + seed);
    }
    press(&mut editor, Modifiers::COMMAND, Key::H);
    editor.run_steps(4);
    let seed = |editor: &Harness<'static, App>| editor.state().document.project().recipe.seed;
    // The list is scrolled to the newest entry.
    editor.get_by_label("Seed 5058 → 5059").click();
    editor.run_steps(2);
    assert_eq!(seed(&editor), 5059);
    editor.get_by_label("Seed 5059 → 5060").click();
    editor.run_steps(2);
    assert_eq!(seed(&editor), 5060);
    for _ in 0..40 {
        press(&mut editor, Modifiers::COMMAND, Key::Z);
    }
    editor.run_steps(4);
    let lit = editor.get_by_label("Seed 5019 → 5020");
    assert_eq!(lit.accesskit_node().toggled(), Some(egui::accesskit::Toggled::True));
    assert!(editor.query_by_label("Seed 5020 → 5021").is_some(), "undone entries are listed too");
    editor.state_mut().execute(&egui::Context::default(), Command::GoToEntry(0));
    editor.run_steps(4);
    editor.get_by_label("Start");
    assert_eq!(seed(&editor), start);
    press(&mut editor, Modifiers::COMMAND, Key::H);
    editor.run_steps(2);
    assert!(editor.query_by_label("Start").is_none(), "folded");
}

#[test]
fn the_history_follows_each_edit_to_its_newest_entry() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    press(&mut editor, Modifiers::COMMAND, Key::H);
    editor.run_steps(4);
    for seed in 1..=30 {
        editor.state_mut().edit(|project| project.recipe.seed = 5000 + seed);
        editor.run_steps(4);
        let newest = editor.state().document.undo_name().expect("an edit").to_string();
        let (row, foot) = (editor.get_by_label(&newest).rect(), editor.get_by_label("Timeline").rect());
        assert!(row.bottom() < foot.top(), "{newest} at {row:?} is hidden");
    }
}

#[test]
fn a_preset_is_found_by_typing_and_opened_by_keys() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    press(&mut editor, Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    editor.run_steps(3);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Gallery)));
    editor.event(egui::Event::Text("volcanic".into()));
    editor.run_steps(3);
    assert!(editor.query_by_label("Arctic").is_none());
    let is_busy = |editor: &Harness<'static, App>| {
        editor.get_by_role_and_label(egui::accesskit::Role::Button, "Volcanic island").accesskit_node().data().is_busy()
    };
    assert!(is_busy(&editor), "its thumbnail is being rendered");
    wait(&mut editor, "its thumbnail", |app| app.ui.gallery.shows("Volcanic island"));
    editor.run_steps(2);
    assert!(!is_busy(&editor));
    press(&mut editor, Modifiers::NONE, Key::Enter);
    editor.run_steps(2);
    assert_eq!(editor.state().document.project().name, "Volcanic island");
    assert!(editor.state().ui.modal.is_none() && editor.state().document.undo_name() == Some("Preset Volcanic island"));
}

#[test]
fn a_user_preset_is_saved_with_its_thumbnail_opened_and_deleted() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().edit(|project| {
        project.recipe.seed = 4711;
        project.recipe.stack =
            vec![Step::new(crate::engine::operations::faults::Faults { count: 9, ..Default::default() })];
    });
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::SavePreset);
    if let Some(Modal::SavePreset(form)) = &mut editor.state_mut().ui.modal {
        form.rename("Nine: Faults");
    }
    editor.run_steps(2);
    editor.get_by_label("Save preset").click();
    let presets = folder.path().join("config/presets");
    let (file, thumbnail) = (presets.join("nine-faults.upthrust.json"), presets.join("nine-faults.png"));
    wait(&mut editor, "the preset and its thumbnail", |_| file.exists() && thumbnail.exists());
    editor.state_mut().ui.closing.discard_changes();
    drop(editor);

    let mut editor = editor_in(folder.path(), vec![]);
    press(&mut editor, Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    wait(&mut editor, "the user's preset", |app| app.ui.gallery.shows("Nine: Faults"));
    editor.run_steps(3);
    editor.get_by_label("Nine: Faults").click();
    editor.run_steps(2);
    let app = editor.state();
    assert_eq!((app.document.project().recipe.seed, app.document.path()), (4711, None));
    press(&mut editor, Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    editor.run_steps(3);
    editor.get_by_label("Delete Nine: Faults").click();
    editor.run_steps(2);
    assert!(file.exists(), "the deletion is not confirmed yet");
    editor.get_by_label("Delete preset").click();
    wait(&mut editor, "the deletion", |_| !file.exists() && !thumbnail.exists());
}

#[test]
fn presets_of_one_name_are_asked_about_and_typing_replaces_the_name() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    let presets = folder.path().join("config/presets");
    let save = |editor: &mut Harness<'static, App>, seed: u32, name: &str| {
        editor.state_mut().edit(|project| project.recipe.seed = seed);
        let ctx = editor.ctx.clone();
        editor.state_mut().execute(&ctx, Command::SavePreset);
        wait(editor, "the presets", |app| app.services.file_tasks.is_idle());
        editor.run_steps(3);
        editor.event(egui::Event::Text(name.into()));
        editor.run_steps(2);
        press(editor, Modifiers::NONE, Key::Enter);
        editor.run_steps(2);
    };
    let seed_of = |file: &str| {
        let text = std::fs::read_to_string(presets.join(file)).ok()?;
        crate::project::ProjectFile::from_json(&text).ok().map(|file| file.project.recipe.seed)
    };
    save(&mut editor, 1, "Coast");
    wait(&mut editor, "the preset", |_| seed_of("coast.upthrust.json") == Some(1));
    save(&mut editor, 2, "coast");
    editor.get_by_label("You have a preset of this name already.");
    editor.get_by_label("Replace it").click();
    wait(&mut editor, "the preset", |_| seed_of("coast.upthrust.json") == Some(2));
    save(&mut editor, 3, "Coast");
    editor.get_by_label("Keep both").click();
    wait(&mut editor, "the other preset", |_| seed_of("coast-2.upthrust.json") == Some(3));
    assert_eq!(seed_of("coast.upthrust.json"), Some(2));
    save(&mut editor, 4, "Volcanic island");
    editor.get_by_label("A shipped preset has this name already.");
    editor.get_by_label("Back").click();
    editor.run_steps(2);
    editor.get_by_label("Save preset");
}

#[test]
fn a_hint_covers_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.run_steps(3);
    let hint = editor.get_by_label("Got it").rect();
    for name in ["Heightmap of the terrain", "Texture of the terrain"] {
        assert!(editor.get_by_label(name).rect().bottom() <= hint.top(), "{name}");
    }
    let history = editor.get_by_role_and_label(egui::accesskit::Role::Button, "Unfold the history").rect();
    assert!(history.bottom() <= hint.top());
}

#[test]
fn dismissed_hints_do_not_come_back() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.run_steps(2);
    for _ in 0..3 {
        editor.get_by_label("Got it").click();
        editor.run_steps(3);
    }
    assert!(editor.query_by_label("Got it").is_none());
    drop(editor);
    let mut editor = editor_in(folder.path(), vec![]);
    editor.run_steps(2);
    assert!(editor.query_by_label("Got it").is_none());
    let other = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(other.path(), vec![]);
    editor.run_steps(2);
    editor.get_by_label("No more hints").click();
    editor.run_steps(3);
    assert!(editor.query_by_label("Got it").is_none());
}

#[test]
fn hints_go_when_the_user_does_what_they_say() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.run_steps(2);
    for (key, modifiers, hint) in [
        (egui::Key::Home, egui::Modifiers::NONE, "Space plays"),
        (egui::Key::Z, egui::Modifiers::COMMAND, "You can move every slider"),
    ] {
        assert!(editor.query_by_label_contains(hint).is_some(), "{hint}");
        press(&mut editor, modifiers, key);
        editor.run_steps(2);
        assert!(editor.query_by_label_contains(hint).is_none(), "{hint}");
    }
    assert!(editor.query_by_label_contains("finished landscapes").is_some());
}

#[test]
fn the_about_dialog_shows_the_folders() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().ui.modal = Some(Modal::About);
    editor.run_steps(3);
    for name in ["config", "state"] {
        editor.get_by_label(&folder.path().join(name).display().to_string());
    }
}

#[test]
fn an_unreadable_recovery_file_is_reported_once_and_kept_for_a_week() {
    let folder = tempfile::tempdir().expect("folder");
    let recovery = folder.path().join("state/recovery");
    std::fs::create_dir_all(recovery.join("7")).expect("made");
    std::fs::write(recovery.join("7/lock"), "").expect("written");
    std::fs::write(recovery.join("7/0.json"), "{ half").expect("written");
    let mut editor = editor_in(folder.path(), vec![]);
    let is_reported =
        |app: &App| app.ui.message.as_ref().is_some_and(|message| message.text.contains("cannot be read"));
    wait(&mut editor, "the report", is_reported);
    drop(editor);
    let discarded: Vec<PathBuf> =
        std::fs::read_dir(recovery.join("old")).expect("a folder").flatten().map(|entry| entry.path()).collect();
    assert_eq!(std::fs::read_to_string(discarded[0].join("0.json")).expect("kept"), "{ half");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.run_steps(8);
    std::thread::sleep(Duration::from_millis(100));
    editor.run_steps(2);
    assert!(!is_reported(editor.state()));
}

#[test]
fn a_deleted_recovery_folder_is_created_again() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = editor_in(folder.path(), vec![]);
    editor.state_mut().edit(|project| project.recipe.seed = 1);
    wait_for_autosave(&mut editor, folder.path(), 1);
    std::fs::remove_dir_all(folder.path().join("state")).expect("deleted");
    editor.state_mut().edit(|project| project.recipe.seed = 2);
    wait_for_autosave(&mut editor, folder.path(), 1);
    assert!(editor.state().ui.message.as_ref().is_none_or(|message| !message.is_error));
}
