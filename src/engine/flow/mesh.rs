//! An irregular triangulation with a point near every sample of a grid, on which water has no preferred directions.
//!
//! On a square grid, flow follows eight directions, which shows as stairs along rows and diagonals. Irregular networks
//! avoid this (G. Cordonnier et al., "Large scale terrain generation from tectonic uplift and fluvial erosion",
//! Computer Graphics Forum 35, 2016). Here every sample is moved by a hash of its level and place, and every quad of
//! four neighbours is split along its shorter diagonal. A point then has four to eight neighbours, which are among the
//! eight neighbours on the grid, so rows remain rows in memory.

use std::sync::Arc;

use rayon::prelude::*;

use super::grid::filled_vec;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::Grid;
use crate::engine::progress::{Cancelled, Progress};

/// The largest displacement of a point along each axis, in spacings of the grid. Below 0.5, quads remain simple polygons.
/// At 0.35, fine relief along the axes is still half again as strong as across them.
pub(in crate::engine) const MAX_OFFSET: f32 = 0.49;

/// The points near the samples of a grid. Clones share the points.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Mesh {
    grid: Grid,
    /// The refinement level, which is part of the hash: 0 for the reference grid.
    level: u32,
    /// The displacement of every point in spacings of columns and rows; empty for a regular grid.
    offsets: Arc<Vec<[f32; 2]>>,
    /// The ratio of the spacing of rows to that of columns.
    aspect: f32,
}

/// A place in a triangle: the samples at its corners, row-major, and their barycentric weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub corners: [usize; 3],
    pub weights: [f32; 3],
    /// The positions of the corners relative to the place, in spacings of columns.
    pub relative: [[f32; 2]; 3],
}

impl Mesh {
    /// The points of a level. `randomness` from 0 to 1 scales their displacements. Points on the border stay on it.
    pub fn new(grid: Grid, level: u32, randomness: f32, progress: &Progress) -> Result<Self, Cancelled> {
        let mut mesh = Self { level, ..Self::regular(grid) };
        let max_offset = MAX_OFFSET * randomness.clamp(0.0, 1.0);
        if max_offset > 0.0 {
            let (width, last) = (grid.width(), [grid.width() - 1, grid.height() - 1]);
            let mut offsets = filled_vec(grid.samples(), || [0.0; 2], progress)?;
            offsets.par_chunks_exact_mut(width).enumerate().try_for_each(|(r, row)| {
                for (c, offset) in row.iter_mut().enumerate() {
                    let bits = hash(level, c, r);
                    let share = |bits: u64| (bits & 0xff_ffff).to_f32() * (2.0 / (1_u64 << 24).to_f32()) - 1.0;
                    let east = if c == 0 || c == last[0] { 0.0 } else { max_offset * share(bits) };
                    let south = if r == 0 || r == last[1] { 0.0 } else { max_offset * share(bits >> 32) };
                    *offset = [east, south];
                }
                progress.check()
            })?;
            mesh.offsets = Arc::new(offsets);
        }
        Ok(mesh)
    }

    /// The samples of a grid as they are, each with eight neighbours.
    pub fn regular(grid: Grid) -> Self {
        let aspect = (grid.spacing_z_m() / grid.spacing_x_m()).to_f32();
        Self { grid, level: 0, offsets: Arc::default(), aspect }
    }

    /// The grid whose samples are displaced.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The refinement level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Whether the points are the samples of the grid.
    pub fn is_regular(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The displacement of a point in spacings of columns and rows.
    #[inline(always)]
    pub fn offset(&self, c: usize, r: usize) -> [f32; 2] {
        if self.offsets.is_empty() { [0.0; 2] } else { self.offsets[r * self.grid.width() + c] }
    }

    /// The up to eight points around a point in its rows and columns.
    pub(super) fn around(&self, c: usize, r: usize) -> impl Iterator<Item = [usize; 2]> {
        let columns = c.saturating_sub(1)..(c + 2).min(self.grid.width());
        let rows = r.saturating_sub(1)..(r + 2).min(self.grid.height());
        rows.flat_map(move |r| columns.clone().map(move |c| [c, r])).filter(move |point| *point != [c, r])
    }

    /// The vector between two neighbouring points, in spacings of columns.
    pub(super) fn vector(&self, [c, r]: [usize; 2], [to_c, to_r]: [usize; 2]) -> [f32; 2] {
        let ([east, south], [to_east, to_south]) = (self.offset(c, r), self.offset(to_c, to_r));
        let columns = to_c.to_isize().wrapping_sub(c.to_isize()).to_f32();
        let rows = to_r.to_isize().wrapping_sub(r.to_isize()).to_f32();
        [columns + to_east - east, (rows + to_south - south) * self.aspect]
    }

    /// The distance between two neighbouring points, in spacings of columns.
    fn distance(&self, from: [usize; 2], to: [usize; 2]) -> f32 {
        let [east, south] = self.vector(from, to);
        (east * east + south * south).sqrt()
    }

    /// Whether the quad with the north-western sample (c, r) is split from north-west to south-east.
    fn is_falling(&self, c: usize, r: usize) -> bool {
        is_falling([[c, r], [c + 1, r], [c, r + 1], [c + 1, r + 1]].map(|corner| self.vector([c, r], corner)))
    }

    /// The reciprocal lengths of all edges per metre, as maps padded by one sample, at the north-western sample of
    /// each: edges to the east, to the south, diagonals to the south-east, and diagonals from the sample to the east to
    /// the one to the south. 0 where there is no edge.
    pub fn reciprocal_lengths(&self, progress: &Progress) -> Result<[Vec<f32>; 4], Cancelled> {
        let (width, height, stride) = (self.grid.width(), self.grid.height(), self.grid.width() + 2);
        let per_m = self.grid.spacing_x_m().recip().to_f32();
        let mut maps = [(); 4].map(|()| filled_vec(stride * (height + 2), || 0.0, progress));
        let [Ok(east), Ok(south), Ok(falling), Ok(rising)] = &mut maps else { return Err(Cancelled) };
        let rows = east
            .par_chunks_exact_mut(stride)
            .zip(south.par_chunks_exact_mut(stride))
            .zip(falling.par_chunks_exact_mut(stride).zip(rising.par_chunks_exact_mut(stride)))
            .skip(1)
            .take(height)
            .enumerate();
        rows.try_for_each(|(r, ((east, south), (falling, rising)))| {
            for c in 0..width {
                let reciprocal = |from, to| per_m / self.distance(from, to);
                let at = c + 1;
                if c + 1 < width {
                    east[at] = reciprocal([c, r], [c + 1, r]);
                }
                if r + 1 < height {
                    south[at] = reciprocal([c, r], [c, r + 1]);
                }
                if c + 1 < width && r + 1 < height {
                    if self.is_falling(c, r) {
                        falling[at] = reciprocal([c, r], [c + 1, r + 1]);
                    } else {
                        rising[at] = reciprocal([c + 1, r], [c, r + 1]);
                    }
                }
            }
            progress.check()
        })?;
        let [east, south, falling, rising] = maps;
        Ok([east?, south?, falling?, rising?])
    }

    /// Finds the triangle that contains a point, given in spacings as a whole number and a fraction along each axis.
    pub(super) fn locate(&self, [c, r]: [usize; 2], [u, v]: [f32; 2]) -> Location {
        let (width, height) = (self.grid.width(), self.grid.height());
        let (mut nearest, mut best) = (None, f32::NEG_INFINITY);
        // The cell itself, then its neighbours, the nearest first.
        let (across, along) = (if u < 0.5 { -1 } else { 1 }, if v < 0.5 { -1 } else { 1 });
        let near = [[0, 0], [across, 0], [0, along], [across, along]];
        let far = [[-across, 0], [0, -along], [-across, along], [across, -along], [-across, -along]];
        for [east, south] in near.into_iter().chain(far) {
            let (west, north) = (c.wrapping_add_signed(east), r.wrapping_add_signed(south));
            if west >= width - 1 || north >= height - 1 {
                continue;
            }
            let corner = |column: usize, row: usize| {
                let [x, z] = self.offset(west + column, north + row);
                let across = east.to_f32() + column.to_f32() + x - u;
                let along = south.to_f32() + row.to_f32() + z - v;
                [across, along * self.aspect]
            };
            let places = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
            let triangles: [[usize; 3]; 2] =
                if is_falling(places) { [[0, 1, 3], [0, 3, 2]] } else { [[0, 1, 2], [1, 3, 2]] };
            for triangle in triangles {
                let relative = triangle.map(|corner| places[corner]);
                let weights = barycentric(relative);
                let lowest = weights[0].min(weights[1]).min(weights[2]);
                if lowest > best {
                    best = lowest;
                    let corners = triangle.map(|corner| (north + corner / 2) * width + west + corner % 2);
                    nearest = Some(Location { corners, weights, relative });
                }
                if lowest >= 0.0 {
                    break;
                }
            }
            if best >= -1e-6 {
                break;
            }
        }
        // Every point of the world is in a triangle; a grid has at least one quad.
        nearest.unwrap_or(Location { corners: [0; 3], weights: [1.0, 0.0, 0.0], relative: [[0.0; 2]; 3] })
    }
}

/// Whether a quad is split from its first corner (north-west) to its last (south-east): along the shorter diagonal, or
/// along the only one that lies inside.
fn is_falling([nw, ne, sw, se]: [[f32; 2]; 4]) -> bool {
    let area = |a: [f32; 2], b: [f32; 2], c: [f32; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    let squared = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
    if area(nw, ne, se).min(area(nw, se, sw)) <= 0.0 {
        return false;
    }
    area(nw, ne, sw).min(area(ne, se, sw)) <= 0.0 || squared(nw, se) <= squared(ne, sw)
}

/// The barycentric weights of the origin in a triangle.
fn barycentric([[ax, az], [bx, bz], [cx, cz]]: [[f32; 2]; 3]) -> [f32; 3] {
    let area = (bx - ax) * (cz - az) - (cx - ax) * (bz - az);
    let [a, b] = [(bx * cz - cx * bz) / area, (cx * az - ax * cz) / area];
    [a, b, 1.0 - a - b]
}

/// A pseudorandom number that depends on a level and a place (the finaliser of SplitMix64, G. Steele, D. Lea and
/// C. Flood, "Fast splittable pseudorandom number generators", 2014).
#[inline(always)]
pub(super) fn hash(level: u32, c: usize, r: usize) -> u64 {
    let place = (c.to_u64() << 32) | r.to_u64();
    let mut bits = place.wrapping_add((u64::from(level) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;

    fn mesh(width: usize, height: usize) -> Mesh {
        let extent = Extent { width_m: 20.0 * (width - 1) as f64, depth_m: 30.0 * (height - 1) as f64 };
        Mesh::new(Grid::new(extent, width, height), 1, 1.0, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn the_hash_is_splitmix64() {
        // The first two numbers of the reference implementation with the seed 0.
        assert_eq!([hash(0, 0, 0), hash(1, 0, 0)], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn points_depend_on_their_place_alone_and_stay_on_the_border() {
        let (small, large) = (mesh(9, 7), mesh(33, 29));
        for (c, r) in (1..8).flat_map(|c| (1..6).map(move |r| (c, r))) {
            assert_eq!(small.offset(c, r), large.offset(c, r));
            assert!(small.offset(c, r).iter().all(|offset| offset.abs() <= MAX_OFFSET && *offset != 0.0));
        }
        assert!((0..9).all(|c| small.offset(c, 0)[1] == 0.0 && small.offset(c, 6)[1] == 0.0));
        assert!((0..7).all(|r| small.offset(0, r)[0] == 0.0 && small.offset(8, r)[0] == 0.0));
    }

    #[test]
    fn triangles_cover_the_world_once() {
        let mesh = mesh(65, 49);
        let mut sum = 0.0;
        for (c, r) in (0..64).flat_map(|c| (0..48).map(move |r| (c, r))) {
            let quad = [[c, r], [c + 1, r], [c, r + 1], [c + 1, r + 1]].map(|corner| mesh.vector([c, r], corner));
            let triangles = if is_falling(quad) { [[0, 1, 3], [0, 3, 2]] } else { [[0, 1, 2], [1, 3, 2]] };
            for [a, b, c] in triangles.map(|corners| corners.map(|corner| quad[corner])) {
                let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
                assert!(area > 0.0, "a triangle is folded over at ({c:?})");
                sum += 0.5 * f64::from(area);
            }
        }
        assert!((sum - 64.0 * 48.0 * 1.5).abs() < 1e-2, "{sum}");
    }

    #[test]
    fn every_place_is_within_the_triangle_that_is_found() {
        let mesh = mesh(17, 13);
        for i in 0..4000_usize {
            let share = |bits: u64| (bits & 0xffff) as f32 / 65_536.0;
            let bits = hash(9, i, 0);
            let place = mesh.locate([i % 16, i % 12], [share(bits), share(bits >> 16)]);
            assert!(place.weights.iter().all(|weight| *weight >= -1e-5), "{place:?}");
            for axis in 0..2 {
                let centre: f32 = (0..3).map(|k| place.weights[k] * place.relative[k][axis]).sum();
                assert!(centre.abs() < 1e-5, "{place:?}");
            }
        }
    }

    #[test]
    fn edges_have_the_lengths_between_their_points_and_quads_one_diagonal() {
        let (mesh, stride) = (mesh(9, 7), 11);
        let [east, south, falling, rising] = mesh.reciprocal_lengths(&Progress::new()).expect("not cancelled");
        for (c, r) in (0..8).flat_map(|c| (0..6).map(move |r| (c, r))) {
            let at = (r + 1) * stride + c + 1;
            let reciprocal = |from, to| {
                let [x, z] = mesh.vector(from, to);
                1.0 / (20.0 * (x * x + z * z).sqrt())
            };
            assert!((east[at] - reciprocal([c, r], [c + 1, r])).abs() < 1e-6);
            assert!((south[at] - reciprocal([c, r], [c, r + 1])).abs() < 1e-6);
            assert_ne!(falling[at] > 0.0, rising[at] > 0.0);
            let sum = falling[at] + rising[at];
            let diagonals = [reciprocal([c, r], [c + 1, r + 1]), reciprocal([c + 1, r], [c, r + 1])];
            assert!(diagonals.iter().any(|diagonal| (sum - diagonal).abs() < 1e-6));
        }
        // There is nothing beyond the border.
        assert!((0..7).all(|r| east[(r + 1) * stride + 9] == 0.0 && falling[(r + 1) * stride + 9] == 0.0));
        assert!((0..9).all(|c| south[7 * stride + c + 1] == 0.0 && rising[7 * stride + c + 1] == 0.0));
    }
}
