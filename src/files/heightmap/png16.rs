//! PNG in 16-bit grey, written row by row.

use std::io::{self, Write};

use png::{BitDepth, ColorType, Encoder};

use super::Quantiser;
use crate::engine::{Heightfield, Monitor};

/// The bytes that are gathered into one chunk of the file.
const CHUNK: usize = 1 << 18;

pub(super) fn write(
    writer: &mut impl Write,
    land: &Heightfield,
    quantiser: &Quantiser,
    monitor: &Monitor,
) -> io::Result<()> {
    let grid = land.grid();
    let mut encoder = Encoder::new(writer, grid.width() as u32, grid.height() as u32);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Sixteen);
    let mut header = encoder.write_header()?;
    let mut pixels = header.stream_writer_with_size(CHUNK)?;
    super::raw::write(&mut pixels, land, quantiser, super::RawSample::U16Be, monitor)?;
    pixels.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{marked, written};
    use crate::engine::parameters::Band;

    #[test]
    fn another_reader_finds_16_bits_and_the_mark_in_the_north_west() {
        let bytes = written("a.png", &marked(), Band { min: -10.0, max: 500.0 }, None);
        let image::DynamicImage::ImageLuma16(picture) = image::load_from_memory(&bytes).expect("a picture") else {
            panic!("not 16-bit grey");
        };
        assert_eq!(picture.dimensions(), (7, 5));
        assert_eq!(picture.get_pixel(0, 0).0, [65_535]);
        // (6, 4) lies 6·3 + 4·40 = 178 m above the lowest height.
        assert_eq!(picture.get_pixel(6, 4).0, [(178.0_f64 / 510.0 * 65_535.0).round() as u16]);
    }
}
