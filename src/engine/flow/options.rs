//! Options of flow routing: outlets, the sea and randomness.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::heightfield::{Grid, Heightfield};
use crate::parameters::choices;
use crate::progress::{Cancelled, Progress};

choices! {
    /// Where rivers leave the world. Unless its whole border is fixed, they cross the border, and flow on beyond it to the
    /// lowest places nearby, on one side if one is chosen.
    pub enum Outlets {
        /// Along the whole border, which keeps its heights; valleys open to it everywhere.
        Border = "border", "Whole border";
        /// Across any side, as in a section cut out of a larger range.
        Hollows = "hollows", "Any side";
        /// Across the north side. Rivers that cross another side flow round the world to it.
        North = "north", "North side";
        /// Across the east side. Rivers that cross another side flow round the world to it.
        East = "east", "East side";
        /// Across the south side. Rivers that cross another side flow round the world to it.
        South = "south", "South side";
        /// Across the west side. Rivers that cross another side flow round the world to it.
        West = "west", "West side";
    }
}

/// Options of flow routing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RoutingOptions {
    /// Where flow leaves the terrain.
    pub outlets: Outlets,
    /// The level of the sea in metres; flow ends at samples at or below it.
    pub sea_m: Option<f32>,
}

impl RoutingOptions {
    /// The level of the sea in metres; −∞ without a sea.
    pub fn sea_level_m(self) -> f32 {
        self.sea_m.unwrap_or(f32::NEG_INFINITY)
    }

    /// The heights, with the floor of the sea at its level.
    pub fn above_sea<'a>(
        self,
        heights: &'a Heightfield,
        progress: &Progress,
    ) -> Result<Cow<'a, Heightfield>, Cancelled> {
        let Some(sea_m) = self.sea_m else { return Ok(Cow::Borrowed(heights)) };
        let mut above_sea = heights.copied(progress)?;
        above_sea.heights_mut().par_iter_mut().for_each(|height_m| *height_m = height_m.max(sea_m));
        Ok(Cow::Owned(above_sea))
    }

    /// Whether flow ends at a sample regardless of its neighbours.
    pub fn is_end(self, grid: Grid, c: usize, r: usize, height: f32) -> bool {
        self.outlets == Outlets::Border && is_at_border(grid, c, r) || self.sea_m.is_some_and(|sea_m| height <= sea_m)
    }

    /// Whether flow may leave the terrain at a sample.
    pub(super) fn is_open(self, grid: Grid, c: usize, r: usize) -> bool {
        match self.outlets {
            Outlets::Border | Outlets::Hollows => is_at_border(grid, c, r),
            Outlets::North => r == 0,
            Outlets::East => c + 1 == grid.width(),
            Outlets::South => r + 1 == grid.height(),
            Outlets::West => c == 0,
        }
    }
}

fn is_at_border(grid: Grid, c: usize, r: usize) -> bool {
    c == 0 || r == 0 || c + 1 == grid.width() || r + 1 == grid.height()
}
