//! Opening a file as a heightmap or as the texture of a material. Each file is read once and decoded once.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::{DynamicImage, GenericImageView, Rgba};

use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::operations::AnyOperation;
use crate::engine::parameters::{Band, FileName};
use crate::engine::{Grid, Heightfield, Progress, Raster, Recipe, SampleScale};
use crate::files::formats::heightmap::{
    Encoding, Format, LoadedHeightmap, Rows, apply_sidecar, from_image, read_bytes, write,
};
use crate::files::formats::image::ImageFileFormat;
use crate::files::formats::image_decode::decode_dynamic;
use crate::files::formats::numbers::metres;
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
    /// The heights of the lowest and the highest value; `None` if the samples are metres.
    pub range_m: Option<Band>,
    /// The size of the map on the ground, if anything says it.
    pub extent: Option<Extent>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Whether it is the texture of a material, not a heightmap.
    pub is_texture: bool,
}

/// Integers without a sidecar that are no higher than the highest mountain are probably metres.
const LIKELY_METRES: f32 = 9000.0;

/// The height of white in an image whose heights nothing says, metres.
const WHITE_M: f64 = 1000.0;

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
    ImportedFile { path: path.to_path_buf(), bytes, range_m: None, extent: None, notes, is_texture: true }
}

fn heightmap(path: &Path, bytes: Vec<u8>, loaded: LoadedHeightmap) -> Result<ImportedFile, FileError> {
    let converted = converted_to_metres(path, &loaded)?;
    let samples = || loaded.raster.samples.iter().copied();
    let (low, high) = (samples().fold(f32::INFINITY, f32::min), samples().fold(f32::NEG_INFINITY, f32::max));
    let extent = loaded.extent();
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
            Some(Band { min: 0.0, max: WHITE_M })
        }
        // Gaea and World Machine write shares of a height that only the user knows.
        (None, SampleScale::Metres) if low >= 0.0 && high <= 1.0 && low < high => {
            notes.push(format!(
                "its values from {low} to {high} are taken as shares of {} m; change Low and High if they are not",
                WHITE_M
            ));
            Some(Band { min: WHITE_M * f64::from(low), max: WHITE_M * f64::from(high) })
        }
        (None, SampleScale::Metres) => {
            notes.push(format!("{low} to {high} m"));
            None
        }
    };
    if let Some(Extent { width_m, depth_m }) = extent {
        notes.push(format!("it is {} × {} m in size", metres(width_m), metres(depth_m)));
    }
    let (path, bytes) = converted.unwrap_or_else(|| (path.to_path_buf(), bytes));
    Ok(ImportedFile { path, bytes, range_m, extent, notes, is_texture: false })
}

/// Uses the sidecars of heightmaps that were just read from `folder`, not `embedded` in the project: a file that cannot be decoded
/// without its sidecar is replaced by its heights in metres, and a step without a height range takes that of the sidecar.
/// Returns what the user should know, such as that a map is stretched.
pub fn apply_sidecars(
    recipe: &mut Recipe,
    files: &mut InputFiles,
    embedded: &BTreeSet<FileName>,
    folder: &Path,
) -> Result<Vec<String>, FileError> {
    let world = recipe.world.extent();
    let mut notes = Vec::new();
    for step in &mut recipe.stack {
        let AnyOperation::Heightmap(heightmap) = &mut step.operation else { continue };
        let (false, Some(bytes)) = (embedded.contains(&heightmap.file), files.get(&heightmap.file)) else { continue };
        let path = folder.join(&heightmap.file.0);
        let loaded = read_bytes(&path, bytes, None)?;
        let extent = loaded.extent();
        if loaded.sidecar.is_some() {
            let imported = self::heightmap(&path, bytes.to_vec(), loaded)?;
            if heightmap.low_m.is_none() && heightmap.high_m.is_none() {
                (heightmap.low_m, heightmap.high_m) =
                    imported.range_m.map_or((None, None), |range| (Some(range.min), Some(range.max)));
            }
            if imported.path != path {
                let name = Path::new(&heightmap.file.0).with_extension("exr").to_string_lossy().into_owned();
                heightmap.file = FileName(name);
                files.insert(heightmap.file.clone(), Arc::new(imported.bytes));
            }
        }
        if let Some(Extent { width_m, depth_m }) = extent.filter(|extent| !is_same_size(*extent, world)) {
            notes.push(format!(
                "{} is {} × {} m in size, but the world is {} × {} m",
                path.display(),
                metres(width_m),
                metres(depth_m),
                metres(world.width_m),
                metres(world.depth_m)
            ));
        }
    }
    Ok(notes)
}

/// Whether two sizes differ by less than a thousandth.
pub fn is_same_size(a: Extent, b: Extent) -> bool {
    [a.width_m / b.width_m, a.depth_m / b.depth_m].iter().all(|ratio| (ratio - 1.0).abs() < 1e-3)
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

    #[test]
    fn the_size_on_the_ground_is_known_from_the_file_or_its_sidecar() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("alps.asc");
        std::fs::write(&path, "ncols 3\nnrows 2\ncellsize 500\n1 2 3\n4 -9999 6\n").expect("written");
        let imported = open_any(&path).expect("readable");
        let extent = imported.extent.expect("known");
        assert_eq!((extent.width_m, extent.depth_m), (1000.0, 500.0));
        let notes = imported.notes.join("; ");
        assert!(notes.contains("1 samples without a height") && notes.contains("1000 × 500 m"), "{notes}");
        let path = folder.path().join("grey.png");
        save(&path, 0);
        assert_eq!(open_any(&path).expect("readable").extent, None);
        save_sidecar(&path, "");
        let extent = open_any(&path).expect("readable").extent.expect("known");
        assert_eq!((extent.width_m, extent.depth_m), (7.0, 5.0));
    }

    #[test]
    fn shares_of_a_height_are_not_taken_as_metres() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("gaea.asc");
        std::fs::write(&path, "ncols 2\nnrows 2\n0.25 0.5\n0.5 1\n").expect("written");
        let imported = open_any(&path).expect("readable");
        assert_eq!(imported.range_m, Some(Band { min: 250.0, max: 1000.0 }));
        assert!(imported.notes.iter().any(|note| note.contains("shares of 1000 m")), "{:?}", imported.notes);
    }

    #[test]
    fn a_project_by_hand_uses_the_sidecars_beside_it() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("south.png");
        save(&path, 0);
        save_sidecar(&path, "rows from south to north, each from west to east");
        let name = FileName("south.png".into());
        let step = |low_m| {
            crate::engine::Step::new(crate::engine::operations::heightmap::Heightmap {
                file: name.clone(),
                low_m,
                ..Default::default()
            })
        };
        let mut recipe = Recipe { stack: vec![step(None)], ..Default::default() };
        let bytes = std::fs::read(&path).expect("there");
        let mut files: InputFiles = [(name.clone(), Arc::new(bytes))].into();
        let (before, kept) = (recipe.clone(), files.clone());
        let embedded =
            apply_sidecars(&mut recipe, &mut files, &[name.clone()].into(), folder.path()).expect("readable");
        assert_eq!(
            (recipe.clone(), files.clone(), embedded),
            (before, kept, Vec::new()),
            "embedded files are complete"
        );
        let notes = apply_sidecars(&mut recipe, &mut files, &BTreeSet::new(), folder.path()).expect("readable");
        assert!(notes.len() == 1 && notes[0].contains("7 × 5 m in size, but the world is 4096 × 4096 m"), "{notes:?}");
        let AnyOperation::Heightmap(heightmap) = &recipe.stack[0].operation else { panic!("a heightmap") };
        assert_eq!(heightmap.file, FileName("south.exr".into()));
        assert!(files.contains_key(&heightmap.file));
    }
}
