//! How much memory there is, asked before it is taken.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::error::FileError;

/// Bytes that can be taken without pushing other programs out; `None` where the system does not say.
pub fn available_bytes() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).ok()?;
    let free = system.available_memory();
    // In a container the machine's memory is not ours to take.
    let limited = system.cgroup_limits().map_or(free, |limits| free.min(limits.free_memory));
    (limited > 0).then_some(limited)
}

/// Refuses work that needs more bytes than are free.
pub fn require_memory(needed: u64) -> Result<(), FileError> {
    match available_bytes() {
        Some(available) if needed > available => Err(FileError::Memory { needed, available }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_allowed_and_what_does_not_is_refused_with_both_numbers() {
        assert_eq!(require_memory(1), Ok(()));
        let error = require_memory(1 << 60).expect_err("an exbibyte");
        assert!(error.to_string().starts_with("this needs about 1073741824.0 GiB of memory and "), "{error}");
    }
}
