//! The export thread: every order is carried out, one after another, unless the user cancels it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{InputFiles, JobError, Wake, catch_panic, lock};
use crate::engine::Progress;
use crate::files::FileError;
use crate::files::atomic::{NewFolders, check_writable, folder_of};
use crate::files::build::{BuildReport, Order, build};
use crate::files::memory::available_bytes;

/// How an export ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportOutcome {
    /// What was written, and what is to be known of it.
    Written(BuildReport),
    /// The user stopped it; nothing was left half-written.
    Cancelled,
    /// It failed.
    Failed(JobError),
}

/// What is being exported.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportStatus {
    /// The first file of the order.
    pub path: PathBuf,
    /// The share done, from 0 to 1.
    pub fraction: f32,
    /// Whether the user has cancelled it and it is about to stop.
    pub is_cancelled: bool,
    /// Orders that wait behind it.
    pub waiting: usize,
}

/// The handle of the export thread. Dropping it cancels what is being exported and stops the thread.
pub struct Exporter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Wake,
}

#[derive(Default)]
struct State {
    orders: VecDeque<(Order, InputFiles)>,
    running: Option<(PathBuf, Arc<Progress>)>,
    finished: VecDeque<ExportOutcome>,
    stopping: bool,
}

impl Exporter {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take) or to show.
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), wake });
        let thread = {
            let shared = shared.clone();
            std::thread::Builder::new().name("upthrust export".into()).spawn(move || serve(&shared))?
        };
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Puts an order behind those that wait; its inputs are decoded from `files` when its turn has come.
    pub fn export(&self, order: Order, files: InputFiles) {
        lock(&self.shared.state).orders.push_back((order, files));
        self.shared.changed.notify_all();
    }

    /// The oldest outcome that has not been taken yet.
    pub fn take(&self) -> Option<ExportOutcome> {
        lock(&self.shared.state).finished.pop_front()
    }

    /// What is being exported, if anything.
    pub fn status(&self) -> Option<ExportStatus> {
        let state = lock(&self.shared.state);
        let waiting = state.orders.len();
        match (&state.running, state.orders.front()) {
            (Some((path, progress)), _) => Some(ExportStatus {
                path: path.clone(),
                fraction: progress.fraction(),
                is_cancelled: progress.is_cancelled(),
                waiting,
            }),
            (None, Some((order, _))) => {
                Some(ExportStatus { path: first_path(order), fraction: 0.0, is_cancelled: false, waiting: waiting - 1 })
            }
            (None, None) => None,
        }
    }

    /// Stops what is being exported; orders behind it are carried out.
    pub fn cancel(&self) {
        if let Some((_, progress)) = &lock(&self.shared.state).running {
            progress.cancel();
        }
    }

    /// Stops what is being exported and forgets the orders behind it.
    pub fn cancel_all(&self) {
        lock(&self.shared.state).orders.clear();
        self.cancel();
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        lock(&self.shared.state).stopping = true;
        self.cancel_all();
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared) {
    // A pool of its own: in a shared one the preview's work would queue behind the export's.
    let pool = rayon::ThreadPoolBuilder::new().thread_name(|i| format!("upthrust export {i}")).build();
    loop {
        let (mut order, files, progress) = {
            let mut state = lock(&shared.state);
            let (order, files) = loop {
                if state.stopping {
                    return;
                }
                match state.orders.pop_front() {
                    Some(order) => break order,
                    None => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            let progress = Arc::new(Progress::new());
            state.running = Some((first_path(&order), progress.clone()));
            (order, files, progress)
        };
        (shared.wake)();
        let mut job = || {
            order.load_inputs(&files, &progress)?;
            let mut folders = NewFolders::default();
            for planned in order.plan()? {
                folders.make(folder_of(&planned.path)).map_err(|error| FileError::writing(&planned.path, &error))?;
            }
            let built = match &pool {
                Ok(pool) => pool.install(|| build(&order, &progress)),
                Err(_) => build(&order, &progress),
            }?;
            folders.keep();
            Ok(built)
        };
        let outcome = match catch_panic(&mut job) {
            Ok(Ok(built)) => ExportOutcome::Written(built),
            Ok(Err(FileError::Cancelled)) => ExportOutcome::Cancelled,
            Ok(Err(error)) => ExportOutcome::Failed(JobError::Failed(error.to_string())),
            Err(panicked) => ExportOutcome::Failed(panicked),
        };
        let mut state = lock(&shared.state);
        state.running = None;
        state.finished.push_back(outcome);
        drop(state);
        (shared.wake)();
    }
}

/// What stands in the way of files that are to be written, before anything is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetCheck {
    /// The files that were asked about.
    pub files: Vec<PathBuf>,
    /// Why they cannot be written: what is wrong and what to do.
    pub obstacle: Option<String>,
    /// Those that are there already.
    pub replaced: Vec<PathBuf>,
    /// The folder that will be made for them.
    pub new_folder: Option<PathBuf>,
    /// Bytes of memory that are free; `None` where the system does not say.
    pub available_bytes: Option<u64>,
}

/// A name that nobody gives to a file, to try whether one can be written.
const PROBE: &str = ".upthrust-probe";

/// Looks whether files can be written, and which of them would replace others. Takes as long as the disk does.
pub fn check_targets(files: Vec<PathBuf>) -> TargetCheck {
    let replaced: Vec<PathBuf> = files.iter().filter(|path| path.symlink_metadata().is_ok()).cloned().collect();
    let mut check_targets = TargetCheck { replaced, available_bytes: available_bytes(), ..TargetCheck::default() };
    for file in &files {
        let folder = folder_of(file);
        let there = folder.ancestors().find(|folder| folder.exists() && !folder.as_os_str().is_empty());
        let there = there.unwrap_or(Path::new("."));
        if !there.is_dir() {
            let problem = "is a file, so that there can be no folder of that name; choose another folder";
            check_targets.obstacle = Some(format!("{} {problem}", there.display()));
        } else if there == folder {
            check_targets.obstacle = check_writable(file, true).err().map(|error| error.to_string());
        } else {
            // What can be written beside the new folder can be written in it.
            check_targets.obstacle = check_writable(&there.join(PROBE), true).err().map(|error| {
                let reason = match error {
                    FileError::Disk { reason, .. } => reason.to_string(),
                    error => error.to_string(),
                };
                let [folder, there] = [folder, there].map(Path::display);
                format!("The folder {folder} cannot be made: {there} takes no files ({reason}). Choose another folder.")
            });
            check_targets.new_folder = Some(folder.to_path_buf());
        }
        // One file tells of its folder; those that are there already may be in the way themselves.
        if check_targets.obstacle.is_some() {
            break;
        }
    }
    TargetCheck { files, ..check_targets }
}

/// The file by which an order is called.
fn first_path(order: &Order) -> PathBuf {
    let heightmap = order.heightmaps.first().map(|heightmap| heightmap.path.clone());
    heightmap.or_else(|| order.texture.as_ref().map(|texture| texture.path.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::{Extent, Grid, Recipe, Step};
    use crate::files::build::HeightmapOrder;

    fn order(folder: &std::path::Path, name: &str, count: u32, samples: usize) -> Order {
        let recipe = Recipe { stack: vec![Step::new(Faults { count, ..Default::default() })], ..Default::default() };
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, samples, samples);
        Order { heightmaps: vec![HeightmapOrder::new(folder.join(name))], ..Order::new("test", recipe, grid) }
    }

    fn wait(exporter: &Exporter) -> ExportOutcome {
        crate::worker::tests::wait(|| exporter.take())
    }

    #[test]
    fn every_order_is_carried_out_in_turn_and_failures_are_told() {
        let folder = tempfile::tempdir().expect("folder");
        let exporter = Exporter::start(Arc::new(|| {})).expect("thread");
        for name in ["a.png", "b.r32", "a.png"] {
            exporter.export(order(folder.path(), name, 10, 33), InputFiles::new());
        }
        assert!(matches!(wait(&exporter), ExportOutcome::Written(built) if built.files[0].ends_with("a.png")));
        assert!(matches!(wait(&exporter), ExportOutcome::Written(built) if built.files[0].ends_with("b.r32")));
        assert!(matches!(wait(&exporter), ExportOutcome::Failed(_)), "a.png is there already");
    }

    #[test]
    fn a_cancelled_export_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let exporter = Exporter::start(Arc::new(|| {})).expect("thread");
        exporter.export(order(folder.path(), "a.png", 1_000_000, 1025), InputFiles::new());
        let deadline = Instant::now() + Duration::from_secs(30);
        while exporter.status().is_none_or(|status| status.fraction == 0.0) {
            assert!(Instant::now() < deadline, "the export did not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        exporter.cancel();
        assert_eq!(wait(&exporter), ExportOutcome::Cancelled);
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
    }

    #[test]
    fn a_survey_finds_what_is_in_the_way_and_writes_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("there.png"), "mine").expect("written");
        let surveyed = check_targets(vec![path("there.png"), path("new.png")]);
        assert_eq!((surveyed.replaced, surveyed.obstacle, surveyed.new_folder), (vec![path("there.png")], None, None));
        let new = check_targets(vec![path("a/b/new.png")]);
        assert_eq!((new.obstacle, new.new_folder), (None, Some(path("a/b"))));
        let blocked = check_targets(vec![path("there.png/a/new.png")]).obstacle.expect("a file is no folder");
        assert!(blocked.contains("there.png is a file"), "{blocked}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1);
    }

    #[test]
    fn a_folder_is_made_for_an_export_and_goes_with_one_that_fails() {
        let folder = tempfile::tempdir().expect("folder");
        let exporter = Exporter::start(Arc::new(|| {})).expect("thread");
        exporter.export(order(folder.path(), "new/a.png", 10, 33), InputFiles::new());
        assert!(matches!(wait(&exporter), ExportOutcome::Written(_)));
        assert!(folder.path().join("new/a.png").exists());
        let twice = order(folder.path(), "gone/a.png", 10, 33);
        let heightmaps = [&twice.heightmaps[..], &twice.heightmaps[..]].concat();
        exporter.export(Order { heightmaps, ..twice }, InputFiles::new());
        assert!(matches!(wait(&exporter), ExportOutcome::Failed(_)), "one file cannot be written twice");
        assert!(!folder.path().join("gone").exists());
    }
}
