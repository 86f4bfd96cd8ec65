//! A tint over the colours of the terrain: a painted mask, or drawn lakes.

use std::sync::Arc;

use egui::ColorImage;
use rayon::prelude::*;

use crate::engine::Image;
use crate::engine::cast::{ToFloat, ToInteger};

/// The most pixels along a side: the tint is drawn within a frame.
const MAX_SIDE: usize = 1025;

/// The colours of a terrain with a tint, and what they were made from.
#[derive(Default)]
pub(super) struct Tinted(Option<(Arc<Image>, Arc<ColorImage>, Arc<Image>)>);

impl Tinted {
    /// The colours with the tint over the whole map, made again only if either is another one.
    pub(super) fn of(&mut self, colours: &Arc<Image>, tint: &Arc<ColorImage>) -> Arc<Image> {
        let is_same =
            |(known, of, _): &&(Arc<Image>, Arc<ColorImage>, _)| Arc::ptr_eq(known, colours) && Arc::ptr_eq(of, tint);
        if let Some((_, _, tinted)) = self.0.as_ref().filter(is_same) {
            return tinted.clone();
        }
        let result = Arc::new(tinted(colours, tint));
        self.0 = Some((colours.clone(), tint.clone(), result.clone()));
        result
    }
}

/// Where the pixels along a side lie among those of the tint: the first of two, and the share of the second.
fn places(count: usize, tint: usize) -> Vec<(usize, f32)> {
    let place = |i: usize| {
        let at = (i * (tint - 1)).to_f32() / (count.max(2) - 1).to_f32();
        let first = at.to_usize().min(tint.max(2) - 2);
        (first, at - first.to_f32())
    };
    (0..count).map(place).collect()
}

fn tinted(colours: &Image, tint: &ColorImage) -> Image {
    let step = (colours.width.max(colours.height).max(2) - 1).div_ceil(MAX_SIDE - 1);
    // Corner pixels stay at the corners.
    let [width, height] = [colours.width, colours.height].map(|side| (side.max(2) - 1).div_ceil(step) + 1);
    let from = |i: usize, count: usize, side: usize| i * (side - 1) / (count - 1);
    let [tint_width, tint_height] = tint.size;
    let (columns, rows) = (places(width, tint_width), places(height, tint_height));
    let row = |(r, (top, down)): (usize, &(usize, f32))| {
        let base = &colours.pixels[from(r, height, colours.height) * colours.width..];
        let pixel = |(c, (left, right)): (usize, &(usize, f32))| {
            let own = base[from(c, width, colours.width)];
            let corner = |i: usize, j: usize| {
                let (i, j) = ((left + i).min(tint_width - 1), (top + j).min(tint_height - 1));
                tint.pixels[j * tint_width + i].to_array().map(f32::from)
            };
            let corners = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
            if corners.iter().all(|corner| corner[3] == 0.0) {
                return own;
            }
            let mixed: [f32; 4] = std::array::from_fn(|k| {
                let [a, b, c, d] = corners.map(|corner| corner[k]);
                let (upper, lower) = (a + right * (b - a), c + right * (d - c));
                upper + down * (lower - upper)
            });
            // Colours of the interface are multiplied by their opacity already.
            let over = |k: usize| (f32::from(own[k]) * (1.0 - mixed[3] / 255.0) + mixed[k]).round().to_u8();
            [over(0), over(1), over(2), own[3]]
        };
        columns.iter().enumerate().map(pixel).collect::<Vec<_>>()
    };
    let pixels = rows.par_iter().enumerate().map(row).collect::<Vec<_>>().concat();
    Image { width, height, pixels }
}

#[cfg(test)]
mod tests {
    use egui::Color32;

    use super::*;

    #[test]
    fn the_tint_lies_over_the_colours_by_its_opacity() {
        let grey = |side: usize| Image { width: side, height: side, pixels: vec![[100, 100, 100, 255]; side * side] };
        // Clear in the west, half red in the east.
        let red = Color32::from_rgba_unmultiplied(255, 0, 0, 128);
        let pixels = (0..9).map(|i| if i % 3 == 2 { red } else { Color32::TRANSPARENT }).collect();
        let tint = ColorImage::new([3, 3], pixels);
        let found = tinted(&grey(5), &tint);
        let row: Vec<[u8; 3]> = found.pixels[10..15].iter().map(|[r, g, b, _]| [*r, *g, *b]).collect();
        assert_eq!(row[..3], [[100; 3]; 3]);
        let [r, g, b] = row[4];
        assert!(r.abs_diff(178) <= 1 && g.abs_diff(50) <= 1 && b == g, "{row:?}");
        assert!(row[3][0] > 120 && row[3][0] < 160, "half as strong between: {row:?}");
        // Large images are reduced, with their corners in place.
        let found = tinted(&grey(2049), &tint);
        assert_eq!((found.width, found.height, found.pixels.len()), (1025, 1025, 1025 * 1025));
        assert!(found.pixels[1024][0].abs_diff(178) <= 1);
    }

    #[test]
    fn the_same_colours_and_tint_are_not_mixed_twice() {
        let colours = Arc::new(Image { width: 2, height: 2, pixels: vec![[9, 9, 9, 255]; 4] });
        let tint = Arc::new(ColorImage::filled([2, 2], Color32::TRANSPARENT));
        let mut cache = Tinted::default();
        let first = cache.of(&colours, &tint);
        assert!(Arc::ptr_eq(&first, &cache.of(&colours, &tint)));
        assert!(!Arc::ptr_eq(&first, &cache.of(&Arc::new((*colours).clone()), &tint)));
    }
}
