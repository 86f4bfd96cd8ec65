//! A margin around the world, so that rivers cross its border.
//!
//! What lies beyond the border of the world is unknown. Rivers that had to stay inside would follow the border to the
//! next outlet and cut a valley along it. Meshes therefore reach beyond the world: their terrain is that inside, reflected
//! at every point of the border, so slopes go on there. The margin is computed like the world, and then cut off.

use rayon::prelude::*;

use super::mesh::Mesh;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Extent, Grid, GridPart, Heightfield};
use crate::progress::{Cancelled, Progress};

/// A grid of the world, and around it a margin of equally dense samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WideGrid {
    world: Grid,
    /// The samples beyond each side of the world.
    margin: usize,
}

impl WideGrid {
    /// The peak memory of [`Self::change`] in maps of f32.
    pub const MAPS: f64 = 3.0;

    /// The full grid `world` with `margin` samples beyond each side.
    pub fn new(world: Grid, margin: usize) -> Self {
        Self { world, margin }
    }

    /// The full grid `world` with the margin that rivers need.
    pub fn with_default_margin(world: Grid) -> Self {
        /// The longer side divided by the margin.
        const LONGER_PER_MARGIN: usize = 32;
        /// The least of the shorter side divided by the margin: narrow worlds do not need much more work than the world.
        const SHORTER_PER_MARGIN: usize = 8;
        let [columns, rows] = [world.width() - 1, world.height() - 1];
        let margin = columns.max(rows).div_ceil(LONGER_PER_MARGIN);
        Self { world, margin: margin.min(columns.min(rows).div_ceil(SHORTER_PER_MARGIN)) }
    }

    /// The wide grid that has all the samples of `grid`, given the size of its world.
    pub fn from_grid(grid: Grid, world: Extent) -> Self {
        let cells =
            |side: usize, world_m: f64, wide_m: f64| ((side - 1).to_f64() * world_m / wide_m).round().to_usize();
        let wide = grid.extent();
        let columns = cells(grid.width(), world.width_m, wide.width_m);
        let rows = cells(grid.height(), world.depth_m, wide.depth_m);
        Self { world: Grid::new(world, columns + 1, rows + 1), margin: (grid.width() - 1 - columns) / 2 }
    }

    /// The points of the reference level near its samples.
    pub fn reference_mesh(self, randomness: f32, progress: &Progress) -> Result<Mesh, Cancelled> {
        Ok(Mesh::new(self.grid(), 0, randomness, progress)?.with_margin(self.margin))
    }

    /// The number of samples divided by that of the world.
    pub fn ratio(self) -> f64 {
        self.grid().samples().to_f64() / self.world.samples().to_f64()
    }

    /// The grid of the world alone.
    pub fn world(self) -> Grid {
        self.world
    }

    /// The samples beyond each side of the world.
    pub fn margin(self) -> usize {
        self.margin
    }

    /// The wide grid of a refinement level, given that of level 0: each level has twice the resolution of the one before.
    pub fn at_level(self, level: u32) -> Self {
        let side = |samples: usize| ((samples - 1) << level) + 1;
        let world = Grid::new(self.world.extent(), side(self.world.width()), side(self.world.height()));
        Self { world, margin: self.margin << level }
    }

    /// The wide grid of every second sample; `None` if the number of cells along a side or of the margin is odd.
    pub fn halved(self) -> Option<Self> {
        let [columns, rows] = [self.world.width() - 1, self.world.height() - 1];
        let is_even = [columns, rows, self.margin].iter().all(|cells| cells.is_multiple_of(2));
        is_even.then(|| {
            let world = Grid::new(self.world.extent(), columns / 2 + 1, rows / 2 + 1);
            Self { world, margin: self.margin / 2 }
        })
    }

    /// All samples, as a grid of a wider world.
    pub fn grid(self) -> Grid {
        let Self { world, margin } = self;
        if margin == 0 {
            return world;
        }
        let wide = |samples: usize, length_m: f64| {
            (samples + 2 * margin, length_m * ((samples - 1 + 2 * margin).to_f64() / (samples - 1).to_f64()))
        };
        let Extent { width_m, depth_m } = world.extent();
        let ((width, width_m), (height, depth_m)) = (wide(world.width(), width_m), wide(world.height(), depth_m));
        Grid::new(Extent { width_m, depth_m }, width, height)
    }

    /// The samples of a part of the wide grid that are in the world, as a grid of the world.
    pub fn in_world(self, part: Grid) -> Grid {
        let range = |axis: usize, samples: usize, world: usize| {
            let first = part.first()[axis].max(self.margin).min(self.margin + world - 1);
            let end = (part.first()[axis] + samples).min(self.margin + world);
            (first - self.margin, end.saturating_sub(first).max(1))
        };
        let (west, width) = range(0, part.width(), self.world.width());
        let (north, height) = range(1, part.height(), self.world.height());
        self.world.part([west, north], [width, height])
    }

    /// The samples of the world among those of the wide grid.
    pub fn world_part(self) -> GridPart {
        GridPart { first: [self.margin; 2], size: [self.world.width(), self.world.height()] }
    }

    /// The rows of the world in a map on the wide grid.
    pub fn rows_of_world<T>(self, map: &[T]) -> impl Iterator<Item = &[T]> {
        self.world_part().rows(self.world.width() + 2 * self.margin).map(|row| &map[row])
    }

    /// Terrain in the world at the points of a mesh, which go on beyond its border.
    pub fn at_points(self, mesh: &Mesh, world: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        if self.margin == 0 {
            return mesh.at_points(world, progress);
        }
        mesh.at_points(&self.extended(world, self.grid(), progress)?, progress)
    }

    /// Runs `change` on the world's samples of terrain on the wide grid, and continues what it changes beyond the border.
    /// What it changes must not depend on the heights: heights beyond the border are no reflections of those inside.
    pub fn change(
        self,
        terrain: &mut Heightfield,
        change: impl FnOnce(&mut Heightfield) -> Result<(), Cancelled>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        if self.margin == 0 {
            return change(terrain);
        }
        let before: Vec<f32> = self.rows_of_world(terrain.heights()).flatten().copied().collect();
        let mut world = Heightfield::flat(self.world);
        world.heights_mut().copy_from_slice(&before);
        change(&mut world)?;
        world.heights_mut().iter_mut().zip(before).for_each(|(after, before)| *after -= before);
        terrain.combine(&self.extended(&world, terrain.grid(), progress)?, |height, change| height + change, progress)
    }

    /// Terrain on a part of the wide grid, given the heights at its [samples in the world](Self::in_world), which must
    /// include the mirror images of those beyond the border, unless the world is too narrow for them.
    pub fn extended(self, inside: &Heightfield, part: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let across = |axis: usize, samples: usize, count: usize| -> Vec<Place> {
            let first = inside.grid().first()[axis];
            let cells = if axis == 0 { self.world.width() - 1 } else { self.world.height() - 1 };
            let place = |i: usize| reflected(part.first()[axis] + i, self.margin, cells);
            let own = |at: usize| {
                debug_assert!((first..first + count).contains(&at), "a mirror image is missing: {at}");
                at.saturating_sub(first).min(count - 1)
            };
            (0..samples)
                .map(place)
                .map(|place| Place { border: own(place.border), mirror: own(place.mirror) })
                .collect()
        };
        let columns = across(0, part.width(), inside.grid().width());
        let rows = across(1, part.height(), inside.grid().height());
        let mut wide = Heightfield::flat(part);
        wide.heights_mut().par_chunks_exact_mut(part.width()).zip(rows).with_min_len(16).try_for_each(
            |(row, place)| {
                let (border, mirror) = (inside.row(place.border), inside.row(place.mirror));
                for (height, at) in row.iter_mut().zip(&columns) {
                    *height = at.value(|c| place.value(|r| if r == place.border { border[c] } else { mirror[c] }));
                }
                progress.check()
            },
        )?;
        Ok(wide)
    }
}

/// A sample beyond the border of the world: the one on the border at which it is reflected, and its mirror image. Both are
/// the sample itself if it is in the world.
#[derive(Clone, Copy)]
struct Place {
    border: usize,
    mirror: usize,
}

impl Place {
    /// The value at the sample, given those in the world along the axis.
    #[inline(always)]
    fn value(self, value: impl Fn(usize) -> f32) -> f32 {
        let border = value(self.border);
        if self.mirror == self.border { border } else { 2.0 * border - value(self.mirror) }
    }
}

/// The place of a sample of the wide grid along an axis with so many cells of the world.
fn reflected(at: usize, margin: usize, cells: usize) -> Place {
    if at < margin {
        Place { border: 0, mirror: (margin - at).min(cells) }
    } else if at > margin + cells {
        Place { border: cells, mirror: cells - (at - margin - cells).min(cells) }
    } else {
        Place { border: at - margin, mirror: at - margin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(columns: usize, rows: usize) -> Grid {
        let extent = Extent { width_m: 10.0 * (columns - 1).to_f64(), depth_m: 12.0 * (rows - 1).to_f64() };
        Grid::new(extent, columns, rows)
    }

    #[test]
    fn the_margin_is_as_dense_as_the_world() {
        for ([columns, rows], margin) in [([257, 257], 8), ([257, 65], 8), ([257, 33], 4), ([9, 257], 1), ([2, 2], 1)] {
            let world = world(columns, rows);
            let wide = WideGrid::with_default_margin(world);
            assert_eq!(wide.margin(), margin);
            assert!(wide.ratio() < 2.0 || columns < 9);
            for finer in 0..4 {
                let wide = wide.at_level(finer);
                let (grid, spacing) = (wide.grid(), 10.0 / f64::from(1_u32 << finer));
                assert!(
                    (grid.spacing_x_m() - spacing).abs() < 1e-9 && (grid.spacing_z_m() - 1.2 * spacing).abs() < 1e-9
                );
                assert_eq!(grid.width() - 2 * wide.margin(), ((columns - 1) << finer) + 1);
                assert_eq!(WideGrid::from_grid(grid, world.extent()), wide, "known from its grid");
                assert_eq!(wide.in_world(grid), wide.world());
            }
        }
        let none = WideGrid::new(world(9, 7), 0);
        assert_eq!([none.grid(), none.at_level(1).grid()], [world(9, 7), none.at_level(1).world()]);
    }

    #[test]
    fn slopes_go_on_beyond_the_border() {
        let progress = Progress::new();
        let wide = WideGrid::new(world(9, 7), 2);
        let slope = |grid: Grid, margin: f32| {
            Heightfield::from_fn(grid, |c, r| 3.0 * (c.to_f32() - margin) - 2.0 * (r.to_f32() - margin))
        };
        assert_eq!(wide.extended(&slope(wide.world(), 0.0), wide.grid(), &progress), Ok(slope(wide.grid(), 2.0)));
        // Reflected at the point of the border: 5 − (8 − 5), and 5 − (9 − 5).
        let row = [5.0, 8.0, 9.0, 1.0, 1.0, 1.0, 1.0, 4.0, 6.0];
        let terrain = Heightfield::from_fn(wide.world(), |c, _| row[c]);
        let extended = wide.extended(&terrain, wide.grid(), &progress).expect("not cancelled");
        assert_eq!(extended.row(0), [1.0, 2.0, 5.0, 8.0, 9.0, 1.0, 1.0, 1.0, 1.0, 4.0, 6.0, 8.0, 11.0]);
    }

    #[test]
    fn parts_are_extended_like_the_whole() {
        let progress = Progress::new();
        let wide = WideGrid::new(world(12, 10), 3);
        let terrain =
            |grid: Grid| Heightfield::from_fn(grid, |c, r| libm::sin(grid.x_m(c) * 3.1 + grid.z_m(r)).to_f32());
        let whole = wide.extended(&terrain(wide.world()), wide.grid(), &progress).expect("not cancelled");
        for (first, size) in [([0, 0], [8, 9]), ([4, 5], [6, 6]), ([10, 2], [8, 14])] {
            let part = wide.grid().part(first, size);
            let extended = wide.extended(&terrain(wide.in_world(part)), part, &progress);
            assert_eq!(extended, Ok(whole.part(GridPart { first, size })));
        }
    }

    #[test]
    fn margins_wider_than_the_world_end_at_its_other_side() {
        let progress = Progress::new();
        let wide = WideGrid::new(world(9, 2), 3);
        let terrain = Heightfield::from_fn(wide.world(), |_, r| r.to_f32());
        let extended = wide.extended(&terrain, wide.grid(), &progress).expect("not cancelled");
        let column: Vec<f32> = (0..8).map(|r| extended[(4, r)]).collect();
        assert_eq!(column, [-1.0, -1.0, -1.0, 0.0, 1.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn changes_in_the_world_go_on_beyond_its_border() {
        let progress = Progress::new();
        for margin in [0, 2] {
            let wide = WideGrid::new(world(9, 7), margin);
            let mut terrain = Heightfield::from_fn(wide.grid(), |c, r| (c * r).to_f32());
            let before = terrain.clone();
            let raise = |world: &mut Heightfield| {
                assert_eq!(world.grid(), wide.world());
                assert_eq!(world[(1, 2)], before[(1 + margin, 2 + margin)]);
                world.heights_mut().iter_mut().for_each(|height| *height += 4.0);
                Ok(())
            };
            wide.change(&mut terrain, raise, &progress).expect("not cancelled");
            assert!(terrain.heights().iter().zip(before.heights()).all(|(after, before)| *after == before + 4.0));
        }
    }
}
