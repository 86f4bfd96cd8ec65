//! An imported heightmap or image as a step of the stack.

use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::ToFloat;
use crate::heightfield::{Extent, Heightfield};
use crate::inputs::{Raster, SampleScale};
use crate::parameters::{FileName, Spec, choices, parameters};
use crate::progress::Cancelled;
use crate::resample::{Bicubic, Sampling};
use crate::rock::RockEffect;

choices! {
    /// How to fit an image whose proportions differ from those of the map.
    pub enum Fit {
        /// Stretched over the whole map.
        Stretch = "stretch", "Stretch";
        /// As large as fits with its proportions kept. Its border pixels continue over the rest of the map.
        Contain = "contain", "Contain";
        /// Just large enough to cover the map with its proportions kept. The rest is cut off.
        Cover = "cover", "Cover";
    }
}

/// The default height of the largest value of an integer format, metres.
pub(super) const DEFAULT_HIGH_M: f64 = 1000.0;

parameters! {
    /// Uses an imported heightmap or image as terrain, with brightness as height.
    pub struct Heightmap {
        /// File to import. Its contents are stored inside the project.
        file: FileName = FileName::default(), Spec::new("File");
        /// Height of black, the value 0; in files with heights in metres, the new height of the lowest point. Off: 0
        /// for images; files in metres keep theirs.
        low_m: Option<f64> = None,
            Spec::number("Minimum height", Heightmap::HEIGHT_LIMITS_M[0], Heightmap::HEIGHT_LIMITS_M[1]).slider(-500.0, 2000.0).unit("m").none("automatic");
        /// Height of white, the largest value; in files with heights in metres, the new height of the highest point.
        /// Off: 1000 m for images; files in metres keep theirs.
        high_m: Option<f64> = None,
            Spec::number("Maximum height", Heightmap::HEIGHT_LIMITS_M[0], Heightmap::HEIGHT_LIMITS_M[1]).slider(0.0, 5000.0).unit("m").none("automatic");
        /// How to fit an image whose proportions differ from those of the map.
        fit: Fit = Fit::Stretch, Spec::new("Fit");
    }
}

impl Heightmap {
    /// The lowest and the highest height that can be set, metres.
    pub const HEIGHT_LIMITS_M: [f64; 2] = [-20_000.0, 100_000.0];

    /// The offset and the factor that convert a value of the raster to metres.
    fn mapping(&self, raster: &Raster) -> (f64, f64) {
        let (from_low, from_high, low_m, high_m) = match raster.scale {
            SampleScale::Integers { max_value } => {
                (0.0, f64::from(max_value), self.low_m.unwrap_or(0.0), self.high_m.unwrap_or(DEFAULT_HIGH_M))
            }
            SampleScale::Metres => {
                let (low, high) = raster
                    .samples
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &s| (l.min(s.into()), h.max(s.into())));
                (low, high, self.low_m.unwrap_or(low), self.high_m.unwrap_or(high))
            }
        };
        let factor = if from_high > from_low { (high_m - low_m) / (from_high - from_low) } else { 0.0 };
        (low_m - factor * from_low, factor)
    }

    /// Raster columns per metre eastward and rows per metre southward.
    fn samples_per_m(&self, raster: &Raster, extent: Extent) -> [f64; 2] {
        let across = [(raster.width - 1).to_f64() / extent.width_m, (raster.height - 1).to_f64() / extent.depth_m];
        match self.fit {
            Fit::Stretch => across,
            Fit::Contain => [across[0].max(across[1]); 2],
            Fit::Cover => [across[0].min(across[1]); 2],
        }
    }
}

impl Operation for Heightmap {
    const KEY: &'static str = "heightmap";
    const LABEL: &'static str = "Heightmap";
    const WORDS: &'static str = "import image dem lidar file picture";

    fn rock_effect(&self) -> RockEffect {
        RockEffect::InPlace
    }

    fn is_pointwise(&self) -> bool {
        true
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(context.grid);
        let Some(raster) = context.inputs.get(&self.file) else {
            return Ok(terrain);
        };
        let grid = context.grid;
        let extent = grid.extent();
        let (offset, factor) = self.mapping(raster);
        let per_m = self.samples_per_m(raster, extent);
        // The middle of the raster is at the middle of the map.
        let position =
            |m: f64, side_m: f64, per_m: f64, count: usize| (m - 0.5 * side_m) * per_m + 0.5 * (count - 1).to_f64();
        let columns = (0..grid.width()).map(|c| position(grid.x_m(c), extent.width_m, per_m[0], raster.width));
        let rows = (0..grid.height()).map(|r| position(grid.z_m(r), extent.depth_m, per_m[1], raster.height));
        Bicubic::new(&raster.samples, raster.width, Sampling::Image, columns, rows).fill(
            &mut terrain,
            context.progress,
            |value| offset + factor * value,
        )?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::heightfield::Grid;
    use crate::inputs::Inputs;
    use crate::progress::Progress;

    const WORLD: Extent = Extent { width_m: 300.0, depth_m: 200.0 };

    fn raster(scale: SampleScale) -> Raster {
        Raster { width: 4, height: 3, samples: (0..12).map(|i| i as f32).collect(), scale }
    }

    fn terrain(heightmap: &Heightmap, raster: Raster, grid: Grid) -> Heightfield {
        let inputs = Inputs { rasters: [(FileName("a.png".into()), Arc::new(raster))].into(), ..Default::default() };
        let heightmap = Heightmap { file: FileName("a.png".into()), ..heightmap.clone() };
        let progress = Progress::new();
        let context = EvalContext::new(grid, &inputs, &progress);
        heightmap.evaluate(&context, 0, None).expect("not cancelled")
    }

    #[test]
    fn integers_span_the_height_range_and_corners_stay_in_place() {
        let heightmap = Heightmap { low_m: Some(10.0), high_m: Some(120.0), ..Default::default() };
        let terrain = terrain(&heightmap, raster(SampleScale::Integers { max_value: 11.0 }), Grid::new(WORLD, 7, 5));
        let corners = [terrain[(0, 0)], terrain[(6, 0)], terrain[(0, 4)], terrain[(6, 4)]];
        assert_eq!(corners, [10.0, 40.0, 90.0, 120.0]);
        // Away from the border a plane stays a plane between the samples too.
        assert!((terrain[(3, 2)] - 65.0).abs() < 1e-4);
    }

    #[test]
    fn metres_are_kept_unless_a_range_is_given() {
        let metres = raster(SampleScale::Metres);
        let kept = terrain(&Heightmap::default(), metres.clone(), Grid::new(WORLD, 4, 3));
        assert_eq!(kept.heights(), metres.samples.as_slice());
        let mapped = Heightmap { low_m: Some(0.0), high_m: Some(1.0), ..Default::default() };
        assert_eq!(terrain(&mapped, metres, Grid::new(WORLD, 4, 3)).min_max(), [0.0, 1.0]);
    }

    #[test]
    fn every_fit_keeps_the_middle_in_place() {
        let wide =
            Raster { width: 5, height: 3, samples: [0.0, 0.0, 9.0, 0.0, 0.0].repeat(3), scale: SampleScale::Metres };
        let square = Extent { width_m: 400.0, depth_m: 400.0 };
        for fit in [Fit::Stretch, Fit::Contain, Fit::Cover] {
            let terrain = terrain(&Heightmap { fit, ..Default::default() }, wide.clone(), Grid::new(square, 9, 9));
            assert_eq!(terrain[(4, 4)], 9.0, "{fit:?}");
            // The ridge is one raster sample wide: 100 m, or 200 m where the raster covers the map at twice the width.
            let next_to_ridge = terrain[(6, 4)];
            assert_eq!(next_to_ridge == 0.0, fit != Fit::Cover, "{fit:?}: {next_to_ridge}");
        }
    }

    #[test]
    fn without_a_file_the_terrain_is_flat() {
        let grid = Grid::new(WORLD, 4, 3);
        let progress = Progress::new();
        let inputs = Inputs::default();
        let context = EvalContext::new(grid, &inputs, &progress);
        assert_eq!(Heightmap::default().evaluate(&context, 0, None), Ok(Heightfield::flat(grid)));
    }
}
