//! The document: the recipe and the files that it uses.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Arc;

use super::error::ProjectError;
use super::format::{IMPORT_EXTENSIONS, MAX_FILE_BYTES};
use super::imports::read_limited;
use super::settings::Water;
use crate::engine::Recipe;
use crate::engine::parameters::FileName;

/// The state that edits change and undo restores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// The title.
    pub name: String,
    /// A sentence that describes the terrain.
    pub description: String,
    /// Everything that determines the terrain and its texture.
    pub recipe: Recipe,
    /// The water shown over the terrain.
    pub water: Water,
    /// The bytes of the imported files, so that a project that is moved or mailed still opens.
    pub files: BTreeMap<FileName, Arc<Vec<u8>>>,
}

impl Project {
    /// Reads the files that the recipe names but the project does not contain, relative to `folder`.
    pub fn load_files(&mut self, folder: &Path) -> Result<(), ProjectError> {
        for name in self.recipe.files() {
            let available = self.remaining_file_bytes();
            if let Entry::Vacant(entry) = self.files.entry(name) {
                let path = folder.join(&entry.key().0);
                let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
                if !extension.is_some_and(|extension| IMPORT_EXTENSIONS.contains(&extension.as_str())) {
                    let known = IMPORT_EXTENSIONS.map(|extension| format!(".{extension}")).join(" ");
                    let reason =
                        format!("heightmaps and images with this extension are not supported; supported: {known}");
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_of_the_same_name_do_not_replace_each_other() {
        let mut project = Project::default();
        let names = [[1], [2], [1]].map(|bytes| project.import_file("a.png", bytes.to_vec()).0);
        assert_eq!(names, ["a.png", "a 2.png", "a.png"]);
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
