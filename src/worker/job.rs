//! Types shared by all background jobs: their errors and the callback that wakes the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::engine::Cancelled;
use crate::files::FileError;
use crate::files::io::guard::panic_message;

/// Called from a worker thread whenever a result is ready to be taken.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Why a job has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum JobError {
    /// It was cancelled.
    Cancelled,
    /// It failed, with a message about the problem and its remedy.
    Failed(String),
    /// It panicked, with this message.
    Panicked(String),
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cancelled => write!(f, "cancelled"),
            Self::Failed(message) => write!(f, "{message}"),
            Self::Panicked(message) => {
                write!(f, "an internal error stopped this task ({message}); your project is not affected")
            }
        }
    }
}

impl From<Cancelled> for JobError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<FileError> for JobError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Cancelled => Self::Cancelled,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// Runs `job` and turns a panic into [`JobError::Panicked`]. The caller must discard state that the job was changing.
pub(super) fn catch_panic<T>(job: impl FnOnce() -> Result<T, JobError>) -> Result<T, JobError> {
    catch_unwind(AssertUnwindSafe(job))
        .unwrap_or_else(|payload| Err(JobError::Panicked(panic_message(payload.as_ref()).to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_message() {
        assert_eq!(catch_panic(|| Ok(5)), Ok(5));
        let formatted: Result<(), _> = catch_panic(|| panic!("row {}", 7));
        assert_eq!(formatted, Err(JobError::Panicked("row 7".into())));
        let text = catch_panic::<()>(|| panic!("oops")).expect_err("a panic").to_string();
        assert!(text.contains("oops") && text.contains("not affected"), "{text}");
    }
}
