//! Upthrust, a terrain editor that raises landscapes by fault formation.
//!
//! ARCHITECTURE.md lists the layers and their dependencies. The [`engine`] is pure; [`project`] holds the document.

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod engine;
pub mod files;
pub mod project;
#[cfg_attr(
    not(feature = "gui"),
    allow(dead_code, unused_imports, reason = "the editor moves the camera, the CLI does not")
)]
mod scene;
pub mod worker;
