//! A PNG writer that filters and compresses bands of rows on all threads.
//!
//! Compression dominates the time for a large image. As in pigz (M. Adler, "pigz", 2007), every band is compressed
//! independently and ends with an empty stored block, which pads its last byte (RFC 1951, 3.2.4), so the bands form a
//! single stream of RFC 1950. The layout of the image determines where bands start, so the file does not depend on the
//! number of threads.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress};
use rayon::prelude::*;

use crate::engine::Progress;
use crate::engine::cast::ToInteger;
use crate::files::io::cancellable::cancelled_error;

/// Bytes of pixels per band. Matches do not cross bands, so smaller bands make larger files; at this size by less than
/// 1 %.
const BAND_BYTES: usize = 1 << 19;

/// The minimum number of bands per batch. All threads wait for the last band of a batch.
const BANDS_AT_ONCE: usize = 16;

/// Bytes that are compressed between two checks for cancellation.
const CHUNK: usize = 1 << 16;

/// The header of a stream of RFC 1950: deflate, a window of 32 KiB, a fast level.
const STREAM_HEADER: [u8; 2] = [0x78, 0x5E];

/// An empty final block (RFC 1951, 3.2.6).
const LAST_BLOCK: [u8; 2] = [0x03, 0x00];

/// Approximate working memory of deflate with the default window (zlib 1.3, zconf.h).
const DEFLATE_BYTES: usize = 1 << 18;

/// Bits per channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitDepth {
    /// One byte.
    #[default]
    Eight,
    /// Two bytes.
    Sixteen,
}

impl BitDepth {
    /// The maximum value.
    pub fn max(self) -> u16 {
        match self {
            Self::Eight => 255,
            Self::Sixteen => u16::MAX,
        }
    }
}

/// The channels of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channels {
    /// Grey.
    Grey,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha.
    Rgba,
}

impl Channels {
    /// The number of channels.
    pub fn count(self) -> usize {
        match self {
            Self::Grey => 1,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// The layout of an image in its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
    /// The channels of a pixel.
    pub channels: Channels,
    /// Bits per channel.
    pub depth: BitDepth,
    /// Whether the values are sRGB colours; otherwise they are weights, directions or heights, and the file declares no
    /// colour space.
    pub is_srgb: bool,
}

impl Layout {
    pub fn pixel_bytes(self) -> usize {
        match self.depth {
            BitDepth::Eight => self.channels.count(),
            BitDepth::Sixteen => 2 * self.channels.count(),
        }
    }

    fn row_bytes(self) -> usize {
        self.size[0] * self.pixel_bytes()
    }

    fn band_rows(self) -> usize {
        (BAND_BYTES / self.row_bytes().max(1)).max(1)
    }

    /// The level of compression. Level 6 would take a tenth longer for a texture of Alpine range with 8192² pixels and save 1 %,
    /// and a quarter longer for its heights than level 4 and save 1.3 %; weights and other maps would be 3 % smaller.
    fn compression(self) -> Compression {
        Compression::new(if self.is_srgb { 2 } else { 4 })
    }

    /// The filters to choose from for a row. The low bytes of 16-bit heights are nearly random, so comparing the sums
    /// of the filtered bytes is meaningless; `Up` gives the smallest files, because a row is most similar to the one
    /// above. All 16-bit grey images are handled like heights, including analysis maps and weights.
    fn filters(self) -> &'static [Filter] {
        match (self.depth, self.channels) {
            (BitDepth::Sixteen, Channels::Grey) => &[Filter::Up],
            (BitDepth::Eight, Channels::Grey)
            | (BitDepth::Eight | BitDepth::Sixteen, Channels::Rgb | Channels::Rgba) => {
                &[Filter::Sub, Filter::Up, Filter::Average, Filter::Paeth]
            }
        }
    }
}

/// Bands per batch.
fn bands_at_once() -> usize {
    BANDS_AT_ONCE.max(2 * rayon::current_num_threads())
}

/// The maximum number of bytes that writing needs, including the pixels of [`PngWriter::rows_at_once`] at `pixel_bytes`
/// each.
pub(crate) fn bytes_at_once(layout: Layout, pixel_bytes: usize) -> u64 {
    let bands = bands_at_once().min(layout.size[1].div_ceil(layout.band_rows()));
    let rows = (bands * layout.band_rows()).min(layout.size[1]);
    // Noise does not compress, so a compressed band can be as large as its pixels.
    let bands_bytes = rows * (layout.row_bytes() + layout.size[0] * pixel_bytes);
    (bands_bytes + bands.min(rayon::current_num_threads()) * Workspace::bytes(layout)) as u64
}

/// Writes an image. `fill` receives the number of a row and its bytes to fill, high byte first.
pub(crate) fn write(
    writer: impl Write,
    layout: Layout,
    fill: impl Fn(usize, &mut [u8]) + Sync,
    progress: &Progress,
) -> io::Result<()> {
    let mut file = PngWriter::begin(writer, layout)?;
    file.write_rows(layout.size[1], fill, progress)?;
    file.finish()
}

/// A PNG that is being written.
pub(crate) struct PngWriter<W: Write> {
    file: png::Writer<W>,
    layout: Layout,
    /// The number of rows written, and the last one of them.
    written: usize,
    last_row: Vec<u8>,
    /// The checksum of the data compressed so far.
    checksum: u32,
}

impl<W: Write> PngWriter<W> {
    /// Writes the header.
    pub(crate) fn begin(writer: W, layout: Layout) -> io::Result<Self> {
        let [width, height] = layout.size.map(|side| side.to_u32());
        let mut encoder = png::Encoder::new(writer, width, height);
        encoder.set_color(match layout.channels {
            Channels::Grey => png::ColorType::Grayscale,
            Channels::Rgb => png::ColorType::Rgb,
            Channels::Rgba => png::ColorType::Rgba,
        });
        encoder.set_depth(match layout.depth {
            BitDepth::Eight => png::BitDepth::Eight,
            BitDepth::Sixteen => png::BitDepth::Sixteen,
        });
        if layout.is_srgb {
            encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        }
        let mut file = encoder.write_header()?;
        file.write_chunk(png::chunk::IDAT, &STREAM_HEADER)?;
        // The row above the first one is zero.
        Ok(Self { file, layout, written: 0, last_row: vec![0; layout.row_bytes()], checksum: 1 })
    }

    /// The number of rows per batch. Callers that write in several calls pass a multiple of it, except for the last
    /// rows.
    pub(crate) fn rows_at_once(&self) -> usize {
        bands_at_once() * self.layout.band_rows()
    }

    /// Writes the next `count` rows: all that remain, or a multiple of [`Self::rows_at_once`]. `fill` receives the
    /// number of a row in the complete image.
    pub(crate) fn write_rows(
        &mut self,
        count: usize,
        fill: impl Fn(usize, &mut [u8]) + Sync,
        progress: &Progress,
    ) -> io::Result<()> {
        let (layout, until) = (self.layout, self.written + count);
        debug_assert!(
            until == layout.size[1] || count.is_multiple_of(self.rows_at_once()),
            "bands must start at fixed rows: {count} rows after {} of {layout:?}",
            self.written
        );
        let counter = progress.counter(count.div_ceil(layout.band_rows()));
        while self.written < until {
            let end = until.min(self.written + self.rows_at_once());
            let firsts: Vec<usize> = (self.written..end).step_by(layout.band_rows()).collect();
            let bands = firsts.into_par_iter().map_init(
                || Workspace::new(layout),
                |workspace, first| {
                    if first == self.written {
                        workspace.above.copy_from_slice(&self.last_row);
                    } else {
                        fill(first - 1, &mut workspace.above);
                    }
                    workspace.filtered.clear();
                    for j in first..end.min(first + layout.band_rows()) {
                        fill(j, &mut workspace.row);
                        workspace.filter_row(layout);
                        progress.check().map_err(cancelled_error)?;
                    }
                    let band = workspace.compress(progress)?;
                    counter.add_one().map_err(cancelled_error)?;
                    Ok(band)
                },
            );
            for band in bands.collect::<io::Result<Vec<Band>>>()? {
                progress.check().map_err(cancelled_error)?;
                self.file.write_chunk(png::chunk::IDAT, &band.compressed)?;
                self.checksum = combined_checksum(self.checksum, band.checksum, band.length);
            }
            fill(end - 1, &mut self.last_row);
            self.written = end;
        }
        Ok(())
    }

    /// Writes the trailer. Fails if rows are missing.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let (written, height) = (self.written, self.layout.size[1]);
        if written != height {
            return Err(io::Error::other(format!("{written} of {height} rows were written")));
        }
        let end = [LAST_BLOCK.as_slice(), &self.checksum.to_be_bytes()].concat();
        self.file.write_chunk(png::chunk::IDAT, &end)?;
        Ok(self.file.finish()?)
    }
}

/// Compressed rows.
struct Band {
    compressed: Vec<u8>,
    /// The checksum and the length of the uncompressed data.
    checksum: u32,
    length: usize,
}

/// The buffers of a thread, reused from band to band.
struct Workspace {
    above: Vec<u8>,
    row: Vec<u8>,
    /// The row filtered by the current candidate, and by the best filter so far.
    tried: Vec<u8>,
    best: Vec<u8>,
    /// The filtered rows of a band, each after the number of its filter.
    filtered: Vec<u8>,
    deflate: Compress,
}

impl Workspace {
    /// The size in bytes: four rows, a band with its filter numbers, and the memory of the compressor.
    fn bytes(layout: Layout) -> usize {
        4 * layout.row_bytes() + layout.band_rows() * (1 + layout.row_bytes()) + DEFLATE_BYTES
    }

    fn new(layout: Layout) -> Self {
        let row = || vec![0; layout.row_bytes()];
        Self {
            above: row(),
            row: row(),
            tried: row(),
            best: row(),
            filtered: Vec::new(),
            deflate: Compress::new(layout.compression(), false),
        }
    }

    /// Filters the row and advances to the next one. Of several filters, chooses the one with the smallest sum of
    /// absolute values of the bytes as signed numbers (PNG specification, third edition, 12.7).
    fn filter_row(&mut self, layout: Layout) {
        let Self { above, row, tried, best, filtered, .. } = self;
        let filters = layout.filters();
        let mut found = (u64::MAX, Filter::Up);
        for &filter in filters {
            filter.apply(layout.pixel_bytes(), above, row, tried);
            let sum = if filters.len() > 1 { sum_of_absolutes(tried) } else { 0 };
            if sum < found.0 {
                found = (sum, filter);
                std::mem::swap(tried, best);
            }
        }
        filtered.push(found.1 as u8);
        filtered.extend_from_slice(best);
        std::mem::swap(above, row);
    }

    /// Compresses the filtered rows.
    fn compress(&mut self, progress: &Progress) -> io::Result<Band> {
        let Self { filtered, deflate, .. } = self;
        deflate.reset();
        let mut compressed = Vec::with_capacity(filtered.len() / 2);
        let mut chunks = filtered.chunks(CHUNK).peekable();
        while let Some(mut chunk) = chunks.next() {
            progress.check().map_err(cancelled_error)?;
            let flush = if chunks.peek().is_some() { FlushCompress::None } else { FlushCompress::Sync };
            loop {
                compressed.reserve(CHUNK);
                let before = deflate.total_in();
                deflate.compress_vec(chunk, &mut compressed, flush)?;
                chunk = &chunk[(deflate.total_in() - before).to_usize()..];
                // All output is flushed once the buffer is not full.
                if chunk.is_empty() && compressed.len() < compressed.capacity() {
                    break;
                }
            }
        }
        Ok(Band { compressed, checksum: simd_adler32::adler32(&filtered.as_slice()), length: filtered.len() })
    }
}

fn sum_of_absolutes(bytes: &[u8]) -> u64 {
    // Chunks are short enough that their sums do not overflow narrow vector lanes.
    let of_part = |part: &[u8]| part.iter().map(|byte| u32::from(byte.cast_signed().unsigned_abs())).sum::<u32>();
    bytes.chunks(1 << 12).map(|part| u64::from(of_part(part))).sum()
}

/// A filter (PNG specification, third edition, 9.2): the neighbouring bytes that predict each byte. The discriminants
/// are the numbers in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    /// The pixel to the west.
    Sub = 1,
    /// The pixel to the north.
    Up = 2,
    /// The mean of both.
    Average = 3,
    /// The predictor of Paeth.
    Paeth = 4,
}

impl Filter {
    /// Filters a row: the differences between its bytes and their predictions. Pixels outside the image are 0.
    fn apply(self, pixel_bytes: usize, above: &[u8], row: &[u8], filtered: &mut [u8]) {
        let first = pixel_bytes.min(row.len());
        for i in 0..first {
            filtered[i] = match self {
                Self::Sub => row[i],
                Self::Average => row[i].wrapping_sub(above[i] / 2),
                Self::Up | Self::Paeth => row[i].wrapping_sub(above[i]),
            };
        }
        // The bytes from the second pixel on, and their neighbours; all have the same length.
        let (west, corner) = (&row[..row.len() - first], &above[..row.len() - first]);
        let (row, north, filtered) = (&row[first..], &above[first..row.len()], &mut filtered[first..row.len()]);
        // One loop per filter, so that there is no branch inside.
        match self {
            Self::Sub => (0..row.len()).for_each(|i| filtered[i] = row[i].wrapping_sub(west[i])),
            Self::Up => (0..row.len()).for_each(|i| filtered[i] = row[i].wrapping_sub(north[i])),
            Self::Average => {
                (0..row.len()).for_each(|i| filtered[i] = row[i].wrapping_sub(west[i].midpoint(north[i])));
            }
            Self::Paeth => {
                (0..row.len()).for_each(|i| filtered[i] = row[i].wrapping_sub(paeth(west[i], north[i], corner[i])));
            }
        }
    }
}

/// The one of west, north and north-west that is nearest to west + north − north-west.
#[inline(always)]
fn paeth(west: u8, north: u8, corner: u8) -> u8 {
    let [west, north, corner] = [i16::from(west), i16::from(north), i16::from(corner)];
    let (to_west, to_north) = ((north - corner).abs(), (west - corner).abs());
    let to_corner = (west + north - 2 * corner).abs();
    let nearer = if to_north <= to_corner { north } else { corner };
    (if to_west <= to_north && to_west <= to_corner { west } else { nearer }).to_u8()
}

/// The Adler-32 checksum (RFC 1950) of two concatenated parts, the second of which has `length` bytes.
///
/// The low half is 1 plus the sum of all bytes, the high half the sum of all values of the low half. Over the second
/// part, every value of the low half is greater by the excess of the first part's low half over 1.
fn combined_checksum(first: u32, second: u32, length: usize) -> u32 {
    const BASE: u64 = 65_521;
    let halves = |sum: u32| [u64::from(sum & 0xFFFF), u64::from(sum >> 16)];
    let ([low, high], [second_low, second_high]) = (halves(first), halves(second));
    let more = (low + BASE - 1) % BASE;
    let high = (high + second_high + length as u64 % BASE * more) % BASE;
    ((high << 16) | ((second_low + more) % BASE)).to_u32()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Channels; 3] = [Channels::Grey, Channels::Rgb, Channels::Rgba];

    fn layout(size: [usize; 2], channels: Channels, depth: BitDepth) -> Layout {
        Layout { size, channels, depth, is_srgb: false }
    }

    /// Terrain in bytes: slopes, cliffs and some noise, so that no filter is best everywhere.
    fn byte(at: usize, j: usize) -> u8 {
        let noise = (at * 7919 + j * 104_729 + at * j * 31) % 7;
        (at / 3 + 2 * j + noise + if at > 40 * j { 90 } else { 0 }) as u8
    }

    fn fill(j: usize, row: &mut [u8]) {
        row.iter_mut().enumerate().for_each(|(at, place)| *place = byte(at, j));
    }

    fn written(layout: Layout) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, layout, fill, &Progress::new()).expect("written");
        bytes
    }

    /// The bytes of all rows, as the reader of the png crate finds them.
    fn read(bytes: &[u8]) -> Vec<u8> {
        let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().expect("a header");
        let mut pixels = vec![0; reader.output_buffer_size().expect("fits")];
        reader.next_frame(&mut pixels).expect("all rows, and a checksum that fits");
        reader.finish().expect("a complete file");
        pixels
    }

    /// One row, one column, one pixel, one band and less, several bands, rows longer than a band.
    const SIZES: [[usize; 2]; 6] = [[1, 1], [1, 700], [700, 1], [13, 11], [1024, 513], [70_000, 3]];

    #[test]
    fn another_reader_reads_every_pixel() {
        for depth in [BitDepth::Eight, BitDepth::Sixteen] {
            for (size, channels) in SIZES.into_iter().flat_map(|size| ALL.map(|channels| (size, channels))) {
                let layout = layout(size, channels, depth);
                let mut expected = vec![0; layout.row_bytes() * size[1]];
                expected.chunks_exact_mut(layout.row_bytes()).enumerate().for_each(|(j, row)| fill(j, row));
                let bytes = written(layout);
                assert!(read(&bytes) == expected, "{layout:?}");
                assert!(image::load_from_memory(&bytes).is_ok(), "{layout:?}");
            }
        }
    }

    #[test]
    fn the_file_does_not_depend_on_threads_or_strips() {
        let layout = layout([1024, 2801], Channels::Rgb, BitDepth::Eight);
        let whole = written(layout);
        for threads in [1, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut bytes = Vec::new();
            pool.install(|| {
                let mut file = PngWriter::begin(&mut bytes, layout).expect("begun");
                let strip = file.rows_at_once();
                assert!(strip < layout.size[1], "more than one strip");
                for first in (0..layout.size[1]).step_by(strip) {
                    let count = strip.min(layout.size[1] - first);
                    file.write_rows(count, fill, &Progress::new()).expect("written");
                }
                file.finish().expect("written");
            });
            assert!(bytes == whole, "{threads} threads");
        }
    }

    #[test]
    fn bands_hardly_increase_the_file_size() {
        let layout = layout([1024, 2048], Channels::Rgb, BitDepth::Eight);
        let mut plain = Vec::new();
        let mut encoder = png::Encoder::new(&mut plain, 1024, 2048);
        encoder.set_color(png::ColorType::Rgb);
        let mut header = encoder.write_header().expect("begun");
        let mut stream = header.stream_writer().expect("begun");
        let mut row = vec![0; layout.row_bytes()];
        for j in 0..2048 {
            fill(j, &mut row);
            stream.write_all(&row).expect("written");
        }
        stream.finish().expect("written");
        drop(header);
        let (ours, plain) = (written(layout).len(), plain.len());
        assert!(ours * 100 < plain * 103, "{ours} bytes, {plain} by one thread");
    }

    #[test]
    fn filters_match_bytes_computed_by_hand() {
        let above = [10, 20, 30, 40];
        let row = [12, 25, 28, 250];
        let check = |filter: Filter, pixel_bytes, expected: [u8; 4]| {
            let mut filtered = [0; 4];
            filter.apply(pixel_bytes, &above, &row, &mut filtered);
            assert_eq!(filtered, expected, "{filter:?}, {pixel_bytes}");
        };
        check(Filter::Sub, 1, [12, 13, 3, 222]);
        check(Filter::Sub, 2, [12, 25, 16, 225]);
        check(Filter::Up, 1, [2, 5, 254, 210]);
        check(Filter::Average, 1, [7, 9, 1, 216]);
        // West + north − north-west: 22, 35, 38; nearest are 20, 30 and 40.
        check(Filter::Paeth, 1, [2, 5, 254, 210]);
        // Against 12 + 30 − 10 = 32 and 25 + 40 − 20 = 45.
        check(Filter::Paeth, 2, [2, 5, 254, 210]);
        // A falling row, predicted from the west.
        let mut filtered = [0; 2];
        Filter::Paeth.apply(1, &[100, 100], &[200, 190], &mut filtered);
        assert_eq!(filtered, [100, 246]);
    }

    #[test]
    fn checksums_are_combined() {
        let bytes: Vec<u8> = (0..300_000).map(|at| byte(at, at / 100)).collect();
        for cut in [0, 1, 5, 65_521, 299_999, 300_000] {
            let [first, second] = [&bytes[..cut], &bytes[cut..]].map(|part| simd_adler32::adler32(&part));
            assert_eq!(
                combined_checksum(first, second, 300_000 - cut),
                simd_adler32::adler32(&bytes.as_slice()),
                "{cut}"
            );
        }
    }

    #[test]
    fn a_cancelled_writer_fails() {
        let progress = Progress::new();
        progress.cancel();
        assert!(write(&mut Vec::new(), layout([9, 9], Channels::Grey, BitDepth::Sixteen), fill, &progress).is_err());
    }

    #[test]
    fn compressed_bands_are_not_written_after_cancellation() {
        /// Cancels on the first write of pixels, and counts all writes of pixels.
        struct Stopping<'a>(&'a Progress, &'a mut usize);

        impl Write for Stopping<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if bytes.len() > 1000 {
                    self.0.cancel();
                    *self.1 += 1;
                }
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let (progress, mut bands) = (Progress::new(), 0);
        let layout = layout([1024, 2048], Channels::Rgb, BitDepth::Eight);
        assert!(write(Stopping(&progress, &mut bands), layout, fill, &progress).is_err());
        assert_eq!(bands, 1);
    }

    #[test]
    fn an_image_with_missing_rows_is_refused() {
        let file = PngWriter::begin(Vec::new(), layout([9, 7], Channels::Rgb, BitDepth::Eight)).expect("begun");
        assert!(file.finish().is_err_and(|error| error.to_string() == "0 of 7 rows were written"));
    }
}
