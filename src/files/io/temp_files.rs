//! The registry of files that are being written, so that a program that has to exit at once leaves none behind.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The temporary files of this process. Code that creates, renames or removes one holds the lock while it does, so
/// [`stop_writing`] never misses a file.
pub(super) struct TempFiles {
    /// Temporary paths of files that are not complete or not renamed yet.
    pub unfinished: BTreeSet<PathBuf>,
    /// How many files have been renamed to their final names.
    pub committed: usize,
}

static TEMP_FILES: Mutex<TempFiles> = Mutex::new(TempFiles { unfinished: BTreeSet::new(), committed: 0 });

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
