//! The contents of the files that a recipe names, read by somebody else: the engine touches no file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::parameters::{FileName, TextureName};
use super::texture::Swatch;

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

/// The files of a recipe, read and decoded, by the names that it uses.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Heightmaps, for steps and masks.
    pub rasters: BTreeMap<FileName, Arc<Raster>>,
    /// Tileable pictures, for terrain types.
    pub swatches: BTreeMap<TextureName, Arc<Swatch>>,
}

impl Inputs {
    /// The heightmap of that name.
    pub fn get(&self, name: &FileName) -> Option<&Raster> {
        self.rasters.get(name).map(Arc::as_ref)
    }

    /// The tileable picture of that name.
    pub fn swatch(&self, name: &TextureName) -> Option<&Arc<Swatch>> {
        self.swatches.get(name)
    }

    /// The bytes that they take.
    pub fn bytes(&self) -> u64 {
        let rasters = self.rasters.values().map(|raster| size_of::<f32>() * raster.samples.len());
        rasters.chain(self.swatches.values().map(|swatch| swatch.bytes())).sum::<usize>() as u64
    }

    /// Whether both give the same heightmaps.
    pub fn same_rasters(&self, other: &Self) -> bool {
        let same_raster = |(name, raster)| other.rasters.get(name).is_some_and(|known| Arc::ptr_eq(known, raster));
        self.rasters.len() == other.rasters.len() && self.rasters.iter().all(same_raster)
    }
}
