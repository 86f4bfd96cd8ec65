//! Stochastic tiling: covers a surface with a texture without visible repeats.
//!
//! The surface is divided into a grid of triangles. Each vertex carries a copy of the texture with a random offset, and
//! every triangle blends the copies of its three vertices. Blending lowers the contrast, which is restored around the
//! mean (Heitz and Neyret, "High-Performance By-Example Noise using a Histogram-Preserving Blending Operator", 2018,
//! equation 2).

use std::sync::Arc;

use rayon::prelude::*;

use super::points::Lattice;
use super::swatch::{FULL, MipLevel, channels_of_two, rows_around};
use crate::cast::{ToFloat, ToInteger};
use crate::progress::{Cancelled, Progress};
use crate::simd::{round_to_u32, simd};

/// Points that are processed together in SIMD lanes.
pub(super) const LANES: usize = 8;

/// A number for each lane.
pub(super) type Lanes = [f32; LANES];

/// Triangle sides per repeat of the texture: triangles are large enough to keep the texture's features intact.
const SIDES_PER_REPEAT: f64 = 3.0;

/// The height of a triangle as a share of its side: √¾.
const TRIANGLE_HEIGHT: f64 = 0.866_025_403_784_438_6;

/// The barycentric coordinate of a vertex below which its copy has no weight. The largest of the three coordinates is
/// at least ⅓, so at least one copy always has a weight.
const MIN_COORDINATE: f32 = 0.15;

/// A texture resampled to the spacing of the points, one texel per point, and extended beyond its borders as far as
/// copies reach. Copies are offset by whole points, so that neighbouring points read neighbouring columns of every
/// copy.
///
/// A texel has the same value whether it was computed in advance or on demand.
#[derive(Clone, Debug)]
struct ResampledTexture {
    /// Columns and rows.
    size: [usize; 2],
    /// The number of points by which it extends beyond each border of the texture.
    margin: [i64; 2],
    /// The number of points along each side of the texture; not a whole number.
    period: [f64; 2],
    /// Reds, greens, blues and reliefs, row by row, if they were computed in advance.
    texels: Option<Arc<[Vec<u16>; 4]>>,
}

/// The maximum number of points along a side of the texture: a wider one would show hardly any of its features.
const MAX_PERIOD: f64 = 1e8;

/// The texels of neighbouring points: reds, greens, blues and reliefs.
type TexelLanes = [[u16; LANES]; 4];

impl ResampledTexture {
    /// Interpolates the texels of neighbouring points, beginning at a column.
    #[inline(always)]
    fn compute(&self, level: &MipLevel, row: usize, column: usize) -> TexelLanes {
        // In double precision, because points may be tiny compared with the texture.
        let [east, south] = self.period.map(|period| 1.0 / period);
        let first = (column.to_i64() - self.margin[0]).to_i32();
        let v = (row.to_i64() - self.margin[1]).to_f64() * south;
        let (north, south, down) = rows_around((v - v.floor()).to_f32(), level.height);
        let (north, south) = (level.row(north), level.row(south));
        let (mut wests, mut fractions) = ([0_u32; LANES], [0.0; LANES]);
        for (lane, (west, fraction)) in wests.iter_mut().zip(&mut fractions).enumerate() {
            let u = f64::from(first + lane.to_i32()) * east;
            // Each row of a level begins with a copy of its last texel.
            let position = (u - u.floor()).to_f32() * level.width.to_f32() + 0.5;
            let base = position.floor();
            *fraction = position - base;
            *west = round_to_u32(base);
        }
        let mut texels = [[0.0; 4]; LANES];
        for lane in 0..LANES {
            let west = wests[lane] as usize;
            let (north, south) = (channels_of_two(&north[west..west + 2]), channels_of_two(&south[west..west + 2]));
            let mut pair = [0.0; 8];
            for c in 0..8 {
                pair[c] = north[c] + (south[c] - north[c]) * down;
            }
            for c in 0..4 {
                texels[lane][c] = pair[c] + (pair[c + 4] - pair[c]) * fractions[lane];
            }
        }
        let mut rounded = [[0; LANES]; 4];
        for c in 0..4 {
            for lane in 0..LANES {
                rounded[c][lane] = round_to_u32(texels[lane][c]).to_u16();
            }
        }
        rounded
    }

    fn compute_all(&mut self, level: &MipLevel, progress: &Progress) -> Result<(), Cancelled> {
        let [columns, rows] = self.size;
        let mut channels = [const { Vec::new() }; 4];
        channels.iter_mut().for_each(|channel| channel.resize(columns * rows, 0));
        let [red, green, blue, relief] = channels.each_mut().map(|channel| channel.par_chunks_mut(columns));
        let rows = red.zip(green).zip(blue.zip(relief)).enumerate();
        rows.try_for_each(|(row, ((red, green), (blue, relief)))| {
            simd(
                #[inline(always)]
                || {
                    for column in (0..columns).step_by(LANES) {
                        // Columns that do not fill the lanes at the end are computed twice.
                        let column = column.min(columns - LANES);
                        let [reds, greens, blues, reliefs] = self.compute(level, row, column);
                        red[column..][..LANES].copy_from_slice(&reds);
                        green[column..][..LANES].copy_from_slice(&greens);
                        blue[column..][..LANES].copy_from_slice(&blues);
                        relief[column..][..LANES].copy_from_slice(&reliefs);
                    }
                },
            );
            progress.check()
        })?;
        self.texels = Some(Arc::new(channels));
        Ok(())
    }

    /// The channels if they were computed in advance, sliced so that the compiler knows their lengths are equal.
    #[inline(always)]
    fn channels(&self) -> Option<[&[u16]; 4]> {
        let [red, green, blue, relief] = &**self.texels.as_ref()?;
        let count = red.len();
        Some([&red[..count], &green[..count], &blue[..count], &relief[..count]])
    }
}

/// A mip level of a texture tiled over the points of a lattice.
#[derive(Clone, Debug)]
pub(super) struct StochasticTiling {
    lattice: Lattice,
    /// The side and the height of a triangle, in points.
    side: f64,
    height: f64,
    texture: ResampledTexture,
}

impl StochasticTiling {
    /// A tiling in which one repeat is `repeat_m` wide and `aspect_ratio` times as wide as high.
    pub(super) fn new(repeat_m: f64, aspect_ratio: f64, lattice: Lattice) -> Self {
        let [east, south] = lattice.pitch_m.map(|pitch_m| (repeat_m / pitch_m).min(MAX_PERIOD));
        let (side, height) = (east / SIDES_PER_REPEAT, south / SIDES_PER_REPEAT * TRIANGLE_HEIGHT);
        let period = [east, (south / aspect_ratio).min(MAX_PERIOD)];
        // A copy extends to the neighbouring vertices: one point more for rounding, and the points beside it in the
        // lanes.
        let margin = [side.ceil().to_i64() + LANES.to_i64() + 1, height.ceil().to_i64() + 1];
        let size = [0, 1].map(|axis| period[axis].ceil().to_usize() + 2 * margin[axis].to_usize());
        Self { lattice, side, height, texture: ResampledTexture { size, margin, period, texels: None } }
    }

    /// Computes all texels in advance, unless there are more than `max_texels`.
    pub(super) fn compute_all(
        &mut self,
        level: &MipLevel,
        max_texels: usize,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let [columns, rows] = self.texture.size;
        let is_small = columns.saturating_mul(rows) <= max_texels;
        if is_small && self.texture.texels.is_none() { self.texture.compute_all(level, progress) } else { Ok(()) }
    }

    /// Reuses the texels that the same tiling computed before.
    pub(super) fn reuse(&mut self, before: &Self) {
        self.texture.texels.clone_from(&before.texture.texels);
    }

    /// The offset of the copy at a vertex: the difference between the index of a texel and that of its point, for
    /// points stored in rows as long as those of the texture.
    fn offset(&self, column: i32, row: i32) -> i64 {
        let Self { lattice, side, height, texture } = self;
        let vertex = [(f64::from(column) + 0.5 * f64::from(row)) * side, f64::from(row) * height];
        let random_offset = random_offset([column, row]);
        let [east, south] = [0, 1].map(|axis| {
            let moved = random_offset[axis] * texture.period[axis] - (vertex[axis] - lattice.phase);
            moved.round().to_i64() + texture.margin[axis]
        });
        south * texture.size[0].to_i64() + east
    }

    /// A row of `count` points, beginning at point (i, j).
    #[inline(always)]
    pub(super) fn row<'a>(&'a self, [i, j]: [i64; 2], count: usize, offsets: &'a mut CopyOffsets) -> TilingRow<'a> {
        let row = (j.to_f64() + self.lattice.phase) / self.height;
        let per_point = 1.0 / self.side;
        let easts = [i, i + (count + LANES).to_i64()].map(|i| (i.to_f64() + self.lattice.phase) * per_point);
        offsets.update(self, row.floor().to_i32(), easts);
        let shift = self.lattice.phase * per_point - 0.5 * row;
        let down = (row - row.floor()).to_f32();
        let north = VertexWeight { rise: 1.0, top: 1.0 - down, fall: 1.0 - down };
        let south = VertexWeight { rise: down, top: down, fall: 1.0 };
        TilingRow {
            texture: &self.texture,
            channels: self.texture.channels(),
            j,
            per_point: per_point.to_f32(),
            shift: shift.to_f32(),
            weights: [north, south].map(VertexWeight::lowered),
            offsets,
        }
    }
}

/// A row of points of a tiling.
#[derive(Clone, Copy, Debug)]
pub(super) struct TilingRow<'a> {
    texture: &'a ResampledTexture,
    channels: Option<[&'a [u16]; 4]>,
    /// The row's number in the lattice.
    j: i64,
    /// The distance between neighbouring points and the position of point 0, in sides of triangles.
    per_point: f32,
    shift: f32,
    /// The weights of the vertices north and south of the row.
    weights: [VertexWeight; 2],
    offsets: &'a CopyOffsets,
}

impl TilingRow<'_> {
    /// The texels beginning at an index.
    #[inline(always)]
    fn texels_at(&self, level: &MipLevel, index: usize) -> TexelLanes {
        match &self.channels {
            Some([red, green, blue, relief]) => {
                // No loop, because a closure over the array is not inlined.
                let mut texels = [[0; LANES]; 4];
                let lanes = index..index + LANES;
                texels[0].copy_from_slice(&red[lanes.clone()]);
                texels[1].copy_from_slice(&green[lanes.clone()]);
                texels[2].copy_from_slice(&blue[lanes.clone()]);
                texels[3].copy_from_slice(&relief[lanes]);
                texels
            }
            None => self.texture.compute(level, index / self.texture.size[0], index % self.texture.size[0]),
        }
    }

    /// The deviations from the mean at the points beginning at point `i` of the lattice, channel by channel; `mean` is
    /// the mean of the texture, 0 to 1.
    #[inline(always)]
    pub(super) fn deviations(&self, level: &MipLevel, i: i64, mean: [f32; 4]) -> [Lanes; 4] {
        let mut positions = [0.0; LANES];
        for (lane, position) in positions.iter_mut().enumerate() {
            *position = (i.to_i32() + lane.to_i32()).to_f32() * self.per_point + self.shift;
        }
        let index = self.j * self.texture.size[0].to_i64() + i;
        let (mut sums, mut squares, mut blends) = ([0.0; LANES], [0.0; LANES], [[0.0; LANES]; 4]);
        for (&VertexWeight { rise, top, fall }, offsets) in self.weights.iter().zip(&self.offsets.offsets) {
            if top <= 0.0 {
                continue;
            }
            let (first, last) = ((positions[0] - fall).ceil().to_i32(), (positions[LANES - 1] + rise).floor().to_i32());
            for vertex in first..last + 1 {
                let texels =
                    self.texels_at(level, (index + offsets[(vertex - self.offsets.first).to_usize()]).to_usize());
                let mut weights = [0.0; LANES];
                for lane in 0..LANES {
                    let distance = positions[lane] - vertex.to_f32();
                    // Not `min`, which costs more because it handles NaN.
                    let rising = if distance + rise < top { distance + rise } else { top };
                    let coordinate = if rising < fall - distance { rising } else { fall - distance };
                    weights[lane] = sharpen(if coordinate > 0.0 { coordinate } else { 0.0 });
                    sums[lane] += weights[lane];
                    squares[lane] += weights[lane] * weights[lane];
                }
                for (blend, texels) in blends.iter_mut().zip(&texels) {
                    for lane in 0..LANES {
                        blend[lane] += weights[lane] * f32::from(texels[lane]);
                    }
                }
            }
        }
        let mut gains = [0.0; LANES];
        for lane in 0..LANES {
            gains[lane] = 1.0 / squares[lane].sqrt();
        }
        for (blend, mean) in blends.iter_mut().zip(mean) {
            for lane in 0..LANES {
                blend[lane] = (blend[lane] * (1.0 / FULL) - mean * sums[lane]) * gains[lane];
            }
        }
        blends
    }
}

/// The fourth power: the sharpness of the blend between copies, chosen by eye; the first power would be a linear fade.
#[inline(always)]
fn sharpen(coordinate: f32) -> f32 {
    let square = coordinate * coordinate;
    square * square
}

/// The weight of a vertex along a row of points, as a trapezoid over the distance east of the vertex. In a triangle,
/// the weights of its vertices are the barycentric coordinates, and those of all others are 0.
#[derive(Clone, Copy, Debug)]
struct VertexWeight {
    /// The rising side is distance + `rise`.
    rise: f32,
    /// The plateau.
    top: f32,
    /// The falling side is `fall` − distance.
    fall: f32,
}

impl VertexWeight {
    /// The same, lowered so that it is 0 below [`MIN_COORDINATE`].
    fn lowered(self) -> Self {
        let Self { rise, top, fall } = self;
        Self { rise: rise - MIN_COORDINATE, top: top - MIN_COORDINATE, fall: fall - MIN_COORDINATE }
    }
}

/// The offsets of the copies along a row of triangles of one tiling, reused from row to row.
#[derive(Debug, Default)]
pub(super) struct CopyOffsets {
    /// The row of triangles, and the first and the last vertex on its borders.
    key: Option<(i32, [i32; 2])>,
    first: i32,
    /// The offsets of the copies at the vertices on the northern and on the southern border, from the first vertex on.
    offsets: [Vec<i64>; 2],
}

impl CopyOffsets {
    /// Finds the offsets for a row of triangles between two positions, measured in sides of triangles.
    #[inline(always)]
    fn update(&mut self, tiling: &StochasticTiling, row: i32, [west, east]: [f64; 2]) {
        // From row to row, the vertex with the same number is half a side further east.
        let first = (west - 0.5 * f64::from(row + 1)).floor().to_i32() - 2;
        let last = (east - 0.5 * f64::from(row)).ceil().to_i32() + 2;
        if self.key == Some((row, [first, last])) {
            return;
        }
        (self.key, self.first) = (Some((row, [first, last])), first);
        for (offsets, row) in self.offsets.iter_mut().zip([row, row + 1]) {
            offsets.clear();
            offsets.extend((first..=last).map(|column| tiling.offset(column, row)));
        }
    }
}

/// Two pseudo-random numbers from 0 to 1 for a vertex of the grid, by the finaliser of `MurmurHash3`.
#[inline(always)]
fn random_offset([i, j]: [i32; 2]) -> [f64; 2] {
    let mut hash =
        i.cast_unsigned().wrapping_mul(0x9e37_79b9) ^ j.cast_unsigned().wrapping_mul(0x85eb_ca6b).rotate_left(15);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    [hash & 0xffff, hash >> 16].map(|half| f64::from(half) / 65_536.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn noise(width: usize, height: usize) -> MipLevel {
        let mut rng = Stream::new(3, 1).at(0);
        let texels: Vec<[u16; 4]> =
            (0..width * height).map(|_| [0; 4].map(|_| (rng.unit() * 65_535.0) as u16)).collect();
        MipLevel::new(width, height, |x, y| texels[y * width + x])
    }

    const MEAN: [f32; 4] = [0.5, 0.4, 0.3, 0.6];

    /// The deviations along a row of points, point by point.
    fn deviations_of(tiling: &StochasticTiling, level: &MipLevel, [i, j]: [i64; 2], count: usize) -> Vec<[f32; 4]> {
        let mut offsets = CopyOffsets::default();
        let row = tiling.row([i, j], count, &mut offsets);
        let blocks = (i..i + count as i64).step_by(LANES).map(|at| row.deviations(level, at, MEAN));
        let points = blocks.flat_map(|block| (0..LANES).map(move |lane| block.map(|channel| channel[lane])));
        points.take(count).collect()
    }

    /// Textures, repeats and lattices of every kind: pixels far smaller than texels and as large as them, non-square
    /// pixels, samples.
    fn cases() -> impl Iterator<Item = (MipLevel, StochasticTiling)> {
        let cases = [
            ([64, 64], 37.3, [1.0, 1.0], 0.5),
            ([16, 64], 61.0, [1.3, 0.9], 0.0),
            ([64, 16], 400.0, [3.0, 5.0], 0.5),
            ([5, 3], 170.0, [1.0, 1.0], 0.5),
            ([2, 1], 4.0, [1.7, 1.7], 0.0),
        ];
        cases.into_iter().map(|([width, height], repeat_m, pitch_m, phase)| {
            let aspect_ratio = width as f64 / height as f64;
            (noise(width, height), StochasticTiling::new(repeat_m, aspect_ratio, Lattice { pitch_m, phase }))
        })
    }

    #[test]
    fn texels_in_advance_equal_texels_on_demand() {
        for (level, tiling) in cases() {
            let mut prepared = tiling.clone();
            prepared.compute_all(&level, 1 << 20, &Progress::new()).expect("not cancelled");
            assert!(prepared.texture.texels.is_some());
            for first in [[0, 0], [3, 71], [1001, 12_345]] {
                assert_eq!(
                    deviations_of(&tiling, &level, first, 300),
                    deviations_of(&prepared, &level, first, 300),
                    "{tiling:?}"
                );
            }
        }
    }

    #[test]
    fn a_part_of_a_row_equals_the_row() {
        for (level, tiling) in cases() {
            let whole = deviations_of(&tiling, &level, [0, 50], 400);
            for first in [1, 7, 8, 93] {
                let part = deviations_of(&tiling, &level, [first as i64, 50], 200);
                assert_eq!(whole[first..first + 200], part, "from {first} on: {tiling:?}");
            }
        }
    }

    /// The published form, point by point: the triangle that contains the point, its three vertices, and their blend.
    #[test]
    fn copies_are_blended_in_triangles() {
        for (level, tiling) in cases() {
            let StochasticTiling { lattice, side, height, texture } = &tiling;
            for j in [0, 40, 977] {
                let found = deviations_of(&tiling, &level, [5, j], 200);
                for (i, found) in (5..).zip(found) {
                    let q = (j as f64 + lattice.phase) / height;
                    let p = (i as f64 + lattice.phase) / side - 0.5 * q;
                    let (s, t) = (p - p.floor(), q - q.floor());
                    let [west, north] = [p.floor() as i32, q.floor() as i32];
                    let vertices = if s + t < 1.0 {
                        [(1.0 - s - t, [0, 0]), (s, [1, 0]), (t, [0, 1])]
                    } else {
                        [(s + t - 1.0, [1, 1]), (1.0 - t, [1, 0]), (1.0 - s, [0, 1])]
                    };
                    let (mut sum, mut squares, mut blend) = (0.0, 0.0, [0.0; 4]);
                    for (coordinate, [east, south]) in vertices {
                        let share = (coordinate - f64::from(MIN_COORDINATE)).max(0.0);
                        let share = share * share * share * share;
                        let position = tiling.offset(west + east, north + south) + j * texture.size[0] as i64 + i;
                        let texel = texture.compute(
                            &level,
                            position as usize / texture.size[0],
                            position as usize % texture.size[0],
                        );
                        sum += share;
                        squares += share * share;
                        blend.iter_mut().zip(texel).for_each(|(sum, lanes)| *sum += share * f64::from(lanes[0]));
                    }
                    for ((found, blend), mean) in found.iter().zip(blend).zip(MEAN) {
                        // Weights that sum to 1, and the contrast restored by the root of the sum of their squares.
                        let mean = f64::from(mean);
                        let expected = (blend / sum / f64::from(FULL) - mean) / (squares.sqrt() / sum);
                        assert!((f64::from(*found) - expected).abs() < 2e-3, "{found}, not {expected} at {i}, {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_vertex_shows_its_random_offset() {
        for (_, tiling) in cases() {
            let StochasticTiling { lattice, side, height, texture } = &tiling;
            for [at, row] in [[3, 0], [40, 7], [-2, 31]] {
                let vertex_m = [
                    (f64::from(at) + 0.5 * f64::from(row)) * side * lattice.pitch_m[0],
                    f64::from(row) * height * lattice.pitch_m[1],
                ];
                // The nearest point and its texel, in points from the corner of the texture.
                let nearest =
                    [0, 1].map(|axis| (vertex_m[axis] / lattice.pitch_m[axis] - lattice.phase).round() as i64);
                let columns = texture.size[0] as i64;
                let texel = tiling.offset(at, row) + nearest[1] * columns + nearest[0];
                let texel = [texel % columns, texel / columns];
                for axis in [0, 1] {
                    let expected = random_offset([at, row])[axis] * texture.period[axis];
                    let off = (texel[axis] - texture.margin[axis]) as f64 - expected;
                    assert!(off.abs() <= 1.0, "{off} points off at {at}, {row}: {tiling:?}");
                }
            }
        }
    }

    #[test]
    fn narrow_textures_have_few_copies() {
        // A strip one texel wide, far narrower than a point.
        let (level, lattice) = (noise(1, 256), Lattice { pitch_m: [1.0; 2], phase: 0.5 });
        let tiling = StochasticTiling::new(0.6, 1.0 / 256.0, lattice);
        let mut offsets = CopyOffsets::default();
        tiling.row([0, 5], 100, &mut offsets);
        assert!(offsets.offsets[0].len() < 6 * 100, "{} copies for 100 points", offsets.offsets[0].len());
        assert!(deviations_of(&tiling, &level, [0, 5], 100).iter().flatten().all(|detail| detail.is_finite()));
    }

    #[test]
    fn a_position_shows_the_same_at_every_pitch() {
        // Squares of 32 texels at points of one texel and of four: copies are offset by whole points of either.
        let texel = |x: usize, y: usize| if (x / 32 + y / 32).is_multiple_of(2) { [60_000; 4] } else { [5000; 4] };
        let (level, quarter) = (MipLevel::new(256, 256, texel), MipLevel::new(64, 64, |x, y| texel(4 * x, 4 * y)));
        let tiled = |pitch: f64| StochasticTiling::new(256.0, 1.0, Lattice { pitch_m: [pitch; 2], phase: 0.5 });
        let (fine, coarse) = (tiled(1.0), tiled(4.0));
        let (mut same, mut all) = (0, 0);
        for j in 0..100 {
            let (fine, coarse) =
                (deviations_of(&fine, &level, [0, 4 * j + 2], 400), deviations_of(&coarse, &quarter, [0, j], 100));
            for (i, coarse) in coarse.iter().enumerate() {
                same += usize::from((coarse[0] > 0.0) == (fine[4 * i + 2][0] > 0.0));
                all += 1;
            }
        }
        assert!(same * 100 > all * 88, "{same} of {all}");
    }
}
