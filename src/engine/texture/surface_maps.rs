//! What a painting has to know of the land beside its heights.

use std::sync::Arc;

use super::TextureRecipe;
use crate::engine::heightfield::Heightfield;
use crate::engine::light::Light;
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::surface;

/// What a texture and a light ask of the land.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequiredMaps {
    pub(super) humidity: bool,
    pub(super) shade: bool,
    pub(super) sun: Option<surface::Sun>,
    pub(super) sky: bool,
}

impl RequiredMaps {
    /// What these types ask for, and this light.
    pub fn of(recipe: &TextureRecipe, light: Option<&Light>) -> Self {
        Self {
            humidity: recipe.active().any(|ground| ground.humidity.is_some()),
            shade: recipe.active().any(|ground| ground.shadow.is_some()),
            sun: light.filter(|light| light.shadows > 0.0 && light.direct > 0.0).map(Light::sun),
            sky: light.is_some_and(|light| light.occlusion > 0.0 && light.ambient > 0.0),
        }
    }

    /// How many maps of a large land [`SurfaceMaps::of`] finds, and the most that it holds at once meanwhile: the
    /// horizons of the sun are one more.
    pub fn maps_held(self) -> [f64; 2] {
        let [humidity, shade, sky] = [self.humidity, self.shade, self.sky].map(|needed| f64::from(u8::from(needed)));
        let sun = f64::from(u8::from(self.sun.is_some()));
        let found = humidity + shade + sun + sky;
        [found, found.max(humidity + shade + 2.0 * sun)]
    }
}

/// What there is to know of the land beside its heights, each as far as somebody needs it, on the land's own grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMaps {
    /// How wet the ground is, 0 to 1.
    pub humidity: Option<Arc<Heightfield>>,
    /// The share of the day in the shade, 0 to 1.
    pub shade: Option<Arc<Heightfield>>,
    /// The share of the sun that is not behind the land, 0 to 1.
    pub sunlight: Option<Arc<Heightfield>>,
    /// The share of the sky that is seen, 0 to 1.
    pub sky: Option<Arc<Heightfield>>,
}

impl SurfaceMaps {
    /// Works out what is needed.
    pub fn of(terrain: &Heightfield, needs: RequiredMaps, progress: &Progress) -> Result<Self, Cancelled> {
        SurfaceMapCache::default().look(terrain, needs, progress)
    }
}

/// What has been found out about one land, map by map: another sun leaves all maps but the shadows as they are.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMapCache {
    found: SurfaceMaps,
    /// The sun whose light was found.
    sun: Option<surface::Sun>,
}

impl SurfaceMapCache {
    /// What is needed and nothing else; works out what is not known yet. What was found before a stop stays known. The
    /// land is the same at every call.
    pub fn look(
        &mut self,
        terrain: &Heightfield,
        needs: RequiredMaps,
        progress: &Progress,
    ) -> Result<SurfaceMaps, Cancelled> {
        let SurfaceMaps { humidity, shade, sunlight, sky } = &mut self.found;
        if needs.sun.is_some() && needs.sun != self.sun {
            (*sunlight, self.sun) = (None, needs.sun);
        }
        let mut needed = SurfaceMaps::default();
        if needs.humidity {
            let work = || progress.stage(0.0..0.25, || surface::humidity(terrain, progress));
            needed.humidity = Some(known(humidity, work)?);
        }
        if needs.shade {
            let work = || progress.stage(0.25..0.5, || surface::shade(terrain, progress));
            needed.shade = Some(known(shade, work)?);
        }
        if let Some(sun) = needs.sun {
            let work = || progress.stage(0.5..0.75, || surface::shadow(terrain, sun, progress));
            needed.sunlight = Some(known(sunlight, work)?);
        }
        if needs.sky {
            let work = || progress.stage(0.75..1.0, || surface::occlusion(terrain, progress));
            needed.sky = Some(known(sky, work)?);
        }
        Ok(needed)
    }
}

/// A map that is there, or that is now worked out.
fn known(
    map: &mut Option<Arc<Heightfield>>,
    work: impl FnOnce() -> Result<Heightfield, Cancelled>,
) -> Result<Arc<Heightfield>, Cancelled> {
    let found = match map.take() {
        Some(found) => found,
        None => Arc::new(work()?),
    };
    Ok(map.insert(found).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    #[test]
    fn another_sun_finds_new_shadows_and_nothing_else() {
        let grid = Grid::new(Extent { width_m: 640.0, depth_m: 640.0 }, 33, 33);
        let terrain = Heightfield::from_fn(grid, |c, r| (c * r % 37) as f32 * 3.0);
        let sun = |azimuth_deg| Some(surface::Sun { azimuth_deg, altitude_deg: 20.0, size_deg: 1.0 });
        let mut survey = SurfaceMapCache::default();
        let mut look = |needs, progress: &Progress| survey.look(&terrain, needs, progress);
        let needs = RequiredMaps { humidity: true, shade: true, sun: sun(90.0), sky: true };
        let first = look(needs, &Progress::new()).expect("not cancelled");

        // A view without light asks for less and forgets nothing; a new sun that is given up forgets its shadows alone.
        let unlit = look(RequiredMaps { sun: None, sky: false, ..needs }, &Progress::new()).expect("not cancelled");
        assert!(unlit.sunlight.is_none() && unlit.sky.is_none());
        let turned = RequiredMaps { sun: sun(200.0), ..needs };
        let gone = Progress::new();
        gone.cancel();
        assert_eq!(look(turned, &gone), Err(Cancelled));
        let second = look(turned, &Progress::new()).expect("not cancelled");
        let is_kept = |of: fn(&SurfaceMaps) -> &Option<Arc<Heightfield>>| {
            of(&first).as_ref().zip(of(&second).as_ref()).map(|(a, b)| Arc::ptr_eq(a, b))
        };
        assert_eq!(is_kept(|found| &found.humidity), Some(true));
        assert_eq!(is_kept(|found| &found.shade), Some(true));
        assert_eq!(is_kept(|found| &found.sky), Some(true));
        assert_ne!(first.sunlight, second.sunlight);
        assert_eq!(second, SurfaceMaps::of(&terrain, turned, &Progress::new()).expect("not cancelled"));
    }
}
