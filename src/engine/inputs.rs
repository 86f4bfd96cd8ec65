//! The contents of the files that a recipe names, read by somebody else: the engine touches no file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::parameters::FileName;

/// What the numbers of a raster mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleScale {
    /// Whole numbers from 0 to this greatest value, without a unit.
    Integers {
        /// The greatest value that the format can hold.
        greatest: f32,
    },
    /// Heights in metres.
    Metres,
}

/// A rectangle of numbers from an image or heightmap file, row-major, north on top.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Samples from west to east.
    pub width: usize,
    /// Samples from north to south.
    pub height: usize,
    /// width × height numbers.
    pub samples: Vec<f32>,
    /// What they mean.
    pub scale: SampleScale,
}

/// The rasters of a recipe by the names that its steps use.
#[derive(Clone, Debug, Default)]
pub struct Inputs(pub BTreeMap<FileName, Arc<Raster>>);

impl Inputs {
    /// The raster of that name.
    pub fn get(&self, name: &FileName) -> Option<&Raster> {
        self.0.get(name).map(Arc::as_ref)
    }
}

/// Two sets of inputs are equal if they hold the very same rasters: comparing their samples would cost too much.
impl PartialEq for Inputs {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|((a, x), (b, y))| a == b && Arc::ptr_eq(x, y))
    }
}
