//! Opening a file as a heightmap or as the texture of a material. Each file is read once and decoded once.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{DynamicImage, GenericImageView, Rgba};

use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield, Progress, Raster, SampleScale};
use crate::files::formats::heightmap::{
    Encoding, Format, LoadedHeightmap, Rows, apply_sidecar, from_image, read_bytes, write,
};
use crate::files::formats::image::ImageFileFormat;
use crate::files::formats::image_decode::decode_dynamic;
use crate::files::formats::sidecar::{Sidecar, sidecar_path};
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
    /// The heights of the lowest and the highest value; `None` if the samples are metres.
    pub range_m: Option<Band>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Whether it is the texture of a material, not a heightmap.
    pub is_texture: bool,
}

/// Integers without a sidecar that are no higher than the highest mountain are probably metres.
const LIKELY_METRES: f32 = 9000.0;

/// Opens a coloured image as a texture, and any other file as a heightmap.
///
/// Many heightmaps are grey images with three channels, so the pixels decide. An image with a sidecar is a heightmap,
/// and so is a BMP: coloured BMPs have been used for heights since 1994.
pub fn open_any(path: &Path) -> Result<ImportedFile, FileError> {
    let format = ImageFileFormat::from_path(path).ok();
    let Some(format) = format.filter(|format| *format != ImageFileFormat::Bmp && !sidecar_path(path).exists()) else {
        return open_heightmap(path);
    };
    let bytes = read_file(path)?;
    match decode_dynamic(path, &bytes) {
        Ok((_, image)) if is_coloured(&image) => Ok(texture(path, bytes, &image)),
        Ok((detected, image)) if detected == format.in_image_crate() => {
            let mut loaded = from_image(path, Format::from_path(path)?, image)?;
            apply_sidecar(&mut loaded, Sidecar::read_for(path));
            heightmap(path, bytes, loaded)
        }
        // The image is too large for a texture, is corrupt, or has a format that does not match its extension.
        Ok(_) | Err(_) => {
            let loaded = read_bytes(path, &bytes, None)?;
            heightmap(path, bytes, loaded)
        }
    }
}

/// Opens a heightmap.
pub fn open_heightmap(path: &Path) -> Result<ImportedFile, FileError> {
    Format::from_path(path)?;
    let bytes = read_file(path)?;
    let loaded = read_bytes(path, &bytes, None)?;
    heightmap(path, bytes, loaded)
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
    ImportedFile { path: path.to_path_buf(), bytes, range_m: None, notes, is_texture: true }
}

fn heightmap(path: &Path, bytes: Vec<u8>, loaded: LoadedHeightmap) -> Result<ImportedFile, FileError> {
    let converted = converted_to_metres(path, &loaded)?;
    let samples = || loaded.raster.samples.iter().copied();
    let (low, high) = (samples().fold(f32::INFINITY, f32::min), samples().fold(f32::NEG_INFINITY, f32::max));
    let mut notes = loaded.notes;
    let range_m = match (loaded.sidecar, loaded.raster.scale) {
        (Some(_), _) if converted.is_some() => {
            notes.push("it was converted to metres with north at the top, as its sidecar says".into());
            None
        }
        (Some(sidecar), _) => {
            notes.push("its heights are those of its sidecar".into());
            Some(sidecar.range_m)
        }
        (None, SampleScale::Integers { max_value }) if max_value > 255.0 && high < LIKELY_METRES => {
            notes.push(format!(
                "its values from {low} to {high} are used as metres; change Low and High if they are not"
            ));
            Some(Band { min: 0.0, max: f64::from(max_value) })
        }
        (None, SampleScale::Integers { .. }) => {
            notes.push("black is 0 m and white is 1000 m; change Low and High if they are not".into());
            Some(Band { min: 0.0, max: 1000.0 })
        }
        (None, SampleScale::Metres) => {
            notes.push(format!("{low} to {high} m"));
            None
        }
    };
    let (path, bytes) = converted.unwrap_or_else(|| (path.to_path_buf(), bytes));
    Ok(ImportedFile { path, bytes, range_m, notes, is_texture: false })
}

/// The name and the bytes of an EXR with the heights in metres, if the file needs its sidecar to be decoded, because a
/// project does not store sidecars.
fn converted_to_metres(path: &Path, loaded: &LoadedHeightmap) -> Result<Option<(PathBuf, Vec<u8>)>, FileError> {
    let Some(sidecar) = loaded.sidecar.as_ref().filter(|_| loaded.depends_on_sidecar) else { return Ok(None) };
    let Raster { width, height, .. } = loaded.raster;
    // Heights, a copy of them, and the file.
    require_memory(12 * loaded.raster.samples.len() as u64)?;
    let [width_m, depth_m] =
        [(width, 0), (height, 1)].map(|(side, axis)| (side - 1).to_f64() * sidecar.spacing_m[axis]);
    let grid = Grid::new(Extent { width_m, depth_m }, width, height);
    let path = path.with_extension("exr");
    let heights = Heightfield::from_heights(grid, loaded.clone().into_metres(None));
    let heights = heights.ok_or_else(|| FileError::invalid(&path, "its sidecar has another size"))?;
    let mut file = Cursor::new(Vec::new());
    write(&mut file, &path, Rows::all(&heights), sidecar.range_m, Encoding::default(), &Progress::new())?;
    Ok(Some((path, file.into_inner())))
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
        assert!(!check_opened_once(&path("grey.png"), open_any).is_texture);
        assert!(!check_opened_once(&path("grey.png"), open_heightmap).is_texture);
        assert!(check_opened_once(&path("coloured.png"), open_any).is_texture);
        assert!(check_opened_once(&path("coloured.png"), open_texture).is_texture);
        save_sidecar(&path("coloured.png"), "");
        let with_sidecar = check_opened_once(&path("coloured.png"), open_any);
        assert_eq!((with_sidecar.is_texture, with_sidecar.range_m), (false, Some(Band { min: -5.0, max: 250.0 })));
        assert_eq!(with_sidecar.bytes, std::fs::read(path("coloured.png")).expect("there"));
    }

    #[test]
    fn heights_that_depend_on_a_sidecar_are_converted_to_metres() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("south.png");
        save(&path, 0);
        save_sidecar(&path, "rows from south to north, each from west to east");
        let imported = check_opened_once(&path, open_any);
        assert_eq!((imported.path.extension().and_then(|it| it.to_str()), imported.range_m), (Some("exr"), None));
        let loaded = crate::files::formats::heightmap::decode(&imported.path, &imported.bytes, None).expect("readable");
        assert_eq!(loaded.raster.samples[..2], [0.0, 10.0], "5 of 255 is 0 m");
    }
}
