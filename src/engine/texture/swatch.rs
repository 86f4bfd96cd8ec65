//! Tileable pictures of ground, and how they are laid over the land so that no eye sees them repeat.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::picture::{Picture, linear_from_srgb, luminance};
use crate::engine::wide::rounded;

/// A texel in linear light, 16 bits a channel: red, green, blue, and the relief, which is the luminance.
type Texel = [u16; 4];

/// The greatest value of a channel.
const FULL: f32 = 65_535.0;

/// Places of a line that are worked out together, or not at all.
pub(super) const STRETCH: usize = 32;

/// One level of the pyramid.
#[derive(Clone, Debug)]
struct Level {
    width: usize,
    height: usize,
    texels: Vec<Texel>,
}

/// A tileable picture, halved again and again until a single texel is left.
#[derive(Clone, Debug)]
pub struct Swatch {
    levels: Vec<Level>,
    /// The mean colour and the mean relief, in linear light, 0 to 1.
    mean: [f32; 4],
}

impl Level {
    fn half(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let at = |x: usize, y: usize| self.texels[(y % self.height) * self.width + x % self.width];
        let texel = |i: usize| {
            let (x, y) = (2 * (i % width), 2 * (i / width));
            let four = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
            std::array::from_fn(|c| {
                let sum: u32 = four.iter().map(|texel| u32::from(texel[c])).sum();
                ((sum + 2) / 4) as u16
            })
        };
        Self { width, height, texels: (0..width * height).map(texel).collect() }
    }

    fn row(&self, row: usize) -> &[Texel] {
        &self.texels[row * self.width..][..self.width]
    }
}

/// The two texels of `count` between whose centres a place lies, and the way from the one to the other; `share` is a
/// share of the picture and goes round.
#[inline(always)]
fn between(share: f32, count: usize) -> (usize, usize, f32) {
    let position = (share - share.floor()) * count as f32 - 0.5;
    let base = position.floor();
    let first = if base < 0.0 { count - 1 } else { (base as u32 as usize).min(count - 1) };
    (first, if first + 1 == count { 0 } else { first + 1 }, position - base)
}

/// A level along one line from west to east, moved by an offset of its own.
#[derive(Clone, Copy)]
struct Line<'a> {
    east: f32,
    north: &'a [Texel],
    south: &'a [Texel],
    t: f32,
}

impl<'a> Line<'a> {
    #[inline(always)]
    fn new(level: &'a Level, v: f32, [east, south]: [f32; 2]) -> Self {
        let (first, second, t) = between(v + south, level.height);
        Self { east, north: level.row(first), south: level.row(second), t }
    }

    /// Bilinear between texel centres.
    #[inline(always)]
    fn at(&self, u: f32) -> [f32; 4] {
        let (west, east, s) = between(u + self.east, self.north.len());
        let along = |row: &[Texel]| -> [f32; 4] {
            let (west, east) = (row[west].map(f32::from), row[east].map(f32::from));
            std::array::from_fn(|c| west[c] + (east[c] - west[c]) * s)
        };
        let (north, south) = (along(self.north), along(self.south));
        std::array::from_fn(|c| (north[c] + (south[c] - north[c]) * self.t) * (1.0 / FULL))
    }

    /// The reliefs of all its texels, and at either end the one that the picture goes on with.
    #[inline(always)]
    fn reliefs(&self, reliefs: &mut Vec<f32>) {
        let relief = |texel: &Texel| f32::from(texel[3]) * (1.0 / FULL);
        let mixed = |(north, south): (&Texel, &Texel)| relief(north) + (relief(south) - relief(north)) * self.t;
        let count = self.north.len();
        reliefs.resize(count + 2, 0.0);
        for (relief, pair) in reliefs[1..].iter_mut().zip(self.north.iter().zip(self.south)) {
            *relief = mixed(pair);
        }
        (reliefs[0], reliefs[count + 1]) = (reliefs[count], reliefs[1]);
    }
}

impl Swatch {
    /// From a picture whose opposite borders fit together. An empty picture is black.
    pub fn new(picture: &Picture) -> Self {
        let texel = |&[red, green, blue, _]: &[u8; 4]| {
            let colour = [red, green, blue].map(linear_from_srgb);
            let [red, green, blue] = colour;
            [red, green, blue, luminance(colour)].map(|channel| (channel * FULL + 0.5) as u16)
        };
        let mut level =
            Level { width: picture.width, height: picture.height, texels: picture.pixels.iter().map(texel).collect() };
        if level.texels.is_empty() {
            level = Level { width: 1, height: 1, texels: vec![[0; 4]] };
        }
        let mut levels = vec![level];
        while let Some(last) = levels.last().filter(|level| level.texels.len() > 1) {
            levels.push(last.half());
        }
        let mut mean = [0.0_f64; 4];
        for texel in &levels[0].texels {
            mean.iter_mut().zip(texel).for_each(|(sum, channel)| *sum += f64::from(*channel));
        }
        let scale = 1.0 / (f64::from(FULL) * levels[0].texels.len() as f64);
        Self { levels, mean: mean.map(|sum| (sum * scale) as f32) }
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| size_of::<Texel>() * level.texels.len()).sum()
    }

    /// The mean colour in linear light.
    pub fn mean(&self) -> [f32; 3] {
        [self.mean[0], self.mean[1], self.mean[2]]
    }
}

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
/// away there. Chosen by eye.
const LEAST_TEXELS: usize = 16;

/// A swatch laid over the land at one scale, for pixels of one size: the same places show the same, whatever the land.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    swatch: Arc<Swatch>,
    repeat_m: f32,
    /// The levels of near and of far structure.
    near: usize,
    far: [usize; 2],
    /// How many times as wide as high the picture is.
    proportion: f32,
    /// 1 by the mean relief.
    per_relief: f32,
}

impl PartialEq for Cover {
    fn eq(&self, other: &Self) -> bool {
        let Self { swatch, repeat_m, near, far, .. } = self;
        Arc::ptr_eq(swatch, &other.swatch) && *repeat_m == other.repeat_m && *near == other.near && *far == other.far
    }
}

impl Cover {
    /// One picture is `repeat_m` wide; `pixel_m` is the side of a pixel.
    pub(super) fn new(swatch: Arc<Swatch>, repeat_m: f32, pixel_m: f32) -> Self {
        // The level whose texels are about as large as a pixel: finer ones would shimmer, coarser ones blur.
        let level_for = |repeat_m: f32| {
            let texels_a_pixel = pixel_m / repeat_m * swatch.levels[0].width as f32;
            let level = libm::log2f(texels_a_pixel.max(1.0)) + 0.25;
            (level as usize).min(swatch.levels.len() - 1)
        };
        Self {
            repeat_m,
            near: level_for(repeat_m),
            far: FAR.map(|far| level_for(far.scale * repeat_m)),
            proportion: swatch.levels[0].width as f32 / swatch.levels[0].height as f32,
            per_relief: 1.0 / swatch.mean[3].max(1e-4),
            swatch,
        }
    }

    /// What the texture's colours are multiplied by so that the mean of the picture takes on `colour` as far as `tint`
    /// says.
    pub(super) fn tint(&self, tint: f32, colour: [f32; 3]) -> [f32; 3] {
        let mean = self.swatch.mean;
        std::array::from_fn(|c| 1.0 + tint * (colour[c] / mean[c].max(1e-4) - 1.0))
    }

    /// Works out what the texture shows along a line from west to east, in every stretch where the type has some weight
    /// and that is not known yet.
    ///
    /// Near structure: three copies, each with an offset of its own, meet in every triangle of a grid over the land, so
    /// that nothing repeats (Heitz and Neyret, "High-Performance By-Example Noise using a Histogram-Preserving Blending
    /// Operator", 2018; what the mixture loses in contrast is given back around the mean, their equation 2). Far
    /// structure: the brightness of the same picture, laid much wider, twice. Each of the two does repeat; together they
    /// do not on any land that has less than a hundred repeats of the wider one.
    #[inline(always)]
    pub(super) fn lay(&self, (xs_m, z_m): (&[f32], f32), weights: &[f32], texels: &mut Texels, space: &mut Space) {
        texels.resize(xs_m.len());
        let Texels { steps, is_known } = texels;
        if !stretches(weights).any(|stretch| !is_known[stretch.start / STRETCH]) {
            return;
        }
        let Space { lines, brightness, places } = space;
        let Self { repeat_m, per_relief, .. } = *self;
        let levels = &self.swatch.levels;
        let (mean, repeats_per_m) = (self.swatch.mean, 1.0 / repeat_m);
        let v = z_m * repeats_per_m;
        // A level of one texel has no structure: no line.
        for ((level, Far { scale, slant, offset: [east, south] }), line) in
            self.far.into_iter().zip(FAR).zip(&mut *lines)
        {
            let level = &levels[level];
            line.reliefs.clear();
            if level.texels.len() > 1 {
                let far = Line::new(level, v * self.proportion / scale, [east + slant * v / scale, south]);
                far.reliefs(&mut line.reliefs);
                (line.per_m, line.east, line.count) = (repeats_per_m / scale, far.east, level.width as f32);
            }
        }
        let near = &levels[self.near];
        let mut triangles =
            (near.width >= LEAST_TEXELS.min(levels[0].width)).then(|| Triangles::new(near, v, self.proportion));
        for stretch in stretches(weights) {
            if std::mem::replace(&mut is_known[stretch.start / STRETCH], true) {
                continue;
            }
            let (xs_m, firsts) = (&xs_m[stretch.clone()], &mut [0; STRETCH]);
            let (places, brightness) = (&mut places[..xs_m.len()], &mut brightness[..xs_m.len()]);
            brightness.fill(1.0);
            for FarLine { reliefs, per_m, east, count } in lines.iter().filter(|line| !line.reliefs.is_empty()) {
                // From the centre of the texel that stands before the first. Looking up alone goes place by place; what
                // comes before and after it goes through the vector lanes.
                for ((place, first), x_m) in places.iter_mut().zip(&mut *firsts).zip(xs_m) {
                    let u = x_m * per_m + east;
                    let position = (u - u.floor()) * count + 0.5;
                    *first = rounded(position.floor());
                    *place = position - position.floor();
                }
                for (place, &first) in places.iter_mut().zip(&*firsts) {
                    let pair = &reliefs[first as usize..first as usize + 2];
                    *place = pair[0] + (pair[1] - pair[0]) * *place;
                }
                for (brightness, relief) in brightness.iter_mut().zip(&*places) {
                    *brightness += FAR_SHARE * (relief * per_relief - 1.0).clamp(-1.0, 1.0);
                }
            }
            let [red, green, blue, relief] = steps.each_mut().map(|steps| &mut steps[stretch.clone()]);
            match &mut triangles {
                None => {
                    for (channel, mean) in [red, green, blue].into_iter().zip(mean) {
                        channel.iter_mut().zip(&*brightness).for_each(|(step, bright)| *step = step_of(mean * bright));
                    }
                    relief.fill(LEVEL);
                }
                Some(triangles) => {
                    let channels = red.iter_mut().zip(green).zip(blue).zip(relief);
                    for ((((red, green), blue), relief), (x_m, bright)) in channels.zip(xs_m.iter().zip(&*brightness)) {
                        let detail = triangles.detail(x_m * repeats_per_m, mean);
                        for (c, step) in [red, green, blue].into_iter().enumerate() {
                            *step = step_of((mean[c] + detail[c]) * bright);
                        }
                        *relief = step_of((0.5 + 0.5 * detail[3] * per_relief).min(1.0));
                    }
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
    rounded((value * ONE).clamp(0.0, 65_535.0)) as u16
}

impl Texels {
    pub(super) fn forget(&mut self) {
        self.is_known.fill(false);
    }

    #[inline(always)]
    fn resize(&mut self, count: usize) {
        self.steps.iter_mut().for_each(|steps| steps.resize(count, 0));
        self.is_known.resize(count.div_ceil(STRETCH), false);
    }

    /// The bytes that a line of so many places takes.
    pub(super) fn bytes(count: usize) -> usize {
        4 * size_of::<u16>() * count
    }
}

/// What is worked in along a line, kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Space {
    lines: [FarLine; 2],
    brightness: [f32; STRETCH],
    places: [f32; STRETCH],
}

/// A line of far structure: the reliefs of a level with the one before and the one after them, and where a place in metres
/// lies on it.
#[derive(Debug, Default)]
struct FarLine {
    reliefs: Vec<f32>,
    per_m: f32,
    east: f32,
    count: f32,
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

/// Triangles as high as a third of a picture: large enough to keep the picture's forms whole.
const TRIANGLES_A_REPEAT: f32 = 3.0;

/// The triangles of a skewed grid along one line from west to east. The line stays between two rows of corners, and
/// neighbouring places mostly lie in the same cell: what the cell's corners say is kept.
struct Triangles<'a> {
    level: &'a Level,
    /// How far south the line lies in the picture, as a share of its height.
    down: f32,
    /// How far the cells are skewed here, which row of cells it is, and how far down the row the line lies.
    skew: f32,
    row: i32,
    t: f32,
    /// The cell where the last place lay, and the copies at its corners: north-west, north-east, south-west, south-east.
    cell: f32,
    copies: [Line<'a>; 4],
}

impl<'a> Triangles<'a> {
    #[inline(always)]
    fn new(level: &'a Level, v: f32, proportion: f32) -> Self {
        // The triangles lie on the land, whatever the picture's proportion.
        let down = v * proportion;
        let across = v * TRIANGLES_A_REPEAT;
        let q = 1.154_700_5 * across;
        Self {
            level,
            down,
            skew: 0.577_350_27 * across,
            row: q.floor() as i32,
            t: q - q.floor(),
            // Equal to no cell.
            cell: f32::NAN,
            copies: [Line::new(level, down, [0.0; 2]); 4],
        }
    }

    /// How far the mixture of the three copies at a place is from the mean.
    #[inline(always)]
    fn detail(&mut self, u: f32, mean: [f32; 4]) -> [f32; 4] {
        let p = u * TRIANGLES_A_REPEAT - self.skew;
        let cell = p.floor();
        if cell != self.cell {
            let (i, j) = (cell as i32, self.row);
            self.cell = cell;
            self.copies =
                [[i, j], [i + 1, j], [i, j + 1], [i + 1, j + 1]].map(|at| Line::new(self.level, self.down, offset(at)));
        }
        // Barycentric shares of the corners of the triangle in which the place lies.
        let (s, t) = (p - cell, self.t);
        let [north_west, north_east, south_west, south_east] = &self.copies;
        let (shares, copies) = if s + t < 1.0 {
            ([1.0 - s - t, s, t], [north_west, north_east, south_west])
        } else {
            ([s + t - 1.0, 1.0 - t, 1.0 - s], [south_east, north_east, south_west])
        };
        let shares = shares.map(sharpened);
        let whole = 1.0 / (shares[0] + shares[1] + shares[2]);
        let mut detail = [0.0; 4];
        let mut squares = 0.0;
        for (share, copy) in shares.into_iter().zip(copies) {
            let share = share * whole;
            squares += share * share;
            // A copy that is hardly seen is not worth its four texels.
            if share > 0.015 {
                let texel = copy.at(u);
                detail = std::array::from_fn(|c| detail[c] + share * (texel[c] - mean[c]));
            }
        }
        let restored = 1.0 / squares.sqrt();
        detail.map(|channel| channel * restored)
    }
}

/// The sixth power, chosen by eye: how sharply the three copies that meet at a place give way to each other; the first
/// would be a linear fade.
#[inline(always)]
fn sharpened(share: f32) -> f32 {
    let square = share * share;
    square * square * square
}

/// An offset for a corner of the grid: whole numbers mixed until nothing of their order is left (the finaliser of
/// `MurmurHash3`).
#[inline(always)]
fn offset([i, j]: [i32; 2]) -> [f32; 2] {
    let mut hash = (i as u32).wrapping_mul(0x9e37_79b9) ^ (j as u32).wrapping_mul(0x85eb_ca6b).rotate_left(15);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    [hash & 0xffff, hash >> 16].map(|half| half as f32 / 65_536.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_shows_its_relief_where_pixels_are_small() {
        // Two texels bright, two dark, over 8 m.
        let texel = |i: usize| if i % 4 < 2 { [220, 220, 220, 255] } else { [40, 40, 40, 255] };
        let swatch = Swatch::new(&Picture { width: 8, height: 8, pixels: (0..64).map(texel).collect() });
        let swatch = Arc::new(swatch);
        let relief = |pixel_m: f32| {
            let xs_m: Vec<f32> = (0..200).map(|i| i as f32 * pixel_m).collect();
            let (mut texels, mut space) = (Texels::default(), Space::default());
            let cover = Cover::new(swatch.clone(), 8.0, pixel_m);
            cover.lay((&xs_m, 3.3), &vec![1.0; xs_m.len()], &mut texels, &mut space);
            texels.steps[3].iter().map(|&step| f32::from(step) / ONE).collect::<Vec<_>>()
        };
        let found = relief(0.25);
        assert!(found.iter().any(|&at| at > 0.8) && found.iter().any(|&at| at < 0.2), "{found:?}");
        assert!(relief(4.0).iter().all(|&at| at == 0.5), "pixels as large as its forms show none");
    }
}
