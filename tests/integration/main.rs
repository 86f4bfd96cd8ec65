//! Integration tests of the library and the program, in one binary that is linked once.

#![allow(clippy::expect_used, clippy::panic, reason = "a failed precondition fails the test, also in helper functions")]

mod architecture;
mod cancellation;
mod cli;
mod common;
mod determinism;
mod evaluator;
#[cfg(unix)]
mod interrupted_exports;
mod landforms;
mod malformed;
mod manual;
mod materials;
mod meshes;
mod parameters;
mod partial_grids;
mod presets;
mod progress;
mod realism;
mod reference;
mod resolution;
mod roads;
mod statistics;
mod targets;
#[cfg(all(feature = "gui", target_os = "linux"))]
mod window;
