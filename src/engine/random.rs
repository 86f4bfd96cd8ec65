//! Random numbers as a function of (recipe seed, step seed, iteration).
//!
//! `ChaCha8` is a counter-based generator whose output rand documents as portable. The iteration selects one of its 2⁶⁴
//! independent streams, so the numbers of an iteration do not depend on earlier iterations. The conversions to
//! floating-point numbers are implemented here, because those of rand may change between versions.

use rand::rngs::ChaCha8Rng;
use rand::{Rng as _, SeedableRng};

use crate::cast::ToFloat;

/// The random numbers of one step of a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    recipe_seed: u32,
    step_seed: u32,
}

impl Stream {
    /// Creates the stream of a step.
    pub fn new(recipe_seed: u32, step_seed: u32) -> Self {
        Self { recipe_seed, step_seed }
    }

    /// The stream of another step of the same recipe.
    pub fn with_step_seed(self, step_seed: u32) -> Self {
        Self { step_seed, ..self }
    }

    /// Other random numbers of the same step, for what is not one of its iterations.
    pub fn aside(self) -> Self {
        // Step seeds are small numbers in practice, so this is not the seed of another step.
        Self { step_seed: !self.step_seed, ..self }
    }

    /// The random numbers of one iteration, from the first.
    pub fn at(self, iteration: u64) -> Rng {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&self.recipe_seed.to_le_bytes());
        key[4..8].copy_from_slice(&self.step_seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(iteration);
        Rng { generator }
    }
}

/// A generator of the random numbers of one iteration.
#[derive(Debug)]
pub struct Rng {
    generator: ChaCha8Rng,
}

impl Rng {
    /// Uniform in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11).to_f64() * (1.0 / (1_u64 << 53).to_f64())
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_match_the_published_test_vectors() {
        // ChaCha8 with an all-zero key and stream 0: first word 0x2fef003e (draft-strombergson-chacha-test-vectors,
        // TC1, 8 rounds, 256-bit key: 3e 00 ef 2f 89 5f 40 d6).
        let mut rng = Stream::new(0, 0).at(0);
        assert_eq!(rng.generator.next_u64(), 0xd640_5f89_2fef_003e);
    }

    #[test]
    fn streams_are_reproducible_and_differ_from_each_other() {
        let first = |seed, step, iteration| Stream::new(seed, step).at(iteration).unit();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let all = [first(1, 2, 3), first(2, 1, 3), first(1, 2, 4), first(1, 3, 3)];
        for (i, a) in all.iter().enumerate() {
            assert!((0.0..1.0).contains(a));
            assert!(all[..i].iter().all(|b| a != b));
        }
    }
}
