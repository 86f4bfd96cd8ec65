//! A cache of long computations, which later runs of the program can share.
//!
//! Tiles of large terrain are often computed one after another, each by a process of its own. Rivers need the same coarse
//! terrain for each of them, and blocks of which two tiles have samples. The caller stores these results, because the engine does
//! not access files. Without them, or if some are lost, the terrain is the same.

use std::fmt::{self, Debug, Display, Formatter};

use super::cast::ToInteger;
use super::hash::Hash;
use super::heightfield::{Extent, Grid, Heightfield};
use super::progress::Cancelled;

/// Stores the results of one recipe with its files. It may lose them.
pub trait ResultCache: Debug + Send + Sync {
    /// A result as it was stored; `None` if there is none.
    fn get(&self, key: &ResultKey) -> Option<Vec<u8>>;
    /// Whether a result is stored. It can be damaged.
    fn has(&self, key: &ResultKey) -> bool;
    /// Stores a result, unless there is a [problem](Self::problem).
    fn put(&self, key: &ResultKey, contents: &[u8]);
    /// Why a result could not be stored, as a sentence. The next run has to compute it again.
    fn problem(&self) -> Option<String>;
}

/// What a result is and what it depends on, apart from the recipe and its files. As text, a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultKey {
    /// What the result is.
    pub kind: &'static str,
    /// A hash of all that it depends on.
    pub hash: Hash,
}

impl Display for ResultKey {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{}-{:016x}", self.kind, self.hash.value())
    }
}

/// The cache for one step of the recipe.
#[derive(Clone, Copy, Debug)]
pub struct StepCache<'a> {
    /// The cache.
    pub cache: &'a dyn ResultCache,
    /// A hash of the step, its random numbers and the size of the map.
    pub hash: Hash,
}

/// A result from the cache, or computed and stored then. `read` returns it from its bytes, or `None` if they are those of
/// something else.
pub(crate) fn cached_or_computed<T>(
    cache: Option<(&dyn ResultCache, ResultKey)>,
    read: impl FnOnce(&[u8]) -> Option<T>,
    compute: impl FnOnce() -> Result<T, Cancelled>,
    bytes: impl FnOnce(&T) -> Vec<u8>,
) -> Result<T, Cancelled> {
    let Some((cache, key)) = cache else { return compute() };
    if let Some(known) = cache.get(&key).and_then(|bytes| read(&bytes)) {
        return Ok(known);
    }
    let computed = compute()?;
    cache.put(&key, &bytes(&computed));
    Ok(computed)
}

/// Takes so many values of `N` bytes from the front of some bytes; `None` if there are too few.
pub(crate) fn take<const N: usize, T>(bytes: &mut &[u8], count: usize, value: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (values, rest) = bytes.split_at_checked(count.checked_mul(N)?)?;
    *bytes = rest;
    Some(values.as_chunks().0.iter().map(|bytes| value(*bytes)).collect())
}

/// The little-endian bytes of numbers.
pub(crate) fn bytes_of(numbers: &[f32]) -> impl Iterator<Item = u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes())
}

impl Heightfield {
    /// The bytes of terrain on a full grid, with its size.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Extent { width_m, depth_m } = self.grid().extent();
        let sides = [self.grid().width(), self.grid().height()].map(ToInteger::to_u64);
        let sides = sides.into_iter().flat_map(u64::to_le_bytes);
        let lengths = [width_m, depth_m].into_iter().flat_map(f64::to_le_bytes);
        sides.chain(lengths).chain(bytes_of(self.heights())).collect()
    }

    /// The terrain from its [bytes](Self::to_bytes); `None` if these are others.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let sides = take(&mut bytes, 2, u64::from_le_bytes)?;
        let lengths = take(&mut bytes, 2, f64::from_le_bytes)?;
        let [width, height] = [sides[0], sides[1]].map(|side| usize::try_from(side).ok());
        let grid = Grid::new(Extent { width_m: lengths[0], depth_m: lengths[1] }, width?, height?);
        let heights = take(&mut bytes, grid.samples(), f32::from_le_bytes)?;
        Self::from_heights(grid, heights).filter(|_| bytes.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terrain_is_the_same_after_it_was_bytes() {
        let grid = Grid::new(Extent { width_m: 700.0, depth_m: 300.5 }, 9, 5);
        let terrain = Heightfield::from_fn(grid, |c, r| 0.1 * c as f32 - 7.3 * r as f32);
        let bytes = terrain.to_bytes();
        assert_eq!(Heightfield::from_bytes(&bytes), Some(terrain));
        for damaged in [&bytes[..20], &bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
            assert_eq!(Heightfield::from_bytes(damaged), None);
        }
    }

    #[test]
    fn keys_are_file_names() {
        let key = ResultKey { kind: "block", hash: Hash::new().with_bytes(*b"a") };
        assert_eq!(key.to_string(), "block-af63dc4c8601ec8c");
    }
}
