//! Masks: the weight of a step, from 0 to 1, at every sample.

use super::flow::{Outlets, Water};
use super::heightfield::{Grid, Heightfield, bilinear};
use super::inputs::{Inputs, Raster, SampleScale};
use super::parameters::{Band, FileName, Spec, choices, parameters};
use super::progress::{Cancelled, Progress};
use super::surface;
use super::texture::band_weight;

use crate::engine::cast::{ToFloat, ToInteger};

choices! {
    /// The property that a mask depends on.
    pub enum MaskSource {
        /// The height of the terrain below the step.
        Elevation = "elevation", "Elevation";
        /// The slope of the terrain below the step.
        Slope = "slope", "Slope";
        /// The distance from the border of the world: from 0 at the border to 1 at a given distance.
        Border = "border", "Border";
        /// The brightness of an imported image, stretched over the world.
        Image = "image", "Image";
        /// The drainage area on the terrain below the step: its rivers.
        Rivers = "rivers", "Rivers";
        /// The lakes that fill the depressions of the terrain below the step.
        Lakes = "lakes", "Lakes";
        /// The wetness of the terrain below the step, from its drainage area and slope.
        Wetness = "wetness", "Wetness";
        /// The valley floors of the terrain below the step, on which rivers deposit sediment.
        Sediment = "sediment", "Sediment";
    }
}

parameters! {
    /// Where a step has an effect.
    pub struct Mask {
        /// The property that the mask depends on.
        source: MaskSource = MaskSource::Elevation, Spec::new("Based on");
        /// The heights of the terrain below at which the step has its full effect; by default all.
        elevation_m: Band = Band { min: -100_000.0, max: 100_000.0 },
            Spec::number("Elevation", -100_000.0, 100_000.0).slider(-1000.0, 3000.0).unit("m")
                .when("source", &["elevation"]);
        /// The height difference over which the effect fades out above and below.
        feather_m: f64 = 100.0,
            Spec::number("Feather", 0.0, 100_000.0).slider(0.0, 1000.0).unit("m").when("source", &["elevation"]);
        /// The slopes of the terrain below on which the step has its full effect.
        slope_deg: Band = Band { min: 0.0, max: 30.0 },
            Spec::number("Slope", 0.0, 90.0).unit("°").when("source", &["slope"]);
        /// The angle over which the effect fades out on gentler and steeper slopes.
        feather_deg: f64 = 10.0,
            Spec::number("Feather", 0.0, 90.0).slider(0.0, 45.0).unit("°").when("source", &["slope"]);
        /// The distance from the border at which the effect is full.
        border_m: f64 = 500.0,
            Spec::number("Border", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic()
                .when("source", &["border"]);
        /// The image: the effect is full where it is white, and none where it is black.
        file: FileName = FileName::default(), Spec::new("Image").when("source", &["image"]);
        /// The drainage area at which the effect is full; it fades out down to a quarter of that.
        drained_km2: f64 = 1.0,
            Spec::number("Drainage area", 1e-6, 1e6).slider(0.01, 100.0).unit("km²").logarithmic().when("source", &["rivers"]);
        /// The depth of a lake at which the effect is full; it fades out to the shore.
        lake_m: f64 = 1.0,
            Spec::number("Depth", 0.001, 10_000.0).slider(0.1, 50.0).unit("m").logarithmic().when("source", &["lakes"]);
        /// The topographic wetness index at which the effect is full: crests have 3 or 4, wet valleys 12 and more.
        wetness: Band = Band { min: 9.0, max: 40.0 },
            Spec::number("Wetness", -10.0, 40.0).slider(0.0, 20.0).when("source", &["wetness"]);
        /// The difference in the index over which the effect fades out to drier and wetter terrain.
        feather_wetness: f64 = 2.0,
            Spec::number("Feather", 0.0, 40.0).slider(0.0, 8.0).when("source", &["wetness"]);
        /// The valley floor index at which the effect is full: slopes have less than 0.5, small valley floors 1 or 2,
        /// wide plains up to 4.
        sediment: Band = Band { min: 1.5, max: 4.0 },
            Spec::number("Sediment", 0.0, 4.0).when("source", &["sediment"]);
        /// The difference in the index over which the effect fades out to less and more sediment.
        feather_sediment: f64 = 0.5,
            Spec::number("Feather", 0.0, 4.0).slider(0.0, 2.0).when("source", &["sediment"]);
        /// Inverts the mask.
        invert: bool = false, Spec::new("Invert");
    }
}

/// A mask evaluated for one terrain.
#[derive(Clone, Debug)]
pub struct EvaluatedMask<'a> {
    mask: &'a Mask,
    grid: Grid,
    below: Option<&'a Heightfield>,
    raster: Option<&'a Raster>,
    /// The water on the terrain below, if the mask depends on it and the terrain is not flat.
    water: Option<Water>,
    /// The valley floor index of the terrain below, if the mask depends on it.
    sediment: Option<Heightfield>,
}

impl Mask {
    /// Whether the weight of a sample depends only on its position and height, so that parts of a grid can be evaluated
    /// independently.
    pub fn is_pointwise(&self) -> bool {
        match self.source {
            MaskSource::Elevation | MaskSource::Border | MaskSource::Image => true,
            MaskSource::Slope | MaskSource::Rivers | MaskSource::Lakes | MaskSource::Wetness | MaskSource::Sediment => {
                false
            }
        }
    }

    /// Whether the mask depends on the water on the terrain below.
    fn needs_water(&self) -> bool {
        matches!(self.source, MaskSource::Rivers | MaskSource::Lakes | MaskSource::Wetness)
    }

    /// The peak memory of the mask while its step is blended, in maps of f32.
    pub fn peak_maps(&self) -> f64 {
        match self.source {
            MaskSource::Elevation | MaskSource::Slope | MaskSource::Border | MaskSource::Image => 0.0,
            MaskSource::Rivers | MaskSource::Lakes | MaskSource::Wetness => Water::MAPS,
            MaskSource::Sediment => 1.0,
        }
    }

    /// Evaluates the mask for the terrain below a step; `None` is flat terrain at height 0. An image mask without its
    /// image has no effect.
    pub fn over<'a>(
        &'a self,
        grid: Grid,
        below: Option<&'a Heightfield>,
        inputs: &'a Inputs,
        progress: &Progress,
    ) -> Result<EvaluatedMask<'a>, Cancelled> {
        let with_water = below.filter(|_| self.needs_water());
        let water = with_water.map(|terrain| Water::on(terrain, Outlets::Border, None, progress)).transpose()?;
        let with_sediment = below.filter(|_| self.source == MaskSource::Sediment);
        let sediment = with_sediment.map(|terrain| surface::sediment(terrain, progress)).transpose()?;
        Ok(EvaluatedMask { mask: self, grid, below, raster: inputs.get(&self.file), water, sediment })
    }
}

impl EvaluatedMask<'_> {
    /// The weights of row `r`, west to east.
    pub fn row(&self, r: usize, weights: &mut [f32]) {
        for (c, weight) in weights.iter_mut().enumerate() {
            let found = self.weight(c, r);
            *weight = if self.mask.invert { 1.0 - found } else { found };
        }
    }

    fn weight(&self, c: usize, r: usize) -> f32 {
        let mask = self.mask;
        let limits = |band: Band| [band.min.to_f32(), band.max.to_f32()];
        match mask.source {
            MaskSource::Elevation => {
                let height_m = self.below.map_or(0.0, |terrain| terrain[(c, r)]);
                band_weight(height_m, limits(mask.elevation_m), mask.feather_m.to_f32())
            }
            MaskSource::Slope => {
                let slope_deg = self.below.map_or(0.0, |terrain| {
                    let [east, south] = terrain.gradient(c, r);
                    libm::atanf((east * east + south * south).sqrt()).to_degrees()
                });
                band_weight(slope_deg, limits(mask.slope_deg), mask.feather_deg.to_f32())
            }
            MaskSource::Border => {
                let (x_m, z_m, extent) = (self.grid.x_m(c), self.grid.z_m(r), self.grid.extent());
                let from_border_m = x_m.min(extent.width_m - x_m).min(z_m).min(extent.depth_m - z_m);
                if mask.border_m > 0.0 { (from_border_m / mask.border_m).clamp(0.0, 1.0).to_f32() } else { 1.0 }
            }
            MaskSource::Image => self.raster.map_or(1.0, |raster| brightness(raster, &self.grid, c, r)),
            MaskSource::Sediment => {
                // Flat terrain is a plain.
                let index = self.sediment.as_ref().map_or(surface::MAX_SEDIMENT.to_f32(), |sediment| sediment[(c, r)]);
                band_weight(index, limits(mask.sediment), mask.feather_sediment.to_f32())
            }
            MaskSource::Rivers | MaskSource::Lakes | MaskSource::Wetness => {
                self.below.zip(self.water.as_ref()).map_or(0.0, |(terrain, water)| self.by_water(terrain, water, c, r))
            }
        }
    }

    fn by_water(&self, terrain: &Heightfield, water: &Water, c: usize, r: usize) -> f32 {
        let mask = self.mask;
        let sample = r * self.grid.width() + c;
        match mask.source {
            MaskSource::Rivers => {
                let quarter_m2 = 0.25e6 * mask.drained_km2;
                (libm::log(f64::from(water.areas_m2[sample]) / quarter_m2) / libm::log(4.0)).clamp(0.0, 1.0).to_f32()
            }
            MaskSource::Lakes => (water.lakes_m[sample] / mask.lake_m.to_f32()).clamp(0.0, 1.0),
            _ => {
                let Band { min, max } = mask.wetness;
                let wetness = water.wetness(terrain, c, r);
                band_weight(wetness, [min.to_f32(), max.to_f32()], mask.feather_wetness.to_f32())
            }
        }
    }
}

/// The brightness of an image stretched over the world, from 0 to 1, with bilinear interpolation.
fn brightness(raster: &Raster, grid: &Grid, c: usize, r: usize) -> f32 {
    let max_value = match raster.scale {
        SampleScale::Integers { max_value } => max_value,
        // White is 1 in images with floating-point samples.
        SampleScale::Metres => 1.0,
    };
    let along = |share: f64, pixels: usize| {
        let position = share * (pixels - 1).to_f64();
        let first = position.to_usize().min(pixels - 1);
        (first, (first + 1).min(pixels - 1), (position - first.to_f64()).to_f32())
    };
    let [eastward, southward] = grid.shares(c, r);
    let (west, east, u) = along(eastward, raster.width);
    let (north, south, v) = along(southward, raster.height);
    let at = |column: usize, row: usize| raster.samples[row * raster.width + column];
    let value = bilinear([at(west, north), at(east, north), at(west, south), at(east, south)], u, v);
    (value / max_value).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::heightfield::Extent;

    fn grid() -> Grid {
        Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, 5, 3)
    }

    #[track_caller]
    fn check(mask: &Mask, below: Option<&Heightfield>, inputs: &Inputs, r: usize, expected: [f32; 5]) {
        let mut weights = [0.0; 5];
        let over = |mask: &Mask, weights: &mut [f32]| {
            mask.over(grid(), below, inputs, &Progress::new()).expect("not cancelled").row(r, weights);
        };
        over(mask, &mut weights);
        assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{weights:?}, not {expected:?}");
        let inverted = Mask { invert: true, ..mask.clone() };
        over(&inverted, &mut weights);
        assert!(weights.iter().zip(expected).all(|(a, b)| (1.0 - a - b).abs() < 1e-5));
    }

    #[test]
    fn elevation_and_slope_masks_depend_on_the_terrain_below() {
        let none = Inputs::default();
        let terrain = Heightfield::from_fn(grid(), |c, _| c as f32 * 100.0);
        let band = Band { min: 200.0, max: 300.0 };
        let by_height = Mask { elevation_m: band, feather_m: 200.0, ..Default::default() };
        check(&by_height, Some(&terrain), &none, 1, [0.0, 0.5, 1.0, 1.0, 0.5]);
        check(&by_height, None, &none, 1, [0.0; 5]);
        // A rise of 100 m over 100 m is 45°.
        let limits = Band { min: 0.0, max: 40.0 };
        let by_slope = Mask { source: MaskSource::Slope, slope_deg: limits, feather_deg: 10.0, ..Default::default() };
        check(&by_slope, Some(&terrain), &none, 1, [0.5; 5]);
        check(&by_slope, None, &none, 1, [1.0; 5]);
    }

    #[test]
    fn border_masks_depend_on_the_distance_in_metres() {
        let border = Mask { source: MaskSource::Border, border_m: 200.0, ..Default::default() };
        check(&border, None, &Inputs::default(), 0, [0.0; 5]);
        check(&border, None, &Inputs::default(), 1, [0.0, 0.5, 0.5, 0.5, 0.0]);
    }

    #[test]
    fn water_masks_depend_on_rivers_lakes_and_wetness() {
        let none = Inputs::default();
        // Cells of 100 m × 100 m that fall 1 in 2 to the east. The border drains itself; along the middle row the
        // drainage areas are 1 to 3 cells, 0.01 to 0.03 km².
        let terrain = Heightfield::from_fn(grid(), |c, _| -50.0 * c as f32);
        let rivers = Mask { source: MaskSource::Rivers, drained_km2: 0.02, ..Default::default() };
        let half = 0.5;
        check(&rivers, Some(&terrain), &none, 1, [half, half, 1.0, 1.0, 1.0]);
        check(&rivers, None, &none, 1, [0.0; 5]);
        // ln(a/tan β) with a = 10,000 m²/100 m and tan β = 0.5.
        let wet = f64::from(libm::logf(200.0));
        let band = Band { min: wet + 0.1, max: 40.0 };
        let wetness = Mask { source: MaskSource::Wetness, wetness: band, feather_wetness: 0.2, ..Default::default() };
        check(&wetness, Some(&terrain), &none, 1, [half, half, 1.0, 1.0, 1.0]);
        // A pit of 2 m in level terrain.
        let pit = Heightfield::from_fn(grid(), |c, r| if (c, r) == (2, 1) { -2.0 } else { 0.0 });
        let lakes = Mask { source: MaskSource::Lakes, lake_m: 4.0, ..Default::default() };
        check(&lakes, Some(&pit), &none, 1, [0.0, 0.0, half, 0.0, 0.0]);
    }

    #[test]
    fn sediment_masks_depend_on_valley_floors() {
        let mask = Mask { source: MaskSource::Sediment, ..Default::default() };
        let weights = |below: Option<&Heightfield>, grid: Grid| {
            let (inputs, mut weights) = (Inputs::default(), vec![0.0; grid.width()]);
            let over = mask.over(grid, below, &inputs, &Progress::new()).expect("not cancelled");
            over.row(grid.height() / 2, &mut weights);
            weights
        };
        assert_eq!(weights(None, grid()), [1.0; 5], "flat terrain is a plain");
        // A plain in the west, a mountainside in the east.
        let wide = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 129, 129);
        let terrain = Heightfield::from_fn(wide, |c, _| (c as f32 - 64.0).max(0.0) * 20.0);
        let weights = weights(Some(&terrain), wide);
        assert!(weights[..50].iter().all(|weight| *weight == 1.0) && weights[75..].iter().all(|weight| *weight == 0.0));
    }

    #[test]
    fn image_masks_depend_on_brightness() {
        let name = FileName("m.png".into());
        let scale = SampleScale::Integers { max_value: 255.0 };
        let raster = Raster { width: 3, height: 2, samples: vec![0.0, 255.0, 0.0, 255.0, 255.0, 255.0], scale };
        let inputs = Inputs { rasters: [(name.clone(), Arc::new(raster))].into(), ..Default::default() };
        let mask = Mask { source: MaskSource::Image, file: name, ..Default::default() };
        check(&mask, None, &inputs, 0, [0.0, 0.5, 1.0, 0.5, 0.0]);
        check(&mask, None, &inputs, 2, [1.0; 5]);
        check(&mask, None, &Inputs::default(), 0, [1.0; 5]);
    }
}
