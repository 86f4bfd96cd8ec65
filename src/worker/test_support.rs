//! Helpers of the tests of workers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::job::Wake;

/// Polls until `take` returns something.
pub(super) fn wait<T>(take: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(taken) = take() {
            return taken;
        }
        assert!(Instant::now() < deadline, "no result after 30 s");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A wake callback that does nothing.
pub(super) fn no_wake() -> Wake {
    Arc::new(|| {})
}
