//! The ground looked at in other ways than it is seen: what an editor shows while somebody paints.

use super::paint::{Colours, Lighting, Plain, paint_by};
use super::{PaintCache, PaintInput, PaintedTexture, Points, RequiredMaps};
use crate::engine::image::{linear_from_srgb, luminance};
use crate::engine::light::Light;
use crate::engine::progress::{Cancelled, Progress};

/// A way to look at the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureView {
    /// Under sun and sky.
    #[default]
    Lit,
    /// The plain colours.
    Unlit,
    /// One terrain type, by its place in the list, lit where it lies; the rest is grey.
    Solo(usize),
    /// The weight of one terrain type, by its place in the list, from black to white.
    Weight(usize),
    /// Grey, and glaring where no type covers the ground.
    Uncovered,
    /// From pale where it is dry to blue where it is wet.
    Humidity,
    /// From white where the sun shines all day to dark where it never does.
    Shade,
}

/// What uncovered ground glares in, in sRGB.
pub const UNCOVERED_COLOUR: [u8; 3] = [0xff, 0x1f, 0xc8];
/// Colours in sRGB.
const DRY: [u8; 3] = [0xd9, 0xcb, 0xa6];
const WET: [u8; 3] = [0x14, 0x4c, 0x86];
const SUNNY: [u8; 3] = [0xff, 0xf4, 0xd8];
const SHADY: [u8; 3] = [0x1c, 0x22, 0x38];

impl TextureView {
    /// What this way of looking asks of the land, where the painting itself asks for `needs`.
    pub fn with(self, needs: RequiredMaps) -> RequiredMaps {
        let is_lit = match self {
            Self::Lit | Self::Solo(_) | Self::Uncovered => true,
            Self::Unlit | Self::Weight(_) | Self::Humidity | Self::Shade => false,
        };
        RequiredMaps {
            humidity: needs.humidity || self == Self::Humidity,
            shade: needs.shade || self == Self::Shade,
            sun: needs.sun.filter(|_| is_lit),
            sky: needs.sky && is_lit,
        }
    }
}

fn mixed(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    std::array::from_fn(|c| from[c] + (to[c] - from[c]) * share)
}

/// Paints the land on `size` pixels as `view` has it; lit ground comes with its plain colours. The shares are those of the
/// painting, whatever is shown of it. What textures show is kept on the cache for the next time.
pub fn view(
    cache: &mut PaintCache,
    input: PaintInput,
    light: &Light,
    view: TextureView,
    size: [usize; 2],
    progress: &Progress,
) -> Result<PaintedTexture, Cancelled> {
    let points = Points::Pixels(size);
    let lighting = Lighting::new(light);
    // Each point in the colour that `colour` makes of its place in the row and of what is there.
    let painted = |colours: &mut Colours, colour: &dyn Fn(usize, [f32; 3]) -> [f32; 3]| {
        let [red, green, blue] = colours;
        for (i, ((red, green), blue)) in red.iter_mut().zip(green).zip(blue).enumerate() {
            [*red, *green, *blue] = colour(i, [*red, *green, *blue]);
        }
    };
    let scale = |colours: &mut Colours, from: [u8; 3], to: [u8; 3], shares: &[f32]| {
        let [from, to] = [from, to].map(|colour| colour.map(linear_from_srgb));
        painted(colours, &|i, _| mixed(from, to, shares.get(i).copied().unwrap_or_default()));
    };
    match view {
        TextureView::Lit => paint_by(
            Some(cache),
            Plain::Kept,
            input,
            points,
            progress,
            #[inline(always)]
            |_, row, colours| lighting.light(row, colours),
        ),
        TextureView::Unlit => paint_by(Some(cache), Plain::Dropped, input, points, progress, |_, _, _| ()),
        TextureView::Solo(at) => {
            let place = input.recipe.active_index(at);
            paint_by(Some(cache), Plain::Dropped, input, points, progress, |painter, row, colours| {
                let ground = [0.12; 3];
                painted(colours, &|i, _| {
                    place.map_or(ground, |at| {
                        let weight = row.weights[at][i];
                        if weight > 0.0 { mixed(ground, painter.colour_of(at, row, i), weight) } else { ground }
                    })
                });
                lighting.light(row, colours);
            })
        }
        TextureView::Weight(at) => {
            let place = input.recipe.active_index(at);
            // Half a weight is the middle grey that one sees, not half the light.
            paint_by(Some(cache), Plain::Dropped, input, points, progress, |_, row, colours| {
                painted(colours, &|i, _| {
                    let grey = place.map_or(0.0, |at| row.weights[at][i]).clamp(0.0, 1.0) * 255.0 + 0.5;
                    [linear_from_srgb(grey as u8); 3]
                });
            })
        }
        TextureView::Uncovered => paint_by(Some(cache), Plain::Dropped, input, points, progress, |_, row, colours| {
            lighting.light(row, colours);
            painted(colours, &|i, lit| {
                if row.sums[i] > 0.0 { [luminance(lit); 3] } else { UNCOVERED_COLOUR.map(linear_from_srgb) }
            });
        }),
        TextureView::Humidity => paint_by(Some(cache), Plain::Dropped, input, points, progress, |_, row, colours| {
            scale(colours, DRY, WET, &row.ground.humidity);
        }),
        TextureView::Shade => paint_by(Some(cache), Plain::Dropped, input, points, progress, |_, row, colours| {
            scale(colours, SUNNY, SHADY, &row.ground.shade);
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::heightfield::{Extent, Grid, Heightfield};
    use crate::engine::image::Image;
    use crate::engine::inputs::Inputs;
    use crate::engine::parameters::{Band, Colour, TextureName};
    use crate::engine::texture::{SurfaceMaps, Swatch, TerrainType, TextureRecipe, TextureSettings, TypeBlend, Unit};

    /// Level ground in the west, 100 m higher in the east; a type on each, and none between.
    fn input() -> (Heightfield, TextureRecipe) {
        let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 41, 41);
        let terrain = Heightfield::from_fn(grid, |c, _| if c < 20 { 0.0 } else { 100.0 });
        let ground = |name: &str, colour, min, max| TerrainType {
            name: name.into(),
            colour: Colour(colour),
            elevation: Band { min, max },
            elevation_release: 0.0,
            ..Default::default()
        };
        let types = vec![
            TerrainType { enabled: false, ..ground("off", [9; 3], 0.0, 100.0) },
            ground("low", [200, 30, 30], 0.0, 10.0),
            ground("high", [30, 200, 30], 90.0, 100.0),
        ];
        let settings = TextureSettings { unit: Unit::Metres, ..Default::default() };
        (terrain, TextureRecipe { settings, types })
    }

    /// The colours in the west, half way up the step between, and in the east.
    fn colours(shown: TextureView) -> ([[u8; 3]; 3], PaintedTexture) {
        let (terrain, recipe) = input();
        let light = Light { shadows: 0.0, altitude_deg: 90.0, direct: 1.0, ambient: 0.0, ..Default::default() };
        let progress = Progress::new();
        let needs = shown.with(RequiredMaps::of(&recipe, Some(&light)));
        let surface_maps = &SurfaceMaps::of(&terrain, needs, &progress).expect("not cancelled");
        let inputs = &Inputs::default();
        let input = PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs };
        // A pixel for each place between two samples: the middle of the step is the middle of pixel 19.
        let painting =
            view(&mut PaintCache::default(), input, &light, shown, [40, 40], &progress).expect("not cancelled");
        let at = |i: usize| {
            let [red, green, blue, _] = painting.picture.pixels[20 * 40 + i];
            [red, green, blue]
        };
        ([at(5), at(19), at(35)], painting)
    }

    #[test]
    fn the_plain_colours_beside_the_lit_ones_are_those_of_the_unlit_view() {
        let (terrain, recipe) = input();
        let (light, progress, inputs) = (Light::default(), Progress::new(), Inputs::default());
        let needs = RequiredMaps::of(&recipe, Some(&light));
        let surface_maps = &SurfaceMaps::of(&terrain, needs, &progress).expect("not cancelled");
        let input =
            PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs: &inputs };
        let seen =
            |shown| view(&mut PaintCache::default(), input, &light, shown, [37, 23], &progress).expect("not cancelled");
        let (lit, unlit) = (seen(TextureView::Lit), seen(TextureView::Unlit));
        assert_eq!(lit.albedo.as_ref(), Some(&unlit.picture));
        assert!(lit.picture != unlit.picture && unlit.albedo.is_none());
    }

    #[test]
    fn each_view_shows_what_it_says() {
        let (unlit, plain) = colours(TextureView::Unlit);
        assert_eq!((unlit[0], unlit[2]), ([200, 30, 30], [30, 200, 30]));
        assert_eq!(colours(TextureView::Lit).0[0], [200, 30, 30], "a sun overhead leaves level ground as it is");
        let (weight, _) = colours(TextureView::Weight(1));
        assert_eq!((weight[0], weight[2]), ([255; 3], [0; 3]));
        assert_eq!(colours(TextureView::Weight(0)).0, [[0; 3]; 3], "a type that is off has no weight");
        assert_eq!(colours(TextureView::Weight(9)).0, [[0; 3]; 3], "nor has one that is gone");
        let (alone, _) = colours(TextureView::Solo(2));
        assert_eq!(alone[2], [30, 200, 30]);
        assert!(alone[0][0] == alone[0][1] && alone[0][1] == alone[0][2], "grey elsewhere: {alone:?}");
        let (uncovered, shares) = colours(TextureView::Uncovered);
        assert_eq!(uncovered[1], UNCOVERED_COLOUR);
        assert!(uncovered[0][0] == uncovered[0][1], "grey where it is covered: {uncovered:?}");
        assert_eq!((&shares.shares, shares.uncovered), (&plain.shares, plain.uncovered), "shares are the painting's");
        assert!((shares.uncovered - 1.0 / 40.0).abs() < 1e-6);
    }

    #[test]
    fn only_what_is_lit_asks_for_sun_and_sky() {
        let light = Light { occlusion: 1.0, ..Default::default() };
        let asked = |shown: TextureView| {
            let needs = shown.with(RequiredMaps::of(&input().1, Some(&light)));
            (needs.sun.is_some(), needs.sky)
        };
        for lit in [TextureView::Lit, TextureView::Solo(0), TextureView::Uncovered] {
            assert_eq!(asked(lit), (true, true), "{lit:?}");
        }
        for plain in [TextureView::Unlit, TextureView::Weight(0), TextureView::Humidity, TextureView::Shade] {
            assert_eq!(asked(plain), (false, false), "{plain:?}");
        }
    }

    #[test]
    fn humidity_and_shade_are_worked_out_where_they_are_shown() {
        for shown in [TextureView::Humidity, TextureView::Shade] {
            let (terrain, recipe) = input();
            let needs = shown.with(RequiredMaps::of(&recipe, None));
            let found = SurfaceMaps::of(&terrain, needs, &Progress::new()).expect("not cancelled");
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

    /// Small enough to be made ready, and not.
    #[test]
    fn a_canvas_that_was_painted_on_shows_what_a_fresh_one_shows() {
        check_canvas(1000.0, [180, 140]);
        check_canvas(4000.0, [90, 70]);
    }

    fn check_canvas(repeat_m: f64, [width, height]: [usize; 2]) {
        let size = [width, height];
        let picture = |factor: usize| {
            let pixel = |i: usize| [(i * factor % 251) as u8, (i * 7 % 199) as u8, (i / 16 * 13 % 255) as u8, 255];
            Arc::new(Swatch::new(&Image { width: 32, height: 32, pixels: (0..1024).map(pixel).collect() }))
        };
        let name = |name: &str| TextureName(name.into());
        let mut inputs = Inputs::default();
        inputs.swatches.insert(name("a"), picture(31));
        inputs.swatches.insert(name("b"), picture(101));
        let (terrain, mut recipe) = input();
        let grid = terrain.grid();
        recipe.types.remove(0);
        for (ground, picture) in recipe.types.iter_mut().zip(["a", "b"]) {
            ground.texture = Some(name(picture));
            ground.repeat_m = repeat_m;
            ground.blend = TypeBlend::Height;
            ground.elevation_release = 60.0;
        }
        let light = Light { shadows: 0.0, ..Default::default() };
        let mut cache = PaintCache::default();
        let mut check = |terrain: &Heightfield, recipe: &TextureRecipe, inputs: &Inputs, size, occasion: &str| {
            let surface_maps = &SurfaceMaps::default();
            let input = PaintInput { terrain, surface_maps, recipe, fixed_range_m: None, inputs };
            if occasion == "another land" || occasion == "the first land again" {
                cache.invalidate_terrain();
            }
            let gone = Progress::new();
            gone.cancel();
            let given_up = view(&mut cache, input, &light, TextureView::Lit, size, &gone);
            assert_eq!(given_up, Err(Cancelled), "{occasion}");
            let painted = |cache: &mut PaintCache| {
                view(cache, input, &light, TextureView::Lit, size, &Progress::new()).expect("painted")
            };
            assert_eq!(painted(&mut cache), painted(&mut PaintCache::default()), "{occasion}");
        };
        check(&terrain, &recipe, &inputs, size, "empty");
        recipe.types[0].colour = Colour([1, 99, 3]);
        check(&terrain, &recipe, &inputs, size, "another colour");
        let other = Heightfield::from_fn(grid, |c, r| ((c * 5 + r * 3) % 101) as f32);
        check(&other, &recipe, &inputs, size, "another land");
        recipe.types.swap(0, 1);
        check(&other, &recipe, &inputs, size, "moved");
        recipe.types[0].repeat_m = 0.75 * repeat_m;
        recipe.types[1].texture = Some(name("b"));
        check(&terrain, &recipe, &inputs, size, "the first land again");
        recipe.types[0].slope_deg.max = 20.0;
        check(&terrain, &recipe, &inputs, size, "other limits");
        recipe.types[0].blend = TypeBlend::Normal;
        check(&terrain, &recipe, &inputs, size, "another way to join");
        recipe.types[0].repeat_m = repeat_m;
        check(&terrain, &recipe, &inputs, size, "one picture for both");
        // Nearly the same, and yet a sheet of another size.
        recipe.types[0].repeat_m *= 1.0 + 1e-9;
        check(&terrain, &recipe, &inputs, size, "a trace wider");
        inputs.swatches.insert(name("b"), picture(57));
        check(&terrain, &recipe, &inputs, size, "another picture by the same name");
        check(&terrain, &recipe, &inputs, [height, width], "another size");
    }
}
