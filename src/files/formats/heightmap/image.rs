//! Images as heightmaps, through the image crate.

use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageReader, Limits};

use super::decoded::{Decoded, bit_depth_notes, check_decoded_length, checked_size};
use super::format::Format;
use super::quantiser::Quantiser;
use super::rows::Rows;
use crate::engine::cast::ToInteger;
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::formats::image::ImageFileFormat;
use crate::files::formats::image_decode::{TRUNCATED, decode_pixels, is_truncated_jpeg};
use crate::files::io::cancellable::CancellableWriter;
use crate::files::io::error::FileError;
use crate::files::io::memory::require_memory;

/// The image format of a heightmap format that is one, and BMP for the others.
fn image_format(format: Format) -> ImageFileFormat {
    match format {
        Format::Png => ImageFileFormat::Png,
        Format::Jpg => ImageFileFormat::Jpg,
        Format::Tga => ImageFileFormat::Tga,
        Format::Bmp
        | Format::Raw16
        | Format::Raw32
        | Format::Krten
        | Format::Asc
        | Format::Pgm
        | Format::Exr
        | Format::Tiff => ImageFileFormat::Bmp,
    }
}

pub(super) fn decode(path: &Path, bytes: &[u8], format: Format) -> Result<Decoded, FileError> {
    let refused = |reason: &str| {
        let problem = format!("this image cannot be read ({reason}); it may be damaged, or its extension wrong");
        FileError::invalid(path, problem)
    };
    let broken = |error: image::ImageError| refused(error.to_string().trim_end());
    if format == Format::Jpg && is_truncated_jpeg(bytes) {
        return Err(refused(TRUNCATED));
    }
    let mut reader = ImageReader::new(Cursor::new(bytes));
    reader.set_format(image_format(format).in_image_crate());
    // Sizes are limited by free memory, not by a constant.
    reader.limits(Limits::no_limits());
    let decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let [width, height] = checked_size(path, width.into(), height.into())?;
    let stored = match format {
        Format::Png => png_bits(bytes).map(|bits| (width as u64 * height as u64 * bits).div_ceil(8)),
        _ => None,
    };
    check_decoded_length(path, bytes, stored.unwrap_or(decoder.total_bytes()))?;
    require_memory(decoder.total_bytes().saturating_mul(2))?;
    from_image(path, decode_pixels(decoder).map_err(broken)?, format)
}

/// The heights of a decoded image.
pub(super) fn from_image(path: &Path, image: DynamicImage, format: Format) -> Result<Decoded, FileError> {
    let [width, height] = checked_size(path, image.width().into(), image.height().into())?;
    let colour = image.color();
    let is_eight_bit = colour.bytes_per_pixel() / colour.channel_count() == 1;
    let mut notes = bit_depth_notes(is_eight_bit);
    // Krten's BMP reader takes the first byte of a pixel, which is blue.
    let is_blue = colour.has_color() && format == Format::Bmp;
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
    Ok(Decoded { raster, notes, georeference: None })
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
    format: Format,
    progress: &Progress,
) -> io::Result<()> {
    let pixels: Vec<u8> =
        (0..rows.height()).flat_map(|r| rows.row(r)).map(|&height| quantiser.value(height).to_u8()).collect();
    let format = image_format(format);
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
        let blue = decode(Path::new("a.bmp"), &bytes, Format::Bmp).expect("readable");
        assert_eq!(blue.raster.samples, [0.0, 10.0, 20.0, 1.0, 11.0, 21.0]);
        assert_eq!(blue.notes.len(), 2);

        let bytes = encoded(&colours.into(), image::ImageFormat::Png);
        let luma = decode(Path::new("a.png"), &bytes, Format::Png).expect("readable");
        assert!(luma.raster.samples[0] > 40.0 && luma.raster.samples[0] < 80.0, "{:?}", luma.raster.samples);
        assert_eq!(luma.raster.scale, SampleScale::Integers { max_value: 255.0 });
        assert!(luma.notes[0].contains("8 bits") && luma.notes[1].contains("brightness"), "{:?}", luma.notes);

        let grey =
            image::ImageBuffer::<image::Luma<u16>, _>::from_fn(3, 2, |x, y| image::Luma([(1000 * x + y) as u16]));
        let bytes = encoded(&grey.into(), image::ImageFormat::Png);
        let deep = decode(Path::new("a.png"), &bytes, Format::Png).expect("readable");
        assert_eq!(deep.raster.samples, [0.0, 1000.0, 2000.0, 1.0, 1001.0, 2001.0]);
        assert!(deep.notes.is_empty());
    }

    #[test]
    fn a_large_image_with_one_bit_per_pixel_is_decoded() {
        for colour in [png::ColorType::Grayscale, png::ColorType::Indexed] {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 8192, 8192);
            encoder.set_color(colour);
            encoder.set_depth(png::BitDepth::One);
            encoder.set_palette(vec![0, 0, 0, 255, 255, 255]);
            let mut writer = encoder.write_header().expect("a header");
            writer.write_image_data(&vec![0xff; 1024 * 8192]).expect("written");
            drop(writer);
            let decoded = decode(Path::new("a.png"), &bytes, Format::Png).expect("complete");
            assert!(decoded.raster.samples.iter().all(|sample| *sample == 255.0), "{colour:?}");
            assert!(decode(Path::new("a.png"), &bytes[..1000], Format::Png).is_err());
        }
    }

    #[test]
    fn a_truncated_jpeg_is_refused() {
        let grey = image::GrayImage::from_fn(64, 64, |x, y| image::Luma([(x * y) as u8]));
        let bytes = encoded(&grey.into(), image::ImageFormat::Jpeg);
        assert!(decode(Path::new("a.jpg"), &bytes, Format::Jpg).is_ok());
        let cut = decode(Path::new("a.jpg"), &bytes[..bytes.len() - 50], Format::Jpg);
        assert!(cut.is_err_and(|error| error.to_string().contains("a.jpg: ")));
    }
}
