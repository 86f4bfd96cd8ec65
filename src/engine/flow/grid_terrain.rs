//! The terrain of a mesh at the samples of a grid.

use rayon::prelude::*;

use super::bend_limit::limit_bends;
use super::depressions::FLOOR_SLOPE;
use super::drainage::Drainage;
use super::mesh::{Location, Mesh, Triangle};
use super::options::RoutingOptions;
use super::refinement::MeshTerrain;
use super::sampling::GridPlaces;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// Terrain at the samples of a grid.
#[derive(Debug, PartialEq)]
pub(super) struct Sampled {
    heights: Heightfield,
    /// The share of the detail before erosion that is left.
    left: Heightfield,
}

impl MeshTerrain {
    /// The heights at the samples of a grid, drained along the grid. `source` is the terrain before erosion on that grid, or,
    /// for a much smaller grid, on that of the mesh without its margin, whose terrain is then resampled.
    pub fn on_grid(self, to: Grid, source: Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let surface = |place: &Location| {
            self.above_sea_m(place.value(&self.heights), place.values(&self.heights), |corners_m| {
                place.interpolated(corners_m)
            })
        };
        let is_own = self.mesh.is_cached() && self.mesh.has_samples(source.grid());
        let terrain = progress.stage(0.0..0.3, || match is_own {
            true => self.at_own_samples(&source, progress),
            false => self.sampled(surface, &source, progress),
        })?;
        progress.stage(0.3..1.0, || self.drained_along_grid(to, terrain, source, progress))
    }

    /// Sampled terrain, brought to another grid if it is not the same, without depressions. `source` is the terrain before
    /// erosion at its samples.
    pub(super) fn drained_along_grid(
        self,
        to: Grid,
        Sampled { mut heights, left }: Sampled,
        source: Heightfield,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let (routing, ends) = (self.routing, self.ends_on(to));
        let mesh_spacing_m = self.mesh.grid().spacing_x_m();
        let source = routing.sea_m.map(|sea_m| (sea_m, source));
        if let Some((sea_m, source)) = &source {
            flood_inlets(&mut heights, source, *sea_m, progress)?;
        }
        // It takes half as much memory as the drainage.
        drop(self);
        let mut terrain = progress
            .stage(0.0..0.05, || limit_bends(heights, &left, routing.sea_level_m(), mesh_spacing_m, progress))?;
        drop(left);
        let is_resampled = to != terrain.grid();
        if is_resampled {
            terrain = progress.stage(0.05..0.1, || terrain.resampled(to, progress))?;
        }
        let drainage = progress.stage(0.1..0.9, || drain(&mut terrain, routing, &ends, progress))?;
        if !is_resampled {
            progress.stage(0.9..0.95, || drainage.widen_cuts(&mut terrain, FLOOR_SLOPE, progress))?;
        }
        drop(drainage);
        let Some((sea_m, mut source)) = source else { return Ok(terrain) };
        progress.stage(0.95..1.0, || {
            if is_resampled {
                source = source.resampled(to, progress)?;
            }
            // The floor of the sea stays as it is, and land stays above it.
            let is_sea = |height: f32, source: f32| source.max(height) <= sea_m;
            let height_m = |height, source| if is_sea(height, source) { source } else { height.max(sea_m) };
            terrain.combined(&source, height_m, progress)
        })
    }

    /// As [`Self::sampled`] within the triangles, at the samples of the mesh's grid in the world: their triangles are cached.
    fn at_own_samples(&self, source: &Heightfield, progress: &Progress) -> Result<Sampled, Cancelled> {
        let mut terrain = Sampled::on(source.grid());
        let (own_width, margin) = (self.mesh.grid().width(), self.mesh.margin());
        let (triangles, offsets) = (self.mesh.triangles_at_samples(progress)?, Triangle::offsets(own_width));
        let counter = progress.counter(source.grid().height());
        let rows = terrain.rows_mut().zip(triangles.par_chunks_exact(own_width).skip(margin));
        rows.enumerate().with_min_len(4).try_for_each(|(r, ((heights, left), triangles))| {
            let samples = ((r + margin) * own_width + margin..).zip(&triangles[margin..]);
            let rows = heights.iter_mut().zip(left).zip(source.row(r));
            for (((height, left), &source), (sample, triangle)) in rows.zip(samples) {
                let value = |map: &Heightfield| triangle.value(sample, &offsets, map.heights());
                let corners_m = triangle.values(sample, &offsets, self.heights.heights());
                let linear_m = triangle.interpolated(corners_m);
                let surface_m = self.above_sea_m(linear_m, corners_m, |corners_m| triangle.interpolated(corners_m));
                self.set_sample((height, left), linear_m, surface_m, source, value);
                self.keep_sea_floor(height, source, corners_m);
            }
            counter.add_one()
        })?;
        Ok(terrain)
    }

    /// The heights at the samples of a grid: of the surface where the terrain is eroded, with the detail of `source`
    /// where it is not.
    pub(super) fn sampled(
        &self,
        surface: impl Fn(&Location) -> f32 + Sync,
        source: &Heightfield,
        progress: &Progress,
    ) -> Result<Sampled, Cancelled> {
        let grid = source.grid();
        let mut terrain = Sampled::on(grid);
        let places = GridPlaces::new(grid, self.mesh.grid(), self.mesh.margin());
        let counter = progress.counter(grid.height());
        terrain.rows_mut().enumerate().try_for_each_init(Vec::new, |locations, (r, (heights, left))| {
            places.locate(&self.mesh, r, locations);
            let samples = heights.iter_mut().zip(left).zip(locations.iter());
            for (((height, left), place), source) in samples.zip(source.row(r)) {
                let linear = place.value(&self.heights);
                self.set_sample((height, left), linear, surface(place), *source, |map| place.value(map));
                self.keep_sea_floor(height, *source, place.values(&self.heights));
            }
            counter.add_one()
        })?;
        Ok(terrain)
    }

    /// The height within a triangle at whose corners the floor of the sea counts as high as the sea, given that within the
    /// triangle as it is.
    #[inline(always)]
    fn above_sea_m(&self, linear_m: f32, corners_m: [f32; 3], interpolated: impl Fn([f32; 3]) -> f32) -> f32 {
        let sea_m = self.routing.sea_level_m();
        if corners_m.iter().any(|corner_m| *corner_m < sea_m) {
            interpolated(corners_m.map(|corner_m| corner_m.max(sea_m)))
        } else {
            linear_m
        }
    }

    /// Sets the height of a sample and what is left of the detail there. The height is that of the surface where the terrain
    /// is eroded, and that within the triangles plus the detail of the source where it is not. Shores of the surface slope
    /// down to the level of the sea. `value` interpolates a map there.
    #[inline(always)]
    fn set_sample(
        &self,
        (height, left): (&mut f32, &mut f32),
        linear_m: f32,
        surface_m: f32,
        source_m: f32,
        value: impl Fn(&Heightfield) -> f32,
    ) {
        *left = value(&self.source.left);
        let detail_m = source_m - value(&self.source.heights);
        *height = *left * (linear_m + detail_m) + (1.0 - *left) * surface_m;
    }

    /// Sets the height of a sample to that of the floor of the sea there, if it is part of the sea of the mesh.
    #[inline(always)]
    fn keep_sea_floor(&self, height: &mut f32, source_m: f32, corners_m: [f32; 3]) {
        let sea_m = self.routing.sea_level_m();
        if source_m <= sea_m && corners_m.iter().any(|corner_m| *corner_m <= sea_m) {
            *height = source_m;
        }
    }
}

impl Sampled {
    fn on(grid: Grid) -> Self {
        Self { heights: Heightfield::flat(grid), left: Heightfield::flat(grid) }
    }

    /// The rows of the heights and of what is left.
    fn rows_mut(&mut self) -> impl IndexedParallelIterator<Item = (&mut [f32], &mut [f32])> {
        let width = self.heights.grid().width();
        let [heights, left] =
            [&mut self.heights, &mut self.left].map(|map| map.heights_mut().par_chunks_exact_mut(width));
        heights.zip(left)
    }
}

/// Lets the sea into what is below its level before erosion and beside it: inlets narrower than the triangles of the mesh.
/// Hollows without a connection to the sea that are too small for the mesh stay land.
fn flood_inlets(
    heights: &mut Heightfield,
    source: &Heightfield,
    sea_m: f32,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let (width, height) = (heights.grid().width(), heights.grid().height());
    let rows = heights.heights().par_chunks_exact(width).zip(source.heights().par_chunks_exact(width)).enumerate();
    let dry_in_row = |(r, (heights, source)): (usize, (&[f32], &[f32]))| {
        let is_dry = |c: &usize| source[*c] <= sea_m && heights[*c] > sea_m;
        progress.check().map(|()| (0..width).filter(is_dry).map(|c| [c, r]).collect())
    };
    let dry: Vec<Vec<[usize; 2]>> = rows.with_min_len(8).map(dry_in_row).collect::<Result<_, Cancelled>>()?;
    let mut dry = dry.concat();
    loop {
        let before = dry.len();
        dry.retain(|[c, r]| {
            let around = |i: usize, count: usize| i.saturating_sub(1)..(i + 2).min(count);
            let is_dry = around(*r, height).all(|r| around(*c, width).all(|c| heights[(c, r)] > sea_m));
            if !is_dry {
                let sample = r * width + c;
                heights.heights_mut()[sample] = source.heights()[sample];
            }
            is_dry
        });
        progress.check()?;
        if dry.len() == before {
            return Ok(());
        }
    }
}

/// Terrain at the samples of a grid, without depressions. `ends` are the only samples outside the sea at which flow ends, as
/// row-major indices, unless it ends at the whole border.
pub(crate) fn without_depressions(
    mut terrain: Heightfield,
    routing: RoutingOptions,
    ends: &[u32],
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    drain(&mut terrain, routing, ends, progress)?;
    Ok(terrain)
}

fn drain(
    terrain: &mut Heightfield,
    routing: RoutingOptions,
    ends: &[u32],
    progress: &Progress,
) -> Result<Drainage, Cancelled> {
    let mut drainage = Drainage::new(&Mesh::regular(terrain.grid()), routing, progress)?;
    drainage.set_ends(ends);
    progress.stage(0.0..0.6, || drainage.route(terrain, progress))?;
    progress.stage(0.6..1.0, || drainage.remove_depressions(terrain, FLOOR_SLOPE, progress))?;
    Ok(drainage)
}

#[cfg(test)]
mod tests {
    use super::super::options::Outlets;
    use super::super::refinement::Hillslopes;
    use super::super::source::Source;
    use super::super::wide_grid::WideGrid;
    use super::*;
    use crate::heightfield::Extent;
    use crate::random::Stream;

    #[test]
    fn the_sea_fills_inlets_but_no_hollows() {
        let grid = Grid::new(Extent { width_m: 80.0, depth_m: 40.0 }, 9, 5);
        let row = |samples: [f32; 9]| samples;
        let wall = row([-9.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]);
        // An inlet that bends, and a hollow.
        let source = [
            wall,
            row([-9.0, -2.0, 5.0, -3.0, 5.0, 5.0, 5.0, 5.0, 5.0]),
            row([-9.0, 5.0, -1.0, 5.0, -4.0, 5.0, 5.0, -6.0, 5.0]),
            wall,
            wall,
        ];
        let source = Heightfield::from_fn(grid, |c, r| source[r][c]);
        let mut heights = Heightfield::from_fn(grid, |c, _| if c == 0 { -9.0 } else { 3.0 });
        flood_inlets(&mut heights, &source, 0.0, &Progress::new()).expect("not cancelled");
        for (c, r) in (0..5).flat_map(|r| (0..9).map(move |c| (c, r))) {
            let is_sea = source[(c, r)] < 0.0 && c != 7;
            assert_eq!(heights[(c, r)], if is_sea { source[(c, r)] } else { 3.0 }, "{c}, {r}");
        }
    }

    #[test]
    fn cached_triangles_give_the_same_heights() {
        let progress = Progress::new();
        let world = Grid::new(Extent { width_m: 500.0, depth_m: 400.0 }, 41, 33);
        let random = |grid: Grid, seed: u32, height_m: f64| {
            let mut rng = Stream::new(seed, 1).at(0);
            Heightfield::from_fn(grid, |_, _| (height_m * rng.unit()) as f32)
        };
        for (randomness, margin, sea_m) in
            [(0.3, 0, None), (1.0, 0, None), (1.0, 1, Some(30.0)), (0.7, 5, None), (1.0, 0, Some(45.0))]
        {
            let wide = WideGrid::new(world, margin);
            let random_points = |seed: u32, height_m: f64| random(wide.grid(), seed, height_m);
            let mut left = random_points(1, 1.0);
            left.heights_mut().iter_mut().step_by(3).for_each(|left| *left = left.round());
            let terrain = MeshTerrain {
                mesh: wide.reference_mesh(randomness, &progress).expect("not cancelled"),
                heights: random_points(2, 90.0),
                source: Source { heights: random_points(3, 90.0), left },
                routing: RoutingOptions { outlets: Outlets::Border, sea_m },
                hillslopes: Hillslopes { critical_slope: 1.0, channel_head_m2: 0.0 },
                outlets: Vec::new(),
            };
            let source = random(world, 4, 90.0);
            assert!(terrain.mesh.has_samples(world));
            let sea_level_m = sea_m.unwrap_or(f32::NEG_INFINITY);
            let surface = |place: &Location| {
                place.interpolated(place.values(&terrain.heights).map(|corner_m| corner_m.max(sea_level_m)))
            };
            let expected = terrain.sampled(surface, &source, &progress).expect("not cancelled");
            assert_eq!(terrain.at_own_samples(&source, &progress).expect("not cancelled"), expected);
        }
    }
}
