//! The lock of a recovery folder, which tells a running editor's folder from one that was left behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::files::io::failure::{self, Operation};
use crate::files::io::process::{computer_name, is_running};

const LOCK: &str = "lock";

/// Follows the name of the process in a file that it could not lock.
const UNLOCKED: &str = " unlocked";

/// How a file is locked. Tests replace it, to act as a file system without locks.
pub(crate) type TryLock = fn(&File) -> Result<(), TryLockError>;

/// The lock of a folder, held until it is dropped or the process ends, however it ends.
///
/// Some network file systems cannot lock. There the file names the process instead, which its own computer can look up.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
    /// Why the file system cannot lock.
    pub(crate) unsupported: Option<String>,
}

impl FolderLock {
    /// Locks a new folder. `None` if another editor was faster.
    pub(crate) fn create(folder: &Path, try_lock: TryLock) -> io::Result<Option<Self>> {
        let path = folder.join(LOCK);
        failure::check(Operation::Create, &path)?;
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        let locked = failure::check(Operation::Lock, &path).map_err(TryLockError::Error).and_then(|()| try_lock(&file));
        let unsupported = match locked {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => Some(error.to_string()),
        };
        failure::check(Operation::Write, &path)?;
        file.set_len(0)?;
        let mark = if unsupported.is_some() { UNLOCKED } else { "" };
        writeln!(file, "{} {}{mark}", std::process::id(), computer_name())?;
        // Another editor may have taken the folder for abandoned and deleted it before this one locked it.
        Ok(path.exists().then_some(Self { _file: file, unsupported }))
    }

    /// Whether a folder has the file that is locked.
    pub(crate) fn has_file(folder: &Path) -> bool {
        folder.join(LOCK).exists()
    }

    /// Locks an existing folder. `None` if its editor still runs, as far as this computer can tell.
    pub(crate) fn acquire(folder: &Path, try_lock: TryLock) -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open(folder.join(LOCK)).ok()?;
        let unsupported = match try_lock(&file) {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Error(error)) => Some(error.to_string()),
        };
        let mut text = Vec::new();
        // What cannot be read names no process.
        let _ = (&file).take(1000).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        // The editor may have failed to lock the file although that is possible now.
        let is_free = match text.trim_end().strip_suffix(UNLOCKED) {
            Some(owner) => has_ended(owner),
            None => unsupported.is_none() || has_ended(text.trim_end()),
        };
        is_free.then_some(Self { _file: file, unsupported })
    }
}

/// Whether the process with this number and computer is known to have ended.
fn has_ended(owner: &str) -> bool {
    let Some((process, on)) = owner.split_once(' ') else { return false };
    on == computer_name() && process.parse().is_ok_and(|process| !is_running(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsupported(_: &File) -> Result<(), TryLockError> {
        Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
    }

    #[test]
    fn a_folder_is_locked_until_the_lock_is_dropped() {
        let folder = tempfile::tempdir().expect("folder");
        let lock = FolderLock::create(folder.path(), File::try_lock).expect("a file").expect("not locked");
        assert!(lock.unsupported.is_none());
        assert!(FolderLock::acquire(folder.path(), File::try_lock).is_none());
        assert!(FolderLock::create(folder.path(), File::try_lock).expect("a file").is_none());
        drop(lock);
        assert!(FolderLock::acquire(folder.path(), File::try_lock).is_some());
    }

    #[test]
    fn without_locks_the_process_is_looked_up() {
        let folder = tempfile::tempdir().expect("folder");
        let lock = FolderLock::create(folder.path(), unsupported).expect("a file").expect("its own");
        assert!(lock.unsupported.is_some());
        drop(lock);
        assert!(FolderLock::acquire(folder.path(), unsupported).is_none(), "this process is running");
        assert!(FolderLock::acquire(folder.path(), File::try_lock).is_none(), "even if locks work now");
        let write = |text: String| std::fs::write(folder.path().join(LOCK), text).expect("written");
        // Beyond the largest process number of Linux.
        write(format!("4194305 {}", computer_name()));
        assert!(FolderLock::acquire(folder.path(), unsupported).is_some_and(|lock| lock.unsupported.is_some()));
        write(format!("4194305 {} unlocked", computer_name()));
        assert!(FolderLock::acquire(folder.path(), File::try_lock).is_some());
        write("4194305 another-computer".into());
        assert!(FolderLock::acquire(folder.path(), unsupported).is_none());
        std::fs::write(folder.path().join(LOCK), [0xff, 0xfe, 0]).expect("written");
        assert!(FolderLock::acquire(folder.path(), File::try_lock).is_some(), "a damaged file that is not locked");
        write(String::new());
        assert!(FolderLock::acquire(folder.path(), unsupported).is_none(), "an editor that has just started");
    }
}
