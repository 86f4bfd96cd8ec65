//! What a painting has to know of the land beside its heights.

use super::TextureRecipe;
use crate::engine::ground;
use crate::engine::heightfield::Heightfield;
use crate::engine::light::Light;
use crate::engine::monitor::{Cancelled, Monitor};

/// What a texture and a light ask of the land: as long as this and the land are the same, so are the surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    pub(super) humidity: bool,
    pub(super) shade: bool,
    sun: Option<ground::Sun>,
    sky: bool,
}

impl Needs {
    /// What these types ask for, and this light.
    pub fn of(recipe: &TextureRecipe, light: Option<&Light>) -> Self {
        Self {
            humidity: recipe.active().any(|ground| ground.humidity.is_some()),
            shade: recipe.active().any(|ground| ground.shadow.is_some()),
            sun: light.filter(|light| light.shadows > 0.0 && light.direct > 0.0).map(Light::sun),
            sky: light.is_some_and(|light| light.occlusion > 0.0 && light.ambient > 0.0),
        }
    }
}

/// What there is to know of the land beside its heights, each as far as somebody needs it, on the land's own grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// How wet the ground is, 0 to 1.
    pub humidity: Option<Heightfield>,
    /// The share of the day in the shade, 0 to 1.
    pub shade: Option<Heightfield>,
    /// The share of the sun that is not behind the land, 0 to 1.
    pub sunlight: Option<Heightfield>,
    /// The share of the sky that is seen, 0 to 1.
    pub sky: Option<Heightfield>,
}

impl Surroundings {
    /// Works out what is needed.
    pub fn of(land: &Heightfield, needs: Needs, monitor: &Monitor) -> Result<Self, Cancelled> {
        Ok(Self {
            humidity: needs.humidity.then(|| ground::humidity(land, monitor)).transpose()?,
            shade: needs.shade.then(|| ground::shade(land, monitor)).transpose()?,
            sunlight: needs.sun.map(|sun| ground::shadow(land, sun, monitor)).transpose()?,
            sky: needs.sky.then(|| ground::occlusion(land, monitor)).transpose()?,
        })
    }
}
