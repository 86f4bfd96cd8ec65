//! Heights in the order in which a file has them.

use rayon::prelude::*;

use crate::engine::heightfield::Extent;
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield};
use crate::files::tiles::Region;

/// Which row of a file is the first. Rows always run from west to east.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// The northern one.
    #[default]
    NorthFirst,
    /// The southern one.
    SouthFirst,
}

/// The limits of no heights at all.
const NOTHING: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

/// A part of a land, row by row as a file has it.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    terrain: &'a Heightfield,
    cut: Region,
    order: RowOrder,
}

impl<'a> Rows<'a> {
    /// The whole land, the northern row first.
    pub fn all(terrain: &'a Heightfield) -> Self {
        Self {
            terrain,
            cut: Region::whole([terrain.grid().width(), terrain.grid().height()]),
            order: RowOrder::NorthFirst,
        }
    }

    /// A part of the land, which must lie inside.
    pub fn of(terrain: &'a Heightfield, cut: Region, order: RowOrder) -> Self {
        Self { terrain, cut, order }
    }

    /// Samples from west to east.
    pub fn width(&self) -> usize {
        self.cut.size[0]
    }

    /// The rows.
    pub fn height(&self) -> usize {
        self.cut.size[1]
    }

    /// A row, west to east.
    pub fn row(&self, r: usize) -> &'a [f32] {
        let Region { first: [west, north], size: [width, height] } = self.cut;
        let r = match self.order {
            RowOrder::NorthFirst => r,
            RowOrder::SouthFirst => height - 1 - r,
        };
        &self.terrain.row(north + r)[west..west + width]
    }

    /// The lowest and the highest height.
    pub fn range_m(&self) -> Band {
        let wider = |[low, high]: [f32; 2], height: &f32| [low.min(*height), high.max(*height)];
        let limits = (0..self.height()).into_par_iter().map(|r| self.row(r).iter().fold(NOTHING, wider));
        let [min, max] = limits.reduce(|| NOTHING, |[a, b], [c, d]| [a.min(c), b.max(d)]).map(f64::from);
        Band { min, max }
    }

    /// Metres between samples, eastward and southward.
    pub fn spacing_m(&self) -> [f64; 2] {
        [self.terrain.grid().spacing_x_m(), self.terrain.grid().spacing_z_m()]
    }
}

/// Where the samples of a part lie, as a land of its own.
pub fn grid_of(whole: Grid, cut: Region) -> Grid {
    let [width, height] = cut.size;
    if [width, height] == [whole.width(), whole.height()] {
        return whole;
    }
    let along = |samples: usize, spacing_m: f64| (samples - 1) as f64 * spacing_m;
    let extent = Extent { width_m: along(width, whole.spacing_x_m()), depth_m: along(height, whole.spacing_z_m()) };
    Grid::new(extent, width, height)
}
