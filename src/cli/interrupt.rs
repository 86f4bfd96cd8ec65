//! SIGINT and SIGTERM: stop, leave nothing half-written, and be gone within half a second.

use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::error::CliError;
use super::print;
use crate::engine::Progress;
use crate::files::atomic::stop_writing;

/// How long the work has to stop by itself.
const PATIENCE: Duration = Duration::from_millis(350);

/// A monitor that an interrupt cancels. Work that does not stop in time (a disk that is slow to sync) is left where
/// it is, without its unfinished files.
pub fn progress() -> Arc<Progress> {
    let progress = Arc::new(Progress::new());
    let cancelled = progress.clone();
    // Without a handler an interrupt ends the program as the system does: less tidy, not wrong.
    let _ = ctrlc::set_handler(move || {
        cancelled.cancel();
        thread::sleep(PATIENCE);
        // Held to the end, so that what is said stays true.
        let ended = stop_writing();
        print::complain(&format!("error: {}", CliError::Interrupted { written: ended.named() }));
        process::exit(1);
    });
    progress
}
