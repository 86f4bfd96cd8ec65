//! The editor as a process with a real window.

mod no_display;
mod recovery;
