//! Paints the terrain: computes weights and colours, one row of points at a time.

use rayon::prelude::*;

use super::cache::{CachedRow, PaintCache};
use super::layer::TexelRow;
use super::lighting::Lighting;
use super::painter::{PaintInput, Painter};
use super::points::{PixelRegion, Points};
use super::recipe::TextureRecipe;
use super::row::{Colours, PaintRow};
use super::surface_maps::{RequiredMaps, SurfaceMaps};
use super::type_masks::MaskScope;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::image::{Image, encode};
use crate::inputs::Inputs;
use crate::light::Light;
use crate::parameters::Band;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// A painted texture of the terrain.
#[derive(Clone, Debug, PartialEq)]
pub struct PaintedTexture {
    /// The texture, lit if a light was given.
    pub image: Image,
    /// The unlit colours, if they were requested too.
    pub albedo: Option<Image>,
    /// The share of the terrain that each active type takes, in their order.
    pub shares: Vec<f32>,
    /// The share of the terrain that no type covers.
    pub uncovered: f32,
}

/// Whether the unlit colours are returned with the finished ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Albedo {
    Keep,
    Drop,
}

/// Paints the terrain at all points, lit if a light is given.
pub fn paint(
    input: PaintInput,
    light: Option<&Light>,
    points: Points,
    progress: &Progress,
) -> Result<PaintedTexture, Cancelled> {
    match light.map(Lighting::new) {
        None => paint_with(None, Albedo::Drop, input, points, progress, |_, _, _| ()),
        Some(lighting) => paint_with(
            None,
            Albedo::Drop,
            input,
            points,
            progress,
            #[inline(always)]
            |_, row, colours| lighting.apply(row, colours),
        ),
    }
}

/// Paints every row; `finish` turns its unlit linear colours into the final ones. Texels are kept in the cache, if one
/// is given.
pub(super) fn paint_with(
    cache: Option<&mut PaintCache>,
    albedo: Albedo,
    input: PaintInput,
    points: Points,
    progress: &Progress,
    finish: impl Fn(&Painter, &PaintRow, &mut Colours) + Sync,
) -> Result<PaintedTexture, Cancelled> {
    let mut painter = Painter::new(input, points, progress)?;
    painter.prepare(cache.as_ref().map_or(&[], |cache| cache.layers_for(&painter)), progress)?;
    let [width, height] = painter.sampler.size;
    let counter = progress.counter(height);
    let mut cached_rows: Vec<Option<&mut CachedRow>> = Vec::with_capacity(height);
    let mut keeps_weights = false;
    if let Some(cache) = cache {
        keeps_weights = cache.prepare(&painter);
        cached_rows.extend(cache.rows.iter_mut().map(Some));
    }
    cached_rows.resize_with(height, || None);
    let mut pixels = vec![[0; 4]; width * height];
    let mut albedo_pixels = match albedo {
        Albedo::Keep => vec![[0; 4]; width * height],
        Albedo::Drop => Vec::new(),
    };
    let mut albedo_rows: Vec<Option<&mut [[u8; 4]]>> = albedo_pixels.chunks_mut(width.max(1)).map(Some).collect();
    albedo_rows.resize_with(height, || None);
    let rows = pixels.par_chunks_mut(width.max(1)).zip(cached_rows).zip(albedo_rows).enumerate();
    let totals: Vec<RowTotals> = rows
        .map_init(<(PaintRow, Colours)>::default, |(row, colours), (j, ((pixels, mut cached), albedo_pixels))| {
            match &mut cached {
                Some(cached) => cached.swap(row, keeps_weights),
                None => row.texels.iter_mut().for_each(TexelRow::clear),
            }
            // Without the albedo, `finish` may read values that are not cached.
            let is_weighed = albedo == Albedo::Keep && cached.as_ref().is_some_and(|cached| cached.is_weighed);
            let weights = simd(
                #[inline(always)]
                || {
                    if !is_weighed {
                        painter.compute_weights_and_texels(j, row);
                    }
                    painter.read_light(j, row);
                    painter.compute_colours(row, colours);
                    if let Some(albedo_pixels) = albedo_pixels {
                        encode(colours, albedo_pixels);
                    }
                    finish(&painter, row, colours);
                    encode(colours, pixels);
                    sums_of(&row.weights)
                },
            );
            let uncovered = row.uncovered;
            if let Some(cached) = cached {
                cached.swap(row, keeps_weights);
                cached.is_weighed = keeps_weights;
            }
            counter.add_one().map(|()| RowTotals { weights, uncovered })
        })
        .collect::<Result<_, _>>()?;
    let (shares, uncovered) = shares(&totals, painter.types.len(), pixels.len());
    let image = |pixels| Image { width, height, pixels };
    let albedo = match albedo {
        Albedo::Keep => Some(image(albedo_pixels)),
        Albedo::Drop => None,
    };
    Ok(PaintedTexture { image: image(pixels), albedo, shares, uncovered })
}

/// The sums of the weights of each type in a row, and the number of uncovered points.
struct RowTotals {
    weights: Vec<f32>,
    uncovered: usize,
}

/// The share of the points that each type takes, and the share that no type covers.
fn shares(rows: &[RowTotals], types: usize, points: usize) -> (Vec<f32>, f32) {
    let per_point = 1.0 / points.max(1).to_f64();
    let share = |i: usize| rows.iter().map(|row| f64::from(row.weights[i])).sum::<f64>() * per_point;
    let uncovered: usize = rows.iter().map(|row| row.uncovered).sum();
    ((0..types).map(|i| share(i).to_f32()).collect(), (uncovered.to_f64() * per_point).to_f32())
}

/// The sum of each type's weights.
#[inline(always)]
fn sums_of(weights: &[Vec<f32>]) -> Vec<f32> {
    // A plain loop, because the functions that `collect` calls are not inlined.
    let mut sums = Vec::with_capacity(weights.len());
    for weights in weights {
        sums.push(sum_of(weights));
    }
    sums
}

/// The sum of a row, in sixteen parallel parts.
#[inline(always)]
fn sum_of(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<16>();
    let mut parts = [0.0; 16];
    for block in blocks {
        parts.iter_mut().zip(block).for_each(|(part, value)| *part += value);
    }
    parts.iter().chain(rest).sum()
}

/// How a terrain is painted by [`paint_once`].
#[derive(Clone, Debug)]
pub struct PaintOnce<'a> {
    /// The terrain types.
    pub recipe: &'a TextureRecipe,
    /// What the masks of types depend on, and the textures that types name.
    pub scope: MaskScope<'a>,
    /// The height range that percentages refer to; `None`: the terrain's own.
    pub fixed_range_m: Option<Band>,
    /// The light; `None`: unlit.
    pub light: Option<&'a Light>,
}

impl<'a> PaintOnce<'a> {
    /// For types whose masks refer to no named masks and to no random numbers.
    pub fn new(recipe: &'a TextureRecipe, inputs: &'a Inputs, light: Option<&'a Light>) -> Self {
        Self { recipe, scope: MaskScope::of_inputs(inputs), fixed_range_m: None, light }
    }
}

/// Paints a terrain once: computes the surface maps, uses them and drops them.
pub fn paint_once(
    terrain: &Heightfield,
    PaintOnce { recipe, scope, fixed_range_m, light }: PaintOnce,
    size: [usize; 2],
    progress: &Progress,
) -> Result<PaintedTexture, Cancelled> {
    let surface_maps = || {
        SurfaceMaps::of(terrain, RequiredMaps::of(recipe, light), progress)?
            .with_type_masks(terrain, recipe, &scope, progress)
    };
    let surface_maps = &progress.stage(0.0..0.5, surface_maps)?;
    let input = PaintInput { terrain, surface_maps, recipe, fixed_range_m, inputs: scope.inputs };
    progress.stage(0.5..1.0, || paint(input, light, Points::Pixels(size), progress))
}

/// The index among the active types of the one with the largest weight at a position, metres east and south; positions
/// outside are moved to the border. `None` where no type covers the surface. Blending by relief is ignored, so the
/// result does not alternate between the stones of one type and the gaps of another.
pub fn type_at(input: PaintInput, position_m: [f64; 2]) -> Option<usize> {
    let (grid, extent) = (input.terrain.grid(), input.terrain.grid().extent());
    let full_size = [grid.width(), grid.height()];
    let pixel = |axis: usize, side_m: f64| {
        let share = (position_m[axis] / side_m).clamp(0.0, 1.0);
        (share * full_size[axis].to_f64()).to_usize().min(full_size[axis] - 1)
    };
    let origin = [pixel(0, extent.width_m), pixel(1, extent.depth_m)];
    let point = Points::PixelRegion(PixelRegion { full_size, origin, size: [1, 1] });
    // Nobody can cancel this progress.
    let painter = Painter::without_materials(input, point, &Progress::new()).ok()?;
    let mut row = PaintRow::default();
    painter.compute_weights(0, &mut row);
    let types = input.recipe.active().zip(&row.weights).enumerate();
    let covering = types.filter(|(_, (terrain_type, _))| terrain_type.covers());
    let heaviest = covering.max_by(|(_, (_, a)), (_, (_, b))| a[0].total_cmp(&b[0]));
    heaviest.filter(|(_, (_, weight))| weight[0] > 0.0).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Grid;
    use crate::parameters::Colour;
    use crate::texture::recipe::{TerrainType, TypeBlend};
    use crate::texture::testing::{WORLD, board, limited_type, metres, terrain_type, textured};

    fn painted(
        terrain: &Heightfield,
        recipe: &TextureRecipe,
        light: Option<&Light>,
        size: [usize; 2],
    ) -> PaintedTexture {
        let inputs = Inputs::default();
        paint_once(terrain, PaintOnce::new(recipe, &inputs, light), size, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn no_pixel_is_black_without_types() {
        let texture = painted(&Heightfield::flat(Grid::new(WORLD, 9, 9)), &metres(vec![]), None, [4, 4]);
        assert!(texture.image.pixels.iter().all(|pixel| pixel[0] > 100));
        assert_eq!(texture.uncovered, 1.0);
    }

    #[test]
    fn colours_are_blended_and_lit_in_linear_light() {
        let white = TerrainType { elevation_release: 10.0, ..terrain_type("white", [255; 3], [0.0, 0.0]) };
        let black = TerrainType { colour: Colour([0; 3]), ..white.clone() };
        let terrain = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let light = Light { altitude_deg: 30.0, direct: 0.5, ambient: 0.25, ..Default::default() };
        let recipe = metres(vec![white, black]);
        let pixel = |light| painted(&terrain, &recipe, light, [2, 2]).image.pixels[0];
        assert_eq!(pixel(None), [188, 188, 188, 255]);
        // Level terrain under a sun at 30°: 0.5 · (0.5 · sin 30° + 0.25) = 0.25, which is 137 in sRGB.
        assert_eq!(pixel(Some(&light)), [137, 137, 137, 255]);
        assert_eq!(painted(&terrain, &recipe, None, [2, 2]).shares, [0.5, 0.5]);
    }

    #[test]
    fn pixel_centres_are_between_samples() {
        // A plane that rises eastward: the types meet exactly in the middle of the texture.
        let terrain = Heightfield::from_fn(Grid::new(WORLD, 65, 65), |c, _| c as f32);
        let sharp = |terrain_type: TerrainType| TerrainType { elevation_release: 0.0, ..terrain_type };
        let west = sharp(terrain_type("west", [255, 0, 0], [0.0, 32.0]));
        let east = sharp(terrain_type("east", [0, 0, 255], [32.0, 64.0]));
        let texture = painted(&terrain, &metres(vec![west, east]), None, [10, 6]);
        for row in texture.image.pixels.chunks(10) {
            assert!(row[..5].iter().all(|pixel| pixel[0] == 255) && row[5..].iter().all(|pixel| pixel[2] == 255));
        }
    }

    #[test]
    fn a_texture_does_not_depend_on_regions_or_threads() {
        let terrain = Heightfield::from_fn(Grid::new(WORLD, 33, 33), |c, r| (c * r % 64) as f32);
        // In the full texture the texels of the first type are computed in advance; in its regions none are.
        let types = [64.0, 900.0].map(|repeat_m| TerrainType {
            blend: TypeBlend::Height,
            elevation_release: 64.0,
            ..textured("board", repeat_m)
        });
        let (recipe, inputs, surface_maps) = (metres(types.into()), board(64), SurfaceMaps::default());
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &surface_maps,
            recipe: &recipe,
            fixed_range_m: None,
            inputs: &inputs,
        };
        let [width, height] = [203, 150];
        let pixels = |points| paint(input, None, points, &Progress::new()).expect("not cancelled").image.pixels;
        let on_threads = |count| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads");
            pool.install(|| pixels(Points::Pixels([width, height])))
        };
        let whole = on_threads(1);
        assert_eq!(whole, on_threads(3));
        let region = |west: usize, north: usize, size: [usize; 2]| {
            pixels(Points::PixelRegion(PixelRegion { full_size: [width, height], origin: [west, north], size }))
        };
        let strips: Vec<[u8; 4]> = (0..height).step_by(30).flat_map(|north| region(0, north, [width, 30])).collect();
        assert!(whole == strips, "in strips");
        let cut: Vec<[u8; 4]> =
            whole.chunks(width).skip(11).take(50).flat_map(|row| row[37..][..91].to_vec()).collect();
        assert!(cut == region(37, 11, [91, 50]), "a region");
    }

    #[test]
    fn regions_need_only_the_samples_around_them() {
        let grid = Grid::new(WORLD, 65, 49);
        let terrain = Heightfield::from_fn(grid, |c, r| (c * c + 3 * c * r) as f32 * 0.1);
        // By slope, with gaps in which the nearest type is painted.
        let types = [[0.0, 9.0], [14.0, 20.0], [40.0, 90.0]].map(|slope_deg| TerrainType {
            slope_release_deg: 2.0,
            ..limited_type("by slope", [0.0, 400.0], slope_deg)
        });
        let (recipe, surface_maps, inputs) = (metres(types.into()), SurfaceMaps::default(), Inputs::default());
        let light = Light { occlusion: 0.0, shadows: 0.0, ..Light::default() };
        let paint_on = |terrain: &Heightfield, region| {
            let fixed_range_m = None;
            let input =
                PaintInput { terrain, surface_maps: &surface_maps, recipe: &recipe, fixed_range_m, inputs: &inputs };
            let painted = paint(input, Some(&light), Points::PixelRegion(region), &Progress::new());
            painted.expect("not cancelled").image.pixels
        };
        for full_size in [[203, 150], [64, 48], [20, 9]] {
            let [width, height] = full_size;
            for (origin, size) in [
                ([0, 0], [5, 4]),
                ([width / 3, height / 2], [width / 4, height / 3]),
                ([width - 3, height - 2], [3, 2]),
                ([0, 0], full_size),
            ] {
                let region = PixelRegion { full_size, origin, size };
                let samples = region.samples(grid);
                let is_same = paint_on(&terrain.part(samples), region) == paint_on(&terrain, region);
                assert!(is_same, "{region:?} of {samples:?}");
            }
        }
    }
}
