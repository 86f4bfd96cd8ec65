//! What an export returns.

use std::path::PathBuf;

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// The files that were written, including sidecars.
    pub files: Vec<PathBuf>,
    /// What the user should know about them.
    pub notes: Vec<String>,
    /// The import steps for the target, with the exact heights.
    pub steps: Vec<String>,
}
