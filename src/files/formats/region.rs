//! Rectangular parts of a map or an image.

/// A rectangle of samples or pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Column and row of the north-west corner.
    pub first: [usize; 2],
    /// The number of samples or pixels from west to east and from north to south.
    pub size: [usize; 2],
}

impl Region {
    /// The region that covers a map or image of `size`.
    pub fn full(size: [usize; 2]) -> Self {
        Self { first: [0; 2], size }
    }
}
