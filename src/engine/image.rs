//! Pictures of the land: what the panes show and the exports write.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::heightfield::Heightfield;
use super::progress::{Cancelled, Progress};
use super::simd::{round_to_u32, simd};

/// Samples that a thread turns to grey at once.
const AT_ONCE: usize = 1 << 14;
/// Pixels whose channels are rounded side by side.
const ENCODED_AT_ONCE: usize = 64;

/// An opaque picture in sRGB, row-major, north on top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels from west to east.
    pub width: usize,
    /// Pixels from north to south.
    pub height: usize,
    /// Red, green, blue, 255.
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    /// Heights from black (lowest) to white (highest), a pixel a sample.
    pub fn grayscale(terrain: &Heightfield) -> Self {
        Self::grayscale_between(terrain, terrain.min_max())
    }

    /// The same, where somebody knows the lowest and the highest height.
    pub fn grayscale_between(terrain: &Heightfield, [low, high]: [f32; 2]) -> Self {
        let factor = if high > low { 255.0 / (high - low) } else { 0.0 };
        let grid = terrain.grid();
        let mut pixels = vec![[255; 4]; grid.samples()];
        let parts = pixels.par_chunks_mut(AT_ONCE).zip(terrain.heights().par_chunks(AT_ONCE));
        parts.for_each(|(pixels, heights)| {
            simd(
                #[inline(always)]
                || {
                    for (pixel, height) in pixels.iter_mut().zip(heights) {
                        let grey = round_to_u32((height - low) * factor) as u8;
                        *pixel = [grey, grey, grey, 255];
                    }
                },
            );
        });
        Self { width: grid.width(), height: grid.height(), pixels }
    }

    /// The picture with west and east exchanged, or north and south, or both.
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

/// How bright a colour in linear light is (ITU-R BT.709).
pub(super) fn luminance([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// An sRGB channel in linear light, 0 to 1 (IEC 61966-2-1).
pub fn linear_from_srgb(channel: u8) -> f32 {
    static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let linear = |encoded: f64| {
            if encoded <= 0.040_45 { encoded / 12.92 } else { libm::pow((encoded + 0.055) / 1.055, 2.4) }
        };
        (0..=255).map(|channel| linear(f64::from(channel) / 255.0) as f32).collect()
    });
    TABLE[usize::from(channel)]
}

/// Linear light below this is black in sRGB: twelve times as much is still less than half of the first step.
const BLACK: f32 = 1.0 / (1 << OCTAVES) as f32;
/// How often light can be halved from white to black.
const OCTAVES: usize = 13;
/// The bits of an f32 that are left away to find its place in [`SRGB`], so that 2048 places are left for each octave.
const BITS_LEFT_AWAY: u32 = 12;

/// From linear light to sRGB by the light's own leading bits: neighbouring entries differ by a twentieth of a step at the
/// most, and what is looked up for colours of about one brightness lies close together. There is an entry for every number
/// that [`place_of`] could say, so that none has to be checked.
static SRGB: LazyLock<Box<[u8; 1 << u16::BITS]>> = LazyLock::new(|| {
    let encoded = |linear: f64| {
        if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055 }
    };
    let light = |place: u16| f32::from_bits(BLACK.to_bits() + (u32::from(place) << BITS_LEFT_AWAY));
    let mut table = Box::new([u8::MAX; 1 << u16::BITS]);
    for place in 0..=place_of(1.0) {
        table[usize::from(place)] = (encoded(f64::from(light(place))) * 255.0 + 0.5) as u8;
    }
    table
});

/// The table's entry for linear light; what is brighter than white becomes white.
#[inline(always)]
fn place_of(light: f32) -> u16 {
    let half = 1 << (BITS_LEFT_AWAY - 1);
    // Written so that what is no number becomes black.
    let light = if light > BLACK { light } else { BLACK };
    let light = if light < 1.0 { light } else { 1.0 };
    ((light.to_bits() - BLACK.to_bits() + half) >> BITS_LEFT_AWAY) as u16
}

/// Linear light as an sRGB channel.
pub fn srgb_from_linear(light: f32) -> u8 {
    SRGB[usize::from(place_of(light))]
}

/// A row of linear light, channel by channel, as pixels in sRGB.
#[inline(always)]
pub(super) fn encode([red, green, blue]: &[Vec<f32>; 3], pixels: &mut [[u8; 4]]) {
    let table: &[u8; 1 << u16::BITS] = &SRGB;
    let channels = red.chunks(ENCODED_AT_ONCE).zip(green.chunks(ENCODED_AT_ONCE)).zip(blue.chunks(ENCODED_AT_ONCE));
    for (pixels, ((red, green), blue)) in pixels.chunks_mut(ENCODED_AT_ONCE).zip(channels) {
        // Finding the places goes through the vector lanes; only looking up goes pixel by pixel.
        let mut places = [[0; ENCODED_AT_ONCE]; 3];
        for (places, channel) in places.iter_mut().zip([red, green, blue]) {
            places.iter_mut().zip(channel).for_each(|(place, light)| *place = place_of(*light));
        }
        let [reds, greens, blues] = &places;
        for (pixel, ((red, green), blue)) in pixels.iter_mut().zip(reds.iter().zip(greens).zip(blues)) {
            let [red, green, blue] = [red, green, blue].map(|place| u32::from(table[usize::from(*place)]));
            *pixel = (red | green << 8 | blue << 16 | 0xff << 24).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    #[test]
    fn every_channel_survives_linear_light() {
        assert!((0..=255).all(|channel| srgb_from_linear(linear_from_srgb(channel)) == channel));
        assert!((linear_from_srgb(188) - 0.5029).abs() < 1e-4);
    }

    #[test]
    fn pictures_are_turned_over_along_each_axis() {
        let pixels = (1..=6).map(|number| [number; 4]).collect();
        let picture = Image { width: 3, height: 2, pixels };
        let numbers = |turns| {
            let turned = picture.flipped(turns, &Progress::new()).expect("not cancelled");
            turned.pixels.iter().map(|pixel| pixel[0]).collect::<Vec<_>>()
        };
        assert_eq!(numbers([false, false]), [1, 2, 3, 4, 5, 6]);
        assert_eq!(numbers([true, false]), [3, 2, 1, 6, 5, 4]);
        assert_eq!(numbers([false, true]), [4, 5, 6, 1, 2, 3]);
        assert_eq!(numbers([true, true]), [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn heights_span_from_black_to_white() {
        let grid = Grid::new(Extent { width_m: 2.0, depth_m: 1.0 }, 3, 2);
        let terrain = Heightfield::from_fn(grid, |c, r| c as f32 * 10.0 - r as f32 * 20.0);
        let greys: Vec<u8> = Image::grayscale(&terrain).pixels.iter().map(|pixel| pixel[0]).collect();
        assert_eq!(greys, [128, 191, 255, 0, 64, 128]);
        assert!(Image::grayscale(&Heightfield::flat(grid)).pixels.iter().all(|pixel| *pixel == [0, 0, 0, 255]));
    }
}
