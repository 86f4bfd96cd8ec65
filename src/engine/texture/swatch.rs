//! Tileable pictures of ground, and how they are laid over the land without showing where they repeat.

use crate::engine::picture::{Picture, linear_from_srgb};

/// A texel in linear light, 16 bits a channel: red, green, blue, and the relief, which is the luminance.
type Texel = [u16; 4];

/// The greatest value of a channel.
const FULL: f32 = 65_535.0;

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

/// How bright a colour in linear light is (ITU-R BT.709).
fn luminance([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
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

    /// Bilinear between texel centres; u and v are shares of the picture and go round.
    fn at(&self, u: f32, v: f32) -> [f32; 4] {
        let along = |share: f32, count: usize| {
            let position = (share - share.floor()) * count as f32 - 0.5;
            let base = position.floor();
            let first = if base < 0.0 { count - 1 } else { (base as usize).min(count - 1) };
            (first, if first + 1 == count { 0 } else { first + 1 }, position - base)
        };
        let ((x0, x1, s), (y0, y1, t)) = (along(u, self.width), along(v, self.height));
        let row = |y: usize| {
            let texels = &self.texels[y * self.width..][..self.width];
            let (west, east) = (texels[x0], texels[x1]);
            let mixed: [f32; 4] = std::array::from_fn(|c| {
                let (west, east) = (f32::from(west[c]), f32::from(east[c]));
                west + (east - west) * s
            });
            mixed
        };
        let (north, south) = (row(y0), row(y1));
        std::array::from_fn(|c| (north[c] + (south[c] - north[c]) * t) * (1.0 / FULL))
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

/// Far structure is laid so many times as wide as near structure; no whole number, so that the two never meet again.
const FAR_SCALE: f32 = 11.3;

/// How much of the far structure's brightness is seen.
const FAR_SHARE: f32 = 0.5;

/// How sharply the three copies that meet at a place give way to each other: 1 is a linear fade.
const SHARPNESS: i32 = 6;

/// A level with fewer texels than this along its side is nearly one colour: near structure is left away there.
const LEAST_TEXELS: usize = 16;

/// A swatch laid over the land at one scale, for pixels of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cover<'a> {
    swatch: &'a Swatch,
    near: &'a Level,
    far: &'a Level,
    repeats_per_m: f32,
    /// Factors on the colour, by the tint.
    tint: [f32; 3],
}

impl<'a> Cover<'a> {
    /// One picture is `repeat_m` wide; `tint` says how far its mean takes on `colour`; `pixel_m` is the side of a pixel.
    pub(super) fn new(swatch: &'a Swatch, repeat_m: f32, tint: f32, colour: [f32; 3], pixel_m: f32) -> Self {
        // The level whose texels are about as large as a pixel: finer ones would shimmer, coarser ones blur.
        let level_for = |repeat_m: f32| {
            let texels_a_pixel = pixel_m / repeat_m * swatch.levels[0].width as f32;
            let level = libm::log2f(texels_a_pixel.max(1.0)) + 0.25;
            &swatch.levels[(level as usize).min(swatch.levels.len() - 1)]
        };
        let mean = swatch.mean();
        let tinted = |c: usize| 1.0 + tint * (colour[c] / mean[c].max(1e-4) - 1.0);
        Self {
            swatch,
            near: level_for(repeat_m),
            far: level_for(FAR_SCALE * repeat_m),
            repeats_per_m: 1.0 / repeat_m,
            tint: std::array::from_fn(tinted),
        }
    }

    /// The colour in linear light and the relief, 0 to 1 with its mean at ½, at a place in metres.
    ///
    /// Near structure: three copies, each with an offset of its own, meet in every triangle of a grid over the land, so
    /// that nothing repeats (Heitz and Neyret, "High-Performance By-Example Noise using a Histogram-Preserving Blending
    /// Operator", 2018; what the mixture loses in contrast is given back around the mean, their equation 2). Far
    /// structure: the brightness of the same picture, laid much wider.
    pub(super) fn at(&self, x_m: f32, z_m: f32) -> ([f32; 3], f32) {
        let (u, v) = (x_m * self.repeats_per_m, z_m * self.repeats_per_m);
        let mean = self.swatch.mean;
        let mut detail = [0.0; 4];
        if self.near.width >= LEAST_TEXELS {
            let (mut shares, corners) = triangle(u, v);
            shares = shares.map(|share| powi(share, SHARPNESS));
            let whole = 1.0 / (shares[0] + shares[1] + shares[2]);
            let mut squares = 0.0;
            for (share, corner) in shares.into_iter().zip(corners) {
                let share = share * whole;
                squares += share * share;
                // A copy that is hardly seen is not worth its four texels.
                if share > 0.004 {
                    let [east, south] = offset(corner);
                    let texel = self.near.at(u + east, v + south);
                    detail.iter_mut().zip(texel.iter().zip(mean)).for_each(|(d, (t, m))| *d += share * (t - m));
                }
            }
            let restored = 1.0 / squares.sqrt();
            detail = detail.map(|channel| channel * restored);
        }
        let mut brightness = 1.0;
        if self.far.texels.len() > 1 {
            let relief = self.far.at(u / FAR_SCALE + 0.37, v / FAR_SCALE + 0.71)[3];
            brightness += FAR_SHARE * (relief / mean[3].max(1e-4) - 1.0).clamp(-1.0, 1.0);
        }
        let colour = std::array::from_fn(|c| ((mean[c] + detail[c]) * self.tint[c] * brightness).clamp(0.0, 1.0));
        let relief = (0.5 + 0.5 * detail[3] / mean[3].max(1e-4)).clamp(0.0, 1.0);
        (colour, relief)
    }
}

fn powi(x: f32, n: i32) -> f32 {
    (1..n).fold(x, |power, _| power * x)
}

/// The three corners of the triangle of a skewed grid in which a point lies, and the point's barycentric shares.
fn triangle(u: f32, v: f32) -> ([f32; 3], [[i32; 2]; 3]) {
    // Triangles as high as a third of a picture: large enough to keep the picture's forms whole.
    const ACROSS: f32 = 3.0;
    let (u, v) = (u * ACROSS, v * ACROSS);
    let (p, q) = (u - 0.577_350_27 * v, 1.154_700_5 * v);
    let (base_p, base_q) = (p.floor(), q.floor());
    let (s, t) = (p - base_p, q - base_q);
    let (i, j) = (base_p as i32, base_q as i32);
    if s + t < 1.0 {
        ([1.0 - s - t, s, t], [[i, j], [i + 1, j], [i, j + 1]])
    } else {
        ([s + t - 1.0, 1.0 - t, 1.0 - s], [[i + 1, j + 1], [i + 1, j], [i, j + 1]])
    }
}

/// An offset for a corner of the grid: whole numbers mixed until nothing of their order is left (the finaliser of
/// `MurmurHash3`).
fn offset([i, j]: [i32; 2]) -> [f32; 2] {
    let mut hash = (i as u32).wrapping_mul(0x9e37_79b9) ^ (j as u32).wrapping_mul(0x85eb_ca6b).rotate_left(15);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    [hash & 0xffff, hash >> 16].map(|half| half as f32 / 65_536.0)
}
