//! Masks: the weight of a step, from 0 to 1, at every sample.
//!
//! A mask is a list of sources. With v, the weight by the sources before, and m, that by a source, inverted if it is,
//! the weight becomes v + strength·(combined − v), where combined is v·m, v + m, v − m, the lower or the higher of both,
//! limited to 0…1. The first source begins from 0 with m, whatever its way of combining.

mod evaluated;
mod painting;
mod polygon;
mod shapes;
mod sources;

pub use self::evaluated::{DistantTerrain, EvaluatedMasks, MaskRow};
pub use self::painting::PaintedStroke;
pub use self::shapes::{MaskShapes, PathsOf};
pub use self::sources::{Combine, Mask, MaskReferences, MaskSource, NamedMasks};
