//! Reads and writes files: formats, imports, exports and export targets.
//!
//! This module knows nothing about windows or command-line arguments. Every error names its file and suggests a remedy.
//! The modules build on each other in the order io, formats, import, export, targets.

pub mod export;
pub mod formats;
pub mod import;
pub mod io;
pub mod targets;

pub use io::FileError;
