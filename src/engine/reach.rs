//! What terrain a map or a mask at a place depends on.

/// The terrain that an analysis map or a mask at a place depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// That of neighbouring samples.
    Surroundings,
    /// All of it, but beyond its surroundings an [overview](crate::stack::overview) is enough.
    Overview,
    /// What lies upstream, through the drainage areas.
    Drainage,
    /// All of it, unless rivers have drained its depressions.
    Depressions,
    /// All of it.
    Complete,
}
