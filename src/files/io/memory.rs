//! Free memory, checked before large allocations.

use std::path::Path;
use std::sync::OnceLock;

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::error::FileError;
use crate::engine::cast::ToInteger;

/// Bytes that can be allocated without forcing other programs out of memory; `None` if the system does not report it.
pub fn available_bytes() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).ok()?;
    let free = system.available_memory();
    // A container may use less than the machine has.
    let limited = system.cgroup_limits().map_or(free, |limits| free.min(limits.free_memory));
    (limited > 0).then_some(limited)
}

/// Makes the allocator return large freed blocks to the system. Left to itself, that of the GNU C library keeps ever larger
/// ones for later allocations, which rarely fit: a sixth of the peak of a large build. The editor does not call this, because
/// previews allocate maps of the same sizes again and again. Call it before there are other threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the standard library cannot configure the allocator")]
pub fn return_freed_blocks() {
    /// Blocks of at least this many bytes are returned at once.
    const RETURNED: libc::c_int = 4 << 20;
    /// The most free bytes that are kept at the end of the heap.
    const KEPT: libc::c_int = 16 << 20;
    // SAFETY: `mallopt` requires that no other thread allocates meanwhile. `main` calls this before it starts any.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, RETURNED);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

/// The allocators of other systems return large blocks by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_freed_blocks() {}

/// The bytes that caches of previews may take: a third of the memory that is free when this is first called.
pub fn cache_bytes() -> usize {
    const MIN: usize = 256 << 20;
    const MAX: usize = 4 << 30;
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| available_bytes().map_or(MIN, |free| (free / 3).to_usize()).clamp(MIN, MAX))
}

/// Refuses work that needs more bytes than are free.
pub fn require_memory(needed: u64) -> Result<(), FileError> {
    match available_bytes() {
        Some(available) if needed > available => Err(FileError::Memory { path: None, needed, available }),
        _ => Ok(()),
    }
}

/// Refuses to read a file if that needs more bytes than are free.
pub fn require_memory_for(path: &Path, needed: u64) -> Result<(), FileError> {
    require_memory(needed).map_err(|error| match error {
        FileError::Memory { needed, available, .. } => {
            FileError::Memory { path: Some(path.to_path_buf()), needed, available }
        }
        error => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_fit_is_refused_with_both_sizes() {
        assert_eq!(require_memory(1), Ok(()));
        let error = require_memory(1 << 60).expect_err("an exbibyte");
        assert!(error.to_string().starts_with("this needs about 1073741824.0 GiB of memory, but "), "{error}");
        let error = require_memory_for(Path::new("a/b.tga"), 1 << 60).expect_err("an exbibyte").to_string();
        assert!(
            error.starts_with("a/b.tga: reading this file needs about 1073741824.0 GiB of memory, but "),
            "{error}"
        );
    }
}
