//! What a file was like when it was last read or written, to notice when another program changes it.

use std::hash::{DefaultHasher, Hasher};
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
    /// The state of a file with these contents, which has just been read or written.
    pub fn new(path: &Path, contents: &[u8]) -> Self {
        let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut hasher = DefaultHasher::new();
        hasher.write(contents);
        Self { length: contents.len() as u64, modified, hash: hasher.finish() }
    }

    /// The state of a file whose contents differ from this state; `None` if they do not, or if the file cannot be read.
    /// Reads the file only if its time differs.
    pub fn changed(&self, path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        let is_as_known = metadata.len() == self.length
            && self.modified.is_some_and(|known| metadata.modified().is_ok_and(|time| time == known));
        if is_as_known {
            return None;
        }
        let now = Self::new(path, &read_regular(path, u64::MAX).ok()?);
        ((now.length, now.hash) != (self.length, self.hash)).then_some(now)
    }
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
        let state = DiskState::new(&path, b"one");
        assert_eq!(state.changed(&path), None);
        let later = SystemTime::now() + Duration::from_secs(60);
        File::options().write(true).open(&path).and_then(|file| file.set_modified(later)).expect("set");
        assert_eq!(state.changed(&path), None, "the same contents, written again");
        write(&path, "two").expect("written");
        assert_eq!(state.changed(&path), Some(DiskState::new(&path, b"two")));
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(state.changed(&path), None, "nothing to lose");
    }
}
