//! The thread that keeps settings and unsaved work on the disk, and when it is asked to.
//!
//! Of several states that wait to be written the newest wins. Nothing that is done here holds up the interface, an
//! export or a save.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime};

use egui::Context;

use crate::app::App;
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::recovered_projects;
use crate::app::document::Unsaved;
use crate::app::state::PendingProject;
use crate::app::tasks::recovery;
use crate::app::tasks::recovery::{RecoveredProject, RecoverySession};
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::files::io::atomic;
use crate::files::io::folders::folder_of;
use crate::worker::Wake;

/// Work is written once it has not changed for that long, seconds …
const QUIET_S: f64 = 2.0;

/// … and while it goes on changing, that long after its first change: in five seconds it is on the disk.
const LATEST_S: f64 = 4.0;

/// How long the settings stay as they are before they are written, seconds.
const SETTLED_S: f64 = 1.0;

/// How long the end of the program waits for the disk.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the thread has to say.
#[derive(Debug)]
pub(crate) enum AutosaveEvent {
    /// Editors that run no more left this behind.
    Left(Vec<RecoveredProject>),
    /// Something cannot be kept, or read: what, why.
    Failed(String),
}

enum Task {
    Settings(String),
    Work {
        unsaved: Vec<Unsaved>,
        /// Left by other editors and opened here: kept by us from now on.
        taken: Vec<PathBuf>,
    },
    SetAside(PathBuf),
    End {
        /// Nothing of the work is needed any more.
        forget: bool,
        done: Sender<()>,
    },
}

/// What is kept, and when.
pub(crate) struct Autosave {
    tasks: Sender<Task>,
    news: Receiver<AutosaveEvent>,
    /// What was handed over last.
    settings: String,
    /// Settings that differ from it, and since when.
    settling: Option<(String, f64)>,
    /// The document's revision that was seen last.
    seen: u64,
    /// When the document changed first and last since it was handed over.
    changed: Option<[f64; 2]>,
    taken: Vec<PathBuf>,
    left: Vec<RecoveredProject>,
}

impl Autosave {
    /// Starts the thread, which looks first for what other editors left behind.
    pub(crate) fn start(
        folders: &UserFolders,
        settings: &Settings,
        revision: u64,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let (tasks, received) = channel();
        let (sender, news) = channel();
        let folders = folders.clone();
        let show_message = move |said: AutosaveEvent| {
            // The window may be gone by now; then nobody needs it.
            let _ = sender.send(said);
            wake();
        };
        std::thread::Builder::new()
            .name("upthrust keeper".into())
            .spawn(move || serve(&folders, &received, &show_message))?;
        Ok(Self {
            tasks,
            news,
            settings: settings.to_json(),
            settling: None,
            seen: revision,
            changed: None,
            taken: Vec::new(),
            left: Vec::new(),
        })
    }

    fn send(&self, task: Task) {
        // The thread lives as long as this does.
        let _ = self.tasks.send(task);
    }

    /// When the work is to be written, if it changed: now, or a time to come.
    fn due(&mut self, revision: u64, now: f64) -> Option<f64> {
        if revision != self.seen {
            self.seen = revision;
            let first = self.changed.map_or(now, |[first, _]| first);
            self.changed = Some([first, now]);
        }
        self.changed.map(|[first, last]| (last + QUIET_S).min(first + LATEST_S))
    }

    fn keep_work(&mut self, unsaved: Vec<Unsaved>) {
        self.changed = None;
        let taken = std::mem::take(&mut self.taken);
        self.send(Task::Work { unsaved, taken });
    }

    /// Whether everything that was handed over could be written.
    pub(crate) fn is_sound(&self) -> bool {
        !self.news.try_iter().any(|news| matches!(news, AutosaveEvent::Failed(_)))
    }

    /// The last thing: writes what is not written yet, and forgets the work or leaves it for the next start. Whether
    /// the disk was done in time.
    pub(crate) fn end(&mut self, settings: String, unsaved: Option<Vec<Unsaved>>) -> bool {
        if settings != self.settings {
            self.send(Task::Settings(settings));
        }
        let forget = unsaved.is_none();
        if let Some(unsaved) = unsaved {
            self.keep_work(unsaved);
        }
        self.left.clear();
        let (done, waited) = channel();
        self.send(Task::End { forget, done });
        waited.recv_timeout(PATIENCE).is_ok()
    }
}

fn serve(folders: &UserFolders, tasks: &Receiver<Task>, show_message: &dyn Fn(AutosaveEvent)) {
    let root = folders.state.as_ref().map(|folder| folder.join("recovery"));
    let mut session = None;
    if let Some(root) = &root {
        match RecoverySession::begin(root) {
            Ok(begun) => session = Some(begun),
            Err(error) => show_message(AutosaveEvent::Failed(format!(
                "{}: unsaved work cannot be kept there against a crash: {error}",
                root.display()
            ))),
        }
        recovery::remove_expired(root, SystemTime::now());
        let (left, broken) = recovery::find_recoverable(root);
        if !left.is_empty() {
            show_message(AutosaveEvent::Left(left));
        }
        if let Some(broken) = broken.first() {
            show_message(AutosaveEvent::Failed(format!("unsaved work of an earlier session cannot be read: {broken}")));
        }
    }
    let mut has_complained = false;
    let mut ended = None;
    while ended.is_none()
        && let Ok(first) = tasks.recv()
    {
        let (mut settings, mut work, mut taken) = (None, None, Vec::new());
        for task in std::iter::once(first).chain(tasks.try_iter()) {
            match task {
                Task::Settings(text) => settings = Some(text),
                Task::Work { unsaved, taken: more } => {
                    work = Some(unsaved);
                    taken.extend(more);
                }
                Task::SetAside(folder) => {
                    let aside = root.as_ref().map(|root| recovery::move_to_discarded(root, &folder, SystemTime::now()));
                    if let Some(Err(error)) = aside {
                        show_message(AutosaveEvent::Failed(format!(
                            "{}: it cannot be discarded: {error}",
                            folder.display()
                        )));
                    }
                }
                Task::End { forget, done } => ended = Some((forget, done)),
            }
        }
        let mut outcomes = Vec::new();
        if let Some((path, text)) = folders.settings_file().zip(settings) {
            outcomes.push(write_settings(&path, &text).map_err(|error| format!("the settings are not kept: {error}")));
        }
        if let Some((session, unsaved)) = session.as_mut().zip(work) {
            let kept = session.keep(&unsaved);
            if kept.is_ok() {
                taken.iter().for_each(|file| recovery::forget(file));
            }
            outcomes.push(kept.map_err(|error| format!("unsaved work is not kept against a crash: {error}")));
        }
        // A disk that refuses goes on refusing: once is enough.
        if let Some(error) = outcomes.into_iter().find_map(Result::err)
            && !std::mem::replace(&mut has_complained, true)
        {
            show_message(AutosaveEvent::Failed(error));
        }
    }
    let (forget, done) = ended.unzip();
    if let Some(session) = session
        && (forget == Some(true) || session.is_empty())
    {
        session.end();
    }
    if let Some(done) = done {
        let _ = done.send(());
    }
}

fn write_settings(path: &std::path::Path, text: &str) -> Result<(), crate::files::FileError> {
    use crate::files::FileError;
    std::fs::create_dir_all(folder_of(path)).map_err(|error| FileError::writing(path, &error))?;
    atomic::write_atomically(path, true, |writer| {
        std::io::Write::write_all(writer, text.as_bytes()).map_err(|error| FileError::writing(path, &error))
    })
}

impl App {
    /// Hands over what is to be kept when it is time to, and takes what the thread found.
    pub(crate) fn keep(&mut self, ctx: &Context) {
        let now = ctx.input(|input| input.time);
        let text = self.settings_text();
        let Some(autosave) = &mut self.services.autosave else { return };
        if text == autosave.settings {
            autosave.settling = None;
        } else if let Some((_, since)) = autosave.settling.as_ref().filter(|(waiting, _)| *waiting == text) {
            if now - since >= SETTLED_S {
                autosave.send(Task::Settings(text.clone()));
                (autosave.settings, autosave.settling) = (text, None);
            } else {
                ctx.request_repaint_after(Duration::from_secs_f64(SETTLED_S));
            }
        } else {
            autosave.settling = Some((text, now));
            ctx.request_repaint_after(Duration::from_secs_f64(SETTLED_S));
        }
        match autosave.due(self.document.revision(), now) {
            Some(due) if now >= due => autosave.keep_work(self.document.unsaved()),
            Some(due) => ctx.request_repaint_after(Duration::from_secs_f64(due - now)),
            None => {}
        }
        let mut failed = None;
        while let Ok(news) = autosave.news.try_recv() {
            match news {
                AutosaveEvent::Left(left) => autosave.left.extend(left),
                AutosaveEvent::Failed(error) => failed = Some(error),
            }
        }
        if self.ui.modal.is_none() && !autosave.left.is_empty() {
            self.ui.modal = Some(Modal::Recovered(std::mem::take(&mut autosave.left)));
        }
        if let Some(error) = failed {
            self.show_error(error);
        }
    }

    /// The settings as they are now.
    pub(crate) fn settings_text(&mut self) -> String {
        self.settings.set_layout(&self.ui.layout.tree);
        self.settings.maximised = self.ui.layout.maximised;
        self.settings.to_json()
    }

    /// The window has closed. Work that nobody has let go is left for the next start.
    pub(crate) fn finish_autosave(&mut self) {
        let settings = self.settings_text();
        let unsaved = self.document.unsaved();
        if let Some(mut autosave) = self.services.autosave.take() {
            let lost = !self.ui.closing.discards_changes() && !unsaved.is_empty();
            autosave.end(settings, lost.then_some(unsaved));
        }
    }

    /// What an earlier session left behind is chosen from; returns whether the question stands.
    pub(crate) fn recovered_ui(&mut self, ctx: &Context, left: &mut Vec<RecoveredProject>) -> bool {
        match recovered_projects::recovery_ui(ctx, left) {
            Some(recovered_projects::RecoveryResponse::Open(i)) if i < left.len() => {
                let RecoveredProject { contents, path, file, .. } = left.remove(i);
                let name = format!("Recover {}", crate::app::document::title(&contents.project));
                self.ui.pending_project = Some(PendingProject { name, file: contents, path, is_unsaved: true });
                self.services.autosave.iter_mut().for_each(|autosave| autosave.taken.push(file.clone()));
                !left.is_empty()
            }
            Some(recovered_projects::RecoveryResponse::Open(_)) | None => true,
            Some(recovered_projects::RecoveryResponse::Later) => false,
            Some(recovered_projects::RecoveryResponse::Discard) => {
                let mut folders: Vec<PathBuf> = left.iter().map(|left| left.folder().to_path_buf()).collect();
                folders.dedup();
                // Lets the locks go: a locked file cannot be moved everywhere.
                left.clear();
                if let Some(autosave) = &self.services.autosave {
                    folders.into_iter().for_each(|folder| autosave.send(Task::SetAside(folder)));
                }
                false
            }
        }
    }
}

/// Reads the settings and says what is wrong with them.
pub(crate) fn read_settings(folders: &UserFolders) -> (Settings, Option<String>) {
    folders.settings_file().map_or_else(Default::default, |path| Settings::read(&path))
}
