//! Pictures of the land: what the panes show and the exports write.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::heightfield::Heightfield;
use super::monitor::{Cancelled, Monitor};
use super::wide::{refill, rounded, wide};

/// Samples that a thread turns to grey at once.
const AT_ONCE: usize = 1 << 14;

/// An opaque picture in sRGB, row-major, north on top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels from west to east.
    pub width: usize,
    /// Pixels from north to south.
    pub height: usize,
    /// Red, green, blue, 255.
    pub pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// Heights from black (lowest) to white (highest), a pixel a sample.
    pub fn of_heights(land: &Heightfield) -> Self {
        let [low, high] = land.min_max();
        let factor = if high > low { 255.0 / (high - low) } else { 0.0 };
        let grid = land.grid();
        let mut pixels = vec![[255; 4]; grid.samples()];
        let parts = pixels.par_chunks_mut(AT_ONCE).zip(land.heights().par_chunks(AT_ONCE));
        parts.for_each(|(pixels, heights)| {
            wide(
                #[inline(always)]
                || {
                    for (pixel, height) in pixels.iter_mut().zip(heights) {
                        let grey = rounded((height - low) * factor) as u8;
                        *pixel = [grey, grey, grey, 255];
                    }
                },
            );
        });
        Self { width: grid.width(), height: grid.height(), pixels }
    }

    /// The picture with west and east exchanged, or north and south, or both.
    pub fn turned_over(&self, [west_east, north_south]: [bool; 2], monitor: &Monitor) -> Result<Self, Cancelled> {
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for j in 0..self.height {
            monitor.check()?;
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

/// From linear light, 0 to 1 in 65 536 steps, to sRGB: fine enough that neighbouring entries differ by a twentieth of a
/// step where the curve is steepest.
static SRGB: LazyLock<Box<[u8; 1 << 16]>> = LazyLock::new(|| {
    let encoded = |linear: f64| {
        if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055 }
    };
    let mut table = Box::new([0; 1 << 16]);
    for (step, channel) in table.iter_mut().enumerate() {
        *channel = (encoded(step as f64 / 65_535.0) * 255.0 + 0.5) as u8;
    }
    table
});

/// The table's entry for linear light.
#[inline(always)]
fn step_of(light: f32) -> u16 {
    rounded(light.clamp(0.0, 1.0) * 65_535.0) as u16
}

/// Linear light as an sRGB channel; what is brighter than white becomes white.
pub fn srgb_from_linear(light: f32) -> u8 {
    SRGB[usize::from(step_of(light))]
}

/// A row of linear light, channel by channel, as pixels in sRGB. `steps` is space to work in.
#[inline(always)]
pub(super) fn encode(channels: &[Vec<f32>; 3], steps: &mut Vec<[u16; 3]>, pixels: &mut [[u8; 4]]) {
    let [red, green, blue] = channels;
    // Rounding goes through the vector lanes; only looking up goes pixel by pixel.
    refill(steps, red.iter().zip(green).zip(blue).map(|((red, green), blue)| [red, green, blue].map(|c| step_of(*c))));
    let table: &[u8; 1 << 16] = &SRGB;
    for (pixel, steps) in pixels.iter_mut().zip(steps) {
        let [red, green, blue] = steps.map(|step| table[usize::from(step)]);
        *pixel = [red, green, blue, 255];
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
        let picture = Picture { width: 3, height: 2, pixels };
        let numbers = |turns| {
            let turned = picture.turned_over(turns, &Monitor::new()).expect("not cancelled");
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
        let land = Heightfield::from_fn(grid, |c, r| c as f32 * 10.0 - r as f32 * 20.0);
        let greys: Vec<u8> = Picture::of_heights(&land).pixels.iter().map(|pixel| pixel[0]).collect();
        assert_eq!(greys, [128, 191, 255, 0, 64, 128]);
        assert!(Picture::of_heights(&Heightfield::flat(grid)).pixels.iter().all(|pixel| *pixel == [0, 0, 0, 255]));
    }
}
