//! Everything that reads or writes files: formats, imports, exports and the programs that exports are made for.
//!
//! Nothing here draws, evaluates steps or knows about windows and arguments. Every error names its file and says what
//! to do. The modules build on each other in the order io, formats, import, export, targets.

pub mod export;
pub mod formats;
pub mod import;
pub mod io;
pub mod targets;

pub use io::FileError;
