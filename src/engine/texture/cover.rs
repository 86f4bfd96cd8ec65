//! A picture laid over the land: what a texture shows at each point.

use std::ops::Range;
use std::sync::Arc;

use super::mosaic::{Copies, LANES, Mosaic};
use super::points::{Lattice, PointRow};
use super::swatch::{FULL, Level, Swatch, between};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::{refill, round_to_u32};

/// Places of a line that are worked out together, or not at all.
pub(super) const STRETCH: usize = 32;

/// How a picture is laid as far structure.
#[derive(Clone, Copy, Debug)]
struct Far {
    /// How many times as wide as near structure.
    scale: f32,
    /// How far it is moved eastward on its way to the south, as a share of that way: what repeats stands in no rows and
    /// columns.
    slant: f32,
    /// Where it begins, as shares of the picture eastward and southward.
    offset: [f32; 2],
}

/// Far structure is laid twice, chosen by eye: about as wide, so that the forms of the one hide those of the other where
/// they come again, and slanted apart. Both begin together only after 187 repeats of the narrower one.
const FAR: [Far; 2] =
    [Far { scale: 11.3, slant: 0.37, offset: [0.37, 0.71] }, Far { scale: 18.7, slant: -0.29, offset: [0.13, 0.29] }];

/// How much of the brightness of each of the two is seen: chosen by eye, both together about as strong as half of one.
const FAR_SHARE: f32 = 0.35;

/// A level of a larger picture with fewer texels than this along its side is nearly one colour: near structure is left
/// away there, and no triangle is much smaller than a point. Chosen by eye.
const LEAST_TEXELS: usize = 16;

/// A swatch laid over the land at one scale, for points of one pitch: the same places show the same, whatever the land.
///
/// Near structure is a mosaic of copies. Far structure is the brightness of the same picture, laid much wider, twice. Each
/// of the two does repeat; together they do not on any land that has less than a hundred repeats of the wider one.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    swatch: Arc<Swatch>,
    repeat_m: f64,
    /// The levels of near and of far structure.
    near: usize,
    far: [usize; 2],
    /// Near structure; `None` where the picture is too small to show any.
    mosaic: Option<Mosaic>,
    /// How many times as wide as high the picture is.
    proportion: f32,
    /// 1 by the mean relief.
    per_relief: f32,
}

/// Over points of one lattice the rest follows from these.
impl PartialEq for Cover {
    fn eq(&self, other: &Self) -> bool {
        let Self { swatch, repeat_m, near, far, .. } = self;
        Arc::ptr_eq(swatch, &other.swatch) && *repeat_m == other.repeat_m && *near == other.near && *far == other.far
    }
}

impl Cover {
    /// One picture is `repeat_m` wide.
    pub(super) fn new(swatch: Arc<Swatch>, repeat_m: f64, lattice: Lattice) -> Self {
        // The longer side of a pixel: textures are blurred along the shorter one rather than coarse along this one.
        let pixel_m = lattice.pitch_m[0].max(lattice.pitch_m[1]) as f32;
        let levels = &swatch.levels;
        // The level whose texels are about as large as a pixel: finer ones would shimmer, coarser ones blur.
        let level_for = |repeat_m: f32| {
            let texels_a_pixel = pixel_m / repeat_m * levels[0].width as f32;
            let level = libm::log2f(texels_a_pixel.max(1.0)) + 0.25;
            (level as usize).min(levels.len() - 1)
        };
        let near = level_for(repeat_m as f32);
        let proportion = levels[0].width as f64 / levels[0].height as f64;
        let shows_near = !levels[near].is_uniform() && (near == 0 || levels[near].width >= LEAST_TEXELS);
        Self {
            repeat_m,
            near,
            far: FAR.map(|far| level_for(far.scale * repeat_m as f32)),
            mosaic: shows_near.then(|| Mosaic::new(repeat_m, proportion, lattice)),
            proportion: proportion as f32,
            per_relief: 1.0 / swatch.mean[3].max(1e-4),
            swatch,
        }
    }

    /// Makes what takes no more than so many texels ready; `known` covers were laid over the same points.
    pub(super) fn prepare(&mut self, known: &[Self], most_texels: usize, progress: &Progress) -> Result<(), Cancelled> {
        let known = known.iter().find(|known| **known == *self);
        let Self { swatch, near, mosaic, .. } = self;
        let Some(mosaic) = mosaic else { return Ok(()) };
        if let Some(before) = known.and_then(|known| known.mosaic.as_ref()) {
            mosaic.take_over(before);
        }
        mosaic.roll_out(&swatch.levels[*near], most_texels, progress)
    }

    /// What the texture's colours are multiplied by so that the mean of the picture takes on `colour` as far as `tint`
    /// says.
    pub(super) fn tint(&self, tint: f32, colour: [f32; 3]) -> [f32; 3] {
        let mean = self.swatch.mean;
        std::array::from_fn(|c| 1.0 + tint * (colour[c] / mean[c].max(1e-4) - 1.0))
    }

    /// Works out what the texture shows along a row of points, in every stretch where the type has some weight and that
    /// is not known yet.
    #[inline(always)]
    pub(super) fn lay(&self, points: PointRow, weights: &[f32], texels: &mut Texels, space: &mut Space) {
        let PointRow { xs_m, z_m, first } = points;
        texels.resize(xs_m.len());
        let Texels { steps, is_known } = texels;
        if !stretches(weights).any(|stretch| !is_known[stretch.start / STRETCH]) {
            return;
        }
        let Space { copies, details, brightness, far_rows } = space;
        let Self { repeat_m, per_relief, .. } = *self;
        let levels = &self.swatch.levels;
        let (mean, repeats_per_m) = (self.swatch.mean, 1.0 / repeat_m as f32);
        let v = z_m * repeats_per_m;
        let [one, other] = far_rows;
        let far = [(0, one), (1, other)].map(|(at, row)| {
            FarLine::new(&levels[self.far[at]], FAR[at], repeats_per_m, (v, self.proportion), per_relief, row)
        });
        let near = self.mosaic.as_ref().map(|mosaic| mosaic.line(first, xs_m.len(), copies));
        for stretch in stretches(weights) {
            if std::mem::replace(&mut is_known[stretch.start / STRETCH], true) {
                continue;
            }
            // A row that ends within the stretch goes on with its last place, so that every loop has the same length.
            let xs_m = &xs_m[stretch.clone()];
            let mut places = [xs_m[xs_m.len() - 1]; STRETCH];
            places[..xs_m.len()].copy_from_slice(xs_m);
            brightness.fill(1.0);
            for line in far.iter().filter(|line| !line.is_uniform) {
                line.brighten(&places, brightness);
            }
            match &near {
                Some(line) => {
                    // Behind the end of the row, whatever was there before stays: nobody asks for it.
                    for (block, at) in (stretch.start..stretch.end).step_by(LANES).enumerate() {
                        let found = line.details(&levels[self.near], first[0] + at as i64, mean);
                        for (details, found) in details.iter_mut().zip(&found) {
                            details[block * LANES..][..LANES].copy_from_slice(found);
                        }
                    }
                }
                None => details.fill([0.0; STRETCH]),
            }
            let whole = stretch.start..stretch.start + STRETCH;
            for (c, (steps, details)) in steps.iter_mut().zip(&*details).enumerate() {
                for ((step, detail), bright) in steps[whole.clone()].iter_mut().zip(details).zip(&*brightness) {
                    // The last channel is the relief: it has a mean of its own and is as high wherever it is bright.
                    let relief = 0.5 + 0.5 * detail * per_relief;
                    let relief = if relief < 1.0 { relief } else { 1.0 };
                    *step = step_of(if c < 3 { (mean[c] + detail) * bright } else { relief });
                }
            }
        }
    }
}

/// What a texture shows along a line of places before it is tinted, in steps of which [`ONE`] are a whole.
#[derive(Debug, Default)]
pub(super) struct Texels {
    /// Red, green and blue in linear light, and the relief, 0 to 1 with its mean at ½.
    pub(super) steps: [Vec<u16>; 4],
    /// The stretches that were worked out; the others may be anything.
    is_known: Vec<bool>,
}

/// The steps of a whole: brighter parts of bright pictures go beyond it before the tint darkens them.
pub(super) const ONE: f32 = 32_768.0;

/// The relief of what shows none.
pub(super) const LEVEL: u16 = (ONE * 0.5) as u16;

#[inline(always)]
fn step_of(value: f32) -> u16 {
    round_to_u32((value * ONE).clamp(0.0, 65_535.0)) as u16
}

impl Texels {
    pub(super) fn forget(&mut self) {
        self.is_known.fill(false);
    }

    #[inline(always)]
    fn resize(&mut self, count: usize) {
        // Whole stretches, so that each is written as it was worked out.
        self.steps.iter_mut().for_each(|steps| steps.resize(count.next_multiple_of(STRETCH), 0));
        self.is_known.resize(count.div_ceil(STRETCH), false);
    }

    /// The bytes that a line of so many places takes.
    pub(super) fn bytes(count: usize) -> usize {
        4 * size_of::<u16>() * count.next_multiple_of(STRETCH)
    }
}

/// What is worked in along a row of points, kept for each cover from one row to the next.
#[derive(Debug, Default)]
pub(super) struct Space {
    copies: Copies,
    /// How far near structure is from the mean, channel by channel.
    details: [[f32; STRETCH]; 4],
    brightness: [f32; STRETCH],
    far_rows: [Vec<f32>; 2],
}

/// A line of far structure, and where a place in metres lies on it.
#[derive(Clone, Copy, Debug)]
struct FarLine<'a> {
    /// The reliefs along the line, 1 being the mean: those of the two rows of texels between which it lies, mixed.
    reliefs: &'a [f32],
    is_uniform: bool,
    width: f32,
    per_m: f32,
    east: f32,
}

impl<'a> FarLine<'a> {
    /// `v` is how far south the line lies in near structure, `proportion` that of the picture. The reliefs go into `row`,
    /// scaled by `per_relief`.
    #[inline(always)]
    fn new(
        level: &Level,
        far: Far,
        repeats_per_m: f32,
        (v, proportion): (f32, f32),
        per_relief: f32,
        row: &'a mut Vec<f32>,
    ) -> Self {
        let Far { scale, slant, offset: [east, south] } = far;
        let (north, south, t) = between(v * proportion / scale + south, level.height);
        let [north, south] = [north, south].map(|at| level.reliefs(at));
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
            width: level.width as f32,
            per_m: repeats_per_m / scale,
            east: east + slant * v / scale,
        }
    }

    /// Looking up alone goes place by place; what comes before and after it goes through the vector lanes.
    #[inline(always)]
    fn brighten(&self, xs_m: &[f32; STRETCH], brightness: &mut [f32; STRETCH]) {
        let Self { reliefs, width, per_m, east, .. } = *self;
        let mut texels = Between::default();
        texels.find(width, xs_m.iter().map(|x_m| x_m * per_m + east));
        let mut pairs = [[0.0; 2]; STRETCH];
        for (pair, &west) in pairs.iter_mut().zip(&texels.wests) {
            let west = west as usize;
            pair.copy_from_slice(&reliefs[west..west + 2]);
        }
        for ((bright, way), [west, east]) in brightness.iter_mut().zip(&texels.ways).zip(&pairs) {
            *bright += FAR_SHARE * (west + (east - west) * way - 1.0).clamp(-1.0, 1.0);
        }
    }
}

/// The texels of a row between whose centres each place of a stretch lies: where the western one stands in the row of a
/// [`Level`], and the way from it to the next.
#[derive(Clone, Copy, Debug)]
struct Between {
    wests: [u32; STRETCH],
    ways: [f32; STRETCH],
}

impl Default for Between {
    fn default() -> Self {
        Self { wests: [0; STRETCH], ways: [0.0; STRETCH] }
    }
}

impl Between {
    /// Places are given as shares of the row, which goes round.
    #[inline(always)]
    fn find(&mut self, width: f32, shares: impl Iterator<Item = f32>) {
        let Self { wests, ways } = self;
        for ((west, way), share) in wests.iter_mut().zip(ways).zip(shares) {
            let position = (share - share.floor()) * width + 0.5;
            let base = position.floor();
            *way = position - base;
            *west = round_to_u32(base);
        }
    }
}

/// Whether a type lies anywhere along a line. Weights are not negative, so that any bit says so, and bits are gathered in
/// the vector lanes.
#[inline(always)]
pub(super) fn lies(weights: &[f32]) -> bool {
    weights.iter().fold(0, |bits, weight| bits | weight.to_bits()) != 0
}

/// The stretches of a line in which a type lies anywhere: what it looks like elsewhere is not worth working out.
#[inline(always)]
pub(super) fn stretches(weights: &[f32]) -> impl Iterator<Item = Range<usize>> {
    let place = |(at, weights): (usize, &[f32])| at * STRETCH..at * STRETCH + weights.len();
    weights.chunks(STRETCH).enumerate().filter(|(_, weights)| lies(weights)).map(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::image::Image;

    #[test]
    fn every_place_lies_between_two_texels_of_its_row() {
        let shares = [-1e-9, 0.0, 1.0 / 3.0, 0.5, 1.0 - f32::EPSILON / 2.0, 1.0, -7.25, 1e6];
        for width in [1, 2, 3, 8192] {
            let mut between = Between::default();
            between.find(width as f32, shares.iter().copied().cycle());
            for ((west, way), share) in between.wests.iter().zip(&between.ways).zip(shares.iter().cycle()) {
                assert!(*west as usize + 1 < width + 2 && (0.0..=1.0).contains(way), "{share} of {width}");
                // The centre of texel 0 lies at half a texel, which is place 1 of the row.
                let place = f64::from(*west) + f64::from(*way);
                let expected = (f64::from(*share) - f64::from(share.floor())) * width as f64 + 0.5;
                assert!((place - expected).abs() < 1e-3, "{share} of {width}: {place}, not {expected}");
            }
        }
    }

    /// What a picture shows along a line of places one pixel apart.
    fn laid(swatch: &Arc<Swatch>, repeat_m: f64, pixel_m: f64, count: usize) -> Texels {
        let xs_m: Vec<f32> = (0..count).map(|i| (i as f64 * pixel_m) as f32).collect();
        let (mut texels, mut space) = (Texels::default(), Space::default());
        let mut cover = Cover::new(swatch.clone(), repeat_m, Lattice { pitch_m: [pixel_m; 2], phase: 0.0 });
        cover.prepare(&[], 1 << 20, &Progress::new()).expect("not cancelled");
        let points = PointRow { xs_m: &xs_m, z_m: (7.0 * pixel_m) as f32, first: [0, 7] };
        cover.lay(points, &vec![1.0; count], &mut texels, &mut space);
        texels.steps.iter_mut().for_each(|steps| steps.truncate(count));
        texels
    }

    #[test]
    fn pictures_of_any_shape_are_laid_at_any_scale() {
        let grey =
            |width: usize, height: usize| Image { width, height, pixels: vec![[128, 128, 128, 255]; width * height] };
        for [width, height] in [[0, 0], [1, 1], [1, 64], [64, 1], [2, 2], [5, 3]] {
            let swatch = Arc::new(Swatch::new(&grey(width, height)));
            for (repeat_m, pixel_m) in [(0.5, 1.7), (3.0, 1.7), (40.0, 1.7), (4000.0, 1.7)] {
                let texels = laid(&swatch, repeat_m, pixel_m, 77);
                let expected = swatch.mean()[0];
                let light = texels.steps[0].iter().map(|&step| f32::from(step) / ONE);
                let off = light.map(|light| (light - expected).abs()).fold(0.0, f32::max);
                assert!(off < 1e-3, "{width} × {height} at {repeat_m} m: off by {off}");
            }
        }
    }

    #[test]
    fn near_structure_of_pictures_narrower_than_a_point_is_left_away() {
        let grey = Image { width: 1, height: 256, pixels: vec![[99, 99, 99, 255]; 256] };
        let swatch = Arc::new(Swatch::new(&grey));
        let shows_near = |repeat_m: f64| {
            let lattice = Lattice { pitch_m: [32.0; 2], phase: 0.5 };
            Cover::new(swatch.clone(), repeat_m, lattice).mosaic.is_some()
        };
        assert_eq!([2.0, 10.0, 30.0].map(shows_near), [false, false, true]);
    }

    #[test]
    fn a_small_picture_shows_its_relief_where_pixels_are_small() {
        // Two texels bright, two dark, over 8 m.
        let texel = |i: usize| if i % 4 < 2 { [220, 220, 220, 255] } else { [40, 40, 40, 255] };
        let swatch = Swatch::new(&Image { width: 8, height: 8, pixels: (0..64).map(texel).collect() });
        let swatch = Arc::new(swatch);
        let relief = |pixel_m: f64| {
            let texels = laid(&swatch, 8.0, pixel_m, 200);
            texels.steps[3].iter().map(|&step| f32::from(step) / ONE).collect::<Vec<_>>()
        };
        let found = relief(0.25);
        assert!(found.iter().any(|&at| at > 0.8) && found.iter().any(|&at| at < 0.2), "{found:?}");
        assert!(relief(4.0).iter().all(|&at| at == 0.5), "pixels as large as its forms show none");
    }
}
