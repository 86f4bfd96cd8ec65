//! Images that encode heights in their colours, as map servers deliver them, and palettes whose numbers are heights.

use image::RgbImage;

use crate::engine::cast::ToFloat;

/// How the colours of an image are read as heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourReading {
    /// The brightness of the colours.
    Brightness,
    /// The numbers of the colours in the palette.
    Palette,
    /// −10000 + (red · 65536 + green · 256 + blue) / 10 metres (Mapbox, "Mapbox Terrain-RGB v1").
    Mapbox,
    /// red · 256 + green + blue / 256 − 32768 metres (Tilezen, "Terrain tiles: formats", "Terrarium").
    Terrarium,
}

/// The heights that an encoded map can have, metres: from the deepest sea to the highest mountain.
const HEIGHTS_M: [f32; 2] = [-11_000.0, 9000.0];

/// The smallest number of carries between two bytes that says something, and the share of them that has to be right.
const MIN_CARRIES: usize = 16;
const MIN_RIGHT: f64 = 0.9;

impl ColourReading {
    /// Every reading.
    pub const ALL: [Self; 4] = [Self::Brightness, Self::Palette, Self::Mapbox, Self::Terrarium];

    /// The name in notes and in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Brightness => "Brightness",
            Self::Palette => "Palette numbers",
            Self::Mapbox => "Mapbox Terrain-RGB",
            Self::Terrarium => "Terrarium",
        }
    }

    /// The height of a colour; `None` if the reading does not encode metres.
    fn height_m(self, colour: [u8; 3]) -> Option<f32> {
        let [red, green, blue] = colour.map(f64::from);
        match self {
            Self::Brightness | Self::Palette => None,
            Self::Mapbox => Some((-10_000.0 + (red * 65_536.0 + green * 256.0 + blue) / 10.0).to_f32()),
            Self::Terrarium => Some((red * 256.0 + green + blue / 256.0 - 32_768.0).to_f32()),
        }
    }

    /// The heights of an image, metres; `None` if the reading does not encode metres.
    pub(super) fn heights_m(self, image: &RgbImage) -> Option<Vec<f32>> {
        image.pixels().map(|pixel| self.height_m(pixel.0)).collect()
    }
}

/// The mean difference of neighbours in a row, as a share of the range. 0 for a constant map.
pub(super) fn roughness(values: &[f32], width: usize) -> f64 {
    let (low, high) = values
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    if high <= low || width < 2 {
        return 0.0;
    }
    let pairs = values.chunks_exact(width).flat_map(|row| row.windows(2));
    let sum: f64 = pairs.map(|pair| f64::from((pair[0] - pair[1]).abs())).sum();
    sum / (values.len() - values.len() / width).to_f64() / f64::from(high - low)
}

/// How often neighbours differ by 1 in a byte, and how often the next byte makes up for most of it, as it does when a
/// number runs past 255. Bytes that are not parts of one number do not.
fn carries(image: &RgbImage, byte: usize) -> [usize; 2] {
    let [mut all, mut right] = [0; 2];
    for row in image.as_raw().chunks_exact(3 * image.width() as usize) {
        let pixels = row.as_chunks::<3>().0;
        for (a, b) in pixels.iter().zip(&pixels[1..]) {
            let difference = |byte: usize| i32::from(b[byte]) - i32::from(a[byte]);
            if difference(byte).abs() == 1 && (0..byte).all(|higher| difference(higher) == 0) {
                all += 1;
                right += usize::from((256 * difference(byte) + difference(byte + 1)).abs() < 224);
            }
        }
    }
    [all, right]
}

/// How the colours of an image encode heights in metres, if that is certain: the heights are those of the Earth, and the
/// bytes are parts of one number. Lossy images never are.
pub(super) fn detect(image: &RgbImage) -> Option<ColourReading> {
    let is_one_number = |byte: usize| {
        let [all, right] = carries(image, byte);
        all >= MIN_CARRIES && right.to_f64() >= MIN_RIGHT * all.to_f64()
    };
    let is_earth = |reading: ColourReading| {
        let is_possible = |height_m: f32| (HEIGHTS_M[0]..=HEIGHTS_M[1]).contains(&height_m);
        image.pixels().all(|pixel| reading.height_m(pixel.0).is_some_and(is_possible))
    };
    // The byte that changes with the terrain: 25.6 m per step of green, and 256 m per step of red.
    let candidates = [(ColourReading::Mapbox, 1), (ColourReading::Terrarium, 0)];
    candidates
        .into_iter()
        .find(|(reading, byte)| is_earth(*reading) && is_one_number(*byte))
        .map(|(reading, _)| reading)
}

/// The smallest number of colours of a map whose palette numbers are heights.
const MIN_COLOURS: usize = 64;

/// How much smoother the numbers of a palette are than the brightness of its colours if they are heights.
const CLEARLY: f64 = 1.5;

/// Whether the numbers of the colours of a palette image are heights, rather than an arbitrary order of colours, and the
/// brightness of the colours is not: it neither rises nor falls with the numbers.
pub(super) fn are_heights(indices: &[u8], brightness: &[f32], width: usize) -> bool {
    let mut by_number: [Option<f32>; 256] = [None; 256];
    indices.iter().zip(brightness).for_each(|(index, grey)| by_number[usize::from(*index)] = Some(*grey));
    let used: Vec<f32> = by_number.into_iter().flatten().collect();
    let is_monotone = used.is_sorted() || used.iter().rev().is_sorted();
    if used.len() < MIN_COLOURS || is_monotone {
        return false;
    }
    let numbers: Vec<f32> = indices.iter().map(|index| f32::from(*index)).collect();
    CLEARLY * roughness(&numbers, width) < roughness(brightness, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hill with ripples, metres.
    fn height_m(x: u32, y: u32) -> f64 {
        let (x, y) = (f64::from(x), f64::from(y));
        400.0 + 9.3 * x + 3.1 * y + 30.0 * libm::sin(x / 5.0) * libm::cos(y / 7.0)
    }

    #[test]
    fn both_encodings_are_found() {
        let mapbox = |height: f64| {
            let value = ((height + 10_000.0) * 10.0).round() as u32;
            [(value >> 16) as u8, (value >> 8) as u8, value as u8]
        };
        let terrarium = |height: f64| {
            let value = ((height + 32_768.0) * 256.0).round() as u32;
            [(value >> 16) as u8, (value >> 8) as u8, value as u8]
        };
        let check = |encode: &dyn Fn(f64) -> [u8; 3], expected, step: f32| {
            let image = RgbImage::from_fn(64, 48, |x, y| image::Rgb(encode(height_m(x, y))));
            assert_eq!(detect(&image), Some(expected));
            let heights = expected.heights_m(&image).expect("metres");
            let off = |at: usize| (heights[at] - height_m(at as u32 % 64, at as u32 / 64) as f32).abs();
            assert!((0..heights.len()).all(|at| off(at) <= step));
        };
        check(&mapbox, ColourReading::Mapbox, 0.051);
        check(&terrarium, ColourReading::Terrarium, 0.003);
    }

    #[test]
    fn pictures_and_textures_are_not_taken_for_heights() {
        let noise = |x: u32, y: u32, salt: u32| {
            let bits = (x.wrapping_mul(7919) ^ y.wrapping_mul(104_729) ^ salt).wrapping_mul(2_654_435_761);
            f64::from(bits >> 24) / 255.0 - 0.5
        };
        let wave = |x: u32, y: u32| libm::sin(f64::from(x) / 9.0) * libm::cos(f64::from(y) / 11.0);
        type Colour<'a> = &'a dyn Fn(u32, u32) -> [f64; 3];
        let pictures: [Colour; 6] = [
            &|x, y| [f64::from(3 * x), f64::from(x + y), f64::from(200 - y)],
            &|x, y| [0, 1, 2].map(|salt| 128.0 + 250.0 * noise(x, y, salt)),
            // Normal maps: red and green around the middle, blue near the top.
            &|x, y| [128.0 + 12.0 * noise(x, y, 0), 128.0 + 12.0 * noise(x, y, 1), 250.0 + 10.0 * noise(x, y, 2)],
            &|x, y| [128.0 + 30.0 * wave(x, y), 128.0 + 30.0 * wave(y, x), 245.0 + 20.0 * noise(x, y, 2)],
            // Water without red.
            &|x, y| [0.0, 70.0 + 20.0 * wave(x, y), 140.0 + 40.0 * wave(x, y) + 30.0 * noise(x, y, 0)],
            // Clay that darkens towards the border.
            &|x, y| [130.0 - 0.3 * f64::from(x), 100.0 - 0.3 * f64::from(x), 80.0 + 60.0 * noise(x, y, 0)],
        ];
        for (at, picture) in pictures.into_iter().enumerate() {
            let pixel = |x, y| image::Rgb(picture(x, y).map(|channel| channel.clamp(0.0, 255.0) as u8));
            assert_eq!(detect(&RgbImage::from_fn(128, 96, pixel)), None, "{at}");
        }
    }

    #[test]
    fn palette_numbers_are_heights_if_they_are_smoother_than_the_colours() {
        let slope: Vec<u8> = (0..100 * 16).map(|at| (at % 100) as u8 * 2).collect();
        let colours =
            |brightness: &dyn Fn(u8) -> f32| slope.iter().map(|number| brightness(*number)).collect::<Vec<_>>();
        // A rainbow becomes brighter and darker with the height.
        assert!(are_heights(&slope, &colours(&|number| f32::from(number % 16) * 15.0), 100));
        // If the brightness rises with the numbers, it has the same order, and its steps may be meant.
        assert!(!are_heights(&slope, &colours(&|number| f32::from(number).sqrt()), 100));
        let shuffled: Vec<u8> = slope.iter().map(|number| number.wrapping_mul(151)).collect();
        assert!(!are_heights(&shuffled, &colours(&f32::from), 100));
        // Two colours are a drawing.
        let two: Vec<u8> = slope.iter().map(|number| number / 101).collect();
        assert!(!are_heights(&two, &two.iter().map(|number| 255.0 - f32::from(*number)).collect::<Vec<_>>(), 100));
    }
}
