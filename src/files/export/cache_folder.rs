//! A folder with results of long computations, which later builds can share.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::order::Order;
use crate::engine::hash::Hash;
use crate::engine::inputs::SampleScale;
use crate::engine::recipe::{Recipe, World};
use crate::engine::result_cache::{ResultCache, ResultKey};
use crate::files::io::atomic::write_cached;
use crate::files::io::error::FileError;
use crate::files::io::read::read_regular;

/// The version of what the files contain.
const FORMAT: u32 = 1;

/// The results for the terrain of one recipe, in a folder of its own. Damaged files count as missing.
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
    /// Why the first result that could not be stored was not.
    problem: Mutex<Option<String>>,
}

impl CacheFolder {
    /// The folder within `root` for the terrain of an order, in this version of the program. The textures and scatter layers of
    /// the recipe do not matter. It is created when the first result is stored; an error if `root` is no folder.
    pub fn new(root: &Path, terrain_version: u32, order: &Order) -> io::Result<Self> {
        if root.exists() && !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut terrain = order.recipe.clone();
        terrain.texture.types.clear();
        terrain.scatter.clear();
        terrain.stack.iter_mut().for_each(|step| step.settings.name.clear());
        let Recipe { seed, world: World { width_m, depth_m, height_range_m: _ }, stack, masks, .. } = &terrain;
        let version = (FORMAT, env!("CARGO_PKG_VERSION"), terrain_version);
        let mut hash = Hash::new().with(&(version, seed, width_m, depth_m, stack, masks, order.position));
        for name in terrain.heightmaps() {
            let Some(raster) = order.inputs.get(&name) else { continue };
            let max = match raster.scale {
                SampleScale::Integers { max_value } => Some(max_value),
                SampleScale::Metres => None,
            };
            hash = hash.with(&(name, raster.width, raster.height, max)).with_numbers(&raster.samples);
        }
        Ok(Self { path: root.join(format!("{:016x}", hash.value())), problem: Mutex::default() })
    }

    fn file(&self, key: &ResultKey) -> PathBuf {
        self.path.join(format!("{key}.bin"))
    }

    /// Writes the contents and their checksum.
    fn write(&self, file: &Path, contents: &[u8]) -> Result<(), FileError> {
        let failed = |error| FileError::writing(file, &error);
        fs::create_dir_all(&self.path).map_err(failed)?;
        write_cached(file, |writer| {
            let checksum = crc32fast::hash(contents).to_le_bytes();
            writer.write_all(contents).and_then(|()| writer.write_all(&checksum)).map_err(failed)
        })
    }
}

impl ResultCache for CacheFolder {
    fn get(&self, key: &ResultKey) -> Option<Vec<u8>> {
        let mut contents = read_regular(&self.file(key), u64::MAX).ok()?;
        let (rest, checksum) = contents.split_last_chunk()?;
        if crc32fast::hash(rest) != u32::from_le_bytes(*checksum) {
            return None;
        }
        contents.truncate(rest.len());
        Some(contents)
    }

    fn has(&self, key: &ResultKey) -> bool {
        self.file(key).is_file()
    }

    fn put(&self, key: &ResultKey, contents: &[u8]) {
        if let Err(error) = self.write(&self.file(key), contents) {
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
    use crate::engine::operations::faults::Faults;
    use crate::engine::{Grid, Step};

    #[test]
    fn results_belong_to_the_terrain_until_they_are_damaged() {
        let root = tempfile::tempdir().expect("a folder");
        let recipe = Recipe { stack: vec![Step::new(Faults::default())], ..Recipe::default() };
        let grid = Grid::fitted(recipe.world.extent(), 65);
        let mut order = Order::new("land", recipe, grid);
        let open = |order: &Order| CacheFolder::new(root.path(), 1, order).expect("a folder");
        let key = ResultKey { kind: "block", hash: Hash::new().with(&(3, 4)) };
        let folder = open(&order);
        assert!(folder.get(&key).is_none() && !folder.path.exists());
        folder.put(&key, b"terrain");
        order.recipe.texture.types.clear();
        order.recipe.stack[0].settings.name = "Other".into();
        assert_eq!(open(&order).get(&key), Some(b"terrain".to_vec()), "with another texture and name");
        assert_eq!(folder.get(&ResultKey { kind: "world", ..key }), None);
        for change in [|order: &mut Order| order.recipe.seed += 1, |order: &mut Order| order.position = Some(5)] {
            let mut other = order.clone();
            change(&mut other);
            assert_eq!(open(&other).get(&key), None);
        }
        let file = folder.file(&key);
        for damaged in [&b"other terrain"[..], b"", b"ter"] {
            fs::write(&file, damaged).expect("written");
            assert_eq!(folder.get(&key), None, "{damaged:?}");
        }
        assert_eq!(fs::read_dir(&folder.path).expect("a folder").count(), 1, "no temporary files");
        assert_eq!(folder.problem(), None);
        fs::remove_dir_all(&folder.path).expect("removed");
        fs::write(&folder.path, "a file").expect("written");
        folder.put(&key, b"terrain");
        assert!(folder.problem().is_some_and(|problem| problem.contains("block-")), "{:?}", folder.problem());
        assert!(CacheFolder::new(&folder.path, 1, &order).is_err(), "a file");
    }
}
