//! The export thread: runs every export in order, unless the user cancels it.

use std::path::{Path, PathBuf};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::job::{JobError, Wake};
use super::runner::{JobContext, Policy, Runner, RunnerConfig, Status, Worker};
use crate::files::FileError;
use crate::files::export::{BuildReport, Plan, build_plan};
use crate::files::import::InputFiles;
use crate::files::io::folders::{NewFolders, folder_of};

/// How an export ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportOutcome {
    /// The files that were written, with notes for the user.
    Written(BuildReport),
    /// The user cancelled it; no partial file is left.
    Cancelled,
    /// It failed.
    Failed(JobError),
}

/// The export that is running, or about to.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportStatus {
    /// Its first file.
    pub path: PathBuf,
    /// The fraction done, from 0 to 1.
    pub fraction: f32,
    /// Whether the user has cancelled it and it is about to stop.
    pub is_cancelled: bool,
    /// The number of exports queued behind it.
    pub waiting: usize,
}

impl From<Status<PathBuf>> for ExportStatus {
    fn from(Status { label, fraction, is_cancelled, waiting }: Status<PathBuf>) -> Self {
        Self { path: label, fraction, is_cancelled, waiting }
    }
}

/// The handle of the export thread. Dropping it cancels the running export and joins the thread.
pub struct Exporter {
    runner: Runner<ExportWorker>,
}

impl Exporter {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        // A separate pool: in a shared one the preview's work would queue behind the export's.
        let pool = ThreadPoolBuilder::new().thread_name(|i| format!("upthrust export {i}")).build().ok();
        let runner = Runner::start(RunnerConfig::new("upthrust export", Policy::Queue), ExportWorker { pool }, wake)?;
        Ok(Self { runner })
    }

    /// Queues an export; its inputs are decoded from `files` when it starts.
    pub fn export(&self, plan: Plan, files: InputFiles) {
        self.runner.submit((plan, files));
    }

    /// Takes the oldest outcome.
    pub fn take(&self) -> Option<ExportOutcome> {
        self.runner.take().map(|(_, result)| match result {
            Ok(built) => ExportOutcome::Written(built),
            Err(JobError::Cancelled) => ExportOutcome::Cancelled,
            Err(error) => ExportOutcome::Failed(error),
        })
    }

    /// Returns the export that is running or about to; `None` if there is none.
    pub fn status(&self) -> Option<ExportStatus> {
        self.runner.status().map(ExportStatus::from)
    }

    /// Cancels the running export; the queued ones are run.
    pub fn cancel(&self) {
        self.runner.cancel();
    }

    /// Cancels the running export and discards the queued ones.
    pub fn cancel_all(&self) {
        self.runner.cancel_all();
    }
}

struct ExportWorker {
    pool: Option<ThreadPool>,
}

impl Worker for ExportWorker {
    type Job = (Plan, InputFiles);
    type Label = PathBuf;
    type Output = BuildReport;

    /// The first file of the export.
    fn label((plan, _): &Self::Job) -> PathBuf {
        plan.paths().next().map(Path::to_path_buf).unwrap_or_default()
    }

    fn run(
        &mut self,
        (mut plan, files): Self::Job,
        context: &JobContext<'_, BuildReport>,
    ) -> Result<BuildReport, JobError> {
        let progress = context.progress;
        plan.load_inputs(&files, progress)?;
        let mut folders = NewFolders::default();
        for path in plan.paths() {
            folders.make(folder_of(path)).map_err(|error| FileError::writing(path, &error))?;
        }
        let built = match &self.pool {
            Some(pool) => pool.install(|| build_plan(&plan, progress)),
            None => build_plan(&plan, progress),
        }?;
        folders.keep();
        Ok(built)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::{Extent, Grid, Recipe, Step};
    use crate::files::export::{HeightmapOrder, Order};
    use crate::worker::test_support::{self, no_wake};

    fn order(folder: &Path, name: &str, count: u32, samples: usize) -> Order {
        let recipe = Recipe { stack: vec![Step::new(Faults { count, ..Default::default() })], ..Default::default() };
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, samples, samples);
        Order { heightmaps: vec![HeightmapOrder::new(folder.join(name))], ..Order::new("test", recipe, grid) }
    }

    fn plan(order: Order) -> Plan {
        Plan::new(order).expect("possible")
    }

    fn wait(exporter: &Exporter) -> ExportOutcome {
        test_support::wait(|| exporter.take())
    }

    #[test]
    fn exports_run_in_order_and_report_failures() {
        let folder = tempfile::tempdir().expect("folder");
        let exporter = Exporter::start(no_wake()).expect("thread");
        for name in ["a.png", "b.r32", "a.png"] {
            exporter.export(plan(order(folder.path(), name, 10, 33)), InputFiles::new());
        }
        assert!(matches!(wait(&exporter), ExportOutcome::Written(built) if built.files[0].ends_with("a.png")));
        assert!(matches!(wait(&exporter), ExportOutcome::Written(built) if built.files[0].ends_with("b.r32")));
        assert!(matches!(wait(&exporter), ExportOutcome::Failed(_)), "a.png exists already");
    }

    #[test]
    fn a_cancelled_export_leaves_no_file() {
        let folder = tempfile::tempdir().expect("folder");
        let exporter = Exporter::start(no_wake()).expect("thread");
        exporter.export(plan(order(folder.path(), "a.png", 300_000, 1025)), InputFiles::new());
        let deadline = Instant::now() + Duration::from_secs(30);
        while exporter.status().is_none_or(|status| status.fraction == 0.0) {
            assert!(Instant::now() < deadline, "the export did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        exporter.cancel();
        assert_eq!(wait(&exporter), ExportOutcome::Cancelled);
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
    }

    #[test]
    fn an_export_creates_its_folder_and_removes_it_if_it_fails() {
        let folder = tempfile::tempdir().expect("folder");
        let exporter = Exporter::start(no_wake()).expect("thread");
        exporter.export(plan(order(folder.path(), "new/a.png", 10, 33)), InputFiles::new());
        assert!(matches!(wait(&exporter), ExportOutcome::Written(_)));
        assert!(folder.path().join("new/a.png").exists());
        let twice = order(folder.path(), "gone/a.png", 10, 33);
        let heightmaps = [&twice.heightmaps[..], &twice.heightmaps[..]].concat();
        exporter.export(plan(Order { heightmaps, ..twice }), InputFiles::new());
        assert!(matches!(wait(&exporter), ExportOutcome::Failed(_)), "one file cannot be written twice");
        assert!(!folder.path().join("gone").exists());
    }
}
