//! The window: opened, closed, and opened again with the document where the graphics card was lost.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Context, ViewportCommand};

use crate::app::App;
use crate::app::dialogs::file_dialogs::DesktopDialogs;
use crate::app::dialogs::modals::Modal;
use crate::app::document::{Document, Unsaved};
use crate::app::preview::playback::Playback;
use crate::app::tasks::autosave::Keeper;
use crate::app::tasks::recovery;
use crate::app::tasks::settings::{Folders, Settings};
use crate::app::views;
use crate::app::views::View;
use crate::app::views::scene::Posture;
use crate::app::widgets::icon;
use crate::files::atomic;
use crate::project::Project;
use crate::worker::{Exporter, Wake};

/// The size of the first window, points.
const WINDOW: [f32; 2] = [1440.0, 900.0];

/// Opens the editor, with a file loaded if one is given, and returns when it is closed.
pub fn run(file: Option<PathBuf>) -> ExitCode {
    if let Some(file) = file.as_deref().filter(|file| !file.exists()) {
        eprintln!("error: {}: there is no such file or command; see upthrust --help", file.display());
        return ExitCode::FAILURE;
    }
    let code = open_windows(file);
    // A drawing that waits for the card is not waited for; its files do not stay behind. Nothing is written any more.
    std::mem::forget(atomic::end_writing());
    code
}

/// Opens a window, and another one as long as one has left something for the next.
fn open_windows(file: Option<PathBuf>) -> ExitCode {
    let rescue = Rescue::default();
    let mut file = file;
    let mut in_vain = 0;
    loop {
        let opened = Instant::now();
        let file = file.take();
        let ended = match catch_unwind(AssertUnwindSafe(|| open_window(file, &rescue))) {
            Ok(Ok(())) => Ended::InOrder,
            Ok(Err(error)) => {
                eprintln!(
                    "error: cannot open a window: {}\n\
                     The editor needs a display. Without one, the command line does the same work: see \
                     upthrust --help.",
                    without_place(&error.to_string())
                );
                Ended::Unopened
            }
            // What panicked has said so already.
            Err(_) => Ended::Panicked,
        };
        let has_worked = ended == Ended::InOrder && opened.elapsed() >= LONG_LIFE;
        in_vain = if has_worked { 0 } else { in_vain + 1 };
        let is_rescued = rescue.borrow().is_some();
        match after_window(ended, is_rescued, in_vain) {
            Next::Leave => return ExitCode::SUCCESS,
            Next::Fail => return ExitCode::FAILURE,
            Next::OpenAnother => {}
            Next::Recover => {
                if ended != Ended::Unopened {
                    eprintln!(
                        "error: the window cannot be kept open; see whether the driver of the graphics card is sound"
                    );
                }
                if let Some(rescued) = rescue.take() {
                    leave_for_next_start(rescued);
                }
                return ExitCode::FAILURE;
            }
        }
    }
}

/// A window that had to close sooner than this, or at any time by a panic, was opened in vain, and so many of them in a
/// row are enough. After a panic the event loop has to end once before it begins anew: that too counts as one.
const LONG_LIFE: Duration = Duration::from_secs(60);
pub(crate) const MOST_IN_VAIN: u32 = 5;

/// How a window ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    InOrder,
    Panicked,
    Unopened,
}

/// What comes after a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Leave,
    Fail,
    OpenAnother,
    /// No other window can be opened or kept open: the project that was rescued goes to a file.
    Recover,
}

pub(crate) fn after_window(ended: Ended, is_rescued: bool, in_vain: u32) -> Next {
    match (ended, is_rescued) {
        (Ended::InOrder, false) => Next::Leave,
        (Ended::Panicked | Ended::Unopened, false) => Next::Fail,
        (Ended::Unopened, true) => Next::Recover,
        (Ended::InOrder | Ended::Panicked, true) if in_vain >= MOST_IN_VAIN => Next::Recover,
        (Ended::InOrder | Ended::Panicked, true) => Next::OpenAnother,
    }
}

/// No window shows the document any more: what is unsaved is offered at the next start, or else lies in files.
fn leave_for_next_start(rescued: Rescued) {
    let Rescued { document, keeper, settings, .. } = rescued;
    let unsaved = document.unsaved();
    if unsaved.is_empty() {
        eprintln!("Nothing was unsaved.");
    } else if keeper
        .is_some_and(|mut keeper| keeper.end(settings.to_json(), Some(unsaved.clone())) && keeper.is_sound())
    {
        eprintln!("What was not saved will be offered when the editor is started again.");
    } else {
        for Unsaved { project, .. } in unsaved {
            match recovery::write_recovered(&project, &[std::env::temp_dir()]) {
                Ok(path) => eprintln!("A project as it was is in {}", path.display()),
                Err(error) => eprintln!("error: the project could not be written: {error}"),
            }
        }
    }
}

/// Opens a window, with what could be rescued from the one before, and returns when it is closed.
fn open_window(file: Option<PathBuf>, rescue: &Rescue) -> eframe::Result {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Upthrust")
        .with_app_id("upthrust")
        .with_icon(icon::icon())
        .with_inner_size(WINDOW)
        .with_min_inner_size([640.0, 360.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let rescue = rescue.clone();
    let create: eframe::AppCreator = Box::new(move |context| {
        let wake = wake_of(&context.egui_ctx);
        let dialogs = Box::new(DesktopDialogs::new(wake));
        let mut app = App::new(&context.egui_ctx, dialogs, file, Folders::of_user())?;
        if let Some(rescued) = rescue.take() {
            app.take_over(rescued);
        }
        app.rescue = rescue;
        Ok(Box::new(app))
    });
    eframe::run_native("upthrust", options, create)
}

/// What the window library says, without the place in its sources at which it says it.
fn without_place(message: &str) -> &str {
    let behind_file = message.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    behind_file.map_or(message, |(_, said)| said)
}

/// Wakes the interface from another thread.
pub(crate) fn wake_of(ctx: &Context) -> Wake {
    let ctx = ctx.clone();
    Arc::new(move || ctx.request_repaint())
}

/// What outlives a window that cannot go on.
pub(crate) struct Rescued {
    /// Why it cannot, and what was lost with it.
    pub(crate) reason: String,
    pub(crate) document: Document,
    playback: Playback,
    /// `None`: what was being exported could not be kept.
    exporter: Option<Exporter>,
    selected_step: usize,
    settings: Settings,
    keeper: Option<Keeper>,
    tree: egui_tiles::Tree<View>,
    gaze: views::Gaze,
    posture: Posture,
    maximised: Option<View>,
}

pub(crate) type Rescue = Rc<RefCell<Option<Rescued>>>;

impl App {
    /// The graphics card has gone, and the window with it.
    pub(crate) fn leave(&mut self, ctx: &Context) {
        self.put_aside("the graphics card was lost");
        (self.closing, self.modal) = (true, None);
        ctx.request_repaint();
    }

    /// Puts aside for the next window what cannot be made again.
    fn put_aside(&mut self, why: &str) {
        let empty = Document::new(Project::default());
        // An export goes on meanwhile, unless nothing can take its place here.
        let (was_exporting, idle) = (self.exporter.status().is_some(), Exporter::start(Arc::new(|| {})).ok());
        let mut reason = why.to_string();
        if was_exporting && idle.is_none() {
            reason.push_str("; the export was stopped");
        }
        // It draws on the card of this window.
        if self.drawing.take().is_some() {
            reason
                .push_str("; the picture or turntable that was being drawn was stopped, and nothing of it was written");
        }
        let rescued = Rescued {
            reason,
            document: std::mem::replace(&mut self.document, empty),
            playback: self.playback,
            exporter: idle.map(|idle| std::mem::replace(&mut self.exporter, idle)),
            selected_step: self.selected_step,
            settings: self.settings.clone(),
            keeper: self.keeper.take(),
            tree: self.tree.clone(),
            gaze: self.maps.gaze,
            posture: self.scene.posture(),
            maximised: self.maximised,
        };
        *self.rescue.borrow_mut() = Some(rescued);
        self.is_adrift = true;
    }

    /// Goes on where another window had to stop.
    pub(crate) fn take_over(&mut self, rescued: Rescued) {
        let Rescued { reason, document, playback, exporter, .. } = rescued;
        let Rescued { selected_step, settings, keeper, tree, gaze, posture, maximised, .. } = rescued;
        (self.document, self.playback) = (document, playback);
        if let Some(exporter) = exporter {
            self.exporter = exporter;
        }
        (self.selected_step, self.settings, self.tree, self.maximised) = (selected_step, settings, tree, maximised);
        self.keeper = keeper;
        self.maps.gaze = gaze;
        self.scene.take(posture);
        self.say(format!("The window had to be opened again, with the document and its history: {reason}"));
    }

    /// Takes files that are dropped on the window, and asks before unsaved work is lost.
    pub(crate) fn window_events(&mut self, ctx: &Context) {
        let dropped: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_path_buf()).collect());
        for path in dropped {
            self.errands.open(path);
        }
        if ctx.input(|input| input.viewport().close_requested()) && !self.closing {
            // An export that the user has just cancelled is no reason to stay.
            let exporting = self.export_status().is_some_and(|status| !status.is_cancelled || status.waiting > 0);
            let unsaved = self.document.unsaved();
            let reason = match (exporting, !unsaved.is_empty()) {
                (true, _) => Some(Modal::ExportFirst),
                (false, true) => Some(Modal::SaveFirst(unsaved)),
                (false, false) => None,
            };
            if reason.is_some() {
                ctx.send_viewport_cmd(ViewportCommand::CancelClose);
                (self.modal, self.saving) = (reason, None);
            }
        }
        if self.closing {
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        if ctx.input(|input| input.pointer.any_pressed()) {
            self.presses += 1;
        }
        let window_title = format!("Upthrust – {}", self.document.heading());
        if window_title != self.window_title {
            ctx.send_viewport_cmd(ViewportCommand::Title(window_title.clone()));
            self.window_title = window_title;
        }
    }
}

impl Drop for App {
    /// What panics while the window is drawn, as its library does where the card goes in the middle of a frame, takes
    /// the window with it, but not the document.
    fn drop(&mut self) {
        if std::thread::panicking() && !self.is_adrift {
            self.put_aside("an error in the program, its libraries or the graphics card's driver closed it");
        }
        self.end_keeping();
    }
}
