//! The numbers in heightmap files: sample types, byte order, row order, and the layouts of headerless files.

use std::fmt;
use std::str::FromStr;

use crate::engine::SampleScale;
use crate::engine::parameters::Band;

/// Which row of a file comes first. Rows always run from west to east.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// The northern row.
    #[default]
    NorthFirst,
    /// The southern row.
    SouthFirst,
}

/// The kind of numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// Unsigned integers that span a height range.
    Integers {
        /// The value of the highest height of the range; 0 is the lowest.
        max_value: u16,
        /// Bits per sample.
        bits: u32,
        /// The byte order; `None` for single bytes.
        byte_order: Option<ByteOrder>,
    },
    /// Metres.
    Metres {
        /// Bits per sample; `None` for text.
        bits: Option<u32>,
        /// The byte order; `None` for text.
        byte_order: Option<ByteOrder>,
    },
}

/// The byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Low byte first.
    Little,
    /// High byte first.
    Big,
}

impl ByteOrder {
    /// The byte order of this machine, in which TIFFs are written.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    /// The name in sidecars.
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "little-endian",
            Self::Big => "big-endian",
        }
    }
}

/// The sample type of a headerless file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawSample {
    /// One byte, no unit.
    U8,
    /// Two bytes, low byte first, no unit.
    U16Le,
    /// Two bytes, high byte first, no unit.
    U16Be,
    /// Two bytes, signed, low byte first: whole metres.
    I16Le,
    /// Two bytes, signed, high byte first: whole metres.
    I16Be,
    /// A float, low byte first: metres.
    F32Le,
    /// A float, high byte first: metres.
    F32Be,
}

impl RawSample {
    /// Every sample type.
    pub const ALL: [Self; 7] = [Self::U8, Self::U16Le, Self::U16Be, Self::I16Le, Self::I16Be, Self::F32Le, Self::F32Be];

    /// The sample type of a layout, or `usual` without one.
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
            Self::I16Be => "i16be",
            Self::F32Le => "f32le",
            Self::F32Be => "f32be",
        }
    }

    /// The heights that samples in metres can hold; `None` if they hold all heights, or are no metres.
    pub(crate) fn limits_m(self) -> Option<Band> {
        matches!(self, Self::I16Le | Self::I16Be).then_some(Band { min: f64::from(i16::MIN), max: f64::from(i16::MAX) })
    }

    /// The kind of numbers and their size.
    pub fn samples(self) -> Samples {
        let integers =
            |bits, byte_order| Samples::Integers { max_value: if bits == 8 { 255 } else { 65_535 }, bits, byte_order };
        let metres = |bits, byte_order| Samples::Metres { bits: Some(bits), byte_order: Some(byte_order) };
        match self {
            Self::U8 => integers(8, None),
            Self::U16Le => integers(16, Some(ByteOrder::Little)),
            Self::U16Be => integers(16, Some(ByteOrder::Big)),
            Self::I16Le => metres(16, ByteOrder::Little),
            Self::I16Be => metres(16, ByteOrder::Big),
            Self::F32Le => metres(32, ByteOrder::Little),
            Self::F32Be => metres(32, ByteOrder::Big),
        }
    }

    /// Bytes per sample.
    pub fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16Le | Self::U16Be | Self::I16Le | Self::I16Be => 2,
            Self::F32Le | Self::F32Be => 4,
        }
    }

    pub(super) fn scale(self) -> SampleScale {
        match self.samples() {
            Samples::Integers { max_value, .. } => SampleScale::Integers { max_value: f32::from(max_value) },
            Samples::Metres { .. } => SampleScale::Metres,
        }
    }
}

/// The layout of a file that does not describe its samples, written as `u16le`, `u16le,1025x1025`, or
/// `u16le,1025x1025+128` if 128 bytes come before the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLayout {
    /// The type of its samples.
    pub sample: RawSample,
    /// Samples from west to east and from north to south; `None`: the map is square.
    pub size: Option<[usize; 2]>,
    /// The bytes before the samples.
    pub header_bytes: usize,
}

impl RawLayout {
    /// A square map of these samples, without a header.
    pub fn square(sample: RawSample) -> Self {
        Self { sample, size: None, header_bytes: 0 }
    }

    /// The layout in words, given its size.
    pub(super) fn describe<T: fmt::Display>(self, [width, height]: [T; 2]) -> String {
        let header = match self.header_bytes {
            0 => String::new(),
            count => format!(" after a header of {count} bytes"),
        };
        format!("{width} × {height} samples of {} bits{header}", 8 * self.sample.bytes())
    }

    /// The bytes of the samples of a file; none if it is shorter than its header.
    pub(crate) fn samples_in(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.header_bytes..).unwrap_or_default()
    }
}

impl fmt::Display for RawLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sample.name())?;
        self.size.map_or(Ok(()), |[width, height]| write!(f, ",{width}x{height}"))?;
        if self.header_bytes > 0 { write!(f, "+{}", self.header_bytes) } else { Ok(()) }
    }
}

impl FromStr for RawLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, header) = match text.split_once('+') {
            Some((text, header)) => (text, Some(header)),
            None => (text, None),
        };
        let (name, size) = match text.split_once(',') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let names = || RawSample::ALL.map(RawSample::name).join(", ");
        let sample = RawSample::ALL
            .into_iter()
            .find(|sample| sample.name() == name)
            .ok_or_else(|| format!("\"{name}\" is not one of {}", names()))?;
        let side = |text: &str| text.parse::<usize>().ok();
        let size = size.map(|size| {
            let sides = size.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
            sides.ok_or_else(|| format!("\"{size}\" is not a size like 1025x1025"))
        });
        let header = header.map(|header| {
            header
                .parse()
                .map_err(|_| format!("\"+{header}\" is not the length of a header, such as +128 for 128 bytes"))
        });
        Ok(Self { sample, size: size.transpose()?, header_bytes: header.transpose()?.unwrap_or(0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_parsed_as_they_are_displayed() {
        for text in ["u8", "u16le,1025x513", "i16le,2x2", "i16be", "f32be", "u16be,3x2+128", "f32le+4"] {
            assert_eq!(text.parse::<RawLayout>().expect(text).to_string(), text);
        }
        for text in
            ["", "u17", "u16le,", "u16le,3", "u16le,3x", "u16le,-3x3", "u16le,3x3x3", "u8+", "u8,3x3+-1", "u8,3x3+x"]
        {
            assert!(text.parse::<RawLayout>().is_err(), "{text}");
        }
    }
}
