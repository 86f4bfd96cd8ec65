//! New seeds.

use std::hash::{BuildHasher, RandomState};

use crate::engine::cast::ToInteger;
use crate::engine::random::Stream;

/// Generates the seeds of the command "New seed".
pub(crate) struct SeedGenerator {
    stream: Stream,
    count: u64,
}

impl SeedGenerator {
    /// The number of different seeds: few enough to read one out to somebody.
    const RANGE: f64 = 100_000.0;

    /// A generator that gives the same seeds every time.
    pub(crate) fn seeded(seed: u32) -> Self {
        Self { stream: Stream::new(seed, 0), count: 0 }
    }

    /// A generator seeded by the operating system, through the keys of the standard library's hash maps.
    pub(crate) fn random() -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "any 32 bits of the hash will do")]
        let seed = RandomState::new().hash_one(0_u8) as u32;
        Self::seeded(seed)
    }

    /// The next seed.
    pub(crate) fn next(&mut self) -> u32 {
        self.count += 1;
        (self.stream.at(self.count).unit() * Self::RANGE).to_u32()
    }
}
