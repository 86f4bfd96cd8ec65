//! Tileable pictures of ground, and how they are laid over the land so that no eye sees them repeat.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::picture::{Picture, linear_from_srgb, luminance};
use crate::engine::wide::{refill, rounded};

/// A texel in linear light, 16 bits a channel: red, green, blue, and the relief, which is the luminance.
type Texel = [u16; 4];

/// The greatest value of a channel.
const FULL: f32 = 65_535.0;

/// Places of a line that are worked out together, or not at all: as many as a mask has bits.
pub(super) const STRETCH: usize = u32::BITS as usize;

/// One level of the pyramid. Its rows go round: each begins with a copy of its last texel and ends with one of its first,
/// so that two neighbours always lie side by side.
#[derive(Clone, Debug)]
struct Level {
    width: usize,
    height: usize,
    texels: Vec<Texel>,
    /// The reliefs of the texels by themselves: far structure asks for nothing else, and finds them closer together.
    reliefs: Vec<u16>,
}

/// A tileable picture, halved again and again until a single texel is left.
#[derive(Clone, Debug)]
pub struct Swatch {
    levels: Vec<Level>,
    /// The mean colour and the mean relief, in linear light, 0 to 1.
    mean: [f32; 4],
}

impl Level {
    /// `texel` says what lies at a column and a row.
    fn new(width: usize, height: usize, texel: impl Fn(usize, usize) -> Texel) -> Self {
        let columns = || std::iter::once(width - 1).chain(0..width).chain(std::iter::once(0));
        let texels: Vec<Texel> =
            (0..height).flat_map(|y| columns().map(move |x| (x, y))).map(|(x, y)| texel(x, y)).collect();
        let reliefs = texels.iter().map(|texel| texel[3]).collect();
        Self { width, height, texels, reliefs }
    }

    /// Texels from the begin of one row to that of the next.
    #[inline(always)]
    fn stride(&self) -> usize {
        self.width + 2
    }

    fn at(&self, x: usize, y: usize) -> Texel {
        self.texels[(y % self.height) * self.stride() + 1 + x % self.width]
    }

    /// A level of one texel has no structure.
    fn is_uniform(&self) -> bool {
        self.width * self.height == 1
    }

    fn half(&self) -> Self {
        let texel = |x: usize, y: usize| {
            let (x, y) = (2 * x, 2 * y);
            let four = [self.at(x, y), self.at(x + 1, y), self.at(x, y + 1), self.at(x + 1, y + 1)];
            std::array::from_fn(|c| {
                let sum: u32 = four.iter().map(|texel| u32::from(texel[c])).sum();
                ((sum + 2) / 4) as u16
            })
        };
        Self::new(self.width.div_ceil(2), self.height.div_ceil(2), texel)
    }
}

/// The two rows of `count` between whose centres a place lies, and the way from the one to the other; `share` is a
/// share of the picture and goes round.
#[inline(always)]
fn between(share: f32, count: usize) -> (usize, usize, f32) {
    let position = (share - share.floor()) * count as f32 - 0.5;
    let base = position.floor();
    let first = if base < 0.0 { count - 1 } else { (base as u32 as usize).min(count - 1) };
    (first, if first + 1 == count { 0 } else { first + 1 }, position - base)
}

/// The two rows of a level between whose centres a line from west to east lies, and the way from the one to the other.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    north: usize,
    south: usize,
    t: f32,
}

impl Line {
    /// `v` is how far south the line lies, as a share of the picture's height.
    #[inline(always)]
    fn new(level: &Level, v: f32) -> Self {
        let (north, south, t) = between(v, level.height);
        Self { north, south, t }
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
        let texels: Vec<Texel> = picture.pixels.iter().map(texel).collect();
        let level = if texels.is_empty() {
            Level::new(1, 1, |_, _| [0; 4])
        } else {
            Level::new(picture.width, picture.height, |x, y| texels[y * picture.width + x])
        };
        let mut levels = vec![level];
        while let Some(last) = levels.last().filter(|level| !level.is_uniform()) {
            levels.push(last.half());
        }
        let mut mean = [0.0_f64; 4];
        for texel in &texels {
            mean.iter_mut().zip(texel).for_each(|(sum, channel)| *sum += f64::from(*channel));
        }
        let scale = 1.0 / (f64::from(FULL) * texels.len().max(1) as f64);
        Self { levels, mean: mean.map(|sum| (sum * scale) as f32) }
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        let a_texel = size_of::<Texel>() + size_of::<u16>();
        self.levels.iter().map(|level| a_texel * level.texels.len()).sum()
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
        let Space { triangles, brightness, far_rows } = space;
        let Self { repeat_m, per_relief, .. } = *self;
        let levels = &self.swatch.levels;
        let (mean, repeats_per_m) = (self.swatch.mean, 1.0 / repeat_m);
        let v = z_m * repeats_per_m;
        let [one, other] = far_rows;
        let far = [(0, one), (1, other)].map(|(at, row)| {
            FarLine::new(&levels[self.far[at]], FAR[at], repeats_per_m, (v, self.proportion), per_relief, row)
        });
        let near = &levels[self.near];
        let shows_near = near.width >= LEAST_TEXELS.min(levels[0].width);
        if shows_near {
            triangles.begin(v, self.proportion);
        }
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
            let channels = steps.each_mut().map(|steps| &mut steps[stretch.clone()]);
            if shows_near {
                let details = triangles.details(near, &places, repeats_per_m, mean);
                for (c, (channel, details)) in channels.into_iter().zip(details).enumerate() {
                    for ((step, detail), bright) in channel.iter_mut().zip(details).zip(&*brightness) {
                        // The last channel is the relief: it has a mean of its own and is as high wherever it is bright.
                        let relief = 0.5 + 0.5 * detail * per_relief;
                        let relief = if relief < 1.0 { relief } else { 1.0 };
                        *step = step_of(if c < 3 { (mean[c] + detail) * bright } else { relief });
                    }
                }
            } else {
                let [red, green, blue, relief] = channels;
                for (channel, mean) in [red, green, blue].into_iter().zip(mean) {
                    channel.iter_mut().zip(&*brightness).for_each(|(step, bright)| *step = step_of(mean * bright));
                }
                relief.fill(LEVEL);
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
    triangles: Triangles,
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
        let line = Line::new(level, v * proportion / scale + south);
        let [north, south] = [line.north, line.south].map(|at| &level.reliefs[at * level.stride()..][..level.stride()]);
        let scaled = per_relief * (1.0 / FULL);
        refill(
            row,
            north.iter().zip(south).map(|(&north, &south)| {
                let (north, south) = (f32::from(north), f32::from(south));
                (north + (south - north) * line.t) * scaled
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
            *west = rounded(base);
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

/// Triangles as high as a third of a picture: large enough to keep the picture's forms whole.
const TRIANGLES_A_REPEAT: f32 = 3.0;

/// A copy that is hardly seen is left away.
const LEAST_SHARE: f32 = 0.015;

/// The copies that meet in a triangle.
const COPIES: usize = 3;

/// The copy of the picture at a corner of the grid, along a line: how far it is moved eastward, and its rows.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    east: f32,
    line: Line,
}

impl Corner {
    /// `down` is how far south the line lies in the picture; the rows are where they begin among all texels.
    #[inline(always)]
    fn new(level: &Level, down: f32, at: [i32; 2]) -> Self {
        let [east, south] = offset(at);
        let Line { north, south, t } = Line::new(level, down + south);
        Self { east, line: Line { north: north * level.stride(), south: south * level.stride(), t } }
    }
}

/// Neighbouring places in one cell of the grid, and the copies at its corners: north-west, north-east, south-west,
/// south-east.
#[derive(Clone, Copy, Debug)]
struct Cell {
    places: usize,
    corners: [Corner; 4],
}

/// What is worked out of one copy at every place of a stretch.
#[derive(Clone, Copy, Debug)]
struct Copies {
    shares: [f32; STRETCH],
    easts: [f32; STRETCH],
    texels: Between,
    /// The shares of the western and of the eastern texels.
    of_texels: [[f32; STRETCH]; 2],
}

impl Copies {
    /// Adds the copy at a corner to the mixture at some places, a bit for each.
    #[inline(always)]
    fn add(&self, level: &Level, corner: &Corner, mut places: u32, mixtures: &mut [[f32; 4]; STRETCH]) {
        let Self { texels: Between { wests, .. }, of_texels: [of_west, of_east], .. } = self;
        let Line { north, south, t } = corner.line;
        let stride = level.stride();
        let (north, south) = (&level.texels[north..][..stride], &level.texels[south..][..stride]);
        while places != 0 {
            let i = places.trailing_zeros() as usize;
            places &= places - 1;
            let west = wests[i] as usize;
            let (north, south) = (two(&north[west..west + 2]), two(&south[west..west + 2]));
            let (west, east) = (of_west[i], of_east[i]);
            let shares = [west, west, west, west, east, east, east, east];
            // Not by iterators over arrays of this size, which are not inlined.
            let mut parts = [0.0; 8];
            for c in 0..8 {
                parts[c] = shares[c] * (north[c] + (south[c] - north[c]) * t);
            }
            for c in 0..4 {
                mixtures[i][c] += parts[c] + parts[c + 4];
            }
        }
    }
}

/// The places of a stretch, a bit for each, that are not 0.
#[inline(always)]
fn places_where(values: &[f32; STRETCH]) -> u32 {
    values.iter().enumerate().fold(0, |places, (at, value)| places | u32::from(*value != 0.0) << at)
}

/// The triangles of a skewed grid along one line from west to east. The line stays between two rows of corners.
#[derive(Debug)]
struct Triangles {
    /// How far south the line lies in the picture, as a share of its height.
    down: f32,
    /// How far the cells are skewed here, which row of cells it is, and how far down the row the line lies.
    skew: f32,
    row: i32,
    t: f32,
    /// What is worked in along a stretch.
    copies: [Copies; COPIES],
    cells: Vec<Cell>,
    /// The mixture of the three copies at every place.
    mixtures: [[f32; 4]; STRETCH],
    /// How far the mixture is from the mean, channel by channel.
    details: [[f32; STRETCH]; 4],
}

impl Default for Triangles {
    fn default() -> Self {
        let [shares, easts] = [[0.0; STRETCH]; 2];
        let copies = Copies { shares, easts, texels: Between::default(), of_texels: [[0.0; STRETCH]; 2] };
        Self {
            down: 0.0,
            skew: 0.0,
            row: 0,
            t: 0.0,
            copies: [copies; COPIES],
            cells: Vec::new(),
            mixtures: [[0.0; 4]; STRETCH],
            details: [[0.0; STRETCH]; 4],
        }
    }
}

impl Triangles {
    #[inline(always)]
    fn begin(&mut self, v: f32, proportion: f32) {
        // The triangles lie on the land, whatever the picture's proportion.
        self.down = v * proportion;
        let across = v * TRIANGLES_A_REPEAT;
        let q = 1.154_700_5 * across;
        self.skew = 0.577_350_27 * across;
        self.row = q.floor() as i32;
        self.t = q - q.floor();
    }

    /// How far the mixture of the three copies is from the mean, channel by channel, at every place of a stretch.
    ///
    /// All that is worked out goes through the vector lanes, place by place or, of texels, channel by channel; only which
    /// texels these are is looked up.
    #[inline(always)]
    fn details(
        &mut self,
        level: &Level,
        xs_m: &[f32; STRETCH],
        repeats_per_m: f32,
        mean: [f32; 4],
    ) -> &[[f32; STRETCH]; 4] {
        let (t, skew) = (self.t, self.skew);
        let (mut us, mut cells, mut is_south) = ([0.0_f32; STRETCH], [0.0_f32; STRETCH], [0.0_f32; STRETCH]);
        let mut restored = [0.0_f32; STRETCH];
        let [first, second, third] = &mut self.copies;
        let shares = first.shares.iter_mut().zip(&mut second.shares).zip(&mut third.shares);
        let places = us.iter_mut().zip(&mut cells).zip(&mut is_south).zip(&mut restored).zip(shares);
        for (((((u, cell), is_south), restored), ((first, second), third)), x_m) in places.zip(xs_m) {
            *u = x_m * repeats_per_m;
            let p = *u * TRIANGLES_A_REPEAT - skew;
            *cell = p.floor();
            let s = p - p.floor();
            // Barycentric shares of the corners of the triangle in which the place lies: the one in the north-west of the
            // cell, or the one in the south-east.
            let south = s + t >= 1.0;
            *is_south = if south { 1.0 } else { 0.0 };
            let shares = [
                if south { s + t - 1.0 } else { 1.0 - s - t },
                if south { 1.0 - t } else { s },
                if south { 1.0 - s } else { t },
            ];
            let shares = shares.map(sharpened);
            let whole = 1.0 / (shares[0] + shares[1] + shares[2]);
            let shares = shares.map(|share| share * whole);
            let squares = shares[0] * shares[0] + shares[1] * shares[1] + shares[2] * shares[2];
            *restored = 1.0 / squares.sqrt();
            [*first, *second, *third] = shares.map(|share| if share > LEAST_SHARE { share } else { 0.0 });
        }
        self.find_cells(level, &cells, &is_south);
        let width = level.width as f32;
        for Copies { shares, easts, texels, of_texels: [of_west, of_east] } in &mut self.copies {
            texels.find(width, us.iter().zip(&*easts).map(|(u, east)| u + east));
            for (((share, way), west), east) in shares.iter().zip(&texels.ways).zip(of_west).zip(of_east) {
                *west = share * (1.0 - way);
                *east = share * way;
            }
        }
        self.mixtures.fill([0.0; 4]);
        let [first, second, third] = &self.copies;
        let south = places_where(&is_south);
        // Mostly one of the three is seen.
        let (sees_first, sees_second, sees_third) =
            (places_where(&first.shares), places_where(&second.shares), places_where(&third.shares));
        let mut at = 0;
        for Cell { places, corners: [north_west, north_east, south_west, south_east] } in &self.cells {
            let here = (u32::MAX >> (STRETCH - places)) << at;
            at += places;
            first.add(level, north_west, here & sees_first & !south, &mut self.mixtures);
            first.add(level, south_east, here & sees_first & south, &mut self.mixtures);
            second.add(level, north_east, here & sees_second, &mut self.mixtures);
            third.add(level, south_west, here & sees_third, &mut self.mixtures);
        }
        let mut wholes = [0.0; STRETCH];
        for Copies { shares, .. } in &self.copies {
            wholes.iter_mut().zip(shares).for_each(|(whole, share)| *whole += share);
        }
        for (c, (details, mean)) in self.details.iter_mut().zip(mean).enumerate() {
            let mixtures = self.mixtures.iter().map(|mixture| mixture[c]);
            for (((detail, mixture), restored), whole) in details.iter_mut().zip(mixtures).zip(&restored).zip(&wholes) {
                *detail = (mixture * (1.0 / FULL) - mean * whole) * restored;
            }
        }
        &self.details
    }

    /// Which copies meet at every place, and how far they are moved.
    #[inline(always)]
    fn find_cells(&mut self, level: &Level, cells: &[f32], is_south: &[f32]) {
        self.cells.clear();
        let mut at = 0;
        while at < cells.len() {
            let cell = cells[at];
            let end = cells[at..].iter().position(|other| *other != cell).map_or(cells.len(), |count| at + count);
            let (i, j) = (cell as i32, self.row);
            let corner = |i: i32, j: i32| Corner::new(level, self.down, [i, j]);
            // One by one: what goes over an array is not inlined. The next cell begins where the last one ended.
            let [north_west, south_west] = match self.cells.last() {
                Some(Cell { corners: [_, north_east, _, south_east], .. }) if cells[at - 1] + 1.0 == cell => {
                    [*north_east, *south_east]
                }
                _ => [corner(i, j), corner(i, j + 1)],
            };
            let corners = [north_west, corner(i + 1, j), south_west, corner(i + 1, j + 1)];
            let [north_west, north_east, south_west, south_east] = corners;
            let [first, second, third] = &mut self.copies;
            for (east, is_south) in first.easts[at..end].iter_mut().zip(&is_south[at..end]) {
                *east = if *is_south > 0.0 { south_east.east } else { north_west.east };
            }
            second.easts[at..end].fill(north_east.east);
            third.easts[at..end].fill(south_west.east);
            self.cells.push(Cell { places: end - at, corners });
            at = end;
        }
    }
}

/// The channels of two neighbouring texels.
#[inline(always)]
fn two(texels: &[Texel]) -> [f32; 8] {
    std::array::from_fn(|at| f32::from(texels[at / 4][at % 4]))
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
    fn every_place_lies_between_two_texels_of_its_row() {
        let level = Level::new(3, 2, |x, y| [10 * y as u16 + x as u16; 4]);
        let firsts: Vec<u16> = level.texels.iter().map(|texel| texel[0]).collect();
        assert_eq!(firsts, [2, 0, 1, 2, 0, 12, 10, 11, 12, 10]);
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

    #[test]
    fn pictures_of_any_shape_are_laid_at_any_scale() {
        let grey =
            |width: usize, height: usize| Picture { width, height, pixels: vec![[128, 128, 128, 255]; width * height] };
        let xs_m: Vec<f32> = (0..77).map(|i| i as f32 * 1.7).collect();
        for [width, height] in [[0, 0], [1, 1], [1, 64], [64, 1], [2, 2], [5, 3]] {
            let swatch = Arc::new(Swatch::new(&grey(width, height)));
            for (repeat_m, pixel_m) in [(0.5, 1.7), (3.0, 1.7), (40.0, 1.7), (4000.0, 1.7)] {
                let (mut texels, mut space) = (Texels::default(), Space::default());
                let cover = Cover::new(swatch.clone(), repeat_m, pixel_m);
                cover.lay((&xs_m, 12.3), &vec![1.0; xs_m.len()], &mut texels, &mut space);
                let expected = swatch.mean()[0];
                let light = texels.steps[0].iter().map(|&step| f32::from(step) / ONE);
                let off = light.map(|light| (light - expected).abs()).fold(0.0, f32::max);
                assert!(off < 1e-3, "{width} × {height} at {repeat_m} m: off by {off}");
            }
        }
    }

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
