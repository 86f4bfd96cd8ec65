//! The window: opens it, closes it, and opens another one with the same document after the GPU device was lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Context, ViewportCommand};

use crate::app::App;
use crate::app::dialogs::file_browser::FileBrowser;
use crate::app::dialogs::file_dialogs::NativeDialogs;
use crate::app::dialogs::modal::Modal;
use crate::app::document::Document;
use crate::app::tasks::settings::UserFolders;
use crate::app::tasks::{emergency_save, exit_hook, recovery};
use crate::app::widgets::icon;
use crate::app::window_state::{WindowSnapshot, WindowSnapshotSlot, wake_of};
use crate::files::io::temp_files::stop_writing;
use crate::files::io::terminal::print_error;
use crate::project::ProjectFile;
use crate::worker::Exporter;

/// The name by which desktops find the window's menu entry: that of the desktop file in `packaging/linux`.
const APP_ID: &str = "org.upthrust.upthrust";

/// The initial size of the window, points.
const INITIAL_SIZE: [f32; 2] = [1440.0, 900.0];

/// Opens the editor, with a file loaded if one is given, and returns when it is closed.
pub fn run(file: Option<PathBuf>) -> ExitCode {
    if let Some(file) = file.as_deref().filter(|file| !file.exists()) {
        eprintln!("error: {}: there is no such file or command; see upthrust --help", file.display());
        return ExitCode::FAILURE;
    }
    save_when_killed();
    let code = open_windows(file);
    // The window has closed: nothing is left to save, and writing is blocked from here on.
    emergency_save::unregister();
    // A render task may still wait for the GPU. This removes its temporary files and blocks all further writing.
    std::mem::forget(stop_writing());
    code
}

/// Writes unsaved projects when a signal, or a library that has lost its display, ends the process.
fn save_when_killed() {
    // Without a handler, a signal ends the process by the system's default: then the last autosave is what remains.
    let _ = ctrlc::set_handler(|| {
        // A panic would end this thread, and with it the reaction to further signals.
        let _ = catch_unwind(emergency_save::write_unsaved);
        std::mem::forget(stop_writing());
        std::process::exit(EXIT_BY_SIGNAL);
    });
    exit_hook::at_exit(emergency_save::write_unsaved);
}

/// The exit status of a process that SIGTERM ended, by convention. The library does not tell which signal it was.
const EXIT_BY_SIGNAL: i32 = 143;

/// Opens a window, and another one whenever a window leaves a snapshot behind.
fn open_windows(file: Option<PathBuf>) -> ExitCode {
    let window_snapshot = WindowSnapshotSlot::default();
    let mut file = file;
    let mut failed_windows = 0;
    loop {
        let opened = Instant::now();
        let file = file.take();
        let ended = match catch_unwind(AssertUnwindSafe(|| open_window(file, &window_snapshot))) {
            Ok(Ok(())) => WindowEnd::Closed,
            Ok(Err(error)) => {
                eprintln!(
                    "error: cannot open a window: {}\n\
                     The editor needs a display. Without one, the command line does the same work: see \
                     upthrust --help.",
                    without_source_location(&error.to_string())
                );
                WindowEnd::NotOpened
            }
            // The panic hook has already reported it.
            Err(_) => WindowEnd::Panicked,
        };
        let has_worked = ended == WindowEnd::Closed && opened.elapsed() >= MIN_LIFETIME;
        failed_windows = if has_worked { 0 } else { failed_windows + 1 };
        let has_snapshot = window_snapshot.borrow().is_some();
        match after_window(ended, has_snapshot, failed_windows) {
            AfterWindow::Exit => return ExitCode::SUCCESS,
            AfterWindow::ExitWithFailure => return ExitCode::FAILURE,
            AfterWindow::Reopen => {}
            AfterWindow::SaveRecovered => {
                if ended != WindowEnd::NotOpened {
                    print_error("error: the window closed several times in a row; check the graphics driver");
                }
                if let Some(snapshot) = window_snapshot.take() {
                    save_for_next_start(snapshot);
                }
                return ExitCode::FAILURE;
            }
        }
    }
}

/// A window that closes by itself within this time, or by a panic at any time, has failed. After so many failures in a
/// row no other window is opened. A new event loop can only start after the one that panicked has ended once, which
/// counts as a failure too.
const MIN_LIFETIME: Duration = Duration::from_secs(60);
pub(crate) const MAX_FAILED_WINDOWS: u32 = 5;

/// How a window ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowEnd {
    Closed,
    Panicked,
    NotOpened,
}

/// What to do after a window has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AfterWindow {
    Exit,
    ExitWithFailure,
    Reopen,
    /// No other window can be opened or kept open: save the projects for the next start.
    SaveRecovered,
}

pub(crate) fn after_window(ended: WindowEnd, has_snapshot: bool, failed_windows: u32) -> AfterWindow {
    match (ended, has_snapshot) {
        (WindowEnd::Closed, false) => AfterWindow::Exit,
        (WindowEnd::Panicked | WindowEnd::NotOpened, false) => AfterWindow::ExitWithFailure,
        (WindowEnd::NotOpened, true) => AfterWindow::SaveRecovered,
        (WindowEnd::Closed | WindowEnd::Panicked, true) if failed_windows >= MAX_FAILED_WINDOWS => {
            AfterWindow::SaveRecovered
        }
        (WindowEnd::Closed | WindowEnd::Panicked, true) => AfterWindow::Reopen,
    }
}

/// Keeps unsaved projects for recovery at the next start or, failing that, writes them to temporary files.
fn save_for_next_start(snapshot: WindowSnapshot) {
    let WindowSnapshot { document, autosave, settings, .. } = snapshot;
    let unsaved = document.unsaved();
    if unsaved.is_empty() {
        print_error("There were no unsaved changes.");
    } else if autosave.is_some_and(|mut autosave| autosave.end(&settings, Some(unsaved.clone()))) {
        print_error("Unsaved changes can be recovered when the editor is started again.");
    } else {
        recovery::write_recovery_copies(&unsaved);
    }
}

/// Opens a window, with the snapshot of the previous one if there is one, and returns when it is closed.
fn open_window(file: Option<PathBuf>, window_snapshot: &WindowSnapshotSlot) -> eframe::Result {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Upthrust")
        .with_app_id(APP_ID)
        .with_icon(icon::icon())
        .with_inner_size(INITIAL_SIZE)
        .with_min_inner_size([640.0, 360.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let window_snapshot = window_snapshot.clone();
    let create: eframe::AppCreator = Box::new(move |context| {
        let dialogs = Box::new(NativeDialogs::new(context, wake_of(&context.egui_ctx))?);
        let mut app = App::new(&context.egui_ctx, dialogs, file, UserFolders::for_user())?;
        if let Some(snapshot) = window_snapshot.take() {
            app.adopt(snapshot);
        }
        if let Some(autosave) = &app.services.autosave {
            autosave.register_emergency_save();
        }
        app.window.snapshot = window_snapshot;
        app.wait_for_first_frames();
        Ok(Box::new(app))
    });
    eframe::run_native("upthrust", options, create)
}

/// An error message of the windowing library without the source location in front of it.
fn without_source_location(message: &str) -> &str {
    let after_file = message.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    after_file.map_or(message, |(_, text)| text)
}

impl App {
    /// Leaves a snapshot for the next window and closes this one: the GPU device was lost.
    pub(crate) fn close_after_device_loss(&mut self, ctx: &Context) {
        self.take_snapshot("the graphics device was lost");
        self.ui.closing.confirm();
        self.ui.modal = None;
        ctx.request_repaint();
    }

    /// Moves everything that cannot be created again into a snapshot.
    fn take_snapshot(&mut self, why: &str) {
        let empty = Document::new(ProjectFile::default());
        // A running export continues, unless no idle exporter can replace it here.
        let (was_exporting, idle) = (self.services.exporter.status().is_some(), Exporter::start(Arc::new(|| {})).ok());
        let mut reason = why.to_string();
        if was_exporting && idle.is_none() {
            reason.push_str("; the export was stopped");
        }
        // A render task uses the device of this window.
        if self.services.render_task.take().is_some() {
            reason.push_str("; the render was stopped and no file was written");
        }
        let snapshot = WindowSnapshot {
            reason,
            document: std::mem::replace(&mut self.document, empty),
            playback: self.ui.playback,
            exporter: idle.map(|idle| std::mem::replace(&mut self.services.exporter, idle)),
            selected_step: self.ui.selection.step,
            settings: self.settings.clone(),
            autosave: self.services.autosave.take(),
            tree: self.ui.layout.tree.clone(),
            viewport: self.ui.maps.viewport,
            view_state: self.ui.scene.view_state(),
            maximised: self.ui.layout.maximised,
        };
        *self.window.snapshot.borrow_mut() = Some(snapshot);
        self.window.is_detached = true;
    }

    /// Continues from the snapshot of another window.
    pub(crate) fn adopt(&mut self, snapshot: WindowSnapshot) {
        let WindowSnapshot { reason, document, playback, exporter, .. } = snapshot;
        let WindowSnapshot { selected_step, settings, autosave, tree, viewport, view_state, maximised, .. } = snapshot;
        (self.document, self.ui.playback) = (document, playback);
        if let Some(exporter) = exporter {
            self.services.exporter = exporter;
        }
        (self.ui.selection.step, self.settings, self.ui.layout.tree, self.ui.layout.maximised) =
            (selected_step, settings, tree, maximised);
        self.services.autosave = autosave;
        self.ui.maps.viewport = viewport;
        self.ui.scene.restore(view_state);
        self.show_message(format!("The window was reopened with the document and its history: {reason}"));
    }

    /// Opens files that are dropped on the window, asks before closing with unsaved changes, and updates the title.
    pub(crate) fn window_events(&mut self, ctx: &Context) {
        let dropped: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_path_buf()).collect());
        for path in dropped {
            self.services.file_tasks.open(path);
        }
        let is_requested = ctx.input(|input| input.viewport().close_requested());
        let is_repeated = self.window.repeats_close;
        if is_requested
            && !is_repeated
            && !self.ui.closing.is_confirmed()
            && let Some(field) = ctx.memory(|memory| memory.focused())
        {
            // What is typed in a field counts once it is left, so the window closes in the next frame.
            ctx.memory_mut(|memory| memory.surrender_focus(field));
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.window.repeats_close = true;
            ctx.request_repaint();
        } else if (is_requested || is_repeated) && !self.ui.closing.is_confirmed() {
            // An export that the user has just cancelled does not keep the window open.
            let exporting = self.export_status().is_some_and(|status| !status.is_cancelled || status.waiting > 0);
            let unsaved = self.document.unsaved();
            let reason = match (exporting, !unsaved.is_empty()) {
                (true, _) => Some(Modal::ExportFirst),
                (false, true) => Some(Modal::SaveFirst(unsaved)),
                (false, false) => None,
            };
            if reason.is_some() {
                ctx.send_viewport_cmd(ViewportCommand::CancelClose);
                self.window.repeats_close = false;
                self.ui.modal = reason;
                self.ui.closing.cancel();
                // The question is about the whole editor.
                if self.ui.file_browser.take().is_some() {
                    FileBrowser::discard_pictures(&mut self.services.thumbnails);
                }
                let _ = self.services.file_dialogs.abandon();
            } else if !is_requested {
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
        }
        if self.ui.closing.is_confirmed() {
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        self.ui.gestures.begin_frame(ctx);
        let window_title = format!("Upthrust – {}", self.document.heading());
        if window_title != self.window.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(window_title.clone()));
            self.window.title = window_title;
        }
    }
}

impl Drop for App {
    /// Saves the document when a panic closes the window. The windowing library panics where the device is lost in the
    /// middle of a frame.
    fn drop(&mut self) {
        if std::thread::panicking() && !self.window.is_detached {
            self.take_snapshot("it was closed by an error in the program, its libraries or the graphics driver");
        }
        self.finish_autosave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_menu_entry_belongs_to_the_window() {
        let packaging = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/linux");
        let entry = std::fs::read_to_string(format!("{packaging}/{APP_ID}.desktop")).expect("the desktop file");
        for line in [format!("Icon={APP_ID}"), format!("StartupWMClass={APP_ID}"), "Exec=upthrust %f".into()] {
            assert!(entry.lines().any(|there| there == line), "{line}");
        }
    }
}
