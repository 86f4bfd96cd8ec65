//! Shaded relief in greys, for thumbnails so small that colours would hide the shape.

use super::heightfield::Heightfield;
use super::image::Image;
use super::inputs::Inputs;
use super::light::Light;
use super::parameters::{Band, Colour};
use super::progress::{Cancelled, Progress};
use super::texture::{PaintOnce, TerrainType, TextureRecipe, TextureSettings, Unit, paint_once};

use crate::cast::ToFloat;

/// The height range that is drawn, as a fraction of the longer side. Every terrain is scaled to it, so that gentle
/// terrain shows its shape and steep terrain is not mostly in shadow.
const RANGE_SHARE: f64 = 0.14;

/// The greys of the lowest and the highest terrain, in sRGB.
const GREYS: [u8; 2] = [0x40, 0xfa];

/// The shaded relief of a terrain at `size` (width and height in pixels), lit from the north-west.
pub fn relief(terrain: &Heightfield, size: [usize; 2], progress: &Progress) -> Result<Image, Cancelled> {
    let extent = terrain.grid().extent();
    let [low, high] = terrain.min_max();
    let wanted_m = RANGE_SHARE * extent.width_m.max(extent.depth_m);
    // Level terrain gets the middle grey.
    let (factor, base_m) =
        if high > low { ((wanted_m / f64::from(high - low)).to_f32(), 0.0) } else { (0.0, 0.5 * wanted_m.to_f32()) };
    let mut shown = terrain.clone();
    shown.heights_mut().iter_mut().for_each(|height| *height = base_m + (*height - low) * factor);
    let range_m = Some(Band { min: 0.0, max: wanted_m });
    let light = Light { direct: 0.9, ambient: 0.3, shadows: 0.0, ..Default::default() };
    let (recipe, inputs) = (&greys(), Inputs::default());
    let paint = PaintOnce { fixed_range_m: range_m, ..PaintOnce::new(recipe, &inputs, Some(&light)) };
    Ok(paint_once(&shown, paint, size, progress)?.image)
}

/// A texture that goes from the dark to the light grey with height, whatever the slope.
fn greys() -> TextureRecipe {
    let terrain_type = |name: &str, grey, percent| TerrainType {
        name: name.into(),
        colour: Colour([grey; 3]),
        elevation: Band { min: percent, max: percent },
        elevation_release: 100.0,
        ..Default::default()
    };
    let types = vec![terrain_type("Lowest", GREYS[0], 0.0), terrain_type("Highest", GREYS[1], 100.0)].into();
    TextureRecipe { settings: TextureSettings { unit: Unit::Percent, ..Default::default() }, types }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::image::{linear_from_srgb, srgb_from_linear};

    fn drawn(width_m: f64, height: impl Fn(f32, f32) -> f32) -> Vec<u8> {
        let grid = Grid::new(Extent { width_m, depth_m: width_m }, 33, 33);
        let terrain = Heightfield::from_fn(grid, |c, r| height(c as f32 / 32.0, r as f32 / 32.0));
        let image = relief(&terrain, [32, 32], &Progress::new()).expect("not cancelled");
        assert!(image.pixels.iter().all(|&[r, g, b, _]| r == g && g == b), "grey");
        image.pixels.iter().map(|pixel| pixel[0]).collect()
    }

    #[test]
    fn flat_terrain_has_one_grey() {
        // At half the height both types cover it.
        let flat = drawn(100.0, |_, _| 7.0);
        assert!(flat.iter().all(|&grey| grey == flat[0] && grey > GREYS[0]));
    }

    #[test]
    fn a_slope_to_the_east_is_lit_by_the_formula() {
        // The slope rises by the range over the width: its tangent is 0.14. With the sun in the north-west at 40°, the
        // cosine to its normal (−0.14, 1, 0)/√(1 + 0.14²) is (0.14 · cos 40° · sin 45° + sin 40°)/√(1 + 0.14²).
        let found = drawn(1000.0, |x, _| 300.0 * x);
        let (sine, cosine) = (libm::sinf(40_f32.to_radians()), libm::cosf(40_f32.to_radians()));
        let lit = (0.14 * cosine * 0.5_f32.sqrt() + sine) / (1.0 + 0.14_f32 * 0.14).sqrt() * 0.9 + 0.3;
        for (c, grey) in found[..32].iter().enumerate() {
            let share = (c as f32 + 0.5) / 32.0;
            let [dark, light] = GREYS.map(linear_from_srgb);
            assert!(grey.abs_diff(srgb_from_linear((dark + (light - dark) * share) * lit)) <= 1, "pixel {c}");
        }
    }

    #[test]
    fn scale_and_offset_do_not_change_the_relief() {
        let wave = |x: f32, z: f32| libm::sinf(9.0 * x) * libm::cosf(7.0 * z);
        let small = drawn(10.0, wave);
        let large = drawn(10_000.0, |x, z| 500.0 * wave(x, z) - 80.0);
        assert!(small.iter().zip(&large).all(|(a, b)| a.abs_diff(*b) <= 1));
    }
}
