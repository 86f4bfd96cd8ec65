//! Whether the process that left a file behind still runs.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The name of this computer, as a part of a file name.
pub fn computer_name() -> String {
    let name = System::host_name().unwrap_or_default();
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect()
}

/// Whether a process runs on this computer; assumed where the system does not tell.
pub fn is_running(process: u32) -> bool {
    let process = Pid::from_u32(process);
    let Ok(mut system) = System::new() else { return true };
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), true, ProcessRefreshKind::nothing());
    system.process(process).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        assert!(is_running(std::process::id()));
        // Beyond the largest process number of Linux.
        assert!(!is_running(4_194_305));
    }
}
