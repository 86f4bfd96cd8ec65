//! What can go wrong on the command line.

use std::fmt;
use std::path::PathBuf;

use crate::files::FileError;
use crate::project::ProjectError;

/// Why a subcommand failed.
#[derive(Debug)]
pub enum CliError {
    /// The arguments contradict each other, or ask for nothing: status 2.
    Usage(String),
    /// A --set is refused: the assignment, and why. Status 2.
    Set(String, ProjectError),
    /// A project is refused: its file or preset, and why.
    Project(String, ProjectError),
    /// A file is refused.
    File(FileError),
    /// A file of a project is refused: the project, and why.
    FileOf(String, FileError),
    /// No preset has that name: the name, and what to do. Status 2.
    UnknownPreset(String, String),
    /// The step draws no faults, or is not there: the source, and what to do.
    NoFaults(String, String),
    /// An interrupt stopped the work.
    Interrupted {
        /// How many files were complete by then.
        written: usize,
    },
    /// The folder for the output cannot be made.
    Folder(PathBuf, String),
    /// The system gives no threads.
    Threads(String),
    /// The land cannot be drawn in 3-D here.
    Render(String),
}

impl CliError {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Set(..) | Self::UnknownPreset(..) => 2,
            // What an argument alone decides, whatever is on the disk.
            Self::File(FileError::UnknownExtension { .. } | FileError::NotRaw(_) | FileError::DuplicatePath(_)) => 2,
            Self::Project(..)
            | Self::File(_)
            | Self::FileOf(..)
            | Self::NoFaults(..)
            | Self::Interrupted { .. }
            | Self::Folder(..)
            | Self::Threads(_)
            | Self::Render(_) => 1,
        }
    }
}

impl From<FileError> for CliError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Cancelled => Self::Interrupted { written: 0 },
            _ => Self::File(error),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(problem) => write!(f, "{problem}"),
            // The project itself need not be named twice.
            Self::Project(source, ProjectError::Unreadable(path, reason)) if path.as_os_str() == source.as_str() => {
                write!(f, "{source}: cannot read this: {reason}")
            }
            Self::Set(assignment, error) => write!(f, "--set {assignment}: {error}"),
            Self::Project(source, error) => write!(f, "{source}: {error}"),
            Self::File(error) => write!(f, "{error}"),
            Self::FileOf(source, error) => write!(f, "{source}: {error}"),
            Self::UnknownPreset(name, advice) => write!(f, "preset:{name}: there is no such preset; {advice}"),
            Self::NoFaults(source, problem) => write!(f, "{source}: {problem}"),
            Self::Interrupted { written: 0 } => write!(f, "interrupted; nothing was written"),
            Self::Interrupted { written } => write!(f, "interrupted after {written} files were written"),
            Self::Folder(path, reason) => {
                write!(f, "{}: this folder cannot be made: {reason}; choose another one", path.display())
            }
            Self::Render(reason) => write!(f, "{reason}"),
            Self::Threads(reason) => write!(f, "the threads cannot be started: {reason}; ask for fewer with --threads"),
        }
    }
}

impl std::error::Error for CliError {}
