//! Seamless material textures made of noise, cells and thousands of small objects.

use image::RgbImage;

use surface::{Shading, Surface};

mod cells;
mod forest;
mod grass;
mod ice;
mod loose;
mod noise;
mod objects;
mod rocks;
mod stones;
mod surface;

/// The seed of all random numbers.
const SEED: u32 = 2026;

/// A material with a texture.
#[derive(Clone, Copy, Debug)]
pub struct Material {
    /// The file name without the extension.
    pub name: &'static str,
    /// The width of the tile in metres.
    pub metres: f32,
    surface: fn(usize) -> Surface,
    shading: Shading,
}

impl Material {
    /// Every material, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        grass::GRASS,
        grass::DRY_GRASS,
        forest::FOREST_FLOOR,
        rocks::ROCK,
        rocks::LAYERED_ROCK,
        stones::SCREE,
        loose::SAND,
        loose::MUD,
        ice::SNOW,
        ice::ICE,
        stones::LAVA,
    ];

    /// The seamless texture seen from above, with `pixels` along each side.
    pub fn texture(&self, pixels: usize) -> RgbImage {
        (self.surface)(pixels).texture(self.shading)
    }
}
