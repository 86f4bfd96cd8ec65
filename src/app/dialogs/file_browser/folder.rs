//! Folders as the file browser shows them, read by a thread of their own: a disk may take long to answer.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::app::document::file_name;
use crate::files::io::folders::folder_of;
use crate::worker::{JobContext, JobError, Policy, Runner, RunnerConfig, Wake, Worker};

/// A file or folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FolderEntry {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
    pub(super) bytes: u64,
    pub(super) modified: Option<SystemTime>,
}

/// The contents of a folder: its folders before its files, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) entries: Vec<FolderEntry>,
    /// The folders that most users keep files in, as far as they exist.
    pub(super) usual: Vec<PathBuf>,
    /// The user's home folder.
    pub(super) home: Option<PathBuf>,
}

/// What the thread does.
#[derive(Clone, Debug)]
pub(super) enum FolderJob {
    /// Opens a folder, or the nearest one above it that exists.
    Open(PathBuf),
    /// Creates a folder and opens it.
    Create(PathBuf),
    /// Opens the folder at a path that the user typed, or else chooses the file there.
    Choose {
        path: PathBuf,
        /// Whether the file will be written, so that it need not exist.
        writes: bool,
    },
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FolderResult {
    Opened(Folder),
    Chosen(PathBuf),
    /// What is wrong and what to do about it.
    Failed(String),
}

/// Starts the thread, which only runs the newest job.
pub(super) fn start(wake: Wake) -> std::io::Result<Runner<FolderReader>> {
    let config = RunnerConfig::new("upthrust file browser", Policy::LatestWins { grace: Duration::ZERO });
    Runner::start(RunnerConfig { shutdown_timeout: Some(Duration::ZERO), ..config }, FolderReader, wake)
}

/// Reads folders.
pub(super) struct FolderReader;

impl Worker for FolderReader {
    type Job = FolderJob;
    type Label = ();
    type Output = FolderResult;

    fn label(_: &FolderJob) {}

    fn run(&mut self, job: FolderJob, _: &JobContext<'_, FolderResult>) -> Result<FolderResult, JobError> {
        Ok(match job {
            FolderJob::Open(path) => {
                let nearest = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(&path);
                open(nearest)
            }
            FolderJob::Create(path) => match std::fs::create_dir(&path) {
                Ok(()) => open(&path),
                Err(error) => FolderResult::Failed(format!("{}: cannot create the folder: {error}", path.display())),
            },
            FolderJob::Choose { path, .. } if path.is_dir() => open(&path),
            FolderJob::Choose { path, writes } => choose(path, writes),
        })
    }
}

fn choose(path: PathBuf, writes: bool) -> FolderResult {
    let folder = folder_of(&path);
    if !folder.is_dir() {
        FolderResult::Failed(format!("{} does not exist; choose another folder or create it", folder.display()))
    } else if !writes && !path.exists() {
        FolderResult::Failed(format!("{} has no file {}; check the name", folder.display(), file_name(&path)))
    } else {
        FolderResult::Chosen(path)
    }
}

fn open(path: &Path) -> FolderResult {
    let read = match std::fs::read_dir(path) {
        Ok(read) => read,
        Err(error) => return FolderResult::Failed(format!("{}: cannot read the folder: {error}", path.display())),
    };
    // An entry that disappears while the folder is read is left out.
    let mut entries: Vec<FolderEntry> = read.flatten().filter_map(|entry| FolderEntry::read(entry.path())).collect();
    entries.sort_by_cached_key(|entry| (!entry.is_folder, entry.name.to_lowercase(), entry.name.clone()));
    FolderResult::Opened(Folder {
        path: path.to_path_buf(),
        entries,
        usual: usual_folders(),
        home: std::env::home_dir(),
    })
}

impl FolderEntry {
    /// The entry at a path; `None` if it is hidden or cannot be read.
    fn read(path: PathBuf) -> Option<Self> {
        let name = file_name(&path);
        if name.starts_with('.') {
            return None;
        }
        // Links show what they point to.
        let metadata = std::fs::metadata(&path).ok()?;
        let (bytes, modified) = (metadata.len(), metadata.modified().ok());
        Some(Self { name, path, is_folder: metadata.is_dir(), bytes, modified })
    }
}

fn usual_folders() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let inside = |name: &str| home.as_ref().map(|home| home.join(name));
    let own = home.clone().into_iter().chain(["Desktop", "Documents", "Downloads"].into_iter().filter_map(inside));
    let roots: Vec<PathBuf> = if cfg!(windows) {
        ('A'..='Z').map(|drive| PathBuf::from(format!("{drive}:\\"))).collect()
    } else {
        vec![PathBuf::from("/")]
    };
    own.chain(roots).filter(|folder| folder.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;

    fn run(job: FolderJob) -> FolderResult {
        let reader = start(Arc::new(|| {})).expect("a thread");
        reader.submit(job);
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some((_, result)) = reader.take() {
                return result.expect("a result");
            }
            assert!(Instant::now() < deadline, "no result");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn names(result: FolderResult) -> Vec<String> {
        match result {
            FolderResult::Opened(folder) => folder.entries.into_iter().map(|entry| entry.name).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn folders_come_before_files_and_hidden_ones_are_left_out() {
        let root = tempfile::tempdir().expect("folder");
        for name in ["b.png", "A.tif", ".hidden"] {
            std::fs::write(root.path().join(name), "12345").expect("written");
        }
        std::fs::create_dir(root.path().join("zone")).expect("made");
        let opened = run(FolderJob::Open(root.path().to_path_buf()));
        let FolderResult::Opened(folder) = &opened else { panic!("{opened:?}") };
        assert_eq!((folder.entries[0].is_folder, folder.entries[1].bytes), (true, 5));
        assert_eq!(names(opened), ["zone", "A.tif", "b.png"]);
        // A folder that was deleted meanwhile.
        assert_eq!(names(run(FolderJob::Open(root.path().join("gone/deep")))), ["zone", "A.tif", "b.png"]);
        assert!(names(run(FolderJob::Create(root.path().join("new")))).is_empty());
        assert!(root.path().join("new").is_dir());
        let again = run(FolderJob::Create(root.path().join("new")));
        assert!(matches!(again, FolderResult::Failed(text) if text.contains("cannot create the folder")));
    }

    #[test]
    fn a_typed_path_opens_a_folder_or_chooses_a_file() {
        let root = tempfile::tempdir().expect("folder");
        let file = root.path().join("a.png");
        std::fs::write(&file, "").expect("written");
        let choose = |path: &Path, writes| run(FolderJob::Choose { path: path.to_path_buf(), writes });
        assert_eq!(choose(&file, false), FolderResult::Chosen(file.clone()));
        assert_eq!(names(choose(root.path(), false)), ["a.png"]);
        let new = root.path().join("new.json");
        assert_eq!(choose(&new, true), FolderResult::Chosen(new.clone()));
        assert!(matches!(choose(&new, false), FolderResult::Failed(text) if text.contains("has no file new.json")));
        let nowhere = root.path().join("nowhere/new.json");
        assert!(matches!(choose(&nowhere, true), FolderResult::Failed(text) if text.contains("does not exist")));
    }
}
