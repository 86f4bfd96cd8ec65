//! A material's texture laid over the terrain: its texels at rows of points.

use std::ops::Range;
use std::sync::Arc;

use super::patches;
use super::points::{Lattice, PointRow};
use super::swatch::{FULL, MipLevel, PreparedSwatch, Swatch, rows_around};
use super::tiling::{CopyOffsets, LANES, StochasticTiling};
use crate::cast::{ToFloat, ToInteger};
use crate::progress::{Cancelled, Progress};
use crate::simd::{refill, round_to_u32};

/// Points of a row that are computed together, or skipped together.
pub(super) const BLOCK: usize = 32;

/// A pattern of macro variation: the texture's relief at a much larger scale.
#[derive(Clone, Copy, Debug)]
struct MacroPattern {
    /// The repeat, in repeats of the detail.
    scale: f32,
    /// The eastward shift per distance southward, so that repeats do not line up in rows and columns.
    slant: f32,
    /// The origin, as shares of the texture eastward and southward.
    offset: [f32; 2],
}

/// Two patterns, chosen by eye: of similar scale, so that the features of one hide the repeats of the other, and
/// slanted apart. Both begin at the same point only after 187 repeats of the narrower one.
const MACRO_PATTERNS: [MacroPattern; 2] = [
    MacroPattern { scale: 11.3, slant: 0.37, offset: [0.37, 0.71] },
    MacroPattern { scale: 18.7, slant: -0.29, offset: [0.13, 0.29] },
];

/// The strength of each of the two patterns: chosen by eye, both together about as strong as half of one.
const MACRO_STRENGTH: f32 = 0.35;

/// Patches lie as they are.
const PATCH_PATTERN: MacroPattern = MacroPattern { scale: 1.0, slant: 0.0, offset: [0.0; 2] };

/// A mip level of a larger texture with fewer texels than this along its side is nearly one colour: the detail is
/// skipped there, and no triangle is much smaller than a point. Chosen by eye.
const MIN_TEXELS: usize = 16;

/// A texture laid over the terrain at one scale, for points of one pitch. It depends only on the position, not on the
/// terrain.
///
/// Its colour is the detail, a stochastic tiling, times the macro variation and that of [`patches`]. Each macro pattern
/// repeats by itself; the two together do not within a hundred repeats of the wider one.
#[derive(Clone, Debug)]
pub(super) struct TextureLayer {
    swatch: Arc<Swatch>,
    repeat_m: f64,
    /// The mip levels of the detail, of the macro patterns and of the patches.
    detail_level: usize,
    macro_levels: [usize; 2],
    patch_level: usize,
    /// `None` where the texture is too small to show any detail.
    tiling: Option<StochasticTiling>,
    /// Width by height of the texture.
    aspect_ratio: f32,
    /// 1 by the mean relief.
    per_relief: f32,
}

/// On points of one lattice the other fields follow from these.
impl PartialEq for TextureLayer {
    fn eq(&self, other: &Self) -> bool {
        let Self { swatch, repeat_m, detail_level, macro_levels, .. } = self;
        Arc::ptr_eq(swatch, &other.swatch)
            && *repeat_m == other.repeat_m
            && *detail_level == other.detail_level
            && *macro_levels == other.macro_levels
    }
}

impl TextureLayer {
    /// A layer in which one repeat is `repeat_m` wide.
    pub(super) fn new(swatch: Arc<Swatch>, repeat_m: f64, lattice: Lattice) -> Self {
        // The longer side of a pixel: textures may be blurred along the shorter side, but are not aliased along this
        // one.
        let pixel_m = lattice.pitch_m[0].max(lattice.pitch_m[1]).to_f32();
        let PreparedSwatch { levels, mean, .. } = swatch.prepared();
        // The level whose texels are about as large as a pixel: finer ones would shimmer, coarser ones blur.
        let level_for = |levels: &[MipLevel], repeat_m: f32| {
            let texels_per_pixel = pixel_m / repeat_m * levels[0].width.to_f32();
            let level = libm::log2f(texels_per_pixel.max(1.0)) + 0.25;
            level.to_usize().min(levels.len() - 1)
        };
        let detail_level = level_for(levels, repeat_m.to_f32());
        let aspect_ratio = levels[0].width.to_f64() / levels[0].height.to_f64();
        let level = &levels[detail_level];
        let shows_detail = !level.is_uniform() && (detail_level == 0 || level.width >= MIN_TEXELS);
        Self {
            repeat_m,
            detail_level,
            macro_levels: MACRO_PATTERNS.map(|pattern| level_for(levels, pattern.scale * repeat_m.to_f32())),
            patch_level: level_for(&patches::PATCHES, patches::REPEAT_M),
            tiling: shows_detail.then(|| StochasticTiling::new(repeat_m, aspect_ratio, lattice)),
            aspect_ratio: aspect_ratio.to_f32(),
            per_relief: 1.0 / mean[3].max(1e-4),
            swatch,
        }
    }

    /// Computes the texels of the detail in advance, unless there are more than `max_texels`. The `cached` layers are
    /// for the same points; their texels are reused.
    pub(super) fn prepare(&mut self, cached: &[Self], max_texels: usize, progress: &Progress) -> Result<(), Cancelled> {
        let cached = cached.iter().find(|cached| **cached == *self);
        let Self { swatch, detail_level, tiling, .. } = self;
        let Some(tiling) = tiling else { return Ok(()) };
        if let Some(before) = cached.and_then(|cached| cached.tiling.as_ref()) {
            tiling.reuse(before);
        }
        tiling.compute_all(&swatch.prepared().levels[*detail_level], max_texels, progress)
    }

    /// The factor for the texture's colours that moves their mean towards `colour` by the share `tint`.
    pub(super) fn tint(&self, tint: f32, colour: [f32; 3]) -> [f32; 3] {
        let mean = self.swatch.mean();
        std::array::from_fn(|c| 1.0 + tint * (colour[c] / mean[c].max(1e-4) - 1.0))
    }

    /// Computes the texels along a row of points, in every block that has some weight of the type and is not computed
    /// yet.
    #[inline(always)]
    pub(super) fn sample(&self, points: PointRow, weights: &[f32], texels: &mut TexelRow, buffers: &mut LayerBuffers) {
        let PointRow { xs_m, z_m, origin } = points;
        texels.resize(xs_m.len());
        let TexelRow { channels, is_known } = texels;
        if !covered_blocks(weights).any(|block| !is_known[block.start / BLOCK]) {
            return;
        }
        let LayerBuffers { offsets, deviations, brightness, macro_rows, patch_row } = buffers;
        let Self { repeat_m, per_relief, .. } = *self;
        let PreparedSwatch { levels, mean, contrast } = self.swatch.prepared();
        let (mean, repeats_per_m) = (*mean, 1.0 / repeat_m.to_f32());
        let v = z_m * repeats_per_m;
        let [one, other] = macro_rows;
        let macro_rows = [(0, one), (1, other)].map(|(i, row)| {
            let level = &levels[self.macro_levels[i]];
            MacroRow::new(level, MACRO_PATTERNS[i], repeats_per_m, (v, self.aspect_ratio), per_relief, row)
        });
        let patches_per_m = 1.0 / patches::REPEAT_M;
        let (level, place) = (&patches::PATCHES[self.patch_level], (z_m * patches_per_m, 1.0));
        let patch_row = MacroRow::new(level, PATCH_PATTERN, patches_per_m, place, patches::PER_MEAN, patch_row);
        let patch_strength = patches::STRENGTH * contrast.min(1.0);
        let tiling_row = self.tiling.as_ref().map(|tiling| tiling.row(origin, xs_m.len(), offsets));
        for block in covered_blocks(weights) {
            if std::mem::replace(&mut is_known[block.start / BLOCK], true) {
                continue;
            }
            // A row that ends within the block repeats its last position, so that every loop has the same length.
            let xs_m = &xs_m[block.clone()];
            let mut positions = [xs_m[xs_m.len() - 1]; BLOCK];
            positions[..xs_m.len()].copy_from_slice(xs_m);
            brightness.fill(1.0);
            for row in macro_rows.iter().filter(|row| !row.is_uniform) {
                row.brighten(&positions, MACRO_STRENGTH, brightness);
            }
            patch_row.brighten(&positions, patch_strength, brightness);
            match &tiling_row {
                Some(row) => {
                    // Values beyond the end of the row are left unchanged, because nothing reads them.
                    for (lanes, i) in (block.start..block.end).step_by(LANES).enumerate() {
                        let found = row.deviations(&levels[self.detail_level], origin[0] + i.to_i64(), mean);
                        for (deviations, found) in deviations.iter_mut().zip(&found) {
                            deviations[lanes * LANES..][..LANES].copy_from_slice(found);
                        }
                    }
                }
                None => deviations.fill([0.0; BLOCK]),
            }
            let full_block = block.start..block.start + BLOCK;
            for (c, (channel, deviations)) in channels.iter_mut().zip(&*deviations).enumerate() {
                let values = channel[full_block.clone()].iter_mut();
                for ((value, deviation), bright) in values.zip(deviations).zip(&*brightness) {
                    // The last channel is the relief, which has its own mean and ignores the brightness.
                    let relief = 0.5 + 0.5 * deviation * per_relief;
                    let relief = if relief < 1.0 { relief } else { 1.0 };
                    *value = to_fixed_point(if c < 3 { (mean[c] + deviation) * bright } else { relief });
                }
            }
        }
    }
}

/// The texels of a texture along a row of points before they are tinted, as fixed-point numbers in which [`ONE`] is 1.
#[derive(Debug, Default)]
pub(super) struct TexelRow {
    /// Red, green and blue in linear light, and the relief, 0 to 1 with its mean at ½.
    pub(super) channels: [Vec<u16>; 4],
    /// The blocks that were computed; the others hold arbitrary values.
    is_known: Vec<bool>,
}

/// The fixed-point number for 1: bright parts of bright textures exceed it before the tint darkens them.
pub(super) const ONE: f32 = 32_768.0;

/// The relief of types without a texture: half of [`ONE`].
pub(super) const MEAN_RELIEF: u16 = 16_384;

#[inline(always)]
fn to_fixed_point(value: f32) -> u16 {
    round_to_u32((value * ONE).clamp(0.0, 65_535.0)).to_u16()
}

impl TexelRow {
    pub(super) fn clear(&mut self) {
        self.is_known.fill(false);
    }

    #[inline(always)]
    fn resize(&mut self, count: usize) {
        // Full blocks, because they are written as a unit.
        self.channels.iter_mut().for_each(|channel| channel.resize(count.next_multiple_of(BLOCK), 0));
        self.is_known.resize(count.div_ceil(BLOCK), false);
    }

    /// The memory that a row of `count` points takes, bytes.
    pub(super) fn bytes(count: usize) -> usize {
        4 * size_of::<u16>() * count.next_multiple_of(BLOCK)
    }
}

/// Buffers for a row of points, reused from row to row for each layer.
#[derive(Debug, Default)]
pub(super) struct LayerBuffers {
    offsets: CopyOffsets,
    /// The deviations of the detail from the mean, channel by channel.
    deviations: [[f32; BLOCK]; 4],
    brightness: [f32; BLOCK],
    macro_rows: [Vec<f32>; 2],
    patch_row: Vec<f32>,
}

/// A row of a macro pattern, and how to find a position in metres on it.
#[derive(Clone, Copy, Debug)]
struct MacroRow<'a> {
    /// The reliefs along the row, 1 being the mean, interpolated between two rows of texels.
    reliefs: &'a [f32],
    is_uniform: bool,
    width: f32,
    per_m: f32,
    east: f32,
}

impl<'a> MacroRow<'a> {
    /// `v` is the row's southward position in repeats of the detail. The reliefs go into `row`, scaled by `per_relief`.
    #[inline(always)]
    fn new(
        level: &MipLevel,
        pattern: MacroPattern,
        repeats_per_m: f32,
        (v, aspect_ratio): (f32, f32),
        per_relief: f32,
        row: &'a mut Vec<f32>,
    ) -> Self {
        let MacroPattern { scale, slant, offset: [east, south] } = pattern;
        let (north, south, t) = rows_around(v * aspect_ratio / scale + south, level.height);
        let [north, south] = [north, south].map(|y| level.reliefs(y));
        let scaled = per_relief * (1.0 / FULL);
        refill(
            row,
            north.iter().zip(south).map(|(&north, &south)| {
                let (north, south) = (f32::from(north), f32::from(south));
                (north + (south - north) * t) * scaled
            }),
        );
        Self {
            reliefs: row,
            is_uniform: level.is_uniform(),
            width: level.width.to_f32(),
            per_m: repeats_per_m / scale,
            east: east + slant * v / scale,
        }
    }

    /// Adds the pattern, times its strength, to the brightness of a block. Only the table look-ups are not vectorized.
    #[inline(always)]
    fn brighten(&self, xs_m: &[f32; BLOCK], strength: f32, brightness: &mut [f32; BLOCK]) {
        let Self { reliefs, width, per_m, east, .. } = *self;
        let mut texels = TexelPairs::default();
        texels.find(width, xs_m.iter().map(|x_m| x_m * per_m + east));
        let mut pairs = [[0.0; 2]; BLOCK];
        for (pair, &west) in pairs.iter_mut().zip(&texels.wests) {
            let west = west as usize;
            pair.copy_from_slice(&reliefs[west..west + 2]);
        }
        for ((bright, fraction), [west, east]) in brightness.iter_mut().zip(&texels.fractions).zip(&pairs) {
            *bright += strength * (west + (east - west) * fraction - 1.0).clamp(-1.0, 1.0);
        }
    }
}

/// The texels between whose centres the positions of a block fall: the index of the western one in the row of a
/// [`MipLevel`], and the fraction of the way to the next.
#[derive(Clone, Copy, Debug)]
struct TexelPairs {
    wests: [u32; BLOCK],
    fractions: [f32; BLOCK],
}

impl Default for TexelPairs {
    fn default() -> Self {
        Self { wests: [0; BLOCK], fractions: [0.0; BLOCK] }
    }
}

impl TexelPairs {
    /// Positions are shares of the row, which wraps around.
    #[inline(always)]
    fn find(&mut self, width: f32, shares: impl Iterator<Item = f32>) {
        let Self { wests, fractions } = self;
        for ((west, fraction), share) in wests.iter_mut().zip(fractions).zip(shares) {
            let position = (share - share.floor()) * width + 0.5;
            let base = position.floor();
            *fraction = position - base;
            *west = round_to_u32(base);
        }
    }
}

/// Whether any weight is above 0. Weights are never negative, so that combining their bits answers it in SIMD lanes.
#[inline(always)]
pub(super) fn any_positive(weights: &[f32]) -> bool {
    weights.iter().fold(0, |bits, weight| bits | weight.to_bits()) != 0
}

/// The blocks of a row in which a type has some weight; the others are not computed.
#[inline(always)]
pub(super) fn covered_blocks(weights: &[f32]) -> impl Iterator<Item = Range<usize>> {
    let range = |(i, weights): (usize, &[f32])| i * BLOCK..i * BLOCK + weights.len();
    weights.chunks(BLOCK).enumerate().filter(|(_, weights)| any_positive(weights)).map(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;

    #[test]
    fn every_position_falls_between_two_texels_of_its_row() {
        let shares = [-1e-9, 0.0, 1.0 / 3.0, 0.5, 1.0 - f32::EPSILON / 2.0, 1.0, -7.25, 1e6];
        for width in [1, 2, 3, 8192] {
            let mut pairs = TexelPairs::default();
            pairs.find(width as f32, shares.iter().copied().cycle());
            for ((west, fraction), share) in pairs.wests.iter().zip(&pairs.fractions).zip(shares.iter().cycle()) {
                assert!(*west as usize + 1 < width + 2 && (0.0..=1.0).contains(fraction), "{share} of {width}");
                // The centre of texel 0 is at half a texel, which is index 1 of the row.
                let position = f64::from(*west) + f64::from(*fraction);
                let expected = (f64::from(*share) - f64::from(share.floor())) * width as f64 + 0.5;
                assert!((position - expected).abs() < 1e-3, "{share} of {width}: {position}, not {expected}");
            }
        }
    }

    /// The texels along a row of points one pixel apart.
    fn sampled(swatch: &Arc<Swatch>, repeat_m: f64, pixel_m: f64, count: usize) -> TexelRow {
        let xs_m: Vec<f32> = (0..count).map(|i| (i as f64 * pixel_m) as f32).collect();
        let (mut texels, mut buffers) = (TexelRow::default(), LayerBuffers::default());
        let mut layer = TextureLayer::new(swatch.clone(), repeat_m, Lattice { pitch_m: [pixel_m; 2], phase: 0.0 });
        layer.prepare(&[], 1 << 20, &Progress::new()).expect("not cancelled");
        let points = PointRow { xs_m: &xs_m, z_m: (7.0 * pixel_m) as f32, origin: [0, 7] };
        layer.sample(points, &vec![1.0; count], &mut texels, &mut buffers);
        texels.channels.iter_mut().for_each(|channels| channels.truncate(count));
        texels
    }

    #[test]
    fn textures_of_any_shape_work_at_any_scale() {
        let grey =
            |width: usize, height: usize| Image { width, height, pixels: vec![[128, 128, 128, 255]; width * height] };
        for [width, height] in [[0, 0], [1, 1], [1, 64], [64, 1], [2, 2], [5, 3]] {
            let swatch = Arc::new(Swatch::new(grey(width, height)));
            for (repeat_m, pixel_m) in [(0.5, 1.7), (3.0, 1.7), (40.0, 1.7), (4000.0, 1.7)] {
                let texels = sampled(&swatch, repeat_m, pixel_m, 77);
                let expected = swatch.mean()[0];
                let light = texels.channels[0].iter().map(|&value| f32::from(value) / ONE);
                let off = light.map(|light| (light - expected).abs()).fold(0.0, f32::max);
                assert!(off < 1e-3, "{width} × {height} at {repeat_m} m: off by {off}");
            }
        }
    }

    #[test]
    fn the_detail_of_textures_narrower_than_a_point_is_skipped() {
        let grey = Image { width: 1, height: 256, pixels: vec![[99, 99, 99, 255]; 256] };
        let swatch = Arc::new(Swatch::new(grey));
        let shows_detail = |repeat_m: f64| {
            let lattice = Lattice { pitch_m: [32.0; 2], phase: 0.5 };
            TextureLayer::new(swatch.clone(), repeat_m, lattice).tiling.is_some()
        };
        assert_eq!([2.0, 10.0, 30.0].map(shows_detail), [false, false, true]);
    }

    #[test]
    fn a_small_texture_shows_its_relief_where_pixels_are_small() {
        // Two texels bright, two dark, over 8 m.
        let texel = |i: usize| if i % 4 < 2 { [220, 220, 220, 255] } else { [40, 40, 40, 255] };
        let swatch = Swatch::new(Image { width: 8, height: 8, pixels: (0..64).map(texel).collect() });
        let swatch = Arc::new(swatch);
        let relief = |pixel_m: f64| {
            let texels = sampled(&swatch, 8.0, pixel_m, 200);
            texels.channels[3].iter().map(|&value| f32::from(value) / ONE).collect::<Vec<_>>()
        };
        let found = relief(0.25);
        assert!(found.iter().any(|&at| at > 0.8) && found.iter().any(|&at| at < 0.2), "{found:?}");
        assert!(relief(4.0).iter().all(|&at| at == 0.5), "pixels as large as its features show none");
    }
}
