//! Adds the valleys and gullies of a finer mesh to drained terrain.
//!
//! The channels of the coarse mesh keep their heights: fine points within a channel get the height of the nearest place
//! on it, so every river still falls. Between the channels, the coarse slopes are interpolated smoothly, roughened by
//! place and eroded. Every level gets gullies of its own size; the erosion is 10 % weaker at each finer level. Their mean
//! height around every coarse point is then restored, and the bends of the first level are limited. What a level adds
//! depends on its surroundings alone, and the terrain is the same at every resolution. See docs/rivers.md.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::bend_limit::limit_bends_at_points;
use super::depressions::{FLOOR_SLOPE, PLAIN_SLOPE};
use super::drainage::Drainage;
use super::location::{RowOfPoints, halved};
use super::mesh::{Location, Mesh, hash};
use super::options::RoutingOptions;
use super::slope_limit::limit_slopes;
use super::source::Source;
use super::valley_floors::{Neighbourhoods, smooth_margins, with_valley_floors};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, GridPart, Heightfield, bilinear};
use crate::progress::{Cancelled, Progress};

/// Points that drain fewer cells are no channels on any mesh.
const MIN_CHANNEL_CELLS: f64 = 12.0;
/// The half width of a channel in spacings of the fine mesh: wide enough that the fine points in it are connected.
const CHANNEL_HALF_WIDTH: f32 = 0.6;
/// The steepest banks of channels and the steepest smooth slopes, metres per metre.
const MAX_SLOPE: f32 = 2.0;
/// Erosion factors are tabulated up to this many cells; larger areas erode as much.
const MAX_CELLS: u32 = 255;

/// The limits of hillslopes, the same on all meshes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hillslopes {
    /// The tangent of the steepest slope that stands; infinite if all do.
    pub critical_slope: f32,
    /// The drainage area at which channels begin, m².
    pub channel_head_m2: f64,
}

/// How a level is refined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refinement {
    /// The exponent of the drainage area in the erosion law.
    pub area_exponent: f64,
    /// The dissection of the level: the share of its slope that a point loses in a sweep if it drains two cells.
    pub dissection: f32,
    /// The amplitude of the roughness from which gullies start, in spacings times the slope.
    pub roughness: f32,
}

/// Terrain at the points of a mesh.
#[derive(Debug)]
pub(crate) struct MeshTerrain {
    pub(super) mesh: Mesh,
    pub(super) heights: Heightfield,
    pub(super) source: Source,
    pub(super) routing: RoutingOptions,
    pub(super) hillslopes: Hillslopes,
    /// The outlets above the sea, as row-major indices.
    pub(super) outlets: Vec<u32>,
}

/// Terrain at the points of a mesh, without depressions, and its drainage.
#[derive(Debug)]
pub(crate) struct DrainedTerrain {
    pub(super) terrain: MeshTerrain,
    /// The row-major index of the point that each drains to; the point itself where flow ends.
    pub(super) receivers: Vec<u32>,
    /// The points that are channels.
    pub(super) is_channel: Vec<bool>,
}

/// A point of a mesh as the corner of triangles.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    height_m: f32,
    /// The height of the terrain before erosion, metres.
    source_m: f32,
    /// The share of the detail that erosion has left.
    left: f32,
    /// The gradient in metres per spacing of columns: of the best-fit plane through the neighbours, and in channels that
    /// along the channel, which gives them level cross sections. The floor of the sea counts as high as the sea.
    gradient: [f32; 2],
    /// The length of the gradient.
    steepness: f32,
    /// The channel that begins at the point.
    channel: Option<Channel>,
}

/// The part of a channel between a point and its receiver.
#[derive(Clone, Copy, Debug)]
struct Channel {
    /// The vector to the receiver, in spacings of columns; 0 at an outlet.
    along: [f32; 2],
    /// The height of the receiver above the point, metres.
    rise_m: f32,
    /// The reciprocal of the squared length; 0 at an outlet.
    per_squared: f32,
}

/// What a coarse mesh says about the points of a finer one.
struct Constraints {
    /// The heights of the coarse triangles, whose means are kept. Shores slope down to the level of the sea.
    linear: Heightfield,
    /// The points that keep their heights: outlets, and those within the channels of the coarse mesh.
    is_fixed: Vec<bool>,
    /// The share of the detail before erosion that is left.
    left: Heightfield,
}

impl MeshTerrain {
    /// The terrain without depressions.
    pub fn drained(self, progress: &Progress) -> Result<DrainedTerrain, Cancelled> {
        let mut drainage = Drainage::new(&self.mesh, self.routing, progress)?;
        drainage.set_ends(&self.outlets);
        DrainedTerrain::with_drainage(self, &mut drainage, progress)
    }

    /// The samples of a grid of the world at which flow ends, as row-major indices: the outlets, or the whole border if the
    /// mesh reaches beyond it.
    pub(super) fn ends_on(&self, grid: Grid) -> Vec<u32> {
        if self.mesh.margin() == 0 {
            return self.outlets_on(grid);
        }
        let (width, samples) = (grid.width(), grid.samples());
        let [north, south] = [0..width, samples - width..samples];
        let sides = (0..samples).step_by(width).flat_map(|west| [west, west + width - 1]);
        north.chain(south).chain(sides).map(ToInteger::to_u32).collect()
    }

    /// The outlets on the grid of another mesh, as row-major indices. They stay where they are, because the lowest points of
    /// the border of another mesh may be elsewhere, and terrain that drains elsewhere is another terrain.
    fn outlets_on(&self, grid: Grid) -> Vec<u32> {
        let own = self.mesh.grid();
        let (full, full_own, first_own) = (grid.full(), own.full(), own.first());
        let [columns, rows] = [(full.width(), full_own.width()), (full.height(), full_own.height())]
            .map(|(samples, own)| (samples - 1).to_f64() / (own - 1).to_f64());
        let nearest = |point: &u32| {
            let (c, r) = (*point as usize % own.width(), *point as usize / own.width());
            let [east, south] = self.mesh.offset(c, r).map(f64::from);
            let column = (((first_own[0] + c).to_f64() + east) * columns).round().to_usize();
            let row = (((first_own[1] + r).to_f64() + south) * rows).round().to_usize();
            grid.as_part().inside([column, row]).map(|[c, r]| (r * grid.width() + c).to_u32())
        };
        self.outlets.iter().filter_map(nearest).collect()
    }
}

impl DrainedTerrain {
    /// Terrain at the points of a mesh, given the heights of its streams there.
    pub fn new(
        mesh: Mesh,
        streams: &Heightfield,
        source: Source,
        routing: RoutingOptions,
        hillslopes: Hillslopes,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut drainage = Drainage::new(&mesh, routing, progress)?;
        let points = Neighbourhoods::new(&mesh, progress)?;
        let mut heights = with_valley_floors(&points, streams, &source.left, routing, progress)?;
        limit_bends_at_points(&mesh, &points, &mut heights, &source.left, routing, progress)?;
        drop(points);
        drainage.route(&heights, progress)?;
        let unfilled = heights.copied(progress)?;
        drainage.remove_depressions(&mut heights, PLAIN_SLOPE, progress)?;
        smooth_margins(&mesh, &mut heights, &unfilled, routing, progress)?;
        if hillslopes.critical_slope.is_finite() {
            // The walls of cuts slide, and the crests behind them.
            limit_slopes(&mut heights, &drainage, &source, hillslopes.critical_slope, progress)?;
        }
        let terrain = MeshTerrain { mesh, heights, source, routing, hillslopes, outlets: Vec::new() };
        let mut drained = Self::with_drainage(terrain, &mut drainage, progress)?;
        let (heights, sea_m) = (drained.terrain.heights.heights(), drainage.sea_m());
        let ends = (0..).zip(&drained.receivers).filter(|(point, receiver)| point == *receiver).map(|(point, _)| point);
        drained.terrain.outlets = ends.filter(|point: &u32| heights[*point as usize] > sea_m).collect();
        Ok(drained)
    }

    fn with_drainage(
        mut terrain: MeshTerrain,
        drainage: &mut Drainage,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        drainage.route(&terrain.heights, progress)?;
        drainage.remove_depressions(&mut terrain.heights, FLOOR_SLOPE, progress)?;
        let areas = drainage.areas(progress)?;
        let min_cells = (terrain.hillslopes.channel_head_m2 / drainage.cell_m2()).max(MIN_CHANNEL_CELLS);
        let is_channel = drainage.unpadded(|sample| f64::from(areas[sample].load(Relaxed)) >= min_cells);
        Ok(Self { terrain, receivers: drainage.receivers(), is_channel })
    }

    /// The heights at the samples of a grid, drained along the grid: within the triangles, or smooth if the grid is
    /// finer than the mesh. `source` is the terrain before erosion there.
    pub fn on_grid(self, source: Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let (own, grid) = (self.terrain.mesh.grid().full(), source.grid().full());
        let beyond = 2 * self.terrain.mesh.margin();
        if grid.width() + beyond <= own.width() && grid.height() + beyond <= own.height() {
            return self.terrain.on_grid(source.grid(), source, progress);
        }
        let sampled = progress.stage(0.0..0.3, || {
            let (corners, sea_m) = (self.corners(MAX_SLOPE, progress)?, self.terrain.routing.sea_level_m());
            self.terrain.sampled(|place| smooth(place, &corners_of(place, &corners), sea_m).0, &source, progress)
        })?;
        let Self { terrain, receivers, is_channel } = self;
        drop((receivers, is_channel));
        progress.stage(0.3..1.0, || terrain.drained_along_grid(source.grid(), sampled, source, progress))
    }

    /// The terrain at the points of a part of the mesh. What flows to points outside ends at the border of the part.
    pub fn part(&self, part: GridPart) -> Self {
        let MeshTerrain { mesh, heights, source, routing, hillslopes, outlets } = &self.terrain;
        let width = mesh.grid().width();
        let inside = |point: u32| {
            let place = part.inside([point as usize % width, point as usize / width]);
            place.map(|[c, r]| (r * part.size[0] + c).to_u32())
        };
        let points = || part.rows(width).flatten();
        let terrain = MeshTerrain {
            mesh: mesh.part(part),
            heights: heights.part(part),
            source: Source { heights: source.heights.part(part), left: source.left.part(part) },
            routing: *routing,
            hillslopes: *hillslopes,
            outlets: outlets.iter().copied().filter_map(inside).collect(),
        };
        let receivers = (0..).zip(points()).map(|(own, point)| inside(self.receivers[point]).unwrap_or(own)).collect();
        Self { terrain, receivers, is_channel: points().map(|point| self.is_channel[point]).collect() }
    }

    /// The grid of the mesh.
    pub fn grid(&self) -> Grid {
        self.terrain.mesh.grid()
    }

    /// The terrain on a mesh with twice the resolution. `source` is the terrain before erosion at its points, whose
    /// detail is added where the erosion has left it.
    pub fn refined(
        &self,
        mesh: Mesh,
        refinement: Refinement,
        source: Heightfield,
        progress: &Progress,
    ) -> Result<MeshTerrain, Cancelled> {
        let (mut heights, constraints) =
            progress.stage(0.0..0.3, || self.interpolated(&mesh, refinement, &source, progress))?;
        let mut drainage = Drainage::new(&mesh, self.terrain.routing, progress)?;
        let outlets = self.terrain.outlets_on(mesh.grid());
        drainage.set_ends(&outlets);
        if refinement.dissection > 0.0 {
            let Hillslopes { critical_slope, .. } = self.terrain.hillslopes;
            erode(&mut heights, &mut drainage, &constraints, refinement, critical_slope, progress)?;
            progress.report(0.9);
        }
        drop(drainage);
        self.restore_means(&mut heights, &constraints, progress)?;
        let Constraints { linear, is_fixed, left } = constraints;
        drop((linear, is_fixed));
        if mesh.level() == 1 {
            // Finer levels add little to the bends of this one, which moves its channels and means by less than the limits.
            let points = Neighbourhoods::new(&mesh, progress)?;
            limit_bends_at_points(&mesh, &points, &mut heights, &left, self.terrain.routing, progress)?;
        }
        let source = Source { heights: source, left };
        let MeshTerrain { routing, hillslopes, .. } = self.terrain;
        Ok(MeshTerrain { mesh, heights, source, routing, hillslopes, outlets })
    }

    /// The points as corners of triangles, on planes that are not steeper than `max_slope` (metres per metre), so that
    /// heights do not overshoot at cliffs.
    fn corners(&self, max_slope: f32, progress: &Progress) -> Result<Vec<Corner>, Cancelled> {
        let MeshTerrain { mesh, heights, source, routing, .. } = &self.terrain;
        let (grid, sea_m) = (mesh.grid(), routing.sea_level_m());
        let width = grid.width();
        let above_sea = routing.above_sea(heights, progress)?;
        let max_steepness = max_slope * grid.spacing_x_m().to_f32();
        let mut corners = vec![Corner::default(); grid.samples()];
        corners.par_chunks_exact_mut(width).enumerate().try_for_each_init(
            <[Vec<f32>; 2]>::default,
            |gradients, (r, row)| {
                mesh.find_plane_gradients(&above_sea, r, gradients);
                let heights = heights.heights();
                for (c, corner) in row.iter_mut().enumerate() {
                    let point = r * width + c;
                    let receiver = self.receivers[point] as usize;
                    let is_end = receiver == point;
                    // Rivers end at the shore, not on the floor of the sea.
                    let is_channel = self.is_channel[point] && !(is_end && heights[point] <= sea_m);
                    let channel = is_channel.then(|| {
                        let along =
                            if is_end { [0.0; 2] } else { mesh.vector([c, r], [receiver % width, receiver / width]) };
                        let squared = along[0] * along[0] + along[1] * along[1];
                        let per_squared = if is_end { 0.0 } else { squared.recip() };
                        Channel { along, rise_m: above_sea.heights()[receiver] - heights[point], per_squared }
                    });
                    let [east, south] = match &channel {
                        Some(Channel { along, rise_m, per_squared }) if receiver != point => {
                            along.map(|along| rise_m * per_squared * along)
                        }
                        _ => [gradients[0][c], gradients[1][c]],
                    };
                    let steepness = (east * east + south * south).sqrt();
                    let limit = if steepness > max_steepness { max_steepness / steepness } else { 1.0 };
                    *corner = Corner {
                        height_m: heights[point],
                        source_m: source.heights.heights()[point],
                        left: source.left.heights()[point],
                        gradient: [limit * east, limit * south],
                        steepness: limit * steepness,
                        channel,
                    };
                }
                progress.check()
            },
        )?;
        Ok(corners)
    }

    /// The heights at the points of a finer mesh before its own erosion.
    fn interpolated(
        &self,
        mesh: &Mesh,
        refinement: Refinement,
        source: &Heightfield,
        progress: &Progress,
    ) -> Result<(Heightfield, Constraints), Cancelled> {
        let sea_m = self.terrain.routing.sea_level_m();
        let bank_slope = self.terrain.hillslopes.critical_slope.min(MAX_SLOPE);
        let corners = self.corners(bank_slope, progress)?;
        let grid = mesh.grid();
        let width = grid.width();
        let spacing_m = grid.spacing_x_m().to_f32();
        let [mut heights, mut linear, mut left] = [(); 3].map(|()| Heightfield::flat(grid));
        let mut is_fixed = vec![false; grid.samples()];
        let heights_and_linear =
            heights.heights_mut().par_chunks_exact_mut(width).zip(linear.heights_mut().par_chunks_exact_mut(width));
        let left_and_fixed = left.heights_mut().par_chunks_exact_mut(width).zip(is_fixed.par_chunks_exact_mut(width));
        let counter = progress.counter(grid.height());
        let places = mesh.places_on_coarser(|| RowOfPoints::locate_all(&self.terrain.mesh, mesh, progress))?;
        heights_and_linear.zip(left_and_fixed).enumerate().try_for_each_init(
            RowOfPoints::default,
            |points, (r, ((heights, linear), (left, is_fixed)))| {
                let places = match &places {
                    Some(places) => &places[r * width..][..width],
                    None => points.locate(&self.terrain.mesh, mesh, r),
                };
                for (c, place) in places.iter().enumerate() {
                    let corners = corners_of(place, &corners);
                    let share = place.interpolated(corners.map(|corner| corner.left));
                    left[c] = share;
                    let source_m = place.interpolated(corners.map(|corner| corner.source_m));
                    let detail = share * (source.heights()[r * width + c] - source_m);
                    let coarse = place.interpolated(corners.map(|corner| corner.height_m));
                    let is_shore =
                        source.heights()[r * width + c] > sea_m && corners.iter().any(|corner| corner.height_m < sea_m);
                    linear[c] = detail
                        + if is_shore {
                            // It slopes down to the level of the sea, not to its floor.
                            let above_sea = place.interpolated(corners.map(|corner| corner.height_m.max(sea_m)));
                            share * coarse + (1.0 - share) * above_sea
                        } else {
                            coarse
                        };
                    if self.terrain.routing.is_end(grid, c, r, linear[c]) {
                        heights[c] = linear[c];
                        is_fixed[c] = true;
                        continue;
                    }
                    let channel = nearest_channel(place, &corners, 0.5 * CHANNEL_HALF_WIDTH);
                    if let Some((level_m, distance)) = channel
                        && distance <= 0.0
                    {
                        heights[c] = level_m;
                        is_fixed[c] = true;
                        continue;
                    }
                    let (smooth, steepness) = smooth(place, &corners, sea_m);
                    // Steepness is per coarse spacing.
                    let rough = smooth + 0.5 * refinement.roughness * steepness * random(mesh, c, r);
                    // Terrain that is not eroded stays as it is.
                    let rough = share * coarse + (1.0 - share) * rough + detail;
                    let bank = channel
                        .map_or(f32::INFINITY, |(level_m, distance)| level_m + distance * 2.0 * spacing_m * bank_slope);
                    heights[c] = rough.min(bank);
                }
                counter.add_one()
            },
        )?;
        Ok((heights, Constraints { linear, is_fixed, left }))
    }

    /// Shifts the heights that are not fixed so that the mean around every coarse point is that of `linear`.
    fn restore_means(
        &self,
        heights: &mut Heightfield,
        Constraints { linear, is_fixed, .. }: &Constraints,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        /// The weights of even and odd samples, the odd ones being half way between two coarse ones.
        const WEIGHTS: [f32; 2] = [1.0, 0.5];
        /// The smallest weight over which the difference is spread, of 4: fixed points may leave little room.
        const MIN_WEIGHT: f32 = 2.0;
        let (own, grid) = (self.terrain.mesh.grid(), heights.grid());
        let (width, height) = (grid.width(), grid.height());
        let mut shifts = Heightfield::flat(own);
        shifts.heights_mut().par_chunks_exact_mut(own.width()).enumerate().try_for_each(|(r, row)| {
            for (c, shift) in row.iter_mut().enumerate() {
                let (mut sum, mut free) = (0.0_f32, 0.0_f32);
                for row in (2 * r).saturating_sub(1)..(2 * r + 2).min(height) {
                    for column in (2 * c).saturating_sub(1)..(2 * c + 2).min(width) {
                        let weight = WEIGHTS[row & 1] * WEIGHTS[column & 1];
                        sum += weight * (linear[(column, row)] - heights[(column, row)]);
                        free += if is_fixed[row * width + column] { 0.0 } else { weight };
                    }
                }
                *shift = sum / free.max(MIN_WEIGHT);
            }
            progress.check()
        })?;
        heights.heights_mut().par_chunks_exact_mut(width).enumerate().try_for_each(|(r, row)| {
            for (c, height) in row.iter_mut().enumerate().filter(|(c, _)| !is_fixed[r * width + c]) {
                let ((column, u), (row, v)) = (halved(c, 0.0, own.width()), halved(r, 0.0, own.height()));
                let shift = |c: usize, r: usize| shifts[(column + c, row + r)];
                *height += bilinear([shift(0, 0), shift(1, 0), shift(0, 1), shift(1, 1)], u, v);
            }
            progress.check()
        })
    }
}

/// The corners of the triangle that contains a place.
#[inline(always)]
fn corners_of(place: &Location, corners: &[Corner]) -> [Corner; 3] {
    place.corners.map(|corner| corners[corner as usize])
}

/// The smoothly interpolated height at a place in metres, and the steepness there in metres per spacing. The height is
/// the mean of the corners' heights and of their planes, which is exact for quadratic surfaces if the planes are tangent:
/// linear interpolation is too low between the points of a crest, and tangent planes are too high by as much. Such errors
/// repeat with the spacing and show as stripes along rows and columns. The floor of the sea counts as high as the sea.
#[inline(always)]
fn smooth(place: &Location, corners: &[Corner; 3], sea_m: f32) -> (f32, f32) {
    let (mut height_m, mut steepness) = (0.0, 0.0);
    for ((corner, weight), [x, z]) in corners.iter().zip(place.weights).zip(place.relative) {
        let [east, south] = corner.gradient;
        height_m += weight * (corner.height_m.max(sea_m) - 0.5 * (east * x + south * z));
        steepness += weight * corner.steepness;
    }
    (height_m, steepness)
}

/// The height in metres of the nearest channel that begins at a corner of the triangle, and the distance to its edge in
/// spacings, which is negative within the channel.
#[inline(always)]
fn nearest_channel(place: &Location, corners: &[Corner; 3], half_width: f32) -> Option<(f32, f32)> {
    let mut nearest: Option<(f32, f32)> = None;
    for (corner, [x, z]) in corners.iter().zip(place.relative) {
        let Some(Channel { along: [along_x, along_z], rise_m, per_squared }) = corner.channel else { continue };
        let share = (-(x * along_x + z * along_z) * per_squared).clamp(0.0, 1.0);
        let (away_x, away_z) = (x + share * along_x, z + share * along_z);
        let distance = (away_x * away_x + away_z * away_z).sqrt() - half_width;
        if nearest.is_none_or(|(_, known)| distance < known) {
            nearest = Some((corner.height_m + share * rise_m, distance));
        }
    }
    nearest
}

/// A random number from −1 to 1 that depends on the place.
fn random(mesh: &Mesh, c: usize, r: usize) -> f32 {
    /// Separates these numbers from the displacements of the points.
    const ROUGHNESS: u32 = 1 << 16;
    let [column, row] = mesh.grid().first();
    (hash(ROUGHNESS + mesh.level(), column + c, row + r) >> 40).to_f32() * (2.0 / (1_u64 << 24).to_f32()) - 1.0
}

/// Erodes the slopes between channels once, implicitly and without uplift, but not where all detail is `left`.
fn erode(
    heights: &mut Heightfield,
    drainage: &mut Drainage,
    Constraints { linear, is_fixed, left }: &Constraints,
    refinement: Refinement,
    critical_slope: f32,
    progress: &Progress,
) -> Result<(), Cancelled> {
    drainage.route(heights, progress)?;
    let (left, linear) = (left.heights(), linear.heights());
    let areas = drainage.areas(progress)?;
    let eroded: Vec<AtomicU32> = bytemuck::zeroed_vec(drainage.padded_samples());
    let factor = |cells: u32| libm::pow(0.5 * f64::from(cells + 1), refinement.area_exponent).to_f32();
    let factors: Vec<f32> = (0..=MAX_CELLS).map(|cells| refinement.dissection * factor(cells)).collect();
    let (spacing_m, sea_m) = (heights.grid().spacing_x_m().to_f32(), drainage.sea_m());
    let visit = |sample: usize| {
        let own_m = drainage.height_m(sample);
        let point = drainage.row_major(sample);
        let height_m = match drainage.receiver(sample) {
            Some((direction, receiver)) if !is_fixed[point] => {
                let base_m = f32::from_bits(eroded[receiver].load(Relaxed)).max(sea_m);
                let drop_m = own_m - base_m;
                if drop_m > 0.0 {
                    let cells = areas[sample].load(Relaxed).min(MAX_CELLS);
                    let per_m = drainage.reciprocal_length(sample, direction);
                    let eroded = 1.0 - left[point];
                    let rest_m = drop_m / (1.0 + eroded * factors[cells as usize] * spacing_m * per_m);
                    // Slopes that are too steep on the coarse mesh stay as they are.
                    let coarse_m = linear[point] - linear[drainage.receiver_row_major(sample, point)].max(sea_m);
                    base_m + rest_m.min((critical_slope / per_m).max(coarse_m))
                } else {
                    own_m
                }
            }
            _ => own_m,
        };
        eroded[sample].store(height_m.to_bits(), Relaxed);
    };
    drainage.visit_upstream(visit, progress)?;
    drainage.copy_inside(heights, |sample| f32::from_bits(eroded[sample].load(Relaxed)), progress)
}

#[cfg(test)]
mod tests {
    use super::super::location::Places;
    use super::super::options::Outlets;
    use super::super::tests::mesh;
    use super::*;

    #[test]
    fn shores_rise_from_the_sea() {
        const SPACING_M: [f32; 2] = [20.0, 30.0];
        let progress = Progress::new();
        let fine_mesh = |level: u32| {
            let samples = (32 << level) + 1;
            Mesh::new(Grid::new(mesh(33, 33).grid().full().extent(), samples, samples), level, 1.0, &progress)
        };
        let cone_m = |x: f32, z: f32| {
            let (x, z) = (x - 320.0, z - 480.0);
            60.0 - 0.25 * (x * x + z * z).sqrt()
        };
        let on_points = |mesh: &Mesh| {
            let [dx, dz] = SPACING_M.map(|spacing_m| spacing_m / (1 << mesh.level()).to_f32());
            Heightfield::from_fn(mesh.grid(), |c, r| {
                let [east, south] = mesh.offset(c, r);
                cone_m(dx * (c.to_f32() + east), dz * (r.to_f32() + south))
            })
        };
        let coarse = fine_mesh(0).expect("not cancelled");
        let source = on_points(&coarse);
        let mut heights = source.clone();
        heights.heights_mut().iter_mut().filter(|height| **height > 0.0).for_each(|height| *height *= 0.3);
        let mut terrain = MeshTerrain {
            source: Source { heights: source, left: Heightfield::flat(coarse.grid()) },
            mesh: coarse,
            heights,
            routing: RoutingOptions { outlets: Outlets::Border, sea_m: Some(0.0) },
            hillslopes: Hillslopes { critical_slope: f32::INFINITY, channel_head_m2: 0.0 },
            outlets: Vec::new(),
        };
        for level in 1..=2 {
            let mesh = fine_mesh(level).expect("not cancelled");
            let source = on_points(&mesh);
            let refinement = Refinement { area_exponent: 0.5, dissection: 0.13, roughness: 0.34 };
            let drained = terrain.drained(&progress).expect("not cancelled");
            terrain = drained.refined(mesh, refinement, source, &progress).expect("not cancelled");
        }
        let grid = Grid::new(terrain.mesh.grid().full().extent(), 257, 257);
        let source = Heightfield::from_fn(grid, |c, r| cone_m(2.5 * c.to_f32(), 3.75 * r.to_f32()));
        let drained = terrain.drained(&progress).expect("not cancelled");
        let map = drained.on_grid(source.clone(), &progress).expect("not cancelled");
        // Within 16 m of the shore, about as far as the edges of triangles are long on the last mesh.
        let shore: Vec<f32> = map
            .heights()
            .iter()
            .zip(source.heights())
            .filter(|(_, source)| (0.0..4.0).contains(*source))
            .map(|(height, _)| *height)
            .collect();
        let level = shore.iter().filter(|height| **height < 1e-3).count();
        assert!(shore.len() > 1000 && level * 20 < shore.len(), "{level} of {}", shore.len());
    }

    #[test]
    fn interpolation_is_exact_for_quadratic_surfaces() {
        let mesh = mesh(33, 29);
        let aspect = f64::from(mesh.aspect());
        // In spacings of columns, like the gradients.
        let height = |x: f64, z: f64| 3.0 + 0.7 * x - 0.4 * z + 0.05 * x * x - 0.08 * x * z + 0.11 * z * z;
        let gradient = |x: f64, z: f64| [0.7 + 0.1 * x - 0.08 * z, -0.4 - 0.08 * x + 0.22 * z];
        let columns: Vec<usize> = (4..28).collect();
        let share = |bits: u64| (bits & 0xffff) as f32 / 65_536.0;
        let mut places = Vec::new();
        for row in 4..24 {
            let [u, v]: [Vec<f32>; 2] =
                [0, 16].map(|shift| columns.iter().map(|c| share(hash(5, *c, row) >> shift)).collect());
            mesh.locate_row(Places { row, columns: &columns, u: &u, v: &v }, &mut places);
            for ((place, c), (u, v)) in places.iter().zip(&columns).zip(u.iter().zip(&v)) {
                let (x, z) = (c.to_f64() + f64::from(*u), (row.to_f64() + f64::from(*v)) * aspect);
                let corners = place.relative.map(|[east, south]| {
                    let (x, z) = (x + f64::from(east), z + f64::from(south));
                    let gradient = gradient(x, z).map(ToFloat::to_f32);
                    Corner { height_m: height(x, z).to_f32(), gradient, ..Corner::default() }
                });
                let (found, _) = smooth(place, &corners, f32::NEG_INFINITY);
                let linear = place.interpolated(corners.map(|corner| corner.height_m));
                assert!((f64::from(found) - height(x, z)).abs() < 1e-3, "{found} at {x}, {z}");
                assert!((f64::from(linear) - height(x, z)).abs() > 1e-4 || place.weights.contains(&1.0));
            }
        }
    }
}
