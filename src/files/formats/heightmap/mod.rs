//! Heightmaps: one file per format, which is chosen by the file extension.

mod asc;
mod decoded;
mod encoded_colours;
mod exr;
mod foreign;
mod format;
mod georeference;
mod geotiff;
mod holes;
mod image;
mod krten;
mod layout;
mod membrane;
mod pgm;
mod png16;
mod quantiser;
mod raw;
mod raw_guess;
mod read;
mod rows;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tiff;
mod write;

pub use self::encoded_colours::ColourReading;
pub(crate) use self::exr::channels as exr_channels;
pub use self::format::{Encoding, Format, ReadOptions, WrittenFormat, format_of};
pub(crate) use self::georeference::{metadata_of_system, metadata_path, paths_beside, world_file, world_file_path};
pub use self::holes::{HoleFilling, Holes};
pub(crate) use self::image::{encodes_heights, has_palette};
pub use self::layout::{ByteOrder, RawLayout, RawSample, RowOrder, Samples};
pub(crate) use self::raw::likely_sizes;
pub use self::read::{LoadedHeightmap, decode, read};
pub(crate) use self::read::{complete, from_image, read_bytes, read_certain, read_to_review};
pub use self::rows::{Rows, grid_of};
pub(crate) use self::write::bytes_written;
pub use self::write::{check_size, write};
