//! Pictures in 8-bit RGB.

use std::io::{self, Seek, Write};
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use image::codecs::bmp::BmpEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::tga::TgaEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageFormat};

use super::error::FileError;
use super::heightmap::Format;
use super::maps::BitDepth;
use super::memory::require_memory;
use super::png_writer::{self, Channels, Layout, PngWriter};
use super::watched::{CancellableWriter, stopped};
use crate::engine::{Cancelled, Image, Progress};

/// The most pixels along a side that JPEG and TGA have room for.
pub const MAX_SIDE: usize = 65_535;

/// The pixels along a side of a picture of the land in 3-D.
pub const RENDER_SIDES: RangeInclusive<u32> = 16..=8192;
/// The pictures of a turntable.
pub const TURNTABLE_FRAMES: RangeInclusive<u32> = 2..=999;

/// How much of its quality a JPEG keeps, out of 100: no blocks to be seen on terrain, at a fifth of the bytes.
const JPEG_QUALITY: u8 = 92;

/// A kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFileFormat {
    /// Without losses, compressed.
    Png,
    /// With losses, small.
    Jpg,
    /// Without losses.
    Tga,
    /// Without losses, not compressed.
    Bmp,
}

impl ImageFileFormat {
    /// The heightmap formats that are pictures.
    pub fn of(format: Format) -> Option<Self> {
        match format {
            Format::Png => Some(Self::Png),
            Format::Jpg => Some(Self::Jpg),
            Format::Tga => Some(Self::Tga),
            Format::Bmp => Some(Self::Bmp),
            Format::Raw16 | Format::Raw32 | Format::Krten | Format::Asc | Format::Pgm | Format::Exr | Format::Tiff => {
                None
            }
        }
    }

    /// The format by a file's ending.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        Format::from_path(path).ok().and_then(Self::of).ok_or_else(|| FileError::UnknownExtension {
            path: path.to_path_buf(),
            known: ".png .jpg .jpeg .tga .bmp (pictures)".into(),
        })
    }

    /// The image crate's name for it.
    pub fn in_image_crate(self) -> ImageFormat {
        match self {
            Self::Png => ImageFormat::Png,
            Self::Jpg => ImageFormat::Jpeg,
            Self::Tga => ImageFormat::Tga,
            Self::Bmp => ImageFormat::Bmp,
        }
    }

    /// Encodes grey or RGB pixels of 8 bits a channel.
    pub(super) fn encode(
        self,
        writer: &mut (impl Write + Seek),
        pixels: &[u8],
        [width, height]: [u32; 2],
        colour: ExtendedColorType,
    ) -> io::Result<()> {
        let encoded = match self {
            Self::Png => image::codecs::png::PngEncoder::new(writer).write_image(pixels, width, height, colour),
            Self::Jpg => JpegEncoder::new_with_quality(writer, JPEG_QUALITY).write_image(pixels, width, height, colour),
            Self::Tga => TgaEncoder::new(writer).write_image(pixels, width, height, colour),
            Self::Bmp => BmpEncoder::new(writer).write_image(pixels, width, height, colour),
        };
        encoded.map_err(io::Error::other)
    }
}

/// What is said of a picture of which only the beginning is there.
pub(super) const CUT_OFF: &str = "it breaks off; copy it again";

/// Whether a JPEG breaks off before its end. Its decoder makes the rest grey and says nothing.
pub(super) fn is_truncated_jpeg(bytes: &[u8]) -> bool {
    const START: u8 = 0xD8;
    const END: u8 = 0xD9;
    let Some(mut rest) = bytes.strip_prefix(&[0xFF, START]) else { return false };
    // From segment to segment, over their contents and over coded pixels: there a byte FF is followed by 0 or begins a
    // restart. What stands behind the end, a film or a second picture, is no part of it.
    let is_bare = |mark: u8| matches!(mark, 0x00 | 0x01 | 0xD0..=START | 0xFF);
    while let Some(at) = rest.windows(2).position(|pair| pair[0] == 0xFF && !is_bare(pair[1])) {
        if rest[at + 1] == END {
            return false;
        }
        let length = rest.get(at + 2..at + 4).map_or(0, |bytes| usize::from(bytes[0]) << 8 | usize::from(bytes[1]));
        rest = rest.get(at + 2 + length..).unwrap_or_default();
    }
    true
}

/// Whether a picture of that size can be written to the file.
pub fn check_size(path: &Path, size: [usize; 2]) -> Result<(), FileError> {
    let most = match ImageFileFormat::from_path(path)? {
        ImageFileFormat::Png => 65_536,
        ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp => MAX_SIDE,
    };
    if size.iter().any(|side| !(1..=most).contains(side)) {
        let possible = format!("each side must have from 1 to {most} pixels");
        return Err(FileError::Size { path: path.to_path_buf(), size: size.map(|side| side as u64), possible });
    }
    Ok(())
}

/// Paints a picture of that size and writes it in the format of the file's ending. `paint` is asked for some of its rows
/// at a time, from north to south: for all of them where the format needs the whole picture. A PNG gets an alpha
/// channel of that value throughout, if one is asked for.
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
            // A writer that was stopped fails in its own words.
            progress.check()?;
            written.map_err(|error| FileError::writing(path, &error))
        }
        ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp => {
            let picture = progress.stage(0.0..0.5, || paint(0..size[1]))?;
            progress.stage(0.5..1.0, || write(writer, path, &picture, progress))
        }
    }
}

/// The most bytes that [`paint_and_write`] takes, the picture included.
pub(super) fn bytes_painted(path: &Path, size: [usize; 2]) -> u64 {
    match ImageFileFormat::from_path(path) {
        Ok(ImageFileFormat::Png) => png_writer::bytes_at_once(layout_of(size, Channels::Rgba), size_of::<[u8; 4]>()),
        Ok(ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp) | Err(_) => {
            bytes_of_pixels(size, 4).saturating_add(bytes_written(path, size))
        }
    }
}

/// The most bytes that writing a picture takes that is turned over: it is painted as a whole, and turned in a copy.
pub(super) fn bytes_turned_over(path: &Path, size: [usize; 2]) -> u64 {
    bytes_of_pixels(size, 2 * 4).saturating_add(bytes_written(path, size))
}

/// The most bytes that [`write`] takes beside the picture.
fn bytes_written(path: &Path, size: [usize; 2]) -> u64 {
    match ImageFileFormat::from_path(path) {
        Ok(ImageFileFormat::Png) => png_writer::bytes_at_once(layout_of(size, Channels::Rgb), 0),
        // A copy with three bytes a pixel. A file of no known ending is refused elsewhere.
        Ok(ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp) | Err(_) => bytes_of_pixels(size, 3),
    }
}

fn bytes_of_pixels([width, height]: [usize; 2], each: u64) -> u64 {
    (width as u64).saturating_mul(height as u64).saturating_mul(each)
}

/// Writes a picture in the format of the file's ending.
pub fn write(
    writer: &mut (impl Write + Seek),
    path: &Path,
    picture: &Image,
    progress: &Progress,
) -> Result<(), FileError> {
    let format = ImageFileFormat::from_path(path)?;
    let written = match format {
        ImageFileFormat::Png => write_png(writer, picture, progress),
        ImageFileFormat::Jpg | ImageFileFormat::Tga | ImageFileFormat::Bmp => {
            require_memory(3 * picture.pixels.len() as u64)?;
            let pixels: Vec<u8> =
                picture.pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
            let size = [picture.width as u32, picture.height as u32];
            format.encode(&mut CancellableWriter::new(writer, progress), &pixels, size, ExtendedColorType::Rgb8)
        }
    };
    // A writer that was stopped fails in its own words.
    progress.check()?;
    written.map_err(|error| FileError::writing(path, &error))
}

fn layout_of(size: [usize; 2], channels: Channels) -> Layout {
    Layout { size, channels, depth: BitDepth::Eight, is_srgb: true }
}

/// Red, green and blue of a row of pixels.
fn fill(row: &[[u8; 4]], bytes: &mut [u8]) {
    let (triples, _) = bytes.as_chunks_mut::<3>();
    triples.iter_mut().zip(row).for_each(|(triple, [red, green, blue, _])| *triple = [*red, *green, *blue]);
}

fn write_png(writer: &mut impl Write, picture: &Image, progress: &Progress) -> io::Result<()> {
    let Image { width, height, pixels } = picture;
    let row = |j: usize, bytes: &mut [u8]| fill(&pixels[j * width..][..*width], bytes);
    png_writer::write(writer, layout_of([*width, *height], Channels::Rgb), row, progress)
}

/// Paints a PNG in strips, so that the picture is never in memory as a whole.
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
    let share = |rows: usize| rows as f32 / height as f32;
    for first in (0..height).step_by(strip) {
        let rows = first..height.min(first + strip);
        progress.stage(share(first)..share(rows.end), || {
            let Image { pixels, .. } = progress.stage(0.0..0.5, || paint(rows.clone())).map_err(stopped)?;
            let row = |j: usize, bytes: &mut [u8]| {
                let row = &pixels[(j - first) * width..][..width];
                match alpha {
                    None => fill(row, bytes),
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
        let mut picture = Image { width: 24, height: 16, pixels: vec![[10, 60, 20, 255]; 24 * 16] };
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            picture.pixels[row * 24 + column] = [250, 30, 40, 255];
        }
        for ending in ["png", "jpg", "tga", "bmp"] {
            let mut bytes = Cursor::new(Vec::new());
            let path = format!("a.{ending}");
            write(&mut bytes, Path::new(&path), &picture, &Progress::new()).expect("written");
            let format = ImageFileFormat::from_path(Path::new(&path)).expect("known").in_image_crate();
            let read = image::load_from_memory_with_format(bytes.get_ref(), format).expect(ending).into_rgb8();
            assert_eq!(read.dimensions(), (24, 16), "{ending}");
            let tolerance = if ending == "jpg" { 12 } else { 0 };
            for (place, expected) in [((3, 3), [250, 30, 40]), ((20, 3), [10, 60, 20]), ((3, 13), [10, 60, 20])] {
                let pixel = read.get_pixel(place.0, place.1).0;
                let off = pixel.iter().zip(&expected).map(|(a, b): (&u8, &u8)| a.abs_diff(*b)).max();
                assert!(off <= Some(tolerance), "{ending}: {pixel:?} at {place:?}");
            }
        }
    }

    #[test]
    fn a_jpeg_ends_where_its_end_is_whatever_stands_around_it() {
        let picture = Image { width: 40, height: 40, pixels: (0..1600).map(|i| [i as u8, 7, 99, 255]).collect() };
        let mut bytes = Cursor::new(Vec::new());
        write(&mut bytes, Path::new("a.jpg"), &picture, &Progress::new()).expect("written");
        let plain = bytes.into_inner();
        let both = [0xFF, 0xDA, 0, 1, 0xFF, 0xD9, 0xFF, 0xDA, 2];
        // A small picture of its own within a segment before the pixels, as cameras write it.
        let stage = [&plain[..2], &[0xFF, 0xE1, 0, 11], &both, &plain[2..]].concat();
        for whole in [plain.clone(), [&plain[..], &both].concat(), stage.clone()] {
            assert!(!is_truncated_jpeg(&whole));
        }
        for bytes in [&plain, &stage] {
            for part in [2, 4, 20, bytes.len() / 2, bytes.len() - 1] {
                assert!(is_truncated_jpeg(&bytes[..part]), "{part} of {} bytes", bytes.len());
            }
        }
        assert!(!is_truncated_jpeg(b"no picture"));
    }

    #[test]
    fn a_stopped_writer_says_so() {
        let picture = Image { width: 2, height: 2, pixels: vec![[0; 4]; 4] };
        let progress = Progress::new();
        progress.cancel();
        for path in ["a.png", "a.bmp"] {
            let stopped = write(&mut Cursor::new(Vec::new()), Path::new(path), &picture, &progress);
            assert_eq!(stopped, Err(FileError::Cancelled), "{path}");
        }
    }

    #[test]
    fn sizes_and_endings_are_checked() {
        assert_eq!(check_size(Path::new("a.png"), [1, 65_536]), Ok(()));
        assert!(check_size(Path::new("a.png"), [0, 5]).is_err());
        assert!(check_size(Path::new("a.jpg"), [65_536, 5]).is_err());
        assert!(check_size(Path::new("a.r16"), [5, 5]).expect_err("no picture").to_string().contains(".jpg"));
    }
}
