//! The errors of the subcommands.

use std::fmt;
use std::path::PathBuf;

use crate::engine::Cancelled;
use crate::engine::play::RuleError;
use crate::files::FileError;
use crate::project::ProjectError;

/// Why a subcommand failed.
#[derive(Debug)]
pub enum CliError {
    /// The arguments contradict each other or request nothing: status 2.
    Usage(String),
    /// A --set is invalid: the assignment, and why. Status 2.
    Set(String, ProjectError),
    /// A project is invalid: its file or preset, and why.
    Project(String, ProjectError),
    /// A file cannot be read or written.
    File(FileError),
    /// A file that a project uses cannot be read: the project, and why.
    FileOf(String, FileError),
    /// Unknown preset: the name, and a hint. Status 2.
    UnknownPreset(String, String),
    /// The stack has no faults: the source, and why.
    NoFaults(String, String),
    /// The work was interrupted.
    Interrupted {
        /// The number of files that were complete by then.
        written: usize,
    },
    /// An output folder cannot be created: the folder, and why.
    Folder(PathBuf, String),
    /// The threads cannot be started.
    Threads(String),
    /// Standard output cannot be written.
    Output(String),
    /// A rule cannot be read: the source, and why. Status 2.
    Rule(String, RuleError),
    /// Rules of the level are broken: how many, and of how many. Status 3.
    FailedRules(usize, usize),
    /// The terrain cannot be rendered in 3-D.
    Render(String),
}

/// An example of a layout.
const EXAMPLE: &str = "u16le,1025x1025";

impl CliError {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Set(..) | Self::UnknownPreset(..) | Self::Rule(..) => 2,
            Self::FailedRules(..) => 3,
            // Errors that depend on the arguments alone, not on the disk.
            Self::File(FileError::UnknownExtension { .. } | FileError::NotRaw(_) | FileError::DuplicatePath(_)) => 2,
            Self::Project(..)
            | Self::File(_)
            | Self::FileOf(..)
            | Self::NoFaults(..)
            | Self::Interrupted { .. }
            | Self::Folder(..)
            | Self::Threads(_)
            | Self::Output(_)
            | Self::Render(_) => 1,
        }
    }
}

impl From<Cancelled> for CliError {
    fn from(cancelled: Cancelled) -> Self {
        FileError::from(cancelled).into()
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
            // The path is the source, which need not be printed twice.
            Self::Project(source, ProjectError::Unreadable(path, reason)) if path.as_os_str() == source.as_str() => {
                write!(f, "{source}: cannot read this file: {reason}")
            }
            Self::Set(assignment, error) => write!(f, "--set {assignment}: {error}"),
            Self::Project(source, error) => write!(f, "{source}: {error}"),
            // Subcommands that read a heightmap alone have the option.
            Self::File(error) => match error.missing_layout() {
                Some((_, likely)) => write!(f, "{error} with --raw, as in --raw {}", likely.unwrap_or(EXAMPLE)),
                None => write!(f, "{error}"),
            },
            Self::FileOf(source, error) => {
                // The path is the source, which need not be printed twice.
                let text = error.to_string();
                let text = text.strip_prefix(&format!("{source}: ")).unwrap_or(&text);
                match error.missing_layout() {
                    Some((path, likely)) => write!(
                        f,
                        "{source}: {text} by converting it first: upthrust convert {} heights.png --raw {}",
                        path.display(),
                        likely.unwrap_or(EXAMPLE)
                    ),
                    None => write!(f, "{source}: {text}"),
                }
            }
            Self::UnknownPreset(name, hint) => write!(f, "preset:{name}: there is no such preset; {hint}"),
            Self::NoFaults(source, problem) => write!(f, "{source}: {problem}"),
            Self::Interrupted { written: 0 } => write!(f, "interrupted; nothing was written"),
            Self::Interrupted { written } => write!(f, "interrupted after {written} files were written"),
            Self::Folder(path, reason) => {
                write!(f, "{}: cannot create this folder: {reason}; choose another one", path.display())
            }
            Self::Rule(source, error) => write!(f, "{source}: {error}"),
            Self::FailedRules(failed, 1) if *failed == 1 => write!(f, "the rule failed"),
            Self::FailedRules(failed, rules) => write!(f, "{failed} of {rules} rules failed"),
            Self::Output(reason) => write!(f, "cannot write to standard output: {reason}"),
            Self::Render(reason) => write!(f, "{reason}"),
            Self::Threads(reason) => write!(f, "cannot start the threads: {reason}; try fewer with --threads"),
        }
    }
}

impl std::error::Error for CliError {}
