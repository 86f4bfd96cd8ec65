//! Masks: the weight of a step, from 0 to 1, at every sample.

mod evaluated;
mod polygon;
mod sources;

pub use self::evaluated::{EvaluatedMask, MaskRow};
pub use self::sources::{Mask, MaskSource};
