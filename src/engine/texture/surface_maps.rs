//! The maps of surface properties that painting requires besides the heights.

use std::sync::Arc;

use super::recipe::TextureRecipe;
use super::type_masks::{MaskScope, TypeMaskCache, TypeMasks};
use crate::heightfield::Heightfield;
use crate::light::Light;
use crate::progress::{Cancelled, Progress};
use crate::surface;

/// The surface maps that a recipe and a light require.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequiredMaps {
    pub(super) humidity: bool,
    pub(super) shade: bool,
    pub(super) sun: Option<surface::Sun>,
    pub(super) sky: bool,
}

impl RequiredMaps {
    /// Whether one of the maps needs the complete terrain at full resolution: the horizons of the sun.
    pub fn needs_complete_terrain(self) -> bool {
        self.sun.is_some()
    }

    /// Whether one of the maps follows from [the complete terrain at a lower resolution](SurfaceMaps::of_part).
    pub fn uses_overview(self) -> bool {
        self.humidity || self.shade || self.sky
    }

    /// The maps that the active types and the light require.
    pub fn of(recipe: &TextureRecipe, light: Option<&Light>) -> Self {
        Self {
            humidity: recipe.active().any(|terrain_type| terrain_type.humidity.is_some()),
            shade: recipe.active().any(|terrain_type| terrain_type.shadow.is_some()),
            sun: light.filter(|light| light.shadows > 0.0 && light.direct > 0.0).map(Light::sun),
            sky: light.is_some_and(|light| light.occlusion > 0.0 && light.ambient > 0.0),
        }
    }

    /// The number of maps that [`SurfaceMaps::of`] returns for a large terrain, and the most that it holds at once: one
    /// more for the horizons of the sun.
    pub fn map_counts(self) -> [f64; 2] {
        let [humidity, shade, sky] =
            [self.humidity, self.shade, self.sky].map(|required| f64::from(u8::from(required)));
        let sun = f64::from(u8::from(self.sun.is_some()));
        let returned = humidity + shade + sun + sky;
        [returned, returned.max(humidity + shade + 2.0 * sun)]
    }
}

/// Maps of surface properties on the terrain's grid, each only if it is required.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMaps {
    /// Humidity, 0 to 1.
    pub humidity: Option<Arc<Heightfield>>,
    /// The share of the day in the shade, 0 to 1.
    pub shade: Option<Arc<Heightfield>>,
    /// The share of the sun that the terrain does not hide, 0 to 1.
    pub sunlight: Option<Arc<Heightfield>>,
    /// The share of the sky that is visible, 0 to 1.
    pub sky: Option<Arc<Heightfield>>,
    /// The masks of the terrain types.
    pub type_masks: TypeMasks,
}

impl SurfaceMaps {
    /// Computes the required maps of complete terrain, without masks.
    pub fn of(terrain: &Heightfield, required: RequiredMaps, progress: &Progress) -> Result<Self, Cancelled> {
        Self::of_part(terrain, terrain, required, progress)
    }

    /// Computes the required maps at the samples of a part of the terrain, without masks. Those that depend on distant terrain
    /// follow from the complete terrain `whole`, which can have a lower resolution, except
    /// [horizons](RequiredMaps::needs_complete_terrain).
    pub fn of_part(
        terrain: &Heightfield,
        whole: &Heightfield,
        required: RequiredMaps,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        SurfaceMapCache::default().compute_part(terrain, whole, required, progress)
    }

    /// The same with the masks of the active types.
    pub fn with_type_masks(
        self,
        terrain: &Heightfield,
        recipe: &TextureRecipe,
        scope: &MaskScope,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        Ok(Self { type_masks: TypeMasks::of(terrain, recipe, scope, progress)?, ..self })
    }
}

/// The surface maps of one terrain, computed on demand: a different sun invalidates only the cast shadows.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMapCache {
    maps: SurfaceMaps,
    /// The sun of the map of sunlight.
    sun: Option<surface::Sun>,
    type_masks: TypeMaskCache,
}

impl SurfaceMapCache {
    /// Returns the required maps and no others, computing those that are not cached. Maps finished before a
    /// cancellation stay cached. All calls must be for the same terrain.
    pub fn compute(
        &mut self,
        terrain: &Heightfield,
        required: RequiredMaps,
        progress: &Progress,
    ) -> Result<SurfaceMaps, Cancelled> {
        self.compute_part(terrain, terrain, required, progress)
    }

    /// See [`SurfaceMaps::of_part`].
    fn compute_part(
        &mut self,
        terrain: &Heightfield,
        whole: &Heightfield,
        required: RequiredMaps,
        progress: &Progress,
    ) -> Result<SurfaceMaps, Cancelled> {
        let to = terrain.grid();
        let SurfaceMaps { humidity, shade, sunlight, sky, type_masks: _ } = &mut self.maps;
        if required.sun.is_some() && required.sun != self.sun {
            (*sunlight, self.sun) = (None, required.sun);
        }
        let mut maps = SurfaceMaps::default();
        if required.humidity {
            let compute = || progress.stage(0.0..0.25, || surface::humidity(whole, to, progress));
            maps.humidity = Some(get_or_compute(humidity, compute)?);
        }
        if required.shade {
            let compute = || progress.stage(0.25..0.5, || surface::shade(whole, to, progress));
            maps.shade = Some(get_or_compute(shade, compute)?);
        }
        if let Some(sun) = required.sun {
            let compute = || progress.stage(0.5..0.75, || surface::sunlight(terrain, sun, progress));
            maps.sunlight = Some(get_or_compute(sunlight, compute)?);
        }
        if required.sky {
            let compute = || progress.stage(0.75..1.0, || surface::occlusion(whole, to, progress));
            maps.sky = Some(get_or_compute(sky, compute)?);
        }
        Ok(maps)
    }

    /// The masks of the active types of a recipe, evaluated again only if one of them has changed. All calls must be for
    /// the same terrain.
    pub fn type_masks(
        &mut self,
        terrain: &Heightfield,
        recipe: &TextureRecipe,
        scope: &MaskScope,
        progress: &Progress,
    ) -> Result<TypeMasks, Cancelled> {
        self.type_masks.compute(terrain, recipe, scope, progress)
    }
}

/// The cached map, computed if it is missing.
fn get_or_compute(
    map: &mut Option<Arc<Heightfield>>,
    compute: impl FnOnce() -> Result<Heightfield, Cancelled>,
) -> Result<Arc<Heightfield>, Cancelled> {
    let found = match map.take() {
        Some(found) => found,
        None => Arc::new(compute()?),
    };
    Ok(map.insert(found).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};

    #[test]
    fn a_different_sun_recomputes_only_the_shadows() {
        let grid = Grid::new(Extent { width_m: 640.0, depth_m: 640.0 }, 33, 33);
        let terrain = Heightfield::from_fn(grid, |c, r| (c * r % 37) as f32 * 3.0);
        let sun = |azimuth_deg| Some(surface::Sun { azimuth_deg, altitude_deg: 20.0, size_deg: 1.0 });
        let mut cache = SurfaceMapCache::default();
        let mut compute = |required, progress: &Progress| cache.compute(&terrain, required, progress);
        let required = RequiredMaps { humidity: true, shade: true, sun: sun(90.0), sky: true };
        let first = compute(required, &Progress::new()).expect("not cancelled");

        // An unlit view requires fewer maps but drops none; a cancelled computation for a new sun drops only the old
        // shadows.
        let unlit =
            compute(RequiredMaps { sun: None, sky: false, ..required }, &Progress::new()).expect("not cancelled");
        assert!(unlit.sunlight.is_none() && unlit.sky.is_none());
        let turned = RequiredMaps { sun: sun(200.0), ..required };
        let cancelled = Progress::new();
        cancelled.cancel();
        assert_eq!(compute(turned, &cancelled), Err(Cancelled));
        let second = compute(turned, &Progress::new()).expect("not cancelled");
        let is_reused = |of: fn(&SurfaceMaps) -> &Option<Arc<Heightfield>>| {
            of(&first).as_ref().zip(of(&second).as_ref()).map(|(a, b)| Arc::ptr_eq(a, b))
        };
        assert_eq!(is_reused(|maps| &maps.humidity), Some(true));
        assert_eq!(is_reused(|maps| &maps.shade), Some(true));
        assert_eq!(is_reused(|maps| &maps.sky), Some(true));
        assert_ne!(first.sunlight, second.sunlight);
        assert_eq!(second, SurfaceMaps::of(&terrain, turned, &Progress::new()).expect("not cancelled"));
    }
}
