//! Opening a file as a heightmap or as the texture of a material, and completing the heightmaps of a project. A file that
//! is opened is read once and decoded once.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::{DynamicImage, GenericImageView, Rgba};

use super::stamps::{inputs_of, read_project};
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::parameters::{Band, FileName};
use crate::engine::relief::relief;
use crate::engine::{Grid, Heightfield, Image, Origin, Progress, Raster, Recipe, SampleScale};
use crate::files::formats::heightmap::{
    ColourReading, Encoding, Format, Holes, LoadedHeightmap, RawLayout, ReadOptions, Rows, WrittenFormat, complete,
    encodes_heights, exr_channels, from_image, has_palette, likely_sizes, read_bytes, read_certain, read_to_review,
    write,
};
use crate::files::formats::image::ImageFileFormat;
use crate::files::formats::image_decode::decode_dynamic;
use crate::files::formats::numbers::{HEIGHT_PLACES, decimal, metres};
use crate::files::formats::sidecar::{Sidecar, sidecar_path};
use crate::files::import::InputFiles;
use crate::files::io::error::FileError;
use crate::files::io::memory::require_memory;
use crate::files::io::read::read_file;

/// A file as a project stores it.
#[derive(Debug)]
pub struct ImportedFile {
    /// The name of the file. Its extension changes if the heights are converted.
    pub path: PathBuf,
    /// The contents of the file, or the converted heights.
    pub bytes: Vec<u8>,
    /// Whether a project would read other heights from these bytes, so that the file has to be opened with
    /// [`open_heightmap`] in the same way before it is imported. It was only opened to be shown.
    pub needs_conversion: bool,
    /// The heights of the lowest and the highest value; `None` if the samples are metres.
    pub range_m: Option<Band>,
    /// The size of the map on the ground, if known.
    pub extent: Option<Extent>,
    /// Where the map lies on Earth, if known.
    pub origin: Option<Origin>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What its heights are taken for, which no longer holds once others are chosen.
    pub heights_note: Option<String>,
    /// The map itself; `None` for the texture of a material.
    pub map: Option<MapSummary>,
}

impl ImportedFile {
    /// Everything that the user should know.
    pub fn all_notes(&self) -> impl Iterator<Item = &str> {
        self.heights_note.iter().chain(&self.notes).map(String::as_str)
    }
}

/// What an import window shows of a heightmap.
#[derive(Debug)]
pub struct MapSummary {
    /// Samples from west to east and from north to south.
    pub size: [usize; 2],
    /// The lowest and the highest value.
    pub values: [f32; 2],
    /// The largest value of an integer format; `None` if the samples are metres.
    pub max_value: Option<f32>,
    /// The layout of a headerless file.
    pub raw: Option<RawLayout>,
    /// The sizes that a headerless file can have, the likeliest first.
    pub raw_sizes: Vec<[usize; 2]>,
    /// The holes that were filled.
    pub holes: Holes,
    /// How the colours of an image were read, if it has any.
    pub colours: Option<ColourReading>,
    /// Whether its colours have numbers.
    pub has_palette: bool,
    /// The channels of an EXR.
    pub channels: Vec<String>,
    /// The channel that was read, if there are several.
    pub channel: String,
    /// The map from above, with north at the top; `None` if it has no extent.
    pub picture: Option<Image>,
}

/// The longer side of the picture of a map, pixels.
const PICTURE_PIXELS: usize = 240;

impl ImportedFile {
    /// The name of the file in a project.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The lowest and the highest height of a heightmap.
    pub fn heights_m(&self) -> Option<Band> {
        let map = self.map.as_ref()?;
        let [min, max] = map.values.map(f64::from);
        Some(match (self.range_m, map.max_value) {
            (None, _) => Band { min, max },
            (Some(range), None) => range,
            (Some(range), Some(max_value)) => {
                let height_m = |value: f64| range.min + value / f64::from(max_value) * (range.max - range.min);
                Band { min: height_m(min), max: height_m(max) }
            }
        })
    }
}

impl MapSummary {
    fn of(bytes: &[u8], loaded: &LoadedHeightmap, options: &ReadOptions) -> Self {
        let Raster { width, height, ref samples, scale } = loaded.raster;
        let values = samples
            .iter()
            .fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], sample| [low.min(*sample), high.max(*sample)]);
        let header_bytes = loaded.header_bytes;
        let raw = loaded.sample.map(|sample| RawLayout { sample, size: Some([width, height]), header_bytes });
        let raw_sizes = raw.map_or(Vec::new(), |layout| likely_sizes(layout.samples_in(bytes), layout.sample));
        let extent =
            loaded.extent().unwrap_or(Extent { width_m: (width - 1).to_f64(), depth_m: (height - 1).to_f64() });
        let longer = width.max(height).min(PICTURE_PIXELS + 1);
        let grid = Grid::fitted(extent, longer.max(2));
        let nearest = |at: usize, count: usize, samples: usize| (at * (samples - 1) + (count - 1) / 2) / (count - 1);
        let height_at =
            |r: usize, c: usize| samples[nearest(r, grid.height(), height) * width + nearest(c, grid.width(), width)];
        let heights = (0..grid.height()).flat_map(|r| (0..grid.width()).map(move |c| (r, c)));
        let heights = Heightfield::from_heights(grid, heights.map(|(r, c)| height_at(r, c)).collect());
        let size = [(grid.width() - 1).max(1), (grid.height() - 1).max(1)];
        let picture = heights.and_then(|heights| relief(&heights, size, &Progress::new()).ok());
        // A file that is converted as its sidecar says is in metres.
        let (values, max_value) = match (scale, loaded.sidecar.filter(|_| loaded.needs_conversion)) {
            (SampleScale::Integers { max_value }, None) => (values, Some(max_value)),
            (SampleScale::Integers { max_value }, Some(sidecar)) => {
                let Band { min, max } = sidecar.range_m;
                let metres = |value: f32| (min + f64::from(value / max_value) * (max - min)).to_f32();
                (values.map(metres), None)
            }
            (SampleScale::Metres, _) => (values, None),
        };
        let (channels, channel) =
            if loaded.format == Format::Written(WrittenFormat::Exr) { exr_channels(bytes) } else { Default::default() };
        let channel = options.channel.clone().unwrap_or(channel);
        Self {
            size: [width, height],
            values,
            max_value,
            raw,
            raw_sizes,
            holes: loaded.holes,
            colours: loaded.colours,
            has_palette: has_palette(bytes),
            channels,
            channel,
            picture,
        }
    }
}

/// Integers without a sidecar that are no higher than the highest mountain are probably metres.
const LIKELY_METRES: f32 = 9000.0;

/// The height of white in an image and of 1 in normalised heights, if nothing says it, metres.
const WHITE_M: f64 = 1000.0;

/// Opens a coloured image as a texture, and any other file as a heightmap.
///
/// Many heightmaps are grey images with three channels, so the pixels decide. An image with a sidecar is a heightmap,
/// and so is a BMP: coloured BMPs have been used for heights since 1994.
pub fn open_any(path: &Path) -> Result<ImportedFile, FileError> {
    let format = ImageFileFormat::from_path(path).ok();
    let Some(format) = format.filter(|format| *format != ImageFileFormat::Bmp && !sidecar_path(path).exists()) else {
        return open_for_review(path, &ReadOptions::default());
    };
    let bytes = read_file(path)?;
    match decode_dynamic(path, &bytes) {
        Ok((_, image)) if is_coloured(&image) && !(format == ImageFileFormat::Png && encodes_heights(&image)) => {
            Ok(texture(path, bytes, &image))
        }
        Ok((detected, image)) if detected == format.in_image_crate() => {
            let mut loaded = from_image(path, detected, image)?;
            complete(path, &mut loaded, Sidecar::read_for(path))?;
            Ok(shown(path, bytes, &loaded, &ReadOptions::default()))
        }
        // The image is too large for a texture, is corrupt, or has a format that does not match its extension.
        Ok(_) | Err(_) => {
            let options = ReadOptions::default();
            let loaded = read_bytes(path, &bytes, &options)?;
            Ok(shown(path, bytes, &loaded, &options))
        }
    }
}

/// Opens a heightmap to show it with what was guessed: a headerless file of unknown size gets the likeliest one. Nothing
/// is converted, which can take seconds.
pub fn open_for_review(path: &Path, options: &ReadOptions) -> Result<ImportedFile, FileError> {
    Format::from_path(path)?;
    let bytes = read_file(path)?;
    let (loaded, guessed) = read_to_review(path, &bytes, options)?;
    let raw = guessed.as_ref().map(|guess| guess.layout).or(options.raw);
    let options = ReadOptions { raw, ..options.clone() };
    let mut imported = shown(path, bytes, &loaded, &options);
    imported.notes.splice(0..0, guessed.map(|guess| guess.note));
    Ok(imported)
}

/// Opens a heightmap as a project stores it.
pub fn open_heightmap(path: &Path, options: &ReadOptions) -> Result<ImportedFile, FileError> {
    Format::from_path(path)?;
    let bytes = read_file(path)?;
    let loaded = read_certain(path, &bytes, options)?;
    heightmap(path, bytes, &loaded, options)
}

/// Opens a map as a mask: in one with heights in metres, the lowest is black and the highest is white.
pub fn open_mask(path: &Path) -> Result<ImportedFile, FileError> {
    Format::from_path(path)?;
    let bytes = read_file(path)?;
    let options = ReadOptions::default();
    let loaded = read_certain(path, &bytes, &options)?;
    if let SampleScale::Integers { .. } = loaded.raster.scale {
        let notes = vec!["the step acts where the image is white".into()];
        return Ok(ImportedFile { notes, heights_note: None, ..heightmap(path, bytes, &loaded, &options)? });
    }
    let shown = shown(path, bytes, &loaded, &options);
    let [min, max] = shown.map.as_ref().map_or([0.0; 2], |map| map.values.map(f64::from));
    let (path, bytes) = stored_as(&path.with_extension("png"), &loaded, Band { min, max })?;
    let notes =
        vec![format!("the step acts fully at {max:.1} m, the highest height, and not at {min:.1} m, the lowest")];
    Ok(ImportedFile { path, bytes, needs_conversion: false, notes, heights_note: None, ..shown })
}

/// Opens a heightmap or a project as a stamp. The files beside a project that it names become a part of it.
pub fn open_stamp(path: &Path) -> Result<ImportedFile, FileError> {
    if !FileName(path.to_string_lossy().into_owned()).is_project() {
        return open_heightmap(path, &ReadOptions::default());
    }
    let bytes = read_file(path)?;
    let mut file = read_project(path, &bytes)?;
    let is_complete = file.project.recipe.files().iter().all(|name| file.project.files.contains_key(name));
    file.load_files(path).map_err(|error| FileError::invalid(path, error.to_string()))?;
    inputs_of(path, &file.project, &Progress::new())?;
    let extent = file.project.recipe.world.extent();
    Ok(ImportedFile {
        path: path.to_path_buf(),
        bytes: if is_complete { bytes } else { file.to_json().into_bytes() },
        needs_conversion: false,
        range_m: None,
        extent: Some(extent),
        origin: None,
        heights_note: None,
        notes: vec![format!("the terrain of a world of {}", size_text(extent))],
        map: None,
    })
}

/// Opens the texture of a material.
pub fn open_texture(path: &Path) -> Result<ImportedFile, FileError> {
    let bytes = read_file(path)?;
    let (_, image) = decode_dynamic(path, &bytes)?;
    Ok(texture(path, bytes, &image))
}

fn is_coloured(image: &DynamicImage) -> bool {
    image.color().has_color() && image.pixels().any(|(_, _, Rgba([red, green, blue, _]))| red != green || green != blue)
}

fn texture(path: &Path, bytes: Vec<u8>, image: &DynamicImage) -> ImportedFile {
    let notes = vec![format!("{} × {} pixels", image.width(), image.height())];
    ImportedFile {
        path: path.to_path_buf(),
        bytes,
        needs_conversion: false,
        range_m: None,
        extent: None,
        origin: None,
        heights_note: None,
        notes,
        map: None,
    }
}

/// A heightmap as a project stores it.
fn heightmap(
    path: &Path,
    bytes: Vec<u8>,
    loaded: &LoadedHeightmap,
    options: &ReadOptions,
) -> Result<ImportedFile, FileError> {
    let converted = converted(path, loaded, None)?;
    let shown = shown(path, bytes, loaded, options);
    let Some((path, bytes)) = converted else { return Ok(shown) };
    Ok(ImportedFile { path, bytes, needs_conversion: false, ..shown })
}

/// A heightmap that may have to be converted.
fn shown(path: &Path, bytes: Vec<u8>, loaded: &LoadedHeightmap, options: &ReadOptions) -> ImportedFile {
    let map = MapSummary::of(&bytes, loaded, options);
    let samples = || loaded.raster.samples.iter().copied();
    let (low, high) = (samples().fold(f32::INFINITY, f32::min), samples().fold(f32::NEG_INFINITY, f32::max));
    let extent = loaded.extent();
    let (heights_note, range_m) = match (&loaded.sidecar, loaded.raster.scale) {
        (Some(_), _) if loaded.needs_conversion => {
            ("its heights are converted to metres with north at the top, as its sidecar says".into(), None)
        }
        (Some(sidecar), _) => {
            ("its heights are read from its sidecar, the .json file of its name".into(), Some(sidecar.range_m))
        }
        (None, SampleScale::Integers { max_value }) if max_value > 255.0 && high < LIKELY_METRES => (
            format!("its values from {low} to {high} are used as metres; change the heights if they are not"),
            Some(Band { min: 0.0, max: f64::from(max_value) }),
        ),
        (None, SampleScale::Integers { .. }) => {
            let note = "black is 0 m and white is 1000 m; change the heights if they are not";
            (note.into(), Some(Band { min: 0.0, max: WHITE_M }))
        }
        (None, SampleScale::Metres) => match loaded.normalised_range() {
            Some(range) => {
                let [min, max] = range.map(|height| WHITE_M * f64::from(height));
                (loaded.normalised_note(Some(WHITE_M)).unwrap_or_default(), Some(Band { min, max }))
            }
            None => {
                let [low, high] = [low, high].map(|height_m| decimal(height_m.into(), HEIGHT_PLACES));
                (format!("{low} to {high} m"), None)
            }
        },
    };
    let mut notes = loaded.all_notes();
    notes.extend(extent.map(size_note));
    ImportedFile {
        path: path.to_path_buf(),
        bytes,
        needs_conversion: loaded.needs_conversion,
        range_m,
        extent,
        origin: loaded.origin(),
        notes,
        heights_note: Some(heights_note),
        map: Some(map),
    }
}

/// Completes the heightmaps that were just read from `folder`, not `embedded` in the project, with their sidecars: a file
/// that cannot be decoded without its sidecar is replaced by its heights in metres, and a step without a height range
/// takes that of the sidecar. The files that are added have at most `max_bytes` together. Returns what the user should
/// know, such as that a map is stretched; a file that cannot be read is reported when its step is evaluated.
pub fn apply_sidecars(
    recipe: &mut Recipe,
    files: &mut InputFiles,
    embedded: &BTreeSet<FileName>,
    folder: &Path,
    mut max_bytes: u64,
) -> Vec<String> {
    let world = recipe.world.extent();
    let mut notes = Vec::new();
    for step in &mut recipe.stack {
        if let AnyOperation::Heightmap(heightmap) = &mut step.operation
            && !embedded.contains(&heightmap.file)
            && let Some(bytes) = files.get(&heightmap.file)
        {
            let path = folder.join(&heightmap.file.0);
            let Ok(loaded) = read_bytes(&path, bytes, &ReadOptions::default()) else { continue };
            let extent = loaded.extent();
            let has_range = heightmap.low_m.is_some() || heightmap.high_m.is_some();
            match complete_step(heightmap, &path, &loaded, files, &mut max_bytes) {
                Ok(()) => {}
                Err(error) => notes.push(error.to_string()),
            }
            let normalised = loaded.normalised_note(None).filter(|_| !has_range);
            notes.extend(normalised.map(|note| format!("{}: {note}", path.display())));
            notes.extend(extent.filter(|extent| !is_same_size(*extent, world)).map(|extent| {
                format!("{} is {}, but the world is {}", path.display(), size_text(extent), size_text(world))
            }));
        }
        for mask in &step.settings.mask {
            if !embedded.contains(&mask.file)
                && let Some(bytes) = files.get(&mask.file)
                && read_bytes(&folder.join(&mask.file.0), bytes, &ReadOptions::default())
                    .is_ok_and(|loaded| loaded.needs_conversion)
            {
                notes.push(format!("{}: a mask does not use its sidecar; save it as PNG", mask.file.0));
            }
        }
    }
    notes
}

/// Makes a step use its file as the sidecar says.
fn complete_step(
    step: &mut Heightmap,
    path: &Path,
    loaded: &LoadedHeightmap,
    files: &mut InputFiles,
    max_bytes: &mut u64,
) -> Result<(), FileError> {
    let is_integers = matches!(loaded.raster.scale, SampleScale::Integers { .. });
    let own = (step.low_m.is_some() || step.high_m.is_some())
        .then(|| Band { min: step.low_m.unwrap_or(0.0), max: step.high_m.unwrap_or(WHITE_M) });
    let Some((converted, bytes)) = converted(path, loaded, own)? else {
        if let Some(sidecar) = loaded.sidecar.filter(|_| is_integers && own.is_none()) {
            (step.low_m, step.high_m) = (Some(sidecar.range_m.min), Some(sidecar.range_m.max));
        }
        return Ok(());
    };
    let size = bytes.len() as u64;
    if size > *max_bytes {
        return Err(FileError::invalid(
            path,
            "its heights in metres do not fit into the project; import a smaller map",
        ));
    }
    *max_bytes -= size;
    let bytes = Arc::new(bytes);
    let stem = converted.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named =
        |number: u32| FileName(if number == 1 { format!("{stem}.exr") } else { format!("{stem} {number}.exr") });
    let free = (1..).map(named).find(|name| files.get(name).is_none_or(|known| *known == bytes));
    step.file = free.unwrap_or_default();
    files.insert(step.file.clone(), bytes);
    // The integers had that range; in metres, it would be that of the lowest and the highest height.
    if is_integers {
        (step.low_m, step.high_m) = (None, None);
    }
    Ok(())
}

/// A size, for example `1200 × 900 m`.
pub fn size_text(Extent { width_m, depth_m }: Extent) -> String {
    format!("{} × {} m", metres(width_m), metres(depth_m))
}

/// The note that says the size of a map.
pub fn size_note(extent: Extent) -> String {
    format!("it is {} in size", size_text(extent))
}

/// Whether two sizes differ by less than a thousandth.
pub fn is_same_size(a: Extent, b: Extent) -> bool {
    [a.width_m / b.width_m, a.depth_m / b.depth_m].iter().all(|ratio| (ratio - 1.0).abs() < 1e-3)
}

/// The name and the bytes of a file with the same heights, if the file alone would decode to others, because a project
/// stores neither sidecars nor layouts.
///
/// With a sidecar it is an EXR in metres, whose integers span `range_m`, or else the range of the sidecar. Without one,
/// nothing says the heights of integers, so they become those of a PNG.
fn converted(
    path: &Path,
    loaded: &LoadedHeightmap,
    range_m: Option<Band>,
) -> Result<Option<(PathBuf, Vec<u8>)>, FileError> {
    if !loaded.needs_conversion {
        return Ok(None);
    }
    let (extension, values_m) = match (loaded.raster.scale, &loaded.sidecar) {
        (SampleScale::Integers { max_value }, None) => ("png", Band { min: 0.0, max: f64::from(max_value) }),
        _ => ("exr", range_m.or(loaded.range_m()).unwrap_or_default()),
    };
    stored_as(&path.with_extension(extension), loaded, values_m).map(Some)
}

/// The heights of a map as another file; its integers span `values_m`, and so do those of the file.
fn stored_as(path: &Path, loaded: &LoadedHeightmap, values_m: Band) -> Result<(PathBuf, Vec<u8>), FileError> {
    let Raster { width, height, .. } = loaded.raster;
    // Heights, a copy of them, and the file.
    require_memory(12 * loaded.raster.samples.len() as u64)?;
    let [width_m, depth_m] =
        loaded.spacing_m().map_or([1.0; 2], |[x, z]| [x * (width - 1).to_f64(), z * (height - 1).to_f64()]);
    let grid = Grid::new(Extent { width_m, depth_m }, width, height);
    let heights = Heightfield::from_heights(grid, loaded.clone().into_metres(Some(values_m)));
    let heights = heights.ok_or_else(|| FileError::invalid(path, "its heights have a different size"))?;
    let mut file = Cursor::new(Vec::new());
    write(&mut file, path, Rows::all(&heights), values_m, Encoding::default(), &Progress::new())?;
    Ok((path.to_path_buf(), file.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::formats::image_decode::counting::DECODED;
    use crate::files::io::read::counting::READS;

    fn save(path: &Path, blue: u8) {
        let image = image::RgbImage::from_fn(8, 6, |x, y| {
            let grey = (10 * x + y) as u8;
            image::Rgb([grey, grey, grey + blue])
        });
        image.save(path).expect("saved");
    }

    fn save_sidecar(path: &Path, row_order: &str) {
        let text = format!(
            r#"{{"min_m": -5.0, "max_m": 250.0, "spacing_x_m": 1.0, "spacing_z_m": 1.0, "width": 8, "height": 6,
                "row_order": "{row_order}"}}"#
        );
        std::fs::write(sidecar_path(path), text).expect("written");
    }

    #[track_caller]
    fn check_opened_once(path: &Path, open: fn(&Path) -> Result<ImportedFile, FileError>) -> ImportedFile {
        READS.set(0);
        DECODED.set(0);
        let imported = open(path).expect("readable");
        assert_eq!((READS.get(), DECODED.get()), (1, 1), "reads and decoded images of {}", path.display());
        imported
    }

    #[test]
    fn every_image_is_read_once_and_decoded_once() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        save(&path("grey.png"), 0);
        save(&path("coloured.png"), 90);
        assert!(check_opened_once(&path("grey.png"), open_any).map.is_some());
        assert!(
            check_opened_once(&path("grey.png"), |path| open_heightmap(path, &ReadOptions::default())).map.is_some()
        );
        assert!(check_opened_once(&path("coloured.png"), open_any).map.is_none());
        assert!(check_opened_once(&path("coloured.png"), open_texture).map.is_none());
        save_sidecar(&path("coloured.png"), "");
        let with_sidecar = check_opened_once(&path("coloured.png"), open_any);
        assert_eq!((with_sidecar.map.is_none(), with_sidecar.range_m), (false, Some(Band { min: -5.0, max: 250.0 })));
        assert_eq!(with_sidecar.bytes, std::fs::read(path("coloured.png")).expect("there"));
    }

    #[test]
    fn heights_that_depend_on_a_sidecar_are_converted_to_metres() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("south.png");
        save(&path, 0);
        save_sidecar(&path, "rows from south to north, each from west to east");
        let shown = check_opened_once(&path, open_any);
        assert!(shown.needs_conversion && shown.bytes == std::fs::read(&path).expect("there"), "nothing is converted");
        let imported = check_opened_once(&path, |path| open_heightmap(path, &ReadOptions::default()));
        assert!(!imported.needs_conversion);
        assert_eq!((imported.path.extension().and_then(|it| it.to_str()), imported.range_m), (Some("exr"), None));
        let loaded = crate::files::formats::heightmap::decode(&imported.path, &imported.bytes, None).expect("readable");
        assert_eq!(loaded.raster.samples[..2], [0.0, 10.0], "5 of 255 is 0 m");
    }

    #[test]
    fn the_size_on_the_ground_is_known_from_the_file_or_its_sidecar() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("alps.asc");
        std::fs::write(&path, "ncols 3\nnrows 2\ncellsize 500\n1 2 3\n4 -9999 6\n").expect("written");
        let imported = open_any(&path).expect("readable");
        let extent = imported.extent.expect("known");
        assert_eq!((extent.width_m, extent.depth_m), (1000.0, 500.0));
        let notes = imported.all_notes().collect::<Vec<_>>().join("; ");
        assert!(notes.contains("1 sample without a height") && notes.contains("1000 × 500 m"), "{notes}");
        let path = folder.path().join("grey.png");
        save(&path, 0);
        assert_eq!(open_any(&path).expect("readable").extent, None);
        save_sidecar(&path, "");
        let extent = open_any(&path).expect("readable").extent.expect("known");
        assert_eq!((extent.width_m, extent.depth_m), (7.0, 5.0));
    }

    #[test]
    fn normalised_heights_are_not_taken_as_metres() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("gaea.asc");
        std::fs::write(&path, "ncols 2\nnrows 2\n0.25 0.5\n0.5 1\n").expect("written");
        let imported = open_any(&path).expect("readable");
        assert_eq!(imported.range_m, Some(Band { min: 250.0, max: 1000.0 }));
        assert!(
            imported.all_notes().any(|note| note.contains("normalised heights (0–1), scaled to 1000 m")),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn a_world_file_is_used_however_the_map_is_opened() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("grey.png");
        save(&path, 0);
        std::fs::write(folder.path().join("grey.pgw"), "30\n0\n0\n-20\n500000\n4000000\n").expect("written");
        let open_as_heightmap = |path: &Path| open_heightmap(path, &ReadOptions::default());
        for open in [open_any, open_as_heightmap] {
            let extent = open(&path).expect("readable").extent.expect("known");
            assert_eq!((extent.width_m, extent.depth_m), (210.0, 100.0));
        }
    }

    /// A recipe whose steps use a map that starts in the south, with these height ranges, and the map's bytes.
    fn by_hand(folder: &Path, ranges: &[Option<[f64; 2]>]) -> (Recipe, InputFiles) {
        let path = folder.join("south.png");
        save(&path, 0);
        save_sidecar(&path, "rows from south to north, each from west to east");
        let name = FileName("south.png".into());
        let step = |range: &Option<[f64; 2]>| {
            let [low_m, high_m] = range.map_or([None; 2], |range| range.map(Some));
            crate::engine::Step::new(Heightmap { file: name.clone(), low_m, high_m, ..Default::default() })
        };
        let recipe = Recipe { stack: ranges.iter().map(step).collect(), ..Default::default() };
        let bytes = std::fs::read(&path).expect("there");
        (recipe, [(name, Arc::new(bytes))].into())
    }

    /// The file of a step and its range.
    fn used(recipe: &Recipe, at: usize) -> (&str, Option<f64>, Option<f64>) {
        let AnyOperation::Heightmap(heightmap) = &recipe.stack[at].operation else { panic!("a heightmap") };
        (&heightmap.file.0, heightmap.low_m, heightmap.high_m)
    }

    #[test]
    fn a_project_by_hand_uses_the_sidecars_beside_it() {
        let folder = tempfile::tempdir().expect("folder");
        let (mut recipe, mut files) = by_hand(folder.path(), &[None, Some([0.0, 2550.0])]);
        let (before, kept, embedded) = (recipe.clone(), files.clone(), files.keys().cloned().collect());
        let notes = apply_sidecars(&mut recipe, &mut files, &embedded, folder.path(), u64::MAX);
        assert_eq!((&recipe, &files, notes), (&before, &kept, Vec::new()), "embedded files are complete");
        // A file of the name that the converted one would have.
        files.insert(FileName("south.exr".into()), Arc::default());
        let notes = apply_sidecars(&mut recipe, &mut files, &BTreeSet::new(), folder.path(), u64::MAX);
        assert!(notes.len() == 2 && notes[0].contains("is 7 × 5 m, but the world is 4096 × 4096 m"), "{notes:?}");
        assert_eq!(used(&recipe, 0), ("south 2.exr", None, None));
        assert_eq!(used(&recipe, 1), ("south 3.exr", None, None));
        let heights = |name: &str| {
            let bytes = &files[&FileName(name.into())];
            crate::files::formats::heightmap::decode(Path::new(name), bytes, None).expect("readable").raster.samples
        };
        // The first row of the file, the southern one, has the values 0, 10, …; the northern one 5, 15, …: 5 is 0 m by the
        // sidecar, and 50 m by the range of the second step.
        assert_eq!((heights("south 2.exr")[0], heights("south 3.exr")[0]), (0.0, 50.0));
        assert!(files[&FileName("south.exr".into())].is_empty());
    }

    #[test]
    fn heights_that_do_not_fit_into_the_project_are_refused_with_a_note() {
        let folder = tempfile::tempdir().expect("folder");
        let (mut recipe, mut files) = by_hand(folder.path(), &[None]);
        let notes = apply_sidecars(&mut recipe, &mut files, &BTreeSet::new(), folder.path(), 10);
        assert!(notes[0].contains("do not fit"), "{notes:?}");
        assert_eq!(used(&recipe, 0).0, "south.png");
    }

    #[test]
    fn a_mask_in_metres_goes_from_its_lowest_to_its_highest_height() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("land.r32");
        std::fs::write(&path, [300.0_f32, 600.0, 900.0, 1800.0].map(f32::to_le_bytes).concat()).expect("written");
        let mask = open_mask(&path).expect("readable");
        assert!(mask.path.ends_with("land.png") && mask.notes[0].contains("1800.0 m"), "{:?}", mask.notes);
        let loaded = crate::files::formats::heightmap::decode(&mask.path, &mask.bytes, None).expect("readable");
        assert_eq!(loaded.raster.scale, SampleScale::Integers { max_value: 65_535.0 });
        assert_eq!(loaded.raster.samples, [0.0, 13_107.0, 26_214.0, 65_535.0]);
    }

    #[test]
    fn floats_between_0_and_1_are_normalised_heights_unless_the_file_says_its_size() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        let open = |name: &str| open_heightmap(&path(name), &ReadOptions::default()).expect(name).range_m;
        std::fs::write(path("normalised.r32"), [0.0_f32, 0.25, 0.5, 1.0].map(f32::to_le_bytes).concat())
            .expect("written");
        assert_eq!(open("normalised.r32"), Some(Band { min: 0.0, max: 1000.0 }));
        std::fs::write(path("whole.r32"), [0.0_f32, 1.0, 1.0, 1.0].map(f32::to_le_bytes).concat()).expect("written");
        std::fs::write(path("lagoon.asc"), "ncols 2\nnrows 2\ncellsize 30\n0 0.5\n1 1\n").expect("written");
        assert_eq!((open("whole.r32"), open("lagoon.asc")), (None, None));
    }

    #[test]
    fn a_project_opened_as_a_stamp_contains_the_files_beside_it() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.upthrust.json");
        let stack = r#"[{"operation": "heightmap", "file": "b.r32"}]"#;
        let world = r#"{"width_m": 700, "depth_m": 300}"#;
        let text = format!(r#"{{"format": 1, "recipe": {{"world": {world}, "stack": {stack}}}}}"#);
        std::fs::write(&path, text).expect("written");
        let error = open_stamp(&path).expect_err("b.r32 is missing").to_string();
        assert!(error.contains("b.r32"), "{error}");
        std::fs::write(folder.path().join("b.r32"), [0; 16]).expect("written");
        let opened = open_stamp(&path).expect("complete");
        assert_eq!(opened.extent, Some(Extent { width_m: 700.0, depth_m: 300.0 }));
        let project = read_project(&path, &opened.bytes).expect("valid").project;
        assert_eq!(project.files.get(&FileName("b.r32".into())).map(|bytes| bytes.len()), Some(16));
    }
}
