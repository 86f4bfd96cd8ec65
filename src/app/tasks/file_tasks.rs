//! Reading and writing of single files beside the interface, so that no slow disk stops a frame.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::app::commands::{FileSlot, Target};
use crate::app::dialogs::gallery::UserPreset;
use crate::files::FileError;
use crate::files::export::{CostEstimate, Order};
use crate::files::formats::heightmap::Format;
use crate::files::import::{self, ImportedFile, InputFiles};
use crate::files::io::atomic;
use crate::project::{PROJECT_SUFFIX, ProjectFile};
use crate::worker::{TargetCheck, Wake, check_targets};

/// What an errand brought back.
#[derive(Debug)]
pub(crate) enum FileTaskResult {
    /// A project was read.
    Opened { path: PathBuf, file: ProjectFile },
    /// A heightmap was read and found good.
    Imported(Imported),
    /// The project of that origin was written.
    Saved { path: PathBuf, file: ProjectFile, origin: usize },
    /// It is known whether the files of an export can be written.
    TargetsChecked(TargetCheck),
    /// How quickly what is to be exported is computed, if that could be found out.
    CostEstimated(Option<CostEstimate>),
    /// The presets of one's own were read, and what is wrong with one that could not be.
    Presets { presets: Vec<UserPreset>, broken: Option<String> },
    /// A preset of one's own was written.
    PresetSaved { path: PathBuf },
    /// Nothing is to be said of it.
    Done,
    /// There is no program that shows the folder.
    NoFileManager(PathBuf),
    /// These of the recent files are no longer there.
    RecentMissing(BTreeSet<PathBuf>),
    /// A recent file that was to be opened is no longer there.
    RecentGone(PathBuf),
    /// It went wrong: what, where, what to do.
    Failed(String),
}

/// A heightmap for a step, or a texture for a terrain type.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) file: ImportedFile,
    /// The step or terrain type that it is for; `None`: a new one.
    pub(crate) target: Option<Target>,
}

/// Whether there is certainly no such file; one that nobody may look at is not known to be gone.
fn is_gone(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

type Work = Box<dyn FnOnce() -> FileTaskResult + Send>;

/// Runs errands one after another on a thread of its own: what was saved last is what the file holds.
pub(crate) struct FileTasks {
    work: Sender<Work>,
    /// Looks go beside the others: on a disk that does not answer they may take very long.
    looks: Sender<Work>,
    done: Receiver<FileTaskResult>,
}

impl FileTasks {
    /// Starts the thread; it ends when this is dropped.
    pub(crate) fn start(wake: &Wake) -> std::io::Result<Self> {
        let (sender, done) = channel();
        let thread = |name: &str| {
            let (work, file_tasks) = channel::<Work>();
            let (sender, wake) = (sender.clone(), wake.clone());
            let run = move || {
                for errand in file_tasks {
                    // The window may be gone by now; then nobody needs the result, but the errand is done all the same.
                    let _ = sender.send(errand());
                    wake();
                }
            };
            std::thread::Builder::new().name(name.into()).spawn(run).map(|_| work)
        };
        Ok(Self { work: thread("upthrust errand")?, looks: thread("upthrust look")?, done })
    }

    /// The next errand that is done.
    pub(crate) fn take(&self) -> Option<FileTaskResult> {
        self.done.try_recv().ok()
    }

    /// Reads a project, a picture in colour as ground for a new terrain type, or any other file as a heightmap.
    pub(crate) fn open(&self, path: PathBuf) {
        self.run(move || opened(path));
    }

    /// The same with a recent file, if it is there.
    pub(crate) fn open_recent(&self, path: PathBuf) {
        self.run(move || if is_gone(&path) { FileTaskResult::RecentGone(path) } else { opened(path) });
    }

    /// Looks which of these files are no longer there.
    pub(crate) fn find_missing(&self, paths: Vec<PathBuf>) {
        self.look(move || FileTaskResult::RecentMissing(paths.into_iter().filter(|path| is_gone(path)).collect()));
    }

    /// Reads a heightmap for a step, or a picture for a terrain type.
    pub(crate) fn import(&self, path: PathBuf, target: Option<Target>) {
        self.run(move || {
            let read = match target.as_ref().map(|target| target.slot) {
                Some(FileSlot::Texture(_)) => import::open_texture(&path),
                Some(FileSlot::Operation(_) | FileSlot::Mask(_)) | None => import::open_heightmap(&path),
            };
            let imported = |file| FileTaskResult::Imported(Imported { file, target });
            read.map_or_else(|error| FileTaskResult::Failed(error.to_string()), imported)
        });
    }

    /// Writes the project that came from that origin.
    pub(crate) fn save(&self, path: PathBuf, file: ProjectFile, origin: usize) {
        self.run(move || {
            let text = file.to_json();
            let write = |writer: &mut BufWriter<&File>| {
                writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(&path, &error))
            };
            match atomic::write_atomically(&path, true, write) {
                Ok(()) => FileTaskResult::Saved { path, file, origin },
                Err(error) => FileTaskResult::Failed(error.to_string()),
            }
        });
    }

    /// Looks whether the files of an export can be written.
    pub(crate) fn check_targets(&self, files: Vec<PathBuf>) {
        self.look(move || FileTaskResult::TargetsChecked(check_targets(files)));
    }

    /// Tries how quickly an order is computed.
    pub(crate) fn estimate_cost(&self, order: Order, files: InputFiles) {
        self.look(move || FileTaskResult::CostEstimated(CostEstimate::measure(order, &files)));
    }

    /// Has the desktop show a folder.
    pub(crate) fn show_folder(&self, folder: PathBuf) {
        self.run(move || match open::that_detached(&folder) {
            Ok(()) => FileTaskResult::Done,
            Err(_) if !folder.is_dir() => FileTaskResult::Failed(format!("{} is no longer there", folder.display())),
            Err(_) => FileTaskResult::NoFileManager(folder),
        });
    }

    /// Runs a task on the thread for tasks that write nothing, so that saving never waits for it.
    fn look(&self, task: impl FnOnce() -> FileTaskResult + Send + 'static) {
        // The thread lives as long as this does.
        let _ = self.looks.send(Box::new(task));
    }

    pub(crate) fn run(&self, errand: impl FnOnce() -> FileTaskResult + Send + 'static) {
        // The thread lives as long as this does.
        let _ = self.work.send(Box::new(errand));
    }
}

/// Opens a project, a coloured image as a texture, or any other file as a heightmap.
fn opened(path: PathBuf) -> FileTaskResult {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        match ProjectFile::open(&path) {
            Ok(file) => FileTaskResult::Opened { file, path },
            Err(error) => FileTaskResult::Failed(format!("{}: {error}", path.display())),
        }
    } else {
        let read = import::open_any(&path).map(|file| Imported { file, target: None });
        let is_known = Format::from_path(&path).is_ok();
        let failed = |text: String| if is_known { text } else { format!("{text} and, of projects, {PROJECT_SUFFIX}") };
        read.map_or_else(|error| FileTaskResult::Failed(failed(error.to_string())), FileTaskResult::Imported)
    }
}
