//! Headerless samples, row by row from the north.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use super::{ByteOrder, Decoded, Quantiser, Rows, Samples, checked_size};
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::error::FileError;
use crate::files::watched::stopped;

/// The type of a headerless sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawSample {
    /// One byte, without a unit.
    U8,
    /// Two bytes, the low one first, without a unit.
    U16Le,
    /// Two bytes, the high one first, without a unit.
    U16Be,
    /// Two bytes with a sign, the low one first: whole metres.
    I16Le,
    /// A float, the low byte first: metres.
    F32Le,
    /// A float, the high byte first: metres.
    F32Be,
}

impl RawSample {
    const ALL: [Self; 6] = [Self::U8, Self::U16Le, Self::U16Be, Self::I16Le, Self::F32Le, Self::F32Be];

    /// That of a layout, else this one.
    pub(super) fn of(layout: Option<RawLayout>, usual: Self) -> Self {
        layout.map_or(usual, |layout| layout.sample)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16Le => "u16le",
            Self::U16Be => "u16be",
            Self::I16Le => "i16le",
            Self::F32Le => "f32le",
            Self::F32Be => "f32be",
        }
    }

    /// What the numbers are.
    pub fn samples(self) -> Samples {
        let integers =
            |bits, byte_order| Samples::Integers { greatest: if bits == 8 { 255 } else { 65_535 }, bits, byte_order };
        let metres = |bits, byte_order| Samples::Metres { bits: Some(bits), byte_order: Some(byte_order) };
        match self {
            Self::U8 => integers(8, None),
            Self::U16Le => integers(16, Some(ByteOrder::Little)),
            Self::U16Be => integers(16, Some(ByteOrder::Big)),
            Self::I16Le => metres(16, ByteOrder::Little),
            Self::F32Le => metres(32, ByteOrder::Little),
            Self::F32Be => metres(32, ByteOrder::Big),
        }
    }

    /// Bytes a sample.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16Le | Self::U16Be | Self::I16Le => 2,
            Self::F32Le | Self::F32Be => 4,
        }
    }

    fn scale(self) -> SampleScale {
        match self.samples() {
            Samples::Integers { greatest, .. } => SampleScale::Integers { greatest: f32::from(greatest) },
            Samples::Metres { .. } => SampleScale::Metres,
        }
    }

    fn decode(self, bytes: &[u8]) -> Vec<f32> {
        fn each<const N: usize>(bytes: &[u8], decode: impl Fn([u8; N]) -> f32) -> Vec<f32> {
            bytes.as_chunks::<N>().0.iter().map(|chunk| decode(*chunk)).collect()
        }
        match self {
            Self::U8 => each(bytes, |[byte]| f32::from(byte)),
            Self::U16Le => each(bytes, |chunk| f32::from(u16::from_le_bytes(chunk))),
            Self::U16Be => each(bytes, |chunk| f32::from(u16::from_be_bytes(chunk))),
            Self::I16Le => each(bytes, |chunk| f32::from(i16::from_le_bytes(chunk))),
            Self::F32Le => each(bytes, f32::from_le_bytes),
            Self::F32Be => each(bytes, f32::from_be_bytes),
        }
    }

    fn encode(self, height_m: f32, quantiser: &Quantiser, bytes: &mut Vec<u8>) {
        match self {
            Self::U8 => bytes.push(quantiser.value(height_m) as u8),
            Self::U16Le => bytes.extend(quantiser.value(height_m).to_le_bytes()),
            Self::U16Be => bytes.extend(quantiser.value(height_m).to_be_bytes()),
            // The cast saturates: heights that i16 cannot hold are cut off.
            Self::I16Le => bytes.extend((height_m.round() as i16).to_le_bytes()),
            Self::F32Le => bytes.extend(height_m.to_le_bytes()),
            Self::F32Be => bytes.extend(height_m.to_be_bytes()),
        }
    }
}

/// What is in a headerless file, written as `u16le,1025x1025` or `u16le`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLayout {
    /// The type of its samples.
    pub sample: RawSample,
    /// Samples from west to east and from north to south; `None`: as many as make a square.
    pub size: Option<[usize; 2]>,
}

impl fmt::Display for RawLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sample.name())?;
        self.size.map_or(Ok(()), |[width, height]| write!(f, ",{width}x{height}"))
    }
}

impl FromStr for RawLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, size) = match text.split_once(',') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let names = || RawSample::ALL.map(RawSample::name).join(", ");
        let sample = RawSample::ALL
            .into_iter()
            .find(|sample| sample.name() == name)
            .ok_or_else(|| format!("\"{name}\" is none of {}", names()))?;
        let side = |text: &str| text.parse::<usize>().ok();
        let size = size.map(|size| {
            let sides = size.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
            sides.ok_or_else(|| format!("\"{size}\" is no size like 1025x1025"))
        });
        Ok(Self { sample, size: size.transpose()? })
    }
}

pub(super) fn decode(
    path: &Path,
    bytes: &[u8],
    layout: Option<RawLayout>,
    default: RawSample,
) -> Result<Decoded, FileError> {
    let sample = RawSample::of(layout, default);
    let found = bytes.len() as u64;
    let mut notes = Vec::new();
    let [width, height] = match layout.and_then(|layout| layout.size) {
        Some([width, height]) => [width as u64, height as u64],
        None => {
            let samples = found / sample.bytes();
            let side = samples.isqrt();
            if side * side != samples || samples * sample.bytes() != found {
                let problem = format!(
                    "nothing says how large this map is, and its {samples} samples are no square; say what is in it \
                     (on the command line as in --raw {},1025x1025)",
                    sample.name()
                );
                return Err(FileError::invalid(path, problem));
            }
            notes.push(format!("its layout is a guess from its length: {},{side}x{side}", sample.name()));
            [side; 2]
        }
    };
    let [width, height] = checked_size(path, width, height)?;
    let expected = width as u64 * height as u64 * sample.bytes();
    if expected != found {
        let layout = RawLayout { sample, size: Some([width, height]) }.to_string();
        return Err(FileError::RawLength { path: path.to_path_buf(), layout, expected, found });
    }
    let raster = Raster { width, height, samples: sample.decode(bytes), scale: sample.scale() };
    Ok(Decoded { raster, notes, spacing_m: None })
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
        rows.row(r).iter().for_each(|&height| sample.encode(height, quantiser, &mut bytes));
        writer.write_all(&bytes)?;
        counter.add_one().map_err(stopped)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{marked, written};
    use super::*;
    use crate::engine::parameters::Band;

    #[test]
    fn r16_by_hand() {
        let bytes = written("a.r16", &marked(), Band { min: -10.0, max: 500.0 }, None);
        // The mark is the highest point, 65535; its neighbour is 3 m above the lowest: 3/510 · 65535 = 385.5 → 386.
        let third = (0.5_f64 + 3.0 / 510.0 * 65_535.0) as u16;
        assert_eq!(bytes.len(), 70);
        assert_eq!(bytes[..4], [0xff, 0xff, third.to_le_bytes()[0], third.to_le_bytes()[1]]);

        let bytes = [1, 0, 2, 0, 0, 1, 0xff, 0xff];
        let decoded = decode(Path::new("a.r16"), &bytes, None, RawSample::U16Le).expect("readable");
        assert_eq!(decoded.raster.samples, [1.0, 2.0, 256.0, 65_535.0]);
        assert_eq!(decoded.notes, ["its layout is a guess from its length: u16le,2x2"]);
    }

    #[test]
    fn layouts_are_read_as_they_are_written() {
        for text in ["u8", "u16le,1025x513", "i16le,2x2", "f32be"] {
            assert_eq!(text.parse::<RawLayout>().expect(text).to_string(), text);
        }
        for text in ["", "u17", "u16le,", "u16le,3", "u16le,3x", "u16le,-3x3", "u16le,3x3x3"] {
            assert!(text.parse::<RawLayout>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_length_is_said_with_both_numbers() {
        let layout = Some(RawLayout { sample: RawSample::U16Le, size: Some([3, 3]) });
        let error = decode(Path::new("a.raw"), &[0; 17], layout, RawSample::U16Le).expect_err("refused");
        assert!(error.to_string().contains("should have 18 bytes, but it has 17"), "{error}");
    }
}
