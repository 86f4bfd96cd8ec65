//! The weights of the terrain types at a point, from elevation, slope, aspect, humidity and shade.

use super::recipe::{SlopeMode, TerrainType, TextureRecipe, TypeBlend, Unit};
use super::type_masks::TypeMasks;
use crate::cast::ToFloat;
use crate::fade::band_weight;
use crate::heightfield::Extent;
use crate::parameters::{Band, Limits};
use crate::simd::refill;
use crate::surface::azimuth_vector;

/// The properties of the surface along a row of points.
#[derive(Debug, Default)]
pub(super) struct SurfaceRow {
    pub(super) height_m: Vec<f32>,
    /// The gradient in metres per metre, eastward and southward.
    pub(super) east: Vec<f32>,
    pub(super) south: Vec<f32>,
    /// In degrees, or its cosine in the classic mode.
    slope: Vec<f32>,
    /// The downhill direction, a unit vector: east, south.
    downhill: [Vec<f32>; 2],
    pub(super) humidity: Vec<f32>,
    pub(super) shade: Vec<f32>,
    /// The weights of the types' masks. Empty for a type without one.
    pub(super) masks: Vec<Vec<f32>>,
}

impl SurfaceRow {
    /// The weights of a type's mask, if it has one.
    fn mask(&self, index: usize) -> &[f32] {
        self.masks.get(index).map_or(&[], Vec::as_slice)
    }
}

/// The angle of a gradient in degrees, from 0 to 90, within 1e−4° of the true one: the series of the arc tangent after
/// Abramowitz and Stegun, 4.4.49, whose error is below 2e−8, applied to the reciprocal above 1.
#[inline(always)]
pub(super) fn slope_degrees(steepness: f32) -> f32 {
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

/// The downhill direction for a gradient, a unit vector: the horizontal part of the normal (−east, 1, −south)/√(1 +
/// east² + south²). Level points, nx² + nz² < 1e−5, have none.
#[inline(always)]
fn downhill([east, south]: [f32; 2]) -> [f32; 2] {
    let squared = east * east + south * south;
    let level = squared < 1e-5 * (1.0 + squared);
    let per_length = if level { 0.0 } else { -1.0 / squared.sqrt() };
    [east * per_length, south * per_length]
}

impl SurfaceRow {
    /// A row of points with different heights and one slope, without a gradient.
    pub(super) fn with_slope(heights_m: &[f32], slope_deg: f64, mode: SlopeMode) -> Self {
        let slope = match mode {
            SlopeMode::Degrees => slope_deg,
            SlopeMode::Classic => libm::cos(slope_deg.to_radians()),
        };
        let level = vec![0.0; heights_m.len()];
        Self {
            height_m: heights_m.to_vec(),
            slope: vec![slope.to_f32(); heights_m.len()],
            east: level.clone(),
            south: level,
            ..Default::default()
        }
    }

    /// Computes the slopes of a row from its gradients, and the downhill directions if some type uses them.
    #[inline(always)]
    pub(super) fn compute_slopes(&mut self, mode: SlopeMode, is_skewed: bool) {
        let Self { east, south, slope, downhill: [down_east, down_south], .. } = self;
        let gradients = || east.iter().zip(&*south);
        let steepness = gradients().map(|(east, south)| east * east + south * south);
        match mode {
            SlopeMode::Degrees => refill(slope, steepness.map(|squared| slope_degrees(squared.sqrt()))),
            SlopeMode::Classic => refill(slope, steepness.map(|squared| 1.0 / (1.0 + squared).sqrt())),
        }
        if is_skewed {
            down_east.resize(east.len(), 0.0);
            down_south.resize(east.len(), 0.0);
            for ((down_east, down_south), (east, south)) in down_east.iter_mut().zip(down_south).zip(gradients()) {
                [*down_east, *down_south] = downhill([*east, *south]);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.height_m.len()
    }
}

/// Points whose weights are normalised together.
const NORMALISED_AT_ONCE: usize = 64;

/// The limits of humidity or shade, if a type has any: the band and its release.
type OptionalLimits = Option<([f32; 2], f32)>;

/// A terrain type's limits, in metres and in the measure of the slope mode.
#[derive(Clone, Debug, PartialEq)]
struct TypeLimits {
    elevation: [f32; 2],
    elevation_release: f32,
    slope: [f32; 2],
    slope_release: f32,
    /// The same limits in degrees, by which types are compared.
    slope_deg: [f32; 2],
    skew: f32,
    /// The compass direction of the skew, a unit vector: east, south.
    skew_direction: [f32; 2],
    humidity: OptionalLimits,
    shadow: OptionalLimits,
}

impl TypeLimits {
    fn new(terrain_type: &TerrainType, mode: SlopeMode, to_metres: impl Fn(f64) -> f64, metres_per_unit: f64) -> Self {
        let Band { min, max } = terrain_type.slope_deg;
        let (slope, slope_release) = match mode {
            SlopeMode::Degrees => ([min, max], terrain_type.slope_release_deg),
            SlopeMode::Classic => {
                let cosine = |deg: f64| libm::cos(deg.to_radians());
                ([cosine(max), cosine(min)], libm::sin(terrain_type.slope_release_deg.to_radians()))
            }
        };
        let optional = |limits: Option<Limits>| {
            limits.map(|Limits { min, max, release }| ([min.to_f32(), max.to_f32()], release.to_f32()))
        };
        Self {
            elevation: [to_metres(terrain_type.elevation.min).to_f32(), to_metres(terrain_type.elevation.max).to_f32()],
            elevation_release: (terrain_type.elevation_release * metres_per_unit).to_f32(),
            slope: slope.map(|limit| limit.to_f32()),
            slope_release: slope_release.to_f32(),
            slope_deg: [min.to_f32(), max.to_f32()],
            skew: (terrain_type.skew * metres_per_unit).to_f32(),
            skew_direction: azimuth_vector(terrain_type.skew_azimuth_deg).map(|component| component.to_f32()),
            humidity: optional(terrain_type.humidity),
            shadow: optional(terrain_type.shadow),
        }
    }

    /// The shift of both elevation limits at a point: skew·s, s = 1 on a slope facing the azimuth and −1 on one facing
    /// away; level points have no aspect.
    #[inline(always)]
    fn shift_m(&self, [east, south]: [f32; 2]) -> f32 {
        self.skew * (east * self.skew_direction[0] + south * self.skew_direction[1])
    }

    #[inline(always)]
    fn weigh(&self, row: &SurfaceRow, weights: &mut Vec<f32>) {
        let Self { elevation, elevation_release, slope, slope_release, .. } = *self;
        if self.skew == 0.0 {
            refill(
                weights,
                row.height_m.iter().zip(&row.slope).map(|(&height_m, &angle)| {
                    band_weight(angle, slope, slope_release) * band_weight(height_m, elevation, elevation_release)
                }),
            );
        } else {
            let [east, south] = &row.downhill;
            let directions = east.iter().zip(south);
            refill(
                weights,
                row.height_m.iter().zip(&row.slope).zip(directions).map(|((&height_m, &angle), (&east, &south))| {
                    // Moving both limits up equals moving the height down.
                    let height_m = height_m - self.shift_m([east, south]);
                    band_weight(angle, slope, slope_release) * band_weight(height_m, elevation, elevation_release)
                }),
            );
        }
        for (limits, values) in [(self.humidity, &row.humidity), (self.shadow, &row.shade)] {
            if let Some((limits, release)) = limits {
                for (weight, &value) in weights.iter_mut().zip(values) {
                    *weight *= band_weight(value, limits, release);
                }
            }
        }
    }

    /// How far a point is outside the type's limits: the sum of shares of 90° and of the height that counts as much.
    fn excess(&self, row: &SurfaceRow, i: usize, slope_deg: f32, height_of_90_deg_m: f32) -> f32 {
        let outside = |value: f32, [min, max]: [f32; 2]| (min - value).max(value - max).max(0.0);
        let shift_m = if self.skew == 0.0 { 0.0 } else { self.shift_m([0, 1].map(|axis| row.downhill[axis][i])) };
        let height_m = row.height_m[i] - shift_m;
        outside(height_m, self.elevation) / height_of_90_deg_m + outside(slope_deg, self.slope_deg) / 90.0
    }
}

/// The limits of the active terrain types on one terrain, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TypeWeights {
    limits: Vec<TypeLimits>,
    /// Whether each type takes a share of the surface; the others modify the colour below.
    pub(super) covers: Vec<bool>,
    /// Whether each type lies over the others.
    lies_over: Vec<bool>,
    fallback: Option<usize>,
    /// The height difference that counts as much as 90° where types are compared, metres.
    height_of_90_deg_m: f32,
    pub(super) slope_mode: SlopeMode,
    /// Whether some type has a skew.
    pub(super) is_skewed: bool,
    /// The masks of the types.
    pub(super) masks: TypeMasks,
}

impl TypeWeights {
    /// Prepares the active types of a recipe; percentages refer to `height_range_m`. Level terrain counts as 0 %: in an
    /// empty range all percentages would otherwise mean the same height, and every type would apply.
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
        let limits = |terrain_type| TypeLimits::new(terrain_type, settings.slope_mode, to_metres, metres_per_unit);
        // Without others, types that would lie over them share the surface.
        let has_base = recipe.active().any(|other| other.covers() && other.blend != TypeBlend::Cover);
        let is_base =
            |terrain_type: &TerrainType| terrain_type.covers() && !(has_base && terrain_type.blend == TypeBlend::Cover);
        let is_fallback = |terrain_type: &TerrainType| {
            is_base(terrain_type) && Some(&terrain_type.name) == settings.fallback.as_ref()
        };
        let limits: Vec<TypeLimits> = recipe.active().map(limits).collect();
        Self {
            is_skewed: limits.iter().any(|limits| limits.skew != 0.0),
            limits,
            fallback: recipe.active().position(is_fallback),
            covers: recipe.active().map(TerrainType::covers).collect(),
            lies_over: recipe.active().map(|terrain_type| has_base && terrain_type.blend == TypeBlend::Cover).collect(),
            height_of_90_deg_m: if range > 0.0 { range.to_f32() } else { 1.0 },
            slope_mode: settings.slope_mode,
            masks: TypeMasks::default(),
        }
    }

    /// The same types in a world of this size. With limits in metres, its sides determine which height counts as much as
    /// 90°, so that the nearest type of a place depends neither on places far away nor on the size of the map.
    pub(super) fn in_world(self, unit: Unit, extent: Extent) -> Self {
        /// A usual height range as a share of the longer side.
        const RELIEF: f64 = 0.1;
        match unit {
            Unit::Percent => self,
            Unit::Metres => Self { height_of_90_deg_m: (RELIEF * extent.width_m.max(extent.depth_m)).to_f32(), ..self },
        }
    }

    /// The same types, limited by masks too.
    pub(super) fn with_masks(self, masks: &TypeMasks) -> Self {
        Self { masks: masks.clone(), ..self }
    }

    /// The same types limited by elevation and slope alone.
    pub(super) fn of_elevation_and_slope(mut self) -> Self {
        for limits in &mut self.limits {
            (limits.skew, limits.humidity, limits.shadow) = (0.0, None, None);
        }
        self
    }

    pub(super) fn len(&self) -> usize {
        self.limits.len()
    }

    /// Computes the weights of the types along a row and returns the number of uncovered points. The weights of the
    /// types that cover the surface sum to 1 at every point; an uncovered point goes to the fallback or the nearest
    /// type, and its entry in `sums` stays 0. If no type covers the surface, uncovered points stay without one.
    #[inline(always)]
    pub(super) fn weigh(&self, row: &SurfaceRow, weights: &mut Vec<Vec<f32>>, sums: &mut Vec<f32>) -> usize {
        weights.resize_with(self.limits.len(), Vec::new);
        sums.clear();
        sums.resize(row.len(), 0.0);
        for ((index, limits), weights) in self.limits.iter().enumerate().zip(weights.iter_mut()) {
            limits.weigh(row, weights);
            weights.iter_mut().zip(row.mask(index)).for_each(|(weight, mask)| *weight *= mask);
            if self.is_base(index) {
                sums.iter_mut().zip(&*weights).for_each(|(sum, weight)| *sum += weight);
            }
        }
        let uncovered = sums.iter().map(|sum| usize::from(*sum <= 0.0)).sum();
        if uncovered > 0 && !self.limits.is_empty() {
            self.fill_uncovered(row, weights, sums);
        }
        for start in (0..row.len()).step_by(NORMALISED_AT_ONCE) {
            let block = start..row.len().min(start + NORMALISED_AT_ONCE);
            let (sums, mut factors) = (&sums[block.clone()], [0.0; NORMALISED_AT_ONCE]);
            factors.iter_mut().zip(sums).for_each(|(factor, &sum)| *factor = 1.0 / if sum > 0.0 { sum } else { 1.0 });
            for (_, weights) in weights.iter_mut().enumerate().filter(|(index, _)| self.is_base(*index)) {
                for ((weight, sum), factor) in weights[block.clone()].iter_mut().zip(sums).zip(&factors) {
                    let normalised = *weight * factor;
                    // A single type takes exactly 1, regardless of rounding in the product.
                    *weight = if *weight == *sum && *sum > 0.0 { 1.0 } else { normalised };
                }
            }
        }
        if self.lies_over.contains(&true) { self.lay_over(weights, sums) } else { uncovered }
    }

    /// Whether a type shares the surface with others, below those that lie over them.
    #[inline(always)]
    fn is_base(&self, index: usize) -> bool {
        self.covers[index] && !self.lies_over[index]
    }

    /// Lays the types over each other that hide those below; returns the number of points that no type covers.
    fn lay_over(&self, weights: &mut [Vec<f32>], sums: &mut [f32]) -> usize {
        let mut left = vec![1.0; sums.len()];
        for (_, weights) in weights.iter_mut().enumerate().rev().filter(|(index, _)| self.lies_over[*index]) {
            for (weight, left) in weights.iter_mut().zip(&mut left) {
                *weight *= *left;
                *left -= *weight;
            }
        }
        for (_, weights) in weights.iter_mut().enumerate().filter(|(index, _)| self.is_base(*index)) {
            weights.iter_mut().zip(&left).for_each(|(weight, left)| *weight *= left);
        }
        sums.iter_mut().zip(&left).for_each(|(sum, left)| *sum += 1.0 - left);
        sums.iter().map(|sum| usize::from(*sum <= 0.0)).sum()
    }

    /// Gives uncovered points to the fallback or the nearest type.
    fn fill_uncovered(&self, row: &SurfaceRow, weights: &mut [Vec<f32>], sums: &[f32]) {
        for (i, _) in sums.iter().enumerate().filter(|(_, sum)| **sum <= 0.0) {
            if let Some(filler) = self.fallback.or_else(|| self.nearest(row, i)) {
                weights[filler][i] = 1.0;
            }
        }
    }

    fn nearest(&self, row: &SurfaceRow, i: usize) -> Option<usize> {
        let slope_deg = match self.slope_mode {
            SlopeMode::Degrees => row.slope[i],
            SlopeMode::Classic => libm::acosf(row.slope[i]).to_degrees(),
        };
        // Types that a mask keeps out come last.
        let excess = |index: usize| match row.mask(index).get(i) {
            Some(mask) if *mask <= 0.0 => f32::INFINITY,
            _ => self.limits[index].excess(row, i, slope_deg, self.height_of_90_deg_m),
        };
        (0..self.limits.len()).filter(|&index| self.is_base(index)).min_by(|&a, &b| excess(a).total_cmp(&excess(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::recipe::{TextureSettings, TypeBlend};
    use crate::texture::testing::{limited_type, metres};

    const RANGE: Band = Band { min: 0.0, max: 255.0 };

    /// One point: its height and its gradient.
    fn row(height_m: f32, [east, south]: [f32; 2], mode: SlopeMode) -> SurfaceRow {
        let mut row =
            SurfaceRow { height_m: vec![height_m], east: vec![east], south: vec![south], ..Default::default() };
        row.compute_slopes(mode, true);
        row
    }

    /// The weights of the types at a point, and whether one of them covers it.
    fn weights(recipe: &TextureRecipe, height_m: f32, gradient: [f32; 2]) -> (Vec<f32>, bool) {
        let types = TypeWeights::new(recipe, RANGE);
        let (mut weights, mut sums) = (Vec::new(), Vec::new());
        let uncovered = types.weigh(&row(height_m, gradient, types.slope_mode), &mut weights, &mut sums);
        (weights.into_iter().map(|weights| weights[0]).collect(), uncovered == 0)
    }

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f32]) {
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(close), "{found:?}, not {expected:?}");
    }

    #[test]
    fn types_that_lie_over_the_others_hide_them_by_their_weight() {
        let over = |name: &str, max: f64| TerrainType {
            blend: TypeBlend::Cover,
            elevation_release: 10.0,
            ..limited_type(name, [0.0, max], [0.0, 90.0])
        };
        let ground = limited_type("ground", [0.0, 255.0], [0.0, 90.0]);
        let recipe = metres(vec![over("moss", 100.0), ground.clone(), over("snow", 50.0), ground]);
        let check = |height_m: f32, expected: [f32; 4]| {
            let (found, is_covered) = weights(&recipe, height_m, [0.0; 2]);
            assert_close(&found, &expected);
            assert!(is_covered);
        };
        check(40.0, [0.0, 0.0, 1.0, 0.0]);
        check(55.0, [0.5, 0.0, 0.5, 0.0]);
        check(105.0, [0.5, 0.25, 0.0, 0.25]);
        check(200.0, [0.0, 0.5, 0.0, 0.5]);
        // Without others, they are like them: the nearest one fills what none covers.
        let alone = metres(vec![over("snow", 50.0), over("moss", 50.0)]);
        assert_eq!(weights(&alone, 20.0, [0.0; 2]), (vec![0.5, 0.5], true));
        assert_eq!(weights(&alone, 200.0, [0.0; 2]), (vec![1.0, 0.0], false));
    }

    #[test]
    fn elevation_weights_match_the_source() {
        // Limits 200 … 255, release 24: 1 at 210, 14/24 at 190.
        assert_eq!(band_weight(210.0, [200.0, 255.0], 24.0), 1.0);
        assert!((band_weight(190.0, [200.0, 255.0], 24.0) - 14.0 / 24.0).abs() < 1e-6);
        assert_eq!(band_weight(176.0, [200.0, 255.0], 24.0), 0.0);
        assert_eq!(band_weight(199.9, [200.0, 255.0], 0.0), 0.0);
        assert_eq!(band_weight(200.0, [200.0, 255.0], 0.0), 1.0);
    }

    #[test]
    fn angles_match_the_arc_tangent() {
        for i in 0..=100_000 {
            let steepness = libm::powf(10.0, i as f32 / 10_000.0 - 5.0);
            let expected = libm::atan(f64::from(steepness)).to_degrees();
            let found = slope_degrees(steepness);
            assert!((f64::from(found) - expected).abs() < 1e-4, "{steepness}: {found}, not {expected}");
        }
        assert_eq!(slope_degrees(0.0), 0.0);
        assert_eq!(slope_degrees(f32::INFINITY), 90.0);
    }

    #[test]
    fn weights_on_a_ramp_of_30_degrees() {
        let rock = TerrainType { slope_release_deg: 10.0, ..limited_type("rock", [0.0, 255.0], [35.0, 90.0]) };
        let grass = TerrainType { slope_release_deg: 8.0, ..limited_type("grass", [0.0, 255.0], [0.0, 28.0]) };
        let recipe = metres(vec![rock, grass]);
        let steepness = libm::tanf(30.0_f32.to_radians());
        let (found, covered) = weights(&recipe, 100.0, [steepness, 0.0]);
        assert!(covered);
        assert_close(&found, &[0.5 / 1.25, 0.75 / 1.25]);
    }

    #[test]
    fn the_classic_mode_fades_by_the_cosine() {
        let rock = TerrainType { slope_release_deg: 10.0, ..limited_type("rock", [0.0, 255.0], [35.0, 90.0]) };
        let all = limited_type("all", [0.0, 255.0], [0.0, 90.0]);
        let mut recipe = metres(vec![rock, all]);
        recipe.settings.slope_mode = SlopeMode::Classic;
        // At 30° the cosine is 0.0469 above that of 35°; the fade is sin 10° wide.
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
            ..limited_type("snow", [200.0, 1000.0], [0.0, 90.0])
        };
        let types = TypeWeights::new(&metres(vec![snow]), RANGE);
        // A cone descends from its top: on its southern face the heights fall southward.
        let limit_on = |[east, south]: [f32; 2]| 200.0 + types.limits[0].shift_m(downhill([east, south]));
        assert!((limit_on([0.0, -0.5]) - 230.0).abs() < 1e-3, "face to the south");
        assert!((limit_on([0.0, 0.5]) - 170.0).abs() < 1e-3, "face to the north");
        assert!((limit_on([0.5, 0.0]) - 200.0).abs() < 1e-3, "face to the west");
        assert_eq!(limit_on([0.0, 0.0]), 200.0, "level");
    }

    #[test]
    fn percent_refers_to_the_range() {
        let recipe = TextureRecipe {
            settings: TextureSettings::default(),
            types: vec![limited_type("a", [50.0, 60.0], [0.0, 90.0])].into(),
        };
        let types = TypeWeights::new(&recipe, Band { min: -100.0, max: 300.0 });
        assert_eq!(types.limits[0].elevation, [100.0, 140.0]);
        assert_eq!(types.limits[0].elevation_release, 40.0);
    }

    #[test]
    fn uncovered_points_take_the_fallback_or_the_nearest_type() {
        let low = limited_type("low", [0.0, 50.0], [0.0, 90.0]);
        let high = limited_type("high", [200.0, 255.0], [0.0, 90.0]);
        let mut recipe = metres(vec![low, high]);
        let at = |recipe: &TextureRecipe, height| weights(recipe, height, [0.0; 2]);
        assert_eq!(at(&recipe, 100.0), (vec![1.0, 0.0], false));
        assert_eq!(at(&recipe, 170.0), (vec![0.0, 1.0], false));
        recipe.settings.fallback = Some("low".into());
        assert_eq!(at(&recipe, 170.0), (vec![1.0, 0.0], false));
        assert_eq!(at(&recipe, 20.0), (vec![1.0, 0.0], true));
    }

    #[test]
    fn in_metres_the_nearest_type_depends_on_the_world_and_not_on_its_heights() {
        // 30 m too high for one type, 30° too steep for the other.
        let recipe = metres(vec![
            limited_type("low", [0.0, 50.0], [0.0, 90.0]),
            limited_type("flat", [0.0, 500.0], [0.0, 15.0]),
        ]);
        let nearest = |range_m: f64, side_m: f64| {
            let range_m = Band { min: 0.0, max: range_m };
            let extent = Extent { width_m: side_m, depth_m: 0.5 * side_m };
            let types = TypeWeights::new(&recipe, range_m).in_world(recipe.settings.unit, extent);
            let (mut weights, mut sums) = (Vec::new(), Vec::new());
            types.weigh(&row(80.0, [1.0, 0.0], SlopeMode::Degrees), &mut weights, &mut sums);
            weights.into_iter().map(|weights| weights[0]).collect::<Vec<f32>>()
        };
        for range_m in [90.0, 3000.0] {
            assert_eq!(nearest(range_m, 20_000.0), [1.0, 0.0]);
            assert_eq!(nearest(range_m, 500.0), [0.0, 1.0]);
        }
    }

    #[test]
    fn the_nearest_type_is_the_same_in_both_slope_modes() {
        // 22° is 12° from gentle slopes and 10° from steep ones, but its cosine is nearer to that of 10°.
        let sharp = |slopes| TerrainType { slope_release_deg: 0.0, ..limited_type("", [0.0, 255.0], slopes) };
        let mut recipe = metres(vec![sharp([0.0, 10.0]), sharp([32.0, 90.0])]);
        for (deg, expected) in [(22.0_f32, [0.0, 1.0]), (20.0, [1.0, 0.0])] {
            for mode in [SlopeMode::Degrees, SlopeMode::Classic] {
                recipe.settings.slope_mode = mode;
                let (found, covered) = weights(&recipe, 100.0, [libm::tanf(deg.to_radians()), 0.0]);
                assert_eq!((found, covered), (expected.to_vec(), false), "{deg}° {mode:?}");
            }
        }
    }

    #[test]
    fn the_fallback_is_a_type_that_covers() {
        let soot = TerrainType { blend: TypeBlend::Multiply, ..limited_type("rock", [0.0, 0.0], [0.0, 90.0]) };
        let soil = limited_type("soil", [0.0, 50.0], [0.0, 90.0]);
        let mut recipe = metres(vec![soot, soil, limited_type("rock", [200.0, 255.0], [0.0, 90.0])]);
        recipe.settings.fallback = Some("rock".into());
        assert_eq!(weights(&recipe, 100.0, [0.0; 2]), (vec![0.0, 0.0, 1.0], false));
    }

    #[test]
    fn level_terrain_is_at_0_percent_and_its_nearest_type_is_the_nearest_in_metres() {
        let at = |recipe: &TextureRecipe| {
            let types = TypeWeights::new(recipe, Band { min: 100.0, max: 100.0 });
            let (mut weights, mut sums) = (Vec::new(), Vec::new());
            types.weigh(&row(100.0, [0.0; 2], SlopeMode::Degrees), &mut weights, &mut sums);
            weights.into_iter().map(|weights| weights[0]).collect::<Vec<f32>>()
        };
        let [snow, grass, sand] =
            [[60.0, 100.0], [20.0, 60.0], [0.0, 20.0]].map(|elevation| limited_type("", elevation, [0.0, 90.0]));
        let types = vec![snow, grass, sand].into();
        assert_eq!(at(&TextureRecipe { settings: TextureSettings::default(), types }), [0.0, 0.0, 1.0]);
        let [far, near] = [[130.0, 200.0], [120.0, 200.0]].map(|elevation| limited_type("", elevation, [0.0, 90.0]));
        assert_eq!(at(&metres(vec![far, near])), [0.0, 1.0]);
    }

    #[test]
    fn humidity_and_shade_limit_types() {
        let limits = Limits { min: 0.6, max: 1.0, release: 0.2 };
        let moss = TerrainType {
            humidity: Some(limits),
            shadow: Some(limits),
            ..limited_type("moss", [0.0, 255.0], [0.0, 90.0])
        };
        let types = TypeWeights::new(&metres(vec![moss, limited_type("soil", [0.0, 255.0], [0.0, 90.0])]), RANGE);
        let mut row = row(10.0, [0.0; 2], SlopeMode::Degrees);
        let (mut weights, mut sums) = (Vec::new(), Vec::new());
        for (humidity, shade, expected) in [(0.8, 0.9, 1.0), (0.5, 0.7, 0.5), (0.5, 0.5, 0.25), (0.3, 0.9, 0.0)] {
            (row.humidity, row.shade) = (vec![humidity], vec![shade]);
            types.weigh(&row, &mut weights, &mut sums);
            assert_close(&[weights[0][0], weights[1][0]], &[expected / (1.0 + expected), 1.0 / (1.0 + expected)]);
        }
    }
}
