//! What a level is played on.

use super::obstacles::Obstacles;
use crate::heightfield::Heightfield;

/// A terrain with its water and its obstacles.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredTerrain<'a> {
    /// The heights.
    pub terrain: &'a Heightfield,
    /// The depth of water at every sample, metres; `None` where there is none.
    pub water_m: Option<&'a [f32]>,
    /// The instances that block agents or lines of sight.
    pub obstacles: Option<&'a Obstacles>,
}

impl<'a> MeasuredTerrain<'a> {
    /// A terrain without water and obstacles.
    pub fn dry(terrain: &'a Heightfield) -> Self {
        Self { terrain, water_m: None, obstacles: None }
    }
}
