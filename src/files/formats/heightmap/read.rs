//! Reading heightmaps: a raster with row 0 in the north, and notes on everything that the user should know about it.
//!
//! Sizes are checked against the limits of a grid and against free memory before anything is allocated.

use std::path::Path;

use ::image::ImageFormat;

use super::decoded::Decoded;
use super::encoded_colours::ColourReading;
use super::foreign;
use super::format::{Format, ReadOptions, WrittenFormat, format_of};
use super::georeference::{self, Georeference};
use super::holes::{self, HoleFilling, Holes};
use super::layout::{RawLayout, RawSample, RowOrder};
use super::raw_guess::Guess;
use super::{asc, exr, image, krten, pgm, raw, raw_guess, tiff};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::{Extent, MAX_HEIGHT_M};
use crate::engine::parameters::Band;
use crate::engine::{Origin, Raster, SampleScale};
use crate::files::formats::sidecar::Sidecar;
use crate::files::io::error::FileError;
use crate::files::io::guard::guard_decoder;
use crate::files::io::read::{read_file, read_regular};

/// A heightmap that was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedHeightmap {
    /// The format of the file.
    pub format: Format,
    /// The samples.
    pub raster: Raster,
    /// What the user should know: guesses, losses, filled holes.
    pub notes: Vec<String>,
    /// The sidecar, if there is one and it fits the map.
    pub sidecar: Option<Sidecar>,
    /// Whether the file alone would decode to another raster: a sidecar, a header, the user or the colours supplied the
    /// layout, the row order, the channel, the heights or what fills the holes.
    pub needs_conversion: bool,
    /// The holes that were filled.
    pub holes: Holes,
    /// The type of the samples of a headerless file.
    pub sample: Option<RawSample>,
    /// The bytes before the samples of such a file.
    pub header_bytes: usize,
    /// How the colours of an image were read, if it has any.
    pub colours: Option<ColourReading>,
    /// The cells of the map as the file describes them.
    pub(super) georeference: Option<Georeference>,
}

impl LoadedHeightmap {
    /// Metres between samples, eastward and southward, if known.
    pub fn spacing_m(&self) -> Option<[f64; 2]> {
        self.sidecar.map(|sidecar| sidecar.spacing_m).or(self.own_spacing().map(|(spacing_m, _)| spacing_m))
    }

    /// The width and the depth of the map, if known, metres.
    pub fn extent(&self) -> Option<Extent> {
        let [x, z] = self.spacing_m()?;
        let Raster { width, height, .. } = self.raster;
        Some(Extent { width_m: x * (width - 1).to_f64(), depth_m: z * (height - 1).to_f64() })
    }

    /// Where the map lies on Earth, if its file says it in metres.
    pub fn origin(&self) -> Option<Origin> {
        self.georeference.as_ref().and_then(Georeference::origin)
    }

    /// The spacing according to the georeference, with what the user should know about it.
    fn own_spacing(&self) -> Option<([f64; 2], Option<String>)> {
        self.georeference.and_then(|georeference| georeference.spacing_m())
    }

    /// What the user should know besides the heights, including how the spacing was found.
    pub fn all_notes(&self) -> Vec<String> {
        let of_spacing = self.own_spacing().filter(|_| self.sidecar.is_none()).and_then(|(_, note)| note);
        self.notes.iter().cloned().chain(of_spacing).collect()
    }

    /// The note about normalised heights, if the samples are those. They are scaled to `scaled_to_m`; `None`: they are used
    /// as metres.
    pub(crate) fn normalised_note(&self, scaled_to_m: Option<f64>) -> Option<String> {
        let [low, high] = self.normalised_range()?;
        Some(match scaled_to_m {
            Some(height_m) => format!(
                "its values from {low} to {high} are taken as normalised heights (0–1), scaled to {height_m} m; change the \
                 heights if they are not"
            ),
            None => format!(
                "its values from {low} to {high} are probably normalised heights (0–1), but they are used as metres; \
                 import it in the editor to scale them"
            ),
        })
    }

    /// The lowest and the highest value if the samples are normalised heights rather than metres, as Gaea and World
    /// Machine write them: between 0 and 1 but not only these, in a format of such programs, and in a map that does not
    /// say how large it is.
    pub fn normalised_range(&self) -> Option<[f32; 2]> {
        let is_usual = matches!(
            self.format,
            Format::Written(WrittenFormat::Exr | WrittenFormat::Tiff | WrittenFormat::Raw32 | WrittenFormat::Asc)
        );
        let is_possible = is_usual && self.raster.scale == SampleScale::Metres && self.extent().is_none();
        let samples = || self.raster.samples.iter().copied();
        let [low, high] = [samples().fold(f32::INFINITY, f32::min), samples().fold(f32::NEG_INFINITY, f32::max)];
        let is_normalised =
            is_possible && 0.0 <= low && high <= 1.0 && samples().any(|sample| 0.0 < sample && sample < 1.0);
        (is_normalised && low < high).then_some([low, high])
    }

    /// The heights of the value 0 and of the largest value of an integer format: from the sidecar, or else the values
    /// themselves. `None` for a format in metres.
    pub fn range_m(&self) -> Option<Band> {
        match self.raster.scale {
            SampleScale::Metres => None,
            SampleScale::Integers { max_value } => Some(
                self.sidecar.as_ref().map_or(Band { min: 0.0, max: f64::from(max_value) }, |sidecar| sidecar.range_m),
            ),
        }
    }

    /// The samples as heights in metres; integers span `range_m`, or else [`Self::range_m`].
    pub fn into_metres(self, range_m: Option<Band>) -> Vec<f32> {
        let range = range_m.or_else(|| self.range_m());
        let mut samples = self.raster.samples;
        if let (SampleScale::Integers { max_value }, Some(range)) = (self.raster.scale, range) {
            let metres_per_unit = (range.max - range.min) / f64::from(max_value);
            samples.iter_mut().for_each(|sample| *sample = (range.min + f64::from(*sample) * metres_per_unit).to_f32());
        }
        samples
    }
}

/// Reads a heightmap and its sidecar, if there is one.
pub fn read(path: &Path, raw: Option<RawLayout>) -> Result<LoadedHeightmap, FileError> {
    if path.is_dir() && Format::from_path(path).is_err() {
        return Err(FileError::invalid(path, "this is a folder; name a file in it"));
    }
    format_of(path, raw)?;
    read_certain(path, &read_file(path)?, &raw.into())
}

/// Decodes a heightmap from the bytes of its file, and reads its sidecar or header from the disk, if there is one.
pub fn read_bytes(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<LoadedHeightmap, FileError> {
    read_with_sidecar(path, bytes, options, Sidecar::read_for(path))
}

/// Decodes a heightmap to show it: a headerless file of unknown layout gets the likeliest one, which is also returned.
pub(crate) fn read_to_review(
    path: &Path,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(LoadedHeightmap, Option<Guess>), FileError> {
    let sidecar = Sidecar::read_for(path);
    let guess = guessed_layout(path, bytes, options.raw, sidecar.as_ref().ok().and_then(Option::as_ref));
    let raw = guess.as_ref().map(|guess| guess.layout).or(options.raw);
    Ok((read_with_sidecar(path, bytes, &ReadOptions { raw, ..options.clone() }, sidecar)?, guess))
}

/// Decodes a heightmap that is complete by itself or with its sidecar, or whose layout is certain.
pub(crate) fn read_certain(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<LoadedHeightmap, FileError> {
    let sidecar = Sidecar::read_for(path);
    let guess = guessed_layout(path, bytes, options.raw, sidecar.as_ref().ok().and_then(Option::as_ref));
    let certain = guess.as_ref().filter(|guess| guess.is_certain);
    let raw = certain.map(|guess| guess.layout).or(options.raw);
    match read_with_sidecar(path, bytes, &ReadOptions { raw, ..options.clone() }, sidecar) {
        Ok(mut loaded) => {
            loaded.notes.splice(0..0, certain.map(|guess| guess.note.clone()));
            Ok(loaded)
        }
        Err(FileError::UnknownLayout { path, problem, likely }) => {
            let guessed = guess.map(|guess| guess.layout.to_string());
            Err(FileError::UnknownLayout { path, problem, likely: guessed.or(likely) })
        }
        Err(error) => Err(error),
    }
}

fn read_with_sidecar(
    path: &Path,
    bytes: &[u8],
    options: &ReadOptions,
    sidecar: Result<Option<Sidecar>, String>,
) -> Result<LoadedHeightmap, FileError> {
    let known = sidecar.as_ref().ok().and_then(Option::as_ref);
    let layout = options.raw.or(known.and_then(|sidecar| layout_from_sidecar(path, sidecar, bytes.len())));
    let format = Format::from_path(path)?;
    let (decoded, colours) = match (format, image_with_colours(format)) {
        (Format::EsriBinary, _) => (read_esri(path, bytes)?, None),
        (_, Some(image_format)) if !bytes.is_empty() => {
            // Heights with a sidecar are those of an export, which are never encoded in colours.
            let reading = options.colours.or(known.map(|_| ColourReading::Brightness));
            guard_decoder(path, || image::decode_colours(path, bytes, image_format, reading))?
        }
        _ => (decode_file(path, bytes, &ReadOptions { raw: layout, ..options.clone() })?, None),
    };
    let mut loaded = loaded(path, format, decoded, options.holes)?;
    loaded.colours = colours;
    loaded.needs_conversion = format == Format::EsriBinary
        || layout.is_some_and(|layout| !is_guessed(path, layout, bytes))
        || colours.is_some_and(|reading| reading != ColourReading::Brightness)
        || options.channel.is_some()
        || (options.holes != HoleFilling::default() && loaded.holes != Holes::default());
    loaded.header_bytes = layout.map_or(0, |layout| layout.header_bytes);
    complete(path, &mut loaded, sidecar)?;
    if options.is_flipped {
        flip_rows(&mut loaded.raster);
        loaded.needs_conversion = true;
    }
    Ok(loaded)
}

/// Decodes an Esri binary grid with the header beside it.
fn read_esri(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let header = path.with_extension("hdr");
    let text = read_regular(&header, MAX_HEADER_BYTES).map_err(|error| {
        let problem = format!("its header {} cannot be read ({error}); put it beside the file", header.display());
        FileError::invalid(path, problem)
    })?;
    guard_decoder(path, || foreign::decode_esri(path, bytes, &String::from_utf8_lossy(&text)))
}

/// The longest header of an Esri binary grid that is read, bytes.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The layout of a headerless file that nothing says, and which is not the usual one of a square map. `None` if the layout
/// is known, or if none fits.
fn guessed_layout(path: &Path, bytes: &[u8], raw: Option<RawLayout>, sidecar: Option<&Sidecar>) -> Option<Guess> {
    let usual = Format::from_path(path).ok()?.raw_sample(raw)?;
    let has_size = raw.is_some_and(|layout| layout.size.is_some());
    let has_sidecar = || sidecar.is_some_and(|sidecar| layout_from_sidecar(path, sidecar, bytes.len()).is_some());
    if has_size || has_sidecar() {
        return None;
    }
    let Some(RawLayout { sample, header_bytes, .. }) = raw else { return raw_guess::guess(bytes, usual) };
    let bytes = bytes.get(header_bytes..)?;
    if raw_guess::square_side(bytes.len(), sample).is_some() {
        return None;
    }
    let [width, height] = raw::likely_sizes(bytes, sample).into_iter().next()?;
    let note = raw_guess::note_of_size(width, height);
    let layout = RawLayout { sample, size: Some([width, height]), header_bytes };
    Some(Guess { layout, note, is_certain: false })
}

/// Completes a map with what its sidecar and the other files beside it say.
pub(crate) fn complete(
    path: &Path,
    loaded: &mut LoadedHeightmap,
    sidecar: Result<Option<Sidecar>, String>,
) -> Result<(), FileError> {
    loaded.georeference = georeference::read_beside(path, loaded.raster.height, loaded.georeference)?;
    apply_sidecar(loaded, sidecar);
    Ok(())
}

/// Applies a sidecar to a map, unless its size differs from that of the map.
fn apply_sidecar(loaded: &mut LoadedHeightmap, sidecar: Result<Option<Sidecar>, String>) {
    match sidecar {
        Ok(Some(sidecar)) if sidecar.size == [loaded.raster.width, loaded.raster.height] => {
            if sidecar.row_order == RowOrder::SouthFirst {
                flip_rows(&mut loaded.raster);
                loaded.needs_conversion = true;
            }
            loaded.sidecar = Some(sidecar);
        }
        Ok(Some(sidecar)) => loaded
            .notes
            .push(format!("its sidecar is for a map of {} × {} and is ignored", sidecar.size[0], sidecar.size[1])),
        Ok(None) => {}
        Err(problem) => loaded.notes.push(format!("its sidecar cannot be used: {problem}")),
    }
}

/// The layout of a headerless file of this length according to its sidecar; `None` if the lengths differ, or if the
/// format has a header.
fn layout_from_sidecar(path: &Path, sidecar: &Sidecar, bytes: usize) -> Option<RawLayout> {
    let usual = Format::from_path(path).ok()?.raw_sample(None)?;
    let sample = sidecar.sample.unwrap_or(usual);
    let [width, height] = sidecar.size;
    let expected = width.checked_mul(height)?.checked_mul(sample.bytes().to_usize())?;
    (expected == bytes).then_some(RawLayout { size: Some(sidecar.size), ..RawLayout::square(sample) })
}

/// Whether a headerless file decodes to the same raster without the layout.
fn is_guessed(path: &Path, layout: RawLayout, bytes: &[u8]) -> bool {
    let usual = Format::from_path(path).ok().and_then(|format| format.raw_sample(None));
    let is_square = layout.size.is_none_or(|[width, height]| width == height);
    let is_whole = (bytes.len() as u64).is_multiple_of(layout.sample.bytes());
    usual == Some(layout.sample)
        && layout.header_bytes == 0
        && is_square
        && is_whole
        && raw::likely_sample(layout.sample, None, bytes) == layout.sample
}

/// Reverses the order of the rows.
fn flip_rows(raster: &mut Raster) {
    let (width, height) = (raster.width, raster.height);
    let (north, south) = raster.samples.split_at_mut(height.div_ceil(2) * width);
    let rows = north.chunks_exact_mut(width).zip(south.chunks_exact_mut(width).rev());
    rows.for_each(|(north, south)| north.swap_with_slice(south));
}

/// Decodes a heightmap from the bytes of its file alone. `path` supplies the extension, and the name for messages.
pub fn decode(path: &Path, bytes: &[u8], raw: Option<RawLayout>) -> Result<LoadedHeightmap, FileError> {
    loaded(path, format_of(path, raw)?, decode_file(path, bytes, &raw.into())?, HoleFilling::default())
}

/// The image format whose colours can encode heights.
fn image_with_colours(format: Format) -> Option<ImageFormat> {
    match format {
        Format::Written(WrittenFormat::Png) => Some(ImageFormat::Png),
        Format::WebP => Some(ImageFormat::WebP),
        Format::Written(_) | Format::Hgt | Format::EsriBinary | Format::Terragen | Format::Ppm => None,
    }
}

fn decode_file(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Decoded, FileError> {
    let ReadOptions { raw, ref channel, colours: _, is_flipped: _, holes: _ } = *options;
    let format = format_of(path, raw)?;
    if bytes.is_empty() {
        return Err(FileError::invalid(path, "this file is empty; choose another one"));
    }
    let image = |format| image::decode(path, bytes, format);
    guard_decoder(path, || match format {
        Format::Written(format) => match format {
            WrittenFormat::Png => image(ImageFormat::Png),
            WrittenFormat::Bmp => image(ImageFormat::Bmp),
            WrittenFormat::Jpg => image(ImageFormat::Jpeg),
            WrittenFormat::Tga => image(ImageFormat::Tga),
            WrittenFormat::Raw16 => raw::decode(path, bytes, raw, RawSample::U16Le),
            WrittenFormat::Raw32 => raw::decode(path, bytes, raw, RawSample::F32Le),
            WrittenFormat::Krten => krten::decode(path, bytes),
            WrittenFormat::Asc => asc::decode(path, bytes),
            WrittenFormat::Pgm => pgm::decode(path, bytes),
            WrittenFormat::Exr => exr::decode(path, bytes, channel.as_deref()),
            WrittenFormat::Tiff => tiff::decode(path, bytes),
        },
        Format::WebP => image(ImageFormat::WebP),
        Format::Ppm => image(ImageFormat::Pnm),
        Format::Hgt => foreign::decode_hgt(path, bytes),
        Format::Terragen => foreign::decode_terragen(path, bytes),
        Format::EsriBinary => {
            let problem = "its header (.hdr) cannot be found; put it beside the file and open or import it again";
            Err(FileError::invalid(path, problem))
        }
    })
}

/// A heightmap from an image that is decoded already.
pub(crate) fn from_image(
    path: &Path,
    image_format: ImageFormat,
    image: ::image::DynamicImage,
) -> Result<LoadedHeightmap, FileError> {
    let format = Format::from_path(path)?;
    let (decoded, colours) = image::read_colours(path, image, image_format, None, None)?;
    let needs_conversion = colours.is_some_and(|reading| reading != ColourReading::Brightness);
    let loaded = loaded(path, format, decoded, HoleFilling::default())?;
    Ok(LoadedHeightmap { colours, needs_conversion, ..loaded })
}

fn loaded(path: &Path, format: Format, decoded: Decoded, filling: HoleFilling) -> Result<LoadedHeightmap, FileError> {
    let Decoded { mut raster, mut notes, georeference, metres, sample } = decoded;
    let holes = fill_holes(path, &mut raster, metres, filling, &mut notes)?;
    Ok(LoadedHeightmap {
        format,
        raster,
        notes,
        sidecar: None,
        needs_conversion: false,
        holes,
        sample,
        header_bytes: 0,
        colours: None,
        georeference,
    })
}

/// Turns samples into metres, if the file says how, and fills those without a height. A sample has none if it is not
/// finite, if it is beyond any height, such as the ±3.4·10³⁸ that some programs write for "no data", or if it is one of
/// the usual numbers for it.
fn fill_holes(
    path: &Path,
    raster: &mut Raster,
    metres: Option<[f64; 2]>,
    filling: HoleFilling,
    notes: &mut Vec<String>,
) -> Result<Holes, FileError> {
    let has_heights = raster.scale == SampleScale::Metres || metres.is_some();
    let undeclared = if has_heights { holes::mark_undeclared(&mut raster.samples, filling) } else { None };
    if let Some([factor, offset]) = metres {
        let height_m = |sample: f32| (f64::from(sample) * factor + offset).to_f32();
        raster.samples.iter_mut().for_each(|sample| *sample = height_m(*sample));
        raster.scale = SampleScale::Metres;
    }
    // Other integers are not metres yet; only NaN is a hole there.
    let limit = match raster.scale {
        SampleScale::Metres => MAX_HEIGHT_M,
        SampleScale::Integers { .. } => f32::MAX,
    };
    raster.samples.iter_mut().filter(|sample| sample.abs() > limit).for_each(|sample| *sample = f32::NAN);
    notes.extend(undeclared.map(|value| match filling {
        HoleFilling::OnlyDeclared => format!("the value {value}, which often means \"no data\", is a height here"),
        HoleFilling::Interpolated | HoleFilling::Lowest => format!("the value {value} is taken as \"no data\""),
    }));
    let count = raster.samples.iter().filter(|sample| sample.is_nan()).count();
    if count > 0 {
        if count == raster.samples.len() {
            return Err(FileError::invalid(path, "none of its samples has a height"));
        }
        holes::fill(raster, filling);
        let filled = match filling {
            HoleFilling::Lowest => "set to the lowest one",
            HoleFilling::Interpolated | HoleFilling::OnlyDeclared => "filled from the heights around them",
        };
        notes.push(match count {
            1 => format!("1 sample without a height was {filled}"),
            _ => format!("{count} samples without a height were {filled}"),
        });
    }
    Ok(Holes { count, undeclared })
}
