//! The result of every decoder, and the checks that decoders share.

use std::path::Path;

use super::georeference::Georeference;
use super::layout::RawSample;
use crate::engine::Raster;
use crate::engine::cast::ToInteger;
use crate::engine::heightfield::SIDE_LIMITS;
use crate::files::io::error::FileError;
use crate::files::io::memory::require_memory_for;

/// A decoded heightmap.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) raster: Raster,
    /// Guesses and losses that the user should know about.
    pub(super) notes: Vec<String>,
    /// The cells of the map, if the file contains them.
    pub(super) georeference: Option<Georeference>,
    /// The factor and the offset that turn the samples into metres, if the file has them. They are applied after holes are
    /// found, which the file's own numbers mark.
    pub(super) metres: Option<[f64; 2]>,
    /// The type of the samples of a headerless file.
    pub(super) sample: Option<RawSample>,
}

impl Decoded {
    /// A map about which nothing else is known.
    pub(super) fn of(raster: Raster) -> Self {
        Self { raster, notes: Vec::new(), georeference: None, metres: None, sample: None }
    }
}

/// The size from a header, if a grid can have it.
pub(super) fn checked_sides(path: &Path, width: u64, height: u64) -> Result<[usize; 2], FileError> {
    let [min, max] = SIDE_LIMITS.map(|limit| limit as u64);
    let possible = |side: u64| (min..=max).contains(&side);
    if !possible(width) || !possible(height) {
        let possible = format!("each side must have from {min} to {max} samples");
        return Err(FileError::Size { path: path.to_path_buf(), size: [width, height], possible });
    }
    Ok([width.to_usize(), height.to_usize()])
}

/// The size from the header of a file of that many bytes, if a grid can have it, the file is not far too short for it,
/// and its samples fit into memory.
pub(super) fn checked_size(path: &Path, file_bytes: u64, width: u64, height: u64) -> Result<[usize; 2], FileError> {
    let size = checked_sides(path, width, height)?;
    // A sample has at least one bit.
    check_decoded_length(path, file_bytes, width * height / 8)?;
    // The samples, and the decoder's own copy of them.
    require_memory_for(path, width * height * 8)?;
    Ok(size)
}

/// The maximum compression ratio: deflate reaches 1032 (zlib, "Maximum Compression Factor"), a JPEG of a single grey
/// about 500.
const MAX_COMPRESSION: u64 = 2000;

/// Checks that a compressed file of this length can contain `decoded` bytes, and that they fit into memory.
pub(super) fn check_decoded_length(path: &Path, file_bytes: u64, decoded: u64) -> Result<(), FileError> {
    // Small files consist mostly of headers.
    if decoded > file_bytes.saturating_mul(MAX_COMPRESSION).saturating_add(1 << 20) {
        let problem = "this file is too short for a map of its size; it is truncated or damaged, so copy it again";
        return Err(FileError::invalid(path, problem));
    }
    require_memory_for(path, decoded)
}

/// The note about 8-bit heights.
pub(super) fn bit_depth_notes(is_eight_bit: bool) -> Vec<String> {
    let note = "it has 8 bits, only 256 heights, so slopes will show steps; 16 bits would not";
    if is_eight_bit { vec![note.into()] } else { Vec::new() }
}
