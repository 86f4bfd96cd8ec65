//! Dialogs: export, presets, files and confirmations.

pub(crate) mod about;
pub(crate) mod byte_size;
pub(crate) mod closing;
pub(crate) mod export;
pub(crate) mod file_browser;
pub(crate) mod file_dialogs;
pub(crate) mod gallery;
pub(crate) mod import;
pub(crate) mod modal;
pub(crate) mod operation_examples;
pub(crate) mod operation_picker;
pub(crate) mod question;
pub(crate) mod recovered_projects;
pub(crate) mod save_preset;
pub(crate) mod variations;
