//! Portable grey maps: P5 (bytes; two per sample above 255, high byte first) and P2 (text).

use std::io::{self, Write};
use std::path::Path;

use super::decoded::{Decoded, bit_depth_notes, checked_size};
use super::layout::RawSample;
use super::quantiser::Quantiser;
use super::raw;
use super::rows::Rows;
use crate::engine::cast::ToFloat;
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::io::error::FileError;

/// Integers in text, with comments from # to the end of the line.
struct Numbers<'a> {
    rest: &'a [u8],
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            self.rest = self.rest.trim_ascii_start();
            if self.rest.first() != Some(&b'#') {
                break;
            }
            let line = self.rest.iter().position(|&byte| byte == b'\n')?;
            self.rest = &self.rest[line..];
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        str::from_utf8(number).ok()?.parse().ok()
    }
}

pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let text = match bytes {
        [b'P', b'2', ..] => true,
        [b'P', b'5', ..] => false,
        _ => return Err(FileError::invalid(path, "this is not a grey PGM: it begins with neither P2 nor P5")),
    };
    let mut numbers = Numbers { rest: &bytes[2..] };
    let (Some(width), Some(height), Some(max_value)) = (numbers.next(), numbers.next(), numbers.next()) else {
        return Err(FileError::invalid(path, "the header of this PGM is incomplete"));
    };
    let [width, height] = checked_size(path, bytes.len() as u64, width, height)?;
    if !(1..=65_535).contains(&max_value) {
        let problem = format!("the maximum value of a PGM must be from 1 to 65535, not {max_value}");
        return Err(FileError::invalid(path, problem));
    }
    let samples: Vec<f32> = if text {
        numbers.by_ref().take(width * height).map(|number| number.to_f32()).collect()
    } else {
        // Exactly one white-space character ends the header.
        let pixels = numbers.rest.get(1..).unwrap_or_default();
        if max_value > 255 {
            pixels.as_chunks::<2>().0.iter().map(|pair| f32::from(u16::from_be_bytes(*pair))).collect()
        } else {
            pixels.iter().map(|&byte| f32::from(byte)).collect()
        }
    };
    // A file may contain several images; the first one is read.
    if samples.len() < width * height {
        let problem = format!("an image of {width} × {height} has {} pixels, not {}", width * height, samples.len());
        return Err(FileError::invalid(path, problem));
    }
    let samples = samples.into_iter().take(width * height).collect();
    let raster = Raster { width, height, samples, scale: SampleScale::Integers { max_value: max_value.to_f32() } };
    Ok(Decoded { notes: bit_depth_notes(max_value <= 255), ..Decoded::of(raster) })
}

pub(super) fn write(writer: &mut impl Write, rows: Rows, quantiser: &Quantiser, progress: &Progress) -> io::Result<()> {
    write!(writer, "P5\n{} {}\n65535\n", rows.width(), rows.height())?;
    raw::write(writer, rows, quantiser, RawSample::U16Be, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_binary_files_are_read() {
        let read = |bytes: &[u8]| decode(Path::new("a.pgm"), bytes).expect("readable").raster;
        let text = read(b"P2 # a comment\n3 2\n# another\n100\n0 1 2\n3 4 100\n");
        assert_eq!((text.width, text.height, text.scale), (3, 2, SampleScale::Integers { max_value: 100.0 }));
        assert_eq!(text.samples, [0.0, 1.0, 2.0, 3.0, 4.0, 100.0]);
        assert_eq!(read(b"P5 2 2 255\n\x00\x01\x20\xff").samples, [0.0, 1.0, 32.0, 255.0]);
        assert_eq!(read(b"P5 2 2 4095\n\x00\x01\x00\x02\x01\x00\x0f\xff").samples, [1.0, 2.0, 256.0, 4095.0]);
    }
}
