//! The desktop's file dialogs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use egui::{Key, Modifiers};
use egui_kittest::Harness;

use crate::app::App;
use crate::app::commands::{Command, FileSlot};
use crate::app::dialogs::file_dialogs::{DialogBackend, DialogOutcome, DialogRequest};
use crate::app::dialogs::modal::Modal;
use crate::app::tasks::settings::UserFolders;
use crate::app::tests::{press, without_rivers};

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

    // The path field that stands in for a dialog has the same folder, with the name selected.
    ask(&mut editor, &dialogs, mask, DialogOutcome::Unavailable);
    let Some(Modal::PathField(field)) = &editor.state().ui.modal else { panic!("a path field") };
    assert_eq!(field.path, "/nowhere/masks/coast.png");
    editor.event(egui::Event::Text("hills.png".into()));
    editor.run_steps(2);
    let Some(Modal::PathField(field)) = &editor.state().ui.modal else { panic!("a path field") };
    assert_eq!(field.path, "/nowhere/masks/hills.png", "typing replaces the selected name");
}

#[test]
fn only_one_dialog_is_open_at_a_time() {
    let dialogs = Pending::default();
    let backend = dialogs.clone();
    let mut editor = Harness::builder().with_size([1280.0, 800.0]).build_eframe(move |context| {
        App::new(&context.egui_ctx, Box::new(backend), None, UserFolders::default()).expect("threads")
    });
    for _ in 0..3 {
        press(&mut editor, Modifiers::COMMAND, Key::O);
    }
    assert_eq!(dialogs.opened.lock().unwrap().len(), 1);
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| message.is_error));
    *dialogs.ended.lock().unwrap() = Some(DialogOutcome::Cancelled);
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::O);
    assert_eq!(dialogs.opened.lock().unwrap().len(), 2);
}
