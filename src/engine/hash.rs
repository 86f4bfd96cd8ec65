//! Hashes of terrain and of what it depends on.

use std::fmt::Debug;

/// A 64-bit hash: FNV-1a (G. Fowler, L. C. Noll and K.-P. Vo, 1991). Of bytes and numbers it never changes; of values it can change with
/// the program.
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
        self.with_bytes(numbers.iter().flat_map(|number| number.to_le_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_function() {
        assert_eq!(Hash::new().value(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Hash::new().with_numbers(&[f32::from_le_bytes(*b"foob")]).value(), 0xdd12_0e79_0c25_12af);
        assert_eq!(Hash::new().with_bytes(*b"foobar").value(), 0x8594_4171_f739_67e8);
        assert_ne!(Hash::new().with_numbers(&[0.0]), Hash::new().with_numbers(&[-0.0]));
    }
}
