//! The document: the recipe and the files that it uses.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ProjectError;
use super::format::{IMPORT_EXTENSIONS, MAX_FILE_BYTES, PROJECT_SUFFIX};
use super::imports::read_limited;
use super::settings::Water;
use crate::engine::level::Level;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::parameters::{Band, FileName};
use crate::engine::texture::TextureRecipe;
use crate::engine::{Extent, Origin, Recipe, Step};

/// The state that edits change and undo restores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// The title.
    pub name: String,
    /// A sentence that describes the terrain.
    pub description: String,
    /// Everything that determines the terrain and its texture.
    pub recipe: Recipe,
    /// Spawns and other places of the level.
    pub level: Level,
    /// The water shown over the terrain.
    pub water: Water,
    /// Where the world lies on Earth, if it does.
    pub origin: Option<Origin>,
    /// The bytes of the imported files, so that a project still opens when it is moved or sent to somebody.
    pub files: BTreeMap<FileName, Arc<Vec<u8>>>,
}

/// A heightmap that becomes a project of its own.
#[derive(Debug)]
pub struct OpenedHeightmap {
    /// The name of the project.
    pub name: String,
    /// The name of the file in the project.
    pub file_name: String,
    /// The contents of the file.
    pub bytes: Vec<u8>,
    /// The heights of the lowest and the highest value; `None` if the samples are metres.
    pub range_m: Option<Band>,
    /// The lowest and the highest height of the map, over which the terrain types are spread; `None`: those of a new
    /// project.
    pub heights_m: Option<Band>,
    /// The size of the map; `None`: the world has the default size.
    pub extent: Option<Extent>,
    /// Where the map lies on Earth.
    pub origin: Option<Origin>,
}

impl Project {
    /// The project of a single heightmap: a world of its size with one step.
    pub fn of_heightmap(map: OpenedHeightmap) -> Self {
        let OpenedHeightmap { name, file_name, bytes, range_m, heights_m, extent, origin } = map;
        let mut project = Self { name, origin, ..Self::default() };
        let file = project.import_file(&file_name, bytes);
        let [low_m, high_m] = range_m.map_or([None; 2], |range| [Some(range.min), Some(range.max)]);
        project.recipe.stack.push(Step::new(Heightmap { file, low_m, high_m, ..Heightmap::default() }));
        if let Some(extent) = extent {
            project.recipe.world.set_extent(extent);
        }
        if let Some(heights_m) = heights_m {
            project.recipe.texture = TextureRecipe::starter_over(heights_m);
        }
        project
    }

    /// The files that [`load_files`](Self::load_files) would read outside `folder`, by absolute paths, `..` or links.
    pub fn files_outside(&self, folder: &Path) -> Vec<PathBuf> {
        let missing =
            self.recipe.files().into_iter().filter(|name| !self.files.contains_key(name) && !is_on_network(&name.0));
        let outside = missing.map(|name| folder.join(name.0)).filter(|path| !is_inside(folder, path));
        // As the user would look for them, without `..`.
        outside.map(|path| path.canonicalize().unwrap_or(path)).collect()
    }

    /// Reads the files that the recipe names but the project does not contain, relative to `folder`.
    pub fn load_files(&mut self, folder: &Path) -> Result<(), ProjectError> {
        for name in self.recipe.files() {
            let available = self.remaining_file_bytes();
            if let Entry::Vacant(entry) = self.files.entry(name) {
                let path = folder.join(&entry.key().0);
                let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
                let is_map = extension.is_some_and(|extension| IMPORT_EXTENSIONS.contains(&extension.as_str()));
                if !is_map && !entry.key().0.ends_with(PROJECT_SUFFIX) {
                    let known = IMPORT_EXTENSIONS.map(|extension| format!(".{extension}")).join(" ");
                    let reason = format!(
                        "heightmaps and images with this extension are not supported; supported: {known} \
                         {PROJECT_SUFFIX}"
                    );
                    return Err(ProjectError::Unreadable(path, reason));
                }
                if is_on_network(&entry.key().0) {
                    let reason = "files on network shares are not read; copy it to this computer".into();
                    return Err(ProjectError::Unreadable(path, reason));
                }
                entry.insert(Arc::new(read_limited(&path, available)?));
            }
        }
        Ok(())
    }

    /// The bytes of imported files that can be added before the project becomes too large to open.
    pub fn remaining_file_bytes(&self) -> u64 {
        let used = self.files.values().map(|bytes| bytes.len() as u64).sum();
        MAX_FILE_BYTES.saturating_sub(used)
    }

    /// Adds an imported file under a unique name, which it returns. A file with the same name and bytes is reused.
    pub fn import_file(&mut self, file_name: &str, bytes: Vec<u8>) -> FileName {
        let bytes = Arc::new(bytes);
        let (stem, extension) = file_name.rsplit_once('.').unwrap_or((file_name, ""));
        let numbered = |number: u32| match number {
            1 => file_name.to_string(),
            _ if extension.is_empty() => format!("{stem} {number}"),
            _ => format!("{stem} {number}.{extension}"),
        };
        let name = (1..)
            .map(|number| FileName(numbered(number)))
            .find(|name| self.files.get(name).is_none_or(|known| *known == bytes))
            .unwrap_or_default();
        self.files.insert(name.clone(), bytes);
        name
    }
}

/// Whether a file is in a folder or one of its subfolders. Links are followed.
fn is_inside(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        // A file that does not exist cannot be read either.
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => true,
        _ => false,
    }
}

/// Whether a name is that of a file on another computer, which Windows would log in to, or of a device.
fn is_on_network(name: &str) -> bool {
    let name = name.replace('/', r"\");
    name.starts_with(r"\\") || name.starts_with(r"\??\")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::texture::Unit;

    #[test]
    fn files_of_the_same_name_do_not_replace_each_other() {
        let mut project = Project::default();
        let names = [[1], [2], [1]].map(|bytes| project.import_file("a.png", bytes.to_vec()).0);
        assert_eq!(names, ["a.png", "a 2.png", "a.png"]);
    }

    #[test]
    fn the_terrain_types_of_a_heightmap_are_spread_over_its_heights() {
        let of = |heights_m| {
            let (name, file_name, bytes) = ("Map".into(), "map.r32".into(), vec![0; 16]);
            let map = OpenedHeightmap { name, file_name, bytes, range_m: None, heights_m, extent: None, origin: None };
            Project::of_heightmap(map).recipe.texture
        };
        let texture = of(Some(Band { min: 1200.0, max: 2200.0 }));
        assert_eq!(texture.settings.unit, Unit::Metres);
        let found = |name: &str| texture.types.iter().find(|found| found.name == name).expect("a type").elevation;
        assert_eq!(found("Sand"), Band { min: -10_000.0, max: 1240.0 });
        assert_eq!(found("Scree"), Band { min: 1780.0, max: 2000.0 });
        assert_eq!(of(None), TextureRecipe::starter());
    }

    #[test]
    fn files_outside_the_folder_are_named() {
        let root = tempfile::tempdir().expect("folder");
        let folder = root.path().join("project");
        std::fs::create_dir_all(folder.join("maps")).expect("made");
        for path in [root.path().join("secret.png"), folder.join("maps/a.png")] {
            std::fs::write(path, [1]).expect("written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path().join("secret.png"), folder.join("link.png")).expect("linked");
        let outside = |name: &str| {
            let json = json!({"stack": [{"operation": "heightmap", "file": name}]});
            let recipe = Recipe::from_json(&json).expect("valid");
            let mut project = Project { recipe, ..Default::default() };
            let found = project.files_outside(&folder).len();
            let _ = project.load_files(&folder);
            assert!(project.files_outside(&folder).is_empty() || project.files.is_empty(), "read once");
            found
        };
        let absolute = root.path().join("secret.png").display().to_string();
        assert_eq!(["maps/a.png", "maps/../maps/a.png", "none.png"].map(outside), [0; 3]);
        assert_eq!([absolute.as_str(), "../secret.png"].map(outside), [1; 2]);
        #[cfg(unix)]
        assert_eq!(outside("link.png"), 1);
        for name in
            ["//host/share/a.png", r"\\host\share\a.png", r"\\.\C:\a.png", r"\/host\share\a.png", r"\??\UNC\host\a.png"]
        {
            let recipe =
                Recipe::from_json(&json!({"stack": [{"operation": "heightmap", "file": name}]})).expect("valid");
            let error = Project { recipe, ..Default::default() }.load_files(&folder).expect_err(name);
            assert!(error.to_string().contains("network"), "{error}");
        }
    }

    #[test]
    fn only_heightmaps_next_to_a_project_are_loaded() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.png"), [1, 2, 3]).expect("written");
        std::fs::write(path("secret"), "s").expect("written");
        std::fs::create_dir(path("folder.png")).expect("made");
        let load = |name: &str| {
            let json = json!({"stack": [{"operation": "heightmap", "file": name}]});
            let recipe = Recipe::from_json(&json).expect("valid");
            let mut project = Project { recipe, ..Default::default() };
            project.load_files(folder.path()).map(|()| project).map_err(|error| error.to_string())
        };
        let project = load("a.png").expect("readable");
        assert_eq!(project.remaining_file_bytes(), MAX_FILE_BYTES - 3);
        for (name, message) in [
            ("secret", "supported: .png"),
            ("/dev/zero", "supported: .png"),
            ("folder.png", "not a regular file"),
            ("none.png", "cannot read"),
        ] {
            let error = load(name).expect_err(name);
            assert!(error.contains(name) && error.contains(message), "{error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/zero", path("zero.png")).expect("linked");
            assert!(load("zero.png").expect_err("endless").contains("not a regular file"));
        }
    }
}
