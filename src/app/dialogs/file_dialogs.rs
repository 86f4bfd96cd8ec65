//! Choosing files: the desktop's dialog where there is one, a path field in the window where there is none.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::app::commands::{FileSlot, Target};
use crate::app::widgets::modal;
use crate::worker::Wake;

/// What a chosen file is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DialogPurpose {
    /// A project, or a heightmap, to open.
    Open,
    /// Where to save the project of that origin.
    Save { origin: usize },
    /// A heightmap for a step of the stack; `None`: a new step.
    Import {
        /// What draws on it.
        target: Option<Target>,
    },
    /// The folder to export to.
    ExportFolder,
    /// Where to put a picture of the 3-D view.
    Image {
        /// Its pixels.
        size: [u32; 2],
        /// How many pictures all around the land, in numbered files; `None`: one, as the view is.
        frames: Option<u32>,
    },
}

/// A question for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DialogRequest {
    pub(crate) purpose: DialogPurpose,
    /// The name that is suggested.
    pub(crate) file_name: String,
}

impl DialogRequest {
    /// What the dialog is headed.
    pub(crate) fn title(&self) -> &'static str {
        match &self.purpose {
            DialogPurpose::Open => "Open a project or heightmap",
            DialogPurpose::Save { .. } => "Save the project",
            DialogPurpose::Import { target: Some(Target { slot: FileSlot::Texture(_), .. }) } => {
                "Choose a picture of ground"
            }
            DialogPurpose::Import { .. } => "Import a heightmap",
            DialogPurpose::ExportFolder => "Choose a folder for the export",
            DialogPurpose::Image { frames: None, .. } => "Save a picture of the 3-D view",
            DialogPurpose::Image { frames: Some(_), .. } => "Save a turntable of the 3-D view",
        }
    }

    /// Whether a file is to be written.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.purpose, DialogPurpose::Save { .. } | DialogPurpose::Image { .. })
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DialogOutcome {
    Chosen {
        path: PathBuf,
        /// Whether the user was asked about replacing that very file.
        may_replace: bool,
    },
    Cancelled,
    /// There is no dialog here: ask in the window.
    Unavailable,
}

/// Somebody who asks the user for files. Never blocks.
pub(crate) trait FileDialogs {
    fn ask(&mut self, ask: DialogRequest);
    fn answer(&mut self) -> Option<(DialogRequest, DialogOutcome)>;
}

/// A dialog that ends sooner than this without a choice was never seen: without a portal the library answers at once,
/// with the same `None` as a cancelled dialog.
const FASTER_THAN_A_PERSON: Duration = Duration::from_millis(150);

/// The dialogs of the desktop, each on a thread of its own.
pub(crate) struct NativeDialogs {
    wake: Wake,
    sender: Sender<(DialogRequest, DialogOutcome)>,
    receiver: Receiver<(DialogRequest, DialogOutcome)>,
}

impl NativeDialogs {
    pub(crate) fn new(wake: Wake) -> Self {
        let (sender, receiver) = channel();
        Self { wake, sender, receiver }
    }
}

impl FileDialogs for NativeDialogs {
    fn ask(&mut self, ask: DialogRequest) {
        let (sender, wake) = (self.sender.clone(), self.wake.clone());
        let question = ask.clone();
        let run = move || {
            let asked = Instant::now();
            let dialog = rfd::FileDialog::new().set_title(question.title()).set_file_name(&question.file_name);
            let chosen = match &question.purpose {
                DialogPurpose::ExportFolder => dialog.pick_folder(),
                _ if question.writes() => dialog.save_file(),
                _ => dialog.pick_file(),
            };
            let answer = match chosen {
                Some(path) => DialogOutcome::Chosen { path, may_replace: true },
                None if asked.elapsed() < FASTER_THAN_A_PERSON => DialogOutcome::Unavailable,
                None => DialogOutcome::Cancelled,
            };
            // The window may be gone by now; then nobody needs the answer.
            let _ = sender.send((question, answer));
            wake();
        };
        if std::thread::Builder::new().name("upthrust dialog".into()).spawn(run).is_err() {
            let _ = self.sender.send((ask, DialogOutcome::Unavailable));
        }
    }

    fn answer(&mut self) -> Option<(DialogRequest, DialogOutcome)> {
        self.receiver.try_recv().ok()
    }
}

/// The path field in the window.
pub(crate) struct PathField {
    pub(crate) ask: DialogRequest,
    pub(crate) path: String,
}

impl PathField {
    /// Suggests the file in the user's home, or in the present folder.
    pub(crate) fn new(ask: DialogRequest) -> Self {
        let folder = std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(|| PathBuf::from("."));
        let path = folder.join(&ask.file_name).display().to_string();
        Self { ask, path }
    }

    /// Draws the field; `Some` once the user has answered.
    pub(crate) fn ui(&mut self, ctx: &egui::Context) -> Option<DialogOutcome> {
        let mut answer = None;
        let modal = modal("path field", ctx).show(ctx, |ui| {
            ui.set_width(480.0);
            ui.heading(self.ask.title());
            ui.weak("This desktop offers no file dialog. Type the path of the file.");
            ui.add_space(8.0);
            let field =
                ui.add(egui::TextEdit::singleline(&mut self.path).desired_width(f32::INFINITY).hint_text("Path"));
            field.request_focus();
            let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
            ui.add_space(8.0);
            let button = if self.ask.writes() { "Save" } else { "Open" };
            egui::Sides::new().show(
                ui,
                |_| {},
                |ui| {
                    let usable = !self.path.trim().is_empty();
                    if ui.add_enabled(usable, egui::Button::new(button)).clicked() || (usable && entered) {
                        answer =
                            Some(DialogOutcome::Chosen { path: PathBuf::from(self.path.trim()), may_replace: false });
                    }
                    if ui.button("Cancel").clicked() {
                        answer = Some(DialogOutcome::Cancelled);
                    }
                },
            );
        });
        if answer.is_none() && modal.should_close() {
            answer = Some(DialogOutcome::Cancelled);
        }
        answer
    }
}
