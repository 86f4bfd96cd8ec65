//! The pictures of projects, heightmaps and textures in the file browser.

use std::path::Path;
use std::sync::Arc;

use super::folder::FolderEntry;
use crate::files::formats::heightmap::Format;
use crate::files::formats::image::ImageFileFormat;
use crate::files::import::open_any;
use crate::project::ProjectFile;
use crate::worker::{ThumbnailRequest, ThumbnailSource, ThumbnailStyle};

/// The longer side of a picture of a project, pixels.
const PIXELS: usize = 192;

/// Larger files have no picture: decoding them would take processor time from what the user waits for.
const MAX_BYTES: u64 = 64 << 20;

/// The prefix of the keys of the pictures.
pub(super) const KEY_PREFIX: &str = "file ";

/// The key of a file's picture; `None` if it can have none. A file that has changed has another key.
pub(super) fn picture_key(entry: &FolderEntry) -> Option<String> {
    let is_known = is_project(&entry.path)
        || Format::from_path(&entry.path).is_ok()
        || ImageFileFormat::from_path(&entry.path).is_ok();
    let FolderEntry { path, is_folder, bytes, modified, .. } = entry;
    let has_picture = is_known && !is_folder && (1..=MAX_BYTES).contains(bytes);
    has_picture.then(|| format!("{KEY_PREFIX}{} {bytes} {modified:?}", path.display()))
}

fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// Reads what a picture is drawn from.
pub(super) fn read_picture(path: &Path) -> Result<ThumbnailSource, String> {
    if !is_project(path) {
        let file = open_any(path).map_err(|error| error.to_string())?;
        return match file.map {
            Some(map) => map.picture.map(ThumbnailSource::Image).ok_or_else(|| "the map has no extent".into()),
            None => Ok(ThumbnailSource::Material(Arc::new(file.bytes))),
        };
    }
    let mut file = ProjectFile::read(path).map_err(|error| error.to_string())?;
    if !file.files_outside(path).is_empty() {
        return Err("files outside the folder are only read when the user agrees".into());
    }
    file.load_files(path).map_err(|error| error.to_string())?;
    Ok(ThumbnailSource::Terrain(ThumbnailRequest {
        key: String::new(),
        recipe: Arc::new(file.project.recipe.clone()),
        files: file.project.files.clone(),
        pixels: PIXELS,
        style: ThumbnailStyle::Texture,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::project::Project;

    #[test]
    fn projects_heightmaps_and_textures_have_pictures() {
        let root = tempfile::tempdir().expect("folder");
        let path = |name: &str| root.path().join(name);
        std::fs::write(path("a.asc"), "ncols 3\nnrows 3\ncellsize 50\n1 2 3\n4 5 6\n7 8 9\n").expect("written");
        assert!(matches!(read_picture(&path("a.asc")), Ok(ThumbnailSource::Image(image)) if image.width == 2));
        image::RgbImage::from_fn(8, 8, |x, _| image::Rgb([200, 20 * x as u8, 0])).save(path("b.png")).expect("written");
        assert!(matches!(read_picture(&path("b.png")), Ok(ThumbnailSource::Material(_))));
        let mut project = Project::default();
        project.recipe.stack = vec![Step::new(Faults::default())];
        std::fs::write(path("c.upthrust.json"), ProjectFile::new(project).to_json()).expect("written");
        let read = read_picture(&path("c.upthrust.json"));
        assert!(matches!(read, Ok(ThumbnailSource::Terrain(request)) if request.recipe.stack.len() == 1));
        std::fs::write(path("d.json"), "{}").expect("written");
        assert!(read_picture(&path("d.json")).is_err());

        let entry = |name: &str, bytes| {
            let path = path(name);
            FolderEntry { name: name.into(), path, is_folder: false, bytes, modified: None }
        };
        assert!(picture_key(&entry("A.TIF", 9)).is_some());
        assert!(picture_key(&entry("notes.txt", 9)).is_none());
        assert!(picture_key(&entry("A.TIF", MAX_BYTES + 1)).is_none());
    }
}
