//! File operations that tests can make fail, one at a time.

use std::io;
use std::path::Path;

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "gui"), allow(dead_code, reason = "only the editor creates folders, locks and removes files"))]
pub(crate) enum Operation {
    CreateFolder,
    Create,
    Write,
    Sync,
    Rename,
    Read,
    Lock,
    Remove,
}

/// To be called before a file operation. Fails if a test wants that operation to fail; does nothing outside of tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn check(_: Operation, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use self::planned::{PlannedFailure, check};

#[cfg(test)]
mod planned {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use super::*;

    /// What is to fail in a folder.
    struct Plan {
        folder: PathBuf,
        /// The number of operations before the one that fails.
        before: usize,
        failed: Option<(Operation, PathBuf)>,
    }

    static PLANS: Mutex<Vec<Plan>> = Mutex::new(Vec::new());

    /// Makes one operation in a folder fail, on whatever thread.
    pub(crate) struct PlannedFailure {
        folder: PathBuf,
    }

    impl PlannedFailure {
        /// Makes the operation after `before` others fail.
        pub(crate) fn after(before: usize, folder: &Path) -> Self {
            PLANS.lock().expect("not poisoned").push(Plan { folder: folder.to_path_buf(), before, failed: None });
            Self { folder: folder.to_path_buf() }
        }

        /// The operation that has failed.
        pub(crate) fn failed(&self) -> Option<(Operation, PathBuf)> {
            let plans = PLANS.lock().expect("not poisoned");
            plans.iter().find(|plan| plan.folder == self.folder)?.failed.clone()
        }
    }

    impl Drop for PlannedFailure {
        fn drop(&mut self) {
            PLANS.lock().expect("not poisoned").retain(|plan| plan.folder != self.folder);
        }
    }

    pub(crate) fn check(operation: Operation, path: &Path) -> io::Result<()> {
        let mut plans = PLANS.lock().expect("not poisoned");
        let Some(plan) = plans.iter_mut().find(|plan| plan.failed.is_none() && path.starts_with(&plan.folder)) else {
            return Ok(());
        };
        if plan.before > 0 {
            plan.before -= 1;
            return Ok(());
        }
        plan.failed = Some((operation, path.to_path_buf()));
        Err(io::Error::other("a planned failure"))
    }
}
