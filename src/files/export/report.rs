//! What an export returns.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

impl BuildReport {
    /// Every file of the export, whether or not it has changed.
    pub fn all_files(&self) -> BTreeSet<PathBuf> {
        self.files.iter().chain(&self.unchanged).cloned().collect()
    }
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// The files that were written, including sidecars.
    pub files: Vec<PathBuf>,
    /// The files that were left alone because they would not have changed.
    pub unchanged: Vec<PathBuf>,
    /// How long it took.
    pub took: Duration,
    /// What the user should know about them.
    pub notes: Vec<String>,
    /// The import steps for the target, with the exact heights.
    pub steps: Vec<String>,
}
