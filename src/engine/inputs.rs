//! The contents of the files that a recipe names. The caller reads them, because the engine does not access files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::parameters::{FileName, TextureName};
use super::texture::Swatch;

/// The meaning of a raster's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleScale {
    /// Integers from 0 to a maximum, without a unit.
    Integers {
        /// The largest value of the format.
        max_value: f32,
    },
    /// Heights in metres.
    Metres,
}

/// The samples of an image or heightmap file, row-major, north at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Samples from west to east.
    pub width: usize,
    /// Samples from north to south.
    pub height: usize,
    /// width × height samples.
    pub samples: Vec<f32>,
    /// The meaning of the samples.
    pub scale: SampleScale,
}

/// The decoded files of a recipe, by the names that it uses.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Heightmaps of steps and masks.
    pub rasters: BTreeMap<FileName, Arc<Raster>>,
    /// Tileable textures of terrain types.
    pub swatches: BTreeMap<TextureName, Arc<Swatch>>,
}

impl Inputs {
    /// The heightmap with that name.
    pub fn get(&self, name: &FileName) -> Option<&Raster> {
        self.rasters.get(name).map(Arc::as_ref)
    }

    /// The tileable texture with that name.
    pub fn swatch(&self, name: &TextureName) -> Option<&Arc<Swatch>> {
        self.swatches.get(name)
    }

    /// The memory that all files take, in bytes.
    pub fn bytes(&self) -> u64 {
        let rasters = self.rasters.values().map(|raster| size_of::<f32>() * raster.samples.len());
        rasters.chain(self.swatches.values().map(|swatch| swatch.bytes())).sum::<usize>() as u64
    }

    /// Whether both have the same heightmaps, compared by address.
    pub fn same_rasters(&self, other: &Self) -> bool {
        let same_raster = |(name, raster)| other.rasters.get(name).is_some_and(|known| Arc::ptr_eq(known, raster));
        self.rasters.len() == other.rasters.len() && self.rasters.iter().all(same_raster)
    }
}
