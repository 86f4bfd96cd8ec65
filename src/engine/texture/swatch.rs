//! Tileable pictures of ground, halved again and again.

use crate::engine::image::{Image, linear_from_srgb, luminance};

/// A texel in linear light, 16 bits a channel: red, green, blue, and the relief, which is the luminance.
pub(super) type Texel = [u16; 4];

/// The greatest value of a channel.
pub(super) const FULL: f32 = 65_535.0;

/// One level of the pyramid. Its rows go round: each begins with a copy of its last texel and ends with one of its first,
/// so that two neighbours always lie side by side.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) width: usize,
    pub(super) height: usize,
    texels: Vec<Texel>,
    /// The reliefs of the texels by themselves: far structure asks for nothing else, and finds them closer together.
    reliefs: Vec<u16>,
}

/// A tileable picture, halved again and again until a single texel is left.
#[derive(Clone, Debug)]
pub struct Swatch {
    pub(super) levels: Vec<Level>,
    /// The mean colour and the mean relief, in linear light, 0 to 1.
    pub(super) mean: [f32; 4],
}

impl Level {
    /// `texel` says what lies at a column and a row.
    pub(super) fn new(width: usize, height: usize, texel: impl Fn(usize, usize) -> Texel) -> Self {
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

    /// A level of one texel has no structure.
    pub(super) fn is_uniform(&self) -> bool {
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
pub(super) fn between(share: f32, count: usize) -> (usize, usize, f32) {
    let position = (share - share.floor()) * count as f32 - 0.5;
    let base = position.floor();
    let first = if base < 0.0 { count - 1 } else { (base as u32 as usize).min(count - 1) };
    (first, if first + 1 == count { 0 } else { first + 1 }, position - base)
}

/// The channels of two neighbouring texels.
#[inline(always)]
pub(super) fn two(texels: &[Texel]) -> [f32; 8] {
    std::array::from_fn(|at| f32::from(texels[at / 4][at % 4]))
}

impl Swatch {
    /// From a picture whose opposite borders fit together. An empty picture is black.
    pub fn new(picture: &Image) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_round() {
        let level = Level::new(3, 2, |x, y| [10 * y as u16 + x as u16; 4]);
        let firsts = |y| level.row(y).iter().map(|texel| texel[0]).collect::<Vec<_>>();
        assert_eq!([firsts(0), firsts(1)], [[2, 0, 1, 2, 0], [12, 10, 11, 12, 10]]);
        assert_eq!(level.reliefs(1), [12, 10, 11, 12, 10]);
    }
}
