//! Guesses the layout of headerless files whose layout nothing says. A map is smooth: read in the right way, neighbours are
//! much more alike than other samples.

use super::layout::{RawLayout, RawSample};
use super::raw::{decode_samples, likely_sizes, seems_big_endian};
use crate::engine::cast::{ToFloat, ToInteger};

/// A guessed layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    pub(crate) layout: RawLayout,
    /// What was guessed and why.
    pub(crate) note: String,
    /// Whether it is the only layout that makes sense, so that nobody has to be asked.
    pub(crate) is_certain: bool,
}

/// The rows, and the columns, at which neighbours are compared.
const PROBES: usize = 64;

/// How much smaller the differences of neighbours have to be for a signed map.
const CLEARLY: u64 = 2;

/// The longest header that is guessed, bytes, and the smallest multiple of it that the samples have.
const MAX_HEADER_BYTES: usize = 4096;
const MIN_SAMPLES_PER_HEADER: usize = 8;

/// The length of a header at which a size counts as twice as rough, bytes: neighbouring sizes behind headers of different
/// lengths are almost equally smooth.
const LONG_HEADER_BYTES: f64 = 1024.0;

/// The sides of the squares that are guessed behind a header, apart from these plus 1.
const SIDES: [usize; 10] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];

/// How much rougher the usual sizes may be than one that is not a square: odd sizes fit many lengths by chance.
const USUAL: f64 = 1.5;

/// The layout of a file whose samples are usually of this type; `None` if it is the usual one of a square map, or if no
/// layout fits.
pub(super) fn guess(bytes: &[u8], usual: RawSample) -> Option<Guess> {
    let sample = if usual == RawSample::U16Le { sixteen_bits(bytes) } else { usual };
    let is_signed = matches!(sample, RawSample::I16Le | RawSample::I16Be);
    if let Some(side) = square_side(bytes.len(), sample) {
        let note = "its samples are read as signed, because neighbours are much more alike that way";
        return is_signed.then(|| Guess {
            layout: RawLayout { sample, size: Some([side; 2]), header_bytes: 0 },
            note: note.into(),
            is_certain: true,
        });
    }
    let squares: Vec<RawLayout> = match usual {
        RawSample::U16Le => {
            let sixteen = squares(bytes.len(), usual);
            // A header of an odd length shifts the bytes of the samples.
            let sixteen = sixteen.map(|layout| RawLayout { sample: sixteen_bits(layout.samples_in(bytes)), ..layout });
            sixteen.chain(squares(bytes.len(), RawSample::U8)).collect()
        }
        _ => squares(bytes.len(), sample).collect(),
    };
    let rough = squares.into_iter().map(|layout| (roughness(bytes, layout), layout));
    let with_header =
        |(roughness, layout): &(f64, RawLayout)| roughness * (1.0 + layout.header_bytes.to_f64() / LONG_HEADER_BYTES);
    let square = rough.min_by(|a, b| with_header(a).total_cmp(&with_header(b)));
    let size = likely_sizes(bytes, sample).into_iter().next();
    let other = size.map(|size| RawLayout { sample, size: Some(size), header_bytes: 0 });
    let other = other.map(|layout| (roughness(bytes, layout), layout));
    let (layout, is_square) = match (square, other) {
        (Some((square, layout)), Some((other, _))) if square <= USUAL * other => (layout, true),
        (_, Some((_, layout))) => (layout, false),
        (Some((_, layout)), None) => (layout, true),
        (None, None) => return None,
    };
    let RawLayout { sample, size: Some([width, height]), header_bytes } = layout else { return None };
    let note = match (is_square, header_bytes) {
        (false, _) => note_of_size(width, height),
        (true, 0) => format!("its length is that of {width} × {height} samples of {} bits", 8 * sample.bytes()),
        (true, _) => format!(
            "its length is that of a header of {header_bytes} bytes and {width} × {height} samples of {} bits",
            8 * sample.bytes()
        ),
    };
    let is_certain = is_square && header_bytes == 0;
    Some(Guess { layout, note, is_certain })
}

/// The note about a size that only the likeness of rows suggests.
pub(super) fn note_of_size(width: usize, height: usize) -> String {
    format!("its row length is unknown; {width} × {height} samples is the best guess, because adjacent rows match best")
}

/// The side of the square that these bytes are.
pub(super) fn square_side(bytes: usize, sample: RawSample) -> Option<usize> {
    let each = sample.bytes().to_usize();
    let side = (bytes / each).isqrt();
    (side > 1 && side * side * each == bytes).then_some(side)
}

/// The squares of these samples that have this length: without a header, or with a short one before a usual size.
fn squares(bytes: usize, sample: RawSample) -> impl Iterator<Item = RawLayout> {
    let each = sample.bytes().to_usize();
    let layout = move |side: usize, header_bytes| RawLayout { sample, size: Some([side; 2]), header_bytes };
    let behind_header = SIDES.into_iter().flat_map(|side| [side, side + 1]).filter_map(move |side| {
        let samples = side * side * each;
        let header_bytes = bytes.checked_sub(samples).filter(|header| (1..=MAX_HEADER_BYTES).contains(header))?;
        (header_bytes * MIN_SAMPLES_PER_HEADER <= samples).then(|| layout(side, header_bytes))
    });
    square_side(bytes, sample).map(|side| layout(side, 0)).into_iter().chain(behind_header)
}

/// The mean difference of neighbours as a share of the mean difference from the mean.
fn roughness(bytes: &[u8], layout: RawLayout) -> f64 {
    let (samples, each) = (layout.samples_in(bytes), layout.sample.bytes().to_usize());
    let [width, height] = layout.size.unwrap_or([2; 2]);
    let at = |row: usize, column: usize| {
        let sample = samples.get((row * width + column) * each..).unwrap_or_default();
        decode_samples(layout.sample, &sample[..each.min(sample.len())]).first().map_or(0.0, |of| f64::from(*of))
    };
    let [rows, columns] = [height - 1, width - 1].map(|count| PROBES.min(count));
    let probes = || {
        let places = (0..rows * columns).map(|probe| [probe / columns, probe % columns]);
        places.map(|[row, column]| [row * (height - 1) / rows, column * (width - 1) / columns])
    };
    let mean = probes().map(|[row, column]| at(row, column)).sum::<f64>() / (rows * columns).to_f64();
    let (mut differences, mut spread) = (0.0, 0.0);
    for [row, column] in probes() {
        let here = at(row, column);
        differences += (at(row + 1, column) - here).abs() + (at(row, column + 1) - here).abs();
        spread += (here - mean).abs();
    }
    let roughness = differences / spread.max(f64::MIN_POSITIVE);
    if roughness.is_nan() { f64::INFINITY } else { roughness }
}

/// The type of 16-bit samples: big-endian or signed only if neighbours are clearly more alike that way.
fn sixteen_bits(bytes: &[u8]) -> RawSample {
    let is_big_endian = seems_big_endian(bytes);
    let (signed, unsigned) = match is_big_endian {
        false => (RawSample::I16Le, RawSample::U16Le),
        true => (RawSample::I16Be, RawSample::U16Be),
    };
    let value = if is_big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
    let pairs = || bytes.as_chunks::<4>().0.iter().map(|[a, b, c, d]| [value([*a, *b]), value([*c, *d])]);
    let mut differences = [0_u64; 2];
    // White next to black, or "no data" next to a low height, is no change of sign.
    let (mut below_zero, mut marks) = (0_u64, 0_u64);
    for [a, b] in pairs() {
        let [signed_a, signed_b] = [a, b].map(u16::cast_signed);
        differences[0] += u64::from(a.abs_diff(b));
        differences[1] += u64::from(signed_a.abs_diff(signed_b));
        if signed_a < 0 {
            below_zero += 1;
            marks += u64::from(signed_a == -1 || signed_a == i16::MIN);
        }
    }
    let is_signed = 2 * marks < below_zero && CLEARLY * differences[1] < differences[0];
    if is_signed { signed } else { unsigned }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A height of hilly terrain, from −1000 to 1000.
    fn hills(x: usize, z: usize) -> f64 {
        1000.0 * libm::sin(x.to_f64() / 23.0) * libm::cos(z.to_f64() / 17.0)
    }

    fn samples<const N: usize>([width, depth]: [usize; 2], sample: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
        (0..width * depth).flat_map(|at| sample(hills(at % width, at / width))).collect()
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<&str>) {
        let found = guess(bytes, RawSample::U16Le);
        assert_eq!(found.map(|guess| guess.layout.to_string()).as_deref(), expected);
    }

    #[test]
    fn signed_samples_are_told_from_unsigned_ones() {
        let size = [129; 2];
        check(&samples(size, |height| (height as i16).to_le_bytes()), Some("i16le,129x129"));
        check(&samples(size, |height| (height as i16).to_be_bytes()), Some("i16be,129x129"));
        check(&samples(size, |height| (32_768.0 + 20.0 * height).to_u16().to_le_bytes()), None);
        check(&samples(size, |height| (32_768.0 + 20.0 * height).to_u16().to_be_bytes()), None);
        // A black and white mask, and "no data" beside low heights.
        check(&samples(size, |height| if height > 0.0 { [255; 2] } else { [0; 2] }), None);
        check(
            &samples(size, |height| if height > 900.0 { [255; 2] } else { u16::from(height as u8 / 4).to_le_bytes() }),
            None,
        );
    }

    #[test]
    fn usual_squares_behind_a_header_are_likelier_than_odd_sizes() {
        let sixteen = |height: f64| (32_768.0 + 20.0 * height).to_u16().to_le_bytes();
        let eight = |height: f64| [(128.0 + 0.1 * height).to_u8()];
        let behind = |header: usize, samples: Vec<u8>| [vec![7; header], samples].concat();
        check(&behind(128, samples([513; 2], sixteen)), Some("u16le,513x513+128"));
        check(&behind(127, samples([129; 2], sixteen)), Some("u16le,129x129+127"));
        check(&samples([513; 2], eight), Some("u8,513x513"));
        check(&samples([512; 2], eight), Some("u8,512x512"));
        check(&behind(54, samples([256; 2], eight)), Some("u8,256x256+54"));
        check(&samples([512, 256], sixteen), Some("u16le,512x256"));
        check(&samples([841, 313], sixteen), Some("u16le,841x313"));
        check(&samples([120, 90], |height| (height as i16).to_le_bytes()), Some("i16le,120x90"));
        check(&[0; 22], None);
    }

    #[test]
    fn only_squares_without_a_header_are_certain() {
        let eight = samples([65; 2], |height| [(128.0 + 0.1 * height).to_u8()]);
        let found = guess(&eight, RawSample::U16Le).expect("a guess");
        assert!(found.is_certain && found.note.contains("65 × 65 samples of 8 bits"), "{}", found.note);
        let found = guess(&[vec![0; 16], eight].concat(), RawSample::U16Le).expect("a guess");
        assert!(!found.is_certain && found.note.contains("a header of 16 bytes"), "{}", found.note);
    }
}
