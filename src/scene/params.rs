//! The parameters of a render: a terrain and its view.

use std::sync::Arc;

use super::camera::{Camera, CameraBounds};
use super::environment::Environment;
use super::frame::Frame;
use super::glow::GlowingFault;
use super::scale::SceneScale;
use super::shading::ShadingMode;
use crate::engine::cast::ToFloat;
use crate::engine::light::Light;
use crate::engine::ramp::{self, Ramp};
use crate::engine::scatter::ShapeInstances;
use crate::engine::{Extent, Heightfield, Image};

/// A terrain and its view, independent of the size of the image.
#[derive(Clone)]
pub(crate) struct RenderParams {
    pub(crate) terrain: Arc<Heightfield>,
    pub(crate) colours: Arc<Image>,
    /// Whether the colours already contain the lighting.
    pub(crate) is_lit: bool,
    /// The lowest and the highest point, metres; of both terrains during a transition.
    pub(crate) range_m: [f32; 2],
    /// The highest point of the terrain, metres.
    pub(crate) max_m: f32,
    pub(crate) extent: Extent,
    pub(crate) exaggeration: f32,
    pub(crate) light: Light,
    /// The water level, metres, if there is water.
    pub(crate) water_m: Option<f64>,
    /// Whether the sky is that of the dark theme.
    pub(crate) is_dark: bool,
    pub(crate) shading: ShadingMode,
    pub(crate) glow: Vec<GlowingFault>,
    /// What stands on the terrain.
    pub(crate) shapes: Option<Arc<ShapeInstances>>,
    /// `None`: the default direction, with the terrain filling the image.
    pub(crate) camera: Option<Camera>,
}

impl RenderParams {
    /// A terrain in its colours, seen by the default camera.
    pub(crate) fn new(terrain: Heightfield, colours: Image, light: Light, water_m: Option<f64>) -> Self {
        let (range_m, extent) = (terrain.min_max(), terrain.grid().extent());
        Self {
            terrain: Arc::new(terrain),
            colours: Arc::new(colours),
            is_lit: false,
            range_m,
            max_m: range_m[1],
            extent,
            exaggeration: 1.0,
            light,
            water_m,
            is_dark: true,
            shading: ShadingMode::Texture,
            glow: Vec::new(),
            shapes: None,
            camera: None,
        }
    }

    pub(crate) fn scale(&self) -> SceneScale {
        SceneScale { extent: self.extent, exaggeration: self.exaggeration }
    }

    pub(crate) fn camera_bounds(&self) -> CameraBounds {
        let scale = self.scale();
        let [bottom, _] = scale.block_y(self.range_m);
        let water = self.water_m.map(|level| scale.y(level.to_f32()).max(bottom));
        CameraBounds { scale, bottom, water }
    }

    /// The same with the camera far enough away that images of that size contain the entire terrain at every angle.
    pub(crate) fn for_turntable(&self, size: [u32; 2]) -> Self {
        let scale = self.scale();
        let mut camera = self.camera.unwrap_or_default();
        camera.frame_turntable(scale.half_size(), scale.block_y(self.range_m), aspect_of(size));
        Self { camera: Some(camera), ..self.clone() }
    }

    /// The frame for an image of that size, with the camera turned around its pivot by a share of a full circle.
    pub(crate) fn frame(&self, size: [u32; 2], turn: f32) -> Frame {
        let aspect = aspect_of(size);
        let bounds = self.camera_bounds();
        let CameraBounds { scale, bottom, water } = bounds;
        let mut camera = self.camera.unwrap_or_else(|| {
            let mut camera = Camera::default();
            camera.frame(scale.half_size(), scale.block_y(self.range_m), aspect);
            camera
        });
        camera.azimuth += turn * std::f32::consts::TAU;
        let environment = Environment {
            water,
            shading: self.shading,
            is_lit: self.is_lit,
            stops: self.shading.ramp().map_or(ramp::NO_STOPS, Ramp::stops),
            ..Environment::new(&self.light, self.is_dark, &scale, camera.distance)
        };
        Frame {
            terrain: self.terrain.clone(),
            colours: self.colours.clone(),
            scale,
            projection: bounds.projection(&camera, &self.terrain, aspect),
            size,
            blend: 1.0,
            y_range: self.range_m.map(|height| scale.y(height)),
            top: scale.y(self.max_m),
            bottom,
            is_fast: false,
            glow: self.glow.clone(),
            shapes: self.shapes.clone(),
            environment,
        }
    }
}

/// Width to height.
fn aspect_of([width, height]: [u32; 2]) -> f32 {
    width.to_f32() / height.max(1).to_f32()
}
