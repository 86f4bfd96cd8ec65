//! Errors of reading and writing files.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::folders::folder_of;
use crate::engine::Cancelled;
use crate::engine::cast::ToFloat;

/// Why a file cannot be read or written. Every message names the file and suggests a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The work was cancelled; nothing was written.
    Cancelled,
    /// The system reported an I/O error.
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// The operation that failed: "read" or "write".
        attempt: &'static str,
        /// The system's message.
        reason: String,
    },
    /// The folder of a file to be written does not exist.
    MissingFolder(PathBuf),
    /// A step of the recipe cannot be evaluated; the message says which, why, and how to fix it.
    Recipe(String),
    /// The file does not match its extension, or cannot be used.
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// No format has this file extension.
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// The known extensions.
        known: String,
    },
    /// Nothing says the layout of a headerless file.
    UnknownLayout {
        /// The file.
        path: PathBuf,
        /// What is known about it.
        problem: String,
        /// The likeliest layout, as on the command line.
        likely: Option<String>,
    },
    /// The length of a headerless file does not match its layout.
    RawLength {
        /// The file.
        path: PathBuf,
        /// The layout that was assumed, in words.
        layout: String,
        /// The length of a file with that layout, bytes.
        expected: u64,
        /// The length of the file, bytes.
        found: u64,
    },
    /// A raw layout was given for a file that has a header.
    NotRaw(PathBuf),
    /// The file exists and must not be replaced.
    Exists(PathBuf),
    /// Several files were to replace others, and not all of them could.
    PartlyReplaced {
        /// Why the next one could not.
        error: Box<FileError>,
        /// The files that were replaced. All others are as before.
        replaced: Vec<PathBuf>,
    },
    /// Two of the files to be written have the same path.
    DuplicatePath(PathBuf),
    /// The work would not fit into memory.
    Memory {
        /// The file, if that is to be read.
        path: Option<PathBuf>,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
    /// The map or image is too small or too large for the format.
    Size {
        /// The file.
        path: PathBuf,
        /// Samples or pixels from west to east and from north to south.
        size: [u64; 2],
        /// The possible sizes.
        possible: String,
    },
}

impl FileError {
    /// The contents of a file cannot be used; `problem` describes the problem and how to fix it.
    pub fn invalid(path: &Path, problem: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_path_buf(), problem: problem.into() }
    }

    /// Reading the file failed.
    pub fn reading(path: &Path, reason: &std::io::Error) -> Self {
        Self::Disk { path: path.to_path_buf(), attempt: "read", reason: plain_reason(reason) }
    }

    /// Writing the file failed.
    pub fn writing(path: &Path, reason: &std::io::Error) -> Self {
        Self::Disk { path: path.to_path_buf(), attempt: "write", reason: plain_reason(reason) }
    }

    /// This error, after these files have been replaced already.
    pub fn after_replacing(self, replaced: Vec<PathBuf>) -> Self {
        if replaced.is_empty() { self } else { Self::PartlyReplaced { error: Box::new(self), replaced } }
    }

    /// The file whose layout has to be specified, and the likeliest one, as on the command line.
    pub fn missing_layout(&self) -> Option<(&Path, Option<&str>)> {
        match self {
            Self::UnknownLayout { path, likely, .. } => Some((path, likely.as_deref())),
            Self::RawLength { path, .. } => Some((path, None)),
            _ => None,
        }
    }

    /// A map or an image of `size` cannot be written to the file; `possible` lists the sizes that can.
    pub fn size(path: &Path, size: [usize; 2], possible: String) -> Self {
        Self::Size { path: path.to_path_buf(), size: size.map(|side| side as u64), possible }
    }
}

/// Why the system refused to read or write a file, without the number of the error.
pub fn plain_reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "it does not exist".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        ErrorKind::UnexpectedEof => "it ends too early".into(),
        ErrorKind::StorageFull => "the disk is full".into(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.clone(), |(reason, _)| reason.to_string())
        }
    }
}

impl From<Cancelled> for FileError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Formats a number of bytes in MiB or GiB.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEBIBYTE: f64 = 1_048_576.0;
        let mebibytes = self.0.to_f64() / MEBIBYTE;
        if mebibytes >= 1024.0 { write!(f, "{:.1} GiB", mebibytes / 1024.0) } else { write!(f, "{mebibytes:.1} MiB") }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => write!(f, "cancelled; nothing was written"),
            Self::Recipe(problem) => write!(f, "{problem}"),
            Self::Disk { path, attempt, reason } => {
                write!(f, "{}: cannot {attempt} this file: {reason}", path.display())
            }
            Self::MissingFolder(path) => {
                let folder = folder_of(path);
                write!(f, "{}: there is no folder {}; create it first", path.display(), folder.display())
            }
            Self::Invalid { path, problem } => write!(f, "{}: {problem}", path.display()),
            Self::UnknownExtension { path, known } => {
                write!(f, "{}: unknown file extension; supported: {known}", path.display())
            }
            Self::RawLength { path, layout, expected, found } => write!(
                f,
                "{}: {layout} need {expected} bytes, but this file has {found}; its sample type, size or header is \
                 another one",
                path.display()
            ),
            Self::UnknownLayout { path, problem, likely: _ } => {
                write!(f, "{}: {problem}; specify its sample type, size and header", path.display())
            }
            Self::NotRaw(path) => write!(
                f,
                "{}: a raw layout is for .raw, .r16 and .r32 files; leave it out, or use one of these extensions",
                path.display()
            ),
            Self::Exists(path) => write!(
                f,
                "{}: this file already exists; choose another name, or allow overwriting (on the command line with \
                 --force)",
                path.display()
            ),
            Self::PartlyReplaced { error, replaced } => {
                let names: Vec<String> = replaced.iter().map(|path| path.display().to_string()).collect();
                write!(f, "{error}; already replaced: {}", names.join(", "))
            }
            Self::DuplicatePath(path) => {
                write!(f, "{}: two of the files would have this name; give them different ones", path.display())
            }
            Self::Memory { path: None, needed, available } => write!(
                f,
                "this needs about {} of memory, but {} are free; choose a smaller size",
                Bytes(*needed),
                Bytes(*available)
            ),
            Self::Memory { path: Some(path), needed, available } => write!(
                f,
                "{}: reading this file needs about {} of memory, but {} are free; close other programs, or use a \
                 smaller file",
                path.display(),
                Bytes(*needed),
                Bytes(*available)
            ),
            Self::Size { path, size: [width, height], possible } => {
                write!(f, "{}: {width} × {height} is not a supported size: {possible}", path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}
