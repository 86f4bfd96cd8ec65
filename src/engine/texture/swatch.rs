//! A tileable texture of a material, with its mip levels.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::cast::{ToFloat, ToInteger};
use crate::image::{Image, linear_from_srgb, luminance};

/// A texel in linear light, 16 bits a channel: red, green, blue, and the relief, which is the luminance.
pub(super) type Texel = [u16; 4];

/// The largest value of a channel.
pub(super) const FULL: f32 = 65_535.0;

/// One mip level. Every row begins with a copy of its last texel and ends with a copy of its first, so that two
/// neighbours are always adjacent in memory.
#[derive(Clone, Debug)]
pub(super) struct MipLevel {
    pub(super) width: usize,
    pub(super) height: usize,
    texels: Vec<Texel>,
    /// Only the reliefs, packed for macro variation, which reads nothing else.
    reliefs: Vec<u16>,
}

/// A tileable texture. Its mip levels, which take 3.3 times the memory of its image, replace this when it is first painted.
#[derive(Debug)]
pub struct Swatch {
    size: [usize; 2],
    /// `None` once the mip levels are built.
    image: Mutex<Option<Image>>,
    prepared: OnceLock<PreparedSwatch>,
}

/// A texture with all its mip levels, down to a single texel.
#[derive(Clone, Debug)]
pub(super) struct PreparedSwatch {
    pub(super) levels: Vec<MipLevel>,
    /// The mean colour and the mean relief, in linear light, 0 to 1.
    pub(super) mean: [f32; 4],
    /// The standard deviation of the relief as a fraction of its mean.
    pub(super) contrast: f32,
}

impl MipLevel {
    /// A level whose texel at a column and a row is `texel`.
    pub(super) fn new(width: usize, height: usize, texel: impl Fn(usize, usize) -> Texel) -> Self {
        let columns = || std::iter::once(width - 1).chain(0..width).chain(std::iter::once(0));
        let texels: Vec<Texel> =
            (0..height).flat_map(|y| columns().map(move |x| (x, y))).map(|(x, y)| texel(x, y)).collect();
        let reliefs = texels.iter().map(|texel| texel[3]).collect();
        Self { width, height, texels, reliefs }
    }

    /// The number of texels stored for each row.
    #[inline(always)]
    fn stride(&self) -> usize {
        self.width + 2
    }

    /// A row, from the copy of its last texel to that of its first.
    #[inline(always)]
    pub(super) fn row(&self, y: usize) -> &[Texel] {
        &self.texels[y * self.stride()..][..self.stride()]
    }

    /// The reliefs of a row.
    #[inline(always)]
    pub(super) fn reliefs(&self, y: usize) -> &[u16] {
        &self.reliefs[y * self.stride()..][..self.stride()]
    }

    fn at(&self, x: usize, y: usize) -> Texel {
        self.texels[(y % self.height) * self.stride() + 1 + x % self.width]
    }

    /// Whether the level is a single texel, without any structure.
    pub(super) fn is_uniform(&self) -> bool {
        self.width * self.height == 1
    }

    /// The level and all smaller ones, each of half the size, down to a single texel.
    pub(super) fn with_halves(self) -> Vec<Self> {
        let mut levels = vec![self];
        while let Some(last) = levels.last().filter(|level| !level.is_uniform()) {
            levels.push(last.half());
        }
        levels
    }

    fn half(&self) -> Self {
        let texel = |x: usize, y: usize| {
            let (x, y) = (2 * x, 2 * y);
            let four = [self.at(x, y), self.at(x + 1, y), self.at(x, y + 1), self.at(x + 1, y + 1)];
            std::array::from_fn(|c| {
                let sum: u32 = four.iter().map(|texel| u32::from(texel[c])).sum();
                ((sum + 2) / 4).to_u16()
            })
        };
        Self::new(self.width.div_ceil(2), self.height.div_ceil(2), texel)
    }
}

/// The two of `count` rows between whose centres a coordinate falls, and the fraction of the way from one to the other;
/// `v` is a share of the texture's height and wraps around.
#[inline(always)]
pub(super) fn rows_around(v: f32, count: usize) -> (usize, usize, f32) {
    let position = (v - v.floor()) * count.to_f32() - 0.5;
    let base = position.floor();
    let first = if base < 0.0 { count - 1 } else { (base.to_u32() as usize).min(count - 1) };
    (first, if first + 1 == count { 0 } else { first + 1 }, position - base)
}

/// The channels of two neighbouring texels.
#[inline(always)]
pub(super) fn channels_of_two(texels: &[Texel]) -> [f32; 8] {
    std::array::from_fn(|i| f32::from(texels[i / 4][i % 4]))
}

/// The texels stored for a level: every row has copies of two.
fn stored_texels(width: usize, height: usize) -> usize {
    (width + 2) * height
}

impl Swatch {
    /// The texture of an image whose opposite borders match. An empty image becomes black.
    pub fn new(image: Image) -> Self {
        let size = [image.width, image.height];
        Self { size, image: Mutex::new(Some(image)), prepared: OnceLock::new() }
    }

    /// The mip levels, built if they have not been needed before.
    pub(super) fn prepared(&self) -> &PreparedSwatch {
        self.prepared.get_or_init(|| {
            let image = self.image.lock().unwrap_or_else(PoisonError::into_inner).take();
            PreparedSwatch::new(&image.unwrap_or_default())
        })
    }

    /// The most memory that it takes, bytes: its mip levels, and the image while they are built.
    pub fn bytes(&self) -> usize {
        let halved =
            |[width, height]: &[usize; 2]| (width * height > 1).then_some([width.div_ceil(2), height.div_ceil(2)]);
        let levels = std::iter::successors(Some(self.size.map(|side| side.max(1))), halved);
        let texels: usize = levels.map(|[width, height]| stored_texels(width, height)).sum();
        let [width, height] = self.size;
        texels * (size_of::<Texel>() + size_of::<u16>()) + width * height * size_of::<[u8; 4]>()
    }

    /// The mean colour in linear light.
    pub fn mean(&self) -> [f32; 3] {
        let [red, green, blue, _] = self.prepared().mean;
        [red, green, blue]
    }
}

impl PreparedSwatch {
    fn new(image: &Image) -> Self {
        let texel = |&[red, green, blue, _]: &[u8; 4]| {
            let colour = [red, green, blue].map(linear_from_srgb);
            let [red, green, blue] = colour;
            [red, green, blue, luminance(colour)].map(|channel| (channel * FULL + 0.5).to_u16())
        };
        let texels: Vec<Texel> = image.pixels.iter().map(texel).collect();
        let level = if texels.is_empty() {
            MipLevel::new(1, 1, |_, _| [0; 4])
        } else {
            MipLevel::new(image.width, image.height, |x, y| texels[y * image.width + x])
        };
        let levels = level.with_halves();
        let mut mean = [0.0_f64; 4];
        for texel in &texels {
            mean.iter_mut().zip(texel).for_each(|(sum, channel)| *sum += f64::from(*channel));
        }
        let scale = 1.0 / (f64::from(FULL) * texels.len().max(1).to_f64());
        let mean = mean.map(|sum| sum * scale);
        let relief = |texel: &Texel| f64::from(texel[3]) / f64::from(FULL) - mean[3];
        let squares: f64 = texels.iter().map(|texel| relief(texel) * relief(texel)).sum();
        let deviation = (squares / texels.len().max(1).to_f64()).sqrt();
        let contrast = (deviation / mean[3].max(1e-4)).to_f32();
        Self { levels, mean: mean.map(ToFloat::to_f32), contrast }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_that_of_the_levels_and_of_the_image() {
        for (width, height) in [(64, 64), (1, 64), (100, 7), (1, 1), (0, 0)] {
            let swatch = Swatch::new(Image { width, height, pixels: vec![[128; 4]; width * height] });
            let estimated = swatch.bytes();
            assert!(swatch.image.lock().expect("not poisoned").is_some(), "not painted yet");
            let levels = swatch.prepared().levels.iter();
            let built: usize = levels.map(|level| 8 * level.texels.len() + 2 * level.reliefs.len()).sum();
            assert_eq!(estimated, built + 4 * width * height, "{width} × {height}");
            assert!(swatch.image.lock().expect("not poisoned").is_none(), "replaced by the levels");
        }
    }

    #[test]
    fn rows_wrap_around() {
        let level = MipLevel::new(3, 2, |x, y| [10 * y as u16 + x as u16; 4]);
        let firsts = |y| level.row(y).iter().map(|texel| texel[0]).collect::<Vec<_>>();
        assert_eq!([firsts(0), firsts(1)], [[2, 0, 1, 2, 0], [12, 10, 11, 12, 10]]);
        assert_eq!(level.reliefs(1), [12, 10, 11, 12, 10]);
    }
}
