//! Saves settings and unsaved projects in the background, and finds what a crashed editor left behind.
//!
//! Of several queued states only the newest is written. None of this delays the interface, an export or a save.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime};

use egui::Context;
use egui_tiles::Tree;

use crate::app::document::{Document, Unsaved};
use crate::app::tasks::recovery;
use crate::app::tasks::recovery::{RecoveredProject, RecoverySession, Unreadable};
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::app::views::View;
use crate::files::FileError;
use crate::files::io::atomic;
use crate::files::io::folders::folder_of;
use crate::worker::Wake;

/// Unsaved projects are written after this long without a change, in seconds …
const QUIET_S: f64 = 2.0;

/// … and at the latest this long after the first change, so that they are on the disk within five seconds.
const LATEST_S: f64 = 4.0;

/// Settings are written after this long without a change, in seconds.
const SETTLED_S: f64 = 1.0;

/// How long closing the editor waits for the disk.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the thread reports.
#[derive(Debug)]
pub(crate) enum AutosaveEvent {
    /// Editors that are no longer running left these projects behind.
    Recovered(Vec<RecoveredProject>),
    /// Something could not be written or read: what and why.
    Failed(String),
}

enum Task {
    Settings(String),
    Projects {
        unsaved: Vec<Unsaved>,
        /// Recovery files of other editors that are open here, and covered by this editor's autosave from now on.
        adopted: Vec<PathBuf>,
    },
    Discard(PathBuf),
    End {
        /// Whether to delete the saved projects.
        forget: bool,
        done: Sender<()>,
    },
}

/// Decides when to save, and passes the contents to its thread.
pub(crate) struct Autosave {
    tasks: Sender<Task>,
    events: Receiver<AutosaveEvent>,
    /// The settings that the file holds.
    settings: Settings,
    /// Settings that differ from those, and since when.
    changed_settings: Option<(Settings, f64)>,
    /// The layout that the settings hold. Comparing it is much cheaper than converting it to JSON in every frame.
    layout: Option<Tree<View>>,
    /// The document's revision of the last frame.
    revision: u64,
    /// When the document changed first and last since it was written.
    changed: Option<[f64; 2]>,
    adopted: Vec<PathBuf>,
    recovered: Vec<RecoveredProject>,
}

impl Autosave {
    /// Starts the thread. It looks for recoverable projects first.
    pub(crate) fn start(
        folders: &UserFolders,
        settings: &Settings,
        revision: u64,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let (tasks, received) = channel();
        let (sender, events) = channel();
        let folders = folders.clone();
        let report = move |event: AutosaveEvent| {
            // Fails if the window has closed; then nothing shows the event.
            let _ = sender.send(event);
            wake();
        };
        std::thread::Builder::new()
            .name("upthrust autosave".into())
            .spawn(move || AutosaveThread::start(folders, &report).run(&received))?;
        Ok(Self {
            tasks,
            events,
            settings: settings.clone(),
            changed_settings: None,
            layout: None,
            revision,
            changed: None,
            adopted: Vec::new(),
            recovered: Vec::new(),
        })
    }

    fn send(&self, task: Task) {
        // The thread lives as long as this does.
        let _ = self.tasks.send(task);
    }

    /// Saves what is due. Returns the error to show, if there is one.
    pub(crate) fn update(&mut self, ctx: &Context, settings: &Settings, document: &Document) -> Option<String> {
        let now = ctx.input(|input| input.time);
        if let Some(wait) = self.save_settings(settings, now) {
            ctx.request_repaint_after(Duration::from_secs_f64(wait));
        }
        match self.due(document.revision(), now) {
            Some(due) if now >= due => self.save_projects(document.unsaved()),
            Some(due) => ctx.request_repaint_after(Duration::from_secs_f64(due - now)),
            None => {}
        }
        let mut failed = None;
        while let Ok(event) = self.events.try_recv() {
            match event {
                AutosaveEvent::Recovered(projects) => self.recovered.extend(projects),
                AutosaveEvent::Failed(error) => failed = Some(error),
            }
        }
        failed
    }

    /// Takes the recovered projects to offer to the user.
    pub(crate) fn take_recovered(&mut self) -> Vec<RecoveredProject> {
        std::mem::take(&mut self.recovered)
    }

    /// Copies the layout into the settings, if it changed.
    pub(crate) fn update_layout(&mut self, settings: &mut Settings, tree: &Tree<View>) {
        if self.layout.as_ref() != Some(tree) {
            settings.set_layout(tree);
            self.layout = Some(tree.clone());
        }
    }

    /// Writes the settings if they have not changed for a while. Returns when to call this again, in seconds.
    fn save_settings(&mut self, settings: &Settings, now: f64) -> Option<f64> {
        if *settings == self.settings {
            self.changed_settings = None;
            return None;
        }
        match &self.changed_settings {
            Some((waiting, since)) if waiting == settings => {
                if now - since < SETTLED_S {
                    return Some(SETTLED_S);
                }
                self.send(Task::Settings(settings.to_json()));
                (self.settings, self.changed_settings) = (settings.clone(), None);
                None
            }
            Some(_) | None => {
                self.changed_settings = Some((settings.clone(), now));
                Some(SETTLED_S)
            }
        }
    }

    /// When to write the projects: a time that may have passed, or `None` if nothing changed.
    fn due(&mut self, revision: u64, now: f64) -> Option<f64> {
        if revision != self.revision {
            self.revision = revision;
            let first = self.changed.map_or(now, |[first, _]| first);
            self.changed = Some([first, now]);
        }
        self.changed.map(|[first, last]| (last + QUIET_S).min(first + LATEST_S))
    }

    fn save_projects(&mut self, unsaved: Vec<Unsaved>) {
        self.changed = None;
        let adopted = std::mem::take(&mut self.adopted);
        self.send(Task::Projects { unsaved, adopted });
    }

    /// Covers a recovered project from now on: its recovery file is deleted once this editor has written its own.
    pub(crate) fn adopt(&mut self, file: PathBuf) {
        self.adopted.push(file);
    }

    /// Discards recovered projects. They are kept for a week.
    pub(crate) fn discard(&self, projects: Vec<RecoveredProject>) {
        let folders: BTreeSet<PathBuf> = projects.iter().map(|project| project.folder().to_path_buf()).collect();
        // Releases the locks: some systems cannot move a locked file.
        drop(projects);
        folders.into_iter().for_each(|folder| self.send(Task::Discard(folder)));
    }

    /// Whether everything could be written so far.
    pub(crate) fn is_sound(&self) -> bool {
        !self.events.try_iter().any(|event| matches!(event, AutosaveEvent::Failed(_)))
    }

    /// Writes what is not written yet and ends the thread. `unsaved` is offered at the next start; `None` deletes it.
    /// Returns whether the disk finished in time.
    pub(crate) fn end(&mut self, settings: &Settings, unsaved: Option<Vec<Unsaved>>) -> bool {
        if *settings != self.settings {
            self.send(Task::Settings(settings.to_json()));
        }
        let forget = unsaved.is_none();
        if let Some(unsaved) = unsaved {
            self.save_projects(unsaved);
        }
        self.recovered.clear();
        let (done, waited) = channel();
        self.send(Task::End { forget, done });
        waited.recv_timeout(PATIENCE).is_ok()
    }
}

/// The state of the thread.
struct AutosaveThread<'a> {
    folders: UserFolders,
    report: &'a dyn Fn(AutosaveEvent),
    /// The recovery folder of all editors; `None`: nothing is saved.
    root: Option<PathBuf>,
    session: Option<RecoverySession>,
    /// A full disk fails every time; reporting it once is enough.
    has_reported: bool,
}

impl<'a> AutosaveThread<'a> {
    fn start(folders: UserFolders, report: &'a dyn Fn(AutosaveEvent)) -> Self {
        let root = folders.state.as_ref().map(|folder| folder.join("recovery"));
        let mut session = None;
        if let Some(root) = &root {
            match RecoverySession::begin(root) {
                Ok(begun) => session = Some(begun),
                Err(error) => report(AutosaveEvent::Failed(format!(
                    "{}: unsaved projects cannot be saved there for recovery after a crash: {error}",
                    root.display()
                ))),
            }
            recovery::remove_expired(root, SystemTime::now());
            let (recovered, unreadable) = recovery::find_recoverable(root);
            let readable: BTreeSet<PathBuf> = recovered.iter().map(|found| found.folder().to_path_buf()).collect();
            if !recovered.is_empty() {
                report(AutosaveEvent::Recovered(recovered));
            }
            if let Some(text) = set_aside_unreadable(root, &unreadable, &readable) {
                report(AutosaveEvent::Failed(text));
            }
        }
        Self { folders, report, root, session, has_reported: false }
    }

    fn run(mut self, tasks: &Receiver<Task>) {
        while let Ok(first) = tasks.recv() {
            if let Some((forget, done)) = self.run_tasks(std::iter::once(first).chain(tasks.try_iter())) {
                self.end(forget);
                // Fails if the editor has stopped waiting.
                let _ = done.send(());
                return;
            }
        }
        self.end(false);
    }

    /// Runs the queued tasks. Returns the contents of [`Task::End`] if it is among them.
    fn run_tasks(&mut self, tasks: impl Iterator<Item = Task>) -> Option<(bool, Sender<()>)> {
        let (mut settings, mut projects, mut all_adopted, mut ended) = (None, None, Vec::new(), None);
        for task in tasks {
            match task {
                Task::Settings(text) => settings = Some(text),
                Task::Projects { unsaved, adopted } => {
                    projects = Some(unsaved);
                    all_adopted.extend(adopted);
                }
                Task::Discard(folder) => self.discard(&folder),
                Task::End { forget, done } => ended = Some((forget, done)),
            }
        }
        let mut outcomes = Vec::new();
        if let Some((path, text)) = self.folders.settings_file().zip(settings) {
            outcomes.push(write_settings(&path, &text).map_err(|error| format!("cannot save the settings: {error}")));
        }
        if let Some((session, unsaved)) = self.session.as_mut().zip(projects) {
            let kept = session.keep(&unsaved);
            if kept.is_ok() {
                all_adopted.iter().for_each(|file| recovery::forget(file));
            }
            let reason = |error| format!("cannot save unsaved projects for recovery after a crash: {error}");
            outcomes.push(kept.map_err(reason));
        }
        if let Some(error) = outcomes.into_iter().find_map(Result::err)
            && !std::mem::replace(&mut self.has_reported, true)
        {
            (self.report)(AutosaveEvent::Failed(error));
        }
        ended
    }

    fn discard(&self, folder: &Path) {
        let Some(root) = &self.root else { return };
        if let Err(error) = recovery::move_to_discarded(root, folder, SystemTime::now()) {
            (self.report)(AutosaveEvent::Failed(format!("cannot discard {}: {error}", folder.display())));
        }
    }

    fn end(self, forget: bool) {
        if let Some(session) = self.session
            && (forget || session.is_empty())
        {
            session.end();
        }
    }
}

/// Moves the folders in which no project can be read to the discarded ones, so that they are reported only once.
/// Returns the message to show.
fn set_aside_unreadable(root: &Path, unreadable: &[Unreadable], readable: &BTreeSet<PathBuf>) -> Option<String> {
    let Unreadable { file, reason } = unreadable.first()?;
    let folders: BTreeSet<&Path> = unreadable.iter().map(|unreadable| folder_of(&unreadable.file)).collect();
    let mut moved = String::new();
    for folder in folders.into_iter().filter(|folder| !readable.contains(*folder)) {
        moved = match recovery::move_to_discarded(root, folder, SystemTime::now()) {
            Ok(to) => format!("; it is kept for a week in {}", to.display()),
            Err(error) => format!("; delete {} to stop this message ({error})", folder.display()),
        };
    }
    Some(format!("unsaved work of an earlier session cannot be read: {}: {reason}{moved}", file.display()))
}

fn write_settings(path: &Path, text: &str) -> Result<(), FileError> {
    std::fs::create_dir_all(folder_of(path)).map_err(|error| FileError::writing(path, &error))?;
    atomic::write_atomically(path, true, |writer| {
        std::io::Write::write_all(writer, text.as_bytes()).map_err(|error| FileError::writing(path, &error))
    })
}

/// Reads the settings. Returns the defaults and an error message if that fails.
pub(crate) fn read_settings(folders: &UserFolders) -> (Settings, Option<String>) {
    folders.settings_file().map_or_else(Default::default, |path| Settings::read(&path))
}
