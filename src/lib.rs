//! Upthrust raises landscapes by fault formation.
//!
//! One package, in rooms that know of each other only what ARCHITECTURE.md allows: the pure [`engine`], the document in
//! [`project`].

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
