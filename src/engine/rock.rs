//! The rock below the surface: how far it was displaced, and how much loose sediment lies on it.
//!
//! Faults and uplift displace the rock together with the surface. Erosion lowers the surface alone: it takes the sediment
//! first, then the rock. What is laid down or filled is sediment. The height of the surface, less the
//! sediment and the displacement, is therefore the place of the uppermost rock in the ground before any displacement.

use std::sync::Arc;

use super::heightfield::{Grid, Heightfield};
use super::progress::{Cancelled, Progress};

/// The rock below a terrain, on its grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Rock {
    /// How far the rock was displaced upwards, metres; negative where it sank.
    pub displacement_m: Arc<Heightfield>,
    /// The thickness of the sediment on it, metres.
    pub sediment_m: Arc<Heightfield>,
}

impl Rock {
    /// Rock that was never displaced, without sediment.
    pub fn undisturbed(grid: Grid) -> Self {
        let none = Arc::new(Heightfield::flat(grid));
        Self { displacement_m: none.clone(), sediment_m: none }
    }

    /// The ranges of its maps.
    pub fn ranges(&self, progress: &Progress) -> Result<RockRanges, Cancelled> {
        let displacement_m = self.displacement_m.min_max_cancellable(progress)?;
        let [_, thickest_m] = self.sediment_m.min_max_cancellable(progress)?;
        Ok(RockRanges { displacement_m, thickest_m })
    }

    /// Moves the rock upwards by some metres.
    pub(super) fn displace(&mut self, by_m: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        changed(&mut self.displacement_m, by_m, |displacement, by| displacement + by, progress)
    }

    /// Changes the surface above the rock by some metres: fills where they are positive, cuts where they are negative.
    pub(super) fn cut_and_fill(&mut self, by_m: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        changed(&mut self.sediment_m, by_m, |sediment, by| (sediment + by).max(0.0), progress)
    }
}

/// The ranges of the maps of a rock, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RockRanges {
    /// The lowest and the highest displacement.
    pub displacement_m: [f32; 2],
    /// The thickness of the sediment where it is thickest.
    pub thickest_m: f32,
}

fn changed(
    map: &mut Arc<Heightfield>,
    by: &Heightfield,
    height: impl Fn(f32, f32) -> f32 + Sync,
    progress: &Progress,
) -> Result<(), Cancelled> {
    if Arc::get_mut(map).is_none() {
        *map = Arc::new(map.copied(progress)?);
    }
    Arc::get_mut(map).map_or(Ok(()), |own| own.combine(by, height, progress))
}

/// What an operation does to the rock when it changes the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RockEffect {
    /// The rock moves with the surface.
    Displace,
    /// The surface alone is cut or filled.
    CutAndFill,
    /// The surface is made of rock in its place, as of imported land.
    InPlace,
    /// The operation moves rock as it moves heights, as when a part of the map is mirrored.
    Rearrange,
}

/// The share of an operation's output that is not cutting or filling, for operations that displace the rock and erode it.
#[derive(Clone, Debug)]
pub struct RockChange {
    /// How far it displaces the rock upwards, metres.
    pub displacement_m: Heightfield,
    /// Sediment that filled what had been cut before, metres. It is not part of the change of the surface.
    pub refilled_m: Option<Heightfield>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    #[test]
    fn sediment_is_cut_before_rock() {
        let grid = Grid::new(Extent { width_m: 10.0, depth_m: 10.0 }, 2, 2);
        let map = |values: [f32; 4]| Heightfield::from_heights(grid, values.to_vec()).expect("four samples");
        let progress = Progress::new();
        let mut rock = Rock::undisturbed(grid);
        let before = rock.clone();
        for by_m in [[3.0, 3.0, -1.0, 0.0], [-1.0, -5.0, 2.0, 0.0]] {
            rock.cut_and_fill(&map(by_m), &progress).expect("not cancelled");
        }
        rock.displace(&map([7.0, -7.0, 0.0, 0.5]), &progress).expect("not cancelled");
        assert_eq!(rock.sediment_m.heights(), [2.0, 0.0, 2.0, 0.0]);
        assert_eq!(rock.displacement_m.heights(), [7.0, -7.0, 0.0, 0.5]);
        assert_eq!(before, Rock::undisturbed(grid));
    }
}
