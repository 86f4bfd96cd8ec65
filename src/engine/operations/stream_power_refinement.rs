//! Transfers eroded terrain from the points of the reference mesh to the samples of any grid.
//!
//! Drainage divides depend on tiny height differences, so all steps are computed on one reference mesh. Finer meshes add
//! the small valleys and gullies between its channels (`flow::refinement`).

use std::borrow::Cow;
use std::ops::Range;

use super::blocks::Blocks;
use super::operation::TerrainOnGrid;
use super::refinement_grids::{Grids, MIN_LEVELS, MeshPoints, is_as_fine};
use super::stream_power::StreamPowerLaw;
use crate::cast::{ToFloat, ToInteger};
use crate::flow::{
    DrainedTerrain, Hillslopes, Mesh, MeshTerrain, Outlets, Refinement, RoutingOptions, Source, WideGrid,
    without_depressions,
};
use crate::hash::Hash;
use crate::heightfield::{Grid, GridPart, Heightfield};
use crate::progress::{Cancelled, Progress};
use crate::result_cache::{ResultKey, StepCache, bytes_of, cached_or_computed, take};

/// The strongest dissection of the first finer level, see [`Refinement`].
const MAX_DISSECTION: f64 = 0.13;
/// The roughness of the first finer level, from which gullies start.
const ROUGHNESS: f64 = 0.34;
/// The dissection and the roughness of a level as a fraction of those of the coarser one: slopes are smoother at smaller
/// scales. With it the spectral slope is −3.6 to −3.8 at 10 m, where real terrain has −3.5, and −3.7 to −4.0 at 20 m.
const PERSISTENCE: f64 = 0.9;
/// The drainage area at which channels begin, as a multiple of the square of the length at which creep and streams erode
/// equally, (D/K)^(1/(2m + 1)) (J. T. Perron, W. E. Dietrich and J. W. Kirchner, "Controls on the spacing of first-order
/// valleys", Journal of Geophysical Research 113, 2008). Valleys are about 10 of these lengths apart.
const CHANNEL_HEAD: f64 = 10.0;

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
    /// The uplift during all steps at each point, metres, given the terrain before erosion; `None` if it was the same at all
    /// points. The highest rise in the world then counts as uplift, so less detail is left where depressions were filled by more.
    pub uplift_m: Option<Vec<f32>>,
    /// Whether a coarse preview is wanted, without finer meshes than it needs.
    pub is_coarse: bool,
    /// The cache for the terrain of large maps.
    pub cache: Option<StepCache<'a>>,
}

impl StreamPowerRefinement<'_> {
    /// Whether parts of the grid `to` can be computed alone, given the reference grid.
    pub fn has_parts(from: Grid, to: Grid) -> bool {
        Grids::new(WideGrid::new(from, 0), to.full(), MIN_LEVELS).blocks().is_some()
    }

    /// Peak memory in heightfields of the grid `to`, which can be a part, given the reference grid.
    pub fn peak_maps(from: Grid, to: Grid) -> f64 {
        /// While a mesh is refined, in maps of its points.
        const REFINED: f64 = 18.0;
        /// While the grid is sampled, in maps of the grid and of the last mesh.
        const SAMPLED: [f64; 2] = [3.0, 17.5];
        /// While the grid is drained, in maps of it.
        const DRAINED: f64 = 9.0;
        /// While the reference mesh is drained: the drainage, the terrain, and the margins of its depressions.
        const REFERENCE: f64 = 30.0;
        /// What a drained mesh keeps, and what a block takes besides for the map and for its points.
        const KEPT: f64 = 6.5;
        const OF_BLOCK: [f64; 2] = [3.5, 1.5];
        let maps = |grid: Grid| grid.samples().to_f64() / to.samples().to_f64();
        let full = to.full();
        let grids = Grids::new(WideGrid::with_default_margin(from), full, MIN_LEVELS);
        let of_level = |level: usize| maps(grids.wide.at_level(level.to_u32()).grid());
        let refined = |mesh: f64, grid: f64| {
            let sampled = SAMPLED[0] * grid + SAMPLED[1] * mesh;
            sampled.max(DRAINED * grid).max(REFINED * mesh)
        };
        let reference = REFERENCE * of_level(0);
        let Some(blocks) = grids.blocks() else {
            // The terrain before erosion is held meanwhile.
            let last = of_level(grids.finer.len());
            let sampled = maps(sampled_grid(from, Some(grids.last()), full));
            return refined(last, sampled).max(sampled + REFINED * last).max(sampled + reference);
        };
        let whole = of_level(grids.whole);
        let side = (blocks.side() + 2 * grids.margin()).to_f64();
        let ratio = (grids.last().width() - 1).to_f64() / (full.width() - 1).to_f64();
        let halo = (grids.halo() << (grids.finer.len() - grids.whole)).to_f64();
        let mesh_side = blocks.side().to_f64() * ratio + 2.0 * halo;
        let [of_mesh, of_grid] = [mesh_side, side].map(|side| side * side / to.samples().to_f64());
        let of_block = refined(of_mesh, of_grid) + OF_BLOCK[0] * of_grid + OF_BLOCK[1] * of_mesh;
        let in_blocks = 2.0 + blocks.frames() + KEPT * whole + of_block * rayon::current_num_threads().to_f64();
        in_blocks.max(1.0 + REFINED * whole).max(reference)
    }

    /// The terrain on a grid, which can be a part of one that has [blocks](Grids::blocks).
    pub fn on_grid(&self, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let wide = WideGrid::from_grid(self.terrain.grid(), to.extent());
        let from = wide.world();
        let grids = Grids::new(wide, to.full(), if self.is_coarse { 0 } else { MIN_LEVELS });
        let whole = grids.whole();
        let (coarser, last) = match whole.split_last() {
            Some((last, coarser)) if is_as_fine(*last, to.full()) => (coarser, Some(*last)),
            _ => (whole, None),
        };
        let sampled = sampled_grid(from, last, to);
        // The time of a level grows with its samples.
        let total = grids.finer.iter().chain([&from, &sampled]).map(|grid| grid.samples().to_f32()).sum::<f32>();
        let share =
            |levels: &[Grid]| levels.iter().chain([&from]).map(|grid| grid.samples().to_f32()).sum::<f32>() / total;
        if let Some(blocks) = grids.blocks() {
            return self.in_blocks(&grids, blocks, to, share(whole), progress);
        }
        let source = progress.stage(0.0..0.0, || (self.below)(sampled))?;
        let [drained, done] = [share(coarser), share(whole)];
        let terrain = progress.stage(0.0..drained, || self.drained(&grids, coarser, Some(&source), progress))?;
        if last.is_none() {
            return progress.stage(drained..1.0, || terrain.on_grid(source, progress));
        }
        let refine = || self.refined(&terrain, grids.points(whole.len()), Some(&source), progress);
        let refined = progress.stage(drained..done, refine)?;
        drop(terrain);
        progress.stage(done..1.0, || refined.on_grid(to, source, progress))
    }

    /// The heights on a part of the map in blocks. `done` is the share of the progress at which the terrain of the world is.
    fn in_blocks(
        &self,
        grids: &Grids,
        blocks: Blocks,
        to: Grid,
        done: f32,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let hash = self.hash();
        let cached = |part: GridPart| {
            self.cache.map(|StepCache { cache, .. }| (cache, ResultKey { kind: "block", hash: hash.with(&part) }))
        };
        let read = |part: GridPart, mut bytes: &[u8]| {
            let grid = to.full().part(part.first, part.size);
            let heights = take(&mut bytes, grid.samples(), f32::from_le_bytes)?;
            Heightfield::from_heights(grid, heights).filter(|_| bytes.is_empty())
        };
        let is_missing = |part: &GridPart| cached(*part).is_none_or(|(cache, key)| !cache.has(&key));
        let missing = blocks.of_part(to.as_part()).filter(is_missing);
        let points = missing.map(|block| grids.points_of_block(block)).reduce(GridPart::around);
        let terrain = points.map(|points| progress.stage(0.0..done, || self.coarse(grids, points, progress)));
        let terrain = terrain.transpose()?;
        let computed = |block: GridPart, progress: &Progress| {
            let points = grids.points_of_block(block);
            match terrain.as_ref().filter(|terrain| terrain.grid().as_part().contains(points)) {
                Some(terrain) => self.block(terrain, grids, block, progress),
                // The block was deleted since, or is damaged.
                None => self.block(&self.coarse(grids, points, progress)?, grids, block, progress),
            }
        };
        let block = |part: GridPart, progress: &Progress| {
            let bytes = |block: &Heightfield| bytes_of(block.heights()).collect();
            cached_or_computed(cached(part), |bytes| read(part, bytes), || computed(part, progress), bytes)
        };
        // The border of an overlap keeps its heights.
        let routing = RoutingOptions { outlets: Outlets::Border, sea_m: self.routing.sea_m };
        let finish = |overlap: Heightfield, progress: &Progress| without_depressions(overlap, routing, &[], progress);
        progress.stage(done..1.0, || blocks.heights(to.as_part(), block, finish, progress))
    }

    /// A hash of what the terrain depends on, given the step and the size of the map.
    fn hash(&self) -> Hash {
        let hash = self.cache.map_or(Hash::new(), |StepCache { hash, .. }| hash);
        hash.with(&(self.years, self.terrain.grid())).with_numbers(self.terrain.heights())
    }

    /// The terrain at points of the last mesh that covers the whole world: those of a part from the cache, which has it in
    /// bands of rows, or all of them.
    fn coarse(&self, grids: &Grids, part: GridPart, progress: &Progress) -> Result<DrainedTerrain, Cancelled> {
        let points = grids.points(grids.whole);
        let cache = self.cache.map(|StepCache { cache, .. }| (cache, self.hash()));
        let key = |hash: Hash, rows: &Range<usize>| ResultKey { kind: "world", hash: hash.with(rows) };
        let stored = cache.and_then(|(cache, hash)| {
            let last = part.first[1] + part.size[1];
            let bands = DrainedTerrain::bands(points.grid, part.first[1]..last);
            bands.map(|rows| Some((rows.clone(), cache.get(&key(hash, &rows))?))).collect::<Option<Vec<_>>>()
        });
        if let Some(bands) = stored {
            let mesh = points.part(part).mesh(self.randomness, progress)?;
            if let Some(terrain) = DrainedTerrain::from_bands(mesh, self.routing, self.hillslopes(), &bands) {
                return Ok(terrain);
            }
        }
        let terrain = self.drained(grids, grids.whole(), None, progress)?;
        if let Some((cache, hash)) = cache {
            DrainedTerrain::bands(points.grid, 0..points.grid.height())
                .for_each(|rows| cache.put(&key(hash, &rows), &terrain.band(&rows)));
        }
        Ok(terrain)
    }

    /// The terrain before erosion at the samples near the points of a mesh. Those in the world can be among the samples of a
    /// map that is known.
    fn uneroded<'b>(
        &self,
        MeshPoints { wide, grid: part, .. }: MeshPoints,
        known: Option<&'b Heightfield>,
        progress: &Progress,
    ) -> Result<Cow<'b, Heightfield>, Cancelled> {
        let grid = wide.in_world(part);
        let inside = match known {
            Some(known) if known.grid() == grid => Cow::Borrowed(known),
            Some(known) if known.grid().has_samples_of(grid) => Cow::Owned(known.resampled(grid, progress)?),
            _ => Cow::Owned((self.below)(grid)?),
        };
        if grid == part { Ok(inside) } else { wide.extended(&inside, part, progress).map(Cow::Owned) }
    }

    /// The terrain at the points of the last of some levels, or of the reference mesh, without depressions.
    fn drained(
        &self,
        grids: &Grids,
        levels: &[Grid],
        known: Option<&Heightfield>,
        progress: &Progress,
    ) -> Result<DrainedTerrain, Cancelled> {
        let from = grids.wide.world();
        let total = levels.iter().chain([&from]).map(|grid| grid.samples().to_f32()).sum::<f32>();
        let mut done = from.samples().to_f32() / total;
        let points = grids.points(0);
        let mesh = points.mesh(self.randomness, progress)?;
        let mut terrain = progress.stage(0.0..done, || {
            let source = progress.stage(0.0..0.3, || self.source(points, &mesh, known, progress))?;
            DrainedTerrain::new(mesh, self.terrain, source, self.routing, self.hillslopes(), progress)
        })?;
        for (level, grid) in (1..).zip(levels) {
            let begun = done;
            done += grid.samples().to_f32() / total;
            let refine = || self.refined(&terrain, grids.points(level), known, progress);
            let refined = progress.stage(begun..done, refine)?;
            terrain = progress.stage(done..done, || refined.drained(progress))?;
        }
        Ok(terrain)
    }

    /// The heights on a part of the map, from those at points of the last mesh of the whole world. They depend on the points
    /// in the part and around it alone.
    fn block(
        &self,
        terrain: &DrainedTerrain,
        grids: &Grids,
        part: GridPart,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let (window, mut points) = (grids.window(part), grids.points_of_block(part));
        let to = grids.to.part(window.first, window.size);
        let inside = part.within(window);
        let mut terrain = terrain.part(points.within(terrain.grid().as_part()));
        for (level, grid) in (1..).zip(&grids.finer).skip(grids.whole) {
            points =
                GridPart { first: points.first.map(|first| 2 * first), size: points.size.map(|size| 2 * size - 1) };
            let refined = self.refined(&terrain, grids.points(level).part(points), None, progress)?;
            if is_as_fine(*grid, grids.to) {
                return Ok(refined.on_grid(to, (self.below)(to)?, progress)?.part(inside));
            }
            terrain = refined.drained(progress)?;
        }
        Ok(terrain.on_grid((self.below)(to)?, progress)?.part(inside))
    }

    /// The terrain at the points of a finer mesh.
    fn refined(
        &self,
        terrain: &DrainedTerrain,
        points: MeshPoints,
        known: Option<&Heightfield>,
        progress: &Progress,
    ) -> Result<MeshTerrain, Cancelled> {
        let mesh = points.mesh(self.randomness, progress)?;
        let below = || self.uneroded(points, known, progress);
        let source = progress.stage(0.0..0.1, || mesh.at_points(&*below()?, progress))?;
        let refinement = self.refinement(points.grid, points.level);
        progress.stage(0.1..1.0, || terrain.refined(mesh, refinement, source, progress))
    }

    /// The terrain before erosion and how much of its detail is left: what is left at a point and all its neighbours. Detail
    /// smaller than the spacing raises or lowers single points by chance, and they erode more or less than those around
    /// them.
    fn source(
        &self,
        points: MeshPoints,
        mesh: &Mesh,
        known: Option<&Heightfield>,
        progress: &Progress,
    ) -> Result<Source, Cancelled> {
        let heights = mesh.at_points(&*self.uneroded(points, known, progress)?, progress)?;
        let rise = self.terrain.copied(progress)?.combined(&heights, |terrain, below| terrain - below, progress)?;
        let [_, highest] = rise.part(points.wide.world_part()).min_max();
        let scale = 0.25 * mesh.grid().spacing_x_m().to_f32();
        let mut left = rise;
        for (i, left) in left.heights_mut().iter_mut().enumerate() {
            let uplift_m = self.uplift_m.as_ref().map_or(highest, |uplift_m| uplift_m[i]);
            let changed = (uplift_m - *left) / scale;
            *left = 1.0 / (1.0 + changed * changed);
        }
        progress.check()?;
        Ok(Source { heights, left: lowest_around(&left) })
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

/// The lowest of each height and its up to eight neighbours.
fn lowest_around(heights: &Heightfield) -> Heightfield {
    let (width, height) = (heights.grid().width(), heights.grid().height());
    let around = |i: usize, count: usize| i.saturating_sub(1)..(i + 2).min(count);
    let mut across = Heightfield::flat(heights.grid());
    for (r, row) in across.rows_mut().enumerate() {
        let heights = heights.row(r);
        row.iter_mut().enumerate().for_each(|(c, lowest)| *lowest = lowest_of(&heights[around(c, width)]));
    }
    Heightfield::from_fn(heights.grid(), |c, r| around(r, height).map(|r| across[(c, r)]).fold(f32::INFINITY, f32::min))
}

fn lowest_of(heights: &[f32]) -> f32 {
    heights.iter().copied().fold(f32::INFINITY, f32::min)
}

/// The grid on which terrain is sampled for a map: maps that are not finer than the reference are resampled from the last
/// mesh's own grid, so they have samples of larger maps.
fn sampled_grid(reference: Grid, last: Option<Grid>, to: Grid) -> Grid {
    last.filter(|_| is_as_fine(reference, to)).unwrap_or(to)
}

/// The one of two grids of a world that has fewer samples.
pub(super) fn coarser(a: Grid, b: Grid) -> Grid {
    if a.samples() < b.samples() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            erodibility_variation: 0.0,
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
            is_coarse: false,
            cache: None,
        };
        let terrain = refinement.on_grid(fine, &Progress::new()).expect("not cancelled");
        let bend = |r: usize, c: usize| terrain[(c - 1, r)] - 2.0 * terrain[(c, r)] + terrain[(c + 1, r)];
        let bends = (8..249).flat_map(|r| (8..249).map(move |c| (r, c))).map(|(r, c)| f64::from(bend(r, c).abs()));
        bends.sum::<f64>() / (241.0 * 241.0)
    }

    /// Eroded terrain from one side of the world to the other, with a few hills.
    fn hills(grid: Grid) -> Heightfield {
        let wave = |x: f64, z: f64| libm::sin(x / 130.0) * libm::cos(z / 170.0);
        Heightfield::from_fn(grid, |c, r| {
            let (x, z) = (grid.x_m(c), grid.z_m(r));
            (0.3 * x + 0.1 * z + 90.0 * wave(x, z) + 20.0 * wave(3.1 * z, 2.7 * x)).to_f32()
        })
    }

    /// Outlets, the level of the sea and the margin of the reference, samples.
    const BLOCKS: [(Outlets, Option<f32>, usize); 5] = [
        (Outlets::West, Some(120.0), 0),
        (Outlets::Hollows, Some(120.0), 5),
        (Outlets::Hollows, None, 0),
        (Outlets::Border, None, 0),
        (Outlets::Hollows, None, 2),
    ];

    #[test]
    fn blocks_have_the_heights_of_the_whole_map() {
        check_blocks(&BLOCKS[..2]);
    }

    #[test]
    #[ignore = "slow: more maps"]
    fn nightly_blocks_have_the_heights_of_the_whole_map() {
        check_blocks(&BLOCKS[2..]);
    }

    fn check_blocks(cases: &[(Outlets, Option<f32>, usize)]) {
        let progress = Progress::new();
        let extent = Extent { width_m: 3200.0, depth_m: 2400.0 };
        let world = Grid::new(extent, 65, 49);
        for &(outlets, sea_m, margin) in cases {
            let wide = WideGrid::new(world, margin);
            let terrain = wide.extended(&hills(world), wide.grid(), &progress).expect("not cancelled");
            let below = |grid: Grid| Ok(hills(grid));
            let refinement =
                StreamPowerRefinement { routing: RoutingOptions { outlets, sea_m }, ..refinement(&terrain, &below) };
            // As fine as the last mesh, between two meshes, and a little finer than the last one.
            for to in [Grid::new(extent, 513, 385), Grid::new(extent, 401, 301), Grid::new(extent, 560, 420)] {
                let whole = refinement.on_grid(to, &progress).expect("not cancelled");
                let reference = Grids::new(wide, to, MIN_LEVELS).points(0);
                let mesh = reference.mesh(1.0, &progress).expect("not cancelled");
                let source = refinement.source(reference, &mesh, None, &progress).expect("not cancelled");
                let mut coarse =
                    DrainedTerrain::new(mesh, &terrain, source, refinement.routing, refinement.hillslopes(), &progress)
                        .expect("not cancelled");
                // All finer meshes in blocks, or all but the first ones. With 401 samples, the last mesh of the whole world is
                // then nearly as fine as the map.
                for in_whole in [0, 1, 2] {
                    let grids = Grids { whole: in_whole, ..Grids::new(wide, to, MIN_LEVELS) };
                    if in_whole > 0 {
                        let points = grids.points(in_whole);
                        let refined = refinement.refined(&coarse, points, None, &progress).expect("not cancelled");
                        coarse = refined.drained(&progress).expect("not cancelled");
                    }
                    for part in [
                        GridPart { first: [0, 0], size: [130, 150] },
                        GridPart { first: [131, 77], size: [90, 101] },
                        GridPart { first: [to.width() - 70, to.height() - 60], size: [70, 60] },
                    ] {
                        let found = refinement.block(&coarse, &grids, part, &progress).expect("not cancelled");
                        let expected = whole.part(part);
                        // Small depressions can reach beyond the margin.
                        let differences: Vec<f32> =
                            found.heights().iter().zip(expected.heights()).map(|(a, b)| (a - b).abs()).collect();
                        let count = differences.iter().filter(|difference| **difference > 0.0).count();
                        let largest = differences.iter().copied().fold(0.0, f32::max);
                        assert!(
                            100 * count <= differences.len() && largest < 0.02,
                            "{to:?}, {in_whole}, {part:?}, {count} of {}, {largest}, {outlets:?}, {margin}",
                            differences.len()
                        );
                    }
                }
            }
        }
    }

    /// A law under which refinement adds much.
    const LAW: StreamPowerLaw = StreamPowerLaw {
        erodibility: 1e-5,
        area_exponent: 0.5,
        slope_exponent: 1.0,
        hillslope_m: 40.0,
        creep_m2: 1e-4,
        erodibility_variation: 0.0,
        critical_slope: Some(0.8),
        deposition: 0.0,
    };

    fn refinement<'a>(terrain: &'a Heightfield, below: &'a TerrainOnGrid<'a>) -> StreamPowerRefinement<'a> {
        StreamPowerRefinement {
            terrain,
            randomness: 1.0,
            routing: RoutingOptions { outlets: Outlets::Border, sea_m: None },
            law: LAW,
            years: 1e6,
            below,
            uplift_m: None,
            is_coarse: false,
            cache: None,
        }
    }

    #[test]
    fn small_maps_take_the_samples_of_the_first_finer_mesh() {
        let [half, reference, double] =
            [33, 65, 129].map(|side| Grid::new(Extent { width_m: 3200.0, depth_m: 3200.0 }, side, side));
        let terrain = hills(reference);
        let below = |grid: Grid| Ok(hills(grid));
        let on = |grid: Grid, is_coarse: bool| {
            let refinement = StreamPowerRefinement { is_coarse, ..refinement(&terrain, &below) };
            refinement.on_grid(grid, &Progress::new()).expect("not cancelled")
        };
        let large = on(double, false);
        for (small, times) in [(on(reference, false), 2), (on(half, false), 4)] {
            let side = small.grid().width();
            let samples = (0..side).flat_map(|r| (0..side).map(move |c| (c, r)));
            let differ = samples.filter(|(c, r)| small[(*c, *r)] != large[(times * c, times * r)]).count();
            // Depressions along the smaller grid are removed again, and the cuts of the larger one are wider.
            assert!(20 * differ < side * side, "{differ} of {side}²");
        }
        assert_ne!(on(reference, true), on(reference, false));
    }

    #[test]
    fn maps_finer_than_the_reference_are_smooth() {
        let terrain = hills(Grid::new(Extent { width_m: 3200.0, depth_m: 3200.0 }, 65, 65));
        let below = |grid: Grid| Ok(hills(grid));
        for side in [90, 129, 150, 180, 257, 300] {
            let grid = Grid::new(terrain.grid().extent(), side, side);
            let map = refinement(&terrain, &below).on_grid(grid, &Progress::new()).expect("not cancelled");
            // A quarter of what is beyond at most 7 % of the spacing is left by each pass, and cuts bend samples again.
            let limit_m = 0.15 * grid.spacing_x_m().to_f32();
            let bend_m = |c: usize, r: usize| {
                let row = |r: usize| map[(c - 1, r)] + 2.0 * map[(c, r)] + map[(c + 1, r)];
                (row(r - 1) + 2.0 * row(r) + row(r + 1)) / 16.0 - map[(c, r)]
            };
            let inside = (1..side - 1).flat_map(|r| (1..side - 1).map(move |c| (c, r)));
            let sharp = inside.filter(|(c, r)| bend_m(*c, *r).abs() > limit_m).count();
            assert!(1000 * sharp < side * side, "{sharp} of {side}²");
        }
    }

    #[test]
    fn detail_is_left_where_neither_a_point_nor_its_neighbours_have_changed() {
        let grid = Grid::new(Extent { width_m: 800.0, depth_m: 800.0 }, 9, 9);
        let mesh = Mesh::new(grid, 0, 0.0, &Progress::new()).expect("not cancelled");
        // A quarter of the spacing is 25 m. No point is higher than before, except one.
        let terrain = Heightfield::from_fn(grid, |c, r| match (c, r) {
            (2, 2) => -50.0,
            (6, 6) => 25.0,
            _ => 0.0,
        });
        let below = |grid: Grid| Ok(Heightfield::flat(grid));
        let uplift_m = Some(vec![0.0; grid.samples()]);
        let refinement = StreamPowerRefinement { uplift_m, ..refinement(&terrain, &below) };
        let points = Grids::new(WideGrid::new(grid, 0), grid, 0).points(0);
        let Source { left, .. } = refinement.source(points, &mesh, None, &Progress::new()).expect("not cancelled");
        let is_near = |c: usize, r: usize, of: usize| c.abs_diff(of) <= 1 && r.abs_diff(of) <= 1;
        let expected = Heightfield::from_fn(grid, |c, r| match () {
            () if is_near(c, r, 2) => 0.2,
            () if is_near(c, r, 6) => 0.5,
            () => 1.0,
        });
        assert_eq!(left, expected);
    }

    #[test]
    fn large_maps_take_less_memory_per_sample() {
        let grid = |side| Grid::new(Extent { width_m: 1e5, depth_m: 1e5 }, side, side);
        let maps = |to: usize| StreamPowerRefinement::peak_maps(grid(257), grid(to));
        assert!(maps(2049) > 15.0 && maps(16_385) < maps(8193) && maps(8193) < maps(4097));
    }

    #[test]
    fn creep_smooths_the_hillslopes_of_finer_levels() {
        let [none, weak, strong] = [0.0, 1e-4, 0.5].map(roughness);
        assert!(weak > 0.9 * none && weak <= none, "{weak}, not {none}");
        assert!(strong < 0.1 * none, "{strong}, not {none}");
    }
}
