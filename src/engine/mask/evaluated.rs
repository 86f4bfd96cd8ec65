//! Masks evaluated for one terrain.

use std::borrow::Cow;

use rayon::prelude::*;

use super::painting::{Painting, PaintingRow};
use super::polygon::{Polygon, PolygonRow};
use super::shapes::ShapeMask;
use super::sources::{Combine, Mask, MaskReferences, MaskSource};
use crate::cast::{ToFloat, ToInteger};
use crate::fade::band_weight;
use crate::flow::{Outlets, Water, wetness};
use crate::heightfield::{Grid, Heightfield, bilinear};
use crate::inputs::{Raster, SampleScale};
use crate::operations::EvalContext;
use crate::operations::gaussian_blur::GaussianBlur;
use crate::operations::noise::Fbm;
use crate::parameters::{Band, FileName};
use crate::progress::{Cancelled, Progress};
use crate::reach::Reach;
use crate::strokes::Columns;
use crate::surface;

/// The height difference over which a mask by elevation fades out, unless it has another, metres.
const ELEVATION_FEATHER_M: f64 = 100.0;

/// The sources of a mask, evaluated for one terrain.
pub struct EvaluatedMasks<'a> {
    masks: Vec<EvaluatedMask<'a>>,
    columns: Columns,
    /// Whether a source lacks what it needs. Then the weight is 0 everywhere.
    is_incomplete: bool,
}

/// What masks on a part of a terrain know of the rest. With it, masks on the complete terrain are the same as on its parts.
#[derive(Clone, Copy, Debug)]
pub struct DistantTerrain<'a> {
    /// The complete terrain at a lower resolution.
    pub overview: &'a Heightfield,
    /// The drainage area of each sample, m², if it is known. If not, masks by it need the complete terrain.
    pub areas_m2: Option<&'a [f32]>,
    /// Whether rivers have drained every depression, so that there are no lakes. If not, masks by lakes need the complete
    /// terrain.
    pub is_drained: bool,
}

/// A source evaluated for one terrain.
struct EvaluatedMask<'a> {
    mask: &'a Mask,
    grid: Grid,
    below: Option<&'a Heightfield>,
    source: EvaluatedSource<'a>,
}

/// What the weights of a source are read from.
enum EvaluatedSource<'a> {
    /// The position and the terrain below alone.
    Place,
    Image(&'a Raster),
    /// The drainage area of each sample, m².
    Areas(Cow<'a, [f32]>),
    /// The depth of the lake at each sample, metres.
    Lakes(Vec<f32>),
    /// The valley floor index, the curvature in 1/m, or the brightness of a blurred image.
    Map(Heightfield),
    Polygon(Polygon),
    Shapes(ShapeMask),
    Noise(Fbm),
    Painting(Painting),
    Named(Box<EvaluatedMasks<'a>>),
}

/// The weights of one row of samples, and the buffers to compute them.
#[derive(Clone, Debug)]
pub struct MaskRow {
    weights: Vec<f32>,
    /// Those of a source after the first.
    combined: Vec<f32>,
    buffers: SourceRow,
}

#[derive(Clone, Debug, Default)]
struct SourceRow {
    polygon: PolygonRow,
    painting: PaintingRow,
    named: Option<Box<MaskRow>>,
}

impl MaskRow {
    /// Buffers for rows with that many samples.
    pub fn new(width: usize) -> Self {
        let [weights, combined] = [vec![0.0; width], vec![0.0; width]];
        Self { weights, combined, buffers: SourceRow::default() }
    }

    /// The weights, west to east.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }
}

impl<'a> EvaluatedMasks<'a> {
    /// Evaluates the sources of a mask for the terrain below a step. Without `distant`, the terrain must be complete.
    pub fn new(
        masks: &'a [Mask],
        references: &MaskReferences<'a>,
        distant: Option<DistantTerrain<'a>>,
        context: &EvalContext<'a>,
    ) -> Result<Self, Cancelled> {
        let has_file = |name: &FileName| context.inputs.get(name).is_some();
        let is_incomplete = masks.iter().any(|mask| mask.missing(references.named, &has_file).is_some());
        let needed = if is_incomplete { &[] } else { masks };
        let evaluated = |mask: &'a Mask| EvaluatedMask::new(mask, references, distant, context);
        let masks = needed.iter().map(evaluated).collect::<Result<_, _>>()?;
        Ok(Self { masks, columns: Columns::new(context.grid), is_incomplete })
    }

    /// Sets the weights of row `r`. Without sources, they are 1.
    pub fn fill(&self, r: usize, row: &mut MaskRow) {
        let MaskRow { weights, combined, buffers } = row;
        let Some((first, others)) = self.masks.split_first() else {
            return weights.fill(if self.is_incomplete { 0.0 } else { 1.0 });
        };
        first.fill(r, &self.columns, weights, buffers);
        let strength = first.mask.strength.to_f32();
        weights.iter_mut().for_each(|weight| *weight *= strength);
        for other in others {
            other.fill(r, &self.columns, combined, buffers);
            let Mask { combine, strength, .. } = *other.mask;
            for (weight, own) in weights.iter_mut().zip(&*combined) {
                *weight = joined(*weight, *own, combine, strength.to_f32());
            }
        }
    }
}

/// The brightness of an image, blurred by a Gaussian whose standard deviation is half the feather.
fn blurred(raster: &Raster, feather_m: Option<f64>, grid: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let mut map = Heightfield::flat(grid);
    let rows = map.heights_mut().par_chunks_mut(grid.width()).enumerate();
    rows.for_each(|(r, row)| {
        row.iter_mut().enumerate().for_each(|(c, value)| *value = brightness(raster, &grid, c, r));
    });
    let blur = GaussianBlur { radius_m: 0.5 * feather_m.unwrap_or_default(), passes: 1 };
    blur.blur(&mut map, progress)?;
    Ok(map)
}

/// The weight by several sources, from that by all but the last and that by the last.
fn joined(before: f32, own: f32, combine: Combine, strength: f32) -> f32 {
    let combined = match combine {
        Combine::Multiply => before * own,
        Combine::Add => (before + own).min(1.0),
        Combine::Subtract => (before - own).max(0.0),
        Combine::Intersect => before.min(own),
        Combine::Union => before.max(own),
    };
    // A special case, because before + 1 · (combined − before) would be rounded.
    if strength == 1.0 { combined } else { before + strength * (combined - before) }
}

impl<'a> EvaluatedMask<'a> {
    fn new(
        mask: &'a Mask,
        references: &MaskReferences<'a>,
        distant: Option<DistantTerrain<'a>>,
        context: &EvalContext<'a>,
    ) -> Result<Self, Cancelled> {
        let EvalContext { grid, below, inputs, progress, .. } = *context;
        let of_place = EvaluatedSource::Place;
        let water_of = |terrain: &Heightfield| Water::on(terrain, Outlets::Border, None, progress);
        let source = match (mask.source, below) {
            (MaskSource::Rivers | MaskSource::Wetness, Some(terrain)) => {
                EvaluatedSource::Areas(match distant.and_then(|distant| distant.areas_m2) {
                    Some(known) => Cow::Borrowed(known),
                    None => Cow::Owned(water_of(terrain)?.areas_m2),
                })
            }
            (MaskSource::Lakes, Some(_)) if distant.is_some_and(|distant| distant.is_drained) => of_place,
            (MaskSource::Lakes, Some(terrain)) => EvaluatedSource::Lakes(water_of(terrain)?.lakes_m),
            (MaskSource::Sediment, Some(terrain)) => {
                let whole = distant.map_or(terrain, |distant| distant.overview);
                EvaluatedSource::Map(surface::sediment(whole, grid, progress)?)
            }
            (MaskSource::Curvature, Some(terrain)) => {
                let curvature = |of: &Heightfield| surface::curvature(of, mask.scale_m, progress);
                EvaluatedSource::Map(match distant.map(|distant| distant.overview) {
                    Some(overview) if mask.reach(overview.grid()) == Reach::Overview => {
                        curvature(overview)?.resampled(grid, progress)?
                    }
                    _ => curvature(terrain)?,
                })
            }
            (MaskSource::Image, _) => match inputs.get(&mask.file) {
                None => of_place,
                Some(raster) if mask.is_pointwise() => EvaluatedSource::Image(raster),
                Some(raster) => EvaluatedSource::Map(blurred(raster, mask.feather_m, grid, progress)?),
            },
            (MaskSource::Polygon, _) => {
                EvaluatedSource::Polygon(Polygon::new(&mask.points_m, mask.feather_m.unwrap_or_default()))
            }
            (MaskSource::Noise, _) => {
                // Steps count their seeds from 0, so none has this one, and no step has the same noise.
                let stream = context.stream.with_step_seed(!mask.seed);
                EvaluatedSource::Noise(Fbm::new(mask.wavelength_m, grid.extent(), stream))
            }
            (MaskSource::Painted, _) => EvaluatedSource::Painting(Painting::new(&mask.strokes, mask.ground, grid)),
            (MaskSource::Named, _) => {
                let masks = references.named.get(&mask.name).map_or(&[][..], |masks| &masks[..]);
                EvaluatedSource::Named(Box::new(EvaluatedMasks::new(masks, references, distant, context)?))
            }
            (MaskSource::Path, _) => {
                let feather_m = mask.feather_m.unwrap_or_default();
                EvaluatedSource::Shapes(ShapeMask::of_paths(&references.shapes.paths, mask.paths, feather_m))
            }
            (MaskSource::Pad, _) => {
                let feather_m = mask.feather_m.unwrap_or_default();
                EvaluatedSource::Shapes(ShapeMask::of_pads(&references.shapes.pads, feather_m))
            }
            (MaskSource::Elevation | MaskSource::Slope | MaskSource::Border, _) | (_, None) => of_place,
        };
        Ok(Self { mask, grid, below, source })
    }

    /// Sets the weights of row `r`.
    fn fill(&self, r: usize, columns: &Columns, weights: &mut [f32], buffers: &mut SourceRow) {
        let z_m = self.grid.z_m(r);
        match &self.source {
            EvaluatedSource::Polygon(outline) => outline.fill(z_m, columns, &mut buffers.polygon, weights),
            EvaluatedSource::Shapes(shapes) => shapes.fill(z_m, columns, weights),
            EvaluatedSource::Painting(painting) => painting.fill(r, z_m, columns, &mut buffers.painting, weights),
            EvaluatedSource::Named(masks) => {
                let row = buffers.named.get_or_insert_with(|| Box::new(MaskRow::new(weights.len())));
                masks.fill(r, row);
                weights.copy_from_slice(row.weights());
            }
            _ => weights.iter_mut().enumerate().for_each(|(c, weight)| *weight = self.weight(c, r)),
        }
        if self.mask.invert {
            weights.iter_mut().for_each(|weight| *weight = 1.0 - *weight);
        }
    }

    /// The weight of a sample by a source that is not evaluated row by row.
    fn weight(&self, c: usize, r: usize) -> f32 {
        let mask = self.mask;
        match &self.source {
            EvaluatedSource::Place => self.weight_of_place(c, r),
            EvaluatedSource::Image(raster) => brightness(raster, &self.grid, c, r),
            EvaluatedSource::Areas(areas_m2) => {
                let area_m2 = areas_m2[r * self.grid.width() + c];
                self.below.map_or(0.0, |terrain| self.weight_of_area(terrain, area_m2, c, r))
            }
            EvaluatedSource::Lakes(lakes_m) => {
                (lakes_m[r * self.grid.width() + c] / mask.lake_m.to_f32()).clamp(0.0, 1.0)
            }
            EvaluatedSource::Map(map) => self.weight_of_map(map[(c, r)]),
            EvaluatedSource::Noise(noise) => {
                let value = noise.at(self.grid.x_m(c), self.grid.z_m(r));
                (0.5 + 0.5 * mask.contrast * (value - mask.threshold)).clamp(0.0, 1.0).to_f32()
            }
            EvaluatedSource::Polygon(_)
            | EvaluatedSource::Shapes(_)
            | EvaluatedSource::Painting(_)
            | EvaluatedSource::Named(_) => 0.0,
        }
    }

    fn weight_of_place(&self, c: usize, r: usize) -> f32 {
        let mask = self.mask;
        match mask.source {
            MaskSource::Elevation => {
                let height_m = self.below.map_or(0.0, |terrain| terrain[(c, r)]);
                let feather_m = mask.feather_m.unwrap_or(ELEVATION_FEATHER_M);
                band_weight(height_m, limits(mask.elevation_m), feather_m.to_f32())
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
            // Flat terrain is a plain, without curvature and without water.
            MaskSource::Sediment => self.weight_of_map(surface::MAX_SEDIMENT.to_f32()),
            MaskSource::Curvature => self.weight_of_map(0.0),
            MaskSource::Rivers
            | MaskSource::Lakes
            | MaskSource::Wetness
            | MaskSource::Image
            | MaskSource::Polygon
            | MaskSource::Noise
            | MaskSource::Painted
            | MaskSource::Path
            | MaskSource::Pad
            | MaskSource::Named => 0.0,
        }
    }

    /// The weight of a valley floor index, of a curvature in 1/m, or of the brightness of an image.
    fn weight_of_map(&self, value: f32) -> f32 {
        let mask = self.mask;
        match mask.source {
            MaskSource::Image => value,
            MaskSource::Curvature => {
                band_weight(1000.0 * value, limits(mask.curvature), mask.feather_curvature.to_f32())
            }
            _ => band_weight(value, limits(mask.sediment), mask.feather_sediment.to_f32()),
        }
    }

    fn weight_of_area(&self, terrain: &Heightfield, area_m2: f32, c: usize, r: usize) -> f32 {
        let mask = self.mask;
        match mask.source {
            MaskSource::Rivers => {
                let quarter_m2 = 0.25e6 * mask.drained_km2;
                (libm::log(f64::from(area_m2) / quarter_m2) / libm::log(4.0)).clamp(0.0, 1.0).to_f32()
            }
            _ => {
                let wetness = wetness(area_m2, terrain, c, r);
                band_weight(wetness, limits(mask.wetness), mask.feather_wetness.to_f32())
            }
        }
    }
}

fn limits(band: Band) -> [f32; 2] {
    [band.min.to_f32(), band.max.to_f32()]
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
    use crate::heightfield::Extent;
    use crate::inputs::Inputs;
    use crate::mask::MaskShapes;
    use crate::parameters::{List, Point};
    use crate::progress::Progress;
    use crate::random::Stream;

    fn grid() -> Grid {
        Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, 5, 3)
    }

    fn weights(mask: &Mask, grid: Grid, below: Option<&Heightfield>, inputs: &Inputs, r: usize) -> Vec<f32> {
        combined(std::slice::from_ref(mask), grid, below, inputs, r)
    }

    fn combined(masks: &[Mask], grid: Grid, below: Option<&Heightfield>, inputs: &Inputs, r: usize) -> Vec<f32> {
        let (stream, progress) = (Stream::new(1, 2), Progress::new());
        let context = EvalContext { below, stream, ..EvalContext::new(grid, inputs, &progress) };
        let mut row = MaskRow::new(grid.width());
        let lakes = Mask { source: MaskSource::Lakes, invert: true, strength: 0.5, ..Default::default() };
        let named = [("half".to_string(), vec![lakes].into())].into();
        let references = MaskReferences { named: &named, shapes: MaskShapes::default() };
        EvaluatedMasks::new(masks, &references, None, &context).expect("not cancelled").fill(r, &mut row);
        row.weights
    }

    #[track_caller]
    fn check(mask: &Mask, below: Option<&Heightfield>, inputs: &Inputs, r: usize, expected: [f32; 5]) {
        let found = weights(mask, grid(), below, inputs, r);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}, not {expected:?}");
        let inverted = weights(&Mask { invert: true, ..mask.clone() }, grid(), below, inputs, r);
        assert!(inverted.iter().zip(expected).all(|(a, b)| (1.0 - a - b).abs() < 1e-5), "{inverted:?}");
    }

    #[test]
    fn elevation_and_slope_masks_depend_on_the_terrain_below() {
        let none = Inputs::default();
        let terrain = Heightfield::from_fn(grid(), |c, _| c as f32 * 100.0);
        let band = Band { min: 200.0, max: 300.0 };
        let by_height = Mask { elevation_m: band, feather_m: Some(200.0), ..Default::default() };
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
        let weights = |below, grid: Grid| weights(&mask, grid, below, &Inputs::default(), grid.height() / 2);
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
        for invert in [false, true] {
            let without = weights(&Mask { invert, ..mask.clone() }, grid(), None, &Inputs::default(), 0);
            assert_eq!(without, [0.0; 5], "without its image, the mask leaves no effect");
        }
    }

    #[test]
    fn the_feather_of_an_image_blurs_it() {
        let name = FileName("m.png".into());
        let scale = SampleScale::Integers { max_value: 1.0 };
        let samples = (0..600 * 2).map(|i| if i % 600 < 300 { 0.0 } else { 1.0 }).collect();
        let raster = Raster { width: 600, height: 2, samples, scale };
        let inputs = Inputs { rasters: [(name.clone(), Arc::new(raster))].into(), ..Default::default() };
        let mask = Mask { source: MaskSource::Image, file: name, feather_m: Some(100.0), ..Default::default() };
        let world = Grid::new(Extent { width_m: 600.0, depth_m: 60.0 }, 601, 61);
        let weights = weights(&mask, world, None, &inputs, 30);
        // The cumulative normal distribution with a standard deviation of 50 m.
        for (x_m, expected) in [(100, 0.0), (250, 0.1587), (300, 0.5), (350, 0.8413), (500, 1.0)] {
            assert!((weights[x_m] - expected).abs() < 0.005, "{} at {x_m} m", weights[x_m]);
        }
        assert!(!mask.is_pointwise() && Mask { feather_m: None, ..mask }.is_pointwise());
    }

    #[test]
    fn curvature_masks_tell_hollows_from_ridges() {
        let world = Grid::new(Extent { width_m: 600.0, depth_m: 600.0 }, 61, 61);
        // A bowl with a radius of 250 m has a curvature of 4 per km.
        let bowl = Heightfield::from_fn(world, |c, r| {
            let (x, z) = (world.x_m(c) - 300.0, world.z_m(r) - 300.0);
            ((x * x + z * z) / 500.0) as f32
        });
        let crest = Heightfield::from_fn(world, |c, r| -bowl[(c, r)]);
        let at = |below: Option<&Heightfield>, min, feather_curvature| {
            let curvature = Band { min, max: 1000.0 };
            let source = MaskSource::Curvature;
            let mask = Mask { source, scale_m: 50.0, curvature, feather_curvature, ..Default::default() };
            weights(&mask, world, below, &Inputs::default(), 30)[30]
        };
        assert_eq!((at(Some(&bowl), 3.9, 1.0), at(Some(&crest), 3.9, 1.0)), (1.0, 0.0));
        assert!((at(Some(&bowl), 5.0, 2.0) - 0.5).abs() < 0.01);
        assert_eq!((at(None, -1.0, 1.0), at(None, 2.0, 4.0)), (1.0, 0.5), "flat terrain has no curvature");
    }

    #[test]
    fn noise_masks_are_half_full_and_the_same_at_every_size() {
        let of = |mask: &Mask, side: usize, r: usize| {
            let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 4096.0 }, side, side);
            weights(mask, grid, None, &Inputs::default(), r)
        };
        let mask = Mask { source: MaskSource::Noise, ..Default::default() };
        let (fine, coarse) = (of(&mask, 257, 100), of(&mask, 65, 25));
        assert!(coarse.iter().zip(fine.iter().step_by(4)).all(|(a, b)| a.to_bits() == b.to_bits()));
        let mean = |weights: &[f32]| weights.iter().sum::<f32>() / weights.len() as f32;
        assert!((0.3..0.7).contains(&mean(&fine)), "{}", mean(&fine));
        let sharp = of(&Mask { contrast: 1000.0, ..mask.clone() }, 257, 100);
        let full = sharp.iter().filter(|weight| [0.0, 1.0].contains(*weight)).count();
        assert!(full > 240, "{full} of 257 are 0 or 1");
        let rare = of(&Mask { threshold: 0.3, ..mask.clone() }, 257, 100);
        assert!(mean(&rare) < mean(&fine));
        assert_ne!(of(&Mask { seed: 1, ..mask.clone() }, 257, 100), fine);
    }

    #[test]
    fn polygon_masks_are_full_inside() {
        let points = [[90.0, -10.0], [310.0, -10.0], [310.0, 150.0], [90.0, 150.0]];
        let points_m: List<Point> = points.iter().map(|&[x_m, z_m]| Point { x_m, z_m }).collect();
        let mask = Mask { source: MaskSource::Polygon, points_m, ..Default::default() };
        check(&mask, None, &Inputs::default(), 1, [0.0, 1.0, 1.0, 1.0, 0.0]);
        check(&mask, None, &Inputs::default(), 2, [0.0; 5]);
        // 10 m inside, of a feather of 40 m: t = ¾.
        let soft = Mask { feather_m: Some(40.0), ..mask };
        check(&soft, None, &Inputs::default(), 1, [0.0, 0.84375, 1.0, 0.84375, 0.0]);
    }

    #[test]
    fn named_masks_are_sources_like_others() {
        let named = |name: &str| Mask { source: MaskSource::Named, name: name.into(), ..Default::default() };
        check(&named("half"), None, &Inputs::default(), 1, [0.5; 5]);
        let border = Mask { source: MaskSource::Border, border_m: 200.0, ..Default::default() };
        let both = combined(&[border, named("half")], grid(), None, &Inputs::default(), 1);
        assert_eq!(both, [0.0, 0.25, 0.25, 0.25, 0.0]);
        assert_eq!(weights(&named("none"), grid(), None, &Inputs::default(), 1), [0.0; 5], "an unknown name");
    }

    #[test]
    fn sources_are_combined_in_order() {
        // By border: 0, 0.5, 0.5, 0.5, 0 along the middle row. By slope: 1 everywhere on flat terrain, here halved.
        let border = Mask { source: MaskSource::Border, border_m: 200.0, ..Default::default() };
        let slope = |combine, strength| {
            let full = Mask { source: MaskSource::Slope, combine, strength, ..Default::default() };
            combined(&[border.clone(), full], grid(), None, &Inputs::default(), 1)[..2].to_vec()
        };
        for (combine, full, half) in [
            (Combine::Multiply, [0.0, 0.5], [0.0, 0.5]),
            (Combine::Add, [1.0, 1.0], [0.5, 0.75]),
            (Combine::Subtract, [0.0, 0.0], [0.0, 0.25]),
            (Combine::Intersect, [0.0, 0.5], [0.0, 0.5]),
            (Combine::Union, [1.0, 1.0], [0.5, 0.75]),
        ] {
            assert_eq!((slope(combine, 1.0), slope(combine, 0.5)), (full.to_vec(), half.to_vec()), "{combine:?}");
            assert_eq!(slope(combine, 0.0), [0.0, 0.5], "{combine:?} without strength");
            // The first source has nothing to be combined with.
            let first = Mask { combine, strength: 0.5, ..border.clone() };
            assert_eq!(weights(&first, grid(), None, &Inputs::default(), 1)[1], 0.25);
        }
        let inverted = Mask { source: MaskSource::Slope, invert: true, ..Default::default() };
        assert_eq!(combined(&[border.clone(), inverted], grid(), None, &Inputs::default(), 1), [0.0; 5]);
        assert_eq!(combined(&[], grid(), None, &Inputs::default(), 1), [1.0; 5]);
        let image = Mask { source: MaskSource::Image, combine: Combine::Union, ..Default::default() };
        assert_eq!(combined(&[border, image], grid(), None, &Inputs::default(), 1), [0.0; 5], "without its image");
    }

    #[test]
    fn only_wide_hollows_follow_from_an_overview() {
        let of_scale = |scale_m| Mask { source: MaskSource::Curvature, scale_m, ..Mask::default() };
        let extent = Extent { width_m: 1280.0, depth_m: 1280.0 };
        let overview = Grid::new(extent, 65, 65);
        assert_eq!(
            [of_scale(40.0), of_scale(39.0)].map(|mask| mask.reach(overview)),
            [Reach::Overview, Reach::Complete]
        );
        let height = |x_m: f64, z_m: f64| (30.0 * libm::sin(x_m / 90.0) * libm::cos(z_m / 110.0)) as f32;
        let on = |grid: Grid| Heightfield::from_fn(grid, |c, r| height(grid.x_m(c), grid.z_m(r)));
        let (terrain, whole) = (on(Grid::new(extent, 129, 129)), on(overview));
        let distant = Some(DistantTerrain { overview: &whole, areas_m2: None, is_drained: false });
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { below: Some(&terrain), ..EvalContext::new(terrain.grid(), &inputs, &progress) };
        let weights = |mask: Mask, distant| {
            let (masks, mut row) = ([mask], MaskRow::new(129));
            let evaluated = EvaluatedMasks::new(&masks, &MaskReferences::none(), distant, &context);
            evaluated.expect("not cancelled").fill(40, &mut row);
            row.weights().to_vec()
        };
        let both = |mask: Mask| [weights(mask.clone(), None), weights(mask, distant)];
        let [complete, overview] = both(of_scale(100.0));
        let largest = complete.iter().zip(&overview).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(complete != overview && largest < 0.05, "{largest}");
        let [complete, overview] = both(of_scale(30.0));
        assert_eq!(complete, overview);
    }
}
