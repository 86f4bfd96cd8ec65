//! A folder in which results of long computations are kept between runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::atomic::write_atomically;
use super::error::FileError;
use crate::engine::inputs::{Inputs, SampleScale};
use crate::engine::kept_results::{Hash, KeptResults, ResultKey};
use crate::engine::recipe::Recipe;

/// The results of one recipe, in a folder of its own. Damaged files count as missing.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    /// Why the first result that could not be kept was not.
    problem: Mutex<Option<String>>,
}

impl ResultFolder {
    /// The folder within `root` for the terrain of a recipe with these files at a position on the timeline, in this version of
    /// the program. It is created if it does not exist. Textures do not matter.
    pub fn open(
        root: &Path,
        terrain_version: u32,
        recipe: &Recipe,
        position: Option<u32>,
        inputs: &Inputs,
    ) -> io::Result<Self> {
        let Recipe { seed, world, stack, masks, .. } = recipe;
        let mut hash = Hash::new().with(&(terrain_version, seed, world, stack, masks, position));
        for (name, raster) in &inputs.rasters {
            let max = match raster.scale {
                SampleScale::Integers { max_value } => Some(max_value),
                SampleScale::Metres => None,
            };
            hash = hash.with(&(name, raster.width, raster.height, max)).with_numbers(&raster.samples);
        }
        let path = root.join(format!("{:016x}", hash.value()));
        std::fs::create_dir_all(&path)?;
        Ok(Self { path, problem: Mutex::default() })
    }

    fn file(&self, key: &ResultKey) -> PathBuf {
        self.path.join(format!("{key}.bin"))
    }
}

impl KeptResults for ResultFolder {
    fn has(&self, key: &ResultKey) -> bool {
        self.file(key).is_file()
    }

    fn load(&self, key: &ResultKey) -> Option<Vec<u8>> {
        let mut contents = std::fs::read(self.file(key)).ok()?;
        let (rest, checksum) = contents.split_last_chunk()?;
        if crc32fast::hash(rest) != u32::from_le_bytes(*checksum) {
            return None;
        }
        contents.truncate(rest.len());
        Some(contents)
    }

    fn keep(&self, key: &ResultKey, contents: &[u8]) {
        let path = self.file(key);
        let failed = |error| FileError::writing(&path, &error);
        let written = write_atomically(&path, true, |writer| {
            writer.write_all(contents).map_err(failed)?;
            writer.write_all(&crc32fast::hash(contents).to_le_bytes()).map_err(failed)
        });
        if let Err(error) = written {
            self.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
        }
    }

    fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;

    #[test]
    fn results_are_kept_for_the_terrain_they_belong_to_until_they_are_damaged() {
        let root = tempfile::tempdir().expect("a folder");
        let mut recipe = Recipe { stack: vec![Step::new(Faults::default())], ..Recipe::default() };
        let open = |recipe: &Recipe, position: Option<u32>| {
            ResultFolder::open(root.path(), 1, recipe, position, &Inputs::default()).expect("a folder")
        };
        let key = ResultKey { what: "block", hash: Hash::new().with(&(3, 4)) };
        let folder = open(&recipe, None);
        assert!(!folder.has(&key) && folder.load(&key).is_none());
        folder.keep(&key, b"terrain");
        recipe.texture.types.clear();
        assert_eq!(open(&recipe, None).load(&key), Some(b"terrain".to_vec()), "with another texture");
        assert!(!folder.has(&ResultKey { what: "world", ..key }));
        recipe.seed += 1;
        assert!(!open(&recipe, None).has(&key), "with another seed");
        recipe.seed -= 1;
        assert!(!open(&recipe, Some(5)).has(&key), "after fewer iterations");
        let file = folder.file(&key);
        for damaged in [&b"other terrain"[..], b"", b"ter"] {
            std::fs::write(&file, damaged).expect("written");
            assert_eq!(folder.load(&key), None, "{damaged:?}");
        }
        assert_eq!(folder.problem(), None);
        std::fs::remove_dir_all(&folder.path).expect("removed");
        folder.keep(&key, b"terrain");
        assert!(folder.problem().is_some_and(|problem| problem.contains("block-")), "{:?}", folder.problem());
    }
}
