//! Reading files into memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::FileError;
use super::failure::{self, Operation};
use super::memory::require_memory_for;

/// Reads a regular file that fits into memory.
pub fn read_file(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |error: io::Error| FileError::reading(path, &error);
    require_memory_for(path, std::fs::metadata(path).map_err(failed)?.len())?;
    #[cfg(test)]
    counting::READS.set(counting::READS.get() + 1);
    read_regular(path, u64::MAX).map_err(failed)
}

/// Reads a regular file of at most `max` bytes. Pipes and devices are refused: opening one can block, and it can be
/// endless.
pub fn read_regular(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("this is not a regular file; choose a file on a disk"));
    }
    if metadata.len() > max {
        return Err(io::Error::other(format!("it has {} bytes, but at most {max} are possible", metadata.len())));
    }
    let mut bytes = Vec::new();
    failure::check(Operation::Read, path)?;
    File::open(path)?.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Counts reads on the current thread, for tests.
#[cfg(test)]
pub(crate) mod counting {
    use std::cell::Cell;

    thread_local! {
        pub(crate) static READS: Cell<usize> = const { Cell::new(0) };
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_the_expected_length_are_read() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("small"), "1234").expect("written");
        std::os::unix::fs::symlink("/dev/zero", path("endless")).expect("linked");
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().expect("mkfifo");
        assert!(made.success());
        assert_eq!(read_regular(&path("small"), 4).expect("read"), b"1234");
        assert!(read_regular(&path("small"), 3).is_err_and(|error| error.to_string().contains("at most 3")));
        for name in ["endless", "pipe", "."] {
            assert!(read_regular(&path(name), 4).is_err_and(|error| error.to_string().contains("regular file")));
        }
        assert!(read_file(&path("pipe")).is_err_and(|error| error.to_string().contains("pipe")));
        assert!(read_regular(&path("none"), 4).is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
    }
}
