//! The panels around the views. Each draws a part of the project and returns what the user wants done.

pub(super) mod compass;
pub(super) mod diagram;
pub(super) mod history;
pub(super) mod measures;
pub(super) mod menu;
pub(super) mod right;
pub(super) mod stack;
pub(super) mod status;
pub(super) mod timeline;
pub(super) mod types;
pub(super) mod variations;
