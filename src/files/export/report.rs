//! What an export returns.

use std::path::PathBuf;
use std::time::Duration;

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// The files that were written, including sidecars.
    pub files: Vec<PathBuf>,
    /// The number of files that were left alone because they would not have changed.
    pub unchanged: usize,
    /// How long it took.
    pub took: Duration,
    /// What the user should know about them.
    pub notes: Vec<String>,
    /// The import steps for the target, with the exact heights.
    pub steps: Vec<String>,
}
