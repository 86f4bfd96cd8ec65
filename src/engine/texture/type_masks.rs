//! The masks of terrain types on one terrain.

use std::sync::Arc;

use rayon::prelude::*;

use super::recipe::{TerrainType, TextureRecipe};
use crate::heightfield::Heightfield;
use crate::inputs::Inputs;
use crate::mask::{DistantTerrain, EvaluatedMasks, Mask, MaskReferences, MaskRow, MaskSource, NamedMasks};
use crate::operations::EvalContext;
use crate::parameters::List;
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;

/// The step seed of the random numbers of masks of terrain types. Steps count theirs from 0.
const SEED: u32 = u32::MAX;

/// What masks of terrain types depend on besides themselves and the terrain.
#[derive(Clone, Debug)]
pub struct MaskScope<'a> {
    /// What they refer to.
    pub references: MaskReferences<'a>,
    /// The recipe's seed.
    pub seed: u32,
    /// The images that masks name.
    pub inputs: &'a Inputs,
    /// What is known of the rest of the terrain. Without it, the terrain must be complete.
    pub distant: Option<DistantTerrain<'a>>,
}

impl<'a> MaskScope<'a> {
    /// For types whose masks refer to no named masks and to no random numbers.
    pub fn of_inputs(inputs: &'a Inputs) -> Self {
        Self { references: MaskReferences::none(), seed: 0, inputs, distant: None }
    }
}

/// The weights of the active types' masks, from 0 to 1, on the terrain's grid. `None` for a type without a mask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeMasks(Vec<Option<Arc<Heightfield>>>);

impl TypeMasks {
    /// Evaluates the masks of the active types for a finished terrain.
    pub fn of(
        terrain: &Heightfield,
        recipe: &TextureRecipe,
        scope: &MaskScope,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        if recipe.active().all(|terrain_type| terrain_type.mask.is_empty()) {
            return Ok(Self::default());
        }
        let of_type = |terrain_type: &TerrainType| match terrain_type.mask.as_slice() {
            [] => Ok(None),
            mask => mask_weights(terrain, mask, scope, progress).map(Arc::new).map(Some),
        };
        recipe.active().map(of_type).collect::<Result<_, _>>().map(Self)
    }

    /// The mask of an active type.
    pub(super) fn get(&self, active_index: usize) -> Option<&Heightfield> {
        self.0.get(active_index)?.as_deref()
    }

    /// Whether no type has a mask.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The maps that the masks of the active types take, and the most that they take while they are evaluated, given whether
    /// drainage areas are known.
    pub fn map_counts(recipe: &TextureRecipe, named: &NamedMasks, knows_areas: bool) -> [f64; 2] {
        let masks = recipe.active().map(|terrain_type| &terrain_type.mask).filter(|mask| !mask.is_empty());
        let of_name = |mask: &Mask| named.get(&mask.name).map_or(&[][..], |masks| &masks[..]);
        let of_source = |mask: &Mask| match mask.source {
            MaskSource::Rivers | MaskSource::Wetness if knows_areas => 0.0,
            _ => mask.peak_maps(),
        };
        let peak = |masks: &List<Mask>| {
            masks.iter().map(|mask| of_source(mask) + of_name(mask).iter().map(of_source).sum::<f64>()).sum()
        };
        let returned = masks.clone().map(|_| 1.0).sum::<f64>();
        [returned, returned + masks.map(peak).fold(0.0, f64::max)]
    }
}

/// The weights of a mask at every sample of a finished terrain, from 0 to 1.
pub fn mask_weights(
    terrain: &Heightfield,
    mask: &[Mask],
    MaskScope { references, seed, inputs, distant }: &MaskScope,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let context = EvalContext {
        below: Some(terrain),
        stream: Stream::new(*seed, SEED),
        ..EvalContext::new(grid, inputs, progress)
    };
    let masks = EvaluatedMasks::new(mask, references, *distant, &context)?;
    let mut weights = Heightfield::flat(grid);
    let rows = weights.heights_mut().par_chunks_mut(grid.width()).enumerate();
    rows.try_for_each_init(
        || MaskRow::new(grid.width()),
        |mask_row, (r, row)| {
            masks.fill(r, mask_row);
            row.copy_from_slice(mask_row.weights());
            progress.check()
        },
    )?;
    Ok(weights)
}

/// The masks of the types of one terrain, evaluated again only if one of them has changed.
#[derive(Clone, Debug, Default)]
pub(super) struct TypeMaskCache {
    known: Option<KnownMasks>,
}

/// Evaluated masks and what they were evaluated from.
#[derive(Clone, Debug)]
struct KnownMasks {
    masks: Vec<List<Mask>>,
    named: NamedMasks,
    seed: u32,
    inputs: Inputs,
    evaluated: TypeMasks,
}

impl TypeMaskCache {
    /// The masks of the active types. All calls must be for the same terrain, `distant` too.
    pub(super) fn compute(
        &mut self,
        terrain: &Heightfield,
        recipe: &TextureRecipe,
        scope: &MaskScope,
        progress: &Progress,
    ) -> Result<TypeMasks, Cancelled> {
        let masks: Vec<List<Mask>> = recipe.active().map(|terrain_type| terrain_type.mask.clone()).collect();
        let is_same = |known: &&KnownMasks| {
            known.masks == masks
                && known.named == *scope.references.named
                && known.seed == scope.seed
                && known.inputs.same_rasters(scope.inputs)
        };
        if let Some(known) = self.known.as_ref().filter(is_same) {
            return Ok(known.evaluated.clone());
        }
        let evaluated = TypeMasks::of(terrain, recipe, scope, progress)?;
        let (named, inputs) = (scope.references.named.clone(), scope.inputs.clone());
        self.known = Some(KnownMasks { masks, named, seed: scope.seed, inputs, evaluated: evaluated.clone() });
        Ok(evaluated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Grid;
    use crate::mask::{MaskSource, PaintedStroke};
    use crate::parameters::{Band, Point};
    use crate::texture::paint::{PaintOnce, paint_once};
    use crate::texture::testing::{WORLD, metres, terrain_type};

    /// Snow that is painted west of the middle, over ground that is everywhere.
    fn painted_snow(snow: TerrainType) -> TextureRecipe {
        let middle = WORLD.depth_m / 2.0;
        let points_m = vec![Point { x_m: 0.0, z_m: middle }].into();
        let radius_m = WORLD.width_m / 2.0;
        let stroke = PaintedStroke { points_m, radius_m, hardness: 1.0, strength: 1.0, ..Default::default() };
        let mask = Mask { source: MaskSource::Painted, strokes: vec![stroke].into(), ..Default::default() };
        let snow = TerrainType { mask: vec![mask].into(), ..snow };
        metres(vec![snow, terrain_type("ground", [0, 255, 0], [0.0, 100.0])])
    }

    fn middle_row(recipe: &TextureRecipe, named: &NamedMasks) -> Vec<[u8; 4]> {
        let terrain = Heightfield::flat(Grid::new(WORLD, 65, 65));
        let inputs = Inputs::default();
        let references = MaskReferences { named, ..MaskReferences::none() };
        let scope = MaskScope { references, seed: 1, inputs: &inputs, distant: None };
        let order = PaintOnce { recipe, scope, fixed_range_m: Some(Band { min: 0.0, max: 100.0 }), light: None };
        let painted = paint_once(&terrain, order, [64, 64], &Progress::new()).expect("not cancelled");
        painted.image.pixels[32 * 64..33 * 64].to_vec()
    }

    #[test]
    fn a_type_appears_where_its_mask_is_painted() {
        let snow = terrain_type("snow", [255, 0, 0], [0.0, 100.0]);
        let row = middle_row(&painted_snow(snow.clone()), &NamedMasks::new());
        // Half the weight each: (½)^(1/2.2) in sRGB.
        assert!(row[..31].iter().all(|pixel| pixel[0] == 188 && pixel[1] == 188), "{row:?}");
        assert!(row[33..].iter().all(|pixel| pixel[..3] == [0, 255, 0]));

        // By name, and where no type covers the terrain, types that a mask keeps out are not the nearest ones.
        let mut recipe = painted_snow(snow);
        let masks = std::mem::take(&mut recipe.types[0].mask);
        let by_name = Mask { source: MaskSource::Named, name: "snow".into(), ..Default::default() };
        recipe.types[0].mask = vec![by_name].into();
        recipe.types[1].elevation = Band { min: 50.0, max: 100.0 };
        recipe.types[1].elevation_release = 0.0;
        let row = middle_row(&recipe, &[("snow".to_string(), masks)].into());
        assert!(row[..31].iter().all(|pixel| pixel[..3] == [255, 0, 0]), "{row:?}");
        assert!(row[33..].iter().all(|pixel| pixel[..3] == [0, 255, 0]));
    }

    #[test]
    fn unchanged_masks_are_not_evaluated_again() {
        let terrain = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let (inputs, named) = (Inputs::default(), NamedMasks::new());
        let mut recipe = painted_snow(terrain_type("snow", [255, 0, 0], [0.0, 100.0]));
        let mut cache = TypeMaskCache::default();
        let mut evaluated = |recipe: &TextureRecipe, seed: u32| {
            let scope = &MaskScope { seed, ..MaskScope::of_inputs(&inputs) };
            let masks = cache.compute(&terrain, recipe, scope, &Progress::new()).expect("not cancelled");
            assert_eq!(Ok(&masks), TypeMasks::of(&terrain, recipe, scope, &Progress::new()).as_ref());
            masks
        };
        let is_same = |a: &TypeMasks, b: &TypeMasks| a.get(0).zip(b.get(0)).is_some_and(|(a, b)| std::ptr::eq(a, b));
        let first = evaluated(&recipe, 1);
        recipe.types[0].elevation.max = 7.0;
        assert!(is_same(&evaluated(&recipe, 1), &first));
        let reseeded = evaluated(&recipe, 2);
        assert!(!is_same(&reseeded, &first));
        recipe.types[0].mask[0].invert = true;
        assert!(!is_same(&evaluated(&recipe, 2), &reseeded));
        recipe.types[0].mask = List::default();
        assert!(evaluated(&recipe, 2).is_empty());
        assert_eq!(TypeMasks::map_counts(&recipe, &named, false), [0.0, 0.0]);
    }
}
