//! What can go wrong with files.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::engine::Cancelled;

/// Why a file cannot be read or written. Every message names the file and says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The work was stopped from outside; nothing was written.
    Cancelled,
    /// The disk refuses.
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: "read", "write".
        attempt: &'static str,
        /// What the system says.
        reason: String,
    },
    /// The folder that a file should go to is not there.
    MissingFolder(PathBuf),
    /// What is in the file is not what its ending promises, or cannot be used.
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// No format has that ending.
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// The endings that are known.
        known: String,
    },
    /// A headerless file has another length than its layout asks for.
    RawLength {
        /// The file.
        path: PathBuf,
        /// What the file was taken for.
        layout: String,
        /// The bytes that this layout asks for.
        expected: u64,
        /// The bytes that the file has.
        found: u64,
    },
    /// A layout is given for a file that is not headerless.
    NotRaw(PathBuf),
    /// The file is there already and may not be replaced.
    Exists(PathBuf),
    /// Two of the files to be written have the same name.
    DuplicatePath(PathBuf),
    /// The work would not fit into memory.
    Memory {
        /// Bytes that the work needs.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// The map or picture is too small or too large for the format.
    Size {
        /// The file.
        path: PathBuf,
        /// Samples or pixels from west to east and from north to south.
        size: [u64; 2],
        /// What is possible.
        possible: String,
    },
}

impl FileError {
    /// What is in the file cannot be used: what is wrong, and what to do.
    pub fn invalid(path: &Path, problem: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_path_buf(), problem: problem.into() }
    }

    /// The disk refuses to read the file.
    pub fn reading(path: &Path, reason: &std::io::Error) -> Self {
        Self::Disk { path: path.to_path_buf(), attempt: "read", reason: reason.to_string() }
    }

    /// The disk refuses to write the file.
    pub fn writing(path: &Path, reason: &std::io::Error) -> Self {
        Self::Disk { path: path.to_path_buf(), attempt: "write", reason: reason.to_string() }
    }
}

impl From<Cancelled> for FileError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Bytes as people say them.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEBIBYTE: f64 = 1_048_576.0;
        let mebibytes = self.0 as f64 / MEBIBYTE;
        if mebibytes >= 1024.0 { write!(f, "{:.1} GiB", mebibytes / 1024.0) } else { write!(f, "{mebibytes:.1} MiB") }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => write!(f, "stopped before the work was done; nothing was written"),
            Self::Disk { path, attempt, reason } => write!(f, "{}: cannot {attempt} this: {reason}", path.display()),
            Self::MissingFolder(path) => {
                let folder = super::atomic::folder_of(path);
                write!(f, "{}: there is no folder {}; make it first", path.display(), folder.display())
            }
            Self::Invalid { path, problem } => write!(f, "{}: {problem}", path.display()),
            Self::UnknownExtension { path, known } => {
                write!(f, "{}: no format with this ending is known; known are {known}", path.display())
            }
            Self::RawLength { path, layout, expected, found } => write!(
                f,
                "{}: as {layout} this file should have {expected} bytes, but it has {found}; say what is in it (on the \
                 command line as in --raw u16le,1025x1025)",
                path.display()
            ),
            Self::NotRaw(path) => write!(
                f,
                "{}: a raw layout is for .raw, .r16 and .r32; leave it away, or name the file so",
                path.display()
            ),
            Self::Exists(path) => {
                write!(
                    f,
                    "{}: this file is there already; choose another name, or allow overwriting (on the command line \
                     with --force)",
                    path.display()
                )
            }
            Self::DuplicatePath(path) => {
                write!(f, "{}: two of the files would have this name; give them different ones", path.display())
            }
            Self::Memory { needed, available } => write!(
                f,
                "this needs about {} of memory and {} are free; choose a smaller size",
                Bytes(*needed),
                Bytes(*available)
            ),
            Self::Size { path, size: [width, height], possible } => {
                write!(f, "{}: {width} × {height} is no possible size: {possible}", path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}
