//! A surface with relief and colour, and its shading.

use image::RgbImage;
use rayon::prelude::*;

use super::noise::Place;

/// A colour in linear light, red, green and blue.
pub type Colour = [f32; 3];

/// Samples per pixel along each axis, so that thin objects are smooth.
const FINER: usize = 2;

/// The relief and the colours of a tile.
#[derive(Debug)]
pub struct Surface {
    side: usize,
    relief: Vec<f32>,
    colours: Vec<Colour>,
}

/// How the relief darkens the colour.
#[derive(Clone, Copy, Debug)]
pub struct Shading {
    /// The contrast between slopes facing the light and facing away, 0 to 1.
    pub slopes: f32,
    /// Radii in tile sides, and how much places below the mean of such a neighbourhood are darkened.
    pub hollows: &'static [(f32, f32)],
    /// How much of the large-scale differences in brightness is removed, 0 to 1, because they make repetition visible.
    pub evenness: f32,
    /// The mean luminance of the texture in linear light.
    pub luminance: f32,
}

/// A small object on the surface.
pub trait Object: Sync {
    /// The bounding box: left, top, right, bottom. Parts beyond the tile wrap around.
    fn bounds(&self) -> [f32; 4];
    /// The height and colour at a position, if the object covers it.
    fn at(&self, place: Place) -> Option<(f32, Colour)>;
}

impl Surface {
    /// A surface for a texture of `pixels` along each side, from a height and a colour at every position.
    pub fn new(pixels: usize, sample: impl Fn(Place) -> (f32, Colour) + Sync) -> Self {
        let side = FINER * pixels;
        let (relief, colours) = (0..side * side)
            .into_par_iter()
            .with_min_len(side)
            .map(|i| sample([middle(i % side, side), middle(i / side, side)]))
            .unzip();
        Self { side, relief, colours }
    }

    /// Changes the height and the colour at every position.
    pub fn repaint(&mut self, change: impl Fn(Place, f32, Colour) -> (f32, Colour) + Sync) {
        let side = self.side;
        let samples = self.relief.par_iter_mut().zip(&mut self.colours).enumerate().with_min_len(side);
        samples.for_each(|(i, (height, colour))| {
            (*height, *colour) = change([middle(i % side, side), middle(i / side, side)], *height, *colour);
        });
    }

    /// The height at a position on the tile.
    pub fn height(&self, place: Place) -> f32 {
        let [column, row] = place.map(|along| ((along * self.side as f32) as usize).min(self.side - 1));
        self.relief[row * self.side + column]
    }

    /// Adds objects; where several overlap, the highest is visible.
    pub fn scatter<M: Object>(&mut self, objects: &[M]) {
        const ROWS: usize = 16;
        let side = self.side;
        let scale = side as f32;
        let bands = self.relief.par_chunks_mut(ROWS * side).zip(self.colours.par_chunks_mut(ROWS * side));
        bands.enumerate().for_each(|(band, (relief, colours))| {
            let first = (band * ROWS) as i64;
            let last = first + (relief.len() / side) as i64 - 1;
            for object in objects {
                let [left, top, right, bottom] = object.bounds().map(|edge| (edge * scale).floor() as i64);
                let period = side as i64;
                // The copies of the object above and below the tile that reach into this band.
                for copy in (first - bottom).div_euclid(period)..=(last - top).div_euclid(period) {
                    for row in (top + copy * period).max(first)..=(bottom + copy * period).min(last) {
                        let y = ((row - copy * period) as f32 + 0.5) / scale;
                        for column in left..=right {
                            let place = [(column as f32 + 0.5) / scale, y];
                            let Some((height, colour)) = object.at(place) else { continue };
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

    /// The texture under an overcast sky: light from above, with a little more from the upper left.
    pub fn texture(mut self, shading: Shading) -> RgbImage {
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
        // Twice, because clipping at white lowers the mean.
        for _ in 0..2 {
            let luminances: Vec<f32> = colours.iter().map(|colour| luminance(colour.map(|c| c.min(1.0)))).collect();
            let gain = shading.luminance / self::mean(&luminances);
            colours.iter_mut().for_each(|colour| *colour = scaled(*colour, gain));
        }
        let mut texture = RgbImage::new(pixels as u32, pixels as u32);
        for (pixel, colour) in texture.pixels_mut().zip(&colours) {
            pixel.0 = colour.map(encoded);
        }
        texture
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

// sRGB conversion is computed here, because the engine's tables round differently and would change the files in
// `assets`.

/// The colour of a hexadecimal sRGB value such as `0x6b7a3c`.
pub fn srgb(hex: u32) -> Colour {
    let [_, red, green, blue] = hex.to_be_bytes();
    [red, green, blue].map(|byte| {
        let share = f32::from(byte) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { libm::powf((share + 0.055) / 1.055, 2.4) }
    })
}

/// Interpolates from one colour to another.
pub fn blend(a: Colour, b: Colour, t: f32) -> Colour {
    [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}

/// The colour multiplied by a factor.
pub fn scaled(colour: Colour, by: f32) -> Colour {
    colour.map(|channel| channel * by)
}

/// Interpolates a list of colours, with the first at 0 and the last at 1.
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

/// The centre of a sample in tile sides.
fn middle(i: usize, side: usize) -> f32 {
    (i as f32 + 0.5) / side as f32
}

/// A periodic blur with a radius in tile sides. Three running means along each axis approximate a Gaussian.
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
