//! Results of long computations that are kept between runs.
//!
//! Parts of large terrain are often computed one after another, each by a process of its own. Rivers need the same coarse
//! terrain for each of them, and blocks of which two parts have samples. The caller keeps these results, because the engine does
//! not access files. Without them, or if some are lost, the terrain is the same.

use std::fmt::{self, Debug, Display, Formatter};

use super::cast::ToInteger;
use super::heightfield::{Extent, Grid, Heightfield};
use super::progress::Cancelled;

/// Where results are kept.
pub trait KeptResults: Debug + Send + Sync {
    /// Whether there is a result.
    fn has(&self, key: &ResultKey) -> bool;
    /// A result, as it was kept; `None` if there is none.
    fn load(&self, key: &ResultKey) -> Option<Vec<u8>>;
    /// Keeps a result, unless there is a [problem](Self::problem).
    fn keep(&self, key: &ResultKey, contents: &[u8]);
    /// Why a result could not be kept, as a sentence. The next run has to compute it again.
    fn problem(&self) -> Option<String>;
}

/// A 64-bit hash: FNV-1a (G. Fowler, L. C. Noll and K.-P. Vo, 1991). It is the same in every version of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    /// The hash of no bytes.
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// The hash of the bytes before and these.
    pub fn with_bytes(self, bytes: impl IntoIterator<Item = u8>) -> Self {
        const PRIME: u64 = 0x0100_0000_01b3;
        Self(bytes.into_iter().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
    }

    /// The hash of what was before and the text of a value.
    pub fn with(self, value: &impl Debug) -> Self {
        self.with_bytes(format!("{value:?}").into_bytes())
    }

    /// The hash of what was before and the bits of these numbers.
    pub fn with_numbers(self, numbers: &[f32]) -> Self {
        self.with_bytes(bytes_of(numbers))
    }

    /// The number.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl Default for Hash {
    fn default() -> Self {
        Self::new()
    }
}

/// What a result is and what it depends on, apart from the recipe and its files. As text, a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultKey {
    /// What the result is.
    pub what: &'static str,
    /// A hash of all that it depends on.
    pub hash: Hash,
}

impl Display for ResultKey {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{}-{:016x}", self.what, self.hash.value())
    }
}

/// A result from those that are kept, or computed and kept then. `read` returns it from its bytes, or `None` if they are those
/// of something else.
pub(crate) fn kept_or_computed<T>(
    results: Option<(&dyn KeptResults, ResultKey)>,
    read: impl FnOnce(&[u8]) -> Option<T>,
    compute: impl FnOnce() -> Result<T, Cancelled>,
    bytes: impl FnOnce(&T) -> Vec<u8>,
) -> Result<T, Cancelled> {
    let Some((results, key)) = results else { return compute() };
    if let Some(known) = results.load(&key).and_then(|bytes| read(&bytes)) {
        return Ok(known);
    }
    let computed = compute()?;
    results.keep(&key, &bytes(&computed));
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
    fn hashes_are_those_of_the_published_function() {
        assert_eq!(Hash::new().value(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Hash::new().with_numbers(&[f32::from_le_bytes(*b"foob")]).value(), 0xdd12_0e79_0c25_12af);
        assert_eq!(Hash::new().with_bytes(*b"foobar").value(), 0x8594_4171_f739_67e8);
        let key = ResultKey { what: "block", hash: Hash::new().with_bytes(*b"a") };
        assert_eq!(key.to_string(), "block-af63dc4c8601ec8c");
        assert_ne!(Hash::new().with_numbers(&[0.0]), Hash::new().with_numbers(&[-0.0]));
    }
}
