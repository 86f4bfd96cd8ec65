//! Images in sRGB, and the conversion between sRGB and linear light.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::heightfield::Heightfield;
use super::progress::{Cancelled, Progress};
use super::simd::{round_to_u32, simd};

use crate::cast::{ToFloat, ToInteger};

/// Samples per parallel task.
const CHUNK: usize = 1 << 14;
/// Pixels per vectorized block of [`encode`].
const ENCODED_BLOCK: usize = 64;

/// An opaque image in sRGB, row-major, north at the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Pixels from west to east.
    pub width: usize,
    /// Pixels from north to south.
    pub height: usize,
    /// Red, green, blue, 255.
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    /// An image of `width` pixels per row from its bytes: red, green and blue of each pixel.
    pub fn from_rgb(width: usize, bytes: &[u8]) -> Self {
        let pixels: Vec<[u8; 4]> =
            bytes.as_chunks().0.iter().map(|&[red, green, blue]| [red, green, blue, 255]).collect();
        Self { width, height: pixels.len() / width.max(1), pixels }
    }

    /// Heights from black (lowest) to white (highest), one pixel per sample.
    pub fn greyscale(terrain: &Heightfield) -> Self {
        Self::greyscale_between(terrain, terrain.min_max())
    }

    /// Like [`Self::greyscale`], for other heights of black and white. Heights beyond them are black or white.
    pub fn greyscale_between(terrain: &Heightfield, [low, high]: [f32; 2]) -> Self {
        let factor = if high > low { 255.0 / (high - low) } else { 0.0 };
        let grid = terrain.grid();
        let mut pixels = vec![[255; 4]; grid.samples()];
        let chunks = pixels.par_chunks_mut(CHUNK).zip(terrain.heights().par_chunks(CHUNK));
        chunks.for_each(|(pixels, heights)| {
            simd(
                #[inline(always)]
                || {
                    for (pixel, height) in pixels.iter_mut().zip(heights) {
                        let grey = round_to_u32(((height - low) * factor).clamp(0.0, 255.0)).to_u8();
                        *pixel = [grey, grey, grey, 255];
                    }
                },
            );
        });
        Self { width: grid.width(), height: grid.height(), pixels }
    }

    /// A copy of `width` × `height` pixels from column and row `origin` on, which the image must have.
    pub fn part(&self, [column, row]: [usize; 2], [width, height]: [usize; 2]) -> Self {
        let rows = self.pixels.chunks_exact(self.width).skip(row).take(height);
        Self { width, height, pixels: rows.flat_map(|pixels| &pixels[column..column + width]).copied().collect() }
    }

    /// The square of `side` × `side` pixels from column and row `origin` on, which the image must have, as `pixels` ×
    /// `pixels`, each the mean of those it covers, or one of them where the result is the larger.
    pub fn scaled_square(&self, [column, row]: [usize; 2], side: usize, pixels: usize) -> Self {
        let covered = |at: usize| at * side / pixels..((at + 1) * side / pixels).max(at * side / pixels + 1);
        let mean = |i: usize| {
            let (columns, rows) = (covered(i % pixels), covered(i / pixels));
            let count = (columns.len() * rows.len()).to_u32();
            let mut sums = [0_u32; 3];
            for j in rows {
                let from = (row + j) * self.width + column;
                for [red, green, blue, _] in &self.pixels[from + columns.start..from + columns.end] {
                    sums.iter_mut().zip([red, green, blue]).for_each(|(sum, channel)| *sum += u32::from(*channel));
                }
            }
            let [red, green, blue] = sums.map(|sum| ((sum + count / 2) / count).to_u8());
            [red, green, blue, 255]
        };
        Self { width: pixels, height: pixels, pixels: (0..pixels * pixels).map(mean).collect() }
    }

    /// Replaces the pixels from column and row `origin` on by those of another image, which must fit.
    pub fn paste(&mut self, [column, row]: [usize; 2], part: &Self) {
        let rows = self.pixels.chunks_exact_mut(self.width).skip(row);
        for (pixels, replacement) in rows.zip(part.pixels.chunks_exact(part.width)) {
            pixels[column..column + part.width].copy_from_slice(replacement);
        }
    }

    /// The image mirrored west to east, north to south, or both.
    pub fn flipped(&self, [west_east, north_south]: [bool; 2], progress: &Progress) -> Result<Self, Cancelled> {
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for j in 0..self.height {
            progress.check()?;
            let j = if north_south { self.height - 1 - j } else { j };
            let row = self.pixels[j * self.width..][..self.width].iter();
            if west_east { pixels.extend(row.rev()) } else { pixels.extend(row) }
        }
        Ok(Self { width: self.width, height: self.height, pixels })
    }
}

/// The relative luminance of a colour in linear light (ITU-R BT.709).
pub(super) fn luminance([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Converts an sRGB channel to linear light, 0 to 1 (IEC 61966-2-1).
pub fn linear_from_srgb(channel: u8) -> f32 {
    static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let linear = |encoded: f64| {
            if encoded <= 0.040_45 { encoded / 12.92 } else { libm::pow((encoded + 0.055) / 1.055, 2.4) }
        };
        (0..=255).map(|channel| linear(f64::from(channel) / 255.0).to_f32()).collect()
    });
    TABLE[usize::from(channel)]
}

/// The darkest entry of [`SRGB`]: linear light up to twelve times as bright is still black in sRGB.
#[expect(clippy::cast_precision_loss, reason = "a power of two")]
const BLACK: f32 = 1.0 / (1 << OCTAVES) as f32;
/// Octaves of light from [`BLACK`] to white.
const OCTAVES: usize = 13;
/// The low bits of an f32 that the index of [`SRGB`] drops, which leaves 2048 entries per octave.
const DROPPED_BITS: u32 = 12;

/// sRGB channels, indexed by the leading bits of linear light. Neighbouring entries differ by at most a twentieth of an
/// sRGB step, and colours of similar brightness share cache lines. There is an entry for every possible [`srgb_index`],
/// so look-ups need no bounds check.
static SRGB: LazyLock<Box<[u8; 1 << u16::BITS]>> = LazyLock::new(|| {
    let encoded = |linear: f64| {
        if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055 }
    };
    let light = |index: u16| f32::from_bits(BLACK.to_bits() + (u32::from(index) << DROPPED_BITS));
    let mut table = Box::new([u8::MAX; 1 << u16::BITS]);
    for index in 0..=srgb_index(1.0) {
        table[usize::from(index)] = (encoded(f64::from(light(index))) * 255.0 + 0.5).to_u8();
    }
    table
});

/// The index in [`SRGB`] of linear light, clamped to white.
#[inline(always)]
fn srgb_index(light: f32) -> u16 {
    let half = 1 << (DROPPED_BITS - 1);
    // Comparisons in this order turn NaN into black.
    let light = if light > BLACK { light } else { BLACK };
    let light = if light < 1.0 { light } else { 1.0 };
    ((light.to_bits() - BLACK.to_bits() + half) >> DROPPED_BITS).to_u16()
}

/// Converts linear light to an sRGB channel.
pub fn srgb_from_linear(light: f32) -> u8 {
    SRGB[usize::from(srgb_index(light))]
}

/// Encodes a row of linear light, given channel by channel, as sRGB pixels.
#[inline(always)]
pub(super) fn encode([red, green, blue]: &[Vec<f32>; 3], pixels: &mut [[u8; 4]]) {
    let table: &[u8; 1 << u16::BITS] = &SRGB;
    let channels = red.chunks(ENCODED_BLOCK).zip(green.chunks(ENCODED_BLOCK)).zip(blue.chunks(ENCODED_BLOCK));
    for (pixels, ((red, green), blue)) in pixels.chunks_mut(ENCODED_BLOCK).zip(channels) {
        // The indices are vectorized; only the look-ups go pixel by pixel.
        let mut indices = [[0; ENCODED_BLOCK]; 3];
        for (indices, channel) in indices.iter_mut().zip([red, green, blue]) {
            indices.iter_mut().zip(channel).for_each(|(index, light)| *index = srgb_index(*light));
        }
        let [reds, greens, blues] = &indices;
        for (pixel, ((red, green), blue)) in pixels.iter_mut().zip(reds.iter().zip(greens).zip(blues)) {
            let [red, green, blue] = [red, green, blue].map(|index| u32::from(table[usize::from(*index)]));
            *pixel = (red | green << 8 | blue << 16 | 0xff << 24).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};

    #[test]
    fn every_channel_survives_the_conversion_to_linear_light_and_back() {
        assert!((0..=255).all(|channel| srgb_from_linear(linear_from_srgb(channel)) == channel));
        assert!((linear_from_srgb(188) - 0.5029).abs() < 1e-4);
    }

    #[test]
    fn images_are_mirrored_along_each_axis() {
        let pixels = (1..=6).map(|number| [number; 4]).collect();
        let image = Image { width: 3, height: 2, pixels };
        let numbers = |axes| {
            let flipped = image.flipped(axes, &Progress::new()).expect("not cancelled");
            flipped.pixels.iter().map(|pixel| pixel[0]).collect::<Vec<_>>()
        };
        assert_eq!(numbers([false, false]), [1, 2, 3, 4, 5, 6]);
        assert_eq!(numbers([true, false]), [3, 2, 1, 6, 5, 4]);
        assert_eq!(numbers([false, true]), [4, 5, 6, 1, 2, 3]);
        assert_eq!(numbers([true, true]), [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn a_scaled_square_has_the_means_of_what_its_pixels_cover() {
        // Rows of four: a border around a square of 2 × 2.
        let greys = [[9, 9, 9, 9], [9, 10, 20, 9], [9, 30, 41, 9]];
        let bytes: Vec<u8> = greys.as_flattened().iter().flat_map(|grey| [*grey, 0, 255]).collect();
        let image = Image::from_rgb(4, &bytes);
        assert_eq!((image.width, image.height, image.pixels[5]), (4, 3, [10, 0, 255, 255]));
        let reds = |pixels| -> Vec<u8> {
            image.scaled_square([1, 1], 2, pixels).pixels.iter().map(|pixel| pixel[0]).collect()
        };
        assert_eq!(reds(1), [25], "the mean of 25.25");
        assert_eq!(reds(2), [10, 20, 30, 41]);
        assert_eq!(reds(3), [10, 10, 20, 10, 10, 20, 30, 30, 41], "larger than the square");
    }

    #[test]
    fn heights_beyond_black_and_white_do_not_wrap_around() {
        let terrain = Heightfield::from_fn(Grid::new(Extent { width_m: 4.0, depth_m: 1.0 }, 5, 2), |c, _| c as f32);
        let image = Image::greyscale_between(&terrain, [1.0, 3.0]);
        let greys: Vec<u8> = image.pixels[..5].iter().map(|pixel| pixel[0]).collect();
        assert_eq!(greys, [0, 0, 128, 255, 255]);
    }

    #[test]
    fn greyscale_spans_black_to_white() {
        let grid = Grid::new(Extent { width_m: 2.0, depth_m: 1.0 }, 3, 2);
        let terrain = Heightfield::from_fn(grid, |c, r| c as f32 * 10.0 - r as f32 * 20.0);
        let greys: Vec<u8> = Image::greyscale(&terrain).pixels.iter().map(|pixel| pixel[0]).collect();
        assert_eq!(greys, [128, 191, 255, 0, 64, 128]);
        assert!(Image::greyscale(&Heightfield::flat(grid)).pixels.iter().all(|pixel| *pixel == [0, 0, 0, 255]));
    }
}
