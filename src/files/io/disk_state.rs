//! What a file was like when it was last read or written, to notice when another program changes it.

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::read::read_regular;

/// The length, the time of the last change and a hash of the contents of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskState {
    length: u64,
    /// `None` if the file system has no times.
    modified: Option<SystemTime>,
    hash: u64,
}

impl DiskState {
    /// Reads a regular file of at most `max` bytes, and returns its state too.
    pub fn read(path: &Path, max: u64) -> io::Result<(Self, Vec<u8>)> {
        // Before the contents: a change while they are read gives a later time.
        let modified = modified(path);
        let contents = read_regular(path, max)?;
        Ok((Self::with_time(modified, &contents), contents))
    }

    /// The state of a file that has just been written with these contents.
    pub fn written(path: &Path, contents: &[u8]) -> Self {
        Self::with_time(modified(path), contents)
    }

    fn with_time(modified: Option<SystemTime>, contents: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(contents);
        Self { length: contents.len() as u64, modified, hash: hasher.finish() }
    }

    /// The state of a file whose contents differ from this state; `None` if they do not, or if there is no file. A file
    /// that cannot be read counts as changed. Reads the file only if its length or time differs.
    pub fn changed(&self, path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        if length == self.length && modified.is_some() && modified == self.modified {
            return None;
        }
        match Self::read(path, u64::MAX) {
            Ok((now, _)) => ((now.length, now.hash) != (self.length, self.hash)).then_some(now),
            Err(_) => Some(Self { length, modified, hash: 0 }),
        }
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{File, write};
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_other_contents_are_a_change() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a");
        write(&path, "one").expect("written");
        let state = DiskState::written(&path, b"one");
        assert_eq!(state.changed(&path), None);
        let later = SystemTime::now() + Duration::from_secs(60);
        File::options().write(true).open(&path).and_then(|file| file.set_modified(later)).expect("set");
        assert_eq!(state.changed(&path), None, "the same contents, written again");
        write(&path, "two").expect("written");
        assert_eq!(state.changed(&path), Some(DiskState::written(&path, b"two")));
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(state.changed(&path), None, "nothing to lose");
    }
}
