//! The water on a terrain: rivers, lakes and wetness.

use super::drainage::Drainage;
use super::mesh::Mesh;
use super::options::{Outlets, RoutingOptions};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// The water on a terrain, as row-major maps.
#[derive(Clone, Debug, PartialEq)]
pub struct Water {
    /// The depth of the lakes when all are full, metres.
    pub lakes_m: Vec<f32>,
    /// The drainage area of each sample, m².
    pub areas_m2: Vec<f32>,
    /// The row-major index of the sample that each drains to; the sample itself where flow ends.
    pub receivers: Vec<u32>,
}

impl Water {
    /// The peak memory of [`Self::on`], in maps of f32.
    pub const MAPS: f64 = Drainage::MAPS + 3.0;

    /// Routes the water of a terrain down its slopes, to the outlets and, if given, into a sea at the level `sea_m` in
    /// metres. On average it takes the steepest descent of the surface, in any direction.
    pub fn on(
        terrain: &Heightfield,
        outlets: Outlets,
        sea_m: Option<f32>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mesh = Mesh::regular(terrain.grid());
        let mut drainage = Drainage::new(&mesh, RoutingOptions { outlets, sea_m }, progress)?.on_facets();
        drainage.route(terrain, progress)?;
        Ok(Self {
            lakes_m: drainage.lakes_m(),
            areas_m2: drainage.areas_m2(progress)?,
            receivers: drainage.receivers(),
        })
    }
}

/// The topographic wetness index ln(a/tan β) of a sample, given its drainage area, from which a follows per metre of
/// contour, and with the slope β (K. J. Beven and M. J. Kirkby, "A physically based, variable contributing area model of
/// basin hydrology", Hydrological Sciences Bulletin 24, 1979). Slopes below 1 in 1000 count as 1 in 1000.
pub fn wetness(area_m2: f32, terrain: &Heightfield, c: usize, r: usize) -> f32 {
    const MIN_SLOPE: f32 = 1e-3;
    let grid = terrain.grid();
    let width_m = (0.5 * (grid.spacing_x_m() + grid.spacing_z_m())).to_f32();
    let [east, south] = terrain.gradient(c, r);
    let slope = (east * east + south * south).sqrt().max(MIN_SLOPE);
    libm::logf(area_m2 / width_m / slope)
}
