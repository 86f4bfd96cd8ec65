//! Weight maps of the terrain types, for game engines that blend the materials.

use rayon::prelude::*;

use super::layer::TexelRow;
use super::painter::{PaintInput, Painter};
use super::points::Points;
use super::recipe::TerrainType;
use super::row::PaintRow;
use crate::cast::ToInteger;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// The weights of the active terrain types at every point.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightMaps {
    /// The number of points from west to east and from north to south.
    pub size: [usize; 2],
    /// A map for each active type, in their order. The weights of the types that cover the surface sum to the full
    /// weight at every point.
    pub maps: Vec<Vec<u16>>,
}

/// Computes the weight maps of the active types; `full` is the value for a weight of 1.
pub fn weight_maps(input: PaintInput, points: Points, full: u16, progress: &Progress) -> Result<WeightMaps, Cancelled> {
    let mut painter = Painter::new(input, points, progress)?;
    painter.prepare_for_weights(progress)?;
    let [width, height] = painter.sampler.size;
    let covers: Vec<bool> = input.recipe.active().map(TerrainType::covers).collect();
    let counter = progress.counter(height);
    let rows: Vec<Vec<u16>> = (0..height)
        .into_par_iter()
        .map_init(PaintRow::default, |row, j| {
            row.texels.iter_mut().for_each(TexelRow::clear);
            simd(
                #[inline(always)]
                || painter.compute_weights(j, row),
            );
            let mut values = vec![0; covers.len() * width];
            let mut remainders = Vec::with_capacity(covers.len());
            for i in 0..width {
                let set = |index, value| values[index * width + i] = value;
                quantise(|index| row.weights[index][i], &covers, full, &mut remainders, set);
            }
            counter.add_one().map(|()| values)
        })
        .collect::<Result<_, _>>()?;
    let map = |index: usize| {
        let mut map = Vec::with_capacity(width * height);
        for row in &rows {
            map.extend_from_slice(&row[index * width..][..width]);
            progress.check()?;
        }
        Ok(map)
    };
    let maps = (0..covers.len()).into_par_iter().map(map).collect::<Result<_, _>>()?;
    Ok(WeightMaps { size: [width, height], maps })
}

/// Quantises weights that sum to 1 over the covering types so that their values sum to `full`: each is rounded down,
/// and the remaining units go to those with the largest remainders. The weights of the other types are rounded
/// independently. `remainders` is a buffer, reused from point to point.
fn quantise(
    weight: impl Fn(usize) -> f32,
    covers: &[bool],
    full: u16,
    remainders: &mut Vec<(f32, usize)>,
    mut set: impl FnMut(usize, u16),
) {
    let exact = |index: usize| weight(index) * f32::from(full);
    let mut rest = i32::from(full);
    remainders.clear();
    for (index, covers) in covers.iter().enumerate() {
        if *covers {
            let value = exact(index).to_u16().min(full);
            rest -= i32::from(value);
            remainders.push((exact(index) - f32::from(value), index));
        } else {
            set(index, (exact(index) + 0.5).to_u16());
        }
    }
    remainders.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (rank, (_, index)) in remainders.iter().enumerate() {
        let value = exact(*index).to_u16().min(full);
        // The rest is less than one for each type.
        let more = if rank.to_i32() < rest { 1 } else { 0 };
        set(*index, value + more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Grid, Heightfield};
    use crate::image::linear_from_srgb;
    use crate::inputs::Inputs;
    use crate::parameters::TextureName;
    use crate::texture::paint::{PaintOnce, paint_once};
    use crate::texture::recipe::TypeBlend;
    use crate::texture::testing::{WORLD, chessboard, metres, terrain_type, textured, weights};

    #[test]
    fn values_sum_to_the_full_weight() {
        let mut rng = crate::random::Stream::new(4, 4).at(0);
        for _ in 0..2000 {
            let drawn: Vec<f32> = (0..7).map(|_| rng.unit() as f32 * f32::from(u8::from(rng.chance(0.7)))).collect();
            let sum: f32 = drawn.iter().sum();
            if sum > 0.0 {
                for full in [255, 65_535] {
                    let mut total = 0;
                    let mut given = [0; 7];
                    quantise(
                        |index| drawn[index] / sum,
                        &[true; 7],
                        full,
                        &mut Vec::new(),
                        |index, value| {
                            total += u32::from(value);
                            given[index] = value;
                        },
                    );
                    assert_eq!(total, u32::from(full));
                    let off = (0..7).map(|at| (f32::from(given[at]) - drawn[at] / sum * f32::from(full)).abs());
                    assert!(off.fold(0.0, f32::max) < 1.02);
                }
            }
        }
    }

    #[test]
    fn types_that_modify_the_colour_take_no_share() {
        let terrain = Heightfield::flat(Grid::new(WORLD, 5, 5));
        let maps = |blend| {
            let dark = TerrainType { blend, ..terrain_type("dark", [137; 3], [0.0, 0.0]) };
            let recipe = metres(vec![terrain_type("grey", [188; 3], [0.0, 0.0]), dark]);
            weights(&terrain, &recipe, &Inputs::default(), Points::Samples).maps
        };
        assert_eq!(maps(TypeBlend::Multiply), [[255; 25], [255; 25]]);
        assert_eq!(maps(TypeBlend::Normal), [[128; 25], [127; 25]]);
    }

    #[test]
    fn the_highest_relief_wins() {
        // Luminances of 0.305 and 0.003 are reliefs of 0.99 and 0.01, those of 0.223 and 0.188 are 0.54 and 0.46: the
        // first type takes all of its stones and none of its gaps.
        let names = ["stones", "pebbles"];
        let stones = [[150, 150, 150, 255], [0, 0, 60, 255]];
        let pebbles = [[130, 130, 130, 255], [120, 120, 120, 255]];
        let swatches = names.map(|name| TextureName(name.into())).into_iter();
        let swatches = swatches.zip([stones, pebbles].map(|colours| chessboard(64, colours))).collect();
        let inputs = Inputs { swatches, ..Default::default() };
        let (terrain, size) = (Heightfield::flat(Grid::new(WORLD, 9, 9)), [256, 256]);
        let stones = metres(vec![textured("stones", 320.0)]);
        let stones = paint_once(&terrain, PaintOnce::new(&stones, &inputs, None), size, &Progress::new())
            .expect("not cancelled");
        let types = names.map(|name| TerrainType { blend: TypeBlend::Height, ..textured(name, 320.0) });
        let maps = weights(&terrain, &metres(types.into()), &inputs, Points::Pixels(size)).maps;
        let (mut bright, mut dark) = (0, 0);
        for (&[red, _, blue, _], weight) in stones.image.pixels.iter().zip(&maps[0]) {
            let [red, blue] = [red, blue].map(linear_from_srgb);
            // Macro variation changes the brightness but not the hue: stones are grey, gaps are blue.
            if red / blue > 0.98 {
                assert_eq!(*weight, 255, "a stone of {red}, {blue}");
                bright += 1;
            } else if red / blue < 0.3 {
                assert_eq!(*weight, 0, "a gap of {red}, {blue}");
                dark += 1;
            }
        }
        assert!(bright > 5000 && dark > 5000, "{bright} stones, {dark} gaps");
    }
}
