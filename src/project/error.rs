//! The errors of project files.

use std::fmt;
use std::path::PathBuf;

use super::format::{FORMAT_VERSION, MAX_FILE_BYTES};
use crate::engine::parameters::ParameterError;

/// Why a project cannot be read or changed.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectError {
    /// The file, or one that it names, cannot be read: its path, and why.
    Unreadable(PathBuf, String),
    /// It is not JSON: the parser's message, with line and column.
    Json(String),
    /// The key `format` is missing.
    MissingFormat,
    /// It was written by a newer version of the program.
    NewerFormat(u64),
    /// `format` is not a known number.
    UnknownFormat(String),
    /// A key or value is invalid.
    Parameter(ParameterError),
    /// An imported file inside the project is corrupt: its name.
    CorruptFile(String),
    /// The imported files are too large together: the name of the first one above the limit.
    FilesTooLarge(String),
    /// `--set` without an equals sign.
    InvalidAssignment(String),
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
            Self::Json(reason) => write!(f, "this is not a project, or it is damaged: it is not valid JSON ({reason})"),
            Self::MissingFormat => {
                write!(f, "this is not a project: it has no key \"format\" (the current format is {FORMAT_VERSION})")
            }
            Self::NewerFormat(found) => write!(
                f,
                "this project has format {found}, which is newer than the {FORMAT_VERSION} that this program reads; \
                 open it with a newer Upthrust"
            ),
            Self::UnknownFormat(found) => {
                write!(f, "format: there is no format {found}; the current one is {FORMAT_VERSION}")
            }
            Self::Parameter(error) => write!(f, "{error}"),
            Self::CorruptFile(name) => write!(f, "the imported file \"{name}\" inside the project is corrupt"),
            Self::FilesTooLarge(name) => write!(
                f,
                "the imported file \"{name}\" is too large: all imported files together are limited to {} MiB",
                MAX_FILE_BYTES >> 20
            ),
            Self::InvalidAssignment(found) => {
                write!(f, "\"{found}\" is not of the form PATH=VALUE, for example stack.0.count=500")
            }
        }
    }
}

impl std::error::Error for ProjectError {}
