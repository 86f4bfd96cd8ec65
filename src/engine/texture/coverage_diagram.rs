//! The weights of the terrain types over elevation and slope, for the diagram in the editor.

use super::recipe::TextureRecipe;
use super::type_weights::{SurfaceRow, TypeWeights};
use crate::image::{linear_from_srgb, srgb_from_linear};
use crate::parameters::Band;

/// The weights of the active types by elevation and slope alone: humidity, shade and skew are ignored, and types with a
/// mask, which appear only in some places, are left out.
#[derive(Clone, Debug)]
pub struct CoverageDiagram {
    types: TypeWeights,
    /// Whether each active type has a mask.
    masked: Vec<bool>,
    /// The colour of each active type in linear light.
    colours: Vec<[f32; 3]>,
}

impl CoverageDiagram {
    /// The diagram of the active types of a recipe over a range of heights.
    pub fn new(recipe: &TextureRecipe, height_range_m: Band) -> Self {
        let types = TypeWeights::new(recipe, height_range_m).of_elevation_and_slope();
        Self {
            types,
            masked: recipe.active().map(|terrain_type| !terrain_type.mask.is_empty()).collect(),
            colours: recipe.active().map(|terrain_type| terrain_type.colour.0.map(linear_from_srgb)).collect(),
        }
    }

    /// Computes the weights along a row of elevations at one slope. The weights of the types that cover the surface sum
    /// to 1 where [`CoverageRow::covered`] is true, and are 0 elsewhere: neither the fallback nor the nearest type
    /// fills in.
    pub fn row(&self, heights_m: &[f32], slope_deg: f64) -> CoverageRow {
        let mut row = SurfaceRow::with_slope(heights_m, slope_deg, self.types.slope_mode);
        let nowhere = |masked: &bool| if *masked { vec![0.0; heights_m.len()] } else { Vec::new() };
        row.masks = self.masked.iter().map(nowhere).collect();
        let (mut weights, mut sums) = (Vec::new(), Vec::new());
        self.types.weigh(&row, &mut weights, &mut sums);
        let covered: Vec<bool> = sums.iter().map(|sum| *sum > 0.0).collect();
        for (weights, _) in weights.iter_mut().zip(&self.types.covers).filter(|(_, covers)| **covers) {
            weights.iter_mut().zip(&covered).filter(|(_, covered)| !**covered).for_each(|(weight, _)| *weight = 0.0);
        }
        CoverageRow { weights, covered }
    }

    /// The sRGB colours of the types that cover the surface along a row of elevations at one slope, mixed as on the
    /// terrain; `None` where no type covers it.
    pub fn colours(&self, heights_m: &[f32], slope_deg: f64) -> Vec<Option<[u8; 3]>> {
        let CoverageRow { weights, covered } = self.row(heights_m, slope_deg);
        let mut sums = vec![[0.0; 3]; heights_m.len()];
        let covering = weights.iter().zip(&self.colours).zip(&self.types.covers).filter(|(_, covers)| **covers);
        for ((weights, colour), _) in covering {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                sum.iter_mut().zip(colour).for_each(|(sum, channel)| *sum += weight * channel);
            }
        }
        sums.iter().zip(covered).map(|(sum, covered)| covered.then(|| sum.map(srgb_from_linear))).collect()
    }
}

/// A row of a [`CoverageDiagram`].
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageRow {
    /// The weights of each active type along the row.
    pub weights: Vec<Vec<f32>>,
    /// Whether some type covers the surface, along the row.
    pub covered: Vec<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::{Mask, MaskSource};
    use crate::parameters::Limits;
    use crate::texture::recipe::{SlopeMode, TerrainType};
    use crate::texture::testing::{limited_type, metres};

    const RANGE: Band = Band { min: 0.0, max: 255.0 };

    #[test]
    fn the_diagram_uses_only_elevation_and_slope_without_a_fallback() {
        let limits = Some(Limits { min: 0.9, max: 1.0, release: 0.0 });
        let low = TerrainType { skew: 50.0, humidity: limits, ..limited_type("low", [0.0, 100.0], [0.0, 30.0]) };
        let all = TerrainType { elevation_release: 0.0, ..limited_type("all", [0.0, 120.0], [0.0, 40.0]) };
        let low = TerrainType { elevation_release: 0.0, slope_release_deg: 10.0, ..low };
        let all = TerrainType { slope_release_deg: 0.0, ..all };
        for mode in [SlopeMode::Degrees, SlopeMode::Classic] {
            let mut recipe = metres(vec![low.clone(), all.clone()]);
            recipe.settings.slope_mode = mode;
            let diagram = CoverageDiagram::new(&recipe, RANGE);
            let found = diagram.row(&[50.0, 110.0, 130.0], 20.0);
            assert_eq!(found.weights, [vec![0.5, 0.0, 0.0], vec![0.5, 1.0, 0.0]], "{mode:?}");
            assert_eq!(found.covered, [true, true, false]);
        }
        // A painted type is only in some places.
        let mask = vec![Mask { source: MaskSource::Painted, ..Mask::default() }].into();
        let snow = TerrainType { mask, ..limited_type("snow", [0.0, 255.0], [0.0, 90.0]) };
        let found = CoverageDiagram::new(&metres(vec![snow, all.clone()]), RANGE).row(&[50.0, 200.0], 20.0);
        assert_eq!((found.weights, found.covered), (vec![vec![0.0, 0.0], vec![1.0, 0.0]], vec![true, false]));
        // Half way through the fade of the one, within the other: ⅓ and ⅔.
        let found = CoverageDiagram::new(&metres(vec![low, all]), RANGE).row(&[50.0], 35.0);
        assert!((found.weights[0][0] - 1.0 / 3.0).abs() < 1e-4 && (found.weights[1][0] - 2.0 / 3.0).abs() < 1e-4);
    }
}
