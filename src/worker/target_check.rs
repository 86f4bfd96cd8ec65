//! Checks whether the files of an export can be written, before anything is computed.

use std::path::{Path, PathBuf};

use crate::files::FileError;
use crate::files::io::atomic::check_writable;
use crate::files::io::folders::folder_of;
use crate::files::io::memory::available_bytes;

/// Whether the files of an export can be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetCheck {
    /// The files that were checked.
    pub files: Vec<PathBuf>,
    /// Why they cannot be written and what to do about it; `None` if they can.
    pub obstacle: Option<String>,
    /// The files that exist and would be replaced.
    pub replaced: Vec<PathBuf>,
    /// The folder that will be created for them.
    pub new_folder: Option<PathBuf>,
    /// Bytes of free memory; `None` where the system does not report it.
    pub available_bytes: Option<u64>,
}

/// A file name that no user chooses, to test whether a folder is writable.
const PROBE: &str = ".upthrust-probe";

/// Checks whether files can be written, and which of them exist. May take as long as the disk takes to answer.
pub fn check_targets(files: Vec<PathBuf>) -> TargetCheck {
    let replaced: Vec<PathBuf> = files.iter().filter(|path| path.symlink_metadata().is_ok()).cloned().collect();
    let mut check = TargetCheck { replaced, available_bytes: available_bytes(), ..TargetCheck::default() };
    for file in &files {
        let folder = folder_of(file);
        let existing = folder.ancestors().find(|folder| folder.exists() && !folder.as_os_str().is_empty());
        let existing = existing.unwrap_or(Path::new("."));
        if !existing.is_dir() {
            check.obstacle =
                Some(format!("{} is a file, so it cannot be a folder. Choose another folder.", existing.display()));
        } else if existing == folder {
            check.obstacle = check_writable(file, true).err().map(|error| error.to_string());
        } else {
            // If the parent is writable, so is the folder that will be created in it.
            check.obstacle = check_writable(&existing.join(PROBE), true).err().map(|error| {
                let reason = match error {
                    FileError::Disk { reason, .. } => reason.to_string(),
                    error => error.to_string(),
                };
                let [folder, existing] = [folder, existing].map(Path::display);
                format!(
                    "The folder {folder} cannot be created, because {existing} cannot be written to ({reason}). Choose \
                     another folder."
                )
            });
            check.new_folder = Some(folder.to_path_buf());
        }
        if check.obstacle.is_some() {
            break;
        }
    }
    TargetCheck { files, ..check }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_finds_obstacles_and_writes_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("there.png"), "mine").expect("written");
        let check = check_targets(vec![path("there.png"), path("new.png")]);
        assert_eq!((check.replaced, check.obstacle, check.new_folder), (vec![path("there.png")], None, None));
        let new = check_targets(vec![path("a/b/new.png")]);
        assert_eq!((new.obstacle, new.new_folder), (None, Some(path("a/b"))));
        let blocked = check_targets(vec![path("there.png/a/new.png")]).obstacle.expect("a file is no folder");
        assert!(blocked.contains("there.png is a file"), "{blocked}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1);
    }
}
