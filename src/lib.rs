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
#[cfg(feature = "gui")]
mod scene;
pub mod worker;
