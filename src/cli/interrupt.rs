//! SIGINT and SIGTERM: stops within a fifth of a second and leaves no partial file.

use std::sync::Arc;
use std::time::Duration;
use std::{process, thread};

use super::error::CliError;
use super::output::print_error;
use crate::engine::Progress;
use crate::files::io::temp_files::stop_writing;

/// How long the work may take to stop.
const GRACE_PERIOD: Duration = Duration::from_millis(100);

/// Makes an interrupt end the process as the usual end of a task that waits: without a message, and without leaving an
/// unfinished file.
pub fn exit_quietly() {
    let _ = ctrlc::set_handler(|| {
        let _ended = stop_writing();
        process::exit(0);
    });
}

/// Returns a progress that an interrupt cancels. If the work does not stop in time (a disk that is slow to sync), the
/// process exits without it, and its unfinished files are removed.
pub fn progress() -> Arc<Progress> {
    let progress = Arc::new(Progress::new());
    let cancelled = progress.clone();
    // Without a handler, an interrupt ends the process by the system's default, which is less tidy but safe.
    let _ = ctrlc::set_handler(move || {
        cancelled.cancel();
        thread::sleep(GRACE_PERIOD);
        // Kept until the exit, so that no further file is named after the message counts them.
        let ended = stop_writing();
        print_error(&format!("error: {}", CliError::Interrupted { written: ended.committed() }));
        process::exit(1);
    });
    progress
}
