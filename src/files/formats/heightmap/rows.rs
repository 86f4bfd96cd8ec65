//! Heights in the order in which a file stores them.

use rayon::prelude::*;

use super::layout::RowOrder;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield, Origin};
use crate::files::formats::region::Region;

/// The range of an empty set of heights, which is the identity of the reduction.
const EMPTY_RANGE: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

/// A region of a heightfield, row by row as a file stores it.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    heights: &'a Heightfield,
    region: Region,
    order: RowOrder,
    /// Where the world lies; `None`: its south-western corner is the origin of coordinates.
    origin: Option<&'a Origin>,
}

impl<'a> Rows<'a> {
    /// All rows of a heightfield, the northern one first.
    pub fn all(heights: &'a Heightfield) -> Self {
        let region = Region::full([heights.grid().width(), heights.grid().height()]);
        Self::of(heights, region, RowOrder::NorthFirst)
    }

    /// The rows of a region, which must be inside the heightfield.
    pub fn of(heights: &'a Heightfield, region: Region, order: RowOrder) -> Self {
        Self { heights, region, order, origin: None }
    }

    /// The same rows in a world that lies there.
    pub fn placed_at(self, origin: Option<&'a Origin>) -> Self {
        Self { origin, ..self }
    }

    /// The easting and the northing of the first sample, metres; `None` if the first row is the southern one.
    pub fn first_m(&self) -> Option<[f64; 2]> {
        let (grid, [west, north]) = (self.heights.grid(), self.region.first);
        let is_north_first = self.order == RowOrder::NorthFirst;
        let [easting_m, northing_m] = self.origin.map_or([0.0; 2], |origin| [origin.easting_m, origin.northing_m]);
        is_north_first.then(|| [easting_m + grid.x_m(west), northing_m + grid.extent().depth_m - grid.z_m(north)])
    }

    /// The code of the coordinate system, if it is known.
    pub fn epsg(&self) -> Option<u32> {
        self.origin.and_then(|origin| origin.epsg)
    }

    /// Samples from west to east.
    pub fn width(&self) -> usize {
        self.region.size[0]
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.region.size[1]
    }

    /// A row in the order of the file, from west to east.
    pub fn row(&self, r: usize) -> &'a [f32] {
        let Region { first: [west, north], size: [width, height] } = self.region;
        let r = match self.order {
            RowOrder::NorthFirst => r,
            RowOrder::SouthFirst => height - 1 - r,
        };
        &self.heights.row(north + r)[west..west + width]
    }

    /// The lowest and the highest height.
    pub fn range_m(&self) -> Band {
        let wider = |[low, high]: [f32; 2], height: &f32| [low.min(*height), high.max(*height)];
        let limits = (0..self.height()).into_par_iter().map(|r| self.row(r).iter().fold(EMPTY_RANGE, wider));
        let [min, max] = limits.reduce(|| EMPTY_RANGE, |[a, b], [c, d]| [a.min(c), b.max(d)]).map(f64::from);
        Band { min, max }
    }

    /// Metres between samples, eastward and southward.
    pub fn spacing_m(&self) -> [f64; 2] {
        [self.heights.grid().spacing_x_m(), self.heights.grid().spacing_z_m()]
    }
}

/// The grid of a region, with the extent of that region.
pub fn grid_of(whole: Grid, region: Region) -> Grid {
    let [width, height] = region.size;
    if [width, height] == [whole.width(), whole.height()] {
        return whole;
    }
    let along = |samples: usize, spacing_m: f64| (samples - 1).to_f64() * spacing_m;
    let extent = Extent { width_m: along(width, whole.spacing_x_m()), depth_m: along(height, whole.spacing_z_m()) };
    Grid::new(extent, width, height)
}
