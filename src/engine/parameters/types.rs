//! The types of fields that are more than a number, a switch or a text.

use std::fmt;

/// A closed interval, for hard ranges and slider ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest value in the interval.
    pub low: f64,
    /// The highest value in the interval.
    pub high: f64,
}

impl Range {
    /// Whether `value` is in the interval; NaN and infinities never are.
    pub fn contains(self, value: f64) -> bool {
        value.is_finite() && value >= self.low && value <= self.high
    }
}

/// The name of a heightmap, a mask image or a project that the recipe uses; its contents are in
/// [`crate::Inputs`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName(pub String);

impl FileName {
    /// The beginning of the names of stamps that ship with the program.
    pub const SHIPPED: &'static str = "assets/stamps/";
    /// The end of the names of projects.
    pub const PROJECT_SUFFIX: &'static str = ".upthrust.json";

    /// Whether the file is a stamp that ships with the program; the others are imported.
    pub fn is_shipped(&self) -> bool {
        self.0.starts_with(Self::SHIPPED) && self.0.ends_with(Self::PROJECT_SUFFIX)
    }

    /// Whether the file is a project, whose terrain is used as a heightmap.
    pub fn is_project(&self) -> bool {
        self.0.to_ascii_lowercase().ends_with(".json")
    }
}

/// The name of a tileable texture; its pixels are in [`crate::Inputs`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextureName(pub String);

impl TextureName {
    /// The prefix of the names of shipped textures.
    pub const SHIPPED: &'static str = "assets/";

    /// Whether the texture ships with the program; the others are imported.
    pub fn is_shipped(&self) -> bool {
        self.0.starts_with(Self::SHIPPED)
    }
}

/// A colour in sRGB, 8 bits per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// White.
    pub const WHITE: Self = Self([255; 3]);

    /// Parses `#rrggbb`.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// An interval of heights or angles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// The lower limit.
    pub min: f64,
    /// The upper limit.
    pub max: f64,
}

/// An interval that fades out on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The lower limit.
    pub min: f64,
    /// The upper limit.
    pub max: f64,
    /// The width of the fade outside the limits.
    pub release: f64,
}

/// A value and how often it is chosen relative to others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// Its weight, not negative; only the ratio to the other weights counts.
    pub weight: f64,
}

/// The largest coordinate of a point on the map, which is the longest side of a world.
pub(crate) const MAX_COORDINATE_M: f64 = 1_000_000.0;

/// A position on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Metres east of the west border.
    pub x_m: f64,
    /// Metres south of the north border.
    pub z_m: f64,
}

/// A square of numbers around a sample, 3 × 3 or 5 × 5, row by row, northernmost row first.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix(Vec<f64>);

impl Matrix {
    /// The sides that a matrix can have.
    pub const SIDES: [usize; 2] = [3, 5];

    /// A 3 × 3 matrix.
    pub fn three(rows: [[f64; 3]; 3]) -> Self {
        Self(rows.concat())
    }

    /// A 5 × 5 matrix.
    pub fn five(rows: [[f64; 5]; 5]) -> Self {
        Self(rows.concat())
    }

    /// A matrix of 9 or 25 numbers in row order; `None` for any other count.
    pub fn from_numbers(numbers: Vec<f64>) -> Option<Self> {
        Self::SIDES.iter().any(|side| side * side == numbers.len()).then_some(Self(numbers))
    }

    /// The matrix with `side` rows, 3 or 5: cut down around the centre, or surrounded by zeros.
    #[must_use]
    pub fn resized(&self, side: usize) -> Self {
        let side = if side == 3 { 3 } else { 5 };
        let rows: Vec<&[f64]> = self.rows().collect();
        let source = |i: usize| (i + rows.len() / 2).checked_sub(side / 2);
        let number = |r: usize, c: usize| rows.get(source(r)?)?.get(source(c)?).copied();
        Self((0..side * side).map(|i| number(i / side, i % side).unwrap_or_default()).collect())
    }

    /// The number of rows, and of numbers in each.
    pub fn side(&self) -> usize {
        if self.0.len() == 9 { 3 } else { 5 }
    }

    /// The rows from north to south, each from west to east.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.0.chunks_exact(self.side())
    }

    /// The numbers in row order.
    pub fn numbers(&self) -> &[f64] {
        &self.0
    }

    /// The numbers in row order, to be changed in place.
    pub fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}
