//! Transfers eroded terrain from the points of the reference mesh to the samples of any grid.
//!
//! Drainage divides depend on tiny height differences, so all steps are computed on one reference mesh. Finer meshes add
//! the small valleys and gullies between its channels (`flow::refinement`).

use super::stream_power::StreamPowerLaw;
use crate::cast::ToFloat;
use crate::flow::{DrainedTerrain, Hillslopes, Mesh, Refinement, RoutingOptions, Source};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// The longest side, in samples, of the meshes that are refined.
const MAX_SIDE: usize = 4097;
/// How much finer than the last mesh a grid may be, as a ratio of samples per side.
const MAX_RATIO: f64 = 1.1;
/// The strongest dissection of the first finer level, see [`Refinement`].
const MAX_DISSECTION: f64 = 0.12;
/// The roughness of the first finer level, from which gullies start.
const ROUGHNESS: f64 = 0.3;
/// The dissection and the roughness of a level as a fraction of those of the coarser one: slopes are smoother at smaller
/// scales. With it the spectral slope is −3.3 at 10 m as well as at 80 m; real terrain has −3.5.
const PERSISTENCE: f64 = 0.85;
/// The drainage area at which channels begin, as a multiple of the square of the length at which creep and streams erode
/// equally, (D/K)^(1/(2m + 1)) (J. T. Perron, W. E. Dietrich and J. W. Kirchner, "Controls on the spacing of first-order
/// valleys", Journal of Geophysical Research 113, 2008). Valleys are about 10 of these lengths apart.
const CHANNEL_HEAD: f64 = 10.0;

/// A function that provides a heightfield on any grid.
pub(super) type TerrainOnGrid<'a> = dyn Fn(Grid) -> Result<Heightfield, Cancelled> + Sync + 'a;

/// Eroded terrain with the data needed to transfer it to a grid.
pub(super) struct StreamPowerRefinement<'a> {
    /// The eroded heights at the points of the reference mesh.
    pub terrain: &'a Heightfield,
    /// The randomness of the mesh.
    pub randomness: f32,
    pub routing: RoutingOptions,
    pub law: StreamPowerLaw,
    /// The duration of all steps.
    pub years: f64,
    /// The terrain before erosion.
    pub below: &'a TerrainOnGrid<'a>,
    /// The uplift during all steps at each point, metres, given the terrain before erosion; `None` if the highest
    /// points were not eroded.
    pub uplift_m: Option<Vec<f32>>,
}

impl StreamPowerRefinement<'_> {
    /// Peak memory in heightfields of the grid `to`, given the reference grid.
    pub fn peak_maps(from: Grid, to: Grid) -> f64 {
        /// While the last mesh is refined, in maps of its points.
        const REFINED: f64 = 18.0;
        /// While the grid is sampled, and while it is drained: in maps of the grid and of the last mesh.
        const SAMPLED: [f64; 2] = [2.0, 17.5];
        const DRAINED: [f64; 2] = [9.0, 6.5];
        /// While the reference mesh is drained: the drainage, the terrain, and the margins of its depressions.
        const REFERENCE: f64 = 30.0;
        let mesh = finer_grids(from, to).pop().unwrap_or(from);
        let [ratio, reference] = [mesh, from].map(|grid| grid.samples().to_f64() / to.samples().to_f64());
        let [sampled, drained] = [SAMPLED, DRAINED].map(|[grid, mesh]| grid + mesh * ratio);
        sampled.max(drained).max(REFINED * ratio).max(REFERENCE * reference)
    }

    /// The terrain on a grid.
    pub fn on_grid(&self, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let from = self.terrain.grid();
        let grids = finer_grids(from, to);
        let mesh = Mesh::new(from, 0, self.randomness, progress)?;
        // The time of a level grows with its samples.
        let total = grids.iter().chain([&from, &to]).map(|grid| grid.samples().to_f32()).sum::<f32>();
        let mut done = from.samples().to_f32() / total;
        let mut terrain = progress.stage(0.0..done, || {
            let source = progress.stage(0.0..0.3, || self.source(&mesh, progress))?;
            DrainedTerrain::new(mesh, self.terrain, source, self.routing, self.hillslopes(), progress)
        })?;
        for (level, grid) in (1..).zip(grids) {
            let begun = done;
            done += grid.samples().to_f32() / total;
            let refined = progress.stage(begun..done, || {
                let mesh = Mesh::new(grid, level, self.randomness, progress)?;
                let source = progress.stage(0.0..0.1, || mesh.at_points(&(self.below)(grid)?, progress))?;
                progress.stage(0.1..1.0, || terrain.refined(mesh, self.refinement(grid, level), source, progress))
            })?;
            if grid.width() >= to.width() && grid.height() >= to.height() {
                let source = progress.stage(done..done, || (self.below)(to))?;
                return progress.stage(done..1.0, || refined.on_grid(&source, progress));
            }
            terrain = progress.stage(done..done, || refined.drained(progress))?;
        }
        let source = progress.stage(done..done, || (self.below)(to))?;
        progress.stage(done..1.0, || terrain.on_grid(&source, progress))
    }

    /// The terrain before erosion and how much of its detail is left.
    fn source(&self, mesh: &Mesh, progress: &Progress) -> Result<Source, Cancelled> {
        let heights = mesh.at_points(&(self.below)(mesh.grid())?, progress)?;
        let rise = self.terrain.copied(progress)?.combined(&heights, |terrain, below| terrain - below, progress)?;
        let [_, highest] = rise.min_max();
        let mut left = rise;
        let scale = 0.25 * mesh.grid().spacing_x_m().to_f32();
        for (i, left) in left.heights_mut().iter_mut().enumerate() {
            let uplift_m = self.uplift_m.as_ref().map_or(highest, |uplift_m| uplift_m[i]);
            let eroded = ((uplift_m - *left) / scale).max(0.0);
            *left = 1.0 / (1.0 + eroded * eroded);
        }
        Ok(Source { heights, left })
    }

    /// The length at which creep and streams erode equally, in metres.
    fn creep_length_m(&self) -> f64 {
        let StreamPowerLaw { erodibility, area_exponent, creep_m2, .. } = self.law;
        if creep_m2 > 0.0 { libm::pow(creep_m2 / erodibility, 1.0 / (2.0 * area_exponent + 1.0)) } else { 0.0 }
    }

    /// The limits of hillslopes: creep keeps channels from forming where little land drains.
    fn hillslopes(&self) -> Hillslopes {
        let length_m = self.creep_length_m();
        Hillslopes {
            critical_slope: self.law.critical_slope.map_or(f32::INFINITY, ToFloat::to_f32),
            channel_head_m2: CHANNEL_HEAD * length_m * length_m,
        }
    }

    /// How a mesh is refined: rivers dissect a slope as deeply as they can within the duration of the erosion, and creep
    /// smooths what is too small.
    fn refinement(&self, grid: Grid, level: u32) -> Refinement {
        let StreamPowerLaw { erodibility, area_exponent, hillslope_m, .. } = self.law;
        let spacing_m = grid.spacing_x_m();
        let speed = erodibility * libm::pow(spacing_m * spacing_m + hillslope_m * hillslope_m, area_exponent);
        let creep_over_streams = libm::pow(self.creep_length_m() / spacing_m, 2.0 * area_exponent + 1.0);
        let share = (speed * self.years / (MAX_DISSECTION * spacing_m)).min(1.0);
        let strength = share / (1.0 + creep_over_streams) * libm::pow(PERSISTENCE, f64::from(level - 1));
        Refinement {
            area_exponent,
            dissection: (MAX_DISSECTION * strength).to_f32(),
            roughness: (ROUGHNESS * strength).to_f32(),
        }
    }
}

/// The one of two grids of a world that has fewer samples.
pub(super) fn coarser(a: Grid, b: Grid) -> Grid {
    if a.samples() < b.samples() { a } else { b }
}

/// The grids of the meshes from `from` to `to`, each with twice the samples per side of the one before.
fn finer_grids(from: Grid, to: Grid) -> Vec<Grid> {
    let mut grids = Vec::new();
    let [mut width, mut height] = [from.width(), from.height()];
    let is_finer = |width: usize, height: usize| {
        (to.width() - 1).to_f64() > MAX_RATIO * (width - 1).to_f64()
            || (to.height() - 1).to_f64() > MAX_RATIO * (height - 1).to_f64()
    };
    while is_finer(width, height) && 2 * width.max(height) - 1 <= MAX_SIDE {
        (width, height) = (2 * width - 1, 2 * height - 1);
        grids.push(Grid::new(to.extent(), width, height));
    }
    grids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Outlets;
    use crate::heightfield::Extent;

    /// The mean change of slope from sample to sample, on a grid with eight times the resolution of the reference.
    fn roughness(creep_m2: f64) -> f64 {
        let extent = Extent { width_m: 3200.0, depth_m: 3200.0 };
        let [coarse, fine] = [33, 257].map(|side| Grid::new(extent, side, side));
        let terrain = Heightfield::from_fn(coarse, |c, r| 20.0 * c.to_f32() + 5.0 * r.to_f32());
        let law = StreamPowerLaw {
            erodibility: 1e-5,
            area_exponent: 0.5,
            slope_exponent: 1.0,
            hillslope_m: 100.0,
            creep_m2,
            critical_slope: None,
            deposition: 0.0,
        };
        let refinement = StreamPowerRefinement {
            terrain: &terrain,
            randomness: 0.0,
            routing: RoutingOptions { outlets: Outlets::West, sea_m: None },
            law,
            years: 1e6,
            below: &|grid| Ok(Heightfield::flat(grid)),
            uplift_m: Some(vec![1e4; coarse.samples()]),
        };
        let terrain = refinement.on_grid(fine, &Progress::new()).expect("not cancelled");
        let bend = |r: usize, c: usize| terrain[(c - 1, r)] - 2.0 * terrain[(c, r)] + terrain[(c + 1, r)];
        let bends = (8..249).flat_map(|r| (8..249).map(move |c| (r, c))).map(|(r, c)| f64::from(bend(r, c).abs()));
        bends.sum::<f64>() / (241.0 * 241.0)
    }

    #[test]
    fn creep_smooths_the_hillslopes_of_finer_levels() {
        let [none, weak, strong] = [0.0, 1e-4, 0.5].map(roughness);
        assert!(weak > 0.9 * none && weak <= none, "{weak}, not {none}");
        assert!(strong < 0.1 * none, "{strong}, not {none}");
    }

    #[test]
    fn meshes_double_until_they_are_about_as_fine_as_the_grid() {
        let grid = |width, height| Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, width, height);
        let sides = |to: Grid| {
            let grids = finer_grids(grid(257, 129), to);
            grids.iter().map(|grid| [grid.width(), grid.height()]).collect::<Vec<_>>()
        };
        assert_eq!(sides(grid(200, 100)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(257, 129)), [] as [[usize; 2]; 0]);
        assert_eq!(sides(grid(513, 257)), [[513, 257]]);
        assert_eq!(sides(grid(540, 270)), [[513, 257]]);
        assert_eq!(sides(grid(1000, 500)), [[513, 257], [1025, 513]]);
        assert_eq!(sides(grid(16_385, 8193)).len(), 4);
    }
}
