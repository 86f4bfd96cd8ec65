//! Background tasks that read and write single files, so that a slow disk never blocks a frame.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::app::commands::{FileSlot, ImportTarget};
use crate::app::dialogs::gallery::UserPreset;
use crate::app::dialogs::import::{ImportDialog, Imported, ReadPurpose};
use crate::engine::parameters::FileName;
use crate::files::FileError;
use crate::files::export::{CostEstimate, Order};
use crate::files::formats::heightmap::{Format, RawLayout, ReadOptions};
use crate::files::formats::image::ImageFileFormat;
use crate::files::import::{self, ImportedFile, InputFiles, terrain_fingerprint};
use crate::files::io::atomic;
use crate::files::io::disk_state::DiskState;
use crate::files::io::folders::folder_of;
use crate::project::{MAX_FILE_BYTES, PROJECT_SUFFIX, Project, ProjectFile};
use crate::worker::{
    JobContext, JobError, Policy, Runner, RunnerConfig, Shutdown, TargetCheck, Wake, Worker, check_targets,
};

/// The result of a task.
#[derive(Debug)]
pub(crate) enum FileTaskResult {
    /// A project was read.
    Opened {
        path: PathBuf,
        file: ProjectFile,
        state: DiskState,
        /// What the user should know.
        notes: Vec<String>,
    },
    /// A project was not read, because it uses these files outside its folder.
    UsesFilesOutside { path: PathBuf, files: Vec<PathBuf> },
    /// A heightmap or texture was read and can be decoded.
    Imported(Box<Imported>),
    /// The project with that id was written.
    Saved { path: PathBuf, file: ProjectFile, project_id: usize, state: DiskState },
    /// The project with that id was not written, because its file has changed: another program, or another project with
    /// the same file, wrote it.
    SaveConflict { path: PathBuf, project_id: usize },
    /// Another program has changed the file of the project with that id.
    ChangedOnDisk { path: PathBuf, project_id: usize, state: DiskState },
    /// Whether the files of an export can be written.
    TargetsChecked(TargetCheck),
    /// How long an export will take; `None` if that could not be measured.
    CostEstimated(Option<CostEstimate>),
    /// The user's presets, and the error of one that cannot be read.
    Presets { presets: Vec<UserPreset>, broken: Option<String> },
    /// A user preset was written.
    PresetSaved { path: PathBuf },
    /// The task is done and has no result.
    Done,
    /// No program to show this folder was found.
    NoFileManager(PathBuf),
    /// The recent files that no longer exist.
    RecentMissing(BTreeSet<PathBuf>),
    /// A recent file that should be opened no longer exists.
    RecentGone(PathBuf),
    /// The project with that id could not be written: what is wrong and what to do about it.
    SaveFailed { project_id: usize, message: String },
    /// The task failed: what is wrong and what to do about it.
    Failed(String),
}

/// Whether a file definitely does not exist; in a folder that cannot be read, it may.
fn is_gone(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

/// How long closing the editor waits for queued writes: a network disk may never answer.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// What a task is about, for the message of one that panicked.
#[derive(Clone, Default)]
struct TaskLabel {
    file: Option<PathBuf>,
    /// The id of the project that it saves.
    saves: Option<usize>,
}

impl TaskLabel {
    fn failed(self, error: &JobError) -> FileTaskResult {
        let message = self.file.map_or(error.to_string(), |file| format!("{}: {error}", file.display()));
        match self.saves {
            Some(project_id) => FileTaskResult::SaveFailed { project_id, message },
            None => FileTaskResult::Failed(message),
        }
    }
}

struct Task {
    label: TaskLabel,
    run: Box<dyn FnOnce() -> FileTaskResult + Send>,
}

struct TaskWorker;

impl Worker for TaskWorker {
    type Job = Task;
    type Label = TaskLabel;
    type Output = FileTaskResult;

    fn label(task: &Task) -> TaskLabel {
        task.label.clone()
    }

    fn run(&mut self, task: Task, _: &JobContext<'_, FileTaskResult>) -> Result<FileTaskResult, JobError> {
        Ok((task.run)())
    }
}

/// The state of each file that was written, and the id of the project that wrote it.
type Written = BTreeMap<PathBuf, (usize, DiskState)>;

/// Runs tasks one after another, so that a file holds what was saved last. Dropping it finishes the queued tasks.
pub(crate) struct FileTasks {
    tasks: Runner<TaskWorker>,
    /// The state of each file as this editor last wrote it: a save that is queued knows an older one.
    written: Arc<Mutex<Written>>,
    // Each of these has its own thread, because a disk that does not answer may block the tasks for minutes. Each
    // needs only the newest result.
    target_checks: Runner<TaskWorker>,
    cost_estimates: Runner<TaskWorker>,
    recent_checks: Runner<TaskWorker>,
    change_checks: Runner<TaskWorker>,
}

impl FileTasks {
    pub(crate) fn start(wake: &Wake) -> std::io::Result<Self> {
        let tasks = RunnerConfig {
            shutdown: Shutdown::Finish,
            shutdown_timeout: Some(SHUTDOWN_TIMEOUT),
            ..RunnerConfig::new("upthrust files", Policy::Queue)
        };
        let newest = |name: &'static str| {
            let config = RunnerConfig::new(name, Policy::LatestWins { grace: Duration::ZERO });
            Runner::start(RunnerConfig { shutdown_timeout: Some(Duration::ZERO), ..config }, TaskWorker, wake.clone())
        };
        Ok(Self {
            tasks: Runner::start(tasks, TaskWorker, wake.clone())?,
            written: Arc::default(),
            target_checks: newest("upthrust target check")?,
            cost_estimates: newest("upthrust cost estimate")?,
            recent_checks: newest("upthrust recent files")?,
            change_checks: newest("upthrust change check")?,
        })
    }

    /// Whether every task has run.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.tasks.status().is_none()
    }

    /// Takes the next result.
    pub(crate) fn take(&self) -> Option<FileTaskResult> {
        let Self { tasks, written: _, target_checks, cost_estimates, recent_checks, change_checks } = self;
        let runners = [tasks, target_checks, cost_estimates, recent_checks, change_checks];
        let (label, result) = runners.into_iter().find_map(Runner::take)?;
        Some(result.unwrap_or_else(|error| label.failed(&error)))
    }

    /// Opens a project, a colour image as the texture of a new terrain type, or any other file as a heightmap.
    pub(crate) fn open(&self, path: PathBuf) {
        // A recovered project would otherwise be saved relative to the folder of another start.
        let path = std::path::absolute(&path).unwrap_or(path);
        self.run_for(path.clone(), None, move || open_file(&path, false));
    }

    /// Opens a project that uses files outside its folder.
    pub(crate) fn open_with_files_outside(&self, path: PathBuf) {
        self.run_for(path.clone(), None, move || open_file(&path, true));
    }

    /// Opens a recent file, if it still exists.
    pub(crate) fn open_recent(&self, path: PathBuf) {
        let open = move |path: PathBuf| {
            if is_gone(&path) { FileTaskResult::RecentGone(path) } else { open_file(&path, false) }
        };
        self.run_for(path.clone(), None, move || open(path));
    }

    /// Finds out which of these files no longer exist.
    pub(crate) fn find_missing(&self, paths: Vec<PathBuf>) {
        submit(&self.recent_checks, move || {
            FileTaskResult::RecentMissing(paths.into_iter().filter(|path| is_gone(path)).collect())
        });
    }

    /// Reads a heightmap for a step, or a texture for a terrain type.
    pub(crate) fn import(&self, path: PathBuf, target: Option<ImportTarget>) {
        self.run_for(path.clone(), None, move || {
            let read = match target.as_ref().map(|target| target.slot) {
                Some(FileSlot::Texture(_)) => import::open_texture(&path),
                Some(FileSlot::Mask { .. }) => import::open_mask(&path),
                Some(FileSlot::Stamp { .. }) => import::open_stamp(&path),
                Some(FileSlot::Operation(_)) | None => import::open_for_review(&path, &ReadOptions::default()),
            };
            imported(path, read, target, false)
        });
    }

    /// Reads the heightmap of an import window again: in another way, or as a project stores it.
    pub(crate) fn read_again(&self, dialog: &ImportDialog, options: ReadOptions, purpose: ReadPurpose) {
        let ImportDialog { path, target, is_opened, .. } = dialog;
        let (path, target, is_opened) = (path.clone(), target.clone(), *is_opened);
        self.run_for(path.clone(), None, move || {
            let read = match purpose {
                ReadPurpose::Choice | ReadPurpose::Again => import::open_for_review(&path, &options),
                ReadPurpose::Import => import::open_heightmap(&path, &options),
            };
            let file = read.map_err(|error| error.to_string());
            FileTaskResult::Imported(Box::new(Imported { path, file, options, target, is_opened, purpose }))
        });
    }

    /// Writes the project with that id, unless its file is no longer as `known`.
    pub(crate) fn save(&self, path: PathBuf, file: ProjectFile, project_id: usize, known: Option<DiskState>) {
        let written = self.written.clone();
        self.run_for(path.clone(), Some(project_id), move || {
            let fingerprint = terrain_fingerprint(&file.project.recipe, &file.project.files);
            let text = file.clone().with_terrain_fingerprint(fingerprint).to_json();
            // Held while writing, so that a check does not see the new file before its state is known.
            let mut written = lock(&written);
            let changed = known.and_then(|known| known.changed(&path));
            if changed.is_some_and(|state| written.get(&path) != Some(&(project_id, state))) {
                return FileTaskResult::SaveConflict { path, project_id };
            }
            let write = |writer: &mut BufWriter<&File>| {
                writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(&path, &error))
            };
            match atomic::write_atomically(&path, true, write) {
                Ok(()) => {
                    let state = DiskState::written(&path, text.as_bytes());
                    written.insert(path.clone(), (project_id, state));
                    FileTaskResult::Saved { path, file, project_id, state }
                }
                Err(error) => FileTaskResult::SaveFailed { project_id, message: error.to_string() },
            }
        });
    }

    /// Checks whether another program has changed the file of the project with that id.
    pub(crate) fn check_change(&self, path: PathBuf, known: DiskState, project_id: usize) {
        let written = self.written.clone();
        submit(&self.change_checks, move || {
            let changed = known.changed(&path);
            match changed.filter(|state| lock(&written).get(&path).is_none_or(|(_, written)| written != state)) {
                Some(state) => FileTaskResult::ChangedOnDisk { path, project_id, state },
                None => FileTaskResult::Done,
            }
        });
    }

    /// Checks whether the files of an export can be written.
    pub(crate) fn check_targets(&self, files: Vec<PathBuf>) {
        submit(&self.target_checks, move || FileTaskResult::TargetsChecked(check_targets(files)));
    }

    /// Estimates how long an export takes, by computing a part of it.
    pub(crate) fn estimate_cost(&self, order: Order, files: InputFiles) {
        submit(&self.cost_estimates, move || FileTaskResult::CostEstimated(CostEstimate::measure(order, &files)));
    }

    /// Shows a folder in the desktop's file manager.
    pub(crate) fn show_folder(&self, folder: PathBuf) {
        self.run(move || match open::that_detached(&folder) {
            Ok(()) => FileTaskResult::Done,
            Err(_) if !folder.is_dir() => FileTaskResult::Failed(format!("{} no longer exists", folder.display())),
            Err(_) => FileTaskResult::NoFileManager(folder),
        });
    }

    /// Queues a task. Tasks run in order.
    pub(crate) fn run(&self, task: impl FnOnce() -> FileTaskResult + Send + 'static) {
        submit(&self.tasks, task);
    }

    /// Queues a task about a file, perhaps one that saves the project with that id.
    fn run_for(&self, file: PathBuf, saves: Option<usize>, run: impl FnOnce() -> FileTaskResult + Send + 'static) {
        self.tasks.submit(Task { label: TaskLabel { file: Some(file), saves }, run: Box::new(run) });
    }
}

/// Locks a map that is consistent after every statement, so a panic elsewhere cannot have corrupted it.
fn lock(written: &Mutex<Written>) -> MutexGuard<'_, Written> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}

fn submit(runner: &Runner<TaskWorker>, run: impl FnOnce() -> FileTaskResult + Send + 'static) {
    runner.submit(Task { label: TaskLabel::default(), run: Box::new(run) });
}

/// Opens a project, a colour image as a texture, or any other file as a heightmap.
fn open_file(path: &Path, reads_outside: bool) -> FileTaskResult {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let failed = |reason: String| FileTaskResult::Failed(format!("{}: {reason}", path.display()));
        open_project(path, reads_outside).unwrap_or_else(failed)
    } else {
        match import::open_any(path) {
            Err(error) if Format::from_path(path).is_err() => {
                FileTaskResult::Failed(format!("{error}, or {PROJECT_SUFFIX} for projects"))
            }
            read => imported(path.to_path_buf(), read, None, true),
        }
    }
}

/// What to do with a file that was read. A heightmap that cannot be read is shown in the import window too, where the user
/// can choose the layout of one without a header.
fn imported(
    path: PathBuf,
    read: Result<ImportedFile, FileError>,
    target: Option<ImportTarget>,
    is_opened: bool,
) -> FileTaskResult {
    let format = Format::from_path(&path).ok();
    let sample = format.and_then(|format| format.raw_sample(None));
    let is_for_step = target.as_ref().is_none_or(|target| matches!(target.slot, FileSlot::Operation(_)));
    let is_heightmap = is_for_step && format.is_some() && ImageFileFormat::from_path(&path).is_err();
    let (file, options) = match (read, sample) {
        (Ok(file), _) => (Ok(file), ReadOptions::default()),
        (Err(error), Some(sample)) => (Err(error.to_string()), Some(RawLayout::square(sample)).into()),
        (Err(error), None) if is_heightmap => (Err(error.to_string()), ReadOptions::default()),
        (Err(error), None) => return FileTaskResult::Failed(error.to_string()),
    };
    FileTaskResult::Imported(Box::new(Imported {
        path,
        file,
        options,
        target,
        is_opened,
        purpose: ReadPurpose::Choice,
    }))
}

fn open_project(path: &Path, reads_outside: bool) -> Result<FileTaskResult, String> {
    let (state, bytes) = DiskState::read(path, MAX_FILE_BYTES).map_err(|error| error.to_string())?;
    let mut file = ProjectFile::from_bytes(&bytes).map_err(|error| error.to_string())?;
    let embedded: BTreeSet<FileName> = file.project.files.keys().cloned().collect();
    let files = file.files_outside(path);
    if !files.is_empty() && !reads_outside {
        return Ok(FileTaskResult::UsesFilesOutside { path: path.to_path_buf(), files });
    }
    file.load_files(path).map_err(|error| error.to_string())?;
    let changes = file.terrain_changes(|Project { recipe, files, .. }| terrain_fingerprint(recipe, files));
    let project = Arc::make_mut(&mut file.project);
    let max_bytes = project.remaining_file_bytes();
    let Project { recipe, files, .. } = project;
    let mut notes = import::apply_sidecars(recipe, files, &embedded, folder_of(path), max_bytes);
    notes.extend(changes);
    Ok(FileTaskResult::Opened { path: path.to_path_buf(), file, state, notes })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::project::Project;

    fn file_tasks() -> FileTasks {
        FileTasks::start(&(Arc::new(|| {}) as Wake)).expect("threads")
    }

    fn wait(tasks: &FileTasks) -> FileTaskResult {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(result) = tasks.take() {
                return result;
            }
            assert!(Instant::now() < deadline, "no result after 30 s");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// A PNG file of one pixel with a palette of that many bytes, which has to be a multiple of three.
    fn png_with_palette(bytes: usize) -> Vec<u8> {
        let chunk = |kind: &[u8; 4], data: &[u8]| {
            let mut crc = flate2::Crc::new();
            crc.update(kind);
            crc.update(data);
            [&(data.len() as u32).to_be_bytes()[..], kind, data, &crc.sum().to_be_bytes()].concat()
        };
        let mut pixels = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        pixels.write_all(&[0, 0]).expect("memory");
        [
            b"\x89PNG\r\n\x1a\n".to_vec(),
            chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 3, 0, 0, 0]),
            chunk(b"PLTE", &vec![9; bytes]),
            chunk(b"IDAT", &pixels.finish().expect("memory")),
            chunk(b"IEND", &[]),
        ]
        .concat()
    }

    #[test]
    fn a_file_that_panics_its_decoder_is_reported_and_saving_still_works() {
        let folder = tempfile::tempdir().expect("folder");
        let [broken, project] = ["broken.png", "a.upthrust.json"].map(|name| folder.path().join(name));
        std::fs::write(&broken, png_with_palette(4)).expect("written");
        let tasks = file_tasks();
        tasks.open(broken);
        assert!(matches!(wait(&tasks), FileTaskResult::Failed(_)));
        tasks.run(|| panic!("a bug"));
        assert!(matches!(wait(&tasks), FileTaskResult::Failed(text) if text.contains("a bug")));
        tasks.save(project.clone(), ProjectFile::default(), 0, None);
        assert!(matches!(wait(&tasks), FileTaskResult::Saved { path, .. } if path == project));
    }

    #[test]
    fn a_save_queued_behind_another_one_is_no_conflict() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.upthrust.json");
        std::fs::write(&path, "first").expect("written");
        let known = Some(DiskState::written(&path, b"first"));
        let tasks = file_tasks();
        let version = |name: &str| ProjectFile::new(Project { name: name.into(), ..Default::default() });
        tasks.save(path.clone(), version("second"), 0, known);
        tasks.save(path.clone(), version("third"), 0, known);
        assert!(matches!(wait(&tasks), FileTaskResult::Saved { .. }));
        assert!(matches!(wait(&tasks), FileTaskResult::Saved { .. }));
        // Another version of the project, which was opened before.
        tasks.save(path.clone(), version("other"), 1, known);
        assert!(matches!(wait(&tasks), FileTaskResult::SaveConflict { project_id: 1, .. }));
        std::fs::write(&path, "theirs").expect("written");
        tasks.save(path.clone(), version("fourth"), 0, known);
        assert!(matches!(wait(&tasks), FileTaskResult::SaveConflict { .. }));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "theirs");
    }

    #[test]
    fn dropping_finishes_what_was_queued() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.upthrust.json");
        let tasks = file_tasks();
        tasks.run(|| {
            std::thread::sleep(Duration::from_millis(50));
            FileTaskResult::Done
        });
        tasks.save(path.clone(), ProjectFile::default(), 0, None);
        drop(tasks);
        assert!(ProjectFile::open(&path).is_ok());
    }
}
