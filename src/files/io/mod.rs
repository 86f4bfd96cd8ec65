//! File and memory access: atomic writes, errors, free memory, writers that can be cancelled.

pub mod atomic;
pub mod cancellable;
pub mod disk_state;
pub mod error;
pub(crate) mod failure;
pub mod folders;
pub mod guard;
pub mod memory;
pub mod process;
pub mod read;
pub mod temp_files;
pub mod terminal;

pub use error::FileError;
