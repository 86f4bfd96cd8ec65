//! Saves settings and unsaved projects in the background, and finds what a crashed editor left behind.
//!
//! Of several queued states only the newest is written. None of this delays the interface, an export or a save.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use egui::Context;
use egui_tiles::Tree;

use crate::app::document::{Document, Unsaved};
use crate::app::tasks::emergency_save::EmergencySave;
use crate::app::tasks::folder_lock::TryLock;
use crate::app::tasks::recovery;
use crate::app::tasks::recovery::{RecoveredProject, RecoveryFile, RecoverySession, Unreadable};
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::app::views::View;
use crate::files::FileError;
use crate::files::io::atomic;
use crate::files::io::failure::{self, Operation};
use crate::files::io::folders::folder_of;
use crate::project::ProjectFile;
use crate::worker::{JobContext, JobError, Policy, Runner, RunnerConfig, Shutdown, Wake, Worker};

/// How long after the last change unsaved projects are written, in seconds.
const QUIET_S: f64 = 2.0;

/// The longest time after the first change, in seconds, so that they are on the disk within five seconds.
const LATEST_S: f64 = 4.0;

/// Settings are written after this long without a change, in seconds.
const SETTLED_S: f64 = 1.0;

/// The longest pause between attempts to write, in seconds. The first is one second and each is twice the one before.
const MAX_PAUSE_S: f64 = 60.0;

/// How long closing the editor waits for the disk.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Something to tell the user.
#[derive(Debug)]
pub(crate) struct AutosaveMessage {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl AutosaveMessage {
    fn error(text: String) -> Self {
        Self { text, is_error: true }
    }
}

enum Job {
    FindRecoverable,
    Settings(String),
    /// Writes the newest state of the unsaved projects, which [`EmergencySave`] has.
    Projects {
        /// Recovery files of other editors that are open here, and covered by this editor's autosave from now on.
        adopted: Vec<RecoveryFile>,
    },
    /// Discards these recovery folders.
    Discard(BTreeSet<PathBuf>),
    End {
        keeps_projects: bool,
    },
}

/// What a job did. Errors are texts for the user.
enum JobOutput {
    Recovered { projects: Vec<RecoveredProject>, errors: Vec<String> },
    Settings(Result<(), String>),
    Projects(Result<(), String>),
    Other(Result<(), String>),
}

/// When to try again after a failure.
#[derive(Debug, Default)]
struct Retry {
    /// The pause after the last failure, in seconds; 0 after a success.
    pause_s: f64,
    /// No attempt is made before this time, in seconds.
    not_before: f64,
}

impl Retry {
    /// Records the outcome of an attempt. Returns what to tell the user: the first failure, and that it works again.
    fn record(&mut self, result: Result<(), String>, now: f64, works_again: &str) -> Option<AutosaveMessage> {
        match result {
            Ok(()) => {
                let had_failed = std::mem::take(self).pause_s > 0.0;
                had_failed.then(|| AutosaveMessage { text: works_again.into(), is_error: false })
            }
            Err(text) => {
                let is_first = self.pause_s == 0.0;
                self.pause_s = (2.0 * self.pause_s).clamp(1.0, MAX_PAUSE_S);
                self.not_before = now + self.pause_s;
                is_first.then(|| AutosaveMessage::error(format!("{text}; the editor keeps trying")))
            }
        }
    }
}

/// Decides when to save, and passes the contents to its thread.
pub(crate) struct Autosave {
    jobs: Runner<AutosaveWorker>,
    emergency_save: Arc<EmergencySave>,
    /// The settings that the file holds; `None` if they could not be written.
    settings: Option<Settings>,
    /// Settings that differ from those, and since when.
    changed_settings: Option<(Settings, f64)>,
    settings_retry: Retry,
    /// The layout that the settings hold. Comparing it is much cheaper than converting it to JSON in every frame.
    layout: Option<Tree<View>>,
    /// The document's revision of the last frame.
    revision: u64,
    /// When the document changed first and last since it was written.
    changed: Option<[f64; 2]>,
    projects_retry: Retry,
    adopted: Vec<RecoveryFile>,
    /// The projects of editors that crashed, until they are opened or discarded.
    recovered: Vec<RecoveredProject>,
    /// Whether the user is still to be told about them.
    is_offer_due: bool,
}

impl Autosave {
    /// Starts the thread. It looks for recoverable projects first.
    pub(crate) fn start(
        folders: &UserFolders,
        settings: &Settings,
        revision: u64,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let emergency_save = Arc::new(EmergencySave::default());
        let worker = AutosaveWorker {
            settings_file: folders.settings_file(),
            root: folders.state.as_ref().map(|folder| folder.join("recovery")),
            try_lock: File::try_lock,
            emergency_save: emergency_save.clone(),
            adopted: Vec::new(),
        };
        let config = RunnerConfig {
            shutdown: Shutdown::Finish,
            shutdown_timeout: Some(TIMEOUT),
            ..RunnerConfig::new("upthrust autosave", Policy::Queue)
        };
        let jobs = Runner::start(config, worker, wake)?;
        jobs.submit(Job::FindRecoverable);
        Ok(Self {
            jobs,
            emergency_save,
            settings: Some(settings.clone()),
            changed_settings: None,
            settings_retry: Retry::default(),
            layout: None,
            revision,
            changed: None,
            projects_retry: Retry::default(),
            adopted: Vec::new(),
            recovered: Vec::new(),
            is_offer_due: false,
        })
    }

    /// Writes unsaved projects even if the process ends without closing this window.
    pub(crate) fn register_emergency_save(&self) {
        self.emergency_save.register();
    }

    /// Saves what is due. Returns the message to show, if there is one.
    pub(crate) fn update(
        &mut self,
        ctx: &Context,
        settings: &Settings,
        document: &Document,
    ) -> Option<AutosaveMessage> {
        let now = ctx.input(|input| input.time);
        let message = self.take_results(now);
        let settings_wait = self.save_settings(settings, now);
        let projects_wait = self.save_projects_if_due(document, now);
        for wait_s in settings_wait.into_iter().chain(projects_wait) {
            ctx.request_repaint_after(Duration::from_secs_f64(wait_s));
        }
        message
    }

    fn take_results(&mut self, now: f64) -> Option<AutosaveMessage> {
        let mut message = None;
        while let Some((kind, result)) = self.jobs.take() {
            let output = result.unwrap_or_else(|error| kind.failed(error.to_string()));
            let new = match output {
                JobOutput::Recovered { projects, errors } => {
                    self.is_offer_due |= !projects.is_empty();
                    self.recovered.extend(projects);
                    errors.into_iter().next().map(AutosaveMessage::error)
                }
                JobOutput::Settings(result) => {
                    if result.is_err() {
                        self.settings = None;
                    }
                    self.settings_retry.record(result, now, "The settings are saved again")
                }
                JobOutput::Projects(result) => {
                    if result.is_err() {
                        self.changed.get_or_insert([now, now]);
                    }
                    self.projects_retry.record(result, now, "Autosave works again")
                }
                JobOutput::Other(result) => result.err().map(AutosaveMessage::error),
            };
            message = new.or(message);
        }
        message
    }

    /// Whether the thread has done everything that it was told to do.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.jobs.status().is_none()
    }

    /// The projects of editors that crashed.
    pub(crate) fn recovered(&self) -> &[RecoveredProject] {
        &self.recovered
    }

    /// Whether to offer those projects to the user, who was not told about them yet.
    pub(crate) fn take_offer(&mut self) -> bool {
        std::mem::take(&mut self.is_offer_due)
    }

    /// Takes one of those projects to open it, and covers it from now on: its recovery file is deleted once this editor
    /// has written its own.
    pub(crate) fn take_recovered(&mut self, index: usize) -> Option<(ProjectFile, Option<PathBuf>)> {
        let taken = (index < self.recovered.len()).then(|| self.recovered.remove(index))?;
        self.adopted.push(taken.file);
        Some((taken.contents, taken.path))
    }

    /// Copies the layout into the settings, if it changed.
    pub(crate) fn update_layout(&mut self, settings: &mut Settings, tree: &Tree<View>) {
        if self.layout.as_ref() != Some(tree) {
            settings.set_layout(tree);
            self.layout = Some(tree.clone());
        }
    }

    /// Writes the settings if they have not changed for a while. Returns in how many seconds to call this again.
    fn save_settings(&mut self, settings: &Settings, now: f64) -> Option<f64> {
        if self.settings.as_ref() == Some(settings) {
            self.changed_settings = None;
            return None;
        }
        let since = match &self.changed_settings {
            Some((waiting, since)) if waiting == settings => *since,
            Some(_) | None => {
                self.changed_settings = Some((settings.clone(), now));
                now
            }
        };
        let due = (since + SETTLED_S).max(self.settings_retry.not_before);
        if now < due {
            return Some(due - now);
        }
        self.submit_settings(settings);
        self.changed_settings = None;
        None
    }

    fn submit_settings(&mut self, settings: &Settings) {
        self.jobs.edit_queue(|queue| queue.retain(|job| !matches!(job, Job::Settings(_))));
        self.jobs.submit(Job::Settings(settings.to_json()));
        self.settings = Some(settings.clone());
    }

    /// Writes the projects if they are due. Returns in how many seconds to call this again.
    fn save_projects_if_due(&mut self, document: &Document, now: f64) -> Option<f64> {
        let revision = document.revision();
        if revision != self.revision {
            self.revision = revision;
            self.emergency_save.update(document.unsaved());
            let first = self.changed.map_or(now, |[first, _]| first);
            self.changed = Some([first, now]);
        }
        let [first, last] = self.changed?;
        let due = (last + QUIET_S).min(first + LATEST_S).max(self.projects_retry.not_before);
        if now < due {
            return Some(due - now);
        }
        self.submit_projects();
        None
    }

    fn submit_projects(&mut self) {
        self.changed = None;
        self.jobs.submit(Job::Projects { adopted: std::mem::take(&mut self.adopted) });
    }

    /// Discards the recovered projects. They are kept for a week.
    pub(crate) fn discard_recovered(&mut self) {
        let projects = std::mem::take(&mut self.recovered);
        let folders: BTreeSet<PathBuf> = projects.iter().map(|project| project.folder().to_path_buf()).collect();
        // Releases the locks: some systems cannot move a locked file.
        drop(projects);
        self.jobs.submit(Job::Discard(folders));
    }

    /// Writes what is not written yet and ends the thread. `unsaved` is offered at the next start; `None` deletes it.
    /// Returns whether everything is written.
    pub(crate) fn end(&mut self, settings: &Settings, unsaved: Option<Vec<Unsaved>>) -> bool {
        if self.settings.as_ref() != Some(settings) {
            self.submit_settings(settings);
        }
        let keeps_projects = unsaved.is_some();
        self.emergency_save.update(unsaved.unwrap_or_default());
        self.submit_projects();
        self.recovered.clear();
        self.jobs.submit(Job::End { keeps_projects });
        let has_ended = self.jobs.shut_down();
        let is_written = |result| {
            matches!(
                result,
                Ok(JobOutput::Recovered { .. }
                    | JobOutput::Settings(Ok(()))
                    | JobOutput::Projects(Ok(()))
                    | JobOutput::Other(Ok(())))
            )
        };
        has_ended && std::iter::from_fn(|| self.jobs.take()).all(|(_, result)| is_written(result))
    }
}

/// Identifies the kind of a job whose result is an error of the runner: a panic.
#[derive(Clone, Copy)]
enum JobKind {
    Settings,
    Projects,
    Other,
}

impl JobKind {
    fn failed(self, reason: String) -> JobOutput {
        match self {
            Self::Settings => JobOutput::Settings(Err(reason)),
            Self::Projects => JobOutput::Projects(Err(reason)),
            Self::Other => JobOutput::Other(Err(reason)),
        }
    }
}

/// The state of the thread.
struct AutosaveWorker {
    settings_file: Option<PathBuf>,
    /// The recovery folder of all editors; `None`: nothing is saved.
    root: Option<PathBuf>,
    try_lock: TryLock,
    emergency_save: Arc<EmergencySave>,
    /// Recovery files of other editors, to be deleted once their projects are written here.
    adopted: Vec<RecoveryFile>,
}

impl Worker for AutosaveWorker {
    type Job = Job;
    type Label = JobKind;
    type Output = JobOutput;

    fn label(job: &Job) -> JobKind {
        match job {
            Job::Settings(_) => JobKind::Settings,
            Job::Projects { .. } => JobKind::Projects,
            Job::FindRecoverable | Job::Discard(_) | Job::End { .. } => JobKind::Other,
        }
    }

    fn run(&mut self, job: Job, _: &JobContext<'_, JobOutput>) -> Result<JobOutput, JobError> {
        Ok(match job {
            Job::FindRecoverable => self.find_recoverable(),
            Job::Settings(text) => JobOutput::Settings(self.write_settings(&text)),
            Job::Projects { adopted } => {
                self.adopted.extend(adopted);
                let result = self.write_projects();
                if result.is_ok() {
                    self.adopted.drain(..).for_each(|file| file.delete());
                }
                JobOutput::Projects(result)
            }
            Job::Discard(folders) => JobOutput::Other(self.discard(&folders)),
            Job::End { keeps_projects } => {
                self.end(keeps_projects);
                JobOutput::Other(Ok(()))
            }
        })
    }
}

impl AutosaveWorker {
    fn find_recoverable(&self) -> JobOutput {
        let Some(root) = &self.root else { return JobOutput::Other(Ok(())) };
        let mut errors = Vec::new();
        match self.begin_session(root) {
            Ok(note) => errors.extend(note),
            Err(error) => errors.push(format!("{}: cannot autosave unsaved projects there: {error}", root.display())),
        }
        recovery::remove_expired(root, SystemTime::now());
        let (projects, unreadable) = recovery::find_recoverable(root, self.try_lock);
        let readable: BTreeSet<PathBuf> = projects.iter().map(|found| found.folder().to_path_buf()).collect();
        errors.extend(set_aside_unreadable(root, &unreadable, &readable));
        JobOutput::Recovered { projects, errors }
    }

    /// Creates the recovery folder of this editor, if there is none yet or somebody deleted it. Returns what to tell
    /// the user about it.
    fn begin_session(&self, root: &Path) -> std::io::Result<Option<String>> {
        let mut session = self.emergency_save.session();
        if session.as_ref().is_some_and(RecoverySession::exists) {
            return Ok(None);
        }
        let begun = RecoverySession::begin(root, self.try_lock)?;
        let note = begun.unsupported_lock().map(|reason| {
            format!("{}: files cannot be locked there ({reason}), so autosave works without locks", root.display())
        });
        *session = Some(begun);
        Ok(note)
    }

    fn write_projects(&self) -> Result<(), String> {
        let Some(root) = &self.root else { return Ok(()) };
        let failed = |reason: &dyn std::fmt::Display| {
            format!("cannot save unsaved projects for recovery after a crash: {reason}")
        };
        self.begin_session(root).map_err(|error| failed(&format!("{}: {error}", root.display())))?;
        match self.emergency_save.session().as_mut() {
            Some(session) => session.keep(&self.emergency_save.unsaved()).map_err(|error| failed(&error)),
            None => Ok(()),
        }
    }

    fn write_settings(&self, text: &str) -> Result<(), String> {
        let Some(path) = &self.settings_file else { return Ok(()) };
        write_settings(path, text).map_err(|error| format!("cannot save the settings: {error}"))
    }

    fn discard(&self, folders: &BTreeSet<PathBuf>) -> Result<(), String> {
        let Some(root) = &self.root else { return Ok(()) };
        let mut result = Ok(());
        for folder in folders {
            if let Err(error) = recovery::move_to_discarded(root, folder, SystemTime::now()) {
                result = Err(format!("cannot discard {}: {error}", folder.display()));
            }
        }
        result
    }

    fn end(&self, keeps_projects: bool) {
        self.emergency_save.update(Vec::new());
        if let Some(session) = self.emergency_save.session().take()
            && (!keeps_projects || session.is_empty())
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
    Some(format!("unsaved work from an earlier session cannot be read: {}: {reason}{moved}", file.display()))
}

fn write_settings(path: &Path, text: &str) -> Result<(), FileError> {
    let folder = folder_of(path);
    let created = failure::check(Operation::CreateFolder, folder).and_then(|()| std::fs::create_dir_all(folder));
    created.map_err(|error| FileError::writing(path, &error))?;
    atomic::write_atomically(path, true, |writer| {
        std::io::Write::write_all(writer, text.as_bytes()).map_err(|error| FileError::writing(path, &error))
    })
}

/// Reads the settings. Returns the defaults and an error message if that fails.
pub(crate) fn read_settings(folders: &UserFolders) -> (Settings, Option<String>) {
    folders.settings_file().map_or_else(Default::default, |path| Settings::read(&path))
}
