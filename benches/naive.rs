//! The plain forms of what the engine computes: the double loops of the sources, f32, row-major, one thread. They are
//! the baseline of the measurements and the reference that the fast paths must equal within rounding.

use upthrust::engine::fault::{Fault, Profile};
use upthrust::engine::light::Light;
use upthrust::engine::operations::bsp_faults::{Segment, Tree};
use upthrust::engine::texture::TextureRecipe;
use upthrust::engine::{Grid, Heightfield};

/// Adds faults one after another to every sample.
pub fn faults(grid: Grid, faults: &[Fault]) -> Vec<f32> {
    let mut heights = vec![0.0_f32; grid.samples()];
    let (dx, dz) = (grid.spacing_x_m() as f32, grid.spacing_z_m() as f32);
    for fault in faults {
        let [px, pz] = fault.point_m.map(|m| m as f32);
        let [nx, nz] = fault.normal.map(|n| n as f32);
        let (lift, zone) = (fault.displacement_m as f32, fault.zone_m as f32);
        match fault.profile {
            Profile::Step => each(&mut heights, grid.width(), |c, r| {
                let dist = (c * dx - px) * nx + (r * dz - pz) * nz;
                if dist >= 0.0 { lift } else { -lift }
            }),
            Profile::Smooth => each(&mut heights, grid.width(), |c, r| {
                let dist = (c * dx - px) * nx + (r * dz - pz) * nz;
                let u = (dist / (2.0 * zone) + 0.5).clamp(0.0, 1.0);
                lift * (2.0 * (3.0 * u * u - 2.0 * u * u * u) - 1.0)
            }),
            Profile::Sine => each(&mut heights, grid.width(), |c, r| {
                let dist = (c * dx - px) * nx + (r * dz - pz) * nz;
                if dist.abs() < zone { lift * sine(std::f32::consts::PI * dist / zone) } else { 0.0 }
            }),
            other => unimplemented!("{other:?} is not measured"),
        }
    }
    heights
}

/// Adds trees of faults one after another to every sample, each walked from the root to a leaf.
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

/// The sine of the standard library, which is what the sources call.
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

/// The texture pixel by pixel: for each one its height and normal, a list of the types that lie there with their
/// weights, their mean in linear light, the light, and back to sRGB by its formula.
pub fn texture(land: &Heightfield, recipe: &TextureRecipe, light: &Light, size: [usize; 2]) -> Vec<[u8; 4]> {
    let [low, high] = land.min_max();
    let (grid, sun) = (land.grid(), light.towards_sun());
    let per_unit = (high - low) / 100.0;
    let fade = |value: f32, min: f32, max: f32, release: f32| {
        let outside = (min - value).max(value - max);
        if outside <= 0.0 {
            1.0
        } else if outside < release {
            (release - outside) / release
        } else {
            0.0
        }
    };
    let mut pixels = Vec::new();
    for j in 0..size[1] {
        for i in 0..size[0] {
            let x = (i as f32 + 0.5) / size[0] as f32 * (grid.width() - 1) as f32;
            let z = (j as f32 + 0.5) / size[1] as f32 * (grid.height() - 1) as f32;
            let (c, r) = ((x as usize).min(grid.width() - 2), (z as usize).min(grid.height() - 2));
            let (u, v) = (x - c as f32, z - r as f32);
            let mix = |at: &dyn Fn(usize, usize) -> f32| {
                let north = at(c, r) + (at(c + 1, r) - at(c, r)) * u;
                let south = at(c, r + 1) + (at(c + 1, r + 1) - at(c, r + 1)) * u;
                north + (south - north) * v
            };
            let height = mix(&|c, r| land[(c, r)]);
            let [east, south] = [mix(&|c, r| land.gradient(c, r)[0]), mix(&|c, r| land.gradient(c, r)[1])];
            let up = 1.0 / (1.0 + east * east + south * south).sqrt();
            let normal = [-east * up, up, -south * up];
            let slope = libm::acosf(up.min(1.0)).to_degrees();
            let level = (normal[0] * normal[0] + normal[2] * normal[2]).sqrt();
            let mut lying: Vec<([u8; 3], f32)> = Vec::new();
            for ground in recipe.types.iter().filter(|ground| ground.enabled) {
                let azimuth = ground.skew_azimuth_deg.to_radians() as f32;
                let towards = [libm::sinf(azimuth), -libm::cosf(azimuth)];
                let exposed =
                    if level * level < 1e-5 { 0.0 } else { (normal[0] * towards[0] + normal[2] * towards[1]) / level };
                let shift = ground.skew as f32 * exposed;
                let limit = |percent: f64| low + (percent as f32 + shift) * per_unit;
                let weight = fade(
                    height,
                    limit(ground.elevation.min),
                    limit(ground.elevation.max),
                    ground.elevation_release as f32 * per_unit,
                ) * fade(
                    slope,
                    ground.slope_deg.min as f32,
                    ground.slope_deg.max as f32,
                    ground.slope_release_deg as f32,
                );
                if weight > 0.0 {
                    lying.push((ground.colour.0, weight));
                }
            }
            let total: f32 = lying.iter().map(|(_, weight)| weight).sum();
            let cosine = normal.iter().zip(sun).map(|(n, l)| n * l).sum::<f32>().max(0.0);
            let mut pixel = [0, 0, 0, 255];
            for channel in 0..3 {
                let mean: f32 = lying.iter().map(|(colour, weight)| weight / total * linear(colour[channel])).sum();
                let shine = light.direct as f32 * linear(light.direct_colour.0[channel]) * cosine
                    + light.ambient as f32 * linear(light.ambient_colour.0[channel]);
                pixel[channel] = encoded(mean * shine);
            }
            pixels.push(pixel);
        }
    }
    pixels
}

fn linear(channel: u8) -> f32 {
    let encoded = f32::from(channel) / 255.0;
    if encoded <= 0.040_45 { encoded / 12.92 } else { libm::powf((encoded + 0.055) / 1.055, 2.4) }
}

fn encoded(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let encoded = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * libm::powf(light, 1.0 / 2.4) - 0.055 };
    (encoded * 255.0 + 0.5) as u8
}
