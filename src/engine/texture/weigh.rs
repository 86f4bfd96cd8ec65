//! How much of the ground at a point each terrain type takes.

use super::{SlopeMode, TerrainType, TextureRecipe, Unit};
use crate::engine::parameters::{Band, Limits};
use crate::engine::simd::refill;
use crate::engine::surface::towards;

/// 1 within the band, falling to 0 over `release` outside it; a release of 0 is a sharp edge.
#[inline(always)]
pub(in crate::engine) fn factor(value: f32, [min, max]: [f32; 2], release: f32) -> f32 {
    let (below, above) = (min - value, value - max);
    let outside = if below > above { below } else { above };
    // Chosen without a branch, so that neighbouring points go through the vector lanes together.
    let fading = if outside < release { 1.0 - outside * (1.0 / release) } else { 0.0 };
    if outside <= 0.0 { 1.0 } else { fading }
}

/// What the ground is like along a row of points.
#[derive(Debug, Default)]
pub(super) struct GroundRow {
    pub(super) height_m: Vec<f32>,
    /// Metres per metre eastward and southward.
    pub(super) east: Vec<f32>,
    pub(super) south: Vec<f32>,
    /// In degrees, or its cosine in the classic mode.
    slope: Vec<f32>,
    /// The compass direction in which the ground falls: east, south.
    way_down: [Vec<f32>; 2],
    pub(super) humidity: Vec<f32>,
    pub(super) shade: Vec<f32>,
}

/// The angle of a steepness in degrees, from 0 to 90, within 1e−4° of the true one: the arc tangent's series after
/// Abramowitz and Stegun, 4.4.49, whose error is below 2e−8, on the side of 1 where it converges.
#[inline(always)]
pub(super) fn degrees_of(steepness: f32) -> f32 {
    let beyond = steepness > 1.0;
    let x = if beyond { 1.0 / steepness } else { steepness };
    let q = x * x;
    let mut series = 0.002_866_225_7;
    series = series * q - 0.016_165_737;
    series = series * q + 0.042_909_614;
    series = series * q - 0.075_289_64;
    series = series * q + 0.106_562_64;
    series = series * q - 0.142_089;
    series = series * q + 0.199_935_51;
    series = series * q - 0.333_331_46;
    let angle = (x + x * q * series) * (180.0 / std::f32::consts::PI);
    if beyond { 90.0 - angle } else { angle }
}

/// The compass direction in which ground of a gradient falls, a unit vector: what its normal (−east, 1, −south)/√(1 +
/// east² + south²) shows from above. Level ground, nx² + nz² < 1e−5, falls nowhere.
#[inline(always)]
fn way_down([east, south]: [f32; 2]) -> [f32; 2] {
    let squared = east * east + south * south;
    let level = squared < 1e-5 * (1.0 + squared);
    let per_length = if level { 0.0 } else { -1.0 / squared.sqrt() };
    [east * per_length, south * per_length]
}

impl GroundRow {
    /// Works out the slopes of a row whose gradients are there, and where the ground falls if some type asks for it.
    #[inline(always)]
    pub(super) fn find_slopes(&mut self, mode: SlopeMode, is_skewed: bool) {
        let Self { east, south, slope, way_down: [down_east, down_south], .. } = self;
        let gradients = || east.iter().zip(&*south);
        let steepness = gradients().map(|(east, south)| east * east + south * south);
        match mode {
            SlopeMode::Degrees => refill(slope, steepness.map(|squared| degrees_of(squared.sqrt()))),
            SlopeMode::Classic => refill(slope, steepness.map(|squared| 1.0 / (1.0 + squared).sqrt())),
        }
        if is_skewed {
            down_east.resize(east.len(), 0.0);
            down_south.resize(east.len(), 0.0);
            for ((down_east, down_south), (east, south)) in down_east.iter_mut().zip(down_south).zip(gradients()) {
                [*down_east, *down_south] = way_down([*east, *south]);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.height_m.len()
    }
}

/// Points whose weights are shared out at once.
const SHARED_AT_ONCE: usize = 64;

/// Limits of a third measure, if a type has any.
type Third = Option<([f32; 2], f32)>;

/// A terrain type's limits, in metres and in the measure of the slope mode.
#[derive(Clone, Debug, PartialEq)]
struct Extents {
    elevation: [f32; 2],
    elevation_release: f32,
    slope: [f32; 2],
    slope_release: f32,
    /// What one unit of the slope's measure counts when types are compared: shares of 90°, or of the cosine's 1.
    slope_unit: f32,
    skew: f32,
    /// The compass direction of the skew on the map: east, south.
    towards: [f32; 2],
    humidity: Third,
    shadow: Third,
}

impl Extents {
    fn new(ground: &TerrainType, mode: SlopeMode, to_metres: impl Fn(f64) -> f64, metres_per_unit: f64) -> Self {
        let Band { min, max } = ground.slope_deg;
        let (slope, slope_release, slope_unit) = match mode {
            SlopeMode::Degrees => ([min, max], ground.slope_release_deg, 1.0 / 90.0),
            SlopeMode::Classic => {
                let cosine = |deg: f64| libm::cos(deg.to_radians());
                ([cosine(max), cosine(min)], libm::sin(ground.slope_release_deg.to_radians()), 1.0)
            }
        };
        let third = |limits: Option<Limits>| {
            limits.map(|Limits { min, max, release }| ([min as f32, max as f32], release as f32))
        };
        Self {
            elevation: [to_metres(ground.elevation.min) as f32, to_metres(ground.elevation.max) as f32],
            elevation_release: (ground.elevation_release * metres_per_unit) as f32,
            slope: slope.map(|limit| limit as f32),
            slope_release: slope_release as f32,
            slope_unit,
            skew: (ground.skew * metres_per_unit) as f32,
            towards: towards(ground.skew_azimuth_deg).map(|component| component as f32),
            humidity: third(ground.humidity),
            shadow: third(ground.shadow),
        }
    }

    /// How far both elevation limits move at a point: skew·s, s = 1 on a face turned to the azimuth and −1 on one
    /// turned away; level ground has no exposure.
    #[inline(always)]
    fn shift_m(&self, [east, south]: [f32; 2]) -> f32 {
        self.skew * (east * self.towards[0] + south * self.towards[1])
    }

    #[inline(always)]
    fn weigh(&self, row: &GroundRow, weights: &mut Vec<f32>) {
        let Self { elevation, elevation_release, slope, slope_release, .. } = *self;
        if self.skew == 0.0 {
            refill(
                weights,
                row.height_m.iter().zip(&row.slope).map(|(&height_m, &angle)| {
                    factor(angle, slope, slope_release) * factor(height_m, elevation, elevation_release)
                }),
            );
        } else {
            let [east, south] = &row.way_down;
            let faces = east.iter().zip(south);
            refill(
                weights,
                row.height_m.iter().zip(&row.slope).zip(faces).map(|((&height_m, &angle), (&east, &south))| {
                    // Both limits move up by as much as the height moves down.
                    let height_m = height_m - self.shift_m([east, south]);
                    factor(angle, slope, slope_release) * factor(height_m, elevation, elevation_release)
                }),
            );
        }
        for (limits, measure) in [(self.humidity, &row.humidity), (self.shadow, &row.shade)] {
            if let Some((limits, release)) = limits {
                for (weight, &value) in weights.iter_mut().zip(measure) {
                    *weight *= factor(value, limits, release);
                }
            }
        }
    }

    /// How far a point lies outside the type's limits: shares of the height range and of 90° added up.
    fn excess(&self, row: &GroundRow, i: usize, range_m: f32) -> f32 {
        let outside = |value: f32, [min, max]: [f32; 2]| (min - value).max(value - max).max(0.0);
        let shift_m = if self.skew == 0.0 { 0.0 } else { self.shift_m([0, 1].map(|axis| row.way_down[axis][i])) };
        let height_m = row.height_m[i] - shift_m;
        outside(height_m, self.elevation) / range_m + outside(row.slope[i], self.slope) * self.slope_unit
    }
}

/// The active terrain types made ready for one land.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Palette {
    extents: Vec<Extents>,
    /// Whether a type covers ground of its own; the others change what is there.
    covers: Vec<bool>,
    fallback: Option<usize>,
    /// What counts as the whole height range when types are compared: 1 m where the land is level.
    range_m: f32,
    pub(super) slope_mode: SlopeMode,
    /// Whether it matters to some type where the ground falls.
    pub(super) is_skewed: bool,
}

impl Palette {
    /// The active types of a recipe, with percent taken of `height_range_m`. Level land lies at 0 %: a range of nothing
    /// has no other percents, and limits that all met there would let every type lie on it.
    pub(super) fn new(recipe: &TextureRecipe, height_range_m: Band) -> Self {
        let settings = &recipe.settings;
        let range = height_range_m.max - height_range_m.min;
        let metres_per_unit = match settings.unit {
            Unit::Percent if range > 0.0 => range / 100.0,
            Unit::Percent | Unit::Metres => 1.0,
        };
        let to_metres = |elevation: f64| match settings.unit {
            Unit::Percent => height_range_m.min + elevation * metres_per_unit,
            Unit::Metres => elevation,
        };
        let extents = |ground| Extents::new(ground, settings.slope_mode, to_metres, metres_per_unit);
        let covers: Vec<bool> = recipe.active().map(TerrainType::covers).collect();
        let is_fallback = |ground: &TerrainType| ground.covers() && Some(&ground.name) == settings.fallback.as_ref();
        let extents: Vec<Extents> = recipe.active().map(extents).collect();
        Self {
            is_skewed: extents.iter().any(|extents| extents.skew != 0.0),
            extents,
            fallback: recipe.active().position(is_fallback),
            covers,
            range_m: if range > 0.0 { range as f32 } else { 1.0 },
            slope_mode: settings.slope_mode,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.extents.len()
    }

    /// The weights of the types along a row. Those of the types that cover ground sum to 1 at every point; where none
    /// of them covers it, the fallback or the nearest type does, and the sum is left at 0. Returns at how many points
    /// that was so. Without any type that covers ground there is nothing to fill.
    #[inline(always)]
    pub(super) fn weigh(&self, row: &GroundRow, weights: &mut Vec<Vec<f32>>, sums: &mut Vec<f32>) -> usize {
        weights.resize_with(self.extents.len(), Vec::new);
        sums.clear();
        sums.resize(row.len(), 0.0);
        for ((extents, covers), weights) in self.extents.iter().zip(&self.covers).zip(weights.iter_mut()) {
            extents.weigh(row, weights);
            if *covers {
                sums.iter_mut().zip(&*weights).for_each(|(sum, weight)| *sum += weight);
            }
        }
        let uncovered = sums.iter().map(|sum| usize::from(*sum <= 0.0)).sum();
        if uncovered > 0 && !self.extents.is_empty() {
            self.fill(row, weights, sums);
        }
        for start in (0..row.len()).step_by(SHARED_AT_ONCE) {
            let stretch = start..row.len().min(start + SHARED_AT_ONCE);
            let (sums, mut parts) = (&sums[stretch.clone()], [0.0; SHARED_AT_ONCE]);
            parts.iter_mut().zip(sums).for_each(|(part, &sum)| *part = 1.0 / if sum > 0.0 { sum } else { 1.0 });
            for (weights, _) in weights.iter_mut().zip(&self.covers).filter(|(_, covers)| **covers) {
                for ((weight, sum), part) in weights[stretch.clone()].iter_mut().zip(sums).zip(&parts) {
                    let shared = *weight * part;
                    // The only type of a place takes all of it, whatever the product is rounded to.
                    *weight = if *weight == *sum && *sum > 0.0 { 1.0 } else { shared };
                }
            }
        }
        uncovered
    }

    /// Lays the fallback or the nearest type where no other lies.
    fn fill(&self, row: &GroundRow, weights: &mut [Vec<f32>], sums: &[f32]) {
        for (i, _) in sums.iter().enumerate().filter(|(_, sum)| **sum <= 0.0) {
            if let Some(filler) = self.fallback.or_else(|| self.nearest(row, i)) {
                weights[filler][i] = 1.0;
            }
        }
    }

    fn nearest(&self, row: &GroundRow, i: usize) -> Option<usize> {
        let excess = |at: usize| self.extents[at].excess(row, i, self.range_m);
        (0..self.extents.len()).filter(|&at| self.covers[at]).min_by(|&a, &b| excess(a).total_cmp(&excess(b)))
    }
}

/// What the active types make of an elevation and a slope alone: on ground that is turned nowhere, and neither wet nor
/// in the shade beyond anybody's limits.
#[derive(Clone, Debug)]
pub struct CoverageDiagram(Palette);

impl CoverageDiagram {
    /// The active types of a recipe over a range of heights.
    pub fn new(recipe: &TextureRecipe, height_range_m: Band) -> Self {
        let mut palette = Palette::new(recipe, height_range_m);
        for extents in &mut palette.extents {
            (extents.skew, extents.humidity, extents.shadow) = (0.0, None, None);
        }
        Self(palette)
    }

    /// The weights of the active types along a row of elevations at one slope. Those of the types that cover ground sum
    /// to 1 where `covered` says so, and are 0 elsewhere: nothing is filled in.
    pub fn weigh(&self, heights_m: &[f32], slope_deg: f64) -> CoverageRow {
        let level = vec![0.0; heights_m.len()];
        let slope = match self.0.slope_mode {
            SlopeMode::Degrees => slope_deg,
            SlopeMode::Classic => libm::cos(slope_deg.to_radians()),
        };
        let row = GroundRow {
            height_m: heights_m.to_vec(),
            slope: vec![slope as f32; heights_m.len()],
            east: level.clone(),
            south: level,
            ..Default::default()
        };
        let (mut weights, mut sums) = (Vec::new(), Vec::new());
        self.0.weigh(&row, &mut weights, &mut sums);
        let covered: Vec<bool> = sums.iter().map(|sum| *sum > 0.0).collect();
        for (weights, _) in weights.iter_mut().zip(&self.0.covers).filter(|(_, covers)| **covers) {
            weights.iter_mut().zip(&covered).filter(|(_, covered)| !**covered).for_each(|(weight, _)| *weight = 0.0);
        }
        CoverageRow { weights, covered }
    }
}

/// A row of a [`CoverageDiagram`].
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageRow {
    /// The weights of each active type along the row.
    pub weights: Vec<Vec<f32>>,
    /// Where along the row some type covers the ground.
    pub covered: Vec<bool>,
}

impl TerrainType {
    /// Whether the type covers ground of its own; one that multiplies or overlays changes what is there.
    pub fn covers(&self) -> bool {
        self.blend.covers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::texture::{TextureSettings, TypeBlend};

    const RANGE: Band = Band { min: 0.0, max: 255.0 };

    fn ground(name: &str, elevation: [f64; 2], slope: [f64; 2]) -> TerrainType {
        TerrainType {
            name: name.into(),
            elevation: Band { min: elevation[0], max: elevation[1] },
            slope_deg: Band { min: slope[0], max: slope[1] },
            ..Default::default()
        }
    }

    fn metres(types: Vec<TerrainType>) -> TextureRecipe {
        TextureRecipe { settings: TextureSettings { unit: Unit::Metres, ..Default::default() }, types }
    }

    /// One point: its height and its gradient.
    fn row(height_m: f32, [east, south]: [f32; 2], mode: SlopeMode) -> GroundRow {
        let mut row =
            GroundRow { height_m: vec![height_m], east: vec![east], south: vec![south], ..Default::default() };
        row.find_slopes(mode, true);
        row
    }

    /// The weights of the types at a point, and whether one of them covers it.
    fn weights(recipe: &TextureRecipe, height_m: f32, gradient: [f32; 2]) -> (Vec<f32>, bool) {
        let palette = Palette::new(recipe, RANGE);
        let (mut weights, mut sums) = (Vec::new(), Vec::new());
        let uncovered = palette.weigh(&row(height_m, gradient, palette.slope_mode), &mut weights, &mut sums);
        (weights.into_iter().map(|weights| weights[0]).collect(), uncovered == 0)
    }

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f32]) {
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(close), "{found:?}, not {expected:?}");
    }

    #[test]
    fn elevation_factors_of_the_source() {
        // Limits 200 … 255, release 24: 1 at 210, 14/24 at 190.
        assert_eq!(factor(210.0, [200.0, 255.0], 24.0), 1.0);
        assert!((factor(190.0, [200.0, 255.0], 24.0) - 14.0 / 24.0).abs() < 1e-6);
        assert_eq!(factor(176.0, [200.0, 255.0], 24.0), 0.0);
        assert_eq!(factor(199.9, [200.0, 255.0], 0.0), 0.0);
        assert_eq!(factor(200.0, [200.0, 255.0], 0.0), 1.0);
    }

    #[test]
    fn angles_are_those_of_the_arc_tangent() {
        for i in 0..=100_000 {
            let steepness = libm::powf(10.0, i as f32 / 10_000.0 - 5.0);
            let expected = libm::atan(f64::from(steepness)).to_degrees();
            let found = degrees_of(steepness);
            assert!((f64::from(found) - expected).abs() < 1e-4, "{steepness}: {found}, not {expected}");
        }
        assert_eq!(degrees_of(0.0), 0.0);
        assert_eq!(degrees_of(f32::INFINITY), 90.0);
    }

    #[test]
    fn weights_on_a_ramp_of_30_degrees() {
        let rock = TerrainType { slope_release_deg: 10.0, ..ground("rock", [0.0, 255.0], [35.0, 90.0]) };
        let grass = TerrainType { slope_release_deg: 8.0, ..ground("grass", [0.0, 255.0], [0.0, 28.0]) };
        let recipe = metres(vec![rock, grass]);
        let steepness = libm::tanf(30.0_f32.to_radians());
        let (found, covered) = weights(&recipe, 100.0, [steepness, 0.0]);
        assert!(covered);
        assert_close(&found, &[0.5 / 1.25, 0.75 / 1.25]);
    }

    #[test]
    fn the_classic_mode_fades_by_the_cosine() {
        let rock = TerrainType { slope_release_deg: 10.0, ..ground("rock", [0.0, 255.0], [35.0, 90.0]) };
        let all = ground("all", [0.0, 255.0], [0.0, 90.0]);
        let mut recipe = metres(vec![rock, all]);
        recipe.settings.slope_mode = SlopeMode::Classic;
        // At 30° the cosine lies 0.0469 above that of 35°; the fade is sin 10° wide.
        let cosine = |deg: f32| libm::cosf(deg.to_radians());
        let expected = 1.0 - (cosine(30.0) - cosine(35.0)) / libm::sinf(10.0_f32.to_radians());
        let (found, _) = weights(&recipe, 100.0, [0.0, libm::tanf(30.0_f32.to_radians())]);
        assert_close(&found, &[expected / (1.0 + expected), 1.0 / (1.0 + expected)]);
    }

    #[test]
    fn skew_moves_the_limits_on_the_faces_of_a_cone() {
        let snow = TerrainType {
            elevation_release: 20.0,
            skew: 30.0,
            skew_azimuth_deg: 180.0,
            ..ground("snow", [200.0, 1000.0], [0.0, 90.0])
        };
        let palette = Palette::new(&metres(vec![snow]), RANGE);
        // A cone falls away from its top: its southern face has a normal to the south, so h falls southward.
        let limit_on = |[east, south]: [f32; 2]| 200.0 + palette.extents[0].shift_m(way_down([east, south]));
        assert!((limit_on([0.0, -0.5]) - 230.0).abs() < 1e-3, "face to the south");
        assert!((limit_on([0.0, 0.5]) - 170.0).abs() < 1e-3, "face to the north");
        assert!((limit_on([0.5, 0.0]) - 200.0).abs() < 1e-3, "face to the west");
        assert_eq!(limit_on([0.0, 0.0]), 200.0, "level");
    }

    #[test]
    fn percent_is_of_the_range() {
        let recipe =
            TextureRecipe { settings: TextureSettings::default(), types: vec![ground("a", [50.0, 60.0], [0.0, 90.0])] };
        let palette = Palette::new(&recipe, Band { min: -100.0, max: 300.0 });
        assert_eq!(palette.extents[0].elevation, [100.0, 140.0]);
        assert_eq!(palette.extents[0].elevation_release, 40.0);
    }

    #[test]
    fn uncovered_ground_takes_the_fallback_or_the_nearest_type() {
        let low = ground("low", [0.0, 50.0], [0.0, 90.0]);
        let high = ground("high", [200.0, 255.0], [0.0, 90.0]);
        let mut recipe = metres(vec![low, high]);
        let at = |recipe: &TextureRecipe, height| weights(recipe, height, [0.0; 2]);
        assert_eq!(at(&recipe, 100.0), (vec![1.0, 0.0], false));
        assert_eq!(at(&recipe, 170.0), (vec![0.0, 1.0], false));
        recipe.settings.fallback = Some("low".into());
        assert_eq!(at(&recipe, 170.0), (vec![1.0, 0.0], false));
        assert_eq!(at(&recipe, 20.0), (vec![1.0, 0.0], true));
    }

    #[test]
    fn a_fallback_is_a_type_that_covers() {
        let soot = TerrainType { blend: TypeBlend::Multiply, ..ground("rock", [0.0, 0.0], [0.0, 90.0]) };
        let soil = ground("soil", [0.0, 50.0], [0.0, 90.0]);
        let mut recipe = metres(vec![soot, soil, ground("rock", [200.0, 255.0], [0.0, 90.0])]);
        recipe.settings.fallback = Some("rock".into());
        assert_eq!(weights(&recipe, 100.0, [0.0; 2]), (vec![0.0, 0.0, 1.0], false));
    }

    #[test]
    fn level_land_lies_at_0_percent_and_its_nearest_type_is_the_nearest_in_metres() {
        let at = |recipe: &TextureRecipe| {
            let palette = Palette::new(recipe, Band { min: 100.0, max: 100.0 });
            let (mut weights, mut sums) = (Vec::new(), Vec::new());
            palette.weigh(&row(100.0, [0.0; 2], SlopeMode::Degrees), &mut weights, &mut sums);
            weights.into_iter().map(|weights| weights[0]).collect::<Vec<f32>>()
        };
        let [snow, grass, sand] =
            [[60.0, 100.0], [20.0, 60.0], [0.0, 20.0]].map(|elevation| ground("", elevation, [0.0, 90.0]));
        let types = vec![snow, grass, sand];
        assert_eq!(at(&TextureRecipe { settings: TextureSettings::default(), types }), [0.0, 0.0, 1.0]);
        let [far, near] = [[130.0, 200.0], [120.0, 200.0]].map(|elevation| ground("", elevation, [0.0, 90.0]));
        assert_eq!(at(&metres(vec![far, near])), [0.0, 1.0]);
    }

    #[test]
    fn wet_and_shady_types_lie_where_it_is_wet_and_shady() {
        let limits = Limits { min: 0.6, max: 1.0, release: 0.2 };
        let moss =
            TerrainType { humidity: Some(limits), shadow: Some(limits), ..ground("moss", [0.0, 255.0], [0.0, 90.0]) };
        let palette = Palette::new(&metres(vec![moss, ground("soil", [0.0, 255.0], [0.0, 90.0])]), RANGE);
        let mut row = row(10.0, [0.0; 2], SlopeMode::Degrees);
        let (mut weights, mut sums) = (Vec::new(), Vec::new());
        for (humidity, shade, expected) in [(0.8, 0.9, 1.0), (0.5, 0.7, 0.5), (0.5, 0.5, 0.25), (0.3, 0.9, 0.0)] {
            (row.humidity, row.shade) = (vec![humidity], vec![shade]);
            palette.weigh(&row, &mut weights, &mut sums);
            assert_close(&[weights[0][0], weights[1][0]], &[expected / (1.0 + expected), 1.0 / (1.0 + expected)]);
        }
    }

    #[test]
    fn a_spread_leaves_out_all_but_elevation_and_slope_and_fills_nothing_in() {
        let limits = Some(Limits { min: 0.9, max: 1.0, release: 0.0 });
        let low = TerrainType { skew: 50.0, humidity: limits, ..ground("low", [0.0, 100.0], [0.0, 30.0]) };
        let all = TerrainType { elevation_release: 0.0, ..ground("all", [0.0, 120.0], [0.0, 40.0]) };
        let low = TerrainType { elevation_release: 0.0, slope_release_deg: 10.0, ..low };
        let all = TerrainType { slope_release_deg: 0.0, ..all };
        for mode in [SlopeMode::Degrees, SlopeMode::Classic] {
            let mut recipe = metres(vec![low.clone(), all.clone()]);
            recipe.settings.slope_mode = mode;
            let spread = CoverageDiagram::new(&recipe, RANGE);
            let found = spread.weigh(&[50.0, 110.0, 130.0], 20.0);
            assert_eq!(found.weights, [vec![0.5, 0.0, 0.0], vec![0.5, 1.0, 0.0]], "{mode:?}");
            assert_eq!(found.covered, [true, true, false]);
        }
        // Half way through the fade of the one, within the other: ⅓ and ⅔.
        let found = CoverageDiagram::new(&metres(vec![low, all]), RANGE).weigh(&[50.0], 35.0);
        assert_close(&[found.weights[0][0], found.weights[1][0]], &[1.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn only_types_of_the_active_set_take_part() {
        let of = |set: &str| TerrainType { set: set.into(), ..ground(set, [0.0, 255.0], [0.0, 90.0]) };
        let mut recipe = metres(vec![of("summer"), of("winter"), of("")]);
        let names = |recipe: &TextureRecipe| recipe.active().map(|ground| ground.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&recipe), ["summer", "winter", ""]);
        recipe.settings.active_set = Some("winter".into());
        assert_eq!(names(&recipe), ["winter", ""]);
        assert_eq!(recipe.sets(), ["summer", "winter"]);
    }
}
