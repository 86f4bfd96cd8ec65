//! Decoding images of any supported format.

use std::io::{BufRead, Cursor, Seek};
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use crate::engine::Image;
use crate::files::io::error::FileError;
use crate::files::io::guard::guard_decoder;
use crate::files::io::memory::require_memory_for;

/// The maximum number of pixels along a side of a tileable texture.
const MAX_TEXTURE_SIDE: u32 = 8192;
/// The maximum number of bytes that decoding one may need.
const MAX_TEXTURE_BYTES: u64 = 512 << 20;

/// Bytes per pixel of a decoded texture, whose mip levels add up to four thirds of the first.
const MIPMAPPED_BYTES: u64 = 11;

/// The message about an incomplete file.
pub(crate) const TRUNCATED: &str = "it is truncated; copy it again";

/// Decodes the pixels of an image. Every image is decoded here.
pub(crate) fn decode_pixels(decoder: impl ImageDecoder) -> Result<DynamicImage, ImageError> {
    #[cfg(test)]
    counting::DECODED.set(counting::DECODED.get() + 1);
    DynamicImage::from_decoder(decoder)
}

/// Decodes the texture of a material. The format is detected from the contents of the file, not from its name.
pub fn decode_texture(path: &Path, bytes: &[u8]) -> Result<Image, FileError> {
    Ok(opaque_image(&decode_dynamic(path, bytes)?.1))
}

/// Decodes an image that could be the texture of a material, and detects its format.
pub(crate) fn decode_dynamic(path: &Path, bytes: &[u8]) -> Result<(ImageFormat, DynamicImage), FileError> {
    let unreadable = |reason: &str| {
        let problem = format!("this cannot be read as an image ({reason}); choose a PNG, JPEG, TGA or BMP");
        FileError::invalid(path, problem)
    };
    if bytes.is_empty() {
        return Err(unreadable("it is empty"));
    }
    if is_truncated_jpeg(bytes) {
        return Err(unreadable(TRUNCATED));
    }
    let (format, is_detected, reader) = reader_of(path, bytes)?;
    // TGA is only a fallback, so its decoder's message does not help if the file is something else.
    let broken = |error: ImageError| {
        let reason = plain_reason(&error);
        unreadable(if is_detected { reason.trim_end() } else { "its format is unknown" })
    };
    guard_decoder(path, || {
        let decoder = reader.into_decoder().map_err(broken)?;
        let (width, height) = decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        require_memory_for(path, 4 * pixels + decoder.total_bytes().max(MIPMAPPED_BYTES * pixels))?;
        Ok((format, decode_pixels(decoder).map_err(broken)?))
    })
}

/// Why an image cannot be decoded.
pub(crate) fn plain_reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => TRUNCATED.into(),
        _ => error.to_string(),
    }
}

/// A reader with limits, the format, and whether the format was detected.
fn reader_of<'a>(
    path: &Path,
    bytes: &'a [u8],
) -> Result<(ImageFormat, bool, ImageReader<impl BufRead + Seek + 'a>), FileError> {
    let mut reader = ImageReader::new(Cursor::new(bytes));
    reader = reader.with_guessed_format().map_err(|error| FileError::reading(path, &error))?;
    let detected = reader.format();
    // TGA files have no signature.
    let format = detected.unwrap_or(ImageFormat::Tga);
    reader.set_format(format);
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_TEXTURE_SIDE), Some(MAX_TEXTURE_SIDE));
    limits.max_alloc = Some(MAX_TEXTURE_BYTES);
    reader.limits(limits);
    Ok((format, detected.is_some(), reader))
}

/// The pixels of an image, without transparency.
pub(crate) fn opaque_image(decoded: &DynamicImage) -> Image {
    let width = decoded.width() as usize;
    match decoded {
        DynamicImage::ImageRgb8(image) => Image::from_rgb(width, image),
        _ => Image::from_rgb(width, &decoded.to_rgb8()),
    }
}

/// Whether a JPEG is truncated. Its decoder fills the missing part with grey and reports no error.
pub(crate) fn is_truncated_jpeg(bytes: &[u8]) -> bool {
    const START: u8 = 0xD8;
    const END: u8 = 0xD9;
    let Some(mut rest) = bytes.strip_prefix(&[0xFF, START]) else { return false };
    // Skips from marker to marker, over segments and entropy-coded data, in which a byte FF is followed by 0 or starts
    // a restart marker. Data after the end marker, such as a video or a second image, is ignored.
    let has_no_segment = |marker: u8| matches!(marker, 0x00 | 0x01 | 0xD0..=START | 0xFF);
    // Slices are read without errors.
    while rest.skip_until(0xFF).is_ok()
        && let Some(&marker) = rest.first()
    {
        if marker == END {
            return false;
        }
        if !has_no_segment(marker) {
            let length = rest.get(1..3).map_or(0, |bytes| usize::from(bytes[0]) << 8 | usize::from(bytes[1]));
            rest = rest.get(1 + length..).unwrap_or_default();
        }
    }
    true
}

/// Counts decoded images on the current thread, for tests.
#[cfg(test)]
pub(crate) mod counting {
    use std::cell::Cell;

    thread_local! {
        pub(crate) static DECODED: Cell<usize> = const { Cell::new(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Progress;
    use crate::files::formats::image::write;

    #[test]
    fn the_end_of_a_jpeg_is_found_despite_other_data() {
        let image = Image { width: 40, height: 40, pixels: (0..1600).map(|i| [i as u8, 7, 99, 255]).collect() };
        let mut bytes = Cursor::new(Vec::new());
        write(&mut bytes, Path::new("a.jpg"), &image, &Progress::new()).expect("written");
        let plain = bytes.into_inner();
        let both = [0xFF, 0xDA, 0, 1, 0xFF, 0xD9, 0xFF, 0xDA, 2];
        // A thumbnail in a segment before the pixels, as cameras write it.
        let stage = [&plain[..2], &[0xFF, 0xE1, 0, 11], &both, &plain[2..]].concat();
        for complete in [plain.clone(), [&plain[..], &both].concat(), stage.clone()] {
            assert!(!is_truncated_jpeg(&complete));
        }
        for bytes in [&plain, &stage] {
            for part in [2, 4, 20, bytes.len() / 2, bytes.len() - 1] {
                assert!(is_truncated_jpeg(&bytes[..part]), "{part} of {} bytes", bytes.len());
            }
        }
        assert!(!is_truncated_jpeg(b"not an image"));
    }

    #[test]
    fn every_supported_format_can_be_decoded() {
        let pixels = image::RgbImage::from_fn(4, 3, |x, y| image::Rgb([x as u8 * 40, y as u8 * 40, 7]));
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tga, ImageFormat::Bmp] {
            let mut bytes = Cursor::new(Vec::new());
            pixels.write_to(&mut bytes, format).expect("written");
            let found = decode_texture(Path::new("a"), bytes.get_ref()).expect("readable");
            assert_eq!((found.width, found.height), (4, 3), "{format:?}");
        }
    }
}
