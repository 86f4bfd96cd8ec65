//! The colours of the active terrain types, and their blending.

use super::layer::{BLOCK, MEAN_RELIEF, ONE, TexelRow, TextureLayer, any_positive, covered_blocks};
use super::points::Lattice;
use super::recipe::{TerrainType, TypeBlend};
use super::row::{Colours, PaintRow};
use crate::cast::ToFloat;
use crate::image::linear_from_srgb;
use crate::inputs::Inputs;

/// The colour of terrain without any type, in linear light.
const BARE: [f32; 3] = [0.25; 3];

/// How far below the highest relief another type's relief still shows, where types are blended by relief: chosen by
/// eye.
const RELIEF_DEPTH: f32 = 0.25;

/// The appearance of an active type.
#[derive(Clone, Debug)]
pub(super) struct Material {
    /// In linear light.
    pub(super) colour: [f32; 3],
    pub(super) texture: Option<MaterialTexture>,
    pub(super) blend: TypeBlend,
}

/// The texture of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaterialTexture {
    /// The index of its layer; types with the same texture at the same scale share one.
    pub(super) layer: usize,
    /// The factors from fixed-point texels to tinted linear light.
    pub(super) scale: [f32; 3],
}

impl MaterialTexture {
    /// The value of a channel, from 0 to 1.
    #[inline(always)]
    fn light(scale: f32, texel: u16) -> f32 {
        let light = scale * f32::from(texel);
        if light < 1.0 { light } else { 1.0 }
    }
}

impl Material {
    /// The material of a type. Adds the layer of its texture to `layers` unless it is there already.
    pub(super) fn new(
        terrain_type: &TerrainType,
        inputs: &Inputs,
        lattice: Lattice,
        layers: &mut Vec<TextureLayer>,
    ) -> Self {
        let colour = terrain_type.colour.0.map(linear_from_srgb);
        let texture = terrain_type.texture.as_ref().and_then(|name| inputs.swatch(name)).map(|swatch| {
            let layer = TextureLayer::new(swatch.clone(), terrain_type.repeat_m, lattice);
            let scale = layer.tint(terrain_type.tint.to_f32(), colour).map(|tint| tint / ONE);
            let known = layers.iter().position(|known| *known == layer);
            let layer = known.unwrap_or_else(|| {
                layers.push(layer);
                layers.len() - 1
            });
            MaterialTexture { layer, scale }
        });
        Self { colour, texture, blend: terrain_type.blend }
    }

    /// The colour at point `i` of a row, in linear light, where the type has some weight.
    pub(super) fn colour_at(&self, texels: &[TexelRow], i: usize) -> [f32; 3] {
        let of = |texture: &MaterialTexture, c: usize| {
            MaterialTexture::light(texture.scale[c], texels[texture.layer].channels[c][i])
        };
        std::array::from_fn(|c| self.texture.as_ref().map_or(self.colour[c], |texture| of(texture, c)))
    }
}

/// Blends the colours of the materials along a row by their weights, in linear light: one channel at a time, so that
/// the loops over points are vectorized.
#[inline(always)]
pub(super) fn blend_colours(materials: &[Material], row: &PaintRow, count: usize, colours: &mut Colours) {
    let covers = |material: &Material| material.blend.covers();
    let covered = materials.iter().any(covers);
    for (channel, bare) in colours.iter_mut().zip(BARE) {
        channel.clear();
        channel.resize(count, if covered { 0.0 } else { bare });
    }
    // Types that modify the colour below come after all types that cover the surface, regardless of their place in the
    // list.
    let all = || materials.iter().zip(&row.weights);
    for (material, weights) in
        all().filter(|(material, _)| covers(material)).chain(all().filter(|(material, _)| !covers(material)))
    {
        let modified = |below: f32, own: f32| match material.blend {
            TypeBlend::Normal | TypeBlend::Height | TypeBlend::Cover => below,
            TypeBlend::Multiply => below * own,
            TypeBlend::Overlay if below < 0.5 => 2.0 * below * own,
            TypeBlend::Overlay => 1.0 - 2.0 * (1.0 - below) * (1.0 - own),
        };
        for block in covered_blocks(weights) {
            let weights = &weights[block.clone()];
            for (c, channel) in colours.iter_mut().enumerate() {
                let points = channel[block.clone()].iter_mut().zip(weights);
                match (covers(material), material.texture) {
                    (true, None) => points.for_each(|(sum, weight)| *sum += weight * material.colour[c]),
                    (true, Some(MaterialTexture { layer, scale })) => {
                        let texels = &row.texels[layer].channels[c][block.clone()];
                        points.zip(texels).for_each(|((sum, weight), texel)| {
                            *sum += weight * MaterialTexture::light(scale[c], *texel);
                        });
                    }
                    (false, None) => points.for_each(|(below, weight)| {
                        *below += weight * (modified(*below, material.colour[c]) - *below);
                    }),
                    (false, Some(MaterialTexture { layer, scale })) => {
                        let texels = &row.texels[layer].channels[c][block.clone()];
                        points.zip(texels).for_each(|((below, weight), texel)| {
                            *below += weight * (modified(*below, MaterialTexture::light(scale[c], *texel)) - *below);
                        });
                    }
                }
            }
        }
    }
}

/// Height blending of the weights along a row: the highest of the types' reliefs, each raised by its weight, wins (A.
/// Mishkinis, "Advanced Terrain Texture Splatting", 2013). Types that are not blended by relief have the mean relief.
///
/// All points of a block take the same steps, so that the loops are vectorized; where no type is blended by relief, the
/// weights stay as they were.
#[inline(always)]
pub(super) fn blend_by_relief(materials: &[Material], row: &mut PaintRow, count: usize) {
    let PaintRow { weights, texels, present, .. } = row;
    // Types that lie over the others keep their weights.
    let is_base = |i: usize| materials[i].blend.covers() && materials[i].blend != TypeBlend::Cover;
    let lies_over = materials.iter().any(|material| material.blend == TypeBlend::Cover);
    for start in (0..count).step_by(BLOCK) {
        let block = start..count.min(start + BLOCK);
        present.clear();
        present.extend((0..materials.len()).filter(|&i| is_base(i) && any_positive(&weights[i][block.clone()])));
        let by_relief = |i: usize| materials[i].blend == TypeBlend::Height;
        if present.len() < 2 || !present.iter().any(|&i| by_relief(i)) {
            continue;
        }
        let reliefs = |i: usize| match &materials[i] {
            Material { blend: TypeBlend::Height, texture: Some(texture), .. } => {
                &texels[texture.layer].channels[3][block.clone()]
            }
            _ => &[MEAN_RELIEF; BLOCK][..block.len()],
        };
        // The highest of the raised reliefs, and 1 where one of the types present is blended by relief.
        let mut highest = [f32::NEG_INFINITY; BLOCK];
        let (mut joins, mut sums) = ([0.0_f32; BLOCK], [0.0_f32; BLOCK]);
        // The share of the surface that is left to these types.
        let mut left = [if lies_over { 0.0_f32 } else { 1.0 }; BLOCK];
        for &i in &*present {
            if lies_over {
                left.iter_mut().zip(&weights[i][block.clone()]).for_each(|(sum, weight)| *sum += weight);
            }
            let (weights, joining) = (&weights[i][block.clone()], if by_relief(i) { 1.0_f32 } else { 0.0 });
            for (((highest, joins), weight), relief) in highest.iter_mut().zip(&mut joins).zip(weights).zip(reliefs(i))
            {
                // Computed first and selected after, so that no branch prevents vectorization.
                let raised = weight + f32::from(*relief) * (1.0 / ONE);
                let raised = if *weight > 0.0 { raised } else { f32::NEG_INFINITY };
                *highest = if raised > *highest { raised } else { *highest };
                let joining = if *weight > 0.0 { joining } else { 0.0 };
                *joins = if joining > *joins { joining } else { *joins };
            }
        }
        for &i in &*present {
            let points = weights[i][block.clone()].iter_mut().zip(&mut sums).zip(reliefs(i));
            for (((weight, sum), relief), (highest, joins)) in points.zip(highest.iter().zip(&joins)) {
                let raised = *weight + f32::from(*relief) * (1.0 / ONE) - highest + RELIEF_DEPTH;
                let raised = if raised > 0.0 { raised } else { 0.0 };
                let joined = if *weight > 0.0 { raised } else { 0.0 };
                *weight = if *joins > 0.0 { joined } else { *weight };
                *sum += *weight;
            }
        }
        for &i in &*present {
            let points = weights[i][block.clone()].iter_mut().zip(&sums).zip(&joins).zip(&left);
            for (((weight, sum), joins), left) in points {
                *weight = if *joins > 0.0 { *weight / sum * left } else { *weight };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Grid, Heightfield};
    use crate::image::{luminance, srgb_from_linear};
    use crate::parameters::TextureName;
    use crate::progress::Progress;
    use crate::texture::paint::{PaintOnce, paint_once};
    use crate::texture::testing::{WORLD, board, metres, terrain_type, textured};

    /// Level terrain in metres painted with some types, in linear light.
    fn colours(types: Vec<TerrainType>, inputs: &Inputs, size: [usize; 2]) -> Vec<[f32; 3]> {
        let terrain = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let recipe = metres(types);
        let painted = paint_once(&terrain, PaintOnce::new(&recipe, inputs, None), size, &Progress::new());
        let pixels = painted.expect("not cancelled").image.pixels;
        pixels.iter().map(|&[red, green, blue, _]| [red, green, blue].map(linear_from_srgb)).collect()
    }

    fn luminances(types: Vec<TerrainType>, inputs: &Inputs, size: [usize; 2]) -> Vec<f32> {
        colours(types, inputs, size).into_iter().map(luminance).collect()
    }

    #[test]
    fn types_multiply_and_overlay_the_colour_below() {
        let grey = terrain_type("grey", [188; 3], [0.0, 0.0]);
        let dark = |blend| TerrainType { blend, ..terrain_type("dark", [137; 3], [0.0, 0.0]) };
        let blended =
            |blend| srgb_from_linear(colours(vec![grey.clone(), dark(blend)], &Inputs::default(), [1, 1])[0][0]);
        // 188 is 0.503 and 137 is 0.250 in linear light: their product is 0.126, and 1 − 2·(1 − 0.503)·(1 − 0.25) =
        // 0.254.
        assert_eq!(blended(TypeBlend::Multiply), srgb_from_linear(linear_from_srgb(188) * linear_from_srgb(137)));
        assert!((137..=139).contains(&blended(TypeBlend::Overlay)), "{}", blended(TypeBlend::Overlay));
    }

    #[test]
    fn non_square_textures_keep_their_aspect_ratio() {
        let size = 512;
        let bright: Vec<bool> = luminances(vec![textured("board", 160.0)], &board(32), [size, size])
            .into_iter()
            .map(|luminance| luminance > 0.2)
            .collect();
        // Squares stay square: there are as many of them eastward as southward.
        let changes = |step: usize| bright.iter().zip(&bright[step..]).filter(|(a, b)| a != b).count() as f64;
        let [eastward, southward] = [changes(1), changes(size)];
        assert!((eastward / southward - 1.0).abs() < 0.2, "{eastward} eastward, {southward} southward");
    }

    #[test]
    fn non_square_pixels_blur_by_their_longer_side() {
        let contrast = |size| {
            let found = luminances(vec![textured("board", 64.0)], &board(64), size);
            // Between neighbouring rows and columns: brightness also varies over hundreds of metres.
            let ratio = |step: usize| {
                let pairs = found.iter().zip(&found[step..]);
                pairs.map(|(a, b)| (a / b).max(b / a)).fold(0.0, f32::max)
            };
            ratio(1).max(ratio(size[0]))
        };
        // Pixels of 1 m show squares of 8 m, pixels that are 16 m long do not.
        assert!(contrast([640, 640]) > 10.0, "{}", contrast([640, 640]));
        for size in [[640, 40], [40, 640]] {
            assert!(contrast(size) < 6.0, "{}", contrast(size));
        }
    }

    #[test]
    fn a_texture_keeps_its_detail_and_takes_on_its_tint() {
        let tiled = TerrainType { tint: 1.0, ..terrain_type("tiled", [120, 90, 60], [0.0, 0.0]) };
        let tiled = TerrainType { texture: Some(TextureName("board".into())), repeat_m: 64.0, ..tiled };
        let inputs = board(64);
        let mean = |terrain_type: &TerrainType, size| {
            let colours = colours(vec![terrain_type.clone()], &inputs, size);
            let mean = |c: usize| colours.iter().map(|colour| colour[c]).sum::<f32>() / colours.len() as f32;
            ([mean(0), mean(1), mean(2)], colours.iter().any(|colour| *colour != colours[0]))
        };
        for size in [[512, 512], [64, 64]] {
            let (found, varied) = mean(&tiled, size);
            let expected = [120, 90, 60].map(linear_from_srgb);
            assert!(varied);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 0.08, "{found}, not {expected} at {size:?}");
            }
        }
        let (own, _) = mean(&TerrainType { tint: 0.0, ..tiled }, [512, 512]);
        let swatch = inputs.swatch(&TextureName("board".into())).expect("there").mean();
        assert!(own.iter().zip(swatch).all(|(found, expected)| (found / expected - 1.0).abs() < 0.08), "{own:?}");
    }
}
