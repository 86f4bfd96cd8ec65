//! Upthrust, a terrain editor that raises landscapes by fault formation.
//!
//! ARCHITECTURE.md lists the layers and their dependencies. The [`engine`], a package of its own, is pure; [`project`]
//! holds the document.

// Conversions that can change a value go through `engine::cast`. Tests convert small known numbers.
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_lossless,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )
)]

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod files;
pub mod project;
#[cfg_attr(
    not(feature = "gui"),
    allow(dead_code, unused_imports, reason = "the editor moves the camera, the CLI does not")
)]
mod scene;
pub mod worker;

pub use upthrust_engine as engine;
