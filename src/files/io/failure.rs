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
        operation: Operation,
        /// The number of operations of that kind before the one that fails.
        before: usize,
        failed: Option<PathBuf>,
    }

    static PLANS: Mutex<Vec<Plan>> = Mutex::new(Vec::new());

    /// Makes one operation in a folder fail, on whatever thread.
    pub(crate) struct PlannedFailure {
        folder: PathBuf,
    }

    impl PlannedFailure {
        /// Makes an operation fail after `before` others of its kind.
        pub(crate) fn after(before: usize, operation: Operation, folder: &Path) -> Self {
            let folder = folder.to_path_buf();
            let plan = Plan { folder: folder.clone(), operation, before, failed: None };
            PLANS.lock().expect("not poisoned").push(plan);
            Self { folder }
        }

        /// The path with which the operation has failed.
        pub(crate) fn failed(&self) -> Option<PathBuf> {
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
        let is_planned =
            |plan: &&mut Plan| plan.operation == operation && plan.failed.is_none() && path.starts_with(&plan.folder);
        let Some(plan) = plans.iter_mut().find(is_planned) else { return Ok(()) };
        if plan.before > 0 {
            plan.before -= 1;
            return Ok(());
        }
        plan.failed = Some(path.to_path_buf());
        Err(io::Error::other("a planned failure"))
    }
}
