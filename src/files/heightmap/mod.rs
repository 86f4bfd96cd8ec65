//! Heightmaps: one file a format, chosen by the ending of the file's name.
//!
//! Reading gives a raster, row 0 in the north, and notes on everything that a user should know about it. Sizes are
//! checked against the limits of a grid, and against the memory that is free, before anything is allocated.

mod asc;
mod exr;
mod krten;
mod pgm;
mod picture;
mod png16;
mod raw;
mod rows;
mod tiff;

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

pub use self::raw::{RawLayout, RawSample};
pub use self::rows::{RowOrder, Rows, grid_of};
use super::error::FileError;
use super::memory::require_memory;
use super::sidecar::Sidecar;
use crate::engine::heightfield::{Extent, SIDE_LIMITS};
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield, Progress, Raster, SampleScale};

/// A kind of heightmap file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 16-bit grey; 8 bits are read too.
    Png,
    /// Headerless samples, u16 little-endian where nothing else is said.
    Raw16,
    /// Headerless f32 little-endian, metres.
    Raw32,
    /// Krten's columns of whole metres.
    Krten,
    /// Esri's grid in text.
    Asc,
    /// Grey in up to 16 bits.
    Pgm,
    /// 8-bit pictures.
    Bmp,
    /// 8-bit pictures with losses.
    Jpg,
    /// 8-bit pictures.
    Tga,
    /// OpenEXR: 32-bit floats, metres.
    Exr,
    /// 32-bit floats, metres; 16-bit integers where they are asked for.
    Tiff,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 11] = [
        Self::Png,
        Self::Raw16,
        Self::Raw32,
        Self::Krten,
        Self::Asc,
        Self::Pgm,
        Self::Bmp,
        Self::Jpg,
        Self::Tga,
        Self::Exr,
        Self::Tiff,
    ];

    /// The name in sidecars. Headerless formats go by the file's own ending, for `raw` promises no type as `r16` does.
    pub fn name(self, path: &Path) -> String {
        if self.is_raw() { ending_of(path) } else { self.extensions()[0].into() }
    }

    /// The endings of the format's files, without the dot; the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Png => &["png"],
            Self::Raw16 => &["r16", "raw"],
            Self::Raw32 => &["r32"],
            Self::Krten => &["xy"],
            Self::Asc => &["asc"],
            Self::Pgm => &["pgm"],
            Self::Bmp => &["bmp"],
            Self::Jpg => &["jpg", "jpeg"],
            Self::Tga => &["tga"],
            Self::Exr => &["exr"],
            Self::Tiff => &["tif", "tiff"],
        }
    }

    /// The format by a file's ending, in capitals or not.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        let ending = ending_of(path);
        Self::ALL.into_iter().find(|format| format.extensions().contains(&ending.as_str())).ok_or_else(|| {
            let known: Vec<String> =
                Self::ALL.iter().flat_map(|format| format.extensions()).map(|ending| format!(".{ending}")).collect();
            FileError::UnknownExtension { path: path.to_path_buf(), known: known.join(" ") }
        })
    }

    /// What the samples of a file are.
    pub fn samples(self, encoding: Encoding) -> Samples {
        let Encoding { raw, integers, .. } = encoding;
        match self {
            Self::Png => Samples::Integers { greatest: 65_535, bits: 16, byte_order: Some(ByteOrder::Big) },
            Self::Pgm => Samples::Integers { greatest: 65_535, bits: 16, byte_order: Some(ByteOrder::Big) },
            Self::Bmp | Self::Jpg | Self::Tga => Samples::Integers { greatest: 255, bits: 8, byte_order: None },
            Self::Raw16 => RawSample::of(raw, RawSample::U16Le).samples(),
            Self::Raw32 => RawSample::of(raw, RawSample::F32Le).samples(),
            Self::Krten => Samples::Metres { bits: Some(32), byte_order: Some(ByteOrder::Little) },
            Self::Asc => Samples::Metres { bits: None, byte_order: None },
            Self::Tiff if integers => {
                Samples::Integers { greatest: 65_535, bits: 16, byte_order: Some(ByteOrder::NATIVE) }
            }
            Self::Tiff => Samples::Metres { bits: Some(32), byte_order: Some(ByteOrder::NATIVE) },
            Self::Exr => Samples::Metres { bits: Some(32), byte_order: Some(ByteOrder::Little) },
        }
    }

    fn is_raw(self) -> bool {
        self.raw_sample(None).is_some()
    }

    /// The type of the samples of a headerless file with that layout; `None` for the other formats.
    pub(super) fn raw_sample(self, raw: Option<RawLayout>) -> Option<RawSample> {
        match self {
            Self::Raw16 => Some(RawSample::of(raw, RawSample::U16Le)),
            Self::Raw32 => Some(RawSample::of(raw, RawSample::F32Le)),
            Self::Png
            | Self::Krten
            | Self::Asc
            | Self::Pgm
            | Self::Bmp
            | Self::Jpg
            | Self::Tga
            | Self::Exr
            | Self::Tiff => None,
        }
    }
}

fn ending_of(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What there is to choose of a heightmap beside its format; the default is the format's usual form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The layout of a headerless file.
    pub raw: Option<RawLayout>,
    /// Whether a format that has metres as well as whole numbers of 16 bits (TIFF) gets these.
    pub integers: bool,
    /// Which row is the first.
    pub row_order: RowOrder,
    /// Whether an EXR says the same in red, green and blue, for programs that read colours only.
    pub as_rgb: bool,
}

impl From<Option<RawLayout>> for Encoding {
    fn from(raw: Option<RawLayout>) -> Self {
        Self { raw, ..Self::default() }
    }
}

/// What the numbers in a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// Whole numbers that span a height range.
    Integers {
        /// The number that stands for the highest height; 0 stands for the lowest.
        greatest: u16,
        /// Bits a sample.
        bits: u32,
        /// The order of its bytes.
        byte_order: Option<ByteOrder>,
    },
    /// Metres.
    Metres {
        /// Bits a sample; `None` for text.
        bits: Option<u32>,
        /// The order of its bytes.
        byte_order: Option<ByteOrder>,
    },
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The low byte first.
    Little,
    /// The high byte first.
    Big,
}

impl ByteOrder {
    /// That of this machine, which TIFFs are written in.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    /// The name in sidecars.
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "little-endian",
            Self::Big => "big-endian",
        }
    }
}

/// What was read from a heightmap.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedHeightmap {
    /// The format of the file.
    pub format: Format,
    /// The samples.
    pub raster: Raster,
    /// What the user should know: guesses, losses, holes filled.
    pub notes: Vec<String>,
    /// What the file beside it says; `None` without such a file.
    pub sidecar: Option<Sidecar>,
    /// Metres between samples, eastward and southward, where the heightmap itself says so.
    pub spacing_m: Option<[f64; 2]>,
}

impl LoadedHeightmap {
    /// The heights that the value 0 and the greatest value of an integer format stand for: by the sidecar, else the
    /// values themselves. `None` for a format in metres.
    pub fn range_m(&self) -> Option<Band> {
        match self.raster.scale {
            SampleScale::Metres => None,
            SampleScale::Integers { greatest } => Some(
                self.sidecar.as_ref().map_or(Band { min: 0.0, max: f64::from(greatest) }, |sidecar| sidecar.range_m),
            ),
        }
    }

    /// The samples as heights in metres, with integers spanning `range_m`, or [`Self::range_m`].
    pub fn into_metres(self, range_m: Option<Band>) -> Vec<f32> {
        let range = range_m.or_else(|| self.range_m());
        let mut samples = self.raster.samples;
        if let (SampleScale::Integers { greatest }, Some(range)) = (self.raster.scale, range) {
            let metres_per_unit = (range.max - range.min) / f64::from(greatest);
            samples.iter_mut().for_each(|sample| *sample = (range.min + f64::from(*sample) * metres_per_unit) as f32);
        }
        samples
    }
}

/// What a decoder finds in a file.
#[derive(Debug)]
struct Decoded {
    raster: Raster,
    notes: Vec<String>,
    spacing_m: Option<[f64; 2]>,
}

/// Reads a heightmap and the sidecar beside it, if there is one. Only a regular file is read: a pipe or a device may
/// have no end.
pub fn read(path: &Path, raw: Option<RawLayout>) -> Result<LoadedHeightmap, FileError> {
    format_of(path, raw)?;
    let failed = |error: io::Error| FileError::reading(path, &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(FileError::invalid(path, "this is no regular file; choose a file on a disk"));
    }
    require_memory(metadata.len())?;
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(metadata.len()).read_to_end(&mut bytes)).map_err(failed)?;
    let sidecar = Sidecar::beside(path);
    let known = sidecar.as_ref().ok().and_then(Option::as_ref).and_then(|sidecar| raw_size(path, sidecar, bytes.len()));
    let mut reading = decode(path, &bytes, raw.or(known))?;
    match sidecar {
        Ok(Some(sidecar)) if sidecar.size == [reading.raster.width, reading.raster.height] => {
            if sidecar.row_order == RowOrder::SouthFirst {
                turn_over(&mut reading.raster);
            }
            reading.sidecar = Some(sidecar);
        }
        Ok(Some(sidecar)) => reading
            .notes
            .push(format!("its sidecar is for a map of {} × {} and is not used", sidecar.size[0], sidecar.size[1])),
        Ok(None) => {}
        Err(problem) => reading.notes.push(format!("its sidecar cannot be used: {problem}")),
    }
    Ok(reading)
}

/// A heightmap as a project keeps it, which has no sidecar: its name and its bytes, as they are where they say all
/// by themselves; else an EXR of the heights. Then they are metres, and `true` comes with them.
pub fn kept(path: &Path, bytes: Vec<u8>, reading: &LoadedHeightmap) -> Result<(PathBuf, Vec<u8>, bool), FileError> {
    let Some(sidecar) = &reading.sidecar else { return Ok((path.to_path_buf(), bytes, false)) };
    if decode(path, &bytes, None).is_ok_and(|alone| alone.raster == reading.raster) {
        return Ok((path.to_path_buf(), bytes, false));
    }
    drop(bytes);
    let Raster { width, height, .. } = reading.raster;
    // Heights, a copy of them, and the file.
    require_memory(12 * reading.raster.samples.len() as u64)?;
    let [width_m, depth_m] = [(width, 0), (height, 1)].map(|(side, axis)| (side - 1) as f64 * sidecar.spacing_m[axis]);
    let grid = Grid::new(Extent { width_m, depth_m }, width, height);
    let path = path.with_extension("exr");
    let terrain = Heightfield::from_heights(grid, reading.clone().into_metres(None));
    let terrain = terrain.ok_or_else(|| FileError::invalid(&path, "its sidecar has another size"))?;
    let mut file = Cursor::new(Vec::new());
    write(&mut file, &path, Rows::all(&terrain), sidecar.range_m, Encoding::default(), &Progress::new())?;
    Ok((path, file.into_inner(), true))
}

/// The layout of a headerless file with that many bytes by its sidecar; `None` where it has another one, or a header.
fn raw_size(path: &Path, sidecar: &Sidecar, bytes: usize) -> Option<RawLayout> {
    let usual = Format::from_path(path).ok()?.raw_sample(None)?;
    let sample = sidecar.sample.unwrap_or(usual);
    let [width, height] = sidecar.size;
    let expected = width.checked_mul(height)?.checked_mul(sample.bytes() as usize)?;
    (expected == bytes).then_some(RawLayout { sample, size: Some(sidecar.size) })
}

/// Puts the last row first.
fn turn_over(raster: &mut Raster) {
    let (width, height) = (raster.width, raster.height);
    let (north, south) = raster.samples.split_at_mut(height.div_ceil(2) * width);
    let rows = north.chunks_exact_mut(width).zip(south.chunks_exact_mut(width).rev());
    rows.for_each(|(north, south)| north.swap_with_slice(south));
}

/// Reads a heightmap from the bytes of its file; `path` gives the ending, and the name for messages.
pub fn decode(path: &Path, bytes: &[u8], raw: Option<RawLayout>) -> Result<LoadedHeightmap, FileError> {
    let format = format_of(path, raw)?;
    if bytes.is_empty() {
        return Err(FileError::invalid(path, "this file is empty; choose another one"));
    }
    let decoded = match format {
        Format::Png | Format::Bmp | Format::Jpg | Format::Tga => picture::decode(path, bytes, format),
        Format::Raw16 => raw::decode(path, bytes, raw, RawSample::U16Le),
        Format::Raw32 => raw::decode(path, bytes, raw, RawSample::F32Le),
        Format::Krten => krten::decode(path, bytes),
        Format::Asc => asc::decode(path, bytes),
        Format::Pgm => pgm::decode(path, bytes),
        Format::Exr => exr::decode(path, bytes),
        Format::Tiff => tiff::decode(path, bytes),
    };
    let Decoded { mut raster, mut notes, spacing_m } = decoded?;
    fill_holes(path, &mut raster, &mut notes)?;
    Ok(LoadedHeightmap { format, raster, notes, sidecar: None, spacing_m })
}

/// The format of a file with that ending and layout; a layout is for headerless files only.
pub fn format_of(path: &Path, raw: Option<RawLayout>) -> Result<Format, FileError> {
    let format = Format::from_path(path)?;
    if raw.is_some() && !format.is_raw() {
        return Err(FileError::NotRaw(path.to_path_buf()));
    }
    Ok(format)
}

/// Gives samples without a height, NaN or infinite, the lowest height there is.
fn fill_holes(path: &Path, raster: &mut Raster, notes: &mut Vec<String>) -> Result<(), FileError> {
    let holes = raster.samples.iter().filter(|sample| !sample.is_finite()).count();
    if holes == 0 {
        return Ok(());
    }
    let lowest = raster.samples.iter().copied().filter(|sample| sample.is_finite()).fold(f32::INFINITY, f32::min);
    if lowest == f32::INFINITY {
        return Err(FileError::invalid(path, "not one of its samples has a height"));
    }
    raster.samples.iter_mut().filter(|sample| !sample.is_finite()).for_each(|sample| *sample = lowest);
    notes.push(format!("{holes} samples without a height were given the lowest one, {lowest} m"));
    Ok(())
}

/// The size that a header claims, if a grid can have it and its samples fit into memory.
fn checked_size(path: &Path, width: u64, height: u64) -> Result<[usize; 2], FileError> {
    let [least, most] = SIDE_LIMITS.map(|limit| limit as u64);
    let possible = |side: u64| (least..=most).contains(&side);
    if !possible(width) || !possible(height) {
        let possible = format!("each side must have from {least} to {most} samples");
        return Err(FileError::Size { path: path.to_path_buf(), size: [width, height], possible });
    }
    // The samples, and the decoder's own copy of them.
    require_memory(width * height * 8)?;
    Ok([width as usize, height as usize])
}

/// The most bytes that a byte of a compressed file stands for: deflate reaches 1032 (zlib, "Maximum Compression
/// Factor"), a JPEG of one grey about 500.
const MOST_COMPRESSED: u64 = 2000;

/// Whether a compressed file of that length can hold so many bytes, and they fit into memory.
fn checked_contents(path: &Path, file: &[u8], decoded: u64) -> Result<(), FileError> {
    // Small pictures are mostly headers.
    if decoded > (1 << 20) + MOST_COMPRESSED * file.len() as u64 {
        let problem = "this file is too short for a map of its size; it breaks off, or is none; copy it again";
        return Err(FileError::invalid(path, problem));
    }
    require_memory(decoded)
}

/// Whether a map of that size can be written in the format.
pub fn check_size(path: &Path, size: [usize; 2], raw: Option<RawLayout>) -> Result<(), FileError> {
    let format = format_of(path, raw)?;
    let most = match format {
        Format::Png
        | Format::Raw16
        | Format::Raw32
        | Format::Krten
        | Format::Asc
        | Format::Pgm
        | Format::Exr
        | Format::Tiff => usize::MAX,
        Format::Bmp | Format::Jpg | Format::Tga => super::texture::MAX_SIDE,
    };
    let refused =
        |possible| Err(FileError::Size { path: path.to_path_buf(), size: size.map(|side| side as u64), possible });
    if size.iter().any(|&side| side > most) {
        return refused(format!("this format has room for {most} samples along a side"));
    }
    if format == Format::Tiff && size[0] as u64 * size[1] as u64 > tiff::MOST_SAMPLES {
        let most = tiff::MOST_SAMPLES.isqrt();
        return refused(format!("a TIFF ends at 4 GiB, {most} × {most} samples; choose .exr or .r32"));
    }
    match raw.and_then(|layout| layout.size) {
        Some([width, height]) if [width, height] != size => {
            refused(format!("the raw layout says {width} × {height}; leave its size away"))
        }
        _ => Ok(()),
    }
}

/// The most bytes that writing a map of that grid takes beside the map.
pub(super) fn bytes_written(path: &Path, grid: Grid) -> u64 {
    match Format::from_path(path) {
        Ok(Format::Png) => png16::bytes_written(grid),
        // A picture with a byte a sample.
        Ok(Format::Bmp | Format::Jpg | Format::Tga) => grid.samples() as u64,
        Ok(Format::Exr) => exr::bytes_written(grid),
        // Row by row. A file of no known ending is refused elsewhere.
        Ok(Format::Raw16 | Format::Raw32 | Format::Krten | Format::Asc | Format::Pgm | Format::Tiff) | Err(_) => 0,
    }
}

/// Writes a heightmap. Integers span `range_m`, rounded to nearest; heights outside it are cut off.
pub fn write(
    writer: &mut (impl Write + Seek),
    path: &Path,
    rows: Rows,
    range_m: Band,
    encoding: Encoding,
    progress: &Progress,
) -> Result<(), FileError> {
    let format = Format::from_path(path)?;
    let raw = encoding.raw;
    let quantiser = Quantiser::new(format.samples(encoding), range_m);
    let written = match format {
        Format::Png => png16::write(writer, rows, &quantiser, progress),
        Format::Raw16 => raw::write(writer, rows, &quantiser, RawSample::of(raw, RawSample::U16Le), progress),
        Format::Raw32 => raw::write(writer, rows, &quantiser, RawSample::of(raw, RawSample::F32Le), progress),
        Format::Krten => krten::write(writer, rows, progress),
        Format::Asc => asc::write(writer, rows, progress),
        Format::Pgm => pgm::write(writer, rows, &quantiser, progress),
        Format::Bmp | Format::Jpg | Format::Tga => picture::write(writer, rows, &quantiser, format, progress),
        Format::Exr => exr::write(writer, rows, encoding.as_rgb, progress),
        Format::Tiff => tiff::write(writer, rows, encoding.integers.then_some(&quantiser), progress),
    };
    // A writer that was stopped fails in its own words.
    progress.check()?;
    written.map_err(|error| FileError::writing(path, &error))
}

/// Turns heights into whole numbers.
#[derive(Clone, Copy, Debug)]
struct Quantiser {
    low_m: f64,
    units_per_m: f64,
    greatest: f64,
}

impl Quantiser {
    fn new(samples: Samples, range_m: Band) -> Self {
        let greatest = match samples {
            Samples::Integers { greatest, .. } => f64::from(greatest),
            Samples::Metres { .. } => 0.0,
        };
        let span = range_m.max - range_m.min;
        let units_per_m = if span > 0.0 { greatest / span } else { 0.0 };
        Self { low_m: range_m.min, units_per_m, greatest }
    }

    /// The nearest whole number; truncation would sink the whole map by half a unit.
    fn value(&self, height_m: f32) -> u16 {
        ((f64::from(height_m) - self.low_m) * self.units_per_m).round().clamp(0.0, self.greatest) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wider than high, a mark of 500 m in the north-west corner, rising south-eastward elsewhere.
    pub(super) fn marked() -> Heightfield {
        let grid = Grid::new(Extent { width_m: 60.0, depth_m: 40.0 }, 7, 5);
        Heightfield::from_fn(
            grid,
            |c, r| if (c, r) == (0, 0) { 500.0 } else { c as f32 * 3.0 + r as f32 * 40.0 - 10.0 },
        )
    }

    pub(super) fn written(name: &str, terrain: &Heightfield, range_m: Band, raw: Option<RawLayout>) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let rows = Rows::all(terrain);
        write(&mut bytes, Path::new(name), rows, range_m, raw.into(), &Progress::new()).expect("written");
        bytes.into_inner()
    }

    #[track_caller]
    fn check_round_trip(name: &str, layout: Option<&str>, tolerance_m: f32) {
        let (terrain, range) = (marked(), Band { min: -10.0, max: 500.0 });
        let raw = layout.map(|layout| layout.parse::<RawLayout>().expect("valid"));
        let bytes = written(name, &terrain, range, raw);
        let with_size = raw.or((name.ends_with("r16")).then_some(RawLayout { sample: RawSample::U16Le, size: None }));
        let with_size =
            with_size.or((name.ends_with("r32")).then_some(RawLayout { sample: RawSample::F32Le, size: None }));
        let raw = with_size.map(|layout| RawLayout { size: Some([7, 5]), ..layout });
        let reading = decode(Path::new(name), &bytes, raw).expect("readable");
        assert_eq!((reading.raster.width, reading.raster.height), (7, 5), "{name}");
        for (height, expected) in reading.into_metres(Some(range)).iter().zip(terrain.heights()) {
            assert!((height - expected).abs() <= tolerance_m, "{name} {layout:?}: {height} for {expected}");
        }
    }

    #[test]
    fn every_format_comes_back_with_its_corners_in_place() {
        let half_step = |greatest: f32| 0.5 * 510.0 / greatest + 1e-4;
        check_round_trip("a.png", None, half_step(65_535.0));
        check_round_trip("a.pgm", None, half_step(65_535.0));
        check_round_trip("a.r16", None, half_step(65_535.0));
        check_round_trip("a.RAW", Some("u16be"), half_step(65_535.0));
        check_round_trip("a.raw", Some("u8"), half_step(255.0));
        check_round_trip("a.raw", Some("i16le"), 0.5);
        check_round_trip("a.raw", Some("f32be"), 0.0);
        check_round_trip("a.r32", None, 0.0);
        check_round_trip("a.r32", Some("f32be"), 0.0);
        check_round_trip("a.xy", None, 0.5);
        check_round_trip("a.asc", None, 0.0);
        check_round_trip("a.exr", None, 0.0);
        check_round_trip("a.tif", None, 0.0);
        check_round_trip("a.TIFF", None, 0.0);
        check_round_trip("a.bmp", None, half_step(255.0));
        check_round_trip("a.tga", None, half_step(255.0));
        // The lone mark rings over its whole block.
        check_round_trip("a.jpg", None, 60.0);
    }

    #[test]
    fn integers_are_rounded_to_nearest_and_cut_off() {
        let samples = Samples::Integers { greatest: 65_535, bits: 16, byte_order: None };
        let quantiser = Quantiser::new(samples, Band { min: 0.0, max: 65_535.0 });
        let values = [-5.0, 0.4, 0.6, 65_534.6, 70_000.0].map(|height| quantiser.value(height));
        assert_eq!(values, [0, 0, 1, 65_535, 65_535]);
        assert_eq!(Quantiser::new(samples, Band { min: 3.0, max: 3.0 }).value(3.0), 0);
    }

    #[track_caller]
    fn check_refused(name: &str, bytes: &[u8], message: &str) {
        let error = decode(Path::new(name), bytes, None).expect_err("must be refused").to_string();
        assert!(error.starts_with(name) && error.contains(message), "{error}");
    }

    #[test]
    fn bad_files_are_refused_with_the_reason() {
        let png = written("a.png", &marked(), Band { min: 0.0, max: 1.0 }, None);
        for format in Format::ALL {
            let name = format!("a.{}", format.extensions()[0]);
            check_refused(&name, &[], "empty");
            let bytes = written(&name, &marked(), Band { min: 0.0, max: 500.0 }, None);
            // A headerless file that is cut off may be a smaller square: its length is all that it says.
            for length in (1..bytes.len().min(60)).chain([bytes.len() / 2]).filter(|_| !format.is_raw()) {
                assert!(decode(Path::new(&name), &bytes[..length], None).is_err(), "{name}: {length} bytes");
            }
        }
        check_refused("a.hgt", &png, ".png .r16");
        check_refused("a", &png, ".png .r16");
        check_refused("a.png", b"This is not a picture", "a.png: ");
        check_refused("a.raw", &[0; 22], "11 samples are no square");
        check_refused("a.xy", &[0xff; 20], "no possible size");
        check_refused("a.pgm", b"P5 99999999 99999999 255 ", "no possible size");
        check_refused("a.asc", b"ncols 4000000000\nnrows 2\n1 2", "no possible size");
        check_refused("a.r32", &[0, 0, 0xc0, 0x7f].repeat(4), "not one");
    }

    #[test]
    fn absurd_sizes_in_headers_are_refused_before_anything_is_allocated() {
        let mut png = written("a.png", &marked(), Band { min: 0.0, max: 1.0 }, None);
        png[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert!(decode(Path::new("a.png"), &png, None).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_may_have_no_end_is_not_read() {
        let folder = tempfile::tempdir().expect("folder");
        let endless = folder.path().join("a.raw");
        std::os::unix::fs::symlink("/dev/zero", &endless).expect("linked");
        let folder_named_so = folder.path().join("b.raw");
        std::fs::create_dir(&folder_named_so).expect("made");
        for path in [endless, folder_named_so] {
            let error = read(&path, None).expect_err("refused").to_string();
            assert!(error.contains("no regular file"), "{error}");
        }
    }

    #[test]
    fn holes_are_filled_and_said_so() {
        let bytes: Vec<u8> = [7.0, f32::NAN, 3.0, f32::INFINITY].iter().flat_map(|h: &f32| h.to_le_bytes()).collect();
        let reading = decode(Path::new("a.r32"), &bytes, None).expect("readable");
        assert_eq!(reading.raster.samples, [7.0, 3.0, 3.0, 3.0]);
        assert!(reading.notes.iter().any(|note| note.starts_with("2 samples")), "{:?}", reading.notes);
    }

    #[test]
    fn a_map_that_the_format_has_no_room_for_is_refused() {
        assert_eq!(check_size(Path::new("a.png"), [65_537, 65_537], None), Ok(()));
        let error = check_size(Path::new("a.tga"), [65_537, 2], None).expect_err("too wide");
        assert!(error.to_string().contains("65535"), "{error}");
        let raw = Some(RawLayout { sample: RawSample::U8, size: Some([3, 3]) });
        assert!(check_size(Path::new("a.raw"), [4, 3], raw).is_err());
        assert!(check_size(Path::new("a.png"), [3, 3], raw).is_err());
    }
}
