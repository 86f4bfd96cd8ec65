//! The formats of heightmaps, and the options of each.

use std::path::Path;

use super::encoded_colours::ColourReading;
use super::holes::HoleFilling;
use super::layout::{ByteOrder, RawLayout, RawSample, RowOrder, Samples};
use crate::files::io::error::FileError;

/// A heightmap format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One that is written, too.
    Written(WrittenFormat),
    /// SRTM tiles: whole metres, big-endian, one degree along a side.
    Hgt,
    /// Esri's binary grids, whose header is a file beside them.
    EsriBinary,
    /// Terragen.
    Terragen,
    /// 8-bit images.
    WebP,
    /// Portable pixmaps.
    Ppm,
}

impl Format {
    /// The formats that are only read.
    const ONLY_READ: [Self; 5] = [Self::Hgt, Self::EsriBinary, Self::Terragen, Self::WebP, Self::Ppm];

    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        WrittenFormat::ALL.into_iter().map(Self::Written).chain(Self::ONLY_READ)
    }

    /// The name of the format of a file; see [`WrittenFormat::name`].
    pub fn name(self, path: &Path) -> String {
        match self {
            Self::Written(format) => format.name(path),
            Self::Hgt | Self::EsriBinary | Self::Terragen | Self::WebP | Self::Ppm => self.extensions()[0].into(),
        }
    }

    /// The file extensions without the dot, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Written(format) => format.extensions(),
            Self::Hgt => &["hgt"],
            Self::EsriBinary => &["bil", "flt"],
            Self::Terragen => &["ter"],
            Self::WebP => &["webp"],
            Self::Ppm => &["ppm"],
        }
    }

    /// The format of a file by its extension, case-insensitively.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        find(path, Self::all(), Self::extensions)
    }

    /// The sample type of a headerless file with this layout; `None` for formats with a header.
    pub(crate) fn raw_sample(self, raw: Option<RawLayout>) -> Option<RawSample> {
        match self {
            Self::Written(format) => format.raw_sample(raw),
            Self::Hgt | Self::EsriBinary | Self::Terragen | Self::WebP | Self::Ppm => None,
        }
    }
}

/// A heightmap format that is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenFormat {
    /// 16-bit grey; 8 bits can be read too.
    Png,
    /// Headerless samples, u16 little-endian by default.
    Raw16,
    /// Headerless f32 little-endian, metres.
    Raw32,
    /// Columns of whole metres, as written by Krten's program.
    Krten,
    /// Esri ASCII grid.
    Asc,
    /// Grey with up to 16 bits.
    Pgm,
    /// 8-bit images.
    Bmp,
    /// 8-bit images with lossy compression.
    Jpg,
    /// 8-bit images.
    Tga,
    /// OpenEXR: 32-bit floats, metres.
    Exr,
    /// 32-bit floats in metres, or 16-bit integers.
    Tiff,
}

impl WrittenFormat {
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

    /// The name in sidecars. For headerless formats it is the file's extension, because `raw` does not imply a sample
    /// type as `r16` does.
    pub fn name(self, path: &Path) -> String {
        if self.is_raw() { extension_of(path) } else { self.extensions()[0].into() }
    }

    /// The file extensions without the dot, the usual one first.
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

    /// The format in which a file with this extension is written.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        find(path, Self::ALL.into_iter(), Self::extensions)
    }

    /// The format in which a file with this extension and layout is written. Only headerless files may have a layout.
    pub fn with_layout(path: &Path, raw: Option<RawLayout>) -> Result<Self, FileError> {
        let format = Self::from_path(path)?;
        check_layout(path, Format::Written(format), raw)?;
        Ok(format)
    }

    /// The sample type of a file.
    pub fn samples(self, encoding: Encoding) -> Samples {
        let Encoding { raw, integers, .. } = encoding;
        match self {
            Self::Png | Self::Pgm => {
                Samples::Integers { max_value: 65_535, bits: 16, byte_order: Some(ByteOrder::Big) }
            }
            Self::Bmp | Self::Jpg | Self::Tga => Samples::Integers { max_value: 255, bits: 8, byte_order: None },
            Self::Raw16 => RawSample::of(raw, RawSample::U16Le).samples(),
            Self::Raw32 => RawSample::of(raw, RawSample::F32Le).samples(),
            Self::Krten | Self::Exr => Samples::Metres { bits: Some(32), byte_order: Some(ByteOrder::Little) },
            Self::Asc => Samples::Metres { bits: None, byte_order: None },
            Self::Tiff if integers => {
                Samples::Integers { max_value: 65_535, bits: 16, byte_order: Some(ByteOrder::NATIVE) }
            }
            Self::Tiff => Samples::Metres { bits: Some(32), byte_order: Some(ByteOrder::NATIVE) },
        }
    }

    /// Whether files have no header.
    pub fn is_raw(self) -> bool {
        self.raw_sample(None).is_some()
    }

    /// The sample type of a headerless file with this layout; `None` for formats with a header.
    pub(crate) fn raw_sample(self, raw: Option<RawLayout>) -> Option<RawSample> {
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

/// The format with the extension of a file; the error lists the extensions of all.
fn find<F: Copy>(
    path: &Path,
    formats: impl Iterator<Item = F> + Clone,
    extensions: fn(F) -> &'static [&'static str],
) -> Result<F, FileError> {
    let extension = extension_of(path);
    formats.clone().find(|format| extensions(*format).contains(&extension.as_str())).ok_or_else(|| {
        let known: Vec<String> = formats.flat_map(extensions).map(|extension| format!(".{extension}")).collect();
        FileError::UnknownExtension { path: path.to_path_buf(), known: known.join(" ") }
    })
}

fn extension_of(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The options of a heightmap other than its format. The default is the usual form of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The layout of a headerless file.
    pub raw: Option<RawLayout>,
    /// Whether a format that supports both metres and 16-bit integers (TIFF) stores integers.
    pub integers: bool,
    /// Which row comes first.
    pub row_order: RowOrder,
    /// Whether an EXR stores the heights in red, green and blue, for programs that only read colours.
    pub as_rgb: bool,
}

/// How to read a file that can be understood in several ways. The default is what the file itself suggests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The layout of a headerless file.
    pub raw: Option<RawLayout>,
    /// The channel of an EXR that has the heights.
    pub channel: Option<String>,
    /// How the colours of an image are read.
    pub colours: Option<ColourReading>,
    /// Whether the rows are taken in the opposite order.
    pub is_flipped: bool,
    /// What becomes of samples without a height.
    pub holes: HoleFilling,
}

impl From<Option<RawLayout>> for ReadOptions {
    fn from(raw: Option<RawLayout>) -> Self {
        Self { raw, ..Self::default() }
    }
}

impl From<Option<RawLayout>> for Encoding {
    fn from(raw: Option<RawLayout>) -> Self {
        Self { raw, ..Self::default() }
    }
}

/// The format of a file with this extension and layout. Only headerless files may have a layout.
pub fn format_of(path: &Path, raw: Option<RawLayout>) -> Result<Format, FileError> {
    let format = Format::from_path(path)?;
    check_layout(path, format, raw)?;
    Ok(format)
}

/// An error if there is a layout, but the file has a header.
fn check_layout(path: &Path, format: Format, raw: Option<RawLayout>) -> Result<(), FileError> {
    let has_header = format.raw_sample(None).is_none();
    if raw.is_some() && has_header { Err(FileError::NotRaw(path.to_path_buf())) } else { Ok(()) }
}
