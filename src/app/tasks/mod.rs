//! Work outside the interface thread and the files that outlive the editor: settings, autosave, recovery.
//!
//! The config folder holds the settings and the user's presets; the state folder holds unsaved work. Each running
//! editor locks a numbered folder there. A folder whose lock is free belongs to an editor that ended unexpectedly; its
//! projects are offered at the next start and stay until they are saved elsewhere. Tests pass their own folders, or
//! none.

pub(crate) mod autosave;
pub(crate) mod emergency_save;
pub(crate) mod exit_hook;
pub(crate) mod external_changes;
pub(crate) mod file_tasks;
pub(crate) mod file_windows;
pub(crate) mod folder_lock;
pub(crate) mod manual;
pub(crate) mod recent_files;
pub(crate) mod recovery;
pub(crate) mod results;
pub(crate) mod settings;
pub(crate) mod user_presets;
