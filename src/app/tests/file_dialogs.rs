//! The desktop's file dialogs.

use std::sync::{Arc, Mutex};

use egui::{Key, Modifiers};
use egui_kittest::Harness;

use crate::app::App;
use crate::app::dialogs::file_dialogs::{DialogBackend, DialogOutcome, DialogRequest};
use crate::app::tasks::settings::UserFolders;
use crate::app::tests::press;

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
