//! Writes unsaved projects when the process is about to end without closing its window: on a signal, or when a library
//! ends the process because the display is gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

use crate::app::document::Unsaved;
use crate::app::tasks::recovery::{self, RecoverySession};
use crate::files::io::terminal::print_error;

/// How long to wait for an autosave that is writing the same files.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The unsaved projects of the open window, never older than a frame, and where they are written: by the autosave, and
/// by [`write_unsaved`].
#[derive(Debug, Default)]
pub(crate) struct EmergencySave {
    unsaved: Mutex<Vec<Unsaved>>,
    /// `None` until the recovery folder exists, and once the window has closed.
    session: Mutex<Option<RecoverySession>>,
}

static CURRENT: Mutex<Weak<EmergencySave>> = Mutex::new(Weak::new());

impl EmergencySave {
    /// Makes [`write_unsaved`] write these projects. A dropped one is not written.
    pub(crate) fn register(self: &Arc<Self>) {
        *lock(&CURRENT) = Arc::downgrade(self);
    }

    /// Replaces the projects to write.
    pub(crate) fn update(&self, unsaved: Vec<Unsaved>) {
        *lock(&self.unsaved) = unsaved;
    }

    /// The projects to write.
    pub(crate) fn unsaved(&self) -> Vec<Unsaved> {
        lock(&self.unsaved).clone()
    }

    /// Locks the recovery folder of this editor.
    pub(crate) fn session(&self) -> MutexGuard<'_, Option<RecoverySession>> {
        lock(&self.session)
    }

    /// Writes the projects to the recovery folder or, failing that, to files in the system's temporary folder.
    fn write(&self) {
        let unsaved = self.unsaved();
        if unsaved.is_empty() {
            return;
        }
        let deadline = Instant::now() + TIMEOUT;
        let session = loop {
            match self.session.try_lock() {
                Ok(session) => break Some(session),
                Err(TryLockError::Poisoned(error)) => break Some(error.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => break None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let is_kept =
            session.is_some_and(|mut session| session.as_mut().is_some_and(|session| session.keep(&unsaved).is_ok()));
        if is_kept {
            print_error("Unsaved changes can be recovered when the editor is started again.");
        } else {
            recovery::write_recovery_copies(&unsaved);
        }
    }
}

/// Writes the unsaved projects of the open window, once. Does nothing if there are none.
pub(crate) fn write_unsaved() {
    // Held while writing: another thread that ends the process waits for it.
    let mut current = lock(&CURRENT);
    if let Some(emergency_save) = std::mem::take(&mut *current).upgrade() {
        emergency_save.write();
    }
}

/// Makes [`write_unsaved`] do nothing: the window has closed.
pub(crate) fn unregister() {
    *lock(&CURRENT) = Weak::new();
}

/// Locks a mutex whose contents are consistent after every statement, so a panic elsewhere cannot have corrupted them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::project::ProjectFile;

    #[test]
    fn the_latest_projects_are_written() {
        let root = tempfile::tempdir().expect("folder");
        let emergency_save = EmergencySave::default();
        *emergency_save.session() = Some(RecoverySession::begin(root.path(), File::try_lock).expect("a session"));
        let unsaved = |project_id| Unsaved {
            project_id,
            file: ProjectFile::default(),
            path: None,
            changed: std::time::SystemTime::now(),
            is_earlier: false,
        };
        emergency_save.update(vec![unsaved(0)]);
        emergency_save.update(vec![unsaved(1), unsaved(2)]);
        emergency_save.write();
        drop(emergency_save);
        assert_eq!(recovery::find_recoverable(root.path(), File::try_lock).0.len(), 2);
    }
}
