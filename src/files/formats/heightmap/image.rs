//! Images as heightmaps, through the image crate.

use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::decoded::{Decoded, bit_depth_notes, check_decoded_length, checked_sides, checked_size};
use super::encoded_colours::{self, ColourReading, are_heights};
use super::quantiser::Quantiser;
use super::rows::Rows;
use crate::engine::cast::ToInteger;
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::formats::image::ImageFileFormat;
use crate::files::formats::image_decode::{TRUNCATED, decode_pixels, is_truncated_jpeg, plain_reason};
use crate::files::io::cancellable::CancellableWriter;
use crate::files::io::error::FileError;
use crate::files::io::memory::require_memory_for;

/// Decodes the pixels of an image.
fn decode_image(path: &Path, bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, FileError> {
    let refused = |reason: &str| {
        let problem = format!("this image cannot be read ({reason}); it may be damaged, or its extension wrong");
        FileError::invalid(path, problem)
    };
    let broken = |error: image::ImageError| refused(plain_reason(&error).trim_end());
    if format == ImageFormat::Jpeg && is_truncated_jpeg(bytes) {
        return Err(refused(TRUNCATED));
    }
    let mut reader = ImageReader::new(Cursor::new(bytes));
    reader.set_format(format);
    // Sizes are limited by free memory, not by a constant.
    reader.limits(Limits::no_limits());
    let decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let [width, height] = checked_size(path, bytes.len() as u64, width.into(), height.into())?;
    let stored = match format {
        ImageFormat::Png => png_bits(bytes).map(|bits| (width as u64 * height as u64 * bits).div_ceil(8)),
        _ => None,
    };
    check_decoded_length(path, bytes.len() as u64, stored.unwrap_or(decoder.total_bytes()))?;
    require_memory_for(path, decoder.total_bytes().saturating_mul(2))?;
    decode_pixels(decoder).map_err(broken)
}

/// Decodes an image, whose colours are read as brightness.
pub(super) fn decode(path: &Path, bytes: &[u8], format: ImageFormat) -> Result<Decoded, FileError> {
    from_image(path, decode_image(path, bytes, format)?, format)
}

/// Decodes an image that is imported, and says how its colours were read; `None` if it has none. Unless the reading is
/// given, colours are taken for encoded heights only if that is certain.
pub(super) fn decode_colours(
    path: &Path,
    bytes: &[u8],
    format: ImageFormat,
    reading: Option<ColourReading>,
) -> Result<(Decoded, Option<ColourReading>), FileError> {
    let image = decode_image(path, bytes, format)?;
    // The image, its colours, its heights, and the numbers of a palette.
    require_memory_for(path, u64::from(image.width()) * u64::from(image.height()) * 14)?;
    let indices = indices(bytes, format).filter(|_| reading.is_none_or(|reading| reading == ColourReading::Palette));
    read_colours(path, image, format, reading, indices)
}

/// The heights of a decoded image whose colours may encode them.
pub(super) fn read_colours(
    path: &Path,
    image: DynamicImage,
    format: ImageFormat,
    reading: Option<ColourReading>,
    indices: Option<Vec<u8>>,
) -> Result<(Decoded, Option<ColourReading>), FileError> {
    let has_bytes = image.color().bytes_per_pixel() == image.color().channel_count();
    if !image.color().has_color() || !has_bytes || !is_lossless(format) {
        return Ok((from_image(path, image, format)?, None));
    }
    let [width, height] = checked_sides(path, image.width().into(), image.height().into())?;
    let colours = image.to_rgb8();
    let encoded = reading.or_else(|| encoded_colours::detect(&colours)).and_then(|reading| {
        let samples = reading.heights_m(&colours)?;
        let notes = vec![format!("its colours are read as {} heights in metres", reading.name())];
        let raster = Raster { width, height, samples, scale: SampleScale::Metres };
        Some((Decoded { notes, ..Decoded::of(raster) }, Some(reading)))
    });
    drop(colours);
    if let Some(encoded) = encoded {
        return Ok(encoded);
    }
    let decoded = from_image(path, image, format)?;
    let is_chosen = reading == Some(ColourReading::Palette);
    let indices = indices.filter(|indices| is_chosen || are_heights(indices, &decoded.raster.samples, width));
    Ok(match indices {
        Some(indices) => {
            let mut notes = bit_depth_notes(true);
            notes.push("it has a palette; the numbers of its colours are used as heights".into());
            let samples = indices.into_iter().map(f32::from).collect();
            let raster = Raster { samples, ..decoded.raster };
            (Decoded { notes, ..Decoded::of(raster) }, Some(ColourReading::Palette))
        }
        None => (decoded, Some(ColourReading::Brightness)),
    })
}

/// Whether the colours of an image encode heights in metres.
pub(crate) fn encodes_heights(image: &DynamicImage) -> bool {
    let has_bytes = image.color().bytes_per_pixel() == image.color().channel_count();
    image.color().has_color() && has_bytes && encoded_colours::detect(&image.to_rgb8()).is_some()
}

/// Whether colours are exact in this format; heights are not encoded in others.
fn is_lossless(format: ImageFormat) -> bool {
    matches!(format, ImageFormat::Png | ImageFormat::WebP)
}

/// Whether a file is a PNG with a palette: the byte after the size and the bits in its first chunk says it (W3C, "Portable
/// Network Graphics", 11.2.1).
pub(crate) fn has_palette(bytes: &[u8]) -> bool {
    const COLOUR_TYPE: usize = 25;
    const INDEXED: u8 = 3;
    bytes.starts_with(b"\x89PNG") && bytes.get(COLOUR_TYPE) == Some(&INDEXED)
}

/// The numbers of the colours of a PNG with a palette that is not grey.
fn indices(bytes: &[u8], format: ImageFormat) -> Option<Vec<u8>> {
    if format != ImageFormat::Png {
        return None;
    }
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().ok()?;
    let info = reader.info();
    let is_grey =
        |palette: &[u8]| palette.as_chunks::<3>().0.iter().all(|[red, green, blue]| red == green && green == blue);
    let is_indexed = info.color_type == png::ColorType::Indexed
        && info.bit_depth == png::BitDepth::Eight
        && info.palette.as_ref().is_some_and(|palette| !is_grey(palette));
    let mut indices = vec![0; reader.output_buffer_size().filter(|_| is_indexed)?];
    reader.next_frame(&mut indices).ok()?;
    Some(indices)
}

/// The heights of a decoded image.
pub(super) fn from_image(path: &Path, image: DynamicImage, format: ImageFormat) -> Result<Decoded, FileError> {
    let [width, height] = checked_sides(path, image.width().into(), image.height().into())?;
    let colour = image.color();
    let is_eight_bit = colour.bytes_per_pixel() / colour.channel_count() == 1;
    let mut notes = bit_depth_notes(is_eight_bit);
    // Krten's BMP reader takes the first byte of a pixel, which is blue.
    let is_blue = colour.has_color() && format == ImageFormat::Bmp;
    if colour.has_color() {
        let part = if is_blue { "its blue channel" } else { "the brightness of its colours" };
        notes.push(format!("it is in colour; {part} is used as the height"));
    }
    let (samples, max_value) = if is_blue {
        (image.into_rgb8().pixels().map(|pixel| f32::from(pixel.0[2])).collect(), 255.0)
    } else if is_eight_bit {
        (image.into_luma8().into_raw().into_iter().map(f32::from).collect(), 255.0)
    } else {
        (image.into_luma16().into_raw().into_iter().map(f32::from).collect(), 65_535.0)
    };
    let raster = Raster { width, height, samples, scale: SampleScale::Integers { max_value } };
    Ok(Decoded { notes, ..Decoded::of(raster) })
}

/// The bits per pixel of a PNG (specification, 11.2.1), which may be fewer than those of the decoded pixels.
fn png_bits(bytes: &[u8]) -> Option<u64> {
    let (depth, colour) = (*bytes.get(24)?, *bytes.get(25)?);
    let channels = match colour {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    Some(u64::from(depth) * channels)
}

/// Writes 8-bit grey.
pub(super) fn write(
    writer: &mut (impl Write + Seek),
    rows: Rows,
    quantiser: &Quantiser,
    format: ImageFileFormat,
    progress: &Progress,
) -> io::Result<()> {
    let pixels: Vec<u8> =
        (0..rows.height()).flat_map(|r| rows.row(r)).map(|&height| quantiser.value(height).to_u8()).collect();
    let size = [rows.width().to_u32(), rows.height().to_u32()];
    format.encode(&mut CancellableWriter::new(writer, progress), &pixels, size, ExtendedColorType::L8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(pixels: &DynamicImage, format: image::ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        pixels.write_to(&mut bytes, format).expect("written");
        bytes.into_inner()
    }

    #[test]
    fn eight_bits_and_colours_are_read_and_noted() {
        let colours = image::RgbImage::from_fn(3, 2, |x, y| image::Rgb([255, 0, (10 * x + y) as u8]));
        let bytes = encoded(&colours.clone().into(), image::ImageFormat::Bmp);
        let blue = decode(Path::new("a.bmp"), &bytes, ImageFormat::Bmp).expect("readable");
        assert_eq!(blue.raster.samples, [0.0, 10.0, 20.0, 1.0, 11.0, 21.0]);
        assert_eq!(blue.notes.len(), 2);

        let bytes = encoded(&colours.into(), image::ImageFormat::Png);
        let luma = decode(Path::new("a.png"), &bytes, ImageFormat::Png).expect("readable");
        assert!(luma.raster.samples[0] > 40.0 && luma.raster.samples[0] < 80.0, "{:?}", luma.raster.samples);
        assert_eq!(luma.raster.scale, SampleScale::Integers { max_value: 255.0 });
        assert!(luma.notes[0].contains("8 bits") && luma.notes[1].contains("brightness"), "{:?}", luma.notes);

        let grey =
            image::ImageBuffer::<image::Luma<u16>, _>::from_fn(3, 2, |x, y| image::Luma([(1000 * x + y) as u16]));
        let bytes = encoded(&grey.into(), image::ImageFormat::Png);
        let deep = decode(Path::new("a.png"), &bytes, ImageFormat::Png).expect("readable");
        assert_eq!(deep.raster.samples, [0.0, 1000.0, 2000.0, 1.0, 1001.0, 2001.0]);
        assert!(deep.notes.is_empty());
    }

    #[test]
    fn a_large_image_with_one_bit_per_pixel_is_decoded() {
        for (colour, side) in [(png::ColorType::Grayscale, 1024_u32), (png::ColorType::Indexed, 4864)] {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, side, side);
            encoder.set_color(colour);
            encoder.set_depth(png::BitDepth::One);
            encoder.set_palette(vec![0, 0, 0, 255, 255, 255]);
            let mut writer = encoder.write_header().expect("a header");
            writer.write_image_data(&vec![0xff; (side / 8 * side) as usize]).expect("written");
            drop(writer);
            let decoded = decode(Path::new("a.png"), &bytes, ImageFormat::Png).expect("complete");
            assert!(decoded.raster.samples.iter().all(|sample| *sample == 255.0), "{colour:?}");
            assert!(decode(Path::new("a.png"), &bytes[..100], ImageFormat::Png).is_err());
        }
    }

    #[test]
    fn a_truncated_jpeg_is_refused() {
        let grey = image::GrayImage::from_fn(64, 64, |x, y| image::Luma([(x * y) as u8]));
        let bytes = encoded(&grey.into(), image::ImageFormat::Jpeg);
        assert!(decode(Path::new("a.jpg"), &bytes, ImageFormat::Jpeg).is_ok());
        let cut = decode(Path::new("a.jpg"), &bytes[..bytes.len() - 50], ImageFormat::Jpeg);
        assert!(cut.is_err_and(|error| error.to_string().contains("a.jpg: ")));
    }
}
