//! Which recent files still exist.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// How often a menu that shows recent files checks them, in seconds.
const CHECK_INTERVAL_S: f64 = 2.0;

/// What is known about the recent files on the disk.
#[derive(Default)]
pub(crate) struct RecentFiles {
    /// The files that no longer exist.
    pub(crate) missing: BTreeSet<PathBuf>,
    /// When they were last checked, in seconds.
    checked_at: Option<f64>,
    /// Whether a check is running.
    is_checking: bool,
}

impl RecentFiles {
    /// Whether to check the files now: at the start, and while a menu can show them. Assumes that the check then runs.
    pub(crate) fn begin_check(&mut self, now_s: f64, is_menu_open: bool) -> bool {
        let is_due = self.checked_at.is_none_or(|checked| now_s - checked > CHECK_INTERVAL_S && is_menu_open);
        let begins = is_due && !self.is_checking;
        if begins {
            (self.checked_at, self.is_checking) = (Some(now_s), true);
        }
        begins
    }

    /// Takes the result of a check.
    pub(crate) fn finish_check(&mut self, missing: BTreeSet<PathBuf>) {
        (self.missing, self.is_checking) = (missing, false);
    }
}
