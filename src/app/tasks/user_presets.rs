//! The user's presets: projects in the config folder, each with a thumbnail next to it.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::app::dialogs::gallery::{UserPreset, thumbnail_path};
use crate::app::document::file_stem;
use crate::app::tasks::file_tasks::FileTaskResult;
use crate::engine::{Image, Progress};
use crate::files::FileError;
use crate::files::formats::image;
use crate::files::formats::image_decode::decode_texture;
use crate::files::io::atomic;
use crate::files::io::read::read_regular;
use crate::project::{PROJECT_SUFFIX, ProjectFile};

/// The most bytes to read of a thumbnail.
const MAX_THUMBNAIL_BYTES: u64 = 16 << 20;

/// Reads every preset in the folder, sorted by file name.
pub(crate) fn read_presets(folder: &Path) -> FileTaskResult {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(PROJECT_SUFFIX));
    paths.sort();
    let (mut presets, mut broken) = (Vec::new(), None);
    for path in paths {
        match ProjectFile::open(&path) {
            Ok(file) => {
                let thumbnail = thumbnail_path(&path);
                let bytes = read_regular(&thumbnail, MAX_THUMBNAIL_BYTES);
                let thumbnail = bytes.ok().and_then(|bytes| decode_texture(&thumbnail, &bytes).ok());
                presets.push(UserPreset { path, file, thumbnail });
            }
            Err(error) => broken = Some(format!("{}: {error}", path.display())),
        }
    }
    FileTaskResult::Presets { presets, broken }
}

/// Writes a project over a preset, or to the folder under an unused file name.
fn save(folder: &Path, file: &ProjectFile, replaced: Option<PathBuf>) -> Result<PathBuf, FileError> {
    std::fs::create_dir_all(folder).map_err(|error| FileError::writing(folder, &error))?;
    let (stem, text) = (file_stem(&file.project), file.to_json());
    if let Some(path) = replaced {
        atomic::write_atomically(&path, true, |writer| {
            writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(&path, &error))
        })?;
        // It shows what was replaced; without it, the gallery draws another one.
        let _ = std::fs::remove_file(thumbnail_path(&path));
        return Ok(path);
    }
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{suffix}{PROJECT_SUFFIX}"));
        let written = atomic::write_atomically(&path, false, |writer| {
            writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(&path, &error))
        });
        match written {
            Ok(()) => return Ok(path),
            Err(FileError::Exists(_)) if number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Writes the thumbnail of a preset.
pub(crate) fn write_thumbnail(path: &Path, thumbnail: &Image) -> FileTaskResult {
    let written =
        atomic::write_atomically(path, true, |writer| image::write(writer, path, thumbnail, &Progress::new()));
    match written {
        Ok(()) => FileTaskResult::Done,
        Err(error) => FileTaskResult::Failed(error.to_string()),
    }
}

/// Deletes a preset and its thumbnail.
pub(crate) fn delete_preset(path: &Path) -> FileTaskResult {
    // Fails if the preset has no thumbnail.
    let _ = std::fs::remove_file(thumbnail_path(path));
    match std::fs::remove_file(path) {
        Ok(()) => FileTaskResult::Done,
        Err(error) => FileTaskResult::Failed(format!("cannot delete the preset {}: {error}", path.display())),
    }
}

/// Saves a project as a new preset, or over the one that it replaces.
pub(crate) fn save_preset(folder: &Path, file: &ProjectFile, replaced: Option<PathBuf>) -> FileTaskResult {
    match save(folder, file, replaced) {
        Ok(path) => FileTaskResult::PresetSaved { path },
        Err(error) => FileTaskResult::Failed(error.to_string()),
    }
}
