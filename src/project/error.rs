//! What can be wrong with a project's file.

use std::fmt;
use std::path::PathBuf;

use super::{FORMAT, MAX_FILE_BYTES};
use crate::engine::parameters::ParameterError;

/// Why a project cannot be read or changed.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectError {
    /// The file, or one that it names, cannot be read: which, and what the system says.
    Unreadable(PathBuf, String),
    /// It is not JSON: what the parser says, with line and column.
    Json(String),
    /// The key `format` is not there.
    NoFormat,
    /// It was written by a newer version of the program.
    NewerFormat(u64),
    /// `format` is something else than a known number.
    UnknownFormat(String),
    /// A key or value is refused.
    Parameter(ParameterError),
    /// An imported file inside the project is broken: its name.
    BrokenFile(String),
    /// The imported files inside the project are too large together: the first one without room.
    TooMuch(String),
    /// `--set` without an equals sign.
    NoAssignment(String),
}

impl From<ParameterError> for ProjectError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, reason) => write!(f, "cannot read {}: {reason}", path.display()),
            Self::Json(reason) => write!(f, "this is not a project, or a damaged one: its text is no JSON ({reason})"),
            Self::NoFormat => {
                write!(f, "this is not a project: it has no key \"format\" (the present one is {FORMAT})")
            }
            Self::NewerFormat(found) => write!(
                f,
                "this project has format {found}, which is newer than the {FORMAT} that this program reads; \
                 open it with a newer Upthrust"
            ),
            Self::UnknownFormat(found) => write!(f, "format: there is no format {found}; the present one is {FORMAT}"),
            Self::Parameter(error) => write!(f, "{error}"),
            Self::BrokenFile(name) => write!(f, "the imported file \"{name}\" inside the project is broken"),
            Self::TooMuch(name) => write!(
                f,
                "there is no room for the imported file \"{name}\": all of them together may have {} MiB",
                MAX_FILE_BYTES >> 20
            ),
            Self::NoAssignment(found) => write!(f, "\"{found}\" is not of the form PATH=VALUE, like stack.0.count=500"),
        }
    }
}

impl std::error::Error for ProjectError {}
