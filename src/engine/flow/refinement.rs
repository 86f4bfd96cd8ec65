//! Adds the valleys and gullies of a finer mesh to drained terrain.
//!
//! The channels of the coarse mesh keep their heights: fine points within a channel get the height of the nearest place
//! on it, so every river still falls. Between the channels, the coarse slopes are interpolated smoothly, roughened by
//! place and eroded. The strength is the same at every level, so every level gets gullies of its own size. Their mean
//! height around every coarse point is then restored. What a level adds depends on its surroundings alone, and the
//! terrain is the same at every resolution. See docs/rivers.md.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::filled_vec;
use super::mesh::{Location, Mesh, hash};
use super::options::{Outlets, RoutingOptions};
use super::sampling::place;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::{Grid, Heightfield, bilinear};
use crate::engine::progress::{Cancelled, Progress};

/// Points that drain at least this many cells are channels.
const CHANNEL_CELLS: u32 = 12;
/// The half width of a channel in spacings of the fine mesh: wide enough that the fine points in it are connected.
const CHANNEL_HALF_WIDTH: f32 = 0.6;
/// The steepest banks of channels and the steepest smooth slopes, metres per metre.
const MAX_SLOPE: f32 = 2.0;
/// The fall of filled floors on the reference mesh, metres per metre, as of gentle alluvial plains.
const PLAIN_SLOPE: f32 = 2e-3;
/// The fall of filled floors on finer meshes and grids, where the lengths of flow paths depend on the resolution.
const FLOOR_SLOPE: f32 = 1e-5;
/// Erosion factors are tabulated up to this many cells; larger areas erode as much.
const MAX_CELLS: u32 = 255;

/// How a level is refined.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Refinement {
    pub routing: RoutingOptions,
    /// The exponent of the drainage area in the erosion law.
    pub area_exponent: f64,
    /// The tangent of the steepest slope that stands.
    pub critical_slope: f32,
    /// The dissection of the level: the share of its slope that a point loses in a sweep if it drains two cells.
    pub dissection: f32,
    /// The amplitude of the roughness from which gullies start, in spacings times the slope.
    pub roughness: f32,
}

/// Terrain at the points of a mesh, without depressions, and its drainage.
#[derive(Debug)]
pub(in crate::engine) struct DrainedTerrain {
    mesh: Mesh,
    heights: Heightfield,
    /// The row-major index of the point that each drains to; the point itself where flow ends.
    receivers: Vec<u32>,
    /// The points that are channels.
    is_channel: Vec<bool>,
    source: Source,
}

/// The terrain before erosion, which has detail that a coarser mesh lacks.
#[derive(Debug)]
pub(in crate::engine) struct Source {
    /// The heights at the points.
    pub heights: Heightfield,
    /// The share of the detail that erosion has left at each point.
    pub left: Heightfield,
}

/// What a coarse mesh says about the points of a finer one.
struct Constraints {
    /// The heights of the coarse triangles, whose means are kept.
    linear: Heightfield,
    /// The points that keep their heights: outlets, and those within the channels of the coarse mesh.
    is_fixed: Vec<bool>,
    /// The share of the detail before erosion that is left.
    left: Heightfield,
}

impl DrainedTerrain {
    /// Terrain at the points of a mesh, given the heights of its streams there and the tangent of the steepest slope that
    /// stands.
    pub fn new(
        mesh: Mesh,
        streams: &Heightfield,
        source: Source,
        routing: RoutingOptions,
        critical_slope: f32,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut drainage = Drainage::new(&mesh, routing, progress)?;
        let mut heights = with_valley_floors(&mesh, streams, &source.left, routing, progress)?;
        drainage.route(&heights, progress)?;
        drainage.remove_depressions(&mut heights, PLAIN_SLOPE, progress)?;
        if critical_slope.is_finite() {
            // The walls of cuts slide.
            drainage.route(&heights, progress)?;
            limit_slopes(&mut heights, &drainage, &source.left, critical_slope, progress)?;
        }
        Self::drained(mesh, heights, source, &mut drainage, progress)
    }

    fn drained(
        mesh: Mesh,
        mut heights: Heightfield,
        source: Source,
        drainage: &mut Drainage,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        drainage.route(&heights, progress)?;
        let areas = drainage.remove_depressions(&mut heights, FLOOR_SLOPE, progress)?;
        let is_channel = drainage.unpadded(|sample| areas[sample].load(Relaxed) >= CHANNEL_CELLS);
        Ok(Self { mesh, receivers: drainage.receivers(), heights, is_channel, source })
    }

    /// The heights at the samples of a grid, drained along the grid. `source` is the terrain before erosion there.
    pub fn on_grid(
        &self,
        source: &Heightfield,
        routing: RoutingOptions,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let grid = source.grid();
        let mut terrain = progress.stage(0.0..0.3, || self.sampled(source, progress))?;
        let mut drainage = Drainage::new(&Mesh::regular(grid), routing, progress)?;
        self.set_ends(&mut drainage, grid, routing);
        progress.stage(0.3..0.7, || drainage.route(&terrain, progress))?;
        progress.stage(0.7..1.0, || drainage.remove_depressions(&mut terrain, FLOOR_SLOPE, progress))?;
        match routing.sea_m {
            // The floor of the sea stays as it is, and land stays above it.
            Some(sea_m) => terrain.combined(
                source,
                |height, source| if source <= sea_m { source } else { height.max(sea_m) },
                progress,
            ),
            None => Ok(terrain),
        }
    }

    /// The heights at the samples of a grid: within the triangles, or smooth if the grid is finer than the mesh.
    fn sampled(&self, source: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let (own, grid) = (self.mesh.grid(), source.grid());
        let is_finer = grid.width() > own.width() || grid.height() > own.height();
        let gradients = if is_finer { Some(self.gradients(MAX_SLOPE, progress)?) } else { None };
        let mut terrain = Heightfield::flat(grid);
        let columns: Vec<(usize, f32)> = (0..grid.width()).map(|c| place(c, grid.width(), own.width())).collect();
        let counter = progress.counter(grid.height());
        terrain.heights_mut().par_chunks_exact_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
            let (r0, v) = place(r, grid.height(), own.height());
            for ((height, &(c0, u)), source) in row.iter_mut().zip(&columns).zip(source.row(r)) {
                let place = self.mesh.locate([c0, r0], [u, v]);
                let left = place.value(&self.source.left);
                let linear = place.value(&self.heights);
                let eroded = gradients.as_ref().map_or(linear, |gradients| self.smooth(&place, gradients).0);
                let detail = source - place.value(&self.source.heights);
                *height = left * (linear + detail) + (1.0 - left) * eroded;
            }
            counter.add_one()
        })?;
        Ok(terrain)
    }

    /// The terrain on a mesh with twice the resolution. `source` is the terrain before erosion at its points, whose
    /// detail is added where the erosion has left it.
    pub fn refined(
        &self,
        mesh: Mesh,
        refinement: Refinement,
        source: Heightfield,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let (mut heights, constraints) =
            progress.stage(0.0..0.2, || self.interpolated(&mesh, refinement, &source, progress))?;
        let mut drainage = Drainage::new(&mesh, refinement.routing, progress)?;
        self.set_ends(&mut drainage, mesh.grid(), refinement.routing);
        if refinement.dissection > 0.0 {
            erode(&mut heights, &mut drainage, &constraints, refinement, progress)?;
            progress.report(0.7);
        }
        self.restore_means(&mut heights, &constraints, progress)?;
        let Constraints { left, .. } = constraints;
        progress.stage(0.75..1.0, || {
            Self::drained(mesh, heights, Source { heights: source, left }, &mut drainage, progress)
        })
    }

    /// Keeps outlets at the lowest points of the border where they are: another mesh may have its lowest points
    /// elsewhere, and terrain that drains elsewhere is another terrain.
    fn set_ends(&self, drainage: &mut Drainage, grid: Grid, routing: RoutingOptions) {
        if routing.outlets == Outlets::Border {
            return;
        }
        let own = self.mesh.grid();
        let [columns, rows] = [(grid.width(), own.width()), (grid.height(), own.height())]
            .map(|(samples, own)| (samples - 1).to_f64() / (own - 1).to_f64());
        let nearest = |point: usize| {
            let (c, r) = (point % own.width(), point / own.width());
            let [east, south] = self.mesh.offset(c, r).map(f64::from);
            let column = ((c.to_f64() + east) * columns).round().to_usize();
            let row = ((r.to_f64() + south) * rows).round().to_usize();
            (row * grid.width() + column).to_u32()
        };
        let is_end = |(point, receiver): &(usize, &u32)| **receiver as usize == *point;
        let sea_m = routing.sea_m.unwrap_or(f32::NEG_INFINITY);
        let ends = self.receivers.iter().enumerate().filter(is_end).map(|(point, _)| point);
        let ends = ends.filter(|point| self.heights.heights()[*point] > sea_m);
        drainage.set_ends(&ends.map(nearest).collect::<Vec<_>>());
    }

    /// The gradient at every point in metres per spacing of columns: of the best-fit plane through the neighbours, and
    /// in channels that along the channel, which gives them level cross sections. Limited to `max_slope` (metres per
    /// metre), so that heights do not overshoot at cliffs.
    fn gradients(&self, max_slope: f32, progress: &Progress) -> Result<Vec<[f32; 2]>, Cancelled> {
        let grid = self.mesh.grid();
        let (width, heights) = (grid.width(), self.heights.heights());
        let max_steepness = max_slope * grid.spacing_x_m().to_f32();
        let mut gradients = vec![[0.0; 2]; grid.samples()];
        gradients.par_chunks_exact_mut(width).enumerate().try_for_each(|(r, row)| {
            for (c, gradient) in row.iter_mut().enumerate() {
                let point = r * width + c;
                let receiver = self.receivers[point] as usize;
                let [east, south] = if self.is_channel[point] && receiver != point {
                    let [x, z] = self.mesh.vector([c, r], [receiver % width, receiver / width]);
                    let fall = (heights[receiver] - heights[point]) / (x * x + z * z);
                    [fall * x, fall * z]
                } else {
                    self.plane_gradient(c, r)
                };
                let steepness = (east * east + south * south).sqrt();
                let limit = if steepness > max_steepness { max_steepness / steepness } else { 1.0 };
                *gradient = [limit * east, limit * south];
            }
            progress.check()
        })?;
        Ok(gradients)
    }

    /// The gradient of the plane through point (c, r) that fits its neighbours best: least squares, weighted by the
    /// inverse square of the distance.
    fn plane_gradient(&self, c: usize, r: usize) -> [f32; 2] {
        let own = self.heights[(c, r)];
        let [mut xx, mut xz, mut zz, mut xh, mut zh] = [0.0_f32; 5];
        for [column, row] in self.mesh.around(c, r) {
            let [x, z] = self.mesh.vector([c, r], [column, row]);
            let weight = 1.0 / (x * x + z * z);
            let rise = self.heights[(column, row)] - own;
            xx += weight * x * x;
            xz += weight * x * z;
            zz += weight * z * z;
            xh += weight * x * rise;
            zh += weight * z * rise;
        }
        let determinant = xx * zz - xz * xz;
        if determinant > 0.0 {
            [(xh * zz - zh * xz) / determinant, (zh * xx - xh * xz) / determinant]
        } else {
            [0.0; 2]
        }
    }

    /// The heights at the points of a finer mesh before its own erosion.
    fn interpolated(
        &self,
        mesh: &Mesh,
        refinement: Refinement,
        source: &Heightfield,
        progress: &Progress,
    ) -> Result<(Heightfield, Constraints), Cancelled> {
        let bank_slope = refinement.critical_slope.min(MAX_SLOPE);
        let gradients = self.gradients(bank_slope, progress)?;
        let (grid, own) = (mesh.grid(), self.mesh.grid());
        let width = grid.width();
        let spacing_m = grid.spacing_x_m().to_f32();
        let [mut heights, mut linear, mut left] = [(); 3].map(|()| Heightfield::flat(grid));
        let mut is_fixed = vec![false; grid.samples()];
        let heights_and_linear =
            heights.heights_mut().par_chunks_exact_mut(width).zip(linear.heights_mut().par_chunks_exact_mut(width));
        let left_and_fixed = left.heights_mut().par_chunks_exact_mut(width).zip(is_fixed.par_chunks_exact_mut(width));
        let counter = progress.counter(grid.height());
        heights_and_linear.zip(left_and_fixed).enumerate().try_for_each(
            |(r, ((heights, linear), (left, is_fixed)))| {
                for c in 0..width {
                    let [east, south] = mesh.offset(c, r);
                    let (column, u) = halved(c, east, own.width());
                    let (row, v) = halved(r, south, own.height());
                    let place = self.mesh.locate([column, row], [u, v]);
                    let share = place.value(&self.source.left);
                    left[c] = share;
                    let detail = share * (source.heights()[r * width + c] - place.value(&self.source.heights));
                    let coarse = place.value(&self.heights);
                    linear[c] = coarse + detail;
                    if refinement.routing.is_end(grid, c, r, linear[c]) {
                        heights[c] = linear[c];
                        is_fixed[c] = true;
                        continue;
                    }
                    let channel = self.channel(&place, 0.5 * CHANNEL_HALF_WIDTH);
                    if let Some((level_m, distance)) = channel
                        && distance <= 0.0
                    {
                        heights[c] = level_m;
                        is_fixed[c] = true;
                        continue;
                    }
                    let (smooth, steepness) = self.smooth(&place, &gradients);
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

    /// The smoothly interpolated height at a place, and the steepness there in metres per spacing: the planes at the
    /// corners of the triangle, blended by the squares of the barycentric weights.
    fn smooth(&self, place: &Location, gradients: &[[f32; 2]]) -> (f32, f32) {
        let (mut sum, mut steepness, mut total) = (0.0, 0.0, 0.0);
        for ((&corner, weight), [x, z]) in place.corners.iter().zip(place.weights).zip(place.relative) {
            let weight = weight.max(0.0) * weight.max(0.0);
            let [east, south] = gradients[corner];
            sum += weight * (self.heights.heights()[corner] - east * x - south * z);
            steepness += weight * (east * east + south * south).sqrt();
            total += weight;
        }
        (sum / total, steepness / total)
    }

    /// The height in metres of the nearest channel that begins at a corner of the triangle, and the distance to its
    /// edge in spacings, which is negative within the channel.
    fn channel(&self, place: &Location, half_width: f32) -> Option<(f32, f32)> {
        let (width, heights) = (self.mesh.grid().width(), self.heights.heights());
        let mut nearest: Option<(f32, f32)> = None;
        for (&corner, [x, z]) in place.corners.iter().zip(place.relative) {
            if !self.is_channel[corner] {
                continue;
            }
            let receiver = self.receivers[corner] as usize;
            let [along_x, along_z] = if receiver == corner {
                [0.0; 2]
            } else {
                self.mesh.vector([corner % width, corner / width], [receiver % width, receiver / width])
            };
            let squared = along_x * along_x + along_z * along_z;
            let share = if squared > 0.0 { (-(x * along_x + z * along_z) / squared).clamp(0.0, 1.0) } else { 0.0 };
            let (away_x, away_z) = (x + share * along_x, z + share * along_z);
            let distance = (away_x * away_x + away_z * away_z).sqrt() - half_width;
            if nearest.is_none_or(|(_, known)| distance < known) {
                nearest = Some((heights[corner] + share * (heights[receiver] - heights[corner]), distance));
            }
        }
        nearest
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
        let (own, grid) = (self.mesh.grid(), heights.grid());
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

/// The heights around the points of a mesh, given those of the streams there. Streams are narrower than a spacing and
/// lie below the mean of their surroundings, which are partly valley floors, partly slopes.
fn with_valley_floors(
    mesh: &Mesh,
    streams: &Heightfield,
    left: &Heightfield,
    routing: RoutingOptions,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    /// The share of the neighbours in the mean height of an eroded point below them.
    const SHARE: f32 = 0.55;
    let grid = mesh.grid();
    let width = grid.width();
    let sea_m = routing.sea_m.unwrap_or(f32::NEG_INFINITY);
    let mut heights = streams.copied(progress)?;
    let rows = heights.heights_mut().par_chunks_exact_mut(width).enumerate().skip(1).take(grid.height().max(2) - 2);
    rows.try_for_each(|(r, row)| {
        for (c, height) in row.iter_mut().enumerate().skip(1).take(width.max(2) - 2) {
            let stream_m = streams[(c, r)];
            if stream_m <= sea_m {
                continue;
            }
            let (mut sum, mut total) = (0.0_f32, 0.0_f32);
            for [x, z] in mesh.around(c, r) {
                let [east, south] = mesh.vector([c, r], [x, z]);
                let weight = 1.0 / (east * east + south * south);
                sum += weight * streams[(x, z)];
                total += weight;
            }
            let rise_m = (sum / total - stream_m).max(0.0);
            *height += SHARE * (1.0 - left[(c, r)]) * rise_m;
        }
        progress.check()
    })?;
    Ok(heights)
}

/// Lowers points that are above the steepest slope towards their receivers, but not where all detail is `left`.
fn limit_slopes(
    heights: &mut Heightfield,
    drainage: &Drainage,
    left: &Heightfield,
    critical_slope: f32,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let zero = || AtomicU32::new(0);
    let areas = filled_vec(drainage.padded_samples(), zero, progress)?;
    let limited = filled_vec(drainage.padded_samples(), zero, progress)?;
    let visit = |sample: usize| {
        let own_m = drainage.height_m(sample);
        let height_m = drainage.receiver(sample).map_or(own_m, |(direction, receiver)| {
            let rise_m = critical_slope / drainage.reciprocal_length(sample, direction);
            let limit_m = own_m.min(f32::from_bits(limited[receiver].load(Relaxed)) + rise_m);
            own_m + (1.0 - left.heights()[drainage.row_major(sample)]) * (limit_m - own_m)
        });
        limited[sample].store(height_m.to_bits(), Relaxed);
    };
    drainage.visit_trees(&areas, |tree| drainage.visit_upstream(tree, progress, visit), progress)?;
    drainage.copy_inside(heights, &limited, progress)
}

/// The position of a point of the finer mesh among those of the coarser one: a whole number and a fraction.
fn halved(at: usize, offset: f32, count: usize) -> (usize, f32) {
    let first = (at / 2).min(count - 2);
    (first, 0.5 * ((at - 2 * first).to_f32() + offset))
}

/// A random number from −1 to 1 that depends on the place.
fn random(mesh: &Mesh, c: usize, r: usize) -> f32 {
    /// Separates these numbers from the displacements of the points.
    const ROUGHNESS: u32 = 1 << 16;
    (hash(ROUGHNESS + mesh.level(), c, r) >> 40).to_f32() * (2.0 / (1_u64 << 24).to_f32()) - 1.0
}

/// Erodes the slopes between channels once, implicitly and without uplift, but not where all detail is `left`.
fn erode(
    heights: &mut Heightfield,
    drainage: &mut Drainage,
    Constraints { linear, is_fixed, left }: &Constraints,
    refinement: Refinement,
    progress: &Progress,
) -> Result<(), Cancelled> {
    drainage.route(heights, progress)?;
    let grid = heights.grid();
    let (width, stride) = (grid.width(), drainage.stride());
    let zero = || AtomicU32::new(0);
    let areas = filled_vec(drainage.padded_samples(), zero, progress)?;
    let eroded = filled_vec(drainage.padded_samples(), zero, progress)?;
    let factor = |cells: u32| libm::pow(0.5 * f64::from(cells + 1), refinement.area_exponent).to_f32();
    let factors: Vec<f32> = (0..=MAX_CELLS).map(|cells| refinement.dissection * factor(cells)).collect();
    let spacing_m = grid.spacing_x_m().to_f32();
    let visit = |sample: usize| {
        let own_m = drainage.height_m(sample);
        let (c, r) = (sample % stride - 1, sample / stride - 1);
        let height_m = match drainage.receiver(sample) {
            Some((direction, receiver)) if !is_fixed[r * width + c] => {
                let base_m = f32::from_bits(eroded[receiver].load(Relaxed));
                let drop_m = own_m - base_m;
                if drop_m > 0.0 {
                    let cells = areas[sample].load(Relaxed).min(MAX_CELLS);
                    let per_m = drainage.reciprocal_length(sample, direction);
                    let eroded = 1.0 - left[(c, r)];
                    let rest_m = drop_m / (1.0 + eroded * factors[cells as usize] * spacing_m * per_m);
                    // Slopes that are too steep on the coarse mesh stay as they are.
                    let below = drainage.row_major(receiver);
                    let coarse_m = linear[(c, r)] - linear.heights()[below];
                    base_m + rest_m.min((refinement.critical_slope / per_m).max(coarse_m))
                } else {
                    own_m
                }
            }
            _ => own_m,
        };
        eroded[sample].store(height_m.to_bits(), Relaxed);
    };
    drainage.visit_trees(&areas, |tree| drainage.visit_upstream(tree, progress, visit), progress)?;
    drainage.copy_inside(heights, &eroded, progress)
}

#[cfg(test)]
mod tests {
    use super::super::tests::terrain;
    use super::*;

    #[test]
    fn valley_floors_rise_towards_the_slopes_beside_them() {
        const NO_SEA: RoutingOptions = RoutingOptions { outlets: Outlets::Border, sea_m: None };
        let valley = terrain(&[&[8.0, 0.0, 8.0], &[8.0, 0.0, 8.0], &[8.0, 0.0, 8.0]]);
        let rise = |left: f32, routing: RoutingOptions| {
            let left = Heightfield::from_fn(valley.grid(), |_, _| left);
            let mesh = Mesh::regular(valley.grid());
            let heights = with_valley_floors(&mesh, &valley, &left, routing, &Progress::new()).expect("not cancelled");
            assert_eq!(heights[(0, 1)], 8.0, "the border and crests stay");
            heights[(1, 1)]
        };
        // Cells are 2 m wide and 3 m deep: weights of 1/4 beside, 1/13 at the corners, 1/9 along the valley.
        let [beside, corners, along] = [2.0 / 4.0, 4.0 / 13.0, 2.0 / 9.0_f32];
        let mean_m = 8.0 * (beside + corners) / (beside + corners + along);
        assert!((rise(0.0, NO_SEA) - 0.55 * mean_m).abs() < 1e-5, "{}", rise(0.0, NO_SEA));
        assert_eq!(rise(1.0, NO_SEA), 0.0, "terrain that is not eroded");
        assert_eq!(rise(0.0, RoutingOptions { sea_m: Some(0.0), ..NO_SEA }), 0.0, "the floor of the sea");
    }
}
