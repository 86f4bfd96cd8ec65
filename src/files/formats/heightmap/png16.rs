//! PNG in 16-bit grey.

use std::io::{self, Write};

use super::quantiser::Quantiser;
use super::rows::Rows;
use crate::engine::{Grid, Progress};
use crate::files::formats::png::{self, BitDepth, Channels, Layout};

fn layout_of(size: [usize; 2]) -> Layout {
    Layout { size, channels: Channels::Grey, depth: BitDepth::Sixteen, is_srgb: false }
}

/// The maximum number of bytes that [`write`] needs.
pub(super) fn bytes_written(grid: Grid) -> u64 {
    png::bytes_at_once(layout_of([grid.width(), grid.height()]), 0)
}

pub(super) fn write(writer: &mut impl Write, rows: Rows, quantiser: &Quantiser, progress: &Progress) -> io::Result<()> {
    let fill = |r: usize, bytes: &mut [u8]| {
        let (pairs, _) = bytes.as_chunks_mut::<2>();
        pairs.iter_mut().zip(rows.row(r)).for_each(|(pair, height)| *pair = quantiser.value(*height).to_be_bytes());
    };
    png::write(writer, layout_of([rows.width(), rows.height()]), fill, progress)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{marked, written};
    use crate::engine::parameters::Band;

    #[test]
    fn another_reader_finds_16_bits_and_the_mark_in_the_north_west() {
        let bytes = written("a.png", &marked(), Band { min: -10.0, max: 500.0 }, None);
        let image::DynamicImage::ImageLuma16(image) = image::load_from_memory(&bytes).expect("an image") else {
            panic!("not 16-bit grey");
        };
        assert_eq!(image.dimensions(), (7, 5));
        assert_eq!(image.get_pixel(0, 0).0, [65_535]);
        // (6, 4) is 6·3 + 4·40 = 178 m above the lowest height.
        assert_eq!(image.get_pixel(6, 4).0, [(178.0_f64 / 510.0 * 65_535.0).round() as u16]);
    }
}
