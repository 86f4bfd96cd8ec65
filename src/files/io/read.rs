//! Reading files into memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::FileError;
use super::memory::require_memory;

/// Reads a regular file that fits into memory. Pipes and devices are refused, because they can be endless.
pub fn read_file(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |error: io::Error| FileError::reading(path, &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(FileError::invalid(path, "this is not a regular file; choose a file on a disk"));
    }
    require_memory(metadata.len())?;
    #[cfg(test)]
    counting::READS.set(counting::READS.get() + 1);
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(metadata.len()).read_to_end(&mut bytes)).map_err(failed)?;
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
