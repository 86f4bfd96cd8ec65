//! Headerless samples, row by row from the north.

use std::io::{self, Write};
use std::path::Path;

use super::decoded::{Decoded, checked_sides};
use super::layout::{RawLayout, RawSample};
use super::quantiser::Quantiser;
use super::rows::Rows;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Progress, Raster};
use crate::files::io::cancellable::cancelled_error;
use crate::files::io::error::FileError;

/// The samples in the bytes of a file.
pub(super) fn decode_samples(sample: RawSample, bytes: &[u8]) -> Vec<f32> {
    fn each<const N: usize>(bytes: &[u8], decode: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        bytes.as_chunks::<N>().0.iter().map(|chunk| decode(*chunk)).collect()
    }
    match sample {
        RawSample::U8 => each(bytes, |[byte]| f32::from(byte)),
        RawSample::U16Le => each(bytes, |chunk| f32::from(u16::from_le_bytes(chunk))),
        RawSample::U16Be => each(bytes, |chunk| f32::from(u16::from_be_bytes(chunk))),
        RawSample::I16Le => each(bytes, |chunk| f32::from(i16::from_le_bytes(chunk))),
        RawSample::I16Be => each(bytes, |chunk| f32::from(i16::from_be_bytes(chunk))),
        RawSample::F32Le => each(bytes, f32::from_le_bytes),
        RawSample::F32Be => each(bytes, f32::from_be_bytes),
    }
}

fn encode_sample(sample: RawSample, height_m: f32, quantiser: &Quantiser, bytes: &mut Vec<u8>) {
    match sample {
        RawSample::U8 => bytes.push(quantiser.value(height_m).to_u8()),
        RawSample::U16Le => bytes.extend(quantiser.value(height_m).to_le_bytes()),
        RawSample::U16Be => bytes.extend(quantiser.value(height_m).to_be_bytes()),
        #[expect(clippy::cast_possible_truncation, reason = "heights that i16 cannot hold saturate")]
        RawSample::I16Le => bytes.extend((height_m.round() as i16).to_le_bytes()),
        #[expect(clippy::cast_possible_truncation, reason = "heights that i16 cannot hold saturate")]
        RawSample::I16Be => bytes.extend((height_m.round() as i16).to_be_bytes()),
        RawSample::F32Le => bytes.extend(height_m.to_le_bytes()),
        RawSample::F32Be => bytes.extend(height_m.to_be_bytes()),
    }
}

/// How much smaller the differences of neighbours have to be in one byte order to be sure of it.
const CLEARLY: u64 = 4;

/// Whether 16-bit samples are those of a map in big-endian order: a map is smooth, and the low bytes of its heights are
/// not.
///
/// Bytes that are the same everywhere say nothing: they belong to 8-bit heights in either order.
pub(super) fn seems_big_endian(bytes: &[u8]) -> bool {
    let is_constant = |first: usize| bytes.iter().skip(first).step_by(2).all(|byte| bytes.get(first) == Some(byte));
    if is_constant(0) || is_constant(1) {
        return false;
    }
    let pairs = bytes.as_chunks::<4>().0;
    let roughness = |value: fn([u8; 2]) -> u16| -> u64 {
        pairs.iter().map(|[a, b, c, d]| u64::from(value([*a, *b]).abs_diff(value([*c, *d])))).sum()
    };
    CLEARLY * roughness(u16::from_be_bytes) < roughness(u16::from_le_bytes)
}

/// The type of the samples of a headerless file: that of the layout, or else the usual one of the format, in the byte order
/// in which it is a map.
pub(super) fn likely_sample(usual: RawSample, layout: Option<RawLayout>, bytes: &[u8]) -> RawSample {
    match layout {
        Some(layout) => layout.sample,
        None if usual == RawSample::U16Le && seems_big_endian(bytes) => RawSample::U16Be,
        None => usual,
    }
}

/// The longest side that is considered, as a multiple of the shorter one.
const MAX_ASPECT: usize = 16;

/// The rows, and the columns, at which two sizes are compared.
const PROBES: usize = 64;

/// The sizes that a headerless file with samples of this type can have, the likeliest first: a map is smooth, so in the
/// right size each row resembles the next.
pub(crate) fn likely_sizes(bytes: &[u8], sample: RawSample) -> Vec<[usize; 2]> {
    let each = sample.bytes().to_usize();
    let count = bytes.len() / each;
    if count * each != bytes.len() {
        return Vec::new();
    }
    let at = |index: usize| {
        decode_samples(sample, &bytes[index * each..][..each]).first().map_or(0.0, |height| f64::from(*height))
    };
    let roughness = |[width, height]: [usize; 2]| {
        let spread = |probe: usize, count: usize| probe * count / PROBES.min(count);
        let rows = (0..PROBES.min(height - 1)).map(|probe| spread(probe, height - 1));
        let difference = |row: usize, column: usize| (at(row * width + column) - at((row + 1) * width + column)).abs();
        let of_row = |row: usize| -> f64 {
            let columns = PROBES.min(width);
            (0..columns).map(|probe| difference(row, spread(probe, width))).sum::<f64>() / columns.to_f64()
        };
        let sum: f64 = rows.map(of_row).sum();
        sum / PROBES.min(height - 1).to_f64()
    };
    let first = count.div_ceil(MAX_ASPECT).isqrt().max(2);
    // The most square size comes first among equally likely ones.
    let shorter = (first..=count.isqrt()).rev().filter(|side| count.is_multiple_of(*side));
    let sizes = shorter.flat_map(|side| [[count / side, side], [side, count / side]]);
    let mut ranked: Vec<_> = sizes.map(|size| (roughness(size), size)).collect();
    // Samples that are no numbers are the least likely ones.
    ranked.sort_by(|(a, _), (b, _)| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)));
    ranked.dedup();
    ranked.into_iter().map(|(_, size)| size).collect()
}

/// Decodes a headerless file of a format whose samples usually have this type. Without a layout it is square, and its byte
/// order is a guess.
pub(super) fn decode(
    path: &Path,
    bytes: &[u8],
    layout: Option<RawLayout>,
    usual: RawSample,
) -> Result<Decoded, FileError> {
    let mut notes = Vec::new();
    let header_bytes = layout.map_or(0, |layout| layout.header_bytes);
    let Some(bytes) = bytes.get(header_bytes..) else {
        let problem = format!("its header should have {header_bytes} bytes, but the file has {}", bytes.len());
        return Err(FileError::invalid(path, problem));
    };
    let sample = likely_sample(usual, layout, bytes);
    if layout.is_none() && sample == RawSample::U16Be {
        notes.push("its samples are read as big-endian, because neighbours are much more alike that way".into());
    }
    let found = bytes.len() as u64;
    let [width, height] = match layout.and_then(|layout| layout.size) {
        Some([width, height]) => [width as u64, height as u64],
        None => {
            let samples = found / sample.bytes();
            let side = samples.isqrt();
            if side * side != samples || samples * sample.bytes() != found {
                return Err(unknown_size(path, bytes, sample, header_bytes));
            }
            let layout = RawLayout { sample, size: None, header_bytes }.describe([side; 2]);
            notes.push(format!("its layout was guessed from its length: {layout}"));
            [side; 2]
        }
    };
    let [width, height] = checked_sides(path, width, height)?;
    let expected = width as u64 * height as u64 * sample.bytes();
    if expected != found {
        let layout = RawLayout { sample, size: None, header_bytes }.describe([width, height]);
        let [expected, found] = [expected, found].map(|bytes| header_bytes as u64 + bytes);
        return Err(FileError::RawLength { path: path.to_path_buf(), layout, expected, found });
    }
    let raster = Raster { width, height, samples: decode_samples(sample, bytes), scale: sample.scale() };
    Ok(Decoded { notes, sample: Some(sample), ..Decoded::of(raster) })
}

/// The error about a file whose samples, after its header, are no square.
fn unknown_size(path: &Path, bytes: &[u8], sample: RawSample, header_bytes: usize) -> FileError {
    let (count, each) = (bytes.len() as u64 / sample.bytes(), sample.bytes());
    let after = if header_bytes > 0 { " after its header" } else { "" };
    let problem = match bytes.len() as u64 % each {
        0 => format!("the size of this map is unknown, and its {count} samples are not a square"),
        _ => format!("the {} bytes{after} are not a whole number of samples of {} bits", bytes.len(), 8 * each),
    };
    let size = likely_sizes(bytes, sample).into_iter().next();
    let likely = size.map(|size| RawLayout { sample, size: Some(size), header_bytes }.to_string());
    FileError::UnknownLayout { path: path.to_path_buf(), problem, likely }
}

pub(super) fn write(
    writer: &mut impl Write,
    rows: Rows,
    quantiser: &Quantiser,
    sample: RawSample,
    progress: &Progress,
) -> io::Result<()> {
    let counter = progress.counter(rows.height());
    let mut bytes = Vec::new();
    for r in 0..rows.height() {
        bytes.clear();
        rows.row(r).iter().for_each(|&height| encode_sample(sample, height, quantiser, &mut bytes));
        writer.write_all(&bytes)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{marked, written};
    use super::*;
    use crate::engine::parameters::Band;

    #[test]
    fn r16_matches_bytes_computed_by_hand() {
        let bytes = written("a.r16", &marked(), Band { min: -10.0, max: 500.0 }, None);
        // The mark is the highest point, 65535; its neighbour is 3 m above the lowest: 3/510 · 65535 = 385.5 → 386.
        let third = (0.5_f64 + 3.0 / 510.0 * 65_535.0) as u16;
        assert_eq!(bytes.len(), 70);
        assert_eq!(bytes[..4], [0xff, 0xff, third.to_le_bytes()[0], third.to_le_bytes()[1]]);

        let bytes = [1, 0, 2, 0, 0, 1, 0xff, 0xff];
        let decoded = decode(Path::new("a.r16"), &bytes, None, RawSample::U16Le).expect("readable");
        assert_eq!(decoded.raster.samples, [1.0, 2.0, 256.0, 65_535.0]);
        assert_eq!(decoded.notes, ["its layout was guessed from its length: 2 × 2 samples of 16 bits"]);
    }

    #[test]
    fn the_byte_order_of_a_smooth_map_is_found() {
        let heights: Vec<u16> = (0..32 * 32).map(|at| 20_000 + 37 * (at % 32) + 113 * (at / 32)).collect();
        let read = |bytes: Vec<u8>| decode(Path::new("a.raw"), &bytes, None, RawSample::U16Le).expect("readable");
        let little = read(heights.iter().flat_map(|height| height.to_le_bytes()).collect());
        let big = read(heights.iter().flat_map(|height| height.to_be_bytes()).collect());
        assert_eq!(little.raster, big.raster);
        assert!(big.notes[0].contains("big-endian") && !little.notes[0].contains("big-endian"), "{:?}", little.notes);
        // 256 times an 8-bit height.
        let eight_bits = read((0..32 * 32).flat_map(|at: u32| [0, (at / 8) as u8]).collect());
        assert_eq!(eight_bits.raster.samples[9], 256.0);
        // Noise is as rough in either order, and little-endian is usual.
        let noise = read((0..2 * 32 * 32).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect());
        assert!(!noise.notes[0].contains("big-endian"));
    }

    #[test]
    fn the_size_in_which_rows_resemble_each_other_is_the_likeliest() {
        let height = |x: usize, z: usize| 2000.0 + 900.0 * libm::sin(x.to_f64() / 31.0) * libm::cos(z.to_f64() / 17.0);
        for size @ [width, depth] in [[120, 90], [90, 120], [300, 40], [64, 63]] {
            let heights = (0..depth).flat_map(|z| (0..width).map(move |x| height(x, z)));
            let bytes: Vec<u8> = heights.flat_map(|height| height.to_u16().to_le_bytes()).collect();
            let sizes = likely_sizes(&bytes, RawSample::U16Le);
            assert_eq!(sizes[0], size, "{sizes:?}");
            assert!(sizes.iter().all(|[width, depth]| 2 * width * depth == bytes.len()), "{sizes:?}");
        }
        assert!(likely_sizes(&[0; 7], RawSample::U16Le).is_empty());
        assert!(likely_sizes(&[0; 2 * 127], RawSample::U16Le).is_empty(), "a prime number of samples");
    }

    #[test]
    fn a_wrong_length_is_reported_with_both_lengths() {
        let layout = Some(RawLayout { size: Some([3, 3]), ..RawLayout::square(RawSample::U16Le) });
        let error = decode(Path::new("a.raw"), &[0; 17], layout, RawSample::U16Le).expect_err("refused");
        assert!(error.to_string().contains("3 × 3 samples of 16 bits need 18 bytes, but this file has 17"), "{error}");
    }

    #[test]
    fn the_bytes_of_a_header_are_skipped() {
        let bytes = [9, 9, 9, 1, 0, 2, 0, 0, 1, 0xff, 0xff];
        for text in ["u16le,2x2+3", "u16le+3"] {
            let decoded = decode(Path::new("a.raw"), &bytes, text.parse().ok(), RawSample::U16Le).expect(text);
            assert_eq!(decoded.raster.samples, [1.0, 2.0, 256.0, 65_535.0]);
        }
        let refused = |text: &str| {
            decode(Path::new("a.raw"), &bytes, text.parse().ok(), RawSample::U16Le).expect_err(text).to_string()
        };
        assert!(refused("u16le,2x2+2").contains("2 × 2 samples of 16 bits after a header of 2 bytes need 10 bytes"));
        assert!(refused("u16le,2x2+12").contains("should have 12 bytes, but the file has 11"));
        // 8 bytes are four samples, a square, but 9 are not.
        let odd = refused("u16le+2");
        assert!(odd.contains("the 9 bytes after its header are not a whole number of samples of 16 bits"), "{odd}");
    }
}
