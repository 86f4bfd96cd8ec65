//! The meshes from which the terrain of rivers is refined, and the blocks of a map.

use super::blocks::Blocks;
use crate::cast::{ToFloat, ToInteger};
use crate::flow::{Mesh, WideGrid, reach_of_limits};
use crate::heightfield::{Grid, GridPart};
use crate::progress::{Cancelled, Progress};

/// The longest side, in samples, of the meshes that are refined.
const MAX_SIDE: usize = 4097;
/// The longest side of those that cover the whole world at once. Finer ones are refined in blocks.
const MAX_WHOLE_SIDE: usize = 2049;
/// The sides of a block: in samples of the map, and in points of the last mesh of the whole world. The smaller one counts.
const BLOCK_SIDES: [usize; 2] = [1536, 640];
/// The surroundings of a block that are computed with it: points of the last mesh of the whole world, on which the slopes
/// between its channels depend, and samples of the map for depressions. Larger depressions are left only where terrain is
/// hardly eroded. With 16 points, heights of a block differed from those of the whole map by up to 4 cm.
const HALO: usize = 24;
const MARGIN: usize = 64;
/// Points of the last mesh of the whole world around the samples of a block and its margin.
const EDGE: usize = 4;
/// The meshes finer than the reference that are computed for any map. Most of what refinement changes comes with the first
/// one, so a map with fewer samples has the same terrain.
pub(super) const MIN_LEVELS: usize = 1;
/// How much finer than the last mesh a grid may be, as a ratio of samples per side.
const MAX_RATIO: f64 = 1.1;

/// The grids of the meshes that are finer than the reference, each with twice the samples per side of the one before.
pub(super) struct Grids {
    /// The grid of the whole map.
    pub to: Grid,
    /// Those of the finer meshes.
    pub finer: Vec<Grid>,
    /// How many of them cover the whole world at once.
    pub whole: usize,
    /// The reference grid and its margin.
    pub wide: WideGrid,
}

impl Grids {
    /// Those from the reference grid to the full grid `to`, at least `min_levels`.
    pub fn new(wide: WideGrid, to: Grid, min_levels: usize) -> Self {
        let mut finer = Vec::new();
        let [mut width, mut height] = [wide.world().width(), wide.world().height()];
        let is_finer = |width: usize, height: usize| {
            (to.width() - 1).to_f64() > MAX_RATIO * (width - 1).to_f64()
                || (to.height() - 1).to_f64() > MAX_RATIO * (height - 1).to_f64()
        };
        while (finer.len() < min_levels || is_finer(width, height)) && 2 * width.max(height) - 1 <= MAX_SIDE {
            (width, height) = (2 * width - 1, 2 * height - 1);
            finer.push(Grid::new(to.extent(), width, height));
        }
        let whole = finer.partition_point(|grid| grid.width().max(grid.height()) <= MAX_WHOLE_SIDE);
        Self { to, finer, whole, wide }
    }

    /// The grids of the meshes that cover the whole world at once.
    pub fn whole(&self) -> &[Grid] {
        &self.finer[..self.whole]
    }

    fn last_whole(&self) -> Grid {
        self.whole().last().copied().unwrap_or(self.wide.world())
    }

    /// The grid of the last mesh.
    pub fn last(&self) -> Grid {
        self.finer.last().copied().unwrap_or(self.wide.world())
    }

    /// The points of the reference mesh (level 0) or of a finer one.
    pub fn points(&self, level: usize) -> MeshPoints {
        let wide = self.wide.at_level(level.to_u32());
        MeshPoints { wide, grid: wide.grid(), level: level.to_u32() }
    }

    /// The blocks of the map in which the rest is computed, if there is any.
    pub fn blocks(&self) -> Option<Blocks> {
        let [samples, points] = BLOCK_SIDES;
        (self.whole < self.finer.len()).then(|| Blocks::new(self.to, samples.min(points * self.ratio())))
    }

    /// The samples of the map per point of the last mesh of the whole world, along each axis, rounded up.
    fn ratio(&self) -> usize {
        (self.to.width() - 1).div_ceil(self.last_whole().width() - 1)
    }

    /// The points of that mesh around a block that are computed with it: those of the margin, of which there are more than
    /// half as many as samples where the map is hardly finer, and some around them.
    pub fn halo(&self) -> usize {
        let [cells, own_cells] = [self.to, self.last_whole()].map(|grid| [grid.width() - 1, grid.height() - 1]);
        let of_margin = (0..2).map(|axis| (self.margin() * own_cells[axis]).div_ceil(cells[axis]));
        HALO.max(of_margin.max().unwrap_or_default() + EDGE)
    }

    /// The samples of the map around a block that are computed with it: for depressions, and for the limits of bends.
    pub fn margin(&self) -> usize {
        MARGIN + reach_of_limits(self.last().spacing_x_m(), self.to.spacing_x_m())
    }

    /// The samples of the map that are computed with a block: its own and those around it.
    pub fn window(&self, block: GridPart) -> GridPart {
        block.grown(self.margin(), self.to)
    }

    /// The points of the last mesh of the whole world from which a block is computed.
    pub fn points_of_block(&self, block: GridPart) -> GridPart {
        let points = self.points(self.whole);
        covering(block, self.to, points.wide).grown(self.halo(), points.grid)
    }
}

/// The points of a mesh, or of a part of one.
#[derive(Clone, Copy)]
pub(super) struct MeshPoints {
    /// The grid of the whole mesh.
    pub wide: WideGrid,
    /// Those samples of it near which the points are.
    pub grid: Grid,
    pub level: u32,
}

impl MeshPoints {
    pub fn part(self, part: GridPart) -> Self {
        Self { grid: self.grid.part(part.first, part.size), ..self }
    }

    pub fn mesh(self, randomness: f32, progress: &Progress) -> Result<Mesh, Cancelled> {
        Ok(Mesh::new(self.grid, self.level, randomness, progress)?.with_margin(self.wide.margin()))
    }
}

/// Whether a grid has at least as many samples per side as another one.
pub(super) fn is_as_fine(grid: Grid, other: Grid) -> bool {
    grid.width() >= other.width() && grid.height() >= other.height()
}

/// The samples of a wide grid that surround a part of another grid of the same world.
fn covering(part: GridPart, grid: Grid, own: WideGrid) -> GridPart {
    let [cells, own_cells] = [grid, own.world()].map(|grid| [grid.width() - 1, grid.height() - 1]);
    let first: [usize; 2] = std::array::from_fn(|axis| part.first[axis] * own_cells[axis] / cells[axis]);
    let size = std::array::from_fn(|axis| {
        let last = part.first[axis] + part.size[axis] - 1;
        (last * own_cells[axis]).div_ceil(cells[axis]) + 1 - first[axis]
    });
    GridPart { first: first.map(|first| first + own.margin()), size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    #[test]
    fn large_maps_are_divided_into_blocks() {
        let grid = |side| Grid::new(Extent { width_m: 1e5, depth_m: 1e5 }, side, side);
        let of_map = |to: usize| Grids::new(WideGrid::with_default_margin(grid(257)), grid(to), MIN_LEVELS);
        let blocks = |to: usize| of_map(to).blocks().map(|blocks| blocks.side());
        assert_eq!(blocks(2049), None);
        assert_eq!(blocks(2200), None, "as fine as the last mesh of the whole world");
        let sides = [2300, 4097, 8193, 65_537].map(blocks);
        assert!(sides.iter().all(|side| side.is_some_and(|side| (700..1600).contains(&side))), "{sides:?}");
    }

    #[test]
    fn meshes_double_until_they_are_about_as_fine_as_the_grid() {
        let grid = |width, height| Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, width, height);
        let sides = |to: Grid| {
            let grids = Grids::new(WideGrid::with_default_margin(grid(257, 129)), to, 0);
            grids.finer.iter().map(|grid| [grid.width(), grid.height()]).collect::<Vec<_>>()
        };
        assert_eq!(sides(grid(200, 100)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(257, 129)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(513, 257)), [[513, 257]]);
        assert_eq!(sides(grid(540, 270)), [[513, 257]]);
        assert_eq!(sides(grid(1000, 500)), [[513, 257], [1025, 513]]);
        assert_eq!(sides(grid(16_385, 8193)).len(), 4);
    }
}
