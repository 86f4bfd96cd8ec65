//! Painting the land by height, slope and exposure.
//!
//! After "Generating Terrain Textures", flipCode, 31 May 2001: each terrain type has a weight at each point, the
//! product of an elevation factor and a slope factor, and the colour is the weighted mean. Blending is done in linear
//! light.

use rayon::prelude::*;

use super::heightfield::Heightfield;
use super::light::Light;
use super::monitor::{Cancelled, Monitor};
use super::parameters::{Band, Colour, Spec, choices, parameters};
use super::picture::{Picture, linear_from_srgb, srgb_from_linear};

choices! {
    /// What elevations are measured in.
    pub enum Unit {
        /// Percent of the height range: the same paint for every land.
        Percent = "percent", "Percent of the range";
        /// Metres.
        Metres = "metres", "Metres";
    }
}

parameters! {
    /// How all terrain types work together.
    pub struct TextureSettings {
        /// What elevations are measured in.
        unit: Unit = Unit::Percent, Spec::new("Elevations in");
        /// The terrain type that lies where no other does; empty: the one that is nearest to its limits.
        fallback: Option<String> = None, Spec::new("Fallback");
    }
}

parameters! {
    /// A kind of ground and where it lies.
    pub struct TerrainType {
        /// The name, as weight maps carry it.
        name: String = "Ground".into(), Spec::new("Name");
        /// The colour, in sRGB.
        colour: Colour = Colour([0x8a, 0x84, 0x76]), Spec::new("Colour");
        /// Between which elevations it lies.
        elevation: Band = Band { min: 0.0, max: 100.0 },
            Spec::number("Elevation", -100_000.0, 100_000.0).slider(0.0, 100.0);
        /// How far it fades out above and below its elevations; 0 is a sharp edge.
        elevation_release: f64 = 10.0, Spec::number("Elevation release", 0.0, 100_000.0).slider(0.0, 50.0);
        /// On which slopes it lies: 0° is flat, 90° a wall.
        slope_deg: Band = Band { min: 0.0, max: 90.0 }, Spec::number("Slope", 0.0, 90.0).unit("°");
        /// How far it fades out on gentler and steeper slopes; 0 is a sharp edge.
        slope_release_deg: f64 = 10.0, Spec::number("Slope release", 0.0, 90.0).slider(0.0, 45.0).unit("°");
        /// How far its elevations shift up on faces turned to the skew azimuth, and down on those turned away: snow
        /// lies lower on the shady side.
        skew: f64 = 0.0, Spec::number("Skew", -100_000.0, 100_000.0).slider(-50.0, 50.0);
        /// The compass direction of the skew, clockwise from north; usually where the sun stands at noon.
        skew_azimuth_deg: f64 = 180.0, Spec::number("Skew azimuth", -360.0, 360.0).slider(0.0, 360.0).unit("°");
        /// Whether the type takes part.
        enabled: bool = true, Spec::new("Enabled");
    }
}

/// How the land is painted.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureRecipe {
    /// How all types work together.
    pub settings: TextureSettings,
    /// The types, in the order in which they are listed.
    pub types: Vec<TerrainType>,
}

impl TextureRecipe {
    /// Sand, grass, rock and snow by elevation and slope in percent: what land wears until somebody paints it.
    pub fn starter() -> Self {
        let ground = |name: &str, colour, [low, high]: [f64; 2], [flat, steep]: [f64; 2]| TerrainType {
            name: name.into(),
            colour: Colour(colour),
            elevation: Band { min: low, max: high },
            slope_deg: Band { min: flat, max: steep },
            ..Default::default()
        };
        Self {
            settings: TextureSettings::default(),
            types: vec![
                ground("Meadow", [0x6f, 0x7f, 0x46], [0.0, 45.0], [0.0, 22.0]),
                ground("Forest", [0x3f, 0x52, 0x33], [12.0, 55.0], [8.0, 32.0]),
                ground("Rock", [0x7d, 0x75, 0x6b], [0.0, 100.0], [36.0, 90.0]),
                ground("Scree", [0x9a, 0x91, 0x84], [58.0, 80.0], [0.0, 36.0]),
                ground("Snow", [0xee, 0xf2, 0xf6], [84.0, 100.0], [0.0, 40.0]),
            ],
        }
    }
}

impl Default for TextureRecipe {
    fn default() -> Self {
        Self::starter()
    }
}

/// 1 within the band, falling to 0 over `release` outside it; a release of 0 is a sharp edge.
pub(super) fn factor(value: f32, [min, max]: [f32; 2], release: f32) -> f32 {
    let outside = (min - value).max(value - max);
    if outside <= 0.0 {
        1.0
    } else if outside < release {
        (release - outside) / release
    } else {
        0.0
    }
}

/// A terrain type with everything that does not depend on the point worked out, elevations in metres.
#[derive(Clone, Debug)]
struct Paint {
    colour: [f32; 3],
    elevation: [f32; 2],
    elevation_release: f32,
    slope_deg: [f32; 2],
    slope_release_deg: f32,
    skew: f32,
    /// The compass direction of the skew on the map: east, south.
    towards: [f32; 2],
}

/// What the ground is like at a point.
#[derive(Clone, Copy, Debug)]
struct Ground {
    height_m: f32,
    slope_deg: f32,
    /// The unit normal: east, up, south.
    normal: [f32; 3],
}

impl Ground {
    fn new(height_m: f32, [east, south]: [f32; 2]) -> Self {
        let steepness = east * east + south * south;
        let up = 1.0 / (1.0 + steepness).sqrt();
        Self { height_m, slope_deg: libm::atanf(steepness.sqrt()).to_degrees(), normal: [-east * up, up, -south * up] }
    }
}

impl Paint {
    fn new(ground: &TerrainType, to_metres: impl Fn(f64) -> f64, metres_per_unit: f64) -> Self {
        let azimuth = ground.skew_azimuth_deg.to_radians();
        Self {
            colour: ground.colour.0.map(linear_from_srgb),
            elevation: [to_metres(ground.elevation.min) as f32, to_metres(ground.elevation.max) as f32],
            elevation_release: (ground.elevation_release * metres_per_unit) as f32,
            slope_deg: [ground.slope_deg.min as f32, ground.slope_deg.max as f32],
            slope_release_deg: ground.slope_release_deg as f32,
            skew: (ground.skew * metres_per_unit) as f32,
            towards: [libm::sin(azimuth) as f32, -libm::cos(azimuth) as f32],
        }
    }

    /// The elevation limits at a point: both move by skew·s, s = 1 on a face turned to the azimuth and −1 on one
    /// turned away; level ground has no exposure.
    fn skewed_elevation(&self, ground: &Ground) -> [f32; 2] {
        let [nx, _, nz] = ground.normal;
        let level = nx * nx + nz * nz;
        if self.skew == 0.0 || level < 1e-5 {
            return self.elevation;
        }
        let exposure = (nx * self.towards[0] + nz * self.towards[1]) / level.sqrt();
        self.elevation.map(|limit| limit + self.skew * exposure)
    }

    fn weight(&self, ground: &Ground) -> f32 {
        let by_slope = factor(ground.slope_deg, self.slope_deg, self.slope_release_deg);
        if by_slope == 0.0 {
            return 0.0;
        }
        by_slope * factor(ground.height_m, self.skewed_elevation(ground), self.elevation_release)
    }

    /// How far the point lies outside the type's limits: shares of the height range and of 90° added up.
    fn excess(&self, ground: &Ground, range_m: f32) -> f32 {
        let outside = |value: f32, [min, max]: [f32; 2]| (min - value).max(value - max).max(0.0);
        outside(ground.height_m, self.skewed_elevation(ground)) / range_m.max(f32::MIN_POSITIVE)
            + outside(ground.slope_deg, self.slope_deg) / 90.0
    }
}

/// The terrain types made ready for one land.
#[derive(Clone, Debug)]
pub struct Palette {
    paints: Vec<Paint>,
    fallback: Option<usize>,
    range_m: f32,
}

impl Palette {
    /// The enabled types of a recipe, with percent taken of `height_range_m`.
    pub fn new(recipe: &TextureRecipe, height_range_m: Band) -> Self {
        let range = height_range_m.max - height_range_m.min;
        let metres_per_unit = match recipe.settings.unit {
            Unit::Percent => range / 100.0,
            Unit::Metres => 1.0,
        };
        let to_metres = |elevation: f64| match recipe.settings.unit {
            Unit::Percent => height_range_m.min + elevation * metres_per_unit,
            Unit::Metres => elevation,
        };
        let enabled = || recipe.types.iter().filter(|ground| ground.enabled);
        Self {
            paints: enabled().map(|ground| Paint::new(ground, to_metres, metres_per_unit)).collect(),
            fallback: enabled().position(|ground| Some(&ground.name) == recipe.settings.fallback.as_ref()),
            range_m: range as f32,
        }
    }

    /// The weights of the types at a point, which sum to 1; returns false where no type covers the point and the
    /// fallback was taken. Without any type there is nothing to fill.
    fn weigh(&self, ground: &Ground, weights: &mut [f32]) -> bool {
        let mut sum = 0.0;
        for (weight, paint) in weights.iter_mut().zip(&self.paints) {
            *weight = paint.weight(ground);
            sum += *weight;
        }
        if sum > 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= sum);
            return true;
        }
        let excess = |i: usize| self.paints[i].excess(ground, self.range_m);
        let nearest = || (0..self.paints.len()).min_by(|&a, &b| excess(a).total_cmp(&excess(b)));
        if let Some(fallback) = self.fallback.or_else(nearest) {
            weights[fallback] = 1.0;
        }
        false
    }
}

/// The colour of land without any terrain type, in linear light.
const BARE: [f32; 3] = [0.25; 3];

/// A painted land.
#[derive(Clone, Debug, PartialEq)]
pub struct Painting {
    /// The texture.
    pub picture: Picture,
    /// The share of the pixels that no type covers.
    pub uncovered: f32,
}

/// The land's height range: the project's fixed one where it is set, else the land's own.
pub fn height_range_m(land: &Heightfield, fixed: Option<Band>) -> Band {
    let [low, high] = land.min_max();
    fixed.unwrap_or(Band { min: f64::from(low), max: f64::from(high) })
}

/// How the land reflects light: factors on a linear colour.
#[derive(Clone, Copy, Debug)]
struct Shine {
    towards: [f32; 3],
    direct: [f32; 3],
    ambient: [f32; 3],
}

impl Shine {
    fn new(light: &Light) -> Self {
        let scaled = |colour: Colour, strength: f64| colour.0.map(|c| linear_from_srgb(c) * strength as f32);
        Self {
            towards: light.towards_sun(),
            direct: scaled(light.direct_colour, light.direct),
            ambient: scaled(light.ambient_colour, light.ambient),
        }
    }

    /// direct · max(0, n·L) + ambient.
    fn on(&self, normal: [f32; 3]) -> [f32; 3] {
        let cosine: f32 = normal.iter().zip(&self.towards).map(|(n, l)| n * l).sum();
        std::array::from_fn(|i| self.direct[i] * cosine.max(0.0) + self.ambient[i])
    }
}

/// Two rows of gradients, kept from one row of pixels to the next.
#[derive(Default)]
struct Gradients {
    first_row: Option<usize>,
    rows: [Vec<[f32; 2]>; 2],
}

impl Gradients {
    fn move_to(&mut self, land: &Heightfield, r: usize) {
        if self.first_row != Some(r) {
            self.first_row = Some(r);
            for (i, row) in self.rows.iter_mut().enumerate() {
                row.clear();
                row.extend((0..land.grid().width()).map(|c| land.gradient(c, r + i)));
            }
        }
    }
}

/// Where a pixel's centre lies between samples: the first sample and the way to the next.
fn between(pixel: usize, pixels: usize, samples: usize) -> (usize, f32) {
    let position = (pixel as f64 + 0.5) / pixels as f64 * (samples - 1) as f64;
    let first = (position as usize).min(samples - 2);
    (first, (position - first as f64) as f32)
}

/// Paints the land on `width` × `height` pixels, lit where a light is given. Pixel (i, j) has its centre at
/// ((i + ½)/width·Lx, (j + ½)/height·Lz); heights and normals are bilinear between samples.
pub fn paint(
    land: &Heightfield,
    recipe: &TextureRecipe,
    fixed_range_m: Option<Band>,
    light: Option<&Light>,
    [width, height]: [usize; 2],
    monitor: &Monitor,
) -> Result<Painting, Cancelled> {
    let palette = Palette::new(recipe, height_range_m(land, fixed_range_m));
    let shine = light.map(Shine::new);
    let grid = land.grid();
    let columns: Vec<(usize, f32)> = (0..width).map(|i| between(i, width, grid.width())).collect();
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let tally = monitor.tally(height);
    let mut pixels = vec![[0; 4]; width * height];
    let covered: usize = pixels
        .par_chunks_mut(width)
        .enumerate()
        .map_init(
            || (Gradients::default(), vec![0.0; palette.paints.len()]),
            |(gradients, weights), (j, row)| {
                let (r, v) = between(j, height, grid.height());
                gradients.move_to(land, r);
                let (heights, [north, south]) = ([land.row(r), land.row(r + 1)], &gradients.rows);
                let mut covered = 0;
                for (pixel, &(c, u)) in row.iter_mut().zip(&columns) {
                    let height_m =
                        mix(mix(heights[0][c], heights[0][c + 1], u), mix(heights[1][c], heights[1][c + 1], u), v);
                    let gradient: [f32; 2] = std::array::from_fn(|i| {
                        mix(mix(north[c][i], north[c + 1][i], u), mix(south[c][i], south[c + 1][i], u), v)
                    });
                    let ground = Ground::new(height_m, gradient);
                    covered += usize::from(palette.weigh(&ground, weights));
                    let mut colour = if weights.is_empty() { BARE } else { [0.0; 3] };
                    for (weight, paint) in weights.iter().zip(&palette.paints) {
                        for (sum, channel) in colour.iter_mut().zip(paint.colour) {
                            *sum += weight * channel;
                        }
                    }
                    if let Some(shine) = &shine {
                        let lit = shine.on(ground.normal);
                        colour.iter_mut().zip(lit).for_each(|(channel, lit)| *channel *= lit);
                    }
                    let [red, green, blue] = colour.map(srgb_from_linear);
                    *pixel = [red, green, blue, 255];
                }
                tally.add_one().map(|()| covered)
            },
        )
        .try_reduce(|| 0, |a, b| Ok(a + b))?;
    let uncovered = 1.0 - covered as f32 / (width * height).max(1) as f32;
    Ok(Painting { picture: Picture { width, height, pixels }, uncovered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    const WORLD: Extent = Extent { width_m: 640.0, depth_m: 640.0 };

    fn ground(name: &str, colour: [u8; 3], elevation: [f64; 2], slope: [f64; 2]) -> TerrainType {
        TerrainType {
            name: name.into(),
            colour: Colour(colour),
            elevation: Band { min: elevation[0], max: elevation[1] },
            slope_deg: Band { min: slope[0], max: slope[1] },
            ..Default::default()
        }
    }

    fn metres(types: Vec<TerrainType>) -> TextureRecipe {
        TextureRecipe { settings: TextureSettings { unit: Unit::Metres, fallback: None }, types }
    }

    fn weights(recipe: &TextureRecipe, range: Band, at: Ground) -> (Vec<f32>, bool) {
        let palette = Palette::new(recipe, range);
        let mut weights = vec![0.0; palette.paints.len()];
        let covered = palette.weigh(&at, &mut weights);
        (weights, covered)
    }

    const RANGE: Band = Band { min: 0.0, max: 255.0 };

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
    fn weights_on_a_ramp_of_30_degrees() {
        let mut rock = ground("rock", [0; 3], [0.0, 255.0], [35.0, 90.0]);
        rock.slope_release_deg = 10.0;
        let mut grass = ground("grass", [0; 3], [0.0, 255.0], [0.0, 28.0]);
        grass.slope_release_deg = 8.0;
        let steepness = libm::tanf(30.0_f32.to_radians());
        let (found, covered) = weights(&metres(vec![rock, grass]), RANGE, Ground::new(100.0, [steepness, 0.0]));
        let expected = [0.5, 0.75].map(|w: f32| w / 1.25);
        assert!(covered && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}");
    }

    #[test]
    fn skew_moves_the_limits_on_the_faces_of_a_cone() {
        let mut snow = ground("snow", [255; 3], [200.0, 1000.0], [0.0, 90.0]);
        snow.elevation_release = 20.0;
        snow.skew = 30.0;
        snow.skew_azimuth_deg = 180.0;
        let recipe = metres(vec![snow]);
        let palette = Palette::new(&recipe, RANGE);
        // A cone falls away from its top: its southern face has a normal to the south, so h falls southward.
        let limit_on = |gradient| palette.paints[0].skewed_elevation(&Ground::new(0.0, gradient))[0];
        assert!((limit_on([0.0, -0.5]) - 230.0).abs() < 1e-3, "face to the south");
        assert!((limit_on([0.0, 0.5]) - 170.0).abs() < 1e-3, "face to the north");
        assert!((limit_on([0.5, 0.0]) - 200.0).abs() < 1e-3, "face to the west");
        assert_eq!(limit_on([0.0, 0.0]), 200.0, "level");
    }

    #[test]
    fn percent_is_of_the_range() {
        let recipe = TextureRecipe {
            settings: TextureSettings::default(),
            types: vec![ground("a", [0; 3], [50.0, 60.0], [0.0, 90.0])],
        };
        let palette = Palette::new(&recipe, Band { min: -100.0, max: 300.0 });
        assert_eq!(palette.paints[0].elevation, [100.0, 140.0]);
        assert_eq!(palette.paints[0].elevation_release, 40.0);
    }

    #[test]
    fn uncovered_ground_takes_the_fallback_or_the_nearest_type() {
        let low = ground("low", [0; 3], [0.0, 50.0], [0.0, 90.0]);
        let high = ground("high", [0; 3], [200.0, 255.0], [0.0, 90.0]);
        let mut recipe = metres(vec![low, high]);
        let at = |recipe: &TextureRecipe, height| weights(recipe, RANGE, Ground::new(height, [0.0; 2]));
        assert_eq!(at(&recipe, 100.0), (vec![1.0, 0.0], false));
        assert_eq!(at(&recipe, 170.0), (vec![0.0, 1.0], false));
        recipe.settings.fallback = Some("low".into());
        assert_eq!(at(&recipe, 170.0), (vec![1.0, 0.0], false));
        assert_eq!(at(&recipe, 20.0), (vec![1.0, 0.0], true));
    }

    #[test]
    fn no_pixel_is_black_without_types() {
        let land = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let painting = paint(&land, &metres(vec![]), None, None, [4, 4], &Monitor::new()).expect("not cancelled");
        assert!(painting.picture.pixels.iter().all(|pixel| pixel[0] > 100));
        assert_eq!(painting.uncovered, 1.0);
    }

    #[test]
    fn colours_meet_in_linear_light_and_light_is_applied_there() {
        let mut white = ground("white", [255; 3], [0.0, 0.0], [0.0, 90.0]);
        white.elevation_release = 10.0;
        let mut black = white.clone();
        black.colour = Colour([0; 3]);
        let land = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let light = Light { altitude_deg: 30.0, direct: 0.5, ambient: 0.25, ..Default::default() };
        let recipe = metres(vec![white, black]);
        let pixel = |light| {
            paint(&land, &recipe, None, light, [2, 2], &Monitor::new()).expect("not cancelled").picture.pixels[0]
        };
        assert_eq!(pixel(None), [188, 188, 188, 255]);
        // Level ground under a sun at 30°: 0.5 · (0.5 · sin 30° + 0.25) = 0.25, which is 137 in sRGB.
        assert_eq!(pixel(Some(&light)), [137, 137, 137, 255]);
    }

    #[test]
    fn pixels_lie_between_samples() {
        // A plane that rises eastward: half-way types meet exactly in the middle of the picture.
        let land = Heightfield::from_fn(Grid::new(WORLD, 65, 65), |c, _| c as f32);
        let sharp = |mut ground: TerrainType| {
            ground.elevation_release = 0.0;
            ground
        };
        let west = sharp(ground("west", [255, 0, 0], [0.0, 32.0], [0.0, 90.0]));
        let east = sharp(ground("east", [0, 0, 255], [32.0, 64.0], [0.0, 90.0]));
        let painting = paint(&land, &metres(vec![west, east]), None, None, [10, 6], &Monitor::new()).expect("done");
        for row in painting.picture.pixels.chunks(10) {
            assert!(row[..5].iter().all(|pixel| pixel[0] == 255) && row[5..].iter().all(|pixel| pixel[2] == 255));
        }
    }
}
