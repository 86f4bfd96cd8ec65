//! Constants of the project file format.

use crate::engine::parameters::FileName;

/// The version of the file format that is written; this one and all older ones can be read.
pub const FORMAT_VERSION: u32 = 1;

/// The suffix of project files.
pub const PROJECT_SUFFIX: &str = FileName::PROJECT_SUFFIX;

/// The maximum size of a project file, and of all its imported files together, bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The extensions of the files that a project may name: those of heightmaps, without the dot. Besides them, only
/// projects next to a project are ever read into it.
pub const IMPORT_EXTENSIONS: [&str; 20] = [
    "png", "r16", "raw", "r32", "xy", "asc", "pgm", "bmp", "jpg", "jpeg", "tga", "exr", "tif", "tiff", "hgt", "bil",
    "flt", "ter", "webp", "ppm",
];
