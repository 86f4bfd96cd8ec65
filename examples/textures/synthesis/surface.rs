//! A piece of ground that is painted on: its relief and its colour, and how both become a picture.

use image::RgbImage;
use rayon::prelude::*;

use super::noise::Place;

/// A colour in linear light, red, green and blue.
pub type Colour = [f32; 3];

/// Samples of relief and colour for each pixel of the picture, each way: what is thin stays smooth.
const FINER: usize = 2;

/// Ground under the brush.
#[derive(Debug)]
pub struct Surface {
    side: usize,
    relief: Vec<f32>,
    colours: Vec<Colour>,
}

/// How the relief darkens the colour.
#[derive(Clone, Copy, Debug)]
pub struct Shading {
    /// How much slopes turned to and from the soft light differ, 0 to 1.
    pub slopes: f32,
    /// Radii in tile sides, and how much places that lie lower than such a neighbourhood darken.
    pub hollows: &'static [(f32, f32)],
    /// How much of the differences of brightness over wide areas is taken out, 0 to 1: they would show the repetition.
    pub evenness: f32,
    /// The picture's mean luminance in linear light.
    pub luminance: f32,
}

/// Something small that lies on the ground.
pub trait Mark: Sync {
    /// The box around it: left, top, right, bottom. It may reach beyond the tile and comes back on the other side.
    fn bounds(&self) -> [f32; 4];
    /// Its height and colour at a place, if it is there.
    fn at(&self, place: Place) -> Option<(f32, Colour)>;
}

impl Surface {
    /// Ground for a picture of so many pixels each way, with a height and a colour at every place.
    pub fn new(pixels: usize, ground: impl Fn(Place) -> (f32, Colour) + Sync) -> Self {
        let side = FINER * pixels;
        let (relief, colours) = (0..side * side)
            .into_par_iter()
            .with_min_len(side)
            .map(|i| ground([middle(i % side, side), middle(i / side, side)]))
            .unzip();
        Self { side, relief, colours }
    }

    /// Changes height and colour at every place.
    pub fn repaint(&mut self, change: impl Fn(Place, f32, Colour) -> (f32, Colour) + Sync) {
        let side = self.side;
        let samples = self.relief.par_iter_mut().zip(&mut self.colours).enumerate().with_min_len(side);
        samples.for_each(|(i, (height, colour))| {
            (*height, *colour) = change([middle(i % side, side), middle(i / side, side)], *height, *colour);
        });
    }

    /// The height of the ground at a place on the tile.
    pub fn height(&self, place: Place) -> f32 {
        let [column, row] = place.map(|along| ((along * self.side as f32) as usize).min(self.side - 1));
        self.relief[row * self.side + column]
    }

    /// Lays marks on the ground; where several meet, the highest is seen.
    pub fn strew<M: Mark>(&mut self, marks: &[M]) {
        const ROWS: usize = 16;
        let side = self.side;
        let scale = side as f32;
        let bands = self.relief.par_chunks_mut(ROWS * side).zip(self.colours.par_chunks_mut(ROWS * side));
        bands.enumerate().for_each(|(band, (relief, colours))| {
            let first = (band * ROWS) as i64;
            let last = first + (relief.len() / side) as i64 - 1;
            for mark in marks {
                let [left, top, right, bottom] = mark.bounds().map(|edge| (edge * scale).floor() as i64);
                let period = side as i64;
                // The copies of the mark, above and below the tile, that reach into this band.
                for copy in (first - bottom).div_euclid(period)..=(last - top).div_euclid(period) {
                    for row in (top + copy * period).max(first)..=(bottom + copy * period).min(last) {
                        let y = ((row - copy * period) as f32 + 0.5) / scale;
                        for column in left..=right {
                            let place = [(column as f32 + 0.5) / scale, y];
                            let Some((height, colour)) = mark.at(place) else { continue };
                            let i = (row - first) as usize * side + column.rem_euclid(period) as usize;
                            if height > relief[i] {
                                relief[i] = height;
                                colours[i] = colour;
                            }
                        }
                    }
                }
            }
        });
    }

    /// The picture under an overcast sky: light from above, a little more of it from the upper left.
    pub fn picture(mut self, shading: Shading) -> RgbImage {
        let side = self.side;
        let mut light = self.light_on_slopes(shading.slopes);
        for &(radius, strength) in shading.hollows {
            let around = blurred(&self.relief, side, radius);
            light.par_iter_mut().zip(&self.relief).zip(&around).for_each(|((light, height), around)| {
                let depth = ((around - height) / radius).clamp(-0.6, 1.6);
                *light *= libm::expf(-strength * depth);
            });
        }
        self.colours.par_iter_mut().zip(&light).for_each(|(colour, light)| *colour = scaled(*colour, *light));
        let pixels = side / FINER;
        let mut colours: Vec<Colour> = (0..pixels * pixels)
            .into_par_iter()
            .map(|i| {
                let corner = (i / pixels) * FINER * side + (i % pixels) * FINER;
                let mut sum = [0.0; 3];
                for sample in (0..FINER * FINER).map(|k| corner + k / FINER * side + k % FINER) {
                    for (sum, channel) in sum.iter_mut().zip(self.colours[sample]) {
                        *sum += channel / (FINER * FINER) as f32;
                    }
                }
                sum
            })
            .collect();
        let luminances: Vec<f32> = colours.iter().copied().map(luminance).collect();
        let wide = blurred(&luminances, pixels, 0.1);
        let mean = mean(&luminances);
        colours.par_iter_mut().zip(&wide).for_each(|(colour, wide)| {
            *colour = scaled(*colour, libm::powf(mean / wide.max(1e-4), shading.evenness));
        });
        // Twice, because what is brighter than white is cut off and darkens the mean.
        for _ in 0..2 {
            let luminances: Vec<f32> = colours.iter().map(|colour| luminance(colour.map(|c| c.min(1.0)))).collect();
            let gain = shading.luminance / self::mean(&luminances);
            colours.iter_mut().for_each(|colour| *colour = scaled(*colour, gain));
        }
        let mut picture = RgbImage::new(pixels as u32, pixels as u32);
        for (pixel, colour) in picture.pixels_mut().zip(&colours) {
            pixel.0 = colour.map(encoded);
        }
        picture
    }

    fn light_on_slopes(&self, share: f32) -> Vec<f32> {
        const TOWARDS: [f32; 3] = [-0.33, -0.42, 0.845];
        let side = self.side;
        let height = |x: usize, y: usize| self.relief[(y % side) * side + x % side];
        (0..side * side)
            .into_par_iter()
            .with_min_len(side)
            .map(|i| {
                let (x, y) = (i % side, i / side);
                let slope_x = 0.5 * side as f32 * (height(x + 1, y) - height(x + side - 1, y));
                let slope_y = 0.5 * side as f32 * (height(x, y + 1) - height(x, y + side - 1));
                let length = (1.0 + slope_x * slope_x + slope_y * slope_y).sqrt();
                let direct = (TOWARDS[2] - TOWARDS[0] * slope_x - TOWARDS[1] * slope_y) / (length * TOWARDS[2]);
                1.0 - share + share * direct.max(0.0)
            })
            .collect()
    }
}

// Both ways between sRGB and linear light are worked out here and not read from the engine's tables: these round
// otherwise, and the files that ship would not come out again.

/// The colour of a web notation such as `0x6b7a3c`.
pub fn srgb(hex: u32) -> Colour {
    let [_, red, green, blue] = hex.to_be_bytes();
    [red, green, blue].map(|byte| {
        let share = f32::from(byte) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { libm::powf((share + 0.055) / 1.055, 2.4) }
    })
}

/// From one colour to another by the share t.
pub fn blend(a: Colour, b: Colour, t: f32) -> Colour {
    [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}

/// The colour, so many times as bright.
pub fn scaled(colour: Colour, by: f32) -> Colour {
    colour.map(|channel| channel * by)
}

/// A row of colours, the first at 0 and the last at 1, and the blends between.
pub fn ramp(colours: &[Colour], at: f32) -> Colour {
    let last = colours.len() - 1;
    let place = at.clamp(0.0, 1.0) * last as f32;
    let i = (place as usize).min(last.saturating_sub(1));
    blend(colours[i], colours[(i + 1).min(last)], place - i as f32)
}

/// Relative luminance of a linear colour (ITU-R BT.709).
fn luminance([red, green, blue]: Colour) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn encoded(channel: f32) -> u8 {
    let channel = channel.clamp(0.0, 1.0);
    let share = if channel <= 0.003_130_8 { 12.92 * channel } else { 1.055 * libm::powf(channel, 1.0 / 2.4) - 0.055 };
    (255.0 * share + 0.5) as u8
}

fn mean(values: &[f32]) -> f32 {
    (values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64) as f32
}

/// The middle of a sample, in tile sides.
fn middle(i: usize, side: usize) -> f32 {
    (i as f32 + 0.5) / side as f32
}

/// Means over a soft disc of a radius in tile sides, around the corners of the tile: three running means each way come
/// close to a Gaussian.
fn blurred(values: &[f32], side: usize, radius: f32) -> Vec<f32> {
    let reach = ((radius * side as f32 * 0.58).round() as usize).min((side - 1) / 2);
    let mut values = values.to_vec();
    for _ in 0..2 {
        values.par_chunks_mut(side).for_each(|row| {
            let mut source = row.to_vec();
            for _ in 0..3 {
                running_mean(&source, row, reach);
                source.copy_from_slice(row);
            }
        });
        values = (0..side * side).into_par_iter().map(|i| values[i % side * side + i / side]).collect();
    }
    values
}

fn running_mean(source: &[f32], out: &mut [f32], reach: usize) {
    let side = source.len();
    let width = (2 * reach + 1) as f64;
    let mut sum: f64 = (0..=2 * reach).map(|i| f64::from(source[(i + side - reach) % side])).sum();
    for (i, out) in out.iter_mut().enumerate() {
        *out = (sum / width) as f32;
        sum += f64::from(source[(i + reach + 1) % side]) - f64::from(source[(i + side - reach) % side]);
    }
}
