//! The desktop's file dialogs and the editor's own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::App;
use crate::app::commands::{Command, FileSlot};
use crate::app::dialogs::file_dialogs::{DialogBackend, DialogOutcome, DialogRequest};
use crate::app::dialogs::modal::Modal;
use crate::app::preview::thumbnails::ThumbnailState;
use crate::app::tasks::settings::UserFolders;
use crate::app::tests::{press, type_text, wait, without_rivers};
use crate::project::{Project, ProjectFile};

/// A backend whose dialogs stay open until the test closes them.
#[derive(Clone, Default)]
struct Pending {
    opened: Arc<Mutex<Vec<DialogRequest>>>,
    ended: Arc<Mutex<Option<DialogOutcome>>>,
}

impl DialogBackend for Pending {
    fn open(&mut self, request: DialogRequest) {
        self.opened.lock().unwrap().push(request);
    }

    fn poll(&mut self) -> Option<DialogOutcome> {
        self.ended.lock().unwrap().take()
    }
}

fn editor(dialogs: &Pending) -> Harness<'static, App> {
    let backend = dialogs.clone();
    let mut editor = Harness::builder().with_size([1280.0, 800.0]).build_eframe(move |context| {
        without_rivers(App::new(&context.egui_ctx, Box::new(backend), None, UserFolders::default()).expect("threads"))
    });
    editor.state_mut().ui.playback.pause();
    editor
}

/// Executes a command that opens a dialog, ends the dialog with that outcome and returns its request.
fn ask(
    editor: &mut Harness<'static, App>,
    dialogs: &Pending,
    command: Command,
    outcome: DialogOutcome,
) -> DialogRequest {
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, command);
    *dialogs.ended.lock().unwrap() = Some(outcome);
    editor.run_steps(3);
    dialogs.opened.lock().unwrap().last().cloned().expect("a request")
}

#[test]
fn a_dialog_begins_where_the_last_file_of_its_kind_was() {
    let dialogs = Pending::default();
    let mut editor = editor(&dialogs);
    let chosen = |path: &str| DialogOutcome::Chosen { path: path.into(), may_replace: true };
    let mask =
        Command::ChooseFile(FileSlot::Mask { owner: crate::engine::recipe_masks::MaskOwner::Step(0), source: 0 });
    let first = ask(&mut editor, &dialogs, mask, chosen("/nowhere/masks/coast.png"));
    assert_eq!((first.title(), first.folder), ("Choose a mask image", None));
    let heightmap = ask(&mut editor, &dialogs, Command::ImportHeightmap, chosen("/nowhere/dem/alps.tif"));
    assert_eq!((heightmap.title(), heightmap.folder), ("Import a heightmap", None));
    let again = ask(&mut editor, &dialogs, mask, DialogOutcome::Cancelled);
    let (folder, name) = (Some(PathBuf::from("/nowhere/masks")), "coast.png");
    assert_eq!((again.folder, again.file_name.as_str()), (folder, name));
    let heightmap = ask(&mut editor, &dialogs, Command::ImportHeightmap, DialogOutcome::Cancelled);
    assert_eq!(heightmap.folder.as_deref(), Some(Path::new("/nowhere/dem")));
    let texture = ask(&mut editor, &dialogs, Command::ChooseFile(FileSlot::Texture(0)), DialogOutcome::Cancelled);
    assert_eq!((texture.title(), texture.folder), ("Choose a texture", None));
}

#[test]
fn keys_do_nothing_else_while_a_dialog_is_expected() {
    let dialogs = Pending::default();
    let mut editor = editor(&dialogs);
    let before = editor.state().document.project().clone();
    for _ in 0..3 {
        press(&mut editor, Modifiers::COMMAND, Key::O);
    }
    assert_eq!(dialogs.opened.lock().unwrap().len(), 1);
    press(&mut editor, Modifiers::NONE, Key::N);
    press(&mut editor, Modifiers::COMMAND, Key::N);
    assert_eq!(*editor.state().document.project(), before);
    *dialogs.ended.lock().unwrap() = Some(DialogOutcome::Cancelled);
    editor.run_steps(2);
    assert!(!editor.state().is_choosing_file());
    press(&mut editor, Modifiers::NONE, Key::N);
    assert_ne!(editor.state().document.project().recipe.seed, before.recipe.seed);
    press(&mut editor, Modifiers::COMMAND, Key::O);
    assert_eq!(dialogs.opened.lock().unwrap().len(), 2);
}

/// A folder with a heightmap, a project and a folder, which the editor used last.
fn used_folder(editor: &mut Harness<'static, App>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("alps.asc"), "ncols 3\nnrows 3\ncellsize 50\n1 2 3\n4 5 6\n7 8 9\n").expect("written");
    let mut project = Project { name: "Old".into(), ..Default::default() };
    project.recipe.seed = 77;
    std::fs::write(path("old.upthrust.json"), ProjectFile::new(project).to_json()).expect("written");
    std::fs::create_dir(path("textures")).expect("made");
    std::fs::write(path("notes.txt"), "not terrain").expect("written");
    editor.state_mut().settings.add_recent(&path("old.upthrust.json"));
    folder
}

/// Runs frames until there is a button with that label.
#[track_caller]
fn wait_for_button(editor: &mut Harness<'static, App>, label: &str) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while editor.query_by_role_and_label(Role::Button, label).is_none() {
        assert!(Instant::now() < deadline, "no button {label}");
        editor.step();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn click(editor: &mut Harness<'static, App>, label: &str) {
    editor.get_by_role_and_label(Role::Button, label).click();
    editor.run_steps(3);
}

fn typed(editor: &Harness<'static, App>) -> Option<String> {
    editor.get_by_role_and_label(Role::TextInput, "File name").accesskit_node().value()
}

#[test]
fn a_dialog_that_does_not_appear_can_be_replaced_by_the_window_of_the_editor() {
    let dialogs = Pending::default();
    let mut editor = editor(&dialogs);
    let _folder = used_folder(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::O);
    click(&mut editor, "Choose here");
    wait_for_button(&mut editor, "old.upthrust.json");
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert!(!editor.state().is_choosing_file());
    // The first dialog may still be open.
    press(&mut editor, Modifiers::COMMAND, Key::O);
    wait_for_button(&mut editor, "old.upthrust.json");
    *dialogs.ended.lock().unwrap() = Some(DialogOutcome::Chosen { path: "/late.json".into(), may_replace: true });
    editor.run_steps(3);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    press(&mut editor, Modifiers::COMMAND, Key::O);
    assert_eq!(dialogs.opened.lock().unwrap().len(), 2);
    assert!(editor.state().ui.message.is_none(), "what it chose is ignored");
}

#[test]
fn the_window_of_the_editor_opens_files_by_clicks_and_by_the_beginning_of_their_names() {
    let dialogs = Pending::default();
    let mut editor = editor(&dialogs);
    let folder = used_folder(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::P);
    type_text(&mut editor, "use built-in file dialogs");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    assert!(editor.state().settings.own_file_windows);
    press(&mut editor, Modifiers::COMMAND, Key::O);
    wait_for_button(&mut editor, "alps.asc");
    assert!(dialogs.opened.lock().unwrap().is_empty());
    assert!(editor.query_by_label("notes.txt").is_none(), "only what can be opened is listed");
    let seed = editor.state().document.project().recipe.seed;
    type_text(&mut editor, "ol");
    assert!(editor.query_by_label("alps.asc").is_none(), "typing narrows down the list");
    assert_eq!(editor.state().document.project().recipe.seed, seed);
    press(&mut editor, Modifiers::NONE, Key::Enter);
    wait(&mut editor, "the project", |app| app.document.project().recipe.seed == 77);

    press(&mut editor, Modifiers::COMMAND, Key::O);
    wait_for_button(&mut editor, "alps.asc");
    type_text(&mut editor, "nothing.png");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    let missing = format!("{} has no file nothing.png; check the name", folder.path().display());
    let deadline = Instant::now() + Duration::from_secs(60);
    while editor.query_by_label(&missing).is_none() {
        assert!(Instant::now() < deadline);
        editor.step();
    }
    press(&mut editor, Modifiers::COMMAND, Key::A);
    type_text(&mut editor, "textures/");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    let deadline = Instant::now() + Duration::from_secs(60);
    while editor.query_by_label("No files of this kind here").is_none() {
        assert!(Instant::now() < deadline);
        editor.step();
    }
    press(&mut editor, Modifiers::ALT, Key::ArrowUp);
    wait_for_button(&mut editor, "alps.asc");
    press(&mut editor, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(typed(&editor).as_deref(), Some("textures"));
    click(&mut editor, "alps.asc");
    assert_eq!(typed(&editor).as_deref(), Some("alps.asc"));
    let key = editor.state().services.thumbnails.keys().find(|key| key.contains("alps.asc")).cloned();
    let key = key.expect("a picture was requested");
    wait(&mut editor, "its picture", |app| matches!(app.services.thumbnails.get(&key), Some(ThumbnailState::Ready(_))));
    click(&mut editor, "Open");
    wait(&mut editor, "the import window", |app| matches!(app.ui.modal, Some(Modal::Import(_))));
    assert!(editor.state().services.thumbnails.keys().all(|key| !key.contains("alps.asc")), "pictures are released");
}

#[test]
fn the_window_of_the_editor_saves_into_new_folders_and_asks_before_it_replaces() {
    let dialogs = Pending::default();
    let mut editor = editor(&dialogs);
    let folder = used_folder(&mut editor);
    editor.state_mut().settings.own_file_windows = true;
    editor.state_mut().edit(|project| project.recipe.seed = 5);
    let save_as = Modifiers::COMMAND.plus(Modifiers::SHIFT);
    press(&mut editor, save_as, Key::S);
    wait_for_button(&mut editor, "old.upthrust.json");
    // The name is selected up to its ending.
    type_text(&mut editor, "höhe");
    assert_eq!(typed(&editor).as_deref(), Some("höhe.upthrust.json"));
    click(&mut editor, "New folder");
    type_text(&mut editor, "new");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    let new = folder.path().join("new");
    let deadline = Instant::now() + Duration::from_secs(60);
    while editor.query_by_label("No files of this kind here").is_none() {
        assert!(Instant::now() < deadline);
        editor.step();
    }
    // The window is centred again once the field for the new folder is gone.
    editor.run_steps(3);
    click(&mut editor, "Save");
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    assert_eq!(editor.state().document.path(), Some(new.join("höhe.upthrust.json").as_path()));

    editor.state_mut().edit(|project| project.recipe.seed = 6);
    press(&mut editor, save_as, Key::S);
    wait_for_button(&mut editor, "höhe.upthrust.json");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    wait(&mut editor, "the question", |app| matches!(app.ui.modal, Some(Modal::Replace { .. })));
    editor.run_steps(3);
    click(&mut editor, "Replace");
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
}
