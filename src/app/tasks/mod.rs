//! Work outside the interface thread and the files that outlive the editor: settings, autosave, recovery.

pub(crate) mod autosave;
pub(crate) mod file_tasks;
pub(crate) mod recent_files;
pub(crate) mod recovery;
pub(crate) mod results;
pub(crate) mod settings;
pub(crate) mod user_presets;
