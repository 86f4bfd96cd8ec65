//! The views of the painted terrain in the editor: lit, unlit, one type, weights, humidity and shade.

use super::cache::PaintCache;
use super::lighting::Lighting;
use super::paint::{Albedo, PaintedTexture, paint_with};
use super::painter::{PaintInput, Painter};
use super::points::Points;
use super::row::{Colours, PaintRow};
use super::surface_maps::RequiredMaps;
use crate::cast::ToInteger;
use crate::image::{linear_from_srgb, luminance};
use crate::light::Light;
use crate::progress::{Cancelled, Progress};

/// A view of the painted terrain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureView {
    /// Lit by sun and sky.
    #[default]
    Lit,
    /// The unlit colours.
    Unlit,
    /// One terrain type, by its index in the list, lit; all others are grey.
    Solo(usize),
    /// The weight of one terrain type, by its index in the list, from black to white.
    Weight(usize),
    /// Grey, with uncovered points in [`UNCOVERED_COLOUR`].
    Uncovered,
    /// From pale (dry) to blue (wet).
    Humidity,
    /// From white (sun all day) to dark (shade all day).
    Shade,
}

/// The warning colour of points that no type covers, in sRGB.
pub const UNCOVERED_COLOUR: [u8; 3] = [0xff, 0x1f, 0xc8];
/// Colours in sRGB.
const DRY: [u8; 3] = [0xd9, 0xcb, 0xa6];
const WET: [u8; 3] = [0x14, 0x4c, 0x86];
const SUNNY: [u8; 3] = [0xff, 0xf4, 0xd8];
const SHADY: [u8; 3] = [0x1c, 0x22, 0x38];

impl TextureView {
    /// The surface maps that the view requires, given those that the recipe and the light require.
    pub fn required_maps(self, required: RequiredMaps) -> RequiredMaps {
        let is_lit = match self {
            Self::Lit | Self::Solo(_) | Self::Uncovered => true,
            Self::Unlit | Self::Weight(_) | Self::Humidity | Self::Shade => false,
        };
        RequiredMaps {
            humidity: required.humidity || self == Self::Humidity,
            shade: required.shade || self == Self::Shade,
            sun: required.sun.filter(|_| is_lit),
            sky: required.sky && is_lit,
        }
    }
}

/// Replaces the colour of every point; `colour` is given its index in the row and its present colour.
fn recolour(colours: &mut Colours, colour: impl Fn(usize, [f32; 3]) -> [f32; 3]) {
    let [red, green, blue] = colours;
    for (i, ((red, green), blue)) in red.iter_mut().zip(green).zip(blue).enumerate() {
        [*red, *green, *blue] = colour(i, [*red, *green, *blue]);
    }
}

/// Colours every point by a value from 0 to 1 on the gradient between two sRGB colours.
fn colour_by(colours: &mut Colours, values: &[f32], from: [u8; 3], to: [u8; 3]) {
    let [from, to] = [from, to].map(|colour| colour.map(linear_from_srgb));
    recolour(colours, |i, _| lerp(from, to, values.get(i).copied().unwrap_or_default()));
}

fn lerp(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    std::array::from_fn(|c| from[c] + (to[c] - from[c]) * share)
}

/// Paints a view of the terrain. The lit view comes with its albedo. The shares are those of the painted types in every
/// view. Texels are kept in the cache, if one is given, for the next call with the same points.
pub fn paint_view(
    cache: Option<&mut PaintCache>,
    input: PaintInput,
    light: &Light,
    view: TextureView,
    points: Points,
    progress: &Progress,
) -> Result<PaintedTexture, Cancelled> {
    let lighting = Lighting::new(light);
    let (albedo, active_index) = match view {
        TextureView::Lit => (Albedo::Keep, None),
        TextureView::Solo(index) | TextureView::Weight(index) => (Albedo::Drop, input.recipe.active_index(index)),
        TextureView::Unlit | TextureView::Uncovered | TextureView::Humidity | TextureView::Shade => {
            (Albedo::Drop, None)
        }
    };
    paint_with(
        cache,
        albedo,
        input,
        points,
        progress,
        #[inline(always)]
        |painter, row, colours| match view {
            TextureView::Lit => lighting.apply(row, colours),
            TextureView::Unlit => {}
            TextureView::Solo(_) => {
                solo(painter, active_index, row, colours);
                lighting.apply(row, colours);
            }
            TextureView::Weight(_) => recolour(colours, |i, _| {
                // Half a weight is perceived as middle grey; it is not half the light.
                let grey = active_index.map_or(0.0, |index| row.weights[index][i]).clamp(0.0, 1.0) * 255.0 + 0.5;
                [linear_from_srgb(grey.to_u8()); 3]
            }),
            TextureView::Uncovered => {
                lighting.apply(row, colours);
                let warning = UNCOVERED_COLOUR.map(linear_from_srgb);
                recolour(colours, |i, lit| if row.sums[i] > 0.0 { [luminance(lit); 3] } else { warning });
            }
            TextureView::Humidity => colour_by(colours, &row.surface.humidity, DRY, WET),
            TextureView::Shade => colour_by(colours, &row.surface.shade, SUNNY, SHADY),
        },
    )
}

/// Colours a row by one type alone, grey elsewhere.
fn solo(painter: &Painter, active_index: Option<usize>, row: &PaintRow, colours: &mut Colours) {
    let grey = [0.12; 3];
    recolour(colours, |i, _| {
        active_index.map_or(grey, |index| {
            let weight = row.weights[index][i];
            if weight > 0.0 { lerp(grey, painter.colour_of(index, row, i), weight) } else { grey }
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::inputs::Inputs;
    use crate::parameters::{Band, Colour};
    use crate::texture::recipe::{TerrainType, TextureRecipe, TextureSettings, Unit};
    use crate::texture::surface_maps::SurfaceMaps;

    /// Level terrain in the west, 100 m higher in the east; a type on each, and none between.
    fn step() -> (Heightfield, TextureRecipe) {
        let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 41, 41);
        let terrain = Heightfield::from_fn(grid, |c, _| if c < 20 { 0.0 } else { 100.0 });
        let terrain_type = |name: &str, colour, min, max| TerrainType {
            name: name.into(),
            colour: Colour(colour),
            elevation: Band { min, max },
            elevation_release: 0.0,
            ..Default::default()
        };
        let types = vec![
            TerrainType { enabled: false, ..terrain_type("off", [9; 3], 0.0, 100.0) },
            terrain_type("low", [200, 30, 30], 0.0, 10.0),
            terrain_type("high", [30, 200, 30], 90.0, 100.0),
        ]
        .into();
        let settings = TextureSettings { unit: Unit::Metres, ..Default::default() };
        (terrain, TextureRecipe { settings, types })
    }

    /// The colours in the west, half way up the step between, and in the east.
    fn colours(shown: TextureView) -> ([[u8; 3]; 3], PaintedTexture) {
        let (terrain, recipe) = step();
        let light = Light { shadows: 0.0, altitude_deg: 90.0, direct: 1.0, ambient: 0.0, ..Default::default() };
        let progress = Progress::new();
        let required = shown.required_maps(RequiredMaps::of(&recipe, Some(&light)));
        let surface_maps = &SurfaceMaps::of(&terrain, required, &progress).expect("not cancelled");
        let inputs = &Inputs::default();
        let input = PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs };
        // One pixel between each two samples: the middle of the step is the middle of pixel 19.
        let painted =
            paint_view(None, input, &light, shown, Points::Pixels([40, 40]), &progress).expect("not cancelled");
        let at = |i: usize| {
            let [red, green, blue, _] = painted.image.pixels[20 * 40 + i];
            [red, green, blue]
        };
        ([at(5), at(19), at(35)], painted)
    }

    #[test]
    fn the_albedo_of_the_lit_view_is_the_unlit_view() {
        let (terrain, recipe) = step();
        let (light, progress, inputs) = (Light::default(), Progress::new(), Inputs::default());
        let required = RequiredMaps::of(&recipe, Some(&light));
        let surface_maps = &SurfaceMaps::of(&terrain, required, &progress).expect("not cancelled");
        let input =
            PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs: &inputs };
        let paint =
            |shown| paint_view(None, input, &light, shown, Points::Pixels([37, 23]), &progress).expect("not cancelled");
        let (lit, unlit) = (paint(TextureView::Lit), paint(TextureView::Unlit));
        assert_eq!(lit.albedo.as_ref(), Some(&unlit.image));
        assert!(lit.image != unlit.image && unlit.albedo.is_none());
    }

    #[test]
    fn each_view_shows_its_colours() {
        let (unlit, plain) = colours(TextureView::Unlit);
        assert_eq!((unlit[0], unlit[2]), ([200, 30, 30], [30, 200, 30]));
        assert_eq!(colours(TextureView::Lit).0[0], [200, 30, 30], "an overhead sun does not change level terrain");
        let (weight, _) = colours(TextureView::Weight(1));
        assert_eq!((weight[0], weight[2]), ([255; 3], [0; 3]));
        assert_eq!(colours(TextureView::Weight(0)).0, [[0; 3]; 3], "a disabled type has no weight");
        assert_eq!(colours(TextureView::Weight(9)).0, [[0; 3]; 3], "nor has a removed one");
        let (solo, _) = colours(TextureView::Solo(2));
        assert_eq!(solo[2], [30, 200, 30]);
        assert!(solo[0][0] == solo[0][1] && solo[0][1] == solo[0][2], "grey elsewhere: {solo:?}");
        let (uncovered, shares) = colours(TextureView::Uncovered);
        assert_eq!(uncovered[1], UNCOVERED_COLOUR);
        assert!(uncovered[0][0] == uncovered[0][1], "grey where it is covered: {uncovered:?}");
        assert_eq!(
            (&shares.shares, shares.uncovered),
            (&plain.shares, plain.uncovered),
            "the shares do not depend on the view"
        );
        assert!((shares.uncovered - 1.0 / 40.0).abs() < 1e-6);
    }

    #[test]
    fn only_lit_views_require_sun_and_sky() {
        let light = Light { occlusion: 1.0, ..Default::default() };
        let requires = |shown: TextureView| {
            let required = shown.required_maps(RequiredMaps::of(&step().1, Some(&light)));
            (required.sun.is_some(), required.sky)
        };
        for lit in [TextureView::Lit, TextureView::Solo(0), TextureView::Uncovered] {
            assert_eq!(requires(lit), (true, true), "{lit:?}");
        }
        for plain in [TextureView::Unlit, TextureView::Weight(0), TextureView::Humidity, TextureView::Shade] {
            assert_eq!(requires(plain), (false, false), "{plain:?}");
        }
    }

    #[test]
    fn humidity_and_shade_are_computed_for_their_views() {
        for shown in [TextureView::Humidity, TextureView::Shade] {
            let (terrain, recipe) = step();
            let required = shown.required_maps(RequiredMaps::of(&recipe, None));
            let found = SurfaceMaps::of(&terrain, required, &Progress::new()).expect("not cancelled");
            assert_eq!(
                (found.humidity.is_some(), found.shade.is_some()),
                match shown {
                    TextureView::Humidity => (true, false),
                    _ => (false, true),
                }
            );
            assert!(colours(shown).0.iter().any(|colour| colour.iter().all(|channel| *channel > 0)));
        }
    }
}
