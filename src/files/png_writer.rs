//! PNG written in bands of rows, which are filtered and compressed on all threads.
//!
//! Compressing is what a large picture takes its time for. As in pigz (M. Adler, "pigz", 2007) every band is compressed
//! by itself and ends with an empty stored block, which fills up its last byte (RFC 1951, 3.2.4): so one band follows
//! another in a single stream of RFC 1950. Where bands begin goes by the picture alone, and the file is the same at
//! every number of threads.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress};
use rayon::prelude::*;

use super::maps::BitDepth;
use super::watched::stopped;
use crate::engine::Progress;

/// Bytes of pixels in a band. A band knows nothing of what lies before it, so that smaller ones make larger files: by
/// less than a hundredth here.
const BAND_BYTES: usize = 1 << 19;

/// Bands that are worked on together, at the least: threads wait for the last of them.
const BANDS_AT_ONCE: usize = 16;

/// Bytes that are compressed between two looks at the monitor.
const PIECE: usize = 1 << 16;

/// How hard the compressor tries: more takes longer and gains nothing on terrain.
const LEVEL: u32 = 6;

/// The beginning of a stream of RFC 1950: deflate, 32 KiB looked back, the usual level.
const STREAM_HEADER: [u8; 2] = [0x78, 0x9C];

/// An empty block that says that it is the last one (RFC 1951, 3.2.6).
const LAST_BLOCK: [u8; 2] = [0x03, 0x00];

/// About the bytes that deflate takes to compress in, with the usual window (zlib 1.3, zconf.h).
const DEFLATE_BYTES: usize = 1 << 18;

/// The numbers of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channels {
    /// One.
    Grey,
    /// Red, green, blue.
    Rgb,
    /// The same and alpha.
    Rgba,
}

impl Channels {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Self::Grey => 1,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }
}

/// How the numbers of a picture lie in its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
    /// The numbers of a pixel.
    pub channels: Channels,
    /// The bits of a channel.
    pub depth: BitDepth,
    /// Whether the numbers are colours in sRGB; otherwise they are shares, directions, heights, and the file names no
    /// colour space.
    pub is_srgb: bool,
}

impl Layout {
    fn pixel_bytes(self) -> usize {
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

    /// The filters to choose from for a row. The low bytes of heights in 16 bits are as good as random: the sum by which
    /// filters are compared says nothing there, and the row above, from which land differs least, makes the smallest
    /// files. All grey in 16 bits, charts and weights too, is taken like heights.
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

/// Bands that are worked on together.
fn bands_at_once() -> usize {
    BANDS_AT_ONCE.max(2 * rayon::current_num_threads())
}

/// The most bytes that writing takes, with the pixels of [`PngWriter::rows_at_once`] in `pixel_bytes` each.
pub(super) fn bytes_at_once(layout: Layout, pixel_bytes: usize) -> u64 {
    let bands = bands_at_once().min(layout.size[1].div_ceil(layout.band_rows()));
    let rows = (bands * layout.band_rows()).min(layout.size[1]);
    // Compressed bands are as large as their pixels where those are noise.
    let bands_bytes = rows * (layout.row_bytes() + layout.size[0] * pixel_bytes);
    (bands_bytes + bands.min(rayon::current_num_threads()) * Space::bytes(layout)) as u64
}

/// Writes a picture whose row `j` is what `fill` makes of a row of bytes, the high byte of a number first.
pub(super) fn write(
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
pub(super) struct PngWriter<W: Write> {
    file: png::Writer<W>,
    layout: Layout,
    /// The rows that are written, and the last of them.
    written: usize,
    last_row: Vec<u8>,
    /// The checksum of what has been compressed.
    checksum: u32,
}

impl<W: Write> PngWriter<W> {
    /// Writes what stands before the pixels.
    pub(super) fn begin(writer: W, layout: Layout) -> io::Result<Self> {
        let [width, height] = layout.size.map(|side| side as u32);
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
        // Above the first row lies nothing: zeros.
        Ok(Self { file, layout, written: 0, last_row: vec![0; layout.row_bytes()], checksum: 1 })
    }

    /// How many rows are worked on together: whoever brings rows bit by bit brings so many, but for the last ones.
    pub(super) fn rows_at_once(&self) -> usize {
        bands_at_once() * self.layout.band_rows()
    }

    /// Writes the next `count` rows: all that are left, or a multiple of [`Self::rows_at_once`]. `fill` gets the number
    /// of a row in the whole picture.
    pub(super) fn write_rows(
        &mut self,
        count: usize,
        fill: impl Fn(usize, &mut [u8]) + Sync,
        progress: &Progress,
    ) -> io::Result<()> {
        let (layout, until) = (self.layout, self.written + count);
        debug_assert!(
            until == layout.size[1] || count.is_multiple_of(self.rows_at_once()),
            "bands begin where the picture says: {count} rows behind {} of {layout:?}",
            self.written
        );
        let counter = progress.counter(count.div_ceil(layout.band_rows()));
        while self.written < until {
            let end = until.min(self.written + self.rows_at_once());
            let firsts: Vec<usize> = (self.written..end).step_by(layout.band_rows()).collect();
            let bands = firsts.into_par_iter().map_init(
                || Space::new(layout),
                |space, first| {
                    if first == self.written {
                        space.above.copy_from_slice(&self.last_row);
                    } else {
                        fill(first - 1, &mut space.above);
                    }
                    space.filtered.clear();
                    for j in first..end.min(first + layout.band_rows()) {
                        fill(j, &mut space.row);
                        space.filter_row(layout);
                        progress.check().map_err(stopped)?;
                    }
                    let band = space.compress(progress)?;
                    counter.add_one().map_err(stopped)?;
                    Ok(band)
                },
            );
            for band in bands.collect::<io::Result<Vec<Band>>>()? {
                progress.check().map_err(stopped)?;
                self.file.write_chunk(png::chunk::IDAT, &band.compressed)?;
                self.checksum = joined(self.checksum, band.checksum, band.length);
            }
            fill(end - 1, &mut self.last_row);
            self.written = end;
        }
        Ok(())
    }

    /// Writes what stands behind the pixels. Fails unless all of them are written.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let (written, height) = (self.written, self.layout.size[1]);
        if written != height {
            return Err(io::Error::other(format!("{written} of {height} rows were written")));
        }
        let end = [LAST_BLOCK.as_slice(), &self.checksum.to_be_bytes()].concat();
        self.file.write_chunk(png::chunk::IDAT, &end)?;
        Ok(self.file.finish()?)
    }
}

/// Some rows, compressed.
struct Band {
    compressed: Vec<u8>,
    /// Of what has been compressed: its checksum and its bytes.
    checksum: u32,
    length: usize,
}

/// What a thread works in, kept from one band to the next.
struct Space {
    above: Vec<u8>,
    row: Vec<u8>,
    /// The row by the filter that is tried, and by the best one so far.
    tried: Vec<u8>,
    best: Vec<u8>,
    /// The rows of a band, each behind the number of its filter.
    filtered: Vec<u8>,
    deflate: Compress,
}

impl Space {
    /// The bytes of one: four rows, a band with the numbers of its filters, and what the compressor takes.
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
            deflate: Compress::new(Compression::new(LEVEL), false),
        }
    }

    /// Filters the row and goes on to the next one. Of several filters the one is taken whose bytes, as numbers with a
    /// sign, have the least sum of absolute values (PNG specification, third edition, 12.7).
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
        let mut pieces = filtered.chunks(PIECE).peekable();
        while let Some(mut piece) = pieces.next() {
            progress.check().map_err(stopped)?;
            let flush = if pieces.peek().is_some() { FlushCompress::None } else { FlushCompress::Sync };
            loop {
                compressed.reserve(PIECE);
                let before = deflate.total_in();
                deflate.compress_vec(piece, &mut compressed, flush)?;
                piece = &piece[(deflate.total_in() - before) as usize..];
                // While there is room left, nothing is held back.
                if piece.is_empty() && compressed.len() < compressed.capacity() {
                    break;
                }
            }
        }
        Ok(Band { compressed, checksum: simd_adler32::adler32(&filtered.as_slice()), length: filtered.len() })
    }
}

fn sum_of_absolutes(bytes: &[u8]) -> u64 {
    // Parts so short that their sums have room in the narrow numbers of the vector lanes.
    let of_part = |part: &[u8]| part.iter().map(|byte| u32::from(byte.cast_signed().unsigned_abs())).sum::<u32>();
    bytes.chunks(1 << 12).map(|part| u64::from(of_part(part))).sum()
}

/// What a byte is taken relative to (PNG specification, third edition, 9.2), by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    /// The byte of the pixel to the west.
    Sub = 1,
    /// That of the pixel to the north.
    Up = 2,
    /// The mean of both.
    Average = 3,
    /// Whichever of west, north and north-west is nearest to west + north − north-west.
    Paeth = 4,
}

impl Filter {
    /// The bytes of a row relative to those around them; what lies beyond the border is 0.
    fn apply(self, pixel_bytes: usize, above: &[u8], row: &[u8], filtered: &mut [u8]) {
        let (first, rest) = filtered.split_at_mut(pixel_bytes.min(row.len()));
        for ((byte, here), north) in first.iter_mut().zip(row).zip(above) {
            *byte = here.wrapping_sub(self.expected([0, *north, 0]));
        }
        let Some(here) = row.get(pixel_bytes..) else { return };
        let around =
            row.iter().zip(&above[pixel_bytes..]).zip(above).map(|((west, north), corner)| [*west, *north, *corner]);
        let pairs = rest.iter_mut().zip(here).zip(around);
        // A loop of its own for every filter, without a choice inside.
        match self {
            Self::Sub => pairs.for_each(|((byte, here), around)| *byte = here.wrapping_sub(Self::Sub.expected(around))),
            Self::Up => pairs.for_each(|((byte, here), around)| *byte = here.wrapping_sub(Self::Up.expected(around))),
            Self::Average => {
                pairs.for_each(|((byte, here), around)| *byte = here.wrapping_sub(Self::Average.expected(around)));
            }
            Self::Paeth => {
                pairs.for_each(|((byte, here), around)| *byte = here.wrapping_sub(Self::Paeth.expected(around)));
            }
        }
    }

    /// What stands for a byte, by those to the west, north and north-west.
    #[inline(always)]
    fn expected(self, [west, north, corner]: [u8; 3]) -> u8 {
        match self {
            Self::Sub => west,
            Self::Up => north,
            Self::Average => west.midpoint(north),
            Self::Paeth => {
                let [west, north, corner] = [west, north, corner].map(i16::from);
                let (to_west, to_north) = ((north - corner).abs(), (west - corner).abs());
                let to_corner = (west + north - 2 * corner).abs();
                let nearer = if to_north <= to_corner { north } else { corner };
                (if to_west <= to_north && to_west <= to_corner { west } else { nearer }) as u8
            }
        }
    }
}

/// The checksum of RFC 1950 of two parts, the second of which has `length` bytes, one after the other.
///
/// Its low half is 1 and the sum of all bytes, its high half the sum of all that the low half has been: through the
/// second part that is more by what the first part's low half is more than 1.
fn joined(first: u32, second: u32, length: usize) -> u32 {
    const BASE: u64 = 65_521;
    let halves = |sum: u32| [u64::from(sum & 0xFFFF), u64::from(sum >> 16)];
    let ([low, high], [second_low, second_high]) = (halves(first), halves(second));
    let more = (low + BASE - 1) % BASE;
    let high = (high + second_high + length as u64 % BASE * more) % BASE;
    ((high << 16) | ((second_low + more) % BASE)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Channels; 3] = [Channels::Grey, Channels::Rgb, Channels::Rgba];

    fn layout(size: [usize; 2], channels: Channels, depth: BitDepth) -> Layout {
        Layout { size, channels, depth, is_srgb: false }
    }

    /// Land in bytes: slopes, cliffs and some noise, so that no filter is the best everywhere.
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
        reader.finish().expect("a whole file");
        pixels
    }

    /// One row, one column, one pixel, one band and less, several bands, rows longer than a band.
    const SIZES: [[usize; 2]; 7] = [[1, 1], [1, 700], [700, 1], [13, 11], [1024, 1025], [777, 2049], [60_000, 9]];

    #[test]
    fn every_pixel_comes_back_from_another_reader() {
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
    fn the_file_is_the_same_at_every_number_of_threads_and_strip_by_strip() {
        for depth in [BitDepth::Eight, BitDepth::Sixteen] {
            let layout = layout([1024, 6001], Channels::Rgb, depth);
            let whole = written(layout);
            for threads in [1, 2, 7] {
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
                assert!(bytes == whole, "{threads} threads, {depth:?}");
            }
        }
    }

    #[test]
    fn bands_cost_next_to_nothing() {
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
    fn filters_by_hand() {
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
        // A falling row: 200 lies nearest to the west.
        let mut filtered = [0; 2];
        Filter::Paeth.apply(1, &[100, 100], &[200, 190], &mut filtered);
        assert_eq!(filtered, [100, 246]);
    }

    #[test]
    fn checksums_are_joined() {
        let bytes: Vec<u8> = (0..300_000).map(|at| byte(at, at / 100)).collect();
        for cut in [0, 1, 5, 65_521, 299_999, 300_000] {
            let [first, second] = [&bytes[..cut], &bytes[cut..]].map(|part| simd_adler32::adler32(&part));
            assert_eq!(joined(first, second, 300_000 - cut), simd_adler32::adler32(&bytes.as_slice()), "{cut}");
        }
    }

    #[test]
    fn a_stopped_writer_fails() {
        let progress = Progress::new();
        progress.cancel();
        assert!(write(&mut Vec::new(), layout([9, 9], Channels::Grey, BitDepth::Sixteen), fill, &progress).is_err());
    }

    #[test]
    fn bands_that_are_compressed_are_not_written_after_a_stop() {
        /// Cancels when the pixels of the first band come, and counts those that come all the same.
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
    fn a_picture_without_all_of_its_rows_is_none() {
        let file = PngWriter::begin(Vec::new(), layout([9, 7], Channels::Rgb, BitDepth::Eight)).expect("begun");
        assert!(file.finish().is_err_and(|error| error.to_string() == "0 of 7 rows were written"));
    }
}
