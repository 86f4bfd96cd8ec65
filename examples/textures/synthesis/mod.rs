//! Seamless ground textures out of noise, cells and thousands of small marks.

use image::RgbImage;

use surface::{Shading, Surface};

mod cells;
mod forest;
mod grass;
mod ice;
mod loose;
mod marks;
mod noise;
mod rocks;
mod stones;
mod surface;

/// The seed of all random places.
const SEED: u32 = 2026;

/// A kind of ground.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// How wide a piece of ground the tile shows, in metres.
    pub metres: f32,
    surface: fn(usize) -> Surface,
    shading: Shading,
}

impl Ground {
    /// Every ground, in the order of the documentation.
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

    /// The ground from above, so many pixels each way; the left border continues at the right, the upper at the lower.
    pub fn picture(&self, pixels: usize) -> RgbImage {
        (self.surface)(pixels).picture(self.shading)
    }
}
