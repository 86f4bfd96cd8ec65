//! Pictures of a land without a window: what they are made of, and who draws them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui_wgpu::{RenderState, RendererOptions, WgpuConfiguration};

use super::camera::{Camera, SceneScale, Vec3, ViewProjection};
use super::environment;
use super::glow::GlowingFault;
use super::gpu::{Frame, Gpu, ready};
use crate::engine::light::Light;
use crate::engine::ramp::{self, Ramp};
use crate::engine::{Extent, Heightfield, Image, Progress};

/// How the land is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShadingMode {
    /// As the texture's pane shows it.
    #[default]
    Texture,
    Clay,
    Elevation,
    Slope,
    /// The triangles that are drawn.
    Wireframe,
}

impl ShadingMode {
    pub(crate) const ALL: [Self; 5] = [Self::Texture, Self::Clay, Self::Elevation, Self::Slope, Self::Wireframe];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Texture => "As the texture",
            Self::Clay => "White clay",
            Self::Elevation => "Elevation",
            Self::Slope => "Slope",
            Self::Wireframe => "Wireframe",
        }
    }

    pub(crate) fn doc(self) -> &'static str {
        match self {
            Self::Texture => "What the texture's pane shows: the ground, or the weight of a type",
            Self::Clay => "The form alone",
            Self::Elevation => "From green lowlands to white summits",
            Self::Slope => "From green, where one walks, to red at 45° and more",
            Self::Wireframe => "The triangles that are drawn, coarser the farther away they are",
        }
    }

    /// The colours of a coat that shows a number: the share of the range of heights, or degrees.
    pub(crate) fn ramp(self) -> Option<&'static Ramp> {
        match self {
            Self::Elevation => Some(&ramp::ELEVATION),
            Self::Slope => Some(&ramp::SLOPE),
            Self::Texture | Self::Clay | Self::Wireframe => None,
        }
    }
}

/// What the camera must not sink into, scene units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub(crate) measure: SceneScale,
    pub(crate) bottom: f32,
    pub(crate) water: Option<f32>,
}

impl Stand {
    /// What a camera sees, from above the ground, the water and the table.
    pub(crate) fn projection(&self, camera: &Camera, terrain: &Heightfield, aspect: f32) -> ViewProjection {
        let floor = |eye: Vec3| {
            let ground = self.measure.ground(terrain, eye);
            ground.map_or(self.bottom, |ground| ground.max(self.water.unwrap_or(f32::MIN))) + 0.004
        };
        camera.projection(aspect, floor)
    }
}

/// A land and how it is looked at.
#[derive(Clone)]
pub(crate) struct RenderParams {
    pub(crate) terrain: Arc<Heightfield>,
    pub(crate) colours: Arc<Image>,
    /// Whether the colours are lit already.
    pub(crate) is_lit: bool,
    /// The lowest and the highest point, metres; of two lands, where one glides into the other.
    pub(crate) range_m: [f32; 2],
    /// The highest point of the land, metres.
    pub(crate) summit_m: f32,
    pub(crate) extent: Extent,
    pub(crate) exaggeration: f32,
    pub(crate) light: Light,
    /// The level of the water, metres, if there is any.
    pub(crate) water_m: Option<f64>,
    /// Whether the air is that of the dark theme.
    pub(crate) is_dark: bool,
    pub(crate) shading: ShadingMode,
    /// Lines that glow.
    pub(crate) glow: Vec<GlowingFault>,
    /// Where it is looked at from; `None`: where the whole land fills the picture.
    pub(crate) camera: Option<Camera>,
}

impl RenderParams {
    /// A land in its colours as one comes upon it.
    pub(crate) fn new(terrain: Heightfield, colours: Image, light: Light, water_m: Option<f64>) -> Self {
        let (range_m, extent) = (terrain.min_max(), terrain.grid().extent());
        Self {
            terrain: Arc::new(terrain),
            colours: Arc::new(colours),
            is_lit: false,
            range_m,
            summit_m: range_m[1],
            extent,
            exaggeration: 1.0,
            light,
            water_m,
            is_dark: true,
            shading: ShadingMode::Texture,
            glow: Vec::new(),
            camera: None,
        }
    }

    pub(crate) fn measure(&self) -> SceneScale {
        SceneScale { extent: self.extent, exaggeration: self.exaggeration }
    }

    pub(crate) fn stand(&self) -> Stand {
        let measure = self.measure();
        let [bottom, _] = measure.block(self.range_m);
        let water = self.water_m.map(|level| measure.y(level as f32).max(bottom));
        Stand { measure, bottom, water }
    }

    /// The same land from as far away as it takes for all of it to be in pictures of that size at every turn.
    pub(crate) fn turning(&self, size: [u32; 2]) -> Self {
        let measure = self.measure();
        let mut camera = self.camera.unwrap_or_default();
        camera.frame_turning(measure.half(), measure.block(self.range_m), size[0] as f32 / size[1].max(1) as f32);
        Self { camera: Some(camera), ..self.clone() }
    }

    /// A picture of that size, with the camera turned around its pivot by a share of a circle.
    pub(crate) fn frame(&self, size: [u32; 2], turn: f32) -> Frame {
        let aspect = size[0] as f32 / size[1].max(1) as f32;
        let Stand { measure, bottom, water } = self.stand();
        let mut camera = self.camera.unwrap_or_else(|| {
            let mut camera = Camera::default();
            camera.frame(measure.half(), measure.block(self.range_m), aspect);
            camera
        });
        camera.azimuth += turn * std::f32::consts::TAU;
        let mut environment = environment::environment(&self.light, self.is_dark, &measure, camera.distance);
        (environment.water, environment.shading, environment.is_lit) = (water, self.shading as u8, self.is_lit);
        environment.stops = self.shading.ramp().map_or(ramp::NO_STOPS, Ramp::stops);
        Frame {
            terrain: self.terrain.clone(),
            colours: self.colours.clone(),
            measure,
            projection: self.stand().projection(&camera, &self.terrain, aspect),
            size,
            blend: 1.0,
            heights: self.range_m.map(|height| measure.y(height)),
            summit: measure.y(self.summit_m),
            bottom,
            is_hurried: false,
            glow: self.glow.clone(),
            environment,
        }
    }
}

/// Draws portraits, away from all windows.
pub(crate) struct OffscreenRenderer {
    gpu: Gpu,
}

impl OffscreenRenderer {
    /// On whatever adapter there is, a software one too.
    pub(crate) fn found() -> Result<Self, String> {
        let configuration = WgpuConfiguration::default();
        let none = || "no graphics adapter was found".to_string();
        let instance = ready(configuration.wgpu_setup.new_instance()).ok_or_else(none)?;
        let state = RenderState::create(&configuration, &instance, None, RendererOptions::default());
        match ready(state) {
            Some(Ok(state)) => Self::on(&state),
            Some(Err(error)) => Err(format!("no graphics adapter was found that can draw: {error}")),
            None => Err(none()),
        }
    }

    /// On an adapter that is in use already, beside whatever is drawn on it.
    pub(crate) fn on(state: &RenderState) -> Result<Self, String> {
        let gpu = Gpu::patient(state).map_err(|error| format!("the graphics adapter cannot draw the land: {error}"))?;
        Ok(Self { gpu })
    }

    /// Draws a picture, with the camera turned around its pivot by a share of a circle, and waits for it. Ends with an
    /// error where the monitor is cancelled.
    pub(crate) fn draw(
        &mut self,
        params: &RenderParams,
        size: [u32; 2],
        turn: f32,
        progress: &Progress,
    ) -> Result<Image, String> {
        let picture = self.gpu.picture(&params.frame(size, turn), progress);
        picture.map_err(|error| format!("the graphics adapter gave no picture: {error}"))
    }
}

/// The most bytes that a picture of so many pixels of a land of so many samples takes while it is drawn, beside the land
/// and its colours: textures of the land (heights and slopes, colours with their smaller levels, light), and the picture
/// with what writes it. What is drawn on has few rows.
pub(crate) fn render_memory_bytes([width, height]: [u32; 2], samples: usize) -> u64 {
    const TEXTURES: u64 = 4 + 6 + 6 + 2;
    const PIXEL: u64 = 8;
    TEXTURES * samples as u64 + PIXEL * u64::from(width) * u64::from(height)
}

/// The files of a turntable: land_000.png and so on for land.png.
pub(crate) fn turntable_paths(path: &Path, count: u32) -> Vec<PathBuf> {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_os_string();
    let named = |number: u32| {
        let mut name = part(path.file_stem());
        name.push(format!("_{number:03}."));
        name.push(part(path.extension()));
        path.with_file_name(name)
    };
    (0..count).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_numbered_beside_the_file_that_is_named() {
        let paths = turntable_paths(Path::new("out/land.v2.png"), 3);
        assert_eq!(paths, ["out/land.v2_000.png", "out/land.v2_001.png", "out/land.v2_002.png"].map(PathBuf::from));
    }
}
