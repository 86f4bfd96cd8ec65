//! 8-bit RGB images.

use std::io::{self, Seek, Write};
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use image::codecs::bmp::BmpEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::tga::TgaEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageFormat};

use super::png::{self, BitDepth, Channels, Layout, PngWriter};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Cancelled, Image, Progress};
use crate::files::io::cancellable::{CancellableWriter, cancelled_error};
use crate::files::io::error::FileError;
use crate::files::io::memory::require_memory;

/// The maximum number of pixels along a side of a JPEG or TGA.
pub const MAX_SIDE: usize = 65_535;
/// The maximum number of pixels along a side of a PNG.
const MAX_PNG_SIDE: usize = 65_536;

/// The possible numbers of pixels along a side of a 3-D render.
pub const RENDER_SIDES: RangeInclusive<u32> = 16..=8192;
/// The possible numbers of frames of a turntable.
pub const TURNTABLE_FRAMES: RangeInclusive<u32> = 2..=999;

/// JPEG quality, out of 100: no visible blocks on terrain, at a fifth of the bytes of a PNG.
const JPEG_QUALITY: u8 = 92;

/// An image format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFileFormat {
    /// Lossless, compressed.
    Png,
    /// Lossy, small.
    Jpg,
    /// Lossless.
    Tga,
    /// Lossless, uncompressed.
    Bmp,
}

impl ImageFileFormat {
    /// The format of a file by its extension, case-insensitively.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        match path.extension().map(|extension| extension.to_ascii_lowercase()).unwrap_or_default().to_str() {
            Some("png") => Ok(Self::Png),
            Some("jpg" | "jpeg") => Ok(Self::Jpg),
            Some("tga") => Ok(Self::Tga),
            Some("bmp") => Ok(Self::Bmp),
            _ => Err(FileError::UnknownExtension {
                path: path.to_path_buf(),
                known: ".png .jpg .jpeg .tga .bmp (images)".into(),
            }),
        }
    }

    /// The same format in the image crate.
    pub fn in_image_crate(self) -> ImageFormat {
        match self {
            Self::Png => ImageFormat::Png,
            Self::Jpg => ImageFormat::Jpeg,
            Self::Tga => ImageFormat::Tga,
            Self::Bmp => ImageFormat::Bmp,
        }
    }

    /// Encodes grey or RGB pixels with 8 bits per channel.
    pub(crate) fn encode(
        self,
        writer: &mut (impl Write + Seek),
        pixels: &[u8],
        [width, height]: [u32; 2],
        colour: ExtendedColorType,
    ) -> io::Result<()> {
        let encoded = match self {
            Self::Png => image::codecs::png::PngEncoder::new(writer).write_image(pixels, width, height, colour),
            Self::Jpg => JpegEncoder::new_with_quality(writer, JPEG_QUALITY).write_image(pixels, width, height, colour),
            // Its runs would continue into the next row, which TGA 2.0 forbids and some readers refuse.
            Self::Tga => TgaEncoder::new(writer).disable_rle().write_image(pixels, width, height, colour),
            Self::Bmp => BmpEncoder::new(writer).write_image(pixels, width, height, colour),
        };
        encoded.map_err(io::Error::other)
    }
}

/// Checks that an image of this size can be written in the format of the file.
pub fn check_size(path: &Path, size: [usize; 2]) -> Result<(), FileError> {
    let max = match ImageFileFormat::from_path(path)? {
        ImageFileFormat::Png => MAX_PNG_SIDE,
        ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp => MAX_SIDE,
    };
    if size.iter().any(|side| !(1..=max).contains(side)) {
        return Err(FileError::size(path, size, format!("each side must have from 1 to {max} pixels")));
    }
    Ok(())
}

/// Paints an image and writes it in the format of the file. `paint` is called for some rows at a time, from north to
/// south, or for all of them if the format needs the complete image. With `alpha`, a PNG gets an alpha channel with
/// that constant value.
pub fn paint_and_write(
    writer: &mut (impl Write + Seek),
    path: &Path,
    size: [usize; 2],
    alpha: Option<u8>,
    paint: impl Fn(Range<usize>) -> Result<Image, Cancelled>,
    progress: &Progress,
) -> Result<(), FileError> {
    match ImageFileFormat::from_path(path)? {
        ImageFileFormat::Png => {
            let written = write_png_in_strips(writer, size, alpha, paint, progress);
            // A cancelled writer returns an I/O error.
            progress.check()?;
            written.map_err(|error| FileError::writing(path, &error))
        }
        ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp => {
            let image = progress.stage(0.0..0.5, || paint(0..size[1]))?;
            progress.stage(0.5..1.0, || write(writer, path, &image, progress))
        }
    }
}

/// The maximum number of bytes that [`paint_and_write`] needs, including the image.
pub(crate) fn bytes_painted(path: &Path, size: [usize; 2]) -> u64 {
    match ImageFileFormat::from_path(path) {
        Ok(ImageFileFormat::Png) => png::bytes_at_once(layout_of(size, Channels::Rgba), size_of::<[u8; 4]>()),
        Ok(ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp) | Err(_) => {
            bytes_of_pixels(size, 4).saturating_add(bytes_written(path, size))
        }
    }
}

/// The maximum number of bytes that writing a mirrored image needs: it is painted completely, and mirrored in a copy.
pub(crate) fn bytes_mirrored(path: &Path, size: [usize; 2]) -> u64 {
    bytes_of_pixels(size, 2 * 4).saturating_add(bytes_written(path, size))
}

/// The maximum number of bytes that [`write`] needs, in addition to the image.
fn bytes_written(path: &Path, size: [usize; 2]) -> u64 {
    match ImageFileFormat::from_path(path) {
        Ok(ImageFileFormat::Png) => png::bytes_at_once(layout_of(size, Channels::Rgb), 0),
        // A copy with three bytes per pixel. Unknown extensions are refused elsewhere.
        Ok(ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp) | Err(_) => bytes_of_pixels(size, 3),
    }
}

fn bytes_of_pixels([width, height]: [usize; 2], each: u64) -> u64 {
    (width as u64).saturating_mul(height as u64).saturating_mul(each)
}

/// Writes an image in the format of the file.
pub fn write(
    writer: &mut (impl Write + Seek),
    path: &Path,
    image: &Image,
    progress: &Progress,
) -> Result<(), FileError> {
    let format = ImageFileFormat::from_path(path)?;
    let written = match format {
        ImageFileFormat::Png => write_png(writer, image, progress),
        ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp => {
            require_memory(3 * image.pixels.len() as u64)?;
            let pixels: Vec<u8> = image.pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
            let size = [image.width.to_u32(), image.height.to_u32()];
            format.encode(&mut CancellableWriter::new(writer, progress), &pixels, size, ExtendedColorType::Rgb8)
        }
    };
    // A cancelled writer returns an I/O error.
    progress.check()?;
    written.map_err(|error| FileError::writing(path, &error))
}

fn layout_of(size: [usize; 2], channels: Channels) -> Layout {
    Layout { size, channels, depth: BitDepth::Eight, is_srgb: true }
}

/// Copies red, green and blue of a row of pixels.
fn copy_rgb(row: &[[u8; 4]], bytes: &mut [u8]) {
    let (triples, _) = bytes.as_chunks_mut::<3>();
    triples.iter_mut().zip(row).for_each(|(triple, [red, green, blue, _])| *triple = [*red, *green, *blue]);
}

fn write_png(writer: &mut impl Write, image: &Image, progress: &Progress) -> io::Result<()> {
    let Image { width, height, pixels } = image;
    let row = |j: usize, bytes: &mut [u8]| copy_rgb(&pixels[j * width..][..*width], bytes);
    png::write(writer, layout_of([*width, *height], Channels::Rgb), row, progress)
}

/// Paints a PNG in strips, so that the complete image is never in memory.
fn write_png_in_strips(
    writer: &mut impl Write,
    size: [usize; 2],
    alpha: Option<u8>,
    paint: impl Fn(Range<usize>) -> Result<Image, Cancelled>,
    progress: &Progress,
) -> io::Result<()> {
    let channels = if alpha.is_some() { Channels::Rgba } else { Channels::Rgb };
    let mut file = PngWriter::begin(writer, layout_of(size, channels))?;
    let [width, height] = size;
    let strip = file.rows_at_once();
    let share = |rows: usize| rows.to_f32() / height.to_f32();
    for first in (0..height).step_by(strip) {
        let rows = first..height.min(first + strip);
        progress.stage(share(first)..share(rows.end), || {
            let Image { pixels, .. } = progress.stage(0.0..0.5, || paint(rows.clone())).map_err(cancelled_error)?;
            let row = |j: usize, bytes: &mut [u8]| {
                let row = &pixels[(j - first) * width..][..width];
                match alpha {
                    None => copy_rgb(row, bytes),
                    Some(alpha) => {
                        let (fours, _) = bytes.as_chunks_mut::<4>();
                        fours.iter_mut().zip(row).for_each(|(four, [r, g, b, _])| *four = [*r, *g, *b, alpha]);
                    }
                }
            };
            progress.stage(0.5..1.0, || file.write_rows(rows.len(), row, progress))
        })?;
    }
    file.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn another_reader_finds_the_mark_in_the_north_west() {
        let mut image = Image { width: 24, height: 16, pixels: vec![[10, 60, 20, 255]; 24 * 16] };
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            image.pixels[row * 24 + column] = [250, 30, 40, 255];
        }
        for extension in ["png", "jpg", "tga", "bmp"] {
            let mut bytes = Cursor::new(Vec::new());
            let path = format!("a.{extension}");
            write(&mut bytes, Path::new(&path), &image, &Progress::new()).expect("written");
            let format = ImageFileFormat::from_path(Path::new(&path)).expect("known").in_image_crate();
            let read = image::load_from_memory_with_format(bytes.get_ref(), format).expect(extension).into_rgb8();
            assert_eq!(read.dimensions(), (24, 16), "{extension}");
            let tolerance = if extension == "jpg" { 12 } else { 0 };
            for (place, expected) in [((3, 3), [250, 30, 40]), ((20, 3), [10, 60, 20]), ((3, 13), [10, 60, 20])] {
                let pixel = read.get_pixel(place.0, place.1).0;
                let off = pixel.iter().zip(&expected).map(|(a, b): (&u8, &u8)| a.abs_diff(*b)).max();
                assert!(off <= Some(tolerance), "{extension}: {pixel:?} at {place:?}");
            }
        }
    }

    #[test]
    fn a_cancelled_writer_returns_cancelled() {
        let image = Image { width: 2, height: 2, pixels: vec![[0; 4]; 4] };
        let progress = Progress::new();
        progress.cancel();
        for path in ["a.png", "a.bmp"] {
            let cancelled = write(&mut Cursor::new(Vec::new()), Path::new(path), &image, &progress);
            assert_eq!(cancelled, Err(FileError::Cancelled), "{path}");
        }
    }

    #[test]
    fn sizes_and_extensions_are_checked() {
        assert_eq!(check_size(Path::new("a.png"), [1, 65_536]), Ok(()));
        assert!(check_size(Path::new("a.png"), [0, 5]).is_err());
        assert!(check_size(Path::new("a.jpg"), [65_536, 5]).is_err());
        assert!(check_size(Path::new("a.r16"), [5, 5]).expect_err("not an image").to_string().contains(".jpg"));
    }
}
