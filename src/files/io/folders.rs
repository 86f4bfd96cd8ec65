//! Folders of files, and folders that are created for an export.

use std::io;
use std::path::{Path, PathBuf};

/// The folder that contains `path`; `.` for a bare file name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Folders created for files that are about to be written. Dropping this removes those that are still empty.
#[derive(Debug, Default)]
pub struct NewFolders {
    /// The folders that did not exist before, innermost first.
    created: Vec<PathBuf>,
}

impl NewFolders {
    /// Creates a folder and its missing parents.
    pub fn make(&mut self, path: &Path) -> io::Result<()> {
        let missing = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing = missing.take_while(|folder| !folder.exists()).map(Path::to_path_buf);
        // A folder created now may be inside one that was created earlier.
        self.created.splice(0..0, missing.collect::<Vec<_>>());
        std::fs::create_dir_all(path)
    }

    /// Keeps the folders, empty or not.
    pub fn keep(mut self) {
        self.created.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.created {
            // Fails for a folder that is not empty, which is then kept.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
