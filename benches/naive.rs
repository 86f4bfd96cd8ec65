//! Naive implementations of the engine's algorithms: the double loops of the publications in f32 on one thread. They
//! are the baseline of the benchmarks, and the optimised code must agree with them within rounding.

use std::collections::BTreeMap;
use std::sync::Arc;

use upthrust::engine::fault::{Fault, Profile};
use upthrust::engine::light::Light;
use upthrust::engine::operations::{Segment, Tree};
use upthrust::engine::parameters::{Band, Limits, TextureName};
use upthrust::engine::texture::{SlopeMode, SurfaceMaps, TerrainType, TextureRecipe, TextureSettings, TypeBlend, Unit};
use upthrust::engine::{Grid, Heightfield, Image};

/// Adds one fault after another to every sample. What does not change within a row is computed once, and the loops
/// vectorize, so that they are as fast as in C.
#[inline(always)]
pub fn faults(grid: Grid, faults: &[Fault]) -> Vec<f32> {
    let mut heights = vec![0.0_f32; grid.samples()];
    for fault in faults {
        let (lift, zone) = (fault.displacement_m as f32, fault.zone_m as f32);
        match fault.profile {
            Profile::Step => by_distance(grid, fault, &mut heights, |dist| if dist >= 0.0 { lift } else { -lift }),
            Profile::Smooth => {
                let per_m = 1.0 / (2.0 * zone);
                by_distance(grid, fault, &mut heights, |dist| {
                    let u = (dist * per_m + 0.5).clamp(0.0, 1.0);
                    lift * (2.0 * (u * u * (3.0 - 2.0 * u)) - 1.0)
                });
            }
            Profile::Sine => {
                let per_m = std::f32::consts::PI / zone;
                by_distance(
                    grid,
                    fault,
                    &mut heights,
                    |dist| {
                        if dist.abs() < zone { lift * sine(dist * per_m) } else { 0.0 }
                    },
                );
            }
            other => unimplemented!("{other:?} is not measured"),
        }
    }
    heights
}

/// Adds `lift` of the signed distance from the line of a fault to every height.
#[inline(always)]
fn by_distance(grid: Grid, fault: &Fault, heights: &mut [f32], lift: impl Fn(f32) -> f32) {
    let [dx, dz] = [grid.spacing_x_m(), grid.spacing_z_m()].map(|m| m as f32);
    let ([px, pz], [nx, nz]) = (fault.point_m.map(|m| m as f32), fault.normal.map(|n| n as f32));
    let along = dx * nx;
    for (r, row) in heights.chunks_exact_mut(grid.width()).enumerate() {
        let west = (r as f32 * dz - pz) * nz - px * nx;
        for (height, c) in row.iter_mut().zip(0_i32..) {
            *height += lift(west + c as f32 * along);
        }
    }
}

/// Adds one BSP tree after another to every sample, walking it from the root to a leaf.
#[inline(always)]
pub fn trees(grid: Grid, trees: &[Tree]) -> Vec<f32> {
    let mut heights = vec![0.0_f32; grid.samples()];
    let (dx, dz) = (grid.spacing_x_m() as f32, grid.spacing_z_m() as f32);
    for tree in trees {
        let nodes: Vec<[f32; 4]> = tree
            .nodes
            .iter()
            .map(|Segment { from_m: [px, pz], to_m: [qx, qz] }| [*px, *pz, pz - qz, qx - px].map(|m| m as f32))
            .collect();
        each(&mut heights, grid.width(), |c, r| {
            let (x, z) = (c * dx, r * dz);
            let (mut node, mut amplitude, mut lift) = (0, tree.displacement_m as f32, 0.0);
            while let Some([px, pz, nx, nz]) = nodes.get(node) {
                let is_right = (x - px) * nx + (z - pz) * nz >= 0.0;
                lift += if is_right { amplitude } else { -amplitude };
                node = 2 * node + 1 + usize::from(is_right);
                amplitude *= 0.5;
            }
            lift
        });
    }
    heights
}

/// The sine of the standard library, as used in the publications.
#[expect(clippy::disallowed_methods, reason = "the baseline is what somebody would write first")]
fn sine(angle: f32) -> f32 {
    angle.sin()
}

#[inline(always)]
fn each(heights: &mut [f32], width: usize, lift: impl Fn(f32, f32) -> f32) {
    for (r, row) in heights.chunks_exact_mut(width).enumerate() {
        for (c, height) in row.iter_mut().enumerate() {
            *height += lift(c as f32, r as f32);
        }
    }
}

/// The sequential recursive filter with four sweeps, one sample after another.
#[inline(always)]
pub fn recursive_filter(heights: &mut [f32], width: usize, k: f32, passes: u32) {
    let height = heights.len() / width;
    for _ in 0..passes {
        for r in 0..height {
            for c in 1..width {
                heights[r * width + c] = k * heights[r * width + c - 1] + (1.0 - k) * heights[r * width + c];
            }
            for c in (0..width - 1).rev() {
                heights[r * width + c] = k * heights[r * width + c + 1] + (1.0 - k) * heights[r * width + c];
            }
        }
        for c in 0..width {
            for r in 1..height {
                heights[r * width + c] = k * heights[(r - 1) * width + c] + (1.0 - k) * heights[r * width + c];
            }
            for r in (0..height - 1).rev() {
                heights[r * width + c] = k * heights[(r + 1) * width + c] + (1.0 - k) * heights[r * width + c];
            }
        }
    }
}

/// The normals at the samples as 8-bit RGB with green pointing north.
#[inline(always)]
pub fn normals(terrain: &Heightfield) -> Vec<u8> {
    let grid = terrain.grid();
    let (dx, dz) = (grid.spacing_x_m() as f32, grid.spacing_z_m() as f32);
    let mut channels = Vec::with_capacity(3 * grid.samples());
    for r in 0..grid.height() {
        for c in 0..grid.width() {
            let (west, east) = (c.saturating_sub(1), (c + 1).min(grid.width() - 1));
            let (north, south) = (r.saturating_sub(1), (r + 1).min(grid.height() - 1));
            let x = (terrain[(west, r)] - terrain[(east, r)]) / ((east - west) as f32 * dx);
            let y = (terrain[(c, south)] - terrain[(c, north)]) / ((south - north) as f32 * dz);
            let length = (x * x + y * y + 1.0).sqrt();
            channels.extend([x, y, 1.0].map(|part| ((part / length * 0.5 + 0.5) * 255.0).round() as u8));
        }
    }
    channels
}

/// The minimum, maximum and mean height, and a histogram between minimum and maximum.
#[inline(always)]
pub fn statistics(terrain: &Heightfield, bins: usize) -> ([f32; 2], f64, Vec<f32>) {
    let heights = terrain.heights();
    let (mut low, mut high, mut sum) = (f32::INFINITY, f32::NEG_INFINITY, 0.0);
    for &height in heights {
        (low, high, sum) = (low.min(height), high.max(height), sum + f64::from(height));
    }
    let mut counts = vec![0_u32; bins];
    for &height in heights {
        counts[(((height - low) / (high - low) * bins as f32) as usize).min(bins - 1)] += 1;
    }
    let share = |count: &u32| *count as f32 / heights.len() as f32;
    ([low, high], sum / heights.len() as f64, counts.iter().map(share).collect())
}

/// The inputs of [`texture`].
pub struct TextureInput<'a> {
    pub terrain: &'a Heightfield,
    pub surface_maps: &'a SurfaceMaps,
    pub recipe: &'a TextureRecipe,
    pub tiles: &'a BTreeMap<TextureName, Image>,
    pub fixed_range_m: Option<Band>,
    pub light: Option<&'a Light>,
    pub size: [usize; 2],
}

/// 1 within the limits, falling to 0 over the release outside of them.
fn fade(value: f64, [min, max]: [f64; 2], release: f64) -> f64 {
    let distance = if value < min { min - value } else { value - max };
    if distance <= 0.0 {
        1.0
    } else if distance < release {
        (release - distance) / release
    } else {
        0.0
    }
}

/// The position of a pixel's centre: the sample to the north-west and the fractions towards the next ones.
struct PixelPosition {
    column: usize,
    row: usize,
    east: f64,
    south: f64,
}

impl PixelPosition {
    fn new(grid: Grid, [width, height]: [usize; 2], i: usize, j: usize) -> Self {
        let x = (i as f64 + 0.5) / width as f64 * (grid.width() - 1) as f64;
        let z = (j as f64 + 0.5) / height as f64 * (grid.height() - 1) as f64;
        let (column, row) = ((x as usize).min(grid.width() - 2), (z as usize).min(grid.height() - 2));
        Self { column, row, east: x - column as f64, south: z - row as f64 }
    }

    /// Interpolates bilinearly.
    fn mix(&self, at: impl Fn(usize, usize) -> f32) -> f64 {
        let Self { column, row, east, south } = *self;
        let line = |r: usize| f64::from(at(column, r)) * (1.0 - east) + f64::from(at(column + 1, r)) * east;
        line(row) * (1.0 - south) + line(row + 1) * south
    }
}

/// Surface properties at a pixel.
struct SurfacePoint {
    height: f64,
    normal: [f64; 3],
    slope_deg: f64,
    humidity: f64,
    shade: f64,
    place_m: [f64; 2],
}

/// Paints the texture pixel by pixel: height and normal, the weights of the types, their mean in linear light, types
/// that multiply or overlay, the light, and conversion to sRGB. Types have their colour, or a plainly repeated tile.
#[inline(always)]
pub fn texture(canvas: &TextureInput) -> Vec<[u8; 4]> {
    let &TextureInput { terrain, surface_maps, recipe, light, size, .. } = canvas;
    let grid = terrain.grid();
    let [low, high] = match canvas.fixed_range_m {
        Some(range) => [range.min, range.max],
        None => terrain.min_max().map(f64::from),
    };
    let share = |map: &Option<Arc<Heightfield>>, spot: &PixelPosition, without: f64| {
        map.as_ref().map_or(without, |map| spot.mix(|c, r| map[(c, r)]))
    };
    let mut pixels = Vec::new();
    for j in 0..size[1] {
        for i in 0..size[0] {
            let spot = PixelPosition::new(grid, size, i, j);
            let [east, south] = [0, 1].map(|axis| spot.mix(|c, r| terrain.gradient(c, r)[axis]));
            let length = (1.0 + east * east + south * south).sqrt();
            let point = SurfacePoint {
                height: spot.mix(|c, r| terrain[(c, r)]),
                normal: [-east / length, 1.0 / length, -south / length],
                slope_deg: libm::acos(1.0 / length).to_degrees(),
                humidity: share(&surface_maps.humidity, &spot, 0.0),
                shade: share(&surface_maps.shade, &spot, 0.0),
                place_m: [
                    (i as f64 + 0.5) / size[0] as f64 * grid.extent().width_m,
                    (j as f64 + 0.5) / size[1] as f64 * grid.extent().depth_m,
                ],
            };
            let colour = colour(recipe, canvas.tiles, &point, [low, high]);
            let shine = light.map_or([1.0; 3], |light| {
                let sun = light.towards_sun().map(f64::from);
                let cosine = point.normal.iter().zip(sun).map(|(n, l)| n * l).sum::<f64>().max(0.0);
                let sunlight = 1.0 - light.shadows * (1.0 - share(&surface_maps.sunlight, &spot, 1.0));
                let sky = 1.0 - light.occlusion * (1.0 - share(&surface_maps.sky, &spot, 1.0));
                let [direct, ambient] = [light.direct_colour, light.ambient_colour].map(|colour| colour.0.map(linear));
                [0, 1, 2].map(|c| light.direct * direct[c] * cosine * sunlight + light.ambient * ambient[c] * sky)
            });
            let [red, green, blue] = [0, 1, 2].map(|c| encoded(colour[c] * shine[c]));
            pixels.push([red, green, blue, 255]);
        }
    }
    pixels
}

/// The shift of the elevation limits of a type by its skew.
fn shift(kind: &TerrainType, [x, _, z]: [f64; 3], per_unit: f64) -> f64 {
    if x * x + z * z < 1e-5 {
        return 0.0;
    }
    let azimuth = kind.skew_azimuth_deg.to_radians();
    kind.skew * per_unit * (x * libm::sin(azimuth) - z * libm::cos(azimuth)) / (x * x + z * z).sqrt()
}

/// The mean of the covering types, multiplied and overlaid by the others, in linear light.
#[expect(clippy::too_many_lines, reason = "the published algorithm in one piece, to compare with")]
fn colour(
    recipe: &TextureRecipe,
    tiles: &BTreeMap<TextureName, Image>,
    point: &SurfacePoint,
    [low, high]: [f64; 2],
) -> [f64; 3] {
    let own = |kind: &TerrainType| match kind.texture.as_ref().and_then(|name| tiles.get(name)) {
        Some(tile) => tile_at(tile, point.place_m.map(|m| m / kind.repeat_m)),
        None => kind.colour.0.map(linear),
    };
    let TextureSettings { unit, slope_mode, active_set, fallback } = &recipe.settings;
    let (zero, per_unit) = match unit {
        // Flat terrain is at 0 %.
        Unit::Percent => (low, if high > low { (high - low) / 100.0 } else { 1.0 }),
        Unit::Metres => (0.0, 1.0),
    };
    let active: Vec<&TerrainType> = recipe
        .types
        .iter()
        .filter(|kind| kind.enabled)
        .filter(|kind| kind.set.is_empty() || active_set.as_ref().is_none_or(|set| *set == kind.set))
        .collect();
    let elevation = |kind: &TerrainType| {
        let shift = shift(kind, point.normal, per_unit);
        [kind.elevation.min, kind.elevation.max].map(|limit| zero + limit * per_unit + shift)
    };
    // The slope, its limits and its release.
    let slope = |kind: &TerrainType| match slope_mode {
        SlopeMode::Degrees => (point.slope_deg, [kind.slope_deg.min, kind.slope_deg.max], kind.slope_release_deg),
        SlopeMode::Classic => {
            let cosine = |deg: f64| libm::cos(deg.to_radians());
            let limits = [cosine(kind.slope_deg.max), cosine(kind.slope_deg.min)];
            (point.normal[1], limits, libm::sin(kind.slope_release_deg.to_radians()))
        }
    };
    let third = |limits: Option<Limits>, value: f64| {
        limits.map_or(1.0, |Limits { min, max, release }| fade(value, [min, max], release))
    };
    let mut weights: Vec<f64> = active
        .iter()
        .map(|kind| {
            let (angle, limits, release) = slope(kind);
            fade(point.height, elevation(kind), kind.elevation_release * per_unit)
                * fade(angle, limits, release)
                * third(kind.humidity, point.humidity)
                * third(kind.shadow, point.shade)
        })
        .collect();
    let covers: Vec<bool> =
        active.iter().map(|kind| matches!(kind.blend, TypeBlend::Normal | TypeBlend::Height)).collect();
    let covering: Vec<usize> = (0..active.len()).filter(|&at| covers[at]).collect();

    // Without any weight, use the fallback or the type with the nearest limits.
    if covering.iter().all(|&at| weights[at] == 0.0) {
        let excess = |at: usize| {
            let Band { min, max } = active[at].slope_deg;
            let outside = |value: f64, [min, max]: [f64; 2]| (min - value).max(value - max).max(0.0);
            let range = if high > low { high - low } else { 1.0 };
            outside(point.height, elevation(active[at])) / range + outside(point.slope_deg, [min, max]) / 90.0
        };
        let named = covering.iter().find(|&&at| Some(&active[at].name) == fallback.as_ref());
        let nearest = covering.iter().min_by(|&&a, &&b| excess(a).total_cmp(&excess(b)));
        if let Some(&at) = named.or(nearest) {
            weights[at] = 1.0;
        }
    }
    let total: f64 = covering.iter().map(|&at| weights[at]).sum();
    covering.iter().for_each(|&at| weights[at] /= total);

    // Without textures every relief is ½, so the weights decide, within ¼ of the highest.
    let present: Vec<usize> = covering.iter().copied().filter(|&at| weights[at] > 0.0).collect();
    if present.len() > 1 && present.iter().any(|&at| active[at].blend == TypeBlend::Height) {
        let highest = present.iter().map(|&at| weights[at] + 0.5).fold(0.0, f64::max);
        present.iter().for_each(|&at| weights[at] = (weights[at] + 0.5 - highest + 0.25).max(0.0));
        let total: f64 = present.iter().map(|&at| weights[at]).sum();
        present.iter().for_each(|&at| weights[at] /= total);
    }

    let mut colour = if covering.is_empty() { [0.25; 3] } else { [0.0; 3] };
    for &at in &covering {
        if weights[at] > 0.0 {
            let own = own(active[at]);
            [0, 1, 2].into_iter().for_each(|c| colour[c] += weights[at] * own[c]);
        }
    }
    for (kind, weight) in active.iter().zip(weights) {
        if kind.blend.covers() {
            continue;
        }
        for (channel, own) in colour.iter_mut().zip(own(kind)) {
            let below = *channel;
            let joined = match kind.blend {
                TypeBlend::Normal | TypeBlend::Height | TypeBlend::Cover => below,
                TypeBlend::Multiply => below * own,
                TypeBlend::Overlay if below < 0.5 => 2.0 * below * own,
                TypeBlend::Overlay => 1.0 - 2.0 * (1.0 - below) * (1.0 - own),
            };
            *channel = below + weight * (joined - below);
        }
    }
    colour
}

/// Interpolates a tile bilinearly in linear light.
fn tile_at(tile: &Image, place: [f64; 2]) -> [f64; 3] {
    let at = |axis: usize, count: usize| {
        let place = place[axis].rem_euclid(1.0) * count as f64 + count as f64 - 0.5;
        (place as usize % count, (place as usize + 1) % count, place.fract())
    };
    let ((west, east, u), (north, south, v)) = (at(0, tile.width), at(1, tile.height));
    let channel = |x: usize, y: usize, c: usize| linear(tile.pixels[y * tile.width + x][c]);
    [0, 1, 2].map(|c| {
        let line = |y: usize| channel(west, y, c) * (1.0 - u) + channel(east, y, c) * u;
        line(north) * (1.0 - v) + line(south) * v
    })
}

fn linear(channel: u8) -> f64 {
    let encoded = f64::from(channel) / 255.0;
    if encoded <= 0.040_45 { encoded / 12.92 } else { libm::pow((encoded + 0.055) / 1.055, 2.4) }
}

fn encoded(light: f64) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let encoded = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * libm::pow(light, 1.0 / 2.4) - 0.055 };
    (encoded * 255.0 + 0.5) as u8
}
