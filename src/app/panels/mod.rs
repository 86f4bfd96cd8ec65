//! The panels around the views. Each draws a part of the project and returns what the user wants done.

pub(crate) mod analysis;
pub(crate) mod compass;
pub(crate) mod diagram;
pub(crate) mod hints;
pub(crate) mod history;
pub(crate) mod masks;
pub(crate) mod materials;
pub(crate) mod menu;
pub(crate) mod play;
pub(crate) mod right;
pub(crate) mod scatter;
pub(crate) mod stack;
pub(crate) mod status;
pub(crate) mod texture_panel;
pub(crate) mod timeline;
pub(crate) mod types;
pub(crate) mod variations;
