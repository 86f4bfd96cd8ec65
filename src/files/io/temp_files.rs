//! The registry of temporary files, so that they are removed even if the program has to exit at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::process::{computer_name, is_running};

/// The temporary files of this process. Code that creates, renames or removes one holds the lock while it does, so
/// [`stop_writing`] never misses a file.
pub(super) struct TempFiles {
    /// Temporary paths of files that are not complete or not renamed yet.
    pub unfinished: BTreeSet<PathBuf>,
    /// How many files have been renamed to their final names.
    pub committed: usize,
    /// When [`remove_abandoned`](Self::remove_abandoned) last looked into a folder.
    checked: BTreeMap<PathBuf, Instant>,
}

const PREFIX: &str = ".upthrust-";
/// How the name of every temporary file ends.
pub(super) const SUFFIX: &str = ".part";

/// How long a folder is not searched again for abandoned files.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Younger files are left alone: on a shared disk, a computer of the same name may be writing them.
const MIN_AGE: Duration = Duration::from_secs(3600);

/// How the names of this process's temporary files begin.
pub(super) fn prefix() -> String {
    format!("{PREFIX}{}-{}-", std::process::id(), computer_name())
}

/// Whether a temporary file of that name belongs to a process of this computer that no longer runs.
fn is_abandoned(name: &str) -> bool {
    let names = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    let Some((process, rest)) = names.and_then(|name| name.split_once('-')) else { return false };
    // Containers may have the same name, or none, and numbers of their own.
    let own = computer_name();
    let is_ours = !own.is_empty() && rest.rsplit_once('-').is_some_and(|(computer, _)| computer == own);
    is_ours && process.parse().is_ok_and(|process| !is_running(process))
}

impl TempFiles {
    /// Removes temporary files that killed processes left in a folder.
    pub fn remove_abandoned(&mut self, folder: &Path) {
        let now = Instant::now();
        let is_recent = |checked: &Instant| now.duration_since(*checked) < CHECK_INTERVAL;
        self.checked.retain(|_, checked| is_recent(checked));
        if self.checked.contains_key(folder) {
            return;
        }
        self.checked.insert(folder.to_path_buf(), now);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= MIN_AGE));
            if is_old && is_abandoned(&entry.file_name().to_string_lossy()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

static TEMP_FILES: Mutex<TempFiles> =
    Mutex::new(TempFiles { unfinished: BTreeSet::new(), committed: 0, checked: BTreeMap::new() });

/// Locks the registry. It is consistent after every statement, so a panic in another thread cannot have corrupted it.
pub(super) fn lock() -> MutexGuard<'static, TempFiles> {
    TEMP_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks all writing while it is alive: no file can be started and none can be renamed to its final name.
pub struct WritingStopped(MutexGuard<'static, TempFiles>);

impl WritingStopped {
    /// How many files had been renamed to their final names before writing stopped.
    pub fn committed(&self) -> usize {
        self.0.committed
    }
}

/// Removes every temporary file and prevents new ones. Call it last, before the process exits at once. A commit that
/// has already started finishes first, with all of its files.
pub fn stop_writing() -> WritingStopped {
    let mut temp_files = lock();
    for path in std::mem::take(&mut temp_files.unfinished) {
        let _ = std::fs::remove_file(path);
    }
    WritingStopped(temp_files)
}
