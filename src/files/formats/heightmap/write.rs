//! Writing heightmaps.

use std::io::{Seek, Write};
use std::path::Path;

use super::format::{Encoding, WrittenFormat};
use super::layout::{RawLayout, RawSample};
use super::quantiser::Quantiser;
use super::rows::Rows;
use super::{asc, exr, image, krten, pgm, png16, raw, tiff};
use crate::engine::parameters::Band;
use crate::engine::{Grid, Progress};
use crate::files::formats::image::{ImageFileFormat, MAX_SIDE};
use crate::files::io::error::FileError;

/// Checks that a map of this size can be written in the format of the file.
pub fn check_size(path: &Path, size: [usize; 2], raw: Option<RawLayout>) -> Result<(), FileError> {
    let format = WrittenFormat::with_layout(path, raw)?;
    let max = match format {
        WrittenFormat::Png
        | WrittenFormat::Raw16
        | WrittenFormat::Raw32
        | WrittenFormat::Krten
        | WrittenFormat::Asc
        | WrittenFormat::Pgm
        | WrittenFormat::Exr
        | WrittenFormat::Tiff => usize::MAX,
        WrittenFormat::Bmp | WrittenFormat::Jpg | WrittenFormat::Tga => MAX_SIDE,
    };
    let refused = |possible| Err(FileError::size(path, size, possible));
    if size.iter().any(|&side| side > max) {
        return refused(format!("this format is limited to {max} samples along a side"));
    }
    if format == WrittenFormat::Tiff && size[0] as u64 * size[1] as u64 > tiff::MAX_SAMPLES {
        let max = tiff::MAX_SAMPLES.isqrt();
        return refused(format!("a TIFF is limited to 4 GiB, {max} × {max} samples; choose .exr or .r32"));
    }
    if raw.is_some_and(|layout| layout.header_bytes > 0) {
        return refused("headers are read, but not written; leave out the number after +".into());
    }
    match raw.and_then(|layout| layout.size) {
        Some([width, height]) if [width, height] != size => {
            refused(format!("the raw layout says {width} × {height}; leave out its size"))
        }
        _ => Ok(()),
    }
}

/// The maximum number of bytes that writing a map of this grid needs, in addition to the map itself.
pub(crate) fn bytes_written(path: &Path, grid: Grid) -> u64 {
    match WrittenFormat::from_path(path) {
        Ok(WrittenFormat::Png) => png16::bytes_written(grid),
        // An image with one byte per sample.
        Ok(WrittenFormat::Bmp | WrittenFormat::Jpg | WrittenFormat::Tga) => grid.samples() as u64,
        Ok(WrittenFormat::Exr) => exr::bytes_written(grid),
        // Row by row. Unknown extensions are refused elsewhere.
        Ok(
            WrittenFormat::Raw16
            | WrittenFormat::Raw32
            | WrittenFormat::Krten
            | WrittenFormat::Asc
            | WrittenFormat::Pgm
            | WrittenFormat::Tiff,
        )
        | Err(_) => 0,
    }
}

/// Writes a heightmap. Integers span `range_m`, rounded to nearest; heights outside it are clamped.
pub fn write(
    writer: &mut (impl Write + Seek),
    path: &Path,
    rows: Rows,
    range_m: Band,
    encoding: Encoding,
    progress: &Progress,
) -> Result<(), FileError> {
    let format = WrittenFormat::from_path(path)?;
    let raw = encoding.raw;
    let quantiser = Quantiser::new(format.samples(encoding), range_m);
    let mut image = |format| image::write(writer, rows, &quantiser, format, progress);
    let written = match format {
        WrittenFormat::Bmp => image(ImageFileFormat::Bmp),
        WrittenFormat::Jpg => image(ImageFileFormat::Jpg),
        WrittenFormat::Tga => image(ImageFileFormat::Tga),
        WrittenFormat::Png => png16::write(writer, rows, &quantiser, progress),
        WrittenFormat::Raw16 => raw::write(writer, rows, &quantiser, RawSample::of(raw, RawSample::U16Le), progress),
        WrittenFormat::Raw32 => raw::write(writer, rows, &quantiser, RawSample::of(raw, RawSample::F32Le), progress),
        WrittenFormat::Krten => krten::write(writer, rows, progress),
        WrittenFormat::Asc => asc::write(writer, rows, progress),
        WrittenFormat::Pgm => pgm::write(writer, rows, &quantiser, progress),
        WrittenFormat::Exr => exr::write(writer, rows, encoding.as_rgb, progress),
        WrittenFormat::Tiff => tiff::write(writer, rows, encoding.integers.then_some(&quantiser), progress),
    };
    // A cancelled writer returns an I/O error.
    progress.check()?;
    written.map_err(|error| FileError::writing(path, &error))
}
