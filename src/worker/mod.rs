//! Computing beside the interface.
//!
//! One thread renews the preview, one stops it when it is stale, one exports, one measures, one draws thumbnails, each by
//! name; the loops of their work run on thread pools. The preview and the measures take the newest request and drop the
//! stale ones; exports and thumbnails are never dropped. The interface hands over plain requests and picks up finished
//! results; it never waits. A panic in a job becomes a message.

mod analysis;
mod export;
mod preview;
mod thumbnails;

pub use analysis::{Analyser, AnalysisRequest, AnalysisResult, LandformStats, SLOPE_BIN_DEG, Slopes};
pub use export::{ExportOutcome, ExportStatus, Exporter, TargetCheck, check_targets};
pub use preview::{Preview, PreviewRequest, Previewer};
pub use thumbnails::{ImageBytes, Thumbnail, ThumbnailRequest, ThumbnailStyle, Thumbnailer};

pub use crate::files::inputs::InputFiles;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Called from a worker thread whenever there is something new to pick up.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Why a job has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum JobError {
    /// The job could not be done: what is wrong and what to do.
    Failed(String),
    /// The job panicked: what it said.
    Panicked(String),
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(message) => write!(f, "{message}"),
            Self::Panicked(message) => write!(
                f,
                "an error in the program stopped this computation ({message}); your document is unharmed, \
                 undo the last change to go on"
            ),
        }
    }
}

/// Runs a job whose panic must not end the program: it becomes an error. What the job worked on is to be thrown away
/// then.
fn catch_panic<T>(job: impl FnOnce() -> T) -> Result<T, JobError> {
    catch_unwind(AssertUnwindSafe(job)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        JobError::Panicked(text.unwrap_or_else(|| "no reason given".into()))
    })
}

/// Locks, whether or not another thread panicked while it held the lock: the states kept here are whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the C library of Linux keep the memory of maps and pictures that are done with for those that come next. Of its
/// own accord it gives large blocks back to the system when they are freed, and every page of the next picture has to be
/// handed out and cleared anew: 770 of them for an iteration at 513², a fifth of its time. How large a block is for that
/// follows from the largest that was ever freed, up to 32 MiB (`mallopt(3)`, on `M_MMAP_THRESHOLD`), so one of nearly that
/// size is taken and freed, and nobody ever writes on it. The price: some of what was freed stays with the program.
fn retain_freed_memory() {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(31 << 20)));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Waits until there is something to take.
    pub(super) fn wait<T>(take: impl Fn() -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(taken) = take() {
                return taken;
            }
            assert!(Instant::now() < deadline, "nothing came");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_panic_becomes_a_message() {
        assert_eq!(catch_panic(|| 5), Ok(5));
        let formatted = catch_panic(|| panic!("row {}", 7));
        assert_eq!(formatted, Err::<(), _>(JobError::Panicked("row 7".into())));
        let message = catch_panic(|| panic!("oops")).map_err(|error| error.to_string());
        assert!(matches!(message, Err::<(), _>(text) if text.contains("oops") && text.contains("unharmed")));
    }
}
